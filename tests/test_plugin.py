"""A game from another package: one module, one help file, one entry point."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
"""Take: players take one or two sticks from a heap of five; who takes the last one wins."""

from games import SKIP, Illegal, Option, Result
from typing import NamedTuple

SIDES = ("first", "second")
OPTIONS = (Option("sticks", "how many sticks there are", range(1, 22), 5),)


class State(NamedTuple):
    sticks: int
    turn: int = 0

    @property
    def seats(self):
        return 0, 1

    @property
    def dice_needed(self):
        return 0

    @property
    def must_skip(self):
        return False

    def parse(self, text):
        if text not in self.moves():
            raise Illegal(f"Take 1 or 2 of the {self.sticks} sticks, not {text!r}.")
        return text

    def moves(self):
        return iter([str(n) for n in (1, 2) if n <= self.sticks])

    def random(self, rng):
        return rng.choice(list(self.moves()))

    def play(self, move):
        return self._replace(sticks=self.sticks - int(move), turn=1 - self.turn)

    def result(self):
        return None if self.sticks else Result(1 - self.turn)

    def view(self):
        result = self.result()
        return {
            "cells": {"heap": self.sticks}, "turn": SIDES[self.turn], "over": result is not None,
            "winner": SIDES[result.winner] if result else None, "scores": {},
        }


def new(*, sticks=5):
    return State(sticks)


def setup(view, **options):
    return State(view["cells"]["heap"])


def draw(state, before=None):
    return "|" * state.sticks
'''


@pytest.fixture
def elsewhere(shell, tmp_path):
    """A shell that finds the package, as if it were installed."""
    site = tmp_path / "site"
    info = site / "take-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "take_game.py").write_text(MODULE)
    (site / "take.txt").write_text("Take one stick or two.\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: take\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pbm.games]\ntake = take_game\nBad-Name = take_game\n")
    shell.environment["PYTHONPATH"] = os.pathsep.join([str(site), *sys.path])
    return shell


def test_a_game_from_another_package_is_listed_explained_and_played(elsewhere):
    for name in ("alice", "bob"):
        elsewhere.run("signup", name, f"{name}-secret")
    assert re.search(r"^take +0$", elsewhere.run("list").stdout, re.MULTILINE)
    assert "Bad-Name" not in elsewhere.run("help").stdout  # it could not be called
    assert elsewhere.run("take", "help").stdout == "Take one stick or two.\n"
    assert "\n\n|||\n" in elsewhere.run("take", "challenge", "-sticks=3", "alice", "bob").stdout
    refused = elsewhere.run("take", "move", "101", "alice", "alice-secret", "3")
    assert refused.returncode == 1
    assert "Take 1 or 2 of the 3 sticks, not '3'." in refused.stderr
    elsewhere.run("take", "move", "101", "alice", "alice-secret", "2")
    assert "Won by bob." in elsewhere.run("take", "move", "101", "bob", "bob-secret", "1").stdout


def test_a_game_from_another_package_has_a_referee(elsewhere):
    done = elsewhere.run("referee", "take", stdin="new -sticks=2\nmoves\nplay 2\nstate\n")
    assert done.stdout.splitlines()[:3] == ["= ok", "= 2 1 2", "= 2"]
    assert '"winner": "first"' in done.stdout


def test_looking_a_game_up_imports_only_that_game(elsewhere):
    code = "import sys, games; games.load('take'); print([m for m in sys.modules if m.startswith('games.')])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=elsewhere.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_readme_names_every_part_that_a_game_needs():
    text = (Path(__file__).parent.parent / "README.md").read_text()
    for part in ("games/", "help/", "tests/", "pbm.games", "Game", "State"):
        assert part in text
