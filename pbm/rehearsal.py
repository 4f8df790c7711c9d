"""What a command does before it takes the write lock: everything, as far as it only reads and reckons.

A command that changes nothing is done with that. What another one would write is drafted, and written under the lock
if all that it has read is still so. If it is not, or if no draft can tell what the command would do, it is carried out
anew under the lock; the passwords that were checked and hashed until then are not checked and hashed again. What counts
is what is stored under the lock: a password is right for the hash that it was compared with, and for no other one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pbm.store import Draft, Store, WouldWrite

if TYPE_CHECKING:
    from pbm.letters import Letter
    from pbm.passwords import Passwords


T = TypeVar("T")


class Rehearsal:
    """What is known of a command before it takes the write lock."""

    def __init__(self, passwords: "Passwords") -> None:
        """Begin the rehearsal of a command."""
        self.passwords = passwords
        self.is_over = False
        self.is_enough = False
        """Whether the command changes nothing, so that it need not be carried out again."""
        self.writes = False
        """Whether the command has come to the part that changes something."""
        self.signed: list[tuple[str, str]] = []
        """The userids and passwords with which it was signed."""
        self.letters: list[Letter] = []
        """What answers its sender."""
        self.draft: Draft | None = None
        """What it would write; None if that is not known."""
        self._right: dict[tuple[str | None, str], bool] = {}
        self._hashes: dict[str, str] = {}

    def run(self, store: Store, command: Callable[[], T]) -> T | None:
        """What a command returns; None if it changes something, and no draft tells what.

        Raises what the command raises, if it changes nothing.
        """
        try:
            with store.rehearsal() as self.draft:
                done = command()
        except WouldWrite:
            self.draft = None
            return None
        except Exception:
            self.draft = None
            if self.writes:  # under the lock, things may be otherwise
                return None
            self.is_enough = True
            raise
        finally:
            self.is_over = True
        self.is_enough = not (self.writes or self.draft.writes)
        if self.writes and self.draft.is_closed:  # what it has read since is not noted
            self.draft = None
            return None
        return done

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether a password is the one that was stored, as `Passwords.is_right` says, which is asked only once."""
        if (stored, password) not in self._right:
            self._right[stored, password] = self.passwords.is_right(stored, password)
        return self._right[stored, password]

    def hash(self, password: str) -> str:
        """The text to store for a password, made only once."""
        if password not in self._hashes:
            self._hashes[password] = self.passwords.hash(password)
        return self._hashes[password]
