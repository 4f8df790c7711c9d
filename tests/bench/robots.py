"""How much robots at work slow a person's move down: ``python tests/bench/robots.py [--pairs=200]``.

A process plays on 200 boards, and is stopped and let go on again before every other block of moves that a person makes
on boards of his own, so that both meet the same other load on the machine. The figures are medians, and the times are
those from the beginning of a command to the end of its transaction, password and all.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from pbm.board.board import Board
from pbm.language.commands import root
from pbm.language.line import Line
from pbm.passwords import Passwords
from pbm.runner import run
from pbm.server import Server
from pbm.session import Session
from pbm.store import Store
from pbm.store.boards import Among

BLOCK = 10
"""How many moves are made in a row."""
PASSWORDS = {"ann": "ann-likes-games", "ben": "ben-likes-games"}


def say(server: Server, line: str) -> None:
    """Carry out a command as a shell does."""
    run(Line.read(root, line), lambda: Session(server))


def move(server: Server, rng: Random) -> float:
    """The seconds that a move takes on a board of the two, who begin another one when that is over."""
    board = next((row for row in server.store.boards.found(Among(["symple"], ["ann"], over=False))), None)
    if board is None:
        say(server, "symple challenge -size=9 ann ben")
        return move(server, rng)
    found = Board.load(server.store, "symple", board.board)
    text = found.state.random(rng) if found else ""
    line = f"symple move {board.board} {board.turn} {PASSWORDS[str(board.turn)]} {text}"
    begin = time.perf_counter()
    say(server, line)
    return time.perf_counter() - begin


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    pairs = parser.parse_args().pairs
    rng = Random(1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pbm.db"
        server = Server(Store(path), "pbm@pbm.example", Passwords())
        for name, password in PASSWORDS.items():
            say(server, f"signup {name} {password}")
        for number in range(200):
            say(server, f"symple challenge -size=9 robot{number % 2 + 1} robot{(number + 1) % 2 + 1}")
        times: dict[str, list[float]] = {"resting": [], "playing": []}
        command = [sys.executable, "-m", "pbm", "robots", "run"]
        with subprocess.Popen(command, env=os.environ | {"PBM_DB": str(path)}) as process:
            time.sleep(2)
            for _ in range(pairs // BLOCK):
                for what, sent in (("resting", signal.SIGSTOP), ("playing", signal.SIGCONT)):
                    with server.store.writing():  # so that no process is stopped that has the lock
                        process.send_signal(sent)
                    times[what] += [move(server, rng) for _ in range(BLOCK)]
            process.kill()
        played = server.store.db.execute("SELECT count(*) FROM turns WHERE userid LIKE 'robot%'").fetchone()[0]
    for what, found in times.items():
        sys.stdout.write(f"robots {what}: {1000 * median(found):.1f} ms a move of a person, {len(found)} moves\n")
    ratio = median(times["playing"]) / median(times["resting"])
    sys.stdout.write(f"ratio {ratio:.2f}; the robots played {played} moves meanwhile\n")


if __name__ == "__main__":
    main()
