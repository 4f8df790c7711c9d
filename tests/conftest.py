"""What many tests need: a server in this process, and one that is really running."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pbm.commands import root
from pbm.grammar import Front, run
from pbm.letters import Letter
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.session import Session
from pbm.store import Mail, Store

if TYPE_CHECKING:
    from contract import Members

ADDRESS = "pbm@pbm.example"
PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "carol": "carol-secret"}


class Club:
    """A server in this process, with a clock that stands still until it is told to move, and secrets that repeat."""

    def __init__(self, path: Path) -> None:
        self.time = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.made = 0
        self.store = Store(path)
        self.server = Server(self.store, ADDRESS, Passwords(), lambda: self.time, self.random_bytes)

    def random_bytes(self, count: int) -> bytes:
        self.made += 1
        return self.made.to_bytes(count)

    def pass_time(self, **parts: int) -> None:
        self.time += timedelta(**parts)

    def say(self, line: str, comment: str = "", sender: str | None = None) -> list[Letter]:
        """Give a command as a shell does, or by mail if there is a sender."""
        session = Session(self.server, sender, comment)
        with self.store.transaction() if sender else nullcontext():  # as a mail is handled
            return run(root, [line], Front(lambda: session))

    def text(self, line: str) -> str:
        """What a command prints in a shell."""
        return "\n".join(letter.text for letter in self.say(line))

    def signed_up(self, *names: str) -> None:
        for name in names:
            self.say(f"signup {name} {PASSWORDS[name]} {name}@players.example")

    def move(self, name: str, move: str, board: str = "101", comment: str = "") -> list[Letter]:
        return self.say(f"spiro move {board} {name} {PASSWORDS[name]} {move}", comment)

    def mails(self, name: str | None = None) -> list[Mail]:
        """The mails in the outbox, or those of them to one user."""
        return [mail for mail in self.store.mails() if name in (None, mail.userid)]


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    club = Club(tmp_path / "pbm.db")
    yield club
    club.store.close()


@pytest.fixture
def pair(club: Club) -> Club:
    """alice and bob on board 101 of small Spiro, two pieces each, carol looking on; alice throws 5, then bob 4 2."""
    club.signed_up("alice", "bob", "carol")
    club.made = 12  # a secret that makes these dice
    club.say("spiro challenge -small -pieces=2 alice bob")
    return club


class Shell:
    """Programs started as a user starts them, on a database of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PBM_")
        } | {"PBM_DB": str(folder / "pbm.db"), "PBM_ADDRESS": ADDRESS}  # fmt: skip

    def run(self, *args: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `pbm` with these arguments; no traceback is ever seen."""
        raw = stdin if isinstance(stdin, bytes) else stdin.encode()
        command = [sys.executable, "-m", "pbm", *args]
        done = subprocess.run(
            command, input=raw, capture_output=True, env=self.environment | environment, check=False, timeout=60
        )
        out, err = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
        assert "Traceback" not in out + err
        return subprocess.CompletedProcess(command, done.returncode, out, err)

    @contextmanager
    def serving(self, *args: str) -> Iterator[int]:
        """Run `pbm serve` on a free port of the loopback."""
        command = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0", *args]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = process.stdout.readline() if process.stdout else ""
                yield int(line.rpartition(":")[2])
            finally:
                process.terminate()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


class Certificate(NamedTuple):
    """A certificate for localhost, which vouches for itself."""

    file: Path
    key: Path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-addext", "subjectAltName=DNS:localhost", "-out", made.file, "-keyout", made.key]
    subprocess.run([*command, *files], check=True, capture_output=True)
    return made


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Passwords]:
    """A database in which alice, bob, carol and dora are signed up."""
    from contract import found

    path = tmp_path_factory.mktemp("founded") / "pbm.db"
    return path, found(path)


@pytest.fixture
def four(founded: tuple[Path, Passwords], tmp_path: Path) -> Iterator["Members"]:
    """The four of them, in a shell."""
    yield from _members(founded, tmp_path, "shell")


@pytest.fixture(params=["shell", "mail"])
def both_ways(founded: tuple[Path, Passwords], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator["Members"]:
    """The four of them, who give their commands in a shell, and in another run of the test by mail."""
    yield from _members(founded, tmp_path, request.param)


@pytest.fixture
def by_mail(founded: tuple[Path, Passwords], tmp_path: Path) -> Iterator["Members"]:
    """The four of them, by mail."""
    yield from _members(founded, tmp_path, "mail")


def _members(founded: tuple[Path, Passwords], folder: Path, way: str) -> Iterator["Members"]:
    from contract import Members, copied

    path, passwords = founded
    members = Members(copied(path, folder / "pbm.db"), passwords, way)
    yield members
    members.store.close()
