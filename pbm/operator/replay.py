"""The commands that show a stored board turn by turn in a terminal, or as a picture in a file."""

import os
import re
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

import games
from games import Game
from pbm import letters, texts
from pbm.actions.finding import find_board, find_point
from pbm.blocks import Comment
from pbm.board.board import Board, Point
from pbm.board.records import turns_as_data
from pbm.console import answer, open_existing
from pbm.console.usage import BOARD_ARGUMENT, GAME_ARGUMENT, Commands
from pbm.drawing import images, svg
from pbm.refusals import Refused, refusing_os_errors
from pbm.session import Session
from pbm.texts import escaped

FORWARD = "\x1b[C", "\x1bOC", "\x1b[B", "\x1bOB", " ", "\n"
"""What the keys for the next turn send: the arrows to the right and down, the space bar, and return."""
BACK = "\x1b[D", "\x1bOD", "\x1b[A", "\x1bOA", "\x7f"
"""What the keys for the turn before send: the arrows to the left and up, and backspace."""
FIRST = "\x1b[H", "\x1bOH", "\x1b[1~"
LAST = "\x1b[F", "\x1bOF", "\x1b[4~"
KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|.", re.DOTALL)
QUIT = "q", "Q", "\x1b", "\x04"
PLAIN = "\x1b[0m"
UNDERLINED = "\x1b[4m"
"""What a terminal is sent to underline what follows, and to end that, and all colours."""

Colour = tuple[int, int, int]
DARK = (0, 0, 0)
LIGHT = (255, 255, 255)
TILES: Mapping[str, tuple[Colour, Colour]] = {
    "black": (LIGHT, DARK),
    "white": (DARK, LIGHT),
    "pink": (DARK, (255, 158, 200)),
    "yellow": (DARK, (255, 214, 10)),
    "navy": (LIGHT, (16, 32, 107)),
}
"""The colours of the letters and of the ground of pieces, by their hues in pictures."""
FILES: Mapping[str, Callable[[Point], bytes]] = {
    ".svg": lambda point: images.board_svg(point).encode(),
    ".png": images.board_png,
}
"""The functions that draw a file, by the ending of its name."""
KEYS = "arrow keys: a turn back, a turn forward; Home, End; q quits"

commands = Commands("pbm")


@commands.command()
@GAME_ARGUMENT
@BOARD_ARGUMENT
def replay(game: str, board: str) -> None:
    """Lead through a game in the terminal: the arrow keys go from turn to turn, Home and End to its ends, q quits.

    Where there is no terminal, it lists the turns.
    """
    session = Session(open_existing())
    with session.store.reading():
        replayed = find_board(session, game, board)
        data = letters.data(replayed.present, session)
    is_interactive = sys.stdin.isatty() and sys.stdout.isatty() and not click.get_current_context().obj
    if is_interactive:
        _show_turns(replayed)
    else:
        answer(listed(replayed), {"replayed": data, "turns": turns_as_data(replayed.turns)})


@commands.command()
@GAME_ARGUMENT
@click.argument("board", metavar="BOARD[#n]")
@click.argument("file", type=click.Path(path_type=Path))
def picture(game: str, board: str, file: Path) -> None:
    """Draw a board as it is, or after n moves, into FILE, which ends in .svg or .png; `#-1` is one move ago.

    SVG is drawn for light and for dark surroundings, and can be shown as large as one likes. PNG needs
    `pip install '.[pictures]'`.
    """
    draw = FILES.get(file.suffix.lower())
    if draw is None:
        raise Refused(f"A picture is drawn into a file whose name ends in .svg or .png, and not into {file.name!r}.")
    session = Session(open_existing())
    with session.store.reading():
        point = find_point(session, game, board)
    drawn = draw(point)
    with refusing_os_errors(f"The file {file} cannot be written"):
        file.write_bytes(drawn)
    row = point.board.row
    data = {**row.place_data, "moves": point.moves, "file": str(file), "bytes": len(drawn)}
    text = f"{file} shows {row.game.capitalize()} board {row.board} after {texts.counted(point.moves, 'move')}."
    answer(text, {**data, "reply": text})


def _show_turns(board: Board) -> None:
    """Show one position after another, as the pressed keys say."""
    number = 0
    last = len(board.turns)
    with _keys() as keys:
        _show(board.after(number))
        for key in keys:
            before = number
            if key in QUIT:
                return
            if key in FORWARD:
                number = min(number + 1, last)
            elif key in BACK:
                number = max(number - 1, 0)
            elif key in FIRST:
                number = 0
            elif key in LAST:
                number = last
            if number != before:
                _show(board.after(number))


def _show(point: Point) -> None:
    """Show a position; it replaces what stands in the terminal."""
    click.clear()
    click.echo(shown(point))


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """Yield what each pressed key sends, until the terminal is closed; the terminal does not wait for whole lines."""
    terminal = sys.stdin.fileno()
    usual = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)  # what is typed ahead stays
    try:
        yield (key for sent in iter(lambda: os.read(terminal, 64), b"") for key in KEY.findall(sent.decode("latin-1")))
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, usual)


def shown(point: Point) -> str:
    """A position in colours, with the turn that led to it."""
    board = point.board
    last_turn = "The beginning."
    if point.moves:
        turn = board.turns[point.moves - 1]
        dice = f", dice {' '.join(map(str, turn.dice))}" if turn.dice else ""
        last_turn = f"{turn.userid}{dice}: {letters.turn_text(turn)}"
    where = f"Move {point.moves} of {len(board.turns)}. "
    parts = [
        escaped(letters.title(point)),
        escaped(where + texts.wrapped_turns(last_turn)),
        painted(board.rules, letters.drawing_of(point).text),
    ]
    if point.is_present:
        parts += [escaped(part) for part in _end(board)]
    parts.append(escaped(KEYS))
    return "\n\n".join(parts)


def painted(rules: Game[Any], drawn: str) -> str:
    """A drawing with the pieces of each side in its colour, and what the last turn has changed underlined."""
    (first, second), latest = games.glyphs(rules)
    pieces = re.compile(f"(?P<first>{first})|(?P<second>{second})")
    every = re.compile(f"(?P<latest>{latest})|{pieces.pattern}")
    hues = dict(zip(("first", "second"), svg.hues(rules.SIDES), strict=True))

    def tiled(piece: re.Match[str]) -> str:
        letter_colour, ground_colour = TILES[hues[str(piece.lastgroup)]]
        return click.style(piece[0], fg=letter_colour, bg=ground_colour, bold=True)

    def marked(part: re.Match[str]) -> str:
        if part.lastgroup != "latest":
            return tiled(part)
        # the end of a colour also ends the line below it, which then begins again
        underlined = pieces.sub(tiled, part[0]).replace(PLAIN, PLAIN + UNDERLINED)
        return f"{UNDERLINED}{underlined}{PLAIN}"

    return "\n".join(every.sub(marked, line) for line in escaped(drawn).split("\n"))


def listed(board: Board) -> str:
    """The turns of a game as a table, the board at its end, and the last comment."""
    point = board.present
    lines = [("Move", "Player", "Dice", "Turn")]
    for number, turn in enumerate(board.turns, 1):
        lines.append((str(number), turn.userid, " ".join(map(str, turn.dice)), letters.turn_text(turn)))
    parts = [letters.title(point), texts.table(lines), letters.drawing_of(point).text]
    parts += _end(board)
    return "\n\n".join(parts)


def _end(board: Board) -> list[str]:
    """How a game stands after its last turn, and the last comment."""
    row = board.row
    parts = [letters.status_of(board.present)]
    if row.comment:
        parts.append(Comment(row.commenter, row.comment).text)
    return parts
