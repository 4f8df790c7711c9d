"""Challenges (docs/command-language.md, section 4)."""

import pytest

from pbm.mail.incoming import handle

from contract import SENDER, text_to, to


def test_the_same_userid_twice_plays_against_himself(both_ways):
    both_ways.give("alice", "symple challenge -size=5 alice alice")
    for move in ("c3", "b1", "resign"):
        both_ways.signs("alice", f"symple move 101 ME {move}")
    assert both_ways.store.players.results_of_user("symple", "alice") == []
    assert "No game of Symple is over yet" in text_to(SENDER, both_ways.give("carol", "symple history"))


def test_a_player_at_his_limit_of_active_boards_is_named_with_the_limit(both_ways):
    both_ways.signs("bob", "symple limit ME 2")
    both_ways.begin("spiro challenge alice bob")
    both_ways.begin()
    both_ways.begin("symple challenge -size=5 bob carol")
    told = both_ways.refused("alice", "symple challenge alice bob")
    assert "bob has 2 active boards, and takes challenges only below 2" in told.text
    both_ways.signs("bob", "symple resign 101 ME")
    both_ways.give("alice", "symple challenge alice bob")


def test_a_board_against_oneself_counts_once_for_the_limit(both_ways):
    both_ways.signs("alice", "symple limit ME 2")
    both_ways.give("alice", "symple challenge alice alice")
    both_ways.give("alice", "symple challenge alice alice")
    both_ways.refused("alice", "symple challenge alice alice")


def test_who_refuses_challenges_of_a_game_becomes_inactive_in_it_alone_and_all_problems_are_told_at_once(both_ways):
    both_ways.signs("bob", "symple reject ME")
    both_ways.give("alice", "symple challenge alice bob")
    assert both_ways.store.players.get("symple", "bob").inactive
    both_ways.give("alice", "spiro challenge alice bob")
    assert both_ways.store.boards.unfinished() == [("spiro", "101")]
    told = both_ways.give("alice", "symple challenge -size=4 --nagtime=x nosuch bob")
    assert to(told) == [(SENDER, "Invalid challenge")]
    for problem in ("'nosuch'", "bob takes no challenges", "-size=n", "--nagtime"):
        assert problem in told[0].text


@pytest.mark.parametrize("refuses", ["limit ME 1", "reject ME"])
def test_a_user_with_active_boards_who_refuses_does_not(begun, refuses):
    begun.signs("bob", f"symple {refuses}")
    begun.give("alice", "symple challenge alice bob")
    assert not begun.store.players.get("symple", "bob").inactive


@pytest.mark.parametrize("words", ["", "alice", "alice bob carol"])
def test_a_challenge_names_exactly_two_users(both_ways, words):
    assert "USERID1 USERID2" in both_ways.refused("alice", f"symple challenge {words}").text


def test_a_challenge_fills_in_the_usual_options_and_takes_one_from_what_each_player_seeks(both_ways):
    both_ways.give("alice", "symple challenge -penalty=6 alice bob")
    assert both_ways.at().options == {"size": 19, "penalty": 6}
    both_ways.refused("alice", "spora challenge -pie -komi=3 alice bob")
    both_ways.signs("alice", "symple seek ME 2")
    for left in (1, 0, 0):
        both_ways.give("carol", "symple challenge alice bob")
        assert both_ways.store.players.get("symple", "alice").seeking == left
        assert both_ways.store.players.get("symple", "bob").seeking == 0


def test_who_subscribes_to_all_becomes_a_subscriber_of_the_new_board_unless_he_plays(both_ways):
    for name in ("alice", "carol", "dora"):
        both_ways.signs(name, "symple subscribe ME all")
    both_ways.give("alice", "symple challenge -size=5 alice bob")
    assert both_ways.store.boards.followers("symple", "101")["subscriber"] == ["carol", "dora"]
    told = both_ways.signs("alice", "symple move 101 ME c3")
    assert sorted(one.to for one in told) == ["alice", "bob", "carol", "dora"]


def test_by_mail_a_challenge_comes_from_a_confirmed_address_of_any_user(by_mail):
    raw = by_mail.raw("stranger", "symple challenge alice bob")
    handle(by_mail.server, raw, None)
    assert by_mail.outbox() == [(None, "Invalid challenge")]
    assert by_mail.store.boards.unfinished() == []
    told = by_mail.give("carol", "symple challenge alice bob")
    assert to(told) == [(name, "New Symple Board 101 alice") for name in ("alice", "bob", SENDER)]


def test_an_address_starts_50_boards_a_day_by_mail_and_a_shell_any_number(by_mail):
    with by_mail.store.writing():
        by_mail.store.trust.use("challenge", "carol@players.example", f"{by_mail.time:%Y-%m-%d}", 50)
    assert "50" in by_mail.refused("carol", "symple challenge alice bob").text
    by_mail.say("symple challenge alice bob")
    by_mail.give("dora", "symple challenge alice bob")
    by_mail.pass_time(days=1)
    by_mail.give("carol", "symple challenge alice bob")
    assert len(by_mail.store.boards.unfinished()) == 3


def test_only_a_shell_names_boards_and_a_name_is_given_once(four, by_mail):
    told = by_mail.refused("carol", "symple challenge --name=a1 alice bob")
    assert "Only the operator" in told.text
    four.give("carol", "symple challenge --name=A1 alice bob")
    assert four.at("a1").row.pool == "a"
    assert "already" in four.refused("carol", "symple challenge --name=A1 carol dora").text
    four.begin("spiro challenge --name=a1 alice bob")


@pytest.mark.parametrize("name", ["101", "a", "1a", "a-1", "a1b", "é1", "a1/..", "a" * 13 + "1"])
def test_the_name_of_a_tournament_board_is_letters_and_then_digits(four, name):
    assert "--name=" in four.refused("carol", f"symple challenge --name={name} alice bob").text


def test_a_tournament_board_ignores_limit_and_reject(four):
    four.signs("alice", "symple limit ME 1")
    four.signs("bob", "symple reject ME")
    four.begin("symple challenge --name=a1 alice bob")
    four.begin("symple challenge --name=a2 alice bob")
    assert four.store.boards.totals("symple")[1] == 2


def test_a_user_who_has_signed_off_cannot_be_challenged(both_ways):
    both_ways.signs("dora", "signoff ME")
    assert "'dora'" in both_ways.refused("alice", "symple challenge alice dora").text
