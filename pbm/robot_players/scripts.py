"""Programs that wait for boards, and programs that play on them."""

import time
from collections.abc import Sequence

import click

import games
from pbm import letters, texts
from pbm.actions import finding
from pbm.board.board import Board
from pbm.console.usage import Commands, Seconds
from pbm.refusals import Misused, Refused
from pbm.robot_players.waiting import PAUSE, condition, looks, players
from pbm.session import Session
from pbm.settings import open_server
from pbm.store import BoardRow
from pbm.terminal import fail, say

commands = Commands("pbm")


@commands.command()
@click.argument("game")
@click.argument("boards", nargs=-1, required=True, metavar="BOARD...")
@click.option("--until", default="change", metavar="change|over|turn=USERID", help="What to wait for.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="How long to wait; else for ever.")
@click.pass_context
def wait(ctx: click.Context, game: str, boards: tuple[str, ...], until: str, timeout: float | None) -> int:
    """Wait until something happens on one of these boards, and list the boards on which it has.

    That is a change since the command began: a move, a move taken back, a proposal, the end. With --until=over it is
    the end of a game, and with --until=turn=USERID the turn of that player; what is so already is not waited for. The
    end of a game of theirs ends the wait for their turn, too, and the removal of a board ends any wait.

    The exit status is 1 if nothing has happened in time.
    """
    session = Session(open_server())
    rows = [finding.find_row(session, known(game), number) for number in dict.fromkeys(boards)]
    happened = condition(until, rows)
    end = time.monotonic() + timeout if timeout is not None else float("inf")
    for found in looks(session.store, rows, happened):
        if found:
            _say_which(session, found, as_json=ctx.obj)
            return 0
        left = end - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(PAUSE, left))
    return fail(f"Nothing has happened within {texts.counted(timeout or 0, 'second')}.", 1, as_json=ctx.obj)


@commands.command()
@click.argument("game")
@click.argument("board")
@click.argument("userid")
@click.option("--with", "program", required=True, metavar="PROGRAM", help="The program and its arguments.")
@click.option("--timeout", type=Seconds(), metavar="SECONDS", help="How long a move may take.")
@click.pass_context
def play(ctx: click.Context, game: str, board: str, userid: str, program: str, timeout: float | None) -> int:
    """Let a program play for a user on a board, until the game is over.

    At each turn of that user the program gets one line on its standard input, the position in JSON as the request
    `state` of the referee prints it, and answers with one line on its standard output, a move. If that is refused, it
    gets a line that begins with `? ` and the reason, and answers again; the third refusal in a row ends the command
    with status 1. So does a program that ends, or needs more than the timeout. At the end of the game the program gets
    the line `quit`, and the status is 0.

    The words of PROGRAM are split as a shell does it, but there is no shell: write --with 'sh -c "..."' if you need
    one. No password is asked for. The mails go out as they do for any move, but the user gets none about their own.
    """
    from pbm.robot_players.program import command_words, run

    words = command_words(program)
    session = Session(open_server())
    row = finding.find_row(session, known(game), board)
    name = userid.lower()
    if name not in players(row):
        raise Refused(f"{name} does not play on this board; {row.first_player} and {row.second_player} do.")
    status = run(session, row, name, words, timeout)
    if status == 0:
        _say_which(session, [row], as_json=ctx.obj)
    return status


def known(game: str) -> str:
    """The name of a game. Raises Misused if there is no such game."""
    if not games.exists(game.lower()):
        raise Misused(games.unknown(game))
    return game.lower()


def _say_which(session: Session, rows: Sequence[BoardRow], *, as_json: bool) -> None:
    """Print some boards as they are now."""
    store = session.store
    with session.store.reading():
        found = [(row.board, Board.load(store, row.game, row.board)) for row in rows]
    there = [board for _, board in found if board]
    gone = [number for number, board in found if not board]
    lines = [("Board", "Moves", "Players", "Status")]
    lines += [
        (board.row.board, str(board.row.moves), " ".join(board.players), letters.status(board.row)) for board in there
    ]
    lines += [(number, "", "", "removed") for number in gone]
    data = {"boards": [letters.data(board.present) for board in there], "gone": gone}
    say(texts.table(lines), data, as_json=as_json)
