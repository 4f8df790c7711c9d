"""The form of the database: what says that a file is one of ours, and how times and rows are written."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    from pathlib import Path

APPLICATION_ID = int.from_bytes(b"pbm1")
"""What SQLite's header calls the application that a file belongs to."""
FIRST_SCHEMA = 10
"""The number of the tables of the first release; lower ones were those of versions before it."""
SCHEMA = 10
"""The number of the tables now: one more for each migration of `pbm.store.schema` behind the first."""
BUSY_SECONDS = 30
"""How long a command waits for others to finish writing."""
FIRST_TABLES = "addresses", "boards", "handled", "numbers", "outbox", "plans", "quotas", "turns", "users"
"""The tables that every version has had."""
USUAL_DAYS = 7, 21
"""After how many days without a move a player is reminded, and after how many they forfeit."""
TOURNAMENT_DAYS = 1, 7
"""The same for tournament boards."""
LAST_CHANGE = "julianday(coalesce(changed, started))"
USED = "max(iif(turn = first_player, first_used, 0), iif(turn = second_player, second_used, 0)) / 86400"
DUE = (
    f"min(coalesce(julianday(until), 1e9), coalesce({LAST_CHANGE} + total_days - {USED}, 1e9), iif(nagged IS NULL, "
    f"{LAST_CHANGE} + coalesce(nag_days, iif(pool IS NULL, {USUAL_DAYS[0]}, {TOURNAMENT_DAYS[0]})), "
    "min(julianday(nagged) + 1, "
    f"{LAST_CHANGE} + coalesce(forfeit_days, iif(pool IS NULL, {USUAL_DAYS[1]}, {TOURNAMENT_DAYS[1]})))))"
)
"""The Julian day before which a clean-up has nothing to do on a board, by `pbm.board.clocks`: its round ends, or the
time of the player to move, or a reminder is due, the next one, or a forfeit. The index ``boards_due`` is made of it.
"""


class Unusable(Exception):
    """The database cannot be used. The text says why and what would help; nothing was changed."""


class Replaced(Unusable):
    """The file that is open is not the database any more: that was deleted or replaced, and the process has to end."""


def check_schema(path: "str | Path", schema: int) -> None:
    """Raises Unusable if a database has the tables of a version that is too old or too new for this one."""
    if schema < FIRST_SCHEMA:
        raise Unusable(
            f"{path} was written by a version of pbm before its first release, and this one cannot read it. Write its "
            "boards into a file with that version (`pbm export`), and `pbm import` that file into a new database."
        )
    if schema > SCHEMA:
        raise Unusable(f"{path} was written by a newer version of pbm; install that one.")


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
