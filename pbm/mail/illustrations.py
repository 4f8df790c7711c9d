"""The picture with which the HTML of a board mail begins, and what can be tapped below it. No sockets here."""

from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple

from pbm import blocks
from pbm.access import tokens
from pbm.blocks import Curve, Drawing
from pbm.board.board import Point
from pbm.budget import limited
from pbm.server import Server
from pbm.store import Mail

ZOOM = 1.5
"""How many pixels of a picture there are for each one of its natural size: sharp on telephones, and still small."""
MOST_LINKED = 30
"""How many legal turns a position has at most whose turns are links, each of its own."""
SECONDS_TO_DRAW = 2.0
"""What one picture may compute; a usual one takes a tenth of a second."""
SECONDS_TO_LIST = 0.5
"""What it may take to list the turns of a position; a double of Spiro with 99 pieces would take several seconds."""
KEPT = 16
"""How many boards are kept that were drawn last; those to both players are mailed one behind the other."""


class Drawn(NamedTuple):
    """A board that was drawn."""

    png: bytes
    width: int
    """The pixels of its natural size."""
    turn: str | None
    """The userid of the player to move; None when the game is over, or has gone on since."""
    turns: tuple[str, ...]
    """The legal turns of the player to move, if there are few."""


class Illustration(NamedTuple):
    """What a mail gets."""

    png: bytes
    width: int
    turns: tuple[str, ...]
    """What its reader can play, if they are to move and there is not much that they can."""
    page: str
    """The page of the board, with the token of the reply address in its fragment; empty if there is no site."""
    what: str = "board"
    """What it shows."""


class Illustrator:
    """Draws the boards of mails, each once for all who get it at about the same time."""

    def __init__(self, server: Server) -> None:
        """Draw boards of this server."""
        self.server = server
        self.draw = lru_cache(KEPT)(partial(_drawn, server))

    def of(self, mail: Mail) -> Illustration | None:
        """What a mail gets: a curve that it shows, or its board if it shows one that is still what it was.

        It gets nothing if its reader wants no pictures.
        """
        found = blocks.read(mail.blocks) if mail.pictures else ()
        for curve in [block for block in found if isinstance(block, Curve)]:
            return _illustrated(curve)
        drawings = [block for block in found if isinstance(block, Drawing)]
        if len(drawings) != 1 or not drawings[0].depicts:
            return None
        [drawing] = drawings
        drawn = self.draw(drawing)
        if drawn is None:
            return None
        meaning = tokens.meaning(self.server, mail.reply_to) if mail.reply_to else None
        turns = drawn.turns if meaning and meaning.reply.userid == drawn.turn else ()
        return Illustration(drawn.png, drawn.width, turns, self._page(drawing, mail.reply_to if meaning else None))

    def _page(self, drawing: Drawing, reply_to: str | None) -> str:
        if self.server.site is None:
            return ""
        token = (reply_to or "").rpartition("@")[0].rpartition("+")[2]
        number = drawing.depicts.partition("#")[0]
        return f"{self.server.site}/{drawing.game}/{number}.html{f'#{token}' if token else ''}"


def _illustrated(curve: Curve) -> Illustration | None:
    """The picture of a curve, if pictures can be drawn here."""
    from pbm.drawing import images

    if not images.is_available():
        return None
    png = images.curve_png(curve.chances, ZOOM)
    return Illustration(png, round(images.width(png) / ZOOM), (), "", "curve")


def _drawn(server: Server, drawing: Drawing) -> Drawn | None:
    """The picture of a board. Raises whatever a game raises that cannot be drawn, and TimeoutError."""
    from pbm.drawing import images

    if not images.is_available():
        return None
    with limited(SECONDS_TO_DRAW):
        point = images.point_of(server.store, drawing)
        if point is None:
            return None
        png = images.board_png(point, ZOOM)
    turn = point.turn if point.is_present else None
    return Drawn(png, round(images.width(png) / ZOOM), turn, few_turns(point) if turn else ())


def few_turns(point: Point) -> tuple[str, ...]:
    """The legal turns of a position, if there are few, and they are found soon."""
    try:
        with limited(SECONDS_TO_LIST):
            listed = tuple(islice(point.state.moves(), MOST_LINKED + 1))
    except TimeoutError:
        return ()
    return listed if len(listed) <= MOST_LINKED else ()
