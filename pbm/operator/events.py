"""What happens, for programs: a list of numbered events, and programs that are run for them."""

import json
import sys
import time

import click

from pbm import texts
from pbm.console import answer, end_with_input_alone, let_server_go_first, open_existing
from pbm.console.listing import Listing, time_text
from pbm.console.usage import Commands, WholeNumber, Within
from pbm.operator.hooks import AT_ONCE, event_data, keep_running, run_due
from pbm.refusals import Refused
from pbm.settings import open_server
from pbm.store.events import Event
from pbm.terminal import escaped

EVENTS = frozenset(
    (
        "signup signoff challenge move resign forfeit undo end remove open join withdraw replace start round "
        "finish cancel"
    ).split()
)
"""What can happen."""
LOOK_AT_EVENTS = 0.2
"""Seconds from one look whether something has happened to the next."""

commands = Commands("pbm")


@commands.command()
@click.option("--follow", is_flag=True, help="Go on, and print events as they come.")
@click.option("--since", type=Within(range(10**9), "number"), default=0, metavar="N", help="Only those behind event N.")
@click.pass_context
def events(ctx: click.Context, *, follow: bool, since: int) -> None:
    """List what has happened, a line each: sign-ups, challenges, moves, ends of games, rounds of tournaments.

    Each event has a number, and later ones have higher ones, so that a program that remembers the last number goes on
    where it was, with --since. With --json each line is an object; `pbm help json` says what stands in it. Queued
    moves, passwords, addresses and what players write to each other are no events. `pbm cleanup` forgets events after
    100 days.

    The kinds: signup, signoff; challenge, move, resign, forfeit, undo, end, remove (a board); open, join, withdraw,
    replace, start, round, finish, cancel (a tournament).
    """
    store = open_existing().store
    seen = None
    while True:
        with store.reading():
            version = store.data_version()
            found = store.events.since(since, AT_ONCE) if version != seen else []
        for event in found:
            line = json.dumps(event_data(event)) if ctx.obj else escaped(_line(event))
            sys.stdout.write(f"{line}\n")
            since = event.id
        sys.stdout.flush()
        if len(found) == AT_ONCE:
            continue
        if not follow:
            return
        seen = version
        time.sleep(LOOK_AT_EVENTS)


def _line(event: Event) -> str:
    """An event for people."""
    what = f"{event.game} {event.board or event.pool}" if event.game else ""
    detail = (f"{name}={_value(value)}" for name, value in event.detail.items() if value not in (None, "", []))
    return "  ".join(
        filter(None, [f"{event.id}", f"{event.moment:%Y-%m-%d %H:%M:%S}", event.kind, what, event.userid, *detail])
    )


def _value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


@commands.group(cls=Listing)
def hook() -> None:
    """Run programs for what happens: list, add or remove them."""


@hook.command("add")
@click.argument("program")
@click.option("--on", "kinds", default="", metavar="KIND,...", help="Only for events of these kinds.")
def add_hook(program: str, kinds: str) -> None:
    """Run a program for each event from now on.

    It gets the event as a line of JSON on its standard input. The words of PROGRAM are split as a shell does it, but
    there is no shell. `pbm serve` runs programs, and so does `pbm hook run`, one after the other; one that ends with
    another status than 0, or takes more than a minute, is tried again ten times, ever later.
    """
    from pbm.robot_players.program import command_words, insist_on  # not to list events

    wanted = [kind for kind in kinds.lower().split(",") if kind]
    if unknown := sorted({*wanted} - EVENTS):
        raise Refused(f"There are no events {unknown[0]!r}; there are {', '.join(sorted(EVENTS))}.")
    insist_on(command_words(program))
    server = open_server()
    with server.store.writing():
        number = server.store.events.add_hook(program, wanted)
    answer(f"Hook {number} is added.", {"hook": number, "program": program, "on": wanted})


@hook.command("list")
def list_hooks() -> None:
    """List the programs, how far they are, and what went wrong."""
    store = open_existing().store
    with store.reading():
        hooks, last = store.events.hooks(), store.events.last_number()
    rows = [("Hook", "On", "Seen", "Tries", "Next try", "Program", "Problem")]
    for one in hooks:
        due = time_text(one.due) if one.due else ""
        kinds = one.kinds or "all"
        rows.append((str(one.id), kinds, f"{one.last}/{last}", str(one.tries), due, one.program, one.problem or ""))
    data = [
        {
            "hook": one.id,
            "program": one.program,
            "on": [kind for kind in one.kinds.split(",") if kind],
            "last": one.last,
            "tries": one.tries,
            "problem": one.problem,
        }
        for one in hooks
    ]
    answer(texts.table(rows) if hooks else "There are no hooks.", {"hooks": data, "last": last})


@hook.command("remove")
@click.argument("number", type=WholeNumber())
def remove_hook(number: int) -> None:
    """Run a program no more."""
    server = open_existing()
    with server.store.writing():
        if not server.store.events.remove_hook(number):
            raise Refused(f"There is no hook {number}.")
    answer(f"Hook {number} is removed.", {"hook": number, "removed": True})


@hook.command("run")
@click.option("--follow", is_flag=True, help="Go on, and run them as things happen.")
def run_hooks(*, follow: bool) -> int:
    """Run the programs for all events that they have not seen; `pbm serve` does so anyway."""
    server = open_server()
    if follow:
        keep_running(server, None)
    good, bad = run_due(server)
    answer(f"{texts.counted(good, 'run')}, {bad} failed.", {"runs": good, "failed": bad})
    return 1 if bad else 0


@hook.command("keep-running", hidden=True)
def keep_running_hooks() -> None:
    """Run programs for events as they come, until standard input ends; `pbm serve` runs this."""
    end_with_input_alone()
    let_server_go_first()
    keep_running(open_existing(), sys.stdin.fileno())
