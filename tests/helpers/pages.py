"""HTML as a mail program reads it.

``Page(source).text`` is what is read, ``Page(source).links`` where it leads. It raises AssertionError for whatever a
mail program might not show, or would fetch.
"""

from html.parser import HTMLParser


class Page(HTMLParser):
    """HTML as a mail program reads it: it has to be balanced, and neither runs nor fetches anything."""

    EMPTY = frozenset("meta wbr img".split())
    TAGS = EMPTY | frozenset("html head title style body div pre b span a".split())

    def __init__(self, source):
        super().__init__()
        self.open = []
        self.paragraphs = []
        self.links = []
        self.pictures = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.TAGS
        attributes = dict(attrs)
        assert tag in self.EMPTY or set(attributes) <= {"class", "style", "href", "lang"}
        assert "url(" not in attributes.get("style", "")
        if tag == "img":
            self.pictures.append(attributes)
        if tag == "pre":
            self.paragraphs.append("")
        if tag == "a":
            self.links.append([attributes["href"], ""])
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "a" in self.open:
            self.links[-1][1] += data
        if "pre" in self.open:
            self.paragraphs[-1] += data
        else:
            assert "style" in self.open or "title" in self.open or not data.strip()

    @property
    def text(self):
        """All of it; a browser drops the line end with which a paragraph begins."""
        return "".join(paragraph.removeprefix("\n") for paragraph in self.paragraphs) + "\n"
