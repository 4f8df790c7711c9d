"""How a robot plays Papagra: it looks at all of its turns, at the answers to the best of them, and so on.

Games at random tell little here, but what an action does to the marks can be counted. So this is an alpha-beta search
(Knuth and Moore 1975), one turn deeper each time while there is time for it. It looks at all turns of the position,
then at those that leave the best value, and at the best answers to each. At the end it looks at everything that raises
a mark, and the raises that answer it. Without these answers, the last raise would look too good, and a deeper search
would bring little.

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
    """The position after the turn, as the other player sees it."""


class Papagra:
    """A `Thinker` on one board."""

    def __init__(self, size: int, removals: int) -> None:
        """Take the size of the board, and how many stones a third action may remove."""
        self.grid = Grid(size)
        self.removals = removals
        self.limit = Limit()
        self.opened = 0
        """How many positions were scanned in this thought."""
        self.rng = Random()
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
        self.limit = limit
        self.opened = 0
        self.rng = rng
        self.kept.clear()
        self.order = list(bits(self.grid.all))
        rng.shuffle(self.order)
        self.stood = Counter(stones[:: 1 - 2 * state.turn] for stones in state.past)
        choices = self._choices(self._scan(position), 0)
        values = [choices[0].value]  # of the best turn, found one turn deep, two, and so on
        with suppress(TimeIsUpError):
            while len(choices) > 1 and 0 < values[-1] < 1:
                self._deepen(choices, len(values) + 1)
                values.append(choices[0].value)
        chance = values[-1]
        if 0 < chance < 1:
            last_even = len(values) // 2 * 2
            chance = values[last_even - 1]
        if values[0] < 1:  # a win further on is not certain: only some of the answers are looked at
            chance = guessed(chance)
        text = self.text(position.own, choices[0].turn)
        return Thought(text, chance, self.opened, (text,))

    def position(self, state: Any) -> PapagraPosition:
        """The position as the player to move sees it."""
        own, enemy = state.stones[:: 1 - 2 * state.turn]
        own_mark, enemy_mark = state.marks[:: 1 - 2 * state.turn]
        return PapagraPosition(own, enemy, own_mark, enemy_mark, state.actions == 1)

    def _deepen(self, choices: list[Choice], depth: int) -> None:
        """Look deeper at the first of these choices, at as many as there is time for, and sort these."""
        best = 0.0
        searched = []
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

    def _worth(self, reached: Reached, enemy: int, side: int) -> float:
        """What a turn is worth for its mover, by the position after it; *side* is 0 for the player who thinks."""
        (first, second, removed), own, (own_mark, enemy_mark) = reached
        arrangement = own, enemy
        if side == 1:
            arrangement = enemy, own
        times = self.stood[arrangement]
        undoes_itself = first and first == second and not removed
        is_behind = own_mark < enemy_mark
        # a leader can answer by a turn that undoes itself, and the arrangement stands for the third time
        if times >= 2 or (is_behind and (times or undoes_itself)):
            if own_mark == enemy_mark:
                return 0.5
            return float(own_mark > enemy_mark)
        return self.value(own.bit_count(), enemy.bit_count(), own_mark, enemy_mark)

    def _scan(self, position: PapagraPosition) -> Scan:
        if self.opened and self.limit.is_reached(self.opened):
            raise TimeIsUpError
        self.opened += 1
        return Scan(self.grid, position, self.order, self.limit)

    def _choices(self, scan: Scan, side: int) -> list[Choice]:
        """The `MOST_TRIED` turns that look best, the best one first."""
        random = self.rng.random
        enemy = scan.enemy
        valued: list[tuple[float, float, Reached]] = []
        met: Counter[int] = Counter()
        """For each space, the threats that a stone of the mover there would meet, a bit for each."""

        def value(turns: Iterator[Reached]) -> None:  # while turns are found: it takes a third of the time
            valued.extend((self._worth(reached, enemy, side), random(), reached) for reached in turns)

        try:
            value(scan.turns())
            if self.removals and not scan.is_first:
                for _, _, reached in nlargest(THINNED, valued):
                    value(scan.thinned(reached, self.removals))
            for number, threat in enumerate(islice(scan.threats(), MOST_THREATS)):
                met.update(dict.fromkeys(bits(threat), 1 << number))
        except TimeIsUpError:
            if self.opened > 1:
                raise

        def order(valued_turn: tuple[float, float, Reached]) -> tuple[float, int, float]:
            worth, chance, ((first, second, _), own, _) = valued_turn
            threats_met = met[first & own] | met[second & own]
            return worth, threats_met.bit_count(), chance

        return [self._choice(reached, enemy, side) for _, _, reached in nlargest(MOST_TRIED, valued, order)]

    def _choice(self, reached: Reached, enemy: int, side: int) -> Choice:
        turn, own, (own_mark, enemy_mark) = reached
        value = self._worth(reached, enemy, side)
        return Choice(value, turn, PapagraPosition(enemy, own, enemy_mark, own_mark))

    def _best(self, position: PapagraPosition, depth: int, side: int, alpha: float, beta: float) -> float:
        """What the best turn of a later position is worth for its mover, exact only between *alpha* and *beta*."""
        if depth <= 1:
            return self.raised(position, depth, side, alpha, beta)
        scan = self._scan(position)
        if (position, side) not in self.kept:
            if len(self.kept) >= POSITIONS_KEPT:
                self.kept.clear()
            self.kept[position, side] = self._choices(scan, side)[:MOST_ANSWERS]
        kept = self.kept[position, side]
        best = 0.0
        for choice in list(kept):
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
        for reached in self._scan(position).raising(least):
            choice = self._choice(reached, enemy, side)
            value = choice.value
            if depth > LAST_RAISE and max(alpha, best) < value < 1:
                value = 1 - self.raised(choice.after, depth - 1, 1 - side, 1 - beta, 1 - max(alpha, best))
            best = max(best, value)
            if best >= beta:
                for space in choice.turn[:2]:  # it is likely to be good elsewhere, too
                    self.order.remove(space)
                    self.order.insert(0, space)
                break
        return best

    def text(self, own: int, turn: Actions) -> str:
        """The turn in canonical form."""
        *actions, removed = turn
        texts = []
        for space in filter(None, actions):
            sign = "-" if own & space else "+"
            texts.append(sign + self.grid.hexagon.name[space])
            own ^= space
        if removed:
            texts.append("".join(f"-{name}" for name in self.grid.hexagon.names(removed)))
        return ",".join(texts) or SKIP


def thinker(options: Options) -> Papagra:
    """The robot for a board."""
    return Papagra(cast("int", options["size"]), cast("int", options["removals"]))
