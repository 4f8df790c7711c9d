"""The web server of `pbm serve --web`: it takes what is posted on the pages of a site, and hands out their files.

Starlette and uvicorn speak HTTP. It stands behind a proxy. A GET changes nothing. No token is logged.
"""

import asyncio
import json
import re
import secrets
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from math import ceil
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

import games
from games import Illegal
from pbm import letters, texts
from pbm.access import tokens
from pbm.actions import users
from pbm.mail import incoming, posts
from pbm.mail.incoming import Outcome, Printed, ReceivedMail
from pbm.mail.posts import Post
from pbm.mail.smtp import MOST_CONNECTIONS, MOST_PEER_CONNECTIONS, SHUTDOWN_SECONDS, Connections, Entry
from pbm.names import is_userid
from pbm.refusals import NotAllowed, Refused, TooMany, WrongPassword
from pbm.robot_players import tasks
from pbm.server import Server
from pbm.service import calendars, devices, health
from pbm.service.events import EventReader, Stream, Streams, allow_open_files, reader_of_page, reader_with_token
from pbm.service.rendering import Renderer
from pbm.session import Session
from pbm.site.build import MANIFEST
from pbm.site.pages import POLICY, Pages, SiteSettings, answer_page, is_question
from pbm.store import Reply, Unusable
from pbm.terminal import warn

if TYPE_CHECKING:
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

MOST_POSTED_BYTES = 20_000
"""How much may be posted at once."""
PAGE_LOOK_SECONDS = 0.1
"""How long a request waits before it looks again whether the page of a new board is written."""
REQUEST_SECONDS = 10
"""How long a request may take to come in, and a connection may take requests."""
PAGE_SECONDS = 5
"""How long the response to a post may wait for the page of its board; then it comes without."""
HEALTH_SECONDS = 5
"""How long the main thread may be busy before that is a fault."""
RESPONSE_SECONDS = 60
"""How long after that a connection may take what it is sent."""
MOST_POSTS_A_MINUTE = 120
"""How often a peer may post; a machine of ours, which brings what others post, as often as it likes."""
MOST_QUESTIONS_A_MINUTE = 300
"""How often a peer's pages may ask for news or a preview; each tap of a turn asks for one."""
MOST_HASHING = 20
"""How many posts wait for argon2, which checks passwords in a thread of its own."""
MOST_WAITING_ANSWERS = 30
"""How many answers wait for robots; others come at once. Each keeps a connection open."""
MOST_WAIT_SECONDS = 50
"""How long an answer waits for robots; many proxies give up after a minute."""
REFUSAL_SECONDS = 0.5
"""How long a wrong password or token, and what is too much, waits for its answer. Beside 20 machines that post such
things one behind the other, others wait 1.2 times as long as without them; without this, 15 times."""
ROBOT_LOOK_SECONDS = 0.1
"""How long it waits before it looks again whether they have moved."""
OF_THIS_MACHINE = "pbm-from", "this machine"
"""The header of a client on this machine. A proxy that does not say for whom it asks is not distinguished otherwise."""
HASHING_WAIT = 5
"""After how many seconds a post may come again that found too many waiting."""
MOST_KEPT = 100
"""How many answers are kept in memory for the pages that show them; one of `multiple` has up to 215 kB."""
LONGEST_KEY = 64
"""How many characters of the ``id`` of a post count."""
HEADERS = [
    ("content-security-policy", f"{POLICY}; frame-ancestors 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-cache"),  # else a browser shows an old page without asking for a new one
]
"""What each response has."""
REVOKED = (
    "You can no longer answer from this page: a reply address ends 30 days after its game, or with a new password, and "
    "that of a guest after seven days."
)
BROKEN_LINK = (
    "This link is not whole, or wrong: it has no token with which you could answer. Open the link of the mail again, "
    "or copy all of it."
)
NO_PAGE = "There is no page at this address. If it was that of a board, that board may have been removed."
NOT_BUILT = "The pages of this site are being written for the first time; please try again in some seconds."
TOO_MANY_REQUESTS = "There are too many requests from your machine or network; please try again in some seconds."
TITLES = {
    403: "This link does not work",
    404: "No page is here",
    410: "This is gone",
    429: "That was too much",
    503: "Please try again",
}
"""The titles of the pages that say why something cannot be done, by their status; others say `Not done`."""
TOO_MANY_POSTS = "There are too many posts; please wait for a minute."
SOON = {"Retry-After": "5"}
"""What a response has whose request may come again in some seconds."""
BY_DEVICE = "me"
"""Stands in the place of a token where the cookie of a device tells who posts."""
PRIVATE = {"Cache-Control": "no-store"}
COME_AGAIN = '<!doctype html><meta http-equiv="refresh" content="0"><title>My boards</title>'
JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain"
BEARER = {"WWW-Authenticate": "Bearer"}
FORM_TYPE = "application/x-www-form-urlencoded"
Work = Callable[..., Awaitable[Any]]
"""Calls a function with these arguments in the main thread."""


class WebServer:
    """Takes what is posted, and hands out the files of a site."""

    def __init__(self, server: Server, listening: socket.socket, site: str | None, url: str) -> None:
        """Listen at a socket; *site* is the folder of the files, and *url* their address."""
        self.server, self.listening, self.site = server, listening, site
        self.pages = Pages(Session(server), SiteSettings(can_post=True))
        urls = map(urlsplit, filter(None, (url, server.site, server.web)))
        self.origins = {each.netloc: f"{each.scheme}://{each.netloc}" for each in urls}
        self.url = (server.web or url or server.site or "").rstrip("/")
        """Where the links in mails lead."""
        self.mailing: set[asyncio.Task[Any]] = set()
        """The links that are being mailed."""
        self.posts: Counter[str] = Counter()
        self.streams = Streams(server)
        self.kept: dict[str, str] = {}
        self.renderer = Renderer(server)
        self.argon2_thread = ThreadPoolExecutor(1)
        self.hashing = 0
        """How many posts wait for argon2."""
        self.waiting = 0
        """How many answers wait for robots."""
        routes = [
            Route("/command", self.command, methods=["POST"]),
            Route("/events", self.events, methods=["GET", "POST"]),
            Route("/answer", self.answer, methods=["GET", "POST"]),
            Route("/guest", self.guest, methods=["POST"]),
            Route("/device", self.mail_link, methods=["GET", "POST"]),
            Route("/device/{link}", self.device, methods=["GET", "POST"]),
            Route("/me", self.me, methods=["GET", "POST"]),
            Route("/me/forget", self.forget_device, methods=["POST"]),
            Route("/unsubscribe/{token}", self.unsubscribe, methods=["GET", "POST"]),
            Route("/calendar/{token}.ics", self.calendar),
            Route("/health", self.health),
            *([Mount("/", Files(directory=site, html=True, check_dir=False))] if site else []),
        ]
        self.app = Starlette(routes=routes, exception_handlers={HTTPException: self._refuse, Exception: self._refuse})
        config = uvicorn.Config(
            self._handle_within_limits,
            interface="asgi3",
            http=WebConnection,
            ws="none",
            log_config=None,
            log_level="critical",
            server_header=False,
            headers=HEADERS,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        self.uvicorn = uvicorn.Server(config)

    async def run(self, connections: Connections, work: Work) -> None:
        """Serve until `close`. Posts are handled as the mails of these *connections* are, and the rest by *work*."""
        self.connections, self.work = connections, work
        allow_open_files()
        self.renderer.start()
        streaming = asyncio.create_task(self.streams.run())
        await self.uvicorn.serve([self.listening])
        await streaming

    def close(self) -> None:
        """Take no more requests, and let `run` end. It waits for all connections, so streams end at once."""
        self.streams.close()
        self.renderer.close()
        self.uvicorn.should_exit = True

    async def _handle_within_limits(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, unless too many of its machine are being handled."""
        connection = scope.get("state", {}).get("connection")
        if connection:
            request = Request(scope)
            connection.origin = _origin_of(_peer(request))
            if not connection.make_room():
                response = await self._refuse(request, HTTPException(503, TOO_MANY_REQUESTS, SOON))
                await response(scope, receive, send)
                return
        await self.app(scope, receive, send)

    # Answers

    async def answer(self, request: Request) -> Response:
        """Show a form, with an answer if one is kept; or carry out what is posted as if it had come by mail."""
        if request.method != "POST":
            return self._page(request, text=self.kept.get(request.query_params.get("shown", ""), ""))
        fields = request.state.fields = await self._posted(request)
        address = await self._address(request, fields)
        is_page = "known" in fields  # which is told what it lacks, and nothing else
        if is_page and is_question(fields):
            self._count_question(request)
            player = await self._player(address, fields)
            answer = await self._told(player, address, fields)
            return JSONResponse(answer | await self._next(request, player))
        player, outcome = await self._handle(request, address, fields)
        is_repeated = outcome.word == "repeated"
        if is_repeated:  # the answer to the first post is lost; this one shows the board
            player, outcome = await self._handle(request, address, fields | {"text": "show"})
        if outcome.shown_word != "done":
            raise _refusal(outcome)
        text = letters.printed(outcome.letters) or "Done; a mail says more."
        if is_page:
            is_shown = all((letter.game, letter.board) == player[:2] for letter in outcome.letters)
            answer = {"text": "" if is_shown else text, "repeated": is_repeated}
            try:
                answer |= await self._told(player, address, fields | {"text": ""})
            except Exception as why:  # the board may be damaged, but the command is done
                _warn_of_page(why)
            answer |= await self._next(request, player)
            return JSONResponse(answer)
        if _wants_json(request):
            answer = letters.as_one(outcome.letters)
            answer |= {"text": text, "userid": player.userid, "repeated": is_repeated}
            return JSONResponse(answer | await self._next(request, player))
        return RedirectResponse(f"answer?shown={self._keep(text)}", 303)

    def _keep(self, text: str) -> str:
        """Keep an answer for the page that shows it, and forget the oldest if there are too many. Returns its key."""
        key = secrets.token_urlsafe(24)
        self.kept[key] = text
        if len(self.kept) > MOST_KEPT:
            oldest = next(iter(self.kept))
            del self.kept[oldest]
        return key

    async def _handle(self, request: Request, address: str, fields: Mapping[str, str]) -> tuple[Reply, Outcome]:
        """Handle what is posted as a mail from the player. Returns the player with their board, and the outcome."""
        text = fields.get("text", "")
        comment = fields.get("comment", "")
        key = fields.get("id", "")[:LONGEST_KEY] or secrets.token_hex(12)
        try:
            posted = await self.work(incoming.posted, self.server, address, text, comment, key, _peer(request))
        except Refused as why:
            raise HTTPException(410, str(why)) from why
        if posted is None:
            raise HTTPException(403, REVOKED if _is_like_reply_token(address) else BROKEN_LINK)
        player, mail = posted
        _check_page(player, fields)
        return player, await self._hand_in(mail)

    async def _hand_in(self, received: ReceivedMail) -> Outcome:
        """Have something handled as a mail. Returns the outcome."""
        return (await asyncio.shield(self.connections.hand_in(received))).outcome

    async def _player(self, address: str, fields: Mapping[str, str]) -> Reply:
        """The player of a reply address, who asks from the page of that board. Raises HTTPException."""
        try:
            player = await self.work(incoming.player_of, self.server, address)
        except Refused as why:
            raise HTTPException(410, str(why)) from why
        if player is None:
            raise HTTPException(403, REVOKED if _is_like_reply_token(address) else BROKEN_LINK)
        _check_page(player, fields)
        return cast("Reply", player)

    async def _told(self, player: Reply, address: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """What the page of a player is told, made in a process of its own. Raises TimeoutError."""
        answer = await self.renderer.call(answer_page, player, address, fields, seconds=PAGE_SECONDS)
        return cast("dict[str, Any]", answer)

    async def guest(self, request: Request) -> Response:
        """Start a board of a new guest against a robot, and lead to its page."""
        fields = await self._posted(request)
        game = fields.get("game", "").lower()
        level = fields.get("level", "").lower() or "1"
        options = fields.get("options", "").lower().split()
        peer = _peer(request)
        begin = time.perf_counter()
        try:
            player, token = await self.work(users.begin_as_guest, self.server, game, level, options, _origin_of(peer))
        except users.Crowded as why:
            raise HTTPException(429, str(why)) from why
        except (Refused, Illegal) as why:
            raise HTTPException(422, str(why)) from why
        outcome = Outcome("command", f"{player.game} {player.board} {player.userid}: begun")
        self.connections.note(Entry(peer, "", outcome, took=time.perf_counter() - begin))
        page = f"{player.game}/{player.board}.html"
        if self.site:
            await _wait_for(Path(self.site, page))
        return RedirectResponse(f"{page}#{token}", 303)

    # Devices

    async def _address(self, request: Request, fields: Mapping[str, str]) -> str:
        """The address at which whoever posts answers: that of the token, or that of their device's user on this board.

        Raises HTTPException.
        """
        if not _is_by_device(request, fields):
            return tokens.address_with(self.server, fields.get("token", ""))
        place = fields.get("game", "").lower(), fields.get("board", "").lower()
        secret = devices.secret_of(request)
        try:
            address = await self.work(devices.address_on_board, self.server, secret, place, _machine(request))
        except TooMany as why:
            raise HTTPException(429, str(why), {"Retry-After": str(ceil(why.seconds))}) from why
        except WrongPassword as why:
            raise HTTPException(403, devices.NO_DEVICE) from why
        except NotAllowed as why:
            raise HTTPException(403, str(why)) from why
        except Refused as why:
            raise HTTPException(410, str(why)) from why
        return str(address)

    async def _next(self, request: Request, player: Reply) -> dict[str, Any]:
        """What a page is told of the other boards of the user of its device; nothing for one with a token."""
        if not _is_by_device(request, request.state.fields):
            return {}
        return {"next": await self.work(devices.next_board, self.server, player)}

    async def mail_link(self, request: Request) -> Response:
        """Show a form; or mail the link that makes a browser a device, if there is such a user.

        The response does not wait for the mail, so neither what it says nor when it comes tells whether there is one.
        """
        if request.method != "POST":
            return self._private(request, "device.html", "My boards")
        fields = await self._posted(request)
        name = fields.get("userid", "").strip().lower()
        machine = _origin_of(_peer(request))
        if not is_userid(name):
            raise HTTPException(422, "A userid is 2 to 16 letters, digits, dots, hyphens or underscores.")
        if not await self.work(devices.admit_request, self.server, machine):
            raise HTTPException(429, "Too many links were asked for in this hour; please try again in the next one.")
        task = asyncio.ensure_future(self.work(devices.mail_link, self.server, name, self._base_url()))
        self.mailing.add(task)
        task.add_done_callback(self._end_mailing)
        return self._private(request, "device.html", "My boards", asked_for=name)

    def _end_mailing(self, task: asyncio.Task[Any]) -> None:
        self.mailing.discard(task)
        if not task.cancelled() and (why := task.exception()):
            warn(f"A link could not be mailed: {type(why).__name__}: {why}")

    def _base_url(self) -> str:
        """Where the links in mails lead; the Host of a request counts for nothing."""
        if self.url:
            return self.url
        host, port = self.listening.getsockname()[:2]
        return f"http://{host}:{port}"

    async def device(self, request: Request) -> Response:
        """Show to whom a link belongs; or, when the button is pressed, make this browser a device of that user."""
        link = request.path_params["link"]
        if request.method != "POST":
            owner = await self.work(devices.owner_of_link, self.server, link)
            if owner is None:
                raise HTTPException(403, devices.NO_LINK)
            return self._private(request, "device.html", "This device is mine", owner=owner)
        fields = await self._posted(request)
        try:
            secret = await self.work(devices.make_device, self.server, link, fields.get("name", ""))
        except NotAllowed as why:
            raise HTTPException(403, str(why)) from why
        except Refused as why:
            raise HTTPException(422, str(why)) from why
        response = RedirectResponse("../me", 303, headers=PRIVATE)
        devices.keep_cookie(request, response, secret)
        return response

    async def me(self, request: Request) -> Response:
        """The boards of the user of a device; or carry out a command of theirs, and show its answer above."""
        secret = devices.secret_of(request)
        if not secret and request.headers.get("sec-fetch-site") == "cross-site":
            # a browser that comes from another site keeps the cookie back, until the page itself leads here
            return HTMLResponse(COME_AGAIN, headers=PRIVATE)
        fields = await self._posted(request) if request.method == "POST" else {}
        try:
            user = await self.work(devices.user_of_device, self.server, secret, _machine(request))
        except TooMany as why:
            raise HTTPException(429, str(why), {"Retry-After": str(ceil(why.seconds))}) from why
        except WrongPassword:
            response = self._private(request, "device.html", "My boards", status=403 if fields else 200)
            if secret:
                devices.keep_cookie(request, response, "")
            return response
        answer = await self._carry_out(request, fields, secret) if fields else None
        boards = await self.work(devices.boards_of, self.server, user)
        response = self._private(
            request,
            "me.html",
            f"Boards of {user}",
            status=answer.code if answer else 200,
            user=user,
            answer=answer,
            boards=boards,
            typed=fields if answer and answer.code != 200 else {},
            key=secrets.token_urlsafe(24),
        )
        devices.keep_cookie(request, response, secret)
        return response

    async def _carry_out(self, request: Request, fields: Mapping[str, str], secret: str) -> Printed:
        """Carry out a command that the user of a device has posted. Returns the answer."""
        read = posts.read_text(f"{fields.get('line', '')}\n{fields.get('comment', '')}")
        post = read._replace(
            # the buttons of a page have one id, and each its own line
            key=tokens.digest(f"{fields['id']} {read.line}") if fields.get("id") else "",
            token=secret,
            machine=_machine(request),
            peer=_peer(request),
        )
        try:
            self._admit_lines(post)
            await self._check_passwords(post)
        except Refused as why:
            return posts.refusal_printed(why, str(why), str(why))
        outcome = (await asyncio.shield(self.connections.hand_in(post))).outcome
        if outcome.printed is None:
            raise HTTPException(503, "This could not be done; please try again later.", {"Retry-After": "10"})
        return outcome.printed

    async def forget_device(self, request: Request) -> Response:
        """Let this browser be a device no longer."""
        self._admit(request)
        await self.work(devices.forget_device, self.server, devices.secret_of(request))
        response = RedirectResponse("../me", 303, headers=PRIVATE)
        devices.keep_cookie(request, response, "")
        return response

    def _private(self, request: Request, template: str, title: str, status: int = 200, **what: Any) -> Response:
        """A page for one reader."""
        page = self.pages.render(template, request.url.path.removeprefix("/"), title=title, **what)
        return HTMLResponse(page, status, headers=PRIVATE)

    # Commands

    async def command(self, request: Request) -> Response:
        """Carry out a command, and print its answer as a shell does. Who guesses, or posts too much, has to wait."""
        response = await self._answer_to_post(request)
        if response.status_code in {401, 429}:
            await asyncio.sleep(REFUSAL_SECONDS)
        return response

    async def _answer_to_post(self, request: Request) -> Response:
        """The response to a command that is posted. Raises HTTPException."""
        if not self._is_from_this_site(request):
            raise HTTPException(403, "This was posted from a page of another site.")
        body = await _body_of(request)
        try:
            post = _post_of(request, body)
            self._admit_lines(post)
            await self._check_passwords(post)
        except Refused as why:
            return _answer_to_command(request, posts.refusal_printed(why, str(why), str(why)))
        outcome = (await asyncio.shield(self.connections.hand_in(post))).outcome
        if outcome.printed is None:  # it has failed, or takes too long
            raise HTTPException(503, "This could not be done; please try again later.", {"Retry-After": "10"})
        printed = outcome.printed
        if outcome.waiting and self.waiting < MOST_WAITING_ANSWERS:
            printed = await self._answer_after_robots(outcome, post.wait_seconds)
        return _answer_to_command(request, printed)

    async def _answer_after_robots(self, outcome: Outcome, seconds: int) -> Printed:
        """The answer to a command when the robots have moved that have to move behind it, or after so many seconds."""
        self.waiting += 1
        try:
            for _ in range(round(seconds / ROBOT_LOOK_SECONDS)):
                is_awaited = await self.work(tasks.are_awaited, outcome.waiting)
                if self.uvicorn.should_exit or not is_awaited:
                    break
                await asyncio.sleep(ROBOT_LOOK_SECONDS)
        finally:
            self.waiting -= 1
        return posts.printed_answers(await self.work(tasks.answers_after_robots, outcome.waiting, outcome.letters))

    def _admit_lines(self, post: Post) -> None:
        """Count the lines of a post for its token, and for its machine. Raises TooMany."""
        count = posts.count_lines(post)
        holders = [tokens.digest(post.token)] if post.token else []
        if post.machine:
            holders.append(post.machine)
        for holder in holders:
            if not self._count_posts(holder, count):
                raise TooMany(TOO_MANY_POSTS, 60)

    async def _check_passwords(self, post: Post) -> None:
        """Run argon2 for a post in its own thread, where nobody else waits for it. Raises Refused, also as TooMany."""
        hashing = await self.work(posts.hashing_of, self.server, post)
        if not any(hashing):
            return
        if self.hashing >= MOST_HASHING:
            raise TooMany("Too many passwords are being checked; please try again in some seconds.", HASHING_WAIT)
        self.hashing += 1
        computing = asyncio.wrap_future(self.argon2_thread.submit(posts.compute_hashes, self.server, hashing))
        computing.add_done_callback(self._end_hashing)
        await asyncio.shield(computing)

    def _end_hashing(self, _: object) -> None:
        self.hashing -= 1

    async def events(self, request: Request) -> Stream:
        """Open a stream of events: for a program with a token, or for the page of a board."""
        if request.method == "HEAD":
            raise HTTPException(405, "A stream of events has no end.")
        try:
            reader = await self._reader_of(request)
        except WrongPassword as why:
            raise HTTPException(401, str(why), BEARER) from why
        except TooMany as why:
            raise HTTPException(429, str(why), {"Retry-After": str(ceil(why.seconds))}) from why
        except Refused as why:
            raise HTTPException(410, str(why)) from why
        if reader is None:
            raise HTTPException(403, REVOKED)
        return self.streams.open_stream(reader, request.headers.get("last-event-id", ""), request.state.connection)

    async def _reader_of(self, request: Request) -> EventReader | None:
        """Who wants a stream; None for a page whose reply address has ended. Raises Refused, and HTTPException."""
        if request.method == "POST":
            fields = await self._posted(request)
            address = await self._address(request, fields)
            reader = cast("EventReader | None", await self.work(reader_of_page, self.server, address))
            if reader and _is_by_device(request, fields):
                return reader._replace(device=tokens.digest(devices.secret_of(request)))
            return reader
        if not self._is_from_this_site(request):
            raise HTTPException(403, "This was asked for by a page of another site.")
        token = _token_of(request)
        if not token:
            raise HTTPException(401, "A stream of events needs a token, in `Authorization: Bearer TOKEN`.", BEARER)
        machine = _machine(request)
        if machine and not self._count_posts(f"events {machine}", 1):
            raise HTTPException(429, TOO_MANY_POSTS, {"Retry-After": "60"})
        return cast("EventReader", await self.work(reader_with_token, self.server, token, machine))

    # What mails lead to

    async def unsubscribe(self, request: Request) -> Response:
        """Show a button; or, when it is pressed here or in a mail program (RFC 8058), end the mails of the token."""
        is_post = request.method == "POST"
        if is_post:
            self._admit(request)
            address = tokens.address_with(self.server, request.path_params["token"])
            if not await self.work(incoming.is_known, self.server, address):
                raise HTTPException(403, "This link no longer works.")
            outcome = await self._hand_in(ReceivedMail(secrets.token_bytes(12), "", (address,), _peer(request)))
            if outcome.word != "unsubscribe":
                raise _refusal(outcome)
        return HTMLResponse(self.pages.render("unsubscribe.html", "unsubscribe/", title="Unsubscribe", done=is_post))

    async def calendar(self, request: Request) -> Response:
        """A user's deadlines."""
        made = await self.work(calendars.calendar, self.server, request.path_params["token"])
        if made is None:
            raise HTTPException(403, "This calendar no longer works: a new password ends it.")
        return Response(made, media_type="text/calendar", headers={"Cache-Control": "private"})

    async def health(self, request: Request) -> Response:
        """Whether the server can do its work: ``ok``, or with the status 503 a word for what does not."""
        checking = asyncio.ensure_future(self.work(health.word_for_fault, self.server.store, self.server.now()))
        try:
            word = await asyncio.wait_for(asyncio.shield(checking), HEALTH_SECONDS)
        except TimeoutError:
            word = "busy"
        status = 503 if word else 200
        return Response(f"{word or 'ok'}\n", status, media_type=TEXT_TYPE)

    # What all requests have in common

    async def _posted(self, request: Request) -> dict[str, str]:
        """The fields of a form, or of an object in JSON. Raises HTTPException."""
        self._admit(request)
        body = await _body_of(request)
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in {JSON_TYPE, FORM_TYPE}:
            raise HTTPException(415, "What is posted is a form, or JSON.")
        try:
            fields = json.loads(body) if media_type == JSON_TYPE else dict(parse_qsl(body.decode()))
        except (ValueError, RecursionError) as why:
            raise HTTPException(400, "This is no form, and no object in JSON.") from why
        if not isinstance(fields, dict):
            raise HTTPException(400, "This is no form, and no object in JSON.")
        # half of a surrogate pair, which JSON can name, is no text that we could store
        return {
            name: str(value).encode(errors="replace").decode() for name, value in fields.items() if value is not None
        }

    def _admit(self, request: Request) -> None:
        """Check that no page of another site has posted this, and that its peer may post. Raises HTTPException."""
        if not self._is_from_this_site(request):
            raise HTTPException(403, "This was not posted from a page of this site.")
        machine = incoming.machine_of(_peer(request))
        if not machine:
            return
        if not self._count_posts(machine, 1):
            raise HTTPException(429, TOO_MANY_POSTS, {"Retry-After": "60"})

    def _count_question(self, request: Request) -> None:
        """Count a post that was admitted as a question, apart from answers and commands. Raises HTTPException."""
        machine = incoming.machine_of(_peer(request))
        if not machine:
            return
        self.posts[machine] -= 1
        if not self._count_posts(f"questions {machine}", 1, MOST_QUESTIONS_A_MINUTE):
            raise HTTPException(429, TOO_MANY_POSTS, {"Retry-After": "60"})

    def _count_posts(self, holder: str, count: int, most: int = MOST_POSTS_A_MINUTE) -> bool:
        """Count what somebody posts in this minute. Returns False if it is too much."""
        if not self.posts:
            asyncio.get_running_loop().call_later(60, self.posts.clear)
        self.posts[holder] += count
        return self.posts[holder] <= most

    def _is_from_this_site(self, request: Request) -> bool:
        """Whether no page of another site has posted this, as the browser says; other programs say nothing.

        The name that was asked for proves nothing: whoever owns a name can let it lead here (DNS rebinding).
        """
        fetch_site = request.headers.get("sec-fetch-site")
        if fetch_site not in {None, "same-origin", "none"}:
            return False
        origin = request.headers.get("origin")
        if origin is None:
            return True
        host = request.headers.get("host", "")
        if origin == "null" and fetch_site == "same-origin":  # a form without a script, because of our Referrer-Policy
            return host in self.origins or _is_number(host)
        scheme, _, named = origin.partition("://")
        if named in self.origins:
            return origin == self.origins[named]
        # without a name nobody can rebind it: this page was fetched from here
        return scheme == "http" and named == host and _is_number(host)

    def _is_to_be_written(self, path: str) -> bool:
        """Whether the site is being written for the first time, and will have pages in that folder."""
        folder = path.split("/")[1]
        if self.site is None or "/." in path or folder not in {"", "users", *games.names()}:
            return False
        return not Path(self.site, MANIFEST).exists()

    def _error_page(self, request: Request, error: HTTPException) -> Response:
        """A page that says why something cannot be done. What was typed as an answer stands in a form."""
        if request.url.path == "/answer" and request.method == "POST":
            return self._page(request, error.status_code, error=error.detail)
        page = self.pages.render(
            "error.html",
            request.url.path.removeprefix("/"),
            title=TITLES.get(error.status_code, "Not done"),
            error=error.detail,
            status=error.status_code,
        )
        return HTMLResponse(page, error.status_code, headers={"Cache-Control": "no-store"})

    def _page(self, request: Request, status: int = 200, text: str = "", error: str = "") -> Response:
        """A page with a letter or a refusal, and a form in which the last post can be changed and posted again."""
        title = "Answer a board mail"
        if error:
            title = TITLES.get(status, "Not done")
        elif text:
            title = "Done"
        path = request.url.path.removeprefix("/")
        last_post = getattr(request.state, "fields", {})
        page = self.pages.render("answer.html", path, title=title, text=text, error=error, typed=last_post)
        return HTMLResponse(page, status, headers={"Cache-Control": "no-store"})

    async def _refuse(self, request: Request, error: Exception) -> Response:
        """The response to a request that cannot be done, or at which the server fails; then the log says why."""
        if not isinstance(error, HTTPException):
            _warn_of_page(error)
            status = 503 if isinstance(error, Unusable | TimeoutError) else 500
            error = HTTPException(status, "This could not be done; please try again later.")
        elif error.status_code == 404 and self._is_to_be_written(request.url.path):
            error = HTTPException(503, NOT_BUILT, SOON)
        elif error.status_code == 404:
            error = HTTPException(404, NO_PAGE)
        if request.url.path in {"/command", "/events"}:
            data = {"error": error.detail, "status": 2 if error.status_code == 400 else 1}
            response: Response = _answer_to_command(request, Printed(error.status_code, error.detail, data))
        elif _wants_json(request):
            body = {"error": error.detail, "status": error.status_code}
            response = JSONResponse(body, error.status_code)
        else:
            response = self._error_page(request, error)
        response.headers.update(error.headers or {})
        return response


def _is_like_reply_token(address: str) -> bool:
    """Whether the token of an address has the form of one with which a player answers."""
    token = tokens.token_of(address)
    return token.startswith(tokens.REPLY) and tokens.TOKEN.fullmatch(token) is not None


def _is_by_device(request: Request, fields: Mapping[str, str]) -> bool:
    """Whether a page has posted for the user of the device, and not with a token of its own."""
    token = fields.get("token", "")
    return token == BY_DEVICE or (not token and bool(devices.secret_of(request)))


def _check_page(player: Reply, fields: Mapping[str, str]) -> None:
    """Check that the board of a token is that of the page, if the page says which one that is. Raises HTTPException."""
    page = fields.get("game", "").lower(), fields.get("board", "").lower()
    if all(page) and page != (player.game, player.board):
        own = f"{player.game.capitalize()} board {player.board}"
        raise HTTPException(403, f"This link is for {own}, not for the board of this page; nothing was done.")


def _warn_of_page(why: Exception) -> None:
    warn(f"A page could not be made: {type(why).__name__}: {why}")


async def _wait_for(page: Path) -> None:
    """Wait until a page is written, or for half as long as a response may take."""
    for _ in range(round(RESPONSE_SECONDS / 2 / PAGE_LOOK_SECONDS)):
        if await asyncio.to_thread(page.exists):
            return
        await asyncio.sleep(PAGE_LOOK_SECONDS)


class Files(StaticFiles):
    """The files of a site. Each is read as a whole before it is sent, because it may be written anew meanwhile."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The response with a file, but none whose name begins with a dot: in these the site remembers what it is."""
        if any(part.startswith(".") for part in Path(path).parts):
            raise HTTPException(404)
        return await super().get_response(path, scope)

    async def check_config(self) -> None:
        """Do not mind a folder that is not there: another process makes it."""

    def file_response(self, *args: Any, **words: Any) -> Response:
        """The response with a file, or the one that the browser has the file already."""
        found = super().file_response(*args, **words)
        if isinstance(found, FileResponse):
            body = Path(found.path).read_bytes()
            return Response(body, headers={**found.headers, "content-length": str(len(body))})
        return found


class WebConnection(H11Protocol):
    """A connection of bounded time, of which each machine has a bounded number.

    uvicorn would wait for ever for a request, and for a peer that does not read.
    """

    origin = ""
    """The machine or network that it comes from; once a request has come by a proxy, the one that the proxy names."""
    is_stream = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Bound the time of a connection, or close it if there are too many."""
        super().connection_made(cast("asyncio.Transport", transport))
        self.app_state = {"connection": self}  # a request finds it in its state
        self.origin = _origin_of(self._peer)
        self.begun = self.loop.time()
        self.loop.call_later(REQUEST_SECONDS, self._end)
        if not self.make_room():
            self.cut()

    def become_stream(self) -> None:
        """Count no more among the connections, and stay open as long as both sides like."""
        self.is_stream = True

    def make_room(self) -> bool:
        """Check that there is room for this connection. Returns False if there is none.

        The machine that has too many, or the most of all if there are too many in all, loses the oldest one whose
        request has not come in. So whoever opens many connections and says nothing keeps nobody else out.
        """
        connections = [connection for connection in self._all() if not connection.is_stream]
        counts = Counter(connection.origin for connection in connections)
        if counts[self.origin] > MOST_PEER_CONNECTIONS and not self._is_of_unnamed_peer():
            crowded = self.origin
        elif len(connections) > MOST_CONNECTIONS:
            [(crowded, _)] = counts.most_common(1)
        else:
            return True
        waiting = [connection for connection in connections if connection.origin == crowded and connection.is_waiting()]
        oldest = min(waiting, key=attrgetter("begun"), default=self)
        if oldest is self:
            return False
        oldest.cut()
        return True

    def is_waiting(self) -> bool:
        """Whether it waits for a request, or for the rest of one."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _all(self) -> "set[WebConnection]":
        return cast("set[WebConnection]", self.connections)

    def _is_of_unnamed_peer(self) -> bool:
        """Whether it comes by a proxy that has not said from which machine, or not yet."""
        trusted = cast("ProxyHeadersMiddleware", self.app).trusted_hosts
        return self._peer in trusted and self.origin == _origin_of(self._peer)

    @property
    def _peer(self) -> str:
        return self.client[0] if self.client else ""

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; or end the connection if a response has begun, where uvicorn itself would fail."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def cut(self) -> None:
        """End the connection at once."""
        self.connections.discard(self)
        self.transport.abort()

    def _end(self) -> None:
        """Take no more requests, and end the connection when its response is there, or soon in any case."""
        if self in self.connections and not self.is_stream:
            self.shutdown()
            self.loop.call_later(RESPONSE_SECONDS, self._end_late)

    def _end_late(self) -> None:
        """End the connection of a peer that has not read its response, unless it has become a stream."""
        if not self.is_stream:
            self.transport.abort()


def _post_of(request: Request, body: bytes) -> Post:
    """The command that is posted. Raises HTTPException, and Misused."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in {TEXT_TYPE, JSON_TYPE}:
        raise HTTPException(415, "A command is posted as text/plain, or as JSON.")
    try:
        fields = posts.read_json(body.decode()) if media_type == JSON_TYPE else posts.read_text(body.decode())
    except UnicodeDecodeError as why:
        raise HTTPException(400, "What is posted is no text in UTF-8.") from why
    key = fields.key or request.headers.get("idempotency-key", "")
    if len(key) > LONGEST_KEY:
        raise HTTPException(400, f"An id has at most {LONGEST_KEY} characters.")
    return fields._replace(
        key=texts.clean(key),
        token=_token_of(request),
        machine=_machine(request),
        as_json=_wants_json(request),
        peer=_peer(request),
        wait_seconds=_wanted_wait(request),
    )


def _token_of(request: Request) -> str:
    """The token that comes with a request; empty if none does. Raises HTTPException."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme and scheme.lower() != "bearer":
        raise HTTPException(401, "Only a token can stand in Authorization, behind the word Bearer.", BEARER)
    return token.strip() or ("none" if scheme else "")  # one that is empty is wrong


def _wanted_wait(request: Request) -> int:
    """How many seconds the answer may wait for robots, as the header ``Prefer: wait=20`` says (RFC 7240)."""
    wanted = re.search(r"\bwait *= *(\d{1,4})\b", request.headers.get("prefer", ""), re.ASCII)
    return min(MOST_WAIT_SECONDS, int(wanted[1])) if wanted else 0


def _answer_to_command(request: Request, printed: Printed) -> Response:
    """The response with the answer to a command."""
    headers = {"Pbm-Status": str(printed.data.get("status", 0)), "Cache-Control": "no-store"}
    if printed.code == 401:
        headers |= BEARER
    if printed.wait:
        headers["Retry-After"] = str(ceil(printed.wait))
    if _wants_json(request):
        body = json.dumps(printed.data, default=methodcaller("isoformat"))
        return Response(f"{body}\n", printed.code, headers, JSON_TYPE)
    return Response(f"{printed.text}\n", printed.code, headers, TEXT_TYPE)


def _origin_of(host: str) -> str:
    """What counts as one machine with this address, whatever a proxy says that it is."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return incoming.network_of(str(getattr(address, "ipv4_mapped", None) or address))


def _machine(request: Request) -> str | None:
    """The machine or network that a request came from; None if it came by a proxy that does not say.

    What a proxy says counts, whatever it is; uvicorn sets the port to 0 then.
    """
    if request.client is None:
        return None
    try:
        address = ip_address(request.client.host)
    except ValueError:
        return None
    if request.client.port == 0 and not address.is_loopback:
        return incoming.network_of(str(getattr(address, "ipv4_mapped", None) or address))
    name, value = OF_THIS_MACHINE
    if address.is_loopback and request.client.port and request.headers.get(name) == value:
        return str(address)
    return incoming.machine_of(request.client.host)


def _is_number(host: str) -> bool:
    """Whether the Host of a request is an address of IP, or this machine; a port may stand behind it."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    except ValueError:
        return False


def _peer(request: Request) -> str:
    """The machine that a request came from, as the proxy on this machine says."""
    return request.client.host if request.client else ""


async def _body_of(request: Request) -> bytes:
    """What is posted. Raises HTTPException if it is too much, or takes too long."""
    body = b""
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_POSTED_BYTES:
                    raise HTTPException(413, "At most 20 kB can be posted.")
    except (TimeoutError, ClientDisconnect) as why:
        raise HTTPException(408, "This has taken too long.") from why
    return body


def _wants_json(request: Request) -> bool:
    return JSON_TYPE in request.headers.get("accept", "")


def _refusal(outcome: Outcome) -> HTTPException:
    """The status, and the sentence, of an outcome in which nothing was done."""
    if outcome.word == "failed":
        return HTTPException(503, "This could not be stored; please try again later.")
    if outcome.word == "unknown":
        return HTTPException(403, REVOKED)
    if outcome.word == "barred":
        return HTTPException(403, "The operator of this server takes nothing that comes from your address.")
    errors = "\n\n".join(str(letter.data["error"]) for letter in outcome.letters)
    why = outcome.reason or "It reads as if a program had written it, so nothing was done"
    return HTTPException(422, errors or f"{why}.")
