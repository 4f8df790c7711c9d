"""Processes of ours beside the one that was started: they are watched over, and end with it."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress

from pbm.disk import reason
from pbm.mail.outbox import LONGEST_PAUSE, ever_longer
from pbm.store import Replaced, Store


class Service:
    """What goes on until it is told to end, or cannot go on."""

    def __init__(self, store: Store) -> None:
        """Serve this database, for now."""
        self.store = store
        self.ended = asyncio.Event()
        """Set when there is to be no more work."""
        self.problem: Replaced | None = None
        """Why there can be no more."""

    def give_up(self, problem: Replaced) -> None:
        """End, because nothing that is written would be seen."""
        self.problem = problem
        self.ended.set()

    def look(self) -> None:
        """Give up if the database has become another file."""
        try:
            self.store.check_in_place()
        except Replaced as problem:
            self.give_up(problem)


class Helper:
    """Watches over a process of ours, which is told through a pipe that there may be something to do."""

    def __init__(self, command: Sequence[str], does: str, service: Service) -> None:
        """Begin without a process; the *command* starts one that *does* something for a *service*."""
        self.command = command
        self.does = does
        self.service = service
        self.process: asyncio.subprocess.Process | None = None
        self.ending = asyncio.Event()

    async def run(self) -> None:
        """Start the process, and start it again if it ends before it is told to, ever later if it does so soon."""
        pauses, loop = ever_longer(), asyncio.get_running_loop()
        while not self.ending.is_set():
            begin = loop.time()
            try:
                end = f"ended with status {await self.live()}"
            except OSError as error:
                end = f"could not be started ({reason(error)})"
            self.service.look()
            if self.ending.is_set() or self.service.ended.is_set():
                return
            if loop.time() > begin + LONGEST_PAUSE:
                pauses = ever_longer()
            pause = next(pauses)
            sys.stderr.write(f"The process that {self.does} {end}; it is started again in {pause:.0f} s.\n")
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ending.wait(), pause)

    async def live(self) -> int:
        """Start the process, and wait for its end. Returns its status."""
        self.process = await asyncio.create_subprocess_exec(
            *self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        if self.ending.is_set():  # it was told so before there was a process
            self.end()
        return await self.process.wait()

    @property
    def living(self) -> asyncio.subprocess.Process | None:
        """The process, if it has not ended."""
        return self.process if self.process and self.process.returncode is None else None

    def wake(self) -> None:
        """Say that there may be something to do."""
        if self.living and self.living.stdin:
            self.living.stdin.write(b"\n")

    def end(self) -> None:
        """Let the process end as soon as it has done what it has in hand."""
        self.ending.set()
        if self.process and self.process.stdin:
            self.process.stdin.close()

    def kill(self) -> None:
        """End the process at once."""
        if self.living:
            self.living.kill()
