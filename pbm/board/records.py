"""Games as documents that any program can read, and any server can import (docs/records.md)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from types import FunctionType
from typing import Any, NamedTuple

import games
from games import SKIP, Illegal, State
from pbm import texts
from pbm.board import clocks, dice, growing
from pbm.board.board import FAULTS, LEAVING, SERVER, Board
from pbm.names import is_new_board, is_userid
from pbm.store import BoardRow, ResultRow, TalkRow, TurnRow
from pbm.store.talk import CHAT, COMMENT


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
    name = board.mover
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
    return _objection_to_move(board, turn)


def _objection_to_move(board: Board, turn: TurnRow) -> str:
    """Why a move, or a skip, is not legal or not canonical; empty if it is both."""
    if board.state.must_skip:
        if turn.text == SKIP and turn.automatic:
            return ""
        return f"the server has to skip this turn by {SKIP}."
    try:
        canonical = board.state.parse(turn.text)
    except Illegal as why:
        return str(why)
    if canonical == turn.text or _lead_alike(board.state, turn.text, canonical):
        return ""
    return f"it is written {canonical}."


def _lead_alike(state: State, text: str, canonical: str) -> bool:
    """Whether a stored turn leads to the same position as its canonical text; that form may have changed since."""
    try:
        after: State = state.play(text)
    except Exception:  # it may be anything, and a position trusts the texts that it is given
        return False
    return after == state.play(canonical)


def _numbers(dice: tuple[int, ...]) -> str:
    """Dice for people, such as ``4 2``."""
    return " ".join(str(die) for die in dice) or "none"


def outcome(row: BoardRow, board: Board) -> BoardRow:
    """The row of a board, with the columns that follow from its replayed turns: moves, turn, ended, winner, reason."""
    is_over = board.is_over or row.drawn
    if row.ended and row.reason == "rules" and not is_over:
        return row._replace(moves=len(board.turns))  # it ended by a ruling that has changed since
    if not is_over:
        return row._replace(moves=len(board.turns), turn=board.mover, ended=None, winner=None, reason=None)
    last = board.turns[-1].played if board.turns else row.started
    winner = board.winner
    reasons = board.reasons
    if row.drawn:  # which the board that was replayed does not know
        winner = None
        reasons = ("agreed", "adjudicated")
    reason = row.reason
    if reason not in reasons:
        reason = reasons[0]
    return row._replace(moves=len(board.turns), turn=None, ended=row.ended or last, winner=winner, reason=reason)


def differences(row: BoardRow, right: BoardRow) -> Iterator[str]:
    """Sentences about the columns in which the row of a board differs from the *right* one."""
    if row.moves != right.moves:
        yield f"its row counts {texts.counted(row.moves, 'move')}, but the turns make {right.moves}."
    if row.turn != right.turn:
        yield f"its row says that {row.turn or 'nobody'} is to move, but it is {right.turn or 'nobody'}."
    if (row.ended is None) != (right.ended is None):
        state = "over" if row.ended else "not over"
        yield f"its row says that the game is {state}, which is wrong."
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
    talk: Sequence[TalkRow] = ()
    """What was said on its board, in order."""


def write(record: Record, results: list[ResultRow]) -> dict[str, Any]:
    """A game as a document without secrets; *results* are its changes of ratings."""
    row, turns, talk = record
    source = None
    if row.source:
        source = {"board": row.source, "moves": row.given}
    result = None
    if row.ended:
        result = {"winner": row.winner, "drawn": row.drawn, "reason": row.reason}
    comment = None
    if row.comment:
        comment = {"writer": row.commenter, "text": row.comment}
    return {
        "format": FORMAT,
        "version": VERSION,
        **row.place_data,
        "options": row.options.split(),
        "source": source,
        "players": list(row.players),
        "started": row.started.isoformat(),
        "ended": row.ended.isoformat() if row.ended else None,
        "result": result,
        "rated": bool(results),
        "clocks": _clocks_as_data(row),
        "dice": _dice_as_data(row),
        "comment": comment,
        "turns": turns_as_data(turns),
        # chats are for the players alone while the game goes on
        "talk": [talk_as_data(entry) for entry in talk if row.ended or entry.kind != CHAT],
    }


def _clocks_as_data(row: BoardRow) -> dict[str, object]:
    """The clock options of a board, and the time that its players have used."""
    data: dict[str, object] = {
        "nag_days": row.nag_days,
        "forfeit_days": row.forfeit_days,
        "total_days": row.total_days,
        "novacation": row.novacation,
    }
    if row.weekends:
        data["noweekends"] = True
    if clock := clocks.clock_of(row):
        data["clock"] = clock.text
        data["left_seconds"] = [round(left or 0.0, 3) for left in (row.first_left, row.second_left)]
    # less than none if days were given
    data["used_seconds"] = [round(max(0.0, used), 3) for used in (row.first_used, row.second_used)]
    return data


def _dice_as_data(row: BoardRow) -> dict[str, object] | None:
    """The proof of the dice of a board; None if it has none. While the game goes on, the secret is left out."""
    if not row.secret or not Board(row, [], {}).has_dice:
        return None
    secret = None
    # a game with two secrets has no place for both: its dice are taken as they are written
    if row.ended and not row.earlier_secret:
        secret = row.secret.hex()
    return {"sha256": dice.commitment(row.secret), "secret": secret}


def turns_as_data(turns: Iterable[TurnRow]) -> list[dict[str, object]]:
    """Turns for programs."""
    documents = []
    for turn in turns:
        data: dict[str, object] = {
            "player": turn.userid,
            "text": turn.text,
            "dice": list(turn.dice),
            "automatic": turn.automatic,
            "time": turn.played.isoformat(),
        }
        if turn.gained:
            data["gained_seconds"] = round(turn.gained, 3)
        documents.append(data)
    return documents


def talk_as_data(entry: TalkRow) -> dict[str, object]:
    """A comment or a chat for programs."""
    return {
        "kind": entry.kind,
        "writer": entry.userid,
        "moves": entry.moves,
        "time": entry.said.isoformat(),
        "taken_back": entry.taken_back,
        "text": entry.text,
    }


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


def _gained_seconds(value: float) -> float:
    if isinstance(value, bool) or not abs(value) <= MOST_SECONDS:
        raise ValueError
    return float(value)


def _kind_of_talk(value: str) -> str:
    if value not in {COMMENT, CHAT}:
        raise ValueError
    return value


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
        "clock": (growing.parse,),
        "left_seconds": ([_seconds],),
    },
    "dice": ({"sha256": (str,), "secret": (str,)},),
    "comment": ({"writer": (str,), "text": str},),
    "turns": [
        {
            "player": str,
            "text": str,
            "dice": [COUNT],
            "automatic": bool,
            "time": _time,
            "gained_seconds": (_gained_seconds,),
        }
    ],
    "talk": (
        [
            {
                "kind": _kind_of_talk,
                "writer": (str,),
                "moves": COUNT,
                "time": _time,
                "taken_back": bool,
                "text": str,
            }
        ],
    ),
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
        fields = OLDER | value
        return {field: _fitted(fields.get(field), part, f"{where}, {field}") for field, part in form.items()}
    if isinstance(form, list) and isinstance(value, list):
        return [_fitted(item, form[0], f"{where} {number}") for number, item in enumerate(value, 1)]
    if isinstance(form, FunctionType):
        with suppress(TypeError, ValueError, OverflowError):
            return form(value)
    if type(value) is form or (isinstance(form, range) and type(value) is int and value in form):
        return value
    raise Unsound(f"{where}: this is missing, or not as docs/records.md says.")


def _is_record(document: object) -> bool:
    """Whether a document says that it is a record of a game, in the version that is read here."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return False
    version = document.get("version")
    return type(version) is int and version == VERSION  # True and 1.0 are equal to 1, and are no versions


class NamesHere(NamedTuple):
    """What the players of a record are called on this server."""

    userids: Mapping[str, str]
    """The userids of players here, by their names in the record, in lower case; others keep their names."""

    def of(self, name: str) -> str:
        """The userid of a player. Raises Unsound if the name can be none."""
        if not is_userid(name):
            raise Unsound(f"{games.quoted(name)} is no userid.")
        return self.userids.get(name.lower(), name.lower())

    def of_writer(self, name: str | None) -> str | None:
        """The userid of whoever has written something; SERVER, and nobody, stay as they are. Raises Unsound."""
        if not name or name == SERVER:
            return name
        return self.of(name)


def read(document: object, userids: Mapping[str, str], now: datetime) -> Record:
    """The game in a document, checked by the rules. *userids* says what players of it are called here. Raises Unsound.

    Its keys are their names in the document, in lower case.
    """
    if not _is_record(document):
        raise Unsound(f"this is no record of a game, whose format is {FORMAT!r}, version {VERSION}.")
    fields = _fitted(document, FORM, "record")
    names = NamesHere(userids)
    players = [names.of(player) for player in fields["players"]]
    if len(players) != 2 or len(fields["clocks"]["used_seconds"]) != 2:
        raise Unsound("there are two players, and two numbers in used_seconds.")
    turns = [_turn(turn, names) for turn in fields["turns"]]
    last = turns[-1].played if turns else fields["started"]
    row = _row(fields, players, last, names)
    if fields["result"] and not row.ended:
        raise Unsound("it has a result, but no time at which the game ended.")
    if max(row.started, row.ended or last) > now + clocks.CLOCK_STEP:
        raise Unsound("it has a time that is still to come.")
    if not games.exists(row.game):
        raise Unsound(f"there is no game {games.quoted(row.game)} here.")
    row = _checked(row, turns)
    return Record(row, turns, _talk(fields["talk"], names, row, now))


def _turn(fields: Mapping[str, Any], names: NamesHere) -> TurnRow:
    """The turn in an item of ``turns``. Raises Unsound."""
    return TurnRow(
        userid=names.of(fields["player"]),
        text=fields["text"],
        dice=tuple(fields["dice"]),
        automatic=fields["automatic"],
        played=fields["time"],
        gained=fields["gained_seconds"] or 0.0,
    )


def _row(fields: Mapping[str, Any], players: Sequence[str], last: datetime, names: NamesHere) -> BoardRow:
    """The row of the board in a record; its *last* step was at that time. Raises Unsound."""
    times = fields["clocks"]
    result = fields["result"]
    comment = fields["comment"]
    source = fields["source"]
    winner = result and result["winner"]
    writer = comment and comment["writer"]
    row = BoardRow(
        game=fields["game"],
        board=_board_name(fields["board"]),
        options=_options(fields["options"]),
        first_player=players[0],
        second_player=players[1],
        secret=_secret(fields["dice"]),
        started=fields["started"],
        ended=result and fields["ended"],
        winner=names.of(winner) if winner else None,
        commenter=names.of_writer(writer),
        comment=comment and texts.written(comment["text"]),
        nag_days=times["nag_days"],
        forfeit_days=times["forfeit_days"],
        total_days=times["total_days"],
        changed=last,
        first_used=times["used_seconds"][0],
        second_used=times["used_seconds"][1],
        drawn=bool(result and result["drawn"]),
        novacation=times["novacation"],
        weekends="UTC" if times["noweekends"] else None,
        reason=result and result["reason"],
        pool=fields["board"].rstrip("0123456789") or None,
        source=source and _board_name(source["board"]),
        given=source["moves"] if source else 0,
    )
    return _with_clock(row, times)


def _with_clock(row: BoardRow, times: Mapping[str, Any]) -> BoardRow:
    """The row of a board with its clock, if that grows. Raises Unsound if the usual clocks contradict each other."""
    if times["clock"]:
        left = times["left_seconds"] or [times["clock"].base] * 2
        row = row._replace(**times["clock"].columns)
        return row._replace(first_left=left[0], second_left=left[-1])
    nag, forfeit = clocks.limits(row)
    if nag >= forfeit:
        raise Unsound(f"clocks: nobody can be reminded after {texts.counted(nag, 'day')} and forfeit after {forfeit}.")
    return row


def _talk(entries: Sequence[Mapping[str, Any]] | None, names: NamesHere, row: BoardRow, now: datetime) -> list[TalkRow]:
    """What was said on a board; of an older record, which does not tell, the latest comment. Raises Unsound."""
    if entries is None and row.comment:
        return [TalkRow(row.commenter, COMMENT, row.moves, row.happened, row.comment)]
    talk = []
    for number, entry in enumerate(entries or (), 1):
        if entry["time"] > now + clocks.CLOCK_STEP:
            raise Unsound(f"talk {number}: its time is still to come.")
        if entry["moves"] > row.moves and not entry["taken_back"]:
            raise Unsound(f"talk {number}: it is about move {entry['moves']}, and there are {row.moves}.")
        talk.append(
            TalkRow(
                userid=names.of_writer(entry["writer"]),
                kind=entry["kind"],
                moves=entry["moves"],
                said=entry["time"],
                text=texts.written(entry["text"]),
                taken_back=entry["taken_back"],
            )
        )
    return talk


def _board_name(word: str) -> str:
    """The number of a board. Raises Unsound if it can be none."""
    if not is_new_board(word):
        raise Unsound(f"{games.quoted(word)} is no number of a board.")
    return word


def _options(words: list[str]) -> str:
    """The options of a game as they are stored. Raises Unsound if they can be none."""
    if any(not word.startswith("-") or word.split() != [word] for word in words):
        raise Unsound("options: each is one word that begins with a hyphen.")
    return " ".join(words)


def _secret(proof: dict[str, Any] | None) -> bytes:
    """The secret of the dice of a game; empty if the document does not have it. Raises Unsound if it is wrong."""
    if proof is None or proof["secret"] is None:
        return b""
    digits = proof["secret"]
    if not re.fullmatch(f"[0-9a-f]{{{2 * dice.SECRET_BYTES}}}", digits, re.ASCII):
        raise Unsound(f"dice, secret: this takes {2 * dice.SECRET_BYTES} hexadecimal digits.")
    secret = bytes.fromhex(digits)
    if proof["sha256"] != dice.commitment(secret):
        raise Unsound("dice: the secret has another SHA-256.")
    return secret


def _checked(row: BoardRow, turns: list[TurnRow]) -> BoardRow:
    """The row with the columns that follow from its turns. Raises Unsound if they contradict the result in it."""
    board = replayed(row, turns)
    right = outcome(row, board)
    if row.drawn and board.is_over:
        raise Unsound("the result is a draw that was agreed on, but the game had ended.")
    if (row.ended is not None) != (board.is_over or row.drawn):
        what = "do not end" if row.ended else "end"
        raise Unsound(f"these turns {what} the game, and the result says otherwise.")
    if row.winner != right.winner:
        written = row.winner or "nobody"
        winner = right.winner or "nobody"
        raise Unsound(f"the result is that {written} has won, but these turns make it {winner}.")
    if row.reason not in {None, right.reason}:
        raise Unsound(f"the reason of the end is told as {games.quoted(row.reason or '')}, but it was {right.reason}.")
    if row.ended and row.ended < (turns[-1].played if turns else row.started):
        raise Unsound("the game ended before its last turn.")
    if not row.ended and board.has_dice:
        raise Unsound("the game is not over, and the secret of its dice stays where it is played.")
    return right
