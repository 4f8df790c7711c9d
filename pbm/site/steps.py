"""A game as a page steps through it: what stands on which cell after each turn, and how that is drawn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from games import Position, State
from games.figures import Figure, Piece, Place
from pbm.board.board import Board
from pbm.drawing import svg
from pbm.letters import turn_text

Cells = Mapping[str, str]
"""What stands on each cell that is not empty."""
Pile = tuple[str, float, float, float]
"""A piece: its colour, how far to the right and down from the middle of its cell it lies, and its radius, in pixels."""


def steps(board: Board) -> dict[str, Any]:
    """What a page needs to draw each position of a game, ready for JSON; nothing for a game without figures.

    ``cells`` has the place of each cell in the picture, in pixels; ``piles`` the pieces that stand on a cell, by its
    contents in a view; ``start`` these contents at the beginning; ``turns`` what each turn has changed of them, an
    empty text where nothing stands any more; ``dice`` the throw of each turn in a game with dice.
    """
    figure: Callable[[State], Figure] | None = getattr(board.rules, "figure", None)
    if figure is None:
        return {}
    seen = [_cells(state) for state in board.states]
    present = figure(board.state)
    placing = svg.placing(present)
    return {
        "cells": {name: [round(x, 1), round(y, 1)] for name, (x, y) in placing.places.items()},
        "piles": _piles(board, seen, figure, placing.scale),
        "start": seen[0],
        "turns": [_changes(before, after) for before, after in pairwise(seen)],
        "texts": [turn_text(turn) for turn in board.turns],
        "movers": [turn.userid for turn in board.turns],
        "dice": [list(turn.dice) for turn in board.turns] if any(turn.dice for turn in board.turns) else [],
    }


def _cells(state: State) -> Cells:
    cells: Cells = state.cells if isinstance(state, Position) else state.view()["cells"]
    return cells


def _changes(before: Cells, after: Cells) -> Cells:
    changed = {name: content for name, content in after.items() if before.get(name) != content}
    return changed | dict.fromkeys(before.keys() - after.keys(), "")


def _piles(
    board: Board, seen: Sequence[Cells], figure: Callable[[State], Figure], scale: float
) -> Mapping[str, Sequence[Pile]]:
    """How each of the contents that a cell has ever had is drawn: as in the last position that has it."""
    hues = svg.hues(board.rules.SIDES)
    piles: dict[str, list[Pile]] = {}
    for state, cells in zip(reversed(board.states), reversed(seen), strict=True):
        if not piles.keys() >= set(cells.values()):
            piles = _drawn(figure(state), cells, hues, scale) | piles
    return piles


def _drawn(figure: Figure, cells: Cells, hues: Sequence[str], scale: float) -> dict[str, list[Pile]]:
    """The contents of the cells of a position, as its figure draws them."""
    middles = {cell.name: cell.at for cell in figure.cells}
    standing: dict[str, list[Piece]] = {}
    for piece in figure.pieces:
        standing.setdefault(piece.cell, []).append(piece)
    chosen = {content: name for name, content in cells.items()}
    return {content: [*_relative(standing[name], middles[name], hues, scale)] for content, name in chosen.items()}


def _relative(pieces: Sequence[Piece], middle: Place, hues: Sequence[str], scale: float) -> Iterator[Pile]:
    for piece in pieces:
        right, up = piece.at[0] - middle[0], piece.at[1] - middle[1]
        yield hues[piece.side], round(scale * right, 1), round(-scale * up, 1), round(scale * piece.size, 1)
