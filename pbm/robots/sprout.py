"""What a robot knows of Sprout-R-Out: what makes a turn good.

If a side has few groups, the enemy has few stones a turn; and on a cell next to two of its groups, the enemy can put no
stone. So in turns that are tried, and in playouts, most stones join own groups or add to them. The turns that are tried
are sorted by the value of the positions after them.

That value is the logarithm of the odds to win. Its weights were fitted to 201 games on limping-5 between robots of 100
playouts, 4,800 positions, as tests/bench/learn_values.py does it. The empty cells next to own groups tell most: without
them the fit was as much worse as it would be without the number of groups. A search that also counts this value as a
result, with weights before these, won 36.5 of 60 games from one that only sorts by it, at 0.1 s a move. One that counts
nothing else, and plays no game out, won 13 of 60 at 0.03 s a move.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import exp
from random import Random
from typing import Any, NamedTuple, cast

from games import SKIP, Options, State, sprout
from games.boards import bits, covered, union
from games.sprout import Layout
from pbm.robots.search import Knowledge, Search, Tuning, advantage

TUNING = Tuning(exploration=0.3)
GREED = 0.8
"""The probability with which a stone joins groups, or at least adds to one, if it can."""
TRIES = 2000
"""How many random turns are tried to find one that wins at once."""
FREE_GREED = 0.5
"""The greed with which they are made: with more, or with none, fewer positions have one that wins among them."""
SPROUT_WORTHS = (
    (0.494, -0.564),  # a stone
    (-1.17, 0.012),  # a group
    (0.263, 0.219),  # an empty cell next to two own groups, or to more
    (0.911, -0.936),  # a group with an eye
    (0.388, -0.235),  # an empty cell next to an own group, or to more
)
SPROUT_TEMPO = 0.334, 0.249
"""What it is worth to be to move on a full board, and how much more on an empty one."""

BlackWhite = tuple[int, int]
"""A set of cells of Black and one of White."""
Groups = dict[int, int]
"""The groups of a side, each with the cells next to it."""
Items = tuple[int, ...]
"""A turn: each stone as a set of one cell, each removed group as the negative of its set; () is a pass."""


class SproutPosition(NamedTuple):
    """A position."""

    stones: BlackWhite
    filled: BlackWhite
    """The eyes of each side with an enemy stone on them."""
    turn: int
    starts: tuple[BlackWhite | None, BlackWhite | None]
    """The stones at the start of each side's last turn."""
    passes: int
    """How many of the turns just played were passes."""
    groups: tuple[Groups, Groups]
    shut: BlackWhite
    """For each side, the empty cells that have only its stones as neighbours; those next to one group are eyes."""


class Sprout(Knowledge[SproutPosition, Items]):
    """A `Knowledge` of Sprout-R-Out on one board."""

    def __init__(self, board: str, *, greed: float = GREED) -> None:
        """Take the name of the board, and how often stones join groups; with 0, all places are chosen at random."""
        self.greed = greed
        self.board = Layout(board)
        self.near = self.board.near_bit
        self.around: dict[int, list[tuple[int, int]]] = {}
        """The neighbours of each cell, each with its own neighbours."""
        for cell, near in self.near.items():
            self.around[cell] = [(neighbour, self.near[neighbour]) for neighbour in bits(near)]
        self.half = len(self.near) // 2

    def root(self, states: Sequence[State]) -> SproutPosition:
        """The last position, with as much of its history as the rules look at."""
        state: Any = states[-1]
        black, white = state.stones
        empty = self.board.all & ~(black | white)
        return SproutPosition(
            state.stones,
            state.filled,
            state.turn,
            state.starts,
            state.passes,
            groups=(self._groups(black), self._groups(white)),
            shut=(empty & self._enclosed(black), empty & self._enclosed(white)),
        )

    def _groups(self, stones: int) -> Groups:
        """The groups of a side's stones."""
        return {group: self.board.ring(group) for group in self.board.groups(stones)}

    def _enclosed(self, stones: int) -> int:
        """The cells, empty or not, that have only stones of one side as neighbours."""
        return union(cell for cell, near in self.near.items() if not near & ~stones)

    def side(self, position: SproutPosition) -> int:
        """The side to move."""
        return position.turn

    def outcome(self, position: SproutPosition) -> float | None:
        """More than half of the cells win, and after two passes the larger territory does."""
        territories = map(self._territory, position.groups, position.shut, position.filled)
        black, white = territories
        if max(black, white) > self.half:
            if black == white:
                return float(position.turn == 1)  # the player who has just moved wins a tie
            return float(black > white)
        if position.passes < 2:
            return None
        if black == white:
            return 0.5
        return float(black > white)

    def turns(self, position: SproutPosition, most: int, rng: Random) -> list[Items]:
        """Turns put together stone by stone, those first that lead to the best positions."""
        side = position.turn
        if position.starts[side] == position.stones:
            return [()]
        sampled = islice(self._samples(position, self.greed, rng), most)
        turns = list({frozenset(turn): turn for turn in sampled}.values())
        if not turns:
            enemy_groups = position.groups[1 - side]
            eyes = position.filled[1 - side] | position.shut[1 - side] & ~covered(enemy_groups.values())[1]
            turns = [(-group,) for group, ring in enemy_groups.items() if not ring & eyes] or [()]
        turns.sort(key=lambda turn: self.value(self.play(position, turn), side), reverse=True)
        return turns[:most]

    def all_turns(self, position: SproutPosition, most: int) -> list[Items] | None:
        """As the game lists them."""
        state = sprout.State(self.board, *position[:5])
        texts = list(islice(state.moves(), most + 1))
        if len(texts) > most:
            return None
        return [self._read(position, text) for text in texts]

    def tries(self, position: SproutPosition, rng: Random) -> Iterator[Items]:
        """Turns at random, more of them than the search samples, if the side to move has enough stones to win."""
        if 2 * position.stones[position.turn].bit_count() > self.half:
            return islice(self._samples(position, FREE_GREED, rng), TRIES)
        return iter(())

    def _read(self, position: SproutPosition, text: str) -> Items:
        """A turn in canonical form."""
        if text == SKIP:
            return ()
        enemy_groups = position.groups[1 - position.turn]
        items = dict(self.board.bit)
        for group in enemy_groups:
            items[f"x{self.board.first(group)}"] = -group
        return tuple(items[item] for item in text.split(","))

    def play(self, position: SproutPosition, turn: Items) -> SproutPosition:
        """The position after a turn."""
        side = position.turn
        order = 1 - 2 * side  # of the sides, the mover first; and back
        own, enemy = position.stones[::order]
        own_filled, enemy_filled = position.filled[::order]
        own_shut, enemy_shut = position.shut[::order]
        own_groups, enemy_groups = map(dict, position.groups[::order])
        for item in turn:
            if item > 0:
                own |= item
                enemy_filled |= item & enemy_shut  # no cell next to two enemy groups, so it is an eye
                enemy_shut &= ~item
                for neighbour, near in self.around[item]:
                    if not near & ~own:
                        own_shut |= neighbour
                _join(own_groups, item, self.near[item])
            else:
                ring = enemy_groups.pop(-item)
                enemy ^= -item
                enemy_shut &= ~ring
                own_filled &= ~-item
                if not ring & ~own and -item in self.near:
                    own_shut |= -item
        own_shut &= ~(own | enemy)
        if side:
            own, enemy, own_filled, enemy_filled = enemy, own, enemy_filled, own_filled
            own_shut, enemy_shut, own_groups, enemy_groups = enemy_shut, own_shut, enemy_groups, own_groups
        starts = [*position.starts]
        starts[side] = position.stones
        passes = position.passes + 1
        if turn:
            passes = 0
        return SproutPosition(
            stones=(own, enemy),
            filled=(own_filled, enemy_filled),
            turn=1 - side,
            starts=(starts[0], starts[1]),
            passes=passes,
            groups=(own_groups, enemy_groups),
            shut=(own_shut, enemy_shut),
        )

    def value(self, position: SproutPosition, side: int) -> float:
        """How good the position is for a side: the logarithm of its odds to win."""
        black, white = position.stones
        empty = self.board.all & ~(black | white)
        part = empty.bit_count() / self.board.all.bit_count()
        tempo = SPROUT_TEMPO[0] + SPROUT_TEMPO[1] * part
        own = self.counts(position, side, empty)
        enemy = self.counts(position, 1 - side, empty)
        lead = advantage(own, enemy, SPROUT_WORTHS, part)
        if position.turn == side:
            return lead + tempo
        return lead - tempo

    def playout(self, position: SproutPosition, rng: Random, turns: list[str] | None = None) -> float:
        """Play the game to its end, and return the result for Black. Turns are made as in `turns`, but not sorted.

        Enemy groups are played to in the order in which they came to be; of equal places, one behind a gap in the
        numbering of the cells is taken more often. The turns that are played are added to *turns*.
        """
        # names of their own, because this loop is nearly all of a robot's time
        random, near, around, every, greed = rng.random, self.near, self.around, self.board.all, self.greed
        side = position.turn
        passes = position.passes
        order = 1 - 2 * side  # of the sides, the mover first
        own, enemy = position.stones[::order]
        own_filled, enemy_filled = position.filled[::order]
        own_shut, enemy_shut = position.shut[::order]
        own_groups, enemy_groups = map(dict, position.groups[::order])
        own_start, enemy_start = (start and start[::order] for start in position.starts[::order])
        while passes < 2:
            beside, joints = covered(own_groups.values())
            outside, crowded = covered(enemy_groups.values())
            free = every & ~(own | enemy | crowded)
            first = free & ~enemy_shut & ~(own_shut & ~joints)
            played = []
            begun = 0
            start = own, enemy
            todo: list[tuple[int, int]] = []
            if start == own_start:
                passes += 1
            elif first:
                passes = 0
                if random() < greed:
                    first = first & ~outside or first
                todo = [(0, first), *enemy_groups.items()]
            else:
                free = 0
                eyes = enemy_filled | enemy_shut & ~crowded
                if mortal := [group for group, ring in enemy_groups.items() if not ring & eyes]:
                    passes = 0
                    group = mortal[int(random() * len(mortal))]
                    todo = [(group, enemy_groups[group])]
                else:
                    passes += 1
            for group, ring in todo:
                places = ring & free
                if ring & begun:
                    continue
                if places:
                    cell = _place(places, joints, beside, greed, random)
                    played.append(cell)
                    begun = begun or cell
                    free ^= cell
                    own |= cell
                    if cell & enemy_shut:
                        enemy_shut ^= cell
                        enemy_filled |= cell
                    its_near = near[cell]
                    joints |= its_near & beside
                    beside |= its_near
                    for neighbour, neighbours_near in around[cell]:
                        if not neighbours_near & ~own:
                            own_shut |= neighbour
                    if its_near & own:
                        _join(own_groups, cell, its_near)
                    else:
                        own_groups[cell] = its_near
                else:
                    played.append(-group)
                    del enemy_groups[group]
                    enemy ^= group
                    enemy_shut &= ~ring
                    own_filled &= ~group
                    if not ring & ~own and group in near:
                        own_shut |= group
                    free = every & ~(own | enemy | covered(enemy_groups.values())[1])
            if turns is not None:
                turns.append(self.text(position, tuple(played)))
            own_shut &= ~(own | enemy)
            if (own | own_shut).bit_count() + own_filled.bit_count() > self.half and self._territory(
                own_groups, own_shut, own_filled
            ) > self.half:
                return float(side == 0)
            own, enemy, own_groups, enemy_groups = enemy, own, enemy_groups, own_groups
            own_shut, enemy_shut, own_filled, enemy_filled = enemy_shut, own_shut, enemy_filled, own_filled
            own_start, enemy_start = enemy_start, start
            side = 1 - side
        lead = self._territory(own_groups, own_shut, own_filled)
        lead -= self._territory(enemy_groups, enemy_shut, enemy_filled)
        if lead == 0:
            return 0.5
        return float((lead > 0) == (side == 0))

    def expected(self, position: SproutPosition) -> float:
        """The chance of Black to win by the value of the position."""
        return 1 / (1 + exp(-self.value(position, 0)))

    def text(self, position: SproutPosition, turn: Items) -> str:
        """The turn in canonical form."""
        first = self.board.first
        return ",".join(first(item) if item > 0 else f"x{first(-item)}" for item in turn) or SKIP

    def _samples(self, position: SproutPosition, greed: float, rng: Random) -> Iterator[Items]:
        """Turns put together at random, without end; none if the side to move can put no first stone."""
        side = position.turn
        black, white = position.stones
        joints = covered(position.groups[side].values())[1]
        free = self.board.all & ~(black | white | covered(position.groups[1 - side].values())[1])
        first = free & ~position.shut[1 - side] & ~(position.shut[side] & ~joints)
        while first:
            yield self._sample(position, first, free, joints, greed, rng)

    def _sample(self, position: SproutPosition, first: int, free: int, joints: int, greed: float, rng: Random) -> Items:
        """A turn: a stone on one of the *first* cells, then one next to each enemy group, or its removal."""
        random = rng.random
        black, white = position.stones
        empty = self.board.all & ~(black | white)
        groups = position.groups[1 - position.turn]
        beside = union(position.groups[position.turn].values())
        turn = []
        begun = 0
        if random() < greed:
            first = first & ~union(groups.values()) or first
        shuffled = rng.sample(list(groups.items()), len(groups))
        for group, ring in [(0, first), *shuffled]:
            places = ring & free
            if ring & begun:
                continue
            if places:
                cell = _place(places, joints, beside, greed, random)
                turn.append(cell)
                begun = begun or cell
                empty ^= cell
                free ^= cell
                joints |= self.near[cell] & beside
                beside |= self.near[cell]
            else:
                turn.append(-group)
                groups = {rest: its for rest, its in groups.items() if rest != group}
                empty |= group
                free = empty & ~covered(groups.values())[1]
        return tuple(turn)

    def counts(self, position: SproutPosition, side: int, empty: int) -> tuple[int, ...]:
        """How many a side has of each thing in SPROUT_WORTHS."""
        groups = position.groups[side]
        beside, shared = covered(groups.values())
        eyes = position.filled[side] | position.shut[side] & ~shared
        immortal = sum(1 for ring in groups.values() if ring & eyes) if eyes else 0
        stones = position.stones[side].bit_count()
        return stones, len(groups), (shared & empty).bit_count(), immortal, (beside & empty).bit_count()

    def _territory(self, groups: Groups, shut: int, filled: int) -> int:
        """How many cells a side's territory has."""
        if not shut | filled:
            return 0
        eyes = filled | shut & ~covered(groups.values())[1]
        return eyes.bit_count() + sum(group.bit_count() for group, ring in groups.items() if ring & eyes)


def _place(places: int, joints: int, beside: int, greed: float, random: Callable[[], float]) -> int:
    """One of the places: with the probability *greed* one that joins own groups, or else adds to one."""
    if random() < greed:
        places = places & joints or places & beside or places
    shift = int(random() * places.bit_length())
    place = places >> shift << shift
    return place & -place


def _join(groups: Groups, cell: int, near: int) -> None:
    """Add a stone to the groups of its side, and join those next to it."""
    whole, ring = cell, near
    for group in [group for group, its in groups.items() if its & cell]:
        whole |= group
        ring |= groups.pop(group)
    groups[whole] = ring & ~whole


def thinker(options: Options) -> Search[SproutPosition, Items]:
    """The robot for a board."""
    return Search(Sprout(cast("str", options["board"])), TUNING)
