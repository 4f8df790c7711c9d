"""A game as a page steps through it: the picture of each position, as what has changed since the one before."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, pairwise
from math import ceil
from string import ascii_lowercase, digits
from typing import Any, NamedTuple

from pbm.board.board import Board
from pbm.drawing import svg

VALUE = re.compile(r'(?<=data-cell=")[^"|]*|(?<=[ c][xy]=")[^"|]*|(?<=\bd=")[^"|]*(?=")|^M[^|]*$|\d+(?=[^<>]*</text>)')
"""What differs between parts that are of one form: places, names of cells, and numbers in texts."""
BASE_36 = digits + ascii_lowercase


def steps(board: Board) -> dict[str, Any]:
    """What a page needs to draw each position of a game, ready for JSON; nothing for a game without figures.

    What stands on the cells is as `film` makes it; ``heights`` are those of the pictures, in pixels, each by the number
    of the first position that has it.
    """
    if not hasattr(board.rules, "figure"):
        return {}
    befores = [board.after(moves).last_typed for moves in range(len(board.states))]
    figures = [
        board.rules.figure(state, board.states[before]) for state, before in zip(board.states, befores, strict=True)
    ]
    canvas = svg.Canvas(figures[-1], svg.hues(board.rules.SIDES))
    heights = [ceil(canvas.height(figure)) for figure in figures]
    changing = {number: high for number, (low, high) in enumerate(pairwise([0, *heights])) if high != low}
    return film(map(canvas.shapes, figures), canvas.markup) | {"heights": changing}


class Again(NamedTuple):
    """A shape that is in a sequence already."""

    shape: Hashable
    times: int
    """How often."""


def film(frames: Iterable[Sequence[Hashable]], markup: Mapping[Any, str]) -> dict[str, Any]:
    """Sequences of shapes, each as what it changes of the one before.

    What becomes of a shape by *markup* is of one of the ``forms``, each of which is told by what stands before, between
    and behind its values; ``values`` are these, with | between. Each of the ``frames`` says what is done one after the
    other to the sequence before it, the first one to an empty one, with ; between: how far behind the last such place,
    how many shapes go there, and which come, with commas between. A shape that comes for the first time is told by the
    numbers of its form and its values with a point between, without the latter where they are the next new ones, and
    later by its own number: how many others came before it did. All numbers have the base 36.
    """
    numbers: dict[Hashable, int] = defaultdict(count().__next__)
    found = [[], *([*map(numbers.__getitem__, _told_apart(frame))] for frame in frames)]
    forms: dict[tuple[str, ...], int] = {}
    values: dict[str, int] = {}
    codes = []
    for shape in numbers:
        form, value = _split(markup[shape.shape if isinstance(shape, Again) else shape])
        known = _digits(values[value]) if value in values else ""
        values.setdefault(value, len(values))
        codes.append(f"{_digits(forms.setdefault(form, len(forms)))}.{known}")
    told = [";".join(_splices(codes, *pair)) for pair in pairwise(found)]
    return {"forms": [*forms], "values": [*values], "frames": told}


def _told_apart(frame: Sequence[Hashable]) -> Sequence[Hashable]:
    """Shapes of which no two are equal."""
    if len({*frame}) == len(frame):
        return frame
    times = Counter[Hashable]()
    apart = []
    for shape in frame:
        apart.append(Again(shape, times[shape]) if times[shape] else shape)
        times[shape] += 1
    return apart


@lru_cache(maxsize=8192)  # on boards of one kind they are much the same
def _split(part: str) -> tuple[tuple[str, ...], str]:
    """The form of a part, and its values."""
    return tuple(VALUE.split(part)), "|".join(VALUE.findall(part))


@lru_cache(maxsize=4096)
def _digits(number: int) -> str:
    """A number with the base 36."""
    front, last = divmod(number, len(BASE_36))
    return f"{_digits(front) if front else ''}{BASE_36[last]}"


def _splices(codes: list[str], before: Sequence[int], after: Sequence[int]) -> Iterator[str]:
    """What is done to a sequence, from its beginning on, so that it becomes another one; what was told has a number."""
    gone, come = set(before).difference(after), set(after).difference(before)
    if [part for part in before if part not in gone] != [part for part in after if part not in come]:
        gone, come = {*before}, {*after}  # what is in both stands in another order
    going = [place - number for number, place in enumerate(_places(before, gone))]
    coming = [place - number for number, place in enumerate(_places(after, come))]
    arriving = (part for part in after if part in come)
    at = more = 0
    for place in sorted({*going, *coming}):  # before how many of those that stay
        parts = [next(arriving) for _ in range(coming.count(place))]
        arrivals = [codes[part] for part in parts]
        for part in parts:
            codes[part] = _digits(part)
        yield ",".join([_digits(place + more - at), _digits(going.count(place)), *arrivals])
        at, more = place + more, more + len(arrivals)


def _places(sequence: Sequence[int], some: set[int]) -> list[int]:
    """Where in a sequence some of its parts stand."""
    return [place for place, part in enumerate(sequence) if part in some] if some else []
