"""Several processes that receive mail at one place.

One process takes all connections, and hands each to the worker that has the fewest. So the limits on connections hold
for all together, those that are kept are shared out evenly, and it works alike for ports and for sockets in the file
system. A socket on which all workers listen would give many connections to whoever wakes first; sockets of their own
(SO_REUSEPORT) would lose those that wait for one that dies, and are for ports alone.

A worker gets connections through a socket that is its standard input, and ends with that. On its standard output it
says in lines of JSON what came of mails, who has left, and that it is alive.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from pbm.mail.door import House, Visitor
from pbm.mail.helpers import Helper, Service
from pbm.mail.journal import LONGEST_ENTRY, Entry

WORKER = (sys.executable, "-P", "-m", "pbm", "keep-receiving")
"""A process that receives, followed by the words that say how."""
BYTES = 4
"""How long the number is under which a connection is handed over."""
MOST_SILENT = 60
"""Seconds after which a worker hangs that has said nothing."""
ABSENT = "421 4.3.0 Nobody can take mail at this moment; please try again later"


class Worker(Helper):
    """Watches over a process that receives mail for the house."""

    def __init__(self, words: Sequence[str], workers: "Workers", service: Service) -> None:
        """Begin without a process; the *words* say how it receives."""
        super().__init__((*WORKER, *words), "receives mail", service)
        self.workers = workers
        self.channel: socket.socket | None = None
        self.is_ready = False
        """Whether it has begun to take connections."""
        self.numbers = count(1)
        self.guests: dict[int, Guest] = {}
        """Whom it serves, under the numbers that they were given."""
        self.heard = 0.0
        """When it has last said something, by the clock of the event loop."""

    async def live(self) -> int:
        """Start the process, and hear what it says until its end. Returns its status."""
        self.channel, its = socket.socketpair()
        self.channel.settimeout(0)
        with its:
            self.process = await asyncio.create_subprocess_exec(
                *self.command, stdin=its.fileno(), stdout=asyncio.subprocess.PIPE
            )
        if self.ending.is_set():  # it was told so before there was a process
            self.end()
        try:
            await self._listen(self.process.stdout)
        finally:
            self.is_ready = False
            self.channel.close()  # with which it ends, if it has not done so
            for number in [*self.guests]:
                self._let_out(number)
        return await self.process.wait()

    async def _listen(self, said: asyncio.StreamReader | None) -> None:
        self.heard = asyncio.get_running_loop().time()
        while said and (line := await said.readline()).endswith(b"\n"):  # one who was killed may have said half of it
            self.heard = asyncio.get_running_loop().time()
            if not self.is_ready:
                self.is_ready = True
                self.workers.look_who_is_ready()
            self._hear(json.loads(line))

    def _hear(self, told: dict[str, Any]) -> None:
        if "left" in told:
            self._let_out(told["left"])
        if "noted" in told:
            self.workers.house.note(Entry(*told["noted"]))

    def _let_out(self, number: int) -> None:
        self.workers.house.leave(self.guests.pop(number))

    def take(self, guest: "Guest", connection: int) -> None:
        """Hand an open file to the process, which is the connection of a guest. Raises OSError if it takes none."""
        if not (self.channel and self.is_ready):
            raise BrokenPipeError
        number = next(self.numbers)
        socket.send_fds(self.channel, [number.to_bytes(BYTES)], [connection])
        self.guests[number] = guest

    def end(self) -> None:
        """Let the process end as soon as it has answered the mails that it has in hand."""
        self.ending.set()
        self.is_ready = False
        if self.channel:
            self.channel.close()


class Guest(asyncio.Protocol):
    """A connection that is handed to a worker as soon as it is made."""

    is_busy = True  # so that nobody but his worker, who knows whether he is, sends him away

    def __init__(self, workers: "Workers") -> None:
        """Come for one of the *workers*."""
        self.workers = workers
        self.peer = self.origin = ""

    def connection_made(self, transport: Any) -> None:
        """Go to a worker, if there is room."""
        house = self.workers.house
        if not house.admits(self, transport):
            return
        if self.workers.take(self, transport.get_extra_info("socket").fileno()):
            transport.abort()  # only here: it stays open there
        else:
            house.leave(self)
            transport.write(f"{ABSENT}\r\n".encode())
            transport.close()

    def leave(self, reply: str) -> None:
        """Stay: his worker says it to him."""


class Workers:
    """All workers of a house."""

    def __init__(self, number: int, words: Sequence[str], house: House, service: Service) -> None:
        """Begin with that *number* of them; the *words* say how they receive."""
        self.house = house
        self.opened = asyncio.Event()
        """Set when all of them have begun to take connections, so that the first ones are shared out evenly."""
        self.crew = [Worker([*words, f"--parts={number}"], self, service) for _ in range(number)]

    def look_who_is_ready(self) -> None:
        """Open if all are there."""
        if all(worker.is_ready for worker in self.crew):
            self.opened.set()

    def connection(self) -> Guest:
        """What is done with a connection."""
        return Guest(self)

    def take(self, guest: Guest, connection: int) -> bool:
        """Hand a connection to the worker that has the fewest; whether any has taken it."""
        for worker in sorted(self.crew, key=lambda worker: len(worker.guests)):
            with suppress(OSError):
                worker.take(guest, connection)
                return True
        return False

    def look(self) -> str:
        """End those that hang, so that others are started; how it goes, for the service manager."""
        now = asyncio.get_running_loop().time()
        for worker in self.crew:
            if now > worker.heard + MOST_SILENT:
                worker.kill()
        ready = sum(worker.is_ready for worker in self.crew)
        return f"{len(self.house.inside)} connections, {ready} workers."

    async def close(self) -> None:
        """Let all mails in hand be answered, and send everybody away."""
        for worker in self.crew:
            worker.end()
        await self.house.close()


class Room(House):
    """The part of the house that is in a worker."""

    def __init__(self, parts: int) -> None:
        """Begin with nobody; there are so many *parts*."""
        super().__init__(self._noted, parts)
        self.numbers: dict[Visitor, int] = {}
        self.coming: set[asyncio.Task[Any]] = set()

    def listen(self, connection: Callable[[], Any], end: Callable[[], object]) -> None:
        """Let in whoever comes through standard input, and call *end* when that ends."""
        loop, channel = asyncio.get_running_loop(), socket.socket(fileno=os.dup(sys.stdin.fileno()))

        def take() -> None:
            number, handles, _, _ = socket.recv_fds(channel, BYTES, 1)
            if not number:
                loop.remove_reader(channel)
                end()
                return
            door = connection()
            self.numbers[door] = int.from_bytes(number)
            task = loop.create_task(loop.connect_accepted_socket(lambda: door, socket.socket(fileno=handles[0])))
            self.coming.add(task)
            task.add_done_callback(self.coming.discard)

        loop.add_reader(channel, take)

    def leave(self, visitor: Visitor) -> None:
        """Let somebody out, and say so."""
        super().leave(visitor)
        self.say(left=self.numbers.pop(visitor))

    def _noted(self, entry: Entry) -> None:
        self.say(noted=[field[:LONGEST_ENTRY] if isinstance(field, str) else field for field in entry])

    @staticmethod
    def say(**what: object) -> None:
        """Tell something to the process that has handed over the connections, if it is still there."""
        with suppress(BrokenPipeError):
            os.write(sys.stdout.fileno(), f"{json.dumps(what)}\n".encode())
