"""The command that draws a board into a file."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

import games
from pbm import texts
from pbm.actions.finding import find_point
from pbm.board.board import Point
from pbm.console import answer, open_existing
from pbm.console.usage import Commands
from pbm.drawing import images
from pbm.refusals import Refused, touching
from pbm.session import Session

BY_ENDING: Mapping[str, Callable[[Point], bytes]] = {
    ".svg": lambda point: images.board_svg(point).encode(),
    ".png": images.board_png,
}
"""What becomes a file, by the ending of its name."""

commands = Commands("pbm")


@commands.command()
@click.argument("game")
@click.argument("board", metavar="BOARD[#n]")
@click.argument("file", type=click.Path(path_type=Path))
def picture(game: str, board: str, file: Path) -> None:
    """Draw a board as it is, or after n moves, into FILE, which ends in .svg or .png; `#-1` is one move ago.

    SVG is drawn for light and for dark surroundings, and can be shown as large as one likes. PNG needs
    `pip install '.[pictures]'`.
    """
    draw = BY_ENDING.get(file.suffix.lower())
    if draw is None:
        raise Refused(f"A picture is drawn into a file whose name ends in .svg or .png, and not into {file.name!r}.")
    if not games.exists(game.lower()):
        raise Refused(games.unknown(game))
    session = Session(open_existing())
    with session.store.reading():
        point = find_point(session, game.lower(), board)
    drawn = draw(point)
    with touching(f"The file {file} cannot be written"):
        file.write_bytes(drawn)
    row = point.board.row
    data = {"game": row.game, "board": row.board, "moves": point.moves, "file": str(file), "bytes": len(drawn)}
    text = f"{file} shows {texts.title(row.game)} board {row.board} after {texts.counted(point.moves, 'move')}."
    answer(text, {**data, "reply": text})
