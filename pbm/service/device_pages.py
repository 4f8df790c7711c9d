"""The pages of a player who uses a browser as a device: the link that makes it one, and "My boards"."""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pbm.access import tokens
from pbm.mail import posts
from pbm.mail.incoming import Printed
from pbm.names import is_userid
from pbm.refusals import NotAllowed, Refused, TooMany, WrongPassword
from pbm.service import devices
from pbm.service.context import PRIVATE, WebContext
from pbm.service.identity import retry_after
from pbm.service.posted_commands import PostedCommands
from pbm.service.requests import named_machine, origin_of, peer_of
from pbm.terminal import warn

COME_AGAIN = '<!doctype html><meta http-equiv="refresh" content="0"><title>My boards</title>'


class DevicePages:
    """Makes the pages of players who use a browser as a device, or begin to."""

    def __init__(self, context: WebContext, commands: PostedCommands, base_url: Callable[[], str]) -> None:
        """Begin without links. What is posted on "My boards" is carried out by *commands*; mails lead to *base_url*."""
        self.context = context
        self.commands = commands
        self.base_url = base_url
        self.mailing: set[asyncio.Task[Any]] = set()
        """The links that are being mailed."""

    async def mail_link(self, request: Request) -> Response:
        """Show a form; or mail the link that makes a browser a device, if there is such a user.

        The response does not wait for the mail, so neither what it says nor when it comes tells whether there is one.
        """
        if request.method != "POST":
            return self.context.private_page(request, "device.html", "My boards")
        fields = await self.context.admission.read_posted(request)
        name = fields.get("userid", "").strip().lower()
        machine = origin_of(peer_of(request))
        if not is_userid(name):
            raise HTTPException(422, "A userid is 2 to 16 letters, digits, dots, hyphens or underscores.")
        server = self.context.server
        if not await self.context.work(devices.admit_request, server, machine):
            raise HTTPException(429, "Too many links were asked for in this hour; please try again in the next one.")
        task = asyncio.ensure_future(self.context.work(devices.mail_link, server, name, self.base_url()))
        self.mailing.add(task)
        task.add_done_callback(self._end_mailing)
        return self.context.private_page(request, "device.html", "My boards", asked_for=name)

    def _end_mailing(self, task: asyncio.Task[Any]) -> None:
        self.mailing.discard(task)
        if not task.cancelled() and (why := task.exception()):
            warn(f"A link could not be mailed: {type(why).__name__}: {why}")

    async def device(self, request: Request) -> Response:
        """Show which user a link is for; or, when the button is pressed, make this browser a device of that user."""
        link = request.path_params["link"]
        server = self.context.server
        if request.method != "POST":
            owner = await self.context.work(devices.owner_of_link, server, link)
            if owner is None:
                raise HTTPException(403, devices.NO_LINK)
            return self.context.private_page(request, "device.html", "This device is mine", owner=owner)
        fields = await self.context.admission.read_posted(request)
        try:
            secret = await self.context.work(devices.make_device, server, link, fields.get("name", ""))
        except NotAllowed as why:
            raise HTTPException(403, str(why)) from why
        except Refused as why:
            raise HTTPException(422, str(why)) from why
        response = RedirectResponse("../me", 303, headers=PRIVATE)
        devices.keep_cookie(request, response, secret)
        return response

    async def forget_device(self, request: Request) -> Response:
        """Let this browser be a device no longer."""
        self.context.admission.admit(request)
        await self.context.work(devices.forget_device, self.context.server, devices.secret_of(request))
        response = RedirectResponse("../me", 303, headers=PRIVATE)
        devices.keep_cookie(request, response, "")
        return response

    async def me(self, request: Request) -> Response:
        """The boards of the user of a device; or carry out the user's command, and show its answer above."""
        secret = devices.secret_of(request)
        if not secret and request.headers.get("sec-fetch-site") == "cross-site":
            # a browser that comes from another site keeps the cookie back, until the page itself leads here
            return HTMLResponse(COME_AGAIN, headers=PRIVATE)
        fields: Mapping[str, str] = {}
        if request.method == "POST":
            fields = await self.context.admission.read_posted(request)
        server = self.context.server
        try:
            user = await self.context.work(devices.user_of_device, server, secret, named_machine(request))
        except TooMany as why:
            raise HTTPException(429, str(why), retry_after(why)) from why
        except WrongPassword:
            status = 403 if fields else 200
            response = self.context.private_page(request, "device.html", "My boards", status)
            if secret:
                devices.keep_cookie(request, response, "")
            return response
        answer = None
        status = 200
        if fields:
            answer = await self._carry_out(request, fields, secret)
            status = answer.code
        response = self.context.private_page(
            request,
            "me.html",
            f"Boards of {user}",
            status=status,
            user=user,
            answer=answer,
            boards=await self.context.work(devices.boards_of, server, user),
            typed={} if status == 200 else fields,
            key=secrets.token_urlsafe(24),
        )
        devices.keep_cookie(request, response, secret)
        return response

    async def _carry_out(self, request: Request, fields: Mapping[str, str], secret: str) -> Printed:
        """Carry out a command that the user of a device has posted. Returns the answer."""
        post = posts.read_text(f"{fields.get('line', '')}\n{fields.get('comment', '')}")
        post = post._replace(token=secret, machine=named_machine(request), peer=peer_of(request))
        if fields.get("id"):  # the buttons of a page have one id, and each its own line
            post = post._replace(key=tokens.digest(f"{fields['id']} {post.line}"))
        try:
            _, printed = await self.commands.carry_out(post)
        except Refused as why:
            return posts.refusal_printed(why, str(why), str(why))
        return printed
