"""Mail through real conversations: SMTP, LMTP, the pipe of a mail server, and what comes back."""

import asyncio
import os
import signal
import smtplib
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from pbm.access import tokens
from pbm.mail import incoming
from pbm.mail.smtp import Connections
from pbm.service.main_thread import MainThread, Receiver, WaitingMail
from pbm.service.serve import _tell_systemd
from pbm.store import Unusable

from helpers.database import sql, stored
from helpers.mail import ADDRESS, mail_of, message
from helpers.patience import PATIENCE, children_of, until
from helpers.servers import SERVE, converse, inbox, port_of, running
from helpers.shell import Shell, two_players


def stored_moves(shell, board="101"):
    [(moves,)] = sql(shell.folder / "pbm.db", "SELECT moves FROM boards WHERE board = ?", board)
    return moves


@pytest.fixture(scope="module")
def served(tmp_path_factory, certificate):
    """The shell of alice and bob, and the port of a server with a certificate that runs during all tests."""
    shell = Shell(tmp_path_factory.mktemp("served"))
    shell.become(two_players)
    with shell.serving(f"--certificate={certificate.file}", f"--key={certificate.key}") as port:
        yield shell, port


def begun(shell):
    """A new board, on which alice is to move."""
    return shell.json("spiro", "challenge", "-small", "-pieces=2", "alice", "bob")["board"]


def test_a_stranger_becomes_a_player_and_starts_a_board_by_mail_alone(served):
    shell, port = served
    for name in ("carol", "dora"):
        sender = f"{name}@players.example"
        converse(port, message(f"signup {name} {name}-secret", sender=sender))
        [question] = inbox(shell, name)
        subject = next(line for line in question.splitlines() if line.startswith("Subject: "))
        converse(port, message(f"Re: {subject[9:]}", sender=sender))
        inbox(shell, name, 2)
    converse(port, message("Symple challenge -size=5 carol dora", "Hello dora", sender="carol@players.example"))
    assert "Subject: New Symple Board 101 carol **" in inbox(shell, "dora", 3)[-1]
    assert "\n\nsymple move 101 carol PASSWORD MOVE#1\n" in inbox(shell, "carol", 3)[-1]


def test_250_means_that_it_is_on_the_disk(served):
    shell, port = served
    board = begun(shell)
    with smtplib.SMTP("127.0.0.1", port) as connection:
        connection.sendmail("x@y.example", [ADDRESS], message(f"spiro move {board} alice alice-secret e3:+"))
        assert stored_moves(shell, board) == 1


def test_a_database_that_cannot_be_written_makes_the_mail_come_again(served):
    shell, port = served
    sql(shell.folder / "pbm.db", "ALTER TABLE handled RENAME TO hidden")
    with pytest.raises(smtplib.SMTPDataError) as refused:
        converse(port, message("spiro games"))
    assert refused.value.smtp_code == 451
    sql(shell.folder / "pbm.db", "ALTER TABLE hidden RENAME TO handled")
    assert converse(port, message("spiro games")) == [{}]


def deliver(shell, raw, **environment):
    return shell.run("deliver", stdin=raw, **environment)


def test_deliver_takes_a_mail_from_a_pipe_unless_it_is_too_large(players):
    raw = message("spiro move 101 alice alice-secret e3:+", message_id="<one@players.example>")
    for _ in range(2):
        done = deliver(players, raw)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stored_moves(players) == 1
    assert deliver(players, message("spiro games", "x\n" * 600_000)).returncode == 65


def test_deliver_is_done_when_the_command_was_refused_for_its_answer_is_a_mail(players):
    assert deliver(players, message("spiro move 101 alice wrong-secret e3:+")).returncode == 0
    players.run("outbox", "flush")
    assert "The userid or the password is wrong." in inbox(players, "alice", 2)[-1]


@pytest.mark.parametrize(
    ("environment", "header", "status"),
    [
        ({"RECIPIENT": "victim@elsewhere.example"}, b"", 67),
        ({}, b"Delivered-To: victim@elsewhere.example\r\n", 67),
        ({"RECIPIENT": ADDRESS}, b"Delivered-To: victim@elsewhere.example\r\n", 0),
        ({"RECIPIENT": "PBM+token@pbm.example"}, b"", 67),
        ({"PBM_DB": "/nonexistent/folder/pbm.db"}, b"", 75),
        ({"PBM_DB": "/dev/null"}, b"", 75),
    ],
)
def test_deliver_answers_in_the_exit_statuses_of_mail_servers(players, environment, header, status):
    assert deliver(players, header + message("spiro games"), **environment).returncode == status


@pytest.mark.parametrize("redirection", ["<&-", "2>&- </dev/null", "< /dev/null", "extra words --more < /dev/null"])
def test_deliver_never_ends_as_a_program_does_that_was_misused(players, redirection):
    settings = players.environment | {"PBM_DB": "/nonexistent/pbm.db"}
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m pbm deliver {redirection}"], env=settings, check=False)
    assert done.returncode == 75


@pytest.mark.parametrize(
    ("environment", "header"),
    [({"SENDER": "jörg@players.example"}, ""), ({}, "Return-Path: <jörg@players.example>\r\n")],
)
def test_deliver_has_a_mail_returned_whose_sender_could_not_be_answered(players, environment, header):
    raw = f"{header}From: jörg@players.example\r\nSubject: spiro games\r\n\r\n".encode()
    done = deliver(players, raw, **environment)
    assert (done.returncode, done.stderr) == (65, f"{incoming.NOT_ASCII}\n")
    assert "The outbox is empty." in players.run("outbox", "list").stdout


@pytest.mark.parametrize(
    ("environment", "header"),
    [({"SENDER": ""}, b""), ({"SENDER": "MAILER-DAEMON"}, b""), ({}, b"Return-Path: <>\r\n")],
)
def test_deliver_does_not_answer_a_bounce_which_perhaps_only_its_return_path_tells(players, environment, header):
    assert deliver(players, header + message("rubbish"), **environment).returncode == 0
    assert "The outbox is empty." in players.run("outbox", "list").stdout


@pytest.mark.parametrize(
    "listen", ["nonsense", "127.0.0.1:99999", "127.0.0.1:x", "256.0.0.1:0", "unix:", "unix:/nonexistent/socket"]
)
def test_a_place_to_listen_that_is_none_is_refused(players, listen):
    done = players.run("serve", f"--listen={listen}")
    assert done.returncode in (1, 2)
    assert done.stderr


@pytest.mark.long
def test_the_server_ends_at_once_whenever_it_is_told_to(players):
    """Stopped at a different moment of its second each time; it has hung here when the moment was a bad one.

    It gives the processes that it has started no less time than it has itself, so that it ends only if all of them do.
    """
    code = "from pbm.service import serve; from pbm.__main__ import main; serve.HELPER_SECONDS = 1e6; main()"
    for number in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", code, *SERVE], env=players.environment, stdout=subprocess.PIPE
        ) as process:
            converse(int(process.stdout.readline().rpartition(b":")[2]), message(f"help {number}"))
            time.sleep(number / 9)
            process.terminate()
            assert process.wait(PATIENCE) == 0


def in_threads(count, do):
    """What a function returns for so many numbers, in as many threads at once."""
    with ThreadPoolExecutor(count) as pool:
        return [*pool.map(do, range(count))]


def test_many_connections_at_once_are_all_served(served):
    shell, port = served
    answers = in_threads(20, lambda one: converse(port, mail_of(f"player{one}@players.example", "spiro games")))
    assert answers == [[{}]] * 20
    for number in range(20):
        assert "List of Spiro games" in inbox(shell, f"player{number}")[0]


def test_the_server_listens_on_ipv6_and_ends_when_it_is_told_to(players):
    with running(players, "serve", "--listen=[::1]:0") as process:
        line = process.stdout.readline()
        assert line.startswith("listening on [::1]:")
        with smtplib.SMTP("::1", int(line.rpartition(":")[2])) as connection:
            assert connection.sendmail("x@y.example", [ADDRESS], message("help")) == {}
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert [line.split()[2:5] for line in process.stderr] == [["::1", "<x@y.example>", "done:"]]


def test_the_server_listens_at_a_local_socket_that_others_than_its_group_cannot_open(players):
    path = players.folder / "socket"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    with running(players, "serve", "--lmtp", f"--listen=unix:{path}") as process:
        assert process.stdout.readline() == f"listening on unix:{path}\n"
        assert path.stat().st_mode & 0o777 == 0o660
        assert lmtp_replies(path, message("spiro move 101 alice alice-secret e3:+")) == [250, 250]
        assert stored_moves(players) == 1
        assert "The server cannot listen on " in players.refused("serve", f"--listen=unix:{path}")
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert not path.exists()  # it goes with its server


def lmtp_replies(path, raw):
    """The replies to a mail with two recipients, one for each."""
    with smtplib.LMTP(str(path)) as peer:
        assert peer.ehlo()[0] == 250
        assert peer.mail("alice@players.example")[0] == 250
        assert [peer.rcpt(recipient)[0] for recipient in (ADDRESS, "PBM@pbm.example")] == [250, 250]
        replies = [peer.data(raw)[0], peer.getreply()[0]]
        assert peer.noop()[0] == 250
    return replies


def test_encryption_needs_a_certificate_and_its_key(served, certificate):
    players, port = served
    for options in ([f"--certificate={certificate.file}"], [f"--key={certificate.key}"]):
        assert players.run("serve", *options).returncode == 2
    both = [f"--certificate={certificate.file}", f"--key={certificate.key}"]
    assert players.run("serve", "--lmtp", *both).returncode == 2
    wrong = players.run("serve", f"--certificate={certificate.key}", f"--key={certificate.key}")
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    with smtplib.SMTP("127.0.0.1", port) as connection:
        assert connection.starttls()[0] == 220
        assert connection.sendmail("x@y.example", [ADDRESS], message("help")) == {}


def test_the_process_that_sends_is_started_again_when_it_dies_and_ends_with_the_server(players):
    with running(players, "serve", "--listen=127.0.0.1:0") as process:
        process.stdout.readline()
        players.run("spiro", "move", "101", "alice", "alice-secret", "e3:+")
        assert "Last turn: e3:+" in inbox(players, "bob", 2)[-1]
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        players.run("spiro", "resign", "101", "bob", "bob-secret")
        assert len(inbox(players, "alice", 2)) == 2
        sender = children_of(process.pid)[0]
        process.kill()
        until(lambda: not Path(f"/proc/{sender}/cmdline").exists())
        said = process.stderr.read()
        assert said == "The process that sends mail ended with status -9; it is started again in 1 s.\n"


def handled(club, *raws):
    """The answers to mails that come in at the same time: the main thread is busy until all of them wait."""

    async def all_at_once():
        receiver, entries = Receiver(club.server, thread), []
        thread.submit(until, lambda: receiver.waiting.qsize() == len(raws))
        connections = Connections(receiver.is_known, receiver.handle, entries.append)
        deliveries = [incoming.ReceivedMail(raw, "alice@players.example", (ADDRESS,)) for raw in raws]
        answers = await asyncio.gather(*(connections.hand_in(each) for each in deliveries))
        return [(answer.reply, entry.outcome) for answer, entry in zip(answers, entries, strict=True)]

    thread = MainThread()
    return thread.run_beside(all_at_once())


def test_mails_that_wait_share_a_transaction(pair):
    receiver, written = Receiver(pair.server, MainThread()), []
    pair.store.db.set_trace_callback(written.append)
    raws = message("spiro move 101 alice alice-secret e3:5"), *(message(f"help {n}") for n in range(8))
    mails = [WaitingMail(incoming.ReceivedMail(raw, "alice@players.example", (ADDRESS,)), Future()) for raw in raws]
    for mail in mails:
        receiver.waiting.put(mail)
    receiver.handle_waiting()
    assert [mail.answer.result().reply for mail in mails] == ["250 2.0.0 Done"] * 9
    assert written.count("BEGIN IMMEDIATE") == 1
    assert pair.store.boards.current("spiro")[0].moves == 1


def test_what_is_on_the_disk_is_acknowledged_though_the_next_mail_cannot_be_stored(pair, monkeypatch):
    def handle_prepared(server, prepared):
        if b"help 2" in prepared.received.raw:
            raise Unusable("The disk is full.")
        return really(server, prepared)

    really = incoming.handle_prepared
    monkeypatch.setattr(incoming, "handle_prepared", handle_prepared)
    answers = handled(pair, *(message(f"help {n}") for n in range(1, 4)))
    assert [reply[:3] for reply, _ in answers] == ["250", "451", "250"]


def test_mails_around_one_that_fills_the_disk_all_come_again(pair):
    [(pages,)] = pair.store.db.execute("PRAGMA page_count")
    pair.store.db.execute(f"PRAGMA max_page_count = {pages + 4}")
    long = mail_of("alice@players.example", "spiro chat 101 alice alice-secret", "so long " * 2000)
    answers = handled(pair, message("help 1"), long, message("help 2"), message("help 3"))
    assert [reply[:3] for reply, _ in answers] == ["451"] * 4
    assert stored(pair.store, "handled") == []


def test_a_mail_that_cannot_be_handled_undoes_nothing_of_those_that_came_with_it(pair, monkeypatch):
    def handle_prepared(server, prepared):
        with server.store.writing():
            done = really(server, prepared)
            if b"move" in prepared.received.raw:
                raise KeyError("fault")
        return done

    really = incoming.handle_prepared
    monkeypatch.setattr(incoming, "handle_prepared", handle_prepared)
    before = len(pair.mails())
    subjects = "help", "help symple", "spiro move 101 alice alice-secret e3:5", "list"
    assert [reply[:3] for reply, _ in handled(pair, *map(message, subjects))] == ["250", "250", "451", "250"]
    assert len(pair.mails()) == before + 3
    assert pair.store.boards.current("spiro")[0].moves == 0


def test_a_reply_address_is_known_and_one_that_was_made_up_is_not(pair):
    address = tokens.reply_address(pair.server, "spiro", "101", "alice")

    async def asked():
        receiver = Receiver(pair.server, thread)
        return [await receiver.is_known(name) for name in (address, address.replace("+r", "+r9"), ADDRESS)]

    thread = MainThread()
    assert thread.run_beside(asked()) == [True, False, True]


def test_systemd_need_not_be_told_while_there_are_too_many_open_files(monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere")
    monkeypatch.setattr(socket, "socket", Mock(side_effect=OSError(24, "Too many open files")))
    _tell_systemd("WATCHDOG=1")


def memory_of(process):
    """How many MB of memory a process has."""
    line = next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if "VmRSS" in line)
    return int(line.split()[1]) / 1024


def break_off(port, raw, together, origin):
    """Hang up in the middle of a mail, together with others."""
    peer = smtplib.SMTP("127.0.0.1", port, timeout=PATIENCE, source_address=(origin, 0))
    peer.helo()
    peer.mail("a@b.example")
    peer.rcpt(ADDRESS)
    assert peer.docmd("DATA")[0] == 354
    peer.send(raw)
    together.wait(PATIENCE)
    peer.close()


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"x" * 7_800_000, id="one line", marks=pytest.mark.long),
        pytest.param((b"x" * 98 + b"\r\n") * 78_000, id="many lines"),
    ],
)
def test_a_hundred_mails_of_8_mb_that_are_broken_off_take_up_no_memory(players, raw):
    with running(players, *SERVE) as process:
        port = port_of(process)
        before = memory_of(process)
        for machine in range(2, 6):
            arguments = port, raw, threading.Barrier(25), f"127.0.0.{machine}"
            in_threads(25, lambda _, given=arguments: break_off(*given))
        until(lambda: memory_of(process) < before + 18)


def test_memory_of_mails_is_given_back_although_something_small_was_stored_behind_each(players):
    script = """
from pathlib import Path
from pbm.service import serve
serve.give_back_memory()
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
del [bytearray(20_000_000)][:]
before = pages()
mails = [(bytearray(1_000_000), bytearray(1_000)) for _ in range(60)]
full = pages()
mails = [small for _, small in mails]
print(full - before > 14_000, pages() - before < 1_000)
"""
    said = subprocess.check_output([sys.executable, "-c", script], env=players.environment, text=True)
    assert said == "True True\n"
