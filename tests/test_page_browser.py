"""The page of a board in a real browser, against a real server: from a mail's link to a played move, and all else."""

import re
import smtplib
import socket
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

import games
from games.tapping import next_taps

from helpers import helptexts
from helpers.browsers import NEEDS_BROWSER, PHONE, WIDTH, Screen
from helpers.club import PASSWORDS
from helpers.examples import IS_RANDOM, played
from helpers.mail import message
from helpers.patience import until
from helpers.shell import Shell
from helpers.tapping import choices, touches
from helpers.web import serving

pytestmark = NEEDS_BROWSER
NO_PREVIEW_COMES = "return !document.querySelector('.tapping[aria-busy]')"
KINDS = {"spiro": "-small", "symple": "-size=9", "spora": "-size=7", "papagra": "-size=4", "sprout": "-board=limping-5"}


MIDDLES = """
return arguments[0].map(cell => {
    const box = document.querySelector(`.cells [data-cell='${cell}']`).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
});
"""


class Visitor(Screen):
    """Somebody with a browser and the mails that come to them."""

    def __init__(self, served, url, browser):
        self.served = served
        self.url = url
        self.browser = browser
        self.driver = browser.driver

    def begin(self, game, first="alice", second="bob", options=""):
        """Start a board. Returns its number."""
        return self.served.shell.json(game, "challenge", *(options or KINDS[game]).split(), first, second)["board"]

    def link(self, game, board, name="alice"):
        """The link to the page of a board, as a mail to a player has it."""
        folder = self.served.shell.folder / "mail" / f"{name}@players.example" / "new"

        def found():
            for path in folder.glob("*"):
                mail = message_from_bytes(path.read_bytes(), policy=default)
                html = mail.get_body(("html",))
                if html and (link := re.search(f'"({self.url}/{game}/{board}.html#[^"]+)"', html.get_content())):
                    return link[1]
            return None

        return until(found)

    def open(self, url, *, width=PHONE, is_dark=False, until_shown=".seat.own"):
        self.browser.sees(width=width, is_dark=is_dark)
        self.driver.get("about:blank")
        until(lambda: self.served.ask("GET", "/" + url.split("/", 3)[3].partition("#")[0])[0] == 200)
        self.driver.get(url)
        until(lambda: self.all(until_shown))

    def is_told_that_it_is_legal(self):
        """Whether the page says so of the turn that is put together: Send is filled then."""
        is_waiting = not self.driver.execute_script(NO_PREVIEW_COMES)
        return not is_waiting and "wait" not in self.one(".send").get_attribute("class").split()

    def write(self, text):
        """Write a turn in the place of the one in the field, which is under a button."""
        if not self.one("[name=line]").is_displayed():
            self.tap(".write")
        self.one("[name=line]").clear()
        self.one("[name=line]").send_keys(text)

    def wait_for_text(self, selector, text):
        """Wait until an element says that."""
        until(lambda: self.text(selector) == text)

    def wait_for_turn(self, text):
        """Wait until the field of the turn has that text."""
        until(lambda: self.value("[name=line]") == text)

    def wait_for_page(self, path):
        """Wait until the page with that path is open."""
        until(lambda: path in self.driver.current_url)

    def open_menu(self):
        """Show what is seldom wanted."""
        until(lambda: self.driver.execute_script(NO_PREVIEW_COMES))
        self.tap(".menu summary")
        until(lambda: self.one(".menu").get_attribute("open"))

    def send(self):
        until(lambda: self.driver.execute_script(NO_PREVIEW_COMES))  # a preview can be higher, and moves what is below
        self.tap(".send")

    def touch(self, touch):
        """Tap a cell, a button, or the sign of a number, and wait until the turn is what it is to be."""
        if touch.cell:
            selector = f".cells [data-cell='{touch.cell}']"
            self.tap(selector)
            if self.one(".whole").is_displayed():  # the board is larger now
                self.tap(selector)
        elif touch.button:
            self.tap(f".choices [aria-label='{touch.button}']")
        else:
            less_or_more = {"-": "less", "+": "more"}[touch.sign]
            self.tap(f".choices [aria-label='{touch.stepper}: one {less_or_more}']")
        until(lambda: self.value("[name=line]") == touch.text)
        until(lambda: self.driver.execute_script(NO_PREVIEW_COMES))

    def play_by_taps(self, game, board, rng):
        """Put a turn at random together by taps alone and send it; it has to be the turn that is played."""
        state = present(self, game, board)
        turn = state.parse(state.random(rng))
        number = len(self.moves(game, board))
        for touch in touches(game, state, turn):
            self.touch(touch)
        self.send()
        until(lambda: self.moves(game, board)[number : number + 1] == [turn])  # the other side may have to skip then
        until(lambda: self.value("[name=line]") == "")

    def moves(self, game, board):
        """What was played on a board."""
        return self.served.shell.json(game, "show", board)["position"]["history"]


@contextmanager
def serving_pages(shell, url):
    """Run a server, with robots, whose pages stand at a URL of this machine."""
    port = urlsplit(url).port
    options = [f"--web=127.0.0.1:{port}", f"--site={shell.folder}/site", f"--url={url}/", "--robots=1"]
    with serving(shell, *options, PBM_SITE=url, PBM_WEB=url) as served:
        yield served
    assert "Traceback" not in (shell.folder / "log").read_text()


def free_url():
    """A URL of this machine at a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def club_with_site(folder):
    """A database with alice and bob, and the folder of its site."""
    shell = Shell(folder)
    shell.sign_up("alice", "bob", has_mail=True)
    (shell.folder / "site").mkdir()
    return shell


@pytest.fixture(scope="module")
def visitor(browser, tmp_path_factory):
    url = free_url()
    with serving_pages(club_with_site(tmp_path_factory.mktemp("served")), url) as served:
        yield Visitor(served, url, browser)


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_from_the_link_of_a_mail_a_move_is_played_in_two_taps_on_a_telephone(visitor, game):
    board = visitor.begin(game)
    visitor.open(visitor.link(game, board))
    if game == "spiro":
        until(lambda: visitor.one(".alike").is_displayed())
        visitor.tap(".alike summary")
        move = visitor.text(".alike li span")
        visitor.tap(".alike li button")
        until(visitor.is_told_that_it_is_legal)
    else:
        move = visitor.one(".cells [data-cell]").get_attribute("data-cell")
        visitor.tap(f".cells [data-cell='{move}']")
        until(visitor.is_told_that_it_is_legal)
    visitor.send()
    until(lambda: visitor.moves(game, board))
    assert visitor.moves(game, board)[0].lstrip("+") == move
    until(lambda: visitor.text(".told").startswith("Turn 1 of 1 by alice"))
    assert visitor.value("[name=line]") == ""
    assert visitor.driver.execute_script(WIDTH) <= PHONE
    assert visitor.driver.get_log("browser") == []


def test_a_refusal_stands_above_the_field_until_something_else_is_done_and_what_was_typed_is_kept(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board))
    visitor.write("z9")
    visitor.one("[name=comment]").send_keys("Hello bob")
    visitor.send()
    said = "There is no point z9 on this board; columns go from a to i, rows from 1 to 9."
    until(lambda: visitor.text(".refused") == said)
    assert visitor.value("[name=line]") == "z9"
    assert visitor.value("[name=comment]") == "Hello bob"
    assert visitor.one(".refused").location["y"] < visitor.one("[name=line]").location["y"]
    visitor.served.shell.run("symple", "chat", board, "bob", PASSWORDS["bob"], "--comment=Take your time")
    until(lambda: "Take your time" in visitor.text(".thread"))
    assert visitor.text(".refused") == said
    visitor.write("c9")
    visitor.send()
    until(lambda: visitor.text(".told").startswith("Turn 1 of 1"))
    assert visitor.text(".refused") == ""
    assert "Hello bob" in visitor.text(".thread")
    assert [each for each in visitor.driver.get_log("browser") if "422" not in each["message"]] == []


def test_while_one_taps_the_page_says_what_follows_and_refuses_what_fits_no_turn_in_the_words_of_the_rules(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board))
    visitor.tap(".cells [data-cell='a1']")
    until(visitor.is_told_that_it_is_legal)
    assert visitor.text(".hint") == "a1 founds a group."
    assert visitor.all(".over .ghost")
    visitor.tap(".cells [data-cell='c1']")
    until(lambda: visitor.text(".refused") == "a1 and c1 would found two groups; a turn founds only one.")
    assert visitor.value("[name=line]") == "a1"
    assert visitor.one("[data-cell='a1'][aria-pressed]").get_attribute("aria-pressed") == "true"
    visitor.tap(".undo")
    until(lambda: not visitor.all(".ghost"))
    visitor.tap(".cells [data-cell='c1']")
    until(visitor.is_told_that_it_is_legal)
    visitor.tap(".chips button")
    until(lambda: not visitor.all(".ghost"))
    assert visitor.moves("symple", board) == []


def test_a_click_counts_though_a_preview_comes_between_press_and_release(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board), width=1200)
    cells = [cell for column in "bdf" for cell in (f"{column}2", f"{column}2", f"{column}8", f"{column}8")]
    points = visitor.driver.execute_script(MIDDLES, cells)
    for number, (x, y) in enumerate(points):  # while the preview of the click before is still to come
        event = {"x": x, "y": y, "button": "left", "clickCount": 1}
        visitor.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event | {"type": "mousePressed"})
        until(lambda: visitor.driver.execute_script(NO_PREVIEW_COMES))
        visitor.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event | {"type": "mouseReleased"})
        expected = "" if number % 2 else cells[number]  # the second click takes the stone back
        visitor.wait_for_turn(expected)


def test_the_board_is_new_at_once_and_the_answer_of_a_robot_is_there_without_a_reload(visitor):
    board = visitor.begin("spora", second="robot1")
    visitor.open(visitor.link("spora", board))
    visitor.tap(".cells [data-cell='c3']")
    visitor.send()
    until(lambda: visitor.text(".told").startswith("Turn 2 of 2 by robot1"))
    assert visitor.text(".say") == "Your turn"
    assert visitor.one("[data-cell='c3'][aria-pressed]").get_attribute("textContent") == "c3, black"
    names = [button.get_attribute("textContent") for button in visitor.all("[data-cell][aria-pressed]")]
    empty = next(name.partition(",")[0] for name in names if name.endswith("empty"))
    visitor.tap(f".cells [data-cell='{empty}']")
    until(visitor.is_told_that_it_is_legal)


def test_a_page_that_was_left_open_plays_no_move_in_a_position_that_it_does_not_show(visitor):
    board = visitor.begin("symple")
    link = visitor.link("symple", board)
    visitor.open(link.partition("#")[0], until_shown=".picture")
    visitor.driver.get(link)  # only what stands behind the # has changed
    until(lambda: visitor.all(".seat.own"))
    visitor.driver.execute_script(HEAR_NOTHING)
    for name, move in (("alice", "e5"), ("bob", "g7")):
        visitor.served.shell.run("symple", "move", board, name, PASSWORDS[name], move)
    visitor.driver.execute_script("line.value = 'a1'; form.requestSubmit()")
    until(lambda: visitor.text(".refused") == "That is meant as move 1, but it would be move 3.")
    until(lambda: visitor.text(".told").startswith("Turn 2 of 2 by bob"))
    visitor.open_menu()
    visitor.tap("[value=undo]")
    until(lambda: visitor.text("[data-part=offers]") == "You propose to take back bob's move g7.")
    visitor.served.shell.run("symple", "move", board, "bob", PASSWORDS["bob"], "accept")
    until(lambda: visitor.text(".told").startswith("Turn 1 of 1 by alice"))


LOSE = """
const ask = fetch;
window.fetch = async (url, options) => {
    const response = await ask(url, options);
    if (!/^z9/.test(options.body.get("text"))) return response;
    window.fetch = ask;
    throw "lost";
};
"""
"""Lets the response to the next turn be lost."""
HEAR_NOTHING = """
const ask = fetch;
window.fetch = async (url, options) => {
    if (!options.body.get("text")) throw "lost";
    window.fetch = ask;
    return ask(url, options);
};
"""
"""Lets the page hear nothing, until it posts something."""


def test_what_is_corrected_after_a_response_was_lost_is_not_taken_for_what_was_sent_before(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board))
    visitor.driver.execute_script(LOSE)
    visitor.write("z9")
    visitor.send()
    until(lambda: visitor.text(".refused") == "The server cannot be reached; please try again.")
    visitor.write("c3")
    visitor.send()
    until(lambda: visitor.moves("symple", board) == ["c3"])


HURRY = """
const later = setTimeout, ask = fetch;
window.waited = [];
window.setTimeout = (act, time) => {
    const isWait = time > 1000 && time !== SILENCE;
    if (isWait) waited.push(time);
    return later(act, isWait ? 300 : time);
};
window.fetch = (url, options) => url.endsWith("events") ? new Promise(() => {}) : ask(url, options);
"""
"""Lets no stream come through and a page wait for less than a second, and notes how long it would have waited."""


def test_where_no_stream_comes_through_the_page_asks_ever_more_seldom_but_as_long_as_it_is_open(visitor):
    board = visitor.begin("symple")
    hurry = visitor.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HURRY})
    try:
        visitor.open(visitor.link("symple", board))
        until(lambda: sum(visitor.driver.execute_script("return waited")) > 600_000)
        waited = visitor.driver.execute_script("return waited")
        visitor.served.shell.run("symple", "move", board, "alice", PASSWORDS["alice"], "e5")
        until(lambda: visitor.text(".told").startswith("Turn 1 of 1 by alice"))
    finally:
        visitor.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", hurry)
    assert waited == sorted(waited)
    assert (waited[0] < 2000, waited[-1]) == (True, 60_000)


HOUR = """
const later = setTimeout, ask = fetch;
window.waited = 0, window.streams = 0, window.silence = 0;
window.setTimeout = (act, time) => {
    if (time === SILENCE) return later(act, silence || time);
    if (time <= 1000) return later(act, time);
    waited += time;
    return later(act, 50);
};
window.fetch = (url, options) => {
    streams += url.endsWith("events");
    return ask(url, options);
};
"""
"""Lets an hour pass in seconds: the page waits for less time, and notes for how long it would have waited."""


@pytest.mark.long
def test_a_page_open_for_an_hour_hears_of_moves_also_after_a_restart_and_a_stream_that_fell_silent(browser, tmp_path):
    shell = club_with_site(tmp_path)
    url = free_url()

    def value(name):
        return browser.driver.execute_script(f"return {name}")

    def hears_of(name, move, number):
        shell.run("symple", "move", board, name, PASSWORDS[name], move)
        until(lambda: visitor.text(".told").startswith(f"Turn {number} of {number} by {name}"))

    hour = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HOUR})
    try:
        with serving_pages(shell, url) as served:
            visitor = Visitor(served, url, browser)
            board = visitor.begin("symple")
            visitor.open(visitor.link("symple", board))
            until(lambda: value("isStreaming") and value("waited") > 3_600_000)
            assert value("streams") == 1  # that of an hour ago
            hears_of("alice", "e5", 1)
        until(lambda: not value("isStreaming") and value("streams") > 3)  # it tries again and again
        with serving_pages(shell, url):
            until(lambda: value("isStreaming"))
            hears_of("bob", "g7", 2)
            streams = value("streams")
            browser.driver.execute_script("silence = 1000")
            hears_of("alice", "c3", 3)  # from here on it waits for less time than the server between two comments
            until(lambda: value("streams") > streams + 1)
            hears_of("bob", "c7", 4)
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", hour)
        browser.driver.get("about:blank")
        browser.driver.get_log("browser")  # which says that a server was away, and is empty then for the next test


def test_the_page_shows_what_its_reader_has_told_the_server_and_nobody_else(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board, "bob"))
    visitor.write("plan if any then c3")
    visitor.send()
    until(lambda: "if any then c3" in visitor.text("[data-part=mine]"))
    assert "Your next move is queued: c3" in visitor.text("[data-part=mine]")
    visitor.open_menu()
    visitor.one(".note-text").send_keys("Watch the corner")
    visitor.tap("[value=note]")
    until(lambda: "Watch the corner" in visitor.text("[data-part=mine]"))
    visitor.open(visitor.link("symple", board))
    assert visitor.text("[data-part=mine]") == ""
    visitor.tap(".cells [data-cell='a1']")
    visitor.send()
    until(lambda: visitor.moves("symple", board) == ["a1", "c3"])
    visitor.open(visitor.link("symple", board, "bob"))
    until(lambda: "Watch the corner" in visitor.text("[data-part=mine]"))
    visitor.tap("[value='note clear']")
    until(lambda: visitor.text("[data-part=mine]") == "")


def test_the_arrows_move_within_a_comment_also_beside_a_move_that_was_tapped(visitor):
    board = visitor.begin("symple")
    visitor.served.shell.run("symple", "move", board, "alice", PASSWORDS["alice"], "a1")
    visitor.open(visitor.link("symple", board, "bob"))
    visitor.tap(".cells [data-cell='c3']")
    visitor.tap(".write")
    visitor.one("[name=comment]").click()
    visitor.press("Hllo", *["ARROW_LEFT"] * 3, "e")
    assert visitor.value("[name=comment]") == "Hello"
    assert visitor.text(".told").startswith("Turn 1 of 1")


def test_all_else_stands_behind_one_menu_and_resigning_asks_once_more(visitor):
    board = visitor.begin("symple")
    visitor.served.shell.run("symple", "move", board, "alice", PASSWORDS["alice"], "a1")
    visitor.served.shell.run("symple", "move", board, "bob", PASSWORDS["bob"], "c3")
    visitor.open(visitor.link("symple", board))
    for value in ("note", "undo", "propose", "resign"):
        assert not visitor.one(f"[value={value}]").is_displayed()
    visitor.open_menu()
    assert visitor.driver.execute_script(WIDTH) <= PHONE
    visitor.tap("[value=propose]")
    until(lambda: visitor.text("[data-part=offers]") == "You propose a draw.")
    visitor.open(visitor.link("symple", board, "bob"))
    until(lambda: visitor.all("[value=reject]"))
    visitor.tap("[value=reject]")
    until(lambda: not visitor.all("[value=reject]"))
    assert visitor.driver.switch_to.active_element.text == "alice is to move"  # the button has gone
    visitor.open(visitor.link("symple", board))
    visitor.open_menu()
    visitor.tap("[value=undo]")
    until(lambda: visitor.text("[data-part=offers]") == "You propose to take back bob's move c3.")
    visitor.tap("[value=resign]")
    until(lambda: visitor.text("[value=resign]") == "Really resign?")
    visitor.tap("[value=resign]")
    until(lambda: visitor.all("[value=rematch]"))
    shown = visitor.served.shell.json("symple", "show", board)
    assert (shown["over"], shown["winner"]) == (True, "bob")
    assert not visitor.one("[name=line]").is_displayed()
    assert not visitor.one(".send").is_displayed()


def test_what_is_said_appears_by_itself_on_the_page_of_the_other_player_and_an_empty_chat_says_so(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board))
    visitor.tap("[value=chat]")
    until(lambda: visitor.text(".chat .no") == "Write a message first.")
    visitor.one("#chat").send_keys("Hello bob")
    visitor.tap("[value=chat]")
    until(lambda: [words.text for words in visitor.all(".thread p")] == ["Hello bob"])
    assert (visitor.value("#chat"), visitor.text(".chat .no")) == ("", "")
    visitor.served.shell.run("symple", "chat", board, "bob", PASSWORDS["bob"], "--comment=Hello alice")
    until(lambda: [words.text for words in visitor.all(".thread p")] == ["Hello bob", "Hello alice"])


class Keyboard:
    """Somebody who has no mouse."""

    def __init__(self, visitor):
        self.visitor = visitor

    @property
    def focused(self):
        return self.visitor.driver.switch_to.active_element

    @property
    def cell(self):
        return self.focused.get_attribute("data-cell")

    def reach(self, wanted):
        """Go to an element with the tabulator."""
        for _ in range(60):
            if wanted(self.focused):
                return
            self.visitor.press("TAB")
        pytest.fail("It is not reached with the tabulator.")

    def tap(self, cell):
        """Choose a cell with the arrows; the picture shows where one is."""
        self.reach(lambda element: element.get_attribute("data-cell"))
        while (here := self.cell) != cell:
            across, along = ("LEFT", "RIGHT")[here[0] < cell[0]], ("DOWN", "UP")[here[1] < cell[1]]
            self.visitor.press(f"ARROW_{across if here[0] != cell[0] else along}")
            assert self.visitor.one("path.focused").get_attribute("data-cell") == self.cell != here
        self.visitor.press("ENTER")


def test_a_whole_game_is_played_by_keyboard_alone(visitor):
    board = visitor.begin("symple", second="robot1", options="-size=5")
    visitor.open(visitor.link("symple", board), width=1200)
    keyboard = Keyboard(visitor)

    def is_done():
        return visitor.all("[value=rematch]") or visitor.text(".say") == "Your turn"

    while not visitor.all("[value=rematch]"):
        state = played(games.load("symple").new(size=5), *visitor.moves("symple", board))
        cells = min((state.random(Random(seed)) for seed in range(20)), key=len).split(",")
        for cell in cells:
            keyboard.tap(cell.lstrip("+"))
        until(visitor.is_told_that_it_is_legal)
        keyboard.reach(lambda element: element.text == "Send")
        visitor.press("ENTER")
        until(lambda: visitor.value("[name=line]") == "")
        assert keyboard.focused.text in {"Send", "Save plan"} or visitor.all("[value=rematch]")
        until(is_done)
    told = visitor.served.shell.json("symple", "show", board)
    assert told["over"]
    assert told["moves"] > 10


class Told(NamedTuple):
    """What a screen reader is given of a part of a page."""

    role: str
    name: str
    text: str
    live: str
    """``polite`` or ``assertive`` if it is read whenever it changes."""
    element: int


def told(visitor):
    """The page as a screen reader is given it, part by part, in its order."""
    nodes = visitor.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    by_number = {node["nodeId"]: node for node in nodes}

    def below(node):
        for number in node["childIds"]:
            yield by_number[number]
            yield from below(by_number[number])

    def text(node):
        return "".join(one["name"]["value"] for one in below(node) if one.get("role", {}).get("value") == "StaticText")

    def live(node):
        return "".join(one["value"]["value"] for one in node.get("properties", ()) if one["name"] == "live")

    return [
        Told(node["role"]["value"], node["name"]["value"], text(node), live(node), node["backendDOMNodeId"])
        for node in below(nodes[0])
        if not node["ignored"] and node["role"]["value"] not in {"StaticText", "InlineTextBox"}
    ]


SLIDER = ("slider", "Turn")
BELOW_HEADING = [
    ("table", "Board, cell by cell"),
    ("textbox", "Your turn, and your plan"),
    ("textbox", "Comment, with the turn"),
    ("button", "Clear"),
    ("button", "Undo"),
    ("button", "Write"),
    ("button", "Send"),
    ("textbox", "Write to alice and bob"),
    ("button", "Send message"),
    ("button", "Add a line"),
    SLIDER,
    ("DisclosureTriangle", "Notes, draw, take back, resign"),
    ("button", "Propose a draw"),
    ("button", "Take back my last turn"),
    ("button", "Resign"),
    ("textbox", "Note, for you alone"),
    ("button", "Keep the note"),
]
"""What the page of a game of Spora reads out below its heading, by role and name."""


def test_a_screen_reader_is_given_a_table_of_named_cells_and_each_move_as_it_is_made(visitor):
    board = visitor.begin("spora")
    visitor.open(visitor.link("spora", board))
    visitor.open_menu()
    visitor.tap(".write")
    parts = told(visitor)
    named = [(part.role, part.name) for part in parts]
    in_order = [("heading", f"Spora {board} · size 7"), *BELOW_HEADING]
    assert [part for part in named if part in in_order] == [part for part in in_order if part != SLIDER]  # no turn yet
    assert [part for part in named if part[0] in {"button", "textbox", "DisclosureTriangle"} and not part[1]] == []
    assert [part.role for part in parts].count("row") == 7
    assert [part.name for part in parts if part.role == "cell"] == [
        f"{column}{row}, empty" for row in range(7, 0, -1) for column in "abcdefg"
    ]
    [status] = [part for part in parts if part.live and part.text == "Your turn"]
    assert [part.role for part in parts].index("heading") < parts.index(status) < named.index(in_order[1])

    def announced(*texts):
        """Whether parts that are read when they change, and were there before, have these texts."""
        known = {part.element for part in parts}
        return {*texts} <= {part.text for part in told(visitor) if part.live and part.element in known}

    for _ in range(2):
        visitor.tap(".cells [data-cell='c3']")
    until(lambda: announced("Tap the point again to drop more."))
    visitor.send()
    until(lambda: announced("Turn 1 of 1 by alice: c3:2", "bob is to move"))
    assert ("cell", "c3, black, height 2") in [(part.role, part.name) for part in told(visitor)]
    visitor.served.shell.run("spora", "move", board, "bob", PASSWORDS["bob"], "e5")
    until(lambda: announced("Turn 2 of 2 by bob: e5", "Your turn"))
    assert [(part.role, part.name) for part in told(visitor)].count(SLIDER) == 1
    visitor.write("z9")
    visitor.send()
    until(lambda: announced("There is no point 'z9'; columns go from a to g, rows from 1 to 7."))
    visitor.tap("[value=resign]")
    until(lambda: announced("Really resign?"))
    assert {part.role for part in told(visitor) if part.live == "assertive"} == {"alert"}


WITHOUT_FIRST_PAGE = """
const really = fetch;
let responses = 0;
fetch = async (...request) => {
    const response = await really(...request);
    return responses++ ? response : Response.json({error: "Later", status: 503}, {status: 503});
};
"""
"""Lets the first response be that of a server too busy to make it in time."""


def test_a_page_that_was_not_made_in_time_is_asked_for_again(visitor):
    board = visitor.begin("symple")
    added = visitor.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITHOUT_FIRST_PAGE})
    try:
        visitor.open(visitor.link("symple", board))
        assert visitor.driver.execute_script("return responses")
    finally:
        visitor.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def begin_as_guest(visitor, game):
    """Start a board by the button of a game on the home page. Returns when it was tapped."""
    button = f".stamps .guest:has([value={game}]) button"
    visitor.open(f"{visitor.url}/index.html", until_shown=button)
    tapped = time.monotonic()
    visitor.tap(button)
    until(lambda: visitor.all(".seat.own"))
    return tapped


FIRST_SCREEN = """
const board = document.querySelector('.frame'), tray = document.querySelector('.turn');
return [board.getBoundingClientRect().bottom, tray.getBoundingClientRect().top, tray.getBoundingClientRect().bottom];
"""


ARE_LESSONS_OPEN = "return document.querySelector('[data-part=lessons] details').open"
WITHOUT_STORAGE = "Object.defineProperty(window, 'sessionStorage', { get() { throw new Error('nothing is kept'); } });"


def test_a_guest_is_told_the_rules_below_the_board_and_the_tray_until_they_have_moved(visitor):
    begin_as_guest(visitor, "symple")
    end_of_board, start_of_tray, end_of_tray = visitor.driver.execute_script(FIRST_SCREEN)
    assert end_of_board <= start_of_tray
    assert end_of_tray <= 740
    assert visitor.text(".lessons li").startswith("Found a group:")
    assert visitor.faults() == []
    assert visitor.driver.execute_script(WIDTH) <= PHONE

    visitor.tap(".top .btn")
    until(lambda: visitor.driver.execute_script("return document.querySelector('.lessons img').naturalWidth > 0"))
    assert visitor.all(".seat.own")  # the page is not opened anew, and still that of the guest
    visitor.tap(".cells [data-cell=e5]")
    visitor.send()
    until(lambda: not visitor.driver.execute_script(ARE_LESSONS_OPEN))
    visitor.tap(".top .btn")
    until(lambda: visitor.driver.execute_script(ARE_LESSONS_OPEN))


def test_the_button_for_the_rules_opens_the_short_ones_and_leaves_the_token_where_a_browser_keeps_nothing(visitor):
    link = visitor.link("symple", visitor.begin("symple"))
    added = visitor.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITHOUT_STORAGE})
    try:
        visitor.open(link)
        assert not visitor.driver.execute_script(ARE_LESSONS_OPEN)
        visitor.tap(".top .btn")
        assert visitor.driver.execute_script(ARE_LESSONS_OPEN)
        assert visitor.driver.switch_to.active_element.text == "How to play Symple"
        assert visitor.driver.current_url == link
        visitor.driver.refresh()
        until(lambda: visitor.all(".seat.own"))
    finally:
        visitor.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_guest_plays_at_once_to_the_end_and_keeps_the_game_with_an_account(visitor):
    begin = begin_as_guest(visitor, "papagra")
    cell = visitor.one(".cells [data-cell]").get_attribute("data-cell")
    visitor.tap(f".cells [data-cell='{cell}']")
    visitor.send()
    until(lambda: visitor.text(".told").startswith("Turn "))
    assert time.monotonic() - begin < 5
    until(lambda: visitor.text(".told").startswith("Turn 2 of 2 by robot1"))
    assert "signup USERID PASSWORD" in visitor.text("[data-part=mine]")
    visitor.open_menu()
    visitor.tap("[value=resign]")
    until(lambda: visitor.text("[value=resign]") == "Really resign?")
    visitor.tap("[value=resign]")
    until(lambda: "That was your first game." in visitor.text("[data-part=mine]"))
    assert visitor.driver.execute_script(WIDTH) <= PHONE
    link = urlsplit(visitor.one("[data-part=mine] a").get_attribute("href"))
    game, board = re.search(r"/(\w+)/(\d+)\.html", visitor.driver.current_url).groups()
    with smtplib.SMTP("127.0.0.1", visitor.served.mail_port) as smtp:
        text = message("signup dora dora-secret", sender="dora@players.example", recipient=link.path)
        smtp.sendmail("dora@players.example", [link.path], text)
    told = visitor.served.shell.json(game, "show", board)
    assert told["over"]
    assert "dora" in told["players"].values()


def test_without_scripts_the_page_is_a_form(visitor):
    board = visitor.begin("symple")
    link = visitor.link("symple", board)
    visitor.allow_scripts(allowed=False)
    try:
        until(lambda: visitor.served.ask("GET", urlsplit(link).path)[0] == 200)  # the page is written by then
        visitor.driver.get(link)
        until(lambda: visitor.all("noscript [name=token]"))
        assert visitor.one(".top .btn").get_attribute("href") == f"{visitor.url}/symple/rules.html"
        visitor.one("noscript [name=token]").send_keys(link.partition("#")[2])
        visitor.one("noscript [name=text]").send_keys("c3")
        visitor.one("noscript button").click()
        until(lambda: "1.    c3" in visitor.driver.page_source)
    finally:
        visitor.allow_scripts(allowed=True)
    assert visitor.moves("symple", board) == ["c3"]


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_axe_finds_nothing_wrong_with_any_page(visitor, width, is_dark):
    paths = [visitor.link(game, visitor.begin(game)) for game in helptexts.GAMES]
    for path in [*paths, *(f"{visitor.url}/{name}" for name in ("index.html", "symple/index.html", "answer"))]:
        visitor.open(path, width=width, is_dark=is_dark, until_shown=".seat.own" if path in paths else "form")
        if path in paths:
            visitor.open_menu()
            visitor.tap(".write")
            visitor.tap(".cells [data-cell]")
            if "spiro" not in path:  # where a move has two cells
                until(lambda: visitor.text(".hint"))
        assert visitor.driver.execute_script(WIDTH) <= width
        assert visitor.faults() == [], path


def test_the_token_leaves_the_address_and_stays_in_the_tab_and_one_of_another_board_is_named_as_such(visitor):
    board, another = visitor.begin("symple"), visitor.begin("spora")
    link = visitor.link("symple", board)
    visitor.open(link)
    assert visitor.driver.current_url == link.partition("#")[0]
    assert link.partition("#")[2] not in visitor.driver.page_source
    visitor.driver.refresh()
    until(lambda: visitor.all(".seat.own"))
    visitor.open(f"{visitor.url}/spora/{another}.html#{link.partition('#')[2]}", until_shown=".refused")
    until(lambda: f"This link is for Symple board {board}" in visitor.text(".refused"))
    assert not visitor.one(".send").is_displayed()


def test_after_a_rematch_each_page_of_the_old_board_leads_to_the_new_one_and_offers_nothing_that_is_over(visitor):
    board = visitor.begin("symple")
    link = visitor.link("symple", board, "bob")
    visitor.open(visitor.link("symple", board))
    assert visitor.one(".plan").is_displayed()
    for name, move in (("alice", "a1"), ("bob", "c3"), ("alice", "e5")):
        visitor.served.shell.run("symple", "move", board, name, PASSWORDS[name], move)
    visitor.served.shell.run("symple", "resign", board, "bob", PASSWORDS["bob"])
    until(lambda: visitor.text(".say") == "You won: bob resigned")
    assert "Won by" not in visitor.text(".turn")
    assert not visitor.one(".plan").is_displayed()
    assert visitor.text(".menu summary") == "Notes"
    visitor.tap("[value=rematch]")
    until(lambda: visitor.all("[data-part=offers] a"))
    rematch = visitor.text("[data-part=offers] a").removeprefix("Rematch: Symple ")
    players = visitor.served.shell.json("symple", "show", rematch)["players"]
    assert players == {"white": "bob", "black": "alice"}  # the other way round
    assert not visitor.all("[value=rematch]")
    assert not visitor.one(".said").is_displayed()
    written = urlsplit(link).path
    until(lambda: 'class="plan"' not in visitor.served.ask("GET", written)[2])  # the page knows that the game is over
    visitor.open(link)
    assert visitor.one("[data-part=offers] a").get_attribute("href") == f"{visitor.url}/symple/{rematch}.html"


@pytest.mark.parametrize("width", [PHONE, 1440])
def test_nothing_that_is_seen_before_the_script_runs_is_moved_by_it(visitor, width):
    link = visitor.link("symple", visitor.begin("symple"))
    places = []
    for allowed, seat in ((False, ".seat"), (True, ".seat.own")):
        visitor.allow_scripts(allowed=allowed)
        visitor.open(link, width=width, until_shown=seat)
        places.append([visitor.one(part).rect["y"] for part in (".say", ".seats .seat", ".picture svg")])
    before, after = places
    assert before == pytest.approx(after, abs=2)
    is_seen = "return getComputedStyle(document.querySelector('.desk')).visibility"
    assert visitor.driver.execute_script(is_seen) == "visible"
    visitor.driver.execute_script("document.body.classList.remove('ready')")  # as before the script had run
    assert visitor.driver.execute_script(is_seen) == "hidden"
    until(lambda: visitor.driver.execute_script(is_seen) == "visible")  # whatever becomes of the script


def test_where_colours_are_forced_the_present_turn_and_the_side_to_move_have_a_frame(visitor):
    board = visitor.begin("symple")
    visitor.served.shell.run("symple", "move", board, "alice", PASSWORDS["alice"], "a1")
    visitor.open(visitor.link("symple", board, "bob"))
    forced = {"features": [{"name": "forced-colors", "value": "active"}]}
    visitor.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", forced)
    framed = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    assert visitor.driver.execute_script(framed, ".moves [aria-current]", "outlineStyle") == "solid"
    assert visitor.driver.execute_script(framed, ".seat.on", "borderTopWidth") == "3px"


def test_the_first_tab_leads_to_the_board(visitor):
    visitor.open(visitor.link("symple", visitor.begin("symple")))
    visitor.press("TAB")
    assert visitor.driver.switch_to.active_element.text == "Skip to the board"
    visitor.press("ENTER", "TAB", "TAB")  # first to the other player
    assert visitor.driver.switch_to.active_element.get_attribute("data-cell")


TURNS = 40 if IS_RANDOM else 10
"""How many turns are tapped in each game."""


def present(visitor, game, board):
    """The position of a board, with its dice."""
    view = visitor.served.shell.json(game, "show", board)["position"]
    state = games.load(game).new(**view["options"])
    for move in view["history"]:
        state = state.play(move)
    return state.roll(tuple(view["dice"])) if games.needs_dice(state) else state


@pytest.mark.long
@pytest.mark.parametrize("game", helptexts.GAMES)
def test_every_turn_of_a_game_is_put_together_by_taps_alone_on_a_telephone(visitor, game):
    rng = Random(game)
    board = ""
    for _ in range(TURNS):
        if not board or present(visitor, game, board).result():
            board = visitor.begin(game, second="alice")
            visitor.open(visitor.link(game, board))
        visitor.play_by_taps(game, board, rng)
    assert visitor.driver.get_log("browser") == []


def cells_of_hidden_piece(state):
    """The cell of a piece, and a cell to which it can go where another movable piece stands; None if there is none."""
    movable = [touch.cell for touch in choices(next_taps(state, "")) if touch.cell]
    for cell in movable:
        for tap in next_taps(state, cell).taps:
            if tap.label and {*tap.cells} & {*movable}:
                return cell, tap.cells[0]
    return None


def test_in_spiro_a_second_tap_on_a_label_chooses_the_piece_below_it(visitor):
    rng = Random(1)
    board = visitor.begin("spiro", second="alice")
    while not (cells := cells_of_hidden_piece(state := present(visitor, "spiro", board))):
        visitor.served.shell.run("spiro", "move", board, "alice", PASSWORDS["alice"], state.random(rng))
    visitor.open(visitor.link("spiro", board))
    chosen, hidden = cells
    text = ""
    for cell in (chosen, hidden, hidden):
        [touch] = [touch for touch in choices(next_taps(state, text)) if touch.cell == cell]
        visitor.touch(touch)
        text = touch.text
    assert visitor.value("[name=line]") == hidden


FINGER_SIGMA_PIXELS = 6
"""How far from what it means a finger comes down, to each side."""
LARGEST = {
    "spiro": "-pieces=99",
    "symple": "-size=25",
    "spora": "-size=25",
    "papagra": "-size=10 -removals=40",
    "sprout": "-board=cairo-2",
}
FINGERS = """
const [fingers, done] = arguments;
const line = document.querySelector('[name=line]'), whole = document.querySelector('.whole');
const isBusy = () => document.querySelector('.tapping[aria-busy]');
const settle = async () => { do await new Promise(requestAnimationFrame); while (isBusy()); };
const tap = (cell, [right, down]) => {
    const path = document.querySelector(`.cells [data-cell='${cell}']`);
    path.scrollIntoView({block: 'center'});
    const box = path.getBoundingClientRect();
    const clientX = box.x + box.width / 2 + right, clientY = box.y + box.height / 2 + down;
    const target = document.elementFromPoint(clientX, clientY) || document.body;
    target.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX, clientY, detail: 1}));
};
(async () => {
    const texts = [];
    for (const [cell, first, second] of fingers) {
        tap(cell, first);
        if (!whole.hidden) tap(cell, second);
        await settle();
        texts.push(line.value);
        if (!whole.hidden) whole.querySelector('button').click();
        document.querySelector('.clear').click();
        await settle();
    }
    done(texts);
})();
"""
"""The text of the turn after each of these fingers, which mean a cell; the second number is for the board shown larger.

In the page itself, because to ask a browser for each touch takes many times longer.
"""


@pytest.mark.long
def test_190_of_200_fingers_hit_what_they_mean_on_the_largest_boards_on_a_telephone(visitor):
    rng = Random(1)
    misses = {}
    visitor.driver.set_script_timeout(120)
    for game, options in LARGEST.items():
        board = visitor.begin(game, options=options)
        visitor.open(visitor.link(game, board))
        state = present(visitor, game, board)
        meant = [touch for touch in choices(next_taps(state, "")) if touch.cell]
        touched = rng.choices(meant, k=40)
        fingers = [
            (touch.cell, *([rng.gauss(0, FINGER_SIGMA_PIXELS) for _ in "xy"] for _ in range(2))) for touch in touched
        ]
        texts = visitor.driver.execute_async_script(FINGERS, fingers)
        misses[game] = sum(text != touch.text for text, touch in zip(texts, touched, strict=True))
    assert sum(misses.values()) <= 10, misses


def test_a_player_can_have_small_boards_without_the_close_up_and_the_browser_remembers_it(visitor):
    link = visitor.link("symple", visitor.begin("symple", options="-size=19"))
    visitor.open(link)
    visitor.tap(".cells [data-cell='k10']")
    assert visitor.value("[name=line]") == ""
    assert "lies around k10" in visitor.text(".hint")
    visitor.tap(".whole")
    visitor.open_menu()
    visitor.tap(".close-up")
    for _ in range(2):
        visitor.tap(".cells [data-cell='k10']")
        until(lambda: visitor.value("[name=line]") == "k10")
        visitor.open(link)  # once more
        assert not visitor.one(".close-up").is_selected()
    visitor.open_menu()
    visitor.tap(".close-up")  # for the other tests


def test_on_a_device_the_board_leads_on_to_the_next_one_that_waits(visitor):
    shell = visitor.served.shell
    shell.sign_up("gina", "hugo", has_mail=True)
    boards = [visitor.begin("symple", "gina", "hugo") for _ in range(3)]
    assert visitor.served.submit({"userid": "gina"}, "/device")[0] == 200
    mails = shell.folder / "mail" / "gina@players.example" / "new"
    made = re.compile(rf"{visitor.url}/device/\w+")
    link = until(lambda: next((found[0] for mail in mails.glob("*") if (found := made.search(mail.read_text()))), None))
    visitor.driver.get(link)
    visitor.tap("main form .go")
    until(lambda: visitor.driver.current_url.endswith("/me"))
    visitor.open(f"{visitor.url}/symple/{boards[0]}.html#me")
    until(lambda: visitor.text(".top .btn") == "Next board · 2")
    visitor.tap(".cells [data-cell='c3']")
    visitor.send()
    until(lambda: visitor.text(".say") == "hugo is to move")
    for board, label in ((boards[1], "Next board · 1"), (boards[2], "My boards")):
        visitor.tap(".top .btn")
        visitor.wait_for_page(f"/symple/{board}.html")
        until(lambda: visitor.text(".say") == "Your turn")
        visitor.tap(".cells [data-cell='c3']")
        visitor.send()
        until(lambda: visitor.text(".say") == "hugo is to move")
        visitor.wait_for_text(".top .btn", label)
    visitor.driver.delete_all_cookies()


def test_the_title_says_whose_turn_it_is_and_the_clock_until_which_date(visitor):
    board = visitor.begin("symple")
    visitor.open(visitor.link("symple", board, "bob"))
    assert visitor.driver.title == f"alice is to move: Symple {board}"
    visitor.served.shell.run("symple", "move", board, "alice", PASSWORDS["alice"], "a1")
    until(lambda: visitor.driver.title == f"Your turn: Symple {board}")
    left, ends = visitor.text(".clock").split("\n")
    days = int(re.fullmatch(r"(\d+) days left", left)[1])
    until_day = datetime.fromisoformat(visitor.one(".clock").get_attribute("data-until"))
    assert (until_day - datetime.now(UTC)).days == days
    assert ends.startswith(f"until {until_day:%b} {until_day.day}, ")


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_a_screen_reader_is_told_after_each_tap_what_follows_and_what_labels_on_cells_say(visitor, game):
    board = visitor.begin(game, second="alice")
    visitor.open(visitor.link(game, board))
    rng = Random(1)
    for _ in range(3):
        visitor.play_by_taps(game, board, rng)
    state = present(visitor, game, board)
    text = ""
    for touch in touches(game, state, state.parse(state.random(rng))):
        taps = next_taps(state, text)
        visitor.wait_for_text(".hint", taps.hint)
        parts = told(visitor)
        assert [part.text for part in parts if part.role == "status" and part.text == taps.hint] == [taps.hint]
        cells = {part.name.partition(",")[0]: part.name for part in parts if part.role == "cell"}
        for tap in taps.taps:
            meaning = f", {tap.label or 'possible'}"
            assert all(cells[cell].endswith(meaning) != tap.is_quiet for cell in tap.cells)
        names = {part.name for part in parts if part.role == "button"}
        assert {f"{stepper.label}: one more" for stepper in taps.steppers} <= names
        assert [part for part in parts if part.role in {"button", "textbox"} and not part.name] == []
        visitor.touch(touch)
        text = touch.text


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_a_plan_is_tapped_for_the_positions_to_which_it_leads(visitor, game):
    board = visitor.begin(game)
    visitor.open(visitor.link(game, board))
    rng = Random(1)
    state = present(visitor, game, board)
    turn = state.parse(state.random(rng))
    visitor.served.shell.run(game, "move", board, "alice", PASSWORDS["alice"], turn)
    until(lambda: visitor.text(".say") == "bob is to move")
    lines = []
    if game == "spiro":
        piece = next(name for name, stack in state.play(turn).cells.items() if stack[-1] == "X")
        goal = next(name for name in state.board.names if name != piece)
        for cell in (piece, goal):
            visitor.tap(f".cells [data-cell='{cell}']")
        lines = [f"if any then {piece}-{goal}"]
    else:
        begun = "if "
        state = state.play(turn)
        for word in (" then ", ""):
            turn = state.parse(state.random(rng))
            for touch in touches(game, state, turn):
                visitor.touch(touch._replace(text=begun + touch.text))
            begun += touch.text + word
            state = state.play(turn)
            if word:
                visitor.tap(".next")
        lines = [begun]
    until(lambda: visitor.value("[name=line]") == lines[0])
    until(visitor.is_told_that_it_is_legal)
    assert visitor.all(".over.plan")
    visitor.send()
    until(lambda: visitor.all("[data-part=mine] pre"))
    assert visitor.text("[data-part=mine] pre").replace("+", "") == lines[0]
