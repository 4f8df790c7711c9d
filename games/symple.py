"""Symple: found a new group, or grow all your groups by one stone each; every group costs points in the end.

White and Black take turns on an empty square board. A group is a set of orthogonally connected stones of one
colour. A turn either founds a group, with one stone that is not next to an own stone, or grows the own groups as they
stood before the turn. No group may then be next to two of the new stones. No stone may be left out that would grow only
groups which have not grown. As long as nobody has grown, Black may grow any of their groups and then found one in the
same turn. When the board is full, each side has its stones less the penalty for each of its groups.

The rules in full, with the notation, are in help/symple.txt.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from games import SKIP, Effects, Illegal, Option, Position, Result, higher, quoted, read_turn
from games.boards import Square, bits, union
from games.figures import BoardText, Figure, Note, grid
from games.lessons import Lesson, Lessons
from games.tapping import NextTaps, Tap, TurnMark

if TYPE_CHECKING:
    from random import Random

SIDES: tuple[str, str] = ("white", "black")
STONES: tuple[str, str] = ("W", "B")
BALANCE = "Nobody has grown yet: Black may grow and then found in the same turn."
"""What stands below the board while that is so."""
BLACK = 1

NOTATION = "d2 is one stone, b4,d1,e3 grows three groups"
LESSONS = Lessons(
    rules=(
        Lesson(
            rule="Found a group: put one stone on a point that touches no stone of yours.",
            options="-size=5",
            position={"cells": {"b2": "W", "d4": "B"}},
            turn="b4",
        ),
        Lesson(
            rule="Or grow: every group of yours that can gets one new stone, all in the same turn.",
            options="-size=5",
            position={"cells": {"b2": "W", "b4": "W", "d3": "B", "d4": "B"}},
            turn="a4,c2",
        ),
        Lesson(
            rule=(
                "On a full board each stone earns a point and each group costs some, so join yours: a stone "
                "between two groups grows both."
            ),
            options="-size=5",
            position={
                "cells": {"b1": "W", "b2": "W", "b4": "W", "b5": "W", "d1": "B", "d2": "B", "d3": "B", "d4": "B"}
            },
            turn="b3",
        ),
    ),
    tapping="Tap a point for each new stone, in any order; dots show where your groups can still grow.",
)
OPTIONS: Sequence[Option] = (
    Option("size", "how many rows and columns the board has: an odd number from 5 to 25", range(5, 26, 2), 19),
    Option("penalty", "what each group costs its owner: an even number from 2 to 20", range(2, 21, 2), 8),
)


class Group(NamedTuple):
    """A group of the player to move, as it stands when their turn begins."""

    stones: int
    liberties: int
    """The vacant points next to it."""


class _Fields(NamedTuple):
    board: Square
    penalty: int
    stones: tuple[int, int] = (0, 0)
    turn: int = 0


class State(_Fields, Position):
    """A position. No turn is skipped: on a vacant point, a stone founds a group or grows one."""

    __slots__ = ()
    sides = SIDES

    @property
    def vacant(self) -> int:
        """The points without a stone."""
        return self.board.all & ~(self.stones[0] | self.stones[1])

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of the player to move."""
        near, vacant = self.board.near, self.vacant
        return tuple(Group(group, near(group) & vacant) for group in self.board.groups(self.stones[self.turn]))

    @property
    def growth_points(self) -> int:
        """Where a stone grows a group, or several at once."""
        return self.vacant & self.board.near(self.stones[self.turn])

    @property
    def founding_points(self) -> int:
        """Where a stone founds a group."""
        return self.vacant & ~self.board.near(self.stones[self.turn])

    @property
    def grown(self) -> int:
        """The stones, of both sides, of groups that have grown: those next to a stone of their colour."""
        return union(stones & self.board.near(stones) for stones in self.stones)

    @property
    def may_balance(self) -> bool:
        """Whether the player to move may grow and then found in one turn: Black may, as long as nobody has grown."""
        return self.turn == BLACK and not self.grown

    @property
    def scores(self) -> tuple[int, int]:
        """The stones of each side less its penalties."""
        white, black = (s.bit_count() - self.penalty * self.count_groups(side) for side, s in enumerate(self.stones))
        return white, black

    def count_groups(self, side: int) -> int:
        """How many groups a side has."""
        return sum(1 for _ in self.board.groups(self.stones[side]))

    def read(self, text: str) -> str:
        """The turn that a player wrote: growth points by column and row, then the founding point. Raises Illegal."""
        if text == SKIP:
            raise Illegal(
                f"No turn can be skipped, because moving is compulsory; {next(self.moves())} is a legal turn."
            )
        points = self._points(text)
        growth, founding = self._checked(points)
        left = self._room(growth)
        if growth and left and not founding:
            raise Illegal(self._incomplete(growth, left))
        return self._text(growth, founding)

    def moves(self) -> Iterator[str]:
        """The legal turns: those that found, those that grow, and those that do both."""
        growth, founding = self.growth_points, self.founding_points
        yield from self.board.names(founding)
        if growth:
            yield from map(self._text, self._whole_growths(growth))
        if not self.may_balance:
            return
        for point in bits(founding):
            for part in _growths(self.groups, growth & ~self.board.near(point)):
                yield self._text(part, point)

    def next_taps(self, text: str) -> NextTaps:
        """How a turn goes on that has these points. Each tap adds one; a founding stone stays the last."""
        points = self._points(text) if text else []
        growth, founding = self._checked(points)
        left = self._room(growth)
        founding_points = self.founding_points & ~self.board.near(growth)
        if founding or (growth and not self.may_balance):
            founding_points = 0
        if founding and not self.may_balance:
            left = 0
        left &= ~self.board.near(founding)
        before = ",".join([self.board.name[point] for point in points if point != founding] + ["*"])
        behind = f",{self.board.first(founding)}" if founding else ""
        taps = [
            Tap(before + behind, tuple(self.board.names(left))),
            Tap(before, tuple(self.board.names(founding_points)), is_quiet=True),
        ]
        grown = sum(1 for group in self.groups if group.liberties & growth)
        waiting = sum(1 for group in self.groups if group.liberties & left and not group.liberties & growth)
        marks = []
        if points:
            names = [self.board.name[point] for point in points]
            marks.append(TurnMark("piece", tuple(names)))
        return NextTaps(
            is_whole=bool(founding or (growth and not left)),
            taps=tuple(tap for tap in taps if tap.cells),
            hint=self._hint(grown, waiting, founding),
            marks=tuple(marks),
            done=(grown, grown + waiting) if growth and not founding else None,
        )

    def _hint(self, grown: int, waiting: int, founding: int) -> str:
        """What a turn does that grows so many groups and founds one, and how many groups it can still grow."""
        if founding:
            grows = f"{grown} of your groups grow, and " if grown else ""
            return f"{grows}{self.board.first(founding)} founds a group."
        count = grown + waiting
        groups = "1 group" if count == 1 else f"{count} groups"
        if not grown and not waiting:
            return "Tap a point to found a group."
        if not grown:
            return f"Tap a dot to grow your {groups}, or another point to found one."
        if waiting:
            return f"{grown} of {groups} grown; {waiting} can still grow."
        return f"All {groups} that can grow have grown."

    def random(self, rng: "Random") -> str:
        """A legal turn of one of the kinds that there are; no kind is rare."""
        growth, founding = self.growth_points, self.founding_points
        if not growth or (founding and rng.random() < 0.5):
            point = rng.choice(list(bits(founding)))
            growth &= ~self.board.near(point)
            if not growth or not self.may_balance or rng.random() < 0.5:
                return self.board.name[point]
            whole = list(bits(self._random_growth(rng, growth)))
            part = rng.sample(whole, rng.randint(1, len(whole)))
            return self._text(union(part), point)
        return self._text(self._random_growth(rng, growth))

    def play(self, move: str) -> Self:
        """The position after a turn."""
        bit = self.board.bit
        new = sum([bit[name] for name in move.split(",")])
        white, black = self.stones
        if self.turn == BLACK:
            return self._replace(stones=(white, black | new), turn=0)
        return self._replace(stones=(white | new, black), turn=BLACK)

    def result(self) -> Result | None:
        """On a full board the higher score wins; as the size is odd and the penalty even, they are never equal."""
        return None if self.vacant else Result(higher(*self.scores))

    @property
    def cells(self) -> dict[str, str]:
        """The stones."""
        return self.board.lettered(self.stones, STONES)

    def _whole_growths(self, among: int) -> Iterator[int]:
        """The growths by points of *among* to which no other point of it can be added; the empty one if it is empty.

        Points next to the same groups are of one kind. The maximal sets of kinds are built kind by kind: each maximal
        set of the first kinds leads to at least one of all kinds, and comes from one set only, so that nothing is built
        without use or twice (Tsukiyama and others, "A new algorithm for generating all the maximal independent sets",
        1977).
        """
        groups = self.groups
        kinds: dict[int, list[int]] = {}
        for point in bits(among):
            kinds.setdefault(union(group.stones for group in groups if group.liberties & point), []).append(point)
        order = list(kinds)
        stack: list[tuple[tuple[int, ...], int]] = [((), 0)]
        while stack:
            chosen, seen = stack.pop()
            if seen == len(order):
                yield from map(sum, product(*(kinds[kind] for kind in chosen)))
                continue
            kind = order[seen]
            kept = tuple(earlier for earlier in chosen if not earlier & kind)
            dropped = [earlier for earlier in chosen if earlier & kind]
            if not dropped:
                stack.append(((*chosen, kind), seen + 1))
                continue
            stack.append((chosen, seen + 1))
            if _refill(kept, kind, order[:seen]) == dropped:
                stack.append(((*kept, kind), seen + 1))

    def _random_growth(self, rng: "Random", among: int) -> int:
        """A growth by points of *among* to which no other point of it can be added."""
        growth = 0
        groups = list(self.groups)
        rng.shuffle(groups)
        for group in groups:
            if free := group.liberties & among:
                point = rng.choice(list(bits(free)))
                growth |= point
                among &= ~_excluded(groups, point)
        return growth

    # Notation

    def _text(self, growth: int, founding: int = 0) -> str:
        # bits come row by row, and the sort leaves the rows of a column in that order
        names = sorted(self.board.names(growth), key=itemgetter(0))
        return ",".join(names + self.board.names(founding))

    def _points(self, text: str) -> list[int]:
        """The points that a text names, in its order. Raises Illegal."""
        points: list[int] = []
        for part in text.split(","):
            points.append(self._point(part.strip(), points))
        return points

    def _point(self, name: str, points: Sequence[int]) -> int:
        """The point of that name. Raises Illegal unless it is vacant and none of those written before."""
        if name.isascii():  # the Kelvin sign would become a k
            name = name.lower()
        point = self.board.bit.get(name)
        if point is None:
            if re.fullmatch("[a-z][0-9]{1,9}", name, re.ASCII):
                raise Illegal(f"There is no point {name} on this board; columns go from a to "
                              f"{self.board.letters[-1]}, rows from 1 to {self.board.size}.")  # fmt: skip
            what = f"Cannot read {quoted(name)}" if name else "A point is missing"
            raise Illegal(f"{what}; write one point, such as c3, or several joined by commas: c3,d5.")
        if point in points:
            raise Illegal(f"{name} is written twice; each point takes one stone.")
        if not point & self.vacant:
            colour = SIDES[bool(point & self.stones[1])]
            raise Illegal(f"There is a {colour} stone on {name} already; stones are put on vacant points.")
        return point

    # Refusals

    def _checked(self, points: list[int]) -> tuple[int, int]:
        """The growth points and the founding point among these. Raises Illegal if no turn has all of them."""
        founding = sum(points) & self.founding_points
        growth = sum(points) & ~founding
        if founding & (founding - 1):
            raise Illegal(f"{self._two(founding)} would found two groups; a turn founds only one.")
        if founding and growth:
            self._check_balance(points, founding, growth)
        self._check_growth(growth)
        return growth, founding

    def _check_balance(self, points: list[int], founding: int, growth: int) -> None:
        """Raise Illegal unless these points may grow and found in one turn; the growth itself is not looked at."""
        side, name = SIDES[self.turn].capitalize(), self.board.first(founding)
        apart = f"{name} is not next to a group of {side}, so it does not grow one"
        if self.turn != BLACK:
            raise Illegal(f"{apart}; only Black may grow and found in one turn, and White does either.")
        if self.grown:
            where = self.board.first(self.grown)
            raise Illegal(f"{apart}; growing and founding in one turn ended with the first growth (group of {where}).")
        if touching := growth & self.board.near(founding):
            stone = self.board.first(touching)
            raise Illegal(f"{name} would be next to the new stone on {stone}; "
                          "a founding stone stands apart from all own stones, those of its turn included.")  # fmt: skip
        if points[-1] != founding:
            raise Illegal(
                f"{apart} but founds one; the founding stone is written last: {self._text(growth, founding)}."
            )

    def _check_growth(self, growth: int) -> None:
        """Raise Illegal if a group grows twice."""
        for stones, liberties in self.groups:
            new = liberties & growth
            if new & (new - 1):
                raise Illegal(f"{self._two(new)} are both next to the group of {self._stone(stones, new)}; "
                              "a group grows by one stone a turn.")  # fmt: skip

    def _room(self, growth: int) -> int:
        """Where a stone can still be added to a growth."""
        return self.growth_points & ~union(group.liberties for group in self.groups if group.liberties & growth)

    def _incomplete(self, growth: int, left: int) -> str:
        """Why a growth is not a whole turn while stones can be added to it on the points that are *left*."""
        whole = self._text(growth | next(self._whole_growths(left)))
        founding = ", or end the turn with a founding stone" if self.may_balance else ""
        stone = self._stone(self.stones[self.turn], left)
        return (
            f"The group of {stone} can still grow, at {self.board.first(left)}, "
            f"and a turn that grows has to grow every group it can: play {whole}{founding}."
        )

    def _two(self, points: int) -> str:
        return " and ".join(self._text(points).split(",")[:2])

    def _stone(self, stones: int, points: int) -> str:
        """A stone of a set that is next to one of the points."""
        return self.board.first(stones & self.board.near(points & -points))


def _growths(groups: Sequence[Group], among: int) -> Iterator[int]:
    """All growths by one or more points of *among*, whether or not more could be added."""
    for point in bits(among):
        among ^= point
        yield point
        for more in _growths(groups, among & ~_excluded(groups, point)):
            yield point | more


def _excluded(groups: Sequence[Group], point: int) -> int:
    """The points that cannot grow a group together with this one, itself included."""
    return union([liberties for _, liberties in groups if liberties & point])


def _refill(kept: tuple[int, ...], kind: int, earlier: list[int]) -> list[int] | None:
    """The earlier kinds that can be added to those kept, in their order as long as they fit together.

    None if one of them fits *kind*, too.
    """
    before = union(kept)
    grown = before
    added = []
    for addition in earlier:
        if addition & before:
            continue
        if not addition & kind:
            return None
        if not addition & grown:
            added.append(addition)
            grown |= addition
    return added


def new(*, size: int = 19, penalty: int = 8) -> State:
    """The empty board, White to move."""
    return State(Square(size), penalty)


def setup(view: Mapping[str, Any], **options: Any) -> State:
    """The position with the view's cells and turn. Nobody has grown in it if each group is a single stone."""
    start = new(**options)
    return start._replace(stones=start.board.stones(view, STONES), turn=read_turn(view, SIDES))


# Drawing


def effects(before: State, after: State) -> Effects:
    """Groups that are joined or founded, stones, and where the other side can grow."""
    side, board = before.turn, before.board
    old = before.stones[side]
    new = after.stones[side] & ~old
    founded = (new & ~board.near(old)).bit_count()
    joined = 0
    for group in board.groups(after.stones[side]):
        parts = len(list(board.groups(group & old)))
        if parts > 1:
            joined += parts
    return [
        ("joins", "group", joined),
        ("founds", "group", founded),
        ("grows by", "stone", new.bit_count() - founded),
        ("leaves the other side", "growth point", after.growth_points.bit_count()),
    ]


def draw(state: State, before: State | None = None) -> BoardText:
    """The board with its coordinates, the stones since *before* in brackets, and under it the scores."""
    board = state.board
    white, black = state.stones
    latest = (white | black) & before.vacant if before else 0
    opened, closed = latest & ~(latest << 1), latest & ~(latest >> 1)
    lines = ["    " + " ".join(board.letters)]
    for row in range(board.size, 0, -1):
        line = f"{row:2} "
        for letter in board.letters:
            bit = board.bit[f"{letter}{row}"]
            if bit & opened:
                line += "("
            elif bit & closed << 1:  # the bracket of the point to the left
                line += ")"
            else:
                line += " "
            if bit & white:
                line += STONES[0]
            elif bit & black:
                line += STONES[1]
            else:
                line += "."
        line += ")" if bit & closed else " "
        lines.append(f"{line} {row}")
    lines.append(lines[0])
    legend = ["In brackets: the stones of the last turn."] if latest else []
    legend.append(f"          stones  groups  score (stones - {state.penalty} x groups)")
    for side, (name, score) in enumerate(zip(SIDES, state.scores, strict=True)):
        stones = state.stones[side].bit_count()
        groups = state.count_groups(side)
        legend.append(f"{STONES[side]} {name.capitalize()} {stones:8}{groups:8}{score:7}")
    if state.may_balance and state.vacant:
        legend.append(BALANCE)
    return BoardText("\n".join(lines), legend)


def figure(state: State, before: State | None = None) -> Figure:
    """The points with their stones, those of a group joined, and how many each side has."""
    numbers = zip(SIDES, state.stones, state.scores, strict=True)
    notes = [
        Note(
            f"{name.title()}: stones {own.bit_count()}, groups {state.count_groups(side)}, score {score}",
            side,
            score=str(score),
        )
        for side, (name, own, score) in enumerate(numbers)
    ]
    notes.append(Note(f"score (stones - {state.penalty} x groups)"))
    if state.may_balance and state.vacant:
        notes.append(Note(BALANCE, is_task=True))
    return grid(state.board).figure(state, before, notes)
