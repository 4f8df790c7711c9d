"""Pictures hold what the text holds: pieces, the last turn, and every cell that can be tapped."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from io import BytesIO
from itertools import combinations, pairwise
from math import dist
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import games
from games.figures import Cell, Figure, Label, Mark, Note, Piece, box
from pbm.drawing import images, svg, terminals

from helpers.club import PASSWORDS
from helpers.examples import examples, random_game
from helpers.fixtures import set_up
from helpers.reference.spiro import ROWS, Rules

KINDS = [
    "spiro",
    "spiro -small",
    "spiro -pieces=99",
    "symple -size=5",
    "symple",
    "spora -size=5",
    "spora -pie",
    "papagra -size=3",
    "papagra -removals=3",
    "sprout -board=limping-3",
    "sprout -board=hex-6",
    "sprout -board=cairo-1",
    "sprout -board=square-9",
]
SVG = "{http://www.w3.org/2000/svg}"


class Played(NamedTuple):
    """A position, the one before it, and their picture."""

    game: object
    options: dict
    state: object
    before: object

    @property
    def figure(self):
        return self.game.figure(self.state, self.before)

    @property
    def text(self):
        return self.game.draw(self.state, self.before)

    @property
    def drawn(self):
        return ET.fromstring(svg.svg(self.figure, self.game.SIDES, "A board", style=""))


def played(kind, turns, seed=0):
    """A position after random turns; games with so many pieces that their turns are many are shorter."""
    name, *words = kind.split()
    game = games.load(name)
    options = games.read_options(game, words)
    turns = turns % 6 if "-pieces=99" in words else turns
    before, state = ([None] + [state for state, _ in random_game(game, options, f"{kind} {seed}", turns + 1)])[-2:]
    return Played(game, options, state, before)


def cell_names(state):
    return set(getattr(state.board, "bit", None) or state.board.names)


def by_cell(drawn, name):
    """The elements of a class, each with the cell that it or what it is in belongs to, in the order of the drawing."""
    parents = {child: parent for parent in drawn.iter() for child in parent}
    for element in drawn.iter():
        if name in element.get("class", "").split():
            owner = element
            while owner is not None and "data-cell" not in owner.attrib:
                owner = parents.get(owner)
            yield owner.get("data-cell") if owner is not None else None, element


def pieces(drawn, sides):
    """What stands on each cell, from the lowest piece up, by the initials of the sides."""
    initials = dict(zip(svg.hues(sides), (side[0].upper() for side in sides), strict=True))
    found = {}
    for cell, element in by_cell(drawn, "piece"):
        [hue] = set(element.get("class").split()) & initials.keys()
        found[cell] = found.get(cell, "") + initials[hue]
    return found


def spelled(stack):
    """What stands on a cell of a view, piece by piece: B3 is three black ones."""
    return stack if stack.isalpha() else stack[0] * int(stack[1:])


@pytest.mark.parametrize("kind", KINDS)
@examples(20)
@given(turns=st.integers(0, 60), seed=st.integers(0, 9))
def test_a_picture_has_the_pieces_of_the_view_and_every_cell_of_the_board(kind, turns, seed):
    position = played(kind, turns, seed)
    drawn = position.drawn
    view = position.state.view()["cells"]
    assert pieces(drawn, position.game.SIDES) == {cell: spelled(stack) for cell, stack in view.items()}
    assert {element.get("data-cell") for element in drawn.iter() if "data-cell" in element.attrib} == cell_names(
        position.state
    )
    tappable = [element.get("data-cell") for element in drawn.find(f"{SVG}g[@class]") if element.tag == f"{SVG}path"]
    assert len(tappable) == len(set(tappable)) == len(cell_names(position.state))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turns", [1, 9, 23])
def test_a_picture_marks_what_the_last_turn_has_put_and_where_stacks_have_changed(kind, turns):
    position = played(kind, turns)
    now, was = position.state.view()["cells"], position.before.view()["cells"]
    has_stacks = kind.startswith(("spiro", "spora"))
    changed = {cell for cell in now.keys() | was.keys() if now.get(cell) != was.get(cell)}
    latest = changed if has_stacks else changed & now.keys()
    assert {cell for cell, _ in by_cell(position.drawn, "latest")} == {*position.figure.latest} == latest
    assert latest or turns == 1


# What the text says


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def text_numbers(position, side):
    """What the text below the board says of a side, by numbers, as far as a picture says it, too."""
    name, text = position.game.SIDES[side], position.text
    if name in "XO":
        return numbers(re.search(rf"(?m)^{name} {{2,}}(.*)$", text)[1])
    if "Pink" in text:
        return numbers(re.search(rf"{name.title()} (\d+)", text)[1])
    [line] = re.findall(rf"(?m)^(?:\w )? *{name} +(-?\d.*)$", text, re.IGNORECASE)
    if needed := re.search(r"(\d+) of the \d+ cells win", text):
        return [*numbers(line)[:1], float(needed[1])]
    return numbers(line)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turns", [1, 25])
def test_the_notes_below_a_picture_have_the_numbers_of_the_text(kind, turns):
    position = played(kind, turns, 1)
    figure, state = position.figure, position.state
    of_sides = [note for note in figure.notes if note.side is not None]
    for side, note in enumerate(of_sides):
        assert note.side == side
        assert note.text.partition(":")[0].lower() == position.game.SIDES[side].lower()
        assert numbers(note.text) == text_numbers(position, side)
        assert note.dice == (tuple(state.view().get("dice") or ()) if side == figure.turn else ())
    text = " ".join(position.text.split())
    for note in figure.notes[len(of_sides) :]:
        assert note.text in text
    for sentence in re.findall(
        r"\w+ to move; enemy groups .*?\.|\w+ must pass\.|\w+ has no first .*?\.|Matched .*?\.", text
    ):
        assert sentence in [note.text for note in figure.notes]
    for formula in re.findall(r"score \(.*?\)", text):
        assert formula in [note.text for note in figure.notes]
    view = state.view()
    assert figure.turn == (None if view["over"] else position.game.SIDES.index(view["turn"]))


@pytest.mark.parametrize(
    ("kind", "turns", "told"),
    [
        ("spora -pie", 0, "Black names the komi."),
        ("spora -pie", 1, "White chooses a side."),
        ("spora -size=5", 2, None),
        ("symple -size=5", 1, "Nobody has grown yet: Black may grow and then found in the same turn."),
        ("symple -size=5", 25, None),
        ("sprout", 0, "Black to move; enemy groups to be played to: none."),
        ("sprout", 2, "Black to move; enemy groups to be played to: d1, g3."),
    ],
)
def test_what_is_particular_about_a_turn_stands_below_the_picture_too(kind, turns, told):
    position = played(kind, turns)
    figure = position.figure
    assert [note.text for note in figure.notes if note.is_task] == ([told] if told else [])
    assert told is None or told in position.game.draw(position.state)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turns", [0, 20])
def test_a_picture_explains_the_marks_that_it_has_and_no_others(kind, turns):
    position = played(kind, turns)
    figure, drawn = position.figure, position.drawn
    names = {"latest": "last turn", "eye": "eye", "territory": "territory", "matched": "matched"}
    used = {mark.role for mark in figure.marks} | ({"latest"} if figure.latest else set())
    legend = drawn.find(f"{SVG}g[@class='legend']")
    told = [] if legend is None else [text.text for text in legend.iter(f"{SVG}text")]
    assert set(told) == {names[role] for role in used & names.keys()}
    rings = [ring.get("class").split()[1:] for _, ring in by_cell(drawn, "latest")]
    keys = [] if legend is None else [key.get("class").split()[1:] for key in legend.iter(f"{SVG}circle")]
    assert not rings or keys[0] == rings[0]  # in the same colour
    low = max(float(text.get("y")) for text in drawn.iter(f"{SVG}text"))
    assert low < float(drawn.get("height")) < low + 30


def test_a_picture_of_spora_names_what_was_captured_in_its_lines_and_in_words():
    game = games.load("spora")
    before = game.setup({"cells": {"a1": "W1", "b1": "B1", "c3": "B1", "e5": "W1", "e3": "W1"}}, size=5)
    drawn = Played(game, {}, before.play("a2"), before).drawn
    assert "captured: a1." in [text.text for text in drawn.iter(f"{SVG}text")]
    assert drawn.find(f"{SVG}desc").text.endswith("captured: a1.")


def test_joins_of_stones_can_be_seen_on_light_and_dark_boards():
    game = games.load("sprout")
    state = game.setup({"cells": {"e4": "W", "e5": "W"}, "moves": 8})
    source = svg.svg(game.figure(state), game.SIDES, "A board", style=svg.fixed_style(game.SIDES))
    one, other = (element for _, element in by_cell(ET.fromstring(source), "piece"))
    with Image.open(BytesIO(images.png(source, 2))).convert("RGB") as picture:
        x, y = (int(float(one.get(at)) + float(other.get(at))) for at in ("cx", "cy"))
        column = [sum(picture.getpixel((x, y + down))) / 3 for down in range(-12, 13)]
    assert column[12] > 240
    assert min(column[:12]) < 60 > min(column[13:])  # an edge on both sides


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_has_the_coordinates_of_the_text(kind):
    game, *words = kind.split()
    game = games.load(game)
    empty = game.setup({"cells": {}}, **games.read_options(game, words))
    labels = [label for label in game.figure(empty).labels if label.role == "coordinate"]
    text = Played(game, {}, empty, None).text
    above = "\n".join(text.split("\n")[: text.height])  # the board, without what stands below it
    written = re.findall(r"(?<!\w)(?:[a-z]|\d+)(?!\w)", above)
    assert Counter(label.text for label in labels) == Counter(written)
    cells = game.figure(empty).cells
    for label in labels:
        if label.text.isalpha():  # it stands in the line of its cells
            places = [cell.at for cell in cells if cell.name[0] == label.text] or [label.at]  # bricks have other names
            assert any(
                min(line) - 0.5 <= at <= max(line) + 0.5
                for at, line in zip(label.at, zip(*places, strict=True), strict=True)
            )


def edges(outline):
    """The edges of a cell; those of bricks, which can have two neighbours along one, in pieces of 1."""
    found = set()
    for (x, y), (to_x, to_y) in pairwise([*outline, outline[0]]):
        parts = round(dist((x, y), (to_x, to_y))) or 1
        places = [(x + (to_x - x) * n / parts, y + (to_y - y) * n / parts) for n in range(parts + 1)]
        found |= {frozenset(edge) for edge in pairwise([(round(right, 6), round(up, 6)) for right, up in places])}
    return found


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("spiro")])
def test_cells_that_are_neighbours_touch_and_the_first_one_is_at_the_left_and_low(kind):
    position = played(kind, 10)
    cells = {cell.name: cell for cell in position.figure.cells}
    sides = {name: edges(cell.outline) for name, cell in cells.items()}
    assert {frozenset(pair) for pair in combinations(cells, 2) if sides[pair[0]] & sides[pair[1]]} == near(position)
    (x, y), (to_right, _), *_, (_, to_top) = (cell.at for cell in cells.values())
    assert x < to_right
    assert y < to_top


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_lie_on_their_cells(kind):
    figure = played(kind, 10).figure
    outlines = {cell.name: [*zip(*cell.outline, strict=True)] for cell in figure.cells}
    places = [(cell.at, cell.name) for cell in figure.cells] + [(piece.at, piece.cell) for piece in figure.pieces]
    for (x, y), name in places:
        xs, ys = outlines[name]
        assert min(xs) < x < max(xs)
        assert min(ys) < y < max(ys)


def near(position):
    """The pairs of cells that are neighbours by the rules."""
    board = position.state.board
    return {frozenset((cell, other)) for cell in board.bit for other in board.names(board.ring(board.bit[cell]))}


@pytest.mark.parametrize("small", [True, False])
def test_between_neighbours_on_a_path_of_spiro_there_is_no_wall_and_elsewhere_there_is_one(small):
    figure, rules = games.load("spiro").figure(games.load("spiro").new(small=small)), Rules(small=small)
    ways = {frozenset(way): strokes.role for strokes in figure.lines if strokes.role != "path" for way in strokes.ways}
    assert len(ways) == sum(len(strokes.ways) for strokes in figure.lines if strokes.role != "path")
    sides = {cell.name: {frozenset(edge) for edge in combinations(cell.outline, 2)} for cell in figure.cells}
    assert ways.keys() == set.union(*sides.values())
    assert all(len({round(dist(cell.at, corner), 6) for corner in cell.outline}) == 1 for cell in figure.cells)
    followed = {frozenset(pair) for path in rules.paths for pair in pairwise(path)}
    exits = {path[-1] for path in rules.paths}
    for way, role in ways.items():
        beside = {name for name in sides if way in sides[name]}
        is_exit = beside <= exits and len({y for _, y in way}) == 1
        assert role == ("open" if beside in followed or is_exit else "wall")
    assert {frozenset(pair) for pair in combinations(sides, 2) if sides[pair[0]] & sides[pair[1]]} == {
        frozenset((cell, other)) for cell in sides for other in rules.neighbours(cell, ROWS[small])
    }


def cells_at(figure, role):
    """The cells on which marks of a role stand, with the side of each."""
    names = {cell.at: cell.name for cell in figure.cells}
    return sorted((names[mark.at], mark.side) for mark in figure.marks if mark.role == role)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("sprout")])
@pytest.mark.parametrize("turns", [6, 20, 40])
def test_a_picture_has_the_eyes_of_the_text(kind, turns):
    position = played(kind, turns, 2)
    told = re.findall(r"eyes: (.*)", position.text)
    eyes = [(name, side) for side, names in enumerate(told) if names != "none" for name in names.split(", ")]
    assert cells_at(position.figure, "eye") == sorted(eyes)


@pytest.mark.parametrize("kind", ["papagra -size=3", "papagra -removals=3"])
@pytest.mark.parametrize("turns", [14, 40])
def test_a_picture_has_what_is_matched_in_the_text_and_the_marks_on_the_track(kind, turns):
    position = played(kind, turns)
    figure = position.figure
    text = position.text
    sentences = re.findall(r"Matched [^.]*\.", " ".join(text.split()))
    assert [note.text for note in figure.notes if "Matched" in note.text] == sentences
    told = re.findall(r"(\d+): ([^;.]*)", " ".join(sentences))
    named = [(name, int(size)) for size, names in told for name in re.findall(r"\b[a-z]\d+", names)]
    marked = {cell for cell, _ in cells_at(figure, "matched")}
    assert {name for name, _ in named} <= marked
    assert len(marked) == sum(size for _, size in named)
    track, marks = (re.search(rf"(?m)^   {name}(.*)$", text)[1] for name in ("Track", "Marks"))
    shown = [int(track[at : at + 4]) for at in range(0, len(track), 4)]
    written = {side: shown[marks.index(sign) // 4] for side, sign in enumerate("o#")}
    boxes = {label.at[0]: int(label.text) for label in figure.labels if label.role == "track"}
    tokens = {mark.side: mark.at[0] for mark in figure.marks if mark.role == "token"}
    assert [*boxes.values()] == shown
    assert {side: [boxes[x] for x in boxes if abs(x - at) < 0.3] for side, at in tokens.items()} == {
        side: [number] for side, number in written.items()
    }


@pytest.mark.parametrize("kind", ["spora -size=5", "spora -pie", "spiro"])
@pytest.mark.parametrize("turns", [9, 40])
def test_a_picture_counts_the_pieces_of_stacks_and_shows_whose_an_empty_region_of_spora_is(kind, turns):
    position = played(kind, turns)
    figure, stacks = position.figure, {cell: spelled(stack) for cell, stack in position.state.view()["cells"].items()}
    untold = 2 if kind == "spiro" else 1  # so many can be seen
    counts = {label.cell: (int(label.text), label.side) for label in figure.labels if label.role == "count"}
    assert counts == {
        cell: (len(stack), [side[0].upper() for side in position.game.SIDES].index(stack[-1]))
        for cell, stack in stacks.items()
        if len(stack) > untold
    }
    if kind != "spiro":
        owned = [(name, side) for side in (0, 1) for name in position.state.board.names(position.state.territory[side])]
        assert cells_at(figure, "territory") == sorted(owned)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.split()[0] in {"papagra", "sprout", "symple"}])
def test_a_picture_joins_the_stones_that_touch(kind):
    position = played(kind, 25)
    figure, stones = position.figure, position.state.view()["cells"]
    names = {cell.at: cell.name for cell in figure.cells}
    joined = {frozenset(map(names.get, way)) for lines in figure.lines if lines.role == "join" for way in lines.ways}
    assert joined == {
        frozenset(pair) for pair in map(tuple, near(position)) if len({stones.get(cell, cell) for cell in pair}) == 1
    }


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_a_figure_has_is_drawn_in_the_colour_of_its_side(kind):
    position = played(kind, 14)
    figure, drawn = position.figure, position.drawn
    hue = dict(enumerate(svg.hues(position.game.SIDES)))
    kinds = Counter(" ".join(sorted(element.get("class", "").split())) for element in drawn.iter())
    for role in {mark.role for mark in figure.marks}:
        for side in (0, 1, None):
            count = len([mark for mark in figure.marks if (mark.role, mark.side) == (role, side)])
            assert kinds[" ".join(sorted(filter(None, ["mark", role, hue.get(side)])))] == count
    assert kinds["pip"] == sum(sum(note.dice) for note in figure.notes)
    texts = Counter((element.text, element.get("class")) for element in drawn.iter(f"{SVG}text"))
    for label in figure.labels:
        assert texts[label.text, f"count {hue[label.side]}" if label.side is not None else None]
    words = " ".join(text for text, _ in texts.elements())
    assert all(note.text in words for note in figure.notes)
    swatches = [element.get("class") for element in drawn.find(f"{SVG}g[@class='notes']") if "class" in element.attrib]
    sides = [f"swatch {hue[note.side]}" for note in figure.notes if note.side is not None]
    assert [name for name in swatches if name != "dice"] == [
        *(["turn"] if figure.turn == 0 else []), sides[0], *(["turn"] if figure.turn == 1 else []), sides[1],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "cells", "colours"),
    [
        ("spiro -small", {"d3": "X", "f3": "O"}, [(255, 214, 10), (29, 47, 134)]),  # yellow and dark blue
        ("symple -size=5", {"b2": "W", "d4": "B"}, [(251, 250, 246), (22, 22, 22)]),
        ("spora -size=5", {"b2": "B1", "d4": "W1"}, [(22, 22, 22), (251, 250, 246)]),
        ("papagra -size=3", {"b2": "P", "d3": "B"}, [(255, 158, 200), (22, 22, 22)]),
        ("sprout -board=limping-3", {"c1": "B", "e2": "W"}, [(22, 22, 22), (251, 250, 246)]),
    ],
)
def test_pieces_have_the_colours_after_which_their_sides_are_called(kind, cells, colours):
    name, *words = kind.split()
    game = games.load(name)
    figure = game.figure(game.setup({"cells": cells}, **games.read_options(game, words)))
    source = svg.svg(figure, game.SIDES, "A board", style=svg.fixed_style(game.SIDES))
    drawn = dict(by_cell(ET.fromstring(source), "piece"))
    with Image.open(BytesIO(images.png(source, 1))) as picture:
        for cell, colour in zip(cells, colours, strict=True):
            middle = [int(float(drawn[cell].get(name))) for name in ("cx", "cy")]
            assert picture.getpixel((middle[0] + 4, middle[1] + 4))[:3] == colour


def test_a_picture_is_called_by_its_title_and_says_in_words_what_stands_where_and_is_pinned():
    position = played("spora -size=5", 9, 1)
    drawn = position.drawn
    assert drawn[0].tag == f"{SVG}title"
    assert drawn[0].text == "A board"
    told = drawn.find(f"{SVG}desc").text
    for cell, stack in position.state.cells.items():
        assert re.search(rf"\b{cell}\b" if stack[1] == "1" else rf"\b{cell} \({stack[1]}\)", told)
    game = games.load("spiro")
    state = game.setup({"cells": {"f3": "OXX", "f1": "XO"}}, small=True)
    told = svg.description(game.figure(state), game.SIDES)
    assert "X on f3 (3, 1 of them O below)." in told
    assert "O on f1 (2, 1 of them X below)." in told


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "]]>&amp;\"'", "a\x00b\x1b[31m\ud800", "漢字"])
def test_whatever_a_title_says_is_text(text):
    figure = Figure(
        cells=(Cell('<a"b', (0, 0), box(0, 0, 1, 1)),),
        pieces=(Piece('<a"b', (0, 0), 0),),
        marks=(Mark((0, 0), "eye", 0.1, 1),),
        labels=(Label((0, 0), "<&>"),),
        notes=(Note("<i>"),),
    )
    source = svg.svg(figure, ("<one>", "two"), text)
    drawn = ET.fromstring(source.encode())
    assert drawn[0].text == "".join(letter for letter in text if letter.isprintable())
    assert {element.tag.removeprefix(SVG) for element in drawn.iter()} <= {
        "svg", "title", "desc", "style", "rect", "g", "path", "circle", "text",
    }  # fmt: skip
    assert [cell for cell, _ in by_cell(drawn, "piece")] == ['<a"b']


def test_a_board_in_text_keeps_its_columns():
    text = "  a b\n1 R .\n2 . <&"
    drawn = ET.fromstring(svg.text_svg(text, "Hex"))
    rows = {}
    for element in drawn.iter(f"{SVG}text"):
        for x, letter in zip(element.get("x").split(), element.text, strict=True):
            rows.setdefault(float(element.get("y")), {})[float(x)] = letter
    assert [" ".join(row.values()) for _, row in sorted(rows.items())] == ["a b", "1 R .", "2 . < &"]
    columns = [sorted(row) for _, row in sorted(rows.items())]
    assert columns[0] == columns[1][1:] == columns[2][1:3]


def test_every_colour_of_the_style_sheet_is_known_in_light_and_in_dark():
    light, _, dark = svg.STYLE.partition("@media")
    used = set(re.findall(r"var\((--[\w-]+)\)", light))
    for ground in ("wood", "felt"):
        for sheet in (light, dark):
            [properties] = re.findall(rf"(?m)^\.{ground}\{{(.*)\}}$", sheet)
            assert {one.partition(":")[0] for one in properties.split(";")} == used
    for name in games.names():
        assert "var(" not in svg.fixed_style(games.load(name).SIDES)


def test_png_is_as_large_as_it_is_to_be_and_has_letters_without_any_font_of_the_machine():
    position = played("symple -size=5", 4)
    figure, sides = position.figure, position.game.SIDES
    style = svg.fixed_style(sides)
    source = svg.svg(figure, sides, "A board", style=style)
    root = ET.fromstring(source)
    image = images.png(source, 2)
    assert image.startswith(b"\x89PNG\r\n")
    width, height = (int.from_bytes(image[at : at + 4]) for at in (16, 20))
    assert (width, height) == (2 * int(root.get("width")), 2 * int(root.get("height")))
    blank = figure._replace(labels=tuple(label._replace(text=" ") for label in figure.labels))
    assert images.png(svg.svg(blank, sides, "A board", style=style), 2) != image


# Boards of the server


@set_up
def board(shell):
    """alice and bob on board 101 of Symple, after a move of each."""
    shell.sign_up("alice", "bob")
    shell.run("symple", "challenge", "-size=5", "alice", "bob")
    shell.run("symple", "move", "101", "alice", PASSWORDS["alice"], "c3")
    shell.run("symple", "move", "101", "bob", PASSWORDS["bob"], "a1")


def test_picture_draws_a_board_as_it_is_or_was_as_svg_or_png(board, tmp_path):
    now, then = tmp_path / "now.svg", tmp_path / "then.SVG"
    board.done("picture", "symple", "101", str(now))
    board.done("picture", "Symple", "101#-1", str(then))
    drawn = [ET.fromstring(file.read_bytes()) for file in (now, then)]
    assert [pieces(one, ("white", "black")) for one in drawn] == [{"c3": "W", "a1": "B"}, {"c3": "W"}]
    told = "Symple board 101, alice (white) against bob (black), after 2 moves: alice's turn (white)."
    assert drawn[0][0].text == told
    done = board.done("picture", "symple", "101", str(tmp_path / "board.png"))
    assert done == f"{tmp_path}/board.png shows Symple board 101 after 2 moves.\n"
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("symple 102 board.svg", "There is no Symple board '102'"),
        ("symple 101#x board.svg", "is no board at a move"),
        ("chess 101 board.svg", "There is no game 'chess'"),
        ("symple 101 board.gif", "ends in .svg or .png, and not into 'board.gif'"),
        ("symple 101 board", "ends in .svg or .png"),
        ("symple 101 no/such/board.svg", "there is no such file or folder"),
        ("symple 101", "Missing argument 'FILE'"),
    ],
)
def test_where_nothing_can_be_drawn_there_is_no_file(board, tmp_path, monkeypatch, words, reason):
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    done = board.run("picture", *words.split())
    assert done.returncode in {1, 2}
    assert reason in done.stderr
    assert [*folder.iterdir()] == []


def test_without_the_extra_png_says_what_brings_it_and_svg_is_drawn(board, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert "pip install '.[pictures]'" in board.refused("picture", "symple", "101", str(tmp_path / "board.png"))
    assert not (tmp_path / "board.png").exists()
    board.done("picture", "symple", "101", str(tmp_path / "board.svg"))


def test_the_picture_of_a_game_without_figures_is_its_text(board, tmp_path, monkeypatch):
    monkeypatch.delattr(games.symple, "figure")
    board.run("picture", "symple", "101", str(tmp_path / "board.svg"))
    drawn = ET.fromstring((tmp_path / "board.svg").read_bytes())
    letters = "".join("".join(element.itertext()) for element in drawn.iter(f"{SVG}text"))
    assert "1(B)....1" in letters
    assert [*by_cell(drawn, "piece")] == []


# Terminals


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({"TERM": "xterm-kitty"}, terminals.to_kitty),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, terminals.to_kitty),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, terminals.to_kitty),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, terminals.to_iterm),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, terminals.to_iterm),
        ({"TERM": "screen-256color", "LC_TERMINAL": "iTerm2"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({}, None),
    ],
)
def test_the_protocol_of_a_terminal_is_known_by_its_environment(environment, protocol):
    assert terminals.picture_protocol(environment) == protocol


def test_kitty_gets_a_picture_in_pieces_that_make_the_whole():
    image = bytes(range(256)) * 40
    told = terminals.to_kitty(image)
    parts = re.findall(r"\x1b_G(.*?);(.*?)\x1b\\", told)
    assert [keys.rpartition("m=")[2] for keys, _ in parts] == ["1"] * (len(parts) - 1) + ["0"]
    assert all(len(data) <= terminals.CHARACTERS_AT_ONCE for _, data in parts)
    assert b64decode("".join(data for _, data in parts)) == image
    assert b64decode(re.search(r":(.*)\x07", terminals.to_iterm(image))[1]) == image


def test_show_with_a_picture_shows_it_in_a_terminal_that_can(board):
    command = [sys.executable, "-m", "pbm", "symple", "show", "--picture", "101"]
    seen = at_terminal(command, board.environment | {"TERM": "xterm-kitty"})
    image = b64decode("".join(re.findall(r"\x1b_G.*?;(.*?)\x1b", seen)))
    assert image.startswith(b"\x89PNG\r\n")
    assert image.endswith(b"IEND\xaeB`\x82")
    assert " 3  . . W . .  3" in seen
    assert "status 0" in seen


def everything(terminal):
    """What is written to a terminal until all have closed it, which is an error on Linux."""
    with contextlib.suppress(OSError):
        while some := os.read(terminal, 65536):
            yield some


def at_terminal(command, environment):
    """What a terminal shows where a command is carried out, and then its status is printed."""
    primary, secondary = pty.openpty()
    log_in = "import os, sys; os.login_tty(0); os.execv('/bin/sh', sys.argv[1:])"
    sitting = [sys.executable, "-c", log_in, "sh", "-c", '"$@"; echo "status $?"', "sh", *command]
    with subprocess.Popen(sitting, env=environment, stdin=secondary):
        os.close(secondary)
        seen = b"".join(everything(primary))
    os.close(primary)
    return seen.decode()


def test_show_with_a_picture_says_so_where_there_is_no_terminal(board):
    done = board.run("symple", "show", "--picture", "101", TERM="xterm-kitty")
    assert done.returncode == 0
    assert done.stderr == "This terminal shows no pictures, as far as is known; here is the text.\n"
    assert done.stdout == board.run("symple", "show", "101").stdout
