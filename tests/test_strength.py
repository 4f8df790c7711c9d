"""The robots are as strong as they are said to be: a few quick games with a seed, in their places on the boards.

tests/bench/strength.py plays as many as it takes to be sure.
"""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pbm.levels import levels

sys.path.append(str(Path(__file__).parent / "bench"))
import strength
from strength import Match, Side

from helpers import helptexts

RANDOM = Side("random play", "random", 0)
SMALL = {"papagra": "papagra-4", "spiro": "spiro-small", "spora": "spora-7", "sprout": "sprout-limping-5"}


def points(board, first, second, number):
    """What the first side gets in so many games."""
    match = Match(SMALL.get(board, "symple-9"), first, second, 0)
    return sum(strength.play(match, 3, one).points for one in range(number))


@pytest.mark.parametrize("game", ["papagra", "spora", "sprout", "symple"])
def test_a_robot_of_the_second_level_wins_from_one_who_plays_at_random(game):
    assert points(game, Side("", "level", 2), RANDOM, 2) == 2


def test_a_robot_wins_with_dice_more_often_than_not():
    assert points("spiro", Side("", "level", 2), RANDOM, 8) > 4


@pytest.mark.long
def test_a_robot_wins_from_a_much_lower_level():
    assert points("symple", Side("", "level", 3), Side("", "level", 1), 2) == 2


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_every_game_has_five_levels_that_think_more_or_slip_less_and_one_that_thinks_as_long_as_it_may(game):
    *counted, last = levels(game)
    for lower, higher in pairwise(counted):
        assert (higher.playouts >= lower.playouts, higher.slips <= lower.slips) == (True, True)
        assert lower != higher
    assert (len(counted), last) == (5, (None, 0))
