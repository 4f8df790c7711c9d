"""A whole game by mail in one view: a real server on the loopback, a player who knows only what is mailed, a robot."""

import email.policy
import os
import re
import smtplib
import subprocess
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import games
from games import DiceState
from pbm import START_PBM
from pbm.refusals import Refused

SERVER_ADDRESS = "pbm@pbm.example"
ROBOT_OF_DEMO = "robot1"
MAIL_SECONDS = 20
"""How long a player waits for a mail before they give up."""
PLAYER_ADDRESS = "alice@players.example"
SIGNATURE = "alice alice-likes-games"
"""The userid and the password with which alice signs her commands."""
tell = partial(print, flush=True)


@dataclass
class Correspondent:
    """Alice, with a mail program, a seed, and no other knowledge than her mails."""

    inbox: Path
    """The folder of a maildir in which new mails are."""
    smtp: smtplib.SMTP
    rng: Random

    def write(self, subject: str, answered: EmailMessage | None = None) -> None:
        """Send a mail to the server."""
        message = EmailMessage()
        message["From"] = PLAYER_ADDRESS
        message["To"] = SERVER_ADDRESS
        message["Subject"] = subject
        if answered:
            message["In-Reply-To"] = answered["Message-ID"]
        message.set_content("")
        self.smtp.send_message(message)

    def receive(self) -> EmailMessage:
        """Take the next mail that arrives. Raises Refused if none does."""
        end = time.monotonic() + MAIL_SECONDS
        while time.monotonic() < end:
            if path := min(self.inbox.glob("*"), default=None):
                raw = path.read_bytes()
                path.unlink()
                return message_from_bytes(raw, EmailMessage, policy=email.policy.default)
            time.sleep(0.005)
        raise Refused(f"No mail came to {PLAYER_ADDRESS} within {MAIL_SECONDS} seconds.")

    def choose(self, state: DiceState) -> str:
        """A move that bears off as many pieces as can be, and for the rest is left to chance."""
        return max(state.moves(), key=lambda move: (move.count("x"), self.rng.random()))


def run() -> None:
    """Play the game, and print how it goes."""
    with TemporaryDirectory() as folder, _server(Path(folder)) as (_, where):
        tell(f"A server listens on {where}. alice writes to it with a mail program, and {ROBOT_OF_DEMO} answers.\n")
        with smtplib.SMTP(where) as smtp:
            alice = Correspondent(Path(folder) / "mail" / PLAYER_ADDRESS / "new", smtp, Random("alice"))
            question = _exchange(alice, "alice mails", f"signup {SIGNATURE}")
            _exchange(alice, "alice answers", f"Re: {question['Subject']}", question)
            _play(alice)


def show_page() -> None:
    """Serve pages on this machine, open one on which a guest plays a robot, and go on until interrupted."""
    with TemporaryDirectory() as folder:
        options = ["--web=127.0.0.1:0", f"--site={folder}/site"]
        with _server(Path(folder), *options) as (process, where), suppress(KeyboardInterrupt):
            tell(f"A server waits for you: http://{where}/")
            tell(f"This board is yours against {ROBOT_OF_DEMO}; Ctrl-C ends all of it:")
            with urlopen(f"http://{where}/guest", b"game=symple&options=-size=9", timeout=MAIL_SECONDS) as answer:
                page = answer.geturl()
            tell(page)
            webbrowser.open(page)
            process.wait()


def _exchange(alice: Correspondent, deed: str, subject: str, answered: EmailMessage | None = None) -> EmailMessage:
    """Let alice send a mail, and print it and the answer. Returns the answer."""
    tell(f"{deed}: {subject}\n")
    alice.write(subject, answered)
    answer = alice.receive()
    tell(_shown(answer))
    return answer


def _play(alice: Correspondent) -> None:
    """Let alice play a game of Spiro against the robot, by mail, and print its turns and her last mail."""
    letter = _exchange(alice, "alice mails", f"spiro challenge -small alice {ROBOT_OF_DEMO}")
    state = games.load("spiro").new(small=True, pieces=6)
    tell("From here on, a line for each move that is mailed, and for each that the server plays itself:\n")
    number = 0
    # such as: alice's turn (X, dice 5 and 2).
    while status := re.search(r"^(\w+).* \(\w, dice (\d)(?: and (\d))?\)\.$", _text(letter), re.MULTILINE):
        mover, *dice = status.groups()
        state = state.roll(tuple(int(die) for die in dice if die))
        if mover == "alice":
            command = _text(letter).splitlines()[-1].replace("alice PASSWORD", SIGNATURE)
            alice.write(command.replace("MOVE", alice.choose(state)), answered=letter)
        letter = alice.receive()
        played = re.search(r"^Last turn: (.*)$", _text(letter), re.MULTILINE)
        if played is None:
            raise Refused(f"Nothing was played:\n\n{_shown(letter)}")
        for text in played[1].split("; "):
            number += 1
            tell(f"{number:4}. {mover:7} {text}")
            mover = "server"  # which has added the further turns
            state = state.play(text.removesuffix(" (Auto)"))
    tell("\nThe last mail to alice:\n")
    tell(_shown(letter))


@contextmanager
def _server(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server with a database in *folder*: its process, and the address that it has printed first.

    Raises Refused if it does not start.
    """
    # nothing of a server's own settings, so that nothing of it is used and no mail leaves
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PBM_")}
    environment["PBM_SETTINGS"] = ""
    environment["PBM_DB"] = str(folder / "pbm.db")
    environment["PBM_ADDRESS"] = SERVER_ADDRESS
    command = START_PBM + ("serve", "--listen=127.0.0.1:0") + options
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            first_line = process.stdout.readline() if process.stdout else ""
            where = first_line.partition(" on ")[2].strip()
            if not where:
                raise Refused("The server did not start; `pbm serve` says why.")
            yield process, where
        finally:
            process.terminate()


def _text(message: EmailMessage) -> str:
    """The text of a mail."""
    body = message.get_body(("plain",)) or message
    return str(body.get_content()).replace("\r\n", "\n").strip()


def _shown(message: EmailMessage) -> str:
    """A mail as a mail program shows it, framed so that it can be told from the story."""
    lines = [f"{name}: {message[name]}" for name in ("From", "To", "Subject", "Date")]
    lines.append("")
    lines += _text(message).splitlines()
    return "\n".join(f"  | {line}".rstrip() for line in lines) + "\n"
