"""Time once more, from the command language alone (docs/command-language.md, section 6): who is reminded, who loses.

A `Timekeeper` is told what happens, and says what follows. It keeps whole histories, and counts them again each time: a
time is what lies between two moments, less all pauses between them.
"""

from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NONE = timedelta()
TWO_DAYS, WEEK = 2 * DAY, 7 * DAY


class Person:
    """A player."""

    def __init__(self, name, zone):
        self.name, self.zone = name, zone
        self.vacations = []  # the first and the last day of each
        self.taken = set()  # days of vacation that were taken to avoid a loss
        self.wants_days_taken = False
        self.boxes = ["takes"]  # what becomes of mail to each address; a suspended one gets none

    @property
    def usable(self):
        return [number for number, box in enumerate(self.boxes) if box != "suspended"]

    @property
    def days_off(self):
        days = set(self.taken)
        for first, last in self.vacations:
            days |= {first + number * DAY for number in range((last - first).days + 1)}
        return days

    def days_left(self, year):
        return 30 - sum(day.year == year for day in self.days_off)

    def is_away(self, today):
        return any(first <= today <= last for first, last in self.vacations)


class Turn:
    """The time from one step on a board to the next, in which one player is to move."""

    def __init__(self, seat, begun, zone):
        self.seat = seat
        self.begun = begun
        self.zone = zone
        self.ended = None
        self.given = NONE
        self.days_off = set()  # when it has ended
        self.is_move = True  # or else it ended with the undo of the move before it


class Table:
    """A board."""

    def __init__(self, players, now, *, nag=None, forfeit=21, total=None, clock=None, until=None, **flags):
        self.players = players
        self.nag = nag
        self.forfeit = forfeit
        self.total = total
        self.clock = clock
        self.until = until
        self.novacation, self.noweekends = flags["novacation"], flags["noweekends"]
        self.turns = [Turn(0, now, players[0].zone)]
        self.vote = self.voter = None
        self.is_over = False
        self.forget_reminders()

    @property
    def present(self):
        return self.turns[-1]

    @property
    def mover(self):
        return self.players[self.present.seat]

    @property
    def awaited(self):
        """Who would lose, or accept by silence."""
        if self.vote == "draw" and not self.clock:
            return self.opponent(self.voter)
        return self.mover

    def opponent(self, person):
        return self.players[1 - self.players.index(person)]

    def forget_reminders(self):
        self.nagged = None  # when the last reminder was made
        self.waiting = []  # reminders that have not left yet: a person, and an address
        self.noticed = {}  # since when a person has notice

    def is_reminder_waiting(self, person):
        return any(reader is person and number in person.usable for reader, number in self.waiting)


class Timekeeper:
    """Knows by the rules what time does to boards."""

    def __init__(self, now):
        self.now = self.last_cleanup = now
        self.tables = {}
        self.absences = []

    @property
    def today(self):
        return self.now.date()

    @property
    def is_cleanup_late(self):
        """Whether some of the time since the last clean-up is known to count for nobody."""
        return self.now - self.last_cleanup > 36 * HOUR

    # Counting

    def counted(self, table, turn, until=None):
        """How much time of a turn counts, until now or another moment; less than nothing if more was given."""
        end = turn.ended or until or max(self.now, turn.begun)
        pauses = [*self.absences]
        if table.noweekends:
            pauses += weekends(turn.zone)
        if table.clock and not table.novacation:
            days = turn.days_off if turn.ended else table.players[turn.seat].days_off
            midnights = [datetime.combine(day, time(), UTC) for day in days]
            pauses += [(midnight, midnight + DAY) for midnight in midnights]
        return time_without(pauses, turn.begun, end) - turn.given

    def used(self, table):
        """What each player has used of the total time."""
        used = [NONE, NONE]
        for turn in table.turns:
            used[turn.seat] += self.counted(table, turn)
        return used

    def left(self, table):
        """What each player has left on a clock that grows; less than nothing for who should have moved by now."""
        base, increment, most = table.clock
        left = [base, base]
        before_moves = []
        for turn in table.turns:
            rest = left[turn.seat] - self.counted(table, turn)
            if turn is table.present:
                left[turn.seat] = rest
            elif turn.is_move:
                rest = max(NONE, rest)
                before_moves.append((turn.seat, rest))
                left[turn.seat] = min(most, rest + increment)
            else:
                left[turn.seat] = max(NONE, rest)
                seat, rest = before_moves.pop()
                left[seat] = rest
        return left

    # What is due

    def has_notice(self, table, person):
        return person in table.noticed and self.now - table.noticed[person] >= TWO_DAYS

    def limit_reached(self, table):
        """What is reached that holds at any time, and not only in a clean-up; None if nothing is."""
        seat = table.present.seat
        if table.clock:
            return "lose" if self.due_by_clock(table) == "lose" else None
        if table.total and self.used(table)[seat] >= table.total:
            return "lose"
        if table.until and self.now >= table.until:
            return "lose"
        return None

    def can_take_a_day(self, table, person):
        return person.wants_days_taken and not table.novacation and person.days_left(self.today.year) > 0

    def due_by_clock(self, table):
        left, person = self.left(table)[table.present.seat], table.mover
        if left > (table.nag or min(table.clock[0] / 4, WEEK)):
            return None
        can_be_away = not table.novacation
        if left > NONE or (can_be_away and self.today in person.days_off):
            return None if can_be_away and person.is_away(self.today) else "remind"
        return "spare" if self.can_take_a_day(table, person) else "lose"

    def is_spared(self, table, person):
        """Whether a player is on a vacation, or was on one that had begun in time, at most three days ago."""
        if person.is_away(self.today):
            return True
        for first, last in person.vacations:
            begin = max(datetime.combine(first, time(), UTC), table.present.begun)
            if first <= self.today <= last + 3 * DAY and self.counted(table, table.present, begin) < table.forfeit:
                return True
        return False

    def due_by_age(self, table):
        age, person = self.counted(table, table.present), table.awaited
        can_be_away = not table.novacation
        if age < table.nag:
            return None
        is_spared = can_be_away and (self.is_spared(table, person) or self.today in person.taken)
        if age < table.forfeit or is_spared:
            return None if can_be_away and person.is_away(self.today) else "remind"
        if self.can_take_a_day(table, person):
            return "spare"
        return "draw" if table.vote == "draw" else "lose"

    def due(self, table):
        """What a clean-up does on a board, and to which player."""
        if table.clock:
            step, person = self.due_by_clock(table), table.mover
        elif step := self.limit_reached(table):
            person = table.mover
        else:
            step, person = self.due_by_age(table), table.awaited
        if step is None or (step != "remind" and self.has_notice(table, person)):
            return step, person
        if self.is_reminded(table, person):
            return None, person
        return "remind", person

    def is_reminded(self, table, person):
        """Whether a reminder waits, or was made within a day."""
        was_reminded = table.nagged and self.now - table.nagged < DAY
        return was_reminded or table.is_reminder_waiting(person)

    # What the operator does

    def clean_up(self):
        """What a clean-up does, by board."""
        if self.is_cleanup_late:
            self.note_absence(self.last_cleanup + DAY, self.now)
        self.last_cleanup = self.now
        done = {}
        for name, table in self.tables.items():
            if table.is_over:
                continue
            step, person = self.due(table)
            if step == "spare":
                person.taken.add(self.today)
            if step == "remind" or (step == "spare" and not self.is_reminded(table, person)):
                self.remind(table, person)
            if step in {"lose", "draw"}:
                assert self.has_notice(table, person)
                table.is_over = True
            if step:
                done[name] = step
        return done

    def note_absence(self, begun, ended):
        self.absences.append((begun, ended))
        for table in self.tables.values():
            if table.present.begun < ended:
                table.forget_reminders()
            if table.until and table.until > begun:
                table.until += ended - begun

    def add_time(self, added, *tables):
        for table in tables:
            table.present.given += added
            table.forget_reminders()
            if table.until:
                table.until += added

    # Reminders

    def remind(self, table, person):
        table.nagged = max(self.now, table.present.begun)
        table.waiting += [(person, number) for number in person.usable]
        if not person.usable:
            self.give_notice(table, person, self.now)

    def give_notice(self, table, person, since):
        table.noticed[person] = min(since, table.noticed.get(person, since))

    def send(self):
        """All mails are tried, and the relay takes them."""
        for table in self.tables.values():
            tried = [(person, number) for person, number in table.waiting if number in person.usable]
            table.waiting = []
            for person, number in tried:
                box = person.boxes[number]
                self.give_notice(table, person, self.now if box == "takes" else self.now + WEEK)
                if box == "is full":
                    table.waiting.append((person, number))

    # What players do

    def end_turn(self, table, seat, *, is_move=True):
        turn = table.present
        turn.ended = max(self.now, turn.begun)
        turn.days_off, turn.is_move = {*table.mover.days_off}, is_move
        table.turns.append(Turn(seat, turn.ended, table.players[seat].zone))
        table.forget_reminders()
        table.vote = table.voter = None

    def loses_at_once(self, table):
        """Whether the player to move loses because of a command, which is not carried out then."""
        if not self.limit_reached(table) or not self.has_notice(table, table.mover) or self.is_cleanup_late:
            return False
        table.is_over = True
        return True

    def move(self, table):
        if not self.loses_at_once(table):
            self.end_turn(table, 1 - table.present.seat)

    def give(self, table, days):
        if not self.loses_at_once(table):
            table.present.given += days * DAY
            table.forget_reminders()

    def propose(self, table, person, vote):
        table.vote, table.voter = vote, person
        table.noticed.pop(table.opponent(table.mover), None)

    def reject(self, table):
        asked = table.opponent(table.voter)
        table.waiting = [(person, number) for person, number in table.waiting if person is not asked]
        table.vote = table.voter = None

    def accept(self, table):
        if table.vote == "draw":
            table.is_over = True
        else:
            self.end_turn(table, 1 - table.present.seat, is_move=False)

    def call_vacation_off(self, person):
        begun = [(first, last) for first, last in person.vacations if first <= self.today]
        person.vacations = [
            (first, last if last < self.today else max(first, self.today - DAY)) for first, last in begun
        ]


# Pauses


@cache
def weekends(zone):
    """All weekends of three years, from midnight to midnight in a time zone."""
    saturday = datetime(2027, 1, 2, tzinfo=ZoneInfo(zone))
    found = []
    while saturday.year < 2030:
        found.append((saturday.astimezone(UTC), (saturday + 2 * DAY).astimezone(UTC)))  # by the clock on the wall
        saturday += WEEK
    return found


def time_without(pauses, begin, end):
    """The time between two moments that lies in no pause."""
    near = [(first, last) for first, last in pauses if first < end and last > begin]
    moments = sorted({begin, end, *(moment for pause in near for moment in pause if begin < moment < end)})
    whole = NONE
    for sooner, later in pairwise(moments):
        if not any(first <= sooner and later <= last for first, last in near):
            whole += later - sooner
    return whole
