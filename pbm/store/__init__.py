"""All that is kept, in one SQLite database; nobody else writes SQL.

A board is the list of its turns: from it, and from the secret of its dice, every position can be rebuilt. What else
stands in a board's row (moves, turn, ended, winner) follows from the turns, and is there so that lists need not
replay games.
"""

from pbm.store.boards import Boards
from pbm.store.errors import Replaced, Unusable
from pbm.store.form import SCHEMA
from pbm.store.happenings import Happenings
from pbm.store.mails import Mails
from pbm.store.players import Players, Section
from pbm.store.robots import Robot, Robots
from pbm.store.rows import (
    ESTABLISHED,
    STORED_FORMS,
    Address,
    BoardRow,
    Failures,
    Held,
    Mail,
    PlayerRow,
    Reply,
    ResultRow,
    TurnRow,
    Vacation,
)
from pbm.store.trust import Trust
from pbm.store.users import Users

__all__ = [
    "ESTABLISHED",
    "SCHEMA",
    "STORED_FORMS",
    "Address",
    "BoardRow",
    "Failures",
    "Held",
    "Mail",
    "PlayerRow",
    "Replaced",
    "Reply",
    "ResultRow",
    "Robot",
    "Section",
    "Store",
    "TurnRow",
    "Unusable",
    "Vacation",
]


class Store(Robots, Users, Players, Boards, Happenings, Mails, Trust):
    """An open database. Every method is one statement or a few; a `transaction` makes them one step."""
