"""What is stored of a user as a player of one game: his rating, and what he wants."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pbm.store.base import Questions
from pbm.store.boards import SEATS
from pbm.store.form import columns, text, time_of
from pbm.store.rows import ESTABLISHED, PlayerRow, ResultRow

COLUMNS = ", ".join(PlayerRow._fields)
SIGNED_UP = "NOT EXISTS (SELECT 1 FROM users WHERE userid = players.userid AND signed_off IS NOT NULL)"
RATED = f"FROM players WHERE game = ? AND rating IS NOT NULL AND {SIGNED_UP}"


class Section(NamedTuple):
    """A part of the standings."""

    established: bool
    """Whether its players have finished `ESTABLISHED` rated games."""
    inactive: bool


class Players(Questions):
    """What is stored of players."""

    def get(self, game: str, userid: str) -> PlayerRow:
        """A user as a player of a game; one who is not known yet has the usual settings."""
        query = f"SELECT {COLUMNS} FROM players WHERE game = ? AND userid = ?"
        row = self.db.execute(query, [game, userid]).fetchone()
        return _player(row) if row else PlayerRow(userid)

    def save(self, game: str, player: PlayerRow) -> None:
        """Store what has changed of a player."""
        self.insert("players", {"game": game, **columns(player)}, replacing=True)

    def set_inactive(self, game: str, userid: str, *, inactive: bool) -> None:
        """Store whether the standings list a user as inactive, if he is known as a player."""
        self.db.execute("UPDATE players SET inactive = ? WHERE game = ? AND userid = ?", [inactive, game, userid])

    def rated(self, game: str, section: Section | None = None, most: int = -1, skip: int = 0) -> Iterator[PlayerRow]:
        """The players of a game who have a rating and are still signed up, or those of a part of the standings.

        The highest rating comes first, of equal ones the older one; at most so many come, behind the first so many.
        """
        query = f"SELECT {COLUMNS} {RATED}{_in(section)} ORDER BY rating DESC, rated, userid LIMIT ? OFFSET ?"
        return map(_player, self.db.execute(query, [game, most, skip]))

    def count_rated(self, game: str, section: Section | None = None) -> int:
        """How many these are."""
        (count,) = self.db.execute(f"SELECT count(*) {RATED}{_in(section)}", [game]).fetchone()
        return int(count)

    def seekers(self, game: str) -> list[PlayerRow]:
        """The players of a game who seek challenges and have no rating, by name."""
        query = (
            f"SELECT {COLUMNS} FROM players INDEXED BY players_seeking "
            f"WHERE game = ? AND rating IS NULL AND seeking > 0 AND {SIGNED_UP} ORDER BY userid"
        )
        return [_player(row) for row in self.db.execute(query, [game])]

    def all_seekers(self, most: int = -1, skip: int = 0) -> list[tuple[str, PlayerRow]]:
        """All who seek challenges, each with the game, by game and name: at most so many, behind the first so many."""
        which = "INDEXED BY players_seeking WHERE seeking > 0"  # else all players are looked at
        query = f"SELECT game, {COLUMNS} FROM players {which} ORDER BY game, userid LIMIT ? OFFSET ?"
        return [(game, _player(tuple(row))) for game, *row in self.db.execute(query, [most, skip])]

    def silent_seekers(self, since: datetime) -> list[tuple[str, str]]:
        """The games and names of those who seek challenges, and have given no command after that time."""
        query = (
            "SELECT game, userid FROM players INDEXED BY players_seeking CROSS JOIN users USING (userid) "
            "WHERE seeking > 0 AND coalesce(heard, created) <= ? ORDER BY game, userid"
        )
        return self.db.execute(query, [text(since)]).fetchall()

    def active_counts(self, game: str, userids: Sequence[str]) -> dict[str, int]:
        """On how many active boards of a game each of these users plays."""
        # one search a player and seat: SQLite would rather walk an index with all boards than look at active ones alone
        count = "SELECT count(*) FROM boards WHERE game = ?1 AND ended IS NULL AND"
        first, second = "first_player = value", "second_player = value AND first_player <> value"
        query = f"SELECT value, ({count} {first}) + ({count} {second}) FROM json_each(?2)"
        return dict(self.db.execute(query, [game, json.dumps(userids)]).fetchall())

    def active_by_game(self, userids: Sequence[str]) -> dict[str, dict[str, int]]:
        """How many active boards each of these users has, by userid and game; users without any are left out."""
        count = "(SELECT count(*) FROM boards WHERE game = tallies.game AND %s AND ended IS NULL)"
        first, second = count % "first_player = value", count % "second_player = value AND first_player <> value"
        query = f"SELECT value, game, {first} + {second} FROM json_each(?), tallies"
        counts: dict[str, dict[str, int]] = {}
        for userid, game, boards in self.db.execute(query, [json.dumps(userids)]):
            if boards:
                counts.setdefault(userid, {})[game] = boards
        return counts

    def subscribers_of_all(self, game: str) -> list[str]:
        """The users who subscribe to every board of a game, by name."""
        which = "INDEXED BY players_subscribing WHERE game = ? AND subscribes"  # else all players are looked at
        query = f"SELECT userid FROM players {which} ORDER BY userid"
        return [userid for (userid,) in self.db.execute(query, [game])]

    def notified_of_all(self, game: str) -> list[str]:
        """The users who are told of every end of a game, by name."""
        which = "INDEXED BY players_notified WHERE game = ? AND is_notified"
        query = f"SELECT userid FROM players {which} ORDER BY userid"
        return [userid for (userid,) in self.db.execute(query, [game])]

    def add_result(self, result: ResultRow) -> None:
        """Store what a game did to a rating."""
        self.insert("results", columns(result))

    def results_of_board(self, game: str, board: str) -> list[ResultRow]:
        """What a game did to the ratings of its players; nothing if it was not rated."""
        query = "SELECT * FROM results WHERE game = ? AND board = ?"
        return [_result(row) for row in self.db.execute(query, [game, board])]

    def results_of_user(self, game: str, userid: str) -> list[ResultRow]:
        """All rated games of a user, the oldest first."""
        query = "SELECT * FROM results WHERE game = ? AND userid = ? ORDER BY ended, games"
        return [_result(row) for row in self.db.execute(query, [game, userid])]

    # For pages

    def names(self, games: Iterable[str]) -> list[str]:
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


def _in(section: Section | None) -> str:
    """What restricts a query to the players of a part of the standings."""
    if section is None:
        return ""
    is_established = f"(won + lost + tied >= {ESTABLISHED}) = {int(section.established)}"
    return f" AND inactive = {int(section.inactive)} AND {is_established}"


def _player(columns: tuple[Any, ...]) -> PlayerRow:
    player = PlayerRow._make(columns)
    return player._replace(
        rated=time_of(columns[PlayerRow._fields.index("rated")]),
        inactive=bool(player.inactive),
        subscribes=bool(player.subscribes),
        is_notified=bool(player.is_notified),
    )


def _result(columns: tuple[Any, ...]) -> ResultRow:
    return ResultRow._make(columns)._replace(ended=time_of(columns[-1]))
