"""A game as a page steps through it: the pictures of all positions, each as the parts that differ from those before."""

from math import ceil
from typing import Any

from pbm.board.board import Board
from pbm.drawing import boards, svg


def pictured(board: Board) -> tuple[str, dict[str, Any]]:
    """A board as it is now in SVG without a style sheet, and what a page needs to draw all positions, ready for JSON.

    The latter has ``sides``, the names of both by their colours; the ``shapes`` of all positions; and for each position
    one of the ``steps``: the ``height`` of its picture, the markup ``below`` the board, and those ``parts`` that are
    not as in the position before, by their numbers, each as the numbers of its shapes. It is nothing for a game
    without figures.
    """
    if not hasattr(board.rules, "figure"):
        return boards.board_svg(board.present, style=""), {}
    figures = [boards.figure(board.after(moves)) for moves in range(len(board.states))]
    canvas = svg.Canvas(figures[-1], board.rules.SIDES)
    shapes: dict[svg.Shape, int] = {}
    before: dict[int, list[svg.Shape]] = {}
    steps = []
    for figure in figures:
        parts = canvas.parts(figure)
        below, height = canvas.below(figure)
        changed = {
            number: parts.get(number, [])
            for number in sorted({*before, *parts})
            if before.get(number) != parts.get(number)
        }
        told = {number: [shapes.setdefault(shape, len(shapes)) for shape in part] for number, part in changed.items()}
        steps.append({"height": ceil(height), "below": below, "parts": told})
        before = parts
    sides = dict(zip(svg.hues(board.rules.SIDES), map(str.capitalize, board.rules.SIDES), strict=True))
    found = {"sides": sides, "shapes": [canvas.markup(shape) for shape in shapes], "steps": steps}
    return canvas.picture(figures[-1], boards.caption(board.present), style=""), found
