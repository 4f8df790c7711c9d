"""What a command is, and how a line is dispatched to one: words go in, letters come out."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import cleandoc
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Concatenate, NamedTuple, ParamSpec

import click

import games
from games import Illegal
from pbm import letters, look, selection, users, words
from pbm.help import Explained
from pbm.letters import Letter
from pbm.session import Refused, Session

MOST_CHARACTERS = 10_000
"""How long a line may be; the longest turns of our games have some thousands."""
NOTHING: Mapping[str, str] = MappingProxyType({})
NOWHERE = click.Context(click.Command(""))
"""Where a command is looked up, but not carried out."""
Letters = list[Letter]
P = ParamSpec("P")


class Misused(Refused):
    """A line that is no command, or not the way its command is written."""

    status = 2


class Line(click.Command):
    """A command of the language: words, among which options may stand."""

    def __init__(
        self, *args: Any, takes_options: bool = False, named: Mapping[str, str] = NOTHING, **kwargs: Any
    ) -> None:
        """Declare a command, which may take the options of a game, and *named* ones of its own: ``--name=VALUE``."""
        super().__init__(*args, **kwargs)
        self.named = named
        self.add_help_option = False  # `--help` would print and leave; the shell reads it as `help COMMAND`
        self.takes_options = takes_options

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options out of the words, and let click deal out the others."""
        options, others = words.split(args, self.begins_moves)
        options = self.take_named(ctx, options)
        if self.takes_options:
            ctx.params["options"] = options
        elif options:
            raise Refused(f"`{path(ctx)}` takes no option {options[0]}.")
        if wrong := self.wrong_number(others):
            raise Misused(f"{wrong}. The command is written:\n\n  {self.syntax(path(ctx))}")
        return super().parse_args(ctx, ["--", *others])

    def take_named(self, ctx: click.Context, options: Sequence[str]) -> list[str]:
        """Give the command its named options, None for each that is missing; what is returned are the others."""
        values: dict[str, str | None] = dict.fromkeys(self.named)
        others = []
        for option in options:
            name, equals, value = option.removeprefix("--").partition("=")
            fits = [full for full in self.named if option.startswith("--") and full.startswith(name.lower())]
            if not name or not fits:
                others.append(option)
                continue
            if len(fits) > 1 and name.lower() not in fits:
                raise Refused(f"{option!r} can be {' or '.join(f'--{full}' for full in fits)}; write more of it.")
            full = name.lower() if name.lower() in fits else fits[0]
            if not (equals and value):
                raise Refused(f"--{full} is written --{full}={self.named[full]}.")
            if values[full] is not None:
                raise Refused(f"--{full} is given twice.")
            values[full] = value
        ctx.params |= values
        return others

    def wrong_number(self, others: Sequence[str]) -> str:
        """What is missing or too much among the words for the command; empty if their number is right."""
        missing = [parameter for parameter in self.params[len(others) :] if parameter.required]
        if missing:
            names = [parameter.make_metavar(click.Context(self)) for parameter in missing]
            return f"These are too few words: {' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing"
        most = math.inf if any(parameter.nargs < 0 for parameter in self.params) else len(self.params)
        return f"These are too many words: {len(others)} instead of {most}" if len(others) > most else ""

    def passwords(self, others: Sequence[str]) -> list[str] | None:
        """Which of the words stand in the place of a password; None if they do not look like what the command takes."""
        names = [parameter.name or "" for parameter in self.params]
        given = list(zip_longest(names, others, fillvalue=names[-1] if names else ""))[: len(others)]
        if not all(LOOKS_RIGHT[name](word) for name, word in given if name in LOOKS_RIGHT):
            return None  # a word is missing or too much, and another one may be the password
        return [word for name, word in given if "password" in name]

    def syntax(self, name: str) -> str:
        """How the command is written; *name* is what stands in front of its words, such as ``spiro move``."""
        named = [f"[--{option}={value}]" for option, value in self.named.items()]
        options = ["[-options]"] if self.takes_options else named
        ctx = click.Context(self)
        return " ".join([name, *options, *(parameter.make_metavar(ctx) for parameter in self.params)])

    def begins_moves(self, others: list[str], word: str) -> bool:
        """Whether a word behind *others* begins a move, so that hyphens begin no options from there on."""
        if self.name == "preview" and others[:1] and others[0].lower() == "new":
            return len(others) > 1 and not words.is_option(word)
        return len(others) < len(self.params) and self.params[len(others)].name in {"move", "moves"}


class GameLine(Line):
    """A command of a game, which is told the name of the game."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the game to the arguments."""
        ctx.params["game"] = path(ctx).partition(" ")[0]
        return super().parse_args(ctx, args)


class Follow(GameLine):
    """A command of a game that is signed, with boards behind userid and password, or one word for them in front."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the password if it is a hyphen, which no board or userid can be."""
        front: Front = ctx.obj
        return super().parse_args(ctx, [front.read_password() if word == "-" else word for word in args])

    def wrong_number(self, others: Sequence[str]) -> str:
        """What is missing among the words; empty if nothing is."""
        return "These are too few words" if len(others) < 3 else ""

    def passwords(self, others: Sequence[str]) -> list[str] | None:
        """The words that may be the password."""
        first = others[0].lower()
        if len(others) != 3 or not (look.is_board(first) or first in selection.WORDS):
            return list(others[1:2])
        return list(others[1:] if users.is_userid(first) and first not in selection.WORDS else others[2:])


class Group(click.Group):
    """Commands that begin with the same word, which may be in any case and shortened where the language allows it."""

    def __init__(self, *args: Any, command_class: type[Line] = Line, **kwargs: Any) -> None:
        """Declare a group of commands of one class."""
        super().__init__(*args, **kwargs)
        self.add_help_option = self.no_args_is_help = False
        self.command_class = command_class

    def explained(self, prefix: str = "") -> Iterator[Explained]:
        """What all commands say of themselves, each behind the words that lead to it."""
        for name, command in sorted(self.commands.items()):
            if isinstance(command, Group):
                yield from command.explained(f"{prefix}{name} ")
            elif isinstance(command, Line):
                yield Explained(f"{prefix}{name}", command.syntax(f"{prefix}{name}"), cleandoc(str(command.help)))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str, click.Command, list[str]]:
        """The command that the first word means. Raises Misused if it means none."""
        name = words.command(args[0])
        found = self.get_command(ctx, name)
        if found is None:
            what = f"command `{path(ctx)} {args[0]}`" if path(ctx) else f"game or command {args[0]!r}"
            where = f"{path(ctx)} help" if path(ctx) in games.names() else "help commands"
            raise Misused(f"There is no {what}; `{where}` tells what there is.")
        return name, found, args[1:]


class Root(Group):
    """All commands that begin a line: the global ones, and those of each game behind its name."""

    def __init__(self, name: str, game: Group) -> None:
        """Declare a tree without global commands."""
        super().__init__(name)
        self.game = game

    def explained(self, prefix: str = "") -> Iterator[Explained]:
        """What all commands say of themselves, those of a game first."""
        yield from self.game.explained(f"{prefix}GAME ")
        yield from super().explained(prefix)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, or the commands of the game of that name."""
        return super().get_command(ctx, name) or (self.game if games.exists(name) else None)


def path(ctx: click.Context | None) -> str:
    """The words that led to a command, such as ``spiro move``."""
    names: list[str] = []
    while ctx and ctx.parent:
        names.insert(0, str(ctx.info_name))
        ctx = ctx.parent
    return " ".join(names)


def run(tree: Root, line: Sequence[str], front: "Front") -> Letters:
    """Carry out a command, which opens a session, and so a database, when it needs one.

    Raises Refused, and Misused if it is no command.
    """
    if sum(map(len, line)) > MOST_CHARACTERS:
        raise Refused(f"A line has at most {MOST_CHARACTERS} characters.")
    tidied = words.tidied(line, games.exists)
    if "--" in tidied[:2]:
        raise Misused("There is no command `--`; `help commands` tells what there is.")
    if not tidied:
        raise Misused("There is no command; a mail has it in the subject. `help` tells what there is.")
    try:
        answers: Letters = tree.main(tidied, prog_name="pbm", standalone_mode=False, obj=front)
    except click.UsageError as why:
        behind = f" behind `{path(why.ctx)}`" if path(why.ctx) else ""
        raise Misused(f"There is no command{behind}; `help commands` tells what there is.") from why
    except Illegal as why:
        raise Refused(str(why)) from why
    return answers


def refusal(why: Refused, tree: Root, line: Sequence[str], body: str = "", game: str = "") -> Letter:
    """What is answered to a line that was refused: the reason, the board if he may see it, and what he wrote.

    Passwords are masked. Of a line that is not understood, that is every word but the first two. The *game* is named
    for the answer to a board mail, which does not begin with it.
    """
    tidied = words.tidied(line, games.exists)
    found = passwords(tree, line)
    if found is None:
        # an answer to a board mail is no command, and its short words are no passwords
        found = [word for word in tidied[1:] if len(word) >= users.SHORTEST_PASSWORD] if game else tidied[2:]
    secrets = [*why.secrets, *found]
    reason = words.masked(str(why), (secret for secret in secrets if len(secret) >= users.SHORTEST_PASSWORD))
    quoted = [" ".join("PASSWORD" if word in secrets else word for part in line for word in part.split())]
    quoted += [words.masked(line, [*secrets, *_passwords_of_a_body_line(tree, line)]) for line in body.splitlines()]
    name = game or (tidied[0].lower() if tidied and games.exists(tidied[0].lower()) else "pbm")
    return letters.of_error(
        reason, quoted, subject=why.subject, game=name, point=why.point, reader=why.reader, status=why.status
    )


def quoted(tree: Root, line: str) -> str:
    """A line with its passwords masked."""
    tidied = words.tidied([line], games.exists)
    found = passwords(tree, [line])
    return words.masked(line, tidied[2:] if found is None else found)


def _names_board(word: str) -> bool:
    return look.is_board(word.partition("#")[0]) or word == "new"


LOOKS_RIGHT: Mapping[str, Callable[[str], bool]] = {
    "board": _names_board,
    "boards": lambda word: _names_board(word) or users.is_userid(word),
    "userid": users.is_userid,
    "addresses": users.is_address,
}
"""What the words for some arguments look like; a line with other words is not understood."""


def is_command(tree: Root, line: Sequence[str]) -> bool:
    """Whether a line begins with the words of a command, however it goes on."""
    return isinstance(_resolved(tree, line)[0], Line)


def _resolved(tree: Root, line: Sequence[str]) -> tuple[click.Command | None, list[str]]:
    """The command that a line begins with, None if there is no such command, and the words behind it."""
    node: click.Command | None = tree
    rest = words.tidied(line, games.exists)
    while isinstance(node, Group) and rest:
        node = node.get_command(NOWHERE, words.command(rest.pop(0)))
    return node, rest


def passwords(tree: Root, line: Sequence[str]) -> list[str] | None:
    """The words of a line that stand in the place of a password; None if the line is not understood."""
    node, rest = _resolved(tree, line)
    if not isinstance(node, Line):
        return None
    _, others = words.split(rest, node.begins_moves)
    return None if node.wrong_number(others) else node.passwords(others)


def without_passwords(tree: Root, text: str) -> str:
    """A text for others, in which lines that are commands say no password."""
    return "\n".join(_masked_comment(tree, line) if line.strip() else line for line in text.splitlines())


def _masked_comment(tree: Root, line: str) -> str:
    if not is_command(tree, [line]):
        return line
    found = passwords(tree, [line])
    secrets = words.tidied([line], games.exists)[2:] if found is None else found
    return words.masked(line, (secret for secret in secrets if len(secret) >= users.SHORTEST_PASSWORD))


def _passwords_of_a_body_line(tree: Root, line: str) -> list[str]:
    """The passwords in a command that stands where it does not belong."""
    tidied = words.tidied([line], games.exists)
    if not tidied or not tree.get_command(NOWHERE, words.command(tidied[0])):
        return []
    found = passwords(tree, [line])
    return tidied[2:] if found is None else found


class Front(NamedTuple):
    """Where commands come from."""

    session: Callable[[], Session]
    """Opens what a command needs."""
    prints: bool = False
    """Whether the answer is printed and not mailed."""
    read_password: Callable[[], str] = lambda: "-"
    """Asked for a password that is written as a hyphen."""


class PasswordType(click.ParamType[str]):
    """A password; a hyphen stands for one that is given in another way."""

    name = "password"

    def convert(self, value: str, _: click.Parameter | None, ctx: click.Context | None) -> str:
        """The password itself."""
        front: Front | None = ctx.obj if ctx else None
        return front.read_password() if front and value == "-" else value


def in_session(function: Callable[Concatenate[Session, P], Letters]) -> Callable[P, Letters]:
    """Give a command its session. No password that the command takes is left in the text that goes with it."""

    @wraps(function)
    def command(*args: P.args, **kwargs: P.kwargs) -> Letters:
        ctx = click.get_current_context()
        session: Session = ctx.obj.session()
        secrets = [value for name, value in ctx.params.items() if "password" in name and value]
        return function(session._replace(comment=words.masked(session.comment, secrets)), *args, **kwargs)

    return command
