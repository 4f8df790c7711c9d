"""Figures of games as SVG: for light and dark surroundings, for tapping, and with words for those who cannot see it.

Every cell is an element that carries its name in ``data-cell``; so does every piece, which has the class ``piece``.
What is drawn has classes and no colours: these stand in `STYLE`, which a page with many pictures can have once.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain, groupby
from math import ceil
from operator import itemgetter
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from games.figures import Cell, Figure, Label, Mark, Note, Piece, Place, Strokes

USUAL_WIDTH = 400
"""The width of a board in pixels, unless its cells would become tiny or huge."""
SMALLEST, LARGEST = 18, 44
"""Pixels between the middles of neighbouring cells. With even numbers all cells of a square board are drawn alike, also
half as large again, and so files are small."""
LEAST_WIDTH = 360
"""The least width of a picture in pixels, for what stands below the board."""
MARGIN = 12
"""Pixels around everything."""
NOTE_SIZE, LINE_HEIGHT = 13, 24
"""Pixels: how high the letters and lines below a board are."""
NOTE_INDENT = 36
"""Pixels in front of such a line, for the colour of its side and the sign of the side to move."""
EXPLAINED = {
    "latest": ("last turn", '<circle class="key{hue}" cx="{x}" cy="{y}" r="6"/>'),
    "eye": ("eye", '<path class="turn" d="M{x} {y}m0-5l5 5-5 5-5-5z"/>'),
    "territory": ("territory", '<path class="turn" d="M{x} {y}m-4-4h8v8h-8z"/>'),
    "matched": ("matched", '<circle class="key matched" cx="{x}" cy="{y}" r="5"/>'),
}
"""The legend, which is the last line below a board: for each role of its marks, what they mean and look like."""
EXPLAINED_WIDTH = 100
"""Pixels from one mark of the legend to the next."""
LETTER_RATIO = 0.6
"""How wide letters of a proportional font are on average, at most, as a part of their height."""
TEXT_SIZE = 13
"""Pixels: how high letters are where a board is shown as text."""
FIXED_RATIO = 0.62
"""How wide letters of a fixed-pitch font are, as a part of their height."""

OWN_HUES = frozenset({"black", "white", "pink"})
"""Sides with pieces of the colour that the side is called after."""
USUAL_HUES = ("yellow", "navy")
"""The colours of other sides."""

STYLE = (Path(__file__).parent / "board.css").read_text()
"""The style sheet of all pictures: custom properties are the colours of boards, in light and in dark surroundings."""
PIECE_COLOURS: dict[str, str] = dict(re.findall(r"^\.board \.(\w+){fill:(#\w+)}", STYLE, re.MULTILINE))
"""The colours of pieces by their classes, such as ``{"black": "#161616"}``."""


def colours(ground: str) -> dict[str, str]:
    """The colours of a ground, of lines and of marks on it, in light surroundings, such as ``{"panel": "#efd8ab"}``."""
    light, _, _ = STYLE.partition("@media")
    grounds = dict(re.findall(r"^\.(\w+){(--.*)}\n", light, re.MULTILINE))
    return dict(re.findall(r"--([\w-]+):(#\w+)", grounds[ground]))


def fixed_style(sides: tuple[str, str]) -> str:
    """The style sheet of a game's pictures, in light surroundings and without custom properties."""
    light, _, _ = STYLE.partition("@media")
    named = colours(ground(sides))
    return re.sub(r"var\(--([\w-]+)\)", lambda variable: named[variable[1]], light)


def ground(sides: tuple[str, str]) -> str:
    """The class of the ground below the pieces of two sides."""
    return "wood" if set(sides) <= {"black", "white"} else "felt"


def hues(sides: tuple[str, str]) -> tuple[str, str]:
    """The classes of the colours of two sides' pieces, such as ``black`` or ``navy``."""
    first, second = (side.lower() for side in sides)
    if first not in OWN_HUES:
        first = USUAL_HUES[0]
    if second not in OWN_HUES:
        second = USUAL_HUES[1]
    return first, second


def svg(figure: Figure, sides: tuple[str, str], title: str, *, style: str = STYLE) -> str:
    """A figure as SVG, with a *title*, and with a description for those who cannot see it.

    Without a *style* sheet the page has to bring `STYLE`.
    """
    return Canvas(figure, sides).picture(figure, title, style=style)


def text_svg(text: str, title: str, *, style: str = STYLE) -> str:
    """The board of a game without figures: its lines of text, letter by letter, so that columns stay columns."""
    lines = text.split("\n")
    step = TEXT_SIZE * FIXED_RATIO
    width = 2 * MARGIN + step * max(map(len, lines))
    height = 2 * MARGIN + 1.25 * TEXT_SIZE * len(lines)
    shapes = [f'<g class="plain" font-size="{TEXT_SIZE}">\n']
    for number, line in enumerate(lines, 1):
        y = MARGIN + (1.25 * number - 0.25) * TEXT_SIZE
        for word in re.finditer(r"\S+", line):
            xs = " ".join(pixels(MARGIN + step * (column + 0.5)) for column in range(*word.span()))
            shapes.append(f'<text x="{xs}" y="{pixels(y)}">{escape(word[0])}</text>\n')
    shapes.append("</g>\n")
    return _document(width, height, "wood", title, text, shapes, style)


def description(figure: Figure, sides: tuple[str, str]) -> str:
    """What stands where, in words, and what the last turn has changed."""
    standing: dict[str, list[int]] = {}
    for piece in figure.pieces:
        standing.setdefault(piece.cell, []).append(piece.side)
    parts = []
    for side, name in enumerate(sides):
        cells = [_stacked(cell, stack, sides) for cell, stack in standing.items() if stack[-1] == side]
        parts.append(f"{name.capitalize()} on {', '.join(cells) or 'no cell'}.")
    if figure.latest:
        parts.append(f"Changed by the last turn: {', '.join(figure.latest)}.")
    parts += [f"{note.text.rstrip('.')}{_thrown(note)}." for note in figure.notes]
    return " ".join(" ".join(parts).split())


def _stacked(cell: str, stack: list[int], sides: tuple[str, str]) -> str:
    """A cell and how high its stack is, such as ``c3 (4, 1 of them white below)``."""
    if len(stack) == 1:
        return cell
    enemy = 1 - stack[-1]
    captives = Counter(stack)[enemy]
    if not captives:
        return f"{cell} ({len(stack)})"
    return f"{cell} ({len(stack)}, {captives} of them {sides[enemy]} below)"


def _thrown(note: Note) -> str:
    return f"; dice {' and '.join(map(str, note.dice))}" if note.dice else ""


def _document(
    width: float, height: float, ground: str, title: str, words: str, shapes: Iterable[str], style: str
) -> str:
    wide = ceil(width)
    high = ceil(height)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="board {ground}" role="img"'
    parts = [
        f'{head} width="{wide}" height="{high}" viewBox="0 0 {wide} {high}">\n',
        f"<title>{_clean(title)}</title>\n<desc>{_clean(words)}</desc>\n",
    ]
    if style:
        parts.append(f"<style>\n{style}</style>\n")
    parts.append(f'<rect class="panel" width="{wide}" height="{high}" rx="8"/>\n')
    parts += shapes
    parts.append("</svg>\n")
    return "".join(parts)


def _clean(text: str) -> str:
    """A text in XML, without what XML cannot hold."""
    return escape("".join(letter for letter in text if letter.isprintable() or letter in "\n\t"))


def pixels(value: float) -> str:
    """A number of pixels with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")


def path_of(points: Sequence[Place]) -> str:
    """The lines through points, rounded pixels from the upper left, as a path: ``M4 7l10 0l0 10``."""
    start, *others = points
    x, y = start
    steps = [f"M{pixels(x)} {pixels(y)}"]
    for next_x, next_y in others:
        steps.append(f"l{pixels(next_x - x)} {pixels(next_y - y)}")
        x, y = next_x, next_y
    return "".join(steps)


class Ring(NamedTuple):
    """A mark on a cell that the last turn has changed."""

    cell: str
    at: Place
    size: float
    """The radius of the ring."""
    side: int | None
    """The side of the piece that it surrounds; None if there is no piece."""


class NamedShapes(NamedTuple):
    """Shapes in one element, with the name of its class."""

    name: str
    shapes: tuple[Strokes | Label, ...]


Shape = Strokes | Piece | Mark | Ring | Label | NamedShapes


class Canvas:
    """Draws the positions of one board in one size."""

    def __init__(self, figure: Figure, sides: tuple[str, str], *, margin: int = MARGIN) -> None:
        """Measure the board by one *figure* of it. The *margin* is in pixels."""
        self.sides = sides
        self.margin = margin
        self.hues = hues(sides)
        self.cells = figure.cells
        xs, ys = zip(*_places(figure), strict=True)
        self.left = min(xs)
        self.top = max(ys)
        units_across = max(xs) - self.left
        # an even number, see SMALLEST
        self.scale = max(SMALLEST, min(LARGEST, 2 * int(USUAL_WIDTH / units_across / 2)))
        self.width = max(LEAST_WIDTH, 2 * margin + self.scale * units_across)
        self.indent = (self.width - self.scale * units_across) / 2
        self.foot = 2 * margin + self.scale * (self.top - min(ys))
        self.by_name = {cell.name: number for number, cell in enumerate(figure.cells)}
        self.by_place = {cell.at: number for number, cell in enumerate(figure.cells)}

    def picture(self, figure: Figure, title: str, *, style: str, has_notes: bool = True) -> str:
        """The SVG of a position, as of `svg`; on request without what stands below the board."""
        is_on_points = any(strokes.role == "grid" for strokes in figure.lines)
        kind = "cells points" if is_on_points else "cells"
        cells = "".join(map(self._cell, self.cells))
        shapes = [f'<g class="{kind}">\n{cells}</g>\n']
        parts = self.parts(figure)
        for number in sorted(parts):
            shapes += [self.markup(shape) for shape in parts[number]]
        height = self.foot
        if has_notes:
            below, height = self.below(figure)
            shapes.append(below)
        words = description(figure, self.sides)
        return _document(self.width, height, ground(self.sides), title, words, shapes, style)

    def parts(self, figure: Figure) -> dict[int, list[Shape]]:
        """The shapes on the board in numbered parts, the lowest first. A turn changes few of these parts.

        In this order: coordinates, lower lines, upper lines, a part for the joins that begin at each cell, a part for
        what stands on each cell, other labels. Joins and shapes on no cell have a part after those of the cells.
        """
        parts = defaultdict[int, list[Shape]](list)
        on_no_cell = len(self.cells)
        first_join = 3
        first_on_cell = first_join + on_no_cell + 1
        track = first_on_cell + on_no_cell + 1

        lower = [strokes for strokes in figure.lines if strokes.role in UNDER]
        joins = [strokes for strokes in figure.lines if strokes.role == "join"]
        upper = [strokes for strokes in figure.lines if strokes.role not in UNDER and strokes.role != "join"]
        coordinates = [label for label in figure.labels if not label.cell and label.role == "coordinate"]
        beside = [label for label in figure.labels if not label.cell and label.role != "coordinate"]
        groups: Sequence[tuple[int, str, Sequence[Strokes | Label]]] = (
            (0, "coordinate", coordinates),
            (1, "lines", lower),
            (2, "lines", upper),
            (track, "track", beside),
        )
        for number, name, shapes in groups:
            if shapes:
                parts[number].append(NamedShapes(name, tuple(shapes)))
        for role, ways, side in joins:
            for place, ways_from_place in groupby(ways, itemgetter(0)):
                join = NamedShapes("lines", (Strokes(role, tuple(ways_from_place), side),))
                parts[first_join + self.by_place.get(place, on_no_cell)].append(join)

        standing: list[Piece | Mark | Ring | Label] = []
        standing += figure.pieces
        standing += figure.marks
        standing += self._latest(figure)
        standing += [label for label in figure.labels if label.cell]  # how many pieces lie below
        for shape in standing:
            if isinstance(shape, Mark):
                number = self.by_place.get(shape.at, on_no_cell)
            else:
                number = self.by_name[shape.cell]
            parts[first_on_cell + number].append(shape)
        return parts

    def at(self, place: Place) -> Place:
        """A place of the figure in pixels, from the upper left."""
        x, y = place
        return self.indent + (x - self.left) * self.scale, self.margin + (self.top - y) * self.scale

    def way(self, places: Sequence[Place]) -> str:
        """The lines through these places, as a path."""
        return path_of([(round(x, 1), round(y, 1)) for x, y in map(self.at, places)])

    def _cell(self, cell: Cell) -> str:
        """A cell, on which pieces stand and which can be tapped."""
        tint = f' class="{self.hues[cell.side]}"' if cell.side is not None else ""
        return f'<path{tint} data-cell="{escape(cell.name)}" d="{self.way(cell.outline)}z"/>\n'

    def markup(self, shape: Shape) -> str:
        """A shape as SVG."""
        match shape:
            case NamedShapes():
                return f'<g class="{shape.name}">\n{"".join(map(self.markup, shape.shapes))}</g>\n'
            case Strokes():
                return self._strokes(shape)
            case Piece() | Ring():
                name = "piece" if isinstance(shape, Piece) else "latest"
                kind = f'class="{name}{self.hue(shape.side)}" data-cell="{escape(shape.cell)}"'
                return f"<circle {kind} {self.circle(shape.at, shape.size)}/>\n"
            case Mark():
                return self._mark(shape)
            case Label():
                return self._label(shape)

    def hue(self, side: int | None) -> str:
        """A blank and the class of a side's colour; empty for no side."""
        return "" if side is None else f" {self.hues[side]}"

    def circle(self, middle: Place, size: float) -> str:
        """The attributes of a circle."""
        x, y = self.at(middle)
        return f'cx="{pixels(x)}" cy="{pixels(y)}" r="{pixels(size * self.scale)}"'

    def _strokes(self, strokes: Strokes) -> str:
        """Lines that look alike; joins have an edge as stones do, so that they are seen on any ground."""
        ways = "".join(map(self.way, strokes.ways))
        rim = f'<path class="rim" d="{ways}"/>\n' if strokes.role == "join" else ""
        return f'{rim}<path class="{strokes.role}{self.hue(strokes.side)}" d="{ways}"/>\n'

    def _mark(self, mark: Mark) -> str:
        kind = f'class="mark {mark.role}{self.hue(mark.side)}"'
        if mark.role == "eye":  # a lozenge, so that it is no small piece
            x, y = mark.at
            corners = [(x, y + mark.size), (x + mark.size, y), (x, y - mark.size), (x - mark.size, y)]
            return f'<path {kind} d="{self.way(corners)}z"/>\n'
        if mark.role == "territory":
            x, y = self.at(mark.at)
            size = mark.size * self.scale
            corner = f'x="{pixels(x - size)}" y="{pixels(y - size)}"'
            return f'<rect {kind} {corner} width="{pixels(2 * size)}" height="{pixels(2 * size)}"/>\n'
        return f"<circle {kind} {self.circle(mark.at, mark.size)}/>\n"

    def _label(self, label: Label) -> str:
        x, y = self.at(label.at)
        size = label.size * self.scale
        if label.role == "coordinate":
            size = max(10.5, min(14.0, size))
        hue = f' class="count{self.hue(label.side)}"' if label.side is not None else ""
        place = f'x="{pixels(x)}" y="{pixels(y + 0.36 * size)}" font-size="{pixels(size)}"'
        return f"<text{hue} {place}>{escape(label.text)}</text>\n"

    def _latest(self, figure: Figure) -> Iterator[Ring]:
        """A ring on the highest piece of each cell that the last turn has changed, or where it has none."""
        highest = {piece.cell: piece for piece in figure.pieces}
        for name in figure.latest:
            piece = highest.get(name)
            if piece:
                yield Ring(name, piece.at, piece.size * 0.84, piece.side)
            else:
                yield Ring(name, self.cells[self.by_name[name]].at, 0.16, None)

    def below(self, figure: Figure) -> tuple[str, float]:
        """What stands below the board, and the height of the whole picture in pixels."""
        notes = ""
        lines = 0
        for note in figure.notes:
            y = self.foot + LINE_HEIGHT * (lines + 0.5)
            is_turn = note.side is not None and note.side == figure.turn
            markup, count = _note(note, y, self.width, self.hue(note.side), is_turn=is_turn)
            notes += markup
            lines += count
        markup = ""
        if notes:
            markup = f'<g class="notes">\n{notes}</g>\n'

        roles = {mark.role for mark in figure.marks}
        if figure.latest:
            roles.add("latest")
        explained = [role for role in EXPLAINED if role in roles]
        if explained:
            y = self.foot + LINE_HEIGHT * (lines + 0.5)
            hue = self.hue(next((ring.side for ring in self._latest(figure)), None))
            markup += f'<g class="legend">\n{"".join(_legend(explained, y, hue))}</g>\n'
            lines += 1
        if not lines:
            return "", self.foot
        return markup, self.foot + LINE_HEIGHT * lines + MARGIN


def _legend(roles: Iterable[str], y: float, hue: str) -> Iterator[str]:
    """The legend of these roles, in a line with its middle *y* pixels down. The ring has the *hue* of a piece."""
    for number, role in enumerate(roles):
        x = MARGIN + 10 + EXPLAINED_WIDTH * number
        place = f'x="{x + 12}" y="{pixels(y + 0.36 * NOTE_SIZE)}" font-size="{NOTE_SIZE}"'
        meaning, shape = EXPLAINED[role]
        yield f"{shape.format(x=x, y=pixels(y), hue=hue)}\n<text {place}>{meaning}</text>\n"


def _note(note: Note, y: float, width: float, hue: str, *, is_turn: bool) -> tuple[str, int]:
    """A note with the middle of its first line *y* pixels down, and how many lines it has."""
    parts = []
    if is_turn:
        parts.append(f'<path class="turn" d="M{MARGIN} {pixels(y - 6)}l9 6-9 6z"/>\n')
    if note.side is not None:
        parts.append(f'<circle class="swatch{hue}" cx="{MARGIN + 20}" cy="{pixels(y)}" r="7"/>\n')
    left = MARGIN + (NOTE_INDENT if note.side is not None else 4)
    columns = int((width - 2 * MARGIN - NOTE_INDENT) / (NOTE_SIZE * LETTER_RATIO)) - 4 * len(note.dice)
    lines = wrap(note.text, columns) if len(note.text) > columns else [note.text]
    for number, line in enumerate(lines):
        place = f'x="{left}" y="{pixels(y + LINE_HEIGHT * number + 0.36 * NOTE_SIZE)}" font-size="{NOTE_SIZE}"'
        parts.append(f"<text {place}>{escape(line)}</text>\n")
    step = LINE_HEIGHT + 4
    right = width - MARGIN - step * len(note.dice)
    parts += [_die(die, right + step * number, y) for number, die in enumerate(note.dice)]
    return "".join(parts), len(lines)


def _places(figure: Figure) -> Iterator[Place]:
    """Places with the same extremes as all shapes."""
    yield from chain.from_iterable(cell.outline for cell in figure.cells)
    yield from chain.from_iterable(way for strokes in figure.lines for way in strokes.ways)
    circles = {(piece.at, piece.size, piece.size) for piece in figure.pieces}
    circles |= {(mark.at, mark.size, mark.size) for mark in figure.marks}
    letters = {(label.at, label.size * LETTER_RATIO * len(label.text) / 2, label.size / 2) for label in figure.labels}
    for (x, y), right, up in circles | letters:
        yield x - right, y - up
        yield x + right, y + up


UNDER = frozenset({"grid", "track", "path"})
"""The roles of lines that lie under all others."""
PIPS = {1: "5", 2: "19", 3: "159", 4: "1379", 5: "13579", 6: "134679"}
"""For each number of a die, its pips: places 1 to 9, line by line."""


def _die(value: int, left: float, middle: float) -> str:
    """A die next to a line of text."""
    size = LINE_HEIGHT - 1
    place = f'transform="translate({pixels(left)} {pixels(middle - size / 2)})"'
    parts = [f'<g class="dice" {place}><rect class="die" width="{size}" height="{size}" rx="4"/>\n']
    for pip in map(int, PIPS[value]):
        row, column = divmod(pip - 1, 3)
        x = size * (0.25 + 0.25 * column)
        y = size * (0.25 + 0.25 * row)
        parts.append(f'<circle class="pip" cx="{pixels(x)}" cy="{pixels(y)}" r="2.3"/>\n')
    parts.append("</g>\n")
    return "".join(parts)
