"""Sending notices that transactions have stored, one by one.

A notice is noted as begun, sent, and deleted. If the process is killed in between, it goes out once more, with the same
number, and not a third time.
"""

import logging
import os
import resource
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from textwrap import fill
from typing import Any, NamedTuple

from pbm import delivery, letters, texts
from pbm.access import tokens
from pbm.actions.notices import masked_target
from pbm.budget import limited
from pbm.delivery.notices import WEBHOOK, schemes
from pbm.mail.sending import send_and_look_again
from pbm.notices import guard, posting
from pbm.notices.posting import Unposted
from pbm.server import Server
from pbm.session import Session
from pbm.store import Unusable
from pbm.store.notices import Notice, Target

MOST_MEMORY = 256 * 1024 * 1024
"""How many bytes the process that sends may use: Apprise reads whatever is answered."""
NOTICE_SECONDS = 10
"""How long it may take to send a notice, whatever the other machine does."""
FIRST_PAUSE_OF_TARGET = timedelta(minutes=1)
"""The pause before a target that has failed is tried again. It doubles with each try, up to the longest."""
LONGEST_PAUSE_OF_TARGET = timedelta(hours=1)
SUSPENDED_AFTER = timedelta(days=3)
"""How long a target may fail."""
NOTICES_LOCK_SECONDS = 60.0
PRIVATE_KINDS = frozenset({"https", "gotify", "gotifys"})
"""The kinds that reach the user alone: what else anybody can read who knows a topic, a room or a channel."""


class SentNotices(NamedTuple):
    """How many notices were sent, and how many tries have failed."""

    sent: int = 0
    failed: int = 0


class _Try(NamedTuple):
    """A notice that was tried."""

    notice: Notice
    target: Target
    problem: str
    """Why it could not be sent; empty if it was."""
    seconds: float


class _Job(NamedTuple):
    """A notice to send, with all that it says."""

    notice: Notice
    target: Target
    message: dict[str, Any]
    """What a webhook gets."""
    text: str
    """What a person gets."""


def prepare_process(inner: Sequence[guard.Network]) -> None:
    """Let this process, which does nothing but send notices, connect to public addresses alone, and log nothing.

    An answer that does not end is given up when MOST_MEMORY is full.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    logging.disable(logging.CRITICAL)  # libraries log URLs, which have secrets
    # a proxy would connect to any address, and the operator's passwords in .netrc are not for users
    os.environ.update(NO_PROXY="*", no_proxy="*", NETRC=os.devnull)
    guard.guard_this_process(inner)


def send_notices(server: Server, wait: Callable[[float], object] = time.sleep) -> SentNotices:
    """Send all notices that are due, unless *wait* says that the process is to end.

    Raises Unusable if nothing can be noted, and Locked if another process has been sending for a minute.
    """
    kinds = schemes(server)
    counts = SentNotices()
    if not server.store.notices.are_due(server.now(), kinds):  # to look locks nothing
        return counts
    with server.store.hold_lock("notifying", "sending notices", NOTICES_LOCK_SECONDS, partial(wait, 0)):
        tried: _Try | None = None
        while True:
            with server.store.writing():
                if tried:
                    _note(server, tried)
                job = None if wait(0) else _next_job(server)
            if job is None:
                return counts
            tried = _post(job)
            if tried.problem:
                counts = counts._replace(failed=counts.failed + 1)
            else:
                counts = counts._replace(sent=counts.sent + 1)


def keep_sending_notices(server: Server, wait_for_end: Callable[[float], bool]) -> None:
    """Send notices as they come, until *wait_for_end* returns True, see `send_and_look_again`. Raises Replaced."""
    send = partial(send_notices, server, wait_for_end)
    send_and_look_again(server, "Notices", send, wait_for_end, _reason_without_secrets)


def _reason_without_secrets(error: Exception) -> str:
    """Why notices could not be sent; the text of an error may have the address of a target."""
    return str(error) if isinstance(error, Unusable) else type(error).__name__


def _next_job(server: Server) -> _Job | None:
    """The next notice, which is noted as begun; None if none is due."""
    notice = server.store.notices.claim(server.now(), schemes(server))
    if notice is None:
        return None
    target = server.store.notices.target(notice.target)
    if target is None:
        return None
    message: dict[str, Any] = {"id": notice.id, "notice": notice.about, "text": notice.text}
    text = notice.text
    if notice.about == "code":
        message["code"] = notice.detail
    elif notice.detail:
        message["written"] = notice.detail
        text += f"\n\n{notice.detail}"
    row = None
    if notice.game and notice.board:
        row = server.store.boards.get(notice.game, notice.board)
    if row:
        message |= letters.state_of(row)
        if link := _link(server, target, *row.place, is_player=target.userid in row.players):
            message["link"] = link
            text += f"\n{link}"
    return _Job(notice, target, message, text)


def _link(server: Server, target: Target, game: str, board: str, *, is_player: bool) -> str:
    """The address of the page of a board; for a player, by a private way, with their reply address."""
    if not server.site:
        return ""
    page = f"{server.site}/{game}/{board}.html"
    if not (is_player and target.kind in PRIVATE_KINDS):
        return page
    return f"{page}#{tokens.token_of(tokens.reply_address(server, game, board, target.userid))}"


def _post(job: _Job) -> _Try:
    """Send a notice."""
    target = job.target
    problem = ""
    begin = time.monotonic()
    try:
        with limited(NOTICE_SECONDS, all_counts=True):
            if target.kind == WEBHOOK:
                posting.post_to_webhook(target.url, target.secret or "", job.notice.id, job.message)
            else:
                posting.post_by_apprise(target.url, job.text)
    except Unposted as why:
        problem = str(why)
    except TimeoutError:
        problem = f"it has not taken the notice in {NOTICE_SECONDS} seconds"
    return _Try(job.notice, target, problem, time.monotonic() - begin)


def _note(server: Server, tried: _Try) -> None:
    """Note what has become of a notice. A target that fails for too long is suspended, and its user gets a mail."""
    notices = server.store.notices
    now = server.now()
    if not tried.problem:
        notices.note_sent(tried.notice, tried.seconds)
        return
    target = tried.target
    since = target.failing_since or now
    pause = min(FIRST_PAUSE_OF_TARGET * 2 ** min(target.tries, 10), LONGEST_PAUSE_OF_TARGET)
    notices.note_failure(tried.notice, tried.seconds, tried.problem, since, now + pause)
    if now >= since + SUSPENDED_AFTER:
        notices.suspend(target.id)
        _tell_suspended(server, target, tried.problem, since)


def _tell_suspended(server: Server, target: Target, problem: str, since: datetime) -> None:
    """Mail a user that notices go no more to a target."""
    userid = target.userid
    text = (
        f"Your notices to {masked_target(target)} (number {target.id}) have failed since "
        f"{since:{texts.TIME_FORMAT}}; at the last try: {problem}. No more are sent there. To begin again, give "
        f"`notices {userid} PASSWORD drop {target.id}`, and add it anew."
    )
    letter = letters.to_user(userid, fill(text, texts.WIDTH), answer=f"notices {userid} PASSWORD list")
    delivery.queue(Session(server), letter)
