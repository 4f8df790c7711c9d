"""A move as a player types it: what it means on a board, and the number of the move that it is meant as."""

from typing import NamedTuple

from games import SKIP, Illegal
from pbm.board.board import SWAP, Board


class NumberedMove(NamedTuple):
    """A typed move, and the number behind it."""

    text: str
    """The move as it was typed, such as ``e3``."""
    number: int | None
    """5 if ``e3#5`` was typed; None without a number."""


def split_number(text: str) -> NumberedMove:
    """Split ``e3#5`` into the move ``e3`` and the number 5."""
    move, mark, number = text.rpartition("#")
    is_number = mark and 0 < len(number) < 10 and number.isascii() and number.isdecimal()
    if not is_number:
        return NumberedMove(text, None)
    return NumberedMove(move, int(number))


def check_number(board: Board, number: int | None) -> None:
    """Make sure that the next move has that number, if one is given. Raises Illegal."""
    following = len(board.turns) + 1
    if number not in {None, following}:
        raise Illegal(f"That is meant as move {number}, but it would be move {following}.")


def parsed(board: Board, text: str) -> str:
    """A move, perhaps with ``#n`` behind it, in canonical form. Raises Illegal."""
    move, number = split_number(text)
    if move.lower() == SWAP and not getattr(board.rules, "SWAP", False):
        raise Illegal(f"{board.row.game.capitalize()} has no swap.")
    check_number(board, number)
    if move.lower() not in {SKIP, "pass"}:
        return board.state.parse(move)
    if board.state.must_skip:  # only a plan gets here: the server plays other skips by itself
        return SKIP
    return board.state.parse(SKIP)
