"""OpenSpiel on our rules, for comparison. `openspiel.install` comes first."""

import time
from collections.abc import Sequence
from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts

from games import SKIP, State
from pbm.robots.general import Rules

SAMPLED = 30
"""How many turns a node has to choose between."""


class Spot:
    """A position in the tree of OpenSpiel, with the turns that were sampled there once."""

    def __init__(self, state: State, rules: Rules, rng: Random) -> None:
        self.state = state
        self.rules = rules
        self.rng = rng
        self.worth = rules.outcome(state)
        self.is_chance = self.worth is None and rules.needs_dice(state)
        self.turns: list[str] = []
        self.after: dict[int, Spot] = {}

    def sample(self) -> list[str]:
        """30 turns at random, or fewer if some came twice."""
        if not self.turns:
            state = self.state
            sampled = [SKIP] if state.must_skip else [state.random(self.rng) for _ in range(SAMPLED)]
            self.turns = list(dict.fromkeys(sampled))
        return self.turns

    def throws(self) -> list[tuple[tuple[int, ...], float]]:
        """The throws of the dice, in which their order does not matter, with their probabilities."""
        number = self.state.dice_needed
        all_throws = [tuple(sorted(throw)) for throw in product(range(1, 7), repeat=number)]
        return [(throw, all_throws.count(throw) / len(all_throws)) for throw in dict.fromkeys(all_throws)]

    def follow(self, action: int) -> "Spot":
        """The position after an action, which is the number of a turn or of a throw."""
        if action not in self.after:
            if self.is_chance:
                state = self.state.roll(self.throws()[action][0])
            else:
                state = self.state.play(self.sample()[action])
            self.after[action] = Spot(state, self.rules, self.rng)
        return self.after[action]


class Position:
    """What MCTSBot asks of a state of OpenSpiel, over our rules."""

    def __init__(self, spot: Spot) -> None:
        self.spot = spot

    def clone(self) -> Self:
        return type(self)(self.spot)

    def is_terminal(self) -> bool:
        return self.spot.worth is not None

    def is_chance_node(self) -> bool:
        return self.spot.is_chance

    def current_player(self) -> int:
        return pyspiel.PlayerId.CHANCE if self.spot.is_chance else self.spot.rules.side(self.spot.state)

    def legal_actions(self, _: int | None = None) -> list[int]:
        return list(range(len(self.spot.sample())))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(number, part) for number, (_, part) in enumerate(self.spot.throws())]

    def apply_action(self, action: int) -> None:
        self.spot = self.spot.follow(int(action))

    def returns(self) -> list[float]:
        return _returns(0.5 if self.spot.worth is None else self.spot.worth)


def _returns(worth: float) -> list[float]:
    """Of both players, from what a game is worth for the first one."""
    return [2 * worth - 1, 1 - 2 * worth]


class Rollouts(mcts.RandomRolloutEvaluator):
    """Rollouts by `State.random`, which is kinder than to list 30 turns at every step."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self.rng = rng

    def evaluate(self, state: Position) -> Any:
        """What one game at random was worth."""
        return np.array(_returns(state.spot.rules.playout(state.spot.state, self.rng)))


class TimeIsUp(Exception):
    """Ends a search."""


class Timed(mcts.MCTSBot):
    """MCTSBot with a limit of CPU time in place of one of simulations."""

    until = 0.0
    root: Any = None

    def _apply_tree_policy(self, root: Any, state: Position) -> Any:
        self.root = root
        if root.children and time.process_time() >= self.until:
            raise TimeIsUp
        return super()._apply_tree_policy(root, state)


class Spiel:
    """OpenSpiel's bot as a player: √2, its solver on, one rollout for each leaf."""

    def __init__(self, game: str, seconds: float, rng: Random) -> None:
        self.rules = Rules(game)
        self.seconds = seconds
        self.rng = rng
        kind = SimpleNamespace(
            reward_model=pyspiel.GameType.RewardModel.TERMINAL, dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL
        )
        about = SimpleNamespace(get_type=lambda: kind, max_utility=lambda: 1.0)
        seeded = np.random.RandomState(rng.randrange(2**32))
        self.bot = Timed(about, 2**0.5, 10**9, Rollouts(rng), solve=True, random_state=seeded)

    def move(self, states: Sequence[State]) -> str:
        """Its turn in the last of these positions."""
        spot = Spot(states[-1], self.rules, self.rng)
        self.bot.until = time.process_time() + self.seconds
        try:
            root = self.bot.mcts_search(Position(spot))
        except TimeIsUp:
            root = self.bot.root
        return spot.turns[root.best_child().action]


def go_playouts(seconds: float) -> float:
    """Random games of go 19 by OpenSpiel, played from Python, a second of CPU time."""
    game, rng = pyspiel.load_game("go(board_size=19)"), Random(1)
    begun, number = time.process_time(), 0
    while time.process_time() - begun < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        number += 1
    return number / (time.process_time() - begun)
