"""The present public state of each board, for those who wait for the next one."""

from typing import NamedTuple

from pbm.store.base import Questions


class BoardState(NamedTuple):
    """What anybody may know of a board; it changes by a move, one taken back, a proposal, days given, or the end."""

    number: int
    """A later state has a higher number. Nothing secret, such as a submitted move, makes a new state."""
    game: str
    board: str
    first_player: str
    second_player: str
    moves: int | None
    """None if the board was removed."""
    turn: str | None = None
    ended: str | None = None
    winner: str | None = None
    vote: str | None = None
    voter: str | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Its game and its number."""
        return self.game, self.board


STATE = (
    "SELECT number, game, board, board_states.first_player, board_states.second_player, "
    "moves, turn, ended, winner, vote, voter FROM board_states LEFT JOIN boards USING (game, board)"
)
"""The states of boards, with those that were removed."""


class States(Questions):
    """What is stored of the states of boards."""

    def last_number(self) -> int:
        """The number of the last state that any board ever had."""
        return int(self.value("SELECT seq FROM sqlite_sequence WHERE name = 'board_states'") or 0)

    def get(self, game: str, board: str) -> BoardState | None:
        """The state of a board; None if there never was one of that number, or it was removed long ago."""
        return self.row(BoardState, f"{STATE} WHERE game = ? AND board = ?", game, board)

    def since(self, number: int) -> list[BoardState]:
        """The states with a higher number, in order."""
        return self.rows(BoardState, f"{STATE} WHERE number > ? ORDER BY number", number)

    def of_user_since(self, userid: str, number: int) -> list[BoardState]:
        """The states of a user's boards with a higher number, in order."""
        theirs = "SELECT number FROM board_states WHERE number > ?2 AND %s = ?1"
        which = f"{theirs % 'first_player'} UNION {theirs % 'second_player'}"
        return self.rows(BoardState, f"{STATE} WHERE number IN ({which}) ORDER BY number", userid, number)

    def active_of_user(self, userid: str) -> list[BoardState]:
        """The states of a user's active boards, in order."""
        theirs = """
            SELECT number FROM boards CROSS JOIN board_states USING (game, board)
            WHERE game IN (SELECT game FROM tallies) AND ended IS NULL AND boards.%s = ?1
        """
        which = f"{theirs % 'first_player'} UNION {theirs % 'second_player'}"
        return self.rows(BoardState, f"{STATE} WHERE number IN ({which}) ORDER BY number", userid)
