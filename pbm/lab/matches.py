"""Matches between two programs: pairs of games with sides changed, refereed here, side by side."""

import asyncio
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple, Self

from games import SKIP
from pbm.referee import Referee
from pbm.refusals import Refused
from pbm.robot_players.program import MOST_REFUSED, Program

GIVES_UP = "resign"
"""What a program can answer in the place of a move."""
CONNECTING = 5
"""How many seconds the scheduler of a cluster may take to answer."""
MOST_TURNS = 5000
"""After how many turns a game is a draw, in case that two programs play for ever."""

Words = Sequence[str]
"""A program and its arguments."""


class Match(NamedTuple):
    """What is played."""

    game: str
    options: Words
    """As in a challenge."""
    programs: tuple[Words, Words]
    patience: float | None
    """How many seconds a program has for a move; None if it may take for ever."""
    seed: str
    """What the dice follow from."""
    is_quiet: bool = True
    """Whether what the programs write on standard error is not seen."""


class Played(NamedTuple):
    """A game that is over."""

    points: float
    """Of the first program: 1, 0, or 0.5."""
    turns: int
    fault: str = ""
    """What a program has done that lost it the game, or why the game was ended."""
    by: int | None = None
    """The program of that fault."""


class Spent(NamedTuple):
    """How long a program has thought."""

    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def __add__(self, other: Any) -> Self:
        """Both together."""
        moves, seconds, longest = other
        return self._replace(
            moves=self.moves + moves, seconds=self.seconds + seconds, longest=max(self.longest, longest)
        )


class TwoGames(NamedTuple):
    """Two games, in which each program has begun once, with the same dice."""

    number: int
    played: tuple[Played, Played]
    """The game that the first program has begun, and the other one."""
    spent: tuple[Spent, Spent]

    @property
    def points(self) -> float:
        """Of the first program, from 0 to 2."""
        return sum(game.points for game in self.played)


class Contestant:
    """A program that plays one game after the other, as one process as long as it lives."""

    def __init__(self, match: Match, index: int) -> None:
        """One of the two programs of a match, which is started when it is asked first."""
        self.match, self.index = match, index
        self.program: Program | None = None
        self.spent = Spent()

    async def ask(self, line: str) -> str:
        """The answer to a line. Raises Refused if there is none, or not in time; the next line has a new process."""
        try:
            if self.program is None:
                words = self.match.programs[self.index]
                self.program = await Program.start(
                    words, self.match.patience, errors=DEVNULL if self.match.is_quiet else None
                )
            begun = time.perf_counter()
            answer = await self.program.ask(line)
        except BaseException:
            await self.kill()
            raise
        seconds = time.perf_counter() - begun
        self.spent += Spent(1, seconds, seconds)
        return answer

    async def refresh(self) -> None:
        """Before a game: a program that has ended by itself meanwhile is started again."""
        if self.program and self.program.process.returncode is not None:
            await self.kill()

    async def quit(self) -> None:
        """Tell the program that there is nothing more to do."""
        if self.program:
            await self.program.quit()
        await self.kill()

    async def kill(self) -> None:
        """End it."""
        program, self.program = self.program, None
        if program:
            await program.kill()


Noted = Callable[[int, Referee, Sequence[datetime], Played], None]
"""Is told of each game when it is over: which of the two programs began, 0 or 1, the moves, and how it ended.

Of the moments, the first one is that of the beginning, the next one that of the first move.
"""


class MatchTable:
    """Where two programs play pairs of games, one after the other."""

    def __init__(self, match: Match, note: Noted | None = None) -> None:
        """Set it up."""
        self.match, self.note = match, note
        self.contestants = Contestant(match, 0), Contestant(match, 1)

    async def play(self, number: int) -> TwoGames:
        """The pair of games of that number."""
        for contestant in self.contestants:
            contestant.spent = Spent()
        games = await self._play(number, 0), await self._play(number, 1)
        first, second = self.contestants
        return TwoGames(number, games, (first.spent, second.spent))

    async def _play(self, number: int, beginner: int) -> Played:
        """A game that the program of that index begins."""
        for contestant in self.contestants:
            await contestant.refresh()
        referee = Referee(self.match.game)
        referee.rng = Random(f"{self.match.seed} {number}")
        referee.new(" ".join(self.match.options))
        moments = [datetime.now(UTC)]
        played = await self._played_out(referee, beginner, moments)
        if self.note:
            self.note(beginner, referee, moments, played)
        return played

    async def _played_out(self, referee: Referee, beginner: int, moments: list[datetime]) -> Played:
        """How a game ends that has been set up; the moment of each move is noted."""
        for turns in range(MOST_TURNS):
            state = referee.history[-1].state
            if result := state.result():
                winner = None if result.winner is None else state.seats[result.winner]
                return Played(0.5 if winner is None else float(winner == beginner), turns)
            if state.must_skip:
                referee.play(SKIP)
                moments.append(datetime.now(UTC))
                continue
            mover = state.seats[state.turn] ^ beginner
            fault = await self._take_turn(mover, referee)
            if fault is not None:
                return Played(float(mover), turns, fault, mover if fault else None)
            moments.append(datetime.now(UTC))
        return Played(0.5, MOST_TURNS, f"The game was ended after {MOST_TURNS} turns.")

    async def _take_turn(self, mover: int, referee: Referee) -> str | None:
        """Let a program move; None if it did, empty if it has resigned, else why it has lost."""
        question = referee.state("")
        for _ in range(MOST_REFUSED):
            try:
                move = await self.contestants[mover].ask(question)
            except Refused as why:
                return str(why)
            if move.lower() == GIVES_UP:
                return ""
            reply = referee.answer(f"play {move}")
            if reply.startswith("="):
                return None
            question = reply
        return f"{MOST_REFUSED} moves in a row were refused, the last one ({move[:80]!r}): {question[2:]}"

    async def quit(self) -> None:
        """End the programs."""
        for contestant in self.contestants:
            await contestant.quit()

    async def kill(self) -> None:
        """End them at once."""
        for contestant in self.contestants:
            await contestant.kill()


async def play_here(
    match: Match, pairs: Iterable[int], workers: int, note: Noted | None = None
) -> AsyncGenerator[TwoGames, None]:
    """Play these pairs on so many tables side by side, and give each when it is done."""
    left = iter(pairs)
    done: asyncio.Queue[TwoGames | None] = asyncio.Queue()

    async def work() -> None:
        table = MatchTable(match, note)
        try:
            for number in left:
                done.put_nowait(await table.play(number))
            await table.quit()
        finally:
            await table.kill()
            done.put_nowait(None)

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    try:
        running = workers
        while running:
            pair = await done.get()
            if pair is None:
                running -= 1
            else:
                yield pair
        await asyncio.gather(*tasks)  # what went wrong in one of them is raised here
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def play_pairs(match: Match, pairs: Sequence[int]) -> list[TwoGames]:
    """Play these pairs on one table: what a worker of a cluster is asked for."""

    async def play() -> list[TwoGames]:
        return [pair async for pair in play_here(match, pairs, 1)]

    return asyncio.run(play())


Reporting = Callable[[TwoGames], bool]
"""Is told of each pair that is done, and answers whether there are enough of them."""


def run_here(match: Match, pairs: int, workers: int, report: Reporting, note: Noted | None = None) -> None:
    """Play on this machine."""

    async def play() -> None:
        playing = play_here(match, range(1, pairs + 1), workers, note)
        async for pair in playing:
            if report(pair):
                break
        await playing.aclose()

    asyncio.run(play())


def run_on_cluster(match: Match, pairs: int, address: str, report: Reporting) -> None:
    """Play on the workers of a Dask cluster, a few pairs at a time on each. Raises Refused if there is none."""
    try:
        from distributed import Client, as_completed
    except ImportError as why:
        raise Refused("--dask needs Dask's distributed: pip install '.[cluster]'.") from why
    try:
        client = Client(address, timeout=CONNECTING)
    except (OSError, ValueError) as why:
        raise Refused(f"There is no Dask scheduler at {address}.") from why
    with client:
        threads = sum(client.nthreads().values()) or 1
        size = max(1, pairs // (8 * threads))
        parts = [range(first, min(first + size, pairs + 1)) for first in range(1, pairs + 1, size)]
        tasks = client.map(play_pairs, [match] * len(parts), parts, pure=False)
        for _, done in as_completed(tasks, with_results=True):
            is_enough = [report(pair) for pair in done]
            if any(is_enough):
                client.cancel(tasks)
                break
