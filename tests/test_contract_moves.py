"""Moves, and what is written in the place of one (docs/command-language.md, section 5)."""

from random import Random

import pytest

from helpers.examples import rules
from helpers.stories import follow


# The order of the checks: each line fails in all that come after its reason, too
@pytest.mark.parametrize(
    ("name", "line", "reason"),
    rules("""
the first check that fails makes the error
    carol | move 999 ME | missing
    carol | move 999 carol wrong-secret z9#9 | There is no Symple board '999'
    carol | move 103 carol wrong-secret z9#9 | userid or the password is wrong
    carol | move 103 ME resign | The game has ended: won by bob
    carol | move 101 ME accept | You do not play on this board
    bob | move 101 ME accept | Nothing is proposed
    bob | move 101 ME unresign | You have not resigned
    bob | move 101 ME swap#9 | not your turn
    alice | move 101 ME swap#9 | no swap
    alice | move 101 ME pass#9 | move 9, but it would be move 3
    alice | move 101 ME pass | skip
    alice | move 101 ME z9 | z9
    alice | move 101 ME c3 | c3
    """),
)
def test_a_move_is_refused(moved, name, line, reason):
    moved.begin()
    moved.begin()
    moved.plays("c3", "b1", "resign", board="103")
    assert reason in moved.refused(name, f"symple {line}").text


@pytest.mark.parametrize(
    "story",
    rules("""
total time is checked before whose turn it is and behind the votes
    challenge --totaltime=3 alice bob / plays c3 b1 / 4 days / bob: move propose / vote draw / bob: move z9 / \
sender reads alice had used up their time / played c3 b1 (Forfeit)
a move is stored in canonical form
    challenge alice bob / plays A1 b4 C3 d4 / alice: move C4 , A2 / played a1 b4 c3 d4 a2,c4
a move clears a submitted move and a vote
    challenge alice bob / alice: submit a1 / submitted a1 / bob: move propose / vote draw / voter bob / \
alice: move e1 / submitted / vote / voter / bob refused: move accept
only the player to move submits, a legal move in canonical form, and a new one replaces it
    challenge alice bob / bob refused: submit b1 / alice refused: submit z9 / alice: submit A1 / \
alice refused: submit z9 / submitted a1 / alice: submit c3 / submitted c3
a draw and an undo clear a submitted move
    challenge alice bob / plays c3 b1 / alice: submit a1 / bob: move propose / alice: move accept / submitted
    challenge alice bob / plays c3 b1 / alice: submit a1 / bob: move undo / alice: move accept / submitted
a pending resignation comes before everything else
    challenge alice bob / plays c3 b1 / bob: queue e5 / bob: move resign / alice: move a1 / \
played c3 b1 a1 (Resign) / winner alice
an undo keeps a pending resignation
    challenge alice bob / plays c3 b1 a1 / alice: resign / bob: move undo / alice: move accept / played c3 b1 / \
plan alice Resign / alice: move unresign / alice: move e1 / played c3 b1 e1
a resignation out of turn stays when a vote is rejected and goes with a draw
    challenge alice bob / plays c3 b1 / bob: resign / alice: move propose / bob: move reject / plan bob Resign / \
alice: move propose / bob: move accept / winner / plan / turn
a vote goes away with a resignation
    challenge alice bob / plays c3 b1 / bob: move propose / alice: resign / vote / winner bob
    challenge alice bob / plays c3 b1 / bob: move undo / alice: resign / vote / winner bob
a move that is merely queued ends no vote, but one that is played does
    challenge alice bob / plays c3 / bob: move propose / alice: queue e5 / vote draw / bob: move b1 / vote
    challenge alice bob / plays c3 / bob: move undo / alice: queue e5 / vote undo / bob: move b1 / vote
who plays against themselves agrees with themselves at once
    challenge alice alice / plays c3 b1 / alice: move undo / played c3 / alice: move propose / turn
a new queued move replaces the one before
    challenge alice bob / bob: queue b1 / bob: queue e5 / bob: queue d2 / alice: move c3 / played c3 (d2)
a move that is queued by the player to move is played at once, and another one later
    challenge alice bob / bob: queue b1 / played / alice: queue c3 / played c3 (b1)
a queued move goes away when the game ends
    challenge alice bob / plays c3 b1 / bob: queue e5 / alice: resign / turn / plan
    challenge alice bob / plays c3 b1 / bob: queue e5 / bob: resign / alice: move a1 / turn / plan
    challenge alice bob / plays c3 b1 / bob: queue e5 / alice: move propose / bob: move accept / turn / plan
a queued move that has to wait for two turns in a row waits
    challenge spora -size=5 -pie alice bob / plays komi=0 / alice: queue a1 / bob: move black / turn bob / \
played komi=0 black / bob: move c3 / played komi=0 black c3 (a1)
a queued move is played, and then the game goes on
    challenge alice bob / bob: queue b1 / alice: move c3 / told alice bob / all get Symple Board 101 alice / \
all read Last turn: c3; b1 (Auto)
clear with a number that does not fit clears nothing
    challenge alice bob / bob: queue b1 / bob refused: queue clear#2 / sender reads would be move 1
clear forgets the queued move
    challenge alice bob / bob: queue b1 / bob: queue clear / told bob / all get Symple Board 101 alice / plan / \
bob refused: queue clear
    challenge alice bob / bob: queue b1 / bob: queue CLEAR / plan
    challenge alice bob / bob: queue b1 / bob: queue clear#1 / plan
confirm without a submitted move is an error
    challenge alice bob / alice refused: confirm / sender reads There is no submitted move / alice: submit c3 / \
alice: confirm / plays b1 / alice refused: confirm / sender reads There is no submitted move
what is no move cannot be submitted
    challenge alice bob / plays c3 b1 / alice refused: submit resign / alice refused: submit undo / \
alice refused: submit propose / alice refused: submit swap / alice refused: submit pass / alice refused: submit clear
the answer to a submission shows the board, and nobody else sees the move
    challenge alice bob / alice: submit c3 / told sender / sender reads Nothing is played yet / sender reads (W) / \
sender reads symple confirm 101 alice PASSWORD / carol: symple show 101 / sender reads no c3 / \
carol: symple preview 101 / sender reads no c3 / bob: symple showas ME 101 / bob reads no c3 / \
alice: symple showas ME 101 / sender reads move waits for you to confirm it: c3
who is asked already is told how to answer
    challenge alice bob / alice: move propose / bob refused: move propose / \
sender reads alice has proposed a draw already; `accept` or `reject` answers.
    challenge alice bob / plays c3 / alice: move undo / bob refused: move undo / sender reads already / \
alice refused: move undo / sender reads already
the other kind replaces a vote
    challenge alice bob / plays c3 b1 / alice: move propose / bob: move undo / vote undo / voter bob
    challenge alice bob / plays c3 b1 / alice: move undo / alice: move propose / vote draw / voter alice
an undo takes back the last move of a player and the automatic ones behind it
    challenge alice bob / plays c3 b1 / bob: queue e5 / alice: move a1 / played c3 b1 a1 (e5) / bob: move undo / \
alice: move accept / played c3 b1 / turn alice / bob reads Taken back: a1, e5.
whoever reads of a proposal to undo is told what it takes back
    challenge alice bob / plays c3 b1 / bob: move undo / all read bob proposes to take back b1. / \
alice: move reject / alice: move undo / bob reads alice proposes to take back your move b1. / \
alice reads alice proposes to take back bob's move b1. / bob refused: move accept#9 / \
alice refused: move undo / sender reads You have proposed to take back bob's move b1 already.
    challenge alice bob / bob: queue d4 / alice: move c3 / alice: move undo / \
bob reads alice proposes to take back c3 and your answer d4. / \
alice reads alice proposes to take back c3 and bob's answer d4. / bob: move reject / bob: move undo / \
alice reads bob proposes to take back your move c3 and bob's answer d4. / alice: move accept / played
an undo drops a queued move, and only its owner is told
    challenge alice bob / plays c3 b1 a1 / alice: queue e5 / alice: move undo / bob: move accept / played c3 b1 / \
plan / alice reads Your plan is dropped, because a move was taken back. / bob reads no your plan / \
bob reads no Your plan
an undo may go back to the start
    challenge alice bob / plays c3 b1 / alice: move undo / bob: move accept / alice: move undo / bob: move accept / \
played / alice refused: move undo / bob: resign / gone
where nothing is proposed nothing can be answered
    challenge alice bob / bob refused: move accept / sender reads Nothing is proposed / bob refused: move reject / \
sender reads Nothing is proposed
either player rejects, and that ends the vote
    challenge alice bob / plays c3 b1 / alice: move propose / bob: move reject / vote / played c3 b1 / \
alice reads bob has rejected the proposal: a draw.
    challenge alice bob / plays c3 b1 / alice: move undo / alice: move reject / vote / played c3 b1 / \
bob reads alice has rejected the proposal: to take the last move back.
a draw ends the game as a tie that is rated
    challenge alice bob / plays c3 b1 / alice: move propose / bob: move accept / told alice bob / \
all get Symple Board 101 / all read The game is a tie / alice has tied 1 / played c3 b1
a resignation out of turn replaces the queued move, is told to its player alone and cannot be given twice
    challenge alice bob / plays c3 b1 / carol: symple subscribe ME 101 / bob: queue e5 / bob: resign / told bob / \
bob gets Symple Board 101 Resigned / bob reads You will resign as soon as it is your turn. To cancel this: / \
plan bob Resign / bob refused: move resign / sender reads symple move 101 bob PASSWORD unresign / \
bob refused: queue e5 / bob: move unresign / plan / bob refused: move unresign
nobody else sees a resignation out of turn
    challenge alice bob / plays c3 b1 / bob: resign / carol: symple show 101 / sender reads no esign / \
alice: symple showas ME 101 / all read no esign / carol: symple games / sender reads no esign
previewed moves alternate, and stop at the first illegal one with its error
    challenge alice bob / carol refused: symple preview 101 c3 b1 c3 e5 / \
sender reads c3: There is a white stone on c3 / sender reads Last turn: b1
a preview stops when the game is over
    carol: spiro preview new 2 -small -pieces=1 dice=6 e3:6 dice=1,2 e2:1:2 dice=6,6 e1:x e1:x / told sender / \
sender reads Won by first.
a plan of a command goes on in the body, and stands above the comment
    challenge alice bob / plays a1 / alice: plan if c3 then a5⏎if d4 then e5⏎⏎Hello / \
plan alice if c3 then a5; if d4 then e5 / alice: plan clear⏎Hello / plan
    challenge alice bob / alice: move a1⏎if c3 then a5⏎⏎Good luck! / plan alice if c3 then a5 / \
bob reads alice writes: Good luck! / bob reads no if c3
confirm plays a submitted move with its own comment
    challenge alice bob / alice: submit c3⏎words of the submission / alice: confirm⏎words of the confirmation / \
told alice bob / all get Symple Board 101 bob ** / bob reads words of the confirmation / \
bob reads no words of the submission / played c3
a preview reveals no dice
    challenge spiro -small -pieces=2 alice bob / carol: spiro preview 101 e3:5 / sender reads bob's turn (O). / \
carol refused: spiro preview 101 e3:5 e2:4:2 / sender reads The dice for e2:4:2 are not thrown yet / \
sender reads dice=4,2 / carol refused: spiro preview 101 dice=6 e3:6 / sender reads thrown already / \
alice: submit e3:5 / told sender / sender reads bob's turn (O).
what is shown of the past ends with a command that can be given now
    challenge spiro -small -pieces=2 alice bob / alice: move e3:5⏎Now you / carol: spiro show 101#0 / \
sender reads board 101 after 0 of its 1 move / sender reads spiro show 101 / sender reads no Now you / \
carol: spiro preview 101 E2-C2-E4 / sender reads spiro move 101 bob PASSWORD e2:4:2#2 / \
carol: spiro preview 101#0 e3:+ / sender reads spiro show 101
a game with dice refuses undo, and offers draws
    challenge spiro -small -pieces=2 alice bob / plays e3:5 e2:4:2 / alice refused: move undo / sender reads dice / \
alice: move propose / bob: move accept / turn
the clocks follow the user when seats are exchanged
    challenge spora -size=5 -pie --totaltime=30 alice bob / 1 days / plays komi=0 / 2 days / plays black / 4 days / \
plays c3 / carol: spora show 101 / sender reads Time of alice 1 day 00:00 / sender reads Time of bob 6 days 00:00
nobody leaves a tournament board
    challenge --name=a1 alice bob / alice: resign / played Resign
    challenge --name=a1 alice bob / bob: resign / played / alice: move c3 / played c3 (Resign)
who resigns before two moves are made leaves, and the board is removed for good
    challenge alice bob / alice: resign / gone / all read symple challenge -size=5 alice bob / \
alice has rating None / carol: symple history / sender reads No game of Symple is over yet / \
challenge alice bob / turn alice / alice: symple show 102 / sender reads board 102
    challenge alice bob / bob: resign / gone
    challenge alice bob / plays c3 / alice: resign / gone / bob has rating None
    challenge alice bob / plays c3 / bob: resign / gone
a leaver without other boards becomes inactive, and one with others does not
    challenge alice carol / challenge alice carol / plays c3 b1 resign / challenge carol dora / \
carol: symple resign 101 ME / carol has inactive False / carol: symple resign 103 ME / carol has inactive True
    challenge alice bob / challenge alice dora / plays c3 b1 resign / challenge alice dora / alice: resign / \
alice has inactive False
who resigns in turn loses and becomes a subscriber
    challenge alice bob / plays c3 b1 / alice: resign / played c3 b1 Resign / subscribers alice / \
bob reads Won by bob (alice resigned). / alice has rating 1424 / bob has rating 1824
the moves and the winner follow the user when seats are exchanged
    challenge spora -size=5 -pie alice bob / plays komi=0 black / bob: move c3 / \
alice reads Move alice (white) bob (black) / alice reads 2. c3 / turn alice / alice: resign / \
bob reads Won by bob (alice resigned). / bob has won 1
a board is shown with the sides that the players had then
    challenge spora -size=5 -pie alice bob / plays komi=0 black c3 / carol: spora show 101#1 / \
sender reads , alice (black) against bob (white) bob's turn / sender reads Move alice (black) bob (white) / \
carol: spora show 101 / sender reads , alice (white) against bob (black) alice's turn / \
sender reads Move alice (white) bob (black)
an undo exchanges the seats back
    challenge spora -size=5 -pie alice bob / plays komi=0 black / seats 1 0 / bob: move undo / alice: move accept / \
seats 0 1 / turn bob / bob: move white / turn alice
    """),
)
def test_what_becomes_of_a_board_and_what_is_told(both_ways, story):
    follow(both_ways, story)


def test_a_player_who_must_skip_is_skipped_and_marked(both_ways):
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    while not any("--" in turn for turn in both_ways.played(game="spiro")):
        both_ways.plays(min(both_ways.at(game="spiro").state.moves()), game="spiro")
    assert "(--)" in both_ways.played(game="spiro")


@pytest.mark.parametrize("move", ["z9", "c3", "nonsense", "pass", "swap", "--", "b1#9"])
def test_a_queued_move_is_not_checked_for_legality_when_it_is_queued(both_ways, move):
    dropped = f"{'--' if move == 'pass' else move}, which you had planned, cannot be played, and your plan is dropped."
    story = f"challenge alice bob / bob: queue {move} / told bob / all get Symple Board 101 alice / alice: move c3 / "
    story += "told alice bob / all get Symple Board 101 bob / played c3 / plan / alice reads no our plan / "
    follow(both_ways, f"{story}bob reads {dropped}")


@pytest.mark.parametrize("word", ["resign", "unresign", "propose", "undo", "accept", "reject", "Resign", "undo#3"])
def test_what_is_no_move_cannot_be_queued(begun, word):
    begun.plays("c3")
    assert "cannot be planned" in begun.refused("alice", f"symple queue 101 ME {word}").text


# Votes

VOTES = {"propose": "draw", "undo": "undo"}


@pytest.mark.parametrize("name", ["alice", "bob"])
@pytest.mark.parametrize("vote", VOTES)
def test_any_player_proposes_at_any_time_and_the_other_accepts(both_ways, name, vote):
    other = {"alice": "bob", "bob": "alice"}[name]
    story = f"challenge alice bob / plays c3 b1 / {name}: move {vote} / vote {VOTES[vote]} / "
    story += f"{other} reads Waiting for {other} to `accept` or `reject`: symple move 101 {other} PASSWORD accept / "
    story += f"{other}: move accept / vote / "
    follow(both_ways, story + ("played c3 b1 / turn" if vote == "propose" else "played c3 / turn bob"))


@pytest.mark.parametrize("vote", VOTES)
def test_a_vote_changes_no_turn_stops_no_clock_and_is_not_accepted_by_its_proposer(moved, vote):
    follow(moved, f"2 days / bob: move {vote} / turn alice / 3 days / alice: move reject")
    assert moved.at().used(moved.time)[0] == 5 * 86400
    follow(moved, f"alice: move {vote} / alice refused: move accept / sender reads Waiting for bob to answer")


@pytest.mark.parametrize("game", ["symple", "sprout", "papagra", "spora"])
def test_all_games_offer_draws_and_those_without_dice_undo(four, game):
    four.begin(f"{game} challenge alice bob")
    four.plays(four.at(game=game).state.random(Random(1)), game=game)
    for vote in ("undo", "propose"):
        four.signs("alice", f"{game} move 101 ME {vote}")
        four.signs("bob", f"{game} move 101 ME accept")
    assert four.at(game=game).is_over
    assert four.played(game=game) == []
