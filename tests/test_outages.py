"""Seven stories of outages, told by processes whose clock is set by libfaketime, which makes them believe any time."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from pbm.store import Store

from helpers.packages import find_library

pytestmark = pytest.mark.long
REFUSING = "smtp://127.0.0.1:1"
"""A relay that nobody can reach."""


@pytest.fixture
def machine(shell):
    return Machine(shell)


class Machine:
    """A shell on a machine whose clock shows what a test wants."""

    def __init__(self, shell):
        self.shell = shell
        self.time = datetime(2027, 1, 4, 12, tzinfo=UTC)  # a Monday
        self.environment = {
            "LD_PRELOAD": str(find_library("faketime", "libfaketime.so.1")),
            "TZ": "UTC",
        }
        for name in ("alice", "bob"):
            self.does("signup", name, f"{name}-secret", f"{name}@players.example")

    def wait(self, **parts):
        self.time += timedelta(**parts)

    def tries(self, *words, **environment):
        """Give a command. Returns what it prints, or why it is refused."""
        environment = self.environment | {"FAKETIME": f"@{self.time:%Y-%m-%d %H:%M:%S}"} | environment
        ended = self.shell.process(*words, **environment)
        return ended.stdout + ended.stderr

    def does(self, *words):
        """Give a command that is carried out. Returns what it prints."""
        environment = self.environment | {"FAKETIME": f"@{self.time:%Y-%m-%d %H:%M:%S}"}
        ended = self.shell.process(*words, **environment)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def plays(self, *turns, board="101"):
        """Play moves of Symple, such as ``alice c3``."""
        for turn in turns:
            name, move = turn.split()
            self.does("symple", "move", board, name, f"{name}-secret", move)

    def live(self, *hours, is_relay_up=True):
        """Let so many hours pass, again and again, each time with a clean-up and a try to send; what was done."""
        done = []
        for number in hours:
            self.wait(hours=number)
            done.append(self.does("cleanup").partition(", 0 drawn")[0])
            self.wait(minutes=1)
            if is_relay_up:
                self.does("outbox", "flush")
            elif len(done) % 4 == 0:
                self.tries("outbox", "flush", PBM_TRANSPORT=REFUSING)
        return done


NOTHING, REMINDED, FORFEITED = "0 reminded, 0 forfeited", "1 reminded, 0 forfeited", "0 reminded, 1 forfeited"


def test_the_machine_is_off_for_25_days(machine):
    machine.does("symple", "challenge", "-size=5", "--nagtime=3", "--forfeittime=5", "alice", "bob")
    machine.plays("alice c3", "bob b1")
    assert machine.live(24) == [NOTHING]
    machine.wait(days=25)
    assert machine.live(0) == [NOTHING]
    assert "The server was away for 24 days, which do not count." in machine.does("symple", "show", "101")
    assert "absence  begun=2027-01-06" in machine.does("events")
    # two days have counted
    assert machine.live(20, 5, 35, 14) == [NOTHING, REMINDED, REMINDED, FORFEITED]


def test_the_relay_refuses_all_mails_for_23_days(machine):
    machine.does("symple", "challenge", "-size=5", "alice", "bob")
    machine.plays("alice c3", "bob b1")
    machine.does("outbox", "flush")
    assert machine.live(*[35] * 16, is_relay_up=False).count(REMINDED) == 1
    assert "Nag: Symple Board 101 alice" in machine.does("outbox", "list")
    assert machine.live(8, 35, 12, 2) == [NOTHING, REMINDED, NOTHING, FORFEITED]


def test_a_copy_that_is_ten_days_old_is_restored(machine, tmp_path):
    machine.does("symple", "challenge", "-size=5", "--clock=5+1", "alice", "bob")
    machine.plays("alice c3", "bob b1")
    copy = str(tmp_path / "copy.db")
    machine.does("backup", copy)
    machine.wait(days=10)
    machine.does("restore", copy, "--yes")
    machine.wait(minutes=1)
    assert re.search("(5d00h|4d23h) 5d00h", machine.does("symple", "games", "101"))  # a few seconds may be gone
    assert "The server was away for 10 days, which do not count." in machine.does("symple", "show", "101")
    assert machine.live(1, 35, 35, 20) == [NOTHING] * 3 + [REMINDED]


def test_the_clock_of_the_machine_steps_back_3_hours_and_forward_40(machine):
    machine.does("symple", "challenge", "-size=5", "--clock=4+1", "alice", "bob")
    machine.live(24)
    machine.wait(hours=-3)
    assert "The clock of this machine has stepped back" in machine.tries("status")
    assert "something was done at 2027-01-05 12:00 UTC" in machine.tries("doctor")
    machine.plays("alice c3")
    machine.wait(hours=3)
    assert "stepped back" not in machine.tries("status")
    machine.wait(hours=40)
    machine.plays("bob b1")
    assert machine.live(0) == [NOTHING]
    # bob has used 43 hours, of which 16 were more than a day behind the last clean-up, and has got a day
    assert re.search("(4d00h|3d23h) 3d(21|20)h", machine.does("symple", "games", "101"))


def test_a_clock_that_grows_over_a_weekend_and_an_absence(machine):
    machine.does("symple", "challenge", "-size=5", "--clock=5+1", "--noweekends", "alice", "bob")
    machine.plays("alice c3", "bob b1")  # on a Monday at noon
    assert machine.live(24) == [NOTHING]
    machine.wait(days=11)  # until Saturday of the next week; no time has counted from Wednesday noon on
    machine.plays("alice d4")
    assert machine.live(0) == [NOTHING]
    assert re.search("(4d00h|3d23h) 5d00h", machine.does("symple", "games", "101"))
    machine.wait(days=2)
    assert "4d11h" in machine.does("symple", "games", "101")  # of Monday a minute more than half has gone


def test_an_address_that_is_suspended(machine):
    machine.does("symple", "challenge", "-size=5", "--nagtime=3", "--forfeittime=4", "alice", "bob")
    machine.plays("alice c3", "bob b1")
    machine.does("outbox", "flush")
    with Store(machine.shell.folder / "pbm.db") as store, store.writing():
        [address] = store.users.addresses("alice")
        store.users.suspend_address(address.number, machine.time)
    assert machine.live(35, 35) == [NOTHING, NOTHING]
    assert machine.live(3) == [REMINDED]  # to nobody; it counts at once
    assert machine.live(35) == [REMINDED]
    assert machine.live(14) == [FORFEITED]


def test_a_board_of_a_tournament_that_is_reinstated(machine):
    machine.does("tournament", "symple", "a", "alice", "bob", "-size=5")
    machine.plays("alice c3", "bob b1", board="a1")
    machine.does("outbox", "flush")
    assert machine.live(*[35] * 5) == [REMINDED] * 4 + [FORFEITED]
    assert "1824" in machine.does("symple", "ratings")  # as two newcomers have
    machine.does("boards", "reinstate", "symple", "a1")
    assert "alice's turn" in machine.does("symple", "show", "a1")
    assert "1824" not in machine.does("symple", "ratings")
    machine.plays("alice d4", board="a1")
    assert machine.live(20) == [NOTHING]
