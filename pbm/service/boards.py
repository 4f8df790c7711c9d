"""What is posted on the page of a board: an answer as to a board mail, a question, or a request to play as a guest."""

import asyncio
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from games import Illegal
from pbm import letters
from pbm.actions import users
from pbm.mail import incoming
from pbm.mail.incoming import Outcome
from pbm.mail.smtp import Entry
from pbm.refusals import Refused
from pbm.service import devices
from pbm.service.connections import RESPONSE_SECONDS
from pbm.service.context import WebContext
from pbm.service.error_pages import answer_form, outcome_refusal, warn_of_page
from pbm.service.identity import answering_address, check_page, is_by_device, no_player, player_at
from pbm.service.requests import LONGEST_KEY, origin_of, peer_of, wants_json
from pbm.site.pages import answer_page, is_question
from pbm.store import Reply

PAGE_LOOK_SECONDS = 0.1
"""How long a request waits before it looks again whether the page of a new board is written."""
PAGE_SECONDS = 5
"""How long the response to a post may wait for the page of its board; then it comes without."""
MOST_KEPT = 100
"""How many answers are kept in memory for the pages that show them; one of `multiple` has up to 215 kB."""


class BoardPosts:
    """Handles what is posted on the pages of boards."""

    def __init__(self, context: WebContext) -> None:
        """Begin without answers."""
        self.context = context
        self.kept: dict[str, str] = {}
        """The last answers, by the keys of the pages that show them."""

    async def answer(self, request: Request) -> Response:
        """Show a form, with an answer if one is kept; or carry out what is posted as if it had come by mail."""
        if request.method != "POST":
            text = self.kept.get(request.query_params.get("shown", ""), "")
            return answer_form(self.context, request, text=text)
        fields = await self.context.admission.read_posted(request)
        request.state.fields = fields  # for the form on the page of an error
        address = await answering_address(self.context, request, fields)
        is_page = "known" in fields  # which is told what it lacks, and nothing else
        if is_page and is_question(fields):
            self.context.admission.count_question(request)
            player = await player_at(self.context, address, fields)
            news = await self._news(player, address, fields)
            return JSONResponse(news | await self._next_board(request, player))
        player, outcome = await self._handle(request, address, fields)
        is_repeated = outcome.word == "repeated"
        if is_repeated:  # the answer to the first post is lost; this one shows the board
            player, outcome = await self._handle(request, address, fields | {"text": "show"})
        if outcome.shown_word != "done":
            raise outcome_refusal(outcome)
        text = letters.printed(outcome.letters) or "Done; a mail says more."
        if is_page:
            is_shown = all((letter.game, letter.board) == player[:2] for letter in outcome.letters)
            answer = {"text": "" if is_shown else text, "repeated": is_repeated}
            try:
                answer |= await self._news(player, address, fields | {"text": ""})
            except Exception as why:  # the board may be damaged, but the command is done
                warn_of_page(why)
            return JSONResponse(answer | await self._next_board(request, player))
        if wants_json(request):
            answer = letters.as_one(outcome.letters)
            answer |= {"text": text, "userid": player.userid, "repeated": is_repeated}
            return JSONResponse(answer | await self._next_board(request, player))
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
        server = self.context.server
        try:
            posted = await self.context.work(incoming.posted, server, address, text, comment, key, peer_of(request))
        except Refused as why:
            raise HTTPException(410, str(why)) from why
        if posted is None:
            raise no_player(address)
        player, mail = posted
        check_page(player, fields)
        return player, await self.context.hand_in(mail)

    async def _news(self, player: Reply, address: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """What the page of a player is told, made in a process of its own. Raises TimeoutError."""
        news = await self.context.renderer.call(answer_page, player, address, fields, seconds=PAGE_SECONDS)
        return cast("dict[str, Any]", news)

    async def _next_board(self, request: Request, player: Reply) -> dict[str, Any]:
        """What a page is told of the other boards of the user of its device; nothing for one with a token."""
        if not is_by_device(request, request.state.fields):
            return {}
        return {"next": await self.context.work(devices.next_board, self.context.server, player)}

    async def guest(self, request: Request) -> Response:
        """Start a board of a new guest against a robot, and lead to its page."""
        fields = await self.context.admission.read_posted(request)
        game = fields.get("game", "").lower()
        level = fields.get("level", "").lower() or "1"
        options = fields.get("options", "").lower().split()
        peer = peer_of(request)
        begin = time.perf_counter()
        try:
            player, token = await self.context.work(
                users.begin_as_guest, self.context.server, game, level, options, origin_of(peer)
            )
        except users.Crowded as why:
            raise HTTPException(429, str(why)) from why
        except (Refused, Illegal) as why:
            raise HTTPException(422, str(why)) from why
        outcome = Outcome("command", f"{player.game} {player.board} {player.userid}: begun")
        self.context.connections.note(Entry(peer, "", outcome, took=time.perf_counter() - begin))
        page = f"{player.game}/{player.board}.html"
        if self.context.site:
            await _wait_for(Path(self.context.site, page))
        return RedirectResponse(f"{page}#{token}", 303)


async def _wait_for(page: Path) -> None:
    """Wait until a page is written, or for half as long as a response may take."""
    for _ in range(round(RESPONSE_SECONDS / 2 / PAGE_LOOK_SECONDS)):
        if await asyncio.to_thread(page.exists):
            return
        await asyncio.sleep(PAGE_LOOK_SECONDS)
