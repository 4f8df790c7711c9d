"""Finding boards, previews of what might be played, and the proof of the dice: nothing here changes a board."""

import re
from collections.abc import Sequence
from datetime import datetime

import games
from games import SKIP, Illegal
from pbm import clocks, dice, letters
from pbm.board import About, Board, Point
from pbm.letters import Letter
from pbm.session import Refused, Session
from pbm.store import BoardRow


def preview(session: Session, game: str, options: Sequence[str], words: Sequence[str]) -> list[Letter]:
    """What a board would look like after some moves; nothing is stored, and no dice are thrown."""
    with session.reading():
        if words[0].lower() == "new":
            if words[1:2] != ["2"]:
                raise Refused(f"{letters.title(game)} is for 2 players: {game} preview new 2 [-options] MOVE ...")
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
        if is_present and len(board.turns) > before:
            command = f"{game} move {board.row.board} {mover} PASSWORD {board.turns[before].text}#{before + 1}"
        shown = letters.of_board(point, None, now=session.now(), kind="Preview", is_full=True, command=command)
        return session.answer(None, *shown)


def check_dice(session: Session, game: str, number: str) -> list[Letter]:
    """Compare every throw of a board that is over with the secret that the players were promised."""
    with session.reading():
        board = find_board(session, game, number)
    if not games.needs_dice(board.states[0]):
        raise Refused(f"{letters.title(game)} is played without dice.")
    if not board.is_over:
        raise Refused("The game is not over; until then nobody is told the secret of its dice.")
    secret = board.row.secret
    if not secret:
        raise Refused("The game was played elsewhere under another number; its dice cannot be checked here.")
    throws = [(turn.dice, dice.throw(secret, board.name, n, len(turn.dice))) for n, turn in enumerate(board.turns)]
    wrong = [str(n) for n, (stored, derived) in enumerate(throws, 1) if stored != derived]
    if wrong:
        raise Refused(f"The dice of these moves do not follow from the secret: {', '.join(wrong)}.")
    lines = [("Move", "Dice"), *((str(n), " ".join(map(str, stored))) for n, (stored, _) in enumerate(throws, 1))]
    proof = f"Secret:  {secret.hex()}\nSHA-256: {dice.commitment(secret)}"
    verdict = f"All {len(throws)} throws follow from the secret. Compare its SHA-256 with your first mail's."
    text = f"{letters.table(lines)}\n\n{verdict}\n\n{proof}"
    data = {"secret": secret.hex(), "sha256": dice.commitment(secret), "dice": [stored for stored, _ in throws]}
    subject = f"{letters.title(game)} Board {number} Dice"
    return session.answer(None, letters.note(text, subject=subject, answer=f"{game} show {number}", data=data))


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


def find_row(session: Session, game: str, number: str) -> BoardRow:
    """The stored row of a board. Raises Refused if there is no such board."""
    row = session.store.board(game, number.lower()) if is_board(number) else None
    if row is None:
        raise Refused(f"There is no {letters.title(game)} board {number!r}.")
    return row


def find_board(session: Session, game: str, number: str) -> Board:
    """A board. Raises Refused if there is none of that number."""
    row, store = find_row(session, game, number), session.store
    today = session.now().date()
    players = dict.fromkeys((row.first_player, row.second_player))
    away = {name: clocks.away_until(store, name, today) for name in players} if row.ended is None else {}
    about = About(
        subscribers=store.followers(game, row.board, "subscriber"),
        notified=store.followers(game, row.board, "notified"),
        away={name: last for name, last in away.items() if last},
        results=store.results_of_board(game, row.board) if row.ended else (),
    )
    return Board(row, store.turns(game, row.board), store.queued(game, row.board), about)


def find_point(session: Session, game: str, word: str) -> Point:
    """A board as it is, or at ``#n`` as it was after n moves; negative numbers count back from the end."""
    number, mark, text = word.partition("#")
    if mark and not re.fullmatch("-?[0-9]{1,9}", text, re.ASCII):
        raise Refused(f"{word!r} is no board at a move; write {number}#N with a number of moves.")
    board = find_board(session, game, number)
    return board.after(int(text)) if mark else board.present


def is_board(word: str) -> bool:
    """Whether a word can be the name of a board; nothing else is ever looked up."""
    return re.fullmatch("[0-9]{1,12}|[a-z]{1,12}[0-9]{1,6}", word.lower(), re.ASCII) is not None
