"""Playing: challenges, moves and resignations."""

import re
from collections.abc import Sequence

import games
from games import SKIP, Illegal
from pbm import dice, letters
from pbm.board import FIRST_MOVES, RESIGN, Board
from pbm.letters import Letter
from pbm.look import find_board
from pbm.session import Refused, Session
from pbm.store import BoardRow

MOST_CHALLENGES = 50
"""How many challenges a day may come from one address by mail."""


def challenge(session: Session, game: str, options: Sequence[str], players: tuple[str, str]) -> list[Letter]:
    """Start a board; the first player moves first."""
    first, second = (player.lower() for player in players)
    with session.writing():
        problems = []
        if session.sender is not None:
            if not session.store.userids_at(session.sender):
                problems.append("A challenge by mail has to come from an address that a user has confirmed.")
            elif not session.store.take("challenge", session.sender, MOST_CHALLENGES, session.now()):
                problems.append(f"There were {MOST_CHALLENGES} challenges from your address today; that is the most.")
        unknown = [name for name in dict.fromkeys((first, second)) if session.store.password_of(name) is None]
        problems += [f"There is no user {name!r}." for name in unknown]
        try:
            games.read_options(games.load(game), options)
        except Illegal as why:
            problems.append(str(why))
        if problems:
            raise Refused("\n".join(problems), subject="Invalid challenge")
        row = BoardRow(
            game=game,
            board=session.store.next_number(game),
            options=" ".join(options),
            first_player=first,
            second_player=second,
            secret=session.server.random_bytes(dice.SECRET_BYTES),
            started=session.now(),
            comment=session.comment or None,
        )
        session.store.add_board(row)
        board = Board(row, [], {})
        _go_on(session, board, 0)
        readers: list[str | None] = [*dict.fromkeys((first, second))]
        if session.sender is None or not {first, second} & session.store.userids_at(session.sender):
            readers.append(None)  # who starts a board for others wants to know its number
        return session.answer(None, *letters.of_board(board.present, *readers, kind="New", is_full=True, is_new=True))


def move(session: Session, game: str, number: str, text: str, *, userid: str, password: str) -> list[Letter]:
    """Play a move, or resign or take a resignation back, which are written in the place of one."""
    with session.writing():
        board = find_board(session, game, number)
        name = session.signed(userid, password)
        here = board.present
        if board.is_over:
            raise Refused(f"The game has ended: {letters.status(board.row)}.")
        if name not in board.players:
            raise Refused(f"You do not play on this board; {' and '.join(board.players)} do.", point=here, reader=name)
        if text.lower() == "resign":
            return _resign(session, board, name)
        if text.lower() == "unresign":
            return _unresign(session, board, name)
        if name != board.turn:
            raise Refused(f"It is not your turn; {board.turn} is to move.", point=here, reader=name)
        move, mark, meant = text.rpartition("#")
        if not (mark and re.fullmatch("[0-9]{1,9}", meant, re.ASCII)):
            move = text
        elif int(meant) != here.moves + 1:
            raise Refused(
                f"That is meant as move {int(meant)}, but it would be move {here.moves + 1}.", point=here, reader=name
            )
        try:
            canonical = board.state.parse(SKIP if move.lower() == "pass" else move)
        except Illegal as why:
            raise Refused(str(why), point=here, reader=name) from why
        return _played(session, board, name, canonical)


def _resign(session: Session, board: Board, name: str) -> list[Letter]:
    """Leave before the first moves, give up in turn, or do so as soon as it is the player's turn."""
    row, title = board.row, letters.title(board.row.game)
    if len(board.turns) < FIRST_MOVES and row.board[0].isdigit():
        session.store.remove_board(row.game, row.board)
        told = [letters.of_removal(board, name, session.comment, to=player) for player in dict.fromkeys(board.players)]
        return session.answer(name, *told)
    if name == board.turn:
        return _played(session, board, name, RESIGN)
    if board.queued.get(name) == RESIGN:
        cancel = f"{row.game} move {row.board} {name} PASSWORD unresign"
        raise Refused(
            f"You resign already when your turn comes; this cancels it: {cancel}", point=board.present, reader=name
        )
    session.store.queue(row.game, row.board, name, RESIGN)
    board.queued[name] = RESIGN
    [letter] = letters.of_board(board.present, name)
    return session.answer(name, letter._replace(subject=f"{title} Board {row.board} Resigned"))


def _unresign(session: Session, board: Board, name: str) -> list[Letter]:
    if board.queued.get(name) != RESIGN:
        raise Refused("There is no resignation of yours to take back.", point=board.present, reader=name)
    session.store.unqueue(board.row.game, board.row.board, name)
    del board.queued[name]
    note = "Your resignation is taken back."
    return session.answer(name, *letters.of_board(board.present, name, notes=[note]))


def _played(session: Session, board: Board, name: str, text: str) -> list[Letter]:
    """Add a turn and all that follows from it, and tell both players."""
    before = len(board.turns)
    board.row = board.row._replace(comment=session.comment or None, commenter=name if session.comment else None)
    board.play(name, text, session.now())
    _go_on(session, board, before)
    return session.answer(name, *letters.of_board(board.present, *dict.fromkeys(board.players)))


def _go_on(session: Session, board: Board, before: int) -> None:
    """Play what the server has to play, and store all turns after the first *before* ones."""
    while board.turn is not None:
        if board.queued.get(board.turn) == RESIGN:
            board.play(board.turn, RESIGN, session.now(), automatic=True)
        elif board.state.must_skip:
            board.play(board.turn, SKIP, session.now(), automatic=True)
        else:
            break
    if board.is_over:
        board.queued.clear()
        session.store.unqueue(board.row.game, board.row.board)
    board.row = board.row._replace(
        moves=len(board.turns),
        turn=board.turn,
        ended=session.now() if board.is_over else None,
        winner=board.winner,
    )
    session.store.save_board(board.row, before + 1, board.turns[before:])
