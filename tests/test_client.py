"""A shell whose server is elsewhere: what it prints, what runs here, and what it makes of servers that answer badly."""

import json
import subprocess
import sys
import threading

import pytest

from pbm import arguments, client, remote

from helpers.patience import until
from helpers.proxies import answering, cutting
from helpers.servers import loaded, new_certificate
from helpers.shell import Shell
from helpers.web import serving, shell_elsewhere

HIDDEN = "pbm_" + 64 * "5"
"""A token that no server knows."""
SECRETS = {"PBM_TOKEN": HIDDEN}
OPERATORS = sorted(arguments.MODULES.keys() - remote.RUN_HERE)
SERVED = b"HTTP/1.1 200 OK\r\nPbm-Status: 0\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nYes"
"""The answer of a pbm."""
NO_CLAIM = SERVED.replace(b"Pbm-Status: 0\r\n", b"")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A server with boards 101 to 109 of alice and bob."""
    shell = Shell(tmp_path_factory.mktemp("served"))
    shell.sign_up("alice", "bob", has_mail=True)
    for _ in range(9):
        shell.run("symple", "challenge", "-size=5", "alice", "bob")
    with serving(shell) as served:
        yield served
    log = (shell.folder / "log").read_text()
    assert "Traceback" not in log
    assert "-secret" not in log


@pytest.fixture(scope="module")
def elsewhere(web, tmp_path_factory):
    """The shell of alice on another machine, with a token."""
    token = web.shell.json("token", "alice", "alice-secret", "elsewhere")["token"]
    shell = shell_elsewhere(web, tmp_path_factory.mktemp("elsewhere"), PBM_TOKEN=token)
    yield shell
    assert list(shell.folder.iterdir()) == []  # no database


def unanswered(shell, *args, **environment):
    """Why no pbm has answered: one sentence without secrets."""
    told = shell.refused(*args, status=3, **environment)
    assert HIDDEN[:12] not in told
    assert "-secret" not in told
    assert told.count("\n") == 1
    assert told.endswith(".\n")
    return told


# What is printed


def test_the_answer_is_that_of_a_shell(web, elsewhere):
    assert elsewhere.done("symple", "show", "101") == web.shell.done("symple", "show", "101")
    assert elsewhere.json("symple", "show", "101", "102") == web.shell.json("symple", "show", "101", "102")
    assert elsewhere.refused("symple", "show", "999") == web.shell.refused("symple", "show", "999")
    assert elsewhere.refused("nonsense", status=2) == web.shell.refused("nonsense", status=2)
    error = elsewhere.run("--json", "symple", "move", "101", "z9")
    assert (error.returncode, error.stderr) == (1, "")
    assert json.loads(error.stdout)["status"] == 1
    assert elsewhere.done("help", "move") == web.shell.done("help", "move")
    assert elsewhere.refused("--comment", "list") == web.shell.refused("--comment", "list")


def test_a_move_is_made_there_with_its_comment(web, elsewhere):
    assert elsewhere.json("symple", "move", "101", "c3", "--comment=Hello bob")["moves"] == 1
    assert web.moves("101") == ["c3"]
    assert "Hello bob" in web.shell.done("symple", "talk", "101")


def test_multiple_takes_its_lines_from_standard_input_and_has_the_highest_status(web, elsewhere):
    done = elsewhere.run("multiple", "--comment=-", stdin="symple move 102 c3\nlist\nsymple move 102 d4\n")
    assert (done.returncode, done.stderr) == (1, "")
    assert "It is not your turn" in done.stdout
    assert web.moves("102") == ["c3"]


@pytest.mark.parametrize(
    ("line", "stdin", "environment"),
    [
        ("symple move {} alice alice-secret c3", "", {}),
        ("symple move {} alice - c3", "", {"PBM_PASSWORD": "alice-secret"}),
        ("symple move {} alice - c3", "alice-secret\n", {}),
        ("multiple --comment=-", "symple move {} alice - c3", {"PBM_PASSWORD": "alice-secret"}),
        ("symple move {} alice - c3 --comment=-", "alice-secret\nHi", {}),
    ],
)
def test_without_a_token_a_password_stands_in_the_line_or_comes_for_a_hyphen(web, elsewhere, line, stdin, environment):
    board = str(103 + test_without_a_token_a_password_stands_in_the_line_or_comes_for_a_hyphen.count)
    test_without_a_token_a_password_stands_in_the_line_or_comes_for_a_hyphen.count += 1
    told = elsewhere.run(*line.format(board).split(), stdin=stdin.format(board), PBM_TOKEN="", **environment)
    assert (told.returncode, told.stderr) == (0, "")
    assert web.moves(board) == ["c3"]


test_without_a_token_a_password_stands_in_the_line_or_comes_for_a_hyphen.count = 0


def test_the_server_says_what_is_wrong_with_a_token(elsewhere):
    assert elsewhere.refused("symple", "showas", "101", **SECRETS).startswith("This token is wrong, or has ended.")


def test_pictures_are_not_shown_but_the_text_is(elsewhere):
    done = elsewhere.run("symple", "show", "101", "--picture")
    assert (done.returncode, done.stderr) == (0, f"{remote.SHORT_OF_PICTURES}\n")
    assert "Symple board 101" in done.stdout


@pytest.mark.parametrize(
    ("line", "status", "why"),
    [
        ("symple note 101 --comment=x", 0, "The command was done, but its answer cannot be printed: the disk is full."),
        ("symple show 101", 1, "The command was done, but its answer cannot be printed: the disk is full."),
    ],
)
def test_an_answer_that_cannot_be_printed_has_the_status_that_it_has_in_a_shell(elsewhere, line, status, why):
    words = ["sh", "-c", f"{sys.executable} -m pbm {line} > /dev/full"]
    done = subprocess.run(words, env=elsewhere.environment, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (status, why)


def test_a_command_imports_what_it_needs_to_ask_and_no_more(elsewhere):
    code = "import sys; from pbm.__main__ import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = elsewhere.python("-c", code, "symple", "show", "101")
    assert "Symple board 101" in done.stdout
    needed = {name for name in done.stderr.split() if name.startswith(("pbm.", "games"))}
    assert needed == {
        *("pbm.__main__", "pbm.arguments", "pbm.client", "pbm.disk", "pbm.environment", "pbm.names"),
        *("pbm.remote", "pbm.terminal", "pbm.texts"),
    }
    assert {"asyncio", "click", "sqlite3", "secrets"}.isdisjoint(done.stderr.split())


# What runs here


@pytest.mark.parametrize("name", OPERATORS)
def test_a_command_of_the_operator_is_refused_and_nothing_is_sent(shell, name):
    with answering(SERVED) as server:
        second = {"mail": "key", "puzzles": "symple"}  # which tell them from commands of players
        words = [name, *filter(None, [second.get(name)])]
        why = shell.refused(*words, PBM_SERVER=server.url)
        assert why.startswith(f"`{name}` is a command of the operator")
        assert shell.refused("arena", "symple", "a=x", "b=y", "--save=pool", PBM_SERVER=server.url).startswith(
            "`arena`"
        )
    assert server.connections == 0
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "stdin", "text"),
    [
        (["referee", "symple"], "new\nplay c3\n", "= c3"),
        (["completion", "bash"], "", "complete -F"),
        (["--version"], "", "pbm "),
        (["help", "wait"], "", "Usage: pbm wait"),
        (["symple", "move", "--help"], "", "GAME move BOARD"),
    ],
)
def test_what_needs_no_server_runs_here(shell, words, stdin, text):
    with answering(SERVED) as server:
        assert text in shell.done(*words, stdin=stdin, PBM_SERVER=server.url)
    assert server.connections == 0
    assert list(shell.folder.iterdir()) == []


def test_words_are_completed_with_the_names_that_the_server_knows(web, elsewhere):
    def offered(*words):
        return elsewhere.done("complete", stdin="".join(f"{word}\n" for word in words)).split()

    assert offered("symple", "move", "10") == [str(number) for number in range(109, 100, -1)]
    assert offered("pbm", "symple", "mo") == ["move"]
    assert offered("symple", "join", "") == []
    web.shell.done("symple", "seek", "bob", "bob-secret", "2")
    assert offered("symple", "challenge", "b") == ["bob"]


@pytest.mark.usefixtures("quick")
def test_where_nobody_answers_words_are_completed_without_names(shell):
    with answering(SERVED) as server:
        pass
    words = {"stdin": "symple\nmove\n\n", "PBM_SERVER": server.url}
    assert shell.done("complete", **words).split() == []
    assert list(shell.folder.iterdir()) == []


# Which server, and no other


@pytest.mark.parametrize(
    "url",
    [
        "http://games.example",
        "http://127.0.0.1.games.example",
        "http://localhost.games.example:80",
        "http://192.0.2.1",
        "https://alice:alice-secret@games.example",
        "https://games.example/?token=alice-secret",
        "https://games.example:port",
        "ftp://games.example",
        "games.example",
        "https://",
        "https://a..b",
        f"https://games.example/#{HIDDEN}",
        HIDDEN,
    ],
)
def test_a_server_is_https_or_this_machine_and_what_is_neither_is_not_said_back(shell, url):
    assert unanswered(shell, "list", PBM_SERVER=url, **SECRETS) == f"{client.NO_SERVER}\n"


@pytest.mark.parametrize("token", ["alice secret", "pbm_\r\nX: y", "pbm_\u00e9"])
def test_a_token_that_could_be_more_than_a_word_is_not_sent(shell, token):
    with answering(SERVED) as server:
        assert unanswered(shell, "list", PBM_SERVER=server.url, PBM_TOKEN=token) == f"{client.NOT_ONE_WORD}\n"
    assert server.connections == 0


def test_a_token_goes_into_one_header_and_a_password_into_the_body(shell):
    with answering(SERVED) as server:
        shell.done("symple", "show", "101", PBM_SERVER=server.url, **SECRETS)
        shell.done("symple", "showas", "alice", "-", "101", PBM_SERVER=server.url, PBM_PASSWORD="alice-secret")
    first, second = server.requests
    assert first.count(HIDDEN.encode()) == first.count(f"Authorization: Bearer {HIDDEN}\r\n".encode()) == 1
    head, _, body = second.partition(b"\r\n\r\n")
    assert b"alice-secret" not in head
    assert json.loads(body)["passwords"] == ["alice-secret"]
    assert {raw.partition(b"\r\n")[0] for raw in server.requests} == {b"POST /command HTTP/1.1"}


# Servers that answer badly


@pytest.fixture
def quick(monkeypatch):
    """A client that waits for nothing long."""
    monkeypatch.setattr(client, "TRY_AGAIN_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(remote, "ROBOT_SECONDS", 0)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(shell, code):
    with answering(SERVED) as other:
        redirect = f"HTTP/1.1 {code} Go\r\nLocation: {other.url}/command\r\nPbm-Status: 0\r\nContent-Length: 0\r\n\r\n"
        with answering(redirect.replace("Pbm-Status: 0\r\n", "").encode()) as server:
            assert "is not followed" in unanswered(shell, "list", PBM_SERVER=server.url, **SECRETS)
            assert len(server.requests) == 1
        with answering(redirect.encode()) as server:
            assert "is not followed" in unanswered(shell, "list", PBM_SERVER=server.url, **SECRETS)
    assert other.connections == 0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("response", "tries", "why"),
    [
        (NO_CLAIM, 3, "no pbm takes commands"),
        (SERVED.replace(b"Status: 0", b"Status: 256"), 3, "no pbm takes commands"),
        (SERVED.replace(b"Content-Length: 3\r\n", b""), 3, "no pbm takes commands"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 1, "the status is 404"),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", 3, "the status is 502"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", 3, "without a whole answer, and the command may have been done"),
        (b"", 3, "without a whole answer"),
        (SERVED.replace(b"Length: 3", b"Length: 30"), 3, "without a whole answer"),
        (SERVED[:40], 3, "no pbm takes commands"),
        (SERVED.replace(b"\r\n\r\n", b"\r\nX: " + b"y" * 70_000 + b"\r\n\r\n"), 3, "without a whole answer"),
        (
            b"HTTP/1.1 200 OK\r\nPbm-Status: 0\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nYes",
            3,
            "without a whole answer",
        ),
    ],
)
def test_what_is_no_whole_answer_of_a_pbm_is_none(shell, response, tries, why):
    with answering(response) as server:
        assert why in unanswered(shell, "list", PBM_SERVER=server.url, **SECRETS)
    assert len(server.requests) == tries
    assert len({json.loads(raw.partition(b"\r\n\r\n")[2])["id"] for raw in server.requests}) == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("body", [b"Yes", b"[1]", b"[" * 50_000])
def test_what_is_no_object_is_no_answer_to_a_program(shell, body):
    response = SERVED.replace(b"Length: 3", b"Length: %d" % len(body)).replace(b"Yes", body)
    with answering(response) as server:
        told = shell.run("list", "--json", PBM_SERVER=server.url)
    assert told.returncode == json.loads(told.stdout)["status"] == 3


@pytest.mark.usefixtures("quick")
def test_an_answer_that_is_too_long_is_not_read_to_its_end(shell, monkeypatch):
    monkeypatch.setattr(client, "MOST_ANSWER_BYTES", 1_000_000)
    response = SERVED.replace(b"Length: 3", b"Length: 99000000000") + b"x" * 2_000_000
    with answering(response) as server:
        assert "answers with more than 1 MB." in unanswered(shell, "list", PBM_SERVER=server.url)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("begin", [b"", SERVED[:60], SERVED[:-1]])
def test_a_server_that_is_slow_is_left_after_a_time(shell, begin):
    end = threading.Event()
    with answering(begin, then=end) as server:
        assert "has not answered in time" in unanswered(shell, "list", PBM_SERVER=server.url, **SECRETS)
        end.set()
    assert len(server.requests) == 3


@pytest.mark.usefixtures("quick")
def test_where_nobody_listens_is_told(shell):
    with answering(SERVED) as server:
        pass
    assert unanswered(shell, "list", PBM_SERVER=server.url).endswith("cannot be reached: nobody listens there.\n")


@pytest.mark.usefixtures("quick")
def test_characters_that_steer_a_terminal_are_shown(shell):
    with answering(SERVED.replace(b"Yes", b"\x1b[2J")[:-1]) as server:
        assert "\x1b" not in shell.done("list", PBM_SERVER=server.url)


@pytest.mark.usefixtures("quick")
def test_a_server_that_is_busy_is_asked_again_and_one_that_wants_a_long_break_is_not(shell):
    busy = SERVED.replace(b"200 OK", b"503 Busy").replace(b"Status: 0", b"Status: 1")
    with answering(busy, busy, SERVED) as server:
        assert shell.done("list", PBM_SERVER=server.url) == "Yes\n"
    later = busy.replace(b"503 Busy", b"429 Many").replace(b"Pbm", b"Retry-After: 60\r\nPbm")
    with answering(later) as server:
        assert shell.refused("list", PBM_SERVER=server.url) == "Yes\n"
    assert len(server.requests) == 1


def test_only_a_certificate_that_vouches_for_this_server_is_believed(shell, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "TRY_AGAIN_SECONDS", (0.0, 0.0))
    ours, other = (tmp_path / name for name in ("ours", "other"))
    for folder in (ours, other):
        folder.mkdir()
    certificate = new_certificate(ours)
    with answering(SERVED, context=loaded(certificate)) as server:
        assert "The certificate of https://localhost:" in unanswered(shell, "list", PBM_SERVER=server.url, **SECRETS)
        believed = {"SSL_CERT_FILE": str(certificate.file)}
        assert shell.done("list", PBM_SERVER=server.url, **believed, **SECRETS) == "Yes\n"
        by_number = server.url.replace("localhost", "127.0.0.1")  # the certificate is for localhost
        assert "is not valid" in unanswered(shell, "list", PBM_SERVER=by_number, **believed, **SECRETS)
        unknown = {"SSL_CERT_FILE": str(new_certificate(other).file)}
        assert "is not valid" in unanswered(shell, "list", PBM_SERVER=server.url, **unknown, **SECRETS)
    assert len(server.requests) == 1  # a token was sent once


# Once, even if it takes three tries


def test_a_move_whose_answer_is_lost_twice_is_made_once_and_answered_the_third_time(web, elsewhere, monkeypatch):
    monkeypatch.setattr(client, "TRY_AGAIN_SECONDS", (0.0, 0.0))
    shares = iter([1.0, 1.1, 2.0])
    with cutting(web.port, lambda _: next(shares)) as proxy:
        told = elsewhere.json("symple", "move", "108", "c3", PBM_SERVER=proxy.url)
    assert (told["moves"], told["turn"]) == (1, "bob")
    assert web.moves("108") == ["c3"]
    assert proxy.connections == 3


# Robots


@pytest.mark.long
def test_the_answer_waits_for_a_robot_unless_it_is_not_to(tmp_path):
    shell = Shell(tmp_path / "served")
    shell.folder.mkdir()
    shell.sign_up("alice", has_mail=True)
    token = shell.json("token", "alice", "alice-secret", "elsewhere")["token"]
    with serving(shell, "--robots=1") as web:
        elsewhere = shell_elsewhere(web, tmp_path / "elsewhere", PBM_TOKEN=token)
        assert elsewhere.json("symple", "challenge", "-size=5", "robot1", "alice")["moves"] == 1
        shown = elsewhere.done("symple", "move", "101", "c3")
        assert shown == web.shell.done("symple", "showas", "alice", "alice-secret", "101")
        assert len(web.moves()) == 3
        assert elsewhere.json("symple", "move", "101", "d1", "--no-wait")["turn"] == "robot1"
        until(lambda: len(web.moves()) == 5)
