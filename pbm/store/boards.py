"""Boards, their turns, and who follows them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from pbm.store.base import Questions
from pbm.store.form import DUE, columns, text, time_of
from pbm.store.rows import BoardRow, TurnRow

CHANGING = (
    "moves turn ended winner commenter comment changed first_used second_used nagged vote voter submitted drawn reason "
    "rematch"
).split()
"""What can change in the row of a board."""
BY_NUMBER = "ORDER BY length(board), board"
MOMENT = 1e-6
"""More than a time may lose as a Julian day, which SQLite counts in milliseconds."""
SEATS = "first_player", "second_player"


class Among(NamedTuple):
    """Which boards are looked for."""

    games: Sequence[str]
    userid: str | None = None
    """Who plays or played on them; None for anybody."""
    over: bool | None = None
    """Whether they are over; None if that does not matter, as in the next."""
    pool: str | None = None
    """The tournament to which they belong."""

    @property
    def where(self) -> str:
        """The condition, in which values have names."""
        which = "game = :game" if len(self.games) == 1 else "game IN (SELECT value FROM json_each(:games))"
        if self.pool is not None:
            which += " AND pool = :pool"
        if self.over is not None:
            which += f" AND ended IS {'NOT ' * self.over}NULL"
        if self.userid is None:
            return which
        seats = (f"SELECT rowid FROM boards WHERE {which} AND {seat} = :userid" for seat in SEATS)
        return f"rowid IN ({' UNION '.join(seats)})"

    @property
    def values(self) -> dict[str, object]:
        """These values."""
        some = {"game": "".join(self.games[:1]), "games": json.dumps([*self.games])}
        return some | {"userid": self.userid, "pool": self.pool}


class Boards(Questions):
    """What is stored of boards."""

    def next_number(self, game: str) -> str:
        """A board number that the game has never had; the first is 101."""
        query = "INSERT INTO numbers VALUES (?, 101) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last"
        (number,) = self.db.execute(query, [game]).fetchone()
        return str(number)

    def add(self, row: BoardRow) -> None:
        """Store a board that has no turns yet."""
        self.insert("boards", columns(row))

    def get(self, game: str, board: str) -> BoardRow | None:
        """A board; None if there is none of that number."""
        row = self._stored(game, board)
        return board_row(row) if row else None

    def _stored(self, game: str, board: str) -> Any:
        """The row of a board as SQLite has it; None if there is none."""
        query = "SELECT * FROM boards WHERE game = ? AND board = ?"
        return self.db.execute(query, [game, board]).fetchone()

    def known_among(self, game: str, names: Iterable[str]) -> list[str]:
        """Which of these names are those of boards."""
        query = "SELECT board FROM boards WHERE game = ? AND board IN (SELECT value FROM json_each(?))"
        return [board for (board,) in self.db.execute(query, [game, json.dumps([*names])])]

    def turns(self, game: str, board: str) -> list[TurnRow]:
        """The turns of a board, in order."""
        query = "SELECT userid, text, dice, automatic, played FROM turns WHERE game = ? AND board = ? ORDER BY number"
        return [turn_row(columns) for columns in self.db.execute(query, [game, board])]

    def save(self, row: BoardRow, first: int = 0, turns: Iterable[TurnRow] = ()) -> None:
        """Store what has changed on a board: its row and its new turns, the first of which has that number.

        Of the row nothing else is written: SQLite would write every index anew in which something has the same value.
        """
        self._update(row)
        for number, turn in enumerate(turns, first):
            self.insert("turns", {"game": row.game, "board": row.board, "number": number, **columns(turn)})

    def take_back_turns(self, row: BoardRow) -> None:
        """Forget all turns of a board but those that its row counts, and store what has changed in that."""
        self._update(row)
        query = "DELETE FROM turns WHERE game = ? AND board = ? AND number > ?"
        self.db.execute(query, [row.game, row.board, row.moves])

    def _update(self, row: BoardRow) -> None:
        """Store what has changed in the row of a board."""
        stored, right = self._stored(row.game, row.board), columns(row)
        before = dict(zip(BoardRow._fields, stored, strict=True))
        changes = {name: right[name] for name in CHANGING if right[name] != before[name]}
        if changes:
            settings = ", ".join(f"{name} = ?" for name in changes)
            values = [*changes.values(), row.game, row.board]
            self.db.execute(f"UPDATE boards SET {settings} WHERE game = ? AND board = ?", values)

    def remove(self, game: str, board: str) -> None:
        """Forget a board; its number is not given out again."""
        self.db.execute("DELETE FROM boards WHERE game = ? AND board = ?", [game, board])

    # Lists of boards

    def current(self, game: str, ended_after: datetime | None = None) -> list[BoardRow]:
        """The boards of a game that are active, and those that ended after a time, by number."""
        return list(self.some_current(game, ended_after))

    def some_current(
        self, game: str, ended_after: datetime | None = None, most: int = -1, skip: int = 0, *, standard: bool = False
    ) -> Iterator[BoardRow]:
        """At most so many of these boards behind the first so many, or only of those that are in no tournament.

        They are found by an index one after the other; only those that ended lately are sorted.
        """
        which = f"SELECT length(board), board, rowid FROM boards WHERE game = ?1{' AND pool IS NULL' * standard} AND"
        query = f"{which} ended IS NULL UNION ALL {which} ended > ?2 ORDER BY 1, 2 LIMIT ?3 OFFSET ?4"
        for *_, number in self.db.execute(query, [game, ended_after and text(ended_after), most, skip]):
            yield board_row(self.db.execute("SELECT * FROM boards WHERE rowid = ?", [number]).fetchone())

    def of(self, game: str, userids: Sequence[str], *, active: bool | None = None) -> list[BoardRow]:
        """The boards on which one of the users plays or played, by number: all, or only *active* ones or others."""
        where = f"WHERE game = ?1 AND %s IN ({_places(2, userids)}){_if_active(active=active)}"
        seats = (f"SELECT rowid FROM boards {where % seat}" for seat in ("first_player", "second_player"))
        query = f"SELECT * FROM boards WHERE rowid IN ({' UNION '.join(seats)}) {BY_NUMBER}"
        return [board_row(row) for row in self.db.execute(query, [game, *userids])]

    def of_tournament(self, game: str, pool: str) -> list[BoardRow]:
        """The boards of a tournament pool, by number."""
        query = f"SELECT * FROM boards INDEXED BY boards_pool WHERE game = ? AND pool = ? {BY_NUMBER}"
        return [board_row(row) for row in self.db.execute(query, [game, pool])]

    def in_tournaments(
        self, game: str, most: int = -1, skip: int = 0, *, active: bool | None = None
    ) -> Iterator[BoardRow]:
        """The boards of all tournament pools, by number; at most so many, behind the first so many."""
        which = f"INDEXED BY boards_in_pools WHERE game = ? AND pool IS NOT NULL{_if_active(active=active)}"
        return map(
            board_row, self.db.execute(f"SELECT * FROM boards {which} {BY_NUMBER} LIMIT ? OFFSET ?", [game, most, skip])
        )

    def count_active(self, game: str, userid: str | None = None) -> int:
        """How many boards of a game are active, or those of them on which a user plays."""
        if userid is None:
            return self.totals(game)[1]
        count = "(SELECT count(*) FROM boards WHERE game = ?1 AND ended IS NULL AND"
        query = f"SELECT {count} first_player = ?2) + {count} second_player = ?2 AND first_player <> ?2)"
        return int(self.db.execute(query, [game, userid]).fetchone()[0])

    def finished(self, game: str, most: int = -1, skip: int = 0, *, standard: bool = False) -> Iterator[BoardRow]:
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

    def unfinished(self, due: datetime | None = None) -> list[tuple[str, str]]:
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

    def plans(self, game: str, board: str) -> dict[str, str]:
        """What each player has told the server to play when their turn comes."""
        query = "SELECT userid, text FROM plans WHERE game = ? AND board = ?"
        return dict(self.db.execute(query, [game, board]).fetchall())

    def keep_plan(self, game: str, board: str, userid: str, text: str) -> None:
        """Store what a player wants to be played when their turn comes, in place of what they wanted before."""
        self.db.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?)", [game, board, userid, text])

    def drop_plans(self, game: str, board: str, userid: str | None = None) -> None:
        """Forget what a player, or all of them, wanted to be played."""
        query = "DELETE FROM plans WHERE game = ? AND board = ? AND userid = coalesce(?, userid)"
        self.db.execute(query, [game, board, userid])

    def notes(self, game: str, board: str) -> dict[str, str]:
        """What each user has noted for themselves."""
        query = "SELECT userid, text FROM board_notes WHERE game = ? AND board = ?"
        return dict(self.db.execute(query, [game, board]).fetchall())

    def keep_notes(self, game: str, board: str, userid: str, text: str) -> None:
        """Store the notes of a user in place of those before."""
        self.db.execute("INSERT OR REPLACE INTO board_notes VALUES (?, ?, ?, ?)", [game, board, userid, text])

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

    # For the operator

    def games(self) -> list[str]:
        """The games that have boards, by name."""
        return [game for (game,) in self.db.execute("SELECT game FROM tallies WHERE boards > 0")]

    def listed(
        self,
        game: str,
        userids: Sequence[str],
        *,
        active: bool | None,
        is_turn: bool,
        tournament: bool | None,
        limit: int,
    ) -> list[BoardRow]:
        """Boards of a game by number, at most *limit*: those of any of these users, if any are named.

        None stands for both kinds: *active* and ended boards, boards of a *tournament* and others. With *is_turn* only
        those on which one of the users is to move.
        """
        among = "IN (SELECT value FROM json_each(?2))"
        conditions = ["game = ?1"]
        if active is not None:
            conditions.append(f"ended IS {'' if active else 'NOT '}NULL")
        if userids:
            conditions.append(f"(first_player {among} OR second_player {among})")
        if is_turn:
            conditions.append(f"turn {among}")
        if tournament is not None:
            conditions.append(f"pool IS {'NOT ' if tournament else ''}NULL")
        query = f"SELECT * FROM boards WHERE {' AND '.join(conditions)} {BY_NUMBER} LIMIT ?3"
        return [board_row(row) for row in self.db.execute(query, [game, json.dumps(userids), limit])]

    def every(self, game: str) -> Iterator[BoardRow]:
        """All boards of a game, as they come."""
        for row in self.db.execute("SELECT * FROM boards WHERE game = ? ORDER BY board", [game]):
            yield board_row(row)

    def reserve_number(self, game: str, number: int) -> None:
        """See to it that a board number is never given out."""
        query = "INSERT INTO numbers VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)"
        self.db.execute(query, [game, max(number, 100)])

    # For pages and completion

    def newest_active(self, game: str, most: int) -> list[str]:
        """The numbers of the active boards of a game that were started last, at most so many, the newest first."""
        query = "SELECT board FROM boards WHERE game = ? AND ended IS NULL ORDER BY rowid DESC LIMIT ?"
        return [board for (board,) in self.db.execute(query, [game, most])]

    def in_order(self, game: str, *, over: bool) -> list[str]:
        """The boards of a game that are over, as they ended one after the other, or those that are not, by number."""
        order = "ORDER BY ended, board" if over else BY_NUMBER
        query = f"SELECT board FROM boards WHERE game = ? AND ended IS {'NOT ' * over}NULL {order}"
        return [board for (board,) in self.db.execute(query, [game])]

    def named(self, game: str, names: Sequence[str]) -> list[BoardRow]:
        """The boards of a game that have these names, in this order."""
        query = "SELECT * FROM boards WHERE game = ? AND board IN (SELECT value FROM json_each(?))"
        found = {row.board: row for row in map(board_row, self.db.execute(query, [game, json.dumps([*names])]))}
        return [found[name] for name in names if name in found]

    def latest(self, among: Among, most: int) -> list[BoardRow]:
        """The boards among these that have changed last, at most so many, the last one first."""
        found = []
        for game, over in product(among.games, (False, True) if among.over is None else (among.over,)):
            part = among._replace(games=[game], over=over)
            last = "ended" if over else "coalesce(changed, started)"  # of those that are over an index knows it
            query = f"SELECT {last}, * FROM boards WHERE {part.where} ORDER BY 1 DESC, length(board) DESC, board DESC"
            found += self.db.execute(f"{query} LIMIT :most", part.values | {"most": most}).fetchall()
        name, of_game = (BoardRow._fields.index(field) + 1 for field in ("board", "game"))
        found.sort(key=lambda row: (len(row[name]), row[name]), reverse=True)
        found.sort(key=itemgetter(of_game))
        found.sort(key=itemgetter(0), reverse=True)
        return [board_row(row[1:]) for row in found[:most]]

    def count(self, among: Among) -> int:
        """How many these are."""
        (count,) = self.db.execute(f"SELECT count(*) FROM boards WHERE {among.where}", among.values).fetchone()
        return int(count)

    def newest(self, games: Iterable[str], most: int) -> list[tuple[str, str]]:
        """Game and number of the boards of these games that were started last, at most so many, the newest first."""
        query = "SELECT game, board FROM boards WHERE game IN (SELECT value FROM json_each(?))"
        return self.db.execute(f"{query} ORDER BY rowid DESC LIMIT ?", [json.dumps([*games]), most]).fetchall()

    def names(self, games: Iterable[str]) -> list[tuple[str, str]]:
        """Game and number of every board of these games, game by game."""
        query = "SELECT game, board FROM boards WHERE game IN (SELECT value FROM json_each(?))"
        return self.db.execute(f"{query} ORDER BY game, board", [json.dumps([*games])]).fetchall()

    # For the operator

    def totals(self, game: str | None = None) -> tuple[int, int]:
        """How many boards there are, of a game or of all games, and how many of them are active."""
        query = "SELECT coalesce(sum(boards), 0), coalesce(sum(active), 0) FROM tallies WHERE game = coalesce(?, game)"
        every, active = self.db.execute(query, [game]).fetchone()
        return every, active


def board_row(columns: Iterable[Any]) -> BoardRow:
    """A row of the table as what it says."""
    values = [*columns]
    for at in BOARD_TIMES:
        values[at] = time_of(values[at])
    for at in BOARD_FLAGS:
        values[at] = bool(values[at])
    return BoardRow(*values)


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


BOARD_TIMES = [BoardRow._fields.index(name) for name in ("started", "ended", "changed", "nagged", "until")]
BOARD_FLAGS = [BoardRow._fields.index(name) for name in ("drawn", "novacation", "unrated")]
