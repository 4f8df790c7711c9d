"""Commands that are posted, of a program to `/command` or of a page: admitted, proved, and carried out as mails are."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from operator import methodcaller

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pbm.mail import posts
from pbm.mail.incoming import Outcome, Printed
from pbm.mail.posts import Post
from pbm.refusals import Refused, TooMany
from pbm.robot_players import tasks
from pbm.service.context import PRIVATE, WebContext
from pbm.service.requests import BEARER, JSON_TYPE, TEXT_TYPE, read_post, wants_json

MOST_HASHING = 20
"""How many posts wait for argon2, which checks passwords in a thread of its own."""
HASHING_WAIT = 5
"""After how many seconds a post may come again that found too many waiting."""
MOST_WAITING_ANSWERS = 30
"""How many answers wait for robots; others come at once. Each keeps a connection open."""
ROBOT_LOOK_SECONDS = 0.1
"""How long an answer waits before it looks again whether the robots have moved."""
REFUSAL_SECONDS = 0.5
"""How long a wrong password or token, and what is too much, waits for its answer. While 20 machines post such things
one behind the other, others wait 1.2 times as long as usual; without this delay, 15 times."""


class PostedCommands:
    """Carries out commands that are posted."""

    def __init__(self, context: WebContext) -> None:
        """Begin without commands."""
        self.context = context
        self.argon2_thread = ThreadPoolExecutor(1)
        self.hashing = 0
        """How many posts wait for argon2."""
        self.waiting = 0
        """How many answers wait for robots."""
        self.is_closing = False

    def close(self) -> None:
        """Let no answer wait for robots any longer."""
        self.is_closing = True

    async def command(self, request: Request) -> Response:
        """Carry out a command, and print its answer as a shell does. Who guesses, or posts too much, has to wait."""
        response = await self._response(request)
        if response.status_code in {401, 429}:
            await asyncio.sleep(REFUSAL_SECONDS)
        return response

    async def _response(self, request: Request) -> Response:
        """The response to a command that is posted. Raises HTTPException."""
        self.context.admission.check_origin(request, "This was posted from a page of another site.")
        try:
            post = await read_post(request)
            outcome, printed = await self.carry_out(post)
        except Refused as why:
            return printed_response(request, posts.refusal_printed(why, str(why), str(why)))
        if outcome.waiting and self.waiting < MOST_WAITING_ANSWERS:
            printed = await self._answer_after_robots(outcome, post.wait_seconds)
        return printed_response(request, printed)

    async def carry_out(self, post: Post) -> tuple[Outcome, Printed]:
        """Carry out a command. Returns the outcome, and its answer. Raises Refused, also as TooMany; HTTPException."""
        self.context.admission.count_lines(post)
        await self._check_passwords(post)
        outcome = await self.context.hand_in(post)
        if outcome.printed is None:  # it has failed, or takes too long
            raise HTTPException(503, "This could not be done; please try again later.", {"Retry-After": "10"})
        return outcome, outcome.printed

    async def _check_passwords(self, post: Post) -> None:
        """Run argon2 for a post in its own thread, where nobody else waits for it. Raises Refused, also as TooMany."""
        server = self.context.server
        hashing = await self.context.work(posts.hashing_of, server, post)
        if not any(hashing):
            return
        if self.hashing >= MOST_HASHING:
            raise TooMany("Too many passwords are being checked; please try again in some seconds.", HASHING_WAIT)
        self.hashing += 1
        computing = asyncio.wrap_future(self.argon2_thread.submit(posts.compute_hashes, server, hashing))
        computing.add_done_callback(self._end_hashing)
        await asyncio.shield(computing)

    def _end_hashing(self, _: object) -> None:
        self.hashing -= 1

    async def _answer_after_robots(self, outcome: Outcome, seconds: int) -> Printed:
        """The answer to a command when the robots have moved that have to move behind it, or after so many seconds."""
        work = self.context.work
        self.waiting += 1
        try:
            for _ in range(round(seconds / ROBOT_LOOK_SECONDS)):
                is_awaited = await work(tasks.are_awaited, outcome.waiting)
                if self.is_closing or not is_awaited:
                    break
                await asyncio.sleep(ROBOT_LOOK_SECONDS)
        finally:
            self.waiting -= 1
        return posts.printed_answers(await work(tasks.answers_after_robots, outcome.waiting, outcome.letters))


def printed_response(request: Request, printed: Printed) -> Response:
    """The response with the answer to a command."""
    headers = {"Pbm-Status": str(printed.data.get("status", 0)), **PRIVATE}
    if printed.code == 401:
        headers |= BEARER
    if printed.wait:
        headers["Retry-After"] = str(ceil(printed.wait))
    if wants_json(request):
        body = json.dumps(printed.data, default=methodcaller("isoformat"))
        return Response(f"{body}\n", printed.code, headers, JSON_TYPE)
    return Response(f"{printed.text}\n", printed.code, headers, TEXT_TYPE)
