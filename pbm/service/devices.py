"""Devices: browsers in which a player is known by a cookie. Its value is a token of the scope `device`.

A link that is mailed to the player makes a browser a device, once, within LINK_HOLDS. It is a row of the same table
with the scope `link`, so a new password, and signing off, end links and devices alike.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from textwrap import fill
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

import games
from pbm import delivery, letters, texts
from pbm.access import tokens
from pbm.actions.tokens import MOST_TOKENS, NAME, TOKEN_BYTES
from pbm.board import clocks
from pbm.mail import posts
from pbm.names import API_TOKENS
from pbm.refusals import NotAllowed, Refused, WrongPassword
from pbm.server import Server
from pbm.session import Session
from pbm.site.markup import path_to_play
from pbm.store import BoardRow, PlayerRow, Reply, Store
from pbm.store.boards import BoardFilter
from pbm.store.trust import DEVICE, DEVICE_HOLDS, Token

LINK_HOLDS = timedelta(hours=24)
"""How long a link can make a browser a device."""
COOKIE = "pbm-device"
"""The name of the cookie on this machine; elsewhere it begins with SECURE_PREFIX."""
SECURE_PREFIX = "__Host-"
"""A cookie with this prefix comes from this very host and by HTTPS, not from another name of the same domain."""
MOST_LISTED_BOARDS = 500
"""How many boards the page of a player lists."""
MOST_SEEKERS = 80
NO_LINK = "This link has been used, or is older than a day, or a newer one was mailed. Have another one mailed."
NO_DEVICE = "This browser is no device of yours, or no longer. Have your boards mailed to you again."


class WaitingBoard(NamedTuple):
    """A board that waits for its player."""

    row: BoardRow
    until: datetime
    """When they lose the game if they do nothing."""
    left: str
    """How long that is, such as ``7 days``."""
    is_urgent: bool
    """Whether it is less than a day."""


class PlayerBoards(NamedTuple):
    """What the page of a player shows."""

    waiting: list[WaitingBoard]
    """The boards that wait for them, the most urgent one first."""
    others: list[BoardRow]
    """The other running ones, the last change first."""
    seekers: list[tuple[str, PlayerRow]]
    """The other users who want to be challenged, with the game."""
    sought: list[str]
    """The games in which they want to be challenged themselves."""
    robot: str
    """The weakest robot that plays all games; empty if there is none."""


# The cookie


def secret_of(request: Request) -> str:
    """The token in the cookie of a browser; empty for none."""
    return request.cookies.get(_cookie_name(request), "")


def keep_cookie(request: Request, response: Response, secret: str) -> None:
    """Have a browser keep the token of a device as long as it holds, or forget its token if *secret* is empty."""
    lifetime = DEVICE_HOLDS if secret else timedelta()
    response.set_cookie(
        _cookie_name(request),
        secret,
        max_age=round(lifetime.total_seconds()),
        path="/",
        secure=not _is_loopback(request),
        httponly=True,
        samesite="strict",
    )


def _cookie_name(request: Request) -> str:
    return COOKIE if _is_loopback(request) else f"{SECURE_PREFIX}{COOKIE}"


def _is_loopback(request: Request) -> bool:
    """Whether a browser has asked for an address of its own machine, where there is no HTTPS."""
    try:
        name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


# Links and devices


def admit_request(server: Server, machine: str) -> bool:
    """Count a request for a link, for any user. Returns False if there were too many."""
    with server.store.writing():
        return Session(server, peer=machine, is_trusted=False).take("request for a link")


def mail_link(server: Server, name: str, url: str) -> None:
    """Mail a user the link that makes a browser their device, at most once an hour; if there is no such user, nobody.

    It goes to the addresses that the user has confirmed.
    """
    session = Session(server)
    with server.store.writing():
        if not session.take("link", user=name):
            return
        if not any(row.confirmed for row in server.store.users.addresses(name)):
            return
        secret = _new_secret(server)
        server.store.trust.store_link(tokens.digest(secret), name, session.now)
        about = (
            "It works once, within a day. In the browser in which you open it you can then play on all your boards, "
            "without a mail program and without your password. If you have not asked for it, do nothing. Pass this "
            "mail on to nobody."
        )
        text = f"{letters.heading('device', player=name)}\n\n{url}/device/{secret}\n\n{fill(about, texts.WIDTH)}"
        answer = f"tokens {name} PASSWORD"
        delivery.queue(session, letters.plain_letter(text, subject="pbm boards", answer=answer, to=name))


def owner_of_link(server: Server, link: str) -> str | None:
    """The user of a link that makes a browser a device; None if the link has ended."""
    return server.store.trust.owner_of_link(tokens.digest(link), server.now() - LINK_HOLDS)


def make_device(server: Server, link: str, name: str) -> str:
    """Use up a link. Returns the token of the new device, which `tokens` lists by its name.

    Raises NotAllowed for a link that has ended, and Refused for a name that cannot be one.
    """
    session = Session(server)
    trust = server.store.trust
    with server.store.writing():
        userid = owner_of_link(server, link)
        if userid is None:
            raise NotAllowed(NO_LINK)
        names = [token.name for token in trust.tokens(userid)]
        if len(names) >= MOST_TOKENS:
            command = f"token {userid} PASSWORD NAME revoke"
            raise Refused(
                f"{userid} has {MOST_TOKENS} tokens and devices, which is the most; end one with `{command}`."
            )
        name = _free_name(name.strip() or f"browser-{session.now:%Y-%m-%d}", names)
        secret = _new_secret(server)
        trust.remove_link(userid)
        trust.add_token(tokens.digest(secret), Token(userid, name, DEVICE, made=session.now, used=session.now))
        text = (
            f"A browser is now the device {name} of {userid}: in it one can play on your boards, and challenge others. "
            f"If it is not yours, end it with `token {userid} PASSWORD {name} revoke`, and change your password."
        )
        delivery.queue(session, letters.to_user(userid, fill(text, texts.WIDTH), answer=f"tokens {userid} PASSWORD"))
        return secret


def _new_secret(server: Server) -> str:
    return f"pbm_{server.random_bytes(TOKEN_BYTES).hex()}"


def _free_name(name: str, names: list[str]) -> str:
    """The name of a new device, with a number behind it if there is one of that name. Raises Refused."""
    if not NAME.fullmatch(name) or re.search(API_TOKENS, name):
        raise Refused("The name of a device has up to 32 letters, digits, dots, hyphens or underscores.")
    if name not in names:
        return name
    numbered = [f"{name[:28]}-{number}" for number in range(2, len(names) + 3)]
    return next(candidate for candidate in numbered if candidate not in names)


def forget_device(server: Server, secret: str) -> None:
    """End the token of a device, if it is one."""
    with server.store.writing():
        token = server.store.trust.token(tokens.digest(secret), server.now())
        if token and token.scope == DEVICE:
            server.store.trust.revoke_token(token.userid, token.name)


def user_of_device(server: Server, secret: str, machine: str | None) -> str:
    """The user of a device. That it is used is noted. Raises WrongPassword if it is none, and TooMany."""
    if not secret:
        raise WrongPassword(NO_DEVICE)
    token = posts.use_token(server, secret, machine)
    if token.scope != DEVICE:
        raise WrongPassword(NO_DEVICE)
    return token.userid


def address_on_board(server: Server, secret: str, place: tuple[str, str], machine: str | None) -> str:
    """The address at which the user of a device answers on a board.

    Raises WrongPassword and TooMany as `user_of_device` does, NotAllowed if the user does not play there, and Refused
    if the board has been removed.
    """
    userid = user_of_device(server, secret, machine)
    if server.store.boards.was_removed(*place):
        raise Refused("This board has been removed.")
    row = server.store.boards.get(*place)
    if row is None or userid not in row.players:
        raise NotAllowed(f"{userid} does not play on this board.")
    with server.store.writing():
        return tokens.reply_address(server, *place, userid)


# The page of a player


def boards_of(server: Server, userid: str) -> PlayerBoards:
    """What the page of a player shows."""
    store = server.store
    now = server.now()
    among = BoardFilter(games.names(), [userid], over=False)
    with store.reading():
        rows = store.boards.found(among, most=MOST_LISTED_BOARDS)
        others = [row for row in rows if clocks.awaited(row) != userid]
        waiting = _waiting_boards(store, userid, rows, now)
        all_seekers = store.players.all_seekers(now.date(), MOST_SEEKERS)
        seekers = [(game, player) for game, player in all_seekers if player.userid != userid]
        sought = [game for game in games.names() if store.players.get(game, userid).seeking]
        robots = [robot for robot in store.robots.all() if robot.level and not robot.games and not robot.paused]
    robots.sort(key=lambda robot: robot.level or 0)
    mildest = robots[0].userid if robots else ""
    others.sort(key=lambda row: row.changed or row.started, reverse=True)
    return PlayerBoards(waiting, others, seekers, sought, mildest)


def _waiting_boards(store: Store, userid: str, rows: Sequence[BoardRow], now: datetime) -> list[WaitingBoard]:
    """The boards among these that wait for a player, the most urgent one first."""
    boards = []
    for row in rows:
        if clocks.awaited(row) == userid:
            left = clocks.time_left(store, row, now)
            words = texts.duration(left.total_seconds())
            boards.append(WaitingBoard(row, now + left, words, is_urgent=left < timedelta(days=1)))
    boards.sort(key=lambda board: board.until)
    return boards


def next_board(server: Server, player: Reply) -> Mapping[str, Any]:
    """How many boards but this one wait for a player, and the path of the first one; that is empty if there is none."""
    store = server.store
    among = BoardFilter(games.names(), [player.userid], over=False, may_wait=True)
    with store.reading():
        rows = store.boards.found(among, most=MOST_LISTED_BOARDS)
        boards = _waiting_boards(store, player.userid, rows, server.now())
    paths = [path_to_play(board.row) for board in boards if board.row.place != player[:2]]
    return {"count": len(paths), "path": paths[0] if paths else ""}
