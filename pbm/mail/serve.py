"""The mail server: takes commands by SMTP or LMTP, and has what is in the outbox sent by a process of its own."""

import asyncio
import errno
import os
import signal
import socket
import ssl
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pbm.mail import incoming
from pbm.mail.door import FAULT, Answer, Delivery, Door, Handler, House, LocalDoor
from pbm.mail.outbox import SENDER
from pbm.server import Server
from pbm.store import Unusable

MOST_TOGETHER = 10
"""How many mails are handled in one transaction; others who want to write wait for it."""
PAUSE = 1.0
"""Seconds before a sender that ended is started again."""


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
    if not (colon and port.isascii() and port.isdecimal() and int(port) < 65536):
        return None
    return Place(host.strip("[]"), int(port))


def tls(certificate: str, key: str) -> ssl.SSLContext:
    """What STARTTLS needs. Raises OSError if the files are no certificate and its key."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


class Waiting(NamedTuple):
    """A mail that has come in, and who waits for the reply and the outcome for the log."""

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
        self.waiting: list[Waiting] = []
        self.work: asyncio.Task[None] | None = None

    async def is_known(self, recipient: str) -> bool:
        """Whether there is such an address of ours."""
        if recipient.lower() == self.server.address.lower():
            return True
        return await asyncio.get_running_loop().run_in_executor(self.thread, incoming.is_known, self.server, recipient)

    async def handle(self, delivery: Delivery) -> Answer:
        """Say 250 when all that the mail causes is on the disk, and 451 if it could not be stored: come again."""
        loop = asyncio.get_running_loop()
        waiting = Waiting(delivery, loop.create_future())
        self.waiting.append(waiting)
        if self.work is None:
            self.work = loop.create_task(self._work())
        return await waiting.answer

    async def _work(self) -> None:
        """Handle all that is waiting, and all that comes meanwhile."""
        loop = asyncio.get_running_loop()
        while self.waiting:
            batch, self.waiting = self.waiting[:MOST_TOGETHER], self.waiting[MOST_TOGETHER:]
            answers = await loop.run_in_executor(self.thread, self._handle, [each.delivery for each in batch])
            for each, answer in zip(batch, answers, strict=True):
                if not each.answer.done():  # who has hung up waits no longer
                    each.answer.set_result(answer)
        self.work = None

    def _handle(self, deliveries: Sequence[Delivery]) -> list[Answer]:
        """Handle mails in one transaction, and answer when it is on the disk."""
        try:
            with self.server.store.transaction():
                return [self._answer(delivery) for delivery in deliveries]
        except Unusable as error:
            return [("451 4.3.0 This could not be stored; please try again later", str(error))] * len(deliveries)
        except Exception as error:  # those who wait for an answer must get one
            return [(FAULT, f"could not be handled: {type(error).__name__}: {error}")] * len(deliveries)

    def _answer(self, delivery: Delivery) -> Answer:
        """Handle a mail. What goes wrong with it alone undoes nothing of the others."""
        try:
            return "250 2.0.0 Done", incoming.handle(self.server, *delivery)
        except Unusable:
            raise
        except Exception as error:
            return FAULT, f"could not be handled: {type(error).__name__}: {error}"

    def close(self) -> None:
        """Finish the work in hand, and close the database."""
        self.thread.shutdown()
        self.server.store.close()


class Sender:
    """Watches over the process that sends."""

    def __init__(self) -> None:
        """Begin without one."""
        self.process: asyncio.subprocess.Process | None = None
        self.is_ending = False

    async def run(self) -> None:
        """Start the process, and start it again if it ends before it is told to."""
        while not self.is_ending:
            self.process = await asyncio.create_subprocess_exec(
                *SENDER, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
            )
            if self.is_ending:  # it was told so before there was a process
                self.end()
            status = await self.process.wait()
            if not self.is_ending:
                sys.stderr.write(f"The process that sends mail ended with status {status}; it is started again.\n")
                await asyncio.sleep(PAUSE)

    def wake(self) -> None:
        """Say that there may be mails to send."""
        if self.process and self.process.stdin and self.process.returncode is None:
            self.process.stdin.write(b"\n")

    def end(self) -> None:
        """Let the process end as soon as it has sent the mail in hand."""
        self.is_ending = True
        if self.process and self.process.stdin:
            self.process.stdin.close()


async def serve(server: Server, where: Place, *, lmtp: bool, tls: ssl.SSLContext | None = None) -> None:
    """Serve until the process is told to end."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for sent in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sent, ended.set)
    house, clerk, sender = House(), Clerk(server), Sender()

    async def handle(delivery: Delivery) -> Answer:
        answer = await clerk.handle(delivery)
        sender.wake()
        return answer

    connection = partial(LocalDoor if lmtp else Door, house, Handler(clerk.is_known, handle), server.host, tls)
    if where.path:
        listener: asyncio.Server = await loop.create_unix_server(connection, sock=_listening(where.path))
    else:
        listener = await loop.create_server(connection, where.host, where.port)
        where = where._replace(port=listener.sockets[0].getsockname()[1])
    sending = loop.create_task(sender.run())
    sys.stdout.write(f"listening on {where}\n")
    sys.stdout.flush()
    await ended.wait()
    listener.close()
    await house.close()
    sender.end()
    await sending
    clerk.close()


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
