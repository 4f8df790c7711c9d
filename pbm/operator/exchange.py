"""The commands that take data out and in: backups of the whole database, and records of games."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import click

from pbm import texts
from pbm.actions.finding import find_row
from pbm.board import clocks, dice, records
from pbm.board.board import FAULTS, told_of_fault
from pbm.board.records import Record, Unsound
from pbm.console import answer, confirm, open_existing, progress_bar
from pbm.console.usage import GAME_ARGUMENT, WHOLE_NUMBER, YES, Commands
from pbm.disk import whole
from pbm.refusals import Refused, refusing_os_errors
from pbm.server import Server
from pbm.session import Session
from pbm.settings import database_path, make_data_folder
from pbm.store import BoardRow, copies
from pbm.store.boards import BoardFilter
from pbm.terminal import say, warn

NOT_BLANK = re.compile(r"\S")
TIME = "%Y%m%dT%H%M%S.%fZ"
"""The times in the names of files."""


commands = Commands("pbm")
FILE = click.argument("file", type=click.Path(path_type=Path))


# The whole database


@commands.command()
@FILE
@click.option("--keep", type=WHOLE_NUMBER, metavar="N", help="FILE is a folder for dated backups: keep the last N.")
def backup(file: Path, keep: int | None) -> None:
    """Copy the database to a file, as it is at one moment. The server can go on meanwhile.

    The copy holds everything: addresses, hashes of passwords, and the secrets of dice. Only its owner can read it.
    With --keep, FILE is a folder: the copy gets a name with a date, and only the last N such copies are kept.
    """
    source = _present(database_path())
    now = datetime.now(UTC)
    with refusing_os_errors(f"{file} cannot be written"):
        folder = file.parent if keep is None else file
        if not folder.is_dir():
            raise Refused(f"There is no folder {folder}; make it first.")
        target = file if keep is None else file / f"{source.stem}-{now:{TIME}}{source.suffix}"
        if target.exists():
            raise Refused(f"There is a file {target} already.")
        with progress_bar("Pages") as progress:
            copies.keep(source, target, progress)
        size = target.stat().st_size
        removed = [] if keep is None else _remove_oldest(target, source, keep)
    copies.note_backup(source, now)
    fewer = f" {texts.counted(len(removed), 'older backup')} removed." if removed else ""
    answer(
        f"{source} is backed up to {target}, {size:,} bytes.{fewer}",
        {"backup": str(target), "bytes": size, "removed": [str(each) for each in removed]},
    )


@commands.command()
@FILE
@YES
def restore(file: Path, *, yes: bool) -> None:
    """Replace the database by a backup. The old database is kept beside it under another name.

    Nothing else may use the database meanwhile: end `pbm serve`, and all programs that deliver or fetch mail. Whatever
    has happened since the backup is undone, including the record of which mails were handled and sent.

    Before anything is replaced, the backup is checked. A backup of an older version is brought up to date.
    """
    target = Path(make_data_folder()).resolve()  # a link stays
    with refusing_os_errors(f"{file} cannot be read"):
        copies.check(_present(file))
    now = datetime.now(UTC)
    old = target.with_name(f"{target.name}.before-restore-{now:{TIME}}")
    is_there = target.exists()
    if is_there:
        confirm(f"Put {file} in the place of {target}, which is kept as {old.name}?", yes=yes)
    with refusing_os_errors(f"{target} cannot be written"), whole(target) as copy:
        copies.copy(file, copy)
        foreign = copies.bring_up_to_date(copy, file, now)
        with copies.keep_others_out(target) if is_there else nullcontext():
            copies.replace(target, copy, old)
    told = [f"{target} is what {file} holds."]
    if is_there:
        told.append(f"What was there is {old}.")
    notes = [foreign] if foreign else []
    data = {"restored": str(file), "kept": str(old) if is_there else None, "notes": notes}
    answer(" ".join([*told, *notes]), data)


def _remove_oldest(made: Path, source: Path, keep: int) -> list[Path]:
    """Remove the oldest dated backups of a database beside the one just *made*, so that *keep* are left with it.

    A clock that was wrong may have dated others later. Returns their paths.
    """
    ours = re.compile(rf"{re.escape(source.stem)}-[0-9]{{8}}T[0-9]{{6}}\.[0-9]{{6}}Z{re.escape(source.suffix)}")
    dated = sorted(each for each in made.parent.iterdir() if ours.fullmatch(each.name) and not each.is_symlink())
    dated.remove(made)
    removed = dated[: max(0, len(dated) + 1 - keep)]
    for each in removed:
        each.unlink()
    return removed


def _present(file: Path) -> Path:
    if not file.is_file():
        raise Refused(f"There is no file {file}.")
    return file


# Games


@commands.command()
@GAME_ARGUMENT
@click.argument("boards", nargs=-1, metavar="[BOARD]...")
@click.option("--all", "wants_all", is_flag=True, help="All boards of the game.")
def export(game: str, boards: tuple[str, ...], *, wants_all: bool) -> int:
    """Print the records of games as JSON, a line each, for `pbm import` and for other programs.

    A record has the secret of its dice only when the game is over. If a board cannot be read, the others are printed,
    the error is told, and the exit status is 1.
    """
    if bool(boards) == wants_all:
        raise click.UsageError("Name boards, or all by --all.")
    server, as_json = open_existing(), click.get_current_context().obj
    store = server.store
    written, failed = [], []
    with store.reading():
        for row in _rows(server, game, boards):
            results = store.players.results_of_board(*row.place)
            try:
                document = records.write(Record(row, store.boards.turns(*row.place)), results)
            except FAULTS as why:
                failed.append(told_of_fault(row, why))
                continue
            if as_json:
                written.append(document)
            else:
                say(json.dumps(document), {})
    if as_json:
        answer("", {"records": written, "failed": failed})
    elif failed:
        warn("\n".join(failed))
    return 1 if failed else 0


def _rows(server: Server, game: str, boards: Sequence[str]) -> Iterable[BoardRow]:
    """The boards that are named, or all of a game."""
    if boards:
        return [find_row(Session(server), game, board) for board in dict.fromkeys(boards)]
    names = server.store.boards.names(BoardFilter([game]), "board")
    return (find_row(Session(server), game, board) for _, board in names)


@commands.command("import")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--map", "pairs", multiple=True, metavar="OLD:NEW", help="What a player of the record is called here.")
def import_(file: Path | None, pairs: tuple[str, ...]) -> None:
    """Store the records of games from a file or standard input, as `pbm export` prints them: all or none.

    Every turn is checked by the rules. A board keeps its number if that is free, and belongs to no tournament here that
    has rounds; otherwise it gets a new one. The players have to be users here. They get no mail, and the games are not
    rated again.
    """
    names = _names(pairs)
    documents = list(_documents(_text(file)))
    if not documents:
        raise Refused("There is no record.")
    server = open_existing()
    told, taken = [], []
    with server.store.writing():
        for at, document in enumerate(documents, 1):
            try:
                record = records.read(document, names, server.now())
                board = take_in(server, record)
            except Unsound as why:
                raise Refused(f"Record {at}: {why}") from why
            told.append(_told(record.row, board))
            taken.append({"game": record.row.game, "board": board, "was": record.row.board})
    answer("\n".join(told), {"imported": taken})


def _names(pairs: Sequence[str]) -> dict[str, str]:
    """The userids of players here, by their names in the records."""
    names = {}
    for pair in pairs:
        old, colon, new = pair.lower().partition(":")
        if not (colon and old and new):
            raise Refused(f"--map={pair} is not OLD:NEW.")
        names[old] = new
    return names


def _text(file: Path | None) -> str:
    with refusing_os_errors(f"{file} cannot be read"):
        raw = file.read_bytes() if file else sys.stdin.buffer.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        raise Refused(f"{file or 'Standard input'} is no text in UTF-8.") from why


def _documents(text: str) -> Iterator[object]:
    """The JSON documents in a text, one after the other; those of `export --json` stand as a list in one document."""
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


def take_in(server: Server, record: Record) -> str:
    """Store a game under its number, or under a new one if that is taken or belongs to rounds. Returns the number.

    Raises Unsound if one of its players is no user.
    """
    row, store = record.row, server.store
    for userid in dict.fromkeys(row.players):
        if not (store.users.is_taken(userid) if row.ended else store.users.password_of(userid) is not None):
            raise Unsound(f"there is no user {userid} here; --map={userid}:USERID says who that is.")
    board = row.board
    tournament = store.tournaments.get(row.game, row.pool or "")
    if store.boards.get(row.game, board) or (tournament and tournament.kind.has_rounds):
        board, row = store.boards.next_number(row.game), clocks.outside_tournament(row)
    if board.isdigit():
        store.boards.reserve_number(row.game, int(board))
    row = row._replace(
        board=board,
        pool=row.pool if board == row.board else None,
        # past dice follow from the secret and the number; the clock of the player to move begins anew
        secret=(row.secret if board == row.board else b"") if row.ended else server.random_bytes(dice.SECRET_BYTES),
        changed=row.changed if row.ended else clocks.next_time(row, server.now()),
        unrated=not all(robot.rated for robot in store.robots.among(row.players).values()),
    )
    store.boards.add(row)
    store.boards.save(row, 1, record.turns)
    return board


def _told(row: BoardRow, board: str) -> str:
    """The sentence about a record that was stored as a board."""
    if board == row.board:
        return f"{row.game} {board} is taken in."
    lost = "; its dice cannot be checked under that number" if row.secret else ""
    return f"{row.game} {row.board} is taken in as {board}{lost}."
