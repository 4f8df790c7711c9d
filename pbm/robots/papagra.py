"""How a robot plays Papagra: it looks at all of its turns, at the answers to the best of them, and so on.

Games at random tell little here, but what an action does to the marks can be counted. So this is an alpha-beta search
(Knuth and Moore 1975), one turn deeper each time while there is time for it: all turns of the position, then those
that leave the best value, to each the best answers, and at the end whatever raises a mark.

A position is worth something for the side that leads: the more, the fewer spaces are free of its stones beyond those
that the other side needs to overtake it. The curve was fitted to the results of 140 games, 4,231 positions; sizes of
groups and regions and the numbers of stones added nothing to it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import exp
from random import Random
from typing import Any, NamedTuple, cast

from games import SKIP, Options, State
from games.boards import Hexagon, bits
from games.papagra import shape
from pbm.robots.thinking import Level, Limit, Thought

LEVELS = (Level(1, 0.5), Level(1), Level(4), Level(12), Level(300))
DEEPEST = 3
"""How many turns ahead it looks at most. To look at fewer answers, but deeper, was worse."""
MOST_TRIED = 40
"""How many turns of the position are looked at more than one turn deep."""
MOST_ANSWERS = 24
"""How many turns of a later position are looked at."""
THINNED = 8
"""To how many of the best turns of a position a third action is tried."""

Marks = tuple[int, int]
"""The mark of the mover and the other one, or a set of spaces of each."""
Actions = tuple[int, int, int]
"""The spaces of the first, the second and the third action, as sets; 0 for none. Own stones on them are removed."""
Parts = list[int]
"""Connected sets of spaces that do not touch: the groups of a side, or the regions."""
_NONE: frozenset[int] = frozenset()


class Grid:
    """A board, with what is asked of it again and again."""

    SHAPES = 100_000
    """How many shapes are remembered."""

    def __init__(self, size: int) -> None:
        """Find the neighbours of each space."""
        self.hexagon = Hexagon(size)
        self.all, self.spaces = self.hexagon.all, self.hexagon.all.bit_count()
        up = self.hexagon.width
        rows = {number: (number & ~(number << 1 | number >> 5)).bit_count() <= 1 for number in range(64)}
        """Sixths of a circle, and whether they are in a row."""
        self.near: dict[int, int] = {}
        self.is_whole: dict[int, dict[int, bool]] = {}
        """For each space and each set of its neighbours, whether they are a row, which holds together without it."""
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
        self.shapes: dict[int, int] = {}

    def shape(self, part: int) -> int:
        """The same number for all sets of that shape."""
        found = self.shapes.get(part)
        if found is None:
            if len(self.shapes) >= self.SHAPES:
                self.shapes.clear()
            found = self.shapes[part] = shape(self.hexagon, part)
        return found

    def split(self, part: int, space: int) -> Parts:
        """What a connected set falls into when one of its spaces is taken away."""
        left, ends = part ^ space, self.near[space] & part
        if self.is_whole[space][ends]:
            return [left] if left else []
        parts: Parts = []
        up, across = self.hexagon.width, self.hexagon.width + 1
        while True:
            found = front = ends & -ends
            while front:
                if not ends & ~found:  # what is left holds together
                    return [*parts, left]
                front |= front << 1 | front >> 1 | front << up | front >> up | front << across | front >> across
                front &= left & ~found
                found |= front
            parts.append(found)
            left ^= found
            ends &= ~found

    def taken(self, parts: Parts, space: int) -> Parts:
        """The parts after a space was taken from one of them."""
        kept = []
        for part in parts:
            if part & space:
                kept += self.split(part, space)
            else:
                kept.append(part)
        return kept

    def given(self, parts: Parts, space: int) -> Parts:
        """The parts after a space was given to them."""
        near, whole, kept = self.near[space], space, []
        for part in parts:
            if part & near:
                whole |= part
            else:
                kept.append(part)
        kept.append(whole)
        return kept

    def matched(self, groups: Parts, regions: Parts, least: int) -> frozenset[int]:
        """The groups of at least that size that have the shape of a region."""
        found: Parts = []
        for region in regions:
            size = region.bit_count()
            if size >= least and (alike := [group for group in groups if group.bit_count() == size]):
                its = self.shape(region)
                found += [group for group in alike if self.shape(group) == its]
        return frozenset(found) if found else _NONE


class Stand(NamedTuple):
    """A position as the player sees it whose turn it is."""

    own: int
    enemy: int
    own_mark: int
    enemy_mark: int
    is_first: bool = False
    """Whether the turn is one added stone."""


class Choice(NamedTuple):
    """A turn."""

    value: float
    """What the position after it is worth for the mover."""
    turn: Actions
    after: Stand
    """That position, as the other player sees it."""


Reached = tuple[Actions, int, Marks]
"""A turn, the mover's stones after it, and his mark and the other one."""


class _OverError(Exception):
    """Time is up."""


class Half:
    """A turn whose first action is done."""

    def __init__(self, scan: "Scan", space: int, least: int, enemy_sizes: set[int]) -> None:
        """Do it; *least* is the size of the smallest group that matters if it gets matched."""
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
        """Whether a group of that size or a larger one can be matched when a stone is added; told by sizes alone."""
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

    def __init__(self, grid: Grid, stand: Stand, order: Sequence[int], limit: Limit) -> None:
        """Find the groups; *order* is that in which spaces are tried, as long as the time is not over."""
        self.grid, self.limit = grid, limit
        self.own, self.enemy, *marks, self.is_first = stand
        self.marks: Marks = marks[0], marks[1]
        self.least = min(marks) + 1
        """The size of the smallest group to which a mark can go."""
        groups = grid.hexagon.groups
        self.enemy_groups = [group for group in groups(self.enemy) if group.bit_count() >= self.least]
        self.groups, self.regions = [*groups(self.own)], [*groups(grid.all & ~self.own & ~self.enemy)]
        self.matched = self._matched(self.groups, self.regions)
        self.spaces = [space for space in order if not space & self.enemy]

    def turns(self) -> Iterator[Reached]:
        """The turns of one or two actions; of those that lead to the same, not all."""
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
        """Those turns of two actions after which an own group of that size is matched, or a larger one.

        Each only in one order of its actions, and not all of those whose second action matches nothing itself.
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

    def thinned(self, found: Reached, most: int) -> Iterator[Reached]:
        """The turn with a third action: a stone is removed, or a group of up to so many."""
        (a, b, _), own, marks = found
        matched = self._matched_with(own)
        whole = [group for group in self.grid.hexagon.groups(own) if 1 < group.bit_count() <= most]
        for removed in (*bits(own), *whole):
            self._go_on()
            yield (a, b, removed), own ^ removed, self._moved(marks, self._matched_with(own ^ removed) - matched)

    def found(self, turn: Actions) -> Reached | None:
        """What a turn leads to that was good in another position; None if it cannot be played here."""
        a, b, _ = turn
        if a == b or (a | b) & self.enemy:
            return None
        groups, regions = self.acted(self.groups, self.regions, a)
        matched = self._matched(groups, regions)
        marks = self._moved(self.marks, matched - self.matched)
        after = self._matched(*self.acted(groups, regions, b))
        return (a, b, 0), self.own ^ a ^ b, self._moved(marks, after - matched)

    def acted(self, groups: Parts, regions: Parts, space: int) -> tuple[Parts, Parts]:
        """The mover's groups and the regions after an action, where the space is still as it is in the position."""
        if self.own & space:
            return self.grid.taken(groups, space), self.grid.given(regions, space)
        return self.grid.given(groups, space), self.grid.taken(regions, space)

    def _go_on(self) -> None:
        if self.limit.is_reached(0):
            raise _OverError

    def _matched(self, groups: Parts, regions: Parts) -> frozenset[int]:
        return self.grid.matched(groups + self.enemy_groups, regions, self.least)

    def _matched_with(self, own: int) -> frozenset[int]:
        groups = self.grid.hexagon.groups
        return self._matched([*groups(own)], [*groups(self.grid.all & ~own & ~self.enemy)])

    def _moved(self, marks: Marks, created: frozenset[int]) -> Marks:
        """The marks after an action that created these groups."""
        if not created:
            return marks
        own = {group.bit_count() for group in created if not group & self.enemy}
        enemy = {group.bit_count() for group in created if group & self.enemy}
        return marks_after(marks, own, enemy)


def marks_after(marks: Marks, own: set[int], enemy: set[int]) -> Marks:
    """The mover's mark and the other one, when groups of these sizes are created: the mover's is moved first."""
    mark = max({marks[0]} | own - {marks[1]})
    return mark, max({marks[1]} | enemy - own - {mark})


class Papagra:
    """A `Thinker` on one board."""

    def __init__(self, size: int, removals: int, deepest: int = DEEPEST) -> None:
        """Take a board; *deepest* is how many turns ahead it looks, if there is time."""
        self.grid, self.removals, self.deepest = Grid(size), removals, deepest
        self.limit, self.opened, self.rng = Limit(), 0, Random()
        self.order: list[int] = []
        """The spaces, in the order in which they are tried in this thought."""
        self.values: dict[tuple[int, int, Marks], float] = {}
        """What was found by `value`."""
        self.killers: dict[int, Actions] = {}
        """The last turn that was too good to be allowed, for each number of turns that were still to be looked at."""
        self.stood: Counter[Marks] = Counter()
        """How often arrangements of stones, those of the mover first, have stood after a turn."""

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """As deep as there is time; a playout is here a position of which all turns were scanned."""
        state: Any = states[-1]
        stand = self.stand(state)
        self.limit, self.opened, self.rng, self.killers = limit, 0, rng, {}
        self.order = [*bits(self.grid.all)]
        rng.shuffle(self.order)
        self.stood = Counter(stones[:: 1 - 2 * state.turn] for stones in state.past)
        choices = self._choices(self._scan(stand), 0)
        for depth in range(2, self.deepest + 1):
            if len(choices) == 1 or not 0 < choices[0].value < 1:
                break
            try:
                self._deepen(choices, depth)
            except _OverError:
                break
        text = self.text(stand.own, choices[0].turn)
        return Thought(text, choices[0].value, self.opened, (text,))

    def stand(self, state: Any) -> Stand:
        """The position as the player to move sees it."""
        own, enemy = state.stones[:: 1 - 2 * state.turn]
        own_mark, enemy_mark = state.marks[:: 1 - 2 * state.turn]
        return Stand(own, enemy, own_mark, enemy_mark, state.actions == 1)

    def _deepen(self, choices: list[Choice], depth: int) -> None:
        """Look deeper at the first of these choices, and sort them; as many of them as there is time for."""
        best, searched = 0.0, []
        try:
            for choice in choices:
                value = choice.value
                if 0 < value < 1:
                    value = 1 - self._best(choice.after, depth - 1, 1, 0, 1 - best)
                best = max(best, value)
                searched.append(choice._replace(value=value))
        finally:
            # a value that is not better than the best before it is only a limit
            searched.sort(key=lambda choice: -choice.value)
            choices[: len(searched)] = searched

    def value(self, own: int, enemy: int, own_mark: int, enemy_mark: int) -> float:
        """What a position with so many stones is worth for the side that has just moved."""
        if own_mark == enemy_mark:
            return 0.5
        if own_mark < enemy_mark:
            return 1 - self.value(enemy, own, enemy_mark, own_mark)
        free, needed = self.grid.spaces - own, 2 * (own_mark + 1)
        if free < needed:
            return 1.0
        return 1 / (1 + exp(0.6 - 7 * needed / free - 0.2 * (own_mark - enemy_mark)))

    def _worth(self, found: Reached, enemy: int, side: int) -> float:
        """What a turn leads to; side is 0 for the player who thinks."""
        _, own, marks = found
        if self.stood[(enemy, own) if side else (own, enemy)] >= 2:
            return 0.5 if marks[0] == marks[1] else float(marks[0] > marks[1])
        key = own.bit_count(), enemy.bit_count(), marks
        if key not in self.values:
            self.values[key] = self.value(*key[:2], *marks)
        return self.values[key]

    def _scan(self, stand: Stand) -> Scan:
        if self.opened and self.limit.is_reached(self.opened):
            raise _OverError
        self.opened += 1
        return Scan(self.grid, stand, self.order, self.limit)

    def _choices(self, scan: Scan, side: int) -> list[Choice]:
        """The turns that look best, the best one first."""
        random, enemy = self.rng.random, scan.enemy
        valued: list[tuple[float, float, Reached]] = []

        def value(all_found: Iterator[Reached]) -> None:  # as they come, for that is a third of the time
            valued.extend((self._worth(found, enemy, side), random(), found) for found in all_found)

        try:
            value(scan.turns())
            if self.removals and not scan.is_first:
                for _, _, found in nlargest(THINNED, valued):
                    value(scan.thinned(found, self.removals))
        except _OverError:
            if self.opened > 1:
                raise
        best = nlargest(MOST_TRIED, valued)  # those of equal value are looked at in no order
        return [self._choice(found, enemy, side) for _, _, found in best]

    def _choice(self, found: Reached, enemy: int, side: int) -> Choice:
        turn, own, marks = found
        return Choice(self._worth(found, enemy, side), turn, Stand(enemy, own, marks[1], marks[0]))

    def _best(self, stand: Stand, depth: int, side: int, alpha: float, beta: float) -> float:
        """What the best turn of a later position is worth for its mover: exactly so only between these limits."""
        if depth == 1:
            return self._raised(stand, side, alpha, beta)
        scan, best = self._scan(stand), 0.0
        for choice in self._tries(scan, depth, side):
            value = choice.value
            if 0 < value < 1:
                value = 1 - self._best(choice.after, depth - 1, 1 - side, 1 - beta, 1 - max(alpha, best))
            best = max(best, value)
            if best >= beta:
                self.killers[depth] = choice.turn
                break
        return best

    def _tries(self, scan: Scan, depth: int, side: int) -> Iterator[Choice]:
        """The turns that are tried in a later position: one that was good in another position comes first."""
        if depth in self.killers and (found := scan.found(self.killers[depth])):
            yield self._choice(found, scan.enemy, side)
        yield from self._choices(scan, side)[:MOST_ANSWERS]

    def _raised(self, stand: Stand, side: int, alpha: float, beta: float) -> float:
        """What the best turn is worth, where only two stones more and higher marks of the mover are thought of."""
        own, enemy, own_mark, enemy_mark, _ = stand
        stones, others = own.bit_count(), enemy.bit_count()
        more = min(stones + 2, self.grid.spaces - others)
        best = self.value(more, others, own_mark, enemy_mark)
        least, highest = own_mark + 1, self.grid.spaces // 2
        while least <= highest and (
            least == enemy_mark or self.value(more, others, least, enemy_mark) <= max(alpha, best)
        ):
            least += 1
        if best >= beta or least > highest:
            return best
        for found in self._scan(stand).raising(least):
            best = max(best, self._worth(found, enemy, side))
            if best >= beta:
                for space in found[0][:2]:  # it is likely to be good elsewhere, too
                    self.order.remove(space)
                    self.order.insert(0, space)
                break
        return best

    def text(self, own: int, turn: Actions) -> str:
        """The turn in canonical form."""
        name, texts = self.grid.hexagon.name, []
        for space in filter(None, turn[:2]):
            texts.append(f"{'-' if own & space else '+'}{name[space]}")
            own ^= space
        if turn[2]:
            texts.append("".join(f"-{one}" for one in self.grid.hexagon.names(turn[2])))
        return ",".join(texts) or SKIP

    def playout(self, state: Any, rng: Random, longest: int = 200, turns: list[str] | None = None) -> float:
        """The result for Pink of a game at random; after so many turns he who leads is taken to win.

        Three of four actions add a stone where there is a choice. Any space can be chosen, one behind a gap in the
        numbering of the spaces more often. There is no third action. *turns* gets the turns that were played.
        """
        random, grid = rng.random, self.grid
        side, actions, (own, enemy) = state.turn, state.actions, state.stones[:: 1 - 2 * state.turn]
        own_mark, enemy_mark = state.marks[:: 1 - 2 * state.turn]
        own_groups, enemy_groups = [*grid.hexagon.groups(own)], [*grid.hexagon.groups(enemy)]
        regions = [*grid.hexagon.groups(grid.all & ~(own | enemy))]
        stood = Counter(state.past)
        for _ in range(longest):
            played: list[str] = []
            for _ in range(actions if enemy != grid.all else 0):
                empty = grid.all & ~(own | enemy)
                is_removal = not empty or (own and random() < 0.25)
                spaces = own if is_removal else empty
                shift = int(random() * spaces.bit_length())
                space = spaces >> shift << shift
                space &= -space
                own ^= space
                least = min(own_mark, enemy_mark) + 1
                if is_removal:
                    groups, room = self._passed(own_groups, regions, space, least)
                else:
                    room, groups = self._passed(regions, own_groups, space, least)
                if groups or room:
                    created = self._created(groups, room, own_groups + enemy_groups, regions)
                    sizes = {group.bit_count() for group in created if not group & enemy}
                    others = {group.bit_count() for group in created if group & enemy}
                    own_mark, enemy_mark = marks_after((own_mark, enemy_mark), sizes, others)
                if turns is not None:
                    played.append(("-" if is_removal else "+") + grid.hexagon.name[space])
            if turns is not None:
                turns.append(",".join(played) or SKIP)
            if enemy != grid.all:
                stones = (enemy, own) if side else (own, enemy)
                stood[stones] += 1
                if stood[stones] >= 3:
                    break
            if own_mark != enemy_mark:
                mark, leader = (own_mark, own) if own_mark > enemy_mark else (enemy_mark, enemy)
                if grid.spaces - leader.bit_count() < 2 * (mark + 1):
                    break
            own, enemy, own_mark, enemy_mark = enemy, own, enemy_mark, own_mark
            own_groups, enemy_groups, side, actions = enemy_groups, own_groups, 1 - side, 2
        is_ahead = own_mark > enemy_mark
        return 0.5 if own_mark == enemy_mark else float(is_ahead != (side == 1))

    def _passed(self, losing: Parts, gaining: Parts, space: int, least: int) -> tuple[Parts, Parts]:
        """Pass a space from one of these parts to those, and give the new parts of each that are not too small."""
        around = self.grid.near[space]
        number = next(number for number, part in enumerate(losing) if part & space)
        pieces = self.grid.split(losing[number], space)
        losing[number : number + 1] = pieces
        whole = space
        for touching in [part for part in gaining if part & around]:
            whole |= touching
            gaining.remove(touching)
        gaining.append(whole)
        return [piece for piece in pieces if piece.bit_count() >= least], [whole] if whole.bit_count() >= least else []

    def _created(self, new_groups: Parts, new_regions: Parts, groups: Parts, regions: Parts) -> Parts:
        """The groups that are matched now, and were not before these groups and regions came to be."""
        shape_of, created = self.grid.shape, []
        for group in new_groups:
            size = group.bit_count()
            if any(region.bit_count() == size and shape_of(region) == shape_of(group) for region in regions):
                created.append(group)
        for region in new_regions:
            size = region.bit_count()
            alike = [group for group in groups if group.bit_count() == size and shape_of(group) == shape_of(region)]
            if alike and not any(
                other.bit_count() == size and other not in new_regions and shape_of(other) == shape_of(region)
                for other in regions
            ):
                created += [group for group in alike if group not in new_groups]
        return created


def thinker(options: Options) -> Papagra:
    """The robot for a board."""
    return Papagra(cast("int", options["size"]), cast("int", options["removals"]))
