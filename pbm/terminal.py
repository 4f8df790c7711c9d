"""How programs print: text for people, or one JSON object for programs."""

import json
import sys
from collections.abc import Mapping
from io import TextIOWrapper


def say(text: str, data: Mapping[str, object], *, as_json: bool = False) -> None:
    """Print an answer, whatever of it the terminal can show."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    sys.stdout.write(f"{json.dumps(data) if as_json else text}\n")
    sys.stdout.flush()


def fail(text: str, status: int, *, as_json: bool = False, reason: str = "") -> int:
    """Print why something was not done, for programs the *reason* alone, and return the exit status."""
    if as_json:
        say(text, {"error": reason or text, "status": status}, as_json=True)
    elif sys.stderr:  # a mail server may start us without one
        sys.stderr.write(f"{text}\n")
    return status
