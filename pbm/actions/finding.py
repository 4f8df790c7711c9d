"""Finding a board by its name."""

import re
from string import ascii_lowercase, digits

import games
from pbm import texts
from pbm.board.board import About, Board, Point
from pbm.names import SHORTEST_PASSWORD, is_board
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow


def find_row(session: Session, game: str, number: str) -> BoardRow:
    """The stored row of a board. Raises Refused if there is no such board."""
    row = session.store.board(game, number.lower()) if is_board(number) else None
    if row is None:
        raise Refused(f"There is no {texts.title(game)} board {number!r}{meant(session, game, number.lower())}")
    return row


def meant(session: Session, game: str, word: str) -> str:
    """How the sentence ends that there is no such board: with the one that was probably meant, if there is one."""
    if is_board(word):
        for other in games.names():
            if session.store.board(other, word):
                return f"; did you mean {texts.title(other)} board {word}?"
    if len(word) >= SHORTEST_PASSWORD or not re.search("[0-9]", word):
        return "."  # a longer one can be a password in the wrong place, and what is near it is told to nobody
    near = games.nearest(word, session.store.boards_among(game, _slips(word)))
    return f"; did you mean {near}?" if near else "."


def _slips(word: str) -> set[str]:
    """The names that a board can have from which one slip of a finger makes this word."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    slips = {
        *(front + rest[1:] for front, rest in parts),
        *(front + rest[1] + rest[0] + rest[2:] for front, rest in parts if len(rest) > 1),
        *(front + typed + rest[at:] for front, rest in parts for typed in digits + ascii_lowercase for at in (0, 1)),
    }
    return set(filter(is_board, slips))


def find_board(session: Session, game: str, number: str) -> Board:
    """A board. Raises Refused if there is none of that number."""
    return board_of(session, find_row(session, game, number))


def board_of(session: Session, row: BoardRow) -> Board:
    """The board whose row was found."""
    store, place, players = session.store, (row.game, row.board), (row.first_player, row.second_player)
    followers = store.followers(*place)
    away, robots = store.away_and_robots(players, session.now().date())
    about = About(
        subscribers=followers["subscriber"],
        notified=followers["notified"],
        away=away,
        results=store.results_of_board(*place) if row.ended else (),
        robots=robots,
    )
    return Board(row, store.turns(*place), store.queued(*place), about)


def player_at_sender(session: Session, board: Board, reader: str | None = None) -> str | None:
    """The player of a board, or the *reader* if he is one, who has confirmed the address that the command came from.

    Of two players who share it, that is the one who is to move; in a shell there is none.
    """
    at_sender = session.store.userids_at(session.sender) if session.sender else ()
    return next((name for name in (board.turn, *board.players) if name in at_sender and reader in {None, name}), None)


def find_point(session: Session, game: str, word: str) -> Point:
    """A board as it is, or at ``#n`` as it was after n moves; negative numbers count back from the end."""
    number, mark, text = word.partition("#")
    if mark and not re.fullmatch("-?[0-9]{1,9}", text, re.ASCII):
        raise Refused(f"{word!r} is no board at a move; write {number}#N with a number of moves.")
    board = find_board(session, game, number)
    return board.after(int(text)) if mark else board.present
