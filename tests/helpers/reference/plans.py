"""Plans once more, written from what the command language says of them and without a look at `pbm`.

Two players sit at one board. Each has a tree: what they play after which move of the other. A tree is a dictionary,
from a move of the other player, or `ANY`, to the answer and the tree below it.

``merged({}, {"b1": Reply("c2", {})})`` is the tree of `if b1 then c2`; `Board` plays such trees.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from games import SKIP, Illegal, needs_dice

ANY = "any"
"""Stands for every move that no other line of the same place names."""
MOST_TURNS = 40
"""How many planned moves follow a move at most."""
MOST_REPLIES = 20
MOST_MOVES = 200
INSTEAD_OF_MOVES = {"propose", "undo", "accept", "reject", "resign", "unresign"}
"""What cannot be planned."""

Line = Sequence[tuple[str, str]]
"""A branch as it is typed: what the other plays and what the player answers, again and again."""
Throw = Callable[[int, int], tuple[int, ...]]
"""So many dice, the second number, for the turn that follows so many others."""


class Reply(NamedTuple):
    """An answer, and what is planned behind it."""

    mine: str
    then: "Tree"


Tree = dict[str, Reply]


class Turn(NamedTuple):
    """A turn that was played."""

    player: int
    move: str
    is_automatic: bool = False
    is_planned: bool = False


class Refused(Exception):
    """A command that changes nothing."""


def branches(tree: Tree) -> Iterator[Line]:
    """A tree as lines, without those that others begin with."""
    for theirs, (mine, then) in tree.items():
        for rest in branches(then) if then else [()]:
            yield (theirs, mine), *rest


def depth(tree: Tree) -> int:
    """How many moves of the other the longest branch answers."""
    return max((1 + depth(reply.then) for reply in tree.values()), default=0)


def size(tree: Tree) -> int:
    """How many moves of the other a tree answers in all."""
    return sum(1 + size(reply.then) for reply in tree.values())


def read(state: Any, text: str, number: int) -> str:
    """The canonical text of a move. Raises Illegal, also if it is meant for another number than it would get."""
    move, mark, meant = text.partition("#")
    if mark and int(meant) != number:
        raise Illegal(f"it would be move {number}.")
    if move.lower() in {SKIP, "pass"} and state.must_skip:
        return SKIP
    canonical: str = state.parse(move)
    return canonical


def mover(state: Any) -> int:
    """The player to move; a rule may have swapped the sides."""
    player: int = state.seats[state.turn]
    return player


class Board:
    """A game, and what both players have planned in it."""

    def __init__(self, game: Any, options: dict[str, Any], throw: Throw) -> None:
        self.throw = throw
        self.turns: list[Turn] = []
        self.trees: list[Tree] = [{}, {}]
        self.positions = [self._thrown(game.new(**options))]

    @property
    def state(self) -> Any:
        return self.positions[-1]

    @property
    def number(self) -> int:
        """The number of the next move."""
        return len(self.turns) + 1

    def plan(self, player: int, lines: Iterable[Line]) -> None:
        """Add lines to a plan while the other player is to move. Raises Refused or Illegal."""
        if self.state.result() or mover(self.state) == player:
            raise Refused
        self.trees[player] = self._merged(player, lines)

    def move(self, player: int, text: str, lines: Sequence[Line] = ()) -> None:
        """Play a move, and what both have planned for it. Raises Refused or Illegal: then nothing has happened."""
        if self.state.result() or mover(self.state) != player:
            raise Refused
        first = len(self.turns)
        self._play(read(self.state, text, self.number))
        if lines:
            try:
                self.trees[player] = self._merged(player, lines)
            except (Refused, Illegal):
                self._take_back(first)
                raise
        while not self.state.result():
            player = mover(self.state)
            if (tree := self.trees[player]) and self.turns[-1].player != player:
                reply = self._fitting(tree)
                self.trees[player] = reply.then if reply else {}
                try:
                    if reply and len(self.turns) - first <= MOST_TURNS:
                        self._play(read(self.state, reply.mine, self.number), is_automatic=True, is_planned=True)
                        continue
                except Illegal:
                    self.trees[player] = {}
            if not self.state.must_skip:
                return
            self._play(SKIP, is_automatic=True)
        self.trees = [{}, {}]

    def _take_back(self, count: int) -> None:
        del self.turns[count:], self.positions[count + 1 :]

    def _play(self, move: str, *, is_automatic: bool = False, is_planned: bool = False) -> None:
        self.turns.append(Turn(mover(self.state), move, is_automatic, is_planned))
        self.positions.append(self._thrown(self.state.play(move)))

    def _thrown(self, state: Any) -> Any:
        return state.roll(self.throw(len(self.turns), state.dice_needed)) if needs_dice(state) else state

    def _fitting(self, tree: Tree) -> Reply | None:
        """What answers the last move."""
        before, last = self.positions[-2], self.turns[-1].move
        for theirs in tree.keys() - {ANY}:
            with suppress(Illegal):
                if read(before, theirs, self.number - 1) == last:
                    return tree[theirs]
        return tree.get(ANY)

    def _merged(self, player: int, lines: Iterable[Line]) -> Tree:
        """The plan of a player with these lines. Raises Refused or Illegal."""
        new: Tree = {}
        for line in lines:
            place = new
            for theirs, mine in self._checked(player, line):
                reply = place.setdefault(theirs, Reply(mine, {}))
                if reply.mine != mine:
                    raise Refused
                place = reply.then
        old: Tree = {}
        for line in branches(self.trees[player]):
            old = merged(self._tree(self._checked(player, line, is_strict=False)), old)
        tree = merged(old, new)
        if depth(tree) > MOST_REPLIES or size(tree) > MOST_MOVES:
            raise Refused
        return tree

    def _tree(self, line: Line) -> Tree:
        return {line[0][0]: Reply(line[0][1], self._tree(line[1:]))} if line else {}

    def _checked(self, player: int, line: Line, *, is_strict: bool = True) -> Line:
        """A line in canonical texts where its position is known, which it is not behind `ANY`.

        What was planned behind `ANY` is looked at when that is played; what proves illegal then is left as it is.
        """
        state = self.state
        number = self.number
        texts = []
        for at, text in enumerate(text for pair in line for text in pair):
            if text in INSTEAD_OF_MOVES or (at % 2 == 0 and text != ANY and needs_dice(self.state)):
                raise Refused
            known = text
            if at % 2 == 0 and text == ANY:
                state = None
            try:
                known, state = self._tried(state, text, number + at, player if at % 2 else 1 - player)
            except (Refused, Illegal):
                if is_strict:
                    raise
                state = None
            texts.append(known)
        return [*zip(texts[::2], texts[1::2], strict=True)]

    def _tried(self, state: Any, text: str, number: int, player: int) -> tuple[str, Any]:
        """A move of a player in canonical text, and the position after it, if that is known."""
        if state is None:
            return text, None
        if mover(state) != player:
            raise Refused
        move = read(state, text, number)
        return move, state.play(move)


def merged(old: Tree, new: Tree) -> Tree:
    """Both trees; where both name a move, the new one counts. What was behind another answer is forgotten."""
    tree = dict(old)
    for theirs, (mine, then) in new.items():
        below = old[theirs].then if theirs in old and old[theirs].mine == mine else {}
        tree[theirs] = Reply(mine, merged(below, then))
    return tree
