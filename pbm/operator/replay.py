"""The command that leads through a game, turn by turn."""

import os
import re
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import click

import games
from games import Game
from pbm import letters, texts
from pbm.actions.finding import find_board
from pbm.board.board import Board, Point
from pbm.console import answer, open_existing
from pbm.console.usage import Commands
from pbm.refusals import Refused
from pbm.session import Session
from pbm.terminal import escaped

FORWARD = "\x1b[C", "\x1bOC", "\x1b[B", "\x1bOB", " ", "\n"
"""What the keys send that go on: the arrows to the right and down, the space bar, and return."""
BACK = "\x1b[D", "\x1bOD", "\x1b[A", "\x1bOA", "\x7f"
"""Those that go back: the arrows to the left and up, and backspace."""
FIRST = "\x1b[H", "\x1bOH", "\x1b[1~"
LAST = "\x1b[F", "\x1bOF", "\x1b[4~"
KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|.", re.DOTALL)
QUIT = "q", "Q", "\x1b", "\x04"
PLAIN, UNDERLINED = "\x1b[0m", "\x1b[4m"


class Tile(NamedTuple):
    """How a piece is coloured: a letter on a tile."""

    ink: str
    paper: str


PALETTE = {
    "black": Tile(ink="#ffffff", paper="#000000"),
    "white": Tile(ink="#000000", paper="#ffffff"),
    "pink": Tile(ink="#000000", paper="#ff9ec8"),
}
"""The pieces of sides that are called after their colours."""
OTHERS = Tile(ink="#000000", paper="#ffd60a"), Tile(ink="#ffffff", paper="#10206b")
"""The pieces of other sides: yellow, and dark blue."""
KEYS = "arrow keys: a turn back, a turn forward; Home, End; q quits"

commands = Commands("pbm")


@commands.command()
@click.argument("game")
@click.argument("board")
def replay(game: str, board: str) -> None:
    """Lead through a game in the terminal: the arrow keys go from turn to turn, Home and End to its ends, q quits.

    Where there is no terminal, it lists the turns.
    """
    if not games.exists(game.lower()):
        raise Refused(games.unknown(game))
    session = Session(open_existing())
    with session.store.reading():
        found = find_board(session, game.lower(), board)
    is_seen = sys.stdin.isatty() and sys.stdout.isatty() and not click.get_current_context().obj
    if is_seen:
        _lead(found)
    else:
        answer(listed(found), data(found))


def _lead(board: Board) -> None:
    """Show one position after another, as the keys say."""
    at, last = 0, len(board.turns)
    with _keys() as keys:
        click.clear()
        click.echo(shown(board.after(at)))
        for key in keys:
            if key in QUIT:
                return
            before = at
            to = {**dict.fromkeys(FORWARD, at + 1), **dict.fromkeys(BACK, at - 1)}
            to |= {**dict.fromkeys(FIRST, 0), **dict.fromkeys(LAST, last)}
            at = max(0, min(to.get(key, at), last))
            if at != before:
                click.clear()
                click.echo(shown(board.after(at)))


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """What the keys send as they are pressed, one after another, as long as there is somebody."""
    terminal = sys.stdin.fileno()
    usual = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)  # what is typed ahead stays
    try:
        yield (key for sent in iter(lambda: os.read(terminal, 64), b"") for key in KEY.findall(sent.decode("latin-1")))
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, usual)


def shown(point: Point) -> str:
    """A position in colours, with the turn that led to it."""
    board, row = point.board, point.board.row
    title = f"{texts.title(row.game)} board {row.board}, {' against '.join(letters.sides(point))}"
    turn = board.turns[point.moves - 1] if point.moves else None
    dice = f", dice {' '.join(map(str, turn.dice))}" if turn and turn.dice else ""
    last = f"{turn.userid}{dice}: {letters.turn_text(turn)}" if turn else "The beginning."
    coloured = painted(board.rules, letters.picture(point)[0].text)
    end = [letters.status_of(point)] if point.is_present else []
    comment = [one.text for one in letters.comment_part(row.commenter, row.comment) if point.is_present]
    where = f"Move {point.moves} of {len(board.turns)}. "
    above, below = [title, where + texts.broken(last)], [*end, *comment, KEYS]
    return "\n\n".join([*map(escaped, above), coloured, *map(escaped, below)])


def painted(rules: Game[Any], drawn: str) -> str:
    """A drawing of a game with the pieces of each side in its colour; what the last turn has changed is underlined."""
    (first, second), latest = games.glyphs(rules)
    pieces = re.compile(f"(?P<first>{first})|(?P<second>{second})")
    every = re.compile(f"(?P<latest>{latest})|{pieces.pattern}")
    tiles = dict(zip(("first", "second"), tiles_of(rules.SIDES), strict=True))

    def tiled(found: re.Match[str]) -> str:
        return _on(tiles[str(found.lastgroup)], found[0])

    def marked(found: re.Match[str]) -> str:
        if found.lastgroup != "latest":
            return tiled(found)
        return f"{UNDERLINED}{pieces.sub(tiled, found[0]).replace(PLAIN, PLAIN + UNDERLINED)}{PLAIN}"

    return "\n".join(every.sub(marked, line) for line in escaped(drawn).split("\n"))


def tiles_of(sides: tuple[str, str]) -> tuple[Tile, Tile]:
    """What fits the names of the sides: black pieces are dark, and white ones bright."""
    first, second = (PALETTE.get(side.lower(), other) for side, other in zip(sides, OTHERS, strict=True))
    return first, second


def _on(tile: Tile, text: str) -> str:
    return click.style(text, fg=_parts(tile.ink), bg=_parts(tile.paper), bold=True)


def _parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a colour such as ``#ff9ec8``."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def listed(board: Board) -> str:
    """The turns of a game as a table, the board at its end, and the last comment."""
    point, row = board.present, board.row
    title = f"{texts.title(row.game)} board {row.board}, {' against '.join(letters.sides(point))}"
    lines = [("Move", "Player", "Dice", "Turn")]
    for number, turn in enumerate(board.turns, 1):
        lines.append((str(number), turn.userid, " ".join(map(str, turn.dice)), letters.turn_text(turn)))
    comment = [one.text for one in letters.comment_part(row.commenter, row.comment)]
    return "\n\n".join([title, texts.table(lines), letters.picture(point)[0].text, letters.status_of(point), *comment])


def data(board: Board) -> dict[str, object]:
    """The same for programs."""
    turns = [
        {
            "player": turn.userid,
            "text": turn.text,
            "dice": list(turn.dice),
            "automatic": turn.automatic,
            "time": turn.played,
        }
        for turn in board.turns
    ]
    return {"replayed": letters.data(board.present), "turns": turns}
