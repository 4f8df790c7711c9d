"""Guests: strangers who play a robot on a page at once, without an address and a password, and may sign up by mail."""

import re
from collections.abc import Sequence
from datetime import timedelta

import games
from pbm import delivery, letters
from pbm.access import quotas, tokens
from pbm.access.quotas import Holders
from pbm.actions import challenges, finding, turns
from pbm.board.clocks import Clocks
from pbm.levels import LEVEL_NUMBERS
from pbm.names import GUEST
from pbm.refusals import Refused
from pbm.server import Server
from pbm.session import Session
from pbm.store import Reply

GUESTS_KNOWN_FOR = timedelta(days=7)
"""For how long guests are known."""


class Crowded(Refused):
    """A stranger for whom there is no room now."""


def begin(server: Server, game: str, level: str, options: Sequence[str], peer: str | None) -> tuple[Reply, str]:
    """Start a board of a new guest against a robot. Returns the guest's place, and the token with which they play.

    Raises Refused, and Illegal for options that the game does not have.
    """
    session, store = Session(server), server.store
    if not games.exists(game):
        raise Refused(games.unknown(game))
    if not (re.fullmatch("[0-9]", level, re.ASCII) and int(level) in LEVEL_NUMBERS):
        raise Refused(f"There is no level {level!r}; the levels are 1 to {LEVEL_NUMBERS[-1]}.")
    games.read_options(games.load(game), options)
    with store.writing():
        robots = [one for one in store.robots.all() if one.level == int(level)]
        counts = store.boards.active_counts([one.userid for one in robots])
        free = [
            one.userid
            for one in robots
            if counts[one.userid].total() < one.most / 2 and not challenges.not_of_robots(game, {one.userid: one})
        ]
        if not free:  # the other half of their boards is for users
            raise Crowded(f"No robot of level {level} can play with you now; please try another level.")
        if not quotas.take(store, "guest", Holders(peer=peer), server.now()):
            raise Crowded("Too many guests have begun to play in this hour; please try again in the next one.")
        name = f"{GUEST}{server.random_bytes(5).hex()}"
        store.users.add(name, "", server.now())
        board = turns.start(session, game, options, (name, free[-1]), times=Clocks())
        address = tokens.reply_address(server, game, board.row.board, name)
        return Reply(game, board.row.board, name), tokens.token_of(address)


def keep_boards(session: Session, place: Reply, name: str) -> None:
    """Give the boards of a guest to a user who has just signed up, and mail them the one on which they did so."""
    session.store.boards.hand_over(place.userid, name)
    session.store.users.remove(place.userid, session.now)
    point = finding.find_board(session, place.game, place.board).present
    told = letters.of_board(session, point, name, is_new=True)
    delivery.queue(session, *told)


def forget_old(session: Session) -> None:
    """Forget guests who have not signed up in time, and their boards."""
    for name in session.store.users.guests(session.now - GUESTS_KNOWN_FOR):
        session.store.boards.remove_of(name)
        session.store.users.remove(name, session.now)
