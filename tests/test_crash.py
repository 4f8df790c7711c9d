"""Whatever is killed, and whenever: what was promised has happened once, and nothing is half done."""

import re
import subprocess
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes
from queue import SimpleQueue
from random import Random

import pytest

from pbm.settings import database_path, open_server
from pbm.store import Store

from helpers.crash import (
    CLIENTS,
    PBM,
    PLAYERS,
    SERVER,
    Client,
    address,
    check_done,
    check_replay,
    password,
    pbm,
    played,
    serving,
    some_move,
    typed,
)
from helpers.examples import IS_QUICK
from helpers.patience import PATIENCE

ROUNDS = 2 if IS_QUICK else 20
MOVES = 1 if IS_QUICK else 10
LOGGED = re.compile(
    r"[-0-9T:.+]+ \d+ 127\.0\.0\.1 <\w+@players\.example> (?:done|refused|repeated)[: ].*\d ms in all\)"
)


@pytest.fixture
def store(shell, tmp_path, monkeypatch):
    """The database of three users who have signed up, to look into; processes find it in their environment."""
    monkeypatch.setenv("PBM_DB", str(tmp_path / "pbm.db"))
    monkeypatch.setenv("PBM_ADDRESS", SERVER)
    monkeypatch.delenv("PBM_TRANSPORT", raising=False)
    for name in PLAYERS:
        assert shell.run("signup", name, password(name), address(name)).returncode == 0
    with open_server().store as store:
        yield store


def delivered() -> dict[tuple[str, str], list[str]]:
    """The texts of all mails that have arrived, by what they answer or begin, and by the name of the reader."""
    found = defaultdict(list)
    for path in (database_path().parent / "mail").glob("*/new/*"):
        message = message_from_bytes(path.read_bytes())
        text = next(part for part in message.walk() if not part.is_multipart())
        found[message["In-Reply-To"] or message["Message-ID"], message["To"].strip("<>").partition("@")[0]].append(
            text.get_payload(decode=True).decode()
        )
    return found


def test_a_killed_server_has_done_what_it_acknowledged_once_and_mails_it(store):
    rng = Random(1)
    clients = [Client(number) for number in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        for _ in range(ROUNDS):
            acknowledged = SimpleQueue()
            with serving() as (_, port):
                waited_for = rng.randrange(40)
                most = rng.choice(
                    (waited_for // CLIENTS + 1, 1000)
                )  # after a few, the server is left to send its mails
                working = [pool.submit(client.work, port, acknowledged, most) for client in clients]
                for _ in range(waited_for):
                    acknowledged.get(timeout=PATIENCE)
                time.sleep(rng.uniform(0, 0.1))
            for work in working:
                work.result(PATIENCE)
        with serving() as (_, port):
            for client in clients:
                client.work(port, SimpleQueue(), 1 if client.unanswered else 0)
                while client.planned_turns < 2:  # how many were played before the last kill is chance
                    client.work(port, SimpleQueue(), 1)
    assert pbm("outbox", "flush").returncode == 0
    assert sum(len(client.done) for client in clients) > ROUNDS * 10
    check_done(store, clients)
    assert store.outbox.all() == []
    mails = sum((client.mails for client in clients), Counter())
    assert {key: len(texts) for key, texts in delivered().items()} == mails
    assert not list((database_path().parent / "mail").glob("*/tmp/*"))
    log = database_path().with_name("log").read_text().splitlines()
    assert [line for line in log if not LOGGED.fullmatch(line)] == []


@pytest.mark.long
def test_a_killed_shell_command_has_done_all_or_nothing(store):
    rng = Random(2)
    start = time.monotonic()
    pbm("spiro", "challenge", "alice", "bob")
    usual = time.monotonic() - start
    pause = 0.001  # from the first change of the file to the kill, about as long as a move takes to be stored
    outcomes = set()
    for attempt in range(60):
        before = played(store)
        unwritten = written()
        uncommitted = committed(store)
        mover = before.mover or ""
        move = some_move(before, rng)
        command = [*PBM, "spiro", "move", "101", mover, password(mover), move]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            if attempt % 3 == 0:  # at any instant
                time.sleep(rng.uniform(0, usual))
            elif attempt % 3 == 1:  # while it stores the move
                while process.poll() is None and written() == unwritten:
                    time.sleep(0.0001)
                time.sleep(rng.uniform(0, 2 * pause))
            else:  # when it has stored it, and before it ends
                while process.poll() is None and committed(store) == uncommitted:
                    time.sleep(0.0001)
            process.kill()
        board = played(store)
        was_played = len(board.turns) > len(before.turns)
        if attempt % 3 == 1:
            pause *= 0.7 if was_played else 1.4
        outcomes.add((was_played, process.returncode < 0))
        assert typed(board) == typed(before) + [(len(before.turns) + 1, mover, move)] * was_played
        check_replay(store, "spiro 101")
        told = Counter(mail.userid for mail in store.outbox.all())
        moves = Counter(userid for _, userid, _ in typed(board))
        assert told == {"alice": 1 + moves["bob"], "bob": 1 + moves["alice"]}
    assert outcomes >= {(False, True), (True, True)}


def written() -> tuple[int, int]:
    """Changes as soon as a process begins to commit."""
    log = database_path().with_name("pbm.db-wal").stat()
    return log.st_size, log.st_mtime_ns


def committed(store: Store) -> int:
    """Changes as soon as a process has committed."""
    [version] = store.db.execute("PRAGMA data_version").fetchone()
    return int(version)


def test_who_plans_and_who_moves_at_once_are_served_one_behind_the_other(store):
    for number in range(101, 101 + MOVES):
        pbm("symple", "challenge", "-size=5", "alice", "bob")
        for name, move in ("alice", "c3"), ("bob", "b1"), ("alice", "a5"):
            pbm("symple", "move", str(number), name, password(name), move)
        planned, moved = (
            subprocess.Popen([*PBM, "symple", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for words in (
                ["plan", str(number), "alice", password("alice"), "if e5 then e1"],
                ["move", str(number), "bob", password("bob"), "e5"],
            )
        )
        said = [each.communicate(timeout=PATIENCE)[1] for each in (planned, moved)]
        board = played(store, f"symple {number}")
        assert (moved.returncode, board.plans) == (0, {})
        assert [turn.text for turn in board.turns[4:]] == ([] if planned.returncode else ["e1"])
        assert said[0] == "" or said[0].startswith("It is your turn.")
