"""Tournaments: settings, entrants, games and results; and `Kind`, the base class of the kinds of tournaments."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

Pair = tuple[str, str]
"""Two players; the first one begins. If the second one is NOBODY, the first one has a bye."""
NOBODY = ""
"""The opponent in a bye."""
WORTH = {1: 1.0, 0: 0.5, -1: 0.0, None: 0.0}
"""The points for a win, a tie, a loss, and a game without a result."""


class Entrant(NamedTuple):
    """A player, or a team, that takes part or has taken part."""

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
    """For the first player, 1 for a win, 0 for a tie, -1 for a loss; None without a result."""
    is_void: bool = False
    """Whether the game was cancelled: the two count as having met, and nobody gets a point."""
    board: str = ""
    """The name of the board; empty for a bye."""
    used: tuple[float, float] = (0.0, 0.0)
    """The seconds that each of the two has used until the last turn."""
    is_short: bool = False
    """Whether the game ended before both players had moved; it is not rated."""
    is_forfeit: bool = False
    """Whether it ended so because a player was absent: a forfeit win, which FIDE takes for a game that was not played.
    """

    @property
    def is_bye(self) -> bool:
        """Whether the first player has a bye."""
        return self.second == NOBODY

    @property
    def is_running(self) -> bool:
        """Whether the game is not over."""
        return self.outcome is None and not self.is_void

    @property
    def is_unplayed(self) -> bool:
        """Whether nobody has played: a bye, or a forfeit win. It gives no side, and the two can still meet."""
        return self.is_bye or self.is_forfeit

    @property
    def pair(self) -> Pair:
        """The first and the second player."""
        return self.first, self.second

    def outcome_of(self, name: str) -> int | None:
        """The outcome for one of the two players: 1 for a win, 0 for a tie, -1 for a loss; None without a result."""
        if self.outcome is None:
            return None
        return self.outcome if name == self.first else -self.outcome

    @property
    def winner(self) -> str | None:
        """The player with the point of a win, also by a bye; None without one."""
        if self.outcome == 1:
            return self.first
        if self.outcome == -1:
            return self.second
        return None

    def opponent(self, name: str) -> str:
        """The other player."""
        return self.second if name == self.first else self.first


class Tournament(NamedTuple):
    """The settings and the state of a tournament, which is named after its pool."""

    game: str
    pool: str
    kind: "Kind"
    created: datetime
    state: str = "open"
    """``open`` while players can join, ``running``, ``closing`` while the last games end and no others begin,
    ``finished`` or ``cancelled``."""
    options: str = ""
    """The options of its boards, as they were typed."""
    nag_days: int | None = None
    """The clocks of its boards, also in the next three fields; None for the default."""
    forfeit_days: int | None = None
    total_days: int | None = None
    clock: str | None = None
    """The clock that grows, as it is typed behind ``--clock=``; it replaces forfeit and total time."""
    novacation: bool = False
    rounds: int | None = None
    """How many rounds there are; None if it goes on until it is decided or ended."""
    double: bool = False
    """Whether every two players meet twice."""
    best_of: int = 1
    """How many games a match of a knockout has."""
    round_days: int | None = None
    """How many days a round lasts; None for no limit."""
    tie_breaks: str = ""
    """The keys of TIE_BREAKS that decide between equal points, in this order, with commas between."""
    director: str | None = None
    """The user who directs it, in addition to the operator."""
    starts: datetime | None = None
    """When it starts by itself if it is open; None if somebody starts it."""
    most: int | None = None
    """How many players it takes; None for the most that its kind takes."""
    round: int = 0
    """The present round; 0 before it has started."""
    until: datetime | None = None
    """When an arena ends."""
    never: str = ""
    """The players who never meet, such as ``alice:bob carol:dave:erin``."""
    byes: int = 0
    """How many byes of half a point a player can ask for."""

    @property
    def place(self) -> tuple[str, str]:
        """Its game and its pool."""
        return self.game, self.pool

    @property
    def place_data(self) -> dict[str, str]:
        """Its game and its pool, for programs and events."""
        return {"game": self.game, "pool": self.pool}

    @property
    def apart(self) -> list[list[str]]:
        """The groups of players within which no two meet."""
        return [group.split(":") for group in self.never.split()]

    @property
    def limit(self) -> int:
        """How many players it can have."""
        return self.most or self.kind.most

    @property
    def is_on(self) -> bool:
        """Whether it has started and is not over."""
        return self.state in {"running", "closing"}

    @property
    def is_over(self) -> bool:
        """Whether it is finished or cancelled."""
        return self.state in {"finished", "cancelled"}


class Progress(NamedTuple):
    """A tournament with its entrants and meetings so far."""

    tournament: Tournament
    entrants: Sequence[Entrant]
    """By seed, the strongest first."""
    meetings: Sequence[Meeting]

    @property
    def by_name(self) -> dict[str, Entrant]:
        """The entrants by name, in their order."""
        return {entrant.name: entrant for entrant in self.entrants}

    @property
    def players(self) -> list[str]:
        """The names of the entrants who have not withdrawn."""
        return [entrant.name for entrant in self.entrants if entrant.withdrawn is None]

    @property
    def has_teams(self) -> bool:
        """Whether the players play for teams."""
        return any(entrant.team for entrant in self.entrants)

    @property
    def team_of(self) -> dict[str, str]:
        """The team of each player who plays for one."""
        return {entrant.name: entrant.team for entrant in self.entrants if entrant.team}

    @property
    def team_players(self) -> dict[str, list[str]]:
        """The players of each team, in their order; nothing without teams."""
        players: dict[str, list[str]] = {}
        for name, team in self.team_of.items():
            players.setdefault(team, []).append(name)
        return players

    @property
    def boards(self) -> dict[str, Pair]:
        """The two players of each game, by the name of its board."""
        return {meeting.board: meeting.pair for meeting in self.meetings if meeting.board}

    @property
    def running(self) -> dict[str, Meeting]:
        """The meetings with a game that is on, by the name of its board."""
        return {meeting.board: meeting for meeting in self.meetings if meeting.is_running}

    @property
    def idle(self) -> list[str]:
        """The players who have a bye in the present round."""
        number = self.tournament.round
        return [meeting.first for meeting in self.meetings if meeting.is_bye and meeting.round == number]

    def with_bye(self, number: int) -> set[str]:
        """The players who have asked for a bye in a round."""
        return {entrant.name for entrant in self.entrants if number in entrant.byes}


class Round(NamedTuple):
    """The games and byes that begin now."""

    number: int
    pairs: Sequence[Pair]
    is_over: bool = False
    """Whether the tournament is over, so that no other round follows."""


class Kind:
    """A kind of tournaments. The other modules of this package define kinds, and override what is different."""

    name: ClassVar[str]
    """Its name in commands, for programs, and in the database."""
    title: ClassVar[str]
    """Its name in sentences for people."""
    most: ClassVar[int] = 200
    """How many players it may have: starting the boards of more would hold up everybody else for too long."""
    has_rounds: ClassVar[bool] = True
    """Whether games follow from earlier ones; else all of them start at once, and boards can be named one by one."""
    takes_latecomers: ClassVar[bool] = True
    """Whether players can be added when it has begun."""
    settings: ClassVar[Sequence[str]] = ()
    """The options that this kind takes, of those that not every kind takes."""
    tie_breaks: ClassVar[str] = "cut1,buchholz,direct,sb,wins"
    """What decides between equal points unless the operator chooses otherwise."""
    explained: ClassVar[str] = ""
    """A sentence about what decides the places; empty if points do."""

    def problem_of_settings(self, tournament: Tournament) -> str:
        """A sentence about what is wrong with the settings of a tournament; empty if they are right."""
        return ""

    def problem_of_players(self, tournament: Tournament, count: int) -> str:
        """Why a tournament cannot start with *count* players, two or more; empty if it can."""
        return ""

    def due(self, progress: Progress) -> Round:
        """The games and byes that have to start now: the next round, when all games of the one before are over."""
        tournament = progress.tournament
        # Boards that were named one by one, before round 1, hold up nothing.
        if tournament.round and progress.running:
            return Round(tournament.round, [])
        if tournament.state == "closing":
            return Round(tournament.round, [], is_over=True)
        rounds = tournament.rounds if self.has_rounds else 1
        if rounds and tournament.round >= rounds:
            return Round(tournament.round, [], is_over=True)
        pairs = self.next_pairs(progress)
        return Round(tournament.round + 1, pairs, is_over=not pairs)

    def next_pairs(self, progress: Progress) -> Sequence[Pair]:
        """The games and byes of the next round; none if there is no other round."""
        return []

    def pairs_of_latecomer(self, tournament: Tournament, name: str, others: Sequence[str]) -> Sequence[Pair]:
        """The games of a new player against all *others*, in a kind without rounds."""
        return []

    def goes_on(self, tournament: Tournament) -> bool:
        """Whether round follows round until somebody ends the tournament."""
        return False

    def why_over(self, tournament: Tournament) -> str:
        """A sentence about why a tournament ends earlier than planned; empty if it does not."""
        return ""

    def places(self, progress: Progress) -> Mapping[str, int] | None:
        """The place of each player who has one, such as 1 for the winner; None if points decide."""
        return None

    def report(self, progress: Progress, title: str) -> str:
        """The report for FIDE's programs; empty if this kind has none."""
        return ""


def meetings_of(name: str, meetings: Iterable[Meeting]) -> list[Meeting]:
    """The meetings of a player, in their order."""
    return [meeting for meeting in meetings if name in meeting.pair]


def points(names: Iterable[str], meetings: Iterable[Meeting]) -> dict[str, float]:
    """The points of each player: 1 for a win or a bye, 0.5 for a tie or a bye that they have asked for."""
    score = dict.fromkeys(names, 0.0)
    for meeting in meetings:
        for name in meeting.pair:
            if name in score:  # else it is NOBODY, or a player who is not asked for
                score[name] += WORTH[meeting.outcome_of(name)]
    return score


def begun(name: str, meetings: Iterable[Meeting]) -> list[bool]:
    """For each game that a player has played, or plays, whether they began it."""
    return [meeting.first == name for meeting in meetings_of(name, meetings) if not meeting.is_unplayed]


def lead(name: str, meetings: Iterable[Meeting]) -> int:
    """How many more games a player has begun than their opponents; negative if fewer."""
    games = begun(name, meetings)
    return games.count(True) - games.count(False)


def fewest_firsts(player: str, opponent: str, meetings: Sequence[Meeting]) -> Pair:
    """Two players in the fairest order: the first one has begun less often, or else the longest ago.

    If that is equal, too, the *opponent* begins.
    """

    def need(name: str) -> tuple[int, list[bool]]:
        """The key by which the smaller one should begin: the lead, then whether they began their latest games."""
        latest_first = begun(name, meetings)[::-1]
        return lead(name, meetings), latest_first

    if need(player) < need(opponent):
        return player, opponent
    return opponent, player
