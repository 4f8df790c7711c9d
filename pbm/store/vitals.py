"""What an operator asks every day: how much there is, what waits, and when the daily work was done last.

Nothing here costs more because there is more to tell of: counts come out of indexes and of small tables.
"""

from datetime import datetime
from typing import NamedTuple

from pbm.store.base import Questions
from pbm.store.form import text, time_of


class Counted(NamedTuple):
    """How many commands there were."""

    done: int
    refused: int


class Waiting(NamedTuple):
    """How many mails are in the outbox, by what they wait for."""

    to_send: int
    """Mails that are due, or will be tried again."""
    unaddressed: int
    """Mails for users who have no address that works."""
    given_up: int
    oldest: datetime | None
    """When the oldest of those to be sent was written."""


class Vitals(Questions):
    """What shows how the server is doing."""

    def note(self, name: str, now: datetime) -> None:
        """Note when something was done last."""
        self.db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", [name, text(now)])

    def noted(self, name: str) -> datetime | None:
        """When something was done last: ``cleanup``, ``backup`` or ``restored``.

        ``begun`` is since when such things are noted.
        """
        row = self.db.execute("SELECT moment FROM notes WHERE name = ?", [name]).fetchone()
        return datetime.fromisoformat(row[0]) if row else None

    def commands_since(self, moment: datetime) -> Counted:
        """How many commands there were in the hours that began after a time."""
        query = "SELECT coalesce(sum(done), 0), coalesce(sum(refused), 0) FROM commands WHERE hour > ?"
        return Counted(*self.db.execute(query, [text(moment)]).fetchone())

    def count_users(self) -> int:
        """How many people are signed up."""
        query = "SELECT (SELECT count(*) FROM users WHERE signed_off IS NULL) - (SELECT count(*) FROM robots)"
        (count,) = self.db.execute(query).fetchone()
        return int(count)

    def count_boards(self) -> tuple[int, int]:
        """How many boards there are, and how many of them are active."""
        query = "SELECT coalesce(sum(boards), 0), coalesce(sum(active), 0) FROM tallies"
        every, active = self.db.execute(query).fetchone()
        return every, active

    def outbox(self) -> Waiting:
        """What is in the outbox."""
        to_be_sent = "FROM outbox WHERE address IS NOT NULL AND due IS NOT NULL"
        query = (
            f"SELECT (SELECT count(*) {to_be_sent}), (SELECT count(*) FROM outbox WHERE address IS NULL), "
            "(SELECT count(*) FROM outbox WHERE address IS NOT NULL AND due IS NULL), "
            f"(SELECT queued FROM outbox WHERE id = (SELECT min(id) {to_be_sent}))"
        )
        to_send, unaddressed, given_up, oldest = self.db.execute(query).fetchone()
        return Waiting(to_send, unaddressed, given_up, time_of(oldest))
