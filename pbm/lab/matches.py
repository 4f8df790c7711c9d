"""Matches between two programs: pairs of games in which each begins once, several of them at the same time.

The rules are applied here, and the programs are only asked for moves.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

from games import SKIP
from pbm.referee import Referee
from pbm.refusals import Refused
from pbm.robot_players.program import GIVE_UP, MOST_REFUSED, Program, ProgramFailure

CONNECTING_SECONDS = 5
"""How long the scheduler of a cluster may take to answer."""
READING_SECONDS = 0.05
"""How long the standard error of a program that goes on is waited for: it was written before the last answer."""
MOST_TURNS = 5000
"""After how many turns a game is a draw, because two programs may play for ever."""

Words = Sequence[str]
"""A program and its arguments."""


class Match(NamedTuple):
    """Two programs, and the game that they play."""

    game: str
    options: Words
    """The options of the game, as in a challenge."""
    programs: tuple[Words, Words]
    patience: float
    """How many seconds a program has for a move."""
    seed: str
    """Determines the dice."""


class Played(NamedTuple):
    """A game that is over."""

    points: float
    """The points of the first program: 1, 0, or 0.5."""
    fault: str = ""
    """Why a program has lost by something other than the rules, or why the game was ended."""
    by: int | None = None
    """The program that has lost so, 0 or 1; None if neither has."""
    report: str = ""
    """How that program has ended, and its last errors, if known."""


class Fault(NamedTuple):
    """Why a program has lost by its turn."""

    text: str
    """Empty if it has resigned."""
    report: str = ""


class TwoGames(NamedTuple):
    """Two games, in which each program has begun once, with the same dice."""

    number: int
    played: tuple[Played, Played]
    """The game that the first program has begun, and that of the other one."""
    seconds: tuple[Sequence[float], Sequence[float]]
    """How long each program has thought about each of its moves."""

    @property
    def points(self) -> float:
        """The points of the first program, from 0 to 2."""
        return sum(game.points for game in self.played)


Noted = Callable[[int, Referee, Sequence[datetime], Played], None]
"""Called with each game that is over: which program began, 0 or 1, the moves, their times, and how the game ended.

The first time is that of the beginning, the next one that of the first move.
"""
Reporting = Callable[[TwoGames], object]
"""Called with each pair of games that is over. Returns whether there are enough of them."""


class EnoughError(Exception):
    """Enough games have been played."""


@dataclass
class MatchTable:
    """Lets two programs play pairs of games, one after the other. A program is started when it is first asked."""

    match: Match
    programs: tuple[Program, Program]
    note: Noted

    async def play(self, number: int) -> TwoGames:
        """Play the pair of games of that number."""
        self.seconds: tuple[list[float], list[float]] = [], []
        return TwoGames(number, (await self._play(number, 0), await self._play(number, 1)), self.seconds)

    async def _play(self, number: int, beginner: int) -> Played:
        """Play a game that the program of that index begins. Programs that have ended meanwhile are started again."""
        for program in self.programs:
            if program.has_ended:
                await program.kill()
        referee = Referee(self.match.game)
        referee.rng = Random(f"{self.match.seed} {number}")
        referee.new(" ".join(self.match.options))
        moments = [datetime.now(UTC)]
        played = await self._play_out(referee, beginner, moments)
        self.note(beginner, referee, moments, played)
        return played

    async def _play_out(self, referee: Referee, beginner: int, moments: list[datetime]) -> Played:
        """Play a game that is set up to its end, and add the time of each move to the *moments*."""
        for _ in range(MOST_TURNS):
            state = referee.history[-1].state
            if result := state.result():
                winner = None if result.winner is None else state.seats[result.winner]
                return Played(0.5 if winner is None else float(winner == beginner))
            if state.must_skip:
                referee.play(SKIP)
            else:
                mover = state.seats[state.turn] ^ beginner
                fault = await self._take_turn(mover, referee)
                if fault is not None:
                    # one that has resigned has lost by the rules, and not by a fault
                    by = mover if fault.text else None
                    return Played(float(mover), fault.text, by, fault.report)
            moments.append(max(moments[-1], datetime.now(UTC)))  # the clock may have stepped back
        return Played(0.5, f"The game was ended after {MOST_TURNS} turns.")

    async def _take_turn(self, mover: int, referee: Referee) -> Fault | None:
        """Let a program move. Returns None if it has moved, else why it has lost."""
        program = self.programs[mover]
        question = referee.state("")
        for _ in range(MOST_REFUSED):
            try:
                await program.start()
                begun = time.perf_counter()
                move = await program.ask(question)
            except ProgramFailure as why:
                return Fault(str(why), why.report)
            except Refused as why:
                return Fault(str(why))
            self.seconds[mover].append(time.perf_counter() - begun)
            if move.lower() == GIVE_UP:
                return Fault("")
            question = referee.answer(f"play {move}")
            if question.startswith("="):
                return None
        await asyncio.sleep(READING_SECONDS)
        text = f"{MOST_REFUSED} moves in a row were refused, the last one ({move[:80]!r}): {question[2:]}"
        return Fault(text, program.report())


async def play_pairs(
    match: Match, pairs: Sequence[int], workers: int, report: Reporting = lambda _: False, note: Noted = lambda *_: None
) -> None:
    """Play these pairs on as many tables as there are workers, until all are done or *report* says it is enough."""
    left = iter(pairs)

    async def work() -> None:
        first, second = (Program(words, match.patience, keeps_errors=True) for words in match.programs)
        async with first, second:
            table = MatchTable(match, (first, second), note)
            for number in left:
                if report(await table.play(number)):
                    raise EnoughError

    with suppress(EnoughError):  # the other tables are cancelled by asyncio.run
        await asyncio.gather(*(work() for _ in range(min(workers, len(pairs)))))


def play_part(match: Match, pairs: Sequence[int]) -> list[TwoGames]:
    """Play these pairs on one table, as a worker of a cluster does."""
    done: list[TwoGames] = []
    asyncio.run(play_pairs(match, pairs, 1, done.append))
    return done


def play_on_cluster(match: Match, pairs: int, address: str, report: Reporting) -> None:
    """Play on the workers of a Dask cluster, a few pairs at a time on each. Raises Refused if there is none."""
    try:
        from distributed import Client, as_completed
    except ImportError as why:
        raise Refused("--dask needs Dask's distributed: pip install '.[cluster]'.") from why
    try:
        client = Client(address, timeout=CONNECTING_SECONDS)
    except (OSError, ValueError) as why:
        raise Refused(f"There is no Dask scheduler at {address}.") from why
    with client:
        threads = sum(client.nthreads().values()) or 1
        size = max(1, pairs // (8 * threads))
        parts = [range(first, min(first + size, pairs + 1)) for first in range(1, pairs + 1, size)]
        tasks = client.map(play_part, [match] * len(parts), parts, pure=False)
        for _, done in as_completed(tasks, with_results=True):
            is_enough = [report(pair) for pair in done]
            if any(is_enough):
                client.cancel(tasks)
                break
