"""A connection of the web server. Its time is limited, and so is the number of connections of each machine."""

import asyncio
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbm.mail.smtp import MOST_CONNECTIONS, MOST_PEER_CONNECTIONS
from pbm.service.requests import REQUEST_SECONDS, origin_of

if TYPE_CHECKING:
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

RESPONSE_SECONDS = 60
"""How long a connection may take what it is sent, behind the REQUEST_SECONDS in which it may take requests."""


class WebConnection(H11Protocol):
    """A connection with a limited time; each machine has a limited number of them.

    uvicorn would wait for ever for a request, and for a peer that does not read.
    """

    origin = ""
    """The machine or network that it comes from; once a request has come by a proxy, the one that the proxy names."""
    is_stream = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Bound the time of a connection, or close it if there are too many."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.app_state = {"connection": self}  # a request finds it in its state
        self.origin = origin_of(self._peer)
        self.begun = self.loop.time()
        self.loop.call_later(REQUEST_SECONDS, self._end)
        if not self.make_room():
            self.cut()

    def become_stream(self) -> None:
        """Count no more among the connections, and stay open as long as both sides like."""
        self.is_stream = True

    def make_room(self) -> bool:
        """Check that there is room for this connection. Returns False if there is none.

        One machine loses its oldest connection that has not sent its whole request. It is the machine that has too
        many, or the one with the most if there are too many in all. So many open connections that send nothing keep
        nobody else out.
        """
        connections = [connection for connection in self._all() if not connection.is_stream]
        counts = Counter(connection.origin for connection in connections)
        if counts[self.origin] > MOST_PEER_CONNECTIONS and not self._is_of_unnamed_peer():
            crowded = self.origin
        elif len(connections) > MOST_CONNECTIONS:
            [(crowded, _)] = counts.most_common(1)
        else:
            return True
        waiting = [connection for connection in connections if connection.origin == crowded and connection.is_waiting()]
        oldest = min(waiting, key=attrgetter("begun"), default=self)
        if oldest is self:
            return False
        oldest.cut()
        return True

    def is_waiting(self) -> bool:
        """Whether it waits for a request, or for the rest of one."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _all(self) -> "set[WebConnection]":
        return cast("set[WebConnection]", self.connections)

    def _is_of_unnamed_peer(self) -> bool:
        """Whether it comes by a proxy that has not said from which machine, or not yet."""
        trusted = cast("ProxyHeadersMiddleware", self.app).trusted_hosts
        return self._peer in trusted and self.origin == origin_of(self._peer)

    @property
    def _peer(self) -> str:
        return self.client[0] if self.client else ""

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; or end the connection if a response has begun, where uvicorn itself would fail."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def cut(self) -> None:
        """End the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _end(self) -> None:
        """Take no more requests, and end the connection when its response is there, or soon in any case."""
        if self in self.connections and not self.is_stream:
            self.shutdown()
            self.loop.call_later(RESPONSE_SECONDS, self._end_late)

    def _end_late(self) -> None:
        """End the connection of a peer that has not read its response, unless it has become a stream."""
        if not self.is_stream:
            self.transport.abort()
