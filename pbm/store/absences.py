"""Absences of the server: time that counts for nobody, and that is given to all boards it concerns."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pbm.store.base import Questions
from pbm.store.boards import OF_BOARD, BoardRow

MOST_ADDED_DAYS = 3650
"""How many days the operator can add to the clocks at once."""


class Absence(NamedTuple):
    """A time in which the server was away, or that the operator has added to the clocks by hand."""

    id: int
    begun: datetime
    ended: datetime
    """When it was noted. Steps on a board after that have nothing to do with it."""
    seconds: float
    """What counts for nobody; from *begun* to *ended*, or what was added by hand when both are the same."""
    game: str | None
    """The game of the boards that get the time; None for all games."""
    board: str | None
    """The only board that gets it; None for all of the game."""
    done_game: str
    """The last board that has its time, in the order of games and numbers; both are empty before the first one."""
    done_board: str
    is_done: bool

    @property
    def is_by_hand(self) -> bool:
        """Whether the operator has added it to the clocks."""
        return self.begun == self.ended

    def delays(self, until: datetime) -> bool:
        """Whether what ends then ends later because of it; what is added by hand also helps where it is late."""
        return self.is_by_hand or until > self.begun

    def seconds_since(self, moment: datetime) -> float:
        """How much of it belongs to what began at that moment."""
        if moment > self.ended:
            return 0.0
        return self.seconds - max(0.0, (moment - self.begun).total_seconds())


class Absences(Questions):
    """What is stored of absences."""

    def add(
        self, begun: datetime, ended: datetime, seconds: float, game: str | None = None, board: str | None = None
    ) -> None:
        """Note an absence, also as an event, and shift the ends of rounds; the boards do not have their time yet."""
        columns = {"begun": begun, "ended": ended, "seconds": seconds, "game": game, "board": board}
        self.insert("absences", columns)
        detail = {"begun": begun.isoformat(), "seconds": seconds}
        query = "INSERT INTO events (moment, kind, game, board, detail) VALUES (?, 'absence', ?, ?, ?)"
        self.execute(query, ended, game, board, detail)
        if board is None:
            query = "SELECT game, pool, until FROM tournaments WHERE until IS NOT NULL AND game = coalesce(?, game)"
            for its_game, pool, until in self.execute(query, game):
                if begun == ended or datetime.fromisoformat(until) > begun:  # as `Absence.delays` says
                    later = datetime.fromisoformat(until) + timedelta(seconds=seconds)
                    self.update("tournaments", {"until": later}, "game = ? AND pool = ?", its_game, pool)

    def are_done(self) -> bool:
        """Whether all boards have got the time of all absences."""
        return self.value("SELECT 1 FROM absences WHERE NOT is_done") is None

    def first_open(self) -> Absence | None:
        """The first absence from which some boards do not have their time yet; None if all are done."""
        return self.row(Absence, "SELECT * FROM absences WHERE NOT is_done ORDER BY id LIMIT 1")

    def next_boards(self, absence: Absence, most: int) -> list[BoardRow]:
        """The next running boards to which an absence gives time, in the order of games and numbers, at most *most*."""
        query = """
            SELECT * FROM boards INDEXED BY boards_by_number
            WHERE ended IS NULL AND (game, length(board), board) > (?1, length(?2), ?2)
                AND game = coalesce(?3, game) AND board = coalesce(?4, board)
            ORDER BY game, length(board), board LIMIT ?5
        """
        return self.rows(BoardRow, query, absence.done_game, absence.done_board, absence.game, absence.board, most)

    def note_given(self, absence: Absence, last: BoardRow | None) -> None:
        """Note the *last* board that has got the time of an absence; None if all boards have."""
        changes: dict[str, object] = {"is_done": True}
        if last:
            changes = {"done_game": last.game, "done_board": last.board}
        self.update("absences", changes, "id = ?", absence.id)

    def give(self, row: BoardRow, seconds: float) -> None:
        """Give a board time for its present move. A reminder from before, which names another time, counts no more."""
        query = f"""
            UPDATE boards SET given_seconds = given_seconds + ?, nagged = NULL, notified_at = NULL,
                vote_notified_at = NULL
            WHERE {OF_BOARD}
        """
        self.execute(query, seconds, *row.place)
        self.execute("DELETE FROM outbox WHERE reminds = ?", f"{row.game} {row.board}")

    def put_back(self, row: BoardRow, used: Sequence[float], left: Sequence[float]) -> None:
        """Give the players of a board back what they have used of their times: of total times, and of clocks.

        Nobody has more on their clock then than its most, or than they had before.
        """
        for seat, used_seconds, left_seconds in zip(("first", "second"), used, left, strict=True):
            query = f"""
                UPDATE boards SET {seat}_used = {seat}_used - ?,
                    {seat}_left = min(max(most_seconds, {seat}_left), {seat}_left + ?)
                WHERE {OF_BOARD}
            """
            self.execute(query, used_seconds, left_seconds, *row.place)

    def seconds_since(
        self, moment: datetime, now: datetime, game: str | None = None, board: str | None = None
    ) -> float:
        """How many seconds since a moment count for nobody: anywhere, or on that board."""
        query = """
            SELECT * FROM absences WHERE ended >= ? AND ended <= ?
                AND (game IS NULL OR game = ?) AND (board IS NULL OR board = ?)
        """
        return sum(absence.seconds_since(moment) for absence in self.rows(Absence, query, moment, now, game, board))

    def counted_from(self, now: datetime, span: timedelta) -> datetime:
        """The moment since which as much time has counted as *span*."""
        begin = now - span
        query = "SELECT ended, seconds FROM absences WHERE game IS NULL AND ended <= ? ORDER BY ended DESC"
        for ended, seconds in self.execute(query, now):
            if datetime.fromisoformat(ended) < begin:
                break
            begin -= timedelta(seconds=seconds)
        return begin

    def last_sign_of_life(self) -> datetime | None:
        """When the server has last done something; None if never."""
        return self.moment("""
            SELECT max(moment) FROM (
                SELECT max(moment) AS moment FROM notes
                UNION ALL SELECT max(moment) FROM events
                UNION ALL SELECT max(handled) FROM handled
                UNION ALL SELECT max(hour) FROM commands
            )
        """)
