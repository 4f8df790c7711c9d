"""What lies over the board on a page while a turn is put together by tapping: each kind of mark has a shape of its own.

A dot shows where the next tap can be. A piece with a ring is what the turn adds, with its number; a cross is what goes
away. A ring alone surrounds what the hint speaks of. A label says what a tap on its cell does. What is planned is
dashed.
"""

from collections.abc import Iterator
from html import escape

from games.figures import Cell, Figure
from games.tapping import NextTaps, TurnMark
from pbm.drawing.svg import LETTER_RATIO, Canvas, pixels

USUAL_SIZE = 0.36
"""The radius of pieces where none stands on the board."""
DOT = 0.15
"""The radius of a dot; cells are about 1 wide."""


def drawn_over(canvas: Canvas, figure: Figure, taps: NextTaps, side: int, *, is_planned: bool = False) -> str:
    """The marks over a figure, for a turn of a side, as an element of SVG."""
    over = _Over(canvas, figure, side)
    parts = [over.mark(mark) for mark in taps.marks]
    parts.append(over.dots(taps))
    parts += over.labels(taps)
    name = "over plan" if is_planned else "over"
    return f'<g class="{name}">{"".join(parts)}</g>'


CROSS_EDGE = 7
"""Pixels: how wide the edge of a cross is. Without it, a red cross cannot be seen on a black stone."""


class _Over:
    """Draws marks in the size of a canvas."""

    def __init__(self, canvas: Canvas, figure: Figure, side: int) -> None:
        self.canvas = canvas
        self.hue = canvas.hue(side)
        self.size = max((piece.size for piece in figure.pieces), default=USUAL_SIZE)
        self.tops = {piece.cell: piece.at for piece in figure.pieces}
        """Where the highest piece on each cell is drawn."""

    def cell(self, name: str) -> Cell:
        return self.canvas.cells[self.canvas.by_name[name]]

    def mark(self, mark: TurnMark) -> str:
        """A mark on all of its cells."""
        cells = [name for name in mark.cells if name in self.canvas.by_name]
        if mark.role == "trail":
            places = [self.cell(name).at for name in cells]
            return f'<path class="trail" d="{self.canvas.way(places)}"/>' if len(places) > 1 else ""
        draw = {"piece": self._piece, "gone": self._gone, "halo": self._halo}[mark.role]
        return "".join(draw(name, mark.label) for name in cells)

    def _piece(self, name: str, label: str) -> str:
        circle = self.canvas.circle(self.cell(name).at, self.size * 0.95)
        return f'<circle class="ghost{self.hue}" {circle}/>{self._text(name, label, f"n{self.hue}")}'

    def _gone(self, name: str, _: str) -> str:
        x, y = self.canvas.at(self.tops.get(name, self.cell(name).at))
        size = self.size * self.canvas.scale * 0.65
        start = f"M{pixels(x - size)} {pixels(y - size)}"
        width = pixels(2 * size)
        way = f"{start}l{width} {width}m0 -{width}l-{width} {width}"
        return f'<path class="edge" stroke-width="{CROSS_EDGE}" d="{way}"/><path class="gone" d="{way}"/>'

    def _halo(self, name: str, _: str) -> str:
        return f'<circle class="halo" {self.canvas.circle(self.tops.get(name, self.cell(name).at), self.size * 1.25)}/>'

    def _text(self, name: str, text: str, kind: str) -> str:
        if not text:
            return ""
        x, y = self.canvas.at(self.cell(name).at)
        size = self.size * self.canvas.scale * (1.3 if len(text) < 2 else 1.1)
        place = f'x="{pixels(x)}" y="{pixels(y + 0.36 * size)}" font-size="{pixels(size)}"'
        return f'<text class="{kind}" {place}>{escape(text)}</text>'

    def dots(self, taps: NextTaps) -> str:
        """A dot on each cell that can be tapped, as one path of lines without length, and their edge below them."""
        cells = [cell for tap in taps.taps if not tap.is_quiet and not tap.label for cell in tap.cells]
        places = [
            self.canvas.at(self.tops.get(name, self.cell(name).at)) for name in cells if name in self.canvas.by_name
        ]
        if not places:
            return ""
        ways = "".join(f"M{pixels(x)} {pixels(y)}h0" for x, y in places)
        width = 2 * DOT * self.canvas.scale
        edge = f'<path class="edge" stroke-width="{pixels(width + 2)}" d="{ways}"/>'
        return f'{edge}<path class="target" stroke-width="{pixels(width)}" d="{ways}"/>'

    def labels(self, taps: NextTaps) -> Iterator[str]:
        """A label on each cell where a tap has one."""
        height = 0.5 * self.canvas.scale
        for tap in taps.taps:
            if not tap.label:
                continue
            for name in tap.cells:
                if name not in self.canvas.by_name:
                    continue
                x, y = self.canvas.at(self.cell(name).at)
                width = max(height, height * 0.8 * LETTER_RATIO * len(tap.label) + 0.9 * height)
                corner = f'x="{pixels(x - width / 2)}" y="{pixels(y - height / 2)}"'
                size = f'width="{pixels(width)}" height="{pixels(height)}" rx="{pixels(height / 2)}"'
                letters = f'x="{pixels(x)}" y="{pixels(y + 0.29 * height)}" font-size="{pixels(0.8 * height)}"'
                yield f'<rect class="tag" {corner} {size}/><text class="tagged" {letters}>{escape(tap.label)}</text>'
