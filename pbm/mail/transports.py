"""The ways in which mail leaves: into maildirs, through the sendmail program, or to a mail server."""

import os
import smtplib
import ssl
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote, urlsplit

from pbm.disk import sync
from pbm.words import clean

PORTS: Mapping[str, int] = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}
"""The schemes of mail servers, and the port of each."""
PATIENCE = 60
"""Seconds for which a mail server or the sendmail program may say nothing."""
FINAL_STATUSES = {65, 67, 68}
"""With what sendmail ends when no further try will help: bad data, no such user, no such host (sysexits.h)."""
TOO_LARGE, CLOSING = 552, 421
"""What mail servers answer to a mail that is too large, and when they are about to close the connection."""


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


class Undelivered(Exception):
    """A mail that could not be sent."""

    def __init__(self, why: str, *, for_good: bool = False, for_all: bool = False) -> None:
        """Say why, whether trying again is of no use, and whether no other mail could be sent now either."""
        super().__init__(why)
        self.for_good = for_good
        self.for_all = for_all


class Transport(ABC):
    """A way for mail to leave."""

    batch = 1
    """How many mails go out before it is noted that they have; more if a mail that is sent again does no harm."""

    @abstractmethod
    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Hand over a message, whose *name* is always the same. Raises Undelivered."""

    def __enter__(self) -> Self:
        """Use the transport for several mails."""
        return self

    @abstractmethod
    def close(self) -> None:
        """Let go of what was held from mail to mail."""

    def __exit__(self, *_: object) -> None:
        """Close the transport."""
        self.close()


class Maildirs(Transport):
    """A maildir for each recipient below a folder, for any mail program to read."""

    batch = 100

    def __init__(self, folder: Path, *, make: bool = False) -> None:
        """Write below *folder*, which has to be there or is *made*."""
        self.folder = folder
        self.make = make

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Write the message to a file; a second time it is the same file."""
        maildir = self.folder / quote(recipient, safe="@+=!~")
        written = maildir / "tmp" / name
        try:
            if not written.parent.exists():
                self._make(maildir)
            with written.open("wb") as file:
                file.write(message.replace(b"\r\n", b"\n"))
                file.flush()
                os.fsync(file.fileno())
            written.rename(maildir / "new" / name)
            sync(maildir / "new")
        except OSError as error:
            raise Undelivered(f"{written}: {error.strerror}") from error

    def _make(self, maildir: Path) -> None:
        if self.make:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        for part in ("", "new", "cur", "tmp"):  # the last one shows that all are there
            (maildir / part).mkdir(mode=0o700, exist_ok=True)

    def close(self) -> None:
        """Nothing is held."""


class Sendmail(Transport):
    """The sendmail program of the mail server on this machine."""

    def __init__(self, program: str) -> None:
        """Use the program of that path."""
        self.program = program

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Pipe the message to the program."""
        words = [self.program, "-i", "-f", sender, "--", recipient]
        text = message.replace(b"\r\n", b"\n")
        try:
            done = subprocess.run(words, input=text, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise Undelivered(f"{self.program} did not end within {PATIENCE} seconds", for_all=True) from error
        except OSError as error:
            raise Undelivered(f"{self.program}: {error.strerror}", for_all=True) from error
        if status := done.returncode:
            raise Undelivered(f"{self.program} ended with status {status}", for_good=status in FINAL_STATUSES)

    def close(self) -> None:
        """Nothing is held."""


class Smtp(Transport):
    """A mail server, over one connection for a batch of mails."""

    def __init__(self, scheme: str, host: str, port: int, user: str = "", password: str = "") -> None:
        """Use the server at that address, over TLS if the scheme says so, and log in if there is a user."""
        self.scheme, self.host, self.port = scheme, host, port
        self.user, self.password = user, password
        self.connection: smtplib.SMTP | None = None

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Send the message, over a new connection if the server has ended the one of the mail before."""
        was_used = self.connection is not None
        try:
            self._hand_over(message, sender, recipient)
        except Undelivered:
            if self.connection or not was_used:
                raise
            self._hand_over(message, sender, recipient)

    def _hand_over(self, message: bytes, sender: str, recipient: str) -> None:
        try:
            self.connection = self.connection or self._connect()
            self.connection.sendmail(sender, [recipient], message)
        except (OSError, smtplib.SMTPException) as error:
            problem = _problem(error, recipient)
            if problem.for_all:
                self.close()
            raise problem from error

    def _connect(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.scheme == "smtps":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=PATIENCE, context=context)
        else:
            connection = smtplib.SMTP(self.host, self.port, timeout=PATIENCE)
        try:
            if self.scheme == "smtp+starttls":
                connection.starttls(context=context)
            if self.user:
                connection.login(self.user, self.password)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the connection."""
        if self.connection:
            self.connection.close()
            self.connection = None


def _problem(error: Exception, recipient: str) -> Undelivered:
    """What an error means: for this mail alone where the server refuses the mail or its recipient, else for all."""
    text: bytes | str
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, text = error.recipients[recipient]
    elif isinstance(error, smtplib.SMTPResponseException):
        code, text = error.smtp_code, error.smtp_error
    else:
        return Undelivered(_line(str(error)), for_all=True)
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    refused = isinstance(error, smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError) and code != CLOSING
    about_mail = refused or code == TOO_LARGE
    return Undelivered(_line(f"{code} {said}"), for_good=about_mail and code >= 500, for_all=not about_mail)


def _line(said: str) -> str:
    """What a server or the system said, as one short line of readable text."""
    return " ".join(clean(said).split())[:MOST_SAID]


def transport(setting: str, password: str = "") -> Transport:
    """The transport that a setting names, with the password for its user. Raises ValueError if it names none.

    The text of the error does not repeat the setting, which may hold a password in the wrong place.
    """
    kind, _, rest = setting.partition(":")
    if kind == "maildir" and rest:
        return Maildirs(Path(rest))
    if kind == "sendmail" and rest:
        return Sendmail(rest)
    if kind in PORTS:
        return _smtp(setting, password)
    raise ValueError(f"PBM_TRANSPORT is not {', '.join(FORMS[:-1])} or {FORMS[-1]}.")


def _smtp(setting: str, password: str) -> Smtp:
    url = urlsplit(setting)
    try:
        host, port = url.hostname, url.port or PORTS[url.scheme]
    except ValueError:
        host = port = None
    if not host or port is None or url.path.strip("/"):
        raise ValueError(f"PBM_TRANSPORT is not {url.scheme}://HOST:PORT.")
    if url.password is not None:
        raise ValueError("PBM_TRANSPORT names a user without his password; that belongs in PBM_TRANSPORT_PASSWORD.")
    if not url.username:
        return Smtp(url.scheme, host, port)
    if url.scheme == "smtp":
        raise ValueError("A password is sent over TLS only: PBM_TRANSPORT has to begin with smtps or smtp+starttls.")
    if not password:
        raise ValueError("PBM_TRANSPORT names a user, so his password has to be in PBM_TRANSPORT_PASSWORD.")
    return Smtp(url.scheme, host, port, unquote(url.username), password)
