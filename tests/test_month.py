"""A month in the life of the server: twelve players, five games, and whatever can meet on a server does meet.

What they do is chosen at random. Every step is compared with what a secretary does by hand (`month`,
`helpers.reference.server`): all mails at once, and every night all boards, clocks, ratings and tables.
"""

from random import Random

import pytest

from helpers.examples import IS_QUICK
from helpers.mail import ADDRESS
from helpers.month import DAYS_OFF, NAMES, Month

DAYS = 9 if IS_QUICK else 29


@pytest.fixture
def month(tmp_path, monkeypatch):
    monkeypatch.setenv("PBM_DB", str(tmp_path / "pbm.db"))
    monkeypatch.setenv("PBM_ADDRESS", ADDRESS)
    monkeypatch.delenv("PBM_TRANSPORT", raising=False)
    monkeypatch.setattr("pbm.mail.illustrations.ZOOM", 0.25)  # pictures, which nobody looks at, take most of the time
    month = Month(tmp_path)
    yield month
    month.store.close()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_whatever_players_do_the_secretary_does_the_same(month, seed):
    month.rng = Random(seed)
    month.sign_up("alice", "alice@players.example", "alice@work.example")
    month.sign_up("kevin")
    for name in NAMES:
        if name not in {"alice", "kevin"}:
            month.sign_up(name, f"{name}@players.example")
    month.tournament("symple", "a", *NAMES[:4])
    for day in range(1, DAYS):
        month.until(day)
        if day in DAYS_OFF:
            continue
        for hour in (10, 12, 14, 16):
            month.time = month.time.replace(hour=hour)
            month.robots([*month.books.tables.values()])
            month.whim()
            month.whim()
    month.night()
    assert month.books.planned_turns > DAYS / 2
    month.check_month()
