"""The door: a conversation by SMTP or LMTP, and what nobody may do in it.

aiosmtpd speaks; what is here are limits, so that no sender can hold up, fill up or fool the server.
"""

import asyncio
import logging
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_network
from ssl import SSLContext
from typing import Any, AnyStr, NamedTuple

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope
from aiosmtpd.smtp import Session as Connection

from pbm.mail.incoming import MOST_BYTES

MOST_RECIPIENTS = 10
"""How many recipients a mail may have; all of them are addresses of this server."""
MOST_CONNECTIONS = 100
MOST_OF_A_PEER = 25
"""How many connections one peer may have; Postfix opens at most 20."""
MOST_ERRORS = 20
"""How many mistakes a peer may make from one mail to the next."""
MOST_HELD = 8 * MOST_BYTES
"""How many bytes of memory a mail may take up while it comes in."""
LINE_HELD = 70
"""How many bytes of memory a line takes up besides its text."""
MOST_SILENCE = 300
"""Seconds between two commands, and for the text of a mail as a whole."""
MOST_WAITING = 900
"""Seconds from one mail to the next."""
LAST_WORD = 10
"""Seconds that a peer has to read why he has to leave."""
MOST_CALLS = {"*": 20, "MAIL": sys.maxsize, "RCPT": sys.maxsize, "DATA": sys.maxsize, "RSET": sys.maxsize}
"""How often each command may be given in one connection."""
UNKNOWN = "550 5.1.1 There is no such mailbox here"
ENDED = "550 5.1.1 There is no such mailbox here; a reply address ends with its game, and with a new password"
STOPPED = "421 4.3.2 The server is being stopped; please try again later"
FAULT = "451 4.3.0 This could not be handled; please try again later"
TOO_LARGE = "552 5.3.4 The mail is too large"
ATOM = r"""[^\s"%!:@,;<>()\[\]\\]+"""
SENDER = re.compile(rf"(?i)from: ?<({ATOM}@({ATOM}|\[[\w.:]+\]))?>( .*)?")
"""A sender, who may be nobody; not one in quotes, who could not be answered."""
RECIPIENT = re.compile(rf"(?i)to: ?<{ATOM}@{ATOM}>( .*)?")
"""A recipient without quotes, and without a way for the mail to take (RFC 5321, appendix C)."""
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


Answer = tuple[str, str]
"""The reply to a mail, and what came of it in a word, for the log."""


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

    async def handle_DATA(self, door: "Door", session: Connection, envelope: Envelope) -> str:
        """Handle the mail. By LMTP there is a reply for each recipient (RFC 2033)."""
        raw = envelope.original_content or b""
        if SMUGGLED.search(raw):
            reply = outcome = "550 5.6.11 CR or LF stands alone where the mail might seem to end"
        else:
            sender = (envelope.mail_from or "").strip("<>")
            recipients = tuple(dict.fromkeys(envelope.rcpt_tos))
            with door.busy():
                reply, outcome = await self.handle(Delivery(raw, sender, recipients, door.peer or None))
        door.log(outcome)
        if reply.startswith("2"):
            door.begin()
        return "\r\n".join([reply] * (len(envelope.rcpt_tos) if isinstance(door, LMTP) else 1))

    async def handle_exception(self, error: Exception) -> str:
        """Let the mail come again, where aiosmtpd would refuse it for good."""
        sys.stderr.write(f"A mail could not be handled: {type(error).__name__}: {error}\n")
        return FAULT


class House:
    """All who are at the door."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self.inside: set[Door] = set()
        self.is_closing = False
        self.is_empty = asyncio.Event()

    def objection(self, origin: str) -> str:
        """Why no more connections from there are taken; empty if they are."""
        if self.is_closing:
            return STOPPED
        if len(self.inside) >= MOST_CONNECTIONS or sum(door.origin == origin for door in self.inside) >= MOST_OF_A_PEER:
            return "421 4.7.0 There are too many connections; please try again later"
        return ""

    def enter(self, door: "Door") -> None:
        """Let somebody in."""
        self.inside.add(door)

    def leave(self, door: "Door") -> None:
        """Let somebody out."""
        self.inside.remove(door)
        if not self.inside:
            self.is_empty.set()

    async def close(self) -> None:
        """Let the mails that have come in be handled and answered, and send everybody away."""
        self.is_closing = True
        for door in self.inside:
            if not door.is_busy:
                door.leave(STOPPED)
        if self.inside:
            self.is_empty.clear()
            await self.is_empty.wait()


class Door(SMTP):
    """A connection by SMTP."""

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
        self.errors = self.held = 0
        self.is_busy = False
        self.alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Let a peer in, if there is room; one who has begun to speak TLS begins anew."""
        if self not in self.house.inside:
            name = transport.get_extra_info("peername")
            self.peer = name[0] if name else ""
            self.origin = origin(self.peer)
            if objection := self.house.objection(self.origin):
                transport.write(f"{objection}\r\n".encode())
                transport.close()
                return
            self.house.enter(self)
            self.begin()
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Let go of a peer who was let in."""
        if self in self.house.inside:
            self.house.leave(self)
            if self.alarm:
                self.alarm.cancel()
            super().connection_lost(error)

    def begin(self) -> None:
        """Give the peer all the time and all the errors that he has for his next mail."""
        self.errors = 0
        if self.alarm:
            self.alarm.cancel()
        self.alarm = self.loop.call_later(MOST_WAITING, self.leave, "421 4.4.2 This has taken too long")

    def leave(self, reply: str) -> None:
        """Say a last word, and end the connection even if nobody listens."""
        self._writer.write(f"{reply}\r\n".encode())
        self._writer.close()
        self.loop.call_later(LAST_WORD, self._writer.transport.abort)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Stay until something is done."""
        self.is_busy = True
        try:
            yield
        finally:
            self.is_busy = False

    def log(self, outcome: str) -> None:
        """Write a line about a mail: who brought it, who its envelope says has sent it, and what came of it."""
        sender = self.envelope.mail_from if self.envelope else ""
        line = f"{self.peer or 'local'} <{(sender or '').strip('<>')}> {outcome}\n"
        sys.stderr.write(line.encode("ascii", "backslashreplace").decode())

    def data_received(self, data: bytes) -> None:
        """Take what comes in, as long as it is not too much to hold."""
        self.held += len(data) + LINE_HELD * data.count(b"\n")
        if self.held <= MOST_HELD:
            super().data_received(data)
        elif not self._writer.is_closing():
            self.log(TOO_LARGE)
            self.leave(TOO_LARGE)

    async def push(self, status: AnyStr) -> None:
        """Send a reply, and a last word if there were too many errors or if the server is being stopped."""
        await super().push(status)
        text = status if isinstance(status, str) else status.decode()
        self.errors += text.startswith(("4", "5"))
        if text.startswith(("552 Error: Too much", "500 Line too long")):
            self.log(text)
        if self.house.is_closing:
            self.leave(STOPPED)
        elif self.errors > MOST_ERRORS:
            self.leave("421 4.7.0 There were too many errors")

    async def smtp_MAIL(self, arg: str | None) -> None:
        """Take any sender, also none, as long as he can be read."""
        if not (arg and arg.isprintable() and SENDER.fullmatch(arg)):
            await self.push("501 5.1.7 This is no sender")
            return
        await super().smtp_MAIL(arg)

    async def smtp_RCPT(self, arg: str | None) -> None:
        """Take nothing but an address."""
        if not (arg and arg.isprintable() and RECIPIENT.fullmatch(arg)):
            await self.push(UNKNOWN)
            return
        await super().smtp_RCPT(arg)

    async def smtp_DATA(self, arg: str | None) -> None:
        """Count what a mail takes up from its beginning."""
        self.held = 0
        await super().smtp_DATA(arg or "")
        self.held = 0

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
