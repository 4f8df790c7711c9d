"""Clocks, the clean-up and vacations (docs/command-language.md, section 6)."""

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from pbm.actions.cleanup import Done

from helpers.club import PASSWORDS
from helpers.examples import rules
from helpers.members import text_to
from helpers.stories import follow


@pytest.mark.parametrize(
    ("options", "story"),
    rules("""
by default a player is reminded after 7 days and forfeits after 21
    | 6 days: nothing; 1 day: alice reminded; 13 days: alice reminded; 1 day: forfeited
the options of a board count instead
    --nagtime=2 --forfeittime=3 | 1 day: nothing; 1 day: alice reminded; 1 day: forfeited
a clean-up that comes late is right as well
    | 400 days: forfeited
the age counts from the last move
    | 6 days: nothing; alice: symple move 101 ME a1; 6 days: nothing
an undo counts as a move
    | 6 days: nothing; alice: symple move 101 ME undo; bob: symple move 101 ME accept; 6 days: nothing; \
1 day: bob reminded
a proposal and its rejection count as none
    | 6 days: nothing; alice: symple move 101 ME propose; bob: symple move 101 ME reject; 1 day: alice reminded
    | 6 days: nothing; alice: symple move 101 ME undo; bob: symple move 101 ME reject; 1 day: alice reminded
a player is reminded on every day until they move, but once in 24 hours
    | 7 days: alice reminded; 0 hours: nothing; 23 hours: nothing; 1 hour: alice reminded; 24 hours: alice reminded; \
12 hours: nothing; alice: symple move 101 ME a1; 13 hours: nothing
total time runs on in a vacation
    --totaltime=3 | alice: vacation ME 2026-12-05; 3 days: forfeited
nobody on vacation accepts by silence
    | bob: symple move 101 ME propose; 15 days: alice reminded; alice: vacation ME 2026-12-15; 6 days: nothing
the vacation of the other player changes nothing
    | bob: vacation ME 2026-12-10; 7 days: alice reminded
without days of vacation that are taken by themselves a game is forfeited
    | alice: vacation ME auto; bob: vacation ME auto; alice: vacation ME noauto; 21 days: forfeited
on a board without vacations the clocks run on
    --novacation | alice: vacation ME auto; 6 days: nothing; alice: vacation ME 2026-12-16; 1 day: alice reminded; \
14 days: forfeited
    """),
)
def test_what_a_clean_up_does_on_a_board_with_two_moves(four, options, story):
    four.begin(f"symple challenge -size=5 {options} alice bob")
    four.plays("c3", "b1")
    for step in story.split("; "):
        who_or_when, _, what = step.partition(": ")
        if who_or_when in PASSWORDS:
            four.signs(who_or_when, what)
            continue
        number, unit = who_or_when.split()
        four.pass_time(**{f"{unit.removesuffix('s')}s": int(number)})
        *name, deed = what.split()
        assert four.clean() == (Done() if deed == "nothing" else Done(**{deed: 1}))
        assert not name or [reader for reader, _ in four.outbox()] == name


# The age of a board


@pytest.mark.parametrize(
    "story",
    rules("""
each clock runs while it is the player's turn
    challenge --totaltime=30 alice bob / 1 hours / plays c3 / 2 hours / plays b1 / 4 hours / plays a1 / 8 hours / \
plays d4 / 16 hours / carol: symple show 101 / sender reads Time of alice 0 days 21:00 / \
sender reads Time of bob 0 days 10:00 / sender reads Time of both 1 day 07:00
who has used up their total time forfeits
    challenge --totaltime=3 alice bob / plays c3 b1 / 3 days / clean up / played c3 b1 (Forfeit) / winner bob / \
bob reads alice has used up the 3 days that each player is allowed.
a forfeit beats a queued move and a resignation of the other
    challenge alice bob / plays c3 b1 / bob: symple resign 101 ME / 21 days / clean up / winner bob / plan
who forfeits before the first moves has no board any more, and it is not shown
    challenge --totaltime=3 alice bob / 3 days / bob: queue a1 / gone / sender reads removed / \
alice gets Symple board 101 has been removed ** / sender reads no a b c d e / \
sender reads no symple move 101 / bob has rating None
the options are shown with the board, and offered for the next one
    challenge --nagtime=2 --forfeittime=3 alice bob / carol: symple show 101 / \
sender reads Options: -size=5 --nagtime=2 --forfeittime=3 / sender reads Reminder / plays c3 b1 / alice: resign / \
carol: symple show 101 / sender reads symple challenge -size=5 --nagtime=2 --forfeittime=3 bob alice
the player to move forfeits with a comment that says why
    challenge alice bob / plays c3 b1 / carol: symple subscribe ME 101 / dora: symple notify ME / 23 days / clean up / \
played c3 b1 (Forfeit) / told alice bob carol dora / alice gets Symple Board 101 ** / bob gets Symple Board 101 ** / \
carol gets Symple Board 101 ** / dora gets Symple Board 101 / carol reads Won by bob (alice forfeited). / \
carol reads The server writes: alice has not moved for 23 days, and 21 are allowed.
before the first moves the board is removed instead
    challenge alice bob / plays c3 / 21 days / clean up / gone / told alice bob / \
all get Symple board 101 has been removed ** / all read bob has not moved for 21 days / \
all read bob has not moved in time on Symple board 101. The board is removed. Nobody has won or lost.
a board against oneself is forfeited, too, and rates nobody
    challenge alice alice / plays c3 b1 / 21 days / clean up / played c3 b1 (Forfeit) / alice has rating None
who has not answered a proposal is reminded, and then accepts by silence
    challenge alice bob / plays c3 b1 / alice: move propose / 7 days / clean up / told bob / \
bob gets Nag: Symple Board 101 alice / bob reads bob, please answer the proposal / 14 days / clean up / turn / \
winner / alice has tied 1 / \
alice reads bob has not answered, and the last move was 21 days ago, which counts as accepting.
    challenge alice bob / plays c3 b1 / bob: move propose / 7 days / clean up / told alice / \
alice gets Nag: Symple Board 101 alice / alice reads alice, please answer the proposal / 14 days / clean up / \
reason agreed / alice reads alice has not answered, and the last move was 21 days ago
a seek ends 60 days after the last command of its user, who is told
    alice: symple seek ME 3 / bob: spiro seek ME 2 / 40 days / alice: symple limit ME / 20 days / clean up / \
told bob / bob gets Spiro seek status / \
bob reads You seek no challenges of Spiro any more, because you have given no command for 60 days. / \
carol: all seekers / sender reads symple alice 3 / sender reads no bob / 39 days / clean up / carol: all seekers / \
sender reads symple alice 3 / 1 days / clean up / carol: all seekers / sender reads Nobody seeks challenges.
nobody on vacation is reminded or forfeits
    challenge alice bob / plays c3 b1 / 5 days / alice: vacation ME 2026-12-15 / 2 days / clean up / told / 14 days / \
clean up / told / 4 days / clean up / told / turn alice
opponents see a vacation in the mails while it lasts
    challenge alice bob / bob: vacation ME 2026-11-22 2026-11-25 / alice: symple show 101 / \
sender reads no on vacation / 2 days / alice: symple show 101 / sender reads bob is on vacation through 2026-11-25. / \
3 days / alice: symple show 101 / sender reads bob is on vacation through 2026-11-25. / 1 days / \
alice: symple show 101 / sender reads no on vacation
when a game is over nobody is told of a vacation there
    challenge alice bob / plays c3 b1 / bob: vacation ME 2026-11-25 / alice: symple show 101 / \
sender reads bob is on vacation / alice: resign / alice reads no on vacation / bob reads no on vacation / \
alice: symple show 101 / sender reads no on vacation
two vacations without a day between them are one
    alice: vacation ME 2026-12-10 / 21 days / alice refused: vacation ME 2026-12-11 2026-12-15 / \
sender reads 26 days in one go / alice: vacation ME 2026-12-12 2026-12-16 / \
alice reads from 2026-12-12 through 2026-12-16.
a vacation that is ended counts with the days that it had, and spares for 3 days more
    challenge alice bob / plays c3 b1 / alice: vacation ME 2026-12-10 / 10 days / alice: vacation ME off / \
alice reads Your vacation is over. / alice reads Left in 2026: 20 days. / clean up / told alice
a vacation that has begun today is over when it is ended, not called off
    alice: vacation ME 2026-12-10 / alice: vacation ME off / alice reads Your vacation is over.
a vacation is called off without a trace before it has begun
    alice: vacation ME 2026-12-01 2026-12-21 / alice: vacation ME off / alice reads Left in 2026: 30 days. / \
alice refused: vacation ME off
a vacation is changed while it lasts
    alice: vacation ME 2026-12-05 / 3 days / alice: vacation ME 2026-12-01 / \
alice reads from 2026-11-20 through 2026-12-01. / alice: vacation ME 2026-12-10 / \
alice reads from 2026-11-20 through 2026-12-10. / alice refused: vacation ME 2026-12-11 / sender reads 22 days
a last day before the first one changes nothing
    alice: vacation ME 2026-12-10 / alice refused: vacation ME 2026-12-05 2026-11-30 / alice: vacation ME / \
alice reads from 2026-11-20 through 2026-12-10.
a vacation stands beside others that are planned, and takes the place of those it overlaps
    alice: vacation ME 2026-12-20 2026-12-24 / alice: vacation ME 2026-11-22 / \
alice reads from 2026-11-20 through 2026-11-22. / alice reads from 2026-12-20 through 2026-12-24. / \
alice: vacation ME 2026-12-23 2026-12-30 / \
alice reads from 2026-11-20 through 2026-11-22. / alice reads from 2026-12-23 through 2026-12-30. / \
alice reads no 2026-12-20 / alice: vacation ME / alice reads from 2026-11-20 through 2026-11-22.
    """),
)
def test_what_clocks_and_vacations_tell(both_ways, story):
    follow(both_ways, story)


# Step 1: total time


@pytest.mark.parametrize("line", ["move a1", "queue a1", "submit a1", "confirm"])
@pytest.mark.parametrize("name", ["alice", "bob"])
def test_1_whoever_sends_a_command_it_is_the_player_to_move_who_forfeits(both_ways, name, line):
    story = f"challenge --totaltime=3 alice bob / plays c3 b1 / 3 days / {name}: {line} / winner bob"
    read = "sender reads alice had used up their time / alice gets Symple Board 101 ** / bob gets Symple Board 101 **"
    follow(both_ways, f"{story} / played c3 b1 (Forfeit) / plan / {read}")


# Step 5: users who are gone


@pytest.mark.parametrize(
    "story",
    [
        "6 days / clean up / told / 1 days / clean up / reason signed off / bob reads alice has signed off.",
        "bob: move propose / 7 days / clean up / reason agreed",
    ],
)
def test_5_a_player_who_is_gone_forfeits_or_accepts_a_draw_instead_of_being_reminded(game, story):
    with game.store.writing():
        game.store.users.sign_off("alice", game.time)
    follow(game, story)


# The clean-up as a whole


def test_to_clean_up_twice_is_to_clean_up_once(four):
    for line in ("", "--totaltime=2", "--nagtime=1 --forfeittime=2", "--nagtime=1"):
        four.begin(f"symple challenge -size=5 {line} alice bob")
        four.plays("c3", "b1", board=str(100 + four.store.boards.totals()[1]))
    four.pass_time(days=7)
    assert four.clean() == Done(reminded=2, forfeited=2)
    four.forget_mails()
    once = four.stored()
    assert four.clean() == Done()
    assert four.mails() == []
    assert four.stored() == once


def test_a_board_that_cannot_be_replayed_stops_no_other(game):
    game.begin()
    game.plays("c3", "b1", board="102")
    game.store.db.execute("UPDATE turns SET text = 'z9' WHERE board = '101'")
    game.store.db.commit()
    game.pass_time(days=7)
    done = game.clean()
    assert done.reminded == 1
    assert "symple 101" in done.problems[0]


def test_a_game_with_a_fault_stops_no_other(game, monkeypatch):
    game.begin("spora challenge alice bob")
    monkeypatch.setattr("games.spora.State.view", property(lambda _: 1 / 0))
    game.pass_time(days=7)
    done = game.clean()
    assert done.reminded == 1
    assert done.problems == ("spora 101: ZeroDivisionError: division by zero",)


def test_pbm_cleanup_does_the_same_as_a_program_and_twice_is_once(shell, four):
    four.begin("symple challenge -size=5 alice bob")
    four.begin("symple challenge -size=5 alice bob")
    four.plays("c3", "b1", board="102")
    long_ago = (datetime.now(UTC) - timedelta(days=8)).isoformat(timespec="microseconds")
    four.store.db.execute("UPDATE boards SET started = ?, changed = iif(moves, ?, changed)", [long_ago, long_ago])
    four.store.db.execute("UPDATE boards SET forfeit_days = 8, notified_at = started WHERE board = '101'")
    four.store.db.commit()
    done = [shell.run("cleanup", "--json"), shell.run("cleanup")]
    assert [one.returncode for one in done] == [0, 0]
    assert {"reminded": 1, "forfeited": 1, "drawn": 0, "problems": []}.items() <= json.loads(done[0].stdout).items()
    assert done[1].stdout == "0 reminded, 0 forfeited, 0 drawn by silence, 0 digests.\n"
    assert four.outbox() == [
        ("alice", "Symple board 101 has been removed **"),
        ("bob", "Symple board 101 has been removed **"),
        ("alice", "Nag: Symple Board 102 alice"),
    ]


def test_the_clean_up_is_no_command_by_mail(by_mail):
    assert "no game or command 'cleanup'" in by_mail.refused("alice", "cleanup").text


# Vacations


@pytest.mark.parametrize(
    ("days", "first", "last"),
    rules("""
a vacation is from today or from the first day through the last
    2026-11-20 | 2026-11-20 | 2026-11-20
    2026-12-10 | 2026-11-20 | 2026-12-10
    2026-12-01 2026-12-21 | 2026-12-01 | 2026-12-21
    2026-12-20 2027-01-09 | 2026-12-20 | 2027-01-09
    """),
)
def test_a_vacation_is_planned(both_ways, days, first, last):
    told = both_ways.signs("alice", f"vacation ME {days}")
    assert f"Your vacation is from {first} through {last}." in text_to("alice", told)
    stored = both_ways.store.users.vacations("alice", date.fromisoformat(first))
    assert [(str(away.first), str(away.last)) for away in stored] == [(first, last)]
    assert text_to("alice", both_ways.signs("alice", "vacation ME")) == text_to("alice", told)


def test_a_user_has_30_days_in_a_calendar_year(both_ways):
    both_ways.time = both_ways.time.replace(month=3, day=1)
    both_ways.signs("alice", "vacation ME 2026-03-21")
    both_ways.time = both_ways.time.replace(month=6)
    assert "31 days of vacation in 2026; 30 is the most" in both_ways.refused("alice", "vacation ME 2026-06-10").text
    both_ways.signs("alice", "vacation ME 2026-06-09")
    both_ways.time = both_ways.time.replace(month=12, day=25)
    both_ways.refused("alice", "vacation ME 2026-12-31 2027-01-05")
    both_ways.signs("alice", "vacation ME 2027-01-01 2027-01-21")


def test_to_begin_and_end_a_vacation_on_every_day_uses_days_up_and_is_one_go(four):
    for _ in range(21):
        four.signs("alice", f"vacation ME {four.time.date()}")
        four.signs("alice", "vacation ME off")
        four.pass_time(days=1)
    assert "22 days in one go; 21 is the most" in four.refused("alice", "vacation ME 2026-12-11").text
    assert "31 days of vacation" in four.refused("alice", "vacation ME 2026-12-13 2026-12-22").text
