"""Who has sent a request: by the token of a page or a program, or by the cookie of a device."""

from collections.abc import Mapping
from math import ceil
from typing import cast

from starlette.exceptions import HTTPException
from starlette.requests import Request

from pbm.access import tokens
from pbm.mail import incoming
from pbm.refusals import NotAllowed, Refused, TooMany, WrongPassword
from pbm.service import devices
from pbm.service.context import WebContext
from pbm.service.events import EventReader, reader_of_page, reader_with_token
from pbm.service.requests import BEARER, bearer_token, named_machine
from pbm.store import Reply

BY_DEVICE = "me"
"""Is posted instead of a token where the cookie of a device tells who posts."""
REVOKED = (
    "You can no longer answer from this page: a reply address ends 30 days after its game, or with a new password, and "
    "that of a guest after seven days."
)
BROKEN_LINK = (
    "This link is not whole, or wrong: it has no token with which you could answer. Open the link of the mail again, "
    "or copy all of it."
)


def retry_after(why: TooMany) -> dict[str, str]:
    """The header that says when somebody may try again."""
    return {"Retry-After": str(ceil(why.seconds))}


def is_by_device(request: Request, fields: Mapping[str, str]) -> bool:
    """Whether a page has posted for the user of the device, and not with a token of its own."""
    token = fields.get("token", "")
    return token == BY_DEVICE or (not token and bool(devices.secret_of(request)))


async def answering_address(context: WebContext, request: Request, fields: Mapping[str, str]) -> str:
    """The address at which a post answers: that of its token, or that of the device's user on this board.

    Raises HTTPException.
    """
    if not is_by_device(request, fields):
        return tokens.address_with(context.server, fields.get("token", ""))
    place = fields.get("game", "").lower(), fields.get("board", "").lower()
    secret = devices.secret_of(request)
    machine = named_machine(request)
    try:
        address = await context.work(devices.address_on_board, context.server, secret, place, machine)
    except TooMany as why:
        raise HTTPException(429, str(why), retry_after(why)) from why
    except WrongPassword as why:
        raise HTTPException(403, devices.NO_DEVICE) from why
    except NotAllowed as why:
        raise HTTPException(403, str(why)) from why
    except Refused as why:
        raise HTTPException(410, str(why)) from why
    return str(address)


async def player_at(context: WebContext, address: str, fields: Mapping[str, str]) -> Reply:
    """The player of a reply address, who asks from the page of that board. Raises HTTPException."""
    try:
        player = await context.work(incoming.player_of, context.server, address)
    except Refused as why:
        raise HTTPException(410, str(why)) from why
    if player is None:
        raise no_player(address)
    check_page(player, fields)
    return cast("Reply", player)


def no_player(address: str) -> HTTPException:
    """Why nobody answers at an address: it has ended, or never was one."""
    token = tokens.token_of(address)
    is_like_reply_token = token.startswith(tokens.REPLY) and tokens.TOKEN.fullmatch(token) is not None
    return HTTPException(403, REVOKED if is_like_reply_token else BROKEN_LINK)


def check_page(player: Reply, fields: Mapping[str, str]) -> None:
    """Check that the board of a token is that of the page, if the page says which one that is. Raises HTTPException."""
    page = fields.get("game", "").lower(), fields.get("board", "").lower()
    if all(page) and page != (player.game, player.board):
        own = f"{player.game.capitalize()} board {player.board}"
        raise HTTPException(403, f"This link is for {own}, not for the board of this page; nothing was done.")


async def event_reader(context: WebContext, request: Request) -> EventReader:
    """Who wants a stream of events: a page that posts, or a program with a token. Raises HTTPException."""
    try:
        if request.method == "POST":
            reader = await _reading_page(context, request)
        else:
            reader = await _reading_program(context, request)
    except WrongPassword as why:
        raise HTTPException(401, str(why), BEARER) from why
    except TooMany as why:
        raise HTTPException(429, str(why), retry_after(why)) from why
    except Refused as why:
        raise HTTPException(410, str(why)) from why
    if reader is None:
        raise HTTPException(403, REVOKED)
    return reader


async def _reading_page(context: WebContext, request: Request) -> EventReader | None:
    """The page that posts; None if its reply address has ended. Raises Refused, and HTTPException."""
    fields = await context.admission.read_posted(request)
    address = await answering_address(context, request, fields)
    reader = cast("EventReader | None", await context.work(reader_of_page, context.server, address))
    if reader and is_by_device(request, fields):
        return reader._replace(device=tokens.digest(devices.secret_of(request)))
    return reader


async def _reading_program(context: WebContext, request: Request) -> EventReader:
    """The program that shows a token. Raises Refused, and HTTPException."""
    context.admission.check_origin(request, "This was asked for by a page of another site.")
    token = bearer_token(request)
    if not token:
        raise HTTPException(401, "A stream of events needs a token, in `Authorization: Bearer TOKEN`.", BEARER)
    context.admission.count_stream(request)
    reader = await context.work(reader_with_token, context.server, token, named_machine(request))
    return cast("EventReader", reader)
