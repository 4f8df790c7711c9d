"""Reminders, by the server or by the other player, to move or to answer a proposal; and days given for a move."""

import re
from datetime import timedelta
from typing import NamedTuple

from games import Illegal
from pbm import letters, texts
from pbm.actions import endings, turns
from pbm.actions.finding import board_of_player
from pbm.board import clocks
from pbm.board.board import Board
from pbm.board.clocks import DueStep
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow

BETWEEN_NAGS = timedelta(days=3)
"""How long a player waits before they can remind the other one of the same board again."""
MOST_GIVEN = 30
"""How many days a player can give to the other one for a move."""


def nag(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Remind the other player in the name of this one. Raises Refused, and Illegal if they may not be reminded."""
    board = board_of_player(session, row, name)
    late = clocks.awaited(row)
    if name == board.mover:
        raise Illegal("It is your turn, so there is nobody to remind.")
    if name == late:
        raise Illegal("It is yours to answer the proposal, so there is nobody to remind.")
    if late in board.about.robots:
        raise Illegal(f"{late} is a robot, and is not reminded.")
    if not row.novacation:
        last_day = clocks.planned_until(session.store, late, session.now.date())
        if last_day:
            raise Illegal(f"{late} is on vacation through {last_day}, and is not reminded.")
    last_nag = session.store.boards.last_nag(*row.place, name)
    if last_nag and session.now < last_nag + BETWEEN_NAGS:
        again = (last_nag + BETWEEN_NAGS).astimezone(session.zone(name))
        raise Illegal(
            f"You have reminded {late} of this board within the last {BETWEEN_NAGS.days} days; you can again from "
            f"{again:{texts.TIME_FORMAT}} on."
        )
    session.store.boards.note_nag(*row.place, name, session.now)
    reminder = remind(session, board, late, f"{name} reminds you of this board.")
    game = row.game.capitalize()
    receipt = letters.to_user(
        name,
        letters.heading("reminded", player=late, board=f"{game} board {row.board}"),
        subject=f"{game} nag",
        answer=f"{row.game} show {row.board}",
        **row.place_data,
        reminded=late,
    )
    return [receipt, reminder]


def give(session: Session, row: BoardRow, name: str, word: str) -> list[Letter]:
    """Give the opponent more days for their present move; their total time grows, too. Raises Refused, and Illegal."""
    board = board_of_player(session, row, name)
    if name == board.mover:
        raise Illegal("It is your turn, so there is nobody to give time to.")
    if board.mover in board.about.robots:
        raise Illegal(f"{board.mover} is a robot, for which no time is counted.")
    endings.enforce_time(session, board)
    days = 0
    if re.fullmatch("[0-9]{1,2}", word, re.ASCII):
        days = int(word)
    if days == 0 or days + row.more_days > MOST_GIVEN:
        already = ""
        if row.more_days:
            already = f", and {board.mover} has {row.more_days} of them already"
        raise Illegal(f"You can give 1 to {MOST_GIVEN} days for a move{already}.")
    given_seconds = row.given_seconds + timedelta(days=days).total_seconds()
    board.change(more_days=row.more_days + days, given_seconds=given_seconds, nagged=None)
    board.change(notified_at=None, vote_notified_at=None)  # a reminder from before says a time that does not hold
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.save(board.row)
    given = texts.counted(days, "day")
    return turns.letters_about(session, board, f"{name} gives {board.mover} {given} more for this move.")


def remind(session: Session, board: Board, late: str, *notes: str) -> Letter:
    """Note on a board that a player is reminded. Returns the letter, which says when they lose, and by which rule."""
    row = board.row
    store = session.store
    now = session.now
    end, step = clocks.next_loss(store, row, late, now)
    loss = _loss(board, late, step)
    task = "move"
    if row.vote == "draw" and late == clocks.awaited(row):
        task = "answer the proposal"
    days = texts.counted(clocks.whole_days(row, now), "day")
    time = end.astimezone(session.zone(late))
    lines = [
        f"{late}, please {task}; the last move was {days} ago.",
        f"{loss.rule}.\nFrom {time:{texts.TIME_FORMAT}} on, {loss.outcome}.",
    ]
    if step is DueStep.FORFEIT and store.users.has_auto_vacation(late) and not row.novacation:
        year = now.year
        left = clocks.days_left(store, late, year)
        lines.append(
            "After that, each day takes a day of your vacation in place of the game.\n"
            f"Left in {year}: {texts.counted(left, 'day')}."
        )
    reminder = "\n".join(lines)
    [letter] = letters.of_board(session, board.present, late, notes=list(notes) + [reminder])
    board.change(nagged=clocks.next_time(row, now))
    store.boards.save(board.row)
    if not any(address.is_usable for address in store.users.addresses(late)):
        store.boards.give_notice(*row.place, late, now)  # nothing is sent that could leave
    return letter._replace(subject=f"Nag: {letter.subject}", is_urgent=True, reminds=board.name)


class Loss(NamedTuple):
    """How a player loses who does nothing, in words for a reminder."""

    rule: str
    """The rule by which they lose, as a sentence without its full stop."""
    outcome: str
    """What happens then, such as ``you forfeit``."""


def _loss(board: Board, late: str, step: DueStep) -> Loss:
    """How a player loses by a step of the clean-up."""
    row = board.row
    if step is DueStep.ROUND_OVER:
        rule = "Whoever is to move at the end of the round forfeits"
        if late != row.turn:  # they are asked to answer a proposal
            return Loss(rule, f"{row.turn} forfeits")
        return Loss(rule, "you forfeit")
    if clock := clocks.clock_of(row):
        if endings.can_leave(board):
            return Loss(f"A board is removed that does not begin in time ({clock.words})", "it is removed")
        return Loss(f"A player whose clock runs out forfeits ({clock.words})", "you forfeit")
    if step is DueStep.OUT_OF_TIME and not endings.can_leave(board):
        total = texts.counted(row.total_days or 0, "day")
        return Loss(f"A player who uses {total} in the whole game forfeits", "you forfeit")
    _, forfeit_days = clocks.limits(row)
    allowed = texts.counted(forfeit_days, "day")
    if step is DueStep.FORFEIT and row.vote == "draw":
        return Loss(f"A player who does not answer for {allowed} accepts", "your silence counts as accepting")
    if endings.can_leave(board):
        return Loss(f"A board that does not begin within {allowed} is removed", "it is removed")
    return Loss(f"A player who does not move for {allowed} forfeits", "you forfeit")
