"""How fast pbm is, beside the parts it is made of: ``python tests/bench/bench.py [--quick] [--runs=N] [PART ...]``.

With ``--runs=5`` it measures quickly, so many times over, what has an aim in a table at the end: best, worst, and the
aim. That takes less than four minutes on two cores with nothing else to do; the growth of the database (``sizes``) is
no part of it.

What is compared runs in turn (A B A B ...), so that both meet the same other load on the machine. Of commands it tells
the least and the median of what they compute and of how long they take, and compares the medians of what they compute.
In long games (``ages``) it compares each ``show`` of a board on which much was played with the one just before it, of a
board of ten turns, and tells the median of these ratios, because what one command computes differs by a half from one
time to the next. To play such a game again is told as the least of five times; all else are medians. Servers have
played one turn of each board, and know its players' passwords, before they are measured. Every move is legal, made on a
real database and checked to have been stored. No figure makes the run fail.
"""

import argparse
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP as MAIL
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from smtplib import SMTP
from statistics import median
from tempfile import TemporaryDirectory
from threading import Lock
from typing import NamedTuple

from games import SKIP
from pbm.actions import absences, cleanup
from pbm.board.board import Board
from pbm.mail import incoming
from pbm.mail.sending import flush
from pbm.mail.transports import Maildirs
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.session import Session
from pbm.store import BoardRow, Store, TurnRow

import large

PYTHON = sys.executable
PBM = str(Path(PYTHON).parent / "pbm")
SERVER = "pbm@pbm.example"
PLAYERS = tuple(f"player{number}" for number in range(8))
PASSWORD = "likes-games"
LONG_GAMES = (
    ("symple", "-size=25"),
    ("spora", "-size=19"),
    ("spora", "-size=25"),
    ("papagra", "-size=10"),
    ("sprout", "-board=cairo-2"),
    ("spiro", ""),
)
"""Games, with options that let them last."""
ONE_COMMIT_A_MAIL = """
import asyncio, sqlite3, sys
from aiosmtpd.smtp import SMTP
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = FULL")
db.execute("CREATE TABLE mails (id INTEGER PRIMARY KEY, mail BLOB)")
class Handler:
    async def handle_DATA(self, server, session, envelope):
        db.execute("INSERT INTO mails (mail) VALUES (?)", [envelope.content])
        db.commit()
        return "250 OK"
async def serve():
    listener = await asyncio.get_running_loop().create_server(lambda: SMTP(Handler()), "127.0.0.1", 0)
    print("listening on 127.0.0.1:%d" % listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()
asyncio.run(serve())
"""


TABLE = "shell", "locked", "mail", "pace"
"""The parts of which several runs make a table."""
RATE = 100
"""Mails a second that come whether or not those before are answered."""


class Typed(NamedTuple):
    """A move as a player types it."""

    game: str
    board: str
    userid: str
    move: str
    number: int

    @property
    def words(self) -> list[str]:
        """The command."""
        return [self.game, "move", self.board, self.userid, PASSWORD, f"{self.move}#{self.number}"]

    @property
    def mail(self) -> bytes:
        """The command as a mail."""
        message = EmailMessage(policy=MAIL)
        message["From"], message["To"] = f"{self.userid}@players.example", SERVER
        message["Subject"] = " ".join(self.words)
        message["Message-ID"] = f"<{self.board}.{self.number}@players.example>"
        message.set_content("")
        return bytes(message)


class Row(NamedTuple):
    """What has an aim."""

    aim: str
    """``<= 5 ms`` or the like."""
    values: list[float]
    """What it was in each run."""


told: dict[str, Row] = {}
"""What was said so far that has an aim."""


def say(what: str, figures: str, value: float | None = None, aim: str = "") -> None:
    """Print one line of the report, with the value that has the aim."""
    sys.stdout.write(f"{what:<47}{figures:<34}{'' if value is None else f'{value:.2f}':>5}  {aim}\n")
    sys.stdout.flush()
    if value is not None and aim:
        told.setdefault(what.strip(), Row(aim, [])).values.append(value)


def summarize(runs: int) -> None:
    """Print of all that has an aim the best and the worst of several runs."""
    sys.stdout.write(f"\n{f'of {runs} runs':<63}{'best':>6}{'worst':>7}  aim\n")
    for what, (aim, values) in told.items():
        best, worst = sorted((min(values), max(values)), reverse=aim.startswith(">"))
        sys.stdout.write(f"{what:<63}{best:>6.2f}{worst:>7.2f}  {aim}\n")


class Cost(NamedTuple):
    """What a process costs, in milliseconds."""

    cpu: float
    wall: float


class Costs(list[Cost]):
    """What a process costs whenever it runs."""

    @property
    def cpu(self) -> float:
        """The median of what it computes."""
        return median(cost.cpu for cost in self)

    @property
    def figures(self) -> str:
        """The least and the median of what it computes, and of how long it takes."""
        computing, taking = (sorted(column) for column in zip(*self, strict=True))
        return f"{computing[0]:.0f} {self.cpu:.0f}, {taking[0]:.0f} {median(taking):.0f} ms"


def in_turn(*variants: Callable[[], Cost], times: int) -> list[Costs]:
    """What each variant costs, when they run in turn so many times after a first try."""
    measured = [[variant() for variant in variants] for _ in range(times + 1)][1:]
    return [Costs(column) for column in zip(*measured, strict=True)]


def cost_of_next(script: Iterator[Typed], folder: Path) -> Cost:
    """What the next command of a script costs."""
    return cost([PBM, *next(script).words], folder)


def environment(folder: Path) -> dict[str, str]:
    """The settings for a database in *folder*, with mail to maildirs beside it."""
    unlike_a_users = "PBM_", "PYTHONDONTWRITEBYTECODE"  # without bytecode, every command would compile the program
    others = {name: value for name, value in os.environ.items() if not name.startswith(unlike_a_users)}
    return others | {"PBM_DB": str(folder / "pbm.db"), "PBM_ADDRESS": SERVER}


def cost(command: Sequence[str], folder: Path) -> Cost:
    """What a process costs that uses the database in *folder*."""
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment(folder), stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed.")
    return Cost((used.ru_utime + used.ru_stime) * 1000, (time.perf_counter() - start) * 1000)


def database(
    folder: Path, boards: int, moves: int, game: str = "spiro", options: str = "", played: int = 0
) -> list[list[Typed]]:
    """Make a database with *boards* that wait for the *moves* that are returned.

    The boards are of one *game* with these *options*, and so many turns are *played* on them.
    """
    folder.mkdir(parents=True)
    now, rng = datetime.now(UTC), Random(1)
    with Store(folder / "pbm.db") as store, store.writing():
        hashed = Passwords().hash(PASSWORD)
        for name in PLAYERS:
            store.users.add(name, hashed, now)
            store.users.replace_addresses(name, {f"{name}@players.example": None}, now)
        begun = []
        for number in range(101, 101 + boards):
            first, second = rng.sample(PLAYERS, 2)
            row = BoardRow(game, str(number), options, first, second, rng.randbytes(32), now, turn=first)
            store.boards.add(row)
            begun.append(board := Board(row, [], {}))
            prepared(board, played, rng)
            board.row = board.row._replace(moves=len(board.turns), turn=board.mover)
            store.boards.save(board.row, 1, board.turns)
    return [prepared(board, moves, rng) for board in begun]


def prepared(board: Board, moves: int, rng: Random) -> list[Typed]:
    """Play moves on a board, which can be known in advance because the secret of its dice is."""
    row, script = board.row, list[Typed]()
    while len(script) < moves and board.mover:
        skips = board.state.must_skip
        move = SKIP if skips else board.state.random(rng)
        if not skips:
            script.append(Typed(row.game, row.board, board.mover, move, len(board.turns) + 1))
        board.play(board.mover, move, row.started, automatic=skips)
    return script


def shell(folder: Path, times: int) -> None:
    """Commands in the shell as whole processes, beside imports."""
    [script] = map(iter, database(folder, 1, times + 1))
    move, show, listed, utils = in_turn(
        lambda: cost_of_next(script, folder),
        lambda: cost([PBM, "spiro", "show", "101"], folder),
        lambda: cost([PBM, "spiro", "games", PLAYERS[0]], folder),
        # sqlite_utils brings numpy along where an extra has installed it, which no command of a player does
        lambda: cost([PYTHON, "-c", "import sys; sys.modules['numpy'] = None; import click, sqlite_utils"], folder),
        times=times,
    )
    say("import click, sqlite_utils", utils.figures)
    for what, took, aim in (("move", move, "<= 1.15"), ("show", show, "<= 0.8"), ("games USERID", listed, "")):
        say(f"{what}, by click, sqlite_utils", took.figures, took.cpu / utils.cpu, aim)


def sizes(folder: Path, times: int, boards: int) -> None:
    """The same commands in a small database and in a large one."""
    game, places = "papagra", (folder / "few", folder / "many")
    scripts = []
    for place, size in zip(places, (100, boards), strict=True):
        place.mkdir(parents=True)
        begin = time.perf_counter()
        large.build(place / "pbm.db", size, max(50, size // 10))
        took, megabytes = time.perf_counter() - begin, (place / "pbm.db").stat().st_size / 1e6
        say(f"to make {size:,} boards", f"{took:.0f} s, {megabytes:,.0f} MB")
        with Store(place / "pbm.db") as store:
            row = store.boards.get(game, "101")
            board = row and Board(row, store.boards.turns(game, "101"), {})
            scripts.append(iter(prepared(board, times + 1, Random(1)) if board else []))
    alike = (
        "show 101",
        f"challenge {' '.join(large.MEMBERS[:2])}",
        f"games {large.MEMBERS[0]}",
        "games active 1",
        "standings 1",
        "history 1",
    )
    others = "list", "cleanup", "status", "robots run --once"
    for line in (*(f"{game} {words}" for words in alike), *others):
        words = line.split()
        few, many = in_turn(*(partial(cost, [PBM, *words], place) for place in places), times=times)
        say(f"{line}, {boards:,} / 100", many.figures, many.cpu / few.cpu, "<= 1.3")
    few, many = in_turn(
        *(partial(cost_of_next, script, place) for place, script in zip(places, scripts, strict=True)), times=times
    )
    say(f"{game} move 101, {boards:,} / 100", many.figures, many.cpu / few.cpu, "<= 1.3")
    backup = cost([PBM, "backup", str(folder / "copy.db")], places[1])
    say(f"backup of {boards:,} boards", Costs([backup]).figures)


def doctor(folder: Path, boards: int) -> None:
    """What it costs to play all boards again, so many that the start counts for little."""
    folder.mkdir(parents=True)
    large.build(folder / "pbm.db", boards, boards // 10)
    with closing(sqlite3.connect(folder / "pbm.db")) as db:
        (turns,) = db.execute("SELECT count(*) FROM turns").fetchone()
    took = cost([PBM, "doctor", "--processes=1"], folder).cpu
    say(f"doctor, ms a board, of {boards:,}", f"{took / turns:.4f} ms a turn", took / boards)


def absence(folder: Path, boards: int) -> None:
    """What it costs to give all running boards the time in which the server was away."""
    folder.mkdir(parents=True)
    large.build(folder / "pbm.db", 100, 10)
    with Store(folder / "pbm.db") as store:
        row = store.boards.get("symple", "101")
        assert row is not None
        with store.writing():
            last = int(store.boards.next_number("symple"))
            for number in range(last + 1, last + 1 + boards):
                store.boards.add(row._replace(board=str(number)))
            now = datetime.now(UTC)
            store.absences.add(now - timedelta(days=24), now, timedelta(days=24).total_seconds())
        longest = 0.0
        is_done = False
        begin = time.perf_counter()
        while not is_done:
            locked_at = time.perf_counter()
            with store.writing():
                is_done = absences.give_time_to_some(store)
            longest = max(longest, time.perf_counter() - locked_at)
        took = time.perf_counter() - begin
    say(f"time for {boards:,} boards, <= 10 s", f"locks for {longest:.2f} s, <= 0.5 s", took)


def due(folder: Path, boards: int, due_boards: int) -> None:
    """What a clean-up costs that reminds on some boards, beside the same among *boards* that run as well."""
    costs = {}
    for size in due_boards, boards:
        place = folder / str(size)
        place.mkdir(parents=True)
        large.build(place / "pbm.db", 100, 10)
        with Store(place / "pbm.db") as store:
            now = datetime.now(UTC)
            row = store.boards.get("symple", "101")
            assert row is not None
            with store.writing():
                store.db.execute("UPDATE boards SET nag_days = 3000, forfeit_days = 3001 WHERE ended IS NULL")
                last = int(store.boards.next_number("symple"))
                for number in range(size):
                    days = 8 if number < due_boards else 1
                    moved = now - timedelta(days=days)
                    store.boards.add(row._replace(board=str(last + 1 + number), moves=0, started=moved, changed=None))
                store.events.note_maintenance("cleanup", now)
            server = Server(store, "games@example.org", Passwords())
            begin = time.perf_counter()
            done = cleanup.clean_up(Session(server))
            costs[size] = time.perf_counter() - begin
            assert done.reminded == due_boards, done
    ratio = costs[boards] / costs[due_boards]
    figures = f"{costs[boards]:.2f} s, {costs[due_boards]:.2f} s without the others"
    say(f"clean-up of {due_boards:,} among {boards:,} boards", figures, ratio, "<= 1.3")


def ages(folder: Path, times: int) -> None:
    """Commands on boards on which much was played, beside the same where little was."""
    for game, options in LONG_GAMES:
        places = folder / f"{game}{options}-10", folder / f"{game}{options}-300"
        for place, played in zip(places, (10, 300), strict=True):
            database(place, 1, 0, game, options, played)
        young, old = in_turn(*(partial(cost, [PBM, game, "show", "101"], place) for place in places), times=times)
        with Store(places[1] / "pbm.db") as store:
            row, turns = store.boards.get(game, "101"), store.boards.turns(game, "101")
        if row:
            took = min(replayed(row, turns) for _ in range(5)) * 1000
            say(f"to play {len(turns)} turns of {game} {options} again", f"{took:.1f} ms")
            ratio = median(late.cpu / early.cpu for early, late in zip(young, old, strict=True))
            say(f"  show of {game} {options}, late / early", old.figures, ratio)


def replayed(row: BoardRow, turns: list[TurnRow]) -> float:
    """The seconds that it computes to play the turns of a board again."""
    begin = time.process_time()
    Board(row, turns, {})
    return time.process_time() - begin


@contextmanager
def serving(command: Sequence[str], folder: Path) -> Iterator[tuple[int, int]]:
    """A mail server that says where it listens; its process and its port."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=environment(folder), text=True, **quiet) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            yield process.pid, int(line.rpartition(":")[2])
        finally:
            process.terminate()


def mails_a_second(port: int, shares: Sequence[Sequence[Typed]]) -> float:
    """Mail each share of the moves over a connection of its own, all at once."""
    waiting = [[(f"{typed.userid}@players.example", typed.mail) for typed in share] for share in shares]
    connections = [SMTP("127.0.0.1", port) for _ in shares]

    def mail(smtp: SMTP, mails: list[tuple[str, bytes]]) -> None:
        for sender, text in mails:
            smtp.sendmail(sender, [SERVER], text)

    with ThreadPoolExecutor(len(shares)) as pool:
        start = time.perf_counter()
        list(pool.map(mail, connections, waiting))
        took = time.perf_counter() - start
    for smtp in connections:
        smtp.quit()
    return sum(map(len, shares)) / took


def cpu_seconds(pid: int) -> float:
    """How much time a process has computed so far, in those of its threads that go on."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def wait_until_sent(db: sqlite3.Connection) -> None:
    """Wait until the outbox is empty, so that one run does not work for another."""
    while db.execute("SELECT count(*) FROM outbox").fetchone()[0]:
        time.sleep(0.02)


def by_mail(folder: Path, times: int, rounds: int, boards: int = 40) -> None:
    """Moves by mail, beside a server that does no more than to store each mail durably."""
    first, *turns = zip(*database(folder, boards, 1 + 2 * times * rounds), strict=True)  # one move on each board
    with (
        serving([PBM, "serve", "--listen=127.0.0.1:0"], folder) as (pid, port),
        serving([PYTHON, "-c", ONE_COMMIT_A_MAIL, str(folder / "bare.db")], folder) as (bare_pid, bare_port),
        sqlite3.connect(folder / "pbm.db") as db,
    ):
        runs: dict[int, list[tuple[float, ...]]] = {1: [], 10: []}
        begin((port, bare_port), first, db)
        coming = iter(turns)
        for _ in range(times):
            for connections, measured in runs.items():
                batch = list(islice(coming, rounds))
                shares = [[typed for turn in batch for typed in turn[at::connections]] for at in range(connections)]
                count = rounds * boards
                before = cpu_seconds(pid)
                start = time.perf_counter()
                speed = mails_a_second(port, shares)
                wait_until_sent(db)
                took, worked = time.perf_counter() - start, cpu_seconds(pid) - before
                before = cpu_seconds(bare_pid)
                bare_speed = mails_a_second(bare_port, shares)
                each = (worked / count * 1000, (cpu_seconds(bare_pid) - before) / count * 1000)
                measured.append((speed, bare_speed, count / took, *each))
        for connections, measured in runs.items():
            pbm, bare, all_sent, cpu, bare_cpu = map(median, zip(*measured, strict=True))
            say(f"mails a second, pbm / bare, {connections} at once", f"{pbm:.0f} / {bare:.0f}", pbm / bare, ">= 0.15")
            say("  with the 2 mails each causes sent", f"{all_sent:.0f} a second", all_sent / bare)
            say(
                f"CPU of serve a mail, bare / pbm, {connections} at once",
                f"{bare_cpu:.2f} / {cpu:.2f} ms",
                bare_cpu / cpu,
            )
            say("  so many commands would keep a core busy", f"{86_400_000 / cpu:,.0f} a day")
        check_stored(db, (1 + 2 * times * rounds) * boards)


def begin(ports: Sequence[int], first: Sequence[Typed], db: sqlite3.Connection) -> None:
    """Have servers play the first turn of each board: one that goes on knows its players' passwords, and has replayed
    its busy boards."""
    for port in ports:
        mails_a_second(port, [first])
    wait_until_sent(db)


def check_stored(db: sqlite3.Connection, sent: int) -> None:
    """Make sure that all moves that were mailed were played."""
    (stored,) = db.execute("SELECT count(*) FROM turns WHERE NOT automatic").fetchone()
    if stored != sent:
        sys.exit(f"Of {sent} legal moves that were mailed, {stored} were played.")


def pace(folder: Path, times: int, boards: int = 100, rounds: int = 3) -> None:
    """How long moves wait for their answer that come at a fixed rate, beside the same server as above."""
    first, *turns = zip(*database(folder, boards, 1 + times * rounds), strict=True)
    with (
        serving([PBM, "serve", "--listen=127.0.0.1:0"], folder) as (_, port),
        serving([PYTHON, "-c", ONE_COMMIT_A_MAIL, str(folder / "bare.db")], folder) as (_, bare_port),
        sqlite3.connect(folder / "pbm.db") as db,
    ):
        begin((port, bare_port), first, db)
        coming, measured = iter(turns), []
        for _ in range(times):
            script = [typed for turn in islice(coming, rounds) for typed in turn]
            measured.append([waits(each, script) for each in (port, bare_port)])
            wait_until_sent(db)
        for share, aim in ((50, ""), (90, ""), (99, "<= 100 ms")):
            pbm, bare = (
                median(took[len(took) * share // 100 - 1] for took in each) * 1000
                for each in zip(*measured, strict=True)
            )
            say(f"p{share} of {RATE} moves a second", f"{bare:.1f} ms by the bare server", pbm, aim)
        check_stored(db, (1 + times * rounds) * boards)


def waits(port: int, script: Sequence[Typed], connections: int = 20) -> list[float]:
    """The seconds within which moves are answered, from when each is due, the shortest first."""
    waiting = iter(
        [(number / RATE, f"{typed.userid}@players.example", typed.mail) for number, typed in enumerate(script)]
    )
    lock, took = Lock(), list[float]()

    def mail(smtp: SMTP) -> None:
        while True:
            with lock:
                due, sender, text = next(waiting, (0.0, "", b""))
            if not sender:
                return
            time.sleep(max(0.0, start + due - time.perf_counter()))
            smtp.sendmail(sender, [SERVER], text)
            took.append(time.perf_counter() - start - due)

    opened = [SMTP("127.0.0.1", port) for _ in range(connections)]
    with ThreadPoolExecutor(connections) as pool:
        start = time.perf_counter()
        list(pool.map(mail, opened))
    for smtp in opened:
        smtp.quit()
    return sorted(took)


class Watched(Store):
    """A database that knows how much is computed while nobody else can write, and which statements it is asked for."""

    locked: float
    """Seconds of the last transaction, its commit included."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        with super().writing():
            began = time.thread_time()
            yield
        self.locked = time.thread_time() - began


def locked(folder: Path, times: int, boards: int = 10) -> None:
    """What a move by mail computes, and how much of that in the write lock, in this process."""
    for what, options, played in (("symple", "-size=9", 20), ("spora", "-size=13", 40), ("spiro", "", 20)):
        turns = zip(*database(folder / what, boards, times, what, options, played), strict=True)
        server = Server(Watched(folder / what / "pbm.db"), SERVER, Passwords())
        statements = list[str]()
        script = [typed for turn in turns for typed in turn]
        for typed in script[:boards]:
            mailed(server, typed, None)
        sent(server, folder / what)  # a server that goes on has made its maildirs, and loaded all that it needs
        measured = [mailed(server, typed, statements if typed is script[-1] else None) for typed in script[boards:]]
        whole, lock = (median(column) * 1000 for column in zip(*measured, strict=True))
        begin = next(number for number, each in enumerate(statements) if each.startswith("BEGIN IMMEDIATE"))
        say(f"CPU of a move of {what} {options} by mail", f"{whole:.2f} ms, {len(statements)} statements")
        say(f"  {what}: ms in the write lock", f"{len(statements) - begin} statements", lock, "<= 5 ms")
        say(f"  {what}: ms to send its two mails", "", sent(server, folder / what) * 1000)


def mailed(server: Server, typed: Typed, statements: list[str] | None) -> tuple[float, float]:
    """Have a mail handled: what that computes, and in the write lock; *statements* are noted, which takes longer."""
    store, raw = server.store, typed.mail
    if statements is not None:
        store.db.set_trace_callback(statements.append)
    start = time.thread_time()
    received = incoming.ReceivedMail(raw, f"{typed.userid}@players.example", (SERVER,))
    outcome = incoming.handle_prepared(server, incoming.prepare_mail(server, received))
    took = time.thread_time() - start
    if (outcome.word, outcome.reason) != ("command", "") or not isinstance(store, Watched):
        sys.exit(f"A legal move was refused: {outcome.reason}")
    return took, store.locked


def sent(server: Server, folder: Path) -> float:
    """What it computes to send the two mails of a move to maildirs, of all that wait; with HTML, without pictures."""
    for name in PLAYERS:
        server.store.users.set_form(name, "html")
    start = time.process_time()
    mails = flush(server, Maildirs(folder / "mail")).sent
    return (time.process_time() - start) / mails * 2


def main() -> None:
    """Measure everything, or the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure less of everything")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="measure N times quickly, and sum up")
    parser.add_argument("parts", nargs="*", metavar="PART", help="a part of it: " + ", ".join(PARTS))
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    quick = given.quick or given.runs > 0
    for _ in range(given.runs or 1):
        with TemporaryDirectory() as name:
            for part in given.parts or (TABLE if given.runs else PARTS):
                PARTS[part](Path(name) / part, quick)
    if given.runs:
        summarize(given.runs)


PARTS: Mapping[str, Callable[[Path, bool], None]] = {
    "shell": lambda path, quick: shell(path, times=4 if quick else 20),
    "locked": lambda path, quick: locked(path, times=3 if quick else 6),
    "mail": lambda path, quick: by_mail(path, times=1 if quick else 3, rounds=5),
    "pace": lambda path, quick: pace(path, times=1 if quick else 3),
    "doctor": lambda path, _: doctor(path, boards=1_000),
    "absence": lambda path, quick: absence(path, boards=10_000 if quick else 100_000),
    "due": lambda path, quick: due(path, boards=10_000 if quick else 100_000, due_boards=1_000),
    "ages": lambda path, quick: ages(path, times=10 if quick else 20),
    "sizes": lambda path, quick: sizes(path, times=3 if quick else 10, boards=10_000 if quick else 1_000_000),
}
"""What can be measured, in that order, by what measures it, quickly or not."""

if __name__ == "__main__":
    main()
