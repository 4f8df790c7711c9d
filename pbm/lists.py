"""Lists: boards that are shown one by one, and tables of them."""

from collections.abc import Mapping, Sequence

import games
from pbm import clocks, letters, selection
from pbm.board import Board
from pbm.budget import Budget
from pbm.letters import Letter
from pbm.look import find_point, find_row
from pbm.session import Refused, Session
from pbm.store import BoardRow


def show(session: Session, game: str, words: Sequence[str], reader: str | None = None) -> list[Letter]:
    """Boards, each as it is or as it was after so many moves, as *reader* may see it."""
    with session.reading():
        found, missing = _shown(session, game, selection.wanted(session, game, words, userid=reader), reader)
        if missing and not found:
            raise Refused("\n".join(missing.values()))
        told = found or [_nothing(selection.described(game, words), f"{game} games")]
        return session.answer(None, *told, *_not_found(game, missing))


def showas(session: Session, game: str, userid: str, password: str, words: Sequence[str]) -> list[Letter]:
    """Boards as one player sees them."""
    with session.writing():
        return show(session, game, words, session.signed(userid, password))


def show_all(session: Session, userid: str, state: str) -> list[Letter]:
    """The boards of all games on which a user is to move, or which are active."""
    with session.reading():
        name = userid.lower()
        if not session.store.is_taken(name):
            raise Refused(f"There is no user {name!r}.")
        wanted = [
            (game, row.board)
            for game in games.names()
            for row in selection.rows(session, game, selection.Selector([name], state))
        ]
        if len(wanted) > selection.MOST_BOARDS:
            raise Refused(f"These are {len(wanted)} boards, which would be too much mail; ask game by game.")
        found = [letter for game, board in wanted for letter in _shown(session, game, [board], None)[0]]
        if not found:
            what = "is to move" if state == "next" else "plays"
            text = f"There is no active board on which {name} {what}."
            found = [_nothing(text, "list")]
        return session.answer(None, *found)


def table(session: Session, game: str, words: Sequence[str]) -> list[Letter]:
    """A table of boards: those that are named or selected, or all active ones and those that ended lately."""
    with session.reading():
        named = selection.without_fillers(words)
        missing: dict[str, str] = {}
        if selection.names_boards(session, game, named):
            rows, missing = _rows(session, game, named)
        else:
            rows = selection.rows(session, game, selection.read(session, game, named))
        lines = [("Board", "Moves", "Players", "Status", "Options")]
        lines += [
            (row.board, str(row.moves), f"{row.first_player} {row.second_player}", _status(row), _options(row))
            for row in rows
        ]
        text = letters.table(lines) if rows else selection.described(game, named)
        subject = f"List of {letters.title(game)} games"
        boards = (Board.load(session.store, game, row.board) for row in rows) if session.as_json else ()
        data = {"boards": [letters.data(board.present) for board in boards if board]}
        answer = f"{game} show {rows[0].board}" if rows else f"{game} challenge USERID1 USERID2"
        told = [letters.note(text, subject=subject, answer=answer, data=data), *_not_found(game, missing)]
        return session.answer(None, *told)


def list_games(session: Session, names: Sequence[str]) -> list[Letter]:
    """How many boards of each game there are; or, of games that are named, which ones are active."""
    for name in names:
        if not games.exists(name):
            raise Refused(f"There is no game {name!r}; there are {', '.join(games.names())}.")
    if names:
        return [letter for name in dict.fromkeys(names) for letter in table(session, name, ["active"])]
    with session.reading():
        counts = {name: session.store.active_boards(name) for name in games.names()}
        lines = [("Game", "Boards"), *((name, str(count)) for name, count in counts.items())]
        note = letters.note(letters.table(lines), subject="List of games", answer="help GAME", data={"games": counts})
        return session.answer(None, note)


def _shown(
    session: Session, game: str, boards: Sequence[str], reader: str | None
) -> tuple[list[Letter], dict[str, str]]:
    """The letters that show boards to whoever asked, and a sentence for each board that was not found."""
    found, missing = [], {}
    budget = Budget()
    for board in boards:
        if budget.is_spent:
            missing[board] = f"{board} is left out, because all of them are too much work; ask for fewer boards."
            continue
        try:
            point = find_point(session, game, board)
        except Refused as why:
            missing[board] = str(why)
            continue
        [letter] = letters.of_board(point, reader, now=session.now(), is_full=True)
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


def _status(row: BoardRow) -> str:
    vote = f"; {row.voter} proposes {'a draw' if row.vote == 'draw' else 'undo'}" if row.vote else ""
    return f"{letters.status(row)}{vote}"


def _options(row: BoardRow) -> str:
    return " ".join(filter(None, [row.options, clocks.of(row).text]))
