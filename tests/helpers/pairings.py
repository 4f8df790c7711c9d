"""The rules of pairing, checked from what was paired.

``check_rules([Entrant("ann"), Entrant("bea"), Entrant("cleo")], [Meeting(1, "ann", "bea", 1), bye(1, "cleo")])``
raises AssertionError if the pairs break a rule.
"""

from collections import Counter
from itertools import combinations

import networkx as nx

from pbm.tournaments.kinds import NOBODY, Meeting, points


def bye(number, name):
    """A bye in a round, which is a point."""
    return Meeting(number, name, NOBODY, 1)


def check_rules(field, meetings, rounds=None, never=()):
    """Nobody meets anybody twice, or is given two byes; byes go to the lowest who had none; sides follow FIDE's C3.

    The lowest is the lowest player that can be left out so that the others can be paired.
    """
    assert max(Counter(frozenset(one.pair) for one in meetings if not one.is_bye or one.outcome).values()) == 1
    for one in (one for one in meetings if one.is_bye and one.outcome):
        before = [other for other in meetings if other.round < one.round]
        had = {other.first for other in before if other.is_bye and other.outcome}
        score = points([each.name for each in field], before)
        here = {each.name for each in field if each.is_in(one.round) and one.round not in each.byes}
        lower = [name for name in here - had if score[name] < score[one.first]]
        assert one.first not in had
        assert not any(can_be_paired(here - {name}, before, never) for name in lower)
    for one in field:
        for last in range(1, max(each.round for each in meetings) + 1):
            if last < (rounds or max(each.round for each in meetings)) or not among_the_best(one.name, last, meetings):
                assert within_c3(one.name, [each for each in meetings if each.round <= last])


def can_be_paired(names, meetings, never):
    """Whether all of these can meet somebody that they have not met and may meet."""
    met = [{*one.pair} for one in meetings]
    pairs = [pair for pair in map(set, combinations(names, 2))
             if pair not in met and not any(len(pair & {*group}) > 1 for group in never)]  # fmt: skip
    return 2 * len(nx.max_weight_matching(nx.Graph(map(tuple, pairs)), maxcardinality=True)) == len(names)


def within_c3(name, meetings):
    """Nobody has one side three times more than the other, or three times in a row."""
    sides = [1 if one.first == name else -1 for one in meetings if name in one.pair and not one.is_bye]
    return abs(sum(sides)) < 3 and abs(sum(sides[-3:])) < 3


def among_the_best(name, number, meetings):
    """Whether a player or their opponent has more than half of the points there were before a round."""
    names = {each for one in meetings for each in one.pair}
    score = points(names, [one for one in meetings if one.round < number])
    return any(2 * score[each] > number - 1 for one in meetings if one.round == number and name in one.pair
               for each in one.pair if each)  # fmt: skip
