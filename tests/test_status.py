"""How the server is doing, at a glance; and backups with a date."""

import json
import shutil
from datetime import datetime
from types import SimpleNamespace

import pytest

from pbm.actions import cleanup
from pbm.actions.status import needed, status_at
from pbm.session import Session

from helpers.costs import cost
from helpers.database import sql, stored
from helpers.mail import handle, message


def needs(club):
    return [text.partition(". ")[0] for text in needed(status_at(club.store, club.time), club.time)]


@pytest.fixture
def begun(pair):
    """The club, whose notes begin when its clock does; all that needs to be done has been."""
    for name in ("begun", "backup", "cleanup"):
        pair.store.events.note_maintenance(name, pair.time)
    pair.store.db.execute("DELETE FROM outbox")
    return pair


def test_users_boards_and_mails_are_counted(pair):
    pair.say("symple challenge -size=5 alice bob")
    pair.store.users.sign_off("carol", pair.time)
    for name, due in (("alice", None), ("bob", pair.time)):
        mail = pair.mails(name)[0]
        pair.store.outbox.postpone(mail._replace(tries=0), due, "gone")
    found = status_at(pair.store, pair.time)
    assert (found.users, found.boards, found.active) == (2, 2, 2)
    mails = pair.mails()
    given_up = sum(mail.address is not None and mail.due is None for mail in mails)
    without = sum(mail.address is None for mail in mails)
    assert found.mails[:3] == (len(mails) - given_up - without, without, given_up)
    assert given_up == 1
    assert found.mails.oldest == pair.time


def test_commands_by_mail_are_counted_as_done_or_refused_for_a_day(pair):
    pair.store.db.execute("DELETE FROM commands")  # those of the shell that has made this board
    for subject in ("help", "spiro games", "spiro show 999", "rubbish", "list"):
        handle(pair.server, message(subject), "alice@players.example")
        pair.wait(hours=1)
    assert status_at(pair.store, pair.time).commands == (3, 2)
    pair.wait(hours=19, minutes=30)
    assert status_at(pair.store, pair.time).commands == (2, 2)
    pair.wait(hours=24)
    assert status_at(pair.store, pair.time).commands == (0, 0)


def test_nothing_needs_a_person_where_all_is_done_but_a_disk_that_is_nearly_full(begun, monkeypatch):
    assert needs(begun) == []
    begun.wait(days=3)
    cleanup.clean_up(Session(begun.server))
    assert status_at(begun.store, begun.time).cleanup == begun.time
    begun.store.db.execute("DELETE FROM outbox")
    assert needs(begun) == []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=9, used=9, free=5_000_000))
    assert needs(begun) == ["Only 5 MB of the disk are free"]


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"days": 2}, []),
        ({"days": 3}, ["There was no clean-up for two days"]),
        ({"days": 9}, ["There was no clean-up for two days", "There was no backup for a week"]),
    ],
)
def test_work_that_is_not_done_needs_a_person(begun, parts, found):
    begun.wait(**parts)
    assert needs(begun) == found


def test_where_nobody_plays_no_cleanup_is_missed(begun):
    begun.store.boards.remove("spiro", "101", begun.time)
    begun.wait(days=3)
    assert needs(begun) == []


def test_mails_that_wait_for_long_or_were_given_up_need_a_person(begun):
    begun.move("alice", "e3:5")
    begun.wait(days=1, minutes=1)
    assert needs(begun) == ["A mail has been waiting since 2026-11-20 12:00 UTC"]
    for mail in begun.mails():
        begun.store.outbox.postpone(mail, None, "550 no such user")
    assert needs(begun) == [f"Given up: {len(begun.mails())} mail{'s' * (len(begun.mails()) > 1)}"]


def test_the_command_says_what_it_found_with_its_exit_status(shell):
    shell.sign_up("alice")
    assert [line.partition(":")[0] for line in shell.done("status").splitlines()] == [
        "Version", "Users", "Boards", "Mails waiting", "Mails given up", "Commands, 24 hours", "Last clean-up",
        "Last backup", "Disk",
    ]  # fmt: skip
    sql(shell.folder / "pbm.db", "UPDATE notes SET moment = '2026-01-01T00:00:00.000000+00:00'")
    done = shell.run("status", "--json")
    assert done.returncode == 1
    need = "There was no backup for a week. Let `pbm backup --keep=14 FOLDER` run once a day."
    assert json.loads(done.stdout)["needs"] == [need]


@pytest.mark.long
def test_twenty_thousand_boards_and_users_are_counted_in_no_time(pair):
    row = stored(pair.store, "boards")[0]
    with pair.store.writing():
        for number in range(1000, 21_000):
            over = {"ended": row["started"]} if number % 20 else {}
            pair.store.boards.insert("boards", row | {"board": str(number)} | over)
            pair.store.users.insert(
                "users", {"userid": f"user{number}", "password": "x" * 100, "created": row["started"]}
            )
    found = status_at(pair.store, pair.time)
    assert (found.users, found.boards, found.active) == (20_003, 20_001, 1_001)
    everything = cost(lambda: pair.store.db.execute("SELECT * FROM boards").fetchall())
    assert cost(lambda: status_at(pair.store, pair.time), 5) < everything / 5


# Backups with a date


def test_dated_backups_are_kept_as_many_as_one_likes(shell):
    shell.sign_up("alice")
    folder = shell.folder / "backups"
    assert shell.refused("backup", "--keep=2", str(folder)) == f"There is no folder {folder}; make it first.\n"
    folder.mkdir()
    others = "notes.txt", "pbm-2026.db", "other-20260101T000000.000000Z.db", "pbm-20260101T000000.000000Z.db.old"
    for name in others:
        (folder / name).write_text("precious")
    made = [shell.json("backup", "--keep=2", str(folder)) for _ in range(3)]
    assert [each["removed"] for each in made] == [[], [], [made[0]["backup"]]]
    names = {each["backup"].rpartition("/")[2] for each in made[1:]}
    assert {path.name for path in folder.iterdir()} == {*others, *names}
    assert (folder / made[2]["backup"]).stat().st_mode & 0o777 == 0o600
    last = datetime.fromisoformat(shell.json("status")["last_backup"])
    assert f"{last:%Y%m%dT%H%M%S.%fZ}" in made[2]["backup"]


def test_a_backup_that_a_wrong_clock_has_dated_later_does_not_replace_a_new_one(shell):
    shell.sign_up("alice")
    folder = shell.folder / "backups"
    folder.mkdir()
    later = folder / "pbm-20990101T000000.000000Z.db"
    later.write_text("of today")
    assert shell.json("backup", "--keep=2", str(folder))["removed"] == []
    made = shell.json("backup", "--keep=1", str(folder))["backup"]
    assert [str(path) for path in folder.iterdir()] == [made]


def test_a_backup_that_fails_removes_no_other(shell):
    shell.sign_up("alice")
    folder = shell.folder / "backups"
    folder.mkdir()
    first = shell.json("backup", "--keep=1", str(folder))["backup"]
    (shell.folder / "pbm.db").write_bytes(b"rubbish" * 1000)
    shell.refused("backup", "--keep=1", str(folder))
    assert [str(path) for path in folder.iterdir()] == [first]
