"""A robot as a program: positions come in, a line each, and moves go out, as `pbm play` asks for them."""

import gc
import json
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, TextIO

import games
from games import SKIP, Game, Illegal, Options, State
from pbm.referee import followed
from pbm.robots.player import Player
from pbm.robots.thinking import Thought
from pbm.texts import counted

GIVE_UP = "resign"
"""What a robot answers in the place of a move when it gives up."""
PATIENCE = 3
"""In how many positions in a row a robot has to be without hope before it gives up."""
MOST_SHOWN = 6
"""How many turns of the line that it expects a robot tells."""


class Question(NamedTuple):
    """A position that somebody wants a move for."""

    name: str
    """The game."""
    options: Options
    history: list[str] | None
    """The moves since the start; None if they are not known."""
    states: Sequence[State]
    """The positions so far, as far as they are known; the last one is the one that a move is wanted for."""

    def leads_to(self, name: str, options: Options, history: object) -> bool:
        """Whether these moves go on from this position."""
        is_same_game = (self.name, self.options) == (name, options)
        return (
            is_same_game
            and self.history is not None
            and isinstance(history, list)
            and history[: len(self.history)] == self.history
        )


class Dialogue:
    """A robot that is asked for moves, in one game after the other."""

    def __init__(self, make: Callable[[str, Options], Player], notes: TextIO, *, hopeless: float = 0) -> None:
        """Play as the players do that *make* makes, and write what they think on *notes*.

        In games without dice they resign when they expect to win with a probability below *hopeless*.
        """
        self.make, self.notes, self.hopeless = make, notes, hopeless
        self.player: Player | None = None
        self.question: Question | None = None
        """The last one."""
        self.answered: set[str] = set()
        """What it was answered with."""
        self.without_hope = 0
        """In how many positions in a row there was none."""

    def answer(self, line: str) -> str:
        """The move that is the answer to a line; empty if there is none, which is then said on the notes."""
        begun = time.perf_counter()
        try:
            if line.startswith("?"):
                return self._another()
            return self._move(line, begun)
        except Illegal as why:
            self.notes.write(f"{why}\n")
            return ""

    def _move(self, line: str, begun: float) -> str:
        last = self.question
        now = read_question(line, last)
        if self.player is None or last is None or (last.name, last.options) != (now.name, now.options):
            self.player = self.make(now.name, now.options)
            last = None
        self.question = now
        state = now.states[-1]
        if state.must_skip:
            return SKIP
        thought = self.player.think(now.states, begun)
        self.notes.write(f"{in_a_line(thought)}\n")
        goes_on = last is not None and last.history != now.history and last.leads_to(now.name, now.options, now.history)
        is_hopeless = thought.chance < self.hopeless and not games.needs_dice(state)
        self.without_hope = (self.without_hope if goes_on else 0) + 1 if is_hopeless else 0
        self.answered = {thought.move}
        return GIVE_UP if self.without_hope >= PATIENCE else thought.move

    def _another(self) -> str:
        """A move that was not tried yet, or the last one again if there is no other."""
        if self.player is None or self.question is None:
            raise Illegal("Nothing has been asked yet, so nothing can have been refused.")
        state, tried = self.question.states[-1], self.answered
        if state.must_skip:
            return SKIP
        sampled = (state.random(self.player.rng) for _ in range(20))
        listed = islice(state.moves(), len(tried) + 1)
        move = next((move for moves in (sampled, listed) for move in moves if move not in tried), "")
        self.answered = {*tried, move} if move else tried
        return move or min(tried)


def converse(dialogue: Dialogue, lines: Iterable[str], out: TextIO) -> None:
    """Answer each line on *out*, at once, until `quit` or the end of the lines."""
    gc.disable()  # a tree has no circles, and to look for some in a large one takes as long as many playouts
    for line in lines:
        text = line.strip()
        if text.lower() == "quit":
            return
        answer = dialogue.answer(text) if text else ""
        dialogue.notes.flush()
        if answer:
            out.write(f"{answer}\n")
            out.flush()
            gc.collect(0)


def read_question(line: str, last: Question | None = None) -> Question:
    """What is asked by a line with a position, and perhaps the history that leads there.

    Where there is none, or a wrong one, the position is set up. Positions that the *last* question knew are taken from
    there. Raises Illegal if it is no position of a game that goes on.
    """
    view = _read_view(line)
    name = view.get("game")
    if not isinstance(name, str) or not games.exists(name):
        raise Illegal(games.unknown(name) if isinstance(name, str) else 'A position names its "game".')
    game = games.load(name)
    options = _read_options(game, view.get("options", {}))
    history = view.get("history")
    known = last.states if last and last.leads_to(name, options, history) else ()
    states = followed(game, options, view, known)
    if states is None:
        history, states = None, [game.setup({"moves": 2, **view}, **options)]
    state = states[-1]
    if state.result():
        raise Illegal("The game is over.")
    if games.needs_dice(state) and not state.dice:
        raise Illegal('The position has no "dice", and without them there is nothing to think about.')
    return Question(name, options, history, states)


def _read_view(line: str) -> dict[str, Any]:
    try:
        view = json.loads(line)
    except (ValueError, RecursionError):
        view = None
    if not isinstance(view, dict):
        raise Illegal("A robot is asked by a line with a position, which is one JSON object; `quit` ends it.")
    return view


def _read_options(game: Game[Any], given: object) -> Options:
    """The options in a view, which have to be such as a challenge takes."""
    if not isinstance(given, dict):
        raise Illegal('The "options" of a position are an object: {"size": 9}.')
    values = {name: value for name, value in given.items() if value is not None and value is not False}
    return games.read_options(game, [f"-{name}" if v is True else f"-{name}={v}" for name, v in values.items()])


def in_a_line(thought: Thought) -> str:
    """What a robot thinks, in a line."""
    line = " ".join(thought.line[:MOST_SHOWN])
    return f"win {thought.chance:.0%}, {counted(thought.playouts, 'playout')}, {line}"
