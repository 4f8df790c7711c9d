"""Automatic vacations, nagging, the table of all games, time zones (docs/command-language.md, section 12)."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest

from pbm.actions.cleanup import Done
from pbm.board import clocks, records
from pbm.board.clocks import DueStep
from pbm.board.records import Record, Unsound
from pbm.operator import doctor
from pbm.refusals import Refused
from pbm.store import BoardRow, Vacation

from helpers.examples import rules
from helpers.members import SENDER, text_to, to
from helpers.stories import follow

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ONE = timedelta(microseconds=1)


# What is due on a board


def row(**fields):
    """A board on which alice is to move since noon, and is reminded after 7 days and loses after 21."""
    return BoardRow(
        "symple", "101", "", "alice", "bob", b"", NOON, moves=2, turn="alice", changed=NOON,
        notified_at=NOON, vote_notified_at=NOON,
    )._replace(**fields)  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "age", "due"),
    [
        ({}, timedelta(0), (DueStep.NOTHING, "alice")),
        ({}, timedelta(days=7) - ONE, (DueStep.NOTHING, "alice")),
        ({}, timedelta(days=7), (DueStep.REMIND, "alice")),
        ({}, timedelta(days=21) - ONE, (DueStep.REMIND, "alice")),
        ({}, timedelta(days=21), (DueStep.FORFEIT, "alice")),
        ({"pool": "a"}, timedelta(days=1) - ONE, (DueStep.NOTHING, "alice")),
        ({"pool": "a"}, timedelta(days=1), (DueStep.REMIND, "alice")),
        ({"pool": "a"}, timedelta(days=7) - ONE, (DueStep.REMIND, "alice")),
        ({"pool": "a"}, timedelta(days=7), (DueStep.FORFEIT, "alice")),
        ({"nagged": NOON + timedelta(days=7)}, timedelta(days=8) - ONE, (DueStep.NOTHING, "alice")),
        ({"nagged": NOON + timedelta(days=7)}, timedelta(days=8), (DueStep.REMIND, "alice")),
        ({"total_days": 3}, timedelta(days=3) - ONE, (DueStep.NOTHING, "alice")),
        ({"total_days": 3}, timedelta(days=3), (DueStep.OUT_OF_TIME, "alice")),
        ({"total_days": 3, "first_used": 86400.0}, timedelta(days=2), (DueStep.OUT_OF_TIME, "alice")),
        ({"total_days": 3, "second_used": 86400.0}, timedelta(days=2), (DueStep.NOTHING, "alice")),
        ({"total_days": 21}, timedelta(days=21), (DueStep.OUT_OF_TIME, "alice")),
        ({"vote": "draw", "voter": "alice"}, timedelta(days=7), (DueStep.REMIND, "bob")),
        ({"vote": "draw", "voter": "alice"}, timedelta(days=21) - ONE, (DueStep.REMIND, "bob")),
        ({"vote": "draw", "voter": "alice"}, timedelta(days=21), (DueStep.DRAW, "bob")),
        ({"vote": "draw", "voter": "bob"}, timedelta(days=21), (DueStep.DRAW, "alice")),
        ({"vote": "undo", "voter": "bob"}, timedelta(days=21), (DueStep.FORFEIT, "alice")),
        ({"vote": "draw", "voter": "alice", "total_days": 3}, timedelta(days=21), (DueStep.OUT_OF_TIME, "alice")),
    ],
)
def test_what_is_due_changes_exactly_when_a_time_is_up(four, fields, age, due):
    assert clocks.due(four.store, row(**fields), 0, NOON + age) == due


@pytest.mark.parametrize(
    ("begin", "zone", "end"),
    [
        ("2026-11-20T00:00:00.000001+00:00", "UTC", "2026-12-21T00:00:00.000001+00:00"),  # in weekends of 48 hours
        ("2026-11-20T00:00:00+00:00", "UTC", "2026-12-19T00:00:00+00:00"),
        ("2026-11-21T09:00:00+00:00", "UTC", "2026-12-22T00:00:00+00:00"),
        ("2026-03-06T12:00:00+01:00", "Europe/Berlin", "2026-04-06T12:00:00+02:00"),  # summer time begins on a Sunday
        ("2026-03-07T00:00:00+13:00", "Pacific/Auckland", "2026-04-07T00:00:00+12:00"),  # and ends on one
    ],
)
def test_without_weekends_it_is_known_when_a_player_loses(four, begin, zone, end):
    changed = datetime.fromisoformat(begin)
    assert clocks.ends_at(four.store, row(changed=changed, weekends=zone), changed) == datetime.fromisoformat(end)


@pytest.mark.parametrize(
    ("last", "deeds"),
    [
        (date(2026, 12, 10), [DueStep.REMIND, DueStep.REMIND, DueStep.REMIND, DueStep.FORFEIT]),
        (date(2026, 12, 11), [DueStep.NOTHING, DueStep.REMIND, DueStep.REMIND, DueStep.REMIND]),
        (date(2026, 12, 7), [DueStep.FORFEIT] * 4),
    ],
)
def test_a_vacation_spares_its_days_and_three_more(four, last, deeds):
    with four.store.writing():
        four.store.users.replace_vacations("alice", NOON.date(), [Vacation("alice", date(2026, 12, 1), last)])
    days = [NOON + timedelta(days=days) for days in (21, 22, 23, 24)]  # the 11th to the 14th of December
    assert [clocks.due(four.store, row(), 0, day)[0] for day in days] == deeds


@pytest.mark.parametrize(("late", "faults"), [(-ONE, 0), (timedelta(0), 1)])
@pytest.mark.parametrize("options", ["", "--totaltime=21", "--totaltime=3"])
def test_the_doctor_finds_what_a_clean_up_should_have_ended_two_days_ago(game, late, faults, options):
    days = 3 if options == "--totaltime=3" else 21
    if options:
        game.store.db.execute("UPDATE boards SET total_days = ?", [days])
        game.store.db.commit()
    game.pass_time(days=days)
    game.wait(days=2)
    game.time += late
    found = [one for one in doctor.examine(game.store.path, game.time) if one.where == "cleanup"]
    assert len(found) == faults


# Automatic vacations


def test_a_clock_that_runs_out_takes_a_day_of_vacation_instead_of_the_game_while_there_is_any(game):
    told = game.signs("alice", "vacation ME auto")
    assert "Left in 2026: 30 days." in text_to("alice", told)
    game.store.users.replace_vacations(
        "alice", date(2026, 1, 1), [Vacation("alice", date(2026, 1, 1), date(2026, 1, 28))]
    )
    game.store.db.commit()
    game.pass_time(days=21)
    for left in (1, 0):
        assert game.clean() == Done(reminded=1)
        [mail] = game.mails()
        assert (mail.userid, mail.subject) == ("alice", "Nag: Symple Board 101 alice")
        assert f"Left in 2026: {left} day" in mail.text
        assert game.clean() == Done()
        game.pass_time(days=1)
    assert game.clean() == Done(forfeited=1)
    assert game.at().row.reason == "forfeited"


# Reminders


@pytest.mark.parametrize(
    "story",
    rules("""
the days that were taken count in the allowance, and an opponent sees them
    challenge alice bob / plays c3 b1 / alice: vacation ME auto / 21 days / clean up / \
bob: symple show 101 / sender reads alice is on vacation through 2026-12-11. / \
alice: vacation ME / alice reads Left in 2026: 29 days. / \
alice: vacation ME 2026-12-31 / alice reads Left in 2026: 9 days.
a reminder says the rule and the date
    challenge alice bob / plays c3 b1 / 7 days / clean up / told alice / \
alice reads alice, please move; the last move was 7 days ago. A player who does not move for 21 days forfeits. / \
alice reads From 2026-12-11 12:00 UTC on, you forfeit.
and how long ago the last move was, whatever days were given since
    challenge alice bob / plays c3 b1 / bob: give 5 / 3 days / bob: nag / alice reads the last move was 3 days ago.
before the first moves it says that the board is removed
    challenge alice bob / 7 days / clean up / alice reads From 2026-12-11 12:00 UTC on, it is removed.
after a vacation the date is the one that holds
    challenge alice bob / plays c3 b1 / alice: vacation ME 2026-12-10 / 21 days / clean up / \
alice reads From 2026-12-14 00:00 UTC on, you forfeit.
the date is in the zone of who is reminded
    challenge alice bob / plays c3 b1 / alice: timezone ME America/New_York / 7 days / clean up / \
alice reads From 2026-12-11 07:00 EST on, you forfeit.
a reminder to answer a proposal says what silence means
    challenge alice bob / plays c3 b1 / bob: symple move 101 ME propose / 7 days / clean up / \
alice reads A player who does not answer for 21 days accepts.
a reminder tells the loss by the total time if that comes first
    challenge --nagtime=1 --totaltime=3 alice bob / plays c3 b1 / alice: vacation ME auto / 1 days / clean up / \
alice reads A player who uses 3 days in the whole game forfeits. From 2026-11-23 12:00 UTC on, you forfeit. / \
alice reads no day of your vacation
on a board without vacations it promises no day of one
    challenge --novacation --nagtime=1 alice bob / plays c3 b1 / alice: vacation ME auto / 1 days / clean up / \
told alice / alice reads no day of your vacation
a vacation that begins the day after the present one goes on with it
    alice: vacation ME 2026-11-20 2026-11-20 / alice: vacation ME 2026-11-21 2026-11-23 / \
alice reads Your vacation is from 2026-11-20 through 2026-11-23.
a present vacation cannot be cut to end before today
    alice: vacation ME 2026-11-20 2026-11-25 / 3 days / alice refused: vacation ME 2026-11-20 2026-11-22
a digest is in the zone of its reader
    challenge alice bob / plays c3 b1 / bob: symple mail ME digest / bob: timezone ME Asia/Tokyo / \
alice: symple move 101 ME a1 / clean up / bob reads 2026-11-20 21:00 to 2026-11-20 21:00 JST
times in mails are in the zone of their reader
    alice: timezone ME Europe/Berlin / alice reads the time zone Europe/Berlin; it is 2026-11-20 13:00 CET now. / \
challenge --nagtime=2 alice bob / plays c3 b1 / alice: symple move 101 ME a1 / \
alice reads Start 2026-11-20 13:00 CET / bob reads Start 2026-11-20 12:00 UTC
the three days between reminders by an opponent count for each player and board, also over moves
    challenge alice bob / plays c3 b1 / challenge alice bob / plays c3 b1 / bob: symple nag 101 ME / \
bob: symple nag 102 ME / told alice bob / alice: symple move 101 ME a1 / alice: symple nag 101 ME / told alice bob / \
bob: symple move 101 ME d4 / bob refused: symple nag 101 ME / sender reads within the last 3 days
nobody is reminded on a board that is over or in their vacation
    challenge alice bob / plays c3 b1 / alice: vacation ME 2026-12-01 / bob refused: symple nag 101 ME / \
sender reads alice is on vacation through 2026-12-01 / alice: symple resign 101 ME / bob refused: symple nag 101 ME / \
sender reads has ended
days that were taken spare nobody a reminder, and vacations none where they do not count
    challenge alice bob / plays c3 b1 / alice: vacation ME auto / \
challenge --novacation --forfeittime=90 alice bob / plays c3 b1 / 21 days / clean up / \
bob: symple nag 101 ME / told alice bob / alice: vacation ME 2026-12-12 / bob: symple nag 102 ME / told alice bob
who has to answer a proposal can be reminded, and does not remind
    challenge alice bob / plays c3 b1 / bob: symple move 101 ME propose / alice refused: symple nag 101 ME / \
sender reads It is your turn / bob: symple nag 101 ME / alice reads alice, please answer the proposal / \
alice: symple move 101 ME reject / alice: symple move 101 ME propose / bob refused: symple nag 101 ME / \
sender reads yours to answer
every mail about a board without vacations says so, and the option takes no value
    alice: symple challenge -size=5 --novacation alice bob / \
all read Options: -size=5 --novacation Vacations do not stop the clocks of this board. / alice: move c3 / \
told alice bob / all read Options: -size=5 --novacation Vacations do not stop the clocks of this board. / \
bob: move b1 / all read Options: -size=5 --novacation Vacations do not stop the clocks of this board. / \
alice: resign / told alice bob / \
all read Options: -size=5 --novacation Vacations do not stop the clocks of this board. / \
alice refused: symple challenge --novacation=5 alice bob / sender reads --novacation stands alone, without a value.
a game that cannot be rated says so from the beginning
    alice: symple challenge -size=5 alice alice / all read This game is unrated: it is against oneself.
a day that was taken serves all boards of the user and spares no day more
    challenge alice bob / plays c3 b1 / challenge alice bob / plays c3 b1 / alice: vacation ME auto / 21 days / \
clean up / told alice / all get Nag: Symple Board 101 alice / all get Nag: Symple Board 102 alice / turn alice / \
alice: vacation ME / alice reads Left in 2026: 29 days. / alice: vacation ME noauto / 1 days / clean up / \
all get Symple Board 101 ** / all get Symple Board 102 **
a draw by silence takes days too, and the total time takes none
    challenge alice bob / plays c3 b1 / alice: vacation ME auto / bob: move propose / 21 days / clean up / \
told alice / turn alice / vote draw
    challenge --totaltime=5 alice bob / plays c3 b1 / alice: vacation ME auto / 21 days / clean up / reason total time
an opponent reminds once in three days
    challenge alice bob / plays c3 b1 / bob: nag / told alice bob / alice gets Nag: Symple Board 101 alice / \
bob gets Symple nag / alice reads bob reminds you of this board. / bob reads alice is reminded of Symple board 101. / \
71 hours / bob refused: nag / \
sender reads You have reminded alice of this board within the last 3 days; / \
sender reads you can again from 2026-11-23 12:00 UTC on. / \
1 hours / bob: nag / told alice bob
who cannot remind is told why
    challenge alice bob / plays c3 b1 / alice refused: nag / sender reads It is your turn / carol refused: nag / \
sender reads You do not play on this board / bob refused: symple nag 999 ME / \
sender reads There is no Symple board '999' / bob refused: symple nag 101 / sender reads missing
all games take selectors and several users
    challenge alice bob / plays c3 b1 resign / challenge spora carol alice / challenge papagra --name=a1 alice dora / \
bob: all games alice / sender reads papagra a1 / sender reads spora 101 / sender reads no symple 101 / \
bob: all games alice active / sender reads papagra a1 / sender reads spora 101 / sender reads no symple 101 / \
bob: all games alice next / sender reads papagra a1 / sender reads no spora 101 / sender reads no symple 101 / \
bob: all games alice inactive / sender reads symple 101 / sender reads no spora 101 / sender reads no papagra a1 / \
bob: all games alice tournament / sender reads papagra a1 / sender reads no spora 101 / \
bob: all games dora carol / sender reads papagra a1 / sender reads spora 101 / sender reads no symple 101
a proposal waits for its answer, whoever is to move
    challenge alice bob / plays c3 b1 / alice: symple move 101 ME propose / alice: all games alice / \
sender reads alice 2026-11-20 12:00 21 for bob / dora: all games dora / sender reads There are no boards for 'dora'.
    """),
)
def test_what_reminders_vacations_and_time_zones_tell(both_ways, story):
    follow(both_ways, story)


@pytest.mark.parametrize("by", ["cleanup", "nag"])
@pytest.mark.parametrize("end", ["move 101 ME a1", "resign 101 ME"])
def test_a_reminder_that_still_waits_is_dropped_when_the_move_arrives(game, by, end):
    game.begin()
    game.plays("c3", "b1", board="102")
    game.pass_time(days=7)
    if by == "cleanup":
        game.clean()
    else:
        for board in ("101", "102"):
            game.signs("bob", f"symple nag {board} ME")
    game.signs("alice", f"symple {end}")
    assert [subject for _, subject in game.outbox() if subject.startswith("Nag")] == ["Nag: Symple Board 102 alice"]


@pytest.mark.parametrize("word", ["accept", "reject"])
def test_an_answer_drops_the_reminder_to_answer(game, word):
    follow(game, f"bob: move propose / bob: nag / alice: move {word}")
    assert [subject for _, subject in game.outbox() if subject.startswith("Nag")] == []


# All games


def table(told):
    return [line.split() for line in text_to(SENDER, told).splitlines()]


def test_all_games_are_one_table_with_opponent_turn_and_the_days_that_are_left(moved):
    moved.begin("spora challenge -size=5 --totaltime=9 carol alice")
    moved.begin("papagra challenge bob carol")
    moved.pass_time(days=1, hours=1)
    moved.signs("bob", "symple move 101 ME propose")
    told = moved.give("alice", "all games alice")
    assert to(told) == [(SENDER, "List of all games")]
    assert text_to(SENDER, told).splitlines()[:3] == [
        "Game    Board  Opponent  Turn   Since (UTC)       Days left",
        "spora   101    carol     carol  2026-11-20 12:00  7 for carol",
        "symple  101    bob       alice  2026-11-20 12:00  19 for alice",
    ]


def test_by_mail_all_games_have_pages(by_mail, monkeypatch):
    monkeypatch.setattr("pbm.actions.lists.LINES_OF_PAGE", 2)
    for _ in range(3):
        by_mail.begin()
    text = text_to(SENDER, by_mail.give("alice", "all games alice"))
    assert text.endswith("This is page 1; the next one:\n\nall games alice 2\n")
    second = table(by_mail.give("alice", "all games alice 2"))
    assert [line[1] for line in second if line[0:1] == ["symple"] and len(line) > 4] == ["103"]


def test_who_is_out_of_time_has_no_days_left_until_the_clean_up_ends_the_game(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge --nagtime=1 --forfeittime=3 alice bob")
    club.pass_time(days=6)
    club.wait(days=2)
    [listed] = club.say("all games alice")
    assert listed.data["boards"][0]["days_left"] == 0


def test_all_games_are_shown_up_to_the_most_boards_that_a_mail_has(club, monkeypatch):
    monkeypatch.setattr("pbm.actions.finding.MOST_BOARDS", 2)
    club.signed_up("alice", "bob")
    for game in ("symple", "spora"):
        club.say(f"{game} challenge -size=5 alice bob")
    assert [letter.data["board"] for letter in club.say("all show alice active")] == ["101", "101"]
    club.say("papagra challenge alice bob")
    with pytest.raises(Refused, match="These are 3 boards, which would be too much mail"):
        club.say("all show alice active")


def test_as_many_boards_are_shown_at_once_as_a_mail_has_and_not_one_more(club, monkeypatch):
    monkeypatch.setattr("pbm.actions.finding.MOST_BOARDS", 2)
    club.signed_up("alice", "bob")
    for _ in range(3):
        club.say("symple challenge -size=5 alice bob")
    assert [letter.data["board"] for letter in club.say("symple show 101 102")] == ["101", "102"]
    with pytest.raises(Refused, match="These are 3 boards, which is too much mail; ask for at most 2"):
        club.say("symple show 101 102 103")


def test_the_next_page_of_a_table_is_never_read_as_a_board(club, monkeypatch):
    monkeypatch.setattr("pbm.actions.lists.LINES_OF_PAGE", 1)
    monkeypatch.setattr("pbm.actions.finding.FIRST_NUMBER", 3)  # from here on, a lone number is that of a board
    club.signed_up("alice", "bob")
    for _ in range(3):
        club.say("symple challenge -size=5 alice bob")
    sender = "alice@players.example"
    [first] = club.say("symple games", sender=sender)
    assert first.command.text == "symple games 2"
    [second] = club.say("symple games 2", sender=sender)
    assert second.command.text == "symple games all 3"
    [third] = club.say("symple games all 3", sender=sender)
    assert "\n103  " in third.body


# Time zones


def test_lists_by_mail_are_in_the_zone_of_the_sender(by_mail):
    there = "alice: timezone ME Asia/Tokyo / challenge alice bob / plays c3 b1 resign / alice: symple history"
    follow(by_mail, f"{there} / sender reads Ended (Asia/Tokyo) / sender reads 2026-11-20 21:00")
    follow(by_mail, "bob: symple history / sender reads 2026-11-20 12:00")


def test_utc_is_the_usual_zone_and_letters_may_be_small(four):
    for word, zone in ("europe/berlin", "Europe/Berlin"), ("utc", None):
        four.signs("alice", f"timezone ME {word}")
        assert four.store.users.zone("alice") == zone


def test_a_zone_that_the_machine_has_lost_reads_as_utc(game):
    game.store.users.change("alice", zone="Mars/Olympus")
    game.store.db.commit()
    game.pass_time(days=7)
    game.clean()
    assert "From 2026-12-11 12:00 UTC on" in game.mails()[0].text


# Honest ends


@pytest.mark.parametrize(("played", "name"), [("", "alice"), ("plays c3 / ", "bob")])
@pytest.mark.parametrize("end", ["NAME: symple resign a1 ME", "NAME: signoff ME", "7 days / clean up"])
@pytest.mark.parametrize("option", ["", "--totaltime=3"])
def test_a_game_in_which_not_both_have_moved_is_never_rated(four, option, end, played, name):
    ended = f"{played}{end.replace('NAME', name)} / turn / alice has rating None / carol: symple show a1"
    unrated = "sender reads It is unrated because not both players have moved."
    follow(four, f"challenge --name=a1 {option} alice bob / {ended} / {unrated}")
    assert four.store.players.results_of_board("symple", "a1") == []


ENDS = {
    "rules": "by the rules", "resigned": "resigned", "signed off": "signed off", "agreed": "agreed draw",
    "forfeited": "forfeited (time of a move)", "total time": "forfeited (total time)",
}  # fmt: skip
STEPS = {
    "resigned": "alice: resign", "signed off": "alice: signoff ME", "agreed": "alice: move propose / bob: move accept",
    "forfeited": "21 days / clean up", "total time": "21 days / clean up",
}  # fmt: skip


def ended(members, reason):
    """The game that has ended on board 101 for that reason, and what was told of it."""
    if reason == "rules":
        members.begin("spiro challenge -small -pieces=1 alice bob")
        while not (found := members.at(game="spiro")).is_over:
            move = max(found.state.moves(), key=lambda move: move.count("x"))
            told = members.signs(found.mover, f"spiro move 101 ME {move}")
        return "spiro", told
    options = "--totaltime=9" if reason == "total time" else ""
    return "symple", follow(members, f"challenge {options} alice bob / plays c3 b1 / {STEPS[reason]}")


@pytest.mark.parametrize("reason", ENDS)
def test_the_reason_of_an_end_is_told_in_mails_lists_and_to_programs(four, reason):
    game, told = ended(four, reason)
    assert re.search(rf"^Reason +{re.escape(ENDS[reason])}$", text_to("bob", told), re.MULTILINE)
    [shown] = four.say(f"{game} show 101")
    assert (shown.data["reason"], shown.data["rated"]) == (reason, True)
    [played] = four.say(f"{game} history")[0].data["games"]
    assert (played["reason"], played["rated"]) == (reason, True)
    words = reason.split()
    assert any(line[-2 - len(words) : -2] == words for line in table(four.give("carol", f"{game} history")))
    lines = text_to(SENDER, four.give("carol", f"{game} games 101")).splitlines()
    assert lines[1][lines[0].index("Reason") :].startswith(reason)


def test_tables_say_which_ends_were_unrated(four):
    four.begin("symple challenge -size=5 alice alice")
    four.plays("c3", "b1", "resign")
    four.begin("symple challenge -size=5 --name=a1 alice bob")
    four.signs("alice", "symple resign a1 ME")
    text = text_to(SENDER, four.give("carol", "symple games"))
    assert text.count("resigned, unrated") == 2
    assert "unrated  resigned" in text_to(SENDER, four.give("carol", "symple history"))


def test_a_record_has_the_reason_and_one_that_cannot_be_is_refused(four):
    ended(four, "total time")
    written = records.write(Record(four.at().row, four.at().turns), [])
    assert written["result"]["reason"] == "total time"
    assert written["clocks"]["novacation"] is False
    for reason in ("total time", "signed off", "forfeited"):
        told = {**written, "result": {**written["result"], "reason": reason}}
        assert records.read(told, {}, four.time).row.reason == reason
    with pytest.raises(Unsound, match="the reason of the end is told as 'agreed', but it was forfeited"):
        records.read({**written, "result": {**written["result"], "reason": "agreed"}}, {}, four.time)


def test_a_record_from_before_has_neither_and_gets_the_usual_reason(four):
    ended(four, "resigned")
    written = records.write(Record(four.at().row, four.at().turns), [])
    del written["result"]["reason"], written["clocks"]["novacation"]
    row = records.read(written, {}, four.time).row
    assert (row.reason, row.novacation) == ("resigned", False)


def test_the_doctor_finds_a_reason_that_cannot_be_and_mend_sets_it_right(four, shell):
    ended(four, "resigned")
    four.store.db.execute("UPDATE boards SET reason = 'agreed'")
    four.store.db.commit()
    assert "the end was agreed, but it is resigned" in shell.run("doctor").stdout
    shell.run("boards", "mend", "symple", "101")
    assert four.at().row.reason == "resigned"
