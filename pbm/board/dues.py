"""What a clean-up has to do on a board, by its clocks."""

from datetime import datetime
from enum import Enum
from typing import NamedTuple

from pbm.board import clocks
from pbm.board.clocks import DAY
from pbm.store import BoardRow, Store


class Deed(Enum):
    """What a clean-up has to do on a board."""

    NOTHING = "nothing"
    REMIND = "remind"
    SPARE = "spare"
    """Take a day of the player's vacation instead of the game."""
    FORFEIT = "forfeit"
    OUT_OF_TIME = "out of time"
    """End the game, because the player to move has used up the time that he is allowed in the whole game."""
    ROUND_OVER = "round over"
    """End the game, because its round has to end, by the loss of the player to move."""
    DRAW = "draw"
    """End the game as a tie, because the player has not answered the proposal."""

    @property
    def ends(self) -> bool:
        """Whether the game is over then."""
        return self in {Deed.FORFEIT, Deed.OUT_OF_TIME, Deed.ROUND_OVER, Deed.DRAW}


class Due(NamedTuple):
    """What is due on a board, and to whom."""

    deed: Deed
    userid: str
    """The player for whom the others wait."""


def due(store: Store, row: BoardRow, seat: int, now: datetime) -> Due:
    """What is due on a board that is not over, and on which the player of that *seat* is to move.

    A robot never loses by his time, for it is not his fault if nobody lets him play.
    """
    if clocks.is_out_of_time(row, seat, now) and not store.robots_among([row.turn or ""]):
        return Due(Deed.OUT_OF_TIME, row.turn or "")
    if row.until and now >= row.until and not store.robots_among([row.turn or ""]):
        return Due(Deed.ROUND_OVER, row.turn or "")
    userid, today = clocks.awaited(row), now.date()
    nag, forfeit = clocks.limits(row)
    if clocks.age(row, now) < nag or clocks.waits_for_robot(store, row):
        return Due(Deed.NOTHING, userid)
    is_gone = store.password_of(userid) is None
    counts = not row.novacation
    if not is_gone and (clocks.age(row, now) < forfeit or (counts and clocks.is_spared(store, userid, today))):
        is_away = counts and clocks.planned_until(store, userid, today) is not None
        is_reminded = row.nagged is not None and now < row.nagged + DAY
        return Due(Deed.NOTHING if is_away or is_reminded else Deed.REMIND, userid)
    if not is_gone and counts and store.has_auto_vacation(userid) and clocks.days_left(store, userid, today.year):
        return Due(Deed.SPARE, userid)
    return Due(Deed.DRAW if row.vote == "draw" else Deed.FORFEIT, userid)
