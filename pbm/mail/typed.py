"""A mail becomes what somebody has typed: a line, and the text that goes with it. No database here."""

from typing import NamedTuple

from pbm.language import answers, words
from pbm.language.commands import OF_GAME
from pbm.language.line import Line
from pbm.mail.quotes import BETWEEN_WORDS
from pbm.mail.reading import Incoming
from pbm.names import is_board
from pbm.store import Reply

DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
LONG_DASHES = "\u2013\u2014\u2015"
"""What programs make of two hyphens, and sometimes of one."""
VARIANTS = dict.fromkeys(map(chr, range(0xFE00, 0xFE10)), "")
"""What telephones put behind a character to say how it is drawn."""
QUOTES = dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
FULL_WIDTH = {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)} | {0x3001: ","}
"""What keyboards of East Asia write in the place of ASCII."""
IN_WORDS = str.maketrans(FULL_WIDTH | DASHES | QUOTES | VARIANTS)
LONG_OPTIONS = frozenset(option for command in OF_GAME.values() for option in command.named)
"""Options of the language that begin with two hyphens."""


class Typed(NamedTuple):
    """What a mail says."""

    line: Line
    """The line that is its command, or taken for one."""
    body: str
    """The text that goes with it."""
    is_meant: bool
    """Whether the subject is meant as a command, whatever its words."""


def typed_in(mail: Incoming, reply: Reply | None) -> Typed:
    """The command of a mail: its subject, or the first line of its body where the subject is none.

    The subject that we gave to a board mail is none. In an answer to one, which came to a *reply* address, any line is
    taken for a move, and a word of ANSWERS is no command. An answer to a chat is a chat.
    """
    subject = plain_line(mail.subject)
    is_meant, has_title = subject.command is not None, is_title(subject)
    told = subject.words[0] if len(subject.words) == 1 else subject.typed  # a word alone stands behind `Re:`, too
    word = answers.takes(told) if reply else None
    is_chat = reply is not None and answers.is_to_chat(reply, subject.words)
    if is_meant and not (has_title or is_chat) and word is None:
        return Typed(_without_placeholder(subject, reply), mail.body, is_meant)
    lines = (mail.body.lstrip() or (mail.quoted if reply else "")).split("\n")
    chat = answers.chat_text(lines) if reply else None
    if is_chat:
        return Typed(_answer("chat"), mail.body if chat is None else chat, is_meant)
    first, count = words.whole_turn(lines)
    line, rest = plain_line(first), "\n".join(lines[count:])
    if word is not None:
        typed, body = (f"{told} {line.typed}", rest) if word else (told, mail.body)
        return Typed(_answer(typed), body, is_meant)
    if line.command and not (reply and answers.is_answer(line)):
        return Typed(_without_placeholder(line, reply), rest, is_meant)
    if reply and (line.typed or has_title):
        return Typed(_answer(line.typed), rest, is_meant) if chat is None else Typed(_answer("chat"), chat, is_meant)
    return Typed(_answer(told) if reply else subject, mail.body, is_meant)


def _without_placeholder(line: Line, reply: Reply | None) -> Line:
    """A command as it is, or what it says as an answer if it was copied from the mail that is answered."""
    typed = answers.as_answer(reply, line) if reply else None
    return _answer(typed) if typed else line


def _answer(typed: str) -> Line:
    """The line of an answer to a board mail, which is no command of the language."""
    return Line.read(typed)._replace(command=None)


def is_title(subject: Line) -> bool:
    """Whether a subject is that of a board mail: the game, the board, and whose turn it is."""
    title = subject.words
    return len(title) in {3, 4} and title[1].lower() == "board" and is_board(title[2])


def plain_line(beautified: str) -> Line:
    """A line as it was typed, before a program beautified it; passwords are taken as they are."""
    if beautified.isascii():
        return Line.read(beautified)
    written = words_of(beautified)
    plain = [plain_word(word) for word in written]
    line = Line.read(" ".join(plain))
    secrets = line.passwords() or []
    typed = " ".join(word if meant in secrets else meant for word, meant in zip(written, plain, strict=True))
    return line if typed == line.typed else Line.read(typed)


def words_of(line: str) -> list[str]:
    """The words of a line, whatever blanks are between them."""
    return line.translate(BETWEEN_WORDS).split()


def plain_word(word: str) -> str:
    """A word of a command as it was typed: with hyphens and plain quotation marks.

    A long dash alone is the pass ``--``. In front of the name of an option it stands for as many hyphens as that has.
    """
    if word in LONG_DASHES:
        return "--"
    name = word[1:].partition("=")[0].lower()
    if word[:1] in LONG_DASHES and name and any(option.startswith(name) for option in LONG_OPTIONS):
        return f"--{word[1:].translate(IN_WORDS)}"
    return word.translate(IN_WORDS)
