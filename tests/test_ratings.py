"""Ratings: the formula, and what the end of a game does to its players (docs/command-language.md, section 7)."""

import ast
import math
import operator
import re
from decimal import ROUND_DOWN, Decimal, localcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import Option
from pbm.board import ratings
from pbm.board.ratings import LOWEST, Rating, described, new_rating, settle
from pbm.store import BoardRow, PlayerRow, ResultRow

WIN, TIE, LOSS = 1, 0, -1
HELP = (Path(__file__).parents[1] / "help" / "ratings.txt").read_text()
OUTCOMES = st.sampled_from([WIN, TIE, LOSS])
PLAYERS = st.builds(Rating, st.integers(LOWEST, 10**7), st.integers(0, 60))


# The formula


def test_an_established_player_risks_nothing_against_newcomers_and_wins_what_an_equal_loses_down_to_100():
    assert not Rating(1600, 19).is_established
    assert Rating(1600, 20).is_established
    assert new_rating(Rating(1700, 30), Rating(), LOSS) == 1700
    for outcome, after in ((WIN, 1616), (TIE, 1600), (LOSS, 1584)):
        assert new_rating(Rating(1600, 20), Rating(1600, 45), outcome) == after
    assert new_rating(Rating(105, 40), Rating(100, 40), LOSS) == 100
    assert new_rating(Rating(100, 40), Rating(100, 40), LOSS) == 100


def test_every_quotient_of_a_provisional_rating_and_the_change_of_an_established_one_are_cut_toward_zero():
    # worth 300 - 400 = -100; (401 x 1 - 100) / 2 = 150, cut from 150.5; (1720 - 401) / 5 = 263, cut from 263.8
    assert new_rating(Rating(401, 1), Rating(300, 25), LOSS) == 150 + 263
    # worth 100 - 400 = -300; (101 x 2 - 300) / 3 = -32, cut from -32.7; (1720 - 101) / 5 = 323, cut from 323.8
    assert new_rating(Rating(101, 2), Rating(100, 25), LOSS) == -32 + 323
    # worth 2000 - 400 = 1600; (1722 x 1 + 1600) / 2 = 1661; (1720 - 1722) / 5 = 0, cut from -0.4
    assert new_rating(Rating(1722, 1), Rating(2000, 25), LOSS) == 1661
    # 32 x (0 - 0.5144) = -16.5 for the one who loses, 32 x (1 - 0.5144) = 15.5 when he wins
    assert new_rating(Rating(1610, 20), Rating(1600, 20), LOSS) == 1610 - 16
    assert new_rating(Rating(1610, 20), Rating(1600, 20), WIN) == 1610 + 15
    assert new_rating(Rating(1600, 20), Rating(2000, 11), WIN) == 1616


@given(PLAYERS, PLAYERS, OUTCOMES)
def test_whatever_the_ratings_are_the_new_one_is_an_integer_of_at_least_100(own, other, outcome):
    after = new_rating(own, other, outcome)
    assert type(after) is int
    assert after >= LOWEST


@given(PLAYERS, PLAYERS)
def test_to_win_is_never_worse_than_to_tie_nor_that_than_to_lose(own, other):
    assert new_rating(own, other, WIN) >= new_rating(own, other, TIE) >= new_rating(own, other, LOSS)


@given(st.integers(1000, 4000), st.integers(-1200, 1200), st.integers(0, 20), OUTCOMES)
def test_no_rounding_of_floats_is_seen_in_an_established_rating(rating, gap, games, outcome):
    with localcontext(prec=60):
        expected = 1 / (1 + Decimal(10) ** (Decimal(gap) / 400))
        change = Decimal(32 * games) / 20 * (Decimal(outcome + 1) / 2 - expected)
        exact = int(round(change, 40).to_integral_value(ROUND_DOWN))
    assert new_rating(Rating(rating, 20), Rating(rating + gap, games), outcome) == max(LOWEST, rating + exact)


# The end of a game


def ended(club, board="101", winner=None, **fields):
    """The results of a game of alice and bob that has ended now."""
    usual = {"options": "", "first_player": "alice", "second_player": "bob", "secret": b"", "started": club.time}
    row = BoardRow("symple", board, **usual | fields, moves=9, ended=club.time, winner=winner)
    return settle(club.store, row, club.time, has_begun=True)


def player(club, userid):
    return club.store.players.get("symple", userid)


@pytest.fixture
def three(club):
    for name in ("alice", "bob", "carol"):
        club.store.users.add(name, "", club.time)
    return club


def test_a_rated_game_changes_both_ratings_in_this_game_and_counts_as_won_and_lost(three):
    ended(three, winner="alice")
    assert player(three, "alice") == PlayerRow("alice", rating=1824, won=1, rated=three.time)
    assert player(three, "bob") == PlayerRow("bob", rating=1424, lost=1, rated=three.time)
    assert three.store.players.get("spiro", "alice").rating is None


def test_both_new_ratings_come_from_the_ratings_before_the_game(three):
    three.store.players.save("symple", PlayerRow("alice", rating=1683, won=2))
    three.store.players.save("symple", PlayerRow("bob", rating=1604, tied=2))
    ended(three)
    assert (player(three, "alice").rating, player(three, "bob").rating) == (1676, 1640)
    assert (player(three, "alice").tied, player(three, "bob").tied) == (1, 3)


def test_a_rated_game_leaves_a_result_for_each_player(three):
    results = ended(three, winner="bob")
    assert results == [
        ResultRow("symple", "101", "alice", LOSS, 1600, 1424, 1, three.time),
        ResultRow("symple", "101", "bob", WIN, 1600, 1824, 1, three.time),
    ]
    assert three.store.players.results_of_board("symple", "101") == results


def test_the_20th_game_is_counted_as_provisional_and_the_21st_as_established(three):
    three.store.players.save("symple", PlayerRow("alice", rating=1600, won=19))
    three.store.players.save("symple", PlayerRow("bob", rating=1600, lost=20))
    ended(three, winner="alice")
    assert player(three, "alice").rating == (1600 * 19 + 2000) // 20 + (1720 - 1600) // 5
    before = player(three, "alice").rating
    ended(three, "102", winner="alice")
    assert 0 < player(three, "alice").rating - before < 32


def test_a_rated_game_keeps_what_a_player_has_set(three):
    three.store.players.save("symple", PlayerRow("alice", most=3, seeking=2, subscribes=True, mail="digest"))
    ended(three, winner="alice")
    alice = player(three, "alice")
    assert (alice.most, alice.seeking, alice.subscribes, alice.mail) == (3, 2, True, "digest")


def test_a_game_against_oneself_or_on_a_board_without_a_digit_is_not_rated_and_one_with_other_options_is(three):
    assert ended(three, winner="alice", second_player="alice") == []
    assert player(three, "alice") == PlayerRow("alice")
    assert ended(three, board="trial", winner="alice") == []
    assert ended(three, winner="alice", options="-size=5 -PENALTY=9")


@pytest.mark.parametrize("word", ["-handicap=2", "-handicap-stones=2", "-han=2", "-HANDICAP=2"])
def test_a_game_with_a_handicap_is_not_rated(three, monkeypatch, word):
    name = "handicap-stones" if "stones" in word else "handicap"
    rules = games.load("symple")
    monkeypatch.setattr(rules, "OPTIONS", (*rules.OPTIONS, Option(name, "", range(10), 0)))
    assert ended(three, winner="alice", options=f"-size=5 {word}") == []
    assert player(three, "alice").rating is None


def test_a_player_who_has_signed_off_is_rated_under_his_name(three):
    three.store.users.sign_off("bob", three.time)
    ended(three, winner="alice")
    assert [result.after for result in three.store.players.results_of_user("symple", "bob")] == [1424]


def test_a_tournament_game_counts_in_the_table_of_its_pool_and_for_the_ratings_unless_it_is_against_oneself(three):
    assert ended(three, "b1", winner="bob", pool="b")
    assert three.store.tournaments.pool_players("symple") == []  # this pool is not set up
    for userid in ("alice", "bob"):
        three.store.tournaments.add_player("symple", "a", userid)
    ended(three, "a1", winner="alice", second_player="alice", pool="a")
    assert three.store.tournaments.pool_players("symple") == [("a", "alice", 0, 0, 0), ("a", "bob", 0, 0, 0)]
    ended(three, "a1", winner="bob", pool="a")
    ended(three, "a2", pool="a")
    assert three.store.tournaments.pool_players("symple") == [("a", "bob", 1, 0, 1), ("a", "alice", 0, 1, 1)]
    assert player(three, "bob").games == 3


@pytest.mark.parametrize(
    ("before", "after", "games", "line"),
    [
        (1600, 1824, 1, "alice  1600 -> 1824  up 224 (provisional)"),
        (1600, 1424, 19, "alice  1600 -> 1424  down 176 (provisional)"),
        (1600, 1600, 20, "alice  1600 -> 1600  equal"),
        (1800, 1776, 21, "alice  1800 -> 1776  down 24"),
    ],
)
def test_what_a_game_did_to_a_rating_is_told_in_a_line(three, before, after, games, line):
    assert described(ResultRow("symple", "101", "alice", WIN, before, after, games, three.time)) == line


# The help

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.BitXor: operator.pow}


def value(expression, divided):
    """What an expression of numbers is, with one's own way to divide; ^ is the power."""

    def of(node):
        match node:
            case ast.Constant(value=number):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -of(operand)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return divided(of(left), of(right))
            case ast.BinOp(left=left, op=sign, right=right):
                return OPERATORS[type(sign)](of(left), of(right))
        raise ValueError(ast.dump(node))

    # ^ binds less tightly in Python than in the help
    return of(ast.parse(re.sub(r"(\d+)\^(\(.*?\)\)|\d+)", r"(\1^\2)", expression.strip()), mode="eval").body)


def test_the_help_has_every_example_with_the_rating_that_the_formula_gives_and_the_bounds_of_the_program():
    outcomes = {"beats": WIN, "ties with": TIE, "loses to": LOSS}
    pattern = r"^  (\d+) after (\d+) games (beats|ties with|loses to) (\d+) after (\d+) games: (\d+)$"
    examples = re.findall(pattern, HELP, re.MULTILINE)
    told = [(Rating(int(r), int(n)), Rating(int(s), int(m)), outcomes[how], int(new))
            for r, n, how, s, m, new in examples]  # fmt: skip
    assert [new_rating(own, other, outcome) for own, other, outcome, _ in told] == [new for *_, new in told]
    assert sorted(new for *_, new in told) == [1424, 1624, 1638, 1640, 1676, 1706, 1776, 1824]
    assert f"newcomer has {ratings.START}." in " ".join(HELP.split())
    assert f"finished {ratings.ESTABLISHED} rated games" in HELP
    assert f"from your rating to {ratings.CENTRE}" in HELP
    assert f"below {ratings.LOWEST}." in HELP


def test_every_step_that_the_help_reckons_is_right_to_the_last_decimal():
    steps = re.findall(r"^    (.*) = (\d+)$", HELP, re.MULTILINE)
    assert len(steps) == 5 * 3 + 3
    for expression, result in steps:
        assert value(expression, lambda number, by: math.trunc(number / by)) == int(result), expression
    steps = re.findall(r"^    (.*) is about (-?\d+\.(\d+))$", HELP, re.MULTILINE)
    assert len(steps) == 3 * 2
    for expression, result, decimals in steps:
        assert round(value(expression, operator.truediv), len(decimals)) == float(result), expression
