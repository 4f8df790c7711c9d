"""What a board mail says."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any

import games
from pbm.blocks import Block, Comment, Drawing, Moves, Paragraph, Rule, Table
from pbm.board import clocks, dice, plans, ratings
from pbm.board.board import FORFEIT, REASONS, RESIGN, SERVER, SWAP, Board, Point
from pbm.letters.letter import Letter, note
from pbm.store import BoardRow, Robot, TurnRow
from pbm.texts import MINUTES, broken, counted, table, title, wrapped

ROUNDS = 4
"""How many rounds of moves a letter lists, if not all."""
NOTIFICATION = "Notification"
"""The kind of letter that says no more than that a game is over."""


Zones = Callable[[str | None], tzinfo]
"""In which time zone each reader is told times."""


def in_utc(_: str | None) -> tzinfo:
    """The same for all."""
    return UTC


def of_board(
    point: Point,
    *readers: str | None,
    kind: str = "Summary",
    notes: Iterable[str] = (),
    now: datetime,
    zones: Zones = in_utc,
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
    heading = f"{kind}: {name} board {row.board}{when}, {' against '.join(sides(point))}"
    comment = row.comment if point.is_present and kind != NOTIFICATION else None
    drawn = picture(point)
    options = " ".join(filter(None, [row.options, clocks.of(row).text]))
    told = [f"Options: {options}"] if options else []
    if row.source:
        moves = "The first move is that" if row.given == 1 else f"The first {row.given} moves are those"
        told.append(f"{moves} of board {row.source}; the game is not rated.")
    if row.novacation:
        told.append("Vacations do not stop the clocks of this board.")
    if row.board != "new" and not point.is_over and (why := ratings.why_unrated(row)):
        told.append(f"This game is unrated: {why}.")
    told += [_of_robot(robot, is_over=point.is_over) for robot in board.about.robots.values()]
    above = [*map(Paragraph, ["\n".join([heading, *told]), *notes, *_vote(point), status_of(point)])]
    proof = dice_proof(board, is_told=is_full, is_over=point.is_over)
    below: list[Block] = [
        *_ratings(point),
        *_moves(point, is_full=is_full or point.is_over),
        *_throws(point),
        *drawn,
        *([Paragraph("\n".join(proof))] if proof else []),
        *_followers(point),
        *comment_part(row.commenter, comment),
    ]
    turn = f" {point.turn}" if point.turn else ""
    subject = f"{'New ' if is_new else ''}{name} Board {row.board}{turn}{_mark(comment)}"
    mover, notation = board.turn or "", "" if point.is_over else games.notation(row.game)
    begun = thread(board)
    return [
        Letter(
            to=to,
            subject=subject,
            blocks=(*above, *_own(point, to), *below, *_clocks(point, now, zones, to)),
            answer=command or answer(point, to),
            facts=partial(data, point, to),
            thread=begun,
            begins_thread=is_new,
            game=row.game,
            board="" if row.board == "new" else row.board,
            mover=mover,
            is_urgent=point.is_over or to in board.told,
            is_subscribed=to in board.about.subscribers,
            notation=notation,
        )
        for to in readers
    ]


def _of_robot(robot: Robot, *, is_over: bool) -> str:
    """What a player is told of an opponent who is a robot."""
    level = f", level {robot.level}" if robot.level else ""
    paused = "; it is paused, and no time is counted until it plays again" if robot.paused and not is_over else ""
    return f"{robot.userid} is a robot{level}{paused}."


def of_turns(point: Point, reader: str) -> Letter:
    """The letter that lists the turns of a board to whoever asks."""
    row, name = point.board.row, title(point.board.row.game)
    heading = f"History: {name} board {row.board}, {' against '.join(sides(point))}"
    listed: Sequence[Block] = _moves(point, is_full=True) or [Paragraph("No move has been made yet.")]
    told: list[Block] = [Paragraph(heading), Paragraph(status_of(point)), *listed, *_throws(point)]
    letter = note(told, subject=f"Historical List of {name} board {row.board}", answer=answer(point, reader))
    notation = "" if point.is_over else games.notation(row.game)
    return letter._replace(facts=partial(data, point), game=row.game, board=row.board, notation=notation)


def of_removal(board: Board, leaver: str, comment: str, *, to: str, writer: str) -> Letter:
    """The letter that says that a player has left a board before it began, with the *writer*'s comment.

    If the server writes it, the player has not come in time.
    """
    name = f"{title(board.row.game)} board {board.row.board}"
    left = f"{leaver} has left {name} before it began."
    how = f"{leaver} has not moved in time on {name}." if writer == SERVER else left
    text = f"{how}\nThe board is removed; nobody has won or lost."
    letter = note(
        [Paragraph(text), *comment_part(writer, comment)],
        subject=f"{name} has been removed{_mark(comment)}",
        answer=challenge(board, *board.players),
        data={"userid": leaver, "game": board.row.game, "removed": board.row.board},
    )
    return letter._replace(to=to, thread=thread(board), game=board.row.game, is_urgent=True)


def picture(point: Point) -> tuple[Drawing, *tuple[Paragraph, ...]]:
    """The board as it is drawn, and a line that names the last turn, if there was one."""
    board = point.board
    first = point.last_typed
    drawn = board.rules.draw(point.state, board.states[first])
    drawing = Drawing(board.row.game, drawn, f"{board.row.board}#{point.moves}" if board.is_stored else "")
    last = "; ".join(turn_text(turn) for turn in board.turns[first : point.moves])
    return (drawing, Paragraph(broken(f"Last turn: {last}"))) if last else (drawing,)


def answer(point: Point, to: str | None) -> str:
    """The command that the reader is most likely to answer with."""
    board, row = point.board, point.board.row
    if row.board == "new":
        return challenge(board, "USERID1", "USERID2")
    if point.is_over:
        return challenge(board, *reversed(board.players))
    if not point.is_present or (to and to != point.turn):
        return f"{row.game} show {row.board}"
    return f"{row.game} move {row.board} {point.turn} PASSWORD MOVE#{point.moves + 1}"


def challenge(board: Board, first: str, second: str) -> str:
    """The command that starts another board with the same options."""
    row = board.row
    return " ".join(filter(None, [row.game, "challenge", row.options, clocks.of(row).text, first, second]))


def data(point: Point, reader: str | None = None) -> dict[str, Any]:
    """A board as ``--json`` prints it, with what its reader has told the server."""
    board = point.board
    seen = point.state.view()
    winner = (board.winner or "draw") if point.is_over else None
    vote = {"vote": board.row.vote, "voter": board.row.voter} if point.is_present and board.row.vote else {}
    source = {"source": {"board": board.row.source, "moves": board.row.given}} if board.row.source else {}
    novacation = {"novacation": True} if board.row.novacation else {}
    robots = {"robots": [*board.about.robots]} if board.about.robots else {}
    return (
        vote
        | source
        | novacation
        | robots
        | _end(point)
        | {
            "board": board.row.board,
            "game": board.row.game,
            "players": {
                side: board.players[seat] for side, seat in zip(board.rules.SIDES, point.state.seats, strict=True)
            },
            "turn": point.turn,
            "winner": winner,
            "moves": point.moves,
            "dice": [] if point.is_over else seen.get("dice", []),
            "over": point.is_over,
            "position": {
                "game": board.row.game,
                "options": board.options,
                "moves": point.moves,
                "history": [turn.text for turn in board.turns[: point.moves] if turn.text not in {RESIGN, FORFEIT}],
                **seen,
            },
        }
        | _own_data(point, reader)
    )


def _end(point: Point) -> dict[str, Any]:
    """Why the game is over, and whether it counts in the ratings, for programs."""
    board = point.board
    is_unrated = board.row.board != "new" and bool(ratings.why_unrated(board.row))
    if not point.is_over:
        return {"rated": False} if is_unrated else {}
    reason = {"reason": board.row.reason or board.reasons[0]}
    return reason | ({"rated": bool(board.about.results)} if board.row.ended else {})


def thread(board: Board) -> str:
    """What tells the letters about this board from those about any other, also one of another database."""
    return f"{board.row.game}.{board.row.board}.{board.row.started:%Y%m%d%H%M%S}"


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


def sides(point: Point) -> list[str]:
    """The players with their sides, in the order of the players."""
    board = point.board
    by_seat = sorted(zip(point.state.seats, board.rules.SIDES, strict=True))
    return [f"{board.players[seat]} ({side})" for seat, side in by_seat]


def _own(point: Point, to: str | None) -> list[Paragraph]:
    """What the reader, and nobody else, has told the server about the board."""
    board, row = point.board, point.board.row
    if to is None or not point.is_present:
        return []
    told = []
    if row.submitted and to == point.turn:
        confirm = f"{row.game} confirm {row.board} {to} PASSWORD"
        told.append(f"You have still to confirm your move:\n{broken(row.submitted)}\n{confirm}")
    plan = board.plans.get(to)
    if plan == RESIGN:
        cancel = f"{row.game} move {row.board} {to} PASSWORD unresign"
        told.append(f"You will resign as soon as it is your turn. To cancel this:\n{cancel}")
    elif plan:
        tree = "\n".join(broken(line) for line in plans.tree(plans.branches(plan)))
        told.append(f"Your plan:\n{tree}\nTo forget it:\n{row.game} plan {row.board} {to} PASSWORD clear")
    return [*map(Paragraph, [*([board.told[to]] if to in board.told else []), *told])]


def _own_data(point: Point, to: str | None) -> dict[str, object]:
    """The same for programs."""
    board = point.board
    if to is None or not point.is_present:
        return {}
    plan = board.plans.get(to, "")
    lines = [] if plan == RESIGN else plans.branches(plan)
    own = {
        "submitted": board.row.submitted if to == point.turn else None,
        "queued": plan if plan == RESIGN else plans.queued(lines),
        "plan": [*map(plans.text_of_branch, lines)],
    }
    return {name: text for name, text in own.items() if text}


def _vote(point: Point) -> list[str]:
    """Who has just swapped sides; what is proposed on the board, and who has still to answer; who is on vacation."""
    board, row = point.board, point.board.row
    if not point.is_present:
        return []
    parts = [f"{turn.userid} has swapped sides." for turn in board.turns[-1:] if turn.text == SWAP]
    if row.vote and row.voter:
        what = "a draw" if row.vote == "draw" else "to take the last move back"
        other = board.opponent(row.voter)
        how = f"{row.game} move {row.board} {other} PASSWORD accept"
        parts.append(f"{row.voter} proposes {what}.\n{other} has still to answer, `accept` or `reject`:\n{how}")
    if not board.is_over:
        parts += [f"{userid} is on vacation through {last}." for userid, last in sorted(board.about.away.items())]
    return parts


def _ratings(point: Point) -> list[Paragraph]:
    """What the game did to the ratings, when it is over."""
    if not (point.is_over and point.board.row.ended):
        return []
    board = point.board
    if board.about.results:
        return [Paragraph("\n".join(ratings.described(result) for result in board.about.results))]
    not_begun = "" if board.has_begun else "not both players have moved"
    why = ratings.why_unrated(board.row) or not_begun or "it was over before it was stored"
    return [Paragraph(f"The game is not rated.\nIt is unrated because {why}.")]


def _followers(point: Point) -> list[Paragraph]:
    about = point.board.about
    kinds = {"Subscribers": about.subscribers, "Notified at the end": about.notified}
    lines = [f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names]
    return [Paragraph("\n".join(part for line in lines for part in wrapped(line)))] if lines else []


def _clocks(point: Point, now: datetime, zones: Zones, to: str | None) -> list[Block]:
    """The clocks of a board that has clock options, of a tournament board, and of a game that is over, and why."""
    board, row = point.board, point.board.row
    set_up = clocks.of(row)
    if not point.is_present or row.board == "new" or not (row.ended or any(set_up) or row.pool):
        return []
    zone = zones(to)
    moments = {"Start": row.started} | ({"Last move": row.changed or row.started} if board.turns else {})
    moments |= {"End": row.ended} if row.ended else {"Now": now}
    rows = [(name, f"{moment.astimezone(zone):{MINUTES}}") for name, moment in moments.items()]
    if row.reason:
        rows.append(("Reason", REASONS[row.reason]))
    usual = clocks.Clocks().limits(is_tournament=False)
    limits = zip(("Reminder", "Forfeit"), set_up.limits(is_tournament=row.pool is not None), usual, strict=True)
    rows += [(name, f"after {counted(days, 'day')}") for name, days, default in limits if days != default]
    rows += [("Round ends", f"{row.until.astimezone(zone):{MINUTES}}")] if row.until and not row.ended else []
    used = [board.used(seat, row.ended or now) for seat in (0, 1)]
    rows += [(f"Time of {userid}", _days(seconds)) for userid, seconds in zip(board.players, used, strict=True)]
    rows.append(("Time of both", _days(sum(used))))
    if row.total_days:
        rows.append(("Allowed to each", counted(row.total_days, "day")))
    return [Rule(), Table(table(rows))]


def _days(seconds: float) -> str:
    """A time as days, hours and minutes."""
    minutes = int(seconds) // 60
    return f"{counted(minutes // 1440, 'day')} {minutes // 60 % 24:02}:{minutes % 60:02}"


def _moves(point: Point, *, is_full: bool) -> list[Moves]:
    """The moves, numbered by rounds, if there are any."""
    board = point.board
    first, second = board.players
    rounds: list[dict[int, TurnRow]] = []
    last = 1
    for number, turn in enumerate(board.turns[: point.moves]):
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
    return [Moves(board.players, sides(point), listed)] if rounds else []


def _throws(point: Point) -> list[Paragraph]:
    """All throws up to that of the player to move, also one that was not used because a draw was agreed on."""
    board, state = point.board, point.state
    throws = [turn.dice for turn in board.turns[: point.moves] if turn.dice]
    if games.needs_dice(state) and state.dice and not (point.is_over and board.resigned):
        throws.append(state.dice)
    listed = f"Throws: {', '.join('-'.join(map(str, dice)) for dice in throws)}"
    return [Paragraph("\n".join(wrapped(listed)))] if throws else []


def turn_text(turn: TurnRow) -> str:
    """A turn as it is listed."""
    return f"{turn.text} (Auto)" if turn.automatic else turn.text


def dice_proof(board: Board, *, is_told: bool, is_over: bool) -> tuple[str, str] | None:
    """How the dice can be checked: the promise, in the first letter and wherever all is *told*, and then its proof.

    A sentence, and the secret or its hash that it ends with.
    """
    if not games.needs_dice(board.states[0]) or not board.row.secret:
        return None
    if is_over:
        how = f"The dice came from this secret; `dice {board.name}` checks every throw:"
        return how, board.row.secret.hex()
    if is_told:
        which = f" from move {board.row.given + 1} on" if board.row.given else ""
        how = f"The dice{which} come from a secret that the last mail will tell. Its SHA-256:"
        return how, dice.commitment(board.row.secret)
    return None


def comment_part(writer: str | None, text: str | None) -> list[Comment]:
    """The part of a letter that passes on what somebody wrote, if he did; None is whoever started the board."""
    return [Comment(writer or "Challenger", text)] if text else []


def _mark(comment: str | None) -> str:
    """Two asterisks for the subject if there is a comment, unless it is a mere signature."""
    return " **" if comment and not comment.startswith(("-- ", "__", "--=20")) else ""
