"""A program that is asked for moves over its standard input and output, a line each."""

import asyncio
import os
import shlex
import signal
import sys
import threading
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any, Self

from pbm import texts
from pbm.language.grammar import MOST_CHARACTERS
from pbm.refusals import Refused, refusing_os_errors

GIVE_UP = "resign"
"""What a program answers instead of a move to give up the game."""
HOPELESS_TURNS = 3
"""A robot resigns after so many turns in a row without hope."""
MOST_REFUSED = 3
"""How many moves in a row may be refused before a program has failed."""
MOST_ERROR_BYTES = 65536
"""How many bytes of what a program writes to its standard error are kept."""
MOST_LAST_BYTES = 4000
"""How many bytes of the end of its standard error are kept for a report."""
MOST_LAST_LINES = 10
"""How many lines of these a report has at most."""
MOST_OF_LINE = 300
"""How many characters of each of these lines it has at most."""
EXIT_SECONDS = 1
"""How long a program that has closed its output has to end by itself, so that its exit status is known."""
ENDING_SECONDS = 5
"""How long a program has to end after it was told to."""
TERMINATED = 143
"""The exit status of a command that was ended by SIGTERM."""
RUNNING = set[int]()
"""The processes of all programs that run, each of which leads a group."""
STARTING = threading.RLock()
"""Held while a program is started: `end_with_programs` waits until it is in RUNNING."""
NO_ANSWER = "The program has ended, or closed its output, before the game was over."


class ProgramFailure(Refused):
    """A program has not answered, or not in time."""

    def __init__(self, text: str, report: str) -> None:
        """Say why. The *report* is for the author of the program: how it ended, and its last errors, if known."""
        super().__init__(text)
        self.report = report


def command_words(program: str) -> list[str]:
    """A program and its arguments, split as a shell does it. Raises Refused if no program is named."""
    try:
        words = shlex.split(program)
    except ValueError as why:
        raise Refused(f"{program!r} is no program and its arguments: {str(why).lower()}.") from why
    if not words:
        raise Refused("No program is named.")
    return words


def located(words: Sequence[str]) -> list[str]:
    """The words, the program with its path. It may be in the folder of this Python, as pbm itself is."""
    path = which(words[0]) or which(words[0], path=str(Path(sys.executable).parent))
    if path is None:
        return list(words)  # starting it fails, and says so
    return [path] + list(words[1:])


def startable_words(program: str) -> list[str]:
    """A program and its arguments. Raises Refused if it could not be started here."""
    words = command_words(program)
    if which(located(words)[0]) is None:
        raise Refused(f"The program {words[0]} cannot be started: it is not found, or you are not allowed to run it.")
    return words


@dataclass
class Program:
    """A process that is asked for moves. `async with` ends it."""

    words: Sequence[str]
    patience: float | None
    """How many seconds it has for an answer; None for no limit."""
    errors: int | None = None
    """Where its standard error goes: to ours, with DEVNULL nowhere, with PIPE the first `MOST_ERROR_BYTES` to ours."""
    keeps_errors: bool = False
    """Whether the end of its standard error is kept for the report of a failure, and nothing of it goes to ours."""
    last_errors: bytes = b""
    """The end of its standard error, if that is kept."""
    process: Process | None = None
    """The process; None until it is started, and after it has failed."""
    logging: asyncio.Future[None] | None = None
    """Reads its standard error, if that is a PIPE or kept."""

    async def __aenter__(self) -> Self:
        """Nothing is started yet: the first question starts the program."""
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Tell the program that the game is over, unless something has gone wrong, and end it."""
        if kind is None and self.process:
            with suppress(TimeoutError):
                async with asyncio.timeout(ENDING_SECONDS):
                    await _tell(self.process, "quit")
                    if self.process.stdin:
                        self.process.stdin.close()
                    await _end_of(self.process)
        await self.kill()

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended by itself."""
        return self.process is not None and self.process.returncode is not None

    async def start(self) -> Process:
        """Start the program if it does not run. Raises Refused if that is not possible."""
        if self.process is None:
            with STARTING, refusing_os_errors(f"The program {self.words[0]} cannot be started"):
                self.process = await create_subprocess_exec(
                    *located(self.words),
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=PIPE if self.keeps_errors else self.errors,
                    limit=MOST_CHARACTERS,
                    start_new_session=True,
                )
                RUNNING.add(self.process.pid)
            self.last_errors = b""
            self.logging = None
            if self.process.stderr:
                read = self._keep if self.keeps_errors else _log
                self.logging = asyncio.ensure_future(read(self.process.stderr))
        return self.process

    async def ask(self, line: str) -> str:
        """Send a line, and return the line that the program answers.

        Raises ProgramFailure if it does not answer, or not in time. It is then ended; the next line starts it again.
        """
        process = await self.start()
        try:
            async with asyncio.timeout(self.patience):
                await _tell(process, line)
                answer = await process.stdout.readline() if process.stdout else b""
            fault = "" if answer else NO_ANSWER
        except TimeoutError:
            fault = f"The program has not answered within {texts.counted(self.patience or 0, 'second')}."
        except ValueError:
            fault = f"The program has written more than {MOST_CHARACTERS} characters in a line."
        if fault:
            status = None
            if fault == NO_ANSWER and self.keeps_errors:
                status = await self._exit_status()
            await self.kill()
            raise ProgramFailure(fault, self.report(status))
        return answer.decode(errors="replace").strip()

    def report(self, status: int | None = None) -> str:
        """How the program has ended, if its exit *status* is known, and the last lines of its standard error."""
        parts = []
        if status is not None and status < 0:
            parts.append(f"It was ended by {signal_name(-status)}.")
        elif status is not None:
            parts.append(f"Its exit status was {status}.")
        lines = self.last_errors.decode(errors="replace").rstrip().splitlines()[-MOST_LAST_LINES:]
        if lines:
            parts.append("The last that it wrote to standard error:")
            parts += [f"  {line[:MOST_OF_LINE]}".rstrip() for line in lines]
        return "\n".join(parts)

    async def _exit_status(self) -> int | None:
        """The exit status of a program that has closed its output; None if it goes on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(EXIT_SECONDS):
                return await self.process.wait() if self.process else None
        return None

    async def _keep(self, errors: asyncio.StreamReader) -> None:
        """Keep the end of what the program writes to its standard error."""
        while said := await errors.read(MOST_ERROR_BYTES):
            self.last_errors = (self.last_errors + said)[-MOST_LAST_BYTES:]

    async def kill(self) -> None:
        """End the program if it still runs, and all that it has started."""
        process = self.process
        self.process = None
        for how in (signal.SIGTERM, signal.SIGKILL):
            if process and process.returncode is None:
                with suppress(TimeoutError):
                    with suppress(ProcessLookupError):  # it has just ended, and asyncio does not know yet
                        os.killpg(process.pid, how)
                    async with asyncio.timeout(ENDING_SECONDS):
                        await _end_of(process)
        if process:
            RUNNING.discard(process.pid)
        if self.logging:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.logging, ENDING_SECONDS)


def signal_name(number: int) -> str:
    """A signal in words, such as `SIGSEGV`."""
    try:
        return signal.Signals(number).name
    except ValueError:  # those of real time have no names
        return f"signal {number}"


def end_with_programs() -> None:
    """End this process, all programs that run, and all that they have started, at once."""
    with STARTING:
        for process in list(RUNNING):
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
        os._exit(0)


def run_until_terminated(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine. Raises CancelledError at SIGTERM, when the programs that it has started have ended."""

    async def cancellable() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(coroutine)
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
        try:
            await task
        finally:
            loop.remove_signal_handler(signal.SIGTERM)  # asyncio warns of one when it closes the loop

    asyncio.run(cancellable())


async def _end_of(process: Process) -> None:
    """Wait until a process has ended. Asyncio does not know that before all its output is read."""
    while process.stdout and await process.stdout.read(MOST_CHARACTERS):
        pass
    await process.wait()


async def _tell(process: Process, line: str) -> None:
    """Send a line. If nobody reads it, no answer will come."""
    if process.stdin:
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(f"{line}\n".encode())
            await process.stdin.drain()


async def _log(errors: asyncio.StreamReader) -> None:
    """Pass on the beginning of what a program writes to its standard error; the rest is read and dropped."""
    count = 0
    while said := await errors.read(MOST_ERROR_BYTES):
        sys.stderr.write(said[: max(0, MOST_ERROR_BYTES - count)].decode(errors="replace"))
        if count <= MOST_ERROR_BYTES < count + len(said):
            sys.stderr.write("\nThe program writes more to standard error, which is dropped.\n")
        count += len(said)
