"""A ladder: neighbours meet, and who wins from below changes places with the one above."""

from collections.abc import Sequence

from pbm.tournaments.kinds import Entrant, Kind, Meeting, Pair, Progress, fewest_firsts


class Ladder(Kind):
    """Rounds between neighbours; places are rungs."""

    name, title = "ladder", "ladder"
    settings = ("rounds",)
    explained = "Places are the rungs of the ladder."

    def next_pairs(self, now: Progress) -> list[Pair]:
        """The neighbours whose turn it is."""
        return challenges_due(now.entrants, now.meetings)

    def places(self, now: Progress) -> dict[str, int]:
        """From the top of the ladder to its bottom."""
        return {name: place for place, name in enumerate(rungs(now.entrants, now.meetings), 1)}


def rungs(entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> list[str]:
    """The ladder from top to bottom; whoever comes later begins at the bottom, and who has withdrawn is off."""
    order: list[str] = []
    last = max((one.round for one in meetings), default=0)
    for number in range(1, last + 2):
        order += [one.name for one in entrants if one.joined == number or (number == last + 1 < one.joined)]
        order = [name for name in order if name not in {one.name for one in entrants if one.withdrawn == number}]
        for meeting in meetings:
            if meeting.round == number and meeting.outcome and set(meeting.pair) <= set(order):
                won, lost = meeting.pair if meeting.outcome == 1 else meeting.pair[::-1]
                at, above = order.index(won), order.index(lost)
                if above < at:
                    order[above], order[at] = won, lost
    return order


def challenges_due(entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> list[Pair]:
    """The games of the next round: first against second and so on in odd rounds, second against third in even ones.

    Who has begun less often begins, and else who is below.
    """
    order = rungs(entrants, meetings)
    number = max((one.round for one in meetings), default=0) + 1
    if len(order) == 2:
        number = 1
    waiting = order[(number - 1) % 2 :]
    return [fewest_firsts(above, below, meetings) for above, below in zip(waiting[::2], waiting[1::2], strict=False)]
