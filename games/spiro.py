"""Spiro: a race out of a double spiral, with pins, blots and jumps over the wall between its two paths.

X and O each start with all pieces on a home cell, and the first to bring all of them off the board wins. Each die
of a turn is used for a step along the path, for a jump over a wall, or to bear a piece off the end of a path. A
step onto a single enemy pins it, a jump onto one sends it home, and two or more under an enemy's top piece block a
cell. A turn uses as many pips as can be used. A double counts four times, and allows two jumps instead of one.

The rules in full, with the notation, are in help/spiro.txt.
"""

import math
import re
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations
from typing import Any, NamedTuple, Self

from games import LETTERS, SKIP, Effects, Glyphs, Illegal, Option, Position, Result, quoted, read_cells, read_turn
from games.figures import (
    ROW,
    BoardText,
    Cell,
    Figure,
    Label,
    Note,
    Picture,
    Piece,
    Place,
    Strokes,
    Way,
    coordinates,
    pile,
)
from games.lessons import Lesson, Lessons
from games.tapping import FEW_TURNS_LISTED, NextTaps, Tap, TurnMark, is_legal

SIDES: tuple[str, str] = ("X", "O")
GLYPHS = Glyphs(sides=("X(?! to)", "O(?! to)"), latest=r"\([XO ]\)")


NOTATION = "f3:4 steps 4 cells, f3:+ jumps, f3-g1 goes there; a comma joins"
LESSONS = Lessons(
    rules=(
        Lesson(
            rule=(
                "A die moves a piece that many cells along its path, between the walls, and pins a single enemy where "
                "it lands."
            ),
            options="-small",
            position={"cells": {"f3": "X", "e1": "X", "d1": "O", "e4": "O"}, "dice": [4, 1]},
            turn="f3:4,e1:1",
        ),
        Lesson(
            rule=(
                "Once in a turn, twice with a double, a die can be a jump over a wall instead: a single enemy behind "
                "it goes home."
            ),
            options="-small",
            position={"cells": {"f3": "X", "e1": "X", "f4": "O", "e2": "O"}, "dice": [3, 1]},
            turn="f3:+,e1:1",
        ),
        Lesson(
            rule="Beyond the end of their path pieces leave the board, and whoever has none left first wins.",
            options="-small",
            position={"cells": {"b4": "X", "c4": "X", "e4": "O", "d2": "O"}, "dice": [2, 1]},
            turn="b4:x,c4:x",
        ),
    ),
    tapping="Tap a piece, then a label on the board: a die, jump or off.",
)
OPTIONS: Sequence[Option] = (
    Option("small", "the small board of 4 rows (32 cells), with 6 pieces each"),
    Option("no_inwards", "a jump may not bring a piece nearer to the beginning of a path"),
    Option(
        "pieces",
        "how many pieces each side has: 1 to 99, usually 12 (6 on the small board)",
        range(1, 100),
        lambda options: 6 if options["small"] else 12,
    ),
)

_PATHS = {  # X's path from its home cell outwards; O's is the same, turned by half a circle
    False: "g4 h4 i4 i3 h3 h2 g2 f2 e2 d2 d3 c3 c4 d4 d5 e5 e6 f6 g6 h6 i6 j6 k6 k5 l5 l4 m4 m3 l3 l2 k2 k1 j1",
    True: "e3 f3 g3 g2 f2 f1 e1 d1 c1 b1 b2 a2 a3 b3 b4 c4",
}
OFF = -1
"""The target of a piece that leaves the board."""
MOST_DICE = 4
"""How many dice a turn can have: those of a double."""
MOST_WAYS_LISTED = 300
"""How many ways through a turn are followed to list the few turns to which they lead."""
MOST_READINGS = 6
"""How many readings of what a player wrote are listed where it has several."""


class _Cell(NamedTuple):
    """Where a cell lies: its column and row, counted from 0, and whether its triangle points up."""

    column: int
    row: int
    points_up: bool

    @property
    def neighbours(self) -> tuple[tuple[int, int], ...]:
        """The places across its left, its right and its level edge, some of them off the board."""
        column, row, points_up = self
        return (column - 1, row), (column + 1, row), (column, row - 1 if points_up else row + 1)


class Board:
    """One of the two boards. A cell is known by its number: X's path from 0 on, then O's path."""

    def __init__(self, *, small: bool) -> None:
        """Lay out the small board, or else the medium one."""
        self.rows, self.columns = (4, 9) if small else (6, 13)
        path = _PATHS[small].split()
        turned = [f"{LETTERS[self.columns - 1 - _column(name)]}{self.rows - _row(name)}" for name in path]
        self.length = len(path)
        self.names = tuple(path + turned)
        self.number = {name: cell for cell, name in enumerate(self.names)}
        self.cells = tuple(self._place(name) for name in self.names)
        self.at = {(column, row): cell for cell, (column, row, _) in enumerate(self.cells)}
        self.jump = dict(self._jumps())
        """For each cell with another one behind its wall, the cell to which a jump leads."""

    def step(self, cell: int, pips: int) -> int:
        """The cell that many *pips* further along the path, or OFF."""
        return cell + pips if cell % self.length + pips < self.length else OFF

    def distance(self, cell: int) -> int:
        """How far along its path a cell lies; 0 for a home."""
        return cell % self.length

    def home(self, side: int) -> int:
        """The cell where a side's pieces start."""
        return side * self.length

    def neighbours(self, cell: int) -> Iterator[int]:
        """The cells that share an edge with this one."""
        return (self.at[place] for place in self.cells[cell].neighbours if place in self.at)

    def is_open(self, cell: int, place: tuple[int, int]) -> bool:
        """Whether there is no wall between a cell and the place across one of its edges."""
        if place in self.at:
            return abs(self.at[place] - cell) == 1 and self.at[place] // self.length == cell // self.length
        is_exit = cell % self.length == self.length - 1
        return is_exit and place == self.cells[cell].neighbours[2]

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Each row with its first and its last column."""
        for row in range(self.rows):
            columns = [cell.column for cell in self.cells if cell.row == row]
            yield row, min(columns), max(columns)

    def _place(self, name: str) -> _Cell:
        column, row = _column(name), _row(name)
        return _Cell(column, row, (column + row - self.rows // 2) % 2 == 0)

    def _jumps(self) -> Iterator[tuple[int, int]]:
        """The neighbours on different paths. The wall between the homes is never jumped."""
        for cell in range(2 * self.length):
            for other in self.neighbours(cell):
                if cell // self.length != other // self.length and (self.distance(cell) or self.distance(other)):
                    yield cell, other


def _column(name: str) -> int:
    return LETTERS.index(name[0])


def _row(name: str) -> int:
    return int(name[1:]) - 1


@lru_cache
def board(*, small: bool) -> Board:
    """The small board or the medium one, laid out once."""
    return Board(small=small)


class Use(NamedTuple):
    """One die used by one piece."""

    source: int
    target: int
    text: str
    """The pips of a step, ``+`` for a jump, ``x`` for a step that bears off."""


Outcome = tuple[tuple[int, ...], frozenset[int]]
"""The mover's free pieces, and the cells from which a single enemy was sent home."""


class Progress(NamedTuple):
    """How far a turn has come: all that can change before it ends. A piece under an enemy piece is not free."""

    pieces: tuple[int, ...]
    """The cells of the mover's free pieces, sorted."""
    blots: frozenset[int]
    """The cells from which a single enemy piece was sent home."""
    dice: tuple[int, ...]
    """The dice still to be used, four of them after a double."""
    jumps: int
    """How many jumps are left."""
    jumped: tuple[int, int] | None
    """Source and target of the first jump of a double, if it did not blot: a jump back has to blot."""

    @property
    def outcome(self) -> Outcome:
        """What distinguishes the positions that a turn can lead to."""
        return self.pieces, self.blots

    @property
    def pips(self) -> int:
        """The pips still to be used."""
        return sum(self.dice)


Uses = tuple[Use, ...]
Ways = dict[Progress, Uses]
"""How far a turn can come, each with one sequence of uses that leads there."""


class Turn:
    """A turn to be made in a position: what each die can do, and which ways through the turn are legal."""

    def __init__(self, state: "State") -> None:
        """Take the side to move and its dice from *state*."""
        self.board, self.no_inwards = state.board, state.no_inwards
        self.side, self.enemy = SIDES[state.turn], SIDES[1 - state.turn]
        self.enemy_home = state.board.home(1 - state.turn)
        self.stacks = state.stacks
        self.is_double = len(state.dice) == 2 and state.dice[0] == state.dice[1]
        stacks = list(enumerate(state.stacks))
        free = [cell for cell, stack in stacks if stack.endswith(self.side) for _ in range(stack.count(self.side))]
        self.blocked = {cell for cell, stack in stacks if len(stack) > 1 and stack.endswith(self.enemy)}
        """Where two or more pieces stand under an enemy piece; a pinned one counts."""
        times = 2 if self.is_double else 1
        self.start = Progress(tuple(free), frozenset(), state.dice * times, times, None)

    def is_pinned(self, cell: int) -> bool:
        """Whether a piece of the mover stands under an enemy piece."""
        return self.stacks[cell].startswith(self.side) and self.stacks[cell].endswith(self.enemy)

    def is_blot(self, progress: Progress, cell: int) -> bool:
        """Whether a jump to that cell finds a single enemy piece, with none of the mover's pieces on it."""
        return self.stacks[cell].startswith(self.enemy) and cell not in progress.blots and cell not in progress.pieces

    def step_objection(self, cell: int, pips: int) -> str:
        """Why a piece cannot step that far; empty if it can."""
        target = self.board.step(cell, pips)
        if target in self.blocked:
            return f"{self.board.names[target]} is blocked: two or more pieces stand there, {self.enemy} on top"
        return ""

    def jump_objection(self, progress: Progress, cell: int) -> str:
        """Why a piece cannot jump over the wall of its cell; empty if it can."""
        target = self.board.jump.get(cell)
        if target is None:
            return f"the wall of {self.board.names[cell]} is the edge of the board"
        name = self.board.names[target]
        if target == self.enemy_home:
            return f"{name} is the home of {self.enemy}, where {self.side} may not jump"
        if not progress.jumps:
            if self.is_double:
                return "there is no third jump in a turn"
            return "only a double allows two jumps in a turn"
        if target in self.blocked:
            return f"{name} is blocked: two or more pieces stand there, {self.enemy} on top"
        if self.no_inwards and self.board.distance(target) < self.board.distance(cell):
            return f"{name} lies further inwards, and this game is played with -no_inwards"
        if progress.jumped == (target, cell) and not self.is_blot(progress, target):
            return f"a jump back over the wall between {name} and {self.board.names[cell]} has to blot"
        return ""

    def uses(self, progress: Progress, cell: int) -> list[tuple[Use, Progress]]:
        """Each use of a die by a free piece on *cell*, with the turn after it."""
        pieces, blots, dice, jumps, jumped = progress
        uses = []
        lefts = list(_each(dice))
        for die, left in lefts:
            if (target := self.board.step(cell, die)) not in self.blocked:
                use = Use(cell, target, "x" if target == OFF else str(die))
                uses.append((use, Progress(_moved(pieces, cell, target), blots, left, jumps, jumped)))
        across = self.board.jump.get(cell)
        if jumps and across is not None and not self.jump_objection(progress, cell):
            jumped = None
            if self.is_blot(progress, across):
                blots |= {across}
            elif jumps > 1:
                jumped = cell, across
            use, after = Use(cell, across, "+"), _moved(pieces, cell, across)
            uses.extend((use, Progress(after, blots, left, jumps - 1, jumped)) for _, left in lefts)
        return uses

    def has_won(self, progress: Progress) -> bool:
        """Whether the mover's last piece is off; a pinned one is still in the game."""
        return not progress.pieces and not any(map(self.is_pinned, range(len(self.stacks))))

    def legal(self, goal: Outcome | None = None, fewest: int | None = None) -> dict[Outcome, Uses]:
        """The outcomes of all legal turns, each with one way to it; none if no die can be used.

        A turn is legal if it uses the greatest possible number of pips, or bears off the player's last piece. To look
        for one outcome alone, give it as *goal*, and the *fewest* pips that a turn can leave.
        """
        ways: Ways = {}
        level: Ways = {self.start: ()}
        while level := self._one_die_more(level, goal):
            ways |= level
        if fewest is None:
            fewest = min((progress.pips for progress in ways), default=0)
        full = (progress for progress in ways if progress.pips == fewest)
        wins = sorted((progress for progress in ways if self.has_won(progress)), key=lambda progress: progress.pips)
        legal: dict[Outcome, Uses] = {}
        for progress in chain(full, wins):
            legal.setdefault(progress.outcome, ways[progress])
        return legal

    def fullest(self, ways: Ways) -> tuple[int, Uses]:
        """The fewest pips that can be left when one of these ways goes on, and a way that leaves that many."""
        fewest: float = math.inf
        best: Uses = ()
        seen = set(ways)
        stack = list(ways.items())
        while stack and fewest:
            progress, uses = stack.pop()
            if progress.pips < fewest:
                fewest = progress.pips
                best = uses
            for after, longer in reversed(self._one_die_more({progress: uses}).items()):  # steps are tried first
                if after not in seen:
                    seen.add(after)
                    stack.append((after, longer))
        return int(fewest), best

    def few_endings(self, ways: Ways, fewest: int) -> list[Uses]:
        """The legal turns that begin in one of these ways, one for each outcome; none if there are too many to list.

        *fewest* is the number of pips that a turn can leave.
        """
        endings: dict[Outcome, Uses] = {}
        level = ways
        seen = 0
        while level:
            for progress, uses in level.items():
                if uses and (progress.pips == fewest or self.has_won(progress)):
                    endings.setdefault(progress.outcome, uses)
            seen += len(level)
            if len(endings) > FEW_TURNS_LISTED or seen > MOST_WAYS_LISTED:
                return []
            level = self._one_die_more(level)
        return list(endings.values())

    def can_end(self, progress: Progress, fewest: int, known: dict[Progress, bool]) -> bool:
        """Whether a turn that has come so far can go on to a legal one; what is *known* already is not looked at again.

        *fewest* is the number of pips that a turn can leave.
        """
        if progress not in known:
            known[progress] = progress.pips == fewest or self.has_won(progress)
            if not known[progress]:
                cells = dict.fromkeys(progress.pieces)
                after = (after for cell in cells for _, after in self.uses(progress, cell))
                known[progress] = any(self.can_end(longer, fewest, known) for longer in after)
        return known[progress]

    def _one_die_more(self, ways: Ways, goal: Outcome | None = None) -> Ways:
        """All ways that use one die more than these.

        With a goal, most of the ways that cannot reach it are left out, and the others keep their order: a double of
        60 pieces is then read in 5 ms instead of 150. The piece that moved last is tried first, so that all of its uses
        are written as one item.
        """
        longer: Ways = {}
        for progress, uses in ways.items():
            cells: list[int] = []
            if progress.dice:
                cells += dict.fromkeys(progress.pieces)
            if uses:
                cells.sort(key=uses[-1].target.__ne__)
            for cell in cells:
                for use, after in self.uses(progress, cell):
                    if after not in longer and (not goal or self.is_near(after, goal)):
                        longer[after] = (*uses, use)
        return longer

    def is_near(self, progress: Progress, goal: Outcome) -> bool:
        """Whether the dice left may be enough to bring the pieces to the cells of the goal."""
        misplaced = []
        targets = list(goal[0])
        for cell in progress.pieces:
            if cell in targets:
                targets.remove(cell)
            else:
                misplaced.append(cell)
        targets += [OFF] * (len(misplaced) - len(targets))
        thrown = frozenset(self.start.dice)
        needed = 0
        for target in targets:
            near = _dice_to(self.board, thrown, target)
            needed += min((near.get(cell, MOST_DICE + 1) for cell in misplaced), default=MOST_DICE + 1)
        return needed <= len(progress.dice)


@cache
def _dice_to(layout: Board, thrown: frozenset[int], target: int) -> Mapping[int, int]:
    """For each cell, how many dice of these numbers a piece needs from there to a target, a cell or OFF.

    Cells for which the dice of a turn are not enough are left out. Other pieces in the way may make it more.
    """
    near = {target: 0}
    for dice in range(1, MOST_DICE + 1):
        for cell in range(len(layout.names)):
            next_cells = {layout.step(cell, die) for die in thrown}
            if cell in layout.jump:
                next_cells.add(layout.jump[cell])
            if near.keys() & next_cells:
                near.setdefault(cell, dice)
    return near


def _each(dice: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each number among the dice, with the dice that are left after one of that number is used."""
    for die in dict.fromkeys(dice):
        used = dice.index(die)
        yield die, dice[:used] + dice[used + 1 :]


def _moved(pieces: tuple[int, ...], source: int, target: int) -> tuple[int, ...]:
    left = list(pieces)
    left.remove(source)
    if target != OFF:
        insort(left, target)
    return tuple(left)


class _Fields(NamedTuple):
    board: Board
    stacks: tuple[str, ...]
    """The pieces on each cell, from bottom to top: ``OX`` is an O pinned by an X."""
    pieces: int
    """How many each side started with."""
    no_inwards: bool = False
    turn: int = 0
    dice: tuple[int, ...] = ()
    """The dice as they fell: a double is two numbers. Empty until they are thrown."""
    is_first: bool = False
    """Whether this is X's first turn, which has one die."""


class State(_Fields, Position):
    """A position, with the dice of the player to move."""

    __slots__ = ()
    sides = SIDES

    @property
    def dice_needed(self) -> int:
        """One die for X's first turn, two for every other."""
        if self.result():
            return 0
        if self.is_first:
            return 1
        return 2

    def roll(self, dice: tuple[int, ...]) -> Self:
        """The position with these dice. Raises Illegal."""
        needed = self.dice_needed
        if not needed:
            raise Illegal("The game is over; no dice are thrown.")
        if len(dice) != needed or not all(type(die) is int and 1 <= die <= 6 for die in dice):
            wanted = "one die" if needed == 1 else "two dice"
            raise Illegal(f"This turn takes {wanted}, from 1 to 6.")
        return self._replace(dice=dice)

    def read(self, text: str) -> str:
        """The turn that a player wrote, with every use of a die spelled out. Raises Illegal."""
        turn = Turn(self)
        fewest, example = turn.fullest({turn.start: ()})
        if text == SKIP:
            if not example:
                return SKIP
            raise Illegal(f"A turn is not skipped while a die can be used: {_text(example, self.board)} is legal.")
        items = _read(text, self.board)
        if not example:
            raise Illegal(f"None of the dice ({_listed(self.dice)}) can be used, so this turn is skipped: {SKIP}.")
        ways = _follow(turn, items)
        outcomes = dict.fromkeys(progress.outcome for progress in ways)
        readings = []
        for outcome in outcomes:
            if uses := turn.legal(outcome, fewest).get(outcome):
                readings.append(_text(uses, self.board))
        if not readings:
            used = turn.start.pips - min(progress.pips for progress in ways)
            most = turn.start.pips - fewest
            left, longer = turn.fullest(ways)
            full = longer if left == fewest else example
            raise Illegal(
                f"{text[:80]} uses {used} of the {_counted(most)} that can be used, and all of them must be; "
                f"{_text(full, self.board)} does."
            )
        if len(readings) > 1:
            listed = " or ".join(sorted(readings)[:MOST_READINGS])
            if len(readings) > MOST_READINGS:
                listed += " or others"
            raise Illegal(f"{text[:80]} can be {listed}, which lead to different positions; write one of these.")
        return readings[0]

    def next_taps(self, text: str) -> NextTaps:
        """How a turn goes on: a tap chooses a piece, and then where it goes.

        The beginning of a turn may end with the cell of a piece that is chosen, such as ``g4:5,c3``, or with a comma if
        none is. Otherwise the piece that has moved last is chosen.
        """
        if not self.dice:
            return _taps_without_dice(self, text)
        turn = Turn(self)
        fewest, example = turn.fullest({turn.start: ()})
        if not example:
            raise Illegal("None of the dice can be used, so this turn is skipped.")
        begun = _read_beginning(text, self.board)
        items = _read(begun.moves, self.board) if begun.moves else ()
        ways = _follow(turn, items)
        known: dict[Progress, bool] = {}
        ways = {progress: uses for progress, uses in ways.items() if turn.can_end(progress, fewest, known)}
        if not ways:
            self.read(begun.moves)  # says why not
        chosen = begun.chosen
        if begun.is_last_chosen:
            chosen = next(iter(ways.values()))[-1].target
        uses = _uses_to_tap(turn, ways, fewest, known)
        if begun.chosen is not None and begun.chosen not in uses:
            if begun.chosen not in turn.start.pieces:
                raise Illegal(_no_piece(turn, begun.chosen))
            raise Illegal(f"The piece on {self.board.names[begun.chosen]} cannot be moved now.")
        is_whole = bool(text) and is_legal(self, text)
        instead = ""
        if begun.is_last_chosen:
            instead = _text_with_piece_below(turn, begun.moves, chosen, fewest, known)
        used = next(iter(ways.values()))
        return NextTaps(
            is_whole,
            taps=tuple(_taps_of_pieces(turn, begun, chosen, uses, instead)),
            hint=self._hint(turn, chosen, uses, is_whole=is_whole),
            marks=tuple(_marks_of_uses(used, chosen, self.board)),
            dice=tuple(_dice_used(turn, ways)),
            turns=tuple(_text(ending, self.board) for ending in turn.few_endings(ways, fewest)),
        )

    def _hint(self, turn: Turn, chosen: int | None, uses: Mapping[int, Sequence[Use]], *, is_whole: bool) -> str:
        """What can be tapped next."""
        if is_whole:
            return "The turn is complete."
        if chosen in uses and chosen is not None:
            hint = f"Tap a label to say where the piece on {self.board.names[chosen]} goes, or tap another piece."
            hides_piece = any(use.target in uses for use in uses[chosen])
            if hides_piece:
                hint += " A label tapped twice chooses the piece below it."
            return hint
        return "Tap a piece to move it."

    def moves(self) -> Iterator[str]:
        """Every position that a legal turn leads to, as one way of writing that turn."""
        if not self.result():
            yield from [_text(uses, self.board) for uses in Turn(self).legal().values()] or [SKIP]

    def play(self, move: str) -> Self:
        """The position after a turn; the dice of the next player are still to be thrown."""
        stacks = list(self.stacks)
        enemy = SIDES[1 - self.turn]
        items = [] if move == SKIP else move.split(",")
        for item in items:
            name, *uses = item.split(":")
            cell = self.board.number[name]
            for use in uses:
                piece = stacks[cell][-1]
                stacks[cell] = stacks[cell][:-1]
                if use == "x":
                    target = OFF
                elif use == "+":
                    target = self.board.jump[cell]
                else:
                    target = self.board.step(cell, int(use))
                if target == OFF:
                    continue
                if use == "+" and stacks[target] == enemy:
                    stacks[target] = ""
                    stacks[self.board.home(1 - self.turn)] += enemy
                stacks[target] += piece
                cell = target
        return self._replace(stacks=tuple(stacks), turn=1 - self.turn, dice=(), is_first=False)

    @property
    def must_skip(self) -> bool:
        """Whether no piece can use any of the dice."""
        turn = Turn(self)
        return not self.result() and not any(turn.uses(turn.start, cell) for cell in set(turn.start.pieces))

    def result(self) -> Result | None:
        """A side with no piece left, on the board or at home, has won."""
        standing = "".join(self.stacks)
        for side in (1 - self.turn, self.turn):
            if SIDES[side] not in standing:
                return Result(side)
        return None

    @property
    def cells(self) -> dict[str, str]:
        """The stacks from bottom to top."""
        return {name: stack for name, stack in zip(self.board.names, self.stacks, strict=True) if stack}

    @property
    def scores(self) -> tuple[int, int]:
        """How many pieces each side has borne off."""
        standing = "".join(self.stacks)
        return self.pieces - standing.count(SIDES[0]), self.pieces - standing.count(SIDES[1])

    def pips(self, side: int) -> int:
        """How many pips a side needs to step off the board with all its pieces, each along the path it stands on."""
        board = self.board
        return sum(
            stack.count(SIDES[side]) * (board.length - board.distance(cell))
            for cell, stack in enumerate(self.stacks)
            if stack
        )

    def view(self) -> dict[str, Any]:
        """What every view has, and the dice."""
        return {**super().view(), "dice": [] if self.result() else list(self.dice)}


def new(*, small: bool = False, no_inwards: bool = False, pieces: int = 12) -> State:
    """All pieces at home, and X to throw one die."""
    layout = board(small=small)
    stacks = [""] * len(layout.names)
    for side, piece in enumerate(SIDES):
        stacks[layout.home(side)] = piece * pieces
    return State(layout, tuple(stacks), pieces, no_inwards, is_first=True)


def setup(view: Mapping[str, Any], **options: Any) -> State:
    """The position with the view's cells, turn and dice. Raises Illegal.

    If X is to move on the start position, it is their first turn.
    """
    start = new(**options)
    stacks = [""] * len(start.stacks)
    for name, stack in read_cells(view).items():
        if name not in start.board.number:
            raise Illegal(f"There is no cell {quoted(name)} on this board.")
        if not isinstance(stack, str) or not re.fullmatch("X?O+|O?X+", stack):
            raise Illegal(
                f"{quoted(stack)} cannot stand on {name}: a stack has one colour, but for one piece under the others."
            )
        cell = start.board.number[name]
        if any(cell == start.board.home(1 - side) and piece in stack for side, piece in enumerate(SIDES)):
            raise Illegal(f"{quoted(stack)} cannot stand on {name}, the home of the other side.")
        stacks[cell] = stack
    turn = read_turn(view, SIDES)
    dice = tuple(view["dice"]) if isinstance(view.get("dice"), list) else ()
    is_first = tuple(stacks) == start.stacks and turn == 0 and (view.get("moves", 2) == 0 or len(dice) == 1)
    state = start._replace(stacks=tuple(stacks), turn=turn, is_first=is_first)
    if dice and state.dice_needed:
        return state.roll(dice)
    return state


# Notation


class _Link(NamedTuple):
    """A part of an item that moves the piece on, such as ``:4``, ``:+`` or ``-g1``."""

    text: str
    steps: bool = True
    """Whether it can have steps; if not, it is exactly one jump."""
    jumps: bool = True
    target: int | None = None
    pips: int | None = None

    def is_done(self, cell: int, pips: int) -> bool:
        """Whether a piece that reached a cell with that many *pips* has done what the link says."""
        return (self.target is None or cell == self.target) and (self.pips is None or pips == self.pips)


class _Item(NamedTuple):
    """A piece to be moved: the cell it stands on, and where it goes from there."""

    cell: int
    links: tuple[_Link, ...]


_ITEM = r"(?:(?P<times>[0-9]{1,4})x)?(?P<cell>[a-z][0-9]{1,3})(?P<chain>(?:[-:](?:[a-z][0-9]{1,3}|x|\+|[0-9]{1,4}))*)"


def _read(text: str, layout: Board) -> Iterator[_Item]:
    """The items of a turn in the order in which they are played, each as often as it is repeated."""
    items = []
    for part in map(str.strip, text.split(",")):
        match = None
        if part.isascii():  # the Kelvin sign would become a k
            match = re.fullmatch(_ITEM, part.lower())
        if not match:
            raise Illegal(
                f"Cannot read {quoted(part)}; write a cell and where its piece goes, such as f3-g1, f3:4, f3:+ or f3:x."
            )
        name = match["cell"]
        times = int(match["times"] or 1)
        cell = _read_cell(name, layout)
        if not match["chain"]:
            raise Illegal(
                f"{quoted(part)} does not say where the piece goes: {name}-CELL, {name}:PIPS, {name}:+ or {name}:x."
            )
        if not times:
            raise Illegal(f"{quoted(part)} moves no piece at all; the number in front of the x is 1 or more.")
        links = tuple(_read_link(link, part, layout) for link in re.findall("[-:][^-:]+", match["chain"]))
        items.append((times, _Item(cell, links)))
    return (item for times, item in items for _ in range(times))


def _read_link(text: str, part: str, layout: Board) -> _Link:
    mark, goal = text[0], text[1:]
    if goal == "+":
        return _Link(text, steps=False)
    if goal == "x":
        return _Link(text, jumps=mark == "-", target=OFF)
    if goal.isdigit() and mark == ":":
        return _Link(text, jumps=False, pips=int(goal))
    if goal[0].isalpha() and mark == "-":
        return _Link(text, target=_read_cell(goal, layout))
    raise Illegal(
        f"Cannot read {quoted(part)}; a cell comes after a hyphen (-g1), a number of pips after a colon (:4)."
    )


def _read_cell(name: str, layout: Board) -> int:
    if name in layout.number:
        return layout.number[name]
    row = name[1:]
    columns = [cell[0] for cell in layout.names if cell[1:] == row]
    if not columns:
        raise Illegal(f"There is no cell {name} on this board; its rows are 1 to {layout.rows}.")
    raise Illegal(f"There is no cell {name} on this board; row {row} goes from {min(columns)} to {max(columns)}.")


class _Beginning(NamedTuple):
    """The beginning of a turn that is put together by tapping."""

    moves: str
    """The items of which it is made so far, without a piece that is only chosen."""
    chosen: int | None
    """The cell of the piece that was chosen by a tap, if one was."""
    is_last_chosen: bool
    """Whether the piece that has moved last is chosen."""


def _read_beginning(text: str, layout: Board) -> _Beginning:
    """Take off the cell or the comma with which the beginning of a turn may end. Raises Illegal."""
    moves, _, last = text.rpartition(",")
    last = last.strip()
    if not last:
        return _Beginning(moves, None, is_last_chosen=False)
    if re.fullmatch("[a-z][0-9]{1,3}", last, re.ASCII | re.IGNORECASE):
        return _Beginning(moves, _read_cell(last.lower(), layout), is_last_chosen=False)
    return _Beginning(text, None, is_last_chosen=True)


Placed = dict[tuple[Progress, int], Uses]
"""Ways of a turn, each with the cell on which the piece that moved last then stands."""


def _follow(turn: Turn, items: Iterable[_Item]) -> Ways:
    """All ways of playing these items, whether or not they are a whole turn."""
    ways: Ways = {turn.start: ()}
    for item in items:
        placed = {(progress, item.cell): uses for progress, uses in ways.items() if item.cell in progress.pieces}
        if not placed:
            raise Illegal(_no_piece(turn, item.cell))
        for link in item.links:
            moved: Placed = {}
            for (progress, cell), uses in placed.items():
                for end, more in _by_link(turn, link, progress, cell).items():
                    moved.setdefault(end, uses + more)
            if not moved:
                raise Illegal(_obstacle(turn, link, *next(iter(placed))))
            placed = moved
        ways = {progress: uses for (progress, _), uses in placed.items()}
    return ways


def _by_link(turn: Turn, link: _Link, start: Progress, source: int) -> Placed:
    """All ways in which the piece on the cell *source* can do what one link says."""
    done: Placed = {}
    level: Placed = {(start, source): ()}
    while level:
        longer: Placed = {}
        for (progress, cell), uses in level.items():
            if cell == OFF:
                continue
            for use, after in turn.uses(progress, cell):
                may_use = link.jumps if use.text == "+" else link.steps
                if may_use:
                    longer.setdefault((after, use.target), (*uses, use))
        for (progress, cell), uses in longer.items():
            if link.is_done(cell, start.pips - progress.pips):
                done.setdefault((progress, cell), uses)
        level = longer if link.steps else {}
    return done


def _no_piece(turn: Turn, cell: int) -> str:
    """Why there is no piece on *cell* that the player could move."""
    name = turn.board.names[cell]
    if turn.is_pinned(cell):
        return f"The piece of {turn.side} on {name} is pinned under {turn.enemy} and cannot move."
    if cell in turn.start.pieces:
        return f"There is no piece of {turn.side} left on {name} by then."
    return f"There is no piece of {turn.side} on {name}."


def _obstacle(turn: Turn, link: _Link, progress: Progress, cell: int) -> str:
    """Why the piece on a cell cannot do what the link says."""
    if cell == OFF:
        return f"The piece has left the board, so {link.text} cannot follow."
    name = turn.board.names[cell]
    left = _listed(progress.dice)
    if not progress.dice:
        return f"There is no die left for {link.text}; the dice of this turn are {_listed(turn.start.dice)}."
    if not link.steps:
        return f"The piece on {name} cannot jump: {turn.jump_objection(progress, cell)}."
    if link.pips is not None:
        sums = {sum(used) for n in range(len(progress.dice)) for used in combinations(progress.dice, n + 1)}
        if link.pips not in sums:
            return f"The piece on {name} cannot step {link.pips}: no die left ({left}) makes that, and no sum of them."
        goal = f"step {link.pips}"
    elif link.target is None or link.target == OFF:
        goal = "leave the board"
    else:
        goal = f"get to {turn.board.names[link.target]}"
    objections = _objections(turn, link, progress, cell) or [_out_of_reach(turn, link, cell)]
    why = "; ".join(objections)
    if why:
        why = f": {why}"
    return f"The piece on {name} cannot {goal} with the dice left ({left}){why}."


def _objections(turn: Turn, link: _Link, progress: Progress, cell: int) -> list[str]:
    """What is in the way of a piece that would do what a link says with as few dice, and then jumps, as possible."""
    ways = sorted(_imagined(turn, link, progress, cell), key=lambda way: way[:2])
    whys = [why for dice, jumps, why in ways if (dice, jumps) == ways[0][:2]]
    return list(dict.fromkeys(whys))


def _imagined(turn: Turn, link: _Link, start: Progress, source: int) -> Iterator[tuple[int, int, str]]:
    """All ways from the cell *source* to do what a link says, whatever is in the way.

    Of each way: its number of dice, its number of jumps, and why it is not possible. That is the objection to its last
    step or jump, or else the first objection.
    """
    level: list[tuple[Progress, int, int, str]] = [(start, source, 0, "")]
    while level:
        longer = []
        for progress, cell, jumps, first in level:
            across = turn.board.jump.get(cell)
            for die, left in _each(progress.dice):
                targets = [(turn.board.step(cell, die), 0, turn.step_objection(cell, die))]
                if link.jumps and across is not None:
                    targets.append((across, 1, turn.jump_objection(progress, cell)))
                for target, jump, why in targets:
                    jumped = progress.jumped
                    if jump and not turn.is_blot(progress, target):
                        jumped = cell, target
                    after = progress._replace(
                        pieces=_moved(progress.pieces, cell, target),
                        dice=left,
                        jumps=max(0, progress.jumps - jump),
                        jumped=jumped,
                    )
                    if link.is_done(target, start.pips - after.pips):
                        yield len(start.dice) - len(left), jumps + jump, why or first
                    elif target != OFF:
                        longer.append((after, target, jumps + jump, first or why))
        level = longer


def _out_of_reach(turn: Turn, link: _Link, cell: int) -> str:
    """Why a link would not be possible even if nothing were in the way; empty if the dice are simply too low."""
    board = turn.board
    if link.pips is not None:
        return "it would leave the board before the last of them"
    if link.target == OFF or link.target is None:
        return ""
    is_same_path = link.target // board.length == cell // board.length
    if is_same_path and link.target < cell:
        return f"{board.names[link.target]} lies behind it, and a step never leads backwards"
    if not is_same_path and board.distance(cell) == board.distance(link.target) == 0:
        return "the wall between the homes is never jumped"
    if link.target == cell:
        return "it stands there already"
    return f"{board.names[link.target]} is out of reach"


def _text(uses: Uses, layout: Board) -> str:
    """A turn in canonical form: consecutive uses by one piece are one item."""
    parts = []
    moved_to = OFF
    for use in uses:
        if use.source != moved_to:
            parts.append(f",{layout.names[use.source]}")
        parts.append(f":{use.text}")
        moved_to = use.target
    return "".join(parts)[1:]


def _listed(dice: Iterable[int]) -> str:
    return ", ".join(map(str, dice))


# Tapping


def _taps_without_dice(state: State, text: str) -> NextTaps:
    """The taps of a turn that is planned before its dice are known: from a cell to any other, such as ``f3-g1``."""
    begun = _read_beginning(text, state.board)
    marks: list[TurnMark] = []
    items = _read(begun.moves, state.board) if begun.moves else []
    for item in items:
        way = [state.board.names[item.cell]]
        for link in item.links:
            if link.target is not None and link.target != OFF:
                way.append(state.board.names[link.target])
        marks.append(TurnMark("trail", tuple(way)))
        marks.append(TurnMark("piece", (way[-1],)))
    before = f"{begun.moves}," if begun.moves else ""
    if begun.chosen is None:
        taps = Tap(f"{before}*", state.board.names, is_quiet=True)
        hint = "The dice are not known yet: tap a piece, then where it goes."
        return NextTaps(bool(text), (taps,), hint, tuple(marks))
    others = tuple(name for cell, name in enumerate(state.board.names) if cell != begun.chosen)
    chosen = state.board.names[begun.chosen]
    marks.append(TurnMark("halo", (chosen,)))
    return NextTaps(
        is_whole=False,
        taps=(Tap(f"{text}-*", others, is_quiet=True), Tap(begun.moves, (chosen,), is_quiet=True)),
        hint=f"Tap the cell to which the piece on {chosen} goes.",
        marks=tuple(marks),
    )


def _uses_to_tap(turn: Turn, ways: Ways, fewest: int, known: dict[Progress, bool]) -> dict[int, list[Use]]:
    """Each piece's cell with the uses of a die by that piece that lead to a legal turn."""
    uses_of: dict[int, dict[Use, None]] = {}
    for progress in ways:
        for cell in dict.fromkeys(progress.pieces):
            for use, after in turn.uses(progress, cell):
                if turn.can_end(after, fewest, known):
                    uses_of.setdefault(cell, {})[use] = None
    return {cell: list(uses) for cell, uses in uses_of.items()}


def _text_with_piece_below(turn: Turn, moves: str, cell: int | None, fewest: int, known: dict[Progress, bool]) -> str:
    """The beginning of a turn in which the last use of a die is taken back, and the piece on its *cell* is chosen.

    It is empty if no piece stood there that can move. Where one did, the label of that use had hidden it.
    """
    if cell is None:
        return ""
    before = re.sub("[:-][^:-]*$", "", moves)
    earlier, _, last = before.rpartition(",")
    if not re.search("[:-]", last):  # that was the only use of the last item
        before = earlier
    ways: Ways = {turn.start: ()}
    if before:
        ways = _follow(turn, _read(before, turn.board))
    if cell not in _uses_to_tap(turn, ways, fewest, known):
        return ""
    name = turn.board.names[cell]
    if not before:
        return name
    return f"{before},{name}"


def _taps_of_pieces(
    turn: Turn, begun: _Beginning, chosen: int | None, uses: Mapping[int, Sequence[Use]], instead: str
) -> Iterator[Tap]:
    """The taps that move the chosen piece, then those that choose another one on a cell that is left.

    A tap on the chosen piece leads to the text *instead*. If that is empty, it lets the piece go.
    """
    names = turn.board.names
    taken = set()
    before = f"{begun.moves}," if begun.moves else ""
    if chosen is not None and chosen in uses:
        moving = begun.moves if begun.is_last_chosen else before + names[chosen]
        onto_cells = [use for use in uses[chosen] if use.target != OFF]
        for use in onto_cells:
            label = "jump" if use.text == "+" else use.text
            yield Tap(f"{moving}:{use.text}", (names[use.target],), label)
            taken.add(use.target)
        if len(onto_cells) < len(uses[chosen]):
            end = chosen // turn.board.length * turn.board.length + turn.board.length - 1
            cells = () if end in taken else (names[end],)
            yield Tap(f"{moving}:x", cells, "off")
            taken.add(end)
        if chosen not in taken:
            let_go = before if begun.is_last_chosen else begun.moves
            yield Tap(instead or let_go, (names[chosen],), is_quiet=True)
            taken.add(chosen)
    elif chosen is not None and instead:
        yield Tap(instead, (names[chosen],), is_quiet=True)
        taken.add(chosen)
    others = tuple(names[cell] for cell in uses if cell not in taken)
    if others:
        yield Tap(f"{before}*", others, is_quiet=chosen in uses)


def _marks_of_uses(uses: Uses, chosen: int | None, layout: Board) -> Iterator[TurnMark]:
    """The ways of the pieces that were moved, these pieces where they stand now, and the chosen one."""
    ways: list[list[int]] = []
    for use in uses:
        if ways and ways[-1][-1] == use.source:
            ways[-1].append(use.target)
        else:
            ways.append([use.source, use.target])
    for way in ways:
        on_board = tuple(layout.names[cell] for cell in way if cell != OFF)
        yield TurnMark("trail", on_board)
        if way[-1] == OFF:
            yield TurnMark("gone", on_board[-1:])
        else:
            yield TurnMark("piece", on_board[-1:])
    if chosen is not None and chosen != OFF:
        yield TurnMark("halo", (layout.names[chosen],))


def _dice_used(turn: Turn, ways: Ways) -> Iterator[tuple[int, bool]]:
    """The dice of the turn, and whether each was used in all of these ways."""
    left = {}
    for die in set(turn.start.dice):
        left[die] = max(progress.dice.count(die) for progress in ways)
    for die in turn.start.dice:
        yield die, left[die] == 0
        left[die] = max(0, left[die] - 1)


# Drawing


_FACES = (
    "     |  o  |     ",
    "o    |     |    o",
    "o    |  o  |    o",
    "o   o|     |o   o",
    "o   o|  o  |o   o",
    "o   o|o   o|o   o",
)


def effects(before: State, after: State) -> Effects:
    """Pieces borne off, pins, blots and pips."""
    side = before.turn
    own, enemy = SIDES[side], SIDES[1 - side]
    at_home, home = (state.stacks[after.board.home(1 - side)].count(enemy) for state in (before, after))
    return [
        ("bears off", "piece", after.scores[side] - before.scores[side]),
        ("sends home", "blot", max(0, home - at_home)),
        ("holds", "pinned piece", sum(stack.count(enemy) for stack in after.stacks if stack[-1:] == own)),
        ("leaves", "blot", after.stacks.count(own)),
        ("leaves the own pieces", "pip", after.pips(side)),
    ]


def draw(state: State, before: State | None = None) -> BoardText:
    """The board with its coordinates, and next to it the dice of the player to move.

    With a position *before*, what has changed since then stands in brackets, and below the board stands how far each
    side has come.
    """
    layout = state.board
    picture = _empty(layout)
    for place, stack, was in zip(layout.cells, state.stacks, (before or state).stacks, strict=True):
        line, column = 4 * (layout.rows - place.row) + place.points_up, 6 + 4 * place.column
        for height, piece in enumerate(stack if len(stack) <= 2 else stack[-1]):
            picture.put(line - height, column, piece)
        if len(stack) > 2:
            picture.put(line - 1, column, str(len(stack)))
        if stack != was:
            top = line - 1 if len(stack) == 2 else line
            picture.put(top, column - 1, "(")
            picture.put(top, column + 1, ")")
    if state.dice and not state.result():
        column = 39 if layout.rows == 4 else 52
        picture.put(2, column, f"{SIDES[state.turn]} to move:")
        for box, die in enumerate(state.dice):
            face = [".-----."]
            face += [f"|{eyes}|" for eyes in _FACES[die - 1].split("|")]
            face.append("`-----'")
            for line, text in enumerate(face):
                picture.put(line, column + 11 + 8 * box, text)
    legend: list[str] = []
    if before:
        legend.append("")
        legend += _race(state)
        if state.stacks != before.stacks:
            legend.append("( ) changed by the last turn")
    return BoardText(str(picture), legend)


def _counted(pips: int) -> str:
    return "1 pip" if pips == 1 else f"{pips} pips"


def _race(state: State) -> Iterator[str]:
    """How far each side has come."""
    for side, (name, off) in enumerate(zip(SIDES, state.scores, strict=True)):
        yield f"{name}  {_counted(state.pips(side)):>9} to go  {off:2} of {state.pieces} pieces off"


def _empty(layout: Board) -> Picture:
    """The board without pieces."""
    picture = Picture(4 * layout.rows + 5)
    for line in (0, 4 * layout.rows + 4):
        picture.put(line, 6, "   ".join(LETTERS[: layout.columns]))
    for cell, place in enumerate(layout.cells):
        middle = 6 + 4 * place.column
        top = 3 + 4 * (layout.rows - 1 - place.row)
        left, right = ("/", "\\") if place.points_up else ("\\", "/")
        level = "+-------+"
        is_open_left, is_open_right, is_level_open = (layout.is_open(cell, beyond) for beyond in place.neighbours)
        if is_open_left:
            left = "."
        if is_open_right:
            right = "."
        if is_level_open:
            level = "+ . . . +"
        edge = top + 3 if place.points_up else top - 1
        picture.put(edge, middle - 4, level)
        for line in range(3):
            slant = line + 1 if place.points_up else 3 - line
            picture.put(top + line, middle - slant, left)
            picture.put(top + line, middle + slant, right)
    for row, first, last in layout.spans():
        for column in (first - 1, last + 1):
            picture.put(4 * (layout.rows - row), 6 + 4 * column, str(row + 1))
    return picture


_HALF = 0.75
"""Half of the level edge of a cell in a figure, which is the distance between columns."""


def figure(state: State, before: State | None = None) -> Figure:
    """The double spiral with its walls and both paths, the stacks with what is pinned under them, and the dice."""
    layout = state.board
    empty = _empty_figure(layout)
    pieces: list[Piece] = []
    counts = []
    for cell, standing in zip(empty.cells, state.stacks, strict=True):
        pieces += pile(cell.name, cell.at, tuple(map(SIDES.index, standing)), size=0.26, most=0.4)
        if len(standing) > 2:
            counts.append(Label(pieces[-1].at, str(len(standing)), "count", 0.34, pieces[-1].side, cell.name))
    stacks = zip(layout.names, state.stacks, (before or state).stacks, strict=True)
    mover = None if state.result() else state.turn
    return empty._replace(
        pieces=tuple(pieces),
        labels=empty.labels + tuple(counts),
        latest=tuple(name for name, now, was in stacks if now != was),
        notes=tuple(
            Note(
                f"{name}: {_counted(state.pips(side))} to go, {off} of {state.pieces} off",
                side,
                state.dice if side == mover else (),
                score=str(state.pips(side)),
            )
            for side, (name, off) in enumerate(zip(SIDES, state.scores, strict=True))
        ),
        turn=mover,
    )


@cache
def _empty_figure(layout: Board) -> Figure:
    """What is the same in all positions: cells, paths, walls and coordinates."""
    cells = tuple(
        Cell(name, _middle(place), _corners(place), cell // layout.length)
        for cell, (name, place) in enumerate(zip(layout.names, layout.cells, strict=True))
    )
    return Figure(cells, (*_paths(layout, cells), *_walls(layout)), labels=tuple(_coordinates(layout)))


def _corners(place: _Cell) -> tuple[Place, ...]:
    """The corners of a cell: both ends of its level edge, from the left, and its point."""
    x, height = place.column * _HALF, 2 * _HALF * ROW
    edge, point = (place.row, place.row + 1) if place.points_up else (place.row + 1, place.row)
    return (x - _HALF, edge * height), (x + _HALF, edge * height), (x, point * height)


def _middle(place: _Cell) -> Place:
    """The middle of a cell, as far from each of its edges."""
    left, _, point = _corners(place)
    return point[0], left[1] + (point[1] - left[1]) / 3


def _paths(layout: Board, cells: Sequence[Cell]) -> Iterator[Strokes]:
    """Both paths, from the home over the exit."""
    for side in (0, 1):
        path = cells[layout.home(side) :][: layout.length]
        places = [cell.at for cell in path]
        x, y = places[-1]
        edge = path[-1].outline[0][1]  # the level one, over which the path leaves the board
        places.append((x, 2.2 * edge - 1.2 * y))
        yield Strokes("path", (tuple(places),), side)


def _walls(layout: Board) -> Iterator[Strokes]:
    """The edges of all cells, each once: walls, and those that are open."""
    seen = set()
    edges_of: dict[str, list[Way]] = {}
    for cell, place in enumerate(layout.cells):
        left, right, point = _corners(place)
        edges = (left, point), (point, right), (left, right)
        for edge, beyond in zip(edges, place.neighbours, strict=True):
            if frozenset(edge) not in seen:
                seen.add(frozenset(edge))
                kind = "open" if layout.is_open(cell, beyond) else "wall"
                edges_of.setdefault(kind, []).append(edge)
    for role, ways in edges_of.items():
        yield Strokes(role, tuple(ways))


def _coordinates(layout: Board) -> Iterator[Label]:
    """Letters of the columns above and below the board, and next to each row its number."""
    height = 2 * _HALF * ROW
    for column in range(layout.columns):
        x = column * _HALF
        yield from coordinates(LETTERS[column], (x, -0.75), (x, layout.rows * height + 0.75))
    for row, first, last in layout.spans():
        y = (row + 0.5) * height
        yield from coordinates(str(row + 1), (first * _HALF - 0.85, y), (last * _HALF + 0.85, y))
