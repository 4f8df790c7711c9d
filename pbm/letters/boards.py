"""The letters about boards, and the answer to a command that was refused."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import games
from games.figures import BoardText
from pbm.blocks import Block, Comment, Drawing, Moves, NextCommand, Paragraph, Rule, Table
from pbm.board import clocks, dice, plan_lines, ratings
from pbm.board.board import FORFEIT, LEAVING, PROPOSALS, REASONS, RESIGN, SERVER, SWAP, Board, Point
from pbm.letters.letter import OVER, WAITING, Letter, plain_letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow, TurnRow
from pbm.store.boards import USUAL_DAYS
from pbm.texts import TIME_FORMAT, counted, wrapped_line, wrapped_turns

ROUNDS = 4
"""How many rounds of moves a letter lists, if not all."""
NOTIFICATION = "Notification"
"""The kind of letter that says no more than that a game is over."""
CROPPED = 300
"""How many characters of a line that we do not understand are repeated."""


def of_board(
    session: Session,
    point: Point,
    *readers: str | None,
    kind: str = "Summary",
    notes: Iterable[str] = (),
    is_full: bool = False,
    is_new: bool = False,
    command: NextCommand | None = None,
) -> list[Letter]:
    """A letter to each reader that shows a board, with *notes* about what has just happened.

    They end with the *command* to answer with, or else with what the board suggests to each reader. The list of moves
    has the last four rounds and all moves that the server made; it is the whole list when *is_full*.
    """
    board, row = point.board, point.board.row
    when = "," if point.is_present else f" after {point.moves} of its {counted(len(board.turns), 'move')},"
    comment = row.comment if point.is_present and kind != NOTIFICATION else None
    above = [*map(Paragraph, [f"{kind}: {title(point, when)}", *notes, *_news(point), status_of(point)])]
    below = [
        *(_ratings(board) if point.is_over and row.ended else []),
        *_moves(point, is_full=is_full or point.is_over),
        *picture(point),
        *_about(point, is_full=is_full),
        *([Comment(row.commenter, comment)] if comment else []),
    ]
    turn = f" {point.turn}" if point.turn else ""
    found, letters = data(point), []
    for to in readers:
        told, own = _own(point, to)
        noted = board.about.notes.get(to or "")
        notes_of_reader: list[Block] = [Rule(), Paragraph(f"Your notes:\n{noted}")] if noted else []
        letter = Letter(
            to=to,
            subject=f"{'New ' if is_new else ''}{row.game.capitalize()} Board {row.board}{turn}{_mark(comment)}",
            blocks=(*above, *told, *below, *notes_of_reader, *_clocks(point, session, to)),
            command=command or next_command(point, to),
            data=found | own | ({"notes": noted} if noted else {}),
            thread=board.thread,
            begins_thread=is_new,
            game=row.game,
            board="" if row.board == "new" else row.board,
            is_urgent=point.is_over or to in board.dropped_plans,
            is_subscribed=to in board.about.subscribers,
            hint=_hint(point, to) if row.board != "new" else "",
            point=point,
        )
        letters.append(letter)
    return letters


def of_new_board(session: Session, board: Board, *others: str | None, notes: Iterable[str] = ()) -> list[Letter]:
    """The letters about a new board: to its players, to those who follow all boards, and to *others*."""
    readers = dict.fromkeys([*board.players, *board.about.subscribers, *others])
    return of_board(session, board.present, *readers, kind="New", notes=notes, is_full=True, is_new=True)


def of_turns(point: Point, reader: str) -> Letter:
    """The letter that lists the turns of a board to whoever asks."""
    row = point.board.row
    told = [
        Paragraph(f"History: {title(point)}"),
        Paragraph(status_of(point)),
        *([] if point.moves else [Paragraph("No move has been made yet.")]),
        *_moves(point, is_full=True),
    ]
    return Letter(
        to=None,
        subject=f"Historical List of {row.game.capitalize()} board {row.board}",
        blocks=tuple(told),
        command=next_command(point, reader),
        data=data(point),
        game=row.game,
        board=row.board,
        point=point,
    )


def of_removal(board: Board, leaver: str, comment: str, *, to: str, writer: str) -> Letter:
    """The letter that says that a player has left a board before it began, with the *writer*'s comment.

    If the server writes it, the player has not come in time.
    """
    name = f"{board.row.game.capitalize()} board {board.row.board}"
    left = f"{leaver} has left {name} before it began."
    how = f"{leaver} has not moved in time on {name}." if writer == SERVER else left
    text = f"{how}\nThe board is removed. Nobody has won or lost."
    letter = plain_letter(
        [Paragraph(text), *([Comment(writer, comment)] if comment else [])],
        subject=f"{name} has been removed{_mark(comment)}",
        answer=challenge(board, *board.players),
        userid=leaver,
        game=board.row.game,
        removed=board.row.board,
    )
    return letter._replace(to=to, thread=board.thread, game=board.row.game)


def picture(point: Point) -> tuple[Drawing, *tuple[Paragraph, ...]]:
    """The board as it is drawn, and a line that names the last turn, if there was one."""
    board = point.board
    first = point.last_typed
    drawn = board.rules.draw(point.state, board.states[first])
    height = drawn.height if isinstance(drawn, BoardText) else None
    drawing = Drawing(board.row.game, drawn, board.row.board if board.is_stored else "", point.moves, height)
    last = "; ".join(turn_text(turn) for turn in board.turns[first : point.moves])
    return (drawing, Paragraph(wrapped_turns(f"Last turn: {last}"))) if last else (drawing,)


def next_command(point: Point, to: str | None) -> NextCommand:
    """The command with which the reader of a board will probably answer."""
    board, row = point.board, point.board.row
    if row.board == "new":
        return NextCommand(challenge(board, "USERID1", "USERID2"))
    if point.is_over and to in board.players and not row.rematch:
        return NextCommand(f"{row.game} rematch {row.board} {to} PASSWORD", "rematch")
    if point.is_over:
        return NextCommand(challenge(board, *reversed(board.players)))
    if not point.is_present or (to and to != point.turn):
        return NextCommand(f"{row.game} show {row.board}", "show")
    return NextCommand(f"{row.game} move {row.board} {point.turn} PASSWORD MOVE#{point.moves + 1}", "MOVE")


def challenge(board: Board, first: str, second: str) -> str:
    """The command that starts another board with the same options."""
    row = board.row
    return " ".join(filter(None, [row.game, "challenge", clocks.all_options(row), first, second]))


def data(point: Point) -> dict[str, Any]:
    """A board as ``--json`` prints it to anybody."""
    board, row = point.board, point.board.row
    found: dict[str, Any] = {}
    if point.is_present and row.vote:
        found |= {"vote": row.vote, "voter": row.voter}
    set_up = {
        "source": row.source and {"board": row.source, "moves": row.given},
        "novacation": row.novacation,
        "noweekends": bool(row.weekends),
        "more_days": row.more_days,
        "robots": [*board.about.robots],
    }
    found |= {name: value for name, value in set_up.items() if value}
    if point.is_over:
        found["reason"] = row.reason or board.reasons[0]
        if row.ended:
            found["rated"] = bool(board.about.results)
    elif row.board != "new" and ratings.why_unrated(row):
        found["rated"] = False
    seen = point.state.view()
    return found | {
        "board": row.board,
        "game": row.game,
        "players": {side: board.players[seat] for side, seat in zip(board.rules.SIDES, point.state.seats, strict=True)},
        "turn": point.turn,
        "winner": (board.winner or "draw") if point.is_over else None,
        "moves": point.moves,
        "dice": [] if point.is_over else seen.get("dice", []),
        "over": point.is_over,
        "position": {
            "game": row.game,
            "options": board.options,
            "moves": point.moves,
            "history": [turn.text for turn in board.turns[: point.moves] if turn.text not in LEAVING],
            **seen,
        },
    }


def status(row: BoardRow) -> str:
    """Who is to move or has won, in a few words."""
    if row.ended:
        return f"won by {row.winner}" if row.winner else "tie"
    return f"{row.turn}'s turn" if row.moves else f"{row.turn} to start"


def status_of(point: Point) -> str:
    """Who is to move or has won, in a sentence."""
    if point.is_over:
        board = point.board
        how = "forfeited" if board.turns and board.turns[-1].text == FORFEIT else "resigned"
        why = f" ({board.resigned} {how})" if board.resigned else " (agreed)" if board.row.drawn else ""
        if board.row.reason == "adjudicated":  # by a draw, or a turn in which the loser forfeits
            why = " (adjudicated)"
        return f"Won by {board.winner}{why}." if board.winner else f"The game is a tie{why}."
    state = point.state
    thrown = f", dice {' and '.join(map(str, state.dice))}" if games.needs_dice(state) and state.dice else ""
    side = point.board.rules.SIDES[state.turn] + thrown
    return f"{point.turn}'s turn ({side})." if point.moves else f"{point.turn}, please start ({side})."


def title(point: Point, separator: str = ",") -> str:
    """A board and its players, such as ``Spiro board 101, alice (X) against bob (O)``."""
    row = point.board.row
    return f"{row.game.capitalize()} board {row.board}{separator} {' against '.join(sides(point))}"


def sides(point: Point) -> list[str]:
    """The players with their sides, in the order of the players."""
    board = point.board
    by_seat = sorted(zip(point.state.seats, board.rules.SIDES, strict=True))
    return [f"{board.players[seat]} ({side})" for seat, side in by_seat]


def _own(point: Point, to: str | None) -> tuple[list[Paragraph], dict[str, object]]:
    """What the reader alone sees of the board, such as their plan: for people, and for programs."""
    board, row = point.board, point.board.row
    told, data = list[str](), dict[str, object]()
    if to is None or not point.is_present:
        return [], data
    if to in board.dropped_plans:
        told.append(board.dropped_plans[to])
        data["plan_dropped"] = board.dropped_plans[to]
    if row.submitted and to == point.turn:
        data["submitted"] = row.submitted
        confirm = f"{row.game} confirm {row.board} {to} PASSWORD"
        told.append(f"Your move waits for you to confirm it:\n{wrapped_turns(row.submitted)}\n{confirm}")
    plan = board.plans.get(to)
    if plan == RESIGN:
        data["queued"] = RESIGN
        cancel = f"{row.game} move {row.board} {to} PASSWORD unresign"
        told.append(f"You will resign as soon as it is your turn. To cancel this:\n{cancel}")
    elif plan:
        if queued := plan_lines.queued(plan_lines.branches(plan)):
            data["queued"] = queued
        data["plan"] = lines = plan.split("\n")
        forget = f"{row.game} plan {row.board} {to} PASSWORD clear"
        told.append("\n".join(["Your plan:", *map(wrapped_turns, lines), "To forget it:", forget]))
    return [*map(Paragraph, told)], data


def _news(point: Point) -> list[str]:
    """Who has just swapped sides; what is proposed on the board, and who is to answer; who is on vacation."""
    board, row = point.board, point.board.row
    if not point.is_present:
        return []
    parts = [f"{turn.userid} has swapped sides." for turn in board.turns[-1:] if turn.text == SWAP]
    if row.vote and row.voter:
        what, other = PROPOSALS[row.vote], board.row.opponent(row.voter)
        how = f"{row.game} move {row.board} {other} PASSWORD accept"
        parts.append(f"{row.voter} proposes {what}.\nWaiting for {other} to `accept` or `reject`:\n{how}")
    if not board.is_over:
        parts += [f"{userid} is on vacation through {last}." for userid, last in sorted(board.about.away.items())]
    return parts


def _ratings(board: Board) -> list[Paragraph]:
    """What the game did to the ratings."""
    if board.about.results:
        return [Paragraph("\n".join(map(ratings.described, board.about.results)))]
    not_begun = "" if board.has_begun else "not both players have moved"
    why = ratings.why_unrated(board.row) or not_begun or "it ended elsewhere, or while a guest played it"
    return [Paragraph(f"The game is not rated.\nIt is unrated because {why}.")]


def _about(point: Point, *, is_full: bool) -> Iterator[Paragraph]:
    """What does not change during a game: how its dice are checked, its options, its robots and its followers."""
    board, row = point.board, point.board.row
    if (is_full or point.is_over) and (proof := dice_proof(point)):
        yield Paragraph("\n".join(proof))
    options = clocks.all_options(row)
    told = [f"Options: {options}"] if options else []
    if row.source:
        moves = "The first move is that" if row.given == 1 else f"The first {row.given} moves are those"
        told.append(f"{moves} of board {row.source}; the game is not rated.")
    if row.novacation:
        told.append("Vacations do not stop the clocks of this board.")
    if row.weekends:
        told.append("No clock runs on Saturdays and Sundays.")
    if row.board != "new" and not point.is_over and (why := ratings.why_unrated(row)):
        told.append(f"This game is unrated: {why}.")
    for robot in board.about.robots.values():
        level = f", level {robot.level}" if robot.level else ""
        is_paused = robot.paused and not point.is_over
        paused = "; it is paused, and no time is counted until it plays again" if is_paused else ""
        idle = "; it thinks in idle time, so that its answers take minutes" if robot.thinks_in_idle_time else ""
        told.append(f"{robot.userid} is a robot{level}{paused or idle}.")
    followers = {"Subscribers": board.about.subscribers, "Notified at the end": board.about.notified}
    lines = [part for kind, names in followers.items() if names for part in wrapped_line(f"{kind}: {', '.join(names)}")]
    yield from (Paragraph("\n".join(part)) for part in (told, lines) if part)


def _clocks(point: Point, session: Session, to: str | None) -> list[Block]:
    """The clocks of a board with clock options or in a tournament, and of a game that is over, with the reason."""
    board, row = point.board, point.board.row
    if not point.is_present or row.board == "new" or not (row.ended or any(clocks.of(row)) or row.pool):
        return []
    zone, now = session.zone(to), session.now
    moments = {"Start": row.started} | ({"Last move": row.changed or row.started} if board.turns else {})
    moments |= {"End": row.ended} if row.ended else {"Now": now}
    rows = [(name, f"{moment.astimezone(zone):{TIME_FORMAT}}") for name, moment in moments.items()]
    if row.reason:
        rows.append(("Reason", REASONS[row.reason]))
    limits = zip(("Reminder", "Forfeit"), clocks.limits(row), USUAL_DAYS, strict=True)
    rows += [(name, f"after {counted(days, 'day')}") for name, days, default in limits if days != default]
    rows += [("Round ends", f"{row.until.astimezone(zone):{TIME_FORMAT}}")] if row.until and not row.ended else []
    used = [max(0.0, seconds) for seconds in board.used(row.ended or now)]
    rows += [(f"Time of {userid}", _days(seconds)) for userid, seconds in zip(board.players, used, strict=True)]
    rows.append(("Time of both", _days(sum(used))))
    if row.total_days:
        rows.append(("Allowed to each", counted(row.total_days, "day")))
    return [Rule(), Table(rows)]


def _days(seconds: float) -> str:
    """A time as days, hours and minutes."""
    minutes = int(seconds) // 60
    return f"{counted(minutes // 1440, 'day')} {minutes // 60 % 24:02}:{minutes % 60:02}"


def _moves(point: Point, *, is_full: bool) -> list[Block]:
    """The moves of the players, numbered by rounds; below them the throws of dice.

    All throws are listed up to that of the player to move, also one that was not used because a draw was agreed on.
    """
    board, state, turns = point.board, point.state, point.board.turns[: point.moves]
    first, second = board.players
    rounds: list[dict[int, TurnRow]] = []
    last = 1
    for number, turn in enumerate(turns):
        column = number % 2 if first == second else int(turn.userid == second)
        if column <= last:
            rounds.append({})
        rounds[-1][column] = turn
        last = column
    listed = []
    for number, row in enumerate(rounds, 1):
        if is_full or number > len(rounds) - ROUNDS or any(turn.automatic for turn in row.values()):
            made = [turn_text(row[column]) if column in row else "" for column in (0, 1)]
            listed.append((number, made[0], made[1]))
    throws = [turn.dice for turn in turns if turn.dice]
    if games.needs_dice(state) and state.dice and not (point.is_over and board.resigned):
        throws.append(state.dice)
    thrown = f"Throws: {', '.join('-'.join(map(str, dice)) for dice in throws)}"
    told: list[Block] = [Moves(board.players, sides(point), listed)] if rounds else []
    return [*told, Paragraph("\n".join(wrapped_line(thrown)))] if throws else told


def turn_text(turn: TurnRow) -> str:
    """A turn as it is listed."""
    return f"{turn.text} (Auto)" if turn.automatic else turn.text


def dice_proof(point: Point) -> tuple[str, str] | None:
    """How the dice can be checked: a sentence, and the secret or, before the end, its SHA-256; None without dice."""
    board = point.board
    if not board.has_dice or not board.row.secret:
        return None
    if point.is_over:
        how = f"The dice came from this secret; `dice {board.name}` checks every throw:"
        return how, board.row.secret.hex()
    which = f" from move {board.row.given + 1} on" if board.row.given else ""
    how = f"The dice{which} come from a secret that the last mail will tell. This is its SHA-256:"
    return how, dice.commitment(board.row.secret)


def _hint(point: Point, to: str | None) -> str:
    """What a player can answer a board mail with, if it is not their turn."""
    board = point.board
    if to not in board.players or not point.is_present or to == point.turn:
        return ""
    if point.is_over:
        return OVER
    waits_for_robot = board.row.opponent(to) in board.about.robots
    words = "`plan` or `note`" if waits_for_robot else "`plan`, `nag`, `give 7`, `note` or `chat`"
    return WAITING.format(words=words)


def _mark(comment: str | None) -> str:
    """Two asterisks for the subject if there is a comment, unless it is a mere signature."""
    return " **" if comment and not comment.startswith(("-- ", "__", "--=20")) else ""


# Refusals


def of_error(why: Refused, reason: str, quoted: Sequence[str], *, game: str) -> Letter:
    """The answer to a command that was refused: the reason, the board if it is known, and the command in quotation.

    The *reason* is the text of the refusal without its secrets.
    """
    point = why.point
    lines = (part for line in reason.splitlines() for part in wrapped_line(_cropped(line), breaks_words=False))
    told: list[Block] = [Paragraph("\n".join(lines))]
    name = game if game == "pbm" else game.capitalize()
    subject = f"{name} error"
    if point:
        subject = f"{name} Board {point.board.row.board} Error"
        told += [Paragraph(status_of(point)), *picture(point)]
    told.append(Paragraph("\n".join(f"> {_cropped(line)}".rstrip() for line in quoted)))
    command = next_command(point, why.reader) if point else NextCommand(f"{game} help" if game != "pbm" else "help")
    letter = Letter(
        to=None,
        subject=why.subject or subject,
        blocks=tuple(told),
        command=command,
        data={"error": reason, "status": why.status},
    )
    if point is None or point.is_over:
        return letter
    number = "" if point.board.row.board == "new" else point.board.row.board
    player = why.reader if why.reader in point.board.players else None
    return letter._replace(game=game, board=number, reader=player or "", point=point)


def _cropped(line: str) -> str:
    """The first 300 characters of a line."""
    return line if len(line) <= CROPPED else f"{line[:CROPPED]} ..."
