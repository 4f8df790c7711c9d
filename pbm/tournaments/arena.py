"""An arena: until it closes, players who are free meet others with about as many points."""

from pbm.tournaments.kinds import Kind, Progress, Round, Tournament, fewest_firsts, meetings_of, points


class Arena(Kind):
    """Games begin whenever two players are free, until the arena closes; all of them are its first round."""

    name, title = "arena", "arena"
    settings = ("until",)

    def problem_of_settings(self, tournament: Tournament) -> str:
        """An arena needs a time at which it closes, after its start."""
        starts, until = tournament.starts, tournament.until
        if until is None:
            return "An arena needs --until=TIME."
        return "An arena starts before it ends." if starts and starts >= until else ""

    def due(self, progress: Progress) -> Round:
        """The games between free players: from the top, each with the next one whom they did not meet last.

        If only two take part, they meet again.
        """
        if progress.tournament.state != "running":
            return super().due(progress)
        here, meetings = progress.players, progress.meetings
        score = points(here, meetings)
        busy = {name for one in meetings if one.is_running for name in one.pair}
        free = sorted((name for name in here if name not in busy), key=lambda name: -score[name])
        last = {name: own[-1].opponent(name) for name in here if (own := meetings_of(name, meetings))}
        pairs = []
        while len(free) > 1:
            one = free.pop(0)
            other = next((name for name in free if last.get(one) != name), free[0] if len(here) == 2 else None)
            if other is not None:
                free.remove(other)
                pairs.append(fewest_firsts(one, other, meetings))
        return Round(1, pairs)
