"""Spiro on integers: positions, all outcomes of a throw, and games that are played out.

A position is seen by one side. Its cells are numbered along its own path, from its home on, and then along the
enemy's: the board looks the same from both sides when it is turned by half a circle.
"""

from itertools import compress, repeat
from math import inf
from operator import mul
from random import Random
from typing import NamedTuple

from games import spiro
from games.spiro import OFF
from pbm.robots.thinking import Limit

ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""All throws of two dice, each once."""

JUMP = 1.35
"""How many dice a jump costs, of which there are fewer than dice."""
SHARE = 0.3
"""The part of the time that finding the own turns may take."""
ENDLESS = Limit()


class Sight(NamedTuple):
    """A position as one side sees it: how many pieces stand on each cell, a byte for each."""

    own: bytes
    """Its free pieces."""
    foe: bytes
    """Free pieces of the enemy."""
    own_pinned: bytes
    """Its pieces under enemy pieces, at most one on a cell."""
    foe_pinned: bytes
    """Pieces of the enemy under its own."""

    @property
    def turned(self) -> "Sight":
        """What the enemy sees."""
        half = len(self.own) // 2
        own, foe, own_pinned, foe_pinned = (row[half:] + row[:half] for row in self)
        return Sight(foe, own, foe_pinned, own_pinned)

    @property
    def has_won(self) -> bool:
        """Whether this side has no piece left."""
        return not any(self.own) and not any(self.own_pinned)


def seen(state: spiro.State) -> Sight:
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
    return Sight(*map(bytes, rows))


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
    """The uses of dice of which a way consists, in their order: a piece's cell, where it went, and by which die."""
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
            target = board.jump[cell]
            if target is None or target == self.length:
                continue
            if not no_inwards or board.distance(target) >= board.distance(cell):
                self.across[cell] = target
        self.ways = self._ways()
        """How many dice a piece needs from each cell to leave the board, on average; the last one is off."""
        self.unit = [*(1 << 8 * cell for cell in self.cells), 0]
        """A piece on each cell, as a number with a byte for each cell; the last one is off."""

    def outcomes(self, sight: Sight, dice: tuple[int, ...], limit: Limit = ENDLESS) -> Outcomes:
        """All that legal turns lead to; nothing if the turn is skipped. If the time is over, some are left out."""
        turn = _Hand(self, sight)
        is_double = len(dice) == 2 and dice[0] == dice[1]
        start: Stage = {(int.from_bytes(sight.own, "little"), 0, TWO_JUMPS if is_double else ONE_JUMP): ()}
        if is_double:
            levels = [start]
            while len(levels) <= 4 and levels[-1]:
                levels.append(turn.one_die_more(levels[-1], dice[0], limit))
            full = next((level for level in reversed(levels[1:]) if level), {})
        elif len(dice) == 2:
            first, second = turn.one_die_more(start, max(dice)), turn.one_die_more(start, min(dice))
            levels = [first, second]
            full = turn.one_die_more(first, min(dice)) | turn.one_die_more(second, max(dice)) or first or second
        else:
            levels = [start]
            full = turn.one_die_more(start, dice[0])
        legal = {(own, blots): way for (own, blots, _), way in full.items()}
        if not any(sight.own_pinned):
            wins = ((blots, way) for level in levels for (own, blots, _), way in level.items() if not own)
            for blots, way in wins:
                legal.setdefault((0, blots), way)
        return legal

    def promising(self, sight: Sight, dice: tuple[int, ...], limit: Limit) -> Outcomes:
        """What legal turns lead to: all of them, or those that look best, if it takes too long to find the others."""
        is_double = len(dice) == 2 and dice[0] == dice[1]
        if limit.until is None or not is_double or sum(sight.own) <= 4:  # with so few pieces a turn can end the game
            return self.outcomes(sight, dice)
        turn, limit = _Hand(self, sight), limit.part(SHARE)
        level: Stage = {(int.from_bytes(sight.own, "little"), 0, TWO_JUMPS): ()}
        for dice_left in (4, 3, 2, 1):
            best_first = dict(sorted(level.items(), key=turn.loss))
            level = turn.one_die_more(best_first, dice[0], limit.part(1 / dice_left))
            if not level:  # not all dice can be used, which is so only where there are few turns
                return self.outcomes(sight, dice)
        return {(own, blots): way for (own, blots, _), way in level.items()}

    def playout(self, sight: Sight, dice: tuple[int, ...], rng: Random, turns: list[Sight] | None = None) -> bool:
        """Whether the side to move wins if the game is played out, a die at a time.

        Each die, in the order in which they fell, is used so that the own way becomes shorter, or the enemy's longer,
        by most. A turn that leaves dice over becomes any legal one, for it has to use as many pips as it can. *turns*
        is given what each side sees after its turn.
        """
        is_own = True
        while True:
            after = self._by_single_dice(sight, dice, rng)
            if turns is not None:
                turns.append(after)
            if after.has_won:
                return is_own
            sight, is_own, dice = after.turned, not is_own, (rng.randint(1, 6), rng.randint(1, 6))

    def _by_single_dice(self, sight: Sight, dice: tuple[int, ...], rng: Random) -> Sight:
        """What the side to move sees after it has used its dice one by one."""
        turn = _Loose(self, sight)
        is_double = len(dice) == 2 and dice[0] == dice[1]
        jumps = TWO_JUMPS if is_double else ONE_JUMP
        unused = [*dice, *dice] if is_double else [*dice]
        while unused and (any(turn.own) or any(turn.own_pinned)):
            die = next((die for die in unused if turn.can_use(die, jumps)), None)
            if die is None:
                outcomes = [*self.outcomes(sight, dice)]
                return self.after(sight, *rng.choice(outcomes)) if outcomes else sight
            unused.remove(die)
            jumps = turn.use(*max(turn.uses, key=turn.gain), jumps)
        return Sight(bytes(turn.own), bytes(turn.foe), sight.own_pinned, bytes(turn.foe_pinned))

    def after(self, sight: Sight, own: int, blots: int) -> Sight:
        """What the side that moved sees after a turn with this outcome."""
        pieces = own.to_bytes(self.size, "little")
        foe, foe_pinned = bytearray(sight.foe), bytearray(self.size)
        for cell in compress(self.cells, sight.foe_pinned):
            foe[cell] = 1
        while blots:
            foe[blots.bit_length() - 1] = 0
            foe[self.length] += 1
            blots ^= 1 << blots.bit_length() - 1
        for cell in compress(self.cells, foe):
            if pieces[cell]:
                foe[cell], foe_pinned[cell] = 0, 1
        return Sight(pieces, bytes(foe), sight.own_pinned, bytes(foe_pinned))

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

    def __init__(self, track: Track, sight: Sight) -> None:
        self.track = track
        pairs = zip(sight.foe, sight.own_pinned, strict=True)
        self.is_blocked = [*(foe + under > 1 and foe > 0 for foe, under in pairs), False]
        trios = zip(sight.foe, sight.own_pinned, sight.foe_pinned, strict=True)
        self.is_single = [(foe == 1 and not under) or pinned == 1 for foe, under, pinned in trios]
        home = track.ways[0]
        self.made = [
            (cell, home - track.ways[cell - track.length])
            for cell in track.cells
            if sight.foe[cell] == 1 and not sight.own_pinned[cell]
        ]
        """Where single enemies stand, and the way that each has made."""

    def loss(self, item: tuple[tuple[int, int, int], Way]) -> float:
        """How long the own way is after some dice, less what enemies lose who are hit or pinned."""
        (own, blots, _), _ = item
        pieces = own.to_bytes(self.track.size, "little")
        lost: float = sum([made for cell, made in self.made if pieces[cell] or blots >> cell & 1])
        way: float = sum(map(mul, pieces, self.track.ways))
        return way - lost

    def one_die_more(self, level: Stage, die: int, limit: Limit = ENDLESS) -> Stage:
        """All that one more die can come to; if the time is over, what was found by then, if it was anything."""
        track, is_blocked = self.track, self.is_blocked
        step, unit, across = track.step[die], track.unit, track.across
        longer: Stage = {}
        for (own, blots, jumps), way in level.items():
            if longer and limit.is_time_up:
                break
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


class _Loose:
    """A turn being played die by die."""

    def __init__(self, track: Track, sight: Sight) -> None:
        self.track, self.ways = track, track.ways
        self.own, self.foe, _, self.foe_pinned = map(bytearray, sight)
        self.own_pinned = sight.own_pinned
        self.uses: list[tuple[int, int]] = []
        """From where to where a die can bring a piece."""

    def can_use(self, die: int, jumps: int) -> bool:
        """Find out what a die can do."""
        foe, own_pinned = self.foe, self.own_pinned
        step, across = self.track.step[die], self.track.across
        self.uses = uses = []
        for cell in compress(self.track.cells, self.own):
            target = step[cell]
            if target == OFF or not foe[target] or (foe[target] == 1 and not own_pinned[target]):
                uses.append((cell, target))
            target = across[cell]
            if jumps and target != OFF:
                is_single = foe[target] == 1 and not own_pinned[target]
                if is_single or (not foe[target] and jumps != NOT_BACK + cell):
                    uses.append((cell, target))
        return bool(uses)

    def gain(self, use: tuple[int, int]) -> float:
        """By how much the own way becomes shorter, and that of the enemy longer."""
        cell, target = use
        gain = self.ways[cell] - self.ways[target]
        if target != OFF and self.foe[target]:
            gain += self.ways[0] - self.ways[target - self.track.length]
        return gain

    def use(self, cell: int, target: int, jumps: int) -> int:
        """Move a piece, and say what is left of the jumps then."""
        own, foe, foe_pinned = self.own, self.foe, self.foe_pinned
        own[cell] -= 1
        if foe_pinned[cell] and not own[cell]:
            foe_pinned[cell], foe[cell] = 0, 1
        if target == OFF:
            return jumps
        own[target] += 1
        hits, foe[target] = foe[target] > 0, 0
        if target != self.track.across[cell]:  # a step, which never leads to the other path
            foe_pinned[target] |= hits
            return jumps
        foe[self.track.length] += hits
        return JUMPED if jumps != TWO_JUMPS else ONE_JUMP if hits else NOT_BACK + target
