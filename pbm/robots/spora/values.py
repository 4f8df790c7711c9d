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
from typing import Any, NamedTuple, cast

from games import State
from games.boards import Square, bits
from games.spora import TALLEST, Stacks, Turn, raised
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
    """What the player to move gets beside points: the komi for White, and its negative for Black."""

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
        enemy_several = turn.enemy_several and bool(turn.enemy[0])
        begun = Turn(turn.board, 1 - turn.side, turn.enemy, turn.own, enemy_several, turn.own_several)
        left = 0 if self.is_last_turn else self.reserves[0] - turn.pieces
        return SporaPosition(begun, (self.reserves[1], left), (self.have_dropped[1], True), -self.lead)


Candidate = tuple[float, str, Turn]
"""The value of a turn, the turn in canonical form, and what it does."""


class Spora:
    """What is known of one board."""

    def __init__(self, size: int) -> None:
        """Make the tables of a board of that size."""
        self.board = Square(size)
        every, width = self.board.all, self.board.width
        self.steps = {p: (p << width & every, p << 1 & every, p >> width & every, p >> 1 & every) for p in bits(every)}
        """The next point in each of the `WAYS`; 0 off the board."""

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
        found = [one for one in drops if not one[2].is_dead]
        if position.have_dropped[0]:
            found += self._sowings(position, drops, most, limit)
        if not found:
            found = [self._passed(position)]
        found.sort(key=_first, reverse=True)
        for candidate in found[:8]:
            found += self._higher(position, candidate)
        found.sort(key=_first, reverse=True)
        return [(chance_of(value), text, position.after(turn)) for value, text, turn in found[:most]]

    # Turns

    def _drops(self, position: SporaPosition, most: int, rng: Random, limit: Limit) -> list[Candidate]:
        """Drops of a single piece, the best one first. Some leave the stack dead, because a sowing can save it."""
        begun, near = position.begun, self.board.near
        points = list(bits(begun.places))
        rng.shuffle(points)
        if len(points) > most:
            close = near(begun.own[0] | begun.enemy[0])
            close |= near(close)
            points.sort(key=lambda point: not point & close)
        found: list[Candidate] = []
        limit = limit.part(DROPS_SHARE)
        for point in points[:most]:
            if limit.is_time_up and any(not one[2].is_dead for one in found):
                break
            turn = begun.drop(point, 1)
            found.append((self._value(position, turn), self.board.name[point], turn))
        found.sort(key=_first, reverse=True)
        return found

    def _higher(self, position: SporaPosition, candidate: Candidate) -> Iterator[Candidate]:
        """The same turn with more pieces dropped, which changes no captures, because that stack is not sown."""
        _, text, turn = candidate
        for count in range(2, min(TALLEST, position.reserves[0]) + 1):
            higher = turn._replace(own=raised(turn.own, turn.dropped, count - 1), pieces=count)
            yield self._value(position, higher), _with(text, count), higher

    def _sowings(self, position: SporaPosition, drops: Sequence[Candidate], most: int, limit: Limit) -> list[Candidate]:
        """Turns with a sowing after the best of these drops; if many are asked for, the best sowings after other drops.

        Of all sowings after a drop, those are valued whose stacks alone are worth most.
        """
        found: list[Candidate] = []
        first = 2 + most // 50
        for _, drop, dropped in drops[:first]:
            if limit.is_time_up:
                break
            for sowing, turn in nlargest(most // 2, self._sown(dropped), key=lambda one: self._rough(one[1])):
                if limit.is_time_up:
                    break
                found.append((self._value(position, turn), f"{drop},{sowing}", turn))
        if most > MOST_INSIDE:
            found.sort(key=_first, reverse=True)
            sowings = [*dict.fromkeys(text.partition(",")[2] for _, text, _ in found)][: most // 10]
            for (_, drop, dropped), sowing in product(drops[first:], sowings):
                if limit.is_time_up:
                    break
                if again := self._sown_so(dropped, sowing):
                    found.append((self._value(position, again), f"{drop},{sowing}", again))
            is_few = 0 < sum(1 for _ in self.board.groups(position.begun.enemy[0])) <= FEW_GROUPS
            if most > MOST_WIDENED and is_few:
                found += self._captures_of_all(drops[first:], limit)
        return found

    def _captures_of_all(self, drops: Sequence[Candidate], limit: Limit) -> Iterator[Candidate]:
        """The first sowing after these drops that leaves the enemy no stack, if there is one."""
        for _, drop, dropped in drops:
            for sowing, turn in () if limit.is_time_up else self._sown(dropped):
                if not turn.enemy[0]:
                    yield WON, f"{drop},{sowing}", turn
                    return

    def _sown(self, dropped: Turn) -> Iterator[tuple[str, Turn]]:
        """All sowings after a drop with which the turn can end, and what they do."""
        for start in bits(dropped.own[0] & ~dropped.dropped):
            name = self.board.name[start]
            for hand in range(1, sum(1 for level in dropped.own if level & start) + 1):
                begun = [(dropped.lift(start, hand), start, "", -1)]
                while begun:
                    turn, point, path, last = begun.pop()
                    for way, to in enumerate(self.steps[point]):
                        if not to or way == last ^ 2:
                            continue
                        left = hand - len(path)
                        if to & turn.enemy[0] and not _can_capture(turn.enemy, to, left):
                            continue
                        after, longer = turn.land(to), path + WAYS[way]
                        if left > 1:
                            begun.append((after, to, longer, way))
                        elif not after.is_dead:
                            yield f"{name}@{longer}", after

    def _sown_so(self, dropped: Turn, sowing: str) -> Turn | None:
        """The turn after that sowing; None if it is not legal, or the dropped stack is dead after it."""
        name, _, path = sowing.partition("@")
        point = self.board.bit[name]
        if point & dropped.dropped or not point & dropped.own[0]:
            return None
        turn = dropped.lift(point, len(path))
        for number, way in enumerate(path):
            point = self.steps[point][WAYS.index(way)]
            if point & turn.enemy[0] and not _can_capture(turn.enemy, point, len(path) - number):
                return None
            turn = turn.land(point)
        return None if turn.is_dead else turn

    def _passed(self, position: SporaPosition) -> Candidate:
        """A drop on an own stack, or in a first turn on any point, which is always possible."""
        points = position.begun.own[0] or position.begun.places
        point = points & -points
        turn = position.begun.drop(point, 1)
        return self._value(position, turn), self.board.name[point], turn

    def _last_turn(self, position: SporaPosition, width: int, rng: Random, limit: Limit) -> tuple[str, Turn]:
        """The last turn with the best score, or one that wins: after each drop, the *width* best positions go on."""
        _, name, turn = self._passed(position)
        best, front = (self._margin(turn), name, turn), [("", position.begun)]
        for _ in range(position.reserves[0]):
            found: dict[tuple[int, int], tuple[float, int, str, Turn]] = {}
            for text, turn in front:
                for point in bits(turn.places & ~turn.own[0]):
                    if limit.is_time_up or best[0] + position.lead > 0:
                        return best[1:]
                    after = turn.drop(point, 1)
                    key = after.own[0], after.enemy[0]
                    if not after.is_dead and key not in found:
                        margin, longer = self._margin(after), f"{text},{self.board.name[point]}"
                        room = self._reach(after.enemy[0], after.own[0]).bit_count()
                        found[key] = margin - room / 10 + rng.random() / 20, margin, longer, after
                        if margin > best[0]:
                            best = margin, longer[1:], after
            front = [(text, turn) for _, _, text, turn in nlargest(width, found.values(), key=_first)]
        return best[1:]

    # Values

    def _margin(self, turn: Turn) -> int:
        """Points of the mover less those of the other side: stacks and territory."""
        own, enemy = turn.own[0], turn.enemy[0]
        return own.bit_count() - enemy.bit_count() + self._territory(own, enemy)

    def _territory(self, own: int, enemy: int) -> int:
        """Points of own territory less those of the enemy's."""
        own_reach, enemy_reach = self._reach(own, enemy), self._reach(enemy, own)
        return (own_reach & ~enemy_reach).bit_count() - (enemy_reach & ~own_reach).bit_count()

    def _reach(self, stacks: int, others: int) -> int:
        """The empty points that these stacks reach by paths of empty points."""
        free = self.board.all & ~(stacks | others)
        return self.board.group(self.board.near(stacks) & free, free)

    def _rough(self, turn: Turn) -> float:
        """What the stacks alone are worth."""
        own, enemy = turn.own, turn.enemy
        fours = own[3].bit_count() - enemy[3].bit_count()
        return STACK_WORTH * (own[0].bit_count() - enemy[0].bit_count()) + FOUR_WORTH * fours

    def _stifled(self, stacks: int, others: int) -> int:
        """How many groups have no more than one liberty."""
        near, free, number = self.board.near, self.board.all & ~(stacks | others), 0
        while stacks:
            group = self.board.group(stacks & -stacks, stacks)
            stacks ^= group
            liberties = near(group) & free
            number += not liberties & (liberties - 1)
        return number

    def _value(self, position: SporaPosition, turn: Turn) -> float:
        """The logarithm of the odds of the mover after that turn."""
        own, enemy, enemy_2 = turn.own[0], turn.enemy[0], turn.enemy[1]
        if not own:
            return -WON
        if not enemy and position.have_dropped[1]:
            return WON
        # the first stack on the board has not won all of it
        ground = TERRITORY_WORTH * self._territory(own, enemy) if enemy else 0.0
        ground += STIFLED_WORTH * (self._stifled(own, enemy) - self._stifled(enemy, own))
        value = self._rough(turn) + ground + KOMI_WORTH * position.lead + TURN_WORTH
        if enemy_2:
            singles, pairs = self._reachable(turn.own, turn.enemy)
            value += SINGLE_WORTH * singles.bit_count()
            if (singles | pairs) & ~self.board.near(own):
                rest = own & ~self.board.group(own & -own, own)
                if not rest & ~self.board.group(rest & -rest, rest):
                    value += RUIN_WORTH
        return value

    def _reachable(self, stacks: Stacks, enemy: Stacks) -> tuple[int, int]:
        """The single pieces and the stacks of two that the enemy could capture by sowing if nothing was in the way."""
        near, (ones, twos, threes, _), (_, enemy_2, enemy_3, enemy_4) = self.board.near, stacks, enemy
        hand_3 = near(enemy_4) & ~twos | enemy_3  # where a hand of three can go on from
        hand_2 = near(hand_3) & ~twos | enemy_2
        return near(hand_2) & ones & ~twos, near(enemy_4) & twos & ~threes


def _first(found: Sequence[Any]) -> float:
    return cast("float", found[0])


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
