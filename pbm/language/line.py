"""A line of a shell or a mail, read once: what it says, which words are secret, and the answer if it is refused."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import games
from pbm import letters
from pbm.actions import finding
from pbm.language import masking, words
from pbm.language.commands import root
from pbm.language.grammar import MOST_CHARACTERS, Command
from pbm.language.masking import Masked
from pbm.letters import Letter
from pbm.names import SHORTEST_PASSWORD, IsUser
from pbm.refusals import Refused
from pbm.texts import MASK, reason_without, without

SIGNED_WORDS = "=signed-by-token="
"""Stands for a password where a token has proved the user; nobody types it by chance."""
LEAVE_OUT = "The token stands for userid and password: leave both out, or write `- -`."


class Line(NamedTuple):
    """What somebody has typed. It is read once, where it comes in, and then carried out, refused and logged."""

    typed: str
    words: Sequence[str]
    """The words of the line without what mail programs add, command words first."""
    game: str
    """The game that the line begins with; empty if it begins with none."""
    command: Command | None
    """The command that it names, however it goes on; None if there is no such command."""
    names: str
    """The words that name the command, in full, such as ``spiro move``."""
    rest: Sequence[str]
    """The words behind the name of the command."""

    @classmethod
    def read(cls, typed: str) -> Self:
        """Find out what a line says. A line that is too long is cut one character behind the limit."""
        typed = typed[: MOST_CHARACTERS + 1]
        tidied = words.tidied(typed)
        command, names = root.find(tidied)
        game = names[0] if names and games.exists(names[0]) else ""
        return cls(typed, tidied, game, command, " ".join(names), tidied[len(names) :])

    def passwords(self) -> Sequence[str] | None:
        """The words that stand where a password belongs; None if the line is not understood."""
        if self.command is None:
            return None
        _, others, _ = self.command.split(self.rest)
        return None if self.command.wrong_number(others) else self.command.passwords(others)

    def signed_by(self, userid: str, is_user: IsUser) -> Self:
        """The line with a userid and SIGNED_WORDS where the command has userid and password, if it has them.

        A user who is proved by a token leaves both out, or writes ``- -``. Raises Refused if another userid, or what
        may be a password, stands there: it must not become a part of a move.
        """
        if self.command is None or not {"userid", "password"} <= set(self.command.ways[0]):
            return self
        words_of_user = [userid, SIGNED_WORDS]
        begin = self.command.ways[0].index("userid")
        for way in self.command.ways:
            index = self._place(way.index("userid"), skips_options=True)
            if self.rest[index : index + 2] == ["-", "-"]:
                rest = list(self.rest)
                del rest[index : index + 2]
                place = index if begin else 0  # `subscribe` may have the board in front
                rest[place:place] = words_of_user
                return self._with_rest(rest)
            if index < len(self.rest) and self.rest[index].lower() == userid:
                raise Refused(LEAVE_OUT)

        index = self._place(begin, skips_options=True)
        word = self._word(index)
        following = self._word(index + 1)
        is_beside_password = (
            masking.may_be_password(following)
            and not is_user(following.lower())
            and following.lower() not in finding.WORDS
        )
        if is_user(word.lower()) and (begin > 0 or is_beside_password):
            raise Refused(LEAVE_OUT)

        index = self._place(begin)
        if begin and index == 0:
            return self  # even the board is missing
        rest = list(self.rest)
        rest[index:index] = words_of_user
        return self._with_rest(rest)

    def _word(self, index: int) -> str:
        """A word behind the names of the command; empty if there are not so many."""
        return self.rest[index] if index < len(self.rest) else ""

    def with_passwords(self, take: Callable[[], str]) -> Self:
        """The line in which each hyphen for a password is replaced by the password that *take* returns."""
        if self.command is None:
            return self
        rest = list(self.rest)
        for way in self.command.ways:
            for number, name in enumerate(way):
                index = self._place(number, skips_options=True)
                if name in {"password", "new_password"} and rest[index : index + 1] == ["-"]:
                    rest[index] = take()
        return self if rest == self.rest else self._with_rest(rest)

    def _place(self, count: int, *, skips_options: bool = False) -> int:
        """Where the next word stands behind so many words that are no options; the end if there are not so many."""
        for index, word in enumerate(self.rest):
            is_option = words.is_option(word)
            if count == 0 and not (skips_options and is_option):
                return index
            if not is_option:
                count -= 1
        return len(self.rest)

    def _with_rest(self, rest: Sequence[str]) -> Self:
        return self.read(" ".join([self.names] + list(rest)))

    def masked(self, is_user: IsUser | None = None, *, is_answer: bool = False) -> Masked:
        """The line as it may be seen, and the words that were masked in it.

        Of a line that names no command, only the first two words are seen, unless it is an *answer* to a board mail.
        """
        if self.command is None:
            return self._masked_without_command(is_user, is_answer=is_answer)
        passwords = self.passwords()
        secrets = list(passwords or ())
        begin = self.command.password_at
        is_doubtful = passwords is None or any(1 < len(word) < SHORTEST_PASSWORD for word in passwords)
        if begin and is_doubtful:
            # the password may have blanks, and goes on up to the moves
            for word in self.rest[begin:]:
                if not (self.command.moves_at and masking.is_turn(word)):
                    secrets.append(word)
            secrets += self._long(is_user)
        masked = masking.without_passwords(" ".join(self.typed.split()), is_user)
        text = without(masked.text, secrets)
        return Masked(text, secrets + list(masked.secrets))

    def _masked_without_command(self, is_user: IsUser | None, *, is_answer: bool) -> Masked:
        """An answer to a board mail, or the first two words of a line that is not understood, without passwords."""
        typed_words = self.typed.split()
        shown = typed_words if is_answer else self.words[:2]
        is_secret = masking.is_strange
        if is_answer and len(shown) > 1:  # a word alone may be prose
            is_secret = masking.may_be_password
        secrets = []
        for word in shown:
            parts = word.strip(masking.PUNCTUATION).split(",")
            secrets += [word for part in parts if is_secret(part) and not root.knows(part)]
        secrets += masking.behind_users(shown, is_user)
        text = " ".join(MASK if word in secrets else word for word in shown)
        if len(shown) < len(typed_words):
            text += " \u2026"
        return Masked(text, secrets)

    def logged(self, is_user: IsUser) -> str:
        """The line as a log may hold it, also without words that may be a password in the wrong place."""
        secrets = list(self.masked(is_user).secrets)
        secrets += self._long(is_user)
        return without(" ".join(self.typed.split()), secrets)

    def refusal(self, why: Refused, body: str = "", game: str = "", is_user: IsUser | None = None) -> Letter:
        """What is answered if the line was refused: the reason, the board if they may see it, and what they wrote.

        Passwords are masked. The *game* is named for the answer to a board mail, which does not begin with it.
        """
        text, masked_words = self.masked(is_user, is_answer=bool(game))
        secrets = list(why.secrets) + list(masked_words)
        quoted = [without(text, why.secrets)]
        quoted += [without(line, secrets) for line in self._below(body, is_user).splitlines()]
        return letters.of_error(why, reason_without(str(why), secrets), quoted, game=game or self.game or "pbm")

    def _below(self, body: str, is_user: IsUser | None) -> str:
        """The text below the line without the passwords in it, also where it goes on with the line.

        The lines of `multiple` are masked as the commands that they are. Below a line that is not understood, the first
        line may be a command that is not, or an answer to a board mail with a password in front.
        """
        if self.command is not None and self.command.name == "multiple":
            return "\n".join(Line.read(line).masked(is_user).text for line in body.splitlines())
        typed = " ".join(self.typed.split())
        text = masking.without_passwords(f"{typed}\n{body}", is_user).text.partition("\n")[2]
        if self.passwords() is not None:
            return text
        first = next((line for line in text.splitlines() if line.strip()), "")
        first_words = [word.strip(masking.PUNCTUATION) for word in first.split()]
        if self.command and "new_password" in self.command.ways[0]:
            secrets = first_words  # a new password may have blanks, and go on here
        else:
            secrets = [word for word in first_words if masking.is_strange(word)]
            secrets += masking.behind_users(first_words, is_user)
        return text.replace(first, without(first, secrets), 1)

    def _long(self, is_user: IsUser | None) -> list[str]:
        """The words behind the command that are long enough for a password, and no users or turns."""
        takes_options = self.command is not None and self.command.takes_options
        long_words = []
        for word in self.rest:
            if takes_options and words.is_option(word):
                continue
            if is_user and is_user(word.lower()):
                continue
            if masking.may_be_password(word):
                long_words.append(word)
        return long_words
