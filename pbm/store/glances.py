"""What is looked at again and again, by programs that wait and at the stroke of a key: nothing here costs much."""

import json
from collections.abc import Iterable, Sequence
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pbm.store.base import Base, Questions
from pbm.store.boards import BY_NUMBER, board_row
from pbm.store.errors import Unusable
from pbm.store.form import SCHEMA
from pbm.store.rows import BoardRow

if TYPE_CHECKING:
    from pathlib import Path

SEATS = "first_player", "second_player"


class Change(NamedTuple):
    """Something of which anybody may see that it was changed, made or removed."""

    kind: str
    """``board``, ``pool``, ``player`` for what is known of a user in one game, or ``user``."""
    game: str
    """Empty for a user."""
    name: str


class Seen(NamedTuple):
    """How far somebody has looked at what changes in a database."""

    number: int
    """The number of the last change that he has seen."""
    event: int
    """The number of the last event by then, 0 if there was none, and when it happened: in a database that was put back
    to what it was before, and has gone on since, an event of that number happened at another time."""
    moment: str
    restored: str = ""
    """When a backup was put in the place of the database for the last time; empty if that never was."""


class Among(NamedTuple):
    """Which boards are looked for."""

    games: Sequence[str]
    userid: str | None = None
    """Who plays or played on them; None for anybody."""
    over: bool | None = None
    """Whether they are over; None if that does not matter, as in the next."""
    pool: str | None = None
    """The tournament to which they belong."""

    @property
    def where(self) -> str:
        """The condition, in which values have names."""
        which = "game = :game" if len(self.games) == 1 else "game IN (SELECT value FROM json_each(:games))"
        if self.pool is not None:
            which += " AND pool = :pool"
        if self.over is not None:
            which += f" AND ended IS {'NOT ' * self.over}NULL"
        if self.userid is None:
            return which
        seats = (f"SELECT rowid FROM boards WHERE {which} AND {seat} = :userid" for seat in SEATS)
        return f"rowid IN ({' UNION '.join(seats)})"

    @property
    def values(self) -> dict[str, object]:
        """These values."""
        some = {"game": "".join(self.games[:1]), "games": json.dumps([*self.games])}
        return some | {"userid": self.userid, "pool": self.pool}


class Glances(Questions):
    """Short looks at the database."""

    def newest_active(self, game: str, most: int) -> list[str]:
        """The numbers of the active boards of a game that were started last, at most so many, the newest first."""
        query = "SELECT board FROM boards WHERE game = ? AND ended IS NULL ORDER BY rowid DESC LIMIT ?"
        return [board for (board,) in self.db.execute(query, [game, most])]

    def newest_pools(self, game: str, most: int, states: Sequence[str] = ()) -> list[str]:
        """The tournaments of a game, or only those in some *states*: the newest first, at most so many."""
        which = "(?3 = '[]' OR state IN (SELECT value FROM json_each(?3)))"
        query = f"SELECT pool FROM tournaments WHERE game = ?1 AND {which} ORDER BY created DESC, pool LIMIT ?2"
        return [pool for (pool,) in self.db.execute(query, [game, most, json.dumps([*states])])]

    def players_of_pool(self, game: str, pool: str) -> list[str]:
        """Who takes part in a tournament, as they were placed."""
        query = "SELECT userid FROM pool_players WHERE game = ? AND pool = ? AND withdrawn IS NULL ORDER BY seed"
        return [userid for (userid,) in self.db.execute(query, [game, pool])]

    def userids_from(self, prefix: str, most: int) -> list[str]:
        """The users who are signed up and whose names begin with *prefix*, at most so many, by name.

        Robots are among them only if something of their names is known.
        """
        query = (
            "SELECT userid FROM users WHERE userid >= ?1 AND userid < ?1 || '~' AND signed_off IS NULL "
            "AND (?1 <> '' OR userid NOT IN (SELECT userid FROM robots))"
        )
        return [userid for (userid,) in self.db.execute(f"{query} ORDER BY userid LIMIT ?2", [prefix, most])]

    # What changes

    def seen(self) -> Seen:
        """How far one has seen who looks now."""
        last = "SELECT seq FROM sqlite_sequence WHERE name = 'changes'"
        (number,) = self.db.execute(last).fetchone() or (0,)
        last = "SELECT id, moment FROM events ORDER BY id DESC LIMIT 1"
        event, moment = self.db.execute(last).fetchone() or (0, "")
        return Seen(number, event, moment, self._restored())

    def _restored(self) -> str:
        (moment,) = self.db.execute("SELECT moment FROM notes WHERE name = 'restored'").fetchone() or ("",)
        return str(moment)

    def has_gone_on_since(self, seen: Seen) -> bool:
        """Whether this is the database at which somebody looked then; False also if that is too long ago to tell."""
        now = self.seen()
        if now.restored != seen.restored or now.number < seen.number or now.event < seen.event:
            return False
        event = self.db.execute("SELECT moment FROM events WHERE id = ?", [seen.event]).fetchone() or ("",)
        return event == (seen.moment,)

    def changes_since(self, seen: Seen) -> list[Change]:
        """What has changed since somebody looked."""
        query = "SELECT kind, game, name FROM changes WHERE number > ?"
        return [Change._make(row) for row in self.db.execute(query, [seen.number])]

    # Lists of boards

    def boards_in_order(self, game: str, *, over: bool) -> list[str]:
        """The boards of a game that are over, as they ended one after the other, or those that are not, by number."""
        order = "ORDER BY ended, board" if over else BY_NUMBER
        query = f"SELECT board FROM boards WHERE game = ? AND ended IS {'NOT ' * over}NULL {order}"
        return [board for (board,) in self.db.execute(query, [game])]

    def boards_named(self, game: str, names: Sequence[str]) -> list[BoardRow]:
        """The boards of a game that have these names, in this order."""
        query = "SELECT * FROM boards WHERE game = ? AND board IN (SELECT value FROM json_each(?))"
        found = {row.board: row for row in map(board_row, self.db.execute(query, [game, json.dumps([*names])]))}
        return [found[name] for name in names if name in found]

    def latest_boards(self, among: Among, most: int) -> list[BoardRow]:
        """The boards among these that have changed last, at most so many, the last one first."""
        found = []
        for game, over in product(among.games, (False, True) if among.over is None else (among.over,)):
            part = among._replace(games=[game], over=over)
            last = "ended" if over else "coalesce(changed, started)"  # of those that are over an index knows it
            query = f"SELECT {last}, * FROM boards WHERE {part.where} ORDER BY 1 DESC, length(board) DESC, board DESC"
            found += self.db.execute(f"{query} LIMIT :most", part.values | {"most": most}).fetchall()
        name, of_game = (BoardRow._fields.index(field) + 1 for field in ("board", "game"))
        found.sort(key=lambda row: (len(row[name]), row[name]), reverse=True)
        found.sort(key=itemgetter(of_game))
        found.sort(key=itemgetter(0), reverse=True)
        return [board_row(row[1:]) for row in found[:most]]

    def count_among(self, among: Among) -> int:
        """How many these are."""
        (count,) = self.db.execute(f"SELECT count(*) FROM boards WHERE {among.where}", among.values).fetchone()
        return int(count)

    def tally(self, game: str) -> tuple[int, int]:
        """How many boards of a game there are, and how many of them are active."""
        query = "SELECT boards, active FROM tallies WHERE game = ?"
        boards, active = self.db.execute(query, [game]).fetchone() or (0, 0)
        return int(boards), int(active)

    def newest_boards(self, games: Iterable[str], most: int) -> list[tuple[str, str]]:
        """Game and number of the boards of these games that were started last, at most so many, the newest first."""
        query = "SELECT game, board FROM boards WHERE game IN (SELECT value FROM json_each(?))"
        return self.db.execute(f"{query} ORDER BY rowid DESC LIMIT ?", [json.dumps([*games]), most]).fetchall()

    def all_boards(self, games: Iterable[str]) -> list[tuple[str, str]]:
        """Game and number of every board of these games, game by game."""
        query = "SELECT game, board FROM boards WHERE game IN (SELECT value FROM json_each(?))"
        return self.db.execute(f"{query} ORDER BY game, board", [json.dumps([*games])]).fetchall()

    def all_players(self, games: Iterable[str]) -> list[str]:
        """Whoever has or had a board of one of these games, or a rating in one, by name."""
        where = "WHERE game IN (SELECT value FROM json_each(?1))"
        seats = (f"SELECT {seat} AS userid FROM boards {where}" for seat in SEATS)
        query = (
            f"{' UNION '.join(seats)} UNION SELECT userid FROM players {where} AND rating IS NOT NULL ORDER BY userid"
        )
        return [userid for (userid,) in self.db.execute(query, [json.dumps([*games])])]

    def ratings_of(self, game: str, userids: Iterable[str]) -> dict[str, list[int]]:
        """The ratings that users have had in a game, from before their first rated one on, in their order."""
        query = (
            "SELECT userid, before, after FROM results WHERE game = ? AND userid IN (SELECT value FROM json_each(?)) "
            "ORDER BY userid, ended, games"
        )
        found: dict[str, list[int]] = {}
        for userid, before, after in self.db.execute(query, [game, json.dumps([*userids])]):
            found.setdefault(userid, [before]).append(after)
        return found


class Glanced(Base):
    """A database that is only looked at: it is not made, brought up to date or written."""

    def __init__(self, path: "Path") -> None:
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
