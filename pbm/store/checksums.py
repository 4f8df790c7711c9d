"""Checksums, by which a board is known to be as pbm has written it, without being played again.

The checksum of a board is the exclusive or of hashes: one of its row and one of each of its turns. So whoever changes
something needs to know no more than that to change the checksum with it. What anybody else has changed makes it wrong,
and nothing that pbm writes later makes it right again.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from hashlib import blake2b
from operator import xor
from typing import NamedTuple

from pbm.store.rows import BoardRow

TURN = "played || ' ' || number || ' ' || userid || ' ' || automatic || ' ' || dice || ' ' || text"
"""A turn as the text that is hashed, in SQL; it begins with its time."""
QUERY = (
    f"SELECT (SELECT group_concat({TURN}, char(10)) FROM turns WHERE (game, board) = (boards.game, boards.board)), "
    "boards.* FROM boards"
)
LEFT_OUT = BoardRow._field_defaults.items()
"""Columns with the value that they usually have."""


class Content(NamedTuple):
    """All that is stored of a board."""

    row: Mapping[str, object]
    """The columns of its row, as SQLite has them."""
    turns: Sequence[str]
    """Its turns as texts, in their order."""

    @property
    def checksum(self) -> int:
        """What its checksum is if it is as pbm has written it."""
        return share_of_row(self.row) ^ share_of_turns(self.turns)

    @property
    def is_in_order(self) -> bool:
        """Whether its beginning, its turns and its end, if it has one, follow one another in time."""
        played = (turn.partition(" ")[0] for turn in self.turns)
        times = [str(time) for time in (self.row["started"], *played, self.row["ended"]) if time]
        return times == sorted(times)


def contents(db: sqlite3.Connection, where: str = "", values: Sequence[object] = ()) -> Iterator[Content]:
    """All that is stored of boards, those of a condition in SQL."""
    for turns, *columns in db.execute(f"{QUERY} {where}", values):
        yield Content(dict(zip(BoardRow._fields, columns, strict=True)), turns.split("\n") if turns else ())


def share_of_row(row: Mapping[str, object]) -> int:
    """What a row adds to the checksum of its board.

    A column that has its usual value adds nothing, so that boards keep their checksums when they get one more column.
    """
    known = [one for one in row.items() if one[1] is not None and one not in LEFT_OUT and one[0] != "checksum"]
    return _hash(ascii(known))


def turn_line(number: int, columns: Mapping[str, object]) -> str:
    """The turn of that number as TURN writes it, by its columns."""
    return "{played} {number} {userid} {automatic} {dice} {text}".format(number=number, **columns)


def share_of_turns(turns: Iterable[str]) -> int:
    """What turns add to the checksum of their board."""
    return reduce(xor, map(_hash, turns), 0)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), signed=True)
