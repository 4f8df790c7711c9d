"""Whatever happens, nobody loses by time but as the command language says (`helpers.reference.timekeeper`).

A history is forty days of ten boards, four players, and all that time and mail can do to them. After each clean-up the
clocks, the reminders and the ends of all boards are those of a timekeeper, who counts by hand.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from smtplib import SMTPRecipientsRefused, SMTPServerDisconnected

import pytest

from pbm.actions import absences, cleanup
from pbm.board import clocks
from pbm.mail import sending
from pbm.mail.transports import smtp_problem
from pbm.refusals import Refused
from pbm.session import Session

from helpers.members import Members
from helpers.reference.timekeeper import DAY, HOUR, Person, Table, Timekeeper

BOARDS = 10
DAYS = 40
BEGINS = [
    datetime(2027, 3, 5, 8, tzinfo=UTC),  # clocks are changed in New York, in Berlin, and on Lord Howe Island
    datetime(2027, 9, 25, 15, tzinfo=UTC),  # and again
    datetime(2027, 12, 10, 23, tzinfo=UTC),  # a new year, with new days of vacation
    datetime(2028, 2, 10, 4, tzinfo=UTC),  # with February 29
]
ZONES = {"alice": "UTC", "bob": "Europe/Berlin", "carol": "America/New_York", "dora": "Australia/Lord_Howe"}
CELLS = [f"{column}{row}" for column in "aceg" for row in (1, 3, 5, 7)]
CLOCKS = [
    ("", {"nag": 7 * DAY, "forfeit": 21 * DAY}),
    ("--nagtime=1 --forfeittime=2", {"nag": DAY, "forfeit": 2 * DAY}),
    ("--nagtime=3 --forfeittime=6", {"nag": 3 * DAY, "forfeit": 6 * DAY}),
    ("--nagtime=5 --forfeittime=6", {"nag": 5 * DAY, "forfeit": 6 * DAY}),
    ("--nagtime=2 --forfeittime=12 --totaltime=6", {"nag": 2 * DAY, "forfeit": 12 * DAY, "total": 6 * DAY}),
    ("--nagtime=6 --forfeittime=9 --totaltime=3", {"nag": 6 * DAY, "forfeit": 9 * DAY, "total": 3 * DAY}),
    ("--clock=5+1", {"clock": (5 * DAY, DAY, 5 * DAY)}),
    ("--clock=60h+12h/96h", {"clock": (60 * HOUR, 12 * HOUR, 96 * HOUR)}),
    ("--clock=6+2/9 --nagtime=4", {"nag": 4 * DAY, "clock": (6 * DAY, 2 * DAY, 9 * DAY)}),
]
REFUSALS = {"refuses": (550, b"5.1.1 unknown"), "is full": (452, b"4.2.2 mailbox full")}


class History:
    """Ten boards, and a timekeeper who is told what happens on them."""

    def __init__(self, members, seed):
        self.rng = Random(seed)
        self.club = members
        members.time = self.rng.choice(BEGINS)
        cleanup.clean_up(Session(members.server))
        self.keeper = Timekeeper(members.time)
        self.people = {name: Person(name, zone) for name, zone in ZONES.items()}
        if self.rng.random() < 0.5:
            members.store.users.add_address("dora", "second@players.example", members.time)
            self.people["dora"].boxes.append("takes")
        self.played = {}
        self.seen = Counter()
        for _ in range(BOARDS):
            self.begin()

    # What is told to both

    def begin(self):
        """Set up a board with any clock, and let its first two moves be played."""
        names = self.rng.sample([*ZONES], 2)
        options, limits = self.rng.choice(CLOCKS)
        flags = {flag: self.rng.random() < 0.3 for flag in ("novacation", "noweekends")}
        options += "".join(f" --{flag}" for flag, is_set in flags.items() if is_set)
        self.club.say(f"symple challenge -size=7 {options} {' '.join(names)}")
        number = str(101 + len(self.keeper.tables))
        until = None
        if "--clock" not in options and self.rng.random() < 0.2:
            until = self.club.time + self.rng.randrange(3, 15) * DAY
            with self.club.store.writing():
                self.club.store.boards.save(self.club.at(number).row._replace(until=until))
        people = [self.people[name] for name in names]
        table = Table(people, self.club.time, **limits, **flags, until=until)
        self.keeper.tables[number] = table
        self.played[number] = []
        self.move(number, table)
        self.move(number, table)

    def given(self, person, line):
        """Give a command, and return whether it was carried out."""
        try:
            self.club.say(line.replace("ME", f"{person.name} {person.name}-secret"))
        except Refused as refused:
            why = str(refused)
        else:
            return True
        assert "used up their time" in why or "The round was over" in why
        return False

    def is_refused_alike(self, number, table, is_done):
        assert is_done != table.is_over
        assert (self.club.at(number).row.ended is not None) == table.is_over
        self.seen["lost by a command"] += table.is_over

    def move(self, number, table):
        cell = CELLS[len(self.played[number])]
        is_done = self.given(table.mover, f"symple move {number} ME {cell}")
        self.keeper.move(table)
        self.is_refused_alike(number, table, is_done)
        self.played[number].append(cell)

    def give(self, number, table):
        days = self.rng.randrange(1, 4)
        if self.club.at(number).row.more_days + days <= 30:
            is_done = self.given(table.opponent(table.mover), f"symple give {number} ME {days}")
            self.keeper.give(table, days)
            self.is_refused_alike(number, table, is_done)

    def vote(self, number, table):
        """Propose something, or answer what is proposed; what an absence touches is not undone."""
        if table.vote is None:
            person = self.rng.choice(table.players)
            word = self.rng.choice(["propose", "propose", "undo"])
            if word == "undo" and (len(self.played[number]) < 2 or self.is_near_absence(table)):
                return
            assert self.given(person, f"symple move {number} ME {word}")
            self.keeper.propose(table, person, "draw" if word == "propose" else "undo")
            return
        if table.vote == "draw" and self.rng.random() < 0.5:
            return  # silence, which may count as accepting
        asked = table.opponent(table.voter)
        can_accept = table.vote == "undo" and not self.is_near_absence(table) and len(self.played[number]) > 1
        if can_accept or (table.vote == "draw" and self.rng.random() < 0.1):
            if table.vote == "undo":
                self.played[number].pop()
            assert self.given(asked, f"symple move {number} ME accept")
            self.keeper.accept(table)
        else:
            assert self.given(asked, f"symple move {number} ME reject")
            self.keeper.reject(table)

    def is_near_absence(self, table):
        """Whether the last turns of a board may lie in an absence."""
        since = min(turn.begun for turn in table.turns[-2:])
        is_late = self.keeper.now - self.keeper.last_cleanup > DAY
        return is_late or any(ended >= since for _, ended in self.keeper.absences)

    def go_away(self, person):
        """Plan a vacation, or let days be taken, or come back."""
        today = self.keeper.today
        planned = [(first, last) for first, last in person.vacations if last >= today]
        word = self.rng.choice(["auto", "noauto", "off", "plan", "plan"])
        if word in {"auto", "noauto"}:
            person.wants_days_taken = word == "auto"
            assert self.given(person, f"vacation ME {word}")
        elif word == "off" and planned:
            assert self.given(person, "vacation ME off")
            self.keeper.call_vacation_off(person)
        elif word == "plan" and not any(last >= today - DAY for _, last in person.vacations):
            first = today + self.rng.randrange(1, 5) * DAY
            last = first + self.rng.randrange(6) * DAY
            days = [first + number * DAY for number in range((last - first).days + 1)]
            if all(person.days_left(year) >= len(days) for year in {first.year, last.year}):
                assert self.given(person, f"vacation ME {first} {last}")
                person.vacations.append((first, last))

    def add_time(self):
        """Add time by hand, on a board or on all."""
        going_on = self.going_on()
        number, table = self.rng.choice(going_on)
        hours = self.rng.randrange(1, 100)
        is_for_all = self.rng.random() < 0.3
        place = () if is_for_all else ("symple", number)
        with self.club.store.writing():
            self.club.store.absences.add(self.club.time, self.club.time, hours * 3600, *place)
        absences.give_time(self.club.store)
        self.keeper.add_time(hours * HOUR, *([table for _, table in going_on] if is_for_all else [table]))

    def change_boxes(self, person):
        """Something becomes of an address of a player, or of all mails to it."""
        number = self.rng.randrange(len(person.boxes))
        if person.boxes[number] == "suspended":
            return
        person.boxes[number] = self.rng.choice(["takes", "takes", "refuses", "is full", "suspended"])
        if person.boxes[number] == "suspended":
            address = self.club.store.users.addresses(person.name)[number]
            with self.club.store.writing():
                self.club.store.users.suspend_address(address.number, self.club.time)

    def send(self, *, is_relay_up):
        """Try to send all mails that are not given up."""
        store = self.club.store
        store.db.execute("UPDATE outbox SET due = ? WHERE due IS NOT NULL", [self.club.time.isoformat(" ")])
        store.db.execute("DELETE FROM outbox WHERE reminds IS NULL")
        store.db.commit()
        with store.writing():
            mails = store.outbox.claim(datetime.max.replace(tzinfo=UTC), 1000)
            sending.note(self.club.server, [(mail, self.problem_of(mail, is_relay_up)) for mail in mails])
        if is_relay_up:
            self.keeper.send()

    def problem_of(self, mail, is_relay_up):
        if not is_relay_up:
            return smtp_problem(SMTPServerDisconnected("try again later"), mail.address)
        addresses = [address.address for address in self.club.store.users.addresses(mail.userid)]
        box = self.people[mail.userid].boxes[addresses.index(mail.address)]
        if box == "takes":
            return None
        return smtp_problem(SMTPRecipientsRefused({mail.address: REFUSALS[box]}), mail.address)

    def clean_up(self):
        """Run a clean-up, and compare what it does, and all boards behind it."""
        done = cleanup.clean_up(Session(self.club.server))
        assert not done.problems
        steps = self.keeper.clean_up()
        self.seen += Counter(steps.values())
        wanted = Counter(steps.values())
        assert (done.forfeited, done.drawn) == (wanted["lose"], wanted["draw"]), steps
        self.compare()

    # What is compared

    def going_on(self):
        return [(number, table) for number, table in self.keeper.tables.items() if not table.is_over]

    def compare(self):
        for number, table in self.keeper.tables.items():
            row = self.club.store.boards.get("symple", number)
            assert (row.ended is not None) == table.is_over, number
            if not table.is_over:
                self.compare_board(row, table)

    def compare_board(self, row, table):
        now = self.club.time
        seat = table.present.seat
        notices = [table.noticed.get(person) for person in (table.mover, table.opponent(table.mover))]
        assert row.turn == table.mover.name
        assert [row.notified_at, row.vote_notified_at] == notices, row
        assert (row.nagged, row.until) == (table.nagged, table.until), row
        if table.clock:
            left = [row.first_left, row.second_left]
            left[seat] = clocks.left_on_clock(row, seat, now, clocks.days_off(self.club.store, row))
            assert left == pytest.approx([time.total_seconds() for time in self.keeper.left(table)], abs=0.01), row
            return
        age = self.keeper.counted(table, table.present)
        assert clocks.age(row, now) == pytest.approx(age, abs=timedelta(seconds=0.01)), row
        if table.total:
            used = [row.first_used, row.second_used]
            used[seat] = clocks.used(row, seat, now)
            assert used == pytest.approx([time.total_seconds() for time in self.keeper.used(table)], abs=0.01), row

    # What happens

    def wait(self, time):
        self.club.time += time
        self.keeper.now = self.club.time

    def live(self):
        """Let the days pass."""
        end = self.club.time + DAYS * DAY
        is_relay_up = True
        while self.club.time < end:
            for _ in range(self.rng.choice([0, 1, 1, 2])):
                self.wait(timedelta(seconds=self.rng.randrange(6 * 3600)))
                self.act()
                if self.rng.random() < 0.7:
                    self.send(is_relay_up=is_relay_up)
            if self.rng.random() < 0.1:
                is_relay_up = not is_relay_up
            self.change_clock()
            night = self.rng.choice([1, 1, 1, 1, 1, 1, 1, 2, 3, 7])  # an outage, or nobody cares for the server
            self.wait(night * DAY - self.rng.randrange(8 * 3600) * timedelta(seconds=1))
            if self.rng.random() < 0.3 and self.going_on():
                self.act()  # before the clean-up
            self.clean_up()
            self.send(is_relay_up=is_relay_up)
            while len(self.going_on()) < BOARDS:
                self.begin()

    def change_clock(self):
        """Let the clock of the machine be wrong from now on by seconds or hours, or not any more."""
        step = self.rng.choice([0, 0, 0, 0, self.rng.uniform(-9, 9), 3600 * self.rng.uniform(-3, 3)])
        last_absence = max((ended for _, ended in self.keeper.absences), default=self.keeper.now)
        if self.keeper.now + timedelta(seconds=step) > last_absence:
            self.wait(timedelta(seconds=round(step)))

    def act(self):
        """Somebody does something."""
        number, table = self.rng.choice(self.going_on())
        what = self.rng.random()
        if what < 0.5:
            if len(self.played[number]) < len(CELLS):
                self.move(number, table)
        elif what < 0.65:
            self.vote(number, table)
        elif what < 0.72:
            self.give(number, table)
        elif what < 0.85:
            self.go_away(self.rng.choice([*self.people.values()]))
        elif what < 0.88:
            self.add_time()
        elif what < 0.95:
            self.change_boxes(self.rng.choice([*self.people.values()]))


@pytest.fixture(scope="module")
def zoned(founded, tmp_path_factory):
    """A database in which each of the four lives in a time zone of their own; and the passwords."""
    path, passwords = founded
    members = Members(path, tmp_path_factory.mktemp("zoned") / "pbm.db", passwords, "shell")
    for name, zone in ZONES.items():
        members.signs(name, f"timezone ME {zone}")
    members.store.close()
    return members.store.path, passwords


def live_histories(zoned, folder, seeds):
    """Let histories happen. Returns how many boards there were, and how often what happened on them."""
    path, passwords = zoned
    boards, seen = 0, Counter()
    for seed in seeds:
        members = Members(path, folder / f"{seed}.db", passwords, "shell")
        history = History(members, seed)
        history.live()
        members.store.close()
        boards += len(history.keeper.tables)
        seen += history.seen
    return boards, seen


def test_whatever_happens_nobody_loses_by_time_but_by_the_rules(zoned, tmp_path):
    boards, seen = live_histories(zoned, tmp_path, range(4))
    assert boards > 60
    assert seen.keys() >= {"remind", "lose", "spare"}


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_on_2000_boards_nobody_loses_by_time_but_by_the_rules(zoned, tmp_path, part):
    boards, seen = live_histories(zoned, tmp_path, range(100 * part + 100, 100 * part + 121))
    assert boards > 334
    assert seen.keys() == {"remind", "lose", "spare", "draw", "lost by a command"}
