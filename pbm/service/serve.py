"""The mail server: takes commands by SMTP or LMTP, and runs processes that send what is in the outbox, and play.

Each is started again when it ends too early, and ends with the server.
"""

import asyncio
import errno
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from ctypes import CDLL
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pbm import START_PBM
from pbm.budget import SECONDS_OF_MAIL, limited
from pbm.disk import reason
from pbm.mail import incoming
from pbm.mail.incoming import Outcome, PreparedMail, ReceivedMail
from pbm.mail.posts import Post, PreparedPost, handle_post, prepare_post
from pbm.mail.sending import LONGEST_PAUSE, SENDER, growing_pauses
from pbm.mail.smtp import Answer, Connection, Connections, Entry, LMTPConnection
from pbm.names import is_host
from pbm.refusals import refusing_os_errors
from pbm.server import Server
from pbm.store import Replaced, Store, Unusable
from pbm.terminal import warn

if TYPE_CHECKING:
    from pbm.service.web import WebServer

HELPER_SECONDS = 3
"""How long a helper has to end; a mail server that says nothing must not hold up ours."""
WATCH_SECONDS = 2.0
"""Seconds between two looks at the database, at the certificate, and whether the main thread hangs."""
MOST_TOGETHER = 10
"""How many mails are handled in one transaction; others who want to write wait for it."""
HANGING_SECONDS = 300
"""Seconds after which a mail that is still in hand means that something hangs."""
TOO_SLOW = "554 5.6.0 This mail takes too long to be handled"
M_MMAP_THRESHOLD = -3
"""The parameter of glibc's mallopt for what is so large that it is given back to the system as soon as it is freed."""
LARGE_BYTES = 128 * 1024
"""The value of that parameter with which glibc begins. It raises it with each mail that is larger, up to 32 MB."""
HOOKS = (*START_PBM, "hook", "run", "--follow")
"""A process that runs programs for events."""
NOTIFIER = (*START_PBM, "outbox", "keep-notifying")
"""A process that sends notices."""
PLAYER = (*START_PBM, "robots", "run")
"""A process that plays for robots; the mails that it causes are sent by SENDER."""
SITE = (*START_PBM, "site", "--follow")
"""A process that writes a site, followed by the words of that command."""


@dataclass(eq=False)
class Service:
    """The state of the server: whether it has to end, and why."""

    store: Store
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server has to end."""
    problem: Replaced | None = None
    """Why it has to; None if it was told to end."""

    def check_database(self) -> None:
        """End if the database has become another file, because nothing that is written would be seen."""
        try:
            self.store.check_in_place()
        except Replaced as problem:
            self.problem = problem
            self.ended.set()


@dataclass(eq=False)
class Helper:
    """Watches over a process of ours, which ends when its standard input does."""

    command: Sequence[str]
    """Starts the process."""
    does: str
    """What it does, as a message says it, such as ``sends mail``."""
    service: Service
    """The server with which it ends."""
    process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Start the process, and again when it ends before the service does; if it ends soon, the pauses grow."""
        pauses, loop = growing_pauses(), asyncio.get_running_loop()
        while not self.service.ended.is_set():
            begin = loop.time()
            try:
                end = f"ended with status {await self.run_once()}"
            except OSError as error:
                end = f"could not be started ({reason(error)})"
            self.service.check_database()
            if self.service.ended.is_set():
                return
            if loop.time() > begin + LONGEST_PAUSE:
                pauses = growing_pauses()
            pause = next(pauses)
            warn(f"The process that {self.does} {end}; it is started again in {pause:.0f} s.")
            with suppress(TimeoutError):
                await asyncio.wait_for(self.service.ended.wait(), pause)

    async def run_once(self) -> int:
        """Start the process, and wait for its end. Returns its status."""
        self.process = await asyncio.create_subprocess_exec(
            *self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        if self.service.ended.is_set():  # while there was no process yet
            self.end()
        return await self.process.wait()

    def end(self) -> None:
        """Let the process end as soon as it has done what it has in hand."""
        if self.process and self.process.stdin:
            self.process.stdin.close()

    def kill(self) -> None:
        """End the process at once."""
        if self.process and self.process.returncode is None:
            self.process.kill()


class Endpoint(NamedTuple):
    """Where the server listens: at a port, or at a socket in the file system."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        """The endpoint as it is written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix:{self.path}" if self.path else f"{host}:{self.port}"


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
            tls(*self.files)  # what cannot be used must not take the place of what can
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


T = TypeVar("T")


class MainThread:
    """Makes calls in the main thread for other threads: only there can something be stopped that takes too long."""

    def __init__(self) -> None:
        """Begin without work."""
        self._given: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._began: float | None = None
        """When the present call began, by the monotonic clock; None if there is none."""

    def submit(self, do: Callable[..., T], *args: object) -> Future[T]:
        """Have a call made. Returns its future result."""
        future: Future[T] = Future()

        def fulfil() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(do(*args))
                except Exception as error:
                    future.set_exception(error)

        self._given.put(fulfil)
        return future

    def run_beside(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in another thread, and make the calls here that it submits. Returns its result."""
        with ThreadPoolExecutor(max_workers=1) as executor:
            future = executor.submit(asyncio.run, coroutine)
            future.add_done_callback(lambda _: self._given.put(None))
            while given := self._given.get():
                self._began = time.monotonic()
                given()
                self._began = None
            return future.result()

    @property
    def hangs(self) -> bool:
        """Whether the present call has taken far too long."""
        began = self._began
        return began is not None and time.monotonic() >= began + HANGING_SECONDS


class WaitingMail(NamedTuple):
    """A mail that waits to be handled."""

    received: ReceivedMail | Post
    answer: Future[Answer]


@dataclass(eq=False)
class Receiver:
    """Handles mails in the main thread. Those that wait are handled in one transaction.

    One by one, 165 to 177 mails a second from ten connections were taken in place of 271 to 297, at 4.3 ms of computing
    a mail in place of 2.8: a commit takes as long for ten as for one.
    """

    server: Server
    thread: MainThread
    waiting: SimpleQueue[WaitingMail] = field(default_factory=SimpleQueue)

    async def is_known(self, recipient: str) -> bool:
        """Whether there is such an address of ours."""
        if recipient.lower() == self.server.address.lower():
            return True
        return await self.work(incoming.is_known, self.server, recipient)

    async def work(self, do: Callable[..., T], *args: object) -> T:
        """The result of a call in the main thread. Raises Unusable, and TimeoutError if it takes too long."""
        return await asyncio.wrap_future(self.thread.submit(within_limits, do, *args))

    async def handle(self, received: ReceivedMail | Post) -> Answer:
        """Handle a mail, or a command that is posted.

        The answer is 250 when all that it causes is on the disk, and 451 if it has to come again.
        """
        mail = WaitingMail(received, Future())
        self.waiting.put(mail)
        self.thread.submit(self.handle_waiting)
        try:
            return await asyncio.wrap_future(mail.answer)
        except Unusable as error:
            outcome = Outcome("failed", reason=str(error))
            return Answer("451 4.3.0 This could not be stored; please try again later", outcome)

    def handle_waiting(self) -> None:
        """Handle the mails that wait together; there are none if an earlier call has handled them."""
        mails = [self.waiting.get() for _ in range(min(self.waiting.qsize(), MOST_TOGETHER))]
        try:
            answers = self._answers(mails)
        except Exception as error:
            for mail in mails:
                if not mail.answer.done():
                    mail.answer.set_exception(error)
        else:
            for mail, answer in answers:
                mail.answer.set_result(answer)

    def _answers(self, mails: Sequence[WaitingMail]) -> list[tuple[WaitingMail, Answer]]:
        """Handle mails in one transaction. Returns the answers to those that have not failed, see `_run`."""
        done = []
        unfinished = []
        for mail in mails:
            prepared = self._run(mail, _prepare, self.server, mail.received)
            if prepared and prepared.outcome:
                done.append((mail, Answer("", prepared.outcome)))
            elif prepared:
                unfinished.append((mail, prepared))
        # a page that only asks needs no lock
        transaction = self.server.store.writing() if unfinished else nullcontext()
        with transaction:
            begin = time.perf_counter()
            for mail, prepared in unfinished:
                if outcome := self._run(mail, _handle, self.server, prepared):
                    done.append((mail, Answer("250 2.0.0 Done", outcome)))
        locked = time.perf_counter() - begin
        return [(mail, answer._replace(locked=locked)) for mail, answer in done]

    def _run(self, mail: WaitingMail, do: Callable[..., T], *args: object) -> T | None:
        """The result of a step for a mail. If it fails, it has changed nothing, and the mail is answered: None.

        A mail that takes too long is refused the second time.
        """
        try:
            return within_limits(do, *args)
        except TimeoutError as why:
            try:
                outcome = incoming.give_up(self.server, mail.received.raw, why)
                mail.answer.set_result(Answer(TOO_SLOW, outcome))
            except (TimeoutError, Unusable) as error:
                mail.answer.set_exception(error)
        except Exception as error:
            mail.answer.set_exception(error)
        return None


def _prepare(server: Server, received: ReceivedMail | Post) -> PreparedMail | PreparedPost:
    if isinstance(received, Post):
        return prepare_post(server, received)
    return incoming.prepare_mail(server, received)


def _handle(server: Server, prepared: PreparedMail | PreparedPost) -> Outcome:
    if isinstance(prepared, PreparedPost):
        return handle_post(server, prepared)
    return incoming.handle_prepared(server, prepared)


def within_limits(do: Callable[..., T], *args: object) -> T:
    """The result of a call that may take no longer than a mail. Raises TimeoutError."""
    with limited(SECONDS_OF_MAIL):
        return do(*args)


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
    helpers = [Helper(SENDER, "sends mail", service), Helper(HOOKS, "runs hooks", service)]
    if server.notice_kinds:
        helpers.append(Helper(NOTIFIER, "sends notices", service))
    helpers += [Helper(PLAYER, "plays for robots", service) for _ in range(robots)]
    if site:
        helpers.append(Helper((*SITE, *site), "writes the site", service))
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
    listener, where = await _listen(connect, where)
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
    _close(listener, where)
    if web:
        web.close()
    await connections.close()
    await asyncio.gather(*posting)
    await _end(helpers, helping)
    _leave(server, connections, service)


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


async def _listen(connect: Callable[[], Connection], where: Endpoint) -> tuple[asyncio.Server, Endpoint]:
    """Begin to take connections. Returns the listener, and its endpoint with the port that it got. Raises Refused."""
    loop = asyncio.get_running_loop()
    with refusing_os_errors(f"The server cannot listen on {where}"):
        if where.path:
            return await loop.create_unix_server(connect, sock=_socket(where.path)), where
        listener = await loop.create_server(connect, where.host, where.port)
        return listener, where._replace(port=listener.sockets[0].getsockname()[1])


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


def _close(listener: asyncio.Server, where: Endpoint) -> None:
    """Take no more connections, and remove the socket from the file system."""
    listener.close()
    if where.path:
        Path(where.path).unlink(missing_ok=True)


def _socket(path: str) -> socket.socket:
    """A socket in the file system, for its owner and group, in the place of one that a killed server has left."""
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
