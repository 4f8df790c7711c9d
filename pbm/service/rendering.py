"""A process that makes the answers for pages: boards are replayed and drawn there, not in the server.

In a thread of the server, this would take turns with mails and with all else that the server does in Python.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pbm.passwords import Passwords
from pbm.server import Server
from pbm.store import Store


class Renderer:
    """Calls functions in a process of its own, with a server that can only read."""

    def __init__(self, server: Server) -> None:
        """Begin without a process."""
        self._path = server.store.path
        self._settings = {name: value for name, value in server._asdict().items() if name not in {"store", "passwords"}}
        self._pool: ProcessPoolExecutor | None = None
        self._begun: Future[bool] | None = None

    def start(self) -> None:
        """Start the process, before there is a page that waits for it."""
        context = multiprocessing.get_context("spawn")  # a fork would have the locks of threads that it lacks
        self._pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(self._path, self._settings))
        self._begun = self._pool.submit(_has_begun)

    async def call(self, function: Callable[..., Any], *args: object, seconds: float) -> Any:
        """The result of a function that gets a server, which can only read, and these arguments.

        Raises TimeoutError after so many seconds, counted from the start of the process. Raises BrokenProcessPool if
        the process has ended: then the next call has another one.
        """
        if self._pool is None or self._begun is None:
            raise BrokenProcessPool("The process has not been started.")
        pool = self._pool
        try:
            await asyncio.shield(asyncio.wrap_future(self._begun))
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(_call, function, args)), seconds)
        except BrokenProcessPool:
            if self._pool is pool:
                self.start()
            raise

    def close(self) -> None:
        """End the process as soon as it has done what it has in hand."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)


_servers: list[Server] = []
"""In the process itself: the server with which it reads."""


def _begin(path: Any, settings: dict[str, Any]) -> None:
    """Open the database, and end with the process that has started this one, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _servers.append(Server(Store(path, read_only=True), passwords=Passwords(), **settings))


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(0)


def _has_begun() -> bool:
    return True


def _call(function: Callable[..., Any], args: tuple[object, ...]) -> Any:
    [server] = _servers
    return function(server, *args)
