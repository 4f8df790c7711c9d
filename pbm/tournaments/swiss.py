"""A Swiss tournament: all play the same number of rounds, each against somebody with about as many points.

A round is a perfect matching of least weight (Edmonds' algorithm, by networkx). The weight of a pair is a row of
numbers, of which an earlier one outweighs all later ones of all pairs together (docs/tournaments.md tells why; the
rules are FIDE's, handbook C.04.1, as a matching can say them):

1. the two have met before, or the player had a bye before;
2. one of them would have begun three games more, or less, than he has not begun;
3. of a bye, how many half points the player has more than the lowest who had none;
4. at the end of a tournament that is large for its rounds, and in all of it once somebody has left, one of them would
   have begun two games more, or less;
5. how many half points are between the two; and then the square of that;
6. what the squares of both balances grow by; and then who would have the side of his last game again, three times in
   a row above all;
7. who meets somebody with more points, or with fewer, as he did in his last round; a bye is one with fewer;
8. how far the two are from this order among those with equal points: first against fifth of eight, second against
   sixth, and so on; and who leaves them is the last of these and meets the first of those.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import combinations, islice
from math import exp, lgamma
from typing import NamedTuple

from pbm.tournaments.meetings import NOBODY, Entrant, Meeting, Pair, meetings_of, points

DIGITS = 3, 3, 4, 3, 5, 8, 5, 4, 3, 8
"""With how many digits each number of a weight is written: enough for the sum over all pairs of a round."""
OF_ORDER, OF_DISTANCE, OF_SIDES, OF_FAULTS = (10 ** sum(DIGITS[at:]) for at in (9, 6, 4, 3))
"""Below which the numbers of a weight stand that are about the order alone; about all that comes after points; about
all that comes after sides that are uneven; about all that can be."""
LARGE = 100
"""With more players, a round would take longer than anybody waits; then only the pairs that suit best are looked at."""
CLOSEST = 10
"""How many these are first, for each player and for each of the nearest distances in points."""
MOST_BALANCE, MOST_AT_THE_END = 2, 1
"""How many games more, or less, a player begins than he does not begin; and in a large field when all is over, or after
somebody has left: his sides stay as they are, and a second one who leaves uneven sides could not be made up for."""
ENOUGH = 5
"""A field is large if it has so many players for each round: then there are enough with about as many points."""
LOOKS_THROUGH = 20_000
"""How many pairings are looked through at most to see to it that the rounds to come can be paired, too."""


class Seat(NamedTuple):
    """What pairing has to know of a player."""

    name: str
    halves: int
    """His half points."""
    place: int
    """How many of those with equal points stand before him."""
    group: int
    """How many have as many points."""
    met: frozenset[str]
    """Whom he has met; NOBODY is among them after a bye."""
    balance: int
    """How many games more he has begun than not begun."""
    sides: tuple[bool, ...]
    """Of his last two games, the last one first, whether he began."""
    float_: int
    """Whether he met somebody with more points (1) or with fewer (-1) in his last round; else 0."""


class Bond(NamedTuple):
    """What speaks against a pair, the most important first; see above."""

    again: int
    unbalanced: int
    bye: int
    uneven: int
    apart: int
    square: int
    balance: int
    same_side: int
    floats: int
    order: int

    @property
    def weight(self) -> int:
        """The same as one number, which can be added up over the pairs of a round."""
        total = 0
        for part, digits in zip(self, DIGITS, strict=True):
            total = total * 10**digits + part
        return total


class Sides(NamedTuple):
    """Who of two players begins, and what speaks against that, the most important first."""

    unbalanced: int
    """The squares of how far they would get out of balance."""
    uneven: int
    """The same for what they should come to in the end."""
    balance: int
    """What the squares of both balances grow by, plus 6."""
    same_side: int
    place: int
    pair: Pair


def paired(entrants: Sequence[Entrant], meetings: Sequence[Meeting], number: int, rounds: int = 0) -> list[Pair]:
    """The pairs of round *number*, the strongest first; a bye, if there is one, last.

    The entrants stand in the order in which they were placed. With *rounds*, a small field is paired so that all of
    these rounds can be, if that is possible.
    """
    seats = seated(entrants, meetings, number)
    is_late = number == rounds or any(one.withdrawn is not None for one in entrants)
    evenly = is_late and bool(rounds) and len(seats) >= ENOUGH * rounds
    bonds = {}
    lowest = min((seat.halves for seat in seats if NOBODY not in seat.met), default=0)
    for at, one in enumerate(seats):
        for other in seats[at + 1 :]:
            bonds[one.name, other.name] = bond(one, other, evenly=evenly)
        if len(seats) % 2:
            bonds[one.name, NOBODY] = bond_of_bye(one, lowest)
    names = [seat.name for seat in seats] + [NOBODY] * (len(seats) % 2)
    weights = {pair: each.weight for pair, each in bonds.items()}
    fresh = frozenset(pair for pair, each in bonds.items() if not each.again)
    # a field that is large enough for its rounds always has another matching, by Dirac's theorem
    may_get_stuck = number < rounds and len(names) < 2 * rounds
    looks_ahead = may_get_stuck and _most_matchings(fresh) <= LOOKS_THROUGH
    chosen = _with_a_future(names, weights, fresh, rounds - number, seats) if looks_ahead else None
    found = {seat.name: seat for seat in seats}
    if chosen is None:
        chosen = [
            (one, other) if other == NOBODY else who_begins(found[one], found[other])[0].pair
            for one, other in lightest(names, weights)
        ]
    return sorted(chosen, key=lambda pair: (pair[1] == NOBODY, min(map(names.index, pair))))


def seated(entrants: Sequence[Entrant], meetings: Sequence[Meeting], number: int) -> list[Seat]:
    """Those who take part in a round, by their points, and else as they were placed."""
    names = [one.name for one in entrants]
    score = points(names, meetings)
    before = [points(names, (one for one in meetings if one.round < last)) for last in range(1, number + 1)]
    here = sorted((one.name for one in entrants if one.is_in(number)), key=lambda name: -score[name])
    groups: dict[float, list[str]] = {}
    for name in here:
        groups.setdefault(score[name], []).append(name)
    seats = []
    for name in here:
        own = meetings_of(name, meetings)
        begun = [one.first == name for one in own if not (one.is_bye or one.is_void)]
        group = groups[score[name]]
        seats.append(
            Seat(
                name=name,
                halves=int(2 * score[name]),
                place=group.index(name),
                group=len(group),
                met=frozenset(one.opponent(name) for one in own),
                balance=2 * sum(begun) - len(begun),
                sides=tuple(begun[:-3:-1]),
                float_=_floated(name, own, before, number - 1),
            )
        )
    return seats


def _floated(name: str, own: Sequence[Meeting], before: Sequence[Mapping[str, float]], number: int) -> int:
    """Whether somebody met more points (1) or fewer (-1) than he had, in a round."""
    last = next((one for one in own if one.round == number), None)
    if last is None:
        return 0
    if last.is_bye:
        return -1
    mine, others = before[number - 1][name], before[number - 1][last.opponent(name)]
    return (others > mine) - (others < mine)


def bond(one: Seat, other: Seat, *, evenly: bool = False) -> Bond:
    """What speaks against a game between two players; *evenly* if even sides are worth more than near scores."""
    apart = abs(one.halves - other.halves)
    sides, *_ = who_begins(one, other)
    way = (one.halves < other.halves) - (one.halves > other.halves)
    floats = (one.float_ == way) + (other.float_ == -way) if way else 0
    if apart:
        above, below = (one, other) if one.halves > other.halves else (other, one)
        order = 2 * (above.group - 1 - above.place + below.place)
    else:
        order = abs(2 * abs(one.place - other.place) - one.group)
    return Bond(
        again=int(other.name in one.met),
        unbalanced=sides.unbalanced,
        bye=0,
        uneven=sides.uneven if evenly else 0,
        apart=apart,
        square=apart**2,
        balance=sides.balance,
        same_side=sides.same_side,
        floats=floats,
        order=order**2,
    )


def bond_of_bye(one: Seat, lowest: int) -> Bond:
    """What speaks against a bye for a player, where *lowest* is the fewest half points of those who had none."""
    return Bond(
        again=int(NOBODY in one.met),
        unbalanced=0,
        bye=max(0, one.halves - lowest),
        uneven=0,
        apart=0,
        square=0,
        balance=0,
        same_side=0,
        floats=int(one.float_ == -1),
        order=one.group - one.place,
    )


def who_begins(one: Seat, other: Seat) -> list[Sides]:
    """Both ways to seat two players, the better one first.

    Where nothing tells the two apart, the one who stands higher begins if his place is even, counted from 0.
    """
    found = []
    for first, second in ((one, other), (other, one)):
        after = first.balance + 1, second.balance - 1
        grown = sum(map(_square, after)) - sum(map(_square, (first.balance, second.balance)))
        found.append(
            Sides(
                unbalanced=_beyond(MOST_BALANCE, after),
                uneven=_beyond(MOST_AT_THE_END, after),
                balance=grown + 6,  # the least that they can grow by is -6, from 2 and -2 to 1 and -1
                same_side=_again(first.sides, begins=True) + _again(second.sides, begins=False),
                place=int((first is one) == bool(one.place % 2)),
                pair=(first.name, second.name),
            )
        )
    return sorted(found)


def _beyond(most: int, balances: Iterable[int]) -> int:
    """The squares of how far balances are beyond what they should be at most."""
    return sum(_square(max(0, abs(balance) - most)) for balance in balances)


def _square(balance: int) -> int:
    return balance * balance


def _again(sides_before: Sequence[bool], *, begins: bool) -> int:
    """How much it is against a player's turn to begin, or not to, after his last games."""
    if not sides_before or sides_before[0] != begins:
        return 0
    return 3 if len(sides_before) > 1 and sides_before[1] == begins else 1


def lightest(names: Sequence[str], weights: Mapping[Pair, int]) -> list[Pair]:
    """A perfect matching of least weight: each name is in one of the pairs.

    In a large field it is looked for among the pairs that suit one of their players best, and among more of them where
    these lead to a pair that should not be.
    """
    import networkx as nx  # type: ignore[import-untyped]  # it brings no types, and those of others bring numpy

    most = CLOSEST if len(names) > LARGE else len(names)
    while True:
        graph = nx.Graph()
        graph.add_nodes_from(names)
        graph.add_weighted_edges_from((*pair, weights[pair]) for pair in _closest(names, weights, most))
        found = [pair if pair in weights else pair[::-1] for pair in nx.min_weight_matching(graph)]
        is_perfect = 2 * len(found) == len(names)
        if most >= len(names) or (is_perfect and all(weights[pair] < OF_FAULTS for pair in found)):
            return found
        most *= 2


def _closest(names: Sequence[str], weights: Mapping[Pair, int], most: int) -> Iterable[Pair]:
    """For each name, of the pairs with it that are equally far apart, so many that weigh least.

    They are taken from the nearest distances, because of a group that is odd in number somebody has to leave it. As
    many are taken by their order alone: where sides do not fit, some have to meet nevertheless.
    """
    if most >= len(names):
        return weights
    own: dict[str, dict[tuple[int, int], list[Pair]]] = {name: {} for name in names}
    for pair, weight in weights.items():
        distance = weight // OF_FAULTS, weight % OF_SIDES // OF_DISTANCE  # uneven sides cannot always be helped
        for name in pair:
            own[name].setdefault(distance, []).append(pair)
    found: set[Pair] = set()
    for distances in own.values():
        for distance in sorted(distances)[: max(3, most // 8)]:
            found.update(nsmallest(most, distances[distance], weights.__getitem__))
            found.update(nsmallest(most, distances[distance], lambda pair: weights[pair] % OF_ORDER))
    return found


def _with_a_future(
    names: Sequence[str], weights: Mapping[Pair, int], fresh: frozenset[Pair], rounds: int, seats: Sequence[Seat]
) -> list[Pair] | None:
    """The lightest matching of *fresh* pairs after which so many more rounds of such pairs are possible, or None.

    They sit as suits them best, as far as all can be in balance in the last round, too.
    """
    found = sorted(_matchings(names, fresh), key=lambda chosen: sum(weights[pair] for pair in chosen))
    looks = iter(range(LOOKS_THROUGH))
    for chosen in found:
        later = fresh.difference(chosen)
        for sitting in islice(_sittings(chosen, seats), None if rounds == 1 else 1):
            if next(looks, None) is None:
                return None
            if _has_future(names, _in_balance(seats, sitting, later) if rounds == 1 else later, rounds, looks):
                return sitting
    return None


def _sittings(chosen: Sequence[Pair], seats: Sequence[Seat]) -> Iterator[list[Pair]]:
    """Ways to seat the pairs of a round that leave everybody in balance, the best one first.

    These are the one that suits everybody best, and those in which one pair, or two, sit the other way round.
    """
    found = {seat.name: seat for seat in seats}
    byes = [pair for pair in chosen if pair[1] == NOBODY]
    ways = [who_begins(found[one], found[other]) for one, other in chosen if other != NOBODY]
    if any(best.unbalanced for best, _ in ways):
        return
    free = [at for at, (_, other) in enumerate(ways) if not other.unbalanced]
    turned = (pairs for many in range(3) for pairs in combinations(free, many))
    sittings = [[both[at in pairs] for at, both in enumerate(ways)] for pairs in turned]
    for sitting in sorted(sittings, key=_discomfort):
        yield [*(sides.pair for sides in sitting), *byes]


def _discomfort(sitting: Sequence[Sides]) -> list[int]:
    """What speaks against the sides of a whole round, the most important first."""
    return [sum(numbers) for numbers in zip(*(sides[:-1] for sides in sitting), strict=True)]


def _in_balance(seats: Sequence[Seat], sitting: Sequence[Pair], pairs: frozenset[Pair]) -> frozenset[Pair]:
    """Those of the pairs that keep everybody in balance when those who are *sitting* have played."""
    balances = {NOBODY: 0} | {seat.name: seat.balance for seat in seats}
    for first, second in sitting:
        if second != NOBODY:
            balances[first] += 1
            balances[second] -= 1
    return frozenset((one, other) for one, other in pairs if abs(balances[one] + balances[other]) < 2 * MOST_BALANCE)


def _has_future(names: Sequence[str], fresh: frozenset[Pair], rounds: int, looks: Iterator[int]) -> bool:
    """Whether so many rounds can be made of these pairs, as far as the *looks* that are left tell."""
    if not rounds:
        return True
    for chosen in _matchings(names, fresh):
        if next(looks, None) is None:
            return False
        if _has_future(names, fresh.difference(chosen), rounds - 1, looks):
            return True
    return False


def _most_matchings(pairs: frozenset[Pair]) -> float:
    """How many perfect matchings of these pairs there can be, by the bound of Bregman, Kahn and Lovasz."""
    degrees = Counter(name for pair in pairs for name in pair)
    return exp(sum(lgamma(degree + 1) / (2 * degree) for degree in degrees.values()))


def _matchings(names: Sequence[str], pairs: frozenset[Pair]) -> Iterator[list[Pair]]:
    """All ways to put the names into some of these pairs."""
    if not names:
        yield []
        return
    one, *others = names
    for other in others:
        if (one, other) in pairs:
            for rest in _matchings([name for name in others if name != other], pairs):
                yield [(one, other), *rest]
