"""Sprout-R-Out: a stone next to each enemy group, or the group is removed; eyes make territory.

A turn begins with a stone outside both players' territories. Then each other enemy group on the board is played to, in
any order. A stone is put next to it; if that is not possible, the group is removed. No stone may be next to two enemy
groups. An empty cell surrounded by one group is an eye, and stays one when the enemy fills it; a group with an eye is
immortal. Territory is a player's immortal groups and eyes, and more than half of the cells win.

The rules in full, with the notation, are in help/sprout.txt.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from games import SKIP, Effects, Illegal, Option, Position, Result, higher, quoted, read_cells, read_turn
from games.boards import Graph, bits, covered, union
from games.figures import (
    BoardText,
    Cell,
    Figure,
    Label,
    Mark,
    Note,
    Picture,
    Places,
    Template,
    box,
    coordinates,
    honeycomb,
    honeycomb_in_text,
)
from games.lessons import Lesson, Lessons
from games.tapping import NextTaps, Tap, TurnMark

if TYPE_CHECKING:
    from random import Random

SIDES: tuple[str, str] = ("black", "white")
BOARDS = ("limping-3", "limping-5", "limping-7", "hex-6", "cairo-1", "cairo-2", "square-9")
NOTATION = "c3,d5 are two stones, c3,d5,xf3 then takes the group on f3 off"
LESSONS = Lessons(
    rules=(
        Lesson(
            rule="Put a stone next to each enemy group, all in one turn, but no stone next to two of them.",
            options="-board=limping-3",
            position={"cells": {"b2": "W", "d5": "W"}},
            turn="b3,d4",
        ),
        Lesson(
            rule=(
                "An enemy group that no stone can answer is taken off: here each cell beside the corner is "
                "next to two groups."
            ),
            options="-board=limping-3",
            position={"cells": {"a1": "W", "b3": "W", "c1": "W"}},
            turn="a3,c2,xa1",
        ),
        Lesson(
            rule=(
                "An empty cell inside one group is an eye; groups with eyes are territory, and more than "
                "half of the board wins."
            ),
            options="-board=limping-3",
            position={"cells": {"a2": "B", "b1": "B", "e4": "W"}},
            turn="b2,e3",
        ),
    ),
    tapping=(
        "Tap any cell first, later one next to each enemy group with a ring; a tap takes off a group without such "
        "a cell."
    ),
)
OPTIONS: Sequence[Option] = (Option("board", "one of seven boards of 27 to 160 cells", BOARDS, "limping-5"),)

_LETTERS = "abcdefghijklmnopqrst"
_OUTLINES = {  # the columns of each row of unit squares, from the bottom
    "cairo-1": "gh ej bj bj ak ak bl bl ck ck ch ef",
    "cairo-2": "gh+op ej+mr br br as as bt bt cs cs br br as as bt bt cs cs ch+kp ef+mn",
}


class Rectangle(NamedTuple):
    """How a cell is drawn: the place of its lower left unit square, counted from 0, and its size in unit squares."""

    row: int
    column: int
    height: int
    width: int

    @property
    def squares(self) -> list[tuple[int, int]]:
        """The unit squares it covers, the lower left one first."""
        return [(self.row + up, self.column + right) for up in range(self.height) for right in range(self.width)]


class Layout(Graph):
    """One of the boards. Its cells are rectangles, and two of them are neighbours if they share a piece of edge."""

    def __init__(self, name: str, /) -> None:
        """Lay out the board of that name."""
        cells = _rectangles(name)
        cell_at = {square: cell for cell, rectangle in cells.items() for square in rectangle.squares}
        neighbours: dict[str, list[str]] = {}
        for cell, rectangle in cells.items():
            beside = set()
            for row, column in rectangle.squares:
                for square in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                    if square in cell_at:
                        beside.add(cell_at[square])
            neighbours[cell] = sorted(beside - {cell})
        super().__init__(neighbours)
        self.title = name
        self.cells = cells
        self.hexagonal = name.startswith(("limping", "hex"))
        self.called = self.bit
        """The cell of each name; a brick of a Cairo board has two names."""
        if not self.hexagonal:
            self.called = {_square(*square): self.bit[cell] for square, cell in cell_at.items()}

    def cell(self, name: str) -> int:
        """The cell of that name. Raises Illegal if there is none."""
        if name in self.called:
            return self.called[name]
        alike = [cell for cell in self.called if cell[0] == name[0]]
        letters = sorted(cell[0] for cell in self.called)
        known = ", ".join(alike) or f"none with that letter, as letters go from {letters[0]} to {letters[-1]}"
        raise Illegal(f"There is no cell {name} on {self.title}; there are {known}.")


def _square(row: int, column: int) -> str:
    return f"{_LETTERS[column]}{row + 1}"


def _rectangles(name: str) -> dict[str, Rectangle]:
    """The cells of the board of that name, in board order."""
    kind, _, number = name.partition("-")
    size = int(number)
    if kind == "limping":
        return _hexagons([*range(size + 1, 2 * size), *range(2 * size, size - 1, -1)])
    if kind == "hex":
        return _hexagons([*range(size, 2 * size - 1), *range(2 * size - 1, size - 1, -1)])
    if kind == "cairo":
        return _bricks(_OUTLINES[name].split())
    squares = [(row, column) for row in range(size) for column in range(size)]
    return {_square(*square): Rectangle(*square, 1, 1) for square in squares}


def _hexagons(lengths: list[int]) -> dict[str, Rectangle]:
    """Rows of hexagons, each shifted by half a cell against the one below it."""
    cells = {}
    for row, length in enumerate(lengths):
        for number in range(length):
            cells[f"{_LETTERS[row]}{number + 1}"] = Rectangle(row, max(lengths) - length + 2 * number, 1, 2)
    return cells


def _bricks(outline: list[str]) -> dict[str, Rectangle]:
    """A wall in basket weave: blocks of two by two squares, which have two lying or two standing bricks in turn."""
    cells = {}
    for row, spans in enumerate(outline):
        for span in spans.split("+"):
            for column in range(_LETTERS.index(span[0]), _LETTERS.index(span[1]) + 1):
                is_lying = (column // 2 + row // 2) % 2 == 0
                if (column if is_lying else row) % 2 == 0:
                    cells[_square(row, column)] = Rectangle(row, column, 2 - is_lying, 1 + is_lying)
    return cells


class Turn(NamedTuple):
    """A turn that is being played, stone by stone."""

    board: Layout
    empty: int
    """The empty cells."""
    rings: Mapping[int, int]
    """Each enemy group on the board, with the cells next to it."""
    left: tuple[int, ...]
    """The enemy groups that have not been played to."""
    crowded: int
    """The cells next to two or more enemy groups."""

    def places(self, group: int) -> int:
        """Where a stone can be put next to an enemy group."""
        return self.rings[group] & self.empty & ~self.crowded

    def placed(self, cell: int) -> Self:
        """The turn after a stone on that cell, which plays to the group next to it."""
        left = tuple([group for group in self.left if not self.rings[group] & cell])
        return self._replace(empty=self.empty & ~cell, left=left)

    def removed(self, group: int) -> Self:
        """The turn after the removal of an enemy group."""
        rings = {enemy: ring for enemy, ring in self.rings.items() if enemy != group}
        left = tuple([enemy for enemy in self.left if enemy != group])
        return self._replace(empty=self.empty | group, rings=rings, left=left, crowded=covered(rings.values())[1])

    def endings(self) -> Iterator[str]:
        """All ways to complete the turn: its further items, each behind a comma."""
        if not self.left:
            yield ""
        for group in self.left:
            for cell in bits(self.places(group)):
                yield from (f",{self.board.name[cell]}{rest}" for rest in self.placed(cell).endings())
            if not self.places(group):
                yield from (f",x{self.board.first(group)}{rest}" for rest in self.removed(group).endings())

    def group_on(self, name: str) -> int:
        """The enemy group with a stone on that cell. Raises Illegal if there is no enemy stone."""
        cell = self.board.cell(name)
        for group in self.rings:
            if group & cell:
                return group
        what = "there is no stone" if cell & self.empty else "the stone there is your own"
        raise Illegal(f"No group is removed on {name}: {what}, and a removal takes an enemy group.")

    def objection(self, cell: int) -> str:
        """Why no stone may be put on that cell, no matter which groups are left; empty if one may."""
        name, near = self.board.name[cell], self.board.near_bit[cell]
        if not cell & self.empty:
            return f"{name} is occupied."
        if cell & self.crowded:
            touched = [self.board.first(group & near) for group in self.rings if group & near]
            return f"{name} is next to {len(touched)} enemy groups ({', '.join(touched)}); a stone may touch only one."
        return ""

    def follow(self, item: str) -> tuple[str, Self]:
        """An item that comes after the first stone, in canonical form, and the turn after it. Raises Illegal."""
        if not self.left:
            raise Illegal(f"The turn is complete before {item}: every enemy group has been dealt with.")
        if item.startswith("x"):
            group = self.group_on(item[1:])
            places = self.places(group)
            if group not in self.left:
                raise Illegal(f"The group on {item[1:]} has been played to already, so it is not removed.")
            if places:
                place = self.board.first(places)
                raise Illegal(f"Removing {item[1:]}'s group is not allowed while {place} can be played next to it.")
            return f"x{self.board.first(group)}", self.removed(group)
        cell = self.board.cell(item)
        if why := self.objection(cell):
            raise Illegal(why)
        for group, ring in self.rings.items():
            if ring & cell:
                if group not in self.left:
                    raise Illegal(f"{item} is next to the group on {self.board.first(group)}, already played to.")
                return self.board.name[cell], self.placed(cell)
        raise Illegal(f"{item} is not next to an enemy group, as every stone after the first of a turn has to be.")


Stones = tuple[int, int]


class _Fields(NamedTuple):
    board: Layout
    stones: Stones = (0, 0)
    """The cells with a stone of each side."""
    filled: Stones = (0, 0)
    """The eyes of each side on which a stone stands, which is an enemy stone."""
    turn: int = 0
    starts: tuple[Stones | None, Stones | None] = (None, None)
    """The stones at the start of each side's last turn."""
    passes: int = 0
    """How many of the turns just played were passes. The removal of a player without a first stone is none."""


class State(_Fields, Position):
    """A position, with as much of its history as the rules look at."""

    __slots__ = ()
    sides = SIDES

    def eyes(self, side: int) -> int:
        """All eyes of a side, empty or filled."""
        return _eyes(self.board, self.stones[side], self.stones[1 - side], self.filled[side])

    def territory(self, side: int) -> int:
        """A side's eyes and its immortal groups, which are those next to them."""
        eyes = self.eyes(side)
        own = self.stones[side]
        return eyes | self.board.group(self.board.near(eyes) & own, own)

    def first_cells(self) -> int:
        """Where the first stone of a turn can be put."""
        turn = self._begin()
        return turn.empty & ~turn.crowded & ~self.eyes(0) & ~self.eyes(1)

    def eyeless(self) -> list[int]:
        """The enemy groups without an eye, one of which is removed when there is no place for a first stone."""
        enemy = 1 - self.turn
        return list(self.board.groups(self.stones[enemy] & ~self.territory(enemy)))

    @property
    def must_skip(self) -> bool:
        """Whether the player must pass: the stones stand as at the start of their last turn, or they can do nothing."""
        if self.result():
            return False
        # after a pass of the opponent the rule does not apply, but then the stones are the same only after two passes
        is_repeated = self.starts[self.turn] == self.stones
        return is_repeated or not (self.first_cells() or self.eyeless())

    def read(self, text: str) -> str:
        """The turn that a player wrote, with each removed group named by its first cell. Raises Illegal."""
        if text == SKIP:
            raise Illegal(f"{SKIP} is never written: a forced pass is made by itself, and no other is allowed.")
        if self.must_skip:
            raise Illegal(f"{SIDES[self.turn].title()} must pass in this position, and nothing else can be played.")
        items = _read(text)
        cells = self.first_cells()
        if not cells:
            return self._parse_removal(items)
        played, turn = self._follow(items, cells)
        text = ",".join(played)
        if turn.left:
            groups = ", ".join(self.board.first(group) for group in turn.left)
            whole = text + next(turn.endings())
            raise Illegal(f"The turn is not complete: enemy groups are left, on {groups}; {whole} would do.")
        return text

    def _follow(self, items: list[str], cells: int) -> tuple[list[str], Turn]:
        """Some items in canonical form, the first of which is a stone on one of the *cells*, and the turn after them.

        Raises Illegal.
        """
        turn = self._begin()
        first = items[0]
        if first.startswith("x"):
            raise Illegal(f"A turn begins with a stone, such as {self.board.first(cells)}, and not with {first}.")
        cell = self.board.cell(first)
        if why := turn.objection(cell):
            raise Illegal(why)
        if not cell & cells:
            owner = 0 if cell & self.eyes(0) else 1
            raise Illegal(f"{first} is an eye of {SIDES[owner].title()}; a first stone goes outside both territories.")
        played = [self.board.name[cell]]
        turn = turn.placed(cell)
        for item in items[1:]:
            canonical, turn = turn.follow(item)
            played.append(canonical)
        return played, turn

    def next_taps(self, text: str) -> NextTaps:
        """How a turn with these items goes on. A tap plays a stone, or removes the enemy group that is tapped."""
        if self.must_skip:
            raise Illegal(f"{SIDES[self.turn].title()} must pass in this position.")
        items = _read(text) if text else []
        cells = self.first_cells()
        if not cells:
            return self._taps_of_removal(items)
        turn = self._begin()
        groups = len(turn.left)
        if not items:
            are_most = 2 * cells.bit_count() > turn.empty.bit_count()
            first = Tap("*", tuple(self.board.names(cells)), is_quiet=are_most)
            hint = "Tap a cell for your first stone; it goes outside both territories."
            done = (0, groups) if groups else None
            return NextTaps(is_whole=False, taps=(first,), hint=hint, done=done)
        enemy = self.stones[1 - self.turn]
        played, turn = self._follow(items, cells)
        begun = ",".join(played)
        places = union(map(turn.places, turn.left))
        taps = [Tap(f"{begun},*", tuple(self.board.names(places)))] if places else []
        for group in turn.left:
            if not turn.places(group):
                taps.append(Tap(f"{begun},x{self.board.first(group)}", tuple(self.board.names(group))))
        marks = list(self._marks(played, enemy))
        if turn.left:
            marks.append(TurnMark("halo", tuple(self.board.names(union(turn.left)))))
        answered = groups - len(turn.left)
        return NextTaps(
            is_whole=not turn.left,
            taps=tuple(taps),
            hint=_progress(answered, groups),
            marks=tuple(marks),
            done=(answered, groups) if groups else None,
        )

    def _taps_of_removal(self, items: list[str]) -> NextTaps:
        """The taps of a turn that is the removal of one group, or none if that was tapped."""
        enemy = self.stones[1 - self.turn]
        if items:
            removed = self._parse_removal(items)
            return NextTaps(is_whole=True, hint="One group goes away.", marks=tuple(self._marks([removed], enemy)))
        taps = [Tap(f"x{self.board.first(group)}", tuple(self.board.names(group))) for group in self.eyeless()]
        return NextTaps(is_whole=False, taps=tuple(taps), hint="No stone can be put first: tap a group to remove it.")

    def _marks(self, items: list[str], enemy: int) -> Iterator[TurnMark]:
        """What items in canonical form do, with their numbers."""
        for number, item in enumerate(items, 1):
            if item.startswith("x"):
                group = self.board.group(self.board.bit[item[1:]], enemy)
                yield TurnMark("gone", tuple(self.board.names(group)), str(number))
            else:
                yield TurnMark("piece", (item,), str(number))

    def moves(self) -> Iterator[str]:
        """All turns. Two orders of the same items are two turns."""
        if self.result():
            return
        if self.must_skip:
            yield SKIP
            return
        cells, turn = self.first_cells(), self._begin()
        for cell in bits(cells):
            yield from (self.board.name[cell] + rest for rest in turn.placed(cell).endings())
        if not cells:
            yield from (f"x{self.board.first(group)}" for group in self.eyeless())

    def random(self, rng: "Random") -> str:
        """A turn chosen step by step: first stone, next group and its place are each equally likely."""
        if self.must_skip:
            return SKIP
        cells, turn = self.first_cells(), self._begin()
        if not cells:
            return f"x{self.board.first(rng.choice(self.eyeless()))}"
        cell = rng.choice(list(bits(cells)))
        played = [self.board.name[cell]]
        turn = turn.placed(cell)
        while turn.left:
            group = rng.choice(turn.left)
            if places := list(bits(turn.places(group))):
                cell = rng.choice(places)
                played.append(self.board.name[cell])
                turn = turn.placed(cell)
            else:
                played.append(f"x{self.board.first(group)}")
                turn = turn.removed(group)
        return ",".join(played)

    def play(self, move: str) -> Self:
        """The position after a turn."""
        board, side = self.board, self.turn
        own, enemy = self.stones[side], self.stones[1 - side]
        own_eyes, enemy_eyes = self.filled[side], self.filled[1 - side]
        items = [] if move == SKIP else move.split(",")
        for item in items:
            if item.startswith("x"):
                group = board.group(board.bit[item[1:]], enemy)
                enemy &= ~group
                own_eyes &= ~group
            else:
                cell = board.bit[item]
                own |= cell
                if not board.near_bit[cell] & ~enemy:  # no stone touches two enemy groups, so it is an eye
                    enemy_eyes |= cell
        starts: tuple[Stones | None, Stones | None]
        if side == 0:
            stones = own, enemy
            filled = own_eyes, enemy_eyes
            starts = self.stones, self.starts[1]
        else:
            stones = enemy, own
            filled = enemy_eyes, own_eyes
            starts = self.starts[0], self.stones
        passes = self.passes + 1 if move == SKIP else 0
        return self._replace(stones=stones, filled=filled, turn=1 - side, starts=starts, passes=passes)

    def result(self) -> Result | None:
        """More than half of the cells win; after two passes in a row the larger territory does."""
        sizes = self.scores
        mover = 1 - self.turn
        major = [side for side in (mover, self.turn) if 2 * sizes[side] > len(self.board.bit)]
        if major:
            return Result(max(major, key=sizes.__getitem__))  # the mover wins a tie
        if self.passes < 2:
            return None
        return Result(higher(*sizes))

    @property
    def cells(self) -> dict[str, str]:
        """The stones."""
        return self.board.lettered(self.stones, ("B", "W"))

    @property
    def scores(self) -> tuple[int, int]:
        """How many cells the territory of each side has."""
        return self.territory(0).bit_count(), self.territory(1).bit_count()

    def view(self) -> dict[str, Any]:
        """What every view has, and the eyes of each side."""
        eyes = {name: sorted(self.board.names(self.eyes(side))) for side, name in enumerate(SIDES)}
        return {**super().view(), "eyes": eyes}

    def _begin(self) -> Turn:
        """The turn of the player to move, before its first stone."""
        board = self.board
        enemy = self.stones[1 - self.turn]
        rings = {group: board.near(group) for group in board.groups(enemy)}
        empty = board.all & ~self.stones[0] & ~self.stones[1]
        return Turn(board, empty, rings, tuple(rings), covered(rings.values())[1])

    def _parse_removal(self, items: list[str]) -> str:
        """The removal of one group, when there is no place for a first stone."""
        groups = self.eyeless()
        choice = " or ".join(f"x{self.board.first(group)}" for group in groups)
        if len(items) > 1 or not items[0].startswith("x"):
            raise Illegal(f"No cell can take a first stone, so this turn is the removal of one group alone: {choice}.")
        name = items[0][1:]
        group = self._begin().group_on(name)
        if group not in groups:
            raise Illegal(f"The group on {name} has an eye; only one without can be removed now: {choice}.")
        return f"x{self.board.first(group)}"


@lru_cache(maxsize=64)  # to choose a turn and to check it ask for the same eyes
def _eyes(board: Layout, own: int, enemy: int, filled: int) -> int:
    eyes = filled
    for cell in bits(board.all & ~own & ~enemy & ~board.near(board.all & ~own)):
        near = board.near_bit[cell]
        if not near & ~board.group(near & -near, own):
            eyes |= cell
    return eyes


def new(*, board: str = "limping-5") -> State:
    """The empty board, Black to move."""
    return State(Layout(board))


def setup(view: Mapping[str, Any], **options: Any) -> State:
    """The position with the view's cells and turn, and with its eyes on which an enemy stone stands. Raises Illegal."""
    start = new(**options)
    stones, filled = [0, 0], [0, 0]
    cells, eyes = read_cells(view), view.get("eyes", {})
    if not isinstance(eyes, dict):
        raise Illegal('"eyes" has a list of cells for black and one for white.')
    for name, stone in cells.items():
        cell = _read_cell(name, start.board)
        if stone not in ("B", "W"):
            raise Illegal(f"The stone on {name} is B or W, and nothing else.")
        if cell & (stones[0] | stones[1]):
            raise Illegal(f"{name} has a stone already, under the other name of the cell.")
        stones["BW".index(stone)] |= cell
    for owner, names in eyes.items():
        if owner not in SIDES or not isinstance(names, list):
            raise Illegal('"eyes" has a list of cells for black and one for white.')
        side = SIDES.index(owner)
        for name in names:
            cell = _read_cell(name, start.board)
            if cell & stones[side]:
                raise Illegal(f"{name} cannot be an eye of {owner} with a stone of {owner} on it.")
            filled[side] |= cell & stones[1 - side]
    return start._replace(stones=(stones[0], stones[1]), filled=(filled[0], filled[1]), turn=read_turn(view, SIDES))


def _progress(answered: int, groups: int) -> str:
    """How many of the enemy's groups a turn has answered, and what is left to do."""
    if not groups:
        return "There is no enemy group to answer, so the turn is complete."
    noun = "group" if groups == 1 else "groups"
    counted = f"{answered} of {groups} enemy {noun} answered."
    if answered == groups:
        return f"{counted} The turn is complete."
    return f"{counted} Tap a dot next to a ringed group; tap a group that has none to remove it."


# Notation


_ITEM = re.compile("x?[a-z][0-9]{1,2}", re.ASCII | re.IGNORECASE)


def _read(text: str) -> list[str]:
    """The items of a turn, in small letters."""
    items = [item.strip() for item in text.split(",")]
    for item in items:
        if not _ITEM.fullmatch(item):
            raise Illegal(
                f"Cannot read {quoted(item)}; write a cell for a stone and xCELL for a removal, such as c3,d5,xf3."
            )
    return [item.lower() for item in items]


def _read_cell(name: Any, board: Layout) -> int:
    """A cell of a position that is set up."""
    if not isinstance(name, str) or not _ITEM.fullmatch(name) or name[0] in "xX":
        what = quoted(name) if isinstance(name, str) else "that"
        raise Illegal(f"A position has cells such as {board.first(board.all)}, and {what} is none.")
    return board.cell(name.lower())


# Drawing


def effects(before: State, after: State) -> Effects:
    """Removals, stones, groups and territory."""
    side = before.turn
    foe = 1 - side
    own_groups = list(after.board.groups(after.stones[side]))
    enemy_groups = list(after.board.groups(after.stones[foe]))
    return [
        ("removes", "stone", (before.stones[foe] & ~after.stones[foe]).bit_count()),
        ("adds", "stone", (after.stones[side] & ~before.stones[side]).bit_count()),
        ("has", "territory cell", after.scores[side]),
        ("leaves the other side", "territory cell", after.scores[foe]),
        ("has", "group", len(own_groups)),
        ("leaves the other side", "group", len(enemy_groups)),
    ]


def draw(state: State, before: State | None = None) -> BoardText:
    """The board with its coordinates, and under it the territories and what the side to move must play to.

    On hexagons, lines join touching stones of one colour.
    """
    board = state.board
    picture, places = honeycomb_in_text(board, state.stones) if board.hexagonal else _wall(board)
    placed = 0
    for side, own in enumerate(state.stones):
        fresh = own & ~before.stones[side] if before else 0
        for cell in bits(own):
            stone = "BW"[side]
            if cell & fresh:
                stone += "*"
            picture.put(*places[cell], stone)
        placed |= fresh
    signs = "B Black   W White   . empty"
    if placed:
        signs += "   * placed in the last turn"
    legend = ["", signs]
    legend += _summary(state)
    return BoardText(str(picture), legend)


def _summary(state: State) -> Iterator[str]:
    """The territories and their eyes, and what there is to do."""
    board = state.board
    cells = len(board.bit)
    yield f"Territory ({cells // 2 + 1} of the {cells} cells win):"
    for side, name in enumerate(SIDES):
        eyes = ", ".join(board.names(state.eyes(side))) or "none"
        size = state.territory(side).bit_count()
        yield from wrap(f"{name.title()} {size:3}, eyes: {eyes}", 78, initial_indent="  ", subsequent_indent=" " * 19)
    yield from wrap(_task(state), 78, subsequent_indent="  ")


def _task(state: State) -> str:
    """What there is to do; empty when the game is over."""
    board = state.board
    mover = SIDES[state.turn].title()
    if state.result():
        return ""
    if state.must_skip:
        return f"{mover} must pass."
    if state.first_cells():
        enemies = ", ".join(map(board.first, board.groups(state.stones[1 - state.turn])))
        return f"{mover} to move; enemy groups to be played to: {enemies or 'none'}."
    choice = ", ".join(map(board.first, state.eyeless()))
    return f"{mover} has no first stone and must remove one of: {choice}."


def _wall(board: Layout) -> tuple[Picture, Places]:
    """A Cairo board as a wall of bricks, or a board of squares, with coordinates on all four sides."""
    squares = [square for rectangle in board.cells.values() for square in rectangle.squares]
    rows, columns = (max(numbers) + 1 for numbers in zip(*squares, strict=True))
    picture = Picture(2 * rows + 3)
    for edge in (0, 2 * rows + 2):
        picture.put(edge, 5, "  ".join(_LETTERS[:columns]))
    for row in range(rows):
        picture.put(2 * (rows - row), 0, f"{row + 1:2}")
        picture.put(2 * (rows - row), 7 + 3 * columns, str(row + 1))
    places = {}
    corners = []
    for name, (row, column, height, width) in board.cells.items():
        top, bottom = 2 * (rows - row - height) + 1, 2 * (rows - row) + 1
        left, right = 4 + 3 * column, 4 + 3 * (column + width)
        for line in (top, bottom):
            picture.put(line, left, "-" * (3 * width))
            corners += [(line, left), (line, right)]
        for line in range(top + 1, bottom):
            picture.put(line, left, "|")
            picture.put(line, right, "|")
        places[board.bit[name]] = (top + bottom) // 2, left + 3 * width // 2
    for corner in corners:
        picture.put(*corner, "+")
    for place in places.values():
        picture.put(*place, ".")
    return picture, places


def figure(state: State, before: State | None = None) -> Figure:
    """The cells with their stones, of which touching ones are joined, and all eyes, empty or filled."""
    template = honeycomb(state.board) if state.board.hexagonal else _drawn_wall(state.board)
    needed = len(template.cells) // 2 + 1
    task = _task(state)
    notes = []
    for side, name in enumerate(SIDES):
        territory = state.territory(side).bit_count()
        notes.append(Note(f"{name.title()}: territory {territory} of {needed} to win", side, score=str(territory)))
    if task:
        notes.append(Note(task, is_task=True))
    eyes = [Mark(template.at[bit], "eye", 0.17, side) for side in (0, 1) for bit in bits(state.eyes(side))]
    return template.figure(state, before, notes, size=0.36, marks=eyes)


@cache
def _drawn_wall(board: Layout) -> Template:
    """The bricks of a Cairo board, or squares, with coordinates on all four sides."""
    cells, squares = [], []
    for name, (row, column, height, width) in board.cells.items():
        middle = column + width / 2, row + height / 2
        cells.append(Cell(name, middle, box(*middle, width / 2, height / 2)))
        squares.append((row + height, column + width))
    rows, columns = (max(numbers) for numbers in zip(*squares, strict=True))
    labels: list[Label] = []
    for x in range(columns):
        labels += coordinates(_LETTERS[x], (x + 0.5, -0.5), (x + 0.5, rows + 0.5))
    for y in range(rows):
        labels += coordinates(str(y + 1), (-0.5, y + 0.5), (columns + 0.5, y + 0.5))
    return Template(board, tuple(cells), labels)
