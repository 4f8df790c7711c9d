"""The form of the database: what says that a file is one of ours, and how times and rows are written."""

import json
from datetime import UTC, datetime
from typing import NamedTuple, overload

APPLICATION_ID = int.from_bytes(b"pbm1")
"""What SQLite's header calls the application that a file belongs to."""
SCHEMA = 6
"""The number of migrations in `pbm.store.schema`."""
BUSY_SECONDS = 30
"""How long a command waits for others to finish writing."""
FIRST_TABLES = "addresses", "boards", "handled", "numbers", "outbox", "queued", "quotas", "turns", "users"
"""The tables that every version has had."""


def columns(row: NamedTuple) -> dict[str, object]:
    """A row as `insert` wants it: a dict whose times and lists are text."""
    return {
        name: text(value) if isinstance(value, datetime) else json.dumps(value) if isinstance(value, tuple) else value
        for name, value in row._asdict().items()
    }


def text(moment: datetime) -> str:
    """A time as it is stored: in UTC, so that texts compare as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@overload
def time_of(stored: str) -> datetime: ...
@overload
def time_of(stored: None) -> None: ...
def time_of(stored: str | None) -> datetime | None:
    """A time as it was stored."""
    return datetime.fromisoformat(stored) if stored else None
