"""Copying a whole database, and replacing one by another."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from pbm.disk import sync, whole
from pbm.store.absences import Absences
from pbm.store.base import APPLICATION_ID, BUSY_SECONDS, Unusable, check_schema, problem, uri
from pbm.store.schema import apply, foreign_tables, wrong_parts

PAGES_AT_ONCE = 10_000
"""How many pages are copied in each step."""


def copy(source: Path, target: Path, progress: Callable[[int, int], object] = lambda *_: None) -> None:
    """Copy a database, as it is at one moment, to a new or empty file that only its owner can read; check the copy.

    The copy is a single file. *progress* is called after each step with the most pages that it copied, and the number
    of all pages. Raises Unusable if the copy failed or is damaged, and OSError if the file cannot be written.
    """

    def told(_: int, left: int, pages: int) -> None:
        progress(PAGES_AT_ONCE, pages)

    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        with closing(_open(source)) as original, closing(sqlite3.connect(target, isolation_level=None)) as made:
            original.execute("BEGIN")
            original.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # from here on, it sees no other state
            original.backup(made, pages=PAGES_AT_ONCE, progress=told)
            made.execute("PRAGMA journal_mode = DELETE")
            (verdict,) = made.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise Unusable(f"{source} cannot be copied: {problem(error, source)}.") from error
    if verdict != "ok":
        raise Unusable(f"{source} is damaged: {verdict}.")
    sync(target)


def keep(source: Path, target: Path, progress: Callable[[int, int], object] = lambda *_: None) -> None:
    """Copy a database to a file, which appears, or replaces an older one, only when the copy is complete.

    Raises what `copy` raises.
    """
    with whole(target) as made:
        copy(source, made, progress)
        made.rename(target)
        sync(target.parent)


def check(path: Path) -> None:
    """Raises Unusable unless a file is a database of pbm, of this version or one that can be brought up to date."""
    try:
        with closing(_open(path)) as db:
            query = "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version"
            application, version = db.execute(query).fetchone()
    except sqlite3.Error as error:
        raise Unusable(f"{path} cannot be read: {error}.") from error
    if application != APPLICATION_ID or version < 1:
        raise Unusable(f"{path} is no database of pbm.")
    check_schema(path, version)


def bring_up_to_date(copied: Path, source: Path, now: datetime) -> str:
    """Bring the copy of a backup up to date, and note in it that it was restored *now*.

    The time since its last sign of life is noted as an absence, which the clean-up gives to the boards.

    Returns the sentence that names the tables of other programs in it; empty if there are none. Raises Unusable, which
    names the *source*.
    """
    try:
        with closing(sqlite3.connect(copied, isolation_level=None)) as db:
            db.execute("BEGIN")
            apply(db)
            wrong = wrong_parts(db)
            if wrong:
                raise Unusable(f"{source} is not as pbm has made it: {'; '.join(wrong)}.")
            absences = Absences(db)
            last = absences.last_sign_of_life()
            if last and last < now:  # what has happened since is undone, so it counts for nobody
                absences.add(last, now, (now - last).total_seconds())
            db.execute("INSERT OR REPLACE INTO notes VALUES ('restored', ?)", [now])
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode = WAL")  # so that readers do not wait for a writer
            foreign = foreign_tables(db)
    except sqlite3.Error as error:
        raise Unusable(f"{source} cannot be brought up to date: {problem(error, copied)}.") from error
    sync(copied)
    return foreign


def note_backup(path: Path, moment: datetime) -> None:
    """Note in a database when it was backed up, unless it cannot be written or is too old for that."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
        db.execute("INSERT OR REPLACE INTO notes VALUES ('backup', ?)", [moment])


@contextmanager
def keep_others_out(path: Path) -> Iterator[None]:
    """Lock everybody else out of a database; meanwhile all of its content is in that one file.

    Processes that have waited, and find another file in its place, get an error and write nothing. A file that is
    damaged beyond use locks nobody out. Raises Unusable if the database is in use.
    """
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
        is_sound = _take(path, db)
        try:
            yield
        except BaseException:
            if is_sound:
                db.execute("ROLLBACK")
                db.execute("PRAGMA locking_mode = NORMAL")
                db.execute("PRAGMA journal_mode = WAL")
            raise


def _take(path: Path, db: sqlite3.Connection) -> bool:
    """Lock a database. Returns False if it is too damaged for that. Raises Unusable."""
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = DELETE")  # refused while another connection is open
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            why = "is in use; end `pbm serve` and whatever else uses it, and try again"
            raise Unusable(f"The database {path} {why}.") from error
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            return False
        raise Unusable(f"The database {path} cannot be used: {problem(error, path)}.") from error
    return True


def replace(path: Path, new: Path, old: Path) -> None:
    """Replace a database by a *new* one, and keep it as *old*. There is a database at the path at every moment."""
    if path.exists():
        os.link(path, old)
        log = path.with_name(f"{path.name}-wal")
        if log.exists():  # only if the database is damaged, and then the log has what can be saved
            log.rename(old.with_name(f"{old.name}-wal"))
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    new.rename(path)
    sync(path.parent)


def _open(source: Path) -> sqlite3.Connection:
    """Open a database for reading."""
    return sqlite3.connect(uri(source, "ro"), uri=True, isolation_level=None)
