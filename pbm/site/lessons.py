"""The rules of a game for a stranger, as pages show them: a few sentences, each with a small picture of a turn."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import games
from games.lessons import Lesson, lesson_states, lessons_of
from pbm.board.board import FAULTS
from pbm.drawing import svg, thumbnails


class RuleView(NamedTuple):
    """A rule with its picture."""

    sentence: str
    picture: str
    """The name of the picture in the folder of the game; empty if the game has no figures."""
    description: str
    """What the picture shows, in words."""


class LessonsView(NamedTuple):
    """The rules of a game, and how its turns are tapped."""

    rules: Sequence[RuleView]
    tapping: str


@cache
def lessons_view(game: str) -> LessonsView | None:
    """The rules of a game for a stranger; None if it has no lessons, or faulty ones.

    They are kept: to make them again takes .2 to .9 ms, which is 9 to 52 % more for the page of a short game.
    """
    with suppress(*FAULTS):  # the game can be of another package, and its boards are played without lessons, too
        lessons = lessons_of(game)
        if lessons is None:
            return None
        rules = [_rule_view(game, number, lesson) for number, lesson in enumerate(lessons.rules, 1)]
        return LessonsView(rules, lessons.tapping)
    return None


def picture_path(game: str, number: int) -> str:
    """The path of the picture of a lesson; they are counted from 1."""
    return f"{game}/{_file_name(number)}"


def lesson_picture(game: str, number: int) -> str:
    """The picture of a lesson as SVG; empty if the game has no such lesson, a faulty one, or no figures."""
    rules: Any = games.load(game)
    with suppress(*FAULTS):
        lessons = lessons_of(game)
        if lessons is None or number > len(lessons.rules) or not hasattr(rules, "figure"):
            return ""
        before, after = lesson_states(rules, lessons.rules[number - 1])
        return thumbnails.before_and_after(rules.figure(before, None), rules.figure(after, before), rules.SIDES)
    return ""


def _file_name(number: int) -> str:
    return f"lesson-{number}.svg"


def _rule_view(game: str, number: int, lesson: Lesson) -> RuleView:
    rules: Any = games.load(game)
    if not hasattr(rules, "figure"):
        return RuleView(lesson.rule, "", "")
    states = lesson_states(rules, lesson)
    before, after = (_standing(rules, state) for state in states)
    side = rules.SIDES[states.before.turn].capitalize()
    description = f"Before: {before} {side} plays {lesson.turn}. After: {after}"
    return RuleView(lesson.rule, _file_name(number), description)


def _standing(rules: Any, state: games.State) -> str:
    """What stands where, in words."""
    figure = rules.figure(state, None)
    return svg.description(figure._replace(latest=(), notes=()), rules.SIDES)
