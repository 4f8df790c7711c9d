"""Challenges (docs/command-language.md, section 4)."""

import pytest

from helpers.examples import rules
from helpers.members import SENDER, to
from helpers.stories import follow


@pytest.mark.parametrize(
    "story",
    rules("""
the same userid twice plays against themselves
    challenge alice alice / alice: move c3 / alice: move b1 / alice: resign / turn / alice has rating None / \
carol: symple history / sender reads No game of Symple is over yet
a player at their limit of active boards is named with the limit
    bob: symple limit ME 2 / challenge spiro alice bob / challenge alice bob / challenge bob carol / \
alice refused: symple challenge alice bob / \
sender reads bob has 2 active boards, and takes challenges only below 2 / bob: symple resign 101 ME / \
challenge alice bob
a board against oneself counts once for the limit
    alice: symple limit ME 2 / challenge alice alice / challenge alice alice / \
alice refused: symple challenge alice alice
a user with active boards who refuses does not become inactive
    challenge alice bob / bob: symple limit ME 1 / alice refused: symple challenge alice bob / bob has inactive False
    challenge alice bob / bob: symple reject ME / alice refused: symple challenge alice bob / bob has inactive False
a challenge names exactly two users
    alice refused: symple challenge / sender reads USERID1 USERID2 / alice refused: symple challenge alice / \
sender reads USERID1 USERID2 / alice refused: symple challenge alice bob carol / sender reads USERID1 USERID2
accept and reject take all challenges or none, and say if it is so already
    alice refused: symple accept ME / sender reads already / alice: symple reject ME / \
alice refused: symple reject ME / sender reads already / bob: symple challenge bob alice / \
sender reads alice takes no challenges / \
alice: symple accept ME / bob: symple challenge bob alice / alice gets New Symple Board 101 bob
seek and limit are said without a number, and seek in the standings
    alice: symple seek ME 3 / alice: symple seek ME / alice reads You seek 3 challenges of Symple. / \
carol: symple standings / sender reads alice 3 / alice: symple limit ME / alice reads all challenges / \
alice: symple limit ME 4 / alice: symple limit ME / alice reads up to 4 active boards / alice has most 4 / \
alice: symple seek ME 1 / alice reads You seek 1 challenge of Symple. / alice: symple seek ME 0 / \
alice reads You seek no challenges of Symple.
who refuses challenges of a game becomes inactive in it alone, and all problems are told at once
    bob: symple reject ME / alice: symple challenge alice bob / bob has inactive True / \
alice: spiro challenge alice bob / bob gets New Spiro Board 101 alice / \
alice: symple challenge -size=4 --nagtime=x nosuch bob / told sender / sender gets Invalid challenge / \
sender reads 'nosuch' / sender reads bob takes no challenges / sender reads -size=n / sender reads --nagtime
a challenge takes one from what each player seeks
    alice: symple seek ME 2 / challenge alice bob / alice has seeking 1 / bob has seeking 0 / challenge alice bob / \
alice has seeking 0 / challenge alice bob / alice has seeking 0
who subscribes to all becomes a subscriber of the new board, unless they play
    alice: symple subscribe ME all / carol: symple subscribe ME all / dora: symple subscribe ME all / \
challenge alice bob / subscribers carol dora / alice: move c3 / told alice bob carol dora
a user who has signed off cannot be challenged
    dora: signoff ME / alice refused: symple challenge alice dora / sender reads 'dora'
a tournament board ignores limit and reject
    alice: symple limit ME 1 / bob: symple reject ME / challenge --name=a1 alice bob / challenge --name=a2 alice bob / \
turn alice
    """),
)
def test_a_challenge_begins_a_board_or_says_why_not(both_ways, story):
    follow(both_ways, story)


def test_a_challenge_fills_in_the_usual_options(both_ways):
    both_ways.give("alice", "symple challenge -penalty=6 alice bob")
    assert both_ways.at().options == {"size": 19, "penalty": 6}


def test_by_mail_a_challenge_comes_from_a_confirmed_address_of_any_user(by_mail):
    assert by_mail.refused("stranger", "symple challenge alice bob").subject == "Invalid challenge"
    told = by_mail.give("carol", "symple challenge alice bob")
    assert to(told) == [(name, "New Symple Board 101 alice") for name in ("alice", "bob", SENDER)]


def test_nobody_becomes_inactive_by_a_challenge_of_a_stranger_who_does_not_learn_either_who_takes_none(by_mail):
    by_mail.signs("bob", "symple reject ME")
    refusal = by_mail.refused("stranger", "symple challenge alice bob")
    assert "bob takes no challenges" not in refusal.text
    assert not by_mail.store.players.get("symple", "bob").inactive


def test_an_address_starts_50_boards_a_day_by_mail_and_a_shell_any_number(by_mail):
    with by_mail.store.writing():
        by_mail.store.trust.use("challenge", "carol@players.example", f"{by_mail.time:%Y-%m-%d}", 50)
    assert "50" in by_mail.refused("carol", "symple challenge alice bob").text
    by_mail.say("symple challenge alice bob")
    by_mail.give("dora", "symple challenge alice bob")
    by_mail.pass_time(days=1)
    by_mail.give("carol", "symple challenge alice bob")
    assert by_mail.store.boards.totals() == (3, 3)


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
