"""The rules of Sprout-R-Out (help/sprout.txt), a sentence a test."""

import json
import re
from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import SKIP, Illegal, sprout

from helpers import helptexts
from helpers.examples import attempt, examples, picture_cells, random_game, refusal
from helpers.reference.sprout import HEXAGONS, WALLS, Reference, geometry

CELLS = {"limping-3": 27, "limping-5": 75, "limping-7": 147, "hex-6": 91, "cairo-1": 48, "cairo-2": 160, "square-9": 81}
seeds = st.integers(0, 10**9)


def position(picture, turn="black", black_eyes="", white_eyes=""):
    """A position on limping-3, its rows from the top; the eyes are those with an enemy stone on them."""
    cells = picture_cells(picture, is_hexagonal=True)
    eyes = {"black": black_eyes.split(), "white": white_eyes.split()}
    return sprout.setup({"cells": cells, "turn": turn, "eyes": eyes}, board="limping-3")


def play(state, *moves):
    """The position after turns that players write; forced passes are made as the referee does."""
    for text in moves:
        state = state.play(state.parse(text))
        while state.must_skip:
            assert list(state.moves()) == [SKIP]
            state = state.play(SKIP)
    return state


def start(board="limping-3"):
    return sprout.new(board=board)


def eyes(state, side):
    return state.view()["eyes"][side]


def score(state):
    return tuple(state.view()["scores"].values())


def winner(state):
    view = state.view()
    assert view["over"] == (view["winner"] is not None)
    assert not view["over"] or list(state.moves()) == []
    return view["winner"]


# Boards


@pytest.mark.parametrize("board", CELLS)
def test_every_board_can_be_chosen_begins_empty_with_black_and_has_its_cells_in_board_order(board):
    layout, near = sprout.Layout(board), geometry(board)
    assert len(near) == CELLS[board]
    assert list(layout.bit) == list(near)
    assert {name: set(layout.names(layout.near_bit[bit])) for name, bit in layout.bit.items()} == near
    state = sprout.new(**games.read_options(sprout, [f"-board={board.upper()}"]))
    assert state.view() == Reference(board).view()
    assert list(state.moves()) == list(near)


def test_the_usual_board_is_limping_5_and_such_a_board_has_one_cell_more_at_the_bottom_than_at_the_top():
    assert games.read_options(sprout, []) == {"board": "limping-5"}
    assert sprout.new() == sprout.new(board="limping-5")
    names = list(sprout.Layout("limping-3").bit)
    assert [sum(name[0] == row for name in names) for row in "abcdef"] == [4, 5, 6, 5, 4, 3]


def test_either_square_of_a_cairo_brick_is_its_name():
    assert start("cairo-1").parse("c10") == "c9"  # standing
    assert start("cairo-1").parse("D11") == "c11"  # lying
    assert start("cairo-1").parse("c9") == "c9"
    after = play(start("cairo-1"), "c9")
    assert after.parse("d10") == "d9"
    assert refusal(after, "c10") == "c9 is occupied."
    wall = WALLS["cairo-1"].replace(f"{' ' * 10}|. |. +", f"{' ' * 10}|B |. +", 1)
    assert sprout.draw(after).startswith(f"{wall}\n\n")


# A turn


def test_after_the_first_stone_of_the_game_each_enemy_group_is_played_to_and_own_new_stones_are_not():
    assert play(start(), "c3").view()["cells"] == {"c3": "B"}
    state = play(start(), "c3")
    assert state.parse("b3") == "b3"
    assert "complete before c4" in refusal(state, "b3,c4")
    assert state.parse("f1,c4") == "f1,c4"
    assert refusal(state, "f1") == "The turn is not complete: enemy groups are left, on c3; f1,b2 would do."
    assert "f3 is not next to an enemy group" in refusal(state, "f1,f3")
    assert "f2 is not next to an enemy group" in refusal(state, "f1,f2")


def test_two_groups_are_answered_in_either_order_once_each_and_not_removed_while_they_can_be_played_to():
    state = play(start(), "c3", "a1,c4")
    assert state.parse("f1,b1,d4") == "f1,b1,d4"
    assert state.parse("f1,d4,b1") == "f1,d4,b1"
    assert refusal(state, "b1,d4,a2") == "The turn is complete before a2: every enemy group has been dealt with."
    assert refusal(state, "b1,a2") == "a2 is next to the group on a1, already played to."
    assert refusal(state, "b1,xa1") == "The group on a1 has been played to already, so it is not removed."
    assert refusal(state, "f1,xa1,d4") == "Removing a1's group is not allowed while a2 can be played next to it."


def test_no_stone_is_put_next_to_two_enemy_groups():
    state = position("""
      . . .
     . . . .
    . W . . .
   . . . . . .
    . W . . .
     . . . .
    """)
    assert refusal(state, "c2") == "c2 is next to 2 enemy groups (b2, d2); a stone may touch only one."
    assert refusal(state, "f3,c2") == "c2 is next to 2 enemy groups (b2, d2); a stone may touch only one."


CORNERS = """
      W . W
     B B B B
    . . . . .
   . . . . . .
    . . . . .
     . . . .
"""


def test_a_group_that_nothing_can_be_put_next_to_is_removed_under_the_name_of_any_of_its_cells():
    state = position("""
      W W W
     B B B B
    . . . . .
   . . . . . .
    . . . . .
     . . . .
    """)
    assert play(state, "a1,xf2").view()["cells"] == {**dict.fromkeys(["a1", "e1", "e2", "e3", "e4"], "B")}
    assert "on f1" in refusal(state, "a1")
    assert [state.parse(f"a1,xf{number}") for number in (1, 2, 3)] == ["a1,xf1"] * 3


def test_a_removal_opens_a_placement_and_is_made_once():
    state = position(CORNERS)
    assert "f2 is next to 2 enemy groups (f1, f3)" in refusal(state, "a1,f2")
    assert refusal(state, "a1,xf1,xf3") == "Removing f3's group is not allowed while f2 can be played next to it."
    after = play(state, "a1,xf1,f2")
    assert eyes(after, "black") == ["f1"]
    assert score(after) == (6, 0)
    assert state.parse("a1,xf3,f2") == "a1,xf3,f2"
    assert "No group is removed on f1: there is no stone" in refusal(position(CORNERS), "a1,xf1,xf1")


def test_the_own_stones_of_the_turn_can_take_the_last_place():
    state = position("""
      . . W
     . B . B
    . . . . .
   . . . . . .
    . . . . .
     . . . .
    """)
    assert state.parse("f2") == "f2"
    state = position("""
      . . W
     . B . B
    . . W . .
   . . . . . .
    . . . . .
     . . . .
    """)
    # e3 touches f3 and d3, so f2 is the only place next to f3
    assert state.parse("c3,f2") == "c3,f2"
    assert "f2 can be played" in refusal(state, "c3,xf3")


# Eyes and territory


@pytest.mark.parametrize(
    ("board", "around", "joined_by"), [("square-9", "a2 b1", "b2"), ("cairo-1", "c7 c8 e6 e9 f7", "d5")]
)
def test_an_empty_cell_surrounded_by_two_groups_is_no_eye(board, around, joined_by):
    cells = dict.fromkeys(around.split(), "B")
    state = sprout.setup({"cells": cells}, board=board)
    assert eyes(state, "black") == []
    assert score(state) == (0, 0)
    state = sprout.setup({"cells": cells | dict.fromkeys(joined_by.split(), "B")}, board=board)
    assert eyes(state, "black") != []


def test_an_empty_cell_is_no_eye_between_both_colours_or_beside_another_empty_one():
    state = position("""
      . . .
     . . . .
    . . . . .
   . . . . . .
    . . . B W
     . . B .
    """)
    assert eyes(state, "black") == eyes(state, "white") == []
    state = position("""
      . . .
     . . . .
    . . . . .
   . . . . B B
    . . B . .
     . . B B
    """)
    assert eyes(state, "black") == []


def test_an_empty_cell_surrounded_by_one_group_is_an_eye_and_territory_is_eyes_and_groups_with_one():
    state = position("""
      W W .
     . . . .
    . . . . .
   . . . . . .
    B . . B B
     . . B .
    """)
    assert eyes(state, "black") == ["a4"]
    assert score(state) == (4, 0)


def test_the_first_stone_goes_outside_both_territories():
    state = position("""
      . B .
     . . B B
    . . . . .
   . . . . . .
    . . . W W
     . . W .
    """)
    assert (eyes(state, "black"), eyes(state, "white")) == (["f3"], ["a4"])
    assert refusal(state, "f3") == "f3 is an eye of Black; a first stone goes outside both territories."
    assert refusal(state, "a4") == "a4 is an eye of White; a first stone goes outside both territories."


def test_a_later_stone_may_fill_an_enemy_eye_which_stays_one_and_is_taken_back():
    state = position("""
      . B .
     . . B B
    . . . . .
   . . . . . .
    . . . . .
     . . . .
    """, "white")  # fmt: skip
    after = play(state, "a1,f3")
    assert eyes(after, "black") == ["f3"]
    assert score(after) == (4, 0)
    back = play(after, "b1,xf3")
    assert "f3" not in back.view()["cells"]
    assert eyes(back, "black") == ["f3"]
    assert score(back) == (4, 0)


def test_an_occupied_eye_stays_an_eye_keeps_a_group_immortal_and_counts_for_an_immortal_stone_on_it_too():
    state = position("""
      W . W
     . . . .
    . . . . .
   . . . . . .
    . . . . .
     . . . .
    """, "black", black_eyes="f3")  # fmt: skip
    assert eyes(state, "black") == ["f3"]
    assert score(state) == (1, 0)
    state = position("""
      . B W
     . . . B
    . . . . .
   . . . . . .
    . . . . .
     . . . .
    """, "black", black_eyes="f3")  # fmt: skip
    assert score(state) == (3, 0), "f2, e4 and the eye, though the stones are not connected"
    state = position("""
      W . W
     W W W B
    . . . . .
   . . . . . .
    . . . . .
     . . . .
    """, "black", black_eyes="f3")  # fmt: skip
    assert eyes(state, "white") == ["f2"]
    assert score(state) == (2, 6)


def test_an_immortal_group_is_removed_when_its_only_eye_is_filled_and_nothing_can_be_put_next_to_it():
    state = position("""
      W B W
     . W B B
    . . W W W
   . . . . . .
    . . . . .
     . . . .
    """, "white", black_eyes="f3")  # fmt: skip
    after = play(state, "a1,xf2")
    assert {"f2", "e3", "e4"}.isdisjoint(after.view()["cells"])
    assert eyes(after, "black") == ["f3"], "until the stone on it is removed"
    assert score(after)[0] == 1


def test_an_eye_that_is_emptied_is_an_eye_only_if_one_group_surrounds_it():
    state = position("""
      . B W
     . B W B
    . . B B .
   . . . . . .
    . . . . .
     . . . .
    """, "black", black_eyes="f3")  # fmt: skip
    assert eyes(state, "black") == ["f3"]
    after = play(state, "a1,xe3")
    assert eyes(after, "black") == [], "e3 is empty, too"
    assert score(after) == (0, 0)


def test_a_removal_in_mid_turn_can_make_an_eye_that_fills_at_once():
    state = position("""
      B W .
     W W W W
    . . . . .
   . . . . . .
    . . . . .
     B . . .
    """, "white")  # fmt: skip
    after = play(state, "a2,xf1")
    assert eyes(after, "white") == ["f1", "f3"]
    assert score(after) == (0, 7)


def test_a_cell_is_filled_as_an_eye_only_if_it_is_one_at_that_moment():
    cells = dict.fromkeys(["a3", "b2", "c1"], "B") | {"a2": "W", "b1": "W"}
    after = play(sprout.setup({"cells": cells}, board="square-9"), "i9,xa2,a1")
    assert (eyes(after, "white"), score(after)) == ([], (0, 0)), "a2 had gone before a1 was filled"


# Exceptional cases and the end


TIGHT = """
      . W W
     W W B B
    W B B B .
   . W . . B B
    W W B B B
     . W B .
"""


def test_a_player_who_finds_the_stones_of_his_last_turn_must_pass_also_after_the_removal_of_a_group():
    state = position(TIGHT, "white")
    state = state.play(state.parse("c4"))
    assert set(state.moves()) == {"xc4"}, "no first stone for Black"
    state = state.play("xc4")
    assert state.must_skip, "the stones are those of White's last turn, and Black's removal was no pass"
    assert refusal(state, "c4") == "White must pass in this position, and nothing else can be played."
    assert state.random(Random(1)) == SKIP
    state = state.play(SKIP)
    assert not state.must_skip, "Black's last turn began with a stone on c4"
    assert winner(state) is None
    assert not position(TIGHT, "white").must_skip
    assert not position(TIGHT, "black").must_skip


NO_FIRST_STONE = """
      W W W
     . W B B
    W W W B B
   B B B . . W
    . B B W B
     B . B B
"""


def test_a_player_without_a_first_stone_removes_a_group_without_an_eye_which_is_no_pass():
    state = position(NO_FIRST_STONE)
    assert (eyes(state, "black"), eyes(state, "white")) == (["a2", "b1"], ["e1"])
    assert set(state.moves()) == {"xb4", "xc6"}
    assert state.parse(" XC6 ") == "xc6"
    assert refusal(state, "xf1") == "The group on f1 has an eye; only one without can be removed now: xb4 or xc6."
    assert "removal of one group alone: xb4 or xc6" in refusal(state, "c4")
    assert "removal of one group alone: xb4 or xc6" in refusal(state, "xb4,xc6")
    assert "removal of one group alone: xb4 or xc6" in refusal(state, "xb4,b4")
    assert refusal(state, "xa1") == (
        "No group is removed on a1: the stone there is your own, and a removal takes an enemy group."
    )
    assert "there is no stone" in refusal(state, "xe1")
    state = play(position(NO_FIRST_STONE), "xc6")
    assert set(state.moves()) == {"xd4"}, "White has no first stone, either"
    state = play(state, "xd4")
    assert score(state) == (11, 8), "neither has the 14 cells of a majority"
    assert winner(state) is None
    assert state.parse("c5,e3") == "c5,e3"


NO_ROOM = """
      B W .
     B . W W
    W W B B W
   W W B . B B
    . W B B B
     W W B .
"""


@pytest.mark.parametrize(
    ("side", "picture", "scores"),
    [("white", NO_ROOM, (11, 13)), ("black", NO_ROOM.translate(str.maketrans("BW", "WB")), (13, 11))],
)
def test_the_larger_territory_wins_after_two_passes(side, picture, scores):
    state = position(picture, side)
    assert set(state.moves()) == {"xe1"}
    state = state.play("xe1").play("f1,e1")
    assert state.must_skip, "the stones are those of the last turn of this side"
    state = state.play(SKIP)
    assert winner(state) is None
    assert state.must_skip, "the other side has neither a first stone nor a group to remove"
    state = state.play(SKIP)
    assert score(state) == scores
    assert winner(state) == side


def test_equal_territories_tie_after_two_passes_but_not_after_a_removal_and_a_pass():
    state = position("""
      W B .
     B W B B
    W W . B B
   B B B W W B
    . B W W W
     B W W .
    """, "white", white_eyes="e1")  # fmt: skip
    assert set(state.moves()) == {"xe1"}
    state = state.play("xe1")
    assert score(state) == (13, 13)
    assert list(state.moves()) == [SKIP], "Black has no first stone, and White's groups have eyes"
    state = state.play(SKIP)
    assert winner(state) is None
    assert list(state.moves()) == [SKIP]
    assert winner(state.play(SKIP)) == "draw"


STUCK = """
      W W W
     B B W .
    . B W W W
   B B B B . B
    . B B W W
     B B W .
"""


def test_a_pass_does_not_end_the_game_nor_does_the_removal_after_it():
    state = position(STUCK)
    assert state.must_skip
    after = state.play(SKIP)
    assert winner(after) is None
    assert set(after.moves()) == {"xc6"}
    after = after.play("xc6")
    assert score(after) == (13, 12)
    assert winner(after) is None
    assert after.must_skip


MAJORITY = """
      . . .
     . . . .
    . . . . .
   # # # # . .
    # # . # #
     # # # #
"""


@pytest.mark.parametrize(("side", "stone"), [("black", "B"), ("white", "W")])
def test_more_than_half_of_the_cells_win_at_once(side, stone):
    state = position(MAJORITY.replace("#", stone), side)
    assert max(score(state)) == 13
    assert winner(state) is None, "13 of 27 are not more than half"
    after = play(state, "c5")
    assert max(score(after)) == 14
    assert winner(after) == side


HALF = "a5 b7 c5 b3 c7 c8 c4 d5 c3 e7 c9 d9 e3 e5 e6 e9 f7 c11 e10 e2 f3 g5 g9"


def test_half_of_the_cells_are_not_enough_on_a_board_with_an_even_number():
    cells = dict.fromkeys(HALF.split(), "B")
    state = sprout.setup({"cells": cells, "turn": "black"}, board="cairo-1")
    assert eyes(state, "black") == ["a6"]
    assert score(state) == (24, 0)
    assert winner(state) is None
    after = play(state, "g7")
    assert score(after) == (25, 0)
    assert winner(after) == "black"


def test_the_removal_of_a_player_without_a_first_stone_can_win_at_once():
    state = position("""
      W B .
     B B B B
    B B B B B
   B B W . . W
    W . . W B
     W W B B
    """)
    assert set(state.moves()) == {"xa1", "xb4", "xc3", "xc6", "xf1"}
    after = play(state, "xf1")
    assert score(after) == (14, 0)
    assert winner(after) == "black"


@pytest.mark.parametrize(
    ("turn", "black_eyes", "white_eyes", "scores", "won"),
    [
        ("black", "c2 c3", "d5", (15, 15), "white"),  # who has just moved
        ("white", "c2 c3", "d5", (15, 15), "black"),
        ("black", "c2 c3 c4", "d5", (16, 15), "black"),
        ("white", "c2", "d4 d5", (14, 16), "white"),
    ],
)
def test_of_two_majorities_the_larger_wins_and_of_equal_ones_the_mover(turn, black_eyes, white_eyes, scores, won):
    state = position("""
      B B B
     B B B B
    B B B B B
   B W W W W W
    W W W W W
     W W W W
    """, turn, black_eyes, white_eyes)  # fmt: skip
    assert score(state) == scores
    assert winner(state) == won


# Notation


@pytest.mark.parametrize(
    "text",
    ["", " ", ",", "c3,", ",c3", "x", "xx", "c", "3", "c3;d4", "c3 d4", "c3-d4", "c-3", "pass", "xc3x", "x c3", "(c3)"],
)
def test_what_cannot_be_read_is_refused_with_the_two_kinds_of_items(text):
    assert "write a cell for a stone and xCELL for a removal" in refusal(start(), text)


@pytest.mark.parametrize(
    ("board", "text", "why"),
    [
        ("limping-3", "c7", "There is no cell c7 on limping-3; there are c1, c2, c3, c4, c5, c6."),
        ("limping-3", "g1", "There is no cell g1 on limping-3; there are none with that letter"),
        ("limping-3", "a0", "There is no cell a0 on limping-3; there are a1, a2, a3, a4."),
        ("limping-3", "a01", "There is no cell a01"),
        ("cairo-1", "a1", "There is no cell a1 on cairo-1; there are a5, a6."),
        ("square-9", "a10", "There is no cell a10 on square-9"),
    ],
)
def test_a_cell_that_the_board_does_not_have_is_refused_with_those_that_it_has(board, text, why):
    assert why in refusal(start(board), text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("c4", "c4 is occupied."),
        ("a1,c3", "c3 is occupied."),
        ("b4,b4", "b4 is occupied."),
        ("xf1,d4", "A turn begins with a stone, such as a1, and not with xf1."),
        ("a1,xc3", "the stone there is your own"),
        ("a1,xe4", "No group is removed on e4: there is no stone"),
        ("a1,xz9", "There is no cell z9"),
    ],
)
def test_stones_are_put_on_empty_cells_and_then_enemy_groups_are_removed(text, why):
    said = refusal(play(start(), "c3", "f1,c4"), text)
    assert said == why if why.endswith(".") else why in said


@pytest.mark.parametrize("state", [start(), position(CORNERS), position(NO_FIRST_STONE)])
def test_a_pass_is_never_typed(state):
    assert refusal(state, "--") == "-- is never written: a forced pass is made by itself, and no other is allowed."


# Positions that are set up


DEEP = json.loads("[" * 900 + "]" * 900)


@pytest.mark.parametrize(
    "view",
    [
        *({"cells": {name: "B"}} for name in ("z9", "a5", "", "a" * 9999, "xa1")),
        *({"cells": {"a1": stone}} for stone in ("P", ["B"])),
        {"cells": {"a1": "B", "A1": "W"}},
        *({"cells": {}, "turn": turn} for turn in ("pink", ["black"])),
        *({"cells": {}, "eyes": eyes} for eyes in ([], {"pink": []}, {"black": "a1"}, {"white": ["q9"]})),
        *({"cells": {}, "eyes": {"black": [name]}} for name in (1, ["a1"], DEEP)),
        {"cells": {"a1": "W"}, "eyes": {"white": ["a1"]}},
    ],
)
def test_a_position_that_cannot_be_is_refused(view):
    with pytest.raises(Illegal, match=r"\.$"):
        sprout.setup(view, board="limping-3")


@pytest.mark.parametrize("removal", ["xa1", "XA1"])
def test_a_removal_is_no_cell_of_a_position(removal):
    with pytest.raises(Illegal, match=f"A position has cells such as a1, and '{removal}' is none"):
        sprout.setup({"cells": {removal: "B"}}, board="limping-3")


def test_a_position_has_a_stone_under_either_name_of_its_brick_and_empty_eyes_that_follow_from_the_stones():
    assert sprout.setup({"cells": {"c10": "B"}}, board="cairo-1").view()["cells"] == {"c9": "B"}
    with pytest.raises(Illegal, match="c10 has a stone already"):
        sprout.setup({"cells": {"c9": "B", "c10": "B"}}, board="cairo-1")
    view = {"cells": {"a3": "B", "b4": "B", "b5": "B"}, "turn": "white", "eyes": {"black": ["f1"], "white": ["a1"]}}
    assert eyes(sprout.setup(view, board="limping-3"), "black") == ["a4"]
    assert eyes(sprout.setup({"cells": view["cells"]}, board="limping-3"), "black") == ["a4"]


@pytest.mark.parametrize(
    ("board", "name", "known"), [("cairo-1", "l1", "l7, l8"), ("cairo-2", "t1", "t7, t8, t15, t16")]
)
def test_every_letter_that_a_cairo_board_has_in_its_picture_is_a_letter(board, name, known):
    state = sprout.new(board=board)
    assert name[0] in sprout.draw(state).splitlines()[0].split()
    with pytest.raises(Illegal) as refused:
        state.parse(name)
    assert str(refused.value) == f"There is no cell {name} on {board}; there are {known}."
    with pytest.raises(Illegal, match=f"as letters go from a to {name[0]}"):
        state.parse("z1")


# Drawing


@pytest.mark.parametrize("board", WALLS)
def test_a_cairo_board_is_drawn_as_a_wall_of_bricks(board):
    assert sprout.draw(start(board)).startswith(WALLS[board] + "\n\n")


@pytest.mark.parametrize("board", CELLS)
def test_a_board_shows_every_stone_once_and_marks_the_new_ones(board):
    rng, state = Random(board), start(board)
    for _ in range(12):
        before, state = state, state.play(state.random(rng))
        picture = sprout.draw(state, before).partition("\n\n")[0]
        cells, old = state.view()["cells"], before.view()["cells"]
        stones = [*cells.values(), *"." * (CELLS[board] - len(cells)), *"*" * len(cells.items() - old.items())]
        assert Counter(mark for mark in picture if mark in "BW.*") == Counter(stones)


def test_the_last_stones_are_marked_and_what_is_to_be_done_stands_under_the_board():
    before = play(start(), "c5", "c3,d4")
    drawn = sprout.draw(play(before, "b5,d5,b3"), before).split("\n")
    assert drawn[8] == "c .   .   W   .   B   ."
    assert drawn[10] == "  b .   .   B*  .   B*  6"
    assert drawn[-5:] == [
        "B Black   W White   . empty   * placed in the last turn",
        "Territory (14 of the 27 cells win):",
        "  Black   4, eyes: c6",
        "  White   0, eyes: none",
        "White to move; enemy groups to be played to: b3, b5.",
    ]
    assert sprout.draw(position(NO_FIRST_STONE)).endswith("Black has no first stone and must remove one of: b4, c6.")
    state = position(STUCK)
    assert sprout.draw(state).endswith("Black must pass.")
    over = play(position(MAJORITY.replace("#", "B")), "c5")
    assert sprout.draw(over).endswith("  White   0, eyes: none")


# Over random games


@pytest.mark.long
@examples(8)
@given(seed=seeds)
def test_all_texts_of_two_items_that_are_accepted_are_listed(seed):
    for state, _ in random_game(sprout, {"board": "limping-3"}, seed, 4):
        items = [f"{x}{cell}" for x in ("", "x") for cell in state.board.bit]
        texts = [*items, *map(",".join, product(items, items))]
        listed = {move for move in state.moves() if move.count(",") < 2}
        answers = [attempt(state, text) for text in texts]
        assert {move for move, _ in answers} - {None} == listed
        assert all(re.search(r"\bx?[a-j][0-9]", why) for _, why in answers if why), "it says where"


# Help


def test_the_help_names_every_board():
    assert all(
        re.search(rf"^  {board} +{cells} cells", helptexts.read("sprout"), re.MULTILINE)
        for board, cells in CELLS.items()
    )
    assert set(sprout.BOARDS) == set(CELLS) == {*WALLS, *HEXAGONS, "square-9"}
