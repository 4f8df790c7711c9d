"""Reply addresses, wrong passwords, quotas, and bars."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pbm.store.base import Questions, as_row

DEVICE = "device"
"""The scope of the token in the cookie of a browser."""
DEVICE_HOLDS = timedelta(days=90)
"""How long such a token holds after it was last used."""
DEVICE_LINK = "link"
"""The scope of a link that makes a browser a device. It is no token yet."""


class Reply(NamedTuple):
    """The user and the board that a reply address stands for."""

    game: str
    board: str
    userid: str


class Failures(NamedTuple):
    """The number of wrong passwords in a row, and the time of the last one."""

    times: int
    last: datetime | None
    """None if there was none."""


class Bar(NamedTuple):
    """An address, or `@DOMAIN`, from which the operator takes no mails."""

    bar: str
    since: datetime
    last: datetime | None
    """When it last kept a mail from being answered; None if it never has."""


class Token(NamedTuple):
    """A token with which a program gives commands for a user."""

    userid: str
    name: str
    scope: str
    """``read``: commands that change nothing; ``play``, and ``device`` in the cookie of a browser: nearly all."""
    made: datetime
    used: datetime | None
    """When it was last used, to the hour; None if never."""


class AnsweredPost(NamedTuple):
    """A command that was posted with a key, and its answer."""

    line: str
    """The SHA-256 of the command without its passwords, and of what was posted with it."""
    answer: str
    """The answer, in JSON."""


class Trust(Questions):
    """What is stored of those who write to the server."""

    def address_key(self) -> bytes:
        """The key of the hashes in addresses of the server."""
        return bytes(self.value("SELECT value FROM keys WHERE name = 'addresses'"))

    # Reply addresses

    def store_reply(self, game: str, board: str, userid: str) -> int:
        """Store the reply address of a user for a board, if it is new. Returns its number."""
        known = "SELECT id FROM replies WHERE game = ? AND board = ? AND userid = ?"
        new = "INSERT INTO replies (game, board, userid) VALUES (?, ?, ?) RETURNING id"
        return int(self.value(known, game, board, userid) or self.value(new, game, board, userid))

    def reply(self, number: int) -> Reply | None:
        """The user and the board of the reply address of that number; None if it was revoked."""
        return self.row(Reply, "SELECT game, board, userid FROM replies WHERE id = ?", number)

    def revoke_replies(self, userid: str) -> None:
        """End all reply addresses of a user; new mails bring new ones."""
        self.execute("DELETE FROM replies WHERE userid = ?", userid)

    # Tokens

    def token(self, digest: str, now: datetime) -> Token | None:
        """The token with that SHA-256; None if there is none, or if it is that of a device and has ended."""
        query = "SELECT userid, name, scope, made, used FROM tokens WHERE digest = ? AND scope != ?"
        token = self.row(Token, query, digest, DEVICE_LINK)
        if token and token.scope == DEVICE and now > (token.used or token.made) + DEVICE_HOLDS:
            return None
        return token

    def tokens(self, userid: str) -> list[Token]:
        """The tokens of a user, by name."""
        query = "SELECT userid, name, scope, made, used FROM tokens WHERE userid = ? AND scope != ? ORDER BY name"
        return self.rows(Token, query, userid, DEVICE_LINK)

    def add_token(self, digest: str, token: Token) -> None:
        """Store a new token by its SHA-256."""
        self.insert("tokens", {"digest": digest, **token._asdict()})

    def revoke_token(self, userid: str, name: str) -> None:
        """End a token of a user."""
        self.execute("DELETE FROM tokens WHERE userid = ? AND name = ?", userid, name)

    def revoke_tokens(self, userid: str) -> None:
        """End all tokens of a user."""
        self.execute("DELETE FROM tokens WHERE userid = ?", userid)

    def note_use_of_token(self, digest: str, now: datetime) -> None:
        """Note that a token is used."""
        self.execute("UPDATE tokens SET used = ? WHERE digest = ?", now, digest)

    def store_link(self, digest: str, userid: str, now: datetime) -> None:
        """Store the link of a user that makes a browser a device, by its SHA-256. The one before it ends."""
        self.remove_link(userid)
        self.add_token(digest, Token(userid, "", DEVICE_LINK, made=now, used=None))

    def owner_of_link(self, digest: str, since: datetime) -> str | None:
        """The user of a link that was made after a time; None if there is none."""
        query = "SELECT userid FROM tokens WHERE digest = ? AND scope = ? AND made > ?"
        userid = self.value(query, digest, DEVICE_LINK, since)
        return str(userid) if userid else None

    def remove_link(self, userid: str) -> None:
        """End the link of a user."""
        self.execute("DELETE FROM tokens WHERE userid = ? AND scope = ?", userid, DEVICE_LINK)

    def forget_devices(self, now: datetime) -> None:
        """Remove devices that were not used for long, and links as old."""
        query = "DELETE FROM tokens WHERE scope IN (?, ?) AND coalesce(used, made) < ?"
        self.execute(query, DEVICE, DEVICE_LINK, now - DEVICE_HOLDS)

    # Posts with a key

    def answered_post(self, userid: str, key: str, since: datetime) -> AnsweredPost | None:
        """What a user has posted with a key since a time; None if nothing."""
        query = "SELECT line, answer FROM posts WHERE userid = ? AND key = ? AND moment >= ?"
        return self.row(AnsweredPost, query, userid, key, since)

    def save_post(self, userid: str, key: str, post: AnsweredPost, now: datetime, since: datetime) -> None:
        """Store what a user has posted with a key, and forget what they posted before a time."""
        self.execute("DELETE FROM posts WHERE userid = ? AND moment < ?", userid, since)
        self.insert("posts", {"userid": userid, "key": key, "moment": now, **post._asdict()})

    # What the operator has asked for by mail

    def store_request(self, digest: str, line: str, now: datetime) -> int:
        """Store a request by the SHA-256 of its code. Returns its number."""
        query = "INSERT INTO requests (code, line, made) VALUES (?, ?, ?) RETURNING id"
        return int(self.value(query, digest, line, now))

    def is_request(self, number: int, digest: str) -> bool:
        """Whether the request of that number has a code with that SHA-256."""
        return bool(self.value("SELECT 1 FROM requests WHERE id = ? AND code = ?", number, digest))

    def request(self, number: int) -> tuple[str, datetime] | None:
        """The line of a request, and when it was made; None if there is none of that number."""
        for line, made in self.execute("SELECT line, made FROM requests WHERE id = ?", number):
            return line, datetime.fromisoformat(made)
        return None

    def forget_old_requests(self, now: datetime) -> None:
        """Delete the requests of more than a day ago."""
        self.execute("DELETE FROM requests WHERE made < ?", now - timedelta(days=1))

    def forget_request(self, number: int) -> None:
        """Delete a request."""
        self.execute("DELETE FROM requests WHERE id = ?", number)

    # Wrong passwords

    def failures(self, userid: str, peer: str) -> dict[str, Failures]:
        """The wrong passwords in a row for a ``userid`` and from a ``peer``, by these words, if there were any."""
        query = "SELECT kind, count, last FROM failures WHERE kind = 'userid' AND holder = ?"  # each uses the index
        rows = self.execute(f"{query} UNION ALL {query.replace('userid', 'peer')}", userid, peer)
        return {kind: as_row(Failures, failures) for kind, *failures in rows}

    def save_failures(self, kind: str, holder: str, failures: Failures) -> None:
        """Store how many passwords were wrong in a row."""
        if failures.last is None:
            self.execute("DELETE FROM failures WHERE kind = ? AND holder = ?", kind, holder)
        else:
            query = "INSERT OR REPLACE INTO failures (kind, holder, count, last) VALUES (?, ?, ?, ?)"
            self.execute(query, kind, holder, *failures)

    # Quotas

    def used(self, kind: str, holder: str, period: str) -> int:
        """How much of a quota *holder* has used up in a *period*, which is a day or an hour."""
        query = "SELECT used FROM quotas WHERE kind = ? AND holder = ? AND day = ?"
        return self.value(query, kind, holder, period) or 0

    def use(self, kind: str, holder: str, period: str, amount: int) -> None:
        """Use up some of the quota of *holder* in a *period*, which is a day or an hour."""
        query = "INSERT INTO quotas VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used"
        self.execute(query, kind, holder, period, amount)

    # Bars

    def bars(self) -> list[Bar]:
        """The addresses and domains that are barred, by name."""
        return self.rows(Bar, "SELECT bar, since, last FROM bars ORDER BY bar")

    def bar_among(self, possible: Sequence[str]) -> str | None:
        """The first of these texts that is a bar; None if none is."""
        bars = set(self.column("SELECT bar FROM bars WHERE bar IN (SELECT value FROM json_each(?))", list(possible)))
        return next((bar for bar in possible if bar in bars), None)

    def add_bar(self, bar: str, now: datetime) -> None:
        """Store a new bar."""
        self.insert("bars", {"bar": bar, "since": now})

    def remove_bar(self, bar: str) -> None:
        """Delete a bar."""
        self.execute("DELETE FROM bars WHERE bar = ?", bar)

    def note_use(self, bar: str, now: datetime) -> None:
        """Note that a bar keeps a mail from being answered."""
        self.execute("UPDATE bars SET last = ? WHERE bar = ?", now, bar)
