"""Board mails whose HTML begins with a picture of the board, and what can be tapped below it."""

import email.policy
import re
import sqlite3
import time
from contextlib import closing
from email import message_from_bytes
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from games import symple
from pbm.access import tokens
from pbm.actions import cleanup
from pbm.drawing import images
from pbm.mail import illustrations
from pbm.mail.sending import MOST_WITH_PICTURES, flush
from pbm.mail.transports import Transport
from pbm.session import Session

from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.mail import mail_of, outcome_of
from helpers.pages import Page

SITE = "https://games.example.org/play"


class Taking(Transport):
    """A transport that keeps what it takes."""

    batch = 100

    def __init__(self):
        self.taken = []

    def send(self, message, sender, recipient, name):
        assert message.isascii()
        assert max(map(len, message.split(b"\n"))) <= 998
        self.taken.append((recipient.partition("@")[0], message))


class Got:
    """A mail as its reader's program sees it."""

    def __init__(self, raw):
        self.raw = raw
        self.message = message_from_bytes(raw, policy=email.policy.default)
        self.kinds = [part.get_content_type() for part in self.message.walk()]
        self.plain = self.message.get_body(("plain",)).get_content().replace("\r\n", "\n")
        html = self.message.get_body(("html",))
        self.page = html and Page(html.get_content())
        self.pictures = [part for part in self.message.walk() if part.get_content_type() == "image/png"]


def sent(club):
    """What goes out now, by the names of its readers."""
    way = Taking()
    club.store.db.commit()
    assert flush(club.server, way).failed == 0
    return {name: Got(raw) for name, raw in way.taken}


@pytest.fixture
def board(club):
    """alice (white) and bob (black) on board 101 of Symple, on 25 points, after the mails of its beginning."""
    club.become(begin_symple)
    club.server = club.server._replace(site=SITE)
    return club


def begin_symple(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice bob")
    sent(club)


def played(club, moves="c3 a1"):
    """What goes out after the last of these moves by turns, which come by mail, on board 101 of Symple."""
    for move in moves.split():
        mover = stored_board(club.store, "symple", "101").mover
        club.say(f"symple move 101 {mover} {PASSWORDS[mover]} {move}", sender=f"{mover}@players.example")
    club.store.db.execute("DELETE FROM outbox WHERE id NOT IN (SELECT max(id) FROM outbox GROUP BY userid)")
    return sent(club)


SEATS = {"alice": ["You (white)", "bob (black)"], "bob": ["You (black)", "alice (white)"]}
"""How players are called in the mails to each of two."""
STATUSES = {"alice": "bob's turn (black).", "bob": "Your turn (black)."}


def test_the_html_says_what_has_happened_then_has_the_board_one_button_and_the_rest_and_the_text_all_words(board):
    board.say("symple move 101 alice alice-secret c3", "Grüße & <b>", sender="alice@players.example")
    start, now = stored_board(board.store, "symple", "101").states
    rows = {row.address.partition("@")[0]: row.text for row in board.store.outbox.all()}
    for name, got in sent(board).items():
        assert got.kinds == ["multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png"]
        [picture], [shown] = got.pictures, got.page.pictures
        assert shown["src"] == f"cid:{picture['Content-ID'].strip('<>')}"
        assert picture.get_content_disposition() == "inline"
        width = int.from_bytes(picture.get_content()[16:20])
        assert round(width / illustrations.ZOOM) == int(shown["width"])
        assert f"width: 100%; max-width: {shown['width']}px" in shown["style"]
        assert got.plain == rows[name]
        assert "Grüße & <b>" in got.plain
        assert symple.draw(now, start) in got.plain
        assert shown["alt"] == "Symple Board 101 bob **, as a picture; the board stands below in letters."
        assert " 3  . .(W). .  3\n" in got.page.text
        assert re.search(r"Summary.*White +1 +1 +-7", got.page.text, re.DOTALL)
        assert all(href.startswith(("mailto:", SITE)) for href, _ in got.page.links)
        source = got.message.get_body(("html",)).get_content()
        order = ["Summary: Symple", STATUSES[name], "<img", "Last turn: c3", "alice writes:", 'class="go"']
        order += ["Moves of", " . .(W). .", "PASSWORD pictures"]
        places = [source.index(part) for part in order]
        assert all(seat in got.page.text for seat in SEATS[name])
        assert places == sorted(places)
        assert source.count('class="go"') == 1


def test_whoever_is_to_move_reads_first_how_long_they_have_in_the_text_and_above_the_picture(board):
    board.say("timezone bob bob-secret Europe/Berlin")
    board.say("symple move 101 alice alice-secret c3", sender="alice@players.example")
    time_left = "You have 21 days left, until Friday, 11 December 2026, 13:00 CET."
    got = sent(board)
    assert f"\n\nbob's turn (black).\n\n{time_left}\n\nMove  alice" in got["bob"].plain
    source = got["bob"].message.get_body(("html",)).get_content()
    assert source.index("Your turn (black).") < source.index(time_left) < source.index("<img")
    assert "days left" not in got["alice"].plain


def test_a_reminder_says_by_itself_how_long_there_is(board):
    board.pass_time(days=8)
    board.say("symple nag 101 bob bob-secret")
    assert "days left" not in sent(board)["alice"].plain


def test_what_was_said_keeps_its_place_in_a_digest(board):
    board.say("symple mail bob bob-secret digest")
    board.say("symple move 101 alice alice-secret c3", "Hello")
    board.pass_time(days=1)
    with board.store.writing():
        cleanup.send_digests(Session(board.server))
    read = sent(board)["bob"].page.text
    places = [read.index(part) for part in ("Moves of", "Last turn: c3", "Hello", "symple move 101 bob")]
    assert places == sorted(places)


def test_the_line_across_a_digest_stands_in_letters_of_one_width(board):
    board.say("symple mail bob bob-secret digest")
    board.say("symple move 101 alice alice-secret c3")
    board.pass_time(days=1)
    with board.store.writing():
        cleanup.send_digests(Session(board.server))
    source = sent(board)["bob"].message.get_body(("html",)).get_content()
    rule = source.index("=" * 40)
    assert re.findall(r'class="(\w+)-?\d*"', source[:rule])[-1] == "w13"


def test_whoever_is_only_answered_is_called_you_as_well(board):
    board.say("symple move 101 alice alice-secret c3", sender="alice@players.example")
    mail = sent(board)["bob"].message
    answer = mail_of("bob@players.example", "Re:", "c3", mail["Reply-To"])
    outcome_of(board.server, answer, "bob@players.example", [mail["Reply-To"]])
    text = sent(board)["bob"].page.text
    assert "Your turn (black)." in text
    assert "You (black)" in text
    assert "Open the board and tap your turn" in text


def test_both_players_get_one_drawing_and_while_it_is_made_others_can_write(board, monkeypatch):
    draw, drawn = images.board_png, []

    def writing(*args, **options):
        with closing(sqlite3.connect(board.store.path, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        drawn.append(draw(*args, **options))
        return drawn[-1]

    monkeypatch.setattr(images, "board_png", writing)
    got = played(board)
    assert [got[name].pictures[0].get_content() for name in ("alice", "bob")] == drawn * 2


def test_when_many_mails_wait_they_go_without_pictures(board):
    for waiting, count in ((MOST_WITH_PICTURES, 1), (MOST_WITH_PICTURES + 1, 0)):
        board.say("symple show 101", sender="bob@players.example")
        while len(board.store.outbox.all()) < waiting:
            board.say("help", sender="alice@players.example")
        got = sent(board)
        assert len(got["bob"].pictures) == count
    assert got["bob"].kinds == ["multipart/alternative", "text/plain", "text/html"]
    assert got["bob"].page.pictures == []
    assert len(played(board, "c3")["bob"].pictures) == 1


@pytest.mark.parametrize(
    ("form", "kinds"),
    [
        ("text", ["text/plain"]),
        ("html", ["multipart/alternative", "text/plain", "text/html"]),
        ("pictures", ["multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png"]),
    ],
)
def test_a_user_chooses_what_stands_beside_the_text(board, form, kinds):
    [told] = board.say(f"mail bob bob-secret {form}")
    assert told.data == {"userid": "bob", "mail": form, "reply": told.body}
    got = played(board)
    assert got["bob"].kinds == kinds
    assert len(got["alice"].pictures) == 1


@pytest.mark.parametrize(
    ("forms", "kinds"), [("text pictures", 1), ("html pictures", 3), ("pictures pictures", 5), ("text html", 1)]
)
def test_who_share_an_address_get_what_the_plainest_of_them_wants(board, forms, kinds):
    board.say("signup carol carol-secret alice@players.example")
    for name, form in zip(("alice", "carol"), forms.split(), strict=True):
        board.say(f"mail {name} {name}-secret {form}")
    sent(board)
    board.say("symple show 101", sender="alice@players.example")
    assert len(sent(board)["alice"].kinds) == kinds


def test_without_what_draws_mails_come_as_html_and_whoever_wants_pictures_is_told(board, monkeypatch):
    monkeypatch.setattr("pbm.drawing.images.find_spec", lambda _: None)
    assert played(board)["bob"].kinds == ["multipart/alternative", "text/plain", "text/html"]
    [told] = board.say("mail bob bob-secret pictures")
    assert told.body.endswith("This server draws no pictures yet, so they come as html for now.")


def test_where_few_turns_are_legal_whoever_is_to_move_taps_one(board):
    got = played(board)
    state = stored_board(board.store, "symple", "101").state
    links = [link for link in got["alice"].page.links if link[1] in {*state.moves()}]
    assert [move for _, move in links] == [*state.moves()]
    for href, move in links:
        target = urlsplit(href)
        assert (target.scheme, unquote(target.path)) == ("mailto", got["alice"].message["Reply-To"])
        assert parse_qs(target.query) == {"subject": ["Re: Symple Board 101 alice"], "body": [move]}
    assert [text for _, text in got["bob"].page.links][1:] == ["Only write to alice", "symple show 101"]
    assert "Your turn" not in got["bob"].page.text


def test_where_there_are_many_a_link_leads_to_the_page_of_the_site_with_the_token_of_the_reply_address(club):
    club.server = club.server._replace(site=SITE)
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=7 alice bob")
    buttons = {"alice": "Open the board and tap your turn", "bob": "See the board on the site"}
    for name, got in sent(club).items():
        token = got.message["Reply-To"].partition("+")[2].partition("@")[0]
        assert got.page.links[0] == [f"{SITE}/symple/101.html#{token}", buttons[name]]
        assert tokens.meaning(club.server, f"pbm+{token}@pbm.example").reply.userid == name
    club.server = club.server._replace(site=None)
    club.say("symple challenge -size=7 alice bob")
    assert {href.partition(":")[0] for href, _ in sent(club)["bob"].page.links} == {"mailto"}


def test_links_below_the_button_begin_an_answer_and_a_chat(club):
    club.server = club.server._replace(site=SITE)
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=7 alice bob")
    got = sent(club)
    links = {name: {text: urlsplit(href) for href, text in got[name].page.links} for name in ("alice", "bob")}
    assert "Begin an answer" not in links["bob"]  # alice moves first
    begun = links["alice"]["Begin an answer"]
    assert unquote(begun.path) == got["alice"].message["Reply-To"]
    assert begun.query.endswith("&body=")

    chat = links["bob"]["Only write to alice"]
    [text] = parse_qs(chat.query)["body"]
    assert text == "chat\r\n\r\n"
    raw = mail_of("bob@players.example", "Re: Symple Board 101", f"{text}Hello, alice!", unquote(chat.path))
    outcome_of(club.server, raw, "bob@players.example", [unquote(chat.path)])
    assert club.store.talk.of_board("symple", "101")[-1].text == "Hello, alice!"


def test_nobody_is_asked_to_write_to_a_robot_nor_one_who_only_reads_to_anybody(club):
    club.server = club.server._replace(site=SITE)
    club.signed_up("alice", "bob", "carol")
    club.say("symple challenge -size=7 alice robot1")
    club.say("symple challenge -size=7 alice bob")
    club.say("symple subscribe 102 carol carol-secret")
    sent(club)
    club.say("symple move 102 alice alice-secret c3")
    assert "Only write" not in sent(club)["carol"].page.text
    club.say("symple show 101", sender="alice@players.example")
    assert "Only write" not in sent(club)["alice"].page.text


@pytest.mark.parametrize("way", ["", " --erase"])
def test_nor_to_one_who_has_signed_off(board, way):
    for name, turn in (("alice", "c3"), ("bob", "b1"), ("alice", "c4")):
        board.say(f"symple move 101 {name} {PASSWORDS[name]} {turn}")
    assert "Only write to bob" in sent(board)["alice"].page.text
    board.say(f"signoff bob bob-secret{way}")
    assert "Only write" not in sent(board)["alice"].page.text


def test_a_subscriber_gets_a_token_of_his_own_and_no_turns(board):
    board.say("signup carol carol-secret carol@players.example")
    board.say("symple subscribe 101 carol carol-secret")
    page, _, token = played(board)["carol"].page.links[0][0].partition("#")
    assert page == f"{SITE}/symple/101.html"
    assert tokens.meaning(board.server, f"pbm+{token}@pbm.example").reply.userid == "carol"


def test_listing_turns_takes_its_time_and_no_more(board, monkeypatch):
    def moves(self):
        yield "c3"
        while True:
            time.monotonic()

    board.say("symple move 101 alice alice-secret c3")
    monkeypatch.setattr(symple.State, "moves", moves)
    monkeypatch.setattr("pbm.board.board.SECONDS_TO_LIST", 0.05)
    got = sent(board)["bob"]
    assert len(got.pictures) == 1
    assert got.page.links[0][1] == "Open the board and tap your turn"


def test_a_game_that_cannot_be_drawn_holds_up_no_mail(board, monkeypatch, capsys):
    def figure(state, before):
        raise ZeroDivisionError("no such board")

    monkeypatch.setattr(symple, "figure", figure)
    assert played(board)["bob"].kinds == ["multipart/alternative", "text/plain", "text/html"]
    assert len(re.findall(r"for mail \d+: ZeroDivisionError: no such board", capsys.readouterr().err)) == 1


def test_a_board_that_has_become_another_one_since_is_not_drawn(board):
    board.say("symple move 101 alice alice-secret c3")
    with board.store.writing():
        board.store.db.execute("UPDATE turns SET text = 'a1'")
    assert sent(board)["bob"].pictures == []


def test_of_a_board_that_has_gone_on_no_turns_are_offered(board):
    board.say("symple move 101 alice alice-secret c3")
    board.say("symple move 101 bob bob-secret a1")
    got = sent(board)
    assert [len(got[name].pictures) for name in ("alice", "bob")] == [1, 1]
    assert ["Tap a move" in got[name].page.text for name in ("alice", "bob")] == [True, False]


def test_a_digest_has_a_picture_only_if_it_is_about_one_board_at_one_time(board):
    board.say("symple mail bob bob-secret digest")
    board.say("symple move 101 alice alice-secret c3")
    for count, moves in ((1, ()), (0, (("bob", "a1"), ("alice", "e5"), ("bob", "a5"), ("alice", "e1")))):
        for name, move in moves:
            board.say(f"symple move 101 {name} {PASSWORDS[name]} {move}")
        board.pass_time(days=1)
        with board.store.writing():
            cleanup.send_digests(Session(board.server))
        got = sent(board)["bob"]
        assert "Digest" in got.message["Subject"]
        assert len(got.pictures) == count
