"""A ladder: neighbours meet, and a player who beats the one above changes places with them."""

from pbm.tournaments.kinds import Kind, Pair, Progress, Tournament, fewest_firsts


class Ladder(Kind):
    """Rounds between neighbours; places are rungs."""

    name, title = "ladder", "ladder"
    settings = ("rounds",)
    explained = "Places are the rungs of the ladder."

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """First against second and so on in odd rounds, second against third in even ones.

        `fewest_firsts` says who begins; if all is equal, it is the lower one.
        """
        order = rungs(progress)
        waiting = order[progress.tournament.round % 2 :] if len(order) > 2 else order
        pairs = zip(waiting[::2], waiting[1::2], strict=False)
        return [fewest_firsts(above, below, progress.meetings) for above, below in pairs]

    def goes_on(self, tournament: Tournament) -> bool:
        """It does, unless the number of rounds is given."""
        return tournament.rounds is None

    def places(self, progress: Progress) -> dict[str, int]:
        """The places from the top of the ladder to its bottom."""
        return {name: place for place, name in enumerate(rungs(progress), 1)}


def rungs(progress: Progress) -> list[str]:
    """The players from top to bottom. Latecomers begin at the bottom; players who have withdrawn are left out."""
    _, entrants, meetings = progress
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
