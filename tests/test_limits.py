"""What a mail may compute: a few seconds at most, however it arrives, and no other mail waits for longer."""

import os
import smtplib
import time
from threading import Event, Thread

import pytest

from pbm.budget import limited, uncounted

from helpers.costs import computing
from helpers.examples import IS_QUICK
from helpers.mail import ADDRESS, message
from helpers.plugins import MODULE, find_package

SLOW = """
        if text.startswith("loop"):
            while True:
                try:
                    sum(range(1000))
                except Exception:
                    pass
        if text.startswith("match"):
            import re
            re.match("(a|aa)+$", "a" * 100 + "b")
        if text not in self.moves():"""
"""How a move is read by a game that takes for ever to read some, and catches all errors meanwhile."""


@pytest.fixture
def slow(shell):
    """A shell with a board of such a game, 101, on which alice is to move."""
    find_package(shell, MODULE.replace("\n        if text not in self.moves():", SLOW))
    shell.sign_up("alice", "bob", has_mail=True)
    shell.process("take", "challenge", "alice", "bob")
    return shell


def answer(port, raw):
    """The code of the answer to a mail, and the seconds until it came."""
    with smtplib.SMTP("127.0.0.1", port) as peer:
        begin = time.monotonic()
        try:
            peer.sendmail("alice@players.example", [ADDRESS], raw)
        except smtplib.SMTPDataError as refused:
            return refused.smtp_code, time.monotonic() - begin
        return 250, time.monotonic() - begin


@pytest.mark.parametrize("kind", [pytest.param("loop", marks=pytest.mark.long), "match"])
def test_a_mail_that_takes_too_long_may_come_twice_and_others_are_answered_meanwhile(slow, kind):
    raw = message(f"take move 101 alice alice-secret {kind}")
    with slow.serving() as port:
        assert answer(port, raw)[0] == 451
        code, seconds = answer(port, message("help", sender="bob@players.example"))
        assert code == 250
        assert seconds < 1
        assert answer(port, b"Received: by another way\r\n" + raw)[0] == 554
        assert answer(port, message("take move 101 alice alice-secret 2"))[0] == 250
        assert answer(port, message("take move 101 bob bob-secret 2", sender="bob@players.example"))[0] == 250
    assert "Last turn: 2" in slow.process("take", "show", "101").stdout


@pytest.mark.long
def test_a_mail_that_takes_too_long_in_a_pipe_may_come_twice(slow):
    raw = message("take move 101 alice alice-secret loop")
    begin = os.times()
    first, second = slow.process("deliver", stdin=raw), slow.process("deliver", stdin=raw)
    assert [first.returncode, second.returncode] == [75, 65]
    assert first.stderr == "TimeoutError: it took more than 2 seconds\n"
    end = os.times()
    assert (end.children_user + end.children_system) - (begin.children_user + begin.children_system) < 8
    assert slow.process("deliver", stdin=message("take move 101 alice alice-secret 2")).returncode == 0


def test_nothing_is_stopped_in_the_middle_of_a_transaction_that_begins_or_ends(club, monkeypatch):
    """A mail that does nothing but begin and end transactions is stopped only between them."""
    for number in range(0, 25, 4 if IS_QUICK else 1):  # each of them is tried about ten times
        with pytest.raises(TimeoutError), limited(0.0005 + number / 2.5e4):
            while True:
                with club.store.writing(), club.store.writing():
                    club.store.handled.record("x", str(number), "command", club.time)
        assert not club.store.is_writing
        assert not club.store.db.in_transaction


def test_what_others_compute_does_not_count(club):
    def compute():
        while not done.is_set():
            sum(range(1000))

    done = Event()
    others = [Thread(target=compute) for _ in range(3)]
    for other in others:
        other.start()
    with limited(0.2):
        time.sleep(0.5)
    done.set()
    for other in others:
        other.join()


def test_what_must_be_done_is_not_counted_and_what_follows_it_is():
    with limited(0.1):
        with uncounted():
            computing(0.2)
        computing(0.025)
    with pytest.raises(TimeoutError), limited(0.1):
        with uncounted():
            computing(0.2)
        computing(5)


def test_whoever_plays_on_many_boards_can_sign_off_by_mail(board, monkeypatch):
    monkeypatch.setattr("pbm.actions.endings.quit_board", lambda *_, **__: computing(0.5) or [])
    with limited(0.2):
        board.say("signoff alice alice-secret", sender="alice@players.example")
    assert board.store.users.missing("alice")
