"""What the robot of Spiro knows: its outcomes are those of the rules, and it plays well."""

import sys
from itertools import count
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import SKIP, spiro
from pbm.robots import Player
from pbm.robots.spiro import TERMS, thinker
from pbm.robots.spiro.positions import ROLLS, Track, position_of, uses_of
from pbm.robots.thinking import Limit

from helpers.examples import IS_QUICK, beats_chance, examples, positions, some_position

SEEDS = st.integers(0, 2**32)
OPTIONS = st.sampled_from(
    [
        {"small": small, "no_inwards": no_inwards, "pieces": pieces}
        for small, most in ((True, 7), (True, 3), (False, 4), (False, 2))
        for no_inwards in (False, True)
        for pieces in (1, most)
    ]
)


def track_of(options):
    return Track(small=options["small"], no_inwards=options["no_inwards"])


@examples(300)
@given(OPTIONS, SEEDS)
def test_the_outcomes_of_a_throw_are_those_of_the_rules_each_once(options, seed):
    state = some_position(spiro, Random(seed), 40, **options)
    track, position = track_of(options), position_of(state)
    found = [track.after(position, *outcome).turned for outcome in track.outcomes(position, state.dice)]
    moves = [move for move in state.moves() if move != SKIP]
    assert len(found) == len(moves)
    assert set(found) == {position_of(state.play(move)) for move in moves}


@examples(100)
@given(OPTIONS, SEEDS)
def test_the_way_to_each_outcome_is_a_turn_that_leads_there(options, seed):
    rng = Random(seed)
    state = some_position(spiro, rng, 40, **options)
    robot, position = thinker(options), position_of(state)
    outcomes = [*robot.track.outcomes(position, state.dice).items()]
    for outcome, way in rng.sample(outcomes, min(5, len(outcomes))):
        text = robot.text(state, way)
        assert position_of(state.play(state.parse(text))) == robot.track.after(position, *outcome).turned
        assert len(uses_of(way)) <= 4


@examples(100)
@given(OPTIONS, SEEDS)
def test_the_best_outcomes_of_a_throw_are_legal_and_there_are_some_wherever_there_is_a_legal_turn(options, seed):
    state = some_position(spiro, Random(seed), 40, **options)
    track, position = track_of(options), position_of(state)
    every, best = track.outcomes(position, state.dice), track.outcomes(position, state.dice, most=3)
    assert best.keys() <= every.keys()
    assert bool(best) == bool(every)


@examples(30)
@given(OPTIONS.filter(lambda options: options["small"]), SEEDS)
def test_a_single_piece_is_hit_by_a_jump_as_often_as_the_robot_thinks_and_pinned_no_more_often(options, seed):
    rng = Random(seed)
    judge = thinker(options).judge
    names = spiro.board(small=True).names
    single, *others = rng.sample([name for name in names if name not in {"e3", "e2"}], 4)
    cells = {single: "O", "e2": "OO"} | dict.fromkeys(others[: rng.randint(1, 3)], "X")
    state = spiro.setup({"turn": "X", "cells": cells}, **options | {"pieces": 9})
    (_, counts), _ = judge.counted(position_of(state).turned)
    noted = dict(zip(TERMS, counts, strict=True))
    hit = pinned = 0
    for high, low in ROLLS:
        ends = [state.play(move).cells for move in state.roll((high, low)).moves()]
        ways = 1 if high == low else 2
        hit += ways * any(end["e2"] == "OOO" for end in ends)
        pinned += ways * any(end.get(single) == "OX" for end in ends)
    made = judge.own.made[(names.index(single) + 16) % 32]
    assert noted["single pieces that a jump can hit: chance x way that it has made"] == pytest.approx(hit / 36 * made)
    assert noted["single pieces that a step can pin: chance"] >= pinned / 36 - 1e-9


def test_what_a_piece_needs_to_leave_the_board_is_less_than_by_steps_alone_and_one_die_at_the_end():
    ways = Track(small=False, no_inwards=False).ways
    assert ways[32] == ways[65] == 1
    assert ways[33] == pytest.approx(ways[0])
    assert ways[0] < 33 / 3.5  # 33 steps at 3.5 a die


@pytest.mark.parametrize("small", [True, False])
def test_the_robot_bears_off_its_last_piece(small):
    view = {"turn": "X", "dice": [6, 1], "cells": {"c4": "X", "g1": "O"} if small else {"j1": "X", "d6": "O"}}
    options = {"small": small, "no_inwards": False, "pieces": 6}
    thought = thinker(options).think([spiro.setup(view, **options)], Limit(), Random(1))
    assert thought.move.endswith(":x")
    assert thought.chance == 1


@examples(40)
@given(OPTIONS, SEEDS)
def test_the_robot_plays_legal_turns_with_all_options_and_the_same_again(options, seed):
    state = some_position(spiro, Random(seed), 40, **options)
    if state.must_skip:
        return
    robot, again = thinker(options), thinker(options)
    thought = robot.think([state], Limit(playouts=300), Random(seed))
    assert thought.move in set(state.moves())
    assert 0 <= thought.chance <= 1
    assert again.think([state], Limit(playouts=300), Random(seed)) == thought


LOOKS = 700 if IS_QUICK else 1500
"""At the clock."""


def test_with_more_time_the_best_turns_are_compared_by_games_and_the_same_one_is_chosen_again():
    options = {"small": True, "no_inwards": False, "pieces": 6}
    state = some_position(spiro, Random(4), 40, **options)

    def thought(looks, **limits):
        limit = Limit(looks, clock=count().__next__, **limits)  # it is a second later each time that somebody looks
        return thinker(options).think([state], limit, Random(5))

    long, answers = thought(LOOKS), thought(LOOKS, playouts=1_000_000)
    assert long == thought(LOOKS)
    assert long.playouts > 4 * answers.playouts  # a number of playouts, as levels have it, means no rollouts
    assert long.chance == pytest.approx(answers.chance, abs=0.15)
    assert long.chance != answers.chance


@pytest.mark.parametrize(("enemies", "worth"), [({"g1": "O"}, 0), ({"e2": "OOOOO"}, 1)])
def test_a_game_that_is_rolled_out_is_won_by_the_side_that_bears_off_its_last_piece(enemies, worth):
    options = {"small": True, "no_inwards": False, "pieces": 6}
    state = spiro.setup({"turn": "X", "dice": [1, 2], "cells": {"c4": "X", **enemies}}, **options)
    for dice in ROLLS:
        assert thinker(options).rolled(position_of(state), [dice] * 6, Limit())[0] == worth


@pytest.mark.parametrize("small", [True, False])
def test_without_numpy_the_robot_values_positions_by_their_terms_alone(monkeypatch, small):
    options = {"small": small, "no_inwards": False, "pieces": 6}
    state = some_position(spiro, Random(1), 40, **options)
    assert thinker(options).judge.net
    monkeypatch.setitem(sys.modules, "pbm.robots.spiro.net", None)  # as if its import of numpy failed
    robot = thinker(options)
    assert robot.judge.net is None
    assert robot.think([state], Limit(playouts=300), Random(1)).move in set(state.moves())


SEEDS_TRIED = 3 if IS_QUICK else 10


@pytest.mark.parametrize(
    ("board", "is_patient", "long_game"),
    [
        ("small", False, 100),
        pytest.param("medium", False, 40, marks=pytest.mark.long),
        ("small", True, 100),
        pytest.param("medium", True, 100, marks=pytest.mark.long),
    ],
)
def test_late_in_a_game_the_robot_plays_what_looks_best_by_its_terms_alone(monkeypatch, board, is_patient, long_game):
    options = {"small": board == "small", "no_inwards": False, "pieces": 12}
    states = [some_position(spiro, Random(seed), 40, **options) for seed in range(SEEDS_TRIED)]
    states = [state for state in states if not state.must_skip]
    robot = thinker(options)

    def thought(state, turns):
        limit = Limit(40, clock=count().__next__) if is_patient else Limit(playouts=1000)
        return robot.think([state] * turns, limit, Random(1))

    early = [thought(state, long_game) for state in states]
    late = [thought(state, long_game + 1) for state in states]
    monkeypatch.setitem(sys.modules, "pbm.robots.spiro.net", None)
    robot = thinker(options)
    alone = [robot.think([state], Limit(playouts=1), Random(1)) for state in states]
    assert late == alone
    assert all(one != other for one, other in zip(early, alone, strict=True))


def wins(words, games_played):
    """How many games the robot wins of so many against turns at random; it is X in every other one."""
    options = games.read_options(spiro, words)
    return sum(beats_chance("spiro", options, seed % 2, Random(seed), level=4) for seed in range(games_played))


@pytest.mark.parametrize(
    "words", [["-small"], pytest.param(["-small", "-no_inwards", "-pieces=9"], marks=pytest.mark.long)]
)
def test_the_robot_beats_somebody_who_plays_at_random(words):
    assert wins(words, 10) >= 8


@pytest.mark.long
def test_the_robot_beats_somebody_who_plays_at_random_on_the_usual_board():
    assert wins([], 5) >= 4


@pytest.mark.long
def test_the_robot_ends_its_games_against_itself_on_the_usual_board():
    options, turns = games.read_options(spiro, []), 0
    for seed in range(10):
        players = [Player("spiro", options, playouts=1, rng=Random(seed))] * 2
        states = positions("spiro", options, players, Random(seed), 1500)
        assert states[-1].result()
        turns += len(states) - 1
    assert turns <= 10 * 150
