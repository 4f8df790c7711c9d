"""Commands for whoever runs the server. They are for the shell alone; no mail can give them.

Each module that has some brings them as a click group named `commands`; only the one that is needed is imported.
"""

import gc
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

import click

from pbm.server import Server
from pbm.session import Refused
from pbm.settings import database_path, open_server
from pbm.store import Unusable
from pbm.terminal import fail, say

MODULES: Mapping[str, str] = {
    "addresses": "keeping",
    "backup": "copies",
    "boards": "keeping",
    "cleanup": "service",
    "complete": "completion",
    "completion": "completion",
    "deliver": "service",
    "demo": "service",
    "doctor": "doctor",
    "export": "exchange",
    "fetch": "service",
    "import": "exchange",
    "outbox": "keeping",
    "play": "robots",
    "referee": "service",
    "restore": "copies",
    "serve": "service",
    "tournament": "tournament",
    "users": "keeping",
    "wait": "robots",
}
"""In which module of this package each command is."""
INTERRUPTED = 130
"""The exit status of a command that its user has ended."""


def command(name: str) -> click.Command:
    """The command of that name."""
    group: click.Group = import_module(f"pbm.admin.{MODULES[name]}").commands
    return group.commands[name]


def main(name: str, args: Sequence[str], *, as_json: bool) -> int:
    """Carry out an operator's command, and return the exit status."""
    gc.enable()
    try:
        status: int | None = command(name).main(list(args), prog_name=f"pbm {name}", standalone_mode=False, obj=as_json)
    except click.Abort:
        return INTERRUPTED
    except click.UsageError as why:
        if isinstance(why, (click.NoSuchOption, click.BadParameter)) and not isinstance(why, click.MissingParameter):
            return fail(why.format_message(), 1, as_json=as_json)
        usage = f"\n\n{why.ctx.get_usage()}" if why.ctx else ""
        return fail(why.format_message() + usage, 2, as_json=as_json)
    except Refused as why:
        return fail(str(why), why.status, as_json=as_json)
    except (Unusable, ValueError, OSError) as why:
        return fail(str(why), 1, as_json=as_json)
    return status or 0


def open_existing() -> Server:
    """The server, whose database has to be there. Raises Refused."""
    path = database_path()
    if not path.exists():
        raise Refused(f"There is no database {path}; PBM_DB names another one.")
    return open_server()


def answer(text: str, data: Mapping[str, object]) -> None:
    """Print what an operator's command has to say, for people or for programs, as it was asked for."""
    say(text, data, as_json=click.get_current_context().obj)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something is done that cannot be undone. Raises Refused unless the answer is yes."""
    if not yes and not (sys.stdin.isatty() and click.confirm(question, err=True)):
        raise Refused(f"{question} Nothing was done; --yes does it.")


def help_on(name: str) -> str:
    """The help text of an operator's command."""
    found = command(name)
    return found.get_help(
        click.Context(found, info_name=name, parent=click.Context(click.Group("pbm"), info_name="pbm"))
    )
