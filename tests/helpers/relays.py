"""Mail servers to which pbm sends: what they get, and what they answer.

    with running(Relay(RCPT="550 no such user")) as relay:
        flush(club.server, transport(f"smtp://127.0.0.1:{relay.port}"))
    assert relay.mails == []

The fixture `waiting` is a server with a mail to each of the `NAMES` in its outbox.
"""

import asyncio
import base64
import threading
from contextlib import contextmanager, suppress

from aiosmtpd.smtp import SMTP, AuthResult

from helpers.mailboxes import REFUSAL
from helpers.patience import PATIENCE


class Relay:
    """A mail server that keeps what it gets, and says what it is told to say."""

    def __init__(self, **replies):
        self.replies = replies
        self.mails = []
        self.logins = []
        self.connections = self.farewells = 0
        self.port = 0
        self.token = ""

    def authenticate(self, server, session, envelope, mechanism, login):
        """Let in a client that knows the right password."""
        self.logins.append((login.login, login.password))
        return AuthResult(success=login.password == b"right password", handled=False)

    async def auth_XOAUTH2(self, server, args):
        """Let in a client that shows an access token that counts."""
        said = base64.b64decode(args[1]).decode()
        self.logins.append(said)
        if said.partition("Bearer ")[2].rstrip("\1") == self.token:
            return AuthResult(success=True)
        if challenge := self.replies.get("CHALLENGE"):
            await server.push(challenge)
            return AuthResult(success=False, handled=True)
        answer = await server.challenge_auth(REFUSAL, encode_to_b64=True)
        self.logins.append(answer)
        return AuthResult(success=False, handled=False, message=self.replies.get("AUTH"))

    async def handle_MAIL(self, server, session, envelope, address, options):
        if reply := self.replies.get("MAIL"):
            return reply
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if reply := self.replies.get(address, self.replies.get("RCPT")):
            return reply
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.mails.append(envelope)
        return self.replies.get("DATA", "250 OK")

    async def handle_QUIT(self, server, session, envelope):
        self.farewells += 1
        return "221 bye"


@contextmanager
def running(relay, context=None, *, at_once=False, **settings):
    """The relay on a free port; *at_once* it speaks TLS from the first byte."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)

    def connection():
        relay.connections += 1
        offered = None if at_once else context
        return SMTP(
            relay, hostname="relay", tls_context=offered, authenticator=relay.authenticate, loop=loop, **settings
        )

    async def listen():
        listener = await loop.create_server(connection, "127.0.0.1", 0, ssl=context if at_once else None)
        relay.port = listener.sockets[0].getsockname()[1]

    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(listen(), loop).result(PATIENCE)
        yield relay
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(asyncio.sleep(0))
        loop.close()


NAMES = ("alice", "bob", "carol", "dave")


def left(club):
    """What is left in the outbox: its recipient, how often it was tried, whether it will be, and what went wrong."""
    return [
        (str(mail.address).partition("@")[0], mail.tries, mail.due is not None, mail.problem) for mail in club.mails()
    ]
