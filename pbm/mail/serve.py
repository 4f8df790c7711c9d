"""The mail server: takes commands by SMTP or LMTP; processes of its own send what is in the outbox, and play."""

import asyncio
import errno
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pbm.mail import incoming, notify
from pbm.mail.door import Answer, Delivery, Door, Handler, House, LocalDoor, failed
from pbm.mail.incoming import Outcome
from pbm.mail.journal import Entry
from pbm.mail.outbox import SENDER
from pbm.names import is_host
from pbm.server import Server
from pbm.store import Replaced, Unusable

MOST_TOGETHER = 10
"""How many mails are handled in one transaction; others who want to write wait for it."""
RESTART_PAUSE = 1.0
"""Seconds before a process that ended is started again."""
HELPER_PATIENCE = 3
"""Seconds for which such a process has time to end; a mail server that says nothing must not hold up ours."""
LOOK_AROUND = 2.0
"""Seconds from one look whether all is well to the next."""
MOST_IN_HAND = 300
"""Seconds after which mails that are still in hand mean that something hangs."""


HOOKS = (sys.executable, "-P", "-m", "pbm", "hook", "keep-running")
"""A process that runs programs for events."""
PLAYER = (sys.executable, "-P", "-m", "pbm", "robots", "keep-playing")
"""A process that plays for robots; the mails that it causes are sent by the other one."""


SITE = (sys.executable, "-P", "-m", "pbm", "site", "--follow")
"""A process that writes a site, followed by the words of that command."""


class Place(NamedTuple):
    """Where the server listens: at a port, or at a socket in the file system."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        """The place as it is written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix:{self.path}" if self.path else f"{host}:{self.port}"


def place(text: str) -> Place | None:
    """The place that a text names: ``HOST:PORT``, ``[IPV6]:PORT`` or ``unix:PATH``; None if it names none."""
    if text.startswith("unix:/"):
        return Place(path=text.removeprefix("unix:"))
    host, colon, port = text.rpartition(":")
    if not (colon and is_host(host) and port.isascii() and port.isdecimal() and int(port) < 65536):
        return None
    return Place(host.strip("[]"), int(port))


def tls(certificate: str, key: str) -> ssl.SSLContext:
    """What STARTTLS needs. Raises OSError if the files are no certificate and its key."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


class Received(NamedTuple):
    """A mail that has come in, and who waits for the answer."""

    delivery: Delivery
    answer: asyncio.Future[Answer]


class Clerk:
    """Does what needs the database, in a thread of its own, so that nobody at the door waits for others' mails.

    Mails that came in meanwhile are handled together, each in a savepoint: a commit takes as long for ten as for one.
    """

    def __init__(self, server: Server) -> None:
        """Work for *server*."""
        self.server = server
        self.thread = ThreadPoolExecutor(max_workers=1)  # a database connection serves one thread at a time
        self.waiting: list[Received] = []
        self.work: asyncio.Task[None] | None = None
        self.began: float | None = None
        """Since when it has had the mails in hand, by the clock of the event loop."""
        self.ended = asyncio.Event()
        """Set when there is to be no more work."""
        self.problem: Replaced | None = None
        """Why there can be no more."""

    async def is_known(self, recipient: str) -> bool:
        """Whether there is such an address of ours."""
        if recipient.lower() == self.server.address.lower():
            return True
        try:
            return await asyncio.get_running_loop().run_in_executor(self.thread, self._is_known, recipient)
        except Replaced as problem:
            self.give_up(problem)
            raise

    def _is_known(self, recipient: str) -> bool:
        with self.server.store.transaction(reading=True):
            return incoming.is_known(self.server, recipient)

    async def handle(self, delivery: Delivery) -> Answer:
        """Say 250 when all that the mail causes is on the disk, and 451 if it could not be stored: come again."""
        loop = asyncio.get_running_loop()
        waiting = Received(delivery, loop.create_future())
        self.waiting.append(waiting)
        if self.work is None:
            self.work = loop.create_task(self._work())
        return await waiting.answer

    async def _work(self) -> None:
        """Handle all that is waiting, and all that comes meanwhile."""
        loop = asyncio.get_running_loop()
        while self.waiting:
            batch, self.waiting = self.waiting[:MOST_TOGETHER], self.waiting[MOST_TOGETHER:]
            self.began = loop.time()
            try:
                answers = await loop.run_in_executor(self.thread, self._handle, [each.delivery for each in batch])
            except Replaced as problem:
                answers = [_unstored(problem)] * len(batch)
                self.give_up(problem)
            self.began = None
            for each, answer in zip(batch, answers, strict=True):
                if not each.answer.done():  # who has hung up waits no longer
                    each.answer.set_result(answer)
        self.work = None

    def _handle(self, deliveries: Sequence[Delivery]) -> list[Answer]:
        """Handle mails in one transaction, and answer when it is on the disk.

        What they need of slow work is done before, while others may write.
        """
        try:
            heard = [self._heard(delivery) for delivery in deliveries]
            with self.server.store.transaction():
                begin = time.perf_counter()
                answers = [self._answer(*each) for each in zip(deliveries, heard, strict=True)]
        except Replaced:
            raise
        except Unusable as error:
            return [_unstored(error)] * len(deliveries)
        except Exception as error:  # those who wait for an answer must get one
            return [failed(error)] * len(deliveries)
        locked = time.perf_counter() - begin
        return [answer._replace(locked=locked) for answer in answers]

    def _heard(self, delivery: Delivery) -> incoming.Heard | None:
        """Read a mail and rehearse its command; None if something goes wrong with it alone, which is told later."""
        try:
            return incoming.hear(self.server, *delivery)
        except Unusable:
            raise
        except Exception:
            return None

    def _answer(self, delivery: Delivery, heard: incoming.Heard | None) -> Answer:
        """Handle a mail. What goes wrong with it alone undoes nothing of the others."""
        try:
            return Answer("250 2.0.0 Done", incoming.handle(self.server, *delivery, heard))
        except Unusable:
            raise
        except Exception as error:
            return failed(error)

    def give_up(self, problem: Replaced) -> None:
        """End, because nothing that is written would be seen."""
        self.problem = problem
        self.ended.set()

    def close(self) -> None:
        """Finish the work in hand, and close the database."""
        self.thread.shutdown()
        self.server.store.close()


def _unstored(error: Unusable) -> Answer:
    return Answer("451 4.3.0 This could not be stored; please try again later", Outcome("failed", reason=str(error)))


class Helper:
    """Watches over a process of ours, which is told through a pipe that there may be something to do."""

    def __init__(self, command: Sequence[str], does: str) -> None:
        """Begin without a process; the *command* starts one that *does* something."""
        self.command = command
        self.does = does
        self.process: asyncio.subprocess.Process | None = None
        self.is_ending = False

    async def run(self) -> None:
        """Start the process, and start it again if it ends before it is told to."""
        while not self.is_ending:
            self.process = await asyncio.create_subprocess_exec(
                *self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
            )
            if self.is_ending:  # it was told so before there was a process
                self.end()
            status = await self.process.wait()
            if not self.is_ending:
                sys.stderr.write(f"The process that {self.does} ended with status {status}; it is started again.\n")
                await asyncio.sleep(RESTART_PAUSE)

    def wake(self) -> None:
        """Say that there may be something to do."""
        if self.process and self.process.stdin and self.process.returncode is None:
            self.process.stdin.write(b"\n")

    def end(self) -> None:
        """Let the process end as soon as it has done what it has in hand."""
        self.is_ending = True
        if self.process and self.process.stdin:
            self.process.stdin.close()

    def kill(self) -> None:
        """End the process at once."""
        if self.process and self.process.returncode is None:
            self.process.kill()


async def serve(
    server: Server,
    where: Place,
    *,
    lmtp: bool,
    tls: ssl.SSLContext | None = None,
    note: Callable[[Entry], None] | None = None,
    robots: int = 0,
    site: Sequence[str] = (),
) -> None:
    """Serve until the process is told to end; *note* is told what came of each mail, and otherwise logs it.

    So many processes play for *robots*; one writes a *site*, if the words of that command are given.

    Raises Replaced if the database has become another file, and OSError if nobody can listen there.
    """
    loop = asyncio.get_running_loop()
    house, clerk = House(note), Clerk(server)
    helpers = [Helper(SENDER, "sends mail"), Helper(HOOKS, "runs hooks")]
    helpers += [Helper(PLAYER, "plays for robots") for _ in range(robots)]
    helpers += [Helper((*SITE, *site), "writes the site")] if site else []
    for sent in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sent, clerk.ended.set)

    async def handle(delivery: Delivery) -> Answer:
        answer = await clerk.handle(delivery)
        for helper in helpers:
            helper.wake()
        return answer

    connection = partial(LocalDoor if lmtp else Door, house, Handler(clerk.is_known, handle), server.host, tls)
    if where.path:
        listener: asyncio.Server = await loop.create_unix_server(connection, sock=_listening(where.path))
    else:
        listener = await loop.create_server(connection, where.host, where.port)
        where = where._replace(port=listener.sockets[0].getsockname()[1])
    helping = [loop.create_task(helper.run()) for helper in helpers]
    watching = loop.create_task(_watch(clerk, house))
    sys.stdout.write(f"listening on {where}\n")
    sys.stdout.flush()
    notify.tell("READY=1", f"STATUS=Listening on {where}.")
    await clerk.ended.wait()
    notify.tell("STOPPING=1")
    watching.cancel()
    _close(listener, where)
    await house.close()
    for helper in helpers:
        helper.end()
    for player in helpers[2:]:
        player.kill()  # what it was thinking about is thought about again
    await asyncio.wait(helping, timeout=HELPER_PATIENCE)
    for helper in helpers:
        helper.kill()
    await asyncio.wait(helping)
    if house.handling:
        sys.stderr.write("Mails in hand were given up; they were not acknowledged, and will come again.\n")
        sys.stderr.flush()
        os._exit(1 if clerk.problem else 0)  # Python itself would wait for the thread that has them in hand
    clerk.close()
    if clerk.problem:
        raise clerk.problem


async def _watch(clerk: Clerk, house: House) -> None:
    """Look again and again whether all is well, and tell the service manager."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            clerk.server.store.check_in_place()
        except Replaced as problem:
            clerk.give_up(problem)
        if clerk.began is None or loop.time() - clerk.began < MOST_IN_HAND:
            notify.tell("WATCHDOG=1", f"STATUS={len(house.inside)} connections, {len(house.handling)} mails in hand.")
        await asyncio.sleep(LOOK_AROUND)


def _close(listener: asyncio.Server, where: Place) -> None:
    """Let nobody in any more, and leave no socket lying in the file system."""
    listener.close()
    if where.path:
        Path(where.path).unlink(missing_ok=True)


def _listening(path: str) -> socket.socket:
    """A socket in the file system, for its owner and group, in the place of one that a killed server has left."""
    made = socket.socket(socket.AF_UNIX)
    with socket.socket(socket.AF_UNIX) as probe:
        if probe.connect_ex(path) == 0:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    if Path(path).is_socket():
        Path(path).unlink()
    before = os.umask(0o117)
    try:
        made.bind(path)
    finally:
        os.umask(before)
    return made
