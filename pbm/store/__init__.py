"""All that is kept, in one SQLite database; nobody else writes SQL.

A board is the list of its turns: from it, and from the secret of its dice, every position can be rebuilt. What else
stands in a board's row (moves, turn, ended, winner) follows from the turns, and is there so that lists need not
replay games.
"""

from functools import cached_property
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
    """An open database. It has a member for each noun, opened when first asked: `store.boards.get("spiro", "101")`."""

    @cached_property
    def boards(self) -> Boards:
        """Boards, their turns, and who follows them."""
        return Boards(self.db)

    @cached_property
    def users(self) -> Users:
        """Users and their addresses."""
        return Users(self.db)

    @cached_property
    def players(self) -> Players:
        """What each user is in one game: their rating, and what they want."""
        return Players(self.db)

    @cached_property
    def robots(self) -> Robots:
        """Users that are programs."""
        return Robots(self.db)

    @cached_property
    def outbox(self) -> Outbox:
        """Mails that go out."""
        return Outbox(self.db)

    @cached_property
    def handled(self) -> Handled:
        """A note of each mail that came in."""
        return Handled(self.db)

    @cached_property
    def trust(self) -> Trust:
        """Whom the server believes, and quotas."""
        return Trust(self.db)

    @cached_property
    def tournaments(self) -> "Tournaments":
        """Tournaments, their players and meetings."""
        from pbm.store.tournaments import Tournaments  # takes 0.9 ms, and few commands need it

        return Tournaments(self.db)

    @cached_property
    def events(self) -> Events:
        """What has happened."""
        return Events(self.db)

    @cached_property
    def changes(self) -> Changes:
        """What has changed since somebody looked."""
        return Changes(self.db)

    @cached_property
    def health(self) -> "Health":
        """What shows whether all is well."""
        from pbm.store.health import Health  # sqlite-utils takes 65 ms

        return Health(self.db)
