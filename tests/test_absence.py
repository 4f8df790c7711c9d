"""While the server was away no time counts, for anybody (docs/command-language.md, section 6)."""

import signal
from datetime import UTC, datetime, timedelta

import pytest

from pbm.actions import absences, challenges, cleanup, users
from pbm.actions.cleanup import Done
from pbm.actions.status import needed, status_at
from pbm.board import clocks
from pbm.operator.doctor import examine
from pbm.session import Session
from pbm.store import Store, copies

HOUR = 3600
DAY = 24 * HOUR


@pytest.fixture
def up(game):
    """The four, with Symple board 101, on which alice is to move, after a clean-up."""
    game.clean()
    return game


def clean(club):
    """Do what `pbm cleanup` does."""
    return cleanup.clean_up(Session(club.server))


def given(club, board="101"):
    """The days that do not count for the present move of a board."""
    return club.at(board).row.given_seconds / DAY


def test_the_machine_is_off_for_25_days_and_nobody_loses(up):
    up.wait(days=25)
    assert clean(up) == Done()
    assert given(up) == 24
    up.pass_time(days=6)
    assert clean(up) == Done(reminded=1)  # a day before the absence, and six behind it
    up.pass_time(days=14)
    assert clean(up) == Done(forfeited=1)


@pytest.mark.parametrize(("hours", "days"), [(24, 0), (36, 0), (37, 13 / 24), (48, 1)])
def test_what_goes_beyond_a_day_counts_for_nobody_if_a_clean_up_is_more_than_36_hours_late(up, hours, days):
    up.wait(hours=hours)
    clean(up)
    assert given(up) == pytest.approx(days)


def test_a_player_with_notice_is_reminded_once_more_after_an_absence(up):
    up.pass_time(days=20, hours=12)
    up.clean()
    up.wait(days=30)
    assert clean(up) == Done(reminded=1)
    assert up.at().row.ended is None


def test_only_the_part_since_the_last_move_counts_for_the_present_one(up):
    up.wait(days=10)
    up.signs("alice", "symple move 101 ME d4")
    up.wait(days=5)
    clean(up)
    assert given(up) == 5


def test_a_total_time_gets_back_what_was_used_in_an_absence(four):
    four.begin("symple challenge -size=5 --totaltime=30 alice bob")
    four.plays("c3", "b1")
    four.clean()
    four.wait(days=10)
    four.signs("alice", "symple move 101 ME d4")  # who has used a day, and nine that do not count
    four.wait(days=5)
    clean(four)
    row = four.at().row
    assert (row.first_used, row.second_used, row.given_seconds) == (DAY, 0, 5 * DAY)


def test_a_clock_that_grows_stands_still_in_an_absence(four):
    four.begin("symple challenge -size=5 --clock=10+2 alice bob")
    four.plays("c3", "b1")
    four.clean()
    four.wait(days=21)
    assert clean(four) == Done()
    assert given(four) == 20


@pytest.mark.parametrize("options", ["--clock=10+2", "--clock=10+2 --noweekends", "--forfeittime=22 --noweekends"])
def test_a_weekend_or_a_vacation_in_an_absence_counts_once(four, options):
    four.begin(f"symple challenge -size=5 {options} alice bob")  # on a Friday at noon
    four.plays("c3", "b1")
    four.clean()
    if options == "--clock=10+2":
        four.signs("alice", "vacation ME 2026-11-21 2026-11-22")
    four.wait(days=11)
    clean(four)
    row = four.at().row
    # the server is away from Saturday noon on, and the hours of Saturday before that are free as well
    assert clocks.age(row, four.time, clocks.days_off(four.store, row)) == timedelta(hours=12)


def test_nobody_loses_by_a_command_before_the_clean_up_that_puts_their_time_back(four):
    four.begin("symple challenge -size=5 --totaltime=5 alice bob")
    four.plays("c3", "b1")
    four.pass_time(days=4)
    four.clean()
    four.wait(days=25)
    four.signs("alice", "symple move 101 ME d4")
    assert four.played()[-1] == "d4"
    clean(four)
    assert four.at().row.first_used == 5 * DAY


def test_a_move_before_the_clean_up_makes_no_time_on_a_clock_that_had_run_out_in_the_absence(four):
    four.begin("symple challenge -size=5 --clock=10+2/14 alice bob")
    four.plays("c3", "b1")  # 12 days each
    four.pass_time(days=8)
    four.clean()
    four.wait(days=25)
    four.signs("alice", "symple move 101 ME d4")
    clean(four)
    assert four.at().row.first_left == (12 - 8 - 1 + 2) * DAY
    for name, word in (("bob", "undo"), ("alice", "accept")):
        four.signs(name, f"symple move 101 ME {word}")
    assert four.at().row.first_left == (12 - 8 - 1) * DAY


def test_days_that_were_given_before_an_absence_are_not_lost_by_it(four):
    four.begin("symple challenge -size=5 --totaltime=30 alice bob")
    four.plays("c3", "b1")
    four.clean()
    four.signs("bob", "symple give 101 ME 9")
    four.wait(days=5)
    four.signs("alice", "symple move 101 ME d4")
    clean(four)
    assert four.at().row.first_used == (1 - 9) * DAY


def test_rounds_end_later(up):
    up.say("symple challenge -size=5 --name=a1 alice bob")
    until = up.time + timedelta(days=9)
    with up.store.writing():
        up.store.boards.save(up.at("a1").row._replace(until=until))
    up.wait(days=5)
    clean(up)
    assert up.at("a1").row.until == until + timedelta(days=4)


def test_time_that_is_added_by_hand_also_helps_where_a_round_is_over(up):
    up.say("symple challenge -size=5 --name=a1 alice bob")
    until = up.time - timedelta(hours=1)
    with up.store.writing():
        up.store.boards.save(up.at("a1").row._replace(until=until))
        up.store.absences.add(up.time, up.time, 2 * DAY)
    absences.give_time(up.store)
    assert up.at("a1").row.until == until + timedelta(days=2)


def test_seeks_and_guests_stay_as_much_longer(up):
    spans = [challenges.SEEKS_FOR, users.GUESTS_KNOWN_FOR]
    up.wait(days=11)
    clean(up)
    up.wait(days=2)
    ends = [up.store.absences.counted_from(up.time, span) for span in spans]
    assert ends == [up.time - span - timedelta(days=10) for span in spans]


def test_what_is_counted_from_lies_within_an_absence_only_as_far_as_needed(up):
    up.wait(days=11)
    clean(up)
    up.wait(days=2)
    assert up.store.absences.counted_from(up.time, timedelta(days=1)) == up.time - timedelta(days=1)


def test_what_is_counted_from_is_found_at_once_where_it_lies_within_an_absence_by_a_moment(up):
    up.wait(days=11)
    clean(up)
    up.wait(days=2)
    queries = []
    up.store.db.set_trace_callback(queries.append)
    begin = up.store.absences.counted_from(up.time, timedelta(days=2, milliseconds=1))
    assert begin == up.time - timedelta(days=12, milliseconds=1)
    assert len(queries) == 1


def test_each_running_board_says_so_in_its_next_mail_only(up):
    away = "The server was away for 5 days, which do not count."
    up.wait(days=6)
    clean(up)
    up.forget_mails()
    up.wait(hours=1)
    assert away in up.signs("alice", "symple move 101 ME d4")[-1].text
    up.wait(hours=1)
    assert all(away not in told.text for told in up.signs("bob", "symple move 101 ME a1"))


def test_an_absence_is_an_event(up):
    up.wait(days=6)
    clean(up)
    [event] = [event for event in up.store.events.since(0, 100) if event.kind == "absence"]
    assert event.detail == {"begun": (up.time - timedelta(days=5)).isoformat(), "seconds": 5 * DAY}


def test_an_absence_is_noted_once(up):
    up.wait(days=6)
    clean(up)
    clean(up)
    assert given(up) == 5


def killed(*_):
    """Stand for a process that is killed at this place."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("boards_done", [0, 1, 2])
def test_a_clean_up_that_is_killed_is_finished_by_the_next_one_before_anybody_loses(up, monkeypatch, boards_done):
    for board in "102", "103":
        up.begin()
        up.plays("c3", "b1", board=board)
    up.wait(days=25)
    real = absences.give_time_to_some
    with monkeypatch.context() as patched:
        deeds = iter([*[lambda store: real(store, 1)] * boards_done, killed])

        def give_time_to_some(store):
            return next(deeds)(store)

        patched.setattr(absences, "give_time_to_some", give_time_to_some)
        with pytest.raises(KeyboardInterrupt):
            clean(up)
    assert sum(given(up, board) > 0 for board in ("101", "102", "103")) == boards_done
    up.wait(hours=1)
    assert clean(up) == Done()
    assert [given(up, board) for board in ("101", "102", "103")] == [24, 24, 24]


def test_no_command_ends_a_game_while_an_absence_is_not_done(four):
    four.begin("symple challenge -size=5 --totaltime=3 alice bob")
    four.plays("c3", "b1")
    four.pass_time(days=5)
    with four.store.writing():
        four.store.absences.add(four.time - timedelta(days=4), four.time, 4 * DAY)
    four.signs("alice", "symple move 101 ME d4")
    assert four.played()[-1] == "d4"


def test_an_absence_whose_time_is_not_given_yet_is_named(up):
    with up.store.writing():
        up.store.absences.add(up.time - timedelta(days=4), up.time, 4 * DAY)
    what = "Not all boards have the time yet in which the server was away. `pbm cleanup` gives it to them."
    assert what in needed(status_at(up.store, up.time), up.time)
    assert "absence" in [finding.where for finding in examine(up.store.path, up.time)]
    absences.give_time(up.store)
    assert what not in needed(status_at(up.store, up.time), up.time)
    assert "absence" not in [finding.where for finding in examine(up.store.path, up.time)]


def test_time_that_is_added_by_hand_is_given_in_full(up):
    up.begin()
    with up.store.writing():
        up.store.absences.add(up.time, up.time, 1.5 * DAY, "symple", "102")
    absences.give_time(up.store)
    assert (given(up), given(up, "102")) == (0, 1.5)
    assert "The server was away for 1 day 12 hours, which do not count." in up.text("symple show 102")


def test_the_operator_adds_time_to_all_boards_to_those_of_a_game_or_to_one(shell, up):
    up.begin("spora challenge alice bob")
    up.begin()
    shell.environment["PBM_DB"] = str(up.store.path)
    assert shell.done("clocks", "add", "2") == "The players of all boards have 2 days more.\n"
    shell.done("clocks", "add", "1", "symple")
    shell.done("clocks", "add", "0.5", "symple", "102")
    rows = [up.store.boards.get(*place) for place in (("spora", "101"), ("symple", "101"), ("symple", "102"))]
    assert [row.given_seconds / DAY for row in rows] == [2, 3, 3.5]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["0"], "0 is no number of days; it is above 0, and at most 3650."),
        (["nan"], "nan is no number of days"),
        (["4000"], "4000 is no number of days"),
        (["1", "chess"], "There is no game 'chess'."),
        (["1", "symple", "999"], "999"),
    ],
)
def test_no_time_is_added_for_a_wrong_command(shell, up, words, why):
    shell.environment["PBM_DB"] = str(up.store.path)
    assert why in shell.refused("clocks", "add", *words)
    assert given(up) == 0


def test_the_time_between_a_copy_and_its_restore_counts_for_nobody(up, tmp_path):
    copy = tmp_path / "copy"
    copies.keep(up.store.path, copy)
    with up.store.reading():
        last = up.store.absences.last_sign_of_life()
    now = last + timedelta(days=3)
    copies.bring_up_to_date(copy, copy, now)
    with Store(copy) as store:
        absences.give_time(store)
        assert store.boards.get("symple", "101").given_seconds == 3 * DAY
        assert store.absences.are_done()
        assert store.events.since(0, 100)[-1].kind == "absence"


def test_a_clean_up_looks_at_a_board_only_when_something_is_due_after_the_absence(up):
    up.wait(days=25)
    clean(up)
    assert up.store.boards.due(up.time + timedelta(days=5, hours=23)) == []
    assert up.store.boards.due(up.time + timedelta(days=6)) == [("symple", "101")]


KILLED_AT_BOARD = """
import os, signal, sys
from pbm import shell
from pbm.actions import absences

give, boards = absences._give, []

def give_or_be_killed(*args):
    boards.append(args)
    if len(boards) == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    give(*args)

absences._give = give_or_be_killed
sys.exit(shell.main({words}))
"""
"""A program that carries out a command, and is killed when so many boards have got their time."""


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 999, 1000, 1001, 2500])
@pytest.mark.parametrize("words", [["cleanup"], ["clocks", "add", "3"]])
def test_whenever_it_is_killed_all_boards_get_the_same_time_in_the_end(shell, up, words, number):
    shell.environment["PBM_DB"] = str(up.store.path)
    row = up.at().row._replace(moves=0, changed=None)
    now = datetime.now(UTC)
    with up.store.writing():
        for board in range(102, 2602):
            up.store.boards.add(row._replace(board=str(board)))
        up.store.boards.reserve_number("symple", 2601)
        days = 26 if words == ["cleanup"] else 0
        up.store.events.note_maintenance("cleanup", now - timedelta(days=days))
    ended = shell.python("-c", KILLED_AT_BOARD.format(words=words, number=number))
    assert ended.returncode == -signal.SIGKILL
    shell.process("cleanup")
    given_times = up.store.db.execute("SELECT DISTINCT round(given_seconds, 3) FROM boards WHERE changed IS NULL")
    [(seconds,)] = given_times.fetchall()
    assert seconds > 0
    assert up.store.absences.are_done()
    assert up.store.boards.totals() == (2501, 2501)
