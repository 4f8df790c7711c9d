"""A robot as a program: it reads positions, a line each, and writes moves, as `pbm play` asks for them."""

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any, TextIO

import click

import games
from games import SKIP, Game, Illegal, Options, State
from pbm.console.usage import SECONDS, WHOLE_NUMBER, Commands
from pbm.levels import LEVEL_NUMBERS, USUAL_LEVEL
from pbm.referee import followed
from pbm.robot_players.program import GIVE_UP, HOPELESS_TURNS
from pbm.robots import Player
from pbm.terminal import replace_errors
from pbm.texts import counted

MOST_SHOWN = 6
"""How many turns of the game that it expects a robot tells at most."""

commands = Commands("pbm")


def _percent(text: str) -> float:
    """A part of a hundred, as a part of one; 0 for never."""
    with suppress(ValueError):
        percent = 0.0 if text.lower() == "never" else float(text.removesuffix("%"))
        if 0 <= percent <= 100:
            return percent / 100
    raise click.BadParameter("it is a number from 0 to 100, or never.")


@commands.command(answers=False)
@click.option(
    "--level", type=click.Choice(list(map(str, LEVEL_NUMBERS))), help=f"How well it plays; {USUAL_LEVEL} by default."
)
@click.option("--seconds", type=SECONDS, metavar="SECONDS", help="How long it thinks about a move.")
@click.option("--playouts", type=WHOLE_NUMBER, metavar="NUMBER", help="How many games it plays out for a move.")
@click.option("--seed", metavar="SEED", help="Make what it does by chance repeat.")
@click.option(
    "--resign",
    type=_percent,
    default="never",
    metavar="PERCENT",
    help="Resign below that chance to win.",
)
def robot(level: str | None, seconds: float | None, playouts: int | None, seed: str | None, resign: float) -> int:
    """Play any game, as `pbm play --with` and `pbm duel` ask a program for moves.

    A line on standard input that begins with { is a position in JSON, as the request `state` of the referee prints it.
    The robot answers with one line on standard output, a move. A line that begins with ? says that the move was
    refused; the robot answers with another move. The line `quit` ends the robot. For each position, it writes a line to
    standard error. This has its chance to win, how many games it has played out, and how it expects the game to go on.

    One of --level, --seconds and --playouts says how long it thinks about a move. With a seed, and a level or a number
    of playouts, it answers the same lines with the same moves. It resigns if its chance to win is less than --resign in
    three turns in a row, but never in a game with dice.
    """
    if (level, seconds, playouts).count(None) < 2:
        raise click.UsageError("Only one of --level, --seconds and --playouts can be given.")
    level_number = int(level) if level else None
    rng = Random(seed)

    def make(game: str, options: Options) -> Player:
        return Player(game, options, level=level_number, seconds=seconds, playouts=playouts, rng=rng)

    replace_errors(sys.stdin, sys.stdout, sys.stderr)
    converse(Dialogue(make, sys.stderr, hopeless=resign), sys.stdin, sys.stdout)
    return 0


@dataclass
class Dialogue:
    """A robot that is asked for moves, in one game after the other."""

    make: Callable[[str, Options], Player]
    """Makes the player for a game with its options."""
    notes: TextIO
    """Where it is written what the player thinks."""
    hopeless: float = 0
    """In games without dice, the player has no hope if its chance to win is below this."""
    game: tuple[str, Options] | None = None
    """The name of the game that is played, and its options."""
    states: list[State] = field(default_factory=list)
    """The known positions of that game; the robot was last asked about the last one."""
    answered: set[str] = field(default_factory=set)
    """The moves that were answered to that question."""
    without_hope: int = 0
    """The number of positions in a row in which the player had no hope."""

    def answer(self, line: str) -> str:
        """The move that answers a line; empty if there is none, and the notes then say why."""
        try:
            if line.startswith("?"):
                return self._another()
            return self._move(line)
        except Illegal as why:
            self.notes.write(f"{why}\n")
            return ""

    def _move(self, line: str) -> str:
        """The move that the player chooses in the position of a line. Raises Illegal."""
        game, states = read_position(line)
        if game != self.game:
            self.game = game
            self.player = self.make(*game)
            self.states = []
        before = self.states
        self.states = states
        if states[-1].must_skip:
            return SKIP
        thought = self.player.think(states)
        line = " ".join(thought.line[:MOST_SHOWN])
        self.notes.write(f"win {thought.chance:.0%}, {counted(thought.playouts, 'playout')}, {line}\n")
        goes_on = 0 < len(before) < len(states) and states[: len(before)] == before
        is_hopeless = thought.chance < self.hopeless and not games.needs_dice(states[-1])
        if not (goes_on and is_hopeless):
            self.without_hope = 0
        if is_hopeless:
            self.without_hope += 1
        self.answered = {thought.move}
        if self.without_hope >= HOPELESS_TURNS:
            return GIVE_UP
        return thought.move

    def _another(self) -> str:
        """A move that was not answered yet, or one again if there is no other. Raises Illegal."""
        if not self.states:
            raise Illegal("Nothing has been asked yet, so nothing can have been refused.")
        state = self.states[-1]
        if state.must_skip:
            return SKIP
        # one more than were answered: all moves of a large board are too many to list
        listed = islice(state.moves(), len(self.answered) + 1)
        move = next((move for move in listed if move not in self.answered), min(self.answered))
        self.answered.add(move)
        return move


def converse(dialogue: Dialogue, lines: Iterable[str], out: TextIO) -> None:
    """Answer each line on *out*, at once, until `quit` or the end of the lines."""
    for line in lines:
        text = line.strip()
        if text.lower() == "quit":
            return
        answer = dialogue.answer(text) if text else ""
        dialogue.notes.flush()
        if answer:
            out.write(f"{answer}\n")
            out.flush()


def read_position(line: str) -> tuple[tuple[str, Options], list[State]]:
    """The game that a line is about, its options, and its positions: {"game": "symple", "cells": {}, "history": []}.

    Where there is no history, or a wrong one, the last position is set up, and the others are not known. Raises Illegal
    if it is no position of a game that goes on.
    """
    try:
        view = json.loads(line)
    except (ValueError, RecursionError):
        view = None
    if not isinstance(view, dict):
        raise Illegal("A robot is asked by a line with a position, which is one JSON object; `quit` ends it.")
    name = view.get("game")
    if not isinstance(name, str):
        raise Illegal('A position names its "game".')
    if not games.exists(name):
        raise Illegal(games.unknown(name))
    game = games.load(name)
    options = _read_options(game, view.get("options", {}))
    states = followed(game, options, view) or [game.setup({"moves": 2, **view}, **options)]
    if states[-1].result():
        raise Illegal("The game is over.")
    if games.needs_dice(states[-1]) and not states[-1].dice:
        raise Illegal('The position has no "dice", and without them there is nothing to think about.')
    return (name, options), states


def _read_options(game: Game[Any], given: object) -> Options:
    """The options in a view. Raises Illegal if a challenge would not take them."""
    if not isinstance(given, dict):
        raise Illegal('The "options" of a position are an object: {"size": 9}.')
    typed = []
    for name, value in given.items():
        if value is True:
            typed.append(f"-{name}")
        elif value is not None and value is not False:
            typed.append(f"-{name}={value}")
    return games.read_options(game, typed)
