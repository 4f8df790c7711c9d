"""Vacations: days on which a user is not reminded and does not forfeit.

A planned vacation spares reminders, also `nag`, through its last day, and a loss or a draw by silence for `GRACE` of
`board.clocks` more. A day that the server takes, for users who said `vacation auto`, spares the loss or the draw, but
not the reminder. ``--novacation`` switches both off. No clock stops: the total time and the round of a tournament go
on, and the player to move at their end loses.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from pbm import letters, texts
from pbm.board import clocks
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import Vacation

MOST_DAYS_IN_ONE = 21
AUTO = {"auto": True, "noauto": False}
"""The words that let the server take a day of vacation where a clock has run out, or not."""
AHEAD = timedelta(days=366)
"""How far ahead a vacation may begin."""


def vacation(session: Session, name: str, words: Sequence[str]) -> list[Letter]:
    """Plan a vacation, end it, or switch AUTO; tell what is planned, and how many days are left. Raises Refused."""
    if len(words) > 2:
        raise Refused("A vacation has a first and a last day, and no more.")
    users = session.store.users
    today = session.now.date()
    planned = users.vacations(name, today)
    word = words[0].lower() if len(words) == 1 else ""
    text = _text_of(planned)
    if word in AUTO:
        users.change(name, auto_vacation=AUTO[word])
    elif word == "off":
        if not planned:
            raise Refused("You have no vacation to end.")
        users.replace_vacations(name, today, _cut(planned, today))
        text = "Your vacation is called off."
        if planned[0].first <= today:
            text = "Your vacation is over."
    elif words:
        wanted = _planned(session, name, words, today)
        users.replace_vacations(name, today, wanted)
        text = _text_of(wanted)
    planned = users.vacations(name, today)
    is_auto = users.has_auto_vacation(name)
    days = clocks.days_left(session.store, name, today.year)
    text += f"\nLeft in {today.year}: {texts.counted(days, 'day')}."
    if is_auto:
        text += "\nIf you would lose by the time of a move, one of these days is taken instead."
    planned_days = [{"first": str(away.first), "last": str(away.last)} for away in planned]
    data = {"vacations": planned_days, "auto": is_auto, "days_left": days}
    return [letters.to_user(name, text, subject="Vacation", answer="help vacation", **data)]


def _planned(session: Session, name: str, words: Sequence[str], today: date) -> list[Vacation]:
    """The vacations of a user from today on; the one that they ask for replaces all that overlap it.

    A present vacation that overlaps the new one, or ends the day before it, becomes part of it. Raises Refused.
    """
    *begin, last = [_day(word) for word in words]
    first = begin[0] if begin else today
    if last < max(first, today) or first > today + AHEAD:
        raise Refused(f"A vacation is from a day through a later one, and begins within a year; today is {today}.")
    planned = session.store.users.vacations(name, today)
    if planned and planned[0].first <= today and first <= planned[0].last + clocks.DAY:
        present = planned.pop(0)
        first = present.first
    elif first < today:
        raise Refused(f"A vacation cannot begin in the past; today is {today}.")
    new = Vacation(name, first, last)
    others = [away for away in planned if away.last < first or last < away.first]
    wanted = sorted(others + [new])
    _check_days(session, new, wanted, today)
    return wanted


def _check_days(session: Session, new: Vacation, wanted: Sequence[Vacation], today: date) -> None:
    """Raise Refused if a *new* vacation makes one that is too long, or too many days of vacation in a year.

    *wanted* are all vacations of its user from today on, in their order; the new one is among them.
    """
    users = session.store.users
    # far enough back that no vacation of these years, nor one that goes on into them, is left out
    since = date(min(new.first, today).year, 1, 1) - MOST_DAYS_IN_ONE * clocks.DAY
    vacations = [away for away in users.vacations(new.userid, since) if away.last < today]
    vacations += wanted
    length = _longest_run(vacations)
    if length > MOST_DAYS_IN_ONE:
        raise Refused(f"These would be {length} days in one go; {MOST_DAYS_IN_ONE} is the most.")
    taken = users.vacation_days(new.userid, since)
    for year in {new.first.year, new.last.year}:
        used = clocks.days_used(year, vacations, taken)
        if used > clocks.MOST_VACATION_DAYS:
            raise Refused(
                f"With these you would have {used} days of vacation in {year}; {clocks.MOST_VACATION_DAYS} is the most."
            )


def _longest_run(vacations: Sequence[Vacation]) -> int:
    """The days of the longest vacation; vacations without a day between them count as one."""
    longest = 0
    first = date.min
    last = date.min
    for away in vacations:
        if away.first != last + clocks.DAY:
            first = away.first
        last = away.last
        longest = max(longest, (last - first).days + 1)
    return longest


def _cut(planned: Sequence[Vacation], today: date) -> list[Vacation]:
    """The present vacation, cut to the days before today, or to today if it began today; later ones are left out."""
    return [away._replace(last=max(away.first, today - clocks.DAY)) for away in planned if away.first <= today]


def _day(word: str) -> date:
    """A day that a user has written. Raises Refused."""
    try:
        return datetime.strptime(word, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise Refused(f"{word!r} is no day; write it like 2027-01-31.") from None


def _text_of(planned: Sequence[Vacation]) -> str:
    """The sentences about the vacations that a user has planned."""
    if not planned:
        return "You have planned no vacation."
    return "\n".join(f"Your vacation is from {away.first} through {away.last}." for away in planned)
