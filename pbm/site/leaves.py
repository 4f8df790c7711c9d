"""Long lists are told on several pages."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

ON_PAGE = 80
"""How many boards or players a page of a list has; the first page of boards has up to twice as many."""


class Leaf(NamedTuple):
    """A page of a list."""

    path: str
    items: Sequence[Any]
    """What stands on it: the numbers of boards, the last one first, or players, the best one first."""
    first: int
    """How many stand on the pages before it; of no meaning where the last one is numbered first."""
    before: str
    """The name of the page before it; empty for the first one, and so is the next for the last one."""
    after: str


def leaves(game: str, name: str, items: Sequence[Any], *, is_last_numbered_first: bool = False) -> list[Leaf]:
    """The pages of a list; an empty list has one.

    If new items come first, the pages are numbered from the last one, and the first one, which has no number, has more
    than the others: so what comes, or is one of the newest to go, changes no other page.
    """
    count = max(1, len(items) // ON_PAGE if is_last_numbered_first else -(-len(items) // ON_PAGE))
    others = range(count - 1, 0, -1) if is_last_numbered_first else range(2, count + 1)
    files = [f"{name}.html", *(f"{name}-{number}.html" for number in others)]
    first = len(items) - ON_PAGE * (count - 1) if is_last_numbered_first else ON_PAGE
    starts = [0, *range(first, first + ON_PAGE * (count - 1), ON_PAGE)]
    return [
        Leaf(f"{game}/{file}", items[start:end], start, before, after)
        for file, before, after, (start, end) in zip(
            files, ["", *files], [*files[1:], ""], pairwise([*starts, len(items)]), strict=False
        )
    ]
