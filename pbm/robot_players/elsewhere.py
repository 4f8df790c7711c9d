"""Waiting for boards, and letting a program play, where the server is on another machine (`PBM_SERVER`).

A stream of events tells what happens on the boards of the token's user. Other boards are asked for now and then, and so
are all of them without a token, or while there is no stream.
"""

import asyncio
import http.client
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, NamedTuple, Self

from pbm import texts
from pbm.client import Client, NoAnswer, RemoteAnswer
from pbm.names import is_pool
from pbm.refusals import Refused
from pbm.robot_players.program import MOST_REFUSED, NO_ANSWER, Program, run_until_terminated
from pbm.robot_players.waiting import check_player, condition, contents, print_boards
from pbm.store import BoardRow

ASKING_SECONDS = 5.0
"""How often the server is asked for boards that no stream reports."""
STREAM_SECONDS = 3600.0
"""After how long a stream is closed and opened again."""
MOST_SILENCE_SECONDS = 40.0
"""How long a stream may say nothing; every 15 seconds there should be a line."""
AGAIN_SECONDS = 2.0
"""How long to wait before a stream is opened again."""
PATIENCE_SECONDS = 600.0
"""For how long a server is asked again that has answered before, and does not any more."""
PROGRAM_LOOK_SECONDS = 0.5
"""How often it is checked whether a program that waits for its turn has ended."""
LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Stands for the times of a board, which need not be known."""
REFUSALS = {400, 422}
"""The statuses of moves that the rules or the language refuse."""


class StreamEvent(NamedTuple):
    """An event of a stream."""

    kind: str
    """``board`` or ``gone``; ``lost`` when the stream has ended."""
    id: str = ""
    data: Mapping[str, Any] = {}


class BoardsElsewhere:
    """Boards of a game on another machine, as they were when the server last said so."""

    def __init__(self, server: Client, game: str, names: Sequence[str]) -> None:
        """Ask for the boards, and begin to listen. Raises Refused and NoAnswer."""
        self.server = server
        self.game = game
        self.rows: dict[str, BoardRow | None] = dict.fromkeys(names)
        """The boards by number; None for one that was removed."""
        self.data: dict[str, Mapping[str, Any]] = {}
        """What programs are told of the boards."""
        self.changed: set[str] = set()
        """The boards that have another state than at first, even if they look the same again."""
        self._ids: dict[str, str] = {}
        self._events = SimpleQueue[StreamEvent]()
        self.patience = 0.0
        """For how many seconds a server that does not answer is asked again."""
        missing = self.ask()
        if missing:
            raise Refused(missing)
        self.patience = PATIENCE_SECONDS
        self._is_closed = Event()
        self._response: http.client.HTTPResponse | None = None
        if server.token:
            Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        """Use the boards in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Listen no more."""
        self._is_closed.set()
        response = self._response
        if response:
            # AttributeError and ValueError: it has just ended by itself
            with (
                suppress(OSError, AttributeError, ValueError),
                socket.socket(fileno=os.dup(response.fileno())) as connection,
            ):
                connection.shutdown(socket.SHUT_RDWR)  # so that the thread that reads from it ends

    def ask(self) -> str:
        """Ask the server for the boards. Returns the sentences about those that are not there; empty if all are.

        Raises Refused, and NoAnswer if the server has not answered for a long time.
        """
        self._next_asking = time.monotonic() + ASKING_SECONDS
        answer = self.answer(f"{self.game} games {' '.join(self.rows)}")
        text = str(answer.data.get("error", ""))
        boards = answer.data.get("boards", [])
        if not answer.is_done and answer.code != 422:
            raise Refused(text)
        self.rows = dict.fromkeys(self.rows)
        for board_data in boards:
            self.note(board_data)
        if answer.is_done and None in self.rows.values():
            text = str(answer.data["reply"]).rpartition("\n\n")[2]
        return text

    def note(self, data: Mapping[str, Any]) -> None:
        """Note what programs are told of a board."""
        self.data[data["board"]] = data
        self.rows[data["board"]] = self._row(data)

    def answer(self, line: str, passwords: Sequence[str] = ()) -> RemoteAnswer:
        """The answer to a command, as soon as the server gives one. Raises NoAnswer."""
        end = time.monotonic() + self.patience
        while True:
            pause = ASKING_SECONDS
            try:
                answer = self.server.ask(line, passwords=passwords, as_json=True)
            except NoAnswer as why:
                if not why.may_pass or time.monotonic() >= end:
                    raise
            else:
                if answer.code not in {429, 503} or time.monotonic() >= end:
                    return answer
                pause = max(pause, answer.retry_after)
            time.sleep(min(pause, max(0.0, end - time.monotonic())))

    def wait(self, seconds: float) -> None:
        """Wait until something may have happened on one of the boards, but at most so long."""
        try:
            event = self._events.get(timeout=max(0.0, seconds))
        except Empty:
            event = None
        is_due = time.monotonic() >= self._next_asking and not self.rows.keys() <= self._ids.keys()
        is_lost = event is not None and event.kind == "lost"
        if is_lost:
            self._ids.clear()
        if is_due or is_lost:
            self.ask()
        elif event and event.data["game"] == self.game and event.data["board"] in self.rows:
            self._take(event)

    def _take(self, event: StreamEvent) -> None:
        """Note the state of a board that an event tells."""
        name = event.data["board"]
        if self._ids.get(name, event.id) != event.id:
            self.changed.add(name)
        self._ids[name] = event.id
        self.rows[name] = None
        if event.kind == "board":
            self.rows[name] = self._row(event.data)

    def _row(self, data: Mapping[str, Any]) -> BoardRow:
        """The row of a board with what is told of it, in an event or to programs."""
        players = data["players"]
        if isinstance(players, dict):
            players = list(players.values())
        return BoardRow(
            game=self.game,
            board=data["board"],
            options="",
            first_player=players[0],
            second_player=players[-1],
            secret=b"",
            started=LONG_AGO,
            moves=data["moves"],
            turn=data["turn"],
            ended=LONG_AGO if data["over"] else None,
            winner=data.get("winner"),
            vote=data.get("vote"),
            voter=data.get("voter"),
        )

    def _listen(self) -> None:
        """Put what the stream tells into the queue, until the boards are closed."""
        while not self._is_closed.is_set():
            with suppress(NoAnswer, ValueError):  # a ValueError is nothing that a pbm sends
                self._read_stream()
            self._is_closed.wait(AGAIN_SECONDS)
            self._events.put(StreamEvent("lost"))

    def _read_stream(self) -> None:
        """Put what one stream tells into the queue. Raises NoAnswer and ValueError."""
        with self.server.answering("GET", "/events", {}, STREAM_SECONDS, most_silence=MOST_SILENCE_SECONDS) as response:
            self._response = response
            if response.status != 200 or self._is_closed.is_set():
                return
            for event in events_of(response):
                self._events.put(event)

    def print(self, names: Sequence[str]) -> None:
        """Print some of the boards as they are now. Raises Refused and NoAnswer."""
        self.ask()
        rows = [row for name in names if (row := self.rows[name])]
        gone = [name for name in names if not self.rows[name]]
        print_boards(rows, [self.data[row.board] for row in rows], gone)


def events_of(response: http.client.HTTPResponse) -> Iterator[StreamEvent]:
    """The events of a stream. Raises ValueError if it is none of a pbm."""
    fields: dict[str, str] = {}
    for line in response:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if value:
            fields[name] = value
        elif fields:
            yield StreamEvent(fields.get("event", ""), fields.get("id", ""), json.loads(fields.get("data", "")))
            fields = {}


def wait_for_boards(server: Client, game: str, names: Sequence[str], until: str, timeout: float | None) -> None:
    """Wait as `pbm wait` does, and print the boards. Raises Refused and NoAnswer."""
    if pools := [name for name in names if is_pool(name)]:
        raise Refused(f"With PBM_SERVER one can wait for boards, but not for the pool {pools[0]!r} of a tournament.")
    with BoardsElsewhere(server, game, names) as boards:
        _wait_for(boards, until, timeout)


def _wait_for(boards: BoardsElsewhere, until: str, timeout: float | None) -> None:
    """Wait until that has happened on some of the boards, and print these. Raises Refused and NoAnswer."""
    end = time.monotonic() + timeout if timeout is not None else float("inf")
    before = {name: row for name, row in boards.rows.items() if row}
    happened = condition(until, list(before.values()))
    while True:
        names = [name for name, row in before.items() if happened(row, boards.rows[name])]
        if until == "change":
            names = [name for name in before if name in names or name in boards.changed]
        if names:
            boards.print(names)
            return
        left = end - time.monotonic()
        if left <= 0:
            raise Refused(f"Nothing has happened within {texts.counted(timeout or 0, 'second')}.")
        boards.patience = min(left, PATIENCE_SECONDS)
        boards.wait(min(left, ASKING_SECONDS))


def play_to_the_end(server: Client, game: str, board: str, userid: str, program: Program) -> None:
    """Let a program play as `pbm play` does, and print the board. Raises Refused and NoAnswer."""
    with BoardsElsewhere(server, game, [board]) as boards:
        row = boards.rows[board]
        if row:
            check_player(row, userid)
        run_until_terminated(_play(boards, board, userid, program))
        boards.print([board])


async def _play(boards: BoardsElsewhere, board: str, userid: str, program: Program) -> None:
    """Let a program play until the game is over, or the board removed. Raises Refused and NoAnswer."""
    async with program:
        await program.start()
        while (row := boards.rows[board]) and not row.ended:
            if row.turn == userid:
                await _take_turn(boards, row, userid, program)
            elif program.has_ended:
                raise Refused(NO_ANSWER)
            else:
                await asyncio.to_thread(boards.wait, PROGRAM_LOOK_SECONDS)


async def _take_turn(boards: BoardsElsewhere, row: BoardRow, userid: str, program: Program) -> None:
    """Let a program move, if it is still the user's turn. Raises Refused if it has failed too often, and NoAnswer.

    A move counts only as that number of the game, so whether it was made before an answer was lost does not matter.
    """
    if boards.data[row.board]["moves"] != row.moves:  # an event has no position
        await asyncio.to_thread(boards.ask)
        if boards.rows[row.board] != row:
            return
    server = boards.server
    passwords = [] if server.token else [server.password]
    question = json.dumps(boards.data[row.board]["position"], sort_keys=True)
    why = ""
    for _ in range(MOST_REFUSED):
        move = await program.ask(question)
        line = f"{row.game} move {row.board} {server.signed(userid)} {move}#{row.moves + 1}"
        answer = await asyncio.to_thread(boards.answer, line, passwords)
        if answer.is_done and answer.data.get("board") == row.board:
            boards.note(answer.data)
            return
        await asyncio.to_thread(boards.ask)
        now = boards.rows[row.board]
        if answer.is_done or now is None or contents(now) != contents(row):
            return
        why = " ".join(str(answer.data.get("error", "")).split())
        if answer.code not in REFUSALS:
            raise Refused(why)
        question = f"? {why}"
    raise Refused(f"{MOST_REFUSED} moves of the program in a row were refused. The last one: {why}")
