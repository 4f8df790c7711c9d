"""Lists: boards that are shown one by one, tables of them, and the pages by which long ones are mailed."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import games
from pbm import letters, texts
from pbm.actions import finding
from pbm.actions.finding import Selector, board_of, find_point, find_row, player_at_sender
from pbm.blocks import Paragraph, Table
from pbm.board import clocks
from pbm.board.board import Board
from pbm.budget import Budget
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow

LINES_OF_PAGE = 200
"""How many lines of a list are mailed at a time."""
CHUNK = 1000
"""How many lines of a list are put together at a time where all of it is wanted."""
Item = TypeVar("Item")
Row = dict[str, str]
"""A line of a table under the headings of its columns."""


class Part(NamedTuple):
    """A table of a list, which is looked up only as far as it is printed."""

    title: str
    rows: Callable[[int, int], Iterator[Row]]
    """The lines of it: at most so many, behind the first so many; -1 for all."""
    length: Callable[[], int]
    """How many there are."""
    rare: Collection[str] = ()
    """The columns that are left out where they say nothing."""


def page_number(session: Session, word: str) -> int:
    """The page that a word asks for: by mail the first one if there is no word; 0 for all pages. Raises Refused."""
    if not word:
        return int(not session.in_shell)
    if not re.fullmatch("[0-9]{1,7}", word, re.ASCII) or int(word) == 0:
        raise Refused(f"{word!r} is no page; the first one is 1.")
    return int(word)


def cut(rows: Sequence[Item], page: int) -> tuple[Sequence[Item], bool]:
    """What stands on a page of what was looked up for it, one line more than that, and whether there is more."""
    return (rows[:LINES_OF_PAGE], len(rows) > LINES_OF_PAGE) if page else (rows, False)


def window(page: int) -> tuple[int, int]:
    """How many lines are looked up for a page, and behind how many."""
    return (LINES_OF_PAGE + 1, (page - 1) * LINES_OF_PAGE) if page else (-1, 0)


def on_page(parts: Sequence[Part], page: int) -> tuple[list[tuple[Part, list[Row]]], bool]:
    """What stands on a page of some tables that follow each other, and whether there is more."""
    found = []
    left, skip = window(page)
    for part in parts:
        rows = list(part.rows(left, skip))
        if skip and not rows:  # else nobody counts them
            skip -= part.length()
            continue
        found.append((part, rows))
        skip = 0
        left -= len(rows)
        if left == 0:
            found[-1][1].pop()
            return [(part, rows) for part, rows in found if rows], True
    return [(part, rows) for part, rows in found if rows], False


def tables(parts: Iterable[tuple[Part, Iterable[Row]]], numbers: Collection[str]) -> Iterator[str]:
    """Tables below each other, piece by piece; what is empty is left out."""
    glue = ""
    for part, rows in parts:
        before = f"{glue}{part.title}\n" if part.title else glue
        for lines in aligned(iter(rows), numbers, part.rare):
            yield before + "\n".join(lines)
            before, glue = "\n", "\n\n"


def aligned(rows: Iterator[Row], numbers: Collection[str] = (), rare: Collection[str] = ()) -> Iterator[list[str]]:
    """The lines of a table, some at a time, the heading first; *numbers* end below each other.

    The columns that are *rare* are left out where the first lines say nothing in them.
    """
    widths: dict[str, int] = {}
    while chunk := list(islice(rows, CHUNK)):
        heading = [] if widths else [{name: name for name in chunk[0]}]
        if not widths:
            widths = dict.fromkeys(
                (name for name in chunk[0] if name not in rare or any(row[name] not in {"", "0"} for row in chunk)), 0
            )
        widths = {name: max(width, *(len(row[name]) for row in [*heading, *chunk])) for name, width in widths.items()}
        yield [
            "  ".join(
                row[name].rjust(width) if name in numbers else row[name].ljust(width) for name, width in widths.items()
            ).rstrip()
            for row in [*heading, *chunk]
        ]


def begun(pieces: Iterator[str]) -> tuple[str, Iterable[str]]:
    """The beginning of a text, all of it if it is short, and the rest, which is made while it is printed."""
    text = ""
    for piece in pieces:
        text += piece
        if text.count("\n") >= CHUNK:
            return text, pieces
    return text, ()


def with_next(letter: Letter, command: str, page: int) -> Letter:
    """A letter with a page of a list that goes on: its last line is the *command* for the next page."""
    more = Paragraph(f"This is page {page}; the next one:")
    return letter._replace(blocks=(*letter.blocks, more), answer=f"{command} {page + 1}")


NO_ROWS: Iterator[BoardRow] = iter(())


def show(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """Boards, each as it is or as it was after so many moves."""
    return showas(session, game, None, words)


def showas(session: Session, game: str, reader: str | None, words: Sequence[str]) -> list[Letter]:
    """Boards as one player, the *reader*, sees them."""
    found, missing = _shown(session, game, finding.wanted(session, game, words, userid=reader), reader)
    if missing and not found:
        raise Refused("\n".join(missing.values()))
    told = found or [_nothing(finding.described(game, words), f"{game} games")]
    return [*told, *_not_found(game, missing)]


def show_own(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """A board as its player sees it."""
    return showas(session, row.game, name, [row.board])


def turns(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """All turns of a board."""
    return [letters.of_turns(board_of(session, row).present, name)]


def show_all(session: Session, userid: str, state: str) -> list[Letter]:
    """The boards of all games on which a user is to move, or which are active."""
    name, state = userid.lower(), state.lower() or "next"
    if state not in {"next", "active"}:
        raise Refused(f"`all show` is for `next` or `active` boards, and not for {state!r}.")
    if not session.store.users.is_taken(name):
        raise Refused(f"There is no user {name!r}.")
    wanted = [
        (game, row.board)
        for game in games.names()
        for row in finding.rows(session, game, finding.Selector([name], state))
    ]
    if len(wanted) > finding.MOST_BOARDS:
        raise Refused(f"These are {len(wanted)} boards, which would be too much mail; ask game by game.")
    found = [letter for game, board in wanted for letter in _shown(session, game, [board], None)[0]]
    if not found:
        what = "is to move" if state == "next" else "plays"
        text = f"There is no active board on which {name} {what}."
        found = [_nothing(text, "list")]
    return found


def table_of_all(session: Session, words: Sequence[str]) -> list[Letter]:
    """A table of the boards of some users in all games, those that are active if they select no others."""
    named = finding.without_fillers(words)
    page = named.pop() if named and named[-1].isdecimal() else ""
    selector = finding.read(session, "", named)
    if not selector.userids:
        raise Refused("`all games` needs the userid of a player.")
    selector = selector._replace(state=selector.state or "active")
    number = page_number(session, page)
    most, skip = window(number)
    found = chain.from_iterable(finding.rows(session, game, selector) for game in games.names())
    rows, has_more = cut(list(islice(found, skip, None if most < 0 else skip + most)), number)
    if not rows and number > 1:
        raise Refused(f"There is no page {number} of these boards.")
    if not rows:
        return [_nothing(f"There are no boards for {' '.join(named)!r}.", "list")]
    table = aligned(_waiting(session, row, selector.userids) for row in rows)
    letter = letters.note(
        [Table("\n".join(line for lines in table for line in lines))],
        subject="List of all games",
        answer=f"{rows[0].game} show {rows[0].board}",
        data={"boards": [_waiting_data(session, row, selector.userids) for row in rows]},
    )
    return [with_next(letter, " ".join(["all games", *named]), number) if has_more else letter]


def _waiting(session: Session, row: BoardRow, userids: Sequence[str]) -> Row:
    """What the table of all games tells of a board of one of these users, under the headings of its columns."""
    told, zone = _waiting_data(session, row, userids), session.zone(None)
    since = (row.ended or row.changed or row.started).astimezone(zone)
    return {
        "Game": row.game,
        "Board": row.board,
        **({"Player": told["userid"]} if len(userids) > 1 else {}),
        "Opponent": told["opponent"],
        "Turn": f"{letters.status(row)} ({row.reason})" if row.ended else told["turn"],
        f"Since ({zone})": f"{since:%Y-%m-%d %H:%M}",
        "Days left": "" if told["days_left"] is None else f"{told['days_left']} for {told['waits_for']}",
    }


def _waiting_data(session: Session, row: BoardRow, userids: Sequence[str]) -> dict[str, Any]:
    """The same for programs."""
    players = row.first_player, row.second_player
    seat = int(players[0] not in userids)
    is_timed = not (row.ended or clocks.waits_for_robot(session.store, row))
    left = max(0, clocks.time_left(session.store, row, session.now()).days) if is_timed else None
    return {
        "game": row.game,
        "board": row.board,
        "userid": players[seat],
        "opponent": players[1 - seat],
        "turn": row.turn,
        "since": (row.ended or row.changed or row.started).isoformat(),
        "days_left": left,
        "waits_for": None if row.ended else clocks.awaited(row),
    }


def table(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """A table of boards: those that are named or selected, or all active ones and those that ended lately."""
    named, page = finding.paged(session, game, words)
    if finding.names_boards(session, game, named):
        rows, missing = _rows(session, game, named)
        return [_tabled(session, game, rows), *_not_found(game, missing)]
    selector = finding.read(session, game, named)
    return [_selected(session, game, selector, named, page_number(session, page))]


def _selected(session: Session, game: str, selector: Selector, words: Sequence[str], page: int) -> Letter:
    """The table of the boards that are selected by some words, or a page of it."""
    found = finding.rows(session, game, selector, *window(page))
    begin = list(islice(found, None if page or session.as_json else CHUNK))
    rows, has_more = cut(begin, page)
    if page and selector.state == "inactive" and not selector.userids and has_more:  # the last ones come first
        rows = begin[1:]
    if not rows and page > 1:
        raise Refused(f"There is no page {page} of these boards.")
    if not rows:
        text, subject = finding.described(game, words), f"List of {texts.title(game)} games"
        return letters.note(text, subject=subject, answer=f"{game} challenge USERID1 USERID2", data={"boards": []})
    letter = _tabled(session, game, rows, found)
    if has_more:
        is_number = page + 1 >= finding.FIRST_NUMBER or session.store.boards.get(game, str(page + 1))
        which = words or (["all"] if is_number else [])
        letter = with_next(letter, " ".join([game, "games", *which]), page)
    return letter


def _tabled(session: Session, game: str, rows: Sequence[BoardRow], others: Iterator[BoardRow] = NO_ROWS) -> Letter:
    """The table of some boards, and of others that are looked up while it is printed."""
    lines = (_row(session, row) for row in chain(rows, others))
    text, rest = begun("\n".join(lines) for lines in aligned(lines, rare={"Robot", "Reason"}))
    boards = (Board.load(session.store, game, row.board) for row in rows) if session.as_json else ()
    data = {"boards": [letters.data(board.present) for board in boards if board]}
    subject = f"List of {texts.title(game)} games"
    letter = letters.note([Table(text)], subject=subject, answer=f"{game} show {rows[0].board}", data=data)
    return letter._replace(rest=(f"\n{piece}" for piece in rest))


def list_games(session: Session, words: Sequence[str]) -> list[Letter]:
    """How many boards of each game there are; or, of games that are named, which ones are active."""
    names = [word.lower() for word in words]
    for name in names:
        if not games.exists(name):
            raise Refused(games.unknown(name))
    if names:
        return [letter for name in dict.fromkeys(names) for letter in table(session, name, ["active"])]
    counts = {name: session.store.boards.count_active(name) for name in games.names()}
    lines = [("Game", "Boards"), *((name, str(count)) for name, count in counts.items())]
    told = [Table(texts.table(lines))]
    return [letters.note(told, subject="List of games", answer="help GAME", data={"games": counts})]


def _shown(
    session: Session, game: str, boards: Sequence[str], reader: str | None
) -> tuple[list[Letter], dict[str, str]]:
    """The letters that show boards to whoever asked, and a sentence for each board that was not found."""
    found, missing = [], {}
    budget = Budget(in_shell=session.in_shell)
    for board in boards:
        if budget.is_spent:
            missing[board] = f"{board} is left out, because all of them are too much work; ask for fewer boards."
            continue
        try:
            point = find_point(session, game, board)
        except Refused as why:
            missing[board] = str(why)
            continue
        [letter] = letters.of_board(point, reader, now=session.now(), zones=session.zone, is_full=True)
        if name := player_at_sender(session, point.board, reader):
            letter = letter._replace(reader=name, answer=letters.answer(point, name))
        found.append(letter._replace(to=None))
    return found, missing


def _rows(session: Session, game: str, boards: Sequence[str]) -> tuple[list[BoardRow], dict[str, str]]:
    """Boards that are named, and a sentence for each that was not found. Raises Refused if none was."""
    found, missing = [], {}
    for board in boards:
        try:
            found.append(find_row(session, game, board))
        except Refused as why:
            missing[board] = str(why)
    if missing and not found:
        raise Refused("\n".join(missing.values()))
    return found, missing


def _nothing(text: str, answer: str) -> Letter:
    """The letter that says that there are no boards such as were asked for."""
    return letters.note(text, subject="Show summary", answer=answer, data={"boards": []})


def _not_found(game: str, missing: Mapping[str, str]) -> list[Letter]:
    """The letter that lists boards that were named and not found, if there are any."""
    if not missing:
        return []
    text, data = "\n".join(missing.values()), {"missing": list(missing)}
    return [letters.note(text, subject="Show summary", answer=f"{game} games", data=data)]


def _row(session: Session, row: BoardRow) -> Row:
    """What a table tells of a board, under the headings of its columns."""
    players = row.first_player, row.second_player
    return {
        "Board": row.board,
        "Moves": str(row.moves),
        "Players": " ".join(players),
        "Robot": ", ".join(session.store.robots.among(players)),
        "Status": _status(row),
        "Reason": _reason(session, row),
        "Options": _options(row),
    }


def _status(row: BoardRow) -> str:
    vote = f"; {row.voter} proposes {'a draw' if row.vote == 'draw' else 'undo'}" if row.vote else ""
    return f"{letters.status(row)}{vote}"


def _reason(session: Session, row: BoardRow) -> str:
    """Why the game is over, and whether it is unrated; empty while it goes on."""
    if row.reason is None:
        return ""
    return row.reason if session.store.players.results_of_board(row.game, row.board) else f"{row.reason}, unrated"


def _options(row: BoardRow) -> str:
    return " ".join(filter(None, [row.options, clocks.of(row).text]))
