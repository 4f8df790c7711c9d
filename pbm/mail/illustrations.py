"""The picture with which the HTML of a board mail begins, and the links to tap below it. No sockets here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from games.figures import Note
from pbm import blocks
from pbm.access import tokens
from pbm.blocks import Curve, Drawing
from pbm.board.board import Point, few_turns
from pbm.budget import limited
from pbm.drawing import images, svg
from pbm.server import Server
from pbm.store import Mail

ZOOM = 1.5
"""How many pixels of a picture there are for each one of its natural size: sharp on telephones, and still small."""
SECONDS_TO_DRAW = 2.0
"""How long a picture may take; a usual one takes a tenth of a second."""
KEPT = 16
"""How many of the last pictures are kept: the mails to both players follow each other."""


class SeatLine(NamedTuple):
    """A player of a board that is shown."""

    player: str
    side: str
    colour: str
    """The colour of their pieces, such as ``#161616``."""
    standing: str
    """How they stand, such as ``stones 15, groups 3, score -9``; empty if the game does not say."""


class Illustration(NamedTuple):
    """The picture of a mail, and where its links lead."""

    png: bytes
    what: str = "board"
    """What it shows."""
    mover: str | None = None
    """The userid of the player to move; None when the game is over, or has gone on since."""
    turns: tuple[str, ...] = ()
    """The legal turns of the player to move, if there are few; only they get these."""
    page: str = ""
    """The page of the board, with the token of the reply address in its fragment; empty if there is no site."""
    reader: str = ""
    """The user who gets the mail, also one who is only answered, as its reply address says; empty if unknown."""
    seats: tuple[SeatLine, ...] = ()
    remarks: tuple[str, ...] = ()
    """What the game says of both sides, such as how the score is counted."""
    opponent: str = ""
    """The opponent of the player who reads the mail; empty if it is no person who is signed up, or there is none."""

    @property
    def is_to_mover(self) -> bool:
        """Whether the mail goes to the player to move."""
        return bool(self.reader) and self.reader == self.mover

    @property
    def width(self) -> int:
        """The pixels of its natural size."""
        return round(images.width(self.png) / ZOOM)


@dataclass
class Illustrator:
    """Draws the boards of mails, each once for all who get it at about the same time."""

    server: Server
    drawn: dict[Drawing, Illustration | None] = field(default_factory=dict)

    def of(self, mail: Mail) -> Illustration | None:
        """The picture of the curve in a mail, or else of its only board, if the stored board still has that position.

        None if its reader wants no pictures, or none can be drawn here.
        """
        if not mail.pictures or not images.is_available():
            return None
        mail_blocks = blocks.from_json(mail.blocks)
        curves = [block for block in mail_blocks if isinstance(block, Curve)]
        if curves:
            return Illustration(images.curve_png(curves[0].chances, ZOOM), "curve")
        drawings = [block for block in mail_blocks if isinstance(block, Drawing)]
        if len(drawings) != 1 or not drawings[0].board:
            return None
        [drawing] = drawings
        if drawing not in self.drawn:
            if len(self.drawn) >= KEPT:
                oldest = next(iter(self.drawn))
                del self.drawn[oldest]
            self.drawn[drawing] = None  # what cannot be drawn is tried once
            self.drawn[drawing] = _drawn(self.server, drawing)
        drawn = self.drawn[drawing]
        if drawn is None:
            return None
        address = mail.reply_to or ""
        meaning = tokens.meaning(self.server, address)
        player = meaning.reply.userid if meaning else ""
        turns: tuple[str, ...] = ()
        if player == drawn.mover:
            turns = drawn.turns
        page = ""
        if self.server.site:
            page = f"{self.server.site}/{drawing.game}/{drawing.board}.html"
        if page and player:
            page += f"#{tokens.token_of(address)}"
        opponent = self._opponent_of(player, drawn)
        return drawn._replace(turns=turns, page=page, reader=mail.userid or player, opponent=opponent)

    def _opponent_of(self, player: str, drawn: Illustration) -> str:
        """The opponent of that player on the board, if it is a person who is signed up; else empty."""
        players = [seat.player for seat in drawn.seats]
        if player not in players:
            return ""
        opponent = next((userid for userid in players if userid != player), "")
        store = self.server.store
        if store.robots.get(opponent) or not store.users.signed_up([opponent]):
            return ""
        return opponent


def _drawn(server: Server, drawing: Drawing) -> Illustration | None:
    """The picture of a board. Raises TimeoutError, and any error of a game that cannot be drawn."""
    with limited(SECONDS_TO_DRAW):
        point = images.point_of(server.store, drawing)
        if point is None:
            return None
        png = images.board_png(point, ZOOM, has_notes=False)
        figure = images.figure(point)
    mover = point.mover if point.is_present else None
    turns = few_turns(point) if mover else ()
    notes = figure.notes if figure else ()
    remarks = tuple(note.text for note in notes if note.side is None)
    return Illustration(png, mover=mover, turns=turns, seats=_seats(point, notes), remarks=remarks)


def _seats(point: Point, notes: Sequence[Note]) -> tuple[SeatLine, ...]:
    """Both players, and what the *notes* of a figure say of each."""
    board = point.board
    sides = board.rules.SIDES
    hues = svg.hues(sides)
    seats = []
    for side, seat in enumerate(point.state.seats):
        texts = [note.text for note in notes if note.side == side]
        standing = ", ".join(text.partition(": ")[2] or text for text in texts)  # the seat names the side
        seats.append(SeatLine(board.players[seat], sides[side], svg.PIECE_COLOURS[hues[side]], standing))
    return tuple(seats)
