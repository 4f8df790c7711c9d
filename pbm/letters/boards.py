"""The letters about boards, and the answer to a command that was refused."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import games
from games import SKIP
from games.figures import BoardText
from pbm.blocks import Block, Comment, Drawing, Moves, NextCommand, Paragraph, Rule, Table
from pbm.board import clocks, dice, plan_lines, ratings
from pbm.board.board import FORFEIT, LEAVING, PROPOSALS, REASONS, RESIGN, SERVER, SWAP, Board, Point
from pbm.board.growing import Clock
from pbm.letters import headings
from pbm.letters.headings import HeadingKind, heading
from pbm.letters.letter import OVER, WAITING, Letter, plain_letter
from pbm.names import display_name, is_former, is_guest
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow, BoardState, Robot, TurnRow
from pbm.store.boards import USUAL_DAYS
from pbm.texts import TIME_FORMAT, counted, duration, enumerated, escaped, wrapped_line, wrapped_turns

ROUNDS = 4
"""How many rounds of moves a letter lists, if not all."""
CROPPED = 300
"""How many characters of a line that we do not understand are repeated."""


class _PrivatePart(NamedTuple):
    """What one reader alone sees of a board, such as their plan."""

    paragraphs: Sequence[Paragraph]
    data: dict[str, object]
    """What these paragraphs say, for programs; its keys are added to the data of the board."""


def of_board(
    session: Session,
    point: Point,
    *readers: str | None,
    kind: HeadingKind = "Summary",
    notes: Iterable[str] = (),
    is_full: bool = False,
    is_new: bool = False,
    command: NextCommand | None = None,
) -> list[Letter]:
    """A letter to each reader that shows a board, with *notes* about what has just happened.

    They end with the *command* to answer with, or else with what the board suggests to each reader. The list of moves
    has the last four rounds and all moves that the server made; it is the whole list when *is_full*.
    """
    board = point.board
    row = board.row
    comment = None
    if point.is_present and kind != "Notification":
        comment = row.comment
    turn = ""
    if point.mover and not is_guest(point.mover):
        turn = f" {point.mover}"
    new = "New " if is_new else ""

    above = _above_status(session, point, kind, notes)
    below = _below_status(point, comment, is_full=is_full)
    public_data = data(point, session)
    letters = []
    for reader in readers:
        news = [Paragraph(text) for text in _news(point, reader)]
        private = _private_part(point, reader)
        letter_data = public_data | private.data
        own_notes: list[Block] = []
        if text := board.about.notes.get(reader or ""):
            own_notes = [Rule(), Paragraph(f"Your notes:\n{text}")]
            letter_data["notes"] = text
        blocks = list(above)
        blocks += news
        blocks.append(Paragraph(status_of(point)))
        blocks += private.paragraphs
        blocks += below
        blocks += own_notes
        blocks += _clocks(point, session, reader)
        letter = Letter(
            to=reader,
            subject=f"{new}{row.game.capitalize()} Board {row.board}{turn}{_mark(comment)}",
            blocks=tuple(blocks),
            command=command or next_command(point, reader),
            data=letter_data,
            kind="board",
            thread=board.thread,
            begins_thread=is_new,
            game=row.game,
            board="" if row.board == "new" else row.board,
            is_urgent=point.is_over or reader in board.dropped_plans,
            is_subscribed=reader in board.about.subscribers,
            hint=_hint(point, reader),
            point=point,
        )
        letters.append(letter)
    return letters


def _above_status(session: Session, point: Point, kind: HeadingKind, notes: Iterable[str]) -> list[Block]:
    """What a letter about a board begins with: which board it is, and what has just happened."""
    shown = title(point)
    if not point.is_present:
        shown = title(point, f" after {point.moves} of its {counted(len(point.board.turns), 'move')},")
    blocks: list[Block] = [Paragraph(heading("board", kind=kind, title=shown))]
    blocks += [Paragraph(note) for note in notes]
    if away := _time_away(session, point):
        blocks.append(Paragraph(f"The server was away for {duration(away)}, which do not count."))
    return blocks


def _below_status(point: Point, comment: str | None, *, is_full: bool) -> list[Block]:
    """What each reader sees of a board below whose turn it is: ratings, moves, the board itself, and a *comment*."""
    row = point.board.row
    blocks: list[Block] = []
    if point.is_over and row.ended:
        blocks += _ratings(point.board)
    blocks += _moves(point, is_full=is_full or point.is_over)
    blocks += picture(point)
    blocks += _about(point, is_full=is_full)
    if comment:
        blocks.append(Comment(row.commenter and display_name(row.commenter), comment))
    return blocks


def _time_away(session: Session, point: Point) -> float:
    """The seconds since the last step on a board that count for nobody; in the letters about a step, since the last."""
    board = point.board
    row = board.row
    if not point.is_present or point.is_over or row.board == "new":
        return 0.0
    since = row.happened
    if session.now <= since:
        earlier = [turn.played for turn in board.turns if turn.played < since]
        since = earlier[-1] if earlier else row.started
    return session.store.absences.seconds_since(since, session.now, *row.place)


def of_new_board(session: Session, board: Board, *others: str | None, notes: Iterable[str] = ()) -> list[Letter]:
    """The letters about a new board: to its players, to those who follow all boards, and to *others*."""
    readers = dict.fromkeys(board.players + tuple(board.about.subscribers) + others)
    return of_board(session, board.present, *readers, kind="New", notes=notes, is_full=True, is_new=True)


def of_turns(session: Session, point: Point, reader: str) -> Letter:
    """The letter that lists the turns of a board to the sender of the command."""
    row = point.board.row
    blocks: list[Block] = [Paragraph(heading("board", kind="History", title=title(point))), Paragraph(status_of(point))]
    if not point.moves:
        blocks.append(Paragraph("No move has been made yet."))
    blocks += _moves(point, is_full=True)
    return Letter(
        to=None,
        subject=f"Historical List of {row.game.capitalize()} board {row.board}",
        blocks=tuple(blocks),
        command=next_command(point, reader),
        data=data(point, session),
        kind="board",
        game=row.game,
        board=row.board,
        point=point,
    )


def of_removal(board: Board, leaver: str, comment: str, *, to: str, writer: str) -> Letter:
    """The letter that says that a player has left a board before it began, with the *writer*'s comment.

    If the server writes it, the player has not come in time.
    """
    name = f"{board.row.game.capitalize()} board {board.number}"
    why = heading("left", player=display_name(leaver), board=name)
    if writer == SERVER:
        why = heading("absent", player=display_name(leaver), board=name)
    blocks: list[Block] = [Paragraph(f"{why}\nThe board is removed. Nobody has won or lost.")]
    if comment:
        blocks.append(Comment(display_name(writer), comment))
    answer = challenge(board, *board.players)
    if _has_guest(board):
        answer = f"{board.row.game} games"
    letter = plain_letter(
        blocks,
        subject=f"{name} has been removed{_mark(comment)}",
        answer=answer,
        userid=leaver,
        game=board.row.game,
        removed=board.number,
    )
    return letter._replace(to=to, kind="removal", thread=board.thread, game=board.row.game)


def drawing_of(point: Point) -> Drawing:
    """The board as it is drawn.

    The server may have added turns to the last one that was typed; all of them are marked.
    """
    board = point.board
    drawn = board.rules.draw(point.state, board.states[point.last_typed])
    number = ""
    if board.is_stored:
        number = board.number
    height = None
    if isinstance(drawn, BoardText):
        height = drawn.height
    return Drawing(board.row.game, drawn, board=number, moves=point.moves, height=height)


def picture(point: Point) -> list[Block]:
    """The board as it is drawn, and a line that names the last turn, if there was one."""
    blocks: list[Block] = [drawing_of(point)]
    last_turns = [turn_text(turn) for turn in point.board.turns[point.last_typed : point.moves]]
    if last_turns:
        blocks.append(Paragraph(wrapped_turns(f"{headings.LAST_TURN}{'; '.join(last_turns)}")))
    return blocks


def next_command(point: Point, reader: str | None) -> NextCommand:
    """The command with which the reader of a board will probably answer."""
    board = point.board
    row = board.row
    if row.board == "new":
        return NextCommand(challenge(board, "USERID1", "USERID2"))
    if point.is_over and reader in board.players and not row.rematch:
        return NextCommand(f"{row.game} rematch {row.board} {reader} PASSWORD", "rematch")
    if point.is_over and not _has_guest(board):
        return NextCommand(challenge(board, *reversed(board.players)))
    if point.is_over or not point.is_present or (reader and reader != point.mover):
        return NextCommand(f"{row.game} show {row.board}", "show")
    return NextCommand(f"{row.game} move {row.board} {point.mover} PASSWORD MOVE#{point.moves + 1}", "MOVE")


def _has_guest(board: Board) -> bool:
    """Whether a guest plays, whom nobody can challenge."""
    return any(is_guest(player) for player in board.players)


def challenge(board: Board, first: str, second: str) -> str:
    """The command that starts another board with the same options."""
    row = board.row
    return " ".join(filter(None, [row.game, "challenge", clocks.all_options(row), first, second]))


def data(point: Point, session: Session) -> dict[str, Any]:
    """A board as ``--json`` prints it to anybody."""
    board = point.board
    row = board.row
    settings: dict[str, Any] = {
        "novacation": row.novacation,
        "noweekends": bool(row.weekends),
        "more_days": row.more_days,
        "robots": list(board.about.robots),
    }
    printed: dict[str, Any] = {}
    if point.is_present and row.board != "new" and (time_left := time_left_on(session, board)):
        runs_out = time_left.runs_out
        printed["clock"] = {
            **time_left.clock._asdict(),
            "left": [round(seconds) for seconds in time_left.left],
            "runs_out": runs_out.isoformat() if runs_out else None,
        }
    if point.is_present and row.vote:
        printed["vote"] = row.vote
        printed["voter"] = row.voter
    if point.is_present and row.vote == "undo":
        printed["takes_back"] = [turn.text for turn in _turns_to_undo(board)]
    if row.source:
        printed["source"] = {"board": row.source, "moves": row.given}
    printed |= {name: value for name, value in settings.items() if value}
    if point.is_over:
        printed["reason"] = row.reason or board.reasons[0]
        if row.ended:
            printed["rated"] = bool(board.about.results)
    elif row.board != "new" and ratings.why_unrated(row):
        printed["rated"] = False

    position_data = position(point)
    winner = None
    shown_dice = position_data.get("dice", [])
    if point.is_over:
        winner = board.winner or "draw"
        shown_dice = []
    return printed | {
        "board": row.board,
        "game": row.game,
        "players": {side: board.players[seat] for side, seat in zip(board.rules.SIDES, point.state.seats, strict=True)},
        "turn": point.mover,
        "winner": winner,
        "moves": point.moves,
        "dice": shown_dice,
        "over": point.is_over,
        "position": position_data,
    }


def position(point: Point) -> dict[str, Any]:
    """A position as robots are asked for a move in it."""
    board = point.board
    return {
        "game": board.row.game,
        "options": board.options,
        "moves": point.moves,
        "history": [turn.text for turn in board.turns[: point.moves] if turn.text not in LEAVING],
        **point.state.view(),
    }


def status(row: BoardRow | BoardState) -> str:
    """Who is to move or has won, in a few words."""
    if row.ended and row.winner:
        return f"won by {display_name(row.winner)}"
    if row.ended:
        return "tie"
    mover = display_name(row.turn or "")
    if row.moves:
        return f"{mover}'s turn"
    return f"{mover} to start"


def state_of(row: BoardRow | BoardState) -> dict[str, Any]:
    """A board as events and notices tell it to programs: what anybody may know, without its position."""
    return {
        "game": row.game,
        "board": row.board,
        "moves": row.moves,
        "turn": row.turn,
        "players": [row.first_player, row.second_player],
        "status": status(row),
        "over": row.ended is not None,
        "vote": row.vote,
        "voter": row.voter,
    }


def status_of(point: Point) -> str:
    """Who is to move or has won, in a sentence."""
    if point.is_over:
        return _result_of(point.board)
    state = point.state
    mover = display_name(point.mover or "")
    side = point.board.rules.SIDES[state.turn]
    if games.needs_dice(state) and state.dice:
        side += f", dice {' and '.join(map(str, state.dice))}"
    if not point.moves:
        return headings.status_line("start", player=mover, side=side)
    return headings.status_line("turn", player=mover, side=side)


def _result_of(board: Board) -> str:
    """Who has won, and how if it was not by the rules, in a sentence."""
    how = ""
    if board.row.reason == "adjudicated":  # by a draw, or a turn in which the loser forfeits
        how = " (adjudicated)"
    elif board.resigned:
        is_forfeit = board.turns[-1].text == FORFEIT
        verb = "forfeited" if is_forfeit else "resigned"
        how = f" ({display_name(board.resigned)} {verb})"
    elif board.row.drawn:
        how = " (agreed)"
    if board.winner is None:
        return headings.status_line("tie", how=how)
    return headings.status_line("won", player=display_name(board.winner), how=how)


def title(point: Point, separator: str = ",") -> str:
    """A board and its players, such as ``Spiro board 101, alice (X) against bob (O)``."""
    row = point.board.row
    return f"{row.game.capitalize()} board {row.board}{separator} {' against '.join(sides(point))}"


def sides(point: Point) -> list[str]:
    """The players with their sides, in the order of the players."""
    board = point.board
    by_seat = sorted(zip(point.state.seats, board.rules.SIDES, strict=True))
    return [f"{display_name(board.players[seat])} ({side})" for seat, side in by_seat]


def private_data_for(point: Point, reader: str) -> dict[str, object]:
    """What the reader alone sees of a board, as data: a plan, notes, or a move that they have to confirm."""
    private = dict(_private_part(point, reader).data)
    if text := point.board.about.notes.get(reader):
        private["notes"] = text
    return private


def _private_part(point: Point, reader: str | None) -> _PrivatePart:
    """What the reader alone sees of the board as it is now: a plan, or a move that they have to confirm."""
    board = point.board
    row = board.row
    if reader is None or not point.is_present:
        return _PrivatePart([], {})
    texts = []
    private_data: dict[str, object] = {}
    if reader in board.dropped_plans:
        texts.append(board.dropped_plans[reader])
        private_data["plan_dropped"] = board.dropped_plans[reader]
    if row.submitted and reader == point.mover:
        confirm = f"{row.game} confirm {row.board} {reader} PASSWORD"
        texts.append(f"Your move waits for you to confirm it:\n{wrapped_turns(row.submitted)}\n{confirm}")
        private_data["submitted"] = row.submitted
    plan = board.plans.get(reader)
    if plan == RESIGN:
        cancel = f"{row.game} move {row.board} {reader} PASSWORD unresign"
        texts.append(f"You will resign as soon as it is your turn. To cancel this:\n{cancel}")
        private_data["queued"] = RESIGN
    elif plan:
        lines = plan.split("\n")
        shown_plan = "\n".join(wrapped_turns(line) for line in lines)
        forget = f"{row.game} plan {row.board} {reader} PASSWORD clear"
        texts.append(f"Your plan:\n{shown_plan}\nTo forget it:\n{forget}")
        if queued := plan_lines.queued(plan_lines.branches(plan)):
            private_data["queued"] = queued
        private_data["plan"] = lines
    return _PrivatePart([Paragraph(text) for text in texts], private_data)


def proposal(board: Board, reader: str | None) -> str:
    """What is proposed on a board, in words for a reader: `a draw`, or `to take back c3 and your answer d4`."""
    if board.row.vote != "undo":
        return PROPOSALS[str(board.row.vote)]
    parts: list[str] = []
    for turn in _turns_to_undo(board):
        whose = "your" if turn.userid == reader else f"{display_name(turn.userid)}'s"
        what = "answer" if parts else "move"
        if turn.text == SKIP:
            parts.append(f"{whose} skip")
        elif not parts and turn.userid == board.row.voter:
            parts.append(turn.text)
        else:
            parts.append(f"{whose} {what} {turn.text}")
    return f"to take back {enumerated(parts)}"


def _turns_to_undo(board: Board) -> list[TurnRow]:
    """The turns that the proposal to undo takes back."""
    return board.turns[board.turns_before_undo(str(board.row.voter)) :]


def _news(point: Point, reader: str | None) -> list[str]:
    """Who has just swapped sides; what is proposed on the board, and who is to answer; who is on vacation."""
    if not point.is_present:
        return []
    board = point.board
    row = board.row
    news = []
    if board.turns and board.turns[-1].text == SWAP:
        news.append(f"{display_name(board.turns[-1].userid)} has swapped sides.")
    if row.vote and row.voter:
        opponent = row.opponent(row.voter)
        proposed = wrapped_turns(f"{display_name(row.voter)} proposes {proposal(board, reader)}.")
        accept = f"{row.game} move {row.board} {opponent} PASSWORD accept"
        news.append(f"{proposed}\nWaiting for {display_name(opponent)} to `accept` or `reject`:\n{accept}")
    if not board.is_over:
        news += [f"{userid} is on vacation through {last}." for userid, last in sorted(board.about.away.items())]
    return news


def _ratings(board: Board) -> list[Paragraph]:
    """What the game did to the ratings."""
    if board.about.results:
        return [Paragraph("\n".join(ratings.described(result) for result in board.about.results))]
    why = ratings.why_unrated(board.row)
    if not why and not board.has_begun:
        why = "not both players have moved"
    if not why:
        why = "it ended elsewhere, or while a guest played it"
    return [Paragraph(f"The game is not rated.\nIt is unrated because {why}.")]


def _about(point: Point, *, is_full: bool) -> list[Paragraph]:
    """What does not change during a game: how its dice are checked, its options, its robots and its followers."""
    about = point.board.about
    paragraphs = []
    if (is_full or point.is_over) and (proof := dice_proof(point)):
        paragraphs.append(Paragraph("\n".join(proof)))
    if conditions := _conditions(point):
        paragraphs.append(Paragraph("\n".join(conditions)))
    followers = []
    if about.subscribers:
        followers += wrapped_line(f"Subscribers: {', '.join(about.subscribers)}")
    if about.notified:
        followers += wrapped_line(f"Notified at the end: {', '.join(about.notified)}")
    if followers:
        paragraphs.append(Paragraph("\n".join(followers)))
    return paragraphs


def _conditions(point: Point) -> list[str]:
    """Under what conditions the game is played, a line each: its options, its clocks, its rating, its robots."""
    board = point.board
    row = board.row
    lines = []
    if options := clocks.all_options(row):
        lines.append(f"Options: {options}")
    if row.source:
        moves = f"The first {row.given} moves are those"
        if row.given == 1:
            moves = "The first move is that"
        lines.append(f"{moves} of board {row.source}; the game is not rated.")
    if row.novacation:
        lines.append("Vacations do not stop the clocks of this board.")
    if row.weekends:
        lines.append("No clock runs on Saturdays and Sundays.")
    if row.board != "new" and not point.is_over and (why := ratings.why_unrated(row)):
        lines.append(f"This game is unrated: {why}.")
    lines += [_about_robot(robot, is_over=point.is_over) for robot in board.about.robots.values()]
    lines += [f"{player} is a former player." for player in dict.fromkeys(board.players) if is_former(player)]
    return lines


def _about_robot(robot: Robot, *, is_over: bool) -> str:
    """That a player is a robot, how strong it is, and why its answers may take long."""
    level = f", level {robot.level}" if robot.level else ""
    delay = ""
    if robot.paused and not is_over:
        delay = "; it is paused, and no time is counted until it plays again"
    elif robot.thinks_in_idle_time:
        delay = "; it thinks in idle time, so that its answers take minutes"
    return f"{robot.userid} is a robot{level}{delay}."


def _shows_clocks(point: Point) -> bool:
    """Whether clocks are shown: of a board with clock options or in a tournament, and of a game that is over."""
    row = point.board.row
    if not point.is_present or row.board == "new":
        return False
    return bool(row.ended or row.pool or any(clocks.of(row)))


def _clocks(point: Point, session: Session, reader: str | None) -> list[Block]:
    """The clocks of a board with clock options or in a tournament, and of a game that is over, with the reason."""
    if not _shows_clocks(point):
        return []
    board = point.board
    row = board.row
    zone = session.zone(reader)

    def local(moment: datetime) -> str:
        return f"{moment.astimezone(zone):{TIME_FORMAT}}"

    rows = [("Start", local(row.started))]
    if board.turns:
        rows.append(("Last move", local(row.changed or row.started)))
    if row.ended:
        rows.append(("End", local(row.ended)))
    else:
        rows.append(("Now", local(session.now)))
    if row.reason:
        rows.append(("Reason", REASONS[row.reason]))

    if time_left := time_left_on(session, board):
        rows += _rows_of_growing_clock(time_left, board, local)
    else:
        rows += _rows_of_usual_clocks(session, board, local)
    return [Rule(), Table(rows)]


def _rows_of_growing_clock(
    time_left: "TimeLeft", board: Board, local: Callable[[datetime], str]
) -> list[tuple[str, str]]:
    """The clock, what each player has left, and when the one to move runs out."""
    rows = [("Clock", time_left.clock.words)]
    for player, seconds in zip(board.players, time_left.left, strict=True):
        rows.append((f"Left for {display_name(player)}", _days(seconds)))
    if time_left.runs_out:
        rows.append(("Runs out", local(time_left.runs_out)))
    return rows


def _rows_of_usual_clocks(session: Session, board: Board, local: Callable[[datetime], str]) -> list[tuple[str, str]]:
    """What is unusual about the clocks, and how much time the players have used."""
    row = board.row
    rows = []
    reminder_days, forfeit_days = clocks.limits(row)
    usual_reminder_days, usual_forfeit_days = USUAL_DAYS
    if reminder_days != usual_reminder_days:
        rows.append(("Reminder", f"after {counted(reminder_days, 'day')}"))
    if forfeit_days != usual_forfeit_days:
        rows.append(("Forfeit", f"after {counted(forfeit_days, 'day')}"))
    if row.until and not row.ended:
        rows.append(("Round ends", local(row.until)))

    used = [max(0.0, seconds) for seconds in board.used(row.ended or session.now)]
    for player, seconds in zip(board.players, used, strict=True):
        rows.append((f"Time of {display_name(player)}", _days(seconds)))
    rows.append(("Time of both", _days(sum(used))))
    if row.total_days:
        rows.append(("Allowed to each", counted(row.total_days, "day")))
    return rows


def deadline(session: Session, row: BoardRow, userid: str) -> str:
    """Until when a board waits for a player before they lose, as a sentence; empty if it does not wait for them."""
    if row.ended or clocks.awaited(row) != userid:
        return ""
    left = clocks.time_left(session.store, row, session.now)
    end = (session.now + left).astimezone(session.zone(userid))
    return f"You have {duration(left.total_seconds())} left, until {end:%A}, {end.day} {end:%B %Y, %H:%M %Z}."


class TimeLeft(NamedTuple):
    """What the players have left on a clock that grows."""

    clock: Clock
    left: Sequence[float]
    """The seconds that each player has left."""
    runs_out: datetime | None
    """When the clock of the player to move runs out; None if no clock runs."""


def time_left_on(session: Session, board: Board) -> TimeLeft | None:
    """What the players of a board have left now; None if its clock does not grow."""
    clock = clocks.clock_of(board.row)
    if clock is None:
        return None
    runs_out = None
    if not board.is_over and board.mover not in board.about.robots:
        runs_out = clocks.runs_out_at(session.store, board.row)
    return TimeLeft(clock, board.left(session.now), runs_out)


def short_days(seconds: float) -> str:
    """A time in days and hours, such as ``2d03h``."""
    hours = int(seconds) // 3600
    return f"{hours // 24}d{hours % 24:02}h"


def _days(seconds: float) -> str:
    """A time as days, hours and minutes, such as ``2 days 03:40``."""
    minutes = int(seconds) // 60
    hours = minutes // 60
    return f"{counted(hours // 24, 'day')} {hours % 24:02}:{minutes % 60:02}"


def _moves(point: Point, *, is_full: bool) -> list[Block]:
    """The moves of the players, numbered by rounds; below them the throws of dice.

    All throws are listed up to that of the player to move, also one that was not used because a draw was agreed on.
    """
    board = point.board
    state = point.state
    turns = board.turns[: point.moves]
    rounds = _rounds(board.players, turns)
    listed = []
    for number, made in enumerate(rounds, 1):
        is_recent = number > len(rounds) - ROUNDS
        is_automatic = any(turn.automatic for turn in made.values())
        if is_full or is_recent or is_automatic:
            first, second = (turn_text(made[seat]) if seat in made else "" for seat in (0, 1))
            listed.append((number, first, second))
    throws = [turn.dice for turn in turns if turn.dice]
    if games.needs_dice(state) and state.dice and not (point.is_over and board.resigned):
        throws.append(state.dice)

    blocks: list[Block] = []
    if rounds:
        first_player, second_player = board.players
        players = display_name(first_player), display_name(second_player)
        blocks.append(Moves(players, sides(point), listed))
    if throws:
        thrown = ", ".join("-".join(map(str, throw)) for throw in throws)
        blocks.append(Paragraph("\n".join(wrapped_line(f"Throws: {thrown}"))))
    return blocks


def _rounds(players: tuple[str, str], turns: Sequence[TurnRow]) -> list[dict[int, TurnRow]]:
    """The turns by rounds: in each, that of the first player at 0 and that of the second at 1, if they made one.

    A player who moves twice in a row, because the other one is skipped, begins a round each time.
    """
    first, second = players
    rounds: list[dict[int, TurnRow]] = []
    last_seat = 1
    for number, turn in enumerate(turns):
        # If a user plays both sides, only the order of the turns tells which side moved.
        seat = number % 2 if first == second else int(turn.userid == second)
        if seat <= last_seat:
            rounds.append({})
        rounds[-1][seat] = turn
        last_seat = seat
    return rounds


def turn_text(turn: TurnRow) -> str:
    """A turn as it is listed."""
    return f"{turn.text} (Auto)" if turn.automatic else turn.text


def dice_proof(point: Point) -> tuple[str, str] | None:
    """How the dice can be checked: a sentence, and the secret or, before the end, its SHA-256; None without dice."""
    board = point.board
    if not board.has_dice or not board.row.secret:
        return None
    first = max(board.row.given, board.row.earlier_throws) + 1
    which = f" from move {first} on" if first > 1 else ""
    if point.is_over:
        how = f"The dice{which} came from this secret; `dice {board.name}` checks every throw:"
        return how, board.row.secret.hex()
    how = f"The dice{which} come from a secret that the last mail will tell. This is its SHA-256:"
    return how, dice.commitment(board.row.secret)


def _hint(point: Point, reader: str | None) -> str:
    """What a player can answer a board mail with, if it is not their turn."""
    board = point.board
    if reader not in board.players or not point.is_present or reader == point.mover:
        return ""
    if point.is_over:
        return OVER
    waits_for_robot = board.row.opponent(reader) in board.about.robots
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
    reason_lines: list[str] = []
    for line in reason.splitlines():
        reason_lines += wrapped_line(_cropped(line), breaks_words=False)
    quoted_lines = [f"> {_cropped(escaped(line))}".rstrip() for line in quoted]
    name = game if game == "pbm" else game.capitalize()

    blocks: list[Block] = [Paragraph("\n".join(reason_lines))]
    if point:
        subject = f"{name} Board {point.board.number} Error"
        command = next_command(point, why.reader)
        blocks.append(Paragraph(status_of(point)))
        blocks += picture(point)
    else:
        subject = f"{name} error"
        command = NextCommand("help" if game == "pbm" else f"{game} help")
    blocks.append(Paragraph("\n".join(quoted_lines)))
    letter = Letter(
        to=None,
        subject=why.subject or subject,
        blocks=tuple(blocks),
        command=command,
        data={"error": reason, "status": why.status},
        kind="refusal",
    )
    if point is None or point.is_over:
        return letter
    # A player of a running board can answer with the move that they meant.
    row = point.board.row
    return letter._replace(
        game=game,
        board="" if row.board == "new" else row.board,
        reader=why.reader if why.reader in point.board.players else "",
        point=point,
    )


def _cropped(line: str) -> str:
    """The first 300 characters of a line."""
    return line if len(line) <= CROPPED else f"{line[:CROPPED]} ..."
