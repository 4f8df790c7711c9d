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
"""The last fields of `Mail`, which are not stored, but found when a mail is read."""
ALL_OF_MAIL = f"SELECT *, {ASKED} FROM outbox"
TO_SEND = "address IS NOT NULL AND due <= ?"
BY_IDS = "id IN (SELECT value FROM json_each(?))"


class Mail(NamedTuple):
    """A mail in the outbox."""

    userid: str | None
    """The user it is for; None if it answers the sender of a command."""
    address: str | None
    """The address that it goes to; None while the user has no confirmed address."""
    subject: str
    blocks: str
    """Its content, as `pbm.blocks` stores it."""
    message_id: str
    thread: str | None
    """The Message-ID of the first mail about the same board to the same player."""
    queued: datetime
    due: datetime | None
    """When it is tried next; None if it was given up."""
    tries: int = 0
    """How often a process has begun to send it, also one that was killed then."""
    problem: str | None = None
    """What went wrong at the last try."""
    id: int | None = None
    """The number of the mail, which the outbox gives it."""
    reply_to: str | None = None
    """The address for answers, if it is not the server's own."""
    unsubscribe: str | None = None
    """The address at which any mail ends the subscription to which this mail belongs."""
    reminds: str | None = None
    """The board that a reminder is about, such as ``spiro 101``; None for other mails."""
    form: int = 0
    """Which of STORED_FORMS its reader wants. Not stored: it is found when the mail is read, as the next two are.

    Without a user, it is the plainest form that a user with this address wants; for a stranger it is text.
    """
    address_number: int | None = None
    """The number of the address, if it is one of its user's."""
    is_suspended: bool = False
    """Whether its address is suspended; without an address, whether one of its user's is."""

    @property
    def html(self) -> bool:
        """Whether the reader wants HTML as well as the text."""
        return STORED_FORMS[self.form] != "text"

    @property
    def pictures(self) -> bool:
        """Whether the reader wants HTML that begins with a picture of the board."""
        return STORED_FORMS[self.form] == "pictures"

    @property
    def text(self) -> str:
        """The content of the mail as text."""
        return blocks.mailed(blocks.from_json(self.blocks))


class HeldMail(NamedTuple):
    """A mail about a board that waits for the next digest."""

    userid: str
    game: str
    subject: str
    blocks: str
    """Its content, as `pbm.blocks` stores it."""
    queued: datetime
    id: int | None = None
    """The number of the held mail, which the database gives it."""


class Waiting(NamedTuple):
    """The numbers of mails in the outbox."""

    to_send: int
    """How many mails are due, or will be tried again."""
    unaddressed: int
    """How many mails are for users without an address that works."""
    given_up: int
    oldest: datetime | None
    """When the oldest of `to_send` was queued; None if there is none."""


class Outbox(Questions):
    """What is stored of mails that go out."""

    def add(self, mail: Mail) -> None:
        """Put a mail into the outbox."""
        row = mail._asdict()
        del row["form"], row["address_number"], row["is_suspended"]
        self.insert("outbox", row)

    def due(self, now: datetime, limit: int) -> list[Mail]:
        """The mails that are due, those first that have been due for longest; at most *limit*."""
        return self.rows(Mail, f"{ALL_OF_MAIL} WHERE {TO_SEND} ORDER BY due, id LIMIT ?", now, limit)

    def claim(self, now: datetime, limit: int) -> list[Mail]:
        """Count one more try of each mail that is due. Returns the mails as they were before."""
        mails = self.due(now, limit)
        self.execute(f"UPDATE outbox SET tries = tries + 1 WHERE {BY_IDS}", [mail.id for mail in mails])
        return mails

    def are_due(self, now: datetime, more_than: int) -> bool:
        """Whether more mails than that are due."""
        return self.value(f"SELECT 1 FROM outbox WHERE {TO_SEND} LIMIT 1 OFFSET ?", now, more_than) is not None

    def waiting(self, now: datetime) -> tuple[int, datetime | None]:
        """How many mails will be due later, and when the first of them is."""
        later = "FROM outbox WHERE address IS NOT NULL AND due > ?"
        return self.value(f"SELECT count(*) {later}", now), self.moment(f"SELECT min(due) {later}", now)

    def all(self) -> list[Mail]:
        """All mails in the outbox, the oldest first, also those without an address and those given up."""
        return self.rows(Mail, f"{ALL_OF_MAIL} ORDER BY id")

    def get(self, number: int) -> Mail | None:
        """The mail of that number; None if there is none."""
        return self.row(Mail, f"{ALL_OF_MAIL} WHERE id = ?", number)

    def postpone(self, mail: Mail, due: datetime | None, problem: str) -> None:
        """Note that a mail could not be sent, and when it is tried again; if *due* is None, it is given up."""
        self.update("outbox", {"tries": mail.tries + 1, "due": due, "problem": problem}, "id = ?", mail.id)

    def postpone_due(self, now: datetime, due: datetime, problem: str) -> int:
        """Postpone all mails that are due *now*, with the problem, without counting a try. Returns how many."""
        query = f"UPDATE outbox SET due = ?, problem = ? WHERE {TO_SEND} RETURNING id"
        return len(self.execute(query, due, problem, now))

    def retry(self, numbers: Sequence[int], now: datetime) -> int:
        """Make mails due that have an address: those of these numbers, or all if there are none. Returns how many."""
        which = f"?2 = '[]' OR {BY_IDS.replace('?', '?2')}"
        query = f"UPDATE outbox SET due = ?1 WHERE address IS NOT NULL AND ({which}) RETURNING id"
        return len(self.execute(query, now, list(numbers)))

    def drop(self, mails: Iterable[Mail]) -> list[Mail]:
        """Delete mails. Returns those that were still there, and not deleted meanwhile with what they remind of."""
        dropped = set(self.column(f"DELETE FROM outbox WHERE {BY_IDS} RETURNING id", [mail.id for mail in mails]))
        return [mail for mail in mails if mail.id in dropped]

    def drop_reminders(self, board: str, userid: str | None = None) -> None:
        """Delete the reminders of a board, such as ``spiro 101``, that are not sent yet: all, or those to a user."""
        self.execute("DELETE FROM outbox WHERE reminds = ? AND userid = coalesce(?, userid)", board, userid)

    def will_remind(self, board: str, userid: str) -> bool:
        """Whether a reminder of a board, such as ``spiro 101``, waits to be sent to a user."""
        to_send = "address IS NOT NULL AND due IS NOT NULL"
        query = f"SELECT 1 FROM outbox WHERE reminds = ? AND userid = ? AND {to_send}"
        return self.value(query, board, userid) is not None

    def trim_waiting(self, userid: str, most: int) -> None:
        """Delete the mails that wait for an address of a user, except the newest *most*."""
        waiting = "SELECT id FROM outbox WHERE userid = ? AND address IS NULL ORDER BY id DESC LIMIT -1 OFFSET ?"
        self.execute(f"DELETE FROM outbox WHERE id IN ({waiting})", userid, most)

    def counts(self) -> Waiting:
        """The numbers of mails in the outbox."""
        to_be_sent = "FROM outbox WHERE address IS NOT NULL AND due IS NOT NULL"
        query = f"""
            SELECT
                (SELECT count(*) {to_be_sent}),
                (SELECT count(*) FROM outbox WHERE address IS NULL),
                (SELECT count(*) FROM outbox WHERE address IS NOT NULL AND due IS NULL),
                (SELECT queued FROM outbox WHERE id = (SELECT min(id) {to_be_sent}))
        """
        [counts] = self.rows(Waiting, query)
        return counts

    # Digests

    def hold(self, held: HeldMail) -> None:
        """Keep a mail for the next digest."""
        self.insert("digests", held._asdict())

    def held_for(self) -> list[tuple[str, str]]:
        """The users with mails that wait for a digest, each with the game of the mails."""
        return self.execute("SELECT DISTINCT userid, game FROM digests ORDER BY userid, game")

    def held(self, userid: str, game: str) -> list[HeldMail]:
        """The mails about boards of a game that wait for a user's digest, the oldest first."""
        query = f"SELECT {', '.join(HeldMail._fields)} FROM digests WHERE userid = ? AND game = ? ORDER BY id"
        return self.rows(HeldMail, query, userid, game)

    def remove_held(self, userid: str, game: str) -> None:
        """Delete the mails about boards of a game that wait for a user's digest."""
        self.execute("DELETE FROM digests WHERE userid = ? AND game = ?", userid, game)


REFUSED_POST = "post refused"
"""The outcome of what was posted on a page and refused: if the response is lost, it is posted once more."""


class Handled(Questions):
    """What is stored of mails that came in."""

    def record(self, sender: str, message_id: str, outcome: str, now: datetime) -> bool:
        """Note that a message was handled. Returns False, and notes nothing, if it was handled before.

        A REFUSED_POST may come again.
        """
        changed = f"DO UPDATE SET outcome = excluded.outcome WHERE handled.outcome = '{REFUSED_POST}'"
        query = f"INSERT INTO handled VALUES (?, ?, ?, ?) ON CONFLICT {changed} RETURNING 1"
        return bool(self.execute(query, sender, message_id, now, outcome))

    def note_outcome(self, sender: str, message_id: str, outcome: str) -> None:
        """Change the outcome of a message that was recorded before."""
        self.update("handled", {"outcome": outcome}, "sender = ? AND message_id = ?", sender, message_id)
