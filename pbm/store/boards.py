"""Boards, their turns, and who follows them."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import product
from operator import attrgetter
from typing import NamedTuple

from pbm.store.base import Questions, as_row

USUAL_DAYS = 7, 21
"""The days without a move after which a player is reminded, and those after which they forfeit."""
TOURNAMENT_DAYS = 1, 7
"""On a board of a tournament, the days without a move after which a player is reminded, and forfeits."""
LAST_CHANGE = "julianday(coalesce(changed, started)) + given_seconds / 86400"
USED = "max(iif(turn = first_player, first_used, 0), iif(turn = second_player, second_used, 0)) / 86400"
LEFT = "min(iif(turn = first_player, first_left, 1e12), iif(turn = second_player, second_left, 1e12)) / 86400"
NAGGED_AT_LEFT = "coalesce(nag_days, min(base_seconds / 4.0 / 86400, 7))"
REMINDED = (
    f"{LAST_CHANGE} + iif(base_seconds IS NOT NULL, {LEFT} - {NAGGED_AT_LEFT}, "
    f"coalesce(nag_days, iif(pool IS NULL, {USUAL_DAYS[0]}, {TOURNAMENT_DAYS[0]})))"
)
FORFEITED = (
    f"{LAST_CHANGE} + iif(base_seconds IS NOT NULL, {LEFT}, "
    f"coalesce(forfeit_days, iif(pool IS NULL, {USUAL_DAYS[1]}, {TOURNAMENT_DAYS[1]})))"
)
DUE = (
    f"min(coalesce(julianday(until), 1e9), coalesce({LAST_CHANGE} + total_days - {USED}, 1e9), "
    f"iif(nagged IS NULL, {REMINDED}, min(julianday(nagged) + 1, {FORFEITED})))"
)
"""The Julian day before which a clean-up has nothing to do on a board, by `pbm.board.clocks`. It is the first of these:
the end of its round, of the total time or of a clock that grows, and the next reminder or forfeit. The index
``boards_due`` is made of it.
"""
BY_NUMBER = "length(board), board"
BY_END = "ended, board"
LAST_ENDED = "ended DESC, board DESC"
MOMENT = 1e-6
"""In days, more than the error of a time as a Julian day, which SQLite rounds to milliseconds."""
SUBSCRIBER, NOTIFIED = "subscriber", "notified"
"""The kinds of followers: a subscriber gets a mail about each turn, a notified user one about the end."""
OF_BOARD = "game = ? AND board = ?"
PLAYED_BY = {
    "boards": ("first_player", "second_player", "turn", "winner", "commenter", "voter"),
    "turns": ("userid",),
    "plans": ("userid",),
    "board_notes": ("userid",),
    "talk": ("userid",),
    "reminders": ("userid",),
    "robot_boards": ("opponent",),
    "analysis_requests": ("userid",),
}
"""The columns that name a player of a board, except in reply addresses."""
SEATS = "first_player", "second_player"
BOARDS_OF_PLAYER = "SELECT game, board FROM board_states WHERE first_player = ?1 OR second_player = ?1"
"""All boards that a user plays or has played, without looking at those of others: `boards` has no index by player
alone. The userid is the first value."""


class BoardRow(NamedTuple):
    """A board as it is stored, without its turns."""

    game: str
    board: str
    options: str
    """The options of the challenge as they were typed."""
    first_player: str
    second_player: str
    secret: bytes
    started: datetime
    moves: int = 0
    turn: str | None = None
    """The userid of the player to move; None when the game is over."""
    ended: datetime | None = None
    winner: str | None = None
    """A userid; None while the game goes on, and for a draw."""
    commenter: str | None = None
    comment: str | None = None
    nag_days: int | None = None
    """Days without a move after which the player to move is reminded; None for the default, as in the next two."""
    forfeit_days: int | None = None
    total_days: int | None = None
    """How many days a player may think in the whole game; None for no limit."""
    changed: datetime | None = None
    """The time of the last move or undo; the seconds used below are right for it. None if there was none."""
    first_used: float = 0.0
    """The seconds for which the first player was to move."""
    second_used: float = 0.0
    nagged: datetime | None = None
    """When the server last made a reminder of this move; None if it has not."""
    vote: str | None = None
    """The open proposal, ``draw`` or ``undo``; None if there is none."""
    voter: str | None = None
    """The userid of the player who proposed it."""
    submitted: str | None = None
    """The move that the player to move has submitted and not yet confirmed."""
    drawn: bool = False
    """Whether the players have agreed on a draw."""
    pool: str | None = None
    """The pool of a tournament board, the letters of its name; None for any other board."""
    source: str | None = None
    """The board from which its first turns are taken; None if it began with the first position."""
    given: int = 0
    """How many turns were taken from there."""
    novacation: bool = False
    """Whether players on vacation are reminded and forfeit as others do."""
    reason: str | None = None
    """Why the game has ended, one of `pbm.board.board.REASONS`; None while it goes on."""
    unrated: bool = False
    """Whether an unrated robot plays."""
    until: datetime | None = None
    """When the round of its tournament ends, and with it the game; None if it has no such end."""
    rematch: str | None = None
    """The board of the rematch; None if nobody has asked for one."""
    more_days: int = 0
    """How many more days the opponent has given to the player to move for this move."""
    weekends: str | None = None
    """The time zone of the player to move if no clock runs on Saturdays and Sundays; None if all days count."""
    earlier_secret: bytes | None = None
    """The secret of the first throws, which was told before the game was reinstated; None if there is none."""
    earlier_throws: int = 0
    """How many throws come from the earlier secret."""
    base_seconds: int | None = None
    """What each player has at the start on a clock that grows; None without one, also in the next four fields."""
    increment_seconds: int | None = None
    """What a player gets for each move of their own."""
    most_seconds: int | None = None
    """What a player has at the most when they have moved."""
    first_left: float | None = None
    """The seconds that the first player had left at the last move or undo."""
    second_left: float | None = None
    notified_at: datetime | None = None
    """Since when the player to move has notice of this turn, because a reminder has left; None if none has."""
    vote_notified_at: datetime | None = None
    """Since when the other player has notice of the open proposal, because a reminder has left; None if none has."""
    given_seconds: float = 0.0
    """The time that does not count for the present move: given by the opponent, or an absence of the server."""

    @property
    def place(self) -> tuple[str, str]:
        """Its game and its number."""
        return self.game, self.board

    @property
    def place_data(self) -> dict[str, str]:
        """The game and the number of the board, as programs and events tell them."""
        return {"game": self.game, "board": self.board}

    @property
    def players(self) -> tuple[str, str]:
        """The userids of the players, the first player first."""
        return self.first_player, self.second_player

    def opponent(self, userid: str) -> str:
        """The other player; the same one if the user plays both sides."""
        return self.second_player if userid == self.first_player else self.first_player

    def secret_of(self, turn: int) -> bytes:
        """The secret of the dice that are thrown after *turn* turns."""
        if self.earlier_secret and turn < self.earlier_throws:
            return self.earlier_secret
        return self.secret

    @property
    def happened(self) -> datetime:
        """When it ended, or else when it last changed by a move or an undo, or when it began."""
        return self.ended or self.changed or self.started


class TurnRow(NamedTuple):
    """A turn as it was played."""

    userid: str
    text: str
    dice: tuple[int, ...]
    automatic: bool
    """Whether the server played it."""
    played: datetime
    gained: float = 0.0
    """The seconds that the player's clock got for it, if it grows; also what was missing, if it had run out."""


IS_TO_MOVE = "turn IN (SELECT value FROM json_each(?1, '$.userids'))"


class BoardFilter(NamedTuple):
    """A selection of boards: those that fit all its fields."""

    games: Sequence[str]
    userids: Sequence[str] = ()
    """One of these users plays on the board; without any, anybody."""
    over: bool | None = None
    """Whether the game is over; None for both, also in the next two fields."""
    in_tournament: bool | None = None
    pool: str | None = None
    """The pool of the board's tournament."""
    to_move: bool = False
    """Whether one of the users has to be the player to move."""
    may_wait: bool = False
    """Whether one of the users has to be the player to move, or something is proposed, which the other one answers."""

    @property
    def where(self) -> str:
        """The condition in SQL. Its only value is the selection as an object of JSON."""
        which = "game IN (SELECT value FROM json_each(?1, '$.games'))"
        if len(self.games) == 1:
            which = "game = json_extract(?1, '$.games[0]')"
        if self.pool is not None:
            which += " AND pool = json_extract(?1, '$.pool')"
        if self.in_tournament is not None:
            which += f" AND pool IS {'NOT ' * self.in_tournament}NULL"
        if self.over is not None:
            which += f" AND ended IS {'NOT ' * self.over}NULL"
        if self.to_move:
            which += f" AND {IS_TO_MOVE}"
        if self.may_wait:
            which += f" AND ({IS_TO_MOVE} OR vote IS NOT NULL)"
        if not self.userids:
            return which
        one = f"SELECT rowid FROM boards WHERE {which} AND %s IN (SELECT value FROM json_each(?1, '$.userids'))"
        return f"rowid IN ({' UNION '.join(one % seat for seat in SEATS)})"


class Boards(Questions):
    """What is stored of boards."""

    def next_number(self, game: str) -> str:
        """Reserve a board number that the game has never had, from 101 on. Returns it."""
        query = "INSERT INTO numbers VALUES (?, 101) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last"
        return str(self.value(query, game))

    def reserve_number(self, game: str, number: int) -> None:
        """Let `next_number` never return this number or a lower one."""
        query = "INSERT INTO numbers VALUES (?, ?) ON CONFLICT DO UPDATE SET last = max(last, excluded.last)"
        self.execute(query, game, max(number, 100))

    def add(self, row: BoardRow) -> None:
        """Store a board that has no turns yet. It is another one than a board of that name that was removed."""
        for table in "removed_boards", "replies":
            self.execute(f"DELETE FROM {table} WHERE {OF_BOARD}", *row.place)
        self.insert("boards", row._asdict())

    def get(self, game: str, board: str) -> BoardRow | None:
        """The row of a board; None if there is none of that number."""
        return self.row(BoardRow, f"SELECT * FROM boards WHERE {OF_BOARD}", game, board)

    def turns(self, game: str, board: str) -> list[TurnRow]:
        """The turns of a board, in order."""
        query = f"SELECT userid, text, dice, automatic, played, gained FROM turns WHERE {OF_BOARD} ORDER BY number"
        return self.rows(TurnRow, query, game, board)

    def save(self, row: BoardRow, first: int = 0, turns: Iterable[TurnRow] = ()) -> None:
        """Store the row of a board, and new turns, numbered from *first* on."""
        self.update("boards", row._asdict(), OF_BOARD, *row.place)
        for number, turn in enumerate(turns, first):
            self.insert("turns", {**row.place_data, "number": number, **turn._asdict()})

    def change_gain(self, row: BoardRow, number: int, seconds: float) -> None:
        """Change by how much the clock of a player has grown for the turn of that number."""
        self.update("turns", {"gained": seconds}, f"{OF_BOARD} AND number = ?", *row.place, number)

    def end_round(self, row: BoardRow, until: datetime) -> None:
        """Change when the round of a board's tournament ends."""
        self.update("boards", {"until": until}, OF_BOARD, *row.place)

    def take_back_turns(self, row: BoardRow) -> None:
        """Store the row of a board, delete the turns behind its number of moves, and mark what was said of them."""
        self.save(row)
        self.execute(f"DELETE FROM turns WHERE {OF_BOARD} AND number > ?", *row.place, row.moves)
        self.execute(f"UPDATE talk SET taken_back = 1 WHERE {OF_BOARD} AND moves > ?", *row.place, row.moves)

    def remove(self, game: str, board: str, now: datetime) -> None:
        """Delete a board; its number is not given out again. Its reply addresses stay, to tell that it was removed."""
        self.execute(f"DELETE FROM boards WHERE {OF_BOARD}", game, board)
        self.insert("removed_boards", {"game": game, "board": board, "removed": now})

    def remove_of(self, userid: str, now: datetime) -> None:
        """Delete all boards of a user."""
        query = "SELECT game, board FROM boards WHERE first_player = ?1 OR second_player = ?1"
        for game, board in self.execute(query, userid):
            self.remove(game, board, now)

    def was_removed(self, game: str, board: str) -> bool:
        """Whether a board has been removed, as long as that is known."""
        return self.value(f"SELECT 1 FROM removed_boards WHERE {OF_BOARD}", game, board) is not None

    def hand_over(self, old: str, new: str) -> None:
        """Give all boards of the user *old* to the user *new*, as if these had played from the beginning."""
        places = self.execute("SELECT game, board FROM boards WHERE ? IN (first_player, second_player)", old)
        for table, columns in PLAYED_BY.items():
            for column, place in product(columns, places):
                self.update(table, {column: new}, f"{OF_BOARD} AND {column} = ?", *place, old)

    # Lists of boards

    def found(self, among: BoardFilter, order: str = BY_NUMBER, most: int = -1) -> list[BoardRow]:
        """The selected boards in that order, at most *most* of them."""
        index = ""
        if among.pool is not None:
            index = " INDEXED BY boards_pool"  # by itself SQLite looks at all tournaments
        query = f"SELECT * FROM boards{index} WHERE {among.where} ORDER BY {order} LIMIT {most}"
        return self.rows(BoardRow, query, among._asdict())

    def names(self, among: BoardFilter, order: str = "game, board", most: int = -1) -> list[tuple[str, str]]:
        """Game and number of the selected boards in that order, at most *most* of them."""
        query = f"SELECT game, board FROM boards WHERE {among.where} ORDER BY {order} LIMIT {most}"
        return self.execute(query, among._asdict())

    def count(self, among: BoardFilter) -> int:
        """How many boards are selected."""
        return int(self.value(f"SELECT count(*) FROM boards WHERE {among.where}", among._asdict()))

    def latest(self, among: BoardFilter, most: int) -> list[BoardRow]:
        """The selected boards that have changed last, at most *most* of them, the last one first."""
        rows: list[BoardRow] = []
        states = (False, True) if among.over is None else (among.over,)
        for game, over in product(among.games, states):
            last = "ended" if over else "coalesce(changed, started)"  # which an index has
            order = f"{last} DESC, length(board) DESC, board DESC"
            rows += self.found(among._replace(games=[game], over=over), order, most)
        rows.sort(key=lambda row: (len(row.board), row.board), reverse=True)
        rows.sort(key=attrgetter("game"))
        rows.sort(key=lambda row: row.happened, reverse=True)
        return rows[:most]

    def named(self, game: str, names: Collection[str]) -> list[BoardRow]:
        """The boards of a game with these names, in the order of the names."""
        query = "SELECT * FROM boards WHERE game = ? AND board IN (SELECT value FROM json_each(?))"
        by_name = {row.board: row for row in self.rows(BoardRow, query, game, list(names))}
        return [by_name[name] for name in names if name in by_name]

    def of_tournament(self, game: str, pool: str) -> list[BoardRow]:
        """The boards of a tournament pool, by number."""
        return self.found(BoardFilter([game], pool=pool))

    def current(
        self, game: str, ended_after: datetime | None = None, *, standard: bool = False, most: int = -1
    ) -> list[BoardRow]:
        """The active boards of a game, and those that ended after a time, by number, at most *most* of them.

        The *standard* ones are in no pool.

        They are found one after the other by an index; only those that ended lately are sorted.
        """
        which = f"SELECT length(board), board, rowid FROM boards WHERE game = ?1{' AND pool IS NULL' * standard} AND"
        query = f"{which} ended IS NULL UNION ALL {which} ended > ?2 ORDER BY 1, 2 LIMIT {most}"
        rows: list[BoardRow] = []
        for _, _, rowid in self.execute(query, game, ended_after):
            rows += self.rows(BoardRow, "SELECT * FROM boards WHERE rowid = ?", rowid)
        return rows

    def history(self, game: str, most: int = -1) -> list[tuple[BoardRow, bool]]:
        """The games that ended last, at most *most*, each with whether it was rated.

        Games in which one user played both sides are left out.
        """
        query = f"""
            SELECT boards.*, EXISTS (SELECT 1 FROM results WHERE (game, board) = (boards.game, boards.board))
            FROM boards WHERE game = ? AND ended IS NOT NULL AND first_player <> second_player
            ORDER BY {LAST_ENDED} LIMIT {most}
        """
        return [(as_row(BoardRow, row), bool(is_rated)) for *row, is_rated in self.execute(query, game)]

    def due(self, now: datetime) -> list[tuple[str, str]]:
        """Game and number of the active boards on which something may be due by now."""
        which = f"INDEXED BY boards_due WHERE ended IS NULL AND {DUE} <= julianday(?) + {MOMENT}"
        return self.execute(f"SELECT game, board FROM boards {which} ORDER BY game, board", now)

    # How many there are

    def games(self) -> list[str]:
        """The games that have boards, by name."""
        return self.column("SELECT game FROM tallies WHERE boards > 0")

    def totals(self, game: str | None = None) -> tuple[int, int]:
        """How many boards a game has, or all games have, and how many of them are active."""
        query = "SELECT coalesce(sum(boards), 0), coalesce(sum(active), 0) FROM tallies WHERE game = coalesce(?, game)"
        [(every, active)] = self.execute(query, game)
        return every, active

    def active_counts(self, userids: Sequence[str], game: str | None = None) -> dict[str, Counter[str]]:
        """The number of active boards of each of these users, by game, or of one game alone."""
        # a search for each player and seat: in one for all of them, SQLite would look at boards that are over, too
        count = "(SELECT count(*) FROM boards WHERE game = tallies.game AND ended IS NULL AND %s)"
        first = count % "first_player = value"
        second = count % "second_player = value AND first_player <> value"
        query = f"SELECT value, game, {first} + {second} FROM json_each(?), tallies WHERE game = coalesce(?, game)"
        counts: dict[str, Counter[str]] = {userid: Counter() for userid in userids}
        for userid, name_of_game, boards in self.execute(query, list(userids), game):
            counts[userid] += Counter({name_of_game: boards})
        return counts

    # Dice

    def throws(self, game: str) -> list[tuple[tuple[int, ...], int]]:
        """The throws of a game, such as ``(5, 2)``, each with how often it was thrown.

        A turn that other boards begin with counts once. Only turns with dice from a known secret count.
        """
        query = """
            SELECT dice, count(*) FROM turns JOIN boards USING (game, board)
            WHERE game = ? AND number > given AND length(secret) > 0 AND dice <> '[]'
            GROUP BY dice ORDER BY dice
        """
        return [(tuple(json.loads(dice)), count) for dice, count in self.execute(query, game)]

    # Plans, notes and nags

    def plans(self, game: str, board: str) -> dict[str, str]:
        """The plans for a board as text, by userid."""
        return dict(self.execute(f"SELECT userid, text FROM plans WHERE {OF_BOARD}", game, board))

    def keep_plan(self, game: str, board: str, userid: str, text: str) -> None:
        """Store the plan of a player; it replaces the one before."""
        self.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?, ?)", game, board, userid, text)

    def drop_plans(self, game: str, board: str, userid: str | None = None) -> None:
        """Delete the plan of a player, or all plans for a board."""
        self.execute(f"DELETE FROM plans WHERE {OF_BOARD} AND userid = coalesce(?, userid)", game, board, userid)

    def notes(self, game: str, board: str) -> dict[str, str]:
        """The notes of users on a board, by userid."""
        return dict(self.execute(f"SELECT userid, text FROM board_notes WHERE {OF_BOARD}", game, board))

    def keep_notes(self, game: str, board: str, userid: str, text: str) -> None:
        """Store the notes of a user on a board; they replace those before."""
        self.execute("INSERT OR REPLACE INTO board_notes VALUES (?, ?, ?, ?)", game, board, userid, text)

    def last_nag(self, game: str, board: str, userid: str) -> datetime | None:
        """When a player last reminded the other one of a board; None if never."""
        return self.moment(f"SELECT sent FROM reminders WHERE {OF_BOARD} AND userid = ?", game, board, userid)

    def note_nag(self, game: str, board: str, userid: str, now: datetime) -> None:
        """Note that a player has reminded the other one of a board."""
        self.execute("INSERT OR REPLACE INTO reminders VALUES (?, ?, ?, ?)", game, board, userid, now)

    def give_notice(self, game: str, board: str, userid: str, since: datetime) -> None:
        """Note since when a player has notice of what they owe on a board; an earlier notice holds."""
        for column, sign in ("notified_at", "="), ("vote_notified_at", "<>"):
            query = f"UPDATE boards SET {column} = min(coalesce({column}, ?3), ?3) WHERE {OF_BOARD} AND turn {sign} ?4"
            self.execute(query.replace(OF_BOARD, "game = ?1 AND board = ?2"), game, board, since, userid)

    # Followers

    def followers(self, game: str, board: str) -> dict[str, list[str]]:
        """The users who follow a board as ``subscriber`` and as ``notified``, by name."""
        users: dict[str, list[str]] = {SUBSCRIBER: [], NOTIFIED: []}
        query = f"SELECT kind, userid FROM followers WHERE {OF_BOARD} ORDER BY userid"
        for kind, userid in self.execute(query, game, board):
            users[kind].append(userid)
        return users

    def follow(self, game: str, board: str, userid: str, kind: str = SUBSCRIBER) -> bool:
        """Make a user follow a board. Returns False if they do so already."""
        query = "INSERT INTO followers VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
        return bool(self.execute(query, game, board, userid, kind))

    def unfollow(self, game: str, board: str, userid: str, kind: str = SUBSCRIBER) -> bool:
        """Make a user follow a board no longer. Returns False if they did not."""
        query = f"DELETE FROM followers WHERE {OF_BOARD} AND userid = ? AND kind = ? RETURNING 1"
        return bool(self.execute(query, game, board, userid, kind))

    def subscribed(self, game: str, userid: str) -> list[str]:
        """The active boards that a user has subscribed to, by number."""
        query = f"""
            SELECT board FROM followers CROSS JOIN boards USING (game, board)
            WHERE game = ? AND userid = ? AND kind = '{SUBSCRIBER}' AND ended IS NULL ORDER BY {BY_NUMBER}
        """
        return self.column(query, game, userid)
