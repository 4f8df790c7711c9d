"""Pages that many players have open at once: ``python tests/bench/web.py [CHECKOUT...]``.

For each checkout of pbm, by default this one, a server of its own is asked by PLAYERS pages at a time, each of a board
of MOVES moves: a preview, a move, and a look of the other player, again and again. Two lines are printed:

- Players who make a move each THINKING seconds. This is how long somebody waits.
- Players who never pause. Then as many posts wait as there are players, whatever the server does: how long they take is
  their number by the posts that the machine can do in a second, and so measures computing. The clients compute on the
  same machine. Beside these posts, mails are handed in one after the other.

Each line says what a post costs: of the server, of its process that makes what pages are told, of those that compose
mails, and of the clients. Compare before and after a change in one run.
"""

import json
import os
import smtplib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import NamedTuple
from urllib.parse import urlencode

from pbm.access import tokens
from pbm.actions.turns import start, store_turns
from pbm.board.board import Board
from pbm.board.clocks import Clocks
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.session import Session
from pbm.store import Store

ADDRESS = "pbm@pbm.example"
HERE = Path(__file__).parents[2]
MOVES = 60
PLAYERS = 20
ROUNDS = 4
"""How many moves are made on each board, by players who never pause."""
THINKING = 3.0
"""How many seconds players think about a move, on average."""
THOUGHT_ROUNDS = 8
"""How many moves are made on each board by players who think."""
MAILS_ALONE = 100
FILL = "fill"
MAIL = b"From: a0@players.example\r\nSubject: papagra show 101\r\nMessage-ID: <%d@bench>\r\n\r\n\r\n"


class Page:
    """The pages of both players of a board."""

    def __init__(self, port: int, board: Board, addresses: dict[str, str]) -> None:
        """Begin with the board as it is stored."""
        self.board = board
        self.addresses = addresses
        self.known: dict[str, str] = {}
        self.random = Random(board.row.board)
        self.connection = HTTPConnection("127.0.0.1", port, timeout=120)
        self.times: list[float] = []
        self.sizes: list[int] = []

    def open(self) -> None:
        """Let both players know the board as it is: a page that is opened has been written before."""
        for name in self.addresses:
            self.post(name, "")
        self.times.clear()
        self.sizes.clear()

    def play(self, rounds: int, thinking: float) -> None:
        """Have so many moves previewed and played, and let the other player look."""
        for _ in range(rounds):
            time.sleep(self.random.uniform(0, 2 * thinking))
            mover = self.board.mover
            move = self.board.state.random(self.random)
            self.post(mover, f"preview {move}")
            self.post(mover, move)
            self.board.play(mover, move, self.board.row.started)
            self.post(self.board.row.opponent(mover), "")

    def post(self, name: str, text: str) -> None:
        """Post what a page does."""
        token = tokens.token_of(self.addresses[name])
        place = {"game": self.board.row.game, "board": self.board.row.board}
        fields = {"token": token, "text": text, "known": self.known.get(name, "nothing"), **place}
        status, answer = self.ask(fields)
        if status != 200:
            raise SystemExit(f"{status} {answer}")
        if answer.get("steps") and isinstance(answer["steps"], list):
            self.known[name] = answer["steps"][-1]["id"]

    def ask(self, fields: dict[str, str]) -> tuple[int, dict]:
        """The status and the object that are answered."""
        headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        begin = time.perf_counter()
        self.connection.close()
        self.connection.request("POST", "/answer", urlencode(fields), headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status == 200:
            self.times.append(time.perf_counter() - begin)
            self.sizes.append(len(body))
        return response.status, json.loads(body)


def fill(file: Path) -> list[tuple[Board, dict[str, str]]]:
    """Make boards in a database, always the same. Returns each with the reply addresses of its players."""
    boards = []
    with Store(file) as store, store.writing():
        server = Server(store, ADDRESS, Passwords())
        session = Session(server)
        for number in range(PLAYERS):
            names = f"a{number}", f"b{number}"
            for name in names:
                store.users.add(name, "", session.now)
                store.users.replace_addresses(name, {f"{name}@players.example": None}, session.now)
            board = start(session, "papagra", [], names, times=Clocks())
            rng = Random(number)
            while len(board.turns) < MOVES:
                board.play(names[len(board.turns) % 2], board.state.random(rng), session.now)
            store_turns(session, board)
            addresses = {name: tokens.reply_address(server, *board.row.place, name) for name in names}
            boards.append((board, addresses))
    return boards


def settings_of(checkout: Path, database: Path) -> dict[str, str]:
    """The environment of a process that runs the pbm of a checkout."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PBM_")}
    return settings | {
        "PBM_DB": str(database), "PBM_ADDRESS": ADDRESS, "PBM_SETTINGS": "", "PYTHONPATH": str(checkout)
    }  # fmt: skip


def filled(checkout: Path, database: Path) -> list[dict[str, str]]:
    """Have a checkout, whose tables may be older, make the boards. Returns the reply addresses of their players."""
    command = [sys.executable, __file__, FILL, str(database)]
    settings = settings_of(checkout, database)
    return json.loads(subprocess.run(command, env=settings, check=True, capture_output=True).stdout)


@contextmanager
def serving(checkout: Path, database: Path) -> Iterator[tuple[int, int, int]]:
    """Run the server of a checkout. Gives the ports for the web and for mails, and the number of its process."""
    settings = settings_of(checkout, database)
    command = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0", "--web=127.0.0.1:0", "--robots=0"]
    with (
        (database.parent / "log").open("w") as log,
        subprocess.Popen(
            command, env=settings, cwd=database.parent, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout
            web, mail = (int(process.stdout.readline().rpartition(":")[2]) for _ in range(2))
            yield web, mail, process.pid
        finally:
            process.terminate()


def send_mail(port: int, number: int) -> float:
    """Hand in a mail. Returns the seconds that it takes."""
    begin = time.perf_counter()
    with smtplib.SMTP("127.0.0.1", port) as smtp:
        smtp.sendmail("a0@players.example", [ADDRESS], MAIL % number)
    return time.perf_counter() - begin


def computed(process: int) -> float:
    """The seconds of CPU that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(process: int) -> dict[int, str]:
    """The processes that a process has begun, each with its command."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    numbers = [int(child) for path in lists for child in path.read_text().split()]
    return {number: Path(f"/proc/{number}/cmdline").read_text() for number in numbers}


class Computing(NamedTuple):
    """The seconds of CPU that were computed so far."""

    server: float
    pages: float
    """By the process that makes what pages are told."""
    mails: float
    """By the processes that compose mails and look for what else there is to do, to which nobody listens here."""
    clients: float


def computed_by_all(server: int) -> Computing:
    """What a server, its other processes and this one have computed."""
    pages = mails = 0.0
    for number, command in children(server).items():
        if "multiprocessing" in command:
            pages += computed(number)
        else:
            mails += computed(number)
    return Computing(computed(server), pages, mails, time.process_time())


def measure(checkout: Path, thinking: float) -> str:
    """What the server of a checkout takes, as a line, if players think so long about each move."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "pbm.db")
        boards = [board for board, _ in fill(Path(folder, "own.db"))]
        addresses_of_boards = filled(checkout, database)
        with serving(checkout, database) as (web, mail, process), ThreadPoolExecutor(PLAYERS) as pool:
            pages = [Page(web, *board) for board in zip(boards, addresses_of_boards, strict=True)]
            for page in pages:
                page.open()
            alone = []
            if not thinking:
                alone = [send_mail(mail, number) for number in range(MAILS_ALONE)]
            before = computed_by_all(process)
            begin = time.perf_counter()
            rounds = THOUGHT_ROUNDS if thinking else ROUNDS
            playing = [pool.submit(page.play, rounds, thinking) for page in pages]
            beside = []
            while not thinking and not all(future.done() for future in playing):
                beside.append(send_mail(mail, MAILS_ALONE + len(beside)))
            for future in playing:
                future.result()
            took = time.perf_counter() - begin
            costs = [after - then for after, then in zip(computed_by_all(process), before, strict=True)]
    posts = [seconds for page in pages for seconds in page.times]
    sizes = [size for page in pages for size in page.sizes]
    p99 = quantiles(posts, n=100)[98]
    server, drawing, mailing, clients = (f"{1000 * cost / len(posts):.1f}" for cost in costs)
    line = (
        f"{len(posts)} posts and {len(beside)} mails in {took:.1f} s: "
        f"median {1000 * median(posts):.0f} ms, p99 {1000 * p99:.0f} ms, {median(sizes) / 1000:.1f} kB; "
        f"computing by post: server {server}, pages {drawing}, mails {mailing}, clients {clients} ms"
    )
    if not thinking:
        line += (
            f"; mails: median {1000 * median(alone):.1f} ms alone, "
            f"{1000 * median(beside):.1f} ms beside ({median(beside) / median(alone):.1f} times)"
        )
    return line


if sys.argv[1:2] == [FILL]:
    sys.stdout.write(json.dumps([addresses for _, addresses in fill(Path(sys.argv[2]))]))
elif __name__ == "__main__":
    for thinking, players in (THINKING, f"a move each {THINKING:g} s"), (0, "without a pause"):
        for checkout in sys.argv[1:] or [str(HERE)]:
            sys.stdout.write(f"{checkout}, {players}: {measure(Path(checkout).resolve(), thinking)}\n")
            sys.stdout.flush()
