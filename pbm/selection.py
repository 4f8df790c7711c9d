"""Which boards a command is about: those that it names, or all that fit a selector such as ``next alice``."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from pbm import letters
from pbm.look import is_board
from pbm.session import Refused, Session
from pbm.store import BoardRow

LISTED_FOR = timedelta(days=14)
"""How long a list shows a board that is over, if it is not asked for others."""
MOST_BOARDS = 100
"""How many boards a command may ask for."""
MOST_FINISHED = 1000
"""How many finished boards of all players a table has at most."""
STATES = "active", "inactive", "next"
KINDS = "tournament", "standard"
FILLERS = "all", "board"
WORDS = frozenset((*STATES, *KINDS, *FILLERS))
"""All of these, none of which can be a userid."""


class Selector(NamedTuple):
    """A description of boards."""

    userids: Sequence[str] = ()
    """Users of whom one plays, or has played, on the board; empty for whoever plays there."""
    state: str | None = None
    """``active``, ``inactive``, or ``next``: one of the users is to move."""
    kind: str | None = None
    """``tournament`` or ``standard``."""


def without_fillers(words: Sequence[str]) -> list[str]:
    """The words, each once, without those in front that mean nothing."""
    once = list(dict.fromkeys(word.lower() for word in words))
    while once and once[0] in FILLERS:
        del once[0]
    return once


def names_boards(session: Session, game: str, words: Sequence[str]) -> bool:
    """Whether the words are boards: the first of them is one, or can be nothing else."""
    first = words[0].partition("#")[0].lower() if words else ""
    return is_board(first) and (first.isdecimal() or session.store.board(game, first) is not None)


def read(session: Session, game: str, words: Sequence[str]) -> Selector:
    """The selector that words make. Raises Refused if they exclude each other, or one of them is unknown."""
    selector = Selector()
    for word in words:
        if word in FILLERS:
            continue
        if word in STATES or word in KINDS:
            field = "state" if word in STATES else "kind"
            before = getattr(selector, field)
            if before not in {None, word}:
                raise Refused(f"`{before}` and `{word}` exclude each other.")
            selector = selector._replace(**{field: word})
        elif session.store.is_taken(word):
            selector = selector._replace(userids=[*selector.userids, word])
        else:
            raise Refused(f"There is no {letters.title(game)} board or user {word!r}.")
    if selector.state == "next" and not selector.userids:
        raise Refused("`next` needs the userid of the player who is to move.")
    return selector


def rows(session: Session, game: str, selector: Selector) -> list[BoardRow]:
    """The boards of a game that fit a selector, by number."""
    store, (userids, state, kind) = session.store, selector
    active = None if state is None else state != "inactive"
    if userids:
        found = store.boards_of(game, userids, active=active)
    elif kind == "tournament":
        found = store.tournament_boards(game, active=active)
    elif state == "inactive":
        found = store.finished_boards(game, MOST_FINISHED)
    else:
        found = store.boards(game, None if active else session.now() - LISTED_FOR)
    if state == "next":
        found = [row for row in found if row.turn in userids]
    return [row for row in found if kind is None or (kind == "tournament") == (row.pool is not None)]


def wanted(session: Session, game: str, words: Sequence[str], *, userid: str | None = None) -> list[str]:
    """The boards that a command asks to see, as they are named, or by number if it has a selector.

    *userid* counts as named in a selector. Raises Refused if that would be too much mail.
    """
    named = without_fillers(words)
    if not names_boards(session, game, named):
        selector = read(session, game, [*filter(None, [userid]), *named])
        if not selector.userids and selector.kind != "tournament":
            raise Refused("That would be too much mail; name boards, a userid or `tournament`.")
        named = [row.board for row in rows(session, game, selector)]
    if len(named) > MOST_BOARDS:
        raise Refused(f"These are {len(named)} boards, which would be too much mail; ask for at most {MOST_BOARDS}.")
    return named


def described(game: str, words: Sequence[str]) -> str:
    """What was asked for and not found, as a sentence."""
    which = f" for {' '.join(words)!r}" if words else ""
    return f"There are no boards of {letters.title(game)}{which}."
