"""What the page of a board is told of a turn that is tapped together, and what it draws over the board."""

import re
from datetime import UTC, datetime

import pytest

from games import papagra, spiro, sprout, symple
from games.tapping import NextTaps, Tap, TurnMark
from pbm.board.board import Board
from pbm.drawing.svg import Canvas
from pbm.drawing.taps import drawn_over
from pbm.site.tapping import Drawn, tap_answer
from pbm.store.boards import BoardRow

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def board(game, options, *turns):
    """A board after these turns."""
    row = BoardRow(game, "101", options, "alice", "bob", b"", NOW)
    made = Board(row, [], {}, is_stored=False)
    for turn in turns:
        made.play(made.mover, made.state.parse(turn), NOW)
    return made


def answer(board, *words, is_planned=False):
    """What a page is told of the last of these words."""
    figure = board.rules.figure(board.state)
    drawn = Drawn(figure, Canvas(figure, board.rules.SIDES))
    return tap_answer(board, words, drawn, is_planned=is_planned)


def over(game, state, taps, **options):
    figure = game.figure(state)
    return drawn_over(Canvas(figure, game.SIDES), figure, taps, state.turn, **options)


def middles(picture, kind):
    """Where circles of a class lie, and the colour of their side."""
    return re.findall(rf'<circle class="{kind} (\w+)"(?: data-cell="\w+")? cx="([\d.]+)" cy="([\d.]+)"', picture)


@pytest.mark.parametrize(
    ("game", "options", "turn"),
    [(symple, {"size": 5}, "c3"), (papagra, {"size": 3}, "c3"), (sprout, {"board": "cairo-1"}, "g1")],
)
def test_a_stone_that_is_tapped_is_drawn_where_it_will_stand(game, options, turn):
    state = game.new(**options)
    canvas = Canvas(game.figure(state), game.SIDES)
    marks = (TurnMark("piece", (turn,)),)
    stands = "".join(map(canvas.markup, game.figure(state.play(state.parse(turn))).pieces))
    assert middles(over(game, state, NextTaps(is_whole=True, marks=marks)), "ghost") == middles(stands, "piece")


@pytest.mark.parametrize(
    ("role", "shapes"),
    [
        ("piece", ["circle ghost", "text n"]),
        ("gone", ["path edge", "path gone"]),
        ("halo", ["circle halo"]),
        ("trail", ["path trail"]),
    ],
)
def test_each_kind_of_mark_has_a_shape_of_its_own(role, shapes):
    marks = (TurnMark(role, ("a1", "b1") if role == "trail" else ("a1",), "1" if role == "piece" else ""),)
    drawn = over(symple, symple.new(size=5), NextTaps(is_whole=False, marks=marks))
    assert [" ".join(found) for found in re.findall(r'<(?!g )(\w+) class="(\w+)', drawn)] == shapes


def test_dots_are_one_path_over_its_edge_and_quiet_taps_have_none():
    taps = (Tap("*", ("a1", "c3")), Tap("x", ("b2",), is_quiet=True))
    drawn = over(symple, symple.new(size=5), NextTaps(is_whole=False, taps=taps))
    assert re.findall(r'class="(\w+)"[^>]* d="([^"]*)"', drawn) == [
        ("edge", "M92 234.2h0M180 146.2h0"),
        ("target", "M92 234.2h0M180 146.2h0"),
    ]


def test_what_is_planned_is_marked_as_that():
    taps = NextTaps(is_whole=True, marks=(TurnMark("piece", ("c3",)),))
    assert over(symple, symple.new(size=5), taps, is_planned=True).startswith('<g class="over plan">')


def test_a_label_says_on_its_cell_what_a_tap_there_does():
    state = spiro.new(small=True).roll((4,))
    drawn = over(spiro, state, NextTaps(is_whole=False, taps=(Tap("e3:4", ("f2",), "4"),)))
    assert re.findall(r'<text class="tagged"[^>]*>(\w+)<', drawn) == ["4"]
    assert "target" not in drawn


def test_cells_are_one_text_and_empty_lists_are_left_out():
    told = tap_answer(board("symple", "-size=5"), [""], None, is_planned=False)
    assert told.keys() == {"whole", "hint", "taps", "over"}
    [tap] = told["taps"]
    assert tap["text"] == "*"
    assert tap["cells"].split() == [f"{column}{row}" for row in range(1, 6) for column in "abcde"]


def test_of_what_begins_no_turn_the_page_is_told_why():
    told = answer(board("symple", "-size=5"), "z9")
    assert told == {"error": "There is no point z9 on this board; columns go from a to e, rows from 1 to 5."}


def test_in_a_plan_taps_are_for_the_position_after_the_turns_before_and_these_are_numbered():
    told = answer(board("symple", "-size=5"), "c3", "a1", "b3", is_planned=True)
    assert told["whole"]
    assert [(hue, label) for hue, label in re.findall(r'<text class="n (\w+)"[^>]*>(\d)<', told["over"])] == [
        ("white", "1"),
        ("black", "2"),
    ]
    assert told["over"].count('<g class="over plan">') == 3
    assert answer(board("symple", "-size=5"), "c3", "c3", "b3")["error"].startswith("There is a white stone on c3")


def test_in_a_plan_for_any_turn_of_the_opponent_the_position_stays_as_it_is():
    told = answer(board("symple", "-size=5", "c3"), "any", "c4", is_planned=True)
    assert told["whole"]
    assert "white" in told["over"]


def test_in_spiro_a_plan_goes_from_cell_to_cell_because_its_dice_are_not_known():
    started = board("spiro", "-small")
    started.set_dice((4,))
    words = [started.state.parse(next(started.state.moves())), "any"]
    assert {tap["text"] for tap in answer(started, *words, "", is_planned=True)["taps"]} == {"*"}
    assert answer(started, *words, "e3", is_planned=True)["taps"][0]["text"] == "e3-*"
    assert answer(started, *words, "e3-f2", is_planned=True)["whole"]


@pytest.mark.parametrize(
    ("name", "options", "most"), [("spora", "-size=25", 6000), ("symple", "-size=25", 4000), ("papagra", "", 1500)]
)
def test_what_a_page_is_told_at_a_tap_is_small_on_the_largest_boards(name, options, most):
    turns = []
    if name == "spora":
        turns = [f"{column}{row}" for row in (3, 9, 15) for column in "cfilorux"]
    text = "m13" if name == "spora" else ""
    assert len(str(answer(board(name, options, *turns), text))) < most
