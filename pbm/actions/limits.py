"""How many challenges a user takes, how many they are looking for, and who is looking for some."""

import re
from datetime import timedelta
from itertools import chain

from pbm import delivery, letters, texts
from pbm.actions import pages
from pbm.blocks import Table
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import PlayerRow

MOST_SOUGHT = 99
"""How many challenges a player may seek."""
MOST_LIMIT = 999
SEEKS_FOR = timedelta(days=60)
"""How long a player seeks challenges who gives no command."""


def accept(session: Session, game: str, name: str) -> list[Letter]:
    """Take all challenges."""
    if session.store.player(game, name).most is None:
        raise Refused(f"You already take all challenges of {texts.title(game)}.")
    return _limited(session, game, name, None)


def reject(session: Session, game: str, name: str) -> list[Letter]:
    """Take no challenges."""
    if session.store.player(game, name).most == 0:
        raise Refused(f"You already take no challenges of {texts.title(game)}.")
    return _limited(session, game, name, 0)


def limit(session: Session, game: str, name: str, word: str) -> list[Letter]:
    """Take challenges up to a number of active boards, or say what that number is."""
    if not word:
        player = session.store.player(game, name)
        return _told(session, game, player, f"{texts.title(game)} limit status")
    return _limited(session, game, name, _read_limit(word.lower()))


def seek(session: Session, game: str, name: str, word: str) -> list[Letter]:
    """Tell others how many challenges a player would like to get, or say how many that are."""
    title = texts.title(game)
    player = session.store.player(game, name)
    subject = f"{title} seek status"
    if word:
        if not (re.fullmatch("[0-9]{1,2}", word, re.ASCII)):
            raise Refused(f"{word!r} is no number of challenges; it is from 0 to {MOST_SOUGHT}.")
        player = player._replace(seeking=int(word))
        session.store.save_player(game, player)
        session.store.note_seeker(name, session.now())
        subject = f"Now seeking {player.seeking} {title} challenges"
    sought = texts.counted(player.seeking, "challenge") if player.seeking else "no challenges"
    text = f"You seek {sought} of {title}."
    letter = letters.note(text, subject=subject, answer=f"{game} standings", data=_data(game, player))
    return [letter._replace(to=name)]


def seekers(session: Session, word: str) -> list[Letter]:
    """List who would like to get challenges, in all games."""
    page = pages.number(session, word)
    found, has_more = pages.cut(session.store.all_seekers(*pages.window(page)), page)
    if not found and page > 1:
        raise Refused(f"There is no page {page} of these players.")
    told = [{"game": game, "userid": who.userid, "rating": who.rating, "seeking": who.seeking} for game, who in found]
    rows = (
        {"Game": game, "Name": who.userid, "Rating": str(who.rating or ""), "Seeking": str(who.seeking)}
        for game, who in found
    )
    text = "\n".join(chain.from_iterable(pages.table(rows, {"Rating", "Seeking"})))
    letter = letters.note(
        [Table(text)] if text else "Nobody seeks challenges.",
        subject="List of seekers",
        answer="GAME seek USERID PASSWORD 1",
        data={"seekers": told},
    )
    return [pages.with_next(letter, "all seekers", page) if has_more else letter]


def end_seeks(session: Session) -> None:
    """Let players seek no challenges any more who have given no command for so long, and tell them."""
    for game, name in session.store.silent_seekers(session.now() - SEEKS_FOR):
        player = session.store.player(game, name)._replace(seeking=0)
        session.store.save_player(game, player)
        text = (
            f"You seek no challenges of {texts.title(game)} any more, because you have given no command for "
            f"{SEEKS_FOR.days} days. `{game} seek {name} PASSWORD N` seeks N again."
        )
        answer = f"{game} seek {name} PASSWORD N"
        subject = f"{texts.title(game)} seek status"
        letter = letters.note(text, subject=subject, answer=answer, data=_data(game, player))
        delivery.queue(session, letter._replace(to=name))


def _limited(session: Session, game: str, name: str, most: int | None) -> list[Letter]:
    player = session.store.player(game, name)._replace(most=most)
    session.store.save_player(game, player)
    how = "accepted" if most is None else "limited" if most else "rejected"
    return _told(session, game, player, f"{texts.title(game)} challenges now {how}")


def _told(session: Session, game: str, player: PlayerRow, subject: str) -> list[Letter]:
    what = "all challenges" if player.most is None else "no challenges"
    text = f"You take {what} of {texts.title(game)}."
    if player.most:
        text = f"You take challenges of {texts.title(game)} up to {texts.counted(player.most, 'active board')}."
    letter = letters.note(text, subject=subject, answer=f"{game} standings", data=_data(game, player))
    return [letter._replace(to=player.userid)]


def _data(game: str, player: PlayerRow) -> dict[str, object]:
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
