"""Tournaments (docs/command-language.md, section 7): who meets whom, and the table of a pool."""

import csv
import json
import re
import sqlite3
from collections import Counter
from itertools import combinations

import pytest

from pbm.tournaments.kinds import Meeting
from pbm.tournaments.roundrobin import round_robin
from pbm.tournaments.tables import places_of

from helpers.club import PASSWORDS
from helpers.fixtures import set_up
from helpers.pairings import bye

NAMES = [f"user{number}" for number in range(1, 17)]


def game(first, second, winner):
    """A game that was won, or tied with the winner None, or is still being played with the winner "?"."""
    return Meeting(1, first, second, None if winner == "?" else (winner == first) - (winner == second))


# Who meets whom


@pytest.mark.parametrize("count", range(2, 17))
def test_each_two_meet_once_and_each_begins_half_of_their_games_and_plays_once_a_round(count):
    pairs = round_robin(NAMES[:count])
    names = NAMES[:count]
    size = count // 2
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, combinations(names, 2)))
    begins = Counter(first for first, _ in pairs)
    assert {begins[name] for name in names} <= {(count - 1) // 2, count // 2}
    for number in range(0, len(pairs), size):
        assert len({name for pair in pairs[number : number + size] for name in pair}) == 2 * size
    twice = round_robin(names, double=True)
    assert len(twice) == len(set(twice)) == count * (count - 1)
    assert all((second, first) in twice for first, second in twice)


# The table


def table(names, games, order="sb,direct"):
    """The lines of a table: place, name, points, and the scores in their order."""
    lines = places_of(names, games, order.split(","))
    return [(line.place, line.name, line.points, *(line.scores[kind] for kind in order.split(",") if kind != "direct"))
            for line in lines]  # fmt: skip


def test_the_table_counts_points_half_for_ties_then_sonneborn_berger_scores_then_direct_encounters():
    games = [
        game("alice", "bob", "alice"), game("carol", "alice", "alice"), game("alice", "dave", "dave"),
        game("bob", "carol", "bob"), game("dave", "bob", "bob"), game("carol", "dave", "carol"),
    ]  # fmt: skip
    # by hand: alice beat bob (2) and carol (1), bob beat carol (1) and dave (1), dave beat alice (2), carol dave (1)
    assert table(["alice", "bob", "carol", "dave"], games) == [
        (1, "alice", 2, 3),
        (2, "bob", 2, 2),
        (3, "dave", 1, 2),
        (4, "carol", 1, 1),
    ]
    games = [
        game("alice", "bob", "alice"), game("alice", "carol", None), game("alice", "dave", "alice"),
        game("bob", "carol", "bob"), game("bob", "dave", None), game("carol", "dave", "carol"),
    ]  # fmt: skip
    # by hand: alice 1.5 + 1.5/2 + 0.5, bob 1.5 + 0.5/2, carol 2.5/2 + 0.5, dave 1.5/2; bob has beaten carol
    assert table(["alice", "bob", "carol", "dave"], games) == [
        (1, "alice", 2.5, 2.75),
        (2, "bob", 1.5, 1.75),
        (3, "carol", 1.5, 1.75),
        (4, "dave", 0.5, 0.75),
    ]
    games = [game("alice", "bob", "alice"), game("bob", "alice", None)]
    # by hand: alice 0.5 + 0.5/2, bob 1.5/2
    assert table(["alice", "bob"], games) == [(1, "alice", 1.5, 0.75), (2, "bob", 0.5, 0.75)]


def test_buchholz_scores_are_the_points_of_the_opponents_and_games_to_be_played_or_cancelled_give_none():
    games = [
        game("alice", "bob", "alice"), game("carol", "dave", "carol"), bye(1, "erin"),
        game("alice", "carol", None), game("erin", "bob", "erin"), bye(2, "dave"),
    ]  # fmt: skip
    # by hand: erin 2, alice and carol 1.5, dave 1, bob 0; a bye is a game against somebody with the player's own points
    assert table(["alice", "bob", "carol", "dave", "erin"], games, "buchholz,cut1,wins") == [
        (1, "erin", 2, 2, 2, 1),
        (2, "carol", 1.5, 2.5, 1.5, 1),
        (3, "alice", 1.5, 1.5, 1.5, 1),
        (4, "dave", 1, 2.5, 1.5, 0),
        (5, "bob", 0, 3.5, 2, 0),
    ]
    games = [game("alice", "bob", "?"), game("alice", "carol", "?")._replace(is_void=True)]
    lines = places_of(["alice", "bob", "carol"], games, ["sb", "direct"])
    assert [(line.place, line.points, line.to_play) for line in lines] == [(1, 0, 1), (1, 0, 1), (1, 0, 0)]


# pbm tournament


def sign_up_three(shell):
    shell.sign_up("alice", "bob", "carol", has_mail=True)


players = set_up(sign_up_three)


def run(shell, *args):
    return shell.json("tournament", "symple", *args)


def printed(shell, *args):
    return shell.done("tournament", "symple", *args)


def dump(shell):
    with sqlite3.connect(shell.folder / "pbm.db") as db:
        return list(db.iterdump())


def boards(shell):
    with sqlite3.connect(shell.folder / "pbm.db") as db:
        return db.execute(
            "SELECT board, pool, first_player, second_player, options, nag_days, forfeit_days, total_days FROM boards"
        ).fetchall()


def test_a_tournament_starts_a_board_for_each_two_players(players):
    done = run(players, "a", "alice", "bob", "carol")
    assert done == {
        "game": "symple",
        "pool": "a",
        "dry_run": False,
        "schedule": [
            {"board": "a1", "players": ["bob", "carol"]},
            {"board": "a2", "players": ["carol", "alice"]},
            {"board": "a3", "players": ["alice", "bob"]},
        ],
    }
    assert [row[:4] for row in boards(players)] == [
        ("a1", "a", "bob", "carol"),
        ("a2", "a", "carol", "alice"),
        ("a3", "a", "alice", "bob"),
    ]


def test_each_player_gets_one_mail_about_all_his_boards_and_pools_of_different_games_have_the_same_name(players):
    run(players, "a", "alice", "bob", "carol")
    run(players, "b", "alice", "bob")
    mails = players.json("outbox", "list")["mails"]
    assert sorted((mail["subject"], mail["userid"]) for mail in mails) == [
        ("New Symple Board b1 alice", "alice"),
        ("New Symple Board b1 alice", "bob"),
        ("Symple tournament a: your boards of round 1", "alice"),
        ("Symple tournament a: your boards of round 1", "bob"),
        ("Symple tournament a: your boards of round 1", "carol"),
    ]
    players.done("tournament", "papagra", "a", "alice", "bob")


def test_a_tournament_has_options_and_clocks_for_all_its_boards(players):
    run(players, "-size=5", "a", "alice", "-PEN=4", "bob", "--nagtime", "2", "--forfeittime=9", "--totaltime=30")
    assert boards(players) == [("a1", "a", "alice", "bob", "-size=5 -PEN=4", 2, 9, 30)]


def test_a_dry_run_lists_the_boards_and_changes_nothing(players):
    before = dump(players)
    plan = run(players, "a", "alice", "bob", "carol", "--dry-run", "--double")
    assert [board["board"] for board in plan["schedule"]] == ["a1", "a2", "a3", "a4", "a5", "a6"]
    assert dump(players) == before
    done = run(players, "a", "alice", "bob", "carol", "--double")
    assert (done["schedule"], done["dry_run"]) == (plan["schedule"], False)


def test_a_tournament_of_pairs_lets_neighbours_meet(players):
    players.sign_up("dave")
    done = run(players, "a", "carol", "alice", "bob", "dave", "--pairs")
    assert [board["players"] for board in done["schedule"]] == [["carol", "alice"], ["bob", "dave"]]


def test_the_list_of_boards_is_text_or_csv(players):
    assert printed(players, "a", "alice", "bob", "--dry-run") == (
        "Board  First  Second\na1     alice  bob\n\n1 board of Symple would be started.\n"
    )
    assert printed(players, "a", "alice", "bob", "--csv") == "board,first,second\na1,alice,bob\n"


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        ("a1 alice bob", 1, "The name of a pool is 1 to 12 letters, not 'a1'."),
        ("abcdefghijklm alice bob", 1, "The name of a pool is 1 to 12 letters"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE} alice bob", 1, "The name of a pool is 1 to 12 letters"),
        ("old alice carol", 1, "There is a pool old of Symple already; `pbm help tournament` tells how to direct it."),
        ("old begin", 1, "There is a pool old of Symple already; `pbm help tournament` tells how to direct it."),
        ("ab alice bob", 1, "A board ab1 would have the name of a user; choose another pool."),
        ("ab alice bob --type=knockout", 1, "A board ab1 would have the name of a user; choose another pool."),
        ("a alice", 1, "A tournament has 2 to 32 players, not 1."),
        ("a alice Alice bob", 1, "alice is named twice."),
        ("a alice nobody1 nobody2", 1, "There is no user 'nobody1'.\nThere is no user 'nobody2'."),
        ("a alice bob -small", 1, "There is no option '-small'"),
        ("a --open -small", 1, "There is no option '-small'"),
        ("a alice bob --nix", 1, "--nix"),
        ("a alice bob --nagtime=0.5", 1, "--nagtime=DAYS takes a whole number"),
        ("a alice bob --nagtime=0", 1, "from 1 to 3650"),
        ("a alice bob --nagtime=7", 1, "reminded after 7 days and forfeit after 7"),
        ("a alice bob --nagtime=1 --forfeittime=1", 1, "reminded after 1 day and forfeit after 1"),
        ("a alice bob --totaltime=3651", 1, "from 1 to 3650"),
        ("a alice bob carol --pairs", 1, "3 players cannot be paired."),
        ("a alice bob --pairs --double", 1, "Choose one of --double and --pairs."),
        ("a --open --starts=9999-12-31T23:00-20:00", 1, "--starts takes a day such as 2027-01-31"),
        ("a --double", 2, "its players are missing"),
        ("a", 1, "There is no pool 'a' of Symple."),
        ("a alice bob --type=swiss", 1, "A Swiss tournament needs --rounds=N."),
        ("a alice bob carol --type=swiss --rounds=4", 1, "3 players can play 3 rounds of a Swiss"),
        ("a alice bob --type=swiss --rounds=two", 1, "--rounds takes a whole number from 1 to 50."),
        ("a alice bob --type=nonsense", 1, "--type=nonsense is none of roundrobin, pairs, swiss"),
        ("a alice bob --best-of=3", 1, "--best-of is for knockout."),
        (
            "a alice bob --type=knockout --best-of=2",
            1,
            "--best-of takes an odd number: a match of 2 games can end in a tie.",
        ),
        ("a alice bob --never=alice:bob", 1, "--never is for Swiss tournament."),
        ("a alice bob --type=swiss --rounds=1 --never=alice", 1, "--never=alice is not USERID:USERID"),
        ("a alice bob --type=swiss --rounds=1 --never=bob:nobody1", 1, "There is no user 'nobody1'."),
        (
            "a alice bob --type=swiss --rounds=1 --never=alice:bob",
            1,
            "No first round is possible, because --never keeps too many players apart.",
        ),
        ("a alice bob --type=swiss --rounds=1 --byes=many", 1, "--byes takes a whole number from 0"),
        ("old --trf", 1, "Pool old is no Swiss tournament; only these have a report for FIDE's programs."),
        ("a alice bob --type=arena", 1, "An arena needs --until=TIME."),
        ("a --open --type=arena --starts=2099-01-02 --until=2099-01-01", 1, "An arena starts before it ends."),
        ("a alice bob --tiebreaks=luck", 1, "There is no tie-break 'luck'; there are direct, sb"),
        ("a alice bob --director=nobody1", 1, "There is no user 'nobody1'."),
        ("a alice bob --starts=2027-01-31", 1, "--starts and --most are for a tournament with --open."),
        ("a --open --starts=soon", 1, "--starts takes a day such as 2027-01-31"),
        ("a --open --starts=2020-01-31", 1, "--starts=2020-01-31 is over already."),
        ("a --team=red:alice,bob", 1, "A team needs another one to play against."),
        ("a carol --team=red:alice --team=blue:bob", 1, "Where teams play, each player is named in a team."),
        ("a --team=red", 1, "--team=red is not NAME:USERID,USERID"),
        ("a --team=-red:alice --team=blue:bob", 1, "--team=-red:alice is not NAME:USERID,USERID"),
        (
            "a --team=red:alice,bob --team=blue:carol",
            1,
            "Teams have equally many players, but red has 2 and blue has 1.",
        ),
        ("a --open --team=red:alice,bob --team=blue:carol", 1, "red has 2 and blue has 1."),
        ("none start", 1, "There is no pool 'none' of Symple."),
        ("old start", 1, "Pool old of Symple is running; you can start it only while it is open."),
        ("old replace alice", 1, "`replace` is written `replace USERID NEW`."),
        ("old withdraw carol", 1, "carol does not take part in pool old."),
    ],
)
def test_a_tournament_that_cannot_be_is_refused_and_nothing_is_changed(players, words, status, reason):
    players.run("signup", "ab1", "good-secret")
    run(players, "old", "alice", "bob")
    before = dump(players)
    assert reason in players.refused("tournament", "symple", *words.split(), status=status)
    assert dump(players) == before


@set_up
def played(shell):
    """The pool a, in which alice has won against bob, bob has won against carol, and one game goes on."""
    sign_up_three(shell)
    run(shell, "-size=5", "a", "alice", "bob", "carol")
    for board, winner, loser in (("a3", "alice", "bob"), ("a1", "bob", "carol")):
        shell.run("symple", "move", board, loser, PASSWORDS[loser], "resign")
        shell.run("symple", "move", board, winner, PASSWORDS[winner], "c3")


def test_the_table_of_a_pool_is_told_to_people_programs_and_spreadsheets_in_markdown_and_in_html(played):
    assert printed(played, "a") == (
        "Pool a of Symple, 2 of 3 games played\n"
        "\n"
        "Place  Player  Points  SB  Won  Lost  Tied  To play  alice  bob  carol\n"
        "1      alice   1       1   1    0     0     1               1    .\n"
        "2      bob     1       0   1    1     0     0        0           1\n"
        "3      carol   0       0   0    1     0     1        .      0\n"
        "\n"
        "Places by points, then Sonneborn-Berger score (SB), direct encounter.\n"
    )
    shown = run(played, "A")
    assert (shown["game"], shown["pool"], shown["order"]) == ("symple", "a", ["points", "sb", "direct"])
    assert shown["table"][1].pop("used_seconds") >= 0
    assert shown["table"][1] == {
        "place": 2,
        "userid": "bob",
        "points": 1,
        "sonneborn_berger": 0,
        "won": 1,
        "lost": 1,
        "tied": 0,
        "to_play": 0,
        "results": {"alice": [0], "carol": [1]},
    }
    rows = list(csv.DictReader(printed(played, "a", "--csv").splitlines()))
    assert rows[0] == {
        "place": "1", "userid": "alice", "points": "1", "sonneborn_berger": "1", "won": "1", "lost": "0",
        "tied": "0", "to_play": "1", "alice": "", "bob": "1", "carol": "?",
    }  # fmt: skip
    lines = printed(played, "a", "--format=markdown").splitlines()
    assert lines[0] == "**Pool a of Symple, 2 of 3 games played**"
    assert lines[4] == "| 1 | alice | 1 | 1 | 1 | 0 | 0 | 1 |  | 1 | . |"
    shown = printed(played, "a", "--format=html")
    assert "<td>alice</td>" in shown
    assert json.loads(printed(played, "a", "--format=json")) == run(played, "a")


def read_as_something_else(cell):
    """Whether a spreadsheet reads a cell as a time of day, a date or a formula."""
    return re.fullmatch(r"\d+[:./-]\d+.*|[=+@-].+|\d+\.", cell) and not re.fullmatch(r"\d+\.\d+", cell)


def test_a_spreadsheet_reads_no_result_of_a_round_as_a_time_of_day(players):
    players.sign_up("dave", "erin", "frank")
    run(players, "-size=5", "s", "alice", "bob", "carol", "dave", "erin", "frank", "--type=swiss", "--rounds=2")
    for words in "s1 draw", "s2 cancel", "s3 win":
        printed(players, "s", "adjudicate", *words.split())
    rows = list(csv.DictReader(printed(players, "s", "--csv").splitlines()))
    assert not [cell for row in rows for cell in row.values() if read_as_something_else(cell)]
    # by hand: frank has won against carol, who has the one opponent with a point; alice and dave have tied
    assert {row["userid"]: row["r1"] for row in rows} == {
        "frank": "4+", "alice": "3=", "dave": "2=", "carol": "1-", "bob": "6x", "erin": "5x",
    }  # fmt: skip
    assert sorted(row["r2"] for row in rows) == ["1?", "2?", "3?", "4?", "5?", "6?"]


@set_up
def teams(shell):
    """A match of two teams, in which red has won one board, and the other one goes on."""
    sign_up_three(shell)
    shell.sign_up("dave")
    run(shell, "-size=5", "t", "--team=red:alice,bob", "--team=blue:carol,dave")
    printed(shell, "t", "adjudicate", "t1", "win", "alice")


def test_every_format_tells_the_teams_and_who_is_in_which(teams):
    assert printed(teams, "t") == (
        "Pool t of Symple, 1 of 2 games played\n"
        "\n"
        "Place  Team  Points  Board points  Won  Lost  Tied  To play\n"
        "1      red   0       1             0    0     0     1\n"
        "2      blue  0       0             0    0     0     1\n"
        "\n"
        "No  Place  Player  Team  Points  SB  Won  Lost  Tied  To play  1  2  3  4\n"
        "1   1      alice   red   1       0   1    0     0     0              1\n"
        "2   2      bob     red   0       0   0    0     0     1                 .\n"
        "3   2      carol   blue  0       0   0    1     0     0        0\n"
        "4   2      dave    blue  0       0   0    0     0     1           .\n"
        "\n"
        "Places by points, then Sonneborn-Berger score (SB), direct encounter.\n"
    )
    shown = run(teams, "t")
    assert {row["userid"]: row["team"] for row in shown["table"]} == {
        "alice": "red", "bob": "red", "carol": "blue", "dave": "blue",
    }  # fmt: skip
    assert [(team["team"], team["players"]) for team in shown["teams"]] == [
        ("red", ["alice", "bob"]), ("blue", ["carol", "dave"]),
    ]  # fmt: skip
    rows = list(csv.DictReader(printed(teams, "t", "--csv").splitlines()))
    assert [tuple(row.values())[1:6] for row in rows] == [
        ("alice", "red", "1", "0", "1"),
        ("bob", "red", "1", "0", "1"),
        ("carol", "blue", "2", "0", "0"),
        ("dave", "blue", "2", "0", "0"),
    ]
    assert list(rows[0])[2:6] == ["team", "team_place", "team_points", "board_points"]
    assert "| 1 | alice | red | 1 |" in printed(teams, "t", "--format=markdown")
    assert "<td>alice</td><td>red</td>" in printed(teams, "t", "--format=html")
    assert "Team       red: alice, bob\nTeam       blue: carol, dave\n" in printed(teams, "t", "status")
    assert run(teams, "t", "status")["teams"] == {"red": ["alice", "bob"], "blue": ["carol", "dave"]}


def test_the_list_of_boards_tells_the_teams(teams):
    words = ["u", "--team=red:alice,bob", "--team=blue:carol,dave", "--dry-run"]
    assert printed(teams, *words, "--csv") == (
        "board,first,first_team,second,second_team\nu1,alice,red,carol,blue\nu2,dave,blue,bob,red\n"
    )
    assert printed(teams, *words).startswith("Board  First  First team  Second  Second team\nu1     alice  red ")
    assert run(teams, *words)["schedule"][1] == {"board": "u2", "players": ["dave", "bob"], "teams": ["blue", "red"]}


def test_teams_that_have_become_unequal_before_the_start_do_not_start(teams):
    run(teams, "u", "--open", "--team=red:alice,bob", "--team=blue:carol,dave")
    printed(teams, "u", "withdraw", "dave")
    assert "red has 2 and blue has 1." in teams.refused("tournament", "symple", "u", "start")


def test_programs_are_told_sonneborn_berger_scores_also_where_they_decide_nothing(players):
    run(players, "a", "alice", "bob", "--tiebreaks=direct")
    assert [line["sonneborn_berger"] for line in run(players, "a")["table"]] == [0, 0]


def test_a_swiss_tournament_and_a_knockout_start_with_their_first_round_at_once(players):
    players.sign_up("dave", "erin")
    five = ["alice", "bob", "carol", "dave", "erin"]
    begun = run(players, "s", *five, "--type=swiss", "--rounds=3", "-size=5")
    assert (begun["round"], begun["byes"], [one["board"] for one in begun["schedule"]]) == (1, ["erin"], ["s1", "s2"])
    begun = run(players, "k", *five, "--type=knockout")
    assert begun["schedule"] == [{"board": "k1", "players": ["erin", "dave"]}]  # the best three come in the next round
    listed = players.json("boards", "symple", "tournament", "--all")["boards"]
    assert [one["board"] for one in listed] == ["k1", "s1", "s2"]


def test_the_pools_of_a_game_are_listed(played):
    run(played, "b", "alice", "bob")
    assert run(played) == {"game": "symple", "pools": {"a": 3, "b": 2}}
    assert printed(played) == (
        "Pool  Players  Type        State\na     3        roundrobin  running\nb     2        roundrobin  running\n"
    )
    assert played.done("tournament", "spiro") == "There are no tournaments of Spiro.\n"
