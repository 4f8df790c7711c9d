"""What nobody may do by SMTP: conversations byte by byte, as a rude or hostile program would hold them."""

import asyncio
import gc
import re
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from contextlib import contextmanager, suppress
from unittest.mock import Mock

import pytest

from pbm.mail import smtp
from pbm.mail.incoming import MOST_BYTES, ReceivedMail, machine_of, network_of
from pbm.service.listening import tls

from helpers.mail import ADDRESS
from helpers.patience import PATIENCE, until
from helpers.smtp import kept

HELLO = b"EHLO mx.example\r\n"
MAIL = b"MAIL FROM:<alice@players.example>\r\n"
RCPT = b"RCPT TO:<pbm@pbm.example>\r\n"
TEXT = b"From: alice@players.example\r\nSubject: help\r\n\r\nHello\r\n"


@pytest.fixture
def keeper():
    with kept() as keeper:
        yield keeper


class Peer:
    """A peer that says exactly what he is told to say."""

    def __init__(self, port, *, greeted=True):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        if greeted:
            assert self.reply().startswith("220 ")

    def reply(self):
        """One reply, of which the lines before the last one do not matter; empty at the end of the connection."""
        with suppress(ConnectionResetError):
            while (line := self.file.readline())[3:4] == b"-":
                pass
            return line.decode().rstrip()
        return ""

    def say(self, raw):
        self.socket.sendall(raw)
        return self.reply()

    def codes(self, *raws):
        return [self.say(raw)[:3] for raw in raws]

    def text(self, raw, sender=MAIL):
        """Hand in a mail, up to the end that *raw* has or has not."""
        assert self.codes(HELLO, sender, RCPT, b"DATA\r\n") == ["250", "250", "250", "354"]
        self.socket.sendall(raw)

    def has_gone(self):
        return self.reply() == ""


@pytest.fixture
def peer(keeper):
    return Peer(keeper.port)


@pytest.mark.parametrize("sender", ["alice@players.example", ""])
def test_a_mail_is_handed_in_with_its_envelope_and_perhaps_without_a_sender(keeper, peer, sender):
    peer.text(TEXT + b".\r\n", sender=f"MAIL FROM:<{sender}>\r\n".encode())
    assert peer.reply() == "250 2.0.0 Done"
    assert keeper.deliveries == [ReceivedMail(TEXT, sender, (ADDRESS,), "127.0.0.1")]


def test_commands_may_come_in_one_packet(keeper, peer):
    peer.socket.sendall(HELLO + MAIL + RCPT + b"DATA\r\n" + TEXT + b".\r\nQUIT\r\n")
    assert [peer.reply()[:3] for _ in range(6)] == ["250", "250", "250", "354", "250", "221"]
    assert peer.has_gone()
    assert len(keeper.deliveries) == 1


def test_a_mail_may_come_byte_by_byte_and_dots_at_the_beginning_of_its_lines_are_doubled_on_the_way(keeper, peer):
    peer.text(b"")
    for byte in b"Subject: help\r\n\r\n..\r\n..x\r\n.\r\n":
        peer.socket.sendall(bytes([byte]))
    assert peer.reply() == "250 2.0.0 Done"
    assert keeper.deliveries[0].raw == b"Subject: help\r\n\r\n.\r\n.x\r\n"


ENDS = (b"\r\n", b"\n", b"\r", b"\n\n", b"\r\r\n")


@pytest.mark.parametrize(
    "end", [before + b"." + after for before in ENDS for after in ENDS if (before + after)[-4:] != b"\r\n\r\n"]
)
def test_what_only_others_take_for_the_end_of_a_mail_smuggles_no_second_one_in(keeper, peer, end):
    second = MAIL + RCPT + b"DATA\r\nSubject: spiro resign 101 alice secret\r\n"
    peer.text(b"Subject: help\r\n\r\nHello" + end + second + b"\r\n.\r\n")
    assert peer.reply().startswith("550 5.6.11 ")
    assert keeper.deliveries == []
    assert peer.say(b"NOOP\r\n").startswith("250")


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\n\n", b"\r\r\n", b"\n\r"])
def test_lines_of_a_careless_program_are_taken_as_they_are(keeper, peer, end):
    text = b"Subject: help" + end + b"Hello." + end + b"x\r\n"
    peer.text(text + b".\r\n")
    assert peer.reply() == "250 2.0.0 Done"
    assert keeper.deliveries[0].raw == text


@pytest.mark.parametrize(
    "recipient",
    [
        b"<victim@elsewhere.example>",
        b"<victim%elsewhere.example@pbm.example>",
        b"<pbm%elsewhere.example@pbm.example>",
        b"<elsewhere.example!victim@pbm.example>",
        b"<@elsewhere.example:pbm@pbm.example>",
        b"<@a.example,@b.example:pbm@pbm.example>",
        b'<"pbm"@pbm.example>',
        b'<"pbm+victim@elsewhere.example"@pbm.example>',
        b"<pbm+victim@elsewhere.example@pbm.example>",
        b"<pbm+a%elsewhere.example@pbm.example>",
        b"<pbm+a!b@pbm.example>",
        b"<pbm@[127.0.0.1]>",
        b"<pbm@pbm.example.>",
        b"<postmaster@pbm.example>",
        b"<pbm>",
        b"<>",
        b"<pbm@pbm.example",
        b"pbm@pbm.example\x00",
        b"<pbm@pbm.example\x00>",
        b"<pbm@pbm.example\r>",
        b"<pbm\xff@pbm.example>",
        b"<pbm+\xc3\xa4\xe2\x80\xae@pbm.example>",
        b"",
    ],
)
def test_mail_for_anybody_else_is_refused_before_it_is_sent(keeper, peer, recipient):
    assert peer.codes(HELLO, MAIL) == ["250", "250"]
    assert peer.say(b"RCPT TO:" + recipient + b"\r\n")[:3] in {"501", "550", "553"}
    assert peer.say(b"DATA\r\n").startswith("503")


@pytest.mark.parametrize("recipient", [b"PBM@Pbm.Example", b"pbm+token@pbm.example", b"pbm+a.b-c=d_e@pbm.example"])
def test_all_our_own_addresses_are_known_in_any_case(peer, recipient):
    assert peer.codes(HELLO, MAIL, b"RCPT TO:<" + recipient + b">\r\n") == ["250", "250", "250"]


@pytest.mark.parametrize(
    "sender",
    [
        b"<a\x00@b.example>", b"<a\x1b[31m@b.example>", b"<\xff\xfe>", b"<a@b.example", b"<a\r@b>", b"<@[>",
        b"<@a,(->", b"<<<>", b"<", b'"', b"",
    ],
)  # fmt: skip
def test_a_sender_of_rubbish_is_refused(peer, sender):
    assert peer.say(HELLO)[:3] == "250"
    assert peer.say(b"MAIL FROM:" + sender + b"\r\n")[:3] in {"501", "553"}


@pytest.mark.parametrize("sender", ["jörg@players.example", "alice@spieler-köln.example", "用户@例子.example"])
@pytest.mark.parametrize("option", ["", " SMTPUTF8", " BODY=8BITMIME SMTPUTF8"])
def test_a_sender_who_could_not_be_answered_is_refused_with_the_reason(keeper, peer, sender, option):
    assert peer.say(HELLO)[:3] == "250"
    assert peer.say(f"MAIL FROM:<{sender}>{option}\r\n".encode()) == (
        "553 5.6.7 No answer can be sent to an address with letters outside ASCII; please write from another address."
    )
    peer.text(TEXT + b".\r\n", sender=b"MAIL FROM:<alice@players.example> SMTPUTF8\r\n")
    assert peer.reply() == "250 2.0.0 Done"


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x00\r\n", b"\xff\xfe\xfd\r\n", b"\r\n", b"EHLO\r\n", b"EHLO \xff\r\n", b"MAIL\x00FROM:<a@b>\r\n",
        b"VRFY \xff\r\n", b"VRFY <\r\n", b"HELP \xff\r\n", b"RCPT\r\n", b"DATA now\r\n",
        b"AUTH PLAIN AGEAYg==\r\n", b"STARTTLS\r\n", b"BDAT 5 LAST\r\n", b"GET / HTTP/1.1\r\n",
    ],
)  # fmt: skip
def test_rubbish_is_answered_in_a_line_and_forgotten(keeper, peer, capfd, rubbish):
    assert peer.say(rubbish)[:1] in "245"
    peer.text(TEXT + b".\r\n")
    assert peer.reply() == "250 2.0.0 Done"
    assert capfd.readouterr().err.count("\n") == 1


def test_nothing_is_given_away(peer):
    assert peer.say(HELLO).startswith("250")
    known, unknown = (peer.say(b"VRFY <%s@pbm.example>\r\n" % name) for name in (b"pbm", b"nobody"))
    assert known == unknown
    assert known.startswith("252")
    assert peer.say(b"EXPN pbm\r\n").startswith("502")
    assert peer.say(b"AUTH LOGIN\r\n").startswith("538")


def test_the_largest_size_is_announced_and_a_mail_has_no_larger_one_and_only_so_many_recipients(peer, keeper):
    peer.socket.sendall(HELLO)
    offers = [peer.file.readline() for _ in range(5)]
    assert b"250-SIZE %d\r\n" % MOST_BYTES in offers
    assert offers[-1].startswith(b"250 ")
    assert peer.say(b"MAIL FROM:<a@b.example> SIZE=%d\r\n" % (MOST_BYTES + 1)).startswith("552")
    assert peer.say(b"MAIL FROM:<a@b.example> SIZE=%d\r\n" % MOST_BYTES).startswith("250")
    assert peer.codes(HELLO, MAIL) == ["250", "250"]
    replies = peer.codes(*(b"RCPT TO:<pbm+%d@pbm.example>\r\n" % number for number in range(smtp.MOST_RECIPIENTS + 1)))
    assert replies == ["250"] * smtp.MOST_RECIPIENTS + ["452"]
    peer.say(b"DATA\r\n")
    assert peer.say(TEXT + b".\r\n") == "250 2.0.0 Done"
    assert len(keeper.deliveries[0].recipients) == smtp.MOST_RECIPIENTS


@pytest.mark.parametrize(
    "flood", [b"x" * 100_000, b"\r\n" * 50_000, (b"x" * 998 + b"\r\n") * 100, b"\x00\n\r" * 33_000]
)
@pytest.mark.parametrize("in_mail", [True, False])
def test_a_flood_that_does_not_end_is_not_held_in_memory(keeper, peer, flood, in_mail):
    if in_mail:
        peer.text(b"")
    with pytest.raises(OSError, match=r"reset|pipe"):
        for _ in range(500):
            peer.socket.sendall(flood)
    assert keeper.deliveries == []


@pytest.mark.parametrize("length", [999, 5_000, 200_000])
def test_a_line_that_is_too_long_is_refused_with_its_mail(keeper, peer, length):
    peer.text(b"Subject: help\r\n\r\n" + b"x" * (length + 2) + b"\r\n.\r\n")
    assert peer.reply().startswith("500")
    peer.text(b"Subject: help\r\n\r\n" + b"x" * 998 + b"\r\n.\r\n")
    assert peer.reply() == "250 2.0.0 Done"


@pytest.mark.parametrize("length", [600, 5_000, 200_000])
def test_a_command_that_is_too_long_is_refused(peer, length):
    assert peer.say(b"EHLO " + b"x" * length + b"\r\n").startswith("500")
    assert peer.say(HELLO).startswith("250")


def test_by_lmtp_each_recipient_has_a_reply_also_to_a_mail_that_is_too_large():
    with kept(smtp.LMTPConnection) as keeper:
        peer = Peer(keeper.port)
        assert peer.codes(HELLO, b"HELO x\r\n", b"LHLO mx\r\n", MAIL) == ["500", "500", "250", "250"]
        assert peer.codes(RCPT, RCPT, b"RCPT TO:<pbm+x@pbm.example>\r\n") == ["250"] * 3
        peer.say(b"DATA\r\n")
        peer.socket.sendall(TEXT + b".\r\n")
        assert [peer.reply() for _ in range(3)] == ["250 2.0.0 Done"] * 3
        assert peer.say(b"NOOP\r\n") == "250 OK"
        assert keeper.deliveries[0].recipients == (ADDRESS, "pbm+x@pbm.example")
        assert peer.codes(MAIL, RCPT, b"RCPT TO:<pbm+x@pbm.example>\r\n") == ["250"] * 3
        peer.say(b"DATA\r\n")
        peer.socket.sendall((b"x" * 98 + b"\r\n") * 20_000 + b".\r\n")
        assert [peer.reply(), peer.reply()] == [smtp.TOO_LARGE] * 2
        assert peer.say(b"NOOP\r\n") == "250 OK"


@pytest.mark.parametrize("limit", ["MOST_PEER_CONNECTIONS", "MOST_CONNECTIONS"])
def test_one_peer_and_all_together_have_so_many_connections_and_no_more(keeper, monkeypatch, limit):
    monkeypatch.setattr(smtp, limit, 3)
    peers = [Peer(keeper.port) for _ in range(3)]
    refused = Peer(keeper.port, greeted=False)
    assert refused.reply().startswith("421 4.7.0 There are too many connections")
    assert refused.has_gone()
    assert peers[0].say(b"QUIT\r\n").startswith("221")
    assert peers[0].has_gone()
    Peer(keeper.port)


class Guest:
    def __init__(self, origin):
        self.origin = origin


def test_one_connection_in_ten_is_left_to_peers_that_have_none():
    connections = smtp.Connections(None, None, None)

    def take(origin):
        objection = connections.objection(origin)
        connections.open |= set() if objection else {Guest(origin)}
        return objection

    for number in range(4 * smtp.MOST_PEER_CONNECTIONS):  # four hosts that take all they can get
        take(f"192.0.2.{number % 4}")
    assert len(connections.open) == 90
    for number in range(10):
        assert take("192.0.2.1").startswith("421 4.7.0 ")
        assert take(f"198.51.100.{number}") == ""
    assert take("203.0.113.1").startswith("421 4.7.0 ")


def test_a_network_of_ipv6_is_one_peer_and_so_is_all_that_comes_by_a_local_socket():
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")
    assert network_of("") == ""
    assert machine_of("::ffff:198.41.0.4") == "198.41.0.4"  # as a proxy that listens for both writes IPv4
    assert machine_of("::ffff:127.0.0.1") is machine_of("127.0.0.1") is None


def test_too_many_errors_end_the_connection_but_a_mail_makes_up_for_them(keeper, peer):
    assert peer.say(HELLO).startswith("250")
    for _ in range(2):
        assert peer.codes(MAIL, *[b"RCPT TO:<x@y.example>\r\n"] * (smtp.MOST_ERRORS - 1)).count("550") == 19
        assert peer.codes(RCPT, b"DATA\r\n", TEXT + b".\r\n") == ["250", "354", "250"]
    peer.codes(MAIL, *[b"RCPT TO:<x@y.example>\r\n"] * (smtp.MOST_ERRORS + 1))
    assert peer.reply() == "421 4.7.0 There were too many errors"
    assert peer.has_gone()


@pytest.mark.parametrize(
    ("command", "often", "reply", "last"), [(b"NONSENSE\r\n", 4, "500", "502"), (b"NOOP\r\n", 20, "250", "421")]
)
def test_commands_that_are_unknown_or_do_nothing_end_the_connection(peer, command, often, reply, last):
    assert peer.codes(*[command] * (often + 1)) == [reply] * often + [last]
    assert peer.has_gone()


def test_a_peer_who_says_nothing_has_to_leave(keeper, monkeypatch):
    monkeypatch.setattr(smtp, "SILENCE_SECONDS", 0.2)
    assert Peer(keeper.port).has_gone()


def test_a_mail_that_comes_in_too_slowly_is_cut_off(keeper, monkeypatch):
    monkeypatch.setattr(smtp, "SILENCE_SECONDS", 0.5)
    peer = Peer(keeper.port)
    peer.socket.sendall(HELLO + MAIL + RCPT + b"DATA\r\n")  # together: there is no time to wait for each reply
    with pytest.raises(OSError, match=r"reset|pipe"):
        until(lambda: peer.socket.sendall(b"x"))
    assert keeper.deliveries == []


def test_a_peer_who_never_comes_to_the_point_has_to_leave(keeper, monkeypatch):
    monkeypatch.setattr(smtp, "IDLE_SECONDS", 0.5)
    peer = Peer(keeper.port)
    assert until(lambda: (reply := peer.say(b"RSET\r\n")) != "250 OK" and reply).startswith("421 4.4.2 ")
    assert peer.has_gone()


def test_a_peer_who_does_not_listen_has_to_leave_too(keeper, monkeypatch):
    monkeypatch.setattr(smtp, "IDLE_SECONDS", 0.5)
    monkeypatch.setattr(smtp, "LAST_REPLY_SECONDS", 0.2)
    peer = Peer(keeper.port)
    peer.socket.settimeout(1)
    with suppress(OSError):
        for _ in range(1000):
            peer.socket.sendall(b"RSET\r\n" * 1000)
    until(lambda: not keeper.connections.open)


def test_what_goes_wrong_inside_is_told_without_detail_and_the_mail_comes_again(keeper, peer, capfd):
    keeper.reply = ValueError("secret detail")
    peer.text(TEXT + b".\r\n")
    assert peer.reply() == "451 4.3.0 This could not be handled; please try again later"
    assert "ValueError" in capfd.readouterr().err


def test_a_mail_in_hand_is_finished_when_the_server_is_stopped(keeper, peer):
    keeper.goes_on.clear()
    idle = Peer(keeper.port)
    half = Peer(keeper.port)
    half.text(TEXT)
    peer.text(TEXT + b".\r\n")
    until(lambda: keeper.connections.handling)
    closing = asyncio.run_coroutine_threadsafe(keeper.connections.close(PATIENCE), keeper.loop)
    assert idle.reply() == half.reply() == smtp.STOPPED
    keeper.go_on()
    assert peer.reply() == "250 2.0.0 Done"
    assert peer.reply() == smtp.STOPPED
    assert peer.has_gone()
    assert closing.result(PATIENCE) is None
    assert len(keeper.deliveries) == 1
    assert Peer(keeper.port, greeted=False).reply() == smtp.STOPPED


def test_the_log_has_a_line_a_mail_with_nothing_private_in_it(keeper, peer, capfd):
    peer.text(b"Subject: spiro move 101 alice alice-secret c3\r\n\r\nprivate\r\n.\r\n")
    peer.reply()
    peer.text(b"x" * 2000 + b"\r\n.\r\n")
    peer.reply()
    peer.say("MAIL FROM:<jörg@players.example> SMTPUTF8\r\n".encode())
    peer.say(b"QUIT\r\n")
    said = re.sub(r"\d+-\d+-\d+T[0-9:.]+\+00:00|\d+\.\d(?= ms)", "*", capfd.readouterr().err)
    assert said == (
        "* 1 127.0.0.1 <alice@players.example> done (* ms in the lock, * ms in all)\n"
        "* 2 127.0.0.1 <alice@players.example> refused: "
        "500 5.5.2 A line of the mail is too long (RFC 5321, 4.5.3.1.6) (* ms in the lock, * ms in all)\n"
        f"* 3 127.0.0.1 <j\\xf6rg@players.example> refused: {smtp.UNANSWERABLE} (* ms in the lock, * ms in all)\n"
    )


def test_a_mail_is_done_though_the_log_cannot_be_written(peer, monkeypatch):
    monkeypatch.setattr("sys.stderr", Mock(**{"write.side_effect": OSError(28, "No space left on device")}))
    peer.text(TEXT + b".\r\n")
    assert peer.reply() == "250 2.0.0 Done"


def test_with_a_certificate_the_conversation_can_be_encrypted_and_nothing_said_before_counts(certificate):
    with kept(tls=tls(str(certificate.file), str(certificate.key))) as keeper:
        peer = Peer(keeper.port)
        peer.socket.sendall(HELLO)
        assert b"250-STARTTLS\r\n" in [peer.file.readline() for _ in range(6)]
        assert peer.say(b"STARTTLS\r\n" + MAIL).startswith("220")
        peer.socket = ssl.create_default_context(cafile=certificate.file).wrap_socket(
            peer.socket, server_hostname="localhost"
        )
        peer.file = peer.socket.makefile("rb")
        assert peer.say(MAIL).startswith("503")
        peer.socket.sendall(HELLO)
        assert not any(b"AUTH" in peer.file.readline() for _ in range(5))
        assert peer.codes(b"STARTTLS\r\n", b"AUTH PLAIN AGFsaWNlAGFsaWNlLXNlY3JldA==\r\n") == ["454", "535"]
        peer.text(TEXT + b".\r\n")
        assert peer.reply() == "250 2.0.0 Done"
        assert len(keeper.connections.open) == 1
        assert len(keeper.deliveries) == 1
        peer.file.close()
        peer.socket.close()  # or the server would wait for the peer


def test_old_versions_of_tls_are_refused(certificate):
    assert tls(str(certificate.file), str(certificate.key)).minimum_version == ssl.TLSVersion.TLSv1_2


def collected(kind):
    """How many objects of a kind only the collector of cycles would find."""
    return sum(isinstance(one, kind) for one in gc.get_objects())


@contextmanager
def without_collector():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def cut_off(port, raw, wrapped=None):
    """Hang up in the middle of a mail; *wrapped* encrypts the conversation first."""
    peer = Peer(port)
    if wrapped:
        assert peer.codes(HELLO, b"STARTTLS\r\n") == ["250", "220"]
        peer.socket = wrapped.wrap_socket(peer.socket, server_hostname="localhost")
        peer.file = peer.socket.makefile("rb")
    peer.text(raw)
    peer.file.close()
    peer.socket.close()


@pytest.mark.parametrize("kind", [smtp.Connection, smtp.LMTPConnection])
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_mail_that_is_cut_off_is_none_and_leaves_nothing_for_the_collector_of_cycles(certificate, kind, encrypted):
    hello = HELLO if kind is smtp.Connection else b"LHLO mx.example\r\n"
    wrapped = ssl.create_default_context(cafile=certificate.file) if encrypted else None
    context = tls(str(certificate.file), str(certificate.key)) if encrypted else None
    with kept(kind, context) as keeper, without_collector(), pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "HELLO", hello)
        for raw in (b"x" * 100_000, b"x" * 98 + b"\r\n", b"Subject: help\r\n" * 10_000):
            cut_off(keeper.port, raw, wrapped)
        until(lambda: not keeper.connections.open)
        until(lambda: collected(smtp.Connection) == collected(SSLProtocol) == 0)
        assert keeper.connections.held == 0
        assert keeper.deliveries == []


def test_all_together_hold_so_many_bytes_and_no_more(keeper, monkeypatch):
    monkeypatch.setattr(smtp, "MOST_HELD_BYTES", 1000)
    first, second = Peer(keeper.port), Peer(keeper.port)
    first.text(b"x" * 900 + b"\r\n")
    until(lambda: keeper.connections.held == 902)
    second.text(b"x" * 900 + b"\r\n.\r\n")
    assert second.reply() == smtp.CROWDED
    assert first.say(b".\r\n") == "250 2.0.0 Done"
    second.text(b"x" * 900 + b"\r\n.\r\n")
    assert second.reply() == "250 2.0.0 Done"
    assert keeper.connections.held == 0


def test_a_mail_in_hand_counts_until_it_is_handled_though_its_peer_has_hung_up(keeper):
    keeper.goes_on.clear()
    cut_off(keeper.port, TEXT + b".\r\n")
    until(lambda: keeper.connections.handling and not keeper.connections.open)
    assert keeper.connections.held == len(TEXT)
    keeper.go_on()
    until(lambda: not keeper.connections.held)
    assert len(keeper.deliveries) == 1


@pytest.mark.parametrize("line", [b"x" * 98 + b"\r\n", b"\r\n" * 50], ids=["full", "empty"])
def test_a_program_that_says_all_before_it_reads_a_reply_is_told_that_its_mail_is_too_large(keeper, peer, line):
    peer.text(line * 200_000 + b".\r\n")
    assert peer.reply() == smtp.TOO_LARGE
    peer.text(TEXT + b".\r\n")
    assert peer.reply() == "250 2.0.0 Done"
