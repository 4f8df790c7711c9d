"""HTML mails as plain text: what a reader sees, without what they answer."""

import re
from html import unescape
from html.parser import HTMLParser

TAGS = re.compile(
    r"<!--(?:.*?-->|.*)"
    r"|<(script|style|title|template|noscript|textarea|select|svg|object)\b(?:.*?</\1[^<>]*>|.*)"
    r"|<[!?][^>]*>?|</?[a-z][^<>]*>|[^<]+|<",
    re.IGNORECASE | re.DOTALL,
)
"""HTML is read piece by piece: the parser of the standard library takes minutes for a page of unfinished tags."""
LONGEST_TAG = 2000
BLOCKS = frozenset(
    "address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr html li"
    " main nav ol p pre section table tbody td tfoot th thead tr ul".split()
)
"""Elements that begin on a line of their own, but for the cells of a table."""
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


def to_text(html: str) -> str:
    """The text that a mail in HTML shows, but for quotations and signatures that are marked as such."""
    reader = _Reader()
    for piece in TAGS.finditer(html):
        text = piece[0]
        if not text.startswith("<") or text == "<":
            reader.handle_data(unescape(text))
        elif text[1] not in "!?" and not piece[1] and len(text) <= LONGEST_TAG:
            reader.feed(text)
            reader.reset()  # a tag that the parser takes for unfinished would be read again with each one after it
    return "".join(reader.written)


class _Reader(HTMLParser):
    """Writes what it is given, tag by tag and text by text."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []
        self._at_start = True  # of a line
        self._left_out = ""  # the element that is being left out
        self._depth = 0  # how many of its kind are open
        self._as_typed = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        if self._left_out:
            self._depth += tag == self._left_out
            return
        if tag == "br":
            self._write("\n")
            return
        given = {name: (value or "").lower() for name, value in attrs}
        marks = f"{given.get('class', '')} {given.get('id', '')}"
        is_hidden = "hidden" in given or UNSEEN.search(given.get("style", "").replace(" ", "")) is not None
        if tag not in VOID and (is_hidden or tag == "blockquote" or QUOTATIONS.search(marks)):
            self._left_out, self._depth = tag, 1
            self._begin_line()
            return
        self._as_typed += tag == "pre"
        self._begin_block(tag)

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if self._left_out:
            self._depth -= tag == self._left_out
            if not self._depth:
                self._left_out = ""
            return
        self._as_typed -= tag == "pre" and self._as_typed > 0
        self._begin_block(tag)

    def handle_data(self, data: str) -> None:
        """Write a text; blanks and line ends are one blank, but where the text is shown as it was typed."""
        if self._left_out:
            return
        data = data.replace("\xa0", " ") if self._as_typed else re.sub(r"[ \t\r\n\f]+", " ", data).replace("\xa0", " ")
        if self._at_start and not self._as_typed:
            data = data.removeprefix(" ")
        if data:
            self._write(data)

    def _begin_block(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._write("" if self._at_start or self.written[-1].endswith(" ") else " ")
        elif tag in BLOCKS:
            self._begin_line()

    def _begin_line(self) -> None:
        if not self._at_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        self.written.append(text)
        self._at_start = text.endswith("\n") if text else self._at_start
