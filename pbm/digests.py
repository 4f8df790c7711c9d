"""How mails about boards reach a user: at once, in one digest a day, or not at all; with HTML or without."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from pbm import letters, pictures
from pbm.letters import Letter
from pbm.session import Refused, Session
from pbm.store import Held

CHOICES = {
    "each": "comes by itself and at once",
    "digest": "waits for a digest, which comes once a day",
    "none": "is not sent",
}
"""What a user can choose for a game, and what it does to a mail about a board."""
FORMS = {"text": "text alone", "html": "text, and beside it the same in HTML with boards in colours"}
MOST_CHARACTERS = 500_000
"""How long a digest may get before another one is begun; mail servers refuse mails of some megabytes."""
RULE = "=" * 60


def choose(session: Session, game: str, userid: str, password: str, how: str) -> list[Letter]:
    """Store how a user wants mails about the boards of a game."""
    name = letters.title(game)
    if how not in CHOICES:
        raise Refused(f"Mails about {name} boards come each, as a digest, or none at all; {how!r} is not one of these.")
    with session.writing():
        user = session.signed(userid, password)
        session.store.save_player(game, session.store.player(game, user)._replace(mail=how))
        text = f"From now on, a mail about a {name} board {CHOICES[how]}.\n"
        text += "Reminders, errors and the ends of games come at once in any case."
        data = {"userid": user, "game": game, "mail": how}
        letter = letters.note(text, subject=f"{name} mail {how}", answer=f"{game} help mail", data=data)
        return session.answer(user, letter._replace(to=user))


def choose_form(session: Session, userid: str, password: str, form: str) -> list[Letter]:
    """Store whether a user wants HTML beside the text of his mails."""
    if form not in FORMS:
        raise Refused(f"Mails come as text or as html; {form!r} is neither.")
    with session.writing():
        user = session.signed(userid, password)
        session.store.set_html(user, html=form == "html")
        data = {"userid": user, "mail": form}
        text = f"Mails come as {FORMS[form]}."
        letter = letters.note(text, subject=f"pbm mail {form}", answer="help mail", data=data)
        return session.answer(user, letter._replace(to=user))


def send(session: Session, now: datetime) -> int:
    """Mail to each user what is kept for him, a digest a game, if none was made today; how many mails that are.

    To be called in a transaction, so that a mail is in a digest or kept, and never both or neither.
    """
    sent = 0
    for userid, game in session.store.held_for():
        if session.store.take("digest", f"{game} {userid}", 1, now):
            for part in _parts(session.store.held_mails(userid, game)):
                session.queue(_digest(userid, game, part))
                sent += 1
            session.store.remove_held_mails(userid, game)
    return sent


def _parts(held: Iterable[Held]) -> Iterator[list[Held]]:
    """The mails in their order, in parts that are not too large."""
    part: list[Held] = []
    length = 0
    for mail in held:
        if part and length + len(mail.text) > MOST_CHARACTERS:
            yield part
            part, length = [], 0
        part.append(mail)
        length += len(mail.text)
    yield part


def _digest(userid: str, game: str, held: list[Held]) -> Letter:
    name, count = letters.title(game), len(held)
    first, last = (f"{mail.queued:%Y-%m-%d %H:%M}" for mail in (held[0], held[-1]))
    heading = f"Digest: {count} mail{'s' * (count > 1)} about {name} boards, {first} to {last} UTC"
    parts = (f"{RULE}\n{mail.subject}\n{mail.queued:%Y-%m-%d %H:%M} UTC\n\n{mail.text.rstrip()}" for mail in held)
    return Letter(
        to=userid,
        subject=f"{name} Digest {last[:10]}",
        body="\n\n".join([heading, *parts, RULE]),
        answer=f"{game} games {userid}",
        data={},
        drawings=tuple(drawing for mail in held for drawing in pictures.drawings(mail.text, mail.picture)),
    )
