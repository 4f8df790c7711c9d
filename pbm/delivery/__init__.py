"""Delivery: the channels that take letters to people.

What answers a command in a shell, or on a page of the web, is printed there. Every other letter is given to each
channel: a module of this folder with a function ``deliver(session, letter)``, which decides whether it reaches the
reader. It runs in the transaction of the command, and only stores what has to be sent. So nothing is sent for a command
that is rolled back. A process of its own sends it, as `mail.sending` does for mail.

A letter to None answers the sender of the command: every channel gets it if the command came by mail, and only `mail`
sends it. A channel looks up itself whether its reader wants each letter, a digest or none, and keeps what its digests
are made of. A reminder (`Letter.reminds`) goes when its board changes, as `Outbox.drop_reminders` has it, and what
cannot be sent is dropped after some time, as in `Store.forget_old`. What confirms an address, and what the operator
gets, goes by mail alone.
"""

from importlib import import_module
from itertools import product
from pkgutil import iter_modules

from pbm.letters import Letter
from pbm.session import Session


def answer(session: Session, actor: str | None, *answers: Letter) -> list[Letter]:
    """Deliver letters. Returns those to the sender of the command, and if these are printed, the *actor*'s as well."""
    own: list[Letter] = []
    for letter in answers:
        is_own = letter.to == actor
        if letter.to is None or (session.is_printed and is_own):
            own.append(letter)
        else:
            # a player who has moved learns at once that the move is played, although they want other mails in a digest
            queue(session, letter._replace(is_urgent=letter.is_urgent or is_own))
    if session.proved and not session.is_trusted:  # a page knows only its own board, and a mail leads to a new one
        queue(session, *(letter for letter in own if letter.to and letter.begins_thread))
    return own


def queue(session: Session, *letters: Letter) -> None:
    """Give letters to all channels."""
    for letter, channel in product(letters, iter_modules(__path__)):
        import_module(f"{__name__}.{channel.name}").deliver(session, letter)
