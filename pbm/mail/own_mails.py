"""How the lines of our own mails look: `quotes` recognises by them a quoted mail that has no marks of a quotation."""

import re
from collections.abc import Sequence
from typing import get_args

from pbm.blocks import Rule
from pbm.letters.headings import HEADINGS, NOTATION, STATUSES, HeadingKind

BOARD = r"[A-Z]\S{0,20} board \S{1,12}"
"""A board as mails name it, such as ``Spiro board 101``."""
PATTERNS = {
    "kind": f"(?:{'|'.join(get_args(HeadingKind))})",
    "title": rf"{BOARD}(?:,| after \d+ of its )",
    "player": r"(?:\S{1,16}|a guest)",
    "board": BOARD,
    "removal": r"(?:was|is) removed\b",
}
"""What stands in the fields of HEADINGS and STATUSES, where that is not just anything."""


def _pattern(line: str) -> str:
    r"""A regular expression for such a line, which a mail program may have broken at any blank.

    For example, ``{player}'s turn ({side}).`` becomes ``\S{1,16}'s\s+turn\s+\(.{0,100}?\)\.``.
    """
    texts_and_fields = re.split(r"\{(\w+)\}", line)  # by turns, first a text
    patterns = []
    for number, part in enumerate(texts_and_fields):
        is_field = number % 2 == 1
        if is_field:
            patterns.append(PATTERNS.get(part, ".{0,100}?"))
        else:
            patterns.append(re.escape(part))
    return "".join(patterns).replace("\\ ", r"\s+")


OF_HELP = r"\S.{0,40}\n(?:=+\n)?\n*Aim {6,}\S"
"""How a page of help about a game begins."""
BEGINNING = re.compile("|".join([_pattern(line) for line in HEADINGS.values()] + [OF_HELP]))
"""How our own mails begin."""
STATUS = re.compile("|".join(map(_pattern, STATUSES.values())))
"""A line of STATUSES with its fields filled in."""
RULES = frozenset({Rule("*").text, Rule("=").text})
"""Lines of signs across a mail, which part what is about a board from what is not, and the boards of a digest."""
HELP = re.compile(r"(?:\S+ )?help")
"""The command at the end of a refusal that shows no board."""
OF_REFUSAL = re.compile(rf"{NOTATION}|\S+ (?:move|rematch) \S+ \S+ PASSWORD\b")
"""A line below the status in a refusal that shows a board."""


def is_beginning(lines: Sequence[str]) -> bool:
    """Whether one of our mails, or a part of one, begins with these lines; four are enough."""
    return lines[0] in RULES or BEGINNING.match("\n".join(lines)) is not None
