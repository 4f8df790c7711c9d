"""Tournaments that run themselves: from the announcement to the last mail, whatever happens on the way."""

import re
from collections import Counter
from html import unescape
from itertools import chain
from random import Random

import pytest
from caissify_pairings.fpc import check_trf

from games import symple
from pbm.actions import plans, rounds, turns, users
from pbm.actions.cleanup import clean_up
from pbm.actions.finding import find_board
from pbm.board import clocks
from pbm.budget import limited
from pbm.letters import contests
from pbm.mail import html
from pbm.refusals import Refused
from pbm.robot_players.tasks import play_all
from pbm.store import Robot
from pbm.texts import WIDTH
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Kind, points

from helpers.club import PASSWORDS
from helpers.costs import computing
from helpers.database import sql
from helpers.fixtures import set_up
from helpers.losses import lose_by_time, reinstate
from helpers.mail import ADDRESS, handle
from helpers.pairings import check_rules


@set_up
def members(club):
    """alice, bob and carol, who are signed up."""
    club.signed_up(*PASSWORDS)


@pytest.mark.parametrize("count", [2, 3, 6, 12])
def test_a_knockout_takes_one_board_less_than_it_has_players(league, count):
    league.start("knockout", count)
    league.play(Random(count), draws=0)
    found = league.now()
    assert found.tournament.state == "finished"
    assert len(found.meetings) == count - 1
    assert found.tournament.round == (count - 1).bit_length()
    assert [line.place for line in found.lines].count(1) == 1
    last = found.meetings[-1]
    assert found.lines[0].name == (last.first if last.outcome == 1 else last.second)


def test_a_match_of_three_is_over_when_it_is_decided_and_a_tie_is_played_on(league):
    league.start("knockout", 2, best_of=3)
    first = league.now().meetings[0]
    league.end("s1", "draw")
    assert league.now().meetings[1].pair == (first.second, first.first)
    league.end("s2", "draw")
    league.end("s3", "draw")
    assert league.running() == ["s4"]
    league.end("s4", "first")
    assert league.now().tournament.state == "finished"


@pytest.mark.parametrize(("kind", "rounds"), [("ladder", None), ("knockout", None), ("swiss", 3)])
def test_a_tournament_that_is_finished_begins_no_more_games_and_ends_with_those_that_are_on(league, kind, rounds):
    league.start(kind, 4, rounds=rounds)
    league.do("finish")
    assert league.now().tournament.state == "closing"
    league.play(Random(1), draws=0, until=2)
    found = league.now()
    assert (found.tournament.state, len(found.meetings)) == ("finished", 2)


def test_a_match_of_two_teams_by_rank(league):
    names = league.signed_up(8)
    league.start("roundrobin", names, teams={"red": names[:4], "blue": names[4:]})
    found = league.now()
    assert [one.pair for one in found.meetings] == [
        (names[0], names[4]), (names[5], names[1]), (names[2], names[6]), (names[7], names[3]),
    ]  # fmt: skip
    for board, how in (("s1", "first"), ("s2", "second"), ("s3", "draw"), ("s4", "first")):
        league.end(board, how)
    # red has won s1 and s2 and tied s3; blue has won s4 and tied s3
    assert [(line.place, line.name, line.points, line.scores["board_points"]) for line in league.now().teams] == [
        (1, "red", 1, 2.5),
        (2, "blue", 0, 1.5),
    ]


def test_a_board_of_a_player_of_no_team_that_was_named_counts_for_no_team(league):
    red, blue, other = league.signed_up(3)
    league.start("roundrobin", [red, blue], teams={"red": [red], "blue": [blue]})
    league.club.say(f"symple challenge -size=5 --name=s7 {red} {other}")
    league.end("s7", "second")
    league.end("s1", "first")
    assert league.now().tournament.state == "finished"
    assert [(line.name, line.points, line.scores["board_points"]) for line in league.now().teams] == [
        ("red", 1, 1), ("blue", 0, 0),
    ]  # fmt: skip


def test_an_arena_pairs_whoever_is_free_until_it_closes(league):
    names = league.signed_up(5)
    later = league.club.time.replace(hour=18)
    league.start("arena", names, until=later)
    assert len(league.running()) == 2
    league.play(Random(4), until=6)
    assert len(league.running()) == 2
    league.club.pass_time(hours=7)
    clean_up(league.session)
    assert league.now().tournament.state == "closing"
    league.play(Random(4))
    assert league.now().tournament.state == "finished"


def test_the_table_tells_programs_how_much_time_each_player_has_used(league):
    league.start("swiss", 2, rounds=1)
    league.club.pass_time(hours=5)
    league.end("s1", "second")
    used = {row["userid"]: row["used_seconds"] for row in league.now().data["table"]}
    assert [used[name] for name in league.now().meetings[0].pair] == [5 * 3600, 0]


def test_a_tournament_whose_options_its_game_has_lost_says_so_and_can_be_finished(league):
    league.start("arena", 2, until=league.club.time.replace(year=2030))
    league.club.store.db.execute("UPDATE tournaments SET options = '-sise'")
    with pytest.raises(
        Refused, match=r"No game of pool s of Symple can start; its .* can `finish` it\. There is no op"
    ):
        league.do("adjudicate s1 draw")
    league.do("finish")
    league.do("adjudicate s1 draw")
    assert not league.running()


def test_the_next_round_begins_in_the_same_step_as_the_last_game_ends(league, monkeypatch):
    league.start("swiss", 4, rounds=2)
    league.end("s1", "first")

    def fail(*_, **__):
        raise OSError("killed")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="killed"):
        patched.setattr(turns, "start", fail)
        league.end("s2", "first")
    assert league.running() == ["s2"]  # the end of the game is undone with the round that could not begin
    league.end("s2", "first")
    assert league.running() == ["s3", "s4"]


def test_a_withdrawal_is_an_unrated_loss_the_opponent_goes_on_and_the_player_may_come_back(league):
    league.start("swiss", 4, rounds=3)
    first = league.now().meetings[0]
    league.do(f"withdraw {first.second}")
    row = league.club.store.boards.get("symple", "s1")
    assert (row.winner, row.reason) == (first.first, "withdrawn")
    assert league.club.store.players.results_of_board("symple", "s1") == []
    league.end("s2", "first")
    assert len(league.running()) == 1  # three are left, one of whom has a bye
    assert [one.is_bye for one in league.now().meetings[2:]] == [False, True]
    league.do(f"add {first.second}")
    assert [(one.joined, one.withdrawn) for one in league.now().entrants if one.name == first.second] == [(3, None)]


def test_who_takes_the_place_of_another_has_his_points_and_begins_his_game_anew(league):
    *names, new = league.signed_up(5)
    league.start("swiss", names, rounds=3)
    for board in ("s1", "s2"):
        league.end(board, "first")
    leader = league.now().lines[0].name
    league.do(f"replace {leader} {new}")
    found = league.now()
    assert leader not in {line.name for line in found.lines}
    assert next(line.points for line in found.lines if line.name == new) == 1
    assert league.running() == ["s4", "s5"]  # s3 was removed before a move
    assert league.club.store.boards.get("symple", "s3") is None


def test_a_cancelled_game_counts_for_nobody_and_an_adjudicated_one_does_and_says_so(league):
    league.start("swiss", 6, rounds=1)
    with pytest.raises(Refused, match="There is no board s9 of pool s"):
        league.do("adjudicate s9 draw")
    with pytest.raises(Refused, match="is written"):
        league.do("adjudicate s1 lose")
    second = league.now().meetings[1].second
    assert league.do("adjudicate s2 win") == f"{second} has won the game on s2."  # the first one is to move
    league.do("adjudicate s3 draw")
    league.do("adjudicate s1 cancel")
    found = league.now()
    assert (found.tournament.state, [line.points for line in found.lines]) == ("finished", [1, 0.5, 0.5, 0, 0, 0])
    assert league.club.store.boards.get("symple", "s2").reason == "adjudicated"
    assert f"\nWon by {second} (adjudicated).\n" in league.club.text("symple show s2")
    assert "\nThe game is a tie (adjudicated).\n" in league.club.text("symple show s3")


def test_a_director_may_name_the_winner_of_a_game(league):
    league.start("swiss", 2, rounds=1)
    mover = league.now().meetings[0].first
    assert league.do(f"adjudicate s1 win {mover}") == f"{mover} has won the game on s1."
    assert league.club.store.boards.get("symple", "s1").winner == mover


def test_a_dry_run_of_what_changes_nothing_says_the_same(league):
    league.start("swiss", 2, rounds=1)
    assert league.do("status", dry_run=True) == league.do("status")


@pytest.mark.parametrize("verdict", ["draw", "cancel"])
def test_nobody_is_named_behind_a_verdict_without_a_winner(league, verdict):
    [name, _] = league.start("swiss", 2, rounds=1)
    with pytest.raises(Refused, match=r"`adjudicate` is written `adjudicate BOARD win \[USERID\]\|draw\|cancel`\."):
        league.do(f"adjudicate s1 {verdict} {name}")
    assert league.running() == ["s1"]


def test_a_director_who_plays_is_told_of_the_end_once(league):
    [director, opponent] = league.signed_up(2)
    league.start("swiss", [director, opponent], rounds=1, director=director)
    league.play(Random(1))
    assert [len(league.mails(name, "the end")) for name in (director, opponent)] == [1, 1]


@pytest.mark.parametrize("words", ["win", "win win", "win player01"])
def test_a_player_may_be_called_win(league, words):
    league.club.say("signup win win-secret")
    league.start("swiss", ["win", *league.signed_up(1)], rounds=1)
    assert "has won the game on s1." in league.do(f"adjudicate s1 {words}")


def test_a_dry_run_changes_nothing_and_a_cancelled_pool_without_a_move_vanishes_whole_and_its_name_is_free(league):
    names = league.start("swiss", 4, rounds=2)
    before = list(league.club.store.db.iterdump())
    for words in ("cancel", "finish", f"withdraw {names[0]}", "adjudicate s1 draw", "status"):
        league.do(words, dry_run=True)
    assert list(league.club.store.db.iterdump()) == before
    league.do("cancel")
    assert league.club.store.boards.of_tournament("symple", "s") == []
    assert league.club.store.tournaments.get("symple", "s") is None
    league.start("knockout", names)


def test_a_dry_run_tells_which_games_are_lost_begin_anew_or_go(league):
    *names, new = league.signed_up(4)
    league.start("roundrobin", names)
    first = league.now().meetings[0].first
    mine = [board for board, pair in league.now().boards.items() if first in pair]
    would = "Nothing is done yet. This would happen:"
    assert league.do(f"withdraw {first}", dry_run=True) == (
        f"{would} {first} does not take part in pool s any more. They lose on {mine[0]} and {mine[1]}."
    )
    assert league.do(f"replace {first} {new}", dry_run=True).endswith(
        f"with their points. The game on {mine[0]} begins anew on s4. The game on {mine[1]} begins anew on s5."
    )
    league.begin()
    told = " ".join(league.do(f"replace {first} {new}", dry_run=True).split())
    assert told.endswith(f"with their points. {first} loses on {mine[0]}. {first} loses on {mine[1]}.")
    league.start("roundrobin", names, pool="t")
    with league.session.store.writing():
        turns.play_turn(league.session, board := find_board(league.session, "symple", "t2"), board.mover, "c3")
    told = " ".join(league.do("cancel", pool="t", dry_run=True).split())
    assert told.endswith("is cancelled; games that have begun go on. t1, t3 are removed.")
    league.start("roundrobin", names, pool="u")
    assert league.do("cancel", pool="u", dry_run=True).endswith("is cancelled and removed. u1, u2, u3 are removed.")


def test_who_leaves_is_told_which_games_they_lose(members, league):
    league.start("roundrobin", ["alice", "bob", "carol"])
    told = " ".join(members.text("symple leave s bob bob-secret").split())
    assert "bob does not take part in pool s any more. They lose on s1 and s3." in told


@pytest.mark.parametrize(
    ("word", "hint"), [("withdrw", "did you mean `withdraw`? There are start"), ("zzz", "there are start, status, add")]
)
def test_an_unknown_direction_is_said_to_be_unknown(members, league, shell, word, hint):
    league.start("swiss", ["alice", "bob"], rounds=1, director="carol")
    told = f"There is no direction '{word}'; {hint}"
    assert told in members.why_refused(f"symple tournament s carol carol-secret {word} bob")
    for words in ["s", word, "bob"], ["s", word], ["s", word, "bob", "--dry-run"]:
        assert told in shell.run("tournament", "symple", *words).stderr


def test_an_unknown_direction_in_front_of_its_pool_is_said_to_be_unknown(league, shell):
    league.start("swiss", 2, rounds=1)
    told = "There is no direction 'withdrw'; did you mean `withdraw`?"
    assert told in shell.run("tournament", "symple", "withdrw", "s", "player01").stderr
    assert "There is a pool s of Symple already" in shell.run("tournament", "symple", "s", "--open").stderr


def test_a_ladder_of_robots_alone_needs_a_number_of_rounds(league):
    robots = [f"robot{number}" for number in range(1, 5)]
    why = r"^A ladder of robots alone needs --rounds=N, because nothing else would end it\.$"
    with pytest.raises(Refused, match=why):
        league.start("ladder", robots)
    league.open("ladder", robots, pool="l")
    with pytest.raises(Refused, match=why):
        league.do("start", pool="l")
    league.start("ladder", robots, pool="r", rounds=2)
    league.start("ladder", [*robots, *league.signed_up(1)], pool="m")


def test_a_ladder_on_which_only_robots_are_left_ends_and_says_why(league):
    [name, director] = league.signed_up(2)
    league.start("ladder", [name, "robot1", "robot2"], director=director)
    league.do(f"withdraw {name}")
    assert league.now().tournament.state == "finished"
    told = " ".join(league.mails(director, "the end")[0].text.split())
    assert "It is over. Only robots are left, and they would play without an end." in told


def test_robots_play_the_boards_that_were_due_and_not_those_that_begin_meanwhile(league):
    league.start("arena", ["robot1", "robot2", "robot3"], until=league.club.time.replace(year=2030))
    play_all(league.session)
    found = league.now()
    assert [one.is_running for one in found.meetings] == [False, True]
    assert find_board(league.session, "symple", "s2").turns == []


def test_a_round_ends_at_its_time_by_the_loss_of_whoever_is_to_move(league):
    league.start("swiss", 4, rounds=2, round_days=3, forfeit_days=30)
    league.club.pass_time(days=2)
    clean_up(league.session)
    assert league.running() == ["s1", "s2"]
    league.club.pass_time(days=1)
    clean_up(league.session)
    assert league.running() == ["s3", "s4"]
    assert league.club.store.boards.get("symple", "s1").reason == "forfeited"


def test_days_that_are_given_make_nobodys_time_in_the_table_less_than_none(members, league):
    league.start("roundrobin", ["alice", "bob"], total_days=3)
    mover = find_board(league.session, "symple", "s1").mover
    other = "bob" if mover == "alice" else "alice"
    members.say(f"symple give s1 {other} {PASSWORDS[other]} 2")
    members.say(f"symple move s1 {mover} {PASSWORDS[mover]} c3")
    assert [row["used_seconds"] for row in league.now().data["table"]] == [0, 0]


def test_a_reminder_tells_the_loss_at_the_end_of_the_round(members, league):
    league.start("swiss", ["alice", "bob"], rounds=1, round_days=3)
    late = find_board(league.session, "symple", "s1").mover
    league.club.pass_time(days=1)
    clean_up(league.session)
    [mail] = league.mails(late, "Nag")
    rule = "Whoever is to move at the end of the round forfeits.\nFrom 2026-11-23 12:00 UTC on, you forfeit."
    assert rule in mail.text


def test_a_move_after_the_end_of_the_round_loses(members, league):
    league.start("swiss", ["alice", "bob"], rounds=1, round_days=3)
    late = find_board(league.session, "symple", "s1").mover
    league.club.pass_time(days=3, minutes=1)
    why = f"The round was over, and it was {late}'s turn, so the game is over: they have forfeited."
    assert members.why_refused(f"symple move s1 {late} {PASSWORDS[late]} c3") == why
    row = league.club.store.boards.get("symple", "s1")
    assert (row.winner, row.reason) == (row.opponent(late), "forfeited")


def test_a_robot_that_moves_after_the_end_of_the_round_leaves_the_other_player_their_time(members, league):
    league.club.store.users.add("robo", "", league.club.time)
    league.club.store.robots.save(Robot("robo", level=1))
    league.start("swiss", ["robo", "alice"], rounds=1, round_days=3, forfeit_days=30)
    board = find_board(league.session, "symple", "s1")
    if board.mover == "alice":
        league.club.say("symple move s1 alice alice-secret a1")
    league.club.pass_time(days=4)
    play_all(league.session)
    for days, running in (2, ["s1"]), (1, []):
        league.club.pass_time(days=days)
        clean_up(league.session)
        assert league.running() == running


def test_a_tournament_that_is_announced_starts_although_a_user_has_taken_the_name_of_a_board(members, league):
    league.open(names=["alice", "bob"], starts=league.club.time)
    members.say("signup s1 s1-secret")
    clean_up(league.session)
    assert league.running() == ["s2"]


def test_who_signs_off_takes_part_no_more(members, league):
    league.start("swiss", ["alice", "bob", "carol"], rounds=2)
    members.say("signoff bob bob-secret")
    found = league.now()
    assert next(one for one in found.entrants if one.name == "bob").withdrawn
    assert all("bob" not in one.pair for one in found.meetings if one.round == 2)


def test_a_tournament_starts_its_games_although_one_that_was_named_for_its_pool_is_on(league):
    names = league.signed_up(4)
    league.open("pairs", names)
    league.club.say(f"symple challenge --name=s7 {names[0]} {names[1]}")
    league.do("start")
    assert sorted(league.running()) == ["s7", "s8", "s9"]
    league.do(f"withdraw {names[3]}")
    assert sorted(league.running()) == ["s7", "s8"]


def test_a_board_that_the_operator_removes_counts_for_nobody_and_holds_up_no_round(league, shell):
    names = league.start("swiss", 4, rounds=2)
    league.end("s1", "first")
    assert shell.run("boards", "remove", "symple", "s2", "--yes").returncode == 0
    assert league.running() == ["s3", "s4"]
    assert "started by its rounds" in league.club.why_refused(f"symple challenge --name=s9 {names[0]} {names[1]}")


def test_a_board_whose_game_is_found_to_be_over_when_it_is_mended_holds_up_no_round(league, shell):
    league.start("swiss", 4, rounds=2)
    league.end("s1", "first")
    sql(shell.folder / "pbm.db", "INSERT INTO turns SELECT game, 's2', 1, first_player, 'Resign', '[]', 0, started, 0 "
        "FROM boards WHERE board = 's2'")  # fmt: skip
    assert "not over" in shell.done("boards", "mend", "symple", "s2")
    assert league.running() == ["s3", "s4"]


def test_a_director_chats_on_the_boards_of_his_tournament_alone(members, league):
    league.start("swiss", ["alice", "bob"], rounds=1, director="carol")
    members.say("symple challenge alice bob")
    members.say("symple chat s1 carol carol-secret", "The round ends today.")
    assert "The round ends today." in members.mails("alice")[-1].text
    assert members.why_refused("symple chat 101 carol carol-secret", "c3!").startswith("Onlookers do not advise:")


# Joining, and the director


def test_players_join_and_leave_a_tournament_that_is_open(members, league):
    members.say("broadcast carol carol-secret on")
    league.open(most=2)
    assert [mail.subject for mail in members.mails("carol")][-1] == "Symple tournament s: open"
    assert "alice takes part" in members.text("symple join S alice alice-secret")
    assert "takes part in pool s already" in members.why_refused("symple join s alice alice-secret")
    members.say("symple join s bob bob-secret")
    assert "is full" in members.why_refused("symple join s carol carol-secret")
    members.say("symple leave s alice alice-secret")
    members.say("symple join s carol carol-secret")
    assert "2 players" in members.text("symple table s") or "bob, carol" in members.text("symple table s")
    league.do("start")
    assert "Nobody can join pool s any more" in members.why_refused("symple join s alice alice-secret")
    assert {one.pair for one in league.now().meetings} <= {("bob", "carol"), ("carol", "bob")}


def test_players_are_told_which_tournaments_are_open_or_on_and_who_can_join_them(members, league):
    names = league.signed_up(4)
    assert members.text("symple table").startswith("No tournament of Symple is open, or on.")
    league.open(starts=members.time.replace(day=25), most=3)
    league.start("ladder", names, pool="l", director="carol")
    league.start("knockout", names, pool="k")
    league.start("swiss", names, pool="gone", rounds=1)
    league.play(Random(1), pool="gone")
    members.say("symple join s alice alice-secret")
    assert members.text("symple table").startswith(
        "Pool  Type      State    Players  Round   Starts (UTC)      Who can join\n"
        "k     knockout  running  4        1                         nobody\n"
        "l     ladder    running  4        1                         ask carol\n"
        "s     swiss     open     1 of 3   0 of 1  2026-11-25 12:00  anybody\n\n"
        "To join: symple join POOL USERID PASSWORD\n"
    )
    for name in ("bob", "carol"):
        members.say(f"symple join s {name} {PASSWORDS[name]}")
    members.say("symple table", sender="bob@players.example")
    [mail] = [mail for mail in members.mails() if mail.subject == "Symple tournaments"]
    assert (mail.address, "nobody: full" in mail.text, "To join" in mail.text) == ("bob@players.example", True, False)


def test_a_tournament_of_teams_is_announced_as_one_that_nobody_can_join(members, league):
    members.say("broadcast carol carol-secret on")
    league.open("roundrobin", ["alice", "bob"], "t", {"red": ["alice"], "blue": ["bob"]})
    told = members.mails("carol")[-1].text
    assert "Nobody else can join it." in told
    assert "symple join" not in told + members.text("symple table t") + members.text("symple table")
    assert "nobody: teams" in members.text("symple table")


def test_one_game_and_one_board_are_told_of_in_the_singular(league):
    league.start("swiss", 2, rounds=1)
    assert league.now().heading.endswith(", 0 of 1 game played")
    league.do("cancel")
    assert any(" s1 is removed." in mail.text for mail in league.club.mails())


def test_a_tournament_starts_by_itself_at_its_date_or_is_cancelled_if_nobody_has_come(members, league):
    for pool in "st":
        league.open(pool=pool, starts=members.time.replace(day=25))
    members.say("symple join s alice alice-secret")
    members.say("symple join s bob bob-secret")
    clean_up(league.session)
    assert league.running() == []
    members.pass_time(days=6)
    clean_up(league.session)
    assert league.running() == ["s1"]
    assert "There is no pool 't'" in members.why_refused("symple table t")


def test_its_director_gives_commands_with_his_password_and_hears_what_happens(members, league):
    league.open(director="carol")
    for name in ("alice", "bob"):
        members.say(f"symple join s {name} {name}-secret")
    assert "is not directed by alice" in members.why_refused("symple tournament s alice alice-secret start")
    assert "password is wrong" in members.why_refused("symple tournament s carol wrong-secret start")
    members.say("symple tournament s carol carol-secret start --dry-run", sender="carol@players.example")
    assert league.running() == []
    members.say("symple tournament s carol carol-secret start", sender="carol@players.example")
    assert league.running() == ["s1"]
    subjects = [mail.subject for mail in members.mails() if mail.address == "carol@players.example"]
    assert "Symple tournament s: round 1" in subjects
    league.end("s1", "first")
    assert members.mails("carol")[-1].subject == "Symple tournament s: the end"


def test_the_director_is_told_of_a_robot_that_is_paused_and_lets_the_tournament_go_on_without_it(
    members, league, shell
):
    league.start("swiss", ["alice", "bob", "robot1"], rounds=2, director="carol")
    assert shell.run("robots", "pause", "robot1").returncode == 0
    told = members.mails("carol")[-1]
    assert told.subject == "Symple tournament s: robot1 is paused"
    assert "`withdraw robot1` or `replace robot1 USERID` lets pool s of Symple go on" in " ".join(told.text.split())
    league.do("withdraw robot1")
    assert all("robot1" not in one.pair for one in league.now().meetings if one.is_running)
    with pytest.raises(Refused, match="robot1 is a robot that is paused"):
        league.do("add robot1")


def test_nobody_can_go_on_giving_up_games_without_an_end_while_others_do_not_move(league):
    names = league.start("arena", 5, until=league.club.time.replace(year=2030))
    league.start("ladder", names, pool="l")
    given_up = 0
    for pool in ("s", "l"):
        while mine := [one for one in league.now(pool).meetings if one.is_running and one.first == names[0]]:
            league.end(mine[0].board, "second")
            given_up += 1
            assert given_up < 5  # soon the other one begins, and has to move before this one can give up


def test_who_has_asked_for_a_bye_sits_out_the_next_round_for_half_a_point(members, league):
    names = league.signed_up(3)
    league.start("swiss", ["alice", *names], rounds=3, byes=1, director="carol")
    done = members.text("symple bye S alice alice-secret")
    assert "alice has a bye in round 2 of pool s of Symple, which is half a point." in done
    assert members.mails("carol")[-1].subject == "Symple tournament s: alice has a bye"
    assert "alice has a bye in round 2 of pool s already" in members.why_refused("symple bye s alice alice-secret")
    assert "bob does not take part in pool s" in members.why_refused("symple bye s bob bob-secret")
    for board in ("s1", "s2"):
        league.end(board, "first")
    found = league.now()
    [mine] = [one for one in found.meetings if one.round == 2 and "alice" in one.pair]
    assert (mine.is_bye, mine.outcome) == (True, 0)
    won = sum(one.outcome_of("alice") == 1 for one in found.meetings if "alice" in one.pair)
    assert [line.points for line in found.lines if line.name == "alice"] == [won + 0.5]
    [given] = [one for one in found.meetings if one.round == 2 and one.is_bye and one != mine]
    assert given.outcome == 1  # three are left, one of whom has nobody to play against
    first, second, *_ = found.text().split("\n\n")[1:]
    assert [line.split()[-1] for line in first.splitlines()] == ["R1", "4:1", "3:0", "2:1", "1:0"]
    assert [line.split()[-1] for line in second.splitlines()] == ["R2", "bye=", "bye", "4:.", "3:."]
    told = " ".join(members.mails("alice")[-1].text.split())
    assert "You have the bye in round 2 that you asked for, which counts as half a point." in told
    assert "A player can ask for no more than 1 bye in pool s" in members.why_refused("symple bye s alice alice-secret")


def test_a_bye_is_asked_for_where_that_is_allowed_before_the_last_round_even_by_all(members, league):
    everybody = ["alice", "bob", "carol"]
    league.start("swiss", everybody, rounds=3)
    assert "A player can ask for no byes in pool s" in members.why_refused("symple bye s alice alice-secret")
    league.start("swiss", everybody, pool="t", rounds=2, byes=1)
    assert "Nobody can ask for a bye in the last round of pool t" in members.why_refused(
        "symple bye t alice alice-secret"
    )
    league.start("swiss", everybody, pool="u", rounds=3, byes=2)
    members.say("symple bye u alice alice-secret", sender="alice@players.example")
    assert "alice has a bye in round 2 of pool u" in members.mails()[-1].text
    for name in ("bob", "carol"):
        members.say(f"symple bye u {name} {name}-secret")
    league.play(Random(1), pool="u")
    found = league.now("u")
    assert found.tournament.state == "finished"
    assert [(one.is_bye, one.outcome) for one in found.meetings if one.round == 2] == [(True, 0)] * 3
    assert [one.round for one in found.meetings if not one.is_bye] == [1, 3]


def test_where_all_sit_out_the_first_round_the_second_one_begins_and_is_told(members, league):
    everybody = ["alice", "bob", "carol"]
    league.open("swiss", everybody, pool="u", rounds=3, byes=1, options="-size=5")
    for name in everybody:
        members.say(f"symple bye u {name} {name}-secret")
    told = league.do("start", pool="u")
    assert told.startswith("Round 2 of pool u of Symple:")
    assert told.count("has a bye") == 1


def test_those_whom_the_director_keeps_apart_do_not_meet(league):
    names = league.signed_up(6)
    league.start("swiss", names, rounds=3, never=f"{names[0]}:{names[3]} {names[1]}:{names[4]}:{names[5]}")
    league.play(Random(2))
    met = {frozenset(one.pair) for one in league.now().meetings}
    apart = [(0, 3), (1, 4), (1, 5), (4, 5)]
    assert not met & {frozenset((names[one], names[other])) for one, other in apart}


def test_the_report_of_a_tournament_is_accepted_by_the_checker_of_fides_rules(league, shell):
    rng, names = Random(4), league.signed_up(10)
    league.start("swiss", names[:8], rounds=4, byes=1)
    league.begin()  # the checker gives no point for W, a win in a game of less than one move
    league.play(rng, until=2)
    league.do(f"withdraw {names[2]}")
    league.do(f"add {names[8]}")
    while league.now().tournament.is_on:
        league.begin()
        if "s8" in league.running():
            league.do("adjudicate s8 cancel")
        else:
            league.play(rng, until=1)
    report = shell.run("tournament", "symple", "s", "--trf").stdout
    checked = check_trf(report)
    assert (checked["tournament_name"], checked["num_players"]) == ("Pool s of Symple", 9)
    assert [one["match"] for one in checked["rounds"]] == [True] * league.now().tournament.round
    assert any(one.is_void for one in league.now().meetings)
    assert "cannot be paired" not in league.mails(names[0], "the end")[0].text  # it has ended as planned


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 15))])
def test_the_checker_agrees_with_a_tournament_that_players_leave_or_in_which_they_do_not_come(league, shell, seed):
    rng = Random(seed)
    count = rng.randint(4, 14)
    league.start("swiss", count, rounds=rng.randint(2, count // 2), round_days=10, forfeit_days=30)
    while league.now().tournament.is_on:
        for board in league.running():
            chance = rng.random()
            if chance < 0.1:
                league.do(f"withdraw {rng.choice(find_board(league.session, 'symple', board).players)}")
            elif chance < 0.8:
                league.begin([board])
                league.end(board, rng.choice(["first", "second", "draw"]))
        pass_days(league, 11)
    checked = check_trf(shell.run("tournament", "symple", "s", "--trf").stdout)
    assert [one["match"] for one in checked["rounds"]] == [True] * league.now().tournament.round


def reported(shell):
    """The results of the first round in the report, by player, such as ``{"alice": "1"}``."""
    lines = shell.run("tournament", "symple", "s", "--trf").stdout.splitlines()
    return {line[14:47].strip(): line[91:].split()[2] for line in lines if line.startswith("001")}


ABSENCES = {
    "withdrawal": lambda league, late: league.do(f"withdraw {late}"),
    "leaving": lambda league, late: league.club.say(f"symple leave s {late} {PASSWORDS[late]}"),
    "signing off": lambda league, late: league.club.say(f"signoff {late} {PASSWORDS[late]}"),
    "time of a move": lambda league, _: pass_days(league, 15),
    "end of a round": lambda league, _: pass_days(league, 10),
    "total time": lambda league, _: pass_days(league, 5),
}


def pass_days(league, days):
    for _ in range(days):
        league.club.pass_time(days=1)
        clean_up(league.session)


@pytest.mark.parametrize("how", ABSENCES)
@pytest.mark.parametrize("has_begun", [False, True])
def test_who_is_absent_before_both_have_moved_has_lost_by_forfeit(members, league, shell, how, has_begun):
    clocks = {"total time": {"total_days": 3}, "end of a round": {"round_days": 8, "forfeit_days": 30}}
    league.start("swiss", ["alice", "bob"], rounds=1, **clocks.get(how, {}))
    if has_begun:
        league.begin()
    late = find_board(league.session, "symple", "s1").mover
    ABSENCES[how](league, late)
    other = "bob" if late == "alice" else "alice"
    assert reported(shell) == ({late: "0", other: "1"} if has_begun else {late: "-", other: "+"})


@pytest.mark.parametrize(
    ("words", "short", "usual"), [("resign", "LW", "01"), ("adjudicate s1 win", "LW", "01"),
                                  ("adjudicate s1 draw", "DD", "==")]
)  # fmt: skip
@pytest.mark.parametrize("has_begun", [False, True])
def test_a_game_that_is_given_up_or_decided_before_both_have_moved_is_one_of_less_than_one_move(
    members, league, shell, words, short, usual, has_begun
):
    league.start("swiss", ["alice", "bob"], rounds=1)
    if has_begun:
        league.begin()
    late = find_board(league.session, "symple", "s1").mover
    if words == "resign":
        members.say(f"symple move s1 {late} {PASSWORDS[late]} resign")
    else:
        league.do(words)
    other = "bob" if late == "alice" else "alice"
    assert reported(shell) == dict(zip((late, other), usual if has_begun else short, strict=True))


def test_who_wins_because_the_opponent_withdraws_does_not_get_the_bye_as_well(league):
    names = league.start("swiss", 4, rounds=3)
    first = league.now().meetings[0]
    league.do(f"withdraw {first.second}")
    league.end("s2", "first")
    assert [name for name in league.now().idle if name == first.first] == []
    league.play(Random(1))
    unplayed = Counter(one.winner for one in league.now().meetings if one.is_unplayed)
    assert set(unplayed.values()) == {1}
    assert set(unplayed) < set(names)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["swiss", "knockout", "ladder", "roundrobin", "arena"])
def test_whatever_its_director_does_a_tournament_goes_on_to_its_end(league, kind):
    rng = Random(kind)
    names, settings = league.signed_up(24), {"until": league.club.time.replace(year=2030)} if kind == "arena" else {}
    league.start(kind, names[:12], rounds=5 if kind in {"swiss", "ladder"} else None, best_of=2, **settings)
    spare = names[12:]
    for step in range(200):
        found = league.now()
        if not found.tournament.is_on:
            break
        assert league.running()
        name = rng.choice([one.name for one in found.entrants if one.withdrawn is None])
        words = [f"withdraw {name}", f"adjudicate {rng.choice(league.running())} cancel"]
        if spare and found.tournament.state == "running":
            words += [f"replace {name} {spare[0]}", *([f"add {spare[0]}"] if kind != "knockout" else [])]
        if kind == "arena" and step == 100:
            league.do("finish")
        elif rng.random() < 0.2:
            league.do(chosen := rng.choice(words))
            spare = [one for one in spare if one not in chosen]
        else:
            league.end(rng.choice(league.running()), rng.choice(["first", "second", "draw"]))
    found = league.now()
    assert found.tournament.state == "finished"
    reckoned = points([one.name for one in found.entrants], found.meetings)
    assert {line.name: line.points for line in found.lines} == {line.name: 0 for line in found.lines} | reckoned
    if kind == "swiss":
        assert set(Counter(frozenset(one.pair) for one in found.meetings).values()) == {1}
    if kind == "knockout":
        assert [line.place for line in found.lines].count(1) == 1


def test_a_swiss_ends_before_its_last_round_where_those_who_are_left_have_all_met(league):
    *names, director = league.signed_up(5)
    league.start("swiss", names, rounds=3, director=director)
    for name in names[:2]:
        league.do(f"withdraw {name}")
    league.play(Random(1))
    found = league.now()
    assert (found.tournament.state, found.tournament.round) == ("finished", 2)
    check_rules(found.entrants, found.meetings, 3)
    assert {line.name: line.points for line in found.lines} == points(names, found.meetings)
    why = "It is over. Round 3 of 3 cannot be paired: those who are left have met, or may not meet."
    assert all(why in " ".join(league.mails(name, "the end")[0].text.split()) for name in [*names, director])


def test_who_signs_off_later_changes_nothing_of_a_tournament_that_is_over(league):
    names = league.start("ladder", 4, rounds=1)
    league.play(Random(1))
    before = league.now().text()
    with league.session.store.writing():
        users.sign_off(league.session, names[0])
    assert league.now().text() == before


def test_nobody_is_reminded_of_a_board_that_a_director_takes_away(league):
    league.start("roundrobin", 3)
    league.club.pass_time(days=4)
    clean_up(league.session)
    league.do("cancel")
    assert not [mail for mail in league.mails("player01", "^Nag:") if mail.reminds]
    assert [one.kind for one in league.club.store.events.since(0, 99)][-4:] == ["remove"] * 3 + ["cancel"]


def test_what_cannot_be_done_yet_names_all_states_in_which_it_can(league):
    league.open("swiss")
    with pytest.raises(Refused, match="is open; you can finish it only while it is running or closing"):
        league.do("finish")


def test_a_tournament_that_cannot_start_holds_up_no_other_one(league):
    names = league.signed_up(2)
    for pool in "ab":
        league.open("knockout", names, pool, starts=league.club.time)
    with league.session.store.writing():
        one = league.club.store.tournaments.get("symple", "a")
        league.club.store.tournaments.save(one._replace(options="-of-older-rules"))
    done = clean_up(league.session)
    assert [problem.partition(": ")[0] for problem in done.problems] == ["symple tournament a"]
    assert (league.now("a").tournament.state, league.now("b").tournament.state) == ("open", "running")


def test_a_tournament_of_a_game_with_a_fault_holds_up_no_other_one(league, monkeypatch):
    names = league.signed_up(2)
    for pool, options in ("a", "-size=7"), ("b", ""):
        league.open("knockout", names, pool, starts=league.club.time, options=options)
    new = symple.new
    monkeypatch.setattr(symple, "new", lambda **given: 1 / 0 if given.get("size") == 7 else new(**given))
    done = clean_up(league.session)
    assert done.problems == ("symple tournament a: ZeroDivisionError: division by zero",)
    assert (league.now("a").tournament.state, league.now("b").tournament.state) == ("open", "running")


def test_a_game_that_begins_anew_with_another_player_has_another_name(league):
    alice, _, carol = league.signed_up(3)
    league.start("pairs", [alice, "player02"])
    league.do(f"replace {alice} {carol}")
    assert league.running() == ["s2"]


def test_who_comes_back_to_a_round_robin_has_no_game_against_those_whom_they_have_met(league):
    league.start("roundrobin", 3)
    league.do("withdraw player01")
    assert league.do("add player01") == "player01 takes part in pool s."


def test_nobody_joins_and_leaves_as_often_as_he_likes_by_mail_because_the_director_hears_of_it(league):
    director, *_ = league.signed_up(1)
    league.club.signed_up("alice")
    league.open("knockout", director=director)
    with pytest.raises(Refused, match="You have joined tournaments 20 times today"):
        while True:
            for word in ("join", "leave"):
                league.club.say(f"symple {word} s alice {PASSWORDS['alice']}", sender="alice@players.example")
    assert len(league.club.mails(director)) == 40


def test_who_is_added_to_a_double_round_robin_meets_everybody_twice(league):
    *names, late = league.signed_up(4)
    league.start("roundrobin", names, double=True)
    league.do(f"add {late}")
    met = Counter(one.pair for one in league.now().meetings if late in one.pair)
    assert met == {pair: 1 for name in names for pair in ((name, late), (late, name))}


@pytest.mark.parametrize("state", ["open", "running"])
def test_nobody_joins_a_match_of_teams_which_would_become_another_tournament(league, state):
    *names, late = league.signed_up(5)
    league.start("roundrobin", names, teams={"a": names[:2], "b": names[2:]})
    with league.session.store.writing():
        league.club.store.tournaments.save(league.now().tournament._replace(state=state))
    with pytest.raises(Refused, match="is played by teams"):
        league.do(f"add {late}")


# Wide tables


@pytest.mark.parametrize(
    ("kind", "count", "rounds"), [("roundrobin", 32, None), ("swiss", 14, 12), ("roundrobin", 5, None)]
)
def test_a_table_of_any_width_arrives_whole_in_blocks_that_repeat_the_names(league, kind, count, rounds):
    names = league.start(kind, count, **({"rounds": rounds} if rounds else {}))
    league.play(Random(1), until=min(count, 14))
    mail = f"From: {names[0]}@players.example\nSubject: symple table s\n\n"
    assert handle(league.club.server, mail.encode(), None) == "command"
    _, *blocks, legend = league.club.mails()[-1].text.split("Places by")[0].split("\n\n")
    assert legend == ""
    head, *cells = league.now().rows(fits=True)
    columns = {}
    for block in blocks:
        heading, *rows = block.split("\n")
        assert max(map(len, [heading, *rows])) <= WIDTH
        begins = [match.start() for match in re.finditer(r"\S+( \S+)*", heading)]
        for first, end in zip(begins, [*begins[1:], WIDTH], strict=True):
            column = [row[first:end].strip() for row in rows]
            assert columns.setdefault(heading[first:end].strip(), column) == column
    assert columns == dict(zip(head, map(list, zip(*cells, strict=True)), strict=True))
    assert len(blocks) == {32: 3, 14: 2, 5: 1}[count]


def test_a_wide_table_scrolls_by_itself_in_html_and_is_parts_of_its_columns_in_the_text_of_a_mail(league):
    league.start("roundrobin", 32)
    league.club.say("symple table s", sender="player01@players.example")
    mail, now = league.club.mails()[-1], league.now()
    head, *rows = now.rows(fits=True)
    for shown, cells in ((html.page(mail, ADDRESS), [head, *rows]), (now.text("html"), now.rows(fits=False))):
        table = shown[shown.index('<div style="overflow-x: auto">\n<table>') :]
        assert [unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", table)] == [*chain(*cells)]
        assert (table.count("<tr>"), table.count("<th>")) == (33, len(cells[0]))
    assert max(map(len, mail.text.splitlines())) <= WIDTH < sum(len(cell) + 2 for cell in head)


class Hill(Kind):
    """The winner of a game stays and meets the next one in the list."""

    name, title = "hill", "king of the hill"
    takes_latecomers = False
    explained = "The last winner is first."

    def problem_of_players(self, one, count):
        return "" if count > 2 else "A hill needs three players."

    def next_pairs(self, progress):
        king = (
            progress.meetings[-1].pair[progress.meetings[-1].outcome != 1] if progress.meetings else progress.players[0]
        )
        return [
            (king, other) for other in progress.players[progress.tournament.round + 1 : progress.tournament.round + 2]
        ]

    def places(self, progress):
        return {progress.meetings[-1].first: 1}


def test_a_new_kind_of_tournaments_is_one_object_that_is_named_once(league, shell, monkeypatch):
    monkeypatch.setitem(TOURNAMENT_KINDS, "hill", Hill())
    names = league.signed_up(3)
    with pytest.raises(Refused, match=r"^A hill needs three players\.$"):
        league.start("hill", names[:2])
    league.start("hill", names)
    with pytest.raises(Refused, match="Nobody can be added to a king of the hill that has begun"):
        league.do("add player04")
    league.end("s1", "second")
    assert league.now().meetings[-1].pair == ("player02", "player03")
    league.end("s2", "first")
    found = league.now()
    assert (found.tournament.state, found.tournament.round, found.lines[0].name) == ("finished", 2, "player02")
    assert found.heading == "Pool s of Symple, round 2, finished, 2 of 2 games played"
    assert found.text().endswith("\n\nThe last winner is first.")
    assert contests.status_of_tournament(found)["type"] == "hill"
    refused = shell.run("tournament", "symple", "h", *names, "--type=king").stderr
    assert refused.startswith("--type=king is none of roundrobin, pairs, swiss, knockout, ladder, arena, hill.")


def test_a_planned_move_that_ends_a_game_begins_the_next_one_in_the_same_transaction(league):
    league.start("knockout", 2, best_of=3)
    session, rng = league.session, Random(24)
    while True:
        board = find_board(session, "symple", "s1")
        move, after = some(board.state, rng)
        reply, last = (None, None) if after.result() else some(after, rng)
        with session.store.writing():
            if last and last.result():
                plans.plan(session, board.row, board.row.opponent(board.mover), [(plans.Conditional(move, reply),)])
                board = find_board(session, "symple", "s1")
            turns.play_turn(session, board, board.mover, move)
        if board.is_over:
            break
    assert board.turns[-1][1:4] == (reply, (), True)
    assert league.running() == ["s2"]


def some(state, rng):
    move = state.parse(state.random(rng))
    return move, state.play(move)


def test_whoever_ends_the_last_game_of_a_round_is_not_refused_for_what_the_next_one_costs(league, monkeypatch):
    league.start("swiss", 4, rounds=2)
    monkeypatch.setattr(rounds, "_tell_of_boards", lambda *_: computing(0.8))
    with limited(0.4):
        for board in league.running():
            league.end(board, "second")
    assert league.now().tournament.round == 2


# Games that ended by time and go on


def test_it_is_refused_once_the_next_round_has_begun_and_the_director_can_decide_otherwise(league):
    league.start("swiss", 4, rounds=2)
    first, second = league.running()
    league.begin()
    loser = lose_by_time(league.club, first)
    reinstate(league.club, first)
    assert lose_by_time(league.club, first) == loser
    league.end(second, "first")
    with pytest.raises(Refused, match="Round 2 of pool s has begun since, so the game cannot go on"):
        reinstate(league.club, first)
    league.do(f"adjudicate {first} win {loser}")
    row = league.club.store.boards.get("symple", first)
    assert (row.winner, row.reason) == (loser, "adjudicated")
    counts = "SELECT won, lost FROM pool_players WHERE userid = ? AND pool = 's'"
    assert league.club.store.db.execute(counts, [loser]).fetchone() == (1, 0)


@pytest.mark.parametrize("kind", ["roundrobin", "swiss", "knockout", "ladder"])
def test_a_tournament_that_ended_with_that_game_ends_again_with_it(league, kind):
    league.start(kind, 2, **({} if kind in {"roundrobin", "knockout"} else {"rounds": 1}))
    [board] = league.running()
    league.begin()
    lose_by_time(league.club, board)
    assert league.now().tournament.state == "finished"
    reinstate(league.club, board)
    assert (league.running(), league.now().tournament.is_on) == ([board], True)
    lose_by_time(league.club, board)
    assert league.now().tournament.state == "finished"


def test_a_ladder_changes_back_and_goes_on_while_its_round_is_on(league):
    league.start("ladder", 4, rounds=2)
    first, _ = league.running()
    league.begin()
    places = [line.name for line in league.now().lines]
    lose_by_time(league.club, first)
    reinstate(league.club, first)
    assert [line.name for line in league.now().lines] == places


def test_an_arena_goes_on_where_no_other_game_of_the_players_has_begun(league):
    until = league.club.time.replace(year=2030)
    league.start("arena", 3, until=until)
    [board] = league.running()
    league.begin()
    lose_by_time(league.club, board)
    assert len(league.running()) == 1  # somebody was free, and meets one of the two
    with pytest.raises(Refused, match="A player has begun another game of pool s since"):
        reinstate(league.club, board)


def test_in_an_arena_that_has_closed_nothing_follows(league):
    league.start("arena", 2, until=league.club.time.replace(year=2027))
    [board] = league.running()
    league.begin()
    league.club.pass_time(days=400)
    lose_by_time(league.club, board)
    assert league.running() == []
    reinstate(league.club, board)
    assert league.running() == [board]


def test_a_round_whose_end_was_the_loss_leaves_full_time_for_the_move(league):
    league.start("swiss", 2, rounds=1, round_days=3)
    [board] = league.running()
    league.begin()
    league.club.pass_time(days=3)
    lose_by_time(league.club, board)
    reinstate(league.club, board)
    row = league.club.store.boards.get("symple", board)
    assert (row.until - league.club.time).days == 7  # what a tournament allows for a move


def test_the_boards_of_a_tournament_take_a_clock_that_grows_but_no_end_of_the_round(league, shell):
    names = league.signed_up(2)
    refused = shell.run("tournament", "symple", "s", *names, "--clock=5+1", "--type=swiss", "--round-days=9")
    assert "With --clock, rounds have no --round-days" in refused.stderr
    assert shell.run("tournament", "symple", "s", *names, "--clock=5+1/8", "--nagtime=2").returncode == 0
    rows = [league.club.store.boards.get("symple", board) for board in league.running()]
    assert {clocks.all_options(row) for row in rows} == {"--nagtime=2 --clock=5+1/8"}
    assert shell.json("tournament", "symple", "open", "--open", "--clock=5+1/8")["clock"] == "5+1/8"
    assert {(row.first_left, row.second_left) for row in rows} == {(5 * 86400, 5 * 86400)}
    assert "5 days, 1 more for each move, 8 at most" in shell.done("tournament", "symple", "s", "status")
