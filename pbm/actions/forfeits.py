"""Forfeits: a player has used up his time, and the server gives up for him."""

from pbm import delivery, texts
from pbm.actions.leaving import can_leave, leave
from pbm.actions.turns import played
from pbm.board import clocks
from pbm.board.board import FORFEIT, Board
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session


class Forfeited(Refused):
    """A command that was too late: instead of it, the game has ended."""

    stands = True


def forfeit(session: Session, board: Board, reason: str, why: str) -> list[Letter]:
    """Make the player to move give up; *reason* is one of REASONS, and *why* tells the same in a sentence."""
    session, name = session._replace(comment=why), str(board.turn)
    if can_leave(board):
        return leave(session, board, name, automatic=True)
    return played(session, board, name, FORFEIT, automatic=True, reason=reason)


def out_of_time(session: Session, board: Board) -> list[Letter]:
    """Make the player to move give up, who has used up the time that he is allowed in the whole game."""
    allowed = texts.counted(board.row.total_days or 0, "day")
    return forfeit(session, board, "total time", f"{board.turn} has used up the {allowed} that each player is allowed.")


def check_time(session: Session, board: Board) -> None:
    """Make the player to move forfeit if he has used up his time. Raises Forfeited, which leaves that standing."""
    is_robot = board.turn in board.about.robots
    if board.turn is not None and not is_robot and clocks.is_out_of_time(board.row, board.seat, session.now()):
        name = board.turn
        is_removed = can_leave(board)
        delivery.answer(session, None, *out_of_time(session, board))
        if is_removed:
            raise Forfeited(f"{name} had used up their time before the game began, so the board is removed.")
        raise Forfeited(
            f"{name} had used up their time, so the game is over: they have forfeited.", point=board.present
        )
