"""Programs that are run for events: one at a time, outside any transaction, tried again where they fail."""

import json
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pbm.disk import reason
from pbm.robot_players.program import located
from pbm.server import Server
from pbm.store import Unusable
from pbm.store.events import Event, Hook

AT_ONCE = 200
"""How many events are read at a time."""
RUNS_FOR = 60
"""How many seconds a program has for an event."""
FIRST_PAUSE, LONGEST_REST = timedelta(seconds=10), timedelta(hours=1)
"""How long a program that failed waits for its next try, which doubles with each, and at most."""
MOST_TRIES = 10
"""How often a program is tried with an event; then it is left out, and the next one has its turn."""
LOOK_FOR_EVENTS = 1.0
"""Seconds after which it is looked again whether something has happened."""
LONGEST_PROBLEM = 300


def event_data(event: Event) -> dict[str, Any]:
    """An event for programs: without what it does not have."""
    data = event._asdict() | {"moment": event.moment.isoformat(), **event.detail}
    return {name: value for name, value in data.items() if value is not None and name != "detail"}


def run_due(server: Server, is_over: Callable[[], bool] = lambda: False) -> tuple[int, int]:
    """Run each program for the events that it has still to see; how often that went well, and how often not.

    A program that fails waits, and with it what comes behind, so that it sees all events in their order. It is noted
    behind each run how far it has come; one that is killed in between sees an event a second time. Raises Unusable if
    another process has been running programs for a minute.
    """
    good = bad = 0
    with server.store.alone("hooks", "running programs", RUNS_FOR, is_over):
        for hook in server.store.events.hooks():
            if hook.due is None or hook.due <= server.now():
                runs, failed = _caught_up(server, hook, is_over)
                good, bad = good + runs, bad + failed
    return good, bad


def keep_running(server: Server, pipe: int | None) -> None:
    """Run programs for events as they come, until told to end: by a signal, or by the end of a *pipe*."""

    def rested(seconds: float) -> bool:
        """Whether the end came in so many seconds."""
        end = time.monotonic() + seconds
        while pipe is not None and (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([pipe], [], [], left)
            if ready and not os.read(pipe, 65536):
                return True
        time.sleep(seconds if pipe is None else 0)
        return False

    seen = None
    while True:
        version = server.store.data_version(), len(server.store.events.hooks())
        waits = any(hook.due for hook in server.store.events.hooks())
        if (version != seen or waits) and version[1]:
            try:
                run_due(server, lambda: rested(0))
            except Unusable as why:
                sys.stderr.write(f"{why}\n")
        seen = version
        if rested(LOOK_FOR_EVENTS):
            return


def _caught_up(server: Server, hook: Hook, is_over: Callable[[], bool]) -> tuple[int, int]:
    """Run a program for all that it has not seen, until it fails; how often that went well, and whether it failed."""
    kinds = set(filter(None, hook.kinds.split(",")))
    good = 0
    while not is_over() and (events := server.store.events.since(hook.last, AT_ONCE)):
        for event in events:
            hook = hook._replace(last=event.id, tries=0, due=None, problem=None)
            if kinds and event.kind not in kinds:
                continue
            if problem := _ran(hook.program, event):
                _put_off(server, hook, event, problem)
                return good, 1
            good += 1
            _save(server, hook)
            if is_over():
                return good, 0
        _save(server, hook)
    return good, 0


def _put_off(server: Server, hook: Hook, event: Event, problem: str) -> None:
    """Note that a program has failed with an event, and when it is tried again, if it is."""
    tries = next((one.tries for one in server.store.events.hooks() if one.id == hook.id), 0) + 1
    is_hopeless = tries >= MOST_TRIES
    pause = min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_REST)
    behind = f"it is left out after {tries} tries" if is_hopeless else f"the next try is in {pause.seconds} s"
    sys.stderr.write(f"Hook {hook.id}, event {event.id}: {problem} {behind[0].upper()}{behind[1:]}.\n")
    if not is_hopeless:
        hook = hook._replace(last=event.id - 1, tries=tries, due=server.now() + pause)
    _save(server, hook._replace(problem=f"Event {event.id}: {problem}"))


def _save(server: Server, hook: Hook) -> None:
    with server.store.writing():
        server.store.events.save_hook(hook)


def _ran(program: str, event: Event) -> str:
    """Run a program with an event as its input; why it failed, empty if it did not."""
    line = f"{json.dumps(event_data(event))}\n"
    try:
        words = located(shlex.split(program))
        done = subprocess.run(
            words, input=line, text=True, errors="replace", capture_output=True, timeout=RUNS_FOR, check=False
        )
    except subprocess.TimeoutExpired:
        return f"It has not ended within {RUNS_FOR} seconds."
    except OSError as why:
        return f"It cannot be started: {reason(why)}."
    if done.returncode == 0:
        return ""
    said = " ".join(done.stderr.split())[-LONGEST_PROBLEM:]
    return f"It ended with status {done.returncode}{f': {said}' if said else ''}."
