"""Dice that nobody can foresee while a board is played, and that everybody can check when it is over.

Each board has a secret of 32 random bytes. The players are told its SHA-256 in their first mail and the secret itself
in the last one. The dice of a turn are a keyed hash of the turn's number: they are the same however often they are
asked for, so that neither a preview nor a move taken back can throw them anew.
"""

import hashlib
import hmac
from collections.abc import Iterator
from itertools import count, islice

SECRET_BYTES = 32


def throw(secret: bytes, board: str, turn: int, dice: int) -> tuple[int, ...]:
    """The dice of a turn of a board, from 1 to 6 each.

    *board* is the game and the number, such as ``spiro 101``; *turn* is how many turns were played before. The bytes of
    HMAC-SHA256(secret, "BOARD TURN BLOCK") for BLOCK 0, 1, ... are read in order; 252 and above are skipped, so
    that each remainder of 6 is equally likely.
    """
    return tuple(islice((byte % 6 + 1 for byte in _bytes(secret, f"{board} {turn}") if byte < 252), dice))


def commitment(secret: bytes) -> str:
    """What the players are told of the secret at the start: its SHA-256 in hexadecimal."""
    return hashlib.sha256(secret).hexdigest()


def _bytes(secret: bytes, text: str) -> Iterator[int]:
    for block in count():
        yield from hmac.digest(secret, f"{text} {block}".encode(), "sha256")
