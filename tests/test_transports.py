"""How mail leaves: by SMTP and by sendmail, what is tried again, and what is final."""

import errno
import os
import re
import socket
from pathlib import Path

import pytest

from pbm.mail.sending import flush
from pbm.mail.transports import Maildirs, Smtp, Transport, transport

from helpers.mail import ADDRESS
from helpers.patience import until
from helpers.relays import NAMES, Relay, left, running
from helpers.servers import loaded


def flushed(club, relay):
    return flush(club.server, Smtp("smtp", "127.0.0.1", relay.port))[:2]


def test_mails_go_out_each_with_its_own_envelope(waiting):
    with running(Relay()) as relay:
        assert flushed(waiting, relay) == (4, 0)
        until(lambda: relay.farewells == 4)
    assert [mail.rcpt_tos for mail in relay.mails] == [[f"{name}@players.example"] for name in NAMES]
    assert {mail.mail_from for mail in relay.mails} == {ADDRESS}
    assert b"Subject: Help\r\n" in relay.mails[0].original_content
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n", relay.mails[0].original_content)
    assert left(waiting) == []


@pytest.mark.parametrize(
    ("reply", "is_tried_again"), [("550 5.1.1 no such user", False), ("450 4.2.0 greylisted", True)]
)
def test_a_recipient_who_is_refused_is_no_matter_for_the_others_and_tried_again_later_if_that_was_for_now(
    waiting, reply, is_tried_again
):
    relay = Relay(**{"bob@players.example": reply})
    with running(relay):
        assert flushed(waiting, relay) == (3, 1)
        assert left(waiting) == [("bob", 1, is_tried_again, reply)]
        relay.replies.clear()
        assert flushed(waiting, relay) == (0, 0)
        waiting.pass_time(minutes=5)
        assert flushed(waiting, relay) == (int(is_tried_again), 0)


@pytest.mark.parametrize(("reply", "is_tried_again"), [("554 5.7.1 spam", False), ("451 4.3.0 later", True)])
def test_a_text_that_is_refused_is_no_matter_for_the_others_either(waiting, reply, is_tried_again):
    with running(Relay(DATA=reply)) as relay:
        assert flushed(waiting, relay) == (0, 4)
    assert left(waiting) == [(name, 1, is_tried_again, reply) for name in NAMES]


@pytest.mark.parametrize("reply", ["550 5.7.1 you may not send from there", "530 5.7.0 log in first", "451 4.3.0 no"])
def test_a_relay_that_refuses_us_puts_off_all_mails_after_one_try(waiting, reply):
    with running(Relay(MAIL=reply)) as relay:
        assert flushed(waiting, relay) == (0, 4)
        assert relay.connections == 1
        assert left(waiting) == [
            ("alice", 1, True, reply),
            *((name, 0, True, reply) for name in ("bob", "carol", "dave")),
        ]
        assert flushed(waiting, relay) == (0, 0)
        relay.replies.clear()
        waiting.pass_time(minutes=5)
        assert flushed(waiting, relay) == (4, 0)


def test_a_relay_that_is_not_there_puts_off_all_mails_after_one_try(waiting):
    with socket.socket() as silent:  # it has a port, and does not listen
        silent.bind(("127.0.0.1", 0))
        assert flush(waiting.server, Smtp("smtp", "127.0.0.1", silent.getsockname()[1]))[:2] == (0, 4)
    assert {(is_due, "Connection refused" in problem) for _, _, is_due, problem in left(waiting)} == {(True, True)}


def test_a_mail_that_breaks_every_connection_lets_the_others_pass_the_next_time(waiting):
    class Fragile(Relay):
        async def handle_DATA(self, server, session, envelope):
            if envelope.rcpt_tos == ["alice@players.example"]:
                server.transport.abort()
            return await super().handle_DATA(server, session, envelope)

    with running(Fragile()) as relay:
        assert flushed(waiting, relay) == (0, 4)
        waiting.pass_time(minutes=5)
        assert flushed(waiting, relay) == (0, 4)
        waiting.pass_time(minutes=5)
        assert flushed(waiting, relay) == (3, 0)
        assert [name for name, *_ in left(waiting)] == ["alice"]


def test_a_mail_has_gone_out_though_the_server_hangs_up_as_soon_as_it_has_taken_it(waiting):
    class Hasty(Relay):
        async def handle_DATA(self, server, session, envelope):
            await server.push(await super().handle_DATA(server, session, envelope))
            await server.push("421 4.3.2 bye")
            server.transport.close()

    with running(Hasty()) as relay:
        assert flushed(waiting, relay) == (4, 0)
    assert len(relay.mails) == 4
    assert left(waiting) == []


@pytest.mark.long
def test_a_mail_that_could_not_go_out_for_five_days_is_given_up(waiting):
    with running(Relay(RCPT="450 4.2.0 full")) as relay:
        for _ in range(60):
            waiting.pass_time(hours=3)
            flushed(waiting, relay)
    assert {(is_due, problem) for _, _, is_due, problem in left(waiting)} == {(False, "450 4.2.0 full")}


def test_what_a_server_says_is_kept_as_one_short_line_of_text(waiting):
    with running(Relay(RCPT="550-\x1b[31mred\r\n550 " + "x" * 450)) as relay:
        flushed(waiting, relay)
    for _, _, _, problem in left(waiting):
        assert problem.startswith("550 [31mred xxx")
        assert len(problem) == 300


@pytest.fixture
def trusted(certificate, monkeypatch):
    """What a server needs whose certificate our side trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    return loaded(certificate)


def setting(scheme, relay, host="localhost", user="pbm%40relay.example@"):
    return f"{scheme}://{user}{host}:{relay.port}"


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
def test_over_tls_a_password_is_sent_and_a_wrong_one_puts_off_all_mails_and_is_not_told(waiting, trusted, scheme):
    is_smtps = scheme == "smtps"
    with running(Relay(), trusted, at_once=is_smtps, auth_require_tls=not is_smtps) as relay:
        assert flush(waiting.server, transport(setting(scheme, relay), "wrong password"))[:2] == (0, 4)
        for _, _, is_tried_again, problem in left(waiting):
            assert is_tried_again
            assert problem.startswith("535 ")
            assert "wrong password" not in problem
        waiting.pass_time(minutes=5)
        assert flush(waiting.server, transport(setting(scheme, relay), "right password"))[:2] == (4, 0)
    assert relay.logins[-1] == (b"pbm@relay.example", b"right password")


@pytest.mark.parametrize("scheme", ["smtps", "smtp+starttls"])
def test_a_certificate_that_is_not_trusted_gets_no_password(waiting, certificate, scheme):
    with running(Relay(), loaded(certificate), at_once=scheme == "smtps") as relay:
        assert flush(waiting.server, transport(setting(scheme, relay), "right password"))[:2] == (0, 4)
    assert relay.logins == []
    assert "CERTIFICATE_VERIFY_FAILED" in left(waiting)[0][3]


def test_a_certificate_of_another_host_gets_no_password(waiting, trusted):
    with running(Relay(), trusted) as relay:
        way = transport(setting("smtp+starttls", relay, host="127.0.0.1"), "right password")
        assert flush(waiting.server, way)[:2] == (0, 4)
    assert relay.logins == []


def test_a_server_that_does_not_offer_encryption_gets_no_mail(waiting):
    with running(Relay()) as relay:
        assert flush(waiting.server, transport(setting("smtp+starttls", relay, user="")))[:2] == (0, 4)
    assert relay.mails == []
    assert "STARTTLS" in left(waiting)[0][3]


@pytest.mark.parametrize(
    ("setting", "port"), [("smtp://relay", 25), ("smtps://relay", 465), ("smtp+starttls://relay", 587)]
)
def test_each_scheme_has_its_port(setting, port):
    way = transport(setting)
    assert isinstance(way, Smtp)
    assert way.port == port


def sendmail(folder, script):
    """A sendmail of our own."""
    program = folder / "sendmail"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return transport(f"sendmail:{program}")


def test_mail_goes_out_by_the_sendmail_of_the_machine(waiting, tmp_path):
    way = sendmail(tmp_path, f'echo "$@" >> {tmp_path}/words; cat >> {tmp_path}/messages')
    assert flush(waiting.server, way)[:2] == (4, 0)
    assert (tmp_path / "words").read_text().splitlines()[1] == f"-i -f {ADDRESS} -- bob@players.example"
    assert "Subject: Help\n" in (tmp_path / "messages").read_text()


@pytest.mark.parametrize(
    ("status", "is_tried_again"), [(1, True), (75, True), (69, True), (65, False), (67, False), (68, False)]
)
def test_with_which_status_sendmail_ends_tells_whether_it_is_tried_again(waiting, tmp_path, status, is_tried_again):
    assert flush(waiting.server, sendmail(tmp_path, f"exit {status}"))[:2] == (0, 4)
    for _, tries, will_be_tried, problem in left(waiting):
        assert (tries, will_be_tried) == (1, is_tried_again)
        assert problem.endswith(f"ended with status {status}")


def test_a_sendmail_that_is_not_there_puts_off_all_mails_after_one_try(waiting, tmp_path):
    assert flush(waiting.server, transport(f"sendmail:{tmp_path}/none"))[:2] == (0, 4)
    assert [tries for _, tries, *_ in left(waiting)] == [1, 0, 0, 0]


def test_the_folder_of_maildirs_is_made_for_its_owner_alone(waiting, tmp_path):
    folder = tmp_path / "mail"
    assert flush(waiting.server, transport(f"maildir:{folder}"))[:2] == (4, 0)
    assert (len(list(folder.iterdir())), folder.stat().st_mode & 0o777) == (4, 0o700)


def test_maildirs_are_made_for_their_owner_alone_also_in_a_folder_that_others_may_read(waiting, tmp_path):
    folder = tmp_path / "mail"
    folder.mkdir()
    folder.chmod(0o755)
    assert flush(waiting.server, transport(f"maildir:{folder}"))[:2] == (4, 0)
    made = [path for path in folder.rglob("*") if path.is_dir()]
    assert len(made) == 4 * len(("the maildir", "new", "cur", "tmp"))
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}


def test_the_folder_that_it_is_in_is_not_made(waiting, tmp_path):
    missing = tmp_path / "not-there"
    assert flush(waiting.server, transport(f"maildir:{missing}/mail"))[:2] == (0, 4)
    assert not missing.exists()
    assert left(waiting)[0][3] == f"{missing}: there is no such file or folder"


class Syncing:
    """What is synced, and can be told to fail."""

    def __init__(self, monkeypatch, club):
        self.steps = []
        """Of each step the folder, or the part of a maildir in which the file is, and how many mails are left."""
        self.failing = ""
        self.club = club
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, handle):
        path = Path(f"/proc/self/fd/{handle}").readlink()
        part = path if path.is_dir() else path.parent
        self.steps.append((f"{part.parent.name.partition('@')[0]}/{part.name}", len(left(self.club))))
        if part.name == self.failing:
            raise OSError(errno.EIO, "Input/output error")


def test_before_a_mail_is_noted_as_sent_it_is_on_the_disk_and_then_its_folder(waiting, tmp_path, monkeypatch):
    syncing = Syncing(monkeypatch, waiting)
    assert flush(waiting.server, Maildirs(tmp_path / "mail"))[:2] == (4, 0)
    assert syncing.steps == [(f"{name}/{part}", 4) for name in NAMES for part in ("tmp", "new")]


@pytest.mark.parametrize("part", ["tmp", "new"])
def test_what_may_not_be_on_the_disk_is_sent_again_to_the_same_file(waiting, tmp_path, monkeypatch, part):
    syncing = Syncing(monkeypatch, waiting)
    syncing.failing = part
    assert flush(waiting.server, Maildirs(tmp_path / "mail"))[:2] == (0, 4)
    assert len([*(tmp_path / "mail").glob("*/new/*")]) == (4 if part == "new" else 0)
    assert [tries for _, tries, *_ in left(waiting)] == [1] * 4
    assert all(problem.endswith(": the disk is broken") for *_, problem in left(waiting))
    syncing.failing = ""
    waiting.pass_time(minutes=6)
    assert flush(waiting.server, Maildirs(tmp_path / "mail"))[:2] == (4, 0)
    assert len([*(tmp_path / "mail").glob("*/*/*")]) == 4


def test_a_maildir_that_can_show_no_mail_harms_no_other_of_the_same_batch(waiting, tmp_path):
    for part in ("tmp", "cur"):
        tmp_path.joinpath("bob@players.example", part).mkdir(parents=True)
    assert flush(waiting.server, transport(f"maildir:{tmp_path}"))[:2] == (3, 1)
    assert [(name, tries) for name, tries, *_ in left(waiting)] == [("bob", 1)]
    shown = [path.parts[-3].partition("@")[0] for path in tmp_path.glob("*/new/*")]
    assert sorted(shown) == ["alice", "carol", "dave"]


def test_sending_ends_after_the_mail_in_hand_when_it_is_told_to(waiting):
    sent = []

    class Kept(Transport):
        def send(self, message, sender, recipient, name):
            sent.append(recipient)

    assert flush(waiting.server, Kept(), lambda _: len(sent) == 2)[:2] == (2, 0)
    assert sent == ["alice@players.example", "bob@players.example"]
