"""What the robot of Symple knows: its turns are legal, and its games end as the rules say."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from games import symple
from pbm.robots.symple import Symple

from helpers.examples import examples, played_by_robot, some_position

SEEDS = st.integers(0, 2**32)
BOARDS = {"size": st.sampled_from((5, 7, 9, 13)), "penalty": st.sampled_from((2, 4, 8, 20)), "seed": SEEDS}


@examples(100)
@given(**BOARDS)
def test_each_turn_of_a_game_that_is_played_out_is_legal_and_its_end_is_that_of_the_rules(size, penalty, seed):
    rng, knowledge = Random(seed), Symple(size, penalty)
    state = some_position(symple, rng, 12, size=size, penalty=penalty)
    turns = []
    worth = knowledge.playout(knowledge.root([state]), rng, turns)
    for turn in turns:
        state = played_by_robot(state, knowledge.text(knowledge.root([state]), turn))
    assert state.result().winner == 1 - worth


@examples(100)
@given(**BOARDS)
def test_the_turns_that_are_tried_are_different_legal_ones_and_lead_where_the_rules_say(size, penalty, seed):
    rng, knowledge = Random(seed), Symple(size, penalty)
    state = some_position(symple, rng, 12, size=size, penalty=penalty)
    position = knowledge.root([state])
    turns = [] if state.result() else knowledge.turns(position, 40, rng)
    assert (knowledge.outcome(position) is None) == bool(turns)
    assert len(set(turns)) == len(turns) <= 40
    for turn in turns:
        later, after = played_by_robot(state, knowledge.text(position, turn)), knowledge.play(position, turn)
        again = knowledge.root([later])
        assert (after.own, after.enemy, after.turn) == (again.own, again.enemy, again.turn)
        if outcome := later.result():
            assert knowledge.outcome(after) == 1 - outcome.winner


@examples(100)
@given(st.sampled_from((7, 9, 13)), SEEDS)
def test_a_group_is_founded_as_far_from_all_stones_as_possible_but_not_at_the_edge(size, seed):
    rng, knowledge = Random(seed), Symple(size, 2)
    state = symple.new(size=size, penalty=2)
    for _ in range(2):
        state = state.play(rng.choice(state.board.names(state.founding_points)))
    turns = []
    knowledge.playout(knowledge.root([state]), rng, turns)
    place = {point: divmod(point.bit_length() - 1, state.board.width) for point in state.board.bit.values()}
    stones = [place[point] for point in place if not point & state.vacant]
    distance = {
        (x, y): min(abs(x - column) + abs(y - row) for column, row in stones)
        for x, y in place.values()
        if 0 < x < size - 1 and 0 < y < size - 1
    }
    assert distance[place[turns[0]]] == max(distance.values())
