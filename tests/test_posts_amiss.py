"""Commands over HTTP when much goes wrong: odd requests, floods, and a server that is killed."""

import json
import random
import re
import socket
import threading
from contextlib import closing, suppress
from http.client import HTTPException

import pytest

from helpers.database import sql, store_of_tests, stored
from helpers.patience import PATIENCE, until
from helpers.shell import Shell
from helpers.web import serving

TEXT = {"Content_Type": "text/plain"}
COUNTED = {"commands", "events", "failures", "handled", "posts", "quotas", "tokens"}
"""Tables that count what comes in."""
pytestmark = pytest.mark.long


def begun(folder):
    """A shell with 30 boards of alice and bob."""
    shell = Shell(folder)
    shell.sign_up("alice", "bob", "carol", "dave", has_mail=True)
    for _ in range(30):
        shell.run("symple", "challenge", "-size=5", "alice", "bob")
    return shell


def contents(shell):
    """All that is stored, but for what counts what comes in."""
    with store_of_tests(shell.folder / "pbm.db") as store:
        tables = [name for (name,) in store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: stored(store, table) for table in tables if table not in COUNTED | {"outbox"}}


def token_of(shell, name, *words):
    return shell.json("token", name, f"{name}-secret", *words)["token"]


LINES = (
    "symple move 101 bob {wrong} c3", "symple move 101 {wrong} c3", "symple move 999 c3", "symple move 101 z99",
    "symple show 101", "symple show", "list", "help", "nonsense", "", " ", "-", "--", "- - -", "status", "users",
    "serve", "cleanup", "multiple", "token alice {wrong} x", "tokens alice {wrong}",
    "change password alice {wrong} n3w-secret", "x" * 25_000, "symple move 101 - - a1,b1",
    "signoff alice {wrong}", "signup alice {wrong}", "symple challenge alice nobody", "symple challenge",
    "\x00", "\x1b[2J", "\ud83c\udf0d", "symple show " + "1" * 9_000, "x" * 19_000, "symple " * 2_000,
    "symple plan 101 if c3 then", "symple subscribe - -", "symple talk 101 - -",
    "multiple\nlist\nsymple move 101 c3 d4 e5",
)  # fmt: skip
TYPES = *["text/plain"] * 9, *["application/json"] * 4, *(
    "text/plain", "text/plain; charset=utf-16", "TEXT/PLAIN", "application/json; charset=x",
    "text/html", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "a" * 3_000,
)  # fmt: skip
METHODS = *["POST"] * 20, *"GET PUT DELETE PATCH HEAD OPTIONS TRACE BREW".split()
PATHS = *["/command"] * 9, "/command/", "/command?x=1", "//command", "/command%00", "/events", "/answer"
ODD_FIELDS = (
    "Idempotency-Key", "Prefer", "Accept", "Origin", "Sec-Fetch-Site", "Last-Event-ID", "Pbm-From", "X-Forwarded-For",
    "Content-Encoding", "Transfer-Encoding", "Expect", "Host", "Authorization", "Cookie", "Range",
)  # fmt: skip
ODD_VALUES = (
    "", "x", "*/*", "application/json", "wait=1", "wait=999999999999", "null", "http://evil.example", "this machine",
    "127.0.0.1", "198.51.100.7, 203.0.113.9", "::ffff:127.0.0.1", "gzip", "chunked", "100-continue",
    "k" * 65, "k" * 7_000,
    "\xff\xfe", "Bearer", "Bearer x", "Basic YTpi", "bytes=0-", "%00", "<script>", "1-2-3",
)  # fmt: skip


def odd_request(rng, tokens):
    """The bytes of a request that changes nothing if it is understood aright."""
    line = rng.choice(LINES).format(wrong=f"wrong-{rng.randrange(10**6)}")
    raw = line.encode(errors=rng.choice(["replace", "ignore"]))
    if rng.random() < 0.1:
        raw = line.encode("utf-16", "replace")
    media_type = rng.choice(TYPES)
    if "json" in media_type and rng.random() < 0.9:
        values = [line, None, 1, [], {}, [line], "k" * 65, "-", True, 1e999, {"a": [[]]}]
        fields = {name: rng.choice(values) for name in rng.sample(["line", "comment", "id", "passwords", "x"], 3)}
        raw = json.dumps(
            {"line": line, **fields} if rng.random() < 0.8 else rng.choice([fields, [fields], line])
        ).encode()
    if rng.random() < 0.1:
        raw = rng.randbytes(rng.randrange(3_000))
    if rng.random() < 0.05:
        raw = b"[" * 15_000
    length = len(raw)
    if rng.random() < 0.1:
        length = rng.choice([-1, 0, length + 5, 10**12, length // 2])
    path = rng.choice(PATHS)
    head = [f"{rng.choice(METHODS)} {path} HTTP/1.1", "Host: games.example", f"Content-Type: {media_type}"]
    head.append(f"X-Forwarded-For: 203.0.{rng.randrange(256)}.{rng.randrange(256)}")
    if rng.random() < 0.95:
        head.append(f"Content-Length: {length}")
    if rng.random() < 0.6:
        head.append(f"Authorization: Bearer {rng.choice(tokens)}")
    head += [f"{rng.choice(ODD_FIELDS)}: {rng.choice(ODD_VALUES)}" for _ in range(rng.choice([0, 0, 1, 2]))]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1") + raw


def is_whole(raw):
    """Whether a request is as long as it says."""
    head, _, body = raw.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return b"chunked" not in head and (length is None or int(length[1]) <= len(body))


def answer_to(port, raw):
    """What comes back, until the server has ended the connection or says no more."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)) as connection:
        answer = b""
        with suppress(ConnectionError):
            connection.sendall(raw)
            if not is_whole(raw):
                connection.shutdown(socket.SHUT_WR)  # else the server waits for the rest
            while b"text/event-stream" not in answer and (data := connection.recv(65536)):
                answer += data
        return answer


def test_500_odd_requests_get_no_fault_and_have_no_effect(tmp_path):
    """Tokens of others, revoked ones, one that only reads, and one of alice with lines that it may not give."""
    shell = begun(tmp_path)
    shell.run("symple", "move", "101", "alice", "alice-secret", "c3")  # so that no move of alice is possible
    revoked = token_of(shell, "alice", "old")
    tokens = [
        token_of(shell, "alice", "mine"), token_of(shell, "alice", "reader", "read"), token_of(shell, "carol", "hers"),
        revoked, f"pbm_{'0' * 64}", "pbm_", "x", "pbm_" + "f" * 5_000,
    ]  # fmt: skip
    shell.run("token", "alice", "alice-secret", "old", "revoke")
    shell.run("outbox", "flush")
    rng = random.Random(43)
    statuses = set()
    with serving(shell) as web:
        before = contents(shell)
        for number in range(500):
            raw = odd_request(rng, tokens)
            answer = answer_to(web.port, raw)
            assert b"Traceback" not in answer
            status = re.match(rb"HTTP/1.1 (\d{3}) ", answer)
            # a request that is no HTTP, or not whole, may get no answer
            assert status or b"Content-Length: " not in raw or len(answer) == 0, (number, raw[:300], answer[:200])
            statuses.add(int(status[1]) if status else 0)
        after = contents(shell)
        assert web.shell.json("symple", "show", "101")["moves"] == 1
    assert after == before
    assert statuses <= {0, 200, 307, 400, 401, 403, 404, 405, 408, 410, 411, 413, 415, 422, 429}, statuses
    assert {200, 400, 401, 403, 405, 413, 415, 422} <= statuses
    log = (shell.folder / "log").read_text()
    assert "Traceback" not in log
    assert not [token for token in tokens if len(token) > 60 and token[:20] in log]


class Author:
    """A user who posts notes, each with a key until it is answered."""

    def __init__(self, shell, name):
        self.shell, self.name = shell, name
        self.boards = [board["board"] for board in shell.json("symple", "games", name)["boards"]]
        self.headers = TEXT | {"Authorization": f"Bearer {token_of(shell, name, 'robot')}"}
        self.acknowledged = 0
        self.fault = ""

    def post(self, web):
        """Post notes until the server is killed, or until these are too many for a minute."""
        with suppress(OSError, HTTPException):
            status = 200
            while status == 200:
                board = self.boards[self.acknowledged % len(self.boards)]
                line = f"symple note {board}\n{self.name}{self.acknowledged}.".encode()
                key = f"key-{self.acknowledged}"
                status, _, body = web.ask("POST", "/command", line, Idempotency_Key=key, **self.headers)
                self.acknowledged += status == 200
            if status != 429:
                self.fault = body

    def counts(self):
        """How often each note is stored that was posted; the last one was not acknowledged."""
        query = "SELECT text FROM board_notes WHERE userid = ?"
        notes = "".join(text for (text,) in sql(self.shell.folder / "pbm.db", query, self.name))
        return [notes.count(f"{self.name}{number}.") for number in range(self.acknowledged + 1)]


def acknowledged_by(authors):
    return sum(author.acknowledged for author in authors)


def kill_after_posts(web, authors, count):
    """Kill a server when so many more posts of these authors are acknowledged, or these are too many for a minute."""
    threads = [threading.Thread(target=author.post, args=[web]) for author in authors]
    enough = acknowledged_by(authors) + count
    for thread in threads:
        thread.start()
    until(lambda: acknowledged_by(authors) >= enough or not any(thread.is_alive() for thread in threads))
    web.process.kill()
    for thread in threads:
        thread.join()


def test_a_server_that_is_killed_during_2000_posts_with_keys_has_done_once_what_it_has_acknowledged(tmp_path):
    shell = begun(tmp_path)
    for name in ("carol", "dave"):
        for _ in range(20):
            shell.run("symple", "challenge", "-size=5", name, "alice")
    authors = [Author(shell, name) for name in ("alice", "bob", "carol", "dave")]
    rng = random.Random(43)
    while acknowledged_by(authors) < 2_000:
        with serving(shell) as web:
            kill_after_posts(web, authors, rng.randrange(60, 300))
        assert [author.fault for author in authors] == [""] * 4
    for author in authors:
        *acknowledged, last = author.counts()
        assert acknowledged == [1] * author.acknowledged
        assert last <= 1


def test_while_wrong_passwords_and_tokens_flood_in_all_others_are_served(tmp_path):
    """The medians of the others are told by tests/bench/posts.py, because they depend on the machine."""
    shell = begun(tmp_path)
    headers = TEXT | {"Authorization": f"Bearer {token_of(shell, 'alice', 'robot')}"}
    statuses = []
    end = threading.Event()

    def flood(number):
        rng = random.Random(number)
        while not end.is_set():
            machine = {"X_Forwarded_For": f"203.0.{rng.randrange(9)}.{number}"}
            if number % 2:
                line, proof = f"tokens alice wrong-{rng.randrange(10**6)}", {}
            else:
                line, proof = "list", {"Authorization": f"Bearer pbm_{rng.randrange(16**64):064x}"}
            with suppress(OSError, HTTPException):
                statuses.append(web.ask("POST", "/command", line, **TEXT, **machine, **proof)[0])

    with serving(shell) as web:
        threads = [threading.Thread(target=flood, args=[number]) for number in range(12)]
        for thread in threads:
            thread.start()
        for board in range(101, 131):
            status, _, body = web.ask("POST", "/command", f"symple move {board} c3", **headers)
            assert (status, "bob's turn" in body) == (200, True)
            line = f"symple move {board} bob bob-secret a1"
            status, _, body = web.ask("POST", "/command", line, **TEXT, X_Forwarded_For="198.51.100.8")
            assert (status, "alice's turn" in body or "your turn" in body or status == 429) == (200, True)
        end.set()
        for thread in threads:
            thread.join()
    assert {*statuses} <= {401, 429}
    assert {401, 429} <= {*statuses}
    assert [turns for (turns,) in sql(shell.folder / "pbm.db", "SELECT DISTINCT moves FROM boards")] == [2]
