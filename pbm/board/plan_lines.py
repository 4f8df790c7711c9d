"""The plan of a player on a board: their answers to moves of the opponent.

A plan is a list of lines, each a possible course of the game: ``if c3 then d4 if e5 then f6``. The lines are kept in
the order in which they were typed. Lines that begin alike share these steps, so that together they are a tree.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from games import Illegal

ANY_MOVE = "any"
"""The condition that fits every move that no other line names there."""
MOST_REPLIES = 200
"""How many moves of its owner a plan may hold."""
MOST_IN_A_ROW = 20
"""How many moves of its owner one line of a plan may have."""


class Conditional(NamedTuple):
    """A move of the opponent, and the move that answers it."""

    theirs: str
    mine: str


PlanLine = tuple[Conditional, ...]


def text_of_branch(line: PlanLine) -> str:
    """The text of a line, as it is typed and stored, such as ``if c3 then d4``."""
    return " ".join(f"if {step.theirs} then {step.mine}" for step in line)


def text_of_plan(plan: Iterable[PlanLine]) -> str:
    """The text of a plan, as it is stored: one row for each of its lines."""
    return "\n".join(map(text_of_branch, plan))


def branches(text: str) -> list[PlanLine]:
    """The lines of a plan, from a text that `text_of_plan` has made."""
    split = [line.split() for line in text.splitlines()]
    return [tuple(map(Conditional, words[1::4], words[3::4])) for words in split]


def merged(plan: Sequence[PlanLine], added: Iterable[PlanLine]) -> list[PlanLine]:
    """A plan with lines added; they replace lines that answer the same move in another way.

    Raises Illegal if two added lines answer the same move differently, or if the plan becomes too large.
    """
    new: list[PlanLine] = []
    for line in added:
        for earlier in new:
            if clash := _clash(earlier, line):
                first, second = clash
                raise Illegal(
                    f"{_place(first)} is answered by {first[-1].mine} and by {second[-1].mine}; "
                    "one move has one answer."
                )
        new.append(line)
    kept = [line for line in plan if not any(_clash(line, added_line) for added_line in new)]
    every = list(dict.fromkeys(kept + new))
    lines = [line for line in every if not _is_part_of_another(line, every)]
    check_size(lines)
    return lines


def _is_part_of_another(line: PlanLine, lines: Iterable[PlanLine]) -> bool:
    """Whether another of these lines goes on where this one ends, so that this one says nothing of its own."""
    return any(longer[: len(line)] == line for longer in lines if longer != line)


def check_size(lines: Sequence[PlanLine]) -> None:
    """Raises Illegal if these lines are too many or too long for a plan."""
    if max(map(len, lines)) > MOST_IN_A_ROW:
        raise Illegal(f"A plan is at most {MOST_IN_A_ROW} of your moves deep.")
    replies = {line[:length] for line in lines for length in range(1, len(line) + 1)}
    if len(replies) > MOST_REPLIES:
        raise Illegal(f"A plan has at most {MOST_REPLIES} of your moves.")


def _clash(first: PlanLine, second: PlanLine) -> tuple[PlanLine, PlanLine] | None:
    """The beginnings of two lines up to their first different answers to the same move; None if there are none."""
    for length, (step, second_step) in enumerate(zip(first, second, strict=False), 1):
        if step == second_step:
            continue
        if step.theirs == second_step.theirs:
            return first[:length], second[:length]
        return None  # from here on they are about different moves of the opponent
    return None


def _place(line: PlanLine) -> str:
    """A line up to its last condition, for an objection: `if c3 then d4 if e5`."""
    before = f"{text_of_branch(line[:-1])} " if line[:-1] else ""
    return f"`{before}if {line[-1].theirs}`"


def reply_to(plan: Sequence[PlanLine], made: str) -> tuple[str, list[PlanLine]]:
    """The answer of a plan to a move, empty if it has none; and the rest of the plan behind that answer."""
    fitting = [line for line in plan if line[0].theirs == made]
    if not fitting:
        fitting = [line for line in plan if line[0].theirs == ANY_MOVE]
    if not fitting:
        return "", []
    rest = [line[1:] for line in fitting if len(line) > 1]
    return fitting[0][0].mine, rest


def queued(plan: Sequence[PlanLine]) -> str | None:
    """The move of a plan that is just a queued move, `if any then MOVE`; None for any other plan."""
    if len(plan) != 1 or len(plan[0]) != 1:
        return None
    step = plan[0][0]
    return step.mine if step.theirs == ANY_MOVE else None


def tree(plan: Sequence[PlanLine], indent: str = "") -> list[str]:
    """A plan as a tree, with one row for each step; the steps behind a step are indented below it."""
    rows: list[str] = []
    for step in dict.fromkeys(line[0] for line in plan):
        rows.append(f"{indent}{text_of_branch((step,))}")
        rows += tree([line[1:] for line in plan if line[0] == step and line[1:]], f"{indent}  ")
    return rows
