"""Symple once more, from its rulebook alone: points are pairs (x, y), every set is a plain set, nothing is fast.

``Position(size=5).play("c3")`` puts a stone of white; `view` is what `games.symple` shows of the same position.
"""

import re
from itertools import combinations

from helpers.reference.connections import parts

WHITE, BLACK = "white", "black"


def neighbours(point):
    """The points next to a point, on the board or not."""
    x, y = point
    return {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}


def name(point):
    """The name of a point, such as c3 of (2, 2)."""
    return f"{chr(ord('a') + point[0])}{point[1] + 1}"


def point(text):
    """The point of that name, such as (2, 2) of c3."""
    return ord(text[0]) - ord("a"), int(text[1:]) - 1


class Position:
    """A position that changes with every turn that is played."""

    def __init__(self, size=19, penalty=8, stones=None, turn=WHITE):
        self.points = {(x, y) for x in range(size) for y in range(size)}
        self.penalty = penalty
        self.stones = dict(stones or {})
        self.turn = turn

    def vacant(self):
        return self.points - self.stones.keys()

    def stones_of(self, colour):
        return {point for point, stone in self.stones.items() if stone == colour}

    def groups(self, colour):
        return parts(self.stones_of(colour), neighbours)

    def grows(self, stone):
        """The numbers of the own groups that a stone would grow."""
        return {n for n, group in enumerate(self.groups(self.turn)) if neighbours(stone) & group}

    def nobody_has_grown(self):
        return all(len(group) == 1 for colour in (WHITE, BLACK) for group in self.groups(colour))

    def is_founding(self, stone, own):
        return not neighbours(stone) & own

    def is_growth(self, stones):
        """Whether each stone grows a group, and none grows twice."""
        grown = [n for stone in stones for n in self.grows(stone)]
        return all(self.grows(stone) for stone in stones) and len(grown) == len(set(grown))

    def is_maximal(self, stones):
        grown = {n for stone in stones for n in self.grows(stone)}
        return not any(self.grows(other) and not self.grows(other) & grown for other in self.vacant() - set(stones))

    def is_legal(self, stones):
        """Whether these points, in this order, are a turn."""
        own = self.stones_of(self.turn)
        if not stones or len(set(stones)) < len(stones) or not set(stones) <= self.vacant():
            return False
        *first, last = stones
        if not first and self.is_founding(last, own):
            return True
        if self.is_growth(stones) and self.is_maximal(stones):
            return True
        is_balance = first and self.is_growth(first) and self.is_founding(last, own | set(first))
        return bool(is_balance) and self.turn == BLACK and self.nobody_has_grown()

    def read(self, text):
        """The points of a text, or none if they cannot be read."""
        words = text.split(",")
        return [point(word) for word in words] if all(re.fullmatch("[a-y][1-9][0-9]?", w) for w in words) else []

    def canonical(self, text):
        """A turn in canonical form; None where the text is no legal turn."""
        stones = self.read(text)
        return self.spelled(stones) if self.is_legal(stones) else None

    def must_skip(self):
        return False

    def spelled(self, stones):
        """A legal turn, sorted by column and row, except a stone that founds."""
        grow = sorted(stone for stone in stones if self.grows(stone))
        return ",".join(name(stone) for stone in [*grow, *(stone for stone in stones if stone not in grow)])

    def has_few_turns(self):
        return len(self.vacant()) <= 9 or len(self.groups(self.turn)) <= 2

    def moves(self):
        """All legal turns in canonical form, found by trying all sets of vacant points that are not too large."""
        largest = len(self.groups(self.turn)) + 1  # one stone for each group, and one that founds
        turns = set()
        for count in range(1, largest + 1):
            for stones in combinations(sorted(self.vacant()), count):
                orders = [stones, *((*stones[:n], *stones[n + 1 :], stones[n]) for n in range(count))]
                turns |= {self.spelled(order) for order in orders if self.is_legal(order)}
        return turns

    def play(self, text):
        self.stones |= dict.fromkeys(self.read(text), self.turn)
        self.turn = BLACK if self.turn == WHITE else WHITE

    def scores(self):
        return {
            colour: len(self.stones_of(colour)) - self.penalty * len(self.groups(colour)) for colour in (BLACK, WHITE)
        }

    def view(self):
        scores = self.scores()
        over = not self.vacant()
        return {
            "cells": {name(at): "W" if stone == WHITE else "B" for at, stone in self.stones.items()},
            "turn": self.turn,
            "over": over,
            "winner": max(scores, key=scores.get) if over else None,
            "scores": scores,
        }
