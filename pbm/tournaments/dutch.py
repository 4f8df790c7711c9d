"""The rounds of a Swiss tournament, paired by FIDE's Dutch system (handbook C.04.3).

The library caissify-pairings implements that system. This module gives it the results so far and the players who never
meet, and writes the report for FIDE's programs (TRF).
"""

from collections.abc import Collection
from itertools import combinations
from typing import Any, NamedTuple

from caissify_pairings.engines.dutch import DutchEngine, DutchPlayer
from caissify_pairings.trf import TRFWriter

from pbm.tournaments.kinds import NOBODY, Meeting, Pair, Progress, fewest_firsts, meetings_of, points
from pbm.tournaments.tables import places_of

LARGE = 60
NEAR = 8
"""With more than LARGE players, a round is first tried in which each opponent is at most NEAR places from the ideal
one. For 200 players that takes a few seconds; considering all pairs takes a minute."""
RESULTS = {1: "1", 0: "=", -1: "0"}
"""The outcomes in a report."""
SHORT_RESULTS = {1: "W", 0: "D", -1: "L"}
"""The outcomes of games that ended before both players had moved, and so are not rated."""
FORFEIT_RESULTS = {1: "+", -1: "-"}
"""The outcomes of a game that one of the players did not begin."""


class _NoneLeft(Exception):
    """The rules allow no round."""


class _Seat(NamedTuple):
    """Where a player stands before a round."""

    group: int
    """The number of the player's score group; 0 for the one with the most points."""
    place: int
    """The player's place in the group, from 0."""
    group_size: int


class _Engine(DutchEngine):
    """The Dutch system with players who never meet. Raises _NoneLeft if no round is possible."""

    def __init__(self, *args: object, apart: Collection[frozenset[str]], near: int) -> None:
        super().__init__(*args)
        self.apart = apart
        self.near = near
        self.seats: dict[str, _Seat] = {}
        for number, group in enumerate(self._build_scoregroups(self._players)):
            for place, player in enumerate(group):
                self.seats[player.id] = _Seat(number, place, len(group))

    def _can_pair(self, first: DutchPlayer, second: DutchPlayer) -> bool:
        if self._distance(first, second) > self.near:
            return False
        if frozenset((first.id, second.id)) in self.apart:
            return False
        return bool(super()._can_pair(first, second))

    def _distance(self, first: DutchPlayer, second: DutchPlayer) -> int:
        """How many places the opponent of a player is from the ideal one, if these two are paired."""
        upper, lower = sorted((self.seats[first.id], self.seats[second.id]))
        if upper.group == lower.group:
            # The first of a group should meet the first of its lower half, the second one the second one, and so on.
            return abs(lower.place - upper.place - upper.group_size // 2)
        # Between groups, the last of the upper one should meet the first of the lower one.
        return upper.group_size - 1 - upper.place + lower.place

    def _backtrack_match(self, *_: object, **__: object) -> None:
        raise _NoneLeft  # the library would try all pairings that there are, which can take hours


def paired(progress: Progress) -> list[Pair]:
    """The pairs of the next round, the strongest first, byes last; nothing if no round is possible.

    If the rules for sides allow no round, it is paired without these rules: FIDE leaves that to the arbiter.
    """
    number = progress.tournament.round + 1
    present = [entrant for entrant in progress.entrants if entrant.is_in(number)]
    if len(present) < 2:
        return []
    requested_byes = [(entrant.name, NOBODY) for entrant in present if number in entrant.byes]
    players = _players(progress)
    to_pair = [players[entrant.name] for entrant in present if number not in entrant.byes]
    if len(to_pair) > LARGE:
        pairs = _tried(progress, to_pair, near=NEAR)
        if pairs is not None:
            return pairs + requested_byes
    pairs = _tried(progress, to_pair, near=len(to_pair))
    if pairs is not None:
        return pairs + requested_byes
    without_sides = [player | {"color_hist": []} for player in to_pair]
    pairs = _tried(progress, without_sides, near=len(to_pair))
    if pairs is None:
        return []
    pairs = [pair if NOBODY in pair else fewest_firsts(*pair, progress.meetings) for pair in pairs]
    return pairs + requested_byes


def _tried(progress: Progress, players: list[dict[str, Any]], *, near: int) -> list[Pair] | None:
    """The pairs of these players in the next round, at most *near* places from the ideal ones; None if there are none.

    Nobody who has had the point of a win without playing gets a bye (FIDE C.04.1).
    """
    tournament = progress.tournament
    number = tournament.round + 1
    met = {meeting.pair for meeting in progress.meetings if not meeting.is_unplayed}
    apart = {frozenset(pair) for group in tournament.apart for pair in combinations(group, 2)}
    unplayed_wins = {meeting.winner for meeting in progress.meetings if meeting.is_unplayed}
    # The library pairs a first round without _can_pair.
    round_number = max(number, 2) if apart else number
    engine = _Engine(players, met, round_number, tournament.rounds or number + 1, apart=apart, near=near)
    try:
        pairings = engine.generate_pairings()
    except _NoneLeft:
        return None
    pairs = [(pairing["white_id"], pairing["black_id"] or NOBODY) for pairing in pairings]
    if any(second == NOBODY and first in unplayed_wins for first, second in pairs):
        return None
    return pairs


def _players(progress: Progress) -> dict[str, dict[str, Any]]:
    """The entrants in the form of the library, by name, with their results before the next round.

    A cancelled game counts as lost by both. Only a bye that was worth a win, or a forfeit win, keeps a player from the
    bye (FIDE C.04.1). A bye of half a point, and the rounds before a player joined, do not.
    """
    next_round = progress.tournament.round + 1
    names = list(progress.by_name)
    points_before: dict[int, dict[str, float]] = {}
    """The points of each player before a round, by the round."""
    for number in range(1, next_round + 1):
        points_before[number] = points(names, (meeting for meeting in progress.meetings if meeting.round < number))

    players = {}
    for place, entrant in enumerate(progress.entrants, 1):
        name = entrant.name
        played = {meeting.round: meeting for meeting in meetings_of(name, progress.meetings)}
        sides = []
        floats = []
        for number in range(1, next_round):
            meeting = played.get(number)
            if meeting and not meeting.is_unplayed:
                sides.append("white" if meeting.first == name else "black")
            if meeting:
                floats.append(_float(name, meeting, points_before[number]))
            elif number < entrant.joined:
                floats.append("down")  # as for a player who does not play in a round
        earlier = [meeting for meeting in played.values() if meeting.round < next_round]
        players[name] = {
            "id": name,
            "starting_number": place,
            "pairing_number": place,
            "score": points_before[next_round][name],
            "color_hist": sides,
            "float_history": floats,
            "bye_count": sum(meeting.is_bye and meeting.winner == name for meeting in earlier),
            "forfeit_win_count": sum(meeting.is_forfeit and meeting.winner == name for meeting in earlier),
        }
    return players


def _float(name: str, meeting: Meeting, points_before: dict[str, float]) -> str:
    """Whether the opponent of a player had fewer points than they (``down``), more (``up``), or as many (``none``).

    Points without playing are ``down``, an absence is ``none``.
    """
    if meeting.is_unplayed:
        return "none" if meeting.outcome_of(name) == -1 else "down"
    own = points_before[name]
    opponents = points_before[meeting.opponent(name)]
    if own > opponents:
        return "down"
    if own < opponents:
        return "up"
    return "none"


class _Writer(TRFWriter):
    """The writer of the library, which would count all players as rated."""

    def _header_lines(self) -> list[str]:
        return ["072 0" if line.startswith("072") else line for line in super()._header_lines()]


def report(progress: Progress, title: str) -> str:
    """A tournament as a report for FIDE's programs (TRF16), which pair and check rounds.

    It has no ratings, because these programs would seed the players by them.
    """
    numbers = {entrant.name: number for number, entrant in enumerate(progress.entrants, 1)}
    tie_breaks = progress.tournament.tie_breaks.split(",")
    standings = {line.name: line for line in places_of(numbers, progress.meetings, tie_breaks)}
    players = []
    for entrant in progress.entrants:
        name = entrant.name
        results: dict[int, dict[str, object]] = {}
        for number in range(1, entrant.joined):
            results[number] = {"result": "Z"}  # they did not take part
        for meeting in meetings_of(name, progress.meetings):
            results[meeting.round] = _reported(name, meeting, numbers)
        player = {
            "starting_number": numbers[name],
            "name": name,
            "score": standings[name].points,
            "rank": standings[name].place,
            "results": results,
        }
        players.append(player)

    lines = _Writer({"name": title, "system": "Swiss"}, players, progress.tournament.rounds or 0).write().split("\n")
    for group in progress.tournament.apart:
        for first, second in combinations(group, 2):
            if first in numbers and second in numbers:
                lines.append(f"XXP {numbers[first]} {numbers[second]}")
    return "\n".join(lines)


def _reported(name: str, meeting: Meeting, numbers: dict[str, int]) -> dict[str, object]:
    """The result of a player in a meeting, in the form of the library; *numbers* are those of all players."""
    if meeting.is_bye:
        return {"result": "U" if meeting.outcome else "H"}  # a full point, or a half
    return {
        "opponent": numbers.get(meeting.opponent(name)),
        "color": "w" if meeting.first == name else "b",
        "result": _result(name, meeting),
    }


def _result(name: str, meeting: Meeting) -> str:
    """The sign in a report for the result of a player in a game; empty before its end."""
    outcome = meeting.outcome_of(name)
    if meeting.is_void:
        return "0"
    if outcome is None:
        return ""
    if meeting.is_forfeit:
        return FORFEIT_RESULTS[outcome]
    if meeting.is_short:
        return SHORT_RESULTS[outcome]
    return RESULTS[outcome]
