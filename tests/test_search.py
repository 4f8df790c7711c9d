"""The search of the robots: what is certain is seen, a seed repeats a thought, and limits are kept."""

import time
from random import Random

import pytest

import games
from pbm.robots.general import thrown
from pbm.robots.player import Player, thinker
from pbm.robots.thinking import Limit


def position(game, view, *words):
    """The game and options, and a game that has only that position."""
    module = games.load(game)
    options = games.read_options(module, words)
    return options, [module.setup(view, **options)]


def begun(game, rng, turns, *words):
    """The options, and the positions of a game that has gone on for some random turns."""
    module = games.load(game)
    options = games.read_options(module, words)
    states = [thrown(module.new(**options), rng)]
    while len(states) <= turns:
        state = states[-1]
        move = games.SKIP if state.must_skip else state.random(rng)
        states.append(thrown(state.play(move), rng))
    return options, states


def test_the_same_seed_gives_the_same_thought():
    options, states = begun("symple", Random(4), 6, "-size=5")
    thoughts = [Player("symple", options, playouts=40, rng=Random(seed)).think(states) for seed in (1, 1)]
    assert thoughts[0] == thoughts[1]
    assert thoughts[0].playouts == 40
    assert thoughts[0].line[0] == thoughts[0].move


def test_a_win_in_one_turn_is_found_and_certain():
    options, states = position("spiro", {"cells": {"c4": "X", "b2": "O"}, "turn": "X", "dice": [6, 6]}, "-small")
    thought = Player("spiro", options, playouts=300, rng=Random(1)).think(states)
    assert states[0].play(thought.move).result() == games.Result(0)
    assert thought.chance == 1
    assert thought.playouts < 300


@pytest.mark.parametrize(
    "words", ["papagra -size=4", "spiro -small", "spora -size=7", "sprout", "symple -size=9"], ids=lambda words: words
)
def test_every_game_is_thought_about_within_a_fifth_of_the_time(words):
    game, *words = words.split()
    options, states = begun(game, Random(2), 3, *words)
    robot = thinker(game, options)
    limit = Limit(seconds=0.25, clock=time.process_time)
    thought = robot.think(states, limit, Random(3))
    assert time.process_time() <= limit.until + 0.05
    assert states[-1].parse(thought.move) == thought.move
    assert 0 <= thought.chance <= 1
    assert thought.playouts > 0


def test_a_limit_is_reached_by_time_or_by_playouts():
    now = 100.0
    assert not Limit(seconds=2, playouts=10, clock=lambda: now).is_reached(9)
    assert Limit(seconds=2, playouts=10, clock=lambda: now).is_reached(10)
    limit = Limit(seconds=2, clock=lambda: now)
    assert not limit.is_reached(10**9)
    now = 102.0
    assert limit.is_reached(0)
