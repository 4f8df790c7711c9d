"""An arena: until it closes, players who are free meet others with about as many points."""

from pbm.tournaments.kinds import Kind, Progress, Round, Tournament, fewest_firsts, meetings_of, points


class Arena(Kind):
    """Games begin whenever two players are free, until the arena closes; all of them are its first round."""

    name = "arena"
    title = "arena"
    settings = ("until",)

    def problem_of_settings(self, tournament: Tournament) -> str:
        """A sentence about a missing time at which the arena closes, or one before its start; empty if all is right."""
        starts = tournament.starts
        until = tournament.until
        if until is None:
            return "An arena needs --until=TIME."
        if starts and starts >= until:
            return "An arena starts before it ends."
        return ""

    def due(self, progress: Progress) -> Round:
        """The games between free players: from the top, each with the next one who was not their last opponent.

        If only two take part, they meet again.
        """
        if progress.tournament.state != "running":
            return super().due(progress)
        players = progress.players
        meetings = progress.meetings
        score = points(players, meetings)
        busy: set[str] = set()
        for meeting in meetings:
            if meeting.is_running:
                busy.update(meeting.pair)
        free = [name for name in players if name not in busy]
        free.sort(key=lambda name: -score[name])

        pairs = []
        while len(free) > 1:
            player = free.pop(0)
            opponents = free
            if len(players) > 2:
                latest = _latest_opponent(player, progress)
                opponents = [name for name in free if name != latest]
            if opponents:
                opponent = opponents[0]
                free.remove(opponent)
                pairs.append(fewest_firsts(player, opponent, meetings))
        return Round(1, pairs)


def _latest_opponent(name: str, progress: Progress) -> str | None:
    """The last opponent of a player; None before their first game."""
    meetings = meetings_of(name, progress.meetings)
    if not meetings:
        return None
    return meetings[-1].opponent(name)
