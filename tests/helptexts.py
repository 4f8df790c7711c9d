"""The help texts of our games."""

from pathlib import Path

import games

FOLDER = Path(__file__).parents[1] / "help"
GAMES = tuple(name for name in games.names() if games.package(name) is None)
"""Our own games, whatever other packages bring."""


def read(game):
    """The help text of a game."""
    return (FOLDER / f"{game}.txt").read_text()
