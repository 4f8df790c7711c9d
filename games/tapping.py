"""How a turn is put together on a page by tapping, cell by cell.

A turn that is tapped is a text at each step: a legal turn, or the beginning of one. The positions of a game can say how
such a text goes on, as ``next_taps(text)``, which returns `NextTaps`. A tap changes the text, and `next_taps` is asked
again. The rules stay where they are: a game reads the beginning of a turn as it reads a whole one.
"""

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from games import LETTERS, SKIP, Illegal, State

if TYPE_CHECKING:
    from collections.abc import Callable

FEW_TURNS_LISTED = 30
"""How many turns that begin alike are listed with the taps at most."""
MOST_MOVES_READ = 1000
"""How many moves are looked through for taps, in a game that does not say how its turns are tapped."""


class Tap(NamedTuple):
    """What a tap on one of some cells, or on a button, makes of the text of a turn."""

    text: str
    """What the text becomes. A ``*`` in it stands for the name of the cell that is tapped."""
    cells: tuple[str, ...] = ()
    """Where it can be tapped. Without cells it is a button next to the board."""
    label: str = ""
    """What stands on the cell if cells differ in what a tap does, such as ``jump``; what stands on a button."""
    is_quiet: bool = False
    """Whether its cells are not marked, because almost all cells can be tapped, or because it takes something back."""


class Stepper(NamedTuple):
    """A number of a turn, such as how many pieces are dropped, and the texts in which it is one less or one more."""

    label: str
    value: int
    less: str = ""
    """The text with one less; empty if that is not possible."""
    more: str = ""
    """The text with one more; empty if that is not possible."""


class TurnMark(NamedTuple):
    """Something that is drawn over the board to show what the turn does so far."""

    role: str
    """``piece`` for a piece that comes to the cells, ``gone`` for what goes away there, ``halo`` around cells that the
    hint speaks of, ``trail`` for a line from each cell to the next one."""
    cells: tuple[str, ...]
    label: str = ""
    """What stands on the piece, such as the number of its action."""


class NextTaps(NamedTuple):
    """How a turn that was begun goes on by tapping. Each cell is in one of the taps at most."""

    is_whole: bool
    """Whether the text is a legal turn as it stands."""
    taps: tuple[Tap, ...] = ()
    """What can be tapped next. The text of each is a legal turn, or leads to one by further taps."""
    hint: str = ""
    """What the turn does so far, or what can follow, in a sentence or two for the player."""
    marks: tuple[TurnMark, ...] = ()
    """What is drawn over the board, the lowest first."""
    steppers: tuple[Stepper, ...] = ()
    done: tuple[int, int] | None = None
    """How many parts of the turn are done, and how many it has, in a game where they can be counted."""
    dice: tuple[tuple[int, bool], ...] = ()
    """The dice of the turn, and whether each is used."""
    turns: tuple[str, ...] = ()
    """The legal turns that begin like this, if the game lists them and there are few."""


def next_taps(state: State, text: str) -> NextTaps:
    """How a text goes on that is a legal turn, or the beginning of one; the text is empty at first.

    Of a game that does not say it, the taps follow from its moves, if these are cells joined by commas. Raises Illegal
    if no legal turn begins like that.
    """
    if state.result():
        raise Illegal("The game is over.")
    own = cast("Callable[[str], NextTaps] | None", getattr(state, "next_taps", None))
    if own:
        return own(text.strip())
    return _taps_of_moves(state, text.strip())


def _taps_of_moves(state: State, text: str) -> NextTaps:
    """The taps that lead to some of the first moves: to their next cells, or to whole moves that have other parts."""
    begun = text.lower().split(",") if text else []
    cells: dict[str, None] = {}
    buttons: dict[str, None] = {}
    for move in islice(state.moves(), MOST_MOVES_READ):
        parts = move.split(",")
        if parts[: len(begun)] != begun or len(parts) == len(begun):
            continue
        if is_cell(parts[len(begun)]):
            cells[parts[len(begun)]] = None
        elif move != SKIP:
            buttons[move] = None
    taps = []
    if cells:
        longer = ",".join(begun + ["*"])
        taps.append(Tap(longer, tuple(cells)))
    if len(buttons) <= FEW_TURNS_LISTED:
        taps += [Tap(move, label=move) for move in buttons]
    is_whole = bool(text) and is_legal(state, text)
    if text and not is_whole and not taps:
        state.parse(text)  # says why not
    return NextTaps(is_whole, tuple(taps))


def is_cell(part: str) -> bool:
    """Whether a text has the form of a cell, such as ``c3``."""
    return part[:1] in LETTERS and part[1:].isdecimal()


def is_legal(state: State, text: str) -> bool:
    """Whether a text is a legal turn."""
    try:
        state.parse(text)
    except Illegal:
        return False
    return True
