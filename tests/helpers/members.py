"""Four members, alice, bob, carol and dora, who give their commands in a shell or by mail, and what everybody is told.

    def test_the_other_player_reads_of_a_resignation(both_ways):
        both_ways.begin()
        letters = both_ways.signs("alice", "symple resign 101 ME")
        assert "resign" in text_to("bob", letters)

The fixtures `four` (in a shell), `by_mail`, and `both_ways` (one after the other) are such members; `game` is the four
on a board of Symple on which two moves were played.
"""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pbm.access.tokens import reply_address
from pbm.actions import cleanup
from pbm.board.board import Board
from pbm.language.line import Line
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.runner import run
from pbm.session import Session
from pbm.texts import clean, written

from helpers.club import Club, Made, make
from helpers.database import stored, stored_board
from helpers.fixtures import Done, lasting_folder
from helpers.mail import handle, mail_of

NAMES = "alice", "bob", "carol", "dora"
SENDER = "sender"
"""Stands for the place that a command came from, among those who are told something."""
NOTES = "handled", "outbox", "quotas", "failures", "commands", "sqlite_sequence"
"""Tables that a refused command may write to."""


class Told(NamedTuple):
    """What somebody is told: printed if he has given the command in a shell, else mailed."""

    to: str
    subject: str
    text: str


class Members(Club):
    """The four on a server in this process. Their passwords are their names and ``-secret``."""

    def __init__(self, founded: Path, path: Path, passwords: Passwords, way: str) -> None:
        super().__init__(path, passwords)
        shutil.copyfile(founded, path)
        self.founded = founded
        self.way = way
        self.sent = 0

    def after(self, done: Done) -> Made:
        """What the four have made when that was done."""
        return members_after(done, self.founded, self.passwords)

    def give(self, name: str, line: str, body: str = "", **fields: str) -> list[Told]:
        """A command of a member, and what everybody is told because of it, in the order in which it was written."""
        before = self._last()
        printed = self._typed(name, line, body) if self.way == "shell" else self._mailed(name, line, body, fields)
        return printed + self._mailed_since(before)

    def _last(self) -> int:
        """The number of the last mail in the outbox."""
        return max((mail.id or 0 for mail in self.store.outbox.all()), default=0)

    def _mailed_since(self, last: int) -> list[Told]:
        new = [mail for mail in self.store.outbox.all() if (mail.id or 0) > last]
        return [Told(mail.userid or SENDER, mail.subject, mail.text) for mail in new]

    def _typed(self, name: str, line: str, body: str) -> list[Told]:
        session = Session(self.server, comment=written(body), body=clean(body))
        read = Line.read(line)
        try:
            letters = run(read, lambda: session)
        except Refused as why:
            letters = [read.refusal(why, is_user=self.store.users.is_taken)]
        return [Told(one.to or SENDER, one.subject, f"{one.body}\n\n{one.command.text}\n") for one in letters]

    def _mailed(self, name: str, line: str, body: str, fields: dict[str, str]) -> list[Told]:
        assert handle(self.server, self.raw(name, line, body, **fields), None) == "command"
        return []

    def raw(self, name: str, line: str, body: str = "", **fields: str) -> bytes:
        """The mail with which a member gives a command; each has a Message-ID of its own."""
        self.sent += 1
        return mail_of(
            f"{name}@players.example", line, body, **{"message_id": f"<{self.sent}@players.example>"} | fields
        )

    def answers(self, name: str, game: str, board: str, body: str) -> list[Told]:
        """What everybody is told because of a member's answer to the mail about a board."""
        before = self._last()
        with self.store.writing():
            address = reply_address(self.server, game, board, name)
        handle(self.server, self.raw(name, f"Re: {board}", body, to=address), None, [address])
        return self._mailed_since(before)

    def signs(self, name: str, line: str, body: str = "") -> list[Told]:
        """A command, or several, in which ``ME`` stands for the sender's userid and password."""
        line, body = (re.sub(r"(?<!\S)ME(?!\S)", f"{name} {name}-secret", text) for text in (line, body))
        return self.give(name, line, body)

    def refused(self, name: str, line: str, body: str = "") -> Told:
        """The only answer to a command that is refused, which changes nothing and tells nobody else."""
        before = self.stored()
        [told] = self.signs(name, line, body)
        assert told.to == SENDER
        assert self.stored() == before
        return told

    def stored(self) -> dict[str, list[dict[str, Any]]]:
        """All that is stored but mails, by tables."""
        tables = self.store.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {name: stored(self.store, name) for (name,) in tables if name not in NOTES}

    def begin(self, line: str = "symple challenge -size=5 alice bob") -> str:
        """A new board; what its players were told of it is forgotten."""
        board: str = self.say(line)[-1].data["board"]
        self.forget_mails()
        return board

    def forget_mails(self) -> None:
        """Empty the outbox, as if all of it had been sent."""
        self.send_all()

    def plays(self, *moves: str, game: str = "symple", board: str = "101") -> None:
        """Moves, each by the player whose turn it is; what the players were told of them is forgotten."""
        for move in moves:
            name = self.at(board, game).mover
            self.say(f"{game} move {board} {name} {name}-secret {move}")
        self.forget_mails()

    def at(self, board: str = "101", game: str = "symple") -> Board:
        """A board as it is stored."""
        found = stored_board(self.store, game, board)
        assert found is not None
        return found

    def played(self, board: str = "101", game: str = "symple") -> list[str]:
        """The turns of a board, those of the server in brackets."""
        return [f"({turn.text})" if turn.automatic else turn.text for turn in self.at(board, game).turns]

    def clean(self) -> cleanup.Done:
        """Do what `pbm cleanup` does; what it tells is in the outbox, and nothing else."""
        self.forget_mails()
        return cleanup.clean_up(Session(self.server))

    def outbox(self) -> list[tuple[str | None, str]]:
        """The userids that the mails in the outbox are for, with the subjects."""
        return [(mail.userid, mail.subject) for mail in self.mails()]


def to(told: list[Told]) -> list[tuple[str, str]]:
    """Who is told something, with the subjects, sorted by name."""
    return sorted((one.to, one.subject) for one in told)


def text_to(name: str, told: list[Told]) -> str:
    """All that somebody is told."""
    return "\n".join(one.text for one in told if one.to == name)


def found(path: Path) -> Passwords:
    """Sign the four up in a new database. Returns what remembers their passwords."""
    club = Club(path)
    for name in NAMES:
        club.say(f"signup {name} {name}-secret {name}@players.example")
    for name in NAMES:
        club.server.passwords.is_right(club.store.users.password_of(name), f"{name}-secret")
    club.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    club.store.close()
    return club.server.passwords


@cache
def members_after(done: Done, founded: Path, passwords: Passwords) -> Made:
    """What the four have made when they have done something in a shell."""
    return make(Members(founded, lasting_folder() / "pbm.db", passwords, "shell"), done)
