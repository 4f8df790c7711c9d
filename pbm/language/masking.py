"""Passwords in texts that go out: found by where they stand, and replaced by the word PASSWORD.

A word is taken for a password where the grammar of a command has one (``symple move 101 alice swordfish e5``), beside
the userid of a user that stands beside the number of a board, and behind a word such as "password:". What was found
once is masked wherever else it stands. Other prose stays as it is.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import games
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import LOOKS_RIGHT
from pbm.names import SHORTEST_PASSWORD, IsUser, is_userid
from pbm.texts import MASK, MOST_COMMENT, PASSWORD_WORDS, latin, written

TOKENS = r"%20|&nbsp;|(?:(?!%20|&nbsp;)\S)+"
"""What stands between blanks, and blanks as they are written in a link or in HTML."""
ENCODED_BLANKS = frozenset({"%20", "&nbsp;"})
BOARD_NUMBER = "#?[0-9]{3,12}(#-?[0-9]+)?"
PUNCTUATION = ",;:()[]{}<>\"'`|*~.!?_=#$/\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
"""What may stand around a word."""
IN_FRONT = words.REPLIES | frozenset("subject betreff objet asunto oggetto new pbm please i typed".split())
"""Words in front of a command that leave it at the beginning of a line."""
BETWEEN = frozenset("is was are ist war of for von für to my mine the new old".split())
"""Words between "password" and the password."""
PLACES = frozenset({"board", "boards", "followed", "userid"})
"""The arguments by which a command is told from prose."""
MOST_WORDS = 8
"""How many words behind the name of a command are looked at."""


class Masked(NamedTuple):
    """A text in which no password is left, and the words that were masked."""

    text: str
    secrets: Sequence[str]


class Token(NamedTuple):
    """A word of a text."""

    start: int
    end: int
    plain: str
    """The word without the punctuation around it, each letter in its usual form."""
    begins: bool
    """Whether a command that begins here is at the beginning of a line."""


def without_passwords(text: str, is_user: IsUser | None) -> Masked:
    """Mask the passwords in a text. Without *is_user*, each word that can be a userid counts as one."""
    found = list(_words(text))
    hidden = {*_by_grammar(found, is_user), *_beside_users(found, is_user), *_named(text, found, is_user)}
    secrets = {found[at].plain for at in hidden}
    parts, end = list[str](), 0
    for at, word in enumerate(found):
        if at in hidden or word.plain in secrets:
            parts += [text[end : word.start], MASK]
            end = word.end
    raw = (text[found[at].start : found[at].end] for at in hidden)
    return Masked("".join([*parts, text[end:]]), [*secrets, *raw])


def comment(text: str, is_user: IsUser) -> str:
    """What somebody wrote to others, as they may see it: as much of it as is kept, and no password."""
    if not text:
        return ""
    # masked before it is broken into lines, which would break a long password, too
    return written(without_passwords(text[:MOST_COMMENT], is_user).text)


def is_strange(word: str) -> bool:
    """Whether a word looks like a password: no word of prose, no address and no turn of a game."""
    return (
        len(word) >= SHORTEST_PASSWORD
        and "@" not in word
        and word.isprintable()
        and re.search(r"\d|[^\w.'\u2019-]|[^\W\d_]_|[^\W\d_A-Z][A-Z]", word) is not None
        and not is_turn(word)
    )


def is_turn(word: str) -> bool:
    """Whether a word can be a turn: it has no two letters in a row but an x and another, or points of the compass.

    Examples are xg7 and d2@nnen. So is the placeholder for one in our mails, such as MOVE#3. A long number is none.
    """
    if re.fullmatch(r"MOVE(#\d+)?", word):
        return True
    word = latin(word)
    runs = re.findall(r"[^\W\d_]{2,}", word.lower())
    return re.fullmatch(r"(?!\d{6})[\w+,:@#=-]*", word) is not None and all(
        re.fullmatch("x.|[nesw]+", run) for run in runs
    )


def _words(text: str) -> Iterator[Token]:
    begins, end = True, 0
    for token in re.finditer(TOKENS, text):
        begins = begins or "\n" in text[end : token.start()] or token[0][0] in "\"'`(\u201c\u201e\u00ab"
        end = token.end()
        written = _usual(token[0])
        plain = written.strip(PUNCTUATION) if re.search(r"\w", written) else written
        if token[0] not in ENCODED_BLANKS and (len(plain) >= SHORTEST_PASSWORD or re.search(r"\w", plain)):
            yield Token(token.start(), end, plain.rpartition("bin/")[2], begins)
            letters = re.match(r"[^\W\d_]*", plain.lower())  # without the number of ``RE(2):``
            begins = begins and (plain.isdecimal() or (letters is not None and letters[0] in IN_FRONT))


def _usual(word: str) -> str:
    """A word with each character in its usual form, without invisible ones."""
    return "".join(each for each in unicodedata.normalize("NFKC", word) if unicodedata.category(each) != "Cf")


def _by_grammar(found: Sequence[Token], is_user: IsUser | None) -> Iterator[int]:
    """The words where a command has a password.

    A command counts if a game or a user is named in it: prose can say "the message from alice", too. `signup`, which
    names neither, counts at the beginning of a line.
    """
    for at, word in enumerate(found):
        command, names = root.find([one.plain for one in found[at : at + 2]])
        if command is None:
            continue
        begin, of_game = at + len(names), names[0] in games.names()
        near = range(begin, min(begin + MOST_WORDS, len(found)))
        given = [place for place in near if not words.is_option(found[place].plain)]
        for way in command.ways:
            places = dict(zip(way, given, strict=False))
            userid = found[places["userid"]] if "userid" in places else None
            is_signed = userid is not None and is_user is not None and _is_user(userid, is_user)
            is_meant = of_game or is_signed or (word.begins and (command.name == "signup" or is_user is None))
            if is_meant and all(LOOKS_RIGHT[name](found[places[name]].plain) for name in places.keys() & PLACES):
                secret = [place for name, place in places.items() if "password" in name]
                yield from (place for place in secret if len(found[place].plain) >= SHORTEST_PASSWORD)


def _beside_users(found: Sequence[Token], is_user: IsUser | None) -> Iterator[int]:
    """The words beside a userid that stands beside the number of a board, except the names of games and commands."""
    for at, word in enumerate(found[1:-1], 1):
        for one, other in (at - 1, at + 1), (at + 1, at - 1):  # a long number is no password beside itself
            is_near = re.fullmatch(BOARD_NUMBER, found[other].plain) and may_be_password(found[one].plain)
            if is_near and _is_user(word, is_user) and not _is_of_a_command(found, one):
                yield one


def _is_of_a_command(found: Sequence[Token], at: int) -> bool:
    """Whether a word names a game, or one of its commands: `symple subscribe alice 101` lacks only the password."""
    command, names = root.find([one.plain for one in found[max(at - 1, 0) : at + 1]])
    return found[at].plain.lower() in games.names() or (command is not None and names[0] in games.names())


def _named(text: str, found: Sequence[Token], is_user: IsUser | None) -> Iterator[int]:
    """The words behind "password:" and the like."""
    for at, word in enumerate(found):
        name, _, value = word.plain.lower().lstrip("-").partition("=")
        if name not in PASSWORD_WORDS:
            continue
        if value:
            yield at
        following = range(at + 1, min(at + 5, len(found)))
        beyond = (one for one in following if found[one].plain.lower() not in BETWEEN)
        place = next((one for one in beyond if is_user is None or not _is_user(found[one], is_user)), None)
        if place is not None and may_be_password(found[place].plain):
            gap = text[word.start : found[place].start]
            is_said = place > at + 1 or {*":="} & {*gap} or (at and _is_user(found[at - 1], is_user))
            if is_said or is_strange(found[place].plain):
                yield place


def _is_user(word: Token, is_user: IsUser | None) -> bool:
    name = re.sub("['\u2019]s$", "", word.plain.lower())
    return is_userid(name) and (is_user is None or is_user(name))


def may_be_password(word: str) -> bool:
    """Whether a word is long enough for a password, and no turn."""
    return len(word) >= SHORTEST_PASSWORD and not is_turn(word)


def behind_users(typed: Sequence[str], is_user: IsUser | None) -> Iterator[str]:
    """The words that may be passwords, of the two behind each user: commands have OLD and NEW there."""
    for at, word in enumerate(typed):
        if is_user and is_user(word.strip(PUNCTUATION).lower()):
            near = (one for one in typed[at + 1 : at + 3] if not root.knows(one))
            yield from (one for one in near if may_be_password(one.strip(PUNCTUATION)))
