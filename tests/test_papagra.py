"""Papagra, as its rules have it."""

import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import SKIP, Illegal, papagra
from games.boards import Hexagon
from pbm import referee

from helpers.examples import examples, picture_cells, played, random_game, refusal
from helpers.reference.papagra import Papagra, same_shape, spaces

SIDES = ("pink", "black")


def position(picture, turn="pink", marks=(0, 0), **options):
    """A position drawn as on the board: o is pink, # is black."""
    cells = {name: "P" if stone == "o" else "B" for name, stone in picture_cells(picture, is_hexagonal=True).items()}
    view = {"cells": cells, "turn": turn, "marks": dict(zip(SIDES, marks, strict=True))}
    return papagra.setup(view, size=len(picture.strip().splitlines()) // 2 + 1, **options)


def marks(state):
    return tuple(state.view()["marks"][side] for side in SIDES)


def winner(state):
    return state.view()["winner"]


def matched(state):
    """The matched groups of Pink and of Black, as sets of names."""
    groups = papagra.matched(state.board, state.parts)
    return tuple(sorted(state.board.names(group) for group in side) for side in groups)


# The board and the options


@pytest.mark.parametrize("size", range(3, 11))
def test_the_board_is_a_hexagon_with_rows_from_the_bottom_and_spaces_from_the_left(size):
    names = [move.removeprefix("+") for move in papagra.new(size=size).moves()]
    assert names == list(spaces(size))
    assert len(names) == 3 * size * (size - 1) + 1
    assert names[:size] == [f"a{number}" for number in range(1, size + 1)]


def test_the_usual_board_has_six_spaces_to_a_side():
    assert games.read_options(papagra, []) == {"size": 6, "removals": 0}
    names = list(papagra.new().board.bit)
    assert (len(names), names[0], names[5], names[-1]) == (91, "a1", "a6", "k6")
    assert [name for name in names if name[0] == "f"][-1] == "f11"


# Matched groups


def test_a_matched_group_may_be_turned_and_a_part_of_a_group_does_not_count():
    """The first kind of example: three pink stones, and four black ones of which three have the shape."""
    state = position("""
           o o . .
          . . o . .
         . . # # # .
        . . . . . # .
         . . # # . .
          # # . # . .
           . . # .
    """)
    assert matched(state) == ([["f3", "g1", "g2"]], [])


def test_a_matched_group_may_be_part_of_the_border_of_its_region():
    """The second kind of example."""
    state = position("""
           . . . .
          . . . . .
         . . . . . .
        . . . . . . .
         . . # o . .
          # # . o .
           . . o o
    """)
    assert matched(state) == ([], [["b1", "b2", "c3"]])


def test_a_matched_group_is_not_flipped():
    """The third kind of example: four black stones match, and four pink ones that look much the same do not."""
    state = position("""
           # . . .
          # . . . o
         . # . . . o
        . # . . . o .
         . . o # # o
          o o . . #
           . . # #
    """)
    assert matched(state) == ([], [["d2", "e2", "f1", "g1"]])


def test_a_part_of_a_region_does_not_count_and_a_stone_alone_has_another_shape_than_a_pair():
    state = position("""
          . . .
         . . . .
        o o . . .
         . # # .
          . . .
    """)
    assert matched(state) == ([], [])
    state = position("""
          o . .
         . . # #
        . . . . .
         # # # .
          . . #
    """)
    assert matched(state) == ([], [["d3", "d4"]])


@given(st.integers(3, 7), st.integers(0, 10**6))
@examples(60)
def test_matched_groups_are_those_of_the_reference(size, seed):
    rng = Random(seed)
    game = Papagra(size, 0)
    contents = {}
    for name, (x, y) in game.places.items():
        near = [contents[place] for place in ((x - 2, y), (x - 1, y - 1), (x + 1, y - 1)) if place in contents]
        contents[x, y] = rng.choice(near) if near and rng.random() < 0.5 else rng.choice(" PB")
        if contents[x, y] != " ":
            game.cells[name] = contents[x, y]
    state = papagra.setup({"cells": game.cells}, size=size)
    expected = tuple(
        sorted([name for name, place in game.places.items() if place in group] for group in groups)
        for groups in game.matched().values()
    )
    assert matched(state) == expected


@given(st.integers(3, 7), st.integers(0, 3), st.integers(0, 10**6))
@examples(30)
def test_after_each_turn_the_groups_are_those_of_the_position_set_up_anew(size, removals, seed):
    for state in random_states(size, removals, seed):
        assert state.parts == papagra.setup({"cells": state.cells}, size=size).parts


def random_states(size, removals, seed):
    """The positions after each of 40 random turns, or up to the end."""
    rng = Random(seed)
    state = papagra.new(size=size, removals=removals)
    for _ in range(40):
        if state.result():
            return
        state = state.play(state.random(rng))
        yield state


@given(st.integers(3, 8), st.integers(2, 12), st.integers(0, 10**6))
@examples(100)
def test_two_sets_have_one_shape_if_turning_and_moving_makes_one_of_the_other(size, number, seed):
    rng = Random(seed)
    board = Hexagon(size)
    places = spaces(size)

    def grown():
        cells = rng.choice(list(board.name))
        while cells.bit_count() < min(number, 7):
            cells |= board.bit[rng.choice(board.names(board.ring(cells)))]
        return cells

    one, other = grown(), grown()
    sets = [{places[name] for name in board.names(cells)} for cells in (one, other)]
    assert (papagra.shape(board, one) == papagra.shape(board, other)) == same_shape(*sets)


# The turn


def test_pink_begins_with_one_added_stone_and_each_later_turn_is_two_actions_of_which_one_may_undo_the_other():
    state = papagra.new(size=3)
    assert state.view()["turn"] == "pink"
    assert list(state.moves()) == [f"+{name}" for name in state.board.bit]
    assert played(state, "b2").view()["cells"] == {"b2": "P"}
    assert (played(state, "b2").view()["turn"], played(state, "b2").turns) == ("black", 1)
    state = played(papagra.new(size=3), "b2", "+a1,+a2")
    assert state.view()["cells"] == {"b2": "P", "a1": "B", "a2": "B"}
    assert played(state, "-b2,+c3").view()["cells"] == {"c3": "P", "a1": "B", "a2": "B"}
    assert played(state, "+c3,-c3").stones == state.stones
    assert played(state, "-b2,+b2").stones == state.stones


def test_a_third_action_removes_up_to_x_stones_at_once_and_names_them_in_board_order():
    state = played(papagra.new(size=3, removals=2), "b2", "+a1,+a2,-a1", "+c1,+c2,-c2-b2")
    assert state.view()["cells"] == {"a2": "B", "c1": "P"}
    assert played(state, "+e1,+e2").view()["cells"] == {"a2": "B", "c1": "P", "e1": "B", "e2": "B"}
    state = papagra.setup({"cells": dict.fromkeys(("a2", "a10", "b1"), "P")}, size=10, removals=3)
    assert state.parse("c1,c2,-b1-a10-a2") == "+c1,+c2,-a2-a10-b1"


@pytest.mark.parametrize("size", [3, 6, 10])
def test_a_turn_has_as_many_ways_as_two_of_the_spaces_that_the_enemy_leaves(size):
    state = papagra.new(size=size)
    area = 3 * size * (size - 1) + 1
    assert sum(1 for _ in state.moves()) == area
    assert sum(1 for _ in played(state, "c1").moves()) == (area - 1) ** 2


def test_a_third_action_makes_more_turns_which_are_found_one_by_one():
    """18 spaces: 18 x 17 ways to add two stones, of which one or both may go again; 18 to take one back."""
    for removals, ways in (0, 1), (1, 3), (2, 4), (999, 4):
        state = played(papagra.new(size=3, removals=removals), "c1")
        assert len(list(state.moves())) == 18 * 17 * ways + 18
    state = papagra.new(size=10, removals=999).play("+a1")
    assert next(played(state, "+a2,+a3").moves()) == "-a1,+a1"


# Notation


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("+c1,+c2", "+c1,+c2"),
        ("c2,c1", "+c2,+c1"),
        ("C1 , -B2", "+c1,-b2"),
        ("  +c1\t,c2 ", "+c1,+c2"),
        ("-b2,b2", "-b2,+b2"),
        ("+c1,-c1", "+c1,-c1"),
        ("+c1,+c2,-c2", "+c1,+c2,-c2"),
        ("c1,e2, -E2-b2-c1", "+c1,+e2,-b2-c1-e2"),
    ],
)
def test_a_turn_can_be_written_in_several_ways(text, canonical):
    state = played(papagra.new(size=3, removals=3), "b2", "a1,a2")
    assert state.parse(text) == canonical


@pytest.mark.parametrize("text", ["a3", "+A3", " +a3 "])
def test_the_first_turn_can_be_written_with_or_without_a_sign(text):
    assert papagra.new().parse(text) == "+a3"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("+a4,-a4", "The first turn of the game is one added stone; '-a4' is one too many."),
        ("a1,", "The first turn of the game is one added stone; '' is one too many."),
        ("-a3", "The first turn of the game is one added stone; '-a3' removes 1."),
        ("a3 b4", "'a3 b4' is more than one action, and commas join them: write a3,b4."),
        ("", "Cannot read ''; an action is a space with a sign, +c3 to add a stone or -e2 to remove one."),
        ("--", "A skip is not asked for: it comes by itself when no action is possible."),
        ("-a1-a2", "'-a1-a2' is more than one action, and commas join them: write -a1,-a2."),
    ],
)
def test_refused_as_the_first_turn(text, reason):
    assert refusal(papagra.new(size=4, removals=1), text) == reason


UNREADABLE = "an action is a space with a sign, +c3 to add a stone or -e2 to remove one."
ONE_TOO_FEW = "A turn is two actions, such as +c3,-e2, and"
SEVERAL = (("-b2-b3", "-b2,-b3"), ("c2 c3", "c2,c3"), ("+c2-b3", "+c2,-b3"), ("C2; c3", "C2,c3"))
SEVERAL_AND_ONE = (("c2-c3", "c2,-c3"), ("+c2+c3", "+c2,+c3"), ("-b2-b2", "-b2,-b2"))
UNREAD = ("", "++c2", "+ c2", "c", "c\u0662", "\u212a1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", f"{ONE_TOO_FEW} '' is only one."),
        ("+c2", f"{ONE_TOO_FEW} '+c2' is only one."),
        *(
            (text, f"'{text.removesuffix(',c4')}' is more than one action, and commas join them: write {meant}.")
            for text, meant in (*SEVERAL, *((f"{text},c4", meant) for text, meant in SEVERAL_AND_ONE))
        ),
        *((f"{part},c4", f"Cannot read '{part}'; {UNREADABLE}") for part in UNREAD),
        ("+c4," + 99 * "c", f"Cannot read '{27 * 'c'}...'; {UNREADABLE}"),
        ("c4," + 30 * "\0", "Cannot read '" + 6 * r"\x00" + rf"\x0...'; {UNREADABLE}"),
        ("c8,c1", "There is no space 'c8' on this board; row c goes from c1 to c6."),
        ("d07,c1", "'d07' is written with a zero too many: d7."),
        ("c1,h1", "There is no space 'h1' on this board; its rows are a to g."),
        ("a1,c1", "A stone is added to an empty space, but a black stone stands on a1."),
        ("b2,c1", "A stone is added to an empty space, but a pink stone stands on b2."),
        ("c1,c1", "A stone is added to an empty space, but a pink stone stands on c1 by then."),
        ("-a1,c1", "A player removes stones of their own, but a black stone stands on a1."),
        ("c1,-d7", "A player removes stones of their own, but no stone stands on d7."),
        ("-b2,-b2", "A player removes stones of their own, but no stone stands on b2 by then."),
        ("-b2-b3,c1", "'-b2-b3' removes 2 stones at once, which only a third action may do."),
        ("c1,-b2-b3", "'-b2-b3' removes 2 stones at once, which only a third action may do."),
        ("c1,c2,c3", "A third action only removes stones, such as -a1 or -a1-a2; 'c3' adds one."),
        ("c1,c2,-b2-b3-c1", "A third action of this game removes up to 2; '-b2-b3-c1' has 3."),
        ("c1,c2,-c1-c1", "'-c1-c1' names c1 twice; the spaces of a third action are all different."),
        ("c1,c2,-c1-a1", "A player removes stones of their own, but a black stone stands on a1."),
        ("c1,-b2,-b2", "A player removes stones of their own, but no stone stands on b2 by then."),
        ("c1,c2,-c1,-c2", "A turn is two actions and one of removals (-a1-a2); '-c2' would be a fourth."),
        ("--", "A skip is not asked for: it comes by itself when no action is possible."),
    ],
)
def test_refused_as_a_later_turn(text, reason):
    state = papagra.setup({"cells": {"b2": "P", "b3": "P", "a1": "B"}}, size=4, removals=2)
    assert refusal(state, text) == reason


@pytest.mark.parametrize("third", ["-b2", "+c3", "nonsense"])
def test_a_third_action_needs_a_game_with_removals(third):
    state = papagra.setup({"cells": {"b2": "P"}}, size=4)
    assert refusal(state, f"c1,c2,{third}") == f"A turn of this game is two actions; '{third}' would be a third one."


# The marks

WALL = """
       o o . .
      . . . . .
     . . . . . #
    . . . . . . .
     . . . . . .
      o o o o o
       . . . .
"""
"""A stone on a2 makes regions of one and two spaces; until then there is only the region of four, which is no match."""


WITH_SINGLE = WALL.replace(". . . . . . .", "o . . . . . .")
"""Pink creates a pair and a single stone."""
SINGLE = WALL.replace("o o . .\n", ". . . .\n")
"""Black creates a single stone, and Pink no pair."""
PAIRS = WALL.replace(". . . . . #", ". . . . # #")
"""Both create a pair; a black stone on a2 is a group of one, too."""


@pytest.mark.parametrize(
    ("picture", "turn", "before", "text", "after"),
    [
        # Rule 5: both marks go to the largest groups created, whoever moved; the mover's goes first
        (WALL, "pink", (0, 0), "+a2,-a2", (2, 1)),
        (WALL, "pink", (1, 0), "+a2,-a2", (2, 1)),
        # Rule 6: a number covered by the other mark is not taken, also by the player who does not move
        (WALL, "pink", (0, 2), "+a2,-a2", (0, 2)),
        (WALL, "pink", (3, 1), "+a2,-a2", (3, 1)),
        (SINGLE, "pink", (1, 0), "+a2,-a2", (1, 0)),
        # The ruling on both: if the greatest is covered, a smaller one is taken
        (WITH_SINGLE, "pink", (0, 2), "+a2,-a2", (1, 2)),
        (WITH_SINGLE, "pink", (0, 3), "+a2,-a2", (2, 3)),
        # Rule 7: a size created in both colours is for the mover only, even if the mover goes elsewhere
        (PAIRS, "pink", (0, 0), "+a2,-a2", (2, 0)),
        (PAIRS, "black", (0, 0), "+a2,-a2", (0, 2)),
        (PAIRS, "black", (2, 0), "+a2,-a2", (2, 1)),
        (WITH_SINGLE, "pink", (0, 0), "+a2,-a2", (2, 0)),
        # Marks never go down
        (WALL, "pink", (7, 5), "+a2,-g1", (7, 5)),
    ],
)
def test_where_the_marks_go(picture, turn, before, text, after):
    assert marks(played(position(picture, turn, before), text)) == after


def test_a_group_created_by_the_first_action_counts_even_if_the_second_one_destroys_it_and_a_third_is_one_action():
    """Rule 8."""
    state = played(position(WALL), "+a2,-g1")
    assert marks(state) == (2, 1)
    assert ["g1", "g2"] not in matched(state)[0]
    assert matched(played(position(WALL), "+a2,-a2")) == ([], [])
    state = position(WALL.replace("       . . . .\n", "       o o o o\n"), removals=2)
    assert marks(played(state, "-a1,+d4,-a2")) == (2, 1)
    assert marks(played(state, "+d4,-d4,-a1-a2")) == (2, 0)


ONE_AND_TWO = WALL.replace("o o . .\n", "o . . .\n").replace(" . . . .\n", " . o . .\n")


def test_a_group_matched_before_by_another_region_is_not_created():
    """g1 is matched by the region of a1. A stone on a3 makes a4 another such region, and creates nothing."""
    state = position(ONE_AND_TWO, marks=(0, 2))
    assert ["g1"] in matched(state)[0]
    assert marks(played(state, "+a3,+a4")) == (0, 2)


def test_a_covered_size_is_not_claimed_when_it_becomes_free_unless_created_again():
    state = played(position(WALL.replace("o o . .\n", "o . . .\n"), marks=(0, 1)), "+a2,+c6")
    assert (marks(state), ["g1"] in matched(state)[0]) == ((0, 1), True)
    state = papagra.setup(state.view() | {"marks": {"black": 3}, "turn": "pink"}, size=4)
    assert marks(played(state, "+c5,-c5")) == (0, 3)
    assert marks(played(state, "-g1,+g1")) == (1, 3)


# The end

TWELVE = """
      o o o
     o o o o
    o o o o o
     . . . .
      # . .
"""


THIRTEEN = TWELVE.replace(". . . .", "o . . .")
OF_BLACK = TWELVE.replace("#", "x").replace("o", "#").replace("x", "o")


@pytest.mark.parametrize(
    ("picture", "turn", "before", "text", "won"),
    [  # Rule 10: with a mark of 2, the other side needs three stones and three spaces
        (TWELVE, "pink", (2, 1), "+b1,+b2", "pink"),
        (TWELVE, "pink", (2, 1), "+b1,-b1", None),
        (TWELVE, "pink", (1, 0), "+b1,+b2", None),
        (OF_BLACK, "black", (1, 2), "+b1,+b2", "black"),
        (OF_BLACK, "black", (2, 1), "+b1,+b2", None),  # the stones of the player behind do not count
        (THIRTEEN, "pink", (2, 1), "+b2,-b2", None),  # it is judged after the turn, not between its actions
    ],
)
def test_the_leader_wins_when_too_few_spaces_are_free_of_his_stones(picture, turn, before, text, won):
    assert winner(played(position(picture, turn, before), text)) == won


def test_six_spaces_are_enough_for_three_stones_and_a_region_and_after_the_end_there_is_no_move():
    assert [winner(position(THIRTEEN, marks=(mark, 1))) for mark in (2, 3)] == [None, "pink"]
    state = played(position(TWELVE, marks=(2, 1)), "+b1,+b2")
    assert (state.view()["turn"], list(state.moves()), state.must_skip) == ("black", [], False)
    assert refusal(state, "+b3,+b4") == "The game is over."


def test_without_a_leader_the_third_repetition_is_a_draw_but_for_an_empty_start_and_what_was_set_up():
    """Note 1: the same stones after three turns, whoever is to move."""
    state = played(papagra.new(size=4), "+d4", "+a1,-a1")
    assert winner(state) is None
    state = played(state, "+g4,-g4")
    assert (winner(state), state.view()["over"], state.result()) == ("draw", True, games.Result(None))
    state = played(papagra.new(size=3, removals=1), "+a1", "+c3,-c3", "+b2,-b2,-a1", "+b1,-b1")
    assert (state.view()["cells"], winner(state)) == ({}, None)
    assert winner(played(state, "+b1,-b1")) == "draw"
    state = played(position(WALL), "+d1,-d1", "+d1,-d1")
    assert winner(state) is None
    assert winner(played(state, "+d1,-d1")) == "draw"


@pytest.mark.parametrize(("mark", "leader"), [((2, 1), "pink"), ((0, 1), "black")])
def test_with_a_leader_the_third_repetition_wins(mark, leader):
    """Note 1. The three need not follow one another."""
    state = played(position(WALL, marks=mark), "+d1,-d1", "+d1,-e6", "+d3,-d3", "-d1,+e6")
    assert winner(state) is None
    assert winner(played(state, "+d5,-d5")) == leader


def test_the_leader_at_the_third_repetition_is_judged_by_the_marks_of_then():
    state = played(position(WALL), "+d1,-d1", "+d1,-d1")
    assert winner(state) is None
    state = played(state, "+a2,-a2")
    assert (marks(state), winner(state)) == ((2, 1), "pink")


ALMOST_FULL = """
      o o o
     o o o o
    o o o o o
     o o o o
      o . .
"""


def test_a_player_without_stones_on_a_full_board_is_skipped_and_one_with_stones_can_hold_them():
    state = played(position(ALMOST_FULL), "+a2,+a3")
    assert state.must_skip
    assert list(state.moves()) == [SKIP]
    assert state.random(Random(0)) == SKIP
    assert refusal(state, "--") == "A skip is not asked for: it comes by itself when no action is possible."
    after = state.play(SKIP)
    assert (after.stones, after.turn, after.turns, after.must_skip) == (state.stones, 0, state.turns + 1, False)
    state = position(ALMOST_FULL.replace("o", "#"), "black", (2, 1))
    state = played(state, "+a2,+a3")
    assert (state.must_skip, winner(state)) == (True, None)
    state = position(ALMOST_FULL.replace(". .", "# #"), marks=(0, 0))
    assert played(state, "-a1,+a1").stones == state.stones


def test_a_skipped_turn_counts_as_a_turn_but_not_as_a_repetition():
    view = json.dumps(position(ALMOST_FULL).view())
    lines = ["new -size=3", f"position {view}", "play a2,a3", "play -a1,+a1", "state", "play -b1,+b1", "state"]
    replies = list(referee.replies("papagra", lines))
    second, third = (json.loads(replies[index][2:]) for index in (4, 6))
    assert (second["moves"], second["turn"], second["winner"]) == (6, "pink", None)
    assert (third["moves"], third["turn"], third["winner"]) == (7, "black", "draw")


# Setting up


def test_what_is_missing_from_a_position_has_its_usual_value_and_no_turn_means_the_first():
    state = papagra.setup({"cells": {}}, size=3)
    assert (state.turn, state.turns, state.marks, state.actions) == (0, 2, (0, 0), 2)
    view = {"cells": {}, "turn": "pink", "moves": 0}
    assert papagra.setup(view, size=4) == papagra.new(size=4)
    assert papagra.setup(view | {"turn": "black"}, size=4).actions == 2


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        ({"cells": {"a9": "P"}}, "no cell 'a9' on this board"),
        *(({"cells": {name: "P"}}, f"no cell '{name}' on this board") for name in ("", "A1")),
        *(({"cells": {"a1": stone}}, "a1 can hold P or B") for stone in ("O", ["P"])),
        ({"cells": {}, "turn": "white"}, "the sides are pink and black"),
        *(({"cells": {}, "marks": marks}, '"marks" gives') for marks in (3, {"white": 3})),
        *(({"cells": {}, "marks": {"pink": mark}}, "from 0 to 9") for mark in (-1, 10, True, "1")),
        ({"cells": {}, "marks": {"pink": 3, "black": 3}}, "Both marks cannot cover the 3"),
        *(({"cells": {}, "moves": moves}, '"moves" is the number') for moves in (-1, 10**30, 1.5)),
    ],
)
def test_a_position_that_cannot_be_is_refused(view, reason):
    with pytest.raises(Illegal, match=re.escape(reason)):
        papagra.setup(view, size=3)


# Whole games


def test_random_games_come_to_an_end_in_every_way_by_every_kind_of_turn():
    ends = set()
    for seed in range(300):
        *_, (state, move) = random_game(papagra, {"size": 3}, seed, 2000)
        assert move is None
        ends.add(("repetition" if state.times == 3 else "filling", winner(state)))
    assert ends == {("repetition", "draw"), *((how, side) for how in ("repetition", "filling") for side in SIDES)}
    state = papagra.setup({"cells": dict.fromkeys(("a1", "a2", "a3", "b1", "b2"), "P")}, size=4, removals=3)
    rng = Random(0)
    kinds = {re.sub("[a-z0-9]+", "", state.random(rng)) for _ in range(2000)}
    assert kinds == {first + "," + second + third for first in "+-" for second in "+-" for third in THIRDS}


THIRDS = ("", ",-", ",--", ",---")


# The drawing

EMPTY = r"""
          1   2   3   4
         /   /   /   /
      g .   .   .   .   5
                       /
    f .   .   .   .   .   6
                         /
  e .   .   .   .   .   .   7
                           /
d .   .   .   .   .   .   .
                           \
  c .   .   .   .   .   .   7
                         \
    b .   .   .   .   .   6
                       \
      a .   .   .   .   5
         \   \   \   \
          1   2   3   4

   Track   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16
   Marks  o#

   o Pink 0    # Black 0    . empty    ( ) matched now
   Nobody leads yet.
   Turn 1: Pink to move (one stone)."""

MIDDLE = r"""
              1   2   3   4   5   6
             /   /   /   /   /   /
          k # - #   .   .   #   .   7
             \ /                   /
        j .   #   .   .   .   .   .   8
                                     /
      i o   .   .   .   .   .   .   .   9
         \                             /
    h(.)  o - o   .   .   # - # - #   o   10
               \                   \     /
  g o  (.) (.)  o   #   .   .   o   #   .   11
     \         /                 \         /
f #   o  (.)  o   .   .  (o)  .   o - o   .
     /       /           /             \   \
  e o  (.)  o   .   .  (o)  # - #  (.)  o   11
           /           /   /           / \
    d(.)  o   .   .  (o)  #  (.) (.)  o   10
         /           / \               \
      c o   .   .  (o)-(o) (.) (.) (#)  9
                         \         / \
        b .   #   .   #  (o) (#)-(#)  8
                             / \ / \
          a .   .   .   .  (#)-(#)  7
             \   \   \   \   \   \
              1   2   3   4   5   6

   Track   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16
   Marks                       #   o

   o Pink 6    # Black 5    . empty    ( ) matched now
   Matched 6: Pink b5 like d1; 5: Black a5 like c6.
   Pink leads. The end: fewer than 14 spaces free of pink (now 68).
   Turn 31: Pink to move (two actions)."""

STONES = {
    "P": "b5 c1 c4 c5 d2 d5 d9 e1 e3 e6 e10 f2 f4 f7 f9 f10 g1 g4 g8 h2 h3 h9 i1",
    "B": "a5 a6 b2 b4 b6 b7 c8 d6 e7 e8 f1 g5 g9 h6 h7 h8 j2 k1 k2 k5",
}


def middle(mark=(6, 5), **options):
    cells = {name: stone for stone, names in STONES.items() for name in names.split()}
    return papagra.setup({"cells": cells, "marks": dict(zip(SIDES, mark, strict=True)), "moves": 30}, **options)


def test_the_board_is_drawn_empty_and_in_the_middle_of_a_game_and_the_largest_is_as_wide_as_a_terminal():
    assert papagra.draw(papagra.new(size=4)) == EMPTY[1:]
    assert papagra.draw(middle()) == MIDDLE[1:]
    assert max(map(len, papagra.draw(papagra.new(size=10)).split("\n"))) == 78


def below(state, before=None):
    """The lines below the board."""
    return papagra.draw(state, before).split("\n\n", 1)[1].split("\n")


def test_new_stones_of_the_last_turn_are_drawn_larger():
    state = middle()
    after = played(state, "+a1,+h5")
    assert "a O   .   .   .  (#)-(#)" in papagra.draw(after, state)
    assert "h(.)  o - o   .   O   # - # - #   o" in papagra.draw(after, state)
    assert below(after, state)[3] == "   o Pink 6    # Black 5    . empty    ( ) matched now    O @ last turn"
    assert "a o   @" in papagra.draw(played(after, "+a2,-f1"), after)
    for after in (state, played(state, "+a1,-a1"), played(state, "-b5,+b5"), played(state, "-c1,-i1")):
        assert below(after, state)[3] == "   o Pink 6    # Black 5    . empty    ( ) matched now"
        assert not set("O@") & set(papagra.draw(after, state))


def test_matches_above_a_mark_are_listed_by_shape_in_board_order_and_broken_at_blanks():
    assert below(middle((9, 6)))[4] == "   Matched 6: Pink b5 like d1."
    drawn = papagra.draw(middle((9, 7)))
    assert "Matched" not in drawn
    assert "(" not in drawn.split("\n\n")[0]
    lines = below(
        position("""
              # . . .
             . . . o o
            o . . . . .
           # # . . # . .
            . . . . . .
             o o o o o
              . o . .
        """)
    )
    assert lines[4:] == [
        "   Matched 2: Black d1, Pink f4 like a3; 1: Black d5, Pink e1, Black g1 like",
        "      a1.",
        "   Nobody leads yet.",
        "   Turn 3: Pink to move (two actions).",
    ]
    names = [f"{row}{number}" for row in "egikmo" for number in (1, 3, 5, 7)]
    cells = dict.fromkeys(names, "B") | {"a2": "P", "b1": "P", "b2": "P"}
    lines = below(papagra.setup({"cells": cells}, size=8))
    listed = ", ".join(f"Black {name}" for name in names)
    assert " ".join(line.strip() for line in lines[4:-2]) == f"Matched 1: {listed} like a1."
    assert [re.match(" *", line).end() for line in lines[4:-2]] == [3, 6, 6, 6]


def test_the_track_moves_on_with_the_higher_mark():
    """Three numbers follow the higher mark; a mark left of the shown part stands in front."""
    assert below(middle((13, 0)))[:2] == [
        "   Track   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16",
        "   Marks   #                                                   o",
    ]
    assert below(middle((14, 1)))[:2] == [
        "   Track   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16  17",
        "   Marks   #                                                   o",
    ]
    assert below(middle((2, 20)))[:2] == [
        "   Track   7   8   9  10  11  12  13  14  15  16  17  18  19  20  21  22  23",
        "   Marks <o                                                    #",
    ]


@pytest.mark.parametrize(
    ("removals", "actions"),
    [(0, "two actions"), (1, "two actions, then up to 1 removal"), (3, "two actions, then up to 3 removals")],
)
def test_the_last_line_says_what_a_turn_is(removals, actions):
    assert below(middle(removals=removals))[-1] == f"   Turn 31: Pink to move ({actions})."
    assert below(papagra.new(removals=removals))[-1] == "   Turn 1: Pink to move (one stone)."


def test_the_lines_below_say_who_leads_or_how_the_game_ended():
    assert below(middle((5, 6)))[-2] == "   Black leads. The end: fewer than 14 spaces free of black (now 71)."
    assert below(middle((0, 0)))[-2] == "   Nobody leads yet."
    pink = played(position(TWELVE, marks=(2, 1)), "+b1,+b2")
    black = position(TWELVE.replace("o", "#"), marks=(1, 4))
    drawn = played(papagra.new(size=4), "+d4", "+a1,-a1", "+g4,-g4")
    for state, line in (pink, "Pink has won."), (black, "Black has won."), (drawn, "The game is drawn."):
        assert below(state)[-1] == f"   {line}"
        assert "leads" not in papagra.draw(state)
