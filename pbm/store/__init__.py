"""The SQLite database, which keeps everything. No other package writes SQL.

A board is the list of its turns: from it, and from the secret of its dice, every position can be rebuilt. The columns
moves, turn, ended and winner of a board follow from the turns; they are stored so that lists need not replay games.
"""

import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Self

from pbm import disk
from pbm.store.absences import Absences
from pbm.store.base import (
    APPLICATION_ID,
    BUSY_SECONDS,
    FIRST_TABLES,
    SCHEMA,
    Locked,
    OtherVersion,
    Replaced,
    Unusable,
    check_schema,
    problem,
    uri,
)
from pbm.store.boards import BoardRow, Boards, TurnRow
from pbm.store.events import Changes, Events
from pbm.store.health import Health
from pbm.store.notices import Notices
from pbm.store.outbox import Handled, HeldMail, Mail, Outbox
from pbm.store.persons import Persons
from pbm.store.players import ESTABLISHED, PlayerRow, Players, ResultRow, Section
from pbm.store.robots import Robot, Robots
from pbm.store.states import BoardState, States
from pbm.store.talk import Talk, TalkRow
from pbm.store.tournaments import Tournaments
from pbm.store.trust import Failures, Reply, Trust
from pbm.store.users import Users, Vacation
from pbm.terminal import warn

__all__ = [
    "ESTABLISHED",
    "SCHEMA",
    "BoardRow",
    "BoardState",
    "Failures",
    "HeldMail",
    "Locked",
    "Mail",
    "OtherVersion",
    "PlayerRow",
    "Replaced",
    "Reply",
    "ResultRow",
    "Robot",
    "Section",
    "Store",
    "TalkRow",
    "TurnRow",
    "Unusable",
    "Vacation",
]

LOCK_INTERVAL = 0.001
"""How many seconds a statement waits before it is tried again, while another process writes."""


class Store:
    """An open database. It has a member for each noun: `store.boards.get("spiro", "101")`."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open a database; make it if there is none, and bring an older one up to date. Raises Unusable.

        To be opened *read_only*, it has to be there and up to date.
        """
        self.path = Path(path)
        self.is_writing = False
        """Whether a transaction is open that may write."""
        self._is_open = False
        """Whether any is open, also one that SQLite has undone, as it does when the disk is full."""
        try:
            if not read_only and not self.path.exists():
                self._make_file()
            self.db = sqlite3.connect(
                uri(self.path, "ro" if read_only else "rw"),
                uri=True,
                timeout=BUSY_SECONDS,
                check_same_thread=False,
                isolation_level=None,
            )
            self._opened = self.path.stat()
            # also at the end of the process: the last one to close moves the content of the -wal into the file itself
            self.close = weakref.finalize(self, self.db.close)
            self._prepare(read_only=read_only)
        except (OSError, sqlite3.Error) as error:
            raise Unusable(f"The database {path} cannot be used: {problem(error, self.path)}.") from error
        self.absences = Absences(self.db)
        self.boards = Boards(self.db)
        self.states = States(self.db)
        self.talk = Talk(self.db)
        self.users = Users(self.db)
        self.persons = Persons(self.db)
        self.players = Players(self.db)
        self.robots = Robots(self.db)
        self.outbox = Outbox(self.db)
        self.handled = Handled(self.db)
        self.notices = Notices(self.db)
        self.trust = Trust(self.db)
        self.tournaments = Tournaments(self.db)
        self.events = Events(self.db)
        self.changes = Changes(self.db)
        self.health = Health(self.db)

    def _make_file(self) -> None:
        """Make an empty file. Raises Unusable if there is no folder for it, or if it was there before."""
        folder = self.path.absolute().parent
        if not folder.is_dir():
            why = f"there is no folder {folder}; `mkdir -p {folder}` makes it"
            raise Unusable(f"The database {self.path} cannot be used: {why}.")
        changes = self.path.with_name(f"{self.path.name}-wal")
        if changes.exists() and changes.stat().st_size:  # SQLite would delete them when a new database is made
            raise Unusable(
                f"The database {self.path} has been moved or deleted, and its newest changes are in {changes}. Put it "
                "back, or restore a backup; to begin with an empty one, move that file away."
            )
        # it holds addresses and hashes: nobody else may read it at any moment
        os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))

    def __enter__(self) -> Self:
        """Use the store in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def _prepare(self, *, read_only: bool) -> None:
        """Make an empty file a database, and bring an older one up to date."""
        query = "SELECT * FROM pragma_application_id, pragma_user_version, pragma_page_count"
        application, version, pages = self.db.execute(query).fetchone()
        names = {name for (name,) in self.db.execute("SELECT name FROM sqlite_schema")}
        if names and application != APPLICATION_ID:
            raise Unusable(f"{self.path} is the database of another program; set PBM_DB to a path of pbm's own.")
        if version:
            check_schema(self.path, version)
        if pages and (lost := [name for name in FIRST_TABLES if name not in names]):
            raise Unusable(
                f"{self.path} lacks tables that every database of pbm has ({', '.join(lost)}); perhaps it was copied "
                "without the -wal file beside it. Go back to a backup: `pbm restore FILE`."
            )
        self.db.execute("PRAGMA foreign_keys = ON")
        self.db.execute("PRAGMA synchronous = FULL")  # some builds of SQLite do less, and lose the last commits
        if version < SCHEMA and read_only:
            raise Unusable(f"{self.path} was written by an older version of pbm; `pbm users` brings it up to date.")
        if version < SCHEMA:
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        """Make all tables; or change those of an older version, keep a copy of it, and tell the operator where.

        A new database is made in a single step: its log file is made only when it is complete.
        """
        from pbm.store import copies, schema  # sqlite-utils takes 65 ms

        kept = self.path.with_name(f"{self.path.name}.before-schema-{SCHEMA}")
        with self.writing():
            (version,) = self.db.execute("PRAGMA user_version").fetchone()
            is_older = 0 < version < SCHEMA  # else it is new, or somebody else has done it meanwhile
            if is_older:
                try:
                    copies.keep(self.path, kept)
                except OSError as error:
                    raise Unusable(f"{kept} cannot be written: {problem(error, kept)}.") from error
            schema.apply(self.db)
        if is_older:
            changed = f"Brought {self.path} from schema {version} up to schema {SCHEMA}"
            warn(f"{changed}; a copy of what it was is {kept}.")
        self._insist("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA wal_checkpoint")

    def reading(self) -> AbstractContextManager[None]:
        """Hold a transaction that sees one state of the database. It waits for nobody, and cannot write.

        Raises Unusable.
        """
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[None]:
        """Hold a transaction: everything inside happens, or nothing does. Inside another one, it is a savepoint.

        Raises Unusable if the database is locked, full or damaged.
        """
        return self._transaction("BEGIN IMMEDIATE")  # locks, then reads: a deferred BEGIN fails when two writers meet

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """Hold a transaction that begins with that statement, or a savepoint inside another transaction."""
        is_inner, changes = self._is_open, self.db.total_changes
        if is_inner and not self.db.in_transaction:
            raise Unusable(f"The database {self.path} has undone what came before, and takes nothing behind it.")
        try:
            self._insist("SAVEPOINT step" if is_inner else begin)
            self._is_open = True
            try:
                if not is_inner:
                    self.is_writing = begin != "BEGIN"
                    self.check_in_place()
                yield
                if self.db.total_changes != changes and not self.is_writing:
                    raise RuntimeError("A transaction that reads has written.")
                self.db.execute("RELEASE step" if is_inner else "COMMIT")
            except BaseException:
                if self.db.in_transaction:  # else SQLite itself has undone everything
                    self.db.execute("ROLLBACK TO step" if is_inner else "ROLLBACK")
                    if is_inner:
                        self.db.execute("RELEASE step")
                raise
            finally:
                self.is_writing = self.is_writing and is_inner
                self._is_open = is_inner
        except sqlite3.Error as error:
            raise Unusable(f"The database {self.path} cannot be used: {problem(error, self.path)}.") from error

    def _insist(self, statement: str) -> None:
        """Execute a statement as soon as no lock is in its way, for up to BUSY_SECONDS; SQLite gives some up at once.

        SQLite itself tries less and less often while it waits, so a shell would hardly get a turn on a busy server.
        """
        end = time.monotonic() + BUSY_SECONDS
        self.db.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    self.db.execute(statement)
                except sqlite3.OperationalError as error:
                    primary = error.sqlite_errorcode & 0xFF  # other bits tell why, such as a log that is recovered
                    if primary != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                        raise
                    time.sleep(LOCK_INTERVAL)
                else:
                    return
        finally:
            self.db.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS}")

    def check_in_place(self) -> None:
        """Raises Replaced if the open file is not the one at the path any more: writes would be lost."""
        with suppress(OSError):
            if os.path.samestat(self.path.stat(), self._opened):
                return
        raise Replaced(f"The database {self.path} was deleted or replaced while it was open; nothing was written.")

    @contextmanager
    def hold_lock(self, kind: str, doing: str, patience: float, until: Callable[[], object]) -> Iterator[None]:
        """Hold the lock file of that *kind* of the database, so that no other process is *doing* the same.

        Raises Locked if another process still has it after *patience* seconds, or when *until* is true.
        """
        real = self.path.resolve()  # others may use it by a link
        lock = real.with_name(f"{real.name}.{kind}")
        with ExitStack() as held:
            try:
                held.enter_context(disk.locked(lock, patience, until))
            except BlockingIOError as error:
                raise Locked(f"Another process has been {doing} for {patience:.0f} seconds; try again.") from error
            except OSError as error:
                raise Unusable(f"The lock {lock} cannot be used: {disk.reason(error)}.") from error
            yield

    def forget_old(self, before: datetime) -> None:
        """Delete notes, counts and events from before that time, and mails queued before it that cannot be sent.

        Of boards that were removed before it, nothing is known any more.
        """
        for table, column in (
            ("handled", "handled"),
            ("quotas", "day"),
            ("failures", "last"),
            ("commands", "hour"),
            ("posts", "moment"),
        ):
            self.db.execute(f"DELETE FROM {table} WHERE {column} < ?", (before,))
        removed = "SELECT game, board FROM removed_boards WHERE removed < ?"
        for table in "replies", "board_states", "removed_boards":
            self.db.execute(f"DELETE FROM {table} WHERE (game, board) IN ({removed})", (before,))
        for table, column, which in (
            ("events", "moment", ""),
            ("outbox", "queued", " AND (address IS NULL OR due IS NULL)"),
        ):
            kept = f"SELECT id FROM {table} WHERE {column} >= ?1 ORDER BY id LIMIT 1"  # newer rows have higher numbers
            query = f"DELETE FROM {table} WHERE id < coalesce(({kept}), 1 << 62) AND {column} < ?1{which}"
            self.db.execute(query, (before,))

    def data_version(self) -> int:
        """A number that changes whenever another connection has written to the database."""
        (version,) = self.db.execute("PRAGMA data_version").fetchone()
        return int(version)
