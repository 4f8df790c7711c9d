"""Papagra once more, plain and slow: spaces are places (x, y), sets of spaces are sets.

Written from the rules alone, to be compared with games/papagra.py. In a place, x counts half spaces from the left and
y rows from the bottom, both from the middle of the board; the neighbours of a space are two to the left and to the
right, and one up or down and one to either side.

``Papagra(size=4, removals=0).play("+c3")`` puts a stone of pink; `view` is what `games.papagra` shows of it.
"""

from collections import Counter
from itertools import combinations

from helpers.reference.connections import parts

AROUND = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
LETTER = {"pink": "P", "black": "B"}
OTHER = {"pink": "black", "black": "pink"}


def spaces(size):
    """The names of the spaces in board order, with their places."""
    places = {}
    for row in range(2 * size - 1):
        y = row - size + 1
        length = 2 * size - 1 - abs(y)
        for number in range(length):
            places["abcdefghijklmnopqrs"[row] + str(number + 1)] = (2 * number - length + 1, y)
    return places


def around(place):
    """The six places next to a place, on the board or not."""
    return {(place[0] + dx, place[1] + dy) for dx, dy in AROUND}


def same_shape(one, other):
    """Whether a set is carried onto another one by moving and by turning it by sixths of a circle."""
    for _ in range(6):
        if moved_home(one) == moved_home(other):
            return True
        one = {((x - 3 * y) // 2, (x + y) // 2) for x, y in one}
    return False


def moved_home(places):
    """The same shape, moved so that its least place is (0, 0)."""
    first_x, first_y = min(places)
    return {(x - first_x, y - first_y) for x, y in places}


class Papagra:
    """A game that goes on from turn to turn."""

    def __init__(self, size, removals):
        self.places = spaces(size)
        self.removals = removals
        self.cells = {}
        self.marks = {"pink": 0, "black": 0}
        self.turn = "pink"
        self.turns = 0
        self.stood = Counter()
        self.is_third = False

    def matched(self):
        """The matched groups of each side."""
        empty = parts({place for name, place in self.places.items() if name not in self.cells}, around)
        return {
            side: {
                group
                for group in parts(
                    {self.places[name] for name, stone in self.cells.items() if stone == LETTER[side]}, around
                )
                if any(len(group) == len(region) and same_shape(group, region) for region in empty)
            }
            for side in LETTER
        }

    def leader(self):
        if self.marks["pink"] == self.marks["black"]:
            return None
        return max(self.marks, key=self.marks.get)

    def is_over(self):
        leader = self.leader()
        if leader is None:
            return self.is_third
        free = len(self.places) - list(self.cells.values()).count(LETTER[leader])
        return self.is_third or free < 2 * (self.marks[leader] + 1)

    def winner(self):
        return (self.leader() or "draw") if self.is_over() else None

    def read(self, text):
        """The actions of a turn as lists of signed names, or None where the text is no legal turn."""
        actions, mine = [], {name for name, stone in self.cells.items() if stone == LETTER[self.turn]}
        theirs = set(self.cells) - mine
        for number, part in enumerate(text.replace(" ", "").lower().split(",")):
            signed = part if part[:1] in ("+", "-") else "+" + part
            names = signed[1:].split("-") if signed[0] == "-" else [signed[1:]]
            if not set(names) <= set(self.places) or len(set(names)) < len(names):
                return None
            if number < 2 and len(names) > 1:
                return None
            if number == 2 and (signed[0] == "+" or len(names) > self.removals):
                return None
            for name in names:
                if signed[0] == "-":
                    if name not in mine:
                        return None
                    mine.remove(name)
                else:
                    if name in mine or name in theirs:
                        return None
                    mine.add(name)
            actions.append([signed[0] + name for name in sorted(names, key=list(self.places).index)])
        numbers = (1,) if self.turns == 0 else (2, 3) if self.removals else (2,)
        return None if self.is_over() or len(actions) not in numbers else actions

    def canonical(self, text):
        actions = self.read(text)
        return actions and ",".join("".join(action) for action in actions)

    def play(self, text):
        if text == "--":
            self.end_turn()
            return
        for action in self.read(text):
            before = self.matched()
            for sign, name in ((signed[0], signed[1:]) for signed in action):
                if sign == "+":
                    self.cells[name] = LETTER[self.turn]
                else:
                    del self.cells[name]
            self.move_marks(before, self.matched())
        self.stood[frozenset(self.cells.items())] += 1
        self.is_third = self.stood[frozenset(self.cells.items())] == 3
        self.end_turn()

    def move_marks(self, before, after):
        mover = self.turn
        sizes = {side: {len(group) for group in after[side] - before[side]} for side in LETTER}
        for side in (mover, OTHER[mover]):
            for size in sorted(sizes[side]):
                is_mine_only = side != mover and size in sizes[mover]
                if size > self.marks[side] and size != self.marks[OTHER[side]] and not is_mine_only:
                    self.marks[side] = size

    def end_turn(self):
        self.turn = OTHER[self.turn]
        self.turns += 1

    def must_skip(self):
        has_action = len(self.cells) < len(self.places) or LETTER[self.turn] in self.cells.values()
        return not self.is_over() and not has_action

    def has_few_turns(self):
        return not self.must_skip()

    def moves(self):
        """All legal turns, by trying every text."""
        signed = [sign + name for sign in "+-" for name in self.places]
        if self.turns == 0:
            return {text for text in signed if self.read(text)}
        pairs = [f"{one},{two}" for one in signed for two in signed]
        legal = {text for text in pairs if self.read(text)}
        thirds = [
            "".join("-" + name for name in names)
            for number in range(1, self.removals + 1)
            for names in combinations(self.places, number)
        ]
        return legal | {f"{pair},{third}" for pair in legal for third in thirds if self.read(f"{pair},{third}")}

    def view(self):
        return {
            "cells": self.cells,
            "turn": self.turn,
            "over": self.is_over(),
            "winner": self.winner(),
            "scores": self.marks,
            "marks": self.marks,
        }
