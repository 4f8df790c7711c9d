"""A refusal: a command that cannot be carried out, and why."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import games
from pbm.board.board import Point
from pbm.disk import reason
from pbm.names import PLACEHOLDERS
from pbm.texts import escaped


class Refused(Exception):
    """A command that cannot be carried out. The text is for the user."""

    status = 1
    """The exit status of a shell command that was refused."""

    def __init__(
        self,
        text: str,
        *,
        subject: str = "",
        point: Point | None = None,
        reader: str | None = None,
        secrets: Sequence[str] = (),
        stands: bool = False,
    ) -> None:
        """Say why. A board at a *point* is shown to the *reader*, who has signed for it; *secrets* are masked.

        What the command has done until then is undone, unless it *stands*. Of what the text repeats, characters that
        command a terminal are written out.
        """
        super().__init__(escaped(text))
        self.subject = subject
        self.point = point
        self.reader = reader
        self.secrets = secrets
        self.stands = stands


class Misused(Refused):
    """A line that names no command, or has words that do not fit its command."""

    status = 2


class WrongPassword(Refused):
    """A command with a wrong userid or password."""


class NotAllowed(Refused):
    """A command that the token which comes with it may not give."""


class TooMany(Refused):
    """A command that comes after too many others, or after too many mistakes."""

    def __init__(self, text: str, seconds: float) -> None:
        """Say why, and after how many seconds it may come again."""
        super().__init__(text)
        self.seconds = seconds


def told_of(error: Exception) -> str:
    """What went wrong, for the operator. The text of an error of Python often says nothing without its kind."""
    if isinstance(error, Refused):
        return str(error)
    return f"{type(error).__name__}: {error}"


def placeholder_objection(word: str, what: str) -> str:
    """The refusal of a word that is a placeholder of our help, and not *what* a reader means; empty for another."""
    if word.lower() not in PLACEHOLDERS:
        return ""
    return f"{word} is a placeholder; write {what} in its place."


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
