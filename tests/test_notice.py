"""Nobody loses by time without a reminder that left 48 hours before (docs/command-language.md, section 6)."""

from datetime import timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPServerDisconnected

import pytest

from pbm.actions import cleanup
from pbm.mail import sending
from pbm.mail.transports import Transport, smtp_problem
from pbm.session import Session
from pbm.store import Robot

from helpers.leagues import League


class Relay(Transport):
    """A mail server that takes a mail, unless *refusal* is the error of its recipient."""

    def __init__(self):
        self.refusal = lambda _: None

    def send(self, message, sender, recipient, name):
        if error := self.refusal(recipient):
            raise smtp_problem(error, recipient)


@pytest.fixture
def relay():
    """A mail server that takes all mails until it is told otherwise."""
    return Relay()


def refused(code, text=b""):
    """The refusal of a recipient by a mail server."""
    return lambda recipient: SMTPRecipientsRefused({recipient: (code, text)})


def live(club, relay, days):
    """Let days pass, each with a clean-up and a try to send all mails."""
    total = cleanup.Done()
    for _ in range(days):
        club.wait(days=1)
        done = cleanup.clean_up(Session(club.server))
        assert not done.problems
        sending.flush(club.server, relay)
        total = total._replace(reminded=total.reminded + done.reminded, forfeited=total.forfeited + done.forfeited)
    return total


def test_a_relay_refuses_all_mails_for_23_days_and_nobody_loses(game, relay):
    relay.refusal = lambda _: SMTPServerDisconnected("please try again later")
    assert live(game, relay, 23) == cleanup.Done(reminded=1)
    assert [mail.reminds for mail in game.mails("alice")] == ["symple 101"]
    relay.refusal = lambda _: None
    assert live(game, relay, 2).forfeited == 0
    assert live(game, relay, 1).forfeited == 1


@pytest.mark.parametrize(
    "error",
    [
        SMTPServerDisconnected("gone"),
        SMTPDataError(554, b"5.7.1 no mail from you"),
        SMTPRecipientsRefused({"alice@players.example": (554, b"5.7.1 Relay access denied")}),
        SMTPRecipientsRefused({"alice@players.example": (451, b"4.3.0 try again later")}),
    ],
)
def test_what_our_side_or_the_relay_cannot_send_never_counts_as_having_left(game, relay, error):
    relay.refusal = lambda _: error
    assert live(game, relay, 60).forfeited == 0
    assert game.at().row.notified_at is None
    [mail] = game.mails("alice")
    assert mail.due is not None


@pytest.mark.parametrize("answer", [(550, b"5.1.1 unknown"), (550, b"no such user"), (452, b"4.2.2 mailbox full")])
def test_what_the_player_s_own_mail_server_refuses_counts_as_having_left_a_week_later(game, relay, answer):
    relay.refusal = refused(*answer)
    assert live(game, relay, 21).forfeited == 1  # reminded on the 7th day, refused until the 14th


def test_a_reminder_that_is_refused_late_gives_a_week_and_two_days(four, relay):
    four.begin("symple challenge -size=5 --nagtime=6 --forfeittime=7 alice bob")
    four.plays("c3", "b1")
    relay.refusal = refused(550)
    assert live(four, relay, 14).forfeited == 0  # refused on the 6th day, which counts from the 13th on
    assert live(four, relay, 1).forfeited == 1


def test_a_mail_that_is_refused_at_first_and_taken_then_has_left_when_it_is_taken(game, relay):
    relay.refusal = refused(450, b"4.2.0 greylisted")
    live(game, relay, 7)
    relay.refusal = lambda _: None
    game.wait(hours=1)
    sending.flush(game.server, relay)
    assert game.at().row.notified_at == game.time


def test_it_is_enough_that_one_of_several_addresses_works(four, relay):
    four.store.users.add_address("alice", "second@players.example", four.time)
    four.begin()
    four.plays("c3", "b1")
    relay.refusal = lambda recipient: refused(550)(recipient) if recipient.startswith("alice") else None
    assert live(four, relay, 7).reminded == 1
    assert four.at().row.notified_at == four.time


def test_vacations_in_a_row_make_no_more_days_than_a_player_has(game, relay):
    """A day of vacation every fourth day, with the days of grace between them, would be four days each."""
    first_days = [(game.time + timedelta(days=20 + 4 * number)).date() for number in range(4)]
    for day in first_days:
        game.signs("alice", f"vacation ME {day} {day}")
    assert live(game, relay, 23).forfeited == 0  # the 20th day, and three more
    assert live(game, relay, 1).forfeited == 0  # the second vacation, which has begun too late
    assert live(game, relay, 1).forfeited == 1


def test_without_an_address_that_works_a_reminder_counts_from_when_it_is_due(game, relay):
    [address] = game.store.users.addresses("alice")
    game.store.users.suspend_address(address.number, game.time)
    live(game, relay, 7)
    assert game.at().row.notified_at == game.time
    assert live(game, relay, 14).forfeited == 1


def test_a_user_without_address_loses_as_others_do(game, relay):
    game.store.users.drop_address("alice", "alice@players.example")
    assert live(game, relay, 21).forfeited == 1


def test_an_address_that_is_suspended_while_the_reminder_waits_makes_no_time(game, relay):
    relay.refusal = lambda _: SMTPServerDisconnected("gone")
    live(game, relay, 20)
    [address] = game.store.users.addresses("alice")
    game.store.users.suspend_address(address.number, game.time)
    assert live(game, relay, 3).forfeited == 1  # reminded again on the 21st day, in vain


@pytest.mark.parametrize("how", ["none", "digest"])
def test_who_wants_no_mails_or_digests_is_reminded_and_loses_as_others_do(game, relay, how):
    game.signs("alice", f"symple mail ME {how}")
    assert live(game, relay, 20).forfeited == 0
    assert live(game, relay, 1).forfeited == 1


def test_a_move_makes_an_earlier_reminder_count_for_nothing(game, relay):
    live(game, relay, 8)
    game.plays("d4", "a1")
    assert game.at().row.notified_at is None
    relay.refusal = lambda _: SMTPServerDisconnected("gone")
    assert live(game, relay, 30).forfeited == 0


def test_a_reminder_that_is_on_its_way_while_the_player_moves_says_nothing_of_their_next_turn(game):
    game.wait(days=7)
    cleanup.clean_up(Session(game.server))
    mails = game.store.outbox.all()
    game.signs("alice", "symple move 101 ME d4")
    game.signs("bob", "symple move 101 ME a1")
    with game.store.writing():
        sending.note(game.server, [(mail, None) for mail in mails])
    assert game.at().row.notified_at is None


def test_a_proposal_is_not_accepted_by_the_silence_of_somebody_without_notice(game, relay):
    live(game, relay, 20)  # alice has notice
    game.signs("alice", "symple move 101 ME propose")
    game.wait(days=1)
    done = cleanup.clean_up(Session(game.server))
    assert (done.drawn, done.reminded) == (0, 1)
    assert [mail.userid for mail in game.mails() if mail.reminds] == ["bob"]
    sending.flush(game.server, relay)
    live(game, relay, 1)
    assert game.at().row.vote == "draw"
    live(game, relay, 1)
    assert game.at().row.reason == "agreed"


def test_nobody_makes_time_by_proposing_and_withdrawing(game, relay):
    live(game, relay, 20)
    for word in "propose", "reject":
        game.signs("alice", f"symple move 101 ME {word}")
    assert live(game, relay, 1).forfeited == 1


def test_nobody_makes_time_by_proposing_and_withdrawing_while_their_reminder_waits(game, relay):
    relay.refusal = lambda _: SMTPServerDisconnected("gone")
    live(game, relay, 20)
    for word in "propose", "reject":
        game.signs("alice", f"symple move 101 ME {word}")
    relay.refusal = lambda _: None
    game.wait(hours=6)
    sending.flush(game.server, relay)
    assert game.at().row.notified_at == game.time


def test_a_reminder_to_answer_a_proposal_is_dropped_when_that_is_withdrawn(game, relay):
    game.signs("alice", "symple move 101 ME propose")
    game.wait(days=7)
    assert cleanup.clean_up(Session(game.server)).reminded == 1
    game.signs("alice", "symple move 101 ME reject")
    assert [mail for mail in game.mails() if mail.reminds] == []


def test_days_of_vacation_that_are_taken_make_no_second_reminder_beside_one_that_waits(game, relay):
    game.signs("alice", "vacation ME auto")
    live(game, relay, 20)
    relay.refusal = lambda _: SMTPServerDisconnected("gone")
    live(game, relay, 5)
    assert len([mail for mail in game.mails("alice") if mail.reminds]) == 1
    assert len(game.store.users.vacation_days("alice", game.time.date().replace(day=1))) == 5


def test_a_total_time_that_runs_out_is_named_by_a_reminder_before_it_is_lost(four, relay):
    four.begin("symple challenge -size=5 --totaltime=3 alice bob")
    four.plays("c3", "b1")
    assert live(four, relay, 2) == cleanup.Done()
    four.wait(days=1)
    assert cleanup.clean_up(Session(four.server)).reminded == 1
    [mail] = four.mails("alice")
    text = " ".join(mail.text.split())
    assert "A player who uses 3 days in the whole game forfeits. From 2026-11-25 12:00 UTC on, you forfeit." in text
    sending.flush(four.server, relay)
    four.signs("alice", "symple move 101 ME d4")  # they have not lost yet
    assert four.at().row.turn == "bob"
    four.plays("a1")
    assert live(four, relay, 2).forfeited == 0  # of this turn, they were reminded a day after it began
    assert live(four, relay, 2).forfeited == 1


def test_a_round_that_ends_is_named_by_a_reminder_before_it_is_lost(four, relay):
    four.say("symple challenge -size=5 --name=a1 --nagtime=5 --forfeittime=9 alice bob")
    four.store.db.execute("UPDATE boards SET until = ?", ["2026-11-23T12:00:00.000000+00:00"])
    four.store.db.commit()
    four.plays("c3", "b1", board="a1")
    assert live(four, relay, 3).reminded == 1
    assert live(four, relay, 1).forfeited == 0
    assert live(four, relay, 1).forfeited == 1


def test_a_command_does_not_end_a_game_whose_player_has_no_notice(four):
    four.begin("symple challenge -size=5 --totaltime=3 alice bob")
    four.plays("c3", "b1")
    four.wait(days=5)
    four.signs("alice", "symple move 101 ME d4")
    assert four.played()[-1] == "d4"


def test_who_has_signed_off_needs_no_notice(game):
    game.store.users.sign_off("alice", game.time)
    game.store.db.commit()
    game.wait(days=7)
    assert cleanup.clean_up(Session(game.server)).forfeited == 1


def test_robots_of_the_server_get_no_reminder_and_lose_nothing(four, relay):
    four.begin("symple challenge -size=5 --totaltime=3 robot2 alice")
    assert live(four, relay, 40) == cleanup.Done()
    assert four.at().row.ended is None


def test_a_robot_that_is_a_program_is_not_reminded_and_loses_nothing_also_while_it_is_paused(four, relay):
    with four.store.writing():
        four.store.users.add("deep", "", four.time)
        four.store.robots.save(Robot("deep", None, "deep", ("symple",)))
    four.begin("symple challenge -size=5 --totaltime=3 deep alice")
    assert live(four, relay, 20) == cleanup.Done()
    with four.store.writing():
        four.store.robots.save(Robot("deep", None, "deep", ("symple",), paused=four.time))
    assert live(four, relay, 20) == cleanup.Done()
    assert four.at().row.ended is None


def test_a_director_who_plays_needs_notice_as_others_do_and_what_they_decide_needs_none(four, relay):
    league = League(four)
    for pool in "s", "t":
        league.start("swiss", ["alice", "bob"], pool, rounds=1, director="alice")
    relay.refusal = lambda _: SMTPServerDisconnected("gone")
    assert live(four, relay, 9).forfeited == 0
    league.do("adjudicate t1 draw", pool="t")
    relay.refusal = lambda _: None
    assert live(four, relay, 3).forfeited == 1
    assert [four.at(board).row.reason for board in ("s1", "t1")] == ["forfeited", "adjudicated"]


def test_time_left_counts_the_notice_that_is_still_to_come(game):
    game.wait(days=20, hours=12)
    row = game.at().row
    assert f"{row.turn}" == "alice"
    [table] = game.say("all games alice")
    assert table.data["boards"][0]["days_left"] == 2
