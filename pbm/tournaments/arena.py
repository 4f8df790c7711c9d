"""An arena: whoever is free meets somebody with about as many points, again and again, until it closes."""

from collections.abc import Sequence

from pbm.tournaments.kinds import Kind, Round, Tournament
from pbm.tournaments.meetings import Entrant, Meeting, Pair, fewest_firsts, meetings_of, points


class Arena(Kind):
    """Games begin whenever two players are free, until the arena closes; all of them are its first round."""

    name, title = "arena", "arena"
    settings = ("until",)

    def problem_of_settings(self, one: Tournament) -> str:
        """It has to close."""
        return "" if one.until else "An arena needs --until=TIME."

    def due(self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> Round:
        """The games of those who are free, while others play."""
        if one.state != "running":
            return super().due(one, entrants, meetings)
        return Round(1, free_pairs(entrants, meetings))


def free_pairs(entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> list[Pair]:
    """The games to be started now: of those who are free, from the top, each with the next who was not his last.

    Two who are the only ones left meet again.
    """
    here = [one.name for one in entrants if one.withdrawn is None]
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
    return pairs
