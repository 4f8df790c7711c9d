"""Classes for the operator's commands and their values: how they read words, and their help."""

import math
from collections.abc import Sequence
from typing import Any

import click

import games
from pbm.refusals import Misused

LARGEST_NUMBER = 10**9
"""The largest number that an option takes."""


class Operation(click.Command):
    """A command of the operator."""

    def __init__(self, *args: Any, answers: bool = True, **kwargs: Any) -> None:
        """Declare a command; *answers* says whether it can answer in JSON."""
        super().__init__(*args, **kwargs)
        self.add_help_option = False  # the shell reads `--help`, and `--json`
        self.answers = answers

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
        self.add_help_option = False
        self.options_metavar = None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with the whole first paragraph of its help."""
        shown = [command for _, command in sorted(self.commands.items()) if not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(str(command.name), str(command.help).partition("\n\n")[0]) for command in shown])


class Listing(Commands):
    """A group in which the command `list` can be left out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Declare a group without commands."""
        super().__init__(*args, epilog="`list` can be left out.", **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` in front of the words if they name no command: there are none, or they can be words of `list`."""
        first = next((arg for arg in args if not arg.startswith("-")), "")
        names_command = first.lower() in self.commands
        takes_words = any(isinstance(parameter, click.Argument) for parameter in self.commands["list"].params)
        if not names_command and (takes_words or not first):
            args = ["list", *args]
        return super().parse_args(ctx, args)  # which refuses a word that is neither


class WholeNumber(click.IntRange):
    """The type of a whole number in a range."""

    name = "whole number"


class Seconds(click.FloatRange):
    """The type of a number of seconds in a range."""

    name = "number of seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that a word stands for; `nan` stands for none, although it is outside of no range."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number.", param, ctx)
        return seconds


def game_name(word: str) -> str:
    """The game that a word names. Raises Misused if there is none."""
    if not games.exists(word.lower()):
        raise Misused(games.unknown(word))
    return word.lower()


WHOLE_NUMBER = WholeNumber(1, LARGEST_NUMBER)
SECONDS = Seconds(0, LARGEST_NUMBER)
GAME_ARGUMENT = click.argument("game", type=game_name)
USER_ARGUMENT = click.argument("userid")
ADDRESS_ARGUMENT = click.argument("address")
BAR_ARGUMENT = click.argument("bar", metavar="ADDRESS|@DOMAIN")
BOARD_ARGUMENT = click.argument("board")
YES = click.option("--yes", is_flag=True, help="Do not ask.")


def split_options(words: Sequence[str], ctx: click.Context) -> tuple[list[str], list[str]]:
    """The options of a game among the words behind a command, and the other words. Raises NoSuchOption for `--word`."""
    options = [word for word in words if word.startswith("-")]
    for option in options:
        if option.startswith("--"):
            name = option.partition("=")[0]
            known = [spelling for parameter in ctx.command.params for spelling in parameter.opts]
            raise click.NoSuchOption(name, possibilities=known, ctx=ctx)
    return options, [word for word in words if word not in options]
