"""The rules of Spora, each with a picture and one question."""

import re
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import SKIP, Illegal, read_options, spora

from helpers.examples import attempt, examples, pairs, picture_cells, played, random_game, refusal, table
from helpers.reference.spora import Reference

LETTERS = "abcdefghijklmnopqrstuvwxy"


def position(picture, turn="black", **view):
    """The position of a picture whose top row comes first; ``komi`` and the like as in the referee's `position`."""
    return spora.setup({"cells": picture_cells(picture), "turn": turn, **view}, size=len(picture.split("\n")) - 2)


def cells(state):
    return state.view()["cells"]


def stacks(state, colour):
    return {name: int(stack[1]) for name, stack in cells(state).items() if stack[0] == colour}


def is_legal(state, text):
    return attempt(state, text)[0] is not None


OPEN = """
    .  .  .  .  .
    .  W1 .  .  .
    .  .  .  .  .
    .  B4 .  .  .
    .  .  .  .  B1
"""


# Options and the start


@pytest.mark.parametrize(("size", "pieces"), [(5, 15), (9, 48), (13, 99), (19, 211), (25, 365)])
def test_a_reserve_starts_with_seven_twelfths_of_a_piece_a_point_rounded_up(size, pieces):
    view = spora.new(size=size).view()
    assert view["reserve"] == {"black": pieces, "white": pieces}
    assert view["cells"] == {}


def test_the_usual_board_has_13_rows_and_a_komi_of_3_which_is_open_with_the_pie_rule():
    assert read_options(spora, []) == {"size": 13, "pie": False, "komi": 3}
    assert len(spora.new().board.bit) == 169
    assert spora.new().view()["scores"] == {"black": 0, "white": 3.5}
    assert read_options(spora, ["-pie"])["komi"] is None
    view = spora.new(pie=True).view()
    assert (view["komi"], view["scores"]) == (None, {"black": 0, "white": 0})
    assert played(spora.new(size=9), "i9").view()["cells"] == {"i9": "B1"}


# The pie rule


@pytest.mark.parametrize(
    ("text", "komi"), [("komi=5", 5), ("komi=-5", -5), ("KOMI=+3", 3), ("komi=-0", 0), ("komi=007", 7)]
)
def test_the_first_player_names_the_komi(text, komi):
    start = spora.new(pie=True)
    assert start.parse(text) == f"komi={komi}"
    named = played(start, text)
    assert named.view()["komi"] == komi
    assert named.view()["scores"]["white"] == komi + 0.5


@pytest.mark.parametrize("text", ["komi=", "komi=1.5", "komi=x", "komi", "3", "a1", "black", "komi=123456", ""])
def test_no_other_first_turn_is_possible_with_the_pie_rule(text):
    assert "names the komi" in refusal(spora.new(pie=True), text)


@pytest.mark.parametrize(("answer", "seats"), [("black", (1, 0)), ("WHITE", (0, 1))])
def test_the_second_player_chooses_a_side_and_then_black_drops(answer, seats):
    state = played(spora.new(pie=True, size=5), "komi=2", answer)
    assert state.seats == seats
    assert state.view()["turn"] == "black"
    assert cells(played(state, "a1")) == {"a1": "B1"}


@pytest.mark.parametrize("text", ["a1", "komi=3", "b", ""])
def test_the_answer_to_a_komi_is_black_or_white(text):
    assert "The komi is 2; choose your side" in refusal(played(spora.new(pie=True), "komi=2"), text)


def test_the_turns_of_the_pie_rule_are_listed_and_the_first_turns_behind_them_are_drops_alone():
    start = spora.new(pie=True)
    assert list(islice(start.moves(), 5)) == ["komi=0", "komi=1", "komi=-1", "komi=2", "komi=-2"]
    assert list(played(start, "komi=1").moves()) == ["black", "white"]
    state = played(spora.new(pie=True, size=5), "komi=2", "black")
    assert "Your first turn is a drop alone" in refusal(state, "a1:2,a1@n")
    state = played(state, "a1:2")
    assert "Your first turn is a drop alone" in refusal(state, "e5:2,e5@s")
    assert is_legal(played(state, "e5:2"), "c3,a1@n")


# The drop


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("c3", "c3"), ("c3:1", "c3"), ("C3:4", "c3:4"), (" a1 , b2@n ", "a1,b2@n"),
        ("a1:2,B2@ENEN", "a1:2,b2@enen"), ("e1:4", "e1:4"),
    ],
)  # fmt: skip
def test_a_turn_is_written(text, canonical):
    assert position(OPEN).parse(text) == canonical


def test_a_drop_puts_pieces_of_the_reserve_on_an_empty_point_or_an_own_stack_which_keeps_four():
    state = played(position(OPEN, reserve={"black": 9, "white": 9}), "d4:3")
    assert cells(state)["d4"] == "B3"
    assert state.view()["reserve"] == {"black": 6, "white": 9}
    assert cells(played(position(OPEN), "e1:2"))["e1"] == "B3"
    state = played(position(OPEN, reserve={"black": 9, "white": 9}), "e1:4")
    assert cells(state)["e1"] == "B4"
    assert state.view()["reserve"]["black"] == 5
    state = position(OPEN)
    assert cells(played(state, "b2")) == cells(state)
    state = position(OPEN, reserve={"black": 2, "white": 9})
    assert refusal(state, "c3:3") == "c3:3 is not possible: your reserve has 2."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("b4", "A white stack stands on b4; drop on an empty point or a stack of yours."),
        *((f"c3:{count}", f"c3:{count} is not possible: a drop is 1 to 4 pieces.") for count in (0, 5, 99)),
        ("c3,d3", "d3 would be a second drop; a turn has one"),
        *(
            (point, f"There is no point {point!r}; columns go from a to e, rows from 1 to 5.")
            for point in ("f1", "a6", "z1", "a0", "a01")
        ),
        *((text, "Cannot read") for text in ("", ",", "c3,", "c", "33", "c3:", "c3:x", "c3-c4", "c3 :2", "c3:2:2")),
        *((text, "Cannot read") for text in ("\u0663", "c\u0663")),
        (SKIP, "never skipped"),
    ],
)
def test_what_is_no_drop_is_refused(text, why):
    said = refusal(position(OPEN), text)
    assert said == why if why.endswith(".") else why in said
    assert not position(OPEN).must_skip


def test_the_first_turn_of_each_player_is_any_drop_alone():
    state = spora.new(size=5)
    assert "Your first turn is a drop alone; leave out the sowing from b2." in refusal(state, "a1,b2@n")
    state = played(state, "b2:4")
    assert "Your first turn is a drop alone" in refusal(state, "a1,b2@n")
    assert len(list(state.moves())) == 24 * 4
    assert len(list(spora.new(size=13).moves())) == 676


# Sowing

BIG = """
    .  .  .  .  .  W1 .
    .  .  .  .  .  .  .
    .  .  .  .  .  .  .
    .  .  .  .  .  .  .
    .  .  .  .  .  .  .
    .  .  B4 .  .  .  .
    .  .  .  .  .  .  .
"""


@pytest.mark.parametrize(
    ("stands", "turn", "left"),
    table("""
    c2=B4       | g7,c2@nnen | g7=1 c3=1 c4=1 d4=1 d5=1 | a sowing leaves one piece on each point of a path
    c2=B4       | g7,c2@w    | g7=1 c2=3 b2=1           | a part of a stack can be sown
    c2=B1       | g7,c2@s    | g7=1 c1=1                | a single piece can move to the next point
    c2=B4       | g7,c2@nwse | g7=1 c3=1 b3=1 b2=1 c2=1 | a stack of four can return to its start
    c2=B4 d2=B2 | g7,c2@ee   | g7=1 c2=2 d2=3 e2=1      | a sowing strengthens the stacks on its path
    c2=B4 d2=B4 | g7,d2@w    | g7=1 c2=4 d2=3           | a piece sown on a stack of four is removed from play
    c2=B4       | c3:2,c2@nn | c2=2 c3=3 c4=1           | a sowing may lead over the stack just dropped
    """),
)
def test_a_sowing_leaves_the_heights_that_the_rules_say(stands, turn, left):
    state = spora.setup({"cells": {"f7": "W1", **pairs(stands)}, "turn": "black"}, size=7)
    assert stacks(played(state, turn), "B") == {name: int(height) for name, height in pairs(left).items()}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("c2@n", "A turn begins with a drop; write one before the sowing from c2, as in e1,d2@nnen."),
        ("g7,g7@n", "g7 was dropped on in this turn; only another stack can be sown."),
        ("c2,c2@n", "c2 was dropped on in this turn; only another stack can be sown."),
        ("g7,c3@n", "There is no black stack on c3."),
        ("g7,f7@s", "There is no black stack on f7."),
        ("g7,c2@", "c2@ cannot be read: write n, e, s or w for each piece"),
        ("g7,c2@nx", "c2@nx cannot be read: write n, e, s or w for each piece"),
        ("g7,c2@nnnnn", "c2@nnnnn sows 5 pieces, and the stack on c2 has 4."),
        ("g7,c2@ns", "c2@ns is not possible: it would turn straight back at c3."),
        ("g7,c2@eew", "c2@eew is not possible: it would turn straight back at e2."),
        ("g7,c2@ss", "c2@ss is not possible: it would leave the board south of c1."),
        ("g7,c2@www", "c2@www is not possible: it would leave the board west of a2."),
        ("f2,c2@ens,c2@n", "A turn is one drop and at most one sowing; leave out 'c2@n'."),
        ("g7,z9@n", "There is no point 'z9'; columns go from a to g, rows from 1 to 7."),
    ],
)
def test_a_sowing_is_refused(text, why):
    assert refusal(position(BIG), text).startswith(why)


def test_a_sowing_leaves_no_piece_over():
    state = position("""
        .  .  .  .  .
        .  .  .  W1 .
        .  .  .  .  .
        .  .  .  .  W1
        B2 .  .  .  B1
    """)
    assert "leave the board east" in refusal(state, "b2,e1@e")
    assert "the hand that comes there has 1" in refusal(state, "b2,e1@n")


# Capturing by sowing


def row(stacks):
    """A row of five at the edge of an open board, where both colours have more groups."""
    return position(f"""
        .  .  B1 .  W1
        .  .  .  .  .
        .  .  .  .  W1
        .  .  .  .  .
        {stacks}
    """)


@pytest.mark.parametrize(
    ("hand", "height", "captures"),
    [(1, 1, False), (2, 1, True), (3, 1, True), (4, 1, True), (2, 2, False), (3, 2, False), (4, 2, True), (4, 3, False),
     (4, 4, False)],
)  # fmt: skip
def test_an_enemy_stack_takes_a_hand_of_twice_its_pieces(hand, height, captures):
    state = row(f"B{hand} W{height} . . .")
    text = "a3,a1@" + "ennn"[:hand]
    assert is_legal(state, text) == captures
    if captures:
        assert cells(played(state, text))["b1"] == "B1"


@pytest.mark.parametrize("stack", ["W3", "W4"])
def test_no_hand_is_named_that_would_capture_three_pieces(stack):
    why = refusal(row(f"B4 {stack} . . ."), "a3,a1@eeee")
    assert why == f"a1@eeee is not possible: no hand captures the white stack of {stack[1]} on b1."


def test_four_can_capture_two_and_then_single_ones():
    assert cells(played(row("B4 W2 W1 W1 ."), "a3,a1@eeee")) == pairs("a3=B1 b1=B1 c1=B1 d1=B1 e1=B1 c5=B1 e3=W1 e5=W1")


@pytest.mark.parametrize(
    ("stacks", "path", "needed", "stack", "hand"),
    table("""
    B4 W1 .  .  .  | e    | 2 | 1 on b1 | 1 | a hand is what was taken from the stack
    B4 .  W2 .  .  | eeee | 4 | 2 on c1 | 3 | a hand becomes smaller at the first point
    B4 .  W1 W2 .  | eeee | 4 | 2 on d1 | 2 | a hand becomes smaller at the second point
    B4 .  .  .  W1 | eeee | 2 | 1 on e1 | 1 | a hand becomes smaller at the third point
    """),
)
def test_a_hand_is_refused_that_is_too_small_where_it_comes_to_an_enemy_stack(stacks, path, needed, stack, hand):
    assert refusal(row(stacks), f"a3,a1@{path}") == (
        f"a1@{path} is not possible: only a hand of {needed} or more captures the white stack of {stack}, "
        f"and the hand that comes there has {hand}."
    )


def test_a_capture_can_leave_a_single_group_which_is_dead_or_several_before_the_dead_ones_are_captured():
    state = position("""
        .  .  B1 .  W1
        .  .  .  .  .
        .  .  .  .  .
        .  .  .  .  .
        B2 W1 .  .  .
    """)
    assert cells(played(state, "a3,a1@en")) == {"a3": "B1", "b1": "B1", "b2": "B1", "c5": "B1"}
    state = position("""
        B1 .  .  .  .
        .  .  .  .  .
        .  .  .  .  .
        B1 B2 B1 .  .
        W1 W1 W1 .  .
    """)
    # when b1 has gone, a1 and c1 are two groups, and no path leads from one to the other
    assert cells(played(state, "e5,b2@sw")) == pairs("a1=B1 a2=B1 a5=B1 b1=B1 c2=B1 e5=B1")


# Capturing by enclosure


SOURCE = """
    .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  .  .
    .  .  .  .  .  .  .  W1 .
    .  B2 B1 .  .  .  .  .  .
    .  .  .  W2 .  W1 .  .  .
    .  B1 .  B3 W4 .  .  .  .
    .  .  .  W1 .  .  W1 .  .
"""


def test_the_source_encloses_d1_by_d2_ws_and_e1_by_e2_wse_in_the_middle_of_the_sowing_and_refuses_f2_es():
    assert cells(played(position(SOURCE), "e1,d2@ws")) == pairs(
        "b2=B1 b4=B2 c1=B1 c2=B1 c4=B1 d2=B1 e1=B1 d3=W2 e2=W4 f3=W1 g1=W1 h5=W1"
    )
    assert cells(played(position(SOURCE), "e1,d2@ws", "f1,e2@wse")) == pairs(
        "b2=B1 b4=B2 c1=B1 c2=B1 c4=B1 d1=W1 d2=W1 d3=W2 e1=W1 e2=W1 f1=W1 f3=W1 g1=W1 h5=W1"
    )
    state = played(position(SOURCE), "e1,d2@ws")
    assert (
        "only a hand of 2 or more captures the black stack of 1 on e1, and the hand that comes there has 1"
        in refusal(state, "b8,e2@wse")
    )
    state = played(position(SOURCE), "e1,d2@ws", "f1,e2@wse")
    assert refusal(state, "f2:3,f2@es") == "f2 was dropped on in this turn; only another stack can be sown."
    assert is_legal(state, "f2:3")


@pytest.mark.parametrize("path", ["sses", "sse"])
def test_j7_sses_of_the_source_encloses_a_stack_of_four(path):
    cells_before = {"k6": "B4", "a1": "B1", "a3": "B1", "j7": "W4", "k7": "W1", "l7": "W1", "c9": "W1"}
    state = spora.setup({"cells": cells_before, "turn": "white"})
    left = cells(played(state, f"l6,j7@{path}"))
    assert "k6" not in left
    assert {name for name, stack in left.items() if stack[0] == "B"} == {"a1", "a3"}


WALL = """
    .  .  .  W1 .
    W1 .  .  .  .
    .  W1 .  .  B1
    .  .  W1 .  .
    B1 .  .  .  B1
"""


def test_a_group_is_alive_while_a_path_of_empty_points_leads_to_another_one_or_is_captured_at_once():
    assert "a1" in cells(played(position(WALL, turn="white"), "d2"))
    assert cells(played(position(WALL, turn="white"), "d1")) == pairs("a4=W1 b3=W1 c2=W1 d1=W1 d5=W1 e1=B1 e3=B1")


def test_the_only_group_that_a_colour_ever_had_is_alive_until_it_gets_a_second_one():
    state = position("""
        .  .  .  .  .
        .  .  .  W1 .
        .  .  .  .  .
        W1 .  .  .  .
        B1 .  .  .  .
    """, turn="white")  # fmt: skip
    state = played(state, "b1")
    assert cells(state)["a1"] == "B1"
    assert is_legal(state, "a1:2")
    state = position("""
        .  .  .  .  .
        .  .  .  W1 .
        .  .  .  .  .
        W1 .  .  .  .
        B1 W1 .  .  .
    """)
    assert refusal(state, "c4").endswith("its group would be the only black one, after there were several.")
    assert refusal(state, "c4,a1@n") == "There is no black stack on a1 any more: it is captured after the drop."


def test_a_group_that_is_split_for_a_moment_is_alive_when_it_is_one_again():
    state = played(spora.new(size=5), *"b3:2 c3:2 b4:2,b3@s c3 c4,b4@w".split())
    # c3 captures b3, which cuts b2 off from the others, and then b2
    assert cells(played(state, "d5,c3@wse")) == pairs("a4=B1 b4=B1 c4=B1 b2=W1 b3=W1 c2=W1 d5=W1")
    state = played(spora.new(size=7), "f2", "f1")
    assert cells(played(state, "e1:4,f2@w")) == pairs("e1=B4 e2=B1 f1=W1"), "two groups become one within the turn"


@pytest.mark.parametrize(
    ("stack_on_b2", "left"),
    [(".", "c1=W1"), ("W1", "")],
)
def test_the_last_of_the_parts_of_a_group_is_dead_only_if_another_part_was_captured_by_enclosure(stack_on_b2, left):
    state = position(f"""
        .  .  .  .  .
        .  .  .  .  .
        .  B1 B4 .  .
        B1 {stack_on_b2} W1 W1 .
        .  B1 W1 .  .
    """)
    # the first piece captures c2 and encloses b2, the second one captures d2
    after = played(state, "e5,c3@seen")
    assert {name: stack for name, stack in cells(after).items() if stack[0] == "W"} == pairs(left)
    assert after.view()["over"] == (not left)


def test_nothing_is_counted_while_pieces_are_lifted():
    state = position("""
        .  .  .  W1 .
        .  .  .  .  .
        .  .  .  .  .
        B1 .  B1 .  .
        B1 B1 B1 .  .
    """)
    assert cells(played(state, "a1,b1@n")) == pairs("a1=B2 a2=B1 b2=B1 c1=B1 c2=B1 d5=W1")


def test_the_enemy_is_captured_first():
    state = position("""
        W1 W1 B1 W1 W1
        W1 W1 B2 W1 W1
        B1 W1 .  W1 W1
        .  W1 B1 W1 W1
        B1 W1 B1 W1 W1
    """, reserve={"black": 3, "white": 3})  # fmt: skip
    # c3 takes the last empty point of all groups around it, of either colour
    assert cells(played(state, "a1,c4@s")) == pairs("a1=B2 a3=B1 c1=B1 c2=B1 c3=B1 c4=B1 c5=B1")


POCKET = """
    .  W1 .  .  W1
    B2 .  W1 .  .
    .  W1 B4 .  .
    B1 W1 .  W3 B4
    .  W1 .  .  .
"""


def test_a_sown_piece_in_a_dead_group_is_captured_with_it_and_the_sowing_goes_on_there():
    # a3 joins the only two black groups in the corner
    assert stacks(played(position(POCKET), "d1,a4@s"), "B") == {"c3": 4, "d1": 1, "e2": 4}
    whites = "b1=W1 b2=W1 b3=W1 b5=W1 c4=W1 d2=W3 e5=W1"
    assert cells(played(position(POCKET), "d1,a4@ss")) == pairs(f"{whites} c3=B4 d1=B1 e2=B4")


# The dropped stack


CORNER = """
    .  .  W1 .  B1
    .  .  .  .  .
    .  .  .  .  .
    W1 .  .  .  .
    .  W1 B2 .  .
"""


def test_a_turn_after_which_the_dropped_stack_is_dead_is_illegal_and_the_sowing_can_save_it():
    assert refusal(position(CORNER), "a1") == (
        "The stack dropped at a1 would be dead at the end of the turn: "
        "no path of empty points leads from its group to another black group."
    )
    assert cells(played(position(CORNER), "a1,c1@wn")) == pairs("a1=B1 a2=W1 b1=B1 b2=B1 c5=W1 e5=B1")


def test_a_drop_that_captures_can_be_alive_without_an_empty_point_at_first():
    state = position("""
        .  .  .  .  .
        .  .  .  .  W1
        B1 .  .  .  .
        W1 B1 .  .  W1
        .  W1 B1 .  .
    """)
    assert cells(played(state, "a1")) == pairs("a1=B1 a3=B1 b2=B1 c1=B1 e2=W1 e4=W1")


def test_joining_the_last_two_groups_is_illegal_unless_the_sowing_parts_them_again():
    state = position("""
        .  .  .  .  .
        .  .  .  .  W1
        B1 .  .  .  .
        .  .  .  .  .
        B1 .  .  .  .
    """)
    assert refusal(state, "a2") == (
        "The stack dropped at a2 would be dead at the end of the turn: "
        "its group would be the only black one, after there were several."
    )
    assert is_legal(state, "b2")
    state = position("""
        .  .  W1 .  .
        .  W4 .  .  B1
        .  .  .  .  B1
        .  .  B3 .  B1
        .  .  .  .  B4
    """)
    assert not is_legal(state, "d2:4")
    assert cells(played(state, "d2:4,e2@w")) == pairs("b4=W4 c5=W1 c2=B3 d2=B4 e1=B4 e3=B1 e4=B1")


EYE = """
    .  .  .  .  .
    W1 W1 .  .  .
    .  .  W1 .  .
    W1 W1 B4 .  B1
    .  .  .  .  .
"""


def test_an_empty_territory_is_secure_from_drops_and_not_from_sowing():
    assert refusal(position(EYE), "a3").startswith("The stack dropped at a3 would be dead")
    whites = "a2=W1 a4=W1 b2=W1 b4=W1"
    assert cells(played(position(EYE), "e2,c2@nww")) == pairs(f"{whites} a3=B1 b3=B1 c2=B1 c3=B1 e2=B2")


# The last turn


LAST = """
    .  W1 .  .  .
    W1 .  .  .  .
    .  .  .  .  .
    .  .  .  .  W1
    B1 .  .  B1 .
"""


def last(turn, **reserve):
    return position(LAST, turn=turn, reserve=reserve, komi=0)


def test_when_a_reserve_is_empty_the_other_player_has_one_last_turn_of_single_pieces():
    state = played(last("white", black=4, white=2), "c3:2")
    assert not state.view()["over"]
    assert state.view()["turn"] == "black"
    assert state.view()["reserve"] == {"black": 4, "white": 0}
    assert played(state, "a2").view()["over"]
    state = played(last("black", black=4, white=0), "a2,c3,a2,d1")
    assert cells(state) == pairs("a1=B1 a2=B2 a4=W1 b5=W1 c3=B1 d1=B2 e2=W1")
    assert played(last("black", black=4, white=0), "c3").view()["reserve"] == {"black": 0, "white": 0}


@pytest.mark.parametrize(
    ("text", "canonical"), [("a2", "a2"), ("A2:1, c3 ,a2", "a2,c3,a2"), ("d1,d1,d1,d1", "d1,d1,d1,d1")]
)
def test_the_last_turn_is_written_in_the_order_played(text, canonical):
    assert last("black", black=4, white=0).parse(text) == canonical


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("c3,a1@n", "The last turn has no sowing; leave out the one from a1."),
        ("a1@n", "The last turn has no sowing"),
        ("c3:2", "c3:2 is not possible: the last turn drops single pieces, as in c3,c3."),
        ("c3:4,a1@n", "The last turn drops single pieces, as in c3,c3, and has no sowing: c3:4 is several at once"),
        ("c3:0", "c3:0 is not possible: a drop is 1 to 4 pieces."),
        ("c3,c3,c3,c3,c3", "That drops 5 pieces, and your reserve has 4."),
        ("c3,e2", "A white stack stands on e2; drop on an empty point or a stack of yours."),
        ("a5", "The stack dropped at a5 would be dead: no path of empty points leads from its group to another"),
        ("c3,a5", "The stack dropped at a5 would be dead: no path of empty points leads from its group to another"),
        ("b1,c1", "The stack dropped at c1 would be dead: its group would be the only black one, after there were"),
        ("", "Cannot read ''"),
        (SKIP, "A turn is never skipped"),
    ],
)
def test_the_last_turn_is_refused(text, why):
    assert refusal(last("black", black=4, white=0), text).startswith(why)


def test_the_last_turn_may_join_groups_of_which_there_was_one_when_it_began():
    state = spora.setup({"cells": {"a1": "B1", "e5": "W1"}, "reserve": {"white": 0}}, size=5)
    assert cells(played(state, "c1,b1")) == pairs("a1=B1 b1=B1 c1=B1 e5=W1")


def test_each_piece_of_the_last_turn_has_to_be_alive_when_it_is_dropped_and_captures_before_the_next():
    # a5 is dead before b4 is taken, and alive after that
    state = last("black", black=4, white=0)
    assert not is_legal(state, "a5,c5,b4,a3")
    assert cells(played(state, "c5,b4,a3,a5"))["a5"] == "B1"
    state = played(last("black", black=4, white=0), "d2,e1,e3")
    assert "e2" not in cells(state)
    assert cells(played(last("black", black=4, white=0), "d2,e1,e3,e2"))["e2"] == "B1"


# The end of the game


def test_a_stack_is_a_point_however_high_and_an_empty_region_belongs_to_the_colour_around_it():
    state = position("""
        .  B1 .  .  .
        B1 B4 .  .  .
        .  .  .  .  .
        W1 W2 .  .  .
        .  .  W1 .  B1
    """)
    # a5 is Black's; a1 and b1 are White's; all other empty points touch both
    assert state.view()["scores"] == {"black": 4 + 1, "white": 3 + 2 + 3.5}


@pytest.mark.parametrize(
    ("wall", "black", "white"), [("W1 W1 W1 W1 W1", 2, 5 + 10 + 3.5), ("W1 W1 W1 W1 . ", 2, 4 + 3.5)]
)
def test_a_region_with_a_gap_or_an_enemy_inside_belongs_to_nobody(wall, black, white):
    state = position(f"""
        .  .  .  .  .
        .  .  .  .  .
        {wall}
        .  .  .  .  .
        B1 .  B1 .  .
    """)
    assert state.view()["scores"] == {"black": black, "white": white}


LOST = """
    .  .  .  .  .
    .  .  .  .  .
    .  .  B1 .  .
    .  .  .  .  .
    B2 W1 .  .  .
"""


@pytest.mark.parametrize(
    ("state", "turns", "winner", "scores"),
    [  # on LAST, 3 stacks against 3 or 4, a5, and half a point
        (last("black", black=1, white=3), ("c3", "d4"), "white", (3, 5.5)),
        (last("black", black=1, white=3), ("c3", "b5"), "white", (3, 4.5)),
        (last("white", black=4, white=1), ("e2", "c3,c1,b2,d3"), "black", (7, 4.5)),
        (last("white", black=4, white=1), ("e2", "c3"), "white", (3, 4.5)),
        (position(LOST), ("e5,a1@en",), "black", (25, 3.5)),  # White has lost all stacks
        (position(LOST, komi=25), ("e5,a1@en",), "white", (25, 25.5)),  # and wins by the komi
    ],
)
def test_the_higher_score_wins_after_the_last_turn_or_when_a_side_has_lost_all_its_stacks(state, turns, winner, scores):
    view = played(state, *turns).view()
    assert (view["over"], view["winner"]) == (True, winner)
    assert view["scores"] == dict(zip(spora.SIDES, scores, strict=True))


def test_a_side_without_stacks_has_lost_at_once_but_not_before_its_first_drop_and_nothing_is_played_then():
    view = played(position(LOST, reserve={"black": 1, "white": 9}), "e5,a1@en").view()
    assert (view["over"], view["winner"], view["turn"]) == (True, "black", "white")
    assert view["reserve"] == {"black": 0, "white": 9}
    assert not played(spora.new(size=5), "c3").view()["over"]
    state = played(position(LOST), "e5,a1@en")
    assert refusal(state, "a1") == "The game is over."
    assert refusal(state, SKIP) == "The game is over."
    assert list(state.moves()) == []
    assert not state.must_skip


def test_equal_scores_without_a_komi_are_a_draw():
    stacks = {"a1": "B1", "e5": "W1"}
    state = spora.setup({"cells": stacks, "turn": "black", "reserve": {"white": 0}}, size=5, pie=True)
    view = played(state, "a1").view()
    assert (view["over"], view["winner"], view["scores"]) == (True, "draw", {"black": 1, "white": 1})


# Positions


@pytest.mark.parametrize(
    ("view", "why"),
    [
        ({"cells": {"f1": "B1"}}, "There is no point 'f1'"),
        ({"cells": {"a1": "B5"}}, "What stands on a1 cannot be read; a stack is B1 to B4 or W1 to W4."),
        ({"cells": {"a1": 3}}, "What stands on a1 cannot be read"),
        ({"cells": {}, "turn": "pink"}, "It cannot be the turn of"),
        ({"cells": {}, "turn": ["black"]}, "It cannot be the turn of"),
        ({"cells": {}, "moves": -1}, '"moves" is a number of moves'),
        ({"cells": {}, "komi": 3.5}, '"komi" is a whole number'),
        ({"cells": {}, "komi": True}, '"komi" is a whole number'),
        ({"cells": {}, "reserve": 3}, '"reserve" is an object with two numbers'),
        ({"cells": {}, "reserve": {"black": 16}}, "The reserve of black cannot be that: it starts with 15"),
        ({"cells": {}, "reserve": {"white": -1}}, "The reserve of white cannot be that"),
        ({"cells": {"a1": "B4", "b1": "B4", "c1": "B4", "d1": "B4"}}, "The reserve of black cannot be that"),
        ({"cells": {"a1": "B1", "a2": "W1", "b1": "W1", "c3": "B1"}}, "The group of a1 is dead"),
    ],
)
def test_a_position_is_refused(view, why):
    with pytest.raises(Illegal) as refused:
        spora.setup(view, size=5)
    assert str(refused.value).startswith(why)


def test_a_position_before_the_pie_turns_is_for_the_side_that_has_to_answer_and_what_it_leaves_out_as_after_them():
    assert spora.setup({"cells": {}, "turn": "black", "moves": 0}, size=5, pie=True).parse("komi=1") == "komi=1"
    named = {"cells": {}, "turn": "white", "moves": 1, "komi": 1}
    assert spora.setup(named, size=5, pie=True).parse("black") == "black"
    with pytest.raises(Illegal, match="it is not the turn of black"):
        spora.setup({**named, "turn": "black"}, size=5, pie=True)
    view = spora.setup({"cells": {"a1": "B3", "e5": "W1"}}, size=5, komi=7).view()
    assert view["reserve"] == {"black": 12, "white": 14}
    assert view["komi"] == 7
    assert view["turn"] == "black"


# Drawing


def test_a_board_of_25_columns_has_coordinates_on_all_sides_in_78_columns():
    lines = spora.draw(spora.new(size=25)).split("\n")
    assert max(map(len, lines)) <= 78
    assert lines[0].split() == lines[26].split() == list(LETTERS)
    assert [(line.split()[0], line.split()[-1]) for line in lines[25:0:-1]] == [(str(n), str(n)) for n in range(1, 26)]


def test_the_picture_shows_colours_heights_what_changed_and_what_kind_of_turn_comes():
    state = position(SOURCE)
    assert (
        spora.draw(played(state, "e1,d2@ws"), state)
        == """\
   a  b  c  d  e  f  g  h  i
 9 .  .  .  .  .  .  .  .  .  9
 8 .  .  .  .  .  .  .  .  .  8
 7 .  .  .  .  .  .  .  .  .  7
 6 .  .  .  .  .  .  .  .  .  6
 5 .  .  .  .  .  .  .  W1 .  5
 4 .  B2 B1 .  .  .  .  .  .  4
 3 .  .  .  W2 .  W1 .  .  .  3
 2 .  B1 b1 b1 W4 .  .  .  .  2
 1 .  .  b1 :  b1 .  W1 .  .  1
   a  b  c  d  e  f  g  h  i

small b, w = changed by the last turn; a colon = emptied by it
captured: d1.

       stacks  territory  komi  score  reserve
black       7          1            8       40
white       5          0   3.5    8.5       38"""
    )
    start = spora.new(pie=True, size=5)
    assert spora.draw(start).endswith("\n\nBlack names the komi.")
    assert spora.draw(played(start, "komi=1"), start).endswith("\n\nWhite chooses a side.")
    assert spora.draw(last("black", black=4, white=0)).endswith(
        "\n\nWhite's reserve is empty: this is the last turn, of single pieces."
    )


def told_captures(state, before):
    """What the text tells of captures, and the notes of the picture, which say the same."""
    lines = spora.draw(state, before).split("\n")
    told = " ".join(line.strip() for line in lines[state.board.size + 4 : lines.index("", state.board.size + 4)])
    assert told == " ".join(note.text for note in spora.figure(state, before).notes if note.side is None)
    assert max(map(len, lines)) <= 78
    return told


def test_text_and_picture_name_what_was_captured_by_sowing_and_by_enclosure():
    start = position(SOURCE)
    one = played(start, "e1,d2@ws")
    two = played(one, "f1,e2@wse")
    three = played(two, "b9")
    assert told_captures(one, start) == "captured: d1."
    assert told_captures(two, one) == "captured: d2, e1."
    assert told_captures(three, two) == ""
    assert told_captures(two, start) == "captured: d1, d2, e1.", "a turn and its planned answer are shown together"
    assert "captured" not in spora.draw(two)


def test_stacks_of_the_movers_own_that_were_captured_are_named_and_those_that_were_sown_are_not():
    state = position(POCKET)
    assert told_captures(played(state, "d1,a4@s"), state) == "own stacks captured: a2, a3, a4."
    assert told_captures(played(state, "d1,a4@ss"), state) == "own stacks captured: a2, a3."
    state = position(EYE)
    assert told_captures(played(state, "e2,c2@nww"), state) == "captured: c3."


def test_many_captures_are_named_in_several_lines_and_none_of_them_looks_like_a_stack():
    cells = {"y25": "B1", "m13": "W1", "p13": "W1", **{f"b{row}": "W1" for row in range(2, 24)}}
    walls = {f"{column}{row}": "B1" for column in "ac" for row in range(2, 24)} | {"b1": "B1"}
    state = spora.setup({"cells": {**cells, **walls}, "turn": "black"}, size=25)
    after = played(state, "b24")
    names = ", ".join(f"b{row}" for row in range(2, 24))
    assert told_captures(after, state) == f"captured: {names}."
    board = spora.draw(after, state).split("\n\n")[0]
    for pattern in (*spora.GLYPHS.sides, r"[bw][1-4](?!\d|,|\.$|\.\n)"):
        assert len(re.findall(pattern, spora.draw(after, state))) == len(re.findall(pattern, board))


# Whole games, chosen at random


def reference_of(state):
    """The reference in a position of its own, whose history begins now."""
    reference = Reference(state.board.size, state.komi)
    reference.cells = {
        reference.point(name): ("black" if stack[0] == "B" else "white", int(stack[1]))
        for name, stack in cells(state).items()
    }
    reference.turn = state.view()["turn"]
    reference.reserve = dict(state.view()["reserve"])
    reference.had_several = {side: len(reference.groups(side)) > 1 for side in spora.SIDES}
    reference.had_first_turn = dict(zip(spora.SIDES, state.has_dropped, strict=True))
    return reference


seeds = st.integers(0, 10**6)


@given(seeds)
@examples(6)
def test_the_listed_turns_are_those_that_the_reference_allows_and_everything_that_can_be_parsed(seed):
    rng = Random(seed)
    state = rng.choice([one for one, move in random_game(spora, {"size": 5}, seed) if move and not one.is_last_turn])
    listed = list(state.moves())
    assert len(listed) == len(set(listed))
    drop = rng.choice(sorted(state.board.bit)) + rng.choice(["", f":{min(4, state.reserve[state.turn])}"]).replace(
        ":1", ""
    )
    assert {text for text in listed if text.split(",")[0] == drop} == reference_of(state).turns_with(drop)
    drop = rng.choice(sorted(state.board.bit))
    paths = [""]
    for _ in range(4):
        paths = [path + letter for path in paths for letter in "nesw"]
        tried = [f"{drop},{name}@{path}" for name in state.board.bit for path in paths]
        assert {text for text in tried if is_legal(state, text)} == {text for text in tried if text in listed}


@pytest.mark.long
@given(seeds)
@examples(8)
def test_all_last_turns_are_listed_in_the_order_of_their_length(seed):
    *_, (before, _), _ = random_game(spora, {"size": 5}, seed)
    state = before._replace(reserve=(0, 2) if before.turn else (2, 0))
    names = list(state.board.bit)
    tried = names + [f"{one},{two}" for one in names for two in names]
    listed = list(state.moves())
    reference = reference_of(state)
    assert listed == sorted(listed, key=lambda text: text.count(","))
    assert len(listed) == len(set(listed))
    assert set(listed) == {text for text in tried if is_legal(state, text)}
    assert set(listed) == {text for text in tried if reference.is_legal(text)}


def test_random_turns_are_of_all_kinds():
    moves = [move for seed in range(6) for _, move in random_game(spora, {"size": 7}, seed) if move]
    assert any("@" in move for move in moves)
    assert any(len(move.partition("@")[2]) == 4 for move in moves)
    assert any("@" not in move and ":" not in move for move in moves)
    assert any(move.count(",") > 1 for move in moves)
    assert spora.new(pie=True).random(Random(1)).startswith("komi=")
    assert played(spora.new(pie=True), "komi=1").random(Random(1)) in spora.SIDES
