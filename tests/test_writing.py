"""Mails that go out: the text, the same in HTML, header fields, and how players choose to get them."""

import email.policy
import re
from datetime import UTC, datetime
from email import message_from_bytes
from html.parser import HTMLParser
from random import Random
from unicodedata import east_asian_width
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from pbm import letters, texts
from pbm.actions import digests
from pbm.board.board import Board
from pbm.letters import painting, pictures
from pbm.letters.pictures import Drawing
from pbm.mail.incoming import handle
from pbm.mail.writing import compose
from pbm.session import Session
from pbm.store import BoardRow, Mail, TurnRow

import helptexts
from conftest import ADDRESS, PASSWORDS

HOSTILE = '<script>x()</script><img src="http://evil.example/x.png"></pre></body>&&lt;"\'\u202e'


class Page(HTMLParser):
    """HTML as a mail program reads it: it has to be balanced, and neither runs nor fetches anything."""

    TAGS = frozenset("html head meta title style body pre b span a wbr".split())

    def __init__(self, source):
        super().__init__()
        self.open, self.paragraphs, self.links = [], [], []
        self.marked = []
        """Each marked part of a board: its class and its text."""
        self.marks_open = []
        self.colours = {}
        """The style of each kind of mark."""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.TAGS
        if tag in {"meta", "wbr"}:
            return
        self.open.append(tag)
        attributes = dict(attrs)
        assert set(attributes) <= {"class", "style", "href", "lang"}
        assert "url(" not in attributes.get("style", "")
        if tag == "pre":
            self.paragraphs.append("")
        if tag == "a":
            assert attributes["href"].startswith("mailto:")
            self.links.append(attributes["href"])
        if tag in {"b", "span"}:
            self.marks_open.append(len(self.marked))
            self.marked.append((attributes["class"], ""))
            self.colours[attributes["class"]] = dict(re.findall(r"(background|color): (#\w+)", attributes["style"]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in {"b", "span"}:
            self.marks_open.pop()

    def handle_data(self, data):
        if "pre" in self.open:
            self.paragraphs[-1] += data
        else:
            assert "style" in self.open or "title" in self.open or not data.strip()
        for at in self.marks_open:
            kind, text = self.marked[at]
            self.marked[at] = kind, text + data

    @property
    def text(self):
        """All of it; a browser drops the line end with which a paragraph begins."""
        return "".join(paragraph.removeprefix("\n") for paragraph in self.paragraphs) + "\n"

    def of(self, kind):
        return [text for found, text in self.marked if found == kind]


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
    return Page(message.get_body(("html",)).get_content().replace("\r\n", "\n"))


MOVES = re.compile(r"^Move.*?\n\n", re.MULTILINE | re.DOTALL)
"""The list of moves, which is in columns in the text and turn by turn in HTML."""


def is_same(read, text):
    """Whether a page says what a text says, word for word but for the columns of its moves."""
    return MOVES.sub("", read.text) == MOVES.sub("", text)


def due(club, name=None):
    """The mails that are to go out now, or those of them to one address."""
    rows = club.store.due_mails(club.time, 1000)
    return [row for row in rows if name is None or row.address == f"{name}@players.example"]


def mailed(club, subject, sender="alice@players.example", body=""):
    assert handle(club.server, f"From: {sender}\r\nSubject: {subject}\r\n\r\n{body}".encode(), None) == "command"


# What a mail consists of


def test_a_mail_is_text_first_and_then_the_same_in_html(pair):
    message = parsed(due(pair, "bob")[-1])
    assert message.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert plain(message) == due(pair, "bob")[-1].text
    assert page(message).text == plain(message)


def test_who_chose_text_gets_text_alone(pair):
    pair.say("mail bob bob-secret text")
    for row in due(pair, "bob"):
        assert parsed(row).get_content_type() == "text/plain"
    pair.say("mail bob bob-secret html")
    assert parsed(due(pair, "bob")[0]).is_multipart()


def test_an_answer_is_in_html_for_users_and_in_text_alone_for_strangers(pair):
    mailed(pair, "spiro show 101", "alice@players.example")
    assert parsed(due(pair)[-1]).is_multipart()
    mailed(pair, "spiro show 101", "stranger@players.example")
    assert parsed(due(pair)[-1]).get_content_type() == "text/plain"


def test_an_answer_to_an_address_of_several_users_is_text_if_one_of_them_wants_that(pair):
    pair.say("change address bob bob-secret alice@players.example")
    pair.say("mail bob bob-secret text")
    mailed(pair, "spiro show 101", "alice@players.example")
    assert parsed(due(pair)[-1]).get_content_type() == "text/plain"


def test_a_text_in_ascii_is_sent_as_it_is_and_any_other_in_quoted_printable(pair):
    ascii_mail = parsed(due(pair, "bob")[-1])
    other = parsed(due(pair, "bob")[-1], text="Grüße 你好 = \U0001f600\n\nspiro show 101\n", picture=None)
    encodings = [
        [part["Content-Transfer-Encoding"] for part in message.iter_parts()] for message in (ascii_mail, other)
    ]
    assert encodings == [["7bit", "7bit"], ["quoted-printable", "7bit"]]
    assert plain(other) == page(other).text == "Grüße 你好 = \U0001f600\n\nspiro show 101\n"


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")) | st.sampled_from("\n<&>=\"'")))
def test_whatever_a_mail_says_both_parts_say_it(text):
    text = re.sub("\n{2,}", "\n\n", texts.fitted(f"A letter:\n\n{text}".rstrip())) + "\n\nspiro show 101\n"
    message = parsed(mail(text, html=True))
    assert plain(message) == text
    assert page(message).text == text


DRAWN = st.text(st.sampled_from("BWXOFSoOb#@w*()[]:.<>&1 \n"), min_size=1).map(str.strip).filter(bool)


@pytest.mark.parametrize("game", helptexts.GAMES)
@given(drawn=DRAWN, line=st.integers(0, 3), first=st.integers(0, 9), length=st.integers(0, 5))
def test_whatever_a_game_draws_is_shown_as_it_is_drawn(game, drawn, line, first, length):
    drawn = re.sub("\n+", "\n", drawn)
    text = f"Drawn.\n\n{drawn}\n\nhelp\n"
    picture = pictures.placed(text, [Drawing(game, drawn, ((line, first, first + length),))])
    assert page(parsed(mail(text, html=True, picture=picture))).text == text


def mail(text, **fields):
    """A mail that nobody has queued."""
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    row = Mail("bob", "bob@players.example", "Spiro Board 101 bob", text, "<1@pbm.example>", None, now, now)
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
    for line in texts.fitted(texts.clean(text)).split("\n"):
        assert columns(line) <= 78


@pytest.mark.parametrize("start", ["", "a"])
def test_a_wide_letter_is_not_cut_at_the_edge(start):
    lines = texts.fitted(start + "漢" * 60).split("\n")
    assert "".join(lines) == start + "漢" * 60
    assert max(map(columns, lines)) <= 78


def test_a_line_that_fits_stays_as_it_is():
    text = "  two  blanks,  and a comma\n\n" + "x" * 78 + "\n" + " " * 10 + "y" * 68 + "\n"
    assert texts.fitted(text) == text


def test_a_long_command_breaks_where_its_lines_can_be_put_together_again():
    command = "spiro move 101 bob PASSWORD " + ",".join(f"a{number}:3" for number in range(50)) + "#7"
    lines = texts.fitted(command).split("\n")
    assert len(lines) > 3
    assert all(line.endswith((",", "PASSWORD")) for line in lines[:-1])
    assert " ".join(lines).replace(", ", ",") == command


def test_a_quoted_line_that_breaks_stays_quoted():
    assert all(line.startswith("> ") for line in texts.fitted("> " + "word " * 40).split("\n"))


def test_long_userids_and_options_make_no_long_lines(club):
    for name in ("abcdefghijklmno1", "abcdefghijklmno2"):
        club.say(f"signup {name} {name}-secret {name}@players.example")
    club.say("symple challenge -size=15 -penalty=10 abcdefghijklmno1 abcdefghijklmno2")
    mailed(club, "symple preview 101 " + "a1 a3 " * 4, "abcdefghijklmno1@players.example")
    mailed(club, "symple move 101 abcdefghijklmno1 abcdefghijklmno1-secret " + "z99," * 60)
    for row in club.store.mails():
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
    text = texts.fitted(f"Preview.\n\n{command}\n")
    lines = text.split("\n")[2:-1]
    assert len(lines) > 2
    assert not any(CUT.search(line) for line in lines[1:])
    [link] = page(parsed(mail(text, html=True))).links
    assert target(link)[1]["subject"] == command
    [link] = page(parsed(mail(text, html=True, reply_to="pbm+token@pbm.example"))).links
    assert target(link)[1]["body"] == turn


@pytest.mark.parametrize("game", LONG_TURNS)
def test_a_long_turn_is_not_broken_inside_a_cell_in_the_list_of_moves_either(game):
    turn = LONG_TURNS[game]
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    board = Board(BoardRow(game, "101", "", "alice", "bob", b"", now), [], {})
    board.turns.append(TurnRow("alice", turn, (), automatic=False, played=now))
    board.states.append(board.state)
    [letter] = letters.of_board(board.present, "bob", now=now)
    lines = MOVES.search(letter.text)[0].split("\n")[1:-2]
    assert "".join(line[6:].strip() for line in lines) == turn
    assert not any(CUT.search(line) for line in lines)
    last = re.search("^Last turn: (.*?)\n\n", letter.text, re.MULTILINE | re.DOTALL)[1]
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


def test_nothing_in_a_mail_is_fetched_from_elsewhere(pair):
    source = parsed(due(pair, "bob")[-1]).get_body(("html",)).get_content()
    assert not re.search(r"https?:|//|src|url|@import|script", source)


def test_a_comment_cannot_begin_a_part_of_its_own(pair):
    first = compose(due(pair, "bob")[-1], ADDRESS)
    boundary = re.search(rb'boundary="(.*?)"', first)[1].decode()
    text = f"--{boundary}\nContent-Type: text/html\n\n<script>\n--{boundary}--\n\nspiro show 101\n"
    message = parsed(due(pair, "bob")[-1], text=text, picture=None)
    assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
    assert plain(message) == text


def played(club, game, moves, options=""):
    """The last mail to bob after some random moves, and the board."""
    club.signed_up("alice", "bob")
    club.say(f"{game} challenge {options} alice bob")
    rng = Random(5)
    for _ in range(moves):
        board = Board.load(club.store, game, "101")
        mailed(club, f"{game} move 101 {board.turn} {PASSWORDS[board.turn]} {board.state.random(rng)}")
    return page(parsed(due(club, "bob")[-1])), Board.load(club.store, game, "101")


def stones(board, name):
    return [cell for cell in board.state.view()["cells"].values() if cell.upper().startswith(name)]


@pytest.mark.parametrize(
    ("game", "letters"),
    [("symple", ("W", "B")), ("sprout", ("B", "W")), ("spora", ("B", "W")), ("papagra", ("P", "B"))],
)
def test_each_side_has_its_colour_in_every_game(club, game, letters):
    read, board = played(club, game, 9)
    glyphs = games.glyphs(games.load(game))
    drawn = board.rules.draw(board.state, board.states[-2])
    for kind, pattern, letter in zip(("first", "second"), glyphs.sides, letters, strict=True):
        assert read.of(kind) == re.findall(pattern, drawn)
        legend = {"papagra": 3, "spora": 0}.get(game, 1)  # and the track of Papagra
        assert 0 <= len(read.of(kind)) - len(stones(board, letter)) <= legend


def test_the_last_turn_of_symple_is_what_stands_in_brackets(club):
    read, board = played(club, "symple", 4)
    [turn] = board.turns[-1:]
    assert len(re.findall("[WB]", "".join(read.of("latest")))) == len(turn.text.split(","))
    assert all(re.fullmatch(r"\([WB]( [WB])*\)", text) for text in read.of("latest"))


def test_the_last_turn_of_sprout_is_what_has_an_asterisk(club):
    read, board = played(club, "sprout", 5)
    new = board.state.stones[0] & ~board.states[-2].stones[0]
    assert read.of("latest") == ["B*"] * new.bit_count() != []


def test_the_last_turn_of_spora_is_small_letters_and_colons(club):
    read, _ = played(club, "spora", 7)
    assert read.of("latest")
    assert all(re.fullmatch(r"[bw]\d+|:", text) for text in read.of("latest"))


def test_the_last_turn_of_papagra_is_its_new_stones(club):
    read, board = played(club, "papagra", 6)
    new = [now & ~was for now, was in zip(board.state.stones, board.states[-2].stones, strict=True)]
    on_board = [text for text in read.of("latest") if text in "O@"]
    assert on_board.count("O") == new[0].bit_count() + bool(any(new))
    assert on_board.count("@") == new[1].bit_count() + bool(any(new))


def test_the_last_turn_of_spiro_stands_in_brackets(pair):
    assert page(parsed(due(pair, "bob")[-1])).of("latest") == []
    pair.move("alice", "e3:5")
    assert page(parsed(due(pair, "bob")[-1])).of("latest") == ["(X)", "(X)", "( )"]
    board = Board.load(pair.store, "spiro", "101")
    assert board.rules.draw(board.state, board.states[0]) in due(pair, "bob")[-1].text


def test_a_mail_lists_every_throw_and_the_one_for_the_turn_to_come(pair):
    assert "\n\nThrows: 5\n\n" in due(pair, "bob")[-1].text
    pair.move("alice", "e3:5")
    assert "\n\nThrows: 5, 4-2\n\n" in due(pair, "bob")[-1].text
    pair.move("bob", "e2:4:2")
    board = Board.load(pair.store, "spiro", "101")
    third = "-".join(map(str, board.state.dice))
    assert f"\n\nThrows: 5, 4-2, {third}\n\n" in due(pair, "alice")[-1].text


@pytest.mark.parametrize("end", [["alice resign"], ["alice propose", "bob accept"]])
def test_the_mail_at_the_end_lists_the_last_throw_too(pair, end):
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    third = "-".join(map(str, Board.load(pair.store, "spiro", "101").state.dice))
    for line in end:
        pair.move(*line.split())
    winner = due(pair, "bob" if len(end) == 1 else "alice")[-1].text
    assert f"\n\nThrows: 5, 4-2, {third}\n\n" in winner


def test_a_row_that_is_called_o_is_no_stone(club):
    read, _ = played(club, "papagra", 0, "-size=10")
    assert read.of("first") == ["o", "o"]  # on the track and in the legend


class Made:
    """A game that says nothing of its pictures."""

    SIDES = ("first", "second")


def test_of_a_game_that_says_nothing_initials_brackets_and_asterisks_are_taken(monkeypatch):
    monkeypatch.setattr(games, "exists", lambda name: name == "made")
    monkeypatch.setattr(games, "load", {"made": Made}.get)
    text = "Made.\n\n  a b\n1 F S F* (S) [F S] <.\nFirst leads.\n\nmade show 1\n"
    read = page(parsed(mail(text, html=True, picture="made 2-5")))
    assert read.text == text
    assert read.of("first") == ["F", "F", "F"]
    assert read.of("second") == ["S", "S", "S"]
    assert read.of("latest") == ["F*", "(S)", "[F S]"]


def test_a_board_of_a_game_that_is_no_longer_installed_is_shown_without_colours():
    read = page(parsed(mail("Gone.\n\n<B W>\n\nhelp\n", html=True, picture="gone 2-3")))
    assert read.text == "Gone.\n\n<B W>\n\nhelp\n"
    assert read.marked == []


def luminance(colour):
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_all_letters_of_a_board_can_be_read_and_its_pieces_stand_out(game):
    found = painting.colours(games.load(game).SIDES)
    assert contrast(found.ink, found.paper) >= 4.5  # what WCAG asks of a text
    assert contrast(*painting.LATEST) >= 4.5
    for tile in (found.first, found.second):
        assert contrast(*tile) >= 4.5
        assert contrast(tile.paper, found.paper) >= 3  # and of what is no text
    assert contrast(painting.LATEST.paper, found.paper) >= 3


def test_black_is_dark_and_white_is_light_and_pink_is_pink():
    symple, papagra = (painting.colours(games.load(game).SIDES) for game in ("symple", "papagra"))
    assert (symple.first.paper, symple.second.paper) == ("#ffffff", "#000000")  # White moves first
    assert papagra.second.paper == "#000000"
    red, green, blue = (int(papagra.first.paper[at : at + 2], 16) for at in (1, 3, 5))
    assert red > blue > green


def test_dark_mode_is_declared_and_every_piece_has_a_colour_and_a_background_in_both(pair):
    pair.move("alice", "e3:5")
    source = parsed(due(pair, "bob")[-1]).get_body(("html",)).get_content().replace("\r\n", "\n")
    assert '<meta name="color-scheme" content="light dark">' in source
    colours = page(parsed(due(pair, "bob")[-1])).colours
    assert {"first", "second", "latest"} <= set(colours)
    assert all(colours[name].keys() == {"background", "color"} for name in ("first", "second", "latest"))


def test_a_mail_is_made_for_the_screen_of_a_telephone(pair):
    source = parsed(due(pair, "bob")[-1]).get_body(("html",)).get_content()
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in source


def test_the_moves_stand_one_on_a_line(pair):
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    read = page(parsed(due(pair, "alice")[-1]))
    assert "Moves of alice (X) and bob (O)\n1. alice  e3:5\n   bob    e2:4:2\n\n" in read.text


def test_what_only_looks_like_a_list_of_moves_is_shown_whole():
    text = "Move  a (x)  b (y)\nand more\n1.    x   y  z\n      q\n\nhelp\n"
    read = page(parsed(mail(text, html=True)))
    assert all(word in read.text.split() for word in "more x y z q".split())


# The link to answer with


def target(link):
    """The address of a link, and the fields that it fills in."""
    url = urlsplit(link)
    fields = parse_qs(url.query.replace("+", "%2B"), strict_parsing=True)
    return unquote(url.path), {name: value for name, [value] in fields.items()}


def test_the_link_begins_a_mail_with_the_command(pair):
    [link] = page(parsed(due(pair, "alice")[-1], reply_to=None)).links
    assert target(link) == (ADDRESS, {"subject": "spiro move 101 alice PASSWORD MOVE#1"})


def test_with_a_reply_address_the_link_needs_the_move_alone(pair):
    row = due(pair, "alice")[-1]._replace(reply_to="pbm+token@pbm.example")
    [link] = page(parsed(row)).links
    assert target(link) == (
        "pbm+token@pbm.example",
        {"subject": "Re: New Spiro Board 101 alice", "body": "MOVE"},
    )
    [link] = page(parsed(row, text="Bob's turn.\n\nspiro show 101\n", picture=None)).links
    assert target(link)[1]["body"] == "show"


def test_a_command_that_is_no_move_goes_to_the_server_itself():
    row = mail("Won by bob.\n\nspiro challenge -small bob alice\n", html=True, reply_to="pbm+token@pbm.example")
    assert target(page(parsed(row)).links[0]) == (ADDRESS, {"subject": "spiro challenge -small bob alice"})


def test_a_command_in_several_lines_is_one_in_the_link():
    command = "symple move 101 bob PASSWORD " + ",".join(f"a{number}" for number in range(1, 26)) + "#7"
    row = mail(texts.fitted(f"Preview.\n\n{command}\n"), html=True)
    subject = target(page(parsed(row)).links[0])[1]["subject"]
    assert subject == command


def test_a_command_too_long_for_a_link_has_none():
    row = mail(texts.fitted(f"Preview.\n\nsymple move 101 bob PASSWORD {'a1,' * 600}\n"), html=True)
    assert page(parsed(row)).links == []


# Where the pictures are


def test_the_place_of_the_picture_is_stored_with_the_mail(pair):
    row = due(pair, "bob")[-1]
    game, [place] = pictures.read(row.picture)
    board = Board.load(pair.store, "spiro", "101")
    assert game == "spiro"
    assert "\n".join(row.text.split("\n")[place.first : place.end]) == board.rules.draw(board.state, board.states[0])


def test_places_are_read_as_they_were_written():
    drawings = (Drawing("spiro", "ab\ncd", ((0, 0, 1), (1, 1, 2))), Drawing("spiro", "ab"))
    text = "ab is no picture\n\nab\ncd\n\nab\n"
    stored = pictures.placed(text, drawings)
    assert stored == "spiro 2-4:0.0.1,1.1.2 5-6"
    assert pictures.drawings(text, stored) == drawings
    assert pictures.placed("another text\n", drawings) is None
    assert pictures.drawings("another text\n", None) == ()


def test_an_error_mail_shows_its_board_in_colours_too(pair):
    mailed(pair, "spiro move 101 alice alice-secret e3:4")
    assert page(parsed(due(pair)[-1])).of("first")


# Header fields


def test_every_mail_says_that_a_program_wrote_it(pair):
    mailed(pair, "spiro show 101")
    own, answer = parsed(due(pair, "bob")[-1]), parsed(due(pair)[-1])
    assert (own["Auto-Submitted"], answer["Auto-Submitted"]) == ("auto-generated", "auto-replied")
    suppressed = [message["X-Auto-Response-Suppress"] for message in (own, answer)]
    assert suppressed == ["DR, RN, NRN, OOF, AutoReply", "All"]
    for message in (own, answer):
        assert message["MIME-Version"] == "1.0"
        assert message["Precedence"] is None
        assert message["List-Unsubscribe"] is None


def test_a_reply_goes_to_the_address_that_was_made_for_it(pair):
    assert parsed(due(pair)[-1], reply_to="pbm+token@pbm.example")["Reply-To"] == "pbm+token@pbm.example"


def test_a_subscription_says_how_to_end_it(pair):
    field = parsed(due(pair)[-1], unsubscribe="pbm+token@pbm.example")["List-Unsubscribe"]
    assert target(field.strip("<>")) == ("pbm+token@pbm.example", {"subject": "unsubscribe"})


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


def test_a_command_in_a_field_is_encoded_and_begins_no_other_one():
    raw = compose(mail("text\n", unsubscribe="x\r\nBcc: victim@players.example"), ADDRESS)
    assert b"\nBcc" not in raw


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
        "reply": "Mails come as text, and beside it the same in HTML with boards in colours.",
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("spiro mail bob bob-secret often", "'often' is not one of these"),
        ("mail bob bob-secret pdf", "'pdf' is none of these"),
        ("spiro mail bob wrong-password none", "userid or the password is wrong"),
        ("mail bob wrong-password text", "userid or the password is wrong"),
        ("spiro mail bob bob-secret", "too few words"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(pair, line, reason):
    mailed(pair, line)
    assert reason in pair.mails()[-1].text.replace("\n", " ")
    assert pair.store.player("spiro", "bob").mail == "each"


def test_who_wants_no_mails_of_a_game_gets_its_end_and_those_of_other_games(pair):
    pair.say("spiro mail bob bob-secret none")
    before = len(pair.mails("bob"))
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    assert len(pair.mails("bob")) == before
    pair.say("symple challenge alice bob")
    pair.say("spiro resign 101 alice alice-secret")
    assert [row.subject for row in pair.mails("bob")[before:]] == ["New Symple Board 101 alice", "Spiro Board 101"]


def test_a_mover_by_mail_gets_what_he_chose_too(pair):
    pair.say("spiro mail alice alice-secret none")
    before = len(due(pair, "alice"))
    mailed(pair, "spiro move 101 alice alice-secret e3:5")
    assert len(due(pair, "alice")) == before
    mailed(pair, "spiro move 101 alice alice-secret e3:5", body="again")
    assert due(pair, "alice")[-1].subject == "Spiro Board 101 Error"


def sent(club):
    with club.store.transaction():
        return digests.send(Session(club.server), club.time)


def test_a_digest_has_all_mails_of_a_day_in_order_with_their_comments(pair):
    pair.say("spiro mail bob bob-secret digest")
    before = len(pair.mails("bob"))
    pair.move("alice", "e3:5", comment="A first comment.")
    pair.pass_time(hours=3)
    mailed(pair, "spiro move 101 bob bob-secret e2:4:2", body="A second comment.")
    assert len(pair.mails("bob")) == before
    pair.pass_time(hours=9)
    assert sent(pair) == 1
    [digest] = pair.mails("bob")[before:]
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


def test_a_digest_has_all_its_boards_in_colours(pair):
    pair.say("spiro mail bob bob-secret digest")
    pair.move("alice", "e3:5", comment="x" * 300)
    mailed(pair, "spiro move 101 bob bob-secret e2:4:2")
    sent(pair)
    row = due(pair, "bob")[-1]
    assert len(pictures.read(row.picture)[1]) == 2
    read = page(parsed(row))
    assert is_same(read, row.text)
    assert set(read.of("latest")) == {"(X)", "(O)", "( )"}


def test_a_digest_goes_out_once_a_day_and_loses_nothing(pair):
    pair.say("spiro mail bob bob-secret digest")
    counts, held = [], []
    moves = {1: "spiro move 101 alice alice-secret e3:5", 2: "spiro move 101 bob bob-secret e2:4:2"}
    for hour in range(1, 61):
        if hour in moves:
            mailed(pair, moves[hour])
        pair.pass_time(hours=1)
        counts.append(sent(pair))
        held.append(len(pair.store.held_mails("bob", "spiro")))
    assert [hour for hour, count in enumerate(counts, 1) if count] == [1, 12]
    assert held[0] == 0
    assert set(held[1:11]) == {1}
    assert set(held[11:]) == {0}


def test_a_digest_is_made_whole_or_not_at_all(pair):
    pair.say("spiro mail bob bob-secret digest")
    pair.move("alice", "e3:5")
    before = len(pair.mails("bob"))
    with pytest.raises(RuntimeError), pair.store.transaction():
        digests.send(Session(pair.server), pair.time)
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
    assert sent(pair) == 3
    assert sent(pair) == 0


def test_the_end_of_a_game_does_not_wait_for_the_digest(pair):
    pair.say("spiro mail bob bob-secret digest")
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    pair.say("spiro resign 101 alice alice-secret")
    assert "Won by bob" in pair.mails("bob")[-1].text


def test_a_digest_of_a_user_without_a_confirmed_address_waits_and_one_without_any_address_has_none(club):
    club.signed_up("alice")
    club.say("signup bob bob-secret", sender="bob@players.example")
    club.say("signup carol carol-secret")
    for name in ("bob", "carol"):
        club.say(f"spiro mail {name} {PASSWORDS[name]} digest")
        club.say(f"spiro challenge alice {name}")
    assert club.store.held_for() == [("bob", "spiro")]
    sent(club)
    assert club.mails("bob")[-1].address is None


def test_a_day_of_many_long_mails_becomes_several_digests(pair, monkeypatch):
    monkeypatch.setattr(digests, "LONGEST_DIGEST", 4000)
    pair.say("spiro mail bob bob-secret digest")
    for _ in range(4):
        pair.say("spiro challenge -small -pieces=2 alice bob")
    before = len(pair.mails("bob"))
    count = sent(pair)
    texts = "".join(row.text for row in pair.mails("bob")[before:])
    assert count > 1
    assert texts.count("New Spiro Board") == 4
