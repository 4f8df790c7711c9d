"""What runs beside a server, and several servers on one database."""

import asyncio
import json
import os
import signal
import smtplib
import socket
import ssl
import struct
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from pbm import console
from pbm.service.listening import Certificate
from pbm.service.processes import Helper, Service

from helpers.database import sql
from helpers.mail import ADDRESS, message
from helpers.patience import PATIENCE, children_of, until
from helpers.servers import SERVE, in_order, inbox, new_certificate, port_of, running, send
from helpers.smtp import kept


def children(process, does):
    """The processes of a server that do something."""
    numbers = children_of(process.pid)
    return [number for number in numbers if does in Path(f"/proc/{number}/cmdline").read_text()]


def niceness(number):
    return os.getpriority(os.PRIO_PROCESS, number)


def ignores_interrupts(number):
    """Whether a process has got so far that SIGINT does not end it."""
    status = Path(f"/proc/{number}/status").read_text()
    return int(status.partition("SigIgn:")[2].split()[0], 16) & 1 << signal.SIGINT - 1


def is_taken(port, raw):
    """Whether a mail is taken; it is not where too many are connected."""
    with suppress(smtplib.SMTPException, ConnectionError):
        return send(port, raw) == {}
    return False


@pytest.fixture
def shared(players, tmp_path):
    """A shell with a hook that notes each move, and a robot that alice plays with on a board of Symple."""
    players.run("hook", "add", f"tee -a {tmp_path / 'events'}", "--on=move")
    players.run("robots", "add", "deep", "--level=1", "--games=symple")
    players.run("symple", "challenge", "-size=5", "alice", "deep")
    return players


def test_two_servers_on_one_database_do_everything_once(shared, tmp_path):
    socket_path = shared.folder / "lmtp"
    with ExitStack() as stack:
        one = stack.enter_context(running(shared, "serve", "--listen=127.0.0.1:0"))
        other = stack.enter_context(running(shared, "serve", "--lmtp", f"--listen=unix:{socket_path}"))
        port = port_of(one)
        assert other.stdout.readline() == f"listening on unix:{socket_path}\n"
        first = stack.enter_context(smtplib.SMTP("127.0.0.1", port))
        second = stack.enter_context(smtplib.LMTP(str(socket_path)))
        move = message("spiro move 101 alice alice-secret e3:+", message_id="<one@players.example>")
        for peer in (first, second):
            peer.sendmail("alice@players.example", [ADDRESS], move)
        for number in range(20):
            for peer, name in ((first, "one"), (second, "other")):
                raw = message("help", message_id=f"<{name}{number}@players.example>")
                peer.sendmail("bob@players.example", [ADDRESS], raw.replace(b"alice@", b"bob@"))
        second.sendmail("alice@players.example", [ADDRESS], message("symple move 101 alice alice-secret c3"))
        until(lambda: sql(shared.folder / "pbm.db", "SELECT moves FROM boards WHERE game = 'symple'") == [(2,)])
        until(lambda: not sql(shared.folder / "pbm.db", "SELECT id FROM outbox"))
        until(lambda: (tmp_path / "events").exists() and (tmp_path / "events").read_text().count("\n") == 3)
        for peer in (first, second):
            peer.quit()
        for process in (one, other):
            process.send_signal(signal.SIGTERM)
        logs = [process.communicate(timeout=PATIENCE)[1].splitlines() for process in (one, other)]
        assert [one.returncode, other.returncode] == [0, 0]
    outcomes = [[line.split("> ")[1].split()[0] for line in log] for log in logs]
    assert outcomes == [["done:"] * 21, ["repeated", *["done:"] * 21]]
    assert sql(shared.folder / "pbm.db", "SELECT moves FROM boards WHERE game = 'spiro'") == [(1,)]
    told = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    played = [f"{event['game']} {event['userid']}" for event in told]
    assert played == ["spiro alice", "symple alice", "symple deep"]
    answered = [mail.partition("In-Reply-To: ")[2].partition("\n")[0] for mail in inbox(shared, "bob", 42)]
    helped = [f"<{name}{number}@players.example>" for name in ("one", "other") for number in range(20)]
    assert sorted(answer for answer in answered if answer in helped) == sorted(helped)
    mails = in_order(shared.folder / "mail" / "bob@players.example" / "new")
    names = [mail.partition("Message-ID: ")[2].partition("\n")[0] for mail in mails]
    assert len(set(names)) == len(names)
    assert not socket_path.exists()


@pytest.mark.long
def test_what_one_server_leaves_undone_the_other_one_does(shared):
    with running(shared, *SERVE) as one, running(shared, "serve", "--listen=127.0.0.1:0") as other:
        port_of(other)
        port = port_of(one)
        send(port, message("symple move 101 alice alice-secret c3"))
        one.kill()
        until(lambda: sql(shared.folder / "pbm.db", "SELECT moves FROM boards WHERE game = 'symple'") == [(2,)])
        until(lambda: not sql(shared.folder / "pbm.db", "SELECT id FROM outbox"))
        other.send_signal(signal.SIGTERM)
        assert other.wait(PATIENCE) == 0


@pytest.mark.long
def test_who_breaks_off_at_once_leaves_nothing_in_the_log(players):
    with running(players, *SERVE) as process:
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
    with running(players, *SERVE) as process:
        port_of(process)
        until(lambda: all(ignores_interrupts(one) for one in children_of(process.pid)))
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=PATIENCE)[1] == ""
        assert process.returncode == 0


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(signal.SIGTERM, marks=pytest.mark.long),
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
        signal.SIGKILL,
    ],
)
def test_a_robots_program_that_hangs_ends_with_the_server(players, tmp_path, sent):
    told = tmp_path / "told"
    line = f'trap "" INT TERM; echo $$ >{told}; while :; do sleep 1; done'
    players.run("robots", "add", "deep", f"--with=sh -c '{line}'")
    players.run("symple", "challenge", "--no-wait", "deep", "alice")
    with running(players, "serve", "--listen=127.0.0.1:0") as process:
        until(lambda: told.exists() and told.read_text())
        process.send_signal(sent)
        process.communicate(timeout=PATIENCE)
        until(lambda: not Path(f"/proc/{told.read_text().strip()}").exists())


def test_a_renewed_certificate_is_shown_to_those_who_come_then_and_a_spoilt_one_to_nobody(tmp_path, capfd):
    files = new_certificate(tmp_path)
    renewed = Certificate(str(files.file), str(files.key))

    def shown():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with smtplib.SMTP("127.0.0.1", keeper.port) as peer:
            peer.starttls(context=context)
            return ssl.DER_cert_to_PEM_cert(peer.sock.getpeercert(binary_form=True))

    with kept(tls=renewed.context) as keeper:
        old = files.file.read_text()
        renewed.reload()
        assert shown() == old
        files.file.write_text("rubbish")
        renewed.reload()
        assert shown() == old
        files.file.unlink()
        renewed.reload()
        renewed.reload()
        assert shown() == old
        new_certificate(tmp_path)
        renewed.reload()
        assert shown() == files.file.read_text() != old
    said = capfd.readouterr().err.splitlines()
    assert said[1:] == [
        "The certificate cannot be read again: there is no such file or folder. The old one stays in use.",
        "The certificate was read again, because it has changed.",
    ]


def test_the_processes_beside_a_server_let_those_go_first_that_answer(players, tmp_path):
    with running(players, *SERVE, f"--site={tmp_path / 'site'}") as process:
        port_of(process)
        expected = max(console.HELPER_NICENESS, niceness(process.pid))  # the tests themselves may be nicer
        for does in ("keep-sending", "hook", "site"):
            until(lambda does=does: [*map(niceness, children(process, does))] == [expected])


def test_a_helper_that_cannot_be_started_is_tried_again_ever_later(club, monkeypatch, capfd):
    monkeypatch.setattr("pbm.mail.sending.PAUSES", (0.01, 0.6, 1e6))

    async def watch():
        helper = Helper(["/nowhere"], "does nothing", Service(club.store))
        watching, told = asyncio.create_task(helper.run()), ""
        while told.count("\n") < 3:
            await asyncio.sleep(0.02)
            told += capfd.readouterr().err
        helper.service.ended.set()
        helper.end()
        await watching  # also in a long pause
        return told

    told = asyncio.run(asyncio.wait_for(watch(), PATIENCE))
    said = "The process that does nothing could not be started (there is no such file or folder);"
    assert told.splitlines() == [f"{said} it is started again in {pause} s." for pause in (0, 1, 1_000_000)]
