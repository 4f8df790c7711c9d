"""The commands by which an operator looks after boards."""

from datetime import datetime

import click

import games
from pbm import delivery, letters, texts
from pbm.actions import finding
from pbm.actions.finding import find_board, find_row
from pbm.board import clocks
from pbm.board.records import Unsound, differences, outcome, replayed
from pbm.console import answer, confirm, open_existing
from pbm.console.listing import ALL, LISTED, Listing, find_user, more, time_data
from pbm.console.usage import Commands, WholeNumber
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow

commands = Commands("pbm")


@commands.group(cls=Listing)
def boards() -> None:
    """List boards, mend or remove one."""


@boards.command("list")
@click.argument("words", nargs=-1, metavar="[GAME] [SELECTOR]...")
@click.option("--all", "wants_all", is_flag=True, help="List boards that are over, too.")
@click.option("--limit", type=WholeNumber(), metavar="N", help="How many are listed; else 100, and with --json all.")
def list_boards(words: tuple[str, ...], limit: int | None, *, wants_all: bool) -> None:
    """List boards with their options and their ages in days since the last move.

    The selector is any number of userids (boards where one of them plays), and of the words `active`, `inactive`,
    `next` (one of them is to move), `tournament` and `standard`.
    """
    if limit is None:  # a program would not see that there are more, and a tournament has hundreds
        limit = ALL if click.get_current_context().obj else LISTED
    server = open_existing()
    store = server.store
    asked = [word.lower() for word in words]
    with store.reading():
        kinds = store.boards.games()
        game = asked.pop(0) if asked and (asked[0] in kinds or games.exists(asked[0])) else None
        for word in asked:
            if word not in (*finding.STATES, *finding.KINDS, *finding.FILLERS):
                find_user(server, word)
        userids, state, kind = finding.read(Session(server), game or "", asked)
        rows: list[BoardRow] = []
        for one in [game] if game else kinds:
            rows += store.boards.listed(
                one,
                userids,
                active=None if wants_all else state != "inactive",
                is_turn=state == "next",
                tournament=None if kind is None else kind == "tournament",
                limit=limit + 1 - len(rows),
            )
    shown = rows[:limit]
    now = server.now()
    lines = [("Game", "Board", "Moves", "Players", "Status", "Started", "Days", "Options")]
    for row in shown:
        players = f"{row.first_player} {row.second_player}"
        started, days = f"{row.started:%Y-%m-%d}", str(_age(row, now))
        status = f"{letters.status(row)} ({row.reason})" if row.reason else letters.status(row)
        lines.append((row.game, row.board, str(row.moves), players, status, started, days, _options(row)))
    text = "\n".join([texts.table(lines), *more(rows, limit)])
    data = [
        {
            "game": row.game,
            "board": row.board,
            "moves": row.moves,
            "players": [row.first_player, row.second_player],
            "turn": row.turn,
            "winner": row.winner or ("draw" if row.ended else None),
            "reason": row.reason,
            "started": time_data(row.started),
            "ended": time_data(row.ended),
            "days": _age(row, now),
            "options": _options(row).split(),
        }
        for row in shown
    ]
    answer(text if shown else "There are no such boards.", {"boards": data})


def _age(row: BoardRow, now: datetime) -> int:
    """The days since a board was changed or has ended."""
    return (now - (row.ended or row.changed or row.started)).days


def _options(row: BoardRow) -> str:
    """The options of a board as they could be typed, those of its clocks included."""
    return " ".join(filter(None, [row.options, clocks.of(row).text]))


@boards.command("remove")
@click.argument("game")
@click.argument("board")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_board(game: str, board: str, *, yes: bool) -> None:
    """Remove a board with all its moves, and tell its players; its number is not given out again."""
    server = open_existing()
    session = Session(server)
    row = find_row(session, _game(game), board)
    name = f"{texts.title(row.game)} board {row.board}"
    if server.store.players.results_of_board(row.game, row.board):
        raise Refused(f"{name} counts in the ratings of its players, so it has to stay.")
    moves = texts.counted(row.moves, "move")
    confirm(f"Remove {name}, {row.first_player} against {row.second_player}, {moves}?", yes=yes)
    with server.store.writing():
        found = find_board(session, row.game, row.board)
        server.store.boards.remove(row.game, row.board)
        server.store.events.note(session.now(), "remove", game=row.game, board=row.board, pool=row.pool)
        if row.pool:
            from pbm.actions import rounds, turns

            server.store.tournaments.void_meeting(row.game, row.board)
            rounds.advance(session, row.game, row.pool, turns.start)
        letter = letters.note(
            f"{name} was removed by the operator of this server.",
            subject=f"{name} has been removed",
            answer=letters.challenge(found, *found.players),
        )
        for player in dict.fromkeys(found.players):
            delivery.queue(session, letter._replace(to=player, thread=letters.thread(found)))
    answer(f"{name} is removed.", {"game": row.game, "removed": row.board})


@boards.command("mend")
@click.argument("game")
@click.argument("board")
def mend_board(game: str, board: str) -> None:
    """Set right what is stored of a board, who is to move and who has won, by the moves that were played on it."""
    server = open_existing()
    with server.store.writing():
        row = find_row(Session(server), _game(game), board)
        turns = server.store.boards.turns(row.game, row.board)
        try:
            right = outcome(row, replayed(row, turns), len(turns))
        except Unsound as why:
            raise Refused(f"{row.game} {row.board} cannot be mended: {why}") from why
        server.store.boards.save(right)
    changed = list(differences(row, right))
    text = "\n".join(["Mended:", *changed]) if changed else "There was nothing to mend."
    answer(text, {"game": row.game, "board": row.board, "mended": changed})


def _game(word: str) -> str:
    """The game that a word names. Raises Refused if there is none."""
    if not games.exists(word.lower()):
        raise Refused(games.unknown(word))
    return word.lower()
