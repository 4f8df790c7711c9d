"""Learns what counts in Spiro: ``python tests/bench/learn_spiro.py [--board=small|medium] [--games=N] [--seed=N]``.

The robot plays against itself, with the turn that looks best at once, but for some at random. After each game the
values of its positions are drawn towards what came later: TD(lambda) in its forward view (Sutton 1988, "Learning to
predict by the methods of temporal differences"; in backgammon Tesauro 1995), by the steps of Adam (Kingma and Ba
2014). A later win counts less than an early one, or on the medium board games would not end. It begins with what was
learned before on the small board, and stores the mean of the last steps in pbm/robots/spiro/weights.json.

Positions, turns and learning are in learn_spiro.c, which gcc compiles. Before it learns, the program compares what C
and the robot find in some positions; afterwards it plays the learned values against the first ones, greedily.
"""

import argparse
import ctypes
import json
import subprocess
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from games import Options, spiro
from pbm.lab.evidence import wilson
from pbm.robots.spiro import TERMS, WEIGHTS, Judge, thinker
from pbm.robots.spiro.positions import Sight, seen

CELLS, ROWS = 66, 9
INPUTS = 2 + 2 * len(TERMS)
FIRST = (
    0.58, -1.4848,
    0.2088, 0.1856, -0.1508, 0.2958, 0.1508, -0.232, -1.9372, -0.7018,
    1.0788, -0.6264, -4.4312, 0.203, -1.9662, 0.464, -0.3654, 0.5336,
    -0.3712, -0.4292, 0.0522, -0.2958, 0.116, 0.1218, 0.5626, -0.174,
    -0.8352, 0.7134, 5.5274, -0.2494, 1.9314, -0.2436, 0.3364, -1.4442,
)  # fmt: skip
"""With what learning begins: the lead, the turn, and the terms of the side that has moved and of the other one."""
Weights = ctypes.c_float * (ROWS * INPUTS)
Row = ctypes.c_float * INPUTS


class Plan(ctypes.Structure):
    """How to learn."""

    _fields_ = (
        ("rate", ctypes.c_double),
        ("decay", ctypes.c_double),  # what is left of the rate at the end
        ("trace", ctypes.c_double),  # lambda
        ("discount", ctypes.c_double),  # how much of a result is left a turn earlier
        ("stray", ctypes.c_double),  # how many turns are at random; three times as many in the first eight
        ("games", ctypes.c_int64),
        ("batch", ctypes.c_int64),  # after how many games the weights change
        ("longest", ctypes.c_int64),  # after how many turns a game is a draw
        ("usual", ctypes.c_int64),  # up to how many turns all positions of a game count fully
    )


PLANS = {
    "small": Plan(1e-2, 0.03, 0.8, 1.0, 0.03, 20_000, 16, 300, 25),
    "medium": Plan(1e-2, 0.03, 0.8, 0.99, 0.03, 4_000, 16, 300, 80),
}


def compiled(folder: str, judge: Judge, pieces: int) -> ctypes.CDLL:
    """The program in C, for the board of this judge."""
    program = Path(folder, "learn_spiro.so")
    source = Path(__file__).with_suffix(".c")
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", program, source, "-lm"], check=True
    )
    library = ctypes.CDLL(str(program))
    track, cells = judge.track, judge.track.cells
    steps = [track.step[die][cell] for die in range(7) for cell in cells]
    hits = [throws for cell in cells for source in cells for throws in judge.own.hits[cell].get(source, (0, 0))]
    library.set_board(
        track.length,
        pieces,
        (ctypes.c_int * len(steps))(*steps),
        (ctypes.c_int * len(cells))(*track.across),
        (ctypes.c_double * len(track.ways))(*track.ways),
        (ctypes.c_uint64 * len(hits))(*hits),
    )
    return library


def compare(library: ctypes.CDLL, judge: Judge, options: Options) -> None:
    """Raises AssertionError if the program in C sees other turns than the robot, or counts otherwise."""
    rng = Random(1)
    state = spiro.new(**options)
    found, terms = (ctypes.c_uint8 * (4 * CELLS * 60_000))(), Row()
    for _ in range(60):
        state = state.roll(tuple(rng.randint(1, 6) for _ in range(state.dice_needed)))
        sight = seen(state)
        outcomes = judge.track.outcomes(sight, state.dice)
        afters = {judge.track.after(sight, *outcome) for outcome in outcomes} or {sight}
        number = library.outcomes(in_bytes(sight), *(*state.dice, 0)[:2], 60_000, found)
        assert number == len(afters), "the turns differ"
        after = rng.choice(sorted(afters))
        _, counted, doubt = judge.terms(after)
        library.terms_of(in_bytes(after), terms)
        assert all(abs(one / doubt - other) < 1e-4 for one, other in zip(counted, terms, strict=True)), "terms differ"
        state = state.play(state.random(rng))
        if state.result():
            state = spiro.new(**options)


def in_bytes(sight: Sight) -> bytes:
    """A position as the program in C has it."""
    return b"".join(row.ljust(CELLS, b"\0") for row in sight)


def main() -> None:
    """Learn, store what was learned, and print how well it plays."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--games", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--board", choices=tuple(PLANS), default="small")
    given = parser.parse_args()
    small = given.board == "small"
    options = {"small": small, "no_inwards": False, "pieces": 6 if small else 12}
    plan = PLANS[given.board]
    plan.games = given.games or plan.games
    with TemporaryDirectory() as folder:
        judge = thinker(options).judge
        library = compiled(folder, judge, int(options["pieces"]))
        compare(library, judge, options)
        first, learned = Weights(*FIRST * ROWS), Weights(*FIRST * ROWS)
        library.learn(learned, ctypes.byref(plan), ctypes.c_uint64(given.seed))
        for name, other, games in (("the first values", first, 2000), ("itself", learned, 400)):
            result = (ctypes.c_double * 3)()
            library.play_match(learned, other, games, 600, ctypes.c_uint64(given.seed + 1), result)
            points, unended, turns = result
            low, high = wilson(points, games)
            sys.stdout.write(
                f"against {name}: {points} of {games} [{low:.3f}, {high:.3f}], "
                f"{turns / games:.0f} turns, {unended:.0f} of {games} had not ended after 600\n"
            )
    stored = json.loads(WEIGHTS.read_text(encoding="ascii"))
    rows = [learned[at : at + INPUTS] for at in range(0, len(learned), INPUTS)]
    stored[given.board] = [[round(weight, 3) for weight in row] for row in rows]
    WEIGHTS.write_text(json.dumps(stored).replace("], ", "],\n") + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
