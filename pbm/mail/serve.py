"""The mail server: takes commands by SMTP or LMTP; processes of its own send what is in the outbox, and play.

Where there are several workers, these take the commands; else the server itself does.
"""

import asyncio
import errno
import gc
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from ctypes import CDLL
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, ParamSpec, TypeVar

import games
from pbm.budget import SECONDS_OF_MAIL, limited
from pbm.disk import reason
from pbm.language import answers
from pbm.language.grammar import function
from pbm.mail import incoming, notify
from pbm.mail.door import Answer, Delivery, Door, Handler, House, LocalDoor, failed
from pbm.mail.helpers import Helper, Service
from pbm.mail.incoming import Outcome
from pbm.mail.journal import Entry
from pbm.mail.outbox import SENDER
from pbm.mail.workers import Room, Workers
from pbm.names import is_host
from pbm.refusals import touching
from pbm.server import Server
from pbm.store import Replaced, Store, Unusable

MOST_TOGETHER = 10
"""How many mails are handled in one transaction; others who want to write wait for it."""
LONGEST_LOCK = 0.01
"""Seconds after which no other mail is handled in the same transaction."""
HELPER_PATIENCE = 3
"""Seconds that a helper has to end; a mail server that says nothing must not hold up ours."""
LOOK_AROUND = 2.0
"""Seconds from one look whether all is well to the next."""
TOO_SLOW = "554 5.6.0 This mail takes too long to be handled"
FIRST_MAIL = b"From: nobody@localhost\r\nSubject: help me with-a-password\r\n\r\n"
"""What is read and prepared before anybody can send one, and never carried out."""
MOST_IN_HAND = 300
"""Seconds after which mails that are still in hand mean that something hangs."""
M_MMAP_THRESHOLD, LARGE_BYTES = -3, 128 * 1024
"""The parameter of glibc's mallopt for what is so large that it is given back to the system as soon as it is freed.

glibc begins with that number, and raises it with each mail that is larger, up to 32 MB.
"""
MOST_NEW_OBJECTS = 10_000
"""How many objects may be new before circles are looked for among them; a mail leaves hardly any."""
SWITCH_AFTER = 0.0005
"""Seconds that one thread computes while another one wants to; of the 5 ms that Python allows, a mail would wait for
several while another one is handled, one for each line of its dialogue."""


HOOKS = (sys.executable, "-P", "-m", "pbm", "hook", "keep-running")
"""A process that runs programs for events."""
PLAYER = (sys.executable, "-P", "-m", "pbm", "robots", "keep-playing")
"""A process that plays for robots; the mails that it causes are sent by the other one."""


SITE = (sys.executable, "-P", "-m", "pbm", "site", "--follow")
"""A process that writes a site, followed by the words of that command."""


class Place(NamedTuple):
    """Where the server listens: at a port, or at a socket in the file system."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        """The place as it is written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix:{self.path}" if self.path else f"{host}:{self.port}"


def place(text: str) -> Place | None:
    """The place that a text names: ``HOST:PORT``, ``[IPV6]:PORT`` or ``unix:PATH``; None if it names none."""
    if text.startswith("unix:/"):
        return Place(path=text.removeprefix("unix:"))
    host, colon, port = text.rpartition(":")
    if not (colon and is_host(host) and port.isascii() and port.isdecimal() and int(port) < 65536):
        return None
    return Place(host.strip("[]"), int(port))


class Speech(NamedTuple):
    """How the server speaks with those who bring mail."""

    lmtp: bool = False
    certificate: str = ""
    """The file with the certificate for STARTTLS; empty if that is not offered."""
    key: str = ""
    """The file with its key."""

    @property
    def words(self) -> list[str]:
        """The words that say it on a command line."""
        files = [f"--certificate={self.certificate}", f"--key={self.key}"] if self.certificate else []
        return ["--lmtp"] * self.lmtp + files


class Papers:
    """A certificate, which is renewed now and then."""

    def __init__(self, certificate: str, key: str) -> None:
        """Read the files. Raises OSError if they are no certificate and its key."""
        self.files = certificate, key
        self.seen = self._changed()
        self.context = tls(*self.files)

    def look(self) -> None:
        """Show the certificate that is there now to all who are still to come."""
        try:
            if (changed := self._changed()) == self.seen:
                return
            self.seen = changed
            tls(*self.files)  # what cannot be used must not take the place of what can
            self.context.load_cert_chain(*self.files)
        except OSError as error:
            sys.stderr.write(f"The certificate cannot be read again: {reason(error)}. The old one stays in use.\n")
        else:
            sys.stderr.write("The certificate was read again, because it has changed.\n")

    def _changed(self) -> list[int]:
        """When the files have changed; 0 for one that is not there."""
        return [Path(file).stat().st_mtime_ns if Path(file).exists() else 0 for file in self.files]


def tls(certificate: str, key: str) -> ssl.SSLContext:
    """What STARTTLS needs. Raises OSError if the files are no certificate and its key."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


P = ParamSpec("P")
T = TypeVar("T")


class MainThread(Executor):
    """Does in the main thread what another one gives it: only there can something be stopped that takes too long."""

    def __init__(self) -> None:
        self._given: SimpleQueue[Callable[[], object] | None] = SimpleQueue()

    def submit(self, do: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have something done. Returns the future result."""
        future: Future[T] = Future()
        self._given.put(partial(_fulfil, future, partial(do, *args, **kwargs)))
        return future

    def run_beside(self, talk: Coroutine[Any, Any, T]) -> T:
        """Run an event loop in another thread, and do here meanwhile what it gives. Returns what its coroutine does."""
        with ThreadPoolExecutor(max_workers=1) as other:
            talking = other.submit(asyncio.run, talk)
            talking.add_done_callback(lambda _: self._given.put(None))
            while given := self._given.get():
                given()
            return talking.result()


def _fulfil(future: Future[T], do: Callable[[], T]) -> None:
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(do())
        except Exception as error:
            future.set_exception(error)


class Received(NamedTuple):
    """A mail that has come in, and who waits for the answer."""

    delivery: Delivery
    answer: asyncio.Future[Answer]


class Clerk:
    """Does what needs the database, in the main thread, so that nobody at the door waits for others' mails.

    Mails that came in meanwhile are handled together, each in a savepoint: a commit takes as long for ten as for one.
    """

    def __init__(self, server: Server, service: Service, thread: MainThread) -> None:
        """Work for *server* in that *thread*, as long as the *service* goes on."""
        self.server = server
        self.service = service
        self.thread = thread
        self.desk = server._replace(store=Store(server.store.path, read_only=True))
        """For whoever only asks, and need not wait until mails are handled: one who reads waits for none who writes."""
        self.asking = ThreadPoolExecutor(max_workers=1)
        self.waiting: list[Received] = []
        self.work: asyncio.Task[None] | None = None
        self.began: float | None = None
        """Since when it has had the mails in hand, by the clock of the event loop."""

    async def is_known(self, recipient: str) -> bool:
        """Whether there is such an address of ours."""
        if recipient.lower() == self.server.address.lower():
            return True
        try:
            return await asyncio.get_running_loop().run_in_executor(self.asking, self._is_known, recipient)
        except Replaced as problem:
            self.service.give_up(problem)
            raise

    def _is_known(self, recipient: str) -> bool:
        with self.desk.store.transaction(reading=True):
            return incoming.is_known(self.desk, recipient)

    async def handle(self, delivery: Delivery) -> Answer:
        """Say 250 when all that the mail causes is on the disk, and 451 if it could not be stored: come again."""
        loop = asyncio.get_running_loop()
        waiting = Received(delivery, loop.create_future())
        self.waiting.append(waiting)
        if self.work is None:
            self.work = loop.create_task(self._work())
        return await waiting.answer

    async def _work(self) -> None:
        """Handle all that is waiting, and all that comes meanwhile."""
        loop = asyncio.get_running_loop()
        while self.waiting:
            batch, self.waiting = self.waiting[:MOST_TOGETHER], self.waiting[MOST_TOGETHER:]
            self.began = loop.time()
            try:
                answers = await loop.run_in_executor(self.thread, self._handle, [each.delivery for each in batch])
            except Replaced as problem:
                answers = [_unstored(problem)] * len(batch)
                self.service.give_up(problem)
            self.began = None
            for each, answer in zip(batch, answers, strict=True):
                if not each.answer.done():  # who has hung up waits no longer
                    each.answer.set_result(answer)
        self.work = None

    def _handle(self, deliveries: Sequence[Delivery]) -> list[Answer]:
        """Handle mails, and answer when it is on the disk. What is slow is done before anybody has to wait for it."""
        answers: list[Answer] = []
        problem = None
        try:
            heard = iter([(delivery, self._heard(delivery)) for delivery in deliveries])  # a second each at most
            while len(answers) < len(deliveries):
                answers += self._together(heard)
        except Replaced:
            raise
        except Unusable as error:
            problem = _unstored(error)
        except Exception as error:  # those who wait for an answer must get one
            problem = failed(error)
        return answers + [problem] * (len(deliveries) - len(answers)) if problem else answers

    def _together(self, heard: Iterator[tuple[Delivery, incoming.Heard | TimeoutError | None]]) -> list[Answer]:
        """Handle the next mails in one transaction, until others have waited for long enough."""
        answers = []
        with self.server.store.transaction():
            begin = time.perf_counter()
            for each in heard:
                answers.append(self._answer(*each))
                if time.perf_counter() - begin > LONGEST_LOCK:
                    break
        locked = time.perf_counter() - begin
        return [answer._replace(locked=locked) for answer in answers]

    def _heard(self, delivery: Delivery) -> incoming.Heard | TimeoutError | None:
        """Read a mail and prepare its command; None if something goes wrong with it alone, which is told later.

        If that takes too long, it is not done again: what is returned is the error.
        """
        try:
            with limited(SECONDS_OF_MAIL):
                return incoming.hear(self.server, *delivery)
        except Unusable:
            raise
        except TimeoutError as error:
            return error
        except Exception:
            return None

    def _answer(self, delivery: Delivery, heard: incoming.Heard | TimeoutError | None) -> Answer:
        """Handle a mail. What goes wrong with it alone undoes nothing of the others."""
        try:
            return self._handled(delivery, heard)
        except Unusable:
            raise
        except Exception as error:
            return failed(error)

    def _handled(self, delivery: Delivery, heard: incoming.Heard | TimeoutError | None) -> Answer:
        """Handle a mail. One that takes too long is refused the second time; raises TimeoutError the first time."""
        try:
            if isinstance(heard, TimeoutError):
                raise heard
            with limited(SECONDS_OF_MAIL):
                return Answer("250 2.0.0 Done", incoming.handle(self.server, *delivery, heard))
        except TimeoutError as why:
            return Answer(TOO_SLOW, incoming.give_up(self.server, delivery.raw, why))

    @property
    def hangs(self) -> bool:
        """Whether it has had the same mails in hand for far too long."""
        return self.began is not None and asyncio.get_running_loop().time() >= self.began + MOST_IN_HAND

    def close(self) -> None:
        """Finish the work in hand."""
        self.asking.shutdown()
        self.desk.store.close()


def _unstored(error: Unusable) -> Answer:
    return Answer("451 4.3.0 This could not be stored; please try again later", Outcome("failed", reason=str(error)))


def make_ready(server: Server) -> None:
    """Have a process take mail without letting anybody wait for long, whenever he comes.

    What the first mails need is loaded; and as the collector of garbage would stop everybody to look through all that
    is loaded, it leaves that alone, and looks less often than Python does. The memory of large mails is given back.
    """
    with suppress(AttributeError):  # of C libraries, only glibc keeps it, and has this function
        CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
    for game in games.names():
        with suppress(Exception):  # what is wrong with a game is told to whoever plays it
            games.load(game)
    for command in answers.ANSWERS.values():
        function(command.deed)
    server.passwords.is_right(None, "")
    incoming.hear(server, FIRST_MAIL, "nobody@localhost", [server.address])
    gc.collect()
    gc.freeze()
    gc.set_threshold(MOST_NEW_OBJECTS)
    sys.setswitchinterval(SWITCH_AFTER)


class Reception:
    """Takes mail in this process."""

    def __init__(self, server: Server, speech: Speech, house: House, service: Service, thread: MainThread) -> None:
        """Begin with nobody in the *house*. Raises OSError if there is a certificate that cannot be used."""
        make_ready(server)
        self.house = house
        self.opened = asyncio.Event()
        """Set when mail is taken."""
        self.opened.set()
        self.clerk = Clerk(server, service, thread)
        self.papers = Papers(speech.certificate, speech.key) if speech.certificate else None
        handler = Handler(self.clerk.is_known, self.clerk.handle)
        context = self.papers.context if self.papers else None
        self.connection = partial(LocalDoor if speech.lmtp else Door, house, handler, server.host, context)

    def look(self) -> str:
        """Use a certificate that is new; how it goes, for the service manager, and nothing if it does not."""
        if self.papers:
            self.papers.look()
        said = f"{len(self.house.inside)} connections, {len(self.house.handling)} mails in hand."
        return "" if self.clerk.hangs else said

    async def close(self) -> None:
        """Let all mails in hand be answered, and send everybody away."""
        await self.house.close()
        if not self.house.handling:
            self.clerk.close()


async def serve(
    server: Server,
    where: Place,
    speech: Speech,
    thread: MainThread,
    *,
    note: Callable[[Entry], None],
    workers: int = 1,
    robots: int = 0,
    site: Sequence[str] = (),
) -> None:
    """Serve until the process is told to end; *note* is told what came of each mail, which the main *thread* handles.

    If there are several *workers*, they receive; else this process does. So many processes play for *robots*; one
    writes a *site*, if the words of that command are given.

    Raises Refused if nobody can listen there, Replaced if the database has become another file, and OSError if there is
    a certificate that cannot be used.
    """
    loop = asyncio.get_running_loop()
    service = Service(server.store)
    finishing = [Helper(SENDER, "sends mail", service), Helper(HOOKS, "runs hooks", service)]
    repeating = [Helper(PLAYER, "plays for robots", service) for _ in range(robots)]
    repeating += [Helper((*SITE, *site), "writes the site", service)] if site else []
    helpers = finishing + repeating
    await loop.run_in_executor(thread, _end_by_signal, service, loop)

    def noted(entry: Entry) -> None:
        note(entry)
        if entry.took:  # else nobody has read it
            for helper in helpers:
                helper.wake()

    house = House(noted)
    crew = Workers(workers, speech.words, house, service) if workers > 1 else None
    reception = crew or Reception(server, speech, house, service, thread)
    with touching(f"The server cannot listen on {where}"):
        if where.path:
            listener: asyncio.Server = await loop.create_unix_server(
                reception.connection, sock=_socket(where.path), start_serving=False
            )
        else:
            listener = await loop.create_server(reception.connection, where.host, where.port, start_serving=False)
            where = where._replace(port=listener.sockets[0].getsockname()[1])
    started = [*helpers, *(crew.crew if crew else [])]
    helping = [loop.create_task(helper.run()) for helper in started]
    watching = loop.create_task(_watch(service, lambda: _tell(reception.look())))
    opened, ended = loop.create_task(reception.opened.wait()), loop.create_task(service.ended.wait())
    await asyncio.wait([opened, ended], return_when=asyncio.FIRST_COMPLETED)
    if opened.done():
        with touching(f"The server cannot listen on {where}"):
            await listener.start_serving()
        sys.stdout.write(f"listening on {where}\n")
        sys.stdout.flush()
        notify.tell("READY=1", f"STATUS=Listening on {where}.")
    await ended
    opened.cancel()
    notify.tell("STOPPING=1")
    watching.cancel()
    _close(listener, where)
    await reception.close()
    for helper in helpers:
        helper.end()
    for helper in repeating:
        helper.kill()  # what a robot was thinking about is thought about again, and so is a page written
    await asyncio.wait(helping, timeout=HELPER_PATIENCE)
    for helper in started:
        helper.kill()
    await asyncio.wait(helping)
    _leave(server, house, service)


def _end_by_signal(service: Service, loop: asyncio.AbstractEventLoop) -> None:
    """Let the service end when the process is told to; in the main thread, which alone hears of it."""

    def end(*_: object) -> None:
        with suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(service.ended.set)

    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, end)


async def receive(server: Server, speech: Speech, parts: int, thread: MainThread) -> None:
    """Receive mail in one of several processes, until standard input ends, through which the connections come.

    The main *thread* handles it.

    Raises Replaced if the database has become another file, and OSError if there is a certificate that cannot be used.
    """
    service, room = Service(server.store), Room(parts)
    reception = Reception(server, speech, room, service, thread)
    room.listen(reception.connection, service.ended.set)
    watching = asyncio.create_task(_watch(service, lambda: room.say() if reception.look() else None))
    await service.ended.wait()
    watching.cancel()
    await reception.close()
    _leave(server, room, service)


async def _watch(service: Service, look: Callable[[], object]) -> None:
    """Look again and again whether all is well."""
    while True:
        service.look()
        look()
        await asyncio.sleep(LOOK_AROUND)


def _tell(status: str) -> None:
    """Tell the service manager that the server is alive, if it is."""
    if status:
        notify.tell("WATCHDOG=1", f"STATUS={status}")


def _leave(server: Server, house: House, service: Service) -> None:
    """Close the database, and end. Raises Replaced if it has become another file."""
    if house.handling:
        sys.stderr.write("Mails in hand were given up; they were not acknowledged, and will come again.\n")
        sys.stderr.flush()
        os._exit(1 if service.problem else 0)  # Python itself would wait for the thread that has them in hand
    server.store.close()
    if service.problem:
        raise service.problem


def _close(listener: asyncio.Server, where: Place) -> None:
    """Let nobody in any more, and leave no socket lying in the file system."""
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
