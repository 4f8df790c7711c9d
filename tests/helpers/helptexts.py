"""The help texts of our games, and the operator's commands: ``read("spora")`` is what `help spora` prints."""

from collections.abc import Iterator
from pathlib import Path

import click

import games
from pbm import console

FOLDER = Path(__file__).parents[2] / "help"
GAMES = tuple(name for name in games.names() if games.package(name) is None)
"""Our own games, whatever other packages bring."""


def read(game):
    """The help text of a game."""
    return (FOLDER / f"{game}.txt").read_text()


def operators(*words: str) -> Iterator[click.Context]:
    """The contexts of the operator's commands that are shown to people and begin with these words."""
    found = console.contexts(words)
    if len(found) == len(words):
        yield from found[-1:]
        for word in getattr(found[-1].command, "commands", ()) if found else console.MODULES:
            yield from operators(*words, word)
