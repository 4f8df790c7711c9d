"""What follows from a turn: what the server plays by itself, how a game ends, and who is told."""

from games import SKIP, Illegal
from pbm import letters
from pbm.actions.moves import parsed
from pbm.board import ratings
from pbm.board.board import RESIGN, Board
from pbm.letters import Letter
from pbm.session import Session

SERVER = "The server"
"""Who writes the comment of a turn that the server makes a player take."""


def played(
    session: Session, board: Board, name: str, text: str, *, automatic: bool = False, reason: str | None = None
) -> list[Letter]:
    """Add a turn and all that follows from it, and tell everybody.

    The *reason*, one of REASONS, is why the game ends by that turn, if the turn does not say so.
    """
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
    dropped = go_on(session, board, before, reason)
    return [*told(session, board), *dropped]


def go_on(session: Session, board: Board, before: int, reason: str | None = None) -> list[Letter]:
    """Play what the server has to play, and store all turns after the first *before* ones.

    The *reason* is why the game is over, if the turns do not say so. Returns the letters to players whose queued moves
    could not be played.
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
        end(session, board, reason)
    session.store.drop_reminders(board.name)
    session.store.save_board(board.row, before + 1, board.turns[before:])
    return dropped


def end(session: Session, board: Board, reason: str | None = None) -> None:
    """Note that the game is over, and what that does to ratings. The row has still to be stored."""
    game, number = board.row.game, board.row.board
    board.queued.clear()
    session.store.unqueue(game, number)
    board.row = board.row._replace(
        turn=None,
        ended=session.now(),
        winner=board.winner,
        reason=reason or board.reasons[0],
        vote=None,
        voter=None,
        submitted=None,
    )
    results = ratings.settle(session.store, board.row, session.now(), has_begun=board.has_begun)
    if board.resigned:
        session.store.follow(game, number, board.resigned, "subscriber")
    board.about = board.about._replace(results=results)


def told(session: Session, board: Board, *notes: str) -> list[Letter]:
    """The letters about what has happened on a board: to players, to subscribers, and of an end to those notified."""
    players = dict.fromkeys(board.players)
    readers = dict.fromkeys([*players, *board.about.subscribers])
    told = letters.of_board(board.present, *readers, now=session.now(), zones=session.zone, notes=notes)
    if board.is_over:
        notified = {*board.about.notified, *session.store.notified_of_all(board.row.game)} - {*readers}
        told += letters.of_board(
            board.present, *sorted(notified), now=session.now(), zones=session.zone, kind=letters.NOTIFICATION
        )
    return told


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
    return letter._replace(to=name, thread=letters.thread(board), data=data, is_urgent=True)


def forgotten(session: Session, board: Board, name: str, note: str) -> list[Letter]:
    """Forget what a player wanted to be played when his turn comes."""
    session.store.unqueue(board.row.game, board.row.board, name)
    del board.queued[name]
    return letters.of_board(board.present, name, now=session.now(), zones=session.zone, notes=[note])
