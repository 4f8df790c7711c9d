"""What the modules of the two packages import and say, for tests of how they are written; each is read once.

``source(TOP / "games" / "spora.py").imports`` is what `games.spora` imports.
"""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[2]
MODULES = {name: sorted((TOP / name).rglob("*.py")) for name in ("games", "pbm")}
"""The files of each package."""


class Import(NamedTuple):
    """One thing that is imported: a module as a whole, or a name from it, perhaps under another name."""

    module: str
    name: str | None
    renamed: str | None


class Source(NamedTuple):
    """What stands anywhere in a file."""

    imports: list[Import]
    texts: list[str]


@cache
def source(path: Path) -> Source:
    """What stands in a file; the tree of its code is not kept, in which garbage would be looked for."""
    found = Source([], [])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.imports.extend(Import(one.name, None, one.asname) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.imports.extend(Import(node.module or "", one.name, one.asname) for one in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.texts.append(node.value)
    return found
