"""Puzzles by mail: who gets one a week, and the mail; `robot_players/puzzles` finds them."""

from datetime import timedelta

from pbm import delivery, letters
from pbm.access.tokens import PUZZLES
from pbm.actions.finding import find_board
from pbm.blocks import Paragraph
from pbm.drawing.images import caption
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

BETWEEN_PUZZLES = timedelta(days=6, hours=12)
"""A week, less half a day: the daily clean-up may run somewhat earlier than a week ago."""
SCROLL = 20 * "\n"
"""Keeps the answer off the screen on which the puzzle is read."""


def switch(session: Session, name: str, word: str) -> list[Letter]:
    """Store whether a user gets a puzzle a week. Raises Refused."""
    if word.lower() not in {"on", "off"}:
        raise Refused(f"`puzzles` is followed by `on` or by `off`, and not by {word!r}.")
    wants = word.lower() == "on"
    session.store.users.change(name, hears_puzzles=wants)
    text = "You get no puzzles any more."
    if wants:
        text = "You get one puzzle a week."
    return [letters.to_user(name, text, answer="help puzzles", puzzles=wants)]


def send_puzzle(session: Session) -> None:
    """Mail the next puzzle to all who want one, if the last one was mailed a week ago.

    Raises whatever its game does if that has a fault, and Refused if its board cannot be replayed. The
    puzzle counts as mailed then: the next week has another one.
    """
    readers = session.store.users.hearing("puzzles")
    if not readers:
        return
    puzzle = session.store.robots.take_puzzle(session.now, session.now - BETWEEN_PUZZLES)
    if puzzle is None:
        return
    game, number, moves, answer, is_proven = puzzle
    task = "A long search found one turn that wins, and no other"
    if is_proven:
        task = "One turn wins, and no other"
    point = find_board(session, game, number).after(moves)
    letter = letters.plain_letter(
        [
            Paragraph(f"{caption(point)}\n{task}. The answer stands far below."),
            letters.drawing_of(point),
            Paragraph(f"{SCROLL}The answer: {answer}"),
        ],
        subject=f"{game.capitalize()} puzzle",
        answer=f"{game} show {number}#{moves}",
    )
    for reader in readers:
        delivery.queue(session, letter._replace(to=reader, game=PUZZLES, is_subscribed=True))
