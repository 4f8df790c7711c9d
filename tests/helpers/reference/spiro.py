"""Spiro once more, the plain and slow way: every order of using the dice is tried, on stacks in a dictionary.

``Rules(small=True).sequences(cells, "X", (4, 2))`` lists all ways to use two dice;
`spelled` writes one of them.
"""

from typing import NamedTuple

MEDIUM = (
    "g4 h4 i4 i3 h3 h2 g2 f2 e2 d2 d3 c3 c4 d4 d5 e5 e6 f6 g6 h6 i6 j6 k6 k5 l5 l4 m4 m3 l3 l2 k2 k1 j1".split(),
    "g3 f3 e3 e4 f4 f5 g5 h5 i5 j5 j4 k4 k3 j3 j2 i2 i1 h1 g1 f1 e1 d1 c1 c2 b2 b3 a3 a4 b4 b5 c5 c6 d6".split(),
)
SMALL = (
    "e3 f3 g3 g2 f2 f1 e1 d1 c1 b1 b2 a2 a3 b3 b4 c4".split(),
    "e2 d2 c2 c3 d3 d4 e4 f4 g4 h4 h3 i3 i2 h2 h1 g1".split(),
)
ROWS = {True: [7, 9, 9, 7], False: [9, 11, 13, 13, 11, 9]}
OFF = "off"


class Use(NamedTuple):
    """One die, used by one piece."""

    source: str
    target: str
    die: int
    jumps: bool
    blots: bool

    @property
    def text(self):
        return "+" if self.jumps else "x" if self.target == OFF else str(self.die)


class Rules:
    """The rules on one board."""

    def __init__(self, *, small, no_inwards=False):
        self.paths = SMALL if small else MEDIUM
        self.no_inwards = no_inwards
        self.homes = {"X": self.paths[0][0], "O": self.paths[1][0]}
        self.place = {cell: (path, index) for path in self.paths for index, cell in enumerate(path)}
        self.across = {}
        for cell in self.place:
            for other in self.neighbours(cell, ROWS[small]):
                if self.place[other][0] is not self.place[cell][0] and {cell, other} != set(self.homes.values()):
                    self.across[cell] = other

    def neighbours(self, cell, widths):
        """The cells that share an edge: two in the row, and one in the row above or below."""
        column, row = ord(cell[0]) - ord("a"), int(cell[1:])
        first = (max(widths) - widths[row - 1]) // 2
        in_upper_half = row > len(widths) // 2
        points_up = (column - first) % 2 == (0 if in_upper_half else 1)
        beyond = row - 1 if points_up else row + 1
        for x, y in (column - 1, row), (column + 1, row), (column, beyond):
            name = f"{chr(ord('a') + x)}{y}"
            if name in self.place:
                yield name

    def uses(self, cells, side, dice, earlier):
        """Every use of one of the dice, after the uses that were made *earlier* in the turn."""
        other = "O" if side == "X" else "X"
        may_jump = sum(use.jumps for use in earlier) < (2 if len(dice) + len(earlier) == 4 else 1)
        for source in [cell for cell, stack in cells.items() if stack.endswith(side)]:
            path, index = self.place[source]
            for die in sorted(set(dice)):
                target = path[index + die] if index + die < len(path) else OFF
                if not is_blocked(cells.get(target, ""), other):
                    yield Use(source, target, die, jumps=False, blots=False)
            target = self.across.get(source)
            if target in {None, self.homes[other]} or not may_jump or is_blocked(cells.get(target, ""), other):
                continue
            if self.no_inwards and self.place[target][1] < index:
                continue
            blots = cells.get(target) == other
            back = [use for use in earlier if use.jumps and (use.source, use.target) == (target, source)]
            if back and not blots and not back[0].blots:
                continue
            for die in sorted(set(dice)):
                yield Use(source, target, die, jumps=True, blots=blots)

    def after(self, cells, use, side):
        """The cells after one use of a die."""
        other = "O" if side == "X" else "X"
        changed = dict(cells)
        changed[use.source] = changed[use.source][:-1]
        if use.blots:
            changed[use.target] = ""
            changed[self.homes[other]] = changed.get(self.homes[other], "") + other
        if use.target != OFF:
            changed[use.target] = changed.get(use.target, "") + side
        return {cell: stack for cell, stack in changed.items() if stack}

    def sequences(self, cells, side, dice):
        """Every way to use some of the dice one after the other, whether or not it is a whole turn."""
        dice = tuple(dice) * (2 if len(dice) == 2 and dice[0] == dice[1] else 1)
        found = []

        def go(cells, left, earlier):
            for use in self.uses(cells, side, left, earlier):
                rest = list(left)
                rest.remove(use.die)
                then = self.after(cells, use, side)
                found.append(((*earlier, use), then))
                go(then, tuple(rest), (*earlier, use))

        go(cells, dice, ())
        return found

    def turns(self, cells, side, dice):
        """The positions that legal turns lead to; none if no die can be used."""
        return legal(self.sequences(cells, side, dice), side)

    def readings(self, text, sequences, side):
        """The positions of legal turns that a text can mean, of all ways to use the dice."""
        links = read(text)
        fitting = {frozen(cells) for uses, cells in sequences if fits(uses, links, None)}
        return fitting & legal(sequences, side)


def is_blocked(stack, enemy):
    """Two pieces or more, the uppermost an enemy."""
    return len(stack) > 1 and stack.endswith(enemy)


def frozen(cells):
    """A position that can be in a set."""
    return frozenset(cells.items())


def legal(sequences, side):
    """Of the positions after sequences of uses those with the greatest number of pips, and with no piece left."""
    most = max((pips(uses) for uses, _ in sequences), default=0)
    return {
        frozen(cells)
        for uses, cells in sequences
        if pips(uses) == most or not any(side in stack for stack in cells.values())
    }


def pips(uses):
    """What the dice of these uses come to."""
    return sum(use.die for use in uses)


def spelled(uses):
    """A sequence of uses, each of them an item."""
    return ",".join(f"{use.source}:{use.text}" for use in uses)


def read(text):
    """The links of a text: each with the cell of its item if it is the first of one, a mark and a goal."""
    links = []
    for item in text.lower().split(","):
        times, _, chain = item.strip().rpartition("x") if item.strip()[0].isdigit() else ("1", "", item.strip())
        if times and not times.isdigit():  # the x was the end of the chain, -x or :x
            times, _, chain = item.strip().partition("x")
        words = chain.replace("-", " -").replace(":", " :").split()
        parts = [(word[0], word[1:]) for word in words[1:]]
        links += [(words[0] if n == 0 else None, *part) for n, part in enumerate(parts)] * int(times)
    return links


def fits(uses, links, at):
    """Whether these uses are what the links say; *at* is where the piece of the link before has come to."""
    if not links:
        return not uses
    cell, mark, goal = links[0]
    at = cell or at
    for count in range(1, len(uses) + 1):
        chain = uses[:count]
        if chain[-1].source != at:
            return False
        at = chain[-1].target
        if is_done(chain, mark, goal) and fits(uses[count:], links[1:], at):
            return True
    return False


def is_done(chain, mark, goal):
    """Whether these uses of one piece are what a move says behind its first place."""
    if goal == "+":
        return len(chain) == 1 and chain[0].jumps
    if mark == ":" and any(use.jumps for use in chain):
        return False
    if goal.isdigit():
        return pips(chain) == int(goal)
    return chain[-1].target == (OFF if goal == "x" else goal)
