"""The server's helper processes: each is started again when it ends too early, and ends with the server."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pbm import START_PBM
from pbm.disk import reason
from pbm.mail.sending import LONGEST_PAUSE, growing_pauses
from pbm.store import Replaced, Store
from pbm.terminal import warn

HOOKS = START_PBM + ("hook", "run", "--follow")
"""A process that runs programs for events."""
NOTIFIER = START_PBM + ("outbox", "keep-notifying")
"""A process that sends notices."""
PLAYER = START_PBM + ("robots", "run")
"""A process that plays for robots; the mails that it causes are sent by SENDER."""
SITE = START_PBM + ("site", "--follow")
"""A process that writes a site, followed by the words of that command."""


@dataclass(eq=False)
class Service:
    """The state of the server: whether it has to end, and why."""

    store: Store
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server has to end."""
    problem: Replaced | None = None
    """Why it has to; None if it was told to end."""

    def check_database(self) -> None:
        """End if the database has become another file, because nothing that is written would be seen."""
        try:
            self.store.check_in_place()
        except Replaced as problem:
            self.problem = problem
            self.ended.set()


@dataclass(eq=False)
class Helper:
    """Watches over one of our processes, which ends when its standard input does."""

    command: Sequence[str]
    """Starts the process."""
    does: str
    """What it does, as a message says it, such as ``sends mail``."""
    service: Service
    """The server with which it ends."""
    process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Start the process, and again when it ends before the service does; if it ends soon, the pauses grow."""
        pauses = growing_pauses()
        loop = asyncio.get_running_loop()
        while not self.service.ended.is_set():
            begin = loop.time()
            try:
                end = f"ended with status {await self.run_once()}"
            except OSError as error:
                end = f"could not be started ({reason(error)})"
            self.service.check_database()
            if self.service.ended.is_set():
                return
            if loop.time() > begin + LONGEST_PAUSE:
                pauses = growing_pauses()
            pause = next(pauses)
            warn(f"The process that {self.does} {end}; it is started again in {pause:.0f} s.")
            with suppress(TimeoutError):
                await asyncio.wait_for(self.service.ended.wait(), pause)

    async def run_once(self) -> int:
        """Start the process, and wait for its end. Returns its status."""
        self.process = await asyncio.create_subprocess_exec(
            *self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        if self.service.ended.is_set():  # while there was no process yet
            self.end()
        return await self.process.wait()

    def end(self) -> None:
        """Let the process end as soon as it has done what it has in hand."""
        if self.process and self.process.stdin:
            self.process.stdin.close()

    def kill(self) -> None:
        """End the process at once."""
        if self.process and self.process.returncode is None:
            self.process.kill()
