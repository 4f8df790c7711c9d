"""What a player wants: challenges or none, how many, and to be left alone while he is away."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from pbm import clocks, letters
from pbm.letters import Letter
from pbm.session import Refused, Session
from pbm.store import Player, Vacation

MOST_SOUGHT = 99
"""How many challenges a player may seek."""
MOST_LIMIT = 999
MOST_DAYS_A_YEAR = 30
"""How many days of vacation a user has in a calendar year."""
MOST_DAYS_IN_ONE = 21
AHEAD = timedelta(days=366)
"""How far ahead a vacation may begin."""


def accept(session: Session, game: str, userid: str, password: str) -> list[Letter]:
    """Take all challenges."""
    with session.writing():
        name = session.signed(userid, password)
        if session.store.player(game, name).most is None:
            raise Refused(f"You already take all challenges of {letters.title(game)}.")
        return _limited(session, game, name, None)


def reject(session: Session, game: str, userid: str, password: str) -> list[Letter]:
    """Take no challenges."""
    with session.writing():
        name = session.signed(userid, password)
        if session.store.player(game, name).most == 0:
            raise Refused(f"You already take no challenges of {letters.title(game)}.")
        return _limited(session, game, name, 0)


def limit(session: Session, game: str, userid: str, password: str, word: str) -> list[Letter]:
    """Take challenges up to a number of active boards, or say what that number is."""
    with session.writing():
        name = session.signed(userid, password)
        if not word:
            player = session.store.player(game, name)
            return _told(session, game, player, f"{letters.title(game)} limit status")
        return _limited(session, game, name, _read_limit(word.lower()))


def seek(session: Session, game: str, userid: str, password: str, word: str) -> list[Letter]:
    """Tell others how many challenges a player would like to get, or say how many that are."""
    title = letters.title(game)
    with session.writing():
        name = session.signed(userid, password)
        player = session.store.player(game, name)
        subject = f"{title} seek status"
        if word:
            if not (re.fullmatch("[0-9]{1,2}", word, re.ASCII)):
                raise Refused(f"{word!r} is no number of challenges; it is from 0 to {MOST_SOUGHT}.")
            player = player._replace(seeking=int(word))
            session.store.save_player(game, player)
            subject = f"Now seeking {player.seeking} {title} challenges"
        text = f"You seek {player.seeking or 'no'} challenges of {title}."
        letter = letters.note(text, subject=subject, answer=f"{game} standings", data=_data(game, player))
        return session.answer(name, letter._replace(to=name))


def vacation(session: Session, userid: str, password: str, words: Sequence[str]) -> list[Letter]:
    """Plan a vacation, end it, or say what is planned."""
    today = session.now().date()
    with session.writing():
        name = session.signed(userid, password)
        planned = session.store.vacations(name, today)
        if [word.lower() for word in words] == ["off"]:
            if not planned:
                raise Refused("You have no vacation to end.")
            session.store.replace_vacations(name, today, _ended(planned, today))
            done = "Your vacation is over." if planned[0].first <= today else "Your vacation is called off."
            if planned[0].first == today:
                done = "Your vacation ends today."
        elif words:
            wanted = _planned(session, name, words, today)
            session.store.replace_vacations(name, today, wanted)
            replaced = [away for away in planned if away.first > today and away not in wanted]
            gone = [f"It takes the place of the one from {away.first} through {away.last}." for away in replaced]
            done = "\n".join([_said(wanted), *gone])
        else:
            done = _said(planned)
        left = session.store.vacations(name, today)
        data = {"userid": name, "vacations": [{"first": str(away.first), "last": str(away.last)} for away in left]}
        letter = letters.note(done, subject="Vacation", answer="help vacation", data=data)
        return session.answer(name, letter._replace(to=name))


def _limited(session: Session, game: str, name: str, most: int | None) -> list[Letter]:
    player = session.store.player(game, name)._replace(most=most)
    session.store.save_player(game, player)
    how = "accepted" if most is None else "limited" if most else "rejected"
    return _told(session, game, player, f"{letters.title(game)} challenges now {how}")


def _told(session: Session, game: str, player: Player, subject: str) -> list[Letter]:
    what = "all challenges" if player.most is None else "no challenges"
    text = f"You take {what} of {letters.title(game)}."
    if player.most:
        text = f"You take challenges of {letters.title(game)} up to {letters.counted(player.most, 'active board')}."
    letter = letters.note(text, subject=subject, answer=f"{game} standings", data=_data(game, player))
    return session.answer(player.userid, letter._replace(to=player.userid))


def _data(game: str, player: Player) -> dict[str, object]:
    """What a player wants, for programs."""
    return {"userid": player.userid, "game": game, "limit": player.most, "seeking": player.seeking}


def _read_limit(word: str) -> int | None:
    """At how many active boards a player takes no more challenges; None for no limit."""
    if word == "all" or word.startswith(("accept", "inf")):
        return None
    if word.startswith("reject"):
        return 0
    if not (re.fullmatch("[0-9]{1,3}", word, re.ASCII)):
        raise Refused(f"{word!r} is no limit; it is a number from 0 to {MOST_LIMIT}, `all` or `reject`.")
    return int(word)


def _planned(session: Session, name: str, words: Sequence[str], today: date) -> list[Vacation]:
    """The vacations of a user from today on, with the one that he asks for in place of those that it overlaps.

    The one that he is on goes on; if the new one follows it at once, the two are one. Raises Refused.
    """
    days = [_day(word) for word in words]
    first, last = days if len(days) == 2 else (today, days[0])
    planned = session.store.vacations(name, today)
    if planned and planned[0].first <= today and first <= planned[0].last + clocks.DAY:
        first = planned.pop(0).first
    elif first < today:
        raise Refused(f"A vacation cannot begin in the past; today is {today}.")
    if last < max(first, today) or first > today + AHEAD:
        raise Refused(f"A vacation is from a day through a later one, and begins within a year; today is {today}.")
    others = [away for away in planned if away.last < first or last < away.first]
    wanted = sorted([*others, Vacation(name, first, last)])
    since = date(min(first, today).year, 1, 1) - MOST_DAYS_IN_ONE * clocks.DAY
    all_days = [*(away for away in session.store.vacations(name, since) if away.last < today), *wanted]
    if (length := _longest_run(all_days)) > MOST_DAYS_IN_ONE:
        raise Refused(f"These would be {length} days in one go; {MOST_DAYS_IN_ONE} is the most.")
    for year in {first.year, last.year}:
        used = sum(_days_in(year, away) for away in all_days)
        if used > MOST_DAYS_A_YEAR:
            raise Refused(
                f"With these you would have {used} days of vacation in {year}; {MOST_DAYS_A_YEAR} is the most."
            )
    return wanted


def _longest_run(vacations: Sequence[Vacation]) -> int:
    """The most days in one go, where vacations without a day between them count as one."""
    longest, begun, ended = 0, date.min, date.min
    for away in vacations:
        begun = begun if away.first == ended + clocks.DAY else away.first
        ended = away.last
        longest = max(longest, (ended - begun).days + 1)
    return longest


def _ended(planned: Sequence[Vacation], today: date) -> list[Vacation]:
    """What is left of vacations that a user ends today: the days that he has had, at least the first one."""
    return [away._replace(last=max(away.first, today - clocks.DAY)) for away in planned if away.first <= today]


def _days_in(year: int, away: Vacation) -> int:
    """How many days of a vacation lie in a year."""
    first, last = max(away.first, date(year, 1, 1)), min(away.last, date(year, 12, 31))
    return max(0, (last - first).days + 1)


def _day(word: str) -> date:
    """A day that a user has written. Raises Refused."""
    try:
        return datetime.strptime(word, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise Refused(f"{word!r} is no day; write it like 2027-01-31.") from None


def _said(planned: Sequence[Vacation]) -> str:
    if not planned:
        return "You have planned no vacation."
    return "\n".join(f"Your vacation is from {away.first} through {away.last}." for away in planned)
