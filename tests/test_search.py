"""The search of the robots: what is certain is seen, a seed repeats a thought, and limits are kept."""

import gc
import re
import sys
import time
from importlib import import_module
from itertools import count
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import pytest

import games
from games import spiro, spora
from pbm.robots import Player, thinker
from pbm.robots.general import Rules, leader
from pbm.robots.search import Search, Tuning
from pbm.robots.spora import BestFirst
from pbm.robots.thinking import Limit

from helpers.examples import beats_chance, positions
from helpers.plugins import FILES, PAGE

[PLAYOUT] = [block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "def playout(" in block]
HEX = FILES["hex_game/__init__.py"] + PLAYOUT


def position(game, view, *words):
    """The game and options, and a game that has only that position."""
    module = games.load(game)
    options = games.read_options(module, words)
    return options, [module.setup(view, **options)]


def begun(game, rng, turns, *words):
    """The options, and the positions of a game that has gone on for some random turns."""
    options = games.read_options(games.load(game), words)
    return options, positions(game, options, (None, None), rng, turns)


GAMES = "papagra -size=4", "spiro -small", "spora -size=7", "sprout", "symple -size=9"


def test_the_same_seed_gives_the_same_thought():
    options, states = begun("symple", Random(4), 6, "-size=5")
    thoughts = [Player("symple", options, playouts=40, rng=Random(seed)).think(states) for seed in (1, 1)]
    assert thoughts[0] == thoughts[1]
    assert thoughts[0].playouts == 40
    assert thoughts[0].line[0] == thoughts[0].move


def test_a_win_in_one_turn_is_found_and_certain_and_the_only_turn_is_played_at_once():
    options, states = position("spiro", {"cells": {"c4": "X", "b2": "O"}, "turn": "X", "dice": [6, 6]}, "-small")
    thought = Player("spiro", options, playouts=300, rng=Random(1)).think(states)
    assert states[0].play(thought.move).result() == games.Result(0)
    assert thought.chance == 1
    assert thought.playouts < 300
    names = [f"{column}{row}" for column in "abcde" for row in range(1, 6)]
    cells = {name: "WB"[number % 2] for number, name in enumerate(names) if name != "c3"}
    options, states = position("symple", {"cells": cells, "turn": "white"}, "-size=5")
    thought = Player("symple", options, seconds=600, rng=Random(1)).think(states)
    assert (thought.move, thought.line) == ("c3", ("c3",))


@pytest.mark.parametrize("words", GAMES, ids=lambda words: words)
def test_every_game_is_thought_about_within_a_fifth_of_the_time(words):
    game, *words = words.split()
    options, states = begun(game, Random(2), 3, *words)
    assert any(spent(game, options, states, 0.25) <= 1.2 * 0.25 for _ in range(3))


def spent(game, options, states, seconds):
    """The seconds of processor time, from which whatever else the machine does is left out, for a legal move."""
    gc.collect()
    gc.freeze()  # what other tests have left is not looked through meanwhile
    limit = Limit(seconds, clock=time.process_time)
    begin = time.process_time()
    thought = thinker(game, options).think(states, limit, Random(3))
    assert states[-1].parse(thought.move) == thought.move
    assert 0 <= thought.chance <= 1
    assert thought.playouts > 0
    return time.process_time() - begin


SPREAD = {"e5": "O"} | {name: "X" for name in spiro.board(small=False).names if name not in {"g3", "e5"}}
"""X can play a double in some hundred thousand ways."""
MIXED = {name: "X" if name[0] in "bdfhjl" else "O" for name in SPREAD if name not in {"g4", "g3"}} | {"g3": "O"}
"""Either side can play a double in many thousand ways."""
STACKS = {f"{column}{row}": "BW"[row % 2] + "1" for column in "adgjmpsvy" for row in range(1, 26, 3)}


@pytest.mark.parametrize(
    ("words", "view"),
    [
        pytest.param("spiro -pieces=99", {"cells": SPREAD, "turn": "X", "dice": [1, 1]}, id="a double of many pieces"),
        pytest.param("spiro", {"cells": MIXED, "turn": "O", "dice": [6, 6]}, id="doubles in answer to a double"),
        pytest.param("spiro", {"cells": MIXED, "turn": "O", "dice": [5, 2]}, id="thousands of turns by two dice"),
        pytest.param(
            "spora -size=25",
            {"cells": STACKS, "turn": "black", "reserve": {"black": 199, "white": 0}},
            id="a last turn of many drops",
        ),
    ],
)
def test_turns_by_the_thousand_are_thought_about_no_longer(words, view):
    game, *words = words.split()
    options, states = position(game, view, *words)
    thinker(game, options)  # what is loaded once is loaded then
    # beside other work each step between two looks at the clock takes longer; what really takes too long always does
    assert any(spent(game, options, states, 0.1) <= 1.2 * 0.1 for _ in range(10))


LAST = {"cells": {"b2": "B1", "f2": "B1", "d6": "W2"}, "turn": "black", "reserve": {"black": 20, "white": 0}}
"""Black plays the last turn."""


@pytest.mark.parametrize(
    ("words", "start"),
    [
        *((words, 12) for words in GAMES),
        pytest.param("spora -size=5 -pie", 0, id="a komi"),
        pytest.param("spora -size=7", LAST, id="a last turn"),
    ],
)
def test_whenever_the_time_is_up_there_is_a_legal_move(words, start):
    game, *words = words.split()
    options, states = position(game, start, *words) if start == LAST else begun(game, Random(2), start, *words)
    for looks in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55):
        limit = Limit(looks, clock=count().__next__)  # it is a second later each time that somebody looks
        thought = thinker(game, options).think(states, limit, Random(3))
        assert states[-1].parse(thought.move) == thought.move


@pytest.fixture
def hex_game(monkeypatch, tmp_path):
    """Hex, as the page about new games has it, with the playout that it adds at its end."""
    (tmp_path / "hex_game.py").write_text(HEX)
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("hex_game")
    del sys.modules["hex_game"]  # so that each test has its own
    monkeypatch.setattr(games, "load", {"hex": module}.__getitem__)
    return module


@pytest.mark.parametrize("offers_playout", [True, False])
def test_a_game_that_nobody_knew_is_played_better_than_at_random(hex_game, offers_playout):
    if not offers_playout:
        del hex_game.playout
    for number in range(4):
        assert beats_chance("hex", {"size": 4}, number % 2, Random(number), playouts=60)


def test_the_playout_of_a_game_takes_the_place_of_random_turns(hex_game, monkeypatch):
    monkeypatch.setattr(hex_game.State, "random", None)
    assert Player("hex", {"size": 4}, playouts=20, rng=Random(1)).think([hex_game.new(size=4)]).playouts == 20


def test_a_game_at_random_is_cut_when_the_time_is_up(hex_game, monkeypatch):
    del hex_game.playout
    played, play = [], hex_game.State.play
    monkeypatch.setattr(hex_game.State, "play", lambda state, move: played.append(move) or play(state, move))
    limit = Limit(20, clock=count().__next__)  # it is a second later each time that somebody looks
    Search(Rules("hex")).think([hex_game.new(size=9)], limit, Random(1))
    assert len(played) < 40  # a whole game has about 80 turns


def test_what_loses_and_what_wins_is_proven(hex_game):
    def thought(*moves):
        states = [hex_game.new(size=3)]
        for move in moves:
            states.append(states[-1].play(move))
        return Player("hex", {"size": 3}, playouts=2000, rng=Random(1)).think(states)

    assert thought("b1", "a1", "b2", "a2").chance == 1  # b3 or, as the other way, a3
    lost = thought("b1", "a1", "b2")  # Red joins by a3 or by b3
    assert (lost.chance < 0.3, lost.playouts < 200) == (True, True)
    swapped = thought("b2")  # whoever has the middle wins, and so does who takes it over
    assert (swapped.move, swapped.chance, swapped.playouts < 2000) == ("swap", 1, True)


class Unlisted(Rules):
    """The rules of a game that never lists all turns."""

    def all_turns(self, position, most):
        return None

    def turns(self, position, most, rng):
        return list(position.moves())


def test_what_was_only_sampled_proves_nothing(hex_game):
    states = [hex_game.new(size=3)]
    for move in ("b1", "a1"):  # b2 wins, by a3 or by b3
        states.append(states[-1].play(move))
    for rules, chance in ((Rules, 1), (Unlisted, 0.99)):
        assert Search(rules("hex")).think(states, Limit(playouts=2000), Random(1)).chance == pytest.approx(chance)


class _Way(NamedTuple):
    way: str = ""


class Fork(_Way, games.Position):
    """A game of two turns: a and b of both sides lead to a draw, a win or a loss."""

    sides = SIDES = "one", "other"
    OPTIONS = ()
    WINNER = MappingProxyType({"aa": None, "ab": 0, "ba": 1, "bb": 0})

    @property
    def turn(self):
        return len(self.way) % 2

    def moves(self):
        return iter("" if self.result() else "ab")

    def play(self, move):
        return self._replace(way=self.way + move)

    def result(self):
        return games.Result(self.WINNER[self.way]) if self.way in self.WINNER else None


def test_a_draw_is_proven_where_nobody_can_do_better(monkeypatch):
    monkeypatch.setattr(games, "load", {"fork": Fork}.__getitem__)
    states = [Fork(way) for way in ("", "a")]
    first, second = (Player("fork", {}, playouts=99, rng=Random(1)).think(states[:count]) for count in (1, 2))
    assert (first.move, first.chance) == ("a", 0.5)  # by b, one would lose
    assert (second.move, second.chance) == ("a", 0.5)
    assert max(first.playouts, second.playouts) < 99


class Single(Rules):
    """The rules of a game, and a sampler that finds a single turn, the last one."""

    def turns(self, position, most, rng):
        return [*position.moves()][-1:]


def test_a_turn_that_was_sampled_alone_is_not_taken_for_the_only_one(monkeypatch):
    monkeypatch.setattr(games, "load", {"fork": Fork}.__getitem__)
    assert Search(Single("fork")).think([Fork()], Limit(playouts=99), Random(1)).move == "a"


class Twins(Rules):
    """The rules of a game, and a sampler that often finds a turn twice, and says each once."""

    def turns(self, position, most, rng):
        return list(dict.fromkeys(position.random(rng) for _ in range(most)))


def test_turns_that_were_sampled_twice_do_not_end_the_sampling():
    _, states = begun("symple", Random(4), 2, "-size=5")
    root, _ = Search(Twins("symple")).grow(states, Limit(playouts=300), Random(1))
    assert len(root.turns) > 15


def test_more_turns_are_sampled_when_those_sampled_first_all_have_a_position():
    _, states = begun("symple", Random(4), 2, "-size=9")
    root, _ = Search(Rules("symple"), Tuning(at_root=10, inside=2)).grow(states, Limit(playouts=300), Random(1))
    assert len(root.children) > 10


def test_sampling_ends_when_it_finds_no_other_turn(monkeypatch):
    _, states = begun("symple", Random(4), 0, "-size=5")
    sampled, turns = [], Rules.turns
    monkeypatch.setattr(Rules, "turns", lambda self, at, *args: sampled.append(at) or turns(self, at, *args))
    root, _ = Search(Rules("symple"), Tuning(at_root=10, inside=2)).grow(states, Limit(playouts=300), Random(1))
    assert (len(root.children), sampled.count(root.position) < 10) == (25, True)


class Seer(Rules):
    """The rules of a game, and somebody who sees that its first side wins nine games of ten."""

    def expected(self, position):
        return 0.9


def test_a_new_position_begins_with_what_it_looks_like_and_a_game_from_there_is_worth_half_of_that():
    _, states = begun("symple", Random(4), 2, "-size=5")
    root, _ = Search(Seer("symple")).grow(states, Limit(playouts=1), Random(1))
    assert (root.visits, root.worth) in {(1, 0.45), (1, 0.95)}
    [child] = root.children
    assert (child.visits, child.worth) == (1 + 4, pytest.approx(root.worth + 4 * 0.9))


def test_a_game_that_does_not_end_is_given_to_whom_it_gives_more():
    for more, worth in ({"a2": "W"}, 1), ({"e4": "B"}, 0), ({}, 0.5):
        _, [state] = position("symple", {"cells": {"a1": "W", "e5": "B"} | more, "turn": "white"}, "-size=5")
        assert leader(state) == worth


class Answers:
    """A game of many turns, of which it is known how they look to whoever plays them."""

    LOOKS = MappingProxyType({"a": 0.9, "b": 0.6, "aa": 0.95, "ba": 0.3})

    def root(self, states):
        return ""

    def side(self, position):
        return len(position) % 2

    def outcome(self, position):
        return None

    def valued(self, position, most, rng, limit):
        looks = [(self.LOOKS.get(position + turn, 0.5), turn, position + turn) for turn in "ab"]
        return sorted(looks, reverse=True)


def test_a_turn_is_worth_what_its_best_answer_leaves():
    thought = BestFirst(Answers()).think([spora.new()], Limit(playouts=3), Random(1))
    assert (thought.move, thought.chance, thought.line) == ("b", 0.5, ["b", "b"])


class Hidden(Answers):
    """A game in which one of many answers to the turn that looks best wins."""

    def outcome(self, position):
        return 0.0 if position == "aw" else None

    def valued(self, position, most, rng, limit):
        many = [(0.1, "w", "aw")] if (position, most) == ("a", 100) else []
        return [*super().valued(position, most, rng, limit), *many]


def test_a_turn_is_not_played_if_one_of_all_its_answers_wins():
    thought = BestFirst(Hidden()).think([spora.new()], Limit(playouts=2), Random(1))
    assert (thought.move, thought.rival) == ("b", 0)


def test_a_limit_is_reached_by_time_or_by_playouts():
    now = 100.0
    assert not Limit(seconds=2, playouts=10, clock=lambda: now).is_reached(9)
    assert Limit(seconds=2, playouts=10, clock=lambda: now).is_reached(10)
    limit = Limit(seconds=2, clock=lambda: now)
    assert not limit.is_reached(10**9)
    assert not limit.is_time_up
    now = 102.0
    assert limit.is_reached(0)
    assert limit.is_time_up
    assert not Limit(playouts=1).is_time_up
