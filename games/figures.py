"""What a position looks like, as shapes in coordinates of the game: for whatever draws pictures of boards.

A game that has `figure(state, before)` says where its cells, lines and pieces lie and what they are. It knows neither
colours nor pixels, and nothing of who draws them. Distances are such that a cell is about as wide as 1.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import groupby
from math import sqrt
from typing import NamedTuple

from games.boards import Board, Square, bits

Place = tuple[float, float]
"""How far to the right, and how far up."""
Way = tuple[Place, ...]
"""Two or more places through which a line leads."""
ROW = sqrt(3) / 2
"""How far apart the rows of a board of hexagons are whose spaces are 1 apart."""

SEEN = 6
"""How many pieces of a stack can be told apart in a picture."""


class Cell(NamedTuple):
    """What can be named in a move, and tapped: a cell or a point."""

    name: str
    """Its name in the ``cells`` of a view."""
    at: Place
    """Where its pieces stand."""
    outline: tuple[Place, ...]
    """Its corners; for a point of a grid, those of the square around it."""
    side: int | None = None
    """The side to whose path or home it belongs, as an index of SIDES; None where there is no such thing."""


class Strokes(NamedTuple):
    """Lines of the board or between pieces that look alike. A figure has those of one role and side once."""

    role: str
    """``grid`` through points, ``wall`` between cells, ``open`` where there is none, ``path`` along which pieces go,
    ``join`` between touching stones of a side, ``track`` for what stands beside the board."""
    ways: tuple[Way, ...]
    side: int | None = None
    """Whose path or join it is, as an index of SIDES."""


class Piece(NamedTuple):
    """One piece, be it alone or part of a stack."""

    cell: str
    at: Place
    side: int
    size: float = 0.42
    """Its radius."""


class Mark(NamedTuple):
    """Something on the board that is no piece."""

    at: Place
    role: str
    """``eye``, ``territory``, ``matched``, or ``token`` for what stands on a track."""
    size: float
    """Its radius."""
    side: int | None = None
    """Whose it is, as an index of SIDES."""


class Label(NamedTuple):
    """A short text whose middle is at a place."""

    at: Place
    text: str
    role: str = "coordinate"
    """``coordinate``, ``count`` for how many pieces a stack has, or ``track``."""
    size: float = 0.4
    """How high a letter is."""
    side: int | None = None
    """The side on whose piece it stands, as an index of SIDES."""
    cell: str = ""
    """The cell of that piece."""


class Note(NamedTuple):
    """A line below the board: how a side stands, or something about both."""

    text: str
    side: int | None = None
    dice: tuple[int, ...] = ()
    """The dice that it has to play."""
    is_task: bool = False
    """Whether it says what the side to move has to do, which is left out of a game that has ended otherwise."""


class Figure(NamedTuple):
    """All shapes of a position. Whatever overlaps is drawn in the order of these fields, pieces from the lowest up."""

    cells: tuple[Cell, ...]
    """All cells of the board, also those on which nothing stands."""
    lines: tuple[Strokes, ...] = ()
    pieces: tuple[Piece, ...] = ()
    marks: tuple[Mark, ...] = ()
    labels: tuple[Label, ...] = ()
    latest: tuple[str, ...] = ()
    """The names of the cells that the picture in text marks as changed by the last turn."""
    notes: tuple[Note, ...] = ()
    turn: int | None = None
    """The side to move, as an index of SIDES; None when the game is over."""


class Plan:
    """Where the cells of a board lie, and what stands on them: most of that is as in the position before."""

    def __init__(self, board: Board, cells: Iterable[Cell]) -> None:
        """Lay out the cells."""
        self.board = board
        self.at = {board.bit[cell.name]: cell.at for cell in cells}
        """Where the pieces on each cell stand, by the set of that one cell."""
        self.ways = {
            one: [(other, (self.at[one], self.at[other])) for other in bits(board.ring(one)) if other > one]
            for one in self.at
        }
        """For each cell the neighbours of higher bits, and the ways there."""

    def stones(self, stones: tuple[int, int], size: float = 0.42) -> tuple[Piece, ...]:
        """The stones of both sides, one on each cell of a set, with that radius."""
        first, second = (_stones(self, own, side, size) for side, own in enumerate(stones))
        return first + second

    def joins(self, stones: tuple[int, int]) -> tuple[Strokes, ...]:
        """The lines that join touching stones of one side."""
        return tuple([Strokes("join", ways, side) for side, own in enumerate(stones) if (ways := _joins(self, own))])


@lru_cache(maxsize=64)
def _stones(plan: Plan, stones: int, side: int, size: float) -> tuple[Piece, ...]:
    return tuple(map(_each(plan, side, size).__getitem__, bits(stones)))


@cache
def _each(plan: Plan, side: int, size: float) -> Mapping[int, Piece]:
    """A stone of a side on each cell."""
    return {bit: Piece(plan.board.name[bit], at, side, size) for bit, at in plan.at.items()}


@lru_cache(maxsize=64)
def _joins(plan: Plan, stones: int) -> tuple[Way, ...]:
    return tuple([way for one in bits(stones) for other, way in plan.ways[one] if other & stones])


@cache
def grid(board: Square) -> tuple[tuple[Cell, ...], Strokes, tuple[Label, ...], Plan]:
    """The points of a square board, the lines on which they lie, its coordinates, and its plan."""
    size = board.size
    names = iter(board.bit)
    points = [(float(x), float(y)) for y in range(size) for x in range(size)]
    cells = tuple(Cell(name, at, box(*at, 0.5, 0.5)) for name, at in zip(names, points, strict=True))
    last = size - 1
    ways: list[Way] = [((0, n), (last, n)) for n in range(size)]
    ways += [((n, 0), (n, last)) for n in range(size)]
    labels = [Label((x, y), chr(ord("a") + x)) for x in range(size) for y in (-0.85, last + 0.85)]
    labels += [Label((x, y), str(y + 1)) for y in range(size) for x in (-0.9, last + 0.9)]
    return cells, Strokes("grid", tuple(ways)), tuple(labels), Plan(board, cells)


def box(x: float, y: float, right: float, up: float) -> tuple[Place, ...]:
    """A rectangle around a place that reaches so far to both of its sides."""
    return (x - right, y - up), (x + right, y - up), (x + right, y + up), (x - right, y + up)


def hexagon(x: float, y: float) -> tuple[Place, ...]:
    """A hexagon around a place, with one corner above it, 1 wide."""
    side = 1 / sqrt(3)
    corners = ((0, side), (0.5, side / 2), (0.5, -side / 2), (0, -side), (-0.5, -side / 2), (-0.5, side / 2))
    return tuple((x + right, y + up) for right, up in corners)


def honeycomb(names: Iterable[str], places: Mapping[str, Place]) -> tuple[tuple[Cell, ...], tuple[Label, ...]]:
    """Spaces of a board of hexagons, in board order, and its coordinates: letters of rows, and numbers of diagonals.

    As in the pictures in text, a row below the longest one counts the lines that rise to the left, one above it those
    that rise to the right; a number stands where such a line leaves the board.
    """
    rows = [list(row) for _, row in groupby(names, lambda name: name[0])]
    cells = tuple(Cell(name, places[name], hexagon(*places[name])) for row in rows for name in row)
    longest = max(map(len, rows))
    labels = []
    for row in rows:
        (left, y), (right, _) = places[row[0]], places[row[-1]]
        labels.append(Label((left - 0.85, y), row[0][0]))
        if len(row) < longest:
            labels.append(Label((right + 0.9, y), str(len(row) + 1)))
    for row, up in ((rows[0], -1), (rows[-1], 1)):
        for number, (x, y) in enumerate((places[name] for name in row), 1):
            labels.append(Label((x + 0.45, y + up * 0.8), str(number)))
    return cells, tuple(labels)


@lru_cache(maxsize=1 << 12)  # a picture of a position has most of what that of the one before it had
def pile(name: str, at: Place, sides: tuple[int, ...], *, size: float, most: float) -> tuple[Piece, ...]:
    """Pieces of these sides one upon the other, drawn ever higher by half of their radius, all by at most *most*.

    Those above the sixth one are drawn no higher.
    """
    steps = min(len(sides), SEEN) - 1
    rise = min(size / 2, most / max(1, steps))
    x, y = at
    return tuple(
        Piece(name, (x, y + rise * (min(height, steps) - steps / 2)), side, size) for height, side in enumerate(sides)
    )
