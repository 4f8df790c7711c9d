"""Standings, histories and drawings of ratings (docs/command-language.md, section 7)."""

import re
from datetime import timedelta
from random import Random

import pytest

from pbm.actions.lists import LINES_OF_PAGE
from pbm.actions.standings import drawing
from pbm.board.ratings import settle
from pbm.language.line import Line
from pbm.refusals import Misused
from pbm.runner import run
from pbm.session import Session
from pbm.store import BoardRow, PlayerRow

LONG = ("abcdefghijklmnop", "qrstuvwxyz.12345")


@pytest.fixture
def members(club):
    join(club, "alice", "bob", "carol", "dora")
    return club


def join(club, *userids):
    """These users sign up."""
    for userid in userids:
        club.store.users.add(userid, "", club.time)


def pool(club, name, *userids):
    """A tournament of these users."""
    for userid in userids:
        club.store.tournaments.add_player("symple", name, userid)


def played(club, first, second, winner=None, board=None, **fields):
    """A game of Symple that was played to its end within an hour; it is the hour that the next one begins in."""
    started = club.time
    club.pass_time(hours=1)
    end = {"moves": 30, "ended": club.time, "winner": winner, "changed": club.time, "reason": "rules"}
    row = BoardRow("symple", board or club.store.boards.next_number("symple"), "", first, second, b"", started,
                   **end, **fields)  # fmt: skip
    club.store.boards.add(row)
    settle(club.store, row, club.time, has_begun=True)


def active(club, first, second):
    """A board of Symple that is under way."""
    number = club.store.boards.next_number("symple")
    club.store.boards.add(BoardRow("symple", number, "", first, second, b"", club.time, changed=club.time))


def known(club, userid, rating=None, **fields):
    """A player of Symple with that rating."""
    club.store.players.save("symple", PlayerRow(userid, rating, **{"rated": club.time, **fields}))


def standings(club):
    """The standings, as a program asks for them."""
    return run(Line.read("symple standings"), lambda: Session(club.server, as_json=True))[0]


# Standings


def test_the_standings_stand_in_four_sections_and_then_in_one_list(members):
    known(members, "alice", 1700, won=20)
    known(members, "bob", 1900, lost=3)
    known(members, "carol", 1500, lost=20, inactive=True)
    known(members, "dora", 1800, won=1, inactive=True)
    heading, short = (f"Rank  {name}  Rating  Won  Lost  Active  Limit  Seeking" for name in ("Name ", "Name"))
    assert [part.splitlines() for part in standings(members).body.split("\n\n")] == [
        ["Established", heading, "   1  alice    1700   20     0"],
        ["Provisional", short, "   1  bob     1900    0     3"],
        ["Inactive (established)", heading, "   1  carol    1500    0    20"],
        ["Inactive (provisional)", short, "   1  dora    1800    1     0"],
        [
            "All (E established, P provisional, I inactive)",
            heading,
            "   1  bob      1900    0     3                          P",
            "   2  dora     1800    1     0                          I",
            "   3  alice    1700   20     0                          E",
            "   4  carol    1500    0    20                          I",
        ],
    ]


def test_ties_have_a_column_if_anyone_has_one(members):
    played(members, "alice", "bob", "alice")
    played(members, "carol", "dora")
    assert standings(members).body.splitlines()[1:3] == [
        "Rank  Name   Rating  Won  Lost  Ties  Active  Limit  Seeking",
        "   1  alice    1824    1     0     0",
    ]


def test_the_standings_tell_the_active_boards_of_a_player_and_what_he_wants(members):
    known(members, "alice", 1700, won=1, most=5, seeking=2)
    known(members, "bob", 1600, won=1, most=0)
    known(members, "carol", 1500, won=1)
    active(members, "alice", "bob")
    active(members, "carol", "alice")
    active(members, "alice", "alice")
    played(members, "dora", "dora", "dora")
    assert standings(members).body.splitlines()[2:] == [
        "   1  alice    1700    1     0       3  / 5            2",
        "   2  bob      1600    1     0       1  /reject",
        "   3  carol    1500    1     0       1",
    ]


def test_a_player_has_as_many_active_boards_in_the_list_of_all_as_in_their_part_of_it(members):
    known(members, "alice", 1700, won=20)
    known(members, "bob", 1600, won=1)
    active(members, "alice", "bob")
    told = standings(members)
    assert [line.split()[5] for line in told.body.splitlines() if "alice" in line or "bob" in line] == ["1"] * 4
    assert [player["active"] for player in told.data["players"]] == [1, 1]


def test_of_equal_ratings_the_older_one_stands_first(members):
    known(members, "alice", 1700, won=1, rated=members.time)
    known(members, "bob", 1700, won=1, rated=members.time - timedelta(days=1))
    known(members, "carol", 1700, won=1, rated=members.time + timedelta(days=1))
    assert re.findall("alice|bob|carol", standings(members).body) == ["bob", "alice", "carol"]


def test_only_users_with_a_rated_game_who_are_still_signed_up_are_listed(members):
    known(members, "alice", 1700, won=1)
    known(members, "bob", 1600, won=1)
    known(members, "carol", most=3)
    members.store.users.sign_off("bob", members.time)
    assert [player["userid"] for player in standings(members).data["players"]] == ["alice"]
    assert "carol" not in standings(members).body


def test_the_first_page_of_standings_that_nobody_is_in_says_so_too(members):
    assert "Nobody has a rating in Symple yet." in members.text("symple standings 1")


def test_the_standings_of_one_game_have_nothing_of_another_and_of_none_that_nobody_has_played(members):
    assert standings(members).body == "Nobody has a rating in Symple yet."
    played(members, "alice", "bob", "alice")
    assert "alice" not in members.text("spiro standings")


def test_below_the_standings_stand_the_tables_of_the_tournaments(members):
    pool(members, "spring", "alice", "bob")
    played(members, "alice", "bob", "bob", board="spring1", pool="spring")
    assert standings(members).body.split("\n\n")[-1].splitlines() == [
        "Tournaments",
        "Pool    Name   Won  Lost  Ties",
        "spring  bob      1     0     0",
        "spring  alice    0     1     0",
    ]


def test_users_who_seek_challenges_are_listed_before_they_have_a_rating(members):
    known(members, "alice", 1700, won=1, seeking=2)
    known(members, "dora", seeking=3)
    known(members, "bob", seeking=10)
    known(members, "carol")
    assert standings(members).body.split("\n\n")[-1].splitlines() == [
        "Not rated yet, seeking challenges",
        "Name  Seeking",
        "bob        10",
        "dora        3",
    ]


def test_the_standings_for_programs_have_all_that_is_public_of_a_player(members):
    known(members, "alice", 1700, won=12, lost=7, tied=1, most=5, seeking=2, subscribes=True)
    pool(members, "a", "bob")
    known(members, "carol", seeking=1)
    active(members, "alice", "bob")
    data = standings(members).data
    assert data["players"] == [
        {
            "userid": "alice", "rating": 1700, "established": True, "inactive": False, "won": 12, "lost": 7, "tied": 1,
            "active": 1, "limit": 5, "seeking": 2,
        }
    ]  # fmt: skip
    assert data["pools"] == [{"pool": "a", "userid": "bob", "won": 0, "lost": 0, "tied": 0}]
    assert data["seekers"] == [{"userid": "carol", "seeking": 1}]


def test_standings_and_histories_take_a_page_alone(members):
    for line in ("symple standings alice", "symple history 0"):
        assert "is no page; the first one is 1" in members.why_refused(line)
    for line in ("symple standings 1 2", "symple history 1 2"):
        with pytest.raises(Misused, match="Too many words"):
            members.say(line)


def test_standings_of_players_with_the_longest_names_and_great_numbers_fit_a_mail(members):
    join(members, *LONG)
    for userid in LONG:
        known(members, userid, 2500, won=9999, lost=9999, tied=9999, most=9999, seeking=9999)
    known(members, "alice", 1600, won=1, inactive=True, most=0)
    assert max(map(len, standings(members).body.splitlines())) <= 78


# Histories


def test_the_history_has_a_line_for_each_game_the_oldest_first(members):
    played(members, "alice", "bob", "bob")
    members.pass_time(days=60)
    played(members, "carol", "alice")
    [letter] = members.say("symple history")
    assert letter.subject == "Historical List of Symple games"
    assert letter.body.splitlines() == [
        "Ended (UTC)       Board  Winner  Pts  Moves  Reason  Players",
        "2026-11-20 13:00  101    bob       1     30  rules   alice bob",
        "2027-01-19 14:00  102    TIE       1     30  rules   carol alice",
    ]


def test_the_history_has_games_that_were_not_rated_and_says_so(members):
    played(members, "alice", "bob", "bob", board="trial")
    played(members, "alice", "bob", "bob")
    lines = members.say("symple history")[0].body.splitlines()
    assert lines[0].split() == "Ended (UTC) Board Winner Pts Moves Rated Reason Players".split()
    assert "  unrated  rules   alice bob" in lines[1]
    assert "unrated" not in lines[2]


def test_the_history_has_no_games_against_oneself_none_that_go_on_and_none_of_other_games(members):
    played(members, "alice", "alice", "alice")
    active(members, "alice", "bob")
    assert members.say("symple history")[0].body == "No game of Symple is over yet."
    played(members, "alice", "bob", "bob")
    assert "No game of Spiro" in members.text("spiro history")


def test_the_history_for_programs_has_the_games_as_objects(members):
    played(members, "alice", "bob", "bob")
    played(members, "bob", "alice", board="trial")
    assert members.say("symple history")[0].data["games"] == [
        {
            "board": "101", "ended": "2026-11-20T13:00:00+00:00", "winner": "bob", "points": 1, "moves": 30,
            "rated": True, "reason": "rules", "players": ["alice", "bob"],
        },
        {
            "board": "trial", "ended": "2026-11-20T14:00:00+00:00", "winner": "draw", "points": 1, "moves": 30,
            "rated": False, "reason": "rules", "players": ["bob", "alice"],
        },
    ]  # fmt: skip


def test_a_mail_has_a_page_of_the_last_games_and_a_shell_all(members, monkeypatch):
    assert LINES_OF_PAGE == 200
    monkeypatch.setattr("pbm.actions.lists.LINES_OF_PAGE", 3)
    for winner in ("alice", "bob", "alice", "bob"):
        played(members, "alice", "bob", winner)
    members.say("symple history", sender="alice@players.example")
    text = members.mails()[-1].text
    assert text.endswith("This is page 1; the next one:\n\nsymple history 2\n")
    assert re.findall(r" (10\d) ", text) == ["102", "103", "104"]
    assert re.findall(r" (10\d) ", members.text("symple history")) == ["101", "102", "103", "104"]
    members.say("symple history 2", sender="alice@players.example")
    text = members.mails()[-1].text
    assert re.findall(r" (10\d) ", text) == ["101"]
    assert "the next one" not in text
    monkeypatch.setattr("pbm.actions.lists.LINES_OF_PAGE", 4)
    members.say("symple history", sender="alice@players.example")
    assert "the next one" not in members.mails()[-1].text


def test_long_names_stand_below_each_other_where_they_do_not_fit_beside(members):
    join(members, *LONG)
    played(members, "alice", "bob", "alice")
    played(members, *LONG, winner=LONG[0])
    lines = members.say("symple history")[0].body.splitlines()
    assert [line[62:].strip() for line in lines] == ["Players", "alice bob", "", LONG[0], LONG[1]]


def test_a_history_fits_a_mail_whatever_the_names_of_boards_and_players_are(members):
    join(members, *LONG)
    played(members, *LONG, winner=LONG[1], board="championship123456")
    played(members, *LONG, winner=LONG[1], board="trial")
    text = members.text("symple history")
    assert max(map(len, text.splitlines())) <= 78
    assert text.count(LONG[0]) == 2


# Drawings


def test_a_plot_draws_how_the_rating_of_a_player_has_gone(members):
    played(members, "alice", "bob", "alice")
    members.pass_time(days=100)
    played(members, "alice", "bob", "bob")
    [letter] = members.say("symple standings --plot=Alice")
    lines = letter.body.splitlines()
    assert lines[:3] == ["alice: 1604 (provisional)", "2 rated games of Symple, highest 1824, lowest 1600", ""]
    assert lines[3] == "1820 |                                   *-----------------------------------"
    assert lines[-3].startswith("1600 |*----------------------------------|")
    assert lines[-2] == "     +" + "-" * 72
    assert lines[-1] == "      2026-11-20" + " " * 52 + "2027-02-28"


def test_a_plot_for_programs_has_every_game_also_of_who_has_signed_off_and_there_is_none_of_nobody(members):
    assert members.why_refused("symple standings --plot=nobody") == "There is no user 'nobody'."
    assert members.why_refused("symple standings --plot=alice") == "alice has no rated game of Symple."
    assert "--plot=USERID" in members.why_refused("symple standings --plot")
    played(members, "alice", "bob", "alice")
    data = members.say("symple standings --plot=bob")[0].data
    ended = "2026-11-20T13:00:00+00:00"
    assert data["userid"] == "bob"
    assert data["results"] == [{"board": "101", "outcome": -1, "before": 1600, "after": 1424, "ended": ended}]
    members.store.users.sign_off("bob", members.time)
    assert "bob: 1424 (provisional)" in members.text("symple standings --plot=bob")


def walk(count):
    """Ratings after so many games, and the one before them."""
    rng, ratings = Random(count), [1600]
    while len(ratings) <= count:
        ratings.append(max(100, ratings[-1] + rng.randint(-250, 250)))
    return ratings


@pytest.mark.parametrize("ratings", [*map(walk, (1, 2, 3, 50, 72, 73, 1000)), [1500] * 4, [100, 123_456]])
def test_any_number_of_games_is_drawn_within_78_columns_and_18_lines(ratings):
    lines = drawing(ratings, "2026-11-20", "2027-02-28").splitlines()
    assert len(lines) <= 18
    assert max(map(len, lines)) == 78


@pytest.mark.parametrize("ratings", [walk(1), walk(3), walk(71)])
def test_every_rating_is_drawn_on_the_line_of_the_nearest_label(ratings):
    lines = [line.split("|", 1) for line in drawing(ratings, "2026-11-20", "2027-02-28").splitlines()[:-2]]
    labels = [int(label) for label, _ in lines]
    drawn = {}
    for label, (_, row) in zip(labels, lines, strict=True):
        drawn |= {at: label for at, mark in enumerate(row) if mark == "*"}
    assert len(drawn) == len(ratings)
    for (_, label), rating in zip(sorted(drawn.items()), ratings, strict=True):
        assert abs(rating - label) == min(abs(rating - other) for other in labels)


def test_of_many_games_the_highest_and_the_lowest_are_still_seen():
    ratings = [1600] * 1001
    ratings[500], ratings[700] = 1900, 1300
    first, *_, last, _, _ = drawing(ratings, "2026-11-20", "2027-02-28").splitlines()
    assert re.match(r"1900 \|.*\*", first)
    assert re.match(r"1300 \|.*\*", last)
