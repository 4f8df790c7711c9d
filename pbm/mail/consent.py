"""How the owner of a mailbox lets pbm in, in a browser on any machine: by the device flow, or by a pasted address."""

import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from pbm.client import THIS_MACHINE
from pbm.mail.oauth import Login, LoginProblem, ProviderRefusal
from pbm.texts import one_line

PROVIDERS: Mapping[str, Login] = {
    # Google's device flow does not give access to mail
    "google": Login(
        client="",
        scope="https://mail.google.com/",
        token_url="https://oauth2.googleapis.com/token",
        browser_url="https://accounts.google.com/o/oauth2/v2/auth",
    ),
    "microsoft": Login(
        client="",
        scope="https://outlook.office.com/IMAP.AccessAsUser.All https://outlook.office.com/SMTP.Send offline_access",
        token_url="https://login.microsoftonline.com/common/oauth2/v2.0/token",
        device_url="https://login.microsoftonline.com/common/oauth2/v2.0/devicecode",
    ),
}
"""The providers that are known by name, each as a login without a client."""
CODE_PAUSE_SECONDS = 5.0
"""How often a provider is asked whether its user has agreed, if it does not say how often (RFC 8628, 3.2)."""
SLOWER_SECONDS = 5.0
"""By how much longer the pauses become each time that a provider wants to be asked less often (3.5)."""
CODE_SECONDS = 900.0
"""How long a code counts if the provider does not say it."""
REDIRECT_URL = "http://localhost:53682/"
"""Where a browser is sent at the end. Nobody listens there: the user copies the address, so any machine will do."""
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def is_safe(url: str) -> bool:
    """Whether secrets may be sent to a URL: it is encrypted, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and THIS_MACHINE.fullmatch(host) is not None)


def log_in(login: Login, show: Callable[[str], object], read_line: Callable[[], str]) -> Login:
    """Log in: the user agrees in a browser. Returns the login with tokens. Raises LoginProblem."""
    if login.device_url:
        return log_in_by_device(login, show)
    return log_in_by_browser(login, show, read_line)


def log_in_by_device(
    login: Login, show: Callable[[str], object], wait: Callable[[float], object] = time.sleep
) -> Login:
    """Log in by a code that the user enters at the provider (RFC 8628); *show* tells them the code.

    Raises LoginProblem.
    """
    begun = login.ask(login.device_url, scope=login.scope)
    url = _text(login, begun, "verification_uri")
    user_code = _text(login, begun, "user_code")
    device_code = _text(login, begun, "device_code")
    show(f"Open {one_line(url)} in a browser, on any machine, and enter the code {one_line(user_code)}")
    pause = _number(begun, "interval", CODE_PAUSE_SECONDS)
    end = time.monotonic() + _number(begun, "expires_in", CODE_SECONDS)
    while time.monotonic() < end:
        wait(pause)
        try:
            tokens = login.ask(login.token_url, grant_type=DEVICE_GRANT, device_code=device_code)
        except ProviderRefusal as why:
            if why.code == "expired_token":
                break
            if why.code == "slow_down":
                pause += SLOWER_SECONDS
            elif why.code != "authorization_pending":
                raise
        except LoginProblem:  # it cannot be reached for now
            pause += SLOWER_SECONDS
        else:
            return _completed(login, tokens)
    raise LoginProblem("nobody has entered the code in time; begin again")


def log_in_by_browser(login: Login, show: Callable[[str], object], read_line: Callable[[], str]) -> Login:
    """Log in by the address at which the user's browser ends, which they paste (RFC 8252, with the proof of RFC 7636).

    *show* tells them what to do, and *read_line* reads the address. Raises LoginProblem.
    """
    state = token_urlsafe()
    verifier = token_urlsafe(64)
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
    request = {
        "response_type": "code",
        "client_id": login.client,
        "redirect_uri": REDIRECT_URL,
        "scope": login.scope,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "access_type": "offline",  # without these two, Google gives no refresh token
        "prompt": "consent",
    }
    show("Open this address in a browser, on any machine, and log in to the mailbox:")
    show(f"{login.browser_url}?{urlencode(request)}")
    show(f"At the end the browser finds no page at {REDIRECT_URL}. Paste the whole address of that page here:")
    try:
        answer = parse_qs(urlsplit(read_line().strip()).query)
    except ValueError:
        answer = {}
    if "error" in answer:
        raise LoginProblem(f"{login.provider} refuses: {one_line(answer['error'][0])}")
    if "code" not in answer:
        raise LoginProblem("that is not the address of the page at which the browser ends; begin again")
    if answer.get("state") != [state]:
        raise LoginProblem("that address belongs to another login; begin again")
    tokens = login.ask(
        login.token_url,
        grant_type="authorization_code",
        code=answer["code"][0],
        redirect_uri=REDIRECT_URL,
        code_verifier=verifier,
    )
    return _completed(login, tokens)


def _completed(login: Login, answer: Mapping[str, Any]) -> Login:
    """The login with the tokens in an answer. Raises LoginProblem if they cannot be renewed."""
    done = login._replace(refresh_token="").with_tokens(answer)
    if not done.refresh_token:
        raise LoginProblem(f"{login.provider} gives no refresh token; the scope may lack a word such as offline_access")
    return done


def _text(login: Login, answer: Mapping[str, Any], name: str) -> str:
    """A text in an answer. Raises LoginProblem if it is missing."""
    value = answer.get(name)
    if not isinstance(value, str) or not value:
        raise LoginProblem(f"{login.provider} has answered without a {name}")
    return value


def _number(answer: Mapping[str, Any], name: str, default: float) -> float:
    """A number in an answer, or the default if it is missing."""
    value = answer.get(name)
    return value if isinstance(value, int | float) else default
