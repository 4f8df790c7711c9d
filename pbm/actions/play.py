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
    """Play a move, or do what a word such as `resign` says. *lines* are a plan behind the move.

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
    if name != board.mover:
        raise Illegal(f"It is not your turn; {board.mover} is to move.")


def resign(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Give up."""
    return move(session, row, name, "resign")


def swap(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Exchange sides."""
    return move(session, row, name, "swap")


def queue(session: Session, row: BoardRow, name: str, text: str, lines: Sequence[PlanLine] = ()) -> list[Letter]:
    """Plan an answer to any move of the opponent, and other *lines*; in the player's own turn, play it at once."""
    board = board_of_player(session, row, name)
    word, number = typed_moves.split_number(text.lower())
    if word == plans.CLEAR:
        typed_moves.check_number(board, number)
        return plans.forget_queued(session, row, name)
    if name == board.mover:
        return move(session, row, name, text, lines)
    queued: PlanLine = (Conditional(ANY_MOVE, text),)
    plans.add(session, board, name, [queued] + list(lines))
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
    note = f"Nothing is played yet: `confirm` plays {texts.wrapped_turns(canonical)}."
    confirm_command = NextCommand(f"{row.game} confirm {row.board} {name} PASSWORD", "confirm")
    [letter] = letters.of_board(session, trial.present, None, kind="Submit", notes=[note], command=confirm_command)
    return [letter._replace(data=letter.data | {"submitted": canonical})]


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

    *where* is a board, perhaps at one of its moves, such as `101#5`, or `new`. The letter ends with the command that
    plays the first of the moves, unless the *reader* is known and not to move.
    """
    if where.lower() == "new":
        return _preview_of_new(session, game, options, typed)
    if options:
        raise Refused(f"The options of board {where} are set, so {options[0]} cannot be given.")
    point = find_point(session, game, where)
    board = point.board
    if point.is_over and typed:
        raise Refused(f"The game has ended: {letters.status(board.row)}.")
    trial = board.trial(point.moves)
    mover = trial.mover
    tried = _play_on_trial(trial, typed, session.now, is_present=point.is_present)
    command = NextCommand(f"{game} show {board.number}", "show")
    if point.is_present and len(trial.turns) > point.moves and reader in {None, mover}:
        first_move = trial.turns[point.moves].text
        move_command = f"{game} move {board.number} {mover} PASSWORD {first_move}#{point.moves + 1}"
        command = NextCommand(move_command, first_move)
    return letters.of_board(session, tried, None, kind="Preview", is_full=True, command=command)


def _preview_of_new(session: Session, game: str, options: Sequence[str], typed: Sequence[str]) -> list[Letter]:
    """A new board after some moves on trial. The number of players, 2, stands in front of the moves."""
    if "2" not in typed[:1]:
        raise Refused(f"{game.capitalize()} is for 2 players: {game} preview new 2 [-options] MOVE ...")
    row = BoardRow(game, "new", " ".join(options), "first", "second", b"", session.now)
    board = Board(row, [], {}, is_stored=False)
    tried = _play_on_trial(board, typed[1:], session.now, is_present=False)
    return letters.of_board(session, tried, None, kind="Preview", is_full=True, command=None)


def preview_own(session: Session, row: BoardRow, name: str, typed: Sequence[str]) -> list[Letter]:
    """A player's board after some moves on trial."""
    return preview(session, row.game, [], row.board, typed, name)


def _play_on_trial(board: Board, words: Sequence[str], now: datetime, *, is_present: bool) -> Point:
    """Play moves, and suppose dice, on a board that is not stored; what follows the end of the game is left out.

    *is_present* says that the first move is for the present position, in which the dice are thrown. Raises Refused,
    which shows the board so far.
    """
    for number, word in enumerate(words):
        if board.mover is None:
            break
        key, equals, numbers = word.partition("=")
        if key.lower() == "dice" and equals:
            if number == 0 and is_present and games.needs_dice(board.state):
                why = "The dice of this turn are thrown already; dice= is for the turns after it."
                raise Refused(why, point=board.present)
            board.set_dice(_read_dice(word, numbers))
            continue
        if games.needs_dice(board.state) and not board.state.dice:
            why = f"The dice for {word} are not thrown yet; write for example dice=4,2 before it."
            raise Refused(why, point=board.present)
        try:
            _try(board, board.state.parse(word), now)
        except Illegal as objection:
            why = str(objection)
            if len(words) > 1:
                why = f"{word}: {why}"
            raise Refused(why, point=board.present) from objection
    return board.present


def _read_dice(word: str, numbers: str) -> tuple[int, ...]:
    """The dice behind the equals sign of a word such as `dice=4,2`. Raises Refused."""
    if not re.fullmatch("[1-6](,[1-6])?", numbers, re.ASCII):
        raise Refused(f"{word!r} should be dice= and one or two numbers from 1 to 6, such as dice=4,2.")
    return tuple(int(die) for die in numbers.split(","))


def _try(board: Board, move: str, now: datetime) -> None:
    """Play a legal move on a board that is not stored, and the skips that are known to follow."""
    board.play(str(board.mover), move, now)
    while board.mover is not None and not games.needs_dice(board.state) and board.state.must_skip:
        board.play(board.mover, SKIP, now, automatic=True)
