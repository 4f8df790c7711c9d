"""The answer to a command that was refused."""

from collections.abc import Sequence

import games
from pbm.blocks import Block, Paragraph
from pbm.board.board import Point
from pbm.letters.boards import answer, picture, status_of
from pbm.letters.letter import Letter
from pbm.texts import title, wrapped

CROPPED = 300
"""How much of a line that we do not understand is said back."""


def of_error(
    why: str,
    quoted: Sequence[str],
    *,
    subject: str = "",
    game: str = "pbm",
    point: Point | None = None,
    reader: str | None = None,
    status: int = 1,
) -> Letter:
    """The answer to a command that was refused: why, the board if it is known, and the command in quotation."""
    lines = (part for line in why.splitlines() for part in wrapped(_cropped(line), breaks_words=False))
    told: list[Block] = [Paragraph("\n".join(lines))]
    if point:
        subject = subject or f"{title(game)} Board {point.board.row.board} Error"
        told += [Paragraph(status_of(point)), *picture(point)]
    told.append(Paragraph("\n".join(f"> {_cropped(line)}".rstrip() for line in quoted)))
    how = answer(point, reader) if point else f"{game} help" if game != "pbm" else "help"
    name = game if game == "pbm" else title(game)
    data = {"error": why, "status": status}
    letter = Letter(None, subject or f"{name} error", tuple(told), how, lambda: data)
    if point is None or point.is_over:
        return letter
    number = "" if point.board.row.board == "new" else point.board.row.board
    player = reader if reader in point.board.players else None
    notation = games.notation(game)
    return letter._replace(game=game, board=number, mover=point.turn or "", reader=player or "", notation=notation)


def _cropped(line: str) -> str:
    """A line that may have been made of anything, short enough to be read."""
    return line if len(line) <= CROPPED else f"{line[:CROPPED]} ..."
