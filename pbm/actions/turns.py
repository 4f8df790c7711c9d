"""The turns of a board: starting it, playing a turn, and what follows: plans, skips, the end, and who is told."""

from collections.abc import Sequence
from datetime import datetime

from games import SKIP
from pbm import letters, texts
from pbm.actions import comments, stored_plans
from pbm.board import dice, ratings
from pbm.board.board import FORFEIT, RESIGN, SERVER, Board, BoardContext, Point
from pbm.board.clocks import Clocks
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow, TurnRow

EVENT_OF_TURN = {RESIGN: "resign", FORFEIT: "forfeit"}
"""The kinds of events for these turns; any other turn is a ``move``."""


def start(
    session: Session,
    game: str,
    options: Sequence[str],
    players: tuple[str, str],
    *,
    times: Clocks,
    board_name: str | None = None,
    until: datetime | None = None,
    beginning: Point | None = None,
) -> Board:
    """Set up a board and store it. The caller has checked players, options, the name and *beginning*.

    *board_name* is its name in a tournament; any other board gets the next number of its game.
    *until* is the end of its round in a tournament, if that has one.
    """
    store = session.store
    row = BoardRow(
        game=game,
        board=board_name or store.boards.next_number(game),
        options=" ".join(options),
        first_player=players[0],
        second_player=players[1],
        secret=session.server.random_bytes(dice.SECRET_BYTES),
        started=session.now,
        comment=session.comment or None,
        nag_days=times.nag,
        forfeit_days=times.forfeit,
        total_days=times.total,
        novacation=times.novacation,
        until=until,
        unrated=any(robot.userid in players and not robot.rated for robot in store.robots.all()),
    )
    if board_name:
        row = row._replace(pool=board_name.rstrip("0123456789"))
    if times.clock:
        row = row._replace(**times.clock.columns)
    if times.noweekends:
        row = row._replace(weekends=str(session.zone(players[0])))
    given_turns: list[TurnRow] = []
    if beginning:
        given_turns = beginning.board.turns[: beginning.moves]
        row = row._replace(source=beginning.board.number, given=beginning.moves)
    return _set_up(session, row, given_turns)


def _set_up(session: Session, row: BoardRow, given_turns: Sequence[TurnRow]) -> Board:
    """Store a new board with the turns that it begins with, and let the server play on."""
    store = session.store
    store.boards.add(row)
    session.boards[row.place] = None
    for userid in dict.fromkeys(row.players):
        player = store.players.get(row.game, userid)
        if player.seeking:
            store.players.change(row.game, userid, seeking=player.seeking - 1)
    followers = [userid for userid in store.players.subscribers_of_all(row.game) if userid not in row.players]
    for userid in followers:
        store.boards.follow(row.game, row.board, userid)
    board = Board(row, [], {}, BoardContext(subscribers=followers, robots=store.robots.among(row.players)))
    for turn in given_turns:
        if turn.dice:
            board.set_dice(turn.dice)
        board.play(str(board.mover), turn.text, row.started, automatic=turn.automatic)
    comments.keep_comment(session, board)
    session.note("challenge", **row.place_data, pool=row.pool, players=list(row.players), options=row.options)
    play_on(session, board)
    return board


def play_turn(session: Session, board: Board, name: str, text: str, reason: str | None = None) -> list[Letter]:
    """Play a turn and the turns of the server that follow. Returns the letters. FORFEIT and SKIP count as automatic.

    The *reason*, one of REASONS, is why the game ends by that turn, if the turn does not tell.
    """
    if name in board.dropped_plans and name not in board.plans:
        stored_plans.delete_plan(session, board, name)  # the letters below tell it for the last time
    board.change(submitted=None, vote=None, voter=None, comment=None, commenter=None, reason=reason)
    if session.comment:
        board.change(comment=session.comment, commenter=commenter(name, text))
    until = board.row.until
    last_move = board.row.happened
    board.play(name, text, session.now, automatic=text in {FORFEIT, SKIP})
    comments.keep_comment(session, board)
    if until and until < session.now and name in board.about.robots:  # no time counts for it
        board.change(until=until + (board.row.happened - last_move))
    notes = []
    if planned := play_on(session, board):
        notes.append(f"Played at once, as planned: {', '.join(planned)}.")
    return letters_about(session, board, *notes)


def commenter(name: str, text: str) -> str:
    """The writer of the comment of a player's turn. For FORFEIT it is the server, because the comment is the reason."""
    if text == FORFEIT:
        return SERVER
    return name


def play_on(session: Session, board: Board) -> list[str]:
    """Play planned moves, planned resignations and skips, as long as there are some. Store all new turns.

    Returns the planned moves, each with the name of its player, such as `e3 by alice`.
    """
    planned: list[str] = []
    while (name := board.mover) is not None:
        plan = board.plans.get(name)
        if plan == RESIGN:
            board.play(name, RESIGN, session.now, automatic=True)
        elif plan and board.turns[-1].userid != name:  # a plan answers the opponent, and nobody else
            # a plan without a legal answer is dropped, so that the next round finds none
            if answer := stored_plans.play_answer(session, board, name):
                planned.append(f"{texts.wrapped_turns(answer)} by {name}")
        elif board.state.must_skip:
            board.play(name, SKIP, session.now, automatic=True)
        else:
            break
    store_turns(session, board)
    return planned


def store_turns(session: Session, board: Board) -> None:
    """Store new turns, and the end of the game if it is over. Both become events.

    The end of a game lets its tournament go on.
    """
    stored = board.row.moves
    board.change(moves=len(board.turns), turn=board.mover)
    if board.row.weekends and board.mover:
        board.change(weekends=str(session.zone(board.mover)))
    if board.is_over:
        _end(session, board)
    row = board.row
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.save(row, stored + 1, board.turns[stored:])
    place = {**row.place_data, "pool": row.pool}
    first = max(stored, row.given)  # turns of the board from which this one began have happened there
    for number, turn in enumerate(board.turns[first:], first + 1):
        kind = EVENT_OF_TURN.get(turn.text, "move")
        session.note(kind, **place, userid=turn.userid, move=turn.text, number=number, automatic=turn.automatic)
    if board.is_over:
        winner = row.winner or "draw"
        session.note("end", **place, players=list(board.players), winner=winner, reason=row.reason)
        if row.pool:
            advance_tournament(session, row.game, row.pool)


def advance_tournament(session: Session, game: str, pool: str) -> None:
    """Start the games of a tournament that can begin now, or end it."""
    from pbm.actions import rounds  # 5 ms

    rounds.advance(session, game, pool, start)


def _end(session: Session, board: Board) -> None:
    """Note the end of a game on its board, drop plans, and settle ratings. The caller stores the row."""
    reason = board.row.reason or board.reasons[0]
    game, number = board.row.place
    board.plans.clear()
    session.store.boards.drop_plans(game, number)
    ended = board.row.happened
    board.change(ended=ended, winner=board.winner, reason=reason, vote=None, voter=None, submitted=None)
    results = ratings.settle(session.store, board.row, ended, has_begun=board.has_begun)
    if board.resigned:
        session.store.boards.follow(game, number, board.resigned)
    board.about = board.about._replace(results=results)


def letters_about(session: Session, board: Board, *notes: str) -> list[Letter]:
    """The letters about a change of a board, to players and subscribers; about an end also to those notified of it."""
    readers = readers_of(board)
    board_letters = letters.of_board(session, board.present, *readers, notes=notes)
    if board.is_over:
        notified = set(board.about.notified).union(session.store.players.notified_of_all(board.row.game))
        others = sorted(notified.difference(readers))
        board_letters += letters.of_board(session, board.present, *others, kind="Notification")
    return board_letters


def readers_of(board: Board) -> list[str]:
    """The users who get every mail about a board: its players and its subscribers."""
    return list(dict.fromkeys(list(board.players) + list(board.about.subscribers)))
