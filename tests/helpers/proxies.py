"""Servers that answer badly, and a proxy that cuts connections: what a client has to live with.

with answering(b"HTTP/1.1 200 OK\\r\\n\\r\\n") as bad:
    shell.refused("list", PBM_SERVER=bad.url, status=3)
assert len(bad.requests) == 1
"""

import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ssl import SSLContext

PIECE = 65536


class Peer:
    """A socket that listens, and what came in by it."""

    def __init__(self, context: SSLContext | None = None) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.context = context
        self.requests: list[bytes] = []
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http{'s' if self.context else ''}://localhost:{self.port}"

    def accept(self, handle: Callable[[socket.socket], None]) -> None:
        """Handle connections, each in a thread, until the socket is closed."""
        with suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                self.connections += 1
                threading.Thread(target=self._handle, args=[connection, handle], daemon=True).start()

    def _handle(self, connection: socket.socket, handle: Callable[[socket.socket], None]) -> None:
        with suppress(OSError), connection:
            if self.context:
                with self.context.wrap_socket(connection, server_side=True) as encrypted:
                    handle(encrypted)
            else:
                handle(connection)


@contextmanager
def listening(peer: Peer, handle: Callable[[socket.socket], None]) -> Iterator[Peer]:
    """Let a peer handle connections."""
    threading.Thread(target=peer.accept, args=[handle], daemon=True).start()
    try:
        yield peer
    finally:
        with suppress(OSError):
            peer.listening.shutdown(socket.SHUT_RDWR)
        peer.listening.close()


def request_of(connection: socket.socket) -> bytes:
    """A whole request."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += _some(connection)
    head, _, body = raw.partition(b"\r\n\r\n")
    lengths = [int(line.partition(b":")[2]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"]
    while lengths and len(body) < lengths[0]:
        body += _some(connection)
    return head + b"\r\n\r\n" + body


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(PIECE)
    if not data:
        raise ConnectionError
    return data


@contextmanager
def answering(
    *responses: bytes, context: SSLContext | None = None, then: threading.Event | None = None
) -> Iterator[Peer]:
    """Answer each request with the next of these bytes, or with the last; and end the connection, perhaps later."""
    peer = Peer(context)

    def handle(connection: socket.socket) -> None:
        peer.requests.append(request_of(connection))
        connection.sendall(responses[min(len(peer.requests), len(responses)) - 1])
        if then:
            then.wait()

    with listening(peer, handle):
        yield peer


@contextmanager
def cutting(port: int, decide: Callable[[random.Random], float], seed: int = 1) -> Iterator[Peer]:
    """A proxy to a port of this machine, which cuts connections.

    For each connection it decides how much to pass on: from 0 to 1 that part of a kilobyte of the request, from 1 to 2
    the whole request and a part of a kilobyte of the response, from 2 on all.
    """
    peer = Peer()
    rng = random.Random(seed)

    def handle(connection: socket.socket) -> None:
        share = decide(rng)
        raw = request_of(connection)
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.sendall(raw if share >= 1 else raw[: int(share * 1000)])
            if share < 1:
                return
            left = PIECE * PIECE if share >= 2 else int((share - 1) * 1000)
            while left and (data := server.recv(min(PIECE, left))):
                connection.sendall(data)
                left -= len(data)

    with listening(peer, handle):
        yield peer
