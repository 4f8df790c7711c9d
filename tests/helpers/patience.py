"""Waiting for what other processes and threads do, however slow and busy the machine is.

``until(lambda: list(folder.glob("*")))`` returns the files of a folder once there is one.
"""

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds after which what is waited for is taken not to come: many, because only a test that fails waits as long."""


def until(condition: Callable[[], Any]) -> Any:
    """Wait until something is so, and return it. Raises AssertionError if it is not so for too long."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def children_of(process: int) -> list[int]:
    """The processes that a process has started, in any of its threads."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return sorted(int(number) for numbers in lists for number in numbers.read_text().split())


def until_it_waits(process: subprocess.Popen[Any], database: Path) -> None:
    """Wait until a process has begun to read a database, and waits for something itself."""
    until(lambda: _has_read(process, database) and all(_sleeps(process) for _ in range(3)))


def _has_read(process: subprocess.Popen[Any], database: Path) -> bool:
    with suppress(FileNotFoundError):  # closed meanwhile
        return any(file.readlink().name == f"{database.name}-shm" for file in Path(f"/proc/{process.pid}/fd").iterdir())
    return False


def _sleeps(process: subprocess.Popen[Any]) -> bool:
    time.sleep(0.05)
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].startswith("S")
