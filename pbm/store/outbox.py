"""Mails that go out."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any, NamedTuple

from pbm.store.base import Questions
from pbm.store.form import columns, text, time_of
from pbm.store.rows import STORED_FORMS, Held, Mail

SUSPENDED = (
    "EXISTS (SELECT 1 FROM addresses WHERE addresses.userid = outbox.userid AND suspended IS NOT NULL "
    "AND addresses.address = coalesce(outbox.address, addresses.address))"
)
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


class Waiting(NamedTuple):
    """How many mails are in the outbox, by what they wait for."""

    to_send: int
    """Mails that are due, or will be tried again."""
    unaddressed: int
    """Mails for users who have no address that works."""
    given_up: int
    oldest: datetime | None
    """When the oldest of those to be sent was written."""


class Outbox(Questions):
    """What is stored of mails that go out."""

    def add(self, mail: Mail) -> None:
        """Put a mail into the outbox."""
        row = columns(mail)
        del row["html"], row["pictures"], row["address_number"]
        self.insert("outbox", row)

    def due(self, now: datetime, limit: int) -> list[Mail]:
        """Mails that are to be sent by now, the oldest first."""
        query = f"SELECT *, {ASKED} FROM outbox WHERE address IS NOT NULL AND due <= ? ORDER BY due, id LIMIT ?"
        return [mail_row(row) for row in self.db.execute(query, [text(now), limit])]

    def claim(self, now: datetime, limit: int, with_pictures: int) -> list[Mail]:
        """The same mails as they have been so far; from here on each counts as tried once more.

        They end in front of the first one too many that wants a picture, if more than so many do.
        """
        due = self.due(now, limit)
        wanted = accumulate(mail.pictures for mail in due)
        mails = [mail for mail, number in zip(due, wanted, strict=True) if number <= with_pictures]
        query = "UPDATE outbox SET tries = tries + 1 WHERE id IN (SELECT value FROM json_each(?))"
        self.db.execute(query, [json.dumps([mail.id for mail in mails])])
        return mails

    def are_due(self, now: datetime, more_than: int) -> bool:
        """Whether more mails than so many are to be sent by now."""
        query = "SELECT 1 FROM outbox WHERE address IS NOT NULL AND due <= ? LIMIT 1 OFFSET ?"
        return self.db.execute(query, [text(now), more_than]).fetchone() is not None

    def waiting(self, now: datetime) -> tuple[int, datetime | None]:
        """How many mails are to be sent later, and when the first of them."""
        query = "SELECT count(*), min(due) FROM outbox WHERE address IS NOT NULL AND due > ?"
        count, due = self.db.execute(query, [text(now)]).fetchone()
        return count, due and time_of(due)

    def all(self) -> list[Mail]:
        """All mails in the outbox, also those that wait for an address and those that were given up."""
        return [mail_row(row) for row in self.db.execute(f"SELECT *, {ASKED} FROM outbox ORDER BY id")]

    def remove(self, mails: Sequence[Mail]) -> None:
        """Forget mails that were sent."""
        self.drop([mail.id for mail in mails])

    def postpone(self, mail: Mail, due: datetime | None, problem: str) -> None:
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

    def hold(self, held: Held) -> None:
        """Keep a mail for the next digest."""
        self.insert("digests", columns(held))

    def held_for(self) -> list[tuple[str, str]]:
        """The users for whom mails are kept, each with the game that they are about."""
        return self.db.execute("SELECT DISTINCT userid, game FROM digests ORDER BY userid, game").fetchall()

    def held(self, userid: str, game: str) -> list[Held]:
        """What is kept for a user about the boards of a game, the oldest first."""
        query = f"SELECT {', '.join(Held._fields)} FROM digests WHERE userid = ? AND game = ? ORDER BY id"
        rows = self.db.execute(query, [userid, game])
        return [Held(*row)._replace(queued=time_of(row[Held._fields.index("queued")])) for row in rows]

    def remove_held(self, userid: str, game: str) -> None:
        """Forget what was kept for a user about the boards of a game."""
        self.db.execute("DELETE FROM digests WHERE userid = ? AND game = ?", [userid, game])

    # Mails that come in

    def trim_waiting(self, userid: str, most: int) -> None:
        """Forget the oldest of the mails that wait for an address of a user, until there are so many."""
        waiting = "SELECT id FROM outbox WHERE userid = ?1 AND address IS NULL ORDER BY id DESC LIMIT -1 OFFSET ?2"
        self.db.execute(f"DELETE FROM outbox WHERE id IN ({waiting})", [userid, most])

    # For the operator

    def listed(self, limit: int) -> Iterator[tuple[Mail, bool]]:
        """The mails in the outbox, the oldest first, each with whether its address or user is suspended."""
        query = f"SELECT *, {ASKED}, {SUSPENDED} FROM outbox ORDER BY id LIMIT ?"
        for row in self.db.execute(query, [limit]):
            yield mail_row(row[:-1]), bool(row[-1])

    def get(self, number: int) -> tuple[Mail, bool] | None:
        """The mail of that number with whether its address or user is suspended; None if there is none."""
        row = self.db.execute(f"SELECT *, {ASKED}, {SUSPENDED} FROM outbox WHERE id = ?", [number]).fetchone()
        return (mail_row(row[:-1]), bool(row[-1])) if row else None

    def retry(self, numbers: Sequence[int], now: datetime) -> int:
        """Make mails due, or all that have an address if no numbers are given. Returns how many."""
        which = "id IN (SELECT value FROM json_each(?))" if numbers else "? IS NOT NULL"
        query = f"UPDATE outbox SET due = ? WHERE address IS NOT NULL AND {which}"
        return int(self.db.execute(query, [text(now), json.dumps(numbers)]).rowcount)

    def drop(self, numbers: Sequence[int | None]) -> None:
        """Forget mails."""
        self.db.execute("DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?))", [json.dumps(numbers)])

    def counts(self) -> Waiting:
        """What is in the outbox."""
        to_be_sent = "FROM outbox WHERE address IS NOT NULL AND due IS NOT NULL"
        query = (
            f"SELECT (SELECT count(*) {to_be_sent}), (SELECT count(*) FROM outbox WHERE address IS NULL), "
            "(SELECT count(*) FROM outbox WHERE address IS NOT NULL AND due IS NULL), "
            f"(SELECT queued FROM outbox WHERE id = (SELECT min(id) {to_be_sent}))"
        )
        to_send, unaddressed, given_up, oldest = self.db.execute(query).fetchone()
        return Waiting(to_send, unaddressed, given_up, time_of(oldest))


def mail_row(columns: tuple[Any, ...]) -> Mail:
    """A row of the table as what it says."""
    *stored, form, number = columns
    for at in MAIL_TIMES:
        stored[at] = time_of(stored[at])
    wanted = STORED_FORMS[form]
    return Mail._make((*stored, wanted != "text", wanted == "pictures", number))


MAIL_TIMES = [Mail._fields.index(name) for name in ("queued", "due")]
