"""Prints the tables of docs/results.md that robots play for: ``python tests/bench/results.py [BOARD...] [--level=4]``.

A robot plays against itself. The table tells how often the first player has won, how long a game was, and by how many
points Black was ahead in Spora, without the komi: the median, and an interval of it from the ranks of the games that
holds in 95 % of such samples, whatever their distribution (David and Nagaraja, "Order Statistics", 2003, section 7.1).
"""

import argparse
import sys
from collections.abc import Sequence
from math import comb
from random import Random
from statistics import mean, median, stdev
from typing import Any, NamedTuple

import games
from games import SKIP, Options, State, thrown
from pbm.lab.evidence import wilson
from pbm.robots import Player

BOARDS = {
    "spora -size=5": 100,
    "spora -size=7": 60,
    "spora -size=9": 40,
    "spora -size=11": 20,
    "spora -size=13": 12,
    "spiro -small": 100,
    "spiro": 60,
    "symple -size=5": 100,
    "symple -size=7": 40,
    "symple -size=9": 30,
    "sprout -board=limping-3": 60,
    "sprout -board=limping-5": 20,
    "papagra -size=3": 60,
    "papagra -size=4": 30,
}
"""How many games are played on each board, unless told."""
LONGEST = 600
"""After so many turns a game is counted as one without an end."""
CONFIDENCE = 0.95


class Played(NamedTuple):
    """How a game ended."""

    points: float
    """Of the first player; half a point for a draw, and for a game without an end."""
    turns: int
    lead: float
    """How many points Black had more than White without the komi, in Spora."""
    is_over: bool
    is_swept: bool
    """Whether a side had nothing left, in Spora."""


def play(game: str, options: Options, level: int, rng: Random) -> Played:
    """Let a robot play against itself."""
    player = Player(game, options, level=level, rng=rng)
    states: list[State] = [thrown(games.load(game).new(**options), rng)]
    while (result := states[-1].result()) is None and len(states) <= LONGEST:
        state = states[-1]
        states.append(thrown(state.play(SKIP if state.must_skip else player.think(states).move), rng))
    end: Any = states[-1]
    winner = None if result is None else result.winner
    points = 0.5 if winner is None else 1.0 - end.seats[winner]
    lead = end.scores[0] - (end.scores[1] - end.komi - 0.5) if game == "spora" else 0.0
    is_swept = game == "spora" and abs(lead) == options["size"] ** 2
    return Played(points, len(states) - 1, lead, result is not None, is_swept)


def ranks(number: int) -> tuple[int, int]:
    """Between which of so many values in order, counted from 0, the median lies with that confidence."""
    below, outside = 0.0, (1 - CONFIDENCE) / 2
    for rank in range(number // 2):
        below += comb(number, rank) / 2**number
        if below > outside:
            return max(0, rank - 1), number - max(1, rank)
    return 0, number - 1


def row(board: str, found: Sequence[Played]) -> str:
    """A row of a table in Markdown."""
    points = sum(one.points for one in found)
    low, high = wilson(points, len(found))
    lengths = [one.turns for one in found]
    spread = 2 * stdev(lengths) / len(found) ** 0.5
    cells = [
        board,
        str(len(found)),
        f"{points / len(found):.0%} [{low:.0%}, {high:.0%}]",
        f"{mean(lengths):.0f} ± {spread:.0f}",
    ]
    cells.append(str(sum(not one.is_over for one in found)))
    if board.startswith("spora"):
        leads = sorted(one.lead for one in found)
        first, last = ranks(len(leads))
        cells.append(f"{median(leads):g} [{leads[first]:g}, {leads[last]:g}]")
        cells.append(str(sum(one.is_swept for one in found)))
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Play, and print a row for each board as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="*", default=BOARDS, metavar="BOARD")
    parser.add_argument("--level", type=int, default=4)
    parser.add_argument("--games", type=int)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    for board in told.boards:
        game, *words = board.split()
        options = games.read_options(games.load(game), words)
        number = told.games or BOARDS[board]
        found = [play(game, options, told.level, Random(f"{told.seed} {board} {each}")) for each in range(number)]
        sys.stdout.write(row(board, found))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
