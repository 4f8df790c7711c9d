"""The operator's command that adds time to clocks."""

import click

import games
from pbm import texts
from pbm.actions.absences import give_time
from pbm.actions.finding import find_row
from pbm.console import answer, open_existing
from pbm.console.usage import Commands
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store.absences import MOST_ADDED_DAYS

commands = Commands("pbm")


@commands.group()
def clocks() -> None:
    """Add time to the clocks of boards."""


@clocks.command("add")
@click.argument("days", type=float)
@click.argument("game", required=False)
@click.argument("board", required=False)
def add_time(days: float, game: str | None, board: str | None) -> None:
    """Give everybody DAYS more for what they owe, such as 2 or 0.5; on all boards, those of a game, or one board.

    Rounds end later, and so do seeks and guests if no game is named. The players read of it in the next mail about
    their board. After an outage that is not needed: `pbm cleanup` finds out for itself how long the server was away.
    """
    if not 0 < days <= MOST_ADDED_DAYS:
        raise Refused(f"{days:g} is no number of days; it is above 0, and at most {MOST_ADDED_DAYS}.")
    server = open_existing()
    session = Session(server)
    now = session.now
    with server.store.writing():
        if game is not None and not games.exists(game := game.lower()):
            raise Refused(f"There is no game {game!r}.")
        if game is not None and board is not None:
            row = find_row(session, game, board)
            if row.ended:
                raise Refused(f"The game on {game.capitalize()} board {row.board} is over.")
            board = row.board
        server.store.absences.add(now, now, days * 86400, game, board)
    give_time(server.store)
    where = "all boards"
    if game is not None:
        where = f"all boards of {game.capitalize()}"
    if game is not None and board is not None:
        where = f"{game.capitalize()} board {board}"
    text = f"The players of {where} have {texts.duration(days * 86400)} more."
    answer(text, {"days": days, "game": game, "board": board})
