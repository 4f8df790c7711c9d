"""Spora once more, written from the rulebook alone, plainly and slowly, as a check on the module games.spora.

A board is a dict from points (x, y) to colour and height. At the end of each turn is noted which colours have several
groups, and in a turn, which have lost a group by enclosure.

``Reference(size=5).play("c3:2")`` drops two stones of black, and raises `Refused` for what the rules forbid.
"""

import re
from functools import cache

LETTERS = "abcdefghijklmnopqrstuvwxy"
STEPS = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}
OTHER = {"black": "white", "white": "black"}


class Refused(Exception):
    """The rules do not allow it."""


@cache
def neighbours(size, x, y):
    """The points next to a point of a board of that size."""
    return [(i, j) for i, j in ((x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y)) if 0 <= i < size and 0 <= j < size]


class Reference:
    """A game in progress; `play` changes it."""

    def __init__(self, size=13, komi=3, *, pie=False):
        full = -(-7 * size * size // 12)
        self.size = size
        self.komi = None if pie else komi
        self.phase = "name" if pie else "play"
        self.cells = {}
        self.reserve = {"black": full, "white": full}
        self.had_several = {"black": False, "white": False}  # at the end of an earlier turn
        self.has_lost_a_group = {"black": False, "white": False}  # by enclosure, in this turn
        self.had_first_turn = {"black": False, "white": False}
        self.turn = "black"
        self.over = False

    def copy(self):
        new = Reference(self.size)
        new.__dict__.update(self.__dict__)
        for name in ("cells", "reserve", "had_several", "has_lost_a_group", "had_first_turn"):
            setattr(new, name, dict(getattr(self, name)))
        return new

    def is_legal(self, text):
        try:
            self.copy().play(text)
        except Refused:
            return False
        return True

    def canonical(self, text):
        """A turn with its items in canonical form; None where the text is no legal turn."""
        return text if self.is_legal(text) else None

    def must_skip(self):
        return False

    # the board

    def point(self, name):
        if not re.fullmatch("[a-y][1-9][0-9]?", name):
            raise Refused(name)
        point = LETTERS.index(name[0]), int(name[1:]) - 1
        if not self.is_on_board(point):
            raise Refused(name)
        return point

    def is_on_board(self, point):
        return 0 <= point[0] < self.size and 0 <= point[1] < self.size

    def neighbours(self, point):
        return neighbours(self.size, *point)

    def colour(self, point):
        return self.cells[point][0] if point in self.cells else "empty"

    def area(self, point):
        """All points that are connected with this one through points of its colour, or empty ones."""
        area = {point}
        new = [point]
        colour = self.colour(point)
        while new:
            for neighbour in self.neighbours(new.pop()):
                if neighbour not in area and self.colour(neighbour) == colour:
                    area.add(neighbour)
                    new.append(neighbour)
        return area

    def groups(self, colour):
        groups = []
        for point in self.cells:
            if self.colour(point) == colour and not any(point in group for group in groups):
                groups.append(self.area(point))
        return groups

    def is_alive(self, group):
        colour = self.colour(next(iter(group)))
        if len(self.groups(colour)) == 1:
            return not self.had_several[colour] and not self.has_lost_a_group[colour]
        liberties = {p for point in group for p in self.neighbours(point) if p not in self.cells}
        reached = set()
        for liberty in liberties:
            if liberty not in reached:
                reached |= self.area(liberty)
        around = {p for point in reached for p in self.neighbours(point)}
        return any(self.colour(p) == colour for p in around - group)

    # a turn

    def play(self, text):
        if self.over:
            raise Refused
        if self.phase == "name":
            if not re.fullmatch("komi=-?[0-9]+", text):
                raise Refused
            self.komi = int(text[5:])
            self.phase = "choose"
            self.turn = "white"
        elif self.phase == "choose":
            if text not in OTHER:
                raise Refused
            self.phase, self.turn = "play", "black"
        elif not self.reserve[OTHER[self.turn]]:
            self.play_last_turn(text.split(","))
        else:
            self.play_turn(text.split(","))

    def note_groups(self):
        """At the end of a turn."""
        for side in OTHER:
            if len(self.groups(side)) > 1:
                self.had_several[side] = True
        self.has_lost_a_group = {"black": False, "white": False}

    def play_turn(self, items):
        me, enemy = self.turn, OTHER[self.turn]
        if len(items) > (2 if self.had_first_turn[me] else 1):
            raise Refused
        name, _, count = items[0].partition(":")
        dropped = self.point(name)
        if count not in {"", "1", "2", "3", "4"}:
            raise Refused
        self.drop(dropped, int(count or 1))
        if len(items) == 2:
            self.sow(items[1], dropped)
        if not self.is_alive(self.area(dropped)):
            raise Refused
        self.note_groups()
        self.had_first_turn[me] = True
        self.turn = enemy
        self.over = any(self.had_first_turn[side] and not self.groups(side) for side in OTHER)

    def play_last_turn(self, items):
        for item in items:
            point = self.point(item)
            self.drop(point, 1)
            if not self.is_alive(self.area(point)):
                raise Refused
        self.reserve[self.turn] = 0
        self.turn = OTHER[self.turn]
        self.over = True

    def drop(self, point, count):
        if self.colour(point) == OTHER[self.turn] or count > self.reserve[self.turn]:
            raise Refused
        self.reserve[self.turn] -= count
        self.add(point, count)
        self.capture(point)

    def sow(self, item, dropped):
        name, at, path = item.partition("@")
        point = self.point(name)
        if not at or not path or self.colour(point) != self.turn or point == dropped:
            raise Refused
        height = self.cells.pop(point)[1]
        if len(path) > height or not set(path) <= set("nesw"):
            raise Refused
        if len(path) < height:
            self.cells[point] = (self.turn, height - len(path))
        last = None
        for used, letter in enumerate(path):
            step = STEPS[letter]
            if last == (-step[0], -step[1]):
                raise Refused
            point, last = (point[0] + step[0], point[1] + step[1]), step
            if not self.is_on_board(point):
                raise Refused
            if self.colour(point) == OTHER[self.turn]:
                if len(path) - used < 2 * self.cells[point][1]:
                    raise Refused
                del self.cells[point]
            self.add(point, 1)
            self.capture(dropped)

    def add(self, point, count):
        height = self.cells[point][1] if point in self.cells else 0
        self.cells[point] = (self.turn, min(4, height + count))

    def capture(self, dropped):
        for side in (OTHER[self.turn], self.turn):
            for group in [g for g in self.groups(side) if not self.is_alive(g) and dropped not in g]:
                self.has_lost_a_group[side] = True
                for point in group:
                    del self.cells[point]

    # what there is to see

    def scores(self):
        scores = {side: sum(self.colour(p) == side for p in self.cells) for side in OTHER}
        empty = {(x, y) for x in range(self.size) for y in range(self.size)} - set(self.cells)
        while empty:
            region = self.area(next(iter(empty)))
            empty -= region
            owners = {self.colour(p) for point in region for p in self.neighbours(point)} - {"empty"}
            if len(owners) == 1:
                scores[owners.pop()] += len(region)
        if self.komi is not None:
            scores["white"] += self.komi + 0.5
        return scores

    def view(self):
        scores = self.scores()
        winner = None
        if self.over:
            winner = "draw" if scores["black"] == scores["white"] else max(scores, key=scores.get)
        return {
            "cells": {f"{LETTERS[x]}{y + 1}": f"{side[0].upper()}{n}" for (x, y), (side, n) in self.cells.items()},
            "turn": self.turn,
            "reserve": self.reserve,
            "komi": self.komi,
            "over": self.over,
            "winner": winner,
            "scores": scores,
        }

    def turns_with(self, drop):
        """All legal turns that begin with this drop, by trying all paths; not in the last turn."""
        tried = [drop]
        for (x, y), (side, height) in self.cells.items():
            if side == self.turn:
                paths = [""]
                for _ in range(height):
                    paths = [path + letter for path in paths for letter in STEPS]
                    tried += [f"{drop},{LETTERS[x]}{y + 1}@{path}" for path in paths]
        return {text for text in tried if self.is_legal(text)}
