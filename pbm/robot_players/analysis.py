"""What a robot thinks of every turn of a game that is over, and the command that asks for it."""

import json
import sys
from collections.abc import Sequence
from itertools import islice, pairwise
from random import Random
from statistics import mean
from typing import Any, NamedTuple

import click

import games
from games import SKIP, State
from pbm import letters, texts
from pbm.actions.finding import find_board
from pbm.board.board import FORFEIT, RESIGN, Board
from pbm.console import answer, open_existing
from pbm.console.usage import Commands, Seconds
from pbm.refusals import Refused
from pbm.robots import Player
from pbm.robots.general import thrown
from pbm.session import Session
from pbm.texts import WIDTH

MARKS = {0.2: "??", 0.1: "?"}
"""What stands behind a turn that loses so much of the chance to win, the worst first."""
THROWS = 4
"""With so many throws of the dice it is looked what a turn leads to, so that luck is not counted."""
EIGHTHS = " ▁▂▃▄▅▆▇█"
LONGEST_TURN = 16
"""How many characters of a turn the table shows."""
WIDEST_TURN = 3
"""How many columns a turn takes at most in the curve."""
HEIGHT_OF_CURVE = 4
"""How many lines the curve takes."""

commands = Commands("pbm")


class Judged(NamedTuple):
    """A turn, and what it did to the chance of its player to win."""

    number: int
    player: str
    turn: str
    before: float
    """Their chance before it, which is that after the best turn that was found."""
    after: float
    best: str
    mark: str
    """What stands behind it, of MARKS."""


@commands.command()
@click.argument("game")
@click.argument("board")
@click.option(
    "--seconds", type=Seconds(), default=1.0, show_default=True, metavar="S", help="How long it thinks about a turn."
)
def analyse(game: str, board: str, seconds: float) -> None:
    """Let a robot think about each position of a game that is over: how likely its player was to win, before and after.

    ?? stands behind a turn that has lost 20 % or more of their chance beside the best turn that was found, and ? behind
    one that has lost 10 %. Where dice are thrown, what a turn leads to is looked at with several throws. Turns
    without another legal one are left out. Nobody gets such hints while a game goes on. What was found last is kept
    with the board.
    """
    if not games.exists(game.lower()):
        raise Refused(games.unknown(game))
    session = Session(open_existing())
    with session.store.reading():
        found = find_board(session, game.lower(), board)
    numbers, critic = choices(found), Critic(found, seconds)
    with click.progressbar(numbers, label="Turns", file=sys.stderr, hidden=not sys.stderr.isatty()) as shown:
        judged = [critic.judge(number) for number in shown]
    data = as_data(found, judged, seconds)
    with session.store.writing():
        session.store.robots.save_analysis(found.row.game, found.row.board, json.dumps(data), session.now())
    answer(as_text(found, judged), data)


def choices(board: Board) -> list[int]:
    """The turns that can be judged: how many were played before each. Raises Refused if there are none."""
    name = f"{texts.title(board.row.game)} board {board.row.board}"
    if not board.is_over:
        raise Refused(f"The game on {name} goes on; it can be analysed when it is over.")
    numbers = [
        number
        for number, (state, turn) in enumerate(zip(board.states, board.turns, strict=False))
        if turn.text not in {RESIGN, FORFEIT} and len([*islice(state.moves(), 2)]) > 1
    ]
    if not numbers:
        raise Refused(f"There was no choice between turns on {name}.")
    return numbers


class Critic:
    """Thinks about the turns of a board: finds the best one, and looks in the same way at what both lead to."""

    def __init__(self, board: Board, seconds: float) -> None:
        """Take so many seconds for a turn."""
        self.board = board
        self.throws = THROWS if games.needs_dice(board.states[0]) else 1
        self.finder = self._player(seconds / 3)
        self.judge_of_one = self._player(seconds / 3 / self.throws)

    def _player(self, seconds: float) -> Player:
        return Player(self.board.row.game, self.board.options, seconds=seconds, rng=Random(self.board.name))

    def judge(self, number: int) -> Judged:
        """What a turn did, of which so many were played before."""
        board = self.board
        turn = board.turns[number]
        states = board.states[: number + 1]
        best = self.finder.think(states).move
        after = self._chance(states, turn.text, turn.userid)
        before = after if best == turn.text else self._chance(states, best, turn.userid)
        if before <= after:
            before, best = after, turn.text
        before, after = round(before, 3), round(after, 3)
        mark = next((mark for least, mark in MARKS.items() if before - after >= least), "")
        return Judged(number + 1, turn.userid, turn.text, before, after, best, mark)

    def _chance(self, states: Sequence[State], text: str, userid: str) -> float:
        """The chance of a player after a turn of theirs, as a mean over throws, which are the same for all turns."""
        rng = Random(f"{self.board.name} {len(states)}")
        chances = [self._valued([*states, states[-1].play(text)], userid, rng) for _ in range(self.throws)]
        return sum(chances) / len(chances)

    def _valued(self, line: list[State], userid: str, rng: Random) -> float:
        """The chance of a player in the last of some positions, whose dice are thrown here."""
        while (result := line[-1].result()) is None:
            line[-1] = state = thrown(line[-1], rng)
            if not state.must_skip:
                chance = self.judge_of_one.think(line).chance
                return chance if self.board.player(state, state.turn) == userid else 1 - chance
            line.append(state.play(SKIP))
        if result.winner is None:
            return 0.5
        return float(self.board.player(line[-1], result.winner) == userid)


def curve(board: Board, judged: Sequence[Judged]) -> list[float]:
    """The chance of the first player to win, before each turn and at the end."""
    first = board.players[0]
    chances = [one.before if one.player == first else 1 - one.before for one in judged]
    end = 0.5 if board.winner is None else float(board.winner == first)
    return [round(chance, 3) for chance in [*chances, end]]


def drawn_curve(chances: Sequence[float]) -> list[str]:
    """A curve as lines of blocks, the highest line first; where there are more values than columns, their means."""
    widest = WIDTH - len("100% ")
    columns = min(len(chances) * max(1, min(WIDEST_TURN, widest // len(chances))), widest)
    bounds = [column * len(chances) // columns for column in range(columns + 1)]
    means = [mean(chances[low : max(high, low + 1)]) for low, high in pairwise(bounds)]
    steps = len(EIGHTHS) - 1
    heights = [round(chance * HEIGHT_OF_CURVE * steps) for chance in means]
    return [
        "".join(EIGHTHS[max(0, min(steps, height - row * steps))] for height in heights)
        for row in reversed(range(HEIGHT_OF_CURVE))
    ]


def as_data(board: Board, judged: Sequence[Judged], seconds: float) -> dict[str, Any]:
    """The analysis for programs, and as it is stored."""
    return {
        "game": board.row.game,
        "board": board.row.board,
        "players": list(board.players),
        "seconds": seconds,
        "turns": [one._asdict() for one in judged],
        "curve": curve(board, judged),
    }


def as_text(board: Board, judged: Sequence[Judged]) -> str:
    """The analysis for people."""
    title = f"{texts.title(board.row.game)} board {board.row.board}, {' against '.join(letters.sides(board.present))}"
    lines = [("Move", "Player", "Before", "After", "", "Turn", "Better")]
    for one in judged:
        chances = f"{one.before:4.0%}", f"{one.after:4.0%}"
        better = one.best if one.mark else ""
        lines.append((str(one.number), one.player, *chances, one.mark, _short(one.turn), _short(better)))
    graph = [f"How likely {board.players[0]} was to win:", ""]
    rows = drawn_curve(curve(board, judged))
    graph += [f"{label:>4} {row}".rstrip() for row, label in zip(rows, ["100%", "", "", "  0%"], strict=True)]
    return "\n\n".join([title, texts.table(lines), "\n".join(graph), letters.status_of(board.present)])


def _short(text: str) -> str:
    """A turn as far as it fits into the table."""
    return text if len(text) <= LONGEST_TURN else f"{text[: LONGEST_TURN - 3]}..."
