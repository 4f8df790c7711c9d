"""Clocks that grow (Fischer's): each player has BASE, and gets INC for each move of their own, up to MAX."""

import re
from typing import Any, NamedTuple

from pbm import texts

HOUR_SECONDS = 3600
DAY_SECONDS = 24 * HOUR_SECONDS
LONGEST_DAYS = 3650
WRITTEN = "--clock=BASE+INC[/MAX] takes days, or hours with an h, such as --clock=10+2/14 or --clock=240h+36h."
TYPED_TIME = "([0-9]{1,5})(h?)"
MOST_REMINDED_SECONDS = 7 * DAY_SECONDS
"""How much time a player has left at the most when the first reminder comes, unless ``--nagtime`` says otherwise."""


class Clock(NamedTuple):
    """A clock that grows, such as ``10+2/14``: 10 days, 2 more for each move, and never more than 14 after one."""

    base: int
    """The seconds that each player has at the start."""
    increment: int
    """The seconds that a player gets for each move of their own."""
    most: int
    """The seconds that a player has at the most when they have moved."""

    @property
    def has_whole_days(self) -> bool:
        """Whether all its times are whole days."""
        return all(seconds % DAY_SECONDS == 0 for seconds in self)

    @property
    def text(self) -> str:
        """The clock as it is typed: in days if all its times are whole days, else in hours."""
        base, increment, most = (f"{seconds // HOUR_SECONDS}h" for seconds in self)
        if self.has_whole_days:
            base, increment, most = (str(seconds // DAY_SECONDS) for seconds in self)
        if self.most == self.base:
            return f"{base}+{increment}"
        return f"{base}+{increment}/{most}"

    @property
    def words(self) -> str:
        """The clock in words, such as ``10 days, 2 more for each move, 14 at most``."""
        unit = HOUR_SECONDS
        noun = "hour"
        if self.has_whole_days:
            unit = DAY_SECONDS
            noun = "day"
        base = texts.counted(self.base // unit, noun)
        return f"{base}, {self.increment // unit} more for each move, {self.most // unit} at most"

    @property
    def columns(self) -> dict[str, Any]:
        """What is stored of the clock on a new board."""
        return {
            "base_seconds": self.base,
            "increment_seconds": self.increment,
            "most_seconds": self.most,
            "first_left": float(self.base),
            "second_left": float(self.base),
        }

    @property
    def reminded_at(self) -> float:
        """The seconds that a player has left when the reminder comes, if ``--nagtime`` does not say so."""
        return min(self.base / 4, MOST_REMINDED_SECONDS)

    def after_move(self, left: float) -> float:
        """The seconds that a player has who had *left* seconds when they moved."""
        return min(self.most, max(0.0, left) + self.increment)


def parse(text: str) -> Clock:
    """The clock that somebody has typed behind ``--clock=``. Raises ValueError with a sentence for them."""
    match = re.fullmatch(rf"{TYPED_TIME}\+{TYPED_TIME}(?:/{TYPED_TIME})?", text.lower(), re.ASCII)
    if match is None:
        raise ValueError(WRITTEN)
    base = _seconds(match[1], match[2])
    increment = _seconds(match[3], match[4])
    most = base
    if match[5]:
        most = _seconds(match[5], match[6])
    if not base:
        raise ValueError(f"--clock={text}: BASE has to be an hour at least.")
    if most < base:
        raise ValueError(f"--clock={text}: MAX is the most that a player can have, so it cannot be below BASE.")
    if max(most, increment) > LONGEST_DAYS * DAY_SECONDS:
        raise ValueError(f"--clock={text}: {LONGEST_DAYS} days are the most.")
    return Clock(base, increment, most)


def _seconds(number: str, unit: str) -> int:
    """The seconds of a time as it is typed: in hours with the unit ``h``, else in days."""
    if unit == "h":
        return int(number) * HOUR_SECONDS
    return int(number) * DAY_SECONDS
