"""A board from its start to its end: a move as it is typed, what follows from a turn, and who is told."""

from collections.abc import Sequence
from datetime import datetime

import games
from games import SKIP, Illegal
from pbm import letters, texts
from pbm.board import dice, ratings
from pbm.board.board import FORFEIT, RESIGN, SERVER, SWAP, About, Board, Point
from pbm.board.clocks import Clocks
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow


def parsed(board: Board, text: str) -> str:
    """A move, perhaps with ``#n`` behind it, in canonical form. Raises Illegal."""
    move, number = numbered(text)
    if move.lower() == SWAP and not getattr(board.rules, "SWAP", False):
        raise Illegal(f"{texts.title(board.row.game)} has no swap.")
    check_written(board.row.game, move)
    check_number(board, number)
    return board.state.parse(SKIP if move.lower() == "pass" else move)


def check_written(game: str, move: str) -> None:
    """Make sure that a move is not the placeholder of our mails, ``MOVE#3`` or before ``<move>#3``. Raises Illegal."""
    word, _ = numbered(move)
    if word.strip("<>").lower() == "move":
        raise Illegal(f"{word} is a placeholder; write your move in its place ({games.notation(game)}).")


def check_number(board: Board, number: int | None) -> None:
    """Make sure that the next move has that number, if one is given. Raises Illegal."""
    if number not in {None, len(board.turns) + 1}:
        raise Illegal(f"That is meant as move {number}, but it would be move {len(board.turns) + 1}.")


def numbered(text: str) -> tuple[str, int | None]:
    """A move and the number that stands behind it; None if there is none."""
    move, mark, number = text.rpartition("#")
    is_number = mark and 0 < len(number) < 10 and number.isascii() and number.isdecimal()
    return (move, int(number)) if is_number else (text, None)


def start(
    session: Session,
    game: str,
    options: Sequence[str],
    players: tuple[str, str],
    *,
    times: Clocks,
    name: str | None = None,
    until: datetime | None = None,
    beginning: Point | None = None,
) -> Board:
    """Set a board up and store it; its players, options, name and *beginning* are known to be right.

    A game of a round that ends at a time goes on *until* then.
    """
    store = session.store
    row = BoardRow(
        game=game,
        board=name or store.boards.next_number(game),
        options=" ".join(options),
        first_player=players[0],
        second_player=players[1],
        secret=session.server.random_bytes(dice.SECRET_BYTES),
        started=session.now(),
        comment=session.comment or None,
        nag_days=times.nag,
        forfeit_days=times.forfeit,
        total_days=times.total,
        novacation=times.novacation,
        pool=name.rstrip("0123456789") if name else None,
        source=beginning.board.row.board if beginning else None,
        given=beginning.moves if beginning else 0,
        until=until,
        unrated=any(robot.userid in players and not robot.rated for robot in store.robots.all()),
    )
    store.boards.add(row)
    for userid in dict.fromkeys(players):
        player = store.players.get(game, userid)
        if player.seeking:
            store.players.save(game, player._replace(seeking=player.seeking - 1))
    followers = [userid for userid in store.players.subscribers_of_all(game) if userid not in players]
    for userid in followers:
        store.boards.follow(game, row.board, userid, "subscriber")
    board = Board(row, [], {}, About(subscribers=followers, robots=store.robots.among(players)))
    for turn in beginning.board.turns[: beginning.moves] if beginning else ():
        if turn.dice:
            board.set_dice(turn.dice)
        board.play(str(board.turn), turn.text, row.started, automatic=turn.automatic)
    store.events.note(
        session.now(), "challenge", game=game, board=row.board, pool=row.pool, players=[*players], options=row.options
    )
    go_on(session, board, 0)
    return board


def played(
    session: Session, board: Board, name: str, text: str, *, automatic: bool = False, reason: str | None = None
) -> list[Letter]:
    """Add a turn and all that follows from it, and tell everybody.

    The *reason*, one of REASONS, is why the game ends by that turn, if the turn does not say so.
    """
    before = len(board.turns)
    writer = SERVER if automatic else name
    board.row = board.row._replace(
        submitted=None,
        vote=None,
        voter=None,
        comment=session.comment or None,
        commenter=writer if session.comment else None,
    )
    board.play(name, text, session.now(), automatic=automatic)
    dropped = go_on(session, board, before, reason)
    return [*told(session, board), *dropped]


def go_on(session: Session, board: Board, before: int, reason: str | None = None) -> list[Letter]:
    """Play what the server has to play, and store all turns after the first *before* ones.

    The *reason* is why the game is over, if the turns do not say so. Returns the letters to players whose queued moves
    could not be played.
    """
    dropped: list[Letter] = []
    while (name := board.turn) is not None:
        queued = board.queued.get(name)
        if queued == RESIGN:
            board.play(name, RESIGN, session.now(), automatic=True)
        elif queued is not None:
            _unqueue(session, board, name)
            try:
                board.play(name, parsed(board, queued), session.now(), automatic=True)
            except Illegal as why:
                dropped.append(_dropped(session, board, name, queued, str(why)))
        elif board.state.must_skip:
            board.play(name, SKIP, session.now(), automatic=True)
        else:
            break
    row = board.row
    board.row = row._replace(moves=len(board.turns), turn=board.turn)
    if board.is_over:
        end(session, board, reason)
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.save(board.row, before + 1, board.turns[before:])
    _note_turns(session, board, max(before, row.given))
    if board.is_over:
        note_end(session, board)
    return dropped


def _note_turns(session: Session, board: Board, before: int) -> None:
    """Note the turns after the first so many as events."""
    kinds = {RESIGN: "resign", FORFEIT: "forfeit"}
    row, now = board.row, session.now()
    for number, turn in enumerate(board.turns[before:], before + 1):
        detail = {"move": turn.text, "number": number, "automatic": turn.automatic}
        kind = kinds.get(turn.text, "move")
        session.store.events.note(
            now, kind, game=row.game, board=row.board, pool=row.pool, userid=turn.userid, **detail
        )


def end(session: Session, board: Board, reason: str | None = None) -> None:
    """Note that the game is over, and what that does to ratings. The row has still to be stored."""
    game, number = board.row.game, board.row.board
    board.queued.clear()
    session.store.boards.unqueue(game, number)
    board.row = board.row._replace(
        turn=None,
        ended=session.now(),
        winner=board.winner,
        reason=reason or board.reasons[0],
        vote=None,
        voter=None,
        submitted=None,
    )
    results = ratings.settle(session.store, board.row, session.now(), has_begun=board.has_begun)
    if board.resigned:
        session.store.boards.follow(game, number, board.resigned, "subscriber")
    board.about = board.about._replace(results=results)


def note_end(session: Session, board: Board) -> None:
    """Let a game that is over, and stored, be an event, and its tournament go on."""
    row = board.row
    session.store.events.note(
        session.now(),
        "end",
        game=row.game,
        board=row.board,
        pool=row.pool,
        players=[*board.players],
        winner=row.winner or "draw",
        reason=row.reason,
    )
    if row.pool:
        from pbm.actions import rounds  # 5 ms

        rounds.advance(session, row.game, row.pool, start)


def told(session: Session, board: Board, *notes: str) -> list[Letter]:
    """The letters about what has happened on a board: to players, to subscribers, and of an end to those notified."""
    players = dict.fromkeys(board.players)
    readers = dict.fromkeys([*players, *board.about.subscribers])
    told = letters.of_board(board.present, *readers, now=session.now(), zones=session.zone, notes=notes)
    if board.is_over:
        notified = {*board.about.notified, *session.store.players.notified_of_all(board.row.game)} - {*readers}
        told += letters.of_board(
            board.present, *sorted(notified), now=session.now(), zones=session.zone, kind=letters.NOTIFICATION
        )
    return told


def _unqueue(session: Session, board: Board, name: str) -> None:
    session.store.boards.unqueue(board.row.game, board.row.board, name)
    del board.queued[name]


def _dropped(session: Session, board: Board, name: str, text: str, why: str) -> Letter:
    """The letter to a player whose queued move was not legal when his turn came."""
    row = board.row
    quoted = f"{row.game} queue {row.board} {name} PASSWORD {text}"
    reason = f"The move that you had queued could not be played, and is forgotten. {why}"
    letter = letters.of_error(reason, [quoted], game=row.game, point=board.present, reader=name)
    data = {"game": row.game, "board": row.board, "forgotten": text, "reply": reason}
    return letter._replace(to=name, thread=letters.thread(board), facts=lambda: data, is_urgent=True)


def forgotten(session: Session, board: Board, name: str, note: str) -> list[Letter]:
    """Forget what a player wanted to be played when his turn comes."""
    session.store.boards.unqueue(board.row.game, board.row.board, name)
    del board.queued[name]
    return letters.of_board(board.present, name, now=session.now(), zones=session.zone, notes=[note])
