"""The rules of one game over standard input and output, a request a line: no users, no boards, no mail.

For robots and tests; `pbm help referee` lists the requests.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from random import Random, SystemRandom
from typing import Any, NamedTuple, TextIO

import games
from games import SKIP, Game, Illegal, Options, State

MOST_LISTED = 100
"""How many moves the request `moves` lists if it gives no limit."""
COUNTED = 20_000
"""How many moves are then counted; of more, the number is given as ``+``."""


class Step(NamedTuple):
    """A position of the game, how many moves led to it, and the position before the last move that was asked for."""

    state: State
    moves: int
    before: State | None
    played: tuple[str, ...] | None = ()
    """The moves since the previous step; None if the position was set up without a history."""


class Referee:
    """One game in progress. Each request is a method, which raises Illegal if it refuses."""

    def __init__(self, name: str) -> None:
        """Begin a game with the usual options. Raises LookupError if there is no such game."""
        self.name = name
        self.game: Game[Any] = games.load(name)
        self.rng: Random = SystemRandom()
        self.history: list[Step] = []
        self.options: Options = {}
        self.new("")

    def answer(self, line: str) -> str:
        """The reply to one request, which starts with ``=`` or, if it was refused, with ``?``."""
        word, _, rest = line.strip().partition(" ")
        request = getattr(self, word.lower(), None) if word.lower() in REQUESTS else None
        if request is None:
            return f"? There is no request {word!r}; the requests are {', '.join(REQUESTS)}."
        try:
            return f"= {request(rest.strip())}"
        except Illegal as why:
            return f"? {why}"

    def new(self, rest: str) -> str:
        """Begin a new game, with the options in *rest*."""
        options = games.read_options(self.game, rest.split())
        state = self.game.new(**options)
        self.options = options
        self.history = [self._settled(Step(state, 0, None))]
        return "ok"

    def dice(self, rest: str) -> str:
        """Set the dice of the player to move."""
        step = self.history[-1]
        if not games.needs_dice(step.state):
            raise Illegal("No dice are thrown now.")
        dice = tuple(_number(word) for word in rest.split())
        self.history[-1] = step._replace(state=step.state.roll(dice))
        return " ".join(map(str, dice))

    def seed(self, rest: str) -> str:
        """Make the dice and the random moves from here on repeatable."""
        number = _number(rest)
        self.rng = Random(number)
        return str(number)

    def position(self, rest: str) -> str:
        """Set up a position."""
        try:
            view = json.loads(rest)
        except (ValueError, RecursionError):
            raise Illegal("A position is one JSON object, as `state` prints it.") from None
        if not isinstance(view, dict) or not isinstance(view.get("cells"), dict):
            raise Illegal('A position is a JSON object with at least "cells" and "turn".')
        moves = view.setdefault("moves", 2)
        if type(moves) is not int or not 0 <= moves < 10**9:
            raise Illegal('"moves" is how many moves were played, 0 or more.')
        states = followed(self.game, self.options, view)
        if states:
            step = Step(states[-1], moves, None, tuple(view["history"]))
        else:
            step = Step(self.game.setup(view, **self.options), moves, None, None)
        self.history = [self._settled(step)]
        return "ok"

    def play(self, rest: str) -> str:
        """Play a move."""
        move = self.history[-1].state.parse(rest)
        self._play(move)
        return move

    def random(self, _: str) -> str:
        """Play a legal move chosen at random."""
        state = self.history[-1].state
        if state.result():
            raise Illegal("The game is over.")
        move = state.random(self.rng)
        self._play(move)
        return move

    def moves(self, rest: str) -> str:
        """List the legal moves, and count them; where a limit is given, no more of them are looked for."""
        limit = MOST_LISTED
        most = COUNTED
        if rest:
            limit = most = _number(rest)
        listed = list(islice(self.history[-1].state.moves(), most + 1))
        count = "+" if len(listed) > most else str(len(listed))
        return " ".join([count] + listed[:limit])

    def undo(self, _: str) -> str:
        """Take back the last move that was asked for, and the skips behind it."""
        if len(self.history) == 1:
            raise Illegal("There is no move to take back.")
        self.history.pop()
        return "ok"

    def state(self, _: str) -> str:
        """The position as JSON."""
        return json.dumps(self.view, sort_keys=True)

    def board(self, _: str) -> str:
        """The number of lines of the board, and below it the board as players see it."""
        drawn = self.game.draw(self.history[-1].state, self.history[-1].before)
        return f"{len(drawn.splitlines())}\n{drawn}"

    @property
    def view(self) -> dict[str, Any]:
        """What `state` prints."""
        step = self.history[-1]
        seen = {"game": self.name, "options": dict(self.options), "moves": step.moves, **step.state.view()}
        if self.history[0].played is not None:
            seen["history"] = [move for step in self.history for move in step.played or ()]
        return seen

    def _play(self, move: str) -> None:
        step = self.history[-1]
        self.history.append(self._settled(Step(step.state.play(move), step.moves + 1, step.state, (move,))))

    def _settled(self, step: Step) -> Step:
        """The step at which somebody has to move: with the dice thrown, or with forced skips played."""
        state, moves, before, played = step
        if games.needs_dice(state):
            state = games.thrown(state, self.rng)
        else:
            while state.must_skip:
                state = state.play(SKIP)
                moves += 1
                if played is not None:
                    played += (SKIP,)
        return Step(state, moves, before, played)


REQUESTS = ("new", "dice", "seed", "position", "play", "moves", "random", "undo", "state", "board", "quit")


def followed(game: Game[Any], options: Options, view: Mapping[str, Any]) -> list[State] | None:
    """The positions of the game with the moves in the view's ``history``, the one at the start first.

    None if the view has no history, or if it does not lead to the view. Of all dice only the last ones are known.
    """
    history = view.get("history")
    if not isinstance(history, list) or not all(isinstance(move, str) for move in history):
        return None
    states = [game.new(**options)]
    try:
        for move in history:
            state = states[-1]
            if games.needs_dice(state) or (move == SKIP and state.must_skip):
                states.append(state.play(move))
            else:
                states.append(state.play(state.parse(move)))
        if games.needs_dice(states[-1]) and view.get("dice"):
            states[-1] = states[-1].roll(tuple(view["dice"]))
    except (ArithmeticError, LookupError, TypeError, ValueError):  # a move without its dice cannot be checked first
        return None
    reached = json.loads(json.dumps(states[-1].view()))
    for key, value in reached.items():
        if view.get(key, value) != value:
            return None
    return states


def _number(word: str) -> int:
    if not word.isdecimal() or len(word) > 18:
        raise Illegal(f"{word!r} is not a number.")
    return int(word)


def replies(name: str, lines: Iterable[str]) -> Iterator[str]:
    """The reply to each request, until ``quit`` or the end of the lines. Raises LookupError at an unknown game."""
    referee = Referee(name)
    for line in lines:
        if line.lower().split()[:1] == ["quit"]:
            yield "= bye"
            return
        if line.strip() and not line.lstrip().startswith("#"):
            yield referee.answer(line)


def run(name: str, requests: TextIO, out: TextIO) -> None:
    """Answer requests from one stream on another, each at once."""
    for reply in replies(name, requests):
        out.write(reply + "\n")
        out.flush()
