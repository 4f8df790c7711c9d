"""Spiro, as its rules have it."""

import json
import re
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import SKIP, Illegal, spiro

from helpers.examples import examples, pairs, random_game, refusal, rules, table
from helpers.reference.spiro import MEDIUM, SMALL, Rules, frozen, legal, spelled

PICTURES = Path(__file__).parent / "data" / "spiro-board.txt"


def position(turn, *dice, small=True, pieces=6, no_inwards=False, **cells):
    """A position, on the small board if not told otherwise, with these stacks from bottom to top."""
    view = {"cells": cells, "turn": turn, "dice": list(dice)}
    return spiro.setup(view, small=small, pieces=pieces, no_inwards=no_inwards)


def medium(turn, *dice, **cells):
    return position(turn, *dice, small=False, pieces=12, **cells)


def written(turn, cells):
    """A position as the tables write it: the side to move, its dice and other words; the stacks."""
    side, *words = turn.split()
    board = medium if "medium" in words else position
    return board(side, *map(int, filter(str.isdigit, words)), no_inwards="no_inwards" in words, **pairs(cells))


def after(state, text):
    """The cells after a turn, as a player writes it."""
    return state.play(state.parse(text)).view()["cells"]


def ends(state):
    """The cells after every listed turn."""
    return [state.play(move).view()["cells"] for move in state.moves()]


# The pictures of the board


def pictures():
    for part in re.split(r"^== ", PICTURES.read_text(), flags=re.MULTILINE)[1:]:
        heading, drawn, _ = re.split(r"^~~~\n", part, flags=re.MULTILINE)
        title, line = heading.splitlines()
        options, brace, view = line.partition("{")
        yield pytest.param(options.split(), json.loads(brace + view), drawn.removesuffix("\n"), id=title)


@pytest.mark.parametrize(("options", "view", "drawn"), list(pictures()))
def test_the_board_is_drawn_as_in_the_picture(options, view, drawn):
    state = spiro.setup(view, **games.read_options(spiro, options))
    assert spiro.draw(state) == drawn


def test_a_game_begins_as_in_the_pictures():
    small, usual = (picture.values[2] for picture in list(pictures())[2:4])
    assert len(list(pictures())) == 10
    assert spiro.draw(spiro.new(small=True, pieces=6)) == small
    assert spiro.draw(spiro.new()) == usual


FACES = """
.-----. .-----. .-----. .-----. .-----. .-----.
|     | |o    | |o    | |o   o| |o   o| |o   o|
|  o  | |     | |  o  | |     | |  o  | |o   o|
|     | |    o| |    o| |o   o| |o   o| |o   o|
`-----' `-----' `-----' `-----' `-----' `-----'
"""


@pytest.mark.parametrize("die", range(1, 7))
def test_a_die_shows_its_pips_with_which_a_piece_steps_or_jumps_on_the_first_turn(die):
    drawn = spiro.draw(spiro.new(small=True, pieces=6).roll((die,))).splitlines()
    column = 8 * (die - 1)
    assert [line[50:] for line in drawn[:5]] == [line[column : column + 7] for line in FACES.splitlines()[1:]]
    assert list(spiro.new().roll((die,)).moves()) == [f"g4:{die}", "g4:+"]


def test_below_the_board_stand_no_dice_after_the_end_and_one_pip_in_the_singular():
    state = position("X", 1, 2, c4="X", e2="O")
    assert "X to move:" in spiro.draw(state)
    assert spiro.draw(state.play("c4:x")) == spiro.draw(position("O", e2="O"))
    state = position("X", 1, 2, pieces=3, c4="X", e2="O")
    assert "X      1 pip to go   2 of 3 pieces off" in spiro.draw(state, state).splitlines()


def test_what_the_last_turn_changed_stands_in_brackets_and_the_race_below():
    before = position("X", 1, 2, pieces=3, f3="XX", e2="O")
    state = before.play("f3:1:2").roll((3, 4))
    lines = spiro.draw(state, before).splitlines()
    assert lines[:-4] == spiro.draw(state).replace(" X ", "(X)").splitlines()
    assert lines[-4:] == [
        "",
        "X    27 pips to go   1 of 3 pieces off",  # f3 is the second cell of 16, f2 the fifth
        "O    16 pips to go   2 of 3 pieces off",
        "( ) changed by the last turn",
    ]
    assert not set("()") & set(spiro.draw(state))
    assert spiro.draw(state, state).splitlines() == [*spiro.draw(state).splitlines(), *lines[-4:-1]]  # nothing changed
    before = position("X", 1, 2, f3="X", f2="O", e2="O")
    lines = spiro.draw(before.play("f3:1:2"), before).splitlines()
    assert [line[25:28] for line in lines if line[25:26] == "("] == ["( )", "(X)"]
    assert lines[[line[25:28] for line in lines].index("(X)") + 1][25:28] == " O "  # pinned below it


def test_pips_are_counted_along_the_path_that_a_piece_stands_on_and_pinned_pieces_count():
    state = position("X", 1, 2, c4="X", g1="X", h1="OX", e2="OO")
    assert state.pips(0) == 1 + 1 + 2
    assert state.pips(1) == 16 + 16 + 2
    assert (spiro.new().pips(0), spiro.new(small=True, pieces=6).pips(1)) == (12 * 33, 6 * 16)


# The board and the options


@pytest.mark.parametrize("side", spiro.SIDES)
@pytest.mark.parametrize("path", [*SMALL, *MEDIUM])
def test_a_piece_steps_along_its_path_from_cell_to_cell(side, path):
    small, enemy = len(path) == 16, "XO"[side == "X"]
    home = Rules(small=small).homes[enemy]
    for way in zip(*(path[n:] for n in range(5)), strict=False):
        if home not in way:
            state = position(side, 1, 1, small=small, **{home: enemy, way[0]: side})
            assert state.parse("-".join(way)) == f"{way[0]}:1:1:1:1"


@pytest.mark.parametrize("side", spiro.SIDES)
@pytest.mark.parametrize("small", [True, False])
def test_a_piece_jumps_over_the_wall_of_its_cell_to_the_other_path(small, side):
    rules, enemy = Rules(small=small), "XO"[side == "X"]
    for cell in rules.place.keys() - {rules.homes[enemy]}:
        state = position(side, 1, 3, small=small, **{rules.homes[enemy]: enemy, cell: side})
        across = rules.across.get(cell)
        if across is None:
            assert refusal(state, f"{cell}:+").endswith(f"cannot jump: the wall of {cell} is the edge of the board.")
        elif across != rules.homes[enemy]:
            assert "+" in state.parse(f"{cell}-{across}:1")
            assert after(state, f"{cell}-{across}:1") == after(state, f"{cell}:+:1")


@pytest.mark.parametrize(("small", "home"), [(True, {"e2": "OOOOOO", "e3": "XXXXXX"}),
                                             (False, {"g3": "O" * 12, "g4": "X" * 12})])  # fmt: skip
def test_all_pieces_begin_on_their_home_cells(small, home):
    state = spiro.new(**games.read_options(spiro, ["-small"] if small else []))
    assert state.view() == {
        "cells": home,
        "turn": "X",
        "dice": [],
        "over": False,
        "winner": None,
        "scores": {"X": 0, "O": 0},
    }


def test_each_side_usually_has_12_pieces_and_6_on_the_small_board():
    assert games.read_options(spiro, []) == {"small": False, "no_inwards": False, "pieces": 12}
    assert games.read_options(spiro, ["-small"]) == {"small": True, "no_inwards": False, "pieces": 6}
    assert games.read_options(spiro, ["-pieces=4", "-small"])["pieces"] == 4


# The dice


def test_the_first_turn_of_x_has_one_die_and_every_later_turn_two_and_nobody_changes_sides():
    state = spiro.new(small=True, pieces=6)
    needed = []
    for move in ("e3:4", "e2:1:2", "f2:1:2"):
        needed.append(state.dice_needed)
        state = state.roll((4,) if len(needed) == 1 else (1, 2)).play(move)
    assert needed == [1, 2, 2]
    state = spiro.new()
    assert state.seats == state.roll((3,)).play("g4:3").seats == (0, 1)


@pytest.mark.parametrize("dice", [(), (1, 2), (0,), (7,), (-1,), (True,), (1.0,), ("1",)])
def test_on_the_first_turn_nothing_else_can_be_thrown(dice):
    with pytest.raises(Illegal, match=r"^This turn takes one die, from 1 to 6\.$"):
        spiro.new().roll(dice)


@pytest.mark.parametrize("dice", [(), (1,), (1, 2, 3), (0, 1), (1, 7)])
def test_on_a_later_turn_nothing_but_two_dice_can_be_thrown(dice):
    with pytest.raises(Illegal, match=r"^This turn takes two dice, from 1 to 6\.$"):
        spiro.new().roll((1,)).play("g4:1").roll(dice)


def test_the_dice_are_used_in_any_order():
    state = position("X", 2, 5, e1="X", c1="OO", e2="O")  # two steps on, c1 is blocked
    assert after(state, "e1:5:2") == {"b3": "X", "c1": "OO", "e2": "O"}


@pytest.mark.parametrize(
    ("turn", "cells", "text", "end"),
    table("""
    X 1 2 | e1=XX e2=O          | e1:1:2      | e1=X b1=X e2=O     | the dice are used by one piece
    X 1 2 | e1=XX e2=O          | e1:1,e1:2   | d1=X c1=X e2=O     | the dice are used by several pieces
    X 2 2 | e1=X e2=O           | e1:2:2:2:2  | b4=X e2=O          | a double is four dice for one piece
    X 2 2 | e1=XXXX e2=O        | 4xe1:2      | c1=XXXX e2=O       | a double is four dice for several pieces
    X 1 2 | f3=X g3=O c1=X      | f3:1,c1:2   | g3=OX b2=X         | a step onto a single enemy pins it
    X 1 2 | f3=X g3=O           | f3:1:2      | g3=O f2=X          | a piece that only passes an enemy does not pin it
    X 1 1 | f3=XXX g3=OX g2=X   | 3xf3:1,g2:1 | g3=OXXXX f2=X      | pieces of one side pile up on a pinned one
    X 1 2 | f3=X f4=O e2=O h4=O | f3:+:1      | g4=X e2=OO h4=O    | a jump onto a single enemy sends it home
    O 1 2 | f4=O f3=X           | f4:+:1      | g3=O e3=X          | a blotted piece returns to an empty home too
    X 1 2 | f3=X f4=OX e1=X     | f3:+,e1:2   | f4=OXX c1=X        | a piece stays pinned under own pieces that jump
    X 1 2 | f3=X f4=OX          | f4:1,f3:+   | g4=X f4=X e2=O     | a jump blots a piece set free in the same turn
    X 1 2 | f4=X e2=O           | f4:+:2      | g2=X e2=O          | a piece may jump inwards
    X 1 1 | f3=X d1=X e2=O   | f3:+,d1:+:1:1  | f4=X c3=X e2=O     | with a double a player jumps with two pieces
    X 1 1 | f3=X d1=X e2=O   | d1:+:1:+:1     | f3=X a2=X e2=O     | with a double a player jumps twice with one piece
    X 1 1 | f3=X f4=O        | f3:+:+:1:1     | g2=X e2=O          | a piece jumps back if it has blotted
    X 1 1 | f3=OX e4=X d1=X  | f3:+,e4:1,f4:+,d1:1 | f3=X f4=X c1=X e2=O | a piece jumps back if it blots then
    X 3 3 | f3=X e2=O        | f3:+:3:+:3     | f1=X e2=O          | a piece jumps back over another wall
    X 1 2 | d3=X e2=O        | d3:+:1         | f3=X e2=O          | a piece of X may jump into its own home
    O 1 2 | f2=O e3=X        | f2:+:2         | c2=O e3=X          | a piece of O may jump into its own home
    X 1 2 | b4=X e3=X e2=O   | b4:1:x         | e3=X e2=O          | a piece steps to the last cell and then off
    X 2 1 | b4=X e3=X e2=O   | b4:x,e3:1      | f3=X e2=O          | a throw that is exact bears off
    X 6 1 | b4=X e3=X e2=O   | b4:x,e3:1      | f3=X e2=O          | the throw for bearing off need not be exact
    X 1 2 | g3=OX e2=O       | g3:1:2         | g3=O f1=X e2=O     | a pin ends when the last piece on it has left
    X 1 2 | g3=OXX e2=O      | g3:1:2         | g3=OX f1=X e2=O    | a pin stays while a piece is on it
    X 1 1 | g3=OXX e2=O      | 2xg3:1:1       | f2=XX g3=O e2=O    | of a stack all but the pinned piece can move
    O 1 2 | d2=O c2=XO e3=X  | d2:1,c2:2      | c2=XO d3=O e3=X    | own pieces block nobody but the enemy
    X 1 2 no_inwards | f3=X e2=O | f3:+:2     | h4=X e2=O          | with -no_inwards pieces jump outwards
    X 1 2 medium | k3=X g3=O | k3:+:1         | l2=X g3=O          | a jump outwards gains up to 16 cells
    """),
)
def test_a_turn_leaves_the_pieces_where_the_rules_say(turn, cells, text, end):
    assert after(written(turn, cells), text) == pairs(end)


# Pins, blocks, jumps, homes, and all dice that can be used


BLOCKED = "is blocked: two or more pieces stand there, O on top."
BACK = "cannot jump: a jump back over the wall between f3 and f4 has to blot."


@pytest.mark.parametrize(
    ("turn", "cells", "text", "why"),
    rules("""
a pinned piece cannot move
    O 1 2 | g3=OX e2=O | g3:1:2 | The piece of O on g3 is pinned under X and cannot move.
    X 1 1 | g3=OXX e2=O | 3xg3:1 | There is no piece of X left on g3 by then.
nobody steps onto two or more under an enemy
    X 1 2 | f3=X g3=OO | f3:1 | The piece on f3 cannot step 1 with the dice left (1, 2): g3 BLOCKED
nobody jumps onto two or more under an enemy
    X 1 2 | f3=X f4=OO | f3:+ | The piece on f3 cannot jump: f4 BLOCKED
a pinned piece counts for the height of a block
    X 1 2 | f3=X g3=XO f4=XO | f3:1 | The piece on f3 cannot step 1 with the dice left (1, 2): g3 BLOCKED
    X 1 2 | f3=X g3=XO f4=XO | f3:+ | The piece on f3 cannot jump: f4 BLOCKED
    O 1 2 | e2=O d2=OX | e2:1 | ... d2 is blocked: two or more pieces stand there, X on top.
a player jumps once in a turn
    X 1 2 | f3=X d1=X e2=O | f3:+,d1:+ | The piece on d1 cannot jump: only a double allows two jumps in a turn.
    X 1 2 | f3=X d1=X e2=O | f3:+:+ | The piece on f4 cannot jump: only a double allows two jumps in a turn.
nobody jumps three times
    X 1 1 | f3=X d1=XX e2=O | f3:+,2xd1:+ | The piece on d1 cannot jump: there is no third jump in a turn.
a piece does not jump back over the wall
    X 1 1 | f3=X e2=O | f3:+:+:1:1 | The piece on f4 BACK
no other piece jumps back over the wall either
    X 1 1 | f3=X f4=X e2=O | f3:+,f4:+ | The piece on f4 BACK
    X 1 1 | f3=X e4=X e2=O | f3:+,e4:1:+:1 | The piece on f4 BACK
    X 1 1 | f4=X e3=X e2=O | f4:+,e3:1:+ | ... a jump back over the wall between f4 and f3 has to blot.
steps between do not allow to jump back over the wall
    X 1 1 | f3=X a2=X e4=X e2=O | f3:+,a2:1,f4:+ | The piece on f4 BACK
nobody jumps into the home of the enemy
    X 1 2 | f2=X e2=O | f2:+ | The piece on f2 cannot jump: e2 is the home of O, where X may not jump.
    X 1 2 | f2=X h4=O | f2:+ | The piece on f2 cannot jump: e2 is the home of O, where X may not jump.
    O 1 2 | d3=O e3=X | d3:+ | The piece on d3 cannot jump: e3 is the home of X, where O may not jump.
    O 1 2 | d3=O h4=X | d3:+ | The piece on d3 cannot jump: e3 is the home of X, where O may not jump.
with -no_inwards no jump brings a piece nearer to the beginning of a path
    X 1 2 no_inwards | f4=X e2=O | f4:+ | ... f3 lies further inwards, and this game is played with -no_inwards.
    X 1 2 no_inwards | d3=X e2=O | d3:+ | ... e3 lies further inwards, and this game is played with -no_inwards.
a throw that does not pass the last cell does not bear off
    X 1 2 | a3=X e3=X e2=O | a3:x | The piece on a3 cannot leave the board with the dice left (1, 2).
no jump leaves the board
    X 1 2 | e1=X e2=O | e1:+ | The piece on e1 cannot jump: the wall of e1 is the edge of the board.
a piece that has left the board goes no further
    X 1 2 | c4=X e3=X e2=O | c4:x:1 | The piece has left the board, so :1 cannot follow.
    X 1 2 | c4=X e3=X e2=O | c4-x-c4 | The piece has left the board, so -c4 cannot follow.
both dice must be used if they can
    X 1 2 | e1=X e2=O | e1:2 | e1:2 uses 2 of the 3 pips that can be used, and all of them must be; e1:2:1 does.
if only one of the dice can be used it is the greater one
    X 2 5 | e1=X b3=OO | e1:2 | e1:2 uses 2 of the 5 pips that can be used, and all of them must be; e1:5 does.
of a double as many dice are used as can be
    X 2 2 | e1=X a3=OO | e1:2:2 | e1:2:2 uses 4 of the 8 pips that can be used, ...; e1:2:2:+:2 does.
a jump and a bearing off count the whole die
    X 1 6 | c4=X h3=XO | c4:x | c4:x uses 6 of the 7 pips that can be used, ...; c4:+:6 does.
in a turn that is skipped nothing else is accepted
    X 1 2 | e1=X d1=OO c1=OO | e1:1 | None of the dice (1, 2) can be used, so this turn is skipped: --.
the order of the dice counts for a block on the way
    X 2 5 | e1=X c1=OO e2=O | e1:2:5 | The piece on e1 cannot step 2 with the dice left (2, 5): c1 BLOCKED
in the example of the inventor no piece steps four cells at once
    X 4 4 | f1=OO f3=XX f4=O g1=O | f3:4 | The piece on f3 cannot step 4 with the dice left (4, 4, 4, 4): f1 BLOCKED
a number of pips is steps only
    X 1 2 | c3=X b4=XX e2=O | c3:4 | ... cannot step 4: no die left (1, 2) makes that, and no sum of them.
each part of a chain uses a die
    X 1 2 | f3=X e2=O | f3-g3-g3 | The piece on g3 cannot get to g3 ...
the cell that is named as blocked is on the way that was written
    X 1 4 | f3=X g3=OO g2=OO f4=OO | f3-f4 | ... with the dice left (1, 4): f4 BLOCKED
    X 1 4 | f3=X g3=OO g2=OO f4=OO | f3-g3 | ... with the dice left (1, 4): g3 BLOCKED
    X 3 5 | e3=XX g2=OO f1=OO e2=OO | e3:5 | ... with the dice left (3, 5): f1 BLOCKED
    X 3 5 | e3=XX g2=OO f1=OO e2=OO | e3-f1 | ... with the dice left (3, 5): f1 BLOCKED
    X 3 5 | e3=XX g2=OO f1=OO e2=OO | e3:3 | ... with the dice left (3, 5): g2 BLOCKED
    X 3 5 | e3=XX g2=OO f1=OO e2=OO | e3-h2 | ... with the dice left (3, 5): g2 BLOCKED
    X 3 5 | e3=XX g2=OO f1=OO e2=OO | e3-b1 | ... with the dice left (3, 5): b1 is out of reach.
    X 3 5 | e3=XX g2=OO f1=OO e2=OO | e3-g1 | ... with the dice left (3, 5): f1 BLOCKED
nothing is called blocked where the piece would leave the board or go back
    X 4 4 | b3=XX c1=OO e2=O | b3:8 | ... (4, 4, 4, 4): it would leave the board before the last of them.
    X 4 4 | b3=XX c1=OO e2=O | b3-a2 | The piece on b3 cannot get to a2 with the dice left (4, 4, 4, 4): a2 lies ...
    X 4 4 | b3=XX c1=OO e2=O | b3-b3 | ... (4, 4, 4, 4): a jump back over the wall between b3 and c3 has to blot.
    """),
)
def test_what_a_turn_may_not_do(turn, cells, text, why):
    said, why = refusal(written(turn, cells), text), why.replace("BLOCKED", BLOCKED).replace("BACK", BACK)
    assert said.startswith(why.partition("...")[0])
    assert said.endswith(why.rpartition("...")[2])


@pytest.mark.parametrize(
    ("turn", "cells", "listed"),
    rules("""
if only one of the dice can be used it is the greater one
    X 2 5 | e1=X b3=OO | e1:5
the smaller die is used if only it can be
    X 2 5 | e1=X b3=OO a2=OO | e1:2
of a double as many dice are used as can be
    X 2 2 | e1=X a3=OO | e1:2:2:+:2
    X 2 2 | e1=X a3=OO c2=OO | e1:2:2
a jump and a bearing off count the whole die, and a piece is not the last one while another is pinned
    X 1 6 | c4=X h3=XO | c4:+:6 c4:+:1
with -no_inwards no jump brings a piece nearer to the beginning of a path
    X 1 2 no_inwards | f4=X e2=O | f4:1:2
    """),
)
def test_all_turns_by_the_rules_are_listed_and_no_others(turn, cells, listed):
    assert [*written(turn, cells).moves()] == listed.split()


def test_on_the_medium_board_x_jumps_from_its_home_and_nobody_into_that_of_the_enemy_nor_over_the_wall_between():
    assert "f4" in after(medium("X", 1, 2, g4="XX", g3="O"), "g4:+,g4:2")
    assert refusal(medium("O", 1, 2, f4="O", g4="X"), "f4-g4").endswith("g4 is the home of X, where O may not jump.")
    assert "h3" in after(medium("O", 1, 2, g3="OO", g4="X"), "g3:+,g3:2")
    assert refusal(medium("X", 1, 2, h3="X", g3="O"), "h3-g3").endswith("g3 is the home of O, where X may not jump.")
    assert spiro.new().roll((6,)).play("g4:+").view()["cells"]["f4"] == "X"
    assert refusal(spiro.new().roll((6,)), "g4-g3") == (
        "The piece on g4 cannot get to g3 with the dice left (6): the wall between the homes is never jumped."
    )


# Bearing off


@pytest.mark.parametrize(("side", "cell"), [("X", "c4"), ("X", "g1"), ("O", "c4"), ("O", "g1")])
def test_a_piece_is_borne_off_from_the_end_of_either_path(side, cell):
    state = position(side, 1, 2, **{cell: side * 2, "e3": "X", "e2": "O"})
    left = state.play(state.parse(f"2x{cell}:x")).view()
    assert left["cells"] == {"e3": "X", "e2": "O"}
    assert left["scores"][side] - state.view()["scores"][side] == 2


def test_a_turn_that_bears_off_the_last_piece_is_always_legal():
    state = position("X", 1, 6, c4="X", e2="O")
    assert after(state, "c4:x") == {"e2": "O"}
    assert after(state, "c4-x") == {"e2": "O"}
    assert after(state, "c4:+:6") == {"i3": "X", "e2": "O"}
    assert {} not in ends(state)
    assert {"e2": "O"} in ends(state)


def test_turns_that_lead_to_one_position_are_one_turn_and_fewer_pips_stand_for_the_full_one():
    state = position("X", 2, 2, b3="X", e1="X", e2="O")
    full = state.parse("b3-c4,e1:2")
    assert sorted(full.split(",")) == ["b3:+:2:+", "e1:2"]
    short = state.parse("b3:2,e1:2")  # 4 pips, where the turn above has 8
    assert state.play(short) == state.play(full)
    assert state.play(short).view()["cells"] == {"c4": "X", "c1": "X", "e2": "O"}
    assert "+" in short
    state = position("X", 1, 2, e1="X", e2="O")
    assert ends(state).count({"b1": "X", "e2": "O"}) == 1
    assert after(state, "e1:1:2") == after(state, "e1:2:1") == after(state, "e1-b1")


# The example of the game's inventor


def example():
    return position("X", 4, 4, f1="OO", f3="XX", f4="O", g1="O")


PINNED = {"e2": "O", "f1": "OO", "f4": "X", "g1": "OX"}


def test_the_example_has_exactly_three_legal_turns_of_which_one_bears_a_piece_off():
    both_on = {"e2": "O", "f1": "OO", "g1": "O", "i3": "XX"}
    borne_off = {"e2": "O", "f1": "OO", "g1": "O", "f3": "X"}
    turns = ends(example())
    assert len(turns) == 3
    assert all(turn in turns for turn in (PINNED, both_on, borne_off))
    assert after(example(), "f3:+:4:4:x") == after(example(), "f3-f4-i3-g1-x")


@pytest.mark.parametrize("text", ["f3:+,f3:+:4:4", "2xf3-f4,f4-g1", "F3-G1, f3-f4", "2xf3:+,f4:8", "2xf3-+,f4-i3-g1"])
def test_the_example_is_played_as_described(text):
    assert after(example(), text) == PINNED


@pytest.mark.parametrize(("text", "target"), [("h2:+", "i2"), ("h2:1:+", "g1"), ("h2:3:+", "e1"),
                                              ("h2:4:+", "c2"), ("h2:6:+", "b3")])  # fmt: skip
def test_blocks_on_every_other_cell_keep_a_piece_from_jumping_outwards(text, target):
    dice = [int(text[3]), 5] if text[3].isdigit() else [1, 2]
    state = medium("O", *dice, b3="XX", c2="OX", e1="XX", g1="OX", h2="O", i2="XX")
    assert refusal(state, text).endswith(f"cannot jump: {target} {BLOCKED.replace('O on', 'X on')}")


# Skipped turns


def test_a_turn_is_skipped_only_when_no_die_can_be_used():
    for state in (position("X", 1, 2, h3="XO"), position("X", 1, 2, e1="X", d1="OO", c1="OO", e2="O")):
        assert list(state.moves()) == [SKIP] == ["--"]
        assert state.must_skip
        assert state.parse(" -- ") == "--"
        assert state.random(Random(1)) == "--"
        assert state.play("--") == state._replace(turn=1, dice=())
    state = position("X", 1, 2, e1="X", d1="OO")
    assert not state.must_skip
    assert refusal(state, "--") == "A turn is not skipped while a die can be used: e1:2:1 is legal."


# The end


@pytest.mark.parametrize(("side", "dice"), [("X", (1, 2)), ("O", (1, 2)), ("X", (6, 6)), ("O", (6, 6))])
def test_who_bears_off_his_last_piece_wins_with_dice_left_over_or_not(side, dice):
    state = position(side, *dice, c4=side, h3="XO"[side == "X"])
    end = state.play(state.parse("c4:x"))
    view = end.view()
    assert (view["winner"], view["over"], view["dice"]) == (side, True, [])
    assert view["turn"] == "XO"[side == "X"]
    assert view["scores"] == {side: 6, view["turn"]: 5}
    assert spiro.SIDES[end.result().winner] == side


def test_the_game_goes_on_while_both_sides_have_a_piece_even_a_pinned_one_and_after_the_end_there_is_no_turn():
    state = position("X", 1, 2, c4="X", e2="O")
    end = state.play("c4:x")
    assert list(end.moves()) == []
    assert not end.must_skip
    assert end.dice_needed == 0
    assert refusal(end, "e2:1:2") == refusal(end, "--") == "The game is over."
    with pytest.raises(Illegal, match=r"^The game is over; no dice are thrown\.$"):
        end.roll((1, 2))
    state = position("O", 1, 2, h3="XO", e2="O")
    assert state.result() is None
    assert (state.view()["winner"], state.view()["over"]) == (None, False)


# How a turn is written


CORNER = {"c3": "X", "g3": "O"}
SEVERAL = {"c3": "XXX", "d5": "X", "g3": "O"}


@pytest.mark.parametrize(
    ("dice", "cells", "text", "canonical", "end"),
    [
        ((1, 2), CORNER, "c3-c4,c4-d5", "c3:1:2", {"d5": "X"}),
        ((1, 2), CORNER, "c3-c4-d5", "c3:1:2", {"d5": "X"}),
        ((1, 2), CORNER, "c3-d4-d5", "c3:1:2", {"d5": "X"}),
        ((1, 2), CORNER, "c3-d5", None, {"d5": "X"}),
        ((4, 2), {"a4": "XX", "g3": "O"}, "a4-c6-x", "a4:4:x", {"a4": "X"}),
        ((1, 1), SEVERAL, "3xc3-c4,d5-e5", "c3:1,c3:1,c3:1,d5:1", {"c4": "XXX", "e5": "X"}),
        ((1, 1), SEVERAL, "3xc3:1,d5-e5", "c3:1,c3:1,c3:1,d5:1", {"c4": "XXX", "e5": "X"}),
        ((2, 2), {"j2": "X", "c3": "X", "g3": "O"}, "j2:2:+:x,c3:2", "c3:2,j2:2:+:x", {"d4": "X"}),
        ((5, 6), {"d2": "X", "g3": "O"}, "d2:11", None, {"i6": "X"}),
    ],
)
def test_the_examples_of_the_notation(dice, cells, text, canonical, end):
    state = medium("X", *dice, **cells)
    if canonical:
        assert state.parse(text) == canonical
    assert after(state, text) == {**end, "g3": "O"}


@pytest.mark.parametrize(
    ("turn", "cells", "texts", "canonical"),
    rules("""
a sum of dice is used in the order that is possible
    X 5 6 medium | d2=X d5=OO | d2:11 | d2:6:5
    X 5 6 medium | d2=X e5=OO | d2:11 | d2:5:6
a number of pips is steps only
    X 1 2 | c3=X b4=XX e2=O | c3:3 | c3:1:2
a plus is one jump after a colon or a hyphen
    X 1 2 | f3=X e2=O | f3:+:2; f3-+:2; f3-+-h4 | f3:+:2
a number in front repeats an item
    X 1 1 | e3=XXXX e2=O | 2xe3:1:1 | e3:1:1,e3:1:1
    X 1 1 | e3=XXXX e2=O | 1xe3:1,3xe3-f3 | e3:1,e3:1,e3:1,e3:1
letters may be large and blanks stand around commas
    X 1 1 | c4=XX e3=XX e2=O | 2XC4-X , \t2xE3-f3 | e3:1,e3:1,c4:x,c4:x
the turn of the last piece is always the listed one
    X 3 5 | a3=X e2=OO | a3:5; a3:x; a3-x; a3:8; a3:3:x; A3:3:5 | a3:3:x
    """),
)
def test_what_a_text_stands_for(turn, cells, texts, canonical):
    state = written(turn, cells)
    assert {state.parse(text) for text in texts.split(";")} == {canonical}
    assert canonical in state.moves()


def test_a_cell_and_the_exit_may_be_reached_with_a_jump_behind_a_hyphen_and_by_steps_behind_a_colon():
    state = position("X", 1, 2, f3="X", e2="O")
    assert state.parse("f3-h4") == "f3:+:2"
    assert refusal(state, "f3:+,e2-g4") == "There is no piece of X on e2."
    state = position("X", 1, 2, b4="X", e3="X", e2="O")
    assert state.parse("b4:3") == "b4:1:x"
    assert state.parse("b4:2,e3:1") == "e3:1,b4:x"
    assert "cannot step 3" in refusal(position("X", 1, 2, c4="X", e3="X", e2="O"), "c4:3")
    state = position("X", 1, 2, f1="X", e3="X", e2="O")  # over the wall lies the exit
    assert refusal(state, "f1:x") == "The piece on f1 cannot leave the board with the dice left (1, 2)."
    assert after(state, "f1-x") == after(state, "f1:+:x") == {"e3": "X", "e2": "O"}


def test_uses_of_one_piece_in_a_row_are_one_item():
    state = position("X", 1, 1, e1="X", a2="X", e2="O")
    assert state.parse("e1:1,d1:1,a2:1,c1:1") == state.parse("a2:1,e1:3") == "e1:1:1:1,a2:1"
    assert state.play("e1:1:1,a2:1,c1:1") == state.play("e1:1:1:1,a2:1")  # as it was stored once


def test_a_text_that_fits_different_positions_is_refused_with_a_list_of_them_and_different_ways_are_not():
    state = medium("X", 2, 5, g6="X", i5="O")
    assert refusal(state, "g6-i5") == (
        "g6-i5 can be g6:+:2 or g6:2:+, which lead to different positions; write one of these."
    )
    assert after(state, "g6:+:2") == {"i5": "OX"}
    assert after(state, "g6:2:+") == {"i5": "X", "g3": "O"}
    assert after(state, "g6-i6-i5") == {"i5": "X", "g3": "O"}
    assert after(medium("X", 2, 5, g6="X", g3="O"), "g6-i5") == {"i5": "X", "g3": "O"}


# What is refused, and where


LINKS = (":1", "-f2", ":+", ":x")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Cannot read ''; write a cell and where its piece goes, such as f3-g1, f3:4, f3:+ or f3:x."),
        *((text, "Cannot read ''; write a cell") for text in ("f3:1:2,", ",f3:1:2")),
        *((text, f"Cannot read '{text}'; write a cell") for text in ("hello", "f3 :1", "f3:-1", "f3:1.5", "f3-")),
        *((text, f"Cannot read '{text}'; write a cell") for text in ("-f3", "f3--g3", "f3:\u0661", "\u212a1:1")),
        ("f3", "'f3' does not say where the piece goes: f3-CELL, f3:PIPS, f3:+ or f3:x."),
        ("2xf3", "'2xf3' does not say where the piece goes"),
        ("0xf3:1", "'0xf3:1' moves no piece at all; the number in front of the x is 1 or more."),
        ("f3-4", "Cannot read 'f3-4'; a cell comes after a hyphen (-g1), a number of pips after a colon (:4)."),
        ("f3:g3", "Cannot read 'f3:g3'; a cell comes after a hyphen"),
        ("j2:1", "There is no cell j2 on this board; row 2 goes from a to i."),
        ("f3-a1", "There is no cell a1 on this board; row 1 goes from b to h."),
        *((f"f3-{c}", f"There is no cell {c} on this board; its rows are 1 to 4.") for c in ("f5", "f0", "f03")),
        *((f"{cell}:1", f"There is no piece of X on {cell}.") for cell in ("h2", "e2")),
        *((text, "There is no piece of X left on f3 by then.") for text in ("2xf3:1", "f3:1,f3:2")),
        *((f"f3:3{link}", f"There is no die left for {link}; the dice of this turn are 1, 2.") for link in LINKS),
        *((f"f3:{n}", f"The piece on f3 cannot step {n}: no die left (1, 2) makes that, and no sum") for n in (5, 0)),
        ("f3:1:1", "The piece on g3 cannot step 1: no die left (2) makes that, and no sum of them."),
        ("f3-e3", "The piece on f3 cannot get to e3 with the dice left (1, 2): e3 lies behind it, and a step never"),
        ("f3-c4", "The piece on f3 cannot get to c4 with the dice left (1, 2): c4 is out of reach."),
        ("f3-x", "The piece on f3 cannot leave the board with the dice left (1, 2)."),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(text, why):
    refused = refusal(position("X", 1, 2, f3="X", e2="O"), text)
    assert refused.startswith(why)
    assert refused.endswith(".")


# Positions that are set up


@pytest.mark.parametrize(
    ("view", "why"),
    [
        *(({"cells": {name: "X"}}, f"There is no cell '{name}' on this board.") for name in ("a1", "", "E3")),
        ({"cells": {"f3": ""}}, "'' cannot stand on f3: a stack has one colour, but for one piece under the others."),
        *(({"cells": {"f3": stack}}, f"{stack!r} cannot stand on f3") for stack in ("XXO", "XOX", "x", 3, ["X"])),
        *(({"cells": {"e3": stack}}, f"'{stack}' cannot stand on e3, the home of the other") for stack in ("O", "OX")),
        ({"cells": {"e2": "XO"}}, "'XO' cannot stand on e2, the home of the other side."),
        ({"cells": {"e3": "X"}, "turn": "Y"}, "It cannot be the turn of 'Y'; the sides are X and O."),
        ({"cells": {"e3": "X"}, "turn": ["X"]}, "It cannot be the turn of ['X']"),
        *(
            ({"cells": {"e3": "X", "e2": "O"}, "dice": dice}, "This turn takes two dice, from 1 to 6.")
            for dice in ([1], [1, 7], [[1], 2], [1, True])
        ),
    ],
)
def test_a_position_that_cannot_be_is_refused(view, why):
    with pytest.raises(Illegal) as refused:
        spiro.setup(view, small=True, pieces=6)
    assert str(refused.value).startswith(why)


def test_the_start_position_has_a_first_turn_only_if_nobody_has_moved():
    start = {"cells": {"e2": "OOOOOO", "e3": "XXXXXX"}}
    needed = [
        spiro.setup(start | more, small=True, pieces=6).dice_needed
        for more in ({}, {"moves": 0}, {"moves": 2}, {"moves": 0, "turn": "O"}, {"dice": [6]})
    ]
    assert needed == [2, 1, 2, 2, 1]


# Whole games


OPTIONS = st.fixed_dictionaries({"small": st.booleans(), "no_inwards": st.booleans(), "pieces": st.integers(1, 7)})
SEEDS = st.integers(0, 10**6)


def seen(state):
    """A position as the reference has it: its cells, the side to move, its dice."""
    view = state.view()
    return view["cells"], view["turn"], view["dice"]


def is_quick(state):
    """Whether the reference can try everything in no time."""
    free = sum(stack.endswith(spiro.SIDES[state.turn]) for stack in state.stacks)
    return bool(state.dice) and free <= (4 if len(set(state.dice)) == 1 else 9)


def test_a_double_among_thirty_stacks_is_understood_without_trying_all_that_it_could_be(monkeypatch):
    once = "h4 g2 f2 f6 m3 l3 f4 i5 k4 e1 a4"
    more = "g4 e2 d4 d5 i6 l5 k2 k1 j1 f3 f5 g5 i2 h1 g1 c2 a3 b4 d6"
    cells = dict.fromkeys(once.split(), "X") | dict.fromkeys(more.split(), "XX") | dict.fromkeys(["j6", "h5"], "O")
    state = position("X", 2, 2, small=False, pieces=60, **cells)
    tried, uses = [], spiro.Turn.uses
    monkeypatch.setattr(spiro.Turn, "uses", lambda *args: tried.append(args) or uses(*args))
    assert state.parse("g5:2,g4:+:2,i5:+") == "g4:+:2:2:+"
    assert len(tried) < 1000


def shortened(uses, rng):
    """One of the texts that can stand for these uses; now and then one that cannot."""
    items = []
    at = None
    for use in uses:
        if use.source != at:
            items.append(use.source)
        mark = rng.choice(["-", ":"])
        how = {"-": use.target if not use.jumps else rng.choice(["+", use.target]), ":": use.text}[mark]
        goal = "x" if use.target == "off" else how
        if rng.random() < 0.3 and re.search("[-:]", items[-1]):
            items[-1] = re.sub("[-:][^-:]*$", "", items[-1])  # the last waypoint is left out
        items[-1] += f"{mark}{goal}" if rng.random() < 0.95 else f":{use.die + 1}"
        at = use.target
    times = 1
    while len(items) > 1 and items[0] == items[1]:
        times += 1
        del items[0]
    return (f"{times}x" if times > 1 else "") + ",".join(items)


@given(OPTIONS, SEEDS)
@examples(25)
def test_what_is_listed_accepted_and_understood_is_what_trying_everything_finds(options, seed):
    rules, rng = Rules(small=options["small"], no_inwards=options["no_inwards"]), Random(seed)
    for state in filter(is_quick, (state for state, _ in random_game(spiro, options, seed, 40))):
        cells, side, dice = seen(state)
        found, listed = rules.turns(cells, side, dice), {*state.moves()}
        assert state.must_skip == (not found)
        assert sorted(map(sorted, map(frozen, ends(state)))) == sorted(map(sorted, found or {frozen(cells)}))
        tried = rules.sequences(cells, side, dice)
        for uses, end in rng.sample(tried, min(len(tried), 6)):
            if frozen(end) in legal(tried, side):
                assert after(state, spelled(uses)) == end
                assert state.parse(spelled(uses)) in listed
            else:
                assert refusal(state, spelled(uses))
            text = shortened(uses, rng)
            readings = rules.readings(text, tried, side)
            if len(readings) == 1:
                turn = state.parse(text)
                assert turn in listed
                assert state.parse(turn) == turn
                assert frozen(state.play(turn).view()["cells"]) in readings
            else:
                assert ("which lead to different positions" in refusal(state, text)) == (len(readings) > 1)


@pytest.mark.long
def test_a_double_with_many_stacks_is_parsed_quickly_though_it_has_very_many_turns():
    names = spiro.board(small=False).names
    cells = dict.fromkeys(names[:30], "XX") | dict.fromkeys(names[34:60], "X") | {"g3": "O"}
    state = spiro.setup({"cells": cells, "turn": "X"}, pieces=99).roll((1, 1))
    begin = time.process_time()
    assert state.parse("g4:1:1:1:1") == "g4:1:1:1:1"
    with pytest.raises(Illegal, match="uses 1 of the 4 pips"):
        state.parse("g4:1")
    assert time.process_time() - begin < 30
