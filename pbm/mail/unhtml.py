"""HTML mails as plain text: what a reader sees, without what they answer."""

import re
from collections.abc import Iterable, Mapping
from html import unescape
from html.parser import HTMLParser
from typing import NamedTuple

TAGS = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(?P<unseen>script|style|title|template|noscript|textarea|select|svg|object)\b(?:.*?</(?P=unseen)[^<>]*>|.*)"
    r"|<xmp\b[^<>]*>(?P<xmp>.*?)(?:</xmp[^<>]*>|\Z)|<plaintext\b[^<>]*>(?P<plaintext>.*)"
    r"|<[!?][^>]*>?|</?[a-z][^<>]*>|[^<]+|<",
    re.IGNORECASE | re.DOTALL,
)
"""HTML is read piece by piece: the parser of the standard library takes minutes for a page of unfinished tags."""
LONGEST_TAG = 2000
BLOCKS = frozenset(
    "address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr html li"
    " listing main nav ol p pre section table tbody tfoot thead tr ul".split()
)
"""Elements that begin on a new line."""
CELLS = frozenset({"td", "th"})
"""Elements that stand next to each other, with a blank between them."""
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
UNSEEN = re.compile(
    r"display:none|visibility:hidden|mso-hide:all|font-size:0(?:px|pt|em|%)?(?:;|$)|max-height:0(?:px)?(?:;|$)|opacity:0(?:;|$)"
)
QUOTATIONS = re.compile(
    r"\b(?:gmail_quote\w*|gmail_attr|gmail_extra_quote|yahoo_quoted|protonmail_quote|moz-cite-prefix|moz-signature"
    r"|gmail_signature\w*|zmail_extra|tutanota_quote|olk_src_body_section|mail-editor-reference-message-container"
    r"|wordsection_quote|quote-container|mail-app-auto-quote)\b"
)
"""Classes and ids that mail programs give to what is answered, and to signatures."""


COLLAPSED, LINES, TYPED = range(3)
"""How the blanks of a text are shown: all as one blank, the same except ends of lines, or as they were typed."""
SPACINGS = {
    "normal": COLLAPSED,
    "nowrap": COLLAPSED,
    "collapse": COLLAPSED,
    "initial": COLLAPSED,
    "pre-line": LINES,
    "preserve-breaks": LINES,
    "pre": TYPED,
    "pre-wrap": TYPED,
    "break-spaces": TYPED,
    "preserve": TYPED,
}
SPACING = re.compile(r"white-space(?:-collapse)?\s*:\s*([a-z-]+)")
PREFORMATTED = frozenset("pre listing".split())


class Spaced(NamedTuple):
    """An open element that says how blanks within it are shown."""

    tag: str
    depth: int
    """How many elements of this name are open, from this one on."""
    spacing: int


def to_text(html: str) -> str:
    """The text that a mail in HTML shows, without quotations and signatures that are marked as such."""
    pieces = list(TAGS.finditer(html))
    styles = spacings_in(piece[0] for piece in pieces if (piece["unseen"] or "").lower() == "style")
    reader = _Reader(styles)
    for piece in pieces:
        text = piece[0]
        typed = piece["plaintext"] if piece["xmp"] is None else piece["xmp"]
        if typed is not None:
            reader.write_as_typed(typed)
        elif not text.startswith("<") or text == "<":
            reader.handle_data(unescape(text))
        elif text[1] not in "!?" and not piece["unseen"] and len(text) <= LONGEST_TAG:
            reader.feed(text)
            reader.reset()  # a tag that the parser takes for unfinished would be read again with each one after it
    return "".join(reader.written)


def spacings_in(sheets: Iterable[str]) -> dict[str, int]:
    """How elements show blanks, by the last word of each selector of these style elements, such as ``div.typed``."""
    spacings: dict[str, int] = {}
    for sheet in sheets:
        rules = re.sub(r"/\*.*?(?:\*/|\Z)", "", sheet.lower().partition(">")[2], flags=re.DOTALL)
        selector = text = ""
        for piece in re.findall(r"[{}]|[^{}]+", rules):
            if piece == "{":
                selector = text
                text = ""
            elif piece != "}":
                text = piece
            elif (spacing := spacing_in(text)) is not None:
                for alternative in selector.split(","):
                    last = re.split(r"[\s>+~]+", alternative.strip())[-1]
                    spacings[last] = spacing
    return spacings


def spacing_in(declarations: str) -> int | None:
    """How CSS says that blanks are shown; None if it does not."""
    values = [SPACINGS[value] for value in SPACING.findall(declarations) if value in SPACINGS]
    return values[-1] if values else None


class _Reader(HTMLParser):
    """Writes what it is given, tag by tag and text by text."""

    def __init__(self, styles: Mapping[str, int]) -> None:
        super().__init__()
        self.written: list[str] = []
        self._styles = styles
        self._at_start = True  # of a line
        self._left_out = ""  # the element that is being left out
        self._depth = 0  # how many of its kind are open
        self._spaced = [Spaced("", 1, COLLAPSED)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        if self._left_out:
            if tag == self._left_out:
                self._depth += 1
            return
        if tag == "br":
            self._write("\n")
            return
        given = {name: (value or "").lower() for name, value in attrs}
        marks = f"{given.get('class', '')} {given.get('id', '')}"
        is_hidden = "hidden" in given or UNSEEN.search(given.get("style", "").replace(" ", "")) is not None
        if tag not in VOID and (is_hidden or tag == "blockquote" or QUOTATIONS.search(marks)):
            self._left_out = tag
            self._depth = 1
            self._begin_line()
            return
        if tag not in VOID:
            self._open_spaced(tag, given)
        self._begin_block(tag)

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if self._left_out:
            if tag == self._left_out:
                self._depth -= 1
            if not self._depth:
                self._left_out = ""
            return
        last = self._spaced[-1]
        if tag == last.tag:
            self._spaced.pop()
            if last.depth > 1:
                self._spaced.append(last._replace(depth=last.depth - 1))
        self._begin_block(tag)

    def handle_data(self, data: str) -> None:
        """Write a text, with its blanks as they are shown there."""
        if self._left_out:
            return
        spacing = self._spaced[-1].spacing
        if spacing == COLLAPSED:
            data = re.sub(r"[ \t\r\n\f]+", " ", data)
        elif spacing == LINES:
            data = re.sub(" ?\n ?", "\n", re.sub(r"[ \t\r\f]+", " ", data))
        data = data.replace("\xa0", " ")
        if self._at_start and spacing != TYPED:
            data = data.removeprefix(" ")
        if data:
            self._write(data)

    def write_as_typed(self, text: str) -> None:
        """Write a text in which nothing is a tag."""
        self.handle_starttag("pre", [])
        self.handle_data(text)
        self.handle_endtag("pre")

    def _open_spaced(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element, which may say how blanks within it are shown."""
        classes = attributes.get("class", "").split()
        selectors = ["*", tag]
        selectors += [f".{name}" for name in classes]
        selectors += [f"{tag}.{name}" for name in classes]
        selectors.append(f"#{attributes.get('id', '')}")
        spacings = [TYPED] if tag in PREFORMATTED else []
        spacings += [self._styles[selector] for selector in selectors if selector in self._styles]
        own = spacing_in(attributes.get("style", ""))
        if own is not None:
            spacings.append(own)
        last = self._spaced[-1]
        if spacings:
            self._spaced.append(Spaced(tag, 1, spacings[-1]))
        elif tag == last.tag:
            self._spaced[-1] = last._replace(depth=last.depth + 1)

    def _begin_block(self, tag: str) -> None:
        if tag in BLOCKS:
            self._begin_line()
        elif tag in CELLS:
            is_parted = self._at_start or self.written[-1].endswith(" ")
            self._write("" if is_parted else " ")

    def _begin_line(self) -> None:
        if not self._at_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        self.written.append(text)
        if text:
            self._at_start = text.endswith("\n")
