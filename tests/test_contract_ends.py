"""Ends of games, ratings, lists, tournaments and followers (docs/command-language.md, section 7)."""

from random import Random

import pytest

from pbm.board.records import differences, outcome, replayed
from pbm.refusals import Refused

from helpers.examples import rules
from helpers.stories import follow

# The end


def test_who_has_taken_the_other_side_wins_with_it(four):
    four.begin("spora challenge -size=5 -pie alice bob")
    four.plays("komi=0", "black", game="spora")
    rng, board = Random(1), four.at(game="spora")
    while not board.is_over:
        four.plays(board.state.random(rng), game="spora")
        board = four.at(game="spora")
    assert board.reasons == ("rules",)
    assert board.winner == {0: "bob", 1: "alice"}[board.state.result().winner]


def test_a_game_that_ended_by_a_ruling_that_has_changed_since_has_ended(four):
    four.begin("sprout challenge -board=limping-3 alice bob")
    first_turns = "a4 b3,a3 e3,c3 f3,c4,b5 c1,c6,b2,f2 c5,d2,b4,d1,e2 a1,d5,e4,c2 a2,f1,xa4 d4,xf3,e1 xe1"
    four.plays(*first_turns.split(), game="sprout")
    # while a removal was a pass, the first -- behind it ended the game
    four.store.db.execute("DELETE FROM turns WHERE number = 12")
    four.store.db.execute("UPDATE boards SET moves = 11")
    board = four.at(game="sprout")
    assert board.state.result() is None
    assert (board.is_over, board.mover, board.winner) == (True, None, None)
    shown = four.say("sprout show 101")[0].data
    assert (shown["over"], shown["winner"], shown["moves"]) == (True, "draw", 11)
    with pytest.raises(Refused, match=r"The game has ended: tie\."):
        four.say("sprout move 101 bob bob-secret a4")
    assert list(differences(board.row, outcome(board.row, replayed(board.row, board.turns)))) == []


def test_a_player_who_has_to_pass_by_a_ruling_that_has_changed_since_their_turn_began_says_so(four):
    four.begin("sprout challenge -board=limping-3 alice bob")
    turns = "d1 f1,c2 e1,c3 a1,b2,c1 d2,e2 e3 d5,b3,f3,xf1 a2,xf3,c6 b5,b1,d3 f3,a4,xb1,a3,e4 b4,d4,c5 f1 xf1"
    four.plays(*turns.split(), game="sprout")
    # while a removal was a pass, bob had not to pass behind it, and the server waited for his move
    four.store.db.execute("DELETE FROM turns WHERE number = 14")
    four.store.db.execute("UPDATE boards SET moves = 13, turn = 'bob'")
    with pytest.raises(Refused, match="White must pass in this position"):
        four.say("sprout move 101 bob bob-secret f2")
    four.say("sprout move 101 bob bob-secret pass")
    board = four.at(game="sprout")
    assert (board.mover, board.turns[-1].text) == ("alice", "--")
    assert list(differences(board.row, outcome(board.row, replayed(board.row, board.turns)))) == []


@pytest.mark.parametrize(
    "end",
    ["alice: resign", "alice: move propose / bob: move accept", "21 days / clean up", "alice: signoff ME"],
)
def test_every_end_but_leaving_makes_both_players_active_again(four, end):
    with four.store.writing():
        for name in ("alice", "bob"):
            four.store.players.save("symple", four.store.players.get("symple", name)._replace(inactive=True))
    follow(four, f"challenge alice bob / plays c3 b1 / {end} / turn / bob has inactive False")


# Tournament boards


def test_a_tournament_board_that_is_left_counts_in_the_table_of_its_pool_and_in_no_rating(four):
    with four.store.writing():
        for name in ("alice", "bob"):
            four.store.tournaments.add_player("symple", "a", name)
    follow(four, "challenge --name=a1 alice bob / alice: resign / bob has rating None")
    assert four.store.tournaments.pool_players("symple") == [("a", "bob", 1, 0, 0), ("a", "alice", 0, 1, 0)]


@pytest.mark.parametrize(
    "story",
    rules("""
the last mail tells the ratings, or that the game is not rated
    challenge alice bob / plays c3 b1 / alice: resign / all read down 176 (provisional) / all read no is not rated
    challenge --name=a1 alice bob / plays c3 b1 / alice: resign / all read down 176 (provisional)
    challenge alice alice / plays c3 b1 / alice: resign / told alice / all read The game is not rated. / \
all read no (provisional)
a player who leaves is listed as inactive until a game of theirs ends
    challenge alice bob / plays c3 b1 resign / challenge alice bob / bob: resign / carol: symple standings / \
sender reads Inactive (provisional) / challenge alice bob / bob has inactive True / plays c3 b1 resign / \
bob has inactive False
a forfeit before the first moves makes the late player inactive
    challenge alice bob / plays c3 b1 resign / challenge alice bob / 21 days / clean up / alice has inactive True / \
bob has inactive False
a tournament board is played and shown by its name in any case
    challenge --name=finals12 alice bob / alice: symple move FINALS12 ME c3 / told alice bob / \
all get Symple Board finals12 bob / carol: symple show Finals12 / sender reads Last turn: c3 / \
bob: Re: Symple Board finals12 ME ** b1 / played c3 b1
nobody subscribes to a game that is over
    challenge alice bob / plays c3 b1 resign / carol: symple subscribe ME 101 / \
carol reads Not subscribed: 101 (the game is over).
the end of a game goes before other reasons why nobody can subscribe
    challenge alice bob / carol: symple subscribe ME 101 / plays c3 b1 resign / alice: symple subscribe ME 101 / \
alice reads Not subscribed: 101 (the game is over). / carol: symple subscribe ME 101 / \
carol reads Not subscribed: 101 (the game is over).
who plays or is subscribed already is listed as not subscribed
    challenge alice bob / alice: symple subscribe ME 101 / alice gets Subscription summary / \
alice gets no Symple Board 101 alice / alice reads Not subscribed: 101 (you play there).
    challenge alice bob / carol: symple subscribe ME 101 / carol: symple subscribe ME 101 / \
carol gets no Symple Board 101 alice / carol reads Not subscribed: 101 (you are subscribed already).
a subscriber gets one mail with the board at once, and then every one
    challenge alice bob / carol: symple subscribe ME 101 / carol gets Symple Board 101 alice / \
carol reads You get every mail about these Symple boards: 101. / alice: move c3 / told alice bob carol / \
bob: move b1 / told alice bob carol / alice: move propose / told alice bob carol / bob: move reject / \
told alice bob carol / alice: resign / told alice bob carol
several boards are subscribed to in one command
    challenge alice bob / challenge bob alice / carol: symple subscribe ME 101 102 / \
carol gets Symple Board 101 alice / carol gets Symple Board 102 bob / \
carol reads You get every mail about these Symple boards: 101, 102.
subscribe all is for active boards now and every later one, until unsubscribe all
    challenge alice bob / challenge alice bob / plays c3 b1 resign / challenge carol dora / \
carol: symple subscribe ME all / told carol / carol gets Subscription summary / carol gets Symple Board 101 alice / \
carol gets no Symple Board 102 / carol gets no Symple Board 103 carol / challenge alice bob / subscribers carol / \
carol: symple unsubscribe ME all / carol reads You get no more mails about: 101, 104. / subscribers / \
challenge alice bob / subscribers
a player who forfeits is subscribed
    challenge alice bob / plays c3 b1 / 21 days / clean up / subscribers alice
unsubscribe says what has ended and what never was
    challenge alice bob / challenge alice bob / carol: symple subscribe ME 101 / \
carol: symple unsubscribe ME 101 102 / \
carol reads You get no more mails about: 101. / carol reads You were not subscribed to: 102.
a subscriber who signs off gets nothing more
    challenge alice bob / carol: symple subscribe ME 101 / carol: symple subscribe ME all / \
carol: symple notify ME 101 / carol: symple notify ME / carol: signoff ME / alice: move c3 / told alice bob / \
bob: move b1 / told alice bob / alice: resign / told alice bob / challenge alice bob / plays c3 / bob: move b1 / \
told alice bob / alice: resign / told alice bob
notify of boards can be ended, too
    challenge alice bob / carol: symple notify ME 101 / carol: symple notify ME 101 off / plays c3 b1 / \
alice: resign / told alice bob
who is told of every end cannot end it for one board
    challenge alice bob / carol: symple notify ME / carol refused: symple notify ME 101 off / \
sender reads You are told of the end of every game of Symple; `symple notify carol PASSWORD off` ends that.
notify with boards is for those, and without for all until the same again
    challenge alice bob / carol: symple notify ME 101 / dora: symple notify ME / alice: move c3 / told alice bob / \
bob: move b1 / told alice bob / alice: resign / told alice bob carol dora / carol reads Notification: / \
dora reads Notification: / challenge alice bob / plays c3 b1 / alice: resign / told alice bob dora / \
dora: symple notify ME / challenge alice bob / plays c3 b1 / alice: resign / told alice bob
who plays or subscribes is not notified besides
    challenge alice bob / plays c3 b1 / alice: symple notify ME / carol: symple notify ME / \
carol: symple subscribe ME 101 / alice: resign / told alice bob carol / all get Symple Board 101 / \
all read no Notification:
    """),
)
def test_what_players_and_followers_are_told(both_ways, story):
    follow(both_ways, story)


@pytest.mark.parametrize("switch", ["on", "off", "ON"])
def test_notify_on_and_off_say_it_plainly_and_may_be_said_twice(both_ways, switch):
    for _ in range(2):
        both_ways.signs("carol", f"symple notify ME {switch}")
    assert both_ways.store.players.notified_of_all("symple") == (["carol"] if switch.lower() == "on" else [])
