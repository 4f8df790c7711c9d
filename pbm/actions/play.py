"""Playing a move: at once, later, after a confirmation, or on trial."""

import re
from collections.abc import Sequence
from datetime import datetime

import games
from games import SKIP, Illegal
from pbm import letters, texts
from pbm.actions import endings, plans, turns, votes
from pbm.actions.finding import board_of_player, find_point
from pbm.blocks import NextCommand
from pbm.board import typed_moves
from pbm.board.board import Board, Point
from pbm.board.plan_lines import ANY_MOVE, Conditional, PlanLine
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow


def move(session: Session, row: BoardRow, name: str, text: str, lines: Sequence[PlanLine] = ()) -> list[Letter]:
    """Play a move, or do what a word in its place says, such as `resign`. *lines* are a plan behind the move.

    Raises Refused, and Illegal.
    """
    board = board_of_player(session, row, name)
    word, number = typed_moves.split_number(text.lower())
    if instead := votes.INSTEAD_OF_A_MOVE.get(word):
        typed_moves.check_number(board, number)
        if lines:
            raise Illegal(f"A plan stands below a move, and not below `{word}`.")
        return instead(session, board, name)
    if word == "draw":
        raise Illegal("To propose a draw, write `propose` in the place of the move.")
    check_turn(session, board, name)
    canonical = typed_moves.parsed(board, text)
    if lines:
        plans.add(session, board, name, lines, canonical)
    return turns.play_turn(session, board, name, canonical)


def check_turn(session: Session, board: Board, name: str) -> None:
    """Make sure that it is a player's turn, and there is time left for it. Raises Illegal, and Refused."""
    endings.enforce_time(session, board)
    if name != board.turn:
        raise Illegal(f"It is not your turn; {board.turn} is to move.")


def resign(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Give up."""
    return move(session, row, name, "resign")


def swap(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Exchange sides."""
    return move(session, row, name, "swap")


def queue(session: Session, row: BoardRow, name: str, text: str, lines: Sequence[PlanLine] = ()) -> list[Letter]:
    """Plan a move for whatever the opponent plays, and other *lines*; if it is the player's turn, play it at once."""
    board = board_of_player(session, row, name)
    word, number = typed_moves.split_number(text.lower())
    if word == plans.CLEAR:
        typed_moves.check_number(board, number)
        return plans.forget_queued(session, row, name)
    if name == board.turn:
        return move(session, row, name, text, lines)
    plans.add(session, board, name, [(Conditional(ANY_MOVE, text),), *lines])
    return plans.board_for(session, board, name)


def submit(session: Session, row: BoardRow, name: str, text: str) -> list[Letter]:
    """Keep a move until the player confirms it, and show what it would lead to."""
    board = board_of_player(session, row, name)
    check_turn(session, board, name)
    canonical = typed_moves.parsed(board, text)
    board.change(submitted=canonical)
    session.store.boards.save(board.row)
    trial = board.trial()
    _try(trial, canonical, session.now)
    [shown] = letters.of_board(
        session,
        trial.present,
        None,
        kind="Submit",
        notes=[f"Nothing is played yet: `confirm` plays {texts.wrapped_turns(canonical)}."],
        command=NextCommand(f"{row.game} confirm {row.board} {name} PASSWORD", "confirm"),
    )
    return [shown._replace(data=shown.data | {"submitted": canonical})]


def confirm(session: Session, row: BoardRow, name: str, lines: Sequence[PlanLine] = ()) -> list[Letter]:
    """Play the move that was submitted. *lines* are a plan behind it."""
    if row.submitted:
        return move(session, row, name, row.submitted, lines)
    board = board_of_player(session, row, name)
    check_turn(session, board, name)
    raise Illegal("There is no submitted move to confirm.")


def preview(
    session: Session, game: str, options: Sequence[str], where: str, typed: Sequence[str], reader: str | None = None
) -> list[Letter]:
    """A board after some moves on trial; nothing is stored, and no dice are thrown.

    The letter ends with the command that plays the first of them, unless the *reader* is known and not to move.
    """
    is_new = where.lower() == "new"
    if is_new:
        if "2" not in typed[:1]:
            raise Refused(f"{game.capitalize()} is for 2 players: {game} preview new 2 [-options] MOVE ...")
        row = BoardRow(game, "new", " ".join(options), "first", "second", b"", session.now)
        board, moves, is_present = Board(row, [], {}, is_stored=False), typed[1:], False
    else:
        if options:
            raise Refused(f"The options of board {where} are set, so {options[0]} cannot be given.")
        point = find_point(session, game, where)
        if point.is_over and typed:
            raise Refused(f"The game has ended: {letters.status(point.board.row)}.")
        board, moves, is_present = point.board.trial(point.moves), typed, point.is_present
    mover, before = board.turn, len(board.turns)
    point = _play_on_trial(board, moves, session.now, is_present=is_present)
    command = None if is_new else NextCommand(f"{game} show {board.row.board}", "show")
    if is_present and len(board.turns) > before and reader in {None, mover}:
        text = board.turns[before].text
        command = NextCommand(f"{game} move {board.row.board} {mover} PASSWORD {text}#{before + 1}", text)
    return letters.of_board(session, point, None, kind="Preview", is_full=True, command=command)


def preview_own(session: Session, row: BoardRow, name: str, typed: Sequence[str]) -> list[Letter]:
    """A player's board after some moves on trial."""
    return preview(session, row.game, [], row.board, typed, name)


def _play_on_trial(board: Board, words: Sequence[str], now: datetime, *, is_present: bool) -> Point:
    """Play moves, and suppose dice, on a board that is not stored. Raises Refused, which shows the board so far."""
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
            _try(board, board.state.parse(word), now)
        except Illegal as why:
            which = f"{word}: " if len(words) > 1 else ""
            raise Refused(f"{which}{why}", point=board.present) from why
    return board.present


def _try(board: Board, move: str, now: datetime) -> None:
    """Play a legal move on a board that is not stored, and the skips that are known to follow."""
    board.play(str(board.turn), move, now)
    while board.turn is not None and not games.needs_dice(board.state) and board.state.must_skip:
        board.play(board.turn, SKIP, now, automatic=True)
