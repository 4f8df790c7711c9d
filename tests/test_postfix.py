"""A conversation through a real Postfix: two players with maildirs, the server behind LMTP and behind a pipe.

It runs where ``PBM_TEST_POSTFIX=1`` is set, as root: Postfix is installed from the distribution's packages if it is not
there, and runs with a configuration, a queue and ports of its own on the loopback.
"""

import os
import re
import signal
import smtplib
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from pathlib import Path
from random import Random

import pytest

from pbm.mail.incoming import MOST_BYTES

from helpers.club import PASSWORDS
from helpers.mail import mail_of
from helpers.packages import install
from helpers.patience import PATIENCE, until
from helpers.shell import Shell

pytestmark = pytest.mark.skipif(
    os.environ.get("PBM_TEST_POSTFIX") != "1",
    reason="this installs and starts a Postfix of its own: PBM_TEST_POSTFIX=1 bin/test, as root, runs it",
)
MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
myhostname = mx.test
mydestination =
alias_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtp_dns_support_level = disabled
local_header_rewrite_clients =
smtpd_forbid_bare_newline = normalize
smtpd_forbid_bare_newline_exclusions =
smtpd_recipient_restrictions = reject_unauth_destination, reject_unverified_recipient
unverified_recipient_reject_code = 550
address_verify_poll_delay = 1s
recipient_delimiter = +
relay_domains = pbm.example pipe.example
transport_maps = inline:{{ {{ pbm.example = lmtp:inet:127.0.0.1:{lmtp} }}, {{ pipe.example = deliver: }} }}
virtual_mailbox_domains = players.example
virtual_mailbox_maps = inline:{{ {{ alice@players.example = alice/ }}, {{ bob@players.example = bob/ }} }}
virtual_mailbox_base = {folder}/mail
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}
in_flow_delay = 0
queue_run_delay = 2s
minimal_backoff_time = 2s
maximal_backoff_time = 4s
"""
MASTER = """
127.0.0.1:{smtp} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
verify unix - - n - 1 verify
lmtp unix - - n - - lmtp
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
deliver unix - n n - - pipe flags=DRhu user=nobody null_sender= argv=/usr/bin/perl {folder}/pass-on {folder}/socket
"""
PASS_ON = """
use IO::Socket::UNIX;
my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit 75;
print $socket $_ while <STDIN>;
$socket->shutdown(1);
my $status = <$socket>;
exit(defined $status ? $status : 75);
"""


def free_port():
    """A port that nobody has, and that no system gives to a program that does not ask for this one."""
    for port in Random().sample(range(20_000, 30_000), 1000):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    pytest.fail("all ports are taken")


class Postfix:
    """A mail server, and the maildirs of the players."""

    def __init__(self, folder):
        self.folder = folder
        self.smtp, self.lmtp = free_port(), free_port()
        self.seen = set()

    def start(self):
        import pwd

        for name in ("etc", "queue", "data", "mail"):
            (self.folder / name).mkdir()
        nobody, postfix = pwd.getpwnam("nobody"), pwd.getpwnam("postfix")
        os.chown(self.folder / "data", postfix.pw_uid, -1)
        os.chown(self.folder / "mail", nobody.pw_uid, nobody.pw_gid)
        values = {"folder": self.folder, "smtp": self.smtp, "lmtp": self.lmtp}
        main = MAIN.format(**values, uid=nobody.pw_uid, gid=nobody.pw_gid)
        (self.folder / "etc" / "main.cf").write_text(main)
        (self.folder / "etc" / "master.cf").write_text(MASTER.format(**values))
        (self.folder / "pass-on").write_text(PASS_ON)
        command = ["/usr/sbin/postfix", "-c", self.folder / "etc", "start"]
        started = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if started.returncode:
            pytest.fail(f"Postfix does not start:\n{self.log()}")

    def stop(self):
        with suppress(FileNotFoundError, ProcessLookupError):
            master = int((self.folder / "queue" / "pid" / "master.pid").read_text())
            os.kill(master, signal.SIGTERM)
            until(lambda: not Path(f"/proc/{master}").exists())

    def log(self):
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def waits(self, for_what):
        """Wait until the log has that."""
        try:
            until(lambda: for_what in self.log())
        except AssertionError:
            pytest.fail(f"{for_what!r} is not in the log:\n{self.log()}")

    def send(self, name, to, subject, body="", raw=None, **fields):
        """A player mails something."""
        raw = raw or mail_of(f"{name}@players.example", subject, body, to, **fields)
        with smtplib.SMTP("127.0.0.1", self.smtp) as connection:
            connection.sendmail(f"{name}@players.example", [to], raw)

    def receive(self, name):
        """The next mail that arrives for a player."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for path in sorted((self.folder / "mail" / name / "new").glob("*")):
                if path not in self.seen:
                    self.seen.add(path)
                    return message_from_bytes(path.read_bytes(), policy=policy.default)
            time.sleep(0.05)
        pytest.fail(f"No mail came to {name}. Postfix says:\n{self.log()}")

    def answer(self, name, mail, text):
        """A player answers a mail as mail programs do, with the original below his text."""
        quoted = "\n".join(f"> {line}" for line in body(mail).splitlines())
        to = str(mail["Reply-To"] or mail["From"])
        self.send(name, to, f"Re: {mail['Subject']}", f"{text}\n\nOn Friday, {to} wrote:\n{quoted}\n")


def body(mail):
    part = mail.get_body(("plain",))
    return part.get_content()


@pytest.fixture
def postfix():
    answer = "postfix postfix/main_mailer_type select No configuration\n"  # nobody starts it but we
    install("PBM_TEST_POSTFIX", "postfix", "postfix", answer=answer)
    if os.geteuid() != 0:
        pytest.fail("PBM_TEST_POSTFIX=1 needs root: only root can start Postfix")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        postfix = Postfix(folder)
        try:
            postfix.start()
            yield postfix
        finally:
            postfix.stop()


@contextmanager
def serving(shell, port):
    """The server behind LMTP."""
    command = [sys.executable, "-m", "pbm", "serve", "--lmtp", f"--listen=127.0.0.1:{port}"]
    with subprocess.Popen(command, env=shell.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == f"listening on 127.0.0.1:{port}\n"
            yield
        finally:
            process.terminate()


def sign_up(postfix, name, server):
    postfix.send(name, server, f"signup {name} {PASSWORDS[name]}")
    question = postfix.receive(name)
    assert question["Subject"].startswith("confirm-address ")
    postfix.answer(name, question, "")
    assert "confirmed" in body(postfix.receive(name))


def settings(postfix, address):
    return {"PBM_ADDRESS": address, "PBM_TRANSPORT": f"smtp://127.0.0.1:{postfix.smtp}"}


def test_two_players_through_postfix_and_lmtp(postfix, tmp_path):
    server = "pbm@pbm.example"
    shell = Shell(tmp_path)
    shell.environment |= settings(postfix, server)
    with serving(shell, postfix.lmtp):
        for name in ("alice", "bob"):
            sign_up(postfix, name, server)
        postfix.send("alice", server, "symple challenge -size=5 alice bob", "Good luck!")
        news = {name: postfix.receive(name) for name in ("alice", "bob")}
        assert news["bob"]["Subject"] == "New Symple Board 101 alice **"
        assert "Good luck!" in body(news["bob"])

        postfix.send("alice", server, "symple move 101 alice alice-secret c3#1")
        summaries = {name: postfix.receive(name) for name in ("alice", "bob")}
        assert "Last turn: c3" in body(summaries["bob"])

        postfix.answer("bob", summaries["bob"], "b2,d4")
        refusal = postfix.receive("bob")
        assert "a turn founds only one" in body(refusal)
        postfix.answer("bob", refusal, "d4")
        moved = postfix.receive("bob")
        assert "Last turn: d4" in body(moved)
        assert "Last turn: d4" in body(postfix.receive("alice"))

        with pytest.raises(smtplib.SMTPRecipientsRefused):
            postfix.send("alice", "pbm+nonsense@pbm.example", "symple show 101")

        postfix.send("alice", server, "help", "x\n" * (MOST_BYTES // 2))
        bounce = postfix.receive("alice")
        assert bounce["From"].addresses[0].username == "MAILER-DAEMON"
        assert "size" in body(bounce)

    postfix.send("alice", server, "symple move 101 alice alice-secret e5#3")
    postfix.waits("status=deferred")
    with serving(shell, postfix.lmtp):
        assert "Last turn: e5" in body(postfix.receive("bob"))
        assert "Last turn: e5" in body(postfix.receive("alice"))
        smuggle_a_mail_of_bob_into_one_of_alice(postfix)
        assert postfix.receive("alice")["Subject"] == "Help tutorial"
        postfix.send("bob", server, "help spiro")
        assert postfix.receive("bob")["Subject"] == "Help spiro"  # and not the answer to what was smuggled in
    assert "empty" in shell.run("outbox", "list").stdout


def smuggle_a_mail_of_bob_into_one_of_alice(postfix):
    """What ends in a bare LF, a dot and CR LF is a mail's end to some servers."""
    talk = "EHLO x\nMAIL FROM:<{0}>\nRCPT TO:<pbm@pbm.example>\nDATA\nFrom: {0}\nSubject: {1}\n\nHello"
    first, second = (
        talk.format(f"{name}@players.example", subject).replace("\n", "\r\n").encode()
        for name, subject in (("alice", "help tutorial"), ("bob", "help"))
    )
    with socket.create_connection(("127.0.0.1", postfix.smtp)) as peer:
        peer.sendall(first + b"\n.\r\n" + second.partition(b"\r\n")[2] + b"\r\n.\r\nQUIT\r\n")
        while peer.recv(4096):
            pass


class Deliver(socketserver.StreamRequestHandler):
    """Runs ``pbm deliver`` for the program at the end of the pipe, whose user may not run this Python."""

    def handle(self):
        done = self.server.shell.process("deliver", stdin=self.rfile.read(), **self.server.settings)
        self.wfile.write(str(done.returncode).encode())


@contextmanager
def delivering(shell, path):
    with socketserver.UnixStreamServer(str(path), Deliver) as server:
        path.chmod(0o666)
        server.shell, server.settings = shell, {}
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def test_two_players_through_postfix_and_a_pipe(postfix, tmp_path):
    address = "pbm@pipe.example"
    shell = Shell(tmp_path)
    shell.environment |= settings(postfix, address)
    ended = threading.Event()

    def cron():
        while not ended.wait(0.2):
            shell.process("outbox", "flush")

    thread = threading.Thread(target=cron)
    thread.start()
    try:
        with delivering(shell, postfix.folder / "socket") as server:
            for name in ("alice", "bob"):
                sign_up(postfix, name, address)
            postfix.send("alice", address, "symple challenge -size=5 alice bob")
            news = {name: postfix.receive(name) for name in ("alice", "bob")}
            postfix.answer("alice", news["alice"], "c3")
            assert "Last turn: c3" in body(postfix.receive("bob"))
            assert "Last turn: c3" in body(postfix.receive("alice"))

            server.settings = {"PBM_DB": "/nonexistent/pbm.db"}
            postfix.send("bob", address, "symple move 101 bob bob-secret d4")
            postfix.waits("status=deferred")
            server.settings = {}
            assert "Last turn: d4" in body(postfix.receive("bob"))

            postfix.send("bob", "pbm+nonsense@pipe.example", "symple show 101")
            assert "pbm+nonsense@pipe.example" in body(postfix.receive("bob"))
            assert re.search(r"to=<pbm\+nonsense@pipe.example>.* status=bounced", postfix.log())
    finally:
        ended.set()
        thread.join()
