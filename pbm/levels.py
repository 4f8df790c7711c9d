"""How well robots play: a row for each level, the lowest first.

Add a row to add a level: `pbm robot` and `pbm robots` take its number, and a new database has a robot of that level.
The last level thinks for a minute or more about a move, as people who play by mail may do. A new level stands before
it. In a database that exists, a robot of the last level keeps its number, and so plays at the new level.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Level(NamedTuple):
    """How well a robot plays a game."""

    playouts: int | None
    """How many playouts it has for a move; None for as many as there is time for."""
    slips: float = 0
    """The probability with which it plays a random turn instead."""


GAMES = "papagra", "spiro", "spora", "sprout", "symple"
"""The games that have a module of `pbm.robots`, which knows more than their rules."""
LEVELS: Sequence[Sequence[Level]] = (
    (Level(1, 0.5), Level(1, 0.6), Level(1, 0.65), Level(8), Level(8), Level(8, 0.3)),
    (Level(1), Level(1, 0.4), Level(1, 0.45), Level(24), Level(32), Level(16, 0.1)),
    (Level(6), Level(1, 0.2), Level(5, 0.35), Level(80), Level(128), Level(50)),
    (Level(12), Level(1, 0.05), Level(25, 0.25), Level(256), Level(512), Level(150)),
    (Level(1000), Level(8_000), Level(100), Level(2048), Level(2048), Level(500)),
    (Level(None),) * 6,
)
"""Each level in each of GAMES; the last column is for all other games."""
LEVEL_NUMBERS = range(1, len(LEVELS) + 1)
"""The numbers of the levels, as users write them."""
USUAL_LEVEL = 3
"""The level of a robot that was not told another one."""
PATIENT_SECONDS = 60.0
"""How long a robot thinks about a move if neither its level nor its user says so."""


def thinks_in_idle_time(level: int | None) -> bool:
    """Whether a level thinks for as long as it may, which a server does in idle time."""
    return level is not None and LEVELS[level - 1][0].playouts is None


GUEST_LEVELS = [level for level in LEVEL_NUMBERS if not thinks_in_idle_time(level)]
"""The levels for guests, who wait on a page for each answer."""


def levels(game: str) -> list[Level]:
    """The levels in a game, the lowest first."""
    column = GAMES.index(game) if game in GAMES else -1
    return [row[column] for row in LEVELS]
