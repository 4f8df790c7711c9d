"""Commands for a pbm on another machine, over HTTP: how they are sent, and what is no answer of a pbm.

The standard library is enough, so that a command starts quickly. Redirects are not followed: a token goes to the server
that `PBM_SERVER` names, and nowhere else.
"""

import http.client
import json
import os
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Timer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pbm.disk import reason
from pbm.names import is_site

ANSWER_SECONDS = 30.0
"""How long a server has to answer, from the beginning of the connection to the end of the answer."""
LOOK_UP_SECONDS = 3.0
"""How long to wait for an answer that is useful, but not necessary."""
ROBOT_SECONDS = 50
"""How long a server is asked to wait for robots before it answers; many proxies give up after a minute."""
TRY_AGAIN_SECONDS = 0.3, 1.0
"""How long to wait after each try that may succeed the next time; the third one is the last."""
MOST_PAUSE_SECONDS = 10.0
"""A server that wants a longer break is not asked again: somebody waits for the answer."""
MOST_ANSWER_BYTES = 20_000_000
"""How long an answer may be. A page of 200 large boards in JSON has some 2 MB."""
THIS_MACHINE = re.compile(r"localhost|127(\.\d{1,3}){3}|::1", re.ASCII)
NO_SERVER = (
    "PBM_SERVER is not https://HOST, such as https://games.example; http:// is for this machine only, because nobody "
    "else may read a password on its way."
)
NOT_ONE_WORD = "PBM_TOKEN is no token: it has to be one word of ASCII."


class NoAnswer(Exception):
    """No pbm has answered. The text is one sentence, without anything secret."""

    status = 3
    """The exit status of the command."""

    def __init__(self, text: str, *, may_pass: bool = False) -> None:
        """Say why, and whether another try may succeed."""
        super().__init__(text)
        self.may_pass = may_pass


class RemoteAnswer(NamedTuple):
    """What a pbm has answered to a command."""

    code: int
    """The status of the response."""
    status: int
    """The exit status that the command has in a shell."""
    text: str
    data: Mapping[str, Any]
    """The object that ``--json`` prints; empty if the answer was asked for as text."""
    retry_after: float
    """After how many seconds the command may come again; 0 if the server says nothing about that."""

    @property
    def is_done(self) -> bool:
        """Whether the command was done."""
        return self.code == 200

    @property
    def may_pass(self) -> bool:
        """Whether nothing was done, and the same command may be done soon."""
        is_busy = self.code in {408, 503} or (self.code == 429 and self.retry_after > 0)
        return is_busy and self.retry_after <= MOST_PAUSE_SECONDS


class Client(NamedTuple):
    """A server, and what proves a user there."""

    url: str
    """The address of the server, without a slash at its end."""
    token: str = ""
    password: str = ""

    def ask(
        self,
        line: str,
        comment: str = "",
        *,
        passwords: Sequence[str] = (),
        as_json: bool = False,
        wait_seconds: int = 0,
    ) -> RemoteAnswer:
        """Have the server carry out a command, once, even if it takes three tries to learn the answer.

        *passwords* replace the hyphens in the line. If robots have to move behind the command, the answer waits for
        them for so many seconds. Raises NoAnswer.
        """
        fields = {"line": line, "comment": comment, "id": os.urandom(16).hex(), "passwords": list(passwords)}
        headers = {"Content-Type": "application/json", "Accept": "text/plain"}
        if as_json:
            headers["Accept"] = "application/json"
        if not self.token and self.url.startswith("http:"):
            headers["Pbm-From"] = "this machine"  # else passwords are refused, as from a proxy that does not say so
        if wait_seconds:
            headers["Prefer"] = f"wait={wait_seconds}"
        body = json.dumps(fields).encode()
        for pause in TRY_AGAIN_SECONDS:
            wanted_pause = 0.0
            try:
                answer = self._post(body, headers, ANSWER_SECONDS + wait_seconds)
            except NoAnswer as why:
                if not why.may_pass:
                    raise
            else:
                if not answer.may_pass:
                    return answer
                wanted_pause = answer.retry_after
            time.sleep(max(pause, wanted_pause))
        return self._post(body, headers, ANSWER_SECONDS + wait_seconds)

    def look_up(self, line: str) -> Mapping[str, Any]:
        """The answer to a command that only reads, as an object; empty if it does not come at once."""
        body = json.dumps({"line": line}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            answer = self._post(body, headers, LOOK_UP_SECONDS)
        except NoAnswer:
            return {}
        return answer.data if answer.is_done else {}

    def signed(self, userid: str) -> str:
        """What stands for userid and password in a line."""
        return "- -" if self.token else f"{userid} -"

    def _post(self, body: bytes, headers: Mapping[str, str], seconds: float) -> RemoteAnswer:
        """Post a command once. Raises NoAnswer."""
        with self.answering("POST", "/command", headers, seconds, body) as response:
            status = response.headers.get("Pbm-Status", "")
            if not re.fullmatch("[012]", status) or response.status in range(300, 400):
                raise self._no_pbm(response.status)
            if response.length is None and not response.chunked:
                raise self._no_pbm(response.status)  # nobody could see that its end is missing
            raw = response.read(MOST_ANSWER_BYTES + 1)
            if len(raw) > MOST_ANSWER_BYTES:
                raise NoAnswer(f"{self.url} answers with more than {MOST_ANSWER_BYTES // 1_000_000} MB.")
            if response.length:
                raise http.client.IncompleteRead(raw, response.length)
            text = raw.decode(errors="replace")
            data: Mapping[str, Any] = {}
            if headers["Accept"] == "application/json":
                data = self._object(text, response.status)
            wait = response.headers.get("Retry-After", "")
            retry_after = float(wait) if re.fullmatch(r"\d{1,6}", wait, re.ASCII) else 0.0
        return RemoteAnswer(response.status, int(status), text.removesuffix("\n"), data, retry_after)

    def _object(self, text: str, code: int) -> Mapping[str, Any]:
        """The object of an answer in JSON. Raises NoAnswer."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as why:
            raise self._no_pbm(code) from why
        if not isinstance(data, dict):
            raise self._no_pbm(code)
        return data

    def _no_pbm(self, code: int) -> NoAnswer:
        """The error for a response that does not come from a pbm."""
        if code in range(300, 400):
            return NoAnswer(
                f"{self.url} answers with a redirect, which is not followed; set PBM_SERVER to the address that it "
                "leads to."
            )
        # the headers may have been cut off; or a proxy says that the server behind it is being started
        may_pass = code in {200, 502, 503, 504}
        return NoAnswer(f"At {self.url} no pbm takes commands: the status is {code}.", may_pass=may_pass)

    @contextmanager
    def answering(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        seconds: float,
        body: bytes | None = None,
        most_silence: float | None = None,
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request, and yield the response, which has to be read to its end within so many seconds.

        The server may say nothing for *most_silence* seconds; None for all the time. The token goes with the request.
        Raises NoAnswer, also if the response that is read inside ends too early.
        """
        connection = self._connection(most_silence or seconds)
        is_sent = False
        is_late = False

        def cut() -> None:
            nonlocal is_late
            is_late = True
            if connection.sock:
                with suppress(OSError):  # it has just ended
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

        timer = Timer(seconds, cut)
        timer.daemon = True
        fields = {**headers, "Connection": "close"}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        try:
            timer.start()
            connection.connect()
            is_sent = True
            connection.request(method, f"{urlsplit(self.url).path}{path}", body, fields)
            yield connection.getresponse()
        except ssl.SSLCertVerificationError as why:
            raise NoAnswer(f"The certificate of {self.url} is not valid: {why.verify_message}.") from None
        except NoAnswer as why:
            if is_late:
                raise self._failure(why, is_sent=is_sent, is_late=is_late) from None
            raise
        except (OSError, http.client.HTTPException) as why:
            raise self._failure(why, is_sent=is_sent, is_late=is_late) from None
        finally:
            timer.cancel()
            connection.close()

    def _failure(self, why: Exception, *, is_sent: bool, is_late: bool) -> NoAnswer:
        """The error for a connection that has failed, perhaps after the request was sent."""
        if is_late or isinstance(why, TimeoutError):
            what = "has not answered in time"
        elif is_sent:
            what = "has ended the connection without a whole answer"
        elif isinstance(why, ssl.SSLError):
            what = "does not speak TLS as it should"
        elif isinstance(why, OSError):
            what = f"cannot be reached: {reason(why)}"
        else:
            what = "cannot be reached"
        if is_sent:
            what += ", and the command may have been done"
        return NoAnswer(f"{self.url} {what}.", may_pass=True)

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                str(parts.hostname), parts.port, timeout=seconds, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=seconds)


def from_environment() -> Client | None:
    """The server that ``PBM_SERVER`` names, and the token or the password for it; None if it names none.

    Raises NoAnswer if the variables are not in the right form. Their values are not repeated: they may be secrets in
    the wrong place.
    """
    url = os.environ.get("PBM_SERVER", "").strip().rstrip("/")
    if not url:
        return None
    if not is_site(url):
        raise NoAnswer(NO_SERVER)
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        host.encode("idna")
        _ = parts.port  # raises ValueError if it is no number of a port
    except ValueError:
        raise NoAnswer(NO_SERVER) from None
    if not host or (parts.scheme == "http" and not THIS_MACHINE.fullmatch(host)):
        raise NoAnswer(NO_SERVER)
    token = os.environ.get("PBM_TOKEN", "").strip()
    if not re.fullmatch("[!-~]*", token):
        raise NoAnswer(NOT_ONE_WORD)
    return Client(url, token, os.environ.get("PBM_PASSWORD", ""))
