"""Papagra: make the largest group of stones whose shape is that of a region of empty spaces.

Pink and Black take turns on a hexagon of hexagonal spaces. Pink begins with one stone; every later turn is two
actions, each of which adds an own stone to an empty space or removes one from the board. With ``-removals=x`` a third
action may remove up to x stones at once. A group is matched while some region of empty spaces has its size and its
shape; shapes may be turned, but not flipped. After every action the marks go up to the sizes of the matched groups that
it created. The mover's mark goes first, then the other one, never to a number that is covered. The higher mark leads.
The leader wins when too few spaces are free of their stones for the other side to overtake them. The leader also wins
when an arrangement of stones stands for the third time; without a leader that is a draw.

The rules in full, with the notation, are in help/papagra.txt.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from games import SKIP, Effects, Glyphs, Illegal, Option, Position, Result, higher, quoted, read_turn
from games.boards import Hexagon, bits, union
from games.figures import BoardText, Figure, Label, Mark, Note, Strokes, Way, honeycomb, honeycomb_in_text
from games.lessons import Lesson, Lessons
from games.tapping import NextTaps, Tap, TurnMark

if TYPE_CHECKING:
    from random import Random

SIDES: tuple[str, str] = ("pink", "black")
GLYPHS = Glyphs(  # the letter of a row, which may be an o, stands nearer to the first space than a stone
    sides=(r"(?<!\w)(?:O|o(?! [.oO#@]|\())(?!\w)", "[#@]"), latest=r"(?<!\w)O(?!\w)|@"
)

NOTATION = "c3,d4 adds two stones, c3,-e2 adds one and takes that on e2 off"
LESSONS = Lessons(
    rules=(
        Lesson(
            rule=(
                "A turn is two actions, each of which adds a stone of yours or takes one off; the game begins with "
                "one stone."
            ),
            options="-size=3",
            position={"cells": {"b3": "P", "e1": "P", "c3": "B", "d2": "B"}},
            turn="+c4,-e1",
        ),
        Lesson(
            rule="Make a group that has the shape of a region of empty spaces: your mark goes up to its size.",
            options="-size=3",
            position={"cells": {"b3": "P", "e1": "P", "b1": "B", "b2": "B", "d4": "B"}},
            turn="+a3,+e2",
        ),
        Lesson(
            rule=(
                "Shapes can be turned, no mark goes to the number of the other, and the higher mark wins once nobody "
                "can overtake it."
            ),
            options="-size=3",
            position={
                "cells": {"d1": "P", "e1": "P", "b3": "P", "b1": "B", "b2": "B", "d4": "B", "e3": "B"},
                "marks": {"pink": 2},
            },
            turn="+b4,+c1",
        ),
    ),
    tapping="Tap an empty space to add a stone, or a stone of yours to take it off.",
)
OPTIONS: Sequence[Option] = (
    Option("size", "how many spaces a side of the board has: 3 to 10, usually 6", range(3, 11), 6),
    Option(
        "removals",
        "how many stones an optional third action may remove: up to 999, usually 0 (no third action)",
        range(1000),
        0,
    ),
)

Pair = tuple[int, int]
"""For Pink and for Black: a set of spaces, or a mark."""
Partition = tuple[frozenset[int], frozenset[int], frozenset[int]]
"""The groups of Pink, those of Black, and the regions of empty spaces."""


# Matched groups


@cache
def _sixth(board: Hexagon) -> Mapping[int, int]:
    """Where each space goes when the board is turned by 60 degrees around its middle."""
    middle = board.size - 1
    turned = {}
    for bit in board.name:
        row, column = divmod(bit.bit_length() - 1, board.width)
        turned[bit] = 1 << column * board.width + column - row + middle
    return turned


def shape(board: Hexagon, cells: int) -> int:
    """A number that is the same for all connected sets that moving and turning makes of this one."""
    sixth = _sixth(board)
    spaces = list(bits(cells))
    turned = [cells]
    for _ in range(5):
        spaces = [sixth[space] for space in spaces]
        turned.append(sum(spaces))
    # no step to a neighbour wraps around the edge, so connected sets that differ by a shift of bits are moved copies
    return min(copy >> (copy & -copy).bit_length() - 1 for copy in turned)


def parted(board: Hexagon, stones: Pair) -> Partition:
    """The groups of each side, and the regions of empty spaces."""
    pink, black = stones
    empty = _empty(board, stones)
    return frozenset(board.groups(pink)), frozenset(board.groups(black)), frozenset(board.groups(empty))


def _parted_after(board: Hexagon, before: Partition, stones: Pair, mover: int, acted: int) -> Partition:
    """The parts after the mover has acted on some spaces: groups and regions that touch none of these stay."""
    reach = acted | board.near(acted)
    parts = list(before)
    for kind, cells in (mover, stones[mover]), (2, _empty(board, stones)):
        kept = frozenset(part for part in before[kind] if not part & reach)
        parts[kind] = kept.union(board.groups(cells, there=reach))
    pink, black, regions = parts
    return pink, black, regions


def matched(board: Hexagon, parts: Partition) -> tuple[set[int], set[int]]:
    """The groups of each side that have the size and the shape of some region of empty spaces."""
    pink: set[int] = set()
    black: set[int] = set()
    for size in set(map(int.bit_count, parts[2])):
        pink |= _matched(board, parts, 0, size)
        black |= _matched(board, parts, 1, size)
    return pink, black


def _matched(board: Hexagon, parts: Partition, side: int, size: int) -> set[int]:
    """The matched groups of a side that have that size."""
    groups = parts[side]
    regions = parts[2]
    if size not in map(int.bit_count, groups) or size not in map(int.bit_count, regions):
        return set()
    shapes = {shape(board, region) for region in regions if region.bit_count() == size}
    return {group for group in groups if group.bit_count() == size and shape(board, group) in shapes}


def _empty(board: Hexagon, stones: Pair) -> int:
    return board.all & ~(stones[0] | stones[1])


class _Fields(NamedTuple):
    board: Hexagon
    parts: Partition
    """The groups and regions of the stones. To find them again in each turn makes the replay of a game, and so a move
    on a page, 1.7 times as slow."""
    removals: int = 0
    """How many stones a third action may remove."""
    stones: Pair = (0, 0)
    marks: Pair = (0, 0)
    turn: int = 0
    turns: int = 0
    """How many turns were played, skips included."""
    past: tuple[Pair, ...] = ()
    """The stones after each turn that was played, not those of a position that was set up."""


class State(_Fields, Position):
    """A position. It never changes: a turn makes a new one."""

    __slots__ = ()
    sides = SIDES

    @property
    def actions(self) -> int:
        """How many actions the turn has, without a third one: 2, but 1 in Pink's first turn."""
        return 1 if self.turns == self.turn == 0 and self.stones == (0, 0) else 2

    @property
    def leader(self) -> int | None:
        """The side with the higher mark."""
        return higher(*self.marks)

    def read(self, text: str) -> str:
        """The turn that a player wrote, with a sign before every space. Raises Illegal."""
        if text == SKIP:
            raise Illegal("A skip is not asked for: it comes by itself when no action is possible.")
        parts = [part.strip() for part in text.split(",")]
        if len(parts) == 1:
            _check_joined(text, self.board)
        self._check_number(parts)
        canonical, _ = self._follow(parts)
        return ",".join(canonical)

    def _follow(self, parts: list[str]) -> tuple[list[str], int]:
        """Some actions in canonical form, and the mover's stones after them. Raises Illegal."""
        own = self.stones[self.turn]
        canonical: list[str] = []
        for number, part in enumerate(parts):
            sign, names = _read(part, self.board)
            self._check_kind(number, sign, names, part)
            cells = union(_cell(name, self.board) for name in names)
            for cell in bits(cells):
                self._check(own, sign, cell)
            own ^= cells
            canonical.append("".join(f"{sign}{name}" for name in self.board.names(cells)))
        return canonical, own

    def next_taps(self, text: str) -> NextTaps:
        """How a turn with these actions goes on: a tap adds a stone on an empty space, and removes an own one."""
        if self.must_skip:
            raise Illegal("No action is possible, so this turn is skipped.")
        parts = [part.strip() for part in text.split(",")] if text else []
        is_whole = len(parts) >= self.actions
        if is_whole:
            self._check_number(parts)
        canonical, own = self._follow(parts)
        taps: list[Tap] = []
        own_names = tuple(self.board.names(own))
        if not is_whole:
            before = f"{text}," if text else ""
            taps.append(Tap(f"{before}*", tuple(self.board.names(self._open & ~own)), is_quiet=True))
            taps.append(Tap(f"{before}-*", own_names, is_quiet=True))
        elif self.actions == 2 and self.removals:
            removed = canonical[2].count("-") if len(parts) == 3 else 0
            if removed < self.removals:
                longer = f"{text}-*" if removed else f"{text},-*"
                taps.append(Tap(longer, own_names, is_quiet=True))
        return NextTaps(
            is_whole,
            tuple(tap for tap in taps if tap.cells),
            hint=self._hint(canonical, can_remove=bool(taps)),
            marks=tuple(_marks_of_actions(canonical)),
            done=(min(len(parts), self.actions), self.actions),
        )

    def _hint(self, actions: list[str], *, can_remove: bool) -> str:
        """What comes next after some actions, or what the marks will be."""
        if len(actions) < self.actions:
            if self.actions == 1:
                return "Tap a space to add the first stone."
            number = ("Two actions", "One action more")[len(actions)]
            return f"{number}: tap an empty space to add a stone, or one of yours to remove it."
        pink, black = self.play(",".join(actions)).marks
        marks = f"The marks will be {pink} for Pink and {black} for Black."
        if not can_remove or self.actions == 1:
            return marks
        return f"{marks} You may remove up to {self.removals} of your stones: tap them."

    def _check_number(self, parts: list[str]) -> None:
        """Raise Illegal unless a turn can have so many actions."""
        if self.actions == 1:
            if len(parts) > 1:
                raise Illegal(f"The first turn of the game is one added stone; {quoted(parts[1])} is one too many.")
        elif len(parts) < 2:
            raise Illegal(f"A turn is two actions, such as +c3,-e2, and {quoted(parts[0])} is only one.")
        elif len(parts) > 2 and not self.removals:
            raise Illegal(f"A turn of this game is two actions; {quoted(parts[2])} would be a third one.")
        elif len(parts) > 3:
            raise Illegal(f"A turn is two actions and one of removals (-a1-a2); {quoted(parts[3])} would be a fourth.")

    def _check_kind(self, number: int, sign: str, names: list[str], part: str) -> None:
        """Raise Illegal unless action *number*, counted from 0, can have these spaces."""
        stones = len(names)
        are_different = len(set(names)) == stones
        if self.actions == 1 and sign == "-":
            raise Illegal(f"The first turn of the game is one added stone; {quoted(part)} removes {stones}.")
        if number < 2 and stones > 1:
            if not (self.removals and are_different):
                _check_joined(part, self.board)
            raise Illegal(f"{quoted(part)} removes {stones} stones at once, which only a third action may do.")
        if number == 2 and sign == "+":
            raise Illegal(f"A third action only removes stones, such as -a1 or -a1-a2; {quoted(part)} adds one.")
        if not are_different:
            twice = next(name for name in names if names.count(name) > 1)
            raise Illegal(f"{quoted(part)} names {twice} twice; the spaces of a third action are all different.")
        if number == 2 and stones > self.removals:
            raise Illegal(f"A third action of this game removes up to {self.removals}; {quoted(part)} has {stones}.")

    def _check(self, own: int, sign: str, cell: int) -> None:
        """Raise Illegal unless the mover, whose stones are *own* by then, can add or remove a stone on that space."""
        is_own = own & cell
        is_enemys = self.stones[1 - self.turn] & cell
        name = self.board.name[cell]
        if (own ^ self.stones[self.turn]) & cell:
            name += " by then"
        if sign == "+" and is_own:
            raise Illegal(f"A stone is added to an empty space, but a {SIDES[self.turn]} stone stands on {name}.")
        if sign == "+" and is_enemys:
            raise Illegal(f"A stone is added to an empty space, but a {SIDES[1 - self.turn]} stone stands on {name}.")
        if sign == "-" and is_enemys:
            enemys = f"a {SIDES[1 - self.turn]} stone"
            raise Illegal(f"A player removes stones of their own, but {enemys} stands on {name}.")
        if sign == "-" and not is_own:
            raise Illegal(f"A player removes stones of their own, but no stone stands on {name}.")

    def moves(self) -> Iterator[str]:
        """All turns. Two orders of actions are two turns; the spaces of a third action are in board order."""
        if self.must_skip:
            yield SKIP
        elif not self.result():
            own, board = self.stones[self.turn], self.board
            for first in bits(self._open):
                text = f"{_sign(own, first)}{board.name[first]}"
                if self.actions == 1:
                    yield text
                    continue
                for second in bits(self._open):
                    both = f"{text},{_sign(own ^ first, second)}{board.name[second]}"
                    yield both
                    left = board.names(own ^ first ^ second) if self.removals else []
                    for number in range(1, min(self.removals, len(left)) + 1):
                        yield from (f"{both},-{'-'.join(names)}" for names in combinations(left, number))

    def random(self, rng: "Random") -> str:
        """A legal turn; three of four actions add a stone where there is a choice, so that games come to an end."""
        if self.must_skip:
            return SKIP
        own = self.stones[self.turn]
        actions = []
        for _ in range(self.actions):
            empty = self._open & ~own
            removes = not empty or (own and rng.random() < 0.25)
            among = own if removes else empty
            name = rng.choice(self.board.names(among))
            cell = self.board.bit[name]
            actions.append(f"{_sign(own, cell)}{name}")
            own ^= cell
        most = min(self.removals, own.bit_count()) if self.actions == 2 else 0
        if most and rng.random() < 0.25:
            number = 1
            while number < most and rng.random() < 0.5:
                number += 1
            left = self.board.names(own)
            chosen = set(rng.sample(left, number))
            actions.append("".join(f"-{name}" for name in left if name in chosen))
        return ",".join(actions)

    def play(self, move: str) -> Self:
        """The position after a turn, with the marks moved after each of its actions."""
        if move == SKIP:
            return self._replace(turn=1 - self.turn, turns=self.turns + 1)
        board, mover = self.board, self.turn
        stones, marks, parts = self.stones, self.marks, self.parts
        for action in move.split(","):
            acted = sum(board.bit[name] for name in action[1:].split("-"))
            own = stones[mover] ^ acted
            stones = (stones[0], own) if mover else (own, stones[1])
            before = parts
            parts = _parted_after(board, before, stones, mover, acted)
            marks = _moved(board, marks, mover, before, parts)
        return self._replace(
            stones=stones,
            parts=parts,
            marks=marks,
            turn=1 - mover,
            turns=self.turns + 1,
            past=(*self.past, stones),
        )

    @property
    def must_skip(self) -> bool:
        """Whether the enemy's stones fill the board."""
        return not self._open and not self.result()

    def result(self) -> Result | None:
        """The leader wins when the other side cannot overtake any more, or when stones stand so for the third time."""
        leader = self.leader
        if self.times >= 3 or (leader is not None and self.free_of(leader) < self.needed(leader)):
            return Result(leader)
        return None

    @property
    def times(self) -> int:
        """How often the stones have stood like this after a turn."""
        return self.past.count(self.stones)

    def free_of(self, side: int) -> int:
        """How many spaces have no stone of that side."""
        return (self.board.all & ~self.stones[side]).bit_count()

    def needed(self, leader: int) -> int:
        """How many spaces the other side needs to overtake: for a group one larger than the mark, and its region."""
        return 2 * (self.marks[leader] + 1)

    @property
    def cells(self) -> dict[str, str]:
        """The stones."""
        return self.board.lettered(self.stones, ("P", "B"))

    @property
    def scores(self) -> Pair:
        """The marks."""
        return self.marks

    def view(self) -> dict[str, Any]:
        """What every view has, and the marks."""
        return {**super().view(), "marks": dict(zip(SIDES, self.marks, strict=True))}

    @property
    def _open(self) -> int:
        """The spaces on which the mover can act: the empty ones and their own. They are the same for each action."""
        return self.board.all & ~self.stones[1 - self.turn]


def _moved(board: Hexagon, marks: Pair, mover: int, before: Partition, after: Partition) -> Pair:
    """The marks after an action: first the mover's is moved, then the other one, to groups that the action created."""
    # what an action creates is a new group, or has the size of a new region
    groups = set(map(int.bit_count, after[mover] - before[mover]))
    regions = set(map(int.bit_count, after[2] - before[2]))
    has_created = partial(_has_created, board, before, after)
    highest = _highest(board)
    moved = list(marks)
    for side, sizes in (mover, groups | regions), (1 - mover, regions):
        for size in sizes:
            is_free = moved[side] < size <= highest and size != moved[1 - side]
            # if it created groups of that size for both sides, only the mover's mark goes there
            if is_free and has_created(side, size) and (side == mover or not has_created(mover, size)):
                moved[side] = size
    return moved[0], moved[1]


def _highest(board: Hexagon) -> int:
    """The highest possible mark: a larger group leaves no region of its size."""
    return board.all.bit_count() // 2


def _has_created(board: Hexagon, before: Partition, after: Partition, side: int, size: int) -> bool:
    """Whether some group of a side has that size and is matched, and was not before an action."""
    groups = _matched(board, after, side, size)
    return bool(groups and groups - _matched(board, before, side, size))


def new(*, size: int = 6, removals: int = 0) -> State:
    """The empty board, and Pink to add one stone."""
    board = Hexagon(size)
    return State(board, parted(board, (0, 0)), removals)


def setup(view: Mapping[str, Any], **options: Any) -> State:
    """The position with the view's cells, turn, marks and number of turns, and without a past. Raises Illegal."""
    start = new(**options)
    stones = start.board.stones(view, ("P", "B"))
    marks = view.get("marks", {})
    if not isinstance(marks, Mapping) or not set(marks) <= set(SIDES):
        raise Illegal('"marks" gives the marks of the two sides, such as {"pink": 3, "black": 2}.')
    pink, black = (marks.get(side, 0) for side in SIDES)
    highest = _highest(start.board)
    if not all(type(mark) is int and 0 <= mark <= highest for mark in (pink, black)):
        raise Illegal(f"A mark is a number from 0 to {highest}: a larger group leaves no region of its size.")
    if pink == black != 0:
        raise Illegal(f"Both marks cannot cover the {pink}.")
    turn, turns = read_turn(view, SIDES), view.get("moves", 2)
    if type(turns) is not int or not 0 <= turns < 10**9:
        raise Illegal('"moves" is the number of turns that were played, up to nine digits.')
    parts = parted(start.board, stones)
    return start._replace(stones=stones, parts=parts, marks=(pink, black), turn=turn, turns=turns)


# Notation


_ACTION = re.compile(r"[+-]?[a-zA-Z][0-9]+|(?:-[a-zA-Z][0-9]+)+")
_SPACE = re.compile("[+-]?[a-zA-Z][0-9]+")
_BETWEEN = re.compile("[ \t;/+-]*")
"""What people write between actions instead of a comma."""


def _check_joined(text: str, board: Hexagon) -> None:
    """Raise Illegal if that is several actions without commas between them."""
    names = _SPACE.findall(text)
    if len(names) > 1 and len(text) <= 40 and text.isascii() and _BETWEEN.fullmatch(_SPACE.sub("", text)):
        for name in names:
            _cell(name.lstrip("+-").lower(), board)
        raise Illegal(f"{quoted(text)} is more than one action, and commas join them: write {','.join(names)}.")


def _read(part: str, board: Hexagon) -> tuple[str, list[str]]:
    """The sign and the spaces of an action that a player wrote."""
    if not _ACTION.fullmatch(part):
        _check_joined(part, board)
        raise Illegal(
            f"Cannot read {quoted(part)}; an action is a space with a sign, +c3 to add a stone or -e2 to remove one."
        )
    return "-" if part.startswith("-") else "+", re.findall("[a-z][0-9]+", part.lower())


def _cell(name: str, board: Hexagon) -> int:
    if name in board.bit:
        return board.bit[name]
    without_zeros = name[0] + name[1:].lstrip("0")
    if without_zeros in board.bit:
        raise Illegal(f"{quoted(name)} is written with a zero too many: {without_zeros}.")
    spaces = list(board.bit)
    row = [space for space in spaces if space[0] == name[:1]]
    if not row:
        raise Illegal(f"There is no space {quoted(name)} on this board; its rows are a to {spaces[-1][0]}.")
    where = f"row {name[0]} goes from {row[0]} to {row[-1]}"
    raise Illegal(f"There is no space {quoted(name)} on this board; {where}.")


def _marks_of_actions(actions: list[str]) -> Iterator[TurnMark]:
    """What actions in canonical form do, with their numbers."""
    for number, action in enumerate(actions, 1):
        cells = tuple(action[1:].split("-"))
        role = "piece" if action.startswith("+") else "gone"
        yield TurnMark(role, cells, str(number))


def _sign(own: int, cell: int) -> str:
    """The sign of an action of the side with these stones at one of its open spaces."""
    return "-" if own & cell else "+"


# Drawing


def effects(before: State, after: State) -> Effects:
    """How far the marks go up, how many own groups are matched, and how many stones the mover has."""
    side = before.turn
    foe = 1 - side
    return [
        ("raises the own mark by", "step", after.marks[side] - before.marks[side]),
        ("raises the other mark by", "step", after.marks[foe] - before.marks[foe]),
        ("has", "matched group", len(matched(after.board, after.parts)[side])),
        ("has", "stone", after.stones[side].bit_count()),
    ]


def draw(state: State, before: State | None = None) -> BoardText:
    """The board with its coordinates, and under it the track of the marks, the matched groups and whose turn it is.

    Stones that were not there *before* are drawn as O and @.
    """
    board = state.board
    picture, places = honeycomb_in_text(board, state.stones)
    matches = _matches(state)
    for cell in bits(_matched_cells(matches)):
        line, column = places[cell]
        picture.put(line, column - 1, "(")
        picture.put(line, column + 1, ")")
    has_new = False
    for own, was, (standing, new) in zip(state.stones, (before or state).stones, (("o", "O"), ("#", "@")), strict=True):
        if own & ~was:
            has_new = True
        for cell in bits(own):
            glyph = standing if was & cell else new
            picture.put(*places[cell], glyph)
    signs = f"   o Pink {state.marks[0]}    # Black {state.marks[1]}    . empty    ( ) matched now"
    if has_new:
        signs += "    O @ last turn"
    legend = [""]
    legend += _track(state.marks)
    legend += ["", signs]
    legend += textwrap.wrap(_told_matches(board, matches), 78, initial_indent=" " * 3, subsequent_indent=" " * 6)
    legend += [f"   {line}" for line in (_standing(state), _task(state)) if line]
    return BoardText(str(picture), legend)


Matches = Sequence[tuple[Mapping[int, int], Sequence[int]]]
"""For each shape, the largest first: the matched groups of that shape with their sides, and the regions of it."""


def _matches(state: State) -> Matches:
    """The matched groups, without those that no mark can reach any more."""
    board = state.board
    parts = state.parts
    both = matched(board, parts)
    sides = {group: side for side, own in enumerate(both) for group in own if group.bit_count() >= min(state.marks)}
    matches: dict[int, tuple[dict[int, int], list[int]]] = {}
    for group in sorted(sides, key=lambda group: (-group.bit_count(), group & -group)):
        groups, _ = matches.setdefault(shape(board, group), ({}, []))
        groups[group] = sides[group]
    for region in sorted(parts[2], key=lambda region: region & -region):
        of_shape = shape(board, region)
        if of_shape in matches:
            _, regions = matches[of_shape]
            regions.append(region)
    return list(matches.values())


def _matched_cells(matches: Matches) -> int:
    """All the spaces of these groups and regions."""
    return union(union(groups) | union(regions) for groups, regions in matches)


def _told_matches(board: Hexagon, matches: Matches) -> str:
    """These shapes in a sentence; empty if there are none."""
    if not matches:
        return ""
    shapes = []
    for groups, regions in matches:
        size = regions[0].bit_count()
        named_groups = ", ".join(f"{SIDES[side].title()} {board.first(group)}" for group, side in groups.items())
        named_regions = ", ".join(map(board.first, regions))
        shapes.append(f"{size}: {named_groups} like {named_regions}")
    return f"Matched {'; '.join(shapes)}."


def _part_of_track(marks: Pair) -> range:
    """The numbers of the scoring track that matter."""
    last = max(16, *(mark + 3 for mark in marks))
    return range(last - 16, last + 1)


def _track(both: Pair) -> list[str]:
    """The part of the scoring track that matters, and the marks below their numbers."""
    pink, black = both
    shown = _part_of_track(both)
    numbers = ""
    marks = ""
    for number in shown:
        numbers += f"{number:4}"
        here = ""
        if pink == number:
            here += "o"
        if black == number:
            here += "#"
        marks += f"{here:>4}"
    if min(pink, black) < shown[0]:
        lower = "o" if pink < black else "#"
        marks = f" <{lower} {marks[4:]}"
    return [f"   Track{numbers}", f"   Marks{marks}".rstrip()]


def _standing(state: State) -> str:
    """Who leads, and how near the end is; or how the game ended."""
    result = state.result()
    if result and result.winner is None:
        return "The game is drawn."
    if result and result.winner is not None:
        return f"{SIDES[result.winner].title()} has won."
    leader = state.leader
    if leader is None:
        return "Nobody leads yet."
    side = SIDES[leader]
    needed = state.needed(leader)
    free = state.free_of(leader)
    return f"{side.title()} leads. The end: fewer than {needed} spaces free of {side} (now {free})."


def _task(state: State) -> str:
    """Who is to move, and how many actions they have; empty when the game is over."""
    if state.result():
        return ""
    if state.actions == 1:
        actions = "one stone"
    elif state.removals == 0:
        actions = "two actions"
    elif state.removals == 1:
        actions = "two actions, then up to 1 removal"
    else:
        actions = f"two actions, then up to {state.removals} removals"
    return f"Turn {state.turns + 1}: {SIDES[state.turn].title()} to move ({actions})."


def figure(state: State, before: State | None = None) -> Figure:
    """The spaces with their stones, lines between touching ones, what is matched, and the track below the board."""
    template = honeycomb(state.board)
    matches = _matches(state)
    boxes, numbers, tokens = _drawn_track(state.board, state.marks)
    marks = [Mark(template.at[bit], "matched", 0.13) for bit in bits(_matched_cells(matches))]
    marks += tokens
    notes = [
        Note(f"{name.title()}: {mark}", side, score=str(mark))
        for side, (name, mark) in enumerate(zip(SIDES, state.marks, strict=True))
    ]
    notes += [Note(_told_matches(state.board, matches)), Note(_standing(state)), Note(_task(state), is_task=True)]
    return template.figure(
        state,
        before,
        (note for note in notes if note.text),
        size=0.36,
        lines=(boxes,),
        marks=marks,
        labels=tuple(numbers),
    )


def _drawn_track(board: Hexagon, marks: Pair) -> tuple[Strokes, list[Label], list[Mark]]:
    """The part of the scoring track that matters, below the board: its boxes, its numbers, and the marks on it.

    A mark on a lower number stands before the first box.
    """
    shown = _part_of_track(marks)
    step = 0.62  # from the middle of a box to that of the next one
    left = board.size - 1 - step * len(shown) / 2
    right = left + step * len(shown)
    y = -2.2
    boxes: list[Way] = [((left, y + up), (right, y + up)) for up in (-0.31, 0.31)]
    for number in range(len(shown) + 1):
        x = left + number * step
        boxes.append(((x, y - 0.31), (x, y + 0.31)))
    numbers = [Label((left + (n + 0.5) * step, y), str(number), "track", 0.34) for n, number in enumerate(shown)]
    tokens = []
    for side, mark in enumerate(marks):
        x = left + (max(mark - shown[0], -1) + 0.5) * step
        tokens.append(Mark((x + (-0.12, 0.12)[side], y + 0.52), "token", 0.15, side))
    return Strokes("track", tuple(boxes)), numbers, tokens
