"""Mails as people, programs and attackers send them: the folder `mails`, with what becomes of each in expected.toml."""

import smtplib
import sqlite3
import time
import tomllib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pbm.access import tokens
from pbm.mail import incoming, reading
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.store import Store

from helpers.club import Club
from helpers.database import stored, stored_board
from helpers.examples import examples
from helpers.mail import ADDRESS, handle
from helpers.shell import Shell

FOLDER = Path(__file__).with_name("mails")
MAILS = tomllib.loads((FOLDER / "expected.toml").read_text())
UNCHANGED = "users addresses numbers boards turns plans players followers replies results vacations digests".split()
"""What no mail changes but one whose command was accepted."""


class Mailroom:
    """A database in which every mail of the folder has its board, and the mails as they are sent to it."""

    def __init__(self, folder):
        club = Club(folder / "pbm.db")
        club.signed_up("alice", "bob")
        for _ in MAILS:
            club.say("symple challenge -size=5 alice bob")
        club.store.db.execute("DELETE FROM outbox")
        self.server = Server(club.store, ADDRESS, Passwords())
        self.shell = Shell(folder)
        self.shell.environment["PBM_TRANSPORT"] = "smtp://127.0.0.1:1"  # nothing leaves

    @property
    def store(self):
        return self.server.store

    def bounce_address(self):
        [row] = self.store.users.addresses("alice")
        return f"pbm+{tokens.bounce_token(self.server, row.number, f'alice {row.address}')}@pbm.example"

    def envelope(self, name):
        """The mail, and the sender and the recipient of its envelope."""
        expected = MAILS[name]
        reply = tokens.reply_address(self.server, "symple", number_of(name), "alice")
        places = {"reply": reply, "bounce": self.bounce_address()}
        raw = (FOLDER / f"{name}.eml").read_bytes()
        for kind, address in places.items():
            raw = raw.replace(kind.upper().encode(), address.partition("+")[2].partition("@")[0].encode())
        sender = expected.get("envelope", reading.read(raw, None).sender or "somebody@mail.example")
        return raw, sender, places.get(expected.get("at"), ADDRESS)

    def check(self, name, raw):
        """What has become of the mail."""
        expected = MAILS[name]
        sender = (reading.read(raw, expected.get("envelope")).sender or "").lower()
        query = "SELECT outcome FROM handled WHERE sender = ?"
        assert self.store.db.execute(query, [sender]).fetchall()[-1:] == [(expected.get("outcome", "command"),)]
        board = stored_board(self.store, "symple", number_of(name))
        assert (board is None) == expected.get("removed", False)
        if board:
            assert [turn.text for turn in board.turns] == [expected["played"]] * bool(expected["played"])
        if "comment" in expected:
            assert board.row.comment == expected["comment"]
        answers = [one.text for one in self.store.outbox.all() if one.userid is None and one.address.lower() == sender]
        if "answer" in expected:
            assert any(expected["answer"] in answer for answer in answers)
        else:
            assert answers == []


def number_of(name):
    return name.partition("-")[0]


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    room = Mailroom(tmp_path_factory.mktemp("room"))
    yield room
    room.store.close()


def test_there_is_a_mail_for_every_line_of_the_table_and_a_line_for_every_mail():
    assert {path.stem for path in FOLDER.glob("*.eml")} == set(MAILS)
    assert len(MAILS) >= 80
    assert [int(number_of(name)) for name in MAILS] == list(range(101, 101 + len(MAILS)))


@pytest.mark.parametrize("name", MAILS)
def test_what_becomes_of_a_mail_that_is_piped_to_deliver(room, name):
    raw, sender, recipient = room.envelope(name)
    done = room.shell.run("deliver", stdin=raw, SENDER=sender, RECIPIENT=recipient)
    assert (done.returncode, done.stderr) == (0, "")
    room.check(name, raw)


@pytest.mark.long
def test_what_becomes_of_each_mail_that_comes_by_smtp(tmp_path):
    room = Mailroom(tmp_path)
    mails = {name: room.envelope(name) for name in MAILS}
    with room.shell.serving() as port, smtplib.SMTP("127.0.0.1", port) as smtp:
        for raw, sender, recipient in mails.values():
            smtp.sendmail(sender, [recipient], raw.replace(b"\n", b"\r\n"))
    for name, (raw, _, _) in mails.items():
        room.check(name, raw)
    room.store.close()


def test_the_outbox_says_that_a_mail_waits_because_others_have_bounced(shell):
    shell.sign_up("alice", has_mail=True)
    shell.sign_up("bob")
    with Store(shell.folder / "pbm.db") as store, store.writing():
        store.users.suspend_address(store.users.addresses("alice")[0].number, datetime.now(UTC))
    shell.run("spiro", "challenge", "-small", "bob", "alice")
    assert "when they write to us: their address bounces" in shell.run("outbox", "list").stdout
    assert shell.run("outbox", "flush").stdout == "0 sent, 0 not sent.\n"


# Mutants


def snapshot(store):
    tables = {table: stored(store, table) for table in UNCHANGED}
    for address in tables["addresses"]:
        del address["bounces"], address["bouncing_since"], address["suspended"]
    return tables


@st.composite
def mutants(draw):
    """A mail of the folder in which bytes are cut, doubled, swapped, flipped, or which is put into another one."""
    name = draw(st.sampled_from(sorted(MAILS)))
    raw = (FOLDER / f"{name}.eml").read_bytes()[:20_000]
    for kind in draw(
        st.lists(st.sampled_from(["cut", "double", "swap", "flip", "nest", "join", "blow up"]), max_size=6)
    ):
        begin, end = sorted(draw(st.tuples(*[st.integers(0, len(raw))] * 2)))
        part = raw[begin:end]
        if kind == "cut":
            raw = raw[:begin] + raw[end:]
        elif kind == "double":
            raw = raw[:end] + part + raw[end:]
        elif kind == "swap":
            raw = part + raw[:begin] + raw[end:]
        elif kind == "flip":
            raw = raw[:begin] + bytes([draw(st.integers(0, 255))]) + raw[begin + 1 :]
        elif kind == "nest":
            raw = raw[:begin] + b"Content-Type: multipart/alternative; boundary=b\n\n--b\n" + raw[begin:] + b"\n--b--\n"
        elif kind == "join":
            other = (FOLDER / f"{draw(st.sampled_from(sorted(MAILS)))}.eml").read_bytes()[:20_000]
            raw = raw[:begin] + other[min(begin, len(other)) :]
        else:
            raw = raw[:begin] + part[:40] * draw(st.integers(1, 2000)) + raw[begin:]
    return (
        raw[: incoming.MOST_BYTES],
        draw(st.sampled_from(["", "reply", "bounce"])),
        draw(st.sampled_from(["", None, "x@y.example"])),
    )


@pytest.fixture(scope="module")
def as_it_was(room):
    """A copy of the database, for when a mutant has given a command."""
    with closing(sqlite3.connect(":memory:")) as copy:
        room.store.db.backup(copy)
        yield copy


@settings(examples(300), suppress_health_check=list(HealthCheck))
@given(mutants())
def test_no_mutant_of_a_mail_crashes_or_takes_long_or_changes_anything_but_by_an_accepted_command(
    room, as_it_was, mutant
):
    raw, at, sender = mutant
    reply = tokens.reply_address(room.server, "symple", "159", "alice")
    recipient = {"reply": reply, "bounce": room.bounce_address()}.get(at) or ADDRESS
    before, queued = snapshot(room.store), len(room.store.outbox.all())
    begin = time.process_time()
    outcome = handle(room.server, raw, sender, [recipient])
    assert time.process_time() - begin < 20
    assert outcome in {"command", "automatic", "bounce", "unreadable", "unknown", "repeated", "capped"}
    new = room.store.outbox.all()[queued:]
    if outcome == "command" and all("error" not in one.subject.lower() for one in new):
        as_it_was.backup(room.store.db)  # it may have ended the board, or made alice leave
        return
    assert snapshot(room.store) == before
