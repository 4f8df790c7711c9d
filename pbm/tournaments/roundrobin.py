"""Tournaments in which all games begin at once: everybody meets everybody, or only the next one in the list."""

from collections.abc import Mapping, Sequence

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament


class RoundRobin(Kind):
    """Every two players, or every two teams, meet."""

    name = "roundrobin"
    title = "round robin"
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
        pairs = []
        for number, opponent in enumerate(others):
            if number % 2:
                pairs.append((name, opponent))
            else:
                pairs.append((opponent, name))
        if tournament.double:
            pairs += _reversed(pairs)
        return pairs


class Pairs(Kind):
    """The first two players meet, the next two, and so on."""

    name = "pairs"
    title = "pairs"
    has_rounds = False
    takes_latecomers = False
    tie_breaks = RoundRobin.tie_breaks

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """A sentence about an odd number of players, which cannot be paired; empty if the number is even."""
        if count % 2:
            return f"{count} players cannot be paired."
        return ""

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """All games."""
        players = progress.players
        return list(zip(players[::2], players[1::2], strict=True))


def round_robin(players: Sequence[str], *, double: bool = False) -> list[Pair]:
    """The games of every two players, round by round; *double* adds them all again with the sides exchanged.

    Of each player, the numbers of games that they begin, and do not begin, differ by one at most.
    """
    count = len(players) + len(players) % 2
    last = count - 1  # this seat stays while all others move on; it is empty if the number of players is odd
    pairs = []
    for step in range(last):
        seats = [(step, last)]
        for distance in range(1, count // 2):
            seats.append(((step + distance) % last, (step - distance) % last))
        for low, high in map(sorted, seats):
            if high == len(players):
                continue  # the empty seat: this player waits
            if (high - low) % 2:
                pairs.append((players[low], players[high]))
            else:
                pairs.append((players[high], players[low]))
    if double:
        pairs += _reversed(pairs)
    return pairs


def team_match(teams: Mapping[str, Sequence[str]], *, double: bool) -> list[Pair]:
    """The games of every two teams: the first player against the first, the second against the second, and so on.

    A team begins on every other board of a match. All teams have equally many players.
    """
    pairs = []
    for team, opponents in round_robin(list(teams), double=double):
        games = zip(teams[team], teams[opponents], strict=True)
        for number, (player, opponent) in enumerate(games):
            if number % 2:
                pairs.append((opponent, player))
            else:
                pairs.append((player, opponent))
    return pairs


def _reversed(pairs: Sequence[Pair]) -> list[Pair]:
    """These games with the sides exchanged."""
    return [(second, first) for first, second in pairs]
