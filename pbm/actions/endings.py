"""Endings that no rule of a game makes: players resign, leave, forfeit or agree on a draw; boards are removed."""

from dataclasses import replace

from games import Illegal
from pbm import delivery, letters, texts
from pbm.actions import absences, stored_plans, turns
from pbm.board import clocks
from pbm.board.board import FIRST_MOVES, FORFEIT, RESIGN, Board
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

# Resigning and leaving


def can_leave(board: Board) -> bool:
    """Whether giving up now removes the board, because the play has hardly begun."""
    return len(board.turns) - board.row.given < FIRST_MOVES and board.row.pool is None


def resign_or_leave(session: Session, board: Board, name: str) -> list[Letter]:
    """Resign for a player, or leave the board (`can_leave`). If it is not their turn, they resign when it comes."""
    row = board.row
    if name == board.mover or can_leave(board):
        return quit_board(session, board, name)
    if board.plans.get(name) == RESIGN:
        cancel = f"{row.game} move {row.board} {name} PASSWORD unresign"
        raise Illegal(f"You resign already when your turn comes; this cancels it:\n{cancel}")
    notes = []
    if name in board.plans:
        notes.append("Your plan is forgotten.")
    stored_plans.replace_plan(session, board, name, RESIGN)
    [letter] = letters.of_board(session, board.present, name, notes=notes)
    return [letter._replace(subject=f"{row.game.capitalize()} Board {row.board} Resigned", is_urgent=True)]


def unresign(session: Session, board: Board, name: str) -> list[Letter]:
    """Take back a resignation that waits for the player's turn. Raises Illegal if there is none."""
    if board.plans.get(name) != RESIGN:
        raise Illegal("You have not resigned on this board.")
    stored_plans.delete_plan(session, board, name)
    return letters.of_board(session, board.present, name, notes=["Your resignation is taken back."])


def quit_board(
    session: Session, board: Board, name: str, text: str = RESIGN, reason: str | None = None
) -> list[Letter]:
    """End a game by the turn RESIGN or FORFEIT of a player, or remove its board (`can_leave`). Returns the letters.

    The *reason* is one of REASONS; None stands for the usual one of that turn.
    """
    if not can_leave(board):
        return turns.play_turn(session, board, name, text, reason)
    remove_board(session, board, userid=name)
    deactivate(session, board.row.game, name)
    writer = turns.commenter(name, text)
    return [
        letters.of_removal(board, name, session.comment, to=reader, writer=writer) for reader in turns.readers_of(board)
    ]


def deactivate(session: Session, game: str, name: str) -> None:
    """Make a player inactive in the standings, unless they still play on a board of that game."""
    if not session.store.boards.active_counts([name], game)[name]:
        session.store.players.set_inactive(game, name, inactive=True)


# Forfeits


def forfeit(session: Session, board: Board, name: str, reason: str, why: str) -> list[Letter]:
    """Make a player forfeit. The *reason* is one of REASONS; *why* tells it in a sentence."""
    return quit_board(replace(session, comment=why), board, name, FORFEIT, reason)


def forfeit_by_total_time(session: Session, board: Board) -> list[Letter]:
    """Make the player to move forfeit, because they have used up their total time, or their clock has run out."""
    name = str(board.mover)
    allowed = texts.counted(board.row.total_days or 0, "day")
    why = f"{name} has used up the {allowed} that each player is allowed."
    if clock := clocks.clock_of(board.row):
        why = f"The clock of {name} has run out: {clock.words}."
    return forfeit(session, board, name, "total time", why)


def forfeit_by_round(session: Session, board: Board) -> list[Letter]:
    """Make the player to move forfeit, because the round of the tournament is over."""
    name = str(board.mover)
    return forfeit(session, board, name, "forfeited", f"The round is over, and it was {name}'s turn.")


def enforce_time(session: Session, board: Board) -> None:
    """Make the player to move forfeit if their total time is used up, or their round is over, and they had notice.

    Nobody forfeits if the server has been away, until a clean-up has given back that time.

    Raises Refused after a forfeit, which stands.
    """
    name = str(board.mover)
    row = board.row
    if name in board.about.robots:  # it is not their fault if nobody lets them play
        return
    if not clocks.has_notice(row, name, session.now):
        return
    if absences.away_since(session) or not session.store.absences.are_done():
        return
    if clocks.is_out_of_time(session.store, row, board.seat, session.now):
        forfeit_letters = forfeit_by_total_time(session, board)
        why = f"{name} had used up their time"
    elif row.until and session.now >= row.until:
        forfeit_letters = forfeit_by_round(session, board)
        why = f"The round was over, and it was {name}'s turn"
    else:
        return
    delivery.queue(session, *forfeit_letters)
    if not board.is_over:
        raise Refused(f"{why} before the game began, so the board is removed.", stands=True)
    raise Refused(f"{why}, so the game is over: they have forfeited.", point=board.present, stands=True)


# Draws


def agree_draw(session: Session, board: Board, *notes: str, reason: str | None = None) -> list[Letter]:
    """End the game as a tie. The *reason* is one of REASONS; None stands for `agreed`."""
    board.stop_clock(session.now)
    board.change(drawn=True, reason=reason)
    board.judge()
    turns.store_turns(session, board)
    return turns.letters_about(session, board, *notes)


# Removing boards


def remove_board(session: Session, board: Board, **detail: str | None) -> None:
    """Remove a board and all that is stored of it. *detail* is part of its event."""
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.remove(*board.row.place, session.now)
    session.note("remove", **board.row.place_data, **detail)


def remove_and_tell(session: Session, board: Board, removal: str, answer: str) -> None:
    """Remove a board, and tell its players and subscribers.

    *removal* says what has happened to the board, such as `was removed by the operator of this server.`; *answer* is
    the command to reply with.
    """
    remove_board(session, board, pool=board.row.pool)
    title = f"{board.row.game.capitalize()} board {board.number}"
    text = letters.heading("removed", board=title, removal=removal)
    letter = letters.plain_letter(text, subject=f"{title} has been removed", answer=answer)
    for reader in turns.readers_of(board):
        delivery.queue(session, letter._replace(to=reader, thread=board.thread))
