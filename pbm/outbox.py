"""The outbox: mails that were written in a transaction go out here, one by one, until they have arrived."""

import fcntl
import os
import smtplib
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

from pbm.mail import compose
from pbm.session import Server
from pbm.store import Mail

FIRST_DELAY = timedelta(minutes=5)
"""How long a mail waits for its second try; the wait doubles with each try."""
LONGEST_DELAY = timedelta(hours=6)
GIVEN_UP_AFTER = timedelta(days=5)
"""How old a mail is when it is given up; it stays in the outbox for the operator to see."""


class Undelivered(Exception):
    """A mail that could not be sent."""

    def __init__(self, why: str, *, for_good: bool = False) -> None:
        """Say why, and whether trying again is of no use."""
        super().__init__(why)
        self.for_good = for_good


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
            _sync_folder(maildir / "new")
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
            done = subprocess.run(words, input=text, capture_output=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Undelivered(str(error)) from error
        if done.returncode:
            raise Undelivered(f"{self.program} ended with status {done.returncode}")

    def close(self) -> None:
        """Nothing is held."""


class Smtp(Transport):
    """A mail server, over one connection for a batch of mails."""

    def __init__(self, host: str, port: int) -> None:
        """Use the server at that address."""
        self.host, self.port = host, port
        self.connection: smtplib.SMTP | None = None

    def send(self, message: bytes, sender: str, recipient: str, name: str) -> None:
        """Send the message; a refusal that the server calls permanent is final."""
        try:
            self.connection = self.connection or smtplib.SMTP(self.host, self.port, timeout=60)
            self.connection.sendmail(sender, [recipient], message)
        except smtplib.SMTPRecipientsRefused as error:
            code, text = error.recipients[recipient]
            raise Undelivered(f"{code} {text.decode(errors='replace')}", for_good=code >= 500) from error
        except smtplib.SMTPResponseException as error:
            raise Undelivered(str(error), for_good=error.smtp_code >= 500) from error
        except (OSError, smtplib.SMTPException) as error:
            self.connection = None
            raise Undelivered(str(error)) from error

    def close(self) -> None:
        """Close the connection."""
        if self.connection:
            self.connection.close()
            self.connection = None


def transport(setting: str) -> Transport:
    """The transport that a setting names. Raises ValueError if it names none."""
    kind, _, rest = setting.partition(":")
    if kind == "maildir" and rest:
        return Maildirs(Path(rest))
    if kind == "sendmail" and rest:
        return Sendmail(rest)
    if kind == "smtp":
        url = urlsplit(setting)  # its port raises ValueError as well
        if url.hostname:
            return Smtp(url.hostname, url.port or 25)
    raise ValueError(f"PBM_TRANSPORT={setting} is not maildir:FOLDER, smtp://HOST:PORT or sendmail:/PATH.")


def _at_once(work: Callable[[], Any]) -> Any:
    return work()


def flush(
    server: Server,
    way: Transport,
    in_turn: Callable[[Callable[[], Any]], Any] = _at_once,
    until: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Send all mails that are due, or go on *until* told to end. Returns how many were sent and how many could not be.

    Only one process sends at a time; what needs the database is done *in_turn* with others that use it. A process that
    is killed between sending mails and noting it sends them again.
    """
    sent = failed = 0
    with _only_one(server.store.path), way:
        while not until() and (mails := in_turn(lambda: server.store.due_mails(server.now(), way.batch))):
            tried = [(mail, _problem(server, way, mail)) for mail in mails]
            in_turn(partial(_note, server, tried))
            failed += sum(problem is not None for _, problem in tried)
            sent += sum(problem is None for _, problem in tried)
    return sent, failed


def _problem(server: Server, way: Transport, mail: Mail) -> Undelivered | None:
    """Send a mail; None, or why it could not be sent."""
    name = f"{int(mail.queued.timestamp())}.{sha256(mail.message_id.encode()).hexdigest()[:24]}.pbm"
    try:
        way.send(compose(mail, server.address), server.address, mail.address or "", name)
    except Undelivered as problem:
        return problem
    except ValueError as error:
        return Undelivered(str(error), for_good=True)
    return None


def _note(server: Server, tried: Iterable[tuple[Mail, Undelivered | None]]) -> None:
    """Forget the mails that were sent, and put off or give up the others."""
    with server.store.transaction():
        for mail, problem in tried:
            if problem is None:
                server.store.remove_mail(mail)
                continue
            due = server.now() + min(FIRST_DELAY * 2 ** min(mail.tries, 10), LONGEST_DELAY)
            is_hopeless = problem.for_good or due > mail.queued + GIVEN_UP_AFTER
            server.store.postpone_mail(mail, None if is_hopeless else due, str(problem))


@contextmanager
def _only_one(database: Path) -> Iterator[None]:
    """Wait until no other process sends mails of this database. The lock goes with the process that holds it."""
    with database.with_name(f"{database.name}.sending").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sync_folder(folder: Path) -> None:
    """Make sure that a new name in a folder is on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
