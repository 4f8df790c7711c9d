"""How many games a second the robots play out, beside random games of go 19 by OpenSpiel, played from Python.

``python tests/bench/playouts.py [GAME...] [--seconds=N]``

All in one process, in CPU time, go and each game in turn; the figures are medians. "Rules" are games by `State.random`
and `State.play`, "tight" those of the robot's own playout, both from the first position and cut where the robot cuts
them. No figure makes the run fail.
"""

import sys
import time
from collections.abc import Callable
from random import Random
from statistics import median

import games
from games import thrown
from pbm.robots import thinker
from pbm.robots.general import Rules

from openspiel import install

CASES = (
    ("symple", "-size=19", 2.5),
    ("symple", "-size=9", None),
    ("sprout", "-board=limping-5", 2.5),
)
"""Games with their options, and how many times as many playouts a second as go they aim at."""
ROUNDS = 3
"""How often go and a game are measured in turn."""
Playout = Callable[[Random], object]


def rate(playout: Playout, seconds: float) -> float:
    """Playouts a second of CPU time."""
    rng = Random(1)
    playout(rng)
    begun, number = time.process_time(), 0
    while time.process_time() - begun < seconds:
        playout(rng)
        number += 1
    return number / (time.process_time() - begun)


def by_rules(game: str, options: games.Options) -> Playout:
    """A game by its rules alone."""
    rules, start = Rules(game), games.load(game).new(**options)
    return lambda rng: rules.playout(thrown(start, rng), rng)


def tight(game: str, options: games.Options) -> Playout | None:
    """A game as the robot plays it out, if it does."""
    robot = thinker(game, options)
    knowledge = getattr(robot, "knowledge", robot)
    if not hasattr(knowledge, "playout") or isinstance(knowledge, Rules):
        return None
    rng = Random(2)
    root = getattr(knowledge, "root", lambda states: states[-1])
    starts = [root([thrown(games.load(game).new(**options), rng)]) for _ in range(20)]
    return lambda rng: knowledge.playout(rng.choice(starts), rng)


def main(args: list[str]) -> None:
    """Measure the games that are named, or all."""
    seconds = float(next((arg.partition("=")[2] for arg in args if arg.startswith("--seconds=")), 3))
    named = [arg for arg in args if not arg.startswith("--")]
    install()
    from spiel import go_playouts

    for game, words, aim in CASES:
        if named and game not in named:
            continue
        options = games.read_options(games.load(game), words.split())
        told = f"{rate(by_rules(game, options), seconds):8.1f} by rules"
        if quick := tight(game, options):
            pairs = [(go_playouts(seconds / ROUNDS), rate(quick, seconds / ROUNDS)) for _ in range(ROUNDS)]
            go, own = (median(rates) for rates in zip(*pairs, strict=True))
            times = median(own / go for go, own in pairs)
            told += f" {own:8.0f} tight, {go:4.0f} go: {times:5.2f} times" + (f", aim {aim}" if aim else "")
        sys.stdout.write(f"{game + ' ' + words:28} {told}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
