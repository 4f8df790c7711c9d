"""Mails in and out, without a socket (the command language, section 2)."""

import base64
import email.policy
import time
from email import message_from_bytes
from email.message import EmailMessage
from html import unescape

import pytest

from pbm import reading
from pbm.board import Board
from pbm.mail import handle
from pbm.writing import compose

from conftest import ADDRESS

ALICE = "alice@players.example"


def message(subject, body="", sender=ALICE, **fields):
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, ADDRESS, subject
    for name, value in fields.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    return mail.as_bytes(policy=email.policy.SMTP)


def send(club, subject, body="", envelope=None, **fields):
    return handle(club.server, message(subject, body, **fields), envelope)


def test_the_subject_is_the_command_and_the_body_the_comment(pair):
    assert send(pair, "spiro move 101 alice alice-secret e3:5", "Hello bob,\n\nnice game.\n\n") == "command"
    assert "alice writes:\n\nHello bob,\n\nnice game.\n" in pair.mails("bob")[-1].text


@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_the_comment_is_decoded(pair, encoding):
    raw = EmailMessage()
    raw["From"], raw["Subject"] = ALICE, "spiro move 101 alice alice-secret e3:5"
    raw.set_content("Grüße aus Köln", cte=encoding)
    handle(pair.server, raw.as_bytes(), None)
    assert "Grüße aus Köln" in pair.mails("bob")[-1].text


def test_a_subject_in_encoded_words_is_read(pair):
    word = base64.b64encode(b"spiro move 101 alice alice-secret e3:5").decode()
    raw = f"From: {ALICE}\r\nSubject: =?utf-8?b?{word}?=\r\n\r\n".encode()
    assert handle(pair.server, raw, None) == "command"
    assert Board.load(pair.store, "spiro", "101").row.moves == 1


def test_a_folded_subject_is_one_line(pair):
    raw = f"From: {ALICE}\r\nSubject: spiro move 101\r\n alice alice-secret e3:5\r\n\r\n".encode()
    handle(pair.server, raw, None)
    assert Board.load(pair.store, "spiro", "101").row.moves == 1


def test_the_mail_that_is_answered_and_the_signature_are_no_comment(pair):
    body = "Good luck!\n\nOn Friday, the server wrote:\n> Summary: Spiro board 101\n> ...\n-- \nAlice, Cologne\n"
    send(pair, "spiro move 101 alice alice-secret e3:5", body)
    text = pair.mails("bob")[-1].text
    assert "Good luck!" in text
    assert "wrote:" not in text
    assert "Cologne" not in text


def test_a_comment_is_cut_after_200_lines(pair):
    send(pair, "spiro move 101 alice alice-secret e3:5", "\n".join(f"line {n}" for n in range(500)))
    text = pair.mails("bob")[-1].text
    assert "line 199" in text
    assert "line 200" not in text


@pytest.mark.parametrize("signature", ["-- alice", "__alice", "--=20\nalice"])
def test_a_mere_signature_puts_no_asterisks_into_the_subject(pair, signature):
    send(pair, "spiro move 101 alice alice-secret e3:5", signature)
    assert pair.mails("bob")[-1].subject == "Spiro Board 101 bob"


def test_the_same_message_twice_moves_once(pair):
    raw = message("spiro challenge alice bob", message_id="<one@players.example>")
    assert [handle(pair.server, raw, None) for _ in range(3)] == ["command", "repeated", "repeated"]
    assert pair.store.active_boards("spiro") == 2


def test_the_same_message_id_from_somebody_else_is_another_message(pair):
    for sender in (ALICE, "bob@players.example"):
        raw = message("spiro challenge alice bob", sender=sender, message_id="<one@players.example>")
        assert handle(pair.server, raw, None) == "command"


def test_without_a_message_id_the_mail_itself_is_known_again_whatever_way_it_came(pair):
    raw = message("spiro challenge alice bob")
    other_way = b"Received: from a\r\n by b\r\nReturn-Path: <x@y>\r\nDelivered-To: z\r\n" + raw
    assert [handle(pair.server, one, None) for one in (raw, other_way)] == ["command", "repeated"]


def test_a_refused_command_is_answered_once_and_changes_nothing(pair):
    raw = message("spiro move 101 alice alice-secret e3:4", "a comment", message_id="<one@players.example>")
    before = len(pair.mails())
    for _ in range(2):
        handle(pair.server, raw, None)
    [answer] = pair.mails()[before:]
    assert answer.subject == "Spiro Board 101 Error"
    assert answer.address == ALICE
    assert answer.thread == "<one@players.example>"
    assert Board.load(pair.store, "spiro", "101").row.moves == 0


def test_an_error_mail_quotes_what_was_sent_with_the_password_masked(pair):
    send(pair, "spiro move 101 alice alice-secret e3:4", "as I said, alice-secret is my password")
    text = pair.mails()[-1].text
    assert "> spiro move 101 alice PASSWORD e3:4\n> as I said, PASSWORD is my password" in text
    assert "alice-secret" not in text


@pytest.mark.parametrize(
    ("subject", "quoted"),
    [
        ("sprio move 101 alice alice-secret", "> sprio move PASSWORD PASSWORD PASSWORD"),
        ("spiro move alice alice-secret e3:4", "> spiro move PASSWORD PASSWORD PASSWORD"),
        ("spiro move alice alice-secret e3:4 e4", "> spiro move PASSWORD PASSWORD PASSWORD PASSWORD"),
        ("spiro move 101 alice-secret-and-more alice e3:4", "> spiro move PASSWORD PASSWORD PASSWORD PASSWORD"),
        ("change password alice alice-secret", "> change password PASSWORD PASSWORD"),
        ("signup alice alice-secret", "> signup alice PASSWORD"),
    ],
)
def test_of_a_line_that_is_not_understood_every_word_after_the_second_is_masked(pair, subject, quoted):
    send(pair, subject)
    assert quoted in pair.mails()[-1].text
    assert "alice-secret" not in pair.mails()[-1].text


@pytest.mark.parametrize(
    "line",
    [
        "spiro move 101 alice alice-secret e3:5",
        "spiro move alice alice-secret",
        "Re: signup alice alice-secret",
        "change password alice alice-secret new-secret",
    ],
)
def test_a_command_in_the_body_where_it_does_not_belong_is_masked_too(pair, line):
    send(pair, "", f"Hello,\n{line}\nThank you")
    text = pair.mails()[-1].text
    assert "a mail has it in the subject" in text
    assert "secret" not in text
    assert "> Hello," in text
    assert "> Thank you" in text


@pytest.mark.parametrize("subject", ["x" * 100_000, f"spiro show {'x' * 100_000}", f"spiro challenge {'x' * 9999} y"])
def test_what_is_said_back_of_a_long_line_is_short(pair, subject):
    send(pair, subject)
    assert len(pair.mails()[-1].text) < 1500


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        ("", "pbm error"),
        ("hello there", "pbm error"),
        ("spiro", "Spiro error"),
        ("spiro frobnicate", "Spiro error"),
        ("spiro move 101 alice nonsense e3:5", "Spiro error"),
        ("spiro challenge alice nobody9", "Invalid challenge"),
        ("spiro move 101 carol carol-secret e3:5", "Spiro Board 101 Error"),
    ],
)
def test_the_subject_of_an_error_mail_says_how_far_the_command_was_understood(pair, subject, answer):
    send(pair, subject)
    assert pair.mails()[-1].subject == answer


@pytest.mark.parametrize(
    "fields",
    [
        {"auto_submitted": "auto-replied (vacation)"},
        {"precedence": "bulk"},
        {"precedence": "Junk"},
        {"list_id": "<games.example>"},
        {"sender": ADDRESS},
        {"sender": "PBM+token@pbm.example"},
        {"envelope": ""},
    ],
)
def test_automatic_mail_is_recorded_but_neither_run_nor_answered(pair, fields):
    before = len(pair.mails())
    assert send(pair, "spiro move 101 alice alice-secret e3:5", **fields) == "automatic"
    assert send(pair, "nonsense", **fields) == "automatic"
    assert len(pair.mails()) == before
    assert Board.load(pair.store, "spiro", "101").row.moves == 0


def test_auto_submitted_no_is_a_person(pair):
    assert send(pair, "spiro move 101 alice alice-secret e3:5", auto_submitted="no") == "command"


def test_the_sender_is_the_one_address_in_from_and_never_reply_to(pair):
    send(pair, "spiro games", sender="Carol <carol@players.example>", reply_to="victim@players.example")
    assert pair.mails()[-1].address == "carol@players.example"
    assert send(pair, "spiro games", sender="a@players.example, b@players.example") == "unreadable"


def test_without_from_the_envelope_says_who_sent_it(pair):
    assert handle(pair.server, b"Subject: spiro games\r\n\r\n", "carol@players.example") == "command"
    assert pair.mails()[-1].address == "carol@players.example"
    assert handle(pair.server, b"Subject: spiro games\r\n\r\nagain", None) == "unreadable"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x00\xff\xfe" * 100,
        b"Subject: =?x-unknown?q?=FF?=\r\nFrom: a@b.example\r\n\r\n",
        b"Subject: =?utf-8?b?!!!?=\r\nFrom: a@b.example\r\n\r\n",
        b"From: a@b.example\r\nSubject: \xff\xfe spiro\r\n\r\n\xff",
        b"From: a@b.example\r\nContent-Type: text/plain; charset=nonsense\r\nSubject: spiro games\r\n\r\n\xe4",
        b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\nSubject: spiro games\r\n\r\n--x",
        b"From: a@b.example\r\nSubject: " + b"A" * 900_000 + b"\r\n\r\n",
        b"".join(b"Content-Type: multipart/mixed; boundary=%d\r\n\r\n--%d\r\n" % (n, n) for n in range(1500)),
        b"From: a@b.example\r\nMessage-ID: <x\r\n y>\x00\r\nSubject: spiro games\r\n\r\n",
        b'From: "a\r\nBcc: victim@b.example"@b.example\r\nSubject: spiro games\r\n\r\n',
    ],
    ids=range(11),
)
def test_rubbish_is_handled_and_whatever_is_answered_can_be_sent(pair, raw):
    before = pair.text("spiro show 101")
    handle(pair.server, raw, "a@b.example")
    assert pair.text("spiro show 101") == before
    for row in pair.mails():
        assert compose(row, ADDRESS)


def test_a_mail_of_ours_is_correct_and_one_of_a_thread_a_board_and_player(pair):
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    first, *later = (
        message_from_bytes(compose(row, ADDRESS), policy=email.policy.default) for row in pair.mails("bob")
    )
    assert first["From"] == ADDRESS
    assert first["To"] == "bob@players.example"
    assert first["Date"] == "Fri, 20 Nov 2026 12:00:00 +0000"
    assert first["Auto-Submitted"] == "auto-generated"
    assert first["References"] is None
    assert [one["References"] for one in later] == [first["Message-ID"]] * len(later)
    assert len({one["Message-ID"] for one in [first, *later]}) == 1 + len(later)
    assert all(one.get_body().get_content_type() == "text/html" for one in [first, *later])
    texts = [one.get_body(("plain",)).get_content() for one in [first, *later]]
    assert all(len(line) <= 78 for text in texts for line in text.splitlines())
    alices = message_from_bytes(compose(pair.mails("alice")[0], ADDRESS))
    assert alices["Message-ID"] != first["Message-ID"]


def test_the_answer_to_a_command_refers_to_its_mail(pair):
    send(pair, "spiro games", message_id="<one@players.example>")
    sent = message_from_bytes(compose(pair.mails()[-1], ADDRESS))
    assert sent["In-Reply-To"] == sent["References"] == "<one@players.example>"
    assert sent["Auto-Submitted"] == "auto-replied"


def test_a_comment_in_any_language_arrives(pair):
    pair.move("alice", "e3:5", comment="Grüße, 你好 \U0001f600")
    sent = compose(pair.mails("bob")[-1], ADDRESS)
    assert max(map(len, sent.split(b"\r\n"))) <= 998
    assert b"\n" not in sent.replace(b"\r\n", b"")
    for part in message_from_bytes(sent, policy=email.policy.default).iter_parts():
        assert "Grüße, 你好 \U0001f600" in unescape(part.get_content())


def test_what_is_no_line_of_a_header_is_never_sent(pair):
    with pytest.raises(ValueError, match="no line of a header"):
        compose(pair.mails("bob")[0]._replace(subject="x\nBcc: victim@players.example"), ADDRESS)


def test_every_mail_ends_with_a_command(pair):
    for subject in ("help", "list", "spiro games", "spiro show 101", "spiro show 999", "rubbish"):
        send(pair, subject)
    for row in pair.mails():
        last = row.text.splitlines()[-1]
        assert last.split()[0] in {"help", "spiro", "confirm-address"}, row.text


@pytest.mark.parametrize(
    ("field", "sender"),
    [
        ("=?utf-8?q?alice=40players=2Eexample=2C?= <eve@evil.example>", "eve@evil.example"),
        ("=?utf-8?Q?J=C3=B6rg_=28Firma?= <hans@x.example>", "hans@x.example"),
        ("o'brien@x.example", "o'brien@x.example"),
        ("victim@z.example, attacker@[10.0.0.1]", None),
        ("alice@players.example\nFrom: eve@evil.example", None),
        ("alice@players.example,", "alice@players.example"),
        ("", None),
    ],
)
def test_the_sender_is_read_from_the_field_as_it_is_and_not_from_a_decoded_name(field, sender):
    assert reading.read(f"From: {field}\nSubject: help\n\n".encode(), None).sender == sender


def test_a_line_in_the_body_that_looks_like_a_header_field_makes_another_mail(pair):
    for line in ("yes", "no\r\nReceived: maybe"):
        raw = f"From: {ALICE}\r\nSubject: spiro games\r\n\r\nhello\r\nReceived: {line}\r\n".encode()
        assert handle(pair.server, raw, None) == "command"


def test_one_mail_causes_only_so_many(pair):
    for subject in (f"spiro show {'101 ' * 1000}", f"help {'spiro ' * 1000}", "spiro games " + "101 " * 1000):
        before = len(pair.mails())
        send(pair, subject)
        assert len(pair.mails()) == before + 1
    send(pair, "spiro show " + " ".join(str(number) for number in range(101, 301)))
    assert "too much mail" in pair.mails()[-1].text
    send(pair, "spiro show " + "101 " * 100_000)
    assert "at most 10000 characters" in pair.mails()[-1].text


@pytest.mark.parametrize("subject", ["=?utf-8?q?a?= " * 60_000, "Re: " * 200_000])
def test_a_subject_of_a_megabyte_is_no_work(pair, subject):
    begin = time.process_time()
    assert handle(pair.server, f"From: {ALICE}\r\nSubject: {subject}\r\n\r\n".encode(), None) == "command"
    assert time.process_time() - begin < 1


def test_a_comment_is_limited_in_size_too(pair):
    send(pair, "spiro move 101 alice alice-secret e3:5", "x " * 440_000)
    assert len(pair.mails("bob")[-1].text) < 20_000


def test_no_line_of_a_mail_is_longer_than_78_columns_however_long_the_turn(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=25 alice bob")
    for column in "acegikmoqsuwy":
        for name, row in (("alice", 11), ("bob", 13), ("alice", 15), ("bob", 17)):
            club.say(f"symple move 101 {name} {name}-secret {column}{row}")
    growths = Board.load(club.store, "symple", "101").state.moves()
    club.say(f"symple move 101 alice alice-secret {next(turn for turn in growths if len(turn) > 78)}")
    for row in club.mails():
        assert max(map(len, row.text.splitlines())) <= 78
