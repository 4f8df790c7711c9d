"""Passwords by mail: whoever sends wrong ones has to wait ever longer before the next one is looked at."""

from datetime import UTC, datetime, timedelta

from pbm.store import Failures, Store

ALLOWED = {"userid": 5, "peer": 20}
"""How many may be wrong in a row; a peer may be the mail server of a big provider, which many players share."""
FIRST_WAIT = timedelta(minutes=1)
"""How long the next one has to wait then; the wait doubles with each one that is wrong."""
LONGEST_WAIT = timedelta(hours=1)
NO_FAILURES = Failures(0, None)


class Guesses:
    """The passwords that come with one mail.

    They are counted here while its command is carried out, because what a refused command has stored is undone.
    """

    def __init__(self, store: Store, peer: str, now: datetime) -> None:
        """Watch a mail from *peer*, the machine or the address that it came from."""
        self.store = store
        self.peer = peer.lower()
        self.now = now
        self.was_right = False
        self._known: dict[tuple[str, str], Failures] = {}
        self._changed: set[tuple[str, str]] = set()

    def anew(self) -> "Guesses":
        """The same without what was noted since."""
        return Guesses(self.store, self.peer, self.now)

    def wait_until(self, userid: str) -> datetime | None:
        """When the next password for a user is looked at; None if that is now."""
        waits = (_wait(kind, failures) for (kind, _), failures in self._failures(userid).items())
        until = max(waits, default=self.now)
        return until if until > self.now else None

    def note(self, userid: str, *, is_right: bool) -> None:
        """Note whether a password for a user was right."""
        self.was_right = self.was_right or is_right
        for holder, before in self._failures(userid).items():
            after = NO_FAILURES if is_right else Failures(before.times + 1, self.now)
            if after != before:
                self._known[holder] = after
                self._changed.add(holder)

    def save(self) -> None:
        """Store what was noted."""
        for kind, holder in self._changed:
            self.store.trust.save_failures(kind, holder, self._known[kind, holder])

    def _failures(self, userid: str) -> dict[tuple[str, str], Failures]:
        """The wrong passwords for a user and from the peer, those of this mail included."""
        holders = ("userid", userid[:64]), ("peer", self.peer)
        if holders[0] not in self._known:
            stored = self.store.trust.failures(userid[:64], self.peer)
            self._known = {holder: stored.get(holder[0], NO_FAILURES) for holder in holders} | self._known
        return {holder: self._known[holder] for holder in holders}


def _wait(kind: str, failures: Failures) -> datetime:
    """Until when the next password has to wait."""
    too_many = failures.times - ALLOWED[kind]
    if too_many < 0 or failures.last is None:
        return datetime.min.replace(tzinfo=UTC)
    return failures.last + min(FIRST_WAIT * (1 << min(too_many, 10)), LONGEST_WAIT)
