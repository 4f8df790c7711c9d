"""How a user gets mails about boards: when, in which form, and with times in which zone."""

from collections.abc import Mapping
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
    how = how.lower()
    title = game.capitalize()
    if how not in CHOICES:
        hint = games.suggestion(how, CHOICES)
        raise Refused(
            f"Mails about {title} boards come each, as a digest, or none at all; {how!r} is not one of these{hint}"
        )
    session.store.players.change(game, user, mail=how)
    text = f"From now on, a mail about a {title} board {CHOICES[how]}.\n{IN_ANY_CASE}"
    subject = f"{title} mail {how}"
    return [letters.to_user(user, text, subject=subject, answer=f"{game} help mail", game=game, mail=how)]


def choose_for_all(session: Session, user: str, word: str) -> list[Letter]:
    """Store which of CHOICES a user wants for the boards of all games, or which of MAIL_FORMS. Raises Refused."""
    how = word.lower()
    if how in MAIL_FORMS:
        return _choose_form(session, user, how)
    if how not in CHOICES:
        hint = games.suggestion(how, list(CHOICES) + list(MAIL_FORMS))
        raise Refused(
            "Mails come as `pictures`, `html` or `text`, and those about boards as `each`, `digest` or `none`; "
            f"{word!r} is none of these{hint}"
        )
    for game in games.names():
        session.store.players.change(game, user, mail=how)
    text = f"From now on, a mail about a board of any game {CHOICES[how]}.\n{IN_ANY_CASE}"
    return [letters.to_user(user, text, subject=f"pbm mail {how}", answer="help mail", mail=how)]


def _choose_form(session: Session, user: str, form: str) -> list[Letter]:
    """Store whether a user wants HTML with the text of their mails, and pictures in it."""
    session.store.users.set_form(user, form)
    text = f"Mails come as {MAIL_FORMS[form]}."
    if form == "pictures" and not images.is_available():
        text += NO_PICTURES
    return [letters.to_user(user, text, subject=f"pbm mail {form}", answer="help mail", mail=form)]


def choose_zone(session: Session, user: str, word: str) -> list[Letter]:
    """Store the time zone in which a user reads times. Raises Refused, with the nearest name, if there is none."""
    names = sorted(available_timezones() | {UTC_NAME})
    zones = {zone.lower(): zone for zone in names}
    zone = zones.get(word.lower())
    if zone is None:
        hint = "it is written like Europe/Berlin or America/New_York."
        if nearest := _nearest_zone(word, zones):
            hint = f"did you mean {nearest}?"
        raise Refused(f"There is no time zone {word!r}; {hint}")
    if zone == UTC_NAME:  # the time zone of all who have chosen none
        session.store.users.change(user, zone=None)
    else:
        session.store.users.change(user, zone=zone)
    local_time = session.now.astimezone(session.zone(user))
    text = f"Times in your mails are in the time zone {zone}; it is {local_time:{texts.TIME_FORMAT}} now."
    return [letters.to_user(user, text, subject="pbm timezone", answer="help timezone", timezone=zone)]


def _nearest_zone(word: str, zones: Mapping[str, str]) -> str | None:
    """The time zone, or the one of the town, that is written nearly as a word; *zones* are named in lower case."""
    if zone := games.nearest(word, zones, 0.7):
        return zones[zone]
    towns = {spelling.rpartition("/")[2]: zone for spelling, zone in zones.items()}
    # names of towns are short, so that less of them has to agree
    return towns.get(games.nearest(word, towns, 0.6))
