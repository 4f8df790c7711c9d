"""What a tournament is: entrants, games and results; and what a kind of tournaments says of those of its kind."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

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
    """The first round in which they take part."""
    withdrawn: int | None = None
    """The first round in which they do not take part any more."""
    team: str = ""
    byes: frozenset[int] = frozenset()
    """The rounds in which they have asked for a bye, which counts as half a win."""

    def is_in(self, number: int) -> bool:
        """Whether they take part in a round."""
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
        """The outcome for one of the two."""
        return self.outcome if self.outcome is None or name == self.first else -self.outcome

    def opponent(self, name: str) -> str:
        """The other one."""
        return self.second if name == self.first else self.first


class Tournament(NamedTuple):
    """A tournament, which has the name of its pool."""

    game: str
    pool: str
    kind: "Kind"
    created: datetime
    state: str = "open"
    """``open`` while players can join, ``running``, ``closing`` if only the games that are on are played to their end,
    ``finished`` or ``cancelled``."""
    options: str = ""
    """The options of its boards, as they were typed."""
    nag_days: int | None = None
    """The clocks of its boards, as in the next three; None for the default."""
    forfeit_days: int | None = None
    total_days: int | None = None
    novacation: bool = False
    rounds: int | None = None
    """How many rounds there are; None if it is played until it is decided, or ended."""
    double: bool = False
    """Whether each two meet twice."""
    best_of: int = 1
    """How many games a match of a knockout has."""
    round_days: int | None = None
    """In how many days the games of a round have to end."""
    tie_breaks: str = ""
    """What decides between equal points, in this order, with commas between."""
    director: str | None = None
    """The user who directs it beside the operator."""
    starts: datetime | None = None
    """When it starts by itself while it is open."""
    most: int | None = None
    """How many players it takes."""
    round: int = 0
    """The round that is being played; 0 before it has started."""
    until: datetime | None = None
    """When an arena ends."""
    never: str = ""
    """Who never meets, such as ``alice:bob carol:dave:erin``."""
    byes: int = 0
    """For how many byes, half a point each, a player can ask."""

    @property
    def place(self) -> tuple[str, str]:
        """Its game and its pool, by which it is found."""
        return self.game, self.pool

    @property
    def apart(self) -> list[list[str]]:
        """The groups of players of whom no two meet."""
        return [group.split(":") for group in self.never.split()]

    @property
    def limit(self) -> int:
        """How many players it can have."""
        return self.most or self.kind.most

    @property
    def is_on(self) -> bool:
        """Whether games are played."""
        return self.state in {"running", "closing"}

    @property
    def is_over(self) -> bool:
        """Whether no games are played any more."""
        return self.state in {"finished", "cancelled"}


class Progress(NamedTuple):
    """How far a tournament is: who takes part, and who has met whom."""

    tournament: Tournament
    entrants: Sequence[Entrant]
    """In the order in which they were placed."""
    meetings: Sequence[Meeting]

    @property
    def players(self) -> list[str]:
        """Who has not withdrawn."""
        return [entrant.name for entrant in self.entrants if entrant.withdrawn is None]

    @property
    def has_teams(self) -> bool:
        """Whether teams play, each player in one of them."""
        return any(entrant.team for entrant in self.entrants)

    @property
    def boards(self) -> dict[str, Pair]:
        """The two players of each game, by the name of its board."""
        return {meeting.board: meeting.pair for meeting in self.meetings if meeting.board}

    @property
    def idle(self) -> list[str]:
        """Who has had a bye, in any round."""
        return [meeting.first for meeting in self.meetings if meeting.is_bye]

    def with_bye(self, number: int) -> set[str]:
        """Who has asked for a bye in a round."""
        return {entrant.name for entrant in self.entrants if number in entrant.byes}


class Round(NamedTuple):
    """The games and byes that begin now."""

    number: int
    pairs: Sequence[Pair]
    is_over: bool = False
    """Whether the tournament is over, and nothing comes any more."""


class Kind:
    """A kind of tournaments. Each module beside this one defines its own; a kind overrides what is different in it."""

    name: ClassVar[str]
    """What the operator and programs call it, and the store."""
    title: ClassVar[str]
    """What people call it."""
    most: ClassVar[int] = 200
    """How many players it may have: to start the boards of more would hold up everybody else for too long."""
    has_rounds: ClassVar[bool] = True
    """Whether games follow from those before; else all of them start at once, and boards can be named one by one."""
    takes_latecomers: ClassVar[bool] = True
    """Whether players can be added when it has begun."""
    settings: ClassVar[Sequence[str]] = ()
    """The options that only some kinds have, as far as this one has them."""
    tie_breaks: ClassVar[str] = "cut1,buchholz,direct,sb,wins"
    """What decides between equal points unless the operator chooses something else."""
    explained: ClassVar[str] = ""
    """What decides about places, if it is not the points: a sentence."""

    def problem_of_settings(self, tournament: Tournament) -> str:
        """Return what is wrong with the settings of a tournament as a sentence; empty if they are right."""
        return ""

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """Return why a tournament cannot start with so many players, two or more; empty if it can."""
        return ""

    def due(self, now: Progress) -> Round:
        """Return what is to be started now: the next round, when all games of the one before are over."""
        one = now.tournament
        if any(meeting.is_running for meeting in now.meetings):
            return Round(one.round, [])
        rounds = one.rounds if self.has_rounds else 1
        if one.state == "closing" or (rounds and one.round >= rounds):
            return Round(one.round, [], is_over=True)
        pairs = self.next_pairs(now)
        return Round(one.round + 1, pairs, is_over=not pairs)

    def next_pairs(self, now: Progress) -> Sequence[Pair]:
        """Return the games and byes of the next round; nothing if there is none."""
        return []

    def pairs_of_latecomer(self, tournament: Tournament, name: str, others: Sequence[str]) -> Sequence[Pair]:
        """Return the games of a new player against all *others*, where there are no rounds to wait for."""
        return []

    def why_over(self, tournament: Tournament) -> str:
        """Return why a tournament ends earlier than planned, as a sentence; empty if it does not."""
        return ""

    def places(self, now: Progress) -> Mapping[str, int] | None:
        """Return the place of each player who has one, such as 1 for the winner; None if points decide."""
        return None

    def report(self, now: Progress, title: str) -> str:
        """Return the report for FIDE's programs; empty if there is none of such a tournament."""
        return ""


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


def begun(name: str, meetings: Iterable[Meeting]) -> list[bool]:
    """Whether a player has begun, for each of their games."""
    return [meeting.first == name for meeting in meetings_of(name, meetings) if not meeting.is_bye]


def lead(name: str, meetings: Iterable[Meeting]) -> int:
    """How many more of their games a player has begun than not begun."""
    games = begun(name, meetings)
    return 2 * sum(games) - len(games)


def fewest_firsts(one: str, other: str, meetings: Sequence[Meeting]) -> Pair:
    """Two players in the order that suits them best: who has begun less often begins, else who has begun longest ago.

    Where nothing tells them apart, the *other* one begins.
    """

    def need(name: str) -> tuple[int, list[bool]]:
        return lead(name, meetings), begun(name, meetings)[::-1]

    return (one, other) if need(one) < need(other) else (other, one)
