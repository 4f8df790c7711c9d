"""The database of a test: made by copying, and read behind the server's back.

``sql(tmp_path / "pbm.db", "SELECT userid FROM users")`` asks the file of a database, ``stored(club.store, "users")`` an
open store, and ``stored_board(club.store, "symple", "101")`` is a board as the next command finds it.
"""

import shutil
import sqlite3
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from pbm.board.board import Board
from pbm.store import Store

from helpers.fixtures import lasting_folder


@cache
def empty_database() -> Path:
    """A database as it is made, of which each club has a copy: to make one takes longer than most tests."""
    path = lasting_folder() / "pbm.db"
    Store(path).close()
    return path


def store_of_tests(path: Path) -> Store:
    """A store in this process, which does not sync to the disk; a database is made by copying one."""
    with suppress(OSError):  # which the store tells
        if not path.exists():
            shutil.copy(empty_database(), path)
    store = Store(path)
    store.db.execute("PRAGMA synchronous = OFF")
    return store


def stored(store: Store, table: str) -> list[dict[str, Any]]:
    """The rows of a table."""
    rows = store.db.execute(f'SELECT * FROM "{table}"')
    names = [name for name, *_ in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows]


def sql(path: Path, query: str, *values: object) -> list[Any]:
    """What a query finds, or changes, in the file of a database behind the server's back."""
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(query, values).fetchall()


def restore(path: Path, source: Path) -> None:
    """Give a database the contents of another one, also while servers use it."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(path)) as db:
        old.backup(db)


def people_in(path: Path) -> list[str]:
    """The users in the file of a database who are no robots."""
    return [userid for (userid,) in sql(path, "SELECT userid FROM users WHERE userid NOT LIKE 'robot%' ORDER BY 1")]


def stored_board(store: Store, game: str, number: str) -> Board | None:
    """The board of that number, replayed; None if there is none."""
    row = store.boards.get(game, number)
    return row and Board(row, store.boards.turns(game, number), store.boards.plans(game, number))
