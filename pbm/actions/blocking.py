"""Users whom a user does not want to hear of."""

from pbm import letters
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

MOST_BLOCKED = 200


def block(session: Session, name: str, word: str) -> list[Letter]:
    """Let another user not challenge, message or chat with this one any more; without a name, list those."""
    users, other = session.store.users, word.lower()
    if other == name:
        raise Refused("You cannot block yourself.")
    if other and users.password_of(other) is None:
        raise Refused(f"There is no user {word!r}.")
    if len(users.blocked_by(name)) >= MOST_BLOCKED:
        raise Refused(f"You block {MOST_BLOCKED} users already.")
    if other:
        users.block(name, other)
    return [_told(session, name)]


def unblock(session: Session, name: str, word: str) -> list[Letter]:
    """Let another user challenge, message and chat with this one again."""
    users, other = session.store.users, word.lower()
    if other not in users.blocked_by(name):
        raise Refused(f"You do not block {word!r}.")
    users.unblock(name, other)
    return [_told(session, name)]


def _told(session: Session, name: str) -> Letter:
    blocked = session.store.users.blocked_by(name)
    text = f"You block {', '.join(blocked)}." if blocked else "You block nobody."
    letter = letters.settled(text, f"unblock {name} PASSWORD OTHER" if blocked else "help block", blocked=blocked)
    return letter._replace(to=name, data={**letter.data, "userid": name})
