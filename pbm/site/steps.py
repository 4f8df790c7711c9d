"""A game as a page steps through it: the picture of each position, as what has changed since the one before."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import Any

from pbm.board.board import Board
from pbm.drawing import svg

VALUE = re.compile(r'(data-cell|cx|cy|x|y|d)="([^"|]*)"')
"""What differs between parts that are of one form."""
Splice = list[int]
"""Where in a sequence something changes, how many parts go there, and which come: the numbers of these."""


def steps(board: Board) -> dict[str, Any]:
    """What a page needs to draw each position of a game, ready for JSON; nothing for a game without figures.

    ``heights`` are those of the pictures, in pixels; what stands on the cells is as `film` makes it.
    """
    if not hasattr(board.rules, "figure"):
        return {}
    befores = [board.after(moves).last_typed for moves in range(len(board.states))]
    figures = [
        board.rules.figure(state, board.states[before]) for state, before in zip(board.states, befores, strict=True)
    ]
    canvas = svg.Canvas(figures[-1], svg.hues(board.rules.SIDES))
    heights = [ceil(canvas.height(figure)) for figure in figures]
    return film(canvas.parts(figure) for figure in figures) | {"heights": heights}


def film(frames: Iterable[Iterable[str]]) -> dict[str, Any]:
    """Sequences of parts of markup, each as what it changes of the one before.

    ``parts`` are all that occur, in the order in which they do, so that the ``first`` sequence is the first so many of
    them. Each is the number of its form among ``forms`` and the values of the attributes that are empty there, with |
    between. ``splices`` has, for each other sequence, what is done one after the other to the one before it.
    """
    numbers: dict[str, int] = {}
    found = []
    for frame in frames:
        sequence: dict[str, int] = {}
        for shape in frame:
            part = shape
            while part in sequence:  # what occurs again, such as the end of an element, is a part of its own
                part += " "
            sequence[part] = numbers.setdefault(part, len(numbers))
        found.append([*sequence.values()])
    forms: dict[str, int] = {}
    parts = []
    for part in numbers:
        form, values = _split(part)
        parts.append(f"{forms.setdefault(form, len(forms))}{values}")
    splices = [[*_splices(*pair)] for pair in pairwise(found)]
    return {"forms": [*forms], "parts": parts, "first": len(found[0]), "splices": splices}


@lru_cache(maxsize=8192)  # on boards of one kind they are much the same
def _split(part: str) -> tuple[str, str]:
    """The form of a part, and its values."""
    return VALUE.sub(r'\1=""', part), "".join(f"|{value}" for _, value in VALUE.findall(part))


def _splices(before: Sequence[int], after: Sequence[int]) -> Iterator[Splice]:
    """What is done to a sequence, from its beginning on, so that it becomes another one."""
    gone, come = set(before).difference(after), set(after).difference(before)
    if [part for part in before if part not in gone] != [part for part in after if part not in come]:
        yield [0, len(before), *after]  # what is in both stands in another order
        return
    left = right = 0
    while left < len(before) or right < len(after):
        place, going = right, 0
        while left < len(before) and before[left] in gone:
            left, going = left + 1, going + 1
        while right < len(after) and after[right] in come:
            right += 1
        if going or right > place:
            yield [place, going, *after[place:right]]
        left, right = left + 1, right + 1
