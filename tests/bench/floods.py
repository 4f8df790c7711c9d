"""What servers do with more mails than they can handle: ``python tests/bench/floods.py [--quick]``.

Ten connections mail moves as fast as they are taken, to a server whose users get pictures and to one whose users get
none; also while nothing is sent, so that more mails wait than are sent with pictures. What is compared runs in turn;
the figures are medians. The mails come from the same machine, and are made before.
"""

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench import PBM, PLAYERS, Typed, cpu_seconds, database, mails_a_second, say, serving

from pbm.mail.outbox import MOST_WITH_PICTURES
from pbm.store import Store

CONNECTIONS = 10
BOARDS = 40


class Flood(NamedTuple):
    """What came of so many mails."""

    taken: float
    """Mails a second that were acknowledged."""
    receiving: float
    """Milliseconds that were computed to take one."""
    sending: float
    """Milliseconds that were computed to send one of those that they cause, two each."""
    lasted: float
    """Seconds until these were sent."""


class Flooded(NamedTuple):
    """A server that gets so many mails."""

    pid: int
    port: int
    turns: Iterator[tuple[Typed, ...]]
    """A move on each board at a time."""
    db: sqlite3.Connection

    def flood(self, rounds: int, *, waits: bool) -> Flood:
        """Mail so many moves on each board, and wait until the mails that they cause are sent.

        If the sender *waits* until all have come, those are left that are few enough to be sent with pictures.
        """
        batch = list(islice(self.turns, rounds))
        shares = [[typed for turn in batch for typed in turn[at::CONNECTIONS]] for at in range(CONNECTIONS)]
        count, left = sum(map(len, shares)), MOST_WITH_PICTURES if waits else 0
        [sender] = self.processes(b"keep-sending")
        if waits:
            os.kill(sender, signal.SIGSTOP)
        before, sent_before, start = cpu_seconds(self.pid), cpu_seconds(sender), time.perf_counter()
        taken = mails_a_second(self.port, shares)
        receiving = cpu_seconds(self.pid) - before
        os.kill(sender, signal.SIGCONT)
        self.wait_until_left(left)
        lasted, sending = time.perf_counter() - start, cpu_seconds(sender) - sent_before
        self.wait_until_left(0)
        return Flood(taken, 1000 * receiving / count, 1000 * sending / (2 * count - left), lasted)

    def wait_until_left(self, left: int) -> None:
        """Wait until no more mails than so many are to be sent."""
        while self.db.execute("SELECT count(*) FROM outbox").fetchone()[0] > left:
            time.sleep(0.01)

    def processes(self, does: bytes) -> list[int]:
        """The processes of the server that do something."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(child) for child in children if does in Path(f"/proc/{child}/cmdline").read_bytes()]


@contextmanager
def flooded(folder: Path, moves: int, form: str) -> Iterator[Flooded]:
    """A server for players whose mails have a form."""
    turns = zip(*database(folder, BOARDS, moves), strict=True)
    with Store(folder / "pbm.db") as store:
        for name in PLAYERS:
            store.users.set_form(name, form)
    command = [PBM, "serve", "--listen=127.0.0.1:0", "--robots=0"]
    with serving(command, folder) as (pid, port), sqlite3.connect(folder / "pbm.db") as db:
        yield Flooded(pid, port, turns, db)
        (stored,) = db.execute("SELECT count(*) FROM turns WHERE NOT automatic").fetchone()
    if stored != BOARDS * moves:
        sys.exit(f"Of {BOARDS * moves} legal moves that were mailed, {stored} were played.")


def compared(folder: Path, times: int, rounds: int, *forms: str, waits: bool = False) -> list[Flood]:
    """The medians for servers, each with a form of mails, that are flooded in turn after a first flood."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(flooded(folder / str(number), (times + 1) * rounds, form))
            for number, form in enumerate(forms)
        ]
        floods = [[server.flood(rounds, waits=waits) for server in servers] for _ in range(times + 1)][1:]
    return [Flood(*map(median, zip(*column, strict=True))) for column in zip(*floods, strict=True)]


def tell(what: str, one: Flood, other: Flood) -> None:
    """Print the figures of two floods, the first beside the second."""
    for name, unit in (
        ("taken", "mails a second"),
        ("receiving", "ms a mail"),
        ("sending", "ms a mail sent"),
        ("lasted", "s until it is sent"),
    ):
        first, second = getattr(one, name), getattr(other, name)
        say(f"{what}: {name}", f"{first:.1f} / {second:.1f} {unit}", first / second)


def main() -> None:
    """Measure everything; ``--quick`` measures less of it."""
    times, rounds = (2, 3) if "--quick" in sys.argv[1:] else (5, 8)
    with TemporaryDirectory() as name:
        folder = Path(name)
        both = "pictures", "html"
        tell("pictures / html", *compared(folder / "pictures", times, rounds, *both))
        tell("pictures / html, many wait", *compared(folder / "waiting", times, rounds, *both, waits=True))


if __name__ == "__main__":
    main()
