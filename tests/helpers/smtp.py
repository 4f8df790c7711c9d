"""A server of SMTP that handles nothing: it lists what was handed in, and answers what it is told.

    with kept() as keeper:
        keeper.reply = smtp.Answer("451 4.3.0 Try again", Outcome("failed"))

The tests then talk to ``keeper.port``; what was handed in is in ``keeper.deliveries``.
"""

import asyncio
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial

from pbm.mail import smtp
from pbm.mail.incoming import Outcome, is_ours

from helpers.mail import ADDRESS
from helpers.patience import PATIENCE


class Keeper:
    """A server that does nothing but to list what was handed in."""

    def __init__(self, kind, tls=None):
        self.deliveries = []
        self.reply = smtp.Answer("250 2.0.0 Done", Outcome("command"))
        self.goes_on = asyncio.Event()
        """Whether what is handed in is handled, and not only held."""
        self.goes_on.set()
        self.connections = None
        self.kind, self.tls = kind, tls
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)

    async def open(self):
        """Begin to listen."""
        self.connections = smtp.Connections(self.is_known, self.handle, smtp.Journal(partial(datetime.now, UTC)).note)
        listener = await self.loop.create_server(
            lambda: self.kind(self.connections, "pbm.example", self.tls), "127.0.0.1", 0
        )
        self.port = listener.sockets[0].getsockname()[1]

    async def is_known(self, recipient):
        """Whether a recipient is an address of the server."""
        return is_ours(recipient, ADDRESS)

    async def handle(self, delivery):
        """List what was handed in, and answer as was told."""
        await self.goes_on.wait()
        self.deliveries.append(delivery)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    def run(self, coroutine):
        """Wait for something that the server does in its own thread, and return what comes of it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE)

    def go_on(self):
        """Let what was held be handled."""
        self.loop.call_soon_threadsafe(self.goes_on.set)


@contextmanager
def kept(kind=smtp.Connection, tls=None):
    """Such a server on a free port of the loopback, until the end of the block; connections are of that kind."""
    keeper = Keeper(kind, tls)
    keeper.thread.start()
    try:
        keeper.run(keeper.open())
        yield keeper
        keeper.run(keeper.connections.close())
    finally:
        keeper.loop.call_soon_threadsafe(keeper.loop.stop)
        keeper.thread.join()
        keeper.loop.close()
