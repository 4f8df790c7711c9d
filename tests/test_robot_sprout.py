"""What the robot of Sprout-R-Out knows: its turns are legal, and its games end as the rules say."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import SKIP, sprout
from pbm.robots.sprout import Sprout

from helpers.examples import beats_chance, examples, played_by_robot

SEEDS = st.integers(0, 2**32)
BOARDS = st.sampled_from(("limping-3", "limping-5", "cairo-1", "square-9"))
GREED = st.sampled_from((0, 0.8))


def worth(state):
    winner = state.result().winner
    return 0.5 if winner is None else 1 - winner


@examples(100)
@given(board=BOARDS, greed=GREED, seed=SEEDS)
def test_each_turn_of_a_game_that_is_played_out_is_legal_and_its_end_is_that_of_the_rules(board, greed, seed):
    rng = Random(seed)
    knowledge = Sprout(board, greed=greed)
    state = sprout.new(board=board)
    for _ in range(rng.randint(0, 10)):
        state = state.play(state.random(rng))
    if state.result():
        return
    turns = []
    value = knowledge.playout(knowledge.root([state]), rng, turns)
    for turn in turns:
        assert not state.result()
        state = played_by_robot(state, turn)
    assert worth(state) == value


@examples(50)
@given(board=BOARDS, greed=GREED, seed=SEEDS)
def test_the_turns_that_are_tried_are_legal_and_lead_where_the_rules_say(board, greed, seed):
    rng = Random(seed)
    knowledge = Sprout(board, greed=greed)
    state = sprout.new(board=board)
    position = knowledge.root([state])
    while not state.result():
        assert knowledge.outcome(position) is None
        turns = knowledge.turns(position, 6, rng)
        assert 1 <= len({frozenset(turn) for turn in turns}) == len(turns) <= 6
        turn = rng.choice(turns)
        state, position = played_by_robot(state, knowledge.text(position, turn)), knowledge.play(position, turn)
        assert position == knowledge.root([state])
    assert knowledge.outcome(position) == worth(state)


def test_a_position_looks_as_good_for_black_as_the_same_one_with_colours_changed_looks_for_white():
    rng = Random(7)
    knowledge = Sprout("limping-3")
    state = sprout.new(board="limping-3")
    seen = []
    while not state.result():
        changed = state._replace(stones=state.stones[::-1], filled=state.filled[::-1], turn=1 - state.turn)
        seen.append(knowledge.expected(knowledge.root([state])))
        assert seen[-1] + knowledge.expected(knowledge.root([changed])) == pytest.approx(1)
        state = state.play(SKIP if state.must_skip else state.random(rng))
    assert 0.5 < seen[0] < 0.7  # it is good to move first
    assert abs(seen[-1] - worth(state)) < 0.5


def test_a_forced_pass_after_a_repeated_position_is_known_from_the_game_so_far():
    state = sprout.new(board="limping-3")._replace(starts=((0, 0), None))
    knowledge = Sprout("limping-3")
    assert state.must_skip
    assert knowledge.turns(knowledge.root([state]), 5, Random(1)) == [()]


def test_the_first_level_beats_turns_at_random():
    assert all(beats_chance("sprout", {"board": "limping-3"}, side, Random(side), level=1) for side in (0, 1))
