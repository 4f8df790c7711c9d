"""What has changed since somebody looked, for programs that look again and again."""

from typing import NamedTuple

from pbm.store.base import Questions


class Change(NamedTuple):
    """Something of which anybody may see that it was changed, made or removed."""

    kind: str
    """``board``, ``pool``, ``player`` for what is known of a user in one game, or ``user``."""
    game: str
    """Empty for a user."""
    name: str


class Seen(NamedTuple):
    """How far somebody has looked at what changes in a database."""

    number: int
    """The number of the last change that they have seen."""
    event: int
    """The number of the last event by then, 0 if there was none, and when it happened: in a database that was put back
    to what it was before, and has gone on since, an event of that number happened at another time."""
    moment: str
    restored: str = ""
    """When a backup was put in the place of the database for the last time; empty if that never was."""


class Changes(Questions):
    """What is noted of changes."""

    def seen(self) -> Seen:
        """How far one has seen who looks now."""
        last = "SELECT seq FROM sqlite_sequence WHERE name = 'changes'"
        (number,) = self.db.execute(last).fetchone() or (0,)
        last = "SELECT id, moment FROM events ORDER BY id DESC LIMIT 1"
        event, moment = self.db.execute(last).fetchone() or (0, "")
        return Seen(number, event, moment, self._restored())

    def _restored(self) -> str:
        (moment,) = self.db.execute("SELECT moment FROM notes WHERE name = 'restored'").fetchone() or ("",)
        return str(moment)

    def has_gone_on_since(self, seen: Seen) -> bool:
        """Whether this is the database at which somebody looked then; False also if that is too long ago to tell."""
        now = self.seen()
        if now.restored != seen.restored or now.number < seen.number or now.event < seen.event:
            return False
        event = self.db.execute("SELECT moment FROM events WHERE id = ?", [seen.event]).fetchone() or ("",)
        return event == (seen.moment,)

    def since(self, seen: Seen) -> list[Change]:
        """What has changed since somebody looked."""
        query = "SELECT kind, game, name FROM changes WHERE number > ?"
        return [Change._make(row) for row in self.db.execute(query, [seen.number])]
