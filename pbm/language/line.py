"""A line of a shell or a mail, read once: what it says, which command it names, and what in it is secret."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import click

import games
from pbm.language import words
from pbm.language.grammar import Command, Group, Root
from pbm.names import SHORTEST_PASSWORD
from pbm.texts import MASK

if TYPE_CHECKING:
    from pbm.language.masking import IsUser, Masked

NOWHERE = click.Context(click.Command(""))
"""Where commands are looked up; that of a line is carried out in a context of its own, which stands in this one."""


class Line(NamedTuple):
    """What somebody has typed. It is read where it comes in, and handed on to all who have to do with it."""

    tree: Root
    """The commands that there are."""
    typed: str
    words: Sequence[str]
    """Without what mail programs add, command words first."""
    game: str
    """The game whose name it begins with, or nothing."""
    command: Command | None
    """The command that it names, however it goes on; None if there is no such command."""
    names: str
    """The words that name it, in full, such as ``spiro move``, as far as there is such a command."""
    rest: Sequence[str]
    """The words behind those that name the command."""

    @classmethod
    def read(cls, tree: Root, typed: str) -> Self:
        """Find out what a line says."""
        tidied = words.tidied([typed], games.exists)
        node: click.Command | None = tree
        rest, game, names = tidied, "", list[str]()
        while isinstance(node, Group) and rest:
            names.append(words.command(rest[0]))
            node = node.get_command(NOWHERE, names[-1])
            game = game or (names[0] if node is tree.game else "")
            rest = rest[1:]
        command = node if isinstance(node, Command) else None
        return cls(tree, typed, tidied, game, command, " ".join(names), rest)

    def passwords(self) -> Sequence[str] | None:
        """The words in the place of a password; None if the line is not understood."""
        if self.command is None:
            return None
        _, others = words.split(self.rest, self.command.begins_moves)
        return None if self.command.wrong_number(others) else self.command.passwords(others)

    def masked(self, is_user: "IsUser | None" = None, *, is_answer: bool = False) -> "Masked":
        """The line as it may be seen, and what was masked in it; an *answer* to a board mail is a mere move.

        Of a line that is not understood, that is every word but the first two, and these if they look like passwords.
        """
        from pbm.language.masking import Masked, of_lost_answer, strange

        found = self.passwords()
        if found is None:
            # an answer to a board mail is no command, and its short words are no passwords
            likely = strange(self.words) if is_answer else of_lost_answer(self.words[:2])
            found = [word for word in likely if not self.tree.masking.is_word(word)]
            if not is_answer:
                found += self.words[2:]
        whole = {word for one in found for word in one.split()}
        read = self.tree.masking.read(" ".join(self.typed.split()), is_user)
        shown = " ".join(MASK if word in whole else word for word in read.text.split())
        return Masked(shown, [*found, *read.secrets])

    def signed(self, passwords: Collection[str]) -> str | None:
        """The line as it may be seen when these words are known to be right passwords: all stand in their places.

        None if another word stands in such a place, or if one of them also stands within another word.
        """
        found = self.passwords()
        if not found or not set(found) <= set(passwords):
            return None
        shown = " ".join(MASK if word in found else word for word in self.typed.split())
        return None if any(word in shown for word in found) else shown

    def secrets(self, is_user: "IsUser") -> Sequence[str]:
        """The words that nobody may see, none of which is short."""
        others = self.words[2:]
        if all(len(word) < SHORTEST_PASSWORD for word in others) or (len(others) == 1 and is_user(others[0].lower())):
            return []  # a user whom a command is about stands beside nothing that would make a password of him
        return [word for word in self.masked(is_user).secrets if len(word) >= SHORTEST_PASSWORD]
