"""What many tests need: a server in this process, and one that is really running."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import hypothesis
import pytest
from argon2 import PasswordHasher
from sqlite_utils import Database

from pbm import settings, shell
from pbm.__main__ import run as run_shell
from pbm.language.commands import root
from pbm.language.dispatch import run
from pbm.language.front import Front
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.session import Session
from pbm.store import Mail, Store

from examples import IS_QUICK, examples

if TYPE_CHECKING:
    from contract import Members

hypothesis.settings.register_profile("pbm", examples())
hypothesis.settings.load_profile("pbm")
ADDRESS = "pbm@pbm.example"
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes of the tests start as users' do: compiled already
PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "carol": "carol-secret"}


def pytest_configure() -> None:
    """Let the processes that tests start be interrupted, also where this was started in the background of a script."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, but for ``bin/test --all``."""
    if IS_QUICK:
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@cache
def empty_database() -> Path:
    """A database as it is made, of which each club has a copy: to make one takes longer than most tests."""
    folder = TemporaryDirectory(prefix="pbm-tests-")
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "pbm.db"
    Store(path).close()
    return path


class Club:
    """A server in this process, with a clock that stands still until it is told to move, and secrets that repeat."""

    def __init__(self, path: Path) -> None:
        self.time = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.made = 0
        if not path.exists():
            shutil.copy(empty_database(), path)
        self.store = Store(path)
        self.store.db.execute("PRAGMA synchronous = OFF")  # nobody pulls the plug of a test's own process
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
            return run(Line.read(root, line), Front(lambda: session))

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


@pytest.fixture(autouse=True, scope="session")
def cheap_hashes() -> Iterator[pytest.MonkeyPatch]:
    """Hash passwords in this process as cheaply as argon2 can."""
    with pytest.MonkeyPatch.context() as patched:
        hash_cheaply(patched)
        yield patched


def hash_cheaply(patched: pytest.MonkeyPatch) -> None:
    patched.setattr("pbm.passwords._hasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.fixture
def real_hashes(cheap_hashes: pytest.MonkeyPatch) -> Iterator[None]:
    """Hash passwords as processes do."""
    cheap_hashes.undo()
    yield
    hash_cheaply(cheap_hashes)


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


def stored(store: Store, table: str) -> list[dict[str, Any]]:
    """The rows of a table."""
    return [*Database(store.db).table(table).rows]


class Shell:
    """Commands as a user types them, on a database of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PBM_")
        } | {"PBM_DB": str(folder / "pbm.db"), "PBM_ADDRESS": ADDRESS}  # fmt: skip

    def run(self, *args: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `pbm` with these arguments, as a process would but in this one: to start one takes far longer.

        What a process has but once is another's meanwhile, so that threads run `process` instead.
        """
        assert current_thread() is main_thread()
        raw = stdin if isinstance(stdin, bytes) else stdin.encode()
        out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with (
            ExitStack() as opened,
            patch.object(settings, "Store", lambda path: opened.enter_context(Store(path))),  # closed as a process ends
            patch.dict(os.environ, self.environment | environment, clear=True),
            patch.multiple(sys, stdin=TextIOWrapper(BytesIO(raw), "utf-8", "replace"), stdout=out, stderr=err),
            patch.object(shell, "_input", lambda: sys.stdin),  # a process has but one
        ):
            status = run_shell(list(args))
        return self._ended([*args], status, out.buffer.getvalue(), err.buffer.getvalue())

    def process(self, *args: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `pbm` with these arguments as a process."""
        raw = stdin if isinstance(stdin, bytes) else stdin.encode()
        command = [sys.executable, "-m", "pbm", *args]
        done = subprocess.run(
            command, input=raw, capture_output=True, env=self.environment | environment, check=False, timeout=60
        )
        return self._ended(command, done.returncode, done.stdout, done.stderr)

    def _ended(self, command: list[str], status: int, *streams: bytes) -> subprocess.CompletedProcess[str]:
        """What a command has left; no traceback is ever seen."""
        out, err = (stream.decode(errors="replace") for stream in streams)
        assert "Traceback" not in out + err
        return subprocess.CompletedProcess(command, status, out, err)

    @contextmanager
    def serving(self, *args: str) -> Iterator[int]:
        """Run `pbm serve` on a free port of the loopback, without a process for robots if none is asked for."""
        command = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0", "--robots=0", *args]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                line = process.stdout.readline() if process.stdout else ""
                yield int(line.rpartition(":")[2])
            finally:
                process.terminate()


@pytest.fixture(name="shell")
def shell_(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def players(shell: Shell) -> Shell:
    """alice and bob on board 101 of small Spiro, with two pieces each."""
    for name in ("alice", "bob"):
        shell.run("signup", name, PASSWORDS[name], f"{name}@players.example")
    shell.run("spiro", "challenge", "-small", "-pieces=2", "alice", "bob")
    shell.run("outbox", "flush")
    return shell


class Certificate(NamedTuple):
    """A certificate for localhost, which vouches for itself."""

    file: Path
    key: Path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return new_certificate(tmp_path_factory.mktemp("tls"))


def new_certificate(folder: Path) -> Certificate:
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
