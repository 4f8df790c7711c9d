"""Several processes that receive mail: to those outside they are one server."""

import asyncio
import json
import os
import signal
import smtplib
import socket
import sqlite3
import ssl
import struct
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from pbm import admin
from pbm.mail import door, helpers, workers
from pbm.mail.door import House, Text
from pbm.mail.helpers import Helper, Service
from pbm.mail.serve import Papers
from pbm.mail.workers import Workers
from pbm.store import Store

from conftest import ADDRESS, new_certificate
from patience import PATIENCE, children_of, until
from test_door import kept
from test_mail import message
from test_serve import inbox, stored_moves
from test_service import port_of, remove_database, replace_database, running, send

TWO = ("serve", "--listen=127.0.0.1:0", "--workers=2", "--robots=0")
RECEIVES = "keep-receiving"


def children(process, does=RECEIVES):
    """The processes of a server that do something."""
    numbers = children_of(process.pid)
    return [number for number in numbers if does in Path(f"/proc/{number}/cmdline").read_text()]


def connect(port):
    """A connection, and how it is greeted."""
    peer = socket.create_connection(("127.0.0.1", port), PATIENCE)
    return peer, peer.makefile("rb").readline()


def has_gone(peer):
    """Whether a connection was ended from the other side."""
    peer.settimeout(0)
    with suppress(BlockingIOError):
        return not peer.recv(1000)
    return False


def is_taken(port, raw):
    """Whether a mail is taken; it is not where too many are connected."""
    with suppress(smtplib.SMTPException, ConnectionError):
        return send(port, raw) == {}
    return False


def test_one_peer_has_as_many_connections_as_ever_and_the_workers_share_them(players):
    with running(players, *TWO) as process, ExitStack() as opened:
        port = port_of(process)
        peers = [connect(port) for _ in range(door.MOST_OF_A_PEER)]
        for peer, greeting in peers:
            opened.enter_context(peer)
            assert greeting.startswith(b"220 ")
        refused, reply = connect(port)
        assert reply.startswith(b"421 4.7.0 There are too many connections")
        refused.close()
        one, other = children(process)
        os.kill(one, signal.SIGKILL)
        half = door.MOST_OF_A_PEER // 2
        until(lambda: sum(has_gone(peer) for peer, _ in peers) in {half, half + 1})
        assert other in children(process)
        until(lambda: is_taken(port, message("help")))  # there is room again
        until(lambda: len(children(process)) == 2)
        process.send_signal(signal.SIGTERM)
        log = process.communicate(timeout=PATIENCE)[1].splitlines()
        assert process.returncode == 0
    assert log[0] == "The process that receives mail ended with status -9; it is started again in 1 s."
    assert len(log) == 2
    assert " 1 127.0.0.1 <alice@players.example> done: help (" in log[1]


def test_what_came_to_one_worker_is_known_to_the_other_and_there_is_one_log_and_one_state_for_systemd(players):
    path = players.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        systemd.settimeout(PATIENCE)
        options = "--log-format=json", "--metrics=127.0.0.1:0"
        with running(players, *TWO, *options, NOTIFY_SOCKET=str(path)) as process:
            assert port_of(process)  # that of the metrics
            port = port_of(process)
            told = [systemd.recv(1000).decode()]
            while told[-1] != f"READY=1\nSTATUS=Listening on 127.0.0.1:{port}.":
                told.append(systemd.recv(1000).decode())
            with smtplib.SMTP("127.0.0.1", port) as one, smtplib.SMTP("127.0.0.1", port) as other:
                for peer in (one, other):
                    peer.sendmail("alice@players.example", [ADDRESS], message("spiro move 101 alice alice-secret e3:+"))
                while "2 connections, 2 workers." not in told[-1]:
                    told.append(systemd.recv(1000).decode())
            assert len(children(process, "keep-sending")) == 1
            assert "Last turn: e3:+" in inbox(players, "bob", 2)[-1]
            process.send_signal(signal.SIGTERM)
            log = [json.loads(line) for line in process.communicate(timeout=PATIENCE)[1].splitlines()]
    assert [(line["number"], line["outcome"]) for line in log] == [(1, "done"), (2, "repeated")]
    assert all(line["ms"] >= line["lock_ms"] > 0 for line in log)


@pytest.mark.long
@pytest.mark.parametrize("options", [TWO, (*TWO[:2], "--robots=0")])
def test_who_breaks_off_at_once_leaves_nothing_in_the_log(players, options):
    with running(players, *options) as process:
        port = port_of(process)
        for _ in range(50):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as peer, suppress(ConnectionError):
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # which resets it
        until(lambda: is_taken(port, message("help")))
        process.send_signal(signal.SIGTERM)
        log = process.communicate(timeout=PATIENCE)[1].splitlines()
    assert len(log) == 1
    assert "done: help" in log[0]


@pytest.mark.long
def test_what_is_sent_to_the_whole_group_ends_all_of_them_and_starts_none_again(players):
    with running(players, *TWO) as process:
        port_of(process)
        for number in children(process):
            os.kill(number, signal.SIGTERM)  # nobody but the server ends them
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=PATIENCE)[1] == ""
        assert process.returncode == 0


@pytest.mark.long
def test_a_worker_ends_with_the_server_though_that_is_killed(players):
    with running(players, *TWO) as process:
        port = port_of(process)
        numbers = children(process)
        peer, greeting = connect(port)
        process.kill()
        until(lambda: not any(Path(f"/proc/{number}").exists() for number in numbers))
        assert greeting.startswith(b"220 ")
        assert peer.makefile("rb").read() == b"421 4.3.2 The server is being stopped; please try again later\r\n"
        peer.close()


@pytest.mark.long
@pytest.mark.parametrize("harm", [remove_database, replace_database])
def test_workers_write_nothing_into_a_database_that_nobody_sees(players, harm):
    with running(players, *TWO) as process:
        port = port_of(process)
        harm(players)
        with pytest.raises((smtplib.SMTPException, OSError)):
            send(port, message("spiro move 101 alice alice-secret e3:+"))
        assert process.wait(PATIENCE) == 1
        assert "was deleted or replaced while it was open" in process.stderr.read()
    assert (players.folder / "pbm.db").exists() == (harm is replace_database)


@pytest.mark.long
def test_a_mail_in_hand_is_given_up_in_time_where_another_program_has_the_database_locked(players):
    with Store(players.folder / "pbm.db") as store, running(players, *TWO) as process:
        port = port_of(process)
        with store.transaction(), socket.create_connection(("127.0.0.1", port)) as peer:
            peer.sendall(b"HELO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<pbm@pbm.example>\r\nDATA\r\n")
            peer.sendall(message("help") + b"\r\n.\r\n")
            until(lambda: any(len(list(Path(f"/proc/{one}/task").iterdir())) > 1 for one in children(process)))
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        assert "they were not acknowledged, and will come again" in process.stderr.read()


@pytest.mark.long
def test_a_mail_that_cannot_be_stored_comes_again_to_whichever_worker(players):
    with players.serving("--workers=2") as port:
        with sqlite3.connect(players.folder / "pbm.db") as db:
            db.execute("ALTER TABLE handled RENAME TO hidden")
        for _ in range(3):
            with pytest.raises(smtplib.SMTPDataError) as refused:
                send(port, message("spiro games"))
            assert refused.value.smtp_code == 451
        with sqlite3.connect(players.folder / "pbm.db") as db:
            db.execute("ALTER TABLE hidden RENAME TO handled")
        assert send(port, message("spiro games")) == {}


def test_each_worker_holds_its_part_of_the_bytes_that_the_house_holds(monkeypatch):
    monkeypatch.setattr(door, "MOST_HELD", 100)
    with Text(House(parts=2)) as text:
        text.add(b"x" * 50)
        assert text.refusal == ""
        text.add(b"x")
        assert text.refusal == door.CROWDED


@pytest.mark.long
def test_workers_receive_at_a_local_socket_by_lmtp(players):
    path = players.folder / "socket"
    with running(players, "serve", "--lmtp", f"--listen=unix:{path}", "--workers=3") as process:
        process.stdout.readline()
        with ExitStack() as opened:
            for number in range(6):
                peer = opened.enter_context(smtplib.LMTP(str(path)))
                assert peer.sendmail("x@y.example", [ADDRESS], message(f"help {number}")) == {}
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert not path.exists()


@pytest.mark.long
def test_workers_encrypt(players, certificate):
    files = f"--certificate={certificate.file}", f"--key={certificate.key}"
    with running(players, *TWO, *files) as process, smtplib.SMTP("127.0.0.1", port_of(process)) as peer:
        peer.starttls()
        move = message("spiro move 101 alice alice-secret e3:+")
        assert peer.sendmail("alice@players.example", [ADDRESS], move) == {}
    assert stored_moves(players) == 1


def test_a_renewed_certificate_is_shown_to_those_who_come_then_and_a_spoilt_one_to_nobody(tmp_path, capfd):
    files = new_certificate(tmp_path)
    papers = Papers(str(files.file), str(files.key))

    def shown():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with smtplib.SMTP("127.0.0.1", keeper.port) as peer:
            peer.starttls(context=context)
            return ssl.DER_cert_to_PEM_cert(peer.sock.getpeercert(binary_form=True))

    with kept(tls=papers.context) as keeper:
        old = files.file.read_text()
        papers.look()
        assert shown() == old
        files.file.write_text("rubbish")
        papers.look()
        assert shown() == old
        files.file.unlink()
        papers.look()
        papers.look()
        assert shown() == old
        new_certificate(tmp_path)
        papers.look()
        assert shown() == files.file.read_text() != old
    said = capfd.readouterr().err.splitlines()
    assert said[1:] == [
        "The certificate cannot be read again: there is no such file or folder. The old one stays in use.",
        "The certificate was read again, because it has changed.",
    ]


def watched(store, monkeypatch, script, most_silent=60):
    """Have workers that do what a script says, until there have been four processes."""
    monkeypatch.setattr(workers, "WORKER", (sys.executable, "-c", f"import sys; {script}"))
    monkeypatch.setattr(workers, "MOST_SILENT", most_silent)
    monkeypatch.setattr("pbm.mail.outbox.PAUSES", (0.01, 0.02, 0.04))

    async def watch():
        crew = Workers(2, [], House(), Service(store))
        watching = [asyncio.create_task(worker.run()) for worker in crew.crew]
        started = set()
        while len(started) < 4:
            await asyncio.sleep(0.02)
            crew.look()
            started |= {worker.living.pid for worker in crew.crew if worker.living}
        await crew.close()
        for worker in crew.crew:
            worker.kill()
        await asyncio.wait(watching)

    asyncio.run(asyncio.wait_for(watch(), PATIENCE))


def test_a_worker_that_hangs_is_ended_and_another_one_started(club, monkeypatch, capfd):
    watched(club.store, monkeypatch, "print('{}', flush=True); sys.stdin.read()", most_silent=0)
    assert (
        "The process that receives mail ended with status -9; it is started again in 0 s.\n" in capfd.readouterr().err
    )


def test_a_worker_that_is_killed_in_the_middle_of_a_word_is_replaced(club, monkeypatch, capfd):
    watched(club.store, monkeypatch, "print('{\"left\": ', end='', flush=True)")
    assert capfd.readouterr().err.count("The process that receives mail ended with status 0; it is started again") >= 2


def test_a_helper_is_told_at_once_and_then_once_for_all_that_comes_in_a_moment(club, tmp_path, monkeypatch):
    monkeypatch.setattr(helpers, "LET_SLEEP", 0.2)
    heard = tmp_path / "heard"

    async def work():
        helper = Helper(["sh", "-c", f"cat >{heard}"], "listens", Service(club.store))
        running = asyncio.create_task(helper.run())
        await asyncio.to_thread(until, lambda: helper.living)
        for _ in range(5):
            helper.wake()
        await asyncio.to_thread(until, lambda: heard.exists() and heard.read_text() == "\n")
        await asyncio.sleep(0.5)
        helper.end()
        await asyncio.wait_for(running, PATIENCE)

    asyncio.run(work())
    assert heard.read_text() == "\n\n"


def test_the_processes_beside_a_server_let_those_go_first_that_answer(players, tmp_path):
    def nicer(does):
        own = os.getpriority(os.PRIO_PROCESS, process.pid)
        return [os.getpriority(os.PRIO_PROCESS, number) - own for number in children(process, does)]

    with running(players, *TWO, f"--site={tmp_path / 'site'}") as process:
        port_of(process)
        for does in ("keep-sending", "keep-running", "--follow"):
            until(lambda does=does: nicer(does) == [admin.NICER])
        assert nicer(RECEIVES) == [0, 0]


def test_a_helper_that_cannot_be_started_is_tried_again_ever_later(club, monkeypatch, capfd):
    monkeypatch.setattr("pbm.mail.outbox.PAUSES", (0.01, 0.6, 1e6))

    async def watch():
        helper = Helper(["/nowhere"], "does nothing", Service(club.store))
        watching, told = asyncio.create_task(helper.run()), ""
        while told.count("\n") < 3:
            await asyncio.sleep(0.02)
            told += capfd.readouterr().err
        helper.end()
        await watching  # also in a long pause
        return told

    told = asyncio.run(asyncio.wait_for(watch(), PATIENCE))
    said = (
        "The process that does nothing could not be started (there is no such file or folder); it is started again in"
    )
    assert told.splitlines() == [f"{said} {pause} s." for pause in (0, 1, 1_000_000)]
