"""Users as players of one game: rating, limits, wishes and results."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from pbm.store.base import Questions, as_row
from pbm.store.boards import OF_BOARD, SEATS

ESTABLISHED = 20
"""How many rated games make a rating established; the index ``players_by_section`` holds this number, too."""


class PlayerRow(NamedTuple):
    """A user as a player of one game."""

    userid: str
    rating: int | None = None
    """The player's rating; None before their first rated game."""
    won: int = 0
    lost: int = 0
    tied: int = 0
    rated: datetime | None = None
    """When their rating changed last."""
    inactive: bool = False
    """Whether the standings list them as inactive."""
    most: int | None = None
    """At how many active boards they take no more challenges: 0 if they take none, None for no limit."""
    seeking: int = 0
    """How many challenges they seek."""
    subscribes: bool = False
    """Whether they subscribe to every new board of the game."""
    is_notified: bool = False
    """Whether they are told of the end of every game."""
    mail: str = "each"
    """How they get board mails: ``each``, one ``digest`` a day, or ``none``."""
    wanted_rating: str | None = None
    """The ratings from which they seek challenges, such as ``1500-1700``; None for any."""
    wanted_options: str | None = None
    """The options with which they seek challenges; None for any."""

    @property
    def wish(self) -> str:
        """The challenges that they seek, in words: `rating 1500-1700, -size=9`; empty for any."""
        rating = f"rating {self.wanted_rating}" if self.wanted_rating else ""
        return ", ".join(filter(None, [rating, self.wanted_options]))

    @property
    def games(self) -> int:
        """How many rated games they have finished."""
        return self.won + self.lost + self.tied


class ResultRow(NamedTuple):
    """What a rated game did to the rating of a player."""

    game: str
    board: str
    userid: str
    outcome: int
    """1 for a win, 0 for a tie, -1 for a loss."""
    before: int
    after: int
    games: int
    """How many rated games the player had finished, this one included."""
    ended: datetime


COLUMNS = ", ".join(PlayerRow._fields)
SIGNED_UP = "NOT EXISTS (SELECT 1 FROM users WHERE userid = players.userid AND signed_off IS NOT NULL)"
ACTIVE = "(SELECT count(*) FROM boards WHERE boards.game = players.game AND ended IS NULL AND %s)"
AS_FIRST = ACTIVE % "first_player = userid"
AS_SECOND = ACTIVE % "second_player = userid AND first_player <> userid"
TAKES_CHALLENGES = f"""
    (most IS NULL OR most > {AS_FIRST} + {AS_SECOND})
    AND NOT EXISTS (SELECT 1 FROM vacations WHERE userid = players.userid AND ?1 BETWEEN first AND last)
    AND NOT EXISTS (SELECT 1 FROM vacation_days WHERE userid = players.userid AND day = ?1)
"""
"""Whether a player can be challenged on the day ?1: they do not reject challenges, are below their limit, and not on
vacation."""
SEEKING = "FROM players INDEXED BY players_seeking WHERE seeking > 0"  # else all players are looked at


class Section(NamedTuple):
    """A part of the standings."""

    established: bool
    """Whether its players have finished `ESTABLISHED` rated games."""
    inactive: bool

    @property
    def where(self) -> str:
        """The condition in SQL."""
        is_established = f"(won + lost + tied >= {ESTABLISHED}) = {int(self.established)}"
        return f"inactive = {int(self.inactive)} AND {is_established}"


class Players(Questions):
    """What is stored of players."""

    def get(self, game: str, userid: str) -> PlayerRow:
        """A user as a player of a game, with the default settings if nothing is stored of them."""
        query = f"SELECT {COLUMNS} FROM players WHERE game = ? AND userid = ?"
        return self.row(PlayerRow, query, game, userid) or PlayerRow(userid)

    def save(self, game: str, player: PlayerRow) -> None:
        """Store a player; this replaces what was stored of them."""
        self.insert("players", {"game": game, **player._asdict()}, replacing=True)

    def change(self, game: str, userid: str, **columns: Any) -> PlayerRow:
        """Change fields of a user as a player of a game, for example ``most=5``. Returns the changed row."""
        player = self.get(game, userid)._replace(**columns)
        self.save(game, player)
        return player

    def set_inactive(self, game: str, userid: str, *, inactive: bool) -> None:
        """Store whether the standings list a user as inactive, if they are known as a player."""
        self.update("players", {"inactive": inactive}, "game = ? AND userid = ?", game, userid)

    def by_rating(self, game: str, section: Section | None = None, most: int = -1) -> list[PlayerRow]:
        """The players of a game who have a rating and are still signed up, or those in one section of the standings.

        The highest rating comes first; of equal ratings, the older one. At most *most* are returned.
        """
        in_section = section.where if section else "TRUE"
        query = f"""
            SELECT {COLUMNS} FROM players
            WHERE game = ? AND rating IS NOT NULL AND {SIGNED_UP} AND {in_section}
            ORDER BY rating DESC, rated, userid LIMIT {most}
        """
        return self.rows(PlayerRow, query, game)

    def seekers(self, game: str, today: date) -> list[PlayerRow]:
        """The players of a game who seek challenges, can take one today, and have no rating, by name."""
        query = f"""
            SELECT {COLUMNS} {SEEKING} AND game = ?2 AND rating IS NULL AND {SIGNED_UP} AND {TAKES_CHALLENGES}
            ORDER BY userid
        """
        return self.rows(PlayerRow, query, today, game)

    def all_seekers(self, today: date, most: int = -1) -> list[tuple[str, PlayerRow]]:
        """The players who seek challenges and can take one today, each with the game, by game and name.

        At most *most* are returned.
        """
        query = f"SELECT game, {COLUMNS} {SEEKING} AND {TAKES_CHALLENGES} ORDER BY game, userid LIMIT {most}"
        return [(game, as_row(PlayerRow, row)) for game, *row in self.execute(query, today)]

    def takes_challenges(self, game: str, userid: str, today: date) -> bool:
        """Whether a player who is known can be challenged today."""
        query = f"SELECT 1 FROM players WHERE game = ?2 AND userid = ?3 AND {TAKES_CHALLENGES}"
        return self.value(query, today, game, userid) is not None

    def silent_seekers(self, since: datetime) -> list[tuple[str, str]]:
        """Game and userid of the players who seek challenges and have given no command after that time."""
        query = """
            SELECT game, userid FROM players INDEXED BY players_seeking CROSS JOIN users USING (userid)
            WHERE seeking > 0 AND coalesce(heard, created) <= ? ORDER BY game, userid
        """
        return self.execute(query, since)

    def subscribers_of_all(self, game: str) -> list[str]:
        """The users who subscribe to every board of a game, by name."""
        which = "INDEXED BY players_subscribing WHERE game = ? AND subscribes"  # else all players are looked at
        return self.column(f"SELECT userid FROM players {which} ORDER BY userid", game)

    def notified_of_all(self, game: str) -> list[str]:
        """The users who are told of the end of every game, by name."""
        which = "INDEXED BY players_notified WHERE game = ? AND is_notified"
        return self.column(f"SELECT userid FROM players {which} ORDER BY userid", game)

    def add_result(self, result: ResultRow) -> None:
        """Store the result of a rated game for one player."""
        self.insert("results", result._asdict())

    def take_back_result(self, result: ResultRow, lowest: int) -> None:
        """Delete the result of a rated game for one player, as if the games after it had been rated without it.

        What it changed is taken from the ratings after it; none falls below *lowest*. The caller changes what is stored
        of the player.
        """
        of_player = "game = ? AND userid = ?"
        gain = result.after - result.before
        self.execute(f"DELETE FROM results WHERE {OF_BOARD} AND userid = ?", result.game, result.board, result.userid)
        query = f"""
            UPDATE results SET before = max(?, before - ?), after = max(?, after - ?), games = games - 1
            WHERE {of_player} AND games > ?
        """
        self.execute(query, lowest, gain, lowest, gain, result.game, result.userid, result.games)

    def results_of_board(self, game: str, board: str) -> list[ResultRow]:
        """The results of a game for its players; none if it was not rated."""
        return self.rows(ResultRow, f"SELECT * FROM results WHERE {OF_BOARD}", game, board)

    def results_of_user(self, game: str, userid: str) -> list[ResultRow]:
        """The results of all rated games of a user, the oldest first."""
        query = "SELECT * FROM results WHERE game = ? AND userid = ? ORDER BY games"
        return self.rows(ResultRow, query, game, userid)

    # For pages

    def names(self, games: Iterable[str]) -> list[str]:
        """The userids of all who have a board of one of these games, or a rating in one, by name."""
        where = "WHERE game IN (SELECT value FROM json_each(?1))"
        queries = [f"SELECT {seat} AS userid FROM boards {where}" for seat in SEATS]
        queries.append(f"SELECT userid FROM players {where} AND rating IS NOT NULL")
        return self.column(f"{' UNION '.join(queries)} ORDER BY userid", list(games))

    def ratings_of(self, game: str, userids: Iterable[str]) -> dict[str, list[int]]:
        """For each user the rating before their first rated game, and those after each, in their order."""
        query = """
            SELECT userid, before, after FROM results
            WHERE game = ? AND userid IN (SELECT value FROM json_each(?)) ORDER BY userid, games
        """
        ratings: dict[str, list[int]] = {}
        for userid, before, after in self.execute(query, game, list(userids)):
            ratings.setdefault(userid, [before]).append(after)
        return ratings
