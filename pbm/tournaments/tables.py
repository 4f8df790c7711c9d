"""The table of a tournament: places by points, and then by tie-breaks.

A win or a bye is 1 point, a tie 0.5. The tie-breaks are those of the FIDE handbook (C.07); their order can be chosen:

- ``direct``: direct encounter, the points from the games of those who are still equal against each other;
- ``sb``: Sonneborn-Berger score, for each win the points of the opponent, for each tie half of them;
- ``buchholz``: Buchholz score, the points of all opponents;
- ``cut1``: the same without the opponent who has the fewest points;
- ``wins``: games won.

A bye counts as a game against somebody with as many points as the player has.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from pbm.tournaments.kinds import WORTH, Entrant, Meeting, meetings_of, points

SIGNS = {1: "1", 0: "=", -1: "0", None: "."}
"""The signs in a table for a game that was won, tied or lost, and for one that is still to be played."""
AS_POINTS = {1: "1", 0: "0.5", -1: "0", None: "-"}
"""The same in a spreadsheet."""
BEHIND_NUMBERS = {1: "+", 0: "=", -1: "-", None: "?"}
"""The same in a spreadsheet behind the number of an opponent: 3:1 would be read as a time of day, and 3. as a number.
"""
CANCELLED = "x"
"""The sign for a cancelled game in both."""


class TieBreak(NamedTuple):
    """A score that decides between players with equal points."""

    title: str
    """Its name in a sentence."""
    heading: str = ""
    """The heading of its column; empty if it has none."""
    key: str = ""
    """Its name for programs."""


TIE_BREAKS: Mapping[str, TieBreak] = {
    "direct": TieBreak("direct encounter"),
    "sb": TieBreak("Sonneborn-Berger score (SB)", "SB", "sonneborn_berger"),
    "buchholz": TieBreak("Buchholz score (BH)", "BH", "buchholz"),
    "cut1": TieBreak("Buchholz score without the lowest opponent (BH-1)", "BH-1", "buchholz_cut_1"),
    "wins": TieBreak("games won"),
}
BOARD_POINTS: Mapping[str, TieBreak] = {"board_points": TieBreak("board points", "Board points", "board_points")}
"""The tie-break between teams in front of direct encounter."""
SCORES: Mapping[str, TieBreak] = {**TIE_BREAKS, **BOARD_POINTS}


class Standing(NamedTuple):
    """A line of a table."""

    place: int
    """1 for the best; players who are equal in everything share a place."""
    name: str
    points: float
    scores: Mapping[str, float]
    """The tie-breaks by their keys in SCORES, without direct encounter."""
    won: int
    lost: int
    tied: int
    to_play: int

    def as_data(self, who: str, order: Iterable[str]) -> dict[str, Any]:
        """The line for programs. *who* is the key of the name; *order* has the scores that are told."""
        scores = {SCORES[kind].key: self.scores[kind] for kind in order if SCORES[kind].key}
        counts = {"won": self.won, "lost": self.lost, "tied": self.tied, "to_play": self.to_play}
        return {"place": self.place, who: self.name, "points": self.points, **scores, **counts}


def places_of(
    names: Iterable[str],
    meetings: Sequence[Meeting],
    order: Sequence[str],
    others: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> list[Standing]:
    """The lines of a table, by points, then by the tie-breaks in *order*, then by name.

    *others* has the scores of each name for tie-breaks that do not follow from the meetings.
    """
    everybody = list(dict.fromkeys(names))
    own = {name: meetings_of(name, meetings) for name in everybody}
    score = points(everybody, meetings)
    kinds = [kind for kind in TIE_BREAKS if kind != "direct"]
    scores = {kind: {name: _score(kind, name, own[name], score) for name in everybody} for kind in kinds} | dict(others)
    groups = _equals(everybody, score)
    for kind in order:
        groups = [
            part
            for group in groups
            for part in (_by_encounter(group, own) if kind == "direct" else _equals(group, scores[kind]))
        ]
    lines: list[Standing] = []
    for equals in groups:
        place = len(lines) + 1
        for name in sorted(equals):
            outcomes = [one.outcome_of(name) for one in own[name] if not one.is_bye and not one.is_void]
            counts = [outcomes.count(outcome) for outcome in (1, -1, 0, None)]
            lines.append(Standing(place, name, score[name], {kind: scores[kind][name] for kind in scores}, *counts))
    return lines


def _score(kind: str, name: str, own: Sequence[Meeting], score: Mapping[str, float]) -> float:
    """The score of a player by one of the tie-breaks."""
    if kind == "wins":
        return sum(1 for one in own if one.outcome_of(name) == 1 and not one.is_bye)
    met = [(one.outcome_of(name), score[name] if one.is_bye else score.get(one.opponent(name), 0.0)) for one in own
           if one.outcome is not None]  # fmt: skip
    if kind == "sb":
        return sum(WORTH[outcome] * theirs for outcome, theirs in met)
    theirs = sorted(their for _, their in met)
    return sum(theirs[1:] if kind == "cut1" else theirs)


def _by_encounter(names: list[str], own: Mapping[str, Sequence[Meeting]]) -> Iterator[list[str]]:
    """Split players who are equal otherwise by their points against each other, the best ones first.

    Each part is split again by the games among its own players, until nothing splits it.
    """
    reached = {
        name: sum(WORTH[one.outcome_of(name)] for one in own[name] if one.opponent(name) in names) for name in names
    }
    parts = _equals(names, reached)
    for part in parts:
        if len(parts) > 1:
            yield from _by_encounter(part, own)
        else:
            yield part


def _equals(names: Iterable[str], values: Mapping[str, float]) -> list[list[str]]:
    """The names in groups of equal value, the highest value first."""
    value = values.__getitem__
    return [list(same) for _, same in groupby(sorted(names, key=value, reverse=True), value)]


# The cells of a table

Rows = list[list[str]]
"""The cells of a table, row by row, the headings first."""


def of_places(lines: Sequence[Standing], order: Iterable[str], who: str = "Player") -> Rows:
    """The places with points and scores; *who* is the heading of the names."""
    kinds = [kind for kind in order if SCORES[kind].heading]
    headings = (SCORES[kind].heading for kind in kinds)
    rows = [["Place", who, "Points", *headings, "Won", "Lost", "Tied", "To play"]]
    for line in lines:
        scores = (f"{line.scores[kind]:g}" for kind in kinds)
        counts = map(str, (line.won, line.lost, line.tied, line.to_play))
        rows.append([str(line.place), line.name, f"{line.points:g}", *scores, *counts])
    return rows


def of_members(lines: Sequence[Standing], team_of: Mapping[str, str], teams: Sequence[Standing]) -> Rows:
    """The team of each player; if the table of *teams* is given, behind it the place and the points of that team."""
    rows = [["Team"]]
    if teams:
        rows[0] += ["Team place", "Team points", "Board points"]
    standings = {team.name: team for team in teams}
    for line in lines:
        name = team_of.get(line.name, "")
        row = [name]
        if name in standings:
            team = standings[name]
            row += [str(team.place), f"{team.points:g}", f"{team.scores['board_points']:g}"]
        rows.append(row + [""] * (len(rows[0]) - len(row)))
    return rows


def of_results(lines: Sequence[Standing], meetings: Sequence[Meeting], *, is_spreadsheet: bool) -> Rows:
    """The results of each player against each other one, with a column for each: as SIGNS, or with blanks AS_POINTS."""
    signs, between = (AS_POINTS, " ") if is_spreadsheet else (SIGNS, "")
    found: dict[tuple[str, str], list[str]] = {}
    for one in meetings:
        for name in one.pair:
            found.setdefault((name, one.opponent(name)), []).append(_sign(one, name, signs))
    names = [line.name for line in lines]
    return [names, *([between.join(found.get((name, other), [])) for other in names] for name in names)]


def of_rounds(lines: Sequence[Standing], meetings: Sequence[Meeting], *, is_spreadsheet: bool = False) -> Rows:
    """The opponent of each player in each round, as a line of the table, and the result: ``7:1``, in CSV ``7+``."""
    signs, between = (BEHIND_NUMBERS, "") if is_spreadsheet else (SIGNS, ":")
    at = {line.name: number for number, line in enumerate(lines, 1)}
    found: dict[tuple[str, int], list[str]] = {}
    for one in meetings:
        for name in one.pair:
            cell = f"{at.get(one.opponent(name), '?')}{between}{_sign(one, name, signs)}"
            if one.is_bye:
                cell = "bye" if one.outcome else "bye="
            found.setdefault((name, one.round), []).append(cell)
    rounds = range(1, 1 + max((one.round for one in meetings), default=0))
    cells = ([" ".join(found.get((line.name, number), ["-"])) for number in rounds] for line in lines)
    return [[f"R{number}" for number in rounds], *cells]


def _sign(one: Meeting, name: str, signs: Mapping[int | None, str] = SIGNS) -> str:
    return CANCELLED if one.is_void else signs[one.outcome_of(name)]


def explained(order: Sequence[str]) -> str:
    """The sentence below a table about what decides the places."""
    return f"Places by points, then {', '.join(TIE_BREAKS[kind].title for kind in order)}." if order else ""


def signs_explained(*, is_numbered: bool) -> str:
    """The sentences below a table about its signs; *is_numbered* for one with rounds."""
    won, tied, lost, to_play = SIGNS.values()
    rounds = (
        f"R1 is round 1; 5:{won} in it is a game won against No 5, "
        "bye a point without a game, bye= half a point, - no game. "
        if is_numbered
        else ""
    )
    return f"{rounds}{won} won, {tied} tied, {lost} lost, {to_play} still to be played, {CANCELLED} cancelled."


# Teams


def team_standings(entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> list[Standing]:
    """The teams by team points, then by board points, then by direct encounter, then by name.

    A match is all games between two teams. It is worth 1 point if it is won, 0.5 if it is tied, and none before all its
    games are over.
    """
    team = {entrant.name: entrant.team for entrant in entrants}
    teams = list(dict.fromkeys(team.values()))
    matches: dict[frozenset[str], list[Meeting]] = {}
    for one in meetings:
        if {*one.pair} <= team.keys():  # else it is a bye, or a board that was named one by one
            matches.setdefault(frozenset(team[name] for name in one.pair), []).append(one)
    results = [_result_of_match(sorted(both), games, team) for both, games in matches.items() if len(both) == 2]
    return places_of(teams, results, ["board_points", "direct"], {"board_points": _board_points(team, meetings)})


def _board_points(team: Mapping[str, str], games: Sequence[Meeting]) -> dict[str, float]:
    """The points that the players of each team have from these games together."""
    found = dict.fromkeys(team.values(), 0.0)
    for name, reached in points(team, games).items():
        found[team[name]] += reached
    return found


def _result_of_match(both: Sequence[str], games: Sequence[Meeting], team: Mapping[str, str]) -> Meeting:
    """A match as a meeting of two teams."""
    one, other = both
    reached = _board_points(team, games)
    is_open = any(game.is_running for game in games)
    outcome = (reached[one] > reached[other]) - (reached[one] < reached[other])
    return Meeting(1, one, other, None if is_open else outcome)
