"""Learn what the robots of Symple and Sprout-R-Out take positions to be worth, and print it.

``python tests/bench/learn_values.py symple|sprout [--games=200] [--seed=1]``

Robots play against themselves with few playouts and now and then a turn at random, in Symple also by the policy of its
playouts alone. To all positions of these games a logistic regression is fitted: the differences of what both sides
have, and who is to move, each also times the part of the board that is empty. It needs numpy. With 200 games it takes
two minutes of CPU time for Sprout-R-Out, and four for Symple.
"""

import sys
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

import games
from games import State
from pbm.robots.general import Rules
from pbm.robots.search import Search, Tuning
from pbm.robots.sprout import Sprout
from pbm.robots.symple import Symple
from pbm.robots.thinking import Limit

POLICY_BOARDS = (7, 8), (9, 4), (9, 8), (13, 4), (13, 8), (19, 8), (19, 12)
"""On which boards of Symple, and with which penalties, the policy plays."""
SEARCH_BOARDS = (9, 30, 1.0), (13, 10, 0.06), (19, 6, 0.06)
"""On which the search plays, with how many playouts, and which part of the games."""
SEARCH_WEIGHT = 3.0
"""How much a game of the search counts beside one of the policy."""


class Sample(NamedTuple):
    """A position of a game, for the side to move."""

    more: Sequence[float]
    """What it has more of each thing than the other side, and 1 for the turn."""
    empty: float
    """The part of the board that is empty."""
    worth: float
    """What it got in the end."""
    weight: float = 1.0


def main(args: Sequence[str]) -> None:
    """Print the worths of a game: on a full board, and how much more on an empty one."""
    options = dict(arg[2:].split("=") for arg in args if arg.startswith("--"))
    number, seed = int(options.get("games", 200)), options.get("seed", "1")
    samples = [*(of_symple if "symple" in args else of_sprout)(number, seed)]
    full, more = fitted(samples)
    sys.stdout.writelines(f"({one:.3f}, {other:.3f})\n" for one, other in zip(full, more, strict=True))


def of_sprout(number: int, seed: str) -> Iterator[Sample]:
    """Positions of games on limping-5."""
    knowledge = Sprout("limping-5")
    rules, search = games.load("sprout"), Search(knowledge, Tuning(exploration=0.3))
    for states, worth in played(rules.new(board="limping-5"), "sprout", search, 100, number, Random(seed)):
        for end in range(1, len(states)):
            position = knowledge.root(states[:end])
            empty = knowledge.board.all & ~(position.stones[0] | position.stones[1])
            own, enemy = (knowledge.counts(position, side, empty) for side in (position.turn, 1 - position.turn))
            more = [a - b for a, b in zip(own, enemy, strict=True)]
            yield Sample([*more, 1.0], empty.bit_count() / len(knowledge.near), abs(worth - position.turn))


def of_symple(number: int, seed: str) -> Iterator[Sample]:
    """Positions of games by the policy and by the search, by what they would count on size 9."""
    rng = Random(seed)
    for size, penalty in POLICY_BOARDS:
        knowledge = Symple(size, penalty)
        for _ in range(number):
            position = knowledge.root([games.load("symple").new(size=size, penalty=penalty)])
            for _ in range(2 + rng.randrange(3)):
                position = knowledge.play(position, rng.choice(knowledge.turns(position, 6, rng)))
            turns: list[int] = []
            worth = knowledge.playout(position, rng, turns)
            for turn in turns:
                yield _seen(knowledge, position, worth, 1.0)
                position = knowledge.play(position, turn)
    for size, playouts, part in SEARCH_BOARDS:
        knowledge, start = Symple(size, 8), games.load("symple").new(size=size)
        search = Search(knowledge, Tuning(growth=0.25, at_root=14, inside=6))
        for states, worth in played(start, "symple", search, playouts, int(part * number), rng):
            for state in states[:-1]:
                yield _seen(knowledge, knowledge.root([state]), worth, SEARCH_WEIGHT)


def _seen(knowledge: Symple, position, worth: float, weight: float) -> Sample:
    own, enemy, own_rings, enemy_rings, turn = position
    vacant, scale = knowledge.board.all & ~(own | enemy), 9 / knowledge.board.size
    counts = knowledge.counts(own, own_rings, vacant), knowledge.counts(enemy, enemy_rings, vacant)
    more = [scale * (a - b) for a, b in zip(*counts, strict=True)]
    empty = vacant.bit_count() / knowledge.board.all.bit_count()
    return Sample([*more, scale], empty, abs(worth - turn), weight * scale)


def played(
    start: State, game: str, search: Search, playouts: int, number: int, rng: Random
) -> Iterator[tuple[list[State], float]]:
    """Games of a search against itself, with a turn at random here and there, and what they were worth for side 0."""
    for _ in range(number):
        states = [start]
        while not states[-1].result():
            move = search.think(states, Limit(playouts=playouts), rng).move
            if rng.random() < (0.5 if len(states) <= 2 else 0.05):
                move = states[-1].random(rng)
            states.append(states[-1].play(move))
        yield states, Rules(game).outcome(states[-1])


def fitted(samples: Sequence[Sample]) -> np.ndarray:
    """The weights of a logistic regression by Newton's method, with a little regard for small ones."""
    more, empty, worth, weight = (np.array(column) for column in zip(*samples, strict=True))
    columns = np.hstack([more, more * empty[:, None]])
    weights = np.zeros(columns.shape[1])
    for _ in range(20):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        gradient = columns.T @ (weight * (chance - worth)) + weights
        hessian = (columns * (weight * chance * (1 - chance))[:, None]).T @ columns + np.eye(len(weights))
        weights -= np.linalg.solve(hessian, gradient)
    return weights.reshape(2, -1)


if __name__ == "__main__":
    main(sys.argv[1:])
