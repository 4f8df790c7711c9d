"""Votes: a player proposes a draw, or to take a move back, and the other one accepts or rejects it."""

from collections.abc import Callable, Mapping

from games import Illegal
from pbm import letters
from pbm.actions import comments, endings, stored_plans, turns
from pbm.board.board import PROPOSALS, RESIGN, Board
from pbm.letters import Letter
from pbm.names import display_name
from pbm.session import Session


def propose(session: Session, board: Board, name: str) -> list[Letter]:
    """Propose a draw."""
    return _put_to_vote(session, board, name, "draw")


def undo(session: Session, board: Board, name: str) -> list[Letter]:
    """Propose to take the last move back. Raises Illegal if the game or the board does not allow it."""
    if board.has_dice:
        raise Illegal("A game with dice has no undo, because the next throw has been seen.")
    if all(turn.automatic for turn in board.turns[board.row.given :]):
        raise Illegal("No move has been made that could be taken back.")
    return _put_to_vote(session, board, name, "undo")


def accept(session: Session, board: Board, name: str) -> list[Letter]:
    """Accept what the other player has proposed, and do it. Raises Illegal."""
    _check_open(board)
    opponent = board.row.opponent(name)
    if name == board.row.voter and name != opponent:  # a user who plays both sides answers their own proposal
        raise Illegal(f"You proposed this yourself. Waiting for {opponent} to answer.")
    _set_comment(session, board, name)
    if board.row.vote == "draw":
        return endings.agree_draw(session, board)
    return _take_back(session, board)


def reject(session: Session, board: Board, name: str) -> list[Letter]:
    """Reject what the other player has proposed, or withdraw the player's own proposal. Raises Illegal."""
    _check_open(board)
    proposal = PROPOSALS[str(board.row.vote)]
    _set_comment(session, board, name)
    asked = board.row.opponent(str(board.row.voter))
    session.store.outbox.drop_reminders(board.name, asked)  # the proposer is still reminded of their move
    board.change(vote=None, voter=None)
    session.store.boards.save(board.row)
    return turns.letters_about(session, board, f"{display_name(name)} has rejected the proposal: {proposal}.")


def _put_to_vote(session: Session, board: Board, name: str, vote: str) -> list[Letter]:
    """Store a proposal, one of PROPOSALS; it replaces an earlier one. Raises Illegal if it was made already."""
    voter = board.row.voter
    if board.row.vote == vote:
        proposal = letters.proposal(board, name)
        if voter == name:
            raise Illegal(f"You have proposed {proposal} already.")
        raise Illegal(f"{voter} has proposed {proposal} already; `accept` or `reject` answers.")
    _set_comment(session, board, name)
    board.change(vote=vote, voter=name, vote_notified_at=None)
    if name == board.row.opponent(name):  # a user who plays both sides need not ask
        return accept(session, board, name)
    session.store.boards.save(board.row)
    return turns.letters_about(session, board)


def _take_back(session: Session, board: Board) -> list[Letter]:
    """Take back the turns that the proposal names."""
    first = board.turns_before_undo(str(board.row.voter))
    taken_back = ", ".join(turn.text for turn in board.turns[first:])
    board.stop_clock(session.now)
    board.take_back(first)
    planning = [name for name, plan in board.plans.items() if plan != RESIGN]
    for name in planning:
        stored_plans.drop_plan(session, board, name, "Your plan is dropped, because a move was taken back.")
    board.change(vote=None, voter=None, submitted=None, moves=first, turn=board.mover)
    if board.row.weekends:
        board.change(weekends=str(session.zone(board.mover)))
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.take_back_turns(board.row)
    session.note("undo", **board.row.place_data, pool=board.row.pool, moves=first)
    return turns.letters_about(session, board, f"Taken back: {taken_back}.")


def _check_open(board: Board) -> None:
    """Raises Illegal if nothing is proposed on a board."""
    if not board.row.vote:
        raise Illegal("Nothing is proposed on this board.")


def _set_comment(session: Session, board: Board, name: str) -> None:
    """Put the comment of the command, if it has one, on a board."""
    if session.comment:
        board.change(comment=session.comment, commenter=name)
        comments.keep_comment(session, board)


INSTEAD_OF_A_MOVE: Mapping[str, Callable[[Session, Board, str], list[Letter]]] = {
    "resign": endings.resign_or_leave,
    "unresign": endings.unresign,
    "propose": propose,
    "undo": undo,
    "accept": accept,
    "reject": reject,
}
"""The words for a move that a player can write whether or not it is their turn."""
