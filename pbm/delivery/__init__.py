"""Delivery: the channels that take letters to people.

What answers a command in a shell, or on a page of the web, is printed there. Every other letter is given to each
channel, a module of this folder with a function ``deliver(session, letter)``: it finds out by itself whether it reaches
the reader. It is called in the transaction of the command, and stores what it has to send; so nothing goes out of what
is rolled back.
"""

from importlib import import_module
from itertools import product
from pkgutil import iter_modules

from pbm.letters import Letter
from pbm.session import Session


def answer(session: Session, actor: str | None, *answers: Letter) -> list[Letter]:
    """Deliver letters; return those to whoever gives the command, which is the *actor*, too, where they are printed."""
    own = [letter for letter in answers if letter.to is None or (session.is_printed and letter.to == actor)]
    begun = session.proved and session.on_page  # the page knows only its own board, and a mail leads to another one
    queue(session, *(each for each in answers if each not in own or (begun and each.to and each.begins_thread)))
    return own


def queue(session: Session, *letters: Letter) -> None:
    """Give letters to all channels."""
    for letter, channel in product(letters, iter_modules(__path__)):
        import_module(f"{__name__}.{channel.name}").deliver(session, letter)
