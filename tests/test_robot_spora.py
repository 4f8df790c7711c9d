"""What the robot of Spora knows: its turns are legal and lead where the rules say, and what it sees it plays."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import spora
from pbm.robots.spora import BestFirst, thinker
from pbm.robots.spora.values import Spora
from pbm.robots.thinking import Limit

from helpers.examples import examples, played, played_by_robot, some_position

SEEDS = st.integers(0, 2**32)
SIZES = st.sampled_from((5, 6, 7, 9))


@examples(100)
@given(size=SIZES, seed=SEEDS)
def test_the_turns_that_are_tried_are_different_legal_ones_and_lead_where_the_rules_say(size, seed):
    rng, knowledge = Random(seed), Spora(size)
    state = some_position(spora, rng, 40, size=size)
    position = knowledge.root([state])
    found = [] if state.result() else knowledge.valued(position, 30, rng, Limit())
    assert (knowledge.outcome(position) is None) == bool(found)
    assert len({turn for _, turn, _ in found}) == len(found) <= 30
    for value, turn, after in found:
        later = played_by_robot(state, turn)
        assert 0 < value < 1
        assert after == knowledge.root([later])
        if result := later.result():
            assert knowledge.outcome(after) == 1 - result.winner


@pytest.mark.parametrize(
    ("size", "turns", "winning"),
    [
        pytest.param(
            7,
            "g7:4 e5:4 g1:4,g7@wsse b4:4,e5@enen e7:4,g1@wnnn d7:4 e6:3,e7@ssss",
            "g4,d7@eess",
            id="a sowing that captures ten stacks",
        ),
        pytest.param(
            5,
            "e2:4 b4:4 a1:4,e2@wsw e3:4,b4@enes d3:4,a1@nen a5:4,e3@swwn a4:2,a2@n b1:3,a5@ssen",
            "c1",
            id="a last turn in the territory of the enemy",
        ),
        pytest.param(5, "a1:4 c1 e3:4 e5", "a1,e3@nnw", id="a sowing that leaves the enemy a single group"),
    ],
)
def test_a_turn_that_captures_all_is_played(size, turns, winning):
    state = played(spora.new(size=size), *turns.split())
    assert state.play(state.parse(winning)).result().winner == state.turn
    thought = thinker({"size": size}).think([state], Limit(playouts=1), Random(1))
    assert state.play(thought.move).result().winner == state.turn
    assert thought.chance == 1


def test_a_last_turn_can_be_the_first_of_a_player():
    view = {"cells": {"b4": "B1"}, "turn": "white", "moves": 1, "reserve": {"black": 0}}
    state = spora.setup(view, size=5)
    thought = thinker({"size": 5}).think([state], Limit(playouts=1), Random(1))
    assert state.parse(thought.move) == thought.move


def test_the_first_turn_of_a_game_does_not_look_won():
    thought = thinker({"size": 13}).think([spora.new()], Limit(playouts=1), Random(1))
    assert 0.3 < thought.chance < 0.7


class Interrupted(Spora):
    """What is known of a board, of which the second look takes all the time there is, and finds a bad answer alone."""

    now, looks = 0.0, 0

    def valued(self, position, most, rng, limit):
        found = super().valued(position, most, rng, limit)
        self.looks += 1
        if self.looks == 1:
            return found
        self.now = 10.0
        return found[-1:]


def test_a_look_that_the_time_cuts_short_counts_for_nothing():
    state, knowledge = some_position(spora, Random(1), 2, size=5), Interrupted(5)
    limit = Limit(10, clock=lambda: knowledge.now)
    cut = BestFirst(knowledge).think([state], limit, Random(3))
    assert knowledge.looks == 2
    one = BestFirst(Spora(5)).think([state], Limit(playouts=1), Random(3))
    assert (cut.line, cut.chance) == (one.line, one.chance)


def test_with_a_pie_a_komi_is_named_that_is_about_fair_and_the_better_side_is_chosen():
    robot, rng = thinker({"size": 7}), Random(1)
    state = spora.new(size=7, pie=True, komi=None)
    named = robot.think([state], Limit(), rng)
    assert (named.move, named.chance) == ("komi=3", 0.5)
    for komi, side in ((40, "white"), (4, "white"), (2, "black"), (-40, "black")):
        chosen = robot.think([state, state.play(f"komi={komi}")], Limit(), rng)
        assert chosen.move == side
        assert (chosen.chance > 0.9) == (abs(komi) == 40)
        assert chosen.chance > 0.5
