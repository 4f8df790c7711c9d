"""Robots choose moves. They know the games, but no users, numbers of boards, mail or storage."""

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random

from games import Options, State
from pbm.levels import GAMES, PATIENT_SECONDS, USUAL_LEVEL, levels
from pbm.robots.general import Rules
from pbm.robots.search import Search
from pbm.robots.thinking import Limit, Thinker, Thought


def thinker(game: str, options: Options) -> Thinker:
    """Our best `Thinker` for a game. Raises LookupError if there is no such game."""
    if game not in GAMES:
        return Search(Rules(game))
    own: Thinker = import_module(f"{__name__}.{game}").thinker(options)
    return own


class Player:
    """A robot in one game."""

    def __init__(
        self,
        game: str,
        options: Options,
        *,
        level: int | None = None,
        seconds: float | None = None,
        playouts: int | None = None,
        rng: Random,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Make a robot that plays at a level, from 1 on, or thinks for so long about a move, or both.

        Told nothing, it plays at the `USUAL_LEVEL`. The *clock* tells the seconds. Raises LookupError if there is no
        such game, or no such level.
        """
        if level is None and seconds is None and playouts is None:
            level = USUAL_LEVEL
        self.rng = rng
        self.clock = clock
        self.playouts = playouts
        self.slips = 0.0
        if level:
            self.playouts, self.slips = levels(game)[level - 1]
        self.seconds = seconds
        if seconds is None and self.playouts is None:
            self.seconds = PATIENT_SECONDS
        self.thinker = thinker(game, options)

    def think(self, states: Sequence[State]) -> Thought:
        """A move in the last of these positions, as of `Thinker.think`; at lower levels it can be one at random."""
        thought = self.thinker.think(states, Limit(self.seconds, self.playouts, self.clock), self.rng)
        if self.slips and thought.chance < 1 and self.rng.random() < self.slips:  # a win that is seen is played
            move = states[-1].random(self.rng)
            return thought._replace(move=move, line=(move,))
        return thought
