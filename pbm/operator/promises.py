"""The command for authors of games, which tells whether a game keeps what every game promises."""

from collections.abc import Iterator
from functools import partial
from random import Random

import click

import games
from games.promises import broken
from pbm import referee
from pbm.console import answer
from pbm.console.usage import Commands
from pbm.language.help import of_game
from pbm.refusals import Refused

commands = Commands("pbm")


@commands.command()
@click.argument("game")
def promises(game: str) -> int:
    """Find out whether a game keeps what every game promises to the server.

    It plays the game at random, and looks at its help, its pictures, its refusals and its positions. The exit status
    is 1 if a promise is broken; then there is a sentence for each. The same game is played each time.
    """
    name = game.lower()
    if not games.exists(name):
        raise Refused(games.unknown(game))
    found = list(broken_promises(name))
    text = "\n".join(found) or f"{name} keeps all its promises."
    answer(text, {"game": name, "ok": not found, "broken": found})
    return 1 if found else 0


def broken_promises(name: str) -> Iterator[str]:
    """The promises that a game breaks, a sentence for each."""
    try:
        game = games.load(name)
    except Exception as why:
        return iter([f"The module cannot be loaded: {type(why).__name__} ({why})."])
    return broken(game, Random(name), of_game(name), partial(referee.replies, name))
