"""The door: a conversation by SMTP or LMTP, and what nobody may do in it.

aiosmtpd speaks; what is here are limits, so that no sender can hold up, fill up or fool the server.
"""

import asyncio
import logging
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_network
from ssl import SSLContext
from typing import Any, AnyStr, NamedTuple, Protocol, Self

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope
from aiosmtpd.smtp import Session as Connection

from pbm.mail.incoming import MOST_BYTES, NOT_ASCII, Outcome
from pbm.mail.journal import Entry, Journal

MOST_RECIPIENTS = 10
"""How many recipients a mail may have; all of them are addresses of this server."""
MOST_CONNECTIONS = 100
"""How many connections all peers may have. One in ten is for peers that have none."""
MOST_OF_A_PEER = 25
"""How many connections one peer may have; Postfix opens at most 20."""
MOST_ERRORS = 20
"""How many mistakes a peer may make from one mail to the next."""
MOST_HELD = 64 * MOST_BYTES
"""How many bytes of mails the whole house holds, from the first byte of a mail until it is answered."""
MOST_HEARD = 8 * MOST_BYTES
"""How much a peer may say between two mails, and how much a mail may be: bytes, and `LINE` for each line."""
LINE = 70
MOST_DROPPED = 32 * MOST_BYTES
"""How many bytes of a mail are read. What is too much is dropped; many programs read a reply only when they have said
all."""
MOST_SILENCE = 300
"""Seconds between two commands, and for the text of a mail as a whole."""
MOST_IDLE = 900
"""Seconds from one mail to the next."""
LAST_PATIENCE = 5
"""Seconds for which mails in hand are waited for when the server is stopped."""
LAST_WORD = 10
"""Seconds that a peer has to read why he has to leave."""
MOST_CALLS = {"*": 20, "MAIL": sys.maxsize, "RCPT": sys.maxsize, "DATA": sys.maxsize, "RSET": sys.maxsize}
"""How often each command may be given in one connection."""
UNKNOWN = "550 5.1.1 There is no such mailbox here"
ENDED = "550 5.1.1 There is no such mailbox here; a reply address ends with its game, and with a new password"
STOPPED = "421 4.3.2 The server is being stopped; please try again later"
FAULT = "451 4.3.0 This could not be handled; please try again later"
DOT = b".\r\n"
"""The last line of a text."""
LONGEST_LINE = 999
"""How many bytes a line of a mail has, and the dot that is put in front of it on its way (RFC 5321, 4.5.3.1.6)."""
UNANSWERABLE = f"553 5.6.7 {NOT_ASCII}"
TOO_LARGE = "552 5.3.4 The mail is too large"
TOO_LONG = "500 5.5.2 A line of the mail is too long (RFC 5321, 4.5.3.1.6)"
CROWDED = "452 4.3.1 Too many mails are coming in; please try again later"
SMUGGLING = "550 5.6.11 CR or LF stands alone where the mail might seem to end"
ATOM = r"""[^\s"%!:@,;<>()\[\]\\]+"""
FROM = re.compile(rf"(?i)from: ?<({ATOM}@({ATOM}|\[[\w.:]+\]))?>( .*)?")
"""A sender, who may be nobody; not one in quotes, who could not be answered."""
TO = re.compile(rf"(?i)to: ?<({ATOM}@{ATOM}|postmaster)>( .*)?")
"""A recipient without quotes, and without a way for the mail to take (RFC 5321, appendix C)."""
POSTMASTER = re.compile("(?i)(?<=<)postmaster(?=>)")
"""The one recipient who needs no domain (RFC 5321, 4.5.1)."""
SMUGGLED = re.compile(rb"(?:\r(?!\n)|(?<!\r)\n)\.[\r\n]|(?:\A|\r\n)(?:\r(?!\n)|\n)")
"""What another mail server may take for the end of a mail. Of a dot behind CR LF, only what follows is left here."""

logging.getLogger("mail.log").setLevel(logging.CRITICAL)  # aiosmtpd would log what any stranger writes


class Delivery(NamedTuple):
    """A mail as it comes in."""

    raw: bytes
    sender: str
    """The sender of the envelope, empty for a bounce."""
    recipients: Sequence[str]
    peer: str | None
    """The address of the machine that brought it; None if it came by a local socket."""


class Answer(NamedTuple):
    """The answer to a mail."""

    reply: str
    outcome: Outcome
    locked: float = 0.0
    """Seconds for which nobody else could write to the database."""


def failed(error: Exception) -> Answer:
    """The answer to a mail that comes again because something went wrong here."""
    return Answer(FAULT, Outcome("failed", reason=f"{type(error).__name__}: {error}"))


class Text:
    """The text of a mail that is coming in. It counts as held by the house, and is dropped if it is refused."""

    def __init__(self, house: "House") -> None:
        """Begin with nothing."""
        self.house = house
        self.raw = bytearray()
        self.lines = 0
        self.refusal = ""

    def __enter__(self) -> Self:
        """Hold the text in a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the text."""
        self.drop()

    def add(self, raw: bytes) -> None:
        """Add what has come in."""
        if self.refusal:
            return
        self.lines += raw.count(b"\n")
        size = len(self.raw) + len(raw)
        if size > MOST_BYTES + len(DOT) or size + LINE * self.lines > MOST_HEARD:
            self.refuse(TOO_LARGE)
        elif self.house.held + len(raw) > MOST_HELD // self.house.parts:
            self.refuse(CROWDED)
        else:
            self.raw += raw
            self.house.held += len(raw)

    def mail(self) -> bytes:
        """The mail: without the last line, and the dots that are put in front of lines with a dot on their way.

        If it cannot be taken, there is a `refusal`.
        """
        if max(map(len, self.raw.split(b"\r\n"))) > LONGEST_LINE:
            self.refuse(TOO_LONG)
        raw = (b"\r\n" + self.raw[: -len(DOT)]).replace(b"\r\n.", b"\r\n")[2:]
        if SMUGGLED.search(raw):
            self.refuse(SMUGGLING)
        return bytes(raw)

    def refuse(self, why: str) -> None:
        """Say why the mail is not taken, unless that has been said."""
        self.refusal = self.refusal or why
        self.drop()

    def drop(self) -> None:
        """Hold the text no longer."""
        self.house.held -= len(self.raw)
        self.raw.clear()


class Handler:
    """What aiosmtpd asks and tells while a mail comes in."""

    def __init__(
        self, is_known: Callable[[str], Awaitable[bool]], handle: Callable[[Delivery], Awaitable[Answer]]
    ) -> None:
        """Ask whether a recipient *is known*, and *handle* a mail."""
        self.is_known = is_known
        self.handle = handle

    async def handle_EHLO(
        self, door: SMTP, session: Connection, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        """Offer all that aiosmtpd does but a login."""
        session.host_name = hostname
        return [response for response in responses if not response.startswith("250-AUTH")]

    async def handle_RCPT(
        self, door: SMTP, session: Connection, envelope: Envelope, address: str, rcpt_options: list[str]
    ) -> str:
        """Take mail for our own addresses only."""
        if not await self.is_known(address):
            return ENDED if "+" in address else UNKNOWN
        if len(envelope.rcpt_tos) == MOST_RECIPIENTS:
            return f"452 4.5.3 A mail has at most {MOST_RECIPIENTS} recipients here"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(rcpt_options)
        return "250 2.1.5 OK"

    async def handle_exception(self, error: Exception) -> str:
        """Let the mail come again, where aiosmtpd would refuse it for good."""
        sys.stderr.write(f"A mail could not be handled: {type(error).__name__}: {error}\n")
        return FAULT


class Visitor(Protocol):
    """Somebody who has come to the door."""

    peer: str
    """The address of his machine; empty if he came by a local socket."""
    origin: str
    """What counts as one peer."""
    is_busy: bool
    """Whether he has a mail in hand that is finished before he leaves."""

    def leave(self, reply: str) -> None:
        """Hear a last word, and go."""


class House:
    """All who are at the door, and the mails that they have brought."""

    def __init__(self, note: Callable[[Entry], None] | None = None, parts: int = 1) -> None:
        """Begin with nobody; *note* is told what came of each mail, and otherwise logs it.

        It may be one of several *parts* of a house, each in a process of its own.
        """
        self.note = note or Journal().note
        self.parts = parts
        self.inside: set[Visitor] = set()
        self.handling: set[asyncio.Task[str]] = set()
        self.held = 0
        """How many bytes of mails are here."""
        self.is_closing = False
        self.is_empty = asyncio.Event()

    def objection(self, origin: str) -> str:
        """Why no more connections from there are taken; empty if they are."""
        if self.is_closing:
            return STOPPED
        its = sum(each.origin == origin for each in self.inside)
        most = MOST_CONNECTIONS - MOST_CONNECTIONS // 10 if its else MOST_CONNECTIONS
        if len(self.inside) >= most or its >= MOST_OF_A_PEER:
            return "421 4.7.0 There are too many connections; please try again later"
        return ""

    def admits(self, visitor: Visitor, transport: Any) -> bool:
        """Let somebody in who has come by a connection, or send him away."""
        name = transport.get_extra_info("peername")
        visitor.peer = name[0] if name else ""
        visitor.origin = origin(visitor.peer)
        if objection := self.objection(visitor.origin):
            transport.write(f"{objection}\r\n".encode())
            transport.close()
            return False
        self.inside.add(visitor)
        return True

    def leave(self, visitor: Visitor) -> None:
        """Let somebody out."""
        self.inside.remove(visitor)
        if not self.inside:
            self.is_empty.set()

    def hand_in(self, delivery: Delivery, handle: Callable[[Delivery], Awaitable[Answer]]) -> "asyncio.Task[str]":
        """Have a mail handled and noted, also if nobody waits any more for the reply, which is the result."""
        self.held += len(delivery.raw)
        task = asyncio.get_running_loop().create_task(self._handled(delivery, handle))
        self.handling.add(task)
        task.add_done_callback(self.handling.discard)
        return task

    async def _handled(self, delivery: Delivery, handle: Callable[[Delivery], Awaitable[Answer]]) -> str:
        begin = time.perf_counter()
        try:
            answer = await handle(delivery)
        except Exception as error:  # he who waits for a reply must get one
            answer = failed(error)
        finally:
            self.held -= len(delivery.raw)
        took = time.perf_counter() - begin
        told = answer.outcome.told, answer.outcome.command, answer.outcome.reason
        self.note(Entry(delivery.peer or "", delivery.sender, *told, answer.locked, took))
        return answer.reply

    async def close(self, patience: float = LAST_PATIENCE) -> None:
        """Let the mails that have come in be handled and answered, and send everybody away.

        After so many seconds nobody is waited for any more; what is still in hand then is in `handling`.
        """
        self.is_closing = True
        for visitor in self.inside:
            if not visitor.is_busy:
                visitor.leave(STOPPED)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self.handling:
                    await asyncio.wait(self.handling)
                if self.inside:
                    self.is_empty.clear()
                    await self.is_empty.wait()


class Door(SMTP):
    """A connection by SMTP."""

    _closed: "asyncio.Future[None]"
    """Of asyncio's StreamReaderProtocol: how the connection has ended."""

    def __init__(self, house: House, handler: Handler, hostname: str, tls: SSLContext | None = None) -> None:
        """Let a peer into the *house*, and offer STARTTLS if there is a certificate."""
        super().__init__(
            handler,
            hostname=hostname,
            ident="pbm",
            data_size_limit=MOST_BYTES,
            enable_SMTPUTF8=True,
            tls_context=tls,
            timeout=MOST_SILENCE,
            auth_exclude_mechanism=("LOGIN", "PLAIN"),
            command_call_limit=MOST_CALLS,
        )
        self.house = house
        self.peer = self.origin = ""
        self.errors = self.said = 0
        self.most = MOST_HEARD
        self.is_busy = False
        self.alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Let a peer in, if there is room; one who has begun to speak TLS begins anew."""
        if self not in self.house.inside:
            if not self.house.admits(self, transport):
                return
            self.begin()
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Let go of a peer who was let in, and of all that he has said.

        aiosmtpd refers to itself in many ways, and the collector of such cycles counts objects, not their bytes.
        """
        if self in self.house.inside:
            self.house.leave(self)
            super().connection_lost(error)
            self._closed.exception()  # else asyncio would log an error of which nobody has heard
            if self.alarm:
                self.alarm.cancel()
            if self._handler_coroutine:
                self._handler_coroutine.add_done_callback(lambda _: vars(self).clear())

    def eof_received(self) -> bool | None:
        """Take no more words from a peer who has hung up; one who was not let in has said nothing."""
        return super().eof_received() if self in self.house.inside else False

    def begin(self) -> None:
        """Give the peer all the time and all the errors that he has for his next mail."""
        self.errors = 0
        if self.alarm:
            self.alarm.cancel()
        self.alarm = self.loop.call_later(MOST_IDLE, self.leave, "421 4.4.2 This has taken too long")

    def leave(self, reply: str) -> None:
        """Say a last word, and end the connection even if nobody listens."""
        if not self._writer.is_closing():  # one who is about to leave hears nothing more
            self._writer.write(f"{reply}\r\n".encode())
        self._writer.close()
        if self.alarm:
            self.alarm.cancel()
        self.alarm = self.loop.call_later(LAST_WORD, self._writer.transport.abort)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Stay until something is done."""
        self.is_busy = True
        try:
            yield
        finally:
            self.is_busy = False

    def refused(self, why: str) -> None:
        """Note that a mail was refused before anybody has read it."""
        sender = (self.envelope.mail_from if self.envelope else "") or ""
        self.house.note(Entry(self.peer, sender.strip("<>"), "refused", reason=why))

    def data_received(self, data: bytes) -> None:
        """Take what comes in, as long as it is not too much."""
        self.said += len(data) + (LINE * data.count(b"\n") if self.most == MOST_HEARD else 0)
        if self.said <= self.most:
            super().data_received(data)
        elif not self._writer.is_closing():
            self.refused(TOO_LARGE)
            self.leave(TOO_LARGE)

    async def push(self, status: AnyStr) -> None:
        """Send a reply, and a last word if there were too many errors or if the server is being stopped."""
        await super().push(status)
        text = status if isinstance(status, str) else status.decode()
        self.errors += text.startswith(("4", "5"))
        if self.house.is_closing:
            self.leave(STOPPED)
        elif self.errors > MOST_ERRORS:
            self.leave("421 4.7.0 There were too many errors")

    async def smtp_MAIL(self, arg: str | None) -> None:
        """Take any sender, also none, who can be read and answered."""
        found = FROM.fullmatch(arg) if arg and arg.isprintable() else None
        if not found:
            await self.push("501 5.1.7 This is no sender")
            return
        sender = found[1] or ""
        if not sender.isascii():
            self.house.note(Entry(self.peer, sender, "refused", reason=UNANSWERABLE))
            await self.push(UNANSWERABLE)
            return
        await super().smtp_MAIL(arg)

    async def smtp_RCPT(self, arg: str | None) -> None:
        """Take nothing but an address."""
        if not (arg and arg.isprintable() and TO.fullmatch(arg)):
            await self.push(UNKNOWN)
            return
        await super().smtp_RCPT(POSTMASTER.sub(rf"\g<0>@{self.hostname}", arg))

    def _getaddr(self, arg: str) -> tuple[str, str]:
        """The address that FROM or TO has found to be one, and what follows.

        aiosmtpd reads it as it would read prose, which takes as long as all else that is said at the door.
        """
        address, _, rest = arg.strip().removeprefix("<").partition(">")
        return address or "<>", rest

    async def smtp_DATA(self, arg: str | None) -> None:
        """Take the text of a mail; aiosmtpd itself would keep the beginning of a line that does not end."""
        if not (self.envelope and self.envelope.rcpt_tos):
            await self.push("503 5.5.1 Error: need RCPT command")
            return
        if arg:
            await self.push("501 5.5.4 Syntax: DATA")
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        self.said, self.most = 0, MOST_DROPPED
        with Text(self.house) as text:
            await self._read(text)
            raw = text.mail()
        self.said, self.most = 0, MOST_HEARD
        sender, recipients = (self.envelope.mail_from or "").strip("<>"), self.envelope.rcpt_tos
        if reply := text.refusal:
            self.refused(reply)
        else:
            delivery = Delivery(raw, sender, tuple(dict.fromkeys(recipients)), self.peer or None)
            with self.busy():
                reply = await asyncio.shield(self.house.hand_in(delivery, self.event_handler.handle))
        if reply.startswith("2") and not self._writer.is_closing():
            self.begin()
        self.envelope = self._create_envelope()
        # by LMTP there is a reply for each recipient (RFC 2033)
        await self.push("\r\n".join([reply] * (len(recipients) if isinstance(self, LMTP) else 1)))

    async def _read(self, text: Text) -> None:
        """Read a text up to the line that is only a dot; the first one may be that."""
        before = b"\r\n"
        while raw := await self._reader.read(MOST_BYTES):
            found = (before + raw).find(b"\r\n" + DOT)
            if found >= 0:
                end = found + len(b"\r\n" + DOT) - len(before)
                text.add(raw[:end])
                self._reader.feed_data(raw[end:])  # the next commands, which come back before all that is still to come
                return
            text.add(raw)
            before = (before + raw)[-len(DOT) - 1 :]
        raise ConnectionResetError  # aiosmtpd ends this before that

    async def smtp_VRFY(self, arg: str | None) -> None:
        """Give nothing away."""
        await self.push("252 2.1.5 Send a mail and see")

    async def smtp_AUTH(self, arg: str | None) -> None:
        """Know no logins."""
        await self.push("502 5.5.1 There is no login here")


class LocalDoor(Door, LMTP):
    """A connection by LMTP."""


def origin(peer: str) -> str:
    """What counts as one peer: an address of IPv4, a network of 64 bits of IPv6, or all of a local socket."""
    return str(ip_network((peer, 64), strict=False)) if ":" in peer else peer
