"""What a board mail says."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import zip_longest
from textwrap import wrap
from typing import Any, NamedTuple

import games
from pbm import clocks, dice, pictures, ratings
from pbm.board import FORFEIT, RESIGN, Board, Point
from pbm.pictures import Drawing
from pbm.store import BoardRow, TurnRow
from pbm.words import WIDTH, wrapped

ASTERISKS = "*" * 60
ROUNDS = 4
"""How many rounds of moves a letter lists, if not all."""
CROPPED = 300
"""How much of a line that we do not understand is said back."""
NOTIFICATION = "Notification"
"""The kind of letter that says no more than that a game is over."""
EASY = "To play, answer this mail with your move as its first line; that needs no password."
MINUTES = "%Y-%m-%d %H:%M UTC"
COLUMN = 34
"""The widest a move may be in that list before it is broken into lines."""


class Letter(NamedTuple):
    """A text for somebody: a mail, or what a shell command prints."""

    to: str | None
    """A userid, or None for whoever gave the command."""
    subject: str
    body: str
    answer: str
    """The command that the reader will probably answer with; empty if there is none."""
    data: dict[str, Any]
    """The same for programs, as ``--json`` prints it."""
    thread: str = ""
    """What letters about the same board have in common; empty where there is no board."""
    begins_thread: bool = False
    game: str = ""
    """The game of the board that it is about; empty where there is no board, as in the next one."""
    board: str = ""
    unsubscribe: str = ""
    """The command that ends the subscription to which it belongs."""
    is_urgent: bool = False
    """Whether it comes at once to everybody, also to a user who wants no mails about boards, or one a day."""
    drawings: tuple[Drawing, ...] = ()
    """The boards in its text, in this order."""

    @property
    def text(self) -> str:
        """The whole text of a mail: the command to answer with is its last line."""
        return "\n\n".join(filter(None, [self.body, self.answer])) + "\n"


def title(game: str) -> str:
    """A game's name in a subject."""
    return game.capitalize()


def of_board(
    point: Point,
    *readers: str | None,
    kind: str = "Summary",
    notes: Iterable[str] = (),
    now: datetime,
    is_full: bool = False,
    is_new: bool = False,
    command: str = "",
) -> list[Letter]:
    """The letters that show a board to each of the readers, with *notes* about what has just happened.

    They end with the *command* to answer with, or else with what the board suggests to each reader. The list of moves
    has the last four rounds and all moves that the server made; it is the whole list when *is_full*.
    """
    board, row = point.board, point.board.row
    name = title(row.game)
    when = "" if point.is_present else f" after {point.moves} of its {counted(len(board.turns), 'move')}"
    heading = f"{kind}: {name} board {row.board}{when}, {' against '.join(_sides(point))}"
    comment = row.comment if point.is_present and kind != NOTIFICATION else None
    drawing, *last_turn = picture(point)
    options = " ".join(filter(None, [row.options, clocks.of(row).text]))
    before = [heading + (f"\nOptions: {options}" if options else ""), *notes, *_vote(point), _status(point)]
    after = [
        *_ratings(point),
        *_moves(point, is_full=is_full or point.is_over),
        drawing.text,
        *last_turn,
        *_dice(board, is_told=is_full, is_over=point.is_over),
        *_followers(point),
        *_comment(row.commenter, comment),
        *_clocks(point, now),
    ]
    turn = f" {point.turn}" if point.turn else ""
    subject = f"{'New ' if is_new else ''}{name} Board {row.board}{turn}{_mark(comment)}"
    shown = data(point)
    return [
        Letter(
            to=to,
            subject=subject,
            body="\n\n".join([*before, *_own(point, to), *after, *([EASY] if is_new and to in board.players else [])]),
            answer=command or answer(point, to),
            data=shown | _own_data(point, to),
            thread=thread(board),
            begins_thread=is_new,
            game=row.game,
            board="" if row.board == "new" else row.board,
            is_urgent=point.is_over,
            unsubscribe=f"{row.game} unsubscribe {row.board} {to} PASSWORD" if to in board.about.subscribers else "",
            drawings=(drawing,),
        )
        for to in readers
    ]


def note(text: str, *, subject: str, answer: str, data: dict[str, Any] | None = None) -> Letter:
    """A letter without a board, to whoever gave the command."""
    return Letter(None, subject, text, answer, {**(data or {}), "reply": text})


def of_removal(board: Board, leaver: str, comment: str, *, to: str, writer: str) -> Letter:
    """The letter that says that a player has left a board before it began, with the *writer*'s comment."""
    name = f"{title(board.row.game)} board {board.row.board}"
    text = f"{leaver} has left {name} before it began.\nThe board is removed; nobody has won or lost."
    letter = note(
        "\n\n".join([text, *_comment(writer, comment)]),
        subject=f"{name} has been removed{_mark(comment)}",
        answer=challenge(board, *board.players),
        data={"userid": leaver, "game": board.row.game, "removed": board.row.board},
    )
    return letter._replace(to=to, thread=thread(board), game=board.row.game, is_urgent=True)


def of_error(
    why: str,
    quoted: Sequence[str],
    *,
    subject: str = "",
    game: str = "pbm",
    point: Point | None = None,
    reader: str | None = None,
    status: int = 1,
) -> Letter:
    """The answer to a command that was refused: why, the board if it is known, and the command in quotation."""
    parts = ["\n".join(part for line in why.splitlines() for part in wrapped(_cropped(line), breaks_words=False))]
    drawings: tuple[Drawing, ...] = ()
    if point:
        subject = subject or f"{title(game)} Board {point.board.row.board} Error"
        drawing, *last_turn = picture(point)
        drawings = (drawing,)
        parts += [_status(point), drawing.text, *last_turn]
    parts.append("\n".join(f"> {_cropped(line)}".rstrip() for line in quoted))
    how = answer(point, reader) if point else f"{game} help" if game != "pbm" else "help commands"
    name = game if game == "pbm" else title(game)
    data = {"error": why, "status": status}
    return Letter(None, subject or f"{name} error", "\n\n".join(parts), how, data, drawings=drawings)


def picture(point: Point) -> tuple[Drawing, *tuple[str, ...]]:
    """The board as it is drawn, and a line that names the last turn, if there was one."""
    board = point.board
    first = point.last_typed
    before = board.states[first]
    drawn = board.rules.draw(point.state, before)
    changing = games.glyphs(board.rules).changing
    drawing = Drawing(
        board.row.game, drawn, pictures.changes(changing, drawn, board.rules.draw(before)) if changing else ()
    )
    last = "; ".join(_turn_text(turn) for turn in board.turns[first : point.moves])
    return (drawing, broken(f"Last turn: {last}")) if last else (drawing,)


def answer(point: Point, to: str | None) -> str:
    """The command that the reader is most likely to answer with."""
    board, row = point.board, point.board.row
    if row.board == "new":
        return challenge(board, "USERID1", "USERID2")
    if point.is_over:
        return challenge(board, *reversed(board.players))
    if not point.is_present or (to and to != point.turn):
        return f"{row.game} show {row.board}"
    return f"{row.game} move {row.board} {point.turn} PASSWORD <move>#{point.moves + 1}"


def challenge(board: Board, first: str, second: str) -> str:
    """The command that starts another board with the same options."""
    row = board.row
    return " ".join(filter(None, [row.game, "challenge", row.options, clocks.of(row).text, first, second]))


def data(point: Point) -> dict[str, Any]:
    """A board as ``--json`` prints it."""
    board = point.board
    seen = point.state.view()
    winner = (board.winner or "draw") if point.is_over else None
    vote = {"vote": board.row.vote, "voter": board.row.voter} if point.is_present and board.row.vote else {}
    return vote | {
        "board": board.row.board,
        "game": board.row.game,
        "players": board.sides(point.state),
        "turn": point.turn,
        "winner": winner,
        "moves": point.moves,
        "dice": [] if point.is_over else seen.get("dice", []),
        "over": point.is_over,
        "position": {"game": board.row.game, "options": board.options, "moves": point.moves, **seen},
    }


def as_one(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What ``--json`` prints for all answers to a command: several boards become a list, several texts one."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    one: dict[str, Any] = {}
    for part in found:
        listed = {"boards": [part]} if "position" in part else {"removals": [part]} if "removed" in part else part
        for key, value in listed.items():
            if key in one and key == "reply":
                one[key] += f"\n\n{value}"
            elif key in one and isinstance(value, list):
                one[key] = one[key] + value
            else:
                one[key] = value
    return one


def thread(board: Board) -> str:
    """What tells the letters about this board from those about any other, also one of another database."""
    return f"{board.row.game}.{board.row.board}.{board.row.started:%Y%m%d%H%M%S}"


def table(lines: Sequence[tuple[str, ...]], numbers: Collection[str] = ()) -> str:
    """Lines of words in columns; the first line is the heading. Under these headings *numbers* end below each other."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pads = [str.rjust if heading in numbers else str.ljust for heading in lines[0]]
    padded = ([pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def counted(number: float, noun: str) -> str:
    """A number of things."""
    number = int(number) if number == int(number) else number
    return f"{number} {noun}{'' if number == 1 else 's'}"


def status(row: BoardRow) -> str:
    """Who is to move or has won, in a few words."""
    if row.ended:
        return f"won by {row.winner}" if row.winner else "tie"
    return f"{row.turn}'s turn" if row.moves else f"{row.turn} to start"


def _status(point: Point) -> str:
    if point.is_over:
        board = point.board
        how = "forfeited" if board.turns and board.turns[-1].text == FORFEIT else "resigned"
        why = f" ({board.resigned} {how})" if board.resigned else " (agreed)" if board.row.drawn else ""
        return f"Won by {board.winner}{why}." if board.winner else f"The game is a tie{why}."
    state = point.state
    thrown = f", dice {' and '.join(map(str, state.dice))}" if games.needs_dice(state) and state.dice else ""
    side = point.board.rules.SIDES[state.turn] + thrown
    return f"{point.turn}'s turn ({side})." if point.moves else f"{point.turn}, please start ({side})."


def _sides(point: Point) -> list[str]:
    """The players with their sides, in the order of the players."""
    sides = zip(point.state.seats, point.board.sides(point.state).items(), strict=True)
    return [f"{userid} ({side})" for _, (side, userid) in sorted(sides)]


def _own(point: Point, to: str | None) -> list[str]:
    """What the reader, and nobody else, has told the server about the board."""
    board, row = point.board, point.board.row
    if to is None or not point.is_present:
        return []
    told = []
    if row.submitted and to == point.turn:
        confirm = f"{row.game} confirm {row.board} {to} PASSWORD"
        told.append(f"You have still to confirm your move:\n{broken(row.submitted)}\n{confirm}")
    queued = board.queued.get(to)
    if queued == RESIGN:
        cancel = f"{row.game} move {row.board} {to} PASSWORD unresign"
        told.append(f"You will resign as soon as it is your turn. To cancel this:\n{cancel}")
    elif queued:
        cancel = f"{row.game} queue {row.board} {to} PASSWORD clear"
        told.append(f"As soon as it is your turn, this is played:\n{broken(queued)}\nTo cancel it:\n{cancel}")
    return told


def _own_data(point: Point, to: str | None) -> dict[str, str]:
    """The same for programs."""
    board = point.board
    if to is None or not point.is_present:
        return {}
    own = {"submitted": board.row.submitted if to == point.turn else None, "queued": board.queued.get(to)}
    return {name: text for name, text in own.items() if text}


def _vote(point: Point) -> list[str]:
    """What is proposed on the board, and who has still to answer; and who is on vacation."""
    board, row = point.board, point.board.row
    if not point.is_present:
        return []
    parts = []
    if row.vote and row.voter:
        what = "a draw" if row.vote == "draw" else "to take the last move back"
        other = board.opponent(row.voter)
        how = f"{row.game} move {row.board} {other} PASSWORD accept"
        parts.append(f"{row.voter} proposes {what}.\n{other} has still to answer, `accept` or `reject`:\n{how}")
    if not board.is_over:
        parts += [f"{userid} is on vacation through {last}." for userid, last in sorted(board.about.away.items())]
    return parts


def _ratings(point: Point) -> list[str]:
    """What the game did to the ratings, when it is over."""
    if not (point.is_over and point.board.row.ended):
        return []
    results = point.board.about.results
    return ["\n".join(ratings.described(result) for result in results) or "The game is not rated."]


def _followers(point: Point) -> list[str]:
    about = point.board.about
    kinds = {"Subscribers": about.subscribers, "Notified at the end": about.notified}
    lines = [f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names]
    return ["\n".join(part for line in lines for part in wrapped(line))] if lines else []


def _clocks(point: Point, now: datetime) -> list[str]:
    """The clocks of a board that has clock options, of a tournament board, and of a game that is over."""
    board, row = point.board, point.board.row
    set_up = clocks.of(row)
    if not point.is_present or row.board == "new" or not (row.ended or any(set_up) or row.pool):
        return []
    rows = [("Start", f"{row.started:{MINUTES}}")]
    if board.turns:
        rows.append(("Last move", f"{row.changed or row.started:{MINUTES}}"))
    rows.append(("End", f"{row.ended:{MINUTES}}") if row.ended else ("Now", f"{now:{MINUTES}}"))
    usual = clocks.Clocks().limits(is_tournament=False)
    limits = zip(("Reminder", "Forfeit"), set_up.limits(is_tournament=row.pool is not None), usual, strict=True)
    rows += [(name, f"after {counted(days, 'day')}") for name, days, default in limits if days != default]
    used = [board.used(seat, row.ended or now) for seat in (0, 1)]
    rows += [(f"Time of {userid}", _days(seconds)) for userid, seconds in zip(board.players, used, strict=True)]
    rows.append(("Time of both", _days(sum(used))))
    if row.total_days:
        rows.append(("Allowed to each", counted(row.total_days, "day")))
    return [f"{ASTERISKS}\n{table(rows)}"]


def _days(seconds: float) -> str:
    """A time as days, hours and minutes."""
    minutes = int(seconds) // 60
    return f"{counted(minutes // 1440, 'day')} {minutes // 60 % 24:02}:{minutes % 60:02}"


def _moves(point: Point, *, is_full: bool) -> list[str]:
    """The moves in one column a player, numbered by rounds."""
    board = point.board
    rounds: list[dict[int, TurnRow]] = []
    last = 1
    for number, turn in enumerate(board.turns[: point.moves]):
        is_self_play = board.players[0] == board.players[1]
        column = number % 2 if is_self_play else board.players.index(turn.userid)
        if column <= last:
            rounds.append({})
        rounds[-1][column] = turn
        last = column
    lines = [("Move", *_sides(point))]
    for number, row in enumerate(rounds, 1):
        if is_full or number > len(rounds) - ROUNDS or any(turn.automatic for turn in row.values()):
            cells = [wrap(_turn_text(row[column]) if column in row else "", COLUMN) or [""] for column in (0, 1)]
            for index, (left, right) in enumerate(zip_longest(*cells, fillvalue="")):
                lines.append((f"{number}." if index == 0 else "", left, right))
    return [table(lines)] if rounds else []


def _turn_text(turn: TurnRow) -> str:
    return f"{turn.text} (Auto)" if turn.automatic else turn.text


def broken(text: str) -> str:
    """A text with a turn in it, which is broken behind commas if it is long."""
    return "\n".join(wrap(text.replace(",", ", "), WIDTH)).replace(", ", ",")


def _dice(board: Board, *, is_told: bool, is_over: bool) -> list[str]:
    """How the dice can be checked: the promise, in the first letter and wherever all is *told*, and then its proof."""
    if not games.needs_dice(board.states[0]) or not board.row.secret:
        return []
    if is_over:
        how = f"The dice came from this secret; `dice {board.name}` checks every throw:"
        return [f"{how}\n{board.row.secret.hex()}"]
    if is_told:
        promise = dice.commitment(board.row.secret)
        return [f"The dice come from a secret that the last mail will tell. Its SHA-256:\n{promise}"]
    return []


def _comment(writer: str | None, text: str | None) -> list[str]:
    """The part of a letter that passes on what somebody wrote, if he did; None is whoever started the board."""
    return ["\n".join([ASTERISKS, f"{writer or 'Challenger'} writes:", "", text])] if text else []


def _cropped(line: str) -> str:
    """A line that may have been made of anything, short enough to be read."""
    return line if len(line) <= CROPPED else f"{line[:CROPPED]} ..."


def _mark(comment: str | None) -> str:
    """Two asterisks for the subject if there is a comment, unless it is a mere signature."""
    return " **" if comment and not comment.startswith(("-- ", "__", "--=20")) else ""
