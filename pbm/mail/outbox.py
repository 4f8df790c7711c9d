"""The outbox: mails that were written in a transaction go out here, one by one, until they have arrived."""

import fcntl
import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pbm import letters, tokens
from pbm.mail.transports import Transport, Undelivered
from pbm.mail.writing import compose
from pbm.server import Server
from pbm.store import Mail

FIRST_DELAY = timedelta(minutes=5)
"""How long a mail waits for its second try; the wait doubles with each try."""
LONGEST_DELAY = timedelta(hours=6)
GIVEN_UP_AFTER = timedelta(days=5)
"""How old a mail is when it is given up; it stays in the outbox for the operator to see."""
SENDER = (sys.executable, "-P", "-m", "pbm", "outbox", "keep-sending")
"""A process that sends; it is told through a pipe that there may be mails, and ends with the pipe."""
LOOK_AGAIN = 1.0
"""Seconds after which the outbox is looked at for mails that other processes have put there."""


class Sent(NamedTuple):
    """How many mails were sent, and how many could not be."""

    sent: int
    failed: int
    problem: str | None
    """Why the last of these could not be."""

    def told(self, server: Server) -> tuple[str, dict[str, Any]]:
        """What is said of it to people and to programs; mails that wait since an earlier time are not forgotten."""
        waiting, due = server.store.waiting_mails(server.now())
        reason = f": {self.problem.rstrip('.')}" if self.problem else ""
        parts = [f"{self.sent} sent, {self.failed} not sent{reason}."]
        if due:
            verb = "waits" if waiting == 1 else "wait"
            parts.append(
                f"{letters.counted(waiting, 'mail')} {verb} for another try, not before {due:{letters.MINUTES}}."
            )
        if self.failed or due:
            parts.append("`pbm outbox list` tells more.")
        data = {**self._asdict(), "waiting": waiting, "next_try": due.isoformat() if due else None}
        return " ".join(parts), data


def flush(server: Server, way: Transport, until: Callable[[], bool] = lambda: False) -> Sent:
    """Send all mails that are due, or go on *until* told to end.

    Only one process sends at a time. One that is killed between sending mails and noting it sends them again.
    """
    sent = failed = 0
    last = None
    with _only_one(server.store.path), way:
        while not until() and (mails := server.store.due_mails(server.now(), way.batch)):
            tried = [(mail, _problem(server, way, mail)) for mail in mails]
            problems = [problem for _, problem in tried if problem]
            sent += len(tried) - len(problems)
            failed += len(problems) + _note(server, tried)
            last = str(problems[-1]) if problems else last
    return Sent(sent, failed, last)


def keep_sending(server: Server, way: Transport, pipe: int) -> None:
    """Send what is due, and look again after each second and each byte that comes through the *pipe*, until it ends."""

    def ended(patience: float = 0) -> bool:
        ready, _, _ = select.select([pipe], [], [], patience)
        return bool(ready) and not os.read(pipe, 65536)

    while True:
        try:
            flush(server, way, ended)
        except Exception as error:  # a sender that ended would leave all mails lying
            sys.stderr.write(f"Mails could not be sent: {type(error).__name__}: {error}\n")
        if ended(LOOK_AGAIN):
            return


def _problem(server: Server, way: Transport, mail: Mail) -> Undelivered | None:
    """Send a mail; None, or why it could not be sent."""
    name = f"{int(mail.queued.timestamp())}.{sha256(mail.message_id.encode()).hexdigest()[:24]}.pbm"
    try:
        way.send(compose(mail, server.address), tokens.return_path(server, mail), mail.address or "", name)
    except Undelivered as problem:
        return problem
    except ValueError as error:
        return Undelivered(str(error), for_good=True)
    return None


def _note(server: Server, tried: Iterable[tuple[Mail, Undelivered | None]]) -> int:
    """Forget the mails that were sent, and put off or give up the others.

    Where one says that no other could be sent either, these are put off without a try; returns how many.
    """
    untried = 0
    with server.store.transaction():
        for mail, problem in tried:
            if problem is None:
                server.store.remove_mail(mail)
                continue
            due = server.now() + min(FIRST_DELAY * 2 ** min(mail.tries, 10), LONGEST_DELAY)
            is_hopeless = problem.for_good or due > mail.queued + GIVEN_UP_AFTER
            server.store.postpone_mail(mail, None if is_hopeless else due, str(problem))
            if problem.for_all:
                untried = server.store.postpone_due(server.now(), server.now() + FIRST_DELAY, str(problem))
    return untried


@contextmanager
def _only_one(database: Path) -> Iterator[None]:
    """Wait until no other process sends mails of this database. The lock goes with the process that holds it."""
    with database.with_name(f"{database.name}.sending").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
