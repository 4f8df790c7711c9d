"""The database itself: how it is opened, and steps that happen whole or not at all."""

import json
import os
import sqlite3
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from pbm import disk
from pbm.store.form import APPLICATION_ID, BUSY_SECONDS, FIRST_TABLES, SCHEMA, Replaced, Unusable, check_schema

LOCK_INTERVAL = 0.001
"""How many seconds pass before it looks again whether they have."""


class Base:
    """An open database."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open the database of that path, and make or bring up to date what is in it. Raises Unusable.

        If it is to be *read only*, it has to be there and up to date.
        """
        self._file = os.fspath(path)
        self.is_read_only = read_only
        self._depth = 0
        self.is_writing = False
        """Whether a transaction is open that may write."""
        try:
            if not read_only and not os.path.exists(path):
                # it holds addresses and hashes: nobody else may read it at any moment
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            self.db = sqlite3.connect(
                _uri(self._file, "ro" if read_only else "rw"),
                uri=True,
                timeout=BUSY_SECONDS,
                check_same_thread=False,
                isolation_level=None,
            )
            self._opened = _identity(self._file)
            # also when the process ends: whoever closes last puts all that stands in the -wal into the file itself
            self.close = weakref.finalize(self, self.db.close)
            self._prepare()
        except (OSError, sqlite3.Error) as error:
            raise Unusable(f"The database {path} cannot be used: {problem(error)}.") from error

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self._file)

    def __enter__(self) -> Self:
        """Use the store in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def _prepare(self) -> None:
        """Make an empty file a database, and bring an older one up to date."""
        query = (
            "SELECT application_id, user_version, page_count, (SELECT count(*) FROM sqlite_schema) "
            "FROM pragma_application_id, pragma_user_version, pragma_page_count"
        )
        application, version, pages, tables = self.db.execute(query).fetchone()
        if tables and application != APPLICATION_ID:
            raise Unusable(f"{self.path} is the database of another program; set PBM_DB to a path of pbm's own.")
        if pages and (lost := self._lost_tables()):
            raise Unusable(
                f"{self.path} lacks tables that every database of pbm has ({', '.join(lost)}); perhaps it was copied "
                "without the -wal file beside it. Go back to a backup: `pbm restore FILE`."
            )
        if pages:
            check_schema(self._file, version)
        self.db.execute("PRAGMA foreign_keys = ON")
        self.db.execute("PRAGMA synchronous = FULL")  # some builds of SQLite do less, and lose the last commits
        if version < SCHEMA and self.is_read_only:
            raise Unusable(f"{self.path} was written by an older version of pbm; `pbm users` brings it up to date.")
        if version < SCHEMA:
            self._bring_up_to_date()

    def _lost_tables(self) -> list[str]:
        """The tables that every version has, and this database has not."""
        query = (
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT name FROM sqlite_schema WHERE type = 'table')"
        )
        return [name for (name,) in self.db.execute(query, [json.dumps(FIRST_TABLES)])]

    def _bring_up_to_date(self) -> None:
        """Make all tables, or change those of an older version, of which a copy is kept; the operator is told where.

        A new database becomes one in a single step: only when it is whole does it get a log beside it.
        """
        from pbm.store import copies, schema  # sqlite-utils takes 65 ms

        kept = copies.name_before_schema(self.path, SCHEMA)
        with self.writing():
            (version,) = self.db.execute("PRAGMA user_version").fetchone()
            is_older = 0 < version < SCHEMA  # else it is new, or somebody else has done it meanwhile
            if is_older:
                copies.keep(self.path, kept)
            schema.apply(self.db)
        if is_older and sys.stderr:
            changed = f"Brought {self.path} from schema {version} up to schema {SCHEMA}"
            sys.stderr.write(f"{changed}; a copy of what it was is {kept}.\n")
        self._insist("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA wal_checkpoint")

    def reading(self) -> AbstractContextManager[None]:
        """A transaction that sees one state of the database, waits for nobody, and cannot write. Raises Unusable."""
        return self._transaction(is_writing=False)

    def writing(self) -> AbstractContextManager[None]:
        """Everything inside happens, or nothing does; inside another transaction it can be undone alone.

        Raises Unusable if the database is locked, full or damaged.
        """
        return self._transaction(is_writing=True)

    @contextmanager
    def _transaction(self, *, is_writing: bool) -> Iterator[None]:
        """A transaction, or a savepoint inside another one.

        It locks, then reads, because a deferred BEGIN fails when two writers meet.
        """
        level = self._depth
        try:
            if level:
                self.db.execute(f"SAVEPOINT level{level}")
            elif is_writing:
                self._insist("BEGIN IMMEDIATE")
                self.is_writing = True
            else:
                self.db.execute("BEGIN")
            self._depth = level + 1
            changes = self.db.total_changes
            try:
                if not level:
                    self.check_in_place()
                yield
                self._keep(level, changes)
            except BaseException:
                if self.db.in_transaction:  # else SQLite itself has undone everything
                    self._roll_back(level)
                raise
            finally:
                self._depth = level
                self.is_writing = self.is_writing and level > 0
        except sqlite3.Error as error:
            raise Unusable(f"The database {self.path} cannot be used: {problem(error)}.") from error

    @contextmanager
    def alone(self, kind: str, doing: str, patience: float, until: Callable[[], bool]) -> Iterator[None]:
        """Hold the lock of that *kind* beside the database, so that no other process is *doing* the same.

        Raises Unusable if another one is for *patience* seconds, or *until* told to give up.
        """
        lock = self.path.with_name(f"{self.path.name}.{kind}")
        with ExitStack() as held:
            try:
                held.enter_context(disk.locked(lock, patience, until))
            except BlockingIOError as error:
                raise Unusable(f"Another process has been {doing} for {patience:.0f} seconds; try again.") from error
            except OSError as error:
                raise Unusable(f"The lock {lock} cannot be used: {disk.reason(error)}.") from error
            yield

    def check_in_place(self) -> None:
        """Raises Replaced if what is written would go into a file that nobody else sees."""
        try:
            is_in_place = _identity(self._file) == self._opened
        except OSError:
            is_in_place = False
        if not is_in_place:
            raise Replaced(f"The database {self.path} was deleted or replaced while it was open; nothing was written.")

    def _keep(self, level: int, changes: int) -> None:
        """End a transaction, which began after so many *changes*, as far as the one around it will."""
        if self.db.total_changes != changes and not self.is_writing:
            raise RuntimeError("A transaction that reads has written.")
        end = "COMMIT" if self.is_writing else "END"  # the same; but nothing is committed, and no disk waited for
        self.db.execute(f"RELEASE level{level}" if level else end)

    def data_version(self) -> int:
        """A number that is another one after anybody else has written to the database."""
        (version,) = self.db.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _roll_back(self, level: int) -> None:
        """Undo a transaction, and no other that it stands in."""
        if level:
            self.db.execute(f"ROLLBACK TO level{level}")
            self.db.execute(f"RELEASE level{level}")
        else:
            self.db.execute("ROLLBACK")

    def _insist(self, statement: str) -> None:
        """Execute a statement as soon as nobody is in its way; SQLite gives some of them up at once.

        SQLite itself looks ever more seldom while it waits, and a shell would starve beside a busy server.
        """
        end = time.monotonic() + BUSY_SECONDS
        self.db.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    self.db.execute(statement)
                except sqlite3.OperationalError as error:
                    primary = error.sqlite_errorcode & 0xFF  # the rest says why: a log that somebody recovers, say
                    if primary != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                        raise
                    time.sleep(LOCK_INTERVAL)
                else:
                    return
        finally:
            self.db.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")


class Questions:
    """What is asked of an open database about one noun; `Boards` are `store.boards`, say."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Ask that database, and not the store: one that nobody has any more is closed at once."""
        self.db = db

    def insert(self, table: str, columns: dict[str, object], *, replacing: bool = False) -> None:
        """Insert a row, if *replacing* in the place of the one that has its key."""
        places = ", ".join("?" * len(columns))
        self.db.execute(
            f"INSERT {'OR REPLACE ' * replacing}INTO {table} ({', '.join(columns)}) VALUES ({places})",
            [*columns.values()],
        )

    def last(self, query: str, order: str, values: Sequence[object], most: int, skip: int) -> Iterator[Any]:
        """What a query finds in an order, at most so many rows before the last so many; -1 stands for all."""
        if most < 0:
            return iter(self.db.execute(f"{query} ORDER BY {order}", values))
        backwards = ", ".join(f"{column} DESC" for column in order.split(", "))
        rows = self.db.execute(f"{query} ORDER BY {backwards} LIMIT ? OFFSET ?", [*values, most, skip]).fetchall()
        return iter(rows[::-1])


def _uri(file: str, mode: str) -> str:
    """The file as SQLite wants to be told of it, so that it makes none where there is none."""
    whole = file if os.path.isabs(file) else os.path.join(os.getcwd(), file)
    return f"file://{whole.translate({ord(sign): f'%{ord(sign):02x}' for sign in '%?#'})}?mode={mode}"


def _identity(file: str) -> tuple[int, int]:
    """What tells a file from all others. Raises OSError."""
    found = os.stat(file)
    return found.st_dev, found.st_ino


def problem(error: Exception) -> str:
    """What a player or an operator is told of an error of the system or of SQLite."""
    if isinstance(error, OSError):
        return disk.reason(error)
    text = str(error)
    return {
        "database is locked": f"another program has been writing to it for {BUSY_SECONDS} seconds; try again",
        "file is not a database": "it is no SQLite database",
    }.get(text, text)
