"""How the drawn boards of a mail, or on a terminal, are coloured."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

import games
from pbm.letters.pictures import Span

LEGEND = r"[A-Za-z]{2}|,|\w\.$"
"""What is in lines of words, and in those of a board only where something is said beside it."""
KEPT_LINES = 2000
"""How many painted lines are kept that were painted last: the edges of boards, their empty rows, and what stays."""


class Tile(NamedTuple):
    """How a piece is coloured: a letter on a tile."""

    ink: str
    paper: str


class Colours(NamedTuple):
    """What a board is painted with, in light and in dark surroundings."""

    ink: str
    paper: str
    first: Tile
    """The pieces of the side that moves first."""
    second: Tile


LATEST = Tile(ink="#000000", paper="#ffe000")
"""What the last turn has changed: its marks, and the frame around its pieces."""
PALETTE = {
    "black": Tile(ink="#ffffff", paper="#000000"),
    "white": Tile(ink="#000000", paper="#ffffff"),
    "pink": Tile(ink="#000000", paper="#ff9ec8"),
}
"""The pieces of sides that are called after their colours."""
OTHERS = Tile(ink="#000000", paper="#ffd60a"), Tile(ink="#ffffff", paper="#10206b")
"""The pieces of other sides: yellow, and dark blue."""
WOOD = "#000000", "#a46831"
"""Letters and board. As bright as it is, whatever is black and whatever is white stands out from it alike."""
FELT = "#ffffff", "#1f6b55"
"""Darker, for pieces that are less bright than white ones."""


def colours(sides: tuple[str, str]) -> Colours:
    """What fits the names of the sides: black pieces are dark, white ones bright, on a board that carries both."""
    first, second = (PALETTE.get(side.lower(), other) for side, other in zip(sides, OTHERS, strict=True))
    return Colours(*(FELT if PALETTE["pink"] in {first, second} else WOOD), first, second)


def height(lines: Sequence[str]) -> int:
    """How many lines of a drawing are the board itself, with what stands beside it; the others are its legend."""
    last_first = zip(range(len(lines), 0, -1), reversed(lines), strict=True)
    return next((number for number, line in last_first if line.strip() and not re.search(LEGEND, line)), 0)


class Latest(Protocol):
    """What marks a part of a picture that the last turn has changed."""

    def __call__(self, text: str, *, is_bare: bool) -> str:
        """Mark a text that is painted already; *is_bare* tells that it is a piece and nothing else."""


class Brush(NamedTuple):
    """What becomes of the parts of a picture."""

    special: str
    """Which characters that are no pieces cannot stay as they are: a regular expression for one of them."""
    plain: Callable[[str], str]
    """Of one of these characters."""
    piece: Callable[[int, str], str]
    """Of a piece of a side, 0 or 1."""
    latest: Latest


def painted(game: str, lines: Sequence[str], changes: Iterable[Span], brush: Brush) -> list[str]:
    """A picture of a game in which pieces, and what the last turn has changed, look as a brush makes them look.

    It is painted line by line: nothing that a game calls a piece stands on two of them.
    """
    found = [_painted(game, brush, line) for line in lines]
    for number, spans in groupby(changes, itemgetter(0)):
        if 0 <= number < len(lines):
            found[number] = "".join(_parts(game, brush, lines[number], spans))
    return found


def _parts(game: str, brush: Brush, line: str, spans: Iterable[Span]) -> Iterator[str]:
    """A line of which some parts were changed."""
    at = 0
    for _, first, end in spans:
        yield _painted(game, brush, line[at:first])
        yield brush.latest(_painted(game, brush, line[first:end]), is_bare=True)
        at = end
    yield _painted(game, brush, line[at:])


@lru_cache(maxsize=KEPT_LINES)
def _painted(game: str, brush: Brush, text: str, *, is_latest: bool = False) -> str:
    every, pieces = _patterns(game, brush.special)
    return (pieces if is_latest else every).sub(lambda found: _mark(game, brush, found.lastgroup, found[0]), text)


@lru_cache(maxsize=KEPT_LINES)
def _mark(game: str, brush: Brush, kind: str | None, text: str) -> str:
    """A part of a picture that does not stay as it is."""
    if kind == "special":
        return brush.plain(text)
    if kind == "latest":
        _, pieces = _patterns(game, brush.special)
        found = pieces.fullmatch(text)
        is_bare = found is not None and found.lastgroup != "special"
        return brush.latest(_painted(game, brush, text, is_latest=True), is_bare=is_bare)
    return brush.piece(int(kind == "second"), text)


@cache
def _patterns(game: str, special: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What fits all that is painted in the pictures of a game, and what fits its pieces alone, with what is special."""
    (first, second), latest, _ = games.glyphs(games.load(game))
    pieces = re.compile(f"(?P<first>{first})|(?P<second>{second})|(?P<special>{special})")
    return re.compile(f"(?P<latest>{latest})|{pieces.pattern}") if latest else pieces, pieces
