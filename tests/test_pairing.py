"""Who meets whom (docs/tournaments.md): Swiss beside a plain search through all pairings, and its rules at large."""

import time
from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbm.tournaments import knockout, ladder, swiss
from pbm.tournaments.meetings import NOBODY, Entrant, Meeting, bye, fewest_firsts, points

from examples import examples

NAMES = [f"p{number:03}" for number in range(1, 201)]
RESULTS = [1, 1, 0, -1, -1]


def entrants(count):
    return [Entrant(name) for name in NAMES[:count]]


def played(pairs, number, rng):
    return [bye(number, one) if other == NOBODY else Meeting(number, one, other, rng.choice(RESULTS))
            for one, other in pairs]  # fmt: skip


def tournament(count, rounds, rng, *, leaves=0.0):
    """The meetings of a whole tournament of random results; so many of its players leave after each round."""
    field, meetings = entrants(count), []
    for number in range(1, rounds + 1):
        pairs = swiss.paired(field, meetings, number, rounds)
        here = [one.name for one in field if one.is_in(number)]
        assert sorted(name for pair in pairs for name in pair if name != NOBODY) == sorted(here)
        meetings += played(pairs, number, rng)
        field = [
            one if one.withdrawn or rng.random() >= leaves else one._replace(withdrawn=number + 1) for one in field
        ]
    return field, meetings


def balance(name, meetings):
    return sum((one.first == name) - (one.second == name) for one in meetings if not one.is_bye)


def check_rules(field, meetings):
    """Nobody meets anybody twice, or has two byes; byes go to the lowest who had none; sides stay in balance."""
    assert max(Counter(frozenset(one.pair) for one in meetings).values()) == 1
    for one in (one for one in meetings if one.is_bye):
        before = [other for other in meetings if other.round < one.round]
        had = {other.first for other in before if other.is_bye}
        score = points([each.name for each in field], before)
        assert score[one.first] == min(
            score[each.name] for each in field if each.is_in(one.round) and each.name not in had
        )
    for number in range(1, max(one.round for one in meetings) + 1):
        until = [one for one in meetings if one.round <= number]
        assert all(abs(balance(one.name, until)) <= 2 for one in field)


@examples(300)
@given(st.integers(2, 25), st.integers(0, 2**32), st.data())
def test_a_swiss_tournament_keeps_its_rules(count, seed, data):
    rounds = data.draw(st.integers(1, min(7, max(1, count // 2))))
    check_rules(*tournament(count, rounds, Random(seed)))


@examples(200)
@given(st.integers(3, 10), st.integers(0, 2**32))
def test_a_small_field_can_play_all_rounds_there_are(count, seed):
    field, meetings = tournament(count, count - 1 + count % 2, Random(seed))
    assert max(Counter(frozenset(one.pair) for one in meetings).values()) == 1
    assert all(abs(balance(one.name, meetings)) <= 2 for one in field)


@pytest.mark.long
@pytest.mark.parametrize("count", [13, 14, 16, 20, 24])
def test_a_larger_field_can_play_all_rounds_there_are_too(count):
    for seed in range(3):
        field, meetings = tournament(count, count - 1 + count % 2, Random(seed))
        assert max(Counter(frozenset(one.pair) for one in meetings).values()) == 1
        assert all(abs(balance(one.name, meetings)) <= 2 for one in field)


@pytest.mark.parametrize(("count", "rounds"), [(10, 2), (20, 4), (33, 6)])
def test_in_a_large_field_everybody_has_begun_half_of_his_games_in_the_end(count, rounds):
    field, meetings = tournament(count, rounds, Random(count))
    check_rules(field, meetings)
    assert all(abs(balance(one.name, meetings)) <= 1 for one in field)


def with_leavers(rng, *, count=33, rounds=6, leave=2):
    """A whole tournament: some leave, in the middle of a round or after it, and as many but one come late."""
    field, meetings = entrants(count), []
    leaving = Counter(rng.choices(range(1, rounds), k=leave))
    coming = Counter(rng.choices(range(1, rounds), k=leave - 1))
    for number in range(1, rounds + 1):
        games = played(swiss.paired(field, meetings, number, rounds), number, rng)
        gone = rng.sample([one.name for one in field if one.withdrawn is None], leaving[number])
        for one in games:
            given_up = next((name for name in gone if name in one.pair and not one.is_bye and rng.random() < 0.5), None)
            meetings.append(one._replace(outcome=1 if given_up == one.second else -1) if given_up else one)
        field = [one._replace(withdrawn=number + 1) if one.name in gone else one for one in field]
        field += [Entrant(name, joined=number + 1) for name in NAMES[len(field) : len(field) + coming[number]]]
    return field, meetings


def check_sides(field, meetings):
    """Who has stayed has begun as often as not, but for one game, as far as those who left let that be.

    All sides together are even. So those who stay have as many of one side too many as those who left have of the
    other one, and only one who has played an odd number of games can have one of them without a difference of two.
    """
    last = {one.name: balance(one.name, meetings) for one in field if one.withdrawn is None}
    odd = sum(sides % 2 for sides in last.values())
    least = max(0, abs(sum(last.values())) - odd) // 2
    assert sum(abs(sides) > 1 for sides in last.values()) == least
    return least


def test_who_stays_has_begun_half_of_his_games_in_the_end_when_others_leave():
    field, meetings = with_leavers(Random(21))
    check_rules(field, meetings)
    assert check_sides(field, meetings) == 0


@pytest.mark.long
def test_who_stays_has_begun_half_of_his_games_in_any_of_many_tournaments():
    for seed in range(30):
        field, meetings = with_leavers(Random(seed))
        check_rules(field, meetings)
        assert check_sides(field, meetings) == 0


@pytest.mark.parametrize("seed", [23, 24])
def test_the_last_bye_is_for_one_of_the_lowest_even_if_sides_stay_uneven(seed):
    check_rules(*with_leavers(Random(seed), count=22, rounds=4, leave=3))


@examples(50)
@given(st.integers(12, 30), st.integers(0, 2**32))
def test_nobody_meets_anybody_twice_when_players_leave(count, seed):
    _, meetings = tournament(count, 4, Random(seed), leaves=0.04)
    assert max(Counter(frozenset(one.pair) for one in meetings).values()) == 1


# Beside a search through all pairings, which knows the rules in other words


def all_pairings(names):
    """All ways to put names into pairs, with all ways to seat each pair; with one name left over, a bye."""
    names = [*names, NOBODY] if len(names) % 2 else [*names]
    if not names:
        yield []
        return
    for other in names[1:]:
        for rest in all_pairings([name for name in names[1:] if name != other]):
            yield [(names[0], other), *rest]


def faults(pairing, field, meetings, number):
    """What speaks against a pairing, the most important first, as the rules on the page have it."""
    names = [one.name for one in field]
    score = points(names, meetings)
    met = Counter(frozenset(one.pair) for one in meetings)
    had = {one.first for one in meetings if one.is_bye}
    lowest = min((score[name] for name in names if name not in had), default=0)
    again = unbalanced = late = apart = square = grown = same = floats = 0
    for pair in pairing:
        again += met[frozenset(pair)] > 0
        if NOBODY in pair:
            [name] = {*pair} - {NOBODY}
            late += max(0, score[name] - lowest)
            floats += floated(name, meetings, number - 1) == -1
            continue
        difference = abs(score[pair[0]] - score[pair[1]])
        apart += difference
        square += difference**2
        best = min(seating(order, meetings) for order in permutations(pair))
        unbalanced += best[0]
        grown += best[1]
        same += best[2]
        for name, other in permutations(pair):
            way = (score[other] > score[name]) - (score[other] < score[name])
            floats += bool(way) and floated(name, meetings, number - 1) == way
    return again, unbalanced, late, apart, square, grown, same, floats


def seating(pair, meetings):
    """What speaks against a pair seated so: three more on one side, uneven sides, the same side again."""
    after = [balance(pair[0], meetings) + 1, balance(pair[1], meetings) - 1]
    before = [balance(name, meetings) for name in pair]
    grown = sum(value**2 for value in after) - sum(value**2 for value in before)
    same = 0
    for at, name in enumerate(pair):
        sides = [int(one.second == name) for one in meetings if name in one.pair and not one.is_bye][:-3:-1]
        in_a_row = next((length for length, side in enumerate(sides) if side != at), len(sides))
        same += (0, 1, 3)[in_a_row]
    return sum(abs(value) > 2 for value in after), grown, same


def floated(name, meetings, number):
    """Whether somebody met more points (1) or fewer (-1) in a round."""
    before = [one for one in meetings if one.round < number]
    score = points(NAMES, before)
    for one in meetings:
        if one.round == number and name in one.pair:
            theirs = -1.0 if one.is_bye else score[one.opponent(name)]
            return (theirs > score[name]) - (theirs < score[name])
    return 0


@examples(300)
@given(st.integers(2, 8), st.integers(1, 4), st.integers(0, 2**32))
def test_no_pairing_of_8_players_is_better_by_the_rules(count, rounds, seed):
    rng = Random(seed)
    field, meetings = entrants(count), []
    for number in range(1, min(rounds, count // 2) + 1):
        pairs = swiss.paired(field, meetings, number)
        best = min(faults(one, field, meetings, number) for one in all_pairings([one.name for one in field]))
        assert faults(pairs, field, meetings, number) == best
        for one, other in pairs:
            if other != NOBODY:  # they sit as suits them best
                assert seating((one, other), meetings) <= seating((other, one), meetings)
        meetings += played(pairs, number, rng)


def test_in_the_first_round_the_upper_half_meets_the_lower_half_and_sides_take_turns():
    pairs = swiss.paired(entrants(8), [], 1)
    assert pairs == [("p001", "p005"), ("p006", "p002"), ("p003", "p007"), ("p008", "p004")]


@pytest.mark.long
def test_200_players_are_paired_in_seconds():
    rng, field, meetings, taken = Random(1), entrants(200), [], []
    swiss.paired(entrants(2), [], 1)  # the library is loaded once
    for number in range(1, 10):
        begin = time.process_time()
        pairs = swiss.paired(field, meetings, number, 9)
        taken.append(time.process_time() - begin)
        meetings += played(pairs, number, rng)
    check_rules(field, meetings)
    assert max(taken) < 20


@pytest.mark.long
def test_what_is_looked_at_in_a_large_field_leads_to_what_all_pairs_lead_to(monkeypatch):
    rng, field, meetings = Random(7), entrants(110), []
    for number in range(1, 6):
        found = swiss.paired(field, meetings, number)
        with monkeypatch.context() as patched:
            patched.setattr(swiss, "LARGE", 1000)
            assert summed(swiss.paired(field, meetings, number), meetings) == summed(found, meetings)
        meetings += played(found, number, rng)


def summed(pairs, meetings):
    score = points(NAMES, meetings)
    return sum(abs(score[one] - score[other]) for one, other in pairs)


# Knockout and ladder


@examples(200)
@given(st.integers(2, 40), st.sampled_from([1, 2, 3]), st.integers(0, 2**32))
def test_a_knockout_leaves_one_and_its_places_are_those_of_the_rounds(count, best_of, seed):
    rng, field, meetings = Random(seed), entrants(count), []
    while True:
        number, pairs = knockout.games_due(field, meetings, best_of)
        if not pairs:
            break
        meetings += [Meeting(number, *pair, rng.choice(RESULTS)) for pair in pairs]
    places = knockout.places(field, meetings, best_of)
    assert Counter(places.values())[1] == 1
    assert number == knockout.rounds_of(count)
    through = [name for name, place in places.items() if place <= 2]
    assert len(through) == 2
    if best_of == 1 and all(one.outcome for one in meetings):
        assert len(meetings) == count - 1


def test_in_a_knockout_who_is_placed_lower_begins_then_the_other_and_later_who_has_begun_less_often():
    field = entrants(4)
    assert knockout.games_due(field, []) == (1, [("p004", "p001"), ("p003", "p002")])
    tied = [Meeting(1, "p004", "p001", 0), Meeting(1, "p003", "p002", 1)]
    assert knockout.games_due(field, tied) == (1, [("p001", "p004")])
    won = [Meeting(1, "p004", "p001", -1), Meeting(1, "p003", "p002", 1)]
    assert knockout.games_due(field, won) == (2, [("p001", "p003")])


def test_the_best_two_can_meet_in_the_final_only():
    assert knockout.bracket(8) == [0, 7, 3, 4, 1, 6, 2, 5]


def test_on_a_ladder_the_winner_from_below_changes_places_and_others_stay():
    field = entrants(4)
    begun = [Meeting(1, "p002", "p001", 1), Meeting(1, "p004", "p003", -1)]
    assert ladder.rungs(field, begun) == ["p002", "p001", "p003", "p004"]
    assert ladder.challenges_due(field, begun) == [("p003", "p001")]  # both were second before, and who is below begins
    assert ladder.rungs([*field[:1], field[1]._replace(withdrawn=2), *field[2:]], begun) == ["p001", "p003", "p004"]


def test_who_has_begun_less_often_begins():
    assert fewest_firsts("p001", "p002", [Meeting(1, "p001", "p003", 1)]) == ("p002", "p001")
    assert fewest_firsts("p001", "p002", [Meeting(1, "p002", "p003", 1)]) == ("p001", "p002")
