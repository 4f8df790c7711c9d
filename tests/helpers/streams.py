"""Streams of events as a program reads them.

    with reading(web, **bearer) as events:
        assert next(events).data["board"] == "101"

Without a server, `Listener` collects what a stream sends.
"""

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pbm.service.events import EventReader, Stream, Streams

from helpers.patience import PATIENCE
from helpers.web import AS_JSON, FORM, Served


class Event(NamedTuple):
    """An event, or a comment, which has no kind."""

    kind: str
    id: str
    data: dict[str, Any]


def event_of(text: str) -> Event:
    """An event as it was sent, without the empty line behind it."""
    fields = dict(line.split(": ", 1) for line in text.splitlines() if line != ":")
    assert [*fields] in (["event", "id", "data"], ["event", "data"], [])
    return Event(fields.get("event", ""), fields.get("id", ""), json.loads(fields.get("data", "{}")))


def events_in(text: str) -> list[Event]:
    """The events of a stream."""
    return [event_of(part) for part in text.split("\n\n") if part]


@contextmanager
def reading(web: Served, token: str = "", place: str = "", **headers: str) -> Iterator["OpenStream"]:
    """An open stream of a server: for the reply address or the device of a page, or for a program."""
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        if token:
            form = {"Content-Type": FORM} | AS_JSON
            game, _, board = place.partition(" ")
            fields = {"token": token, "game": game, "board": board}
            connection.request("POST", "/events", urlencode(fields), form | headers)
        else:
            connection.request("GET", "/events", headers=headers)
        yield OpenStream(connection.getresponse())
    finally:
        connection.close()


class OpenStream:
    """The events of an open stream; comments are left out."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.response = response
        self.status = response.status

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        while True:
            lines = []
            while line := self.response.readline().decode().rstrip("\n"):
                lines.append(line)
            if not lines:
                raise StopIteration
            if lines != [":"]:
                return event_of("\n".join(lines))

    def is_over(self) -> bool:
        """Whether the stream ends here, and properly."""
        return self.response.read() == b""


class Transport:
    """The transport of a listener."""

    def __init__(self) -> None:
        self.is_aborted = False
        self.options: dict[int, int] = {}
        """What its socket was told, by the names of the options."""

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_aborted

    def set_write_buffer_limits(self, high: int) -> None:
        """Have no buffer."""

    def get_extra_info(self, _: str) -> "Transport":
        return self

    def setsockopt(self, _: int, option: int, value: int) -> None:
        """Have no socket, but know what it would be told."""
        self.options[option] = value

    def getpeername(self) -> tuple[str, int]:
        return "127.0.0.1", 1

    getsockname = getpeername

    def close(self) -> None:
        """Send nothing more, and wait for the other side."""


class Listener:
    """Collects what a stream sends, and is its connection."""

    def __init__(self) -> None:
        self.transport: Any = Transport()
        self.text = ""
        self.has_ended = asyncio.Event()
        self.reads = asyncio.Event()
        """Set as long as it reads what comes."""
        self.reads.set()

    def become_stream(self) -> None:
        """Be a connection."""

    def open(self, streams: Streams, reader: EventReader, last_id: str = "") -> Stream:
        """Open a stream, and begin to listen."""
        stream = streams.open_stream(reader, last_id, self)
        self.task = asyncio.create_task(stream({}, self._receive, self._send))
        return stream

    async def _receive(self) -> Any:
        await self.has_ended.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        self.text += message.get("body", b"").decode()
        if message["type"] == "http.response.body" and not message["more_body"]:
            self.has_ended.set()

    async def hang_up(self) -> None:
        """End the stream as its reader does."""
        self.has_ended.set()
        await self.task


async def settle() -> None:
    """Let what is begun go on until it waits for something else."""
    for _ in range(20):
        await asyncio.sleep(0)
