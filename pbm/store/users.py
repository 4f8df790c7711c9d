"""Users and their addresses."""

import json
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from pbm.store.base import Questions
from pbm.store.form import text, time_of
from pbm.store.rows import STORED_FORMS, Address, Vacation


class UserRow(NamedTuple):
    """A user, or one who has signed off."""

    userid: str
    created: datetime
    signed_off: datetime | None
    form: str
    """Which of STORED_FORMS his mails have."""
    hears_broadcasts: bool


class KnownAddress(NamedTuple):
    """An address of a user, and what has become of the mails to it."""

    userid: str
    address: str
    confirmed: datetime | None
    bounces: int
    """How many mails in a row came back."""
    bouncing_since: datetime | None
    suspended: datetime | None
    """Since when no mail is sent to it."""


class Users(Questions):
    """What is stored of users."""

    def password_of(self, userid: str) -> str | None:
        """The hash of a user's password; None if there is no such user, or if he has signed off.

        It is empty for a robot, who has no password.
        """
        query = "SELECT password FROM users WHERE userid = ? AND signed_off IS NULL"
        row = self.db.execute(query, [userid]).fetchone()
        return row[0] if row else None

    def is_taken(self, userid: str) -> bool:
        """Whether somebody has, or had, that userid."""
        return self.db.execute("SELECT 1 FROM users WHERE userid = ?", [userid]).fetchone() is not None

    def add(self, userid: str, password: str, now: datetime) -> None:
        """Add a user who has no address yet; as one with an empty text for his password, nobody can sign."""
        self.insert("users", {"userid": userid, "password": password, "created": text(now)})

    def set_password(self, userid: str, password: str) -> None:
        """Replace the hash of a user's password."""
        self.db.execute("UPDATE users SET password = ? WHERE userid = ?", [password, userid])

    def sign_off(self, userid: str, now: datetime) -> None:
        """Forget all of a user but his name and his past results. His boards are another matter."""
        self.db.execute(
            "UPDATE users SET password = '', reset_code = NULL, signed_off = ? WHERE userid = ?", [text(now), userid]
        )
        for table in (
            "addresses",
            "followers",
            "vacations",
            "vacation_days",
            "replies",
            "digests",
            "robots",
            "blocked",
        ):
            self.db.execute(f"DELETE FROM {table} WHERE userid = ?", [userid])
        self.db.execute("UPDATE players SET subscribes = 0, is_notified = 0, seeking = 0 WHERE userid = ?", [userid])
        self.db.execute("DELETE FROM outbox WHERE userid = ? AND address IS NULL", [userid])

    def blocked_by(self, userid: str) -> list[str]:
        """Those whom a user blocks, by name."""
        return [
            other for (other,) in self.db.execute("SELECT other FROM blocked WHERE userid = ? ORDER BY 1", [userid])
        ]

    def block(self, userid: str, other: str) -> None:
        """Store that a user blocks another one."""
        self.db.execute("INSERT OR IGNORE INTO blocked VALUES (?, ?)", [userid, other])

    def unblock(self, userid: str, other: str) -> None:
        """Store that a user does not block another one any more."""
        self.db.execute("DELETE FROM blocked WHERE userid = ? AND other = ?", [userid, other])

    def ids(self) -> list[str]:
        """All users who are still signed up, by name."""
        return [userid for (userid,) in self.db.execute("SELECT userid FROM users WHERE signed_off IS NULL ORDER BY 1")]

    def set_reset_code(self, userid: str, code: str | None, now: datetime) -> None:
        """Store the digest of the code that lets a user set a new password, or forget it."""
        self.db.execute("UPDATE users SET reset_code = ?, reset_made = ? WHERE userid = ?", [code, text(now), userid])

    def reset_code(self, userid: str) -> tuple[str, datetime] | None:
        """The digest of a user's reset code, and when it was made; None if he has none."""
        query = "SELECT reset_code, reset_made FROM users WHERE userid = ? AND signed_off IS NULL"
        row = self.db.execute(query, [userid]).fetchone()
        return (row[0], time_of(row[1])) if row and row[0] else None

    def note_seeker(self, userid: str, now: datetime) -> None:
        """Note that a user seeks challenges, of whom each day with a command is noted from now on."""
        self.db.execute("UPDATE users SET heard = ? WHERE userid = ?", [text(now), userid])

    def note_command(self, userid: str, now: datetime) -> None:
        """Note that a user gives a command, once a day, and only if they have ever sought challenges."""
        (heard,) = self.db.execute("SELECT heard FROM users WHERE userid = ?", [userid]).fetchone()
        if heard and time_of(heard).date() < now.date():
            self.note_seeker(userid, now)

    # Settings

    def set_form(self, userid: str, form: str) -> None:
        """Store which of STORED_FORMS a user wants his mails to have."""
        self.db.execute("UPDATE users SET html = ? WHERE userid = ?", [STORED_FORMS.index(form), userid])

    def set_hears_broadcasts(self, userid: str, *, hears: bool) -> None:
        """Store whether a user is on the mailing list."""
        self.db.execute("UPDATE users SET hears_broadcasts = ? WHERE userid = ?", [hears, userid])

    def hearing_broadcasts(self) -> list[str]:
        """The users on the mailing list, by name."""
        query = "SELECT userid FROM users WHERE hears_broadcasts AND signed_off IS NULL ORDER BY userid"
        return [userid for (userid,) in self.db.execute(query)]

    def last_broadcast(self, userid: str) -> datetime | None:
        """When a user last wrote to the mailing list."""
        row = self.db.execute("SELECT last_broadcast FROM users WHERE userid = ?", [userid]).fetchone()
        return time_of(str(row[0])) if row[0] else None

    def note_broadcast(self, userid: str, now: datetime) -> None:
        """Note that a user has written to the mailing list."""
        self.db.execute("UPDATE users SET last_broadcast = ? WHERE userid = ?", [text(now), userid])

    def set_zone(self, userid: str, zone: str | None) -> None:
        """Store in which time zone a user wants to read times; None stands for UTC."""
        self.db.execute("UPDATE users SET zone = ? WHERE userid = ?", [zone, userid])

    def zone(self, userid: str) -> str | None:
        """The time zone of a user; None for UTC."""
        row = self.db.execute("SELECT zone FROM users WHERE userid = ?", [userid]).fetchone()
        return row[0] if row else None

    def zones(self) -> list[str]:
        """The time zones that users want, by name."""
        query = "SELECT DISTINCT zone FROM users WHERE zone IS NOT NULL AND signed_off IS NULL ORDER BY zone"
        return [zone for (zone,) in self.db.execute(query)]

    # Vacations

    def set_auto_vacation(self, userid: str, *, auto: bool) -> None:
        """Store whether a day of vacation is taken where a user would lose by his clock."""
        self.db.execute("UPDATE users SET auto_vacation = ? WHERE userid = ?", [auto, userid])

    def has_auto_vacation(self, userid: str) -> bool:
        """Whether that is so."""
        row = self.db.execute("SELECT auto_vacation FROM users WHERE userid = ?", [userid]).fetchone()
        return bool(row and row[0])

    def vacation_days(self, userid: str, since: date) -> list[date]:
        """The days of vacation that were taken for a user in place of a loss, from that day on, in order."""
        query = "SELECT day FROM vacation_days WHERE userid = ? AND day >= ? ORDER BY day"
        return [date.fromisoformat(day) for (day,) in self.db.execute(query, [userid, since.isoformat()])]

    def take_vacation_day(self, userid: str, day: date) -> None:
        """Note that a day of vacation is taken for a user."""
        self.db.execute("INSERT INTO vacation_days VALUES (?, ?)", [userid, day.isoformat()])

    def vacations(self, userid: str, since: date) -> list[Vacation]:
        """The vacations of a user that end on that day or later, in order."""
        query = "SELECT userid, first, last FROM vacations WHERE userid = ? AND last >= ? ORDER BY first"
        return [
            Vacation(name, date.fromisoformat(first), date.fromisoformat(last))
            for name, first, last in self.db.execute(query, [userid, since.isoformat()])
        ]

    def replace_vacations(self, userid: str, since: date, vacations: Iterable[Vacation]) -> None:
        """Store these vacations in place of all that end on that day or later."""
        self.db.execute("DELETE FROM vacations WHERE userid = ? AND last >= ?", [userid, since.isoformat()])
        for _, first, last in vacations:
            self.insert("vacations", {"userid": userid, "first": first.isoformat(), "last": last.isoformat()})

    # Addresses

    def addresses(self, userid: str) -> list[Address]:
        """All addresses of a user, in the order in which they were given."""
        query = "SELECT address, confirmed, suspended, rowid FROM addresses WHERE userid = ? ORDER BY rowid"
        rows = self.db.execute(query, [userid])
        return [Address(address, time_of(since), time_of(until), number) for address, since, until, number in rows]

    def reached(self, userid: str, game: str, board: str) -> tuple[list[Address], str, int | None]:
        """The addresses of a user, and for a mail about a board how he gets those of its game, and his reply address.

        That is ``each`` where he has not said it, and None if he has no reply address for the board yet.
        """
        query = (
            "SELECT address, confirmed, suspended, rowid, (SELECT mail FROM players WHERE game = ?2 AND userid = ?1), "
            "(SELECT id FROM replies WHERE game = ?2 AND board = ?3 AND userid = ?1) "
            "FROM addresses WHERE userid = ?1 ORDER BY rowid"
        )
        rows = self.db.execute(query, [userid, game, board]).fetchall()
        found = [Address(address, time_of(since), time_of(until), at) for address, since, until, at, *_ in rows]
        *_, mail, number = rows[0] if rows else (None, None)
        return found, mail or "each", number

    def ids_at(self, address: str) -> set[str]:
        """The users who have confirmed an address."""
        query = "SELECT userid FROM addresses WHERE address = ? AND confirmed IS NOT NULL"
        return {userid for (userid,) in self.db.execute(query, [address])}

    def replace_addresses(self, userid: str, codes: dict[str, str | None], now: datetime) -> None:
        """Give a user new addresses, each with the code that will confirm it; one without a code is confirmed.

        The addresses that he has confirmed stay until the first new one is confirmed; others go at once.
        """
        self.db.execute("UPDATE users SET generation = generation + 1 WHERE userid = ?", [userid])
        self.db.execute("DELETE FROM addresses WHERE userid = ? AND confirmed IS NULL", [userid])
        for address, code in codes.items():
            self.db.execute(
                "INSERT INTO addresses (userid, address, generation, code, confirmed) "
                "SELECT userid, ?, generation, ?, ? FROM users WHERE userid = ? "
                "ON CONFLICT DO UPDATE SET generation = excluded.generation",
                [address, code, None if code else text(now), userid],
            )
        self._retire_addresses(userid, now)

    def confirm(self, code: str, now: datetime) -> tuple[str, str] | None:
        """Confirm the address that a code was made for: its user and itself, or None if no address has that code."""
        query = "UPDATE addresses SET confirmed = ?, code = NULL WHERE code = ? RETURNING userid, address"
        row = self.db.execute(query, [text(now), code]).fetchone()
        if row is None:
            return None
        userid, address = row
        self._retire_addresses(userid, now)
        return userid, address

    def confirm_address_of(self, userid: str, address: str, now: datetime) -> None:
        """Confirm an address of a user as if he had answered the mail that asks for it."""
        query = "UPDATE addresses SET confirmed = ?, code = NULL WHERE userid = ? AND address = ?"
        self.db.execute(query, [text(now), userid, address])
        self._retire_addresses(userid, now)

    def _retire_addresses(self, userid: str, now: datetime) -> None:
        """If one of the newest addresses is confirmed, drop the older ones and send it what has been waiting."""
        newest = "SELECT address, generation FROM addresses JOIN users USING (userid, generation)"
        row = self.db.execute(f"{newest} WHERE userid = ? AND confirmed IS NOT NULL", [userid]).fetchone()
        if row:
            self.db.execute("DELETE FROM addresses WHERE userid = ? AND generation < ?", [userid, row[1]])
            self._release(userid, row[0], now)

    # For the operator

    def rows(self, userids: Sequence[str] = (), *, limit: int = -1, after: str = "") -> list[UserRow]:
        """These users, or all but robots, by name: at most *limit* of those that come *after* a name."""
        people = "userid > ? AND userid NOT IN (SELECT userid FROM robots)"
        which = "userid IN (SELECT value FROM json_each(?))" if userids else people
        query = (
            f"SELECT userid, created, signed_off, html, hears_broadcasts FROM users WHERE {which} ORDER BY 1 LIMIT ?"
        )
        return [
            UserRow(userid, time_of(created), time_of(signed_off), STORED_FORMS[html], bool(hears))
            for userid, created, signed_off, html, hears in self.db.execute(
                query, [json.dumps(userids) if userids else after, limit]
            )
        ]

    def known_addresses(self, userids: Sequence[str]) -> list[KnownAddress]:
        """All addresses of these users, by userid and in the order in which they were given."""
        query = (
            "SELECT userid, address, confirmed, bounces, bouncing_since, suspended FROM addresses "
            "WHERE userid IN (SELECT value FROM json_each(?)) ORDER BY userid, rowid"
        )
        return [
            KnownAddress(userid, address, time_of(confirmed), bounces, time_of(since), time_of(suspended))
            for userid, address, confirmed, bounces, since, suspended in self.db.execute(query, [json.dumps(userids)])
        ]

    def add_address(self, userid: str, address: str, now: datetime) -> None:
        """Give a user one more address, confirmed; what has been waiting for one goes out to it."""
        self.db.execute(
            "INSERT INTO addresses (userid, address, generation, confirmed) "
            "SELECT userid, ?, generation, ? FROM users WHERE userid = ?",
            [address, text(now), userid],
        )
        self._release(userid, address, now)

    def drop_address(self, userid: str, address: str) -> int:
        """Forget an address of a user and the mails to him that would go there. Returns how many mails these were."""
        self.db.execute("DELETE FROM addresses WHERE userid = ? AND address = ?", [userid, address])
        query = "DELETE FROM outbox WHERE userid = ? AND address = ? COLLATE NOCASE"
        return int(self.db.execute(query, [userid, address]).rowcount)

    def resume_address(self, address: str, now: datetime) -> list[str]:
        """Send mails to a suspended address again. Returns the users it belongs to; none if it is not suspended."""
        query = (
            "UPDATE addresses SET suspended = NULL, bounces = 0, bouncing_since = NULL "
            "WHERE address = ? AND suspended IS NOT NULL RETURNING userid, confirmed"
        )
        found = self.db.execute(query, [address]).fetchall()
        for userid, confirmed in found:
            if confirmed:
                self._release(userid, address, now)
        return sorted(userid for userid, _ in found)

    def _release(self, userid: str, address: str, now: datetime) -> None:
        """Send to an address what has been waiting until a user has one."""
        query = "UPDATE outbox SET address = ?, due = ? WHERE userid = ? AND address IS NULL"
        self.db.execute(query, [address, text(now), userid])

    # For completion

    def ids_from(self, prefix: str, most: int) -> list[str]:
        """The users who are signed up and whose names begin with *prefix*, at most so many, by name.

        Robots are among them only if something of their names is known.
        """
        query = (
            "SELECT userid FROM users WHERE userid >= ?1 AND userid < ?1 || '~' AND signed_off IS NULL "
            "AND (?1 <> '' OR userid NOT IN (SELECT userid FROM robots))"
        )
        return [userid for (userid,) in self.db.execute(f"{query} ORDER BY userid LIMIT ?2", [prefix, most])]

    # For the operator

    def count(self) -> int:
        """How many people are signed up."""
        query = "SELECT (SELECT count(*) FROM users WHERE signed_off IS NULL) - (SELECT count(*) FROM robots)"
        (count,) = self.db.execute(query).fetchone()
        return int(count)
