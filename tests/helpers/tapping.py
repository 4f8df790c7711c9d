"""Turns that are put together by tapping, as docs/site.md says.

for touch in touches(state, "e1:3,d2@nn"):
    touch.cell or touch.button or touch.stepper
"""

import re
from typing import Any, NamedTuple

from games import Illegal
from games.tapping import NextTaps, next_taps


class Touch(NamedTuple):
    """A touch of a cell, of a button, or of the sign in front of a number (``-``) or behind it (``+``)."""

    text: str
    """The text of the turn after it."""
    cell: str = ""
    button: str = ""
    stepper: str = ""
    sign: str = ""


def choices(taps: NextTaps) -> list[Touch]:
    """All that can be touched."""
    found = []
    for tap in taps.taps:
        found += [Touch(tap.text.replace("*", cell), cell=cell) for cell in tap.cells]
        if not tap.cells:
            found.append(Touch(tap.text, button=tap.label))
    for stepper in taps.steppers:
        signs = (("-", stepper.less), ("+", stepper.more))
        found += [Touch(text, stepper=stepper.label, sign=sign) for sign, text in signs if text]
    return found


def is_legal(state: Any, text: str) -> bool:
    """Whether a text is a legal turn."""
    try:
        state.parse(text)
    except Illegal:
        return False
    return True


def touches(name: str, state: Any, turn: str) -> list[Touch]:
    """What one touches to put a turn together, given in canonical form. Raises LookupError if there is no way."""
    seen = {""}
    ways: list[tuple[str, list[Touch]]] = [("", [])]
    while ways:
        text, way = ways.pop()
        if text and is_legal(state, text) and state.parse(text) == turn:
            return way
        for touch in choices(next_taps(state, text)):
            if touch.text not in seen and _leads(name, touch.text, turn):
                seen.add(touch.text)
                ways.append((touch.text, [*way, touch]))
    raise LookupError(turn)


def _leads(name: str, text: str, turn: str) -> bool:
    """Whether a text can be the beginning of a turn, by the notation of its game."""
    if name == "symple":  # in any order
        return {*text.split(",")} <= {*turn.split(",")}
    if name == "papagra":
        return turn.replace("+", "").startswith(text)
    if name == "spora":
        return _leads_in_spora(text, turn)
    if name == "spiro":  # the piece that is chosen stands at the end, and can be left for another
        moved, _, chosen = text.rpartition(",")
        return f"{turn},".startswith(text if ":" in chosen else moved)
    return f"{turn},".startswith(f"{text},")


def _leads_in_spora(text: str, turn: str) -> bool:
    if turn.startswith("komi=") and text:  # it is stepped from 3 on
        komi, wanted = (int(part.removeprefix("komi=")) for part in (text, turn))
        return min(3, wanted) <= komi <= max(3, wanted)
    if "@" not in text + turn and "," in turn:  # the last turn
        return f"{turn},".startswith(f"{text},")
    drop, _, sowing = text.partition(",")
    whole_drop, _, whole_sowing = turn.partition(",")
    point, _, count = drop.partition(":")
    whole_point, _, whole_count = whole_drop.partition(":")
    if point != whole_point or int(count or 1) > int(whole_count or 1):
        return False
    if not sowing:
        return True
    if sowing.strip(".").endswith("@"):  # as many pieces are in hand at first as can be
        return drop == whole_drop and sowing.rstrip(".") == whole_sowing.partition("@")[0] + "@"
    return drop == whole_drop and re.fullmatch(sowing.replace(".", "[nesw]"), whole_sowing) is not None
