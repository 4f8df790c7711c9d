"""Commands as a user types them, on a database of their own; some of them as processes.

    shell.sign_up("alice", "bob")
    assert "alice" in shell.done("users")
    assert shell.refused("help", "chess").startswith("Error")

The fixture `shell` is such a shell, and `players` one with a board of Spiro.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any
from unittest.mock import patch

from pbm import settings, shell, terminal
from pbm.__main__ import run as run_shell

from helpers.database import store_of_tests
from helpers.fixtures import Done, lasting_folder
from helpers.mail import ADDRESS
from helpers.patience import PATIENCE


class Shell:
    """Commands as a user types them, on a database of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PBM_")
        } | {"PBM_DB": str(folder / "pbm.db"), "PBM_ADDRESS": ADDRESS, "PBM_SETTINGS": ""}  # fmt: skip

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


def two_players(shell: Shell) -> None:
    """Sign up alice and bob, and begin board 101 of small Spiro with two pieces each; no mail waits."""
    shell.sign_up("alice", "bob", has_mail=True)
    shell.run("spiro", "challenge", "-small", "-pieces=2", "alice", "bob")
    shell.run("outbox", "flush")


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
