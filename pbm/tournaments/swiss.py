"""A Swiss tournament: in each of some rounds, players meet others with about as many points."""

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament


class Swiss(Kind):
    """Rounds paired by FIDE's rules in `dutch`, which is imported only where it is needed: its library is large."""

    name = "swiss"
    title = "Swiss tournament"
    settings = "rounds", "never", "byes"

    def problem_of_settings(self, tournament: Tournament) -> str:
        """A sentence about a missing number of rounds; empty if it is given."""
        if tournament.rounds:
            return ""
        return "A Swiss tournament needs --rounds=N."

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """Why so few players cannot play that many rounds, in which nobody meets anybody twice; empty if they can."""
        most = count - 1
        if count % 2:
            most += 1  # one round more, because each player has a bye in one of them
        if (tournament.rounds or 0) <= most:
            return ""
        rounds = "1 round" if most == 1 else f"{most} rounds"
        return f"{count} players can play {rounds} of a Swiss tournament without meeting twice, not more."

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """The round as FIDE pairs it."""
        from pbm.tournaments import dutch

        return dutch.paired(progress)

    def why_over(self, tournament: Tournament) -> str:
        """A sentence about the round that cannot be paired; empty if all rounds have been played."""
        number = tournament.round + 1
        rounds = tournament.rounds or 0
        if tournament.state != "running" or number > rounds:
            return ""
        return f"Round {number} of {rounds} cannot be paired: those who are left have met, or may not meet."

    def report(self, progress: Progress, title: str) -> str:
        """The report as TRF16."""
        from pbm.tournaments import dutch

        return dutch.report(progress, title)
