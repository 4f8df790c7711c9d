"""Clocks: how long a player may take before he is reminded, before he forfeits, and in the whole game.

Times are whole days; vacations are days as well, in UTC.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pbm.store import BoardRow, Store

DAY = timedelta(days=1)
USUAL = 7, 21
"""After how many days without a move a player is reminded, and after how many he forfeits."""
IN_TOURNAMENTS = 1, 7
"""The same for tournament boards."""
MOST_DAYS = 3650
GRACE = timedelta(days=3)
"""For how long a player who is back from his vacation does not forfeit yet."""
OPTIONS: Mapping[str, str] = {"nagtime": "DAYS", "forfeittime": "DAYS", "totaltime": "DAYS"}
"""The clock options of a challenge."""


class Clocks(NamedTuple):
    """The clock options of a board, in days; None where the default holds."""

    nag: int | None = None
    forfeit: int | None = None
    total: int | None = None

    def limits(self, *, is_tournament: bool) -> tuple[int, int]:
        """After how many days a player is reminded and forfeits."""
        nag, forfeit = IN_TOURNAMENTS if is_tournament else USUAL
        return self.nag or nag, self.forfeit or forfeit

    @property
    def text(self) -> str:
        """The options as they are written."""
        return " ".join(f"--{name}={days}" for name, days in zip(OPTIONS, self, strict=True) if days)


def read(texts: Mapping[str, str | None], *, is_tournament: bool) -> tuple[Clocks, list[str]]:
    """The clocks that the options of a challenge set, and what is wrong with the options."""
    problems = []
    days: list[int | None] = []
    for name in OPTIONS:
        text = texts.get(name)
        number = int(text) if text and re.fullmatch("[0-9]{1,4}", text, re.ASCII) else 0
        days.append(number or None)
        if text is not None and not 1 <= number <= MOST_DAYS:
            problems.append(f"--{name}=DAYS takes a whole number of days from 1 to {MOST_DAYS}.")
    clocks = Clocks(*days)
    nag, forfeit = clocks.limits(is_tournament=is_tournament)
    if not problems and nag >= forfeit:
        problems.append(
            f"A player would be reminded after {nag} days and forfeit after {forfeit}; --nagtime has to be below "
            "--forfeittime."
        )
    return clocks, problems


def of(row: BoardRow) -> Clocks:
    """The clock options of a board."""
    return Clocks(row.nag_days, row.forfeit_days, row.total_days)


def limits(row: BoardRow) -> tuple[timedelta, timedelta]:
    """The age of a board at which the player to move is reminded, and at which he forfeits."""
    nag, forfeit = of(row).limits(is_tournament=row.pool is not None)
    return nag * DAY, forfeit * DAY


def age(row: BoardRow, now: datetime) -> timedelta:
    """How long ago the last move, undo or start of a board was."""
    return now - (row.changed or row.started)


def away_until(store: Store, userid: str, today: date) -> date | None:
    """The last day of the vacation that a user is on; None if he is on none."""
    return next((away.last for away in store.vacations(userid, today) if away.first <= today), None)


def is_spared(store: Store, userid: str, today: date) -> bool:
    """Whether a user does not forfeit, because he is on vacation or has just come back."""
    return any(away.first <= today for away in store.vacations(userid, today - GRACE))
