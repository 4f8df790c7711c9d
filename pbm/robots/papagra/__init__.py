"""How a robot plays Papagra: it looks at all of its turns, at the answers to the best of them, and so on.

Games at random tell little here, but what an action does to the marks can be counted. So this is an alpha-beta search
(Knuth and Moore 1975), one turn deeper each time while there is time for it: all turns of the position, then those
that leave the best value, to each the best answers, and at the end whatever raises a mark, with the raises that answer
it. Without these answers, the last raise would look too good, and a deeper search would bring little.

Hundreds of turns leave the same value. Of these it looks first at those that stop most threats. A threat is a turn with
which the enemy would take the lead. A value still depends on who raises last, so a chance is that of the last even
depth, where the enemy raises last.

A position is worth more for its leader, the fewer spaces are free of the leader's stones beyond those that the other
side needs to overtake. The curve was fitted to the results of 140 games, 4,231 positions; sizes of groups and regions
and the numbers of stones added nothing to it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from heapq import nlargest
from itertools import islice
from math import exp
from random import Random
from typing import Any, NamedTuple, cast

from games import SKIP, Options, State
from games.boards import bits
from pbm.robots.papagra.all_turns import Actions, Grid, Marks, PapagraPosition, Reached, Scan, TimeIsUpError
from pbm.robots.thinking import Limit, Thought, guessed

LAST_RAISE = -1
"""The depth at which raises are not answered any more; at 1 and 0 they are answered by higher ones."""
MOST_TRIED = 40
"""How many turns of the position are looked at more than one turn deep."""
MOST_ANSWERS = 24
"""How many turns of a later position are looked at."""
MOST_THREATS = 40
"""How many threats of the enemy are counted."""
POSITIONS_KEPT = 5_000
"""How many positions the robot remembers with their turns, which saves a quarter of the time."""
THINNED = 8
"""How many of the best turns of a position are tried with a third action."""


class Choice(NamedTuple):
    """A turn that was looked at."""

    value: float
    """What the position after it is worth for the mover."""
    turn: Actions
    after: PapagraPosition
    """That position, as the other player sees it."""


class Papagra:
    """A `Thinker` on one board."""

    def __init__(self, size: int, removals: int) -> None:
        """Take the size of the board, and how many stones a third action may remove."""
        self.grid, self.removals = Grid(size), removals
        self.limit, self.opened, self.rng = Limit(), 0, Random()
        self.order: list[int] = []
        """The spaces, in the order in which they are tried in this thought."""
        self.kept: dict[tuple[PapagraPosition, int], list[Choice]] = {}
        """The turns of later positions looked at in this thought; one that refuted the turn before it comes first."""
        self.stood: Counter[Marks] = Counter()
        """How often each arrangement of stones, those of the mover first, has stood after a turn."""

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """The best turn, searched as deep as there is time. A playout is here a position whose turns were scanned."""
        state: Any = states[-1]
        position = self.position(state)
        self.limit, self.opened, self.rng = limit, 0, rng
        self.kept.clear()
        self.order = [*bits(self.grid.all)]
        rng.shuffle(self.order)
        self.stood = Counter(stones[:: 1 - 2 * state.turn] for stones in state.past)
        choices = self._choices(self._scan(position), 0)
        values = [choices[0].value]  # of the best turn, found one turn deep, two, and so on
        with suppress(TimeIsUpError):
            while len(choices) > 1 and 0 < values[-1] < 1:
                self._deepen(choices, len(values) + 1)
                values.append(choices[0].value)
        chance = values[-1]
        if values[0] < 1:  # a win further on is not certain: only some of the answers are looked at
            chance = guessed(values[len(values) // 2 * 2 - 1] if 0 < chance < 1 else chance)
        text = self.text(position.own, choices[0].turn)
        return Thought(text, chance, self.opened, (text,))

    def position(self, state: Any) -> PapagraPosition:
        """The position as the player to move sees it."""
        own, enemy = state.stones[:: 1 - 2 * state.turn]
        own_mark, enemy_mark = state.marks[:: 1 - 2 * state.turn]
        return PapagraPosition(own, enemy, own_mark, enemy_mark, state.actions == 1)

    def _deepen(self, choices: list[Choice], depth: int) -> None:
        """Look deeper at the first of these choices, at as many as there is time for, and sort these."""
        best, searched = 0.0, []
        try:
            for choice in choices:
                value = choice.value
                if 0 < value < 1:
                    value = 1 - self._best(choice.after, depth - 1, 1, 0, 1 - best)
                best = max(best, value)
                searched.append(choice._replace(value=value))
        finally:
            # a value that is not better than the best before it is only an upper limit
            searched.sort(key=lambda choice: -choice.value)
            choices[: len(searched)] = searched

    def value(self, own: int, enemy: int, own_mark: int, enemy_mark: int) -> float:
        """The value of a position with these numbers of stones for the side that has just moved."""
        if own_mark == enemy_mark:
            return 0.5
        if own_mark < enemy_mark:
            return 1 - self.value(enemy, own, enemy_mark, own_mark)
        free, needed = self.grid.spaces - own, 2 * (own_mark + 1)
        if free < needed:
            return 1.0
        return 1 / (1 + exp(0.6 - 7 * needed / free - 0.2 * (own_mark - enemy_mark)))

    def _worth(self, found: Reached, enemy: int, side: int) -> float:
        """What a turn is worth for its mover, by the position after it; *side* is 0 for the player who thinks."""
        (a, b, removed), own, marks = found
        times = self.stood[(enemy, own) if side else (own, enemy)]
        has_stood = times or (a and a == b and not removed)
        # a leader can answer by a turn that undoes itself, and the arrangement stands for the third time
        if times >= 2 or (has_stood and marks[0] < marks[1]):
            return 0.5 if marks[0] == marks[1] else float(marks[0] > marks[1])
        return self.value(own.bit_count(), enemy.bit_count(), *marks)

    def _scan(self, position: PapagraPosition) -> Scan:
        if self.opened and self.limit.is_reached(self.opened):
            raise TimeIsUpError
        self.opened += 1
        return Scan(self.grid, position, self.order, self.limit)

    def _choices(self, scan: Scan, side: int) -> list[Choice]:
        """The `MOST_TRIED` turns that look best, the best one first."""
        random, enemy = self.rng.random, scan.enemy
        valued: list[tuple[float, float, Reached]] = []
        met: Counter[int] = Counter()

        def value(all_found: Iterator[Reached]) -> None:  # while turns are found: it takes a third of the time
            valued.extend((self._worth(found, enemy, side), random(), found) for found in all_found)

        try:
            value(scan.turns())
            if self.removals and not scan.is_first:
                for _, _, found in nlargest(THINNED, valued):
                    value(scan.thinned(found, self.removals))
            for number, threat in enumerate(islice(scan.threats(), MOST_THREATS)):
                met.update(dict.fromkeys(bits(threat), 1 << number))
        except TimeIsUpError:
            if self.opened > 1:
                raise

        def order(one: tuple[float, float, Reached]) -> tuple[float, int, float]:
            worth, chance, ((a, b, _), own, _) = one
            return worth, (met[a & own] | met[b & own]).bit_count(), chance

        return [self._choice(found, enemy, side) for _, _, found in nlargest(MOST_TRIED, valued, order)]

    def _choice(self, found: Reached, enemy: int, side: int) -> Choice:
        turn, own, marks = found
        return Choice(self._worth(found, enemy, side), turn, PapagraPosition(enemy, own, marks[1], marks[0]))

    def _best(self, position: PapagraPosition, depth: int, side: int, alpha: float, beta: float) -> float:
        """What the best turn of a later position is worth for its mover, exact only between *alpha* and *beta*."""
        if depth <= 1:
            return self.raised(position, depth, side, alpha, beta)
        scan = self._scan(position)
        if (position, side) not in self.kept:
            if len(self.kept) >= POSITIONS_KEPT:
                self.kept.clear()
            self.kept[position, side] = self._choices(scan, side)[:MOST_ANSWERS]
        kept, best = self.kept[position, side], 0.0
        for choice in [*kept]:
            value = choice.value
            if 0 < value < 1:
                value = 1 - self._best(choice.after, depth - 1, 1 - side, 1 - beta, 1 - max(alpha, best))
            best = max(best, value)
            if best >= beta:
                kept.remove(choice)
                kept.insert(0, choice)
                break
        return best

    def raised(self, position: PapagraPosition, depth: int, side: int, alpha: float, beta: float) -> float:
        """What the best turn is worth, of those that raise the mover's mark, and of one that only adds two stones."""
        own, enemy, own_mark, enemy_mark, _ = position
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
        for found in self._scan(position).raising(least):
            choice = self._choice(found, enemy, side)
            value = choice.value
            if depth > LAST_RAISE and max(alpha, best) < value < 1:
                value = 1 - self.raised(choice.after, depth - 1, 1 - side, 1 - beta, 1 - max(alpha, best))
            best = max(best, value)
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
