"""A Chromium for the tests that look at mails and pages as people do.

    pytestmark = NEEDS_BROWSER

    def test_a_page_fits_on_a_phone(browser):
        assert browser.measured(source, width=PHONE)["width"] == PHONE

Such tests run with PBM_TEST_BROWSER=1 alone.
"""

import os
import shutil

import pytest

import games

NEEDS_BROWSER = pytest.mark.skipif(
    os.environ.get("PBM_TEST_BROWSER") != "1",
    reason="this installs and starts a Chromium: PBM_TEST_BROWSER=1 bin/test, as root, runs it",
)
PHONE, WIDE = 360, 1000
"""Widths of screens."""
WIDTH = "return document.documentElement.scrollWidth"
IS_DRAWN = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
"""Comes back when the page was drawn: before, it may be as wide as its picture is without the style sheet."""
MIDDLE = """
const {x, y, width, height} = document.querySelector(arguments[0]).getBoundingClientRect();
return [x + width / 2, y + height / 2];
"""
MEASURE = """
const page = document.documentElement, probe = document.createElement('p'), found = {};
probe.style.background = 'Canvas';
document.body.append(probe);
const canvas = getComputedStyle(probe).backgroundColor;
probe.remove();
found.width = page.scrollWidth;
found.scrolling = [], found.clipped = [], found.small = [], found.faint = [];
const numbers = colour => colour.match(/[0-9.]+/g).map(Number);
const light = colour => {
    const [r, g, b] = numbers(colour).map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = element => {
    for (; element; element = element.parentElement) {
        const colour = getComputedStyle(element).backgroundColor;
        if (numbers(colour)[3] !== 0) return colour;
    }
    return canvas;
};
for (const element of document.body.querySelectorAll('*')) {
    const style = getComputedStyle(element), is_inline = style.display === 'inline';
    if (!is_inline && element.scrollWidth > element.clientWidth) found.scrolling.push(element.textContent.slice(0, 80));
    if (!is_inline && element.scrollHeight > element.clientHeight) found.clipped.push(element.textContent.slice(0, 80));
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
        if (box.width && (box.left < 0 || box.right > window.innerWidth)) found.clipped.push(node.data.slice(0, 80));
    if (parseFloat(style.fontSize) < 5) found.small.push(style.fontSize);
    const [one, other] = [light(style.color), light(paper(element))].sort((a, b) => a - b);
    if ((other + 0.05) / (one + 0.05) < 4.5) found.faint.push([node.data.slice(0, 20), style.color, paper(element)]);
}
return found;
"""
LINES = """
const lines = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    for (let at = 0; at < node.length; at++) {
        range.setStart(node, at), range.setEnd(node, at + 1);
        const box = range.getBoundingClientRect();
        if (!box.width) continue;
        const last = lines.at(-1);
        if (last && Math.abs(last.top - box.top) < 3) last.text += node.data[at];
        else lines.push({top: box.top, text: node.data[at]});
    }
}
return lines.map(line => line.text);
"""


class Screen:
    """What is seen of a page, and what can be done there."""

    def all(self, selector):
        """The elements that a selector of CSS finds."""
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        """The first of them, which there is."""
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        """What is read of an element."""
        return self.one(selector).text

    def value(self, selector):
        """What stands in a field of a form."""
        return self.one(selector).get_attribute("value")

    def tap(self, selector, right=0, down=0):
        """Tap where an element is seen, as a thumb does; the page may draw it again meanwhile.

        A thumb can come down some pixels away from the middle.
        """
        self.driver.execute_script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.driver.execute_async_script(IS_DRAWN)
        x, y = self.driver.execute_script(MIDDLE, selector)
        for kind, points in (("touchStart", [{"x": x + right, "y": y + down}]), ("touchEnd", [])):
            self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def faults(self, *rules):
        """What axe finds wrong with the page, by these rules or by all: how much it matters, what it is, and where."""
        from axe_selenium_python import Axe

        axe = Axe(self.driver)
        axe.inject()
        found = axe.run(options={"runOnly": {"type": "rule", "values": [*rules]}} if rules else None)["violations"]
        return [(one["impact"], one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found]

    def allow_scripts(self, *, allowed):
        """Run scripts of pages from now on, or do not."""
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not allowed})

    def press(self, *keys):
        """Press keys: letters, or keys by their names, such as ``ARROW_LEFT``."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.driver).send_keys(*(getattr(Keys, key, key) for key in keys)).perform()


class Browser(Screen):
    """A Chromium without a window, which is shown one page after another."""

    def __init__(self, folder):
        from selenium.webdriver import Chrome, ChromeOptions
        from selenium.webdriver.chrome.service import Service

        self.folder = folder
        options = ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for switch in (
            "headless no-sandbox disable-gpu disable-quic disable-dev-shm-usage no-first-run "
            "disable-background-networking disable-component-update disable-sync"
        ).split():
            options.add_argument(f"--{switch}")
        options.add_argument(f"--user-data-dir={folder / 'profile'}")
        self.driver = Chrome(options, Service(shutil.which("chromedriver")))

    def shows(self, source, **screen):
        """Open a page on a screen."""
        file = self.folder / "page.html"
        file.write_text(source)
        self.sees(**screen)
        self.driver.get(file.as_uri())

    def sees(self, *, width=PHONE, is_dark=False, is_window=False):
        """Be a screen of so many pixels, in light or in dark surroundings; a window has a scroll bar, too."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]
        is_mobile = width == PHONE and not is_window
        screen = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": is_mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def measured(self, source, **screen):
        """What is wrong with a page on a screen, and how wide it is."""
        self.shows(source, **screen)
        return self.driver.execute_script(MEASURE)

    def lines(self, source, **screen):
        """The lines of a page as they are broken on a screen."""
        self.shows(source, **screen)
        return self.driver.execute_script(LINES)


KINDS = {
    "spiro": ["", "-small", "-pieces=99"],
    "symple": ["-size=5", "", "-size=25"],
    "spora": ["-size=5", "", "-size=19", "-size=25", "-pie"],
    "papagra": ["-size=3", "", "-size=10 -removals=40"],
}
BOARDS = [
    *(f"{game} {options}".strip() for game, all_options in KINDS.items() for options in all_options),
    *(f"sprout -board={name}" for name in games.load("sprout").BOARDS),
]
