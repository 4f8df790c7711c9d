"""Plans and what else happens on a board: vacations, clocks, ends, swapped sides.

Queued moves, votes and undo: see test_contract_moves; robots: test_residents; tournaments: test_tournaments.
"""

import pytest

from contract import SENDER, text_to

PLAN = "symple plan 101 ME if e5 then a5 if d1 then a3"


@pytest.fixture
def planned(game):
    """On Symple 101, bob is to make the fourth move, and alice has a plan."""
    game.plays("a1")
    game.signs("alice", PLAN)
    return game


def ended(members):
    return members.at().winner, members.at().plans


# Vacations and clocks


def test_a_plan_is_played_while_its_owner_is_on_vacation(planned):
    planned.signs("alice", f"vacation ME {planned.time:%Y-%m-%d} {planned.time:%Y-%m-%d}")
    planned.signs("bob", "symple move 101 ME e5")
    assert planned.played()[-1] == "(a5)"


def test_a_planned_move_takes_no_time(four):
    four.begin("symple challenge -size=5 --totaltime=3 alice bob")
    four.plays("c3", "b1", "a1")
    four.signs("alice", PLAN)
    four.pass_time(days=2)
    for move, reply in ("e5", "a5"), ("d1", "a3"):
        four.signs("bob", f"symple move 101 ME {move}")
        assert four.played()[-1] == f"({reply})"
    assert four.at().used(four.time) == [0, 2 * 86400]


def test_who_forfeits_by_the_time_of_a_move_does_so_whatever_the_other_has_planned(planned):
    planned.pass_time(days=21)
    planned.clean()
    assert ended(planned) == ("alice", {})
    assert planned.played()[-1] == "(Forfeit)"


def test_who_plans_when_the_total_time_of_the_opponent_is_up_has_won(four):
    four.begin("symple challenge -size=5 --totaltime=1 alice bob")
    four.plays("c3", "b1", "a1")
    four.pass_time(days=1)
    told = four.signs("alice", PLAN)
    assert ended(four) == ("alice", {})
    assert "bob had used up their time" in text_to(SENDER, told)


# Ends


def test_a_resignation_of_the_opponent_triggers_no_plan(planned):
    planned.signs("alice", "symple queue 101 ME d5")
    told = planned.signs("bob", "symple resign 101 ME")
    assert (planned.played()[-1], ended(planned)) == ("Resign", ("alice", {}))
    assert "plan" not in text_to("alice", told)


# Swapped sides


def test_an_answer_that_swaps_sides_can_be_planned_and_its_owner_goes_on(four):
    four.begin("spora challenge -size=5 -pie alice bob")
    told = four.signs("bob", "spora plan 101 ME if komi=0 then black")
    assert "if komi=0 then black" in text_to("bob", told)
    four.signs("alice", "spora move 101 ME komi=0")
    assert four.played(game="spora") == ["komi=0", "(black)"]
    assert (four.at(game="spora").turn, four.at(game="spora").state.seats) == ("bob", (1, 0))
