"""The programs that make the tables of docs/results.md, beside the plain rules."""

import shutil
import sys
from pathlib import Path
from random import Random

import pytest

sys.path.append(str(Path(__file__).parent / "bench"))

import results
import solve

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@needs_compiler
@pytest.mark.parametrize(("size", "penalty"), [(5, 4), (5, 8)])
def test_scores_of_symple_are_those_of_a_search_by_the_plain_rules(size, penalty):
    sampled = solve.symple_positions(20, penalty, Random(1), size)
    found = solve.symple_scores(size, [(penalty, one) for one in sampled], entries=1 << 16)
    assert found == [solve.plain_score(one, {}) for one in sampled]
    assert len({*found}) > 5


@needs_compiler
def test_chances_of_spiro_are_means_over_throws_of_the_best_turns_by_the_plain_rules():
    first, worst = solve.spiro_checked(1, 20, Random(1), small=True)
    assert worst < 2e-6  # they are printed with six digits
    assert 0 < first < 0.5  # X begins with a single die


def test_an_interval_of_a_median_holds_it_in_95_percent_of_samples():
    rng = Random(1)
    number = 15
    held = 0
    first, last = results.ranks(number)
    assert (first, last) == (3, 11)  # as tables have it: the 4th and the 12th of 15
    for _ in range(2000):
        values = sorted(rng.random() for _ in range(number))
        held += values[first] <= 0.5 <= values[last]
    assert held / 2000 > 0.95
