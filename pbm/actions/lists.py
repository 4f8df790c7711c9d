"""Lists: boards shown one by one, tables of boards, and the pages in which long lists are mailed."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import games
from pbm import letters, texts
from pbm.access import tokens
from pbm.actions import finding
from pbm.actions.finding import board_of, find_point, find_row, player_at_sender
from pbm.blocks import Block, NextCommand, Paragraph, Table
from pbm.board import clocks
from pbm.budget import Budget
from pbm.letters import Letter
from pbm.refusals import Refused, check_game
from pbm.session import Session
from pbm.store import BoardRow
from pbm.store.boards import BoardFilter

LINES_OF_PAGE = 200
"""How many lines of a list are mailed at a time."""
Item = TypeVar("Item")
Row = dict[str, str]
"""A line of a table under the headings of its columns."""


def page_number(session: Session, word: str) -> int:
    """The page that a word asks for. Without a word, it is 1 by mail, and in a shell 0, all pages. Raises Refused."""
    if not word:
        return 0 if session.is_trusted else 1
    if not re.fullmatch("[0-9]{1,7}", word, re.ASCII) or int(word) == 0:
        raise Refused(f"{word!r} is no page; the first one is 1.")
    return int(word)


def on_page(
    session: Session, word: str, find: Callable[[int], Iterable[Item]], missing: str, *, is_backwards: bool = False
) -> tuple[list[Item], int]:
    """The lines on the page that a word asks for, and the number of the next page; 0 if there is none.

    Function *find* returns the first lines, at least as many as it is given, or all for -1. With *is_backwards*, it
    begins with the last line: the first page has the last lines, in their order. Raises Refused with the text
    *missing*, in which ``{page}`` is the number of a page that does not exist.
    """
    page = page_number(session, word)
    following = 0
    if page == 0:
        lines = list(find(-1))
    else:
        first = (page - 1) * LINES_OF_PAGE
        behind_page = first + LINES_OF_PAGE
        lines = list(islice(find(behind_page + 1), first, behind_page + 1))
        if not lines and page > 1:
            raise Refused(missing.format(page=page))
        if len(lines) > LINES_OF_PAGE:  # the line behind the page is only there to tell that another page follows
            lines.pop()
            following = page + 1
    if is_backwards:
        lines.reverse()
    return lines, following


def aligned(rows: Sequence[Row], numbers: Collection[str] = (), rare: Collection[str] = ()) -> Table:
    """A table of rows. Columns of *numbers* are aligned to the right; *rare* columns are left out if they are empty."""
    used = {name for row in rows for name, cell in row.items() if cell not in {"", "0"}}
    columns = [name for name in rows[0] if name not in rare or name in used]
    lines = [columns]
    for row in rows:
        lines.append([row[name] for name in columns])
    return Table(lines, [name for name in columns if name in numbers])


def with_next(letter: Letter, command: str, following: int) -> Letter:
    """A letter with a page of a list; if another page follows, its last line is the *command* for that one."""
    if not following:
        return letter
    more = Paragraph(f"This is page {following - 1}; the next one:")
    command_for_next = NextCommand(f"{command} {following}")
    return letter._replace(blocks=letter.blocks + (more,), command=command_for_next, has_next=True)


def show(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """Boards as anybody sees them, each as it is, or as it was after some moves."""
    return showas(session, game, None, words)


def showas(session: Session, game: str, reader: str | None, words: Sequence[str]) -> list[Letter]:
    """Boards as one player, the *reader*, sees them."""
    boards = finding.wanted(session, game, words, userid=reader)
    show_board = partial(_letter_of_board, session, reader, Budget(is_trusted=session.is_trusted), game)
    answer = f"{game} games"
    shown, missing = _find_each(boards, show_board)
    if not shown:
        shown = [_letter_of_nothing(finding.none_found(game, words), answer)]
    return shown + _not_found(missing, answer)


def show_own(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """A board as its player sees it."""
    return showas(session, row.game, name, [row.board])


def turns(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """All turns of a board."""
    return [letters.of_turns(session, board_of(session, row).present, name)]


def show_all(session: Session, userid: str, state: str) -> list[Letter]:
    """The boards of a user in all games: if the state is `active`, all active ones, else where they are to move."""
    name = userid.lower()
    state = state.lower() or "next"
    if state not in {"next", "active"}:
        raise Refused(f"`all show` is for `next` or `active` boards, and not for {state!r}.")
    if not session.store.users.is_taken(name):
        raise Refused(finding.no_user(session, name))
    rows: list[BoardRow] = []
    for game in games.names():
        rows += finding.rows(session, BoardFilter([game], [name], over=False, to_move=state == "next"))
    if len(rows) > finding.MOST_BOARDS:
        raise Refused(f"These are {len(rows)} boards, which would be too much mail; ask game by game.")
    if not rows:
        verb = "is to move" if state == "next" else "plays"
        return [_letter_of_nothing(f"There is no active board on which {name} {verb}.", "list")]
    show_board = partial(_letter_of_board, session, None, Budget(is_trusted=session.is_trusted))
    places = [f"{row.game} {row.board}" for row in rows]
    shown, missing = _find_each(places, lambda place: show_board(*place.split()))
    return shown + _not_found(missing, f"all games {name}")


def table_of_all(session: Session, words: Sequence[str]) -> list[Letter]:
    """A table of the boards of some users in all games; the active ones if no word selects others."""
    named = finding.without_fillers(words)
    page = ""
    if named and named[-1].isdecimal():
        page = named.pop()
    among = finding.read(session, "", named)
    if not among.userids:
        raise Refused("`all games` needs the userid of a player.")
    among = among._replace(over=bool(among.over))  # active boards, where no word says which

    def find_rows(most: int) -> Iterator[BoardRow]:
        for game in games.names():
            yield from finding.rows(session, among._replace(games=[game]), most)

    rows, following = on_page(session, page, find_rows, "There is no page {page} of these boards.")
    if not rows:
        return [_letter_of_nothing(f"There are no boards for {' '.join(named)!r}.", "list")]
    blocks: list[Block] = [aligned([_waiting(session, row, among.userids) for row in rows])]
    blocks += _calendar(session, among.userids)
    letter = letters.plain_letter(
        blocks,
        subject="List of all games",
        answer=f"{rows[0].game} show {rows[0].board}",
        boards=[_waiting_data(session, row, among.userids) for row in rows],
    )
    command = " ".join(["all games"] + named)
    return [with_next(letter, command, following)]


def _calendar(session: Session, userids: Sequence[str]) -> list[Paragraph]:
    """The addresses of calendars of the users' deadlines, if they have asked by mail for their own boards alone.

    A forged From field does no harm: the answer goes to the user's own address.
    """
    web = session.server.web
    if not web or session.is_printed:
        return []
    if not set(userids) <= session.senders:
        return []
    lines = ["For a calendar program, until when you have to move:"]
    for address in session.store.users.addresses(*userids):
        if address.address.lower() == str(session.sender).lower():
            token = tokens.calendar_token(session.server, address.userid, address.number)
            lines.append(f"{web}/calendar/{token}.ics")
    return [Paragraph("\n".join(lines))]


def _waiting(session: Session, row: BoardRow, userids: Sequence[str]) -> Row:
    """A row of the table of all games, about a board of one of these users."""
    data = _waiting_data(session, row, userids)
    zone = session.zone(None)
    since = row.happened.astimezone(zone)
    cells = {"Game": row.game, "Board": row.board}
    if len(userids) > 1:  # else it would be the same user in all rows
        cells["Player"] = data["userid"]
    cells["Opponent"] = data["opponent"]
    cells["Turn"] = data["turn"]
    if row.ended:
        cells["Turn"] = f"{letters.status(row)} ({row.reason})"
    cells[f"Since ({zone})"] = f"{since:{texts.ZONELESS_TIME_FORMAT}}"
    cells["Days left"] = ""
    if data["days_left"] is not None:
        cells["Days left"] = f"{data['days_left']} for {data['waits_for']}"
    return cells


def _waiting_data(session: Session, row: BoardRow, userids: Sequence[str]) -> dict[str, Any]:
    """A row of the table of all games for programs, about a board of one of these users."""
    player, opponent = row.players
    if player not in userids:
        player, opponent = opponent, player
    waits_for = None
    days_left = None
    if not row.ended:
        waits_for = clocks.awaited(row)
    if not row.ended and not clocks.waits_for_robot(session.store, row):
        days_left = max(0, clocks.time_left(session.store, row, session.now).days)
    return {
        **row.place_data,
        "userid": player,
        "opponent": opponent,
        "turn": row.turn,
        "since": row.happened.isoformat(),
        "days_left": days_left,
        "waits_for": waits_for,
    }


def table(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """A table of the boards that words name or select; without words, active ones and those that ended lately."""
    named, word = finding.split_page(session, game, words)
    if finding.names_boards(session, game, named):
        rows, missing = _find_each(named, partial(find_row, session, game))
        return [_letter_of_table(session, game, rows)] + _not_found(missing, f"{game} games")
    among = finding.read(session, game, named)
    rows, following = on_page(
        session,
        word,
        partial(finding.rows, session, among),
        "There is no page {page} of these boards.",
        is_backwards=finding.is_backwards(among),
    )
    if not rows:
        letter = letters.plain_letter(
            finding.none_found(game, named),
            subject=f"List of {game.capitalize()} games",
            answer=f"{game} challenge USERID1 USERID2",
            boards=[],
        )
        return [letter]
    # The number of the next page must not be read as that of a board.
    if not named and (following >= finding.FIRST_NUMBER or session.store.boards.get(game, str(following))):
        named = ["all"]
    command = " ".join([game, "games"] + named)
    return [with_next(_letter_of_table(session, game, rows), command, following)]


def _letter_of_table(session: Session, game: str, rows: Sequence[BoardRow]) -> Letter:
    """The letter with a table of these boards."""
    data: dict[str, Any] = {"boards": []}
    if session.as_json:
        for row in rows:
            try:
                data["boards"].append(letters.data(board_of(session, row).present, session))
            except Refused:  # it cannot be read, but the table has it
                data.setdefault("missing", []).append(row.board)
    return letters.plain_letter(
        [aligned([_row(session, row) for row in rows], rare={"Robot", "Reason", "Left"})],
        subject=f"List of {game.capitalize()} games",
        answer=f"{game} show {rows[0].board}",
        **data,
    )


def list_games(session: Session, words: Sequence[str]) -> list[Letter]:
    """The number of boards of each game; if games are named, their active boards instead."""
    named = list(dict.fromkeys(word.lower() for word in words))
    for game in named:
        check_game(game)
    if named:
        tables: list[Letter] = []
        for game in named:
            tables += table(session, game, ["active"])
        return tables
    counts = {}
    for game in games.names():
        _, counts[game] = session.store.boards.totals(game)
    rows = [("Game", "Boards")]
    rows += [(game, str(count)) for game, count in counts.items()]
    return [letters.plain_letter([Table(rows)], subject="List of games", answer="help GAME", games=counts)]


def _letter_of_board(session: Session, reader: str | None, budget: Budget, game: str, board: str) -> Letter:
    """The letter that shows a board to the sender. Raises Refused if there is none, or the *budget* is spent."""
    if budget.is_spent:
        place = f"{game.capitalize()} board {board}"
        raise Refused(f"{place} is left out, because all of them are too much work; ask for fewer boards.")
    point = find_point(session, game, board)
    [letter] = letters.of_board(session, point, reader, is_full=True)
    name = player_at_sender(session, point.board, reader)
    if name:
        letter = letter._replace(reader=name, command=letters.next_command(point, name))
    return letter._replace(to=None)


def _find_each(boards: Iterable[str], find: Callable[[str], Item]) -> tuple[list[Item], dict[str, str]]:
    """What *find* returns for each board, and why it refused the others. Raises Refused if it refused all."""
    items = []
    missing = {}
    for board in boards:
        try:
            items.append(find(board))
        except Refused as why:
            missing[board] = str(why)
    if missing and not items:
        raise Refused("\n".join(missing.values()))
    return items, missing


def _letter_of_nothing(text: str, answer: str) -> Letter:
    """The letter that says that no boards were found."""
    return letters.plain_letter(text, subject="Show summary", answer=answer, boards=[])


def _not_found(missing: Mapping[str, str], answer: str) -> list[Letter]:
    """The letter that lists boards that were named and not found, or left out, if there are any."""
    if not missing:
        return []
    text = "\n".join(missing.values())
    return [letters.plain_letter(text, subject="Show summary", answer=answer, missing=list(missing))]


def _row(session: Session, row: BoardRow) -> Row:
    """A row of the table of a game's boards."""
    status = letters.status(row)
    if row.vote:
        proposal = "a draw" if row.vote == "draw" else "undo"
        status += f"; {row.voter} proposes {proposal}"
    reason = row.reason or ""
    if reason and not session.store.players.results_of_board(*row.place):
        reason += ", unrated"
    return {
        "Board": row.board,
        "Moves": str(row.moves),
        "Players": " ".join(row.players),
        "Robot": ", ".join(session.store.robots.among(row.players)),
        "Status": status,
        "Reason": reason,
        "Options": clocks.all_options(row),
        "Left": _left_to_players(session, row),
    }


def _left_to_players(session: Session, row: BoardRow) -> str:
    """What the players have left on a clock that grows, in their order, such as ``8d12h 10d00h``; empty without one."""
    if row.base_seconds is None:
        return ""
    left = [row.first_left or 0.0, row.second_left or 0.0]
    is_running = row.turn is not None and not session.store.robots.among([row.turn])
    if is_running and row.first_player != row.second_player:
        seat = row.players.index(str(row.turn))
        off = clocks.days_off(session.store, row)
        left[seat] = max(0.0, clocks.left_on_clock(row, seat, session.now, off))
    return " ".join(letters.short_days(seconds) for seconds in left)
