"""Waiting until something happens on a board."""

import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from pbm.refusals import Refused
from pbm.store import BoardRow, Store

PAUSE = 0.05
"""How many seconds pass before one who waits looks again."""

Condition = Callable[[BoardRow, BoardRow | None], bool]
"""Tells from a board as it was, and as it is now (None if it was removed), whether that was waited for."""


def condition(until: str, rows: Sequence[BoardRow]) -> Condition:
    """What `pbm wait --until` waits for. Raises Refused if it is nothing that can happen on these boards."""
    if until == "change":
        return lambda then, now: now is None or _changing(now) != _changing(then)
    if until == "over":
        return lambda _, now: now is None or now.ended is not None
    what, _, name = until.lower().partition("=")
    if what != "turn" or not name:
        raise Refused(f"One can wait until change, over or turn=USERID, but not until {until!r}.")
    if not any(name in players(row) for row in rows):
        raise Refused(f"{name} does not play on {' or '.join(row.board for row in rows)}.")
    return lambda then, now: now is None or now.turn == name or (now.ended is not None and name in players(then))


def players(row: BoardRow) -> set[str]:
    """The userids of both players."""
    return {row.first_player, row.second_player}


def looks(store: Store, rows: Sequence[BoardRow], happened: Condition) -> Iterator[list[BoardRow]]:
    """At each look, the boards on which what is waited for has happened; they are read only if there was a change."""
    seen = None
    while True:
        with store.reading():
            version = store.data_version()
            changed = rows if version != seen else []
            found = [row for row in changed if happened(row, store.boards.get(row.game, row.board))]
        seen = version
        yield found


def position(row: BoardRow) -> tuple[object, ...]:
    """What tells the position on a board from any other."""
    return row.started, row.moves, row.turn, row.ended, row.changed


def _changing(row: BoardRow) -> tuple[object, ...]:
    """What everybody can see change on a board."""
    return *position(row), row.vote, row.voter


def pipe_ended(seconds: float) -> bool:
    """Whether standard input ends in so many seconds; a byte there ends the rest."""
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], seconds)
    return bool(ready) and not os.read(sys.stdin.fileno(), 65536)


def rested(seconds: float) -> bool:
    """Whether it is over after so many seconds of rest: never, for a signal ends the process."""
    time.sleep(seconds)
    return False
