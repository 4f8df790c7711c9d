"""Passwords by mail: whoever sends wrong ones has to wait ever longer before the next one is looked at."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pbm.store import Failures, Store

ALLOWED = {"userid": 5, "peer": 20}
"""How many may be wrong in a row; a peer may be the mail server of a big provider, which many players share."""
FIRST_WAIT = timedelta(minutes=1)
"""How long the next one has to wait then; the wait doubles with each one that is wrong."""
LONGEST_WAIT = timedelta(hours=1)
NO_FAILURES = Failures(0, None)


@dataclass
class Guesses:
    """The passwords that come with one mail.

    They are counted here while its command is carried out, because what a refused command has stored is undone.
    """

    store: Store
    peer: str
    """The machine or the address that it came from, in lower case."""
    now: datetime
    was_right: bool = False
    before: dict[tuple[str, str], Failures] = field(default_factory=dict)
    """The failures of the user and of the peer, as the last `wait_until` found them; those of this mail count, too."""
    noted: dict[tuple[str, str], Failures] = field(default_factory=dict)
    """The failures that this mail has changed."""

    def wait_until(self, userid: str) -> datetime | None:
        """The time before which no password for a user is looked at; None if the next one is looked at now."""
        stored = self.store.trust.failures(userid[:64], self.peer)
        holders = ("userid", userid[:64]), ("peer", self.peer)
        self.before = {holder: self.noted.get(holder, stored.get(holder[0], NO_FAILURES)) for holder in holders}
        waits = [
            failures.last + min(FIRST_WAIT * (1 << min(failures.times - ALLOWED[kind], 10)), LONGEST_WAIT)
            for (kind, _), failures in self.before.items()
            if failures.last and failures.times >= ALLOWED[kind]
        ]
        until = max(waits, default=self.now)
        return until if until > self.now else None

    def note(self, *, is_right: bool) -> None:
        """Note whether the password was right, for the user of the last `wait_until` and for the peer."""
        self.was_right = self.was_right or is_right
        for holder, before in self.before.items():
            after = NO_FAILURES if is_right else Failures(before.times + 1, self.now)
            if after != before:
                self.noted = self.noted | {holder: after}  # a copy of these guesses keeps its own

    def save(self) -> None:
        """Store what was noted."""
        for (kind, holder), failures in self.noted.items():
            self.store.trust.save_failures(kind, holder, failures)
