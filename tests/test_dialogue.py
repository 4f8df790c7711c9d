"""A robot as a program: `pbm robot`, as `pbm play --with` asks it."""

import io
import json
import subprocess
import sys
from random import Random

import pytest

import games
from pbm.referee import Referee
from pbm.robot_players.engine import GIVE_UP, Dialogue, converse, read_position
from pbm.robots.thinking import Thought

from helpers import helptexts
from helpers.patience import PATIENCE


class Parrot:
    """A player that says what it is told to, and remembers the positions it was asked about."""

    def __init__(self, *chances):
        self.rng = Random(1)
        self.chances = list(chances)
        self.seen = []

    def think(self, states):
        self.seen.append(states)
        return Thought(next(iter(states[-1].moves())), self.chances.pop(0) if self.chances else 0.5, 7)


def asked(player, *lines, hopeless=0):
    """What a robot says to these lines: its answers, and its notes."""
    out, notes = io.StringIO(), io.StringIO()
    converse(Dialogue(lambda *_: player, notes, hopeless=hopeless), [f"{line}\n" for line in lines], out)
    return out.getvalue().splitlines(), notes.getvalue().splitlines()


def referee(game, *requests):
    """A referee who was asked that."""
    one = Referee(game)
    for request in requests:
        assert one.answer(request).startswith("="), request
    return one


def line(game, *requests):
    """The position to which these requests lead, in a line."""
    return referee(game, *requests).state("")


def run(*lines, options=("--playouts=20", "--seed=7")):
    """What the real program answers."""
    return subprocess.run(
        [sys.executable, "-m", "pbm", "robot", *options], input="".join(f"{one}\n" for one in lines),
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


def test_the_program_answers_each_position_with_a_legal_move_and_tells_what_it_thinks():
    judge = referee("symple", "new -size=5", "play c3")
    lines = [judge.state(""), line("spiro", "new -small", "dice 4"), "quit", "{"]
    first, again = run(*lines), run(*lines)
    assert (first.returncode, again.stdout) == (0, first.stdout)
    moves, notes = first.stdout.splitlines(), first.stderr.splitlines()
    assert len(moves) == len(notes) == 2
    assert judge.answer(f"play {moves[0]}") == f"= {moves[0]}"
    assert notes[0].startswith("win ")
    assert "20 playouts" in notes[0]


def test_a_refused_move_is_followed_by_others_as_long_as_there_are_any_and_a_skip_by_itself():
    (first, *others), _ = asked(Parrot(), line("symple", "new -size=5"), *["? I do not like it."] * 8)
    assert len({first, *others}) == 9
    judge = referee("spiro", "new -small", 'position {"cells": {"c4": "X", "b2": "O"}, "turn": "X", "dice": [6, 6]}')
    _, number, *moves = judge.answer("moves").split()
    assert set(asked(Parrot(), judge.state(""), *["? No."] * int(number))[0]) == set(moves)
    blocked = 'position {"cells": {"c1": "X", "b4": "OO"}, "turn": "X", "dice": [6, 6]}'  # six steps apart
    judge = referee("spiro", "new -small", blocked)
    assert judge.answer("moves") == "= 1 --"
    assert asked(Parrot(), judge.state(""), "? No.")[0] == ["--", "--"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "A robot is asked by a line with a position"),
        ("[" * 100_000, "A robot is asked by a line with a position"),
        ("hello", "A robot is asked by a line with a position"),
        ("{}", 'A position names its "game".'),
        ('{"game": ["symple"], "cells": {}}', 'A position names its "game".'),
        ('{"game": "chess", "cells": {}}', "There is no game 'chess'"),
        ('{"game": "symple"}', 'A position has "cells"'),
        ('{"game": "symple", "cells": {"z99": "W"}}', "There is no cell 'z99'"),
        ('{"game": "symple", "cells": {}, "options": [5]}', 'The "options" of a position are an object'),
        ('{"game": "symple", "cells": {}, "options": {"size": "huge"}}', "-size=n takes"),
        ('{"game": "symple", "cells": {}, "options": {"nix": 3}}', "There is no option"),
        ('{"game": "spiro", "cells": {"g4": "X", "g3": "O"}}', 'The position has no "dice"'),
        ('{"game": "spiro", "cells": {"g4": "X"}, "dice": [1, 2]}', "The game is over."),
        ("? why", "Nothing has been asked yet"),
    ],
)
def test_a_line_that_asks_for_no_move_is_told_in_a_sentence(text, said):
    answers, notes = asked(Parrot(), text, "", line("symple", "new -size=5"))
    assert len(answers) == 1
    assert notes[0].startswith(said)
    assert notes[0].endswith(".")
    assert len(notes) == 2


def test_the_history_counts_where_it_leads_to_the_position():
    view = json.loads(line("papagra", "new -size=3", "seed 1", *["random"] * 5))
    _, states = read_position(json.dumps(view))
    assert len(states) == 6
    for change in (
        {"history": ["a1"]},
        {"history": [3]},
        {"history": None},
        {"cells": {"a1": "B"}},
        {"history": ["--"]},
    ):
        _, [state] = read_position(json.dumps(view | change))
        assert state.view()["cells"] == (view | change)["cells"]


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_what_the_referee_says_of_a_game_is_read_as_it_is_with_any_options(game):
    options = games.load(game).OPTIONS
    extremes = [[""] if one.values is None else [f"={one.values[0]}", f"={one.values[-1]}"] for one in options]
    words = [f"-{one.name}{value}" for one, values in zip(options, extremes, strict=True) for value in values]
    for word in ["", *words]:
        judge = referee(game, f"new {word}", "random")
        played, states = read_position(judge.state(""))
        assert played == (game, judge.options)
        assert len(states) == len(judge.view["history"]) + 1 > 1


def test_a_hopeless_robot_resigns_at_its_third_turn_without_hope_unless_dice_can_turn_the_game():
    judge, lines = referee("symple", "new -size=5"), []
    for _ in range(5):
        lines.append(judge.state(""))
        judge.answer("random"), judge.answer("random")
    answers, _ = asked(Parrot(0.01, 0.2, 0.01, 0.02, 0.03), *lines, hopeless=0.05)
    assert [one == GIVE_UP for one in answers] == [False] * 4 + [True]
    assert GIVE_UP not in asked(Parrot(*[0.0] * 5), *lines)[0]
    assert GIVE_UP not in asked(Parrot(*[0.0] * 5), *[lines[0]] * 2, lines[3], *lines[:2], hopeless=0.05)[0]
    lines = [line("spiro", "new -small", *["dice 4", "random", "dice 2 1", "random"][: 2 * n]) for n in range(3)]
    assert GIVE_UP not in asked(Parrot(*[0.0] * 9), *lines * 3, hopeless=0.5)[0]
