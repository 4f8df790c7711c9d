"""A program that plays a side of a board, move by move over its standard input and output."""

import asyncio
import json
import os
import shlex
import signal
import sys
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import Self

from pbm import letters, runner, texts
from pbm.board.board import Board
from pbm.disk import reason
from pbm.language.grammar import MOST_CHARACTERS
from pbm.refusals import Refused
from pbm.robot_players.waiting import PAUSE, condition, looks, position
from pbm.session import Session
from pbm.store import BoardRow, Reply, Store

MOST_REFUSED = 3
"""How many moves in a row may be refused before a program has failed."""
MOST_ERROR_BYTES = 65536
"""How many bytes of what a program writes to its standard error are kept."""
ENDING = 5
"""How many seconds a program has to end after it was told to."""
TERMINATED = 143
"""The exit status of a command that the system has ended."""
NO_ANSWER = "The program has ended, or closed its output, before the game was over."


def command_words(program: str) -> list[str]:
    """A program and its arguments, split as a shell does it. Raises Refused if that is none."""
    try:
        words = shlex.split(program)
    except ValueError as why:
        raise Refused(f"{program!r} is no program and its arguments: {str(why).lower()}.") from why
    if not words:
        raise Refused("No program is named.")
    return words


def located(words: Sequence[str]) -> list[str]:
    """The words with the path of the program, which may be installed beside this Python, as pbm itself is."""
    path = which(words[0]) or which(words[0], path=str(Path(sys.executable).parent))
    return [path or words[0], *words[1:]]


def insist_on(words: Sequence[str]) -> None:
    """Raises Refused if a program could not be started here."""
    if which(located(words)[0]) is None:
        raise Refused(f"The program {words[0]} cannot be started: it is not found, or you are not allowed to run it.")


class Program:
    """A process that is asked for moves, a line each."""

    def __init__(self, process: Process, patience: float | None) -> None:
        """Talk to a process, which has so many seconds for an answer; None if it may take for ever."""
        self.process = process
        self.patience = patience
        self.logging = asyncio.ensure_future(_log(process.stderr)) if process.stderr else None

    @classmethod
    async def start(cls, words: Sequence[str], patience: float | None, *, errors: int | None = None) -> Self:
        """Start a program. Raises Refused if that is not possible.

        Its *errors* go where ours go, with DEVNULL nowhere, and with PIPE the first of them go where ours go.
        """
        try:
            process = await create_subprocess_exec(
                *located(words),
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                limit=MOST_CHARACTERS,
                start_new_session=True,
            )
        except OSError as why:
            raise Refused(f"The program {words[0]} cannot be started: {reason(why)}.") from why
        return cls(process, patience)

    async def ask(self, line: str) -> str:
        """Send a line, and return the line that is the answer. Raises Refused if there is none, or not in time."""
        try:
            async with asyncio.timeout(self.patience):
                await self._tell(line)
                answer = await self.process.stdout.readline() if self.process.stdout else b""
        except TimeoutError:
            within = texts.counted(self.patience or 0, "second")
            raise Refused(f"The program has not answered within {within}.") from None
        except ValueError:
            raise Refused(f"The program has written more than {MOST_CHARACTERS} characters in a line.") from None
        if not answer:
            raise Refused(NO_ANSWER)
        return answer.decode(errors="replace").strip()

    async def quit(self) -> None:
        """Tell the program that the game is over, and give it some time to end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDING):
                await self._tell("quit")
                if self.process.stdin:
                    self.process.stdin.close()
                await self._ended()

    async def kill(self) -> None:
        """End the program, with all that it has started itself, if it still runs."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            if self.process.returncode is None:
                with suppress(TimeoutError):
                    with suppress(ProcessLookupError):  # it has just ended, which is still to be noted
                        os.killpg(self.process.pid, how)
                    async with asyncio.timeout(ENDING):
                        await self._ended()
        if self.logging:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.logging, ENDING)

    async def _ended(self) -> None:
        """Wait until the process has ended, which it has not for asyncio before all that it wrote is read."""
        while self.process.stdout and await self.process.stdout.read(MOST_CHARACTERS):
            pass
        await self.process.wait()

    async def _tell(self, line: str) -> None:
        """Send a line; that nobody reads it is seen when no answer comes."""
        if self.process.stdin:
            with suppress(BrokenPipeError, ConnectionResetError):
                self.process.stdin.write(f"{line}\n".encode())
                await self.process.stdin.drain()


async def _log(errors: asyncio.StreamReader) -> None:
    """Pass on the beginning of what a program writes to its standard error; the rest is read and dropped."""
    count = 0
    while said := await errors.read(MOST_ERROR_BYTES):
        sys.stderr.write(said[: max(0, MOST_ERROR_BYTES - count)].decode(errors="replace"))
        if count <= MOST_ERROR_BYTES < count + len(said):
            sys.stderr.write("\nThe program writes more to standard error, which is dropped.\n")
        count += len(said)


def run(session: Session, row: BoardRow, userid: str, words: Sequence[str], patience: float | None) -> int:
    """Let a program play for a user until the game is over, and return the exit status.

    Raises Refused if the program fails.
    """
    try:
        asyncio.run(_play(session, row, userid, words, patience))
    except asyncio.CancelledError:
        return TERMINATED
    return 0


async def _play(session: Session, row: BoardRow, userid: str, words: Sequence[str], patience: float | None) -> None:
    loop = asyncio.get_running_loop()
    if task := asyncio.current_task():
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        program = await Program.start(words, patience)
        try:
            while await _is_to_move(session.store, row, userid, program):
                await _take_turn(session, row, userid, program)
            await program.quit()
        finally:
            await program.kill()
    finally:
        loop.remove_signal_handler(signal.SIGTERM)  # a loop that is being closed would complain of one


async def _is_to_move(store: Store, row: BoardRow, userid: str, program: Program) -> bool:
    """Wait until it is the user's turn; False when the game is over, or the board removed.

    Raises Refused if the program does not wait as long.
    """
    for found in looks(store, [row], condition(f"turn={userid}", [row])):
        if found:
            break
        if program.process.returncode is not None:
            raise Refused(NO_ANSWER)
        await asyncio.sleep(PAUSE)
    now = store.boards.get(row.game, row.board)
    return now is not None and now.ended is None


async def _take_turn(session: Session, row: BoardRow, userid: str, program: Program) -> None:
    """Let a program move, if it is still the user's turn. Raises Refused if it cannot."""
    with session.store.reading():
        board = Board.load(session.store, row.game, row.board)
    if board is None or board.turn != userid:
        return
    question = json.dumps(letters.data(board.present)["position"], sort_keys=True)
    for _ in range(MOST_REFUSED):
        move = await program.ask(question)
        refusal = _moved(session, board.row, userid, move)
        if not refusal:
            return
        question = f"? {refusal}"
    raise Refused(f"{MOST_REFUSED} moves of the program in a row were refused. The last one: {refusal}")


def _moved(session: Session, row: BoardRow, userid: str, move: str) -> str:
    """Play a move for a user who is trusted, and return why it is refused, in a line.

    Nothing is played, and nothing refused, if the position is not the one for which the move was chosen.
    """
    with session.store.writing():
        now = session.store.boards.get(row.game, row.board)
        if now is None or position(now) != position(row):
            return ""
        done = runner.play(session, Reply(row.game, row.board, userid), move, userid)
    return " ".join(str(done.why).split()) if done.why else ""
