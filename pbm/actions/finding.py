"""Finding a board by its name, and boards by words such as `alice active`."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

import games
from games import Illegal
from pbm import letters
from pbm.board import clocks
from pbm.board.board import FAULTS, Board, BoardContext, Point, told_of_fault
from pbm.names import LONGEST_USERID, SHORTEST_PASSWORD, is_board, is_userid
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow
from pbm.store.boards import LAST_ENDED, NOTIFIED, SUBSCRIBER, BoardFilter

DIGITS = "0123456789"


def find_row(session: Session, game: str, number: str) -> BoardRow:
    """The stored row of a board. Raises Refused if there is no such board."""
    boards = session.store.boards
    word = number.lower()
    if is_board(word):
        row = boards.get(game, word)
        if row:
            return row
        if boards.was_removed(game, word):
            raise Refused(f"{game.capitalize()} board {word} has been removed.")
    raise Refused(f"There is no {game.capitalize()} board {number!r}{_board_hint(session, game, word)}")


def _board_hint(session: Session, game: str, word: str) -> str:
    """The end of the sentence `There is no Spiro board 102`: a full stop, or the board that was probably meant."""
    if is_board(word):
        for game_of_word in games.names():
            if session.store.boards.get(game_of_word, word):
                return f"; did you mean {game_of_word.capitalize()} board {word}?"
    if len(word) >= SHORTEST_PASSWORD or not re.search("[0-9]", word):
        return "."  # a longer word can be a password in the wrong place; nobody is told what is near it
    near = {number for number in _one_typo_away(word, DIGITS + games.LETTERS) if is_board(number)}
    return games.suggestion(word, [row.board for row in session.store.boards.named(game, near)])


def no_user(session: Session, word: str) -> str:
    """The sentence that there is no such user. It names the user who was probably meant."""
    return f"There is no user {word!r}{games.suggestion(word, users_near(session, word))}"


def users_near(session: Session, word: str) -> list[str]:
    """The users with a userid one typing mistake away from a word. To look at all users would take too long."""
    if len(word) > LONGEST_USERID + 1:
        return []
    near = _one_typo_away(word.lower(), DIGITS + games.LETTERS + "._-")
    return session.store.users.signed_up(userid for userid in near if is_userid(userid))


def _one_typo_away(word: str, signs: str) -> set[str]:
    """All that differs from a word by one typing mistake, such as `102` and `1022` from `120`; *signs* may be added."""
    typos: set[str] = set()
    for length in range(len(word) + 1):
        front = word[:length]
        rest = word[length:]
        typos.add(front + rest[1:])  # a sign too many
        typos.update(front + sign + rest for sign in signs)  # one is missing
        typos.update(front + sign + rest[1:] for sign in signs)  # one is wrong
        if len(rest) > 1:
            typos.add(front + rest[1] + rest[0] + rest[2:])  # two are exchanged
    return typos


def find_board(session: Session, game: str, number: str) -> Board:
    """The board of that number, replayed. Raises Refused if there is none, or it cannot be replayed."""
    return board_of(session, find_row(session, game, number))


def board_of(session: Session, row: BoardRow) -> Board:
    """The board of a stored row, replayed. Raises Refused if it is damaged, or its game is gone or has a fault."""
    store = session.store
    place = row.place
    followers = store.boards.followers(*place)
    about = BoardContext(
        subscribers=followers[SUBSCRIBER],
        notified=followers[NOTIFIED],
        away=store.users.away(row.players, session.now.date()),
        results=store.players.results_of_board(*place) if row.ended else (),
        robots=store.robots.among(row.players),
        notes=store.boards.notes(*place),
        days_off=clocks.days_off(store, row),
    )
    try:
        return Board(row, store.boards.turns(*place), store.boards.plans(*place), about)
    except FAULTS as why:
        raise Refused(told_of_fault(row, why)) from why


def board_of_player(session: Session, row: BoardRow, name: str) -> Board:
    """The board of a row. Raises Refused if its game is over, and Illegal if the user does not play there."""
    board = board_of(session, row)
    if board.is_over:
        raise Refused(f"The game has ended: {letters.status(board.row)}.")
    if name not in board.players:
        players = " and ".join(dict.fromkeys(board.players))  # once, if one plays both sides
        raise Illegal(f"You do not play on this board; {players} do.")
    return board


def played_source(session: Session, row: BoardRow) -> str | None:
    """Of a board, the board that it began from, and so on, the first one that two people still play; None if none."""
    store = session.store
    seen: set[str] = set()
    while row.board not in seen:  # records that were imported may name each other
        robots = store.robots.among(row.players)
        people = {player for player in row.players if player not in robots}
        if len(people) > 1 and not row.ended:
            return row.board
        seen.add(row.board)
        source = None
        if row.source:
            source = store.boards.get(row.game, row.source)
        if source is None:  # it began with the first position, or the board is gone
            return None
        row = source
    return None


def player_at_sender(session: Session, board: Board, reader: str | None = None) -> str | None:
    """The player of a board who has confirmed the address that the command came from; None in a shell.

    If both have, it is the one who is to move. With a *reader*, nobody else is returned.
    """
    senders = session.senders
    for name in (board.mover,) + board.players:
        if name in senders and reader in {None, name}:
            return name
    return None


def find_point(session: Session, game: str, word: str) -> Point:
    """A board as it is, or for ``101#5`` after 5 moves, for ``101#-1`` before the last one. Raises Refused."""
    number, mark, text = word.partition("#")
    if mark and not re.fullmatch("-?[0-9]{1,9}", text, re.ASCII):
        raise Refused(f"{word!r} is no board at a move; write {number}#N with a number of moves.")
    board = find_board(session, game, number)
    if not mark:
        return board.present
    return board.after(int(text))


# Boards that words select


LISTED_FOR = timedelta(days=14)
"""How long a list without a selector shows a board that is over."""
MOST_BOARDS = 100
"""How many boards a command may ask to see."""
FIRST_NUMBER = 101
"""The number of the first board of a game; a lower number in a list command means a page."""
STATES = "active", "inactive", "next"
KINDS = "tournament", "standard"
FILLERS = "all", "board"
WORDS = frozenset(STATES + KINDS + FILLERS)
"""All words that select boards; none of them can be a userid."""


def without_fillers(words: Sequence[str]) -> list[str]:
    """The words in lower case, each once, without FILLERS in front."""
    once = list(dict.fromkeys(word.lower() for word in words))
    while once and once[0] in FILLERS:
        del once[0]
    return once


def names_boards(session: Session, game: str, words: Sequence[str]) -> bool:
    """Whether the words name boards: the first one is a number, or the name of a board that there is or was."""
    if not words:
        return False
    first, _, _ = words[0].lower().partition("#")
    if not is_board(first):
        return False
    boards = session.store.boards
    return first.isdecimal() or boards.get(game, first) is not None or boards.was_removed(game, first)


def read(session: Session, game: str, words: Sequence[str]) -> BoardFilter:
    """The boards that words such as `alice active` select. Without a game, the caller fills in the games.

    Raises Refused if two words exclude each other, or one is unknown.
    """
    userids: list[str] = []
    state = ""
    kind = ""
    for word in words:
        if word in FILLERS:
            continue
        if word in STATES:
            _check_no_other(state, word)
            state = word
        elif word in KINDS:
            _check_no_other(kind, word)
            kind = word
        elif session.store.users.is_taken(word):
            userids.append(word)
        else:
            raise Refused(_unknown_selector(session, game, word))
    if state == "next" and not userids:
        raise Refused("`next` needs the userid of the player who is to move.")
    among = BoardFilter([game], userids, to_move=state == "next")
    if state:
        among = among._replace(over=state == "inactive")
    if kind:
        among = among._replace(in_tournament=kind == "tournament")
    return among


def _check_no_other(earlier: str, word: str) -> None:
    """Raises Refused if another word of the same kind stands in front of a word."""
    if earlier not in {"", word}:
        raise Refused(f"`{earlier}` and `{word}` exclude each other.")


def _unknown_selector(session: Session, game: str, word: str) -> str:
    """The sentence that a word selects no boards. It names what was probably meant."""
    what = "user"
    hint = "."
    if game:
        what = f"{game.capitalize()} board or user"
        hint = _board_hint(session, game, word)
    if hint == ".":
        hint = games.suggestion(word, list(STATES + KINDS) + users_near(session, word))
    return f"There is no {what} {word!r}{hint}"


def split_page(session: Session, game: str, words: Sequence[str]) -> tuple[list[str], str]:
    """The words that name or select boards, and the number of a page of their list; empty if there is none.

    The last word is a page if it is a number behind a selector or behind `all`, or a lone one below FIRST_NUMBER that
    no board has.
    """
    named = without_fillers(words)
    if named and _is_page(session, game, words, named):
        return named[:-1], named[-1]
    return named, ""


def _is_page(session: Session, game: str, words: Sequence[str], named: Sequence[str]) -> bool:
    """Whether the last word is the number of a page; *named* are the *words* without fillers."""
    *selector, last = named
    if not last.isdecimal():
        return False
    if selector:
        return not names_boards(session, game, selector)
    if [word.lower() for word in words] == ["all", last]:
        return True
    return int(last[:9]) < FIRST_NUMBER and session.store.boards.get(game, last) is None


def rows(session: Session, among: BoardFilter, most: int = -1) -> list[BoardRow]:
    """The selected boards of a game by number, or those that ended last in front (`is_backwards`); at most *most*."""
    boards = session.store.boards
    if is_backwards(among):
        return boards.found(among, LAST_ENDED, most)
    if among.userids or among.in_tournament:
        return boards.found(among, most=most)
    since: datetime | None = session.now - LISTED_FOR
    if among.over is False:  # boards that are over are left out
        since = None
    return boards.current(among.games[0], since, standard=among.in_tournament is False, most=most)


def is_backwards(among: BoardFilter) -> bool:
    """Whether the selected boards are listed by their ends, the last one first."""
    return bool(among.over) and not among.userids and not among.in_tournament


def wanted(session: Session, game: str, words: Sequence[str], *, userid: str | None = None) -> list[str]:
    """The boards that a command asks to see, each as it is named, for example ``101#5``; selected ones by number.

    The *userid* is added to a selector. Raises Refused if that would be too much mail.
    """
    named = without_fillers(words)
    if not names_boards(session, game, named):
        selector = named
        if userid:
            selector = [userid] + named
        among = read(session, game, selector)
        if not (among.userids or among.in_tournament):
            raise Refused("That would be too much mail; name boards, a userid or `tournament`.")
        named = [row.board for row in rows(session, among)]
    if len(named) > MOST_BOARDS:
        raise Refused(f"These are {len(named)} boards, which is too much mail; ask for at most {MOST_BOARDS}.")
    return named


def none_found(game: str, words: Sequence[str]) -> str:
    """The sentence that there are no boards for these words."""
    title = game.capitalize()
    if not words:
        return f"There are no boards of {title}."
    return f"There are no boards of {title} for {' '.join(words)!r}."
