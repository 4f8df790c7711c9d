"""Games as documents that any program can read, and any server can import (docs/records.md)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import FunctionType
from typing import Any, NamedTuple

import games
from games import SKIP, Illegal, State
from pbm import texts
from pbm.board import clocks, dice
from pbm.board.board import FAULTS, LEAVING, SERVER, Board
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
        board = Board(row._replace(drawn=False, changed=None, ended=None), [], {})
    except FAULTS as why:
        raise Unsound(f"it cannot be set up: {why}") from why
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
    if row.ended and row.reason == "rules" and not is_over:
        return row._replace(moves=len(board.turns))  # it ended by a ruling that has changed since
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
    has_dice = row.secret and Board(row, [], {}).has_dice
    return {
        "format": FORMAT,
        "version": VERSION,
        **row.place_data,
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
        # a game with two secrets has no place for both: its dice are taken as they are written
        "dice": {
            "sha256": dice.commitment(row.secret),
            "secret": row.secret.hex() if row.ended and not row.earlier_secret else None,
        }
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


def _time(value: str) -> datetime:
    """The time in a text. Raises ValueError if it has no zone."""
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)


def _seconds(value: float) -> float:
    if isinstance(value, bool) or not 0 <= value <= MOST_SECONDS:
        raise ValueError
    return float(value)


WHOLE_DAYS = range(1, clocks.MOST_DAYS + 1)
COUNT = range(int(MOST_SECONDS))
FORM = {
    "game": str,
    "board": str,
    "options": [str],
    "source": ({"board": str, "moves": COUNT},),
    "players": [str],
    "started": _time,
    "ended": (_time,),
    "result": ({"winner": (str,), "drawn": bool, "reason": (str,)},),
    "clocks": {
        "nag_days": (WHOLE_DAYS,),
        "forfeit_days": (WHOLE_DAYS,),
        "total_days": (WHOLE_DAYS,),
        "novacation": bool,
        "noweekends": bool,
        "used_seconds": [_seconds],
    },
    "dice": ({"sha256": (str,), "secret": (str,)},),
    "comment": ({"writer": (str,), "text": str},),
    "turns": [{"player": str, "text": str, "dice": [COUNT], "automatic": bool, "time": _time}],
}
"""The fields of a record, and what stands there: a type, a range of whole numbers, or a function that reads it.

What stands in a tuple here may be null or missing.
"""
OLDER = {"novacation": False, "noweekends": False}
"""What older records mean that lack these fields."""


def _fitted(value: Any, form: Any, where: str) -> Any:
    """What stands at a place of a document, such as ``record, turns 3, dice``. Raises Unsound if it does not fit."""
    if isinstance(form, tuple):
        return None if value is None else _fitted(value, form[0], where)
    if isinstance(form, dict) and isinstance(value, dict):
        found = OLDER | value
        return {name: _fitted(found.get(name), part, f"{where}, {name}") for name, part in form.items()}
    if isinstance(form, list) and isinstance(value, list):
        return [_fitted(each, form[0], f"{where} {number}") for number, each in enumerate(value, 1)]
    if isinstance(form, FunctionType):
        with suppress(TypeError, ValueError, OverflowError):
            return form(value)
    if type(value) is form or (isinstance(form, range) and type(value) is int and value in form):
        return value
    raise Unsound(f"{where}: this is missing, or not as docs/records.md says.")


def read(document: object, names: Mapping[str, str], now: datetime) -> Record:
    """The game in a document, checked by the rules. *names* maps players to their userids here. Raises Unsound."""
    about = (document.get("format"), document.get("version")) if isinstance(document, dict) else ()
    if about != (FORMAT, VERSION) or type(about[1]) is not int:  # True and 1.0 are equal to 1
        raise Unsound(f"this is no record of a game, whose format is {FORMAT!r}, version {VERSION}.")
    found = _fitted(document, FORM, "record")

    def name_here(name: str) -> str:
        if not is_userid(name):
            raise Unsound(f"{games.quoted(name)} is no userid.")
        return names.get(name.lower(), name.lower())

    times, result, comment, source = found["clocks"], found["result"], found["comment"], found["source"]
    players, used = [name_here(each) for each in found["players"]], times["used_seconds"]
    if len(players) != 2 or len(used) != 2:
        raise Unsound("there are two players, and two numbers in used_seconds.")
    turns = [
        TurnRow(
            userid=name_here(turn["player"]),
            text=turn["text"],
            dice=tuple(turn["dice"]),
            automatic=turn["automatic"],
            played=turn["time"],
        )
        for turn in found["turns"]
    ]
    last = turns[-1].played if turns else found["started"]
    winner, writer = result and result["winner"], comment and comment["writer"]
    row = BoardRow(
        game=found["game"],
        board=_board_name(found["board"]),
        options=_options(found["options"]),
        first_player=players[0],
        second_player=players[1],
        secret=_secret(found["dice"]),
        started=found["started"],
        ended=result and found["ended"],
        winner=name_here(winner) if winner else None,
        commenter=name_here(writer) if writer and writer != SERVER else writer,
        comment=comment and texts.written(comment["text"]),
        nag_days=times["nag_days"],
        forfeit_days=times["forfeit_days"],
        total_days=times["total_days"],
        changed=last,
        first_used=used[0],
        second_used=used[1],
        drawn=bool(result and result["drawn"]),
        novacation=times["novacation"],
        weekends="UTC" if times["noweekends"] else None,
        reason=result and result["reason"],
        pool=found["board"].rstrip("0123456789") or None,
        source=source and _board_name(source["board"]),
        given=source["moves"] if source else 0,
    )
    if result and not row.ended:
        raise Unsound("it has a result, but no time at which the game ended.")
    if max(row.started, row.ended or last) > now + clocks.CLOCK_STEP:
        raise Unsound("it has a time that is still to come.")
    if not games.exists(row.game):
        raise Unsound(f"there is no game {games.quoted(row.game)} here.")
    nag, forfeit = clocks.limits(row)
    if nag >= forfeit:
        raise Unsound(f"clocks: nobody can be reminded after {texts.counted(nag, 'day')} and forfeit after {forfeit}.")
    return Record(_checked(row, turns), turns)


def _board_name(word: str) -> str:
    if not is_new_board(word):
        raise Unsound(f"{games.quoted(word)} is no number of a board.")
    return word


def _options(found: list[str]) -> str:
    if any(not word.startswith("-") or word.split() != [word] for word in found):
        raise Unsound("options: each is one word that begins with a hyphen.")
    return " ".join(found)


def _secret(found: dict[str, Any] | None) -> bytes:
    """The secret of the dice of a game; empty if the document does not have it."""
    if found is None or found["secret"] is None:
        return b""
    told = found["secret"]
    if not re.fullmatch(f"[0-9a-f]{{{2 * dice.SECRET_BYTES}}}", told, re.ASCII):
        raise Unsound(f"dice, secret: this takes {2 * dice.SECRET_BYTES} hexadecimal digits.")
    secret = bytes.fromhex(told)
    if found["sha256"] != dice.commitment(secret):
        raise Unsound("dice: the secret has another SHA-256.")
    return secret


def _checked(row: BoardRow, turns: list[TurnRow]) -> BoardRow:
    """The row with the columns that follow from its turns. Raises Unsound if they contradict the result in it."""
    board = replayed(row, turns)
    right = outcome(row, board)
    if row.drawn and board.is_over:
        raise Unsound("the result is a draw that was agreed on, but the game had ended.")
    if (row.ended is not None) != (board.is_over or row.drawn):
        raise Unsound(f"these turns {'do not end' if row.ended else 'end'} the game, and the result says otherwise.")
    if row.winner != right.winner:
        told, found = row.winner or "nobody", right.winner or "nobody"
        raise Unsound(f"the result is that {told} has won, but these turns make it {found}.")
    if row.reason not in {None, right.reason}:
        raise Unsound(f"the reason of the end is told as {games.quoted(row.reason or '')}, but it was {right.reason}.")
    if row.ended and row.ended < (turns[-1].played if turns else row.started):
        raise Unsound("the game ended before its last turn.")
    if not row.ended and board.has_dice:
        raise Unsound("the game is not over, and the secret of its dice stays where it is played.")
    return right
