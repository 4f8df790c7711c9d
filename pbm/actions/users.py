"""Becoming a user, and ceasing to be one."""

from collections.abc import Sequence

import games
from pbm import delivery
from pbm.actions import finding, leaving, turns
from pbm.actions.address_book import set_addresses
from pbm.actions.resets import check_new_password
from pbm.board.board import RESIGN
from pbm.letters import Letter, settled
from pbm.names import RESERVED, is_userid
from pbm.refusals import Refused, check_own
from pbm.session import Session
from pbm.store.contests import Contests


def check_sign_up(session: Session, *, userid: str, new_password: str, **_: object) -> None:
    """Raises Refused if nobody can become a user of that name now, or have that password."""
    name = userid.lower()
    check_own(userid, "a name of your own")
    if not is_userid(name):
        raise Refused("A userid is 2 to 16 letters, digits, dots, hyphens or underscores, and begins with a letter.")
    if name in RESERVED or games.exists(name):
        raise Refused(f"{name} is a word of the command language; please choose another userid.")
    check_new_password(new_password)
    if session.is_line and not session.in_shell:
        raise Refused("`signup` by mail needs a mail of its own; it cannot be a line of `multiple`.")
    if session.store.is_taken(name):
        raise Refused(f"There is a user {name} already; please choose another userid.")
    if not session.in_shell and not (session.is_left("sign-up") and session.is_left("question")):
        raise Refused("There were too many sign-ups in this hour; please try again in the next one.")


def signup(session: Session, userid: str, password: str, addresses: Sequence[str]) -> list[Letter]:
    """Add a user; `check_sign_up` has found nothing against it."""
    name = userid.lower()
    hashed = session.passwords.hash(password)
    if not session.in_shell:
        session.take("sign-up")
    session.store.add_user(name, hashed, session.now())
    session.store.note_event(session.now(), "signup", userid=name)
    return set_addresses(session, name, addresses, f"{name} is signed up.", is_new=True)


def sign_off(session: Session, name: str) -> list[Letter]:
    """Remove a user: they give up all their boards, and nobody else can ever take their name."""
    why = session._replace(comment=f"{name} has signed off.")
    told: list[Letter] = []
    from pbm.actions import rounds

    contests = [one for one in Contests(session.store).tournaments_of(name) if one.state == "open" or one.is_on]
    for one in contests:
        rounds.withdrawn(session, one, name)
    for game in games.names():
        for row in session.store.boards_of(game, [name], active=True):
            board = finding.find_board(why, game, row.board)
            if leaving.can_leave(board):
                told += leaving.leave(why, board, name)
            else:
                told += turns.played(why, board, name, RESIGN, reason="signed off")
    for one in contests:
        rounds.advance(session, one.game, one.pool, turns.start)
    printed = delivery.answer(session, name, *told)
    text = f"{name} is signed off. What you have played stays on record."
    letter = settled(text, "help", userid=name, boards=[], removals=[])
    printed += delivery.answer(session, name, letter._replace(to=name))
    session.store.sign_off(name, session.now())
    session.store.note_event(session.now(), "signoff", userid=name)
    return printed
