"""The mail server: takes commands by SMTP or LMTP, and runs processes that send what is in the outbox, and play."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import CDLL
from functools import partial
from typing import TYPE_CHECKING

from pbm.mail.sending import SENDER
from pbm.mail.smtp import Connection, Connections, Entry, LMTPConnection
from pbm.server import Server
from pbm.service.listening import Certificate, Endpoint, close_listener, listen_at
from pbm.service.main_thread import MainThread, Receiver
from pbm.service.processes import HOOKS, NOTIFIER, PLAYER, SITE, Helper, Service
from pbm.terminal import warn

if TYPE_CHECKING:
    from pbm.service.web import WebServer

HELPER_SECONDS = 3
"""How long a helper has to end; a mail server that says nothing must not hold up ours."""
WATCH_SECONDS = 2.0
"""Seconds between two looks at the database, at the certificate, and whether the main thread hangs."""
M_MMAP_THRESHOLD = -3
"""The parameter of glibc's mallopt for what is so large that it is given back to the system as soon as it is freed."""
LARGE_BYTES = 128 * 1024
"""glibc's first value of M_MMAP_THRESHOLD. It raises it with each mail that is larger, up to 32 MB."""


def give_back_memory() -> None:
    """Let the C library give back the memory of large mails as soon as they are gone."""
    with suppress(AttributeError):  # only glibc keeps it, and has this function
        CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


async def serve(
    server: Server,
    where: Endpoint,
    thread: MainThread,
    *,
    note: Callable[[Entry], None],
    lmtp: bool = False,
    certificate: Certificate | None = None,
    robots: int = 0,
    site: Sequence[str] = (),
    web: "WebServer | None" = None,
) -> None:
    """Serve until the process is told to end. The main *thread* handles each mail; *note* gets it with its outcome.

    So many processes play for *robots*; one writes a *site*, if the words of that command are given. What is posted to
    the *web* server is handled like a mail. Raises Refused if nobody can listen there, and Replaced if the database has
    become another file.
    """
    loop = asyncio.get_running_loop()
    service = Service(server.store)
    helpers = _helpers(service, robots, site, has_notices=bool(server.notice_kinds))
    await asyncio.wrap_future(thread.submit(_end_on_signals, service, loop))

    async def watch() -> None:
        while True:
            service.check_database()
            if certificate:
                certificate.reload()
            if not thread.hangs:
                in_hand = f"{len(connections.open)} connections, {len(connections.handling)} mails in hand."
                _tell_systemd("WATCHDOG=1", f"STATUS={in_hand}")
            await asyncio.sleep(WATCH_SECONDS)

    give_back_memory()
    receiver = Receiver(server, thread)
    connections = Connections(receiver.is_known, receiver.handle, note)
    protocol = LMTPConnection if lmtp else Connection
    context = certificate.context if certificate else None
    connect = partial(protocol, connections, server.host, context)
    listener, where = await listen_at(connect, where)
    helping = [loop.create_task(helper.run()) for helper in helpers]
    watching = loop.create_task(watch())
    posting = []
    if web:
        posting.append(loop.create_task(web.run(connections, receiver.work)))
    sys.stdout.write(f"listening on {where}\n")
    sys.stdout.flush()
    _tell_systemd("READY=1", f"STATUS=Listening on {where}.")
    await service.ended.wait()
    _tell_systemd("STOPPING=1")
    watching.cancel()
    close_listener(listener, where)
    if web:
        web.close()
    await connections.close()
    await asyncio.gather(*posting)
    await _end(helpers, helping)
    _leave(server, connections, service)


def _helpers(service: Service, robots: int, site: Sequence[str], *, has_notices: bool) -> list[Helper]:
    """The processes that work in addition to this one."""
    helpers = [Helper(SENDER, "sends mail", service), Helper(HOOKS, "runs hooks", service)]
    if has_notices:
        helpers.append(Helper(NOTIFIER, "sends notices", service))
    helpers += [Helper(PLAYER, "plays for robots", service) for _ in range(robots)]
    if site:
        helpers.append(Helper(SITE + tuple(site), "writes the site", service))
    return helpers


async def _end(helpers: Sequence[Helper], helping: Sequence[asyncio.Task[None]]) -> None:
    """Let processes end what they have in hand, and kill those that take too long."""
    for helper in helpers:
        helper.end()
    await asyncio.wait(helping, timeout=HELPER_SECONDS)
    for helper in helpers:
        helper.kill()
    await asyncio.wait(helping)


def _end_on_signals(service: Service, loop: asyncio.AbstractEventLoop) -> None:
    """Let the service end when the process is told to; in the main thread, which alone hears of it."""

    def end(*_: object) -> None:
        with suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(service.ended.set)

    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, end)


def _tell_systemd(*lines: str) -> None:
    """Tell systemd something, such as ``READY=1``, if it has asked for that (sd_notify(3)).

    Whether it listens does not matter.
    """
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    if path.startswith("@"):  # a socket without a name in the file system
        path = f"\0{path[1:]}"
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.settimeout(0)
        out.sendto("\n".join(lines).encode(), path)


def _leave(server: Server, connections: Connections, service: Service) -> None:
    """Close the database, and end. Raises Replaced if it has become another file."""
    if connections.handling:
        warn("Mails in hand were given up; they were not acknowledged, and will come again.")
        status = 1 if service.problem else 0
        os._exit(status)  # Python itself would wait for the thread that has them in hand
    server.store.close()
    if service.problem:
        raise service.problem
