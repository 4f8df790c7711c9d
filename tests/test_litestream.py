"""A machine that is lost while Litestream copies its database: the drill of docs/operating.md."""

import os
import re
import signal
import smtplib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from pbm.store import Store

from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.mail import ADDRESS, mail_of
from helpers.patience import PATIENCE

SECONDS = float(os.environ.get("PBM_TEST_DRILL_SECONDS", "60"))
MOST_LOST_SECONDS = 2
PAUSE_SECONDS = 0.05
LITESTREAM = Path(sys.executable).with_name("litestream")
PAGE = Path(__file__).parent.parent / "docs" / "operating.md"


class Acknowledged(NamedTuple):
    """A turn that the server has taken."""

    moment: float
    """When, in seconds of the clock of this process."""
    game: str
    board: str
    number: int
    move: str


@contextmanager
def started(*command: str, **how) -> Iterator[subprocess.Popen[str]]:
    """A process with a group of its own, which is killed in the end if it has not been before."""
    with subprocess.Popen(command, text=True, start_new_session=True, **how) as process:
        try:
            yield process
        finally:
            kill(process)


def kill(process):
    """Kill a process and all that it has started, unless that was done before."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)


def configuration(database, replica):
    """The file of the page for operators, for this database and a folder in place of another machine."""
    [shown] = re.findall(r"```\n# /etc/litestream.yml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for old, new in (("/var/lib/pbm/pbm.db", database), ("sftp://backup@second.example.org/pbm", f"file://{replica}")):
        assert shown.count(old) == 1
        shown = shown.replace(old, str(new))
    return shown


def play(shell, port, rng) -> Iterator[Acknowledged]:
    """Play by mail, on one board after the other. Yields each turn when the server has taken it."""
    with Store(shell.folder / "pbm.db") as store, smtplib.SMTP("127.0.0.1", port, timeout=PATIENCE) as smtp:
        while True:
            game, options = rng.choice([("symple", "-size=5"), ("spora", "-size=5"), ("spiro", "-small")])
            number = shell.json(game, "challenge", options, "alice", "bob")["board"]
            while (board := stored_board(store, game, number)).mover and len(board.turns) < 20:
                name, move = board.mover, board.state.parse(board.state.random(rng))
                sender, line = f"{name}@players.example", f"{game} move {number} {name} {PASSWORDS[name]} {move}"
                message_id = f"<{game}.{number}.{len(board.turns)}@players.example>"  # a move may come again on a board
                smtp.sendmail(sender, [ADDRESS], mail_of(sender, line, message_id=message_id))
                yield Acknowledged(time.monotonic(), game, number, len(board.turns) + 1, move)
                time.sleep(PAUSE_SECONDS)


@pytest.mark.long
def test_at_most_the_last_two_seconds_are_lost_with_a_machine(shell, tmp_path):
    shell.sign_up("alice", "bob", has_mail=True)
    database = shell.folder / "pbm.db"
    second = tmp_path / "second.db"
    copy = tmp_path / "copy.db"
    (tmp_path / "litestream.yml").write_text(configuration(database, tmp_path / "replica"))
    serve = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0", "--robots=0"]
    taken: list[Acknowledged] = []
    with ExitStack() as running:
        server = running.enter_context(started(*serve, env=shell.environment, stdout=subprocess.PIPE))
        port = int(server.stdout.readline().rpartition(":")[2])
        log = running.enter_context((tmp_path / "log").open("w"))
        replicate = str(LITESTREAM), "replicate", "-config", str(tmp_path / "litestream.yml")
        copying = running.enter_context(started(*replicate, stdout=log, stderr=log))
        end = time.monotonic() + SECONDS
        for turn in play(shell, port, Random(1)):
            taken.append(turn)
            if turn.moment > end:
                break
        kill(copying)
        kill(server)
        killed = time.monotonic()
    command = [LITESTREAM, "restore", "-o", copy, f"file://{tmp_path}/replica"]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    said = shell.done("restore", str(copy), PBM_DB=str(second))
    assert said.endswith("which pbm leaves alone: _litestream_lock, _litestream_seq.\n")
    assert shell.done("doctor", PBM_DB=str(second)).endswith(f"All is well with {second}.\n")
    with Store(second) as store:
        lost = [turn for turn in taken if not is_stored(store, turn)]
    assert len(taken) > SECONDS
    assert not [turn for turn in lost if turn.moment < killed - MOST_LOST_SECONDS], f"{len(lost)} of {len(taken)}"
    line = shell.json("symple", "challenge", "-size=5", "alice", "bob", PBM_DB=str(second))
    shell.done("symple", "move", line["board"], "alice", PASSWORDS["alice"], "c3", PBM_DB=str(second))


def is_stored(store, turn):
    """Whether a turn that was acknowledged is in a database."""
    board = stored_board(store, turn.game, turn.board)
    return board is not None and len(board.turns) >= turn.number and board.turns[turn.number - 1].text == turn.move


def test_the_doctor_looks_at_a_database_that_litestream_copies(shell, tmp_path):
    shell.sign_up("alice")
    (tmp_path / "litestream.yml").write_text(configuration(shell.folder / "pbm.db", tmp_path / "replica"))
    command = LITESTREAM, "replicate", "-config", tmp_path / "litestream.yml", "-once"
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    assert shell.done("doctor").startswith("Tables of other programs, which pbm leaves alone: _litestream_lock")
