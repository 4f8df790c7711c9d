"""Notices by other ways than mail: the targets of users, and what waits to be sent there."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from pbm.store.base import Questions

MOST_BEGUN = 2
"""How often a notice is begun to be sent without a known outcome, which is that the process was killed."""
READY = """
    FROM notices JOIN notice_targets ON notice_targets.id = notices.target
    WHERE due <= ? AND kind IN (SELECT value FROM json_each(?))
"""
"""The notices to targets that may be tried now; the values are the time and the kinds that the operator allows."""
COUNTS = """
    CASE about
        WHEN 'turn' THEN EXISTS (SELECT 1 FROM boards WHERE boards.game = notices.game AND boards.board = notices.board
            AND turn = userid AND boards.moves = notices.moves)
        WHEN 'end' THEN EXISTS (SELECT 1 FROM boards WHERE boards.game = notices.game AND boards.board = notices.board
            AND ended IS NOT NULL)
        WHEN 'code' THEN confirmed IS NULL
        ELSE 1
    END
"""
"""Whether a notice still counts. One about a turn counts until the move is made, and one about an end until the game
goes on or is removed. A code counts until it is used."""


class Target(NamedTuple):
    """Where notices of a user go."""

    id: int
    userid: str
    kind: str
    """What stands in front of ``://`` in its URL, such as ``ntfy``."""
    url: str
    """The URL as the user has written it. Most have a secret in them."""
    secret: str | None
    """The key with which a webhook of the user checks what it gets; None for other kinds."""
    is_full: bool
    """Whether notices have the texts that others write."""
    made: datetime
    """When it was added, or last had to be confirmed."""
    confirmed: datetime | None
    due: datetime | None
    """When the next notice may go there; None while it is suspended."""
    tries: int
    """How many tries in a row have failed."""
    failing_since: datetime | None
    problem: str | None
    """What went wrong at the last try; None if it went well."""


FIELDS_OF_TARGET = ", ".join(Target._fields)


class Notice(NamedTuple):
    """A notice that waits to be sent."""

    id: int
    target: int
    about: str
    """``turn``, ``end``, ``text`` (somebody has written something) or ``code``."""
    game: str | None
    board: str | None
    moves: int | None
    """How many moves were made on the board."""
    text: str
    """A sentence for people."""
    detail: str | None
    """The text that somebody has written, or the code."""
    queued: datetime
    begun: int
    """How often a process has begun to send it."""


class Notices(Questions):
    """What is stored of notices."""

    # Targets

    def targets(self, userid: str) -> list[Target]:
        """Where notices of a user go, the oldest first; also what is not confirmed, or suspended."""
        return self.rows(Target, f"SELECT {FIELDS_OF_TARGET} FROM notice_targets WHERE userid = ? ORDER BY id", userid)

    def target(self, number: int) -> Target | None:
        """The target of that number; None if there is none."""
        return self.row(Target, f"SELECT {FIELDS_OF_TARGET} FROM notice_targets WHERE id = ?", number)

    def add_target(self, userid: str, kind: str, url: str, *, secret: str | None, is_full: bool, now: datetime) -> int:
        """Store where notices of a user go once it is confirmed. Returns its number."""
        query = """
            INSERT INTO notice_targets (userid, kind, url, secret, is_full, made, due)
            VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
        """
        return int(self.value(query, userid, kind, url, secret, is_full, now, now))

    def drop_target(self, number: int) -> None:
        """Delete a target, and what waits to be sent there."""
        self.execute("DELETE FROM notice_targets WHERE id = ?", number)

    def ask(self, number: int, code: str, now: datetime) -> None:
        """Let a target wait for the code that confirms it, which is given by its digest. What waits for it goes."""
        self.execute("DELETE FROM notices WHERE target = ?", number)
        self.update("notice_targets", {"code": code, "made": now, "confirmed": None}, "id = ?", number)

    def confirm(self, userid: str, code: str, now: datetime) -> int | None:
        """Confirm the target of a user with a code of that digest. Returns its number; None if there is none."""
        query = "UPDATE notice_targets SET confirmed = ?, code = NULL WHERE userid = ? AND code = ? RETURNING id"
        number: int | None = self.value(query, now, userid, code)
        return number

    # What waits to be sent

    def queue(
        self,
        target: int,
        about: str,
        text: str,
        now: datetime,
        *,
        detail: str | None = None,
        game: str | None = None,
        board: str | None = None,
        moves: int | None = None,
    ) -> None:
        """Let a notice wait to be sent to a target."""
        row = {"target": target, "about": about, "text": text, "detail": detail, "queued": now}
        self.insert("notices", {**row, "game": game, "board": board, "moves": moves})

    def trim(self, target: int, most: int) -> None:
        """Delete the notices that wait for a target, except the newest *most*."""
        older = "SELECT id FROM notices WHERE target = ? ORDER BY id DESC LIMIT -1 OFFSET ?"
        self.execute(f"DELETE FROM notices WHERE id IN ({older})", target, most)

    def are_due(self, now: datetime, kinds: Collection[str]) -> bool:
        """Whether a notice may be sent now."""
        return self.value(f"SELECT 1 {READY} LIMIT 1", now, list(kinds)) is not None

    def claim(self, now: datetime, kinds: Collection[str]) -> Notice | None:
        """The notice that is sent next, after noting that it is begun; None if none is due.

        What does not count any more is deleted, and so is what was begun MOST_BEGUN times without a known outcome.
        Targets that answer fast come first, so that slow ones hold up nobody else.
        """
        fields = ", ".join(f"notices.{field}" for field in Notice._fields)
        query = f"SELECT {fields}, {COUNTS} AND begun < {MOST_BEGUN} {READY} ORDER BY seconds, notices.id LIMIT 1"
        while rows := self.execute(query, now, list(kinds)):
            [(*columns, counts)] = rows
            number = columns[0]
            if counts:
                self.execute("UPDATE notices SET begun = begun + 1 WHERE id = ?", number)
                return self.row(Notice, f"SELECT {', '.join(Notice._fields)} FROM notices WHERE id = ?", number)
            self.execute("DELETE FROM notices WHERE id = ?", number)
        return None

    def note_sent(self, notice: Notice, seconds: float) -> None:
        """Delete a notice that was sent, and note how many seconds that took."""
        self.execute("DELETE FROM notices WHERE id = ?", notice.id)
        healthy = {"tries": 0, "failing_since": None, "problem": None, "seconds": seconds}
        self.update("notice_targets", healthy, "id = ?", notice.target)

    def note_failure(self, notice: Notice, seconds: float, problem: str, since: datetime, due: datetime) -> None:
        """Note why a notice could not be sent, since when its target has been failing, and when it is tried again."""
        self.execute("UPDATE notices SET begun = 0 WHERE id = ?", notice.id)
        query = """
            UPDATE notice_targets SET tries = tries + 1, failing_since = ?, problem = ?, seconds = ?, due = ?
            WHERE id = ?
        """
        self.execute(query, since, problem, seconds, due, notice.target)

    def suspend(self, number: int) -> None:
        """Send nothing to a target any more, and delete what waits for it."""
        self.execute("DELETE FROM notices WHERE target = ?", number)
        self.update("notice_targets", {"due": None}, "id = ?", number)

    def forget(self, before: datetime) -> None:
        """Delete notices of before that time, and targets of before it that nobody has confirmed."""
        self.execute("DELETE FROM notices WHERE queued < ?", before)
        self.execute("DELETE FROM notice_targets WHERE made < ? AND confirmed IS NULL", before)
