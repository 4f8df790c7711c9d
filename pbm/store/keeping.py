"""What the operator asks of the database: lists over all users, and the mending of what stands in one row."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from pbm.store.base import Questions
from pbm.store.boards import BY_NUMBER, board_row
from pbm.store.form import text, time_of
from pbm.store.mails import ASKED, mail_row
from pbm.store.rows import STORED_FORMS, BoardRow, Mail

SUSPENDED = (
    "EXISTS (SELECT 1 FROM addresses WHERE addresses.userid = outbox.userid AND suspended IS NOT NULL "
    "AND addresses.address = coalesce(outbox.address, addresses.address))"
)


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


class Keeping(Questions):
    """What is stored, as the operator sees it."""

    # Users and addresses

    def user_rows(self, userids: Sequence[str] = (), *, limit: int = -1, after: str = "") -> list[UserRow]:
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

    # Boards

    def games_with_boards(self) -> list[str]:
        """The games that have boards, by name."""
        return [game for (game,) in self.db.execute("SELECT game FROM tallies WHERE boards > 0")]

    def listed_boards(
        self,
        game: str,
        userids: Sequence[str],
        *,
        active: bool | None,
        is_turn: bool,
        tournament: bool | None,
        limit: int,
    ) -> list[BoardRow]:
        """Boards of a game by number, at most *limit*: those of any of these users, if any are named.

        None stands for both kinds: *active* and ended boards, boards of a *tournament* and others. With *is_turn* only
        those on which one of the users is to move.
        """
        among = "IN (SELECT value FROM json_each(?2))"
        conditions = ["game = ?1"]
        if active is not None:
            conditions.append(f"ended IS {'' if active else 'NOT '}NULL")
        if userids:
            conditions.append(f"(first_player {among} OR second_player {among})")
        if is_turn:
            conditions.append(f"turn {among}")
        if tournament is not None:
            conditions.append(f"pool IS {'NOT ' if tournament else ''}NULL")
        query = f"SELECT * FROM boards WHERE {' AND '.join(conditions)} {BY_NUMBER} LIMIT ?3"
        return [board_row(row) for row in self.db.execute(query, [game, json.dumps(userids), limit])]

    def every_board(self, game: str) -> Iterator[BoardRow]:
        """All boards of a game, as they come."""
        for row in self.db.execute("SELECT * FROM boards WHERE game = ? ORDER BY board", [game]):
            yield board_row(row)

    def reserve_number(self, game: str, number: int) -> None:
        """See to it that a board number is never given out."""
        query = "INSERT INTO numbers VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)"
        self.db.execute(query, [game, max(number, 100)])

    # Mails

    def listed_mails(self, limit: int) -> Iterator[tuple[Mail, bool]]:
        """The mails in the outbox, the oldest first, each with whether its address or user is suspended."""
        query = f"SELECT *, {ASKED}, {SUSPENDED} FROM outbox ORDER BY id LIMIT ?"
        for row in self.db.execute(query, [limit]):
            yield mail_row(row[:-1]), bool(row[-1])

    def mail(self, number: int) -> tuple[Mail, bool] | None:
        """The mail of that number with whether its address or user is suspended; None if there is none."""
        row = self.db.execute(f"SELECT *, {ASKED}, {SUSPENDED} FROM outbox WHERE id = ?", [number]).fetchone()
        return (mail_row(row[:-1]), bool(row[-1])) if row else None

    def retry_mails(self, numbers: Sequence[int], now: datetime) -> int:
        """Make mails due, or all that have an address if no numbers are given. Returns how many."""
        which = "id IN (SELECT value FROM json_each(?))" if numbers else "? IS NOT NULL"
        query = f"UPDATE outbox SET due = ? WHERE address IS NOT NULL AND {which}"
        return int(self.db.execute(query, [text(now), json.dumps(numbers)]).rowcount)

    def drop_mails(self, numbers: Sequence[int]) -> None:
        """Forget mails."""
        self.db.execute("DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?))", [json.dumps(numbers)])
