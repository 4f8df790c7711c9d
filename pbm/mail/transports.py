"""The ways in which mail leaves: into maildirs, through the sendmail program, or to a mail server."""

import os
import re
import smtplib
import ssl
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from pbm.disk import reason, sync
from pbm.mail.oauth import LoginProblem, TokenRefused, Tokens, exchange
from pbm.mail.signing import Signer
from pbm.names import is_host
from pbm.refusals import Refused
from pbm.texts import enumerated, one_line

PORTS: Mapping[str, int] = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}
"""The schemes of mail servers, and the port of each."""
RELAY_SECONDS = 60
"""Seconds for which a mail server or the sendmail program may say nothing."""
FINAL_STATUSES = {65, 67, 68}
"""The exit statuses of sendmail for which no further try helps: bad data, no such user, no such host (sysexits.h)."""
UNKNOWN_RECIPIENTS = {67, 68}
"""The exit statuses of sendmail that are about the recipient."""
ENHANCED_CODE = re.compile(r"[45]\.([0-9]{1,3})\.[0-9]{1,3}\b")
"""What mail servers say first about a refusal (RFC 3463), such as ``5.1.1``; its second number is the subject."""
SUBJECTS_OF_RECIPIENT = {"1", "2"}
"""The subjects that are about the recipient: their address, or their mailbox."""
REFUSED_RECIPIENTS = {550, 551, 552, 553}
"""The codes of refusals without an enhanced code that are about the recipient."""
LASTING = 500
"""From this code on, a refusal of a mail server lasts."""
EXCEEDS_STORAGE = 552
"""What mail servers answer to a mail that is too large."""
CLOSING = 421
"""What they answer when they are about to close the connection."""
MOST_SAID = 300
"""How many characters of what a mail server said are kept."""
FORMS = (
    "maildir:FOLDER",
    "smtp://HOST:PORT",
    "smtps://USER@HOST:PORT",
    "smtp+starttls://USER@HOST:PORT",
    "sendmail:/PATH",
)
"""How transports are written."""


@dataclass(eq=False)
class Undelivered(Exception):
    """A mail that could not be sent."""

    why: str
    for_good: bool = False
    """Whether trying again is of no use."""
    for_all: bool = False
    """Whether no other mail could be sent now either."""
    by_recipient: bool = False
    """Whether it is the recipient's own mail server, or their mailbox, that does not take it."""


class Transport(ABC):
    """A way for mail to leave."""

    batch = 1
    """How many mails go out before it is noted that they have; more if a mail that is sent again does no harm.

    Into maildirs, a mail takes 1.25 ms of computing if each is noted by itself, and 1.05 in batches of 8 or of 100.
    Each mail of a batch waits until the pictures of all are drawn.
    """

    @abstractmethod
    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Send a message, as `compose` makes it. Its *name* is the same in each try. Raises Undelivered.

        When this returns, the message cannot be lost any more.
        """


@dataclass
class Maildirs(Transport):
    """A maildir for each recipient below a folder, for any mail program to read."""

    batch = 8
    folder: Path
    """The folder with the maildirs. It is made if it does not exist; the folder above it has to exist."""

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Write the message to a file, and show it to mail programs; a second time it is the same file."""
        maildir = self.folder / quote(recipient, safe="@+=!~")
        path = maildir / "tmp" / name
        try:
            if not path.parent.exists():
                self._make(maildir)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as file:
                os.fchmod(handle, 0o600)  # whatever the umask is, and also if there is a file already
                file.write(message)
                file.flush()
                os.fsync(handle)
            path.rename(maildir / "new" / name)
            path = maildir
            sync(maildir / "new")
        except OSError as error:
            raise Undelivered(f"{path}: {reason(error)}") from error

    def _make(self, maildir: Path) -> None:
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            place = self.folder if self.folder.exists() else self.folder.parent
            raise Undelivered(f"{place}: {reason(error)}") from error
        for part in ("", "new", "cur", "tmp"):  # the last one shows that all are there
            (maildir / part).mkdir(mode=0o700, exist_ok=True)


@dataclass
class Sendmail(Transport):
    """The sendmail program of the mail server on this machine."""

    program: str
    """The path of the program."""

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Pipe the message to the program."""
        words = [self.program, "-i", "-f", sender, "--", recipient]
        try:
            done = subprocess.run(words, input=message, capture_output=True, timeout=RELAY_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise Undelivered(f"{self.program} did not end within {RELAY_SECONDS} seconds", for_all=True) from error
        except OSError as error:
            raise Undelivered(f"{self.program}: {reason(error)}", for_all=True) from error
        if status := done.returncode:
            raise Undelivered(
                f"{self.program} ended with status {status}",
                for_good=status in FINAL_STATUSES,
                by_recipient=status in UNKNOWN_RECIPIENTS,
            )


@dataclass
class Smtp(Transport):
    """A mail server; over TLS if the scheme says so."""

    scheme: str
    host: str
    port: int
    user: str = ""
    """Who logs in; empty if nobody does."""
    credentials: str | Tokens = ""
    """The password of the user, or the access tokens of their mailbox."""

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Send the message over a connection of its own."""
        try:
            with closing(self._connect()) as connection:  # its own context fails if QUIT does, after the mail
                if self.scheme == "smtp+starttls":
                    connection.starttls(context=ssl.create_default_context())
                if isinstance(self.credentials, Tokens):
                    self.credentials.use(partial(self._show_token, connection))
                elif self.user:
                    connection.login(self.user, self.credentials)
                connection.sendmail(sender, [recipient], message.replace(b"\n", b"\r\n"))
                with suppress(smtplib.SMTPException):  # the server has the mail, and may have hung up
                    connection.putcmd("quit")
        except (OSError, smtplib.SMTPException) as error:
            raise smtp_problem(error, recipient) from error

    def _show_token(self, connection: smtplib.SMTP, token: str) -> None:
        """Log in with an access token. Raises TokenRefused."""
        connection.ehlo_or_helo_if_needed()
        offered = connection.esmtp_features.get("auth", "").split()
        mechanism, answers = exchange(offered, self.user, self.host, self.port, token)
        rest = iter(answers)
        try:
            connection.auth(mechanism, lambda _=None: next(rest, ""))
        except smtplib.SMTPAuthenticationError as why:
            if why.smtp_code < LASTING:
                raise
            raise TokenRefused(smtp_problem(why, "").why) from None
        except ValueError as why:  # what the server asks is no base64
            raise LoginProblem(f"{self.host} cannot be understood: {why}") from None

    def _connect(self) -> smtplib.SMTP:
        if self.scheme == "smtps":
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=RELAY_SECONDS, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=RELAY_SECONDS)


@dataclass
class Signed(Transport):
    """Another transport, by which mails leave with a signature. While there is no usable key, all mails wait."""

    way: Transport
    signer: Signer

    def __post_init__(self) -> None:
        """Copy `batch` from the other transport."""
        self.batch = self.way.batch

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Sign the message and send it. Nothing may change it afterwards."""
        try:
            signed = self.signer.signed(message)
        except Refused as why:
            raise Undelivered(str(why), for_all=True) from why
        self.way.send(signed, sender, recipient, name)


def smtp_problem(error: Exception, recipient: str) -> Undelivered:
    """What an error means: for this mail alone where the server refuses the mail or its recipient, else for all."""
    text: bytes | str
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, text = error.recipients[recipient]
    elif isinstance(error, smtplib.SMTPResponseException):
        code = error.smtp_code
        text = error.smtp_error
    else:
        return Undelivered(one_line(str(error))[:MOST_SAID], for_all=True)
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    refuses_recipient = isinstance(error, smtplib.SMTPRecipientsRefused)
    refuses_mail = isinstance(error, smtplib.SMTPDataError)
    is_about_mail = code == EXCEEDS_STORAGE or ((refuses_recipient or refuses_mail) and code != CLOSING)
    return Undelivered(
        one_line(f"{code} {said}")[:MOST_SAID],
        for_good=is_about_mail and code >= LASTING,
        for_all=not is_about_mail,
        by_recipient=refuses_recipient and _is_about_recipient(code, said),
    )


def _is_about_recipient(code: int, said: str) -> bool:
    """Whether a mail server refuses a recipient because of their address or mailbox, and not by a rule of its own."""
    if enhanced := ENHANCED_CODE.match(said):
        return enhanced[1] in SUBJECTS_OF_RECIPIENT
    return code in REFUSED_RECIPIENTS


def transport(setting: str, credentials: str | Tokens = "") -> Transport:
    """The transport that a setting names, with the credentials of its user.

    Raises Refused if it names none. The text of the error does not repeat the setting, which may hold a password in the
    wrong place.
    """
    kind, _, rest = setting.partition(":")
    if kind == "maildir" and rest:
        return Maildirs(Path(rest))
    if kind == "sendmail" and rest:
        return Sendmail(rest)
    if kind in PORTS:
        return _smtp(kind, setting, credentials)
    raise Refused(f"PBM_TRANSPORT is not {enumerated(FORMS, 'or')}.")


def _smtp(kind: str, setting: str, credentials: str | Tokens) -> Smtp:
    """The mail server that a setting of that *kind* names, one of PORTS. Raises Refused."""
    why = f"PBM_TRANSPORT is not {kind}://HOST:PORT."
    try:
        url = urlsplit(setting)
        host = url.hostname
        port = url.port or PORTS[kind]
    except ValueError as error:
        raise Refused(why) from error
    if not (host and is_host(host)) or url.path.strip("/"):
        raise Refused(why)
    if url.password is not None:
        raise Refused("PBM_TRANSPORT names a user with a password; that belongs in PBM_TRANSPORT_PASSWORD.")
    if not url.username:
        return Smtp(kind, host, port)
    if kind == "smtp":
        raise Refused("A password is sent over TLS only: PBM_TRANSPORT has to begin with smtps or smtp+starttls.")
    if not credentials:
        raise Refused("PBM_TRANSPORT names a user, so their password has to be in PBM_TRANSPORT_PASSWORD.")
    return Smtp(kind, host, port, unquote(url.username), credentials)
