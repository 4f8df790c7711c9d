"""One name means one thing in the whole tree, and modules are imported under their own names."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pbm

from helpers import sources

TOP = Path(pbm.__file__).parent
SAME = {
    "accept": "all challenges of a game, or a proposal",
    "answer": "whoever gave a command gets it, be it printed or mailed",
    "challenge": "the deed, and the letter about it",
    "commands": "what each module of the operator brings, see pbm.console",
    "confirm": "a move, or that an operator means it",
    "deliver": "what each channel does with a letter",
    "main": "a program, as it is called from outside",
    "queue": "moves, and mails",
    "read": "a text becomes a value of its module",
    "reject": "the opposite of accept",
    "run": "what a module is for, to its end",
    "table": "rows become a text",
    "transport": "what a setting names, and what the environment does",
}
"""What may stand in several modules, which say of what it is; and why."""
OF_EACH_GAME = {"thinker"}
"""What the module of robots of each game has."""


def is_command(node: ast.stmt) -> bool:
    """Whether a function is a command, which has the name of its deed."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    called = [one.func if isinstance(one, ast.Call) else one for one in decorators]
    return any(isinstance(one, ast.Attribute) and one.attr in {"command", "group"} for one in called)


def defined(tree: ast.Module) -> Iterator[str]:
    """The public names that a module defines, but for commands."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not is_command(node):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


@cache
def homes() -> dict[str, set[str]]:
    """The modules in which each public name is defined."""
    found = defaultdict(set)
    for path in sources.MODULES["pbm"]:
        for name in defined(ast.parse(path.read_text())):
            is_variable_of_types = len(name) == 1
            if not name.startswith("_") and not is_variable_of_types and name not in OF_EACH_GAME:
                found[name].add(path.relative_to(TOP).as_posix())
    return found


def test_no_two_constants_and_no_two_classes_have_one_name():
    found = {name: sorted(where) for name, where in homes().items() if not name.islower()}
    assert {name: where for name, where in found.items() if len(where) > 1} == {}
    assert found["Refused"] == ["refusals.py"]


def test_no_two_functions_have_one_name_but_for_those_that_are_the_same():
    several = {name: sorted(where) for name, where in homes().items() if name.islower() and len(where) > 1}
    assert {name: where for name, where in several.items() if name not in SAME} == {}
    assert set(several) >= set(SAME)  # a name that means one thing needs no leave


def test_nothing_of_ours_gets_another_name_where_it_is_imported():
    for path in chain(*sources.MODULES.values()):
        imports = sources.source(path).imports
        ours = [one for one in imports if one.name and one.module.split(".")[0] in {"pbm", "games"}]
        assert [one.name for one in ours if one.renamed] == [], path
