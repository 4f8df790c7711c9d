"""A board: its stored row and turns, and the positions that follow from them."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from datetime import date, datetime
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import games
from games import SKIP, Illegal, State
from pbm.board import clocks, dice
from pbm.budget import limited
from pbm.store import BoardRow, ResultRow, Robot, TurnRow

RESIGN = "Resign"
"""The text of the turn of a player who gives up."""
FORFEIT = "Forfeit"
"""The text of the turn by which the server makes a player lose, for example because they were too slow."""
LEAVING = frozenset({RESIGN, FORFEIT})
"""Turns that are no moves of the game, but end it."""
DROPPED = "dropped: "
"""Is stored instead of a plan, in front of the reason why it was dropped."""
SWAP = "swap"
"""The move by which the players of some games change sides."""
SERVER = "The server"
"""The writer of the comment of a FORFEIT."""
REASONS: Mapping[str, str] = {
    "rules": "by the rules",
    "resigned": "resigned",
    "signed off": "signed off",
    "forfeited": "forfeited (time of a move)",
    "total time": "forfeited (total time)",
    "agreed": "agreed draw",
    "withdrawn": "withdrawn from the tournament",
    "adjudicated": "adjudicated by the director",
}
"""The reasons for the end of a game, each in words for people."""
PROPOSALS = {"draw": "a draw", "undo": "to take the last move back"}
"""The proposals that a player can make, each in words for people."""
FAULTS = ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, RuntimeError, TypeError, ValueError
"""The errors of a board that cannot be replayed: it is damaged, or its game is gone or has a fault."""
FEW_TURNS = 30
"""How many legal turns a position may have for each to be a link."""
SECONDS_TO_LIST = 0.5
"""How long the turns of a position may take to list; a double of Spiro with 99 pieces would take several seconds."""
FIRST_MOVES = 2
"""While fewer turns than this are played, a player can still leave the board."""


class BoardContext(NamedTuple):
    """What the server knows about a board besides its turns."""

    subscribers: Sequence[str] = ()
    """Userids of those who get every mail about it."""
    notified: Sequence[str] = ()
    """Userids of those who are told when it is over."""
    away: Mapping[str, date] = MappingProxyType({})
    """The players who are on vacation, with the last day of it."""
    results: Sequence[ResultRow] = ()
    """What the game did to the ratings of its players."""
    robots: Mapping[str, Robot] = MappingProxyType({})
    """The players who are robots, by name."""
    notes: Mapping[str, str] = MappingProxyType({})
    """The notes that users keep on it for themselves, by userid."""
    days_off: Collection[date] = ()
    """The days on which its clock stands still, if it grows: the player to move is on vacation."""


NOTHING = BoardContext()


def told_of_fault(row: BoardRow, why: Exception) -> str:
    """The sentences about a board that raises one of FAULTS: what is wrong, and what helps."""
    fault = f"{type(why).__name__}: {why}."
    if isinstance(why, Illegal):  # it is a sentence
        fault = str(why)
    advice = "`pbm doctor` tells the operator what helps"
    if games.exists(row.game) and not row.ended and not isinstance(why, games.Unloadable):
        advice += f", and `pbm boards remove {row.game} {row.board}` removes it"
    return f"{row.game.capitalize()} board {row.board} cannot be read at the moment. {fault} {advice}."


class Board:
    """A board with its turns, and the position after each of them."""

    def __init__(
        self,
        row: BoardRow,
        turns: list[TurnRow],
        plans: dict[str, str],
        about: BoardContext = NOTHING,
        *,
        is_stored: bool = True,
    ) -> None:
        """Replay the turns of a board. One that is not stored, as in a preview, throws no dice of its own."""
        self.row = row
        self.name = f"{row.game} {row.board}"
        """Its name for players, which its dice depend on, such as ``spiro 101``."""
        self.thread = f"{row.game}.{row.board}.{row.started:%Y%m%d%H%M%S}"
        """Marks the letters about this board; a board of another database has another thread."""
        self.players = row.players
        """The userids of the players; the first one made the first move."""
        self.is_stored = is_stored
        self.turns = turns
        self.plans: dict[str, str] = {}
        """The plan of each player as it is stored, or RESIGN."""
        self.dropped_plans: dict[str, str] = {}
        """Why the plan of a player was dropped; the next letters about the board tell only them."""
        for userid, text in plans.items():
            if text.startswith(DROPPED):
                self.dropped_plans[userid] = text.removeprefix(DROPPED)
            else:
                self.plans[userid] = text
        self.about = about
        self.rules: games.Game[Any] = games.load(row.game)
        self.options = games.read_options(self.rules, row.options.split())
        self.states: list[State] = []
        """The position at the start and after each turn; a resignation repeats the last one."""
        self._add_state(None)
        for turn in turns:
            self._add_state(turn)
        self.judge()

    @property
    def number(self) -> str:
        """The board's number, such as ``101``, or its name in a tournament, such as ``a1``; ``new`` in a preview."""
        return self.row.board

    def judge(self) -> None:
        """Set the attributes that follow from the last position: who is to move, whether the game is over, who won."""
        self.state = self.states[-1]
        """The present position."""
        self.seat = self.state.seats[self.state.turn]
        """The place in `players` of the player to move."""
        gave_up = self.turns and self.turns[-1].text in LEAVING
        self.resigned = self.turns[-1].userid if gave_up else None
        """The userid of the player who resigned or forfeited."""
        result = None
        if not (self.row.drawn or self.resigned):
            result = self.state.result()
        has_ended = self.row.ended is not None  # perhaps by a ruling that has changed since
        self.is_over = has_ended or self.row.drawn or self.resigned is not None or result is not None
        """Whether the game has ended."""
        self.mover = None if self.is_over else self.players[self.seat]
        """The userid of the player to move; None when the game is over."""
        self.winner: str | None = None
        """The userid of the winner; None for a draw, and before the end."""
        if result and result.winner is not None:
            self.winner = self.player(self.state, result.winner)
        elif self.resigned and not self.row.drawn:
            self.winner = self.row.opponent(self.resigned)
        elif has_ended:
            self.winner = self.row.winner

    @property
    def reasons(self) -> tuple[str, ...]:
        """The REASONS that fit the end of the game by its turns, the usual one first; none before the end."""
        if self.row.drawn:
            return ("agreed", "adjudicated")
        if self.resigned and self.turns[-1].text == RESIGN:
            return ("resigned", "signed off")
        if self.resigned:
            return ("forfeited", "total time", "signed off", "withdrawn", "adjudicated")
        if self.is_over:
            return ("rules",)
        return ()

    @property
    def has_begun(self) -> bool:
        """Whether both players have made a move; skips do not count."""
        movers = {turn.userid for turn in self.turns if turn.text != SKIP and turn.text not in LEAVING}
        return movers == set(self.players)

    @property
    def has_dice(self) -> bool:
        """Whether it is played with dice."""
        return games.needs_dice(self.states[0])

    def used(self, now: datetime) -> list[float]:
        """The seconds that each player has used, the present turn included."""
        used = [self.row.first_used, self.row.second_used]
        if not self.is_over:
            used[self.seat] = clocks.used(self.row, self.seat, now)
        return used

    def left(self, now: datetime) -> list[float]:
        """The seconds that each player has left on a clock that grows. No time counts while a robot is to move."""
        left = [self.row.first_left or 0.0, self.row.second_left or 0.0]
        if self.mover is not None and self.mover not in self.about.robots:
            left[self.seat] = max(0.0, self._rest(now))
        return left

    def _missing(self, now: datetime) -> float:
        """The seconds by which a clock that grows has run out; 0 if it has not, and while a robot is to move."""
        if self.row.base_seconds is None or self.mover in self.about.robots:
            return 0.0
        return max(0.0, -self._rest(now))

    def _rest(self, now: datetime) -> float:
        """The seconds that the player to move has left on a clock that grows; less than 0 if it has run out."""
        return clocks.left_on_clock(self.row, self.seat, now, self.about.days_off)

    def player(self, state: State, side: int) -> str:
        """The userid of the player who plays a side in a position."""
        return self.players[state.seats[side]]

    def play(self, userid: str, text: str, now: datetime, *, automatic: bool = False) -> None:
        """Add a turn: RESIGN, FORFEIT, or a legal move in canonical form. Stops the clock of the player to move.

        Its time is that of the clock. Nothing is stored.
        """
        first_left = self.row.first_left
        second_left = self.row.second_left
        missing = self._missing(now)
        self.stop_clock(now)
        thrown = self.state.dice if games.needs_dice(self.state) else ()
        if text in LEAVING:  # no move has stopped the clock: a game that is reinstated goes on with what was left
            self.change(first_left=first_left, second_left=second_left)
            gained = 0.0
        else:
            gained = missing + self._grow_clock(text)
        turn = TurnRow(userid, text, thrown, automatic, self.row.happened, gained)
        self._add_state(turn)
        self.turns.append(turn)
        self.judge()

    def turns_before_undo(self, asker: str) -> int:
        """The number of turns that stay if what a player proposes with `undo` is done.

        The last turn that a player has typed is taken back, and the automatic turns behind it. A robot answers at once:
        a person who plays against one takes back their own last turn, and the answer to it.
        """
        first = self.present.last_typed
        if self.turns[first].userid == asker or self.row.opponent(asker) not in self.about.robots:
            return first
        for number in range(len(self.turns) - 1, self.row.given - 1, -1):  # turns of another board stay
            turn = self.turns[number]
            if turn.userid == asker and not turn.automatic:
                return number
        return first

    def change(self, **columns: Any) -> None:
        """Change columns of the row. Nothing is stored."""
        self.row = self.row._replace(**columns)

    def stop_clock(self, now: datetime) -> None:
        """Add the time since the last move to what the player to move has used; restart the clock at *now*.

        If the clock of the machine has stepped back since the last move, it is restarted at the time of that move.
        """
        first, second = self.used(now)
        changed = clocks.next_time(self.row, now)
        if self.row.base_seconds is not None:
            self._set_left(self.left(now))
        self.change(first_used=first, second_used=second, changed=changed, more_days=0, given_seconds=0.0)
        self.change(nagged=None, notified_at=None, vote_notified_at=None)

    def _set_left(self, left: Sequence[float]) -> None:
        """Change what the players have left on a clock that grows."""
        self.change(first_left=left[0], second_left=left[1])

    def _grow_clock(self, text: str) -> float:
        """Let the clock of the player to move grow for a turn. Returns by how many seconds; 0 if it does not."""
        clock = clocks.clock_of(self.row)
        if clock is None or text == SKIP or len(self.turns) < self.row.given:
            return 0.0
        left = [self.row.first_left or 0.0, self.row.second_left or 0.0]
        before = left[self.seat]
        left[self.seat] = clock.after_move(before)
        self._set_left(left)
        return left[self.seat] - before

    def take_back(self, kept: int) -> None:
        """Remove all turns but the first *kept*, and their positions, and what clocks have grown for them."""
        if self.row.base_seconds is not None:
            left = [self.row.first_left or 0.0, self.row.second_left or 0.0]
            for state, turn in zip(self.states[kept:], self.turns[kept:], strict=False):  # there is one state more
                left[state.seats[state.turn]] -= turn.gained
            self._set_left([max(0.0, seconds) for seconds in left])
        del self.turns[kept:]
        del self.states[kept + 1 :]
        self.judge()

    @property
    def present(self) -> "Point":
        """The board as it is now."""
        return self.after(len(self.turns))

    def trial(self, moves: int | None = None) -> "Board":
        """A copy of the board as it is now, or after *moves* turns, for trying moves; it throws no dice."""
        if moves is None:
            moves = len(self.turns)
        board = copy(self)
        board.turns = self.turns[:moves]
        board.states = self.states[: moves + 1]
        board.plans = {}
        board.about = NOTHING
        board.is_stored = False
        board.change(secret=b"", comment=None, vote=None, submitted=None)
        if moves < len(self.turns):
            board.change(drawn=False, ended=None)
        board.judge()
        return board

    def set_dice(self, dice: tuple[int, ...]) -> None:
        """Give the player to move these dice. Raises Illegal if they do not fit the turn."""
        if not games.needs_dice(self.state):
            raise Illegal(f"No dice are thrown for a turn of {self.row.game}.")
        self.state = self.states[-1] = self.state.roll(dice)

    def after(self, moves: int) -> "Point":
        """The board after *moves* turns, or after all if there are fewer; a negative number counts from the end."""
        last = len(self.turns)
        if moves < 0:
            moves = max(0, last + moves)
        if moves >= last:
            return Point(self, last, self.states[last], self.mover, is_over=self.is_over, is_present=True)
        state = self.states[moves]
        mover = self.player(state, state.turn)
        return Point(self, moves, state, mover, is_over=False, is_present=False)

    def _add_state(self, turn: TurnRow | None) -> None:
        """Add the position after a turn, or the first position for None.

        Its dice are the dice of the turn that was played in it. If there is none yet, they are thrown now.
        """
        number = len(self.states)
        state: State
        if turn is None:
            state = self.rules.new(**self.options)
        elif turn.text in LEAVING:
            state = self.states[-1]
        else:
            state = self.states[-1].play(turn.text)
        if games.needs_dice(state):
            thrown: tuple[int, ...] = ()
            if number < len(self.turns):
                thrown = self.turns[number].dice
            if not thrown and self.is_stored:
                thrown = dice.throw(self.row.secret_of(number), self.name, number, state.dice_needed)
            if thrown:
                state = state.roll(thrown)
        self.states.append(state)


class Point(NamedTuple):
    """A board as it was after some of its turns."""

    board: Board
    moves: int
    """How many turns that were."""
    state: State
    mover: str | None
    """The userid of the player to move; None if the game was over."""
    is_over: bool
    is_present: bool
    """Whether these are all its turns."""

    @property
    def last_typed(self) -> int:
        """How many turns come before the last one that was not automatic; 0 if all were."""
        for number in range(self.moves - 1, -1, -1):
            if not self.board.turns[number].automatic:
                return number
        return 0


def few_turns(point: Point) -> tuple[str, ...]:
    """The legal turns of a position, if there are few; in the main thread, only if they are found soon."""
    try:
        with limited(SECONDS_TO_LIST):
            listed = tuple(islice(point.state.moves(), FEW_TURNS + 1))
    except TimeoutError:
        return ()
    if len(listed) > FEW_TURNS:
        return ()
    return listed
