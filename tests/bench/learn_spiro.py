"""Learns what counts in Spiro: ``python tests/bench/learn_spiro.py [--games=6000] [--seed=1] [--board=small|medium]``.

The robot plays against itself, with the turn that looks best at once, but for some at random. After each game the
values of its positions are drawn towards what came later: TD(lambda) in its forward view (Sutton 1988, "Learning to
predict by the methods of temporal differences"; in backgammon Tesauro 1995). It begins with the race alone. Printed are
the tables of pbm/robots/spiro.py: the mean of what was learned in the second half of the games.
"""

import argparse
import sys
from math import exp, sqrt
from operator import mul
from random import Random

from games import spiro
from pbm.robots.spiro import DOUBT, WORTHS, Judge, Worth
from pbm.robots.spiro.positions import Sight, Track, seen

LAMBDA = 0.8
RATE = 0.01
"""How far a weight goes after a game, per error and as a part of what the weight is applied to, at first."""
STRAY = 0.05
"""How many turns are at random; three times as many at the beginning of a game."""
LONGEST = 300
"""After how many turns a game is not worth learning from."""
START = [0.4, *[0.0] * (1 + 2 * len(WORTHS))]
"""The lead, the turn, and what there is for each side."""


def judge_of(track: Track, weights: list[float]) -> Judge:
    """The judge that has these weights."""
    steepness, turn, *rest = weights
    moved, to_move = rest[: len(WORTHS)], rest[len(WORTHS) :]
    worths = [Worth(one / steepness, -other / steepness) for one, other in zip(moved, to_move, strict=True)]
    return Judge(track, worths, turn=turn / steepness, steepness=steepness)


def features(judge: Judge, sight: Sight) -> list[float]:
    """What the weights are applied to."""
    (way, counts), (enemy_way, enemy_counts) = judge.counted(sight)
    return [one / sqrt(way + enemy_way + DOUBT) for one in (enemy_way - way, 1.0, *counts, *enemy_counts)]


def chance(found: list[float], weights: list[float]) -> float:
    """The probability to win that the weights say."""
    return 1 / (1 + exp(-max(-30.0, min(30.0, sum(map(mul, found, weights))))))


def game(judge: Judge, start: Sight, rng: Random) -> list[list[list[float]]]:
    """The features of the positions of a game, cut into parts at each turn at random; the last side to move lost."""
    sight, parts = start, [list[list[float]]()]
    dice: tuple[int, ...] = (rng.randint(1, 6),)
    for number in range(LONGEST):
        outcomes = [*judge.track.outcomes(sight, dice)]
        afters = [judge.track.after(sight, *outcome) for outcome in outcomes] or [sight]
        won = any(after.has_won for after in afters)
        if won:
            return parts
        if rng.random() < (3 * STRAY if number < 8 else STRAY):
            sight = rng.choice(afters)
            parts.append([])
        else:
            sight = max(afters, key=judge.value)
        parts[-1].append(features(judge, sight))
        sight, dice = sight.turned, (rng.randint(1, 6), rng.randint(1, 6))
    return []


def learn(track: Track, pieces: int, games: int, rng: Random) -> list[float]:
    """The mean weights of the second half of so many games."""
    weights, total = [*START], [0.0] * len(START)
    squares, seen_positions = [0.01] * len(START), 1.0
    start = seen(spiro.new(small=track.length == 16, pieces=pieces))
    judge = judge_of(track, weights)
    for number in range(games):
        steps = [0.0] * len(weights)
        parts = game(judge, start, rng)
        later: float | None = 0.0  # what the side to move has; after the last turn it has lost
        for part in reversed(parts):
            for found in reversed(part):
                expected = chance(found, weights)
                if later is None:  # a turn at random says nothing of the position before it
                    later = 1 - expected
                    continue
                error = later - expected
                steps = [step + error * one for step, one in zip(steps, found, strict=True)]
                squares = [square + one * one for square, one in zip(squares, found, strict=True)]
                seen_positions += 1
                later = 1 - (LAMBDA * later + (1 - LAMBDA) * expected)
            later = None
        rate = RATE / (1 + 8 * number / games)
        weights = [weight + rate * step / (square / seen_positions)
                   for weight, step, square in zip(weights, steps, squares, strict=True)]  # fmt: skip
        weights[0] = max(weights[0], 0.2)  # or nobody would bring his pieces home any more
        if 2 * number >= games:
            total = [one + other for one, other in zip(total, weights, strict=True)]
        if number % 10 == 9:
            judge = judge_of(track, weights)
    return [one / (games - games // 2) for one in total]


def main() -> None:
    """Learn, and print what was learned."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--games", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--board", choices=("small", "medium"), default="small")
    given = parser.parse_args()
    small = given.board == "small"
    weights = learn(Track(small=small, no_inwards=False), 6 if small else 12, given.games, Random(given.seed))
    steepness, turn, *rest = weights
    lines = [
        f'    "{name}": Worth({moved / steepness:.2f}, {-to_move / steepness:.2f}),'
        for name, moved, to_move in zip(WORTHS, rest[: len(WORTHS)], rest[len(WORTHS) :], strict=True)
    ]
    sys.stdout.write("\n".join([*lines, f"TEMPO = {turn / steepness:.2f}", f"STEEPNESS = {steepness:.3f}", ""]))


if __name__ == "__main__":
    main()
