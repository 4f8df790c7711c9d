"""Texts for readers: wrapped to the width of a mail, counted, in tables, with their secrets masked."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, islice
from textwrap import TextWrapper, wrap
from unicodedata import east_asian_width

from pbm.names import PLACEHOLDERS, SHORTEST_PASSWORD

WIDTH = 78
"""How many columns our lines may have: what an 80-column screen shows of a mail, and of its quotation."""
NARROWEST = 60
"""The fewest columns at which mail programs break lines."""
MOST_LINES = 200
"""How many lines of a comment are kept."""
REST_CUT = "[The rest was cut.]"
"""Stands for what was too long to be kept."""
MOST_COMMENT = MOST_LINES * WIDTH
"""How many characters of a comment are looked at."""
FRONT_OF_CELL = r"(?=-[a-z][0-9])"
"""Where a part of a turn without commas can be broken, such as the removals of Papagra."""
ZONELESS_TIME_FORMAT = "%Y-%m-%d %H:%M"
"""The format of a time if the time zone stands next to it."""
TIME_FORMAT = f"{ZONELESS_TIME_FORMAT} %Z"
CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Characters that command a terminal, or turn the direction of writing, which can make a text look like another."""
MASK = "PASSWORD"
"""What each secret is replaced by."""
PASSWORD_WORDS = frozenset(
    "password passwords passwd passwort kennwort passphrase pwd pw psw passcode wachtwoord lösenord hasło "
    "passe contraseña contrasena senha salasana jelszó heslo parola пароль".split()
)
"""What people call a password in front of it."""
LONGEST_SAID = 27
"""How many characters of a word a refusal of a game repeats."""
QUOTATION = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)|`if (?!THEIRS\b)[^`]*`"""
"""What a refusal repeats of somebody's words: as `repr` writes it, or a reading of a line of a plan."""
PROSE = r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*"
"""A word that may stand in our own sentences: letters, with hyphens and apostrophes between them."""
LOOKALIKES = str.maketrans(
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u043a\u0458\u0455\u0501\u051b\u051d"
    "\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422\u0425\u0423\u050c"
    "\u03b1\u03b5\u03b9\u03ba\u03bf\u03c1\u03c7\u03f2\u03f3"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f9",
    "aceopxyikjsdqw"
    "ABCEHIJKMOPSTXYG"
    "aeikopxcj"
    "ABEZHIKMNOPTYXC",
)  # fmt: skip
"""Cyrillic, then Greek letters that look like Latin ones, unless their capital looks like another Latin letter."""
FILLER = "\0"
"""Stands behind a letter that takes two columns while a line is measured."""


def clean(text: str) -> str:
    """A text that can be stored and shown: no control characters but line ends and tabs, no halves of characters.

    Characters that turn the direction of writing are removed, too: they can make a text look like another one.
    """
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    return re.sub(CONTROLS, "", text)


def latin(text: str) -> str:
    """A text in which Cyrillic and Greek letters are replaced by Latin ones that look the same.

    Only for moves and the words of commands. A userid or a password with such a letter is another one.
    """
    return text if text.isascii() else text.translate(LOOKALIKES)


def escaped(text: str) -> str:
    r"""A text in which characters that command a terminal are written out, for example ``\x1b``."""
    return re.sub(CONTROLS, lambda sign: sign[0].encode("unicode-escape").decode(), text)


def one_line(text: str) -> str:
    """A text from elsewhere as one line that can be shown."""
    return " ".join(clean(text).split())


def written(text: str) -> str:
    """What somebody wrote to others, as lines that can be stored, shown and mailed; the rest of a long text is cut."""
    text = re.sub(r"(?m)^[ \t]*\*{10,}[ \t]*$", "* * *", clean(text[:MOST_COMMENT]))  # it would look like a Rule
    lines = (part for line in text.splitlines() for part in wrapped_line(line))
    return "\n".join(islice(lines, MOST_LINES)).strip("\n")


def shortened(text: str, most_bytes: int) -> str:
    """A text of at most so many bytes in UTF-8. The rest of a longer one is cut behind a word, which REST_CUT says."""
    whole = text.encode()
    if len(whole) <= most_bytes:
        return text
    kept = whole[: most_bytes - len(f"\n{REST_CUT}")].decode(errors="ignore")
    front, *_ = kept.rsplit(maxsplit=1)  # the last word may be only half of one
    return f"{front}\n{REST_CUT}"


def wrapped_line(line: str, *, breaks_words: bool = True) -> list[str]:
    """A line as lines that fit; one that fits already is left as it is."""
    if len(line) <= WIDTH:
        return [line]
    return wrap(line, WIDTH, break_on_hyphens=False, break_long_words=breaks_words) or [""]


def wrapped_text(text: str) -> str:
    """A text in lines of at most 78 columns; lines that are too long break at blanks or behind commas."""
    return "\n".join(part for line in text.split("\n") for part in _lines_by_columns(line.expandtabs()))


class _Wrapper(TextWrapper):
    """Wraps a line at blanks and behind commas, as the turns of games are written.

    A part of a turn that is longer than a line is parted where a hyphen stands in front of a cell.
    """

    def __init__(self, width: int, indent: str = "") -> None:
        """Make lines of that width; all except the first have the indent."""
        super().__init__(width, break_on_hyphens=False, subsequent_indent=indent)

    def _split(self, text: str) -> list[str]:
        pieces = re.split(r"( +|(?<=,)(?! ))", text)
        room = self.width - len(self.subsequent_indent)
        parts = []
        for piece in pieces:
            if len(piece) > room:
                parts += re.split(FRONT_OF_CELL, piece)
            else:
                parts.append(piece)
        return [part for part in parts if part]


def lines_of_turns(text: str, width: int = WIDTH) -> list[str]:
    """A text with turns in it as lines of at most *width* columns, none of which ends inside the name of a cell."""
    if not text:
        return []
    if len(text) <= width and text.isprintable() and text == text.strip():
        return [text]  # as most turns: to wrap each takes 40 % of the time that a letter takes
    return _Wrapper(width).wrap(text)


def _lines_by_columns(line: str) -> list[str]:
    """A line as lines of at most 78 columns; some letters take two."""
    width = WIDTH
    wide = line
    if not line.isascii():
        wide = "".join(map(_filled, line))
        if wide != line:
            width -= 1  # a wide letter may be parted from its filler
    if len(wide) <= width or re.fullmatch("https?://[!-~]+", line):  # half an address leads nowhere
        return [line]
    quotes = "> " if line.startswith("> ") else ""
    return [part.replace(FILLER, "") for part in _Wrapper(width, quotes).wrap(wide)]


def _filled(letter: str) -> str:
    """A letter, with FILLER behind it if it takes two columns."""
    if east_asian_width(letter) in "FW":
        return f"{letter}{FILLER}"
    return letter


def table(lines: Sequence[Sequence[str]], numbers: Collection[str] = (), repeated: Collection[str] = ()) -> str:
    """Lines of words in columns; the first line is the heading. Under these headings *numbers* end below each other.

    A table that is too wide is broken between columns into tables below each other, if there are *repeated* headings;
    their columns stand in each of them.
    """
    headings = lines[0]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pads = [str.rjust if heading in numbers else str.ljust for heading in headings]
    kept = [column for column, heading in enumerate(headings) if heading in repeated]
    tables = []
    rest = list(range(len(widths)))
    fitting = _fitting(widths, rest)
    # where only the repeated columns fit, a further table would be no narrower
    while kept and fitting < len(rest) and fitting != len(kept):
        tables.append(rest[:fitting])
        rest = kept + rest[fitting:]
        fitting = _fitting(widths, rest)
    tables.append(rest)

    texts = []
    for columns in tables:
        rows = []
        for line in lines:
            cells = [pads[column](line[column], widths[column]) for column in columns]
            rows.append("  ".join(cells).rstrip())
        texts.append("\n".join(rows))
    return "\n\n".join(texts)


def _fitting(widths: Sequence[int], columns: Sequence[int]) -> int:
    """How many of these columns, from the first on, fit on a line."""
    ends = accumulate(widths[column] + 2 for column in columns)
    return sum(end - 2 <= WIDTH for end in ends)


def counted(number: float, noun: str) -> str:
    """A number of things, such as ``1 day`` or ``2.5 points``."""
    if number == int(number):
        number = int(number)
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def duration(seconds: float) -> str:
    """A time in words, such as ``5 days``, ``2 days 12 hours`` or ``40 minutes``."""
    minutes = max(1, round(seconds / 60))
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    parts = []
    if days:
        parts.append(counted(days, "day"))
    if hours:
        parts.append(counted(hours, "hour"))
    if minutes and not days:
        parts.append(counted(minutes, "minute"))
    return " ".join(parts)


def enumerated(words: Sequence[str], word: str = "and") -> str:
    """Words with commas between them and a *word* in front of the last one, such as ``a, b and c``."""
    *front, last = words
    if not front:
        return last
    return f"{', '.join(front)} {word} {last}"


def wrapped_turns(text: str) -> str:
    """A text with a turn in it, in lines of at most 78 columns, none of which ends inside the name of a cell."""
    return "\n".join(lines_of_turns(text))


def without(text: str, secrets: Iterable[str]) -> str:
    """A text with each of the secrets replaced by the word PASSWORD; too short for a password, only whole words are."""
    patterns = []
    # the longest first, because it may contain a shorter one
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= SHORTEST_PASSWORD:
            patterns.append(re.escape(secret))
        elif secret:
            patterns.append(rf"(?<!\S){re.escape(secret)}(?!\S)")
    if not patterns:
        return text
    return re.sub("|".join(patterns), MASK, text)


def reason_without(reason: str, secrets: Iterable[str]) -> str:
    """One of our sentences with the secrets in it masked, also shortened ones, parts, and in lower case.

    A word of letters alone is masked only where the sentence has it in quotation marks. Elsewhere it is our own. Behind
    a secret, the sentence does not say either what is near it.
    """
    spared = PASSWORD_WORDS | PLACEHOLDERS
    long = [secret for secret in secrets if len(secret) >= SHORTEST_PASSWORD and secret.lower() not in spared]
    parts: set[str] = set()
    in_our_letters = [latin(secret) for secret in long]  # as a refusal has a move
    for secret in long + in_our_letters:
        parts |= {secret, secret[:LONGEST_SAID]}
        parts.update(re.split("[,.;!?]", secret))
    parts = {part for part in parts if len(part) > 3}
    strange = [part for part in parts if not re.fullmatch(PROSE, part)]
    masked = re.sub(QUOTATION, lambda quotation: _masked(quotation[0], parts), reason)
    return re.sub(rf"('{MASK}'[^;\n]*); did you mean [^?\n]*\?", r"\1.", _masked(masked, strange))


def _masked(text: str, secrets: Iterable[str]) -> str:
    """A text with each of the secrets masked, in whatever case, the longest first."""
    patterns = [re.escape(secret) for secret in sorted(secrets, key=len, reverse=True)]
    if not patterns:
        return text
    return re.sub("|".join(patterns), MASK, text, flags=re.IGNORECASE)
