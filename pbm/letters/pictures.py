"""Where the drawn boards stand in the text of a mail."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

Span = tuple[int, int, int]
"""A part of a line: the number of the line in its picture, its first column, and the one behind it; from 0."""


class Drawing(NamedTuple):
    """A board as a game has drawn it."""

    game: str
    text: str
    changes: tuple[Span, ...] = ()
    """What the last turn has changed, where the picture itself does not mark it."""
    depicts: str = ""
    """The board, and after how many of its moves, such as ``101#14``; empty if no such board is stored."""


class Lines(NamedTuple):
    """Lines of a text that are a drawing; the number of the first one, and that of the one behind the last."""

    first: int
    end: int
    changes: tuple[Span, ...] = ()
    depicts: str = ""


def changes(pattern: str, now: str, before: str) -> tuple[Span, ...]:
    """What fits the pattern in a picture, and was not there in the picture before."""
    lines = zip(now.split("\n"), before.split("\n"), strict=False)
    return tuple(
        (number, *match.span())
        for number, (line, was) in enumerate(lines)
        if line != was
        for match in re.finditer(pattern, line)
        if was[match.start() : match.end()] != match[0]
    )


def placed(text: str, drawings: Iterable[Drawing]) -> str | None:
    """What is stored of the drawings of one game that stand in a text in this order; None if there are none."""
    words: list[str] = []
    at = 0
    for game, drawn, spans, depicts in drawings:
        start = f"\n{text}".find(f"\n{drawn}\n", at)
        if start >= 0:
            at = start + len(drawn)
            first = text.count("\n", 0, start)
            words += [game] * (not words)
            words.append(_written(Lines(first, first + drawn.count("\n") + 1, spans, depicts)))
    return " ".join(words) or None


def read(stored: str | None) -> tuple[str, list[Lines]]:
    """The game and the places of its drawings that were stored with a text."""
    game, *words = (stored or "").split() or [""]
    return game, [*map(_read, words)]


def drawings(text: str, stored: str | None) -> tuple[Drawing, ...]:
    """The drawings in a text, from what was stored of them."""
    lines = text.split("\n")
    game, places = read(stored)
    return tuple(Drawing(game, "\n".join(lines[first:end]), spans, depicts) for first, end, spans, depicts in places)


def _written(place: Lines) -> str:
    spans = ",".join(".".join(map(str, span)) for span in place.changes)
    board = f"@{place.depicts}" if place.depicts else ""
    return f"{place.first}-{place.end}{board}" + (f":{spans}" if spans else "")


def _read(word: str) -> Lines:
    place, _, spans = word.partition(":")
    lines, _, board = place.partition("@")
    first, _, end = lines.partition("-")
    return Lines(int(first), int(end), tuple(_spans(spans)), board)


def _spans(text: str) -> Iterator[Span]:
    for span in filter(None, text.split(",")):
        line, first, end = map(int, span.split("."))
        yield line, first, end
