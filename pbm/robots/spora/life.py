"""The board of Spora as a robot sees it: what turns do to it, who is alive there, and what belongs to whom."""

from typing import NamedTuple

from games.boards import Square, bits
from games.spora import Stacks, lowered, raised, without

WAYS = "nesw"
"""The directions of a sowing; the opposite of number n is n ^ 2."""
BOARDS_KEPT = 20_000
"""How many boards a robot keeps in mind, as for who is alive there."""


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


class Ground:
    """A board with what is asked of it again and again. Sets of points are bits, and *own* is the side that moves."""

    def __init__(self, size: int) -> None:
        """Make the tables of a board."""
        self.board = Square(size)
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
        self.known_open: dict[tuple[int, int], bool] = {}
        """For points and the empty ones around them, what `_stays_open` says."""
        self.known_joint: dict[tuple[int, int], bool] = {}
        """For points and the own stacks around them, whether those next to the point are connected there."""

    def begun(self, own: Stacks, enemy: Stacks) -> Scene:
        """A turn in which nothing has been done. All groups are alive, so several ones in the past are several now."""
        return Scene(own, enemy, self.are_several(own[0]), self.are_several(enemy[0]))

    def dropped(self, scene: Scene, point: int, count: int = 1) -> Scene:
        """After a drop of so many pieces."""
        return self._captured(scene._replace(own=raised(scene.own, point, count)), point)

    def sown(self, scene: Scene, turn: Sown, *, is_rough: bool = False) -> Scene:
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
        own_several = own_several or bool(own_alive) or self.are_several(own[0])
        enemy_several = enemy_several or bool(enemy_alive) or self.are_several(enemy[0])
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
            region = self.group(free & -free, free)
            free ^= region
            border = region << 1 | region >> 1 | region << width | region >> width
            for side, stacks in enumerate(both):
                touched = border & stacks
                if touched & ~alive[side] and touched & ~self.group(touched & -touched, stacks):
                    alive[side] |= self.group(touched, stacks)
        if len(self.known_alive) > BOARDS_KEPT:
            self.known_alive.clear()
        self.known_alive[both] = alive[0], alive[1]
        return alive[0], alive[1]

    def group(self, front: int, among: int) -> int:
        """As `Board.group`, but the start need not be connected, and quicker."""
        width, group = self.board.width, front
        while front:
            front = (front << 1 | front >> 1 | front << width | front >> width) & among & ~group
            group |= front
        return group

    def are_several(self, stacks: int) -> bool:
        """Whether stacks are more than one group."""
        return stacks != self.group(stacks & -stacks, stacks)

    def contested(self, own: int, enemy: int) -> int:
        """The empty points that stacks of both sides can reach; all of them as long as a side has none."""
        near, free = self.board.near, self.board.all & ~(own | enemy)
        if not own or not enemy:
            return free
        return self.group(near(enemy) & (reached := self.group(near(own) & free, free)), reached)

    def is_plain(self, point: int, own: int, enemy: int) -> bool:
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
            is_joint = self.group(near & -near, own_around) & near == near
            self.known_joint[point, own_around] = is_joint
        return is_joint

    def _stays_open(self, ring: int, free: int) -> bool:
        """Whether the empty points around keep together what the point connected: its region and what touches it."""
        start = ring & free
        reached = self.group(start & -start, free)
        return bool(start) and not start & ~reached and not ring & ~free & ~self.board.near(reached)

    def margin(self, own: int, enemy: int) -> int:
        """Points of the one side less those of the other: stacks and territory."""
        return own.bit_count() - enemy.bit_count() + self.territory(own, enemy)

    def territory(self, own: int, enemy: int) -> int:
        """Points of own territory less those of the enemy's."""
        near, free = self.board.near, self.board.all & ~(own | enemy)
        own_reach, enemy_reach = self.group(near(own) & free, free), self.group(near(enemy) & free, free)
        return (own_reach & ~enemy_reach).bit_count() - (enemy_reach & ~own_reach).bit_count()
