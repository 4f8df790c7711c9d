"""The rounds of a Swiss tournament, paired by FIDE's Dutch system (handbook C.04.3).

The library caissify-pairings implements that system. This module gives it the results so far and the players who never
meet, and writes the report for FIDE's programs (TRF).
"""

from collections.abc import Collection
from itertools import combinations
from typing import Any

from caissify_pairings.engines.dutch import DutchEngine, DutchPlayer
from caissify_pairings.trf import write_trf

from pbm.tournaments.kinds import NOBODY, Pair, Progress, fewest_firsts, meetings_of, points

LARGE, NEAR = 60, 8
"""With more than LARGE players, a round is first tried in which each opponent is at most NEAR places from the ideal
one. For 200 players that takes a few seconds; considering all pairs takes a minute."""
RESULTS = {1: "1", 0: "=", -1: "0"}
"""The outcomes in a report."""


class _NoneLeft(Exception):
    """The rules allow no round."""


class _Engine(DutchEngine):
    """The Dutch system with players who never meet. Raises _NoneLeft if no round is possible."""

    def __init__(self, *args: object, apart: Collection[frozenset[str]], near: int) -> None:
        super().__init__(*args)
        self.apart, self.near = apart, near
        groups = enumerate(self._build_scoregroups(self._players))
        self.seats = {one.id: (at, place, len(group)) for at, group in groups for place, one in enumerate(group)}

    def _can_pair(self, one: DutchPlayer, other: DutchPlayer) -> bool:
        (high, place, size), (low, below, _) = sorted((self.seats[one.id], self.seats[other.id]))
        # within a group, the first should meet the first of the lower half; between groups, the last one the first one
        away = abs(below - place - size // 2) if high == low else size - 1 - place + below
        is_apart = away > self.near or frozenset((one.id, other.id)) in self.apart
        return not is_apart and bool(super()._can_pair(one, other))

    def _backtrack_match(self, *_: object, **__: object) -> None:
        raise _NoneLeft  # the library would try all pairings that there are, which can take hours


def paired(progress: Progress) -> list[Pair]:
    """The pairs of the next round, the strongest first, byes last; nothing if no round is possible.

    If the rules for sides allow no round, it is paired without these rules: FIDE leaves that to the arbiter.
    """
    tournament, entrants, meetings = progress
    number = tournament.round + 1
    here = [one for one in entrants if one.is_in(number)]
    if len(here) < 2:
        return []
    asked = [(one.name, NOBODY) for one in here if number in one.byes]
    players = _players(progress)
    field = [players[one.name] for one in here if number not in one.byes]
    met = {one.pair for one in meetings if not one.is_bye}
    apart = {frozenset(pair) for group in tournament.apart for pair in combinations(group, 2)}
    had = {one.first for one in meetings if one.is_bye and one.outcome}
    # the library pairs a first round without _can_pair
    settings = max(number, 2 if apart else 1), tournament.rounds or number + 1
    without_sides = [each | {"color_hist": []} for each in field]
    narrow = [(field, NEAR)] if len(field) > LARGE else []
    for each, near in [*narrow, (field, len(field)), (without_sides, len(field))]:
        try:
            found = _Engine(each, met, *settings, apart=apart, near=near).generate_pairings()
        except _NoneLeft:
            continue
        pairs = [(pair["white_id"], pair["black_id"] or NOBODY) for pair in found]
        if not any(other == NOBODY and one in had for one, other in pairs):
            keeps = each is field
            return [pair if keeps or NOBODY in pair else fewest_firsts(*pair, meetings) for pair in pairs] + asked
    return []


def _players(progress: Progress) -> dict[str, dict[str, Any]]:
    """The entrants in the form of the library, by name, with their results before the next round.

    A cancelled game counts as lost by both. Only a bye that was worth a win keeps a player from another one
    (FIDE C.04.1), not a bye of half a point, nor the rounds before a player joined.
    """
    tournament, entrants, meetings = progress
    number = tournament.round + 1
    names = [*progress.by_name]
    before = {last: points(names, (one for one in meetings if one.round < last)) for last in range(1, number + 1)}
    found = {}
    for place, one in enumerate(entrants, 1):
        own = {each.round: each for each in meetings_of(one.name, meetings)}
        sides, floats = [], []
        for last in range(1, number):
            if last in own and not own[last].is_bye:
                mine, others = before[last][one.name], before[last][own[last].opponent(one.name)]
                sides.append("white" if own[last].first == one.name else "black")
                floats.append("down" if mine > others else "up" if mine < others else "none")
            elif last in own or last < one.joined:
                floats.append("down")
        found[one.name] = {
            "id": one.name,
            "starting_number": place,
            "pairing_number": place,
            "score": before[number][one.name],
            "color_hist": sides,
            "float_history": floats,
            "bye_count": sum(each.round < number and each.is_bye and each.outcome == 1 for each in own.values()),
        }
    return found


def report(progress: Progress, title: str) -> str:
    """A tournament as a report for FIDE's programs (TRF16), which pair and check rounds. It has no ratings."""
    tournament, entrants, meetings = progress
    numbers = {one.name: at for at, one in enumerate(entrants, 1)}
    score = points(numbers, meetings)
    players = []
    for one in entrants:
        results: dict[int, dict[str, object]] = {last: {"result": "Z"} for last in range(1, one.joined)}
        for each in meetings_of(one.name, meetings):
            outcome = each.outcome_of(one.name)
            results[each.round] = {
                "opponent": numbers.get(each.opponent(one.name)),
                "color": "w" if each.first == one.name else "b",
                "result": "0" if each.is_void else "" if outcome is None else RESULTS[outcome],
            }
            if each.is_bye:
                results[each.round] = {"result": "U" if outcome else "H"}
        players.append(
            {"starting_number": numbers[one.name], "name": one.name, "score": score[one.name], "results": results}
        )
    apart = [
        f"XXP {numbers[one]} {numbers[other]}"
        for group in tournament.apart
        for one, other in combinations(group, 2)
        if {one, other} <= numbers.keys()
    ]
    return "\n".join([write_trf({"name": title, "system": "Swiss"}, players, tournament.rounds or 0), *apart])
