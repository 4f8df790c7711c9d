"""The rules of a game in a few sentences for a stranger, each with a turn that shows it.

A game that has them offers them as ``LESSONS``. The pages of a site draw the position before each turn and the one
after it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import games
from games import Game, State

MOST_RULES = 3
"""How many rules are shown at most: a stranger reads no more before their first turn."""
LONGEST_RULE = 160
"""How many characters a rule has at most: it stands next to a small picture on a telephone."""


class Lesson(NamedTuple):
    """A rule, and a turn that shows it."""

    rule: str
    """A sentence."""
    options: str
    """Those of a small board, such as ``-size=5``."""
    position: Mapping[str, Any]
    """The position before the turn, as `setup` takes it."""
    turn: str


class Lessons(NamedTuple):
    """What a stranger has to know before their first turn."""

    rules: tuple[Lesson, ...]
    """At most `MOST_RULES`, the one that is needed first at the top. The last one says how the game is won."""
    tapping: str
    """How a turn is tapped on the page of a board, in a sentence or two."""


class LessonStates(NamedTuple):
    """The positions of a lesson."""

    before: State
    after: State


def lessons_of(name: str) -> Lessons | None:
    """The lessons of a game; None if it has none."""
    return cast("Lessons | None", getattr(games.load(name), "LESSONS", None))


def lesson_states(game: Game[Any], lesson: Lesson) -> LessonStates:
    """The position before the turn of a lesson, and the one after it. Raises Illegal if there are no such positions."""
    options = games.read_options(game, lesson.options.split())
    before = game.setup(lesson.position, **options)
    after = before.play(before.parse(lesson.turn))
    return LessonStates(before, after)
