"""What all commands share: who is giving a command, and where its answers go.

A command is a function that takes a Session and does all it does in one transaction. It returns the letters that
answer whoever gave it in a shell; all other letters are in the outbox by then.
"""

from contextlib import AbstractContextManager
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from pbm import zones
from pbm.letters import Letter
from pbm.passwords import Passwords
from pbm.refusals import Refused, copied
from pbm.rehearsal import Rehearsal
from pbm.server import Server
from pbm.store import Reply, Store, WouldWrite

if TYPE_CHECKING:
    from pbm.access.guesses import Guesses
    from pbm.access.quotas import Holders


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
    guesses: "Guesses | None" = None
    """Where passwords that come by mail are counted; None in a shell, which may try as many as it likes."""
    proved: Reply | None = None
    """The reply address that the command came to, which speaks for one user on one board."""
    peer: str | None = None
    """The machine that the mail came from; None in a shell, and if that is one of ours, which brings all mails."""
    rehearsal: Rehearsal | None = None
    """What is done of the command before it takes the write lock."""

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

    def zone(self, userid: str | None) -> tzinfo:
        """The time zone in which a user is told times; None stands for whoever gives the command, if that is known."""
        if name := userid or (self.proved and self.proved.userid):
            names = {name}
        else:
            names = self.store.userids_at(self.sender) if self.sender else set()
        found = {self.store.zone(name) for name in names}
        return zones.zone_of(found.pop() if len(found) == 1 else None)

    @property
    def passwords(self) -> Passwords | Rehearsal:
        """What checks and hashes passwords."""
        return self.rehearsal or self.server.passwords

    @property
    def is_rehearsed(self) -> bool:
        """Whether the command is only being rehearsed."""
        return self.rehearsal is not None and not self.rehearsal.is_over

    @property
    def is_from_user(self) -> bool:
        """Whether the command came from an address that a user has confirmed."""
        return bool(self.sender and self.store.userids_at(self.sender))

    @property
    def holders(self) -> "Holders":
        """Whose numbers the mail uses up that gives the command."""
        from pbm.access.quotas import Holders

        signs = bool(self.proved or (self.guesses and self.guesses.was_right))
        return Holders(address=self.sender or "", peer=self.peer, signs=signs)

    def is_left(self, what: str, **whose: str) -> bool:
        """Whether there is one left of something, for whoever gives the command or for those who are named."""
        from pbm.access import quotas

        return quotas.is_left(self.store, what, self.holders._replace(signs=False, **whose), self.now())

    def take(self, what: str, amount: int = 1, **whose: str) -> bool:
        """Use up some of something, of those numbers; False if there are not as many left."""
        from pbm.access import quotas

        return quotas.take(self.store, what, self.holders._replace(signs=False, **whose), self.now(), amount)

    def take_own(self, what: str, amount: int = 1) -> bool:
        """Use up some of something that a user has twice: once for what he signs, once for what uses his address."""
        from pbm.access import quotas

        return quotas.take(self.store, what, self.holders, self.now(), amount)

    def writing(self, *, signs: bool = True) -> AbstractContextManager[None]:
        """A transaction for a command that changes something.

        One that nobody signs is not rehearsed.
        """
        if self.rehearsal:
            self.rehearsal.writes = True
        if not signs:
            self.begin_writing()
        return self.store.transaction()

    def reading(self) -> AbstractContextManager[None]:
        """A transaction for a command that changes nothing."""
        if self.rehearsal and self.rehearsal.draft and self.is_rehearsed:
            self.rehearsal.draft.close()
        return self.store.transaction(reading=self.in_shell and (self.rehearsal is None or self.is_rehearsed))

    def begin_writing(self) -> None:
        """End the rehearsal of a command that changes something, and of which no draft is made."""
        if self.rehearsal and self.rehearsal.writes and self.is_rehearsed:
            raise WouldWrite

    def signed(
        self,
        userid: str,
        password: str,
        *,
        board: str = "",
        new_password: str = "",
    ) -> str:
        """The user who signs a command with his password. Raises Refused, not telling which of the two is wrong.

        A command that a reply address may give names its *board*, such as ``spiro 101``. A *new password* is hashed
        here, too, for behind this a line of `multiple` has the write lock.
        """
        name = userid.lower()
        proved = self.proved and (f"{self.proved.game} {self.proved.board}", self.proved.userid)
        if proved == (board, name) and not password:
            self.store.note_command(name, self.now())
            return name
        if self.rehearsal and self.is_rehearsed:
            self.rehearsal.signed.append((userid, password))
        if self.guesses and (until := self.guesses.wait_until(name)):
            when = f"{until + timedelta(minutes=1):%Y-%m-%d %H:%M} UTC"
            raise Refused(f"Too many passwords were wrong; the next one is looked at from {when} on.")
        stored = self.store.password_of(name) or None  # a robot has none that could be right
        is_right = self.passwords.is_right(stored, password) and stored is not None
        if self.guesses:
            self.guesses.note(name, is_right=is_right)
        if not is_right or stored is None:
            # a userid that is none may be the password in the wrong place
            why = copied(password, "your password") or "The userid or the password is wrong."
            raise Refused(why, secrets=() if stored else (userid,))
        renewed = self.passwords.hash(password) if self.server.passwords.is_outdated(stored) else None
        if new_password:
            self.passwords.hash(new_password)
        if self.gathered is not None:  # one line can follow from another, and no draft is made
            self.begin_writing()
        if renewed:
            self.store.set_password(name, renewed)
        self.store.note_command(name, self.now())
        return name
