"""Classes for the operator's commands and their values: how they read words, how they refuse them, and their help."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

import games
from pbm.refusals import Misused

T = TypeVar("T")

LISTED = 100
"""How many lines a list has at most, if no other number is given."""
UNLIMITED = 10**18
"""A number without a limit is less than this."""


class Operation(click.Command):
    """A command of the operator."""

    def __init__(self, *args: Any, answers: bool = True, **kwargs: Any) -> None:
        """Declare a command; *answers* says whether it can answer in JSON."""
        super().__init__(*args, **kwargs)
        self.add_help_option = False  # the shell reads `--help`, and `--json`
        self.answers = answers

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give the words to options and arguments. Raises UsageError with the context if they do not fit."""
        ctx.allow_extra_args = True
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as why:
            why.ctx = ctx
            raise
        if rest:
            raise click.UsageError(f"{' '.join(rest)} {'is' if len(rest) == 1 else 'are'} too much.", ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        records = [record for option in options if (record := option.get_help_record(ctx))]
        if self.answers:
            records.append(("--json", "Print the answer as JSON; see `pbm help json`."))
        if records:
            with formatter.section("Options"):
                formatter.write_dl(records)


class Commands(click.Group):
    """A group of commands that begin with the same word."""

    command_class = Operation
    group_class = type

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Declare a group without commands."""
        super().__init__(*args, **kwargs)
        self.add_help_option, self.options_metavar = False, None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word means. Raises UsageError if it means none."""
        if args[0].lower() not in self.commands:
            near = games.nearest(args[0], self.commands)
            likely = f"; did you mean `{ctx.command_path} {near}`?" if near else "."
            raise click.UsageError(f"There is no command `{ctx.command_path} {args[0]}`{likely}", ctx)
        return super().resolve_command(ctx, [args[0].lower(), *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with the whole first paragraph of its help."""
        shown = [command for _, command in sorted(self.commands.items()) if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(str(one.name), str(one.help).partition("\n\n")[0]) for one in shown])


class Listing(Commands):
    """A group in which the command `list` can be left out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Declare a group without commands."""
        super().__init__(*args, epilog="`list` can be left out.", **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` in front of the words if the first one names no command."""
        first = next((arg for arg in args if not arg.startswith("-")), "")
        return super().parse_args(ctx, args if first.lower() in self.commands else ["list", *args])


class Parsed(click.ParamType[T]):
    """A type of the values of options and arguments."""

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        """Name the type for refusals; *read* makes a value of a word, or raises ValueError."""
        self.name, self.read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """The value that a word stands for."""
        try:
            return self.read(str(value))
        except ValueError:
            self.fail(f"{value!r} is no {self.name}.", param, ctx)


def within(numbers: range, what: str) -> Parsed[int]:
    """The type of whole numbers in a range; *what* names them in a refusal."""

    def read(text: str) -> int:
        if not (re.fullmatch("[0-9]{1,18}", text) and int(text) in numbers):
            raise ValueError
        return int(text)

    end = "on" if numbers.stop == UNLIMITED else f"to {numbers[-1]}"
    return Parsed(f"{what} from {numbers[0]} {end}", read)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError
    return seconds


def game_name(word: str) -> str:
    """The game that a word names. Raises Misused if there is none."""
    if not games.exists(word.lower()):
        raise Misused(games.unknown(word))
    return word.lower()


WHOLE_NUMBER = within(range(1, UNLIMITED), "whole number")
SECONDS = Parsed("number of seconds", _seconds)
GAME_ARGUMENT = click.argument("game", type=Parsed("game", game_name))
USER_ARGUMENT = click.argument("userid")
ADDRESS_ARGUMENT = click.argument("address")
BOARD_ARGUMENT = click.argument("board")
YES = click.option("--yes", is_flag=True, help="Do not ask.")
LIMIT = click.option(
    "--limit", type=WHOLE_NUMBER, default=LISTED, show_default=True, metavar="N", help="How many are listed."
)


def split_options(words: Sequence[str], ctx: click.Context) -> tuple[list[str], list[str]]:
    """The options of a game among the words behind a command, and the other words. Raises NoSuchOption for `--word`."""
    options = [word for word in words if word.startswith("-")]
    for option in options:
        if option.startswith("--"):
            raise click.NoSuchOption(option, ctx=ctx)
    return options, [word for word in words if word not in options]


def objection(why: click.UsageError) -> str:
    """What is wrong with the words of a command, in a sentence."""
    if why.ctx is None:
        return why.format_message()
    if isinstance(why, click.NoSuchOption):
        likely = f"; did you mean {' or '.join(sorted(why.possibilities))}?" if why.possibilities else "."
        return f"There is no option {why.option_name}{likely}"
    if isinstance(why, click.BadOptionUsage):
        option = next(one for one in why.ctx.command.params if why.option_name in one.opts)
        written = _written(option, why.ctx)
        is_flag = written == why.option_name
        return f"{written} takes no value." if is_flag else f"{why.option_name} is written {written}."
    if isinstance(why, click.MissingParameter) and why.param:
        return f"{_written(why.param, why.ctx)} is missing."
    if isinstance(why, click.BadParameter) and why.param:
        verb = "takes" if isinstance(why.param, click.Option) else "has to be"
        return f"{_written(why.param, why.ctx)} {verb} {_kind(why.param.type)}."
    return why.format_message()


def _written(parameter: click.Parameter, ctx: click.Context) -> str:
    """How help writes an option or an argument, for example `--limit=N` or `BOARD`."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0] + ("" if parameter.is_flag else f"={parameter.make_metavar(ctx)}")
    word, *_ = parameter.make_metavar(ctx).split()
    name = re.fullmatch(r"\[?(\w+)\]?(?:\.\.\.)?", word)
    return name[1] if name else word


def _kind(kind: click.ParamType[Any]) -> str:
    """The values that a type takes, for a refusal: `a whole number from 1 on`, or `yes or no`."""
    if isinstance(kind, click.Choice):
        *most, last = kind.choices
        return f"{', '.join(most)} or {last}"
    return f"a {kind.name}"
