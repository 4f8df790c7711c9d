"""The log: a line for each mail, for people or for programs, with nothing private in it."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from pbm.texts import clean

LONGEST_ENTRY = 300
"""How much of a command, or of a reason, is logged."""


class Entry(NamedTuple):
    """What came of a mail."""

    peer: str
    """The machine that brought it; empty for a local socket."""
    sender: str
    """The sender of its envelope, empty for a bounce."""
    outcome: str
    command: str = ""
    """The command of the mail without its secrets; empty if it had none, or was not read."""
    reason: str = ""
    """Why it was refused; empty if it was not."""
    locked: float = 0.0
    """Seconds for which nobody else could write to the database, because of this mail and those handled with it."""
    took: float = 0.0
    """Seconds from the last byte of the mail to the reply."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Journal:
    """Numbers the mails, and writes a line about each to standard error."""

    def __init__(self, *, as_json: bool = False, has_time: bool = True, now: Callable[[], datetime] = _utc_now) -> None:
        """Write lines for people or, *as JSON*, for programs; with the time, unless somebody else adds it."""
        self.as_json = as_json
        self.has_time = has_time
        self.now = now
        self.number = 0

    def note(self, entry: Entry) -> None:
        """Write what came of a mail."""
        self.number += 1
        time = {"time": self.now().isoformat(timespec="milliseconds")} if self.has_time else {}
        said = {name: _line(getattr(entry, name)) for name in ("peer", "sender", "outcome", "command", "reason")}
        spent = {"lock_ms": round(1000 * entry.locked, 1), "ms": round(1000 * entry.took, 1)}
        if self.as_json:
            line = json.dumps({**time, "number": self.number, **said, **spent})
        else:
            about = ": ".join(filter(None, (said["outcome"], said["command"], said["reason"])))
            words = [*time.values(), str(self.number), said["peer"] or "local", f"<{said['sender']}>", about]
            line = f"{' '.join(words)} ({spent['lock_ms']} ms in the lock, {spent['ms']} ms in all)"
        sys.stderr.write(f"{line.encode('ascii', 'backslashreplace').decode()}\n")
        sys.stderr.flush()


def _line(text: str) -> str:
    return " ".join(clean(text[:LONGEST_ENTRY]).split())
