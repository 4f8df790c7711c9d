"""How programs print, text for people, or one JSON object for programs, and how they read passwords."""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from getpass import getpass
from io import TextIOWrapper
from itertools import cycle
from operator import methodcaller
from typing import TextIO

from pbm import disk
from pbm.texts import escaped

SPINNER_SECONDS = 0.1
"""How long each picture of the spinner is shown."""


def replace_errors(*streams: TextIO) -> None:
    """Let streams replace what they cannot read or write, instead of raising an error."""
    for stream in streams:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


@cache
def read_input() -> TextIO:
    """Standard input as text, no matter what its bytes are."""
    replace_errors(sys.stdin)
    return sys.stdin


def read_line() -> str:
    """A line of standard input, without its end."""
    return read_input().readline().rstrip("\r\n")


def read_secret(variable: str = "PBM_PASSWORD", ask: Callable[[], str] | None = None) -> str:
    """A password: that of the environment, or what *ask* gets at a terminal, or a line of standard input."""
    if chosen := os.environ.get(variable):
        return chosen
    if not sys.stdin.isatty():
        return read_line()
    try:
        if ask:
            return ask()
        return getpass("Password: ")
    except (EOFError, UnicodeDecodeError):  # control-D, or bytes that are no text
        return ""


def say(text: str, data: Mapping[str, object], *, as_json: bool = False) -> None:
    """Print an answer; what the terminal cannot show is replaced."""
    replace_errors(sys.stdout)
    if as_json:
        printed = json.dumps(data, default=methodcaller("isoformat"))  # a datetime is what JSON does not know
    else:
        printed = escaped(text)
    sys.stdout.write(f"{printed}\n")
    sys.stdout.flush()


def print_answer(text: str, data: Mapping[str, object], *, as_json: bool = False, has_changed: bool = False) -> int:
    """Print the answer of a command that was done. Returns the exit status.

    If the answer cannot be printed, standard error says that the command was done. The status is then 0 if it *has
    changed* something, else 1. A reader who goes away, such as `head`, has seen enough of what changes nothing.
    """
    try:
        say(text, data, as_json=as_json)
    except OSError as error:
        return warn_of_unprinted(error, has_changed=has_changed)
    return 0


def warn_of_unprinted(error: OSError, *, has_changed: bool) -> int:
    """Say that a command was done, but its answer cannot be printed. Returns the exit status; see `print_answer`."""
    if has_changed or not isinstance(error, BrokenPipeError):
        warn(f"The command was done, but its answer cannot be printed: {disk.reason(error)}.")
    if has_changed:
        return 0  # nobody should do it again
    return 1


def warn(text: str) -> None:
    """Print on standard error what went wrong besides the answer, such as a mail that could not be sent.

    If that cannot be printed, nothing else may go wrong.
    """
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")


def fail(text: str, status: int, *, as_json: bool = False, reason: str = "") -> int:
    """Print why something was not done; for programs, only the *reason*. Returns the exit status."""
    if as_json:
        with suppress(OSError):
            say(text, {"error": reason or text, "status": status}, as_json=True)
            return status
    warn(escaped(text))
    return status


@contextmanager
def spinning(text: str) -> Iterator[None]:
    """Show a text and a spinner on standard error, if that is a terminal; wipe them away at the end."""
    if not sys.stderr.isatty():
        yield
        return
    is_over = threading.Event()

    def spin() -> None:
        for picture in cycle("|/-\\"):
            sys.stderr.write(f"\r{escaped(text)} {picture}")
            sys.stderr.flush()
            if is_over.wait(SPINNER_SECONDS):
                break
        sys.stderr.write(f"\r{' ' * (len(text) + 2)}\r")
        sys.stderr.flush()

    spinner = threading.Thread(target=spin, daemon=True)
    spinner.start()
    try:
        yield
    finally:
        is_over.set()
        spinner.join()
