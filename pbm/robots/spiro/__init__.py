"""How a robot plays Spiro: it values the position after each of its turns, then the answers to the best ones.

The value of a position is linear in the `TERMS` of either side, with other weights for each number of pinned pieces;
where numpy is installed, a small neural network values it better. tests/bench/learn_spiro.py learned both on each board
from games of the robot against itself. For a double, only the best-looking ways to use each die are followed: without
that limit, a single turn can have thousands of answers.

On the small board, when only time limits the robot and the game is not late, rollouts follow (Tesauro and Galperin
1996). A rollout is a game from one of the best turns on. Both sides play the turn with the best value, and each of the
compared turns gets the same dice. A rollout ends after `ROLLED_TURNS` turns and counts the value of its last position.
After each equal part of the time, the worse half of the turns drops out (sequential halving: Karnin, Koren and Somekh
2013).
"""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from math import exp, sqrt
from operator import attrgetter, itemgetter, mul
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, cast

from games import Options, State, spiro
from games.spiro import OFF
from pbm.robots.spiro.positions import ROLLS, SpiroPosition, Track, Way, position_of, uses_of
from pbm.robots.thinking import Limit, Thought, guessed

if TYPE_CHECKING:
    from pbm.robots.spiro.net import Net

TERMS = (
    "single pieces",
    "stacks of two or more",
    "pieces above the second one of a stack, but at home",
    "pieces at home",
    "pieces",
    "single pieces that a jump can hit: chance x way that it has made",
    "single pieces that a step can pin: chance",
    "single pieces that a step can pin: chance x way that it has made",
    "steps that the enemy blocks, a sixth for each die and cell",
    "which part of the steps that is",
    "pinned pieces",
    "pinned pieces x the way of the free ones",
    "pinned pieces with two or more upon them",
    "the way of pinned pieces",
    "the way of enemies that pin nothing, if a piece is pinned",
    "two or more pinned pieces",
)
"""What counts for each side in a position. Ways are in dice, see `Track.ways`."""
PINNED = TERMS.index("pinned pieces")
DOUBT = 10.0
"""How many dice are added to the ways: a lead counts less the longer they are, but the end of a race is luck, too."""
SETS_KEPT = 20_000
"""The chances to hit a cell are cached for this many sets of enemies near it."""
FOLDER = Path(__file__).parent
"""The folder of what tests/bench/learn_spiro.py learned on each board: weights of the terms, and networks."""
BEST_TURNS = 3
"""All answers are valued for this many of the best-looking turns.

With eight the robot is hardly stronger, and games on the medium board take longer.
"""
MORE_TURNS = 8
"""With rollouts, answers are valued for this many turns."""
MOST_ROLLED = 5
"""Rollouts compare at most this many of these turns."""
MOST_BEHIND = 0.15
"""Rollouts leave out a turn with a chance that is lower than the best one by this or more."""
ROLLED_TURNS = {"small": 10, "medium": 0}
"""How many turns a rollout plays: an even number, so that the robot's side moves last.

The medium board has none, because they are not shown to win more games there.
"""
ROLLOUTS_OF_ANSWERS = 100
"""The chance after all answers weighs as much as this many rollouts."""
LONG_GAME = {"small": 100, "medium": 40}
"""After this many turns, a robot with a network plays by the linear values instead, so that the game ends."""
PATIENT_LONG_GAME = 100
"""LONG_GAME on both boards if only time limits the robot: it wins more then, and games take longer."""
OWN_WAYS, ANSWERING_WAYS = 100, 30
"""At most this many ways to use the dice are kept after each die of a double: for own turns, and for answers."""
MOST_USES = 2_000
"""About this many uses of a die are tried, so a board with very many pieces keeps fewer ways than `OWN_WAYS`."""
VALUED_AT_ONCE = 50
"""How many positions are valued before the robot looks at the clock."""
SECONDS_OF_A_THROW = 0.03
"""This time is kept for the answers to one more throw, and for the rules to read the turn."""
Counts = list[float]
"""The amount of each of `TERMS` for one side."""


class Judge:
    """What a robot knows of positions on one board."""

    def __init__(self, track: Track, weights: Sequence[Sequence[float]], net: "Net | None") -> None:
        """Compute what each side needs. *weights* has a row of `terms` for each number of pinned pieces."""
        self.track, self.weights, self.net = track, weights, net
        hits = _hits(track)
        self.own, self.enemy = _Half(track, hits, home=0), _Half(track, hits, home=track.length)

    def values(self, positions: Sequence[SpiroPosition], *, is_late: bool) -> list[float]:
        """For each position, the logarithm of the odds that the side that has just moved wins."""
        rows_and_terms = [self.terms(position) for position in positions]
        if self.net and not is_late:
            rows, terms_of_all = zip(*rows_and_terms, strict=True)
            return self.net.values(positions, rows, terms_of_all)
        return [sum(map(mul, terms, self.weights[row])) for row, terms in rows_and_terms]

    def terms(self, position: SpiroPosition) -> tuple[int, list[float]]:
        """The row of weights to use; and the lead, the value of having moved, and all `TERMS` of each side."""
        (way, counts), (enemy_way, enemy_counts) = self.counted(position)
        row = int(3 * min(counts[PINNED], 2) + min(enemy_counts[PINNED], 2))
        doubt = sqrt(way + enemy_way + DOUBT)
        return row, [term / doubt for term in (enemy_way - way, 1.0, *counts, *enemy_counts)]

    def counted(self, position: SpiroPosition) -> tuple[tuple[float, Counts], tuple[float, Counts]]:
        """For the side that has just moved and the other one, the way of its pieces and all `TERMS`."""
        own, foe, own_pinned, foe_pinned = position
        cells = self.track.cells
        pinned = list(compress(cells, own_pinned))
        enemy_pinned = list(compress(cells, foe_pinned))
        men = self.own.men(list(compress(cells, own)), own, enemy_pinned)
        enemies = self.enemy.men(list(compress(cells, foe)), foe, pinned)
        return self.own.counted(men, pinned, enemies), self.enemy.counted(enemies, enemy_pinned, men)


class _Men(NamedTuple):
    """The free pieces of one side."""

    cells: list[int]
    heights: bytes
    singles: list[int]
    """The cells of those that can be hit."""
    at: int
    """The cells, a bit for each."""
    blocks: int
    """The cells that they block, a bit for each."""
    way: float
    idle_way: float
    """The way of those that pin nothing."""
    counts: Counts
    """What the first of `TERMS` count."""


class _Half:
    """A board for one side: the ways of its pieces, and from where they are in danger."""

    def __init__(self, track: Track, hits: "list[Hits]", *, home: int) -> None:
        """Number the cells from the home of the side that has moved; *home* is that of this side."""
        size = track.size
        enemy_home = track.length - home  # from where they count
        self.home = home
        ways = track.ways[:-1]
        self.ways = [ways[cell - home] for cell in track.cells]
        self.made = [ways[0] - way for way in self.ways]
        """The way that a piece has made to come to each cell."""
        self.bits = [1 << cell for cell in track.cells]
        self.hits: list[Hits] = []
        for cell in track.cells:
            sources = hits[cell - enemy_home].items()
            self.hits.append({(source + enemy_home) % size: throws for source, throws in sources})
        self.near = [sum(1 << source for source in hits_of_cell) for hits_of_cell in self.hits]
        """From where an enemy can reach each cell in one turn, if nothing blocks it."""
        self.hit_chances = lru_cache(SETS_KEPT)(self._hit_chances)  # saves a fifth of the time
        self.next_six = [
            sum(1 << target for die in range(1, 7) if (target := track.step[die][cell]) != OFF) for cell in track.cells
        ]

    def men(self, cells: list[int], heights: bytes, pinning: list[int]) -> _Men:
        """Look at the free pieces on these cells; they pin enemies on some of them."""
        singles = []
        at = blocks = pieces = stacks = tall = 0
        way = 0.0
        for cell in cells:
            height = heights[cell]
            at |= self.bits[cell]
            way += height * self.ways[cell]
            pieces += height
            if height > 1:
                blocks |= self.bits[cell]
                stacks += 1
                if height > 2 and cell != self.home:
                    tall += height - 2
            elif cell not in pinning:
                singles.append(cell)
        idle_way = way
        for cell in pinning:
            blocks |= self.bits[cell]
            idle_way -= heights[cell] * self.ways[cell]
        counts: Counts = [len(singles), stacks, tall, heights[self.home], pieces]
        return _Men(cells, heights, singles, at, blocks, way, idle_way, counts)

    def counted(self, men: _Men, pinned: list[int], enemies: _Men) -> tuple[float, Counts]:
        """The way of these pieces and the pinned ones, and all `TERMS`."""
        lost = risk = risked = 0.0
        for cell in men.singles:
            near = enemies.at & self.near[cell]
            if near:
                by_jump, by_step = self.hit_chances(cell, near)
                lost += by_jump * self.made[cell]
                risk += by_step
                risked += by_step * self.made[cell]
        blocked = 0
        if enemies.blocks:
            for cell in men.cells:
                blocked += (enemies.blocks & self.next_six[cell]).bit_count()
        free = len(men.cells)
        blocked_part = blocked / free / 6 if free else 1.0
        counts = [*men.counts, lost, risk, risked, blocked / 6, blocked_part]
        if not pinned:
            return men.way, [*counts, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        number = len(pinned)
        way = sum([self.ways[cell] for cell in pinned])
        firmly = sum([enemies.heights[cell] > 1 for cell in pinned])
        counts[4] += number
        return men.way + way, [*counts, number, number * men.way, firmly, way, enemies.idle_way, number > 1]

    def _hit_chances(self, cell: int, near: int) -> tuple[float, float]:
        """How probably one of the enemies near a cell can jump there, and step there."""
        jumps = steps = 0
        for source, (by_jump, by_step) in self.hits[cell].items():
            if near & self.bits[source]:
                jumps |= by_jump
                steps |= by_step
        return jumps.bit_count() / 36, steps.bit_count() / 36


Hits = dict[int, tuple[int, int]]
"""For a cell the throws, a bit for each of 36, with which a piece from some other one can jump and step there."""


def _hits(track: Track) -> list[Hits]:
    """For each cell, in the numbers of the side to move, how its pieces can reach it if nothing is in their way."""
    hits: list[Hits] = [{} for _ in track.cells]
    first = 1
    for high, low in ROLLS:
        throws = first if high == low else 3 * first
        first <<= throws.bit_count()
        orders = [[high] * 4] if high == low else [[high, low], [low, high]]
        for source in track.cells:
            places = [(source, len(dice) // 2, dice) for dice in orders]
            for cell, jumps, dice in places:  # more of them come while there are dice left
                target, across = track.step[dice[0]][cell], track.across[cell]
                if target != OFF:
                    by_jump, by_step = hits[target].get(source, (0, 0))
                    hits[target][source] = by_jump, by_step | throws
                    places += [(target, jumps, dice[1:])] if dice[1:] else []
                if jumps and across != OFF:
                    by_jump, by_step = hits[across].get(source, (0, 0))
                    hits[across][source] = by_jump | throws, by_step
                    places += [(across, jumps - 1, dice[1:])] if dice[1:] else []
    return hits


def _chance(value: float) -> float:
    """The probability with odds of this logarithm."""
    return 1 / (1 + exp(-value))


class Rival:
    """A turn that is compared with others by rollouts."""

    def __init__(self, answered: float, after: SpiroPosition, way: Way) -> None:
        """Begin with its chance after all answers."""
        self.after = after
        self.way = way
        self.points = ROLLOUTS_OF_ANSWERS * answered
        self.games = float(ROLLOUTS_OF_ANSWERS)

    @property
    def chance(self) -> float:
        """The chance to win after this turn."""
        return self.points / self.games


class Racer:
    """A `Thinker` that values all its turns, and then the enemy's answers to those that look best."""

    def __init__(self, judge: Judge, board: str) -> None:
        """Play as this judge says on the small or the medium board."""
        self.judge = judge
        self.track = judge.track
        self.long_game = LONG_GAME[board]
        self.rolled_turns = ROLLED_TURNS[board]

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """A turn that wins, or else the best one after all answers to it that there was time for."""
        state = cast("spiro.State", states[-1])
        position = position_of(state)
        tried: list[tuple[SpiroPosition, Way]] = []
        stacks = len(position.own) - position.own.count(0)
        ways = min(OWN_WAYS, MOST_USES // (stacks + 1))
        for (own, blots), way in self.track.outcomes(position, state.dice, ways).items():
            after = self.track.after(position, own, blots)
            if after.has_won:
                return self._thought(state, way, 1.0, 1)
            tried.append((after, way))
        is_patient = limit.until is not None and limit.playouts is None
        long_game = PATIENT_LONG_GAME if is_patient else self.long_game
        is_late = self.judge.net is not None and len(states) > long_game
        values = self._values([after for after, _ in tried], limit, is_late=is_late)
        ranked = sorted(zip(values, tried, strict=False), key=itemgetter(0), reverse=True)
        valued = len(values)
        best_value, (_, best_way) = ranked[0]
        chance = _chance(best_value)
        limit = limit.earlier(SECONDS_OF_A_THROW)
        can_roll = self.rolled_turns and is_patient and not is_late
        if valued == 1 or is_late:
            most_answered = 0
        elif can_roll:
            most_answered = MORE_TURNS
        else:
            most_answered = BEST_TURNS
        rivals: list[Rival] = []
        for _, (after, way) in ranked[:most_answered]:
            answered, valued = self._answered(after, limit, valued)
            if answered is None:
                break
            rivals.append(Rival(answered, after, way))
        rivals.sort(key=attrgetter("chance"), reverse=True)
        if can_roll:
            rivals, rolled = self._compared(rivals, limit, rng)
            valued += rolled
        if rivals:
            chance = rivals[0].chance
            best_way = rivals[0].way
        return self._thought(state, best_way, guessed(chance), valued)

    def _compared(self, rivals: list[Rival], limit: Limit, rng: Random) -> tuple[list[Rival], int]:
        """The best of these turns by rollouts, if there is time for them, and how many positions were valued."""
        kept = [rival for rival in rivals[:MOST_ROLLED] if rival.chance > rivals[0].chance - MOST_BEHIND]
        valued = 0
        while len(kept) > 1 and not limit.is_time_up:
            part = limit.part(1 / (len(kept) - 1).bit_length())
            while not part.is_time_up:
                throws = [(rng.randint(1, 6), rng.randint(1, 6)) for _ in range(self.rolled_turns)]
                games = [self.rolled(rival.after, throws, limit) for rival in kept]
                valued += sum(number for _, number in games)
                if limit.is_time_up:  # some have not ended
                    break
                for rival, (chance, _) in zip(kept, games, strict=True):
                    rival.points += chance
                    rival.games += 1
            kept.sort(key=attrgetter("chance"), reverse=True)
            kept = kept[: (len(kept) + 1) // 2]
        return kept, valued

    def rolled(self, position: SpiroPosition, throws: Sequence[tuple[int, int]], limit: Limit) -> tuple[float, int]:
        """The chance of the side that has just moved, after these throws; and how many positions were valued."""
        value = 0.0
        valued = 0
        for number, dice in enumerate(throws):
            if limit.is_time_up:
                break
            before = position.turned
            ways = self.track.outcomes(before, dice, ANSWERING_WAYS)
            answers = [self.track.after(before, *way) for way in ways] or [before]
            if any(answer.has_won for answer in answers):
                return number % 2, valued
            values = self._values(answers, limit, is_late=False)
            valued += len(values)
            value, position = max(zip(values, answers, strict=False), key=itemgetter(0))
        return _chance(value), valued

    def _answered(self, after: SpiroPosition, limit: Limit, valued: int) -> tuple[float | None, int]:
        """The chance to win if the enemy answers each throw best, or None without time; and how many were valued."""
        position = after.turned
        lost = 0.0
        for dice in ROLLS:
            if limit.is_reached(valued):
                return None, valued
            outcomes = self.track.outcomes(position, dice, ANSWERING_WAYS)
            answers = [self.track.after(position, *outcome) for outcome in outcomes] or [position]
            values = self._values(answers, limit, is_late=False)
            valued += len(values)
            if len(values) < len(answers):
                return None, valued
            wins = any(answer.has_won for answer in answers)
            chance = 1.0 if wins else _chance(max(values))
            lost += chance * (1 if dice[0] == dice[1] else 2) / 36
        return 1 - lost, valued

    def _values(self, positions: Sequence[SpiroPosition], limit: Limit, *, is_late: bool) -> list[float]:
        """The value of each position, as `Judge.values`; if the time is up, of the first ones only."""
        values: list[float] = []
        for first in range(0, len(positions), VALUED_AT_ONCE):
            if values and limit.is_time_up:
                break
            values += self.judge.values(positions[first : first + VALUED_AT_ONCE], is_late=is_late)
        return values

    def _thought(self, state: spiro.State, way: Way, chance: float, valued: int) -> Thought:
        move = state.parse(self.text(state, way))
        return Thought(move, chance, valued, (move,))

    def text(self, state: spiro.State, way: Way) -> str:
        """The turn with every use of a die, as the rules write it."""
        home = state.board.home(state.turn)
        text = ""
        reached = OFF
        for cell, target, die in uses_of(way):
            if cell != reached:  # else the same piece moves on
                text += "," + state.board.names[(cell + home) % self.track.size]
            if target == OFF:
                text += ":x"
            elif target == self.track.across[cell]:
                text += ":+"
            else:
                text += f":{die}"
            reached = target
        return text[1:]


def thinker(options: Options) -> Racer:
    """What plays on the board of these options; how many pieces there are does not matter."""
    track = Track(small=bool(options["small"]), no_inwards=bool(options["no_inwards"]))
    board = "small" if options["small"] else "medium"
    weights = json.loads(FOLDER.joinpath("weights.json").read_text(encoding="ascii"))[board]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a robot thinks with one core
    try:
        from pbm.robots.spiro.net import Net
    except ImportError:  # numpy is not installed
        return Racer(Judge(track, weights, None), board)
    return Racer(Judge(track, weights, Net(FOLDER / f"{board}.npz")), board)
