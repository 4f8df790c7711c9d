"""Spiro on integers: positions, and all outcomes of a throw.

A position is seen by one side. Its cells are numbered along its own path, from its home on, and then along the enemy's.
So the board looks the same from both sides when it is turned by half a circle.
"""

from heapq import nsmallest
from itertools import compress, repeat
from math import inf
from operator import mul
from typing import NamedTuple

from games import spiro
from games.spiro import OFF

ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""All throws of two dice, each once."""

JUMP = 1.35
"""How many dice a jump costs: more than one, because there are fewer jumps than dice."""
ALL_WAYS = 1_000_000
"""More ways than a turn has."""


class SpiroPosition(NamedTuple):
    """A position as one side sees it: how many pieces stand on each cell, a byte for each."""

    own: bytes
    """The free pieces of the side."""
    foe: bytes
    """Free pieces of the enemy."""
    own_pinned: bytes
    """The pieces of the side under enemy pieces, at most one on a cell."""
    foe_pinned: bytes
    """Pieces of the enemy under its own."""

    @property
    def turned(self) -> "SpiroPosition":
        """What the enemy sees."""
        half = len(self.own) // 2
        own, foe, own_pinned, foe_pinned = (row[half:] + row[:half] for row in self)
        return SpiroPosition(foe, own, foe_pinned, own_pinned)

    @property
    def has_won(self) -> bool:
        """Whether this side has no piece left."""
        return not any(self.own) and not any(self.own_pinned)


def position_of(state: spiro.State) -> SpiroPosition:
    """What the side to move sees."""
    rows = [bytearray(len(state.stacks)) for _ in range(4)]
    own, foe, own_pinned, foe_pinned = rows
    side, enemy = spiro.SIDES[state.turn], spiro.SIDES[1 - state.turn]
    home = state.board.home(state.turn)
    for cell, stack in enumerate(state.stacks[home:] + state.stacks[:home]):
        if stack.endswith(side):
            own[cell], foe_pinned[cell] = stack.count(side), stack.count(enemy)
        elif stack:
            foe[cell], own_pinned[cell] = stack.count(enemy), stack.count(side)
    return SpiroPosition(*map(bytes, rows))


Way = tuple["Way", int, int, int] | tuple[()]
"""How a turn was played: what came before, and a piece's cell, where it went, and by which die."""
Stage = dict[tuple[int, int, int], Way]
"""What a turn can have come to after some dice: the own pieces with a byte for each cell, the cells from which single
enemies were sent home with a bit for each, and what is left of the jumps."""
Outcomes = dict[tuple[int, int], Way]
"""What legal turns lead to, pieces and cells as in a level, each with one way to it."""

JUMPED, ONE_JUMP, TWO_JUMPS, NOT_BACK = 0, 1, 2, 3
"""What is left of the jumps. NOT_BACK + n is one jump, which has to blot if it leads from cell n."""


def uses_of(way: Way) -> list[tuple[int, int, int]]:
    """The uses of dice in a way, in their order: a piece's cell, where it went, and by which die."""
    uses: list[tuple[int, int, int]] = []
    while way:
        way, cell, target, die = way
        uses.insert(0, (cell, target, die))
    return uses


class Track:
    """A board as the side to move sees it: where dice and jumps lead from each cell."""

    def __init__(self, *, small: bool, no_inwards: bool) -> None:
        """Read the board from the rules."""
        board = spiro.board(small=small)
        self.length = board.length
        self.size = 2 * board.length
        self.cells = range(self.size)
        self.step = [[board.step(cell, die) for cell in self.cells] for die in range(7)]
        self.across = [OFF] * self.size
        """The cell behind the wall; OFF where there is none or where the rules forbid to jump."""
        for cell in self.cells:
            target = board.jump.get(cell)
            if target is None or target == self.length:
                continue
            if not no_inwards or board.distance(target) >= board.distance(cell):
                self.across[cell] = target
        self.ways = self._ways()
        """How many dice a piece needs from each cell to leave the board, on average; the last one is off."""
        self.unit = [*(1 << 8 * cell for cell in self.cells), 0]
        """A piece on each cell, as a number with a byte for each cell; the last one is off."""

    def outcomes(self, position: SpiroPosition, dice: tuple[int, ...], most: int = ALL_WAYS) -> Outcomes:
        """All that legal turns lead to; nothing if the turn is skipped.

        After each die of a double at *most* so many of the best-looking ways go on.
        """
        turn = _Hand(self, position)
        is_double = len(dice) == 2 and dice[0] == dice[1]
        start: Stage = {(int.from_bytes(position.own, "little"), 0, TWO_JUMPS if is_double else ONE_JUMP): ()}
        if is_double:
            if sum(position.own) <= 4:  # with so few pieces a turn can end the game
                most = ALL_WAYS
            levels = [start]
            while len(levels) <= 4 and levels[-1]:
                level = turn.one_die_more(levels[-1], dice[0])
                if most < ALL_WAYS and not level:  # what was left out might use more dice
                    return self.outcomes(position, dice)
                is_long = len(level) > most
                levels.append(dict(nsmallest(most, level.items(), key=turn.loss)) if is_long else level)
            full = next((level for level in reversed(levels[1:]) if level), {})
        elif len(dice) == 2:
            first, second = turn.one_die_more(start, max(dice)), turn.one_die_more(start, min(dice))
            levels = [first, second]
            full = turn.one_die_more(first, min(dice)) | turn.one_die_more(second, max(dice)) or first or second
        else:
            levels = [start]
            full = turn.one_die_more(start, dice[0])
        legal = {(own, blots): way for (own, blots, _), way in full.items()}
        if not any(position.own_pinned):
            wins = ((blots, way) for level in levels for (own, blots, _), way in level.items() if not own)
            for blots, way in wins:
                legal.setdefault((0, blots), way)
        return legal

    def after(self, position: SpiroPosition, own: int, blots: int) -> SpiroPosition:
        """What the side that moved sees after a turn with this outcome."""
        pieces = own.to_bytes(self.size, "little")
        foe, foe_pinned = bytearray(position.foe), bytearray(self.size)
        for cell in compress(self.cells, position.foe_pinned):
            foe[cell] = 1
        while blots:
            foe[blots.bit_length() - 1] = 0
            foe[self.length] += 1
            blots ^= 1 << blots.bit_length() - 1
        for cell in compress(self.cells, foe):
            if pieces[cell]:
                foe[cell], foe_pinned[cell] = 0, 1
        return SpiroPosition(pieces, bytes(foe), position.own_pinned, bytes(foe_pinned))

    def _ways(self) -> list[float]:
        """By value iteration, for a single piece that takes the better of a step and a jump."""
        ways, change = [10.0] * self.size + [0.0], 1.0
        while change > 1e-6:
            better = [*map(self._way, repeat(ways), self.cells), 0.0]
            ways, change = better, max(abs(new - old) for new, old in zip(better, ways, strict=True))
        return ways

    def _way(self, ways: list[float], cell: int) -> float:
        """A die more than what is left after it, on average."""
        by_jump = ways[self.across[cell]] + JUMP - 1 if self.across[cell] != OFF else inf
        return 1 + sum(min(ways[self.step[die][cell]], by_jump) for die in range(1, 7)) / 6


class _Hand:
    """A turn being played: what does not change before it ends."""

    def __init__(self, track: Track, position: SpiroPosition) -> None:
        self.track = track
        pairs = zip(position.foe, position.own_pinned, strict=True)
        self.is_blocked = [*(foe + under > 1 and foe > 0 for foe, under in pairs), False]
        trios = zip(position.foe, position.own_pinned, position.foe_pinned, strict=True)
        self.is_single = [(foe == 1 and not under) or pinned == 1 for foe, under, pinned in trios]
        home = track.ways[0]
        self.made = [
            (cell, home - track.ways[cell - track.length])
            for cell in track.cells
            if position.foe[cell] == 1 and not position.own_pinned[cell]
        ]
        """Where single enemies stand, and the way that each has made."""

    def loss(self, item: tuple[tuple[int, int, int], Way]) -> float:
        """How long the own way is after some dice, less what enemies lose who are hit or pinned."""
        (own, blots, _), _ = item
        pieces = own.to_bytes(self.track.size, "little")
        lost: float = sum([made for cell, made in self.made if pieces[cell] or blots >> cell & 1])
        way: float = sum(map(mul, pieces, self.track.ways))
        return way - lost

    def one_die_more(self, level: Stage, die: int) -> Stage:
        """All that one more die can come to."""
        track, is_blocked = self.track, self.is_blocked
        step, unit, across = track.step[die], track.unit, track.across
        longer: Stage = {}
        for (own, blots, jumps), way in level.items():
            pieces = own.to_bytes(track.size, "little")
            for cell in compress(track.cells, pieces):
                target = step[cell]
                if not is_blocked[target]:
                    after = (own - unit[cell] + unit[target], blots, jumps)
                    if after not in longer:
                        longer[after] = (way, cell, target, die)
                target = across[cell]
                if jumps and target != OFF and not is_blocked[target]:
                    hits = self.is_single[target] and not pieces[target] and not blots >> target & 1
                    if jumps == NOT_BACK + cell and not hits:
                        continue
                    left = JUMPED if jumps != TWO_JUMPS else ONE_JUMP if hits else NOT_BACK + target
                    after = (own - unit[cell] + unit[target], blots | 1 << target if hits else blots, left)
                    if after not in longer:
                        longer[after] = (way, cell, target, die)
        return longer
