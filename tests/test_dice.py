"""The dice (pbm/board/dice.py): even, repeatable, and bound to a promise."""

import hashlib
import hmac
from collections import Counter

from pbm.board import dice

SECRET = bytes(range(32))


def test_a_throw_is_what_the_published_formula_says_and_each_board_turn_and_secret_has_its_own():
    digest = hmac.new(SECRET, b"spiro 101 7 0", hashlib.sha256).digest()
    expected = [byte % 6 + 1 for byte in digest if byte < 252]
    assert list(dice.throw(SECRET, "spiro 101", 7, 2)) == expected[:2]
    assert list(dice.throw(SECRET, "spiro 101", 7, 20)) == expected[:20]
    assert len({dice.throw(SECRET, "spiro 101", 3, 2) for _ in range(5)}) == 1
    throws = {
        dice.throw(secret, board, turn, 12)
        for secret in (SECRET, SECRET[::-1])
        for board in ("spiro 101", "spiro 102")
        for turn in range(3)
    }
    assert len(throws) == 12


def test_every_face_is_equally_likely():
    thrown = Counter(die for turn in range(6000) for die in dice.throw(SECRET, "spiro 101", turn, 2))
    expected = 2000
    chi_square = sum((count - expected) ** 2 / expected for count in thrown.values())
    assert sorted(thrown) == [1, 2, 3, 4, 5, 6]
    assert chi_square < 20.5  # 5 degrees of freedom: one honest secret in a thousand does worse, and this one is fixed


def test_a_long_throw_goes_on_with_the_next_block_and_the_promise_is_the_sha256_of_the_secret():
    assert len(dice.throw(SECRET, "spiro 101", 0, 100)) == 100
    assert dice.commitment(SECRET) == hashlib.sha256(SECRET).hexdigest()
