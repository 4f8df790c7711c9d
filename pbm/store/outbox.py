"""Mails: those that go out, and a note of each that came in, so that none is handled twice."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from pbm import blocks
from pbm.store.base import Questions
from pbm.store.users import STORED_FORMS

ASKED = """
    coalesce(
        (SELECT html FROM users WHERE users.userid = outbox.userid),
        (SELECT iif(min(html), max(html), 0) FROM addresses JOIN users USING (userid)
            WHERE addresses.address = outbox.address AND confirmed IS NOT NULL),
        0
    ),
    (SELECT rowid FROM addresses WHERE addresses.userid = outbox.userid AND addresses.address = outbox.address),
    EXISTS (SELECT 1 FROM addresses WHERE addresses.userid = outbox.userid AND suspended IS NOT NULL
        AND addresses.address = coalesce(outbox.address, addresses.address))
"""
"""What is asked about a mail when it is looked at: the last fields of `Mail`."""
ALL_OF_MAIL = f"SELECT *, {ASKED} FROM outbox"
TO_SEND = "address IS NOT NULL AND due <= ?"
BY_IDS = "id IN (SELECT value FROM json_each(?))"


class Mail(NamedTuple):
    """A mail in the outbox."""

    userid: str | None
    """The user it is for; None for the sender of a command, whoever they are."""
    address: str | None
    """None while the user has no confirmed address."""
    subject: str
    blocks: str
    """What it says, as `pbm.blocks` stores it."""
    message_id: str
    thread: str | None
    """The Message-ID of the first mail about the same board to the same player."""
    queued: datetime
    due: datetime | None
    """When it is to be tried next; None when it was given up."""
    tries: int = 0
    """How often it was taken up to be sent, also by a process that was killed then."""
    problem: str | None = None
    """What went wrong at the last try."""
    id: int | None = None
    """Its number, which the outbox gives it."""
    reply_to: str | None = None
    """The address that an answer goes to, if that is not the server's own."""
    unsubscribe: str | None = None
    """The address at which any mail ends the subscription to which this mail belongs."""
    reminds: str | None = None
    """The board that it reminds its reader of, such as ``spiro 101``, if it is a reminder."""
    form: int = 0
    """Which of STORED_FORMS its reader wants. It is asked when the mail is due and not stored with it, as the next two.

    It is what its user wants, or the plainest that one wants who has its address; to a stranger it is text.
    """
    address_number: int | None = None
    """The number of the address, if it is one of its user's."""
    is_suspended: bool = False
    """Whether nothing is sent to its address, or to any of its user's."""

    @property
    def html(self) -> bool:
        """Whether its reader wants HTML beside the text."""
        return STORED_FORMS[self.form] != "text"

    @property
    def pictures(self) -> bool:
        """Whether they want that to begin with a picture of the board."""
        return STORED_FORMS[self.form] == "pictures"

    @property
    def text(self) -> str:
        """What it says as text."""
        return blocks.mailed(blocks.read(self.blocks))


class Held(NamedTuple):
    """A mail about a board that waits for the next digest."""

    userid: str
    game: str
    subject: str
    blocks: str
    """As those of a mail in the outbox."""
    queued: datetime
    id: int | None = None
    """Its number, which the database gives it."""


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
        row = mail._asdict()
        del row["form"], row["address_number"], row["is_suspended"]
        self.insert("outbox", row)

    def due(self, now: datetime, limit: int) -> list[Mail]:
        """Mails that are to be sent by now, the oldest first."""
        return self.rows(Mail, f"{ALL_OF_MAIL} WHERE {TO_SEND} ORDER BY due, id LIMIT ?", now, limit)

    def claim(self, now: datetime, limit: int) -> list[Mail]:
        """The same mails as they have been so far; from here on each counts as tried once more."""
        mails = self.due(now, limit)
        self.execute(f"UPDATE outbox SET tries = tries + 1 WHERE {BY_IDS}", [mail.id for mail in mails])
        return mails

    def are_due(self, now: datetime, more_than: int) -> bool:
        """Whether more mails than so many are to be sent by now."""
        return self.value(f"SELECT 1 FROM outbox WHERE {TO_SEND} LIMIT 1 OFFSET ?", now, more_than) is not None

    def waiting(self, now: datetime) -> tuple[int, datetime | None]:
        """How many mails are to be sent later, and when the first of them."""
        later = "FROM outbox WHERE address IS NOT NULL AND due > ?"
        return self.value(f"SELECT count(*) {later}", now), self.moment(f"SELECT min(due) {later}", now)

    def all(self, limit: int = -1) -> list[Mail]:
        """The mails in the outbox, the oldest first, also those that wait for an address or were given up."""
        return self.rows(Mail, f"{ALL_OF_MAIL} ORDER BY id LIMIT ?", limit)

    def get(self, number: int) -> Mail | None:
        """The mail of that number; None if there is none."""
        return self.row(Mail, f"{ALL_OF_MAIL} WHERE id = ?", number)

    def postpone(self, mail: Mail, due: datetime | None, problem: str) -> None:
        """Note that a mail could not be sent, and when it is to be tried again: never, if *due* is None."""
        self.update("outbox", {"tries": mail.tries + 1, "due": due, "problem": problem}, "id = ?", mail.id)

    def postpone_due(self, now: datetime, due: datetime, problem: str) -> int:
        """Note of all mails that are due *now* why they could not be tried, and when they will be; how many."""
        return self.execute(f"UPDATE outbox SET due = ?, problem = ? WHERE {TO_SEND}", due, problem, now).rowcount

    def retry(self, numbers: Sequence[int], now: datetime) -> int:
        """Make mails due, or all that have an address if no numbers are given. Returns how many."""
        query = f"UPDATE outbox SET due = ?1 WHERE address IS NOT NULL AND (?2 = '[]' OR {BY_IDS.replace('?', '?2')})"
        return self.execute(query, now, [*numbers]).rowcount

    def drop(self, mails: Iterable[Mail]) -> None:
        """Forget mails."""
        self.execute(f"DELETE FROM outbox WHERE {BY_IDS}", [mail.id for mail in mails])

    def drop_reminders(self, board: str) -> None:
        """Forget the mails that remind somebody of a board, such as ``spiro 101``, and are not sent yet."""
        self.execute("DELETE FROM outbox WHERE reminds = ?", board)

    def trim_waiting(self, userid: str, most: int) -> None:
        """Forget the oldest of the mails that wait for an address of a user, until there are so many."""
        waiting = "SELECT id FROM outbox WHERE userid = ? AND address IS NULL ORDER BY id DESC LIMIT -1 OFFSET ?"
        self.execute(f"DELETE FROM outbox WHERE id IN ({waiting})", userid, most)

    def counts(self) -> Waiting:
        """What is in the outbox."""
        to_be_sent = "FROM outbox WHERE address IS NOT NULL AND due IS NOT NULL"
        query = (
            f"SELECT (SELECT count(*) {to_be_sent}), (SELECT count(*) FROM outbox WHERE address IS NULL), "
            "(SELECT count(*) FROM outbox WHERE address IS NOT NULL AND due IS NULL), "
            f"(SELECT queued FROM outbox WHERE id = (SELECT min(id) {to_be_sent}))"
        )
        [counts] = self.rows(Waiting, query)
        return counts

    # Digests

    def hold(self, held: Held) -> None:
        """Keep a mail for the next digest."""
        self.insert("digests", held._asdict())

    def held_for(self) -> list[tuple[str, str]]:
        """The users for whom mails are kept, each with the game that they are about."""
        return self.execute("SELECT DISTINCT userid, game FROM digests ORDER BY userid, game").fetchall()

    def held(self, userid: str, game: str) -> list[Held]:
        """What is kept for a user about the boards of a game, the oldest first."""
        query = f"SELECT {', '.join(Held._fields)} FROM digests WHERE userid = ? AND game = ? ORDER BY id"
        return self.rows(Held, query, userid, game)

    def remove_held(self, userid: str, game: str) -> None:
        """Forget what was kept for a user about the boards of a game."""
        self.execute("DELETE FROM digests WHERE userid = ? AND game = ?", userid, game)


class Handled(Questions):
    """What is stored of mails that came in."""

    def record(self, sender: str, message_id: str, outcome: str, now: datetime) -> bool:
        """Note that a message was handled; False, and nothing noted, if it was handled before."""
        query = "INSERT INTO handled VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return self.execute(query, sender, message_id, now, outcome).rowcount > 0

    def note_outcome(self, sender: str, message_id: str, outcome: str) -> None:
        """Note what became of a message that was recorded before."""
        self.update("handled", {"outcome": outcome}, "sender = ? AND message_id = ?", sender, message_id)

    def forget_old(self, before: datetime) -> None:
        """Forget what is of no more use: mails that were handled or given up before that time, counts, events."""
        for table, column in ("handled", "handled"), ("quotas", "day"), ("failures", "last"), ("commands", "hour"):
            self.execute(f"DELETE FROM {table} WHERE {column} < ?", before)
        for table, column, which in (
            ("events", "moment", ""),
            ("outbox", "queued", " AND (address IS NULL OR due IS NULL)"),
        ):
            kept = f"SELECT id FROM {table} WHERE {column} >= ?1 ORDER BY id LIMIT 1"  # what is newer is behind it
            query = f"DELETE FROM {table} WHERE id < coalesce(({kept}), 1 << 62) AND {column} < ?1{which}"
            self.execute(query, before)
