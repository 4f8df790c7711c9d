"""Server-Sent Events: a program hears of all boards of its user, and a page of its own board.

One task looks for changes for all streams. A stream keeps only what was not yet sent to its reader: the latest state of
each board. So a slow reader costs as little as a fast one.
"""

import asyncio
import json
import resource
import socket
from collections import defaultdict
from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from pbm import letters
from pbm.access import tokens
from pbm.actions.talk import sees_chats
from pbm.mail import posts
from pbm.refusals import Refused
from pbm.server import Server
from pbm.store import BoardState, Reply, Store, Unusable
from pbm.terminal import warn

CHANGE_LOOK_SECONDS = 0.05
"""How long it may take until a change is noticed."""
COMMENT_SECONDS = 15
"""How often a stream has a line, so that proxies and readers see that it is alive."""
UNREAD_SECONDS = 20
"""How long a reader may leave what is sent unread, before the stream is dropped."""
MOST_STREAMS = 1000
"""How many streams all readers may have."""
MOST_USER_STREAMS = 5
MOST_AT_ONCE = 20
"""How many events are written at once, about 5 kB."""
BUFFER_BYTES = 16 * 1024
"""How much of a stream may wait in the system, and about as much here, until its reader reads on."""
SILENT_SECONDS = 60
"""After how long a connection ends if the other side no longer confirms what is sent."""
OTHER_FILES = 500
"""How many open files the process may need besides its streams."""
RETRY = {"Retry-After": "60"}
RESPONSE_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"connection", b"close"),
    (b"x-accel-buffering", b"no"),  # nginx would keep events back
]
EMPTY_COMMENT = b":\n\n"


class EventReader(NamedTuple):
    """Who reads a stream."""

    userid: str
    proof: str
    """The SHA-256 of a token, or the reply address of a page."""
    place: tuple[str, str] | None = None
    """The game and number of the board of a page; None for a program, which hears of all boards of its user."""
    device: str = ""
    """The SHA-256 of the token of a browser by which its user was known; empty if a reply address proves them."""


class StreamConnection(Protocol):
    """The connection of a stream."""

    transport: asyncio.Transport

    def become_stream(self) -> None:
        """Count no more among the other connections, and live longer than they do."""


def reader_with_token(server: Server, secret: str, machine: str | None) -> EventReader:
    """The reader for a program that shows a token. Raises WrongPassword, and TooMany."""
    token = posts.use_token(server, secret, machine)
    return EventReader(token.userid, tokens.digest(secret))


def reader_of_page(server: Server, token: str) -> EventReader | None:
    """The reader of a page, by its reply address; None if it is none. Raises Refused if the board was removed."""
    address = tokens.address_with(server, token)
    reply = _reply_at(server, address)
    if reply is None:
        return None
    if server.store.boards.was_removed(reply.game, reply.board):
        raise Refused("This board has been removed.")
    return EventReader(reply.userid, address, (reply.game, reply.board))


def _reply_at(server: Server, address: str) -> Reply | None:
    meaning = tokens.meaning(server, address)
    if meaning is None or meaning.kind != tokens.REPLY:
        return None
    return meaning.reply


class Stream:
    """An open stream: the response to a request, as an application of ASGI."""

    def __init__(self, streams: "Streams", reader: EventReader, connection: StreamConnection) -> None:
        """Begin with nothing to send."""
        self.streams = streams
        self.reader = reader
        self.connection = connection
        self.send: Send | None = None
        """Sends a part of the response; None before it has begun, and after its end."""
        self.waiting: dict[tuple[str, str], bytes] = {}
        """The events that wait to be sent, by their boards, in the order of their numbers."""
        self.last = b""
        """The last event of the board of a page."""
        self.is_comment_due = False
        self.is_ending = False
        self.is_sending = False
        self.writing: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until either side ends the stream."""
        try:
            await send({"type": "http.response.start", "status": 200, "headers": RESPONSE_HEADERS})
            self.send = send
            self.write()
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self.streams.remove(self)
            if self.writing:
                self.writing.cancel()

    def add(self, place: tuple[str, str], event: bytes) -> None:
        """Have an event sent; it replaces an earlier one of that board that still waits."""
        self.waiting.pop(place, None)
        self.waiting[place] = event
        self.write()

    def comment(self) -> None:
        """Have a comment line sent."""
        self.is_comment_due = True
        self.write()

    def end(self) -> None:
        """End the stream as soon as what waits is sent."""
        self.is_ending = True
        self.write()

    def cut(self) -> None:
        """End the stream now. What waits is not sent."""
        self.waiting.clear()
        self.end()
        if self.is_sending:
            self.connection.transport.abort()

    def write(self) -> None:
        """Begin to send what waits, unless that goes on already."""
        if self.send and not self.writing:
            self.writing = asyncio.get_running_loop().create_task(self._write(self.send))

    async def _write(self, send: Send) -> None:
        try:
            # uvicorn writes on to a connection that is lost, and asyncio logs each time
            while (self.waiting or self.is_comment_due) and not self.connection.transport.is_closing():
                await self._send(send, self._next_part(), is_last=False)
            if self.is_ending:
                self.send = None
                await self._send(send, b"", is_last=True)
        except TimeoutError:
            self.connection.transport.abort()
        finally:
            self.writing = None

    def _next_part(self) -> bytes:
        """Take the next events out of those that wait."""
        places = list(self.waiting)[:MOST_AT_ONCE]
        part = b"".join(self.waiting.pop(place) for place in places)
        if self.is_comment_due:
            part += EMPTY_COMMENT
        self.is_comment_due = False
        return part

    async def _send(self, send: Send, body: bytes, *, is_last: bool) -> None:
        """Send a part as soon as the reader has read enough of what is sent. Raises TimeoutError."""
        self.is_sending = True
        async with asyncio.timeout(UNREAD_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": not is_last})
        self.is_sending = False


class Streams:
    """All open streams."""

    def __init__(self, server: Server) -> None:
        """Open a connection of its own to the database: only that notices what all others have changed."""
        self.store = Store(server.store.path, read_only=True)
        self.server = server._replace(store=self.store)
        self.open: dict[Stream, float] = {}
        """The streams, and when the next comment of each is due; the next one first."""
        self.of_user: dict[str, set[Stream]] = defaultdict(set)
        """The streams of programs."""
        self.of_board: dict[tuple[str, str], set[Stream]] = defaultdict(set)
        """The streams of pages."""
        self.has_streams = asyncio.Event()
        self.is_closing = False
        events = self.store.events
        database = f"{events.last_maintenance('begun')} {events.last_maintenance('restored')}"
        self.generation = blake2b(database.encode(), digest_size=4).hexdigest()
        """Another one when the database was restored: then numbers that were sent before mean nothing."""
        self._begin()

    def _begin(self) -> None:
        """Hear only of what changes from now on."""
        with self.store.reading():
            self.version = self.store.data_version()
            self.number = self.store.states.last_number()
            self.seen = self.store.changes.seen()

    async def run(self) -> None:
        """Send what changes, until `close`."""
        while not self.is_closing:
            await self.has_streams.wait()
            await asyncio.sleep(CHANGE_LOOK_SECONDS)
            try:
                self.look()
            except Unusable as why:
                warn(f"Events cannot be read: {why}")
                self._cut_all()  # their readers come again, and miss nothing
            self._send_comments()
        self.store.close()

    def close(self) -> None:
        """End all streams, and take no more."""
        self.is_closing = True
        self.has_streams.set()
        self._cut_all()

    def _cut_all(self) -> None:
        for stream in list(self.open):
            stream.cut()

    def open_stream(self, reader: EventReader, last_id: str, connection: StreamConnection) -> Stream:
        """Open a stream. Raises HTTPException if there are too many."""
        if self.is_closing or len(self.open) >= MOST_STREAMS:
            raise HTTPException(503, "There are too many streams; please try again later.", RETRY)
        if sum(stream.reader.userid == reader.userid for stream in self.open) >= MOST_USER_STREAMS:
            raise HTTPException(429, f"{reader.userid} has {MOST_USER_STREAMS} streams already.", RETRY)
        stream = Stream(self, reader, connection)
        with self.store.reading():  # one state of the database: nothing is missed, and nothing sent twice
            if self.open:
                self.look()
            else:
                self._begin()
            if not self._is_proved(reader):
                raise HTTPException(403, "This has just ended.")
            self._add_first_events(stream, last_id)
        _prepare(connection)
        self._listeners(reader).add(stream)
        self.open[stream] = asyncio.get_running_loop().time() + COMMENT_SECONDS
        self.has_streams.set()
        return stream

    def remove(self, stream: Stream) -> None:
        """Forget a stream that has ended."""
        del self.open[stream]
        self._listeners(stream.reader).discard(stream)
        if not self.open and not self.is_closing:
            self.of_user.clear()
            self.of_board.clear()
            self.has_streams.clear()

    def _listeners(self, reader: EventReader) -> set[Stream]:
        """The streams that get the same events, except for what their readers may see of the talk."""
        return self.of_board[reader.place] if reader.place else self.of_user[reader.userid]

    def _is_proved(self, reader: EventReader) -> bool:
        """Whether the tokens and the reply address of a reader still hold."""
        now = self.server.now()
        if reader.device and self.store.trust.token(reader.device, now) is None:
            return False
        if reader.place:
            return _reply_at(self.server, reader.proof) is not None
        return self.store.trust.token(reader.proof, now) is not None

    # What is sent

    def _add_first_events(self, stream: Stream, last_id: str) -> None:
        """Have the present state of its boards sent to a new stream, or what its reader has missed since an event."""
        reader = stream.reader
        if reader.place:
            self._add_page_event(stream, reader.place)
            return
        since = self._number_in(last_id)
        if since is None:
            states = self.store.states.active_of_user(reader.userid)
        else:
            states = self.store.states.of_user_since(reader.userid, since)
        for state in states:
            stream.add(state.place, self._event(state))

    def _number_in(self, last_id: str) -> int | None:
        """The number in the id of an event; None if it is none of this database."""
        generation, _, number = last_id.rpartition("-")
        if generation != self.generation or not (number.isascii() and number.isdecimal()) or len(number) > 18:
            return None
        if int(number) > self.number:  # of a copy of the database that had gone on
            return None
        return int(number)

    def look(self) -> None:
        """Have sent what has changed since the last look. Raises Unusable."""
        with self.store.reading():
            version = self.store.data_version()
            if version == self.version:
                return
            states = self.store.states.since(self.number)
            changes = self.store.changes.since(self.seen)
            for state in states:
                self._send_state(state)
            places = {state.place for state in states}
            places |= {(change.game, change.name) for change in changes if change.kind == "board"}
            for place in places & self.of_board.keys():
                for stream in list(self.of_board[place]):
                    self._add_page_event(stream, place)
            self._cut_unproved({change.name for change in changes if change.kind == "proof"})
            self.version = version
            self.number = self.store.states.last_number()
            self.seen = self.store.changes.seen()

    def _send_state(self, state: BoardState) -> None:
        """Send the new state of a board to the programs of its players."""
        streams = self.of_user.get(state.first_player, set()) | self.of_user.get(state.second_player, set())
        if streams:
            event = self._event(state)
            for stream in streams:
                stream.add(state.place, event)

    def _add_page_event(self, stream: Stream, place: tuple[str, str]) -> None:
        """Have the present state of its board sent to a page, if that is not what was sent last."""
        state = self.store.states.get(*place)
        row = self.store.boards.get(*place)
        if state is None or row is None:
            game, board = place
            stream.add(place, _event_text("gone", "", {"game": game, "board": board}))
            stream.end()
            return
        userid = stream.reader.userid
        newest = self.store.talk.newest(
            *place, with_chats=sees_chats(row, userid), without=self.store.users.blocked_by(userid)
        )
        event = self._event(state, talk=newest)
        if event != stream.last:
            stream.last = event
            stream.add(place, event)

    def _event(self, state: BoardState, **more: object) -> bytes:
        """The event with the state of a board, and what else a page is told."""
        event_id = f"{self.generation}-{state.number}"
        if state.moves is None:
            return _event_text("gone", event_id, {"game": state.game, "board": state.board})
        return _event_text("board", event_id, letters.state_of(state) | more)

    def _cut_unproved(self, userids: Collection[str]) -> None:
        """End those streams of these users for which the token or the reply address has ended."""
        if not userids:
            return
        for stream in list(self.open):
            if stream.reader.userid in userids and not self._is_proved(stream.reader):
                stream.cut()

    def _send_comments(self) -> None:
        """Send a comment to each stream that is due for one."""
        now = asyncio.get_running_loop().time()
        while self.open:
            stream, due = next(iter(self.open.items()))
            if due > now:
                return
            del self.open[stream]
            self.open[stream] = now + COMMENT_SECONDS
            stream.comment()


def _event_text(kind: str, event_id: str, data: Mapping[str, Any]) -> bytes:
    """An event as it is sent, for example ``event: board``, then its id and its data, each on a line."""
    lines = [f"event: {kind}"]
    if event_id:
        lines.append(f"id: {event_id}")
    lines.append(f"data: {json.dumps(data)}")
    text = "\n".join(lines)
    return f"{text}\n\n".encode()


def _prepare(connection: StreamConnection) -> None:
    """Keep little of what a reader has not read, and notice one that is gone."""
    connection.become_stream()
    transport = connection.transport
    transport.set_write_buffer_limits(high=BUFFER_BYTES)
    connected: socket.socket = transport.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * SILENT_SECONDS)


def allow_open_files() -> None:
    """Let this process have as many files open as the streams need, if the system lets it; 1024 are usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_STREAMS + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
