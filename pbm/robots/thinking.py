"""What it is to think about a position, whatever the game and whatever the way of thinking."""

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar

from games import State

P = TypeVar("P")
T = TypeVar("T")


class Thought(NamedTuple):
    """A move, and what the robot thinks of the position."""

    move: str
    """In canonical form."""
    chance: float
    """Of the player to move to win, from 0 to 1; a draw is half a win."""
    playouts: int = 0
    """How many games were played out, or positions valued where nothing is played out, to find that."""
    line: Sequence[str] = ()
    """How the game would go on, the move first."""


class Limit:
    """How long a robot may think: seconds, or a number of playouts, whatever comes first."""

    def __init__(
        self,
        seconds: float | None = None,
        playouts: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Begin to count; None is without limit."""
        self.playouts = playouts
        self.clock = clock
        self.until = None if seconds is None else clock() + seconds

    def part(self, share: float) -> "Limit":
        """The same limit, but for that share of the time that is left."""
        seconds = None if self.until is None else share * (self.until - self.clock())
        return Limit(seconds, self.playouts, self.clock)

    def is_reached(self, playouts: int) -> bool:
        """Whether it is time to move, after so many playouts."""
        return (self.playouts is not None and playouts >= self.playouts) or self.is_time_up

    @property
    def is_time_up(self) -> bool:
        """Whether the seconds are over, where there is such a limit."""
        return self.until is not None and self.clock() >= self.until


class Thinker(Protocol):
    """A way to choose moves in one game with its options. It can remember what it thought before, on the same board."""

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """A move in the last of these positions, which are those of the game so far, the first one first.

        The last one has its dice, is not over and need not be skipped. With the same *rng*, limited by playouts and
        without a memory, the same thought comes back.
        """


class Knowledge(Protocol[P, T]):
    """What a tree search knows of one game with its options: positions and turns of its own, on integers where it pays.

    Sides are those of the game: 0 is the one that moves first.
    """

    def root(self, states: Sequence[State]) -> P:
        """The last of these positions, which are those of the game so far."""

    def key(self, position: P) -> Any:
        """What is equal for equal positions and for no others, hashable; the search keeps its tree by it."""

    def side(self, position: P) -> int:
        """The side to move."""

    def outcome(self, position: P) -> float | None:
        """What the game was worth for side 0 if it is over: 1, 0, or 0.5 for a draw; None while it goes on."""

    def needs_dice(self, position: P) -> bool:
        """Whether the dice of this position are still to be thrown."""

    def throw(self, position: P, rng: Random) -> P:
        """The position with its dice thrown."""

    def turns(self, position: P, most: int, rng: Random) -> Sequence[T]:
        """At most so many different legal turns that make sense, those first that look best for the side to move.

        There is at least one: a forced skip is a turn, too.
        """

    def play(self, position: P, turn: T) -> P:
        """The position after one of these turns."""

    def playout(self, position: P, rng: Random) -> float:
        """What the game was worth for side 0 when it was played to its end, or as far as makes sense."""

    def expected(self, position: P) -> float | None:
        """What the game is worth for side 0, on average, by the looks of the position; None if they say too little."""

    def text(self, position: P, turn: T) -> str:
        """The turn in canonical form."""
