"""What is stored of a user as a player of one game: his rating, and what he wants."""

from typing import Any

from pbm.store.base import Base, text, time_of
from pbm.store.boards import board_row
from pbm.store.rows import BoardRow, Player, ResultRow

COLUMNS = ", ".join(Player._fields)


class Players(Base):
    """What is stored of players."""

    def player(self, game: str, userid: str) -> Player:
        """A user as a player of a game; one who is not known yet has the usual settings."""
        query = f"SELECT {COLUMNS} FROM players WHERE game = ? AND userid = ?"
        row = self.db.execute(query, [game, userid]).fetchone()
        return _player(row) if row else Player(userid)

    def save_player(self, game: str, player: Player) -> None:
        """Store what has changed of a player."""
        values = [*player._replace(rated=None)]
        values[Player._fields.index("rated")] = player.rated and text(player.rated)
        places = ", ".join("?" * (len(values) + 1))
        self.db.execute(f"INSERT OR REPLACE INTO players (game, {COLUMNS}) VALUES ({places})", [game, *values])

    def set_inactive(self, game: str, userid: str, *, inactive: bool) -> None:
        """Store whether the standings list a user as inactive, if he is known as a player."""
        self.db.execute("UPDATE players SET inactive = ? WHERE game = ? AND userid = ?", [inactive, game, userid])

    def players(self, game: str) -> list[Player]:
        """All players of a game who are still signed up: the highest rating first, of equal ones the older one."""
        query = (
            f"SELECT {COLUMNS} FROM players JOIN users USING (userid) WHERE game = ? AND signed_off IS NULL "
            "ORDER BY rating DESC, rated, userid"
        )
        return [_player(row) for row in self.db.execute(query, [game])]

    def active_counts(self, game: str) -> dict[str, int]:
        """On how many active boards of a game each player plays who has a rating."""
        # one search a player and seat: SQLite would rather walk an index with all boards than look at active ones alone
        count = "SELECT count(*) FROM boards WHERE game = players.game AND ended IS NULL AND"
        first, second = "first_player = userid", "second_player = userid AND first_player <> userid"
        query = (
            f"SELECT userid, ({count} {first}) + ({count} {second}) FROM players WHERE game = ? AND rating IS NOT NULL"
        )
        return dict(self.db.execute(query, [game]).fetchall())

    def history(self, game: str, most: int | None = None) -> list[tuple[BoardRow, bool]]:
        """The games that are over, but those against oneself, the oldest first, each with whether it was rated.

        If they are more than *most*, it is that many of the last ones.
        """
        query = (
            "SELECT boards.*, EXISTS (SELECT 1 FROM results WHERE (game, board) = (boards.game, boards.board)) "
            "FROM boards WHERE game = ? AND ended IS NOT NULL AND first_player <> second_player "
            "ORDER BY ended DESC, board DESC LIMIT ?"
        )
        rows = self.db.execute(query, [game, -1 if most is None else most]).fetchall()
        return [(board_row(row[:-1]), bool(row[-1])) for row in reversed(rows)]

    def subscribers_of_all(self, game: str) -> list[str]:
        """The users who subscribe to every board of a game, by name."""
        query = "SELECT userid FROM players WHERE game = ? AND subscribes ORDER BY userid"
        return [userid for (userid,) in self.db.execute(query, [game])]

    def notified_of_all(self, game: str) -> list[str]:
        """The users who are told of every end of a game, by name."""
        query = "SELECT userid FROM players WHERE game = ? AND is_notified ORDER BY userid"
        return [userid for (userid,) in self.db.execute(query, [game])]

    def add_result(self, result: ResultRow) -> None:
        """Store what a game did to a rating."""
        self.insert("results", {**result._asdict(), "ended": text(result.ended)})

    def results_of_board(self, game: str, board: str) -> list[ResultRow]:
        """What a game did to the ratings of its players; nothing if it was not rated."""
        query = "SELECT * FROM results WHERE game = ? AND board = ?"
        return [_result(row) for row in self.db.execute(query, [game, board])]

    def results_of_user(self, game: str, userid: str) -> list[ResultRow]:
        """All rated games of a user, the oldest first."""
        query = "SELECT * FROM results WHERE game = ? AND userid = ? ORDER BY ended, games"
        return [_result(row) for row in self.db.execute(query, [game, userid])]


def _player(columns: tuple[Any, ...]) -> Player:
    player = Player._make(columns)
    return player._replace(
        rated=time_of(columns[Player._fields.index("rated")]),
        inactive=bool(player.inactive),
        subscribes=bool(player.subscribes),
        is_notified=bool(player.is_notified),
    )


def _result(columns: tuple[Any, ...]) -> ResultRow:
    return ResultRow._make(columns)._replace(ended=time_of(columns[-1]))
