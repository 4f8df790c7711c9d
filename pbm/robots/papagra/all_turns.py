"""All turns of a position of Papagra, and what they do to groups, regions and marks."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from games.boards import Hexagon, bits
from games.papagra import shape
from pbm.robots.thinking import Limit

Marks = tuple[int, int]
"""For the mover and for the other side: a mark, or a set of spaces."""
Actions = tuple[int, int, int]
"""The spaces of the first, the second and the third action, as sets; 0 for none. Own stones on them are removed."""
Parts = list[int]
"""Connected sets of spaces that do not touch: the groups of a side, or the regions."""
_NONE: frozenset[int] = frozenset()
SHAPES_KEPT = 100_000
"""How many sets of spaces are remembered with their shapes, which saves half of the time."""


class Grid:
    """A board, with tables of what is often asked of it."""

    def __init__(self, size: int) -> None:
        """Find the neighbours of each space."""
        self.hexagon = Hexagon(size)
        self.all, self.spaces = self.hexagon.all, self.hexagon.all.bit_count()
        up = self.hexagon.width
        rows = {number: (number & ~(number << 1 | number >> 5)).bit_count() <= 1 for number in range(64)}
        """For each set of the sixths of a circle, one bit a sixth, whether they are in a row."""
        self.near: dict[int, int] = {}
        """For each space, its neighbours."""
        self.is_whole: dict[int, dict[int, bool]] = {}
        """For each space and each set of its neighbours, whether these are in a row and so connected without it."""
        for space in bits(self.all):
            circle = [
                (space << step if step > 0 else space >> -step) & self.all for step in (1, up + 1, up, -1, -up - 1, -up)
            ]
            self.near[space] = sum(circle)
            there = sum(1 << index for index, one in enumerate(circle) if one)
            self.is_whole[space] = {
                sum(one for index, one in enumerate(circle) if row >> index & 1): is_one
                for row, is_one in rows.items()
                if not row & ~there
            }
        self.shape = lru_cache(SHAPES_KEPT)(partial(shape, self.hexagon))
        """A number that is the same for all sets of one shape, as of `games.papagra.shape`."""

    def split(self, part: int, space: int) -> Parts:
        """The connected parts of a connected set after one of its spaces is taken away."""
        left, ends = part ^ space, self.near[space] & part
        if self.is_whole[space][ends]:
            return [left] if left else []
        parts: Parts = []
        up, across = self.hexagon.width, self.hexagon.width + 1
        while True:
            found = front = ends & -ends
            while front:
                if not ends & ~found:  # all that is left is connected
                    return [*parts, left]
                front |= front << 1 | front >> 1 | front << up | front >> up | front << across | front >> across
                front &= left & ~found
                found |= front
            parts.append(found)
            left ^= found
            ends &= ~found

    def taken(self, parts: Parts, space: int) -> Parts:
        """The parts after a space is taken from one of them."""
        kept = []
        for part in parts:
            if part & space:
                kept += self.split(part, space)
            else:
                kept.append(part)
        return kept

    def given(self, parts: Parts, space: int) -> Parts:
        """The parts after a space is added, which joins those next to it."""
        near, whole, kept = self.near[space], space, []
        for part in parts:
            if part & near:
                whole |= part
            else:
                kept.append(part)
        kept.append(whole)
        return kept

    def matched(self, groups: Parts, regions: Parts, least: int) -> frozenset[int]:
        """The groups of size *least* or more that have the shape of a region."""
        found: Parts = []
        for region in regions:
            size = region.bit_count()
            if size >= least and (alike := [group for group in groups if group.bit_count() == size]):
                its = self.shape(region)
                found += [group for group in alike if self.shape(group) == its]
        return frozenset(found) if found else _NONE


class PapagraPosition(NamedTuple):
    """A position as the player to move sees it."""

    own: int
    enemy: int
    own_mark: int
    enemy_mark: int
    is_first: bool = False
    """Whether the turn is one added stone."""


Reached = tuple[Actions, int, Marks]
"""A turn, the mover's stones after it, and their mark and the other one."""


class TimeIsUpError(Exception):
    """The limit was reached before all turns were found."""


class Half:
    """A turn after its first action."""

    def __init__(self, scan: "Scan", space: int, least: int, enemy_sizes: set[int]) -> None:
        """Act on a space. *least* is the size of the smallest group that matters if it gets matched."""
        self.grid, self.space, self.own, self.least = scan.grid, space, scan.own ^ space, least
        self.groups, self.regions = scan.acted(scan.groups, scan.regions, space)
        self.sized = [(group, group.bit_count()) for group in self.groups]
        self.rooms = [(region, region.bit_count()) for region in self.regions]
        self.sizes = {size for _, size in self.sized if size >= least} | enemy_sizes
        self.smallest = min(self.sizes, default=self.grid.spaces)
        self.largest = 1 + sum(sorted(size for _, size in self.sized)[-3:])
        """No stone joins more than three groups."""
        self.reachable = {room - used for _, room in self.rooms for used in (0, 1)}

    def may_match(self, space: int) -> bool:
        """Whether a stone on that space can match a group of size `least` or more, by the sizes of parts alone."""
        around, size = self.grid.near[space], 1
        if around & self.own:
            for group, its in self.sized:
                if group & around:
                    size += its
        if size >= self.least and size in self.reachable:
            return True
        if not self.sizes and size < self.least:
            return False
        region, room = next(pair for pair in self.rooms if pair[0] & space)
        if self.grid.is_whole[space][around & region]:
            return room - 1 in self.sizes
        return room > self.smallest or room > size >= self.least


class Scan:
    """All turns in a position."""

    def __init__(self, grid: Grid, position: PapagraPosition, order: Sequence[int], limit: Limit) -> None:
        """Find the groups. Spaces are tried in that *order*, as long as there is time."""
        self.grid, self.order, self.limit = grid, order, limit
        self.own, self.enemy, *marks, self.is_first = position
        self.marks: Marks = marks[0], marks[1]
        self.least = min(marks) + 1
        """The size of the smallest group to which a mark can go."""
        groups = grid.hexagon.groups
        self.enemy_groups = [group for group in groups(self.enemy) if group.bit_count() >= self.least]
        self.groups, self.regions = [*groups(self.own)], [*groups(grid.all & ~self.own & ~self.enemy)]
        self.matched = self._matched(self.groups, self.regions)
        self.spaces = [space for space in order if not space & self.enemy]

    def turns(self) -> Iterator[Reached]:
        """The turns of one or two actions, but not all of those that lead to the same position."""
        if not self.spaces:
            yield (0, 0, 0), self.own, self.marks
        enemy_sizes = {group.bit_count() for group in self.enemy_groups}
        halves: list[tuple[Half, frozenset[int], Marks]] = []
        for a in self.spaces:
            if halves:
                self._go_on()
            half = Half(self, a, self.least, enemy_sizes)
            matched = self._matched(half.groups, half.regions)
            marks = self._moved(self.marks, matched - self.matched)
            halves.append((half, matched, marks))
            if self.is_first:
                yield (a, 0, 0), half.own, marks
            else:
                yield (a, a, 0), self.own, self._moved(marks, self.matched - matched)
        for number, (half, matched_a, marks_a) in enumerate([] if self.is_first else halves):
            self._go_on()
            a = half.space
            for other, matched_b, marks_b in halves[number + 1 :]:
                b = other.space
                if matched_a or self.own & b or half.may_match(b):
                    matched = self._matched(*self.acted(half.groups, half.regions, b))
                else:
                    matched = _NONE
                marks = self._moved(marks_a, matched - matched_a) if matched else marks_a
                yield (a, b, 0), half.own ^ b, marks
                reverse = self._moved(marks_b, matched - matched_b) if matched else marks_b
                if reverse != marks:
                    yield (b, a, 0), half.own ^ b, reverse

    def raising(self, least: int) -> Iterator[Reached]:
        """Turns of two actions after which an own group of size *least* or more is matched.

        Each is given in one order of its actions. Some whose second action matches nothing itself are left out.
        """
        for number, a in enumerate(self.spaces):
            self._go_on()
            half = Half(self, a, least, set())
            matched_a, marks = None, self.marks
            is_roomy = any(room >= least for _, room in half.rooms) and (half.sizes or half.largest >= least)
            for b in self.spaces[number + 1 :]:
                if not (half.sizes if self.own & b else is_roomy and half.may_match(b)):
                    continue
                groups, regions = self.acted(half.groups, half.regions, b)
                if not self.grid.matched(groups, regions, least):
                    continue
                if matched_a is None:
                    matched_a = self._matched(half.groups, half.regions)
                    marks = self._moved(marks, matched_a - self.matched)
                yield (a, b, 0), half.own ^ b, self._moved(marks, self._matched(groups, regions) - matched_a)

    def threats(self) -> Iterator[int]:
        """For each turn with which the enemy would take the lead, some spaces: the mover has to occupy one of them."""
        groups, least = self.grid.hexagon.groups, max(self.marks) + 1
        enemy = Scan(self.grid, PapagraPosition(self.enemy, self.own, *self.marks[::-1]), self.order, self.limit)
        for _, stones, _ in enemy.raising(least):
            regions = self.grid.matched([*groups(self.grid.all & ~self.own & ~stones)], [*groups(stones)], least)
            yield sum(regions) | stones & ~self.enemy

    def thinned(self, found: Reached, most: int) -> Iterator[Reached]:
        """The turn with each third action: one stone is removed, or a whole group of at most *most* stones."""
        (a, b, _), own, marks = found
        matched = self._matched_with(own)
        whole = [group for group in self.grid.hexagon.groups(own) if 1 < group.bit_count() <= most]
        for removed in (*bits(own), *whole):
            self._go_on()
            yield (a, b, removed), own ^ removed, self._moved(marks, self._matched_with(own ^ removed) - matched)

    def acted(self, groups: Parts, regions: Parts, space: int) -> tuple[Parts, Parts]:
        """The mover's groups and the regions after an action on a space on which this turn has not acted yet."""
        if self.own & space:
            return self.grid.taken(groups, space), self.grid.given(regions, space)
        return self.grid.given(groups, space), self.grid.taken(regions, space)

    def _go_on(self) -> None:
        if self.limit.is_time_up:
            raise TimeIsUpError

    def _matched(self, groups: Parts, regions: Parts) -> frozenset[int]:
        return self.grid.matched(groups + self.enemy_groups, regions, self.least)

    def _matched_with(self, own: int) -> frozenset[int]:
        groups = self.grid.hexagon.groups
        return self._matched([*groups(own)], [*groups(self.grid.all & ~own & ~self.enemy)])

    def _moved(self, marks: Marks, created: frozenset[int]) -> Marks:
        """The marks after an action that created these groups: the mover's is moved first."""
        if not created:
            return marks
        own = {group.bit_count() for group in created if not group & self.enemy}
        enemy = {group.bit_count() for group in created if group & self.enemy}
        mark = max({marks[0]} | own - {marks[1]})
        return mark, max({marks[1]} | enemy - own - {mark})
