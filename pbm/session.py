"""What all commands share: who is giving a command, and where its answers go.

The function of a command takes a Session, works in the open transaction, and returns letters.
"""

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from pbm.access import quotas
from pbm.access.guesses import Guesses
from pbm.access.quotas import Holders
from pbm.board.clocks import zone_of
from pbm.server import Server
from pbm.store import Reply
from pbm.store.trust import Token


@dataclass(eq=False)
class Session:
    """A command being carried out."""

    server: Server
    sender: str | None = None
    """The mail address that it came from; None if it came by no mail, or from a page of a user without an address."""
    comment: str = ""
    """The text that goes with it."""
    body: str = ""
    """The comment as it was typed, for `multiple`: its lines are the commands."""
    message_id: str | None = None
    """The Message-ID of its mail, if that has a proper one."""
    as_json: bool = False
    """Whether the answer is for a program, which wants all of a board where a person wants a line."""
    guesses: Guesses | None = None
    """Counts the wrong passwords that come by mail; None in a shell, which may try as many as it likes."""
    proved: Reply | None = None
    """The reply address that the command came to, which speaks for one user on one board."""
    peer: str | None = None
    """The machine that it came from; None in a shell, and for our own relay, which brings everybody's mails."""
    bearer: Token | None = None
    """The token that came with it over HTTP, which speaks for one user."""
    is_trusted: bool = True
    """Whether a shell on the server's own machine gives it, or the server itself: nobody else is trusted not to flood
    anybody."""
    is_printed: bool = True
    """Whether the answer is printed where the command was typed, in a shell or on a page, and not mailed."""
    is_line: bool = False
    """Whether the command is a line of `multiple`."""
    guest: Reply | None = None
    """The guest that the command signs up, with their board; None if it does not sign up a guest."""
    signers: set[str] = field(default_factory=set)
    """The users who have proved who they are: one, or several in the lines of `multiple`."""
    boards: dict[tuple[str, str], None] = field(default_factory=dict)
    """The boards that a command which may write has named, then the boards that it has started."""

    def __post_init__(self) -> None:
        """Take the database from the server."""
        self.store = self.server.store

    @property
    def now(self) -> datetime:
        """The present, by the clock of the server."""
        return self.server.now()

    def note(self, kind: str, **detail: Any) -> None:
        """Note an event, in the transaction in which it happens."""
        self.store.events.note(self.now, kind, **detail)

    def zone(self, userid: str | None) -> tzinfo:
        """The time zone of a user. None stands for the user who gives the command, if that is known."""
        if userid:
            readers = {userid}
        elif self.proved:
            readers = {self.proved.userid}
        else:
            readers = self.senders
        zones = {self.store.users.zone(reader) for reader in readers}
        if len(zones) != 1:  # several users have this address, and not the same zone; or none has
            return zone_of(None)
        return zone_of(zones.pop())

    @property
    def senders(self) -> set[str]:
        """The users who have confirmed the address that the command came from; nobody without an address."""
        if not self.sender:
            return set()
        return self.store.users.ids_at(self.sender)

    @property
    def known_users(self) -> set[str]:
        """The users who are known to give the command: those at its address, or those proved by a token or a password.

        A password proves them for the lines of `multiple` below its own, too. In a shell nobody is asked.
        """
        if self.is_trusted or self.sender:
            return self.senders
        if self.bearer:
            return {self.bearer.userid}
        return self.signers

    @property
    def known_user(self) -> str | None:
        """The one user proved by a token or a password; None by mail, in a shell, and if there are several."""
        if self.is_trusted or self.sender or len(self.known_users) != 1:
            return None
        [userid] = self.known_users
        return userid

    @property
    def holders(self) -> Holders:
        """The user, the address and the peer that the command counts for in quotas."""
        signs = bool(self.proved or (self.guesses and self.guesses.was_right))
        address = self.sender or ""
        if not address and self.proved:
            address = self.proved.userid
        if not address and not self.is_trusted:
            address = min(self.known_users, default=self.peer or "")
        return Holders(address=address, peer=self.peer, signs=signs)

    def is_left(self, what: str) -> bool:
        """Whether the quota of something is not used up for the sender of the command.

        Raises ValueError if it is that of an address, and none is known.
        """
        return quotas.is_left(self.store, what, self.holders._replace(signs=False), self.now)

    def take(self, what: str, amount: int = 1, *, is_own: bool = False, **whose: str) -> bool:
        """Use up an *amount* of something. Returns False, and uses up nothing, if less is left.

        The quota is that of the sender and their machine, or of another holder, such as ``user="bob"``. If *is_own*,
        commands with the right password have their own quota, separate from others that come from the same address.
        Raises ValueError if the quota is that of a user or an address, and none is known: a shell has no address, and
        is trusted.
        """
        holders = self.holders
        if not is_own:
            holders = holders._replace(signs=False, **whose)
        return quotas.take(self.store, what, holders, self.now, amount)
