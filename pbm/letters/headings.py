"""How mails about boards begin. `letters` writes these lines; by them `mail/quotes` knows a mail that is quoted."""

import re
from collections.abc import Sequence
from typing import Literal, get_args

from pbm.blocks import Rule

HeadingKind = Literal[
    "Summary",
    "Subscription Summary",
    "New",
    "Notes",
    "Submit",
    "Preview",
    "Notification",
    "History",
    "Talk",
    "Analysis",
]
"""What a mail shows of a board. A ``Notification`` says no more than that a game is over."""
TAP = "Tap a move to start your reply:"
ON_SITE = "See the board on the site"
MOVE_ON_SITE = "Open the board and tap your turn"
LAST_TURN = "Last turn: "
HEADINGS = {
    "board": "{kind}: {title}",
    "left": "{player} has left {board} before it began.",
    "absent": "{player} has not moved in time on {board}.",
    "removed": "{board} {removal}",
    "reminded": "{player} is reminded of {board}.",
    "analysis": "The analysis of {board} comes to {player} by mail, usually within ten minutes.",
    "round": "Round {number} of pool {pool} of {game} has begun: {boards} of yours.",
    "digest": "Digest: {mails} about {game} boards, {times}",
    "reset": "Somebody asked for a new password of the user {player} of this play-by-mail server.",
    "device": "This link makes a browser a device of {player}:",
    "picture": TAP,
    "page": ON_SITE,
    "page to move": MOVE_ON_SITE,
}
"""The first lines of mails, by what they are about; in HTML three of them stand below a picture."""
STATUSES = {
    "start": "{player}, please start ({side}).",
    "turn": "{player}'s turn ({side}).",
    "won": "Won by {player}{how}.",
    "tie": "The game is a tie{how}.",
}
"""Who is to move, or has won. In a refusal the reason is all that stands above it, and that may say anything."""
NOTATION = "Notation: "
"""How the line begins that says how moves are written."""
BOARD = r"[A-Z]\S{0,20} board \S{1,12}"
"""A board as mails name it, such as ``Spiro board 101``."""
PATTERNS = {
    "kind": f"(?:{'|'.join(get_args(HeadingKind))})",
    "title": rf"{BOARD}(?:,| after \d+ of its )",
    "player": r"\S{1,16}",
    "board": BOARD,
    "removal": r"(?:was|is) removed\b",
}
"""What stands in the fields of these lines, where that is not just anything."""


def heading(name: str, **fields: object) -> str:
    """A line of HEADINGS with its fields filled in."""
    return HEADINGS[name].format(**fields)


def status_line(name: str, **fields: object) -> str:
    """A line of STATUSES with its fields filled in."""
    return STATUSES[name].format(**fields)


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
"""How a mail of ours begins."""
STATUS = re.compile("|".join(map(_pattern, STATUSES.values())))
"""A line of STATUSES, filled in."""
RULES = frozenset({Rule("*").text, Rule("=").text})
"""Lines of signs across a mail, which part what is about a board from what is not, and the boards of a digest."""
HELP = re.compile(r"(?:\S+ )?help")
"""The command at the end of a refusal that shows no board."""
OF_REFUSAL = re.compile(rf"{NOTATION}|\S+ (?:move|rematch) \S+ \S+ PASSWORD\b")
"""A line below the status in a refusal that shows a board."""


def is_beginning(lines: Sequence[str]) -> bool:
    """Whether a mail of ours begins with these lines, or a part of one; four are enough."""
    return lines[0] in RULES or BEGINNING.match("\n".join(lines)) is not None
