"""What may be posted on the web: nothing from a page of another site, and only so much in a minute."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from pbm.access import tokens
from pbm.mail import incoming, posts
from pbm.mail.posts import Post
from pbm.refusals import TooMany
from pbm.service.requests import is_number, named_machine, peer_of, read_fields

MOST_POSTS_A_MINUTE = 120
"""How often a peer may post. Our own proxy, which brings what others post, has no limit."""
MOST_QUESTIONS_A_MINUTE = 300
"""How often a peer's pages may ask for news or a preview; each tap of a turn asks for one."""
TOO_MANY_POSTS = "There are too many posts; please wait for a minute."
WAIT_A_MINUTE = {"Retry-After": "60"}


class Admission:
    """Counts what is posted in a minute, and knows the addresses of this site."""

    def __init__(self, urls: Iterable[str]) -> None:
        """Begin without posts. A page of this site has one of these *urls*."""
        split = map(urlsplit, urls)
        self.origins = {url.netloc: f"{url.scheme}://{url.netloc}" for url in split}
        self.counts: Counter[str] = Counter()

    async def read_posted(self, request: Request) -> dict[str, str]:
        """Admit a post, and read its fields. Raises HTTPException."""
        self.admit(request)
        return await read_fields(request)

    def admit(self, request: Request) -> None:
        """Check that no page of another site has posted this, and that its peer may post. Raises HTTPException."""
        self.check_origin(request, "This was not posted from a page of this site.")
        machine = incoming.machine_of(peer_of(request))
        if machine and not self._count(machine, 1):
            raise HTTPException(429, TOO_MANY_POSTS, WAIT_A_MINUTE)

    def count_question(self, request: Request) -> None:
        """Count a post that was admitted as a question, apart from answers and commands. Raises HTTPException."""
        machine = incoming.machine_of(peer_of(request))
        if not machine:
            return
        self.counts[machine] -= 1
        if not self._count(f"questions {machine}", 1, MOST_QUESTIONS_A_MINUTE):
            raise HTTPException(429, TOO_MANY_POSTS, WAIT_A_MINUTE)

    def count_stream(self, request: Request) -> None:
        """Count a stream of events that a program opens. Raises HTTPException."""
        machine = named_machine(request)
        if machine and not self._count(f"events {machine}", 1):
            raise HTTPException(429, TOO_MANY_POSTS, WAIT_A_MINUTE)

    def count_lines(self, post: Post) -> None:
        """Count the lines of commands for their token, and for their machine. Raises TooMany."""
        count = posts.count_lines(post)
        holders = [tokens.digest(post.token)] if post.token else []
        if post.machine:
            holders.append(post.machine)
        for holder in holders:
            if not self._count(holder, count):
                raise TooMany(TOO_MANY_POSTS, 60)

    def _count(self, holder: str, count: int, most: int = MOST_POSTS_A_MINUTE) -> bool:
        """Count what somebody posts in this minute. Returns False if it is too much."""
        if not self.counts:
            asyncio.get_running_loop().call_later(60, self.counts.clear)
        self.counts[holder] += count
        return self.counts[holder] <= most

    def check_origin(self, request: Request, refusal: str) -> None:
        """Check that no page of another site has sent this. Raises HTTPException with that *refusal*."""
        if not self._is_from_this_site(request):
            raise HTTPException(403, refusal)

    def _is_from_this_site(self, request: Request) -> bool:
        """Whether no page of another site has posted this, as the browser says; other programs say nothing.

        The name that was asked for proves nothing: the owner of any name can let it lead here (DNS rebinding).
        """
        fetch_site = request.headers.get("sec-fetch-site")
        if fetch_site not in {None, "same-origin", "none"}:
            return False
        origin = request.headers.get("origin")
        if origin is None:
            return True
        host = request.headers.get("host", "")
        if origin == "null" and fetch_site == "same-origin":  # a form without a script, because of our Referrer-Policy
            return host in self.origins or is_number(host)
        scheme, _, named = origin.partition("://")
        if named in self.origins:
            return origin == self.origins[named]
        # without a name nobody can rebind it: this page was fetched from here
        return scheme == "http" and named == host and is_number(host)
