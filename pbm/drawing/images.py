"""Pictures of boards, from the figure of a game or else from its text, as SVG or PNG.

PNG is drawn by resvg, which the extra `pictures` brings, in a font of our own, because a fresh machine has none.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from games.figures import Figure, Note
from pbm import letters, texts
from pbm.blocks import Drawing
from pbm.board.board import Board, Point
from pbm.drawing import svg
from pbm.refusals import Refused
from pbm.store import Store

FONT = Path(__file__).parent / "fonts" / "DejaVuSans-ASCII.ttf"
FAMILY = "DejaVu Sans"
EXTRA = "PNG is drawn by resvg-py, which is not installed: pip install '.[pictures]' brings it. SVG needs nothing."


def is_available() -> bool:
    """Whether PNG can be drawn here."""
    return find_spec("resvg_py") is not None


def png(svg: str, zoom: float) -> bytes:
    """An SVG without custom properties in its style sheet, as a PNG that is *zoom* times as large.

    Raises Refused if resvg is not installed.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise Refused(EXTRA) from error
    return svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        skip_system_fonts=True,
        font_files=[str(FONT)],
        font_family=FAMILY,
        sans_serif_family=FAMILY,
        monospace_family=FAMILY,
    )


def width(image: bytes) -> int:
    """The width of a PNG in pixels, by its header."""
    return int.from_bytes(image[16:20])


def curve_png(chances: Sequence[float], zoom: float) -> bytes:
    """Chances from 0 to 1 as a curve in PNG, with lines at 0, 50, 100 %. Raises Refused if resvg is not installed."""
    step = CURVE_WIDTH / max(1, len(chances) - 1)
    way = "L".join(f"{40 + step * move:.1f} {10 + 100 * (1 - chance):.1f}" for move, chance in enumerate(chances))
    levels = "".join(
        f'<path d="M40 {110 - part}H{40 + CURVE_WIDTH}" stroke="#bbb"/>'
        f'<text x="34" y="{114 - part}" text-anchor="end" font-size="11">{part}%</text>'
        for part in (0, 50, 100)
    )
    size = f'width="{CURVE_WIDTH + 50}" height="120"'
    return png(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><rect {size} fill="#fff"/>{levels}'
        f'<path d="M{way}" fill="none" stroke="#15c" stroke-width="2"/></svg>',
        zoom,
    )


CURVE_WIDTH = 400
"""How many pixels wide a curve is."""
SHARP = 2.0
"""How many times as large as its natural size a PNG is drawn, unless it has to be small."""


def point_of(store: Store, drawing: Drawing) -> Point | None:
    """The position that a drawing in text shows; None if its board is not stored, or has changed since."""
    row = store.boards.get(drawing.game, drawing.board)
    if row is None:
        return None
    point = Board(row, store.boards.turns(*row.place), {}).after(drawing.moves)
    if letters.drawing_of(point) != drawing:
        return None
    return point


def figure(point: Point) -> Figure | None:
    """The figure of a position; None if the game has no figures.

    The figure of a game that is over says how it ended, and not whose turn it is.
    """
    rules: Any = point.board.rules
    if not hasattr(rules, "figure"):
        return None
    drawn: Figure = rules.figure(point.state, point.board.states[point.last_typed])
    if not point.is_over:
        return drawn
    notes = [note._replace(dice=()) for note in drawn.notes if not note.is_task]
    notes.append(Note(letters.status_of(point)))
    return drawn._replace(notes=tuple(notes), turn=None)


def board_svg(point: Point, *, style: str = svg.STYLE, has_notes: bool = True) -> str:
    """The picture in SVG, on request without what stands below the board.

    Without a *style* sheet the page has to bring `svg.STYLE`.
    """
    drawn = figure(point)
    if drawn is None:
        return svg.text_svg(letters.drawing_of(point).text, caption(point), style=style)
    canvas = svg.Canvas(drawn, point.board.rules.SIDES)
    return canvas.picture(drawn, caption(point), style=style, has_notes=has_notes)


def caption(point: Point) -> str:
    """The title of the picture of a board."""
    return f"{letters.title(point)}, after {texts.counted(point.moves, 'move')}: {letters.status_of(point)}"


def board_png(point: Point, zoom: float = SHARP, *, has_notes: bool = True) -> bytes:
    """The picture in PNG, as it looks in light surroundings. Raises Refused if resvg is not installed."""
    style = svg.fixed_style(point.board.rules.SIDES)
    return png(board_svg(point, style=style, has_notes=has_notes), zoom)
