"""Boards played again from what is written of them, where every turn is doubted."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import games
from games import SKIP, Illegal, State
from pbm import texts
from pbm.board.board import FORFEIT, RESIGN, Board
from pbm.store import BoardRow, TurnRow

LEAVING = frozenset({RESIGN, FORFEIT})
"""Turns that are no moves of the game, but end it."""


class Unsound(Exception):
    """A turn that cannot have been played, or options that no game has. The text says which and why."""


def replayed(row: BoardRow, turns: Iterable[TurnRow]) -> Board:
    """The board that turns lead to when they are played one by one.

    The dice have to follow from the secret of the board; without a secret, and in the turns that it begins with, they
    are taken as they are written. Raises Unsound.
    """
    try:
        board = Board(row._replace(drawn=False), [], {})
    except (Illegal, LookupError) as why:
        raise Unsound(f"its options cannot be: {why}") from why
    before = row.started
    for number, turn in enumerate(turns, 1):
        if objection := _objection(board, turn, before):
            raise Unsound(f"turn {number}, {games.quoted(turn.text)}: {objection}")
        board.add(turn)
        before = turn.played
    if len(board.turns) < row.given:
        raise Unsound(f"{row.given} of its turns are those of board {row.source}, but it has {len(board.turns)}.")
    return board


def _objection(board: Board, turn: TurnRow, before: datetime) -> str:
    """Why a turn cannot have been played; empty if it can."""
    name = board.turn
    if name is None:
        return "the game was over before it."
    gives_up = turn.text in LEAVING and turn.userid in board.players
    if turn.userid != name and not gives_up:
        return f"it was {name}'s turn, not {turn.userid}'s."
    if turn.played < before:
        return "its time is before that of what went before it."
    try:
        if turn.dice and (not board.row.secret or len(board.turns) < board.row.given):
            board.set_dice(turn.dice)
    except Illegal as why:
        return str(why)
    thrown = board.state.dice if games.needs_dice(board.state) else ()
    if turn.dice != thrown:
        return f"its dice are {_dice(turn.dice)}, but {_dice(thrown)} follows from the secret of the board."
    if turn.text in LEAVING:
        return ""
    if board.state.must_skip:
        return "" if (turn.text, turn.automatic) == (SKIP, True) else f"the server has to skip this turn by {SKIP}."
    try:
        canonical = board.state.parse(turn.text)
    except Illegal as why:
        return str(why)
    is_right = canonical == turn.text or _lead_alike(board.state, turn.text, canonical)
    return "" if is_right else f"it is written {canonical}."


def _lead_alike(state: State, text: str, canonical: str) -> bool:
    """Whether a stored turn leads where its canonical text does, which may have been another one at its time."""
    try:
        after: State = state.play(text)
    except Exception:  # it may be anything, and a position trusts the texts that it is given
        return False
    return after == state.play(canonical)


def _dice(dice: tuple[int, ...]) -> str:
    return " ".join(map(str, dice)) or "none"


def outcome(row: BoardRow, board: Board, turns: int) -> BoardRow:
    """The row of a board with all in it that follows from its turns, as they were played again."""
    is_over = board.is_over or row.drawn
    reasons = ("agreed", "adjudicated") if row.drawn else board.reasons
    last = board.turns[-1].played if board.turns else row.started
    return row._replace(
        moves=turns,
        turn=None if is_over else board.turn,
        ended=(row.ended or last) if is_over else None,
        winner=None if row.drawn else board.winner,
        reason=row.reason if row.reason in reasons else next(iter(reasons), None),
    )


def differences(row: BoardRow, right: BoardRow) -> Iterator[str]:
    """What a row of a board says, where it does not say what is *right*."""
    if row.moves != right.moves:
        yield f"its row counts {texts.counted(row.moves, 'move')}, but the turns make {right.moves}."
    if row.turn != right.turn:
        yield f"its row says that {row.turn or 'nobody'} is to move, but it is {right.turn or 'nobody'}."
    if (row.ended is None) != (right.ended is None):
        yield f"its row says that the game is {'over' if row.ended else 'not over'}, which is wrong."
    if row.reason != right.reason:
        yield f"its row says that the end was {row.reason or 'none'}, but it is {right.reason or 'none'}."
    if row.winner != right.winner:
        yield f"its row says that {row.winner or 'nobody'} has won, but it is {right.winner or 'nobody'}."
