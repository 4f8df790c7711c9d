"""A line of a shell or a mail, read once: what it says, what in it is secret, and what is answered if it is refused."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import games
from pbm import letters
from pbm.language import masking, words
from pbm.language.commands import root
from pbm.language.grammar import MOST_CHARACTERS, Command
from pbm.language.masking import Masked
from pbm.letters import Letter
from pbm.names import SHORTEST_PASSWORD, IsUser
from pbm.refusals import Refused
from pbm.texts import MASK, reason_without, without


class Line(NamedTuple):
    """What somebody has typed. It is read where it comes in; whatever carries it out, refuses it or logs it gets it."""

    typed: str
    words: Sequence[str]
    """Its words without what mail programs add, command words first."""
    game: str
    """The game whose name it begins with, or nothing."""
    command: Command | None
    """The command that it names, however it goes on; None if there is no such command."""
    names: str
    """The words that name it, in full, such as ``spiro move``, as far as there is such a command."""
    rest: Sequence[str]
    """The words behind those that name the command."""

    @classmethod
    def read(cls, typed: str) -> Self:
        """Find out what a line says. A line that is too long is cut one character behind the limit."""
        typed = typed[: MOST_CHARACTERS + 1]
        tidied = words.tidied(typed)
        command, names = root.find(tidied)
        game = names[0] if names and games.exists(names[0]) else ""
        return cls(typed, tidied, game, command, " ".join(names), tidied[len(names) :])

    def passwords(self) -> Sequence[str] | None:
        """The words in the place of a password; None if the line is not understood."""
        if self.command is None:
            return None
        _, others, _ = self.command.split(self.rest)
        return None if self.command.wrong_number(others) else self.command.passwords(others)

    def masked(self, is_user: IsUser | None = None, *, is_answer: bool = False) -> Masked:
        """The line as it may be seen, and the words that were masked in it.

        Of a line that names no command, only the first two words are seen, unless it is an *answer* to a board mail.
        """
        if self.command is None:
            shown = self.typed.split() if is_answer else self.words[:2]
            is_mixed = is_answer and len(shown) > 1  # a word alone may be prose
            is_secret = masking.may_be_password if is_mixed else masking.is_strange
            parts = ((word, part) for word in shown for part in word.strip(masking.PUNCTUATION).split(","))
            found = [word for word, part in parts if is_secret(part) and not root.knows(part)]
            found += masking.behind_users(shown, is_user)
            text = " ".join(MASK if word in found else word for word in shown)
            return Masked(text if len(shown) == len(self.typed.split()) else f"{text} \u2026", found)
        known, at = self.passwords(), self.command.password_at
        found = [*(known or ())]
        if at and (known is None or any(1 < len(one) < SHORTEST_PASSWORD for one in known)):
            # it may have blanks, and goes on up to the moves
            found += [word for word in self.rest[at:] if not (self.command.moves_at and masking.is_turn(word))]
            found += self._long(is_user)
        read = masking.without_passwords(" ".join(self.typed.split()), is_user)
        text = without(read.text, found)
        return Masked(text, [*found, *read.secrets])

    def logged(self, is_user: IsUser) -> str:
        """The line as a log may hold it, also without words that may be a password in the wrong place."""
        found = [*self.masked(is_user).secrets, *self._long(is_user)]
        return without(" ".join(self.typed.split()), found)

    def refusal(self, why: Refused, body: str = "", game: str = "", is_user: IsUser | None = None) -> Letter:
        """What is answered if the line was refused: the reason, the board if they may see it, and what they wrote.

        Passwords are masked. The *game* is named for the answer to a board mail, which does not begin with it.
        """
        text, found = self.masked(is_user, is_answer=bool(game))
        secrets = [*why.secrets, *found]
        quoted = [without(text, why.secrets)]
        quoted += [without(one, secrets) for one in self._below(body, is_user).splitlines()]
        return letters.of_error(why, reason_without(str(why), secrets), quoted, game=game or self.game or "pbm")

    def _below(self, body: str, is_user: IsUser | None) -> str:
        """The text below the line without the passwords in it, also where it goes on with the line.

        The lines of `multiple` are masked as the commands that they are. Below a line that is not understood, the first
        line may be a command that is not, or an answer to a board mail with a password in front.
        """
        if self.command is not None and self.command.name == "multiple":
            return "\n".join(Line.read(one).masked(is_user).text for one in body.splitlines())
        typed = " ".join(self.typed.split())
        text = masking.without_passwords(f"{typed}\n{body}", is_user).text.partition("\n")[2]
        first = next((one for one in text.splitlines() if one.strip()), "")
        words = [word.strip(masking.PUNCTUATION) for word in first.split()] if self.passwords() is None else []
        is_new = self.command and "new_password" in self.command.ways[0]  # it may have blanks
        near_users = masking.behind_users(words, is_user)
        secrets = words if is_new else [*filter(masking.is_strange, words), *near_users]
        return text.replace(first, without(first, secrets), 1)

    def _long(self, is_user: IsUser | None) -> list[str]:
        """The words behind the command that are long enough for a password, and no users or turns."""
        takes_options = self.command is not None and self.command.takes_options
        rest = (word for word in self.rest if not (takes_options and words.is_option(word)))
        others = filter(masking.may_be_password, rest)
        return [word for word in others if not (is_user and is_user(word.lower()))]
