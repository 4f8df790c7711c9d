"""Sprout-R-Out once more, from the rulebook: sets of names, no bits, nothing clever. Slow on purpose.

``Reference("limping-3").play("c3")`` puts a stone of black, and raises `Refused` for what the rules forbid.
"""

import re
from functools import cache

from helpers.reference.connections import connected

WALLS = {
    "cairo-1": """\
     a  b  c  d  e  f  g  h  i  j  k  l
                +--+--+
12              |  |  |                    12
          +-----+. |. +-----+
11        |  .  |  |  |  .  |              11
          +--+--+--+--+--+--+-----+--+
10        |  |  |  .  |  |  |  .  |  |     10
          |. |. +-----+. |. +-----+. |
 9        |  |  |  .  |  |  |  .  |  |     9
       +--+--+--+--+--+--+--+--+--+--+--+
 8     |  |  .  |  |  |  .  |  |  |  .  |  8
       |. +-----+. |. +-----+. |. +-----+
 7     |  |  .  |  |  |  .  |  |  |  .  |  7
    +--+--+--+--+--+--+--+--+--+--+--+--+
 6  |  .  |  |  |  .  |  |  |  .  |  |     6
    +-----+. |. +-----+. |. +-----+. |
 5  |  .  |  |  |  .  |  |  |  .  |  |     5
    +--+--+--+--+--+--+--+--+--+--+--+
 4     |  |  .  |  |  |  .  |  |  |        4
       |. +-----+. |. +-----+. |. |
 3     |  |  .  |  |  |  .  |  |  |        3
       +--+-----+--+--+--+--+--+--+
 2              |  .  |  |  |  .  |        2
                +-----+. |. +-----+
 1                    |  |  |              1
                      +--+--+
     a  b  c  d  e  f  g  h  i  j  k  l""",
    "cairo-2": """\
     a  b  c  d  e  f  g  h  i  j  k  l  m  n  o  p  q  r  s  t
                +--+--+                 +--+--+
20              |  |  |                 |  |  |                    20
          +-----+. |. +-----+     +-----+. |. +-----+
19        |  .  |  |  |  .  |     |  .  |  |  |  .  |              19
          +--+--+--+--+--+--+-----+--+--+--+--+--+--+-----+--+
18        |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     18
          |. |. +-----+. |. +-----+. |. +-----+. |. +-----+. |
17        |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     17
       +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
16     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  16
       |. +-----+. |. +-----+. |. +-----+. |. +-----+. |. +-----+
15     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  15
    +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
14  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     14
    +-----+. |. +-----+. |. +-----+. |. +-----+. |. +-----+. |
13  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     13
    +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
12     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |        12
       |. +-----+. |. +-----+. |. +-----+. |. +-----+. |. |
11     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |        11
       +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
10        |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     10
          |. |. +-----+. |. +-----+. |. +-----+. |. +-----+. |
 9        |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     9
       +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
 8     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  8
       |. +-----+. |. +-----+. |. +-----+. |. +-----+. |. +-----+
 7     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  7
    +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
 6  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     6
    +-----+. |. +-----+. |. +-----+. |. +-----+. |. +-----+. |
 5  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |     5
    +--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+--+
 4     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |        4
       |. +-----+. |. +-----+. |. +-----+. |. +-----+. |. |
 3     |  |  .  |  |  |  .  |  |  |  .  |  |  |  .  |  |  |        3
       +--+-----+--+--+--+--+--+--+-----+--+--+--+--+--+--+
 2              |  .  |  |  |  .  |     |  .  |  |  |  .  |        2
                +-----+. |. +-----+     +-----+. |. +-----+
 1                    |  |  |                 |  |  |              1
                      +--+--+                 +--+--+
     a  b  c  d  e  f  g  h  i  j  k  l  m  n  o  p  q  r  s  t""",
}
HEXAGONS = {
    "limping-3": (4, 5, 6, 5, 4, 3),
    "limping-5": (6, 7, 8, 9, 10, 9, 8, 7, 6, 5),
    "limping-7": (8, 9, 10, 11, 12, 13, 14, 13, 12, 11, 10, 9, 8, 7),
    "hex-6": (6, 7, 8, 9, 10, 11, 10, 9, 8, 7, 6),
}
SIDES = {"black": "B", "white": "W"}
OTHER = {"black": "white", "white": "black"}


@cache
def geometry(board):
    """The neighbours of each cell, in board order."""
    if board in WALLS:
        return from_wall(WALLS[board].split("\n"))
    if board in HEXAGONS:
        return from_rows(HEXAGONS[board])
    squares = {f"{'abcdefghi'[x]}{y + 1}": (x, y) for y in range(9) for x in range(9)}
    return {
        name: {other for other, (u, v) in squares.items() if abs(x - u) + abs(y - v) == 1}
        for name, (x, y) in squares.items()
    }


def from_rows(lengths):
    """Hexagons: a cell touches those beside it, and those half a cell to the left and right one row up or down."""
    middles = {
        f"{'abcdefghijklmn'[row]}{number}": (row, 2 * number - length)
        for row, length in enumerate(lengths)
        for number in range(1, length + 1)
    }
    steps = {(0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)}
    return {
        name: {other for other, (v, u) in middles.items() if (v - y, u - x) in steps}
        for name, (y, x) in middles.items()
    }


def from_wall(lines):
    """Bricks: what a wall in the picture separates on its two sides is adjacent."""
    inner = [line.ljust(80) for line in lines[1:-1]]
    bricks = {}  # place in the picture -> all places of the brick
    for y, line in enumerate(inner):
        for x in [x for x, mark in enumerate(line) if mark == "."]:
            brick = connected((y, x), lambda place: inside_of_the_walls(inner, *place))
            bricks.update(dict.fromkeys(brick, brick))
    names = {}
    for y in reversed(range(len(inner))):
        for x, letter in enumerate(lines[0]):
            if inner[y][:2].strip() and (y, x) in bricks and letter != " ":
                names.setdefault(bricks[y, x], f"{letter}{inner[y][:2].strip()}")
    near = {name: set() for name in names.values()}
    for y, line in enumerate(inner):
        for x, mark in enumerate(line):
            sides = {"|": ((y, x - 1), (y, x + 1)), "-": ((y - 1, x), (y + 1, x))}.get(mark, ())
            separated = [names[bricks[side]] for side in sides if side in bricks]
            for one in separated:
                near[one] |= {*separated} - {one}
    return near


def inside_of_the_walls(lines, y, x):
    """The places of a picture next to a place, if no wall is between."""
    return [(y, x) for y, x in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)) if lines[y][x] in " ."]


class Refused(Exception):
    """The rules do not allow it."""


class Reference:
    """A game in progress; `play` changes it."""

    def __init__(self, board):
        self.near = geometry(board)
        self.order = list(self.near)
        self.stones = {}  # cell -> B or W
        self.occupied_eyes = {}  # cell -> the side that owns it
        self.turn = "black"
        self.last_start = {}  # side -> the stones at the start of its last turn
        self.passes = 0

    def copy(self):
        other = Reference.__new__(Reference)
        other.__dict__.update(self.__dict__)
        other.stones, other.occupied_eyes = dict(self.stones), dict(self.occupied_eyes)
        other.last_start = dict(self.last_start)
        return other

    # Terms

    def group_of(self, cell):
        stone = self.stones[cell]
        return connected(cell, lambda one: [near for near in self.near[one] if self.stones.get(near) == stone])

    def groups(self, side):
        return {self.group_of(cell) for cell, stone in self.stones.items() if stone == SIDES[side]}

    def owner_of_eye(self, cell):
        if cell in self.stones:
            return self.occupied_eyes.get(cell)
        for side, stone in SIDES.items():
            if all(self.stones.get(near) == stone for near in self.near[cell]):
                return side if self.near[cell] <= self.group_of(min(self.near[cell])) else None
        return None

    def eyes(self, side):
        return {cell for cell in self.order if self.owner_of_eye(cell) == side}

    def immortal(self, side):
        eyes = self.eyes(side)
        return {group for group in self.groups(side) if any(self.near[eye] & group for eye in eyes)}

    def territory(self, side):
        return self.eyes(side).union(*self.immortal(side))

    # A turn

    def enemy_groups_next_to(self, cell):
        enemy = SIDES[OTHER[self.turn]]
        return {self.group_of(near) for near in self.near[cell] if self.stones.get(near) == enemy}

    def can_hold_a_stone(self, cell):
        return cell not in self.stones and len(self.enemy_groups_next_to(cell)) <= 1

    def first_cells(self):
        return [cell for cell in self.order if self.can_hold_a_stone(cell) and self.owner_of_eye(cell) is None]

    def places_next_to(self, group):
        around = set().union(*(self.near[cell] for cell in group))
        return [cell for cell in around if self.can_hold_a_stone(cell)]

    def put(self, cell):
        owner = self.owner_of_eye(cell)
        self.stones[cell] = SIDES[self.turn]
        if owner:
            self.occupied_eyes[cell] = owner

    def remove(self, group):
        for cell in group:
            del self.stones[cell]
            self.occupied_eyes.pop(cell, None)

    def must_skip(self):
        if self.result()[0]:
            return False
        if self.passes == 0 and self.last_start.get(self.turn) == self.stones:
            return True
        return not self.first_cells() and not self.eyeless_enemies()

    def eyeless_enemies(self):
        enemy = OTHER[self.turn]
        return self.groups(enemy) - self.immortal(enemy)

    def first_of(self, group):
        return min(group, key=self.order.index)

    def play(self, text):
        """Play a turn and return its canonical form; raise Refused if it is illegal."""
        if self.result()[0] or (text == "--") != self.must_skip():
            raise Refused
        after = self.copy()
        canonical = text if text == "--" else after.carry_out(text.split(","))
        after.passes = self.passes + 1 if text == "--" else 0
        after.last_start[self.turn] = dict(self.stones)
        after.turn = OTHER[self.turn]
        self.__dict__.update(after.__dict__)
        return canonical

    def canonical(self, text):
        """A turn in canonical form; None where the text is no legal turn."""
        try:
            return self.copy().play(text.lower())
        except Refused:
            return None

    def carry_out(self, items):
        if any(not re.fullmatch("x?[a-z][0-9]+", item) or item.removeprefix("x") not in self.near for item in items):
            raise Refused
        if not self.first_cells():
            group = self.group_named(items[0])
            if len(items) > 1 or group not in self.eyeless_enemies():
                raise Refused
            self.remove(group)
            return f"x{self.first_of(group)}"
        if items[0] not in self.first_cells():
            raise Refused
        to_do = self.groups(OTHER[self.turn]) - self.enemy_groups_next_to(items[0])
        self.put(items[0])
        canonical = [items[0]]
        for item in items[1:]:
            group = self.group_named(item) if item.startswith("x") else self.group_played_to(item)
            if group not in to_do:
                raise Refused
            canonical.append(f"x{self.first_of(group)}" if item.startswith("x") else item)
            if not item.startswith("x"):
                self.put(item)
            elif self.places_next_to(group):
                raise Refused
            else:
                self.remove(group)
            to_do = to_do - {group}
        if to_do:
            raise Refused
        return ",".join(canonical)

    def group_named(self, item):
        """The group of ``xCELL``."""
        if not item.startswith("x") or item[1:] not in self.stones:
            raise Refused
        return self.group_of(item[1:])

    def group_played_to(self, cell):
        """The only enemy group next to a cell that can hold a stone."""
        if not self.can_hold_a_stone(cell) or not self.enemy_groups_next_to(cell):
            raise Refused
        return self.enemy_groups_next_to(cell).pop()

    def has_few_turns(self):
        return len(self.groups(OTHER[self.turn])) <= 3

    def moves(self):
        """All turns, by trying."""
        if self.result()[0]:
            return set()
        if self.must_skip():
            return {"--"}
        if not self.first_cells():
            return {f"x{self.first_of(group)}" for group in self.eyeless_enemies()}
        found = set()
        for cell in self.first_cells():
            after = self.copy()
            to_do = self.groups(OTHER[self.turn]) - self.enemy_groups_next_to(cell)
            after.put(cell)
            found |= {",".join([cell, *rest]) for rest in after.endings(to_do)}
        return found

    def endings(self, to_do):
        if not to_do:
            return [()]
        found = []
        for group in to_do:
            places = self.places_next_to(group)
            for cell in places:
                after = self.copy()
                after.put(cell)
                found += [(cell, *rest) for rest in after.endings(to_do - {group})]
            if not places:
                after = self.copy()
                after.remove(group)
                found += [(f"x{self.first_of(group)}", *rest) for rest in after.endings(to_do - {group})]
        return found

    # The end

    def result(self):
        """Whether the game is over, and who has won: a side, draw or None."""
        sizes = {side: len(self.territory(side)) for side in SIDES}
        mover = OTHER[self.turn]
        has_half = {side for side in SIDES if 2 * sizes[side] > len(self.order)}
        if len(has_half) == 2 and sizes["black"] == sizes["white"]:
            return True, mover
        if has_half:
            return True, max(has_half, key=lambda side: sizes[side])
        if self.passes < 2:
            return False, None
        if sizes["black"] == sizes["white"]:
            return True, "draw"
        return True, max(sizes, key=lambda side: sizes[side])

    def view(self):
        over, winner = self.result()
        return {
            "cells": self.stones,
            "turn": self.turn,
            "eyes": {side: sorted(self.eyes(side)) for side in SIDES},
            "over": over,
            "winner": winner,
            "scores": {side: len(self.territory(side)) for side in SIDES},
        }
