"""How fast commands are over HTTP: ``python tests/bench/posts.py [posts] [mails] [start] [flood]``.

*posts*: the median and the 99th percentile of `show` and `move` with tokens, for 20 clients at once. *mails*: moves by
mail beside moves by HTTP, 20 at once. *start*: a command of the client beside one on a local database. *flood*: `show`
with a token while wrong passwords and tokens come in, beside the same without them. What is compared runs in turn.
Ratios are told, and no figure makes the run fail.
"""

import http.client
import os
import random
import smtplib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from email.message import EmailMessage
from email.policy import SMTP as MAIL
from multiprocessing import Process
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pbm import runner
from pbm.language.line import Line
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.session import Session
from pbm.store import Store

ADDRESS = "pbm@pbm.example"
CLIENTS = 20
BOARDS = 50
"""On how many boards each client plays; 120 lines a minute are allowed for a token."""
STARTS = 15
FLOODERS = 20
"""How many machines post wrong passwords or tokens."""
SHOWS = 40


class Place(NamedTuple):
    """A running server, and the tokens of its users."""

    environment: dict[str, str]
    port: int
    mail_port: int
    tokens: list[str]

    def post(self, line: str, token: str, machine: str) -> float:
        """Post a command. Returns after how many seconds the answer was there. Raises OSError if it is refused."""
        headers = {"Content-Type": "text/plain", "X-Forwarded-For": machine}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        begin = time.perf_counter()
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request("POST", "/command", line.encode(), headers)
            response = connection.getresponse()
            response.read()
        if response.status != 200:
            raise OSError(f"{response.status} for {line}")
        return time.perf_counter() - begin

    def show(self, number: int, index: int) -> float:
        """Have a board of a client shown. Returns after how many seconds it was."""
        return self.post(f"symple show {board(number, index)}", self.tokens[number], machine_of(number))

    def mail(self, number: int, subject: str) -> float:
        """Have a mail of a user handled. Returns after how many seconds it was."""
        mail = EmailMessage(policy=MAIL)
        mail["From"] = f"{user(number)}@players.example"
        mail["Subject"] = subject
        mail["Message-ID"] = f"<{random.random()}@players.example>"
        begin = time.perf_counter()
        with smtplib.SMTP("127.0.0.1", self.mail_port) as connection:
            connection.sendmail(mail["From"], [ADDRESS], mail.as_bytes())
        return time.perf_counter() - begin


def user(number: int) -> str:
    """The userid of the player whom a client plays for."""
    return f"player{number}"


def machine_of(number: int) -> str:
    """The machine of a client: 120 lines a minute are allowed for one."""
    return f"198.51.100.{number + 10}"


def board(number: int, index: int) -> int:
    """The board of a client with this index."""
    return 101 + number * 2 * BOARDS + index


def fill(path: Path) -> list[str]:
    """Sign up users, and begin two times as many boards for each as are played on by HTTP. Returns their tokens."""
    tokens = []
    with Store(path) as store:
        server = Server(store, ADDRESS, Passwords())

        def say(line: str, body: str = "") -> dict[str, str]:
            return dict(runner.run(Line.read(line), lambda: Session(server, body=body))[-1].data)

        say("signup opponent opponent-secret opponent@players.example")
        for number in range(CLIENTS):
            name = user(number)
            say(f"signup {name} {name}-secret {name}@players.example")
            for _ in range(2 * BOARDS // 50):
                say("multiple", f"symple challenge -size=9 {name} opponent\n" * 50)
            tokens.append(say(f"token {name} {name}-secret bench")["token"])
    return tokens


@contextmanager
def serving() -> Iterator[Place]:
    """Run a server."""
    with TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PBM_")}
        environment |= {"PBM_DB": f"{folder}/pbm.db", "PBM_ADDRESS": ADDRESS, "PBM_SETTINGS": ""}
        tokens = fill(Path(folder, "pbm.db"))
        command = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0", "--web=127.0.0.1:0", "--robots=0"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout
            web, mail = (int(process.stdout.readline().rpartition(":")[2]) for _ in range(2))
            try:
                yield Place(environment, web, mail, tokens)
            finally:
                process.terminate()


def write(text: str) -> None:
    """Tell a figure."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def at_once(do: Callable[[int], list[float]]) -> tuple[list[float], float]:
    """What each client measures, all at once, and how many of that are done in a second."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = [seconds for of_client in pool.map(do, range(CLIENTS)) for seconds in of_client]
    return found, len(found) / (time.perf_counter() - begin)


def told(name: str, seconds: list[float], rate: float) -> None:
    """Tell how long something took."""
    ordered = sorted(seconds)
    last = ordered[int(len(ordered) * 0.99) - 1]
    write(f"{name:28} median {median(seconds) * 1000:6.1f} ms, p99 {last * 1000:6.1f} ms, {rate:6.1f} a second")


def posts(place: Place) -> None:
    """Measure `show` and `move` with tokens."""

    def show(number: int) -> list[float]:
        return [place.show(number, index) for index in range(SHOWS)]

    def move(number: int) -> list[float]:
        lines = [f"symple move {board(number, index)} e5" for index in range(BOARDS // 2)]
        return [place.post(line, place.tokens[number], machine_of(number)) for line in lines]

    told("show by HTTP, 20 clients", *at_once(show))
    told("move by HTTP, 20 clients", *at_once(move))


def mails(place: Place) -> None:
    """Measure moves by mail beside moves by HTTP."""

    def by_http(number: int) -> list[float]:
        lines = [f"symple move {board(number, index)} e5" for index in range(BOARDS // 2, BOARDS)]
        return [place.post(line, place.tokens[number], machine_of(number)) for line in lines]

    def by_mail(number: int) -> list[float]:
        lines = [f"symple move {board(number, index)} {user(number)} {user(number)}-secret e5" for index in rest]
        return [place.mail(number, line) for line in lines]

    rest = range(BOARDS, BOARDS + BOARDS // 2)
    found, http_rate = at_once(by_http)
    told("move by HTTP, 20 clients", found, http_rate)
    found, mail_rate = at_once(by_mail)
    told("move by mail, 20 senders", found, mail_rate)
    write(f"HTTP takes {http_rate / mail_rate:.2f} times as many moves a second as mail.")


def start(place: Place) -> None:
    """Measure a command of the client beside one on a local database."""
    there = place.environment | {"PBM_SERVER": f"http://127.0.0.1:{place.port}", "PBM_TOKEN": place.tokens[0]}
    computed: dict[str, list[float]] = {"here": [], "there": []}
    waited: dict[str, list[float]] = {"here": [], "there": []}
    for _ in range(STARTS):
        for name, environment in (("here", place.environment), ("there", there)):
            begin, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
            command = [Path(sys.executable).parent / "pbm", "symple", "show", "101"]
            subprocess.run(command, env=environment, check=True, capture_output=True)
            after = getrusage(RUSAGE_CHILDREN)
            waited[name].append(time.perf_counter() - begin)
            computed[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    for what, seconds in (("compute", computed), ("take", waited)):
        here, elsewhere = (median(seconds[name]) for name in ("here", "there"))
        write(
            f"show: here {what}s {here * 1000:.0f} ms, by the client {elsewhere * 1000:.0f} ms: {elsewhere / here:.2f}"
        )


def post_wrong(place: Place, number: int) -> None:
    """Post wrong passwords or tokens from one machine, one behind the other, for ever."""
    rng = random.Random(number)
    while True:
        with suppress(OSError):
            if number % 2:
                place.post(f"tokens {user(number)} wrong-{rng.random()}", "", f"203.0.113.{number}")
            else:
                place.post("list", f"pbm_{rng.randrange(16**64):064x}", f"203.0.113.{number}")


def flood(place: Place) -> None:
    """Measure `show` with a token beside machines that post wrong passwords and tokens, each in a process."""

    def show() -> float:
        return median(place.show(number, index) for number in range(CLIENTS) for index in range(5))

    ratios = []
    for _ in range(3):
        alone = show()
        flooders = [Process(target=post_wrong, args=[place, number], daemon=True) for number in range(FLOODERS)]
        for flooder in flooders:
            flooder.start()
        time.sleep(1)
        flooded = show()
        for flooder in flooders:
            flooder.kill()
            flooder.join()
        ratios.append(flooded / alone)
        write(f"show alone {alone * 1000:.1f} ms, in a flood {flooded * 1000:.1f} ms: {flooded / alone:.2f}")
    write(f"The median of the ratios is {median(ratios):.2f}.")


PARTS: dict[str, Callable[[Place], None]] = {"posts": posts, "mails": mails, "start": start, "flood": flood}


def main() -> None:
    """Measure what is asked for, each on a new server, or everything."""
    for name in sys.argv[1:] or PARTS:
        with serving() as place:
            PARTS[name](place)


if __name__ == "__main__":
    main()
