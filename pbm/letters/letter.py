"""A letter: what somebody is told, whichever way it reaches them."""

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Any, NamedTuple

import games
from pbm import texts
from pbm.blocks import Block, Drawing, NextCommand, Paragraph, Told, blocks_of, text_of
from pbm.board.board import Point
from pbm.letters.headings import NOTATION

EASY = "To move, reply with your move as the first line. You need no password."
WAITING = "While you wait, you can answer this mail with {words}; `help commands` says more."
OVER = "You can answer with `rematch`, `analyse`, `note`, `chat` or `history`."


class Letter(NamedTuple):
    """Blocks for somebody: a mail, or what a shell command prints."""

    to: str | None
    """A userid, or None for whoever gave the command."""
    subject: str
    blocks: tuple[Block, ...]
    """All of it but the command."""
    command: NextCommand
    """The command that the reader will probably answer with; its text is empty if there is none."""
    data: dict[str, Any]
    """The same for programs, as ``--json`` prints it."""
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
    """The player who gets it, if it goes to whoever gave the command."""
    reply_to: str | None = None
    """The address at which it is answered, if that is not the one of the board or our own."""
    point: Point | None = None
    """The position of the board that it shows."""

    @property
    def notation(self) -> str:
        """How moves are written; empty where there is nothing to move."""
        return games.notation(self.point.board.row.game) if self.point and not self.point.is_over else ""

    @property
    def body(self) -> str:
        """The text without the command to answer with."""
        return text_of(self.blocks)

    @property
    def drawings(self) -> list[Drawing]:
        """The boards in it."""
        return [block for block in self.blocks if isinstance(block, Drawing)]

    def mailed(self, *, is_easy: bool) -> tuple[Block, ...]:
        """The blocks of a mail; *is_easy* if its reader is to move, and an answer needs no more than the move."""
        hints = [EASY if is_easy else self.hint, self.notation and f"{NOTATION}{self.notation}"]
        how = [Paragraph("\n".join(filter(None, hints)))] if any(hints) else []
        return (*self.blocks, *how, *([self.command] if self.command.text else []))


def plain_letter(
    told: Told, *, subject: str, answer: str, bare: str = "", to: str | None = None, **data: Any
) -> Letter:
    """A letter without a board, to a user or to whoever gave the command; *data* is what it tells programs."""
    blocks = blocks_of(told)
    return Letter(to, subject, blocks, NextCommand(answer, bare), {**data, "reply": text_of(blocks)})


def to_user(name: str, told: Told, *, subject: str = "pbm settings", answer: str, **data: Any) -> Letter:
    """A letter without a board to a user, whose *data* begins with their userid."""
    return plain_letter(told, subject=subject, answer=answer, to=name, userid=name, **data)


def printed(found: Iterable[Letter]) -> str:
    """What a shell prints for all answers to a command. One about a board ends with the command to answer with."""
    told = []
    for one in found:
        told.append(one.body)
        if one.thread:
            program = "pbm " if games.package(one.game) else ""  # the game of a package is no program of its own
            told.append(f"{program}{one.command.text}")
    return "\n\n".join(told)


def as_one(found: Sequence[Letter]) -> dict[str, Any]:
    """The object that ``--json`` prints for all answers to a command. Boards become a list, texts one text."""
    if len(found) == 1:
        return found[0].data
    one: dict[str, Any] = {}
    for part in [letter.data for letter in found]:
        listed = {"boards": [part]} if "position" in part else {"removals": [part]} if "removed" in part else part
        for key, value in listed.items():
            if key in one and key == "reply":
                one[key] += f"\n\n{value}"
            elif key in one and isinstance(value, list):
                one[key] = one[key] + value
            else:
                one[key] = value
    return one


def settled(text: str, answer: str, **data: Any) -> Letter:
    """A letter to whoever gave the command, which confirms a setting."""
    return plain_letter(fill(text, texts.WIDTH), subject="pbm settings", answer=answer, **data)
