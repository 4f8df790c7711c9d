"""Absences of the server: time that counts for nobody, and that is given to all boards it concerns."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pbm.store.base import Questions

MOST_ADDED_DAYS = 3650
"""How many days the operator can add to the clocks at once."""
BOARDS_PER_STEP = 1000
"""How many boards get their time in one transaction, which keeps others from writing for about a tenth of a second."""


class Absence(NamedTuple):
    """A time in which the server was away, or that the operator has added to the clocks by hand."""

    id: int
    begun: datetime
    ended: datetime
    """When it was noted. Steps on a board after that have nothing to do with it."""
    seconds: float
    """What counts for nobody; from *begun* to *ended*, or what was added by hand when both are the same."""
    game: str | None
    """The game whose boards get the time; None for those of all."""
    board: str | None
    """The only board that gets it; None for all of the game."""
    done_game: str
    """The last board that has its time, in the order of games and numbers; both are empty before the first one."""
    done_board: str
    is_done: bool

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
        """Note an absence, also as an event, and shift the ends of rounds; `give_time` gives the boards their time."""
        columns = {"begun": begun, "ended": ended, "seconds": seconds, "game": game, "board": board}
        self.insert("absences", columns)
        detail = {"begun": begun.isoformat(), "seconds": seconds}
        query = "INSERT INTO events (moment, kind, game, board, detail) VALUES (?, 'absence', ?, ?, ?)"
        self.execute(query, ended, game, board, detail)
        if board is None:
            query = "SELECT game, pool, until FROM tournaments WHERE until IS NOT NULL AND game = coalesce(?, game)"
            for its_game, pool, until in self.execute(query, game):
                if datetime.fromisoformat(until) > begun:
                    later = datetime.fromisoformat(until) + timedelta(seconds=seconds)
                    self.update("tournaments", {"until": later}, "game = ? AND pool = ?", its_game, pool)

    def are_done(self) -> bool:
        """Whether all boards have got the time of all absences."""
        return self.value("SELECT 1 FROM absences WHERE NOT is_done") is None

    def give_time(self, most: int = BOARDS_PER_STEP) -> bool:
        """Give the time of the first absence that is not done to *most* further boards. Returns whether all are done.

        Call it in a transaction; the place that was reached is stored with it.
        """
        absence = self.row(Absence, "SELECT * FROM absences WHERE NOT is_done ORDER BY id LIMIT 1")
        if absence is None:
            return True
        query = """
            SELECT game, board, started, changed, until, total_days, base_seconds, first_player, second_player
            FROM boards INDEXED BY boards_by_number
            WHERE ended IS NULL AND (game, length(board), board) > (?1, length(?2), ?2)
                AND game = coalesce(?3, game) AND board = coalesce(?4, board)
            ORDER BY game, length(board), board LIMIT ?5
        """
        found = self.execute(query, absence.done_game, absence.done_board, absence.game, absence.board, most)
        for board in found:
            self._give(absence, *board)
        if len(found) < most:
            self.update("absences", {"is_done": True}, "id = ?", absence.id)
            return self.are_done()
        done_game, done_board, *_ = found[-1]
        self.update("absences", {"done_game": done_game, "done_board": done_board}, "id = ?", absence.id)
        return False

    def _give(
        self,
        absence: Absence,
        game: str,
        board: str,
        started: str,
        changed: str | None,
        until: str | None,
        total_days: int | None,
        base_seconds: int | None,
        *players: str,
    ) -> None:
        """Give a board the part of an absence that belongs to its present move, and put back that of earlier ones."""
        begun = datetime.fromisoformat(started)
        happened = datetime.fromisoformat(changed or started)
        if begun > absence.ended:
            return
        if given := absence.seconds_since(happened):
            # a reminder from before says a time that does not hold any more
            self.execute(
                "UPDATE boards SET given_seconds = given_seconds + ?, nagged = NULL, notified_at = NULL, "
                "vote_notified_at = NULL WHERE game = ? AND board = ?",
                given,
                game,
                board,
            )
            self.execute("DELETE FROM outbox WHERE reminds = ?", f"{game} {board}")
        if until and datetime.fromisoformat(until) > absence.begun:
            later = datetime.fromisoformat(until) + timedelta(seconds=absence.seconds)
            self.update("boards", {"until": later}, "game = ? AND board = ?", game, board)
        is_timed = total_days or base_seconds
        if is_timed and players[0] != players[1] and happened > absence.begun:
            self._put_back(absence, game, board, begun, players)

    def _put_back(self, absence: Absence, game: str, board: str, begun: datetime, players: Sequence[str]) -> None:
        """Give the players of a board back what they have used in an absence for moves that are made."""
        before = begun
        back = dict.fromkeys(players, 0.0)
        query = "SELECT userid, played FROM turns WHERE game = ? AND board = ? ORDER BY number"
        for userid, text in self.execute(query, game, board):
            played = datetime.fromisoformat(text)
            overlap = min(played, absence.ended) - max(before, absence.begun)
            back[userid] += max(0.0, overlap.total_seconds())
            before = played
        for seat, name in zip(("first", "second"), players, strict=True):
            self.execute(
                f"UPDATE boards SET {seat}_used = max(0, {seat}_used - ?1), "
                f"{seat}_left = min(max(most_seconds, {seat}_left), {seat}_left + ?1) WHERE game = ?2 AND board = ?3",
                back[name],
                game,
                board,
            )

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
        while (earlier := now - span - timedelta(seconds=self.seconds_since(begin, now))) < begin:
            begin = earlier
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
