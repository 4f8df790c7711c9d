"""A move of a player, at once, later or on trial."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from games import Illegal
from pbm import letters, texts
from pbm.actions import forfeits, moves, resignations, turns, votes
from pbm.actions.finding import board_of
from pbm.actions.previews import tried
from pbm.actions.turns import forgotten
from pbm.board.board import RESIGN, Board
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow
from pbm.texts import clean

CLEAR = "clear"
"""What is queued in the place of a move to forget the one that is."""


def move(session: Session, row: BoardRow, name: str, text: str) -> list[Letter]:
    """Play a move, or do what stands in the place of one: resign, or vote.

    Raises Refused, and Forfeited if the player to move has used up their time.
    """
    return moved(session, board_of(session, row), name, text)


def resign(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Give up."""
    return move(session, row, name, "resign")


def swap(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Exchange sides."""
    return move(session, row, name, "swap")


def queue(session: Session, row: BoardRow, name: str, text: str) -> list[Letter]:
    """Store a move for later; or play it, if it is the player's turn."""
    board = board_of(session, row)
    check_plays(board, name)
    word, meant_as = moves.numbered(text.lower())
    if word == CLEAR:
        with _shown_to(board, name):
            moves.check_number(board, meant_as)
        told = _to_writer(session, _unqueued(session, board, name))
    elif name == board.turn:
        told = moved(session, board, name, text)
    else:
        told = _to_writer(session, _queued(session, board, name, text))
    return told


def submit(session: Session, row: BoardRow, name: str, text: str) -> list[Letter]:
    """Show what a move would lead to, and keep it until the player confirms it."""
    board = board_of(session, row)
    check_turn(session, board, name)
    with _shown_to(board, name):
        canonical = moves.parsed(board, text)
    board.row = board.row._replace(submitted=canonical)
    session.store.save_board(board.row)
    point = tried(board, canonical, session.now())
    note = f"Nothing is played yet: `confirm` plays {texts.broken(canonical)}."
    command = f"{row.game} confirm {board.row.board} {name} PASSWORD"
    [shown] = letters.of_board(
        point, None, now=session.now(), zones=session.zone, kind="Submit", notes=[note], command=command
    )
    return [shown._replace(facts=lambda: shown.data | {"submitted": canonical})]


def confirm(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Play the move that was submitted."""
    board = board_of(session, row)
    check_turn(session, board, name)
    if not board.row.submitted:
        raise Refused("There is no submitted move to confirm.", point=board.present, reader=name)
    return moved(session, board, name, board.row.submitted)


def moved(session: Session, board: Board, name: str, text: str) -> list[Letter]:
    """Do what a player writes in the place of a move."""
    check_plays(board, name)
    word, number = moves.numbered(text.lower())
    instead = INSTEAD_OF_A_MOVE.get(word)
    with _shown_to(board, name):
        if instead:
            moves.check_number(board, number)
            return instead(session, board, name)
        if word == "draw":
            raise Illegal("A draw is proposed by `propose` in the place of the move.")
    check_turn(session, board, name)
    with _shown_to(board, name):
        canonical = moves.parsed(board, text)
    return turns.played(session, board, name, canonical)


def check_plays(board: Board, name: str) -> None:
    """Raise Refused unless the game goes on, and that user plays it."""
    if board.is_over:
        raise Refused(f"The game has ended: {letters.status(board.row)}.")
    if name not in board.players:
        raise Refused(
            f"You do not play on this board; {' and '.join(dict.fromkeys(board.players))} do.",
            point=board.present,
            reader=name,
        )


def check_turn(session: Session, board: Board, name: str) -> None:
    """Raise Refused unless it is the player's turn, and there is time left for it."""
    check_plays(board, name)
    forfeits.check_time(session, board)
    if name != board.turn:
        raise Refused(f"It is not your turn; {board.turn} is to move.", point=board.present, reader=name)


@contextmanager
def _shown_to(board: Board, name: str) -> Iterator[None]:
    """Refuse what the rules refuse, with the board as it is."""
    try:
        yield
    except Illegal as why:
        raise Refused(str(why), point=board.present, reader=name) from why


def _to_writer(session: Session, told: list[Letter]) -> list[Letter]:
    """What is told of a queued move: in answer to a mail to a reply address, it goes where that came from."""
    return [letter._replace(to=None) for letter in told] if session.proved else told


def _unqueued(session: Session, board: Board, name: str) -> list[Letter]:
    """Forget a queued move."""
    if board.queued.get(name) in {None, RESIGN}:
        raise Refused("There is no queued move of yours.", point=board.present, reader=name)
    return forgotten(session, board, name, "Your queued move is forgotten.")


def _queued(session: Session, board: Board, name: str, text: str) -> list[Letter]:
    """Store a move that will be looked at when it is the player's turn."""
    forfeits.check_time(session, board)
    word, _ = moves.numbered(text.lower())
    with _shown_to(board, name):
        if word in INSTEAD_OF_A_MOVE:
            raise Illegal(f"`{word}` cannot be queued; give it with `move`, also when it is not your turn.")
        if board.queued.get(name) == RESIGN:
            raise Illegal("You resign when your turn comes; `unresign` that before you queue a move.")
        moves.check_written(board.row.game, text)
    session.store.queue(board.row.game, board.row.board, name, clean(text))
    board.queued[name] = clean(text)
    return letters.of_board(board.present, name, now=session.now(), zones=session.zone)


INSTEAD_OF_A_MOVE: Mapping[str, Callable[[Session, Board, str], list[Letter]]] = {
    "resign": resignations.resign,
    "unresign": resignations.unresign,
    "propose": votes.propose,
    "undo": votes.undo,
    "accept": votes.accept,
    "reject": votes.reject,
}
"""What a player can write where a move stands, whether or not it is his turn."""
