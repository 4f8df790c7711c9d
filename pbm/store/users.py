"""Users and their addresses."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pbm.names import GUEST, is_guest
from pbm.store.base import Questions
from pbm.store.boards import BOARDS_OF_PLAYER

STORED_FORMS = "text", "pictures", "html"
"""The forms of mails: text alone, or text and HTML, with or without pictures. A user's choice is stored as its place
here."""


class UserRow(NamedTuple):
    """A user, or one who has signed off."""

    userid: str
    created: datetime
    signed_off: datetime | None
    html: int
    """The place of the form of their mails in STORED_FORMS."""
    hears_broadcasts: bool
    muted: datetime | None
    """Since when what they write reaches nobody; None if it does."""

    @property
    def form(self) -> str:
        """The form of their mails, one of STORED_FORMS."""
        return STORED_FORMS[self.html]


FIELDS_OF_USER = ", ".join(UserRow._fields)


class Vacation(NamedTuple):
    """The first and the last day of a vacation."""

    userid: str
    first: date
    last: date

    @property
    def days(self) -> list[date]:
        """The days of the vacation, in order."""
        return [self.first + timedelta(days=day) for day in range((self.last - self.first).days + 1)]


class Address(NamedTuple):
    """An address of a user, and how mails to it have bounced."""

    userid: str
    address: str
    confirmed: datetime | None
    bounces: int
    """How many mails in a row came back."""
    bouncing_since: datetime | None
    suspended: datetime | None
    """Since when nothing is sent there, because mails have bounced; None if mails are sent."""
    number: int
    """The number of the address in the addresses to which our mails bounce."""

    @property
    def is_usable(self) -> bool:
        """Whether mails are sent there."""
        return self.confirmed is not None and self.suspended is None


class Users(Questions):
    """What is stored of users."""

    def password_of(self, userid: str) -> str | None:
        """The hash of a user's password; None if there is no such user, or if they have signed off.

        It is empty for a robot, which has no password.
        """
        password: str | None = self.value("SELECT password FROM users WHERE userid = ? AND signed_off IS NULL", userid)
        return password

    def missing(self, *userids: str) -> list[str]:
        """The userids that belong to nobody who is signed up: unknown ones, guests, and users who left."""
        return [userid for userid in userids if is_guest(userid) or self.password_of(userid) is None]

    def signed_up(self, userids: Iterable[str]) -> list[str]:
        """The userids that belong to users who are signed up, without guests, by name."""
        query = """
            SELECT userid FROM users WHERE userid IN (SELECT value FROM json_each(?)) AND signed_off IS NULL
            ORDER BY userid
        """
        return [userid for userid in self.column(query, list(userids)) if not is_guest(userid)]

    def is_taken(self, userid: str) -> bool:
        """Whether somebody has, or had, that userid."""
        return self.value("SELECT 1 FROM users WHERE userid = ?", userid) is not None

    def add(self, userid: str, password: str, now: datetime) -> None:
        """Add a user without an address; *password* is its hash. If it is empty, no password is right."""
        self.insert("users", {"userid": userid, "password": password, "created": now})

    def change(self, userid: str, **columns: object) -> None:
        """Change columns of a user, for example ``zone="Europe/Berlin"``."""
        self.update("users", columns, "userid = ?", userid)

    def sign_off(self, userid: str, now: datetime) -> None:
        """Delete all of a user but their name and their past results. Their boards stay."""
        self.change(userid, password="", reset_code=None, muted=None, signed_off=now)
        self._forget_words(userid)
        tables = "addresses board_notes followers vacations vacation_days replies digests robots blocked tokens posts "
        for table in f"{tables} reminders analysis_requests notice_targets".split():
            self.execute(f"DELETE FROM {table} WHERE userid = ?", userid)
        self.execute("UPDATE players SET subscribes = 0, is_notified = 0, seeking = 0 WHERE userid = ?", userid)
        self.execute("DELETE FROM outbox WHERE userid = ? AND address IS NULL", userid)

    def _forget_words(self, userid: str) -> None:
        """Delete the comments and chats of a user, and the comments of unknown writers at the start of their boards.

        Of these, nobody knows whether the user has written them.
        """
        self.execute("DELETE FROM talk WHERE kind = 'chat' AND userid = ?", userid)
        query = f"DELETE FROM talk WHERE coalesce(userid, ?1) = ?1 AND (game, board) IN ({BOARDS_OF_PLAYER})"
        self.execute(query, userid)
        query = f"""
            UPDATE boards SET comment = NULL, commenter = NULL
            WHERE (game, board) IN ({BOARDS_OF_PLAYER}) AND comment IS NOT NULL AND coalesce(commenter, ?1) = ?1
        """
        self.execute(query, userid)

    def guests(self, before: datetime) -> list[str]:
        """The guests who came before that time, by name."""
        query = f"SELECT userid FROM users WHERE userid GLOB '{GUEST}*' AND created < ? ORDER BY userid"
        return self.column(query, before)

    def remove(self, userid: str, now: datetime) -> None:
        """Delete a guest, who plays on no board any more, also their name."""
        self.sign_off(userid, now)
        for table in "players", "users":
            self.execute(f"DELETE FROM {table} WHERE userid = ?", userid)

    def is_muted(self, userid: str) -> bool:
        """Whether the operator lets nobody read what a user writes."""
        return self.value("SELECT muted FROM users WHERE userid = ?", userid) is not None

    def blocked_by(self, userid: str) -> list[str]:
        """The users that a user blocks, by name."""
        return self.column("SELECT other FROM blocked WHERE userid = ? ORDER BY 1", userid)

    def block(self, userid: str, other: str) -> None:
        """Store that a user blocks another one."""
        self.execute("INSERT OR IGNORE INTO blocked VALUES (?, ?)", userid, other)

    def unblock(self, userid: str, other: str) -> None:
        """Store that a user does not block another one any more."""
        self.execute("DELETE FROM blocked WHERE userid = ? AND other = ?", userid, other)

    def reset_code(self, userid: str) -> tuple[str, datetime] | None:
        """The digest of the code that lets a user set a new password, and when it was made; None if they have none."""
        query = "SELECT reset_code, reset_made FROM users WHERE userid = ? AND signed_off IS NULL"
        for code, made in self.execute(query, userid):
            return (code, datetime.fromisoformat(made)) if code else None
        return None

    def note_command(self, userid: str, now: datetime) -> None:
        """Note that a user gives a command, once a day, and only if they have ever sought challenges."""
        self.execute("UPDATE users SET heard = ? WHERE userid = ? AND heard < ?", now, userid, now.date())

    # Settings

    def set_form(self, userid: str, form: str) -> None:
        """Store which of STORED_FORMS a user wants their mails to have."""
        self.change(userid, html=STORED_FORMS.index(form))

    def hearing(self, what: str) -> list[str]:
        """The users who want ``broadcasts`` or ``puzzles``, by name."""
        return self.column(f"SELECT userid FROM users WHERE hears_{what} = 1 AND signed_off IS NULL ORDER BY userid")

    def last_broadcast(self, userid: str) -> datetime | None:
        """When a user last wrote a broadcast; None if never."""
        return self.moment("SELECT last_broadcast FROM users WHERE userid = ?", userid)

    def zone(self, userid: str) -> str | None:
        """The time zone of a user; None for UTC."""
        zone: str | None = self.value("SELECT zone FROM users WHERE userid = ?", userid)
        return zone

    # Vacations

    def has_auto_vacation(self, userid: str) -> bool:
        """Whether the server takes a day of a user's vacation where they would lose by their clock."""
        return bool(self.value("SELECT auto_vacation FROM users WHERE userid = ?", userid))

    def vacation_days(self, userid: str, since: date) -> list[date]:
        """The days of vacation that the server has taken for a user, from that day on, in order."""
        query = "SELECT day FROM vacation_days WHERE userid = ? AND day >= ? ORDER BY day"
        return [date.fromisoformat(day) for day in self.column(query, userid, since)]

    def take_vacation_day(self, userid: str, day: date) -> None:
        """Store a day of vacation that the server takes for a user."""
        self.execute("INSERT INTO vacation_days VALUES (?, ?)", userid, day)

    def vacations(self, userid: str, since: date) -> list[Vacation]:
        """The vacations of a user that end on that day or later, in order."""
        query = "SELECT userid, first, last FROM vacations WHERE userid = ? AND last >= ? ORDER BY first"
        return self.rows(Vacation, query, userid, since)

    def replace_vacations(self, userid: str, since: date, vacations: Iterable[Vacation]) -> None:
        """Store these vacations; they replace all that end on that day or later."""
        self.execute("DELETE FROM vacations WHERE userid = ? AND last >= ?", userid, since)
        for vacation in vacations:
            self.insert("vacations", vacation._replace(userid=userid)._asdict())

    def away(self, userids: Sequence[str], today: date) -> dict[str, date]:
        """The users among these who are on vacation, each with its last day."""
        among = "userid IN (SELECT value FROM json_each(?2))"
        query = f"""
            SELECT userid, last FROM vacations WHERE {among} AND ?1 BETWEEN first AND last
            UNION SELECT userid, day FROM vacation_days WHERE {among} AND day = ?1 ORDER BY 2
        """  # of a user who is in both, the later day stays
        return {userid: date.fromisoformat(last) for userid, last in self.execute(query, today, list(userids))}

    # Addresses

    def addresses(self, *userids: str) -> list[Address]:
        """The addresses of these users, by userid, the oldest first."""
        query = f"""
            SELECT {", ".join(Address._fields[:-1])}, rowid FROM addresses
            WHERE userid IN (SELECT value FROM json_each(?)) ORDER BY userid, rowid
        """
        return self.rows(Address, query, userids)

    def all_addresses(self) -> list[tuple[str, str]]:
        """The address of each user who has one, with the userid; a user with several stands there as often."""
        return self.execute("SELECT userid, address FROM addresses ORDER BY userid, rowid")

    def ids_at(self, address: str) -> set[str]:
        """The users who have confirmed an address."""
        return set(self.column("SELECT userid FROM addresses WHERE address = ? AND confirmed IS NOT NULL", address))

    def replace_addresses(self, userid: str, codes: dict[str, str | None], now: datetime) -> None:
        """Give a user new addresses, each with the code that will confirm it, or None if it is confirmed already.

        Their older confirmed addresses are kept until a new one is confirmed; older unconfirmed ones are deleted.
        """
        self.execute("UPDATE users SET generation = generation + 1 WHERE userid = ?", userid)
        self.execute("DELETE FROM addresses WHERE userid = ? AND confirmed IS NULL", userid)
        query = """
            INSERT INTO addresses (userid, address, generation, code, confirmed)
            SELECT userid, ?, generation, ?, ? FROM users WHERE userid = ?
            ON CONFLICT DO UPDATE SET generation = excluded.generation
        """
        for address, code in codes.items():  # one that they have already becomes one of the newest generation
            self.execute(query, address, code, None if code else now, userid)
        self._retire_addresses(userid, now)

    def add_address(self, userid: str, address: str, now: datetime) -> None:
        """Give a user one more confirmed address, or confirm an old one, and end its suspension.

        Mails that have waited for an address go to it.
        """
        query = """
            INSERT INTO addresses (userid, address, generation, confirmed)
            SELECT userid, ?, generation, ? FROM users WHERE userid = ?
            ON CONFLICT DO UPDATE SET bounces = 0, bouncing_since = NULL, suspended = NULL RETURNING address, code
        """
        for known, code in self.execute(query, address, now, userid):
            if code:
                self.confirm(code, now)
            self._release(userid, known, now)

    def confirm(self, code: str, now: datetime) -> tuple[str, str] | None:
        """Confirm the address with that code. Returns its userid and the address; None if no address has the code."""
        query = "UPDATE addresses SET confirmed = ?, code = NULL WHERE code = ? RETURNING userid, address"
        for userid, address in self.execute(query, now, code):
            self._retire_addresses(userid, now)
            return userid, address
        return None

    def _retire_addresses(self, userid: str, now: datetime) -> None:
        """If an address of the newest generation is confirmed, delete older ones, and send waiting mails to it."""
        newest = "SELECT address, generation FROM addresses JOIN users USING (userid, generation)"
        for address, generation in self.execute(f"{newest} WHERE userid = ? AND confirmed IS NOT NULL LIMIT 1", userid):
            self.execute("DELETE FROM addresses WHERE userid = ? AND generation < ?", userid, generation)
            self._release(userid, address, now)

    def _release(self, userid: str, address: str, now: datetime) -> None:
        """Send the mails that have waited for an address of a user to this one."""
        query = "UPDATE outbox SET address = ?, due = ? WHERE userid = ? AND address IS NULL"
        self.execute(query, address, now, userid)

    def drop_address(self, userid: str, address: str) -> int:
        """Delete an address of a user, and the mails to them that would go there. Returns the number of mails."""
        self.execute("DELETE FROM addresses WHERE userid = ? AND address = ?", userid, address)
        query = "DELETE FROM outbox WHERE userid = ? AND address = ? COLLATE NOCASE RETURNING id"
        return len(self.execute(query, userid, address))

    # Bounces

    def address_at(self, number: int) -> str | None:
        """The userid and the address with that number, as `alice a@example.org` in lower case; None if it is gone."""
        query = "SELECT lower(userid || ' ' || address) FROM addresses WHERE rowid = ?"
        address: str | None = self.value(query, number)
        return address

    def count_bounce(self, number: int, now: datetime, before: datetime) -> tuple[int, datetime]:
        """Count a bounce of an address. Returns the number of bounces in a row, and the time of the first one.

        A row that began *before* that time is forgotten.
        """
        query = """
            UPDATE addresses SET bounces = iif(bouncing_since > ?2, bounces + 1, 1),
                bouncing_since = iif(bouncing_since > ?2, bouncing_since, ?1)
            WHERE rowid = ?3 RETURNING bounces, bouncing_since
        """
        [(bounces, since)] = self.execute(query, now, before, number)
        return bounces, datetime.fromisoformat(since)

    def suspend_address(self, number: int, now: datetime) -> None:
        """Send no more mails to an address of a user.

        If another address of the user works, it gets the same mails, so those in the outbox are deleted. If not, they
        wait for an address.
        """
        query = "UPDATE addresses SET suspended = ? WHERE rowid = ? AND suspended IS NULL RETURNING userid, address"
        works = "SELECT 1 FROM addresses WHERE userid = ? AND confirmed IS NOT NULL AND suspended IS NULL"
        for userid, address in self.execute(query, now, number):
            change = "UPDATE outbox SET address = NULL"
            if self.value(works, userid):
                change = "DELETE FROM outbox"
            self.execute(
                f"{change} WHERE userid = ? AND address = ? COLLATE NOCASE AND due IS NOT NULL", userid, address
            )

    def revive_address(self, address: str, now: datetime) -> None:
        """Forget the bounces of an address that works, and send waiting mails to it."""
        query = """
            UPDATE addresses SET bounces = 0, bouncing_since = NULL, suspended = NULL
            WHERE address = ? AND bounces > 0 AND confirmed IS NOT NULL RETURNING userid, address
        """
        for userid, known in self.execute(query, address):
            self._release(userid, known, now)

    # For the operator

    def get(self, userid: str) -> UserRow | None:
        """A user, or one who has signed off; None if there is none of that name."""
        return self.row(UserRow, f"SELECT {FIELDS_OF_USER} FROM users WHERE userid = ?", userid)

    def listed(self) -> list[UserRow]:
        """The users without robots, by name."""
        people = "userid NOT IN (SELECT userid FROM robots)"
        return self.rows(UserRow, f"SELECT {FIELDS_OF_USER} FROM users WHERE {people} ORDER BY 1")

    def ids_from(self, prefix: str, most: int) -> list[str]:
        """The users who are signed up and have names that begin with *prefix*, by name, at most *most*.

        Without a prefix, robots are left out.
        """
        query = """
            SELECT userid FROM users WHERE userid >= ?1 AND userid < ?1 || '~' AND signed_off IS NULL
                AND (?1 <> '' OR userid NOT IN (SELECT userid FROM robots))
            ORDER BY userid LIMIT ?2
        """
        return self.column(query, prefix, most)

    def count(self) -> int:
        """How many people are signed up: guests and robots are not."""
        query = f"""
            SELECT (SELECT count(*) FROM users WHERE signed_off IS NULL) - (SELECT count(*) FROM robots)
                - (SELECT count(*) FROM users WHERE userid GLOB '{GUEST}*')
        """
        return int(self.value(query))
