"""Users: signing up, addresses and their confirmation, passwords."""

import hashlib
import hmac
import re
from collections.abc import Sequence
from datetime import timedelta
from textwrap import fill

import games
from pbm import letters, look, turns, words
from pbm.board import RESIGN
from pbm.guesses import NONE
from pbm.letters import Letter
from pbm.session import Refused, Session

RESERVED = frozenset(
    (
        "accept active all board challenger clear draw html inactive new next nobody off on pbm reject server standard "
        "text tournament"
    ).split()
)
"""Words of the command language that cannot be userids; nor can the names of games."""
SHORTEST_PASSWORD = 6
"""How many characters a password has at least."""
CHANGED = "The password of {} was changed. Older mails about boards cannot be answered without it any more."
MOST_ASKED = 25
"""How many confirmation mails one address can cause in a day."""
MOST_RESETS = 3
"""How many codes for a new password are mailed to a user in a day."""
RESET_HOLDS = timedelta(hours=24)
"""For how long such a code is good."""
MOST_ADDRESSES = 5
"""How many addresses a user may have."""


def signup(session: Session, userid: str, password: str, addresses: Sequence[str]) -> list[Letter]:
    """Add a user."""
    name = userid.lower()
    if not is_userid(name):
        raise Refused("A userid is 2 to 16 letters, digits, dots, hyphens or underscores, and begins with a letter.")
    if name in RESERVED or games.exists(name):
        raise Refused(f"{name} is a word of the command language; please choose another userid.")
    check_new_password(password)
    with session.writing():
        if session.store.is_taken(name):
            raise Refused(f"There is a user {name} already; please choose another userid.")
        session.store.add_user(name, session.server.passwords.hash(password), session.now())
        return _set_addresses(session, name, addresses, f"{name} is signed up.")


def confirm_address(session: Session, code: str) -> list[Letter]:
    """Take the answer to a confirmation mail."""
    with session.writing():
        confirmed = session.store.confirm(_digest(code.lower()), session.now())
        if confirmed is None:
            raise Refused("This code confirms no address; it was used already, or a newer one has replaced it.")
        userid, address = confirmed
        text = f"{address} is confirmed: mails for {userid} go there from now on."
        return session.answer(None, _settled(text, "help tutorial", userid=userid, address=address))


def change_password(session: Session, userid: str, old: str, new: str) -> list[Letter]:
    """Give a user another password, and tell him so at all his addresses."""
    with session.writing():
        name = session.signed(userid, old)
        check_new_password(new)
        session.store.set_password(name, session.server.passwords.hash(new))
        session.store.revoke_replies(name)
        letter = _settled(CHANGED.format(name), f"all show {name}", userid=name)
        return session.answer(name, letter._replace(to=name))


def change_address(session: Session, userid: str, password: str, addresses: Sequence[str]) -> list[Letter]:
    """Replace the addresses of a user; the old ones are told."""
    with session.writing():
        name = session.signed(userid, password)
        if not addresses and session.sender is None:
            raise Refused("In a shell there is no sender's address to take; write the new ones behind the password.")
        return _set_addresses(session, name, addresses, f"The addresses of {name} were changed.")


def sign_off(session: Session, userid: str, password: str) -> list[Letter]:
    """Remove a user: he gives up all his boards, and nobody else can ever take his name."""
    with session.writing():
        return removed(session, session.signed(userid, password))


def removed(session: Session, name: str) -> list[Letter]:
    """Remove a user whom it is known to be right to remove."""
    why = session._replace(comment=f"{name} has signed off.")
    told: list[Letter] = []
    for game in games.names():
        for row in session.store.boards_of(game, [name], active=True):
            board = look.find_board(why, game, row.board)
            told += turns.leave(why, board, name) if turns.can_leave(board) else turns.played(why, board, name, RESIGN)
    printed = session.answer(name, *told)
    text = f"{name} is signed off. What you have played stays on record."
    letter = _settled(text, "help", userid=name, boards=[], removals=[])
    printed += session.answer(name, letter._replace(to=name))
    session.store.sign_off(name, session.now())
    return printed


def reset(session: Session, userid: str, code: str, new: str) -> list[Letter]:
    """Mail a code that lets a user set a new password; or take the code, and the password.

    Whoever asks for a code is not told whether there is such a user.
    """
    name = userid.lower()
    with session.writing():
        if code:
            return _with_code(session, name, code, new)
        addresses = [address.address for address in session.store.addresses(name) if address.confirmed]
        if addresses and session.store.take("reset", name, MOST_RESETS, session.now()):
            token = session.server.random_bytes(16).hex()
            session.store.set_reset_code(name, _digest(token), session.now())
            session.queue(_reset_letter(name, token))
        text = f"If there is a user {name} with a mail address, a code has been mailed to him."
        return session.answer(None, _settled(text, f"reset {name} CODE NEWPASSWORD", userid=name))


def _with_code(session: Session, name: str, code: str, new: str) -> list[Letter]:
    """Set a new password. Raises Refused if the code is not the one that was mailed, or too old."""
    made = session.store.reset_code(name)
    is_right = made is not None and hmac.compare_digest(made[0], _digest(code.lower()))
    if made is None or not is_right or session.now() > made[1] + RESET_HOLDS:
        raise Refused(f"This code is not good, or too old; `reset {name}` mails a new one.", secrets=(code, new))
    check_new_password(new)
    session.store.set_password(name, session.server.passwords.hash(new))
    session.store.set_reset_code(name, None, session.now())
    session.store.revoke_replies(name)
    session.store.save_failures("userid", name, NONE)
    letter = _settled(CHANGED.format(name), f"all show {name}", userid=name)
    return session.answer(None, letter, *([] if session.in_shell else [letter._replace(to=name)]))


def _reset_letter(name: str, token: str) -> Letter:
    text = (
        f"Somebody asked for a new password of the user {name} of this play-by-mail server.\n\n"
        "If it was you, choose one and give the command below within a day.\n"
        "If it was not, do nothing; your password is still the old one."
    )
    command = f"reset {name} {token} NEWPASSWORD"
    letter = letters.note(text, subject="pbm reset", answer=command)
    return letter._replace(to=name, is_urgent=True)


def _set_addresses(session: Session, name: str, addresses: Sequence[str], done: str) -> list[Letter]:
    """Give a user new addresses, and say that it is *done*, also to the addresses that he had.

    In a shell they are confirmed at once; by mail each gets a confirmation mail, which has to be answered first.
    """
    chosen = list({address.lower(): address for address in addresses or filter(None, [session.sender])}.values())
    if len(chosen) > MOST_ADDRESSES:
        raise Refused(f"These are {len(chosen)} addresses; a user may have {MOST_ADDRESSES}.")
    for address in chosen:
        if not is_address(address) or address.lower() == session.server.address.lower():
            raise Refused(f"{address!r} cannot be a player's mail address.")
    old = {address.address.lower() for address in session.store.addresses(name) if address.confirmed}
    asked = {address for address in chosen if address.lower() not in old and not session.in_shell}
    tokens = {address: session.server.random_bytes(16).hex() for address in asked}
    codes = {address: _digest(tokens[address]) if address in asked else None for address in chosen}
    session.store.replace_addresses(name, codes, session.now())
    for address, token in tokens.items():
        if not session.store.take("asked", str(session.sender), MOST_ASKED, session.now()):
            raise Refused(f"{MOST_ASKED} confirmation mails were asked for from your address today; that is the most.")
        if not session.store.take("confirmation", address, 1, session.now()):
            raise Refused(f"A confirmation mail has gone to {address} today already; another one can go tomorrow.")
        session.mail(address, _confirmation(name, token))
    if asked:
        done = f"{done} Mail will go to {' and '.join(sorted(asked))} when the confirmation mail there is answered."
    letter = _settled(done, "help tutorial", userid=name, addresses=chosen)
    for address in old:
        session.mail(address, letter)
    if str(session.sender).lower() in {*old, *map(str.lower, asked)}:
        return []  # he has been told there; or gets nothing but the confirmation mail before he has answered it
    return session.answer(None, letter)


def is_userid(word: str) -> bool:
    """Whether a word can be a userid, in whatever case."""
    return re.fullmatch(r"[a-z][a-z0-9._-]{1,15}", word.lower(), re.ASCII) is not None


def is_address(text: str) -> bool:
    """Whether a text is a mail address as nearly everybody has one: a plain local part, and a host by its name."""
    host = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
    pattern = rf"[a-z0-9.!#$%&'*+=?^_{{}}~-]{{1,64}}@{host}"
    return len(text) <= 254 and re.fullmatch(pattern, text, re.IGNORECASE | re.ASCII) is not None


def check_new_password(password: str) -> None:
    """Raises Refused if a password cannot be taken."""
    if not SHORTEST_PASSWORD <= len(password) <= 256:
        raise Refused("A password has 6 to 256 characters.")
    if password.startswith("-") or re.search(r"""[\s"':]""", password):
        raise Refused("A password has no blanks, quotes or colons in it, and does not start with a hyphen.")
    if is_address(password):
        raise Refused("That is a mail address; the password stands in front of it: signup USERID PASSWORD ADDRESS.")


def _digest(code: str) -> str:
    """What is stored of a code that is mailed."""
    return hashlib.sha256(code.encode()).hexdigest()


def _settled(text: str, answer: str, **data: object) -> Letter:
    return letters.note(fill(text, words.WIDTH), subject="pbm settings", answer=answer, data=data)


def _confirmation(name: str, token: str) -> Letter:
    text = (
        f"Somebody gave this address for the user {name} of this play-by-mail server.\n\n"
        "If it was you, answer this mail as it is, without changing its subject.\n"
        "If it was not, do nothing, and no other mail will come."
    )
    return letters.note(text, subject=f"confirm-address {token}", answer=f"confirm-address {token}")
