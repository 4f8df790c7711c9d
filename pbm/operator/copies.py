"""The commands that back the database up, and go back to a copy of it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from pbm import texts
from pbm.console import answer, confirm, progress_bar
from pbm.console.usage import WHOLE_NUMBER, YES, Commands
from pbm.disk import locked, whole
from pbm.refusals import Refused, touching
from pbm.settings import database, database_path
from pbm.store import copies

commands = Commands("pbm")
FILE = click.argument("file", type=click.Path(path_type=Path))
TIME = "%Y%m%dT%H%M%S.%fZ"
"""How times are written in the names of files."""


@commands.command()
@FILE
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.option("--keep", type=WHOLE_NUMBER, metavar="N", help="FILE is a folder for dated backups: keep the last N.")
def backup(file: Path, keep: int | None, *, force: bool) -> None:
    """Copy the database to a file, as it is at one moment. The server can go on meanwhile.

    The copy holds everything: addresses, hashes of passwords, and the secrets of dice. Only its owner can read it.
    With --keep, FILE is a folder: the copy gets a name with a date, and only the last N such copies are kept.
    """
    source = _present(database_path())
    now = datetime.now(UTC)
    with touching(f"{file} cannot be written"):
        if keep is not None and not file.is_dir():
            raise Refused(f"There is no folder {file}.")
        target = file if keep is None else file / f"{source.stem}-{now:{TIME}}{source.suffix}"
        _not_the_database(target, source)
        if target.exists() and not force:
            raise Refused(f"There is a file {target} already; --force overwrites it.")
        with progress_bar("Pages") as progress:
            copies.keep(source, target, progress)
        size = target.stat().st_size
        removed = [] if keep is None else _rotated(file, source, keep)
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
    target = Path(database())
    with touching(f"{file} cannot be read"):
        copies.check(_present(file))
        _not_the_database(file, target)
    now = datetime.now(UTC)
    old = target.with_name(f"{target.name}.before-restore-{now:{TIME}}")
    is_there = target.exists()
    if is_there:
        confirm(f"Put {file} in the place of {target}, which is kept as {old.name}?", yes=yes)
    with touching(f"{target} cannot be written"), whole(target) as copy:
        copies.copy(file, copy)
        copies.bring_up_to_date(copy, file, now)
        if is_there:
            with _nobody_sending(target), copies.alone(target):
                copies.replace(target, copy, old)
        else:
            copies.replace(target, copy, old)
    kept = f" What was there is {old}." if is_there else ""
    answer(f"{target} is what {file} holds.{kept}", {"restored": str(file), "kept": str(old) if is_there else None})


def _rotated(folder: Path, source: Path, keep: int) -> list[Path]:
    """Remove all dated backups of a database from a folder but the last so many. Returns what was removed."""
    ours = re.compile(rf"{re.escape(source.stem)}-[0-9]{{8}}T[0-9]{{6}}\.[0-9]{{6}}Z{re.escape(source.suffix)}")
    dated = sorted(each for each in folder.iterdir() if ours.fullmatch(each.name) and not each.is_symlink())
    for each in dated[:-keep]:
        each.unlink()
    return dated[:-keep]


def _present(file: Path) -> Path:
    if not file.is_file():
        raise Refused(f"There is no file {file}.")
    return file


def _not_the_database(file: Path, path: Path) -> None:
    if file.exists() and path.exists() and file.samefile(path):
        raise Refused(f"{file} is the database itself.")


@contextmanager
def _nobody_sending(path: Path) -> Iterator[None]:
    """Keep processes from sending mails of a database. Raises Refused if one does."""
    try:
        with locked(path.with_name(f"{path.name}.sending")):
            yield
    except BlockingIOError as error:
        raise Refused(f"The database {path} {copies.IN_USE}.") from error
