"""What a position looks like: shapes for programs that draw pictures, and boards in text.

A game that has `figure(state, before)` says where its cells, lines and pieces lie and what they are. It knows neither
colours nor pixels, and nothing of who draws them. A cell is about 1 wide.
"""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import groupby
from math import sqrt
from operator import itemgetter
from typing import NamedTuple, Protocol, Self

from games import State
from games.boards import Board, Square, bits, union

Place = tuple[float, float]
"""How far to the right, and how far up."""
Way = tuple[Place, ...]
"""Two or more places through which a line leads."""
ROW = sqrt(3) / 2
"""The distance between two rows of hexagons, if their middles are 1 apart in a row."""

MOST_VISIBLE = 6
"""How many pieces of a stack a picture shows apart from each other."""


class Cell(NamedTuple):
    """A cell or a point of the board. Moves name it, and players tap it."""

    name: str
    """The name of the cell in the ``cells`` of a view."""
    at: Place
    """Where its pieces stand."""
    outline: tuple[Place, ...]
    """Its corners; for a point of a grid, those of the square around it."""
    side: int | None = None
    """The side that has it in its path or home, as an index of SIDES; None if no side has."""


class Strokes(NamedTuple):
    """Lines that look alike, of the board or between pieces. A figure has one `Strokes` for each role and side."""

    role: str
    """``grid`` through points, ``wall`` between cells, ``open`` where there is none, ``path`` along which pieces go,
    ``join`` between touching stones of a side, ``track`` for what stands next to the board."""
    ways: tuple[Way, ...]
    side: int | None = None
    """The side to which a path or a join belongs, as an index of SIDES."""


class Piece(NamedTuple):
    """One piece, alone or part of a stack."""

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
    """The side to which it belongs, as an index of SIDES."""


class Label(NamedTuple):
    """A short text, centred on a place."""

    at: Place
    text: str
    role: str = "coordinate"
    """``coordinate``, ``count`` for how many pieces a stack has, or ``track``."""
    size: float = 0.4
    """How high a letter is."""
    side: int | None = None
    """The side of the piece on which it stands, as an index of SIDES."""
    cell: str = ""
    """The cell of that piece."""
    is_repeated: bool = False
    """Whether the same coordinate stands on the near side of the board, too: small pictures do without this one."""


class Note(NamedTuple):
    """A line below the board: how a side stands, or something about both."""

    text: str
    side: int | None = None
    dice: tuple[int, ...] = ()
    """The dice that the side has to play."""
    is_task: bool = False
    """Whether it says what the side to move has to do. It is left out when the game ends otherwise, as by resigning."""
    score: str = ""
    """The number of the text that counts most, such as the score of a side."""


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


class Stones(State, Protocol):
    """A position of a game of stones, one on a cell."""

    @property
    def stones(self) -> tuple[int, int]:
        """The cells with a stone of each side."""


class Template:
    """What all figures of a board share: the places of its cells, its lines and its coordinates."""

    def __init__(
        self, board: Board, cells: tuple[Cell, ...], labels: Iterable[Label], lines: tuple[Strokes, ...] = ()
    ) -> None:
        """Take the cells, all of which are on the board."""
        self.board = board
        self.cells = cells
        self.labels = tuple(labels)
        self.lines = lines
        self.at = {board.bit[cell.name]: cell.at for cell in cells}
        """Where the pieces on each cell stand, by the set of that one cell."""

    def figure(
        self,
        state: Stones,
        before: Stones | None,
        notes: Iterable[Note],
        *,
        size: float = 0.42,
        lines: tuple[Strokes, ...] = (),
        marks: Iterable[Mark] = (),
        labels: tuple[Label, ...] = (),
    ) -> Figure:
        """The stones of a position, with that radius; touching ones of one side are joined."""
        pieces: tuple[Piece, ...] = ()
        all_lines = self.lines
        for side, stones in enumerate(state.stones):
            own_pieces, joins = _stones(self, stones, side, size)
            pieces += own_pieces
            if joins.ways:
                all_lines += (joins,)
        all_lines += lines  # last, so that they are drawn over the joins
        stones_before = (before or state).stones
        latest = union(now & ~was for now, was in zip(state.stones, stones_before, strict=True))
        return Figure(
            self.cells,
            all_lines,
            pieces,
            tuple(marks),
            self.labels + labels,
            tuple(self.board.names(latest)),
            tuple(notes),
            turn=None if state.result() else state.turn,
        )


@lru_cache(maxsize=64)  # most turns leave the enemy's stones alone; saves a third of a long game's page
def _stones(template: Template, stones: int, side: int, size: float) -> tuple[tuple[Piece, ...], Strokes]:
    """The stones of a side, and the lines that join touching ones."""
    pieces = [Piece(template.board.name[bit], template.at[bit], side, size) for bit in bits(stones)]
    ways = [(template.at[one], template.at[other]) for one, other in touching(template.board, stones)]
    return tuple(pieces), Strokes("join", tuple(ways), side)


def touching(board: Board, stones: int) -> Iterator[tuple[int, int]]:
    """The pairs of stones that are next to each other, each pair once."""
    return ((one, other) for one in bits(stones) for other in bits(board.near(one) & stones) if other > one)


@cache
def grid(board: Square) -> Template:
    """The points of a square board, the lines on which they lie, and its coordinates."""
    last = board.size - 1
    cells = []
    for number, name in enumerate(board.bit):
        y, x = divmod(number, board.size)
        cells.append(Cell(name, (float(x), float(y)), box(x, y, 0.5, 0.5)))
    ways: list[Way] = [((0, n), (last, n)) for n in range(board.size)]
    ways += [((n, 0), (n, last)) for n in range(board.size)]
    labels: list[Label] = []
    for x, letter in enumerate(board.letters):
        labels += coordinates(letter, (x, -0.85), (x, last + 0.85))
    for y in range(board.size):
        labels += coordinates(str(y + 1), (-0.9, y), (last + 0.9, y))
    return Template(board, tuple(cells), labels, (Strokes("grid", tuple(ways)),))


def coordinates(text: str, near: Place, far: Place) -> tuple[Label, Label]:
    """The coordinate of a column or a row at both of its ends: the *near* one is below the board, or left of it."""
    return Label(near, text), Label(far, text, is_repeated=True)


def rows_of_hexagons(board: Board) -> list[list[tuple[int, int, int]]]:
    """The spaces of a board of hexagons, row by row: each with its row and its column, in halves of a space."""
    rows = [list(row) for _, row in groupby(board.bit, itemgetter(0))]
    longest = max(map(len, rows))
    return [
        [(board.bit[name], number, longest - len(row) + 2 * place) for place, name in enumerate(row)]
        for number, row in enumerate(rows)
    ]


@cache
def honeycomb(board: Board) -> Template:
    """A board of hexagons, with the letters of its rows and the numbers of its diagonals.

    As in the pictures in text, a row below the longest one counts the lines that rise to the left. A row above it
    counts those that rise to the right. A number stands where such a line leaves the board.
    """
    rows = [
        [(board.name[bit], column / 2, row * ROW) for bit, row, column in cells] for cells in rows_of_hexagons(board)
    ]
    labels = []
    for row in rows:
        (name, left, y), (_, right, _) = row[0], row[-1]
        labels.append(Label((left - 0.85, y), name[0]))
        if len(row) < max(map(len, rows)):
            labels.append(Label((right + 0.9, y), str(len(row) + 1)))
    for row, up in ((rows[0], -1), (rows[-1], 1)):
        labels += [Label((x + 0.45, y + up * 0.8), name[1:]) for name, x, y in row]
    return Template(board, tuple(Cell(name, (x, y), hexagon(x, y)) for row in rows for name, x, y in row), labels)


def box(x: float, y: float, right: float, up: float) -> tuple[Place, ...]:
    """The rectangle around a place: *right* is half of its width, and *up* half of its height."""
    return (x - right, y - up), (x + right, y - up), (x + right, y + up), (x - right, y + up)


def hexagon(x: float, y: float) -> tuple[Place, ...]:
    """The hexagon around a place, 1 wide, with a corner above the place."""
    side = 1 / sqrt(3)
    corners = ((0, side), (0.5, side / 2), (0.5, -side / 2), (0, -side), (-0.5, -side / 2), (-0.5, side / 2))
    return tuple((x + right, y + up) for right, up in corners)


def pile(name: str, at: Place, sides: tuple[int, ...], *, size: float, most: float) -> tuple[Piece, ...]:
    """A stack of pieces of these sides, the lowest first. *size* is their radius.

    Each is drawn half of the radius higher than the one below it. The highest is at most *most* above the lowest, and
    those above the sixth are drawn at its height.
    """
    steps = min(len(sides), MOST_VISIBLE) - 1
    rise = min(size / 2, most / max(1, steps))
    x, y = at
    return tuple(
        Piece(name, (x, y + rise * (min(height, steps) - steps / 2)), side, size) for height, side in enumerate(sides)
    )


class Picture:
    """A board in text, to be written piece by piece."""

    def __init__(self, lines: int) -> None:
        """Begin with that many lines of blanks."""
        self.lines = [[" "] * 80 for _ in range(lines)]

    def put(self, line: int, column: int, text: str) -> None:
        """Write a text over what is there."""
        self.lines[line][column : column + len(text)] = text

    def __str__(self) -> str:
        """The lines, without blanks at their ends."""
        return "\n".join("".join(line).rstrip() for line in self.lines)


class BoardText(str):
    """A board in lines of text, and below it the lines of its legend."""

    __slots__ = ("height",)
    height: int
    """How many of the lines are the board itself, with what stands next to it."""

    def __new__(cls, board: str, legend: Iterable[str]) -> Self:
        """Put a legend below a board."""
        text = super().__new__(cls, "\n".join([board, *legend]))
        text.height = board.count("\n") + 1
        return text


Places = dict[int, tuple[int, int]]
"""The line and the column of each cell in a picture in text."""


def honeycomb_in_text(board: Board, stones: tuple[int, int]) -> tuple[Picture, Places]:
    """A board of hexagons without its stones, but with the lines that join touching ones.

    A letter stands at each row, and a number where a line that slopes to the left or to the right leaves the board.
    """
    rows = rows_of_hexagons(board)
    last = 2 + 2 * len(rows)
    longest = max(map(len, rows))
    picture = Picture(last + 1)
    places = {bit: (last - 2 - 2 * row, 2 + 2 * column) for cells in rows for bit, row, column in cells}
    is_below = True
    for cells in rows:
        (line, left), (_, right) = places[cells[0][0]], places[cells[-1][0]]
        picture.put(line, left - 2, board.name[cells[0][0]][0])
        is_below = is_below and len(cells) < longest
        if len(cells) < longest:
            picture.put(line, right + 4, str(len(cells) + 1))
            picture.put(line - 1 if is_below else line + 1, right + 3, "\\" if is_below else "/")
    for cells, line, slope, end in ((rows[0], last - 1, "\\", last), (rows[-1], 1, "/", 0)):
        for number, (bit, *_) in enumerate(cells, 1):
            picture.put(line, places[bit][1] + 1, slope)
            picture.put(end, places[bit][1] + 2, str(number))
    for place in places.values():
        picture.put(*place, ".")
    for own in stones:
        for first, second in touching(board, own):
            line, column = places[first]
            above, beside = places[second]  # never below: its bit is greater, and bits count rows from the bottom
            if line == above:
                mark = "-"
            elif beside > column:
                mark = "/"
            else:
                mark = "\\"
            picture.put((line + above) // 2, (column + beside) // 2, mark)
    return picture, places
