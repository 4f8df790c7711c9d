"""Our addresses that nobody can guess: to answer a board mail, to unsubscribe, to set a password, and for bounces.

Another one confirms what the operator has asked for.
Pages of the web take the same tokens; that for a calendar is no address.

They are the server's address with a token behind a plus sign. The token is a letter for the kind, the number of a row,
and a keyed hash of 128 bits, as in ``pbm+r12-0123456789abcdef0123456789abcdef@pbm.example``. To set a password, and to
confirm, the address has the code that was mailed, and not the hash. A token is in lower case, because mail servers may
change the case of what stands before the @.

A reply address is made by `reply_address`, written into Reply-To by `delivery.mail`, found among the recipients by
`mail.incoming`, and accepted instead of a password by `runner`. No Subject has a token. A command may not know
PBM_ADDRESS: the server's address is filled in when the mail is sent.
"""

import hashlib
import hmac
import re
from functools import partial
from typing import NamedTuple

import games
from pbm.names import API_TOKENS
from pbm.server import Server
from pbm.store import Mail, Reply

PUZZLES = "puzzles"
"""Stands for a game where puzzles are unsubscribed."""
REPLY = "r"
BOUNCE = "b"
UNSUBSCRIBE = "u"
CALENDAR = "c"
RESET = "p"
REQUEST = "o"
COMMANDS = "commands"
"""The kind of the server's own address, which has no token."""
POSTMASTER = "postmaster"
"""The kind of the postmaster's address (RFC 5321, 4.5.1), which has no token either."""
TOKEN = re.compile("([rbucpo])([0-9]{1,18})-[0-9a-f]{32}", re.ASCII)


def reply_address(server: Server, game: str, board: str, userid: str) -> str:
    """The address at which a user answers the mails about a board without a password. It is made at the first call."""
    number = server.store.trust.store_reply(game, board, userid)
    return address_with(server, _token(server, REPLY, number, userid))


class Meaning(NamedTuple):
    """What one of our addresses is for."""

    kind: str
    reply: Reply = Reply("", "", "")
    """The user and the board of a reply address, the user of a calendar, or the mails to end
    (`unsubscribe_address`)."""
    number: int = 0
    """The number of the user's address that bounces, or of the request that is confirmed there."""
    code: str = ""
    """The code with which the user of that reply sets a new password there, or the request is confirmed."""


def meaning(server: Server, written: str, mark: str = "+") -> Meaning | None:
    """What one of our addresses is for, by the token behind its last *mark*; None if the token is wrong or revoked.

    Our Message-IDs have a token, too, behind a dot. It is the token of the address that gets the bounce.
    """
    local, _, host = written.lower().rpartition("@")
    own, _, own_host = server.address.lower().rpartition("@")
    if (local, host) == (own, own_host):
        return Meaning(COMMANDS)
    if (local, host) in {("postmaster", own_host), ("", "postmaster")}:
        return Meaning(POSTMASTER)
    name, _, token = local.rpartition(mark)
    parts = TOKEN.fullmatch(token)
    if not parts or host != own_host:
        return None
    if mark == "+" and name != own:
        return None
    kind = parts[1]
    number = int(parts[2])
    if kind == RESET:
        return _meaning_of_code(server, number, token.rpartition("-")[2])
    if kind == REQUEST:
        code = token.rpartition("-")[2]
        if server.store.trust.is_request(number, digest(code)):
            return Meaning(REQUEST, number=number, code=code)
        return None
    for about, possible in _possible_meanings(server, kind, number):
        if is_same(token, _token(server, kind, number, about)):
            return possible
    return None


def _meaning_of_code(server: Server, number: int, code: str) -> Meaning | None:
    """What an address is for that has a code for a new password; the number is that of the user's mail address."""
    owner = server.store.users.address_at(number)
    userid = owner.split(" ")[0] if owner else ""
    stored = server.store.users.reset_code(userid)
    if stored is None or not is_same(digest(code), stored[0]):
        return None
    return Meaning(RESET, Reply("", "", userid), code=code)


def password_address(server: Server, code: str, address_number: int) -> str:
    """The address at which a user sets a new password with a code; the number of their mail address is in it."""
    return address_with(server, f"{RESET}{address_number}-{code}")


def request_address(server: Server, number: int, code: str) -> str:
    """The address at which the operator confirms the request of that number, with its code."""
    return address_with(server, f"{REQUEST}{number}-{code}")


def _possible_meanings(server: Server, kind: str, number: int) -> list[tuple[str, Meaning]]:
    """What a token of this kind and number may mean, and what its hash is about in each case."""
    owner = server.store.users.address_at(number) or ""
    reply = server.store.trust.reply(number)
    if kind == BOUNCE:
        return [(owner, Meaning(kind, number=number))]
    if kind == REPLY and reply:
        return [(reply.userid, Meaning(kind, reply))]
    if kind == REPLY:
        return []
    mails = []
    if owner:
        userid = owner.split(" ")[0]
        mails += [Reply(game, "", userid) for game in ("", PUZZLES) + games.names()]
    if reply:
        mails.append(reply)
    return [(_subscription(server, subscribed), Meaning(kind, subscribed)) for subscribed in mails]


def unsubscribe_address(server: Server, mails: Reply, address_number: int) -> str:
    """The address at which any mail ends some *mails* to a user, and does nothing else.

    These are all mails about a board; without a board, the digests of the game, or PUZZLES; without a game, what users
    write to all. The token is made for one of the user's addresses, by its number.
    """
    number = server.store.trust.store_reply(*mails) if mails.board else address_number
    return address_with(server, _token(server, UNSUBSCRIBE, number, _subscription(server, mails)))


def calendar_token(server: Server, userid: str, address_number: int) -> str:
    """The token with which a program sees a user's deadlines; it is made for one of their addresses, by its number."""
    return _token(server, CALENDAR, address_number, _subscription(server, Reply("", "", userid)))


def _subscription(server: Server, mails: Reply) -> str:
    """What the token of a subscription depends on; a new password revokes it, as it does reply addresses."""
    return f"{mails.game} {mails.board} {mails.userid} {server.store.users.password_of(mails.userid)}"


def return_path(server: Server, mail: Mail) -> str:
    """The envelope's sender of our mails: to a user, one that tells which of their addresses bounces."""
    if mail.address_number is None:
        return server.address
    return address_with(server, bounce_token(server, mail.address_number, f"{mail.userid} {mail.address}"))


def with_own_address(server: Server, mail: Mail) -> Mail:
    """A mail of the outbox with the server's address as it is here, which the command that queued it may not know."""
    with_own_host = partial(re.sub, "@[^@]*>$", f"@{server.host}>")
    mail = mail._replace(message_id=with_own_host(mail.message_id))
    if mail.thread and mail.userid:  # the answer to a stranger is in the stranger's own thread
        mail = mail._replace(thread=with_own_host(mail.thread))
    if mail.reply_to:
        # one without a token stays: the postmaster's mails are answered at an address of others
        own_address = address_with(server, r"\1")
        mail = mail._replace(reply_to=re.sub(rf".*\+({TOKEN.pattern})@.*", own_address, mail.reply_to))
    if mail.unsubscribe:
        mail = mail._replace(unsubscribe=address_with(server, mail.unsubscribe))
    return mail


def bounce_token(server: Server, number: int, whose: str) -> str:
    """The token for mails to the address of that number; it stands for *whose*, a userid and the address."""
    return _token(server, BOUNCE, number, whose.lower())


def masked(text: str) -> str:
    """A text with its tokens masked, for all readers except the one who was mailed or shown them."""
    return re.sub(f"{TOKEN.pattern}|{API_TOKENS}", "TOKEN", text, flags=re.ASCII | re.IGNORECASE)


def is_same(given: str, right: str) -> bool:
    """Whether a token or a code is right. The time that this takes does not tell how much of it is."""
    return hmac.compare_digest(given, right)


def _token(server: Server, kind: str, number: int, about: str) -> str:
    keyed_hash = hmac.digest(server.store.trust.address_key(), f"{kind} {number} {about}".encode(), "sha256")
    return f"{kind}{number}-{keyed_hash[:16].hex()}"


def address_with(server: Server, token: str) -> str:
    """Our address with a token, or with the token of an address; the token may be wrong."""
    local, _, host = server.address.rpartition("@")
    return f"{local}+{token_of(token)}@{host}"


def token_of(address: str) -> str:
    """The token of an address, such as ``r12-...``, or a token that stands alone."""
    return address.strip().lower().rpartition("+")[2].partition("@")[0]


def digest(code: str) -> str:
    """The SHA-256 of a code that is mailed; only this is stored."""
    return hashlib.sha256(code.encode()).hexdigest()
