"""Who meets whom (docs/tournaments.md): Swiss as FIDE's rules have it and its checker sees it, knockout and ladder."""

import subprocess
import sys
import time
from collections import Counter
from random import Random
from types import SimpleNamespace

import pytest
from caissify_pairings.fpc import check_trf
from hypothesis import example, given
from hypothesis import strategies as st

from pbm.tournaments import dutch, knockout, ladder
from pbm.tournaments.arena import Arena
from pbm.tournaments.kinds import NOBODY, Entrant, Kind, Meeting, Progress, Round, fewest_firsts, points
from pbm.tournaments.knockout import Knockout

from helpers.examples import IS_QUICK, examples
from helpers.pairings import bye, check_rules, within_c3

NAMES = [f"p{number:03}" for number in range(1, 201)]
RESULTS = [1, 1, 0, -1, -1]


def running(field, meetings, **settings):
    """A tournament that is on."""
    given = {"best_of": 1, "tie_breaks": Kind.tie_breaks, **settings}
    return Progress(SimpleNamespace(state="running", **given), field, meetings)


def paired(field, meetings, number, rounds=0, never=()):
    """The pairs of a round of a Swiss tournament."""
    return dutch.paired(running(field, meetings, round=number - 1, rounds=rounds, apart=never))


def entrants(count):
    return [Entrant(name) for name in NAMES[:count]]


def played(pairs, number, rng, field=()):
    asked = {one.name for one in field if number in one.byes}
    return [Meeting(number, one, other, int(one not in asked)) if other == NOBODY
            else Meeting(number, one, other, rng.choice(RESULTS)) for one, other in pairs]  # fmt: skip


def tournament(count, rounds, rng, *, until=None):
    """The meetings of a tournament of random results, until it is over, or until that round."""
    field, meetings = entrants(count), []
    for number in range(1, (until or rounds) + 1):
        pairs = paired(field, meetings, number, rounds)
        if not pairs:
            break
        check_everybody(pairs, field, number)
        meetings += played(pairs, number, rng)
    return field, meetings


def eventful(rng, count, rounds, never=()):
    """A whole tournament: some leave and come late, ask for a bye of half a point, and have games cancelled."""
    field, meetings = entrants(count), []
    for number in range(1, rounds + 1):
        if number < rounds:
            field = [one._replace(byes=one.byes | {number}) if not one.byes and rng.random() < 0.05 else one
                     for one in field]  # fmt: skip
        pairs = paired(field, meetings, number, rounds, never)
        if not pairs:
            break
        check_everybody(pairs, field, number)
        games = played(pairs, number, rng, field)
        meetings += [one._replace(outcome=None, is_void=True) if not one.is_bye and rng.random() < 0.02 else one
                     for one in games]  # fmt: skip
        field = [
            one._replace(withdrawn=number + 1) if one.withdrawn is None and rng.random() < 0.03 else one
            for one in field
        ]
        field += [Entrant(NAMES[len(field)], joined=number + 1)] if rng.random() < 0.3 else []
    return field, meetings


def with_no_shows(rng, count, rounds):
    """A whole tournament in which games are lost by players who do not come; some of them leave."""
    field, meetings = entrants(count), []
    for number in range(1, rounds + 1):
        pairs = paired(field, meetings, number, rounds)
        if not pairs:
            break
        check_everybody(pairs, field, number)
        for game in played(pairs, number, rng):
            is_played = game.is_bye or rng.random() < 0.8
            absent = rng.choice(game.pair)
            meetings.append(game if is_played else forfeit(number, *game.pair, absent))
            if not is_played and rng.random() < 0.5:
                field = [one._replace(withdrawn=number + 1) if one.name == absent else one for one in field]
    return field, meetings


def forfeit(number, first, second, absent):
    return Meeting(number, first, second, -1 if absent == first else 1, is_short=True, is_forfeit=True)


def check_everybody(pairs, field, number):
    """Everybody who takes part stands in one pair."""
    here = [one.name for one in field if one.is_in(number)]
    assert sorted(name for pair in pairs for name in pair if name != NOBODY) == sorted(here)


def wrong_rounds(field, meetings, rounds):
    """What the checker of the library has to say against a tournament, from the report alone."""
    found = check_trf(dutch.report(running(field, meetings, rounds=rounds, apart=()), "A tournament"))
    assert found["summary"]["rounds_checked"] == max(one.round for one in meetings)
    return [one for one in found["rounds"] if not one["match"]]


def check_all(field, meetings, rounds):
    """A tournament keeps the rules, and the checker accepts its report, as far as it follows the rules itself."""
    check_rules(field, meetings, rounds)
    spared = rounds_with_a_bye_after_others(field, meetings)
    assert [one for one in wrong_rounds(field, meetings, rounds) if one["round"] not in spared] == []


@examples(60)
@given(st.integers(4, 15 if IS_QUICK else 30), st.integers(0, 2**32), st.data())
def test_a_swiss_tournament_in_which_much_happens_keeps_the_rules_and_its_report_is_accepted(count, seed, data):
    rounds = data.draw(st.integers(1, count // 2))
    field, meetings = eventful(Random(seed), count, min(rounds, 9))
    if meetings:
        check_all(field, meetings, min(rounds, 9))


@pytest.mark.long
@pytest.mark.parametrize("seed", [*range(0, 20, 3), 28])  # the larger ones take seconds each
def test_the_report_of_a_larger_tournament_is_accepted(seed):
    check_all(*eventful(Random(seed), 20 + seed, 9), 9)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 80))])
def test_the_checker_agrees_with_every_round_of_a_tournament_with_no_shows(seed):
    rng = Random(seed)
    count = rng.randint(4, 24)
    rounds = min(9, rng.randint(1, count // 2))
    field, meetings = with_no_shows(rng, count, rounds)
    assert wrong_rounds(field, meetings, rounds) == []
    unplayed = [one for one in meetings if one.is_unplayed]
    for last in (one for one in unplayed if one.is_bye):
        assert last.first not in {one.winner for one in unplayed if one.round < last.round}


def test_who_has_won_because_the_opponent_did_not_come_does_not_get_the_bye():
    field = entrants(5)
    begun = [Meeting(1, "p001", "p003", 1), forfeit(1, "p005", "p002", "p002"), bye(1, "p004")]
    lost = [Meeting(2, "p004", "p005", 1), Meeting(2, "p003", "p001", 1), bye(2, "p002")]
    # p001, p002, p003 and p005 have a point each; p002 has had a bye, and p005 is the last of them
    assert [one for one, other in paired(field, begun + lost, 3, 4) if other == NOBODY] == ["p003"]


def test_a_game_that_was_not_played_gives_no_side_and_the_two_can_still_meet():
    field = entrants(2)
    begun = [forfeit(1, "p001", "p002", "p001")]
    # with a side, p002 would begin this time; without one, the first of all begins, as in a first round
    assert paired(field, begun, 2, 2) == [("p001", "p002")]


def rounds_with_a_bye_after_others(field, meetings):
    """The rounds in which a bye is given out while somebody has missed a round, or had half a point for one.

    FIDE's rules, and the library when it pairs, let them have the bye; its checker does not.
    """
    half = {(one.round, one.first) for one in meetings if one.is_bye and not one.outcome}
    missed = half | {(one.joined - 1, one.name) for one in field if one.joined > 1}
    first = min((number for number, _ in missed), default=None)
    return {one.round for one in meetings if one.is_bye and one.outcome and first is not None and one.round > first}


def test_a_report_says_of_each_round_whom_a_player_has_met_on_which_side_with_which_result():
    field = [*entrants(3), Entrant("p004", joined=2)]
    meetings = [Meeting(1, "p001", "p002", 1), bye(1, "p003"), Meeting(2, "p003", "p001", 0), bye(2, "p002")]
    meetings[3] = meetings[3]._replace(outcome=0)
    lines = dutch.report(
        running(field, [*meetings, Meeting(3, "p002", "p004")], rounds=3, apart=[["p001", "p004"]]), "Pool s of Symple"
    )
    assert [line[91:].split() for line in lines.split("\n") if line.startswith("001")] == [
        ["2", "w", "1", "3", "b", "="],
        ["1", "b", "0", "0000", "-", "H", "4", "w"],
        ["0000", "-", "U", "1", "w", "="],
        ["0000", "-", "Z", "2", "b"],
    ]
    assert {"012 Pool s of Symple", "062 4", "XXR 3", "XXP 1 4"} <= {*lines.split("\n")}


def test_a_report_tells_forfeits_and_games_of_less_than_one_move_and_rates_neither():
    field = entrants(6)
    meetings = [
        forfeit(1, "p001", "p004", "p004"),
        Meeting(1, "p005", "p002", -1, is_short=True),
        Meeting(1, "p003", "p006", 0, is_short=True),
    ]
    lines = dutch.report(running(field, meetings, rounds=1, apart=()), "Pool s of Symple").split("\n")
    # the signs of TRF16: + and - for a forfeit, W, D and L for a game that lasted less than one move
    assert [line[91:].split() for line in lines if line.startswith("001")] == [
        ["4", "w", "+"],
        ["5", "b", "W"],
        ["6", "w", "D"],
        ["1", "b", "-"],
        ["2", "w", "L"],
        ["3", "b", "D"],
    ]


def test_a_report_has_the_places_of_the_table_which_can_be_shared_and_no_rated_players():
    field = entrants(4)
    meetings = [Meeting(1, "p003", "p001", 1), Meeting(1, "p002", "p004", 0)]
    lines = dutch.report(running(field, meetings, rounds=1, apart=()), "Pool s of Symple").split("\n")
    assert [line[85:89].strip() for line in lines if line.startswith("001")] == ["4", "2", "1", "2"]
    assert {"062 4", "072 0"} <= {*lines}


def test_the_checker_does_not_accept_two_pairs_that_have_changed_partners():
    field, meetings = tournament(12, 5, Random(1))
    one, other = [each for each in meetings if each.round == 4][:2]
    changed = {one: one._replace(second=other.second), other: other._replace(second=one.second)}
    assert wrong_rounds(field, [changed.get(each, each) for each in meetings], 5)


# As directors know it


def test_in_the_first_round_the_upper_half_meets_the_lower_half_but_those_who_are_never_to_meet():
    pairs = paired(entrants(8), [], 1)
    assert pairs == [("p001", "p005"), ("p006", "p002"), ("p003", "p007"), ("p008", "p004")]
    pairs = paired(entrants(8), [], 1, 3, [["p001", "p005"]])
    assert {frozenset(pair) for pair in pairs} == {
        frozenset(pair) for pair in (("p001", "p006"), ("p002", "p005"), ("p003", "p007"), ("p004", "p008"))
    }


def test_who_came_late_is_not_given_the_bye_of_their_first_round():
    field, meetings = tournament(8, 4, Random(1), until=1)
    pairs = paired([*field, Entrant("p009", joined=2)], meetings, 2, 4)
    assert [one for one, other in pairs if other == NOBODY] != ["p009"]


# Beside a search through all pairings


def all_pairings(names):
    """All ways to put names into pairs; with one name left over, a bye."""
    names = [*names, NOBODY] if len(names) % 2 else [*names]
    if not names:
        yield []
        return
    for other in names[1:]:
        for rest in all_pairings([name for name in names[1:] if name != other]):
            yield [(names[0], other), *rest]


def is_legal(pairing, meetings):
    """Whether nobody meets anybody again, or has a second bye, and all can be seated within C3."""
    met = {frozenset(one.pair) for one in meetings}
    return not any(frozenset(pair) in met for pair in pairing) and all(
        NOBODY in pair or any(
            all(within_c3(name, [*meetings, Meeting(99, *seated)]) for name in pair) for seated in (pair, pair[::-1])
        ) for pair in pairing
    )  # fmt: skip


def worth(pairing, score):
    """What FIDE asks of a round first: a low bye (C5), then as many pairs among the best as can be (C6)."""
    idle = [score[name] for pair in pairing if NOBODY in pair for name in pair if name]
    best = max(score.values())
    return idle, -sum(all(score.get(name) == best for name in pair) for pair in pairing)


@examples(150)
@given(st.integers(4, 8), st.integers(1, 4), st.integers(0, 2**32))
def test_no_pairing_of_8_players_has_a_lower_bye_or_more_pairs_of_the_best(count, rounds, seed):
    rng = Random(seed)
    field, meetings = entrants(count), []
    for number in range(1, min(rounds, count // 2) + 1):
        pairs = paired(field, meetings, number)
        score = points([one.name for one in field], meetings)
        legal = [one for one in all_pairings([*score]) if is_legal(one, meetings)]
        assert worth(pairs, score) == min(worth(one, score) for one in legal)
        meetings += played(pairs, number, rng)


# Where the rules leave little


@examples(100)
@given(st.integers(3, 10), st.integers(0, 2**32))
def test_a_field_can_play_half_of_the_rounds_there_are_and_ends_before_anybody_meets_twice(count, seed):
    _, meetings = tournament(count, count - 1 + count % 2, Random(seed))
    assert max(Counter(frozenset(one.pair) for one in meetings).values()) == 1
    assert max(one.round for one in meetings) >= (count + 1) // 2


def test_sides_are_set_aside_where_they_leave_no_round():
    field = entrants(2)
    others = [Meeting(number, one, f"p{2 * number + at:03}", 1) for number in (2, 3) for at, one in
              enumerate(("p001", "p002"))]  # fmt: skip
    field += [Entrant(one.second, withdrawn=4) for one in others]
    assert paired(field, others, 4, 6) == [("p002", "p001")]  # both have begun twice


def test_no_round_is_found_at_once_where_none_is_possible():
    one, other = NAMES[:31], NAMES[31:60]  # both odd, and nobody of one meets anybody of the other
    never = [[first, second] for first in one for second in other]
    begin = time.process_time()
    assert paired(entrants(60), [], 1, 5, never) == []
    assert time.process_time() - begin < 20


@examples(40)
@given(st.integers(8, 20), st.integers(0, 2**32))
@example(8, 500_000)  # the lowest, who came late, is needed as the opponent of somebody else
def test_those_who_are_never_to_meet_never_do(count, seed):
    rng = Random(seed)
    never = [rng.sample(NAMES[:count], 3), rng.sample(NAMES[:count], 2), [NAMES[0], NAMES[count // 2]]]
    field, meetings = eventful(rng, count, 4, never)
    assert not any(len({*one.pair} & {*group}) > 1 for one in meetings for group in never)
    if meetings:
        check_rules(field, meetings, 4, never)


# Large fields


@pytest.mark.long
def test_200_players_are_paired_in_seconds():
    rng = Random(1)
    field = entrants(200)
    meetings = []
    taken = []
    for number in range(1, 10):
        begin = time.process_time()
        pairs = paired(field, meetings, number, 9)
        taken.append(time.process_time() - begin)
        meetings += played(pairs, number, rng)
    check_rules(field, meetings)
    assert max(taken) < 20


@pytest.mark.parametrize("count", [64, pytest.param(99, marks=pytest.mark.long)])
def test_what_is_looked_at_in_a_large_field_leads_to_what_all_pairs_lead_to(monkeypatch, count):
    rng = Random(7)
    field = entrants(count)
    meetings = []
    for number in range(1, 3 if IS_QUICK else 4):
        found = paired(field, meetings, number, 6)
        with monkeypatch.context() as patched:
            patched.setattr(dutch, "LARGE", 1000)
            assert paired(field, meetings, number, 6) == found
        meetings += played(found, number, rng)


def test_the_library_is_loaded_only_where_a_round_is_paired():
    code = "import pbm.actions.directing, sys; sys.exit({'caissify_pairings', 'networkx'} & {*sys.modules} != set())"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Knockout and ladder


@examples(200)
@given(st.integers(2, 40), st.sampled_from([1, 2, 3]), st.integers(0, 2**32))
def test_a_knockout_leaves_one_and_its_places_are_those_of_the_rounds(count, best_of, seed):
    rng = Random(seed)
    field = entrants(count)
    meetings = []
    while True:
        number, pairs, _ = Knockout().due(running(field, meetings, best_of=best_of))
        if not pairs:
            break
        meetings += [Meeting(number, *pair, rng.choice(RESULTS)) for pair in pairs]
    places = Knockout().places(running(field, meetings, best_of=best_of))
    assert Counter(places.values())[1] == 1
    assert 2 ** (number - 1) < count <= 2**number
    through = [name for name, place in places.items() if place <= 2]
    assert len(through) == 2
    if best_of == 1 and all(one.outcome for one in meetings):
        assert len(meetings) == count - 1


def test_in_a_knockout_the_lower_placed_begins_then_the_other_ties_are_won_by_the_higher_and_the_best_two_meet_last():
    field = entrants(4)
    assert Knockout().due(running(field, [])) == Round(1, [("p004", "p001"), ("p003", "p002")])
    tied = [Meeting(1, "p004", "p001", 0), Meeting(1, "p003", "p002", 1)]
    assert Knockout().due(running(field, tied)) == Round(1, [("p001", "p004")])
    won = [Meeting(1, "p004", "p001", -1), Meeting(1, "p003", "p002", 1)]
    assert Knockout().due(running(field, won)) == Round(2, [("p001", "p003")])
    ties = [Meeting(1, "p001", "p002", 0), Meeting(1, "p002", "p001", 0)]
    assert Knockout().due(running(entrants(2), ties)) == Round(1, [("p001", "p002")])
    assert Knockout().places(running(entrants(2), [*ties, ties[0]])) == {"p001": 1, "p002": 2}
    assert knockout.bracket(8) == [0, 7, 3, 4, 1, 6, 2, 5]


def test_on_a_ladder_the_winner_from_below_changes_places_and_others_stay():
    field = entrants(4)
    begun = [Meeting(1, "p002", "p001", 1), Meeting(1, "p004", "p003", -1)]
    places = {"p002": 1, "p001": 2, "p003": 3, "p004": 4}
    assert ladder.Ladder().places(running(field, begun)) == places
    assert ladder.Ladder().next_pairs(running(field, begun, round=1)) == [
        ("p003", "p001")
    ]  # both were second before, and who is below begins
    assert ladder.rungs(running([*field[:1], field[1]._replace(withdrawn=2), *field[2:]], begun)) == [
        "p001",
        "p003",
        "p004",
    ]


def test_who_has_begun_less_often_begins():
    assert fewest_firsts("p001", "p002", [Meeting(1, "p001", "p003", 1)]) == ("p002", "p001")
    assert fewest_firsts("p001", "p002", [Meeting(1, "p002", "p003", 1)]) == ("p001", "p002")


def test_in_an_arena_nobody_meets_the_same_player_twice_in_a_row_unless_there_are_only_two():
    met = [Meeting(1, "p001", "p002", 0), Meeting(1, "p003", "p004", 0)]
    assert Arena().due(running(entrants(4), met)) == Round(1, [("p003", "p001"), ("p004", "p002")])
    assert Arena().due(running(entrants(2), met[:1])) == Round(1, [("p002", "p001")])
