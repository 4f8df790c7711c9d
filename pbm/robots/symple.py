"""What a robot knows of Symple: when to found, and where to grow.

Games are played out by one policy, which also says what a search looks at first. It was found on size 19 with penalty
8, by changes that won at least 53 % of 700 games against the policy without them, or made it simpler at no loss:

- Found a group while there is room for it: while v / (k + k' + 1) * U > 0.875 P + 1.25 k, where v points are vacant, k
  and k' are the numbers of own and enemy groups with liberties, P is the penalty and U is random between 0.6 and 1.4.
  The stone goes as far from all stones as possible, and to the edge only if it must.
- Else grow. The groups come one after the other in a random order, and each takes one of its best points: first those
  next to the enemy from where it can go on into the open, then those that bring many new liberties, more so next to
  the enemy or one step before. Own groups are not joined before v < 1.37 P (k + k' + 1); after that, joining is neither
  sought nor avoided.
- Black does both in one turn as soon as the room for another group is almost gone.

Each turn of a game that is played out is legal.

Turns that are tried are sorted by the value of what they lead to, the logarithm of the odds to win. Its weights were
fitted to 1,010 games of the policy against itself on sizes 7 to 19 with penalties 4 to 12, and to 206 games of a search
with few playouts on sizes 9, 13 and 19, which count three times as much, as tests/bench/learn_values.py does it.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from math import exp
from random import Random
from typing import Any, NamedTuple, cast

from games import Options, State, symple
from games.boards import Square, bits, covered, union
from pbm.robots.search import Knowledge, Search, Tuning, advantage

BLACK = 1
SPREAD = 0.4
"""How far a playout may misjudge the room for another group, either way."""
SPARE = 4
"""How much of that room is left when Black grows and founds in one turn."""
STRAY = 0.3
"""How often a stone goes to any possible point, in the turns that a search tries."""
GROW, FOUND, GROW_AND_FOUND = (True, False), (False, True), (True, True)
"""The kinds of turns: whether they grow groups, and whether they found one. Only Black has the third, once."""
SYMPLE_WORTHS = (
    (0.257, -0.381),  # a point of the score as it stands
    (-0.064, 0.434),  # a group
    (0.725, -0.662),  # a vacant point next to an own group, or to more
    (0.631, -0.86),  # a vacant point next to two own groups, or to more
)
SYMPLE_TEMPO = 0.062, 0.659
"""What it is worth to be to move on a full board, and how much more on an empty one. All worths are those of size 9; on
another size they are multiplied by 9 / size."""

Rings = Sequence[int]
"""For each group of one side, the vacant points next to it, and perhaps occupied points."""
Sets = Sequence[int]
"""Sets of points, the best one first."""


class SymplePosition(NamedTuple):
    """A position."""

    own: int
    """The stones of the player to move."""
    enemy: int
    own_rings: Rings
    enemy_rings: Rings
    turn: int

    @property
    def may_balance(self) -> bool:
        """Whether Black is to move and nobody has grown: each group is a single stone."""
        groups = len(self.own_rings) + len(self.enemy_rings)
        return self.turn == BLACK and groups == (self.own | self.enemy).bit_count()


class Symple(Knowledge[SymplePosition, int]):
    """A `Knowledge` of Symple on one board. A turn is the set of its stones."""

    def __init__(self, size: int, penalty: int) -> None:
        """Take the size of the board, and the penalty for a group."""
        self.board = Square(size)
        self.penalty = penalty
        self.ring = {point: self.board.ring(point) for point in bits(self.board.all)}
        """The points next to each point."""
        self.inner = union(point for point, ring in self.ring.items() if ring.bit_count() == 4)
        """The points that are not at the edge."""

    def root(self, states: Sequence[State]) -> SymplePosition:
        """The last position."""
        state: Any = states[-1]
        own = state.stones[state.turn]
        enemy = state.stones[1 - state.turn]
        return SymplePosition(own, enemy, self._rings(own), self._rings(enemy), state.turn)

    def _rings(self, stones: int) -> list[int]:
        """For each group of a side's stones, the points next to it."""
        return [self.board.ring(group) for group in self.board.groups(stones)]

    def side(self, position: SymplePosition) -> int:
        """The player to move."""
        return position.turn

    def outcome(self, position: SymplePosition) -> float | None:
        """Who has won, once the board is full."""
        own, enemy, own_rings, enemy_rings, turn = position
        if own | enemy != self.board.all:
            return None
        return self._worth(own, enemy, len(own_rings) - len(enemy_rings), turn)

    def turns(self, position: SymplePosition, most: int, rng: Random) -> list[int]:
        """Turns of each kind that is legal, but twice as many of the kind that the policy would choose."""
        own, enemy, own_rings, enemy_rings, _ = position
        vacant = self.board.all & ~(own | enemy)
        near = self.board.near(own)
        rings = [ring for ring in own_rings if ring & vacant]
        rivals = sum(1 for ring in enemy_rings if ring & vacant)
        plan = self._plan(vacant, len(rings), rivals, 1, may_balance=position.may_balance)
        layers, shared = self._layers(vacant, near, rings, enemy, rivals)
        ranks: dict[int, int] = {}
        kinds = []
        if rings:
            kinds.append(GROW)
        if vacant & ~near:
            kinds.append(FOUND)
            if rings and position.may_balance:
                kinds.append(GROW_AND_FOUND)
        for kind in kinds:
            grows, founds = kind
            for number in range(most):
                stray = STRAY if number else 0  # the first turn of a kind is that of the policy
                new = 0
                if grows:
                    new, _ = self._growth(rings, vacant, layers, shared, stray, rng.random)
                if founds:
                    new |= self._founding(vacant & ~new, own | new, enemy, stray, rng.random)
                rank = number if kind == plan else 2 * number + 1
                ranks.setdefault(new, rank)
        chosen = sorted(ranks, key=ranks.__getitem__)[:most]
        return sorted(chosen, key=lambda turn: self.value(self.play(position, turn)))

    def all_turns(self, position: SymplePosition, most: int) -> list[int] | None:
        """As the game lists them."""
        side = position.turn
        stones = position.own, position.enemy
        if side == BLACK:
            stones = position.enemy, position.own
        state = symple.State(self.board, self.penalty, stones, side)
        texts = list(islice(state.moves(), most + 1))
        if len(texts) > most:
            return None
        return [state.play(text).stones[side] ^ position.own for text in texts]

    def play(self, position: SymplePosition, turn: int) -> SymplePosition:
        """The position after a turn."""
        own, enemy, own_rings, enemy_rings, side = position
        return SymplePosition(enemy, own | turn, enemy_rings, self._joined(own_rings, turn), 1 - side)

    def playout(self, position: SymplePosition, rng: Random, turns: list[int] | None = None) -> float:
        """Play the game to its end by the policy, and return who has won. The turns are added to *turns*."""
        own, enemy, own_rings, enemy_rings, side = position
        random = rng.random
        is_young = position._replace(turn=BLACK).may_balance
        vacant = self.board.all & ~(own | enemy)
        surplus = 0  # how many more groups without liberties, which are left out of the rings, the mover has
        while vacant:
            near = self.board.near(own)
            rings = [ring for ring in own_rings if ring & vacant]
            surplus += len(own_rings) - len(rings)
            grows = vacant & near != 0
            founds = vacant & ~near != 0
            if grows and founds:
                luck = 1 - SPREAD + 2 * SPREAD * random()
                may_balance = is_young and side == BLACK
                grows, founds = self._plan(vacant, len(rings), len(enemy_rings), luck, may_balance=may_balance)
            new = 0
            if grows:
                layers, shared = self._layers(vacant, near, rings, enemy, len(enemy_rings))
                new, rings = self._growth(rings, vacant, layers, shared, 0, random)
                is_young = False
            if founds and (point := self._founding(vacant & ~new, own | new, enemy, 0, random)):
                new |= point
                rings.append(self.ring[point])
            if turns is not None:
                turns.append(new)
            vacant ^= new
            own, enemy = enemy, own | new
            own_rings, enemy_rings = enemy_rings, rings
            side = 1 - side
            surplus = -surplus
        return self._worth(own, enemy, surplus + len(own_rings) - len(enemy_rings), side)

    def expected(self, position: SymplePosition) -> float:
        """The chance of side 0 to win by the value of the position."""
        value = self.value(position)
        if position.turn == BLACK:
            value = -value
        return 1 / (1 + exp(-value))

    def value(self, position: SymplePosition) -> float:
        """How good the position is for the player to move: the logarithm of their odds to win."""
        own, enemy, own_rings, enemy_rings, _ = position
        vacant = self.board.all & ~(own | enemy)
        part = vacant.bit_count() / self.board.all.bit_count()
        own_counts = self.counts(own, own_rings, vacant)
        enemy_counts = self.counts(enemy, enemy_rings, vacant)
        lead = advantage(own_counts, enemy_counts, SYMPLE_WORTHS, part)
        return (lead + SYMPLE_TEMPO[0] + SYMPLE_TEMPO[1] * part) * 9 / self.board.size

    def text(self, position: SymplePosition, turn: int) -> str:
        """The points by column and row, and last the one that founds a group."""
        growth = turn & self.board.near(position.own)
        names = sorted(self.board.names(growth), key=lambda name: name[0])
        names += self.board.names(turn & ~growth)
        return ",".join(names)

    def _worth(self, own: int, enemy: int, surplus: int, turn: int) -> float:
        """What a full board is worth for side 0, where the player to move has *surplus* groups more."""
        is_won = own.bit_count() - enemy.bit_count() > self.penalty * surplus
        return float(is_won != turn)

    def counts(self, stones: int, rings: Rings, vacant: int) -> tuple[int, ...]:
        """How many a side has of each thing in SYMPLE_WORTHS."""
        beside, shared = covered(rings)
        score = stones.bit_count() - self.penalty * len(rings)
        return score, len(rings), (beside & vacant).bit_count(), (shared & vacant).bit_count()

    def _plan(self, vacant: int, groups: int, rivals: int, luck: float, *, may_balance: bool) -> tuple[bool, bool]:
        """Whether to grow, and whether to found."""
        room = vacant.bit_count() / (groups + rivals + 1) * luck - 0.875 * self.penalty - 1.25 * groups
        spare = SPARE if may_balance else 0
        if room > spare:
            return FOUND
        return GROW_AND_FOUND if may_balance else GROW

    def _founding(self, vacant: int, own: int, enemy: int, stray: float, random: Callable[[], float]) -> int:
        """A point that founds a group; 0 if there is none."""
        points = vacant & ~self.board.near(own)
        taken = own | enemy
        if points and random() >= stray:
            points = points & self.inner or points
            while taken and (farther := points & ~taken) and random() >= stray:
                points = farther
                taken |= self.board.near(taken) & self.board.all
        return _any_of(points, random)

    def _layers(self, vacant: int, near: int, rings: Rings, enemy: int, rivals: int) -> tuple[Sets, int]:
        """The sets of points that are good to grow, the best one first, and the points next to several own groups."""
        _, shared = covered(rings)
        fresh = vacant & ~near
        contested = self.board.near(enemy)
        width = self.board.width
        # for each point, how many of its four neighbours are fresh, added up for all points at once
        east, west, north, south = fresh << 1, fresh >> 1, fresh << width, fresh >> width
        in_row, both_in_row = east | west, east & west
        in_column, both_in_column = north | south, north & south
        at_least_1 = in_row | in_column
        at_least_2 = both_in_row | both_in_column | in_row & in_column
        at_least_3 = both_in_row & in_column | in_row & both_in_column
        opening = contested & self.board.near(fresh & ~contested)
        beside = self.board.near(contested & vacant) & at_least_1
        layers = [opening, contested & at_least_2, at_least_3, contested & at_least_1]
        layers += [beside, at_least_2, contested, at_least_1]
        if vacant.bit_count() >= 1.37 * self.penalty * (len(rings) + rivals + 1):
            layers = [layer & ~shared for layer in layers]
            layers.append(~shared)
        return layers, shared

    def _growth(
        self, rings: Rings, vacant: int, layers: Sets, shared: int, stray: float, random: Callable[[], float]
    ) -> tuple[int, list[int]]:
        """A growth of these groups, and their rings after it."""
        free = vacant
        new = 0
        after = []
        are_joined = False
        first = int(random() * len(rings))
        for ring in [*rings[first:], *rings[:first]]:
            points = ring & free
            if not points:
                after.append(ring)
                continue
            if not stray or random() >= stray:
                for layer in layers:
                    if points & layer:
                        points &= layer
                        break
            point = _any_of(points, random)
            new |= point
            if point & shared:
                are_joined = True
                for rival in rings:
                    if rival & point:
                        free &= ~rival
            else:
                free &= ~ring
                after.append(ring | self.ring[point])
        if are_joined or new & self.board.near(new):
            after = self._joined(rings, new)
        return new, after

    def _joined(self, rings: Rings, new: int) -> list[int]:
        """The rings of these groups after new stones, which join groups and found others."""
        joined = list(rings)
        for point in bits(new):
            ring = self.ring[point]
            apart = []
            for ring_before in joined:
                if ring_before & point:
                    ring |= ring_before
                else:
                    apart.append(ring_before)
            joined = [*apart, ring]
        return joined


def _any_of(points: int, random: Callable[[], float]) -> int:
    """One of these points; those above gaps come more often. 0 if there are none."""
    part = int(random() * points.bit_length())
    higher = points >> part
    return (higher & -higher) << part


def thinker(options: Options) -> Search[SymplePosition, int]:
    """The robot for a board. It tries few turns and each of them often, because the policy finds good ones."""
    return Search(Symple(cast("int", options["size"]), cast("int", options["penalty"])), Tuning(growth=0.25))
