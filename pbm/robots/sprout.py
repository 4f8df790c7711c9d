"""What a robot knows of Sprout-R-Out: positions and turns on integers, their value, and quick games at random.

A turn is worth something for the groups that it leaves: an enemy with few groups to play to has few stones a turn.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from games import SKIP
from games.boards import bits, union
from games.sprout import Layout, State, layout

_Pair = tuple[int, int]
"""A set of cells of each side."""
_Rings = dict[int, int]
"""The groups of a side, each with the cells next to it."""
_Turn = tuple[int, ...]
"""What is done in a turn: cells of stones, as sets of one, and below zero groups that are removed; () is a pass."""


class _Position(NamedTuple):
    """What `games.sprout.State` has, and what would be found again and again."""

    stones: _Pair
    filled: _Pair
    """The eyes of each side with an enemy stone on them."""
    turn: int
    starts: tuple[_Pair | None, _Pair | None]
    """The stones at the start of each side's last turn."""
    passes: int
    rings: tuple[_Rings, _Rings]
    shut: _Pair
    """The empty cells that are next to stones of that side only. If they are next to one group, they are eyes."""


class Sprout:
    """The knowledge of one of the boards."""

    def __init__(self, board: str) -> None:
        self.board: Layout = layout(board)
        self.near = self.board.near_bit
        self.around = {cell: [(one, self.near[one]) for one in bits(near)] for cell, near in self.near.items()}
        """The neighbours of each cell, each with its own neighbours."""
        self.half = len(self.near) // 2

    def root(self, states: Sequence[State]) -> _Position:
        """The last position, which has all of its history that counts."""
        state = states[-1]
        rings = [{group: self.board.ring(group) for group in self.board.groups(own)} for own in state.stones]
        empty = self.board.all & ~state.stones[0] & ~state.stones[1]
        shut = [empty & union(cell for cell, near in self.near.items() if not near & ~own) for own in state.stones]
        return _Position(
            state.stones, state.filled, state.turn, state.starts, state.passes, (rings[0], rings[1]), (shut[0], shut[1])
        )

    def playout(self, position: _Position, rng: Random, turns: list[str] | None = None) -> float:
        """The result for Black of a game at random.

        Any place can be chosen for a stone; one behind a gap in the numbering of the cells is chosen more often. Enemy
        groups are played to in the order in which they came to be. *turns* gets the turns that were played.
        """
        random, near, around, every = rng.random, self.near, self.around, self.board.all
        side, passes = position.turn, position.passes
        own, enemy = position.stones[side], position.stones[1 - side]
        own_rings, enemy_rings = dict(position.rings[side]), dict(position.rings[1 - side])
        own_shut, enemy_shut = position.shut[side], position.shut[1 - side]
        own_filled, enemy_filled = position.filled[side], position.filled[1 - side]
        own_start, enemy_start = (start and start[:: 1 - 2 * side] for start in position.starts[:: 1 - 2 * side])
        while passes < 2:
            crowded = _crowded(enemy_rings)
            free = every & ~(own | enemy | crowded)
            first = free & ~enemy_shut & ~(own_shut and own_shut & ~_crowded(own_rings))
            played, begun, start = [], 0, (own, enemy)
            if start == own_start and not passes:
                passes = 1
            elif first:
                passes = 0
                for group, ring in [(0, first), *enemy_rings.items()]:
                    places = ring & free
                    if ring & begun:
                        continue
                    if places:
                        shift = int(random() * places.bit_length())
                        cell = places >> shift << shift
                        cell &= -cell
                        played.append(cell)
                        begun = begun or cell
                        free ^= cell
                        own |= cell
                        if cell & enemy_shut:  # it is no crowded cell, so it is an eye
                            enemy_shut ^= cell
                            enemy_filled |= cell
                        for one, its_near in around[cell]:
                            if not its_near & ~own:
                                own_shut |= one
                        if near[cell] & own:
                            _join(own_rings, cell, near[cell])
                        else:
                            own_rings[cell] = near[cell]
                    else:
                        played.append(-group)
                        enemy ^= group
                        enemy_shut &= ~ring
                        own_filled &= ~group
                        if not ring & ~own and group in near:
                            own_shut |= group
                        del enemy_rings[group]
                        free = every & ~(own | enemy | _crowded(enemy_rings))
            else:
                passes += 1
                eyes = enemy_filled | enemy_shut & ~crowded
                if mortal := [group for group, ring in enemy_rings.items() if not ring & eyes]:
                    group = mortal[int(random() * len(mortal))]
                    played.append(-group)
                    enemy ^= group
                    enemy_shut &= ~enemy_rings[group]
                    own_filled &= ~group
                    if not enemy_rings[group] & ~own and group in near:
                        own_shut |= group
                    del enemy_rings[group]
            if turns is not None:
                turns.append(self.text(position, tuple(played)))
            own_shut &= ~(own | enemy)
            if (own | own_shut).bit_count() + own_filled.bit_count() > self.half and self._territory(
                own_rings, own_shut, own_filled
            ) > self.half:
                return float(side == 0)
            own, enemy, own_rings, enemy_rings = enemy, own, enemy_rings, own_rings
            own_shut, enemy_shut, own_filled, enemy_filled = enemy_shut, own_shut, enemy_filled, own_filled
            own_start, enemy_start, side = enemy_start, start, 1 - side
        lead = self._territory(own_rings, own_shut, own_filled) - self._territory(enemy_rings, enemy_shut, enemy_filled)
        return 0.5 if not lead else float((lead > 0) == (side == 0))

    def text(self, position: _Position, turn: _Turn) -> str:
        """The turn in canonical form."""
        first = self.board.first
        return ",".join(first(item) if item > 0 else f"x{first(-item)}" for item in turn) or SKIP

    def _territory(self, rings: _Rings, shut: int, filled: int) -> int:
        """How many cells a side's territory has."""
        eyes = filled | shut & ~_crowded(rings)
        return eyes.bit_count() + sum(group.bit_count() for group, ring in rings.items() if ring & eyes)


def _crowded(rings: _Rings) -> int:
    """The cells next to two or more of the groups."""
    once = twice = 0
    for ring in rings.values():
        twice |= once & ring
        once |= ring
    return twice


def _join(rings: _Rings, cell: int, near: int) -> None:
    """Add a stone to the groups of its side."""
    group, ring = cell, near
    for other in [other for other, its in rings.items() if its & cell]:
        group |= other
        ring |= rings.pop(other)
    rings[group] = ring & ~group
