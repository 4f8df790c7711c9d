"""Monte Carlo tree search over what is known of a game (Kocsis and Szepesvári 2006, Coulom 2006).

Turns are sampled and sorted by the knowledge, and the tree widens in that order. This is progressive widening (Coulom
2007, "Computing Elo ratings of move patterns in the game of Go"; Chaslot and others 2008, "Progressive strategies for
Monte-Carlo tree search"). Dice are thrown again at each visit, and each throw has a child (Couëtoux and others 2011).
Wins and losses are proven from the ends of the game on (Winands, Björnsson and Saito 2008, "Monte-Carlo tree search
solver"). A loss is proven only where all turns were listed: sampled turns prove nothing of those that were not sampled.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import log, sqrt
from random import Random
from typing import Generic, NamedTuple, Protocol, TypeVar

from games import State
from pbm.robots.thinking import Limit, Thought, guessed

P = TypeVar("P")
T = TypeVar("T")

PROBED = 6
"""How many turns are sampled first, to see how long that takes."""
MOST_KNOWN = 1000
"""How many turns of the root are listed at most, to see whether one wins at once."""


Worths = Sequence[tuple[float, float]]
"""For each kind of thing that is counted, what one is worth on a full board, and how much more on an empty one."""


class Tuning(NamedTuple):
    """The constants of a search, which a game can have of its own."""

    exploration: float = 0.7
    """The constant of UCB1 (Auer, Cesa-Bianchi and Fischer 2002), for values from 0 to 1."""
    at_root: int = 100
    """How many turns are sampled at first for the position that is thought about."""
    inside: int = 20
    """How many are sampled at first for a later one."""
    first: float = 3
    growth: float = 0.45
    """A position that was visited n times has up to first * (n + 1) ** growth children."""
    trust: float = 4
    """How many visits the expected value of a new position counts as, if the knowledge expects one."""


class Knowledge(Protocol[P, T]):
    """What a tree search knows of one game with its options: positions and turns of its own, on integers where it pays.

    Sides are those of the game: 0 is the one that moves first.
    """

    limit: Limit = Limit()
    """The limit of the search. A playout may look at its time."""

    def root(self, states: Sequence[State]) -> P:
        """The last of these positions, which are those of the game so far."""

    def side(self, position: P) -> int:
        """The side to move."""

    def outcome(self, position: P) -> float | None:
        """What the game was worth for side 0 if it is over: 1, 0, or 0.5 for a draw; None while it goes on."""

    def needs_dice(self, position: P) -> bool:
        """Whether the dice of this position are still to be thrown."""
        return False

    def throw(self, position: P, rng: Random) -> tuple[tuple[int, ...], P]:
        """The dice that were thrown, in order, and the position with them."""
        return (), position

    def turns(self, position: P, most: int, rng: Random) -> Sequence[T]:
        """At most *most* different legal turns that make sense; the best-looking for the side to move come first.

        There is at least one: a forced skip is a turn, too.
        """

    def all_turns(self, position: P, most: int) -> Sequence[T] | None:
        """Every legal turn, or one of those that lead to the same position; None if there are more than *most*."""

    def tries(self, position: P, rng: Random) -> Iterable[T]:
        """Turns of which one may win at once. They are tried where there are too many turns to list them all."""
        return ()

    def play(self, position: P, turn: T) -> P:
        """The position after one of these turns."""

    def playout(self, position: P, rng: Random) -> float:
        """Play the game to its end, or until the result is clear enough, and return what it was worth for side 0."""

    def expected(self, position: P) -> float | None:
        """What the game is worth for side 0 on average, without playing it; None if the position says too little."""
        return None

    def text(self, position: P, turn: T) -> str:
        """The turn in canonical form."""


class Node(Generic[P, T]):
    """A position in the tree, with the results of the games that were played through it."""

    __slots__ = ("are_all", "children", "is_sampled", "position", "proof", "side", "throws", "turns", "visits", "worth")

    def __init__(self, knowledge: Knowledge[P, T], position: P) -> None:
        """Make a leaf of the tree."""
        self.position = position
        self.proof = knowledge.outcome(position)
        """What the game is worth for side 0 if that is certain."""
        self.side = knowledge.side(position)
        self.visits = 0.0
        """How many games went through it, and `Tuning.trust` more if a value was expected of it."""
        self.worth = 0.0
        """The sum of what these games were worth for side 0."""
        self.turns: list[T] = []
        """Turns sampled when a leaf is visited again, those first that look best; empty until then."""
        self.are_all: bool | None = None
        """Whether these are all turns; None before the first try to list them all."""
        self.is_sampled = False
        """Whether more samples have found no other turn: they are not tried again, or each visit would cost as much."""
        self.children: list[Node[P, T]] = []
        """The positions after the first of these turns, one for each."""
        is_thrown = self.proof is None and knowledge.needs_dice(position)
        self.throws: dict[tuple[int, ...], Node[P, T]] | None = {} if is_thrown else None
        """The positions after throws, by their dice; None where no dice have to be thrown."""

    def value(self, side: int) -> float:
        """What the game is worth for a side, from 0 to 1: near 0.5 as long as few games were played."""
        worth = self.proof
        if worth is None:
            worth = (self.worth + 1) / (self.visits + 2)
        return worth if side == 0 else 1 - worth

    @property
    def best(self) -> int:
        """The child that wins for certain, or else the one visited most of those that do not lose for certain."""
        won = 1.0 - self.side
        lost = float(self.side)
        ranks = []
        for child in self.children:
            ranks.append((child.proof == won, child.proof != lost, child.visits, child.value(self.side)))
        return ranks.index(max(ranks))

    @property
    def hopeful(self) -> list["Node[P, T]"]:
        """The children that are not proven to be lost for the side to move here."""
        lost = float(self.side)
        return [child for child in self.children if child.proof != lost]

    @property
    def is_expanded(self) -> bool:
        """Whether each turn has its child."""
        return bool(self.turns) and len(self.children) == len(self.turns)


class Search(Generic[P, T]):
    """A `Thinker` that searches a tree."""

    ROOT_SHARE = 0.3
    """The part of the time that sampling the turns of the root may take."""
    NODE_SHARE = 0.05
    """The part of the time that sampling the turns of one later position may take."""

    def __init__(self, knowledge: Knowledge[P, T], tuning: Tuning | None = None) -> None:
        """Search with that knowledge, and with the *tuning* that suits the game."""
        self.knowledge = knowledge
        self.tuning = tuning or Tuning()
        self.inside = self.tuning.inside
        """How many turns are sampled for a later position, if there is time."""

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """The turn that was visited most, or one that wins for certain."""
        root, playouts = self.grow(states, limit, rng)
        line = []
        node = root
        while node.children:  # no turns follow where dice are thrown
            best = node.best
            line.append(self.knowledge.text(node.position, node.turns[best]))
            node = node.children[best]
        chances = [child.value(root.side) for child in root.children]
        chance = chances.pop(root.best)
        if root.proof is None:
            chance = guessed(chance)
        return Thought(line[0], chance, playouts, tuple(line), rival=max(chances, default=1.0))

    def grow(self, states: Sequence[State], limit: Limit, rng: Random) -> tuple[Node[P, T], int]:
        """A tree from the last of these positions on, and how many games were played for it."""
        begun = limit.clock()
        self.knowledge.limit = limit
        root = Node(self.knowledge, self.knowledge.root(states))
        root.turns = self._root_turns(root, limit, begun, rng)
        root.turns[:0] = islice(self._wins(root, limit.part(self.ROOT_SHARE), rng), 1)
        playouts = 0
        searched = limit.clock()
        while playouts == 0 or not self._is_decided(root, rng):
            self._visit(root, rng)
            playouts += 1
            if limit.is_reached(playouts):
                break
            if limit.until is not None:
                now = limit.clock()
                half_a_visit = (now - searched) / playouts / 2
                if now + half_a_visit >= limit.until:  # so the search ends too early as often as too late
                    break
        return root, playouts

    # The root

    def _root_turns(self, root: Node[P, T], limit: Limit, begun: float, rng: Random) -> list[T]:
        """Sampled turns of the root: `Tuning.at_root` of them, or as many as a few first ones say there is time for."""
        most = self.tuning.at_root
        sample = self.knowledge.turns
        self.inside = self.tuning.inside
        if limit.until is None:
            return list(sample(root.position, most, rng))
        seconds = limit.until - begun
        number = min(PROBED, most)
        while True:
            start = limit.clock()
            turns = sample(root.position, number, rng)
            now = limit.clock()
            took = max(now - start, 1e-9)
            more = min(most, int(number * (seconds * self.ROOT_SHARE - (now - begun)) / took))
            if number >= most or more < 2 * number:
                break
            number = more
        affordable = int(seconds * self.NODE_SHARE * number / took)
        self.inside = min(self.inside, max(3, affordable))
        return list(turns)

    def _wins(self, root: Node[P, T], limit: Limit, rng: Random) -> Iterator[T]:
        """The turns of the root that win at once: among all, if they are few, or else among the `Knowledge.tries`."""
        if limit.is_time_up:
            return
        turns: Iterable[T] | None = self.knowledge.all_turns(root.position, MOST_KNOWN)
        if turns is None:
            turns = self.knowledge.tries(root.position, rng)
        for turn in turns:
            if limit.is_time_up:
                return
            if self.knowledge.outcome(self.knowledge.play(root.position, turn)) == 1 - root.side:
                yield turn

    def _is_decided(self, root: Node[P, T], rng: Random) -> bool:
        """Whether the result is proven, or all turns but one at most are proven to lose."""
        if root.proof is not None:
            return True
        if not root.is_expanded or len(root.hopeful) > 1:
            return False
        return not self._find_more(root, rng)  # a hundred samples can all be the same turn

    # The tree

    def _visit(self, root: Node[P, T], rng: Random) -> None:
        """Go down to a position that is new or proven, play the game from there, and note the result on the way."""
        path = [root]
        node = root
        is_new = False
        while node.proof is None:
            if node.is_expanded and not node.hopeful and not self._find_more(node, rng):
                break
            if node.throws is None:
                node, is_new = self._child(node, rng)
            else:
                node, is_new = self._thrown(node, rng)
            path.append(node)
            if is_new and node.throws is None:
                break
        if node.proof is not None:
            worth = node.proof
        elif is_new:
            worth = self._judged(node, rng)
        else:
            worth = float(node.side)  # lost by all turns that were found
        for node in path:
            node.visits += 1
            node.worth += worth
        self._prove_backwards(path)

    def _prove_backwards(self, path: Sequence[Node[P, T]]) -> None:
        """Note what the positions of a path are worth for certain, from its end on, if that can be proven."""
        for node in reversed(path):
            if node.proof is None:
                self._prove(node)
                if node.proof is None:
                    break

    def _judged(self, node: Node[P, T], rng: Random) -> float:
        """What a new position is worth: the result of a playout, or its mean with the expected value if any."""
        worth = self.knowledge.playout(node.position, rng)
        expected = self.knowledge.expected(node.position)
        if expected is None:
            return worth
        node.visits = self.tuning.trust
        node.worth = self.tuning.trust * expected
        return (worth + expected) / 2

    def _thrown(self, node: Node[P, T], rng: Random) -> tuple[Node[P, T], bool]:
        """The position after a throw of the dice, and whether it is new."""
        dice, position = self.knowledge.throw(node.position, rng)
        throws = node.throws if node.throws is not None else {}
        is_new = dice not in throws
        return throws.setdefault(dice, Node(self.knowledge, position)), is_new

    def _child(self, node: Node[P, T], rng: Random) -> tuple[Node[P, T], bool]:
        """The child to go on with, and whether it is new."""
        if not node.turns:
            node.turns = list(self.knowledge.turns(node.position, self.inside, rng))
        tuning = self.tuning
        number = len(node.children)
        hopeful = node.hopeful
        has_room = not hopeful or number < tuning.first * (node.visits + 1) ** tuning.growth
        if has_room and number == len(node.turns) and not node.is_sampled:
            node.is_sampled = not self._find_more(node, rng)
        if has_room and number < len(node.turns):
            child = Node(self.knowledge, self.knowledge.play(node.position, node.turns[number]))
            node.children.append(child)
            return child, True
        unrest = tuning.exploration * sqrt(log(node.visits + 1))
        best = hopeful[0]
        highest = -1.0
        side = node.side
        for child in hopeful:
            visits = child.visits or 1
            mean = child.worth / visits
            bound = (1 - mean if side else mean) + unrest / sqrt(visits)
            if bound > highest:
                best, highest = child, bound
        return best, False

    def _prove(self, node: Node[P, T]) -> None:
        """Note what a position is worth for certain: if a turn wins, or if all turns lead to proven positions."""
        if node.throws is not None or not node.children:
            return
        won = 1.0 - node.side
        if any(child.proof == won for child in node.children):
            node.proof = won
        elif node.is_expanded:
            proofs = [child.proof for child in node.children if child.proof is not None]
            if len(proofs) == len(node.children) and self._list_all(node) and node.is_expanded:
                node.proof = min(proofs) if node.side else max(proofs)

    def _list_all(self, node: Node[P, T]) -> bool:
        """Add the turns of a position that were not sampled, and return True, if there are few turns in all."""
        if node.are_all is None:
            turns = self.knowledge.all_turns(node.position, self.tuning.at_root)
            known = [child.position for child in node.children]
            for turn in turns or ():
                after = self.knowledge.play(node.position, turn)
                if after not in known:
                    known.append(after)
                    node.turns.append(turn)
            node.are_all = turns is not None
        return node.are_all

    def _find_more(self, node: Node[P, T], rng: Random) -> bool:
        """Find more turns of a position: all if they are few, or else by more samples. Returns whether some are new."""
        if not self._list_all(node):
            more = self.knowledge.turns(node.position, 2 * len(node.turns) + 2, rng)
            node.turns += [turn for turn in more if turn not in node.turns]
        return not node.is_expanded


def advantage(own: Sequence[int], enemy: Sequence[int], worths: Worths, part: float) -> float:
    """How much more a side has than the other, by the worths of things where *part* of the board is empty."""
    counted = zip(own, enemy, worths, strict=True)
    return sum([(mine - theirs) * (full + more * part) for mine, theirs, (full, more) in counted])
