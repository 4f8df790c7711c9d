"""Passwords by mail: after wrong ones, a sender has to wait longer and longer before the next one is checked."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pbm.store import Failures, Store

ALLOWED = {"userid": 5, "peer": 20}
"""How many may be wrong in a row. Many players may share a peer, if it is the mail server of a big provider."""
FIRST_WAIT = timedelta(minutes=1)
"""How long the next one has to wait then; the wait doubles with each one that is wrong."""
LONGEST_WAIT = timedelta(hours=1)
NO_FAILURES = Failures(0, None)
FailuresByHolder = dict[tuple[str, str], Failures]
"""A holder is ``("userid", "alice")`` or ``("peer", "192.0.2.1")``."""


@dataclass(eq=False)
class Guesses:
    """The passwords that come with one mail.

    They are counted here while its command is carried out, because what a refused command has stored is undone.
    """

    store: Store
    peer: str
    """The machine or the address that it came from, in lower case."""
    now: datetime
    was_right: bool = False
    noted: FailuresByHolder = field(default_factory=dict)
    """The failures that this mail has changed."""

    def failures_of(self, userid: str) -> tuple[FailuresByHolder, datetime | None]:
        """The failures of a user and of the peer, including those of this mail; and until when they have to wait.

        That is None if the next password is looked at now.
        """
        stored = self.store.trust.failures(userid[:64], self.peer)
        counts: FailuresByHolder = {}
        until = self.now
        for kind, name in ("userid", userid[:64]), ("peer", self.peer):
            failures = self.noted.get((kind, name), stored.get(kind, NO_FAILURES))
            counts[kind, name] = failures
            too_many = failures.times - ALLOWED[kind]
            if failures.last and too_many >= 0:
                until = max(until, failures.last + _wait_after(too_many))
        if until == self.now:
            return counts, None
        return counts, until

    def note(self, counts: FailuresByHolder, *, is_right: bool) -> None:
        """Note whether the password was right, for the holders who had *counts* failures before."""
        self.was_right = self.was_right or is_right
        for holder, before in counts.items():
            after = NO_FAILURES if is_right else Failures(before.times + 1, self.now)
            if after != before:
                self.noted = self.noted | {holder: after}  # a copy of these guesses keeps its own

    def note_wrong_token(self) -> datetime | None:
        """Note that a token was wrong, for the machine that it came from, if that is known.

        Returns until when the machine has to wait; then nothing is noted.
        """
        if not self.peer:
            return None
        counts, until = self.failures_of("")
        if not until:
            holder = ("peer", self.peer)
            self.noted = self.noted | {holder: Failures(counts[holder].times + 1, self.now)}
        return until

    def save(self) -> None:
        """Store what was noted."""
        for (kind, holder), failures in self.noted.items():
            self.store.trust.save_failures(kind, holder, failures)


def _wait_after(too_many: int) -> timedelta:
    """How long the next password has to wait after so many wrong ones more than are allowed."""
    doublings = min(too_many, 10)  # LONGEST_WAIT is reached long before; a larger power would only cost time
    return min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)
