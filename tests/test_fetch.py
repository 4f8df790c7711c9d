"""Mail from a mailbox: what is handled, what is moved, and what happens when the connection or the database fails."""

import imaplib
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from pbm.mail import fetch
from pbm.mail.incoming import MOST_BYTES, Outcome
from pbm.store import Store, Unusable

from helpers.answers import moves
from helpers.database import stored
from helpers.mail import message
from helpers.mailboxes import HANDLED, MOVING, PASSWORD, Mailbox, Talk, serving
from helpers.patience import PATIENCE, until
from helpers.servers import loaded


def account(port, **changes):
    return fetch.Account("127.0.0.1", port, "pbm", "INBOX", encrypted=False)._replace(**changes)


def take(club, mailbox, talk=Talk, password=PASSWORD, **changes):
    """Fetch what is there."""
    with serving(mailbox, talk=talk) as port:
        return fetch.fetch(club.server, account(port, **changes), password, HANDLED)


def move(number=1, **fields):
    return message("spiro move 101 alice alice-secret e3:5", message_id=f"<{number}@players.example>", **fields)


WAYS = [MOVING, "IMAP4rev1 AUTH=PLAIN UIDPLUS"]


@pytest.mark.parametrize("can", WAYS)
def test_new_mails_are_handled_and_moved(pair, can):
    box = Mailbox(can)
    mails = [move(), message("spiro games")]
    for raw in mails:
        box.add(raw)
    assert take(pair, box) == 2
    assert moves(pair) == 1
    assert pair.mails()[-1].subject == "List of Spiro games"
    assert (box.texts("INBOX"), box.texts(HANDLED)) == ([], mails)
    assert box.said[-1] == "LOGOUT"
    assert take(pair, box) == 0


def test_where_one_mail_cannot_be_removed_alone_it_is_marked_and_marked_ones_are_left_alone(pair):
    box = Mailbox("IMAP4rev1 AUTH=PLAIN")
    box.add(move())
    assert [take(pair, box), take(pair, box)] == [1, 0]
    assert box.texts(HANDLED) == [move()]
    assert box.flags[1] == {"\\Seen", "\\Deleted"}
    assert not any("EXPUNGE" in line for line in box.said)
    box = Mailbox()
    for flag in ("\\Seen", "\\Deleted"):
        box.add(message("spiro games"))
        box.flags[box.next - 1] = {flag}
    assert take(pair, box) == 0
    assert len(box.texts("INBOX")) == 2


@pytest.mark.parametrize(
    ("can", "step"), [(WAYS[0], "MOVE"), (WAYS[1], "COPY"), (WAYS[1], "STORE"), (WAYS[1], "EXPUNGE")]
)
def test_a_connection_that_breaks_while_a_mail_is_moved_moves_nothing_twice_on_the_board(pair, can, step):
    box = Mailbox(can, broken=[step])
    box.add(move())
    with pytest.raises(imaplib.IMAP4.abort):
        take(pair, box)
    take(pair, box)
    left = [uid for uid in box.folders["INBOX"] if "\\Deleted" not in box.flags[uid]]
    assert left == []
    assert set(box.texts(HANDLED)) == {move()}
    assert moves(pair) == 1
    assert sum(mail.userid == "bob" for mail in pair.mails()) == 2


def test_a_mail_that_is_too_large_is_moved_and_not_handled(pair, capfd):
    box = Mailbox()
    box.add(b"Return-Path: <alice@players.example>\r\n" + move() + b"x\n" * (MOST_BYTES // 2))
    assert take(pair, box) == 1
    assert len(box.texts(HANDLED)) == 1
    assert moves(pair) == 0
    assert capfd.readouterr().err == "imap <alice@players.example> too large\n"


LITERAL = b" BODY[]<0> {100000}\r\n" + b"x" * 100_000
LIES = {
    "a literal of 4 GB": ("fetch", b"* 1 FETCH (UID 1 BODY[]<0> {4000000000}\r\n", b"x" * 100_000),
    "a line": ("fetch", b"* 1 FETCH (UID 1 BODY[]<0> ", b"x" * 100_000),
    "many literals": ("fetch", b"* 1 FETCH (UID 1", LITERAL),
    "lines": ("search", b"", b"* OK " + b"x" * 2000 + b"\r\n"),
    "lines while it is listened to": ("idle", b"+ idling\r\n", b"* OK " + b"x" * 2000 + b"\r\n"),
}


@pytest.mark.parametrize(("name", "first", "part"), LIES.values(), ids=LIES)
def test_a_server_that_sends_without_end_is_hung_up_on(pair, name, first, part):
    def lie(self, rest):
        with suppress(OSError):
            self.say(first)
            while True:
                self.say(part)

    box = Mailbox()
    box.add(move())
    with serving(box, talk=type("Lying", (Talk,), {f"do_{name}": lie})) as port:
        tracemalloc.start()
        try:
            with (
                pytest.raises(imaplib.IMAP4.error, match=r"sends far more|got more than"),
                fetch.opened(account(port), PASSWORD, HANDLED) as mailbox,
            ):
                mailbox.unread()
                mailbox.read("1")
                mailbox.wait()
            assert tracemalloc.get_traced_memory()[1] < 30_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("said", ["", "{}"], ids=["and finds nothing", "and invents mails"])
def test_a_server_that_always_tells_of_something_new_is_asked_so_often_and_no_more(pair, monkeypatch, said):
    monkeypatch.setattr(fetch, "MOST_SEARCHES", 10)
    numbers = []

    class Lying(Talk):
        def do_search(self, rest):
            numbers.append(len(numbers) + 1)
            self.say("* 7 EXISTS", f"* SEARCH {said.format(numbers[-1])}")

    assert take(pair, Mailbox(), talk=Lying) == 0
    assert len(numbers) == 10


def test_a_mail_that_has_gone_meanwhile_is_no_matter():
    box = Mailbox()
    box.add(move())
    with serving(box) as port, fetch.opened(account(port), PASSWORD, HANDLED) as mailbox:
        assert mailbox.unread() == ["1"]
        del box.folders["INBOX"][1]
        assert mailbox.read("1") is None


def test_the_envelope_is_what_the_header_tells_of_it(pair):
    box = Mailbox()
    bounce = b"Return-Path: <>\r\n" + message("spiro games")
    box.add(bounce)
    take(pair, box)
    assert [row["outcome"] for row in stored(pair.store, "handled")] == ["automatic"]
    reply_to = pair.mails("alice")[-1].reply_to
    box.add(f"Delivered-To: {reply_to}\r\n".encode() + message("Re: New Spiro Board 101 alice", "e3:5\n"))
    take(pair, box)
    assert moves(pair) == 1


def test_a_database_that_cannot_be_used_leaves_the_mail_where_it_is(pair):
    box = Mailbox()
    box.add(move())
    with sqlite3.connect(pair.store.path) as db:
        db.execute("ALTER TABLE handled RENAME TO hidden")
    with pytest.raises(Unusable):
        take(pair, box)
    assert box.texts("INBOX") == [move()]


def test_a_mail_that_cannot_be_handled_holds_up_no_other(pair, monkeypatch, capfd):
    def handle(server, prepared):
        if b"games" in prepared.received.raw:
            raise KeyError("fault")
        return Outcome("command")

    monkeypatch.setattr(fetch.incoming, "handle_prepared", handle)
    box = Mailbox()
    box.add(message("spiro games"))
    box.add(message("help"))
    assert take(pair, box) == 1
    assert box.texts("INBOX") == [message("spiro games")]
    assert "A mail could not be handled, and stays: KeyError" in capfd.readouterr().err


@pytest.mark.parametrize("step", ["fetch", "move"])
def test_a_mail_that_the_mail_server_does_not_give_or_move_holds_up_no_other(pair, capfd, step):
    def refuse(self, rest):
        return "NO [SERVERBUG] damaged" if rest.startswith("1 ") else getattr(Talk, f"do_{step}")(self, rest)

    box = Mailbox()
    box.add(message("help"))
    box.add(message("spiro games"))
    assert take(pair, box, type("Refusing", (Talk,), {f"do_{step}": refuse})) == 1
    assert box.texts("INBOX") == [message("help")]
    assert box.texts(HANDLED) == [message("spiro games")]
    assert "to move a mail, which stays: [SERVERBUG] damaged" in capfd.readouterr().err


def test_the_log_has_nothing_private(pair, capfd):
    box = Mailbox()
    box.add(b"Return-Path: <alice@players.example>\r\n" + move())
    take(pair, box)
    assert capfd.readouterr().err == "imap <alice@players.example> command\n"


@pytest.mark.parametrize(
    ("can", "password"), [("IMAP4rev1 AUTH=PLAIN", "pässwörd"), ("IMAP4rev1", 'pass "word"\\'), ("IMAP4rev1", PASSWORD)]
)
def test_passwords_of_all_kinds_are_sent_as_they_are(pair, can, password):
    box = Mailbox(can, password=password)
    assert take(pair, box, password=password, user="pbm@mail.example") == 0
    assert box.users == ["pbm@mail.example"]


@pytest.mark.parametrize("can", ["IMAP4rev1 AUTH=PLAIN", "IMAP4rev1"])
def test_a_wrong_password_is_told_in_a_line_without_it(shell, can):
    box = Mailbox(can)
    with serving(box) as port:
        done = shell.run("fetch", f"imap://pbm@127.0.0.1:{port}", PBM_IMAP_PASSWORD="not the right one")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "The mailbox cannot be read: wrong password.\n"


def test_without_a_password_or_a_server_the_command_says_so_in_a_line(shell):
    done = shell.run("fetch", "imaps://user@host")
    assert (done.returncode, done.stdout) == (1, "")
    assert "PBM_IMAP_PASSWORD" in done.stderr
    with socket.socket() as silent:  # it has a port, and does not listen
        silent.bind(("127.0.0.1", 0))
        url = f"imap://pbm@127.0.0.1:{silent.getsockname()[1]}"
        done = shell.run("fetch", url, PBM_IMAP_PASSWORD=PASSWORD)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_imaps_speaks_tls_with_a_server_whose_certificate_is_right(pair, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    box = Mailbox()
    box.add(move())
    with serving(box, loaded(certificate)) as port:
        right = account(port, host="localhost", encrypted=True)
        assert fetch.fetch(pair.server, right, PASSWORD, HANDLED) == 1
        with pytest.raises(ssl.SSLCertVerificationError):
            fetch.fetch(pair.server, right._replace(host="127.0.0.1"), PASSWORD, HANDLED)


def test_imap_begins_to_speak_tls_where_it_is_offered(pair, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    box = Mailbox("IMAP4rev1 STARTTLS AUTH=PLAIN MOVE", tls=loaded(certificate))
    box.add(move())
    assert take(pair, box, host="localhost") == 1
    assert box.said.index("STARTTLS") < box.said.index("AUTHENTICATE PLAIN")


def test_no_password_leaves_the_machine_in_the_clear(pair, monkeypatch):
    box = Mailbox()
    monkeypatch.setattr(fetch, "HERE", set())
    with pytest.raises(imaplib.IMAP4.error, match="offers no encryption"):
        take(pair, box)
    assert not any("AUTHENTICATE" in line for line in box.said)


def test_another_folder_may_be_named(pair):
    box = Mailbox()
    box.folders["Games/pbm in"] = {}
    box.add(move(), "Games/pbm in")
    assert take(pair, box, folder="Games/pbm in") == 1
    with pytest.raises(imaplib.IMAP4.error, match="no such folder"):
        take(pair, box, folder="Nowhere")


def test_one_call_takes_mail_and_sends_the_answers(shell):
    box = Mailbox()
    box.add(message("help", sender="x@players.example"))
    with serving(box) as port:
        url = f"imap://pbm@127.0.0.1:{port}"
        done = shell.run("fetch", url, "--to=Done", PBM_IMAP_PASSWORD=PASSWORD)
        assert (done.returncode, done.stdout) == (0, "1 handled, 1 sent, 0 not sent.\n")
        assert '"handled": 0' in shell.run("fetch", url, "--json", PBM_IMAP_PASSWORD=PASSWORD).stdout
    assert len(list((shell.folder / "mail" / "x@players.example" / "new").iterdir())) == 1
    assert len(box.texts("Done")) == 1


@pytest.mark.parametrize("can", [MOVING, "IMAP4rev1 AUTH=PLAIN MOVE"])
def test_mails_are_handled_as_they_come_also_after_the_connection_was_lost(pair, monkeypatch, can, capfd):
    monkeypatch.setattr(fetch, "POLLING_SECONDS", 0.05)
    monkeypatch.setattr("pbm.mail.sending.PAUSES", (0.05,) * 20)
    monkeypatch.setattr(fetch, "LISTENING_SECONDS", 0.2)
    monkeypatch.setattr(fetch, "SENDER", (sys.executable, "-c", "import sys; sys.stdin.read()"))
    pair.store.close()
    box = Mailbox(can)

    class Ended(BaseException):
        pass

    def bring_mails():
        for count in range(1, 4):
            time.sleep(0.1)
            box.add(message(f"help {count}"))
            box.wait_for(count)
        box.broken.extend(["SEARCH", "SELECT", "SEARCH"])
        box.add(message("help 4"))
        box.wait_for(4)
        said = len(box.said)
        until(lambda: len(box.said) > said + 3)  # there is no new mail, which is no failure
        box.add(message("the end"))

    def handle(server, prepared):
        if b"the end" in prepared.received.raw:
            raise Ended
        return real(server, prepared)

    real = fetch.incoming.handle_prepared
    monkeypatch.setattr(fetch.incoming, "handle_prepared", handle)
    with serving(box) as port, ThreadPoolExecutor() as others, Store(pair.store.path) as store:
        bringing = others.submit(bring_mails)
        with pytest.raises(Ended):
            fetch.keep_fetching(pair.server._replace(store=store), account(port), PASSWORD, HANDLED)
        bringing.result()
    assert capfd.readouterr().err.count("No mail can be fetched: ") == 3


def test_no_mail_is_taken_into_a_database_that_was_replaced(shell):
    shell.run("signup", "alice", "alice-secret")
    box = Mailbox()
    with serving(box) as port:
        command = [sys.executable, "-m", "pbm", "fetch", "--idle", f"imap://pbm@127.0.0.1:{port}"]
        settings = shell.environment | {"PBM_IMAP_PASSWORD": PASSWORD}
        with subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, text=True) as process:
            try:
                box.add(message("help", sender="x@players.example"))
                box.wait_for(1)
                (shell.folder / "pbm.db").rename(shell.folder / "old.db")
                box.add(move())
                assert process.wait(PATIENCE) == 1
                assert "was deleted or replaced while it was open" in process.stderr.read()
            finally:
                process.kill()
    assert box.texts("INBOX") == [move()]
