"""How a robot plays Spora: it values positions by what stands and what can be captured, and looks at answers.

A best-first search looks at all drops of a single piece, then at the best of them with more pieces, and at sowings
after the best two: those that capture, and others at random.

Where games are played out, both sides drop 1 to 4 pieces on a random empty point that stacks of both sides can reach,
as long as there are legal ones, and never sow: after that no score would change. In the last turn all pieces go so.
Each turn is legal. Such games judge the komi, where there is a pie.
"""

from collections.abc import Callable, Iterator, Sequence
from math import exp, inf
from random import Random
from statistics import median
from typing import Any, NamedTuple, cast

from games import Options, State
from games.boards import bits
from games.spora import SIDES, TALLEST, Stacks, new, raised
from pbm.robots.best_first import BestFirst
from pbm.robots.spora.life import BOARDS_KEPT, WAYS, Ground, Scene, Sown
from pbm.robots.thinking import Limit, Thought

WON = 50.0
"""The value of a game that is won."""
SOWINGS = 10
"""How many sowings of a position are looked at closely."""
DROPS_SHARE = 0.6
"""The part of the time that looking at drops may take."""


class Weights(NamedTuple):
    """What adds to the logarithm of the odds of the side that has just moved.

    They are about what a logistic regression made of 2,934 positions of sizes 7 and 9, from games of an earlier robot
    with itself: of who won, on what stood on the board. Distances to stacks, stacks of two and of three, the reserves,
    and stacks of the enemy that could be captured added nothing.
    """

    stacks: float = 0.35
    """For each own stack, less the enemy's."""
    fours: float = 0.5
    """For each own stack of four, less the enemy's."""
    territory: float = 0.1
    """For each point of own territory, less the enemy's."""
    stifled: float = -0.5
    """For each own group with a single liberty, less the enemy's."""
    komi: float = 0.14
    """For each point of it."""
    turn: float = -0.4
    """For the turn of the enemy."""
    single: float = -0.15
    """For each own single piece that a sowing could reach and capture."""
    ruin: float = -0.6
    """If one of these, or a stack of two in such danger, is one of two groups: the other one would be dead."""


class Stacked(NamedTuple):
    """A position."""

    own: Stacks
    """The stacks of the player to move."""
    enemy: Stacks
    reserve: int
    enemy_reserve: int
    has_dropped: bool
    enemy_has_dropped: bool
    turn: int
    lead: float
    """What the score of the player to move gets in the end beside his points: the komi, or less it."""

    @property
    def is_over(self) -> bool:
        """Whether the last turn is played, or a side has lost all stacks."""
        is_lost = (self.has_dropped and not self.own[0]) or (self.enemy_has_dropped and not self.enemy[0])
        return is_lost or not self.reserve


Venture = tuple[float, Sown, Scene]
"""A turn with its value and what it leads to."""


class Spora:
    """A `Valuation` of Spora on one board."""

    def __init__(self, size: int, weights: Weights | None = None) -> None:
        """Make the tables of a board."""
        self.ground, self.weights = Ground(size), weights or Weights()
        self.full = new(size=size).reserve[0]
        self.known_worth: dict[tuple[int, int], float] = {}
        """For the stacks of two sides, what `_worth` says of them."""

    def root(self, states: Sequence[State]) -> Stacked:
        """The last position, which is none of the pie."""
        state: Any = states[-1]
        own, enemy = state.turn, 1 - state.turn
        komi = (state.komi or 0) + 0.5
        return Stacked(
            state.stacks[own],
            state.stacks[enemy],
            state.reserve[own],
            state.reserve[enemy],
            state.has_dropped[own],
            state.has_dropped[enemy],
            own,
            komi if own else -komi,
        )

    def key(self, position: Stacked) -> Stacked:
        """The position."""
        return position

    def side(self, position: Stacked) -> int:
        """The side to move."""
        return position.turn

    def outcome(self, position: Stacked) -> float | None:
        """Who has won; there is no draw."""
        if not position.is_over:
            return None
        margin = self.ground.margin(position.own[0], position.enemy[0]) + position.lead
        return float((margin > 0) != position.turn)

    def valued(self, position: Stacked, most: int, rng: Random, limit: Limit) -> list[tuple[float, Sown, Stacked]]:
        """The best turns of those that were found; only one if it is the last turn."""
        if not position.enemy_reserve:
            turn = self._last_turn(position, rng, limit)
            return [(0.5, turn, self.play(position, turn))]
        scene = self.ground.begun(position.own, position.enemy)
        drops = self._drops(position, scene, 3 * most, rng, limit)
        found = [one for one in drops if not one[2].is_dead]
        for _, turn, after in found[:6]:
            found += self._higher(position, turn, after)
        if position.has_dropped:
            sown = self._sowings(position, drops[:2], 100 if most > 50 else 30, rng, limit)
            for _, turn, after in sown[:4]:
                found += self._higher(position, turn, after)
            found += sown
        if not found:
            turn = Sown((scene.own[0] & -scene.own[0],))
            found.append((0, turn, self.ground.dropped(scene, turn.drops[0])))
        found.sort(key=_first, reverse=True)
        return [(_chance(value), turn, _after(position, turn, after)) for value, turn, after in found[:most]]

    def play(self, position: Stacked, turn: Sown) -> Stacked:
        """The position after a turn."""
        scene = self.ground.begun(position.own, position.enemy)
        for point in turn.drops:
            scene = self.ground.dropped(scene, point, turn.pieces)
        return _after(position, turn, self.ground.sown(scene, turn) if turn.path else scene)

    def text(self, position: Stacked, turn: Sown) -> str:
        """The drops, and the sowing with its directions."""
        name = self.ground.board.name
        drops = ",".join(name[point] for point in turn.drops) + (f":{turn.pieces}" if turn.pieces > 1 else "")
        return f"{drops},{name[turn.start]}@{''.join(WAYS[way] for way in turn.path)}" if turn.path else drops

    def playout(self, position: Stacked, rng: Random, turns: list[Sown] | None = None) -> float:
        """By how much side 0 won when both sides went on at random; *turns* gets what they played."""
        own, enemy, reserve, rival = position.own[0], position.enemy[0], position.reserve, position.enemy_reserve
        side, lead, passes, random = position.turn, position.lead, 0, rng.random
        ground = self.ground
        contested = ground.contested(own, enemy)
        while reserve and passes < 2 and (own or reserve == self.full):
            drops: list[int] = []
            most = 1 if rival else reserve
            points = contested
            while points and len(drops) < most:
                point = _any_of(points, random)
                if ground.is_plain(point, own, enemy):
                    own |= point
                    contested ^= point
                else:
                    several = bool(own) and ground.are_several(own), bool(enemy) and ground.are_several(enemy)
                    after = ground.dropped(Scene((own, 0, 0, 0), (enemy, 0, 0, 0), *several), point)
                    if after.is_dead:
                        points ^= point
                        continue
                    own, enemy = after.own[0], after.enemy[0]
                    contested = ground.contested(own, enemy)
                drops.append(point)
                points = contested
            passes = 0 if drops else passes + 1
            count = min(reserve, 1 + int(TALLEST * random())) if rival and drops else 1
            if turns is not None:
                turns.append(Sown(tuple(drops) or (own & -own,), count))
            own, enemy, reserve, rival = enemy, own, rival, reserve - count if rival else 0
            side, lead = 1 - side, -lead
        margin = ground.margin(own, enemy) + lead
        return -margin if side else margin

    # Turns

    def _drops(self, position: Stacked, scene: Scene, most: int, rng: Random, limit: Limit) -> list[Venture]:
        """Drops of a single piece, those first that look best; those of dead stacks, too, which a sowing can save."""
        points = list(bits(self.ground.board.all & ~scene.enemy[0]))
        rng.shuffle(points)
        if len(points) > most:
            close = self.ground.board.near(scene.own[0] | scene.enemy[0])
            close |= self.ground.board.near(close)
            points.sort(key=lambda point: not point & close)
        found: list[Venture] = []
        limit = limit.part(DROPS_SHARE)
        for point in points[:most]:
            if limit.is_time_up and any(not one[2].is_dead for one in found):
                break
            after = self.ground.dropped(scene, point)
            found.append((self._value(position, after), Sown((point,)), after))
        found.sort(key=_first, reverse=True)
        return found

    def _higher(self, position: Stacked, turn: Sown, after: Scene) -> Iterator[Venture]:
        """The same turn with more pieces dropped, which changes no captures, because that stack is not sown."""
        for count in range(2, min(TALLEST, position.reserve) + 1):
            higher = after._replace(own=raised(after.own, turn.drops[0], count - 1))
            yield self._value(position, higher), turn._replace(pieces=count), higher

    def _sowings(
        self, position: Stacked, drops: Sequence[Venture], quiet: int, rng: Random, limit: Limit
    ) -> list[Venture]:
        """Sowings after these drops, those first that look best."""
        rough = []
        paths = self._paths(position, quiet, rng)
        for _, turn, dropped in drops:
            for start, path in paths:
                if limit.is_time_up:
                    break
                if start not in turn.drops:
                    sown = turn._replace(start=start, path=path)
                    rough.append((self._value(position, self.ground.sown(dropped, sown, is_rough=True)), sown, dropped))
        rough.sort(key=_first, reverse=True)
        found = []
        for _, sown, dropped in rough[:SOWINGS]:
            if limit.is_time_up:
                break
            after = self.ground.sown(dropped, sown)
            if not after.is_dead:
                found.append((self._value(position, after), sown, after))
        found.sort(key=_first, reverse=True)
        return found

    def _paths(self, position: Stacked, quiet: int, rng: Random) -> list[tuple[int, tuple[int, ...]]]:
        """Stacks and ways to sow them: some of those that capture, and at most so many that land on no enemy."""
        own, (ones, twos, threes, _) = position.own, position.enemy
        found: tuple[list[tuple[int, tuple[int, ...]]], ...] = ([], [])
        for start in bits(own[0]):
            for hand in range(1, sum(1 for level in own if level & start) + 1):
                begun: list[tuple[tuple[int, ...], int, bool]] = [((), start, False)]
                while begun:
                    path, point, captures = begun.pop()
                    left = hand - len(path)
                    if not left:
                        found[captures].append((start, path))
                        continue
                    for way, to in enumerate(self.ground.steps[point]):
                        if not to or (path and way == path[-1] ^ 2):
                            continue
                        if not to & ones:
                            begun.append(((*path, way), to, captures))
                        elif left > (3 if to & twos else 1) and not to & threes:
                            begun.append(((*path, way), to, True))
        return [path for paths in found for path in (rng.sample(paths, quiet) if len(paths) > quiet else paths)]

    def _last_turn(self, position: Stacked, rng: Random, limit: Limit) -> Sown:
        """Single drops where both sides can go, one after the other, each the best one as long as none is a loss.

        It ends when the time is over.
        """
        ground = self.ground
        scene = ground.begun(position.own, position.enemy)
        drops: list[int] = []
        while len(drops) < position.reserve:
            own, enemy = scene.own[0], scene.enemy[0]
            options: list[tuple[float, float, int]] = []
            looking = limit.part(DROPS_SHARE)
            for point in bits(ground.contested(own, enemy)):
                if options and looking.is_time_up:
                    break
                after = ground.dropped(scene, point)
                if not after.is_dead:
                    options.append((ground.margin(after.own[0], after.enemy[0]), rng.random(), point))
            options.sort(reverse=True)
            before = len(drops)
            for _, _, point in options[: 1 + len(options) // 8]:  # the more there are, the less they disturb each other
                if drops and limit.is_time_up:
                    break
                after = ground.dropped(scene, point) if point & ~(scene.own[0] | scene.enemy[0]) else scene
                loss = ground.margin(scene.own[0], scene.enemy[0]) - ground.margin(after.own[0], after.enemy[0])
                if not after.is_dead and loss <= 0 and after != scene and len(drops) < position.reserve:
                    scene = after
                    drops.append(point)
            if len(drops) == before or limit.is_time_up:
                break
        return Sown(tuple(drops) or (scene.own[0] & -scene.own[0],))

    # Values

    def _worth(self, own: int, enemy: int) -> float:
        """What stacks, territory and groups add to the value, whatever the heights."""
        known = self.known_worth.get((own, enemy))
        if known is None:
            if len(self.known_worth) > BOARDS_KEPT:
                self.known_worth.clear()
            weights, stacks = self.weights, own.bit_count() - enemy.bit_count()
            known = weights.stacks * stacks + weights.territory * self.ground.territory(own, enemy)
            known += weights.stifled * (self._stifled(own, enemy) - self._stifled(enemy, own))
            self.known_worth[own, enemy] = known
        return known

    def _stifled(self, stacks: int, others: int) -> int:
        """How many of the groups have only one liberty."""
        near, free, number = self.ground.board.near, self.ground.board.all & ~(stacks | others), 0
        while stacks:
            group = self.ground.group(stacks & -stacks, stacks)
            stacks ^= group
            liberties = near(group) & free
            number += not liberties & (liberties - 1)
        return number

    def _value(self, position: Stacked, after: Scene) -> float:
        """The logarithm of the odds of the mover, whose turn leads there."""
        weights, near = self.weights, self.ground.board.near
        own, _, _, own_4 = after.own
        enemy, enemy_2, _, enemy_4 = after.enemy
        if not own:
            return -WON
        if not enemy and position.enemy_has_dropped:
            return WON
        value = self._worth(own, enemy) + weights.komi * position.lead + weights.turn
        value += weights.fours * (own_4.bit_count() - enemy_4.bit_count())
        if enemy_2:
            singles, pairs = self._reachable(after.own, after.enemy)
            value += weights.single * singles.bit_count()
            if (singles | pairs) & ~near(own):
                rest = own & ~self.ground.group(own & -own, own)
                if not rest or not self.ground.are_several(rest):
                    value += weights.ruin
        return value

    def _reachable(self, stacks: Stacks, enemy: Stacks) -> tuple[int, int]:
        """The single pieces and the stacks of two that the enemy could capture by sowing if nothing was in the way."""
        near, (ones, twos, threes, _), (_, enemy_2, enemy_3, enemy_4) = self.ground.board.near, stacks, enemy
        hand_3 = near(enemy_4) & ~twos | enemy_3  # where a hand of three can go on from
        hand_2 = near(hand_3) & ~twos | enemy_2
        return near(hand_2) & ones & ~twos, near(enemy_4) & twos & ~threes


class Sower:
    """A `Thinker` that knows the pie, too."""

    PLAYOUTS = 100
    """How many games at random judge the komi, where the time is not all that limits it."""

    def __init__(self, knowledge: Spora) -> None:
        """Search with that knowledge."""
        self.knowledge, self.search = knowledge, BestFirst(knowledge)

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """The best turn; of the komi the fairest, and of the sides the better one."""
        state: Any = states[-1]
        if not state.pie:
            return self.search.think(states, limit, rng)
        empty = self.knowledge.root(states)._replace(turn=0, lead=0 if state.komi is None else -state.komi - 0.5)
        margins: list[float] = []
        enough = self.PLAYOUTS if limit.until is None or limit.playouts is not None else inf
        while not margins or (len(margins) < enough and not limit.is_time_up):
            margins.append(self.knowledge.playout(empty, rng))
        if state.komi is None:
            return Thought(f"komi={round(median(margins))}", 0.5, len(margins))
        black = sum(margin > 0 for margin in margins) / len(margins)
        return Thought(SIDES[black < 0.5], max(black, 1 - black), len(margins))


def _first(found: Venture) -> float:
    return found[0]


def _chance(value: float) -> float:
    """Of odds with that logarithm; never quite certain."""
    return 0.01 + 0.98 / (1 + exp(max(-WON, min(WON, -value))))


def _after(position: Stacked, turn: Sown, scene: Scene) -> Stacked:
    """The position after a turn that leads to this scene."""
    left = position.reserve - turn.pieces if position.enemy_reserve else 0
    return Stacked(
        own=scene.enemy,
        enemy=scene.own,
        reserve=position.enemy_reserve,
        enemy_reserve=left,
        has_dropped=position.enemy_has_dropped,
        enemy_has_dropped=True,
        turn=1 - position.turn,
        lead=-position.lead,
    )


def _any_of(points: int, random: Callable[[], float]) -> int:
    """One of these points; those above gaps come more often."""
    part = int(random() * points.bit_length())
    higher = points >> part
    return (higher & -higher) << part


def thinker(options: Options) -> Sower:
    """The robot for a board."""
    return Sower(Spora(cast("int", options["size"])))
