"""The turns of a board: who may take one, what follows from it, who is told, and how a player gives up."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from games import SKIP, Illegal
from pbm import delivery, letters, texts
from pbm.actions.finding import board_of
from pbm.board import clocks, dice, plan_lines, ratings
from pbm.board.board import DROPPED, FIRST_MOVES, FORFEIT, RESIGN, SERVER, SWAP, Board, BoardContext, Point
from pbm.board.clocks import Clocks
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow


def parsed(board: Board, text: str) -> str:
    """A move, perhaps with ``#n`` behind it, in canonical form. Raises Illegal."""
    move, number = split_number(text)
    if move.lower() == SWAP and not getattr(board.rules, "SWAP", False):
        raise Illegal(f"{board.row.game.capitalize()} has no swap.")
    check_number(board, number)
    skips = move.lower() in {SKIP, "pass"}
    if skips and board.state.must_skip:  # only a plan gets here: the server plays other skips by itself
        return SKIP
    return board.state.parse(SKIP if skips else move)


def check_number(board: Board, number: int | None) -> None:
    """Make sure that the next move has that number, if one is given. Raises Illegal."""
    if number not in {None, len(board.turns) + 1}:
        raise Illegal(f"That is meant as move {number}, but it would be move {len(board.turns) + 1}.")


def split_number(text: str) -> tuple[str, int | None]:
    """A move, and the number behind it: ``("e3", 5)`` for ``e3#5``, ``("e3", None)`` for ``e3``."""
    move, mark, number = text.rpartition("#")
    is_number = mark and 0 < len(number) < 10 and number.isascii() and number.isdecimal()
    return (move, int(number)) if is_number else (text, None)


def board_of_player(session: Session, row: BoardRow, name: str) -> Board:
    """The board of a row. Raises Refused if its game is over, and Illegal if the user does not play there."""
    board = board_of(session, row)
    if board.is_over:
        raise Refused(f"The game has ended: {letters.status(board.row)}.")
    if name not in board.players:
        raise Illegal(f"You do not play on this board; {' and '.join(dict.fromkeys(board.players))} do.")
    return board


def check_turn(session: Session, board: Board, name: str) -> None:
    """Make sure that it is a player's turn, and there is time left for it. Raises Illegal, and Refused."""
    check_time(session, board)
    if name != board.turn:
        raise Illegal(f"It is not your turn; {board.turn} is to move.")


def check_time(session: Session, board: Board) -> None:
    """Make the player to move forfeit if their total time is used up, or their round is over.

    Raises Refused then; the forfeit stands.
    """
    name, row, now = str(board.turn), board.row, session.now
    if name in board.about.robots:
        return
    if clocks.is_out_of_time(row, board.seat, now):
        told, why = forfeit_by_total_time(session, board), f"{name} had used up their time"
    elif row.until and now >= row.until:
        told, why = forfeit_by_round(session, board), f"The round was over, and it was {name}'s turn"
    else:
        return
    delivery.queue(session, *told)
    if not board.is_over:
        raise Refused(f"{why} before the game began, so the board is removed.", stands=True)
    raise Refused(f"{why}, so the game is over: they have forfeited.", point=board.present, stands=True)


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
    """Set up a board and store it. The caller has checked players, options, name and *beginning*.

    *until* is the end of its round in a tournament, if that has one.
    """
    store = session.store
    row = BoardRow(
        game=game,
        board=name or store.boards.next_number(game),
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
        weekends=str(session.zone(players[0])) if times.noweekends else None,
        pool=name.rstrip("0123456789") if name else None,
        source=beginning.board.row.board if beginning else None,
        given=beginning.moves if beginning else 0,
        until=until,
        unrated=any(robot.userid in players and not robot.rated for robot in store.robots.all()),
    )
    store.boards.add(row)
    session.boards[row.place] = None
    for userid in dict.fromkeys(players):
        player = store.players.get(game, userid)
        if player.seeking:
            store.players.change(game, userid, seeking=player.seeking - 1)
    followers = [userid for userid in store.players.subscribers_of_all(game) if userid not in players]
    for userid in followers:
        store.boards.follow(game, row.board, userid)
    board = Board(row, [], {}, BoardContext(subscribers=followers, robots=store.robots.among(players)))
    for turn in beginning.board.turns[: beginning.moves] if beginning else ():
        if turn.dice:
            board.set_dice(turn.dice)
        board.play(str(board.turn), turn.text, row.started, automatic=turn.automatic)
    session.note("challenge", **row.place_data, pool=row.pool, players=[*players], options=row.options)
    play_on(session, board)
    return board


def play_turn(session: Session, board: Board, name: str, text: str, reason: str | None = None) -> list[Letter]:
    """Play a turn and the turns of the server that follow. Returns the letters. FORFEIT and SKIP count as automatic.

    The *reason*, one of REASONS, is why the game ends by that turn, if the turn does not tell.
    """
    if name in board.dropped_plans and name not in board.plans:
        delete_plan(session, board, name)  # the letters below tell it for the last time
    board.change(
        submitted=None,
        vote=None,
        voter=None,
        comment=session.comment or None,
        commenter=_writer(name, text) if session.comment else None,
        reason=reason,
    )
    until, happened = board.row.until, board.row.happened
    board.play(name, text, session.now, automatic=text in {FORFEIT, SKIP})
    if until and until < session.now and name in board.about.robots:  # no time counts for it
        board.change(until=until + (board.row.happened - happened))
    planned = play_on(session, board)
    return letters_about(session, board, *([f"Played at once, as planned: {', '.join(planned)}."] if planned else []))


def _writer(name: str, text: str) -> str:
    """The writer of the comment of a player's turn."""
    return SERVER if text == FORFEIT else name


def play_on(session: Session, board: Board) -> list[str]:
    """Play planned moves, planned resignations and skips, as long as there are some. Store all new turns.

    Returns the planned moves, each with the name of its player, such as `e3 by alice`.
    """
    planned: list[str] = []
    while (name := board.turn) is not None:
        plan = board.plans.get(name)
        if plan == RESIGN:
            board.play(name, RESIGN, session.now, automatic=True)
        elif plan and board.turns[-1].userid != name:
            planned += _play_planned(session, board, name, plan)
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
    before = board.row.moves
    board.change(moves=len(board.turns), turn=board.turn)
    if board.row.weekends and board.turn:
        board.change(weekends=str(session.zone(board.turn)))
    if board.is_over:
        _end(session, board)
    row = board.row
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.save(row, before + 1, board.turns[before:])
    place = {**row.place_data, "pool": row.pool}
    first = max(before, row.given)
    for number, turn in enumerate(board.turns[first:], first + 1):
        kind = EVENT_OF_TURN.get(turn.text, "move")
        session.note(kind, **place, userid=turn.userid, move=turn.text, number=number, automatic=turn.automatic)
    if board.is_over:
        session.note("end", **place, players=[*board.players], winner=row.winner or "draw", reason=row.reason)
        if row.pool:
            advance_tournament(session, row.game, row.pool)


def advance_tournament(session: Session, game: str, pool: str) -> None:
    """Start the games of a tournament that can begin now, or end it."""
    from pbm.actions import rounds  # 5 ms

    rounds.advance(session, game, pool, start)


EVENT_OF_TURN = {RESIGN: "resign", FORFEIT: "forfeit"}
"""The events of these turns; that of any other turn is a ``move``."""


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
    readers = _readers(board)
    found = letters.of_board(session, board.present, *readers, notes=notes)
    if board.is_over:
        notified = {*board.about.notified, *session.store.players.notified_of_all(board.row.game)} - {*readers}
        found += letters.of_board(session, board.present, *sorted(notified), kind="Notification")
    return found


def _readers(board: Board) -> list[str]:
    """Those who get every mail about a board: its players, and its subscribers."""
    return [*dict.fromkeys([*board.players, *board.about.subscribers])]


def _play_planned(session: Session, board: Board, name: str, text: str) -> list[str]:
    """Play the planned answer to the last move, or drop the plan if it has no legal one.

    Returns the move with the name of the player; nothing if none was played.
    """
    made = board.turns[-1].text
    mine, rest = plan_lines.reply_to(plan_lines.branches(text), made)
    if not mine:
        drop_plan(session, board, name, f"Your plan has no answer to {texts.wrapped_turns(made)}, and is dropped.")
        return []
    try:
        move = parsed(board, mine)
    except Illegal as why:
        what = f"{texts.wrapped_turns(mine)}, which you had planned, cannot be played, and your plan is dropped."
        drop_plan(session, board, name, f"{what} {why}")
        return []
    board.play(name, move, session.now, automatic=True)
    rest = [] if board.is_over else rest
    known = {theirs: _known_now(board, theirs) for theirs in {line[0].theirs for line in rest}}  # many may be one
    kept = ((line[0]._replace(theirs=known[line[0].theirs]), *line[1:]) for line in rest)
    replace_plan(session, board, name, plan_lines.text_of_plan(kept))
    return [f"{texts.wrapped_turns(move)} by {name}"]


def _known_now(board: Board, theirs: str) -> str:
    """The condition of a plan in canonical form, if it is legal now; else as it is.

    Behind `any`, it was not known before. A move of the opponent is then compared with texts, which is fast.
    """
    with suppress(Illegal):
        return parsed(board, theirs)
    return theirs


def delete_plan(session: Session, board: Board, name: str) -> None:
    """Delete the plan of a player."""
    session.store.boards.drop_plans(*board.row.place, name)
    board.plans.pop(name, None)


def replace_plan(session: Session, board: Board, name: str, text: str) -> None:
    """Replace the plan of a player by another one, or by RESIGN. An empty *text* is no plan."""
    delete_plan(session, board, name)
    if text:
        board.plans[name] = text
        session.store.boards.keep_plan(*board.row.place, name, text)


def drop_plan(session: Session, board: Board, name: str, why: str) -> None:
    """Forget the plan of a player. The letter about the move tells them why.

    A player without an address is told whenever they see the board, until they move or plan again.
    """
    delete_plan(session, board, name)
    board.dropped_plans[name] = why
    if not session.store.users.addresses(name):
        session.store.boards.keep_plan(*board.row.place, name, f"{DROPPED}{why}")


# Endings that no rule of the game makes


def can_leave(board: Board) -> bool:
    """Whether giving up now removes the board, because the play has hardly begun."""
    return len(board.turns) - board.row.given < FIRST_MOVES and board.row.pool is None


def remove_board(session: Session, board: Board, **detail: str | None) -> None:
    """Remove a board and all that is stored of it. *detail* is part of its event."""
    session.store.outbox.drop_reminders(board.name)
    session.store.boards.remove(*board.row.place, session.now)
    session.note("remove", **board.row.place_data, **detail)


def remove_and_tell(session: Session, board: Board, what: str, answer: str) -> None:
    """Remove a board, and tell its players and subscribers *what* has happened to it."""
    remove_board(session, board, pool=board.row.pool)
    name = f"{board.row.game.capitalize()} board {board.row.board}"
    text = letters.heading("removed", board=name, removal=what)
    letter = letters.plain_letter(text, subject=f"{name} has been removed", answer=answer)
    for reader in _readers(board):
        delivery.queue(session, letter._replace(to=reader, thread=board.thread))


def quit_board(
    session: Session, board: Board, name: str, text: str = RESIGN, reason: str | None = None
) -> list[Letter]:
    """End a game by the turn RESIGN or FORFEIT of a player, or remove its board (`can_leave`). Returns the letters."""
    if not can_leave(board):
        return play_turn(session, board, name, text, reason)
    row, writer = board.row, _writer(name, text)
    remove_board(session, board, userid=name)
    deactivate(session, row.game, name)
    return [letters.of_removal(board, name, session.comment, to=reader, writer=writer) for reader in _readers(board)]


def deactivate(session: Session, game: str, name: str) -> None:
    """Make a player inactive in the standings, unless they still play on a board of that game."""
    if not session.store.boards.active_counts([name], game)[name]:
        session.store.players.set_inactive(game, name, inactive=True)


def resign_or_leave(session: Session, board: Board, name: str) -> list[Letter]:
    """Resign for a player, or leave the board (`can_leave`). If it is not their turn, they resign when it comes."""
    row = board.row
    if name == board.turn or can_leave(board):
        return quit_board(session, board, name)
    if board.plans.get(name) == RESIGN:
        cancel = f"{row.game} move {row.board} {name} PASSWORD unresign"
        raise Illegal(f"You resign already when your turn comes; this cancels it:\n{cancel}")
    notes = ["Your plan is forgotten."] if name in board.plans else []
    replace_plan(session, board, name, RESIGN)
    [letter] = letters.of_board(session, board.present, name, notes=notes)
    return [letter._replace(subject=f"{row.game.capitalize()} Board {row.board} Resigned", is_urgent=True)]


def unresign(session: Session, board: Board, name: str) -> list[Letter]:
    """Take back a resignation that waits for the player's turn. Raises Illegal if there is none."""
    if board.plans.get(name) != RESIGN:
        raise Illegal("You have not resigned on this board.")
    delete_plan(session, board, name)
    return letters.of_board(session, board.present, name, notes=["Your resignation is taken back."])


def forfeit(session: Session, board: Board, name: str, reason: str, why: str) -> list[Letter]:
    """Make a player forfeit. The *reason* is one of REASONS; *why* tells it in a sentence."""
    return quit_board(replace(session, comment=why), board, name, FORFEIT, reason)


def forfeit_by_total_time(session: Session, board: Board) -> list[Letter]:
    """Make the player to move forfeit, because they have used up their total time."""
    name, allowed = str(board.turn), texts.counted(board.row.total_days or 0, "day")
    return forfeit(session, board, name, "total time", f"{name} has used up the {allowed} that each player is allowed.")


def forfeit_by_round(session: Session, board: Board) -> list[Letter]:
    """Make the player to move forfeit, because the round of the tournament is over."""
    name = str(board.turn)
    return forfeit(session, board, name, "forfeited", f"The round is over, and it was {name}'s turn.")
