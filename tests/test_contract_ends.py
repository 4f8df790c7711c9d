"""Ends of games, ratings, lists, tournaments and followers (docs/command-language.md, section 7)."""

from random import Random

import pytest

from contract import SENDER, follow, text_to, to
from examples import rules

# The end


def test_a_game_that_is_played_out_tells_all_moves_the_winner_and_the_ratings(both_ways):
    both_ways.begin("spiro challenge -small -pieces=1 alice bob")
    both_ways.signs("carol", "spiro subscribe ME 101")
    board = both_ways.at(game="spiro")
    while not board.is_over:
        move = max(board.state.moves(), key=lambda move: move.count("x"))
        told = both_ways.signs(board.turn, f"spiro move 101 ME {move}")
        board = both_ways.at(game="spiro")
    assert to(told) == [(name, "Spiro Board 101") for name in ("alice", "bob", "carol")]
    for one in told:
        assert f"Won by {board.winner}.\n\n" in one.text
        assert f"{board.winner}  1600 -> 1824  up 224 (provisional)" in one.text
        assert all(turn.text in one.text for turn in board.turns)


def test_who_has_taken_the_other_side_wins_with_it(four):
    four.begin("spora challenge -size=5 -pie alice bob")
    four.plays("komi=0", "black", game="spora")
    rng, board = Random(1), four.at(game="spora")
    while not board.is_over:
        four.plays(board.state.random(rng), game="spora")
        board = four.at(game="spora")
    assert board.reasons == ("rules",)
    assert board.winner == {0: "bob", 1: "alice"}[board.state.result().winner]


@pytest.mark.parametrize(
    ("end", "rated"),
    [
        ("symple challenge -size=5 alice bob", True),
        ("symple challenge -size=5 alice alice", False),
        ("symple challenge -size=5 --name=a1 alice bob", True),
    ],
)
def test_the_last_mail_tells_the_ratings_or_that_the_game_is_not_rated(both_ways, end, rated):
    board = both_ways.begin(end)
    both_ways.plays("c3", "b1", board=board)
    told = both_ways.signs("alice", f"symple resign {board} ME")
    text = text_to("alice", told)
    assert ("down 176 (provisional)" in text) == rated
    assert ("The game is not rated." in text) != rated


@pytest.mark.parametrize("end", ["resign", "propose"])
def test_a_rating_that_stays_is_told_as_equal(four, end):
    with four.store.writing():
        for name in ("alice", "bob"):
            four.store.players.save(
                "symple", four.store.players.get("symple", name)._replace(rating=1720, won=10, lost=10)
            )
    four.begin()
    four.plays("c3", "b1", end)
    told = four.signs("bob", "symple move 101 ME accept") if end == "propose" else four.give("bob", "symple show 101")
    text = told[0].text
    if end == "propose":
        assert "alice  1720 -> 1720  equal\n" in text
    else:
        assert "alice  1720 -> 1704  down 16\n" in text
        assert "bob  1720 -> 1736  up 16\n" in text


# Standings


def test_the_standings_say_what_a_player_wants_and_plays(begun):
    begun.plays("c3", "b1", "resign")
    begun.begin("symple challenge -size=5 alice carol")
    begun.signs("alice", "symple limit ME 4")
    begun.signs("bob", "symple reject ME")
    begun.signs("alice", "symple seek ME 2")
    lines = text_to(SENDER, begun.give("stranger", "symple standings")).splitlines()
    assert lines[1:4] == [
        "Rank  Name   Rating  Won  Lost  Active  Limit    Seeking",
        "   1  bob      1824    1     0          /reject",
        "   2  alice    1424    0     1       1  / 4            2",
    ]


def test_a_player_who_leaves_is_listed_as_inactive_until_a_game_of_his_ends(begun):
    begun.plays("c3", "b1", "resign")
    begun.begin()
    begun.signs("bob", "symple resign 102 ME")
    assert "Inactive (provisional)" in text_to(SENDER, begun.give("carol", "symple standings"))
    begun.begin()
    assert begun.store.players.get("symple", "bob").inactive
    begun.plays("c3", "b1", "resign", board="103")
    assert not begun.store.players.get("symple", "bob").inactive


@pytest.mark.parametrize("end", ["resign", "propose", "forfeit", "signoff"])
def test_every_end_but_leaving_makes_both_players_active_again(four, end):
    with four.store.writing():
        for name in ("alice", "bob"):
            four.store.players.save("symple", four.store.players.get("symple", name)._replace(inactive=True))
    four.begin()
    four.plays("c3", "b1")
    if end == "forfeit":
        four.pass_time(days=21)
        four.clean()
    elif end == "signoff":
        four.signs("alice", "signoff ME")
    else:
        four.signs("alice", f"symple move 101 ME {end}")
        if end == "propose":
            four.signs("bob", "symple move 101 ME accept")
    assert four.at().is_over
    assert not four.store.players.get("symple", "bob").inactive


def test_a_forfeit_before_the_first_moves_makes_the_late_player_inactive(four):
    four.begin()
    four.plays("c3", "b1", "resign")
    four.begin()
    four.pass_time(days=21)
    four.clean()
    assert four.store.players.get("symple", "alice").inactive
    assert not four.store.players.get("symple", "bob").inactive


# Tournament boards


def test_a_tournament_board_counts_in_the_table_of_its_pool_if_that_is_set_up(four):
    with four.store.writing():
        for name in ("alice", "bob"):
            four.store.tournaments.add_player("symple", "a", name)
    for board in ("a1", "b1"):
        four.begin(f"symple challenge -size=5 --name={board} alice bob")
        four.plays("c3", "b1", "resign", board=board)
    text = text_to(SENDER, four.give("carol", "symple standings"))
    assert "Tournaments" in text
    assert four.store.tournaments.pool_players("symple") == [("a", "bob", 1, 0, 0), ("a", "alice", 0, 1, 0)]
    assert four.store.players.get("symple", "bob").won == 2


def test_a_tournament_board_is_played_and_shown_by_its_name_in_any_case(both_ways):
    both_ways.begin("symple challenge -size=5 --name=finals12 alice bob")
    told = both_ways.signs("alice", "symple move FINALS12 ME c3")
    assert to(told) == [(name, "Symple Board finals12 bob") for name in ("alice", "bob")]
    assert "Last turn: c3" in text_to(SENDER, both_ways.give("carol", "symple show Finals12"))
    told = both_ways.signs("bob", "Re: Symple Board finals12 ME ** b1")
    assert both_ways.played("finals12") == ["c3", "b1"]


# Subscribe


@pytest.mark.parametrize(
    "story",
    rules("""
nobody subscribes to a game that is over
    challenge alice bob / plays c3 b1 resign / carol: symple subscribe ME 101 / \
carol reads Not subscribed: 101 (the game is over).
unsubscribe says what has ended and what never was
    challenge alice bob / challenge alice bob / carol: symple subscribe ME 101 / \
carol: symple unsubscribe ME 101 102 / \
carol reads You get no more mails about these boards: 101. / carol reads You were not subscribed to these: 102.
notify of boards can be ended, too
    challenge alice bob / carol: symple notify ME 101 / carol: symple notify ME 101 off / plays c3 b1 / \
alice: symple resign 101 ME / told alice bob
    """),
)
def test_what_followers_are_told(both_ways, story):
    follow(both_ways, story)


@pytest.mark.parametrize(
    ("name", "reason"), [("alice", "you play there"), ("carol", "you are subscribed already"), ("dora", None)]
)
def test_who_plays_or_is_subscribed_already_is_listed_as_not_subscribed(begun, name, reason):
    begun.signs("carol", "symple subscribe ME 101")
    told = begun.signs(name, "symple subscribe ME 101")
    summary = told[-1]
    assert (summary.to, summary.subject) == (name, "Subscription summary")
    if reason:
        assert len(told) == 1
        assert f"Not subscribed: 101 ({reason})." in summary.text
    else:
        assert "You get every mail about these Symple boards: 101." in summary.text


def test_a_subscriber_gets_one_mail_with_the_board_at_once_and_then_every_one(begun):
    told = begun.signs("carol", "symple subscribe ME 101")
    assert [one.subject for one in told] == ["Symple Board 101 alice", "Subscription summary"]
    for name, move in (("alice", "c3"), ("bob", "b1"), ("alice", "propose"), ("bob", "reject"), ("alice", "resign")):
        told = begun.signs(name, f"symple move 101 ME {move}")
        assert "carol" in {one.to for one in told}
        assert text_to("carol", told)


def test_several_boards_are_subscribed_to_in_one_command(begun):
    begun.begin()
    told = begun.signs("carol", "symple subscribe ME 101 102")
    assert len(told) == 3
    assert "You get every mail about these Symple boards: 101, 102." in told[-1].text


def test_subscribe_all_is_for_active_boards_now_and_every_later_one_until_unsubscribe_all(begun):
    begun.begin()
    begun.plays("c3", "b1", "resign", board="102")
    begun.begin("symple challenge -size=5 carol dora")
    told = begun.signs("carol", "symple subscribe ME all")
    assert to(told) == [("carol", "Subscription summary"), ("carol", "Symple Board 101 alice")]
    begun.begin()
    followed = [begun.store.boards.followers("symple", board)["subscriber"] for board in ("101", "102", "103", "104")]
    assert followed == [["carol"], ["alice"], [], ["carol"]]
    begun.signs("carol", "symple unsubscribe ME all")
    begun.begin()
    followed = [begun.store.boards.followers("symple", board)["subscriber"] for board in ("101", "104", "105")]
    assert followed == [[], [], []]


def test_a_player_who_forfeits_is_subscribed(game):
    game.pass_time(days=21)
    game.clean()
    assert game.store.boards.followers("symple", "101")["subscriber"] == ["alice"]


def test_a_subscriber_who_signs_off_gets_nothing_more(begun):
    for line in ("subscribe ME 101", "subscribe ME all", "notify ME 101", "notify ME"):
        begun.signs("carol", f"symple {line}")
    begun.signs("carol", "signoff ME")
    begun.begin()
    for board in ("101", "102"):
        for name, move in (("alice", "c3"), ("bob", "b1"), ("alice", "resign")):
            told = begun.signs(name, f"symple move {board} ME {move}")
            assert sorted(one.to for one in told) == ["alice", "bob"]


# Notify


def test_notify_with_boards_is_for_those_and_without_for_all_until_the_same_again(begun):
    begun.begin()
    begun.signs("carol", "symple notify ME 101")
    begun.signs("dora", "symple notify ME")
    for board, names in (("101", ["carol", "dora"]), ("102", ["dora"])):
        assert {one.to for one in begun.signs("alice", f"symple move {board} ME c3")} <= {"alice", "bob"}
        begun.plays("b1", board=board)
        told = begun.signs("alice", f"symple resign {board} ME")
        assert sorted(one.to for one in told if one.text.startswith("Notification:")) == names
    begun.signs("dora", "symple notify ME")
    begun.begin()
    begun.plays("c3", "b1", board="103")
    assert sorted(one.to for one in begun.signs("alice", "symple resign 103 ME")) == ["alice", "bob"]


@pytest.mark.parametrize("switch", ["on", "off", "ON"])
def test_notify_on_and_off_say_it_plainly_and_may_be_said_twice(both_ways, switch):
    for _ in range(2):
        both_ways.signs("carol", f"symple notify ME {switch}")
    assert both_ways.store.players.notified_of_all("symple") == (["carol"] if switch.lower() == "on" else [])


def test_who_plays_or_subscribes_is_not_notified_besides(moved):
    for name in ("alice", "carol"):
        moved.signs(name, "symple notify ME")
    moved.signs("carol", "symple subscribe ME 101")
    told = moved.signs("alice", "symple resign 101 ME")
    assert to(told) == [(name, "Symple Board 101") for name in ("alice", "bob", "carol")]
