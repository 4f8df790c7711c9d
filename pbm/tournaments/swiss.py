"""A Swiss tournament: in each of some rounds, players meet others with about as many points."""

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament


class Swiss(Kind):
    """Rounds paired by FIDE's rules in `dutch`, which is imported only where it is needed: its library is large."""

    name, title = "swiss", "Swiss tournament"
    settings = "rounds", "never", "byes"

    def problem_of_settings(self, tournament: Tournament) -> str:
        """The number of rounds has to be given."""
        return "" if tournament.rounds else "A Swiss tournament needs --rounds=N."

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """There have to be enough players, because nobody meets anybody twice."""
        most = count - 1 + count % 2
        if (tournament.rounds or 0) <= most:
            return ""
        rounds = f"{most} round{'s' if most > 1 else ''}"
        return f"{count} players can play {rounds} of a Swiss tournament without meeting twice, not more."

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """The round as FIDE pairs it."""
        from pbm.tournaments import dutch

        return dutch.paired(progress)

    def why_over(self, tournament: Tournament) -> str:
        """It ends early if a round cannot be paired."""
        number, rounds = tournament.round + 1, tournament.rounds or 0
        if tournament.state != "running" or number > rounds:
            return ""
        return f"Round {number} of {rounds} cannot be paired: those who are left have met, or may not meet."

    def report(self, progress: Progress, title: str) -> str:
        """The report as TRF16."""
        from pbm.tournaments import dutch

        return dutch.report(progress, title)
