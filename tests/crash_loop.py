"""A server that is killed again and again, for as long as one likes: ``python tests/crash_loop.py --seconds=3600``.

In each round a new server, in every other one two on one database, plays with clients who keep book of what was
acknowledged, while servers, the processes that send mails and commands in the shell are killed at any instant, and a
relay hangs up behind the text of mails that it has taken. Then all has to be there once. It ends at the first fault,
and keeps the folder of that round.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from email import message_from_bytes
from pathlib import Path
from queue import Empty, SimpleQueue
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from typing import NamedTuple

from pbm.settings import open_server

from helpers.crash import CLIENTS, PBM, PLAYERS, SERVER, Client, address, check_done, password, pbm, serving
from helpers.patience import PATIENCE, children_of
from helpers.relays import Relay, running

KILLS = 6
"""How often the server is killed in a round."""
MOST_KILLED = 4
"""How many of the processes that send are killed before the server is."""


class Counts(NamedTuple):
    """What has been done so far."""

    rounds: int = 0
    commands: int = 0
    """Mails and shell commands that were acknowledged."""
    turns: int = 0
    """Turns of players among them."""
    planned: int = 0
    """Turns that the server played as planned."""
    kills: int = 0
    """How often the server was killed."""
    senders: int = 0
    """How often the process that sends was killed, and the server went on."""
    hangups: int = 0
    mails: int = 0
    """Different mails that arrived."""
    copies: int = 0
    """How many arrived once more."""

    def __str__(self) -> str:
        """The counts in a line."""
        return ", ".join(f"{count} {name}" for name, count in self._asdict().items())


class Fickle(Relay):
    """A relay that takes every mail, and hangs up without an answer behind some of them."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self.rng = rng
        self.is_fickle = True
        self.hangups = 0

    async def handle_DATA(self, server, session, envelope):
        answer = await super().handle_DATA(server, session, envelope)
        if self.is_fickle and self.rng.random() < 0.1:
            self.hangups += 1
            server.transport.abort()
        return answer

    def arrived(self) -> tuple[Counter[tuple[str, str]], int]:
        """How many different mails came, by what they answer or begin and by reader; and how many came once more."""
        messages = [message_from_bytes(mail.original_content) for mail in self.mails]
        different = {message["Message-ID"]: message for message in messages}
        found = Counter(
            (message["In-Reply-To"] or message["Message-ID"], message["To"].strip("<>").partition("@")[0])
            for message in different.values()
        )
        return found, len(messages) - len(different)


def kill_sender(server: subprocess.Popen[str]) -> bool:
    """Kill the process that sends for a server; whether there was one."""
    with suppress(OSError):
        for child in children_of(server.pid):
            if b"keep-sending" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(child, signal.SIGKILL)
                return True
    return False


def sign_up(names: list[str], rng: Random, signed: list[str]) -> None:
    """Sign up users in a shell, which is killed at any instant; those that it acknowledged are noted."""
    for name in names:
        process = subprocess.Popen([*PBM, "signup", name, password(name)], stdout=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0, 1))
        process.kill()
        if process.wait() == 0:
            signed.append(name)


def wait_for_some(acknowledged: SimpleQueue[None], rng: Random) -> None:
    """Wait until some more commands are acknowledged, and then until any instant."""
    with suppress(Empty):
        for _ in range(rng.randrange(20)):
            acknowledged.get(timeout=PATIENCE)
    time.sleep(rng.uniform(0, 0.3))


def play_until_killed(clients: list[Client], servers: int, pool: ThreadPoolExecutor, rng: Random) -> int:
    """Clients play with new servers until these are killed. Returns how many processes that send were killed before."""
    acknowledged = SimpleQueue[None]()
    senders = 0
    with ExitStack() as stack:
        processes, ports = zip(*[stack.enter_context(serving()) for _ in range(servers)], strict=True)
        working = [pool.submit(client.work, ports[client.number % servers], acknowledged, 1000) for client in clients]
        for _ in range(rng.randrange(MOST_KILLED + 1)):
            wait_for_some(acknowledged, rng)
            senders += kill_sender(rng.choice(processes))
        wait_for_some(acknowledged, rng)
    for work in working:
        work.result(PATIENCE)
    return senders


def finish(clients: list[Client], signed: list[str]) -> None:
    """Give again what was not acknowledged, deliver what is still queued, and check that all was done once."""
    with serving() as (_, port):
        for client in clients:
            client.work(port, SimpleQueue(), 1 if client.unanswered else 0)
    with open_server().store as store:
        while store.outbox.all():
            assert pbm("outbox", "retry", "--all").returncode == 0
            assert pbm("outbox", "flush").returncode == 0
        check_done(store, clients)
        assert all(map(store.users.is_taken, signed))
    assert pbm("doctor").stdout.startswith("All is well")


def play_round(folder: Path, rng: Random, servers: int) -> Counts:
    """One round in an empty folder. Raises AssertionError if anything was lost, half done or done twice."""
    os.environ |= {"PBM_DB": str(folder / "pbm.db"), "PBM_ADDRESS": SERVER}
    signed = list[str]()
    with running(Fickle(rng)) as relay:
        os.environ["PBM_TRANSPORT"] = f"smtp://127.0.0.1:{relay.port}"
        for name in PLAYERS:
            assert pbm("signup", name, password(name), address(name)).returncode == 0
        clients = [Client(number) for number in range(CLIENTS)]
        for client in clients:
            client.rng = Random(rng.random())
        names = [f"user{number}" for number in range(3 * KILLS)]
        shell = Thread(target=sign_up, args=(names, Random(rng.random()), signed))
        shell.start()
        with ThreadPoolExecutor(CLIENTS) as pool:
            senders = sum(play_until_killed(clients, servers, pool, rng) for _ in range(KILLS))
        shell.join()
        relay.is_fickle = False
        finish(clients, signed)
        arrived, copies = relay.arrived()
    kills = KILLS * servers + 1  # the last server is killed, too, when all is done
    assert arrived == sum((client.mails for client in clients), Counter())
    assert copies <= kills + senders + relay.hangups
    assert "Traceback" not in (folder / "log").read_text()
    return Counts(
        rounds=1,
        commands=sum(len(client.done) for client in clients) + len(signed),
        turns=sum(len(turns) for client in clients for turns in client.turns.values()),
        planned=sum(client.planned_turns for client in clients),
        kills=kills,
        senders=senders,
        hangups=relay.hangups,
        mails=arrived.total(),
        copies=copies,
    )


def run(seconds: float, seed: int) -> Counts:
    """Rounds until so many seconds have passed, at least one. Raises AssertionError at the first fault."""
    end, counts = time.monotonic() + seconds, Counts()
    while not counts.rounds or time.monotonic() < end:
        folder = Path(mkdtemp(prefix="pbm-crash-"))
        try:
            done = play_round(folder, Random(f"{seed} {counts.rounds}"), 1 if counts.rounds % 2 else 2)
        except BaseException:
            sys.stderr.write(f"Round {counts.rounds} of seed {seed}: see {folder}.\n")
            raise
        rmtree(folder)
        counts = Counts(*map(sum, zip(counts, done, strict=True)))
        sys.stdout.write(f"{counts}\n")
        sys.stdout.flush()
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    run(arguments.seconds, arguments.seed)
