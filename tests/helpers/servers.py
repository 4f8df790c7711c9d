"""`pbm serve` and other programs that go on while a test does: started, listened to, and stopped.

    with running(shell, *SERVE) as process:
        converse(port_of(process), mail_of("alice@players.example", "help"))

`running` goes on until the end of its block, whatever the program does; `port_of` reads where a server listens.
"""

import subprocess
from pathlib import Path
from typing import NamedTuple


class Certificate(NamedTuple):
    """A certificate for localhost, which vouches for itself."""

    file: Path
    key: Path


def new_certificate(folder: Path) -> Certificate:
    """Make a certificate for two days, and its key, in a folder; needs openssl."""
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost", "-out", made.file, "-keyout", made.key]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return made
