"""Robots play the wins that anybody finds by trying turns, and win what they call certain.

`bin/test --all` looks at 500 positions of each game, and asks in 200 of them what is certain.
"""

from itertools import islice
from random import Random

import pytest

import games
from games import SKIP, thrown
from pbm.robots import Player

from examples import IS_QUICK

BOARDS = (
    "papagra -size=3",
    "spiro -small -pieces=2",
    "spora -size=5",
    "sprout -board=limping-3",
    "symple -size=5",
)
LARGER_BOARDS = "spora -size=7", "sprout -board=limping-5"
"""What is certain there is not asked: that would take too long."""
POSITIONS = 24 if IS_QUICK else 500
CLAIMS = 8 if IS_QUICK else 200
TRIES = 150
"""How many turns are tried in a position."""
LAST = 8
"""So many of the last positions of a game are looked at."""


def after(state, move, rng):
    return thrown(state.play(move), rng)


def chosen(states, player, rng):
    """The turn of a player, or one at random if there is none."""
    state = states[-1]
    if state.must_skip:
        return SKIP
    return player.think(states).move if player else state.random(rng)


def game(name, options, players, rng):
    """The positions of a game, from the first one on; a player who is None plays at random."""
    states = [thrown(games.load(name).new(**options), rng)]
    while not states[-1].result() and len(states) < 300:
        states.append(after(states[-1], chosen(states, players[states[-1].turn], rng), rng))
    return states


def endings(name, options, rng):
    """Games as far as to positions near their ends in which somebody is to choose: one at random, one with a robot."""
    while True:
        for level in (None, 1, None, 2):
            players = [level and Player(name, options, level=level, rng=rng) for _ in range(2)]
            states = game(name, options, players, rng)
            for end in range(max(1, len(states) - LAST), len(states)):
                if not states[end - 1].must_skip:
                    yield states[:end]


def wins(state, move):
    result = state.play(move).result()
    return bool(result) and result.winner == state.turn


def read(words):
    name, *options = words.split()
    return name, games.read_options(games.load(name), options)


@pytest.mark.parametrize("words", BOARDS + LARGER_BOARDS)
def test_a_win_that_turns_at_random_find_is_played(words):
    name, options = read(words)
    rng, found = Random(words), 0
    for states in islice(endings(name, options, rng), POSITIONS):
        state = states[-1]
        if any(wins(state, state.random(rng)) for _ in range(TRIES)):
            found += 1
            for level in (3, 4, 5):
                thought = Player(name, options, level=level, rng=Random(found)).think(states)
                assert wins(state, thought.move), (level, thought.move, state.view())
    assert found


@pytest.mark.parametrize("words", BOARDS)
def test_what_is_called_certain_is_won(words):
    name, options = read(words)
    claims, rng = 0, Random(words)
    for states in endings(name, options, rng):
        robot = Player(name, options, level=4, rng=rng)
        thought = robot.think(states)
        if round(100 * thought.chance) < 100:
            continue
        claims += 1
        winner, path = states[-1].turn, [*states, after(states[-1], thought.move, rng)]
        enemy = Player(name, options, level=3, rng=rng) if claims % 2 else None
        while not path[-1].result():
            path.append(after(path[-1], chosen(path, robot if path[-1].turn == winner else enemy, rng), rng))
        assert path[-1].result().winner == winner, (thought, states[-1].view())
        if claims == CLAIMS:
            break
