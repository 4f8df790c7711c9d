"""How a robot plays Papagra: it looks at all of its turns, at the answers to the best of them, and so on.

Games at random tell little here, but what an action does to the marks can be counted. So this is an alpha-beta search
(Knuth and Moore 1975), one turn deeper each time while there is time for it: all turns of the position, then those
that leave the best value, to each the best answers, and at the end whatever raises a mark.

A position is worth something for the side that leads: the more, the fewer spaces are free of its stones beyond those
that the other side needs to overtake it. The curve was fitted to the results of 140 games, 4,231 positions; sizes of
groups and regions and the numbers of stones added nothing to it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import exp
from random import Random
from typing import Any, NamedTuple, cast

from games import SKIP, Options, State
from games.boards import bits
from pbm.robots.papagra.turns import Actions, Grid, Marks, Reached, Scan, Stand, TimeIsUpError
from pbm.robots.thinking import Limit, Thought, guessed

DEEPEST = 3
"""How many turns ahead it looks at most. To look at fewer answers, but deeper, was worse."""
MOST_TRIED = 40
"""How many turns of the position are looked at more than one turn deep."""
MOST_ANSWERS = 24
"""How many turns of a later position are looked at."""
THINNED = 8
"""To how many of the best turns of a position a third action is tried."""


class Choice(NamedTuple):
    """A turn."""

    value: float
    """What the position after it is worth for the mover."""
    turn: Actions
    after: Stand
    """That position, as the other player sees it."""


class Papagra:
    """A `Thinker` on one board."""

    def __init__(self, size: int, removals: int, deepest: int = DEEPEST) -> None:
        """Take a board; *deepest* is how many turns ahead it looks, if there is time."""
        self.grid, self.removals, self.deepest = Grid(size), removals, deepest
        self.limit, self.opened, self.rng = Limit(), 0, Random()
        self.order: list[int] = []
        """The spaces, in the order in which they are tried in this thought."""
        self.values: dict[tuple[int, int, Marks], float] = {}
        """What was found by `value`."""
        self.killers: dict[int, Actions] = {}
        """The last turn that was too good to be allowed, for each number of turns that were still to be looked at."""
        self.stood: Counter[Marks] = Counter()
        """How often arrangements of stones, those of the mover first, have stood after a turn."""

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """As deep as there is time; a playout is here a position of which all turns were scanned."""
        state: Any = states[-1]
        stand = self.stand(state)
        self.limit, self.opened, self.rng, self.killers = limit, 0, rng, {}
        self.order = [*bits(self.grid.all)]
        rng.shuffle(self.order)
        self.stood = Counter(stones[:: 1 - 2 * state.turn] for stones in state.past)
        choices = self._choices(self._scan(stand), 0)
        has_won = choices[0].value == 1  # at once; further on, only some of the answers are looked at
        for depth in range(2, self.deepest + 1):
            if len(choices) == 1 or not 0 < choices[0].value < 1:
                break
            try:
                self._deepen(choices, depth)
            except TimeIsUpError:
                break
        text = self.text(stand.own, choices[0].turn)
        return Thought(text, 1.0 if has_won else guessed(choices[0].value), self.opened, (text,))

    def stand(self, state: Any) -> Stand:
        """The position as the player to move sees it."""
        own, enemy = state.stones[:: 1 - 2 * state.turn]
        own_mark, enemy_mark = state.marks[:: 1 - 2 * state.turn]
        return Stand(own, enemy, own_mark, enemy_mark, state.actions == 1)

    def _deepen(self, choices: list[Choice], depth: int) -> None:
        """Look deeper at the first of these choices, and sort them; as many of them as there is time for."""
        best, searched = 0.0, []
        try:
            for choice in choices:
                value = choice.value
                if 0 < value < 1:
                    value = 1 - self._best(choice.after, depth - 1, 1, 0, 1 - best)
                best = max(best, value)
                searched.append(choice._replace(value=value))
        finally:
            # a value that is not better than the best before it is only a limit
            searched.sort(key=lambda choice: -choice.value)
            choices[: len(searched)] = searched

    def value(self, own: int, enemy: int, own_mark: int, enemy_mark: int) -> float:
        """What a position with so many stones is worth for the side that has just moved."""
        if own_mark == enemy_mark:
            return 0.5
        if own_mark < enemy_mark:
            return 1 - self.value(enemy, own, enemy_mark, own_mark)
        free, needed = self.grid.spaces - own, 2 * (own_mark + 1)
        if free < needed:
            return 1.0
        return 1 / (1 + exp(0.6 - 7 * needed / free - 0.2 * (own_mark - enemy_mark)))

    def _worth(self, found: Reached, enemy: int, side: int) -> float:
        """What a turn leads to; side is 0 for the player who thinks."""
        _, own, marks = found
        if self.stood[(enemy, own) if side else (own, enemy)] >= 2:
            return 0.5 if marks[0] == marks[1] else float(marks[0] > marks[1])
        key = own.bit_count(), enemy.bit_count(), marks
        if key not in self.values:
            self.values[key] = self.value(*key[:2], *marks)
        return self.values[key]

    def _scan(self, stand: Stand) -> Scan:
        if self.opened and self.limit.is_reached(self.opened):
            raise TimeIsUpError
        self.opened += 1
        return Scan(self.grid, stand, self.order, self.limit)

    def _choices(self, scan: Scan, side: int) -> list[Choice]:
        """The turns that look best, the best one first."""
        random, enemy = self.rng.random, scan.enemy
        valued: list[tuple[float, float, Reached]] = []

        def value(all_found: Iterator[Reached]) -> None:  # as they come, for that is a third of the time
            valued.extend((self._worth(found, enemy, side), random(), found) for found in all_found)

        try:
            value(scan.turns())
            if self.removals and not scan.is_first:
                for _, _, found in nlargest(THINNED, valued):
                    value(scan.thinned(found, self.removals))
        except TimeIsUpError:
            if self.opened > 1:
                raise
        best = nlargest(MOST_TRIED, valued)  # those of equal value are looked at in no order
        return [self._choice(found, enemy, side) for _, _, found in best]

    def _choice(self, found: Reached, enemy: int, side: int) -> Choice:
        turn, own, marks = found
        return Choice(self._worth(found, enemy, side), turn, Stand(enemy, own, marks[1], marks[0]))

    def _best(self, stand: Stand, depth: int, side: int, alpha: float, beta: float) -> float:
        """What the best turn of a later position is worth for its mover: exactly so only between these limits."""
        if depth == 1:
            return self._raised(stand, side, alpha, beta)
        scan, best = self._scan(stand), 0.0
        for choice in self._tries(scan, depth, side):
            value = choice.value
            if 0 < value < 1:
                value = 1 - self._best(choice.after, depth - 1, 1 - side, 1 - beta, 1 - max(alpha, best))
            best = max(best, value)
            if best >= beta:
                self.killers[depth] = choice.turn
                break
        return best

    def _tries(self, scan: Scan, depth: int, side: int) -> Iterator[Choice]:
        """The turns that are tried in a later position: one that was good in another position comes first."""
        if depth in self.killers and (found := scan.found(self.killers[depth])):
            yield self._choice(found, scan.enemy, side)
        yield from self._choices(scan, side)[:MOST_ANSWERS]

    def _raised(self, stand: Stand, side: int, alpha: float, beta: float) -> float:
        """What the best turn is worth, where only two stones more and higher marks of the mover are thought of."""
        own, enemy, own_mark, enemy_mark, _ = stand
        stones, others = own.bit_count(), enemy.bit_count()
        more = min(stones + 2, self.grid.spaces - others)
        best = self.value(more, others, own_mark, enemy_mark)
        least, highest = own_mark + 1, self.grid.spaces // 2
        while least <= highest and (
            least == enemy_mark or self.value(more, others, least, enemy_mark) <= max(alpha, best)
        ):
            least += 1
        if best >= beta or least > highest:
            return best
        for found in self._scan(stand).raising(least):
            best = max(best, self._worth(found, enemy, side))
            if best >= beta:
                for space in found[0][:2]:  # it is likely to be good elsewhere, too
                    self.order.remove(space)
                    self.order.insert(0, space)
                break
        return best

    def text(self, own: int, turn: Actions) -> str:
        """The turn in canonical form."""
        name, texts = self.grid.hexagon.name, []
        for space in filter(None, turn[:2]):
            texts.append(f"{'-' if own & space else '+'}{name[space]}")
            own ^= space
        if turn[2]:
            texts.append("".join(f"-{one}" for one in self.grid.hexagon.names(turn[2])))
        return ",".join(texts) or SKIP


def thinker(options: Options) -> Papagra:
    """The robot for a board."""
    return Papagra(cast("int", options["size"]), cast("int", options["removals"]))
