"""What users write about boards: the comments of moves, votes and challenges, and the chats."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from pbm.store.base import Questions
from pbm.texts import shortened

COMMENT, CHAT = "comment", "chat"
"""The kinds of talk. Comments are for anybody, chats for the players as long as the game goes on."""
MOST_KEPT_ON_BOARD = 400
"""How many comments and chats of a board are kept; the oldest ones go."""
MOST_KEPT_BYTES = 4000
"""How many bytes of each are kept."""
SAID_ON_BOARD = "game = ?1 AND board = ?2"


class TalkRow(NamedTuple):
    """A comment or a chat."""

    userid: str | None
    """Its writer; None if it is not known who has started a board with this comment."""
    kind: str
    """COMMENT or CHAT."""
    moves: int
    """How many moves had been made, with the one to which it belongs."""
    said: datetime
    text: str
    taken_back: bool = False
    """Whether the last of these moves was taken back since."""


class Talk(Questions):
    """What is stored of the talk about boards."""

    def add(self, game: str, board: str, row: TalkRow) -> None:
        """Store a comment or a chat, and forget the oldest one if there are too many."""
        query = f"""
            INSERT INTO talk SELECT ?1, ?2, coalesce(max(number), 0) + 1, ?3, ?4, ?5, ?6, ?7, ?8
            FROM talk WHERE {SAID_ON_BOARD} RETURNING number
        """
        number = self.value(query, game, board, *row._replace(text=shortened(row.text, MOST_KEPT_BYTES)))
        if number > MOST_KEPT_ON_BOARD:
            self.execute(
                f"DELETE FROM talk WHERE {SAID_ON_BOARD} AND number <= ?3", game, board, number - MOST_KEPT_ON_BOARD
            )

    def of_board(self, game: str, board: str) -> list[TalkRow]:
        """The comments and chats of a board, in order."""
        query = f"SELECT {', '.join(TalkRow._fields)} FROM talk WHERE {SAID_ON_BOARD} ORDER BY number"
        return self.rows(TalkRow, query, game, board)

    def newest(self, game: str, board: str, *, with_chats: bool, without: Sequence[str] = ()) -> str | None:
        """When the newest comment or chat was written, without those of some users; None if there is none."""
        query = f"""
            SELECT max(said) FROM talk WHERE {SAID_ON_BOARD} AND (kind = '{COMMENT}' OR ?3)
            AND coalesce(userid, '') NOT IN (SELECT value FROM json_each(?4))
        """
        said = self.value(query, game, board, with_chats, list(without))
        return str(said) if said else None
