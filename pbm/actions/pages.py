"""Lists that may be long: by mail a page of them, in a shell all, written as they come."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from pbm.blocks import Paragraph
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

PAGE = 200
"""How many lines of a list are mailed at a time."""
CHUNK = 1000
"""How many lines of a list are put together at a time where all of it is wanted."""
Item = TypeVar("Item")
Row = dict[str, str]
"""A line of a table under the headings of its columns."""


class Part(NamedTuple):
    """A table of a list, which is looked up only as far as it is printed."""

    title: str
    rows: Callable[[int, int], Iterator[Row]]
    """The lines of it: at most so many, behind the first so many; -1 for all."""
    length: Callable[[], int]
    """How many there are."""
    rare: Collection[str] = ()
    """The columns that are left out where they say nothing."""


def number(session: Session, word: str) -> int:
    """The page that a word asks for: by mail the first one if there is no word; 0 for all pages. Raises Refused."""
    if not word:
        return int(not session.in_shell)
    if not re.fullmatch("[0-9]{1,7}", word, re.ASCII) or int(word) == 0:
        raise Refused(f"{word!r} is no page; the first one is 1.")
    return int(word)


def cut(rows: Sequence[Item], page: int) -> tuple[Sequence[Item], bool]:
    """What stands on a page of what was looked up for it, one line more than that, and whether there is more."""
    return (rows[:PAGE], len(rows) > PAGE) if page else (rows, False)


def window(page: int) -> tuple[int, int]:
    """How many lines are looked up for a page, and behind how many."""
    return (PAGE + 1, (page - 1) * PAGE) if page else (-1, 0)


def on_page(parts: Sequence[Part], page: int) -> tuple[list[tuple[Part, list[Row]]], bool]:
    """What stands on a page of some tables that follow each other, and whether there is more."""
    found = []
    left, skip = window(page)
    for part in parts:
        rows = list(part.rows(left, skip))
        if skip and not rows:  # else nobody counts them
            skip -= part.length()
            continue
        found.append((part, rows))
        skip = 0
        left -= len(rows)
        if left == 0:
            found[-1][1].pop()
            return [(part, rows) for part, rows in found if rows], True
    return [(part, rows) for part, rows in found if rows], False


def text(parts: Iterable[tuple[Part, Iterable[Row]]], numbers: Collection[str]) -> Iterator[str]:
    """Tables below each other, piece by piece; what is empty is left out."""
    glue = ""
    for part, rows in parts:
        before = f"{glue}{part.title}\n" if part.title else glue
        for lines in table(iter(rows), numbers, part.rare):
            yield before + "\n".join(lines)
            before, glue = "\n", "\n\n"


def table(rows: Iterator[Row], numbers: Collection[str] = (), rare: Collection[str] = ()) -> Iterator[list[str]]:
    """The lines of a table, some at a time, the heading first; *numbers* end below each other.

    The columns that are *rare* are left out where the first lines say nothing in them.
    """
    widths: dict[str, int] = {}
    while chunk := list(islice(rows, CHUNK)):
        heading = [] if widths else [{name: name for name in chunk[0]}]
        if not widths:
            widths = dict.fromkeys(
                (name for name in chunk[0] if name not in rare or any(row[name] not in {"", "0"} for row in chunk)), 0
            )
        widths = {name: max(width, *(len(row[name]) for row in [*heading, *chunk])) for name, width in widths.items()}
        yield [
            "  ".join(
                row[name].rjust(width) if name in numbers else row[name].ljust(width) for name, width in widths.items()
            ).rstrip()
            for row in [*heading, *chunk]
        ]


def begun(pieces: Iterator[str]) -> tuple[str, Iterable[str]]:
    """The beginning of a text, all of it if it is short, and the rest, which is made while it is printed."""
    text = ""
    for piece in pieces:
        text += piece
        if text.count("\n") >= CHUNK:
            return text, pieces
    return text, ()


def with_next(letter: Letter, command: str, page: int) -> Letter:
    """A letter with a page of a list that goes on: its last line is the *command* for the next page."""
    more = Paragraph(f"This is page {page}; the next one:")
    return letter._replace(blocks=(*letter.blocks, more), answer=f"{command} {page + 1}")
