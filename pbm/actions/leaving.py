"""Leaving a board before its game has begun, which removes it."""

from pbm import letters
from pbm.board.board import FIRST_MOVES, SERVER, Board
from pbm.letters import Letter
from pbm.session import Session


def leave(session: Session, board: Board, name: str, *, automatic: bool = False) -> list[Letter]:
    """Remove a board on which the play has hardly begun, because a player leaves it."""
    row = board.row
    readers = dict.fromkeys([*board.players, *board.about.subscribers])
    session.store.drop_reminders(board.name)
    session.store.remove_board(row.game, row.board)
    session.store.note_event(session.now(), "remove", game=row.game, board=row.board, userid=name)
    if not session.store.active_boards(row.game, name):
        session.store.set_inactive(row.game, name, inactive=True)
    writer = SERVER if automatic else name
    return [letters.of_removal(board, name, session.comment, to=reader, writer=writer) for reader in readers]


def can_leave(board: Board) -> bool:
    """Whether who gives up now leaves the board, which counts as if it had never been."""
    return len(board.turns) - board.row.given < FIRST_MOVES and board.row.pool is None
