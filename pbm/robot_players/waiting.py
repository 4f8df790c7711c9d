"""What `pbm wait` can wait for on boards, and the list of the boards on which it has happened."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pbm import letters, texts
from pbm.console import answer
from pbm.refusals import Refused
from pbm.store import BoardRow

Condition = Callable[[BoardRow, BoardRow | None], bool]
"""Whether the event has happened on a board, given its state before and its state now (None if it was removed)."""


def condition(until: str, rows: Sequence[BoardRow]) -> Condition:
    """What `pbm wait --until` waits for. Raises Refused if that cannot happen on these boards."""
    if until == "change":
        return lambda then, now: now is None or contents(now) != contents(then)
    if until == "over":
        return lambda _, now: now is None or now.ended is not None
    name = player_of_turn(until)
    if not any(name in row.players for row in rows):
        raise Refused(f"{name} does not play on {' or '.join(row.board for row in rows)}.")
    return lambda then, now: now is None or now.turn == name or (now.ended is not None and name in then.players)


def player_of_turn(until: str) -> str:
    """The player in `turn=USERID`, whose turn is waited for. Raises Refused for another form."""
    what, _, name = until.lower().partition("=")
    if what != "turn" or not name:
        raise Refused(f"One can wait until change, over or turn=USERID, but not until {until!r}.")
    return name


def check_player(row: BoardRow, userid: str) -> None:
    """Raises Refused if a user does not play on a board."""
    if userid not in row.players:
        raise Refused(f"{userid} does not play on this board; {row.first_player} and {row.second_player} do.")


def contents(row: BoardRow) -> tuple[object, ...]:
    """What everybody can see change on a board: the position, and a proposal."""
    return row.started, row.moves, row.turn, row.ended, row.changed, row.vote, row.voter


def print_boards(rows: Sequence[BoardRow], board_data: Sequence[Mapping[str, Any]], gone: Sequence[str]) -> None:
    """Print some boards as they are now, and the numbers of those that were removed."""
    lines = [("Board", "Moves", "Players", "Status")]
    for row in rows:
        lines.append((row.board, str(row.moves), " ".join(row.players), letters.status(row)))
    lines += [(number, "", "", "removed") for number in gone]
    answer(texts.table(lines), {"boards": board_data, "gone": gone})
