"""The commands that give games to other programs and servers, and take them in."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

import games
from pbm.actions.finding import find_row
from pbm.board import dice, records
from pbm.board.records import Record, Unsound
from pbm.console import answer, open_existing
from pbm.console.usage import GAME_ARGUMENT, Commands
from pbm.names import is_new_board
from pbm.refusals import Refused, touching
from pbm.server import Server
from pbm.session import Session
from pbm.store import BoardRow
from pbm.store.boards import Among
from pbm.terminal import say

NOT_BLANK = re.compile(r"\S")

commands = Commands("pbm")


@commands.command()
@GAME_ARGUMENT
@click.argument("boards", nargs=-1, metavar="[BOARD]...")
@click.option("--pool", metavar="POOL", help="All boards of a tournament.")
@click.option("--all", "wants_all", is_flag=True, help="All boards of the game.")
def export(game: str, boards: tuple[str, ...], pool: str | None, *, wants_all: bool) -> None:
    """Print the records of games as JSON, a line each, for `pbm import` and for other programs.

    A record has the secret of its dice only when the game is over.
    """
    if [bool(boards), pool is not None, wants_all].count(True) != 1:
        raise click.UsageError("Name boards, or a pool by --pool, or all by --all.")
    server = open_existing()
    store = server.store
    with store.reading():
        written = (
            records.write(
                Record(row, store.boards.turns(*row.place)),
                store.players.results_of_board(*row.place),
            )
            for row in _rows(server, game, boards, pool)
        )
        if click.get_current_context().obj:
            answer("", {"records": list(written)})
            return
        for document in written:
            say(json.dumps(document), {})


def _rows(server: Server, game: str, boards: Sequence[str], pool: str | None) -> Iterable[BoardRow]:
    """The boards that are named, those of a pool, or all of a game."""
    if boards:
        return [find_row(Session(server), game, board) for board in dict.fromkeys(boards)]
    if pool is None:
        return server.store.boards.found(Among([game]), "board")
    found = server.store.boards.of_tournament(game, pool.lower())
    if not found:
        raise Refused(f"There are no {game} boards of a pool {pool!r}.")
    return found


@commands.command("import")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--as", "number", metavar="NUMBER", help="Give the board that number.")
@click.option("--map", "pairs", multiple=True, metavar="OLD:NEW", help="What a player of the record is called here.")
def import_(file: Path | None, number: str | None, pairs: tuple[str, ...]) -> None:
    """Store the records of games from a file or standard input, as `pbm export` prints them: all or none.

    Every turn is checked by the rules. A board keeps its number if that is free; otherwise it gets a new one. The
    players have to be users here. They get no mail, and the games are not rated again.
    """
    names = _names(pairs)
    documents = list(_documents(_text(file)))
    if not documents:
        raise Refused("There is no record.")
    if number is not None and len(documents) > 1:
        raise Refused(f"These are {len(documents)} records; --as={number} is for one.")
    server = open_existing()
    told, taken = [], []
    with server.store.writing():
        for at, document in enumerate(documents, 1):
            try:
                record = records.read(document, names, server.now())
                board = take_in(server, record, number)
            except Unsound as why:
                raise Refused(f"Record {at}{_name_of(document)}: {why}") from why
            told.append(_told(record.row, board))
            taken.append({"game": record.row.game, "board": board, "was": record.row.board})
    answer("\n".join(told), {"imported": taken})


def _names(pairs: Sequence[str]) -> dict[str, str]:
    """What the players of the records are called here."""
    names = {}
    for pair in pairs:
        old, colon, new = pair.lower().partition(":")
        if not (colon and old and new):
            raise Refused(f"--map={pair} is not OLD:NEW.")
        names[old] = new
    return names


def _text(file: Path | None) -> str:
    with touching(f"{file} cannot be read"):
        raw = file.read_bytes() if file else sys.stdin.buffer.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise Refused(f"{file or 'Standard input'} is no text in UTF-8.") from why


def _documents(text: str) -> Iterator[object]:
    """The JSON documents in a text, one behind the other; those of `--json` are a list in one."""
    decoder = json.JSONDecoder()
    end = 0
    while begin := NOT_BLANK.search(text, end):
        try:
            document, end = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError) as why:
            line = text.count("\n", 0, begin.start()) + 1
            raise Refused(f"What begins in line {line} is no JSON: {why}.") from why
        is_list = isinstance(document, dict) and isinstance(document.get("records"), list)
        yield from document["records"] if is_list else [document]


def _name_of(document: object) -> str:
    """The board that a record tells of, as far as it says."""
    if not isinstance(document, dict):
        return ""
    game, board = document.get("game"), document.get("board")
    return f" ({game[:20]} {board[:20]})" if isinstance(game, str) and isinstance(board, str) else ""


def take_in(server: Server, record: Record, number: str | None = None) -> str:
    """Store a game under a number of its own, which is returned. Raises Unsound if it cannot be stored."""
    row, store = record.row, server.store
    for userid in dict.fromkeys(row.players):
        if not (store.users.is_taken(userid) if row.ended else store.users.password_of(userid) is not None):
            raise Unsound(f"there is no user {userid} here; --map={userid}:USERID says who that is.")
    board = (number or row.board).lower()
    if not is_new_board(board):
        raise Unsound(f"{games.quoted(board)} is no number of a board.")
    if store.boards.get(row.game, board):
        if number is not None:
            raise Unsound(f"there is a board {board} already.")
        board = store.boards.next_number(row.game)
    if board.isdigit():
        store.boards.reserve_number(row.game, int(board))
    row = row._replace(
        board=board,
        pool=board.rstrip("0123456789") or None,
        # past dice follow from the secret and the number; whoever is to move has all their time from now on
        secret=(row.secret if board == row.board else b"") if row.ended else server.random_bytes(dice.SECRET_BYTES),
        changed=row.changed if row.ended else server.now(),
    )
    store.boards.add(row)
    store.boards.save(row, 1, record.turns)
    return board


def _told(row: BoardRow, board: str) -> str:
    """What is said of a record that was taken in as a board."""
    if board == row.board:
        return f"{row.game} {board} is taken in."
    lost = "; its dice cannot be checked under that number" if row.secret else ""
    return f"{row.game} {row.board} is taken in as {board}{lost}."
