"""Games as documents that any program can read, and any server can import (docs/records.md)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import games
from games import SKIP, Illegal, State
from pbm import texts
from pbm.board import clocks, dice
from pbm.board.board import LEAVING, SERVER, Board
from pbm.names import is_new_board, is_userid
from pbm.store import BoardRow, ResultRow, TurnRow


class Unsound(Exception):
    """A record, a turn or options that cannot be right. The text says which and why."""


def replayed(row: BoardRow, turns: Iterable[TurnRow]) -> Board:
    """The board after these turns, each of which is checked. Raises Unsound.

    The dice have to follow from the secret of the board. Without a secret, and in turns taken from another board, they
    are taken as they are written.
    """
    try:
        board = Board(row._replace(drawn=False), [], {})
    except (Illegal, LookupError) as why:
        raise Unsound(f"its options cannot be: {why}") from why
    before = row.started
    for number, turn in enumerate(turns, 1):
        if objection := _objection(board, turn, before):
            raise Unsound(f"turn {number}, {games.quoted(turn.text)}: {objection}")
        board.play(turn.userid, turn.text, turn.played, automatic=turn.automatic)
        before = turn.played
    if len(board.turns) < row.given:
        raise Unsound(f"{row.given} of its turns are those of board {row.source}, but it has {len(board.turns)}.")
    return board


def _objection(board: Board, turn: TurnRow, before: datetime) -> str:
    """Why a turn cannot have been played; empty if it can."""
    name = board.turn
    if name is None:
        return "the game was over before it."
    gives_up = turn.text in LEAVING and turn.userid in board.players
    if turn.userid != name and not gives_up:
        return f"it was {name}'s turn, not {turn.userid}'s."
    if turn.played < before:
        return "its time is before that of what went before it."
    try:
        if turn.dice and (not board.row.secret or len(board.turns) < board.row.given):
            board.set_dice(turn.dice)
    except Illegal as why:
        return str(why)
    thrown = board.state.dice if games.needs_dice(board.state) else ()
    if turn.dice != thrown:
        return f"its dice are {_numbers(turn.dice)}, but {_numbers(thrown)} follows from the secret of the board."
    if turn.text in LEAVING:
        return ""
    if board.state.must_skip:
        return "" if (turn.text, turn.automatic) == (SKIP, True) else f"the server has to skip this turn by {SKIP}."
    try:
        canonical = board.state.parse(turn.text)
    except Illegal as why:
        return str(why)
    is_right = canonical == turn.text or _lead_alike(board.state, turn.text, canonical)
    return "" if is_right else f"it is written {canonical}."


def _lead_alike(state: State, text: str, canonical: str) -> bool:
    """Whether a stored turn leads to the same position as its canonical text, whose form may have changed since."""
    try:
        after: State = state.play(text)
    except Exception:  # it may be anything, and a position trusts the texts that it is given
        return False
    return after == state.play(canonical)


def _numbers(dice: tuple[int, ...]) -> str:
    return " ".join(map(str, dice)) or "none"


def outcome(row: BoardRow, board: Board) -> BoardRow:
    """The row of a board, with the columns that follow from its replayed turns: moves, turn, ended, winner, reason."""
    is_over = board.is_over or row.drawn
    reasons = ("agreed", "adjudicated") if row.drawn else board.reasons
    last = board.turns[-1].played if board.turns else row.started
    return row._replace(
        moves=len(board.turns),
        turn=None if is_over else board.turn,
        ended=(row.ended or last) if is_over else None,
        winner=None if row.drawn else board.winner,
        reason=row.reason if row.reason in reasons else next(iter(reasons), None),
    )


def differences(row: BoardRow, right: BoardRow) -> Iterator[str]:
    """Sentences about the columns in which the row of a board differs from the *right* one."""
    if row.moves != right.moves:
        yield f"its row counts {texts.counted(row.moves, 'move')}, but the turns make {right.moves}."
    if row.turn != right.turn:
        yield f"its row says that {row.turn or 'nobody'} is to move, but it is {right.turn or 'nobody'}."
    if (row.ended is None) != (right.ended is None):
        yield f"its row says that the game is {'over' if row.ended else 'not over'}, which is wrong."
    if row.reason != right.reason:
        yield f"its row says that the end was {row.reason or 'none'}, but it is {right.reason or 'none'}."
    if row.winner != right.winner:
        yield f"its row says that {row.winner or 'nobody'} has won, but it is {right.winner or 'nobody'}."


FORMAT = "pbm-game-record"
VERSION = 1
MOST_SECONDS = 1e10
"""The limit of numbers in a record: 300 years, more than anybody can have thought."""


class Record(NamedTuple):
    """A game with all its turns."""

    row: BoardRow
    turns: list[TurnRow]


def write(record: Record, results: list[ResultRow]) -> dict[str, Any]:
    """A game as a document without secrets; *results* are its changes of ratings."""
    row, turns = record
    has_dice = row.secret and games.needs_dice(Board(row, [], {}).state)
    return {
        "format": FORMAT,
        "version": VERSION,
        "game": row.game,
        "board": row.board,
        "options": row.options.split(),
        "source": {"board": row.source, "moves": row.given} if row.source else None,
        "players": [*row.players],
        "started": row.started.isoformat(),
        "ended": row.ended.isoformat() if row.ended else None,
        "result": {"winner": row.winner, "drawn": row.drawn, "reason": row.reason} if row.ended else None,
        "rated": bool(results),
        "clocks": {
            "nag_days": row.nag_days,
            "forfeit_days": row.forfeit_days,
            "total_days": row.total_days,
            "novacation": row.novacation,
            **({"noweekends": True} if row.weekends else {}),
            "used_seconds": [round(max(0.0, used), 3) for used in (row.first_used, row.second_used)],
        },
        # while the game goes on, only the promise that was made to the players
        "dice": {"sha256": dice.commitment(row.secret), "secret": row.secret.hex() if row.ended else None}
        if has_dice
        else None,
        "comment": {"writer": row.commenter, "text": row.comment} if row.comment else None,
        "turns": turns_as_data(turns),
    }


def turns_as_data(turns: Iterable[TurnRow]) -> list[dict[str, object]]:
    """Turns for programs."""
    return [
        {
            "player": turn.userid,
            "text": turn.text,
            "dice": list(turn.dice),
            "automatic": turn.automatic,
            "time": turn.played.isoformat(),
        }
        for turn in turns
    ]


def read(document: object, names: Mapping[str, str], now: datetime) -> Record:
    """The game in a document, checked by the rules. *names* maps players to their userids here. Raises Unsound."""
    fields = Fields(document)
    if fields.found.get("format") != FORMAT:
        raise Unsound(f"this is no record of a game; its format would be {FORMAT!r}.")
    if fields.found.get("version") != VERSION:
        raise Unsound(f"this server reads version {VERSION} of the format only.")

    def name_here(name: str) -> str:
        if not is_userid(name):
            raise Unsound(f"{games.quoted(name)} is no userid.")
        return names.get(name.lower(), name.lower())

    players = fields.texts("players", 2)
    times, result, comment = fields.part("clocks"), fields.part_or_none("result"), fields.part_or_none("comment")
    used = times.numbers("used_seconds", 2)
    turns = [
        TurnRow(
            userid=name_here(turn.text("player")),
            text=turn.text("text"),
            dice=tuple(map(int, turn.numbers("dice"))),
            automatic=turn.flag("automatic"),
            played=turn.time("time", now),
        )
        for turn in fields.parts("turns")
    ]
    source = fields.part_or_none("source")
    started = fields.time("started", now)
    winner = result.text_or_none("winner") if result else None
    writer = comment.text_or_none("writer") if comment else None
    row = BoardRow(
        game=fields.text("game"),
        board=fields.text("board"),
        options=_options(fields),
        first_player=name_here(players[0]),
        second_player=name_here(players[1]),
        secret=_secret(fields),
        started=started,
        ended=fields.time("ended", now) if result else None,
        winner=name_here(winner) if winner else None,
        commenter=name_here(writer) if writer and writer != SERVER else writer,
        comment=texts.written(comment.text("text")) if comment else None,
        nag_days=times.days_or_none("nag_days"),
        forfeit_days=times.days_or_none("forfeit_days"),
        total_days=times.days_or_none("total_days"),
        changed=turns[-1].played if turns else started,
        first_used=used[0],
        second_used=used[1],
        drawn=result.flag("drawn") if result else False,
        novacation=times.flag("novacation") if "novacation" in times.found else False,
        weekends="UTC" if "noweekends" in times.found and times.flag("noweekends") else None,
        reason=result.text_or_none("reason") if result else None,
        pool=fields.text("board").rstrip("0123456789") or None,
        source=_board_name(source.text("board")) if source else None,
        given=source.count("moves") if source else 0,
    )
    if not games.exists(row.game):
        raise Unsound(f"there is no game {games.quoted(row.game)} here.")
    _board_name(row.board)
    nag, forfeit = clocks.of(row).limits(is_tournament=row.pool is not None)
    if nag >= forfeit:
        raise Unsound(f"clocks: nobody can be reminded after {texts.counted(nag, 'day')} and forfeit after {forfeit}.")
    return Record(_checked(row, turns), turns)


def _board_name(word: str) -> str:
    if not is_new_board(word):
        raise Unsound(f"{games.quoted(word)} is no number of a board.")
    return word


def _options(fields: "Fields") -> str:
    found = fields.texts("options")
    if any(not word.startswith("-") or word.split() != [word] for word in found):
        raise Unsound("options: each is one word that begins with a hyphen.")
    return " ".join(found)


def _secret(fields: "Fields") -> bytes:
    """The secret of the dice of a game; empty if the document does not have it."""
    part = fields.part_or_none("dice")
    told = part.text_or_none("secret") if part else None
    if part is None or told is None:
        return b""
    if not re.fullmatch(f"[0-9a-f]{{{2 * dice.SECRET_BYTES}}}", told, re.ASCII):
        raise Unsound(f"dice, secret: this takes {2 * dice.SECRET_BYTES} hexadecimal digits.")
    secret = bytes.fromhex(told)
    if part.text("sha256") != dice.commitment(secret):
        raise Unsound("dice: the secret has another SHA-256.")
    return secret


def _checked(row: BoardRow, turns: list[TurnRow]) -> BoardRow:
    """The row with the columns that follow from its turns. Raises Unsound if they contradict the result in it."""
    board = replayed(row, turns)
    right = outcome(row, board)
    if row.drawn and board.is_over:
        raise Unsound("the result is a draw that was agreed on, but the game had ended.")
    if (row.ended is None) != (right.ended is None):
        raise Unsound(f"these turns {'do not end' if row.ended else 'end'} the game, and the result says otherwise.")
    if row.winner != right.winner:
        told, found = row.winner or "nobody", right.winner or "nobody"
        raise Unsound(f"the result is that {told} has won, but these turns make it {found}.")
    if row.reason not in {None, right.reason}:
        raise Unsound(f"the reason of the end is told as {games.quoted(row.reason or '')}, but it was {right.reason}.")
    if row.ended and row.ended < (turns[-1].played if turns else row.started):
        raise Unsound("the game ended before its last turn.")
    if not row.ended and games.needs_dice(board.states[0]):
        raise Unsound("the game is not over, and the secret of its dice stays where it is played.")
    return right


class Fields:
    """An object in a document. Its methods read one field each, and raise Unsound if it has another type."""

    def __init__(self, found: object, where: str = "") -> None:
        """Take an object; *where* is its place in the document, such as ``turns 3, ``. Raises Unsound if it is none."""
        if not isinstance(found, dict):
            raise Unsound(f"{where.removesuffix(', ') or 'a record'}: this takes an object.")
        self.found: dict[str, Any] = found
        self.where = where

    def _wrong(self, name: str, kind: str) -> Unsound:
        is_there = "" if name in self.found else ", and is missing"
        return Unsound(f"{self.where}{name}: this takes {kind}{is_there}.")

    def text(self, name: str) -> str:
        """A text."""
        value = self.found.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def text_or_none(self, name: str) -> str | None:
        """A text, or null."""
        return None if self.found.get(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        """Either true or false."""
        value = self.found.get(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def count(self, name: str) -> int:
        """A whole number that is not negative."""
        value = self.found.get(name)
        if type(value) is not int or not 0 <= value <= MOST_SECONDS:
            raise self._wrong(name, "a whole number that is not negative")
        return value

    def days_or_none(self, name: str) -> int | None:
        """A number of days, or null."""
        value = self.found.get(name)
        if value is not None and not (type(value) is int and 1 <= value <= clocks.MOST_DAYS):
            raise self._wrong(name, f"a whole number from 1 to {clocks.MOST_DAYS}, or null")
        return value

    def time(self, name: str, now: datetime) -> datetime:
        """A time of the past, with its zone."""
        try:
            value = datetime.fromisoformat(self.text(name))
            if value.tzinfo is None:
                raise self._wrong(name, "a time with its zone, such as 2026-11-20T12:00:00+00:00")
            moment = value.astimezone(UTC)
        except (ValueError, OverflowError) as why:
            raise self._wrong(name, "a time such as 2026-11-20T12:00:00+00:00") from why
        if moment > now:
            raise Unsound(f"{self.where}{name}: that time is still to come.")
        return moment

    def _list(self, name: str, kind: str, count: int | None) -> list[Any]:
        value = self.found.get(name)
        if not isinstance(value, list) or count not in {None, len(value)}:
            raise self._wrong(name, f"a list of {kind}" if count is None else f"a list of {count} {kind}")
        return value

    def texts(self, name: str, count: int | None = None) -> list[str]:
        """A list of texts, of so many if their *count* is given."""
        value = self._list(name, "texts", count)
        if not all(isinstance(one, str) for one in value):
            raise self._wrong(name, "a list of texts")
        return value

    def numbers(self, name: str, count: int | None = None) -> list[float]:
        """A list of numbers that are not negative, of so many if their *count* is given."""
        value = self._list(name, "numbers", count)
        if not all(type(one) in {int, float} and 0 <= one <= MOST_SECONDS for one in value):
            raise self._wrong(name, "a list of numbers, none of them negative")
        return [float(one) for one in value]

    def part(self, name: str) -> "Fields":
        """An object."""
        return Fields(self.found.get(name), f"{self.where}{name}, ")

    def part_or_none(self, name: str) -> "Fields | None":
        """An object, or null."""
        return None if self.found.get(name) is None else self.part(name)

    def parts(self, name: str) -> "list[Fields]":
        """A list of objects."""
        found = self._list(name, "objects", None)
        return [Fields(one, f"{self.where}{name} {number}, ") for number, one in enumerate(found, 1)]
