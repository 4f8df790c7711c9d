"""What has happened, as numbered events; and the programs that are run for them."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from pbm.store.base import Questions
from pbm.store.form import text, time_of


class Event(NamedTuple):
    """Something that has happened. Nothing that only some may know stands in it."""

    id: int
    """Its number; a later event has a higher one."""
    moment: datetime
    kind: str
    game: str | None
    board: str | None
    pool: str | None
    userid: str | None
    """Who has done it, or to whom it happened."""
    detail: dict[str, Any]
    """What else belongs to that kind of event."""


class Hook(NamedTuple):
    """A program that is run for each event."""

    id: int
    program: str
    kinds: str
    """The kinds of events, with commas between; empty for all."""
    last: int
    """The number of the last event that it has seen."""
    tries: int = 0
    """How often it has failed with the next one."""
    due: datetime | None = None
    """When it is tried again; None if at once."""
    problem: str | None = None
    """What went wrong at the last try."""


class Counted(NamedTuple):
    """How many commands there were."""

    done: int
    refused: int


class Events(Questions):
    """What is stored of events, commands and maintenance."""

    def note(
        self,
        now: datetime,
        kind: str,
        *,
        game: str | None = None,
        board: str | None = None,
        pool: str | None = None,
        userid: str | None = None,
        **detail: object,
    ) -> None:
        """Note that something has happened, in the transaction in which it does."""
        query = "INSERT INTO events (moment, kind, game, board, pool, userid, detail) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self.db.execute(query, [text(now), kind, game, board, pool, userid, json.dumps(detail)])

    def count_command(self, now: datetime, *, refused: bool) -> None:
        """Count a command, by the hour in which it was given."""
        query = (
            "INSERT INTO commands VALUES (?1, NOT ?2, ?2) "
            "ON CONFLICT DO UPDATE SET done = done + excluded.done, refused = refused + excluded.refused"
        )
        self.db.execute(query, [text(now.replace(minute=0, second=0, microsecond=0)), refused])

    # Programs

    def since(self, since: int, most: int) -> list[Event]:
        """The events behind a number, at most so many."""
        query = f"SELECT {', '.join(Event._fields)} FROM events WHERE id > ? ORDER BY id LIMIT ?"
        return [
            Event(number, datetime.fromisoformat(moment), kind, game, board, pool, userid, json.loads(detail))
            for number, moment, kind, game, board, pool, userid, detail in self.db.execute(query, [since, most])
        ]

    def last_number(self) -> int:
        """The number of the last event that was ever noted; 0 before the first one."""
        row = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
        return int(row[0]) if row else 0

    def hooks(self) -> list[Hook]:
        """The programs that are run for events, the oldest first."""
        rows = self.db.execute(f"SELECT {', '.join(Hook._fields)} FROM hooks ORDER BY id")
        return [Hook._make(row)._replace(due=time_of(row[Hook._fields.index("due")])) for row in rows]

    def add_hook(self, program: str, kinds: Iterable[str]) -> int:
        """Run a program for each event from now on, or for each of these *kinds*. Returns its number."""
        query = "INSERT INTO hooks (program, kinds, last) VALUES (?, ?, ?) RETURNING id"
        return int(self.db.execute(query, [program, ",".join(kinds), self.last_number()]).fetchone()[0])

    def remove_hook(self, number: int) -> bool:
        """Run a program no more; False if there is none of that number."""
        return self.db.execute("DELETE FROM hooks WHERE id = ?", [number]).rowcount > 0

    def save_hook(self, hook: Hook) -> None:
        """Store how far a program has come."""
        query = "UPDATE hooks SET last = ?, tries = ?, due = ?, problem = ? WHERE id = ?"
        self.db.execute(query, [hook.last, hook.tries, hook.due and text(hook.due), hook.problem, hook.id])

    # Commands and maintenance

    def note_maintenance(self, name: str, now: datetime) -> None:
        """Note when something was done last."""
        self.db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", [name, text(now)])

    def last_maintenance(self, name: str) -> datetime | None:
        """When something was done last: ``cleanup``, ``backup`` or ``restored``.

        ``begun`` is since when such things are noted.
        """
        row = self.db.execute("SELECT moment FROM notes WHERE name = ?", [name]).fetchone()
        return datetime.fromisoformat(row[0]) if row else None

    def commands_since(self, moment: datetime) -> Counted:
        """How many commands there were in the hours that began after a time."""
        query = "SELECT coalesce(sum(done), 0), coalesce(sum(refused), 0) FROM commands WHERE hour > ?"
        return Counted(*self.db.execute(query, [text(moment)]).fetchone())
