"""What a user notes for themselves on a board."""

from games import Illegal
from pbm import letters
from pbm.actions.finding import board_of
from pbm.actions.plans import CLEAR
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow

MOST_NOTED_BYTES = 4000
"""How long the notes of a user on one board may become."""


def add_note(session: Session, row: BoardRow, name: str, word: str = "") -> list[Letter]:
    """Add the comment to the notes of a user on a board, show the notes if there is none, or forget them (CLEAR)."""
    notes = session.store.boards.notes(row.game, row.board).get(name, "")
    if word and word.lower() != CLEAR:
        raise Illegal(
            f"{word!r} is not `{CLEAR}`; a note stands in the body of a mail, or in --comment=TEXT in a shell."
        )
    if word:
        notes = ""
    elif session.comment:
        number = f"Move {row.moves}" if row.moves else "The start"
        notes = "\n".join(filter(None, [notes, f"{number}, {session.now():%Y-%m-%d}: {session.comment}"]))
    if len(notes.encode()) > MOST_NOTED_BYTES:
        raise Illegal(
            f"Your notes on a board have at most {MOST_NOTED_BYTES} bytes; `{CLEAR}` forgets those that there are."
        )
    if word or session.comment:
        session.store.boards.keep_notes(row.game, row.board, name, notes)
    told = [] if notes else ["You have no notes on this board."]
    shown = letters.of_board(session, board_of(session, row).present, name, notes=told, kind="Notes")
    return [letter._replace(to=None) for letter in shown]
