"""Knockout: who loses a match is out, until one is left."""

from collections.abc import Sequence
from itertools import groupby
from math import ceil, log2

from pbm.tournaments.kinds import Kind, Round, Tournament
from pbm.tournaments.meetings import NOBODY, WORTH, Entrant, Meeting, Pair
from pbm.tournaments.tables import Standing, ranked

MOST_TIES = 2
"""How many games more than planned a match has at most; if even these decide nothing, who is placed higher goes on."""


class Knockout(Kind):
    """Matches of one or more games, whose next one begins as soon as the one before is over, while others play."""

    name, title = "knockout", "knockout"
    takes_latecomers = False
    settings = ("best_of",)
    explained = "Places by the round in which somebody is out; the winner is first."

    def due(self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> Round:
        """The next game of each match that is open."""
        number, pairs = games_due(entrants, meetings, one.best_of)
        if one.state == "closing":
            pairs = []
        return Round(number, pairs, is_over=not pairs and not any(meeting.is_running for meeting in meetings))

    def ranked(
        self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting], lines: Sequence[Standing]
    ) -> list[Standing]:
        """The lines by the round in which each was beaten."""
        return ranked(lines, places(entrants, meetings, one.best_of))


def rounds_of(players: int) -> int:
    """How many rounds there are until one of so many players is left."""
    return ceil(log2(players)) if players > 1 else 0


def bracket(size: int) -> list[int]:
    """The places of a full bracket of 2, 4, 8 ... players from top to bottom, so that the best two meet last."""
    places = [0]
    while len(places) < size:
        places = [place for above in places for place in (above, 2 * len(places) - 1 - above)]
    return places


def winner(one: str, other: str, games: Sequence[Meeting], best_of: int) -> str | None:
    """Who has won a match, of which *one* is placed higher; None while it is open."""
    over = [game for game in games if not game.is_running]
    for name in (one, other):
        lead = sum(WORTH[game.outcome_of(name)] for game in over)
        behind = sum(WORTH[game.outcome_of(name)] for game in over if game.outcome is not None)
        rival = sum(1 for game in over if game.outcome is not None) - behind
        if lead > best_of / 2 or (len(over) >= best_of and lead > rival):
            return name
    return one if len(over) >= best_of + MOST_TIES else None


def matches(entrants: Sequence[Entrant], meetings: Sequence[Meeting], best_of: int = 1) -> list[list[Pair]]:
    """The matches of each round that could be paired, the one placed higher first, by the place in the bracket.

    The entrants stand in the order in which they were placed. The best ones have no opponent in the first round if
    there are fewer than the bracket has places. Who has withdrawn loses the matches that are open.
    """
    size = 2 ** rounds_of(len(entrants))
    place = {entrant.name: number for number, entrant in enumerate(entrants)}
    gone = {entrant.name for entrant in entrants if entrant.withdrawn is not None}
    left = [entrants[at].name if at < len(entrants) else NOBODY for at in bracket(size)]
    found: list[list[Pair]] = []
    while len(left) > 1:
        found.append([])
        next_left: list[str | None] = []
        for names in zip(left[::2], left[1::2], strict=True):
            one, other = sorted(names, key=lambda name: place.get(name, size))
            found[-1].append((one, other))
            next_left.append(_through(one, other, meetings, best_of, gone))
        if None in next_left:
            break
        left = [name or NOBODY for name in next_left]
    return found


def _through(one: str, other: str, meetings: Sequence[Meeting], best_of: int, gone: set[str]) -> str | None:
    """Who gets through; None while that is open."""
    if NOBODY in {one, other}:
        return one or other
    games = [game for game in meetings if set(game.pair) == {one, other}]
    won = winner(one, other, games, best_of)
    if won is None and not any(game.is_running for game in games):
        still = [name for name in (one, other) if name not in gone]
        if len(still) < 2:
            return still[0] if still else one
    return won


def games_due(entrants: Sequence[Entrant], meetings: Sequence[Meeting], best_of: int = 1) -> tuple[int, list[Pair]]:
    """The number of the round that is being played, and the games of it to be started now, who begins first.

    There are none if some are running in all its matches, or if the tournament is over.
    """
    found = matches(entrants, meetings, best_of)
    gone = {entrant.name for entrant in entrants if entrant.withdrawn is not None}
    pairs = []
    for one, other in found[-1] if found else []:
        games = [game for game in meetings if set(game.pair) == {one, other}]
        is_running = any(game.is_running for game in games)
        if _through(one, other, meetings, best_of, gone) is None and not is_running:
            before = [game for game in meetings if {one, other} & set(game.pair) and not game.is_bye]
            pairs.append(_sides(one, other, games, before))
    return len(found), pairs


def _sides(one: str, other: str, games: Sequence[Meeting], before: Sequence[Meeting]) -> Pair:
    """Who begins a game: in turn in a match; in its first game who has begun less often, else who is placed lower."""
    if games:
        return games[-1].second, games[-1].first
    lead = sum((game.first == one) - (game.second == one) - (game.first == other) + (game.second == other)
               for game in before)  # fmt: skip
    return (one, other) if lead < 0 else (other, one)


def places(entrants: Sequence[Entrant], meetings: Sequence[Meeting], best_of: int = 1) -> dict[str, int]:
    """The place of each: the winner alone has the first, and all who were beaten in the same round share one.

    While it goes on, all who are in it share the first place.
    """
    found = matches(entrants, meetings, best_of)
    gone = {entrant.name for entrant in entrants if entrant.withdrawn is not None}
    lost_in = {entrant.name: len(found) + 1 for entrant in entrants}
    for number, pairs in enumerate(found, 1):
        for pair in pairs:
            through = _through(*pair, meetings, best_of, gone)
            for name in pair:
                if through is not None and name not in {through, NOBODY}:
                    lost_in[name] = number
    best_first = sorted(lost_in, key=lambda name: -lost_in[name])
    order: dict[str, int] = {}
    for _, equals in groupby(best_first, lambda name: lost_in[name]):
        order |= dict.fromkeys(equals, len(order) + 1)
    return order
