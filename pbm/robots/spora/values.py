"""What positions of Spora are worth: by what stands, and what can be captured.

All drops of a single piece are valued, all sowings after the best of them, and the best of both with more pieces. Each
turn is done piece by piece as the rules do it, so that all captures are seen.

The last turn is put together drop by drop: after each drop, the positions with the best score are continued.
"""

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import product
from math import exp
from random import Random
from typing import Any, NamedTuple

from games import State
from games.boards import Square, bits
from games.spora import TALLEST, Stacks, Turn, new_turn, raised
from pbm.robots.thinking import Limit

WAYS = "nesw"
"""The directions of a sowing; the opposite of number n is n ^ 2."""
MOST_AT_ROOT = 100
"""How many turns are looked at in the present position, and where all answers seem to lose."""
MOST_INSIDE = 20
"""How many turns of a later position are looked at."""
MOST_WIDENED = 80
"""How many turns of a later position are looked at when the search comes back to it."""
WON = 50.0
"""The value of a game that is won."""
FEW_GROUPS = 4
"""If the enemy has at most so many groups, all sowings after all drops are tried, as one may capture all of them."""
MOST_RAISED = 8
"""For how many of the best turns more pieces are dropped, too."""
NO_WAY = -1
DROPS_SHARE = 0.6
"""The part of the time that looking at drops may take."""

# What is added to the logarithm of the odds of the side that has just moved
STACK_WORTH = 0.35
"""For each own stack, less the enemy's."""
FOUR_WORTH = 0.5
"""For each own stack of four, less the enemy's."""
TERRITORY_WORTH = 0.1
"""For each point of own territory, less the enemy's."""
STIFLED_WORTH = -0.5
"""For each own group with a single liberty, less the enemy's."""
KOMI_WORTH = 0.14
"""For each point of komi."""
TURN_WORTH = -0.4
"""Always, because it is the enemy's turn."""
SINGLE_WORTH = -0.15
"""For each own single piece that a sowing could reach and capture."""
RUIN_WORTH = -0.6
"""If a sowing could capture a lone single piece or stack of two, which is one of at most two own groups."""


class SporaPosition(NamedTuple):
    """A position."""

    begun: Turn
    """The turn of the player to move, in which nothing has been done."""
    reserves: tuple[int, int]
    """The pieces left to the player to move, and to the enemy."""
    have_dropped: tuple[bool, bool]
    lead: float
    """What the player to move gets besides points: the komi for White, and its negative for Black."""

    @property
    def is_over(self) -> bool:
        """Whether the last turn is played, or a side has lost all stacks."""
        stacks = self.begun.own[0], self.begun.enemy[0]
        is_lost = any(dropped and not own for dropped, own in zip(self.have_dropped, stacks, strict=True))
        return is_lost or not self.reserves[0]

    @property
    def is_last_turn(self) -> bool:
        """Whether the enemy's reserve is empty, so that single pieces are dropped."""
        return not self.reserves[1]

    def after(self, turn: Turn) -> "SporaPosition":
        """The position after a turn."""
        begun = new_turn(turn.board, 1 - turn.side, turn.enemy, turn.own)
        left = 0 if self.is_last_turn else self.reserves[0] - turn.pieces
        return SporaPosition(begun, (self.reserves[1], left), (self.have_dropped[1], True), -self.lead)


class Candidate(NamedTuple):
    """A turn that may be played."""

    value: float
    """The logarithm of the odds of the mover after it."""
    text: str
    """The turn in canonical form."""
    turn: Turn
    """What it does."""


class LastTurn(NamedTuple):
    """The drops of a last turn so far."""

    margin: int
    text: str
    turn: Turn


class Sowing(NamedTuple):
    """A sowing that is being made, with pieces left in the hand."""

    turn: Turn
    point: int
    """Where the last piece was put."""
    path: str
    way: int
    """The number of the last of the `WAYS`; NO_WAY before the first step."""


class Spora:
    """What is known of one board."""

    def __init__(self, size: int) -> None:
        """Make the tables of a board of that size."""
        self.board = Square(size)
        self.steps: dict[int, tuple[int, int, int, int]] = {}
        """The next point in each of the `WAYS`; 0 off the board."""
        every = self.board.all
        width = self.board.width
        for point in bits(every):
            north = point << width & every
            east = point << 1 & every
            south = point >> width & every
            west = point >> 1 & every
            self.steps[point] = (north, east, south, west)

    def root(self, states: Sequence[State]) -> SporaPosition:
        """The last position, in which the pie is over."""
        state: Any = states[-1]
        order = 1 - 2 * state.turn  # of the sides, the player to move first
        komi = (state.komi or 0) + 0.5
        lead = komi if state.turn else -komi
        return SporaPosition(state.begin(), state.reserve[::order], state.has_dropped[::order], lead)

    def side(self, position: SporaPosition) -> int:
        """The side to move."""
        return position.begun.side

    def outcome(self, position: SporaPosition) -> float | None:
        """Who has won; there is no draw."""
        if not position.is_over:
            return None
        margin = self._margin(position.begun) + position.lead
        return float((margin > 0) != position.begun.side)

    def valued(
        self, position: SporaPosition, most: int, rng: Random, limit: Limit
    ) -> list[tuple[float, str, SporaPosition]]:
        """At most *most* turns, each with the position after it; the best-looking turns come first.

        There is at least one, and only one if it is the last turn. No more are looked for when the limit is reached.
        The value is the chance of the side to move to win after the turn: more than 0 and less than 1.
        """
        if position.is_last_turn:
            text, turn = self._last_turn(position, 1 + most // 20, rng, limit)
            return [(0.5, text, position.after(turn))]
        drops = self._drops(position, 3 * most, rng, limit)
        candidates = [drop for drop in drops if not drop.turn.is_dead]
        if position.have_dropped[0]:
            candidates += self._sowings(position, drops, most, limit)
        if not candidates:
            candidates = [self._passed(position)]
        candidates.sort(key=_value_of, reverse=True)
        for candidate in candidates[:MOST_RAISED]:
            candidates += self._higher(position, candidate)
        candidates.sort(key=_value_of, reverse=True)
        return [(chance_of(value), text, position.after(turn)) for value, text, turn in candidates[:most]]

    # Turns

    def _drops(self, position: SporaPosition, most: int, rng: Random, limit: Limit) -> list[Candidate]:
        """Drops of a single piece, the best one first. Some leave the stack dead, because a sowing can save it."""
        begun = position.begun
        points = list(bits(begun.places))
        rng.shuffle(points)
        if len(points) > most:
            # those at most two steps from a stack come first
            close = self.board.near(begun.own[0] | begun.enemy[0])
            close |= self.board.near(close)
            points.sort(key=lambda point: not point & close)
        drops: list[Candidate] = []
        limit = limit.part(DROPS_SHARE)
        for point in points[:most]:
            if limit.is_time_up and any(not drop.turn.is_dead for drop in drops):
                break
            turn = begun.drop(point, 1)
            drops.append(Candidate(self._value(position, turn), self.board.name[point], turn))
        drops.sort(key=_value_of, reverse=True)
        return drops

    def _higher(self, position: SporaPosition, candidate: Candidate) -> Iterator[Candidate]:
        """The turn with more pieces dropped, which changes no captures, because that stack is not sown."""
        turn = candidate.turn
        for count in range(2, min(TALLEST, position.reserves[0]) + 1):
            higher = turn._replace(own=raised(turn.own, turn.dropped, count - 1), pieces=count)
            yield Candidate(self._value(position, higher), _with(candidate.text, count), higher)

    def _sowings(self, position: SporaPosition, drops: Sequence[Candidate], most: int, limit: Limit) -> list[Candidate]:
        """Turns with a sowing after the best of these drops; if many are asked for, the best sowings after other drops.

        Of all sowings after a drop, those with the highest worth of their stacks alone are valued.
        """
        best = 2 + most // 50
        candidates = self._sowings_after(position, drops[:best], most // 2, limit)
        if most <= MOST_INSIDE:
            return candidates
        candidates.sort(key=_value_of, reverse=True)
        others = drops[best:]
        sowings = list(dict.fromkeys(candidate.text.partition(",")[2] for candidate in candidates))
        for drop, sowing in product(others, sowings[: most // 10]):
            if limit.is_time_up:
                break
            if turn := self._sown_so(drop.turn, sowing):
                candidates.append(Candidate(self._value(position, turn), f"{drop.text},{sowing}", turn))
        enemy_groups = sum(1 for _ in self.board.groups(position.begun.enemy[0]))
        if most > MOST_WIDENED and 0 < enemy_groups <= FEW_GROUPS:
            winning = self._capture_of_all(others, limit)
            if winning:
                candidates.append(winning)
        return candidates

    def _sowings_after(
        self, position: SporaPosition, drops: Sequence[Candidate], most: int, limit: Limit
    ) -> list[Candidate]:
        """After each of these drops, the *most* sowings with the highest worth of their stacks alone."""
        candidates: list[Candidate] = []
        for drop in drops:
            if limit.is_time_up:
                break
            for sowing, turn in nlargest(most, self._sown(drop.turn), key=lambda sown: self._rough(sown[1])):
                if limit.is_time_up:
                    break
                candidates.append(Candidate(self._value(position, turn), f"{drop.text},{sowing}", turn))
        return candidates

    def _capture_of_all(self, drops: Sequence[Candidate], limit: Limit) -> Candidate | None:
        """The first sowing after these drops that leaves the enemy no stack; None if none is found in time."""
        for drop in drops:
            if limit.is_time_up:
                return None
            for sowing, turn in self._sown(drop.turn):
                if not turn.enemy[0]:
                    return Candidate(WON, f"{drop.text},{sowing}", turn)
        return None

    def _sown(self, dropped: Turn) -> Iterator[tuple[str, Turn]]:
        """All sowings after a drop with which the turn can end, and what they do."""
        for start in bits(dropped.own[0] & ~dropped.dropped):
            name = self.board.name[start]
            height = sum(1 for level in dropped.own if level & start)
            for hand in range(1, height + 1):
                for path, turn in self._sown_from(dropped, start, hand):
                    yield f"{name}@{path}", turn

    def _sown_from(self, dropped: Turn, start: int, hand: int) -> Iterator[tuple[str, Turn]]:
        """All paths of a *hand* from a point with which the turn can end, and what they do."""
        unfinished = [Sowing(dropped.lift(start, hand), start, "", NO_WAY)]
        while unfinished:
            turn, point, path, last_way = unfinished.pop()
            left = hand - len(path)
            for way, there in enumerate(self.steps[point]):
                if not there or way == last_way ^ 2:  # off the board, or straight back
                    continue
                if there & turn.enemy[0] and not _can_capture(turn.enemy, there, left):
                    continue
                after = turn.land(there)
                longer = path + WAYS[way]
                if left > 1:
                    unfinished.append(Sowing(after, there, longer, way))
                elif not after.is_dead:
                    yield longer, after

    def _sown_so(self, dropped: Turn, sowing: str) -> Turn | None:
        """The turn after that sowing; None if it is not legal, or the dropped stack is dead after it."""
        name, _, path = sowing.partition("@")
        point = self.board.bit[name]
        if point & dropped.dropped or not point & dropped.own[0]:
            return None
        turn = dropped.lift(point, len(path))
        for number, way in enumerate(path):
            left = len(path) - number
            point = self.steps[point][WAYS.index(way)]
            if point & turn.enemy[0] and not _can_capture(turn.enemy, point, left):
                return None
            turn = turn.land(point)
        return None if turn.is_dead else turn

    def _passed(self, position: SporaPosition) -> Candidate:
        """A drop on an own stack, or in a first turn on any point, which is always possible."""
        points = position.begun.own[0] or position.begun.places
        point = points & -points  # the lowest bit
        turn = position.begun.drop(point, 1)
        return Candidate(self._value(position, turn), self.board.name[point], turn)

    def _last_turn(self, position: SporaPosition, width: int, rng: Random, limit: Limit) -> tuple[str, Turn]:
        """The last turn with the best score, or one that wins: after each drop, the *width* best positions go on."""
        passed = self._passed(position)
        best = LastTurn(self._margin(passed.turn), passed.text, passed.turn)
        front = [("", position.begun)]
        for _ in range(position.reserves[0]):
            found: dict[tuple[int, int], Candidate] = {}
            """The turns with one more drop, by the points of both sides' stacks: the order of drops does not matter."""
            for text, turn in front:
                for point in bits(turn.places & ~turn.own[0]):
                    if limit.is_time_up or best.margin + position.lead > 0:
                        return best.text, best.turn
                    after = turn.drop(point, 1)
                    stacks = (after.own[0], after.enemy[0])
                    if after.is_dead or stacks in found:
                        continue
                    name = self.board.name[point]
                    longer = f"{text},{name}" if text else name
                    margin = self._margin(after)
                    if margin > best.margin:
                        best = LastTurn(margin, longer, after)
                    # of equal scores, the one that leaves the enemy less room goes on
                    room = self._reach(after.enemy[0], after.own[0]).bit_count()
                    value = margin - room / 10 + rng.random() / 20
                    found[stacks] = Candidate(value, longer, after)
            front = [(text, turn) for _, text, turn in nlargest(width, found.values(), key=_value_of)]
        return best.text, best.turn

    # Values

    def _margin(self, turn: Turn) -> int:
        """Points of the mover less those of the other side: stacks and territory."""
        own, enemy = turn.own[0], turn.enemy[0]
        return own.bit_count() - enemy.bit_count() + self._territory(own, enemy)

    def _territory(self, own: int, enemy: int) -> int:
        """Points of own territory less those of the enemy's."""
        own_reach = self._reach(own, enemy)
        enemy_reach = self._reach(enemy, own)
        return (own_reach & ~enemy_reach).bit_count() - (enemy_reach & ~own_reach).bit_count()

    def _reach(self, stacks: int, others: int) -> int:
        """The empty points that these stacks reach by paths of empty points."""
        free = self.board.all & ~(stacks | others)
        return self.board.group(self.board.near(stacks) & free, free)

    def _rough(self, turn: Turn) -> float:
        """What the stacks alone are worth."""
        stacks = turn.own[0].bit_count() - turn.enemy[0].bit_count()
        fours = turn.own[3].bit_count() - turn.enemy[3].bit_count()
        return STACK_WORTH * stacks + FOUR_WORTH * fours

    def _stifled(self, stacks: int, others: int) -> int:
        """How many groups have at most one liberty."""
        free = self.board.all & ~(stacks | others)
        number = 0
        while stacks:
            group = self.board.group(stacks & -stacks, stacks)
            stacks ^= group
            liberties = self.board.near(group) & free
            if not liberties & (liberties - 1):  # no bit is left without the lowest one
                number += 1
        return number

    def _value(self, position: SporaPosition, turn: Turn) -> float:
        """The logarithm of the odds of the mover after that turn."""
        own = turn.own[0]
        enemy = turn.enemy[0]
        if not own:
            return -WON
        if not enemy and position.have_dropped[1]:
            return WON
        ground = STIFLED_WORTH * (self._stifled(own, enemy) - self._stifled(enemy, own))
        if enemy:  # the first stack on the board has not won all of it
            ground += TERRITORY_WORTH * self._territory(own, enemy)
        value = self._rough(turn) + ground + KOMI_WORTH * position.lead + TURN_WORTH
        can_capture = turn.enemy[1] != 0  # by a hand of two or more
        if can_capture:
            singles, pairs = self._reachable(turn.own, turn.enemy)
            value += SINGLE_WORTH * singles.bit_count()
            alone = (singles | pairs) & ~self.board.near(own)
            if alone and self._has_few_groups(own):
                value += RUIN_WORTH
        return value

    def _has_few_groups(self, stacks: int) -> bool:
        """Whether these stacks are at most two groups."""
        others = stacks & ~self.board.group(stacks & -stacks, stacks)
        return not others & ~self.board.group(others & -others, others)

    def _reachable(self, stacks: Stacks, enemy: Stacks) -> tuple[int, int]:
        """The single pieces and the stacks of two that the enemy could capture by sowing if nothing was in the way."""
        near = self.board.near
        at_least_1, at_least_2, at_least_3, _ = stacks
        _, enemy_2, enemy_3, enemy_4 = enemy
        singles = at_least_1 & ~at_least_2
        pairs = at_least_2 & ~at_least_3
        # Only a hand of four captures a pair, with its first piece. It goes on over all points without a pair or more.
        hand_of_3 = near(enemy_4) & ~at_least_2 | enemy_3
        hand_of_2 = near(hand_of_3) & ~at_least_2 | enemy_2
        return near(hand_of_2) & singles, near(enemy_4) & pairs


def _value_of(candidate: Candidate) -> float:
    return candidate.value


def chance_of(value: float) -> float:
    """The chance of odds with that logarithm; never quite 0 or 1."""
    return 0.01 + 0.98 / (1 + exp(max(-WON, min(WON, -value))))


def _with(text: str, count: int) -> str:
    """The turn with *count* pieces dropped."""
    drop, comma, sowing = text.partition(",")
    return f"{drop}:{count}{comma}{sowing}" if count > 1 else text


def _can_capture(enemy: Stacks, point: int, hand: int) -> bool:
    """Whether a *hand* of that many pieces captures the stack on a point."""
    return hand > 1 and not enemy[2] & point and (hand == TALLEST or not enemy[1] & point)
