"""What a tournament is, and what a kind of tournaments says of those of its kind."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

from pbm.tournaments.meetings import Entrant, Meeting, Pair
from pbm.tournaments.tables import Standing


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
    def apart(self) -> list[list[str]]:
        """The groups of players of whom no two meet."""
        return [group.split(":") for group in self.never.split()]

    @property
    def is_on(self) -> bool:
        """Whether games are played."""
        return self.state in {"running", "closing"}


class Round(NamedTuple):
    """What has to be started."""

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

    def problem_of_settings(self, one: Tournament) -> str:
        """Return what is wrong with the settings of a tournament as a sentence; empty if they are right."""
        return ""

    def problem_of_players(self, one: Tournament, count: int) -> str:
        """Return why a tournament cannot start with so many players, two or more; empty if it can."""
        return ""

    def due(self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> Round:
        """Return what is to be started now: the next round, when all games of the one before are over."""
        if any(meeting.is_running for meeting in meetings):
            return Round(one.round, [])
        if one.state == "closing" or (one.rounds and one.round >= one.rounds):
            return Round(one.round, [], is_over=True)
        pairs = self.next_pairs(one, entrants, meetings)
        return Round(one.round + 1, pairs, is_over=not pairs)

    def next_pairs(self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting]) -> Sequence[Pair]:
        """Return the games and byes of the next round; nothing if there is none."""
        return []

    def pairs_of_latecomer(self, one: Tournament, name: str, others: Sequence[str]) -> Sequence[Pair]:
        """Return the games of a new player against all *others*, where there are no rounds to wait for."""
        return []

    def why_over(self, one: Tournament) -> str:
        """Return why a tournament ends earlier than planned, as a sentence; empty if it does not."""
        return ""

    def ranked(
        self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting], lines: Sequence[Standing]
    ) -> Sequence[Standing]:
        """Return the lines of a table, which are sorted by points, in the order of this kind."""
        return lines

    def report(self, one: Tournament, entrants: Sequence[Entrant], meetings: Sequence[Meeting], title: str) -> str:
        """Return the report for FIDE's programs; empty if there is none of such a tournament."""
        return ""
