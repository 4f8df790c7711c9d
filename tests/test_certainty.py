"""Robots play the wins that anybody finds by trying turns, and win what they call certain.

`bin/test --all` looks at 500 positions of each game, and asks in 200 of them what is certain. On larger boards, where
the robots take ten times as long, it looks at 100 positions more.
"""

from itertools import islice
from random import Random

import pytest

import games
from games import thrown
from pbm.robots import Player

from helpers.examples import IS_QUICK, positions

BOARDS = (
    "papagra -size=3",
    "spiro -small -pieces=2",
    "spora -size=5",
    "sprout -board=limping-3",
    "symple -size=5",
)
LARGER_BOARDS = "spora -size=7", "sprout -board=limping-5"
"""What is certain there is not asked: that would take too long."""
POSITIONS = 12 if IS_QUICK else 500
POSITIONS_OF_LARGER_BOARDS = 100
CLAIMS = 4 if IS_QUICK else 200
TRIES = 150
"""How many turns are tried in a position."""
LAST = 8
"""So many of the last positions of a game are looked at."""


def endings(name, options, rng):
    """Games as far as to positions near their ends in which somebody is to choose: one at random, one with a robot."""
    while True:
        for level in (None, 1, None, 2):
            players = [level and Player(name, options, level=level, rng=rng) for _ in range(2)]
            states = positions(name, options, players, rng)
            for end in range(max(1, len(states) - LAST), len(states)):
                if not states[end - 1].must_skip:
                    yield states[:end]


def wins(state, move):
    result = state.play(move).result()
    return bool(result) and result.winner == state.turn


def read(words):
    name, *options = words.split()
    return name, games.read_options(games.load(name), options)


@pytest.mark.parametrize("words", [*BOARDS, *(pytest.param(words, marks=pytest.mark.long) for words in LARGER_BOARDS)])
def test_a_win_that_turns_at_random_find_is_played(words):
    name, options = read(words)
    rng, found = Random(words), 0
    count = POSITIONS_OF_LARGER_BOARDS if words in LARGER_BOARDS else POSITIONS
    for states in islice(endings(name, options, rng), count):
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
        winner, players = states[-1].turn, [Player(name, options, level=3, rng=rng) if claims % 2 else None] * 2
        players[winner] = robot
        end = positions(name, options, players, rng, begun=[*states, thrown(states[-1].play(thought.move), rng)])[-1]
        assert end.result().winner == winner, (thought, states[-1].view())
        if claims == CLAIMS:
            break
