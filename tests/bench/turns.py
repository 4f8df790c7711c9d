"""How fast the games are, beside the plain references of the tests: ``python tests/bench/turns.py [--quick]``.

A turn is chosen at random, parsed and played, by one thread. The reference checks and plays the same turns, which takes
less: it is told them. Games and reference run in turn; the figures are medians. No figure makes the run fail.
"""

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

import games
from games import SKIP

LONGEST = 400
"""Turns after which a game is left; not every random game ends by itself."""


class Case(NamedTuple):
    """A game with its options, and the turns a second that it aims at."""

    game: str
    options: str
    aim: int | None = None


CASES = (
    *(Case("symple", f"-size={size}", {19: 10_000}.get(size)) for size in (5, 9, 13, 19, 25)),
    *(Case("spora", f"-size={size}", {9: 4_000, 13: 2_000}.get(size)) for size in (5, 9, 13, 19)),
    *(Case("papagra", f"-size={size}", {6: 3_000}.get(size)) for size in (3, 4, 6, 8, 10)),
    *(
        Case("sprout", f"-board={board}", {"limping-5": 1_000}.get(board))
        for board in ("limping-3", "limping-5", "limping-7", "hex-6", "cairo-1", "cairo-2", "square-9")
    ),
)


def random_game(case: Case, rng: Random) -> list[str]:
    """Play a game with its own functions; the turns that were played."""
    rules = games.load(case.game)
    state, played = rules.new(**games.read_options(rules, case.options.split())), []
    while not state.result() and len(played) < LONGEST:
        move = SKIP if state.must_skip else state.parse(state.random(rng))
        state = state.play(move)
        played.append(move)
    return played


def replay(case: Case) -> Callable[[str], object]:
    """What plays a turn in a new game of the reference."""
    reference = import_module(f"reference_{case.game}")
    value = case.options.partition("=")[2]
    if case.game == "symple":
        position = reference.Position(int(value))

        def play_if_legal(move: str) -> None:
            stones = position.read(move)
            if position.is_legal(stones):
                position.play(stones)

        return play_if_legal
    if case.game == "papagra":
        play: Callable[[str], object] = reference.Papagra(int(value), 0).play
    else:
        play = reference.Reference(value if case.game == "sprout" else int(value)).play
    return play


def measured(case: Case, seconds: float) -> Iterator[tuple[float, float]]:
    """Turns a second of the game and of its reference, for one random game after the other."""
    rng, end = Random(3), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        moves = random_game(case, rng)
        middle = time.perf_counter()
        play, told = replay(case), time.perf_counter()
        count = 0
        for move in moves:
            play(move)
            count += 1
            if time.perf_counter() - told > seconds:
                break
        yield len(moves) / (middle - start), count / (time.perf_counter() - told)


def main() -> None:
    """Print a line for each game and size."""
    sys.path.insert(0, str(Path(__file__).parents[1]))  # where the references are
    for case in CASES:
        fast, plain = map(median, zip(*measured(case, 0.3 if "--quick" in sys.argv else 2), strict=True))
        aim = f">= {case.aim:,}" if case.aim else ""
        what = f"{case.game} {case.options}"
        figures = f"{fast:,.0f} / {plain:,.0f} turns a second"
        sys.stdout.write(f"{what:<28}{figures:<36}{fast / plain:7.1f}  {aim}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
