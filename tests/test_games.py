"""What holds for every game, and for the boundary between games and server."""

import re
import sys
import time
from functools import cache, partial
from itertools import islice
from random import Random
from typing import ClassVar, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import SKIP, Illegal, Option, Position, Result, boards, promises, spiro, symple
from pbm import referee

from helpers import helptexts, sources
from helpers.examples import IS_QUICK, attempt, examples, random_game

BOARDS = ("limping-3", "limping-5", "limping-7", "hex-6", "cairo-1", "cairo-2", "square-9")


def test_games_know_nothing_of_the_server_nor_the_server_of_games_but_what_robots_know():
    for path in sources.MODULES["games"]:
        for name in {one.module for one in sources.source(path).imports}:
            top, _, rest = name.partition(".")
            assert top in sys.stdlib_module_names or top == "games", f"{path.name} imports {name}"
            assert not rest or top != "games" or rest in {"boards", "figures", "lessons", "tapping"}, (
                f"{path.name} imports the game {rest}"
            )
            assert top not in {"sqlite3", "email", "smtplib", "socket", "secrets", "os"}, f"{path.name} imports {name}"
    for path in sources.MODULES["pbm"]:
        is_of_robots = "robots" in path.parts
        for name in {one.module for one in sources.source(path).imports}:
            is_shared = name.removeprefix("games.") in {"boards", "figures", "lessons", "promises", "tapping"}
            assert not name.startswith("games.") or is_shared or is_of_robots, f"{path.name} imports {name}"


def test_nobody_but_the_store_speaks_sql():
    for path in sources.MODULES["pbm"]:
        if path.parent.name != "store":
            for text in sources.source(path).texts:
                assert not text.startswith(("SELECT ", "INSERT ", "UPDATE ", "DELETE ")), path.name


def test_a_game_is_found_by_its_name_and_no_other_is_imported():
    assert "spiro" in games.names()
    assert games.load("spiro") is spiro
    for name in (
        "chess",
        "boards",
        "figures",
        "lessons",
        "promises",
        "tapping",
        "",
        "Spiro",
        "../spiro",
        "spiro.x",
        "sp iro",
    ):
        assert not games.exists(name)
        with pytest.raises(LookupError):
            games.load(name)


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        (Option("flag", ""), "1", "takes no value"),
        (Option("size", "", range(5, 26)), None, "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26)), "1" * 5000, "a whole number from 5 to 25"),
        (Option("size", "", range(0, 96, 5)), "2", "a whole number from 0 to 95 in steps of 5."),
    ],
)
def test_an_option_says_which_values_it_takes(option, text, reason):
    with pytest.raises(Illegal, match=reason):
        option.read(text)


class Made:
    """A game with two options that begin alike and two that exclude each other."""

    OPTIONS = (
        Option("size", "", range(3, 9), 5),
        Option("sized", "", excludes=("pie",)),
        Option("pie", ""),
        Option("twice", "", range(99), lambda options: 2 * options["size"]),
    )


def test_options_may_be_shortened_while_only_one_fits():
    assert games.read_options(Made, ["-SIZE=4", "-p"]) == {"size": 4, "sized": False, "pie": True, "twice": 8}
    with pytest.raises(Illegal, match="can be -size=n or -sized"):
        games.read_options(Made, ["-si=4"])
    with pytest.raises(Illegal, match="exclude each other"):
        games.read_options(Made, ["-pie", "-sized"])
    with pytest.raises(Illegal, match="given twice"):
        games.read_options(Made, ["-pie", "-pi"])
    for word in ("-", "--", "-x", "--pie=2=3", "-=3"):
        with pytest.raises(Illegal):
            games.read_options(Made, [word])


@pytest.mark.parametrize(
    ("name", "option", "allowed", "others", "why"),
    [
        ("symple", "size", range(5, 26, 2), "3 4 6 26 27 -5 x 5.0", "an odd number from 5 to 25"),
        ("symple", "penalty", range(2, 21, 2), "0 1 3 21 22 -2 x", "an even number from 2 to 20"),
        ("spora", "size", range(5, 26), "4 26 x", "a whole number from 5 to 25"),
        ("spora", "komi", (-99_999, -20, 0, 40, 99_999), "1.5 100000 -100000", "a whole number from -99999 to 99999"),
        ("papagra", "size", range(3, 11), "2 11 x", "a whole number from 3 to 10"),
        ("papagra", "removals", (0, 1, 999), "-1 1000 x", "a whole number from 0 to 999"),
        ("spiro", "pieces", range(1, 100), f"0 100 -1 x 1.5 {'9' * 50}", "a whole number from 1 to 99"),
        ("sprout", "board", BOARDS, "limping-4 cairo-3 5", f"one of {', '.join(BOARDS)}"),
    ],
)
def test_an_option_takes_what_the_rules_of_its_game_name(name, option, allowed, others, why):
    game = games.load(name)
    for value in allowed:
        options = games.read_options(game, [f"-{option.upper()}={str(value).upper()}"])
        assert options[option] == value
        assert game.new(**options).result() is None
    for other in (*others.split(), "", "\u0665"):
        with pytest.raises(Illegal, match=rf"^-{option}=\w+ takes {why}\.$"):
            games.read_options(game, [f"-{option}={other}"])


def test_with_the_pie_rule_of_spora_no_komi_is_given():
    with pytest.raises(Illegal, match="-komi and -pie exclude each other"):
        games.read_options(games.load("spora"), ["-pie", "-komi=3"])


@pytest.mark.parametrize("name", helptexts.GAMES)
def test_every_game_keeps_its_promises_and_its_help_says_in_the_first_section_how_to_challenge(monkeypatch, name):
    before, line, behind = helptexts.read(name).partition(f"\n    {name} challenge [-options] userid1 userid2\n\n")
    assert line
    assert re.search(r"\n\n\n?(?:1 )?challenge\n(?:-+\n)?$", before, re.IGNORECASE)
    assert all(option.syntax.partition("=")[0] in behind for option in games.load(name).OPTIONS)
    game, text = games.load(name), helptexts.read(name)
    assert text.count(f"\n{promises.REQUEST}") > 20
    if IS_QUICK:
        monkeypatch.setattr(promises, "TURNS", 12)
    assert list(promises.broken(game, Random(name), text, partial(referee.replies, name))) == []


SMALL = {"spiro": ["-small", "-pieces=4"], "sprout": ["-board=limping-3"], "papagra": ["-size=3", "-removals=1"]}
SHORT = {"spiro": 400, "papagra": 160}
"""How many letters a refusal has at most, where that is not 200."""
HOSTILE = (
    *("\0", "\ud800", "\u212a5", "\u212a3:1", "c\uff13", "c\u00b2", "\N{FULLWIDTH DIGIT ONE}xe3:1", "c3\u00a0d4"),
    *("c3\nd4", "e3:1\ne3:1", "--,--", "__import__('os')", "'; DROP TABLE boards; --", "c999999", "9999xe3:1"),
    *(text * (10**5 // len(text)) for text in ("x", "-", "--", ",", "1", "a1,", "-a1", "c4,e4", "f3-g3,", "e3:x")),
    *(start + text * 30_000 for start, text in (("e3", ":1"), ("e3", "-e3"), ("e3", "-+"), ("a1,c1,-", "c1-"))),
    *(start + text * 10**5 for start, text in (("a1,b2@", "n"), ("a1,b2@", "x"))),
    *(text + "9" * 5000 for text in ("", "e3:", "e3-a", "c")),
    *("9" * 5000 + text for text in (":1", "xe3:1")),
    *(text.replace("_", " " * 10**5) for text in ("_x", "_,", "a1_b2")),
    ",".join(["9999xe3:1"] * 5000),
)


def small(name):
    """Options of a small board of a game."""
    return games.read_options(games.load(name), SMALL.get(name, ["-size=5"]))


def position(name, rng):
    """A position of a small board after some turns at random, with its dice."""
    *_, (state, _) = random_game(games.load(name), small(name), rng.random(), rng.randint(1, 12))
    return state


@cache
def position_of(name, seed):
    """The position of a seed; many texts are tried in it."""
    return position(name, Random(seed))


def altered(move, rng):
    """A move and texts that are like it, some of them moves."""
    parts = move.split(",")
    yield move
    yield f" {move.upper()} "
    yield ",".join(rng.sample(parts, len(parts)))
    yield ",".join(rng.sample(parts, rng.randint(1, len(parts))))
    yield move.replace(rng.choice(move), rng.choice("abcd1234:x+-"), 1)
    yield move.replace("+", "").replace(":1", "")


@pytest.mark.parametrize("name", helptexts.GAMES)
@pytest.mark.parametrize("is_small", [False, True])
def test_capital_letters_and_blanks_do_no_harm_and_a_game_goes_on_from_what_is_seen(name, is_small):
    game = games.load(name)
    options = small(name) if is_small else games.read_options(game, [])
    for turns, (state, move) in enumerate(random_game(game, options, name, 20 if IS_QUICK else 60)):
        assert state.must_skip == (move == SKIP)
        if move and move != SKIP:
            assert state.parse(move) == state.parse(f" {move.upper().replace(',', ' , ')} ") == move
            again = game.setup({**state.view(), "moves": turns}, **options)
            assert [*islice(again.moves(), 300)] == [*islice(state.moves(), 300)]


TEXTS = st.text() | st.text("abcdefg12345nesw+-:@,x= ", max_size=16)


BOARD_OPTIONS = {"small", "size", "board"}
MISTAKES = (
    *("", "hello", "a0", "a1:9", "x", "-"),
    *("c6", "-a1-a2", "k10k11", "z9 z8", "z01,z02", "c01,d3", "xz9", "c3,xz9", "a1,a2,a3,a4", "+c3,-z9,-e2"),
    *("a1@n", "e1@n", "a1,z9@n", "a1,a2@", "a1,b1@q", "a1,a2,b2@n", "z9:3", "a1:9,b1@n", "zz9:3", "komi", "a1,c1"),
    *("z9", "z9:", "e3", "e3:c6", "e3-4", "e3-", "0xe3:1", "e3-z9", "q7-x"),
)


def boards_of(name):
    """The options of all boards that a game has."""
    game = games.load(name)
    yield games.read_options(game, [])
    for option in game.OPTIONS:
        if option.name in BOARD_OPTIONS:
            for value in option.values or ():
                yield games.read_options(game, [f"-{option.name}={value}"])
            if option.values is None:
                yield games.read_options(game, [f"-{option.name}"])


def some_positions(name, options):
    """The first positions of a random game, and in Spora the same ones as if each was the last turn."""
    game = games.load(name)
    for state, _ in random_game(game, options, name, 4):
        yield state
        if name == "spora":
            yield game.setup({**state.view(), "reserve": {game.SIDES[1 - state.turn]: 0}}, **options)


def named_cells(text):
    """The cells that a text names, and those on the path of a sowing."""
    cells = set(re.findall("[a-z][0-9]+", text))
    for start, path in re.findall("([a-z][0-9]+)@([nesw]+)", text):
        column, row = games.LETTERS.index(start[0]), int(start[1:])
        for direction in path:
            column += {"e": 1, "w": -1}.get(direction, 0)
            row += {"n": 1, "s": -1}.get(direction, 0)
            cells.add(f"{games.LETTERS[column]}{row}")
    return cells


@pytest.mark.parametrize("name", helptexts.GAMES)
def test_examples_of_moves_are_cells_of_each_board(name):
    game = games.load(name)
    for options in boards_of(name):
        start = games.thrown(game.new(**options), Random(1))
        cells = {cell.name for cell in game.figure(start).cells}
        assert named_cells(game.NOTATION) <= cells, options
        cells |= {*getattr(start.board, "called", ())}  # the other names of the bricks of Cairo
        for state in some_positions(name, options):
            for text in MISTAKES:
                _, why = attempt(state, text)
                assert named_cells(why) - named_cells(text) <= cells, why


@given(st.sampled_from(helptexts.GAMES), st.integers(0, 10**6), TEXTS)
@examples(150)
def test_what_is_read_is_one_of_the_moves_and_all_else_is_refused_in_few_words(name, seed, written):
    rng = Random(seed)
    state = position(name, rng)
    listed = list(islice(state.moves(), 5000))
    texts = [text for move in rng.sample(listed, min(len(listed), 5)) for text in altered(move, rng)]
    for text in (written, *texts):
        canonical, why = attempt(state, text)
        if canonical is None:
            assert 10 < len(why) < SHORT.get(name, 200) or len(text) > 40
            assert why.endswith(".")
        else:
            assert state.parse(canonical) == canonical
            assert canonical in listed or len(listed) == 5000


@pytest.mark.parametrize("name", helptexts.GAMES)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_a_hostile_text_is_refused_at_once_and_shortly(name, text):
    begin = time.process_time()
    for seed in range(2):
        with pytest.raises(Illegal) as refused:
            position_of(name, seed).parse(text)
        assert len(str(refused.value)) < SHORT.get(name, 200)
        assert str(refused.value).isprintable()
    assert time.process_time() - begin < 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    | st.sampled_from(["B", "W", "P", "X", "OX", "B1", "W3", "black", "white", "pink", "a1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["a1", "b2", "e5", "f3", "B1", "black", "white", "pink", "x", "\u0661"]), inner, max_size=3
    ),
    max_leaves=6,
)  # fmt: skip


KEYS = ("cells", "turn", "marks", "moves", "scores", "reserve", "komi", "over", "eyes", "dice")


@given(st.sampled_from(helptexts.GAMES), st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)))
@examples(500)
def test_any_json_is_a_position_or_is_refused(name, view):
    game = games.load(name)
    try:
        state = game.setup(view, **small(name))
    except Illegal:
        return
    assert state.view()["cells"] == view["cells"]
    assert game.draw(state)
    assert state.view()["over"] == (next(games.thrown(state, Random(1)).moves(), None) is None)


def test_boards_that_are_equal_are_the_same_object():
    assert boards.Square(7) is boards.Square(7)
    assert boards.Hexagon(4) is boards.Hexagon(4)
    assert boards.Square(7) is not boards.Square(8)
    ring = {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]}
    assert boards.Graph(ring) is boards.Graph(dict(ring))
    assert boards.Graph(ring) is not boards.Graph({"a": ["b"], "b": ["a"]})
    assert symple.new(size=5) == symple.new(size=5)


class Coin(NamedTuple("Fields", [("turn", int), ("result_", Result | None)]), Position):
    """A position with nothing of its own."""

    sides = ("heads", "tails")
    cells: ClassVar = {}

    def result(self):
        return self.result_

    def read(self, text):
        return text


def test_a_position_has_what_never_differs():
    begun = Coin(1, None)
    assert (begun.seats, begun.dice_needed, begun.must_skip) == ((0, 1), 0, False)
    assert begun.parse("  x ") == "x"
    assert begun.view() == {"cells": {}, "turn": "tails", "over": False, "winner": None, "scores": {}}
    assert [Coin(0, Result(winner)).view()["winner"] for winner in (0, 1, None)] == ["heads", "tails", "draw"]
    with pytest.raises(Illegal, match=r"^The game is over\.$"):
        Coin(0, Result(None)).parse("x")


@pytest.mark.parametrize(
    ("drawn", "latest"), [("(R . B", "(R"), (" (R) B", "(R)"), ("(R R) B", "(R R)"), ("R* B", "R*"), ("(Red) B", "")]
)
def test_a_bracket_alone_a_pair_of_them_and_an_asterisk_mark_the_last_turn(drawn, latest):
    glyphs = games.glyphs(Colours)
    assert "".join(re.findall(glyphs.latest, drawn)) == latest
    assert re.findall(glyphs.sides[1], drawn) == ["B"]


class Colours:
    SIDES = ("red", "blue")
    GLYPHS = games.Glyphs()  # what is left out is as usual
