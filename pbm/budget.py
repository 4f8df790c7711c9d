"""How long one command, or one mail, may compute, so that no mail holds up everybody else."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import current_thread, main_thread
from types import FrameType

COMMAND_SECONDS_IN_SHELL = 5.0
COMMAND_SECONDS_BY_MAIL = 0.45
"""How many seconds a command may compute before it leaves the rest undone; a move takes a thousandth of a second.

The last line of `multiple` may take as long again, and still has to end within SECONDS_OF_MAIL.
"""
SECONDS_OF_MAIL = 1.0
"""How many seconds it may take to read a mail and prepare its command, and again to carry the command out."""
NEVER_STOPPED = ("contextlib", "pbm.budget", "pbm.store")
"""Modules with names that begin like this are not stopped: they must always finish what they begin."""
RETRY_SECONDS = 0.01
"""Seconds until `limited` tries again to stop code that was in one of `NEVER_STOPPED`."""


class Budget:
    """The time that a command has for what it does repeatedly, for example once for each board."""

    def __init__(self, *, is_trusted: bool) -> None:
        """Begin to compute for a shell, which holds up nobody else; or for a sender who is not trusted to do that."""
        seconds = COMMAND_SECONDS_IN_SHELL if is_trusted else COMMAND_SECONDS_BY_MAIL
        self.until = time.process_time() + seconds

    @property
    def is_spent(self) -> bool:
        """Whether the command has to leave the rest undone, and to say so."""
        return time.process_time() > self.until


class _Stopped(BaseException):
    """Raised where something has computed for too long; no handler of other errors may catch it."""


_granted = ContextVar("granted", default=0.0)
"""How many seconds were computed in `uncounted`; infinite inside it."""


@contextmanager
def uncounted() -> Iterator[None]:
    """Do not count in `limited` what is computed inside: it must be done at any cost, such as the pairs of a round."""
    before = _granted.get()
    begin = time.thread_time()
    _granted.set(float("inf"))
    try:
        yield
    finally:
        _granted.set(before + time.thread_time() - begin)


@contextmanager
def limited(seconds: float, *, all_counts: bool = False) -> Iterator[None]:
    """Stop what is done inside after so many seconds of computing. Raises TimeoutError then.

    Only the main thread can be stopped: in another one there is no limit. Limits do not stand within each other.

    With *all_counts*, all time that passes counts, not only what this thread computes. Python code and searches for
    regular expressions are stopped at once; one long operation of another library is stopped only when it ends.
    """
    if current_thread() is not main_thread():
        yield
        return
    if all_counts:
        timer = signal.ITIMER_REAL
        sent = signal.SIGALRM
        clock = time.monotonic
    else:
        timer = signal.ITIMER_PROF
        sent = signal.SIGPROF
        clock = time.thread_time
    is_running = True
    until = clock() + seconds - _granted.get()

    def stop(_: int, frame: FrameType | None) -> None:
        if not is_running:
            return
        left = until + _granted.get() - clock()  # other threads compute, too, and the timer counts all of them
        module = str(frame.f_globals.get("__name__")) if frame else ""
        if left > 0 or module.startswith(NEVER_STOPPED):
            signal.setitimer(timer, min(max(left, RETRY_SECONDS), seconds))
            return
        signal.setitimer(timer, seconds)  # in case something catches even _Stopped
        raise _Stopped

    signal.signal(sent, stop)  # it stays: without it, a signal that comes late would end the process
    signal.setitimer(timer, seconds)
    try:
        yield
    except _Stopped:
        raise TimeoutError(f"it took more than {seconds:g} seconds") from None
    finally:
        is_running = False
        signal.setitimer(timer, 0)
