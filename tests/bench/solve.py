"""Solves small boards exactly: ``python tests/bench/solve.py [symple|spiro]...``; it needs a C compiler.

Printed are the rows of docs/results.md, and how many sampled positions a second solver agreed on, which knows only the
plain rules of tests/reference_symple.py and tests/reference_spiro.py. Symple 5 takes minutes and 1 GB of memory, and
small Spiro with two pieces more than seven minutes.
"""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import games
from games import SKIP, spiro, symple, thrown

from helpers.reference.spiro import Rules
from helpers.reference.symple import BLACK, WHITE, Position, point

FOLDER = Path(__file__).parent
SAMPLED = 100
"""How many positions the second solver looks at."""
PENALTIES = 8, 4
"""The penalties with which Symple 5 is solved: the usual one first."""
OPEN_POINTS = 5
"""So many vacant points a position of Symple has at most that is sampled; the plain rules are slow."""


@cache
def program(name: str, *options: str) -> str:
    """Compile a solver, and return its path."""
    path = f"{mkdtemp()}/{name}"
    subprocess.run(["cc", "-O2", *options, "-o", path, str(FOLDER / f"{name}.c"), "-lm"], check=True)
    return path


def answers(command: Sequence[str], lines: Iterable[str]) -> list[str]:
    """What a solver prints for some lines."""
    done = subprocess.run(
        command, input="\n".join(lines), text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    return done.stdout.splitlines()


# Symple


def symple_scores(size: int, positions: Iterable[tuple[int, Position]], entries: int = 1 << 26) -> list[int]:
    """By how many points the side to move wins each of some positions, with their penalties."""
    lines = []
    for penalty, position in positions:
        sides = (sum(1 << (x + size * y) for x, y in position.stones_of(colour)) for colour in (WHITE, BLACK))
        lines.append(" ".join(map(str, (penalty, *sides, int(position.turn == BLACK)))))
    found = answers([program("solve_symple", f"-DN={size}", f"-DENTRIES={entries}")], lines)
    return [int(line.split()[0]) for line in found]


def plain_score(position: Position, known: dict[Any, int]) -> int:
    """The same by the plain rules; what is *known* of positions grows."""
    side, scores = position.turn, position.scores()
    if not position.vacant():
        return int(scores[side] - scores[BLACK if side == WHITE else WHITE])
    key = side, frozenset(position.stones.items())
    if key not in known:
        known[key] = max(-plain_score(after(position, turn), known) for turn in position.moves())
    return known[key]


def after(position: Position, turn: str) -> Position:
    """A position after a turn."""
    found = copy(position)
    found.stones = dict(position.stones)
    found.play(turn)
    return found


def symple_positions(number: int, penalty: int, rng: Random, size: int = 5) -> list[Position]:
    """Positions near the ends of games at random."""
    found: list[Position] = []
    while len(found) < number:
        states: list[Any] = [symple.new(size=size, penalty=penalty)]
        while not states[-1].result():
            states.append(states[-1].play(states[-1].random(rng)))
        late = [state for state in states[:-1] if size * size - len(state.cells) <= OPEN_POINTS]
        state = rng.choice(late)
        stones = {point(name): BLACK if piece.upper() == "B" else WHITE for name, piece in state.cells.items()}
        found.append(Position(size, penalty, stones, (WHITE, BLACK)[state.turn]))
    return found


# Spiro


def spiro_chances(pieces: int, positions: Iterable[str], *, small: bool) -> tuple[float, list[float]]:
    """How likely the side that begins is to win, and so the side to move in each of some positions."""
    board = spiro.Board(small=small)
    walls = [board.jump.get(cell, -1) for cell in range(board.length)]
    command = [program("solve_spiro"), str(pieces), str(board.length), *map(str, walls)]
    first, *others = map(float, answers(command, positions))
    return first, others


def spiro_line(cells: dict[str, str], side: str, *, small: bool) -> str:
    """A position of stacks, as the solver reads it."""
    board = spiro.Board(small=small)
    turn = 0 if side == "X" else board.length
    own: list[tuple[int, int]] = []
    other: list[tuple[int, int]] = []
    for name, stack in cells.items():
        cell = (board.number[name] + turn) % (2 * board.length)
        for height, piece in enumerate(stack):
            is_pinned = height == 0 and stack[-1] != piece
            (own if piece == side else other).append((cell, is_pinned))
    both = [*sorted([*own, *[(2 * board.length, 0)] * 2][:2]), *sorted([*other, *[(2 * board.length, 0)] * 2][:2])]
    pins = sum(pinned << number for number, (_, pinned) in enumerate(both))
    return " ".join(map(str, (*(cell for cell, _ in both), pins)))


def spiro_checked(pieces: int, number: int, rng: Random, *, small: bool) -> tuple[float, float]:
    """How likely the side that begins is to win, and how far the solver is at most from the plain rules.

    In sampled positions, these say what the chances after all turns make of the chance before the dice are thrown.
    """
    rules, lines = Rules(small=small), []
    sampled: list[list[tuple[Fraction, list[int]]]] = []
    for cells, side in spiro_positions(pieces, number, rng, small=small):
        other = "O" if side == "X" else "X"
        lines.append(spiro_line(cells, side, small=small))
        throws = []
        for dice in combinations_with_replacement(range(1, 7), 2):
            ends = [dict(end) for end in rules.turns(cells, side, dice)] or [cells]
            numbers = []
            for end in ends:
                numbers.append(len(lines) if any(side in stack for stack in end.values()) else -1)
                lines += [spiro_line(end, other, small=small)] if numbers[-1] >= 0 else []
            throws.append((Fraction(1 if len({*dice}) == 1 else 2, 36), numbers))
        sampled.append(throws)
    first, chances = spiro_chances(pieces, lines, small=small)
    worst, at = 0.0, 0
    for throws in sampled:
        expected = sum(part * max(1 if one < 0 else 1 - chances[one] for one in ends) for part, ends in throws)
        worst = max(worst, abs(chances[at] - float(expected)))
        at += 1 + sum(one >= 0 for _, ends in throws for one in ends)
    return first, worst


def spiro_positions(pieces: int, number: int, rng: Random, *, small: bool) -> Iterable[tuple[dict[str, str], str]]:
    """Positions of games at random, and the side to move."""
    options = games.read_options(games.load("spiro"), [*["-small"] * small, f"-pieces={pieces}"])
    while number > 0:
        state: Any = thrown(spiro.new(**options), rng)
        states = []
        while not state.result():
            states.append(state)
            state = thrown(state.play(SKIP if state.must_skip else state.random(rng)), rng)
        view = rng.choice(states[1:]).view()
        yield dict(view["cells"]), view["turn"]
        number -= 1


def main(words: Sequence[str]) -> None:
    """Print what was asked for."""
    rng = Random(1)
    if "symple" in words or not words:
        for penalty in PENALTIES:
            sampled = symple_positions(SAMPLED, penalty, rng)
            start, *found = symple_scores(5, [(penalty, one) for one in [Position(5, penalty), *sampled]])
            agreed = sum(plain_score(one, {}) == score for one, score in zip(sampled, found, strict=True))
            sys.stdout.write(f"| Symple 5, penalty {penalty} | White {start:+} | {agreed} of {SAMPLED} |\n")
            sys.stdout.flush()
    if "spiro" in words or not words:
        for pieces, small in ((1, True), (1, False), (2, True)):
            first, worst = spiro_checked(pieces, SAMPLED, rng, small=small)
            name = f"Spiro, {'small' if small else 'medium'}, {texts_of(pieces)}"
            sys.stdout.write(f"| {name} | X {first:.4%} | {SAMPLED} within {worst:.1g} |\n")
            sys.stdout.flush()


def texts_of(pieces: int) -> str:
    """How many pieces."""
    return "1 piece" if pieces == 1 else f"{pieces} pieces"


if __name__ == "__main__":
    main(sys.argv[1:])
