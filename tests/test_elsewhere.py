"""Waiting for boards, and letting a program play, where the server is on another machine."""

import json
import subprocess
import sys

import pytest

from pbm.client import Client
from pbm.robot_players.elsewhere import BoardsElsewhere

from helpers.club import PASSWORDS
from helpers.patience import until
from helpers.proxies import cutting
from helpers.shell import Shell
from helpers.web import serving, shell_elsewhere

FIRST_FREE = """
import json, sys
for line in sys.stdin:
    if line.startswith("{"):
        position = json.loads(line)
        free = [c + str(r) for c in "abcde" for r in range(1, 6) if c + str(r) not in position["cells"]]
    elif not line.startswith("?"):
        break
    print(free.pop(0), flush=True)
"""
"""A program that plays Symple on a board of 5×5: at each turn the first cell that is free."""


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A server with boards of alice and bob, and one of bob and carol."""
    shell = Shell(tmp_path_factory.mktemp("served"))
    shell.sign_up("alice", "bob", "carol")
    for players in ["alice bob"] * 5 + ["bob carol"]:
        shell.run("symple", "challenge", "-size=5", *players.split())
    with serving(shell) as served:
        yield served
    log = (shell.folder / "log").read_text()
    assert "Traceback" not in log
    assert "-secret" not in log


@pytest.fixture(scope="module")
def shells(web, tmp_path_factory):
    """The shells of alice and bob on other machines, each with a token."""
    there = {}
    for name in "alice", "bob":
        token = web.shell.json("token", name, PASSWORDS[name], "elsewhere")["token"]
        there[name] = shell_elsewhere(web, tmp_path_factory.mktemp(name), PBM_TOKEN=token)
    return there


@pytest.fixture(scope="module")
def elsewhere(shells):
    """The shell of alice on another machine."""
    return shells["alice"]


def move(web, name, board, played):
    """A move of Symple on the machine of the server."""
    web.shell.done("symple", "move", board, name, PASSWORDS[name], played)


def boards_of(shell, *names):
    """What a program of that shell knows of some boards."""
    client = Client(shell.environment["PBM_SERVER"], shell.environment["PBM_TOKEN"])
    return BoardsElsewhere(client, "symple", names)


def test_what_is_so_already_ends_the_wait_at_once_and_the_boards_are_listed_as_in_a_local_shell(web, elsewhere):
    line = "wait", "symple", "101", "102", "--until=turn=alice"
    assert elsewhere.done(*line) == web.shell.done(*line)
    assert elsewhere.json(*line) == web.shell.json(*line)


@pytest.mark.parametrize(
    "line",
    [
        "wait symple 999",
        "wait symple 101 --until=turn=carol",
        "wait symple 101 --timeout=0.1",
        "play symple 999 alice --with=cat",
        "play symple 101 carol --with=cat",
    ],
)
def test_what_cannot_be_is_refused_as_in_a_local_shell(web, elsewhere, line):
    assert elsewhere.refused(*line.split()) == web.shell.refused(*line.split())


def test_a_pool_is_not_waited_for(elsewhere):
    assert "not for the pool 'a' of a tournament" in elsewhere.refused("wait", "symple", "a")


def test_a_stream_tells_of_a_move(web, elsewhere, monkeypatch):
    monkeypatch.setattr("pbm.robot_players.elsewhere.ASKING_SECONDS", 1000)
    with boards_of(elsewhere, "102", "103") as boards:
        assert boards.rows["103"].moves == 0
        move(web, "alice", "103", "c3")
        until(lambda: boards.wait(1) or boards.rows["103"].moves == 1)
        assert (boards.rows["102"].moves, boards.rows["103"].turn) == (0, "bob")
        move(web, "bob", "103", "d4")
        until(lambda: boards.wait(1) or boards.rows["103"].moves == 2)
        assert boards.changed == {"103"}


def test_a_board_of_others_is_asked_for_now_and_then(web, elsewhere, monkeypatch):
    monkeypatch.setattr("pbm.robot_players.elsewhere.ASKING_SECONDS", 0.2)
    with boards_of(elsewhere, "106") as boards:
        move(web, "bob", "106", "c3")
        until(lambda: boards.wait(0.1) or boards.rows["106"].moves == 1)


def test_the_command_ends_with_the_turn_for_which_it_waits(web, elsewhere):
    command = [sys.executable, "-m", "pbm", "wait", "symple", "104", "--until=turn=bob", "--json"]
    with subprocess.Popen(command, env=elsewhere.environment, stdout=subprocess.PIPE, text=True) as waiting:
        move(web, "alice", "104", "a1")
        told = json.loads(waiting.communicate()[0])
    assert (waiting.returncode, told["boards"][0]["turn"], told["gone"]) == (0, "bob", [])


def playing(shell, name, board, script, **settings):
    """A program that plays for a user on another machine."""
    program = f"{sys.executable} -c '{script}'"
    command = [sys.executable, "-m", "pbm", "play", "symple", board, name, "--with", program, "--json"]
    return subprocess.Popen(command, env=shell.environment | settings, stdout=subprocess.PIPE, text=True)


def test_a_program_whose_moves_are_refused_three_times_has_failed(web, elsewhere):
    with playing(elsewhere, "alice", "105", "while input(): print(99)") as process:
        told = json.loads(process.communicate()[0])
    assert process.returncode == 1
    assert told["error"].startswith("3 moves of the program in a row were refused. The last one: ")
    assert web.moves("105") == []


@pytest.mark.long
def test_two_programs_play_a_game_though_the_network_cuts_connections(web, shells):
    board = web.shell.json("symple", "challenge", "-size=5", "alice", "bob")["board"]
    with cutting(web.port, lambda rng: rng.choice([2, 2, rng.uniform(0, 2)])) as proxy:
        processes = [playing(shells["alice"], "alice", board, FIRST_FREE)]
        processes.append(playing(shells["bob"], "bob", board, FIRST_FREE, PBM_SERVER=proxy.url))
        told = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    [result] = {json.loads(out)["boards"][0]["winner"] for out, _ in told}
    assert result in {"alice", "bob", None}
    assert len(web.moves(board)) == web.shell.json("symple", "show", board)["moves"]
