"""A note of each mail that came in, so that none is handled twice."""

from datetime import datetime

from pbm.store.base import Questions
from pbm.store.form import text


class Handled(Questions):
    """What is stored of mails that came in."""

    def record(self, sender: str, message_id: str, outcome: str, now: datetime) -> bool:
        """Note that a message was handled; False, and nothing noted, if it was handled before."""
        query = "INSERT INTO handled VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return self.db.execute(query, [sender, message_id, text(now), outcome]).rowcount > 0

    def forget(self, before: datetime) -> None:
        """Forget what is of no more use: mails that were handled or given up before that time, counts, events."""
        for table, column in ("handled", "handled"), ("quotas", "day"), ("failures", "last"), ("commands", "hour"):
            self.db.execute(f"DELETE FROM {table} WHERE {column} < ?", [text(before)])
        for table, column, which in (
            ("events", "moment", ""),
            ("outbox", "queued", " AND (address IS NULL OR due IS NULL)"),
        ):
            first_kept = f"SELECT id FROM {table} WHERE {column} >= ? ORDER BY id LIMIT 1"  # what is newer is behind it
            query = f"DELETE FROM {table} WHERE id < coalesce(({first_kept}), 1 << 62) AND {column} < ?{which}"
            self.db.execute(query, [text(before)] * 2)

    def note_outcome(self, sender: str, message_id: str, outcome: str) -> None:
        """Note what became of a message that was recorded before."""
        query = "UPDATE handled SET outcome = ? WHERE sender = ? AND message_id = ?"
        self.db.execute(query, [outcome, sender, message_id])
