"""Commands for whoever runs the server. They are for the shell alone; no mail can give them.

Each module that has some brings them as a click group named `commands`; only the one that is needed is imported.
"""

import gc
from collections.abc import Mapping, Sequence
from importlib import import_module

import click

from pbm.store import Unusable
from pbm.terminal import fail

MODULES: Mapping[str, str] = {
    "cleanup": "service",
    "deliver": "service",
    "demo": "service",
    "outbox": "service",
    "referee": "service",
    "serve": "service",
}
"""In which module of pbm each command is."""


def command(name: str) -> click.Command:
    """The command of that name."""
    group: click.Group = import_module(f"pbm.{MODULES[name]}").commands
    return group.commands[name]


def main(name: str, args: Sequence[str], *, as_json: bool) -> int:
    """Carry out an operator's command, and return the exit status."""
    gc.enable()
    try:
        status: int | None = command(name).main(list(args), prog_name=f"pbm {name}", standalone_mode=False, obj=as_json)
    except click.NoSuchOption as why:
        return fail(why.format_message(), 1, as_json=as_json)
    except click.UsageError as why:
        usage = f"\n\n{why.ctx.get_usage()}" if why.ctx else ""
        return fail(why.format_message() + usage, 2, as_json=as_json)
    except (Unusable, ValueError, OSError) as why:
        return fail(str(why), 1, as_json=as_json)
    return status or 0


def help_on(name: str) -> str:
    """The help text of an operator's command."""
    found = command(name)
    return found.get_help(
        click.Context(found, info_name=name, parent=click.Context(click.Group("pbm"), info_name="pbm"))
    )
