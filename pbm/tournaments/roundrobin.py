"""Tournaments whose games all begin at once: everybody meets everybody, or only the next one in the list."""

from collections.abc import Mapping, Sequence

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament


class RoundRobin(Kind):
    """Every two players, or every two teams, meet."""

    name, title = "roundrobin", "round robin"
    most = 32
    has_rounds = False
    settings = "double", "team"
    tie_breaks = "sb,direct"

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """All games."""
        if progress.has_teams:
            return team_match(progress.team_players, double=progress.tournament.double)
        return round_robin(progress.players, double=progress.tournament.double)

    def pairs_of_latecomer(self, tournament: Tournament, name: str, others: Sequence[str]) -> list[Pair]:
        """One game against each, or two; the new player begins every other game."""
        pairs = [(name, other) if at % 2 else (other, name) for at, other in enumerate(others)]
        return pairs + [(second, first) for first, second in pairs] if tournament.double else pairs


class Pairs(Kind):
    """The first two players meet, the next two, and so on."""

    name, title = "pairs", "pairs"
    has_rounds = takes_latecomers = False
    tie_breaks = RoundRobin.tie_breaks

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """The number of players has to be even."""
        return f"{count} players cannot be paired." if count % 2 else ""

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """All games."""
        return list(zip(progress.players[::2], progress.players[1::2], strict=True))


def round_robin(players: Sequence[str], *, double: bool = False) -> list[Pair]:
    """The games of every two players, round by round; *double* adds them all again with the sides exchanged.

    The games that a player begins, and those that they do not begin, differ by one at most.
    """
    seats = len(players) + len(players) % 2
    last = seats - 1  # this seat stays while all others move on; it is empty if the number of players is odd
    pairs = []
    for turn in range(last):
        meetings = [(turn, last), *(((turn + step) % last, (turn - step) % last) for step in range(1, seats // 2))]
        for low, high in map(sorted, meetings):
            if high < len(players):
                pair = players[low], players[high]
                pairs.append(pair if (high - low) % 2 else pair[::-1])
    return pairs + [(second, first) for first, second in pairs] if double else pairs


def team_match(teams: Mapping[str, Sequence[str]], *, double: bool) -> list[Pair]:
    """The games of every two teams: the first player against the first, the second against the second, and so on.

    A team begins on every other board of a match. All teams have equally many players.
    """
    pairs = []
    for one, other in round_robin([*teams], double=double):
        for board, (left, right) in enumerate(zip(teams[one], teams[other], strict=True)):
            pairs.append((right, left) if board % 2 else (left, right))
    return pairs
