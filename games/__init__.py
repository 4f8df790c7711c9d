"""What a game is to the rest of the program, and how games are found by name.

A game is a module that fits `Game`; its positions fit `State`, and `Position` has what never differs in them. Text
comes in, canonical text and a new position go out. A game knows nothing of users, mail or storage, and throws no dice:
it says how many it needs, and is told how they fell. `games.promises` finds out whether a game keeps what it promises.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeGuard, TypeVar, cast

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from random import Random

_OWN = {module.name for module in iter_modules(__path__)} - {"boards", "figures", "lessons", "promises", "tapping"}
"""The games of this package: all of its modules but those that serve several games."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""The columns of boards: each cell, such as ``c3``, begins with one."""
SKIP = "--"
"""A skipped turn. Where no other move is legal, it is the only item of `State.moves`, and the server plays it."""

LONGEST_NOTATION = 68
"""How many columns the `NOTATION` of a game may have, so that it is one line of a mail."""

Value = bool | int | str | None
"""The value of an option: True or False for a flag, else a number or a word; None if another option leaves it open."""


Options = Mapping[str, Value]
"""All options of a game with their values."""


class Illegal(ValueError):
    """A move, an option or a position that the rules refuse. Its text is a sentence for the player."""


class Unloadable(Illegal):
    """A game of another package that cannot be loaded, which is refused as a move is. Its text says why."""

    status = 1
    """The exit status of a shell command that it ends."""


class Result(NamedTuple):
    """How a game ended."""

    winner: int | None
    """The side that won, as an index of SIDES; None for a draw. A `State.view` says ``draw`` for that."""


def higher(first: float, second: float) -> int | None:
    """The side with the higher number; None if they are equal."""
    return None if first == second else int(second > first)


Effects = Sequence[tuple[str, str, int]]
"""What a turn does: verb, noun and number, such as ``("captures", "stack", 10)``."""


class Option(NamedTuple):
    """An option of a game's challenge command."""

    name: str
    help: str
    values: range | tuple[str, ...] | None = None
    """The numbers or the words that it takes; None for a flag."""
    default: Value | Callable[[Options], Value] = False
    """The value of the option when it is not given; it may depend on the options before it."""
    excludes: tuple[str, ...] = ()
    """Options that may not be given together with this one."""

    @property
    def syntax(self) -> str:
        """The option as it is written, such as ``-pieces=n``."""
        if self.values is None:
            return f"-{self.name}"
        return f"-{self.name}={'n' if isinstance(self.values, range) else 'NAME'}"

    def read(self, text: str | None) -> Value:
        """The value that was written behind the ``=``; *text* is None where there was no ``=``.

        Raises Illegal, naming the values that can be given.
        """
        if self.values is None:
            if text is not None:
                raise Illegal(f"-{self.name} takes no value.")
            return True
        if isinstance(self.values, tuple):
            word = (text or "").lower()
            if word not in self.values:
                raise Illegal(f"{self.syntax} takes one of {', '.join(self.values)}.")
            return word
        number = int(text) if re.fullmatch(r"-?[0-9]{1,9}", text or "", re.ASCII) and text else None
        if number is None or number not in self.values:
            raise Illegal(f"{self.syntax} takes {_range_in_words(self.values)}.")
        return number


def _range_in_words(values: range) -> str:
    """The numbers of a range, such as `an odd number from 7 to 25` of ``range(7, 26, 2)``."""
    numbers = f"number from {values[0]} to {values[-1]}"
    if values.step == 1:
        return f"a whole {numbers}"
    if values.step > 2:
        return f"a whole {numbers} in steps of {values.step}"
    # steps of 2: all are odd or all are even, as the first one is
    if values[0] % 2:
        return f"an odd {numbers}"
    return f"an even {numbers}"


class Glyphs(NamedTuple):
    """Regular expressions that find pieces in the board as text, so that `pbm replay` can colour them.

    `glyphs` replaces those that are empty.
    """

    sides: tuple[str, str] = ("", "")
    """The pieces of each side, with those that the last turn has put there; usually the capital initials of the sides,
    where no letter is next to them."""
    latest: str = ""
    """The marks of the last turn with their pieces; usually such as ``(W)``, ``[W W]``, ``(W`` and ``W*``."""


class State(Protocol):
    """A position. It never changes: a move makes a new one."""

    @property
    def turn(self) -> int:
        """The side to move, as an index of SIDES; when the game is over, whose turn it would be."""

    @property
    def seats(self) -> tuple[int, int]:
        """The player of each side: 0 is the one who was named first. (0, 1), unless a rule of the game swaps sides."""

    @property
    def dice_needed(self) -> int:
        """How many dice are thrown for this turn: 0 in games without dice, and when the game is over."""

    def parse(self, text: str) -> str:
        """The move that a player wrote, in canonical form. Raises Illegal, and trusts nothing in *text*."""

    def moves(self) -> Iterator[str]:
        """The legal moves in canonical form, each once and as they are found; only SKIP if there is none."""

    @property
    def must_skip(self) -> bool:
        """Whether `moves` has only SKIP; this is asked after every move, and must not cost a whole list."""

    def random(self, rng: "Random") -> str:
        """One legal move, chosen by *rng*."""

    def play(self, move: str) -> Self:
        """The position after a move that `parse` or `moves` gave; dice, if it needs any, are still to be thrown."""

    def result(self) -> Result | None:
        """How the game ended; None while it goes on."""

    def view(self) -> dict[str, Any]:
        """Everything that can be seen of the position, ready for JSON.

        ``cells`` has what stands on each occupied cell, ``turn`` the side to move, and ``over`` whether the game has
        ended. ``winner`` is a side, ``draw``, or None while it goes on. ``scores`` has a number for each side, if there
        are scores. In a game with dice, ``dice`` has the dice of the player to move. A game can add more.
        """


class Position:
    """What most games have in common: sides are not swapped, there are no dice and no skips, a view has the usual keys.

    The `State` of a game adds this class to a NamedTuple of its fields, and says what its sides are called::

        class _Fields(NamedTuple):
            stones: tuple[int, int] = (0, 0)
            turn: int = 0

        class State(_Fields, Position):
            sides = SIDES

    It also defines `read`, `moves`, `play`, `result` and `cells`, and whatever else is different in the game.
    """

    __slots__ = ()
    sides: ClassVar[tuple[str, str]]
    """SIDES of the game."""

    if TYPE_CHECKING:

        @property
        def turn(self) -> int:
            """As in `State`."""

        @property
        def cells(self) -> Mapping[str, Any]:
            """What stands on each occupied cell, as a view shows it."""

        def read(self, text: str) -> str:
            """As `State.parse`, but the game goes on, and *text* has no blanks around it."""

        def moves(self) -> Iterator[str]:
            """As in `State`."""

        def result(self) -> Result | None:
            """As in `State`."""

        @property
        def seats(self) -> tuple[int, int]:
            """As in `State`."""

        @property
        def dice_needed(self) -> int:
            """As in `State`."""

        @property
        def must_skip(self) -> bool:
            """As in `State`."""

    else:  # plain values, which a game can replace by properties
        seats = (0, 1)
        dice_needed = 0
        must_skip = False

    @property
    def scores(self) -> tuple[float, ...]:
        """A number for each side; none in a game without scores."""
        return ()

    def parse(self, text: str) -> str:
        """The move that a player wrote, in canonical form. Raises Illegal."""
        if self.result():
            raise Illegal("The game is over.")
        return self.read(text.strip())

    def random(self, rng: "Random") -> str:
        """One of all legal moves."""
        return rng.choice(list(self.moves()))

    def view(self) -> dict[str, Any]:
        """What stands on the cells, and what every view has."""
        result = self.result()
        if result is None:
            winner = None
        elif result.winner is None:
            winner = "draw"
        else:
            winner = self.sides[result.winner]
        return {
            "cells": dict(self.cells),
            "turn": self.sides[self.turn],
            "over": result is not None,
            "winner": winner,
            "scores": dict(zip(self.sides, self.scores, strict=False)),
        }


def read_cells(view: Mapping[str, Any]) -> Mapping[str, Any]:
    """The cells of a view. Raises Illegal if it has none."""
    cells = view.get("cells")
    if not isinstance(cells, Mapping):
        raise Illegal('A position has "cells": what stands on each occupied cell, by the names of the cells.')
    return cells


def read_turn(view: Mapping[str, Any], sides: tuple[str, str]) -> int:
    """The side to move in a view, the first one if it does not say, as an index of the sides. Raises Illegal."""
    turn = view.get("turn", sides[0])
    if turn not in sides:
        raise Illegal(f"It cannot be the turn of {quoted(turn)}; the sides are {' and '.join(sides)}.")
    return sides.index(turn)


class DiceState(State, Protocol):
    """A position in which `dice_needed` is not 0."""

    @property
    def dice(self) -> tuple[int, ...]:
        """The dice of the player to move as they fell; empty until they are thrown."""

    def roll(self, dice: tuple[int, ...]) -> Self:
        """The position with these dice. Raises Illegal unless they are `dice_needed` numbers from 1 to 6."""


S = TypeVar("S", bound=State)


class Game(Protocol[S]):
    """A game: a module with these names. Its docstring is the rulebook in brief.

    It may have `GLYPHS`, too, if its pictures are not drawn as `glyphs` supposes. It may have `NOTATION`: how its moves
    are written, by two or three examples, in at most `LONGEST_NOTATION` columns. Every board of the game has the cells
    of these examples. It may also have ``figure(state, before)``, which takes what `draw` takes, and returns the shapes
    of the board for pictures, a `games.figures.Figure`. Without it, pictures show the board in text.

    If the command `swap` swaps sides, ``SWAP`` is True. Then `swap` is a move like any other: `State.parse` takes or
    refuses it, and `State.moves` lists it where it is legal. In other games the server refuses it.

    A game can offer robots a way to play at random to the end that is faster than `State.random` and `State.play`, for
    example on integers: ``playout(state, rng)``. It returns the result for the player who was named first: 1 for a win,
    0 for a loss, 0.5 for a draw. If it cuts the game short, it returns a guess from 0 to 1. The position has its dice
    and is not over; each turn is legal; the same *rng* plays the same game.

    A game can tell strangers its rules in a few sentences, each with a turn that shows it, as ``LESSONS``: a
    `games.lessons.Lessons`.

    A game can say in its own words what a turn does, as ``effects(before, after)``. It takes the positions before and
    after the turn, and returns `Effects`, the most important first. With these, an analysis explains why one turn was
    better than another.
    """

    SIDES: tuple[str, str]
    """What the two sides are called; the first one moves first."""

    OPTIONS: Sequence[Option]
    """The options of the challenge command."""

    @property
    def new(self) -> Callable[..., S]:
        """``new(**options)``: the position at the start; every option may be given by its name."""

    @property
    def setup(self) -> Callable[..., S]:
        """``setup(view, **options)``: the position that a `State.view` describes, without its history.

        Only ``cells`` must be there. Raises Illegal if there is no such position.
        """

    def draw(self, state: S, before: S | None = None) -> str:
        """The board for a fixed-pitch font, in lines of at most 78 columns; moves since *before* are marked.

        A `games.figures.BoardText` separates the legend from the board, which has larger letters in mails.
        """


def glyphs(game: Game[Any]) -> Glyphs:
    """How a game draws its pieces: its own `GLYPHS`, with the usual patterns for what these leave out."""
    own: Glyphs = getattr(game, "GLYPHS", Glyphs())
    first, second = (re.escape(side[:1].upper()) for side in game.SIDES)
    either = f"[{first}{second}]"
    usual = f"(?<![A-Za-z]){first}(?![A-Za-z])", f"(?<![A-Za-z]){second}(?![A-Za-z])"
    marked = rf"[(\[]{either}(?:(?: {either})*[)\]]|(?![A-Za-z]))|(?<![A-Za-z]){either}\*"
    return own._replace(sides=own.sides if any(own.sides) else usual, latest=own.latest or marked)


def notation(name: str) -> str:
    """How the moves of a game are written, in one line; if the game does not say so, which help does."""
    default = f"`help {name}` tells how moves are written"
    line: str = getattr(load(name), "NOTATION", default)
    return line


def quoted(text: object) -> str:
    """What somebody wrote, in quotation marks and cut to 32 characters, for a refusal."""
    shown = repr(text)
    return shown if len(shown) <= 32 else f"{shown[:28]}...{shown[0]}"


def nearest(word: str, known: Iterable[str], least: float = 0.65) -> str:
    """The known word that somebody probably meant by *word*; empty if none is similar enough.

    *least* is the least similarity: 1 is that of equal words, 0 that of words without a common letter.
    """
    return "".join(get_close_matches(word.lower(), known, 1, least))


def suggestion(word: str, known: Iterable[str], otherwise: str = ".") -> str:
    """The end of a sentence about an unknown word, such as `; did you mean open?`; *otherwise* if no word is near."""
    near = nearest(word, known)
    return f"; did you mean {near}?" if near else otherwise


def unknown(name: str) -> str:
    """The refusal of a name that no game has."""
    near = nearest(name, names())
    where = "a game stands in front of the board: " if name.isdecimal() else "there are "
    what = f"did you mean {near}?" if near else f"{where}{', '.join(names())}."
    return f"There is no game {quoted(name)}; {what}"


def needs_dice(state: State) -> TypeGuard[DiceState]:
    """Whether dice are thrown for this turn, so that the position has `dice` and `roll`."""
    return state.dice_needed > 0


def thrown(state: State, rng: "Random") -> State:
    """The position with its dice, thrown by *rng* if it needs any and has none yet."""
    if needs_dice(state) and not state.dice:
        return cast("State", state.roll(tuple(rng.randint(1, 6) for _ in range(state.dice_needed))))
    return state


@cache
def names() -> tuple[str, ...]:
    """The names of all games, sorted: the modules of this package, and the entry points ``pbm.games``."""
    return tuple(sorted(set(_OWN) | set(_entry_points())))


def exists(name: str) -> bool:
    """Whether there is a game of that name; nothing is imported."""
    return name in _OWN or name in _entry_points()


def load(name: str) -> Game[Any]:
    """The game of that name; no other is imported. Raises LookupError if there is none, and Unloadable."""
    if name in _OWN:
        return cast("Game[Any]", import_module(f"{__name__}.{name}"))
    entry = _entry_points()[name]
    try:
        return cast("Game[Any]", entry.load())
    except Exception as why:
        raise Unloadable(f"The package {package(name)} has a fault ({type(why).__name__}: {why}).") from why


def package(name: str) -> str | None:
    """The package that brings a game, if it is not one of pbm's own."""
    entry = None if name in _OWN else _entry_points().get(name)
    return entry.dist.name if entry and entry.dist else None


@cache
def _entry_points() -> Mapping[str, "EntryPoint"]:
    """The games that other packages bring. Finding them is slow, and done only when no game here has the name."""
    from importlib.metadata import entry_points  # 20 ms

    return {
        entry.name: entry for entry in entry_points(group="pbm.games") if re.fullmatch("[a-z][a-z0-9]*", entry.name)
    }


def such_as_option(name: str) -> str:
    """The end of a sentence that shows an option of a game, such as ``, such as -size=5``; empty if none has values."""
    examples = [f"-{option.name}={option.values[0]}" for option in load(name).OPTIONS if option.values]
    return f", such as {examples[0]}" if examples else ""


def find_option(game: Game[Any], word: str) -> Option:
    """The option that a word such as ``-PIECES=4`` names, in full or shortened. Raises Illegal if there is none."""
    name = word.removeprefix("-").partition("=")[0].lower()
    fits = [option for option in game.OPTIONS if option.name.startswith(name)]
    exact = [option for option in fits if option.name == name] or fits
    if not name or not exact:
        known = {option.name: option.syntax for option in game.OPTIONS}
        near = known.get(nearest(name, known))
        if near:
            raise Illegal(f"There is no option {quoted(word)}; did you mean {near}?")
        raise Illegal(f"There is no option {quoted(word)}; this game has {', '.join(known.values()) or 'none'}.")
    if len(exact) > 1:
        raise Illegal(f"{quoted(word)} can be {' or '.join(option.syntax for option in exact)}; write more of it.")
    return exact[0]


def read_options(game: Game[Any], words: Sequence[str]) -> dict[str, Value]:
    """All options of a game, from the words of a challenge such as ``-small`` and ``-PIECES=4``.

    A name may be shortened as long as it fits one option only. Raises Illegal, naming the word that is wrong.
    """
    written: dict[str, Value] = {}
    for word in words:
        option = find_option(game, word)
        if option.name in written:
            raise Illegal(f"-{option.name} is given twice.")
        _, equals, text = word.partition("=")
        written[option.name] = option.read(text if equals else None)
    for option in game.OPTIONS:
        for excluded in option.excludes:
            if option.name in written and excluded in written:
                raise Illegal(f"-{option.name} and -{excluded} exclude each other.")
    values: dict[str, Value] = {}
    for option in game.OPTIONS:  # in their order, for a default may depend on the options before it
        default = option.default(values) if callable(option.default) else option.default
        values[option.name] = written.get(option.name, default)
    return values
