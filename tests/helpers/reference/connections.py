"""What is connected on a board, for the references of the games, which know nothing of `games`.

``parts({1, 2, 4}, lambda n: {n - 1, n + 1})`` is ``[frozenset({1, 2}), frozenset({4})]``.
"""

from collections.abc import Callable, Iterable
from typing import Any


def connected(start: Any, near: Callable[[Any], Iterable[Any]]) -> frozenset[Any]:
    """A place, and all that is connected with it, where *near* gives what each place is connected with directly."""
    found, todo = {start}, [start]
    while todo:
        for place in near(todo.pop()):
            if place not in found:
                found.add(place)
                todo.append(place)
    return frozenset(found)


def parts(places: set[Any], near: Callable[[Any], set[Any]]) -> list[frozenset[Any]]:
    """The connected parts of a set of places, where *near* gives the places next to each."""
    found: list[frozenset[Any]] = []
    for place in sorted(places):
        if not any(place in part for part in found):
            found.append(connected(place, lambda one: near(one) & places))
    return found
