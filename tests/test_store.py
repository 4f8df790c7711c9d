"""The database: steps that happen whole or not at all, and one that is made once."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest
from sqlite_utils import Database

from pbm.store import SCHEMA, Mail, Reply, Robot, Store, Unusable, Vacation
from pbm.store.base import FIRST_SCHEMA, Questions
from pbm.store.schema import migrations

from helpers import next_version
from helpers.database import sql


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "pbm.db") as store:
        yield store


def test_a_transaction_that_fails_leaves_nothing(store):
    with pytest.raises(RuntimeError), store.writing():
        store.boards.next_number("spiro")
        raise RuntimeError
    with store.writing():
        assert store.boards.next_number("spiro") == "101"


@pytest.mark.parametrize("name", ["100%20?mode=ro#\udcff.db", "..//x y.db"])
def test_the_file_of_a_database_and_its_folder_may_have_any_name(name, tmp_path, monkeypatch):
    here = tmp_path / "100%20?mode=ro#here"
    here.mkdir()
    monkeypatch.chdir(here)
    for path in (name, f"/{here}//{name}"):
        with Store(path) as store, store.writing():
            store.boards.next_number("spiro")
        assert Path(path).read_bytes().startswith(b"SQLite format 3")
        assert store.path == Path(path)
        Path(path).unlink()
    assert [*tmp_path.rglob("*")] == [here]


def test_a_database_is_found_by_its_whole_path_from_a_folder_that_is_gone(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with Store(tmp_path / "pbm.db") as store:
        assert store.users.is_taken("robot")
    with pytest.raises(Unusable, match="there is no such file or folder"):
        Store("pbm.db")


def test_robots_are_found_among_more_users_than_a_statement_may_have_values(store):
    store.db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 10)
    assert [*store.robots.among([*map(str, range(100)), "robot2", "robot1"])] == ["robot1", "robot2"]


def test_a_player_who_is_away_twice_and_plays_both_sides_is_found_once_and_a_robot_as_it_is_stored(club):
    club.signed_up("alice")
    today = club.time.date()
    club.store.users.replace_vacations("alice", today, [Vacation("alice", today, today + timedelta(days=3))])
    club.store.users.take_vacation_day("alice", today)
    robot = Robot(
        "robot1", None, "play --fast", ("spiro",), most=7, seconds=0.5, rated=False, paused=club.time, why="It failed."
    )
    club.store.robots.save(robot)
    assert club.store.users.away(["alice", "alice"], today) == {"alice": today + timedelta(days=3)}
    later = today + timedelta(days=4)
    assert club.store.users.away(["alice"], later) == {}
    assert club.store.robots.among(["robot1", "alice"]) == {"robot1": robot}


def test_an_inner_transaction_is_undone_alone(store):
    with store.writing():
        assert store.boards.next_number("spiro") == "101"
        with pytest.raises(RuntimeError), store.writing():
            store.boards.next_number("spiro")
            raise RuntimeError
        assert store.boards.next_number("spiro") == "102"


def test_a_transaction_is_undone_as_a_whole_after_one_inside_it_was_undone(store):
    with store.writing():
        with pytest.raises(RuntimeError), store.writing():
            assert store.boards.next_number("spiro") == "101"
            with pytest.raises(RuntimeError), store.writing():
                assert store.boards.next_number("spiro") == "102"
                raise RuntimeError
            raise RuntimeError
        assert store.boards.next_number("spiro") == "101"


def test_writers_take_turns(store):
    def take(_):
        with Store(store.path) as other:
            return [take_number(other) for _ in range(50)]

    def take_number(other):
        with other.writing():
            return int(other.boards.next_number("spiro"))

    with ThreadPoolExecutor(4) as pool:
        assert sorted(chain(*pool.map(take, range(4)))) == [*range(101, 301)]


def test_a_writer_waits_before_it_reads(store):
    def write():
        with Store(store.path) as other, other.writing():
            return other.boards.next_number("spiro")

    with ThreadPoolExecutor() as pool:
        with store.writing():
            waiting = pool.submit(write)
            with pytest.raises(TimeoutError):
                waiting.result(0.2)
            assert store.boards.next_number("spiro") == "101"
        assert waiting.result() == "102"


def test_a_reader_does_not_wait_for_a_writer(store):
    with Store(store.path) as other, store.writing():
        store.boards.next_number("spiro")
        with other.reading():
            assert other.boards.totals("spiro")[1] == 0


def test_a_database_that_is_full_is_unusable_and_not_half_written(store, club):
    store.db.execute(f"PRAGMA max_page_count = {store.db.execute('PRAGMA page_count').fetchone()[0]}")
    mail = Mail("alice", "a@b.example", "s" * 100_000, "t", "<m>", None, club.time, club.time)
    with pytest.raises(Unusable, match="full"), store.writing():
        store.outbox.add(mail)
    assert store.outbox.all() == []


def test_a_database_of_a_newer_version_is_not_touched(store):
    store.db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    with pytest.raises(Unusable, match="newer version"):
        Store(store.path)


def test_every_migration_is_counted(store):
    assert len(migrations.applied(Database(store.db))) == SCHEMA - FIRST_SCHEMA + 1


@pytest.fixture
def first_release(tmp_path, monkeypatch):
    """A database that the first release has made."""
    with monkeypatch.context() as patched:
        next_version.install_first_release(patched.setattr)
        with Store(tmp_path / "pbm.db") as store:
            store.users.add("alice", "", datetime.now(UTC))
    return tmp_path / "pbm.db"


def test_reply_addresses_of_the_first_release_stay_and_no_number_of_one_is_given_again(first_release):
    sql(first_release, "INSERT INTO replies VALUES (3, 'symple', '101', 'alice'), (7, 'symple', '102', 'alice')")
    sql(first_release, "DELETE FROM replies WHERE id = 7")
    with Store(first_release) as store:
        assert store.trust.reply(3) == Reply("symple", "101", "alice")
        assert store.trust.store_reply("symple", "103", "alice") == 8
        assert store.health.damage() == []


def test_a_removed_board_is_remembered_for_a_time_with_its_reply_addresses_until_there_is_another_of_that_name(pair):
    boards, trust = pair.store.boards, pair.store.trust
    row, number = boards.get("spiro", "101"), trust.store_reply("spiro", "101", "alice")
    boards.remove("spiro", "101", pair.time)
    for before, is_known in (pair.time, True), (pair.time + timedelta(seconds=1), False):
        pair.store.forget_old(before)
        assert (boards.was_removed("spiro", "101"), trust.reply(number) is not None) == (is_known, is_known)
    boards.add(row)
    boards.remove("spiro", "101", pair.time)
    number = trust.store_reply("spiro", "101", "alice")
    boards.add(row)  # by `pbm import`
    assert (boards.was_removed("spiro", "101"), trust.reply(number)) == (False, None)


def test_a_record_of_a_message_is_made_once(store, club):
    assert store.handled.record("a@b.example", "<1>", "command", club.time)
    assert not store.handled.record("a@b.example", "<1>", "command", club.time)
    assert store.handled.record("c@b.example", "<1>", "command", club.time)


def test_a_plan_is_kept_of_no_board_that_there_is_not(store):
    with pytest.raises(sqlite3.IntegrityError):
        store.db.execute("INSERT INTO plans VALUES ('spiro', '101', 'alice', 'Resign')")


def test_each_noun_is_one_class_and_a_member_of_a_store(store):
    nouns = {noun.__name__.lower(): noun for noun in Questions.__subclasses__()}
    assert {"boards", "users", "outbox", "tournaments", "trust"} < nouns.keys()
    assert nouns == {name: type(one) for name, one in vars(store).items() if isinstance(one, Questions)}
    assert {noun.__mro__[1:] for noun in nouns.values()} == {(Questions, object)}
