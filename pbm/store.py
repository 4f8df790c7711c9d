"""All that is kept, in one SQLite database; nobody else writes SQL.

A board is the list of its turns: from it, and from the secret of its dice, every position can be rebuilt. What else
stands in a board's row (moves, turn, ended, winner) follows from the turns, and is there so that lists need not
replay games.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self, overload

from sqlite_utils import Database, Migrations

APPLICATION_ID = int.from_bytes(b"pbm1")
"""What SQLite's header calls the application that a file belongs to."""
BUSY_SECONDS = 30
"""How long a command waits for others to finish writing."""
LOOK_AGAIN = 0.001
"""How many seconds pass before it looks again whether they have."""

SCHEMA = 1
"""The number of migrations below; a database knows how many it has seen."""

migrations = Migrations("pbm")


@migrations()
def first_tables(db: Database) -> None:
    """Users, boards, mails."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.executescript("""
        CREATE TABLE users (
            userid TEXT PRIMARY KEY,
            password TEXT NOT NULL,
            generation INTEGER NOT NULL DEFAULT 0,
            created TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE addresses (
            userid TEXT NOT NULL REFERENCES users,
            address TEXT NOT NULL COLLATE NOCASE,
            generation INTEGER NOT NULL,
            code TEXT UNIQUE,
            confirmed TEXT,
            UNIQUE (userid, address)
        ) STRICT;
        CREATE INDEX addresses_address ON addresses (address);
        CREATE TABLE numbers (
            game TEXT PRIMARY KEY,
            last INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE boards (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            options TEXT NOT NULL,
            first_player TEXT NOT NULL REFERENCES users,
            second_player TEXT NOT NULL REFERENCES users,
            secret BLOB NOT NULL,
            started TEXT NOT NULL,
            moves INTEGER NOT NULL,
            turn TEXT,
            ended TEXT,
            winner TEXT,
            commenter TEXT,
            comment TEXT,
            PRIMARY KEY (game, board)
        ) STRICT;
        CREATE INDEX boards_active ON boards (game, ended);
        CREATE TABLE turns (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            number INTEGER NOT NULL,
            userid TEXT NOT NULL,
            text TEXT NOT NULL,
            dice TEXT NOT NULL,
            automatic INTEGER NOT NULL,
            played TEXT NOT NULL,
            PRIMARY KEY (game, board, number),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE queued (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (game, board, userid),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE handled (
            sender TEXT NOT NULL,
            message_id TEXT NOT NULL,
            handled TEXT NOT NULL,
            outcome TEXT NOT NULL,
            PRIMARY KEY (sender, message_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE quotas (
            kind TEXT NOT NULL,
            holder TEXT NOT NULL COLLATE NOCASE,
            day TEXT NOT NULL,
            used INTEGER NOT NULL,
            PRIMARY KEY (kind, holder, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE outbox (
            userid TEXT,
            address TEXT,
            subject TEXT NOT NULL,
            text TEXT NOT NULL,
            message_id TEXT NOT NULL,
            thread TEXT,
            queued TEXT NOT NULL,
            due TEXT,
            tries INTEGER NOT NULL,
            problem TEXT,
            id INTEGER PRIMARY KEY AUTOINCREMENT
        ) STRICT;
        CREATE INDEX outbox_due ON outbox (due) WHERE address IS NOT NULL AND due IS NOT NULL;
        CREATE INDEX outbox_waiting ON outbox (userid) WHERE address IS NULL;
    """)


class Unusable(Exception):
    """The database cannot be used. The text says why and what would help; nothing was changed."""


class BoardRow(NamedTuple):
    """A board as it is stored, but for its turns."""

    game: str
    board: str
    options: str
    """The options of the challenge as they were typed."""
    first_player: str
    second_player: str
    secret: bytes
    started: datetime
    moves: int = 0
    turn: str | None = None
    """The userid of the player to move; None when the game is over."""
    ended: datetime | None = None
    winner: str | None = None
    """A userid; None while the game goes on, and for a draw."""
    commenter: str | None = None
    comment: str | None = None


class TurnRow(NamedTuple):
    """A turn as it was played."""

    userid: str
    text: str
    dice: tuple[int, ...]
    automatic: bool
    """Whether the server played it."""
    played: datetime


class Mail(NamedTuple):
    """A mail in the outbox."""

    userid: str | None
    """The user it is for; None for the sender of a command, whoever he is."""
    address: str | None
    """None while the user has no confirmed address."""
    subject: str
    text: str
    message_id: str
    thread: str | None
    """The Message-ID of the first mail about the same board to the same player."""
    queued: datetime
    due: datetime | None
    """When it is to be tried next; None when it was given up."""
    tries: int = 0
    problem: str | None = None
    """What went wrong at the last try."""
    id: int | None = None
    """Its number, which the outbox gives it."""


class Address(NamedTuple):
    """An address of a user, or one that has still to be confirmed."""

    address: str
    confirmed: datetime | None


class Store:
    """An open database. Every method is one statement or a few; a `transaction` makes them one step."""

    def __init__(self, path: Path) -> None:
        """Open the database of that path, and make or bring up to date what is in it. Raises Unusable."""
        self.path = path
        self._depth = 0
        try:
            if not path.exists():  # the database holds addresses and hashes: nobody else may read it at any moment
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
            self.db = Database(connection, execute_plugins=False)  # to look for plugins takes longer than a move
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise Unusable(f"The database {path} cannot be used: {_reason(error)}.") from error

    def __enter__(self) -> Self:
        """Use the store in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def _prepare(self) -> None:
        """Make an empty file a database, and bring an older one up to date."""
        query = (
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
            "FROM pragma_application_id, pragma_user_version"
        )
        application, version, tables = self.db.execute(query).fetchone()
        if tables and application != APPLICATION_ID:
            raise Unusable(f"{self.path} is the database of another program; set PBM_DB to a path of pbm's own.")
        if version > SCHEMA:
            raise Unusable(f"{self.path} was written by a newer version of pbm; install that one.")
        self.db.execute("PRAGMA foreign_keys = ON")
        self.db.execute("PRAGMA synchronous = FULL")  # some builds of SQLite do less, and lose the last commits
        if version < SCHEMA:
            self.db.enable_wal()
            with self.transaction():
                migrations.apply(self.db)
                self.db.execute(f"PRAGMA user_version = {SCHEMA}")

    @contextmanager
    def transaction(self, *, reading: bool = False) -> Iterator[None]:
        """Everything inside happens, or nothing does; inside another transaction it can be undone alone.

        One that is only *reading* sees one state of the database, and waits for nobody. Raises Unusable if the
        database is locked, full or damaged.
        """
        level = self._depth
        try:
            if level:
                self.db.execute(f"SAVEPOINT level{level}")
            elif reading:
                self.db.execute("BEGIN")
            else:
                self._lock()
            self._depth = level + 1
            try:
                yield
                self.db.execute(f"RELEASE level{level}" if level else "COMMIT")
            except BaseException:
                if self.db.conn.in_transaction:  # else SQLite itself has undone everything
                    self._roll_back(level)
                raise
            finally:
                self._depth = level
        except sqlite3.Error as error:
            raise Unusable(f"The database {self.path} cannot be used: {_reason(error)}.") from error

    def _roll_back(self, level: int) -> None:
        """Undo a transaction, and no other that it stands in."""
        if level:
            self.db.execute(f"ROLLBACK TO level{level}")
            self.db.execute(f"RELEASE level{level}")
        else:
            self.db.execute("ROLLBACK")

    def _lock(self) -> None:
        """Begin to write: lock, then read, because a deferred BEGIN fails when two writers meet.

        SQLite itself looks ever more seldom while it waits, and a shell would starve beside a busy server.
        """
        end = time.monotonic() + BUSY_SECONDS
        self.db.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    self.db.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                        raise
                    time.sleep(LOOK_AGAIN)
                else:
                    return
        finally:
            self.db.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")

    # Users and their addresses

    def password_of(self, userid: str) -> str | None:
        """The hash of a user's password; None if there is no such user."""
        row = self.db.execute("SELECT password FROM users WHERE userid = ?", [userid]).fetchone()
        return row[0] if row else None

    def add_user(self, userid: str, password: str, now: datetime) -> None:
        """Add a user who has no address yet."""
        self.db.table("users").insert({"userid": userid, "password": password, "created": _text(now)})

    def set_password(self, userid: str, password: str) -> None:
        """Replace the hash of a user's password."""
        self.db.execute("UPDATE users SET password = ? WHERE userid = ?", [password, userid])

    def addresses(self, userid: str) -> list[Address]:
        """All addresses of a user, in the order in which they were given."""
        rows = self.db.execute("SELECT address, confirmed FROM addresses WHERE userid = ? ORDER BY rowid", [userid])
        return [Address(address, _time(confirmed)) for address, confirmed in rows]

    def userids_at(self, address: str) -> set[str]:
        """The users who have confirmed an address."""
        query = "SELECT userid FROM addresses WHERE address = ? AND confirmed IS NOT NULL"
        return {userid for (userid,) in self.db.execute(query, [address])}

    def replace_addresses(self, userid: str, codes: dict[str, str | None], now: datetime) -> None:
        """Give a user new addresses, each with the code that will confirm it; one without a code is confirmed.

        The addresses that he has confirmed stay until the first new one is confirmed; others go at once.
        """
        self.db.execute("UPDATE users SET generation = generation + 1 WHERE userid = ?", [userid])
        self.db.execute("DELETE FROM addresses WHERE userid = ? AND confirmed IS NULL", [userid])
        for address, code in codes.items():
            self.db.execute(
                "INSERT INTO addresses (userid, address, generation, code, confirmed) "
                "SELECT userid, ?, generation, ?, ? FROM users WHERE userid = ? "
                "ON CONFLICT DO UPDATE SET generation = excluded.generation",
                [address, code, None if code else _text(now), userid],
            )
        self._retire_addresses(userid, now)

    def confirm(self, code: str, now: datetime) -> tuple[str, str] | None:
        """Confirm the address that a code was made for: its user and itself, or None if no address has that code."""
        query = "UPDATE addresses SET confirmed = ?, code = NULL WHERE code = ? RETURNING userid, address"
        row = self.db.execute(query, [_text(now), code]).fetchone()
        if row is None:
            return None
        userid, address = row
        self._retire_addresses(userid, now)
        return userid, address

    def _retire_addresses(self, userid: str, now: datetime) -> None:
        """If one of the newest addresses is confirmed, drop the older ones and send it what has been waiting."""
        newest = "SELECT address, generation FROM addresses JOIN users USING (userid, generation)"
        row = self.db.execute(f"{newest} WHERE userid = ? AND confirmed IS NOT NULL", [userid]).fetchone()
        if row:
            self.db.execute("DELETE FROM addresses WHERE userid = ? AND generation < ?", [userid, row[1]])
            waiting = "UPDATE outbox SET address = ?, due = ? WHERE userid = ? AND address IS NULL"
            self.db.execute(waiting, [row[0], _text(now), userid])

    # Boards

    def next_number(self, game: str) -> str:
        """A board number that the game has never had; the first is 101."""
        query = "INSERT INTO numbers VALUES (?, 101) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last"
        (number,) = self.db.execute(query, [game]).fetchone()
        return str(number)

    def add_board(self, row: BoardRow) -> None:
        """Store a board that has no turns yet."""
        self.db.table("boards").insert(_columns(row))

    def board(self, game: str, board: str) -> BoardRow | None:
        """A board; None if there is none of that number."""
        query = "SELECT * FROM boards WHERE game = ? AND board = ?"
        row = self.db.execute(query, [game, board]).fetchone()
        return _board_row(row) if row else None

    def turns(self, game: str, board: str) -> list[TurnRow]:
        """The turns of a board, in order."""
        query = "SELECT userid, text, dice, automatic, played FROM turns WHERE game = ? AND board = ? ORDER BY number"
        return [
            TurnRow(userid, text, tuple(json.loads(dice)), bool(automatic), datetime.fromisoformat(played))
            for userid, text, dice, automatic, played in self.db.execute(query, [game, board])
        ]

    def save_board(self, row: BoardRow, first: int, turns: Iterable[TurnRow]) -> None:
        """Store what has changed on a board: its row and its new turns, the first of which has that number."""
        change = (
            "UPDATE boards SET moves = ?, turn = ?, ended = ?, winner = ?, commenter = ?, comment = ? "
            "WHERE game = ? AND board = ?"
        )
        ended = row.ended and _text(row.ended)
        values = [row.moves, row.turn, ended, row.winner, row.commenter, row.comment, row.game, row.board]
        self.db.execute(change, values)
        for number, turn in enumerate(turns, first):
            self._insert("turns", {"game": row.game, "board": row.board, "number": number, **_columns(turn)})

    def remove_board(self, game: str, board: str) -> None:
        """Forget a board; its number is not given out again."""
        self.db.execute("DELETE FROM boards WHERE game = ? AND board = ?", [game, board])

    def boards(self, game: str, ended_after: datetime | None = None) -> list[BoardRow]:
        """The boards of a game that are active, and those that ended after a time, by number."""
        query = "SELECT * FROM boards WHERE game = ? AND (ended IS NULL OR ended > ?) ORDER BY length(board), board"
        return [_board_row(row) for row in self.db.execute(query, [game, ended_after and _text(ended_after)])]

    def active_boards(self, game: str) -> int:
        """How many boards of a game are active."""
        (count,) = self.db.execute("SELECT count(*) FROM boards WHERE game = ? AND ended IS NULL", [game]).fetchone()
        return int(count)

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

    # Mails

    def add_mail(self, mail: Mail) -> None:
        """Put a mail into the outbox."""
        self._insert("outbox", _columns(mail))

    def due_mails(self, now: datetime, limit: int) -> list[Mail]:
        """Mails that are to be sent by now, the oldest first."""
        query = "SELECT * FROM outbox WHERE address IS NOT NULL AND due <= ? ORDER BY due, id LIMIT ?"
        return [_mail(row) for row in self.db.execute(query, [_text(now), limit])]

    def mails(self) -> list[Mail]:
        """All mails in the outbox, also those that wait for an address and those that were given up."""
        return [_mail(row) for row in self.db.execute("SELECT * FROM outbox ORDER BY id")]

    def remove_mail(self, mail: Mail) -> None:
        """Forget a mail that was sent."""
        self.db.execute("DELETE FROM outbox WHERE id = ?", [mail.id])

    def postpone_mail(self, mail: Mail, due: datetime | None, problem: str) -> None:
        """Note that a mail could not be sent, and when it is to be tried again: never, if *due* is None."""
        query = "UPDATE outbox SET tries = tries + 1, due = ?, problem = ? WHERE id = ?"
        self.db.execute(query, [due and _text(due), problem, mail.id])

    def _insert(self, table: str, columns: dict[str, object]) -> None:
        """Insert a row: what sqlite-utils does, without its look at the schema first, for the tables that grow fast."""
        places = ", ".join("?" * len(columns))
        self.db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", [*columns.values()])

    def record(self, sender: str, message_id: str, outcome: str, now: datetime) -> bool:
        """Note that a message was handled; False, and nothing noted, if it was handled before."""
        query = "INSERT INTO handled VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return self.db.execute(query, [sender, message_id, _text(now), outcome]).rowcount > 0

    def take(self, kind: str, holder: str, at_most: int, now: datetime) -> bool:
        """Use up one of the things that *holder* may have so many of on one day; False if there is none left."""
        query = (
            "INSERT INTO quotas VALUES (?, ?, ?, 1) "
            "ON CONFLICT DO UPDATE SET used = used + 1 WHERE used < ? RETURNING used"
        )
        return self.db.execute(query, [kind, holder, now.date().isoformat(), at_most]).fetchone() is not None


def _columns(row: NamedTuple) -> dict[str, object]:
    """A row as sqlite-utils wants it: a dict whose times and lists are text."""
    return {
        name: _text(value) if isinstance(value, datetime) else json.dumps(value) if isinstance(value, tuple) else value
        for name, value in row._asdict().items()
    }


def _board_row(columns: tuple[Any, ...]) -> BoardRow:
    row = BoardRow._make(columns)
    return row._replace(started=_time(columns[6]), ended=_time(columns[9]))


def _mail(columns: tuple[Any, ...]) -> Mail:
    mail = Mail._make(columns)
    return mail._replace(queued=_time(columns[6]), due=_time(columns[7]))


def _text(time: datetime) -> str:
    """A time as it is stored: in UTC, so that texts compare as times do."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


@overload
def _time(text: str) -> datetime: ...
@overload
def _time(text: None) -> None: ...
def _time(text: str | None) -> datetime | None:
    """A time as it was stored."""
    return datetime.fromisoformat(text) if text else None


def _reason(error: Exception) -> str:
    """What a player or an operator is told of an error of the system or of SQLite."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    text = str(error)
    return {
        "database is locked": f"another program has been writing to it for {BUSY_SECONDS} seconds; try again",
        "file is not a database": "it is no SQLite database",
    }.get(text, text)
