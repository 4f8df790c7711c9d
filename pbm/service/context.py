"""What the handlers of requests share: the server, its pages, and the way into the main thread."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from pbm.mail.incoming import Outcome, ReceivedMail
from pbm.mail.posts import Post
from pbm.mail.smtp import Connections
from pbm.server import Server
from pbm.service.admission import Admission
from pbm.service.rendering import Renderer
from pbm.session import Session
from pbm.site.pages import Pages, SiteSettings

PRIVATE = {"Cache-Control": "no-store"}
"""The headers of a response for one reader."""
SOON = {"Retry-After": "5"}
"""The header of a response to a request that may come again in some seconds."""
Work = Callable[..., Awaitable[Any]]
"""Calls a function with these arguments in the main thread."""


class WebContext:
    """What the handlers of requests share."""

    connections: Connections
    """The connections of the mail server: a post is handled as a mail is, and noted as one."""
    work: Work

    def __init__(self, server: Server, site: str | None, url: str) -> None:
        """Begin without the main thread. *site* is the folder of the files, and *url* their address."""
        self.server = server
        self.site = site
        self.pages = Pages(Session(server), SiteSettings(can_post=True))
        self.admission = Admission(filter(None, (url, server.site, server.web)))
        self.renderer = Renderer(server)

    async def hand_in(self, received: ReceivedMail | Post) -> Outcome:
        """Have something handled as a mail, also if who has posted it is gone. Returns the outcome."""
        answer = await asyncio.shield(self.connections.hand_in(received))
        return answer.outcome

    def private_page(self, request: Request, template: str, title: str, status: int = 200, **what: Any) -> HTMLResponse:
        """A page for one reader, at the path of the request."""
        page = self.pages.render(template, request.url.path.removeprefix("/"), title=title, **what)
        return HTMLResponse(page, status, headers=PRIVATE)
