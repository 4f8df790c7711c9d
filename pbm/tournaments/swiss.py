"""A Swiss tournament: all play the same number of rounds, each against somebody with about as many points."""

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament


class Swiss(Kind):
    """Rounds that are paired as FIDE's rules say, in `dutch`, whose library is so large that only they import it."""

    name, title = "swiss", "Swiss tournament"
    settings = "rounds", "never", "byes"

    def problem_of_settings(self, one: Tournament) -> str:
        """Rounds have to be counted."""
        return "" if one.rounds else "A Swiss tournament needs --rounds=N."

    def problem_of_players(self, one: Tournament, count: int) -> str:
        """Nobody meets anybody twice."""
        most = count - 1 + count % 2
        if (one.rounds or 0) <= most:
            return ""
        rounds = f"{most} round{'s' if most > 1 else ''}"
        return f"{count} players can play {rounds} of a Swiss tournament without meeting twice, not more."

    def next_pairs(self, now: Progress) -> list[Pair]:
        """The round as FIDE pairs it."""
        from pbm.tournaments import dutch

        return dutch.paired(now)

    def why_over(self, one: Tournament) -> str:
        """A round can be impossible to pair."""
        if one.state != "running" or one.round >= (one.rounds or 0):
            return ""
        return f"Round {one.round + 1} of {one.rounds} cannot be paired: those who are left have met, or may not meet."

    def report(self, now: Progress, title: str) -> str:
        """The report as TRF16."""
        from pbm.tournaments import dutch

        return dutch.report(now, title)
