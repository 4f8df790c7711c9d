"""What open streams of events cost: ``python tests/bench/streams.py [--quick]``.

1,000 streams of 200 users with five boards each, in a server of its own: memory, computing while nothing happens and
while mails bring moves, the time until a move is an event, and how long the server takes to stop. No figure makes it
fail.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from smtplib import SMTP
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pbm.access import tokens
from pbm.store import BoardRow, Store
from pbm.store.trust import Token

import bench
from bench import PBM, PLAYERS, Typed, cpu_seconds, say

USERS = 200
STREAMS_OF_USER = 5
SERVE = PBM, "serve", "--listen=127.0.0.1:0", "--web=127.0.0.1:0", "--robots=0"


class Figures(NamedTuple):
    """What is measured."""

    secrets: Sequence[str]
    """The tokens of all users."""
    script: Sequence[Typed]
    """The moves that are mailed, each on another board."""
    seconds: float
    """For how long it is measured what the server computes while nothing happens."""


class Listening:
    """Streams, and when each event of a board came."""

    def __init__(self, port: int) -> None:
        """Listen to the server at a port."""
        self.port = port
        self.came: dict[tuple[str, int], float] = {}
        """When the first stream heard that a board had so many moves."""
        self.events = 0
        self.reading: list[asyncio.Task[None]] = []
        self.writers: list[asyncio.StreamWriter] = []

    async def open_streams(self, secrets: Sequence[str]) -> None:
        """Open a stream for each of these tokens."""
        for secret in secrets:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            request = f"GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n\r\n"
            writer.write(request.encode())
            status = await reader.readline()
            if b" 200 " not in status:
                sys.exit(f"A stream was refused: {status.decode()}")
            self.writers.append(writer)
            self.reading.append(asyncio.create_task(self._read(reader)))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        async for line in reader:
            if line.startswith(b"data: "):
                data = json.loads(line.removeprefix(b"data: "))
                self.events += 1
                self.came.setdefault((data["board"], data["moves"]), time.perf_counter())


def prepare(folder: Path) -> tuple[list[str], list[Typed]]:
    """Make the database. Returns the tokens of all streams, and moves on boards of others than their users."""
    scripts = bench.database(folder, boards=100, moves=2)
    now = datetime.now(UTC)
    with Store(folder / "pbm.db") as store, store.writing():
        names = [f"watcher{number}" for number in range(USERS - len(PLAYERS))]
        for name in names:
            store.users.add(name, "", now)
        for number, name in enumerate(names):
            for step in range(1, 6):
                opponent = names[(number + step) % len(names)]
                board = str(1000 + 5 * number + step)
                store.boards.add(BoardRow("symple", board, "-size=9", name, opponent, b"x", now, turn=name))
        secrets = []
        for number, name in enumerate([*names, *PLAYERS]):
            secrets.append(f"pbm_{number:064x}")
            store.trust.add_token(tokens.digest(secrets[-1]), Token(name, "bench", "read", now, now))
    return secrets, [script[0] for script in scripts]


def memory(pid: int) -> int:
    """How many bytes a process holds."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return 1024 * int(line.split()[1])


async def load(pid: int, seconds: float) -> float:
    """How much of a core a process takes, in percent."""
    before = cpu_seconds(pid)
    await asyncio.sleep(seconds)
    return 100 * (cpu_seconds(pid) - before) / seconds


async def measure(process: "subprocess.Popen[str]", ports: Sequence[int], figures: Figures) -> None:
    """Measure and print all of it, with a server that listens at two ports: for browsers, and for mail."""
    web, mail = ports
    listening = Listening(web)
    *others, first = figures.secrets
    await listening.open_streams([first])  # what is used for the first time is no matter of streams
    await asyncio.sleep(1)
    before = memory(process.pid)
    begin = time.perf_counter()
    await listening.open_streams([secret for secret in others for _ in range(STREAMS_OF_USER)])
    count = len(listening.writers)
    say("open a stream", f"{1000 * (time.perf_counter() - begin) / count:.1f} ms")
    await asyncio.sleep(1)
    taken = memory(process.pid) - before
    say(f"memory of {count} streams", f"{taken / count / 1000:.1f} kB each", taken / 1e6, "<= 40 MB")
    percent = await load(process.pid, figures.seconds)
    say("computing while nothing happens", f"in {figures.seconds:.0f} s", percent, "<= 3 %")

    mailed = await asyncio.to_thread(mail_moves, mail, figures.script)
    await asyncio.sleep(1)
    waits = [1000 * (listening.came[typed.board, 1] - begun) for typed, begun in mailed]
    slowest = sorted(waits)[round(len(waits) * 0.99) - 1]
    say("from a mail to its event", f"p99 {slowest:.0f} ms", median(waits), "<= 120 ms")
    begin = time.perf_counter()
    process.terminate()
    await asyncio.wait(listening.reading)
    say("until all streams have ended", "the server is told to end", time.perf_counter() - begin, "<= 1 s")


def mail_moves(port: int, script: Sequence[Typed]) -> list[tuple[Typed, float]]:
    """Mail moves, one after the other. Returns them, each with the time at which it began to be sent."""
    begun = []
    with SMTP("127.0.0.1", port) as smtp:
        for typed in script:
            begun.append((typed, time.perf_counter()))
            smtp.sendmail(f"{typed.userid}@players.example", [bench.SERVER], typed.mail)
            time.sleep(0.05)
    return begun


def main() -> None:
    """Measure in a database of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure for a shorter time")
    quick = parser.parse_args().quick
    with TemporaryDirectory() as name:
        folder = Path(name) / "streams"
        secrets, script = prepare(folder)
        figures = Figures(secrets, script, seconds=60)
        if quick:
            figures = Figures(secrets, script[:20], seconds=10)
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(SERVE, text=True, env=bench.environment(folder), **quiet) as process:
            lines = [process.stdout.readline() for _ in range(2)] if process.stdout else []
            asyncio.run(measure(process, [int(line.rpartition(":")[2]) for line in lines], figures))


if __name__ == "__main__":
    main()
