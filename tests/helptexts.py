"""The help texts of our games, and the examples in them, put to the referee."""

from pathlib import Path

import games
from games import promises
from pbm import referee

FOLDER = Path(__file__).parents[1] / "help"
GAMES = tuple(name for name in games.names() if games.package(name) is None)
"""Our own games, whatever other packages bring."""


def read(game):
    """The help text of a game."""
    return (FOLDER / f"{game}.txt").read_text()


def check(game):
    """Assert that the referee answers as the help of a game shows. Returns how many requests the help has."""
    return promises.check_examples(read(game), lambda requests: referee.replies(game, requests))


def check_form(game):
    """Assert that the help of a game fits a mail, and its quotation."""
    text = read(game)
    assert text.isascii()
    assert [line for line in text.splitlines() if len(line) > 78 or line != line.rstrip()] == []
