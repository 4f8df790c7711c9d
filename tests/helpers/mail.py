"""Mails in and out: mails as mail programs send them, and what the server in this process does with them.

``handle(club.server, mail_of("alice@players.example", "help spora"), None)`` is `command`, and the answer is then the
last of ``club.mails()``.
"""

from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP

from pbm.mail.incoming import Outcome, ReceivedMail, handle_prepared, prepare_mail
from pbm.server import Server

ADDRESS = "pbm@pbm.example"


def mail_of(sender: str, subject: str, body: str = "", to: str = ADDRESS, **fields: str) -> bytes:
    """A mail as a mail program sends it; ``message_id=...`` and the like are further fields of its header."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, to, subject
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
