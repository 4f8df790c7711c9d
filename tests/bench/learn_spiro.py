"""Learns what counts in Spiro: ``python tests/bench/learn_spiro.py [--board=small|medium] [--net] [--games=N]``.

The robot plays against itself, with the turn that looks best at once, but for some at random. After each game the
values of its positions are drawn towards what came later: TD(lambda) in its forward view (Sutton 1988, "Learning to
predict by the methods of temporal differences"; in backgammon Tesauro 1995), by the steps of Adam (Kingma and Ba
2014). A later win counts less than an early one, or on the medium board games would not end. It begins with what was
learned long ago on the small board, and stores the mean of the last steps in pbm/robots/spiro: weights.json has those
of the linear value, and with ``--net`` small.npz or medium.npz those of a network, which is added to it. On the medium
board the network is added to what is in weights.json, and leaves each game to that after some turns, or games would not
end. As a later win counted less, values are too close to even chances: they are stretched until they fit the results
of 600 games. With the same ``--seed`` it learns the same again on the same machine. The network of the small board
learned twice, the second time ``--net --again --seed=3 --rate=3e-3``.

Positions, turns and learning are in learn_spiro.c, which gcc compiles. Before it learns, the program compares what C
and the robot find in some positions; afterwards it plays the learned values against the first ones, greedily.
"""

import argparse
import ctypes
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from games import Options, spiro
from pbm.lab.evidence import wilson
from pbm.robots.spiro import FOLDER, LONG_GAME, TERMS, Judge, thinker
from pbm.robots.spiro.positions import SpiroPosition, position_of

CELLS, ROWS, HIDDEN, UNITS = 66, 9, 64, 5
"""As in learn_spiro.c."""
INPUTS = 2 + 2 * len(TERMS)
WIDE = INPUTS + 2 * UNITS * CELLS
PARAMETERS = ROWS * INPUTS + HIDDEN * (WIDE + 2)
FIRST = (
    0.58, -1.4848,
    0.2088, 0.1856, -0.1508, 0.2958, 0.1508, -0.232, -1.9372, -0.7018,
    1.0788, -0.6264, -4.4312, 0.203, -1.9662, 0.464, -0.3654, 0.5336,
    -0.3712, -0.4292, 0.0522, -0.2958, 0.116, 0.1218, 0.5626, -0.174,
    -0.8352, 0.7134, 5.5274, -0.2494, 1.9314, -0.2436, 0.3364, -1.4442,
)  # fmt: skip
"""With what learning begins: the lead, the turn, and the terms of the side that has moved and of the other one."""
SCALES = {
    "small": (
        2.0014138221740723, 20.0, 5.4268999099731445, 10.512850761413574, 16.14917755126953,
        4.0621795654296875, 4.296427249908447, 13.350436210632324, 19.353588104248047, 9.466535568237305,
        20.0, 14.606534957885742, 17.940750122070312, 2.460327386856079, 20.0,
        6.447048187255859, 2.140612840652466, 20.0, 5.055737495422363, 10.501358985900879,
        15.470614433288574, 3.643087863922119, 5.60747766494751, 15.078620910644531, 20.0,
        10.13206958770752, 20.0, 20.0, 18.5624942779541, 1.9507079124450684,
        20.0, 6.677704334259033, 2.238307237625122, 20.0,
    ),
    "medium": (
        0.9333825707435608, 20.0, 6.633612155914307, 12.868040084838867, 18.43260383605957,
        3.7959485054016113, 4.317512512207031, 6.12890625, 20.0, 7.044898986816406,
        20.0, 20.0, 15.826520919799805, 0.47512727975845337, 20.0,
        3.868396520614624, 0.5322037935256958, 20.0, 6.404460430145264, 12.79044246673584,
        18.026288986206055, 3.681943893432617, 4.726785182952881, 6.883453845977783, 20.0,
        7.3914971351623535, 20.0, 20.0, 16.1181583404541, 0.45018497109413147,
        20.0, 3.9265239238739014, 0.5401830077171326, 20.0,
    ),
}  # fmt: skip
"""What each input is multiplied by for the network: one over its standard deviation in games by the first values."""
Weights = np.ndarray[tuple[int], np.dtype[np.float32]]


class Plan(ctypes.Structure):
    """How to learn."""

    _fields_ = (
        ("rate", ctypes.c_double),
        ("linear", ctypes.c_double),  # times the rate, for the weights of the terms alone
        ("decay", ctypes.c_double),  # what is left of the rate at the end
        ("trace", ctypes.c_double),  # lambda
        ("discount", ctypes.c_double),  # how much of a result is left a turn earlier
        ("stray", ctypes.c_double),  # how many turns are at random; three times as many in the first eight
        ("games", ctypes.c_int64),
        ("batch", ctypes.c_int64),  # after how many games the weights change
        ("longest", ctypes.c_int64),  # after how many turns a game is a draw
        ("usual", ctypes.c_int64),  # up to how many turns all positions of a game count fully
        ("mixed", ctypes.c_int64),  # the linear values play on after a random number of turns below this; 0 if never
    )


PLANS = {
    ("small", False): Plan(1e-2, 1.0, 0.03, 0.8, 1.0, 0.03, 20_000, 16, 300, 25, 0),
    ("medium", False): Plan(1e-2, 1.0, 0.03, 0.8, 0.97, 0.03, 4_000, 16, 300, 80, 0),
    ("small", True): Plan(2e-3, 0.3, 0.03, 0.8, 0.995, 0.03, 1_200_000, 64, 150, 25, 0),
    ("medium", True): Plan(1e-3, 0.3, 0.03, 0.8, 0.99, 0.03, 12_000, 16, 400, 80, 120),
}


def compiled(folder: str, judge: Judge, pieces: int) -> ctypes.CDLL:
    """The program in C, for the board of this judge."""
    program = Path(folder, "learn_spiro.so")
    source = Path(__file__).with_suffix(".c")
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", program, source, "-lm"], check=True
    )
    library = ctypes.CDLL(str(program))
    library.sharpness.restype = ctypes.c_double
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
    found, terms = (ctypes.c_uint8 * (4 * CELLS * 60_000))(), (ctypes.c_float * INPUTS)()
    for _ in range(60):
        state = state.roll(tuple(rng.randint(1, 6) for _ in range(state.dice_needed)))
        position = position_of(state)
        outcomes = judge.track.outcomes(position, state.dice)
        afters = {judge.track.after(position, *outcome) for outcome in outcomes} or {position}
        number = library.outcomes(in_bytes(position), *(*state.dice, 0)[:2], 60_000, found)
        assert number == len(afters), "the turns differ"
        after = rng.choice(sorted(afters))
        _, counted = judge.terms(after)
        library.terms_of(in_bytes(after), terms)
        assert all(abs(one - other) < 1e-4 for one, other in zip(counted, terms, strict=True)), "terms differ"
        state = state.play(state.random(rng))
        if state.result():
            state = spiro.new(**options)


def in_bytes(position: SpiroPosition) -> bytes:
    """A position as the program in C has it."""
    return b"".join(row.ljust(CELLS, b"\0") for row in position)


def at(weights: Weights) -> ctypes.c_void_p:
    """Where the program in C finds them."""
    return ctypes.c_void_p(weights.ctypes.data)


def first_weights(seed: int, rows: Sequence[Sequence[float]]) -> Weights:
    """These linear values, and a network that adds nothing to them yet."""
    weights = np.zeros(PARAMETERS, np.float32)
    weights[: ROWS * INPUTS] = np.array(rows, np.float32).ravel()
    hidden = np.random.default_rng(seed).normal(0, 1, (WIDE, HIDDEN)).astype(np.float32) * np.float32(0.15)
    weights[ROWS * INPUTS : ROWS * INPUTS + WIDE * HIDDEN] = hidden.ravel()
    return weights


def stored_weights(board: str, size: int) -> Weights:
    """The network that the robot has now, as `store` wrote it."""
    with np.load(FOLDER / f"{board}.npz") as found:
        arrays = {name: found[name].astype(np.float32) for name in found}
    cells = np.zeros((2, size, UNITS, HIDDEN), np.float32)
    cells[:, :, :-1] = arrays["heights"].reshape(2, size, UNITS - 1, HIDDEN)
    cells[:, :, -1] = arrays["pinned"].reshape(2, size, HIDDEN)
    hidden = np.zeros((WIDE, HIDDEN), np.float32)
    hidden[:INPUTS] = arrays["terms"] / np.array(SCALES[board], np.float32)[:, None]
    hidden[INPUTS : INPUTS + 2 * UNITS * size] = cells.transpose(1, 0, 2, 3).reshape(-1, HIDDEN)
    return np.concatenate([arrays["linear"].ravel(), hidden.ravel(), arrays["bias"], arrays["out"]])


def store(weights: Weights, board: str, size: int, *, with_net: bool) -> None:
    """Write what was learned to where the robot reads it."""
    rows, hidden, out = np.split(weights, [ROWS * INPUTS, ROWS * INPUTS + WIDE * HIDDEN])
    if not with_net:
        path = FOLDER / "weights.json"
        stored = json.loads(path.read_text(encoding="ascii"))
        stored[board] = [[round(float(weight), 3) for weight in row] for row in rows.reshape(ROWS, INPUTS)]
        path.write_text(json.dumps(stored).replace("], ", "],\n") + "\n", encoding="ascii")
        return
    hidden = hidden.reshape(WIDE, HIDDEN)
    cells = hidden[INPUTS : INPUTS + 2 * UNITS * size].reshape(size, 2, UNITS, HIDDEN).transpose(1, 0, 2, 3)
    arrays = {
        "linear": rows.reshape(ROWS, INPUTS) if board == "medium" else np.tile(rows[:INPUTS], (ROWS, 1)),
        "terms": hidden[:INPUTS] * np.array(SCALES[board])[:, None],
        "heights": cells[:, :, :-1].reshape(-1, HIDDEN),
        "pinned": cells[:, :, -1].reshape(-1, HIDDEN),
        "bias": out[:HIDDEN],
        "out": out[HIDDEN:],
    }
    np.savez(FOLDER / f"{board}.npz", **{name: array.astype(np.float16) for name, array in arrays.items()})


def main() -> None:
    """Learn, store what was learned, and print how well it plays."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--games", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--board", choices=("small", "medium"), default="small")
    parser.add_argument("--net", action="store_true")
    parser.add_argument("--again", action="store_true", help="begin with the network that is stored")
    parser.add_argument("--rate", type=float)
    given = parser.parse_args()
    small = given.board == "small"
    options = {"small": small, "no_inwards": False, "pieces": 6 if small else 12}
    plan = PLANS[given.board, given.net]
    plan.games, plan.rate = given.games or plan.games, given.rate or plan.rate
    with TemporaryDirectory() as folder:
        judge = thinker(options).judge
        library = compiled(folder, judge, int(options["pieces"]))
        compare(library, judge, options)
        library.set_scale((ctypes.c_double * INPUTS)(*SCALES[given.board]))
        kind = int(not small or not given.net), int(given.net)
        library.set_kind(*kind)
        old = first_weights(given.seed, [FIRST] * ROWS)
        linear = first_weights(given.seed, judge.weights)
        learned = linear.copy() if all(kind) else old.copy()
        if given.again:
            learned = stored_weights(given.board, judge.track.size)
        library.learn(at(learned), at(linear), ctypes.byref(plan), ctypes.c_uint64(given.seed))
        turns = plan.mixed // 2 or 600
        sharpness = library.sharpness(at(learned), at(linear), turns, 600, 600, ctypes.c_uint64(given.seed))
        learned[: ROWS * INPUTS] *= sharpness
        learned[-HIDDEN:] *= sharpness  # what comes out of the network
        for name, other, others, games in (("the first values", old, (0, 0), 2000), ("itself", learned, kind, 400)):
            kinds, result = (ctypes.c_int * 4)(*kind, *others), (ctypes.c_double * 3)()
            weights, seed = (at(learned), at(other), at(linear)), ctypes.c_uint64(given.seed + 1)
            library.play_match(*weights, kinds, LONG_GAME[given.board], games, 600, seed, result)
            points, unended, turns = result
            low, high = wilson(points, games)
            sys.stdout.write(
                f"against {name}: {points} of {games} [{low:.3f}, {high:.3f}], "
                f"{turns / games:.0f} turns, {unended:.0f} of {games} had not ended after 600\n"
            )
    store(learned, given.board, judge.track.size, with_net=given.net)


if __name__ == "__main__":
    main()
