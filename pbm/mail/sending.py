"""Sending: mails that a transaction has put into the outbox go out here, one by one, until they have arrived."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import chain, repeat
from typing import Any, NamedTuple

from pbm import START_PBM, texts
from pbm.access import tokens
from pbm.mail.illustrations import Illustrator
from pbm.mail.transports import Transport, Undelivered
from pbm.mail.writing import compose
from pbm.server import Server
from pbm.store import Locked, Mail, Replaced, Unusable
from pbm.terminal import warn

FIRST_DELAY = timedelta(minutes=5)
"""How long a mail waits for its second try; the wait doubles with each try."""
LONGEST_DELAY = timedelta(hours=6)
GIVEN_UP_AFTER = timedelta(days=5)
"""How old a mail is when it is given up; it stays in the outbox, where the operator can see it."""
REFUSED_FOR = timedelta(days=7)
"""How long after its first refusal by the recipient's own mail server a reminder counts as having left."""
SENDER = START_PBM + ("outbox", "keep-sending")
"""A process that sends; it ends with the pipe on its standard input."""
LOOKING_SECONDS = 0.2
"""Seconds after which a sender looks again whether there is something to send."""
PAUSES = 1.0, 2.0, 4.0, 8.0, 16.0, 32.0
LONGEST_PAUSE = 60.0
"""Seconds between tries of what the database does not allow for now, and those with which `growing_pauses` goes on."""
MOST_WITH_PICTURES = 50
"""How many mails may be due when pictures are drawn; if there are more, they go out without, to go out soon."""
LOCK_SECONDS = 60.0
"""How many seconds a process waits until another one has sent its mails."""
Wait = Callable[[float], object]
"""Waits for so many seconds. Returns something true if the process is to end."""
Tried = tuple[Mail, Undelivered | None]
"""A mail, and why it could not be sent."""
Taken = tuple[list[Mail], int]
"""The mails that are sent next, and how many others were put off without a try."""


class Sent(NamedTuple):
    """How many mails were sent, and how many could not be."""

    sent: int
    failed: int
    problem: str | None
    """Why the last of these could not be."""

    def summary(self, server: Server) -> tuple[str, dict[str, Any]]:
        """How many mails were sent, and how many wait for another try: a text for people, and the same for programs."""
        waiting, due = server.store.outbox.waiting(server.now())
        counts = f"{self.sent} sent, {self.failed} not sent"
        if self.problem:
            counts += f": {self.problem.rstrip('.')}"
        parts = [f"{counts}."]
        if due:
            verb = "waits" if waiting == 1 else "wait"
            mails = f"{texts.counted(waiting, 'mail')} {verb}"
            parts.append(f"{mails} for another try, not before {due:{texts.TIME_FORMAT}}.")
        if self.failed or due:
            parts.append("`pbm outbox list` tells more.")
        data = {**self._asdict(), "waiting": waiting, "next_try": due.isoformat() if due else None}
        return " ".join(parts), data


def flush(server: Server, way: Transport, wait: Wait = time.sleep, pauses: Iterable[float] = PAUSES) -> Sent:
    """Send all mails that are due, unless *wait* says that the process is to end.

    Only one process sends at a time. It notes that it takes a mail up, sends it, and notes that it was sent. If the
    first note cannot be stored, nothing is sent. If the second cannot, the mail is not sent again: after each of the
    *pauses*, the note is tried again. A process that is killed in between leaves mails that are sent a second time.

    Raises Unusable if nothing can be noted, and Locked if another process has been sending for LOCK_SECONDS seconds.
    """
    sent = 0
    failed = 0
    last = None
    tried: list[Tried] = []
    illustrator = Illustrator(server)
    with server.store.hold_lock("sending", "sending mails", LOCK_SECONDS, partial(wait, 0)):
        is_enough = not server.store.outbox.are_due(server.now(), 0)  # to look locks nothing
        while tried or not is_enough:
            most = way.batch
            if is_enough:
                most = 0  # the last step only notes what was tried
            step = partial(_note_and_take, server, tried, most, wait)
            mails, untried = _retry(step, wait, pauses if tried else ())
            is_busy = server.store.outbox.are_due(server.now(), MOST_WITH_PICTURES)
            draws = None if is_busy else illustrator
            tried = []
            for mail in mails:
                tried.append((mail, _send(server, way, mail, draws)))
                if wait(0):
                    break
            is_enough = len(mails) < way.batch  # those that have come since go out together, soon
            problems = [problem for _, problem in tried if problem]
            sent += len(tried) - len(problems)
            failed += len(problems) + untried
            if problems:
                last = str(problems[-1])
    return Sent(sent, failed, last)


def _note_and_take(server: Server, tried: Iterable[Tried], most: int, wait: Wait) -> Taken:
    """Note what was *tried*, and take up to *most* mails, or none if told to end, in one transaction."""
    with server.store.writing():
        untried = note(server, tried)
        if wait(0):
            most = 0
        return server.store.outbox.claim(server.now(), most), untried


def keep_sending(server: Server, way: Transport, wait_for_end: Callable[[float], bool]) -> None:
    """Send mails as they come, until *wait_for_end* returns True, see `send_and_look_again`. Raises Replaced."""

    def send() -> None:
        flush(server, way, wait_for_end, growing_pauses())

    send_and_look_again(server, "Mails", send, wait_for_end, _reason_for_log)


def _reason_for_log(error: Exception) -> str:
    if isinstance(error, Unusable):
        return str(error)
    return f"{type(error).__name__}: {error}"


def send_and_look_again(
    server: Server,
    what: str,
    send: Callable[[], object],
    wait_for_end: Callable[[float], bool],
    reason_of: Callable[[Exception], str],
) -> None:
    """Call *send*, and again after LOOKING_SECONDS, until *wait_for_end* returns True, which waits for so many seconds.

    While it fails, the pauses grow, and a line on standard error says of *what*, such as ``Mails``, and why. Raises
    Replaced if the database has become another file, for then what was sent could not be noted.
    """
    pauses = growing_pauses()
    is_over = False
    while not is_over:
        try:
            server.store.check_in_place()
            send()
        except Replaced:
            raise
        except Exception as error:  # a sender that ended would leave all mails lying
            if isinstance(error, Locked) and wait_for_end(0):  # while another one was sending
                return
            pause = next(pauses)
            warn(f"{what} could not be sent: {reason_of(error)} The next try is in {pause:.0f} s.")
            is_over = wait_for_end(pause)
        else:
            pauses = growing_pauses()
            is_over = wait_for_end(LOOKING_SECONDS)


def growing_pauses() -> Iterator[float]:
    """The pauses between tries of a process that never gives up: PAUSES, and then the longest again and again."""
    return chain(PAUSES, repeat(LONGEST_PAUSE))


def _retry(step: Callable[[], Taken], wait: Wait, pauses: Iterable[float]) -> Taken:
    """Take a step, and again after each pause if the database cannot be used; once more at once if told to end."""
    for pause in pauses:
        try:
            return step()
        except Replaced:
            raise
        except Unusable as why:
            warn(f"What was sent cannot be noted: {why} The next try is in {pause:.0f} s.")
            if wait(pause):
                break
    return step()


def _send(server: Server, way: Transport, mail: Mail, illustrator: Illustrator | None) -> Undelivered | None:
    """Compose a mail, with a picture if there is an illustrator, and send it. Returns why it could not be sent.

    If its picture cannot be drawn, the mail goes out without, and a line on standard error says so.
    """
    mail = tokens.with_own_address(server, mail)
    illustration = None
    try:
        illustration = illustrator.of(mail) if illustrator else None
    except Exception as error:
        warn(f"No picture could be drawn for mail {mail.id}: {type(error).__name__}: {error}")
    mark = sha256(mail.message_id.encode()).hexdigest()[:24]
    name = f"{int(mail.queued.timestamp())}.{mail.id or 0:010}.{mark}.pbm"  # in a folder they stand as they were queued
    try:
        message = compose(mail, server.address, illustration, server.web)
        way.send(message, tokens.return_path(server, mail), mail.address or "", name)
    except Undelivered as problem:
        return problem
    except ValueError as error:
        return Undelivered(str(error), for_good=True)
    except Exception as error:  # only this mail failed, and it still has to be noted which others went out
        return Undelivered(f"{type(error).__name__}: {error}")
    return None


def note(server: Server, tried: Iterable[Tried]) -> int:
    """Drop the mails that were sent, and put off or give up the others.

    If a problem holds for all mails, the others that are due are put off without a try. Returns how many these are.
    """
    untried = 0
    now = server.now()
    sent = [mail for mail, problem in tried if problem is None]
    if sent:
        server.store.events.forget_maintenance("unsendable")
    for mail in server.store.outbox.drop(sent):
        _give_notice(server, mail, now)
    for mail, problem in tried:
        if problem is None:
            continue
        due = now + min(FIRST_DELAY * 2 ** min(mail.tries, 10), LONGEST_DELAY)
        is_hopeless = problem.for_good or due > mail.queued + GIVEN_UP_AFTER
        if mail.reminds:
            # the player is not to blame for what others cannot send: it waits for as long as its board does
            is_hopeless = problem.for_good and problem.by_recipient
            if problem.by_recipient and server.store.outbox.get(mail.id or 0):  # else a move has been made meanwhile
                _give_notice(server, mail, now + REFUSED_FOR)
        server.store.outbox.postpone(mail, None if is_hopeless else due, str(problem))
        if problem.for_all:
            server.store.events.note_maintenance("unsendable", now)
            untried = server.store.outbox.postpone_due(now, now + FIRST_DELAY, str(problem))
    return untried


def _give_notice(server: Server, mail: Mail, since: datetime) -> None:
    """If a mail is a reminder, note on its board since when its reader has notice."""
    if mail.reminds and mail.userid:
        game, board = mail.reminds.split()
        server.store.boards.give_notice(game, board, mail.userid, since)
