"""A robot that plays one game as well as it is told to."""

import time
from collections.abc import Sequence
from importlib import import_module
from random import Random

from games import Options, State
from pbm.levels import GAMES, USUAL_LEVEL, levels
from pbm.robots import general
from pbm.robots.thinking import Limit, Thinker, Thought


def thinker(game: str, options: Options) -> Thinker:
    """The best way that we have to choose moves in a game. Raises LookupError if there is no such game."""
    if game not in GAMES:
        return general.Generalist(game)
    found: Thinker = import_module(f"{__package__}.{game}").thinker(options)
    return found


class Player:
    """A robot in one game, which can remember what it thought as long as it is on the same board."""

    def __init__(
        self,
        game: str,
        options: Options,
        *,
        level: int | None = None,
        seconds: float | None = None,
        playouts: int | None = None,
        rng: Random,
    ) -> None:
        """Make a robot that plays at a level, from 1 on, or thinks for so long about a move, or both.

        Told nothing, it plays at the `USUAL_LEVEL`. Raises LookupError if there is no such game, or no such level.
        """
        if level is None and seconds is None and playouts is None:
            level = USUAL_LEVEL
        self.rng = rng
        self.seconds, self.playouts, self.slips = seconds, playouts, 0.0
        if level is not None:
            if level < 1:
                raise IndexError(level)
            of_level = levels(game)[level - 1]
            self.playouts = min(of_level.playouts, playouts or of_level.playouts)
            self.slips = of_level.slips
        self.thinker = thinker(game, options)

    def think(self, states: Sequence[State], begun: float | None = None) -> Thought:
        """A move in the last of these positions, as `Thinker.think`; at lower levels it can be one at random.

        The seconds count from when `time.perf_counter` was *begun*, or else from now on.
        """
        spent = 0 if begun is None else time.perf_counter() - begun
        seconds = None if self.seconds is None else max(0, self.seconds - spent)
        thought = self.thinker.think(states, Limit(seconds, self.playouts), self.rng)
        if self.slips and self.rng.random() < self.slips:
            move = states[-1].random(self.rng)
            return thought._replace(move=move, line=(move,))
        return thought
