"""Knockout: the loser of a match is out, until one player is left."""

from collections.abc import Sequence

from pbm.tournaments.kinds import NOBODY, Kind, Meeting, Pair, Progress, Round, lead, points

MOST_TIES = 2
"""How many more games than planned a match has at most; if it is tied even then, the higher seed goes on."""


class Knockout(Kind):
    """Matches of one or more games. The next game of a match begins as soon as the one before is over."""

    name, title = "knockout", "knockout"
    takes_latecomers = False
    settings = ("best_of",)
    explained = "A player's place is set by the round in which they lose. The winner is first."

    def due(self, progress: Progress) -> Round:
        """The next game of each open match of which no game is running."""
        found = matches(progress)
        pairs = []
        for (one, other), through in found[-1].items() if progress.tournament.state == "running" else ():
            games = _games(one, other, progress.meetings)
            if through is None and not any(game.is_running for game in games):
                pairs.append((games[-1].second, games[-1].first) if games else _sides(one, other, progress.meetings))
        is_over = not pairs and not progress.running
        return Round(len(found), pairs, is_over=is_over)

    def places(self, progress: Progress) -> dict[str, int]:
        """The winner is first, and all who were beaten in the same round share a place.

        Before the end, all who are not beaten share the first place.
        """
        found = matches(progress)
        lasted = {entrant.name: len(found) + 1 for entrant in progress.entrants}
        for number, through in enumerate(found, 1):
            for pair, winner in through.items():
                if winner is not None:
                    lasted |= dict.fromkeys({*pair} - {winner, NOBODY}, number)
        return {name: 1 + sum(other > last for other in lasted.values()) for name, last in lasted.items()}


def bracket(size: int) -> list[int]:
    """The seeds, from 0 on, in a full bracket of 2, 4, 8 ... players from top to bottom: 0 3 1 2 for 4 players."""
    places = [0]
    while len(places) < size:
        places = [place for above in places for place in (above, 2 * len(places) - 1 - above)]
    return places


def matches(progress: Progress) -> list[dict[Pair, str | None]]:
    """The matches of each round that could be paired, each with its winner; None while a match is open.

    The higher seed is the first of a match; matches stand in their order in the bracket. If the bracket has more places
    than there are entrants, the highest seeds have no opponent in the first round. A player who has withdrawn loses
    their open matches.
    """
    entrants = progress.entrants
    size = 1 << max(0, len(entrants) - 1).bit_length()
    place = {entrant.name: number for number, entrant in enumerate(entrants)}
    gone = {entrant.name for entrant in entrants if entrant.withdrawn is not None}
    left = [entrants[at].name if at < len(entrants) else NOBODY for at in bracket(size)]
    found: list[dict[Pair, str | None]] = []
    while len(left) > 1:
        both = zip(left[::2], left[1::2], strict=True)
        pairs = [sorted(names, key=lambda name: place.get(name, size)) for names in both]
        found.append({(one, other): _through(one, other, gone, progress) for one, other in pairs})
        left = [name for name in found[-1].values() if name is not None]
        if len(left) < len(pairs):
            break
    return found


def _through(one: str, other: str, gone: set[str], progress: Progress) -> str | None:
    """The winner of a match, in which *one* is the higher seed; None while it is open."""
    if NOBODY in {one, other}:
        return one or other
    games, best_of = _games(one, other, progress.meetings), progress.tournament.best_of
    over = [game for game in games if not game.is_running]
    score = points((one, other), over)
    for name, rival in ((one, other), (other, one)):
        if score[name] > score[rival] and (score[name] > best_of / 2 or len(over) >= best_of):
            return name
    if len(over) >= best_of + MOST_TIES:
        return one
    if gone & {one, other} and len(over) == len(games):
        return one if other in gone else other
    return None


def _games(one: str, other: str, meetings: Sequence[Meeting]) -> list[Meeting]:
    return [game for game in meetings if set(game.pair) == {one, other}]


def _sides(one: str, other: str, meetings: Sequence[Meeting]) -> Pair:
    """The order for the first game of a match: who has begun less often begins, else the lower seed."""
    return (one, other) if lead(one, meetings) < lead(other, meetings) else (other, one)
