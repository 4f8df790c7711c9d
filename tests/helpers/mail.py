"""Mails in and out: mails as mail programs send them, and what the server in this process does with them.

``handle(club.server, message("help spora"), None)`` returns `command`, and the answer is then the last of
``club.mails()``; ``answer(pair, "e3:5")`` answers the last mail about a board as alice.
"""

from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP
from itertools import count

from pbm.mail.incoming import Outcome, ReceivedMail, handle_prepared, prepare_mail
from pbm.server import Server

ADDRESS = "pbm@pbm.example"


def mail_of(sender: str, subject: str, body: str = "", to: str = ADDRESS, **fields: str) -> bytes:
    """A mail as a mail program sends it; ``message_id=...`` and so on are further fields of its header."""
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = to
    mail["Subject"] = subject
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    return mail.as_bytes(policy=SMTP)


def outcome_of(
    server: Server, raw: bytes, sender: str | None, recipients: Sequence[str] = (), peer: str | None = None
) -> Outcome:
    """Do what a mail says, as the server does; the sender and the recipients are those of its envelope."""
    return handle_prepared(server, prepare_mail(server, ReceivedMail(raw, sender, recipients, peer)))


def handle(
    server: Server, raw: bytes, sender: str | None, recipients: Sequence[str] = (), peer: str | None = None
) -> str:
    """Do what a mail says, as the server does. Returns the outcome in a word, such as `command`."""
    return outcome_of(server, raw, sender, recipients, peer).word


ALICE = "alice@players.example"


def message(subject, body="", sender=ALICE, **fields):
    """A mail to the server, of alice if nobody else is named: ``message("help", message_id="<1@players.example>")``."""
    return mail_of(sender, subject, body, **fields)


def reply_address(club, name="alice"):
    """The address at which a user answers the last mail that can be answered."""
    return next(one.reply_to for one in reversed(club.mails(name)) if one.reply_to)


def answer(club, line, recipient=None, subject="Re: New Spiro Board 101 alice", sender=ALICE):
    """Answer the last board mail that alice got."""
    raw = message(subject, line, sender=sender)
    return handle(club.server, raw, None, [recipient or reply_address(club)])


NUMBERS = count()


def numbered_mail(subject: str, body: str = "", sender: str = ALICE) -> bytes:
    """A mail to the server with a Message-ID of its own, so that no two are taken for one that came twice."""
    return mail_of(sender, subject, body, message_id=f"<{next(NUMBERS)}@players.example>")


def press(club, address, subject="unsubscribe", body="", sender="carol@players.example", **fields):
    """A mail as the button of a mail program sends it; what the user is told of it."""
    message_id = f"<{club.random_bytes(12).hex()}@players.example>"
    raw = mail_of(sender, subject, body, address, message_id=message_id, **fields)
    before = len(club.mails())
    assert handle(club.server, raw, sender, [address]) == "unsubscribe"
    return club.mails()[before:]
