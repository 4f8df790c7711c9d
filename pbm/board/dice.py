"""Dice that nobody can foresee while a board is played, and that everybody can check when it is over.

Each board has a secret of 32 random bytes. The players are told its SHA-256 in their first mail and the secret itself
in the last one. The dice of a turn are a keyed hash of the turn's number. They are always the same: neither a preview
nor an undo can throw them again.
"""

import hashlib
import hmac
from collections.abc import Sequence
from itertools import count, islice

SECRET_BYTES = 32


def throw(secret: bytes, board: str, turn: int, dice: int) -> tuple[int, ...]:
    """The *dice* dice of a turn, from 1 to 6 each.

    *board* is the game and the number, such as ``spiro 101``; *turn* is how many turns were played before. The bytes of
    HMAC-SHA256(secret, "BOARD TURN BLOCK") for BLOCK 0, 1, ... are read in order; 252 and above are skipped, so
    that each remainder of 6 is equally likely.
    """
    blocks = (hmac.digest(secret, f"{board} {turn} {block}".encode(), "sha256") for block in count())
    return tuple(islice((byte % 6 + 1 for block in blocks for byte in block if byte < 252), dice))


def commitment(secret: bytes) -> str:
    """The SHA-256 of a secret in hexadecimal. The players are told it at the start."""
    return hashlib.sha256(secret).hexdigest()


def chi_square(counts: Sequence[int]) -> float:
    """The chi-square of counts that should be equal; 0 if they are, or if all are 0."""
    expected = sum(counts) / len(counts)
    if not expected:
        return 0.0
    return sum((count - expected) ** 2 for count in counts) / expected
