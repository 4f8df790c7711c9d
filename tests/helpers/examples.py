"""What `bin/test --all` does more of: more examples of a property are tried.

A property has the same examples in each run, so that a run fails for what was changed, and half of them say as much
as all; with PBM_TEST_RANDOM=1 all of them are others each time, to find what nobody has thought of.

    @examples(200)
    @given(st.integers())
    def test_a_property(seed): ...

    @pytest.mark.parametrize(("move", "why"), rules('''
        A stone is put on an empty cell.
            c3 | c3 is occupied.
    '''))
    def test_a_refusal(move, why): ...

Positions after turns at random are `random_game` and `positions`, after turns that are given `played`.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count
from random import Random
from string import ascii_lowercase
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import games
from games import SKIP, Illegal, thrown
from pbm.board.board import Board
from pbm.robots import Player

IS_QUICK = "PBM_TEST_ALL" not in os.environ
"""Whether tests marked `long` are left out."""
IS_RANDOM = "PBM_TEST_RANDOM" in os.environ
"""Whether other examples are drawn in each run."""
PART = 0.1 if IS_QUICK else 1 if IS_RANDOM else 0.5
"""Which part of the examples is tried."""
MOST = 100
"""How many examples a property has that names no number."""


def examples(most: int = MOST) -> settings:
    """So many examples of a property, or the part of them; how long one takes depends on what else the machine does."""
    return settings(
        max_examples=max(1, round(most * PART)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=not IS_RANDOM,
    )


def table(text: str) -> list[Any]:
    """Parameters of a test: what stands between bars, and at the end of each line the rule that names it."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().splitlines()]
    return [pytest.param(*cells, id=rule) for *cells, rule in rows]


def rules(text: str) -> list[Any]:
    """Parameters of a test: below each rule, which names them, stand its examples, with bars between their cells."""
    rows, rule = [], ""
    for line in filter(str.strip, text.splitlines()):
        if line.startswith(" "):
            rows.append(pytest.param(*map(str.strip, line.split("|")), id=rule))
        else:
            rule = line
    return rows


def pairs(cell: str) -> dict[str, str]:
    """What a cell such as `e1=XX e2=O` says of each point."""
    return dict(pair.split("=") for pair in cell.split())


def picture_cells(picture: str, *, is_hexagonal: bool = False) -> dict[str, str]:
    """What stands on the cells of a picture, its rows from the top; letters are columns, on hexagons they are rows."""
    rows = [line.split() for line in picture.splitlines() if line.strip()][::-1]
    cells = {}
    for y, row in enumerate(rows):
        for x, stone in enumerate(row):
            letter, number = (y, x) if is_hexagonal else (x, y)
            cells[f"{ascii_lowercase[letter]}{number + 1}"] = stone
    return {name: stone for name, stone in cells.items() if stone != "."}


def random_game(game: Any, options: dict[str, Any], seed: object, most: int | None = None) -> Iterator[tuple[Any, Any]]:
    """The positions of a random game, or the first ones, each with the turn that is played in it; None at the end."""
    rng = Random(str(seed))
    state = thrown(game.new(**options), rng)
    for _ in count() if most is None else range(most):
        move = None if state.result() else state.random(rng)
        yield state, move
        if move is None:
            return
        state = thrown(state.play(move), rng)


def some_position(game: Any, rng: Random, most: int, **options: Any) -> Any:
    """A position after up to so many turns at random, in which the game goes on."""
    states = [state for state, move in random_game(game, options, rng.random(), rng.randint(1, most + 1)) if move]
    return states[-1]


def positions(
    name: str, options: Any, players: Sequence[Any], rng: Random, most: int = 300, begun: Sequence[Any] = ()
) -> list[Any]:
    """Those of a game, from the first one or those *begun* on; a player who is None plays at random."""
    states = [*begun] or [thrown(games.load(name).new(**options), rng)]
    while not (state := states[-1]).result() and len(states) <= most:
        player = None if state.must_skip else players[state.turn]
        states.append(thrown(state.play(player.think(states).move if player else state.random(rng)), rng))
    return states


def beats_chance(name: str, options: dict[str, Any], side: int, rng: Random, **how: int) -> bool:
    """Whether a robot that plays that side, at a level or with so many playouts, beats turns at random."""
    players: list[Player | None] = [None, None]
    players[side] = Player(name, options, rng=rng, **how)
    result = positions(name, options, players, rng)[-1].result()
    return result is not None and result.winner == side


def play_at_random(board: Board, rng: Random, most: int) -> None:
    """Play on a board that is stored nowhere, a turn a minute, until it is over or has so many turns."""
    while board.mover and len(board.turns) < most:
        move = board.state.random(rng)
        played = board.row.started + timedelta(minutes=len(board.turns))
        board.play(board.mover, move, played, automatic=move == SKIP)


def played(state: Any, *turns: str) -> Any:
    """The position after these turns, as players write them."""
    for turn in turns:
        state = state.play(state.parse(turn))
    return state


def played_by_robot(state: Any, text: str) -> Any:
    """The position after a turn of a robot, which is legal and in canonical form, or the skip that the rules make."""
    assert state.must_skip if text == SKIP else state.parse(text) == text
    return state.play(text)


def attempt(state: Any, text: str) -> tuple[str | None, str]:
    """The turn in canonical form, or None; and why it is refused, or nothing."""
    try:
        return state.parse(text), ""
    except Illegal as why:
        return None, str(why)


def refusal(state: Any, text: str) -> str:
    """Why a turn is refused, which it is."""
    move, why = attempt(state, text)
    assert move is None
    return why
