"""Passwords, kept as argon2id hashes with their parameters inside, so that these can be raised later."""

import os
from collections import OrderedDict
from hashlib import blake2b

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

HASHER = PasswordHasher(time_cost=5, memory_cost=7 * 1024, parallelism=1)

REMEMBERED = 10_000
"""How many passwords that were right are remembered, as keyed hashes, while a server runs."""


class Passwords:
    """Hashes passwords and checks them.

    The cost is one of those that OWASP names for argon2id as equally safe (Password Storage Cheat Sheet): 7 MiB, 5
    passes, 1 lane. A command in a shell gets its memory from the system anew, and computes half as long with these as
    with 19 MiB and 2 passes. A password found right is remembered in memory together with the hash it was right for, so
    that a busy player waits for one slow hash only; a new password has a new hash, and nothing that was remembered fits
    it.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._key = os.urandom(32)
        self._right: OrderedDict[bytes, None] = OrderedDict()

    def hash(self, password: str) -> str:
        """The text to store for a password."""
        return HASHER.hash(password)

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether the password is the one that was stored; None, for no such user, takes as long as a wrong one."""
        if stored is None:
            HASHER.hash(password)
            return False
        mark = blake2b(f"{stored} {password}".encode(), key=self._key).digest()
        if mark in self._right:
            self._right.move_to_end(mark)
            return True
        try:
            HASHER.verify(stored, password)
        except VerificationError:
            return False
        self._right[mark] = None
        if len(self._right) > REMEMBERED:
            self._right.popitem(last=False)
        return True

    def is_outdated(self, stored: str) -> bool:
        """Whether a stored hash was made with other parameters than those of today."""
        return HASHER.check_needs_rehash(stored)


class Proofs:
    """What argon2 has found out for one command, so that it need not find that out again under the write lock."""

    def __init__(self, passwords: Passwords) -> None:
        """Know nothing yet."""
        self._passwords = passwords
        self._right: dict[tuple[str | None, str], bool] = {}
        self._hashes: dict[str, str] = {}

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether a password is the one that is stored; asked once for each hash that was stored meanwhile."""
        if (stored, password) not in self._right:
            self._right[stored, password] = self._passwords.is_right(stored, password)
        return self._right[stored, password]

    def hash(self, password: str) -> str:
        """The text to store for a password, which is right for it from then on."""
        if password not in self._hashes:
            self._hashes[password] = self._passwords.hash(password)
            self._right[self._hashes[password], password] = True
        return self._hashes[password]
