"""What is known of any game that fits the protocol of `games`: its rules, and games played at random."""

from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import games
from games import SKIP, State, thrown
from pbm.robots.search import Knowledge

CUT_AFTER = 400
"""After how many turns a game that is played at random is cut, at first."""
CUT_AT_LEAST = 50
"""The number of turns is halved each time that a game was cut, but not below this."""


class Rules(Knowledge[State, str]):
    """A `Knowledge` of a game that is its rules alone. Positions and turns are those of the game.

    A side is here a player: 0 is the one who was named first, also where a rule swaps sides.
    """

    def __init__(self, game: str) -> None:
        """Load the game. Raises LookupError if there is no such game."""
        self.own_playout = getattr(games.load(game), "playout", None)
        self.longest = CUT_AFTER

    def root(self, states: Sequence[State]) -> State:
        """The last position."""
        return states[-1]

    def side(self, position: State) -> int:
        """The player to move."""
        return position.seats[position.turn]

    def outcome(self, position: State) -> float | None:
        """What the result is worth for player 0."""
        result = position.result()
        if result is None:
            return None
        if result.winner is None:
            return 0.5
        return 1.0 - position.seats[result.winner]

    def needs_dice(self, position: State) -> bool:
        """Whether dice are needed, and not yet there."""
        return games.needs_dice(position) and not position.dice

    def throw(self, position: State, rng: Random) -> tuple[tuple[int, ...], State]:
        """Any throw."""
        state: Any = thrown(position, rng)
        return tuple(sorted(state.dice)), state

    def turns(self, position: State, most: int, rng: Random) -> list[str]:
        """All turns if there are at most *most*, else some at random; in any order, as nothing is known of them."""
        turns = self.all_turns(position, most)
        if turns is None:
            return list(dict.fromkeys(position.random(rng) for _ in range(most)))
        rng.shuffle(turns)
        return turns

    def all_turns(self, position: State, most: int) -> list[str] | None:
        """As the game lists them; a skip is one."""
        if position.must_skip:
            return [SKIP]
        turns = list(islice(position.moves(), most + 1))
        return turns if len(turns) <= most else None

    def play(self, position: State, turn: str) -> State:
        """As the game does it."""
        return position.play(turn)

    def playout(self, position: State, rng: Random) -> float:
        """The game's own playout if it offers one, else turns at random to the end.

        If it takes too many turns or too much time, the greater score wins.
        """
        if self.own_playout:
            return float(self.own_playout(position, rng))
        for _ in range(self.longest):
            worth = self.outcome(position)
            if worth is not None:
                return worth
            if self.limit.is_time_up:
                return leader(position)
            position = thrown(position, rng)
            position = position.play(SKIP if position.must_skip else position.random(rng))
        self.longest = max(CUT_AT_LEAST, self.longest // 2)
        return leader(position)

    def text(self, position: State, turn: str) -> str:
        """The turn itself."""
        return turn


def leader(state: State) -> float:
    """What a game that has not ended is taken to be worth for the first player: a win for the greater score."""
    scores = list(state.view()["scores"].values())
    if len(scores) < len(state.seats) or scores[0] == scores[1]:
        return 0.5
    leading_side = 0 if scores[0] > scores[1] else 1
    return 1.0 - state.seats[leading_side]
