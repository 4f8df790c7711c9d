"""Clocks: how long a player may take before they are reminded, before they forfeit, and in the whole game.

Times are whole days, except for clocks that grow (`growing`); vacations are days as well, in UTC.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import Enum
from operator import itemgetter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pbm.board import growing
from pbm.board.growing import Clock
from pbm.store import BoardRow, Store, Vacation
from pbm.store.boards import TOURNAMENT_DAYS, USUAL_DAYS
from pbm.texts import counted

DAY = timedelta(days=1)
MOST_DAYS = growing.LONGEST_DAYS
SATURDAY = 5
"""The number of the day in `date.weekday`."""
CLOCK_STEP = timedelta(hours=1)
"""How far the clock of a machine may step back, for example by NTP, before the operator is told."""
NOTICE = timedelta(hours=48)
"""How long before a loss by time a reminder has to have left."""
GRACE = timedelta(days=3)
"""How long after a vacation a player does not forfeit yet."""
MOST_VACATION_DAYS = 30
"""How many days of vacation a user has in a calendar year."""
DAYS = "nagtime", "forfeittime", "totaltime"
"""The clock options that take a number of days."""
FLAGS = "novacation", "noweekends"
"""The clock options that stand alone."""
OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(DAYS, "DAYS"),
    "clock": "BASE+INC[/MAX]",
    **dict.fromkeys(FLAGS, ""),
}
"""The clock options of a challenge, each with its value in help, such as ``DAYS``; empty for a flag."""


class Clocks(NamedTuple):
    """The clock options of a board, in days; None where the default holds."""

    nag: int | None = None
    forfeit: int | None = None
    total: int | None = None
    novacation: bool = False
    """Whether players on vacation are reminded and forfeit as others do."""
    noweekends: bool = False
    """Whether no clock runs on Saturdays and Sundays."""
    clock: Clock | None = None
    """A clock that grows, which replaces forfeit and total time."""

    def limits(self, *, is_tournament: bool) -> tuple[int, int]:
        """The days after which a player is reminded, and those after which they forfeit."""
        nag, forfeit = TOURNAMENT_DAYS if is_tournament else USUAL_DAYS
        return self.nag or nag, self.forfeit or forfeit


def read(texts: Mapping[str, str | None], *, is_tournament: bool) -> tuple[Clocks, list[str]]:
    """The clocks that the options of a challenge set, and sentences about wrong options."""
    problems = []
    days: list[int | None] = []
    for option in DAYS:
        text = texts.get(option)
        number = 0  # stands for a text that is missing or no number
        if text and re.fullmatch("[0-9]{1,4}", text, re.ASCII):
            number = int(text)
        days.append(number or None)
        if text is not None and not 1 <= number <= MOST_DAYS:
            problems.append(f"--{option}=DAYS takes a whole number of days from 1 to {MOST_DAYS}.")
    nag, forfeit, total = days
    novacation, noweekends = [texts.get(option) is not None for option in FLAGS]
    clock_text = texts.get("clock")
    if clock_text is not None:
        clock, wrong = _read_clock(clock_text, nag)
        problems += wrong
        if texts.get("forfeittime") is not None or texts.get("totaltime") is not None:
            problems.append("--clock takes the place of --forfeittime and --totaltime; write one or the other.")
        return Clocks(nag, None, None, novacation, noweekends, clock), problems
    read_clocks = Clocks(nag, forfeit, total, novacation, noweekends)
    reminded, lost = read_clocks.limits(is_tournament=is_tournament)
    if not problems and reminded >= lost:
        problems.append(
            f"A player would be reminded after {counted(reminded, 'day')} and forfeit after {lost}; "
            "--nagtime has to be below --forfeittime."
        )
    return read_clocks, problems


def _read_clock(text: str, nag: int | None) -> tuple[Clock | None, list[str]]:
    """The clock that ``--clock=`` sets, and sentences about what is wrong with it, or with *nag*, which is in days."""
    try:
        clock = growing.parse(text)
    except ValueError as why:
        return None, [str(why)]
    if nag and timedelta(days=nag).total_seconds() >= clock.base:
        why_late = "With --clock, --nagtime is the time left at which a player is reminded; it has to be below BASE."
        return clock, [why_late]
    return clock, []


def of(row: BoardRow) -> Clocks:
    """The clock options of a board."""
    is_week_short = row.weekends is not None
    return Clocks(row.nag_days, row.forfeit_days, row.total_days, row.novacation, is_week_short, clock_of(row))


def clock_of(row: BoardRow) -> Clock | None:
    """The clock of a board, if it grows."""
    if row.base_seconds is None or row.increment_seconds is None or row.most_seconds is None:
        return None
    return Clock(row.base_seconds, row.increment_seconds, row.most_seconds)


def outside_tournament(row: BoardRow) -> BoardRow:
    """The row of a board with the days of its tournament as clock options, so that they hold on any other board."""
    if not row.pool or clock_of(row):
        return row
    nag, forfeit = of(row).limits(is_tournament=True)
    return row._replace(nag_days=nag, forfeit_days=forfeit)


def all_options(row: BoardRow) -> str:
    """The options of a board as they are typed: those of its game, and those of its clocks."""
    set_up = of(row)
    options = row.options.split()
    for option, days in zip(DAYS, (set_up.nag, set_up.forfeit, set_up.total), strict=True):
        if days:
            options.append(f"--{option}={days}")
    if set_up.clock:
        options.append(f"--clock={set_up.clock.text}")
    options += [f"--{option}" for option in FLAGS if getattr(set_up, option)]
    return " ".join(options)


def limits(row: BoardRow) -> tuple[int, int]:
    """The days without a move after which the player to move is reminded, and those after which they forfeit."""
    return of(row).limits(is_tournament=row.pool is not None)


def next_time(row: BoardRow, now: datetime) -> datetime:
    """The time to store with the next step on a board: *now*, but never before the time of its last step.

    The clock of the machine may have stepped back since then.
    """
    return max(now, row.happened)


def whole_days(row: BoardRow, now: datetime) -> int:
    """How many whole days ago the last move, undo or start of a board was."""
    return (next_time(row, now) - row.happened).days


def age(row: BoardRow, now: datetime, off: Collection[date] = ()) -> timedelta:
    """The time since the last move, undo or start of a board, less given days, and less what does not count.

    That is weekends, on some boards, and the days *off*, which are days in UTC.
    """
    since = row.happened
    passed = counted_time(since, next_time(row, now), row.weekends, off)
    return passed - timedelta(seconds=row.given_seconds)


def counted_time(begin: datetime, end: datetime, weekends: str | None, off: Collection[date]) -> timedelta:
    """The time between two moments, less the days *off* in UTC, and less weekends in a time zone if there is one."""
    pauses = list(_weekends(begin, end, weekends))
    for day in off:
        midnight = datetime.combine(day, time(), UTC)
        pauses.append((midnight, midnight + DAY))
    return end - begin - _overlap(pauses, begin, end)


def _weekends(since: datetime, until: datetime, zone_name: str | None) -> Iterator[tuple[datetime, datetime]]:
    """The weekends between two moments in a time zone, each with its begin and end in UTC; none without a zone."""
    if zone_name is None:
        return
    zone = zone_of(zone_name)
    day = since.astimezone(zone).date()
    day += (SATURDAY - day.weekday()) * DAY  # on a Sunday the day before
    while (begin := datetime.combine(day, time(), zone)) < until:
        end = datetime.combine(day + 2 * DAY, time(), zone)
        yield begin.astimezone(UTC), end.astimezone(UTC)
        day += 7 * DAY


def _overlap(pauses: Iterable[tuple[datetime, datetime]], since: datetime, until: datetime) -> timedelta:
    """How much of the time between two moments lies in some pause."""
    paused = timedelta()
    for begin, end in sorted(pauses):
        begin_of_rest = max(begin, since)
        end_of_rest = min(end, until)
        if begin_of_rest < end_of_rest:
            paused += end_of_rest - begin_of_rest
            since = end_of_rest
    return paused


def zone_of(name: str | None) -> tzinfo:
    """The time zone of that name; UTC for None, and for a name that this machine does not know any more."""
    try:
        return ZoneInfo(name) if name else UTC
    except (LookupError, ValueError, OSError):
        return UTC


def used(row: BoardRow, seat: int, now: datetime) -> float:
    """The seconds that the player to move, who has that seat, has used so far in the whole game.

    With a total time, days that were given for this move do not count.
    """
    this_move = age(row, now)  # without the days that were given for it
    if not row.total_days:
        this_move += timedelta(seconds=row.given_seconds)
    earlier_moves = row.second_used if seat else row.first_used
    return earlier_moves + this_move.total_seconds()


def is_out_of_time(store: Store, row: BoardRow, seat: int, now: datetime) -> bool:
    """Whether the player to move, who has that seat, has used up their total time, or their clock has run out."""
    if clock := clock_of(row):
        return _step_by_clock(store, row, clock, seat, now) is DueStep.OUT_OF_TIME
    return row.total_days is not None and used(row, seat, now) >= (row.total_days * DAY).total_seconds()


def awaited(row: BoardRow) -> str:
    """The player who has to act: to answer the proposal of a draw, or else to move.

    On a clock that grows it is always the player to move, because only theirs runs.
    """
    if row.voter and row.vote == "draw" and row.base_seconds is None:
        return row.opponent(row.voter)
    return row.turn or ""


def noticed_at(row: BoardRow, userid: str) -> datetime | None:
    """Since when a player has notice of what they owe on a board: a move, or an answer; None if they have none."""
    return row.notified_at if userid == row.turn else row.vote_notified_at


def has_notice(row: BoardRow, userid: str, now: datetime) -> bool:
    """Whether a player can lose by time, or accept by silence: a reminder left long enough ago."""
    since = noticed_at(row, userid)
    return since is not None and now >= since + NOTICE


def waits_for_robot(store: Store, row: BoardRow) -> bool:
    """Whether the awaited player is a robot, for which no time counts."""
    return bool(store.robots.among([awaited(row)]))


def _time_of_age(row: BoardRow, wanted: timedelta, off: Collection[date] = ()) -> datetime:
    """When a board has that age if nobody moves. It does not grow older on the days *off*."""
    moment = row.happened + wanted  # or later, if days were given, or some do not count
    zone = zone_of(row.weekends)
    left = wanted - age(row, moment, off)
    while left > timedelta():
        day = moment.astimezone(zone).date()
        day_in_utc = moment.astimezone(UTC).date()
        if row.weekends and day.weekday() >= SATURDAY:  # no time counts before Monday
            monday = day + (7 - day.weekday()) * DAY
            moment = datetime.combine(monday, time(), zone).astimezone(UTC)
        elif day_in_utc in off:
            moment = datetime.combine(day_in_utc + DAY, time(), UTC)
        else:
            moment += left
        left = wanted - age(row, moment, off)
    return moment


def ends_at(store: Store, row: BoardRow, now: datetime) -> datetime:
    """When the awaited player reaches the limit of this move or of a clock that grows, if nothing else happens."""
    if row.base_seconds is not None:
        return runs_out_at(store, row)
    _, forfeit = limits(row)
    until = _time_of_age(row, forfeit * DAY)
    vacations: list[Vacation] = []
    if not row.novacation:
        vacations = store.users.vacations(awaited(row), now.date() - GRACE)
    last_day = until.date()
    for away in vacations:
        if away.first <= max(until, now).date():
            spared_through = _spared_through(away, last_day)
            until = max(until, datetime.combine(spared_through + DAY, time(), UTC))
    return until


def _spared_through(away: Vacation, last_day: date) -> date:
    """The last day on which a vacation spares a loss; *last_day* is the last day of the time of the move.

    Only a vacation that began by then has days of grace, or else each day of one would spare four.
    """
    if away.first > last_day:
        return away.last
    return away.last + GRACE


def total_ends_at(row: BoardRow) -> datetime | None:
    """When the player to move has used up their total time; None if they have no such limit."""
    if row.total_days is None:
        return None
    used_seconds = zip(row.players, (row.first_used, row.second_used), strict=True)
    # that of the side that has used more, if one user plays both
    spent = max(seconds for userid, seconds in used_seconds if userid == row.turn)
    return _time_of_age(row, row.total_days * DAY - timedelta(seconds=spent))


def next_loss(store: Store, row: BoardRow, userid: str, now: datetime) -> tuple[datetime, "DueStep"]:
    """When a player of a board loses by time if nothing happens on it, and by which step; never without notice."""
    limits_of_player: list[tuple[datetime, DueStep]] = []
    if row.until:
        limits_of_player.append((row.until, DueStep.ROUND_OVER))
    if userid == awaited(row):
        limits_of_player.append((ends_at(store, row, now), DueStep.FORFEIT))
    if userid == row.turn and (total := total_ends_at(row)):
        limits_of_player.append((total, DueStep.OUT_OF_TIME))
    end, step = min(limits_of_player, key=itemgetter(0))
    notice_begin = noticed_at(row, userid) or now
    return max(end, notice_begin + NOTICE), step


def time_left(store: Store, row: BoardRow, now: datetime) -> timedelta:
    """How long the awaited player has left until they lose."""
    end, _ = next_loss(store, row, awaited(row), now)
    return end - now


# Clocks that grow


def days_off(store: Store, row: BoardRow) -> frozenset[date]:
    """The days on which a clock that grows stands still, because the player to move is on vacation."""
    if row.turn is None:
        return frozenset()
    return days_off_of(store, row, row.turn, row.happened)


def days_off_of(store: Store, row: BoardRow, userid: str, since: datetime) -> frozenset[date]:
    """The days from that of a moment on, on which the clock of a player stands still, if it grows."""
    if row.base_seconds is None or row.novacation:
        return frozenset()
    days = set(store.users.vacation_days(userid, since.date()))
    for away in store.users.vacations(userid, since.date()):
        days.update(away.days)
    return frozenset(days)


def left_on_clock(row: BoardRow, seat: int, now: datetime, off: Collection[date]) -> float:
    """The seconds that the player to move, who has that seat, has left; less than 0 if the clock has run out."""
    left = (row.second_left if seat else row.first_left) or 0.0
    return left - age(row, now, off).total_seconds()


def runs_out_at(store: Store, row: BoardRow) -> datetime:
    """When the clock of the player to move runs out, if nothing else happens."""
    both = zip(row.players, (row.first_left, row.second_left), strict=True)
    # that of the side that has less, if one user plays both
    left = min(seconds or 0.0 for userid, seconds in both if userid == row.turn)
    return _time_of_age(row, timedelta(seconds=left), days_off(store, row))


def _step_by_clock(store: Store, row: BoardRow, clock: Clock, seat: int, now: datetime) -> "DueStep":
    """The step that is due because of a clock that grows, where *seat* is to move."""
    mover = row.turn or ""
    off = days_off(store, row)
    left = left_on_clock(row, seat, now, off)
    reminded_at = clock.reminded_at
    if row.nag_days:
        reminded_at = timedelta(days=row.nag_days).total_seconds()
    if left > reminded_at or store.robots.among([mover]):
        return DueStep.NOTHING
    if store.users.password_of(mover) is None:
        return DueStep.FORFEIT
    today = now.date()
    if left > 0 or today in off:
        is_away = not row.novacation and planned_until(store, mover, today) is not None
        if is_away:
            return DueStep.NOTHING
        return DueStep.REMIND
    if not row.novacation and store.users.has_auto_vacation(mover) and days_left(store, mover, today.year):
        return DueStep.SPARE
    return DueStep.OUT_OF_TIME


# Vacations


def planned_until(store: Store, userid: str, today: date) -> date | None:
    """The last day of a user's present vacation, if that was planned: they are not reminded then; None without one."""
    for away in store.users.vacations(userid, today):  # they end today or later
        if away.first <= today:
            return away.last
    return None


def is_spared(store: Store, row: BoardRow, userid: str, today: date) -> bool:
    """Whether a user cannot forfeit on a board today: they are on a vacation, or were on a planned one within GRACE."""
    if today in store.users.vacation_days(userid, today):
        return True
    _, forfeit = limits(row)
    last_day = _time_of_age(row, forfeit * DAY).date()
    planned = store.users.vacations(userid, today - GRACE)
    return any(away.first <= today <= _spared_through(away, last_day) for away in planned)


def days_left(store: Store, userid: str, year: int) -> int:
    """How many days of vacation a user has left in a year; planned ones count as used."""
    begin = date(year, 1, 1)
    planned = store.users.vacations(userid, begin)
    taken = store.users.vacation_days(userid, begin)
    left = MOST_VACATION_DAYS - days_used(year, planned, taken)
    return max(0, left)


def days_used(year: int, planned: Sequence[Vacation], taken: Sequence[date]) -> int:
    """How many days of a year are vacation, *planned*, or *taken* by the server to avoid a loss."""
    days = set(taken)  # a day that is both counts once
    for away in planned:
        days.update(away.days)
    return len([day for day in days if day.year == year])


class DueStep(Enum):
    """What the daily clean-up does on a board."""

    NOTHING = "nothing"
    REMIND = "remind"
    SPARE = "spare"
    """Take a day of the player's vacation instead of the game."""
    FORFEIT = "forfeit"
    OUT_OF_TIME = "out of time"
    """End the game, because the player to move has used up their total time, or their clock has run out."""
    ROUND_OVER = "round over"
    """End the game by the loss of the player to move, because its round has to end."""
    DRAW = "draw"
    """End the game as a tie, because the player has not answered the proposal of one."""

    @property
    def ends(self) -> bool:
        """Whether the step ends the game."""
        return self in {DueStep.FORFEIT, DueStep.OUT_OF_TIME, DueStep.ROUND_OVER, DueStep.DRAW}


def due(store: Store, row: BoardRow, seat: int, now: datetime) -> tuple[DueStep, str]:
    """The step that is due on a board that is not over, and the userid of the player it is about.

    *seat* is to move. A robot never loses by its time, because it is not its fault if nobody lets it play.
    """
    step, userid = _step_by_limits(store, row, seat, now)
    if step is DueStep.NOTHING or store.users.password_of(userid) is None:
        return step, userid
    if step is not DueStep.REMIND and has_notice(row, userid, now):
        return step, userid
    if is_reminded(store, row, userid, now):
        return DueStep.NOTHING, userid
    return DueStep.REMIND, userid


def is_reminded(store: Store, row: BoardRow, userid: str, now: datetime) -> bool:
    """Whether no other reminder is due: one was made within a day, or still waits to be sent."""
    if row.nagged is not None and now < row.nagged + DAY:
        return True
    return store.outbox.will_remind(f"{row.game} {row.board}", userid)


def _step_by_limits(store: Store, row: BoardRow, seat: int, now: datetime) -> tuple[DueStep, str]:
    """The step that would be due if everybody had notice, and each reminder were the first one."""
    mover = row.turn or ""
    if clock := clock_of(row):
        return _step_by_clock(store, row, clock, seat, now), mover
    if not store.robots.among([mover]):
        if is_out_of_time(store, row, seat, now):
            return DueStep.OUT_OF_TIME, mover
        if row.until and now >= row.until:
            return DueStep.ROUND_OVER, mover
    userid = awaited(row)
    nag, forfeit = limits(row)
    if age(row, now) < nag * DAY or waits_for_robot(store, row):
        return DueStep.NOTHING, userid
    if store.users.password_of(userid) is None:  # they have signed off: nothing spares them
        return _end_of(row), userid
    today = now.date()
    counts_vacations = not row.novacation
    if age(row, now) < forfeit * DAY or (counts_vacations and is_spared(store, row, userid, today)):
        is_away = counts_vacations and planned_until(store, userid, today) is not None
        if is_away:
            return DueStep.NOTHING, userid
        return DueStep.REMIND, userid
    if counts_vacations and store.users.has_auto_vacation(userid) and days_left(store, userid, today.year):
        return DueStep.SPARE, userid
    return _end_of(row), userid


def _end_of(row: BoardRow) -> DueStep:
    """How a game ends if the awaited player has let their time go by."""
    if row.vote == "draw":
        return DueStep.DRAW
    return DueStep.FORFEIT
