"""Where the server listens for mails, and its certificate."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pbm.disk import reason
from pbm.mail.smtp import Connection
from pbm.names import is_host
from pbm.refusals import refusing_os_errors
from pbm.terminal import warn


class Endpoint(NamedTuple):
    """Where the server listens: at a port, or at a socket in the file system."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        """The endpoint as it is written."""
        if self.path:
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def endpoint(text: str) -> Endpoint | None:
    """The endpoint that a text names: ``HOST:PORT``, ``[IPV6]:PORT`` or ``unix:PATH``; None if it names none."""
    if text.startswith("unix:/"):
        return Endpoint(path=text.removeprefix("unix:"))
    host, colon, port = text.rpartition(":")
    if not (colon and is_host(host) and port.isascii() and port.isdecimal() and int(port) < 65536):
        return None
    return Endpoint(host.strip("[]"), int(port))


class Certificate:
    """A certificate for STARTTLS, which is read again when its files have changed."""

    def __init__(self, certificate: str, key: str) -> None:
        """Read the files. Raises OSError if they are no certificate and its key."""
        self.files = certificate, key
        self.seen = self._times()
        self.context = tls(*self.files)

    def reload(self) -> None:
        """Use the files as they are now for all connections to come, if they have changed and can be used."""
        try:
            if (times := self._times()) == self.seen:
                return
            self.seen = times
            tls(*self.files)  # what cannot be used must not replace what can
            self.context.load_cert_chain(*self.files)
        except OSError as error:
            warn(f"The certificate cannot be read again: {reason(error)}. The old one stays in use.")
        else:
            warn("The certificate was read again, because it has changed.")

    def _times(self) -> list[int]:
        """When the files were changed; 0 for one that is not there."""
        return [Path(file).stat().st_mtime_ns if Path(file).exists() else 0 for file in self.files]


def tls(certificate: str, key: str) -> ssl.SSLContext:
    """What STARTTLS needs. Raises OSError if the files are no certificate and its key."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


async def listen_at(connect: Callable[[], Connection], where: Endpoint) -> tuple[asyncio.Server, Endpoint]:
    """Begin to take connections. Returns the listener, and its endpoint with the port that it got. Raises Refused."""
    loop = asyncio.get_running_loop()
    with refusing_os_errors(f"The server cannot listen on {where}"):
        if where.path:
            return await loop.create_unix_server(connect, sock=_bound_socket(where.path)), where
        listener = await loop.create_server(connect, where.host, where.port)
        return listener, where._replace(port=listener.sockets[0].getsockname()[1])


def close_listener(listener: asyncio.Server, where: Endpoint) -> None:
    """Take no more connections, and remove the socket from the file system."""
    listener.close()
    if where.path:
        Path(where.path).unlink(missing_ok=True)


def _bound_socket(path: str) -> socket.socket:
    """A socket in the file system, for its owner and group, which replaces one that a killed server has left."""
    made = socket.socket(socket.AF_UNIX)
    with socket.socket(socket.AF_UNIX) as probe:
        if probe.connect_ex(path) == 0:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    if Path(path).is_socket():
        Path(path).unlink()
    before = os.umask(0o117)
    try:
        made.bind(path)
    finally:
        os.umask(before)
    return made
