"""A game of another package, and the game of docs/adding-a-game.md.

    find_package(shell)
    assert "take" in shell.process("help").stdout

`MODULE` is that game, Take, and ``FILES["games/hex.py"]`` is a file of the page.
"""

import os
import re
import sys
from pathlib import Path

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


def find_package(shell, module=MODULE, name="take"):
    """Let a shell find the package with that module, as if it were installed."""
    site = shell.folder / "site"
    info = site / "take-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "take_game.py").write_text(module)
    (site / "take.txt").write_text("Take one stick or two.\n")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pbm.games]\ntake = take_game\nBad-Name = take_game\n")
    shell.environment["PYTHONPATH"] = os.pathsep.join([str(site), *sys.path])


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text()
FILES = dict(re.findall(r"^`([\w./]+)`[^\n]*:\n\n```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
