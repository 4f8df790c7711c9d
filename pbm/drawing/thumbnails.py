"""Small pictures of positions as SVG, for lists of boards: the board and its pieces, without coordinates or notes.

A page has many of them, so each is a few kilobytes: all pieces of a side are one path. They bring their colours as
attributes, for a page's policy may forbid a style sheet within a picture.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from games.figures import Figure, Mark, Piece, Place, Way
from pbm.drawing import svg

SCALE = 10
"""How many units there are between the middles of neighbouring cells. All coordinates are whole numbers."""
RIM = 4
"""Units around the board."""
LATEST_SIZE = 0.16
"""The radius of the dot on what the last turn has changed."""
WALL_WIDTH, JOIN_WIDTH, LINE_WIDTH, EDGE_WIDTH = 1.4, 1.4, 0.3, 0.4
"""How wide lines are, and the edge around pieces and joins, in units."""
ARROW_WIDTH = 12
"""Units between the position before a turn and the one after it."""
ARROW_COLOUR = "#767676"
"""It is seen on a light page and on a dark one."""

_RINGS: dict[str, str] = dict(re.findall(r"\.board \.key\.(\w+){fill:none;stroke:(#\w+)}", svg.STYLE))


def thumbnail(figure: Figure, sides: tuple[str, str]) -> str:
    """A small square picture of a position with pieces of these *sides*."""
    drawn = _Thumbnail(figure, sides)
    return _document(drawn.size, drawn.size, drawn.shapes())


def before_and_after(before: Figure, after: Figure, sides: tuple[str, str]) -> str:
    """A small picture of a turn: the position before it, an arrow, and the position after it."""
    left = _Thumbnail(before, sides)
    right = _Thumbnail(after, sides)
    start = left.size + ARROW_WIDTH
    arrow = f"M{left.size + 3} {left.size // 2}h6m-2-2l2 2l-2 2"
    shapes = list(left.shapes())
    shapes.append(f'<path stroke="{ARROW_COLOUR}" d="{arrow}"/>\n')
    shapes.append(f'<g transform="translate({start})">\n')
    shapes += right.shapes()
    shapes.append("</g>\n")
    return _document(start + right.size, max(left.size, right.size), shapes)


def _document(width: int, height: int, shapes: Iterable[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    style = 'fill="none" stroke-linecap="round"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n{"".join(shapes)}</svg>\n'


class _Thumbnail:
    """Draws one position."""

    def __init__(self, figure: Figure, sides: tuple[str, str]) -> None:
        self.figure = figure
        self.hues = svg.hues(sides)
        self.colours = svg.colours(svg.ground(sides))
        places = list(_places(figure))
        xs = [x for x, _ in places]
        ys = [y for _, y in places]
        width = (max(xs) - min(xs)) * SCALE
        height = (max(ys) - min(ys)) * SCALE
        self.size = round(max(width, height)) + 2 * RIM
        self.left = (self.size - width) / 2 - min(xs) * SCALE
        self.top = (self.size - height) / 2 + max(ys) * SCALE

    def shapes(self) -> Iterator[str]:
        """The position as SVG, the lowest shapes first."""
        yield f'<rect width="{self.size}" height="{self.size}" fill="{self.colours["panel"]}"/>\n'
        yield from self._cells()
        yield from self._lines()
        yield from self._pieces()
        yield from self._marks()
        yield from self._latest()

    def _cells(self) -> Iterator[str]:
        """The cells; points of a grid are not seen."""
        if any(strokes.role == "grid" for strokes in self.figure.lines):
            return
        edge = f'stroke="{self.colours["line"]}" stroke-width="{LINE_WIDTH}"'
        ways: dict[str, str] = {}
        for cell in self.figure.cells:
            tint = self.colours["field"]
            if cell.side is not None:
                tint = self.colours.get(f"{self.hues[cell.side]}-field", tint)
            fill = f'fill="{tint}"'
            ways[fill] = f"{ways.get(fill, '')}{self._way(cell.outline)}z"
        for fill, d in ways.items():
            yield f'<path {fill} {edge} d="{d}"/>\n'

    def _lines(self) -> Iterator[str]:
        """The lines of the board, and those that join stones."""
        for strokes in self.figure.lines:
            if strokes.role == "track":
                continue
            d = "".join(map(self._way, strokes.ways))
            if strokes.role == "join" and strokes.side is not None:
                yield self._stroke(d, self.colours["edge"], JOIN_WIDTH + 2 * EDGE_WIDTH)
                yield self._stroke(d, svg.PIECE_COLOURS[self.hues[strokes.side]], JOIN_WIDTH)
            elif strokes.role == "wall":
                yield self._stroke(d, self.colours["ink"], WALL_WIDTH)
            elif strokes.role == "grid":
                yield self._stroke(d, self.colours["line"], LINE_WIDTH)

    def _pieces(self) -> Iterator[str]:
        """The pieces: lines without a length; their round ends make discs."""
        for (side, size), pieces in groupby(self.figure.pieces, lambda piece: (piece.side, piece.size)):
            d = "".join(self._dot(piece.at) for piece in pieces)
            yield self._stroke(d, self.colours["edge"], 2 * size * SCALE + EDGE_WIDTH)
            yield self._stroke(d, svg.PIECE_COLOURS[self.hues[side]], 2 * size * SCALE - EDGE_WIDTH)

    def _marks(self) -> Iterator[str]:
        """The marks, as squares and dots."""
        shown = [mark for mark in self.figure.marks if mark.role != "token"]
        for (role, side, size), marks in groupby(shown, lambda mark: (mark.role, mark.side, mark.size)):
            d = "".join(self._dot(mark.at) for mark in marks)
            colour = self._colour_of(role, side)
            cap = ' stroke-linecap="square"' if role == "territory" else ""
            yield self._stroke(d, colour, 2 * size * SCALE, cap)

    def _colour_of(self, role: str, side: int | None) -> str:
        if role == "matched":
            return self.colours["good"]
        if side is None:
            return self.colours["ink"]
        return svg.PIECE_COLOURS[self.hues[side]]

    def _latest(self) -> Iterator[str]:
        """A dot where the last turn has changed something, in the colour of rings on the piece that stands there."""
        highest = {piece.cell: piece for piece in self.figure.pieces}
        at = {cell.name: cell.at for cell in self.figure.cells}
        dots: dict[str, str] = {}
        for name in self.figure.latest:
            piece = highest.get(name)
            place = piece.at if piece else at[name]
            colour = _RINGS[self.hues[piece.side]] if piece else self.colours["hint"]
            dots[colour] = dots.get(colour, "") + self._dot(place)
        for colour, d in dots.items():
            yield self._stroke(d, colour, 2 * LATEST_SIZE * SCALE)

    def _stroke(self, d: str, colour: str, width: float, more: str = "") -> str:
        return f'<path stroke="{colour}" stroke-width="{svg.pixels(width)}"{more} d="{d}"/>\n'

    def _at(self, place: Place) -> tuple[int, int]:
        x, y = place
        return round(self.left + x * SCALE), round(self.top - y * SCALE)

    def _dot(self, place: Place) -> str:
        x, y = self._at(place)
        return f"M{x} {y}h0"

    def _way(self, way: Way) -> str:
        """The lines through these places, as a path."""
        return svg.path_of([self._at(place) for place in way])


def _places(figure: Figure) -> Iterator[Place]:
    """Places with the same extremes as all shapes."""
    for cell in figure.cells:
        yield from cell.outline
    shapes: list[Piece | Mark] = [mark for mark in figure.marks if mark.role != "token"]
    shapes += figure.pieces
    for shape in shapes:
        x, y = shape.at
        yield x - shape.size, y - shape.size
        yield x + shape.size, y + shape.size
