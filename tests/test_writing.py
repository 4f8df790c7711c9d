"""Mails that go out: the text, the same in HTML, header fields, and how players choose to get them."""

import email.policy
import html
import re
from datetime import UTC, datetime
from email import message_from_bytes
from types import SimpleNamespace
from unicodedata import east_asian_width
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbm import blocks, letters, texts
from pbm.actions import cleanup
from pbm.blocks import Comment, Curve, Drawing, Moves, NextCommand, Paragraph, Preformatted, Rule, Table
from pbm.board.board import Board
from pbm.mail.writing import compose
from pbm.session import Session
from pbm.store import BoardRow, Mail, TurnRow
from pbm.store.users import STORED_FORMS

from helpers import helptexts
from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.mail import ADDRESS, handle
from helpers.pages import Page

HTML = STORED_FORMS.index("html")
HOSTILE = '<script>x()</script><img src="http://evil.example/x.png"></pre></body>&&lt;"\'\u202e'


def parsed(row, **changes):
    """A mail as its reader's program sees it, after it was composed."""
    raw = compose(row._replace(**changes), ADDRESS)
    assert max(map(len, raw.split(b"\n"))) <= 998
    assert raw.isascii()
    assert b"\r" not in raw
    return message_from_bytes(raw, policy=email.policy.default)


def plain(message):
    return message.get_body(("plain",)).get_content().replace("\r\n", "\n")


def page(message):
    read = Page(message.get_body(("html",)).get_content().replace("\r\n", "\n"))
    assert read.pictures == [link for link, _ in read.links if not link.startswith("mailto:")] == []
    return read


def told(text, bare=""):
    """A text as the blocks of a mail: paragraphs, and the command to answer with."""
    *paragraphs, command = text.strip("\n").split("\n\n")
    return blocks.to_json([*map(Paragraph, paragraphs), NextCommand(command, bare)])


MOVES = re.compile(r"^Move.*?\n\n", re.MULTILINE | re.DOTALL)
"""The list of moves, which is in columns in the text and turn by turn in HTML."""


def is_same(read, text):
    """Whether a page says what a text says, word for word but for the columns of its moves."""
    return MOVES.sub("", read.text) == MOVES.sub("", text)


def due(club, name=None):
    """The mails that are to go out now, or those of them to one address."""
    rows = club.store.outbox.due(club.time, 1000)
    return [row for row in rows if name is None or row.address == f"{name}@players.example"]


def mailed(club, subject, sender="alice@players.example", body=""):
    assert handle(club.server, f"From: {sender}\r\nSubject: {subject}\r\n\r\n{body}".encode(), None) == "command"


# What a mail consists of


def test_a_mail_is_text_first_then_the_same_in_html_for_users_and_all_but_ascii_in_quoted_printable(pair):
    message = parsed(due(pair, "bob")[-1])
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert plain(message) == due(pair, "bob")[-1].text
    assert page(message).text == plain(message)
    ascii_mail = parsed(due(pair, "bob")[-1])
    other = parsed(due(pair, "bob")[-1], blocks=told("Grüße 你好 = \U0001f600\n\nspiro show 101\n"))
    encodings = [
        [part["Content-Transfer-Encoding"] for part in message.iter_parts()] for message in (ascii_mail, other)
    ]
    assert encodings == [["7bit", "7bit"], ["quoted-printable", "7bit"]]
    assert plain(other) == page(other).text == "Grüße 你好 = \U0001f600\n\nspiro show 101\n"
    mailed(pair, "spiro show 101", "alice@players.example")
    assert parsed(due(pair)[-1]).is_multipart()
    mailed(pair, "spiro show 101", "stranger@players.example")
    assert parsed(due(pair)[-1]).get_content_type() == "text/plain"


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")) | st.sampled_from("\n<&>=\"'")))
def test_whatever_a_mail_says_both_parts_say_it(text):
    text = re.sub("\n{2,}", "\n\n", texts.wrapped_text(f"A letter:\n\n{text}".rstrip())) + "\n\nspiro show 101\n"
    message = parsed(mail(text, form=HTML))
    assert plain(message) == text
    assert page(message).text == text


LINES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")) | st.sampled_from("\n<&> -,"), min_size=1)
WORDS = st.text("abc (<&>)", min_size=1).map(str.strip).filter(bool)
TURNS = st.text("abc123,+-<&", max_size=99)
BLOCKS = st.one_of(
    *(st.builds(kind, LINES) for kind in (Paragraph, NextCommand)),
    st.builds(Preformatted, LINES),
    st.builds(Table, st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=1), st.just([]), st.just([])),
    st.builds(Rule, st.sampled_from("*="), st.booleans()),
    st.builds(Drawing, st.sampled_from(helptexts.GAMES), LINES, st.just("101#1")),
    st.builds(Comment, WORDS, LINES),
    st.builds(
        Moves,
        st.lists(WORDS, min_size=2, max_size=2),
        st.lists(WORDS, min_size=2, max_size=2),
        st.lists(st.tuples(st.integers(1, 99), TURNS, TURNS).map(list), min_size=1),
    ),
)


@given(st.lists(BLOCKS))
def test_blocks_are_read_as_they_were_stored(told):
    assert list(blocks.from_json(blocks.to_json(told))) == told


STORED = {
    '["Paragraph", "Won by bob."]': Paragraph(text="Won by bob."),
    '["Preformatted", "* *"]': Preformatted(text="* *"),
    '["Table", [["Board", "Player"], ["1", "al"]], ["Board"], ["Player"]]': Table(
        rows=[["Board", "Player"], ["1", "al"]], numbers=["Board"], repeated=["Player"]
    ),
    '["Rule", "=", true]': Rule(sign="=", is_end=True),
    '["Moves", ["al", "bob"], ["al (X)", "bob (O)"], [[1, "a1", "b1"]]]': Moves(
        players=["al", "bob"], sides=["al (X)", "bob (O)"], rounds=[[1, "a1", "b1"]]
    ),
    '["Drawing", "spiro", "1 x", "101", 7, 1]': Drawing(game="spiro", text="1 x", board="101", moves=7, height=1),
    '["Curve", "How likely bob was to win:", [0.5, 1.0]]': Curve(
        caption="How likely bob was to win:", chances=[0.5, 1.0]
    ),
    '["Comment", "bob", "Hello"]': Comment(writer="bob", words="Hello"),
    '["NextCommand", "spiro move 101 bob PASSWORD MOVE", "MOVE"]': NextCommand(
        text="spiro move 101 bob PASSWORD MOVE", bare="MOVE"
    ),
}
"""Blocks as a version of pbm has stored them, and what they are. Later versions still have to read them as these."""


@pytest.mark.parametrize(("text", "block"), STORED.items())
def test_a_mail_that_waits_is_read_as_it_was_stored_although_blocks_have_more_fields_today(text, block):
    assert blocks.from_json(f"[{text}]") == (block,)


def test_a_stored_block_of_each_kind_is_tried():
    assert {type(block) for block in STORED.values()} == set(blocks.BLOCK_KINDS.values())


@given(st.lists(BLOCKS.filter(lambda block: not isinstance(block, Moves)), min_size=1))
def test_whatever_blocks_there_are_html_shows_what_the_text_says(told):
    row = mail("", form=HTML, blocks=blocks.to_json(told))
    assert page(parsed(row)).text == row.text


def test_moves_are_in_columns_in_the_text_and_turn_by_turn_in_html():
    moves = Moves(("al", "bob"), ("al (X)", "bob (O)"), [(9, "a1", "b1 (Auto)"), (10, "", "<c1>")])
    row = mail("", form=HTML, blocks=blocks.to_json([moves]))
    assert row.text == "Move  al (X)  bob (O)\n9.    a1      b1 (Auto)\n10.           <c1>\n"
    assert page(parsed(row)).text == ("Moves of al (X) and bob (O)\n9.  al   a1\n    bob  b1 (Auto)\n10. bob  <c1>\n")


def mail(text, bare="", **fields):
    """A mail that nobody has queued."""
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    row = Mail("bob", "bob@players.example", "Spiro Board 101 bob", told(text, bare), "<1@pbm.example>", None, now, now)
    return row._replace(**fields)


# Lines


def columns(line):
    return sum(2 if east_asian_width(letter) in "FW" else 1 for letter in line)


@given(
    st.lists(
        st.text("ab ,<>=-", max_size=300)
        | st.text("漢字a ,", max_size=200)
        | st.text(max_size=200)
        | st.integers(1, 40).map(lambda number: "> https://x.example/" + "path/" * number)
        | st.integers(1, 99).map(lambda number: "spiro move 101 bob PASSWORD " + "a1:3," * number)
    ).map("\n".join)
)
def test_no_line_of_a_mail_is_wider_than_78_columns(text):
    for line in texts.wrapped_text(texts.clean(text)).split("\n"):
        assert columns(line) <= 78


@pytest.mark.parametrize("start", ["", "a"])
def test_a_wide_letter_is_not_cut_at_the_edge(start):
    lines = texts.wrapped_text(start + "漢" * 60).split("\n")
    assert "".join(lines) == start + "漢" * 60
    assert max(map(columns, lines)) <= 78


def test_lines_that_do_not_fit_break_where_they_can_be_put_together_again_and_stay_quoted():
    text = "  two  blanks,  and a comma\n\n" + "x" * 78 + "\n" + " " * 10 + "y" * 68 + "\n"
    assert texts.wrapped_text(text) == text
    command = "spiro move 101 bob PASSWORD " + ",".join(f"a{number}:3" for number in range(50)) + "#7"
    lines = texts.wrapped_text(command).split("\n")
    assert len(lines) > 3
    assert all(line.endswith((",", "PASSWORD")) for line in lines[:-1])
    assert " ".join(lines).replace(", ", ",") == command
    assert all(line.startswith("> ") for line in texts.wrapped_text("> " + "word " * 40).split("\n"))


def test_long_userids_and_options_make_no_long_lines(club):
    for name in ("abcdefghijklmno1", "abcdefghijklmno2"):
        club.say(f"signup {name} {name}-secret {name}@players.example")
    club.say("symple challenge -size=15 -penalty=10 abcdefghijklmno1 abcdefghijklmno2")
    mailed(club, "symple preview 101 " + "a1 a3 " * 4, "abcdefghijklmno1@players.example")
    mailed(club, "symple move 101 abcdefghijklmno1 abcdefghijklmno1-secret " + "z99," * 60)
    for row in club.store.outbox.all():
        assert max(map(len, row.text.split("\n"))) <= 78, row.text


REMOVALS = "-" + "-".join(f"{row}{number}" for row in "abcdefghijklmnopqrs" for number in range(6, 12))
LONG_TURNS = {
    "papagra": f"+f6,{REMOVALS}",
    "sprout": ",".join(f"{'x' * (number % 3 == 2)}{row}{number}" for row in "abcdefgh" for number in range(1, 9)),
    "symple": ",".join(f"{row}{number}" for row in "abcdefghijklmnopqrst" for number in range(8, 12)),
}
CUT = re.compile(r"[x-][a-z]?$|[a-z]$")
"""How a line ends that is broken inside the name of a cell, or behind what belongs to it."""


@pytest.mark.parametrize("game", LONG_TURNS)
@pytest.mark.parametrize("before", range(8))
def test_no_line_ends_inside_a_cell_of_a_turn_and_the_link_has_all_of_it(game, before):
    turn = LONG_TURNS[game]
    command = f"{game} move 101 bob{'b' * before} PASSWORD {turn}"
    row = mail(f"Preview.\n\n{command}\n", turn, form=HTML)
    lines = row.text.split("\n")[2:-1]
    assert len(lines) > 2
    assert not any(CUT.search(line) for line in lines[1:])
    [[link, _]] = page(parsed(row)).links
    assert target(link)[1]["subject"] == command
    [[link, _]] = page(parsed(row, reply_to="pbm+token@pbm.example")).links
    assert target(link)[1]["body"] == turn


@pytest.mark.parametrize("game", LONG_TURNS)
def test_a_long_turn_is_not_broken_inside_a_cell_in_the_list_of_moves_either(game):
    turn = LONG_TURNS[game]
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    board = Board(BoardRow(game, "101", "", "alice", "bob", b"", now), [], {})
    board.turns.append(TurnRow("alice", turn, (), automatic=False, played=now))
    board.states.append(board.state)
    never_away = SimpleNamespace(absences=SimpleNamespace(seconds_since=lambda *_: 0.0))
    session = SimpleNamespace(now=now, zone=lambda _: UTC, store=never_away)
    [letter] = letters.of_board(session, board.present, "bob")
    lines = MOVES.search(text := f"{letter.body}\n\n")[0].split("\n")[1:-2]
    assert "".join(line[6:].strip() for line in lines) == turn
    assert not any(CUT.search(line) for line in lines)
    last = re.search("^Last turn: (.*?)\n\n", text, re.MULTILINE | re.DOTALL)[1]
    assert last.replace("\n", "") == turn
    assert not any(CUT.search(line) for line in last.split("\n"))


# The HTML part


@pytest.mark.parametrize(
    "comment", [HOSTILE, "</pre><a href=http://evil.example>x</a>", "a\n\n\n<b>\n-->", "]]>&#60;b>"]
)
def test_a_hostile_comment_is_text_and_nothing_else(pair, comment):
    pair.move("alice", "e3:5", comment=comment)
    message = parsed(due(pair, "bob")[-1])
    read = page(message)
    assert is_same(read, plain(message))
    assert comment.splitlines()[0] in read.text
    assert len(read.links) == 1


def test_a_mail_is_made_for_the_screen_of_a_telephone_and_fetches_nothing_from_elsewhere(pair):
    source = parsed(due(pair, "bob")[-1]).get_body(("html",)).get_content()
    assert not re.search(r"https?:|//|src|url|@import|script", source)
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in source


def test_a_comment_cannot_begin_a_part_of_its_own(pair):
    first = compose(due(pair, "bob")[-1], ADDRESS)
    boundary = re.search(rb'boundary="(.*?)"', first)[1].decode()
    text = f"--{boundary}\nContent-Type: text/html\n\n<script>\n--{boundary}--\n\nspiro show 101\n"
    message = parsed(due(pair, "bob")[-1], blocks=told(text))
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert plain(message) == text


@pytest.mark.parametrize("end", [["alice resign"], ["alice propose", "bob accept"]])
def test_a_mail_lists_every_throw_and_the_one_for_the_turn_to_come_also_at_the_end(pair, end):
    assert "\n\nThrows: 5\n\n" in due(pair, "bob")[-1].text
    pair.move("alice", "e3:5")
    assert "\n\nThrows: 5, 4-2\n\n" in due(pair, "bob")[-1].text
    pair.move("bob", "e2:4:2")
    third = "-".join(map(str, stored_board(pair.store, "spiro", "101").state.dice))
    throws = f"\n\nThrows: 5, 4-2, {third}\n\n"
    assert throws in due(pair, "alice")[-1].text
    for line in end:
        pair.move(*line.split())
    assert throws in due(pair, "bob" if len(end) == 1 else "alice")[-1].text


# The link to answer with


def target(link):
    """The address of a link, and the fields that it fills in."""
    url = urlsplit(link)
    fields = parse_qs(url.query.replace("+", "%2B"), strict_parsing=True)
    return unquote(url.path), {name: value for name, [value] in fields.items()}


def test_the_link_begins_a_mail_with_the_command_and_with_a_reply_address_the_move_alone(pair):
    [[link, _]] = page(parsed(due(pair, "alice")[-1], reply_to=None)).links
    assert target(link) == (ADDRESS, {"subject": "spiro move 101 alice PASSWORD MOVE#1"})
    row = due(pair, "alice")[-1]._replace(reply_to="pbm+token@pbm.example")
    [[link, _]] = page(parsed(row)).links
    assert target(link) == (
        "pbm+token@pbm.example",
        {"subject": "Re: New Spiro Board 101 alice", "body": "MOVE"},
    )
    [[link, _]] = page(parsed(row, blocks=told("Bob's turn.\n\nspiro show 101\n", "show"))).links
    assert target(link)[1]["body"] == "show"


def test_a_command_that_is_no_move_goes_to_the_server_itself_unless_it_is_too_long_for_a_link():
    row = mail("Won by bob.\n\nspiro challenge -small bob alice\n", form=HTML, reply_to="pbm+token@pbm.example")
    assert target(page(parsed(row)).links[0][0]) == (ADDRESS, {"subject": "spiro challenge -small bob alice"})
    row = mail(f"Preview.\n\nsymple move 101 bob PASSWORD {'a1,' * 600}\n", form=HTML)
    assert page(parsed(row)).links == []


# Blocks


def test_a_board_is_a_block_of_its_own_in_a_fixed_pitch_and_not_coloured(pair):
    board = stored_board(pair.store, "spiro", "101")
    [drawing] = (block for block in blocks.from_json(due(pair, "bob")[-1].blocks) if isinstance(block, Drawing))
    drawn = board.rules.draw(board.state, board.states[0])
    assert drawing == Drawing("spiro", drawn, "101", 0, 21)
    assert drawn.split("\n")[21:] == ["", *(f"{side}    32 pips to go   0 of 2 pieces off" for side in "XO")]
    pair.move("alice", "e3:5")
    source = parsed(due(pair, "bob")[-1]).get_body(("html",)).get_content().replace("\r\n", "\n")
    board = stored_board(pair.store, "spiro", "101")
    drawn = html.escape(board.rules.draw(board.state, board.states[0]), quote=False).split("\n\nX ")[0]
    before, _, _ = source.partition(f">\n{drawn}\n</pre>")
    assert before != source
    assert "white-space: pre; overflow-x: auto" in before.rpartition("<pre")[2]
    assert "background" not in source


# Header fields


def test_every_mail_says_that_a_program_wrote_it_and_a_subscription_how_to_end_it(pair):
    mailed(pair, "spiro show 101")
    own, answer = parsed(due(pair, "bob")[-1]), parsed(due(pair)[-1])
    assert (own["Auto-Submitted"], answer["Auto-Submitted"]) == ("auto-generated", "auto-replied")
    suppressed = [message["X-Auto-Response-Suppress"] for message in (own, answer)]
    assert suppressed == ["DR, RN, NRN, OOF, AutoReply", "All"]
    for message in (own, answer):
        assert message["x-ms-reactions"] == "disallow"
        assert message["MIME-Version"] == "1.0"
        assert message["Precedence"] is None
        assert message["List-Unsubscribe"] is None
    field = parsed(due(pair)[-1], unsubscribe="pbm+token@pbm.example")["List-Unsubscribe"]
    assert target(field.strip("<>")) == ("pbm+token@pbm.example", {"subject": "unsubscribe"})
    raw = compose(mail("text\n", unsubscribe="x\r\nBcc: victim@players.example"), ADDRESS)
    assert b"\nBcc" not in raw


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")) | st.just(" "), max_size=3000))
def test_a_subject_arrives_whatever_it_is_and_is_folded(subject):
    subject = " ".join(subject.split())
    raw = compose(mail("text\n", subject=subject), ADDRESS)
    assert all(len(line) <= 78 for line in raw.split(b"\n"))
    found = message_from_bytes(raw, policy=email.policy.default)["Subject"]
    assert "".join(found.split()) == "".join(subject.split())


@pytest.mark.parametrize("field", ["subject", "address", "message_id", "thread", "reply_to"])
@pytest.mark.parametrize("bad", ["x\nBcc: victim@players.example", "x\r\n\r\nbody", "x\x00", "x\u2028y"])
def test_no_field_can_begin_another_one(field, bad):
    with pytest.raises(ValueError, match="no line of a header"):
        compose(mail("text\n", **{field: bad}), ADDRESS)


# How players choose to get them


def test_the_settings_are_answered_to_all_addresses_of_the_user(pair):
    before = len(pair.mails())
    mailed(pair, "spiro mail bob bob-secret digest", "stranger@players.example")
    mailed(pair, "MAIL bob bob-secret TEXT")
    assert [(row.address, row.subject) for row in pair.mails()[before:]] == [
        ("bob@players.example", "Spiro mail digest"),
        ("bob@players.example", "pbm mail text"),
    ]
    assert pair.say("mail bob bob-secret html")[0].data == {
        "userid": "bob",
        "mail": "html",
        "reply": "Mails come as text, and beside it the same in HTML without pictures.",
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("spiro mail bob bob-secret often", "'often' is not one of these"),
        ("mail bob bob-secret pdf", "'pdf' is none of these"),
        ("spiro mail bob wrong-password none", "userid or the password is wrong"),
        ("mail bob wrong-password text", "userid or the password is wrong"),
        ("spiro mail bob bob-secret", "missing"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(pair, line, reason):
    mailed(pair, line)
    assert reason in pair.mails()[-1].text.replace("\n", " ")
    assert pair.store.players.get("spiro", "bob").mail == "each"


@pytest.mark.parametrize("wanted", ["none", "digest"])
def test_who_wants_no_mails_of_a_game_or_digests_gets_its_end_at_once_and_those_of_other_games(pair, wanted):
    pair.say(f"spiro mail bob bob-secret {wanted}")
    before = len(pair.mails("bob"))
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    assert len(pair.mails("bob")) == before
    pair.say("symple challenge alice bob")
    pair.say("spiro resign 101 alice alice-secret")
    assert [row.subject for row in pair.mails("bob")[before:]] == ["New Symple Board 101 alice", "Spiro Board 101"]
    assert "Won by bob" in pair.mails("bob")[-1].text


@pytest.mark.parametrize("how", ["none", "digest"])
def test_a_mover_by_mail_gets_the_receipt_whatever_he_chose_and_nothing_else(pair, how):
    pair.say(f"spiro mail alice alice-secret {how}")
    before = len(due(pair, "alice"))
    mailed(pair, "spiro move 101 alice alice-secret e3:5")
    assert [mail.subject for mail in due(pair, "alice")[before:]] == ["Spiro Board 101 bob"]
    assert pair.store.outbox.held_for() == []
    mailed(pair, "spiro move 101 bob bob-secret e2:4:2")
    assert len(due(pair, "alice")) == before + 1
    mailed(pair, "spiro move 101 alice alice-secret e3:5", body="again")
    assert due(pair, "alice")[-1].subject == "Spiro Board 101 Error"


def sent(club):
    with club.store.writing():
        return cleanup.send_digests(Session(club.server))


def test_a_digest_has_all_mails_of_a_day_in_order_with_their_comments_and_boards(pair):
    pair.say("spiro mail bob bob-secret digest")
    before = len(pair.mails("bob"))
    pair.move("alice", "e3:5", comment="A first comment.")
    pair.pass_time(hours=3)
    mailed(pair, "spiro move 101 bob bob-secret e2:4:2")
    receipt = pair.mails("bob")[before:]  # of his own move, which is no part of the digest
    assert [mail.subject for mail in receipt] == ["Spiro Board 101 alice"]
    pair.move("alice", "propose", comment="A second comment.")
    pair.pass_time(hours=9)
    assert sent(pair) == 1
    [digest] = pair.mails("bob")[before + 1 :]
    assert digest.subject == "Spiro Digest 2026-11-20"
    assert digest.address == "bob@players.example"
    order = [
        digest.text.index(part)
        for part in (
            "Digest: 2 mails about Spiro boards, 2026-11-20 12:00 to 2026-11-20 15:00 UTC",
            "Spiro Board 101 bob **\n2026-11-20 12:00 UTC",
            "A first comment.",
            "Spiro Board 101 alice **\n2026-11-20 15:00 UTC",
            "A second comment.",
        )
    ]
    assert order == sorted(order)
    assert digest.text.splitlines()[-1] == "spiro games bob"
    drawn = [(block.board, block.moves) for block in blocks.from_json(digest.blocks) if isinstance(block, Drawing)]
    assert drawn == [("101", 1), ("101", 2)]
    assert is_same(page(parsed(due(pair, "bob")[-1])), digest.text)


def test_a_digest_goes_out_once_a_day_and_loses_nothing(pair):
    pair.say("spiro mail bob bob-secret digest")
    counts, held = [], []
    moves = {1: "spiro move 101 alice alice-secret e3:5", 2: "spiro move 101 alice alice-secret propose"}
    for hour in range(1, 61):
        if hour in moves:
            mailed(pair, moves[hour])
        pair.pass_time(hours=1)
        counts.append(sent(pair))
        held.append(len(pair.store.outbox.held("bob", "spiro")))
    assert [hour for hour, count in enumerate(counts, 1) if count] == [1, 12]
    assert held[0] == 0
    assert set(held[1:11]) == {1}
    assert set(held[11:]) == {0}


def test_a_digest_is_made_whole_or_not_at_all(pair):
    pair.say("spiro mail bob bob-secret digest")
    pair.move("alice", "e3:5")
    before = len(pair.mails("bob"))
    with pytest.raises(RuntimeError), pair.store.writing():
        cleanup.send_digests(Session(pair.server))
        raise RuntimeError
    assert len(pair.mails("bob")) == before
    assert sent(pair) == 1
    assert len(pair.mails("bob")) == before + 1


def test_what_is_kept_comes_in_a_last_digest_when_a_user_wants_each_mail_again(pair):
    pair.say("spiro mail bob bob-secret digest")
    pair.move("alice", "e3:5")
    pair.say("spiro mail bob bob-secret each")
    pair.move("bob", "e2:4:2")
    assert sent(pair) == 1
    assert "Digest: 1 mail about" in pair.mails("bob")[-1].text


def test_each_game_and_each_user_has_a_digest_of_his_own(pair):
    for line in ("spiro mail bob bob-secret", "symple mail bob bob-secret", "spiro mail alice alice-secret"):
        pair.say(f"{line} digest")
    pair.say("symple challenge alice bob")
    mailed(pair, "spiro move 101 alice alice-secret e3:5")
    mailed(pair, "spiro move 101 bob bob-secret propose")
    assert sent(pair) == 3
    assert sent(pair) == 0


def test_a_digest_of_a_user_without_a_confirmed_address_waits_and_one_without_any_address_has_none(club):
    club.signed_up("alice")
    club.say("signup bob bob-secret", sender="bob@players.example")
    club.say("signup carol carol-secret")
    for name in ("bob", "carol"):
        club.say(f"spiro mail {name} {PASSWORDS[name]} digest")
        club.say(f"spiro challenge alice {name}")
    assert club.store.outbox.held_for() == [("bob", "spiro")]
    sent(club)
    assert club.mails("bob")[-1].address is None


def test_a_day_of_many_long_mails_becomes_several_digests(pair, monkeypatch):
    monkeypatch.setattr(cleanup, "LONGEST_DIGEST", 4000)
    pair.say("spiro mail bob bob-secret digest")
    for _ in range(4):
        pair.say("spiro challenge -small -pieces=2 alice bob")
    before = len(pair.mails("bob"))
    count = sent(pair)
    texts = "".join(row.text for row in pair.mails("bob")[before:])
    assert count > 1
    assert texts.count("New Spiro Board") == 4


def test_each_digest_of_many_long_mails_is_as_full_as_it_may_be(club, monkeypatch):
    club.signed_up("alice", "bob")
    club.say("symple mail bob bob-secret digest")
    for _ in range(4):
        club.say("symple challenge -size=5 alice bob")
    [length] = {len(mail.blocks) for mail in club.store.outbox.held("bob", "symple")}
    monkeypatch.setattr(cleanup, "LONGEST_DIGEST", 2 * length)
    assert sent(club) == 2


def test_a_line_of_many_blanks_still_parts_the_paragraphs_of_a_comment():
    assert texts.written(f"Well played.\n{' ' * 100}\nSee you!") == "Well played.\n\nSee you!"
