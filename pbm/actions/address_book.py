"""The mail addresses of a user, each of which has to answer before it is used."""

from collections.abc import Sequence

import games
from pbm import letters, texts
from pbm.access.quotas import most
from pbm.access.tokens import digest
from pbm.delivery.mail import send
from pbm.letters import Letter, settled
from pbm.names import is_address
from pbm.refusals import Refused, check_own
from pbm.session import Session

MOST_ADDRESSES = 5
"""How many addresses a user may have."""


def confirm_address(session: Session, code: str) -> list[Letter]:
    """Take the answer to a confirmation mail."""
    check_own(code, "the code that was mailed to you")
    confirmed = session.store.confirm(digest(code.lower()), session.now())
    if confirmed is None:
        raise Refused("This code confirms no address; it was used already, or a newer one has replaced it.")
    userid, address = confirmed
    text = f"{address} is confirmed: mails for {userid} go there from now on."
    return [settled(text, "help tutorial", userid=userid, address=address)]


def change_address(session: Session, name: str, addresses: Sequence[str]) -> list[Letter]:
    """Replace the addresses of a user; the old ones are told."""
    if not addresses and session.sender is None:
        raise Refused("In a shell there is no sender's address to take; write the new ones behind the password.")
    return set_addresses(session, name, addresses, f"The addresses of {name} were changed.")


def set_addresses(
    session: Session, name: str, addresses: Sequence[str], done: str, *, is_new: bool = False
) -> list[Letter]:
    """Give a user new addresses, and say that it is *done*, also to the addresses that he had.

    A user who *is new* is welcomed there.

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
    codes = {address: digest(tokens[address]) if address in asked else None for address in chosen}
    session.store.replace_addresses(name, codes, session.now())
    for address, token in tokens.items():
        _count_question(session, address, is_known=str(session.sender).lower() in old)
        send(session, address, _question(name, token, is_new=is_new))
    if asked:
        done = f"{done} Mail will go to {' and '.join(sorted(asked))} when the confirmation mail there is answered."
    letter = settled(done, "help tutorial", userid=name, addresses=chosen)
    for address in old:
        send(session, address, letter)
    if str(session.sender).lower() in {*old, *map(str.lower, asked)}:
        return []  # he has been told there; or gets nothing but the confirmation mail before he has answered it
    return [letter]


def _count_question(session: Session, address: str, *, is_known: bool) -> None:
    """Count a confirmation mail to an address. Raises Refused if there were too many.

    A user who writes from an address of his own *is known*, and does not suffer from what strangers ask for.
    """
    if not session.take("asked"):
        asked = most("asked", "address")
        raise Refused(f"{asked} confirmation mails were asked for from your address today; that is the most.")
    if not session.take("confirmation", address=address):
        raise Refused(f"A confirmation mail has gone to {address} today already; another one can go tomorrow.")
    if not is_known and not session.take("question", address=address):
        raise Refused("Too many confirmation mails were asked for lately; please try again in an hour.")


def _question(name: str, token: str, *, is_new: bool) -> Letter:
    """The mail that asks for an answer. Of what a stranger has written, it has the userid alone."""
    titles = texts.enumerated([texts.title(game) for game in games.names()])
    text = (
        f"Welcome, {name}!\n\nThis is a play-by-mail server for board games: {titles}. You mail your moves, and the "
        "board comes back by mail, with the answer of the other player.\n\nThere is one thing to do now"
        if is_new
        else f"Somebody gave this address for the user {name} of this play-by-mail server.\n\nThere is one thing to do"
    )
    text += (
        f": answer this mail as it is, without changing its subject. From then on, mails for {name} come here.\n\n"
        "If it was not you who asked for this, do nothing, and no other mail will come."
    )
    return letters.note(text, subject=f"confirm-address {token}", answer=f"confirm-address {token}")
