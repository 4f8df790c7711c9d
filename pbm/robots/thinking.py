"""What all ways to choose moves share, in all games: a thought, its limit, and the protocol of a thinker."""

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol

from games import State


class Thought(NamedTuple):
    """A move, and what the robot thinks of the position."""

    move: str
    """In canonical form."""
    chance: float
    """The chance of the player to move to win, from 0 to 1; a draw is half a win."""
    playouts: int = 0
    """How many games were played out for that, or positions valued where no games are played out."""
    line: Sequence[str] = ()
    """How the robot expects the game to go on, the move first."""
    rival: float = 1.0
    """The chance of the player to move to win by the best other turn that was looked at; 1 if that is not known."""


def guessed(chance: float) -> float:
    """A chance that is not proven, and so neither 0 nor 100 %."""
    return min(max(chance, 0.01), 0.99)


class Limit:
    """How long a robot may think: seconds, or a number of playouts, whatever comes first."""

    def __init__(
        self,
        seconds: float | None = None,
        playouts: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Begin to count the seconds; None means no limit."""
        self.playouts = playouts
        self.clock = clock
        self.until = None if seconds is None else clock() + seconds

    def part(self, share: float) -> "Limit":
        """A limit with only that share of the time that is left."""
        seconds = None if self.until is None else share * (self.until - self.clock())
        return Limit(seconds, self.playouts, self.clock)

    def earlier(self, seconds: float) -> "Limit":
        """A limit that ends so many seconds earlier."""
        left = None if self.until is None else self.until - self.clock() - seconds
        return Limit(left, self.playouts, self.clock)

    def is_reached(self, playouts: int) -> bool:
        """Whether it is time to move, after so many playouts."""
        if self.playouts is not None and playouts >= self.playouts:
            return True
        return self.is_time_up

    @property
    def is_time_up(self) -> bool:
        """Whether the seconds are over; False if they are not limited."""
        return self.until is not None and self.clock() >= self.until


class Thinker(Protocol):
    """A way to choose moves in one game with its options."""

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """A move in the last of these positions, which are those of the game so far, the first one first.

        The last one has its dice, is not over and need not be skipped. With the same *rng*, and limited by playouts,
        the same thought comes back.
        """
