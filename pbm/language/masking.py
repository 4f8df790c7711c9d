"""Passwords in texts that go out: found by where they stand, and replaced by the word PASSWORD.

A word is taken for a password in three cases. It stands where the grammar of a command has one (``symple move 101 alice
swordfish e5``); next to a userid that is next to the number of a board; or behind a word such as "password:". A URL for
notices is masked, too. What was found once is masked everywhere else, too. Other prose stays as it is.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import games
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import LOOKS_RIGHT, is_secret
from pbm.names import API_TOKENS, SHORTEST_PASSWORD, IsUser, is_userid
from pbm.texts import MASK, MOST_COMMENT, PASSWORD_WORDS, latin, written

TOKENS = r"%20|&nbsp;|(?:(?!%20|&nbsp;)\S)+"
"""What stands between blanks, and blanks as they are written in a link or in HTML."""
ENCODED_BLANKS = frozenset({"%20", "&nbsp;"})
BOARD_NUMBER = "#?[0-9]{3,12}(#-?[0-9]+)?"
"""The number of a board, such as ``101``, ``#101`` and ``101#4``."""
NO_PROSE = r"\d|[^\w.'\u2019-]|[^\W\d_]_|[^\W\d_A-Z][A-Z]"
"""What is in no word of prose: a digit or a sign, as in ``sw0rd!``, or a capital in the middle, as in ``swordFish``."""
PUNCTUATION = ",;:()[]{}<>\"'`|*~.!?_=#$/\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
"""What may stand around a word."""
IN_FRONT = words.REPLIES | frozenset("subject betreff objet asunto oggetto new pbm please i typed".split())
"""Words in front of a command that leave it at the beginning of a line."""
BETWEEN = frozenset("is was are ist war of for von für to my mine the new old".split())
"""Words between "password" and the password."""
PLACES = frozenset({"board", "boards", "followed", "userid"})
"""The arguments that distinguish a command from prose."""
NOTICE_URL = "(?ai)(?!(?:https?|ftp)://)[a-z][a-z0-9]*://"
"""How a URL for notices begins, such as ``ntfy://``, which may have a password in it."""
MOST_WORDS = 8
"""How many words behind the name of a command are looked at."""


class Masked(NamedTuple):
    """A text in which no password is left, and the words that were masked."""

    text: str
    secrets: Sequence[str]


class TypedToken(NamedTuple):
    """A word of a text."""

    start: int
    end: int
    plain: str
    """The word without the punctuation around it, each letter in its usual form."""
    begins: bool
    """Whether a command that begins here is at the beginning of a line."""


def without_passwords(text: str, is_user: IsUser | None) -> Masked:
    """Mask the passwords in a text. Without *is_user*, each word that can be a userid counts as one."""
    tokens = list(_words(text))
    hidden = set(_by_grammar(tokens, is_user))
    hidden.update(_beside_users(tokens, is_user))
    hidden.update(_named(text, tokens, is_user))
    hidden.update(place for place, token in enumerate(tokens) if re.search(API_TOKENS, token.plain))
    hidden.update(place for place, token in enumerate(tokens) if re.match(NOTICE_URL, token.plain))
    secrets = {tokens[place].plain for place in hidden}
    parts: list[str] = []
    end = 0
    for place, token in enumerate(tokens):
        if place in hidden or token.plain in secrets:
            parts.append(text[end : token.start])
            parts.append(MASK)
            end = token.end
    parts.append(text[end:])
    as_written = [text[tokens[place].start : tokens[place].end] for place in hidden]  # with the punctuation around it
    return Masked("".join(parts), list(secrets) + as_written)


def comment(text: str, is_user: IsUser) -> str:
    """What somebody wrote to others, as they may see it: as much of it as is kept, and no password."""
    if not text:
        return ""
    # masked before it is broken into lines, which would break a long password, too
    return written(without_passwords(text[:MOST_COMMENT], is_user).text)


def is_strange(word: str) -> bool:
    """Whether a word looks like a password: no word of prose, no address and no turn of a game."""
    if len(word) < SHORTEST_PASSWORD or "@" in word or not word.isprintable():
        return False
    return re.search(NO_PROSE, word) is not None and not is_turn(word)


def is_turn(word: str) -> bool:
    """Whether a word can be a turn: it has no two letters in a row but an x and another, or points of the compass.

    Examples are xg7 and d2@nnen. So is the placeholder for one in our mails, such as MOVE#3. A long number is none.
    """
    if re.fullmatch(r"MOVE(#\d+)?", word):
        return True
    word = latin(word)
    if not re.fullmatch(r"(?!\d{6})[\w+,:@#=-]*", word):
        return False
    letters_in_a_row = re.findall(r"[^\W\d_]{2,}", word.lower())
    return all(re.fullmatch("x.|[nesw]+", letters) for letters in letters_in_a_row)


def _words(text: str) -> Iterator[TypedToken]:
    """The words of a text, without signs that stand alone; a hyphen is no word, and a row of them may be a password."""
    begins = True
    end = 0
    for token in re.finditer(TOKENS, text):
        is_first_in_line = "\n" in text[end : token.start()]
        is_quoted = token[0][0] in "\"'`(\u201c\u201e\u00ab"
        begins = begins or is_first_in_line or is_quoted
        end = token.end()
        plain = _usual(token[0])
        if re.search(r"\w", plain):
            plain = plain.strip(PUNCTUATION)
        if token[0] in ENCODED_BLANKS:
            continue
        if len(plain) < SHORTEST_PASSWORD and not re.search(r"\w", plain):
            continue
        yield TypedToken(token.start(), end, plain.rpartition("bin/")[2], begins)  # as in `bin/pbm move`
        letters = re.match(r"[^\W\d_]*", plain.lower())  # without the number of ``RE(2):``
        is_in_front = plain.isdecimal() or (letters is not None and letters[0] in IN_FRONT)
        begins = begins and is_in_front


def _usual(word: str) -> str:
    """A word with each character in its usual form, without invisible ones."""
    usual = unicodedata.normalize("NFKC", word)
    return "".join(character for character in usual if unicodedata.category(character) != "Cf")


def _by_grammar(tokens: Sequence[TypedToken], is_user: IsUser | None) -> Iterator[int]:
    """The places of words where a command has a password.

    A command counts if a game or a user is named in it: prose can say "the message from alice", too. `signup`, which
    names neither, counts at the beginning of a line. So do all commands if it is not known who is a user.
    """
    for place, token in enumerate(tokens):
        command, names = root.find([near.plain for near in tokens[place : place + 2]])
        if command is None:
            continue
        names_game = names[0] in games.names()
        begins_line = token.begins and (command.name == "signup" or is_user is None)
        begin = place + len(names)
        behind = range(begin, min(begin + MOST_WORDS, len(tokens)))
        arguments = [number for number in behind if not words.is_option(tokens[number].plain)]
        for way in command.ways:
            places = dict(zip(way, arguments, strict=False))
            is_signed = False
            if "userid" in places and is_user is not None:
                is_signed = _is_user(tokens[places["userid"]], is_user)
            if not (names_game or is_signed or begins_line):
                continue
            if not all(LOOKS_RIGHT[name](tokens[places[name]].plain) for name in places.keys() & PLACES):
                continue
            for name, number in places.items():
                word = tokens[number].plain
                if is_secret(name, word) and len(word) >= SHORTEST_PASSWORD:
                    yield number


def _beside_users(tokens: Sequence[TypedToken], is_user: IsUser | None) -> Iterator[int]:
    """The places of words next to a userid and the number of a board, except names of games and commands."""
    for place, token in enumerate(tokens[1:-1], 1):
        before = place - 1
        behind = place + 1
        # the number has to be on the other side: a long number is not a password because of itself
        for number, beside in (before, behind), (behind, before):
            if not re.fullmatch(BOARD_NUMBER, tokens[number].plain) or not may_be_password(tokens[beside].plain):
                continue
            if _is_user(token, is_user) and not _is_of_a_command(tokens, beside):
                yield beside


def _is_of_a_command(tokens: Sequence[TypedToken], place: int) -> bool:
    """Whether a word names a game, or one of its commands: `symple subscribe alice 101` lacks only the password."""
    if tokens[place].plain.lower() in games.names():
        return True
    command, names = root.find([token.plain for token in tokens[max(place - 1, 0) : place + 1]])
    return command is not None and names[0] in games.names()


def _named(text: str, tokens: Sequence[TypedToken], is_user: IsUser | None) -> Iterator[int]:
    """The places of words behind "password:", as in ``my password is swordfish`` and ``--password=x1y2``.

    Behind the word alone, as in ``password protected``, only a strange word is taken for one.
    """
    for place, token in enumerate(tokens):
        name, _, value = token.plain.lower().lstrip("-").partition("=")
        if name not in PASSWORD_WORDS:
            continue
        if value:
            yield place
        behind = _place_behind(tokens, place, is_user)
        if behind is None or not may_be_password(tokens[behind].plain):
            continue
        gap = text[token.start : tokens[behind].start]
        is_announced = (
            behind > place + 1  # with words between them, as in "password is"
            or ":" in gap
            or "=" in gap
            or (place > 0 and _is_user(tokens[place - 1], is_user))
        )
        if is_announced or is_strange(tokens[behind].plain):
            yield behind


def _place_behind(tokens: Sequence[TypedToken], place: int, is_user: IsUser | None) -> int | None:
    """The place of the word that "password" at a place speaks of; None if none of the next four words can be it."""
    for number in range(place + 1, min(place + 5, len(tokens))):
        token = tokens[number]
        if token.plain.lower() in BETWEEN:
            continue
        if is_user is None or not _is_user(token, is_user):
            return number
    return None


def _is_user(token: TypedToken, is_user: IsUser | None) -> bool:
    """Whether a word is a userid, also in ``alice's``; that of a user, if it is known who is one."""
    name = re.sub("['\u2019]s$", "", token.plain.lower())
    return is_userid(name) and (is_user is None or is_user(name))


def may_be_password(word: str) -> bool:
    """Whether a word is long enough for a password, and no turn."""
    return len(word) >= SHORTEST_PASSWORD and not is_turn(word)


def behind_users(typed: Sequence[str], is_user: IsUser | None) -> Iterator[str]:
    """The words that may be passwords, of the two behind each user: commands have OLD and NEW there."""
    if is_user is None:
        return
    for place, word in enumerate(typed):
        if not is_user(word.strip(PUNCTUATION).lower()):
            continue
        for behind in typed[place + 1 : place + 3]:
            if not root.knows(behind) and may_be_password(behind.strip(PUNCTUATION)):
                yield behind
