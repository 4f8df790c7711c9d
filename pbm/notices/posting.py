"""One notice goes out: to a webhook by the standard library, or to another target by Apprise.

A process that calls this has called `guard.guard_this_process` before. No problem names a URL, or a part of one.
"""

import hmac
import http.client
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from pbm.notices.guard import NotPublic

SOCKET_SECONDS = 5.0
"""How long one step of a connection may take."""
INNER_TARGET = "it leads to an address that is not public"


class Unposted(Exception):
    """A notice could not be sent. The text says why, without a secret."""


def post_to_webhook(url: str, secret: str, number: int, message: Mapping[str, Any]) -> None:
    """Post a notice as JSON, signed with the secret. Redirections are not followed. Raises Unposted."""
    parts = urlsplit(url)
    path = parts.path or "/"
    if parts.query:
        path += f"?{parts.query}"
    body = json.dumps(message).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "pbm",
        "Pbm-Notice": str(number),
        "Pbm-Signature": f"sha256={hmac.digest(secret.encode(), body, 'sha256').hex()}",
    }
    # it does not look at proxies, which would connect to any address
    connection = http.client.HTTPSConnection(
        parts.hostname or "", parts.port, timeout=SOCKET_SECONDS, context=ssl.create_default_context()
    )
    try:
        connection.request("POST", path, body, headers)
        status = connection.getresponse().status
    except NotPublic as error:
        raise Unposted(INNER_TARGET) from error
    except ssl.SSLError as error:
        raise Unposted("its certificate is not good") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unposted(f"it cannot be reached ({type(error).__name__})") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise Unposted(f"it answered with the status {status}")


def post_by_apprise(url: str, text: str) -> None:
    """Send a text by Apprise. Raises Unposted."""
    from apprise import Apprise, AppriseAsset  # needed in this process alone

    asset = AppriseAsset(
        app_id="pbm",
        app_desc="play by mail",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
        storage_mode="memory",
    )
    plugin = Apprise.instantiate(url, asset=asset)
    if plugin is None:
        raise Unposted("Apprise does not understand the URL")
    if len(plugin) > 1:  # or one code would go to many who have not asked for it
        raise Unposted("the URL names several recipients, and may name one")
    try:
        is_sent = plugin.notify(body=text, title="pbm")
    except Exception as error:  # whatever a plugin of Apprise raises
        raise Unposted(f"Apprise failed ({type(error).__name__})") from error
    if not is_sent:
        raise Unposted("Apprise could not send it")
