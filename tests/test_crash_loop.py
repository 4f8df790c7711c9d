"""Rounds of the crash loop, which runs by hand for as long as one likes (tests/crash_loop.py)."""

import os

import pytest

from crash_loop import KILLS, run


@pytest.mark.long
def test_whatever_is_killed_all_that_was_acknowledged_is_there_once(monkeypatch):
    for name in ("PBM_DB", "PBM_ADDRESS", "PBM_TRANSPORT"):
        monkeypatch.setenv(name, "")  # so that they are as before when it has ended
    counts = run(float(os.environ.get("PBM_TEST_CRASH_SECONDS", "60")), seed=1)
    assert counts.kills > KILLS
    assert counts.turns > KILLS
    assert counts.commands > 3 * KILLS
    assert counts.mails > counts.commands / 2
