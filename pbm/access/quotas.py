"""What anybody may cause: all daily and hourly limits, in one table.

Commands as such are not limited. Limits of another kind stand with what they limit: `BETWEEN_NAGS` in
`actions.reminders`, `BETWEEN_BROADCASTS` in `actions.messages`, and how many boards a robot plays in `store.robots`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pbm.names import untagged
from pbm.store import Store

AN_HOUR = "%Y-%m-%dT%H"
"""The format in which the hour of a count is stored; it sorts like times."""
A_DAY = "%Y-%m-%d"
"""The format in which the day of a count is stored; it sorts like times."""


class Quota(NamedTuple):
    """How many of something there may be in an hour or a day."""

    whose: str
    """``user``; ``address`` without its ``+tag``, or its ``domain``; the ``peer`` that brought the mail; or ``all``."""
    most: int
    per: str


LIMITS: Mapping[str, Sequence[Quota]] = {
    # what an address may ask for, and what it may send to others
    "answer": [Quota("address", 500, A_DAY)],
    "bytes of answers": [Quota("address", 3_000_000, A_DAY)],
    "error": [Quota("address", 20, A_DAY)],
    "challenge": [Quota("address", 50, A_DAY)],
    "asked": [Quota("address", 25, A_DAY)],
    "board sent again": [Quota("address", 3, A_DAY)],
    # what goes to an address that is no user's, who may have asked for nothing
    "answer to a stranger": [
        Quota("address", 100, A_DAY),
        Quota("domain", 200, A_DAY),
        Quota("peer", 30, AN_HOUR),
        Quota("all", 60, AN_HOUR),
    ],
    "bytes to strangers": [Quota("all", 800_000, AN_HOUR)],
    # sign-ups, and the questions whether an address wants mail
    "sign-up": [
        Quota("peer", 10, AN_HOUR),
        Quota("all", 45, AN_HOUR),
    ],
    "confirmation": [Quota("address", 1, A_DAY)],
    "question": [
        Quota("domain", 100, A_DAY),
        Quota("peer", 20, AN_HOUR),
        Quota("all", 45, AN_HOUR),
    ],
    # guests, who play a robot on a page
    "guest": [
        Quota("peer", 5, AN_HOUR),
        Quota("all", 60, AN_HOUR),
    ],
    # links that make a browser a device
    "link": [Quota("user", 1, AN_HOUR)],
    "request for a link": [
        Quota("peer", 5, AN_HOUR),
        Quota("all", 60, AN_HOUR),
    ],
    # codes for a new password
    "reset": [Quota("user", 3, A_DAY)],
    "request for a reset": [
        Quota("peer", 5, AN_HOUR),
        Quota("all", 12, AN_HOUR),
    ],
    # what is passed on to the operator
    "postmaster": [Quota("address", 20, A_DAY)],
    # codes for what somebody has asked for from the operator's address
    "operator request": [Quota("address", 10, A_DAY)],
    # what a user who has signed may do
    "text": [Quota("user", 100, A_DAY)],
    # codes that go where nobody may have asked for them
    "notice code": [
        Quota("user", 10, A_DAY),
        Quota("all", 45, AN_HOUR),
    ],
    "joining": [Quota("user", 20, A_DAY)],
    "shown": [Quota("user", 100, A_DAY)],
    "digest": [Quota("user", 1, A_DAY)],
    "analysis": [Quota("user", 3, A_DAY)],
}
"""Where one thing has several limits, all of them hold."""


class Holders(NamedTuple):
    """The user, address and peer to count for; None or empty where they are not known."""

    user: str = ""
    address: str = ""
    """The mail address; where there is none, the userid, or the machine of somebody who is not known."""
    peer: str | None = None
    signs: bool = False
    """Whether somebody has proved who they are: a stranger who takes a user's name cannot use up that user's own."""


def most(what: str, whose: str) -> int:
    """How many there may be of something."""
    return next(limit.most for limit in LIMITS[what] if limit.whose == whose)


def is_left(store: Store, what: str, holders: Holders, now: datetime, amount: int = 1) -> bool:
    """Whether an *amount* of something is left. Raises ValueError if the user or the address is not named."""
    return all(store.trust.used(*place) + amount <= most for most, place in _limits(what, holders, now))


def take(store: Store, what: str, holders: Holders, now: datetime, amount: int = 1) -> bool:
    """Use up an *amount* of something. Returns False, and uses up nothing, if less is left.

    Raises ValueError if the user or the address of the quota is not named.
    """
    if not is_left(store, what, holders, now, amount):
        return False
    for _, place in _limits(what, holders, now):
        store.trust.use(*place, amount)
    return True


def _limits(what: str, holders: Holders, now: datetime) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Each limit of something: its number, and the key of its count: ``("error", "a@b.org", "2026-01-31")``."""
    whose = {
        "user": holders.user,
        "address": untagged(holders.address),
        "domain": holders.address.rpartition("@")[2],
        "peer": holders.peer,
        "all": "all",
    }
    for limit in LIMITS[what]:
        holder = whose[limit.whose]
        if not holder and limit.whose == "peer":
            continue  # our own relay brings the mails of everybody
        if not holder:  # without this, a caller who forgets the holder would be limited by nothing
            raise ValueError(f"The quota of {what!r} belongs to a {limit.whose}, and none is named.")
        kind = what
        if limit.whose not in {"user", "address"}:
            kind = f"{what}, {limit.whose}"
        if holders.signs:
            kind = f"signed {kind}"
        yield limit.most, (kind, holder, f"{now:{limit.per}}")
