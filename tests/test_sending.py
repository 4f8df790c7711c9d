"""Mails go out once, also where it cannot be noted that they have: a full disk, a lock, a file that is read-only."""

import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager

import pytest

from pbm.mail import sending
from pbm.mail.sending import flush
from pbm.mail.transports import Maildirs, Transport, Undelivered, transport
from pbm.mail.writing import compose
from pbm.store import Store, Unusable

from helpers.mail import ADDRESS
from helpers.patience import PATIENCE, until
from helpers.relays import NAMES, Relay, left, running

SECONDS = float(os.environ.get("PBM_TEST_FAULT_SECONDS", "4"))
"""How long the database cannot be written in the tests with processes."""
WAYS = "smtp", "sendmail", "maildir"


class Counting(Transport):
    """Another transport, with a count of the mails that it has taken."""

    def __init__(self, way):
        self.way, self.batch = way, way.batch
        self.taken = Counter()
        self.after = lambda: None

    def send(self, message, sender, recipient, name):
        self.way.send(message, sender, recipient, name)
        self.taken[recipient.partition("@")[0]] += 1
        self.after()


@contextmanager
def setting(kind, folder):
    """The setting of a transport that keeps, and tells, the recipients of all copies that it gets."""
    (folder / "mail").mkdir()
    if kind == "maildir":
        yield f"maildir:{folder}/mail", lambda: [path.parts[-3] for path in (folder / "mail").glob("*/new/*")]
    elif kind == "sendmail":
        program, got = folder / "sendmail", folder / "got"
        program.write_text(f"#!/bin/sh\necho $5 >>{got}\ncat >/dev/null\n")
        program.chmod(0o755)
        yield f"sendmail:{program}", lambda: got.read_text().split() if got.exists() else []
    else:
        with running(Relay()) as relay:
            yield f"smtp://127.0.0.1:{relay.port}", lambda: [mail.rcpt_tos[0] for mail in relay.mails]


class Refusing(Transport):
    """A transport that can deliver nothing at the moment."""

    batch = 10

    def send(self, *_):
        raise Undelivered("the mailbox is full")


@pytest.mark.parametrize(("hours", "is_given_up"), [(113, False), (115, True)])
def test_a_mail_is_given_up_when_the_next_try_six_hours_later_would_be_more_than_five_days_after_it_was_written(
    club, hours, is_given_up
):
    club.say("help", sender="dave@players.example")
    club.store.db.execute("UPDATE outbox SET tries = 20")
    club.pass_time(hours=hours)
    flush(club.server, Refusing())
    assert (club.mails()[0].due is None) == is_given_up


@pytest.fixture(params=["a lock", "a file that is read-only", "a full disk"])
def fault(request, waiting, monkeypatch):
    """What keeps anything from being noted: two functions, which make it so and end it."""
    monkeypatch.setattr("pbm.store.BUSY_SECONDS", 0.05)
    db = waiting.store.db
    with closing(sqlite3.connect(waiting.store.path, isolation_level=None)) as other:
        if request.param == "a lock":
            yield lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK")
        elif request.param == "a file that is read-only":
            yield lambda: db.execute("PRAGMA query_only = ON"), lambda: db.execute("PRAGMA query_only = OFF")
        else:
            (pages,) = db.execute("PRAGMA page_count").fetchone()
            for what in ("UPDATE", "DELETE"):  # however little there is to note, it needs more room
                more = "INSERT INTO numbers VALUES (hex(randomblob(9999)), 1)"
                db.execute(f"CREATE TRIGGER on_{what} BEFORE {what} ON outbox BEGIN {more}; END")
            yield (
                lambda: db.execute(f"PRAGMA max_page_count = {pages}"),
                lambda: db.execute("PRAGMA max_page_count = 99999"),
            )


@pytest.mark.parametrize("kind", WAYS)
def test_no_mail_goes_out_where_nothing_can_be_noted(waiting, fault, kind, tmp_path):
    begins, ends = fault
    with setting(kind, tmp_path) as (text, _):
        way = Counting(transport(text))
        begins()
        for _ in range(3):
            with pytest.raises(Unusable):
                flush(waiting.server, way)
        assert not way.taken
        ends()
        assert flush(waiting.server, way)[:2] == (4, 0)
    assert way.taken == dict.fromkeys(NAMES, 1)
    assert left(waiting) == []


@pytest.mark.parametrize("kind", WAYS)
def test_what_went_out_and_could_not_be_noted_is_noted_later_and_not_sent_again(waiting, fault, kind, tmp_path, capsys):
    begins, ends = fault
    rested = []

    def wait(seconds):
        rested.extend([seconds] if seconds else [])
        if seconds and len(rested) == 5:
            ends()

    def begin_once():
        way.after = lambda: None
        begins()

    with setting(kind, tmp_path) as (text, _):
        way = Counting(transport(text))
        way.after = begin_once
        assert flush(waiting.server, way, wait)[:2] == (4, 0)
    assert rested == [1, 2, 4, 8, 16]
    assert way.taken == dict.fromkeys(NAMES, 1)
    assert left(waiting) == []
    assert capsys.readouterr().err.count("What was sent cannot be noted: The database ") == 5


def test_a_fault_with_one_mail_makes_no_other_go_out_twice(waiting, monkeypatch):
    class Broken(Transport):
        batch = 4

        def send(self, message, sender, recipient, name):
            if recipient.startswith("bob"):
                raise KeyError(name)
            taken.append(recipient.partition("@")[0])

    taken = []
    for _ in range(3):
        flush(waiting.server, Broken())
    assert taken == ["alice", "carol", "dave"]
    assert [(name, tries) for name, tries, *_ in left(waiting)] == [("bob", 1)]


@pytest.mark.parametrize(
    ("fault", "is_tried_again", "said"),
    [(ValueError("A line is too long."), False, "A line is too long."), (KeyError("x"), True, "KeyError: 'x'")],
)
def test_a_mail_that_cannot_be_composed_holds_up_no_other(waiting, monkeypatch, tmp_path, fault, is_tried_again, said):
    def composed(mail, *others):
        if str(mail.address).startswith("bob"):
            raise fault
        return compose(mail, *others)

    monkeypatch.setattr(sending, "compose", composed)
    with setting("maildir", tmp_path) as (text, got):
        assert flush(waiting.server, transport(text)) == (3, 1, said)
        assert sorted(got()) == [f"{name}@players.example" for name in ("alice", "carol", "dave")]
    assert left(waiting) == [("bob", 1, is_tried_again, said)]


def test_a_relay_that_hangs_up_behind_the_text_does_not_get_the_mail_again_at_once(waiting):
    class HangsUp(Relay):
        async def handle_DATA(self, server, session, envelope):
            answer = await super().handle_DATA(server, session, envelope)
            if envelope.rcpt_tos == ["bob@players.example"]:
                server.transport.abort()
            return answer

    with running(HangsUp()) as relay:
        flush(waiting.server, transport(f"smtp://127.0.0.1:{relay.port}"))
    assert [mail.rcpt_tos for mail in relay.mails] == [["alice@players.example"], ["bob@players.example"]]
    assert [tries for _, tries, *_ in left(waiting)] == [1, 0, 0]


# With processes


@contextmanager
def sender(path, text, room=resource.RLIM_INFINITY):
    """The process that sends for `pbm serve`, which can make files grow up to so many bytes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PBM_")}
    environment |= {"PBM_DB": str(path), "PBM_ADDRESS": ADDRESS, "PBM_TRANSPORT": text}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # half of a module would be left for all others
    words = [sys.executable, "-m", "pbm", "outbox", "keep-sending"]
    process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(PATIENCE)


@pytest.mark.long
@pytest.mark.parametrize("kind", WAYS)
def test_a_full_disk_makes_no_mail_go_out_again_and_again(waiting, kind, tmp_path):
    with setting(kind, tmp_path) as (text, got), sender(waiting.store.path, text, room=6000) as process:
        time.sleep(SECONDS)
        assert max(Counter(got()).values(), default=0) <= 1
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        until(lambda: waiting.mails() == [])
        assert Counter(got()) == dict.fromkeys([f"{name}@players.example" for name in NAMES], 1)


@pytest.mark.long
@pytest.mark.parametrize("kind", WAYS)
def test_a_lock_held_long_makes_no_mail_go_out_again_and_again(waiting, kind, tmp_path):
    with setting(kind, tmp_path) as (text, got):
        with closing(sqlite3.connect(waiting.store.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with sender(waiting.store.path, text):
                time.sleep(SECONDS)
                assert got() == []
                other.execute("ROLLBACK")
                until(lambda: waiting.mails() == [])
        assert Counter(got()) == dict.fromkeys([f"{name}@players.example" for name in NAMES], 1)


# The files


def test_the_lock_of_the_sender_follows_no_link_and_changes_no_file(waiting, tmp_path):
    lock, other = waiting.store.path.with_name("pbm.db.sending"), tmp_path / "precious"
    other.write_text("kept")
    lock.symlink_to(other)
    way = transport(f"maildir:{tmp_path}")
    with pytest.raises(Unusable, match=f"The lock {lock} cannot be used: "):
        flush(waiting.server, way)
    lock.unlink()
    lock.write_text("kept")
    lock.chmod(0o644)
    assert flush(waiting.server, way)[:2] == (4, 0)
    assert [each.read_text() for each in (lock, other)] == ["kept", "kept"]
    assert lock.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["pbm.db", "link.db"])
def test_whoever_waits_for_another_sender_gives_up_with_a_sentence(waiting, tmp_path, monkeypatch, name):
    (tmp_path / "link.db").symlink_to(waiting.store.path)
    monkeypatch.setattr("pbm.mail.sending.LOCK_SECONDS", 0.2)
    with setting("maildir", tmp_path) as (text, _), Store(tmp_path / name) as store:
        way = Counting(transport(text))

        def also_flush():
            with pytest.raises(Unusable, match="Another process has been sending mails for 0 s"):
                flush(waiting.server._replace(store=store), way)

        way.after = also_flush
        assert flush(waiting.server, way)[:2] == (4, 0)
    assert way.taken == dict.fromkeys(NAMES, 1)


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_mails_in_maildirs_are_for_their_reader_alone_whatever_the_umask(waiting, tmp_path, umask):
    before = os.umask(umask)
    try:
        assert flush(waiting.server, transport(f"maildir:{tmp_path}"))[:2] == (4, 0)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("*/new/*")} == {0o600}


def test_a_mail_goes_out_with_the_address_of_the_server_that_sends_it_whatever_the_command_knew(pair, tmp_path):
    here, pair.server = pair.server, pair.server._replace(address="games@localhost")
    pair.say("spiro subscribe carol carol-secret 101")
    pair.move("alice", "e3:5")
    assert flush(here, Maildirs(tmp_path)).failed == 0
    texts = [path.read_text() for path in tmp_path.glob("*/new/*")]
    assert sum("Reply-To: pbm+r" in text and "References: <" in text for text in texts) == 2
    assert sum("unsubscribe" in text for text in texts) == 1
    assert not any("localhost" in text for text in texts)
