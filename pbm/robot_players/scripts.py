"""The commands that wait for boards, and that let a program play on one."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import click

from pbm import client, letters, runner, texts
from pbm.actions import finding
from pbm.console import open_existing
from pbm.console.usage import BOARD_ARGUMENT, GAME_ARGUMENT, SECONDS, USER_ARGUMENT, Commands
from pbm.names import is_pool
from pbm.refusals import Refused
from pbm.robot_players import elsewhere
from pbm.robot_players.program import MOST_REFUSED, NO_ANSWER, TERMINATED, Program, command_words, run_until_terminated
from pbm.robot_players.waiting import Condition, check_player, condition, contents, player_of_turn, print_boards
from pbm.session import Session
from pbm.store import BoardRow, Reply, Store

PAUSE_SECONDS = 0.05
"""The time between two looks at what is waited for."""
commands = Commands("pbm")


@commands.command()
@GAME_ARGUMENT
@click.argument("boards", nargs=-1, required=True, metavar="BOARD...")
@click.option("--until", default="change", metavar="change|over|turn=USERID", help="What to wait for.")
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="How long to wait; without it, for ever.")
def wait(game: str, boards: tuple[str, ...], until: str, timeout: float | None) -> None:
    """Wait until something happens on one of these boards, and list the boards on which it has.

    By default, that is any change after the command began: a move, a move taken back, a proposal or the end of the
    game. --until=over waits for the end of a game, and --until=turn=USERID for the turn of that player. If that has
    happened already, the command ends at once. The end of one of their games ends the wait for their turn, too, and the
    removal of a board ends any wait.

    The pool of a tournament can be named instead of a board. It stands for all its boards, also those that begin later.
    --until=over then waits for the end of the tournament and all its games, and --until=turn=USERID goes on until that.
    With PBM_SERVER one can wait for boards alone.

    The exit status is 1 if nothing has happened in time.
    """
    words = dict.fromkeys(word.lower() for word in boards)
    if server := client.from_environment():
        elsewhere.wait_for_boards(server, game, list(words), until, timeout)
        return
    session = Session(open_existing())
    store = session.store
    rows = [finding.find_row(session, game, word) for word in words if not is_pool(word)]
    looking = [look_at_pool(store, game, word, until) for word in words if is_pool(word)]
    if rows:
        looking.append(looks(store, rows, condition(until, rows)))
    end = time.monotonic() + timeout if timeout is not None else float("inf")
    for rows_of_look in zip(*looking, strict=True):
        if any(rows_of_look):
            _print_boards(session, list(chain(*rows_of_look)))
            return
        if time.monotonic() >= end:
            break
        time.sleep(PAUSE_SECONDS)
    raise Refused(f"Nothing has happened within {texts.counted(timeout or 0, 'second')}.")


@commands.command()
@GAME_ARGUMENT
@BOARD_ARGUMENT
@USER_ARGUMENT
@click.option("--with", "program", required=True, metavar="PROGRAM", help="The program and its arguments.")
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="How long a move may take.")
def play(game: str, board: str, userid: str, program: str, timeout: float | None) -> int:
    """Let a program play for a user on a board, until the game is over.

    At each turn of that user, the program gets one line on its standard input. It is the position in JSON, as the
    request `state` of the referee prints it. It answers with one line on its standard output, a move. If the move is
    refused, the program gets a line with `? ` and the reason, and answers again. After the third refusal in a row, the
    command ends with status 1. It also does so if the program ends, or takes longer than the timeout. At the end of the
    game the program gets the line `quit`, and the status is 0.

    The words of PROGRAM are split as a shell splits them, but there is no shell: write --with 'sh -c "..."' if you need
    one. No password is asked for. Mails go out as for any move, but the user gets none about their own moves.
    """
    player = Program(command_words(program), timeout)
    name = userid.lower()
    try:
        if server := client.from_environment():
            elsewhere.play_to_the_end(server, game, board.lower(), name, player)
            return 0
        session = Session(open_existing())
        row = finding.find_row(session, game, board)
        check_player(row, name)
        run_until_terminated(_play_to_the_end(session, row, name, player))
    except asyncio.CancelledError:
        return TERMINATED
    _print_boards(session, [row])
    return 0


def looks(store: Store, rows: Sequence[BoardRow], happened: Condition) -> Iterator[list[BoardRow]]:
    """Look again and again whether it *happened*. Yields the boards on which it has, each time."""
    return _looks_after_changes(store, lambda: [row for row in rows if happened(row, store.boards.get(*row.place))])


def look_at_pool(store: Store, game: str, pool: str, until: str) -> Iterator[list[BoardRow]]:
    """Look again and again at all boards of a pool, also at those that begin later.

    Yields each time the boards on which it has happened. When the tournament and all its games are over, these are all
    its boards. Raises Refused if there is no such pool, or that cannot happen in it.
    """
    with store.reading():
        tournament = store.tournaments.get(game, pool)
        rows = store.boards.of_tournament(game, pool)
        players = {entrant.name for entrant in store.tournaments.entrants(game, pool)}
    if not tournament and not rows:
        raise Refused(f"There is no pool {pool!r} of {game.capitalize()}.")
    before = {row.board: row for row in rows}
    waits_for_turn = until not in {"change", "over"}
    mover = player_of_turn(until) if waits_for_turn else ""
    if waits_for_turn and mover not in players.union(*(row.players for row in rows)):
        raise Refused(f"{mover} does not play in pool {pool} of {game.capitalize()}.")

    def look() -> list[BoardRow]:
        tournament = store.tournaments.get(game, pool)
        now = {row.board: row for row in store.boards.of_tournament(game, pool)}
        boards = before | now
        if not tournament and not boards:
            raise Refused(f"Pool {pool} of {game.capitalize()} has been removed.")
        if until == "change":
            return [row for name, row in boards.items() if _differ(before.get(name), now.get(name))]
        if (tournament is None or tournament.is_over) and all(row.ended for row in now.values()):
            return list(boards.values())
        if until == "over":
            return []
        return [row for row in now.values() if row.turn == mover]

    return _looks_after_changes(store, look)


def _differ(then: BoardRow | None, now: BoardRow | None) -> bool:
    """Whether everybody can see that a board has changed, has begun or was removed."""
    if then is None or now is None:
        return then is not now
    return contents(then) != contents(now)


def _looks_after_changes(store: Store, look: Callable[[], list[BoardRow]]) -> Iterator[list[BoardRow]]:
    """What a *look* finds, again and again; nothing as long as nobody has written into the database."""
    seen = None
    while True:
        rows: list[BoardRow] = []
        with store.reading():
            version = store.data_version()
            if version != seen:
                rows = look()
        seen = version
        yield rows


async def _play_to_the_end(session: Session, row: BoardRow, userid: str, program: Program) -> None:
    """Let a program play for a user until the game is over. Raises Refused if it fails."""
    async with program:
        await program.start()
        while await _wait_for_turn(session.store, row, userid, program):
            await _take_turn(session, row, userid, program)


async def _wait_for_turn(store: Store, row: BoardRow, userid: str, program: Program) -> bool:
    """Wait until it is the user's turn. Returns False if the game is over, or the board removed.

    Raises Refused if the program ends before that.
    """
    for has_turn in looks(store, [row], condition(f"turn={userid}", [row])):
        if has_turn:
            break
        if program.has_ended:
            raise Refused(NO_ANSWER)
        await asyncio.sleep(PAUSE_SECONDS)
    now = store.boards.get(*row.place)
    return now is not None and now.ended is None


async def _take_turn(session: Session, row: BoardRow, userid: str, program: Program) -> None:
    """Let a program move, if it is still the user's turn. Raises Refused if it has failed too often.

    Nothing is played, and nothing refused, if the board has changed since the program was asked.
    """
    with session.store.reading():
        now = session.store.boards.get(*row.place)
        board = now and finding.board_of(session, now)
    if board is None or board.mover != userid:
        return
    question = json.dumps(letters.data(board.present, session)["position"], sort_keys=True)
    for _ in range(MOST_REFUSED):
        move = await program.ask(question)
        with session.store.writing():
            now = session.store.boards.get(*row.place)
            if now is None or contents(now) != contents(board.row):
                return
            refusal = runner.play(session, Reply(*row.place, userid), move, userid).why
        if not refusal:
            return
        why = " ".join(str(refusal).split())
        question = f"? {why}"
    raise Refused(f"{MOST_REFUSED} moves of the program in a row were refused. The last one: {why}")


def _print_boards(session: Session, rows: Sequence[BoardRow]) -> None:
    """Print some boards as they are now."""
    store = session.store
    with store.reading():
        rows_now = {row.board: store.boards.get(*row.place) for row in rows}
        boards = [finding.board_of(session, row) for row in rows_now.values() if row]
        board_data = [letters.data(board.present, session) for board in boards]
    gone = [number for number, row in rows_now.items() if not row]
    print_boards([board.row for board in boards], board_data, gone)
