"""Knockout: the loser of a match is out, until one player is left."""

from collections.abc import Sequence

from pbm.tournaments.kinds import NOBODY, Kind, Meeting, Pair, Progress, Round, lead, points

MOST_TIES = 2
"""How many more games than planned a match has at most; if it is tied even then, the higher seed goes on."""


class Knockout(Kind):
    """Matches of one or more games. The next game of a match begins as soon as the one before is over."""

    name = "knockout"
    title = "knockout"
    takes_latecomers = False
    settings = ("best_of",)
    explained = "A player's place is set by the round in which they lose. The winner is first."

    def due(self, progress: Progress) -> Round:
        """The next game of each open match that has no running game."""
        rounds = matches(progress)
        pairs = []
        if progress.tournament.state == "running":
            for (higher, lower), winner in rounds[-1].items():
                games = _games(higher, lower, progress.meetings)
                if winner is not None or any(game.is_running for game in games):
                    continue
                if games:
                    pairs.append((games[-1].second, games[-1].first))
                else:
                    pairs.append(_sides(higher, lower, progress.meetings))
        is_over = not pairs and not progress.running
        return Round(len(rounds), pairs, is_over=is_over)

    def places(self, progress: Progress) -> dict[str, int]:
        """The winner is first, and all who were beaten in the same round share a place.

        Before the end, all who are not beaten share the first place.
        """
        rounds = matches(progress)
        beaten_in = {entrant.name: len(rounds) + 1 for entrant in progress.entrants}
        """The round in which each player was beaten; for one who was not, the number after the last round."""
        for number, winners in enumerate(rounds, 1):
            for pair, winner in winners.items():
                if winner is None:
                    continue
                for name in pair:
                    if name not in {winner, NOBODY}:
                        beaten_in[name] = number
        places = {}
        for name, own_round in beaten_in.items():
            better = [later for later in beaten_in.values() if later > own_round]
            places[name] = 1 + len(better)
        return places


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
    names = [entrant.name for entrant in progress.entrants]
    size = 1
    while size < len(names):
        size *= 2
    seeds = {name: seed for seed, name in enumerate(names)}
    seeds[NOBODY] = size  # behind everybody
    names += [NOBODY] * (size - len(names))
    withdrawn = {entrant.name for entrant in progress.entrants if entrant.withdrawn is not None}
    left = [names[seed] for seed in bracket(size)]
    rounds: list[dict[Pair, str | None]] = []
    while len(left) > 1:
        winners: dict[Pair, str | None] = {}
        for pair in zip(left[::2], left[1::2], strict=True):
            higher, lower = sorted(pair, key=lambda name: seeds[name])
            winners[higher, lower] = _winner(higher, lower, withdrawn, progress)
        rounds.append(winners)
        left = [winner for winner in winners.values() if winner is not None]
        if len(left) < len(winners):
            break  # a match is open, so that the next round cannot be paired
    return rounds


def _winner(higher: str, lower: str, withdrawn: set[str], progress: Progress) -> str | None:
    """The winner of a match between a *higher* and a *lower* seed; None while it is open."""
    if lower == NOBODY:
        return higher
    best_of = progress.tournament.best_of
    games = _games(higher, lower, progress.meetings)
    over = [game for game in games if not game.is_running]
    score = points((higher, lower), over)
    if score[higher] != score[lower]:
        leader = higher if score[higher] > score[lower] else lower
        if score[leader] > best_of / 2 or len(over) >= best_of:
            return leader
    if len(over) >= best_of + MOST_TIES:
        return higher
    if len(over) == len(games):  # a player who has withdrawn during a game loses it first
        if lower in withdrawn:
            return higher  # also if both have withdrawn
        if higher in withdrawn:
            return lower
    return None


def _games(higher: str, lower: str, meetings: Sequence[Meeting]) -> list[Meeting]:
    """The games of a match, in their order."""
    return [game for game in meetings if set(game.pair) == {higher, lower}]


def _sides(higher: str, lower: str, meetings: Sequence[Meeting]) -> Pair:
    """The order for the first game of a match: the one who has begun less often begins, else the lower seed."""
    if lead(higher, meetings) < lead(lower, meetings):
        return higher, lower
    return lower, higher
