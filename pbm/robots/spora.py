"""How a robot plays Spora: it values positions by what stands and what can be captured, and looks at answers.

A best-first search looks at all drops of a single piece, then at the best of them with more pieces, and at sowings
after the best two: those that capture, and others at random.

Where games are played out, both sides drop 1 to 4 pieces on a random empty point that stacks of both sides can reach,
as long as there are legal ones, and never sow: after that no score would change. In the last turn all pieces go so.
Each turn is legal. Such games judge the komi, where there is a pie.
"""

from collections.abc import Callable, Iterator, Sequence
from math import exp
from random import Random
from statistics import median
from typing import Any, NamedTuple, cast

from games import Options, State
from games.boards import Square, bits
from games.spora import SIDES, TALLEST, Stacks, lowered, new, raised, without
from pbm.robots.best_first import BestFirst
from pbm.robots.thinking import Level, Limit, Thought

LEVELS = (Level(1, 0.5), Level(1, 0.15), Level(5), Level(25), Level(200))
WAYS = "nesw"
"""The directions of a sowing; the opposite of number n is n ^ 2."""
BOARDS_KEPT = 20_000
"""How many boards a robot keeps in mind, as for who is alive there."""

WON = 50.0
"""The value of a game that is won."""
SOWINGS = 10
"""How many sowings of a position are looked at closely."""


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


class Scene(NamedTuple):
    """The board in the middle of a turn."""

    own: Stacks
    enemy: Stacks
    own_several: bool
    """Whether the mover has ever had more than one group."""
    enemy_several: bool
    is_dead: bool = False
    """Whether the group of the dropped stack is dead, so that the turn cannot end."""


class Sown(NamedTuple):
    """A turn."""

    drops: tuple[int, ...]
    """One point; in the last turn one or more."""
    pieces: int = 1
    """How many pieces are dropped on each."""
    start: int = 0
    """The stack that is sown; 0 for none."""
    path: tuple[int, ...] = ()
    """In which of the `WAYS` each piece goes."""


Venture = tuple[float, Sown, Scene]
"""A turn with its value and what it leads to."""


class Spora:
    """A `Valuation` of Spora on one board."""

    def __init__(self, size: int, weights: Weights | None = None) -> None:
        """Make the tables of a board."""
        self.board, self.weights = Square(size), weights or Weights()
        self.full = new(size=size).reserve[0]
        every, width = self.board.all, self.board.width
        self.ring = {point: self.board.ring(point) for point in bits(every)}
        """The points next to each point."""
        self.around: dict[int, int] = {}
        """The points next to each point, and those that are next to it diagonally."""
        self.steps: dict[int, tuple[int, ...]] = {}
        """The next point in each of the `WAYS`; 0 off the board."""
        for point in bits(every):
            row = point | point << 1 | point >> 1
            self.around[point] = (row | row << width | row >> width) & every & ~point
            self.steps[point] = point << width & every, point << 1 & every, point >> width & every, point >> 1 & every
        self.known_alive: dict[tuple[int, int], tuple[int, int]] = {}
        """For the stacks of two sides, what `_alive` says of them."""
        self.known_worth: dict[tuple[int, int], float] = {}
        """For the stacks of two sides, what `_worth` says of them."""
        self.known_open: dict[tuple[int, int], bool] = {}
        """For points and the empty ones around them, what `_stays_open` says."""
        self.known_joint: dict[tuple[int, int], bool] = {}
        """For points and the own stacks around them, whether those next to the point are connected there."""

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
        margin = self._margin(position.own[0], position.enemy[0]) + position.lead
        return float((margin > 0) != position.turn)

    def valued(self, position: Stacked, most: int, rng: Random) -> list[tuple[float, Sown, Stacked]]:
        """The best turns of those that were found; only one if it is the last turn."""
        if not position.enemy_reserve:
            turn = self._last_turn(position, rng)
            return [(0.5, turn, self.play(position, turn))]
        scene = self._begin(position)
        drops = self._drops(position, scene, 3 * most, rng)
        found = [one for one in drops if not one[2].is_dead]
        for _, turn, after in found[:6]:
            found += self._higher(position, turn, after)
        if position.has_dropped:
            sown = self._sowings(position, drops[:2], 100 if most > 50 else 30, rng)
            for _, turn, after in sown[:4]:
                found += self._higher(position, turn, after)
            found += sown
        if not found:
            turn = Sown((scene.own[0] & -scene.own[0],))
            found.append((0, turn, self._dropped(scene, turn.drops[0])))
        found.sort(key=_first, reverse=True)
        return [(_chance(value), turn, _after(position, turn, after)) for value, turn, after in found[:most]]

    def play(self, position: Stacked, turn: Sown) -> Stacked:
        """The position after a turn."""
        scene = self._begin(position)
        for point in turn.drops:
            scene = self._dropped(scene, point, turn.pieces)
        return _after(position, turn, self._sown(scene, turn) if turn.path else scene)

    def text(self, position: Stacked, turn: Sown) -> str:
        """The drops, and the sowing with its directions."""
        name = self.board.name
        drops = ",".join(name[point] for point in turn.drops) + (f":{turn.pieces}" if turn.pieces > 1 else "")
        return f"{drops},{name[turn.start]}@{''.join(WAYS[way] for way in turn.path)}" if turn.path else drops

    def playout(self, position: Stacked, rng: Random, turns: list[Sown] | None = None) -> float:
        """By how much side 0 won when both sides went on at random; *turns* gets what they played."""
        own, enemy, reserve, rival = position.own[0], position.enemy[0], position.reserve, position.enemy_reserve
        side, lead, passes, random = position.turn, position.lead, 0, rng.random
        contested = self._contested(own, enemy)
        while reserve and passes < 2 and (own or reserve == self.full):
            drops: list[int] = []
            most = 1 if rival else reserve
            points = contested
            while points and len(drops) < most:
                point = _any_of(points, random)
                if self._is_plain(point, own, enemy):
                    own |= point
                    contested ^= point
                else:
                    several = bool(own) and self._are_several(own), bool(enemy) and self._are_several(enemy)
                    after = self._dropped(Scene((own, 0, 0, 0), (enemy, 0, 0, 0), *several), point)
                    if after.is_dead:
                        points ^= point
                        continue
                    own, enemy = after.own[0], after.enemy[0]
                    contested = self._contested(own, enemy)
                drops.append(point)
                points = contested
            passes = 0 if drops else passes + 1
            count = min(reserve, 1 + int(TALLEST * random())) if rival and drops else 1
            if turns is not None:
                turns.append(Sown(tuple(drops) or (own & -own,), count))
            own, enemy, reserve, rival = enemy, own, rival, reserve - count if rival else 0
            side, lead = 1 - side, -lead
        margin = self._margin(own, enemy) + lead
        return -margin if side else margin

    # Turns

    def _drops(self, position: Stacked, scene: Scene, most: int, rng: Random) -> list[Venture]:
        """Drops of a single piece, those first that look best; those of dead stacks, too, which a sowing can save."""
        points = list(bits(self.board.all & ~scene.enemy[0]))
        rng.shuffle(points)
        if len(points) > most:
            close = self.board.near(scene.own[0] | scene.enemy[0])
            close |= self.board.near(close)
            points.sort(key=lambda point: not point & close)
        found = []
        for point in points[:most]:
            after = self._dropped(scene, point)
            found.append((self._value(position, after), Sown((point,)), after))
        found.sort(key=_first, reverse=True)
        return found

    def _higher(self, position: Stacked, turn: Sown, after: Scene) -> Iterator[Venture]:
        """The same turn with more pieces dropped, which changes no captures, because that stack is not sown."""
        for count in range(2, min(TALLEST, position.reserve) + 1):
            higher = after._replace(own=raised(after.own, turn.drops[0], count - 1))
            yield self._value(position, higher), turn._replace(pieces=count), higher

    def _sowings(self, position: Stacked, drops: Sequence[Venture], quiet: int, rng: Random) -> list[Venture]:
        """Sowings after these drops, those first that look best."""
        rough = []
        paths = self._paths(position, quiet, rng)
        for _, turn, dropped in drops:
            for start, path in paths:
                if start not in turn.drops:
                    sown = turn._replace(start=start, path=path)
                    rough.append((self._value(position, self._sown(dropped, sown, is_rough=True)), sown, dropped))
        rough.sort(key=_first, reverse=True)
        found = []
        for _, sown, dropped in rough[:SOWINGS]:
            after = self._sown(dropped, sown)
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
                    for way, to in enumerate(self.steps[point]):
                        if not to or (path and way == path[-1] ^ 2):
                            continue
                        if not to & ones:
                            begun.append(((*path, way), to, captures))
                        elif left > (3 if to & twos else 1) and not to & threes:
                            begun.append(((*path, way), to, True))
        return [path for paths in found for path in (rng.sample(paths, quiet) if len(paths) > quiet else paths)]

    def _last_turn(self, position: Stacked, rng: Random) -> Sown:
        """Single drops where both sides can go, one after the other, each the best one as long as none is a loss."""
        scene = self._begin(position)
        drops: list[int] = []
        while len(drops) < position.reserve:
            own, enemy = scene.own[0], scene.enemy[0]
            options = []
            for point in bits(self._contested(own, enemy)):
                after = self._dropped(scene, point)
                if not after.is_dead:
                    options.append((self._margin(after.own[0], after.enemy[0]), rng.random(), point))
            options.sort(reverse=True)
            before = len(drops)
            for _, _, point in options[: 1 + len(options) // 8]:  # the more there are, the less they disturb each other
                after = self._dropped(scene, point) if point & ~(scene.own[0] | scene.enemy[0]) else scene
                loss = self._margin(scene.own[0], scene.enemy[0]) - self._margin(after.own[0], after.enemy[0])
                if not after.is_dead and loss <= 0 and after != scene and len(drops) < position.reserve:
                    scene = after
                    drops.append(point)
            if len(drops) == before:
                break
        return Sown(tuple(drops) or (scene.own[0] & -scene.own[0],))

    # The board

    def _begin(self, position: Stacked) -> Scene:
        """A turn in which nothing has been done. All groups are alive, so several ones in the past are several now."""
        own, enemy = position.own, position.enemy
        return Scene(own, enemy, self._are_several(own[0]), self._are_several(enemy[0]))

    def _dropped(self, scene: Scene, point: int, count: int = 1) -> Scene:
        return self._captured(scene._replace(own=raised(scene.own, point, count)), point)

    def _sown(self, scene: Scene, turn: Sown, *, is_rough: bool = False) -> Scene:
        """After the sowing; roughly, if captures are looked for only at its end."""
        own, enemy, own_several, enemy_several, _ = scene
        point, dropped = turn.start, turn.drops[0]
        own = lowered(own, point, len(turn.path))
        for way in turn.path:
            point = self.steps[point][way]
            own = raised(own, point, 1)
            if enemy[0] & point:
                enemy = without(enemy, point)
            if not is_rough:
                scene = self._captured(Scene(own, enemy, own_several, enemy_several), dropped)
                own, enemy, own_several, enemy_several, _ = scene
        return self._captured(Scene(own, enemy, own_several, enemy_several), dropped) if is_rough else scene

    def _captured(self, scene: Scene, dropped: int) -> Scene:
        """Without the dead groups, now that a piece stands: the enemy's first; see `games.spora.Turn.captured`."""
        own, enemy, own_several, enemy_several, _ = scene
        own_alive, enemy_alive = self._alive(own[0], enemy[0])
        own_several = own_several or bool(own_alive) or self._are_several(own[0])
        enemy_several = enemy_several or bool(enemy_alive) or self._are_several(enemy[0])
        if enemy_several and enemy_alive != enemy[0]:
            enemy = without(enemy, enemy[0] & ~enemy_alive)
            own_alive, _ = self._alive(own[0], enemy[0])
        lost = own[0] & ~own_alive if own_several else 0
        if lost:
            own = without(own, lost & ~self.board.group(dropped, own[0]))
        return Scene(own, enemy, own_several, enemy_several, bool(lost & dropped))

    def _alive(self, own: int, enemy: int) -> tuple[int, int]:
        """The stacks of each side in groups that an empty region connects with another group of that side."""
        both = own, enemy
        if both in self.known_alive:
            return self.known_alive[both]
        width, free, alive = self.board.width, self.board.all & ~(own | enemy), [0, 0]
        while free and (alive[0] != own or alive[1] != enemy):
            region = self._group(free & -free, free)
            free ^= region
            border = region << 1 | region >> 1 | region << width | region >> width
            for side, stacks in enumerate(both):
                touched = border & stacks
                if touched & ~alive[side] and touched & ~self._group(touched & -touched, stacks):
                    alive[side] |= self._group(touched, stacks)
        if len(self.known_alive) > BOARDS_KEPT:
            self.known_alive.clear()
        self.known_alive[both] = alive[0], alive[1]
        return alive[0], alive[1]

    def _group(self, front: int, among: int) -> int:
        """As `Board.group`, but the start need not be connected, and quicker."""
        width, group = self.board.width, front
        while front:
            front = (front << 1 | front >> 1 | front << width | front >> width) & among & ~group
            group |= front
        return group

    def _are_several(self, stacks: int) -> bool:
        return stacks != self._group(stacks & -stacks, stacks)

    def _contested(self, own: int, enemy: int) -> int:
        """The empty points that stacks of both sides can reach; all of them as long as a side has none."""
        near, free = self.board.near, self.board.all & ~(own | enemy)
        if not own or not enemy:
            return free
        return self._group(near(enemy) & (reached := self._group(near(own) & free, free)), reached)

    def _is_plain(self, point: int, own: int, enemy: int) -> bool:
        """Whether a drop on a contested point captures nothing and lives, as one can see from the points around."""
        around, ring = self.around[point], self.ring[point]
        free, own_around = around & ~(own | enemy), around & own
        is_open = self.known_open.get((point, free))
        if is_open is None:
            is_open = self.known_open[point, free] = self._stays_open(ring, free)
        if not is_open or not own or not enemy:
            return False
        near = ring & own_around
        if not near & (near - 1):
            return True
        is_joint = self.known_joint.get((point, own_around))
        if is_joint is None:
            is_joint = self._group(near & -near, own_around) & near == near
            self.known_joint[point, own_around] = is_joint
        return is_joint

    def _stays_open(self, ring: int, free: int) -> bool:
        """Whether the empty points around keep together what the point connected: its region and what touches it."""
        start = ring & free
        reached = self._group(start & -start, free)
        return bool(start) and not start & ~reached and not ring & ~free & ~self.board.near(reached)

    # Values

    def _margin(self, own: int, enemy: int) -> int:
        """Points of the one side less those of the other: stacks and territory."""
        return own.bit_count() - enemy.bit_count() + self._territory(own, enemy)

    def _territory(self, own: int, enemy: int) -> int:
        """Points of own territory less those of the enemy's."""
        near, free = self.board.near, self.board.all & ~(own | enemy)
        own_reach, enemy_reach = self._group(near(own) & free, free), self._group(near(enemy) & free, free)
        return (own_reach & ~enemy_reach).bit_count() - (enemy_reach & ~own_reach).bit_count()

    def _worth(self, own: int, enemy: int) -> float:
        """What stacks, territory and groups add to the value, whatever the heights."""
        known = self.known_worth.get((own, enemy))
        if known is None:
            if len(self.known_worth) > BOARDS_KEPT:
                self.known_worth.clear()
            weights, stacks = self.weights, own.bit_count() - enemy.bit_count()
            known = weights.stacks * stacks + weights.territory * self._territory(own, enemy)
            known += weights.stifled * (self._stifled(own, enemy) - self._stifled(enemy, own))
            self.known_worth[own, enemy] = known
        return known

    def _stifled(self, stacks: int, others: int) -> int:
        """How many of the groups have only one liberty."""
        near, free, number = self.board.near, self.board.all & ~(stacks | others), 0
        while stacks:
            group = self._group(stacks & -stacks, stacks)
            stacks ^= group
            liberties = near(group) & free
            number += not liberties & (liberties - 1)
        return number

    def _value(self, position: Stacked, after: Scene) -> float:
        """The logarithm of the odds of the mover, whose turn leads there."""
        weights, near = self.weights, self.board.near
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
                rest = own & ~self._group(own & -own, own)
                if not rest or not self._are_several(rest):
                    value += weights.ruin
        return value

    def _reachable(self, stacks: Stacks, enemy: Stacks) -> tuple[int, int]:
        """The single pieces and the stacks of two that the enemy could capture by sowing if nothing was in the way."""
        near, (ones, twos, threes, _), (_, enemy_2, enemy_3, enemy_4) = self.board.near, stacks, enemy
        hand_3 = near(enemy_4) & ~twos | enemy_3  # where a hand of three can go on from
        hand_2 = near(hand_3) & ~twos | enemy_2
        return near(hand_2) & ones & ~twos, near(enemy_4) & twos & ~threes


class Sower:
    """A `Thinker` that knows the pie, too."""

    PLAYOUTS = 100
    """How many games at random judge the komi."""

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
        while not margins or (len(margins) < self.PLAYOUTS and not limit.is_reached(0)):
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
