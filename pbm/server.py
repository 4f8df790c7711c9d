"""The server: a database and what is needed to serve it."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from pbm.passwords import Passwords
from pbm.store import Store


class Server(NamedTuple):
    """A database and what is needed to serve it."""

    store: Store
    address: str
    """Where the server gets its mail."""
    passwords: Passwords
    now: Callable[[], datetime] = partial(datetime.now, UTC)
    random_bytes: Callable[[int], bytes] = os.urandom
    operator: str | None = None
    """Where mail for the postmaster goes; None if it is only logged."""
    robot_boards: int = 5
    """On how many active boards a user can play against robots."""
    robot_minutes: float = 1
    """How long robots of the last level think about a move, in minutes of one core."""
    site: str | None = None
    """The address of the site with a page for each board, without a slash at its end; None if there is none."""

    web: str | None = None
    """The address of the web server in the same form; None if mails do not link to it."""

    notice_kinds: Sequence[str] = ()
    """The kinds of notices that are sent, such as ``ntfy``, as the operator names them."""

    @property
    def host(self) -> str:
        """The right side of the server's address and of its Message-IDs."""
        return self.address.rpartition("@")[2]
