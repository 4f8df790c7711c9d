"""What something costs, so that it can be compared whatever else the machine and this process do.

``cost(action) < 0.1`` is about seconds of computing, ``steps(action) < 1000`` about what SQLite does.
"""

import gc
import sqlite3
import time
from collections.abc import Callable
from unittest.mock import patch


def cost(action: Callable[[], object], times: int = 3) -> float:
    """Return the seconds of CPU time that an action takes: the least of several times, without garbage of others."""
    taken = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            begin = time.process_time()
            action()
            taken.append(time.process_time() - begin)
    finally:
        gc.enable()
    return min(taken)


def steps(action: Callable[[], object]) -> int:
    """How many steps SQLite's machine takes for what an action asks of databases that it opens.

    A row that is looked at takes some of them, however fast the machine is and whatever else it does.
    """
    taken, connect = 0, sqlite3.connect

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    def connected(*args: object, **kwargs: object) -> sqlite3.Connection:
        db = connect(*args, **kwargs)
        db.set_progress_handler(count, 1)
        return db

    with patch.object(sqlite3, "connect", connected):
        action()
    return taken


def computing(seconds):
    """Compute for so many seconds of this thread's CPU time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
