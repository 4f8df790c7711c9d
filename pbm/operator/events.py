"""The commands for events: their list, and hooks, which are programs that are run for them.

Hooks run one at a time, outside any transaction. One that fails is tried again.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import click

from pbm import texts
from pbm.console import answer, answer_list, changes, open_existing, prepare_helper, time_text, wait_for_end
from pbm.console.usage import LARGEST_NUMBER, WHOLE_NUMBER, Commands, Listing, WholeNumber
from pbm.disk import reason
from pbm.refusals import Refused
from pbm.robot_players.program import located, startable_words
from pbm.server import Server
from pbm.settings import open_server
from pbm.store import Unusable
from pbm.store.events import Event, Hook
from pbm.terminal import warn
from pbm.texts import escaped

EVENT_KINDS = frozenset(
    (
        "signup signoff challenge move resign forfeit undo end remove open join withdraw replace start round "
        "finish cancel reinstate absence"
    ).split()
)
EVENTS_AT_ONCE = 200
"""How many events are read at a time."""
HOOK_SECONDS = 60
"""How many seconds a program may take for an event."""
FIRST_PAUSE_OF_HOOK = timedelta(seconds=10)
"""The pause before a failed program is tried again. It doubles with each try, up to the longest."""
LONGEST_PAUSE_OF_HOOK = timedelta(hours=1)
MOST_TRIES = 10
"""How often a program is tried with an event before the event is left out."""
LOOK_FOR_EVENTS_SECONDS = 0.2
"""How long `--follow` waits before it looks for events again."""
LONGEST_PROBLEM = 300
"""How many characters of a program's standard error are kept."""

commands = Commands("pbm")


@commands.command()
@click.option("--follow", is_flag=True, help="Go on, and print events as they come.")
@click.option("--since", type=WholeNumber(0, LARGEST_NUMBER), default=0, metavar="N", help="Only those behind event N.")
@click.pass_context
def events(ctx: click.Context, *, follow: bool, since: int) -> None:
    """List what has happened, one line for each event: sign-ups, challenges, moves, ends of games, rounds.

    Events are numbered, and later events have higher numbers. A program can remember the last number and go on from
    there with --since. With --json, each line is an object; `pbm help json` describes it. Queued moves, passwords,
    addresses and what players write to each other are no events. `pbm cleanup` forgets events after 100 days. If
    standard input is a pipe, --follow ends when the pipe ends.

    The kinds: signup, signoff; challenge, move, resign, forfeit, undo, end, remove, reinstate (a board); open, join,
    withdraw, replace, start, round, finish, cancel (a tournament); absence (of the server).
    """
    store = open_existing().store
    for _ in changes(store, LOOK_FOR_EVENTS_SECONDS):
        while new_events := store.events.since(since, EVENTS_AT_ONCE):
            for event in new_events:
                line = json.dumps(event_data(event)) if ctx.obj else escaped(_line(event))
                sys.stdout.write(f"{line}\n")
            since = new_events[-1].id
        sys.stdout.flush()
        if not follow:
            return


def _line(event: Event) -> str:
    """A line about an event, for people."""
    parts = [f"{event.id}", f"{event.moment:%Y-%m-%d %H:%M:%S}", event.kind]
    if event.game:
        parts.append(f"{event.game} {event.board or event.pool}")
    if event.userid:
        parts.append(event.userid)
    for name, value in event.detail.items():
        if value not in (None, "", []):
            parts.append(f"{name}={_value(value)}")
    return "  ".join(parts)


def _value(value: object) -> str:
    """A value of an event's detail, for people; the items of a list stand behind each other."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value)


@commands.group("hook", cls=Listing)
def hook_() -> None:
    """Run programs for what happens: list, add or remove them."""


@hook_.command("add")
@click.argument("program")
@click.option("--on", "kinds", default="", metavar="KIND,...", help="Only for events of these kinds.")
def add_hook(program: str, kinds: str) -> None:
    """Run a program for each event from now on.

    The program gets the event as a line of JSON on its standard input. The words of PROGRAM are split as a shell splits
    them, but there is no shell. `pbm serve` and `pbm hook run` run the programs one after the other. If a program ends
    with another status than 0, or takes more than a minute, it is tried again up to ten times, after longer and longer
    pauses.
    """
    wanted = [kind for kind in kinds.lower().split(",") if kind]
    unknown = sorted(set(wanted) - EVENT_KINDS)
    if unknown:
        raise Refused(f"There are no events {unknown[0]!r}; there are {', '.join(sorted(EVENT_KINDS))}.")
    startable_words(program)
    server = open_server()
    with server.store.writing():
        number = server.store.events.add_hook(program, wanted)
    answer(f"Hook {number} is added.", {"hook": number, "program": program, "on": wanted})


@hook_.command("list")
def list_hooks() -> None:
    """List the programs, how far they are, and what went wrong."""
    store = open_existing().store
    with store.reading():
        hooks = store.events.hooks()
        last = store.events.last_number()
    lines = [("Hook", "On", "Seen", "Tries", "Next try", "Program", "Problem")]
    data = []
    for hook in hooks:
        lines.append(
            (
                str(hook.id),
                hook.kinds or "all",
                f"{hook.last}/{last}",
                str(hook.tries),
                time_text(hook.due),
                hook.program,
                hook.problem or "",
            )
        )
        data.append(
            {
                "hook": hook.id,
                "program": hook.program,
                "on": [kind for kind in hook.kinds.split(",") if kind],
                "last": hook.last,
                "tries": hook.tries,
                "problem": hook.problem,
            }
        )
    answer_list(lines, {"hooks": data, "last": last}, "There are no hooks.")


@hook_.command("remove")
@click.argument("number", type=WHOLE_NUMBER)
def remove_hook(number: int) -> None:
    """Stop running a program for events."""
    server = open_existing()
    with server.store.writing():
        if not server.store.events.remove_hook(number):
            raise Refused(f"There is no hook {number}.")
    answer(f"Hook {number} is removed.", {"hook": number, "removed": True})


@hook_.command("run")
@click.option("--follow", is_flag=True, help="Go on, and run them as things happen.")
def run_hooks(*, follow: bool) -> int:
    """Run the programs for all events that they have not seen. `pbm serve` does this by itself.

    If standard input is a pipe, --follow ends when the pipe ends, and is not ended by Ctrl-C or another signal.
    """
    server = open_existing()
    if follow:
        prepare_helper()
        keep_running(server)
        return 0
    good, bad = run_due(server)
    answer(f"{texts.counted(good, 'run')}, {bad} failed.", {"runs": good, "failed": bad})
    return 1 if bad else 0


def event_data(event: Event) -> dict[str, Any]:
    """An event for programs, without fields that are None."""
    data = event._asdict() | {"moment": event.moment.isoformat(), **event.detail}
    return {name: value for name, value in data.items() if value is not None and name != "detail"}


def run_due(server: Server, is_over: Callable[[], bool] = lambda: False) -> tuple[int, int]:
    """Run each program for its new events. Returns how many runs went well, and how many failed.

    After a failure, the later events wait, so that the program gets all events in their order. Progress is stored after
    each run; if this process is killed in between, a program gets an event again. Raises Unusable if another process
    has been running programs for a minute.
    """
    good = 0
    bad = 0
    with server.store.hold_lock("hooks", "running programs", HOOK_SECONDS, is_over):
        due = [hook for hook in server.store.events.hooks() if hook.due is None or hook.due <= server.now()]
        for hook in due:
            for went_well in _catch_up(server, hook, is_over):
                if went_well:
                    good += 1
                else:
                    bad += 1
    return good, bad


def keep_running(server: Server) -> None:
    """Run programs for events as they come, until a pipe on standard input ends.

    Raises Replaced if the database has become another file.
    """
    seen = None
    while True:
        server.store.check_in_place()
        version = server.store.data_version()
        hooks = server.store.events.hooks()
        is_retried = any(hook.due for hook in hooks)
        if hooks and (version != seen or is_retried):
            try:
                run_due(server, lambda: wait_for_end(0))
            except Unusable as why:
                warn(str(why))
        seen = version
        if wait_for_end(LOOK_FOR_EVENTS_SECONDS):
            return


def _catch_up(server: Server, hook: Hook, is_over: Callable[[], bool]) -> Iterator[bool]:
    """Run a program for its new events, until it fails. Yields after each run whether it went well."""
    kinds = {kind for kind in hook.kinds.split(",") if kind}  # none stands for all
    while not is_over() and (events := server.store.events.since(hook.last, EVENTS_AT_ONCE)):
        for event in events:
            done = hook._replace(last=event.id, tries=0, due=None, problem=None)
            if not kinds or event.kind in kinds:
                problem = _run(hook.program, event)
                if problem:
                    _put_off(server, hook, event, problem)
                    yield False
                    return
                _save(server, done)
                yield True
                if is_over():
                    return
            hook = done
        _save(server, hook)


def _put_off(server: Server, hook: Hook, event: Event, problem: str) -> None:
    """Store that a program has failed with an event, and when it is tried again, or that the event is left out."""
    tries = hook.tries + 1
    if tries < MOST_TRIES:
        pause = min(FIRST_PAUSE_OF_HOOK * 2 ** (tries - 1), LONGEST_PAUSE_OF_HOOK)
        hook = hook._replace(last=event.id - 1, tries=tries, due=server.now() + pause)
        next_step = f"The next try is in {pause.seconds} s."
    else:
        hook = hook._replace(last=event.id, tries=0, due=None)
        next_step = f"It is left out after {tries} tries."
    warn(f"Hook {hook.id}, event {event.id}: {problem} {next_step}")
    _save(server, hook._replace(problem=f"Event {event.id}: {problem}"))


def _save(server: Server, hook: Hook) -> None:
    """Store how far a hook is."""
    with server.store.writing():
        server.store.events.save_hook(hook)


def _run(program: str, event: Event) -> str:
    """Run a program with an event as its input. Returns why it failed; empty if it did not."""
    line = f"{json.dumps(event_data(event))}\n"
    try:
        words = located(shlex.split(program))
        done = subprocess.run(
            words, input=line, text=True, errors="replace", capture_output=True, timeout=HOOK_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"It has not ended within {HOOK_SECONDS} seconds."
    except OSError as why:
        return f"It cannot be started: {reason(why)}."
    if done.returncode == 0:
        return ""
    error = " ".join(done.stderr.split())[-LONGEST_PROBLEM:]  # what has happened stands at its end
    if error:
        return f"It ended with status {done.returncode}: {error}."
    return f"It ended with status {done.returncode}."
