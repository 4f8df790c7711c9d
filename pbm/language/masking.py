"""What is secret in a text that goes out, whoever reads it, and wherever in the text a command stands.

Three things betray a password: it stands where a command of the language has one, directly beside a userid that stands
directly beside the number of a board, or behind a word such as "password:". What is left of a command in prose counts
too, so the language is read here as people write it, not as it is carried out: with other punctuation and blanks, in
encoded links, broken into lines, words missing. A word too much is masked rather than one too few, but only where a
command begins a line, names a game or a board, or where the userid is that of a user; other prose stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from email.errors import MessageError
from email.header import decode_header, make_header
from functools import lru_cache
from typing import NamedTuple

import games
from pbm.language.pieces import MOST_OPTIONS, Piece, next_words, pieces_of
from pbm.language.words import FULL, MEANT, SYNONYMS, command
from pbm.names import SHORTEST_PASSWORD, is_board, is_tournament_board, is_userid
from pbm.texts import MASK, NAMED, clean

IsUser = Callable[[str], bool]
"""Tells of a word in lower case whether it is a userid of ours."""
ENCODED_WORDS = re.compile(r"=\?[\w*-]{1,40}\?[bq]\?[^?\s]*\?=(?:\s+(?==\?))?", re.IGNORECASE)
"""A part of a header field that has other than plain letters, as it is written (RFC 2047)."""
BETWEEN = frozenset("is was are ist war of for von für to my mine the new old".split())
"""Words between that name and the password."""
MOST_GLUED = 20
"""How many words without blanks between them are looked over as parts of one password."""
BESIDE_WORDS = ",;:()[]{}<>\"'`|*~.!? \n\r"
"""What stands around words, and may be a part of none or of a password."""
FEWEST_OF_PROSE = 4
"""How many words a line has at least that is no move with a word too much."""
SHORTEST_COMMAND = 4
"""How many letters a mistyped command has at least; shorter words are like many others."""
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


class Masking:
    """Finds secrets by the commands of a language."""

    def __init__(self, signatures: Iterable[Signature], games: Iterable[str]) -> None:
        """Learn how the commands are written."""
        self._games = frozenset(games)
        self._of_game: dict[tuple[str, ...], Signature] = {}
        self._of_all: dict[tuple[str, ...], Signature] = {}
        for one in signatures:
            (self._of_game if one.of_game else self._of_all)[one.names] = one
        self._begun_by = {
            first: [names[1] for names in self._of_all if names[0] == first and len(names) > 1]
            for first, *rest in self._of_all
            if rest
        }
        """The second words of commands of two words, by the first one."""
        self._words = SELECTORS.union(self._games, *self._of_game, *self._of_all)
        shortened = (full[:end] for full, short in FULL.items() for end in range(len(short), len(full)))
        self._beginnings = {names[0] for names in (*self._of_game, *self._of_all)}.union(
            self._games, SYNONYMS, shortened
        )

    def read(self, text: str, is_user: IsUser | None) -> Masked:
        """A text without the secrets in it; if nobody knows who is a user, everybody may be one.

        What is encoded as in the header of a mail is decoded.
        """
        return _Reading(self, ENCODED_WORDS.sub(_decoded, text), is_user).masked()

    def may_begin(self, word: str) -> bool:
        """Whether a command may begin with a word."""
        return word.lower() in self._beginnings

    def is_word(self, word: str) -> bool:
        """Whether a word belongs to the language."""
        return word.lower() in self._words

    def begun(self, pieces: Sequence[Piece], at: int, is_known: IsUser) -> tuple[Signature, int, bool] | None:
        """The command that begins at a place, where its other words begin, and whether its game is named.

        One that was mistyped between its game and a user counts as if the game were missing, for it may be prose.
        """
        word = command(pieces[at].word)
        following = next_words(pieces, at + 1, 3)
        if word in self._games:
            for count, place in enumerate(following[:2]):
                name = command(pieces[place].word)
                if one := self._of_game.get((name,)):
                    return one, place + 1, True
                if _is_number(name):  # the command is missing, or is one that there is not
                    return self._of_game["move",], place, True
                if count and not pieces[place].ends_sentence:
                    break
            near = None
            if word == pieces[at].word and any(is_known(pieces[one].word) for one in following[1:]):
                near = _nearest(pieces[following[0]].word.lower(), tuple(self._of_game))
            return (self._of_game[near], following[0] + 1, False) if near else None
        if following and (one := self._of_all.get((word, command(pieces[following[0]].word)))):
            return one, following[0] + 1, False
        if following and word in self._begun_by:
            second = games.nearest(pieces[following[0]].word, self._begun_by[word])
            return (self._of_all[word, second], following[0] + 1, False) if second else None
        found = self._of_all.get((word,))
        if found is None or (found.names in self._of_game and following and _is_number(pieces[following[0]].word)):
            found = self._of_game.get((word,), found)
        return (found, at + 1, False) if found else None


class _Reading:
    """One text being read."""

    def __init__(self, masking: Masking, text: str, is_user: IsUser | None) -> None:
        self.masking, self.text = masking, text
        self.pieces = list(pieces_of(text))
        self._is_user = is_user
        self._users: dict[str, bool] = {}
        self.secret: set[int] = set()
        self.spread: set[str] = set()
        """Secrets that are masked wherever else they stand."""

    def masked(self) -> Masked:
        """The text without its secrets."""
        for at, piece in enumerate(self.pieces):
            if self.masking.may_begin(piece.word) and (begun := self.masking.begun(self.pieces, at, self.is_known)):
                signature, begin, has_game = begun
                self._read_command(at, signature, begin, has_game=has_game)
            if _is_number(piece.word):
                self._read_beside(at)
            elif is_tournament_board(piece.word):
                self._read_beside_a_tournament_board(at)
            if piece.word.lower() in NAMED:
                self._read_named(at)
        parts, end, secrets = [], 0, []
        for at, piece in enumerate(self.pieces):
            if piece.start >= end and (at in self.secret or piece.word in self.spread):
                parts += [self.text[end : piece.start], MASK]
                end = piece.end
                secrets += [piece.word, self.whole(at), self.text[piece.start : piece.end]]
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
        self.secret.add(self._first(at))
        word = self.pieces[at].word
        if len(word) >= SHORTEST_PASSWORD and (everywhere or is_strange(word)):
            self.spread.add(word)

    def whole(self, at: int) -> str:
        """A word with all that a password may hold and others do not, but not if its parts are those of a turn."""
        last = self._last(at) + 1
        parts = self.pieces[self._first(at) : last]
        behind = self.pieces[last : last + 1]
        end = behind[0].start if behind and behind[0].end == parts[0].end else parts[0].end
        typed = self.text[parts[0].start : end].strip(BESIDE_WORDS)
        is_turn = all(len(part.word) < SHORTEST_PASSWORD for part in parts) and not _is_no_move(typed)
        return self.pieces[at].word if is_turn or len(parts) == 1 else typed

    def is_long(self, at: int) -> bool:
        """Whether a word is long enough for a password."""
        return len(self.whole(at)) >= SHORTEST_PASSWORD

    def _first(self, at: int) -> int:
        """The first part of what may be one password."""
        least = at - MOST_GLUED
        while at > least and self._is_glued(at):
            at -= 1
        return at

    def _last(self, at: int) -> int:
        """The last part of it."""
        most = at + MOST_GLUED
        while at < most and self._is_glued(at + 1):
            at += 1
        return at

    def _before(self, at: int) -> int:
        """The first part of what stands in front of a word and is no option; less than 0 if nothing does."""
        least, at = at - MOST_OPTIONS, at - 1
        while at > least and at >= 0 and self.pieces[at].is_option:
            at -= 1
        return self._first(at)

    def _behind(self, at: int) -> int:
        """The first part of what stands behind a word and is no option."""
        at = self._last(at) + 1
        most = at + MOST_OPTIONS
        while at < min(most, len(self.pieces)) and self.pieces[at].is_option:
            at += 1
        return at

    def _is_glued(self, at: int) -> bool:
        """Whether a piece and the one in front of it may be parts of one password."""
        if not 0 < at < len(self.pieces) or self.pieces[at - 1].end != self.pieces[at].end:
            return False
        return not any(
            self.is_user(one.word)
            or _is_number(one.word)
            or self.masking.is_word(one.word)
            or one.word.lower() in NAMED
            for one in self.pieces[at - 1 : at + 1]
        )

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
        if not is_found and (has_game or begins or len(signature.names) > 1):
            is_command = has_game or not (signature.of_game or self.pieces[at].word.istitle())
            self._read_loosely(at, signature, begin, is_line=begins and is_command, has_game=has_game)

    def _betrays(
        self, at: int, signature: Signature, way: Sequence[str], given: Sequence[int], found: int, *, has_game: bool
    ) -> bool:
        """Keep the word in the place of a password secret, unless it seems to be prose; whether it did."""
        word = self.pieces[found].word
        named = dict(zip(way, (self.pieces[one].word for one in given), strict=False))
        knows = self.is_user(named.get("userid", ""))
        numbered = _is_number(named.get("board", "")) and self.pieces[at].word.lower() != "board"
        runs_on = not any(self.pieces[one].ends_sentence for one in given if one <= found)
        is_long = self.is_long(found)
        is_sure = False
        if has_game and (is_long or (knows and "board" in named)):
            is_sure = True
        elif not is_long or self.is_known(word):
            return False
        elif self.pieces[at].begins and (
            numbered or self._is_alone(at, found) or not (signature.of_game or self.pieces[at].word.istitle())
        ):
            is_sure = knows
        elif not (is_strange(word) or (knows and runs_on) or (numbered and self._ends_like_a_command(found))):
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

    def _read_loosely(self, at: int, signature: Signature, begin: int, *, is_line: bool, has_game: bool) -> None:
        """Find what may be secret in a command that lacks words, or that takes no password."""
        has_password = any("password" in name for way in signature.ways for name in way)
        longest = max(map(len, signature.ways), default=0)
        window = self._given(at, begin, longest + 4, is_whole=False)
        words = [self.pieces[one].word for one in window]
        users = [self.is_user(word) for word in words]
        is_line = is_line or (self.pieces[at].word.lower() != "board" and any(map(_is_number, words[:3])))
        on_line = True
        for place, (one, word) in enumerate(zip(window, words, strict=True)):
            on_line = on_line and not self.pieces[one].ends_line
            whole = self.whole(one)
            if len(whole) < SHORTEST_PASSWORD or self.masking.is_word(word) or self.is_known(word) or _is_number(word):
                continue
            is_beside = any(users[max(place - 1, 0) : place] + users[place + 1 : place + 2])
            if signature.names == ("challenge",):
                is_beside = is_beside and (sum(users) > 1 or not is_userid(word))  # one that there is not is said back
            if not (has_game or self.pieces[at].begins) or not (has_password or on_line):
                is_beside = is_beside and is_strange(whole)
            is_behind_board = has_game and place > 0 and _is_number(words[place - 1]) and _is_no_move(word)
            is_place = has_password or is_behind_board
            fills_line = is_line and on_line and (has_password or self.pieces[at].begins)
            if is_beside or (is_place and (is_strange(whole) or fills_line)):
                self.hide(one, everywhere=False)

    def _read_beside(self, at: int) -> None:
        """Find what stands beside a userid that stands, with it, beside a board."""
        before, behind = self._before(at), self._behind(at)
        for first, second in ((before, self._before(before)), (behind, self._behind(behind))):
            for user, found in ((first, second), (second, first)):
                near = range(min(at, user, found) + 1, max(at, user, found) + 1)
                if min(user, found) < 0 or max(user, found) >= len(self.pieces):
                    continue
                word = self.pieces[found].word
                if not self.is_long(found) or any(self.pieces[one].ends_paragraph for one in near):
                    continue
                ends = any(self.pieces[one].ends_sentence for one in near) or (
                    user == second and "," in self.text[self.pieces[at].start : self.pieces[user].end]
                )
                if (ends and not is_strange(self.whole(found))) or self.masking.is_word(word):
                    continue
                if self.is_user(self.pieces[user].word) and not self.is_known(word):
                    self.hide(found, everywhere=False)
        if before >= 0 and behind < len(self.pieces):
            for user, found in ((before, behind), (behind, before)):
                word = self.pieces[found].word
                if is_strange(self.whole(found)) and self.is_user(self.pieces[user].word) and not self.is_known(word):
                    self.hide(found, everywhere=False)

    def _read_beside_a_tournament_board(self, at: int) -> None:
        """Find what stands beside a userid that stands beside what may be a board of a tournament, or a cell."""
        for user, found in ((at - 1, at - 2), (at + 1, at + 2)):
            if min(user, found) < 0 or max(user, found) >= len(self.pieces):
                continue
            if self.is_known(self.pieces[user].word) and not self.is_known(self.pieces[found].word):
                whole = self.whole(found)
                if is_strange(whole) and _is_no_move(whole):
                    self.hide(found, everywhere=False)

    def _read_named(self, at: int) -> None:
        """Find what is called a password."""
        pieces = self.pieces
        found = at + 1
        if pieces[at].word == MASK and found < len(pieces):
            between = self.text[pieces[at].start : pieces[found].end].partition(MASK)[2]
            if between[:1] not in {":", "="}:
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
        word = pieces[found].word
        before = self.text[pieces[found - 1].start : max(self.text.find(word, pieces[found].start), 0)]
        if self.is_long(found) and (
            is_beside or is_strange(self.whole(found)) or re.search("[:=]", before[-20:]) is not None
        ):
            self.hide(found, everywhere=False)

    def _given(self, at: int, begin: int, most: int, *, is_whole: bool = True) -> list[int]:
        """The places of the words that follow a command, as far as they can belong to it."""
        given: list[int] = []
        may_cross = not any(self.pieces[one].word.lower() == "board" for one in range(at, min(begin, len(self.pieces))))
        for one in next_words(self.pieces, begin, most):
            piece = self.pieces[one]
            if piece.ends_paragraph and not (may_cross and is_whole):
                break
            given.append(one)
        return given


def strange(answer: Sequence[str]) -> list[str]:
    """The words of an answer to a board mail that are no parts of a move; one alone must look like a password."""
    parts = [part for word in answer for part in word.split(",")]
    if len(parts) == 1 and not is_strange(parts[0]):
        return []
    return [word for word in answer if len(word) >= SHORTEST_PASSWORD and any(map(_is_no_move, word.split(",")))]


def of_lost_answer(line: Sequence[str]) -> list[str]:
    """The words that may be a password in a line that may be an answer to a board mail at the wrong address."""
    words = list(filter(None, (word.strip(BESIDE_WORDS) for word in line)))
    has_move = len(words) < FEWEST_OF_PROSE and any(re.match(r"[-+]?[a-z]\d", word, re.IGNORECASE) for word in words)
    return strange(words) if has_move else [word for word in words if is_strange(word) and word.isprintable()]


def _is_no_move(word: str) -> bool:
    """Whether letters stand together in a word as in no notation of a game, but for compass points."""
    runs = re.findall(r"[^\W\d_]{4,}", word.lower())
    return "=" not in word and any(run.strip("nesw") for run in runs)


@lru_cache(maxsize=1000)
def _nearest(word: str, known: tuple[tuple[str, ...], ...]) -> tuple[str, ...] | None:
    """The command that was meant by a word that is none."""
    meant = MEANT.get(word) or (
        games.nearest(word, [name for (name,) in known]) if len(word) >= SHORTEST_COMMAND else ""
    )
    return (meant,) if (meant,) in known else None


def _decoded(words: re.Match[str]) -> str:
    """What is encoded as in the header of a mail, as text in one line; what cannot be decoded stays as it is."""
    try:
        plain = str(make_header(decode_header(words[0])))
    except (MessageError, ValueError, LookupError):
        return words[0]
    return " ".join(clean(plain).split())


def _is_number(word: str) -> bool:
    """Whether a word is the number of a board for certain."""
    return word[:1].isdecimal() and re.fullmatch("[0-9]{3,12}", word.partition("#")[0], re.ASCII) is not None


def is_strange(word: str) -> bool:
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
