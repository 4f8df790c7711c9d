"""Numbered events, the programs that are run for them, and changes since an earlier state of the database."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from pbm.store.base import Questions


class Event(NamedTuple):
    """Something that has happened. Anybody may know all of it."""

    id: int
    """The number of the event; a later event has a higher one."""
    moment: datetime
    kind: str
    game: str | None
    board: str | None
    pool: str | None
    userid: str | None
    """The user who has done it, or who it happened to."""
    detail: dict[str, Any]
    """What only that kind of event has, for example ``{"move": "e3"}``."""


class Hook(NamedTuple):
    """A program that is run for each event."""

    id: int
    program: str
    kinds: str
    """The kinds of events, with commas between; empty for all."""
    last: int
    """The number of the last event that it has handled."""
    tries: int = 0
    """How often it has failed with the next event."""
    due: datetime | None = None
    """When it is tried again; None for at once."""
    problem: str | None = None
    """What went wrong at the last try."""


class Counted(NamedTuple):
    """The number of commands that were done, and of those that were refused."""

    done: int
    refused: int


class Change(NamedTuple):
    """Something public that was changed, made or removed."""

    kind: str
    """``board``, ``pool``, ``user``, or ``player``, which is a user in one game.

    A ``proof`` is a token or a reply address of a user that has ended.
    """
    game: str
    """Empty for a user, and for a proof."""
    name: str


class DatabaseState(NamedTuple):
    """A state of a database, as a program that follows its changes has seen it."""

    number: int
    """The number of the last change."""
    event: int
    """The number of the last event; 0 if there was none."""
    moment: str
    """When that event happened. It differs if the database was put back to an older state, and has gone on since."""
    restored: str = ""
    """When the database was last restored from a backup; empty if it never was."""


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
        self.execute(query, now, kind, game, board, pool, userid, detail)

    def count_command(self, now: datetime, *, refused: bool) -> None:
        """Count a command, by the hour in which it was given."""
        query = """
            INSERT INTO commands VALUES (?1, NOT ?2, ?2)
            ON CONFLICT DO UPDATE SET done = done + excluded.done, refused = refused + excluded.refused
        """
        self.execute(query, now.replace(minute=0, second=0, microsecond=0), refused)

    # Programs

    def since(self, since: int, most: int) -> list[Event]:
        """The events with a higher number, at most *most* of them."""
        query = f"SELECT {', '.join(Event._fields)} FROM events WHERE id > ? ORDER BY id LIMIT ?"
        return self.rows(Event, query, since, most)

    def last_number(self) -> int:
        """The number of the last event that was ever noted; 0 before the first one."""
        return int(self.value("SELECT seq FROM sqlite_sequence WHERE name = 'events'") or 0)

    def hooks(self) -> list[Hook]:
        """The programs that are run for events, the oldest first."""
        return self.rows(Hook, f"SELECT {', '.join(Hook._fields)} FROM hooks ORDER BY id")

    def add_hook(self, program: str, kinds: Iterable[str]) -> int:
        """Store a program that is run for each later event, or for each of these *kinds*. Returns its number."""
        query = "INSERT INTO hooks (program, kinds, last) VALUES (?, ?, ?) RETURNING id"
        return int(self.value(query, program, ",".join(kinds), self.last_number()))

    def remove_hook(self, number: int) -> bool:
        """Delete a program. Returns False if there is none of that number."""
        return bool(self.execute("DELETE FROM hooks WHERE id = ? RETURNING id", number))

    def save_hook(self, hook: Hook) -> None:
        """Store the last event of a program, its tries and its problem."""
        self.update("hooks", hook._asdict(), "id = ?", hook.id)

    # Commands and maintenance

    def note_maintenance(self, name: str, now: datetime) -> None:
        """Note when something was done last."""
        self.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", name, now)

    def forget_maintenance(self, name: str) -> None:
        """Forget when something was last, because it no longer counts."""
        self.execute("DELETE FROM notes WHERE name = ?", name)

    def last_maintenance(self, name: str) -> datetime | None:
        """When ``cleanup``, ``backup`` or ``restored`` was done last; None if never.

        ``begun`` is when the database was made. ``unsendable`` is when a try to send has failed last for a reason that
        holds for all mails, if none has left since.
        """
        return self.moment("SELECT moment FROM notes WHERE name = ?", name)

    def commands_since(self, moment: datetime) -> Counted:
        """How many commands there were in the hours that began after a time."""
        query = "SELECT coalesce(sum(done), 0), coalesce(sum(refused), 0) FROM commands WHERE hour > ?"
        [counted] = self.rows(Counted, query, moment)
        return counted


class Changes(Questions):
    """What is noted of changes."""

    def seen(self) -> DatabaseState:
        """The present state of the database."""
        number = self.value("SELECT seq FROM sqlite_sequence WHERE name = 'changes'")
        last = self.execute("SELECT id, moment FROM events ORDER BY id DESC LIMIT 1")
        event, moment = last[0] if last else (0, "")
        restored = self.value("SELECT moment FROM notes WHERE name = 'restored'")
        return DatabaseState(number or 0, event, moment, restored or "")

    def has_gone_on_since(self, seen: DatabaseState) -> bool:
        """Whether this database has grown out of the state *seen*; False also if that is too long ago to tell."""
        now = self.seen()
        if now.restored != seen.restored or now.number < seen.number or now.event < seen.event:
            return False
        return (self.value("SELECT moment FROM events WHERE id = ?", seen.event) or "") == seen.moment

    def since(self, seen: DatabaseState) -> list[Change]:
        """The changes since a state."""
        return self.rows(Change, "SELECT kind, game, name FROM changes WHERE number > ?", seen.number)
