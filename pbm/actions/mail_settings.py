"""How a user gets mails about boards: when, in which form, and with times in which zone."""

from zoneinfo import available_timezones

import games
from pbm import letters, texts
from pbm.drawing import images
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

CHOICES = {
    "each": "comes by itself and at once",
    "digest": "waits for a digest, which comes once a day",
    "none": "is not sent",
}
"""What a user can choose for a game, or for all, and what happens to a mail about a board then."""
IN_ANY_CASE = "Reminders, errors, answers to your own moves and the ends of games come at once in any case."
MAIL_FORMS = {
    "pictures": "text, and beside it HTML that begins with a picture of the board",
    "html": "text, and beside it the same in HTML without pictures",
    "text": "text alone",
}
UTC_NAME = "UTC"
NO_PICTURES = "\nThis server draws no pictures yet, so they come as html for now."


def choose(session: Session, game: str, user: str, how: str) -> list[Letter]:
    """Store which of CHOICES a user wants for the boards of a game. Raises Refused."""
    how, name = how.lower(), game.capitalize()
    if how not in CHOICES:
        hint = games.suggestion(how, CHOICES)
        raise Refused(
            f"Mails about {name} boards come each, as a digest, or none at all; {how!r} is not one of these{hint}"
        )
    session.store.players.change(game, user, mail=how)
    text = f"From now on, a mail about a {name} board {CHOICES[how]}.\n{IN_ANY_CASE}"
    subject, answer = f"{name} mail {how}", f"{game} help mail"
    return [letters.to_user(user, text, subject=subject, answer=answer, game=game, mail=how)]


def choose_for_all(session: Session, user: str, word: str) -> list[Letter]:
    """Store which of CHOICES a user wants for the boards of all games, or which of MAIL_FORMS. Raises Refused."""
    how = word.lower()
    if how in MAIL_FORMS:
        return _choose_form(session, user, how)
    if how not in CHOICES:
        hint = games.suggestion(how, [*CHOICES, *MAIL_FORMS])
        raise Refused(
            "Mails come as `pictures`, `html` or `text`, and those about boards as `each`, `digest` or `none`; "
            f"{word!r} is none of these{hint}"
        )
    for game in games.names():
        session.store.players.change(game, user, mail=how)
    text = f"From now on, a mail about a board of any game {CHOICES[how]}.\n{IN_ANY_CASE}"
    return [letters.to_user(user, text, subject=f"pbm mail {how}", answer="help mail", mail=how)]


def _choose_form(session: Session, user: str, form: str) -> list[Letter]:
    """Store whether a user wants HTML beside the text of their mails, and pictures in it."""
    session.store.users.set_form(user, form)
    text = f"Mails come as {MAIL_FORMS[form]}."
    if form == "pictures" and not images.is_available():
        text += NO_PICTURES
    return [letters.to_user(user, text, subject=f"pbm mail {form}", answer="help mail", mail=form)]


def choose_zone(session: Session, user: str, word: str) -> list[Letter]:
    """Store in which time zone a user is told times. Raises Refused, with the nearest, if there is no such zone."""
    zones = {name.lower(): name for name in sorted({UTC_NAME, *available_timezones()})}
    zone = zones.get(word.lower())
    if zone is None:
        towns = {spelling.rpartition("/")[2]: name for spelling, name in zones.items()}
        nearest = zones.get(games.nearest(word, zones, 0.7)) or towns.get(games.nearest(word, towns, 0.6))
        hint = f"did you mean {nearest}?" if nearest else "it is written like Europe/Berlin or America/New_York."
        raise Refused(f"There is no time zone {word!r}; {hint}")
    session.store.users.change(user, zone=None if zone == UTC_NAME else zone)
    now = f"{session.now.astimezone(session.zone(user)):{texts.TIME_FORMAT}}"
    text = f"Times in your mails are in the time zone {zone}; it is {now} now."
    return [letters.to_user(user, text, subject="pbm timezone", answer="help timezone", timezone=zone)]
