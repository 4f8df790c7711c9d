"""What has happened, as a sequence of numbered events, and how many commands there were."""

import json
from datetime import datetime

from pbm.store.base import Base
from pbm.store.form import text


class Happenings(Base):
    """What is noted of events and commands."""

    def note_event(
        self,
        now: datetime,
        kind: str,
        *,
        game: str | None = None,
        board: str | None = None,
        pool: str | None = None,
        userid: str | None = None,
        **detail: object,
    ) -> None:
        """Note that something has happened, in the transaction in which it does."""
        query = "INSERT INTO events (moment, kind, game, board, pool, userid, detail) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self.db.execute(query, [text(now), kind, game, board, pool, userid, json.dumps(detail)])

    def count_command(self, now: datetime, *, refused: bool) -> None:
        """Count a command, by the hour in which it was given."""
        query = (
            "INSERT INTO commands VALUES (?1, NOT ?2, ?2) "
            "ON CONFLICT DO UPDATE SET done = done + excluded.done, refused = refused + excluded.refused"
        )
        self.db.execute(query, [text(now.replace(minute=0, second=0, microsecond=0)), refused])
