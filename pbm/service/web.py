"""The web door: what is posted on the pages of a site, and their files. Starlette and uvicorn speak HTTP.

It stands behind a proxy. A GET changes nothing. Tokens stand in the body of a POST, and are never logged.
"""

import asyncio
import json
import secrets
import socket
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from games import Illegal
from pbm import letters
from pbm.access import tokens
from pbm.actions import users
from pbm.drawing import images
from pbm.letters import Letter
from pbm.mail import incoming
from pbm.mail.incoming import Outcome
from pbm.mail.smtp import MOST_CONNECTIONS, SHUTDOWN_SECONDS, Answer, Connections, Delivery, Entry
from pbm.refusals import Refused
from pbm.server import Server
from pbm.service import calendars
from pbm.session import Session
from pbm.site.pages import POLICY, Gone, Look, Pages
from pbm.store import Reply, Unusable
from pbm.terminal import warn

MOST_POSTED_BYTES = 20_000
"""How much may be posted at once."""
LOOK_FOR_PAGE = 0.1
"""Seconds from one look whether the page of a new board is written to the next."""
REQUEST_SECONDS = 10
"""How long a request may take to come in, and a connection may be silent."""
RESPONSE_SECONDS = 60
"""How long a request may take from its header to the last byte of its response."""
MOST_POSTS_A_MINUTE = 120
"""How often a peer may post; a machine of ours, which brings what others post, as often as it likes."""
MOST_KEPT = 1000
"""How many letters are kept for the pages that show them."""
LONGEST_KEY = 64
"""How many characters of what tells a post from others are looked at."""
HEADERS = [
    (b"content-security-policy", f"{POLICY}; frame-ancestors 'none'".encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
REVOKED = (
    "This page speaks for no player any more: a reply address ends 30 days after its game, or with a new password."
)
FOREIGN = "This was not posted from a page of this site."
Work = Callable[..., Awaitable[Any]]
"""Has a function called in the main thread with these arguments."""


class Door:
    """Takes what is posted, and hands out the files of a site."""

    def __init__(self, server: Server, listening: socket.socket, site: str | None, url: str) -> None:
        """Listen at a socket; *site* is the folder of the files, and *url* where they stand."""
        self.server, self.listening, self.site = server, listening, site
        self.look = Look("", has_pictures=False, has_door=True)
        urls = [urlsplit(each) for each in (url, server.site, server.web) if each]
        self.origins = {each.netloc: f"{each.scheme}://{each.netloc}" for each in urls}
        self.posts: Counter[str] = Counter()
        self.minute = 0
        self.kept: OrderedDict[str, str] = OrderedDict()
        routes: list[BaseRoute] = [
            Route("/answer", self.answer, methods=["GET", "POST"]),
            Route("/guest", self.guest, methods=["POST"]),
            Route("/unsubscribe/{token}", self.unsubscribe, methods=["GET", "POST"]),
            Route("/calendar/{token}.ics", self.calendar),
        ]
        if site:
            routes.append(Mount("/", StaticFiles(directory=site, html=True)))
        failed = {HTTPException: self._refuse, Exception: self._fail}
        self.app = Starlette(routes=routes, exception_handlers=failed)  # type: ignore[arg-type]  # of each its own
        config = uvicorn.Config(
            bounded(self.app),
            http=WebConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=REQUEST_SECONDS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        self.uvicorn = uvicorn.Server(config)

    async def run(self, connections: Connections, work: Work) -> None:
        """Serve until `close`. Posts are handled as the mails of these *connections* are, and the rest by *work*."""
        self.connections, self.work = connections, work
        await self.uvicorn.serve([self.listening])

    def close(self) -> None:
        """Take no more requests, and let `run` end."""
        self.uvicorn.should_exit = True

    # Answers

    async def answer(self, request: Request) -> Response:
        """Show a form, and an answer that is kept; or carry out what is posted as if it had come by mail."""
        if request.method != "POST":
            return self._page(request, text=self.kept.get(request.query_params.get("shown", ""), ""))
        fields = await self._posted(request)
        token = tokens.token_of(fields.get("token", ""))
        fields |= {"token": token if tokens.TOKEN.fullmatch(token) else ""}
        request.state.fields = fields
        key = fields.get("id", "")[:LONGEST_KEY] or secrets.token_hex(12)
        player, outcome = await self._handled(request, fields, key)
        is_repeated = outcome == "repeated"
        if is_repeated:
            player, outcome = await self._handled(request, fields | {"text": "show"}, secrets.token_hex(12))
        if outcome.reason or not outcome.letters:
            raise _refusal(outcome)
        text = letters.printed(outcome.letters)
        if _wants_json(request):
            found = letters.as_one(letter.data for letter in outcome.letters)
            found |= {"text": text, "userid": player.userid, "repeated": is_repeated}
            return JSONResponse(found | await self.work(self._shown, outcome.letters, player, fields["token"]))
        shown = secrets.token_urlsafe(24)
        self.kept[shown] = text
        if len(self.kept) > MOST_KEPT:
            self.kept.popitem(last=False)
        return RedirectResponse(f"answer?shown={shown}", 303)

    async def _handled(self, request: Request, fields: Mapping[str, str], key: str) -> tuple[Reply, Outcome]:
        """Who has posted something, and what has come of it, as it would have come of a mail."""
        recipient = tokens.address_with(self.server, fields["token"])
        text, comment = fields.get("text", ""), fields.get("comment", "")
        found = await self.work(incoming.posted, self.server, recipient, text, comment, key)
        if found is None:
            raise HTTPException(403, REVOKED)
        player, post = found
        raw = f"{recipient}\n{text}\n{comment}".encode(errors="replace")
        delivery = Delivery(raw, str(post.sender), (recipient,), _peer(request), post)
        answer: Answer = await asyncio.shield(self.connections.hand_in(delivery))
        return player, answer.outcome

    def _shown(self, told: Sequence[Letter], player: Reply, token: str) -> dict[str, str]:
        """The picture of a board that is only tried, or the page of the board as its reader sees it, if it is left."""
        for point in [letter.point for letter in told if letter.point and not letter.point.board.is_stored]:
            return {"svg": images.board_svg(point, style="")}
        pages = Pages(Session(self.server), self.look, player.userid, tokens.address_with(self.server, token))
        with suppress(Gone):
            return {"page": pages.board(player.game, player.board)}
        return {}

    async def guest(self, request: Request) -> Response:
        """Start a board of a new guest against a robot, and lead to its page."""
        fields = await self._posted(request)
        game, level, options = (fields.get(name, "").lower() for name in ("game", "level", "options"))
        begin, machine = time.perf_counter(), incoming.machine_of(_peer(request))
        try:
            player, token = await self.work(
                users.begin_as_guest, self.server, game, level or "1", options.split(), machine
            )
        except (Refused, Illegal) as why:
            raise HTTPException(429 if isinstance(why, users.Crowded) else 422, str(why)) from why
        self._note(request, Outcome("command", f"{player.game} {player.board} {player.userid}: begun"), begin)
        page = f"{player.game}/{player.board}.html"
        if self.site:
            await _written(Path(self.site, page))
        return RedirectResponse(f"{page}#{token}", 303)

    # What mails lead to

    async def unsubscribe(self, request: Request) -> Response:
        """Show a button; or end what the token in the path ends, as RFC 8058 has mail programs post it."""
        is_post = request.method == "POST"
        if is_post:
            self._admit(request)
            begin = time.perf_counter()
            token = tokens.token_of(request.path_params["token"])
            recipient = tokens.address_with(self.server, token)
            if not await self.work(incoming.unsubscribe_at, self.server, recipient):
                raise HTTPException(403, "This ends nothing any more.")
            self._note(request, Outcome("unsubscribe"), begin)
        return HTMLResponse(
            Pages(Session(self.server), self.look).unsubscribing(request.url.path.removeprefix("/"), done=is_post)
        )

    async def calendar(self, request: Request) -> Response:
        """A user's deadlines."""
        made = await self.work(calendars.calendar, self.server, tokens.token_of(request.path_params["token"]))
        if made is None:
            raise HTTPException(403, "This calendar is closed: a new password ends it.")
        return Response(made, media_type="text/calendar", headers={"Cache-Control": "private"})

    # What all requests have in common

    async def _posted(self, request: Request) -> dict[str, str]:
        """The fields of a form, or of an object in JSON. Raises HTTPException."""
        self._admit(request)
        body = bytearray()
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                async for part in request.stream():
                    body += part
                    if len(body) > MOST_POSTED_BYTES:
                        raise HTTPException(413, "At most 20 kB can be posted.")
        except TimeoutError as why:
            raise HTTPException(408, "This has taken too long.") from why
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in {"application/json", "application/x-www-form-urlencoded"}:
            raise HTTPException(415, "What is posted is a form, or JSON.")
        try:
            is_form = kind != "application/json"
            found = dict(parse_qsl(body.decode(), keep_blank_values=True)) if is_form else json.loads(body)
            return {str(name): str(value) for name, value in found.items()}
        except (ValueError, AttributeError, RecursionError) as why:
            raise HTTPException(400, "This is no form, and no object in JSON.") from why

    def _note(self, request: Request, outcome: Outcome, begin: float) -> None:
        """Log what came of a request that was begun then, and tell the processes beside us."""
        self.connections.note(Entry(_peer(request) or "", "", outcome, took=time.perf_counter() - begin))

    def _admit(self, request: Request) -> None:
        """Raises HTTPException if a page of another site has posted this, as a browser says, or a peer posts too often.

        With our Referrer-Policy a form without a script posts from the origin ``null``.
        """
        found, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        host = urlsplit(found or "").netloc
        is_host = host == request.headers.get("host")  # which a proxy passes on, but not whether it speaks TLS
        is_own = found is None or (self.origins[host] == found if host in self.origins else is_host)
        is_form = found == "null" and site == "same-origin"
        if site not in {None, "same-origin", "none"} or not (is_own or is_form):
            raise HTTPException(403, FOREIGN)

        if machine := incoming.machine_of(_peer(request)):
            if self.minute != (now := int(time.monotonic()) // 60):
                self.minute = now
                self.posts.clear()
            self.posts[machine] += 1
            if self.posts[machine] > MOST_POSTS_A_MINUTE:
                raise HTTPException(429, "There are too many posts; please wait for a minute.")

    def _page(self, request: Request, status: int = 200, text: str = "", error: str = "") -> Response:
        """A page with a letter or a refusal, and a form in which the last post can be changed and posted again."""
        path, typed = request.url.path.removeprefix("/"), getattr(request.state, "fields", {})
        shown = Pages(Session(self.server), self.look).form(path, text, error, typed)
        return HTMLResponse(shown, status, headers={"Cache-Control": "no-store"})

    async def _refuse(self, request: Request, why: HTTPException) -> Response:
        """What a request is answered that cannot be done."""
        error, status = str(why.detail), why.status_code
        if _wants_json(request):
            found: Response = JSONResponse({"error": error, "status": status}, status)
        else:
            found = self._page(request, status, error=error)
        found.headers.update(why.headers or {})
        return found

    async def _fail(self, request: Request, error: Exception) -> Response:
        """What a request is answered at which we have failed; where and why stands in the log, but for the path."""
        if not isinstance(error, ClientDisconnect):
            warn(f"A page could not be made: {type(error).__name__}: {error}")
        status = 503 if isinstance(error, Unusable | TimeoutError) else 500
        return PlainTextResponse("This could not be done; please try again later.\n", status)


async def _written(page: Path) -> None:
    """Wait until a page is written, or for half as long as a response may take."""
    for _ in range(round(RESPONSE_SECONDS / 2 / LOOK_FOR_PAGE)):
        if await asyncio.to_thread(page.exists):
            return
        await asyncio.sleep(LOOK_FOR_PAGE)


class WebConnection(H11Protocol):
    """A connection; uvicorn would wait for ever for the first request, and for the end of a header."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Give the peer some time for requests, if there is room."""
        super().connection_made(transport)
        self.loop.call_later(REQUEST_SECONDS, self._end)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()

    def _end(self) -> None:
        """End the connection, but for one that waits for a response."""
        if self.cycle and not self.cycle.response_complete:
            self.loop.call_later(REQUEST_SECONDS, self._end)
        else:
            self.transport.close()


def bounded(app: ASGIApp) -> ASGIApp:
    """An application that takes at most so long for a request, and whose responses have the headers of all pages."""

    async def run(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            await send(message)

        async with asyncio.timeout(RESPONSE_SECONDS):
            await app(scope, receive, send_with_headers)

    return run


def _peer(request: Request) -> str | None:
    """The machine that a request came from, as the proxy on this machine says."""
    return request.client.host if request.client else None


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _refusal(outcome: Outcome) -> HTTPException:
    """Why something was not done, as HTTP says it."""
    if outcome == "capped":
        return HTTPException(429, f"This was no command, and {outcome.reason}.")
    if outcome == "failed":
        return HTTPException(503, "This could not be stored; please try again later.")
    if outcome == "unknown":
        return HTTPException(403, REVOKED)
    if outcome.letters:
        error = "\n\n".join(str(letter.data["error"]) for letter in outcome.letters)
        return HTTPException(422, error)
    why = outcome.reason or "It reads as if a program had written it, so nothing was done"
    return HTTPException(422, f"{why}.")
