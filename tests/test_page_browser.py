"""The page of a board in a real browser, against a real server: from a mail's link to a played move, and all else."""

import json
import os
import re
import socket
from email import message_from_bytes
from email.policy import default

import pytest

import helptexts
from conftest import PASSWORDS, Shell
from patience import until
from test_browser import PHONE, Browser, install
from test_web import serving

pytestmark = pytest.mark.skipif(
    os.environ.get("PBM_TEST_BROWSER") != "1",
    reason="this installs and starts a Chromium: PBM_TEST_BROWSER=1 bin/test, as root, runs it",
)
KINDS = {"spiro": "-small", "symple": "-size=9", "spora": "-size=7", "papagra": "-size=4", "sprout": "-board=limping-5"}
MIDDLE = """
const {x, y, width, height} = arguments[0].getBoundingClientRect();
return [x + width / 2, y + height / 2];
"""
WIDTH = "return document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    install()
    made = Browser(tmp_path_factory.mktemp("chromium"))
    yield made
    made.driver.quit()


class Visitor:
    """Somebody with a browser and the mails that come to them."""

    def __init__(self, served, url, browser):
        self.served, self.url, self.browser, self.driver = served, url, browser, browser.driver

    def begin(self, game, first="alice", second="bob", options=""):
        """Start a board. Returns its number."""
        line = [game, "challenge", *(options or KINDS[game]).split(), first, second, "--json"]
        return json.loads(self.served.shell.run(*line).stdout)["board"]

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

    def open(self, url, *, width=PHONE, is_dark=False, until_shown=".cells-table button"):
        self.browser.sees(width=width, is_dark=is_dark)
        self.driver.get("about:blank")
        until(lambda: self.served.ask("GET", "/" + url.split("/", 3)[3].partition("#")[0])[0] == 200)
        self.driver.get(url)
        until(lambda: self.all(until_shown))

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.one(selector).text

    def tap(self, selector):
        """Tap where an element is seen, as a thumb does."""
        target = self.one(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
        x, y = self.driver.execute_script(MIDDLE, target)
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def send(self):
        until(self.one(".send").is_enabled)
        self.tap(".send")

    def moves(self, game, board):
        """What was played on a board."""
        told = json.loads(self.served.shell.run(game, "show", board, "--json").stdout)
        return told["position"]["history"]


@pytest.fixture(scope="module")
def visitor(browser, tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    shell = Shell(tmp_path_factory.mktemp("served"))
    for name in ("alice", "bob"):
        shell.run("signup", name, PASSWORDS[name], f"{name}@players.example")
    (shell.folder / "site").mkdir()
    options = [f"--web=127.0.0.1:{port}", f"--site={shell.folder}/site", f"--url={url}/", "--robots=1"]
    with serving(shell, *options, PBM_SITE=url, PBM_WEB=url) as served:
        yield Visitor(served, url, browser)
    assert "Traceback" not in (shell.folder / "log").read_text()


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_from_the_link_of_a_mail_a_move_is_played_in_two_taps_on_a_telephone(visitor, game):
    board = visitor.begin(game)
    visitor.open(visitor.link(game, board))
    if game == "spiro":
        move = visitor.text("button[name=move]")
        visitor.tap("button[name=move]")
    else:
        move = visitor.one(".cells [data-cell]").get_attribute("data-cell")
        visitor.tap(f".cells [data-cell='{move}']")
        until(lambda: visitor.text(".hint") == "This move is legal.")
    visitor.send()
    until(lambda: visitor.moves(game, board))
    assert visitor.moves(game, board)[0].lstrip("+") == move
    until(lambda: visitor.text(".told").startswith("Move 1 of 1 by alice"))
    assert visitor.one("textarea").get_attribute("value") == ""
    assert visitor.driver.execute_script(WIDTH) <= PHONE
    assert visitor.driver.get_log("browser") == []
