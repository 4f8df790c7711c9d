"""A game as a page steps through it: the picture of each position, as what has changed since the one before."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress, islice, pairwise, takewhile
from math import ceil
from operator import ne
from string import ascii_lowercase, digits
from typing import Any, NamedTuple

from games.figures import Label, Mark, Piece
from pbm.board.board import Board
from pbm.drawing import boards, svg

NUMBER = r"-?\d+(?:\.\d)?"
HOLE = re.compile(
    rf'(?<=[ c]x=")(?P<x>{NUMBER})(?=")|(?<=[ c]y=")(?P<y>{NUMBER})(?=")|(?<=\bM)(?P<right>{NUMBER}) (?P<down>{NUMBER})'
    r'|(?<=data-cell=")(?P<name>[^"]*)|(?P<count>\d+)(?=[^<>]*</text>)'
    rf"|(?<=translate\()(?P<left>{NUMBER}) (?P<top>{NUMBER})"
)
"""What differs between shapes that are of one form: places, names of cells, and numbers in texts."""
AXES = {"x": "x", "right": "x", "y": "y", "down": "y"}
BASE_36 = digits + ascii_lowercase

FEW = 4
"""How many shapes are told again, if they stay between others that do not, because that is as short."""


class Form(NamedTuple):
    """What is the same in the markup of many shapes."""

    texts: tuple[str, ...]
    """Texts, and between each two of them what stands there: nothing for the next value of the shape, ``name`` for that
    of its cell, ``x`` or ``y`` for a place."""
    behind: tuple[int, ...] = ()
    """How many tenths of a pixel these places are behind the first corner of the cell."""


def pictured(board: Board) -> tuple[str, dict[str, Any]]:
    """A board as it is now in SVG without a style sheet, and what a page needs to draw all positions, ready for JSON.

    The latter is what `film` makes of all that stands on the cells, but for what is the same in all positions, which
    are so many elements, ``kept``; and ``heights``, those of the pictures in pixels, each by the number of the first
    position that has it. It is nothing for a game without figures.
    """
    if not hasattr(board.rules, "figure"):
        return boards.board_svg(board.present, style=""), {}
    figures = [boards.figure(board.after(moves)) for moves in range(len(board.states))]
    canvas = svg.Canvas(figures[-1], board.rules.SIDES)
    drawn = [*canvas.drawn(figures)]
    heights = [ceil(one.height) for one in drawn]
    changing = {number: now for number, (before, now) in enumerate(pairwise([0, *heights])) if now != before}
    frames = [one.layers for one in drawn]
    groundwork = islice(zip(*frames, strict=True), svg.GROUNDWORK)
    kept = [*takewhile(lambda layers: all(layer is layers[0] or layer == layers[0] for layer in layers), groundwork)]
    told = film([frame[len(kept) :] for frame in frames], _spellings(canvas.markup))
    told |= {"kept": sum(map(any, kept)), "heights": changing}
    return canvas.picture(figures[-1], drawn[-1], boards.caption(board.present), style=""), told


class Spellings(dict[svg.Shape, tuple[Form, str]]):
    """The form and the values, with | between, of shapes on boards of one kind."""

    def __init__(self, markup: svg.Renderings) -> None:
        """Spell nothing yet."""
        super().__init__()
        self.markup = markup
        self.by_name = {cell.name: number for number, cell in enumerate(markup.cells)}
        self.by_place = {cell.at: number for number, cell in enumerate(markup.cells)}
        corners = [markup.plane.at(cell.outline[0]) for cell in markup.cells]
        self.corners = [(_tenths(svg.pixels(x)), _tenths(svg.pixels(y))) for x, y in corners]

    def __missing__(self, shape: svg.Shape) -> tuple[Form, str]:
        """Spell a shape for the first time."""
        if isinstance(shape, str):  # these are many, and some are never seen again
            return _counted(shape)
        cell = self._cell(shape)
        if cell is None:
            texts, values = _split(self.markup[shape], lambda kind, _: None if kind == "name" else "")
            self[shape] = Form(texts), "|".join(values)
        else:
            self[shape] = self._on_cell(self.markup[shape], cell)
        return self[shape]

    def _cell(self, shape: svg.Shape) -> int | None:
        """The number of the cell on which it stands, if it is drawn on one."""
        match shape:
            case Piece() | svg.Ring() | Label():
                return self.by_name.get(shape.cell)
            case Mark():
                return self.by_place.get(shape.at)
            case str() | svg.Edge():
                return None
            case way:
                return self.by_place.get(way[0])

    def _on_cell(self, markup: str, cell: int) -> tuple[Form, str]:
        """The form of what stands on a cell, and its values: the last one is the number of the cell."""
        name, corner = self.markup.cells[cell].name, dict(zip("xy", self.corners[cell], strict=True))
        behind = []

        def hole(kind: str, text: str) -> str | None:
            if kind == "count":
                return ""
            if kind == "name":
                return kind if text == name else None
            axis = AXES.get(kind)
            if axis is None or svg.pixels(_tenths(text) / 10) != text:
                return None
            behind.append(_tenths(text) - corner[axis])
            return axis

        texts, values = _split(markup, hole)
        return Form(texts, tuple(behind)), "|".join([*values, _digits(cell)])


@lru_cache(maxsize=16)
def _spellings(markup: svg.Renderings) -> Spellings:
    return Spellings(markup)


@lru_cache(maxsize=8192)  # on boards of one kind they are much the same
def _counted(markup: str) -> tuple[Form, str]:
    """The form of what is not drawn on the board, the numbers that are told there, and the places of dice."""
    texts, values = _split(markup, lambda kind, _: "" if kind in {"count", "left", "top"} else None)
    return Form(texts), "|".join(values)


def _split(markup: str, hole: Callable[[str, str], str | None]) -> tuple[tuple[str, ...], list[str]]:
    """The texts of a form, where each place, name or number is in it what *hole* says, and its values."""
    texts, values, at = [], [], 0
    for found in HOLE.finditer(markup):
        for kind, text in found.groupdict().items():
            if text is not None and (told := hole(kind, text)) is not None:
                texts += [markup[at : found.start(kind)], told]
                values += [text] * (not told)
                at = found.end(kind)
    return (*texts, markup[at:]), values


def _tenths(pixels: str) -> int:
    """A number of pixels with one decimal place, in tenths."""
    return round(10 * float(pixels))


class Again(NamedTuple):
    """A shape that is in a layer already."""

    shape: Hashable
    times: int
    """How often."""


def film(frames: Iterable[Sequence[Sequence[Hashable]]], spelled: Mapping[Any, tuple[Form, str]]) -> dict[str, Any]:
    """Sequences of shapes, each as what it changes of the one before. All have the same number of layers.

    A shape is *spelled* by one of the ``forms`` and its value. A form is told by the number of its ``texts``, and how
    far behind the corner its places are, with | between. Each of the ``frames`` says what is done one after the other
    to the sequence before it, the first one to an empty one, with ; between: how far behind the last such place, how
    many shapes go there, and which come, with commas between. A shape that comes for the first time is told by the
    number of its form and its value with a point between, and later by its own number: how many others came before it
    did. The numbers in frames have the base 36.
    """
    forms: dict[Form, str] = {}
    numbers: dict[Hashable, str] = {}

    def code(shape: Hashable) -> str:
        """A shape that comes for the first time."""
        numbers[shape] = _digits(len(numbers))
        form, value = spelled[shape.shape if isinstance(shape, Again) else shape]
        number = forms.get(form) or forms.setdefault(form, _digits(len(forms)))
        return f"{number}.{value}"

    told = []
    before: Sequence[Sequence[Hashable]] | None = None
    for frame in frames:
        splices, start, last = [], 0, 0
        for old, new in zip(before or [()] * len(frame), frame, strict=True):
            for place, going, coming in _changes(old, new) if old is not new and old != new else ():
                codes = [numbers.get(shape) or code(shape) for shape in coming]
                splices.append(",".join([_digits(start + place - last), _digits(going), *codes]))
                last = start + place
            start += len(new)
        told.append(";".join(splices))
        before = frame
    texts: dict[tuple[str, ...], int] = {}
    numbered = [(texts.setdefault(form.texts, len(texts)), *form.behind) for form in forms]
    return {"texts": [*texts], "forms": ["|".join(map(str, form)) for form in numbered], "frames": told}


def _changes(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int, Sequence[Hashable]]]:
    """What is done to a layer from its beginning on, so that it becomes another one: where, how many go, which come."""
    least = min(len(before), len(after))
    first = _alike(before, after, least)
    behind = _alike(reversed(before), reversed(after), least - first)
    old, new = before[first : len(before) - behind], after[first : len(after) - behind]
    if least - first - behind <= FEW or {*old}.isdisjoint(new):
        yield first, len(old), new
        return
    old, new = _told_apart(old), _told_apart(new)
    both = {*old}.intersection(new)
    places = [[at for at, shape in enumerate(layer) if shape in both] for layer in (old, new)]
    stays = [*zip(*places, strict=True)]
    if any(old[at] != new[place] for at, place in stays):
        stays = []  # what is in both stands in another order
    for (last, end), (at, place) in pairwise([(-1, -1), *stays, (len(old), len(new))]):
        if at - last > 1 or place - end > 1:
            yield first + end + 1, at - last - 1, new[end + 1 : place]


def _alike(one: Iterable[Hashable], other: Iterable[Hashable], most: int) -> int:
    """How many shapes are the same from the beginning on, of so many."""
    return next(compress(range(most), map(ne, one, other)), most)


def _told_apart(layer: Sequence[Hashable]) -> Sequence[Hashable]:
    """Shapes of which no two are equal."""
    if len({*layer}) == len(layer):
        return layer
    times = Counter[Hashable]()
    apart = []
    for shape in layer:
        apart.append(Again(shape, times[shape]) if times[shape] else shape)
        times[shape] += 1
    return apart


@lru_cache(maxsize=4096)
def _digits(number: int) -> str:
    """A number with the base 36."""
    front, last = divmod(number, len(BASE_36))
    return f"{_digits(front) if front else ''}{BASE_36[last]}"
