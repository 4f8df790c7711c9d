"""The commands of the operator. They can be given in a shell only, not by mail.

The commands of a module are a click group named `commands` in it. Only the module that is needed is imported.
"""

import gc
import os
import select
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from pathlib import Path

import click
from click.exceptions import NoArgsIsHelpError

import games
from pbm import texts
from pbm.arguments import MODULES
from pbm.refusals import Refused, refusing_os_errors
from pbm.server import Server
from pbm.settings import database_path, open_server
from pbm.store import Store, Unusable
from pbm.store.base import problem
from pbm.terminal import fail, print_answer

ABOUT_VALUES = click.NoSuchOption, click.BadOptionUsage, click.BadParameter
"""The refusals that are about an option or a value, and not about the number of words."""
HELPER_NICENESS = 5
"""The niceness of processes that nobody waits for; that of `pbm serve` is 0."""
INTERRUPTED = 130
"""The exit status of a command that its user has interrupted."""


class Operators(click.Group):
    """All commands of the operator."""

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Import the module of a command. Returns the command; None if there is none of that name."""
        if name not in MODULES:
            return None
        group: click.Group = import_module(f"pbm.{MODULES[name]}").commands
        return group.commands[name]


OPERATORS = Operators("pbm", add_help_option=False, context_settings={"token_normalize_func": str.lower})


def main(name: str, args: Sequence[str], *, as_json: bool) -> int:
    """Carry out an operator's command, and return the exit status."""
    gc.enable()
    try:
        status: int | None = OPERATORS.main([name, *args], prog_name="pbm", standalone_mode=False, obj=as_json)
    except click.Abort:
        return INTERRUPTED
    except NoArgsIsHelpError as why:
        reason = f"There is no command behind `{why.ctx.command_path}`."
        return fail(why.format_message(), 2, as_json=as_json, reason=reason)
    except click.UsageError as why:
        reason = why.format_message()
        if isinstance(why, ABOUT_VALUES) and not isinstance(why, click.MissingParameter):
            return fail(reason, 1, as_json=as_json)
        usage = f"\n\n{why.ctx.get_usage()}" if why.ctx else ""
        return fail(reason + usage, 2, as_json=as_json)
    except (Refused, Unusable, games.Unloadable) as why:
        return fail(str(why), why.status, as_json=as_json)
    except sqlite3.Error as why:  # one that no transaction has told
        path = database_path()
        return fail(f"The database {path} cannot be used: {problem(why, path)}.", 1, as_json=as_json)
    return status or 0


def existing_database() -> Path:
    """The path of the database. Raises Refused if there is none: a command that only looks makes no database."""
    path = database_path()
    with refusing_os_errors(f"The database {path} cannot be used"):
        is_there = path.exists()
    if not is_there:
        raise Refused(
            f"There is no database {path} yet; the first `signup` makes it. Set PBM_DB if yours is elsewhere."
        )
    return path


def open_existing() -> Server:
    """The server; its database has to be there. Raises Refused."""
    existing_database()
    return open_server()


def let_server_go_first(niceness: int = HELPER_NICENESS) -> None:
    """Raise the niceness of this process to at least this, so that it does not delay `pbm serve`."""
    os.setpriority(os.PRIO_PROCESS, 0, max(niceness, os.getpriority(os.PRIO_PROCESS, 0)))


def prepare_helper() -> None:
    """Give way to `pbm serve`. If standard input is a pipe, its end ends this process; signals are ignored then."""
    import signal

    if has_pipe():
        for sent in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sent, signal.SIG_IGN)
    let_server_go_first()


def has_pipe() -> bool:
    """Whether standard input is a pipe."""
    return stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)


def wait_for_end(seconds: float) -> bool:
    """Wait so many seconds, or until something comes through a pipe on standard input. Whether the pipe has ended."""
    if not has_pipe():
        time.sleep(seconds)
        return False
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], seconds)
    return bool(ready) and not os.read(sys.stdin.fileno(), 65536)


def changes(store: Store, seconds: float) -> Iterator[None]:
    """Yield at once, and then whenever another connection has changed the database, until `wait_for_end` is true.

    Looks for changes every so many seconds. What changes while the caller works is found at the next look. Raises
    Replaced if the database has become another file.
    """
    seen = None
    while True:
        store.check_in_place()
        if (version := store.data_version()) != seen:
            seen = version
            yield
        if wait_for_end(seconds):
            return


def answer(text: str, data: Mapping[str, object]) -> None:
    """Print the answer of an operator's command: the text, or the data if `--json` was given.

    If it cannot be printed, the command ends here, with the exit status 1.
    """
    context = click.get_current_context()
    if print_answer(text, data, as_json=context.obj):
        context.exit(1)


def answer_list(lines: Sequence[tuple[str, ...]], data: Mapping[str, object], if_empty: str) -> None:
    """Print a table, with the heading as its first line, or *if_empty* if it has no other lines."""
    answer(texts.table(lines) if len(lines) > 1 else if_empty, data)


def time_text(moment: datetime | None) -> str:
    """A time for people; empty if there is none."""
    return f"{moment:{texts.TIME_FORMAT}}" if moment else ""


def shows_progress() -> bool:
    """Whether a progress bar is shown: on a terminal, unless `--json` was given."""
    return sys.stderr.isatty() and not click.get_current_context().obj


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar, if `shows_progress`.

    Call what it yields with how many more are done, and how many there are.
    """
    with click.progressbar(length=1, label=what, file=sys.stderr, hidden=not shows_progress(), show_eta=True) as bar:

        def progress(done: int, of: int) -> None:
            bar.length = of
            bar.update(done)

        yield progress


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something is done that cannot be undone. Raises Refused unless the answer is yes."""
    if not yes and not (sys.stdin.isatty() and click.confirm(question, err=True)):
        raise Refused(f"{question} Nothing was done; --yes does it.")


def contexts(words: Sequence[str]) -> list[click.Context]:
    """A context for each word, as long as the words name groups and commands of the operator that help shows.

    For example, `users list` has a context of the group `users`, and one of its command `list`.
    """
    ctx = click.Context(OPERATORS, info_name="pbm")
    contexts_of_words = []
    for word in words:
        if not isinstance(ctx.command, click.Group):
            break
        command = ctx.command.get_command(ctx, word)
        if command is None or command.hidden:
            break
        ctx = click.Context(command, ctx, word)
        contexts_of_words.append(ctx)
    return contexts_of_words
