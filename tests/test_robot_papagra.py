"""How the robot of Papagra plays: it knows all turns, and it sees what comes."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from games import papagra
from games.boards import bits
from pbm.robots.papagra import LAST_RAISE, Papagra
from pbm.robots.papagra.all_turns import Scan
from pbm.robots.thinking import Limit

from helpers.examples import IS_QUICK, beats_chance, examples, played_by_robot, some_position

SEEDS = st.integers(0, 2**32)


@examples(20)
@given(size=st.sampled_from((3, 4)), seed=SEEDS)
def test_all_that_a_turn_can_lead_to_is_found(size, seed):
    state = some_position(papagra, Random(seed), 16, size=size)
    mover, robot = state.turn, Papagra(size, 0)
    scan = Scan(robot.grid, robot.position(state), [*bits(state.board.all)], Limit())
    found = {(own, marks) for _, own, marks in scan.turns()}
    after = [state.play(turn) for turn in state.moves()]
    assert found == {(some.stones[mover], some.marks[:: 1 - 2 * mover]) for some in after}


@examples(20)
@given(seed=SEEDS)
def test_what_the_robot_expects_of_a_turn_is_what_it_leads_to(seed):
    rng = Random(seed)
    state = some_position(papagra, rng, 16, size=4, removals=3)
    mover, robot = state.turn, Papagra(4, 3)
    scan = Scan(robot.grid, robot.position(state), [*bits(state.board.all)], Limit())
    found = [*scan.turns()]
    for some in rng.sample(found, 5):
        thinned = [*scan.thinned(some, 3)] if state.actions == 2 else []
        for turn, own, marks in (some, *thinned):
            after = played_by_robot(state, robot.text(scan.own, turn))
            assert (after.stones[mover], after.marks[:: 1 - 2 * mover]) == (own, marks)


@examples(20)
@given(seed=SEEDS, least=st.integers(1, 8))
def test_no_size_of_which_a_group_can_be_matched_is_overlooked(seed, least):
    state, robot = some_position(papagra, Random(seed), 16, size=4), Papagra(4, 0)
    if state.actions == 1 or least <= max(state.marks):
        return
    grid, position = robot.grid, robot.position(state)
    scan = Scan(grid, position, [*bits(state.board.all)], Limit())

    def sizes(found):
        groups = grid.hexagon.groups
        matched = (
            grid.matched([*groups(own)], [*groups(grid.all & ~own & ~position.enemy)], least) for own, _ in found
        )
        return {group.bit_count() for some in matched for group in some}

    turns, raising = ({(own, marks) for _, own, marks in found} for found in (scan.turns(), scan.raising(least)))
    assert raising <= turns
    assert sizes(raising) == sizes(turns)


@examples(20)
@given(seed=SEEDS)
def test_a_threat_is_the_stones_and_regions_with_which_the_enemy_takes_the_lead(seed):
    state, robot = some_position(papagra, Random(seed), 16, size=3), Papagra(3, 0)
    if state.actions == 1:
        return
    board = state.board
    enemy = 1 - state.turn
    least = max(state.marks) + 1
    threats = set(Scan(robot.grid, robot.position(state), [*bits(board.all)], Limit()).threats())
    taking = set()
    for turn in state._replace(turn=enemy).moves():
        after = state._replace(turn=enemy).play(turn)
        parts = papagra.parted(board, after.stones)
        groups = [group for group in papagra.matched(board, parts)[enemy] if group.bit_count() >= least]
        shapes = {papagra.shape(board, group) for group in groups}
        regions = sum(region for region in parts[2] if papagra.shape(board, region) in shapes)
        if groups:
            taking.add(regions | after.stones[enemy] & ~state.stones[enemy])
    assert threats <= taking
    assert bool(threats) == bool(taking)


def test_a_raise_of_a_mark_is_worth_less_if_the_enemy_can_answer_it_by_a_higher_one():
    robot, less = Papagra(3, 0), 0
    robot.order = [*bits(robot.grid.all)]
    for seed in range(20):
        position = robot.position(some_position(papagra, Random(seed), 16, size=3))
        with_answers, without = (robot.raised(position, depth, 0, 0, 1) for depth in (0, LAST_RAISE))
        assert with_answers <= without
        less += with_answers < without
    assert less


def test_a_leader_wins_by_an_arrangement_that_stands_for_the_third_time():
    view = {"cells": {"a1": "P", "a2": "P", "c3": "B"}, "marks": {"pink": 2, "black": 1}, "turn": "pink"}
    state = papagra.setup(view, size=3)
    for times, is_sure in ((1, False), (2, True)):
        before = state._replace(past=(state.stones,) * times)
        thought = Papagra(3, 0).think([before], Limit(playouts=1), Random(times))
        assert (thought.chance == 1) == is_sure
        after = played_by_robot(before, thought.move)
        assert (after.result() is not None) == is_sure


def test_who_does_not_lead_makes_no_turn_that_undoes_itself():
    cells = dict.fromkeys(("a4", "c1", "d4", "e1", "f5"), "P") | dict.fromkeys(("b5", "c4", "d2", "f1"), "B")
    state = papagra.setup({"cells": cells, "marks": {"pink": 1}, "turn": "black"}, size=4)
    for seed in range(1 if IS_QUICK else 3):  # the leader would undo the next turn and win
        move = Papagra(4, 0).think([state], Limit(playouts=300), Random(seed)).move
        assert state.play(move).stones != state.stones


def test_it_beats_turns_at_random_by_looking_one_turn_ahead():
    options = {"size": 3, "removals": 0}
    assert all(beats_chance("papagra", options, side, Random(side), playouts=1) for side in (0, 1))
