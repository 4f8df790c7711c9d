"""Access tokens for a mailbox that takes no passwords (OAuth 2.0, RFC 6749): kept in a file, and renewed.

`pbm mail login` makes the file, as `pbm.mail.consent` says. Any number of processes use it at once.
"""

import json
import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from pbm.disk import locked, reason, sync, whole
from pbm.texts import one_line, without

PROVIDER_SECONDS = 30
"""Seconds for which a provider may say nothing when it was asked something."""
LOCK_PATIENCE_SECONDS = 2 * PROVIDER_SECONDS
"""Seconds for which a process waits until another one has renewed the tokens."""
MOST_PROVIDER_BYTES = 100_000
"""How many bytes of an answer of a provider are read."""
RENEWED_EARLY_SECONDS = 60
"""How many seconds before its end a token is renewed: it has to last until a mail server has read it."""
USUAL_LIFETIME_SECONDS = 3600
"""How long a token lasts if its provider does not say it."""
MOST_COMPLAINT = 200
"""How many characters of what a provider or a mail server complains of are kept."""
LOG_IN_AGAIN = "the mailbox asks to be logged in again, by `pbm mail login`"
PUBLIC_FIELDS = {"client_id", "grant_type", "redirect_uri", "scope"}
"""The fields of our requests that are no secrets."""


class LoginProblem(OSError):
    """Why there is no access to a mailbox now. The text is for the operator, and holds no token."""


class ProviderRefusal(LoginProblem):
    """A provider refuses a request."""

    def __init__(self, code: str, text: str) -> None:
        """Say why; *code* is the word of RFC 6749 or 8628 for it, such as ``invalid_grant``."""
        super().__init__(text)
        self.code = code


class TokenRefused(Exception):
    """A mail server refuses an access token. The text is what the server says."""


class Login(NamedTuple):
    """A login at a provider, as it stands in the file."""

    client: str
    """The identifier under which the operator has registered pbm with the provider."""
    scope: str
    """What pbm may do: words with blanks between them."""
    token_url: str
    device_url: str = ""
    """Where a code for the device flow comes from (RFC 8628); empty if a browser is sent to *browser_url*."""
    browser_url: str = ""
    secret: str = ""
    """What comes with the identifier; empty if there is none."""
    refresh_token: str = ""
    access_token: str = ""
    expires: float = 0.0
    """When the access token ends, in seconds since 1970."""
    complaint: str = ""
    """Why the operator has to log in again; empty if they need not."""

    @property
    def provider(self) -> str:
        """The host that gives tokens."""
        return str(urlsplit(self.token_url).hostname)

    def is_usable(self, refused: str) -> bool:
        """Whether the access token does not end soon, and is not one that a mail server has *refused*."""
        ends_soon = time.time() >= self.expires - RENEWED_EARLY_SECONDS
        return not ends_soon and self.access_token != refused

    def ask(self, url: str, **fields: str) -> Mapping[str, Any]:
        """What the provider answers to a form that names the client. Raises LoginProblem."""
        fields["client_id"] = self.client
        if self.secret:
            fields["client_secret"] = self.secret
        try:
            return ask_provider(url, fields)
        except ProviderRefusal as why:
            secrets = [value for name, value in fields.items() if name not in PUBLIC_FIELDS]
            raise ProviderRefusal(why.code, without(str(why), secrets)) from None

    def with_tokens(self, answer: Mapping[str, Any]) -> "Login":
        """The login with the tokens in an answer. The refresh token stays if there is no new one.

        Raises LoginProblem if there is no access token.
        """
        access_token = answer.get("access_token")
        if not isinstance(access_token, str) or not access_token.isascii():
            raise LoginProblem(f"{self.provider} has answered without an access token")
        refresh_token = answer.get("refresh_token")
        if not isinstance(refresh_token, str):
            refresh_token = self.refresh_token
        lifetime = answer.get("expires_in")
        if not isinstance(lifetime, int | float):
            lifetime = USUAL_LIFETIME_SECONDS
        return self._replace(
            access_token=access_token,
            refresh_token=refresh_token,
            expires=time.time() + lifetime,
            complaint="",
        )

    def renewed(self) -> "Login":
        """The login with a new access token from the provider. Raises LoginProblem."""
        answer = self.ask(self.token_url, grant_type="refresh_token", refresh_token=self.refresh_token)
        return self.with_tokens(answer)


def ask_provider(url: str, fields: Mapping[str, str]) -> Mapping[str, Any]:
    """What a provider answers to a form. Raises ProviderRefusal if it refuses, or else LoginProblem."""
    from http.client import HTTPException  # with the others, 8 ms
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    host = urlsplit(url).hostname
    request = Request(url, urlencode(fields).encode(), {"Accept": "application/json"})
    try:
        with urlopen(request, timeout=PROVIDER_SECONDS) as response:
            return _object(response.read(MOST_PROVIDER_BYTES))
    except HTTPError as refusal:
        with refusal:
            answer = _object(refusal.read(MOST_PROVIDER_BYTES))
        code = answer.get("error")
        is_busy = refusal.code == HTTPStatus.TOO_MANY_REQUESTS
        may_pass = is_busy or refusal.code >= HTTPStatus.INTERNAL_SERVER_ERROR
        if may_pass or not isinstance(code, str):
            raise LoginProblem(f"{host} answers with status {refusal.code}") from None
        text = one_line(f"{code}: {answer.get('error_description') or 'it says no more'}")
        raise ProviderRefusal(code, text[:MOST_COMPLAINT]) from None
    except URLError as why:
        cause = reason(why.reason) if isinstance(why.reason, OSError) else why.reason
        raise LoginProblem(f"{host} cannot be reached: {cause}") from None
    except (OSError, HTTPException) as why:
        raise LoginProblem(f"{host} has not answered: {why or type(why).__name__}") from None


def _object(raw: bytes) -> Mapping[str, Any]:
    """The object in a text of JSON; empty if there is none."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _read_login(data: Any) -> Login:
    """The login in a value of JSON. Raises TypeError if there is none."""
    login = Login(**data)
    kinds = [type(value) for value in login]
    if kinds != [type(value) for value in Login("", "", "")]:
        raise TypeError
    return login


@dataclass(frozen=True)
class Tokens:
    """The access tokens of a mailbox, in a file that its owner alone can read.

    Its methods raise LoginProblem if there is no access.
    """

    path: Path

    def use(self, log_in: Callable[[str], object]) -> None:
        """Log in with an access token, by a function that raises TokenRefused if a mail server refuses it.

        Then it is called once more, with a new token. If that is refused, too, the operator has to log in again.
        """
        token = self._current()
        try:
            log_in(token)
        except TokenRefused:
            newer = self._current(refused=token)
            try:
                log_in(newer)
            except TokenRefused as why:
                raise self._complaint(str(why)) from None
        self._keep_complaint("")

    def problem(self) -> str:
        """Why there is no access, if this machine knows of a problem; else empty."""
        try:
            complaint = self.read().complaint
        except LoginProblem as why:
            return str(why)
        return f"{LOG_IN_AGAIN}: {complaint}" if complaint else ""

    def read(self) -> Login:
        """The login in the file."""
        try:
            with self.path.open(encoding="utf-8") as file:
                mode = os.fstat(file.fileno()).st_mode
                login = _read_login(json.load(file))
        except FileNotFoundError:
            raise LoginProblem(f"there is no login in {self.path} yet; `pbm mail login` makes it") from None
        except OSError as why:
            raise LoginProblem(f"{self.path} cannot be read: {reason(why)}") from None
        except (TypeError, ValueError, RecursionError):
            raise LoginProblem(f"{self.path} holds no login; `pbm mail login` makes one") from None
        if mode & 0o077:
            raise LoginProblem(
                f"others can read or write {self.path}, so it is not used; make it anew by `pbm mail login`"
            )
        return login

    def replace(self, change: Callable[[], Login]) -> Login:
        """Store the login that *change* makes, alone among all processes. Returns it when it is on the disk.

        The file is made first, so that tokens are not renewed which cannot be stored.
        """
        try:
            with (
                locked(self.path.with_name(f"{self.path.name}.lock"), LOCK_PATIENCE_SECONDS),
                whole(self.path) as copy,
            ):
                login = change()
                copy.write_text(json.dumps(login._asdict(), indent=1), encoding="utf-8")
                sync(copy)
                copy.rename(self.path)
                sync(self.path.absolute().parent)
                return login
        except LoginProblem:
            raise
        except OSError as why:
            raise LoginProblem(f"{self.path} cannot be written: {reason(why)}") from None

    def _current(self, refused: str = "") -> str:
        """An access token that does not end soon, and is not the one that was *refused*."""

        def renewed() -> Login:
            login = self.read()  # another process may have renewed it meanwhile
            return login if login.is_usable(refused) else login.renewed()

        login = self.read()
        if login.is_usable(refused):
            return login.access_token
        try:
            return self.replace(renewed).access_token
        except ProviderRefusal as why:
            raise self._complaint(str(why)) from None

    def _complaint(self, text: str) -> LoginProblem:
        """The error for the operator, who has to log in again. It is kept for `pbm status`."""
        login = self.read()
        secrets = [login.access_token, login.refresh_token, login.secret]
        kept = one_line(without(text, secrets))[:MOST_COMPLAINT]
        self._keep_complaint(kept)
        return LoginProblem(f"{LOG_IN_AGAIN}: {kept}")

    def _keep_complaint(self, text: str) -> None:
        """Write into the file why the operator has to log in again, or by an empty text that they need not."""
        if self.read().complaint != text:
            self.replace(lambda: self.read()._replace(complaint=text))


class Exchange(NamedTuple):
    """How an access token is shown to a mail server, by SASL."""

    mechanism: str
    answers: tuple[str, str]
    """What is said first, and then to a server that explains in JSON why it is about to refuse."""


def exchange(offered: Collection[str], user: str, host: str, port: int, token: str) -> Exchange:
    """How a *user* shows an access token to a mail server that *offers* these mechanisms. Raises LoginProblem."""
    if not user.isascii():
        raise LoginProblem("a user of a mailbox with access tokens has a name in ASCII")
    if "XOAUTH2" in offered:
        return Exchange("XOAUTH2", (f"user={user}\1auth=Bearer {token}\1\1", ""))
    if "OAUTHBEARER" in offered:  # RFC 7628, where a comma ends the name
        name = user.replace("=", "=3D").replace(",", "=2C")
        first = f"n,a={name},\1host={host}\1port={port}\1auth=Bearer {token}\1\1"
        return Exchange("OAUTHBEARER", (first, "\1"))
    raise LoginProblem(f"{host} takes no access tokens: it offers neither XOAUTH2 nor OAUTHBEARER")
