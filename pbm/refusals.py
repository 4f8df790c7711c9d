"""A refusal: a command that cannot be carried out, and why."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pbm.board.board import Point
from pbm.disk import reason
from pbm.names import PLACEHOLDERS


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
        """Say why; show a board where one is known, to the *reader* who has signed for it; do not say the *secrets*.

        Usually what the command has done until then is undone; sometimes it *stands*.
        """
        super().__init__(text)
        self.subject = subject
        self.point = point
        self.reader = reader
        self.secrets = secrets
        self.stands = stands


class Misused(Refused):
    """A line that is no command, or not the way its command is written."""

    status = 2


def copied(word: str, what: str) -> str:
    """What is said of a word that was copied from our help, where it stands for *what* the reader has to write there.

    It is empty for other words.
    """
    return f"{word} is a placeholder; write {what} in its place." if word.lower() in PLACEHOLDERS else ""


def check_own(word: str, what: str) -> None:
    """Raises Refused if a word was copied from our help."""
    if why := copied(word, what):
        raise Refused(why)


@contextmanager
def touching(what: str) -> Iterator[None]:
    """Say *what* does not go, and why, where a file or a socket that the user has named is touched. Raises Refused."""
    try:
        yield
    except OSError as error:
        raise Refused(f"{what}: {reason(error)}.") from error
