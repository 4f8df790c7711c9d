"""Plans as the server keeps them: storing and dropping them, and playing the answer that one has to a move.

The commands with which players make, see and forget plans stand in `plans`.
"""

from collections.abc import Sequence
from contextlib import suppress

from games import Illegal
from pbm import texts
from pbm.board import plan_lines, typed_moves
from pbm.board.board import DROPPED, Board
from pbm.board.plan_lines import PlanLine
from pbm.session import Session


def replace_plan(session: Session, board: Board, name: str, plan: str) -> None:
    """Replace the plan of a player by another one, or by RESIGN. An empty text is no plan."""
    delete_plan(session, board, name)
    if plan:
        board.plans[name] = plan
        session.store.boards.keep_plan(*board.row.place, name, plan)


def delete_plan(session: Session, board: Board, name: str) -> None:
    """Delete the plan of a player, or the reason why it was dropped."""
    session.store.boards.drop_plans(*board.row.place, name)
    board.plans.pop(name, None)


def drop_plan(session: Session, board: Board, name: str, why: str) -> None:
    """Drop the plan of a player. The letter about the move tells them why.

    A player without an address is told whenever they see the board, until they move or plan again.
    """
    delete_plan(session, board, name)
    board.dropped_plans[name] = why
    if not session.store.users.addresses(name):
        session.store.boards.keep_plan(*board.row.place, name, f"{DROPPED}{why}")


def play_answer(session: Session, board: Board, name: str) -> str | None:
    """Play the answer of a player's plan to the last move, or drop the plan if it has no legal one.

    What the plan says about later moves is kept. Returns the answer in canonical form; None if none was played.
    """
    last_move = board.turns[-1].text
    answer, rest = plan_lines.reply_to(plan_lines.branches(board.plans[name]), last_move)
    if not answer:
        why = f"Your plan has no answer to {texts.wrapped_turns(last_move)}, and is dropped."
        drop_plan(session, board, name, why)
        return None
    try:
        move = typed_moves.parsed(board, answer)
    except Illegal as objection:
        answer = texts.wrapped_turns(answer)
        why = f"{answer}, which you had planned, cannot be played, and your plan is dropped. {objection}"
        drop_plan(session, board, name, why)
        return None
    board.play(name, move, session.now, automatic=True)
    replace_plan(session, board, name, plan_lines.text_of_plan(_with_known_conditions(board, rest)))
    return move


def _with_known_conditions(board: Board, lines: Sequence[PlanLine]) -> list[PlanLine]:
    """The lines of a plan, with their first conditions in canonical form if they are legal now.

    Behind `any`, these were not known before. A move of the opponent is then compared with texts, which is fast.
    """
    canonical: dict[str, str] = {}  # many lines may begin with one condition
    known_lines = []
    for line in lines:
        first = line[0]
        if first.theirs not in canonical:
            canonical[first.theirs] = _canonical_if_legal(board, first.theirs)
        known_first = first._replace(theirs=canonical[first.theirs])
        known_lines.append((known_first,) + line[1:])
    return known_lines


def _canonical_if_legal(board: Board, text: str) -> str:
    """A move in canonical form if it is legal now; else as it is."""
    with suppress(Illegal):
        return typed_moves.parsed(board, text)
    return text
