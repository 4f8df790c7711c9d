"""The table of results on the page of a tournament: who has played against each other, and how each game has ended."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pbm.letters.contests import TournamentTable
from pbm.tournaments import tables
from pbm.tournaments.kinds import Meeting

OUTCOME_VERBS = {1: "won against", 0: "tied with", -1: "lost to"}
"""How a game of a tournament has ended for a player."""


class ResultCell(NamedTuple):
    """A game in the table of results, or a bye."""

    sign: str
    """Such as ``1``, or with the number of the opponent ``7:1``."""
    board: str
    """Its number; empty for a bye, and for a game that was cancelled."""
    label: str
    """Such as ``erin won against bob``."""
    is_won: bool


class ResultLine(NamedTuple):
    """A player in the table of results."""

    number: str
    name: str
    points: str
    cells: Sequence[Sequence[ResultCell]]
    """The games of the player, against each other player or in each round."""


class ResultTable(NamedTuple):
    """The results of all games of a tournament, as a table that fits the screen of a telephone."""

    heads: Sequence[str]
    """The headings of the games: numbers of lines, or rounds such as ``R1``."""
    names: Sequence[str]
    """What each heading means."""
    lines: Sequence[ResultLine]


def result_table(table: TournamentTable) -> ResultTable:
    """The results of a tournament: of each player against each other one, or in each round."""
    has_rounds = table.tournament.kind.has_rounds
    numbers = {line.name: str(number) for number, line in enumerate(table.lines, 1)}
    cells: dict[tuple[str, str | int], list[ResultCell]] = {}
    for meeting in table.meetings:
        for name in meeting.pair:
            column = meeting.round if has_rounds else meeting.opponent(name)
            cells.setdefault((name, column), []).append(_result_cell(meeting, name, numbers, has_rounds=has_rounds))

    columns: Sequence[str | int] = list(numbers)
    heads = list(numbers.values())
    names = list(numbers)
    if has_rounds:
        columns = range(1, max((meeting.round for meeting in table.meetings), default=0) + 1)
        heads = [f"R{number}" for number in columns]
        names = [f"Round {number}" for number in columns]
    lines = []
    for line in table.lines:
        played = [cells.get((line.name, column), []) for column in columns]
        lines.append(ResultLine(numbers[line.name], line.name, f"{line.points:g}", played))
    return ResultTable(heads, names, lines)


def _result_cell(meeting: Meeting, name: str, numbers: Mapping[str, str], *, has_rounds: bool) -> ResultCell:
    """A game of a player; where columns are rounds, with the number of their opponent."""
    if meeting.is_bye:
        sign = "bye" if meeting.outcome else "bye="
        return ResultCell(sign, "", "", is_won=bool(meeting.outcome))
    opponent = meeting.opponent(name)
    outcome = meeting.outcome_of(name)
    sign = tables.sign_of(meeting, name)
    if has_rounds:
        sign = f"{numbers.get(opponent, '?')}:{sign}"
    if meeting.is_void:
        return ResultCell(sign, "", "", is_won=False)  # its board has been removed
    verb = "plays against" if outcome is None else OUTCOME_VERBS[outcome]
    return ResultCell(sign, meeting.board, f"{name} {verb} {opponent}", is_won=outcome == 1)
