"""A robot as a program."""

import sys
from io import TextIOWrapper
from random import Random
from typing import Any

import click

from games import Options
from pbm.console.usage import WHOLE_NUMBER, Commands, Seconds
from pbm.levels import LEVEL_NUMBERS, USUAL_LEVEL

commands = Commands("pbm")


class Percent(click.ParamType[float]):
    """A part of a hundred, or none."""

    name = "number from 0 to 100, or never"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The part of one; 0 for never."""
        if str(value).lower() == "never":
            return 0
        try:
            percent = float(str(value).removesuffix("%"))
        except ValueError:
            percent = -1
        if not 0 <= percent <= 100:
            self.fail(f"{value!r} is no {self.name}.", param, ctx)
        return percent / 100


@commands.command(answers=False)
@click.option(
    "--level", type=click.Choice([*map(str, LEVEL_NUMBERS)]), help=f"How well it plays; {USUAL_LEVEL} unless told."
)
@click.option("--seconds", type=Seconds(), metavar="SECONDS", help="How long it thinks about a move.")
@click.option("--playouts", type=WHOLE_NUMBER, metavar="NUMBER", help="How many games it plays out for a move.")
@click.option("--seed", metavar="SEED", help="Make what it does by chance repeat.")
@click.option("--resign", type=Percent(), default="never", metavar="PERCENT", help="Resign below that chance to win.")
def robot(level: str | None, seconds: float | None, playouts: int | None, seed: str | None, resign: float) -> int:
    """Play any game, as `pbm play --with` and `pbm duel` ask a program for moves.

    Each line on standard input that begins with { is a position in JSON, as the request `state` of the referee prints
    it, and is answered by one line on standard output, a move. A line that begins with ? says that the move was
    refused, and is answered by another one. The line `quit` ends the robot. What it thinks of the position stands on
    standard error, in a line: its chance to win, how many games it has played out, and how it would go on.

    One of --level, --seconds and --playouts says how long it thinks about a move. With a seed and a level or a number
    of playouts it answers the same lines with the same moves. It resigns if its chance to win is less than --resign in
    three turns of its own in a row, and never in a game with dice.
    """
    from pbm.robots.dialogue import Dialogue, converse
    from pbm.robots.player import Player

    if sum(one is not None for one in (level, seconds, playouts)) > 1:
        raise click.UsageError("Only one of --level, --seconds and --playouts can be given.")
    rng = Random(seed)

    def make(game: str, options: Options) -> Player:
        return Player(game, options, level=int(level) if level else None, seconds=seconds, playouts=playouts, rng=rng)

    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    converse(Dialogue(make, sys.stderr, hopeless=resign), sys.stdin, sys.stdout)
    return 0
