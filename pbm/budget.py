"""How much computing one command may cause, so that no mail holds up everybody else."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 5.0
"""What any command may compute; a move takes a thousandth of a second."""
RUNG = {signal.ITIMER_VIRTUAL: signal.SIGVTALRM, signal.ITIMER_REAL: signal.SIGALRM}
"""The signal that each timer sends."""


class Budget:
    """The time that a command has for things that it does again and again."""

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = time.process_time) -> None:
        """Begin with so many seconds of computing."""
        self.clock = clock
        self.until = clock() + seconds

    @property
    def is_spent(self) -> bool:
        """Whether it is time to leave the rest undone, and to say so."""
        return self.clock() > self.until


@contextmanager
def limited(seconds: float, timer: int = signal.ITIMER_VIRTUAL) -> Iterator[None]:
    """Raise TimeoutError out of what is done inside when that has computed for so long; in the main thread only.

    With the *timer* ITIMER_REAL all time counts, whoever computes meanwhile.
    """

    def stop(*_: object) -> None:
        raise TimeoutError(f"it took more than {seconds:g} seconds")

    sent = RUNG[timer]
    usual = signal.signal(sent, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(sent, usual)
