"""Ask for a robot's analysis of a game that is over; `robot_players/analysis` makes and mails it."""

from itertools import islice

from pbm import letters
from pbm.access.quotas import most
from pbm.actions.finding import board_of, played_source
from pbm.board.board import LEAVING, Board
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow


def ask(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Note that a user wants the analysis of a game that is over. Raises Refused."""
    board = board_of(session, row)
    choices(board)
    if played := played_source(session, row):
        raise Refused(f"It began with a position of board {played}, on which two people still play.")
    if not session.store.users.addresses(name):
        raise Refused("An analysis comes by mail, and you have no mail address.")
    if not session.take("analysis", user=name):
        raise Refused(f"You can ask for {most('analysis', 'user')} analyses a day.")
    session.store.robots.ask_for_analysis(*row.place, name, session.now)
    title = f"{row.game.capitalize()} board {row.board}"
    text = letters.heading("analysis", board=title, player=name)
    subject = f"{title} analysis"
    answer = f"{row.game} show {row.board}"
    return [letters.to_user(name, text, subject=subject, answer=answer, **row.place_data, wanted="analysis")]


def choices(board: Board) -> list[int]:
    """The turns in which a player had a choice, each as the number of turns before it. Raises Refused if none had."""
    title = f"{board.row.game.capitalize()} board {board.number}"
    if not board.is_over:
        raise Refused(f"The game on {title} goes on; it can be analysed when it is over.")
    numbers = []
    for number, turn in enumerate(board.turns):
        if turn.text in LEAVING:
            continue
        first_two = islice(board.states[number].moves(), 2)  # there may be thousands
        if len(list(first_two)) > 1:
            numbers.append(number)
    if not numbers:
        raise Refused(f"There was no choice between turns on {title}.")
    return numbers
