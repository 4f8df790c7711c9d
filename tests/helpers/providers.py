"""A provider of mailboxes that gives access tokens (OAuth 2.0), and a login at it.

    with providing() as provider:
        tokens = provider.logged_in(tmp_path / "login.json")
        tokens.use(log_in)
    assert provider.asked == ["refresh_token"]

Access tokens are named ``access-1``, ``access-2``…, refresh tokens ``refresh-1``… Each refresh token counts until a
later one was used, as at providers who change them; ``provider.refusals`` are answers to the next requests.
"""

import json
import threading
import time
from base64 import urlsafe_b64encode
from contextlib import contextmanager, suppress
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlsplit

from pbm.mail.oauth import Login, Tokens

CLIENT = "client-of-pbm"
SCOPE = "mail offline_access"


class Provider:
    """What a provider knows, and how it answers."""

    def __init__(self):
        self.port = 0
        self.secret = ""
        self.refusals = []
        self.asked = []
        self.forms = []
        self.given = 0
        self.used = 0
        self.rotates = True
        self.lifetime = 3600
        self.interval = 3
        self.is_revoked = False
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.challenge = ""
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def login(self):
        """A login at this provider, without tokens."""
        return Login(
            client=CLIENT,
            scope=SCOPE,
            token_url=f"{self.url}/token",
            device_url=f"{self.url}/device",
            browser_url=f"{self.url}/browser",
        )

    def logged_in(self, path, lasts=3600.0):
        """Tokens in a file, of which the access token *lasts* so many seconds."""
        with self.lock:
            login = self.login.with_tokens(self.tokens())._replace(expires=time.time() + lasts)
        path.write_text(json.dumps(login._asdict()))
        path.chmod(0o600)
        return Tokens(path)

    @property
    def newest(self):
        """The access token that was given last."""
        return f"access-{self.given}"

    def tokens(self):
        """New tokens."""
        self.given += 1
        answer = {"access_token": self.newest, "token_type": "Bearer", "expires_in": self.lifetime}
        if self.rotates or self.given == 1:
            answer["refresh_token"] = f"refresh-{self.given}"
        return answer

    def answer(self, path, form):
        """The status and the object with which a request is answered."""
        self.forms.append(form)
        self.asked.append(form.get("grant_type", path.strip("/")).rpartition(":")[2])
        if self.refusals:
            refusal = self.refusals.pop(0)
            if refusal:
                return refusal
        if form.get("client_id") != CLIENT or form.get("client_secret", "") != self.secret:
            return 401, {"error": "invalid_client"}
        if path == "/device":
            return 200, {
                "device_code": "the-device-code",
                "user_code": "ABCD-EFGH",
                "verification_uri": f"{self.url}/enter",
                "expires_in": 900,
                "interval": self.interval,
            }
        if path != "/token":
            return 404, {}
        if not self.is_granted(form):
            return 400, {"error": "invalid_grant", "error_description": f"{form.get('refresh_token')} has expired"}
        return 200, self.tokens()

    def is_granted(self, form):
        """Whether a request for tokens shows what it has to."""
        match form["grant_type"].rpartition(":")[2]:
            case "refresh_token":
                number = int(form["refresh_token"].removeprefix("refresh-"))
                is_good = not self.is_revoked and (not self.rotates or number >= self.used)
                self.used = max(self.used, number)
                return is_good
            case "device_code":
                return form["device_code"] == "the-device-code"
            case "authorization_code":
                proof = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
                return form["code"] == "the-code" and proof == self.challenge
        return False

    def browse(self, address):
        """Where the browser of a user who agrees at an address ends."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert (asked["response_type"], asked["client_id"], asked["scope"]) == ("code", CLIENT, SCOPE)
        assert asked["code_challenge_method"] == "S256"
        self.challenge = asked["code_challenge"]
        return f"{asked['redirect_uri']}?state={asked['state']}&code=the-code&scope={SCOPE.split(maxsplit=1)[0]}"


class Answering(BaseHTTPRequestHandler):
    """A request to a provider."""

    def do_POST(self):
        provider = self.server.provider
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        with provider.lock:
            status, data = provider.answer(self.path, form)
        provider.may_answer.wait()
        body = json.dumps(data).encode() if isinstance(data, dict) else data
        with suppress(OSError):  # the process that asked was killed meanwhile
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def providing():
    """A provider on a free port."""
    provider = Provider()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        server.provider = provider
        provider.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield provider
        finally:
            provider.may_answer.set()
            server.shutdown()
            thread.join()
