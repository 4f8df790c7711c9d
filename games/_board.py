"""Boards for games of stones on cells: squares, hexagons, and any other graph, all behind one small Board.

A set of cells is an int with one bit a cell, so that ``a | b``, ``a & b`` and ``a & ~b`` read as for sets, and a
position is a few ints: compared at once, copied for nothing. On squares and hexagons the neighbours of all cells of
a set are found at once by shifting the whole set; on other graphs there is a mask for each cell.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache


class Board(ABC):
    """Named cells and which of them are next to each other. Two boards of one kind and size are the same object."""

    def __init__(self, cells: Mapping[str, int]) -> None:
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
        group, front = start, start
        while front:
            front = self.near(front) & among & ~group
            group |= front
        return group

    def groups(self, cells: int) -> Iterator[int]:
        """The connected parts of a set."""
        while cells:
            group = self.group(cells & -cells, cells)
            yield group
            cells &= ~group

    def names(self, cells: int) -> list[str]:
        """The names of the cells of a set, in the order of their bits."""
        return [self.name[bit] for bit in bits(cells)]


class Square(Board):
    """A board of *size* columns a, b, c ... and rows 1, 2, 3 ... from the bottom; four neighbours each."""

    def __init__(self, size: int) -> None:
        """Lay it out row by row, with an empty column at the right so that no shift leads around the edge."""
        self.size, self.width = size, size + 1
        letters = "abcdefghijklmnopqrstuvwxyz"[:size]
        cells = {f"{letter}{row + 1}": row * self.width + x for row in range(size) for x, letter in enumerate(letters)}
        super().__init__(cells)

    def near(self, cells: int) -> int:
        """The set, shifted right, left, up and down."""
        return cells << 1 | cells >> 1 | cells << self.width | cells >> self.width


class Hexagon(Board):
    """A hexagon with *size* spaces to a side: rows a, b, c ... from the bottom, spaces numbered from the left."""

    def __init__(self, size: int) -> None:
        """Lay it out in slanted columns, which go up to the left, with an empty one at the right."""
        self.size, self.width = size, 2 * size
        cells = {}
        for row in range(2 * size - 1):
            first = max(0, row - size + 1)
            length = 2 * size - 1 - abs(row - size + 1)
            for number in range(length):
                cells[f"{chr(ord('a') + row)}{number + 1}"] = row * self.width + first + number
        super().__init__(cells)

    def near(self, cells: int) -> int:
        """The set, shifted along its row, along its slanted column, and along the other diagonal."""
        up, across = self.width, self.width + 1
        return cells << 1 | cells >> 1 | cells << up | cells >> up | cells << across | cells >> across


class Graph(Board):
    """Any other board, made of the names of each cell's neighbours."""

    def __init__(self, neighbours: Mapping[str, Sequence[str]]) -> None:
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


@cache
def square(size: int) -> Square:
    """The square board of that size, laid out once."""
    return Square(size)


@cache
def hexagon(size: int) -> Hexagon:
    """The hexagonal board of that size, laid out once."""
    return Hexagon(size)
