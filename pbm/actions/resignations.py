"""Giving up: at once, or as soon as it is one's turn."""

from games import Illegal
from pbm import letters, texts
from pbm.actions import leaving, turns
from pbm.actions.turns import forgotten
from pbm.board.board import RESIGN, Board
from pbm.letters import Letter
from pbm.session import Session


def resign(session: Session, board: Board, name: str) -> list[Letter]:
    """Leave before the first moves, give up in turn, or do so as soon as it is the player's turn."""
    row = board.row
    if leaving.can_leave(board):
        return leaving.leave(session, board, name)
    if name == board.turn:
        return turns.played(session, board, name, RESIGN)
    if board.queued.get(name) == RESIGN:
        cancel = f"{row.game} move {row.board} {name} PASSWORD unresign"
        raise Illegal(f"You resign already when your turn comes; this cancels it:\n{cancel}")
    session.store.queue(row.game, row.board, name, RESIGN)
    board.queued[name] = RESIGN
    [letter] = letters.of_board(board.present, name, now=session.now(), zones=session.zone)
    return [letter._replace(subject=f"{texts.title(row.game)} Board {row.board} Resigned", is_urgent=True)]


def unresign(session: Session, board: Board, name: str) -> list[Letter]:
    """Take back a resignation that waits for the player's turn."""
    if board.queued.get(name) != RESIGN:
        raise Illegal("There is no resignation of yours to take back.")
    return forgotten(session, board, name, "Your resignation is taken back.")
