"""How well the robots play, beside each other, OpenSpiel's MCTSBot, and themselves without their knowledge.

Words choose what is played, those of one kind together: boards by their game or by all of it (symple, or symple-9),
``usual`` for one board of each game as it is usually played; matches by levels, random, openspiel and knowledge, or by
a pair of levels such as 3-2. Without words, everything is played on the small boards, which takes days.

Games are played in pairs with sides changed and with the same dice. All times are CPU time, so that it does not matter
what else the machine does. Each line has the games that the first side won, drew and lost, its score, and Wilson's
interval of 95 %. No figure makes the run fail.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from random import Random
from typing import NamedTuple

import games
from games import SKIP, Options, State, thrown
from pbm.lab.evidence import wilson
from pbm.levels import levels
from pbm.robots import Player, thinker
from pbm.robots.general import Rules, leader
from pbm.robots.search import Search
from pbm.robots.thinking import Limit, Thinker

from openspiel import install

MOST_TURNS = 1000
"""After how many turns a game is given to the leader."""
BOARDS = {
    "symple-9": "-size=9",
    "spora-7": "-size=7",
    "spora-9": "-size=9",
    "papagra-4": "-size=4",
    "sprout-limping-5": "-board=limping-5",
    "spiro-small": "-small",
}
USUAL = {"symple-19": "", "spora-13": "", "papagra-6": "", "sprout-limping-7": "-board=limping-7", "spiro-medium": ""}
KINDS = "levels", "random", "openspiel", "knowledge"
QUICK, SLOW = 0.1, 1.0
"""The seconds a move of a robot, and of OpenSpiel where it has ten times as many."""
Mover = Callable[[Sequence[State]], str]
"""Who chooses a move in the last of these positions."""


class Side(NamedTuple):
    """Who plays, so that another process can make him."""

    name: str
    kind: str
    amount: float

    def sit(self, game: str, options: Options, rng: Random) -> Mover:
        """Make him for a game."""
        if self.kind == "random":
            return lambda states: states[-1].random(rng)
        if self.kind == "level":
            player = Player(game, options, level=int(self.amount), rng=rng)
            return lambda states: player.think(states).move
        if self.kind == "openspiel":
            install()
            from spiel import Spiel

            return Spiel(game, self.amount, rng).move
        robot = thinker(game, options) if self.kind == "robot" else Search(Rules(game))
        return partial(_timed, robot, self.amount, rng)


def _timed(robot: Thinker, seconds: float, rng: Random, states: Sequence[State]) -> str:
    return robot.think(states, Limit(seconds, clock=time.process_time), rng).move


class Match(NamedTuple):
    """Two sides on a board, and how much the first one shall reach."""

    board: str
    first: Side
    second: Side
    aim: float


class Outcome(NamedTuple):
    """A game of a match."""

    points: float
    turns: int
    seconds: tuple[float, float]
    """CPU time of both sides."""


def matches(words: Sequence[str]) -> Iterator[Match]:
    """What these words choose."""
    kinds = [word for word in words if word in KINDS or word.replace("-", "").isdigit()] or KINDS
    named = USUAL if "usual" in words else BOARDS
    chosen = [board for board in named if board in words or board.partition("-")[0] in words]
    for board in chosen or named:
        game = board.partition("-")[0]
        has_dice = game == "spiro"
        most = sum(level.playouts is not None for level in levels(game))
        for kind in kinds:
            if kind == "random":
                aim = 0.75 if has_dice else 0.95
                yield Match(board, _level(1), Side("random play", "random", 0), aim)
            elif kind == "openspiel":
                against = QUICK if has_dice else SLOW
                bot = Side(f"MCTSBot {against} s", "openspiel", against)
                yield Match(board, Side(f"robot {QUICK} s", "robot", QUICK), bot, 0.8)
            elif kind == "knowledge":
                plain = Side(f"without knowledge {QUICK} s", "general", QUICK)
                yield Match(board, Side(f"robot {QUICK} s", "robot", QUICK), plain, 0.65)
            elif kind == "levels":
                for level in range(2, most + 1):
                    yield Match(board, _level(level), _level(level - 1), 0.57 if has_dice else 0.6)
            else:
                high, low = map(int, kind.split("-"))
                yield Match(board, _level(high), _level(low), 0.57 if has_dice else 0.6)


def _level(number: int) -> Side:
    return Side(f"level {number}", "level", number)


def play(match: Match, seed: int, number: int) -> Outcome:
    """A game; even numbers are begun by the first side, and each two have the same dice."""
    game, options = match.board.partition("-")[0], {**BOARDS, **USUAL}[match.board]
    rules = games.load(game)
    settings = games.read_options(rules, options.split())
    dice = Random(f"{seed} {number // 2}")
    beginner = number % 2
    movers = [
        side.sit(game, settings, Random(f"{seed} {number} {who}"))
        for who, side in enumerate((match.first, match.second))
    ]
    states, spent = [thrown(rules.new(**settings), dice)], [0.0, 0.0]
    while len(states) <= MOST_TURNS and not (state := states[-1]).result():
        if state.must_skip:
            move = SKIP
        else:
            who = state.seats[state.turn] ^ beginner
            begun = time.process_time()
            move = movers[who](states)
            spent[who] += time.process_time() - begun
        states.append(thrown(state.play(move), dice))
    state, result = states[-1], states[-1].result()
    worth = leader(state) if result is None else Rules(game).outcome(state)
    return Outcome(1 - worth if beginner else worth, len(states) - 1, (spent[0], spent[1]))


def run(match: Match, number: int, seed: int, workers: int) -> str:
    """The line that tells what a match has come to."""
    numbers = range(number + number % 2)
    if workers > 1:
        with ProcessPoolExecutor(workers) as pool:
            waiting = [pool.submit(play, match, seed, one) for one in numbers]
            outcomes = [one.result() for one in as_completed(waiting)]
    else:
        outcomes = [play(match, seed, one) for one in numbers]
    points = [one.points for one in outcomes]
    low, high = wilson(sum(points), len(points))
    counts = ", ".join(str(points.count(worth)) for worth in (1, 0.5, 0))
    turns = sum(one.turns for one in outcomes)
    seconds = [2 * sum(one.seconds[who] for one in outcomes) / max(turns, 1) for who in (0, 1)]
    return (
        f"{match.board:17} {match.first.name:12} - {match.second.name:25} {counts:>12} of {len(points):3}: "
        f"{sum(points) / len(points):.2f} [{low:.2f}, {high:.2f}], aim {match.aim:.2f}; "
        f"{turns / len(points):.0f} turns, {seconds[0]:.3f} and {seconds[1]:.3f} s a move"
    )


def _word(text: str) -> str:
    """A word that chooses something. Raises ArgumentTypeError if it chooses nothing."""
    known = {*KINDS, *BOARDS, *USUAL, "usual", *(board.partition("-")[0] for board in BOARDS)}
    if text not in known and not text.replace("-", "").isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} chooses nothing")
    return text


def main(args: Sequence[str]) -> None:
    """Play what the words choose."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", type=_word)
    for name, usual in (("games", 200), ("seed", 1), ("workers", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N")
    asked = parser.parse_args(args)
    for match in matches(asked.words):
        text = run(match, asked.games, asked.seed, asked.workers)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
