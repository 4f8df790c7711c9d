"""docs/http.md is true: its sessions by curl and in Python, and its robot, do what it says, with a running server."""

import http.client
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from helpers.patience import PATIENCE, until
from helpers.shell import Shell
from helpers.web import serving

PAGE = (Path(__file__).parents[1] / "docs" / "http.md").read_text()
PROGRAMS = dict(re.findall(r"stands\s+in\s+`([^`]+)`:\n\n```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
"""The programs of the page, by the names of their files."""
SITE = "https://games.example"
FROM_A_MACHINE = "X-Forwarded-For: 198.51.100.7"


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A server with alice and bob, and no board."""
    shell = Shell(tmp_path_factory.mktemp("served"))
    shell.sign_up("alice", "bob", has_mail=True)
    with serving(shell) as served:
        yield served
    assert "Traceback" not in (shell.folder / "log").read_text()


def section(heading):
    """The shell blocks of a section."""
    text = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def by_curl(web, words):
    """What curl prints."""
    command = ["curl", "-s", "-H", FROM_A_MACHINE, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return done.stdout


def by_http_client(web, words):
    """What curl would print: the same bytes are sent."""
    left = iter(words)
    url = ""
    headers = dict([FROM_A_MACHINE.split(": ")])
    body = ""
    for word in left:
        if word == "-H":
            name, _, value = next(left).partition(": ")
            headers[name] = value
        elif word == "--data":
            body = next(left)
        else:
            url = word
    with closing(http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)) as connection:
        connection.request("POST", f"/{url.rpartition('/')[2]}", body.encode(), headers)
        return connection.getresponse().read().decode()


def test_the_session_by_curl_goes_as_it_is_written(web):
    """By curl itself if it is there."""
    post = by_curl if shutil.which("curl") else by_http_client
    token = ""
    answers = []
    for block in section("A session by curl"):
        for line in block.replace("\\\n", " ").splitlines():
            if line == "TOKEN=pbm_...":
                token = re.search(r"pbm_\w+", answers[-1])[0]
                continue
            typed = line.replace(SITE, f"http://127.0.0.1:{web.port}").replace("PASSWORD", "alice-secret")
            _, *words = shlex.split(typed.replace("$TOKEN", token))
            answers.append(post(web, words))
    made, begun, moved, shown = answers
    assert "laptop" in made
    assert begun.startswith("New: Symple board 101, alice (white) against bob (black)")
    assert "bob's turn (black)." in moved
    assert '"moves": 1' in shown


@pytest.fixture
def started(web, tmp_path):
    """Start a program of the page as a user."""

    def start(name, user, *args):
        token = web.shell.json("token", user, f"{user}-secret", name.removesuffix(".py"))["token"]
        (tmp_path / name).write_text(PROGRAMS[name])
        environment = web.shell.environment | {"PBM_SERVER": f"http://127.0.0.1:{web.port}", "PBM_TOKEN": token}
        return subprocess.Popen(
            [sys.executable, tmp_path / name, *args], env=environment, stdout=subprocess.PIPE, text=True
        )

    return start


def test_the_session_in_python_prints_what_the_page_says(started):
    with started("session.py", "alice") as process:
        printed = process.communicate(timeout=PATIENCE)[0]
    assert printed.splitlines() == ["bob", "True", "It is not your turn; bob is to move."]
    said = " ".join(PAGE.split())
    assert "It prints `bob`, `True` and `It is not your turn; bob is to move.`" in said


@pytest.mark.long
def test_two_robots_of_the_page_play_a_game_to_its_end(web, started):
    assert len(PROGRAMS["robot.py"].rstrip().splitlines()) <= 30
    board = web.shell.json("symple", "challenge", "-size=5", "alice", "bob")["board"]
    with started("robot.py", "alice", "alice") as alice, started("robot.py", "bob", "bob") as bob:
        try:
            lines = [process.stdout.readline() for process in (alice, bob)]
        finally:
            alice.kill()
            bob.kill()
    shown = until(lambda: (told := web.shell.json("symple", "show", board)) and told["over"] and told)
    assert shown["moves"] == 25
    assert lines == [f"won by {shown['winner']}\n"] * 2
