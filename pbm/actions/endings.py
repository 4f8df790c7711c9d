"""Endings that no rule of the game makes: a player leaves, resigns, or has used up their time and forfeits."""

from games import Illegal
from pbm import delivery, letters, texts
from pbm.actions import turns
from pbm.actions.turns import forgotten, played
from pbm.board import clocks
from pbm.board.board import FIRST_MOVES, FORFEIT, RESIGN, SERVER, Board
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session


def leave(session: Session, board: Board, name: str, *, automatic: bool = False) -> list[Letter]:
    """Remove a board on which the play has hardly begun, because a player leaves it."""
    row = board.row
    readers = dict.fromkeys([*board.players, *board.about.subscribers])
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.remove(row.game, row.board)
    session.store.events.note(session.now(), "remove", game=row.game, board=row.board, userid=name)
    if not session.store.boards.count_active(row.game, name):
        session.store.players.set_inactive(row.game, name, inactive=True)
    writer = SERVER if automatic else name
    return [letters.of_removal(board, name, session.comment, to=reader, writer=writer) for reader in readers]


def can_leave(board: Board) -> bool:
    """Whether who gives up now leaves the board, which counts as if it had never been."""
    return len(board.turns) - board.row.given < FIRST_MOVES and board.row.pool is None


def resign_or_leave(session: Session, board: Board, name: str) -> list[Letter]:
    """Leave before the first moves, give up in turn, or do so as soon as it is the player's turn."""
    row = board.row
    if can_leave(board):
        return leave(session, board, name)
    if name == board.turn:
        return turns.played(session, board, name, RESIGN)
    if board.queued.get(name) == RESIGN:
        cancel = f"{row.game} move {row.board} {name} PASSWORD unresign"
        raise Illegal(f"You resign already when your turn comes; this cancels it:\n{cancel}")
    session.store.boards.queue(row.game, row.board, name, RESIGN)
    board.queued[name] = RESIGN
    [letter] = letters.of_board(board.present, name, now=session.now(), zones=session.zone)
    return [letter._replace(subject=f"{texts.title(row.game)} Board {row.board} Resigned", is_urgent=True)]


def unresign(session: Session, board: Board, name: str) -> list[Letter]:
    """Take back a resignation that waits for the player's turn."""
    if board.queued.get(name) != RESIGN:
        raise Illegal("There is no resignation of yours to take back.")
    return forgotten(session, board, name, "Your resignation is taken back.")


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
