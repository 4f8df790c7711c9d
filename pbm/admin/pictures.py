"""The command that draws a board into a file."""

from pathlib import Path

import click

import games
from pbm.actions.finding import find_point
from pbm.admin import answer, open_existing, touching
from pbm.admin.usage import Commands
from pbm.disk import whole
from pbm.drawing import boards
from pbm.refusals import Refused
from pbm.session import Session

DRAWN = {".svg": lambda point: boards.board_svg(point).encode(), ".png": boards.board_png}
"""What becomes a file, by the ending of its name."""

commands = Commands("pbm")


@commands.command()
@click.argument("game")
@click.argument("board", metavar="BOARD[#n]")
@click.argument("file", type=click.Path(path_type=Path))
def picture(game: str, board: str, file: Path) -> None:
    """Draw a board as it is, or after n moves, into FILE, which ends in .svg or .png; `#-1` is one move ago.

    SVG is drawn for light and for dark surroundings, and can be shown as large as one likes. PNG needs
    `pip install 'pbm[pictures]'`.
    """
