"""The mail server: takes commands by SMTP or LMTP, and sends what is in the outbox."""

import asyncio
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope
from aiosmtpd.smtp import Session as Connection

from pbm import mail, outbox
from pbm.session import Server
from pbm.store import Unusable

if TYPE_CHECKING:
    from pbm.outbox import Transport

LOOK_AGAIN = 1.0
"""Seconds after which the outbox is looked at for mails that other processes have put there."""


class Handler:
    """What aiosmtpd asks and tells while a mail comes in."""

    def __init__(self, server: Server, wake_sender: Callable[[], None], *, lmtp: bool) -> None:
        """Handle mails for *server*, and call *wake_sender* when the outbox may have new ones."""
        self.server = server
        self.wake_sender = wake_sender
        self.lmtp = lmtp
        self.worker = ThreadPoolExecutor(max_workers=1)  # a database connection serves one thread at a time

    async def handle_RCPT(  # the name is aiosmtpd's
        self, server: SMTP, session: Connection, envelope: Envelope, address: str, rcpt_options: list[str]
    ) -> str:
        """Take mail for our own address only."""
        if not mail.is_ours(address, self.server.address):
            return "550 5.1.1 There is no such mailbox here"
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(rcpt_options)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server: SMTP, session: Connection, envelope: Envelope) -> str:
        """Say 250 when all that the mail causes is on the disk, and 451 if it could not be stored: come again."""
        raw = envelope.original_content or b""
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self.worker, mail.handle, self.server, raw, envelope.mail_from)
            reply = "250 2.0.0 Done"
        except Unusable as error:
            sys.stderr.write(f"{error}\n")
            reply = "451 4.3.0 This could not be stored; please try again later"
        self.wake_sender()
        return "\r\n".join([reply] * (len(envelope.rcpt_tos) if self.lmtp else 1))  # RFC 2033: one for each recipient

    async def handle_exception(self, error: Exception) -> str:
        """Let the mail come again, where aiosmtpd would refuse it for good."""
        sys.stderr.write(f"A mail could not be handled: {type(error).__name__}: {error}\n")
        return "451 4.3.0 This could not be handled; please try again later"


async def serve(server: Server, way: "Transport", host: str, port: int, *, lmtp: bool) -> None:
    """Serve until the process is told to end."""
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    handler = Handler(server, woken.set, lmtp=lmtp)

    def connection() -> SMTP:
        kind = LMTP if lmtp else SMTP
        return kind(handler, hostname=server.host, ident="pbm", data_size_limit=mail.MOST_BYTES, enable_SMTPUTF8=True)

    listener = await loop.create_server(connection, host, port)
    ended = asyncio.Event()
    sender = loop.create_task(_send_all(handler, way, woken, ended))
    for sent in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sent, ended.set)
    name, number, *_ = listener.sockets[0].getsockname()
    sys.stdout.write(f"listening on {name}:{number}\n")
    sys.stdout.flush()
    await ended.wait()
    listener.close()
    woken.set()
    await sender
    handler.worker.shutdown()
    server.store.close()


async def _send_all(handler: Handler, way: "Transport", woken: asyncio.Event, ended: asyncio.Event) -> None:
    """Send what is due whenever there may be something, taking turns with the mails that come in, until the end."""
    loop = asyncio.get_running_loop()

    def in_turn(work: Callable[[], Any]) -> Any:
        return handler.worker.submit(work).result()

    while not ended.is_set():
        woken.clear()
        try:
            await asyncio.to_thread(outbox.flush, handler.server, way, in_turn, until=ended.is_set)
        except Exception as error:  # a sender that ended would leave all mails lying
            sys.stderr.write(f"Mails could not be sent: {type(error).__name__}: {error}\n")
        timer = loop.call_later(LOOK_AGAIN, woken.set)
        if not ended.is_set():
            await woken.wait()
        timer.cancel()
