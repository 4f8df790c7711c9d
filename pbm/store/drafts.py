"""What a command would write, noted with all that it reads, so that under the lock nothing is left to be found out.

A command follows from its words, the time, chance, and what its statements find. If they find the same under the lock,
it would write the same again, and what is noted is written. If one does not, nothing is, and it has to be carried out.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, cast

from pbm.store.errors import Settled, WouldWrite

IN_FRONT_OF_TABLES = {"FROM", "INTO", "JOIN", "UPDATE"}
"""Behind which words the name of a table stands in a statement of ours."""
FOLLOWING = {"sqlite_sequence", "tallies", "changes"}
"""The tables that change when others do, by SQLite itself and by triggers."""
CASCADES = "DELETE FROM boards "
"""How a statement begins that takes rows of other tables along."""


class Draft:
    """What a command has read, and what it would write."""

    def __init__(self, begun: "State") -> None:
        """Begin with nothing, in a database that has come to this state."""
        self.begun = begun
        self.found: dict[tuple[str, tuple[object, ...]], list[Any]] = {}
        """The rows that each statement has found, by itself and its values."""
        self.writes: list[tuple[str, Sequence[object]]] = []
        """The statements that write, each with its values."""
        self.is_closed = False
        """Whether nothing is noted any more."""
        self._changed: set[str] = set()

    def execute(self, db: sqlite3.Connection, query: str, values: Sequence[object]) -> sqlite3.Cursor:
        """Read for a command, or note what it would write.

        Raises WouldWrite where what is noted does not tell how it goes on: it wants to know what a statement has
        done, or reads what one has changed.
        """
        if not query.startswith(("SELECT", "WITH")):
            if self.is_closed or "RETURNING" in query or query.startswith(CASCADES):
                raise WouldWrite
            self._changed |= tables(query) | FOLLOWING
            self.writes.append((query, values))
            return cast("sqlite3.Cursor", Unknown())
        if self.is_closed:
            return sqlite3.Connection.execute(db, query, values)
        if not self._changed.isdisjoint(tables(query)):
            raise WouldWrite
        asked = query, tuple(values)
        if asked not in self.found:
            self.found[asked] = sqlite3.Connection.execute(db, query, values).fetchall()
        return cast("sqlite3.Cursor", Found(self.found[asked]))

    def close(self) -> None:
        """Note nothing of a command that only reads, perhaps much; one that writes after all has to be carried out."""
        self.is_closed = not self.writes

    @contextmanager
    def part(self) -> Iterator[None]:
        """A transaction within: what it would write is forgotten if it fails."""
        before = len(self.writes)
        try:
            yield
        except Settled:
            raise
        except BaseException:
            del self.writes[before:]
            raise

    def is_true(self, db: "DraftConnection") -> bool:
        """Whether every statement finds again what it has found; only those are asked whose tables may have changed."""
        changed = db.changed(self.begun)
        return all(
            db.execute(query, values).fetchall() == rows
            for (query, values), rows in self.found.items()
            if changed is None or not changed.isdisjoint(tables(query))
        )


class Found:
    """Rows that were found, to be asked for as those of a cursor."""

    def __init__(self, rows: Sequence[Any]) -> None:
        """Begin with the first row."""
        self.rows = iter(rows)

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left."""
        return self.rows

    def fetchone(self) -> Any:
        """The next row; None if there is none."""
        return next(self.rows, None)

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        return [*self.rows]


class Unknown:
    """What a statement has done that was not executed."""

    def __getattr__(self, name: str) -> object:
        """Raise WouldWrite, whatever is asked."""
        raise WouldWrite


class State(NamedTuple):
    """How far a database has come, as one connection sees it."""

    version: int
    """Another one whenever another connection has changed something (https://sqlite.org/pragma.html, data_version)."""
    changes: int
    """How many rows this connection itself has changed so far."""


class DraftConnection(sqlite3.Connection):
    """A connection that can keep to a draft: it reads, and what would be written is noted there.

    It knows which tables it has changed, and when.
    """

    draft: Draft | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Open the database; nothing is changed yet."""
        super().__init__(*args, **kwargs)
        self._changed: dict[str, int] = {}
        """After how many changes of rows each table was changed for the last time."""
        self._cascaded = 0
        """After how many of them any table may have been."""

    def execute(self, query: str, values: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement, or note it."""
        if self.draft:
            return self.draft.execute(self, query, values)
        before = self.total_changes
        cursor = super().execute(query, values)
        if (now := self.total_changes) != before:
            self._changed.update(dict.fromkeys(tables(query) | FOLLOWING, now))
            if query.startswith(CASCADES):
                self._cascaded = now
        return cursor

    def state(self) -> State:
        """How far the database has come; in a transaction, as that sees it."""
        (version,) = super().execute("PRAGMA data_version").fetchone()
        return State(version, self.total_changes)

    def changed(self, since: State) -> set[str] | None:
        """The tables that have changed *since*; None if that can be any, because of another connection."""
        if self.state().version != since.version or self._cascaded > since.changes:
            return None
        return {name for name, last in self._changed.items() if last > since.changes}


@lru_cache(maxsize=1000)
def tables(query: str) -> frozenset[str]:
    """The tables that a statement names."""
    return frozenset(name.strip("(),") for word, name in pairwise(query.split()) if word in IN_FRONT_OF_TABLES)
