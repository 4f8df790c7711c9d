"""What a tournament consists of: who takes part, and who has met whom with which result."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Pair = tuple[str, str]
"""Two players, of whom the first one begins. A second one without a name means that the first one has a bye."""
NOBODY = ""
"""The opponent in a bye."""
WORTH = {1: 1.0, 0: 0.5, -1: 0.0, None: 0.0}
"""The points for a win, a tie, a loss, and what is not yet, or never, decided."""


class Entrant(NamedTuple):
    """Somebody, or a team, that takes part."""

    name: str
    joined: int = 1
    """The first round in which he takes part."""
    withdrawn: int | None = None
    """The first round in which he does not take part any more."""
    team: str = ""
    byes: frozenset[int] = frozenset()
    """The rounds in which they have asked for a bye, which counts as half a win."""

    def is_in(self, number: int) -> bool:
        """Whether he takes part in a round."""
        return self.joined <= number and (self.withdrawn is None or number < self.withdrawn)


class Meeting(NamedTuple):
    """A game of a tournament, or a bye."""

    round: int
    first: str
    second: str
    """NOBODY in a bye, which counts as a win, or as a tie if it was asked for."""
    outcome: int | None = None
    """For the first player, 1 for a win, 0 for a tie, -1 for a loss; None if it is not decided."""
    is_void: bool = False
    """Whether the game was cancelled: the two have met, and nobody gets a point."""
    board: str = ""
    used: tuple[float, float] = (0.0, 0.0)
    """The seconds that each of the two has used until the last turn."""

    @property
    def is_bye(self) -> bool:
        """Whether nobody was met."""
        return self.second == NOBODY

    @property
    def is_running(self) -> bool:
        """Whether the result is still awaited."""
        return self.outcome is None and not self.is_void

    @property
    def pair(self) -> Pair:
        """Who has met."""
        return self.first, self.second

    def outcome_of(self, name: str) -> int | None:
        """The same for one of the two."""
        return self.outcome if self.outcome is None or name == self.first else -self.outcome

    def opponent(self, name: str) -> str:
        """The other one."""
        return self.second if name == self.first else self.first


def bye(number: int, name: str) -> Meeting:
    """A bye in a round."""
    return Meeting(number, name, NOBODY, 1)


def meetings_of(name: str, meetings: Iterable[Meeting]) -> list[Meeting]:
    """The meetings of one who takes part, in their order."""
    return [one for one in meetings if name in one.pair]


def points(names: Iterable[str], meetings: Iterable[Meeting]) -> dict[str, float]:
    """How many points each has: 1 for a win and for a bye, 0.5 for a tie."""
    found = dict.fromkeys(names, 0.0)
    for one in meetings:
        for name in one.pair:
            if name in found:
                found[name] += WORTH[one.outcome_of(name)]
    return found


def fewest_firsts(one: str, other: str, meetings: Sequence[Meeting]) -> Pair:
    """Two players in the order that suits them best: who has begun less often begins, else who has begun longest ago.

    Where nothing tells them apart, the *other* one begins.
    """

    def need(name: str) -> tuple[int, list[bool]]:
        begun = [meeting.first == name for meeting in meetings_of(name, meetings) if not meeting.is_bye]
        return 2 * sum(begun) - len(begun), begun[::-1]

    return (one, other) if need(one) < need(other) else (other, one)
