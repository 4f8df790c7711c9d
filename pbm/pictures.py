"""Where the drawn boards stand in the text of a mail, for those who show them in colours."""

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


class Place(NamedTuple):
    """Lines of a text that are a drawing; the number of the first one, and that of the one behind the last."""

    first: int
    end: int
    changes: tuple[Span, ...] = ()


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
    for game, drawn, spans in drawings:
        start = f"\n{text}".find(f"\n{drawn}\n", at)
        if start >= 0:
            at = start + len(drawn)
            first = text.count("\n", 0, start)
            words += [game] * (not words)
            words.append(_written(Place(first, first + drawn.count("\n") + 1, spans)))
    return " ".join(words) or None


def read(stored: str | None) -> tuple[str, list[Place]]:
    """The game and the places of its drawings that were stored with a text."""
    game, *words = (stored or "").split() or [""]
    return game, [*map(_read, words)]


def drawings(text: str, stored: str | None) -> tuple[Drawing, ...]:
    """The drawings in a text, from what was stored of them."""
    lines = text.split("\n")
    game, places = read(stored)
    return tuple(Drawing(game, "\n".join(lines[first:end]), spans) for first, end, spans in places)


def _written(place: Place) -> str:
    spans = ",".join(".".join(map(str, span)) for span in place.changes)
    return f"{place.first}-{place.end}" + (f":{spans}" if spans else "")


def _read(word: str) -> Place:
    lines, _, spans = word.partition(":")
    first, _, end = lines.partition("-")
    return Place(int(first), int(end), tuple(_spans(spans)))


def _spans(text: str) -> Iterator[Span]:
    for span in filter(None, text.split(",")):
        line, first, end = map(int, span.split("."))
        yield line, first, end
