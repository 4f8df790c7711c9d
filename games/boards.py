"""Boards for games of stones on cells: squares, hexagons, and any other graph, all behind one small Board.

A set of cells is an int with one bit a cell, so that ``a | b``, ``a & b`` and ``a & ~b`` read as for sets. A position
is a few ints, which are fast to compare and to copy. On squares and hexagons the neighbours of all cells of a set are
found at once, by shifting the whole set. On other graphs there is a mask for each cell.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from games import LETTERS, Illegal, quoted, read_cells


class _Once(ABCMeta):
    """Makes every board only once, so that positions on equal boards are equal."""

    _made: ClassVar[dict[object, Any]] = {}

    def __call__(cls, *described: Any) -> Any:
        """The board of this class with these arguments, which is made only the first time."""
        key = cls, repr(described)
        if key not in cls._made:
            cls._made[key] = super().__call__(*described)
        return cls._made[key]


class Board(metaclass=_Once):
    """Named cells and which of them are next to each other. Two equal boards are the same object."""

    def __init__(self, cells: Mapping[str, int], /) -> None:
        """Take the cells, each with the number of its bit, in board order."""
        self.bit = {name: 1 << number for name, number in cells.items()}
        """Each cell, in board order, as a set of one."""
        self.name = {bit: name for name, bit in self.bit.items()}
        """The name of each set of one cell."""
        self.all = sum(self.bit.values())
        """The set of all cells."""

    @abstractmethod
    def near(self, cells: int) -> int:
        """The neighbours of all cells of a set, and perhaps bits that are no cells of the board."""

    def ring(self, cells: int) -> int:
        """The cells outside a set that are next to it."""
        return self.near(cells) & self.all & ~cells

    def group(self, start: int, among: int) -> int:
        """All cells of *among* that are connected through *among* with *start*, which is part of it."""
        front, rest = start, among & ~start
        while front:
            front = self.near(front) & rest
            rest ^= front
        return among ^ rest

    def groups(self, cells: int, there: int = -1) -> Iterator[int]:
        """The connected parts of a set that have a cell *there*; by default that is everywhere."""
        while start := cells & there:
            group = self.group(start & -start, cells)
            yield group
            cells &= ~group

    def names(self, cells: int) -> list[str]:
        """The names of the cells of a set, in the order of their bits."""
        return [self.name[bit] for bit in bits(cells)]

    def first(self, cells: int) -> str:
        """The name of a set's first cell, in the order of their bits."""
        return self.name[cells & -cells]

    def lettered(self, stones: tuple[int, int], letters: tuple[str, str]) -> dict[str, str]:
        """The ``cells`` of a view: each cell with a stone, and the letter of its side."""
        return {name: letter for own, letter in zip(stones, letters, strict=True) for name in self.names(own)}

    def stones(self, view: Mapping[str, Any], letters: tuple[str, str]) -> tuple[int, int]:
        """The stones of each side in a view that has its cells `lettered`. Raises Illegal, naming what is wrong."""
        cells = read_cells(view)
        for name, letter in cells.items():
            if name not in self.bit:
                raise Illegal(f"There is no cell {quoted(name)} on this board.")
            if letter not in letters:
                raise Illegal(f"{name} can hold {' or '.join(letters)}, a stone of one of the sides, and nothing else.")
        first, second = (union(self.bit[name] for name in cells if cells[name] == letter) for letter in letters)
        return first, second


class Square(Board):
    """A board of *size* columns a, b, c ... and rows 1, 2, 3 ... from the bottom; four neighbours each."""

    def __init__(self, size: int, /) -> None:
        """Lay it out row by row, with an empty column at the right."""
        self.size, self.letters, self.width = size, LETTERS[:size], size + 1
        rows = range(size)
        super().__init__({f"{x}{y + 1}": y * self.width + n for y in rows for n, x in enumerate(self.letters)})

    def near(self, cells: int) -> int:
        """The set, shifted right, left, up and down."""
        return cells << 1 | cells >> 1 | cells << self.width | cells >> self.width


class Hexagon(Board):
    """A hexagon with *size* spaces to a side: rows a, b, c ... from the bottom, spaces numbered from the left."""

    def __init__(self, size: int, /) -> None:
        """Lay it out in slanted columns, which go up to the left, with an empty one at the right."""
        self.size, self.width = size, 2 * size
        cells = {}
        for row in range(2 * size - 1):
            first = max(0, row - size + 1)
            length = 2 * size - 1 - abs(row - size + 1)
            for number in range(length):
                cells[f"{LETTERS[row]}{number + 1}"] = row * self.width + first + number
        super().__init__(cells)

    def near(self, cells: int) -> int:
        """The set, shifted along its row, along its slanted column, and along the other diagonal."""
        right, left = cells << 1, cells >> 1
        return right | left | (cells | right) << self.width | (cells | left) >> self.width


class Graph(Board):
    """Any other board, made of the names of each cell's neighbours."""

    def __init__(self, neighbours: Mapping[str, Sequence[str]], /) -> None:
        """Number the cells in the order in which they are given, which is the board order."""
        super().__init__({name: number for number, name in enumerate(neighbours)})
        self.near_bit = {self.bit[name]: union(self.bit[n] for n in near) for name, near in neighbours.items()}
        """The neighbours of each cell."""

    def near(self, cells: int) -> int:
        """The neighbours of each cell, taken together."""
        near = 0
        for bit in bits(cells):
            near |= self.near_bit[bit]
        return near


def bits(cells: int) -> Iterator[int]:
    """The cells of a set, each as a set of one, in the order of their bits."""
    while cells:
        bit = cells & -cells
        yield bit
        cells ^= bit


def union(sets: Iterable[int]) -> int:
    """The cells that are in any of the sets."""
    cells = 0
    for some in sets:
        cells |= some
    return cells


def covered(rings: Iterable[int]) -> tuple[int, int]:
    """The cells that are in at least one of these sets, and those that are in at least two."""
    once = twice = 0
    for ring in rings:
        twice |= once & ring
        once |= ring
    return once, twice
