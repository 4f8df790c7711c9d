"""The arguments of a shell: the line in them, what only a shell understands, and which words are the operator's.

Nothing slow is imported, because a shell that asks another machine needs no more of the language.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

SHELL_OPTIONS = "--help", "--json", "--no-wait", "--picture"
"""Options that a shell understands and the language does not."""
SHELL_ONLY = frozenset(SHELL_OPTIONS) | {"-h"}
"""Arguments that, like the comment, are no part of the line."""
LACKS_COMMENT = "--comment needs a text: --comment=TEXT, or --comment=- for standard input."
COMMANDS_OF_MODULES = {
    "lab.arena": "arena",
    "lab.duel": "duel",
    "operator.boards": "boards",
    "operator.clocks": "clocks",
    "operator.completion": "complete completion",
    "operator.doctor": "doctor promises",
    "operator.events": "events hook",
    "operator.exchange": "backup export import restore",
    "operator.mails": "mail outbox",
    "operator.people": "addresses users",
    "operator.replay": "picture replay",
    "operator.settings": "settings",
    "operator.site": "site",
    "operator.status": "status",
    "operator.tournament": "tournament",
    "robot_players.accounts": "robots",
    "robot_players.analysis": "analyse",
    "robot_players.engine": "robot",
    "robot_players.puzzles": "puzzles",
    "robot_players.scripts": "play wait",
    "service.commands": "cleanup deliver demo fetch referee serve",
}
"""The operator's commands, by the module that has them."""
MODULES = dict(sorted((name, module) for module, names in COMMANDS_OF_MODULES.items() for name in names.split()))
"""The module of each command."""
MAIL_COMMANDS = frozenset({"key", "login"})
"""What stands behind `mail` in a command of the operator; no userid is one of these."""


class Arguments(NamedTuple):
    """What a shell was given."""

    line: list[str]
    comment: str
    """The comment; ``-`` stands for standard input."""
    options: frozenset[str]
    """The options that only a shell understands."""

    @property
    def words(self) -> list[str]:
        """The words of the line without options, in lower case."""
        return [word.lower() for word in self.line if not word.startswith("-")]

    @property
    def wants_help(self) -> bool:
        """Whether help is wanted on what the line names."""
        return not self.options.isdisjoint({"--help", "-h"})

    @property
    def as_json(self) -> bool:
        """Whether the answer is for a program."""
        return "--json" in self.options


def read_arguments(args: Iterable[str]) -> Arguments:
    """The line in the arguments, its comment, and the options that only a shell understands."""
    words = [arg.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for arg in args]
    comments = [word.partition("=")[2] for word in words if word.startswith("--comment=")]
    line = [word for word in words if word not in SHELL_ONLY and not word.startswith("--comment=")]
    comment = comments[-1] if comments else ""
    return Arguments(line, comment, SHELL_ONLY.intersection(words))


def is_operators(words: Sequence[str]) -> bool:
    """Whether these words name a command of the operator. Players have commands `mail` and `puzzles`, too."""
    first = words[0] if words else ""
    second = "".join(words[1:2])
    if first == "mail":
        return second in MAIL_COMMANDS
    if first != "puzzles":
        return first in MODULES
    import games  # 30 ms, for this command alone

    return games.exists(second)
