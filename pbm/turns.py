"""What follows from a turn: what the server plays by itself, how a game ends, and who is told."""

from datetime import datetime

from games import SKIP, Illegal
from pbm import clocks, letters, ratings
from pbm.board import FIRST_MOVES, FORFEIT, RESIGN, Board
from pbm.letters import Letter
from pbm.session import Refused, Session
from pbm.store import Settled

SERVER = "The server"
"""Who writes the comment of a turn that the server makes a player take."""


class Forfeited(Refused, Settled):
    """A command that was too late: instead of it, the game has ended."""


def played(session: Session, board: Board, name: str, text: str, *, automatic: bool = False) -> list[Letter]:
    """Add a turn and all that follows from it, and tell everybody."""
    before = len(board.turns)
    writer = SERVER if automatic else name
    board.row = board.row._replace(
        submitted=None,
        vote=None,
        voter=None,
        comment=session.comment or None,
        commenter=writer if session.comment else None,
    )
    board.play(name, text, session.now(), automatic=automatic)
    dropped = go_on(session, board, before)
    return [*told(session, board), *dropped]


def go_on(session: Session, board: Board, before: int) -> list[Letter]:
    """Play what the server has to play, and store all turns after the first *before* ones.

    Returns the letters to players whose queued moves could not be played.
    """
    dropped: list[Letter] = []
    while (name := board.turn) is not None:
        queued = board.queued.get(name)
        if queued == RESIGN:
            board.play(name, RESIGN, session.now(), automatic=True)
        elif queued is not None:
            _unqueue(session, board, name)
            try:
                board.play(name, parsed(board, queued), session.now(), automatic=True)
            except Illegal as why:
                dropped.append(_dropped(session, board, name, queued, str(why)))
        elif board.state.must_skip:
            board.play(name, SKIP, session.now(), automatic=True)
        else:
            break
    row = board.row
    board.row = row._replace(moves=len(board.turns), turn=board.turn)
    if board.is_over:
        end(session, board)
    session.store.save_board(board.row, before + 1, board.turns[before:])
    return dropped


def end(session: Session, board: Board) -> None:
    """Note that the game is over, and what that does to ratings. The row has still to be stored."""
    game, number = board.row.game, board.row.board
    board.queued.clear()
    session.store.unqueue(game, number)
    board.row = board.row._replace(
        turn=None, ended=session.now(), winner=board.winner, vote=None, voter=None, submitted=None
    )
    results = ratings.settle(session.store, board.row, session.now())
    if board.resigned:
        session.store.follow(game, number, board.resigned, "subscriber")
    board.about = board.about._replace(results=results)


def told(session: Session, board: Board, *notes: str) -> list[Letter]:
    """The letters about what has happened on a board: to players, to subscribers, and of an end to those notified."""
    players = dict.fromkeys(board.players)
    readers = dict.fromkeys([*players, *board.about.subscribers])
    told = letters.of_board(board.present, *readers, now=session.now(), notes=notes)
    if board.is_over:
        notified = {*board.about.notified, *session.store.notified_of_all(board.row.game)} - {*readers}
        told += letters.of_board(board.present, *sorted(notified), now=session.now(), kind=letters.NOTIFICATION)
    return told


def leave(session: Session, board: Board, name: str, *, automatic: bool = False) -> list[Letter]:
    """Remove a board on which the play has hardly begun, because a player leaves it."""
    row = board.row
    readers = dict.fromkeys([*board.players, *board.about.subscribers])
    session.store.remove_board(row.game, row.board)
    if not session.store.active_boards(row.game, name):
        session.store.set_inactive(row.game, name, inactive=True)
    writer = SERVER if automatic else name
    return [letters.of_removal(board, name, session.comment, to=reader, writer=writer) for reader in readers]


def can_leave(board: Board) -> bool:
    """Whether who gives up now leaves the board, which counts as if it had never been."""
    return len(board.turns) < FIRST_MOVES and board.row.pool is None


def forfeit(session: Session, board: Board, name: str, why: str) -> list[Letter]:
    """Make a player give up."""
    session = session._replace(comment=why)
    if can_leave(board):
        return leave(session, board, name, automatic=True)
    return played(session, board, name, FORFEIT, automatic=True)


def parsed(board: Board, text: str) -> str:
    """A move, perhaps with ``#n`` behind it, in canonical form. Raises Illegal."""
    move, number = numbered(text)
    if move.lower() == "swap":
        raise Illegal(f"{letters.title(board.row.game)} has no swap.")
    check_number(board, number)
    return board.state.parse(SKIP if move.lower() == "pass" else move)


def check_number(board: Board, number: int | None) -> None:
    """Make sure that the next move has that number, if one is given. Raises Illegal."""
    if number not in {None, len(board.turns) + 1}:
        raise Illegal(f"That is meant as move {number}, but it would be move {len(board.turns) + 1}.")


def numbered(text: str) -> tuple[str, int | None]:
    """A move and the number that stands behind it; None if there is none."""
    move, mark, number = text.rpartition("#")
    is_number = mark and 0 < len(number) < 10 and number.isascii() and number.isdecimal()
    return (move, int(number)) if is_number else (text, None)


def check_time(session: Session, board: Board) -> None:
    """Make the player to move forfeit if he has used up his time. Raises Forfeited, which leaves that standing."""
    if not has_time(board, session.now()) and board.turn is not None:
        name = board.turn
        is_removed = can_leave(board)
        session.answer(None, *forfeit(session, board, name, out_of_time(board, name)))
        if is_removed:
            raise Forfeited(f"{name} had used up his time before the game began, so the board is removed.")
        raise Forfeited(f"{name} had used up his time, so the game is over: he has forfeited.", point=board.present)


def has_time(board: Board, now: datetime) -> bool:
    """Whether the player to move has not used up the time that he is allowed in the whole game."""
    total = board.row.total_days
    return total is None or board.turn is None or board.used(board.seat, now) < (total * clocks.DAY).total_seconds()


def out_of_time(board: Board, name: str) -> str:
    """Why a player forfeits who has used up his time."""
    return f"{name} has used up the {letters.counted(board.row.total_days or 0, 'day')} that each player is allowed."


def _unqueue(session: Session, board: Board, name: str) -> None:
    session.store.unqueue(board.row.game, board.row.board, name)
    del board.queued[name]


def _dropped(session: Session, board: Board, name: str, text: str, why: str) -> Letter:
    """The letter to a player whose queued move was not legal when his turn came."""
    row = board.row
    quoted = f"{row.game} queue {row.board} {name} PASSWORD {text}"
    reason = f"The move that you had queued could not be played, and is forgotten. {why}"
    letter = letters.of_error(reason, [quoted], game=row.game, point=board.present, reader=name)
    data = {"game": row.game, "board": row.board, "forgotten": text, "reply": reason}
    return letter._replace(to=name, thread=letters.thread(board), data=data)
