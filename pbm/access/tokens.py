"""Addresses of ours that nobody can guess: to answer a board mail, to unsubscribe, and for our mails to bounce to.

They are the server's address with a token behind a plus sign: a letter for the kind, the number of a row, and a keyed
hash of 128 bits. A token is in lower case, because mail servers may change the case of what stands before the @.
"""

import hashlib
import hmac
import re

import games
from pbm.server import Server
from pbm.store import Mail, Reply

REPLY, BOUNCE, UNSUBSCRIBE = "r", "b", "u"
TOKEN = re.compile("([rbu])([0-9]{1,18})-[0-9a-f]{32}", re.ASCII)


def reply_address(server: Server, game: str, board: str, userid: str, number: int | None = None) -> str:
    """Where a user answers the mails about a board without a password, while its game goes on; its *number*, if known.

    One who has none yet gets one.
    """
    number = number or server.store.trust.reply_number(game, board, userid)
    return _address(server, _token(server.store.trust.address_key(), REPLY, number, userid))


def reply(server: Server, recipient: str) -> Reply | None:
    """The user and the board that a reply address speaks for; None if it is none, or one that was revoked."""
    token = _behind(server, recipient, "+")
    number = _number(token, REPLY)
    found = None if number is None else server.store.trust.reply(number)
    return (
        found
        if found and is_same(token, _token(server.store.trust.address_key(), REPLY, number, found.userid))
        else None
    )


def unsubscribe_address(server: Server, mails: Reply, address_number: int) -> str:
    """Where any mail ends what a user gets, and does nothing else, for one of their addresses, given by its number.

    That is every mail about a board; without a board, the digests of the game; without a game, what users write to all.
    """
    number = server.store.trust.reply_number(*mails) if mails.board else address_number
    return _address(server, _token(server.store.trust.address_key(), UNSUBSCRIBE, number, _subscription(server, mails)))


def unsubscribed(server: Server, recipient: str) -> Reply | None:
    """What a mail to an address ends, as in `unsubscribe_address`; None if it is no such address, or a revoked one."""
    token = _behind(server, recipient, "+")
    number = _number(token, UNSUBSCRIBE)
    if number is None:
        return None
    userid, *_ = (server.store.trust.address_at(number) or " ").split(" ")
    found = [Reply(game, "", userid) for game in ("", *games.names())] if userid else []
    found += filter(None, [server.store.trust.reply(number)])
    key = server.store.trust.address_key()
    return next(
        (one for one in found if is_same(token, _token(key, UNSUBSCRIBE, number, _subscription(server, one)))), None
    )


def _subscription(server: Server, mails: Reply) -> str:
    """What the token of a subscription depends on; a new password revokes it, as it does reply addresses."""
    return f"{mails.game} {mails.board} {mails.userid} {server.store.users.password_of(mails.userid)}"


def return_path(server: Server, mail: Mail) -> str:
    """The envelope's sender of a mail of ours: to a user, one that tells which of his addresses bounces."""
    if mail.address_number is None:
        return server.address
    return _address(server, bounce_token(server, mail.address_number, f"{mail.userid} {mail.address}"))


def bounce_token(server: Server, number: int, whose: str) -> str:
    """The token for mails to the address of that number, which tells *whose* it is: a userid and the address."""
    return _token(server.store.trust.address_key(), BOUNCE, number, whose.lower())


def bounced(server: Server, recipient: str) -> int | None:
    """The number of the user's address whose mails bounce to *recipient*; None if none do."""
    return _bounced(server, _behind(server, recipient, "+"))


def bounced_mail(server: Server, message_id: str) -> int | None:
    """The number of the user's address that a mail of ours went to; None if that is no Message-ID of such a mail."""
    return _bounced(server, _behind(server, message_id.strip("<>"), "."))


def masked(text: str) -> str:
    """A text in which no token can be read, for others than the one it was mailed to."""
    return re.sub(TOKEN.pattern, "TOKEN", text)


def _bounced(server: Server, token: str) -> int | None:
    number = _number(token, BOUNCE)
    about = None if number is None else server.store.trust.address_at(number)
    return number if about and is_same(token, _token(server.store.trust.address_key(), BOUNCE, number, about)) else None


def is_same(told: str, right: str) -> bool:
    """Whether a token or a code is the right one, in a time that does not tell how much of it is."""
    return hmac.compare_digest(told, right)


def _behind(server: Server, written: str, mark: str) -> str:
    """The token in an address or a Message-ID of ours, behind the last *mark*; empty if there is none."""
    local, _, host = written.lower().rpartition("@")
    own, _, own_host = server.address.lower().rpartition("@")
    name, _, token = local.rpartition(mark)
    is_ours = host == own_host and (name == own or mark == ".")
    return token if is_ours and TOKEN.fullmatch(token) else ""


def _number(token: str, kind: str) -> int | None:
    found = TOKEN.fullmatch(token)
    return int(found[2]) if found and found[1] == kind else None


def _token(key: bytes, kind: str, number: int | None, about: str) -> str:
    digest = hmac.digest(key, f"{kind} {number} {about}".encode(), "sha256")
    return f"{kind}{number}-{digest[:16].hex()}"


def _address(server: Server, token: str) -> str:
    local, _, host = server.address.rpartition("@")
    return f"{local}+{token}@{host}"


def digest(code: str) -> str:
    """What is stored of a code that is mailed."""
    return hashlib.sha256(code.encode()).hexdigest()
