"""Passwords, kept as argon2id hashes with their parameters inside, so that these can be raised later."""

import os
from hashlib import blake2b
from threading import Lock
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

HASHER = PasswordHasher(time_cost=5, memory_cost=7 * 1024, parallelism=1)

T = TypeVar("T")

REMEMBERED = 10_000
"""How many results of argon2, by keyed hashes of the passwords, a running server remembers."""


class Passwords:
    """Hashes passwords and checks them.

    The cost is one of those that OWASP names for argon2id as equally safe (Password Storage Cheat Sheet): 7 MiB, 5
    passes, 1 lane. A command in a shell has to get its memory from the system, and computes half as long with these as
    with 19 MiB and 2 passes. Each result of argon2 is remembered with the hash that it is about: a busy player waits
    for one slow hash only, and none runs again under the write lock. A new password has a new hash, so no remembered
    result belongs to it.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._key = os.urandom(32)
        self._remembered: dict[bytes, bool] = {}
        self._prepared: dict[bytes, str] = {}

    def prepare(self, password: str) -> None:
        """Compute now what `hash` will return for a password."""
        mark = self._mark(None, password)
        if mark not in self._prepared:  # many are never asked for: a command can be refused
            _keep(self._prepared, mark, HASHER.hash(password))

    def hash(self, password: str) -> str:
        """The text to store for a password. A prepared one is used only once, so that no two users have the same."""
        hashed = self._prepared.pop(self._mark(None, password), None) or HASHER.hash(password)
        _keep(self._remembered, self._mark(hashed, password), result=True)
        return hashed

    def knows(self, stored: str | None, password: str) -> bool:
        """Whether `is_right` has the result already, and argon2 does not run."""
        return self._mark(stored, password) in self._remembered

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether the password is the stored one. Without such a user, *stored* is None, and it takes as long."""
        mark = self._mark(stored, password)
        if mark in self._remembered:
            return self._remembered[mark]
        if stored is None:
            HASHER.hash(password)
        try:
            is_right = stored is not None and HASHER.verify(stored, password)
        except VerificationError:
            is_right = False
        _keep(self._remembered, mark, is_right)
        return is_right

    def is_outdated(self, stored: str) -> bool:
        """Whether a stored hash was made with other parameters than are used now."""
        return HASHER.check_needs_rehash(stored)

    def _mark(self, stored: str | None, password: str) -> bytes:
        return blake2b(f"{stored} {password}".encode(), key=self._key).digest()


_keeping = Lock()


def _keep(results: dict[bytes, T], mark: bytes, result: T) -> None:
    """Remember a result, and forget the oldest one if there are too many. Several threads may do that."""
    with _keeping:
        results[mark] = result
        if len(results) > REMEMBERED:
            del results[next(iter(results))]
