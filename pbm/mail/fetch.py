"""Mail from a mailbox that is only reachable by IMAP: new mails are handled, and moved to another folder."""

import imaplib
import re
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote, urlsplit

from pbm.mail import incoming
from pbm.mail.oauth import TokenRefused, Tokens, exchange
from pbm.mail.sending import SENDER, growing_pauses
from pbm.names import is_host
from pbm.refusals import Refused
from pbm.server import Server
from pbm.store import Replaced, Unusable
from pbm.terminal import warn
from pbm.texts import one_line

PORTS_OF_IMAP = {"imap": 143, "imaps": 993}
"""The schemes of mailboxes, and the port of each."""
REPLY_SECONDS = 60
"""Seconds for which the mail server may say nothing when it was asked something."""
LISTENING_SECONDS = 600
"""Seconds after which a connection that waits for new mail is opened again: it may have been lost without a sign."""
POLLING_SECONDS = 60
"""Seconds from one look to the next where the mail server cannot say that there is new mail."""
MOST_REPLY_BYTES = 2 * incoming.MOST_BYTES
"""How many bytes the mail server may send for one command, whatever number it announces."""
MOST_SEARCHES = 100
"""How many searches in a row a mail server can cause by telling of new mails."""

UNAVAILABLE = "[UNAVAILABLE]"
"""What a mail server says if it cannot check a login for now (RFC 5530)."""

HERE = {"127.0.0.1", "::1"}
"""Addresses of this machine: to it, a password may be sent in the clear."""


class Account(NamedTuple):
    """A mailbox, and where in it new mails are."""

    host: str
    port: int
    user: str
    folder: str
    encrypted: bool
    """Whether the server speaks TLS from the first byte; else it has to offer STARTTLS, unless it is this machine."""


def account(url: str) -> Account:
    """The mailbox that a URL names. Raises Refused, without the URL, which may hold a password, if it names none."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        port = parts.port or PORTS_OF_IMAP.get(parts.scheme, 0)
    except ValueError:  # such as a port that is no number
        host = None
    if not (host and is_host(host)) or parts.scheme not in PORTS_OF_IMAP or not parts.username:
        raise Refused("A mailbox is written imaps://USER@HOST, or imap://USER@HOST:PORT/FOLDER.")
    if parts.password is not None:
        raise Refused("The password of the mailbox belongs in PBM_IMAP_PASSWORD, and not where all can see it.")
    folder = folder_name(unquote(parts.path).strip("/") or "INBOX")
    return Account(host, port, unquote(parts.username), folder, encrypted=parts.scheme == "imaps")


def folder_name(folder: str) -> str:
    """The name of a folder. Raises Refused if it cannot be one."""
    if not re.fullmatch(r'[^"\\*%\x00-\x1f\x7f-\U0010ffff]+', folder):
        raise Refused(f"{folder!r} is no name of a folder here: only ASCII, and neither quotes nor wildcards.")
    return folder


class ImapConnection(imaplib.IMAP4):
    """A connection to a mail server that may say anything. If an answer is too long, it ends by an error of imaplib."""

    left = MOST_REPLY_BYTES
    """How many bytes of an answer may still come."""

    def send(self, data: Any) -> None:
        """Send a command."""
        self.left = MOST_REPLY_BYTES
        super().send(data)

    def read(self, size: int) -> bytes:
        """Read so many bytes."""
        self._count(size)
        return super().read(size)

    def readline(self) -> bytes:
        """Read a line."""
        line = super().readline()
        self._count(len(line))
        return line

    def _count(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise self.abort("the mail server sends far more than it was asked for")


class EncryptedImapConnection(ImapConnection, imaplib.IMAP4_SSL):
    """A connection that speaks TLS from the first byte."""


class Mailbox:
    """An open mailbox. Its methods raise OSError, or an error of imaplib."""

    def __init__(self, connection: imaplib.IMAP4, to: str) -> None:
        """Take mails from the folder that the *connection* has selected, and move them *to* another one."""
        self.connection = connection
        self.to = to
        self.can = _checked(connection.capability())[0].decode().upper().split()

    def unread(self) -> list[str]:
        """The UIDs of all unread mails."""
        uids = _checked(self.connection.uid("SEARCH", "UNSEEN", "UNDELETED"))[0] or b""  # None if there are none
        return uids.decode().split()

    def take_notice(self) -> bool:
        """Forget what the server has told of new mails. Returns whether it has told of any."""
        return self.connection.response("EXISTS")[1] != [None]

    def read(self, uid: str) -> bytes | None:
        """A mail, or the beginning of one that is too large. It stays unread. None if it has gone."""
        parts = _checked(self.connection.uid("FETCH", uid, f"(BODY.PEEK[]<0.{incoming.MOST_BYTES + 1}>)"))
        return next((part[1] for part in parts if isinstance(part, tuple)), None)

    def move(self, uid: str) -> None:
        """Move a mail. If that ends halfway, the mail is fetched once more, and recognised as handled."""
        if "MOVE" in self.can:
            _checked(self.connection.uid("MOVE", uid, f'"{self.to}"'))
            return
        _checked(self.connection.uid("COPY", uid, f'"{self.to}"'))
        _checked(self.connection.uid("STORE", uid, "+FLAGS.SILENT", r"(\Deleted \Seen)"))
        if "UIDPLUS" in self.can:  # else all that anybody has deleted would go
            _checked(self.connection.uid("EXPUNGE", uid))

    def wait(self) -> bool:
        """Wait until there may be new mail; False when it is time to connect again."""
        if "IDLE" not in self.can:
            time.sleep(POLLING_SECONDS)
            _checked(self.connection.noop())
            return True
        self.connection.send(b"pbm IDLE\r\n")
        self.connection.socket().settimeout(LISTENING_SECONDS)
        try:
            self._skip_to(b" EXISTS")
        except TimeoutError:
            return False
        self.connection.socket().settimeout(REPLY_SECONDS)
        self.connection.send(b"DONE\r\n")
        self._skip_to(b"pbm OK")
        return True

    def _skip_to(self, wanted: bytes) -> None:
        """Read lines up to one with that in it."""
        while wanted not in (line := self.connection.readline().rstrip()):
            if not line or line.startswith((b"pbm ", b"* BYE")):
                raise imaplib.IMAP4.abort(line or "the connection was closed")


def _checked(answer: tuple[str, list[Any]]) -> list[Any]:
    """The data of an answer. Raises an error of imaplib if the server refused."""
    status, data = answer
    if status != "OK":
        raise imaplib.IMAP4.error(data[0] if data else status)
    return data


@contextmanager
def opened(box: Account, credentials: str | Tokens, to: str) -> Iterator[Mailbox]:
    """An open mailbox, in which the folder *to* exists; *credentials* are a password or access tokens."""
    context = ssl.create_default_context()
    if box.encrypted:
        connection: ImapConnection = EncryptedImapConnection(
            box.host, box.port, ssl_context=context, timeout=REPLY_SECONDS
        )
    else:
        connection = ImapConnection(box.host, box.port, timeout=REPLY_SECONDS)
    try:
        if not box.encrypted:
            _encrypt(connection, context)
        if isinstance(credentials, Tokens):
            credentials.use(partial(_show_token, connection, box))
        else:
            _log_in(connection, box.user, credentials)
        connection.create(f'"{to}"')  # is refused if it is there, and does no harm
        _checked(connection.select(f'"{box.folder}"'))
        yield Mailbox(connection, to)
    finally:
        with suppress(imaplib.IMAP4.error, OSError):
            connection.socket().settimeout(1)
            connection.logout()
        with suppress(OSError):
            connection.shutdown()


def _encrypt(connection: imaplib.IMAP4, context: ssl.SSLContext) -> None:
    if "STARTTLS" in connection.capabilities:
        connection.starttls(context)
    elif connection.socket().getpeername()[0] not in HERE:
        raise imaplib.IMAP4.error("the server offers no encryption, and gets no password without")


def _show_token(connection: imaplib.IMAP4, box: Account, token: str) -> None:
    """Log in with an access token. Raises TokenRefused."""
    offered = [name.removeprefix("AUTH=") for name in connection.capabilities]
    mechanism, answers = exchange(offered, box.user, box.host, box.port, token)
    rest = iter(answers)
    try:
        connection.authenticate(mechanism, lambda _: next(rest, "").encode())
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error as why:
        text = complaint(why)
        if UNAVAILABLE in text:
            raise
        raise TokenRefused(text) from None
    except ValueError as why:  # what the server asks is no base64
        raise imaplib.IMAP4.error(f"{box.host} cannot be understood: {why}") from None


def _log_in(connection: imaplib.IMAP4, user: str, password: str) -> None:
    if "AUTH=PLAIN" in connection.capabilities:
        connection.authenticate("PLAIN", lambda _: f"\0{user}\0{password}".encode())
    elif (user + password).isascii() and (user + password).isprintable() and not set(user) & set('"\\'):
        connection.login(f'"{user}"', password)
    else:
        raise imaplib.IMAP4.error("the server takes no login with such characters")


def fetch(server: Server, box: Account, credentials: str | Tokens, to: str) -> int:
    """Handle all new mails, and move them to the folder *to*. Returns how many."""
    with opened(box, credentials, to) as mailbox:
        return _handle_new(server, mailbox)


def keep_fetching(server: Server, box: Account, credentials: str | Tokens, to: str) -> NoReturn:
    """Handle new mails as they come, and have what is in the outbox sent, until the process is ended.

    Raises OSError or an error of imaplib if the first connection fails; a later one is tried again. Raises Replaced if
    the database has become another file.
    """
    fetch(server, box, credentials, to)
    sender: subprocess.Popen[bytes] | None = None
    pauses = growing_pauses()
    while True:
        try:
            with opened(box, credentials, to) as mailbox:
                pauses = growing_pauses()
                is_alive = True
                while is_alive:
                    _handle_new(server, mailbox)
                    if sender is None or sender.poll() is not None:  # it ends with this process, and not before
                        sender = subprocess.Popen(SENDER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
                    is_alive = mailbox.wait()
        except Replaced:
            raise
        except (imaplib.IMAP4.error, OSError, Unusable) as why:
            pause = next(pauses)
            warn(f"No mail can be fetched: {complaint(why)}; the next try is in {pause:.0f} s.")
            time.sleep(pause)


def _handle_new(server: Server, mailbox: Mailbox) -> int:
    """Handle all new mails, also those that come meanwhile. Returns how many."""
    tried: set[str] = set()
    count = 0
    for _ in range(MOST_SEARCHES):
        new = [uid for uid in mailbox.unread() if uid not in tried]
        if not new and not mailbox.take_notice():
            break
        tried.update(new)
        for uid in new:
            try:
                count += _handle(server, mailbox, uid)
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as why:
                warn(f"The mail server refuses to give or to move a mail, which stays: {complaint(why)}")
    return count


def _handle(server: Server, mailbox: Mailbox, uid: str) -> bool:
    """Handle a mail and move it; False if it has gone, or stays because it could not be handled.

    Raises an error of imaplib if the mail server refuses to give or to move it.
    """
    raw = mailbox.read(uid)
    if raw is None:
        return False
    is_too_large = len(raw) > incoming.MOST_BYTES
    sender = incoming.envelope(raw, {})[0]
    outcome = "too large"
    try:
        if not is_too_large:
            recipients = incoming.addressed(raw, server.address)
            outcome = incoming.handle_within_limits(server, raw, sender, recipients).word
    except Unusable:
        raise
    except Exception as why:
        warn(f"A mail could not be handled, and stays: {type(why).__name__}: {why}")
        return False
    mailbox.move(uid)
    line = f"imap <{one_line(sender or '')}> {outcome}"
    warn(line.encode("ascii", "backslashreplace").decode())
    return True


def complaint(error: Exception) -> str:
    """What went wrong, as a line of readable text."""
    first = error.args[0] if error.args else error
    text = first.decode(errors="replace") if isinstance(first, bytes) else str(error)
    return one_line(text) or type(error).__name__
