"""SVG becomes PNG, with a font of our own, because a fresh machine has none.

What does it, resvg, comes with the extra `pictures`.
"""

from importlib.util import find_spec
from pathlib import Path

from pbm.refusals import Refused

FONT = Path(__file__).parent / "fonts" / "DejaVuSans-ASCII.ttf"
FAMILY = "DejaVu Sans"
EXTRA = "PNG is drawn by resvg-py, which is not installed: pip install '.[pictures]' brings it. SVG needs nothing."


def is_available() -> bool:
    """Whether pictures can be drawn here."""
    return find_spec("resvg_py") is not None


def png(svg: str, zoom: float) -> bytes:
    """A picture whose style sheet has no custom properties, in PNG, so many times as large as it says.

    Raises Refused where there is nothing to draw it with.
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
    """How many pixels wide a PNG is, as the header says that each begins with."""
    return int.from_bytes(image[16:20])
