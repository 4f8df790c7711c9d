"""docs/architecture.md is true: what it names is there, it has every room, and imports go down only."""

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from helpers import sources

TOP = Path(__file__).parents[1]
PAGE = (TOP / "docs" / "architecture.md").read_text()
LAYERS = next(
    block for block in re.findall(r"^```\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if block.startswith("games")
)
LEVEL = {name: level for level, line in enumerate(LAYERS.splitlines()) for name in line.split()}
SUFFIXES = {"py", "md", "txt", "json", "cfg", "toml"}
"""Behind the dot of a file that the page names."""
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


IMPORTED_TEST = re.compile(r"^ *(?:from|import) +(conftest|test_\w+)", re.MULTILINE)


def test_no_test_module_imports_another_one():
    shared = [
        f"{path.name} -> {module}"
        for path in sorted((TOP / "tests").rglob("*.py"))
        for module in IMPORTED_TEST.findall(path.read_text())
    ]
    assert shared == []  # it belongs into helpers/


def exists(name):
    """Whether a name such as `board/board.Board.play` or `letters/boards.py` is that of something in the code."""
    path, _, inside = name.partition(".")
    if inside in SUFFIXES:
        return any((folder / name).exists() for folder in (TOP, TOP / "pbm"))
    file = next((file for file in (TOP / f"pbm/{path}.py", TOP / f"pbm/{path}/__init__.py") if file.exists()), None)
    body = ast.parse(file.read_text()).body if file else []
    for part in inside.split("."):
        defined = {name: node for node in body for name in names_of(node)}
        if part not in defined:
            return False
        body = getattr(defined[part], "body", [])
    return True


def names_of(node):
    """The names that a statement of a module or a class defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)]
    return []


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("runner.prepare", True),
        ("board/board.Board.play", True),
        ("levels.LEVELS", True),
        ("tournaments.TOURNAMENT_KINDS", True),
        ("letters/boards.py", True),
        ("help/operator.txt", True),
        ("runner.prepares", False),
        ("board/board.Board.plays", False),
        ("actions/trains.play_turn", False),
        ("letters/bards.py", False),
    ],
)
def test_a_name_is_looked_up_in_the_code(name, is_there):
    assert exists(name) == is_there


def test_every_name_of_the_page_is_one_of_the_code():
    names = [name for name in re.findall(r"`([a-z_/]+\.[\w.]+)`", PAGE) if not re.search("/[A-Z]+[.]", name)]
    assert len(names) > 90
    assert [name for name in names if not exists(name)] == []


def test_every_link_of_the_page_leads_to_something():
    links = re.findall(r"\]\((\.\./[\w/.]+)\)", PAGE)
    assert len(links) > 10
    assert [link for link in links if not (TOP / "docs" / link).exists()] == []


def test_every_room_says_what_to_know_before_one_touches_it():
    heads = re.findall(r"^- \*\*(.*?)\*\*:", PAGE, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)/?`", " ".join(heads))) == sorted(LEVEL)


def test_the_first_line_of_every_module_says_what_it_is_for():
    for name, path in MODULES.items():
        first = path.read_text().partition("\n")[0]
        assert first.startswith('"""'), name
        assert len(first.split()) >= 4, f"{name} says no more than {first}"


def test_the_page_is_short_enough_to_be_read_at_one_go():
    assert len(PAGE.split()) <= 2500
