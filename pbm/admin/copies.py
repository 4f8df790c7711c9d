"""The commands that back the database up, and go back to a copy of it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from pbm.admin import answer, confirm
from pbm.admin.usage import Commands
from pbm.disk import sync
from pbm.session import Refused
from pbm.settings import database, database_path
from pbm.store import Store, copies

commands = Commands("pbm")
FILE = click.argument("file", type=click.Path(path_type=Path))


@commands.command()
@FILE
@click.option("--force", is_flag=True, help="Overwrite the file.")
def backup(file: Path, *, force: bool) -> None:
    """Copy the database to a file, as it is at one moment, while it goes on being used.

    The copy holds all there is: addresses, hashes of passwords, and the secrets of dice. Only its owner can read it.
    """
    source = _present(database_path())
    _not_the_database(file, source)
    if file.exists() and not force:
        raise Refused(f"There is a file {file} already; --force overwrites it.")
    with _made(file) as copy:
        copies.copy(source, copy)
        copy.rename(file)
        sync(file.parent)
    size = file.stat().st_size
    answer(f"{source} is backed up to {file}, {size:,} bytes.", {"backup": str(file), "bytes": size})


@commands.command()
@FILE
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore(file: Path, *, yes: bool) -> None:
    """Put a backup in the place of the database, which is kept beside it under another name.

    Nothing else may use the database meanwhile: end `pbm serve`, and whatever delivers or fetches mail. What has
    happened since the backup is undone, also the note of which mails were handled and sent.
    """
    copies.check(_present(file))
    target = database()
    _not_the_database(file, target)
    old = target.with_name(f"{target.name}.before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
    is_there = target.exists()
    if is_there:
        confirm(f"Put {file} in the place of {target}, which is kept as {old.name}?", yes=yes)
    with _made(target) as copy:
        copies.copy(file, copy)
        copies.use_wal(copy)
        if is_there:
            with _nobody_sending(target), copies.alone(target):
                copies.replace(target, copy, old)
        else:
            copies.replace(target, copy, old)
    with Store(target):
        pass  # a backup of an older version is brought up to date
    kept = f" What was there is {old}." if is_there else ""
    answer(f"{target} is what {file} holds.{kept}", {"restored": str(file), "kept": str(old) if is_there else None})


def _present(file: Path) -> Path:
    if not file.is_file():
        raise Refused(f"There is no file {file}.")
    return file


def _not_the_database(file: Path, path: Path) -> None:
    if file.exists() and path.exists() and file.samefile(path):
        raise Refused(f"{file} is the database itself.")


@contextmanager
def _made(file: Path) -> Iterator[Path]:
    """The name of a file that is to become another one; whatever goes wrong, nothing of it stays."""
    copy = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        yield copy
    except OSError as error:
        raise Refused(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            copy.with_name(copy.name + ending).unlink(missing_ok=True)


@contextmanager
def _nobody_sending(path: Path) -> Iterator[None]:
    """Keep processes from sending mails of a database. Raises Refused if one does."""
    with path.with_name(f"{path.name}.sending").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Refused(f"The database {path} {copies.IN_USE}.") from error
        yield
