"""The words of a text as people write commands in it: with other punctuation and blanks, in links, in HTML."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pbm.names import SHORTEST_PASSWORD

OF_LINKS = r"(?:25)*(?:20|09|0[ad]|c2%a0)"
OF_HTML = r"(?:nbsp|e[mn]sp|thinsp|\#(?:9|10|13|32|160|819[2-9]|820[0-2])|\#x(?:9|a|d|20|a0|200[0-9a]));"
OF_QUOTED_PRINTABLE = "20|09|a0|c2=a0"
"""What stands for a blank behind ``%``, ``&`` and ``=``."""
GROUPS = re.compile(
    r"(?:=\r?\n(?=\S)|[^\s\u115f\u1160\u180e\u2800\u3164\uffa0%&=]"
    rf"|%(?!{OF_LINKS})|&(?!{OF_HTML})|=(?!{OF_QUOTED_PRINTABLE}))+",
    re.IGNORECASE,
)
"""What stands between blanks, also encoded ones, though a mail program has broken it softly."""
TAG = re.compile(
    r"</?(?:a|b|br|blockquote|code|div|em|font|h[1-6]|i|kbd|li|ol|p|pre|samp|span|strong|td|th|tr|tt|u|ul)"
    r"(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
"""What HTML has between words."""
OPTION = re.compile(r"[(\[\"'`*]?[-\u2013\u2014]{1,2}[^\W\d_]")
ENCODED = re.compile(f"{OF_LINKS}|{OF_HTML}|{OF_QUOTED_PRINTABLE}", re.IGNORECASE)
"""The rest of an encoded blank behind the character that begins it."""
PIECES = re.compile(
    r"[^\n,;:/\\|=&%?<>()\[\]{}\"`*~+\u2013\u2014\u2026\u2190-\u21ff\u201c-\u201f\u00ab\u00bb\u2039\u203a]+"
)
GLUED = ".'\u2018\u2019!_-#$^\u00a7\u00b0\u00b7\u2022\u3002\u3001"
"""What may stick to a word without being a part of it, beside what separates words anyway."""
INTRODUCES = re.compile(r"[\n:\"'`\u00ab\u201c\u201e\u2018>$\#*=?(\[{|/\u2022]")
"""What between two words makes the next one look like the beginning of a command."""
SENTENCE = re.compile(r"[.!?\u3002][\"')\]\u201d\u00bb]*\s")
IN_FRONT = frozenset("subject betreff objet asunto oggetto re fwd fw aw wg nag new bin pbm please".split())
"""Words in front of a command that leave it at the beginning."""
MOST_OPTIONS = 8
"""How many options are looked over between the words of a command."""


class Piece(NamedTuple):
    """A word of a text."""

    start: int
    end: int
    """What is masked reaches to the next blank, for a password may contain what separates words."""
    word: str
    """Without what sticks to it, each letter in its usual form."""
    begins: bool = False
    """Whether a command that it begins would stand at the beginning of a line, or in quotation marks or the like."""
    ends_sentence: bool = False
    """Whether a sentence ends in front of it."""
    ends_paragraph: bool = False
    ends_line: bool = False
    is_option: bool = False


def pieces_of(text: str) -> Iterator[Piece]:
    """The words of a text."""
    text = TAG.sub(lambda tag: "<" * len(tag[0]), text)
    before, begins, was_in_front = 0, True, False
    for group in GROUPS.finditer(text):
        whole, start, end = group[0], group.start(), group.end()
        if whole.isalnum() and whole.isascii() and text[before:start] == " ":
            begins = begins and was_in_front
            was_in_front = begins and _is_in_front(whole)
            yield Piece(start, end, whole, begins)
            before = end
            continue
        if text[start - 1 : start] in {"%", "&", "="} and (rest := ENCODED.match(text, start)):
            start = rest.end()
        whole = text[start:end]
        if len(whole) >= SHORTEST_PASSWORD and len(set(whole)) > 2 and not re.search(r"\w", whole):
            yield Piece(start, end, whole)
            continue
        is_option = OPTION.match(whole) is not None
        for found in PIECES.finditer(text, start, end):
            word = found[0].strip(GLUED)
            if not word:
                continue
            at = found.start() + found[0].index(word)
            gap = text[before:at]
            lines = gap.count("\n")
            plain = word if word.isascii() else _plain(word)
            begins = before == 0 or INTRODUCES.search(gap) is not None or (begins and was_in_front)
            was_in_front = begins and _is_in_front(plain)
            yield Piece(
                start, end, plain, begins, SENTENCE.search(gap) is not None, lines > 1, lines > 0, is_option,
            )  # fmt: skip
            before = at + len(word)
            start = found.end()


def _is_in_front(word: str) -> bool:
    """Whether a command behind a word still stands at the beginning."""
    return word.isdecimal() or word.lower() in IN_FRONT


def _plain(word: str) -> str:
    """A word in letters as they are usually written, without those that are not seen."""
    usual = unicodedata.normalize("NFKC", word)
    return "".join(letter for letter in usual if unicodedata.category(letter) != "Cf")


def next_words(pieces: Sequence[Piece], begin: int, most: int) -> list[int]:
    """The places of the next words that are no options."""
    near = range(begin, min(begin + most + MOST_OPTIONS, len(pieces)))
    return [at for at in near if not pieces[at].is_option][:most]
