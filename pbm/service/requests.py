"""What a request of the web says: from which machine it comes, its token, and what is posted with it."""

import asyncio
import json
import re
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from pbm import texts
from pbm.mail import incoming, posts
from pbm.mail.posts import Post

MOST_POSTED_BYTES = 20_000
"""How much may be posted at once."""
REQUEST_SECONDS = 10
"""How long a request may take to come in, and a connection may take requests."""
MOST_WAIT_SECONDS = 50
"""How long an answer waits for robots; many proxies give up after a minute."""
OF_THIS_MACHINE = "pbm-from", "this machine"
"""The header of a client on this machine. Without it, such a client looks like a proxy."""
LONGEST_KEY = 64
"""How many characters of the ``id`` of a post count."""
JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain"
FORM_TYPE = "application/x-www-form-urlencoded"
BEARER = {"WWW-Authenticate": "Bearer"}


# From where it comes


def peer_of(request: Request) -> str:
    """The machine that a request came from, as the proxy on this machine says."""
    return request.client.host if request.client else ""


def origin_of(host: str) -> str:
    """What counts as one machine with this address, whatever a proxy says that it is."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return incoming.network_of(str(getattr(address, "ipv4_mapped", None) or address))


def named_machine(request: Request) -> str | None:
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
        return origin_of(request.client.host)
    name, value = OF_THIS_MACHINE
    if address.is_loopback and request.client.port and request.headers.get(name) == value:
        return str(address)
    return incoming.machine_of(request.client.host)


def is_number(host: str) -> bool:
    """Whether the Host of a request is an address of IP, or this machine; a port may stand behind it."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    except ValueError:
        return False


# What its headers say


def wants_json(request: Request) -> bool:
    """Whether a program has asked, which reads JSON."""
    return JSON_TYPE in request.headers.get("accept", "")


def bearer_token(request: Request) -> str:
    """The token that comes with a request; empty if none does. Raises HTTPException."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme and scheme.lower() != "bearer":
        raise HTTPException(401, "Only a token can stand in Authorization, behind the word Bearer.", BEARER)
    if scheme and not token.strip():
        return "none"  # an empty one is wrong, and not the same as none at all
    return token.strip()


def wanted_wait(request: Request) -> int:
    """How many seconds the answer may wait for robots, as the header ``Prefer: wait=20`` says (RFC 7240)."""
    wanted = re.search(r"\bwait *= *(\d{1,4})\b", request.headers.get("prefer", ""), re.ASCII)
    if wanted is None:
        return 0
    return min(MOST_WAIT_SECONDS, int(wanted[1]))


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


# What is posted


async def read_body(request: Request) -> bytes:
    """Read what is posted. Raises HTTPException if it is too much, or takes too long."""
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


async def read_fields(request: Request) -> dict[str, str]:
    """Read the fields of a form, or of an object in JSON. Raises HTTPException."""
    body = await read_body(request)
    media_type = _media_type(request)
    if media_type not in {JSON_TYPE, FORM_TYPE}:
        raise HTTPException(415, "What is posted is a form, or JSON.")
    try:
        fields = json.loads(body) if media_type == JSON_TYPE else dict(parse_qsl(body.decode()))
    except (ValueError, RecursionError) as why:
        raise HTTPException(400, "This is no form, and no object in JSON.") from why
    if not isinstance(fields, dict):
        raise HTTPException(400, "This is no form, and no object in JSON.")
    # half of a surrogate pair, which JSON can name, is no text that we could store
    return {name: str(value).encode(errors="replace").decode() for name, value in fields.items() if value is not None}


async def read_post(request: Request) -> Post:
    """Read the command that is posted. Raises HTTPException, and Misused."""
    body = await read_body(request)
    media_type = _media_type(request)
    if media_type not in {TEXT_TYPE, JSON_TYPE}:
        raise HTTPException(415, "A command is posted as text/plain, or as JSON.")
    try:
        text = body.decode()
    except UnicodeDecodeError as why:
        raise HTTPException(400, "What is posted is no text in UTF-8.") from why
    fields = posts.read_json(text) if media_type == JSON_TYPE else posts.read_text(text)
    key = fields.key or request.headers.get("idempotency-key", "")
    if len(key) > LONGEST_KEY:
        raise HTTPException(400, f"An id has at most {LONGEST_KEY} characters.")
    return fields._replace(
        key=texts.clean(key),
        token=bearer_token(request),
        machine=named_machine(request),
        as_json=wants_json(request),
        peer=peer_of(request),
        wait_seconds=wanted_wait(request),
    )
