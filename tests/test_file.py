"""The file of the database: whole at any moment, never made anew in silence, and copied before it is changed."""

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pbm.disk import COPY, whole
from pbm.operator import doctor
from pbm.store import SCHEMA, Store, Unusable
from pbm.store.base import APPLICATION_ID, BUSY_SECONDS, FIRST_SCHEMA

from helpers import next_version
from helpers.club import PASSWORDS
from helpers.database import people_in, sql
from helpers.next_version import NEXT_SCHEMA
from helpers.patience import PATIENCE
from helpers.shell import run_as_nobody


@pytest.fixture
def older(tmp_path, monkeypatch):
    """A database of alice, which this version has made, where the next version is installed now."""
    with Store(tmp_path / "pbm.db") as store:
        store.users.add("alice", "", datetime.now(UTC))
    next_version.install(monkeypatch.setattr)
    return tmp_path / "pbm.db"


def one_line(text):
    return " ".join(text.split())


def schema_of(path):
    [(schema,)] = sql(path, "PRAGMA user_version")
    return schema


def test_two_sign_ups_are_in_the_file_itself(shell, tmp_path):
    shell.sign_up("alice", "bob")
    copy = tmp_path / "copy"
    shutil.copyfile(tmp_path / "pbm.db", copy)
    assert people_in(copy) == ["alice", "bob"]
    assert not (tmp_path / "pbm.db-wal").exists()


def test_a_new_database_is_made_in_silence_and_is_in_the_file_itself_while_it_is_open(tmp_path, capsys):
    with Store(tmp_path / "pbm.db") as store:
        shutil.copyfile(store.path, tmp_path / "copy")
        assert sql(store.path, "PRAGMA journal_mode") == [("wal",)]
    assert capsys.readouterr() == ("", "")
    assert schema_of(tmp_path / "pbm.db") == SCHEMA
    with Store(tmp_path / "copy") as copy:
        assert copy.health.damage() == []


@pytest.mark.parametrize(
    "query",
    [
        f"PRAGMA application_id = {APPLICATION_ID}",
        "PRAGMA journal_mode = WAL",  # what older versions had in the file itself at first
        f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA}",
        f"PRAGMA application_id = {APPLICATION_ID}; CREATE TABLE users (userid TEXT)",
    ],
)
def test_a_database_that_lacks_our_tables_is_refused_and_not_made_anew(shell, tmp_path, query):
    path = tmp_path / "pbm.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(query)
    path.chmod(0o600)
    before = path.read_bytes()
    for words in (["signup", "alice", PASSWORDS["alice"]], ["list"], ["outbox", "flush"], ["status"]):
        assert one_line(shell.refused(*words)).startswith(f"{path} lacks tables that every database of pbm has (")
    done = shell.run("doctor")
    assert done.returncode == 1
    assert f"{path} lacks tables" in done.stdout
    assert path.read_bytes() == before


def test_a_database_whose_maker_is_killed_is_made_by_the_next_process(tmp_path):
    """Nothing of it is there before all of it is."""
    path = tmp_path / "pbm.db"
    code = "import os, sys; from pathlib import Path; from pbm.store import Store, schema; apply = schema.apply\n"
    code += "def killed(db): apply(db); os.kill(os.getpid(), 9)\n"
    code += "schema.apply = killed; Store(Path(sys.argv[1]))"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -signal.SIGKILL
    with Store(path) as store:
        assert store.health.damage() == []
        assert sql(store.path, "PRAGMA journal_mode") == [("wal",)]


def test_the_first_opening_of_an_older_version_leaves_a_copy_beside_it_and_says_so(older, capsys):
    kept = older.with_name(f"pbm.db.before-schema-{NEXT_SCHEMA}")
    with Store(older) as store:
        assert store.health.damage() == []
        assert store.db.execute("SELECT count(*) FROM inventions").fetchone() == (0,)
    said = f"Brought {older} from schema {SCHEMA} up to schema {NEXT_SCHEMA}; a copy of what it was is {kept}.\n"
    assert capsys.readouterr() == ("", said)
    assert kept.stat().st_mode & 0o777 == 0o600
    assert sql(kept, "PRAGMA integrity_check") == [("ok",)]
    assert (schema_of(kept), schema_of(older)) == (SCHEMA, NEXT_SCHEMA)
    assert people_in(kept) == people_in(older) == ["alice"]
    kept.unlink()
    Store(older).close()
    assert not kept.exists()
    assert capsys.readouterr() == ("", "")


def test_an_older_version_that_was_brought_up_to_date_is_in_the_file_itself_while_it_is_open(older, tmp_path):
    with Store(older) as store:
        shutil.copyfile(store.path, tmp_path / "copy")
    assert schema_of(tmp_path / "copy") == NEXT_SCHEMA
    assert people_in(tmp_path / "copy") == ["alice"]


def test_a_copy_that_cannot_be_made_leaves_the_older_version_as_it_is(older):
    older.with_name(f"pbm.db.before-schema-{NEXT_SCHEMA}").mkdir()
    with pytest.raises(Unusable, match="before-schema"):
        Store(older)
    assert schema_of(older) == SCHEMA


@pytest.mark.parametrize("schema", [1, 8, 9, FIRST_SCHEMA - 1])
@pytest.mark.parametrize("query", ["", "ALTER TABLE plans RENAME TO queued"])  # as schema 9 had it
def test_a_database_of_a_version_before_the_first_release_is_refused_and_not_touched(shell, tmp_path, schema, query):
    shell.sign_up("alice")
    path = tmp_path / "pbm.db"
    sql(path, f"PRAGMA user_version = {schema}")
    sql(path, query)
    before = path.read_bytes()
    why = (
        f"{path} was written by a version of pbm before its first release, and this one cannot read it. Write its "
        "boards into a file with that version (`pbm export`), and `pbm import` that file into a new database."
    )
    for words in (["signup", "bob", PASSWORDS["bob"]], ["list"], ["outbox", "flush"], ["status"]):
        assert one_line(shell.refused(*words)).startswith(why)
    assert one_line(shell.refused("restore", str(path), "--yes", PBM_DB=str(tmp_path / "new.db"))) == why
    assert one_line(shell.run("doctor").stdout) == f"database: {why} Found 1 fault."
    assert path.read_bytes() == before
    assert [*tmp_path.glob("*before-schema*")] == []


def test_the_page_for_operators_says_which_databases_are_refused():
    page = (Path(__file__).parent.parent / "docs" / "operating.md").read_text()
    assert [int(number) for number in re.findall(r"schema (\d+) or below", page)] == [FIRST_SCHEMA - 1]


@pytest.mark.long
def test_processes_that_bring_a_database_up_to_date_at_once_do_it_once(shell, older):
    code = "from helpers import next_version; next_version.install(); from pbm.shell import main; main(['users'])"
    environment = shell.environment | {"PYTHONPATH": str(Path(__file__).parent)}
    words = [sys.executable, "-c", code]
    several = [subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=-1) for _ in range(6)]
    told = [each.communicate(timeout=PATIENCE)[1] for each in several]
    assert [each.returncode for each in several] == [0] * 6
    assert sorted(map(len, told))[:5] == [0] * 5
    assert b"".join(told).startswith(b"Brought ")
    assert schema_of(older.with_name(f"pbm.db.before-schema-{NEXT_SCHEMA}")) == SCHEMA


# Restore


CHANGES = {
    "the table users is not as pbm has made it": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'DEFAULT 1', 'DEFAULT 0') "
        "WHERE name = 'users'"
    ),
    "there is no index boards_first": "DROP INDEX boards_first",
    "there is no table replies": "DROP TABLE replies",
    "there is a trigger theft that pbm has not made": (
        "CREATE TRIGGER theft AFTER INSERT ON users BEGIN DELETE FROM users; END"
    ),
    "there is a trigger sqlites that pbm has not made": (
        "CREATE TRIGGER sqlites AFTER INSERT ON turns BEGIN DELETE FROM boards; END"
    ),
    "there is a trigger late that pbm has not made": (
        "CREATE TRIGGER late AFTER INSERT ON _sqlite_migrations BEGIN DELETE FROM users; END"
    ),
    "there is a trigger _later that pbm has not made": (
        "CREATE TABLE _seq (id); CREATE TRIGGER _later AFTER INSERT ON _seq BEGIN DELETE FROM users; END"
    ),
    "there is a view _users that pbm has not made": "CREATE VIEW _users AS SELECT * FROM users",
    "there is a table litestream that pbm has not made": "CREATE TABLE litestream (id)",
    "there is a index _users that pbm has not made": "CREATE INDEX _users ON users (zone)",
    "the index boards_pool is not as pbm has made it": (
        "DROP INDEX boards_pool; CREATE INDEX boards_pool ON boards (game, pool)"
    ),
}


@pytest.mark.parametrize("reason", CHANGES)
def test_a_copy_that_somebody_has_changed_is_seen_by_the_doctor_and_not_restored(kept, tmp_path, reason):
    with closing(sqlite3.connect(tmp_path / "copy")) as db:
        db.executescript(CHANGES[reason])
    inode = (tmp_path / "pbm.db").stat().st_ino
    assert reason in kept.run("doctor", PBM_DB=str(tmp_path / "copy")).stdout
    assert reason in kept.refused("restore", str(tmp_path / "copy"), "--yes")
    assert (tmp_path / "pbm.db").stat().st_ino == inode
    assert people_in(tmp_path / "pbm.db") == ["alice", "bob"]
    assert not list(tmp_path.glob("*before*")) + list(tmp_path.glob(".*"))


def test_tables_of_other_programs_are_left_alone_and_named(kept, tmp_path):
    with closing(sqlite3.connect(tmp_path / "copy")) as db:
        db.executescript("""
            CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
            CREATE TABLE _litestream_lock (id INTEGER);
            CREATE INDEX locks ON _litestream_lock (id);
            INSERT INTO _litestream_lock VALUES (7);
        """)
    told = "Tables of other programs, which pbm leaves alone: _litestream_lock, _litestream_seq."
    doctor = one_line(kept.done("doctor", PBM_DB=str(tmp_path / "copy")))
    assert doctor == f"{told} All is well with {tmp_path}/copy."
    assert kept.done("restore", str(tmp_path / "copy"), "--yes").endswith(f" {told}\n")
    assert kept.json("restore", str(tmp_path / "copy"), "--yes")["notes"] == [told]
    assert sql(tmp_path / "pbm.db", "SELECT id FROM _litestream_lock") == [(7,)]
    assert kept.json("doctor") == {"ok": True, "findings": [], "notes": [told]}
    kept.done("signup", "dave", "dave-secret")


def test_restore_of_an_older_version_that_cannot_be_changed_leaves_the_database_alone(kept, tmp_path, monkeypatch):
    sql(tmp_path / "copy", "CREATE TABLE inventions (name TEXT)")
    next_version.install(monkeypatch.setattr)
    assert "cannot be brought up to date" in one_line(kept.refused("restore", str(tmp_path / "copy"), "--yes"))
    assert people_in(tmp_path / "pbm.db") == ["alice", "bob"]


def test_restore_brings_an_older_version_up_to_date_before_it_is_put_in_place(kept, tmp_path, monkeypatch):
    before = (tmp_path / "copy").read_bytes()
    next_version.install(monkeypatch.setattr)
    kept.done("restore", str(tmp_path / "copy"), "--yes")
    assert (tmp_path / "copy").read_bytes() == before
    assert people_in(tmp_path / "pbm.db") == ["alice"]
    assert not list(tmp_path.glob("*before-schema*"))
    kept.done("signup", "dave", "dave-secret")
    assert schema_of(tmp_path / "pbm.db") == NEXT_SCHEMA
    kept.done("doctor")


# What is left behind


@pytest.mark.parametrize("words", [["backup", "FOLDER/again"], ["restore", "FOLDER/copy", "--yes"]])
def test_a_hidden_copy_of_a_killed_process_is_found_by_the_doctor_and_removed_by_the_next_run(kept, tmp_path, words):
    code = "import os, sys; from pathlib import Path; from pbm.disk import whole\n"
    code += "with whole(Path(sys.argv[1])) as copy: copy.write_bytes(bytes(9)); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "copy")], check=False)
    [left] = tmp_path.glob(f".*{COPY}")
    Path(f"{left}-journal").write_bytes(b"")
    done = kept.run("doctor")
    assert done.returncode == 1
    assert f"{left}: a backup or a restore that was killed has left it behind." in done.stdout
    kept.done(*(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert not list(tmp_path.glob(".*"))


def test_a_hidden_copy_on_which_somebody_works_stays(kept, tmp_path):
    with whole(tmp_path / "other") as copy:
        kept.done("doctor")
        kept.done("backup", str(tmp_path / "again"))
        assert copy.exists()


# Whether it can be written


def test_the_doctor_finds_a_database_that_may_only_be_read(shell):
    shell.sign_up("alice")
    with TemporaryDirectory() as name:
        path = Path(name) / "pbm.db"
        with Store(path):
            for each in (path, *Path(name).glob("pbm.db-*")):
                each.chmod(0o444)
            Path(name).chmod(0o555)
            for word in ("doctor", "status"):
                done = run_as_nobody(shell, path, word)
                assert done.returncode == 1
                assert "cannot be written: attempt to write a readonly database." in done.stdout
                assert ("\n  Look who owns the file" in done.stdout) == (word == "doctor")
            Path(name).chmod(0o755)


def test_the_doctor_waits_for_nobody_who_writes(kept, tmp_path):
    with Store(tmp_path / "pbm.db") as store, store.writing():
        start = time.monotonic()
        assert list(doctor.examine(store.path, datetime.now(UTC))) == []
        assert time.monotonic() - start < BUSY_SECONDS


# A database that is not there


def test_a_database_whose_newest_changes_lie_beside_it_is_not_begun_anew(tmp_path):
    """It was moved away while a server ran: a new one would take mail, and SQLite would delete the changes."""
    path = tmp_path / "pbm.db"
    changes = tmp_path / "pbm.db-wal"
    changes.write_bytes(b"a move")
    with pytest.raises(Unusable, match=r"has been moved or deleted, and its newest changes are in .*pbm\.db-wal"):
        Store(path)
    assert not path.exists()
    assert changes.read_bytes() == b"a move"


def test_a_missing_folder_of_a_database_is_named(tmp_path):
    with pytest.raises(Unusable, match=f"there is no folder {tmp_path}/lib; `mkdir -p {tmp_path}/lib` makes it"):
        Store(tmp_path / "lib" / "pbm.db")
