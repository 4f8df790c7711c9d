"""The form of the database: what says that a file is one of ours, and how times and rows are written."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, overload

APPLICATION_ID = int.from_bytes(b"pbm1")
"""What SQLite's header calls the application that a file belongs to."""
SCHEMA = 8
"""The number of migrations in `pbm.store.schema`."""
BUSY_SECONDS = 30
"""How long a command waits for others to finish writing."""
FIRST_TABLES = "addresses", "boards", "handled", "numbers", "outbox", "queued", "quotas", "turns", "users"
"""The tables that every version has had."""
LAST_CHANGE = "julianday(coalesce(changed, started))"
USED = "max(iif(turn = first_player, first_used, 0), iif(turn = second_player, second_used, 0)) / 86400"
DUE = (
    f"min(coalesce(julianday(until), 1e9), coalesce({LAST_CHANGE} + total_days - {USED}, 1e9), iif(nagged IS NULL, "
    f"{LAST_CHANGE} + coalesce(nag_days, iif(pool IS NULL, 7, 1)), min(julianday(nagged) + 1, "
    f"{LAST_CHANGE} + coalesce(forfeit_days, iif(pool IS NULL, 21, 7)))))"
)
"""The Julian day before which a clean-up has nothing to do on a board, by `pbm.board.dues`: its round ends, or the
time of the player to move, or a reminder is due, the next one, or a forfeit. The index ``boards_due`` is made of it.
"""


def columns(row: NamedTuple) -> dict[str, object]:
    """A row as `insert` wants it, and as SQLite keeps it: a dict in which times and lists are text, bools numbers."""
    return {
        name: AS_STORED[type(value)](value) if type(value) in AS_STORED else value
        for name, value in zip(row._fields, row, strict=True)
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


AS_STORED: Mapping[type, Callable[[Any], object]] = {datetime: text, tuple: json.dumps, bool: int}
"""What SQLite keeps of a value of such a type; all others stay as they are."""
