"""Where notices go in tests: a program that takes webhooks, and a server that takes what Apprise posts for ntfy.

with listening(certificate) as taken:
    ...
    assert taken.posts[0].message["notice"] == "turn"
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from helpers.servers import loaded


class Posted(NamedTuple):
    """A request that came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """What it says, in JSON."""
        return json.loads(self.body)


class Taken:
    """A server, and what was posted there."""

    def __init__(self) -> None:
        self.posts: list[Posted] = []
        self.port = 0
        self.status = 200
        """What it answers."""
        self.location = ""
        """Where it sends who asks, if anywhere."""
        self.before_answer: Callable[[], object] = lambda: None
        self.is_endless = False
        """Whether its answer goes on until nobody reads it."""


class QuietServer(ThreadingHTTPServer):
    """A server that says nothing of clients who have not waited."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def listening(certificate=None, host="127.0.0.1") -> Iterator[Taken]:
    """A server that takes posts, by TLS if it has a certificate."""
    taken = Taken()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.posts.append(Posted(self.path, dict(self.headers), body))
            taken.before_answer()
            self.send_response(taken.status)
            if taken.location:
                self.send_header("Location", taken.location)
            if not taken.is_endless:
                self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            with suppress(OSError):
                while taken.is_endless:
                    self.wfile.write(b" " * 1_000_000)

        def do_PUT(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    server = QuietServer((host, 0), Handler)
    server.daemon_threads = True
    if certificate:
        server.socket = loaded(certificate).wrap_socket(server.socket, server_side=True)
    taken.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
