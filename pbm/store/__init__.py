"""All that is kept, in one SQLite database; nobody else writes SQL.

A board is the list of its turns: from it, and from the secret of its dice, every position can be rebuilt. What else
stands in a board's row (moves, turn, ended, winner) follows from the turns, and is there so that lists need not
replay games.
"""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pbm.store.base import Base
from pbm.store.boards import Boards
from pbm.store.changes import Changes
from pbm.store.events import Events
from pbm.store.form import SCHEMA, Replaced, Unusable
from pbm.store.handled import Handled
from pbm.store.outbox import Outbox
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

if TYPE_CHECKING:
    from pbm.store.health import Health
    from pbm.store.tournaments import Tournaments

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


class Store(Base):
    """An open database. It has a member for each noun: `store.boards.get("spiro", "101")`."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open the database of that path, and make or bring up to date what is in it. Raises Unusable."""
        super().__init__(path, read_only=read_only)
        self.boards = Boards(self.db)
        """Boards, their turns, and who follows them."""
        self.users = Users(self.db)
        """Users and their addresses."""
        self.players = Players(self.db)
        """What each user is in one game: their rating, and what they want."""
        self.robots = Robots(self.db)
        """Users that are programs."""
        self.outbox = Outbox(self.db)
        """Mails that go out."""
        self.handled = Handled(self.db)
        """A note of each mail that came in."""
        self.trust = Trust(self.db)
        """Whom the server believes, and quotas."""
        self.events = Events(self.db)
        """What has happened."""
        self.changes = Changes(self.db)
        """What has changed since somebody looked."""

    @cached_property
    def tournaments(self) -> "Tournaments":
        """Tournaments, their players and meetings."""
        from pbm.store.tournaments import Tournaments  # takes 0.9 ms, and few commands need it

        return Tournaments(self.db)

    @cached_property
    def health(self) -> "Health":
        """What shows whether all is well."""
        from pbm.store.health import Health  # sqlite-utils takes 65 ms

        return Health(self.db)
