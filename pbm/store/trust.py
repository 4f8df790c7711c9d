"""Whom the server believes: reply addresses, addresses that bounce, wrong passwords; and quotas."""

from datetime import datetime

from pbm.store.base import Questions
from pbm.store.form import text, time_of
from pbm.store.rows import Failures, Reply


class Trust(Questions):
    """What is stored of those who write to the server."""

    def address_key(self) -> bytes:
        """The key of the hashes in our own addresses."""
        (key,) = self.db.execute("SELECT value FROM keys WHERE name = 'addresses'").fetchone()
        return bytes(key)

    # Reply addresses

    def reply_number(self, game: str, board: str, userid: str) -> int:
        """The number of a user's reply address for a board, which may be new."""
        query = "SELECT id FROM replies WHERE game = ? AND board = ? AND userid = ?"
        row = self.db.execute(query, [game, board, userid]).fetchone()
        if row is None:
            query = "INSERT INTO replies (game, board, userid) VALUES (?, ?, ?) RETURNING id"
            row = self.db.execute(query, [game, board, userid]).fetchone()
        return int(row[0])

    def reply(self, number: int) -> Reply | None:
        """What the reply address of that number speaks for; None if it was revoked."""
        row = self.db.execute("SELECT game, board, userid FROM replies WHERE id = ?", [number]).fetchone()
        return Reply._make(row) if row else None

    def revoke_replies(self, userid: str) -> None:
        """Make all reply addresses of a user worthless; new mails bring new ones."""
        self.db.execute("DELETE FROM replies WHERE userid = ?", [userid])

    # Bounces

    def address_at(self, number: int) -> str | None:
        """User and address of that number, in lower case; None if it is gone."""
        row = self.db.execute("SELECT userid, address FROM addresses WHERE rowid = ?", [number]).fetchone()
        return " ".join(row).lower() if row else None

    def count_bounce(self, number: int, now: datetime) -> tuple[int, datetime]:
        """Count a bounce of an address: how many there were in a row, and when the first one was."""
        query = (
            "UPDATE addresses SET bounces = bounces + 1, bouncing_since = coalesce(bouncing_since, ?) "
            "WHERE rowid = ? RETURNING bounces, bouncing_since"
        )
        bounces, since = self.db.execute(query, [text(now), number]).fetchone()
        return bounces, datetime.fromisoformat(since)

    def suspend_address(self, number: int, now: datetime) -> None:
        """Send nothing to an address of a user any more.

        What is on its way there waits if he has no other address left that works; else it has gone there, too.
        """
        query = "UPDATE addresses SET suspended = ? WHERE rowid = ? AND suspended IS NULL RETURNING userid, address"
        row = self.db.execute(query, [text(now), number]).fetchone()
        if row is None:
            return
        query = "SELECT 1 FROM addresses WHERE userid = ? AND confirmed IS NOT NULL AND suspended IS NULL"
        others = self.db.execute(query, row[:1]).fetchone()
        change = "DELETE FROM outbox" if others else "UPDATE outbox SET address = NULL"
        self.db.execute(f"{change} WHERE userid = ? AND address = ? COLLATE NOCASE AND due IS NOT NULL", row)

    def revive_address(self, address: str, now: datetime) -> None:
        """Forget the bounces of an address from which a mail came, and send there what has been waiting."""
        query = (
            "UPDATE addresses SET bounces = 0, bouncing_since = NULL, suspended = NULL "
            "WHERE address = ? AND bounces > 0 AND confirmed IS NOT NULL RETURNING userid, address"
        )
        for userid, known in self.db.execute(query, [address]).fetchall():
            waiting = "UPDATE outbox SET address = ?, due = ? WHERE userid = ? AND address IS NULL"
            self.db.execute(waiting, [known, text(now), userid])

    # Wrong passwords

    def failures(self, userid: str, peer: str) -> dict[str, Failures]:
        """How many passwords were wrong in a row for a ``userid``, and from a ``peer``, as far as any were."""
        query = "SELECT kind, count, last FROM failures WHERE kind = 'userid' AND holder = ?"  # both by the index
        rows = self.db.execute(f"{query} UNION ALL {query.replace('userid', 'peer')}", [userid, peer])
        return {kind: Failures(times, time_of(last)) for kind, times, last in rows}

    def save_failures(self, kind: str, holder: str, failures: Failures) -> None:
        """Store how many passwords were wrong in a row."""
        if failures.last is None:
            self.db.execute("DELETE FROM failures WHERE kind = ? AND holder = ?", [kind, holder])
            return
        query = "INSERT OR REPLACE INTO failures (kind, holder, count, last) VALUES (?, ?, ?, ?)"
        self.db.execute(query, [kind, holder, failures.times, text(failures.last)])

    # Quotas

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
