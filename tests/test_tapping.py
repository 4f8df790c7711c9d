"""How a turn is put together by tapping: each tap that is offered leads to a legal turn; all turns can be tapped."""

from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import Illegal, papagra, spiro, spora, sprout, symple
from games.tapping import NextTaps, Stepper, Tap, TurnMark, next_taps

from helpers.examples import examples, picture_cells, played, some_position
from helpers.tapping import choices, is_legal, touches

OPTIONS = {
    "papagra": [{"size": 3}, {"size": 4, "removals": 2}],
    "spiro": [{"small": True}, {"small": False}, {"small": True, "no_inwards": True}],
    "spora": [{"size": 5}, {"size": 7}, {"size": 5, "pie": True}],
    "sprout": [{"board": "limping-3"}, {"board": "limping-5"}, {"board": "cairo-1"}],
    "symple": [{"size": 5}, {"size": 9}],
}
MOST_TAPS = 60


def tapped(state, text, *cells):
    """The text after taps on these cells, or on buttons of these labels."""
    for cell in cells:
        [touch] = [touch for touch in choices(next_taps(state, text)) if cell in {touch.cell, touch.button}]
        text = touch.text
    return text


def cells_of(state, text):
    """The cells that can be tapped and are marked, sorted."""
    return sorted(cell for tap in next_taps(state, text).taps if not tap.is_quiet for cell in tap.cells)


def drawn_position(name, options, seed):
    """A position of a game in which somebody can choose a turn; None if that one has none."""
    rng = Random(f"{name} {options} {seed}")
    state = some_position(games.load(name), rng, 60, **games.read_options(games.load(name), []) | options)
    return None if state.must_skip else state


everywhere = pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name, all_options in OPTIONS.items() for options in all_options], ids=str
)


@everywhere
@examples(40)
@given(st.integers())
def test_who_follows_the_taps_always_comes_to_a_legal_turn(name, options, seed):
    state = drawn_position(name, options, seed)
    if state is None:
        return
    rng = Random(seed)
    text = ""
    for _ in range(MOST_TAPS):
        taps = next_taps(state, text)
        assert taps.is_whole == is_legal(state, text), text
        cells = [cell for tap in taps.taps for cell in tap.cells]
        assert len(cells) == len({*cells}), text
        further = [touch.text for touch in choices(taps)]
        if taps.is_whole and (not further or rng.random() < 0.3):
            return
        assert further, f"no tap leads on from {text}"
        text = rng.choice(further)


@everywhere
@examples(40)
@given(st.integers())
def test_every_legal_turn_can_be_tapped(name, options, seed):
    state = drawn_position(name, options, seed)
    if state is None:
        return
    turn = state.parse(state.random(Random(seed)))
    [*_, last] = touches(name, state, turn)
    assert state.parse(last.text) == turn


def stones(game, picture, turn, **options):
    """A position of a game of stones, as a picture shows it."""
    return game.setup({"cells": picture_cells(picture), "turn": turn}, **options)


SYMPLE = """
    W . . . W
    . . . . .
    . . B . .
    . B . . .
    . . . . W
"""


def test_in_symple_dots_show_where_groups_grow_that_have_not_grown():
    state = stones(symple, SYMPLE, "white", size=5)
    assert cells_of(state, "") == ["a4", "b5", "d1", "d5", "e2", "e4"]
    assert cells_of(state, "a4") == ["d1", "d5", "e2", "e4"]
    assert next_taps(state, "a4").hint == "1 of 3 groups grown; 2 can still grow."
    assert next_taps(state, "a4,d1").done == (2, 3)
    assert next_taps(state, "a4,d1,e4") == NextTaps(
        is_whole=True,
        hint="All 3 groups that can grow have grown.",
        marks=(TurnMark("piece", ("a4", "d1", "e4")),),
        done=(3, 3),
    )


def test_in_symple_a_point_that_founds_a_group_can_be_tapped_without_a_dot():
    state = stones(symple, SYMPLE, "white", size=5)
    assert tapped(state, "", "c1") == "c1"
    assert next_taps(state, "c1").taps == ()
    assert next_taps(state, "c1").is_whole


def test_in_symple_what_black_founds_in_the_same_turn_stays_the_last_stone():
    state = stones(symple, "W . . . .\n. . . . .\n. . B . .\n. . . . .\n. . . . .", "black", size=5)
    assert tapped(state, "", "e1", "c4") == "c4,e1"
    assert tapped(state, "", "c4", "e1") == "c4,e1"


def test_in_symple_a_tap_that_fits_no_turn_is_refused_in_the_words_of_the_rules():
    state = stones(symple, SYMPLE, "white", size=5)
    with pytest.raises(Illegal, match=r"a4 and b5 are both next to the group of a5"):
        next_taps(state, "a4,b5")


def test_in_spora_a_point_takes_up_to_four_pieces_then_none():
    state = played(spora.new(size=5), "a1", "e5")
    assert tapped(state, "", "c3") == "c3"
    assert tapped(state, "c3", "c3") == "c3:2"
    assert tapped(state, "c3:4", "c3") == ""
    assert next_taps(state, "c3:3").steppers == (Stepper("Drop c3", 3, "c3:2", "c3:4"),)


def test_in_spora_another_stack_is_lifted_and_its_pieces_go_point_by_point():
    state = played(spora.new(size=5), "a1:3", "e5")
    text = tapped(state, "", "c1", "a1")
    assert text == "c1,a1@..."
    assert next_taps(state, text).hint == "3 pieces in hand: tap a dot for the next one."
    assert cells_of(state, text) == ["a2", "b1"]
    text = tapped(state, text, "a2")
    assert text == "c1,a1@n.."
    assert cells_of(state, text) == ["a3", "b2"]  # it never turns straight back
    text = tapped(state, text, "b2", "b1")
    assert text == "c1,a1@nes"
    taps = next_taps(state, text)
    assert taps.is_whole
    assert taps.hint == "Your hand is empty, the turn is complete."
    assert taps.marks[0] == TurnMark("trail", ("a1", "a2", "b2", "b1"))


def test_in_spora_fewer_pieces_of_a_stack_can_be_lifted():
    state = played(spora.new(size=5), "a1:3", "e5")
    assert next_taps(state, "c1,a1@...").steppers == (
        Stepper("Drop c1", 1, "", "c1:2,a1@..."),
        Stepper("Sow a1", 3, "c1,a1@..", ""),
    )


def test_in_spora_a_stack_is_let_down_by_a_second_tap():
    state = played(spora.new(size=5), "a1:3", "e5")
    assert tapped(state, "c1:2,a1@...", "a1") == "c1:2"


def test_in_spora_the_hint_and_crosses_tell_what_a_hand_captures():
    state = played(spora.new(size=5), "a1:3", "b1")
    taps = next_taps(state, "c1,a1@e..")
    assert taps.hint == "Captures b1. 2 pieces in hand: tap a dot for the next one."
    assert taps.marks[0] == TurnMark("gone", ("b1",))


def test_in_spora_the_last_turn_drops_single_pieces_one_a_tap():
    view = {"cells": {"a1": "B1", "e5": "W1"}, "turn": "white", "reserve": {"black": 0, "white": 2}, "moves": 8}
    state = spora.setup(view, size=5)
    assert tapped(state, "", "e5", "e5") == "e5,e5"
    assert next_taps(state, "e5,e5").taps == ()


def test_in_spora_the_komi_is_a_number_to_step_and_the_side_a_choice_of_two_buttons():
    start = spora.new(size=5, pie=True)
    assert tapped(start, "", "Komi 3") == "komi=3"
    assert next_taps(start, "komi=3").steppers == (Stepper("Komi", 3, "komi=2", "komi=4"),)
    named = start.play("komi=5")
    assert next_taps(named, "").taps == (Tap("black", label="Black"), Tap("white", label="White"))


def test_in_papagra_empty_spaces_take_stones_and_own_stones_go_also_one_that_was_just_added():
    state = papagra.setup({"cells": {"c3": "P"}, "turn": "pink"}, size=3)
    assert tapped(state, "", "c3", "a1") == "-c3,a1"
    assert tapped(state, "", "a1", "a1") == "a1,-a1"
    assert next_taps(state, "-c3,a1").taps == ()
    assert next_taps(state, "-c3,a1").marks == (TurnMark("gone", ("c3",), "1"), TurnMark("piece", ("a1",), "2"))


def test_in_papagra_the_hint_tells_both_marks_after_two_actions():
    state = papagra.setup({"cells": {"a1": "B"}, "turn": "pink"}, size=3)
    assert next_taps(state, "").hint == "Two actions: tap an empty space to add a stone, or one of yours to remove it."
    assert (
        next_taps(state, "c3").hint
        == "One action more: tap an empty space to add a stone, or one of yours to remove it."
    )
    assert next_taps(state, "c3,e3").hint == "The marks will be 0 for Pink and 0 for Black."


def test_in_papagra_the_stones_of_a_third_action_join_it():
    state = papagra.setup({"cells": {"a1": "P", "a3": "P", "e1": "P"}, "turn": "pink"}, size=3, removals=2)
    assert tapped(state, "", "b1", "b3", "a1", "b1") == "b1,b3,-a1-b1"
    assert next_taps(state, "b1,b3,-a1-b1").taps == ()


SPROUT = """
    . . . . . . . . .
    . W . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . W . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . B
    . . . . . . . B W
"""


def test_in_sprout_the_groups_that_are_left_wear_rings_and_dots_answer_them():
    state = stones(sprout, SPROUT, "black", board="square-9")
    taps = next_taps(state, "b7")
    assert (
        taps.hint
        == "1 of 3 enemy groups answered. Tap a dot next to a ringed group; tap a group that has none to remove it."
    )
    assert taps.done == (1, 3)
    assert cells_of(state, "b7") == ["d5", "e4", "e6", "f5", "i1"]
    assert taps.marks[-1] == TurnMark("halo", ("i1", "e5"))
    assert tapped(state, "", "b7", "e4", "i1") == "b7,e4,xi1"
    assert next_taps(state, "b7,e4,xi1").is_whole


def test_in_spiro_a_piece_is_chosen_and_labels_show_where_each_die_leads():
    state = spiro.setup({"cells": {"c3": "X", "e3": "XX", "e2": "O"}, "turn": "X", "dice": [1, 2]}, small=True)
    taps = next_taps(state, "e3")
    labels = {tap.label: tap.cells for tap in taps.taps if tap.label}
    assert labels == {"1": ("f3",), "2": ("g3",), "jump": ("d3",)}
    assert taps.dice == ((1, False), (2, False))
    assert tapped(state, "", "e3", "f3") == "e3:1"
    after = next_taps(state, "e3:1")
    assert after.dice == ((1, True), (2, False))
    assert after.marks == (TurnMark("trail", ("e3", "f3")), TurnMark("piece", ("f3",)), TurnMark("halo", ("f3",)))


def test_in_spiro_the_piece_that_has_moved_goes_on_or_is_let_go_for_another():
    state = spiro.setup({"cells": {"e3": "XX", "e2": "O"}, "turn": "X", "dice": [1, 2]}, small=True)
    assert tapped(state, "e3:1", "g2") == "e3:1:2"
    assert tapped(state, "e3:1", "f3", "e3", "g3") == "e3:1,e3:2"


def test_in_spiro_a_label_tapped_twice_chooses_the_piece_below_it():
    state = spiro.setup({"cells": {"e3": "X", "f3": "X", "e2": "O"}, "turn": "X", "dice": [1, 2]}, small=True)
    assert tapped(state, "", "e3", "f3") == "e3:1"
    assert tapped(state, "", "e3", "f3", "f3") == "f3"
    assert tapped(state, "", "e3", "f3", "f3", "g2") == "f3:2"
    assert tapped(state, "", "e3", "f3", "f3", "f3") == ""
    assert next_taps(state, "e3").hint.endswith("A label tapped twice chooses the piece below it.")
    assert "twice" not in next_taps(state, "f3").hint


def test_in_spiro_a_label_tapped_twice_chooses_the_piece_below_it_also_for_the_last_die_and_on_the_way():
    state = spiro.setup({"cells": {"e3": "X", "g2": "X", "e2": "O"}, "turn": "X", "dice": [1, 2]}, small=True)
    assert tapped(state, "e3:1", "g2", "g2") == "e3:1,g2"
    assert tapped(state, "e3:1", "g2", "g2", "f1") == "e3:1,g2:2"


def test_in_spiro_the_turns_that_begin_alike_are_listed_if_they_are_few():
    state = spiro.setup({"cells": {"e3": "XX", "e2": "O"}, "turn": "X", "dice": [1, 2]}, small=True)
    turns = next_taps(state, "e3:1").turns
    assert sorted(turns) == sorted(turn for turn in turns if turn.startswith("e3:1"))
    assert {state.play(turn) for turn in turns} <= {state.play(turn) for turn in state.moves()}


def test_in_spiro_a_piece_that_leaves_the_board_is_tapped_at_the_exit():
    state = spiro.setup({"cells": {"b4": "XX", "e2": "O"}, "turn": "X", "dice": [5, 4]}, small=True)
    assert tapped(state, "", "b4", "c4") == "b4:x"
    assert next_taps(state, "b4").taps[0] == Tap("b4:x", ("c4",), "off")


class Nim(games.Position, NamedTuple("Fields", [("heaps", tuple), ("turn", int)])):
    """A game that does not say how its turns are tapped: one takes any number from a heap, or two from two."""

    sides = ("first", "second")

    def moves(self):
        return iter(["a1", "b1", "a1,b1", "swap"] if sum(self.heaps) else [])

    def read(self, text):
        if text not in self.moves():
            raise Illegal("Take something.")
        return text

    def result(self):
        return None


def test_of_a_game_that_does_not_say_it_the_taps_follow_from_its_moves():
    state = Nim((2, 2), 0)
    assert next_taps(state, "").taps == (Tap("*", ("a1", "b1")), Tap("swap", label="swap"))
    assert next_taps(state, "a1") == NextTaps(is_whole=True, taps=(Tap("a1,*", ("b1",)),))
    with pytest.raises(Illegal, match="Take something"):
        next_taps(state, "c1")
