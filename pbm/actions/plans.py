"""Plans: what the server plays for a player as soon as the opponent has moved. A queued move is the simplest plan."""

from collections.abc import Sequence
from typing import NamedTuple

import games
from games import SKIP, Illegal
from pbm import letters
from pbm.actions import endings, stored_plans, votes
from pbm.actions.finding import board_of_player
from pbm.board import plan_lines, typed_moves
from pbm.board.board import RESIGN, Board
from pbm.board.plan_lines import ANY_MOVE, Conditional, PlanLine, text_of_branch
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow
from pbm.texts import clean

CLEAR = "clear"
"""The word that is written instead of a plan, or of a queued move, to forget it."""
LONGEST_MOVE = 4999
"""How many characters a planned move may have; moves of our games are much shorter."""


def plan(session: Session, row: BoardRow, name: str, lines: Sequence[PlanLine], *notes: str) -> list[Letter]:
    """Add lines to the plan of a player; show the plan, with *notes*. Raises Illegal."""
    board = board_of_player(session, row, name)
    if name == board.mover and lines:
        raise Illegal("It is your turn. Make your move; a plan can stand below it, above your comment.")
    if lines:
        add(session, board, name, lines)
    all_notes = list(notes)
    planned = _planned(board, name)
    if not planned:
        all_notes.append("You have no plan on this board.")
    elif any(len(line) > 1 for line in planned):  # a tree of single steps would repeat the plan
        tree = "\n".join(plan_lines.tree(planned))
        all_notes.append(f"Your plan as a tree:\n{tree}")
    return board_for(session, board, name, *all_notes)


def add(session: Session, board: Board, name: str, lines: Sequence[PlanLine], *after: str) -> None:
    """Add lines to the plan of a player, for the position *after* the given moves.

    Raises Illegal if a line has a move that is known to be illegal.
    """
    endings.enforce_time(session, board)
    if board.plans.get(name) == RESIGN:
        cancel = f"{board.row.game} move {board.number} {name} PASSWORD unresign"
        raise Illegal(f"You resign when your turn comes. To plan a move, cancel this first:\n{cancel}")
    plan_lines.check_size(lines)
    trial = board.trial()
    for move in after:
        trial.play(str(trial.mover), move, session.now)
    added = _checked(session, trial, name, lines)
    earlier = _checked(session, trial, name, _planned(board, name), is_new=False)
    stored_plans.replace_plan(session, board, name, plan_lines.text_of_plan(plan_lines.merged(earlier, added)))


def _planned(board: Board, name: str) -> list[PlanLine]:
    """The lines of a player's plan. There are none if they will resign."""
    plan = board.plans.get(name, "")
    if plan == RESIGN:
        return []
    return plan_lines.branches(plan)


class TriedBranch(NamedTuple):
    """The beginning of a line of a plan, when its moves have been tried."""

    steps: PlanLine
    """The steps of the branch; moves that could be tried are canonical."""
    board: Board | None
    """The board after them; None if its position is not known."""


def _checked(
    session: Session, present: Board, name: str, lines: Sequence[PlanLine], *, is_new: bool = True
) -> list[PlanLine]:
    """The lines of a plan; moves that can be tried become canonical.

    Raises Illegal, naming the branch, for a wrong move in new lines. In older ones it is left as it is: when they were
    typed, their position was not known.
    """
    opponent = present.row.opponent(name)
    tried: dict[PlanLine, TriedBranch] = {(): TriedBranch((), present)}  # lines that begin alike are tried once
    for line in lines:
        _check_conditions(present, line)
        for length, step in enumerate(line, 1):
            branch = line[:length]
            if branch in tried:
                continue
            earlier = tried[line[: length - 1]]
            trial = None
            if earlier.board and step.theirs != ANY_MOVE:
                trial = earlier.board.trial()
            moves: list[str] = []
            for mover, move in (opponent, step.theirs), (name, step.mine):
                try:
                    if trial:
                        moves.append(_tried(session, trial, mover, move))
                    else:
                        moves.append(_written(present, move))
                except Illegal as why:
                    if is_new and plan_lines.queued([line]):  # a queued move is no branch
                        raise
                    if is_new:
                        raise Illegal(f"{why} This is about `{text_of_branch(branch)}`.") from why
                    moves.append(move)
                    trial = None
            tried[branch] = TriedBranch(earlier.steps + (Conditional(*moves),), trial)
    return [tried[line].steps for line in lines]


def _check_conditions(board: Board, line: PlanLine) -> None:
    """Raises Illegal if a line names moves of the opponent in a game with dice: nobody knows the throws before."""
    if board.has_dice and any(step.theirs != ANY_MOVE for step in line):
        raise Illegal(f"In a game with dice, only `any` can stand behind `if`, and not as in `{text_of_branch(line)}`.")


def _tried(session: Session, trial: Board, name: str, text: str) -> str:
    """Play a move on a board that is not stored. Returns it in canonical form. Raises Illegal."""
    if trial.mover is None:
        raise Illegal("The game is over by then.")
    if trial.mover != name:
        raise Illegal(f"It is the turn of {trial.mover} by then.")
    _written(trial, text)  # raises Illegal for what is played instead of a move
    move = typed_moves.parsed(trial, text)
    trial.play(name, move, session.now)
    return move


def _written(board: Board, text: str) -> str:
    """A move as it was typed. Raises Illegal if it can be no move."""
    move, _ = typed_moves.split_number(text)
    word = move.lower()
    if len(text) > LONGEST_MOVE:
        raise Illegal(f"{text[:20]!r} begins a word of {len(text)} characters, which is no move.")
    if word in votes.INSTEAD_OF_A_MOVE:
        raise Illegal(f"`{word}` cannot be planned; give it with `move`, also when it is not your turn.")
    if word == "move":
        raise Illegal(f"{move} is a placeholder; write your move in its place ({games.notation(board.row.game)}).")
    if word == "pass":
        return SKIP
    return clean(text)


def forget(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Forget the plan of a player, a queued move included. Raises Illegal if there is none."""
    board = board_of_player(session, row, name)
    if not _planned(board, name):
        raise Illegal("There is no plan of yours on this board.")
    stored_plans.delete_plan(session, board, name)
    return board_for(session, board, name, "Your plan is forgotten.")


def forget_queued(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Forget the queued move of a player, and keep the rest of their plan. Raises Illegal if there is none."""
    board = board_of_player(session, row, name)
    lines = _planned(board, name)
    kept = [line for line in lines if line[0].theirs != ANY_MOVE]
    if kept == lines:
        raise Illegal("There is no queued move of yours on this board.")
    stored_plans.replace_plan(session, board, name, plan_lines.text_of_plan(kept))
    return board_for(session, board, name, "Your queued move is forgotten.")


def board_for(session: Session, board: Board, name: str, *notes: str) -> list[Letter]:
    """The letter that shows a player their board. A command sent to a reply address is answered to its sender."""
    [letter] = letters.of_board(session, board.present, name, notes=notes)
    if session.proved:
        return [letter._replace(to=None)]
    return [letter]
