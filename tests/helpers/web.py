"""A server with pages: what it answers to a browser, and what programs post.

    with serving(shell) as server:
        status, headers, page = server.ask("GET", "/")

`Served.submit` posts a form as a browser does, and `Served.post` as a program that wants JSON.
"""

import http.client
import json
import smtplib
import subprocess
import sys
from contextlib import closing, contextmanager
from typing import NamedTuple
from urllib.parse import urlencode

from pbm.access import tokens
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.site.pages import POLICY
from pbm.store import Store

from helpers.database import sql
from helpers.mail import ADDRESS
from helpers.shell import Shell

AS_JSON = {"Accept": "application/json"}
FORM = "application/x-www-form-urlencoded"
SECURE = {
    "content-security-policy": f"{POLICY}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}.items()
"""The headers of each response."""


class Served(NamedTuple):
    """A running server."""

    shell: Shell
    process: subprocess.Popen
    port: int
    mail_port: int

    def ask(self, method, path, body=None, **headers):
        """The status, the headers and the body of a response."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            response = connection.getresponse()
            assert {*SECURE} <= {*response.headers.items()}
            return response.status, response.headers, response.read().decode()

    def submit(self, fields, path="/answer", **headers):
        """The status, the headers and the body of the response to a form."""
        return self.ask("POST", path, urlencode(fields), Content_Type=FORM, **headers)

    def post(self, path="/answer", headers=AS_JSON, **fields):
        """The status of what is posted, and the object in the response."""
        status, _, body = self.submit(fields, path, **headers)
        return status, json.loads(body)

    def token(self, name="alice", board="101"):
        """With what a user answers on a board."""
        return token_of(self.shell, name, board)

    def mail(self, sender, raw, recipient=ADDRESS):
        """Have the server handle a mail."""
        with smtplib.SMTP("127.0.0.1", self.mail_port) as smtp:
            smtp.sendmail(sender, [recipient], raw)

    def moves(self, board="101"):
        """The turns that are stored of a board."""
        query = "SELECT text FROM turns WHERE board = ? ORDER BY number"
        return [text for (text,) in sql(self.shell.folder / "pbm.db", query, board)]


def token_of(shell, name, board):
    """With what a user answers on a board of Symple; it stands in their mails and on their page."""
    with Store(shell.folder / "pbm.db") as store, store.writing():
        return tokens.token_of(tokens.reply_address(Server(store, ADDRESS, Passwords()), "symple", board, name))


def shell_elsewhere(web, folder, **settings):
    """A shell on another machine, which sends its commands to a server; it has no database."""
    folder.mkdir(exist_ok=True)
    shell = Shell(folder)
    shell.environment |= {"PBM_SERVER": f"http://127.0.0.1:{web.port}", "PBM_DB": str(folder / "none.db"), **settings}
    return shell


@contextmanager
def serving(shell, *args, **settings):
    """Run `pbm serve` with a web server; what it logs goes to a file."""
    command = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0", "--web=127.0.0.1:0", "--robots=0", *args]
    with (shell.folder / "log").open("a") as log:
        process = subprocess.Popen(
            command, env=shell.environment | settings, stdout=subprocess.PIPE, stderr=log, text=True
        )
    with process:
        try:
            web, mail = (int(process.stdout.readline().rpartition(":")[2]) for _ in range(2))
            yield Served(shell, process, web, mail)
        finally:
            process.terminate()
