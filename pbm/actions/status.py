"""How the server is doing: counts, and what the operator has to do."""

import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import NamedTuple

from pbm import texts
from pbm.board.clocks import CLOCK_STEP, DAY
from pbm.store import SCHEMA, Robot, Store
from pbm.store.events import Counted
from pbm.store.outbox import Waiting

PROGRAM_VERSION = version("pbm-server")
LEAST_FREE = 100_000_000
"""How many bytes of the disk should be free."""
OLDEST_DUE = timedelta(days=1)
"""How long a mail may be due."""
LATEST_CLEANUP = timedelta(days=2)
"""How long ago the last clean-up may be while boards are active."""
LATEST_BACKUP = timedelta(days=8)
"""How long ago the last backup may be."""


class Status(NamedTuple):
    """How the server is doing."""

    users: int
    boards: int
    active: int
    """How many of the boards are active."""
    mails: Waiting
    begun: datetime
    """When the database was made; clean-ups and backups are noted from then on."""
    cleanup: datetime | None
    """When the last clean-up was; None if there was none."""
    backup: datetime | None
    commands: Counted
    """The commands in the last 24 hours that began on the hour."""
    failed: list[Robot]
    """The robots that were paused because their programs have failed."""
    size: int
    """Bytes of the database."""
    free: int
    """Bytes that are free on its disk."""
    latest: datetime | None
    """The latest time in the database, if a command or a clean-up was in an hour that is still to come; else None."""
    is_time_given: bool
    """Whether all boards have the time in which the server was away."""


def status_at(store: Store, now: datetime) -> Status:
    """The status of the server at the time *now*."""
    with store.reading():
        boards, active = store.boards.totals()
        cleanup = store.events.last_maintenance("cleanup")
        is_behind = any(store.events.commands_since(now)) or (cleanup is not None and cleanup > now)
        latest = store.health.latest() if is_behind else None  # which looks at every turn
        return Status(
            users=store.users.count(),
            boards=boards,
            active=active,
            mails=store.outbox.counts(),
            begun=store.events.last_maintenance("begun") or now,
            cleanup=cleanup,
            backup=store.events.last_maintenance("backup"),
            commands=store.events.commands_since(now - DAY),
            failed=[robot for robot in store.robots.all() if robot.why],
            size=store.path.stat().st_size,
            free=shutil.disk_usage(store.path.absolute().parent).free,
            latest=latest,
            is_time_given=store.absences.are_done(),
        )


def needed(status: Status, now: datetime) -> Iterator[str]:
    """A sentence for each thing that the operator has to do."""
    if status.mails.given_up:
        mails = texts.counted(status.mails.given_up, "mail")
        yield f"Given up: {mails}. `pbm outbox list` tells why."
    if status.mails.oldest and status.mails.oldest < now - OLDEST_DUE:
        yield f"A mail has been waiting since {_time(status.mails.oldest)}. `pbm outbox list` tells why."
    if status.active and (status.cleanup or status.begun) < now - LATEST_CLEANUP:
        yield "There was no clean-up for two days. Let `pbm cleanup` run once a day."
    if not status.is_time_given:
        yield "Not all boards have the time yet in which the server was away. `pbm cleanup` gives it to them."
    if (status.backup or status.begun) < now - LATEST_BACKUP:
        yield "There was no backup for a week. Let `pbm backup --keep=14 FOLDER` run once a day."
    if status.latest and status.latest > now + CLOCK_STEP:
        times = f"something was done at {_time(status.latest)}, but it is {_time(now)}"
        yield f"The clock of this machine has stepped back: {times}. Set it right (`timedatectl`)."
    for robot in status.failed:
        yield f"{robot.userid} is paused, because its program has failed: {robot.why} `pbm robots resume` lets it play."
    if status.free < max(LEAST_FREE, status.size):
        yield f"Only {status.free / 1e6:,.0f} MB of the disk are free. Make room, or move the database."


def status_text(status: Status) -> str:
    """The status, for people."""
    mails = status.mails
    oldest = f", the oldest since {_time(mails.oldest)}" if mails.oldest else ""
    last_cleanup = _time(status.cleanup) if status.cleanup else "never"
    last_backup = _time(status.backup) if status.backup else "never"
    return texts.table(
        [
            ("Version:", f"{PROGRAM_VERSION}, schema {SCHEMA}"),
            ("Users:", f"{status.users:,}"),
            ("Boards:", f"{status.boards:,}, {status.active:,} active"),
            ("Mails waiting:", f"{mails.to_send:,}{oldest}; {mails.unaddressed:,} for users without an address"),
            ("Mails given up:", f"{mails.given_up:,}"),
            ("Commands, 24 hours:", f"{status.commands.done:,} done, {status.commands.refused:,} refused by mail"),
            ("Last clean-up:", last_cleanup),
            ("Last backup:", last_backup),
            ("Disk:", f"{status.size / 1e6:,.1f} MB used by the database, {status.free / 1e6:,.0f} MB free"),
        ]
    )


def _time(moment: datetime) -> str:
    return f"{moment:{texts.TIME_FORMAT}}"
