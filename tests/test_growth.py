"""What a command asks of the database does not grow with what is in it, and a clean-up looks at what is due alone."""

import math
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pbm.actions.cleanup import clean_up
from pbm.board.clocks import DueStep, due
from pbm.operator import doctor
from pbm.operator.doctor import examine
from pbm.session import Session
from pbm.store import BoardRow, Vacation, copies

from helpers.club import Club
from helpers.costs import steps
from helpers.shell import Shell

sys.path.append(str(Path(__file__).parent / "bench"))

import large

SIZES = (800, 80), (4000, 400)
"""Boards and users of databases on which commands should cost the same."""
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MOST = 1.3
"""How much more they may cost on the larger one."""


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """Shells on databases of those sizes."""
    shells = []
    for boards, users in SIZES:
        folder = tmp_path_factory.mktemp(f"boards-{boards}")
        large.build(folder / "pbm.db", boards, users, {"symple": "-size=5"})
        shells.append(Shell(folder))
    return shells


def costs(shells, *args, status=0):
    """What a command costs in each of the shells."""

    def run(shell):
        done = shell.run(*args, PBM_PASSWORD=large.PASSWORD)
        assert done.returncode == status, done.stderr

    return [steps(lambda shell=shell: run(shell)) for shell in shells]


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("symple show 101", 0), ("symple move 101 alice - propose", 0), ("symple challenge alice bob", 0),
        ("symple challenge alice robot1", 0), ("symple games alice", 0), ("all games alice", 0),
        ("symple history 1", 0), ("symple standings 1", 0), ("list", 0), ("wait symple 101 --timeout=0", 1),
        ("cleanup", 0), ("outbox flush", 0), ("hook add true", 0), ("hook run", 0), ("robots run --once", 0),
        ("users alice", 0), ("symple move 101 alice - resign", 0),
    ],
)  # fmt: skip
def test_a_command_costs_the_same_on_many_boards(sizes, command, status):
    few, many = costs(sizes, *command.split(), status=status)
    assert many <= MOST * few


@pytest.mark.long
def test_the_doctor_costs_as_much_for_each_of_many_boards_as_of_few(sizes):
    few, many = costs(sizes, "doctor")
    assert many * SIZES[0][0] <= MOST * few * SIZES[1][0]


def test_the_next_round_of_a_tournament_costs_the_same_on_many_boards(sizes):
    costs(sizes, *"tournament symple cup alice bob carol dave --type=knockout -size=5".split())
    costs(sizes, *"symple move cup1 dave - resign".split())
    few, many = costs(sizes, *"symple move cup2 carol - resign".split())
    assert [shell.run("symple", "show", "cup3").returncode for shell in sizes] == [0, 0]
    assert many <= MOST * few


def some_time(days):
    """A time within so many days before NOON."""
    return st.floats(0, days).map(lambda ago: NOON - timedelta(days=ago))


def long_ago(days, nagged=None, pool=None):
    """A board without a move since so many days, with the usual times."""
    times = {"started": NOON - timedelta(days=days), "changed": None, "nagged": nagged, "until": None, "used": (0, 0)}
    return example(days=(None,) * 3, pool=pool, turn="alice", vote=None, away=False, **times)


@long_ago(7)
@long_ago(1, pool="a")
@long_ago(21, nagged=NOON - timedelta(hours=1))
@long_ago(7, nagged=NOON - timedelta(hours=1), pool="a")
@given(
    days=st.tuples(*[st.none() | st.integers(1, 9)] * 3),
    started=some_time(40),
    changed=st.none() | some_time(30),
    nagged=st.none() | some_time(8),
    until=st.none() | some_time(20).map(lambda moment: moment + timedelta(days=10)),
    used=st.tuples(*[st.floats(0, 9 * 86400)] * 2),
    pool=st.none() | st.just("a"),
    turn=st.sampled_from(["alice", "bob"]),
    vote=st.none() | st.sampled_from(["draw", "undo"]),
    away=st.booleans(),
)
def test_a_clean_up_looks_at_every_board_on_which_something_is_due(
    days, started, changed, nagged, until, used, pool, turn, vote, away
):
    nag, forfeit, total = days
    row = BoardRow(
        *("symple", "a1", "", "alice", "bob", b"", started),
        turn=turn,
        nag_days=nag,
        forfeit_days=forfeit,
        total_days=total,
        changed=changed,
        first_used=used[0],
        second_used=used[1],
        nagged=nagged,
        vote=vote,
        voter=vote and "bob",
        pool=pool,
        until=until,
    )
    with TemporaryDirectory() as folder, Club(Path(folder) / "pbm.db").store as store:
        for name in ("alice", "bob"):
            store.users.add(name, "hash", NOON)
        if away:
            store.users.replace_vacations(
                turn, NOON.date(), [Vacation(turn, NOON.date(), NOON.date() + timedelta(days=3))]
            )
        store.boards.add(row)
        deed = due(store, row, turn == "bob", NOON)[0]
        assert deed is DueStep.NOTHING or store.boards.due(NOON) == [("symple", "a1")]


def test_a_clean_up_looks_at_no_board_before_something_is_due(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice bob")
    looked_at = []
    for _ in range(22):
        club.pass_time(days=1)
        looked_at.append(len(club.store.boards.due(club.time)))
        clean_up(Session(club.server))
    assert looked_at == [*[0] * 6, *[1] * 15, 0]  # a reminder each day, until the board is removed


def test_boards_are_counted_as_they_begin_end_and_go(club):
    def counted():
        return club.store.boards.totals(), club.store.boards.totals("symple")[1]

    club.signed_up("alice", "bob")
    for _ in range(3):
        club.say("symple challenge -size=5 alice bob")
    assert counted() == ((3, 3), 3)
    for player, password, move in ("alice", "alice-secret", "a1"), ("bob", "bob-secret", "b1"):
        club.say(f"symple move 101 {player} {password} {move}")
    club.say("symple move 101 alice alice-secret resign")
    assert counted() == ((3, 2), 2)
    club.say("symple move 102 alice alice-secret resign")  # it had not begun
    assert counted() == ((2, 1), 1)
    assert [*club.store.health.doubtful_rows()] == []
    club.store.db.execute("UPDATE tallies SET active = 2")
    assert [*club.store.health.doubtful_rows()] == [("a count of boards that is wrong", "symple")]


@pytest.fixture
def damaged(tmp_path):
    """The path of a database with two boards on which something is wrong, and many others."""
    path = tmp_path / "pbm.db"
    large.build(path, 300, 50, {"symple": "-size=5"})
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE turns SET text = 'z9' WHERE board = '120' AND number = 2")
        db.execute("UPDATE boards SET moves = 1000 WHERE board = '130'")
    return path


def test_the_doctor_looks_at_all_boards_and_tells_how_far_he_is(damaged):
    told = []
    found = [*examine(damaged, datetime.now(UTC), lambda *done: told.append(done))]
    assert {"symple 120", "symple 130"} <= {one.where for one in found}
    assert sum(boards for boards, _ in told) == told[0][1] > 300


@pytest.mark.long
def test_several_processes_find_what_one_does(damaged, monkeypatch):
    monkeypatch.setattr(doctor, "BOARDS_AT_ONCE", 40)
    now = datetime.now(UTC)
    alone, told = [*examine(damaged, now)], []
    assert [*examine(damaged, now, lambda *done: told.append(done), 2)] == alone
    assert len(told) > 7
    assert sum(boards for boards, _ in told) == told[0][1]


def test_a_copy_is_of_one_moment_though_the_database_is_written_meanwhile(tmp_path, monkeypatch):
    path = tmp_path / "pbm.db"
    copied = tmp_path / "copy.db"
    told = []
    large.build(path, 300, 50, {"symple": "-size=5"})
    monkeypatch.setattr(copies, "PAGES_AT_ONCE", 20)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:

        def progress(more, of):
            told.append((more, of))
            db.execute("UPDATE boards SET options = ?", [f"-size={len(told)}"])

        copies.copy(path, copied, progress)
    assert len(told) > 3
    assert {more for more, _ in told} == {20}
    assert len(told) == math.ceil(told[0][1] / 20)
    with closing(sqlite3.connect(copied)) as db:
        assert db.execute("SELECT DISTINCT options FROM boards").fetchall() == [("-size=5",)]
