"""Dispatch: a line is carried out by the command that it names, in a session opened for it."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import click

from games import Illegal
from pbm.language.grammar import MOST_CHARACTERS, Letters, Misused, help_for, path
from pbm.language.line import NOWHERE, Line
from pbm.refusals import Refused
from pbm.rehearsal import Rehearsal, T
from pbm.session import Session
from pbm.texts import without

if TYPE_CHECKING:
    from pbm.language.front import Front


P = ParamSpec("P")


def run(line: Line, front: "Front") -> Letters:
    """Carry out a command, which opens a session, and so a database, when it needs one.

    Raises Refused, and Misused if it is no command.
    """
    if len(line.typed) > MOST_CHARACTERS:
        raise Refused(f"A line has at most {MOST_CHARACTERS} characters.")
    if "--" in line.words[:2]:
        raise Misused("There is no command `--`; `help commands` tells what there is.")
    if not line.words:
        raise Misused("There is no command; a mail has it in the subject. `help` tells what there is.")
    answers: Letters
    try:
        if line.command is None:  # click finds out what is wrong with it
            answers = line.tree.main(list(line.words), prog_name="pbm", standalone_mode=False, obj=front)
        else:
            with line.command.make_context(line.names, list(line.rest), NOWHERE, obj=front) as ctx:
                answers = line.command.invoke(ctx)
    except click.UsageError as why:
        behind = f" behind `{path(why.ctx)}`" if path(why.ctx) else ""
        raise Misused(f"There is no command{behind}; `{help_for(why.ctx)}` tells what there is.") from why
    except Illegal as why:
        raise Refused(str(why)) from why
    return answers


def in_session(function: Callable[Concatenate[Session, P], Letters]) -> Callable[P, Letters]:
    """Give a command its session. No password that the command takes is left in the text that goes with it."""

    @wraps(function)
    def command(*args: P.args, **kwargs: P.kwargs) -> Letters:
        ctx = click.get_current_context()
        session: Session = ctx.obj.session()
        known = [value for name, value in ctx.params.items() if "password" in name and value]
        session = session._replace(comment=without(session.comment, known))
        if session.in_shell and not session.store.is_in_transaction:
            return carried_out(session, lambda session: function(session, *args, **kwargs))
        return function(session, *args, **kwargs)

    return command


def carried_out(session: "Session", command: Callable[["Session"], T]) -> T:
    """Rehearse the command of a shell, and carry it out under the lock if it changes something."""
    rehearsal = Rehearsal(session.server.passwords)
    session = session._replace(rehearsal=rehearsal)
    store = session.store
    done = rehearsal.run(store, lambda: command(session))
    if done is None or rehearsal.draft is None:
        return command(session)
    if rehearsal.is_enough:
        return done
    with store.transaction():
        return done if store.carry_out(rehearsal.draft) else command(session)
