"""The web server of `pbm serve --web`: it takes what is posted on the pages of a site, and serves their files.

Starlette and uvicorn speak HTTP. It stands behind a proxy. A GET changes nothing. No token is logged.
"""

import asyncio
import secrets
import socket
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from pbm.access import tokens
from pbm.mail import incoming
from pbm.mail.incoming import ReceivedMail
from pbm.mail.smtp import SHUTDOWN_SECONDS, Connections
from pbm.server import Server
from pbm.service import calendars, health
from pbm.service.boards import BoardPosts
from pbm.service.connections import WebConnection
from pbm.service.context import SOON, WebContext, Work
from pbm.service.device_pages import DevicePages
from pbm.service.error_pages import error_response, outcome_refusal
from pbm.service.events import Stream, Streams, allow_open_files
from pbm.service.identity import event_reader
from pbm.service.posted_commands import PostedCommands
from pbm.service.requests import TEXT_TYPE, origin_of, peer_of
from pbm.site.pages import POLICY

HEALTH_SECONDS = 5
"""How long the main thread may be busy before that is a fault."""
HEADERS = [
    ("content-security-policy", f"{POLICY}; frame-ancestors 'none'"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-cache"),  # else a browser shows an old page without asking for a new one
]
"""What each response has."""
TOO_MANY_REQUESTS = "There are too many requests from your machine or network; please try again in some seconds."


class WebServer:
    """Takes what is posted, and serves the files of a site."""

    def __init__(self, server: Server, listening: socket.socket, site: str | None, url: str) -> None:
        """Listen at a socket; *site* is the folder of the files, and *url* their address."""
        self.server = server
        self.listening = listening
        self.url = (server.web or url or server.site or "").rstrip("/")
        """Where the links in mails lead."""
        self.context = WebContext(server, site, url)
        self.commands = PostedCommands(self.context)
        self.streams = Streams(server)
        exception_handlers = {HTTPException: self._refuse, Exception: self._refuse}
        self.app = Starlette(routes=self._routes(), exception_handlers=exception_handlers)
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

    def _routes(self) -> list[BaseRoute]:
        """Who handles the requests of each path."""
        boards = BoardPosts(self.context)
        devices = DevicePages(self.context, self.commands, self._base_url)
        routes: list[BaseRoute] = [
            Route("/command", self.commands.command, methods=["POST"]),
            Route("/events", self.events, methods=["GET", "POST"]),
            Route("/answer", boards.answer, methods=["GET", "POST"]),
            Route("/guest", boards.guest, methods=["POST"]),
            Route("/device", devices.mail_link, methods=["GET", "POST"]),
            Route("/device/{link}", devices.device, methods=["GET", "POST"]),
            Route("/me", devices.me, methods=["GET", "POST"]),
            Route("/me/forget", devices.forget_device, methods=["POST"]),
            Route("/unsubscribe/{token}", self.unsubscribe, methods=["GET", "POST"]),
            Route("/calendar/{token}.ics", self.calendar),
            Route("/health", self.health),
        ]
        if self.context.site:
            files = Files(directory=self.context.site, html=True, check_dir=False)
            # files alone: what holds a secret must not be compressed with what a stranger has chosen (BREACH)
            routes.append(Mount("/", GZipMiddleware(files, compresslevel=6)))
        return routes

    async def run(self, connections: Connections, work: Work) -> None:
        """Serve until `close`. Posts are handled as the mails of these *connections* are, and the rest by *work*."""
        self.context.connections = connections
        self.context.work = work
        allow_open_files()
        self.context.renderer.start()
        streaming = asyncio.create_task(self.streams.run())
        await self.uvicorn.serve([self.listening])
        await streaming

    def close(self) -> None:
        """Take no more requests, and let `run` end. It waits for all connections, so streams end at once."""
        self.streams.close()
        self.commands.close()
        self.context.renderer.close()
        self.uvicorn.should_exit = True

    async def _handle_within_limits(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, unless too many of its machine are being handled."""
        connection = scope.get("state", {}).get("connection")
        if connection:
            request = Request(scope)
            connection.origin = origin_of(peer_of(request))
            if not connection.make_room():
                response = await self._refuse(request, HTTPException(503, TOO_MANY_REQUESTS, SOON))
                await response(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _refuse(self, request: Request, error: Exception) -> Response:
        return error_response(self.context, request, error)

    def _base_url(self) -> str:
        """Where the links in mails lead; the Host of a request counts for nothing."""
        if self.url:
            return self.url
        host, port = self.listening.getsockname()[:2]
        return f"http://{host}:{port}"

    async def events(self, request: Request) -> Stream:
        """Open a stream of events: for a program with a token, or for the page of a board."""
        if request.method == "HEAD":
            raise HTTPException(405, "A stream of events has no end.")
        reader = await event_reader(self.context, request)
        return self.streams.open_stream(reader, request.headers.get("last-event-id", ""), request.state.connection)

    async def unsubscribe(self, request: Request) -> Response:
        """Show a button; or, when it is pressed here or in a mail program (RFC 8058), end the mails of the token."""
        is_post = request.method == "POST"
        if is_post:
            self.context.admission.admit(request)
            address = tokens.address_with(self.server, request.path_params["token"])
            if not await self.context.work(incoming.is_known, self.server, address):
                raise HTTPException(403, "This link no longer works.")
            mail = ReceivedMail(secrets.token_bytes(12), "", (address,), peer_of(request))
            outcome = await self.context.hand_in(mail)
            if outcome.word != "unsubscribe":
                raise outcome_refusal(outcome)
        page = self.context.pages.render("unsubscribe.html", "unsubscribe/", title="Unsubscribe", done=is_post)
        return HTMLResponse(page)

    async def calendar(self, request: Request) -> Response:
        """A user's deadlines."""
        made = await self.context.work(calendars.calendar, self.server, request.path_params["token"])
        if made is None:
            raise HTTPException(403, "This calendar no longer works: a new password ends it.")
        return Response(made, media_type="text/calendar", headers={"Cache-Control": "private"})

    async def health(self, request: Request) -> Response:
        """Whether the server can do its work: ``ok``, or with the status 503 a word for what does not."""
        checking = asyncio.ensure_future(self.context.work(health.word_for_fault, self.server.store, self.server.now()))
        try:
            word = await asyncio.wait_for(asyncio.shield(checking), HEALTH_SECONDS)
        except TimeoutError:
            word = "busy"
        status = 503 if word else 200
        return Response(f"{word or 'ok'}\n", status, media_type=TEXT_TYPE)


class Files(StaticFiles):
    """The files of a site. Each is read as a whole before it is sent, because it may be written again meanwhile."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The response with a file, but none with a name that begins with a dot: these hold the site's own notes."""
        if any(part.startswith(".") for part in Path(path).parts):
            raise HTTPException(404)
        return await super().get_response(path, scope)

    async def check_config(self) -> None:
        """Do not mind a folder that is not there: another process makes it."""

    def file_response(self, *args: Any, **words: Any) -> Response:
        """The response with a file, or the one that the browser has the file already."""
        response = super().file_response(*args, **words)
        if isinstance(response, FileResponse):
            body = Path(response.path).read_bytes()
            return Response(body, headers={**response.headers, "content-length": str(len(body))})
        return response
