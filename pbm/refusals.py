"""A refusal: a command that cannot be carried out, and why."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import games
from pbm.board.board import Point
from pbm.disk import reason
from pbm.names import PLACEHOLDERS


@dataclass(eq=False, repr=False)
class Refused(Exception):
    """A command that cannot be carried out. What it has done until then is undone, unless the refusal *stands*."""

    text: str
    """Why, for the user."""
    subject: str = ""
    point: Point | None = None
    """The board that is shown to the reader."""
    reader: str | None = None
    """The user who has signed for it."""
    secrets: Sequence[str] = ()
    """Passwords among its words, which are masked where it is told."""
    stands: bool = False
    status = 1
    """The exit status of a shell command that was refused."""


class Misused(Refused):
    """A line that names no command, or whose words do not fit its command."""

    status = 2


def told_of(error: Exception) -> str:
    """What went wrong, for the operator. The text of an error of Python often says nothing without its kind."""
    return str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"


def placeholder_objection(word: str, what: str) -> str:
    """Why a word is refused that is a placeholder of our help, in place of *what* a reader means; empty for another."""
    return f"{word} is a placeholder; write {what} in its place." if word.lower() in PLACEHOLDERS else ""


def check_no_placeholder(word: str, what: str) -> None:
    """Raises Refused if a word is a placeholder copied from our help."""
    if why := placeholder_objection(word, what):
        raise Refused(why)


def check_game(name: str) -> None:
    """Raises Refused if there is no game of that name."""
    if not games.exists(name):
        raise Refused(games.unknown(name))


@contextmanager
def refusing_os_errors(what: str) -> Iterator[None]:
    """Raises Refused, which says *what* failed and why, if a file or a socket cannot be used inside."""
    try:
        yield
    except OSError as error:
        raise Refused(f"{what}: {reason(error)}.") from error
