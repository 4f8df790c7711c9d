"""A move as it is typed: the number that may stand behind it, and its canonical form."""

import games
from games import SKIP, Illegal
from pbm import texts
from pbm.board.board import SWAP, Board


def parsed(board: Board, text: str) -> str:
    """A move, perhaps with ``#n`` behind it, in canonical form. Raises Illegal."""
    move, number = numbered(text)
    if move.lower() == SWAP and not getattr(board.rules, "SWAP", False):
        raise Illegal(f"{texts.title(board.row.game)} has no swap.")
    check_written(board.row.game, move)
    check_number(board, number)
    return board.state.parse(SKIP if move.lower() == "pass" else move)


def check_written(game: str, move: str) -> None:
    """Make sure that a move is not the placeholder of our mails, ``MOVE#3`` or before ``<move>#3``. Raises Illegal."""
    word, _ = numbered(move)
    if word.strip("<>").lower() == "move":
        raise Illegal(f"{word} is a placeholder; write your move in its place ({games.notation(game)}).")


def check_number(board: Board, number: int | None) -> None:
    """Make sure that the next move has that number, if one is given. Raises Illegal."""
    if number not in {None, len(board.turns) + 1}:
        raise Illegal(f"That is meant as move {number}, but it would be move {len(board.turns) + 1}.")


def numbered(text: str) -> tuple[str, int | None]:
    """A move and the number that stands behind it; None if there is none."""
    move, mark, number = text.rpartition("#")
    is_number = mark and 0 < len(number) < 10 and number.isascii() and number.isdecimal()
    return (move, int(number)) if is_number else (text, None)
