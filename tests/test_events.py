"""Events and hooks (docs/scripting.md): what happens is numbered, and programs are run for it."""

import json

import pytest

from pbm.operator.events import FIRST_PAUSE_OF_HOOK, MOST_TRIES, keep_running, run_due

from helpers.club import PASSWORDS
from helpers.servers import running


def events(shell, *args):
    return [json.loads(line) for line in shell.done("events", "--json", *args).splitlines()]


def kinds(found):
    return [one["kind"] for one in found]


def test_what_happens_is_numbered_in_its_order(players):
    players.run("spiro", "resign", "101", "alice", PASSWORDS["alice"])
    players.run("symple", "challenge", "-size=5", "alice", "bob")
    players.run("symple", "move", "101", "alice", PASSWORDS["alice"], "c3")
    players.run("symple", "move", "101", "bob", PASSWORDS["bob"], "d4")
    players.run("symple", "resign", "101", "alice", PASSWORDS["alice"])
    found = events(players)
    assert kinds(found) == "signup signup challenge remove challenge move move resign end".split()
    assert [one["id"] for one in found] == list(range(1, 10))
    assert found[6].items() >= {"game": "symple", "board": "101", "userid": "bob", "move": "d4", "number": 2}.items()
    assert found[-1].items() >= {"winner": "bob", "reason": "resigned", "players": ["alice", "bob"]}.items()
    assert events(players, "--since=8") == found[8:]
    assert events(players, "--since=9") == []
    line = players.run("events", "--since=2").stdout.splitlines()[0].split("  ")  # for people
    assert (line[0], line[2:5]) == ("3", ["challenge", "spiro 101", "players=alice,bob"])


def test_nothing_private_or_refused_is_an_event_and_numbers_are_never_given_twice(players):
    players.run("symple", "challenge", "-size=5", "alice", "bob")
    before = events(players)
    players.run("symple", "queue", "101", "bob", PASSWORDS["bob"], "b2")
    players.run("symple", "submit", "101", "alice", PASSWORDS["alice"], "c3")
    players.run("symple", "chat", "101", "alice", PASSWORDS["alice"], "--comment=Hello")
    players.run("change", "address", "bob", PASSWORDS["bob"], "bob@elsewhere.example")
    players.run("symple", "move", "101", "bob", PASSWORDS["bob"], "c3")  # not his turn
    assert events(players) == before
    text = players.run("events").stdout
    assert not any(word in text for word in (*PASSWORDS.values(), "@", "Hello"))
    last = events(players)[-1]["id"]
    players.run("symple", "challenge", "-nonsense", "alice", "bob")
    players.run("signup", "alice", "other-secret")
    players.run("symple", "challenge", "-size=5", "alice", "bob")
    assert events(players)[-1]["id"] == last + 1


def test_events_are_forgotten_after_100_days(pair):
    pair.pass_time(days=101)
    pair.store.forget_old(pair.time.replace(year=2027))
    assert pair.store.events.since(0, 10) == []
    pair.say("signup dave dave-secret dave@players.example")
    assert pair.store.events.since(0, 10)[0].id > 1  # the numbers go on


@pytest.mark.long
def test_who_follows_gets_each_event_as_it_comes(players):
    with running(players, "events", "--follow", "--since=3", "--json") as following:
        players.sign_up("carol")
        assert json.loads(following.stdout.readline())["kind"] == "signup"
        players.run("symple", "challenge", "-size=5", "carol", "bob")
        assert json.loads(following.stdout.readline())["kind"] == "challenge"


# Hooks


@pytest.fixture
def noted(tmp_path):
    """A program that appends its input to a file, and fails while there is a file `broken`."""
    script = f"[ ! -e {tmp_path}/broken ] || {{ echo no chat today >&2; exit 3; }}; cat >> {tmp_path}/notes"
    return f"sh -c '{script}'"


def notes(tmp_path):
    path = tmp_path / "notes"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def hook(club, program, *kinds):
    with club.store.writing():
        return club.store.events.add_hook(program, kinds)


def test_a_program_runs_for_each_event_that_comes_later(pair, noted, tmp_path):
    hook(pair, noted, "move", "end")
    pair.say("symple challenge -size=5 alice bob")
    pair.say("symple move 101 alice alice-secret c3")
    pair.say("symple move 101 bob bob-secret d4")
    pair.say("symple resign 101 alice alice-secret")
    assert run_due(pair.server) == (3, 0)
    assert kinds(notes(tmp_path)) == ["move", "move", "end"]
    assert run_due(pair.server) == (0, 0)
    assert len(notes(tmp_path)) == 3


def test_a_program_that_fails_is_tried_again_later_and_misses_nothing(pair, noted, tmp_path):
    hook(pair, noted, "signup")
    (tmp_path / "broken").touch()
    pair.say("signup dave dave-secret")
    pair.say("signup erin erin-secret")
    assert run_due(pair.server) == (0, 1)
    assert run_due(pair.server) == (0, 0)  # it waits
    [one] = pair.store.events.hooks()
    assert (one.tries, one.due) == (1, pair.time + FIRST_PAUSE_OF_HOOK)
    assert "It ended with status 3: no chat today." in one.problem
    (tmp_path / "broken").unlink()
    pair.pass_time(seconds=10)
    assert run_due(pair.server) == (2, 0)
    assert [one["userid"] for one in notes(tmp_path)] == ["dave", "erin"]


def test_what_goes_wrong_while_programs_run_is_not_said_of_their_lock(pair, noted, monkeypatch):
    hook(pair, noted, "signup")

    def failing(*_):
        raise OSError("a fault of ours")

    monkeypatch.setattr("pbm.operator.events._catch_up", failing)
    with pytest.raises(OSError, match="a fault of ours"):
        run_due(pair.server)


def test_whoever_runs_programs_says_that_another_process_does(pair, noted, monkeypatch, capsys):
    hook(pair, noted)
    monkeypatch.setattr("pbm.operator.events.HOOK_SECONDS", 0)
    monkeypatch.setattr("pbm.operator.events.wait_for_end", lambda _: True)
    with pair.store.hold_lock("hooks", "running programs", 0, lambda: False):
        keep_running(pair.server)
    assert capsys.readouterr().err == "Another process has been running programs for 0 seconds; try again.\n"


def test_an_event_that_never_goes_well_is_left_out_after_ten_tries(pair, noted, tmp_path):
    hook(pair, noted, "signup")
    (tmp_path / "broken").touch()
    pair.say("signup dave dave-secret")
    for _ in range(MOST_TRIES):
        assert run_due(pair.server) == (0, 1)
        pair.pass_time(hours=2)
    assert run_due(pair.server) == (0, 0)
    (tmp_path / "broken").unlink()
    pair.say("signup erin erin-secret")
    assert run_due(pair.server) == (1, 0)
    assert [one["userid"] for one in notes(tmp_path)] == ["erin"]


def test_no_program_runs_in_a_transaction_and_one_that_cannot_be_started_holds_up_no_other(pair, noted, tmp_path):
    hook(pair, "/nowhere/to/be/found")
    hook(pair, noted)
    pair.say("signup dave dave-secret")
    assert run_due(pair.server) == (1, 1)
    broken, fine = pair.store.events.hooks()
    assert "It cannot be started" in broken.problem
    assert fine.problem is None
    assert not pair.store.is_writing


def test_hooks_are_added_listed_and_removed(players):
    assert players.done("hook", "add", "cat", "--on=move,END") == "Hook 1 is added.\n"
    for words, why in (
        (["cat", "--on=lunch"], "There are no events 'lunch'"),
        (["no-such-program"], "The program no-such-program cannot be started"),
        ([""], "No program is named"),
    ):
        assert players.refused("hook", "add", *words).startswith(why)
    assert "move,end" in players.done("hook", "list")
    assert players.done("hook", "run") == "0 runs, 0 failed.\n"
    assert players.done("hook", "remove", "1") == "Hook 1 is removed.\n"
    assert players.refused("hook", "remove", "1") == "There is no hook 1.\n"
    assert players.done("hook") == "There are no hooks.\n"


def test_whoever_runs_a_program_that_fails_is_told_why_with_the_exit_status(players):
    players.done("hook", "add", "false")
    players.sign_up("carol")
    done = players.run("hook", "run")
    assert (done.returncode, done.stdout) == (1, "0 runs, 1 failed.\n")
    assert done.stderr == "Hook 1, event 4: It ended with status 1. The next try is in 10 s.\n"
