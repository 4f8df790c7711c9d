"""Mails in and out, without a socket (docs/command-language.md, section 2)."""

import email.policy
import re
import time
from email import message_from_bytes
from email.message import EmailMessage

import pytest

from pbm import runner
from pbm.access import tokens
from pbm.actions import cleanup
from pbm.language.commands import OF_GAME
from pbm.language.grammar import Call
from pbm.mail import incoming
from pbm.mail.reading import fingerprint
from pbm.mail.writing import compose
from pbm.session import Session
from pbm.store import Failures, Reply

from helpers.answers import moves
from helpers.database import stored, stored_board
from helpers.mail import ADDRESS, ALICE, answer, handle, mail_of, message, outcome_of, reply_address


def send(club, subject, body="", envelope=None, **fields):
    return handle(club.server, message(subject, body, **fields), envelope)


@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_the_comment_is_decoded(pair, encoding):
    raw = EmailMessage()
    raw["From"], raw["Subject"] = ALICE, "spiro move 101 alice alice-secret e3:5"
    raw.set_content("Grüße aus Köln", cte=encoding)
    handle(pair.server, raw.as_bytes(), None)
    assert "Grüße aus Köln" in pair.mails("bob")[-1].text


@pytest.mark.parametrize("line", ["multiple show", "Re: multiple spiro move 101 alice alice-secret e3:5"])
def test_words_behind_a_command_that_takes_none_are_told_in_an_answer(pair, line):
    assert send(pair, line) == "command"
    assert "Too many words" in pair.mails()[-1].text


@pytest.mark.parametrize("comment", ["\n".join(f"line {n}" for n in range(500)), "x " * 440_000])
def test_a_comment_is_cut_after_200_lines_whatever_their_length(pair, comment):
    send(pair, "spiro move 101 alice alice-secret e3:5", comment)
    text = pair.mails("bob")[-1].text
    assert ("line 199" in text) == ("line" in comment)
    assert "line 200" not in text
    assert len(text) < 20_000


def test_a_mail_is_known_again_by_its_message_id_and_sender_or_without_one_by_itself_whatever_way_it_came(pair):
    raw = message("spiro challenge alice bob")
    other_way = b"Received: from a\r\n by b\r\nReturn-Path: <x@y>\r\nDelivered-To: z\r\n" + raw
    assert [handle(pair.server, one, None) for one in (raw, other_way)] == ["command", "repeated"]
    for sender in (ALICE, "bob@players.example"):
        raw = message("spiro challenge alice bob", sender=sender, message_id="<one@players.example>")
        assert handle(pair.server, raw, None) == "command"
    mails = [
        message(f"spiro move 101 alice alice-secret {move}", message_id="<1@x>").replace(b"<1@x>", b"<>")
        for move in ("e3:1", "e3:2")
    ]
    assert [handle(pair.server, raw, None) for raw in (*mails, mails[1])] == ["command", "command", "repeated"]
    assert [one.subject for one in pair.mails()[-2:]] == ["Spiro Board 101 Error"] * 2


def test_a_command_in_the_body_where_it_does_not_belong_is_masked_too(pair):
    send(pair, "", "Hello,\nRe: change password alice alice-secret new-secret\nThank you")
    text = pair.mails()[-1].text
    assert "a mail has it in the subject" in text
    assert "secret" not in text
    assert "> Hello," in text
    assert "> Thank you" in text


@pytest.mark.parametrize(
    "fields", [{"precedence": "bulk"}, {"sender": ADDRESS}, {"sender": "PBM+token@pbm.example"}, {"envelope": ""}]
)
def test_automatic_mail_is_recorded_but_neither_run_nor_answered(pair, fields):
    before = len(pair.mails())
    assert send(pair, "spiro move 101 alice alice-secret e3:5", **fields) == "automatic"
    assert send(pair, "nonsense", **fields) == "automatic"
    assert len(pair.mails()) == before
    assert stored_board(pair.store, "spiro", "101").row.moves == 0


def test_the_sender_is_the_one_address_in_from_or_the_envelope_and_never_reply_to(pair):
    send(pair, "spiro games", sender="Carol <carol@players.example>", reply_to="victim@players.example")
    assert pair.mails()[-1].address == "carol@players.example"
    assert send(pair, "spiro games", sender="a@players.example, b@players.example") == "unreadable"
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
    assert b"\nTo: <bob@players.example>\n" in compose(pair.mails("bob")[0], ADDRESS)
    assert first["Date"] == "Fri, 20 Nov 2026 12:00:00 +0000"
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


def test_every_mail_ends_with_a_command(pair):
    for subject in ("help", "list", "spiro games", "spiro show 101", "spiro show 999", "rubbish"):
        send(pair, subject)
    for row in pair.mails():
        last = row.text.splitlines()[-1]
        assert last.split()[0] in {"help", "spiro", "confirm-address"}, row.text


def test_who_is_one_of_several_senders_is_told_if_the_envelope_is_his_and_he_is_a_user(pair):
    raw = message("spiro move 101 alice alice-secret e3:5", sender=f"{ALICE}, bob@players.example")
    before = len(pair.mails())
    assert handle(pair.server, raw, "stranger@players.example") == "unreadable"
    assert len(pair.mails()) == before
    assert handle(pair.server, raw.replace(b"e3:5", b"e3:4"), ALICE.title()) == "unreadable"
    [answer] = pair.mails()[before:]
    assert answer.address == ALICE
    assert "from several addresses" in answer.text
    assert "alice-secret" not in answer.text
    assert moves(pair) == 0


def test_a_command_that_is_written_wrongly_is_answered_though_the_mail_wants_no_answer(pair):
    for number, subject in enumerate(("spiro move 101 alice", "sprio move 101 alice", "spiro mov 101", "vacation")):
        outcome = send(pair, subject, f"{number}", x_auto_response_suppress="All", list_unsubscribe="<mailto:x@y>")
        assert outcome == "command"
        assert pair.mails()[-1].address == ALICE


def test_a_line_in_the_body_that_looks_like_a_header_field_makes_another_mail(pair):
    for line in ("yes", "no\r\nReceived: maybe"):
        raw = f"From: {ALICE}\r\nSubject: spiro games\r\n\r\nhello\r\nReceived: {line}\r\n".encode()
        assert handle(pair.server, raw, None) == "command"


@pytest.mark.long
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
    assert time.process_time() - begin < 10


# Answering a board mail


def test_every_board_mail_to_a_user_has_a_reply_address_of_its_own(pair):
    addresses = [one.reply_to for one in pair.mails() if one.subject.startswith("New")]
    assert len(set(addresses)) == 2
    assert all(re.fullmatch(r"pbm\+r[0-9]+-[0-9a-f]{32}@pbm\.example", one) for one in addresses)
    sent = message_from_bytes(compose(pair.mails("alice")[-1], ADDRESS))
    assert sent["Reply-To"] == reply_address(pair)
    pair.move("alice", "e3:5")
    assert reply_address(pair) == addresses[0]


def test_a_reply_address_may_change_its_case_on_the_way(pair):
    answer(pair, "e3:5", reply_address(pair).upper())
    assert moves(pair) == 1


def test_an_answer_to_a_mail_of_a_game_that_has_ended_is_told_so(pair):
    address = reply_address(pair)
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    pair.move("alice", "resign")
    answer(pair, "e3:5", address)
    refusal = pair.mails()[-1]
    assert (refusal.subject, refusal.reply_to) == ("Spiro error", None)
    assert "The game has ended: won by bob." in refusal.text


def test_a_full_command_in_the_subject_of_an_answer_wins_if_its_password_is_right(pair):
    answer(pair, "Good luck!", subject="spiro move 101 alice wrong-secret e3:5")
    assert moves(pair) == 0
    answer(pair, "e3:4", subject="Re: Spiro Board 101 alice alice-secret e3:5")
    assert [turn.text for turn in stored_board(pair.store, "spiro", "101").turns] == ["e3:5"]


@pytest.mark.parametrize(
    "line",
    [
        "change password alice - new-secret",
        "spiro move 101 alice - e3:5",
        "spiro showas alice - 101",
        "change address alice - eve@evil.example",
    ],
)
def test_a_reply_address_is_no_password_for_anything_else(pair, line):
    before = [*stored(pair.store, "users"), *stored(pair.store, "addresses")]
    for subject, body in (("", line), (line, "")):
        answer(pair, body, subject=subject)
    assert moves(pair) == 0
    assert [*stored(pair.store, "users"), *stored(pair.store, "addresses")] == before


def test_a_reply_address_speaks_for_one_user_on_one_board(pair):
    for game in ("spiro", "symple"):
        pair.say(f"{game} challenge alice bob")
    session = Session(
        pair.server, ALICE, "Hello!", proved=Reply("spiro", "101", "alice"), is_trusted=False, is_printed=False
    )

    def why(userid, password, game, board):
        given = {"game": game, "board": board, "userid": userid, "password": password}
        with pair.store.writing():
            return runner.finish(runner.prepare(session, Call(OF_GAME["chat"], given))).why

    assert why("alice", "", "spiro", "101") is None
    for given in [
        ("bob", "", "spiro", "101"),
        ("alice", "", "spiro", "102"),
        ("alice", "", "symple", "101"),
        ("alice", "wrong-secret", "spiro", "101"),
    ]:
        assert "password is wrong" in str(why(*given))


def forged(address):
    digit = address.index("-") + 5
    return address[:digit] + ("0" if address[digit] != "0" else "1") + address[digit + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        forged,
        lambda address: address.replace("+r1-", "+r2-"),
        lambda address: address.replace("+r1-", "+r01-"),
        lambda address: address.replace("+r1-", "+b1-"),
        lambda address: address.replace("pbm.example", "elsewhere.example"),
        lambda _: "pbm+@pbm.example",
        lambda _: "pbm+token@pbm.example",
        lambda _: "pbm+r1-@pbm.example",
        lambda address: address.replace("@", "x@"),
    ],
)
def test_an_address_that_is_none_of_ours_is_neither_known_nor_answered(pair, change):
    address = change(reply_address(pair))
    before = len(pair.mails())
    assert not incoming.is_known(pair.server, address)
    assert answer(pair, "e3:5", address) == "unknown"
    assert (moves(pair), len(pair.mails())) == (0, before)


def test_an_answer_hides_passwords_refuses_an_endless_move_at_once_and_checks_the_number_of_the_move(pair):
    answer(pair, "e3 : 5 alice-secret")
    assert "\n> e3 : 5 PASSWORD\n" in pair.mails()[-1].text
    begin = time.process_time()
    answer(pair, "e3:5," * 20_000)
    assert "Write your move alone on the first line" in " ".join(pair.mails()[-1].text.split())
    assert time.process_time() - begin < 10
    answer(pair, "e3:5#2")
    assert moves(pair) == 0
    answer(pair, "e3:5#1")
    assert moves(pair) == 1


def test_the_last_refusal_of_a_day_says_so(pair):
    for number in range(20):
        answer(pair, f"e3:{number}9")
        assert ("before tomorrow" in pair.mails()[-1].text) == (number == 19)


def test_a_new_password_and_a_code_for_one_make_all_reply_addresses_worthless(pair):
    address = reply_address(pair)
    pair.say("change password alice alice-secret another-secret")
    assert not incoming.is_known(pair.server, address)
    pair.say("spiro move 101 alice another-secret e3:5")
    pair.move("bob", "e2:4:2")
    assert reply_address(pair) != address
    assert incoming.is_known(pair.server, reply_address(pair))
    assert incoming.is_known(pair.server, reply_address(pair, "bob"))
    address = reply_address(pair)
    pair.say("reset alice", sender=ALICE)
    code = next(one for one in pair.mails("alice") if one.subject == "pbm reset").text.split()[-2]
    pair.say(f"reset alice {code} another-secret")
    assert not incoming.is_known(pair.server, address)


@pytest.mark.parametrize(("subject", "line"), [("unsubscribe", ""), ("Re: Spiro Board 101 alice", "Unsubscribe")])
def test_a_subscription_is_ended_by_a_mail_to_its_reply_address(pair, subject, line):
    pair.say("spiro subscribe 101 carol carol-secret")
    pair.move("alice", "e3:5")
    answer(pair, line, reply_address(pair, "carol"), subject=subject, sender="carol@players.example")
    assert pair.mails("carol")[-1].text.startswith("You get no more mails about: 101.")
    assert pair.store.boards.followers("spiro", "101")["subscriber"] == []


def test_whoever_answers_about_a_board_that_is_gone_is_told_so_for_as_long_as_notes_are_kept(pair):
    address = reply_address(pair)
    answer(pair, "resign")
    assert pair.store.boards.get("spiro", "101") is None
    raw = message("Re: Spiro Board 101 alice", "e3:5")
    assert outcome_of(pair.server, raw, None, [address]).reason == "Spiro board 101 has been removed."
    assert "Spiro board 101 has been removed." in pair.mails()[-1].text
    pair.pass_time(days=99)
    cleanup.clean_up(Session(pair.server))
    assert incoming.is_known(pair.server, address)
    pair.pass_time(days=2)
    cleanup.clean_up(Session(pair.server))
    assert not incoming.is_known(pair.server, address)


@pytest.mark.parametrize(("days", "outcome"), [(99, "repeated"), (101, "command")])
def test_a_mail_that_comes_again_is_known_for_a_hundred_days(pair, days, outcome):
    raw = message("spiro show 101")
    assert handle(pair.server, raw, None) == "command"
    pair.pass_time(days=days)
    cleanup.clean_up(Session(pair.server))
    assert handle(pair.server, raw, None) == outcome


def test_of_several_recipients_the_reply_address_counts_and_with_the_postmaster_it_is_a_command(pair):
    raw = message("Re: New Spiro Board 101 alice", "e3:5")
    handle(pair.server, raw, None, [ADDRESS, "pbm+token@pbm.example", reply_address(pair)])
    assert moves(pair) == 1
    raw = message("spiro move 101 bob bob-secret e2:4:2", sender="bob@players.example")
    assert handle(pair.server, raw, None, ["postmaster@pbm.example", ADDRESS]) == "command"
    assert moves(pair) == 2


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_what_a_mail_gets_on_its_way_does_not_make_it_another_one_also_below_all_other_fields(end):
    sent = end.join([b"From: a@b.example", b"Subject: list", b"", b"Hello"])
    arrived = end.join([b"From: a@b.example", b"Subject: list", b"Delivered-To: c@d.example", b"", b"Hello"])
    assert fingerprint(arrived) == fingerprint(sent)


def copies(pair, line, *, message_id=None, cc=None):
    """One mail to our own address and to alice's reply address, as it comes to each of the two."""
    reply = reply_address(pair)
    to = ADDRESS if cc else f"pbm <{ADDRESS}>, {reply.upper()}"
    raw = mail_of(ALICE, "Re: Spiro Board 101 alice", line, to, **({"cc": reply} if cc else {}))
    if message_id:
        raw = f"Message-ID: {message_id}\r\n".encode() + raw
    return [
        (f"Delivered-To: {one}\r\nX-Original-To: {one}\r\nEnvelope-To: {one}\r\n".encode() + raw, one)
        for one in (ADDRESS, reply)
    ]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("message_id", ["<one@players.example>", None])
@pytest.mark.parametrize("cc", [True, False])
def test_a_mail_to_both_addresses_that_comes_as_two_copies_is_played_once(pair, first, message_id, cc):
    mails = copies(pair, "e3:5\n\nHello", message_id=message_id, cc=cc)
    before = len(pair.mails())
    outcomes = [handle(pair.server, raw, ALICE, [recipient]) for raw, recipient in (mails[first], mails[1 - first])]
    assert outcomes == ["command", "repeated"]
    assert moves(pair) == 1
    assert {mail.subject for mail in pair.mails()[before:]} == {"Spiro Board 101 bob **"}
    assert not any("reply address" in mail.text for mail in pair.mails()[before:])


def test_a_mistake_in_two_copies_is_told_once_with_the_board(pair):
    before = len(pair.mails())
    for raw, recipient in copies(pair, "e3:99"):
        handle(pair.server, raw, ALICE, [recipient])
    assert [mail.subject for mail in pair.mails()[before:]] == ["Spiro Board 101 Error"]


def test_an_address_in_a_header_that_is_no_reply_address_of_ours_changes_nothing(pair):
    raw = mail_of(ALICE, "Re: Spiro Board 101 alice", "e3:5", f"{ADDRESS}, {forged(reply_address(pair))}")
    handle(pair.server, raw, ALICE, [ADDRESS])
    assert moves(pair) == 0


def test_a_refused_command_is_answered_though_it_reads_like_an_answer_of_a_program_or_wants_none(pair):
    assert send(pair, "spiro move 101 alice alice-secret out of office") == "command"
    assert send(pair, "I am out of office") == "automatic"
    assert send(pair, "Minutes of the meeting", x_auto_response_suppress="All") == "automatic"
    before = len(pair.mails())
    assert send(pair, "spiro move 101 alice alice-secret e3:4", x_auto_response_suppress="All") == "command"
    assert pair.mails()[before].subject == "Spiro Board 101 Error"
    send(pair, "spiro move 101 alice alice-secret e3:5", x_auto_response_suppress="All")
    assert moves(pair) == 1


def test_our_addresses_in_the_header_stand_in_for_an_envelope_that_is_not_known(pair):
    raw = b"To: Bob <bob@players.example>\nCc: PBM+r1-x@pbm.example, x@y.example\nDelivered-To: pbm@pbm.example\n\n"
    assert incoming.addressed(raw, ADDRESS) == ["PBM+r1-x@pbm.example", ADDRESS]


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("", "spiro move 101 alice alice-secret e3:5\n\nHello"),
        ("my move", "\n\nspiro move 101 alice alice-secret e3:5\nHello"),
        ("\u2014", "SPIRO MOVE 101 alice alice-secret e3:5\nHello"),
        *(
            (subject, "spiro move 101 alice alice-secret e3:5\nHello")
            for subject in (
                "Message from Alice",
                "Message from Alice Miller",
                "Message from +491701234567",
                "Message for you",
                "Message",
                "Mail from Alice",
                "New message from Alice",
                "Message sent from my telephone",
                "Nachricht von Al",
                "Reset",
                "Vacation from Monday",
                "Spiro Board 101 alice [EXTERNAL]",
                "Dice",
                "Block 5",
            )
        ),
    ],
)
def test_the_first_line_of_the_body_is_the_command_where_the_subject_is_none(pair, subject, body):
    send(pair, subject, body)
    assert moves(pair) == 1
    assert pair.mails("bob")[-1].text.count("Hello") == 1
    assert "secret" not in pair.mails("bob")[-1].text


def test_a_command_in_the_subject_that_is_refused_is_not_replaced_by_one_below_it(pair):
    send(pair, "spiro move 101 alice wrong-secret e3:5", "Help me out, bob!")
    assert "password is wrong" in pair.mails()[-1].text
    send(pair, "spiro move 101 alice wrong-secret e3:5", "spiro move 101 alice alice-secret e3:5")
    assert "password is wrong" in pair.mails()[-1].text
    send(pair, "Multiple commands", "spiro move 101 alice alice-secret e3:5\nlist")
    assert "Too many words" in pair.mails()[-1].text
    assert moves(pair) == 0


def test_dashes_of_a_telephone_are_read_as_typed_but_in_a_password(club):
    club.signed_up("alice")
    for name, password in (("dora", "two\u2014dashes"), ("emil", "two--dashes")):
        send(club, f"signup {name} {password} {name}@players.example")
    assert club.server.passwords.is_right(club.store.users.password_of("dora"), "two\u2014dashes")
    send(club, "papagra challenge \u2014removals=1 alice alice")
    assert club.store.boards.get("papagra", "101").options == "-removals=1"


# Wrong passwords


def guess(club, word="wrong-secret", name="alice", sender=ALICE, peer=None):
    raw = message(f"spiro move 101 {name} {word} e3:9", sender=sender, message_id=f"<{club.random_bytes(8).hex()}@x>")
    handle(club.server, raw, None, peer=peer)
    return club.mails()[-1].text


def test_after_five_wrong_passwords_the_next_one_is_not_looked_at_for_a_while_even_if_there_is_no_such_userid(pair):
    for _ in range(5):
        assert "The userid or the password is wrong." in guess(pair)
    assert "try again after 2026-11-20 12:02" in guess(pair, "alice-secret")
    pair.pass_time(minutes=1)
    assert "e3:9" in guess(pair, "alice-secret")
    for _ in range(5):
        guess(pair, name="nobody9")
    assert "Too many wrong passwords" in guess(pair, name="nobody9")


def test_the_longest_wait_is_an_hour(pair):
    pair.store.trust.save_failures("userid", "alice", Failures(30, pair.time))
    pair.pass_time(minutes=59)
    assert "Too many" in guess(pair, "alice-secret")
    pair.pass_time(minutes=1)
    assert "Too many" not in guess(pair, "alice-secret")


@pytest.mark.long
def test_the_wait_doubles_up_to_an_hour(pair):
    for _ in range(5):
        guess(pair)
    waits = []
    for _ in range(8):
        begin = pair.time
        while "Too many" in guess(pair, "alice-secret", sender=f"x{pair.made}@elsewhere.example"):
            pair.pass_time(minutes=1)
        waits.append((pair.time - begin).seconds // 60)
        with pair.store.writing():
            pair.store.trust.save_failures("userid", "alice", Failures(5 + len(waits), pair.time))
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_right_password_ends_the_row_of_wrong_ones_even_if_its_command_is_refused(pair):
    for _ in range(4):
        guess(pair)
    guess(pair, "alice-secret")
    for _ in range(4):
        guess(pair)
    assert "e3:9" in guess(pair, "alice-secret")


def test_wrong_passwords_for_many_users_are_counted_by_where_they_come_from_unless_that_is_this_machine(pair):
    for number in range(20):
        guess(pair, name=f"user{number}", sender=f"x{number}@elsewhere.example", peer="8.8.8.8")
    assert "Too many" in guess(pair, name="bob", sender="y@elsewhere.example", peer="8.8.8.8")
    assert "The userid or" in guess(pair, name="bob", sender="y@elsewhere.example", peer="9.9.9.9")
    for number in range(20):
        guess(pair, name=f"user{number}", sender=f"x{number}@elsewhere.example", peer="127.0.0.1")
    assert "The userid or" in guess(pair, name="bob", sender="y@elsewhere.example", peer="127.0.0.1")


def test_nobody_can_be_locked_out_of_his_reply_address_or_the_shell(pair):
    for number in range(9):
        guess(pair, sender=f"eve{number}@evil.example")
    answer(pair, "e3:5")
    assert moves(pair) == 1
    assert pair.say("spiro showas alice alice-secret 101")


# Never a loop, and never a person taken for a program

LIKELY = [
    {"x_precedence": "bulk"},
    {"x_autoreply": "yes"},
    {"x_post_messageclass": "9; Autoresponder"},
    {"x_otrs_loop": "yes"},
    {"delivered_to": "Autoresponder"},
    {"list_post": "<mailto:games@lists.example>"},
    {"sender": "noreply-x@shop.example"},
    {"sender": "owner-games@lists.example"},
    {"sender": "games-request@lists.example"},
]
"""Fields of mails that are probably of programs."""


@pytest.mark.parametrize("fields", LIKELY)
def test_a_mistake_is_not_answered_where_a_program_may_have_made_it(pair, fields):
    before = len(pair.mails())
    for subject in ("Thank you", "list", "spiro show 101", "spiro move 101 alice alice-secret z9",
                    "Re: Spiro Board 101 alice", "Re: Help spiro"):  # fmt: skip
        assert send(pair, subject, "I have received your mail.", **fields) == "automatic"
    for subject in ("Thank you", "Re: Spiro Board 101 alice", "Re: Spiro chat 101 bob"):
        raw = message(subject, "Your mail has come.", **fields)
        assert handle(pair.server, raw, None, [reply_address(pair)]) == "automatic"
    assert len(pair.mails()) == before


@pytest.mark.parametrize("fields", LIKELY)
def test_a_whole_command_and_a_legal_answer_are_done_all_the_same(pair, fields):
    assert send(pair, "spiro move 101 alice alice-secret e3:5", **fields) == "command"
    raw = message("Re: Spiro Board 101 bob", "e2:4:2", **fields)
    assert handle(pair.server, raw, None, [reply_address(pair, "bob")]) == "command"
    assert moves(pair) == 2
    if "sender" not in fields:
        assert send(pair, "multiple", "spiro chat 101 alice alice-secret\nlist", **fields) == "command"


@pytest.mark.parametrize(
    "fields", [{"list_help": "<mailto:x@y.example>"}, {"x_autoreply": "no"}, {"list_unsubscribe": "x"}]
)
def test_a_mark_that_relays_add_or_that_says_no_keeps_nothing_from_being_answered(pair, fields):
    for subject in ("spiro show 101", "spiro move 101 alice alice-secret z9"):
        assert send(pair, subject, **fields) == "command"
        assert pair.mails()[-1].address == ALICE
    assert handle(pair.server, message("Re: Spiro Board 101 alice", "z9", **fields), None, [reply_address(pair)])
    assert "z9" in pair.mails()[-1].text


@pytest.mark.parametrize("fields", [{"auto_submitted": "auto-replied"}, {"precedence": "bulk"}, {"list_id": "<x>"}])
def test_a_mark_of_rfc_3834_silences_everything(pair, fields):
    before = len(pair.mails())
    assert send(pair, "spiro move 101 alice alice-secret e3:5", **fields) == "automatic"
    raw = message("Re: Spiro Board 101 alice", "e3:5", **fields)
    assert handle(pair.server, raw, None, [reply_address(pair)]) == "automatic"
    assert (moves(pair), len(pair.mails())) == (0, before)


@pytest.mark.parametrize("name", ["noreply-jim", "owner-jim", "jim-request", "no-reply", "postmaster", "bounces+jim"])
def test_a_confirmed_address_is_that_of_a_person_whatever_it_is_called(pair, name):
    address = f"{name}@players.example"
    pair.say(f"change address alice alice-secret {address}")
    for subject, begin in (("nonsense", "There is no game or command"), ("spiro show 101", "Summary: Spiro board 101")):
        assert send(pair, subject, sender=address) == "command"
        assert (pair.mails()[-1].address, pair.mails()[-1].text.startswith(begin)) == (address, True)
    answer(pair, "e3:9", sender=address)
    assert "e3:9" in pair.mails()[-1].text
    answer(pair, "e3:5", sender=address)
    assert moves(pair) == 1


@pytest.mark.parametrize(
    "comment",
    ["Sorry that I have only now reacted to your message.", "I am out of the office.",
     "This is an automated message :-)", "Your request was received, and refused!", "Read: nothing"],
)  # fmt: skip
def test_what_a_comment_says_makes_nobody_a_program(pair, comment):
    send(pair, "spiro move 101 alice alice-secret e3:5", comment)
    assert moves(pair) == 1
    answer(pair, f"e2:4:2\n\n{comment}", reply_address(pair, "bob"), sender="bob@players.example")
    assert moves(pair) == 2
    assert stored_board(pair.store, "spiro", "101").row.comment == comment
    answer(pair, comment, subject="Re: Spiro chat 101 bob")
    assert comment in pair.mails("bob")[-1].text


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Read: Spiro Board 101 alice", "Your message was read on Friday."),
        ("Nicht gelesen: Spiro Board 101 alice", ""),
        ("Recall: Spiro Board 101 alice", "Alice would like to recall the message."),
        ("[#4711] Request received: Spiro Board 101 alice", "Hello!"),
        ("Re: Spiro Board 101 alice", "Your request (#4711) has been received."),
        ("Re: Spiro Board 101 alice", "This is an automated message; do not reply to this mail."),
        ("Re: Spiro Board 101 alice", "[like] Alice Miller reacted to your message:"),
    ],
)
@pytest.mark.parametrize("at_reply_address", [True, False])
def test_receipts_and_acknowledgements_that_say_nothing_of_themselves_get_no_answer(
    pair, subject, body, at_reply_address
):
    before = len(pair.mails())
    recipient = reply_address(pair) if at_reply_address else ADDRESS
    assert handle(pair.server, message(subject, body), None, [recipient]) == "automatic"
    assert len(pair.mails()) == before


def test_refusals_to_one_address_are_capped_by_day_and_what_is_right_is_carried_out(pair):
    before = len(pair.mails())
    outcomes = [send(pair, f"nonsense {number}") for number in range(25)]
    assert outcomes == ["command"] * 20 + ["capped"] * 5
    assert len(pair.mails()) == before + 20
    send(pair, "spiro move 101 alice alice-secret e3:5")
    assert moves(pair) == 1
    pair.pass_time(days=1)
    assert send(pair, "nonsense again") == "command"


@pytest.mark.long
def test_direct_answers_to_one_address_are_capped_by_day(pair):
    before = len(pair.mails())
    for number in range(505):
        send(pair, "list", f"{number}")
    assert len(pair.mails()) == before + 500


@pytest.mark.parametrize("at_reply_address", [True, False])
def test_an_autoresponder_that_says_nothing_of_itself_comes_to_rest(pair, at_reply_address):
    """It answers every mail that we send to alice, with our subject and a text of its own."""
    recipient = reply_address(pair) if at_reply_address else ADDRESS
    read, rounds = 0, 0
    for rounds in range(200):
        new = [one for one in pair.mails()[read:] if one.address == ALICE]
        read = len(pair.mails())
        for one in new:
            handle(pair.server, message(f"Re: {one.subject}", f"Hello!\n\nI am away. {rounds}"), None, [recipient])
    assert len([one for one in pair.mails() if one.address == ALICE]) <= 24
    assert moves(pair) == 0


# Bounces


def bounce(club, name="alice", action="failed", message_id=None):
    """A mail server reports that what we sent to a user did not arrive."""
    [row] = club.store.users.addresses(name)
    address = f"pbm+{tokens.bounce_token(club.server, row.number, f'{name} {row.address}')}@pbm.example"
    parts = [
        "From: MAILER-DAEMON@mx.example",
        f"Message-ID: <{club.random_bytes(8).hex()}@mx.example>",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
        "\n--b\nContent-Type: message/delivery-status\n",
        f"Final-Recipient: rfc822; {row.address}\nAction: {action}\nStatus: 5.1.1\n",
        f"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: {message_id}\n--b--\n",
    ]
    return handle(club.server, "\n".join(parts).encode(), "", [ADDRESS if message_id else address])


def suspended(club, name="alice"):
    return club.store.users.addresses(name)[0].suspended is not None


def test_five_bounces_over_three_days_suspend_an_address(pair):
    assert [bounce(pair) for _ in range(4)] == ["bounce"] * 4
    pair.pass_time(days=2)
    bounce(pair)
    assert not suspended(pair)
    pair.pass_time(days=1)
    bounce(pair)
    assert suspended(pair)
    assert not suspended(pair, "bob")


def test_bounces_of_two_months_ago_are_forgotten(pair):
    for _ in range(2):
        assert [bounce(pair) for _ in range(4)] == ["bounce"] * 4
        assert not suspended(pair)
        pair.pass_time(days=60)


def test_mail_to_a_user_whose_addresses_all_bounce_waits_until_he_writes_again(pair):
    suspend(pair)
    assert {one.address for one in pair.mails("alice")} == {None}  # what was on its way
    pair.move("alice", "e3:5", comment="first")
    assert [one.address for one in pair.mails("alice")][-1] is None
    assert all(one.address for one in pair.mails("bob"))
    send(pair, "list")
    assert [one.address for one in pair.mails("alice")][-1] == ALICE
    assert not suspended(pair)
    bounce(pair)
    assert not suspended(pair)


def suspend(club):
    for _ in range(5):
        bounce(club)
        club.pass_time(days=1)


def test_nothing_waits_for_an_address_that_bounces_if_another_one_works(pair):
    pair.say("change address alice alice-secret alice@players.example alice@work.example")
    pair.store.db.execute("DELETE FROM outbox")
    answer(pair, "e3:5", tokens.reply_address(pair.server, "spiro", "101", "alice"))
    assert len(pair.mails("alice")) == 2
    with pair.store.writing():
        pair.store.users.suspend_address(pair.store.users.addresses("alice")[0].number, pair.time)
    pair.move("bob", "e2:4:2")
    assert [one.address for one in pair.mails("alice")] == ["alice@work.example"] * 2


def test_a_warning_of_a_delay_is_no_bounce_and_what_comes_to_the_plain_address_only_if_it_names_a_mail_of_ours(pair):
    assert [bounce(pair, action="delayed") for _ in range(9)] == ["automatic"] * 9
    assert pair.store.db.execute("SELECT max(bounces) FROM addresses").fetchone() == (0,)
    pair.move("alice", "e3:5")
    assert bounce(pair, message_id=pair.mails("bob")[-1].message_id) == "bounce"
    assert bounce(pair, message_id="<spiro.101.x.alice@pbm.example>") == "automatic"
    assert bounce(pair, message_id=f"<{'0' * 24}.b1-{'0' * 32}@pbm.example>") == "automatic"


def test_a_token_means_nothing_behind_another_name_than_that_of_the_server(pair):
    address = reply_address(pair)
    assert incoming.is_known(pair.server, address)
    assert not incoming.is_known(pair.server, address.replace("pbm+", "postmaster+"))


def test_a_bounce_changes_nothing_for_another_address_in_the_same_place(pair):
    [row] = pair.store.users.addresses("alice")
    token = tokens.bounce_token(pair.server, row.number, f"alice {row.address}")
    with pair.store.writing():
        pair.store.db.execute("UPDATE addresses SET address = 'new@players.example' WHERE rowid = ?", [row.number])
    assert tokens.meaning(pair.server, f"pbm+{token}@pbm.example") is None
    assert not incoming.is_known(pair.server, f"pbm+{token}@pbm.example")


def test_mails_to_users_leave_with_a_return_path_that_tells_whose_they_are_and_takes_mails_of_programs_alone(pair):
    for name in ("alice", "bob"):
        path = tokens.return_path(pair.server, pair.mails(name)[-1])
        [row] = pair.store.users.addresses(name)
        assert tokens.meaning(pair.server, path).number == row.number
    send(pair, "list")
    assert tokens.return_path(pair.server, pair.mails()[-1]) == ADDRESS
    path, before = tokens.return_path(pair.server, pair.mails("alice")[-1]), len(pair.mails())
    raw = message("Re: spiro move 101 alice alice-secret e3:5", "I am on holiday.")
    assert handle(pair.server, raw, ALICE, [path]) == "automatic"
    assert (len(pair.mails()), stored_board(pair.store, "spiro", "101").row.moves) == (before, 0)
