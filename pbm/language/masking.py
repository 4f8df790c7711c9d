"""What is secret in a text that goes out, whoever reads it, and wherever in the text a command stands.

Three things betray a password: it stands where a command of the language has one, directly beside a userid that stands
directly beside the number of a board, or behind a word such as "password:". What is left of a command in prose counts
too, so the language is read here as people write it, not as it is carried out: with other punctuation and blanks, in
encoded links, broken into lines, words missing. A word too much is masked rather than one too few, but only where a
command begins a line, names a game or a board, or where the userid is that of a user; other prose stays as it is.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from pbm.language.words import FULL, SYNONYMS, command
from pbm.names import SHORTEST_PASSWORD, is_board, is_userid
from pbm.texts import MASK, NAMED

IsUser = Callable[[str], bool]
"""Tells of a word in lower case whether it is a userid of ours."""
GROUPS = re.compile(
    r"(?:[^\s\u115f\u1160\u180e\u2800\u3164\uffa0%&]|%(?!(?:25)*(?:20|09|0[ad]|c2%a0))|&(?!(?:nbsp|\#160|\#32|\#xa0|\#x20);))+",
    re.IGNORECASE,
)
"""What stands between blanks, also those of links and of HTML."""
OPTION = re.compile(r"[(\[\"'`*]?[-\u2013\u2014]{1,2}[^\W\d_]")
ENCODED = re.compile(r"(?:25)*(?:20|09|0[ad]|c2%a0)|(?:nbsp|\#160|\#32|\#xa0|\#x20);", re.IGNORECASE)
"""The rest of an encoded blank behind the character that begins it."""
PIECES = re.compile(
    r"[^,;:/\\|=&%?<>()\[\]{}\"`*~+\u2013\u2014\u2026\u2190-\u21ff\u201c-\u201f\u00ab\u00bb\u2039\u203a]+"
)
GLUED = ".'\u2018\u2019!_-#$^\u00a7\u00b0\u00b7\u2022\u3002\u3001"
"""What may stick to a word without being a part of it, beside what separates words anyway."""
INTRODUCES = re.compile(r"[\n:\"'`\u00ab\u201c\u201e\u2018>$\#*=?(\[{|/\u2022]")
"""What between two words makes the next one look like the beginning of a command."""
SENTENCE = re.compile(r"[.!?\u3002][\"')\]\u201d\u00bb]*\s")
IN_FRONT = frozenset("subject betreff objet asunto oggetto re fwd fw aw wg nag new bin pbm please".split())
"""Words in front of a command that leave it at the beginning."""
BETWEEN = frozenset("is was are ist war of for von für to my mine the new old".split())
"""Words between that name and the password."""
MOST_OPTIONS = 8
"""How many options are looked over between the words of a command."""
SELECTORS = frozenset("all active inactive next board tournament standard on off".split())


class Signature(NamedTuple):
    """How a command is written."""

    names: tuple[str, ...]
    """The words that lead to it, without the game."""
    of_game: bool
    ways: Sequence[Sequence[str]]
    """What its other words stand for, in each order that it takes; the last of them may stand several times."""


class Masked(NamedTuple):
    """A text in which no secret is left, and what was found in it."""

    text: str
    secrets: Sequence[str]


class _Piece(NamedTuple):
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


class Masking:
    """Finds secrets by the commands of a language."""

    def __init__(self, signatures: Iterable[Signature], games: Iterable[str]) -> None:
        """Learn how the commands are written."""
        self._games = frozenset(games)
        self._of_game: dict[tuple[str, ...], Signature] = {}
        self._of_all: dict[tuple[str, ...], Signature] = {}
        for one in signatures:
            (self._of_game if one.of_game else self._of_all)[one.names] = one
        self._words = SELECTORS.union(self._games, *self._of_game, *self._of_all)
        shortened = (full[:end] for full, short in FULL.items() for end in range(len(short), len(full)))
        self._beginnings = {names[0] for names in (*self._of_game, *self._of_all)}.union(
            self._games, SYNONYMS, shortened
        )

    def read(self, text: str, is_user: IsUser | None) -> Masked:
        """A text without the secrets in it; if nobody knows who is a user, everybody may be one."""
        return _Reading(self, text, is_user).masked()

    def may_begin(self, word: str) -> bool:
        """Whether a command may begin with a word."""
        return word.lower() in self._beginnings

    def is_word(self, word: str) -> bool:
        """Whether a word belongs to the language."""
        return word.lower() in self._words

    def begun(self, pieces: Sequence[_Piece], at: int) -> tuple[Signature, int, bool] | None:
        """The command that begins at a place, where its other words begin, and whether its game is named."""
        word = command(pieces[at].word)
        following = _words(pieces, at + 1, 3)
        if word in self._games:
            for count, place in enumerate(following[:2]):
                name = command(pieces[place].word)
                if one := self._of_game.get((name,)):
                    return one, place + 1, True
                if _is_number(name):  # the command is missing, or is one that there is not
                    return self._of_game["move",], place, True
                if count and not pieces[place].ends_sentence:
                    break
            return None
        if following and (one := self._of_all.get((word, command(pieces[following[0]].word)))):
            return one, following[0] + 1, False
        found = self._of_all.get((word,))
        if found is None or (found.names in self._of_game and following and _is_number(pieces[following[0]].word)):
            found = self._of_game.get((word,), found)
        return (found, at + 1, False) if found else None


class _Reading:
    """One text being read."""

    def __init__(self, masking: Masking, text: str, is_user: IsUser | None) -> None:
        self.masking, self.text = masking, text
        self.pieces = list(_pieces(text))
        self._is_user = is_user
        self._users: dict[str, bool] = {}
        self.secret: set[int] = set()
        self.spread: set[str] = set()
        """Secrets that are masked wherever else they stand."""

    def masked(self) -> Masked:
        """The text without its secrets."""
        for at, piece in enumerate(self.pieces):
            if self.masking.may_begin(piece.word) and (begun := self.masking.begun(self.pieces, at)):
                signature, begin, has_game = begun
                self._read_command(at, signature, begin, has_game=has_game)
            if _is_number(piece.word):
                self._read_beside(at)
            if piece.word.lower() in NAMED:
                self._read_named(at)
        parts, end, secrets = [], 0, []
        for at, piece in enumerate(self.pieces):
            if piece.start >= end and (at in self.secret or piece.word in self.spread):
                parts += [self.text[end : piece.start], MASK]
                end = piece.end
                secrets += [piece.word, self.text[piece.start : piece.end]]
        return Masked("".join([*parts, self.text[end:]]), list(dict.fromkeys(secrets)))

    def is_user(self, word: str) -> bool:
        """Whether a word may be a userid of ours."""
        name = word.lower().removesuffix("'s").removesuffix("\u2019s")
        if name not in self._users:
            asked = self._is_user or is_userid
            self._users[name] = is_userid(name) and not self.masking.is_word(name) and asked(name)
        return self._users[name]

    def is_known(self, word: str) -> bool:
        """Whether a word is a userid of ours for certain."""
        return self._is_user is not None and self.is_user(word)

    def hide(self, at: int, *, everywhere: bool) -> None:
        """Keep a word secret, if it is certain that it is one, wherever it stands."""
        self.secret.add(at)
        word = self.pieces[at].word
        if len(word) >= SHORTEST_PASSWORD and (everywhere or _is_strange(word)):
            self.spread.add(word)

    def _read_command(self, at: int, signature: Signature, begin: int, *, has_game: bool) -> None:
        """Find what is secret in a command."""
        begins = self.pieces[at].begins
        is_found = False
        for way in signature.ways:
            places = [place for place, name in enumerate(way) if "password" in name]
            given = self._given(at, begin, places[-1] + 1) if places else []
            if (
                places
                and places[0] < len(given)
                and all(_fits(name, self.pieces[one].word) for name, one in zip(way, given, strict=False))
            ):
                for place in places:
                    if place < len(given) and self._betrays(at, signature, way, given, given[place], has_game=has_game):
                        is_found = not self.is_known(self.pieces[given[place]].word)
        if not is_found and (has_game or begins):
            is_command = has_game or not (signature.of_game or self.pieces[at].word.istitle())
            self._read_loosely(at, signature, begin, is_line=begins and is_command)

    def _betrays(
        self, at: int, signature: Signature, way: Sequence[str], given: Sequence[int], found: int, *, has_game: bool
    ) -> bool:
        """Keep the word in the place of a password secret, unless it seems to be prose; whether it did."""
        piece, word = self.pieces[found], self.pieces[found].word
        named = dict(zip(way, (self.pieces[one].word for one in given), strict=False))
        knows = self.is_user(named.get("userid", ""))
        numbered = _is_number(named.get("board", "")) and self.pieces[at].word.lower() != "board"
        runs_on = not any(self.pieces[one].ends_sentence for one in given if one <= found)
        is_long = piece.end - piece.start >= SHORTEST_PASSWORD
        is_sure = False
        if has_game and (is_long or (knows and "board" in named)):
            is_sure = True
        elif not is_long or self.is_known(word):
            return False
        elif self.pieces[at].begins and (
            numbered or self._is_alone(at, found) or not (signature.of_game or self.pieces[at].word.istitle())
        ):
            is_sure = knows
        elif not (_is_strange(word) or (knows and runs_on) or (numbered and self._ends_like_a_command(found))):
            return False
        self.hide(found, everywhere=is_sure)
        return True

    def _is_alone(self, at: int, found: int) -> bool:
        """Whether a command in small letters, and what it needs, fills a line."""
        following = self.pieces[found + 1 : found + 3]
        is_last = not following or any(one.ends_line for one in following)
        return self.pieces[at].word.islower() and is_last

    def _ends_like_a_command(self, found: int) -> bool:
        """Whether a move or nothing follows a word."""
        following = self.pieces[found + 1 : found + 2]
        return not following or following[0].ends_line or re.search(r"\d", following[0].word) is not None

    def _read_loosely(self, at: int, signature: Signature, begin: int, *, is_line: bool) -> None:
        """Find what may be secret in a command that lacks words, or that takes no password."""
        has_password = any("password" in name for way in signature.ways for name in way)
        longest = max(map(len, signature.ways), default=0)
        window = self._given(at, begin, longest + 4, across_lines=has_password, is_whole=False)
        words = [self.pieces[one].word for one in window]
        users = [self.is_user(word) for word in words]
        is_line = is_line or (self.pieces[at].word.lower() != "board" and any(map(_is_number, words[:3])))
        on_line = True
        for place, (one, word) in enumerate(zip(window, words, strict=True)):
            on_line = on_line and not self.pieces[one].ends_line
            if len(word) < SHORTEST_PASSWORD or self.masking.is_word(word) or self.is_known(word) or _is_number(word):
                continue
            is_beside = any(users[max(place - 1, 0) : place] + users[place + 1 : place + 2])
            if signature.names == ("challenge",):
                is_beside = is_beside and not is_userid(word)  # one that there is not is said back
            if is_beside or (has_password and ((is_line and on_line) or _is_strange(word))):
                self.hide(one, everywhere=False)

    def _read_beside(self, at: int) -> None:
        """Find what stands beside a userid that stands, with it, beside a board."""
        for first, second in ((at - 1, at - 2), (at + 1, at + 2)):
            for user, found in ((first, second), (second, first)):
                near = range(min(at, user, found) + 1, max(at, user, found) + 1)
                if min(user, found) < 0 or max(user, found) >= len(self.pieces):
                    continue
                word = self.pieces[found].word
                if len(word) < SHORTEST_PASSWORD or any(self.pieces[one].ends_paragraph for one in near):
                    continue
                ends = any(self.pieces[one].ends_sentence for one in near) or (
                    user != at - 1
                    and user != at + 1
                    and "," in self.text[self.pieces[at].start : self.pieces[user].end]
                )
                if (ends and not _is_strange(word)) or self.masking.is_word(word):
                    continue
                if self.is_user(self.pieces[user].word) and not self.is_known(word):
                    self.hide(found, everywhere=False)
        if 0 < at < len(self.pieces) - 1:
            for user, found in ((at - 1, at + 1), (at + 1, at - 1)):
                word = self.pieces[found].word
                if _is_strange(word) and self.is_user(self.pieces[user].word) and not self.is_known(word):
                    self.hide(found, everywhere=False)

    def _read_named(self, at: int) -> None:
        """Find what is called a password."""
        pieces = self.pieces
        found = at + 1
        if pieces[at].word == MASK and self.text[pieces[at].end - 1] not in ":=":
            return  # as our mails have it, in front of the move
        is_beside = at > 0 and self.is_user(pieces[at - 1].word)
        while found < min(at + 4, len(pieces)) and (
            pieces[found].word.lower() in BETWEEN or self.is_user(pieces[found].word)
        ):
            is_beside = is_beside or self.is_user(pieces[found].word)
            found += 1
        if found >= len(pieces) or any(one.ends_paragraph for one in pieces[at + 1 : found + 1]):
            return
        behind = pieces[found + 1 : found + 2]
        is_beside = is_beside or any(self.is_user(one.word) and not one.ends_sentence for one in behind)
        before = self.text[pieces[found - 1].start : pieces[found].start]
        word = pieces[found].word
        if len(word) >= SHORTEST_PASSWORD and (
            is_beside or _is_strange(word) or re.search("[:=]", before[-20:]) is not None
        ):
            self.hide(found, everywhere=False)

    def _given(self, at: int, begin: int, most: int, *, across_lines: bool = True, is_whole: bool = True) -> list[int]:
        """The places of the words that follow a command, as far as they can belong to it."""
        given: list[int] = []
        may_cross = not any(self.pieces[one].word.lower() == "board" for one in range(at, min(begin, len(self.pieces))))
        for one in _words(self.pieces, begin, most):
            piece = self.pieces[one]
            if (piece.ends_paragraph and not (may_cross and is_whole)) or (piece.ends_line and not across_lines):
                break
            given.append(one)
        return given


def strange(answer: Sequence[str]) -> list[str]:
    """The words of an answer to a board mail that are no parts of a move; one alone must look like a password."""
    parts = [part for word in answer for part in word.split(",")]
    if len(parts) == 1 and not _is_strange(parts[0]):
        return []
    return [word for word in answer if len(word) >= SHORTEST_PASSWORD and any(map(_is_no_move, word.split(",")))]


def _is_no_move(word: str) -> bool:
    """Whether letters stand together in a word as in no notation of a game, but for compass points."""
    runs = re.findall(r"[^\W\d_]{4,}", word.lower())
    return "=" not in word and any(run.strip("nesw") for run in runs)


def _pieces(text: str) -> Iterator[_Piece]:
    """The words of a text."""
    before, begins, was_in_front = 0, True, False
    for group in GROUPS.finditer(text):
        whole, start, end = group[0], group.start(), group.end()
        if whole.isalnum() and whole.isascii() and text[before:start] == " ":
            begins = begins and was_in_front
            was_in_front = begins and _is_in_front(whole)
            yield _Piece(start, end, whole, begins)
            before = end
            continue
        if text[start - 1 : start] in {"%", "&"} and (rest := ENCODED.match(text, start)):
            start = rest.end()
        whole = text[start:end]
        if len(whole) >= SHORTEST_PASSWORD and len(set(whole)) > 2 and not re.search(r"\w", whole):
            yield _Piece(start, end, whole)
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
            yield _Piece(
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


def _words(pieces: Sequence[_Piece], begin: int, most: int) -> list[int]:
    """The places of the next words that are no options."""
    near = range(begin, min(begin + most + MOST_OPTIONS, len(pieces)))
    return [at for at in near if not pieces[at].is_option][:most]


def _is_number(word: str) -> bool:
    """Whether a word is the number of a board for certain."""
    return word[:1].isdecimal() and re.fullmatch("[0-9]{3,12}", word.partition("#")[0], re.ASCII) is not None


def _is_strange(word: str) -> bool:
    """Whether a word is none of prose, but can be a password."""
    return (
        len(word) >= SHORTEST_PASSWORD
        and "@" not in word
        and re.search(r"[^\W\d_]", word) is not None
        and re.search(r"\d|[^\w.'\u2019-]|[^\W\d_]_|[^\W\d_A-Z][A-Z]", word) is not None
    )


def _fits(name: str, word: str) -> bool:
    """Whether a word looks like what stands in that place."""
    number = word.partition("#")[0]
    if name == "board":
        return is_board(number) or word.lower() == "new"
    if name == "boards":
        return is_board(number) or is_userid(word)
    return is_userid(word) if name == "userid" else True
