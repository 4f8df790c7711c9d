"""The server as a service: how it ends, what it logs, and what it tells systemd, Prometheus and its operator."""

import errno
import json
import re
import signal
import smtplib
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from email.message import EmailMessage
from urllib.request import urlopen

import pytest

from pbm.access.quotas import most
from pbm.mail.transports import RELAY_SECONDS
from pbm.mail.writing import compose
from pbm.store import Replaced, Store

from helpers.database import stored
from helpers.mail import ADDRESS, handle, message, outcome_of
from helpers.patience import PATIENCE, until, until_it_waits
from helpers.servers import SERVE, in_order, port_of, running, send


def remove_database(shell):
    for path in shell.folder.glob("pbm.db*"):
        path.unlink()


def replace_database(shell):
    other = shell.folder / "other.db"
    with Store(other):
        pass
    for ending in ("-wal", "-shm"):
        (shell.folder / f"other.db{ending}").unlink(missing_ok=True)
    other.rename(shell.folder / "pbm.db")


def test_no_move_is_acknowledged_into_a_database_that_nobody_sees(players):
    with running(players, *SERVE) as process:
        port = port_of(process)
        remove_database(players)
        with pytest.raises((smtplib.SMTPResponseException, smtplib.SMTPServerDisconnected, ConnectionError)) as no:
            send(port, message("spiro move 101 alice alice-secret e3:+"))
        assert getattr(no.value, "smtp_code", 451) in {421, 451}
        assert process.wait(PATIENCE) == 1
        assert "was deleted or replaced while it was open" in process.stderr.read()


@pytest.mark.parametrize(
    ("args", "lose"),
    [
        (SERVE, replace_database),
        (("outbox", "keep-sending"), replace_database),
        (("robots", "run"), replace_database),
        (("hook", "run", "--follow"), replace_database),
        (("events", "--follow"), remove_database),
        (("wait", "spiro", "101"), remove_database),
        (("play", "spiro", "101", "bob", "--with=cat"), remove_database),
    ],
)
def test_what_goes_on_ends_by_itself_soon_after_its_database_was_deleted_or_replaced(players, args, lose):
    with running(players, *args) as process:
        until_it_waits(process, players.folder / "pbm.db")
        lose(players)
        assert process.wait(PATIENCE) == 1
        assert "was deleted or replaced while it was open" in process.stderr.read()


def test_no_transaction_begins_in_a_database_that_was_replaced(players):
    with Store(players.folder / "pbm.db") as store:
        replace_database(players)
        with pytest.raises(Replaced), store.writing():
            pytest.fail("a transaction began")
        with pytest.raises(Replaced), store.reading():
            pytest.fail("a transaction began")


def test_serve_ends_soon_while_a_relay_hangs(players):
    with socket.create_server(("127.0.0.1", 0)) as relay:  # it takes connections, and says nothing
        way = f"smtp://127.0.0.1:{relay.getsockname()[1]}"
        with running(players, *SERVE, PBM_TRANSPORT=way) as process:
            port = port_of(process)
            send(port, message("help"))
            relay.settimeout(PATIENCE)
            connection, _ = relay.accept()
            begin = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)  # the process that sends has ended, too
            assert time.monotonic() - begin < RELAY_SECONDS  # after which it would have ended by itself
            assert process.returncode == 0
            connection.close()


@contextmanager
def service_manager(shell):
    """What systemd would be told, and the environment in which a server tells it."""
    path = shell.folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        systemd.settimeout(PATIENCE)
        yield lambda: systemd.recv(1000).decode(), {"NOTIFY_SOCKET": str(path)}


@pytest.mark.long
def test_serve_ends_without_the_mails_in_hand_while_another_program_has_the_database_locked(players):
    with (
        service_manager(players) as (told, environment),
        Store(players.folder / "pbm.db") as store,
        running(players, *SERVE, **environment) as process,
    ):
        port = port_of(process)
        with store.writing(), socket.create_connection(("127.0.0.1", port)) as peer:
            peer.sendall(b"HELO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<pbm@pbm.example>\r\nDATA\r\n")
            peer.sendall(message("help") + b"\r\n.\r\n")
            until(lambda: told().endswith("STATUS=1 connections, 1 mails in hand."))
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        assert "they were not acknowledged, and will come again" in process.stderr.read()
        with store.reading():
            assert stored(store, "handled") == []


def test_the_log_says_what_was_done_or_refused_and_why_without_secrets_and_prometheus_gets_the_figures(players):
    args = *SERVE, "--log-format=json", "--metrics=127.0.0.1:0"
    with running(players, *args) as process:
        metrics = port_of(process)
        port = port_of(process)
        for subject in (
            "spiro move 101 alice alice-secret e3:+",
            "spiro move 101 alice alice-secret e3:5",
            "spiro move 101 alice mistaken-secret e3:+",
            "another-secret",
        ):
            send(port, message(subject))
        with urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=PATIENCE) as answer:
            figures = answer.read().decode()
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=PATIENCE)[1]
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["number"], line["outcome"], line["command"]) for line in lines] == [
        (1, "done", "spiro move 101 alice PASSWORD e3:+"),
        (2, "refused", "spiro move 101 alice PASSWORD e3:5"),
        (3, "refused", "spiro move 101 alice PASSWORD e3:+"),
        (4, "refused", ""),
    ]
    assert "not your turn" in lines[1]["reason"]
    assert lines[2]["reason"] == "The userid or the password is wrong."
    assert "secret" not in text
    assert {line["peer"] for line in lines} == {"127.0.0.1"}
    assert {line["sender"] for line in lines} == {"alice@players.example"}
    assert all(0 < line["lock_ms"] <= line["ms"] < 100_000 for line in lines)
    found = dict(line.rsplit(" ", 1) for line in figures.splitlines() if not line.startswith("#"))
    assert (found['pbm_mails_total{outcome="done"}'], found['pbm_mails_total{outcome="refused"}']) == ("1.0", "3.0")
    assert (found['pbm_commands_total{result="done"}'], found['pbm_commands_total{result="refused"}']) == ("1.0", "2.0")
    assert found["pbm_boards"] == "1.0"
    assert found["pbm_users"] == "2.0"
    assert found["pbm_outbox_given_up"] == "0.0"
    assert found["pbm_mail_seconds_count"] == found["pbm_lock_seconds_count"] == "4.0"
    assert "pbm_outbox_waiting" in found
    assert "pbm_outbox_oldest_seconds" in found
    assert any(name.startswith("pbm_info{") for name in found)


def test_the_log_has_the_time_and_tells_of_mail_for_the_postmaster_where_there_is_no_operator(players):
    with running(players, *SERVE) as process:
        port = port_of(process)
        send(port, message("help"))
        assert send(port, message("Your server is down?", "Hello"), "postmaster") == {}
        process.send_signal(signal.SIGTERM)
        line, other = process.communicate(timeout=PATIENCE)[1].splitlines()
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 "
    rest = r"1 127\.0\.0\.1 <alice@players\.example> done: help \(\d+\.\d ms in the lock, \d+\.\d ms in all\)"
    assert re.fullmatch(time + rest, line)
    assert "postmaster: PBM_OPERATOR is not set; Your server is down?: Hello (" in other
    left = players.json("outbox", "list")["mails"]
    assert [mail["subject"] for mail in left] in ([], ["Help"])  # the answer to the first, if it has not gone yet


def test_systemd_is_told_that_the_server_is_ready_alive_and_stopping_and_adds_the_time_to_the_log_itself(players):
    with service_manager(players) as (told, environment):
        environment["JOURNAL_STREAM"] = "8:1"
        with running(players, *SERVE, **environment) as process:
            port = port_of(process)
            assert told() in {
                "WATCHDOG=1\nSTATUS=0 connections, 0 mails in hand.",
                f"READY=1\nSTATUS=Listening on 127.0.0.1:{port}.",
            }
            assert told().startswith(("READY=1", "WATCHDOG=1"))
            send(port, message("help"))
            process.send_signal(signal.SIGTERM)
            until(lambda: told() == "STOPPING=1")
            assert process.wait(PATIENCE) == 0
            assert process.stderr.read().startswith("1 127.0.0.1 <alice@players.example> done: help (")


def test_without_the_client_of_prometheus_it_is_told_what_brings_it(players):
    (players.folder / "prometheus_client.py").write_text("raise ImportError")
    args = *SERVE, "--metrics=127.0.0.1:0"
    with running(players, *args, PYTHONPATH=str(players.folder)) as process:
        assert process.wait(PATIENCE) == 1
        assert process.stderr.read() == (
            "--metrics needs the official client of Prometheus: `python3 bin/make_environment.py metrics` in a clone, "
            "or pip install '.[metrics]'.\n"
        )


def test_mail_for_the_postmaster_is_taken_and_goes_to_the_operator(players):
    folder = players.folder / "mail" / "op@home.example" / "new"
    recipients = ["postmaster", "PostMaster", "postmaster@pbm.example", "POSTMASTER@PBM.EXAMPLE"]
    with running(players, *SERVE, PBM_OPERATOR="op@home.example") as process:
        port = port_of(process)
        for recipient in recipients:
            assert send(port, message("Your server is down?", f"Hello {recipient}"), recipient) == {}
        until(lambda: len(list(folder.glob("*"))) == len(recipients))
    for recipient, text in zip(recipients, in_order(folder), strict=True):
        assert "Subject: For the postmaster: Your server is down?\n" in text
        assert "Reply-To: alice@players.example\n" in text
        assert "Auto-Submitted: auto-" in text
        assert f"From: alice@players.example\nSubject: Your server is down?\n\nHello {recipient}\n" in text


@pytest.mark.parametrize("operator", ["nobody", "a@b@c", "a b@c.example", ADDRESS, "postmaster@pbm.example"])
def test_an_operator_who_would_get_no_mail_is_refused(shell, operator):
    assert shell.refused("serve", "--listen=127.0.0.1:0", PBM_OPERATOR=operator).startswith("PBM_OPERATOR is ")


def to_postmaster(club, raw):
    server = club.server._replace(operator="op@home.example")
    return handle(server, raw, None, ["postmaster"])


def test_mail_for_the_postmaster_is_limited_in_size_and_a_day(club):
    for number in range(most("postmaster", "address") + 5):
        assert to_postmaster(club, message(f"{number}", "hello there " * 5_000)) == "postmaster"
    mails = club.mails()
    assert len(mails) == most("postmaster", "address")
    assert all(len(mail.text) < 12_000 for mail in mails)
    assert {mail.address for mail in mails} == {"op@home.example"}


def test_mail_for_the_postmaster_gives_no_password_away(pair):
    to_postmaster(pair, message("symple move 101 alice alice-secret e3", "spiro move 101 alice alice-secret e3:5"))
    assert "alice-secret" not in str(pair.mails()[-1])
    to_postmaster(pair, message("symple move 101 alice alice-secret e3", "Is my password alice-secret wrong?"))
    assert "alice-secret" not in str(pair.mails()[-1])
    logged = outcome_of(pair.server, message("spiro accet alice sesame", "alice sesame"), None, ["postmaster"]).reason
    assert logged.endswith("spiro accet alice PASSWORD alice PASSWORD")


@pytest.mark.parametrize("unseen", ["\u200b", "\u200d", "\xad", "\ufeff", "\ue000", "\U0010ffff"])
def test_mail_for_the_postmaster_can_be_sent_whatever_stands_in_its_subject(club, unseen):
    assert to_postmaster(club, message(f"down{unseen}?", "hello")) == "postmaster"
    assert b"Subject: For the postmaster: down?\n" in compose(club.mails()[-1], ADDRESS)


@pytest.mark.parametrize(
    ("field", "value"), [("Auto-Submitted", "auto-replied"), ("From", ADDRESS), ("List-Id", "<a.b.example>")]
)
def test_automatic_mail_for_the_postmaster_is_not_passed_on(club, field, value):
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "x@y.example", "Absent"
    del mail[field]
    mail[field] = value
    assert to_postmaster(club, mail.as_bytes()) == "automatic"
    assert club.mails() == []


LONG = f"/{'x' * 300}"
NO_MAILBOX = "A mailbox is written imaps://USER@HOST, or imap://USER@HOST:PORT/FOLDER."
FOLDERS = ("a*", "a*"), ("a%22b", 'a"b'), ("a%0D%0Ab", r"a\r\nb"), ("M%C3%BCll", "Müll")
NO_FOLDER = "'a*' is no name of a folder here: only ASCII, and neither quotes nor wildcards."
NOT_SEEN = "The password of the mailbox belongs in PBM_IMAP_PASSWORD, and not where all can see it."
NO_FILE, NO_ADDRESS = "there is no such file or folder.", "this machine has no such address."


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("serve --listen=unix:/nowhere/a", f"The server cannot listen on unix:/nowhere/a: {NO_FILE}"),
        ("serve --listen=192.0.2.1:0", f"The server cannot listen on 192.0.2.1:0: {NO_ADDRESS}"),
        ("serve --listen=127.0.0.1:0 --metrics=192.0.2.1:0", f"The metrics cannot listen on 192.0.2.1:0: {NO_ADDRESS}"),
        ("serve --certificate=/nowhere/c --key=/k", f"/nowhere/c and /k are no certificate and its key: {NO_FILE}"),
        *(
            (f"fetch {form}", NO_MAILBOX)
            for form in ("nonsense", "imaps://mail.example", "imaps://user@", "pop3://u@h")
        ),
        *((f"fetch imaps://user@{host}", NO_MAILBOX) for host in ("a..b", "host:x", "host:99999", "[host")),
        ("fetch imaps://user:secret@mail.example", NOT_SEEN),
        *((f"fetch imaps://user@mail.example/{name}", NO_FOLDER.replace("a*", meant)) for name, meant in FOLDERS),
        ("fetch imaps://user@mail.example --to=a*", NO_FOLDER),
        ("fetch imaps://user@mail.example", "The password of the mailbox has to be in PBM_IMAP_PASSWORD."),
        (f"backup {LONG}", f"{LONG} cannot be written: the name is too long."),
        (f"backup --keep=3 {LONG}", f"{LONG} cannot be written: the name is too long."),
        (f"restore {LONG}", f"{LONG} cannot be read: the name is too long."),
        (f"import {LONG}", f"{LONG} cannot be read: the name is too long."),
    ],
)
def test_what_the_system_or_we_refuse_is_told_in_a_sentence(shell, line, why):
    shell.sign_up("alice")
    for environment in ({}, {"PBM_DEBUG": "1"}):
        assert shell.refused(*line.split(), **environment) == f"{why}\n"


def test_a_database_and_a_place_to_listen_that_the_system_refuses_are_told_in_our_words(shell):
    why = f"The database {LONG} cannot be used: the name is too long.\n"
    assert shell.refused("users", PBM_DB=LONG, PBM_DEBUG="1") == why
    said = shell.refused("serve", "--listen=a..b:8025", PBM_DEBUG="1", status=2)
    assert said.startswith("--listen=a..b:8025 is not HOST:PORT or unix:/PATH.")


def test_whatever_the_system_refuses_to_a_server_that_listens_is_told_as_it_is(shell, monkeypatch):
    async def failing(*_, **__):
        raise OSError(errno.EIO, "of a fault", "pbm.db")

    monkeypatch.setattr("pbm.service.serve.serve", failing)
    assert shell.run("serve").stderr == "pbm.db: the disk is broken.\n"
    with pytest.raises(OSError, match="of a fault"):
        shell.run("serve", PBM_DEBUG="1")


def test_a_full_disk_behind_standard_output_is_told_in_a_sentence(shell):
    words = ["sh", "-c", f"{sys.executable} -m pbm help > /dev/full"]
    done = subprocess.run(words, env=shell.environment, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "The command was done, but its answer cannot be printed: the disk is full.\n",
    )


def test_a_fault_in_an_operators_command_is_shown_as_one_and_is_no_refusal(shell, monkeypatch):
    def planted(*_):
        raise ValueError("planted")

    monkeypatch.setattr("pbm.operator.status.status_at", planted)
    shell.sign_up("alice")
    assert shell.refused("status") == "pbm has a fault here (ValueError: planted); PBM_DEBUG=1 shows where.\n"
    with pytest.raises(ValueError, match="planted"):  # with its traceback
        shell.run("status", PBM_DEBUG="1")


NO_PASSWORD = "PBM_TRANSPORT names a user, so their password has to be in PBM_TRANSPORT_PASSWORD."
NO_TLS = "A password is sent over TLS only: PBM_TRANSPORT has to begin with smtps or smtp+starttls."
NO_RELAY = "PBM_TRANSPORT is not smtp://HOST:PORT."
STRAY_PASSWORD = "PBM_TRANSPORT names a user with a password; that belongs in PBM_TRANSPORT_PASSWORD."
FORMS = (
    "PBM_TRANSPORT is not maildir:FOLDER, smtp://HOST:PORT, smtps://USER@HOST:PORT, smtp+starttls://USER@HOST:PORT "
    "or sendmail:/PATH."
)


@pytest.mark.parametrize("command", [["outbox", "flush"], ["serve", "--listen=127.0.0.1:0"]])
@pytest.mark.parametrize(
    ("setting", "why"),
    [
        *((form, FORMS) for form in ("pigeons", "maildir:", "sendmail:", "pop3://x", "smtpz://user:secret@host")),
        *((f"smtp://{host}", NO_RELAY) for host in ("", "a..b", "host:port", "host:99999", "host/path", "[host")),
        ("smtps://user:secret@relay.example", STRAY_PASSWORD),
        ("smtp://user@relay.example", NO_TLS),
        ("smtps://user@relay.example", NO_PASSWORD),
    ],
)
def test_a_transport_that_is_none_is_refused_in_a_sentence(shell, command, setting, why):
    assert shell.refused(*command, PBM_TRANSPORT=setting, PBM_DEBUG="1") == f"{why}\n"  # no fault
    assert json.loads(shell.run("--json", *command, PBM_TRANSPORT=setting).stdout) == {"error": why, "status": 1}
