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
from pbm.actions.absences import give_time
from pbm.actions.finding import find_row
from pbm.board import clocks, dice, records
from pbm.board.board import FAULTS, SERVER, told_of_fault
from pbm.board.records import Record, Unsound
from pbm.console import answer, confirm, open_existing, progress_bar
from pbm.console.usage import GAME_ARGUMENT, WHOLE_NUMBER, YES, Commands
from pbm.disk import whole
from pbm.refusals import Refused, refusing_os_errors
from pbm.server import Server
from pbm.session import Session
from pbm.settings import database_path, make_data_folder
from pbm.store import BoardRow, Store, copies
from pbm.store.boards import BoardFilter
from pbm.terminal import warn

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
    target = file
    if keep is not None:
        target = file / f"{source.stem}-{now:{TIME}}{source.suffix}"
    removed: list[Path] = []
    with refusing_os_errors(f"{file} cannot be written"):
        if not target.parent.is_dir():
            raise Refused(f"There is no folder {target.parent}; make it first.")
        if target.exists():
            raise Refused(f"There is a file {target} already.")
        with progress_bar("Pages") as progress:
            copies.keep(source, target, progress)
        size = target.stat().st_size
        if keep is not None:
            removed = _remove_oldest(target, source, keep)
    copies.note_backup(source, now)
    text = f"{source} is backed up to {target}, {size:,} bytes."
    if removed:
        text += f" {texts.counted(len(removed), 'older backup')} removed."
    answer(text, {"backup": str(target), "bytes": size, "removed": [str(path) for path in removed]})


@commands.command()
@FILE
@YES
def restore(file: Path, *, yes: bool) -> None:
    """Replace the database by a backup. The old database is kept in the same folder under another name.

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
        with Store(copy) as store:
            give_time(store)
        with copies.keep_others_out(target) if is_there else nullcontext():
            copies.replace(target, copy, old)
    sentences = [f"{target} is what {file} holds."]
    if is_there:
        sentences.append(f"What was there is {old}.")
    notes = [foreign] if foreign else []
    sentences += notes
    data = {"restored": str(file), "kept": str(old) if is_there else None, "notes": notes}
    answer(" ".join(sentences), data)


def _remove_oldest(made: Path, source: Path, keep: int) -> list[Path]:
    """Remove the oldest dated backups of a database next to the one just *made*, so that *keep* are left with it.

    A clock that was wrong may have dated others later. Returns their paths.
    """
    ours = re.compile(rf"{re.escape(source.stem)}-[0-9]{{8}}T[0-9]{{6}}\.[0-9]{{6}}Z{re.escape(source.suffix)}")
    backups = [path for path in made.parent.iterdir() if ours.fullmatch(path.name) and not path.is_symlink()]
    backups.remove(made)
    backups.sort()
    excess = len(backups) + 1 - keep  # with the one just made
    removed = backups[: max(0, excess)]
    for path in removed:
        path.unlink()
    return removed


def _present(file: Path) -> Path:
    """A file. Raises Refused if it is not there."""
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

    A record has the secret of its dice only when the game is over. If a board cannot be read, the others and the error
    are printed, and the exit status is 1.
    """
    if bool(boards) == wants_all:
        raise click.UsageError("Name boards, or all by --all.")
    as_json = click.get_current_context().obj
    server = open_existing()
    store = server.store
    documents = []  # for --json, which prints them as one object
    failed = []
    with store.reading():
        for row in _rows(server, game, boards):
            results = store.players.results_of_board(*row.place)
            try:
                record = Record(row, store.boards.turns(*row.place), store.talk.of_board(*row.place))
                document = records.write(record, results)
            except FAULTS as why:
                failed.append(told_of_fault(row, why))
                continue
            if as_json:
                documents.append(document)
            else:
                answer(json.dumps(document), {})
    if as_json:
        answer("", {"records": documents, "failed": failed})
    elif failed:
        warn("\n".join(failed))
    return 1 if failed else 0


def _rows(server: Server, game: str, boards: Sequence[str]) -> Iterable[BoardRow]:
    """The boards that are named, or all of a game."""
    if boards:
        return [find_row(Session(server), game, board) for board in dict.fromkeys(boards)]
    names = server.store.boards.names(BoardFilter([game]), "board")
    # a row at a time: a game may have a million boards
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
    sentences = []
    imported = []
    with server.store.writing():
        for number, document in enumerate(documents, 1):
            try:
                record = records.read(document, names, server.now())
                board = take_in(server, record)
            except Unsound as why:
                raise Refused(f"Record {number}: {why}") from why
            sentences.append(_sentence(record.row, board))
            imported.append({"game": record.row.game, "board": board, "was": record.row.board})
    answer("\n".join(sentences), {"imported": imported})


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
    """What stands in a file, or on standard input if it is None. Raises Refused if it cannot be read."""
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
    row = record.row
    store = server.store
    for userid in dict.fromkeys(row.players):
        if row.ended:
            is_user = store.users.is_taken(userid)  # also one who has signed off since then
        else:
            is_user = store.users.password_of(userid) is not None
        if not is_user:
            raise Unsound(f"there is no user {userid} here; --map={userid}:USERID says who that is.")
    tournament = store.tournaments.get(row.game, row.pool or "")
    if store.boards.get(row.game, row.board) or (tournament and tournament.kind.has_rounds):
        row = clocks.outside_tournament(row)._replace(
            board=store.boards.next_number(row.game),
            pool=None,
            secret=b"",  # past dice follow from the secret and the old number
        )
    if row.board.isdigit():
        store.boards.reserve_number(row.game, int(row.board))
    if not row.ended:
        # its record has no secret, and the clock of the player to move begins again
        row = row._replace(
            secret=server.random_bytes(dice.SECRET_BYTES),
            changed=clocks.next_time(row, server.now()),
        )
    robots = store.robots.among(row.players).values()
    row = row._replace(unrated=not all(robot.rated for robot in robots))
    store.boards.add(row)
    store.boards.save(row, 1, record.turns)
    for entry in record.talk:
        # people who are no users here could not take their words away by signing off
        is_of_user = entry.userid not in {None, SERVER}
        if not is_of_user or store.users.password_of(str(entry.userid)) is not None:
            store.talk.add(*row.place, entry)
    return row.board


def _sentence(row: BoardRow, board: str) -> str:
    """The sentence about a record that was stored as a board of that number."""
    if board == row.board:
        return f"{row.game} {board} is taken in."
    text = f"{row.game} {row.board} is taken in as {board}"
    if row.secret:
        text += "; its dice cannot be checked under that number"
    return f"{text}."
