"""Spora: stacks of one to four pieces, which are dropped, sown, and captured when they are cut off.

A turn drops 1 to 4 pieces from the reserve on an empty point or an own stack. It may then sow another own stack, or
part of it: one piece on each point of a path. A hand of at least twice its height captures an enemy stack in its way. A
group is alive while a path of empty points leads from it to another group of its colour. The only group of a colour is
alive, too, unless the colour had several at the end of an earlier turn, or has lost one by enclosure in this turn. Dead
groups are captured at once, after the drop and after every sown piece: first the enemy's, then the mover's own. Only
the group of the stack just dropped is spared; it has to be alive when the turn ends.

When a reserve is empty, the other player has a last turn of single pieces. Stacks and the empty regions that only one
colour touches count a point each; White adds the komi and a half. A player without stacks ends the game as well.

The rules in full, with the notation, are in help/spora.txt.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from games import (
    SKIP,
    Effects,
    Glyphs,
    Illegal,
    Option,
    Position,
    Result,
    higher,
    quoted,
    read_cells,
    read_turn,
)
from games.boards import Square, bits, union
from games.figures import BoardText, Figure, Label, Mark, Note, Piece, grid, pile
from games.lessons import Lesson, Lessons
from games.tapping import NextTaps, Stepper, Tap, TurnMark

if TYPE_CHECKING:
    from random import Random

SIDES: tuple[str, str] = ("black", "white")
_STACK = r"[1-4](?!\d|,|\.$|\.\n)"  # not the name of a captured point, such as b3, in "captured: b3, e1."
GLYPHS = Glyphs(sides=(f"[Bb]{_STACK}", f"[Ww]{_STACK}"), latest=f"[bw]{_STACK}|(?<![a-z]):")
TALLEST = 4
"""How many pieces a stack can have. Further pieces are removed from play."""
KOMI = range(-99_999, 100_000)
"""What can be given or named as komi."""
NOTATION = "e1:3 drops three pieces, e1,d2@nnen drops one and sows from d2"
LESSONS = Lessons(
    rules=(
        Lesson(
            rule="Drop one to four pieces on an empty point or on a stack of yours.",
            options="-size=5",
            position={"cells": {"b2": "B1", "d4": "B1", "b4": "W1", "d2": "W1"}},
            turn="c3:3",
        ),
        Lesson(
            rule=(
                "Then you may sow another stack, one piece on each point of a path; it captures stacks of "
                "at most half the hand."
            ),
            options="-size=5",
            position={"cells": {"b2": "B4", "d4": "B1", "d2": "W1", "b5": "W1", "e3": "W1"}},
            turn="a4,b2@eenw",
        ),
        Lesson(
            rule=(
                "A group cut off from all others of its colour is captured; in the end your stacks and the "
                "points you enclose count."
            ),
            options="-size=5",
            position={"cells": {"a2": "B1", "d3": "B1", "a1": "W1", "c4": "W1", "d5": "W1"}},
            turn="b1:2",
        ),
    ),
    tapping=(
        "Tap a point once for each piece to drop; then another stack of yours and, one by one, the points of its path."
    ),
)
OPTIONS: Sequence[Option] = (
    Option("size", "how many rows and columns the board has: 5 to 25, usually 13", range(5, 26), 13),
    Option("pie", "the first player names the komi, the second one chooses a side"),
    Option(
        "komi",
        "a whole number X, usually 3: White gets X + 0.5 points",
        KOMI,
        lambda options: None if options["pie"] else 3,
        excludes=("pie",),
    ),
)

Stacks = tuple[int, int, int, int]
"""The stacks of one colour: the points that have at least 1, 2, 3 and 4 of its pieces."""
NO_STACKS: Stacks = (0, 0, 0, 0)


def _height(stacks: Stacks, point: int) -> int:
    return sum(bool(level & point) for level in stacks)


def raised(stacks: Stacks, point: int, count: int) -> Stacks:
    """The stacks with up to *count* more pieces on a point; what the stack there cannot take is lost."""
    for _ in range(count):
        level1, level2, level3, level4 = stacks
        stacks = level1 | point, level2 | level1 & point, level3 | level2 & point, level4 | level3 & point
    return stacks


def lowered(stacks: Stacks, point: int, count: int) -> Stacks:
    """The stacks with *count* pieces fewer on a point, which has at least that many."""
    return raised(without(stacks, point), point, _height(stacks, point) - count)


def without(stacks: Stacks, captured: int) -> Stacks:
    """The stacks without those on the *captured* points."""
    level1, level2, level3, level4 = stacks
    return level1 & ~captured, level2 & ~captured, level3 & ~captured, level4 & ~captured


def _step(board: Square, point: int, direction: str) -> int:
    """The next point in a direction; 0 if that is off the board."""
    if direction == "n":
        return point << board.width & board.all
    if direction == "e":
        return point << 1 & board.all
    if direction == "s":
        return point >> board.width & board.all
    return point >> 1 & board.all


_BACK = {"n": "s", "e": "w", "s": "n", "w": "e"}
_WORDS = {"n": "north", "e": "east", "s": "south", "w": "west"}


def _are_several(board: Square, stones: int) -> bool:
    """Whether these stacks are more than one group."""
    return stones != board.group(stones & -stones, stones)


def _dead(board: Square, own: int, enemy: int, there: int) -> int:
    """The dead groups of *own* stacks: each is alone in its part of the board, which *enemy* stacks cut off.

    Then no path of empty points leads from it to another group, because a path that avoids the enemy's stacks has only
    empty points up to the first own stack on it. Only parts that have a point *there* are looked at.
    """
    dead = 0
    for part in board.groups(board.all & ~enemy, there):
        stacks = part & own
        if not _are_several(board, stacks):
            dead |= stacks
    return dead


class Turn(NamedTuple):
    """A turn that is being played, piece by piece."""

    board: Square
    side: int
    own: Stacks
    enemy: Stacks
    own_several: bool
    """Whether the mover had several groups at the end of an earlier turn, or has lost one by enclosure in this turn.

    Then their only group would be dead.
    """
    enemy_several: bool
    dropped: int = 0
    """The point of the last drop."""
    pieces: int = 0
    """How many pieces were dropped there."""
    is_dead: bool = False
    """Whether the group of the dropped stack is dead now, so that the turn cannot end here."""
    lost: int = 0
    """The points on which stacks of the mover were captured in this turn."""

    @property
    def places(self) -> int:
        """The points for a drop: the empty ones and those of own stacks."""
        return self.board.all & ~self.enemy[0]

    @property
    def living_places(self) -> int:
        """The points for a drop after which the turn can end."""
        living = 0
        for part in self.board.groups(self.board.all & ~self.enemy[0]):
            # a stack that does not touch some own group in its part of the board is alive by the path to that group
            doubtful = part
            for group in self.board.groups(part & self.own[0]):
                doubtful &= self.board.near(group) & ~self.own[0]
            living |= part & ~doubtful
            living |= union(point for point in bits(doubtful) if not self.drop(point, 1).is_dead)
        return living

    def drop(self, point: int, count: int) -> "Turn":
        """Drop pieces on an empty point or an own stack."""
        return self.placed(point, raised(self.own, point, count), self.enemy, point, count)

    def lift(self, point: int, count: int) -> "Turn":
        """Take pieces of an own stack in hand."""
        return self._replace(own=lowered(self.own, point, count))

    def land(self, point: int) -> "Turn":
        """Put a piece of the hand on a point, where it captures an enemy stack."""
        enemy = without(self.enemy, point) if self.enemy[0] & point else self.enemy
        return self.placed(point, raised(self.own, point, 1), enemy, self.dropped, self.pieces)

    def dropped_or_sown(self, item: str) -> "Turn":
        """The turn after a legal drop or sowing."""
        name, _, path = item.partition("@")
        if not path:
            name, _, count = item.partition(":")
            return self.drop(self.board.bit[name], int(count or 1))
        point = self.board.bit[name]
        turn = self.lift(point, len(path))
        for direction in path:
            point = _step(self.board, point, direction)
            turn = turn.land(point)
        return turn

    def placed(self, point: int, own: Stacks, enemy: Stacks, dropped: int, pieces: int) -> "Turn":
        """The turn after a piece was put on a point, with these stacks: dead groups are captured, the enemy's first.

        Of the enemy's groups, only those near the *point* can have died.
        """
        board, own_several, enemy_several = self.board, self.own_several, self.enemy_several
        if enemy_several or _are_several(board, enemy[0]):
            captured = _dead(board, enemy[0], own[0], board.near(point))
            enemy = without(enemy, captured)
            enemy_several = enemy_several or bool(captured)
        is_dead = False
        lost = 0
        if own_several or _are_several(board, own[0]):
            dead = _dead(board, own[0], enemy[0], own[0])
            is_dead = bool(dead & dropped)
            lost = dead & ~board.group(dropped, own[0])
            own = without(own, lost)
            own_several = own_several or bool(lost)
        lost |= self.lost
        return Turn(board, self.side, own, enemy, own_several, enemy_several, dropped, pieces, is_dead, lost)

    def why_dead(self) -> str:
        """Why the group of the dropped stack is dead, if it is."""
        colour = SIDES[self.side]
        if _are_several(self.board, self.own[0]):
            return f"no path of empty points leads from its group to another {colour} group"
        return f"its group would be the only {colour} one, after there were several"

    def step_objection(self, point: int, direction: str, last: str, hand: int) -> str:
        """Why a *hand* of that many pieces cannot go on from a point; empty if it can. *last* is its last direction."""
        name = self.board.name[point]
        if direction == _BACK.get(last):
            return f"it would turn straight back at {name}"
        there = _step(self.board, point, direction)
        if not there:
            return f"it would leave the board {_WORDS[direction]} of {name}"
        if not there & self.enemy[0]:
            return ""
        height = _height(self.enemy, there)
        if hand >= 2 * height:
            return ""
        stack = f"the {SIDES[1 - self.side]} stack of {height} on {self.board.name[there]}"
        if 2 * height > TALLEST:
            return f"no hand captures {stack}"
        return f"only a hand of {2 * height} or more captures {stack}, and the hand that comes there has {hand}"

    def sowings(self) -> Iterator[str]:
        """All sowings after which the turn can end."""
        for point in bits(self.own[0] & ~self.dropped):
            for hand in range(1, _height(self.own, point) + 1):
                for path in self.lift(point, hand).paths(point, hand):
                    yield f"{self.board.name[point]}@{path}"

    def paths(self, point: int, hand: int, last: str = "", rng: "Random | None" = None) -> Iterator[str]:
        """All ways to sow a hand from a point, after which the turn can end; in a random order if there is an *rng*."""
        if not hand:
            if not self.is_dead:
                yield ""
            return
        directions = list("nesw")
        if rng:
            directions = rng.sample(directions, 4)
        for direction in directions:
            if not self.step_objection(point, direction, last, hand):
                there = _step(self.board, point, direction)
                for path in self.land(there).paths(there, hand - 1, direction, rng):
                    yield direction + path


def new_turn(board: Square, side: int, own: Stacks, enemy: Stacks) -> Turn:
    """A turn in which nothing has been done.

    All groups are alive when a turn ends, so a colour that had several at the end of an earlier turn has several now.
    """
    return Turn(
        board,
        side,
        own,
        enemy,
        own_several=_are_several(board, own[0]),
        enemy_several=_are_several(board, enemy[0]),
    )


class Captures(NamedTuple):
    """What one turn has captured."""

    enemy: int
    """The points on which stacks of the other side were captured."""
    own: int
    """The points on which stacks of the mover were captured, because their group was dead."""


class _Fields(NamedTuple):
    board: Square
    reserve: tuple[int, int]
    komi: int | None = None
    """X, where White gets X + 0.5; None before it is named."""
    pie: bool = False
    """Whether the komi still has to be named, or a side has to be chosen."""
    stacks: tuple[Stacks, Stacks] = (NO_STACKS, NO_STACKS)
    has_dropped: tuple[bool, bool] = (False, False)
    turn: int = 0
    seats: tuple[int, int] = (0, 1)
    captures: tuple[Captures, ...] = ()
    """The captures of each turn with a drop, but not of turns before a position that was set up."""


class State(_Fields, Position):
    """A position. No turn is skipped: a piece can be dropped on an own stack, or in a first turn on any empty point."""

    __slots__ = ()
    sides = SIDES

    @property
    def is_over(self) -> bool:
        """Whether the last turn has been played, or a side has lost all of its stacks."""
        lost = any(dropped and not stacks[0] for dropped, stacks in zip(self.has_dropped, self.stacks, strict=True))
        return lost or not self.reserve[self.turn]

    @property
    def is_last_turn(self) -> bool:
        """Whether the other side's reserve is empty, so that single pieces are dropped."""
        return not self.reserve[1 - self.turn]

    @property
    def territory(self) -> tuple[int, int]:
        """Each side's territory: the empty regions that touch stacks of no other side."""
        black = self.stacks[0][0]
        white = self.stacks[1][0]
        of_black = 0
        of_white = 0
        for region in self.board.groups(self.board.all & ~black & ~white):
            border = self.board.near(region)
            if border & black and not border & white:
                of_black |= region
            elif border & white and not border & black:
                of_white |= region
        return of_black, of_white

    @property
    def scores(self) -> tuple[float, float]:
        """Stacks and points of territory, and for White the komi, once it is named."""
        of_black, of_white = self.territory
        black = self.stacks[0][0].bit_count() + of_black.bit_count()
        white = self.stacks[1][0].bit_count() + of_white.bit_count()
        if self.komi is None:
            return black, white
        return black, white + self.komi + 0.5

    def begin(self) -> Turn:
        """A turn in which nothing has been done."""
        return new_turn(self.board, self.turn, self.stacks[self.turn], self.stacks[1 - self.turn])

    def read(self, text: str) -> str:
        """The turn that a player wrote, in canonical form. Raises Illegal."""
        text = text.lower() if text.isascii() else text
        if text == SKIP:
            raise Illegal("A turn is never skipped; one piece dropped on a stack of four changes nothing on the board.")
        return _read_pie(self, text) if self.pie else _read_turn(self, text)

    def next_taps(self, text: str) -> NextTaps:
        """How a turn goes on: taps drop pieces, lift another own stack, and choose the points of its path.

        A sowing that was begun is written with a dot for each piece in hand, such as ``e1,d2@n...``.
        """
        text = text.lower() if text.isascii() else text
        if self.pie:
            return _taps_of_pie(self, text)
        if self.is_last_turn:
            return _taps_of_last_turn(self, text)
        if not text:
            hint = "Tap an empty point or a stack of yours to drop a piece there."
            places = tuple(self.board.names(self.begin().living_places))
            return NextTaps(is_whole=False, taps=(Tap("*", places, is_quiet=True),), hint=hint)
        sowing = _read_sowing(self, text)
        if sowing:
            return _taps_of_sowing(self, sowing)
        return _taps_of_drop(self, text)

    def moves(self) -> Iterator[str]:
        """All legal turns; of the last turns the shorter ones first."""
        if self.is_over:
            return
        if self.pie and self.komi is None:
            yield from (f"komi={x}" for n in range(KOMI.stop) for x in {n, -n})
        elif self.pie:
            yield from SIDES
        elif self.is_last_turn:
            yield from self._last_turns()
        else:
            yield from self._drops_and_sowings()

    def random(self, rng: "Random") -> str:
        """A legal turn: any drop, and with a probability of one half any sowing after it."""
        if self.pie:
            return rng.choice(SIDES) if self.komi is not None else f"komi={rng.randint(-9, 9)}"
        if self.is_last_turn:
            return self._random_last_turn(rng)
        start = self.begin()
        places = list(bits(start.places))
        most = min(TALLEST, self.reserve[self.turn])
        for _ in range(20):
            point = rng.choice(places)
            count = rng.randint(1, most)
            turn = start.drop(point, count)
            drop = _drop_text(self.board.name[point], count)
            stacks = turn.own[0] & ~point
            if stacks and self.has_dropped[self.turn] and rng.random() < 0.5:
                source = rng.choice(list(bits(stacks)))
                hand = rng.randint(1, _height(turn.own, source))
                for path in turn.lift(source, hand).paths(source, hand, rng=rng):
                    return f"{drop},{self.board.name[source]}@{path}"
            elif not turn.is_dead:
                return drop
        return self.board.name[rng.choice(list(bits(start.own[0])))]

    def play(self, move: str) -> "State":
        """The position after a turn."""
        if self.pie and self.komi is None:
            return self._replace(komi=int(move.removeprefix("komi=")), turn=1)
        if self.pie:
            return self._replace(pie=False, turn=0, seats=(1, 0) if move == SIDES[0] else (0, 1))
        turn = self.begin()
        for item in move.split(","):
            turn = turn.dropped_or_sown(item)
        left = 0 if self.is_last_turn else self.reserve[self.turn] - turn.pieces
        enemy = self.stacks[1 - self.turn][0]
        captured = Captures(enemy & ~turn.enemy[0], turn.lost)
        captures = (*self.captures, captured)
        if self.turn == 0:
            return self._replace(
                reserve=(left, self.reserve[1]),
                stacks=(turn.own, turn.enemy),
                has_dropped=(True, self.has_dropped[1]),
                turn=1,
                captures=captures,
            )
        return self._replace(
            reserve=(self.reserve[0], left),
            stacks=(turn.enemy, turn.own),
            has_dropped=(self.has_dropped[0], True),
            turn=0,
            captures=captures,
        )

    def result(self) -> Result | None:
        """The higher score wins."""
        return Result(higher(*self.scores)) if self.is_over else None

    @property
    def cells(self) -> dict[str, str]:
        """The stacks by colour and height."""
        return {
            self.board.name[point]: f"{colour}{_height(stacks, point)}"
            for colour, stacks in zip("BW", self.stacks, strict=True)
            for point in bits(stacks[0])
        }

    def view(self) -> dict[str, Any]:
        """What every view has, the reserves and the komi."""
        return {**super().view(), "reserve": dict(zip(SIDES, self.reserve, strict=True)), "komi": self.komi}

    def _drops_and_sowings(self) -> Iterator[str]:
        start = self.begin()
        most = min(TALLEST, self.reserve[self.turn])
        for point in bits(start.places):
            # the height of the dropped stack does not matter, because it is not sown
            turn = start.drop(point, 1)
            drops = [_drop_text(self.board.name[point], count) for count in range(1, most + 1)]
            if not turn.is_dead:
                yield from drops
            if self.has_dropped[self.turn]:
                for sowing in turn.sowings():
                    yield from (f"{drop},{sowing}" for drop in drops)

    def _last_turns(self) -> Iterator[str]:
        shorter = deque([("", self.begin(), self.reserve[self.turn])])
        while shorter:
            text, turn, left = shorter.popleft()
            for point in bits(turn.places):
                longer = turn.drop(point, 1)
                if not longer.is_dead:
                    drops = f"{text},{self.board.name[point]}" if text else self.board.name[point]
                    yield drops
                    if left > 1:
                        shorter.append((drops, longer, left - 1))

    def _random_last_turn(self, rng: "Random") -> str:
        turn = self.begin()
        names = []
        for _ in range(rng.randint(1, self.reserve[self.turn])):
            point = rng.choice(list(bits(turn.places)))
            if turn.drop(point, 1).is_dead:
                point = rng.choice(list(bits(turn.own[0])))
            turn = turn.drop(point, 1)
            names.append(self.board.name[point])
        return ",".join(names)


def new(*, size: int = 13, pie: bool = False, komi: int | None = 3) -> State:
    """The empty board with 7/12 of a piece a point in each reserve; with *pie*, the komi has to be named."""
    full = (7 * size * size + 11) // 12
    return State(Square(size), (full, full), None if pie else komi, pie)


def setup(view: Mapping[str, Any], **options: Any) -> State:
    """The position with the view's cells, turn, reserve and komi. Raises Illegal.

    Its ``moves`` tell who has dropped before.
    """
    start = new(**options)
    stacks = _read_cells(read_cells(view), start.board)
    turn = read_turn(view, SIDES)
    moves = view.get("moves", 2)
    if type(moves) is not int or moves < 0:
        raise Illegal('"moves" is a number of moves, 0 or more.')
    komi = view.get("komi")
    if komi is None:
        komi = start.komi
    elif type(komi) is not int or komi not in KOMI:
        raise Illegal('"komi" is a whole number X, for which White gets X + 0.5 points.')
    pie = start.pie and moves < 2 and stacks == start.stacks
    if pie and turn != (komi is not None):
        raise Illegal(f"Black names the komi and White chooses a side, so it is not the turn of {SIDES[turn]}.")
    drops = moves - 2 if start.pie else moves
    has_dropped = (stacks[0] != NO_STACKS or drops > 0, stacks[1] != NO_STACKS or drops > 1)
    reserve = _read_reserve(view.get("reserve"), start.reserve[0], stacks)
    return State(start.board, reserve, komi, pie, stacks, has_dropped, turn)


def _read_cells(cells: Mapping[str, Any], board: Square) -> tuple[Stacks, Stacks]:
    stacks_of = {"B": NO_STACKS, "W": NO_STACKS}
    for name, stack in cells.items():
        point = _read_point(name, board)
        if not isinstance(stack, str) or not re.fullmatch("[BW][1-4]", stack):
            raise Illegal(f"What stands on {name} cannot be read; a stack is B1 to B4 or W1 to W4.")
        colour = stack[0]
        stacks_of[colour] = raised(stacks_of[colour], point, int(stack[1]))
    black = stacks_of["B"]
    white = stacks_of["W"]
    for side, own, enemy in ("black", black[0], white[0]), ("white", white[0], black[0]):
        dead = _dead(board, own, enemy, own) if _are_several(board, own) else 0
        if dead:
            raise Illegal(
                f"The group of {board.first(dead)} is dead: no path of empty points leads to another {side} group."
            )
    return black, white


def _read_reserve(reserve: Any, full: int, stacks: Sequence[Stacks]) -> tuple[int, int]:
    if reserve is not None and not isinstance(reserve, Mapping):
        raise Illegal(f'"reserve" is an object with two numbers, such as {{"black": {full}, "white": {full}}}.')
    left = []
    for side, levels in zip(SIDES, stacks, strict=True):
        pieces = sum(map(int.bit_count, levels))
        number = (reserve or {}).get(side, full - pieces)
        if type(number) is not int or not 0 <= number <= full:
            raise Illegal(f"The reserve of {side} cannot be that: it starts with {full}, less those on the board.")
        left.append(number)
    return left[0], left[1]


# Notation


_ITEM = re.compile(r"([a-z][0-9]{1,3})(?::([0-9]{1,3})|@([a-z]*))?")


def _read_turn(state: State, text: str) -> str:
    """A turn in canonical form. Raises Illegal, and trusts nothing in *text*."""
    left = state.reserve[state.turn]
    parts = [part.strip() for part in text.split(",")]
    if state.is_last_turn:
        _check_last_turn(parts, left, state.board)
    elif len(parts) > 2:
        raise Illegal(f"A turn is one drop and at most one sowing; leave out {quoted(','.join(parts[2:]))}.")
    turn = state.begin()
    items: list[str] = []
    for part in parts:
        item, turn = _read_item(state, turn, part)
        items.append(item)
        if turn.is_dead and (state.is_last_turn or len(items) == len(parts)):
            when = "" if state.is_last_turn else " at the end of the turn"
            name = state.board.name[turn.dropped]
            raise Illegal(f"The stack dropped at {name} would be dead{when}: {turn.why_dead()}.")
    return ",".join(items)


class Sowing(NamedTuple):
    """A drop, and a sowing from another stack that may not be finished."""

    drop: str
    """The drop in canonical form, such as ``e1:3``."""
    name: str
    """The point of the stack that is sown."""
    path: str
    """The directions that were chosen."""
    hand: int
    """How many pieces are still in hand."""
    turn: Turn
    """The turn after these."""
    lifted: Turn
    """The turn before the first piece was sown."""
    point: int
    """The point of the last piece that was sown, or of the stack."""

    @property
    def can_end(self) -> bool:
        """Whether the rest of the hand can be sown so that the turn is legal."""
        return any(True for _ in self.turn.paths(self.point, self.hand, self.path[-1:]))

    @property
    def steps(self) -> list[int]:
        """The points of the path, the one of the stack first."""
        points = [self.turn.board.bit[self.name]]
        for direction in self.path:
            points.append(_step(self.turn.board, points[-1], direction))
        return points

    def text(self, path: str, hand: int) -> str:
        """The text of a turn with that drop, another path, and so many pieces in hand."""
        return f"{self.drop},{self.name}@{path}{'.' * hand}"


_SOWING = re.compile(r"([^,]*),\s*([a-z][0-9]{1,3})@([nesw]{0,4})(\.{0,4})")


def _read_sowing(state: State, text: str) -> Sowing | None:
    """A drop with a sowing that may not be finished; None if the text is none. Raises Illegal.

    Whether the rest of the hand can be sown is not looked at.
    """
    match = _SOWING.fullmatch(text)
    if not match or not match[3] + match[4]:
        return None
    drop, name, path, rest = match.groups()
    drop, turn = _read_item(state, state.begin(), drop.strip())
    point = _read_point(name, state.board)
    hand = len(path) + len(rest)
    if why := _sowing_objection(state, turn, name, path + "n" * len(rest)):
        raise Illegal(why)
    lifted = turn.lift(point, hand)
    sowing = Sowing(drop, name, "", hand, lifted, lifted, point)
    for direction in path:
        if why := sowing.turn.step_objection(sowing.point, direction, sowing.path[-1:], sowing.hand):
            raise Illegal(f"{name}@{path} is not possible: {why}.")
        sowing = _sown(sowing, direction)
    return sowing


def _sown(sowing: Sowing, direction: str) -> Sowing:
    """A sowing after one more piece, which may go there."""
    point = _step(sowing.turn.board, sowing.point, direction)
    return sowing._replace(
        path=sowing.path + direction, hand=sowing.hand - 1, turn=sowing.turn.land(point), point=point
    )


def _check_last_turn(parts: Sequence[str], left: int, board: Square) -> None:
    """Raise Illegal if what is written has more than single drops, or more of them than pieces are left."""
    sowings = []
    drops_of_several = []
    for part in parts:
        match = _ITEM.fullmatch(part)
        if not match:
            continue
        point, digits, path = match.groups()
        if path is not None:
            sowings.append(point)
        elif int(digits or 1) > 1:
            drops_of_several.append((part, point))
    if drops_of_several:
        part, point = drops_of_several[0]
        _read_point(point, board)
        if sowings:
            raise Illegal(
                f"The last turn drops single pieces, as in {point},{point}, and has no sowing: "
                f"{part} is several at once, and the sowing from {sowings[0]} is to be left out."
            )
        raise Illegal(f"{part} is not possible: the last turn drops single pieces, as in {point},{point}.")
    if sowings:
        raise Illegal(f"The last turn has no sowing; leave out the one from {sowings[0]}.")
    if len(parts) > left:
        raise Illegal(f"That drops {len(parts)} pieces, and your reserve has {left}.")


def _read_pie(state: State, text: str) -> str:
    if state.komi is None:
        match = re.fullmatch("komi=([+-]?[0-9]{1,5})", text)
        if not match:
            raise Illegal(f"The first turn names the komi, a whole number: write komi=3, say, and not {quoted(text)}.")
        return f"komi={int(match[1])}"
    if text not in SIDES:
        raise Illegal(f"The komi is {state.komi}; choose your side: write black or white, and not {quoted(text)}.")
    return text


def _read_item(state: State, turn: Turn, part: str) -> tuple[str, Turn]:
    """A legal drop or sowing in canonical form, and the turn after it."""
    match = _ITEM.fullmatch(part)
    if not match:
        raise Illegal(f"Cannot read {quoted(part)}; write a drop such as e1 or e1:3, and a sowing such as d2@nnen.")
    name, digits, path = match.groups()
    point = _read_point(name, state.board)
    if path is None:
        count = int(digits or 1)
        if why := _drop_objection(state, turn, name, count):
            raise Illegal(why)
        return _drop_text(name, count), turn.drop(point, count)
    if why := _sowing_objection(state, turn, name, path):
        raise Illegal(why)
    turn = turn.lift(point, len(path))
    last = ""
    for number, direction in enumerate(path):
        hand = len(path) - number
        if why := turn.step_objection(point, direction, last, hand):
            raise Illegal(f"{part} is not possible: {why}.")
        point = _step(state.board, point, direction)
        turn = turn.land(point)
        last = direction
    return part, turn


def _drop_objection(state: State, turn: Turn, name: str, count: int) -> str:
    """Why the player cannot drop that many pieces there; empty if they can."""
    left = state.reserve[state.turn]
    if turn.dropped and not state.is_last_turn:
        return f"{name} would be a second drop; a turn has one, and then at most one sowing such as d2@nnen."
    if not 1 <= count <= TALLEST:
        return f"{name}:{count} is not possible: a drop is 1 to {TALLEST} pieces."
    if count > left:
        return f"{name}:{count} is not possible: your reserve has {left}."
    if state.board.bit[name] & turn.enemy[0]:
        return f"A {SIDES[1 - state.turn]} stack stands on {name}; drop on an empty point or a stack of yours."
    return ""


def _sowing_objection(state: State, turn: Turn, name: str, path: str) -> str:
    """Why the player cannot take a hand of that many pieces there to sow it; empty if they can."""
    point = state.board.bit[name]
    if not turn.dropped:
        return f"A turn begins with a drop; write one before the sowing from {name}, as in e1,d2@nnen."
    if not state.has_dropped[state.turn]:
        return f"Your first turn is a drop alone; leave out the sowing from {name}."
    if point == turn.dropped:
        return f"{name} was dropped on in this turn; only another stack can be sown."
    if not path or path.strip("nesw"):
        return f"{name}@{path[:20]} cannot be read: write n, e, s or w for each piece that is sown, as in d2@nnen."
    height = _height(turn.own, point)
    if not height:
        is_captured = point & state.stacks[state.turn][0]
        lost = " any more: it is captured after the drop" if is_captured else ""
        return f"There is no {SIDES[state.turn]} stack on {name}{lost}."
    if len(path) > height:
        return f"{name}@{path[:20]} sows {len(path)} pieces, and the stack on {name} has {height}."
    return ""


def _read_point(name: str, board: Square) -> int:
    if name not in board.bit:
        raise Illegal(f"There is no point {quoted(name)}; columns go from a to {board.letters[-1]}, "
                      f"rows from 1 to {board.size}.")  # fmt: skip
    return board.bit[name]


def _drop_text(name: str, count: int) -> str:
    return name if count == 1 else f"{name}:{count}"


# Tapping


MOST_LIFTED = 60
"""How many stacks are looked at to find those that can be sown; the nearest to the drop come first."""
MOST_RESCUES = 8
"""How many stacks are looked at if the dropped stack is dead: then few sowings are legal, and all paths are tried."""


def _taps_of_pie(state: State, text: str) -> NextTaps:
    """The taps of the turns before the first drop: a number to step through, then a choice of two buttons."""
    if state.komi is not None:
        if text:
            return NextTaps(is_whole=True, hint=f"You will play {_read_pie(state, text)}.")
        hint = f"The komi is {state.komi}: choose your side."
        return NextTaps(is_whole=False, taps=tuple(Tap(side, label=side.title()) for side in SIDES), hint=hint)
    if not text:
        hint = "Name the komi. The other player then chooses a side."
        return NextTaps(is_whole=False, taps=(Tap("komi=3", label="Komi 3"),), hint=hint)
    komi = int(_read_pie(state, text).removeprefix("komi="))
    less = f"komi={komi - 1}" if komi - 1 in KOMI else ""
    more = f"komi={komi + 1}" if komi + 1 in KOMI else ""
    stepper = Stepper("Komi", komi, less, more)
    return NextTaps(is_whole=True, hint=f"White will get {komi + 0.5} points.", steppers=(stepper,))


def _taps_of_last_turn(state: State, text: str) -> NextTaps:
    """The taps of the last turn: each drops one more piece, while there are pieces in the reserve."""
    dropped = _read_turn(state, text).split(",") if text else []
    turn = state.begin()
    for name in dropped:
        turn = turn.drop(state.board.bit[name], 1)
    left = state.reserve[state.turn] - len(dropped)
    taps: tuple[Tap, ...] = ()
    if left:
        longer = ",".join(dropped + ["*"])
        taps = (Tap(longer, tuple(state.board.names(turn.living_places)), is_quiet=True),)
    marks = list(_gone(state, turn))
    marks += [TurnMark("piece", (name,), f"+{dropped.count(name)}") for name in dict.fromkeys(dropped)]
    pieces = "1 piece" if left == 1 else f"{left} pieces"
    return NextTaps(
        is_whole=bool(dropped),
        taps=taps,
        hint=f"{_captured_so_far(state, turn)}This is the last turn, of single pieces: {pieces} left.",
        marks=tuple(marks),
    )


def _taps_of_drop(state: State, text: str) -> NextTaps:
    """The taps after a drop: one more piece there, or another own stack to be sown."""
    if "," in text:
        return NextTaps(is_whole=bool(_read_turn(state, text)))
    drop, turn = _read_item(state, state.begin(), text)
    lifts = [
        Tap(sowing.text("", sowing.hand), (sowing.name,), is_quiet=not turn.is_dead)
        for sowing in _lifts(state, drop, turn)
    ]
    if turn.is_dead and not lifts:
        _read_turn(state, text)  # says why not
    point = state.board.name[turn.dropped]
    is_highest = turn.pieces == min(TALLEST, state.reserve[state.turn])
    again = "" if is_highest else _drop_text(point, turn.pieces + 1)
    taps = [Tap(again, (point,), is_quiet=True)]
    taps += lifts
    marks = list(_gone(state, turn))
    marks.append(TurnMark("piece", (point,), f"+{turn.pieces}"))
    if turn.is_dead:
        hint = "The dropped stack would be dead: tap a stack of yours with a dot, and sow it to save that."
    elif lifts:
        hint = "Tap the point again to drop more, or another stack of yours to sow it."
    else:
        hint = "Tap the point again to drop more."
    return NextTaps(
        is_whole=not turn.is_dead,
        taps=tuple(taps),
        hint=_captured_so_far(state, turn) + hint,
        marks=tuple(marks),
        steppers=(_drop_stepper(state, turn, ""),),
    )


def _lifts(state: State, drop: str, turn: Turn) -> Iterator[Sowing]:
    """The stacks that can be sown after a drop, each with as many of its pieces as possible in hand."""
    if not state.has_dropped[state.turn]:
        return
    column, row = _column_and_row(state.board, turn.dropped)

    def distance(point: int) -> int:
        x, y = _column_and_row(state.board, point)
        return abs(x - column) + abs(y - row)

    stacks = sorted(bits(turn.own[0] & ~turn.dropped), key=distance)
    most = MOST_RESCUES if turn.is_dead else MOST_LIFTED
    for point in stacks[:most]:
        for hand in range(_height(turn.own, point), 0, -1):
            lifted = turn.lift(point, hand)
            sowing = Sowing(drop, state.board.name[point], "", hand, lifted, lifted, point)
            if sowing.can_end:
                yield sowing
                break


def _column_and_row(board: Square, point: int) -> tuple[int, int]:
    row, column = divmod(point.bit_length() - 1, board.width)
    return column, row


def _taps_of_sowing(state: State, sowing: Sowing) -> NextTaps:
    """The taps while a stack is sown: the next points of its path."""
    if not sowing.can_end:
        if not sowing.hand:
            _read_turn(state, sowing.text(sowing.path, 0))  # says why not
        raise Illegal(f"The rest of the stack on {sowing.name} cannot be sown from there so that the turn is legal.")
    board = state.board
    taps = []
    directions = "nesw" if sowing.hand else ""
    for direction in directions:
        if sowing.turn.step_objection(sowing.point, direction, sowing.path[-1:], sowing.hand):
            continue
        longer = _sown(sowing, direction)
        if longer.can_end:
            taps.append(Tap(longer.text(longer.path, longer.hand), (board.name[longer.point],)))
    if not sowing.path:
        taps.append(Tap(sowing.drop, (sowing.name,), is_quiet=True))
    if sowing.hand:
        pieces = "1 piece" if sowing.hand == 1 else f"{sowing.hand} pieces"
        hint = f"{pieces} in hand: tap a dot for the next one."
    else:
        hint = "Your hand is empty, the turn is complete."
    point = board.name[sowing.turn.dropped]
    names = tuple(board.name[step] for step in sowing.steps)
    marks = list(_gone(state, sowing.turn))
    marks.append(TurnMark("trail", names))
    marks.append(TurnMark("halo", (sowing.name,)))
    marks.append(TurnMark("piece", (point,), f"+{sowing.turn.pieces}"))
    marks += [TurnMark("piece", (name,), str(number)) for number, name in enumerate(names[1:], 1)]
    behind_drop = sowing.text(sowing.path, sowing.hand).removeprefix(sowing.drop)
    hand_stepper = Stepper(
        f"Sow {sowing.name}",
        len(sowing.path) + sowing.hand,
        less=_with_hand(state, sowing, -1),
        more=_with_hand(state, sowing, 1),
    )
    return NextTaps(
        is_whole=not sowing.hand,
        taps=tuple(taps),
        hint=_captured_so_far(state, sowing.turn) + hint,
        marks=tuple(marks),
        steppers=(_drop_stepper(state, sowing.turn, behind_drop), hand_stepper),
    )


def _drop_stepper(state: State, turn: Turn, behind: str) -> Stepper:
    """The number of dropped pieces; *behind* the drop stands a sowing, which it does not change."""
    point = state.board.name[turn.dropped]
    most = min(TALLEST, state.reserve[state.turn])
    less = ""
    if turn.pieces > 1:
        less = _drop_text(point, turn.pieces - 1) + behind
    more = ""
    if turn.pieces < most:
        more = _drop_text(point, turn.pieces + 1) + behind
    return Stepper(f"Drop {point}", turn.pieces, less, more)


def _with_hand(state: State, sowing: Sowing, more: int) -> str:
    """The text of the next legal sowing with *more* pieces, 1 or -1, or further ones; empty if there is none.

    The path stays the same as far as it goes.
    """
    pieces = len(sowing.path) + sowing.hand + more
    while 0 < pieces <= TALLEST:
        path = sowing.path[:pieces]
        text = sowing.text(path, pieces - len(path))
        with suppress(Illegal):
            changed = _read_sowing(state, text)
            if changed and changed.can_end:
                return text
        pieces += more
    return ""


def _captured_so_far(state: State, turn: Turn) -> str:
    """Which stacks a turn has captured so far, in sentences with a blank behind them; empty if it has captured none."""
    sentences = ""
    if enemy := state.stacks[1 - state.turn][0] & ~turn.enemy[0]:
        sentences += f"Captures {_listed(state.board, enemy)}. "
    if turn.lost:
        sentences += f"Loses {_listed(state.board, turn.lost)}. "
    return sentences


def _gone(state: State, turn: Turn) -> Iterator[TurnMark]:
    """What a turn has captured so far."""
    enemy = state.stacks[1 - state.turn][0] & ~turn.enemy[0]
    if enemy | turn.lost:
        yield TurnMark("gone", tuple(state.board.names(enemy | turn.lost)))


# Drawing


def effects(before: State, after: State) -> Effects:
    """Captures, stacks and territory."""
    side = before.turn
    foe = 1 - side
    enemies_before = before.stacks[foe][0].bit_count()
    enemies = after.stacks[foe][0].bit_count()
    territory = after.territory
    return [
        ("captures", "stack", max(0, enemies_before - enemies)),
        ("has", "stack", after.stacks[side][0].bit_count()),
        ("has", "territory point", territory[side].bit_count()),
        ("leaves the other side", "territory point", territory[foe].bit_count()),
    ]


def draw(state: State, before: State | None = None) -> BoardText:
    """The board with its coordinates, and below it what each side has; what changed since *before* is marked."""
    board = state.board
    changed = _changed(state, before) if before else 0
    gap = " " if board.size < 25 else ""  # 25 columns are too wide with one
    header = f"   {gap.join(f'{letter} ' for letter in board.letters)}".rstrip()
    lines = [header]
    for row in range(board.size, 0, -1):
        points = [board.bit[f"{letter}{row}"] for letter in board.letters]
        cells = gap.join(_cell(state, point, is_marked=bool(point & changed)) for point in points)
        lines.append(f"{row:2} {cells} {row}")
    lines.append(header)
    legend = ["", "       stacks  territory  komi  score  reserve"]
    if changed:
        marks = ["", "small b, w = changed by the last turn; a colon = emptied by it"]
        for sentence in _captured(state, before):
            marks += wrap(sentence, 78, subsequent_indent="  ")
        legend = marks + legend
    for side, name in enumerate(SIDES):
        komi = "" if side == 0 or state.komi is None else state.komi + 0.5
        numbers = f"{state.stacks[side][0].bit_count():6}  {state.territory[side].bit_count():9}  {komi:>4}"
        legend.append(f"{name}  {numbers}  {state.scores[side]:>5}  {state.reserve[side]:>7}")
    if task := _task(state):
        legend += ["", task]
    return BoardText("\n".join(lines), legend)


def _task(state: State) -> str:
    """What is particular about this turn; empty if nothing is."""
    if state.pie:
        return "Black names the komi." if state.komi is None else "White chooses a side."
    if state.is_last_turn and not state.is_over:
        enemy = SIDES[1 - state.turn].capitalize()
        return f"{enemy}'s reserve is empty: this is the last turn, of single pieces."
    return ""


def _captured(state: State, before: State | None) -> Iterator[str]:
    """Which stacks were captured since *before*, if any were: those of the enemy, and those of the mover's own."""
    if before is None:
        return
    captures = state.captures[len(before.captures) :]
    if enemy := union(turn.enemy for turn in captures):
        yield f"captured: {_listed(state.board, enemy)}."
    if own := union(turn.own for turn in captures):
        yield f"own stacks captured: {_listed(state.board, own)}."


def _listed(board: Square, points: int) -> str:
    """The names of points, sorted by column and row."""
    return ", ".join(sorted(board.names(points), key=lambda name: (name[0], int(name[1:]))))


def _changed(state: State, before: State) -> int:
    """The points with stacks that have changed."""
    changed = 0
    for stacks, stacks_before in zip(state.stacks, before.stacks, strict=True):
        for level, level_before in zip(stacks, stacks_before, strict=True):
            changed |= level ^ level_before
    return changed


def _cell(state: State, point: int, *, is_marked: bool) -> str:
    letters = "bw" if is_marked else "BW"
    for letter, stacks in zip(letters, state.stacks, strict=True):
        if stacks[0] & point:
            return f"{letter}{_height(stacks, point)}"
    return ": " if is_marked else ". "


def figure(state: State, before: State | None = None) -> Figure:
    """The points with their stacks and the territories, and what each side has."""
    board = state.board
    template = grid(board)
    pieces: list[Piece] = []
    heights = []
    marks: list[Mark] = []
    for side, levels in enumerate(state.stacks):
        for point in bits(levels[0]):
            height = _height(levels, point)
            standing = pile(board.name[point], template.at[point], (side,) * height, size=0.38, most=0.3)
            pieces += standing
            if height > 1:
                heights.append(Label(standing[-1].at, str(height), "count", 0.5, side, standing[-1].cell))
        marks += [Mark(template.at[point], "territory", 0.12, side) for point in bits(state.territory[side])]
    changed = _changed(state, before) if before else 0
    return Figure(
        template.cells,
        template.lines,
        pieces=tuple(pieces),
        marks=tuple(marks),
        labels=template.labels + tuple(heights),
        latest=tuple(board.names(changed)),
        notes=tuple(_notes(state, before)),
        turn=None if state.result() else state.turn,
    )


def _notes(state: State, before: State | None) -> Iterator[Note]:
    """What each side has, what was captured since *before*, and what is particular about this turn."""
    for side, name in enumerate(SIDES):
        parts = [f"stacks {state.stacks[side][0].bit_count()}", f"territory {state.territory[side].bit_count()}"]
        if side == 1 and state.komi is not None:
            parts.append(f"komi {state.komi + 0.5}")
        parts += [f"score {state.scores[side]}", f"reserve {state.reserve[side]}"]
        yield Note(f"{name.title()}: {', '.join(parts)}", side, score=str(state.scores[side]))
    yield from map(Note, _captured(state, before))
    if task := _task(state):
        yield Note(task, is_task=True)
