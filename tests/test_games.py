"""What holds for every game, and for the boundary between games and server."""

import ast
import re
import sys
from pathlib import Path
from random import Random

import pytest

import games
from games import SKIP, Illegal, Option, needs_dice, spiro

import helptexts


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            yield node.module


def test_games_know_nothing_but_the_standard_library_and_what_games_share():
    for path in Path(games.__file__).parent.glob("*.py"):
        for name in imports(path):
            top, _, rest = name.partition(".")
            assert top in sys.stdlib_module_names or top == "games", f"{path.name} imports {name}"
            assert not rest or top != "games" or rest.startswith("_"), f"{path.name} imports the game {rest}"
            assert top not in {"sqlite3", "email", "smtplib", "socket", "secrets", "os"}, f"{path.name} imports {name}"


def test_the_server_names_no_game():
    folder = Path(games.__file__).parent.parent / "pbm"
    for path in folder.rglob("*.py"):
        for name in imports(path):
            assert not name.startswith("games."), f"{path.name} imports {name}"


def test_nobody_but_the_store_speaks_sql():
    folder = Path(games.__file__).parent.parent / "pbm"
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and path.parent.name != "store":
                assert not node.value.startswith(("SELECT ", "INSERT ", "UPDATE ", "DELETE ")), path.name


def test_a_game_is_found_by_its_name_and_no_other_is_imported():
    assert "spiro" in games.names()
    assert games.load("spiro") is spiro
    for name in ("chess", "_board", "", "Spiro", "../spiro", "spiro.x", "sp iro"):
        assert not games.exists(name)
        with pytest.raises(LookupError):
            games.load(name)


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (Option("flag", ""), None, True),
        (Option("size", "", range(5, 26)), "13", 13),
        (Option("komi", "", range(-99, 100)), "-3", -3),
        (Option("board", "", ("hex", "cairo")), "HEX", "hex"),
    ],
)
def test_an_option_reads_its_values(option, text, value):
    assert option.read(text) == value


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        (Option("flag", ""), "1", "takes no value"),
        (Option("size", "", range(5, 26)), "26", "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26)), "x", "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26)), "", "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26)), None, "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26)), "1" * 5000, "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26)), "٧", "a whole number from 5 to 25"),
        (Option("size", "", range(5, 26, 2)), "6", "an odd number from 5 to 25"),
        (Option("penalty", "", range(2, 21, 2)), "3", "an even number from 2 to 20"),
        (Option("board", "", ("hex", "cairo")), "square", "one of hex, cairo"),
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


def played(game, rng, most):
    """The positions of a random game, each with the move played there."""
    state = game.new(**games.read_options(game, []))
    for _ in range(most):
        if needs_dice(state):
            state = state.roll(tuple(rng.randint(1, 6) for _ in range(state.dice_needed)))
        if state.result():
            return
        move = state.random(rng)
        yield state, move
        state = state.play(move)


@pytest.mark.parametrize("name", games.names())
def test_the_examples_of_a_games_help_are_what_the_referee_answers(name):
    assert helptexts.check(name) > 20


@pytest.mark.parametrize("name", games.names())
def test_the_help_of_a_game_fits_a_mail_and_names_every_option(name):
    helptexts.check_form(name)
    assert all(option.syntax.partition("=")[0] in helptexts.read(name) for option in games.load(name).OPTIONS)


@pytest.mark.parametrize("name", games.names())
def test_the_help_of_a_game_says_in_its_first_section_how_to_challenge(name):
    before, line, behind = helptexts.read(name).partition(f"\n    {name} challenge [-options] userid1 userid2\n\n")
    assert line
    assert re.search(r"\n\n\n?(?:1 )?challenge\n(?:-+\n)?$", before, re.IGNORECASE)
    assert all(option.syntax.partition("=")[0] in behind for option in games.load(name).OPTIONS)


@pytest.mark.parametrize("name", games.names())
def test_every_game_keeps_its_promises(name):
    game = games.load(name)
    rng = Random(name)
    for state, move in played(game, rng, 60):
        assert move == SKIP or state.parse(move) == move
        assert state.parse(f" {move.upper()} ") == move or move == SKIP
        assert state.must_skip == (move == SKIP)
        assert set(state.seats) == {0, 1}
        seen = state.view()
        assert seen["turn"] == game.SIDES[state.turn]
        assert {"cells", "over", "winner", "scores"} <= set(seen)
        drawn = game.draw(state)
        assert all(len(line) <= 78 and line == line.rstrip() and line.isascii() for line in drawn.splitlines())
