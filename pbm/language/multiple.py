"""Several commands in the body of one mail."""

from collections.abc import Iterator

from pbm.language import words

LAST_LINES = "end", "quit", "--"


def lines(body: str) -> Iterator[str]:
    """The commands in a body."""
    typed, at = [line for line in body.splitlines() if not line.lstrip().startswith("#")], 0
    while at < len(typed):
        line, count = words.whole_turn(typed, at)
        if line.lower() in LAST_LINES:
            return
        if line:
            yield line
        at += count
