"""What many tests need: a server in this process, and one that is really running."""

import atexit
import gc
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from functools import cache, wraps
from io import BytesIO, TextIOWrapper
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import hypothesis
import pytest
from argon2 import PasswordHasher

from pbm import settings, shell, terminal
from pbm.__main__ import run as run_shell
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.mail.incoming import Outcome, ReceivedMail, handle_prepared, prepare_mail
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.runner import finish, prepare, read, run
from pbm.server import Server
from pbm.session import Session
from pbm.store import Mail, Store

pytest.register_assert_rewrite("helpers")  # so that an assertion of theirs that fails says what it compared

from helpers.browsers import Browser
from helpers.examples import IS_QUICK, examples
from helpers.packages import install
from helpers.patience import PATIENCE

if TYPE_CHECKING:
    from contract import Members

hypothesis.settings.register_profile("pbm", examples())
hypothesis.settings.load_profile("pbm")
ADDRESS = "pbm@pbm.example"
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes of the tests start as users' do: compiled already
# as robots have it; else numpy, which sqlite-utils may have imported before, computes with all cores
os.environ["OPENBLAS_NUM_THREADS"] = "1"
PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "carol": "carol-secret"}


def pytest_configure() -> None:
    """Let the processes that tests start be interrupted, also where this was started in the background of a script.

    And know our own games alone, and keep the priority of this process: nobody gets theirs back.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # games that other packages have brought here are none of those that these tests are about
    pytest.MonkeyPatch().setattr("games._entry_points", dict)
    pytest.MonkeyPatch().setattr(os, "setpriority", lambda *_: None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long, but for ``bin/test --all``, which begins with it, lest it run alone at the end."""
    is_long = [item.get_closest_marker("long") is not None for item in items]
    if not IS_QUICK:
        items[:] = [*compress(items, is_long), *(item for item, first in zip(items, is_long, strict=True) if not first)]
    else:
        config.hook.pytest_deselected(items=[*compress(items, is_long)])
        items[:] = [item for item, left_out in zip(items, is_long, strict=True) if not left_out]


def pytest_collection_finish() -> None:
    """Never look for garbage in what there is before the first test: that is most of all, and none."""
    gc.collect()
    gc.freeze()


def lasting_folder() -> Path:
    """A new folder that is there as long as this process."""
    folder = TemporaryDirectory(prefix="pbm-tests-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@cache
def empty_database() -> Path:
    """A database as it is made, of which each club has a copy: to make one takes longer than most tests."""
    path = lasting_folder() / "pbm.db"
    Store(path).close()
    return path


def store_of_tests(path: Path) -> Store:
    """A store in this process, whose plug nobody pulls; a database is made by copying one."""
    with suppress(OSError):  # which the store tells
        if not path.exists():
            shutil.copy(empty_database(), path)
    store = Store(path)
    store.db.execute("PRAGMA synchronous = OFF")
    return store


def mail_of(sender: str, subject: str, body: str = "", to: str = ADDRESS, **fields: str) -> bytes:
    """A mail as a mail program sends it; ``message_id=...`` and the like are further fields of its header."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, to, subject
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    return mail.as_bytes(policy=SMTP)


def outcome_of(
    server: Server, raw: bytes, sender: str | None, recipients: Sequence[str] = (), peer: str | None = None
) -> Outcome:
    """Do what a mail says, as the server does; the sender and the recipients are those of its envelope."""
    return handle_prepared(server, prepare_mail(server, ReceivedMail(raw, sender, recipients, peer)))


def handle(
    server: Server, raw: bytes, sender: str | None, recipients: Sequence[str] = (), peer: str | None = None
) -> str:
    """The same. Returns the outcome in a word."""
    return outcome_of(server, raw, sender, recipients, peer).word


class Club:
    """A server in this process, with a clock that stands still until it is told to move, and secrets that repeat."""

    def __init__(self, path: Path) -> None:
        self.time = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.made = 0
        self.store = store_of_tests(path)
        self.server = Server(self.store, ADDRESS, Passwords(), lambda: self.time, self.random_bytes)

    def become(self, done: "Done") -> None:
        """Be as a new club in which that was done; it is done once, and copied."""
        path, self.time, self.made = self.after(done)
        with closing(sqlite3.connect(path)) as other:
            other.backup(self.store.db)

    def after(self, done: "Done") -> "Made":
        """What a club of this kind has made when that was done."""
        return club_after(done)

    def random_bytes(self, count: int) -> bytes:
        self.made += 1
        return self.made.to_bytes(count)

    def pass_time(self, **parts: int) -> None:
        self.time += timedelta(**parts)

    def say(self, line: str, comment: str = "", sender: str | None = None) -> list[Letter]:
        """Give a command as a shell does, or by mail if there is a sender."""
        session, typed = Session(self.server, sender, comment, comment), Line.read(line)
        if sender is None:
            return run(typed, lambda: session)
        with self.store.writing():  # as a mail is handled
            done = finish(prepare(session, read(typed), typed))
            if done.why:
                raise done.why
            return [*done.letters]

    def why_refused(self, line: str, comment: str = "", sender: str | None = None) -> str:
        """Why a command is refused."""
        with pytest.raises(Refused) as refused:
            self.say(line, comment, sender)
        return str(refused.value)

    def text(self, line: str) -> str:
        """What a command prints in a shell."""
        return "\n".join(f"{letter.body}\n\n{letter.command.text}\n" for letter in self.say(line))

    def signed_up(self, *names: str) -> None:
        for name in names:
            self.say(f"signup {name} {PASSWORDS[name]} {name}@players.example")

    def move(self, name: str, move: str, board: str = "101", comment: str = "") -> list[Letter]:
        return self.say(f"spiro move {board} {name} {PASSWORDS[name]} {move}", comment)

    def mails(self, name: str | None = None) -> list[Mail]:
        """The mails in the outbox, or those of them to one user."""
        return [mail for mail in self.store.outbox.all() if name in (None, mail.userid)]


Done = Callable[[Any], object]
"""Something that is done in a club, or in a shell."""


class Made(NamedTuple):
    """What a club has made."""

    database: Path
    time: datetime
    secrets: int


def make(club: Club, done: Done) -> Made:
    """Do something in a club, and close it."""
    done(club)
    club.store.close()
    return Made(club.store.path, club.time, club.made)


@cache
def club_after(done: Done) -> Made:
    """What a new club has made when that was done."""
    return make(Club(lasting_folder() / "pbm.db"), done)


def set_up(done: Done) -> Any:
    """A fixture: what there is when this was done in the fixture that it takes. It is done once, and copied."""

    @pytest.fixture
    @wraps(done)
    def there(**given: Any) -> Any:
        [place] = given.values()
        place.become(done)
        return place

    return there


@pytest.fixture(autouse=True, scope="session")
def trusted_disk() -> Iterator[None]:
    """Wait for no disk in this process, whose plug nobody pulls: others write a lot to it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("os.fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def cheap_hashes() -> Iterator[pytest.MonkeyPatch]:
    """Hash passwords in this process as cheaply as argon2 can."""
    with pytest.MonkeyPatch.context() as patched:
        hash_cheaply(patched)
        yield patched


def hash_cheaply(patched: pytest.MonkeyPatch) -> None:
    patched.setattr("pbm.passwords.HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


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


def pair_up(club: Club) -> None:
    """alice and bob on board 101 of small Spiro, two pieces each, carol looking on; alice throws 5, then bob 4 2."""
    club.signed_up("alice", "bob", "carol")
    club.made = 12  # a secret that makes these dice
    club.say("spiro challenge -small -pieces=2 alice bob")


def begin_symple(club: Club) -> None:
    """alice and bob on board 101 of Symple; alice is to move. carol looks on, and plays nowhere."""
    club.signed_up("alice", "bob", "carol")
    club.say("symple challenge -size=9 alice bob")


pair, board = set_up(pair_up), set_up(begin_symple)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A Chromium, installed if it is not there. Tests that ask for it run with PBM_TEST_BROWSER=1 alone."""
    install("PBM_TEST_BROWSER", "chromedriver", "chromium", "chromium-driver", "fonts-dejavu-core")
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.driver.quit()


def stored(store: Store, table: str) -> list[dict[str, Any]]:
    """The rows of a table."""
    rows = store.db.execute(f'SELECT * FROM "{table}"')
    names = [name for name, *_ in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows]


class Shell:
    """Commands as a user types them, on a database of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PBM_")
        } | {"PBM_DB": str(folder / "pbm.db"), "PBM_ADDRESS": ADDRESS}  # fmt: skip

    def become(self, done: Done) -> None:
        """Find what there is after that was done in a new folder; it is done once, and copied."""
        shutil.copytree(folder_after(done), self.folder, dirs_exist_ok=True)

    def sign_up(self, *names: str, has_mail: bool = False) -> None:
        """Become users, at an address of their own or at none."""
        for name in names:
            self.run("signup", name, f"{name}-secret", *([f"{name}@players.example"] if has_mail else []))

    def run(self, *args: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `pbm` with these arguments, as a process would but in this one: to start one takes far longer.

        What a process has but once is another's meanwhile, so that threads run `process` instead.
        """
        assert current_thread() is main_thread()
        raw = stdin if isinstance(stdin, bytes) else stdin.encode()
        out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with (
            ExitStack() as opened,
            patch.object(settings, "Store", lambda path: opened.enter_context(store_of_tests(Path(path)))),
            environment_of(self.environment | environment),
            patch.multiple(sys, stdin=TextIOWrapper(BytesIO(raw), "utf-8", "replace"), stdout=out, stderr=err),
            patch.object(terminal, "read_input", lambda: sys.stdin),  # a process has but one
            patch.object(shell, "read_input", lambda: sys.stdin),
        ):
            status = run_shell(list(args))
        return self._ended([*args], status, out.buffer.getvalue(), err.buffer.getvalue())

    def process(self, *args: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `pbm` with these arguments as a process."""
        return self.python("-m", "pbm", *args, stdin=stdin, **environment)

    def python(self, *args: str, stdin: str | bytes = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments as a process."""
        command, raw = [sys.executable, *args], stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run(
            command, input=raw, capture_output=True, env=self.environment | environment, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
        return self._ended(command, done.returncode, done.stdout, done.stderr)

    def done(self, *args: str, **how: Any) -> str:
        """What a command prints that is carried out, and has nothing to complain of."""
        ended = self.run(*args, **how)
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout

    def json(self, *args: str, **how: Any) -> Any:
        """What a command tells programs that is carried out."""
        return json.loads(self.done(*args, "--json", **how))

    def refused(self, *args: str, status: int = 1, **how: Any) -> str:
        """Why a command is refused, which prints nothing else."""
        ended = self.run(*args, **how)
        assert (ended.returncode, ended.stdout) == (status, "")
        return ended.stderr

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


@cache
def folder_after(done: Done) -> Path:
    """The folder of a shell in which something was done."""
    shell = Shell(lasting_folder())
    done(shell)
    return shell.folder


@contextmanager
def environment_of(variables: dict[str, str]) -> Iterator[None]:
    """Let this process have these variables, and no others, as long as it lasts."""
    before = dict(os.environ)
    exchange(before, variables)
    try:
        yield
    finally:
        exchange(dict(os.environ), before)


def exchange(old: dict[str, str], new: dict[str, str]) -> None:
    """Change the variables that differ, which are few: to set all of them takes longer than most commands."""
    for name in old.keys() - new.keys():
        del os.environ[name]
    for name, value in new.items() - old.items():
        os.environ[name] = value


@pytest.fixture(name="shell")
def shell_(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def players(shell: Shell) -> Shell:
    """alice and bob on board 101 of small Spiro, with two pieces each."""
    shell.become(two_players)
    return shell


def two_players(shell: Shell) -> None:
    shell.sign_up("alice", "bob", has_mail=True)
    shell.run("spiro", "challenge", "-small", "-pieces=2", "alice", "bob")
    shell.run("outbox", "flush")


@set_up
def kept(shell: Shell) -> None:
    """A database of alice and bob, and the file `copy`, a backup of it from before bob."""
    shell.sign_up("alice")
    assert shell.run("backup", str(shell.folder / "copy")).returncode == 0
    shell.sign_up("bob")


def sql(path: Path, query: str, *values: object) -> list[Any]:
    """What a query finds, or changes, in the file of a database behind the server's back."""
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(query, values).fetchall()


def people_in(path: Path) -> list[str]:
    """The users in the file of a database who are no robots."""
    return [userid for (userid,) in sql(path, "SELECT userid FROM users WHERE userid NOT LIKE 'robot%' ORDER BY 1")]


AS_NOBODY = """
import os, sys
from pbm import shell
database, *words = sys.argv[1:]
shell.main(words), shell.main(words)  # root may write everywhere: load what doing and refusing needs, then be nobody
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
os.environ["PBM_DB"] = database
sys.exit(shell.main(words))
"""


def run_as_nobody(shell: Shell, path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Give a command in the shell, and then on another database, which nobody owns."""
    return shell.python("-c", AS_NOBODY, str(path), *words)


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


@set_up
def begun(both_ways: "Members") -> None:
    """The same, with Symple board 101, on which alice is to make the first move."""
    both_ways.begin()


@set_up
def moved(both_ways: "Members") -> None:
    """The same, with Symple board 101, on which alice is to make the third move."""
    both_ways.begin()
    both_ways.plays("c3", "b1")


@set_up
def game(four: "Members") -> None:
    """The four in a shell, with Symple board 101, on which alice is to make the third move."""
    four.begin()
    four.plays("c3", "b1")


@pytest.fixture
def by_mail(founded: tuple[Path, Passwords], tmp_path: Path) -> Iterator["Members"]:
    """The four of them, by mail."""
    yield from _members(founded, tmp_path, "mail")


def _members(founded: tuple[Path, Passwords], folder: Path, way: str) -> Iterator["Members"]:
    from contract import Members

    path, passwords = founded
    members = Members(path, folder / "pbm.db", passwords, way)
    yield members
    members.store.close()
