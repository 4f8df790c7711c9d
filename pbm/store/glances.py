"""What is looked at again and again, by programs that wait and at the stroke of a key: nothing here costs much."""

from pathlib import Path
from typing import NamedTuple

from pbm.store.base import Base
from pbm.store.errors import Unusable
from pbm.store.form import SCHEMA


class MarkedBoard(NamedTuple):
    """A board, as far as lists need to know it, and a mark that changes with all that anybody may see of it."""

    game: str
    board: str
    first_player: str
    second_player: str
    pool: str | None
    is_over: bool
    changed: str
    """When it changed last, as times are stored."""
    mark: str


class Glances(Base):
    """Short looks at the database."""

    def data_version(self) -> int:
        """A number that is another one after anybody else has written to the database."""
        (version,) = self.db.execute("PRAGMA data_version").fetchone()
        return int(version)

    def newest_active(self, game: str, most: int) -> list[str]:
        """The numbers of the active boards of a game that were started last, at most so many, the newest first."""
        query = "SELECT board FROM boards WHERE game = ? AND ended IS NULL ORDER BY rowid DESC LIMIT ?"
        return [board for (board,) in self.db.execute(query, [game, most])]

    def newest_pools(self, game: str, most: int) -> list[str]:
        """The tournaments of a game that were set up last, at most so many, the newest first."""
        query = "SELECT pool FROM tournaments WHERE game = ? ORDER BY created DESC, pool LIMIT ?"
        return [pool for (pool,) in self.db.execute(query, [game, most])]

    def userids_from(self, prefix: str, most: int) -> list[str]:
        """The users who are signed up and whose names begin with *prefix*, at most so many, by name.

        Robots are among them only if something of their names is known.
        """
        query = (
            "SELECT userid FROM users WHERE userid >= ?1 AND userid < ?1 || '~' AND signed_off IS NULL "
            "AND (?1 <> '' OR userid NOT IN (SELECT userid FROM robots))"
        )
        return [userid for (userid,) in self.db.execute(f"{query} ORDER BY userid LIMIT ?2", [prefix, most])]

    def marked_boards(self) -> list[MarkedBoard]:
        """All boards with what tells one state of a board from any other, game by game and by number."""
        # joined by SQLite, which takes a third of the time of as many values in Python
        parts = "moves", "started", "changed", "ended", "winner", "vote", "voter", "commenter", "comment"
        mark = " || ' ' || ".join(f"coalesce({part}, '')" for part in parts)
        query = (
            f"SELECT game, board, first_player, second_player, pool, ended IS NOT NULL, coalesce(changed, started), "
            f"{mark} FROM boards ORDER BY game, length(board), board"
        )
        return [*map(MarkedBoard._make, self.db.execute(query))]

    def analysed_boards(self) -> dict[tuple[str, str], str]:
        """When each board was analysed that a robot has thought about."""
        query = "SELECT game, board, made FROM analyses"
        return {(game, board): made for game, board, made in self.db.execute(query)}


class Glanced(Glances):
    """A database that is only looked at: it is not made, brought up to date or written."""

    def __init__(self, path: Path) -> None:
        """Open the database of that path. Raises Unusable, also if another version of pbm has written it."""
        if not path.exists():
            raise Unusable(f"There is no database {path}.")
        super().__init__(path)

    def _prepare(self) -> None:
        """See that it needs no change."""
        (version,) = self.db.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA:
            raise Unusable(f"{self.path} was written by another version of pbm.")
        self.db.execute("PRAGMA query_only = ON")
