"""The commands that look for faults: `doctor` in the database, settings and mail, and `promises` in a game."""

import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple

import click

import games
from games.promises import broken
from pbm import referee, texts
from pbm.access import bars
from pbm.board import clocks
from pbm.board.board import FAULTS, Board
from pbm.board.ratings import START
from pbm.board.records import Unsound, differences, outcome, replayed
from pbm.console import answer, existing_database, let_server_go_first, progress_bar, time_text
from pbm.console.usage import GAME_ARGUMENT, WHOLE_NUMBER, Commands
from pbm.disk import is_read_only, left_behind, reason
from pbm.language.help import of_game
from pbm.mail.transports import Maildirs, Sendmail, Smtp, Transport
from pbm.names import is_address
from pbm.operator.findings import Finding
from pbm.refusals import Refused
from pbm.settings import address, check_mailbox_login, signer, signer_with, transport
from pbm.store import BoardRow, OtherVersion, Store, TurnRow, Unusable

MISSED = timedelta(days=2)
"""How long a forfeit may be due before it is said that no clean-up runs, which is due once a day."""
IDLE = timedelta(days=30)
"""How long no mail has come from what is barred before it is said that it holds nobody."""
DNS_EXTRA = (
    "DNS is checked with checkdmarc, which is not installed: `python3 bin/make_environment.py dns` in a clone, or "
    "pip install '.[dns]'."
)
BACKUP = "Go back to a backup from before: `pbm restore FILE`."
PACKAGE = "Mend or install the package that brings the game. Until then its boards are kept as they are."
BOARDS_AT_ONCE = 500
"""How many boards are replayed before progress is shown."""

commands = Commands("pbm")


@commands.command()
@click.option(
    "--processes",
    type=WHOLE_NUMBER,
    metavar="N",
    help="How many processes play boards again at a time; one for each core if not given.",
)
@click.option("--sample", type=WHOLE_NUMBER, metavar="N", help="Play only N boards again, different ones each time.")
@click.option("--dns", "wants_dns", is_flag=True, help="Check the DNS of the server's domain, and nothing else.")
@click.option("--resolver", metavar="ADDRESS[:PORT]", help="Who is asked with --dns; else the resolver of the system.")
@click.option(
    "--ip",
    "addresses",
    multiple=True,
    metavar="ADDRESS",
    help="From where mail leaves; else the public addresses of this machine. It can be given twice.",
)
def doctor(
    processes: int | None, sample: int | None, resolver: str | None, addresses: tuple[str, ...], *, wants_dns: bool
) -> int:
    """Check whether all is well, and say what is wrong and how to fix it. If anything is wrong, the exit status is 1.

    It checks the database file, plays every board in it again, and adds up ratings. Then it checks the settings
    and the games. It changes nothing, and can run while the server runs. `pbm status` says how the server is doing.

    If all boards take too long, --sample=N plays N boards again, chosen at random.

    --dns says what may keep mail from arriving: MX, SPF, DKIM and DMARC of the domain in PBM_ADDRESS, and the names of
    the addresses from which mail leaves. For each fault it prints the line to put into the zone. It needs no database.
    """
    if wants_dns and (processes or sample):
        raise click.UsageError("--dns plays no boards, so --processes and --sample do not belong to it.")
    if wants_dns:
        return _report_zone(resolver, addresses)
    if resolver or addresses:
        raise click.UsageError("--resolver and --ip belong to --dns.")
    path = existing_database()
    now = datetime.now(UTC)
    with progress_bar("Boards") as progress:
        findings = list(examine(path, now, progress, processes or len(os.sched_getaffinity(0)), sample))
    notes = list(foreign_table_notes(path))
    notes += idle_bars(path, now)
    limits = ", as far as a sample of its boards tells" if sample else ""
    return _report(findings, notes, f"All is well with {path}{limits}.")


def _report(findings: Sequence[Finding], notes: Sequence[str], if_none: str) -> int:
    """Print what was found, or that nothing was. Returns the exit status."""
    lines = [f"{finding.where}: {finding.what}\n  {finding.mend}" for finding in findings]
    lines += notes
    if findings:
        lines.append(f"Found {texts.counted(len(findings), 'fault')}.")
    else:
        lines.append(if_none)
    data = {"ok": not findings, "findings": [finding._asdict() for finding in findings], "notes": list(notes)}
    answer("\n".join(lines), data)
    return 1 if findings else 0


def _report_zone(resolver: str | None, addresses: Sequence[str]) -> int:
    """Examine the zone of our domain, and print what was found. Returns the exit status. Raises Refused."""
    try:
        from pbm.operator import zone
    except ImportError as error:
        raise Refused(DNS_EXTRA) from error
    domain = address().rpartition("@")[2].lower()
    if not is_address(address()) or "." not in domain:
        raise Refused(f"PBM_ADDRESS is {address()!r}, which has no domain that others could look up.")
    way = transport()
    relay = None
    if isinstance(way, Smtp) and not _is_near(way.host):
        relay = way.host
    own = [zone.read_address(text) for text in addresses]
    if not own and not relay:
        own = zone.public_addresses()
    notes: list[str] = []
    if relay and not own:
        notes.append(
            f"Mail leaves through {relay}. Whether SPF names its addresses is not known; --ip=ADDRESS tries one."
        )
    elif not own:
        notes.append("This machine has no public address; --ip=ADDRESS says from which one its mail leaves.")
    key = signer()
    key_name: str | None = signer_with(Path()).record_name
    if relay and not key and "PBM_DKIM_SELECTOR" not in os.environ:
        notes.append(f"{relay} may sign our mails; PBM_DKIM_SELECTOR names its key, if it is to be checked.")
        key_name = None
    key_record = key.record() if key else None
    ours = zone.Zone(domain, zone.Resolver(resolver), own, key_name, key_record)
    return _report(list(zone.examine_zone(ours)), notes, f"All is well with the DNS of {domain}.")


def _is_near(host: str) -> bool:
    """Whether a mail server is on this machine, or in its network: it has our address, as others see it."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def examine(
    path: Path,
    now: datetime,
    progress: Callable[[int, int], object] = lambda *_: None,
    processes: int = 1,
    sample: int | None = None,
) -> Iterator[Finding]:
    """The faults of a database, the settings and the games.

    *processes* is how many processes replay boards at a time. *sample* is how many boards they replay, chosen at
    random; None for all. *progress* is called with the number of boards replayed since its last call, and the number of
    all.
    """
    yield from _file(path)
    try:
        with Store(path, read_only=True) as store, store.reading():
            for check in (
                _database(store),
                _boards(store, now, progress, processes, sample),
                _ratings(store),
                _rows(store),
                _clock(store, now),
                _absences(store),
            ):
                try:
                    yield from check
                except (OverflowError, ValueError) as why:  # a stored time, list or number
                    yield Finding("database", f"something in it cannot be read: {why}.", BACKUP)
    except OtherVersion as why:
        yield Finding("database", why.fault, why.remedy)
    except Unusable as why:
        mend = "If it is damaged, go back to a backup: `pbm restore FILE`."
        if is_read_only(path):
            mend = "Mount its disk so that it can be written."
        yield Finding("database", str(why), mend)
    yield from _settings()
    yield from _key()
    yield from _mailbox()
    yield from _games()


def foreign_table_notes(path: Path) -> Iterator[str]:
    """A sentence that names the tables of other programs in the database, if there are any."""
    with suppress(Unusable), Store(path, read_only=True) as store, store.reading():
        note = store.health.foreign_tables()
        if note:
            yield note


def idle_bars(path: Path, now: datetime) -> Iterator[str]:
    """A sentence for each bar that holds nobody: the operator may have mistyped it, or may no longer need it.

    That is no fault, because the barred sender may come back.
    """
    with suppress(Unusable, ValueError), Store(path, read_only=True) as store, store.reading():
        held = bars.users_held(store)
        for bar in store.trust.bars():
            if held[bar.bar] or (bar.last and bar.last > now - IDLE):
                continue
            last = "no mail has come from there"
            if bar.last:
                last = f"the last mail from there came on {bar.last:%Y-%m-%d}"
            what = f"{bar.bar} has been barred since {bar.since:%Y-%m-%d} and holds nobody"
            yield f"{what}: no user has such an address, and {last}. `pbm users unbar {bar.bar}` ends that."


def _file(path: Path) -> Iterator[Finding]:
    """Check who may read and replace the file, and whether something was left behind next to it."""
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if file.exists() and file.stat().st_mode & 0o077:
            what = "others may read the addresses and the hashes of passwords in it."
            yield Finding(str(file), what, f"chmod 600 {file}")
    folder = path.absolute().parent
    # in a folder with the sticky bit, 0o1000, nobody can replace the files of others
    if folder.stat().st_mode & 0o1022 in {0o002, 0o020, 0o022}:
        yield Finding(str(folder), "others may put files of theirs in place of the database.", f"chmod go-w {folder}")
    for left in left_behind(folder):
        what = "a backup or a restore that was killed has left it behind."
        yield Finding(str(left), what, f"rm {left}; or the next one into this folder removes it.")


def _database(store: Store) -> Iterator[Finding]:
    """Check that the file is sound, and can be read and written."""
    for what in store.health.damage():
        yield Finding("database", f"{what}.", BACKUP)
    if why := store.health.objection():
        mend = "Look who owns the file and its folder, and whether its disk is mounted to be read only."
        yield Finding("database", f"it cannot be written: {why}.", mend)


def _boards(
    store: Store, now: datetime, progress: Callable[[int, int], object], processes: int, sample: int | None
) -> Iterator[Finding]:
    """Check that boards are what their turns lead to, and that games end if a player takes too long."""
    counts = store.health.counts_of_boards()
    missing = {game: count for game, count in counts.items() if not games.exists(game)}
    places = [place for place in store.health.board_names(sample) if place[0] not in missing]
    parts = [places[first : first + BOARDS_AT_ONCE] for first in range(0, len(places), BOARDS_AT_ONCE)]
    examine_part = partial(_examined, store.path, now)
    late = 0
    # fewer boards are replayed sooner than processes are started
    workers = min(processes, len(places) // BOARDS_AT_ONCE)
    with ExitStack() as opened:
        if workers > 1:
            # a process that is forked would share our connection to the database
            pool = opened.enter_context(get_context("spawn").Pool(workers, _begin_process))
            results: Iterator[ExaminedBoards] = pool.imap(examine_part, parts)
        else:
            results = map(examine_part, parts)
        for part, result in zip(parts, results, strict=True):
            progress(len(part), len(places))
            late += result.late
            yield from result.findings
    if late:
        what = f"boards on which somebody should have forfeited some days ago: {late}."
        yield Finding("cleanup", what, "Let `pbm cleanup` run once a day, from cron or a systemd timer.")
    for game, count in missing.items():
        what = f"there is no such game, but {texts.counted(count, 'board')} of it."
        yield Finding(game, what, PACKAGE)


def _begin_process() -> None:
    """Prepare a process that examines boards: `pbm serve` goes first, and Ctrl-C is for the parent, which ends it."""
    let_server_go_first()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class ExaminedBoards(NamedTuple):
    """What was found out about some boards."""

    late: int
    """On how many of them a forfeit is late."""
    findings: list[Finding]


def _examined(path: Path, now: datetime, places: Sequence[tuple[str, str]]) -> ExaminedBoards:
    """Replay boards, and find their faults."""
    late = 0
    findings: list[Finding] = []
    with Store(path, read_only=True) as store, store.reading():
        for game, board in places:
            try:
                row = store.boards.get(game, board)
                if row is None:  # it was removed meanwhile
                    continue
                again = replayed(row, _turns(store, game, board))
            except (Unsound,) + FAULTS as why:
                mend = PACKAGE if isinstance(why.__cause__, games.Unloadable) else BACKUP
                findings.append(Finding(f"{game} {board}", str(why), mend))
                continue
            findings += [Finding(f"{game} {board}", what, mend) for what, mend in _board(row, again)]
            if again.is_over or row.drawn:
                continue
            step_before, _ = clocks.due(store, row, again.seat, now - MISSED)
            step_now, _ = clocks.due(store, row, again.seat, now)
            if step_before.ends and step_now.ends:  # the clean-up of two days ago should have ended it
                late += 1
    return ExaminedBoards(late, findings)


def _turns(store: Store, game: str, board: str) -> list[TurnRow]:
    """The turns of a board. Raises Unsound if one is missing."""
    turns = store.boards.turns(game, board)
    last = store.health.last_turn_number(game, board)
    if last != len(turns):
        raise Unsound(f"its turns are numbered up to {last}, but there are {len(turns)}.")
    return turns


def _board(row: BoardRow, again: Board) -> Iterator[tuple[str, str]]:
    """Faults in the row of a board that was played *again*, each with how to mend it."""
    turns = again.turns
    for what in differences(row, outcome(row, again)):
        yield what, f"`pbm boards mend {row.game} {row.board}` sets the row right by the moves."
    if again.is_over and row.drawn:
        yield "a draw was agreed on, but the game had ended.", BACKUP
    if not again.is_over and not row.drawn and games.needs_dice(again.state) and not row.secret:
        yield "it has no secret, so that its dice could be foreseen.", BACKUP
    if row.ended and turns and row.ended < turns[-1].played:
        yield "it ended before its last move.", BACKUP


def _ratings(store: Store) -> Iterator[Finding]:
    """Check that the results of each player add up to their rating and counts."""
    for game, userid in store.health.players_without_row():
        yield Finding(f"{game}, {userid}", "there are results, but no rating.", BACKUP)
    for game, userid, number, before, count, led in store.health.broken_ratings(START):
        what = f"rated game {number} begins with {before}, but {texts.counted(count, 'game')} led to {led}."
        yield Finding(f"{game}, {userid}", what, BACKUP)
    for game, userid, *scores in store.health.wrong_scores():
        score = "{} (won {}, lost {}, tied {})"
        stored = score.format(*scores[:4])
        right = score.format(*scores[4:])
        what = f"the rating is stored as {stored}; the results say {right}."
        yield Finding(f"{game}, {userid}", what, BACKUP)


def _rows(store: Store) -> Iterator[Finding]:
    """Check for rows that should not exist."""
    for what, which in store.health.doubtful_rows():
        yield Finding(which, f"there is {what}.", BACKUP)


def _clock(store: Store, now: datetime) -> Iterator[Finding]:
    """Check that the clock has not stepped back by more than CLOCK_STEP."""
    latest = store.health.latest()
    if latest and latest > now + clocks.CLOCK_STEP:
        what = f"something was done at {time_text(latest)}, but it is {time_text(now)}."
        yield Finding("clock", what, "Set the clock of this machine right (`timedatectl`).")


def _absences(store: Store) -> Iterator[Finding]:
    """Check that all boards have the time in which the server was away."""
    if not store.absences.are_done():
        what = "not all boards have the time yet in which the server was away, so nobody loses by time."
        yield Finding("absence", what, "Run `pbm cleanup`.")


def _settings() -> Iterator[Finding]:
    """Check the environment variables for mail."""
    if not is_address(address()):
        yield Finding("PBM_ADDRESS", f"{address()!r} is no mail address.", "Set it to the address of the server.")
    if os.environ.get("PBM_TRANSPORT"):
        if "PBM_ADDRESS" not in os.environ:
            what = f"it is not set, so that answers would go to {address()}."
            yield Finding("PBM_ADDRESS", what, "Set it to the address of the server.")
        try:
            problem = _unreachable(transport())
        except Refused as why:
            problem = str(why)
        if problem:
            yield Finding("PBM_TRANSPORT", problem, "Set it right, or make what it names work.")


def _key() -> Iterator[Finding]:
    """Check whether the key that signs our mails can be used."""
    try:
        signer()
    except (Refused, Unusable) as why:
        yield Finding("PBM_DKIM_KEY", f"{why} No mail goes out until it can.", "Mend it; all mails wait in the outbox.")


def _mailbox() -> Iterator[Finding]:
    """Check whether the mailbox asks to be logged in again."""
    try:
        check_mailbox_login()
    except Unusable as why:
        yield Finding("PBM_OAUTH", str(why), "Log in again; until then mails wait.")


def _unreachable(way: Transport) -> str:
    """Why mail cannot go out; empty if it can."""
    match way:
        case Maildirs(folder=folder):
            place = folder if folder.exists() else folder.parent  # in which it will be made
            if not os.access(place, os.W_OK | os.X_OK):
                return f"there is no folder {place} that can be written to."
        case Sendmail(program=program) if not os.access(program, os.X_OK):
            return f"there is no program {program}."
        case Smtp(host=host, port=port):
            try:
                socket.create_connection((host, port), timeout=10).close()
            except OSError as why:
                return f"{host} does not answer: {reason(why)}."
    return ""


def _games() -> Iterator[Finding]:
    """Check that every game can be loaded, and that games of other packages keep their promises."""
    for name in games.names():
        package = games.package(name)
        try:
            game = games.load(name)
            game.new(**games.read_options(game, []))
            # the tests of pbm check its own games
            faults = list(_broken_promises(name)) if package else []
        except Exception as why:
            cause = why.__cause__ or why
            faults = [f"{type(cause).__name__}: {cause}."]
        for fault in faults:
            yield Finding(name, f"the package {package or 'pbm'} has a fault: {fault}", PACKAGE)


# A game


@commands.command()
@GAME_ARGUMENT
def promises(game: str) -> int:
    """Check whether a game keeps what every game promises to the server.

    It plays the game at random, and checks its help, its pictures, its refusals and its positions. For each promise
    that is broken it prints a sentence, and the exit status is 1. The same game is played each time.
    """
    broken_promises = list(_broken_promises(game))
    text = "\n".join(broken_promises) or f"{game} keeps all its promises."
    answer(text, {"game": game, "ok": not broken_promises, "broken": broken_promises})
    return 1 if broken_promises else 0


def _broken_promises(name: str) -> Iterator[str]:
    """A sentence for each promise that a game breaks."""
    try:
        game = games.load(name)
    except games.Unloadable as why:
        return iter([str(why)])
    return broken(game, Random(name), of_game(name), partial(referee.replies, name))
