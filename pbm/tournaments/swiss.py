"""A Swiss tournament: all play the same number of rounds, each against somebody with about as many points."""

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament


class Swiss(Kind):
    """Rounds that are paired as FIDE's rules say, in `dutch`, whose library is so large that only they import it."""

    name, title = "swiss", "Swiss tournament"
    settings = "rounds", "never", "byes"

    def problem_of_settings(self, tournament: Tournament) -> str:
        """Rounds have to be counted."""
        return "" if tournament.rounds else "A Swiss tournament needs --rounds=N."

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """Nobody meets anybody twice."""
        most = count - 1 + count % 2
        if (tournament.rounds or 0) <= most:
            return ""
        rounds = f"{most} round{'s' if most > 1 else ''}"
        return f"{count} players can play {rounds} of a Swiss tournament without meeting twice, not more."

    def next_pairs(self, now: Progress) -> list[Pair]:
        """The round as FIDE pairs it."""
        from pbm.tournaments import dutch

        return dutch.paired(now)

    def why_over(self, tournament: Tournament) -> str:
        """A round can be impossible to pair."""
        number, rounds = tournament.round + 1, tournament.rounds or 0
        if tournament.state != "running" or number > rounds:
            return ""
        return f"Round {number} of {rounds} cannot be paired: those who are left have met, or may not meet."

    def report(self, now: Progress, title: str) -> str:
        """The report as TRF16."""
        from pbm.tournaments import dutch

        return dutch.report(now, title)
