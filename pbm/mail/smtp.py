"""SMTP and LMTP: aiosmtpd speaks; here are the limits, so that no sender can hold up, fill up or fool the server.

The log has a line for each mail, for people or for programs, with nothing private in it.
"""

import asyncio
import json
import logging
import re
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from ssl import SSLContext
from typing import Any, AnyStr, NamedTuple

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import MISSING, SMTP, Envelope, Session

from pbm.mail.incoming import MOST_BYTES, NOT_ASCII, Outcome, ReceivedMail, network_of
from pbm.mail.posts import Post
from pbm.terminal import warn
from pbm.texts import one_line

LONGEST_ENTRY = 300
"""How many characters of a command, or of a reason, are logged."""
MOST_RECIPIENTS = 10
"""How many recipients a mail may have; all of them are addresses of this server."""
MOST_CONNECTIONS = 100
"""How many connections all peers may have. One in ten is for peers that have none."""
MOST_PEER_CONNECTIONS = 25
"""How many connections one peer may have; Postfix opens at most 20."""
MOST_ERRORS = 20
"""How many mistakes a peer may make from one mail to the next."""
MOST_MAIL_LINES = 100_000
"""How many lines a mail may have."""
MOST_HELD_BYTES = 64 * MOST_BYTES
"""How many bytes of all mails together are kept, from the first byte of a mail until it is answered."""
MOST_SAID_BYTES = 32 * MOST_BYTES
"""How many bytes a peer may send from one mail to the next. It is much more than a mail, because many programs read the
reply that refuses a mail only when they have sent all of it."""
SILENCE_SECONDS = 300
"""The most time between two commands, and for the text of a mail as a whole."""
IDLE_SECONDS = 900
"""The most time from one mail to the next."""
SHUTDOWN_SECONDS = 5
"""How long the server waits for mails in hand when it is stopped."""
SHUTDOWN_LOOK_SECONDS = 0.01
"""How long it waits before it looks again whether all are answered."""
LAST_REPLY_SECONDS = 10
"""How long a peer has to read the last reply, before the connection is cut."""
MOST_CALLS = {"*": 20, "MAIL": sys.maxsize, "RCPT": sys.maxsize, "DATA": sys.maxsize, "RSET": sys.maxsize}
"""How often each command may be given in one connection."""
LONGEST_LINE = 999
"""How many bytes a line of a mail has, and the dot that is put in front of it on its way (RFC 5321, 4.5.3.1.6)."""
END = b".\r\n"
"""The last line of a mail."""
UNKNOWN = "550 5.1.1 There is no such mailbox here"
ENDED = "550 5.1.1 There is no such mailbox here; a reply address ends with its game, and with a new password"
STOPPED = "421 4.3.2 The server is being stopped; please try again later"
FAULT = "451 4.3.0 This could not be handled; please try again later"
UNANSWERABLE = f"553 5.6.7 {NOT_ASCII}"
TOO_LARGE = "552 5.3.4 The mail is too large"
TOO_LONG = "500 5.5.2 A line of the mail is too long (RFC 5321, 4.5.3.1.6)"
CROWDED = "452 4.3.1 Too many mails are coming in; please try again later"
SMUGGLING = "550 5.6.11 CR or LF stands alone where the mail might seem to end"
ATOM = r"""[^\s"%!:@,;<>()\[\]\\]+"""
PATH = re.compile(rf"(?i)<({ATOM}@(?:{ATOM}|\[[\w.:]+\])|postmaster)?>( .*)?")
"""An address, or none, such as a bounce comes from, and options behind it.

It has no quotes, because nobody could answer there, and no route for the mail to take (RFC 5321, appendix C). Only the
postmaster needs no domain (4.5.1)."""
SMUGGLED = re.compile(rb"(?:\r(?!\n)|(?<!\r)\n)\.[\r\n]|(?:\A|\r\n)(?:\r(?!\n)|\n)")
"""What another mail server may take for the end of a mail. Of a dot behind CR LF, only what follows is left here."""

logging.getLogger("mail.log").setLevel(logging.CRITICAL)  # aiosmtpd would log what any stranger writes


class Answer(NamedTuple):
    """The answer to a mail."""

    reply: str
    outcome: Outcome
    locked: float = 0.0
    """Seconds for which nobody else could write to the database."""


class Entry(NamedTuple):
    """A line of the log: a mail and its outcome."""

    peer: str
    """The machine that brought it; empty for a local socket."""
    sender: str
    """The sender of its envelope, empty for a bounce."""
    outcome: Outcome
    locked: float = 0.0
    """Seconds for which nobody else could write to the database, because of this mail and those handled with it."""
    took: float = 0.0
    """Seconds from the last byte of the mail to the reply."""


@dataclass
class Journal:
    """Numbers the mails, and writes a line about each to standard error."""

    now: Callable[[], datetime] | None
    """The time to write; None if somebody else adds it."""
    as_json: bool = False
    """Whether the lines are for programs."""
    number: int = 0

    def note(self, entry: Entry) -> None:
        """Write the line about a mail."""
        self.number += 1
        stamp: dict[str, str] = {}
        if self.now:
            stamp["time"] = self.now().isoformat(timespec="milliseconds")
        outcome = entry.outcome
        values = entry.peer, entry.sender, outcome.shown_word, outcome.command, outcome.reason
        lines = [one_line(value[:LONGEST_ENTRY]) for value in values]
        said = dict(zip(("peer", "sender", "outcome", "command", "reason"), lines, strict=True))
        spent = {"lock_ms": round(1000 * entry.locked, 1), "ms": round(1000 * entry.took, 1)}
        if self.as_json:
            line = json.dumps({**stamp, "number": self.number, **said, **spent})
        else:
            about = ": ".join(filter(None, (said["outcome"], said["command"], said["reason"])))
            words = list(stamp.values())
            words += [str(self.number), said["peer"] or "local", f"<{said['sender']}>", about]
            line = f"{' '.join(words)} ({spent['lock_ms']} ms in the lock, {spent['ms']} ms in all)"
        warn(line.encode("ascii", "backslashreplace").decode())


@dataclass(eq=False)
class Connections:
    """The open connections, the mails that came by them and are being handled, and the hooks that aiosmtpd calls."""

    is_known: Callable[[str], Awaitable[bool]]
    """Says of each recipient whether mail is taken for it."""
    handle: Callable[[ReceivedMail | Post], Awaitable[Answer]]
    note: Callable[[Entry], None]
    """Is called with each mail and its outcome."""
    open: set["Connection"] = field(default_factory=set)
    handling: set[asyncio.Task[Answer]] = field(default_factory=set)
    held: int = 0
    """How many bytes of mails are kept."""
    is_closing: bool = False

    def objection(self, origin: str) -> str:
        """The reply that refuses a connection from a peer for lack of room; empty if there is room."""
        if self.is_closing:
            return STOPPED
        of_peer = [connection for connection in self.open if connection.origin == origin]
        most = MOST_CONNECTIONS
        if of_peer:
            most -= MOST_CONNECTIONS // 10  # one in ten is left for peers that have none
        if len(self.open) >= most or len(of_peer) >= MOST_PEER_CONNECTIONS:
            return "421 4.7.0 There are too many connections; please try again later"
        return ""

    def hand_in(self, received: ReceivedMail | Post) -> "asyncio.Task[Answer]":
        """Start to handle a mail, even if its peer hangs up, and to log it. The result of the task is the answer."""
        self.held += len(received.raw)
        task = asyncio.get_running_loop().create_task(self._handle(received))
        self.handling.add(task)
        task.add_done_callback(self.handling.discard)
        return task

    async def _handle(self, received: ReceivedMail | Post) -> Answer:
        begin = time.perf_counter()
        try:
            answer = await self.handle(received)
        except Exception as error:  # a peer that waits for a reply must get one
            answer = Answer(FAULT, Outcome("failed", reason=f"{type(error).__name__}: {error}"))
        finally:
            self.held -= len(received.raw)
        took = time.perf_counter() - begin
        self.note(Entry(received.peer or "", received.sender or "", answer.outcome, answer.locked, took))
        return answer

    async def close(self, seconds: float = SHUTDOWN_SECONDS) -> None:
        """Answer the mails in hand, and end all connections. After so many seconds, the rest stays in `handling`."""
        self.is_closing = True
        for connection in self.open:
            if not connection.is_busy:
                connection.end(STOPPED)
        for _ in range(round(seconds / SHUTDOWN_LOOK_SECONDS)):
            if not (self.handling or self.open):
                return
            await asyncio.sleep(SHUTDOWN_LOOK_SECONDS)

    async def handle_EHLO(
        self, connection: "Connection", session: Session, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        """Offer all that aiosmtpd does but a login."""
        session.host_name = hostname
        return [response for response in responses if not response.startswith("250-AUTH")]

    def handle_STARTTLS(self, connection: "Connection", session: Session, envelope: Envelope) -> bool:
        """Encrypt a conversation only once."""
        connection.tls_context = None
        return True

    async def handle_MAIL(
        self, connection: "Connection", session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> object:
        """Take any sender who can be answered, and bounces, which have none, as aiosmtpd does without this hook."""
        if not address.isascii():
            connection.note_refusal(UNANSWERABLE, address)
            return UNANSWERABLE
        return MISSING

    async def handle_RCPT(
        self, connection: "Connection", session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take mail for our own addresses only."""
        if not await self.is_known(address):
            return ENDED if "+" in address else UNKNOWN
        if len(envelope.rcpt_tos) == MOST_RECIPIENTS:
            return f"452 4.5.3 A mail has at most {MOST_RECIPIENTS} recipients here"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, connection: "Connection", session: Session, envelope: Envelope) -> str:
        """Handle a mail, unless it is refused. By LMTP there is a reply for each recipient (RFC 2033)."""
        raw, reply = connection.reader.take_mail()
        connection.said = 0
        if reply:
            connection.note_refusal(reply, envelope.mail_from or "")
        else:
            sender = (envelope.mail_from or "").strip("<>")
            recipients = tuple(dict.fromkeys(envelope.rcpt_tos))
            reply = await connection.hand_in(ReceivedMail(raw, sender, recipients, connection.peer or None))
        if isinstance(connection, LMTP):
            return "\r\n".join([reply] * len(envelope.rcpt_tos))
        return reply

    async def handle_exception(self, error: Exception) -> str:
        """Let the mail come again, where aiosmtpd would refuse it for good."""
        why = error.__cause__ or error
        warn(f"A command by SMTP could not be carried out: {type(why).__name__}: {why}")
        return FAULT


class Reader(asyncio.StreamReader):
    """Reads for aiosmtpd, but keeps the text of a mail itself, and passes on only its last line.

    aiosmtpd would keep a list of lines until the mail ends, however many and however short. With a hundred connections
    that sent 8 MB each, it took 96 MB of memory instead of 50, and 7.4 s of computing instead of 3.5.
    """

    def __init__(self, connections: Connections, loop: asyncio.AbstractEventLoop) -> None:
        """Count what is kept as held by these *connections*."""
        super().__init__(limit=LONGEST_LINE, loop=loop)
        self.connections = connections
        self.text = bytearray()
        self.refusal = ""

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        """The next command; or, if aiosmtpd asks for CR LF, the last line of a mail, as soon as its text is read."""
        if separator == b"\n":
            return await super().readuntil(separator)
        before = b"\r\n"  # it begins with a line, which may be the last one
        while raw := await self.read(MOST_BYTES):
            begin_of_end = (before + raw).find(b"\r\n" + END)
            if begin_of_end >= 0:
                end = begin_of_end + len(b"\r\n" + END) - len(before)
                self._keep(raw[:end])
                self.feed_data(raw[end:])  # the next commands, which come back before all that is still to come
                return END
            self._keep(raw)
            before = (before + raw)[-len(END) - 1 :]
        raise ConnectionResetError  # aiosmtpd ends this before that

    def _keep(self, raw: bytes) -> None:
        """Keep a part of a text, unless it is too much."""
        if len(self.text) + len(raw) > MOST_BYTES + len(END):
            self.refuse(TOO_LARGE)
        elif self.connections.held + len(raw) > MOST_HELD_BYTES:
            self.refuse(CROWDED)
        elif not self.refusal:
            self.text += raw
            self.connections.held += len(raw)

    def refuse(self, reply: str) -> None:
        """Refuse the mail, unless it is refused already, and drop its text."""
        self.refusal = self.refusal or reply
        self.connections.held -= len(self.text)
        self.text.clear()

    def take_mail(self) -> tuple[bytes, str]:
        """End the mail. Returns it without the dots put in front of its lines on their way, and why it is refused."""
        if self.text.count(b"\n") > MOST_MAIL_LINES:
            self.refuse(TOO_LARGE)
        lines = self.text.removesuffix(END).split(b"\r\n")
        if max(map(len, lines)) > LONGEST_LINE:
            self.refuse(TOO_LONG)
        raw = b"\r\n".join(line.removeprefix(b".") for line in lines)
        if SMUGGLED.search(raw):
            self.refuse(SMUGGLING)
        reply = self.refusal
        self.refuse("")
        self.refusal = ""
        return raw, reply


class Connection(SMTP):
    """A connection by SMTP."""

    _closed: "asyncio.Future[None]"
    """Of asyncio's StreamReaderProtocol: how the connection has ended."""

    def __init__(self, connections: Connections, hostname: str, tls: SSLContext | None = None) -> None:
        """Offer STARTTLS if there is a certificate."""
        super().__init__(
            connections,
            hostname=hostname,
            ident="pbm",
            data_size_limit=MOST_BYTES,
            enable_SMTPUTF8=True,
            tls_context=tls,
            timeout=SILENCE_SECONDS,
            command_call_limit=MOST_CALLS,
        )
        self.reader = Reader(connections, self.loop)
        # again, because aiosmtpd can be given no reader
        asyncio.StreamReaderProtocol.__init__(self, self.reader, self._cb_client_connected, self.loop)
        self.connections = connections
        self.peer = ""
        self.origin = ""
        self.errors = 0
        self.said = 0
        """How many bytes have come since the last mail."""
        self.is_busy = False
        """Whether a mail of this connection is being handled, which is answered before the connection ends."""
        self.alarm: asyncio.TimerHandle | None = None

    async def _handle_client(self) -> None:
        """Serve a peer, if there is room."""
        name = self._writer.get_extra_info("peername")
        self.peer = name[0] if name else ""
        self.origin = network_of(self.peer)
        if objection := self.connections.objection(self.origin):
            self.end(objection)
            return
        self.connections.open.add(self)
        self.begin()
        await super()._handle_client()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the connection, and free at once what it takes.

        aiosmtpd refers to itself in many ways, and Python's collector of such cycles counts objects, not their bytes.
        """
        super().connection_lost(error)
        self._closed.exception()  # or asyncio would log that nobody has asked for it
        self.reader.refuse(FAULT)
        self.connections.open.discard(self)
        if self.alarm:
            self.alarm.cancel()
        if self._handler_coroutine:
            self._handler_coroutine.add_done_callback(lambda _: vars(self).clear())

    def begin(self) -> None:
        """Begin to count the time and the errors that a peer has until the end of its next mail."""
        self.errors = 0
        self._set_alarm(IDLE_SECONDS, lambda: self.end("421 4.4.2 This has taken too long"))

    def end(self, reply: str) -> None:
        """Send a last reply, and end the connection even if nobody reads it."""
        if not self._writer.is_closing():  # else a last reply was sent
            self._writer.write(f"{reply}\r\n".encode())
        self._writer.close()
        self._set_alarm(LAST_REPLY_SECONDS, self._writer.transport.abort)

    def _set_alarm(self, seconds: float, do: Callable[[], None]) -> None:
        if self.alarm:
            self.alarm.cancel()
        self.alarm = self.loop.call_later(seconds, do)

    async def hand_in(self, received: ReceivedMail) -> str:
        """Have a mail handled. Returns the reply."""
        self.is_busy = True
        try:
            reply = (await asyncio.shield(self.connections.hand_in(received))).reply
        finally:
            self.is_busy = False
        if reply.startswith("2") and not self._writer.is_closing():
            self.begin()
        return reply

    def note_refusal(self, reply: str, sender: str) -> None:
        """Note that a mail was refused before anybody read it."""
        self.connections.note(Entry(self.peer, sender.strip("<>"), Outcome("refused", reason=reply)))

    def data_received(self, data: bytes) -> None:
        """Take what comes in, as long as it is not too much."""
        self.said += len(data)
        if self.said <= MOST_SAID_BYTES:
            super().data_received(data)
        elif not self._writer.is_closing():
            self.note_refusal(TOO_LARGE, (self.envelope.mail_from if self.envelope else "") or "")
            self.end(TOO_LARGE)

    async def push(self, status: AnyStr) -> None:
        """Send a reply, and a last one if there were too many errors or if the server is being stopped."""
        # it may repeat what was said, which may be no text
        raw = status if isinstance(status, bytes) else status.encode(errors="replace")
        await super().push(raw)
        if raw.startswith((b"4", b"5")):
            self.errors += 1
        if self.connections.is_closing:
            self.end(STOPPED)
        elif self.errors > MOST_ERRORS:
            self.end("421 4.7.0 There were too many errors")

    def _getaddr(self, arg: str) -> tuple[str | None, str | None]:
        """The address of MAIL or RCPT, and the options behind it; None for both if it is none that we take.

        aiosmtpd would read it as the header of a mail, in which much more is allowed.
        """
        path = PATH.fullmatch(arg) if arg.isprintable() else None
        if path is None:
            return None, None
        return path[1] or "<>", path[2] or ""


class LMTPConnection(Connection, LMTP):
    """A connection by LMTP."""
