"""A tournament of robots of other authors, each a process on another machine, while much goes wrong."""

import json
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from pbm.client import Client, NoAnswer

from helpers.database import sql
from helpers.patience import PATIENCE
from helpers.proxies import cutting
from helpers.shell import Shell
from helpers.web import serving

AUTHORS = tuple(f"robot-of-{letter}" for letter in "abcdefghijkl")
PROGRAM = """\
import json, random, sys, time

log, sleeps = sys.argv[1], sys.argv[2] == "sleeper"
rng = random.Random(log)
for line in sys.stdin:
    if line.startswith("{"):
        position = json.loads(line)
        points = [column + str(row) for row in range(1, 6) for column in "abcde"]
        free = [point for point in points if point not in position["cells"]]
        rng.shuffle(free)
        if sleeps:
            time.sleep(rng.random() / 2)
    elif not line.startswith("?"):  # the rules forbid some points
        break
    move = "resign" if position["moves"] > 5 else free.pop()
    with open(log, "a") as file:
        file.write(json.dumps([position["history"], move]) + "\\n")
    print(move, flush=True)
"""
"""Notes each position that it is asked about, and each of its answers."""


class Author:
    """Somebody who lets a robot play on each of their boards, in a process of its own that is started again."""

    def __init__(self, shell, kind, name):
        self.shell = shell
        self.kind = kind
        self.name = name
        environment = shell.environment
        self.client = Client(environment["PBM_SERVER"], environment["PBM_TOKEN"])
        self.rng = random.Random(name)
        self.programs = 0

    def has_boards(self):
        """Their boards that go on; None if the server has not answered."""
        try:
            answer = self.client.ask(f"symple games {self.name}", as_json=True)
        except NoAnswer:
            return None
        return [board["board"] for board in answer.data.get("boards", [])] if answer.is_done else None

    def start(self, board):
        """Let a program play on a board."""
        self.programs += 1
        log = self.shell.folder / f"{board}-{self.programs}.log"
        program = f"{sys.executable} {self.shell.folder / 'program.py'} {log} {self.kind}"
        command = [sys.executable, "-m", "pbm", "play", "symple", board, self.name, "--with", program]
        return subprocess.Popen(
            command, env=self.shell.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def play_until(self, end):
        """Play on all boards until the event *end*."""
        (self.shell.folder / "program.py").write_text(PROGRAM)
        running = {}
        try:
            while not end.is_set():
                for board in self.has_boards() or ():
                    copies = running.setdefault(board, [])
                    copies[:] = [process for process in copies if process.poll() is None]
                    while len(copies) < (2 if self.kind == "double" else 1):
                        copies.append(self.start(board))
                    if self.kind == "mortal" and self.rng.random() < 0.2:
                        copies[0].kill()
                        copies[0].wait()
                end.wait(1.5)
        finally:
            for process in [process for copies in running.values() for process in copies]:
                process.kill()
                process.wait()

    def answers(self):
        """The history and the answer of each question to the programs, by board."""
        for log in self.shell.folder.glob("*.log"):
            for line in log.read_text().splitlines():
                history, move = json.loads(line)
                yield log.name.partition("-")[0], history, move


def share(rng):
    """How much a connection passes on: a quarter of them are cut, half of these before the command has come through."""
    chance = rng.random()
    if chance < 0.12:
        return rng.random() * 0.5
    if chance < 0.25:
        return 1 + rng.random() * 0.8
    return 2


def turns_of(shell):
    """The turns of each board."""
    turns = {}
    query = "SELECT board, text FROM turns ORDER BY board, number"
    for board, text in sql(shell.folder / "pbm.db", query):
        turns.setdefault(board, []).append(text.lower())
    return turns


@contextmanager
def playing(shell, folder, port):
    """Let an author play for each entrant, behind a proxy that cuts connections."""
    kinds = ["mortal", "sleeper", "double", "plain", "plain", "mortal"] * 2
    end = threading.Event()
    authors = []
    with cutting(port, share) as proxy:
        for name, kind in zip(AUTHORS, kinds, strict=True):
            token = shell.json("token", name, f"{name}-secret", "robot")["token"]
            there = Shell(folder / name)
            there.folder.mkdir()
            there.environment |= {"PBM_SERVER": proxy.url, "PBM_TOKEN": token, "PBM_DB": "/dev/null/none"}
            authors.append(Author(there, kind, name))
        threads = [threading.Thread(target=author.play_until, args=[end]) for author in authors]
        for thread in threads:
            thread.start()
        try:
            yield authors
        finally:
            end.set()
            for thread in threads:
                thread.join()


@pytest.mark.long
def test_a_tournament_of_12_robots_elsewhere_ends_and_no_move_is_made_twice_or_lost(tmp_path):
    """Some are killed, some sleep, some play twice at once, and all lose connections."""
    shell = Shell(tmp_path / "served")
    shell.folder.mkdir()
    for name in AUTHORS:
        shell.run("signup", name, f"{name}-secret", f"{name}@players.example")
    shell.done("tournament", "symple", "cup", *AUTHORS, "--type=swiss", "--rounds=1", "-size=5")
    with serving(shell) as web, playing(shell, tmp_path, web.port) as authors:
        limit = time.monotonic() + 3 * PATIENCE
        while shell.json("tournament", "symple", "cup", "status")["state"] != "finished":
            assert time.monotonic() < limit
            time.sleep(1)
    assert sql(shell.folder / "pbm.db", "SELECT count(*) FROM boards WHERE pool = 'cup' AND ended > ''") == [(6,)]
    turns = turns_of(shell)
    answers = [answer for author in authors for answer in author.answers()]
    for board, history, _ in answers:
        assert turns[board][: len(history)] == history  # what was played stays played
    answered = {(board, len(history), move) for board, history, move in answers}
    played = {(board, number, move) for board, moves in turns.items() for number, move in enumerate(moves)}
    assert played <= answered  # and nothing else was
    assert "Traceback" not in (shell.folder / "log").read_text()
