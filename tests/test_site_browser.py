"""The site in a real browser: stepping through games, moves by tapping, and what a reader without scripts sees."""

import re
from random import Random
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from pbm.access import tokens
from pbm.actions import tournaments
from pbm.board import plan_lines
from pbm.session import Session
from pbm.site.boards import page_canvas, page_figure
from pbm.site.build import build
from pbm.site.pages import SiteSettings
from pbm.tournaments.kinds import Entrant, Tournament
from pbm.tournaments.roundrobin import RoundRobin

from helpers import helptexts, patience
from helpers.browsers import BOARDS, IS_DRAWN, NEEDS_BROWSER, PHONE, WIDE, WIDTH
from helpers.club import PASSWORDS, Club
from helpers.database import stored_board
from helpers.mail import handle

pytestmark = NEEDS_BROWSER
LONGEST_NAME = "maximiliane.von1"
TOKEN = "r17-0123456789abcdef0123456789abcdef"
KINDS = {"spiro": "-small", "symple": "-size=9", "spora": "-size=7", "papagra": "-size=4", "sprout": ""}
SHOWN_AND_WANTED = """
const shown = document.querySelector('.picture svg'), place = document.createElement('div');
place.innerHTML = arguments[0];
document.body.append(place);
const drawn = svg => [svg, ...svg.querySelectorAll('*')].filter(one => !/title|desc/.test(one.tagName)).map(one => {
    const {fill, stroke, opacity} = getComputedStyle(one);
    const attributes = [...one.attributes].map(({name, value}) => `${name}=${value.replace(/ +(?=M|$)/g, '')}`);
    const text = one.childElementCount ? '' : one.textContent;
    return [one.tagName, text, fill, stroke, opacity, ...attributes.sort()].join(' ');
});
const found = [drawn(shown), drawn(place.firstElementChild), shown.querySelector('desc').textContent];
place.remove();
return found;
"""
"""What the page shows and what it should show: the elements, with their colours."""
REACHED = "return performance.getEntriesByType('resource').map(entry => entry.name)"
NAMES = "return [...new Set([...document.querySelectorAll('[data-cell]')].map(cell => cell.dataset.cell))]"
TAPPED = """
const line = document.querySelector('.tapping textarea'), clear = document.querySelector('.tapping .clear');
return [...document.querySelectorAll('.cells [data-cell]')].map(cell => {
    clear.click();
    cell.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    return line.value;
});
"""
"""What stands in the line after each of the cells has been tapped alone."""
IN_TURN = """
document.querySelector('.tapping .clear').click();
for (const name of arguments) {
    const cell = document.querySelector(`.cells [data-cell='${name}']`);
    cell.dispatchEvent(new MouseEvent('click', {bubbles: true}));
}
return [document.querySelector('.tapping textarea').value, document.querySelector('.send').hasAttribute('href')];
"""
"""What stands in the line after these cells have been tapped, and whether it can be sent."""


FOLLOWED = """
const list = document.querySelector('.moves').getBoundingClientRect();
const item = document.querySelector('.moves [aria-current]').getBoundingClientRect();
return [list.top <= item.top + 1 && item.bottom <= list.bottom + 1, window.scrollY];
"""
"""Whether the move that is shown can be seen in the list of moves, and how far the page is scrolled."""
TURN_LINES = """
return [...document.querySelectorAll('.moves .text, .told')].map(turn => {
    const lines = [], walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
    let bottom = 0;
    while (walker.nextNode()) for (let at = 0; at < walker.currentNode.length; at++) {
        const range = document.createRange(), letter = walker.currentNode.data[at];
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + 1);
        const box = range.getBoundingClientRect();
        if (letter === ' ') continue;
        if (box.top < bottom) lines[lines.length - 1] += letter;
        else lines.push(letter);
        bottom = box.bottom - 3;
    }
    return turn.matches('.told') ? lines.slice(1) : lines;
});
"""
"""The lines into which each turn is broken, in the list and below the slider; there the first one has other words."""
SMALLEST_LETTERS = """
return Math.min(...[...document.querySelectorAll('main p, main pre, main h2, main b')]
    .map(one => parseFloat(getComputedStyle(one).fontSize)));
"""
RIGHT_OF_STATUS = """
return [...document.querySelectorAll('td')].filter(cell => / to start$|'s turn$|^won by |^tie$/.test(cell.textContent))
    .map(cell => cell.getBoundingClientRect().right);
"""
BROKEN_WORDS = """
return [...document.querySelectorAll('td')].flatMap(cell => {
    const broken = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) broken.push(word[0]);
    }
    return broken;
});
"""
"""The words and numbers in the cells of tables that stand on two lines."""
CLOSE_LINKS = """
const links = [...document.querySelectorAll('td a')].map(link => {
    const {x, y, width, height} = link.getBoundingClientRect();
    return {text: link.textContent, x: x + width / 2, y: y + height / 2};
});
const areClose = (one, other) => one !== other && Math.hypot(one.x - other.x, one.y - other.y) < 24;
return links.filter(one => links.some(other => areClose(one, other))).map(one => one.text);
"""
"""The links in the cells of tables whose middles are closer to each other than WCAG 2.2 wants."""


class Visited:
    """A site with a running and a finished board of each game."""

    def __init__(self, folder):
        self.club = club = Club(folder / "pbm.db")
        club.signed_up("alice", "bob", "carol")
        rng = Random(5)
        self.folder, self.boards = folder / "site", {}
        for game, options in KINDS.items():
            for number, moves in (("101", 4), ("102", 12)):
                club.say(f"{game} challenge {options} alice bob")
                for _ in range(moves):
                    board = stored_board(club.store, game, number)
                    club.say(f"{game} move {number} {board.mover} {PASSWORDS[board.mover]} {board.state.random(rng)}")
                self.boards[game, number] = stored_board(club.store, game, number)
            assert not self.boards[game, "101"].is_over
            loser = self.boards[game, "102"].mover
            club.say(f"{game} resign 102 {loser} {PASSWORDS[loser]}")
            self.boards[game, "102"] = stored_board(club.store, game, "102")
        club.say(f"signup {LONGEST_NAME} {LONGEST_NAME}-secret")
        club.say(f"symple challenge -size=5 alice {LONGEST_NAME}")
        club.say(f"symple move 103 alice {PASSWORDS['alice']} c3")
        club.say(f"symple move 103 {LONGEST_NAME} {LONGEST_NAME}-secret e5")
        club.say(f"symple resign 103 alice {PASSWORDS['alice']}")
        session = Session(club.server)
        cup = Tournament("symple", "cup", RoundRobin(), club.time, options="-size=5", tie_breaks="sb,direct")
        entrants = [Entrant(name) for name in ("alice", "bob", "carol", LONGEST_NAME)]
        with session.store.writing():
            tournaments.start_tournament(session, tournaments.set_up(session, cup, entrants))
        build(self.folder, Session(club.server), SiteSettings())


@pytest.fixture(scope="module")
def visited(tmp_path_factory):
    made = Visited(tmp_path_factory.mktemp("visited"))
    yield made
    made.club.store.close()


def opened(browser, visited, path, fragment="", *, width=WIDE, is_dark=False, scripts=True):
    """Open a page of the site, and return what drives the browser."""
    driver = browser.driver
    browser.allow_scripts(allowed=scripts)
    browser.sees(width=width, is_dark=is_dark)
    driver.get("about:blank")
    address = (visited.folder / path).as_uri()
    if scripts and not fragment.startswith("#r"):  # the tab keeps the token of another test
        driver.get(address)
        driver.execute_script("sessionStorage.clear()")
        driver.get("about:blank")
    driver.get(address + fragment)
    if scripts:
        driver.execute_async_script(IS_DRAWN)
    return driver


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("game", helptexts.GAMES)
def test_the_arrows_lead_through_the_game_as_pictures_of_all_positions_show_it(browser, visited, game, is_dark):
    board = visited.boards[game, "102"]
    driver = opened(browser, visited, f"{game}/102.html", is_dark=is_dark)
    last = len(board.turns)
    for numbers, key in ((range(last, -1, -1), "ARROW_LEFT"), (range(last + 1), "ARROW_RIGHT")):
        for number in numbers:
            figure = page_figure(board.after(number))
            picture = page_canvas(board, figure).picture(figure, "", style="", has_notes=False)
            shown, wanted, told = driver.execute_script(SHOWN_AND_WANTED, picture)
            assert shown == wanted
            assert all(re.search(rf"\b{cell}\b", told) for cell in board.states[number].view()["cells"])
            in_picture = re.findall(r"(\w+) on [a-z]+\d", picture)
            assert set(re.findall(r"(\w+) on [a-z]+\d", told)) == set(in_picture)
            assert browser.value(".steps input") == str(number)
            browser.press(key)
    assert driver.get_log("browser") == []
    assert [name for name in driver.execute_script(REACHED) if not name.startswith("file:")] == []


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_a_move_is_put_together_by_tapping_and_sent_to_the_address_of_the_player(browser, visited, game):
    driver = opened(browser, visited, f"{game}/101.html", f"#{TOKEN}", width=PHONE)
    cells = visited.boards[game, "101"].state.view()["cells"]
    empty = [name for name in driver.execute_script(NAMES) if name not in cells][:2]
    for name in empty:
        browser.tap(f".cells [data-cell='{name}']")
    link = urlsplit(browser.one(".send").get_attribute("href"))
    move = parse_qs(link.query)["body"][0]
    assert link.scheme == "mailto"
    assert unquote(link.path) == f"pbm+{TOKEN}@pbm.example"
    assert move == ",".join(empty)
    assert browser.value(".tapping textarea") == move
    assert driver.get_log("browser") == []


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_a_cell_that_is_tapped_once_more_is_taken_back(browser, visited, game):
    driver = opened(browser, visited, f"{game}/101.html", f"#{TOKEN}")
    cells = visited.boards[game, "101"].state.view()["cells"]
    one, two = [name for name in driver.execute_script(NAMES) if name not in cells][:2]
    assert driver.execute_script(IN_TURN, one, one) == ["", False]
    assert driver.execute_script(IN_TURN, one, two, two) == [one, True]
    assert driver.execute_script(IN_TURN, one, one, two) == [two, True]
    assert driver.get_log("browser") == []


def plain_turn(state, rng):
    """A legal turn that is cells and nothing else: without a server that knows the rules, no other is tapped."""
    turns = (state.random(rng).replace("+", "") for _ in range(1000))
    return next(turn for turn in turns if re.fullmatch(r"[a-z]\d+(,[a-z]\d+)*", turn) and is_plain(turn))


def is_plain(turn):
    cells = turn.split(",")
    return len(cells) == len({*cells})


@pytest.mark.parametrize("game", ["papagra", "spora", "symple"])
def test_a_plan_is_tapped_and_what_is_mailed_is_what_the_server_keeps(browser, visited, game):
    board = visited.boards[game, "101"]
    club = visited.club
    rng = Random(1)
    name, state = board.mover, board.state
    with club.store.writing():
        address = tokens.reply_address(club.server, game, "101", name)
    token = address.partition("+")[2].partition("@")[0]
    driver = opened(browser, visited, f"{game}/101.html", f"#{token}", width=PHONE)

    def tap_turn():
        nonlocal state
        turn = plain_turn(state, rng)
        for cell in turn.split(","):
            browser.tap(f".cells [data-cell='{cell}']")
        state = state.play(state.parse(turn))
        return turn

    def is_whole():
        return browser.one(".send").get_attribute("href") is not None

    move = tap_turn()
    browser.tap(".plan")
    theirs = tap_turn()
    assert not is_whole()
    browser.tap(".next")
    assert not is_whole()
    first = f"if {theirs} then {tap_turn()}"
    browser.tap(".next")
    theirs = tap_turn()
    browser.tap(".next")
    lines = [f"{first} if {theirs} then {tap_turn()}"]
    browser.tap(".other")
    browser.tap(".next")  # nothing was tapped for the opponent
    lines.append(f"{first} if any then {tap_turn()}")
    assert browser.value(".tapping textarea").split("\n") == [move, *lines]
    link = urlsplit(browser.one(".send").get_attribute("href"))
    query = parse_qs(link.query)
    [body] = query["body"]
    assert body == "\r\n".join([move, *lines])
    assert unquote(link.path) == address
    assert driver.execute_script(WIDTH) <= PHONE

    head = f"From: {name}@players.example\nTo: {address}\nSubject: {query['subject'][0]}\n\n"
    handle(club.server, (head + body).encode(), None, [address])
    after = stored_board(club.store, game, "101")
    assert [turn.text for turn in after.turns][len(board.turns) :] == [board.state.parse(move)]
    kept = plan_lines.branches(after.plans[name])
    assert [plan_lines.text_of_branch(line).replace("+", "") for line in kept] == lines


def step_of(browser):
    return int(browser.value(".steps input"))


def test_the_keys_step_through_the_game_but_in_a_field_move_its_caret(browser, visited):
    driver = opened(browser, visited, "symple/101.html", f"#{TOKEN}")
    line = browser.one(".tapping textarea")
    empty = next(one for one in driver.execute_script(NAMES) if one not in visited.boards["symple", "101"].state.cells)
    browser.press("ARROW_LEFT")
    assert step_of(browser) == 3
    browser.one(f".cells [data-cell='{empty}']").click()
    assert (step_of(browser), line.get_attribute("value")) == (4, empty)
    for place in (None, browser.one(".steps input"), browser.one(".moves a")):
        if place:
            driver.execute_script("arguments[0].focus()", place)
        browser.press("HOME", "ARROW_RIGHT")
        assert (step_of(browser), line.get_attribute("value")) == (1, empty)
        browser.press("END")
        assert step_of(browser) == 4
    browser.tap(".write")
    line.click()
    browser.press("END", ",c9", "HOME", "b2,", "END", "ARROW_LEFT", "ARROW_LEFT", "d")
    assert (step_of(browser), line.get_attribute("value")) == (4, f"b2,{empty},dc9")


def test_who_swipes_over_the_board_goes_a_move_back_or_on(browser, visited):
    driver = opened(browser, visited, "spora/102.html", width=PHONE)
    picture = browser.one(".picture svg").rect
    x, y = picture["x"] + picture["width"] / 2, picture["y"] + picture["height"] / 2
    last = step_of(browser)

    def swiped(right, down):
        for kind, points in (
            ("touchStart", [{"x": x - right / 2, "y": y - down / 2}]),
            ("touchMove", [{"x": x, "y": y}]),
            ("touchMove", [{"x": x + right / 2, "y": y + down / 2}]),
            ("touchEnd", []),
        ):
            driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        return step_of(browser)

    assert [swiped(120, 0), swiped(120, 10), swiped(-120, 0)] == [last - 1, last - 2, last - 1]
    assert {swiped(*way) for way in ((10, 0), (0, 60), (100, 90))} == {last - 1}
    assert driver.get_log("browser") == []


def test_a_link_shows_the_board_after_as_many_moves_as_it_says_also_after_none(browser, visited):
    last = len(visited.boards["spora", "102"].turns)
    for fragment, step in (("#0", 0), ("#2", 2), (f"#{last + 9}", last), ("#x", last), ("", last)):
        opened(browser, visited, "spora/102.html", fragment)
        assert step_of(browser) == step


@pytest.mark.parametrize(
    "fragment", ["", "#r17-xyz", "#r17-0123456789abcdef0123456789abcdef@evil.example", "#b17-" + 32 * "0"]
)
def test_without_a_token_nothing_can_be_sent(browser, visited, fragment):
    opened(browser, visited, "symple/101.html", fragment)
    assert not browser.one(".send").is_displayed()
    assert not browser.one(".tapping textarea").is_displayed()
    assert browser.text(".refused").startswith("This link is not complete") == bool(fragment)


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_without_scripts_the_board_and_its_moves_can_be_read(browser, visited, game):
    try:
        driver = opened(browser, visited, f"{game}/102.html", scripts=False)
        source = patience.until(lambda: driver.page_source)  # now and then it is empty at first
    finally:
        browser.allow_scripts(allowed=True)
    assert 'class="steps" hidden' in source
    for turn in visited.boards[game, "102"].turns:
        assert turn.text in source.replace("<wbr>", "")  # a line may be broken there


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_every_page_fits_the_screen_and_has_no_serious_fault_for_anybody(browser, visited, width):
    for path in sorted(page.relative_to(visited.folder) for page in visited.folder.rglob("*.html")):
        driver = opened(browser, visited, str(path), f"#{TOKEN}", width=width)
        assert driver.execute_script(WIDTH) <= width, path
        assert [fault for fault in browser.faults() if fault[0] in {"serious", "critical"}] == [], path
        browser.sees(width=width, is_dark=True)
        assert browser.faults("color-contrast") == [], path  # nothing but colours is different in the dark
        assert driver.get_log("browser") == []


def test_a_long_turn_wraps_and_the_list_of_moves_follows_the_slider(browser, tmp_path):
    club, rng = Club(tmp_path / "pbm.db"), Random(2)
    club.signed_up("alice", "bob")
    club.say("sprout challenge -board=limping-7 alice bob")
    while (board := stored_board(club.store, "sprout", "101")).mover and len(board.turns) < 24:
        longest = max((board.state.random(rng) for _ in range(30)), key=len)
        club.say(f"sprout move 101 {board.mover} {PASSWORDS[board.mover]} {longest}")
    assert max(len(turn.text) for turn in board.turns) > 60
    build(tmp_path / "site", Session(club.server), SiteSettings())
    club.store.close()
    driver = opened(browser, SimpleNamespace(folder=tmp_path / "site"), "sprout/101.html", width=PHONE)
    lines = driver.execute_script(TURN_LINES)
    assert max(map(len, lines)) > 1
    assert [line for turn in lines for line in turn[:-1] if not line.endswith(",")] == []
    widths, followed = [], []
    for _ in board.turns:
        widths.append(driver.execute_script(WIDTH))
        followed.append(driver.execute_script(FOLLOWED))
        browser.press("ARROW_LEFT")
    assert step_of(browser) == 0
    assert max(widths) <= PHONE
    assert followed == [[True, 0]] * len(board.turns)


def test_rules_can_be_read_on_a_telephone(browser, visited):
    for game in helptexts.GAMES:
        driver = opened(browser, visited, f"{game}/rules.html", width=PHONE)
        assert driver.execute_script(WIDTH) <= PHONE
        assert driver.execute_script(SMALLEST_LETTERS) >= 12


def test_lists_show_status_and_result_on_a_telephone_before_anything_is_scrolled(browser, visited):
    for page in ("symple/running.html", "symple/finished.html"):  # all others have nothing to scroll for
        driver = opened(browser, visited, page, width=PHONE)
        rows = driver.execute_script(RIGHT_OF_STATUS)
        assert rows
        assert max(rows) <= PHONE


def test_boards_of_every_kind_fit_the_screen_and_can_be_stepped_through_and_tapped(browser, tmp_path):
    club, rng = Club(tmp_path / "pbm.db"), Random(5)
    club.signed_up("alice", "bob")
    for line in BOARDS:
        game, _, options = line.partition(" ")
        [told] = club.say(f"{game} challenge {options} alice bob")
        for _ in range(3):
            board = stored_board(club.store, game, told.data["board"])
            turn = board.state.random(rng)
            club.say(f"{game} move {board.row.board} {board.mover} {PASSWORDS[board.mover]} {turn}")
    build(tmp_path / "site", Session(club.server), SiteSettings())
    pages = sorted(page.relative_to(tmp_path / "site") for page in (tmp_path / "site").glob("*/1*.html"))
    assert len(pages) == len(BOARDS)
    for page in pages:
        driver = opened(browser, SimpleNamespace(folder=tmp_path / "site"), str(page), f"#{TOKEN}", width=PHONE)
        assert driver.execute_script(WIDTH) <= PHONE, page
        browser.press("ARROW_LEFT")
        assert step_of(browser) == 2
        found, names = driver.execute_script(TAPPED), driver.execute_script(NAMES)
        assert sorted(re.sub("^[-x](?=[a-z])", "", text) for text in found) == sorted(names), page
        assert step_of(browser) == 3
        assert driver.get_log("browser") == []
    club.store.close()


@pytest.mark.parametrize("path", ["symple/finished.html", "symple/pool-cup.html"])
def test_no_word_in_a_table_is_broken_on_a_telephone(browser, visited, path):
    opened(browser, visited, path, width=PHONE)
    assert LONGEST_NAME in browser.text("main")
    assert browser.driver.execute_script(BROKEN_WORDS) == []


def test_who_has_won_is_told_on_the_whole_width_of_a_telephone(browser, visited):
    driver = opened(browser, visited, "symple/102.html", width=PHONE)
    headline, clock = (driver.find_element("css selector", name).rect for name in (".say", ".head .clock"))
    assert headline["width"] > PHONE * 0.85
    assert clock["y"] >= headline["y"] + headline["height"]


def test_links_in_the_results_of_a_player_lie_24_pixels_apart_for_fingers(browser, visited):
    opened(browser, visited, "users/alice.html", width=PHONE)
    assert browser.driver.execute_script(CLOSE_LINKS) == []
