"""Lists: boards shown one by one, tables of boards, and the pages in which long lists are mailed."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

import games
from pbm import letters, texts
from pbm.access import tokens
from pbm.actions import finding
from pbm.actions.finding import board_of, find_point, find_row, player_at_sender
from pbm.blocks import NextCommand, Paragraph, Table
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
        return int(not session.in_shell)
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
    last = page * LINES_OF_PAGE + 1
    lines = [*islice(find(last), last - LINES_OF_PAGE - 1, last)] if page else [*find(-1)]
    if not lines and page > 1:
        raise Refused(missing.format(page=page))
    following = page + 1 if page and len(lines) > LINES_OF_PAGE else 0
    if following:
        del lines[LINES_OF_PAGE:]
    return (lines[::-1] if is_backwards else lines), following


def aligned(rows: Sequence[Row], numbers: Collection[str] = (), rare: Collection[str] = ()) -> Table:
    """A table of rows. Columns of *numbers* are aligned to the right; *rare* columns are left out if they are empty."""
    columns = [name for name in rows[0] if name not in rare or any(row[name] not in {"", "0"} for row in rows)]
    cells = [[row[name] for name in columns] for row in rows]
    return Table([columns, *cells], [name for name in columns if name in numbers])


def with_next(letter: Letter, command: str, following: int) -> Letter:
    """A letter with a page of a list; if another page follows, its last line is the *command* for that one."""
    if not following:
        return letter
    more = Paragraph(f"This is page {following - 1}; the next one:")
    return letter._replace(blocks=(*letter.blocks, more), command=NextCommand(f"{command} {following}"))


def show(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """Boards as anybody sees them, each as it is, or as it was after some moves."""
    return showas(session, game, None, words)


def showas(session: Session, game: str, reader: str | None, words: Sequence[str]) -> list[Letter]:
    """Boards as one player, the *reader*, sees them."""
    show_board = partial(_letter_of_board, session, reader, Budget(in_shell=session.in_shell), game)
    found, missing = _find_each(finding.wanted(session, game, words, userid=reader), show_board)
    told = found or [_letter_of_nothing(finding.none_found(game, words), f"{game} games")]
    return [*told, *_not_found(missing, f"{game} games")]


def show_own(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """A board as its player sees it."""
    return showas(session, row.game, name, [row.board])


def turns(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """All turns of a board."""
    return [letters.of_turns(board_of(session, row).present, name)]


def show_all(session: Session, userid: str, state: str) -> list[Letter]:
    """The boards of a user in all games: if the state is `active`, all active ones, else where they are to move."""
    name, state = userid.lower(), state.lower() or "next"
    if state not in {"next", "active"}:
        raise Refused(f"`all show` is for `next` or `active` boards, and not for {state!r}.")
    if not session.store.users.is_taken(name):
        raise Refused(finding.no_user(session, name))
    wanted = [
        f"{game} {row.board}"
        for game in games.names()
        for row in finding.rows(session, BoardFilter([game], [name], over=False, to_move=state == "next"))
    ]
    if len(wanted) > finding.MOST_BOARDS:
        raise Refused(f"These are {len(wanted)} boards, which would be too much mail; ask game by game.")
    if not wanted:
        what = "is to move" if state == "next" else "plays"
        return [_letter_of_nothing(f"There is no active board on which {name} {what}.", "list")]
    show_board = partial(_letter_of_board, session, None, Budget(in_shell=session.in_shell))
    found, missing = _find_each(wanted, lambda place: show_board(*place.split()))
    return [*found, *_not_found(missing, f"all games {name}")]


def table_of_all(session: Session, words: Sequence[str]) -> list[Letter]:
    """A table of the boards of some users in all games; the active ones if no word selects others."""
    named = finding.without_fillers(words)
    page = named.pop() if named and named[-1].isdecimal() else ""
    among = finding.read(session, "", named)
    if not among.userids:
        raise Refused("`all games` needs the userid of a player.")
    among = among._replace(over=bool(among.over))
    each = [among._replace(games=[game]) for game in games.names()]
    rows, following = on_page(
        session,
        page,
        lambda most: chain.from_iterable(finding.rows(session, one, most) for one in each),
        "There is no page {page} of these boards.",
    )
    if not rows:
        return [_letter_of_nothing(f"There are no boards for {' '.join(named)!r}.", "list")]
    letter = letters.plain_letter(
        [aligned([_waiting(session, row, among.userids) for row in rows]), *_calendar(session, among.userids)],
        subject="List of all games",
        answer=f"{rows[0].game} show {rows[0].board}",
        boards=[_waiting_data(session, row, among.userids) for row in rows],
    )
    return [with_next(letter, " ".join(["all games", *named]), following)]


def _calendar(session: Session, userids: Sequence[str]) -> list[Paragraph]:
    """The addresses of calendars of the users' deadlines, if they have asked by mail for their own boards alone.

    A forged From field does no harm: the answer goes to the user's own address.
    """
    web = session.server.web
    if session.on_page or not (web and {*userids} <= session.senders):
        return []
    urls = [
        f"{web}/calendar/{tokens.calendar_token(session.server, each.userid, each.number)}.ics"
        for each in session.store.users.addresses(*userids)
        if each.address.lower() == str(session.sender).lower()
    ]
    return [Paragraph("\n".join(["For a calendar program, until when you have to move:", *urls]))]


def _waiting(session: Session, row: BoardRow, userids: Sequence[str]) -> Row:
    """A row of the table of all games, about a board of one of these users."""
    told, zone = _waiting_data(session, row, userids), session.zone(None)
    since = row.happened.astimezone(zone)
    return {
        "Game": row.game,
        "Board": row.board,
        **({"Player": told["userid"]} if len(userids) > 1 else {}),
        "Opponent": told["opponent"],
        "Turn": f"{letters.status(row)} ({row.reason})" if row.ended else told["turn"],
        f"Since ({zone})": f"{since:{texts.ZONELESS_TIME_FORMAT}}",
        "Days left": "" if told["days_left"] is None else f"{told['days_left']} for {told['waits_for']}",
    }


def _waiting_data(session: Session, row: BoardRow, userids: Sequence[str]) -> dict[str, Any]:
    """The same row for programs."""
    players = row.players
    seat = int(players[0] not in userids)
    is_timed = not (row.ended or clocks.waits_for_robot(session.store, row))
    left = max(0, clocks.time_left(session.store, row, session.now).days) if is_timed else None
    return {
        **row.place_data,
        "userid": players[seat],
        "opponent": players[1 - seat],
        "turn": row.turn,
        "since": row.happened.isoformat(),
        "days_left": left,
        "waits_for": None if row.ended else clocks.awaited(row),
    }


def table(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """A table of the boards that words name or select; without words, active ones and those that ended lately."""
    named, word = finding.split_page(session, game, words)
    if finding.names_boards(session, game, named):
        rows, missing = _find_each(named, partial(find_row, session, game))
        return [_letter_of_table(session, game, rows), *_not_found(missing, f"{game} games")]
    among = finding.read(session, game, named)
    rows, following = on_page(
        session,
        word,
        partial(finding.rows, session, among),
        "There is no page {page} of these boards.",
        is_backwards=finding.is_backwards(among),
    )
    if not rows:
        text, subject = finding.none_found(game, named), f"List of {game.capitalize()} games"
        answer = f"{game} challenge USERID1 USERID2"
        return [letters.plain_letter(text, subject=subject, answer=answer, boards=[])]
    if not named and (following >= finding.FIRST_NUMBER or session.store.boards.get(game, str(following))):
        named = ["all"]  # else the number of the page would be that of a board
    command = " ".join([game, "games", *named])
    return [with_next(_letter_of_table(session, game, rows), command, following)]


def _letter_of_table(session: Session, game: str, rows: Sequence[BoardRow]) -> Letter:
    """The letter with a table of these boards."""
    shown = aligned([_row(session, row) for row in rows], rare={"Robot", "Reason"})
    data: dict[str, Any] = {"boards": []}
    for row in rows if session.as_json else ():
        try:
            data["boards"].append(letters.data(board_of(session, row).present))
        except Refused:  # it cannot be read, but the table has it
            data.setdefault("missing", []).append(row.board)
    subject = f"List of {game.capitalize()} games"
    return letters.plain_letter([shown], subject=subject, answer=f"{game} show {rows[0].board}", **data)


def list_games(session: Session, words: Sequence[str]) -> list[Letter]:
    """The number of boards of each game; if games are named, their active boards instead."""
    names = [word.lower() for word in words]
    for name in names:
        check_game(name)
    if names:
        return [letter for name in dict.fromkeys(names) for letter in table(session, name, ["active"])]
    counts = {name: session.store.boards.totals(name)[1] for name in games.names()}
    lines = [("Game", "Boards"), *((name, str(count)) for name, count in counts.items())]
    told = [Table(lines)]
    return [letters.plain_letter(told, subject="List of games", answer="help GAME", games=counts)]


def _letter_of_board(session: Session, reader: str | None, budget: Budget, game: str, board: str) -> Letter:
    """The letter that shows a board to whoever asked. Raises Refused if there is none, or the *budget* is spent."""
    if budget.is_spent:
        place = f"{game.capitalize()} board {board}"
        raise Refused(f"{place} is left out, because all of them are too much work; ask for fewer boards.")
    point = find_point(session, game, board)
    [letter] = letters.of_board(session, point, reader, is_full=True)
    if name := player_at_sender(session, point.board, reader):
        letter = letter._replace(reader=name, command=letters.next_command(point, name))
    return letter._replace(to=None)


def _find_each(boards: Iterable[str], find: Callable[[str], Item]) -> tuple[list[Item], dict[str, str]]:
    """What *find* returns for each board, and why it refused the others. Raises Refused if it refused all."""
    found, missing = [], {}
    for board in boards:
        try:
            found.append(find(board))
        except Refused as why:
            missing[board] = str(why)
    if missing and not found:
        raise Refused("\n".join(missing.values()))
    return found, missing


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
    players = row.players
    vote = f"; {row.voter} proposes {'a draw' if row.vote == 'draw' else 'undo'}" if row.vote else ""
    is_unrated = row.reason and not session.store.players.results_of_board(*row.place)
    return {
        "Board": row.board,
        "Moves": str(row.moves),
        "Players": " ".join(players),
        "Robot": ", ".join(session.store.robots.among(players)),
        "Status": f"{letters.status(row)}{vote}",
        "Reason": f"{row.reason or ''}{', unrated' if is_unrated else ''}",
        "Options": clocks.all_options(row),
    }
