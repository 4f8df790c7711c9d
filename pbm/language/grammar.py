"""What a command is, how it is written, and which words name it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from types import MappingProxyType
from typing import Any, NamedTuple

import click

import games
from pbm import texts
from pbm.actions import finding
from pbm.language import words
from pbm.names import is_address, is_board, is_pool, is_userid
from pbm.refusals import Misused, Refused
from pbm.session import Session

MOST_CHARACTERS = 10_000
"""How long a line may be; the longest turns of our games have some thousands."""
UNNAMED: Mapping[str, str] = MappingProxyType({})
SIGNED_BOARD = "board", "userid", "password"
"""The arguments in front of a move."""
LOOKUP_CONTEXT = click.Context(click.Command(""))
"""The context in which click looks commands up."""


class Explained(NamedTuple):
    """The name, the syntax and the help of a command."""

    name: str
    """The words that lead to it, such as ``change password``."""
    syntax: str
    text: str
    """The help of the command; its first paragraph is the summary."""


class ShellContext(NamedTuple):
    """What only a shell has."""

    read_password: Callable[[], str]
    """Asks for a password that is written as a hyphen."""
    operators: Sequence[str]
    """The operator's commands, which are none of the language."""


class Command(click.Command):
    """A command of the language: words, with options among them, and the function in `pbm.actions` that it calls."""

    def __init__(
        self,
        name: str,
        words: Sequence[click.Parameter],
        deed: str = "",
        text: str = "",
        *,
        reads: bool = False,
        check: str = "",
        needs_store: bool = True,
        takes_options: bool = False,
        takes_plan: bool = False,
        named: Mapping[str, str] = UNNAMED,
        instead: str = "",
        in_any_order: bool = False,
        own_text: bool = False,
    ) -> None:
        """Declare a command, which may take the options of a game, and *named* ones of its own: ``--name=VALUE``.

        One that is named with an empty VALUE is written without it. A command without a *text* is not listed. One that
        takes a plan gets its lines last, which stand above the comment.

        The *deed* is a function, such as ``actions.play.move``: it gets the session, the name of the player who has
        signed, and what the words stand for. It only *reads*, or may write. A *check* is a function that may refuse the
        command before a password is looked at, or return what the words stand for instead.

        *instead* is for a word that belongs where a move stands, such as ``undo``: if a board, a userid and a password
        follow it, the refusal says to write *instead* there. A command that takes its words *in any order* may also
        have a board in front of the userid and the password. The comment of one with a text *of their own* is for its
        user alone, and not for others.
        """
        super().__init__(name, params=list(words), help=text, hidden=not text)
        self.deed = deed
        self.named = named
        self.writes = not reads
        self.check = check
        self.needs_store = needs_store
        self.takes_options = takes_options
        self.takes_plan = takes_plan
        self.own_text = own_text
        self.instead = instead
        self.in_any_order = in_any_order
        self.add_help_option = False  # `--help` would print and leave; the shell reads it as `help COMMAND`
        own = tuple(parameter.name or "" for parameter in self.params)
        self.ways: list[tuple[str, ...]] = [own]
        """What its words stand for, in each order that it takes."""
        if instead:
            self.ways.append(SIGNED_BOARD)
        if in_any_order:
            self.ways.append(("followed", "userid", "password"))
        self.moves_at = next((number for number, name in enumerate(own) if name in {"move", "moves", "lines"}), None)
        """How many words stand in front of the moves."""
        self.password_at = next((number for number, name in enumerate(own) if "password" in name), 0)
        """How many words stand in front of the first password; 0 if there is none."""

    def given(self, names: str, typed: Sequence[str], shell: ShellContext | None = None) -> dict[str, Any]:
        """What the words behind the *names* of the command stand for. Raises Refused."""
        options, others, _ = self.split(typed)
        named: dict[str, str | None] = {}
        if self.named:
            named, options = self.take_named(options)
        if options and not self.takes_options:
            raise Refused(f"`{names}` takes no option {options[0]}.")
        if self.params and self.params[-1].name == "move":
            others[self.moves_at :] = words.one_move(" ".join(others[self.moves_at :]))
        if wrong := self.wrong_number(others, game=names.partition(" ")[0]):
            raise Misused(f"{wrong}. The command is written:\n\n  {self.syntax(names)}")
        given: dict[str, Any] = {}
        if self.takes_options:
            given["options"] = options
        if self.instead and len(others) == len(SIGNED_BOARD):
            return given | dict(zip(SIGNED_BOARD, others, strict=True))
        if shell and "-" in others:
            self.read_passwords(others, shell)
        left = iter(others)
        for parameter in self.params:  # only the last one can take several words
            given[str(parameter.name)] = tuple(left) if parameter.nargs < 0 else next(left, "")
        if self.named:
            given["named"] = named
        return given

    def read_passwords(self, others: list[str], shell: ShellContext) -> None:
        """Ask for the passwords that are written as hyphens, and replace the hyphens by them."""
        for way in self.ways:
            for place, name in enumerate(way[: len(others)]):
                if name in {"password", "new_password"} and others[place] == "-":
                    others[place] = shell.read_password()

    def take_named(self, options: Sequence[str]) -> tuple[dict[str, str | None], list[str]]:
        """The named options of the command, None for each that is missing; and the others."""
        values: dict[str, str | None] = dict.fromkeys(self.named)
        others = []
        for option in options:
            name, equals, value = option.removeprefix("--").partition("=")
            name = name.lower()
            fits = [full for full in self.named if name and option.startswith("--") and full.startswith(name)]
            if not fits:
                near = games.nearest(name, self.named) if option.startswith("--") else ""
                if near:
                    meant = _as_written(near, self.named[near])
                    raise Refused(f"There is no option {games.quoted(option)}; did you mean {meant}?")
                others.append(option)
                continue
            if len(fits) > 1 and name not in fits:
                raise Refused(f"{option!r} can be {' or '.join(f'--{full}' for full in fits)}; write more of it.")
            full = name if name in fits else fits[0]
            if equals and not self.named[full]:
                raise Refused(f"--{full} stands alone, without a value.")
            if not value and self.named[full]:
                raise Refused(f"--{full} is written {_as_written(full, self.named[full])}.")
            if values[full] is not None:
                raise Refused(f"--{full} is given twice.")
            values[full] = value
        return values, others

    def wrong_number(self, others: Sequence[str], *, game: str = "") -> str:
        """What is missing or too much among the words for the command; empty if their number is right.

        The *game* of the command is needed where an option of it is shown.
        """
        if self.instead and len(others) == len(SIGNED_BOARD) and is_board(others[0]):
            return ""  # `misplaced` says where they belong
        missing = [parameter for parameter in self.params[len(others) :] if parameter.required]
        if missing and self.in_any_order:
            return "Some words are missing"
        if missing:
            names = [str(parameter.metavar) for parameter in missing]
            return f"{texts.enumerated(names)} {'is' if len(names) == 1 else 'are'} missing"
        if any(parameter.nargs < 0 for parameter in self.params):
            return ""  # it takes any number of words
        most = len(self.params)
        if len(others) <= most:
            return ""
        hint = ""
        if self.moves_at:
            hint = "; a move has commas between its parts, and no blanks"
        elif self.takes_options and not all(map(is_userid, others)):
            such_as = games.such_as_option(game) if games.exists(game) else ""
            hint = f"; an option and its value are one word{such_as}"
        return f"Too many words: {len(others)} instead of {most}{hint}"

    def passwords(self, others: Sequence[str]) -> list[str] | None:
        """Which of the words stand where a password belongs; None if they do not look like what the command takes."""
        passwords: list[str] = []
        fits = False  # as long as no order fits, a word is missing or too much, and another one may be the password
        for way in self.ways:
            if way is not self.ways[0] and len(way) != len(others):
                continue
            names = list(way)
            if way:
                names += [way[-1]] * (len(others) - len(way))  # the last one may stand for several words
            given = list(zip(names, others, strict=False))
            if all(LOOKS_RIGHT[name](word) for name, word in given if name in LOOKS_RIGHT):
                fits = True
                passwords += [word for name, word in given if is_secret(name, word)]
        return passwords if fits else None

    def syntax(self, name: str) -> str:
        """How the command is written; *name* is what stands in front of its words, such as ``spiro move``."""
        if self.hidden:
            return f"{name.partition(' ')[0]} move BOARD USERID PASSWORD {self.instead}"
        parts = [name]
        if self.takes_options:
            parts.append("[-options]")
        else:
            parts += [f"[{_as_written(option, value)}]" for option, value in self.named.items()]
        parts += [str(parameter.metavar) for parameter in self.params]
        return " ".join(parts)

    def split(self, typed: Sequence[str]) -> tuple[list[str], list[str], bool]:
        """The options among the words behind the command, the other words, and whether there are moves among these.

        From the first move on, every word belongs to a move, and blanks next to a comma are dropped.
        """
        options: list[str] = []
        others: list[str] = []
        for place, word in enumerate(typed):
            is_option = words.is_option(word)
            # `preview new GAME -size=5 e3` shows no board, and nobody signs it
            is_new = self.name == "preview" and len(others) > 0 and others[0].lower() == "new"
            moves_begin = len(others) == self.moves_at
            if is_new:
                moves_begin = len(others) == 2 and not is_option
            if moves_begin:
                return options, others + words.moves(" ".join(typed[place:])), True
            if is_option:
                options.append(word)
            else:
                others.append(word)
        return options, others, False


def _as_written(option: str, value: str) -> str:
    """How a named option is written, with what stands for its value, if it has one."""
    return f"--{option}={value}" if value else f"--{option}"


def is_secret(name: str, word: str) -> bool:
    """Whether a word that stands for this argument is a password, or a URL of notices, which may have one in it."""
    return "password" in name or (name == "url" and ":" in word)


class Call(NamedTuple):
    """A command, with what its words stand for."""

    command: Command
    given: Mapping[str, Any]

    @property
    def passwords(self) -> list[str]:
        """The passwords among its words."""
        return [value for name, value in self.given.items() if value and is_secret(name, value)]


def misplaced(session: Session, command: Command, game: str, board: str, userid: str, **_: str) -> Misused:
    """The refusal of a word that belongs where a move stands. It shows the line to type, without the password."""
    is_user = session.store.users.is_taken(userid.lower())
    where = board if is_board(board) else "BOARD"
    line = f"{game} move {where} {userid if is_user else 'USERID'} PASSWORD {command.instead}"
    text = f"`{command.instead}` belongs in the place of a move:\n\n  {line}"
    if not command.hidden:
        text += f"\n\nAs a command it is about challenges:\n\n  {command.syntax(f'{game} {command.name}')}"
    if is_user:
        return Misused(text)
    return Misused(text, secrets=(userid,))  # it may be the password in the wrong place


class Group(click.Group):
    """Commands that begin with the same word, which may be in any case and shortened where the language allows it."""

    def explained(self, prefix: str = "") -> Iterator[Explained]:
        """The name, the syntax and the help of each command, with the *prefix* in front of the first two."""
        for name, command in sorted(self.commands.items()):
            if isinstance(command, Group):
                yield from command.explained(f"{prefix}{name} ")
            elif isinstance(command, Command) and not command.hidden:
                yield Explained(f"{prefix}{name}", command.syntax(f"{prefix}{name}"), cleandoc(str(command.help)))


class Root(Group):
    """All commands that begin a line: the global ones, and those of each game behind its name."""

    def __init__(self, name: str, commands: Sequence[click.Command], game: Group) -> None:
        """Declare a tree of global commands, and of those of a game."""
        super().__init__(name, commands)
        self.game = game

    def explained(self, prefix: str = "") -> Iterator[Explained]:
        """The name, the syntax and the help of each command, those of a game first."""
        yield from self.game.explained(f"{prefix}GAME ")
        yield from super().explained(prefix)

    def knows(self, word: str) -> bool:
        """Whether a word is the name of a game or of a command, or the first word of one."""
        name = words.command(word)
        return name in self.commands or name in self.game.commands or name in games.names()

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, or the commands of the game of that name."""
        return super().get_command(ctx, name) or (self.game if games.exists(name) else None)

    def find(self, typed: Sequence[str]) -> tuple[Command | None, list[str]]:
        """The command that words begin with, None if they name none; and the words that name it, in full."""
        node: click.Command | None = self
        names: list[str] = []
        while isinstance(node, Group) and len(names) < len(typed):
            names.append(words.command(typed[len(names)]))
            node = node.get_command(LOOKUP_CONTEXT, names[-1])
        return node if isinstance(node, Command) else None, names

    def unknown(self, typed: Sequence[str], operators: Sequence[str]) -> Misused:
        """The refusal of words that name no command; *operators* are the other commands of a shell."""
        first = words.command(typed[0]) if typed else ""
        node = self.get_command(LOOKUP_CONTEXT, first)
        here = ""  # the name of a game, or of a group such as `change`, in which the command is looked for
        group: Group = self
        rest = typed
        if isinstance(node, Group):
            here = first
            group = node
            rest = typed[1:]
        known = "`help commands` lists all commands."
        if here in self.commands:
            known = f"`help {here}` lists the commands behind `{here}`."
        if not rest or words.is_option(rest[0]):
            place = f" behind `{here}`" if here else ""
            return Misused(f"There is no command{place}; {known}")
        name = words.command(rest[0])
        if not here and name == "game":
            return Misused(f"GAME is a placeholder; write the name of one in its place: {', '.join(games.names())}.")

        reason = f"There is no game or command {rest[0]!r}; "
        if here:
            reason = f"There is no command `{here} {rest[0]}`; "
        near = self._meant(group, here, name.rstrip(".,:;!?"), rest[1:], operators)
        if near:
            reason += f"did you mean `{near}`? "
        if near.startswith("GAME "):
            reason += f"GAME is {texts.enumerated(games.names(), 'or')}; "
        return Misused(f"{reason}{known}")

    def _meant(self, group: Group, here: str, word: str, rest: Sequence[str], operators: Sequence[str]) -> str:
        """How the command is written that was probably meant by a *word* behind *here*; empty if none is near."""
        following = rest[0].lower() if rest else ""
        is_game = games.exists(following)
        if group is self.game:
            game = here
        elif is_game:
            game = following  # as in `move symple`
        else:
            game = "GAME"

        ways = self._ways_written(group, here, game, operators)
        meant = words.MEANT.get(word, word)
        if word.isdecimal():
            meant = "show"  # the number of a board
        if meant in ways:
            return ways[meant]
        # three letters of a short word in common, as echo and fetch have, are not near enough for a command
        near = ""
        if group is self.game:
            near = games.nearest(meant, self.game.commands, 0.7)
        near = near or games.nearest(meant, ways, 0.7)
        if near in ways:
            return ways[near]
        if is_game:
            return ""
        return ways.get(following, "")  # as in `please move`

    def _ways_written(self, group: Group, here: str, game: str, operators: Sequence[str]) -> dict[str, str]:
        """How each command is written, by its name, such as ``spiro move`` for ``move`` behind the *game* spiro.

        Where a name means several commands, the one of the *group* counts if its name *here* was typed.
        """
        global_commands = {name: name for name in tuple(self.commands) + games.names()}
        global_commands |= {name: f"pbm {name}" for name in operators}
        commands_of_game = {}
        for name, command in self.game.commands.items():
            commands_of_game[name] = f"{game} {name}"
            if command.hidden and isinstance(command, Command):
                commands_of_game[name] = command.syntax(game)  # a word where a move stands
        groups = {begin: node for begin, node in self.commands.items() if isinstance(node, Group)}
        commands_of_groups = {name: f"{begin} {name}" for begin, node in groups.items() for name in node.commands}
        commands_here = {}
        if group is self:
            commands_here = global_commands
        elif here in groups:
            commands_here = {name: f"{here} {name}" for name in group.commands}
        return commands_of_groups | global_commands | commands_of_game | commands_here  # the last one counts


def function(name: str) -> Callable[..., Any]:
    """The function of pbm with that name, such as ``actions.play.move``; its module is loaded only now."""
    module, _, own = name.rpartition(".")
    deed: Callable[..., Any] = getattr(import_module(f"pbm.{module}"), own)
    return deed


def _names_board(word: str) -> bool:
    """Whether a word is the number of a board, also at a move (``101#4``), or ``new``."""
    return is_board(word.partition("#")[0]) or word == "new"


LOOKS_RIGHT: Mapping[str, Callable[[str], bool]] = {
    "board": _names_board,
    "pool": is_pool,
    "followed": lambda word: is_board(word) or word.lower() in finding.WORDS,
    "boards": lambda word: _names_board(word) or is_userid(word),
    "userid": lambda word: is_userid(word) and word.lower() not in finding.WORDS,
    "addresses": is_address,
    "change": lambda word: word.lower() in words.CHANGES_OF_NOTICES,
}
"""Whether a word can stand for an argument; a line in which one cannot is not understood."""
