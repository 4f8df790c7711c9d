"""A letter: what somebody is told, by mail, in a shell or on a page."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from textwrap import fill
from typing import Any, Literal, NamedTuple

import games
from pbm import texts
from pbm.blocks import Block, Content, Drawing, NextCommand, Paragraph, blocks_of, text_of
from pbm.board.board import Point
from pbm.letters.headings import NOTATION

EASY = "To move, reply with your move as the first line. You need no password."
WAITING = "While you wait, you can answer this mail with {words}; `help commands` says more."
LetterKind = Literal["board", "removal", "refusal", "other"]
"""Whether the data of a letter is a board, a board that was removed, or why a command was refused."""
OVER = "You can answer with `rematch`, `analyse`, `note`, `chat` or `history`."


class Letter(NamedTuple):
    """Blocks for somebody: a mail, or what a shell command prints."""

    to: str | None
    """The userid of the reader, or None for the sender of the command."""
    subject: str
    blocks: tuple[Block, ...]
    """All of it but the command."""
    command: NextCommand
    """The command that the reader will probably answer with; its text is empty if there is none."""
    data: dict[str, Any]
    """What it says, for programs, as ``--json`` prints it."""
    kind: LetterKind = "other"
    thread: str = ""
    """What letters about the same board have in common; empty where there is no board."""
    begins_thread: bool = False
    game: str = ""
    """The game of the board that it is about; empty where there is no board, as in the next one."""
    board: str = ""
    is_subscribed: bool = False
    """Whether its reader has asked for such mails: those about the board, digests of the game, or those to all."""
    is_urgent: bool = False
    """Whether it is mailed at once, even to a user who wants a digest a day or no mails about boards."""
    reminds: str = ""
    """The board that it reminds its reader of, such as ``spiro 101``, if it is a reminder."""
    hint: str = ""
    """What else its reader can answer with at this moment, such as a rematch when the game is over."""
    reader: str = ""
    """The player who gets it, if it goes to the sender of the command."""
    reply_to: str | None = None
    """The address for answers, if it is neither the reply address of the board nor our own address."""
    point: Point | None = None
    """The position of the board that it shows."""
    has_next: bool = False
    """Whether it is a page of a list, and its command asks for the next one."""

    @property
    def notation(self) -> str:
        """How moves are written; empty where there is nothing to move."""
        if self.point is None or self.point.is_over:
            return ""
        return games.notation(self.point.board.row.game)

    @property
    def body(self) -> str:
        """The text without the command to answer with."""
        return text_of(self.blocks)

    @property
    def drawings(self) -> list[Drawing]:
        """The boards in it."""
        return [block for block in self.blocks if isinstance(block, Drawing)]

    def mailed(self, *, is_easy: bool, deadline: str = "") -> tuple[Block, ...]:
        """The blocks of a mail; *is_easy* if its reader is to move, and an answer needs only the move.

        Until when they have time to move, the *deadline*, stands below what has happened.
        """
        hints = []
        if is_easy:
            hints.append(EASY)
        elif self.hint:
            hints.append(self.hint)
        if notation := self.notation:
            hints.append(f"{NOTATION}{notation}")

        mailed = list(self.blocks)
        if deadline:
            above = list(takewhile(lambda block: isinstance(block, Paragraph), mailed))
            mailed.insert(len(above), Paragraph(deadline))
        if hints:
            mailed.append(Paragraph("\n".join(hints)))
        if self.command.text:
            mailed.append(self.command)
        return tuple(mailed)


def plain_letter(
    content: Content, *, subject: str, answer: str, bare: str = "", to: str | None = None, **data: Any
) -> Letter:
    """A letter without a board, to a user or to the sender of the command; *data* is what it tells programs."""
    blocks = blocks_of(content)
    return Letter(to, subject, blocks, NextCommand(answer, bare), {**data, "reply": text_of(blocks)})


def to_user(name: str, content: Content, *, subject: str = "pbm settings", answer: str, **data: Any) -> Letter:
    """A letter without a board to a user; its *data* begin with their userid."""
    return plain_letter(content, subject=subject, answer=answer, to=name, userid=name, **data)


def printed(answers: Iterable[Letter]) -> str:
    """What a shell prints for all answers to a command. One about a board ends with the command to answer with."""
    parts = []
    for letter in answers:
        parts.append(letter.body)
        if letter.thread or letter.has_next:
            command = letter.command.text
            if games.package(letter.game):  # which is no program of its own
                command = f"pbm {command}"
            parts.append(command)
    return "\n\n".join(parts)


def as_one(answers: Sequence[Letter]) -> dict[str, Any]:
    """The object that ``--json`` prints for all answers to a command. Boards become a list, texts one text."""
    if len(answers) == 1:
        return answers[0].data
    gathered: dict[str, Any] = {}
    for letter in answers:
        if letter.kind == "board":
            listed = {"boards": [letter.data]}
        elif letter.kind == "removal":
            listed = {"removals": [letter.data]}
        else:
            listed = letter.data
        for key, value in listed.items():
            if key in gathered and key == "reply":
                gathered[key] += f"\n\n{value}"
            elif key in gathered and isinstance(value, list):
                gathered[key] = gathered[key] + value
            else:
                gathered[key] = value
    return gathered


def settled(text: str, answer: str, **data: Any) -> Letter:
    """A letter to the sender of the command, which confirms a setting."""
    return plain_letter(fill(text, texts.WIDTH), subject="pbm settings", answer=answer, **data)
