"""How much computing one command may cause, so that no mail holds up everybody else."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 5.0
"""What any command may compute; a move takes a thousandth of a second."""


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
def limited(seconds: float, *, all_counts: bool = False) -> Iterator[None]:
    """Raise TimeoutError out of what is done inside when that has computed for so long; in the main thread only.

    If *all counts*, it is all time that passes, whoever computes meanwhile.
    """
    import signal  # not for every command

    timer, sent = signal.ITIMER_VIRTUAL, signal.SIGVTALRM
    if all_counts:
        timer, sent = signal.ITIMER_REAL, signal.SIGALRM

    def stop(*_: object) -> None:
        raise TimeoutError(f"it took more than {seconds:g} seconds")

    usual = signal.signal(sent, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(sent, usual)
