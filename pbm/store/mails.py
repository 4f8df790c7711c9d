"""Mails that go out, and a note of those that came in."""

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any

from pbm.store.base import Base
from pbm.store.form import columns, text, time_of
from pbm.store.rows import STORED_FORMS, Held, Mail

ASKED = """
    coalesce(
        (SELECT html FROM users WHERE users.userid = outbox.userid),
        (SELECT iif(min(html), max(html), 0) FROM addresses JOIN users USING (userid)
            WHERE addresses.address = outbox.address AND confirmed IS NOT NULL),
        0
    ),
    (SELECT rowid FROM addresses WHERE addresses.userid = outbox.userid AND addresses.address = outbox.address)
"""
"""What is asked about a mail when it is looked at: which of STORED_FORMS it may have, and the number of its address.

The form is what its user wants, or the plainest that one wants who has its address; to a stranger it is text.
"""


class Mails(Base):
    """What is stored of mails."""

    def add_mail(self, mail: Mail) -> None:
        """Put a mail into the outbox."""
        row = columns(mail)
        del row["html"], row["pictures"], row["address_number"]
        self.insert("outbox", row)

    def due_mails(self, now: datetime, limit: int) -> list[Mail]:
        """Mails that are to be sent by now, the oldest first."""
        query = f"SELECT *, {ASKED} FROM outbox WHERE address IS NOT NULL AND due <= ? ORDER BY due, id LIMIT ?"
        return [mail_row(row) for row in self.db.execute(query, [text(now), limit])]

    def claim_mails(self, now: datetime, limit: int, with_pictures: int) -> list[Mail]:
        """The same mails as they have been so far; from here on each counts as tried once more.

        They end in front of the first one too many that wants a picture, if more than so many do.
        """
        due = self.due_mails(now, limit)
        wanted = accumulate(mail.pictures for mail in due)
        mails = [mail for mail, number in zip(due, wanted, strict=True) if number <= with_pictures]
        query = "UPDATE outbox SET tries = tries + 1 WHERE id IN (SELECT value FROM json_each(?))"
        self.db.execute(query, [json.dumps([mail.id for mail in mails])])
        return mails

    def are_due(self, now: datetime, more_than: int) -> bool:
        """Whether more mails than so many are to be sent by now."""
        query = "SELECT 1 FROM outbox WHERE address IS NOT NULL AND due <= ? LIMIT 1 OFFSET ?"
        return self.db.execute(query, [text(now), more_than]).fetchone() is not None

    def waiting_mails(self, now: datetime) -> tuple[int, datetime | None]:
        """How many mails are to be sent later, and when the first of them."""
        query = "SELECT count(*), min(due) FROM outbox WHERE address IS NOT NULL AND due > ?"
        count, due = self.db.execute(query, [text(now)]).fetchone()
        return count, due and time_of(due)

    def mails(self) -> list[Mail]:
        """All mails in the outbox, also those that wait for an address and those that were given up."""
        return [mail_row(row) for row in self.db.execute(f"SELECT *, {ASKED} FROM outbox ORDER BY id")]

    def remove_mails(self, mails: Sequence[Mail]) -> None:
        """Forget mails that were sent."""
        query = "DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?))"
        self.db.execute(query, [json.dumps([mail.id for mail in mails])])

    def postpone_mail(self, mail: Mail, due: datetime | None, problem: str) -> None:
        """Note that a mail could not be sent, and when it is to be tried again: never, if *due* is None."""
        query = "UPDATE outbox SET tries = ?, due = ?, problem = ? WHERE id = ?"
        self.db.execute(query, [mail.tries + 1, due and text(due), problem, mail.id])

    def postpone_due(self, now: datetime, due: datetime, problem: str) -> int:
        """Note of all mails that are due *now* why they could not be tried, and when they will be; how many."""
        query = "UPDATE outbox SET due = ?, problem = ? WHERE address IS NOT NULL AND due <= ?"
        return self.db.execute(query, [text(due), problem, text(now)]).rowcount

    def drop_reminders(self, board: str) -> None:
        """Forget the mails that remind somebody of a board, such as ``spiro 101``, and are not sent yet."""
        self.db.execute("DELETE FROM outbox WHERE reminds = ?", [board])

    # Digests

    def hold_mail(self, held: Held) -> None:
        """Keep a mail for the next digest."""
        self.insert("digests", columns(held))

    def held_for(self) -> list[tuple[str, str]]:
        """The users for whom mails are kept, each with the game that they are about."""
        return self.db.execute("SELECT DISTINCT userid, game FROM digests ORDER BY userid, game").fetchall()

    def held_mails(self, userid: str, game: str) -> list[Held]:
        """What is kept for a user about the boards of a game, the oldest first."""
        query = f"SELECT {', '.join(Held._fields)} FROM digests WHERE userid = ? AND game = ? ORDER BY id"
        rows = self.db.execute(query, [userid, game])
        return [Held(*row)._replace(queued=time_of(row[Held._fields.index("queued")])) for row in rows]

    def remove_held_mails(self, userid: str, game: str) -> None:
        """Forget what was kept for a user about the boards of a game."""
        self.db.execute("DELETE FROM digests WHERE userid = ? AND game = ?", [userid, game])

    # Mails that come in

    def record(self, sender: str, message_id: str, outcome: str, now: datetime) -> bool:
        """Note that a message was handled; False, and nothing noted, if it was handled before."""
        query = "INSERT INTO handled VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return self.db.execute(query, [sender, message_id, text(now), outcome]).rowcount > 0

    def forget(self, before: datetime) -> None:
        """Forget what is of no more use: mails that were handled or given up before that time, counts, events."""
        for table, column in ("handled", "handled"), ("quotas", "day"), ("failures", "last"), ("commands", "hour"):
            self.db.execute(f"DELETE FROM {table} WHERE {column} < ?", [text(before)])
        for table, column, which in (
            ("events", "moment", ""),
            ("outbox", "queued", " AND (address IS NULL OR due IS NULL)"),
        ):
            first_kept = f"SELECT id FROM {table} WHERE {column} >= ? ORDER BY id LIMIT 1"  # what is newer is behind it
            query = f"DELETE FROM {table} WHERE id < coalesce(({first_kept}), 1 << 62) AND {column} < ?{which}"
            self.db.execute(query, [text(before)] * 2)

    def trim_waiting(self, userid: str, most: int) -> None:
        """Forget the oldest of the mails that wait for an address of a user, until there are so many."""
        waiting = "SELECT id FROM outbox WHERE userid = ?1 AND address IS NULL ORDER BY id DESC LIMIT -1 OFFSET ?2"
        self.db.execute(f"DELETE FROM outbox WHERE id IN ({waiting})", [userid, most])

    def note_outcome(self, sender: str, message_id: str, outcome: str) -> None:
        """Note what became of a message that was recorded before."""
        query = "UPDATE handled SET outcome = ? WHERE sender = ? AND message_id = ?"
        self.db.execute(query, [outcome, sender, message_id])

    def is_used_up(self, kind: str, holder: str, at_most: int, now: datetime, *, is_hourly: bool = False) -> bool:
        """Whether *holder* has none left of the things that he may have so many of on one day, or in one hour."""
        query = "SELECT used >= ? FROM quotas WHERE kind = ? AND holder = ? AND day = ?"
        row = self.db.execute(query, [at_most, kind, holder, _period(now, is_hourly=is_hourly)]).fetchone()
        return bool(row and row[0])

    def take(
        self, kind: str, holder: str, at_most: int, now: datetime, *, amount: int = 1, is_hourly: bool = False
    ) -> bool:
        """Use up some of what *holder* may have so much of on one day, or in one hour; False if it is not left."""
        query = (
            "INSERT INTO quotas VALUES (?1, ?2, ?3, ?4) "
            "ON CONFLICT DO UPDATE SET used = used + ?4 WHERE used + ?4 <= ?5 RETURNING used"
        )
        taken = self.db.execute(query, [kind, holder, _period(now, is_hourly=is_hourly), amount, at_most])
        return taken.fetchone() is not None


def _period(now: datetime, *, is_hourly: bool) -> str:
    """The day of a time, or its hour, as it is stored: texts of both compare with times."""
    return f"{now:%Y-%m-%dT%H}" if is_hourly else now.date().isoformat()


def mail_row(columns: tuple[Any, ...]) -> Mail:
    """A row of the table as what it says."""
    *stored, form, number = columns
    for at in MAIL_TIMES:
        stored[at] = time_of(stored[at])
    wanted = STORED_FORMS[form]
    return Mail._make((*stored, wanted != "text", wanted == "pictures", number))


MAIL_TIMES = [Mail._fields.index(name) for name in ("queued", "due")]
