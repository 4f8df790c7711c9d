"""The grammar of a command line, before the commands themselves are known to be right.

A line is words. Those that start with a hyphen are options wherever they stand, up to the place of a move, whose words
are taken as they are: ``-e3,+f6`` is a move of Papagra, ``--`` is the pass. See `pbm help commands`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from textwrap import TextWrapper, wrap

REPLIES = re.compile(
    r"\[[^\[\]]{1,40}\]|\*{2,} ?[^*]{0,20}(spam|junk|extern)[^*]{0,20}\*{2,}"
    r"|(re|fwd?|aw|wg|sv|vs|vb|vl|antw|doorst|tr|rif|rv|enc|res|odp|pd|ynt|ilt|nag|回复|答复|转发|回覆|轉寄)"
    r"(\[\d+\]|\^\d+)? ?[:\uff1a]",
    re.IGNORECASE | re.ASCII,
)
"""What mail programs put in front of a subject that they answer or forward, mail servers in front of one that looks
strange to them, and what our reminders begin with."""
WIDTH = 78
"""Columns that a line of ours may have: what an 80-column screen shows of a mail, and of its quotation."""
MOST_LINES = 200
"""How many lines of a comment are kept."""
MOST_COMMENT = MOST_LINES * WIDTH
"""How many characters of a comment are looked at."""
FILLER = "\0"
"""Stands behind a letter that takes two columns while a line is measured."""
FULL = {"challenge": "chall", "preview": "prev", "subscribe": "sub", "unsubscribe": "unsub"}
"""Commands that may be shortened, down to these words."""
SYNONYMS = {
    "add": "signup",
    "board": "move",
    "boardq": "queue",
    "delete": "signoff",
    "moveq": "queue",
    "mvoe": "move",
    "qboard": "queue",
    "qmove": "queue",
    "ratings": "standings",
}


def tidied(line: Iterable[str], is_game: Callable[[str], bool]) -> list[str]:
    """The words of a line without what mail programs and our own subjects add, command words first.

    Words may hold blanks, as those of a shell can. Options in front of the second word come behind it.
    """
    text = " ".join(line).lstrip()
    while match := REPLIES.match(text):
        text = text[match.end() :].lstrip(" *")
    words = [word for word in text.split() if word != "**"]
    if len(words) > 1 and words[0].lower() == "new" and is_game(words[1].lower()):
        del words[0]
    options: list[str] = []
    commands: list[str] = []
    while words and len(commands) < 2:
        (options if is_option(words[0]) else commands).append(words.pop(0))
    return commands + options + words


def is_option(word: str) -> bool:
    """Whether a word in front of the moves is an option; one or two bare hyphens are none."""
    return word.startswith("-") and word not in {"-", "--"}


def split(words: Sequence[str], begins_moves: Callable[[list[str], str], bool]) -> tuple[list[str], list[str]]:
    """The options among the words behind a command, and the other words.

    *begins_moves* tells from the other words so far and the next word whether that one begins a move. From there on
    every word belongs to a move, and blanks next to a comma are dropped.
    """
    options: list[str] = []
    others: list[str] = []
    for at, word in enumerate(words):
        if begins_moves(others, word):
            return options, others + re.sub(r"\s*,\s*", ",", " ".join(words[at:])).split()
        (options if is_option(word) else others).append(word)
    return options, others


def command(word: str) -> str:
    """The command that a word means: itself, one that it is short for, or one that it is another name of."""
    word = word.lower()
    for full, short in FULL.items():
        if full.startswith(word) and word.startswith(short):
            return full
    return SYNONYMS.get(word, word)


def clean(text: str) -> str:
    """A text that can be stored and shown: no control characters but line ends and tabs, no halves of characters.

    Nor are there any that turn the direction of writing, which can make a text look like another one.
    """
    text = text.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", text)


def written(text: str) -> str:
    """What somebody wrote to others, as lines that can be stored, shown and mailed; the rest of a long text is cut."""
    text = re.sub(r"(?m)^[ \t]*\*{10,}[ \t]*$", "* * *", clean(text[:MOST_COMMENT]))  # ours are made of asterisks
    lines = (part for line in text.splitlines() for part in wrapped(line))
    return "\n".join(islice(lines, MOST_LINES)).strip("\n")


def wrapped(line: str, *, breaks_words: bool = True) -> list[str]:
    """A line as lines that fit; one that fits already is left as it is."""
    return [line] if len(line) <= WIDTH else wrap(line, WIDTH, break_on_hyphens=False, break_long_words=breaks_words)


def fitted(text: str) -> str:
    """A text of which no line has more than 78 columns; lines that are too long break at blanks or behind commas."""
    lines = text.split("\n")
    if text.isascii() and "\t" not in text and max(map(len, lines)) <= WIDTH:
        return text
    return "\n".join(part for line in lines for part in _fitted(line.expandtabs()))


class _Wrapper(TextWrapper):
    """What wraps a line, also behind a comma, as the turns of games are written."""

    wordsep_simple_re = re.compile(r"( +|(?<=,)(?! ))")


def _fitted(line: str) -> list[str]:
    width, wide = WIDTH, line
    if not line.isascii():
        from unicodedata import east_asian_width

        wide = "".join(f"{letter}{FILLER}" if east_asian_width(letter) in "FW" else letter for letter in line)
        width -= wide != line  # one of them may be parted from its filler
    if len(wide) <= width:
        return [line]
    quotes = "> " if line.startswith("> ") else ""
    wrapper = _Wrapper(width, break_on_hyphens=False, subsequent_indent=quotes)
    return [part.replace(FILLER, "") for part in wrapper.wrap(wide)]


def masked(text: str, secrets: Iterable[str]) -> str:
    """A text with each of the secrets replaced by the word PASSWORD."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "PASSWORD")
    return text
