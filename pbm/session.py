"""What all commands share: who is giving a command, and where its answers go.

A command is a function that takes a Session and does all it does in one transaction. It returns the letters that
answer whoever gave it in a shell; all other letters are in the outbox by then.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import NamedTuple

from pbm import pictures, tokens, words
from pbm.board import Point
from pbm.guesses import Guesses
from pbm.letters import Letter
from pbm.server import Server
from pbm.store import Held, Mail, Reply, Store

MOST_ANSWERS = 500
"""How many direct answers a day go to the address of a user."""
MOST_WAITING = 200
"""How many mails wait for a user who has no address that works; older ones are forgotten."""
MOST_TO_STRANGERS = 100
"""How many go to any other address, which may be that of somebody who has asked for nothing."""


class Refused(Exception):
    """A command that cannot be carried out. The text is for the user; nothing was changed."""

    status = 1
    """The exit status of a shell command that was refused."""

    def __init__(
        self,
        text: str,
        *,
        subject: str = "",
        point: Point | None = None,
        reader: str | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        """Say why; show a board where one is known, to the *reader* who has signed for it; do not say the *secrets*."""
        super().__init__(text)
        self.subject = subject
        self.point = point
        self.reader = reader
        self.secrets = secrets


class Session(NamedTuple):
    """A command being carried out."""

    server: Server
    sender: str | None = None
    """The address it was mailed from; None in a shell, which prints the answer."""
    comment: str = ""
    """The text that goes with it."""
    body: str = ""
    """That text as it was typed, for `multiple`, whose commands are its lines."""
    message_id: str | None = None
    """The Message-ID of its mail, if that has a proper one."""
    as_json: bool = False
    """Whether the answer is for a program, which wants all of a board where a person wants a line."""
    guesses: Guesses | None = None
    """Where passwords that come by mail are counted; None in a shell, which may try as many as it likes."""
    proved: Reply | None = None
    """The reply address that the command came to, which speaks for one user on one board."""

    gathered: list[Letter] | None = None
    """Where the answers go to the sender of the command, if they are not mailed one by one."""

    @property
    def store(self) -> Store:
        """The database."""
        return self.server.store

    @property
    def in_shell(self) -> bool:
        """Whether the answer is printed, and the shell's user trusted not to flood anybody."""
        return self.sender is None

    def now(self) -> datetime:
        """The time."""
        return self.server.now()

    def counted_as(self, kind: str) -> str:
        """What uses up which daily number: a stranger who takes a user's name cannot use up that user's own."""
        is_signed = self.proved or (self.guesses and self.guesses.was_right)
        return f"signed {kind}" if is_signed else kind

    def writing(self) -> AbstractContextManager[None]:
        """A transaction for a command that changes something."""
        return self.store.transaction()

    def reading(self) -> AbstractContextManager[None]:
        """A transaction for a command that changes nothing; by mail its answer is a row of the outbox."""
        return self.store.transaction(reading=self.in_shell)

    def signed(self, userid: str, password: str, *, board: str = "") -> str:
        """The user who signs a command with his password. Raises Refused, not telling which of the two is wrong.

        A command that a reply address may give names its *board*, such as ``spiro 101``.
        """
        name = userid.lower()
        proved = self.proved and (f"{self.proved.game} {self.proved.board}", self.proved.userid)
        if proved == (board, name) and not password:
            return name
        if self.guesses and (until := self.guesses.wait_until(name)):
            when = f"{until + timedelta(minutes=1):%Y-%m-%d %H:%M} UTC"
            raise Refused(f"Too many passwords were wrong; the next one is looked at from {when} on.")
        stored = self.store.password_of(name)
        passwords = self.server.passwords
        is_right = passwords.is_right(stored, password) and stored is not None
        if self.guesses:
            self.guesses.note(name, is_right=is_right)
        if not is_right or stored is None:
            # a userid that is none may be the password in the wrong place
            raise Refused("The userid or the password is wrong.", secrets=() if stored else (userid,))
        if passwords.is_outdated(stored):
            self.store.set_password(name, passwords.hash(password))
        return name

    def answer(self, actor: str | None, *answers: Letter) -> list[Letter]:
        """Put letters into the outbox, and return those that a shell prints instead: to its user and to *actor*."""
        printed = [letter for letter in answers if self.in_shell and letter.to in (None, actor)]
        for letter in answers:
            if letter not in printed:
                self.queue(letter)
        return printed

    def queue(self, letter: Letter) -> None:
        """Put a letter into the outbox: to the sender of the command, or to all addresses of a user.

        A user who has still to confirm all his addresses, or all of whose addresses bounce, gets it when that is over;
        one who has none gets nothing. Mails about a board reach him as he has chosen for its game, unless they are
        urgent. A sender who has had more answers today than anybody reads gets none.
        """
        if letter.to is None and self.gathered is not None:
            self.gathered.append(letter)
            return
        reply_to = self.reply_address(letter)
        if letter.to is None:
            most = MOST_ANSWERS if self.sender and self.store.userids_at(self.sender) else MOST_TO_STRANGERS
            if not self.sender or self.store.take(self.counted_as("answer"), self.sender, most, self.now()):
                self.mail(self.sender, letter, self.message_id, reply_to)
            return
        thread = f"<{letter.thread}.{letter.to}@{self.server.host}>" if letter.thread else None
        addresses = self.store.addresses(letter.to)
        if addresses and letter.board and not letter.is_urgent and self._holds_back(letter, letter.to):
            return
        usable = [address for address in addresses if address.confirmed and not address.suspended]
        for address in usable:
            mark = tokens.bounce_token(self.server, address.number, f"{letter.to} {address.address}")
            self.mail(address.address, letter, thread, reply_to, f".{mark}")
        if addresses and not usable:
            self.mail(None, letter, thread, reply_to)
            self.store.trim_waiting(letter.to, MOST_WAITING)

    def _holds_back(self, letter: Letter, userid: str) -> bool:
        """Whether a user wants no mail about a board by itself; if he wants digests, it is kept for the next one."""
        wanted = self.store.player(letter.game, userid).mail
        if wanted == "digest":
            picture = pictures.placed(letter.text, letter.drawings)
            self.store.hold_mail(Held(userid, letter.game, letter.subject, letter.text, picture, self.now()))
        return wanted != "each"

    def reply_address(self, letter: Letter) -> str | None:
        """Where the reader of a letter can answer with his move alone; None if he cannot."""
        if letter.to and letter.board:
            return tokens.reply_address(self.server, letter.game, letter.board, letter.to)
        return tokens.reply_address(self.server, *self.proved) if self.proved and letter.to is None else None

    def mail(
        self,
        address: str | None,
        letter: Letter,
        thread: str | None = None,
        reply_to: str | None = None,
        mark: str = "",
    ) -> None:
        """Put a letter into the outbox for one address, None if it has to wait for one.

        *thread* is the Message-ID that it answers, or that of the first letter about a board. *reply_to* is where the
        answer goes, if that is not the server's own address. The *mark* in the Message-ID tells which address bounces.
        """
        text = words.fitted(letter.text)
        fresh = f"<{self.server.random_bytes(12).hex()}{mark}@{self.server.host}>"
        mail = Mail(
            userid=letter.to,
            address=address,
            subject=letter.subject,
            text=text,
            message_id=thread if thread and letter.to and letter.begins_thread else fresh,
            thread=thread,
            queued=self.now(),
            due=self.now(),
            unsubscribe=letter.unsubscribe or None,
            picture=pictures.placed(text, letter.drawings),
            reply_to=reply_to,
        )
        self.store.add_mail(mail)
