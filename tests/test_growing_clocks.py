"""Clocks that grow (docs/command-language.md, section 6)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbm.access import tokens
from pbm.actions.finding import find_board
from pbm.board import clocks, growing, records
from pbm.board.board import Board, BoardContext
from pbm.board.clocks import DueStep
from pbm.service.calendars import calendar
from pbm.session import Session
from pbm.site.pages import Pages, SiteSettings
from pbm.store import BoardRow

from helpers.examples import rules
from helpers.losses import lose_by_time, reinstate

DAY = 24 * 3600
START = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "clock", "shortest"),
    [
        ("10+2/14", (10 * DAY, 2 * DAY, 14 * DAY), "10+2/14"),
        ("10+2", (10 * DAY, 2 * DAY, 10 * DAY), "10+2"),
        ("240h+36h", (10 * DAY, 36 * 3600, 10 * DAY), "240h+36h"),
        ("10+36H/480h", (10 * DAY, 36 * 3600, 20 * DAY), "240h+36h/480h"),
        ("240h+24h/10", (10 * DAY, DAY, 10 * DAY), "10+1"),
        ("5+0", (5 * DAY, 0, 5 * DAY), "5+0"),
    ],
)
def test_a_clock_is_typed_in_days_or_hours_and_written_in_one_way(text, clock, shortest):
    assert growing.parse(text) == clock
    assert growing.parse(text).text == shortest


@pytest.mark.parametrize(
    ("options", "why"),
    rules("""
what is no clock
    --clock=10 | --clock=BASE+INC[/MAX] takes days, or hours with an h, such as --clock=10+2/14 or --clock=240h+36h.
    --clock=+2 | --clock=BASE+INC[/MAX] takes days
    --clock=1.5+2 | --clock=BASE+INC[/MAX] takes days
    --clock=10+2+3 | --clock=BASE+INC[/MAX] takes days
    --clock=10-2 | --clock=BASE+INC[/MAX] takes days
what cannot be played
    --clock=0+2 | BASE has to be an hour at least.
    --clock=10+2/8 | MAX is the most that a player can have, so it cannot be below BASE.
    --clock=4000+2 | 3650 days are the most.
    --clock=10+4000/20 | 3650 days are the most.
it takes the place of forfeit and total time
    --clock=10+2 --forfeittime=9 | --clock takes the place of --forfeittime and --totaltime; write one or the other.
    --clock=10+2 --totaltime=9 | --clock takes the place of --forfeittime and --totaltime; write one or the other.
nobody is reminded from the first minute on
    --clock=10+2 --nagtime=10 | With --clock, --nagtime is the time left at which a player is reminded
    """),
)
def test_a_clock_that_makes_no_sense_is_refused(four, options, why):
    assert why in four.why_refused(f"symple challenge {options} alice bob")


def left(club, board="101"):
    """The days that the players of a board of Symple have left now."""
    found = find_board(Session(club.server), "symple", board)
    return [seconds / DAY for seconds in found.left(club.time)]


def begin(club, options="--clock=10+2/14", players="alice bob"):
    club.say(f"symple challenge -size=5 {options} {players}")


def play(club, name, move, board="101"):
    club.say(f"symple move {board} {name} {name}-secret {move}")


def test_each_player_has_base_and_gets_inc_for_each_move_up_to_max(four):
    begin(four)
    assert left(four) == [10, 10]
    four.pass_time(days=3)
    assert left(four) == [7, 10]
    play(four, "alice", "c3")
    assert left(four) == [9, 10]
    play(four, "bob", "a1")
    assert left(four) == [9, 12]
    for move, answer in (("b1", "e5"), ("b4", "e3"), ("d2", "e1")):
        play(four, "alice", move)
        play(four, "bob", answer)
    assert left(four) == [14, 14]


def test_without_a_max_base_is_the_most(four):
    begin(four, "--clock=10+2")
    four.pass_time(hours=36)
    play(four, "alice", "c3")
    assert left(four) == [10, 10]


def test_a_planned_answer_takes_no_time_and_gets_its_increment(four):
    begin(four, "--clock=5+1/9")
    four.say("symple plan 101 bob bob-secret if c3 then a1")
    four.pass_time(days=2)
    play(four, "alice", "c3")
    assert left(four) == [4, 6]


def test_an_undo_brings_back_the_time_before_the_move_and_makes_none(four):
    begin(four, "--clock=10+2/14")
    play(four, "alice", "c3")
    four.pass_time(days=1)
    play(four, "bob", "a1")  # 9 + 2
    four.pass_time(days=3)  # alice thinks
    four.say("symple move 101 bob bob-secret undo")
    four.say("symple move 101 alice alice-secret accept")
    assert left(four) == [9, 9]
    four.say("symple move 101 alice alice-secret undo")
    four.pass_time(days=1)  # bob thinks
    four.say("symple move 101 bob bob-secret accept")
    assert left(four) == [7, 8]


def test_days_that_are_given_are_added_and_lost_above_the_most(four):
    begin(four, "--clock=10+2")
    four.say("symple give 101 bob bob-secret 5")
    assert left(four) == [15, 10]
    four.pass_time(days=4)
    assert left(four) == [11, 10]
    play(four, "alice", "c3")
    assert left(four) == [10, 10]


def test_the_clock_stands_still_on_vacation_but_for_boards_without(four):
    for options in ("--clock=10+2", "--clock=10+2 --novacation"):
        begin(four, options)
    four.say("vacation alice alice-secret 2026-11-23 2026-11-25")
    four.pass_time(days=6)  # from noon of the 20th to noon of the 26th
    assert left(four) == [7, 10]
    assert left(four, "102") == [4, 10]
    play(four, "alice", "c3")
    assert left(four) == [9, 10]


def test_the_vacation_of_the_other_player_stops_no_clock(four):
    begin(four, "--clock=10+2")
    four.say("vacation bob bob-secret 2026-11-30")
    four.pass_time(days=4)
    assert left(four) == [6, 10]


def test_the_clock_stands_still_at_weekends_and_a_vacation_on_one_counts_once(four):
    begin(four, "--clock=10+2 --noweekends")  # from noon of a Friday
    four.say("vacation alice alice-secret 2026-11-22 2026-11-23")
    four.pass_time(days=7)
    assert left(four) == [6, 10]  # not Saturday, Sunday and Monday


def test_no_time_counts_while_a_robot_is_to_move(four):
    begin(four, "--clock=10+2", "robot1 alice")
    four.pass_time(days=30)
    assert left(four) == [10, 10]


def test_moves_of_the_board_from_which_another_begins_get_nothing(four):
    begin(four, "--clock=10+2/14")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    four.say("symple challenge --clock=5+1/9 --from=101#2 carol dora")
    assert left(four, "102") == [5, 5]


def test_a_rematch_has_the_same_clock(four):
    begin(four, "--clock=10+2/14 --nagtime=3")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    play(four, "alice", "resign")
    four.say("symple rematch 101 alice alice-secret")
    row = four.store.boards.get("symple", "102")
    assert clocks.all_options(row) == "-size=5 --nagtime=3 --clock=10+2/14"


# The clean-up


def steps(club, *days):
    """What is due on board 101 after so many days each, without what the clean-up does about it."""
    found = find_board(Session(club.server), "symple", "101")
    return [
        clocks.due(club.store, found.row, found.seat, club.time + timedelta(days=number))[0].value for number in days
    ]


@pytest.mark.parametrize(
    ("options", "days"),
    [("--clock=10+2", 7.5), ("--clock=10+2 --nagtime=3", 7), ("--clock=40+2", 33), ("--clock=24h+1h", 0.75)],
)
def test_a_player_is_reminded_when_a_quarter_of_base_is_left_or_the_days_of_nagtime(four, options, days):
    begin(four, options)
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    assert steps(four, days - 0.01, days) == ["nothing", "remind"]


def test_who_has_nothing_left_forfeits(four):
    begin(four, "--clock=10+2")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    four.pass_time(days=8)
    assert four.clean().reminded == 1
    [mail] = four.mails("alice")
    assert "A player whose clock runs out forfeits (10 days, 2 more for each move, 10 at most)." in " ".join(
        mail.text.split()
    )
    assert "From 2026-11-30 12:00 UTC on, you forfeit." in " ".join(mail.text.split())
    four.pass_time(days=2)
    assert four.clean().forfeited == 1
    row = four.store.boards.get("symple", "101")
    assert (row.winner, row.reason) == ("bob", "total time")
    assert "The clock of alice has run out" in row.comment


def test_a_move_after_the_clock_has_run_out_loses(four):
    begin(four, "--clock=10+2")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    four.pass_time(days=8)
    four.clean()
    four.pass_time(days=3)
    assert "alice had used up their time" in four.why_refused("symple move 101 alice alice-secret b1")


def test_nobody_loses_by_such_a_clock_without_notice_and_a_move_after_it_gets_its_increment(four):
    begin(four, "--clock=10+2")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    four.wait(days=30)
    with four.store.writing():  # else the server was away
        four.store.events.note_maintenance("cleanup", four.time - timedelta(days=1))
    assert (four.clean().reminded, left(four)) == (1, [0, 10])
    four.wait(hours=47)
    play(four, "alice", "b1")
    assert left(four) == [2, 10]


def test_the_clean_up_looks_at_a_board_when_its_clock_says_so(four):
    begin(four, "--clock=10+2 --nagtime=2")
    due = [four.store.boards.due(four.time + timedelta(days=days)) for days in (7.9, 8)]
    assert due == [[], [("symple", "101")]]


@pytest.mark.parametrize(
    "options", ["--clock=6+1", "--clock=6+1 --noweekends", "--clock=150h+1h --nagtime=2", "--clock=6+1 --novacation"]
)
def test_the_clean_up_misses_no_board_on_which_something_is_due(four, options):
    begin(four, options)
    four.say("vacation alice alice-secret 2026-11-22 2026-11-23")
    four.say("symple give 101 bob bob-secret 1")
    seen = []
    for _ in range(4 * 20):
        row = four.store.boards.get("symple", "101")
        if row is None:
            break
        found = find_board(Session(four.server), "symple", "101")
        step, _ = clocks.due(four.store, row, found.seat, four.time)
        if step is not DueStep.NOTHING:
            seen.append(step)
            assert four.store.boards.due(four.time) == [("symple", "101")]
            four.clean()
        four.pass_time(hours=6)
    assert seen[0] is DueStep.REMIND
    assert seen[-1] is DueStep.OUT_OF_TIME


def test_a_day_of_vacation_is_taken_when_the_clock_has_run_out(four):
    four.say("vacation alice alice-secret auto")
    begin(four, "--clock=10+2")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    four.pass_time(days=10)
    assert steps(four, 0) == ["spare"]


def test_silence_accepts_no_draw_because_the_clock_of_the_player_to_move_runs(four):
    begin(four, "--clock=10+2")
    play(four, "alice", "c3")
    play(four, "bob", "a1")
    four.say("symple move 101 alice alice-secret propose")
    found = find_board(Session(four.server), "symple", "101")
    assert clocks.due(four.store, found.row, found.seat, four.time + timedelta(days=7.5))[1] == "alice"


def test_a_game_that_is_reinstated_goes_on_with_the_time_that_was_left_when_the_move_began(four):
    begin(four, "--clock=10+2")
    play(four, "alice", "c3")
    four.pass_time(days=1)
    play(four, "bob", "a1")
    four.pass_time(days=4)
    play(four, "alice", "b1")
    four.pass_time(days=10)
    lose_by_time(four, "101", reason="total time")
    reinstate(four, "101")
    assert left(four) == [8, 10]


# What is told


def test_mails_lists_and_programs_are_told_what_is_left_and_when_it_runs_out(four):
    begin(four, "--clock=10+2/14")
    four.pass_time(days=1, hours=6)
    text = four.text("symple show 101")
    rows = [
        "Clock           10 days, 2 more for each move, 14 at most",
        "Left for alice  8 days 18:00",
        "Left for bob    10 days 00:00",
        "Runs out        2026-11-30 12:00 UTC",
    ]
    assert "\n".join(rows) in text
    assert "8d18h 10d00h" in four.text("symple games 101")
    [letter] = four.say("symple show 101")
    assert letter.data["clock"] == {
        "base": 10 * DAY,
        "increment": 2 * DAY,
        "most": 14 * DAY,
        "left": [8.75 * DAY, 10 * DAY],
        "runs_out": "2026-11-30T12:00:00+00:00",
    }
    [waiting] = four.say("all games alice")[0].data["boards"]
    assert (waiting["days_left"], waiting["waits_for"]) == (8, "alice")


def test_the_end_of_the_clock_is_moved_by_vacations_and_weekends(four):
    begin(four, "--clock=10+2 --noweekends")
    four.say("vacation alice alice-secret 2026-11-23 2026-11-24")
    row = four.store.boards.get("symple", "101")
    # half of Friday, November 20; three days from the 25th to the 27th; five from the 30th on; then the rest
    assert clocks.runs_out_at(four.store, row) == datetime(2026, 12, 8, 12, tzinfo=UTC)


def test_a_day_of_vacation_is_one_of_utc_also_where_weekends_are_those_of_another_zone(four):
    four.say("timezone alice alice-secret Pacific/Auckland")
    four.pass_time(days=6, hours=10)  # to Thursday at 22:00 in UTC
    begin(four, "--clock=25h+1h --noweekends")
    four.say("vacation alice alice-secret 2026-11-30 2026-11-30")
    row = four.store.boards.get("symple", "101")
    # 13 hours to their Saturday; 12 from their Monday on, which is 13 hours earlier than the day of vacation
    assert clocks.runs_out_at(four.store, row) == datetime(2026, 11, 29, 23, tzinfo=UTC)


def test_a_record_has_the_clock_and_older_readers_can_leave_it_out(four):
    begin(four, "--clock=10+2/14")
    play(four, "alice", "c3")
    four.pass_time(days=1)
    play(four, "bob", "a1")
    row = four.store.boards.get("symple", "101")
    document = records.write(records.Record(row, four.store.boards.turns("symple", "101")), [])
    assert document["clocks"]["clock"] == "10+2/14"
    assert document["clocks"]["left_seconds"] == [12 * DAY, 11 * DAY]
    again = records.read(json.loads(json.dumps(document)), {}, four.time)
    assert clocks.clock_of(again.row) == clocks.clock_of(row)
    assert (again.row.first_left, again.row.second_left) == (12 * DAY, 11 * DAY)
    assert [turn.gained for turn in again.turns] == [2 * DAY, 2 * DAY]


def test_a_calendar_has_the_time_at_which_the_clock_runs_out(four):
    begin(four, "--clock=10+2")
    number = four.store.users.addresses("alice")[0].number
    with four.store.writing():
        token = tokens.calendar_token(four.server, "alice", number)
    assert "DTSTART:20261130T120000Z" in calendar(four.server, token).decode()


def test_no_address_but_that_of_a_calendar_opens_one(four):
    begin(four)
    with four.store.writing():
        reply = tokens.reply_address(four.server, "symple", "101", "alice")
    token = reply.partition("+")[2].partition("@")[0]
    assert tokens.meaning(four.server, reply).reply.userid == "alice"
    assert calendar(four.server, token) is None


def test_the_page_of_a_board_says_what_was_left_at_the_last_move(four):
    begin(four, "--clock=10+2")
    page = Pages(Session(four.server), SiteSettings()).board("symple", "101")
    assert page.count("10d00h left of 10 days, 2 more for each move, 10 at most") == 2
    assert "2026-11-30" in page  # when that of alice runs out


def test_a_running_game_is_imported_with_what_its_clocks_had_left(shell):
    shell.sign_up("alice", "bob")
    shell.done("symple", "challenge", "-size=5", "--clock=10+2/14", "alice", "bob")
    for name, move in (("alice", "c3"), ("bob", "a1"), ("alice", "b1")):
        shell.done("symple", "move", "101", name, f"{name}-secret", move)
    record = shell.folder / "record.json"
    record.write_text(shell.done("export", "symple", "101"))
    shell.done("import", str(record))
    assert "bob's turn  -size=5 --clock=10+2/14  13d23h 11d23h" in shell.done("symple", "games", "102")


@pytest.mark.parametrize("text", ["10", "10+2/5"])
def test_a_record_with_a_wrong_clock_is_refused(four, text):
    begin(four, "--clock=10+2")
    row = four.store.boards.get("symple", "101")
    document = records.write(records.Record(row, []), [])
    document["clocks"]["clock"] = text
    with pytest.raises(records.Unsound, match="record, clocks, clock"):
        records.read(document, {}, four.time)


# Against plain arithmetic

HOURS = st.integers(0, 400)
STEP = st.tuples(st.sampled_from(["move", "move", "move", "undo", "give"]), HOURS)


@given(
    base=st.integers(1, 300),
    increment=st.integers(0, 60),
    above=st.integers(0, 100),
    steps=st.lists(STEP, max_size=30),
    off=st.sets(st.integers(0, 60), max_size=12),
)
def test_clocks_are_those_of_plain_arithmetic(base, increment, above, steps, off):
    clock = growing.parse(f"{base}h+{increment}h/{base + above}h")
    row = BoardRow("symple", "101", "-size=5", "alice", "bob", b"", START, turn="alice", **clock.columns)
    days_off = frozenset((START + timedelta(days=number)).date() for number in off)
    board = Board(row, [], {}, BoardContext(days_off=days_off))
    now = START
    hours = [base, base]
    mover = 0
    played = []  # the hours that each move has gained
    for what, passed in steps:
        thought = 0
        for _ in range(passed):
            thought += now.date() not in days_off
            now += timedelta(hours=1)
        if what == "give":
            board.stop_clock(now)
            board.change(given_seconds=86400.0)
            hours[mover] = max(0, hours[mover] - thought) + 24
            continue
        hours[mover] = max(0, hours[mover] - thought)
        if what == "move":
            board.play(board.mover, next(board.state.moves()), now)
            before = hours[mover]
            hours[mover] = min(base + above, before + increment)
            played.append(hours[mover] - before)
            mover = 1 - mover
        elif played:
            board.stop_clock(now)
            board.take_back(len(board.turns) - 1)
            mover = 1 - mover
            hours[mover] = max(0, hours[mover] - played.pop())
        else:
            board.stop_clock(now)
        if board.is_over:
            return
        assert [round(seconds / 3600, 6) for seconds in board.left(now)] == hours
