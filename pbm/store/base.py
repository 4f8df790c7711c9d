"""What all of the store uses: how a database of pbm is recognised, and the base class of all nouns."""

import errno
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pbm import disk

APPLICATION_ID = int.from_bytes(b"pbm1")
"""The application number in SQLite's header of a file of pbm."""
FIRST_SCHEMA = 12
"""The version of the tables in the first release of pbm; older ones cannot be read."""
SCHEMA = 25
"""The version of the tables now: one more for each migration of `pbm.store.schema` behind the first."""
WITHOUT_WRITING = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
"""The errors of SQLite where it cannot write. Even to read only, it writes into a file in the same folder."""
BUSY_SECONDS = 30
"""How long a command waits for others to finish writing."""
FIRST_TABLES = "addresses", "boards", "handled", "numbers", "outbox", "plans", "quotas", "turns", "users"
"""The tables that every version has had since the first release."""

AnyRow = TypeVar("AnyRow", bound=NamedTuple)


class Unusable(Exception):
    """The database cannot be used. The text says why and what would help; nothing was changed."""

    status = 1
    """The exit status of a shell command that it ends."""


class Locked(Unusable):
    """Another process has a lock file of the database."""


class OtherVersion(Unusable):
    """The database was written by another version of pbm, with tables that this one cannot read."""

    def __init__(self, fault: str, remedy: str) -> None:
        """Say what is wrong, and what would help: two sentences."""
        super().__init__(fault, remedy)
        self.fault = fault
        self.remedy = remedy

    def __str__(self) -> str:
        """Both sentences."""
        return f"{self.fault} {self.remedy}"


class Replaced(Unusable):
    """The database was deleted or replaced while its file was open; the process has to end."""


def check_schema(path: Path, schema: int) -> None:
    """Raises Unusable if the tables of a database are too old or too new for this version of pbm."""
    if schema < FIRST_SCHEMA:
        raise OtherVersion(
            f"{path} was written by a version of pbm before its first release, and this one cannot read it.",
            "Write its boards into a file with that version (`pbm export`), and `pbm import` that file into a new "
            "database.",
        )
    if schema > SCHEMA:
        raise OtherVersion(f"{path} was written by a newer version of pbm.", "Install that one.")


def uri(path: Path, mode: str) -> str:
    """The URI of a file for SQLite. With the modes ``ro`` and ``rw``, SQLite never creates the file."""
    return f"{path.absolute().as_uri()}?mode={mode}"


def problem(error: Exception, path: Path) -> str:
    """The text about an error of the system or of SQLite with the database at a path, for players and operators."""
    if isinstance(error, OSError):
        return disk.reason(error)
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in WITHOUT_WRITING and disk.is_read_only(path):
        return disk.ERROR_TEXTS[errno.EROFS]
    text = str(error)
    return {
        "database is locked": f"another program has been writing to it for {BUSY_SECONDS} seconds; try again",
        "file is not a database": "it is no SQLite database",
    }.get(text, text)


def text(moment: datetime) -> str:
    """A time as it is stored: in UTC, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


sqlite3.register_adapter(datetime, text)
sqlite3.register_adapter(date, date.isoformat)
for kind in (tuple, list, dict):
    sqlite3.register_adapter(kind, json.dumps)

READ: Mapping[object, Callable[[Any], object]] = {
    bool: bool,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    datetime | None: datetime.fromisoformat,
    dict[str, Any]: json.loads,
    tuple[int, ...]: lambda stored: tuple(json.loads(stored)),
    tuple[str, ...]: lambda stored: tuple(json.loads(stored)),
}
"""How a stored value becomes the value of a field, by the type of the field; other types are stored as they are."""


def as_row(kind: type[AnyRow], columns: Iterable[Any]) -> AnyRow:
    """The row of that *kind* made of stored values; for example, ``0`` becomes False in a field of type bool."""
    types = kind.__annotations__.values()
    values = zip(types, columns, strict=True)
    return kind._make(READ[one](value) if one in READ and value is not None else value for one, value in values)


@dataclass(eq=False)
class Questions:
    """The base class of all nouns, such as `Boards`, which is `store.boards`.

    A value in a query may also be a time or a day, which are stored as text, or a list or a dict, which SQL reads as
    JSON.
    """

    db: sqlite3.Connection
    """The connection, and not the store: so a store that nobody refers to is closed at once."""

    def execute(self, query: str, *values: object) -> list[Any]:
        """Execute a statement with these values for its question marks. Returns all rows that it finds.

        They are read immediately. As long as any cursor is not read to its end, the connection sees an old state of the
        database, and cannot write once another one has written.
        """
        return self.db.execute(query, values).fetchall()

    def rows(self, kind: type[AnyRow], query: str, *values: object) -> list[AnyRow]:
        """The rows that a query finds."""
        return [as_row(kind, columns) for columns in self.execute(query, *values)]

    def row(self, kind: type[AnyRow], query: str, *values: object) -> AnyRow | None:
        """The first row that a query finds; None if it finds none."""
        columns = self.db.execute(query, values).fetchone()
        return as_row(kind, columns) if columns else None

    def column(self, query: str, *values: object) -> list[Any]:
        """The first value of each row that a query finds."""
        return [row[0] for row in self.execute(query, *values)]

    def value(self, query: str, *values: object) -> Any:
        """The first value of the first row that a query finds; None if it finds none."""
        row = self.db.execute(query, values).fetchone()
        return row[0] if row else None

    def moment(self, query: str, *values: object) -> datetime | None:
        """The time that a query finds; None if it finds none."""
        text = self.value(query, *values)
        return datetime.fromisoformat(text) if text else None

    def insert(self, table: str, columns: Mapping[str, object], *, replacing: bool = False) -> None:
        """Insert a row; if *replacing*, it replaces the row with the same key."""
        verb = "INSERT OR REPLACE" if replacing else "INSERT"
        places = ", ".join("?" * len(columns))
        self.execute(f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({places})", *columns.values())

    def update(self, table: str, changes: Mapping[str, object], where: str, *values: object) -> None:
        """Change columns of the rows that fit a condition; the *values* are for its question marks."""
        settings = ", ".join(f"{name} = ?" for name in changes)
        self.execute(f"UPDATE {table} SET {settings} WHERE {where}", *changes.values(), *values)
