"""docs/architecture.md is true: every room is named there, and imports go down only."""

import re
from functools import cache
from itertools import chain
from pathlib import Path

from helpers import sources

TOP = Path(__file__).parents[1]
PAGE = (TOP / "docs" / "architecture.md").read_text()
LAYERS = next(
    block for block in re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if block.startswith("games")
)
LEVEL = {name: level for level, line in enumerate(LAYERS.splitlines()) for name in line.split()}
MODULES = {
    ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__"): path
    for path in chain(*sources.MODULES.values())
}


def imported(name):
    """The modules of ours that a module imports, wherever in it."""
    for one in sources.source(MODULES[name]).imports:
        full = f"{one.module}.{one.name}"
        if full in MODULES:
            yield full
        elif one.module in MODULES:
            yield one.module


def room(name):
    """The room of a module: its package, or its own name if it stands in pbm/ itself."""
    parts = name.split(".")
    return parts[0] if parts[0] == "games" else parts[1]


@cache
def graph():
    """The modules of ours that each imports."""
    return {
        name: sorted(set(imported(name)) - {name, "pbm"}) for name in MODULES if name not in {"pbm", "pbm.__main__"}
    }


def test_every_room_has_its_layer():
    assert {room(name) for name in graph()} == set(LEVEL)


def test_imports_go_down_only_and_in_no_circle():
    up = [
        f"{name} -> {other}"
        for name, others in graph().items()
        for other in others
        if room(other) != room(name) and LEVEL[room(other)] >= LEVEL[room(name)]
    ]
    assert up == []
    left = {name: set(others) for name, others in graph().items()}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    assert left == {}


def test_every_module_is_named_in_its_room_and_all_that_the_page_leads_to_is_there():
    for name, path in MODULES.items():
        if path.stem in {"__init__", "__main__"} or room(name) == "games":
            continue
        where = f"`{room(name)}/`" if path.parent.name != "pbm" else "in `pbm/` itself"
        part = PAGE.rpartition(where)[2].partition("\n\n`")[0]
        assert f"`{path.stem}`" in part, f"{name} is not named behind {where}"
    links = re.findall(r"\]\((\.\./[\w/.]+)\)", PAGE)
    assert len(links) > 10
    for link in links:
        assert (TOP / "docs" / link).exists(), link
