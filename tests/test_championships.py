"""Tournaments as they are played: by mail, on a server that is really running, between programs that read their mails.

A program answers each mail that asks it to move, by a legal move at random, or by giving up. In the end the mails that
have arrived are counted, by reader and by kind, and compared with what the games say.
"""

import re
import signal
import smtplib
import subprocess
import sys
from collections import Counter
from email import message_from_bytes
from random import Random
from typing import NamedTuple

import pytest

from pbm.board.board import Board
from pbm.store import Store

from conftest import ADDRESS, mail_of
from patience import PATIENCE, until
from test_pairing import check_rules
from test_transports import Relay, running

KILLED = """
import os, signal, sys
from pathlib import Path
from pbm import shell
from pbm.store import Store

mark, left, opened = Path(sys.argv[1]), 0, Store.__init__

def count(statement):
    global left
    if statement == "BEGIN IMMEDIATE" and mark.exists():
        left = int(mark.read_text())
        mark.unlink()
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

def traced(self, *args, **kwargs):
    opened(self, *args, **kwargs)
    self.db.set_trace_callback(count)

Store.__init__ = traced
sys.exit(shell.main(sys.argv[2:]))
"""
"""A server that is killed at that statement of its next transaction whose number a file names."""


class Asked(NamedTuple):
    """What a mail asks its reader for: a move."""

    game: str
    board: str
    number: str
    name: str
    reply_to: str | None
    """Where an answer needs no password."""


class Hall:
    """A server, a relay that all its mail goes to, and the players."""

    def __init__(self, shell, relay, seed):
        self.shell, self.relay, self.rng = shell, relay, Random(seed)
        shell.environment["PBM_TRANSPORT"] = f"smtp://127.0.0.1:{relay.port}"
        self.sent = self.kills = self.read = 0
        self.asked: set[Asked] = set()
        self.answered: set[Asked] = set()
        self.process = None

    def signed_up(self, count):
        names = [f"player{number:02}" for number in range(1, count + 1)]
        for name in names:
            assert self.shell.run("signup", name, f"{name}-secret", f"{name}@players.example").returncode == 0
        self.store = Store(self.shell.folder / "pbm.db")
        return names

    def serve(self):
        self.mark = self.shell.folder / "killed-at"
        command = [sys.executable, "-c", KILLED, self.mark, "serve", "--listen=127.0.0.1:0", "--robots=0"]
        self.process = subprocess.Popen(command, env=self.shell.environment, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def close(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.store.close()

    # Mails to the server

    def mail(self, name, subject, body="", to=ADDRESS, *, kills=0):
        """Send a mail until the server has taken it; so often it is killed while it handles it, and starts again."""
        self.sent += 1
        sender = f"{name}@players.example"
        mail = sender, to, mail_of(sender, subject, body, to, message_id=f"<{self.sent}@players.example>")
        for _ in range(kills):
            self.mark.write_text(str(self.rng.randint(10, 80)))
            try:
                self.send(*mail)
            except (smtplib.SMTPException, OSError):
                assert self.process.wait(PATIENCE) == -signal.SIGKILL
                self.process.stdout.close()
                self.kills += 1
                self.serve()
            else:  # it needed fewer statements
                return
        self.mark.unlink(missing_ok=True)
        self.send(*mail)

    def send(self, sender, to, mail):
        with smtplib.SMTP("127.0.0.1", self.port, timeout=PATIENCE) as smtp:
            smtp.sendmail(sender, to, mail)

    # Mails to the players

    def look(self):
        """Read the new mails, for what they ask."""
        while self.read < len(self.relay.mails):
            mail = message_from_bytes(self.relay.mails[self.read].original_content)
            self.read += 1
            name = mail["To"].strip("<>").partition("@")[0]
            prompt = re.compile(rf"^(\w+) move (\w+) {name} PASSWORD MOVE#(\d+)$", re.MULTILINE)
            for game, board, number in prompt.findall(text_of(mail)):
                self.asked.add(Asked(game, board, number, name, mail["Reply-To"]))

    # The players

    def now(self, game, pool):
        with self.store.reading():
            return self.store.tournaments.get(game, pool), self.store.tournaments.meetings(game, pool)

    def play(self, game, pool, *, games=None, kills=0):
        """Let the programs play until a tournament is over, or so many games are; it is so often killed a round."""
        while True:
            one, meetings = self.now(game, pool)
            if not one.is_on or (games and sum(not each.is_running and not each.is_bye for each in meetings) >= games):
                return
            on = {each.board for each in meetings if each.is_running}
            asked = self.rng.choice(until(lambda on=on: self.open_questions(game, on)))
            self.answered.add(asked)
            self.answer(asked, kills=kills if len(on) == 1 else 0)

    def open_questions(self, game, boards):
        """What the mails that have come ask and nobody has answered."""
        self.look()
        return sorted(each for each in self.asked - self.answered if each.board in boards and each.game == game)

    def answer(self, asked, *, kills):
        gives_up = asked.number != "1" or self.rng.random() < 0.5
        with self.store.reading():
            board = Board.load(self.store, asked.game, asked.board)
        move = "resign" if gives_up else board.state.random(self.rng)
        kills *= gives_up
        if asked.reply_to:
            self.mail(asked.name, "Re: your move", move, asked.reply_to, kills=kills)
        else:
            line = f"{asked.game} move {asked.board} {asked.name} {asked.name}-secret {move}"
            self.mail(asked.name, line, kills=kills)

    # What is checked in the end

    def mails(self, game, pool):
        """How many mails about a tournament and its boards everybody got, by reader and subject, when all are out."""
        until(lambda: not self.store.outbox.all())
        mails = [message_from_bytes(envelope.original_content) for envelope in self.relay.mails]
        found = Counter()
        for mail in {mail["Message-ID"]: mail for mail in mails}.values():
            subject = re.sub(rf"(Board {pool}\d+)\b.*", r"\1", mail["Subject"])
            if re.search(rf"^(New )?{game.capitalize()} (Board|tournament) {pool}(\d+$|:)", subject):
                found[mail["To"].strip("<>").partition("@")[0], subject] += 1
        return found

    def mails_due(self, game, pool):
        """What the games say about that: a mail for each new board, each turn and each bye, and one at the end."""
        due, title = Counter(), game.capitalize()
        _, meetings = self.now(game, pool)
        new = Counter((name, each.round) for each in meetings for name in each.pair if not each.is_bye)
        for each in meetings:
            for name in filter(None, each.pair):
                if each.is_bye:
                    due[name, f"{title} tournament {pool}: round {each.round}"] += 1
                    continue
                due[name, f"{title} Board {each.board}"] += self.store.boards.get(game, each.board).moves
                if new[name, each.round] == 1:
                    due[name, f"New {title} Board {each.board}"] += 1
                else:
                    due[name, f"{title} tournament {pool}: your boards of round {each.round}"] = 1
        for each in self.store.tournaments.entrants(game, pool):
            due[each.name, f"{title} tournament {pool}: the end"] += 1
        return due


def text_of(mail):
    part = next(part for part in mail.walk() if part.get_content_type() == "text/plain")
    return part.get_payload(decode=True).decode().replace("\r\n", "\n")


@pytest.fixture
def hall(shell):
    relay = Relay()
    with running(relay):
        hall = Hall(shell, relay, 7)
        yield hall
        hall.close()


@pytest.mark.long
def test_a_swiss_of_33_with_withdrawals_and_a_late_joiner_on_a_server_that_is_killed_ten_times(hall):
    director, late, *names = hall.signed_up(35)
    words = ["--type=swiss", "--rounds=6", f"--director={director}", "-size=5"]
    hall.shell.run("tournament", "symple", "s", *names, *words)
    hall.serve()
    signed = f"symple tournament s {director} {director}-secret"
    hall.play("symple", "s", games=20, kills=2)
    hall.mail(director, f"{signed} withdraw {names[4]}")
    hall.mail(director, f"{signed} add {late}")
    hall.play("symple", "s", games=40, kills=2)
    hall.mail(names[8], f"symple leave s {names[8]} {names[8]}-secret")
    hall.play("symple", "s", kills=2)
    assert hall.kills >= 10

    one, meetings = hall.now("symple", "s")
    assert (one.state, one.round) == ("finished", 6)
    assert set(Counter((each.round, name) for each in meetings for name in each.pair if name).values()) == {1}
    field = hall.store.tournaments.entrants("symple", "s")
    assert {each.name for each in field if each.withdrawn is not None} == {names[4], names[8]}
    check_rules(field, meetings)

    due = hall.mails_due("symple", "s")
    due[names[8], "Symple tournament s: left"] = 1
    heard = *(f"round {number}" for number in range(1, 7)), "withdraw", "add", f"{names[8]} has left", "the end"
    due.update((director, f"Symple tournament s: {subject}") for subject in heard)
    assert hall.mails("symple", "s") == due


@pytest.mark.long
def test_a_knockout_a_ladder_and_a_match_of_teams_side_by_side(hall):
    names = hall.signed_up(16)
    for pool, words in {
        "k": [*names[:12], "--type=knockout"],
        "l": [*names[:10], "--type=ladder", "--rounds=5"],
        "t": [f"--team={team}:{','.join(names[4 * at : 4 * at + 4])}" for at, team in enumerate("abcd")],
    }.items():
        assert hall.shell.run("tournament", "symple", pool, *words, "-size=5").returncode == 0
    hall.serve()
    for pool in ("k", "l", "t"):
        hall.play("symple", pool)
        assert hall.now("symple", pool)[0].state == "finished"
        assert hall.mails("symple", pool) == hall.mails_due("symple", pool)
    assert len(hall.now("symple", "k")[1]) == 11
