"""Templates of the pages, which escape all text, and what they call: help texts, curves, data for scripts."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from html import escape
from math import ceil
from textwrap import dedent
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pbm import letters, texts
from pbm.language.help import SPACED
from pbm.levels import GUEST_LEVELS
from pbm.names import display_name, is_guest
from pbm.store import BoardRow

MOST_PLACES = 60
"""How many points a curve has at most."""
ITEM = re.compile(r"\n(?=\S| *(?:\d+\.|-) )")
"""What is between the items of a list, the further lines of which are indented."""
ROW = re.compile(r"\S+(?: \S+)* {2,}\S+(?: \S+)*(?:\n {4,}\S+(?: \S+)*)*")
"""A row of a table of two columns, with further lines of the second one."""


def _help(text: str, game: str) -> Markup:
    """A help text of a game. Its prose wraps; boards, examples and other tables keep their lines.

    Of a table of two columns, such as ``Aim        Fill the board``, each row is a paragraph.
    """
    blocks = []
    for block in re.split(r"\n{2,}", text.strip("\n")):
        heading, _, underline = block.partition("\n")
        rows = re.split(r"\n(?=\S)", dedent(block))
        if not underline.strip("-=") and (underline or heading.isupper()):
            blocks.append(f"<h2>{escape(heading.capitalize())}</h2>\n")
        elif all(ROW.fullmatch(row) for row in rows):
            for row in rows:
                name, gap, explanation = re.split("( {2,})", row, maxsplit=1)
                lines = explanation.replace("\n" + " " * len(name + gap), "\n")
                lines = re.sub(rf"\n(?!{game} )", " ", lines)  # commands keep their lines
                blocks.append(f'<p class="item"><b>{escape(name)}</b> {escape(lines)}</p>\n')
        elif block.startswith("    ") or re.search(SPACED, block):
            blocks.append(f'<pre class="text" tabindex="0">{escape(block)}</pre>\n')
        else:
            parts = ITEM.split(block) if "\n " in block else [block]
            start = '<p class="item">' if len(parts) > 1 else "<p>"
            for part in parts:
                unwrapped = " ".join(part.split())
                blocks.append(f"{start}{escape(unwrapped)}</p>\n")
    return Markup("".join(blocks))


def rating_curve(ratings: Sequence[int], title: str) -> Markup:
    """Ratings as a line, between the lowest and the highest one."""
    step = max(1, ceil(len(ratings) / MOST_PLACES))
    shown = ratings[::-1][::step][::-1]  # counted from the end, so that the present rating is among them
    lowest = min(shown, default=0)
    height = max(1, max(shown, default=0) - lowest)
    return line_chart([round(95 - 90 * (rating - lowest) / height) for rating in shown], title)


def line_chart(values: Sequence[int], title: str) -> Markup:
    """A line through points, each given as its distance from the top, 0 to 100; nothing if there are fewer than two."""
    if len(values) < 2:
        return Markup()
    path = "L".join(f"{column} {value}" for column, value in enumerate(values))
    box = f'viewBox="0 0 {len(values) - 1} 100" preserveAspectRatio="none" width="120" height="30"'
    return Markup(f'<svg class="curve" {box} role="img"><title>{escape(title)}</title><path d="M{path}"/></svg>')


def script(data: Any) -> Markup:
    """Data for a script as JSON in HTML: it neither begins nor ends an element or a comment."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def iso(moment: datetime) -> str:
    """A time as Atom writes it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def path_to_play(row: BoardRow) -> str:
    """The path of the page of a board, on which the user of a device plays without a token."""
    return f"{row.game}/{row.board}.html#me"


TEMPLATES = Environment(
    loader=PackageLoader("pbm.site"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    auto_reload=False,
)
"""The templates of all pages."""
TEMPLATES.filters |= {
    "status": letters.status,
    "display_name": display_name,
    "help": _help,
    "minutes": lambda moment: f"{moment:{texts.TIME_FORMAT}}",
    "turn_text": letters.turn_text,
    "curve": line_chart,
    "rating_curve": rating_curve,
    "iso": iso,
    "path_to_play": path_to_play,
    "quoted": partial(quote, safe="@+"),
}
TEMPLATES.tests["guest"] = is_guest
TEMPLATES.globals["levels"] = GUEST_LEVELS
