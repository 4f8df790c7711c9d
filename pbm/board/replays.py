"""Positions of boards that were replayed lately, so that a busy board is not replayed from the start for each move.

What is stored counts, and nothing here is trusted over it: positions are used only where the turns that led to them are
those that are stored, on a board with the same secret and the same options. Without this, a move by mail on a board of
40 turns computes half as much again.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from games import State
from pbm.store import BoardRow, TurnRow

MOST_KEPT = 100
"""How many boards are kept, those that were asked for last."""


class _Kept(NamedTuple):
    """A board as it was replayed."""

    secret: bytes
    options: str
    turns: Sequence[TurnRow]
    states: Sequence[State]


_kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()


def recalled(row: BoardRow, turns: Sequence[TurnRow]) -> Sequence[State]:
    """The positions at the start and after each of the first turns of a board; none if they are not known."""
    kept = _kept.get((row.game, row.board))
    if kept and (kept.secret, kept.options) == (row.secret, row.options) and kept.turns == turns[: len(kept.turns)]:
        return kept.states
    return ()


def remember(row: BoardRow, turns: Sequence[TurnRow], states: Sequence[State]) -> None:
    """Remember the positions of a board: at the start and after each of these turns."""
    _kept.pop((row.game, row.board), None)
    _kept[row.game, row.board] = _Kept(row.secret, row.options, [*turns], [*states])
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
