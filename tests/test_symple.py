"""Symple as its rules have it, one sentence a test."""

import re
from itertools import permutations
from random import Random

import pytest

import games
from games import Illegal, symple

from helpers import helptexts
from helpers.examples import picture_cells, refusal
from helpers.reference.symple import Position, point

SIZES = range(5, 26, 2)


def picture(text, turn="white", penalty=8):
    """The position of a drawing: rows from the top, W and B for stones, anything else vacant."""
    cells = {name: stone for name, stone in picture_cells(text).items() if stone in "WB"}
    return symple.setup({"cells": cells, "turn": turn}, size=len(text.strip().splitlines()), penalty=penalty)


def played(*turns, size=9, penalty=8):
    state = symple.new(size=size, penalty=penalty)
    for turn in turns:
        state = state.play(state.parse(turn))
    return state


def points(state, letter):
    return sorted(name for name, stone in state.view()["cells"].items() if stone == letter)


def refused(state, text, why):
    said = refusal(state, text)
    assert why in said
    assert said.endswith(".")


# The start


def test_the_board_is_empty_at_the_start_and_white_moves_first_on_19_rows_where_a_group_costs_8():
    assert symple.new().view() == {
        "cells": {},
        "turn": "white",
        "over": False,
        "winner": None,
        "scores": {"white": 0, "black": 0},
    }
    assert games.read_options(symple, []) == {"size": 19, "penalty": 8}
    assert len(list(symple.new().moves())) == 19 * 19
    assert played("e5").scores == (-7, 0)


def test_columns_are_lettered_without_skipping_i_and_row_1_is_at_the_bottom():
    state = played("i1")
    assert symple.draw(state).splitlines()[0].split() == list("abcdefghi")
    assert symple.draw(state).splitlines()[-6].split() == ["1", *"." * 8, "W", "1"]


# Founding


def test_a_stone_with_no_own_stone_next_to_it_founds_a_group_beside_enemies_and_diagonal_neighbours():
    state = played("e5", "c3")
    assert state.parse("g5") == "g5"
    assert state.play("g5").count_groups(0) == 2
    assert played("e5", "c3", "f6").count_groups(0) == 2
    assert played("e5").parse("e6") == "e6"


def test_a_turn_founds_only_one_group():
    refused(played("e5", "a1"), "a9,i9", "a9 and i9 would found two groups; a turn founds only one.")
    refused(played("e5", "a1", "a9"), "a2,g7,h2", "g7 and h2 would found two groups")


def test_the_first_turns_are_one_for_each_vacant_point_and_those_of_black_grow_too():
    assert len(list(symple.new(size=9).moves())) == 81
    assert len(list(played("h8").moves())) == 80
    assert len(list(played("h8", "c3").moves())) == 75 + 4  # to found on, and to grow h8 at
    state = played("h8", "c3", "g7")
    founding = 81 - 3 - 4  # neither occupied nor next to c3
    growing = 4
    both = 4 * (founding - 3)  # each growth takes its three other neighbours away
    assert len(list(state.moves())) == founding + growing + both == 362


# Growing: the six positions that the source describes


def top_left():
    """Black to move with two groups that share d3, after White has grown."""
    return played("h8", "c3", "g7", "e3", "h7")


def test_top_left_a_group_that_has_grown_may_not_have_a_second_new_stone_next_to_it():
    why = "c4 and d3 are both next to the group of c3; a group grows by one stone a turn."
    refused(top_left(), "c4,d3", why)
    assert top_left().parse("e4,c4") == "c4,e4"


def test_top_right_a_stone_may_connect_to_a_group_that_has_grown_already():
    state = picture("""
        . . . . . . .
        . . . . . . .
        . B . . B . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . W W . . .
    """, "black")  # fmt: skip
    assert state.parse("d5,c5") == "c5,d5"  # d5 grows the right group, and touches only the new stone on c5
    assert state.play("c5,d5").count_groups(1) == 1


FOUR_GROUPS = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . W . .
    . . . W . W .
    . . . . W . .
    . . . . . . .
"""


def test_left_centre_a_stone_that_connects_four_groups_has_grown_all_of_them_to_one_that_grows_by_one_stone():
    state = picture(FOUR_GROUPS)
    assert state.parse("e3") == "e3"
    assert state.play("e3").count_groups(0) == 1
    for more in ("e5", "c3", "e1", "d4", "g3"):
        refused(state, f"e3,{more}", "both next to the group of")
    state = picture(FOUR_GROUPS).play("e3").play("a7")
    assert state.parse("e5") == "e5"
    refused(state, "e5,e1", "e1 and e5 are both next to the group of e2")


def test_bottom_left_when_one_of_the_four_has_grown_the_points_it_shares_are_off_limits_and_a_legal_turn_is_proposed():
    state = picture(FOUR_GROUPS)
    for off_limits in ("d4", "f4", "e3"):
        refused(state, f"e5,{off_limits}", "are both next to the group of e4; a group grows by one stone a turn.")
    assert state.parse("e5,c3,g3,e1") == "c3,e1,e5,g3"
    assert state.parse("e5,d2,g3") == "d2,e5,g3"
    refused(state, "e5", "has to grow every group it can: play d2,e5,g3.")


def test_right_centre_four_stones_may_connect_four_groups():
    state = picture("""
        . . . . . . .
        . . . W . . .
        . . . . . W .
        . . W . . . .
        . . . . W . .
        . . . . . . .
        . . . . . . .
    """)  # fmt: skip
    assert state.parse("d4,e4,d5,e5") == "d4,d5,e4,e5"
    assert state.play("d4,d5,e4,e5").scores == (8 - 8, 0)


def test_bottom_right_a_group_is_left_out_when_all_its_liberties_are_off_limits():
    stones = {"s1": "W", "r2": "W", "c3": "B"}
    state = symple.setup({"cells": stones, "turn": "white"}, size=19)
    assert state.parse("q2") == "q2"
    for liberty in ("r1", "s2"):
        refused(state, f"q2,{liberty}", "are both next to the group of r2")


# Growing: the rest


def test_a_growth_has_to_grow_every_group_it_can_and_not_as_many_as_another_one_would():
    why = "The group of e3 can still grow, at e2, and a turn that grows has to grow every group it can: play c4,e2."
    refused(top_left(), "c4", why)
    assert top_left().parse("d3") == "d3"  # it grows both groups at once
    state = picture("""
        . . . . .
        . W . W .
        . . . . .
        B B . . .
        . . . . .
    """)  # fmt: skip
    assert {"c4", "a4,e4"} <= set(state.moves())


def test_each_stone_of_a_growth_is_next_to_a_group_as_it_stood_when_the_turn_began_and_may_touch_another():
    why = "g3 is not next to a group of Black, so it does not grow one; "
    refused(top_left(), "c4,g3", f"{why}growing and founding in one turn ended with the first growth (group of g7).")
    state = played("h8", "c3", "g7", "e7", "h7")
    refused(state, "c4,c5,e8", "c5 is not next to a group of Black")
    state = played("h8", "c3", "g7", "f3", "h7")
    assert state.play(state.parse("d3,e3")).count_groups(1) == 1


def test_a_group_without_liberties_is_left_out():
    state = picture("""
        . . . . .
        . . . . .
        . . W . .
        B . . . .
        W B . . .
    """)  # fmt: skip
    assert [state.parse(move) for move in ("b3", "d3", "c2", "c4")] == ["b3", "d3", "c2", "c4"]


# Balance


BEFORE = "a1 g1 a3 g3 a5 g5 a7"


def before_balance():
    return played(*BEFORE.split(), size=7, penalty=4)


def test_black_may_grow_any_of_his_groups_and_then_found_or_do_one_of_both_as_long_as_nobody_has_grown():
    state = before_balance()
    assert state.parse("g6,g2,d4") == "g2,g6,d4"
    assert state.parse("g6,d4") == "g6,d4"
    after = state.play("g2,g6,d4")
    assert points(after, "B") == ["d4", "g1", "g2", "g3", "g5", "g6"]
    assert after.view()["scores"] == {"white": 4 - 4 * 4, "black": 6 - 4 * 3}
    refused(before_balance(), "g2", "play f5,g2, or end the turn with a founding stone.")
    assert before_balance().parse("g2,g6") == "g2,g6"
    state = played("a1", "g1", "a3", "g3", "a5", size=7)
    assert state.may_balance
    assert state.play("d4").play("c1").may_balance


NO_GROWTH = "is not next to a group of {}, so it does not grow one"


@pytest.mark.parametrize(
    ("turns", "text", "why"),
    [
        (BEFORE, "d4,c2", "c2 and d4 would found two groups"),  # the founding stone needs a growth before it
        (BEFORE, "f1,g2,d4", "f1 and g2 are both next to the group of g1"),  # which obeys the rules of growth
        (
            BEFORE,
            "d4,g2",
            f"d4 {NO_GROWTH.format('Black')} but founds one; the founding stone is written last: g2,d4.",
        ),
        (BEFORE, "f3,e3", "e3 would be next to the new stone on f3; "),
        (
            "a1 g1 a3 g3",
            "a2,e6",
            f"e6 {NO_GROWTH.format('White')}; only Black may grow and found in one turn, and White does either.",
        ),
        ("a1 g1 a2", "g2,d4", "ended with the first growth (group of a1)."),
        ("a1 g1 a3 g2 a5", "f1,d4", "ended with the first growth (group of g1)."),
        ("a1 g1 a3 g2,d4 a5", "f1,d5,b7", "ended with the first growth (group of g1)."),  # which was a balance
        ("e5", "e6,a1", "a1 and e6 would found two groups"),  # Black without stones has nothing to grow
    ],
)
def test_balance_is_a_growth_of_black_and_then_a_founding_stone_until_somebody_has_grown(turns, text, why):
    refused(played(*turns.split(), size=7), text, why)


# Moving is compulsory


@pytest.mark.parametrize("text", ["--", " -- "])
def test_no_turn_can_be_skipped(text):
    refused(played("e5"), text, "No turn can be skipped, because moving is compulsory; a1 is a legal turn.")


def test_a_player_who_cannot_grow_has_to_found_and_one_who_cannot_found_has_to_grow():
    state = picture("""
        . W W W W
        W W W W W
        W W B W W
        W W B B W
        W W W W .
    """, "black")  # fmt: skip
    assert list(state.moves()) == ["e1", "a5"]
    assert state.play("a5").scores[1] == 4 - 2 * 8
    state = picture("""
        W W W W B
        W W W W .
        W W W W W
        W W W W W
        W W W W .
    """)  # fmt: skip
    assert list(state.moves()) == ["e1", "e4"]
    refused(state, "e1,e4", "e1 and e4 are both next to the group of")


def test_nothing_is_captured():
    state = picture("""
        . . . . .
        . . . . .
        . . . . .
        W . . . .
        B . . . .
    """)  # fmt: skip
    assert state.play(state.parse("b1")).view()["cells"] == {"a1": "B", "a2": "W", "b1": "W"}


# The end


ONE_POINT_LEFT = """
    W W W W .
    W W W W B
    W W B B B
    B B B B B
    B B B B B
"""


def test_the_game_ends_when_the_board_is_full():
    state = picture(ONE_POINT_LEFT, penalty=2)
    assert state.result() is None
    assert not state.view()["over"]
    end = state.play(state.parse("e5"))
    assert end.view()["over"]
    refused(end, "a1", "The game is over")


@pytest.mark.parametrize("turn", ["white", "black"])
@pytest.mark.parametrize("winner", ["white", "black"])
def test_the_higher_score_wins_whoever_moved_last(turn, winner):
    swapped = str.maketrans("WB", "BW" if winner == "white" else "WB")
    end = picture(ONE_POINT_LEFT.translate(swapped), turn).play("e5")
    more, fewer = (14, 11) if turn != winner else (15, 10)
    assert end.view()["scores"] == {winner: more - 8, "black" if winner == "white" else "white": fewer - 8}
    assert symple.SIDES[end.result().winner] == end.view()["winner"] == winner


FOUR_CORNERS = """
    W W B W W
    W W B W W
    B B B B B
    W W B W W
    W W B W W
"""


@pytest.mark.parametrize(
    ("penalty", "white", "black", "winner"), [(2, 16 - 4 * 2, 9 - 2, "white"), (4, 16 - 4 * 4, 9 - 4, "black")]
)
def test_a_higher_penalty_can_outweigh_more_stones(penalty, white, black, winner):
    view = picture(FOUR_CORNERS, penalty=penalty).view()
    assert (view["scores"], view["winner"]) == ({"white": white, "black": black}, winner)


def test_the_final_position_of_the_source_is_counted_as_the_source_counts_it():
    rows = [["B"] * 15 for _ in range(15)]
    for y in range(7):
        rows[y][:14] = ["W"] * 14  # one white group, with nine black stones inside
    for x, y in [(1, 1), (3, 1), (5, 1), (7, 1), (9, 1), (11, 1), (1, 4), (3, 4), (5, 4)]:
        rows[y][x] = "B"
    for x in range(0, 12, 2):
        rows[10][x] = "W"  # six white stones inside Black's tenth group
    end = picture("\n".join(" ".join(row) for row in rows), penalty=10)
    assert [stones.bit_count() for stones in end.stones] == [95, 130]
    assert [end.count_groups(side) for side in (0, 1)] == [7, 10]
    assert end.view()["scores"] == {"white": 25, "black": 30}
    assert end.view()["winner"] == "black"


def test_scores_are_shown_at_every_stage_and_black_is_told_while_he_may_balance():
    lines = symple.draw(top_left()).splitlines()[11:]
    assert lines == [
        "          stones  groups  score (stones - 8 x groups)",
        "W White        3       1     -5",
        "B Black        2       2    -14",
    ]
    line = "Nobody has grown yet: Black may grow and then found in the same turn."
    assert symple.draw(before_balance()).splitlines()[-1] == line
    for state in (top_left(), played("e5", "c3")):
        assert line not in symple.draw(state)


# Notation


@pytest.mark.parametrize("text", ["c4,e4", "e4,c4", "C4,E4", "c4 , e4", " c4,\te4 ", "E4 ,c4", "c4,e4\u00a0"])
def test_growth_points_may_be_written_in_any_order_in_any_case_and_with_blanks_around_commas(text):
    assert top_left().parse(text) == "c4,e4"


def test_the_canonical_form_is_sorted_by_column_and_row_and_the_founding_stone_of_a_balance_is_last():
    cells = {"c3": "W", "c12": "W", "k10": "W", "a9": "W", "h1": "B", "h2": "B"}
    state = symple.setup({"cells": cells, "turn": "white"})
    assert state.parse("k9,c11,a10,c4") == "a10,c4,c11,k9"
    for order in permutations(["f1", "f3", "f5"]):
        assert before_balance().parse(",".join([*order, "b2"])) == "f1,f3,f5,b2"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("j1", "There is no point j1 on this board; columns go from a to i, rows from 1 to 9."),
        *((f"c4,{name}", f"There is no point {name} on this board") for name in ("c10", "c0", "c03", "e44")),
        ("c4,c4", "c4 is written twice; each point takes one stone."),
        ("c4,e4,C4", "c4 is written twice"),
        ("c3", "There is a black stone on c3 already; stones are put on vacant points."),
        ("c4,g7", "There is a white stone on g7 already"),
        ("", "A point is missing; write one point, such as c3, or several joined by commas: c3,d5."),
        *((text, "A point is missing") for text in ("  ", "c4,", "c4,,e4")),
        ("pass", "Cannot read 'pass'; write one point"),
        *((text, f"Cannot read '{text}'") for text in ("c4 e4", "c4;e4", "4c", "c\u0664", "\u212a3")),
        ("x" * 9999, f"Cannot read '{'x' * 27}...'"),
        ("c" + "1" * 9999, "Cannot read 'c1111"),
        ("\0", "Cannot read"),
    ],
)
def test_what_cannot_be_read_or_played_is_named(text, why):
    refused(top_left(), text, why)


# Drawing


def test_the_stones_of_the_last_turn_are_in_brackets_and_those_side_by_side_in_one_pair():
    before = top_left()
    lines = symple.draw(before.play("c4,e4"), before).splitlines()
    assert lines[6:8] == [" 4  . .(B).(B). . . .  4", " 3  . . B . B . . . .  3"]
    assert lines[11] == "In brackets: the stones of the last turn."
    assert "(" not in "".join(symple.draw(before).splitlines()[:11])
    before = picture("""
        . . . . .
        W . . W B
        . . . . .
        . . . . W
        . . . . .
    """)  # fmt: skip
    after = before.play(before.parse("b4,c4,e1"))
    assert symple.draw(after, before).splitlines()[1:6] == [
        " 5  . . . . .  5", " 4  W(W W)W B  4", " 3  . . . . .  3", " 2  . . . . W  2", " 1  . . . .(W) 1",
    ]  # fmt: skip


# Positions that are set up


@pytest.mark.parametrize(
    "view",
    [
        *({"cells": {name: "W"}} for name in ("z1", "a0", "x" * 9999)),
        *({"cells": {"a1": stone}} for stone in ("P", "WB", "", ["W"])),
        *({"cells": {}, "turn": turn} for turn in ("pink", ["white"])),
    ],
)
def test_a_position_that_cannot_be_is_refused(view):
    with pytest.raises(Illegal, match=r"\.$"):
        symple.setup(view, size=5)


def test_nobody_has_grown_in_a_position_of_single_stones():
    cells = {"a1": "W", "b2": "W", "e5": "B", "d4": "B"}
    assert symple.setup({"cells": cells, "turn": "black"}, size=5).parse("d5,c1") == "d5,c1"
    refused(symple.setup({"cells": {**cells, "a2": "W"}, "turn": "black"}, size=5), "d5,c1", "first growth")


# Whole games


def test_all_kinds_of_turns_and_all_turns_of_a_small_position_are_chosen_at_random():
    rng = Random(5)
    balance = {before_balance().random(rng) for _ in range(300)}
    assert {move.count(",") for move in balance} == {0, 1, 2, 3}
    assert all(before_balance().parse(move) == move for move in balance)
    chosen = {top_left().random(rng) for _ in range(300)}
    assert {"d3", "c4,e4"} <= chosen
    assert sum("," not in move for move in chosen) > 30
    state = picture("""
        W W W W W
        W W W W W
        W . W W W
        . B . B .
        W . W . W
    """, "black")  # fmt: skip
    rng = Random(1)
    assert set(state.moves()) == {state.random(rng) for _ in range(400)} == Position(
        5, 8, {point(n): "white" if s == "W" else "black" for n, s in state.view()["cells"].items()}, "black"
    ).moves()  # fmt: skip


# The help


def test_the_whole_game_of_the_help_is_scored_by_hand():
    end = symple.new(size=5, penalty=4)
    for move in re.findall("> play (.*)", helptexts.read("symple").partition("A whole game")[2]):
        end = end.play(end.parse(move))
    assert end.view()["scores"] == {"white": 14 - 1 * 4, "black": 11 - 3 * 4}
    assert end.view()["winner"] == "white"
