"""A mail becomes what somebody has typed: a line, and the text that goes with it. No database here.

Only this module decides which line counts, the subject or the first one of the text. `typed_command` does so for mail
to the server's own address, `typed_answer` for mail to a reply address.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pbm import runner
from pbm.actions import votes
from pbm.board.typed_moves import split_number
from pbm.language import answers, masking, words
from pbm.language.commands import OF_GAME, root
from pbm.language.grammar import Call
from pbm.language.line import Line
from pbm.mail.quotes import BETWEEN_WORDS
from pbm.mail.reading import Incoming
from pbm.names import GUEST, SHORTEST_PASSWORD, IsUser, display_name, is_board
from pbm.refusals import Misused, Refused
from pbm.runner import Trial
from pbm.store import Reply
from pbm.texts import MASK

DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
LONG_DASHES = "\u2013\u2014\u2015"
"""What programs make of two hyphens, and sometimes of one."""
VARIANTS = dict.fromkeys(map(chr, range(0xFE00, 0xFE10)), "")
"""What telephones put behind a character to say how it is drawn."""
QUOTES = dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
FULL_WIDTH = {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)} | {0x3001: ","}
"""What keyboards of East Asia write instead of ASCII."""
IN_WORDS = str.maketrans(FULL_WIDTH | DASHES | QUOTES | VARIANTS)
SUBJECT_TAGS = re.compile(r"(?>\s*(?:\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|<[^<>]*>|#\w+|\*++[^*]++\*++))*+\s*")
"""What mail servers put behind a subject, such as ``[EXTERNAL]``, ``(fwd)``, ``#4711`` and ``*EXT*``."""
BEGINS_LIKE_MOVE = re.compile(r"\W*[a-z]\d", re.IGNORECASE)
"""The beginning of a move such as ``e3 : 5``. Its blanks make it illegal; it is refused, and not taken for prose."""
WITH_TEXT = frozenset({"chat", "note", "plan"})
"""The words of an answer that go with the whole text, first line and all."""
LONG_OPTIONS = frozenset(option for command in OF_GAME.values() for option in command.named)
"""Options of the language that begin with two hyphens."""


class Typed(NamedTuple):
    """What a mail says."""

    line: Line
    """The line that is its command, or its answer to a board mail, which has no command of the language."""
    body: str
    """The text that goes with it."""
    reads_as_command: bool
    """Whether the subject names a command, as those of board mails do, too."""
    is_from_title: bool = False
    """Whether nobody has typed the line: a chat is answered by a text alone."""
    objection: str = ""
    """Why nothing is done, if the mail says two different things."""
    is_new_password: bool = False
    """Whether it is the answer to the mail with a code for a new password."""


TryOut = Callable[[Typed], Trial]
"""Says what would come of something, and changes nothing."""


def typed_command(mail: Incoming, is_user: IsUser) -> Typed:
    """The command in a mail to the server's own address: its subject, or the first line of its text.

    The line of the text counts where the subject names no command. It also counts where the words of the subject only
    begin like one, as in ``Message from Alice``, which a mail program writes by itself.
    """
    subject = plain_line(mail.subject)
    above = Typed(subject, mail.body, subject.command is not None)
    if _fits(subject, is_user):
        return above
    lines = mail.body.lstrip().split("\n")
    first, count = words.whole_turn(lines)
    line = plain_line(first)
    if subject.command is None:
        counts = line.command is not None
    else:
        counts = _is_evident(line, is_user)
    if counts:
        return above._replace(line=line, body="\n".join(lines[count:]))
    return above  # both are unclear as commands, and the refusal quotes the subject


def typed_password(mail: Incoming, userid: str, code: str, is_user: IsUser) -> Typed:
    """What answers the mail with a code for a new password: that password alone, or a whole command."""
    typed = typed_command(mail, is_user)
    text_words = words_of(mail.body)
    # One word alone is the password, even one such as `help`; only a whole command in the subject is stronger.
    if typed.line.command and (len(text_words) != 1 or _fits(plain_line(mail.subject), is_user)):
        return typed
    objection = ""
    if len(text_words) > 1:
        objection = "Nothing was done. Please answer with the new password alone: one word, and nothing below it."
    line = Line.read(" ".join(["reset", userid, code] + text_words))
    return Typed(line, "", typed.reads_as_command, objection=objection, is_new_password=True)


def typed_answer(mail: Incoming, reply: Reply, is_user: IsUser, try_out: TryOut) -> Typed:
    """What a mail to a reply address says: the first line of its text, which is an answer or a whole command.

    The subject counts

    - where nothing else is typed;
    - where it is a whole command with the right password;
    - where it is a word that needs the text, such as `preview` or `chat`;
    - where the text is prose, and the subject is an answer or a whole command: the text is its comment.

    If subject and text are two different answers that could both be done, nothing is.
    """
    subject = plain_line(mail.subject)
    first = _first_answer(mail, reply, reads_as_command=subject.command is not None)
    # Our own subjects are typed by nobody: below that of a chat stands a chat, below that of a board an answer.
    if _is_chat_title(reply, subject):
        if first.line.typed == "chat":
            return first
        return first._replace(line=_answer("chat"), body=mail.body, is_from_title=True)
    if is_title(subject):
        return first

    answer = words.without_prefixes(subject.typed) or subject.typed  # a move may stand in brackets, as a tag does
    above = _answer_or_command(first._replace(line=subject, body=mail.body), reply, answer)
    if not first.line.typed:
        return above
    if above.line.command:
        return _with_command_above(above, first, reply, is_user, try_out)

    # The subject is an answer, such as `preview`, or prose.
    word = words.command(answers.bare(above.line.typed))
    needed = answers.needed_behind(word)
    if needed:
        return first._replace(line=_answer(f"{word} {first.line.typed}"))
    is_word = needed is not None
    if is_word and word in WITH_TEXT:
        return above
    if _is_typed(first, reply, is_user, try_out):
        return _one_of_two(above, first, reply, is_user, try_out)
    if is_word or _would_be_done(above, reply, try_out):
        return above
    return first  # both are prose, and the refusal quotes the text


def _with_command_above(above: Typed, first: Typed, reply: Reply, is_user: IsUser, try_out: TryOut) -> Typed:
    """The command in the subject (*above*), or what stands in the first line of the text below it."""
    if not _fits(above.line, is_user):
        return first
    if _is_multiple(above.line):
        return above  # its commands stand in the text
    passwords = above.line.passwords() or []
    # a tag such as `- EXTERNAL` is too short for a password, and is not counted as a wrong one
    may_be_signed = any(len(word) >= SHORTEST_PASSWORD for word in passwords)
    if may_be_signed and try_out(above).is_signed:
        return above
    if _is_typed(first, reply, is_user, try_out):
        return first
    return above  # the text is prose, so it is the comment


def _one_of_two(above: Typed, first: Typed, reply: Reply, is_user: IsUser, try_out: TryOut) -> Typed:
    """The first line of the text; with an objection, if the subject is another answer that could be done as well."""
    if _is_same(above, first, reply) or not _would_be_done(above, reply, try_out):
        return first
    if not try_out(first).is_done:
        return first  # its own refusal says more
    subject = _shown(above.line, is_user)
    text = _shown(first.line, is_user)
    objection = f"The subject says `{subject}`, and the first line of the text says `{text}`; nothing was done."
    return first._replace(objection=f"{objection} Please write only one of them.")


def _shown(line: Line, is_user: IsUser) -> str:
    """A line at a reply address without its passwords."""
    return line.masked(is_user, is_answer=line.command is None).text


def _first_answer(mail: Incoming, reply: Reply, *, reads_as_command: bool) -> Typed:
    """What the first line of a text says; the lines below are the text that goes with it."""
    lines = (mail.body.lstrip() or mail.quoted).split("\n")
    chat = _chat_text(lines)
    if chat is not None:
        return Typed(_answer("chat"), chat, reads_as_command)
    first, count = words.whole_turn(lines)
    line = plain_line(first)
    return _answer_or_command(Typed(line, "\n".join(lines[count:]), reads_as_command), reply, line.typed)


def _answer_or_command(typed: Typed, reply: Reply, answer: str) -> Typed:
    """A line at a reply address: a command of the language, or else the *answer* that was written there."""
    copied = _copied_answer(reply, typed.line)
    if copied:
        return typed._replace(line=_answer(copied))
    if typed.line.command and not _is_word_of_answers(typed.line):
        return typed
    return typed._replace(line=_answer(answer))


def _answer(typed: str) -> Line:
    """The line of an answer to a board mail, which is no command of the language."""
    return Line.read(typed)._replace(command=None)


def _is_word_of_answers(line: Line) -> bool:
    """Whether a line that is a command is meant as a word of ANSWERS: alone, or as `block bob`, without a password."""
    if answers.needed_behind(line.typed) is not None:
        return True
    return words.command(line.words[0]) in answers.ANSWERS and line.passwords() is None


def _copied_answer(reply: Reply, line: Line) -> str | None:
    """The answer that a command stands for, if it names the board and the player of a *reply*; None if not.

    Every board mail ends with a command like ``spiro move 101 alice PASSWORD MOVE#3``. With a move instead of the last
    word, it is the answer ``move e5``. At the address for answers it needs no password, so the password may be missing.
    """
    if len(line.words) < 4:
        return None
    game, word, number, userid, *behind = line.words
    if (game.lower(), number.lower(), userid.lower()) != reply or answers.needed_behind(word) is None:
        return None
    answer = words.command(word)
    if behind and behind[0] == MASK:
        return " ".join([answer] + behind[1:])
    # Without the word PASSWORD, this is an answer only if nothing in it can be a password: that has to be right.
    if len(behind) > 1 or line.passwords() is not None:
        return None
    if behind and masking.may_be_password(behind[0]) and not root.knows(behind[0]):
        return None
    return " ".join([answer] + behind)


def _chat_text(lines: Sequence[str]) -> str | None:
    """The text of an answer that is a chat: what stands behind that word, and below it; None if it is no chat."""
    first, _, beside = lines[0].strip().partition(" ")
    if words.command(answers.bare(first)) != "chat":
        return None
    text = list(lines[1:])
    if beside.strip():
        text.insert(0, beside.strip())
    return "\n".join(text)


def _call(typed: Typed, reply: Reply) -> Call | None:
    """The command that an answer gives; None if it is none."""
    try:
        return answers.read(reply, typed.line.typed)
    except Misused:
        return None


def _would_be_done(answer: Typed, reply: Reply, try_out: TryOut) -> bool:
    """Whether an answer would be carried out. Most prose is no answer at all, and is not tried."""
    return _call(answer, reply) is not None and try_out(answer).is_done


def _is_typed(first: Typed, reply: Reply, is_user: IsUser, try_out: TryOut) -> bool:
    """Whether the first line of a text is meant as an answer or a command, and not as the comment of the subject."""
    if first.line.command:
        return _is_evident(first.line, is_user)
    call = _call(first, reply)
    if call is None:
        return BEGINS_LIKE_MOVE.match(first.line.typed) is not None
    move = str(call.given.get("move", ""))
    if call.command.name != "move" or not move:
        return True
    if masking.is_turn(move) or move.lower() in votes.INSTEAD_OF_A_MOVE:
        return True
    return try_out(first).is_done  # a word is read as a move, too; it is one only if it can be played


def _is_same(above: Typed, first: Typed, reply: Reply) -> bool:
    """Whether two answers say the same, such as ``e5`` and ``move E5#1``."""
    meanings = []
    for typed in (above, first):
        call = _call(typed, reply)
        if call is None:
            return False
        values = [split_number(str(value).lower()).text for value in call.given.values()]
        meanings.append((call.command.name, values))
    return meanings[0] == meanings[1]


def _fits(line: Line, is_user: IsUser) -> bool:
    """Whether the words of a line are those that its command takes, signed by a user.

    ``Message from Alice Miller`` and ``Symple Board 101 alice`` only begin like commands.
    """
    command = line.command
    if command is None:
        return False
    if _is_multiple(line):
        return True  # its lines are carried out together, or not at all
    try:
        runner.read(line)
    except Misused:
        return False
    except Refused:
        return True  # the words are right, and only an option is not
    _, others, _ = command.split(line.rest)
    signers = []
    for way in command.ways:
        given = dict(zip(way, others, strict=False))
        if "userid" in given and "password" in given:
            signers.append(given["userid"].lower())
    if not signers:
        return True  # everybody may give such a command, `help` for example
    return any(map(is_user, signers))


def _is_evident(line: Line, is_user: IsUser) -> bool:
    """Whether a line is a command, and not prose that begins with the same word, such as ``Help me out``."""
    command = line.command
    if command is None:
        return False
    if line.game or len(line.words) == 1:
        return True
    is_signed = any("password" in name or name == "code" for way in command.ways for name in way)
    return is_signed and _fits(line, is_user)


def _is_multiple(line: Line) -> bool:
    return line.command is not None and line.command.name == "multiple"


def is_title(subject: Line) -> bool:
    """Whether a subject is that of a board mail: the game, the board, and whose turn it is."""
    title = _without_tags(subject.words)
    if len(title) not in {3, 4}:  # when the game is over it is nobody's turn
        return False
    return title[1].lower() == "board" and is_board(title[2])


def _is_chat_title(reply: Reply, subject: Line) -> bool:
    """Whether a subject is the one that we gave to a chat on the board of a reply."""
    title = [word.lower() for word in _without_tags(subject.words)]
    has_writer = len(title) == 4 or " ".join(title[3:]) == display_name(GUEST)
    return has_writer and title[:3] == [reply.game, "chat", reply.board]


def _without_tags(subject: Sequence[str]) -> Sequence[str]:
    """The words of a subject, without the tags that a mail server has put behind one of three to five words."""
    for length in (3, 4, 5):
        if SUBJECT_TAGS.fullmatch(" ".join(subject[length:])):
            return subject[:length]
    return subject


def plain_line(beautified: str) -> Line:
    """A line as it was typed, before a program beautified it; passwords are taken as they are."""
    if beautified.isascii():
        return Line.read(beautified)
    written_words = words_of(beautified)
    plain_words = [plain_word(word) for word in written_words]
    line = Line.read(" ".join(plain_words))
    passwords = line.passwords() or []
    typed_words = []
    for written, plain in zip(written_words, plain_words, strict=True):
        typed_words.append(written if plain in passwords else plain)
    typed = " ".join(typed_words)
    if typed == line.typed:
        return line
    return Line.read(typed)


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
