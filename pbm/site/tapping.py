"""How a turn that is put together by tapping goes on, as the page of a board is told."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import games
from games import SKIP, Illegal, State
from games.figures import Figure
from games.tapping import NextTaps, Tap, next_taps
from pbm.board.board import Board
from pbm.board.plan_lines import ANY_MOVE
from pbm.drawing.svg import Canvas
from pbm.drawing.taps import drawn_over


class Drawn(NamedTuple):
    """The picture of the present position on a page."""

    figure: Figure
    canvas: Canvas


def tap_answer(board: Board, words: Sequence[str], drawn: Drawn | None, *, is_planned: bool) -> dict[str, Any]:
    """What a page can do with the text of a turn, ready for JSON. The text is the last of the *words*.

    Before it stand the turns of a plan that lead to its position, `ANY_MOVE` among them. The answer has ``error`` alone
    if one of these is not legal, or if no legal turn begins with the text. Otherwise it has the fields of `NextTaps`:
    ``whole`` and ``hint``, and, where there are any, ``taps``, ``steppers``, ``done``, ``dice`` and ``turns``. ``over``
    is what lies over the picture of the present position.
    """
    *turns, text = words
    over = ""
    state = board.state
    try:
        for number, turn in enumerate(turns, 1):
            if turn.lower() == ANY_MOVE:
                state = _after_any_turn(board, state)
                continue
            if drawn:
                over += _drawn_turn(drawn, state, turn, number)
            state = _after_turn(state, turn)
        taps = next_taps(state, text)
    except Illegal as why:
        return {"error": str(why)}
    if drawn:
        over += drawn_over(drawn.canvas, drawn.figure, taps, state.turn, is_planned=is_planned)
    return _as_json(taps, text) | {"over": over}


def _after_turn(state: State, turn: str) -> State:
    """The position after a turn, and after the skips that the rules make then. Its dice are not thrown."""
    state = state.play(state.parse(turn))
    while state.must_skip and not games.needs_dice(state):
        state = state.play(SKIP)
    return state


def _after_any_turn(board: Board, state: State) -> State:
    """A position with the other player to move, for an answer to any move before."""
    view = state.view() | {"turn": board.rules.SIDES[1 - state.turn]}
    view.pop("dice", None)
    after: State = board.rules.setup(view, **board.options)
    return after


def _drawn_turn(drawn: Drawn, state: State, turn: str, number: int) -> str:
    """A turn of a plan over the board: its pieces have its number."""
    marks = tuple(
        mark._replace(label=str(number)) for mark in next_taps(state, turn).marks if mark.role in {"piece", "gone"}
    )
    planned = NextTaps(is_whole=True, marks=marks)
    return drawn_over(drawn.canvas, drawn.figure, planned, state.turn, is_planned=True)


def _as_json(taps: NextTaps, text: str) -> dict[str, Any]:
    hint = taps.hint
    if not hint and taps.is_whole:
        hint = f"{text} is legal."
    lists = {
        "taps": [_tap(tap) for tap in taps.taps],
        "steppers": [stepper._asdict() for stepper in taps.steppers],
        "done": taps.done,
        "dice": taps.dice,
        "turns": taps.turns,
    }
    answer: dict[str, Any] = {"whole": taps.is_whole, "hint": hint}
    return answer | {name: value for name, value in lists.items() if value}


def _tap(tap: Tap) -> dict[str, Any]:
    """A tap without its fields that are empty. Its cells are one text, because there can be hundreds."""
    fields = {"text": tap.text, "cells": " ".join(tap.cells), "label": tap.label, "quiet": tap.is_quiet}
    return {name: value for name, value in fields.items() if value or name == "text"}
