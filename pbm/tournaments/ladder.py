"""A ladder: neighbours meet, and a player who beats the one above changes places with them."""

from collections.abc import Sequence

from pbm.tournaments.kinds import Kind, Meeting, Pair, Progress, Tournament, fewest_firsts


class Ladder(Kind):
    """Rounds between neighbours; places are rungs."""

    name = "ladder"
    title = "ladder"
    settings = ("rounds",)
    explained = "Places are the rungs of the ladder."

    def next_pairs(self, progress: Progress) -> list[Pair]:
        """First against second and so on in odd rounds, second against third in even ones.

        `fewest_firsts` says who begins; if all is equal, it is the lower one.
        """
        players = rungs(progress)
        next_round = progress.tournament.round + 1
        if next_round % 2 == 0 and len(players) > 2:  # two players meet in every round
            players = players[1:]
        pairs = zip(players[::2], players[1::2], strict=False)
        return [fewest_firsts(above, below, progress.meetings) for above, below in pairs]

    def goes_on(self, tournament: Tournament) -> bool:
        """Whether round follows round until somebody ends it: unless the number of rounds is given."""
        return tournament.rounds is None

    def places(self, progress: Progress) -> dict[str, int]:
        """The places from the top of the ladder to its bottom."""
        return {name: place for place, name in enumerate(rungs(progress), 1)}


def rungs(progress: Progress) -> list[str]:
    """The players from top to bottom. Latecomers begin at the bottom; players who have withdrawn are left out."""
    order: list[str] = []
    last_round = max((meeting.round for meeting in progress.meetings), default=0)
    for number in range(1, last_round + 1):
        order += [entrant.name for entrant in progress.entrants if entrant.joined == number]
        order = _without_leavers(order, number, progress)
        for meeting in progress.meetings:
            if meeting.round == number:
                _exchange(order, meeting)
    # players who have joined since stand below all others, no matter for which round they joined
    order += [entrant.name for entrant in progress.entrants if entrant.joined > last_round]
    return _without_leavers(order, last_round + 1, progress)


def _without_leavers(order: Sequence[str], number: int, progress: Progress) -> list[str]:
    """These players without those who do not take part any more from a round on."""
    leavers = {entrant.name for entrant in progress.entrants if entrant.withdrawn == number}
    return [name for name in order if name not in leavers]


def _exchange(order: list[str], meeting: Meeting) -> None:
    """Exchange the rungs of two players if the lower one has won."""
    if not meeting.outcome:
        return
    winner, loser = meeting.pair
    if meeting.outcome == -1:
        winner, loser = loser, winner
    if winner not in order or loser not in order:
        return  # one of them has withdrawn
    from_rung = order.index(winner)
    to_rung = order.index(loser)
    if to_rung < from_rung:
        order[to_rung] = winner
        order[from_rung] = loser
