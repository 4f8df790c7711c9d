"""What a player has planned on a board: which move answers which move of the opponent, and what answers the next one.

A plan is a list of lines, each a way on which the game may go: ``if c3 then d4 if e5 then f6``. The lines are kept in
the order in which they were typed. Lines that begin alike share these steps, so that together they are a tree.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from games import Illegal

ANY_MOVE = "any"
"""A condition that every move fits which no other line of the same place names."""
MOST_REPLIES = 200
"""How many moves of its owner a plan may hold."""
MOST_IN_A_ROW = 20
"""How many moves of its owner may follow each other in a plan."""


class Conditional(NamedTuple):
    """A move of the opponent, and the move that answers it."""

    theirs: str
    mine: str


PlanLine = tuple[Conditional, ...]


def text_of_branch(line: PlanLine) -> str:
    """A line as it is typed and stored, such as ``if c3 then d4``."""
    return " ".join(f"if {step.theirs} then {step.mine}" for step in line)


def text_of_plan(plan: Iterable[PlanLine]) -> str:
    """A plan as it is stored, a line each."""
    return "\n".join(map(text_of_branch, plan))


def branches(text: str) -> list[PlanLine]:
    """The lines of a plan from the text that `text_of_plan` gave."""
    split = [line.split() for line in text.splitlines()]
    return [tuple(map(Conditional, words[1::4], words[3::4])) for words in split]


def merged(plan: Sequence[PlanLine], added: Iterable[PlanLine]) -> list[PlanLine]:
    """A plan with lines added, which replace what they name again.

    Raises Illegal if the added lines give two answers to one move, or if the plan becomes too large.
    """
    new: list[PlanLine] = []
    for line in added:
        for other in new:
            if clash := _clash(other, line):
                one, two = clash
                raise Illegal(
                    f"{_place(one)} is answered by {one[-1].mine} and by {two[-1].mine}; one move has one answer."
                )
        new.append(line)
    kept = [line for line in plan if not any(_clash(line, other) for other in new)]
    every = dict.fromkeys([*kept, *new])
    lines = [line for line in every if not any(line == other[: len(line)] for other in every if other != line)]
    check_size(lines)
    return lines


def check_size(lines: Sequence[PlanLine]) -> None:
    """Make sure that these lines are no more than a plan can hold. Raises Illegal."""
    if max(map(len, lines)) > MOST_IN_A_ROW:
        raise Illegal(f"A plan is at most {MOST_IN_A_ROW} of your moves deep.")
    if len({line[: at + 1] for line in lines for at in range(len(line))}) > MOST_REPLIES:
        raise Illegal(f"A plan has at most {MOST_REPLIES} of your moves.")


def _clash(one: PlanLine, two: PlanLine) -> tuple[PlanLine, PlanLine] | None:
    """The beginnings of two lines up to where they give different answers to the same move; None if they never do."""
    for at, (first, second) in enumerate(zip(one, two, strict=False), 1):
        if first != second:
            return (one[:at], two[:at]) if first.theirs == second.theirs else None
    return None


def _place(line: PlanLine) -> str:
    """The last condition of a line, with the steps that lead to it."""
    before = f"{text_of_branch(line[:-1])} " if line[:-1] else ""
    return f"`{before}if {line[-1].theirs}`"


def reply_to(plan: Sequence[PlanLine], made: str) -> tuple[str, list[PlanLine]]:
    """The answer of a plan to a move, and the plan from there on. The answer is empty if the move fits no line."""
    fitting = [line for line in plan if line[0].theirs == made] or [line for line in plan if line[0].theirs == ANY_MOVE]
    return (fitting[0][0].mine, [line[1:] for line in fitting if line[1:]]) if fitting else ("", [])


def queued(plan: Sequence[PlanLine]) -> str | None:
    """The move that is played whatever the opponent plays, if a plan is no more than that."""
    return plan[0][0].mine if len(plan) == 1 and plan[0][0].theirs == ANY_MOVE and len(plan[0]) == 1 else None


def tree(plan: Sequence[PlanLine], indent: str = "") -> list[str]:
    """A plan as a tree, a row a step; what follows a step stands below it, further to the right."""
    rows: list[str] = []
    for step in dict.fromkeys(line[0] for line in plan):
        rows.append(f"{indent}{text_of_branch((step,))}")
        rows += tree([line[1:] for line in plan if line[0] == step and line[1:]], f"{indent}  ")
    return rows
