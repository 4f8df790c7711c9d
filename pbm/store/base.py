"""The database itself: how it is opened, and steps that happen whole or not at all."""

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self, overload

from sqlite_utils import Database

APPLICATION_ID = int.from_bytes(b"pbm1")
"""What SQLite's header calls the application that a file belongs to."""
SCHEMA = 2
"""The number of migrations in `pbm.store.schema`."""
BUSY_SECONDS = 30
"""How long a command waits for others to finish writing."""
LOOK_AGAIN = 0.001
"""How many seconds pass before it looks again whether they have."""


class Unusable(Exception):
    """The database cannot be used. The text says why and what would help; nothing was changed."""


class Settled(Exception):
    """Raised to leave a transaction of which everything so far stands."""


class Base:
    """An open database."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the database of that path, and make or bring up to date what is in it. Raises Unusable.

        If it is to be *read only*, it has to be there and up to date.
        """
        self.path = path
        self.is_read_only = read_only
        self._depth = 0
        try:
            if not (read_only or path.exists()):  # it holds addresses and hashes: nobody else may read it at any moment
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            name = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
            connection = sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
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
        if version < SCHEMA and self.is_read_only:
            raise Unusable(f"{self.path} was written by an older version of pbm; `pbm users` brings it up to date.")
        if version < SCHEMA:
            self.db.enable_wal()
            from pbm.store.schema import migrations

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
                self._keep(level)
            except Settled:
                self._keep(level)
                raise
            except BaseException:
                if self.db.conn.in_transaction:  # else SQLite itself has undone everything
                    self._roll_back(level)
                raise
            finally:
                self._depth = level
        except sqlite3.Error as error:
            raise Unusable(f"The database {self.path} cannot be used: {_reason(error)}.") from error

    def _keep(self, level: int) -> None:
        """Make what a transaction has done stand, as far as the one around it will."""
        self.db.execute(f"RELEASE level{level}" if level else "COMMIT")

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

    def insert(self, table: str, columns: dict[str, object]) -> None:
        """Insert a row: what sqlite-utils does, without its look at the schema first, for the tables that grow fast."""
        places = ", ".join("?" * len(columns))
        self.db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", [*columns.values()])


def columns(row: NamedTuple) -> dict[str, object]:
    """A row as sqlite-utils wants it: a dict whose times and lists are text."""
    return {
        name: text(value) if isinstance(value, datetime) else json.dumps(value) if isinstance(value, tuple) else value
        for name, value in row._asdict().items()
    }


def text(moment: datetime) -> str:
    """A time as it is stored: in UTC, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@overload
def time_of(stored: str) -> datetime: ...
@overload
def time_of(stored: None) -> None: ...
def time_of(stored: str | None) -> datetime | None:
    """A time as it was stored."""
    return datetime.fromisoformat(stored) if stored else None


def _reason(error: Exception) -> str:
    """What a player or an operator is told of an error of the system or of SQLite."""
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    text = str(error)
    return {
        "database is locked": f"another program has been writing to it for {BUSY_SECONDS} seconds; try again",
        "file is not a database": "it is no SQLite database",
    }.get(text, text)
