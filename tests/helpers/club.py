"""A server in this process, to which commands are given without a process or a socket.

    club = Club(tmp_path / "pbm.db")
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=9 alice bob")
    club.pass_time(days=3)
    assert "101" in club.mails("bob")[-1].subject

The fixture `club` is such a server, `pair` one with a board of Spiro, and `board` one with a board of Symple.
"""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import pytest
from argon2 import PasswordHasher

from pbm.board import clocks
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.runner import finish, prepare, read, run
from pbm.server import Server
from pbm.session import Session
from pbm.store import Mail, Store
from pbm.store.boards import BoardFilter

from helpers.database import store_of_tests
from helpers.fixtures import Done, lasting_folder
from helpers.mail import ADDRESS

PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "carol": "carol-secret"}


class Club:
    """A server in this process, with a clock that stands still until it is told to move, and secrets that repeat."""

    def __init__(self, path: Path, passwords: Passwords | None = None) -> None:
        self.path = path
        self.passwords = passwords or Passwords()
        self.time = datetime(2026, 11, 20, 12, tzinfo=UTC)
        self.made = 0

    @cached_property
    def store(self) -> Store:
        """The open database; it is opened when it is first asked for, so that `become` has only to copy a file."""
        return store_of_tests(self.path)

    @cached_property
    def server(self) -> Server:
        """The server."""
        return Server(self.store, ADDRESS, self.passwords, lambda: self.time, self.random_bytes)

    def become(self, done: Done) -> None:
        """Be as a new club in which that was done; it is done once, and copied."""
        path, self.time, self.made = self.after(done)
        if "store" not in vars(self):
            shutil.copy(path, self.path)
            return
        with closing(sqlite3.connect(path)) as other:
            other.backup(self.store.db)

    def after(self, done: Done) -> "Made":
        """What a club of this kind has made when that was done."""
        return club_after(done)

    def random_bytes(self, count: int) -> bytes:
        """The next secret, which counts up: 0…01, 0…02."""
        self.made += 1
        return self.made.to_bytes(count)

    def wait(self, **parts: float) -> None:
        """Move the clock on, and do nothing else."""
        self.time += timedelta(**parts)

    def pass_time(self, **parts: float) -> None:
        """Move the clock on: ``club.pass_time(days=3, hours=1)``.

        Meanwhile there was a clean-up each day, and reminders have left to all players who have to do something: where
        two days are enough, they have had notice.
        """
        self.wait(**parts)
        noticed = self.time - clocks.NOTICE
        with self.store.writing():
            self.store.events.note_maintenance("cleanup", self.time - timedelta(days=1))
            for row in self.store.boards.found(BoardFilter(self.store.boards.games(), over=False)):
                if row.happened <= noticed:
                    for userid in row.players:
                        self.store.boards.give_notice(*row.place, userid, noticed)

    def say(self, line: str, comment: str = "", sender: str | None = None) -> list[Letter]:
        """Give a command as a shell does, or by mail if there is a sender."""
        is_shell = sender is None
        session = Session(self.server, sender, comment, comment, is_trusted=is_shell, is_printed=is_shell)
        typed = Line.read(line)
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
        """Sign up these users, each with a password of `PASSWORDS` and an address at players.example."""
        for name in names:
            self.say(f"signup {name} {PASSWORDS[name]} {name}@players.example")

    def move(self, name: str, move: str, board: str = "101", comment: str = "") -> list[Letter]:
        """A move of Spiro in a shell: ``club.move("alice", "e3:5")``."""
        return self.say(f"spiro move {board} {name} {PASSWORDS[name]} {move}", comment)

    def send_all(self) -> None:
        """Empty the outbox, as if all of it had left."""
        with self.store.writing():
            for mail in self.store.outbox.drop(self.store.outbox.all()):
                if mail.reminds and mail.address:
                    game, board = mail.reminds.split()
                    self.store.boards.give_notice(game, board, str(mail.userid), self.time)

    def mails(self, name: str | None = None) -> list[Mail]:
        """The mails in the outbox, or those of them to one user."""
        return [mail for mail in self.store.outbox.all() if name in (None, mail.userid)]


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


def hash_cheaply(patched: pytest.MonkeyPatch) -> None:
    """Let this process hash passwords in microseconds, which would protect nobody, until *patched* is undone."""
    patched.setattr("pbm.passwords.HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def pair_up(club: Club) -> None:
    """alice and bob on board 101 of small Spiro, two pieces each, carol looking on; alice throws 5, then bob 4 2."""
    club.signed_up("alice", "bob", "carol")
    club.made = 12  # a secret that makes these dice
    club.say("spiro challenge -small -pieces=2 alice bob")


def begin_symple(club: Club) -> None:
    """alice and bob on board 101 of Symple; alice is to move. carol looks on, and plays nowhere."""
    club.signed_up("alice", "bob", "carol")
    club.say("symple challenge -size=9 alice bob")
