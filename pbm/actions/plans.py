"""Plans: what the server plays for a player as soon as the opponent has moved. A queued move is the simplest plan."""

from collections.abc import Sequence

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
"""The word in the place of a plan, or of a queued move, that forgets it."""
LONGEST_MOVE = 4999
"""How many characters a planned move may have; moves of our games are much shorter."""


def plan(session: Session, row: BoardRow, name: str, lines: Sequence[PlanLine], *notes: str) -> list[Letter]:
    """Add lines to the plan of a player; show the plan, with *notes*. Raises Illegal."""
    board = board_of_player(session, row, name)
    if name == board.turn and lines:
        raise Illegal("It is your turn. Make your move; a plan can stand below it, above your comment.")
    if lines:
        add(session, board, name, lines)
    planned = _planned(board, name)
    if any(len(line) > 1 for line in planned):
        notes = (*notes, "\n".join(["Your plan as a tree:", *plan_lines.tree(planned)]))
    elif not planned:
        notes = (*notes, "You have no plan on this board.")
    return board_for(session, board, name, *notes)


def add(session: Session, board: Board, name: str, lines: Sequence[PlanLine], *after: str) -> None:
    """Add lines to the plan of a player, for the position *after* the given moves.

    Raises Illegal if a line has a move that is known to be illegal.
    """
    endings.enforce_time(session, board)
    if board.plans.get(name) == RESIGN:
        cancel = f"{board.row.game} move {board.row.board} {name} PASSWORD unresign"
        raise Illegal(f"You resign when your turn comes. To plan a move, cancel this first:\n{cancel}")
    plan_lines.check_size(lines)
    trial = board.trial()
    for move in after:
        trial.play(str(trial.turn), move, session.now)
    added = _checked(session, trial, name, lines)
    known = _checked(session, trial, name, _planned(board, name), is_new=False)
    stored_plans.replace(session, board, name, plan_lines.text_of_plan(plan_lines.merged(known, added)))


def _planned(board: Board, name: str) -> list[PlanLine]:
    """The lines of a player's plan. There are none if they will resign."""
    plan = board.plans.get(name, "")
    return [] if plan == RESIGN else plan_lines.branches(plan)


def _checked(
    session: Session, present: Board, name: str, lines: Sequence[PlanLine], *, is_new: bool = True
) -> list[PlanLine]:
    """The lines with canonical moves, as far as these can be tried.

    Raises Illegal, naming the branch, for a wrong move in new lines. In older ones it is left as it is: when they were
    typed, their position was not known.
    """
    tried: dict[PlanLine, tuple[PlanLine, Board | None]] = {(): ((), present)}
    for line in lines:
        if present.has_dice and any(step.theirs != ANY_MOVE for step in line):
            raise Illegal(
                f"In a game with dice, only `any` can stand behind `if`, and not as in `{text_of_branch(line)}`."
            )
        for at, step in enumerate(line):
            begin = line[: at + 1]
            if begin in tried:
                continue
            steps, before = tried[line[:at]]
            trial = before.trial() if before and step.theirs != ANY_MOVE else None
            moves: list[str] = []
            for mover, move in (present.row.opponent(name), step.theirs), (name, step.mine):
                try:
                    moves.append(_tried(session, trial, mover, move) if trial else _written(present, move))
                except Illegal as why:
                    if is_new:  # a queued move is no branch
                        branch = "" if plan_lines.queued([line]) else f" This is about `{text_of_branch(begin)}`."
                        raise Illegal(f"{why}{branch}") from why
                    moves.append(move)
                    trial = None
            tried[begin] = (*steps, Conditional(*moves)), trial
    return [tried[line][0] for line in lines]


def _tried(session: Session, trial: Board, name: str, text: str) -> str:
    """Play a move on a board that is not stored. Returns it in canonical form. Raises Illegal."""
    if trial.turn is None:
        raise Illegal("The game is over by then.")
    if trial.turn != name:
        raise Illegal(f"It is the turn of {trial.turn} by then.")
    _written(trial, text)  # raises Illegal for what is played instead of a move
    move = typed_moves.parsed(trial, text)
    trial.play(name, move, session.now)
    return move


def _written(board: Board, text: str) -> str:
    """A move as it was typed, if it can be one. Raises Illegal."""
    word, _ = typed_moves.split_number(text)
    if len(text) > LONGEST_MOVE:
        raise Illegal(f"{text[:20]!r} begins a word of {len(text)} characters, which is no move.")
    if word.lower() in votes.INSTEAD_OF_A_MOVE:
        raise Illegal(f"`{word.lower()}` cannot be planned; give it with `move`, also when it is not your turn.")
    if word.lower() == "move":
        raise Illegal(f"{word} is a placeholder; write your move in its place ({games.notation(board.row.game)}).")
    return SKIP if word.lower() == "pass" else clean(text)


def forget(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Forget the plan of a player, a queued move included. Raises Illegal if there is none."""
    board = board_of_player(session, row, name)
    if not _planned(board, name):
        raise Illegal("There is no plan of yours on this board.")
    stored_plans.delete(session, board, name)
    return board_for(session, board, name, "Your plan is forgotten.")


def forget_queued(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Forget the queued move of a player, and keep the rest of their plan. Raises Illegal if there is none."""
    board = board_of_player(session, row, name)
    lines = _planned(board, name)
    kept = [line for line in lines if line[0].theirs != ANY_MOVE]
    if kept == lines:
        raise Illegal("There is no queued move of yours on this board.")
    stored_plans.replace(session, board, name, plan_lines.text_of_plan(kept))
    return board_for(session, board, name, "Your queued move is forgotten.")


def board_for(session: Session, board: Board, name: str, *notes: str) -> list[Letter]:
    """The letter that shows a player their board. A command sent to a reply address is answered to its sender."""
    told = letters.of_board(session, board.present, name, notes=notes)
    return [letter._replace(to=None) for letter in told] if session.proved else told
