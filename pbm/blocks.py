"""Blocks: what a letter consists of. Each says what it looks like as text; HTML is made of the same blocks."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple, get_args

from pbm.texts import WIDTH, lines_of_turns, table, wrapped_text

COLUMN = 34
"""The widest a move may be in a list of moves before it is broken into lines."""
EIGHTHS = " ▁▂▃▄▅▆▇█"
WIDEST_TURN = 3
"""How many columns a turn takes at most in a curve."""
HEIGHT_OF_CURVE = 4
"""How many lines a curve takes."""


class Paragraph(NamedTuple):
    """Words that wrap, on one line or on several."""

    text: str


class Preformatted(NamedTuple):
    """Lines that need a fixed-pitch font and do not wrap."""

    text: str


class Table(NamedTuple):
    """Cells in columns."""

    rows: Sequence[Sequence[str]]
    """The rows of the table; the first one is the heading."""
    numbers: Sequence[str] = ()
    """The headings of columns that hold numbers."""
    repeated: Sequence[str] = ()
    """The headings of the columns that stand in each part of the text, if the table is too wide and is broken there."""

    @property
    def text(self) -> str:
        """The columns next to each other."""
        return table(self.rows, self.numbers, self.repeated)


class Rule(NamedTuple):
    """A line across the page. What it begins stands directly below it."""

    sign: str = "*"
    is_end: bool = False
    """Whether it ends something, and an empty line follows."""

    @property
    def text(self) -> str:
        """Sixty of its signs."""
        return self.sign * 60


class Moves(NamedTuple):
    """The moves of two players, by rounds."""

    players: Sequence[str]
    sides: Sequence[str]
    """The players with the names of their sides, such as ``alice (White)``."""
    rounds: Sequence[tuple[int, str, str]]
    """The number of each round that is listed, and its two moves; a move is empty if there was none."""

    @property
    def text(self) -> str:
        """A column for each player."""
        first_side, second_side = self.sides
        lines = [("Move", first_side, second_side)]
        for number, *moves in self.rounds:
            first_column, second_column = (lines_of_turns(move, COLUMN) or [""] for move in moves)
            label = f"{number}."
            for first, second in zip_longest(first_column, second_column, fillvalue=""):
                lines.append((label, first, second))
                label = ""  # of further lines of the same round
        return table(lines)


class Drawing(NamedTuple):
    """A board as its game draws it in text."""

    game: str
    text: str
    board: str = ""
    """The number of the board; empty if no such board is stored."""
    moves: int = 0
    """How many moves have led to this position."""
    height: int | None = None
    """How many of its lines are the board, if the others are a legend, which may be wider."""


class Curve(NamedTuple):
    """Chances to win in the course of a game."""

    caption: str
    """The line above the curve, such as ``How likely bob was to win:``."""
    chances: Sequence[float]
    """The chances to win, from 0 to 1."""

    @property
    def text(self) -> str:
        """The curve as lines of blocks."""
        labels = [""] * HEIGHT_OF_CURVE
        labels[0] = "100%"
        labels[-1] = "0%"
        lines = [self.caption, ""]
        for label, row in zip(labels, drawn_curve(self.chances), strict=True):
            lines.append(f"{label:>4} {row}".rstrip())
        return "\n".join(lines)


class Comment(NamedTuple):
    """What somebody wrote to others."""

    writer: str | None
    """The name of the writer; None if it is not known who has started a board with this comment."""
    words: str

    @property
    def said(self) -> str:
        """The words below the name of the writer."""
        return f"{self.writer or 'Challenger'} writes:\n\n{self.words}"

    @property
    def text(self) -> str:
        """The words and the name of the writer, below a rule."""
        return f"{Rule().text}\n{self.said}"


class NextCommand(NamedTuple):
    """The command that the reader will probably answer with."""

    text: str
    bare: str = ""
    """What a mail to the reply address says instead of the command, such as ``MOVE``; empty for nothing."""


Block = Paragraph | Preformatted | Table | Rule | Moves | Drawing | Curve | Comment | NextCommand
BLOCK_KINDS: dict[str, type[Block]] = {kind.__name__: kind for kind in get_args(Block)}
Content = str | Iterable[Block]
"""Blocks, or the text of a single paragraph."""


def drawn_curve(chances: Sequence[float]) -> list[str]:
    """A curve as lines of blocks, the highest line first; where there are more values than columns, their means."""
    widest = WIDTH - len("100% ")
    columns_of_turn = max(1, min(WIDEST_TURN, widest // len(chances)))
    columns = min(columns_of_turn * len(chances), widest)
    bounds = [column * len(chances) // columns for column in range(columns + 1)]
    # a turn has several columns, or a column several turns; at least one of them stands in each
    parts = [chances[low : max(high, low + 1)] for low, high in pairwise(bounds)]
    means = [sum(part) / len(part) for part in parts]
    steps = len(EIGHTHS) - 1
    heights = [round(chance * HEIGHT_OF_CURVE * steps) for chance in means]
    lines = []
    for row in reversed(range(HEIGHT_OF_CURVE)):
        filled = [max(0, min(steps, height - row * steps)) for height in heights]
        lines.append("".join(EIGHTHS[part] for part in filled))
    return lines


def blocks_of(content: Content) -> tuple[Block, ...]:
    """A text, or blocks, as blocks."""
    if isinstance(content, str):
        return (Paragraph(content),)
    return tuple(content)


def spaced(blocks: Sequence[Block]) -> Iterator[tuple[Block, str]]:
    """Each block with the line ends behind it: an empty line, but not at the end or below a rule that begins a part.

    A rule ends a comment, so that nothing below it reads as if its writer had said it.
    """
    parted: list[Block] = []
    for block in blocks:
        if parted and isinstance(parted[-1], Comment) and not isinstance(block, Rule):
            parted.append(Rule())
        parted.append(block)
    for number, block in enumerate(parted, 1):
        if number == len(parted):
            yield block, ""
        elif isinstance(block, Rule) and not block.is_end:
            yield block, "\n"
        else:
            yield block, "\n\n"


def text_of(blocks: Sequence[Block]) -> str:
    """Blocks as text."""
    return "".join([f"{block.text}{behind}" for block, behind in spaced(blocks)])


def to_json(blocks: Iterable[Block]) -> str:
    """Blocks as JSON, such as ``[["Paragraph", "Won by bob."], ["NextCommand", "spiro games", ""]]``.

    Fields are stored by their position, and a mail may wait in an outbox until a newer version of pbm reads it. So a
    field that is added to a kind of block comes last, and has a default.
    """
    stored = []
    for block in blocks:
        kind = type(block).__name__
        stored.append([kind] + list(block))
    return json.dumps(stored)


def from_json(text: str) -> tuple[Block, ...]:
    """The blocks in JSON that `to_json` has made, in this version of pbm or in an older one."""
    return tuple(BLOCK_KINDS[kind](*fields) for kind, *fields in json.loads(text))


def mailed(blocks: Sequence[Block]) -> str:
    """Blocks as the text of a mail: no line has more than 78 columns."""
    return f"{wrapped_text(text_of(blocks))}\n"
