"""The table of a tournament: places by points, and then by tie-breaks.

A win or a bye is 1 point, a tie 0.5. The tie-breaks are those of the FIDE handbook (C.07); their order can be chosen:

- ``direct``: direct encounter, the points from the games of those who are still equal against each other;
- ``sb``: Sonneborn-Berger score, for each win the points of the opponent, for each tie half of them;
- ``buchholz``: Buchholz score, the points of all opponents;
- ``cut1``: Buchholz score without the opponent who has the fewest points;
- ``wins``: games won.

A bye counts as a game against somebody with as many points as the player has.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from pbm.tournaments.kinds import WORTH, Entrant, Meeting, Pair, meetings_of, points

SIGNS = {1: "1", 0: "=", -1: "0", None: "."}
"""The signs in a table for a game that was won, tied or lost, and for one that is not yet played."""
AS_POINTS = {1: "1", 0: "0.5", -1: "0", None: "?"}
"""What stands for each of SIGNS in a spreadsheet: the points."""
BEHIND_NUMBERS = {1: "+", 0: "=", -1: "-", None: "?"}
"""What stands for each of SIGNS in a spreadsheet behind the number of an opponent, such as ``3+``. A spreadsheet would
read 3:1 as a time of day, and 3. as a number."""
CANCELLED = "x"
"""The sign for a cancelled game, also in a spreadsheet."""


class TieBreak(NamedTuple):
    """A score that decides between players with equal points."""

    title: str
    """The name of the tie-break in a sentence."""
    heading: str = ""
    """The heading of its column; empty if it has none."""
    key: str = ""
    """The name of the tie-break for programs."""


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
        """The line for programs. *who* is the key of the name; *order* has the tie-breaks to show."""
        data: dict[str, Any] = {"place": self.place, who: self.name, "points": self.points}
        for kind in order:
            key = SCORES[kind].key
            if key:
                data[key] = self.scores[kind]
        data |= {"won": self.won, "lost": self.lost, "tied": self.tied, "to_play": self.to_play}
        return data


def places_of(
    names: Iterable[str],
    meetings: Sequence[Meeting],
    order: Sequence[str],
    others: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> list[Standing]:
    """The lines of a table, by points, then by the tie-breaks in *order*, then by name.

    *others* has the scores of each name for tie-breaks that do not follow from the meetings.
    """
    players = list(dict.fromkeys(names))
    meetings_by_player = {name: meetings_of(name, meetings) for name in players}
    score = points(players, meetings)
    scores: dict[str, Mapping[str, float]] = {}
    for kind in TIE_BREAKS:
        if kind != "direct":
            scores[kind] = {name: _score(kind, name, meetings_by_player[name], score) for name in players}
    scores |= others

    groups = _equals(players, score)
    for kind in order:
        finer_groups: list[list[str]] = []
        for group in groups:
            if kind == "direct":
                finer_groups += _by_encounter(group, meetings_by_player)
            else:
                finer_groups += _equals(group, scores[kind])
        groups = finer_groups

    lines: list[Standing] = []
    for group in groups:
        place = len(lines) + 1
        for name in sorted(group):
            games = [game for game in meetings_by_player[name] if not game.is_bye and not game.is_void]
            outcomes = [game.outcome_of(name) for game in games]
            line = Standing(
                place=place,
                name=name,
                points=score[name],
                scores={kind: scores[kind][name] for kind in scores},
                won=outcomes.count(1),
                lost=outcomes.count(-1),
                tied=outcomes.count(0),
                to_play=outcomes.count(None),
            )
            lines.append(line)
    return lines


def _score(kind: str, name: str, meetings: Sequence[Meeting], score: Mapping[str, float]) -> float:
    """The score of a player from their *meetings* by one of the tie-breaks; *score* has the points of all players."""
    if kind == "wins":
        outcomes = [meeting.outcome_of(name) for meeting in meetings if not meeting.is_bye]
        return outcomes.count(1)
    over = [meeting for meeting in meetings if meeting.outcome is not None]
    opponents_points = [_points_met(name, meeting, score) for meeting in over]
    if kind == "sb":
        outcomes = [meeting.outcome_of(name) for meeting in over]
        return sum(WORTH[outcome] * met for outcome, met in zip(outcomes, opponents_points, strict=True))
    if kind == "cut1" and opponents_points:
        opponents_points.remove(min(opponents_points))
    return sum(opponents_points)


def _points_met(name: str, meeting: Meeting, score: Mapping[str, float]) -> float:
    """The points of a player's opponent; in a bye, those of the player."""
    if meeting.is_bye:
        return score[name]
    return score.get(meeting.opponent(name), 0.0)


def _by_encounter(names: list[str], meetings_by_player: Mapping[str, Sequence[Meeting]]) -> Iterator[list[str]]:
    """Split players who are equal otherwise by their points against each other, the best ones first.

    Each part is split again by the games among its own players, until nothing splits it.
    """
    reached = {}
    for name in names:
        encounters = [meeting for meeting in meetings_by_player[name] if meeting.opponent(name) in names]
        reached[name] = sum(WORTH[meeting.outcome_of(name)] for meeting in encounters)
    parts = _equals(names, reached)
    if len(parts) == 1:
        yield names
        return
    for part in parts:
        yield from _by_encounter(part, meetings_by_player)


def _equals(names: Iterable[str], values: Mapping[str, float]) -> list[list[str]]:
    """The names in groups of equal value, the highest value first."""
    value = values.__getitem__
    descending = sorted(names, key=value, reverse=True)
    return [list(group) for _, group in groupby(descending, value)]


# The cells of a table

Rows = list[list[str]]
"""The cells of a table, row by row, the headings first."""


def of_places(lines: Sequence[Standing], order: Iterable[str], who: str = "Player") -> Rows:
    """The places with points and scores; *who* is the heading of the names."""
    kinds = [kind for kind in order if SCORES[kind].heading]
    headings = ["Place", who, "Points"]
    headings += [SCORES[kind].heading for kind in kinds]
    headings += ["Won", "Lost", "Tied", "To play"]
    rows = [headings]
    for line in lines:
        row = [str(line.place), line.name, f"{line.points:g}"]
        row += [f"{line.scores[kind]:g}" for kind in kinds]
        row += [str(line.won), str(line.lost), str(line.tied), str(line.to_play)]
        rows.append(row)
    return rows


def of_members(lines: Sequence[Standing], team_of: Mapping[str, str], teams: Sequence[Standing]) -> Rows:
    """The team of each player; if the table of *teams* is given, behind it the place and the points of that team."""
    headings = ["Team"]
    if teams:
        headings += ["Team place", "Team points", "Board points"]
    rows = [headings]
    standings = {team.name: team for team in teams}
    for line in lines:
        name = team_of.get(line.name, "")
        row = [name]
        if name in standings:
            team = standings[name]
            row += [str(team.place), f"{team.points:g}", f"{team.scores['board_points']:g}"]
        row += [""] * (len(headings) - len(row))
        rows.append(row)
    return rows


def of_results(lines: Sequence[Standing], meetings: Sequence[Meeting], *, is_spreadsheet: bool) -> Rows:
    """The results of each player against each other one, with a column for each: as SIGNS, or with blanks AS_POINTS."""
    signs = AS_POINTS if is_spreadsheet else SIGNS
    separator = " " if is_spreadsheet else ""
    results: dict[Pair, list[str]] = {}
    """The signs of a player's games against another one, by the names of the two."""
    for meeting in meetings:
        for name in meeting.pair:
            results.setdefault((name, meeting.opponent(name)), []).append(sign_of(meeting, name, signs))

    names = [line.name for line in lines]
    rows = [names]
    for name in names:
        rows.append([separator.join(results.get((name, opponent), [])) for opponent in names])
    return rows


def of_rounds(lines: Sequence[Standing], meetings: Sequence[Meeting], *, is_spreadsheet: bool) -> Rows:
    """The opponent of each player in each round, as a line of the table, and the result: ``7:1``, in CSV ``7+``."""
    signs = BEHIND_NUMBERS if is_spreadsheet else SIGNS
    separator = "" if is_spreadsheet else ":"
    line_numbers = {line.name: number for number, line in enumerate(lines, 1)}
    cells: dict[tuple[str, int], list[str]] = {}
    """The cells by player and round: in a knockout, two can meet more than once in a round."""
    for meeting in meetings:
        for name in meeting.pair:
            if meeting.is_bye:
                cell = "bye" if meeting.outcome else "bye="
            else:
                number = line_numbers.get(meeting.opponent(name), "?")
                cell = f"{number}{separator}{sign_of(meeting, name, signs)}"
            cells.setdefault((name, meeting.round), []).append(cell)

    last_round = max((meeting.round for meeting in meetings), default=0)
    rounds = range(1, last_round + 1)
    rows = [[f"R{number}" for number in rounds]]
    for line in lines:
        rows.append([" ".join(cells.get((line.name, number), ["-"])) for number in rounds])
    return rows


def sign_of(meeting: Meeting, name: str, signs: Mapping[int | None, str] = SIGNS) -> str:
    """The sign for the result of a player in a game."""
    if meeting.is_void:
        return CANCELLED
    return signs[meeting.outcome_of(name)]


def explained(order: Sequence[str]) -> str:
    """The sentence below a table about what decides the places between equal points."""
    titles = ", ".join(TIE_BREAKS[kind].title for kind in order)
    return f"Places by points, then {titles}."


def signs_explained(*, is_numbered: bool) -> str:
    """The sentences below a table about its signs; *is_numbered* for one with rounds."""
    won, tied, lost, to_play = SIGNS.values()
    sentences = f"{won} won, {tied} tied, {lost} lost, {to_play} still to be played, {CANCELLED} cancelled."
    if not is_numbered:
        return sentences
    example = (
        f"R1 is round 1; 5:{won} in it is a game won against No 5, "
        "bye a point without a game, bye= half a point, - no game."
    )
    return f"{example} {sentences}"


# Teams


def team_standings(entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> list[Standing]:
    """The teams by team points, then by board points, then by direct encounter, then by name.

    A match is all games between two teams. It is worth 1 point if it is won, 0.5 if it is tied, and none before all its
    games are over.
    """
    team_of = {entrant.name: entrant.team for entrant in entrants}
    teams = list(dict.fromkeys(team_of.values()))
    matches: dict[frozenset[str], list[Meeting]] = {}
    """The games between two teams, by these."""
    for meeting in meetings:
        if meeting.first not in team_of or meeting.second not in team_of:
            continue  # a bye, or a board that was named one by one
        opponents = frozenset(team_of[name] for name in meeting.pair)
        if len(opponents) == 2:  # else one team against itself, on a board that was named one by one
            matches.setdefault(opponents, []).append(meeting)
    results = [_result_of_match(sorted(opponents), games, team_of) for opponents, games in matches.items()]
    board_points = _board_points(team_of, meetings)
    return places_of(teams, results, ["board_points", "direct"], {"board_points": board_points})


def _board_points(team_of: Mapping[str, str], games: Sequence[Meeting]) -> dict[str, float]:
    """The points that the players of each team have from these games together."""
    board_points = dict.fromkeys(team_of.values(), 0.0)
    for name, reached in points(team_of, games).items():
        board_points[team_of[name]] += reached
    return board_points


def _result_of_match(teams: Sequence[str], games: Sequence[Meeting], team_of: Mapping[str, str]) -> Meeting:
    """A match as a meeting of two teams."""
    first, second = teams
    board_points = _board_points(team_of, games)
    if any(game.is_running for game in games):
        outcome = None
    elif board_points[first] > board_points[second]:
        outcome = 1
    elif board_points[first] < board_points[second]:
        outcome = -1
    else:
        outcome = 0
    return Meeting(1, first, second, outcome)
