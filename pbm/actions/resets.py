"""A new password: by the old one, or by a code that is mailed."""

import re
from datetime import timedelta

from pbm import delivery, letters
from pbm.access.guesses import NO_FAILURES
from pbm.access.tokens import digest, is_same
from pbm.letters import Letter, settled
from pbm.names import SHORTEST_PASSWORD, is_address
from pbm.refusals import Misused, Refused, check_own
from pbm.session import Session

CHANGED = "The password of {} was changed. Older mails about boards cannot be answered without it any more."
RESET_HOLDS = timedelta(hours=24)
"""For how long such a code is good."""


def change_password(session: Session, name: str, new: str) -> list[Letter]:
    """Give a user another password, and tell them so at all their addresses."""
    check_new_password(new)
    session.store.set_password(name, session.passwords.hash(new))
    session.store.revoke_replies(name)
    letter = settled(CHANGED.format(name), f"all show {name}", userid=name)
    return [letter._replace(to=name)]


def check_reset(session: Session, *, userid: str, one_time_password: str, new_password: str, **_: object) -> None:
    """Raises Refused if a code comes without a new password, is not the one that was mailed, or too old."""
    code, new, name = one_time_password, new_password, userid.lower()
    if not code:
        return
    if not new:
        raise Misused(
            "These are too few words: NEWPASSWORD is missing. The command is written:\n\n"
            "  reset USERID [CODE NEWPASSWORD]",
            secrets=(code,),
        )
    check_own(code, "the code that was mailed to you")
    made = session.store.reset_code(name)
    is_right = made is not None and is_same(digest(code.lower()), made[0])
    if made is None or not is_right or session.now() > made[1] + RESET_HOLDS:
        raise Refused(f"This code is not good, or too old; `reset {name}` mails a new one.", secrets=(code, new))
    check_new_password(new)


def reset(session: Session, userid: str, code: str, new: str) -> list[Letter]:
    """Mail a code that lets a user set a new password; or take the code, which is right, and the password.

    Whoever asks for a code is not told whether there is such a user.
    """
    name = userid.lower()
    if code:
        return _with_code(session, name, new)
    addresses = {address.address.lower() for address in session.store.addresses(name) if address.confirmed}
    is_own = session.in_shell or str(session.sender).lower() in addresses
    if not is_own and not session.take("request for a reset"):
        raise Refused("Too many codes were asked for in this hour; please try again in the next one.")
    if addresses and session.take("reset", user=name):
        token = session.server.random_bytes(16).hex()
        session.store.set_reset_code(name, digest(token), session.now())
        delivery.queue(session, _reset_letter(name, token))
    text = f"If there is a user {name} with a mail address, a code has been mailed to them."
    return [settled(text, f"reset {name} CODE NEWPASSWORD", userid=name)]


def _with_code(session: Session, name: str, new: str) -> list[Letter]:
    """Set a new password."""
    session.store.set_password(name, session.passwords.hash(new))
    session.store.set_reset_code(name, None, session.now())
    session.store.revoke_replies(name)
    session.store.save_failures("userid", name, NO_FAILURES)
    letter = settled(CHANGED.format(name), f"all show {name}", userid=name)
    return [letter, *([] if session.in_shell else [letter._replace(to=name)])]


def _reset_letter(name: str, token: str) -> Letter:
    text = (
        f"Somebody asked for a new password of the user {name} of this play-by-mail server.\n\n"
        "If it was you, choose one and give the command below within a day.\n"
        "If it was not, do nothing; your password is still the old one."
    )
    command = f"reset {name} {token} NEWPASSWORD"
    letter = letters.note(text, subject="pbm reset", answer=command)
    return letter._replace(to=name, is_urgent=True)


def check_new_password(password: str) -> None:
    """Raises Refused if a password cannot be taken."""
    check_own(password, "a password of your own")
    if not SHORTEST_PASSWORD <= len(password) <= 256:
        raise Refused("A password has 6 to 256 characters.")
    if password.startswith("-") or re.search(r"""[\s"':]""", password):
        raise Refused("A password has no blanks, quotes or colons in it, and does not start with a hyphen.")
    if is_address(password):
        raise Refused("That is a mail address; the password stands in front of it: signup USERID PASSWORD ADDRESS.")
