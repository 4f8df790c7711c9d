"""Mail that comes in: a message becomes a command. No sockets here."""

import hashlib
import re
from collections.abc import Mapping
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from typing import NamedTuple

from pbm.commands import root
from pbm.grammar import Front, refusal, run
from pbm.session import Refused, Server, Session
from pbm.users import is_address
from pbm.words import clean, written

MOST_BYTES = 1_000_000
"""The largest mail that is taken."""
MOST_HEADER = 20_000
"""How many characters of a header field are read."""
ON_THE_WAY = re.compile(rb"(?im)^(?:received|return-path|delivered-to):.*\r?\n(?:[ \t].*\r?\n)*")
"""Header fields that differ between two deliveries of one mail."""


class Incoming(NamedTuple):
    """What counts of a mail that came in."""

    sender: str | None
    """The one address that it is from; None if there is not exactly one."""
    message_id: str
    subject: str
    comment: str
    is_automatic: bool
    """Whether a program sent it, which must never be answered."""


def read(raw: bytes, envelope_sender: str | None) -> Incoming:
    """Read a mail; the envelope's sender is empty for a bounce, and None if it is not known."""
    message = message_from_bytes(raw)
    fields = [
        str(field) for field in message.get_all("From", [])
    ]  # as they are: a name may be encoded to look like more
    senders = [address for _, address in getaddresses(fields)] if fields else [envelope_sender or ""]
    return Incoming(
        sender=senders[0] if len(senders) == len(fields or senders) == 1 and is_address(senders[0]) else None,
        message_id=_header(message, "Message-ID") or _fingerprint(raw),
        subject=_header(message, "Subject"),
        comment=_comment(message),
        is_automatic=envelope_sender == "" or _is_automatic(message),
    )


def _fingerprint(raw: bytes) -> str:
    """What stands for the Message-ID of a mail that has none: its SHA-256, without what was added on its way."""
    end = re.search(rb"\r?\n\r?\n", raw)
    header, body = (raw[: end.start() + 2], raw[end.start() + 2 :]) if end else (raw, b"")
    return f"sha256:{hashlib.sha256(ON_THE_WAY.sub(b'', header) + body).hexdigest()}"


def envelope(raw: bytes, environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Sender and recipient of a mail that comes through a pipe; None where they are not known.

    The sender is empty for a bounce, which Postfix calls MAILER-DAEMON.
    """
    message = BytesHeaderParser().parsebytes(raw)
    sender = environment.get("SENDER", message["Return-Path"])
    recipient = environment.get("RECIPIENT", message["Delivered-To"])
    if sender is not None:
        sender = str(sender).strip().strip("<>")
        sender = "" if sender.upper() == "MAILER-DAEMON" else sender
    return sender, None if recipient is None else str(recipient).strip().strip("<>")


def is_ours(recipient: str, server_address: str) -> bool:
    """Whether a mail is for the server: its own address or one of the form ``pbm+TOKEN@host``, in any case."""
    local, _, host = recipient.lower().rpartition("@")
    own, _, own_host = server_address.lower().rpartition("@")
    return host == own_host and (local == own or local.startswith(f"{own}+"))


def handle(server: Server, raw: bytes, envelope_sender: str | None) -> str:
    """Do what a mail says, answer it, and note that it was handled: all in one transaction, and only once.

    Returns what was done, in a word. Raises Unusable if the database cannot be used; then the mail has to come again.
    """
    try:
        mail = read(raw, envelope_sender)
    except (RecursionError, MessageError, ValueError, LookupError):
        mail = Incoming(None, _fingerprint(raw), "", "", is_automatic=False)
    sender = mail.sender or ""
    is_own = is_ours(sender, server.address)
    outcome = "automatic" if mail.is_automatic or is_own else "command" if sender else "unreadable"
    with server.store.transaction():
        if not server.store.record(sender.lower(), mail.message_id, outcome, server.now()):
            return "repeated"
        if outcome == "command":
            answered = mail.message_id if re.fullmatch(r"<[!-;=?-~]{1,240}>", mail.message_id) else None
            _answer(Session(server, sender, mail.comment, message_id=answered), mail)
    return outcome


def _answer(session: Session, mail: Incoming) -> None:
    line = [mail.subject]
    try:
        with session.store.transaction():
            run(root, line, Front(lambda: session))
    except Refused as why:
        session.queue(refusal(why, root, line, mail.comment))


def _is_automatic(message: Message) -> bool:
    """Whether a message says that a program sent it (RFC 3834, and the fields that lists and older programs use)."""
    submitted = _header(message, "Auto-Submitted").partition(";")[0].strip().lower()
    precedence = _header(message, "Precedence").lower()
    return submitted not in {"", "no"} or precedence in {"bulk", "junk", "list"} or message["List-Id"] is not None


def _header(message: Message, name: str) -> str:
    """A header field as one line of readable text; empty if it is missing."""
    value = str(message[name] or "")[:MOST_HEADER]
    try:
        text = str(make_header(decode_header(value)))
    except (MessageError, LookupError, ValueError):
        text = value
    return " ".join(clean(text).split())


def _comment(message: Message) -> str:
    """What a player has written: the first plain text, without the mail he answers and without his signature."""
    part = next((part for part in message.walk() if part.get_content_type() == "text/plain"), None)
    if part is None or part.is_multipart():
        return ""
    raw = part.get_payload(decode=True) or b""
    try:
        text = bytes(raw).decode(str(part.get_param("charset") or "utf-8"), "replace")
    except LookupError:
        text = bytes(raw).decode("utf-8", "replace")
    own = re.split(r"(?m)^-- $", clean(text), maxsplit=1)[0]
    return written(re.sub(r"(?m)(?:^[^\n>]*:\n+)?(?:^>.*\n?)+", "", own).strip())
