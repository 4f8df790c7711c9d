"""`pbm serve` and other programs that go on while a test does: started, listened to, and stopped.

    with running(shell, *SERVE) as process:
        converse(port_of(process), mail_of("alice@players.example", "help"))

`running` goes on until the end of its block, whatever the program does; `port_of` reads where a server listens.
"""

import smtplib
import ssl
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from helpers.mail import ADDRESS
from helpers.patience import until


class Certificate(NamedTuple):
    """A certificate for localhost, which is signed by itself."""

    file: Path
    key: Path


def new_certificate(folder: Path) -> Certificate:
    """Make a certificate for two days, and its key, in a folder; needs openssl."""
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost", "-out", made.file, "-keyout", made.key]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return made


def loaded(certificate):
    """A context in which a server speaks TLS with this certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.file, certificate.key)
    return context


SERVE = "serve", "--listen=127.0.0.1:0", "--robots=0"
"""A server on a free port, and no process for robots, who have nothing to do here."""


@contextmanager
def running(shell, *args, **environment):
    """A program that goes on while the test does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pbm", *args],
        env=shell.environment | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def port_of(process):
    """The port that `pbm serve` names in its first line."""
    return int(process.stdout.readline().rpartition(":")[2])


def inbox(shell, name, at_least=1):
    """What is in a player's maildir, the oldest first, once so many mails are there."""
    folder = shell.folder / "mail" / f"{name}@players.example" / "new"
    until(lambda: len(list(folder.glob("*"))) >= at_least)
    return in_order(folder)


def in_order(folder):
    """The mails in a folder of a maildir, the oldest first."""
    return [path.read_text() for path in sorted(folder.glob("*"))]


def arrived(shell, name, text):
    """The mail to a player that has this text in it, once it is there."""
    return until(lambda: next((mail for mail in inbox(shell, name, 0) if text in mail), None))


def converse(port, *mails, recipient=ADDRESS, kind=smtplib.SMTP):
    """Hand mails in over one connection, as alice; returns for each the recipients that were refused."""
    with kind("127.0.0.1", port) as connection:
        return [connection.sendmail("alice@players.example", [recipient], raw) for raw in mails]


def send(port, raw, recipient=ADDRESS):
    """Hand in one mail, as alice; returns the recipients that were refused."""
    with smtplib.SMTP("127.0.0.1", port) as connection:
        return connection.sendmail("alice@players.example", [recipient], raw)
