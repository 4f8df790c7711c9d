"""What telephones and word processors make of typed characters, and back."""

DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
LONG_DASHES = "\u2013\u2014\u2015"
"""What two hyphens become, and sometimes one."""
BLANKS = dict.fromkeys(["\u00a0", "\u1680", *map(chr, range(0x2000, 0x200B)), "\u202f", "\u205f", "\u3000"], " ")
INVISIBLE = dict.fromkeys(
    ["\u00ad", "\u034f", "\u180e", *map(chr, [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]),
     "\ufeff"], ""
)  # fmt: skip
VARIANTS = dict.fromkeys(map(chr, range(0xFE00, 0xFE10)), "")
"""What telephones put behind a character to say how it is drawn."""
QUOTES = dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
FULL_WIDTH = {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)} | {0x3001: ","}
"""What keyboards of East Asia write in the place of ASCII."""
INVISIBLE_LETTERS = "".join(INVISIBLE)
VISIBLE_BLANKS = str.maketrans(BLANKS)
BETWEEN_WORDS = str.maketrans(BLANKS | INVISIBLE)
IN_WORDS = str.maketrans(FULL_WIDTH | DASHES | QUOTES | VARIANTS)
LONG_OPTIONS = ("nagtime", "forfeittime", "totaltime", "plot", "name", "from")
"""Options of the language that begin with two hyphens."""


def visible(line: str) -> str:
    """A line of a text without invisible characters around it; one of hyphens and blanks has none between them."""
    seen = line.translate(BETWEEN_WORDS)
    return seen if set(seen) <= {"-", " "} else line.translate(VISIBLE_BLANKS).strip(INVISIBLE_LETTERS)


def words(line: str) -> list[str]:
    """The words of a line, whatever blanks are between them."""
    return line.translate(BETWEEN_WORDS).split()


def plain(word: str) -> str:
    """A word of a command as it was typed: with hyphens and plain quotation marks.

    A long dash alone is the pass ``--``. In front of the name of an option it stands for as many hyphens as that has.
    """
    if word in LONG_DASHES:
        return "--"
    name = word[1:].partition("=")[0].lower()
    if word[:1] in LONG_DASHES and name and any(option.startswith(name) for option in LONG_OPTIONS):
        return f"--{word[1:].translate(IN_WORDS)}"
    return word.translate(IN_WORDS)
