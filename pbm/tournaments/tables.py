"""The table of a tournament: places by points, and by what decides between those who have as many.

Points: 1 for a win or a bye, 0.5 for a tie. What decides between equal points, in an order that can be chosen
(FIDE handbook C.07, whose definitions these are):

- ``direct``: direct encounter, the points from the games of those who are still equal against each other;
- ``sb``: Sonneborn-Berger score, for each win the points of the opponent, for each tie half of them;
- ``buchholz``: Buchholz score, the points of all opponents;
- ``cut1``: the same without the opponent who has the fewest points;
- ``wins``: games won.

A bye counts as a game against somebody with as many points as the player himself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from pbm.tournaments.meetings import WORTH, Entrant, Meeting, meetings_of, points

SIGNS = {1: "1", 0: "=", -1: "0", None: "."}
"""How a table shows a game that was won, tied or lost, and one that is still to be played."""
CANCELLED = "x"
"""How it shows one that was cancelled."""


class TieBreak(NamedTuple):
    """What decides between players with equal points."""

    title: str
    """What it is called in a sentence."""
    heading: str = ""
    """What stands above its column; empty if it has none."""
    key: str = ""
    """What programs call it."""


TIE_BREAKS: Mapping[str, TieBreak] = MappingProxyType(
    {
        "direct": TieBreak("direct encounter"),
        "sb": TieBreak("Sonneborn-Berger score (SB)", "SB", "sonneborn_berger"),
        "buchholz": TieBreak("Buchholz score (BH)", "BH", "buchholz"),
        "cut1": TieBreak("Buchholz score without the lowest opponent (BH-1)", "BH-1", "buchholz_cut_1"),
        "wins": TieBreak("games won"),
    }
)


class Standing(NamedTuple):
    """A line of a table."""

    place: int
    """1 for the best; those whom nothing parts share a place."""
    name: str
    points: float
    scores: Mapping[str, float]
    """What decides between equal points, by its name in TIE_BREAKS; direct encounter is not among them."""
    won: int
    lost: int
    tied: int
    to_play: int


def places_of(names: Iterable[str], meetings: Sequence[Meeting], order: Sequence[str]) -> list[Standing]:
    """All who take part, by points, then by the tie-breaks in *order*, then by name."""
    everybody = list(dict.fromkeys(names))
    own = {name: meetings_of(name, meetings) for name in everybody}
    score = points(everybody, meetings)
    kinds = ("wins", *(kind for kind in order if kind != "direct"))
    scores = {name: {kind: _score(kind, name, own[name], score) for kind in kinds} for name in everybody}
    lines: list[Standing] = []
    for equals in _parted(_equals(everybody, score.__getitem__), order, scores, own):
        place = len(lines) + 1
        for name in sorted(equals):
            outcomes = [one.outcome_of(name) for one in own[name] if not one.is_bye and not one.is_void]
            counts = [outcomes.count(outcome) for outcome in (1, -1, 0, None)]
            lines.append(Standing(place, name, score[name], scores[name], *counts))
    return lines


def ranked(lines: Iterable[Standing], places: Mapping[str, int]) -> list[Standing]:
    """The same lines with places that something else than points decides, such as a knockout or a ladder."""
    last = len(places) + 1
    placed = [line._replace(place=places.get(line.name, last)) for line in lines]
    return sorted(placed, key=lambda line: line.place)


def _score(kind: str, name: str, own: Sequence[Meeting], score: Mapping[str, float]) -> float:
    """What somebody has of one kind of score."""
    if kind == "wins":
        return sum(1 for one in own if one.outcome_of(name) == 1 and not one.is_bye)
    met = [(one.outcome_of(name), score[name] if one.is_bye else score.get(one.opponent(name), 0.0)) for one in own
           if one.outcome is not None]  # fmt: skip
    if kind == "sb":
        return sum(WORTH[outcome] * theirs for outcome, theirs in met)
    theirs = sorted(their for _, their in met)
    return sum(theirs[1:] if kind == "cut1" else theirs)


def _parted(
    groups: Iterable[Sequence[str]],
    order: Sequence[str],
    scores: Mapping[str, Mapping[str, float]],
    own: Mapping[str, Sequence[Meeting]],
) -> Iterator[Sequence[str]]:
    """Groups of equals, parted by one tie-break after the other, the best ones first."""
    for group in groups:
        if len(group) == 1 or not order:
            yield group
            continue
        is_direct = order[0] == "direct"
        value = {name: scores[name].get(order[0], 0.0) for name in group}
        parts = _by_encounter(group, own) if is_direct else _equals(group, value.__getitem__)
        yield from _parted(parts, order[1:], scores, own)


def _by_encounter(names: Sequence[str], own: Mapping[str, Sequence[Meeting]]) -> Iterator[Sequence[str]]:
    """Those who are equal otherwise, parted by what they have reached against each other, the best ones first.

    Those who stay together are parted by their games among themselves alone, until nothing parts them.
    """
    reached = {
        name: sum(WORTH[one.outcome_of(name)] for one in own[name] if one.opponent(name) in names) for name in names
    }
    parts = _equals(names, reached.__getitem__)
    for part in parts:
        if len(parts) > 1:
            yield from _by_encounter(part, own)
        else:
            yield part


def _equals(names: Iterable[str], value: Callable[[str], Any]) -> list[list[str]]:
    """The names of the same value together, the highest value first."""
    return [list(same) for _, same in groupby(sorted(names, key=value, reverse=True), value)]


# What a table looks like


class Sheet(NamedTuple):
    """A table for people and for spreadsheets."""

    heading: Sequence[str]
    rows: Sequence[Sequence[str]]


def numeral(value: float) -> str:
    """A number of points as it is written."""
    return f"{value:g}"


def cross_table(lines: Sequence[Standing], meetings: Sequence[Meeting], *, by_name: bool) -> Sheet:
    """What each has reached against each other, in columns by name, or numbered as the lines are."""
    found: dict[tuple[str, str], str] = {}
    for one in meetings:
        for name in dict.fromkeys(one.pair):
            found[name, one.opponent(name)] = found.get((name, one.opponent(name)), "") + _sign(one, name)
    names = [line.name for line in lines]
    heading = names if by_name else [str(number) for number, _ in enumerate(names, 1)]
    return Sheet(heading, [[found.get((name, other), "") for other in names] for name in names])


def by_rounds(lines: Sequence[Standing], meetings: Sequence[Meeting]) -> Sheet:
    """In each round, against which line of the table, and the result, such as ``7:1``."""
    at = {line.name: number for number, line in enumerate(lines, 1)}
    last = max((one.round for one in meetings), default=0)
    found: dict[tuple[str, int], list[str]] = {}
    for one in meetings:
        for name in dict.fromkeys(one.pair):
            cell = f"{at.get(one.opponent(name), '?')}:{_sign(one, name)}"
            if one.is_bye:
                cell = "bye" if one.outcome else "bye="
            found.setdefault((name, one.round), []).append(cell)
    heading = [f"R{number}" for number in range(1, last + 1)]
    return Sheet(
        heading,
        [[" ".join(found.get((line.name, number), ["-"])) for number in range(1, last + 1)] for line in lines],
    )


def _sign(one: Meeting, name: str) -> str:
    return CANCELLED if one.is_void else SIGNS[one.outcome_of(name)]


def sheet(lines: Sequence[Standing], order: Sequence[str], beside: Sheet, *, numbered: bool) -> Sheet:
    """The places with their points, and what stands *beside* them; *numbered* if that refers to lines."""
    kinds = [kind for kind in order if TIE_BREAKS[kind].heading]
    heading = ["Place", "Player", "Points", *(TIE_BREAKS[kind].heading for kind in kinds), "Won", "Lost", "Tied"]
    rows = []
    for at, line in enumerate(lines):
        scores = (numeral(line.scores[kind]) for kind in kinds)
        counts = map(str, (line.won, line.lost, line.tied, line.to_play))
        front = [str(at + 1)] if numbered else []
        rows.append([*front, str(line.place), line.name, numeral(line.points), *scores, *counts, *beside.rows[at]])
    return Sheet([*(["No"] if numbered else []), *heading, "To play", *beside.heading], rows)


def explained(order: Sequence[str]) -> str:
    """What decides about places, as the sentence under a table."""
    return f"Places by points, then {', '.join(TIE_BREAKS[kind].title for kind in order)}." if order else ""


def signs_explained(*, is_numbered: bool) -> str:
    """What the cells beside the points mean, as the sentences under a table."""
    won, tied, lost, to_play = (SIGNS[outcome] for outcome in (1, 0, -1, None))
    rounds = (
        f"R1 is round 1; 5:{won} in it is a game won against No 5, "
        "bye a point without a game, bye= half a point, - no game. "
        if is_numbered
        else ""
    )
    return f"{rounds}{won} won, {tied} tied, {lost} lost, {to_play} still to be played, {CANCELLED} cancelled."


# Teams


class TeamLine(NamedTuple):
    """A line of the table of teams."""

    place: int
    team: str
    points: float
    """1 for each match that was won, 0.5 for each that was tied."""
    board_points: float
    won: int
    lost: int
    tied: int
    to_play: int


def team_standings(entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> list[TeamLine]:
    """The teams by team points, then by board points, then by direct encounter, then by name.

    A match is all games of two teams against each other; while one of them is to be played, it gives no points.
    """
    team = {entrant.name: entrant.team for entrant in entrants}
    teams = list(dict.fromkeys(team.values()))
    boards = dict.fromkeys(teams, 0.0)
    matches: dict[frozenset[str], list[Meeting]] = {}
    for one in meetings:
        for name in one.pair:
            if name in team:
                boards[team[name]] += WORTH[one.outcome_of(name)]
        if not one.is_bye:
            matches.setdefault(frozenset(team[name] for name in one.pair), []).append(one)
    results = [_result_of_match(sorted(both), games, team) for both, games in matches.items() if len(both) == 2]
    lines = places_of(teams, results, [])
    places = _equals(teams, lambda name: (next(line.points for line in lines if line.name == name), boards[name]))
    own = {name: meetings_of(name, results) for name in teams}
    ordered = [equals for group in places for equals in _by_encounter(group, own)]
    found: list[TeamLine] = []
    for equals in ordered:
        place = len(found) + 1
        for line in sorted((line for line in lines if line.name in equals), key=lambda line: line.name):
            counts = line.won, line.lost, line.tied, line.to_play
            found.append(TeamLine(place, line.name, line.points, boards[line.name], *counts))
    return found


def _result_of_match(both: Sequence[str], games: Sequence[Meeting], team: Mapping[str, str]) -> Meeting:
    """A match as a meeting of two teams."""
    one, other = both
    reached = dict.fromkeys(both, 0.0)
    for game in games:
        for name in game.pair:
            reached[team[name]] += WORTH[game.outcome_of(name)]
    is_open = any(game.is_running for game in games)
    outcome = (reached[one] > reached[other]) - (reached[one] < reached[other])
    return Meeting(1, one, other, None if is_open else outcome)
