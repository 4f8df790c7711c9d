"""Reminders, by the server or by the other player, to move or to answer a proposal; and days given for a move."""

import re
from datetime import timedelta

from games import Illegal
from pbm import letters, texts
from pbm.actions import endings, turns
from pbm.actions.finding import board_of_player
from pbm.board import clocks
from pbm.board.board import Board
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow

BETWEEN_NAGS = timedelta(days=3)
"""How long a player waits before they can remind the other one of the same board again."""
MOST_GIVEN = 30
"""How many days a player can give to the other one for a move."""


def nag(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Remind the other player in the name of this one. Raises Refused, and Illegal if they are not to be reminded."""
    board, late = board_of_player(session, row, name), clocks.awaited(row)
    if name in {board.turn, late}:
        what = "yours to answer the proposal" if name == late != board.turn else "your turn"
        raise Illegal(f"It is {what}, so there is nobody to remind.")
    if late in board.about.robots:
        raise Illegal(f"{late} is a robot, and is not reminded.")
    away = None if row.novacation else clocks.planned_until(session.store, late, session.now.date())
    if away:
        raise Illegal(f"{late} is on vacation through {away}, and is not reminded.")
    last = session.store.boards.last_nag(*row.place, name)
    if last and session.now < last + BETWEEN_NAGS:
        again = f"{(last + BETWEEN_NAGS).astimezone(session.zone(name)):{texts.TIME_FORMAT}}"
        why = f"You have reminded {late} of this board within the last 3 days; you can again from {again} on."
        raise Illegal(why)
    session.store.boards.note_nag(*row.place, name, session.now)
    reminder = remind(session, board, late, f"{name} reminds you of this board.")
    text = letters.heading("reminded", player=late, board=f"{row.game.capitalize()} board {row.board}")
    told = letters.to_user(
        name,
        text,
        subject=f"{row.game.capitalize()} nag",
        answer=f"{row.game} show {row.board}",
        **row.place_data,
        reminded=late,
    )
    return [told, reminder]


def give(session: Session, row: BoardRow, name: str, word: str) -> list[Letter]:
    """Give the opponent more days for their present move; their total time grows, too. Raises Refused, and Illegal."""
    board = board_of_player(session, row, name)
    if name == board.turn:
        raise Illegal("It is your turn, so there is nobody to give time to.")
    if board.turn in board.about.robots:
        raise Illegal(f"{board.turn} is a robot, for which no time is counted.")
    endings.enforce_time(session, board)
    days = int(word) if re.fullmatch("[0-9]{1,2}", word, re.ASCII) else 0
    if not 1 <= days + row.more_days <= MOST_GIVEN or not days:
        already = f", and {board.turn} has {row.more_days} of them already" if row.more_days else ""
        raise Illegal(f"You can give 1 to {MOST_GIVEN} days for a move{already}.")
    board.change(more_days=row.more_days + days, nagged=None)
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.save(board.row)
    given = texts.counted(days, "day")
    return turns.letters_about(session, board, f"{name} gives {board.turn} {given} more for this move.")


def remind(session: Session, board: Board, late: str, *notes: str) -> Letter:
    """Note on a board that a player is reminded. Returns the letter, which tells when, and by which rule, they lose."""
    row, store, now = board.row, session.store, session.now
    _, forfeit = clocks.limits(row)
    days, allowed = (texts.counted(number, "day") for number in (clocks.whole_days(row, now), forfeit))
    if row.vote == "draw":
        what, rule = "answer the proposal", f"A player who does not answer for {allowed} accepts"
        then = "your silence counts as accepting"
    elif endings.can_leave(board):
        what, rule, then = "move", f"A board that does not begin within {allowed} is removed", "it is removed"
    else:
        what, rule, then = "move", f"A player who does not move for {allowed} forfeits", "you forfeit"
    end, is_by_move = now + clocks.time_left(store, row, now), False
    if end == row.until:
        rule = "Whoever is to move at the end of the round forfeits"
        then = "you forfeit" if late == row.turn else f"{row.turn} forfeits"
    elif end < clocks.ends_at(store, row, now):
        if not endings.can_leave(board):
            rule = f"A player who uses {texts.counted(row.total_days or 0, 'day')} in the whole game forfeits"
            then = "you forfeit"
    else:
        is_by_move = True
    told = [
        f"{late}, please {what}; the last move was {days} ago.",
        f"{rule}.\nFrom {end.astimezone(session.zone(late)):{texts.TIME_FORMAT}} on, {then}.",
    ]
    if is_by_move and store.users.has_auto_vacation(late) and not row.novacation:
        today = now.date()
        left = clocks.days_left(store, late, today.year)
        told.append(
            "After that, each day takes a day of your vacation in place of the game.\n"
            f"Left in {today.year}: {texts.counted(left, 'day')}."
        )
    [letter] = letters.of_board(session, board.present, late, notes=[*notes, "\n".join(told)])
    board.change(nagged=clocks.next_time(row, now))
    store.boards.save(board.row)
    return letter._replace(subject=f"Nag: {letter.subject}", is_urgent=True, reminds=board.name)
