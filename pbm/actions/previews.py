"""What moves would lead to; nothing is played, and nothing stored."""

import re
from collections.abc import Sequence
from datetime import datetime

import games
from games import SKIP, Illegal
from pbm import letters, texts
from pbm.actions.finding import find_point
from pbm.actions.moves import check_written
from pbm.board.board import Board, Point
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow


def preview(
    session: Session, game: str, options: Sequence[str], where: str, typed: Sequence[str], reader: str | None = None
) -> list[Letter]:
    """What a board would look like after some moves; nothing is stored, and no dice are thrown.

    The command that plays the first of them is offered to the *reader* if they are to move, and to whoever is not
    known.
    """
    words = [where, *typed]
    if words[0].lower() == "new":
        if words[1:2] != ["2"]:
            raise Refused(f"{texts.title(game)} is for 2 players: {game} preview new 2 [-options] MOVE ...")
        row = BoardRow(game, "new", " ".join(options), "first", "second", b"", session.now())
        board, moves, is_present = Board(row, [], {}, throws_dice=False), words[2:], False
    else:
        if options:
            raise Refused(f"The options of board {words[0]} are set, so {options[0]} cannot be given.")
        point = find_point(session, game, words[0])
        if point.is_over and len(words) > 1:
            raise Refused(f"The game has ended: {letters.status(point.board.row)}.")
        board, moves, is_present = point.board.until(point.moves), words[1:], point.is_present
    mover, before = board.turn, len(board.turns)
    point = _preview(board, moves, session.now(), is_present=is_present)
    command = "" if words[0].lower() == "new" else f"{game} show {board.row.board}"
    if is_present and len(board.turns) > before and reader in {None, mover}:
        command = f"{game} move {board.row.board} {mover} PASSWORD {board.turns[before].text}#{before + 1}"
    return letters.of_board(
        point, None, now=session.now(), zones=session.zone, kind="Preview", is_full=True, command=command
    )


def preview_own(session: Session, row: BoardRow, name: str, typed: Sequence[str]) -> list[Letter]:
    """What moves of a player would lead to on their board."""
    return preview(session, row.game, [], row.board, typed, name)


def _preview(board: Board, words: Sequence[str], now: datetime, *, is_present: bool) -> Point:
    """Play moves on a board that is not stored. Raises Refused with the board as it is then."""
    for number, word in enumerate(words):
        if board.turn is None:
            break
        name, equals, numbers = word.partition("=")
        if name.lower() == "dice" and equals:
            if number == 0 and is_present and games.needs_dice(board.state):
                why = "The dice of this turn are thrown already; dice= is for the turns after it."
                raise Refused(why, point=board.present)
            if not re.fullmatch("[1-6](,[1-6])?", numbers, re.ASCII):
                raise Refused(f"{word!r} should be dice= and one or two numbers from 1 to 6, such as dice=4,2.")
            board.set_dice(tuple(int(die) for die in numbers.split(",")))
            continue
        if games.needs_dice(board.state) and not board.state.dice:
            why = f"The dice for {word} are not thrown yet; write for example dice=4,2 before it."
            raise Refused(why, point=board.present)
        try:
            check_written(board.row.game, word)
            _try(board, board.state.parse(word), now)
        except Illegal as why:
            which = f"{word}: " if len(words) > 1 else ""
            raise Refused(f"{which}{why}", point=board.present) from why
    return board.present


def tried(board: Board, move: str, now: datetime) -> Point:
    """What a board would look like after a legal move, whose dice are not thrown yet."""
    board = board.until(len(board.turns))
    _try(board, move, now)
    return board.present


def _try(board: Board, move: str, now: datetime) -> None:
    """Play a legal move on a board that is not stored, and the skips that follow for sure."""
    board.play(str(board.turn), move, now)
    while board.turn is not None and not games.needs_dice(board.state) and board.state.must_skip:
        board.play(board.turn, SKIP, now, automatic=True)
