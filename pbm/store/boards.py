"""Boards, their turns, and who follows them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from pbm.store.base import Base
from pbm.store.form import DUE, columns, text, time_of
from pbm.store.rows import BoardRow, TurnRow

CHANGING = (
    "moves turn ended winner commenter comment changed first_used second_used nagged vote voter submitted drawn reason"
).split()
"""What can change in the row of a board."""
BY_NUMBER = "ORDER BY length(board), board"
MOMENT = 1e-6
"""More than a time may lose as a Julian day, which SQLite counts in milliseconds."""


class Boards(Base):
    """What is stored of boards."""

    def next_number(self, game: str) -> str:
        """A board number that the game has never had; the first is 101."""
        query = "INSERT INTO numbers VALUES (?, 101) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last"
        (number,) = self.db.execute(query, [game]).fetchone()
        return str(number)

    def add_board(self, row: BoardRow) -> None:
        """Store a board that has no turns yet."""
        self.insert("boards", columns(row))

    def board(self, game: str, board: str) -> BoardRow | None:
        """A board; None if there is none of that number."""
        row = self._stored(game, board)
        return board_row(row) if row else None

    def _stored(self, game: str, board: str) -> Any:
        """The row of a board as SQLite has it; None if there is none."""
        query = "SELECT * FROM boards WHERE game = ? AND board = ?"
        return self.db.execute(query, [game, board]).fetchone()

    def boards_among(self, game: str, names: Iterable[str]) -> list[str]:
        """Which of these names are those of boards."""
        query = "SELECT board FROM boards WHERE game = ? AND board IN (SELECT value FROM json_each(?))"
        return [board for (board,) in self.db.execute(query, [game, json.dumps([*names])])]

    def turns(self, game: str, board: str) -> list[TurnRow]:
        """The turns of a board, in order."""
        query = "SELECT userid, text, dice, automatic, played FROM turns WHERE game = ? AND board = ? ORDER BY number"
        return [turn_row(columns) for columns in self.db.execute(query, [game, board])]

    def save_board(self, row: BoardRow, first: int = 0, turns: Iterable[TurnRow] = ()) -> None:
        """Store what has changed on a board: its row and its new turns, the first of which has that number.

        Of the row nothing else is written: SQLite would write every index anew in which something has the same value.
        """
        self._update_board(row)
        for number, turn in enumerate(turns, first):
            self.insert("turns", {"game": row.game, "board": row.board, "number": number, **columns(turn)})

    def take_back_turns(self, row: BoardRow) -> None:
        """Forget all turns of a board but those that its row counts, and store what has changed in that."""
        self._update_board(row)
        query = "DELETE FROM turns WHERE game = ? AND board = ? AND number > ?"
        self.db.execute(query, [row.game, row.board, row.moves])

    def _update_board(self, row: BoardRow) -> None:
        """Store what has changed in the row of a board."""
        stored, right = self._stored(row.game, row.board), columns(row)
        before = dict(zip(BoardRow._fields, stored, strict=True))
        changes = {name: right[name] for name in CHANGING if right[name] != before[name]}
        if changes:
            settings = ", ".join(f"{name} = ?" for name in changes)
            values = [*changes.values(), row.game, row.board]
            self.db.execute(f"UPDATE boards SET {settings} WHERE game = ? AND board = ?", values)

    def remove_board(self, game: str, board: str) -> None:
        """Forget a board; its number is not given out again."""
        self.db.execute("DELETE FROM boards WHERE game = ? AND board = ?", [game, board])

    # Lists of boards

    def boards(self, game: str, ended_after: datetime | None = None) -> list[BoardRow]:
        """The boards of a game that are active, and those that ended after a time, by number."""
        return list(self.some_boards(game, ended_after))

    def some_boards(
        self, game: str, ended_after: datetime | None = None, most: int = -1, skip: int = 0, *, standard: bool = False
    ) -> Iterator[BoardRow]:
        """At most so many of these boards behind the first so many, or only of those that are in no tournament.

        They are found by an index one after the other; only those that ended lately are sorted.
        """
        which = f"SELECT length(board), board, rowid FROM boards WHERE game = ?1{' AND pool IS NULL' * standard} AND"
        query = f"{which} ended IS NULL UNION ALL {which} ended > ?2 ORDER BY 1, 2 LIMIT ?3 OFFSET ?4"
        for *_, number in self.db.execute(query, [game, ended_after and text(ended_after), most, skip]):
            yield board_row(self.db.execute("SELECT * FROM boards WHERE rowid = ?", [number]).fetchone())

    def boards_of(self, game: str, userids: Sequence[str], *, active: bool | None = None) -> list[BoardRow]:
        """The boards on which one of the users plays or played, by number: all, or only *active* ones or others."""
        where = f"WHERE game = ?1 AND %s IN ({_places(2, userids)}){_if_active(active=active)}"
        seats = (f"SELECT rowid FROM boards {where % seat}" for seat in ("first_player", "second_player"))
        query = f"SELECT * FROM boards WHERE rowid IN ({' UNION '.join(seats)}) {BY_NUMBER}"
        return [board_row(row) for row in self.db.execute(query, [game, *userids])]

    def tournament_boards(self, game: str, pool: str) -> list[BoardRow]:
        """The boards of a tournament pool, by number."""
        query = f"SELECT * FROM boards INDEXED BY boards_pool WHERE game = ? AND pool = ? {BY_NUMBER}"
        return [board_row(row) for row in self.db.execute(query, [game, pool])]

    def boards_of_tournaments(
        self, game: str, most: int = -1, skip: int = 0, *, active: bool | None = None
    ) -> Iterator[BoardRow]:
        """The boards of all tournament pools, by number; at most so many, behind the first so many."""
        which = f"INDEXED BY boards_in_pools WHERE game = ? AND pool IS NOT NULL{_if_active(active=active)}"
        return map(
            board_row, self.db.execute(f"SELECT * FROM boards {which} {BY_NUMBER} LIMIT ? OFFSET ?", [game, most, skip])
        )

    def active_boards(self, game: str, userid: str | None = None) -> int:
        """How many boards of a game are active, or those of them on which a user plays."""
        if userid is None:
            row = self.db.execute("SELECT active FROM tallies WHERE game = ?", [game]).fetchone()
            return row[0] if row else 0
        count = "(SELECT count(*) FROM boards WHERE game = ?1 AND ended IS NULL AND"
        query = f"SELECT {count} first_player = ?2) + {count} second_player = ?2 AND first_player <> ?2)"
        return int(self.db.execute(query, [game, userid]).fetchone()[0])

    def finished_boards(
        self, game: str, most: int = -1, skip: int = 0, *, standard: bool = False
    ) -> Iterator[BoardRow]:
        """The boards of a game that are over, in the order in which they ended.

        Or at most so many of them, before the last so many; or only those that are in no tournament.
        """
        query = f"SELECT * FROM boards WHERE game = ? AND ended IS NOT NULL{' AND pool IS NULL' * standard}"
        return map(board_row, self.last(query, "ended, board", [game], most, skip))

    def history(self, game: str, most: int = -1, skip: int = 0) -> Iterator[tuple[BoardRow, bool]]:
        """The games that are over, but those against oneself, the oldest first, each with whether it was rated.

        Or at most so many of them, before the last so many.
        """
        query = (
            "SELECT boards.*, EXISTS (SELECT 1 FROM results WHERE (game, board) = (boards.game, boards.board)) "
            "FROM boards WHERE game = ? AND ended IS NOT NULL AND first_player <> second_player"
        )
        rows = self.last(query, "ended, board", [game], most, skip)
        return ((board_row(row[:-1]), bool(row[-1])) for row in rows)

    def last(self, query: str, order: str, values: Sequence[object], most: int, skip: int) -> Iterator[Any]:
        """What a query finds in an order, at most so many rows before the last so many; -1 stands for all."""
        if most < 0:
            return iter(self.db.execute(f"{query} ORDER BY {order}", values))
        backwards = ", ".join(f"{column} DESC" for column in order.split(", "))
        rows = self.db.execute(f"{query} ORDER BY {backwards} LIMIT ? OFFSET ?", [*values, most, skip]).fetchall()
        return iter(rows[::-1])

    def unfinished_boards(self, due: datetime | None = None) -> list[tuple[str, str]]:
        """Game and number of every board that is active, or of those on which a clean-up may have to do something."""
        which = "INDEXED BY boards_due WHERE ended IS NULL" + f" AND {DUE} <= julianday(?) + {MOMENT}" * bool(due)
        query = f"SELECT game, board FROM boards {which} ORDER BY game, board"
        return self.db.execute(query, [text(due)] if due else []).fetchall()

    # Dice

    def throws(self, game: str) -> list[tuple[tuple[int, ...], int]]:
        """Each throw that turns of a game had, in the order in which the dice fell, and how often.

        Turns count once, on the board on which they were played, and only where the secret of their dice is known.
        """
        query = (
            "SELECT dice, count(*) FROM turns JOIN boards USING (game, board) "
            "WHERE game = ? AND number > given AND length(secret) > 0 AND dice <> '[]' GROUP BY dice ORDER BY dice"
        )
        return [(_dice(dice), count) for dice, count in self.db.execute(query, [game])]

    # What players have told the server

    def queued(self, game: str, board: str) -> dict[str, str]:
        """What each player has told the server to play when his turn comes."""
        query = "SELECT userid, text FROM queued WHERE game = ? AND board = ?"
        return dict(self.db.execute(query, [game, board]).fetchall())

    def queue(self, game: str, board: str, userid: str, text: str) -> None:
        """Store what a player wants to be played when his turn comes, in place of what he wanted before."""
        self.db.execute("INSERT OR REPLACE INTO queued VALUES (?, ?, ?, ?)", [game, board, userid, text])

    def unqueue(self, game: str, board: str, userid: str | None = None) -> None:
        """Forget what a player, or all of them, wanted to be played."""
        query = "DELETE FROM queued WHERE game = ? AND board = ? AND userid = coalesce(?, userid)"
        self.db.execute(query, [game, board, userid])

    # Reminders by players

    def last_reminder(self, game: str, board: str, userid: str) -> datetime | None:
        """When a player last reminded the other one of a board."""
        query = "SELECT sent FROM reminders WHERE game = ? AND board = ? AND userid = ?"
        row = self.db.execute(query, [game, board, userid]).fetchone()
        return time_of(str(row[0])) if row else None

    def note_reminder(self, game: str, board: str, userid: str, now: datetime) -> None:
        """Note that a player has reminded the other one of a board."""
        self.db.execute("INSERT OR REPLACE INTO reminders VALUES (?, ?, ?, ?)", [game, board, userid, text(now)])

    # Followers

    def followers(self, game: str, board: str) -> dict[str, list[str]]:
        """The users who follow a board as ``subscriber`` and as ``notified``, by name."""
        found: dict[str, list[str]] = {"subscriber": [], "notified": []}
        query = "SELECT kind, userid FROM followers WHERE game = ? AND board = ? ORDER BY userid"
        for kind, userid in self.db.execute(query, [game, board]):
            found[kind].append(userid)
        return found

    def follow(self, game: str, board: str, userid: str, kind: str) -> bool:
        """Make a user follow a board; False if he does so already."""
        query = "INSERT INTO followers VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return self.db.execute(query, [game, board, userid, kind]).rowcount > 0

    def unfollow(self, game: str, board: str, userid: str, kind: str) -> bool:
        """Let a user follow a board no longer; False if he did not."""
        query = "DELETE FROM followers WHERE game = ? AND board = ? AND userid = ? AND kind = ?"
        return self.db.execute(query, [game, board, userid, kind]).rowcount > 0

    def followed(self, game: str, userid: str, kind: str) -> list[str]:
        """The active boards that a user follows, by number."""
        query = (
            "SELECT board FROM followers CROSS JOIN boards USING (game, board) "
            "WHERE game = ? AND userid = ? AND kind = ? AND ended IS NULL "
        )
        return [board for (board,) in self.db.execute(query + BY_NUMBER, [game, userid, kind])]

    # Tournaments

    def pool_players(
        self, game: str, pool: str | None = None, most: int = -1, skip: int = 0
    ) -> list[tuple[str, str, int, int, int]]:
        """The pool, the userid, and how often he won, lost and tied, of all players of a pool or of all pools.

        Or of at most so many, behind the first so many.
        """
        query = (
            f"SELECT pool, userid, won, lost, tied FROM pool_players WHERE game = ?{' AND pool = ?' * bool(pool)} "
            "ORDER BY pool, 2 * won + tied DESC, lost, userid LIMIT ? OFFSET ?"
        )
        return self.db.execute(query, [game, *filter(None, [pool]), most, skip]).fetchall()

    def count_pool_players(self, game: str) -> int:
        """How many players all pools have."""
        (count,) = self.db.execute("SELECT count(*) FROM pool_players WHERE game = ?", [game]).fetchone()
        return int(count)

    def count_in_pool(self, game: str, pool: str, userid: str, outcome: int) -> None:
        """Count a game of a pool that is set up: *outcome* is 1 for a win, 0 for a tie, -1 for a loss."""
        column = {1: "won", 0: "tied", -1: "lost"}[outcome]
        query = f"UPDATE pool_players SET {column} = {column} + 1 WHERE game = ? AND pool = ? AND userid = ?"
        self.db.execute(query, [game, pool, userid])


def board_row(columns: Iterable[Any]) -> BoardRow:
    """A row of the table as what it says."""
    values = [*columns]
    for at in BOARD_TIMES:
        values[at] = time_of(values[at])
    for at in BOARD_FLAGS:
        values[at] = bool(values[at])
    return BoardRow(*values)


BOARD_TIMES = [BoardRow._fields.index(name) for name in ("started", "ended", "changed", "nagged", "until")]
BOARD_FLAGS = [BoardRow._fields.index(name) for name in ("drawn", "novacation", "unrated")]


def turn_row(columns: tuple[Any, ...]) -> TurnRow:
    """A row of the table of turns as what it says."""
    userid, text, dice, automatic, played = columns
    return TurnRow(userid, text, _dice(dice), bool(automatic), datetime.fromisoformat(played))


def _dice(stored: str) -> tuple[int, ...]:
    """Dice as they were stored; most games have none."""
    return () if stored == "[]" else tuple(json.loads(stored))


def _places(first: int, values: Sequence[object]) -> str:
    """Places for values in a statement, numbered from *first*."""
    return ", ".join(f"?{number}" for number in range(first, first + len(values)))


def _if_active(*, active: bool | None) -> str:
    """What restricts a query to boards that are active, or to others."""
    return "" if active is None else f" AND ended IS {'NULL' if active else 'NOT NULL'}"
