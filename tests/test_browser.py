"""The HTML of mails, measured in a real browser: on the screen of a telephone and on a wide one, in light and in dark.

It runs where ``PBM_TEST_BROWSER=1`` is set: Chromium and its driver are installed from the distribution's packages if
they are not there and this runs as root. Nothing else is downloaded.
"""

import re
from base64 import b64encode
from datetime import UTC, datetime
from random import Random

import pytest

import games
from pbm import blocks, letters
from pbm.actions import cleanup
from pbm.blocks import Comment, NextCommand, Paragraph
from pbm.board.board import Board
from pbm.drawing import images
from pbm.language.help import help_letter
from pbm.mail import html, illustrations
from pbm.session import Session
from pbm.store import BoardRow, Mail

from helpers.browsers import BOARDS, NEEDS_BROWSER, PHONE, WIDE
from helpers.club import Club
from helpers.mail import ADDRESS, handle

pytestmark = NEEDS_BROWSER
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
NAMES = "abcdefghijklmno1", "abcdefghijklmno2"
TEXTS = ["error", "list", "digest", "standings", "history", "move list", "long removals", "comment", "games"]
HELPS = [f"help {subject}" for subject in ("overview", "commands", "tutorial", *games.names())]


def page(*told):
    """The HTML of a mail with these blocks."""
    row = Mail(
        "bob", "bob@players.example", "Spiro Board 101 bob", blocks.to_json(told), "<1@pbm.example>", None, NOW, NOW
    )
    return html.page(row._replace(reply_to="pbm+token@pbm.example"), ADDRESS)


def page_of(letter):
    """The HTML of a letter."""
    return page(*letter.mailed(is_easy=False))


def point_of_board(line, moves=40):
    """A board after random moves."""
    game, *options = line.split()
    row = BoardRow(game, "101", " ".join(options), *NAMES, b"secret", NOW, comment="Good luck!", nag_days=3)
    board, rng = Board(row, [], {}), Random(3)
    for _ in range(moves):
        if board.mover is None:
            break
        board.play(board.mover, board.state.random(rng), NOW)
    return board.present


def board_letter(session, line, moves=40):
    """The letter about a board after random moves."""
    point = point_of_board(line, moves)
    [letter] = letters.of_board(session, point, point.mover or NAMES[0], is_full=True, is_new=True)
    return letter


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """What letters are written in, on a server that knows nobody."""
    club = Club(tmp_path_factory.mktemp("nobody") / "pbm.db")
    club.time = NOW
    yield Session(club.server)
    club.store.close()


@pytest.fixture(scope="module")
def plain_mails(tmp_path_factory, session):
    """Mails that are no more than text, by name."""
    club = Club(tmp_path_factory.mktemp("club") / "pbm.db")
    club.signed_up("alice", "bob", "carol")
    for name in NAMES:
        club.say(f"signup {name} {name}-secret")
    club.say("spiro mail bob bob-secret digest")
    for number, options in enumerate(("-small -pieces=2", "-no_inwards", "-small", "-pieces=9"), 101):
        club.say(f"spiro challenge {options} --nagtime=3 --totaltime=100 {NAMES[number % 2]} bob")
        club.say(f"spiro challenge {options} bob carol", comment="A word to both of you, " * 12)
    club.say(f"spiro resign 101 {NAMES[1]} {NAMES[1]}-secret")
    with club.store.writing():
        cleanup.send_digests(Session(club.server))
    handle(club.server, b"From: bob@players.example\r\nSubject: spiro move 102 bob bob-secret a9:4,b7:2\r\n\r\n", None)
    handle(club.server, b"From: bob@players.example\r\nSubject: spiro move 102 bob\r\n\r\n", None)
    found = {row.subject: row for row in club.store.outbox.all() if row.address == "bob@players.example"}
    made = {
        "error": found["Spiro Board 102 Error"],
        "digest": next(row for subject, row in found.items() if "Digest" in subject),
    }
    pages = {name: html.page(row, ADDRESS) for name, row in made.items()}
    for name, line in {
        "list": "list spiro",
        "standings": "spiro standings",
        "history": "spiro history",
        "games": "spiro games",
    }.items():
        [letter] = club.say(line)
        pages[name] = page_of(letter)
    pages["move list"] = page_of(board_letter(session, "sprout", 30))
    pages["long removals"] = page(Paragraph("Preview."), NextCommand(f"papagra move 101 bob PASSWORD +f6,{REMOVALS}#7"))
    pages["comment"] = page(
        Comment("bob", f"{'x' * 300}\n\n{'漢字' * 90}\n\n| a  |  b |"), NextCommand("spiro show 101")
    )
    club.store.close()
    return pages


REMOVALS = "-" + "-".join(f"{row}{number}" for row in "abcdefghijklmnopqrs" for number in range(7, 12))


@pytest.fixture
def source(plain_mails, session):
    """The HTML of a mail by its name, or of that about a board by its options."""

    def source_of(name):
        if name.startswith("help "):
            return page_of(help_letter(name.removeprefix("help ")))
        return plain_mails[name] if name in plain_mails else page_of(board_letter(session, name))

    return source_of


@pytest.mark.parametrize("name", [*BOARDS, *TEXTS, *HELPS])
def test_every_mail_fits_the_screen_of_a_telephone_and_can_be_read_in_light_and_in_dark(browser, source, name):
    shown = source(name)
    for width in (PHONE, WIDE):
        for is_dark in (False, True):
            found = browser.measured(shown, width=width, is_dark=is_dark)
            assert found.pop("width") <= width
            assert found == {"scrolling": [], "clipped": [], "small": [], "faint": []}


@pytest.mark.parametrize("name", ["spiro", "spora -size=25", "papagra", "help symple", "list", "standings"])
def test_a_narrow_window_with_a_scroll_bar_shows_all_without_another_one(browser, source, name):
    found = browser.measured(source(name), is_window=True)
    assert found.pop("width") <= PHONE
    assert found == {"scrolling": [], "clipped": [], "small": [], "faint": []}


@pytest.mark.parametrize("name", ["spora -size=25", "papagra -size=10 -removals=40", "sprout -board=cairo-2", "list"])
def test_where_the_style_sheet_is_thrown_away_nothing_is_wider_but_what_scrolls_by_itself(browser, source, name):
    found = browser.measured(re.sub("<style>.*?</style>", "", source(name), flags=re.DOTALL))
    assert found["width"] <= PHONE
    assert found["faint"] == found["small"] == []
    overflow = """return [...document.querySelectorAll('pre')]
        .filter(paragraph => paragraph.scrollWidth > paragraph.clientWidth)
        .map(paragraph => getComputedStyle(paragraph).overflowX)"""
    assert set(browser.driver.execute_script(overflow)) == {"auto"}


@pytest.mark.parametrize("name", ["long removals", "papagra -removals=40", "sprout -board=cairo-2", "symple", "spora"])
def test_no_line_is_broken_inside_the_name_of_a_cell_or_behind_its_x(browser, source, name):
    shown = source(name)
    for width in (320, PHONE):
        lines = browser.lines(shown, width=width)
        whole = browser.driver.execute_script("return document.body.textContent")
        assert max(map(len, lines)) < 80  # it is broken, and the cells are as they were
        assert CELL.findall("\n".join(lines)) == CELL.findall(whole)


CELL = re.compile("[x+-]?[a-z][0-9]+(?:[:@][a-z0-9]+)?")


# Pictures

SCREENS = [(PHONE, False), (PHONE, True), (1280, False), (1280, True)]
PAINTED = """
const svg = document.querySelector('svg'), found = {outside: [], faint: [], faint_pieces: new Set()};
const numbers = colour => colour.match(/[0-9.]+/g).map(Number);
const light = colour => {
    const [r, g, b] = numbers(colour).map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
};
const style = element => getComputedStyle(element);
const panel = style(svg.querySelector('.panel')).fill, box = svg.viewBox.baseVal;
for (const text of svg.querySelectorAll('text')) {
    const {x, y, width, height} = text.getBBox();
    if (x < 0 || y < 0 || x + width > box.width || y + height > box.height) found.outside.push(text.textContent);
    const hue = ['black', 'white', 'pink', 'yellow', 'navy'].find(name => text.classList.contains(name));
    const paper = hue ? style(svg.querySelector('.piece.' + hue)).fill : panel;
    if (contrast(style(text).fill, paper) < 4.5) found.faint.push([text.textContent, style(text).fill, paper]);
}
const grounds = svg.querySelector('.points') ? [panel]
    : [...new Set([...svg.querySelectorAll('.cells path')].map(cell => style(cell).fill))];
for (const piece of svg.querySelectorAll('.piece, .swatch')) {
    for (const paper of grounds) {
        const {fill, stroke} = style(piece), colours = [fill, stroke, paper];
        if (Math.max(contrast(fill, paper), contrast(stroke, paper)) < 3) found.faint_pieces.add(colours + '');
    }
}
found.faint_pieces = [...found.faint_pieces];
return found;
"""
SHOWN = """
const image = document.images[0], {left, right, width, height} = image.getBoundingClientRect();
return {page: document.documentElement.scrollWidth, screen: window.innerWidth, natural: image.naturalWidth,
        left, right, width, height, ratio: image.naturalHeight / image.naturalWidth};
"""


@pytest.mark.parametrize("name", BOARDS)
def test_all_of_a_picture_can_be_read_in_light_and_in_dark(browser, name):
    for moves in (0, 40):
        drawn = images.board_svg(point_of_board(name, moves))
        for width, is_dark in SCREENS:
            browser.shows(f"<!DOCTYPE html>\n<body>{drawn}</body>", width=width, is_dark=is_dark)
            assert browser.driver.execute_script(PAINTED) == {"outside": [], "faint": [], "faint_pieces": []}


@pytest.mark.parametrize("is_sheet_kept", [True, False])
@pytest.mark.parametrize("name", ["spiro", "symple -size=25", "spora -size=5", "papagra", "sprout -board=cairo-2"])
def test_the_picture_of_a_mail_is_as_wide_as_the_screen_and_no_wider_than_it_is(browser, session, name, is_sheet_kept):
    point = point_of_board(name)
    png = images.board_png(point, illustrations.ZOOM)
    turns = ("a4", "a5", "f3:4:4,e2:1", *(f"{cell}{number}" for cell in "bcdefg" for number in range(1, 5)))
    width = round(images.width(png) / illustrations.ZOOM)
    illustration = illustrations.Illustration(png, turns=turns, page="https://games.example.org/spiro/101.html")
    [letter] = letters.of_board(session, point, point.mover or NAMES[0], is_full=True)
    told = blocks.to_json(letter.mailed(is_easy=False))
    row = Mail("bob", "bob@players.example", "Board 101 bob", told, "<1@pbm.example>", None, NOW, NOW)
    row = row._replace(reply_to="pbm+token@pbm.example")
    source = html.page(row, ADDRESS, illustration, "1@pbm.example")
    source = source.replace("cid:1@pbm.example", f"data:image/png;base64,{b64encode(png).decode()}")
    if not is_sheet_kept:  # as Gmail does where it does not know what to make of it
        source = re.sub(r'<style>.*?</style>|\nclass="[^"]*"', "", source, flags=re.DOTALL)
        assert "class=" not in source
    for screen, is_dark in SCREENS:
        read = browser.measured(source, width=screen, is_dark=is_dark)
        assert read["small"] == read["faint"] == []
        assert read["width"] <= screen
        found = browser.driver.execute_script(SHOWN)
        assert found["natural"] == images.width(png)
        assert found["page"] <= found["screen"] == screen
        assert found["width"] == pytest.approx(min(width, screen - 16), abs=1)
        assert found["height"] == pytest.approx(found["width"] * found["ratio"], abs=1)
