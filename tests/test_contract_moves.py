"""Moves, and what is written in the place of one (docs/command-language.md, section 5)."""

from random import Random

import pytest

from contract import SENDER, follow, seen, text_to, to
from examples import rules

OVER = "c3", "b1", "resign"

# The order of the checks: each line fails in all that come after its reason, too


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("carol", "move 999 ME", "missing"),
        ("carol", "move 999 carol wrong-secret z9#9", "There is no Symple board '999'"),
        ("carol", "move 103 carol wrong-secret z9#9", "userid or the password is wrong"),
        ("carol", "move 103 ME resign", "The game has ended: won by bob"),
        ("carol", "move 101 ME accept", "You do not play on this board"),
        ("bob", "move 101 ME accept", "Nothing is proposed"),
        ("bob", "move 101 ME unresign", "You have not resigned"),
        ("bob", "move 101 ME swap#9", "not your turn"),
        ("alice", "move 101 ME swap#9", "no swap"),
        ("alice", "move 101 ME pass#9", "move 9, but it would be move 3"),
        ("alice", "move 101 ME pass", "skip"),
        ("alice", "move 101 ME z9", "z9"),
        ("alice", "move 101 ME c3", "c3"),
    ],
)
def test_the_first_check_that_fails_makes_the_error(moved, name, line, reason):
    moved.begin()
    moved.begin()
    moved.plays(*OVER, board="103")
    assert reason in moved.refused(name, f"symple {line}").text


def test_total_time_is_checked_before_whose_turn_it_is_and_behind_the_votes(both_ways):
    both_ways.begin("symple challenge -size=5 --totaltime=3 alice bob")
    both_ways.plays("c3", "b1")
    both_ways.pass_time(days=4)
    both_ways.signs("bob", "symple move 101 ME propose")
    assert both_ways.at().row.vote == "draw"
    told = both_ways.signs("bob", "symple move 101 ME z9")
    assert "alice had used up their time" in text_to(SENDER, told)
    assert both_ways.played()[-1] == "(Forfeit)"


# After an accepted move


@pytest.mark.parametrize(
    ("challenge", "story"),
    rules("""
a move is stored in canonical form
    symple -size=5 alice bob | alice: move A1; bob: move b4; alice: move C3; bob: move d4; alice: move C4 , A2; \
played a1 b4 c3 d4 a2,c4
a move clears a submitted move and a vote
    symple -size=5 alice bob | alice: submit a1; submitted a1; bob: move propose; vote draw; voter bob; \
alice: move e1; submitted none; vote none; voter none; bob refused: move accept
only the player to move submits, a legal move in canonical form, and a new one replaces it
    symple -size=5 alice bob | bob refused: submit b1; alice refused: submit z9; alice: submit A1; \
alice refused: submit z9; submitted a1; alice: submit c3; submitted c3
an undo clears a submitted move
    symple -size=5 alice bob | alice: move c3; bob: move b1; alice: submit a1; bob: move undo; alice: move accept; \
submitted none
a pending resignation comes before everything else
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: queue e5; bob: move resign; alice: move a1; \
played c3 b1 a1 (Resign); winner alice
an undo keeps a pending resignation
    symple -size=5 alice bob | alice: move c3; bob: move b1; alice: move a1; alice: resign; bob: move undo; \
alice: move accept; played c3 b1; plan alice Resign; alice: move unresign; alice: move e1; played c3 b1 e1
a resignation out of turn stays when a vote is rejected and goes with a draw
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: resign; alice: move propose; bob: move reject; \
plan bob Resign; alice: move propose; bob: move accept; winner none; plan none; turn none
a vote goes away with a resignation
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: move propose; alice: resign; vote none; winner bob
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: move undo; alice: resign; vote none; winner bob
a move that is merely queued ends no vote, but one that is played does
    symple -size=5 alice bob | alice: move c3; bob: move propose; alice: queue e5; vote draw; bob: move b1; vote none
    symple -size=5 alice bob | alice: move c3; bob: move undo; alice: queue e5; vote undo; bob: move b1; vote none
who plays against themselves agrees with themselves at once
    symple -size=5 alice alice | alice: move c3; alice: move b1; alice: move undo; played c3; \
alice: move propose; turn none
a new queued move replaces the one before
    symple -size=5 alice bob | bob: queue b1; bob: queue e5; bob: queue d2; alice: move c3; played c3 (d2)
a move that is queued by the player to move is played at once, and another one later
    symple -size=5 alice bob | bob: queue b1; played; alice: queue c3; played c3 (b1)
a queued move goes away when the game ends
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: queue e5; alice: resign; turn none; plan none
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: queue e5; bob: resign; alice: move a1; \
turn none; plan none
    symple -size=5 alice bob | alice: move c3; bob: move b1; bob: queue e5; alice: move propose; bob: move accept; \
turn none; plan none
a queued move that has to wait for two turns in a row waits
    spora -size=5 -pie alice bob | alice: move komi=0; alice: queue a1; bob: move black; turn bob; \
played komi=0 black; bob: move c3; played komi=0 black c3 (a1)
    """),
)
def test_what_becomes_of_a_board(both_ways, challenge, story):
    game, _, players = challenge.partition(" ")
    both_ways.begin(f"{game} challenge {players}")
    for step in story.split("; "):
        who, is_done, command = step.partition(": ")
        name, _, is_refused = who.partition(" ")
        word, _, rest = command.partition(" ")
        if is_done:
            give = both_ways.refused if is_refused else both_ways.signs
            give(name, f"{game} {word} 101 ME {rest}")
        else:
            what, _, value = step.partition(" ")
            assert seen(both_ways.at(game=game))[what] == value


def test_a_queued_move_is_played_and_then_the_game_goes_on(begun):
    begun.signs("bob", "symple queue 101 ME b1")
    told = begun.signs("alice", "symple move 101 ME c3")
    assert to(told) == [(name, "Symple Board 101 alice") for name in ("alice", "bob")]
    assert all("Last turn: c3; b1 (Auto)" in one.text for one in told)


def test_a_player_who_must_skip_is_skipped_and_marked(both_ways):
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    while not any("--" in turn for turn in both_ways.played(game="spiro")):
        both_ways.plays(min(both_ways.at(game="spiro").state.moves()), game="spiro")
    assert "(--)" in both_ways.played(game="spiro")


def test_the_mover_gets_the_board_at_his_address_and_not_the_sender(by_mail):
    by_mail.begin()
    told = by_mail.give("dora", "symple move 101 alice alice-secret c3")
    assert to(told) == [(name, "Symple Board 101 bob") for name in ("alice", "bob")]


# Queue


@pytest.mark.parametrize(
    "story",
    rules("""
clear with a number that does not fit clears nothing
    challenge alice bob / bob: symple queue 101 ME b1 / bob refused: symple queue 101 ME clear#2 / \
sender reads would be move 1
confirm without a submitted move is an error
    challenge alice bob / alice refused: symple confirm 101 ME / sender reads There is no submitted move / \
alice: symple submit 101 ME c3 / alice: symple confirm 101 ME / plays b1 / alice refused: symple confirm 101 ME / \
sender reads There is no submitted move
who is asked already is told how to answer
    challenge alice bob / alice: symple move 101 ME propose / bob refused: symple move 101 ME propose / \
sender reads alice has proposed a draw already; `accept` or `reject` answers.
an undo takes back the last move of a player and the automatic ones behind it
    challenge alice bob / plays c3 b1 / bob: symple queue 101 ME e5 / alice: symple move 101 ME a1 / \
played c3 b1 a1 (e5) / bob: symple move 101 ME undo / alice: symple move 101 ME accept / played c3 b1 / turn alice / \
bob reads Taken back: a1, e5.
an undo drops a queued move, and only its owner is told
    challenge alice bob / plays c3 b1 a1 / alice: symple queue 101 ME e5 / alice: symple move 101 ME undo / \
bob: symple move 101 ME accept / played c3 b1 / plan none / \
alice reads Your plan is dropped, because a move was taken back. / bob reads no your plan / bob reads no Your plan
    """),
)
def test_what_players_are_told_of_a_board(both_ways, story):
    follow(both_ways, story)


@pytest.mark.parametrize("move", ["z9", "c3", "nonsense", "pass", "swap", "--", "b1#9"])
def test_a_queued_move_is_not_checked_for_legality_when_it_is_queued(begun, move):
    told = begun.signs("bob", f"symple queue 101 ME {move}")
    assert to(told) == [("bob", "Symple Board 101 alice")]
    told = begun.signs("alice", "symple move 101 ME c3")
    assert to(told) == [(name, "Symple Board 101 bob") for name in ("alice", "bob")]
    assert begun.played() == ["c3"]
    assert begun.at().plans == {}
    dropped = f"{'--' if move == 'pass' else move}, which you had planned, cannot be played, and your plan is dropped."
    assert dropped in text_to("bob", told)
    assert "your plan" not in text_to("alice", told).lower()


@pytest.mark.parametrize("word", ["resign", "unresign", "propose", "undo", "accept", "reject", "Resign", "undo#3"])
def test_what_is_no_move_cannot_be_queued(begun, word):
    begun.plays("c3")
    assert "cannot be planned" in begun.refused("alice", f"symple queue 101 ME {word}").text


@pytest.mark.parametrize("word", ["clear", "CLEAR", "clear#1"])
def test_clear_forgets_the_queued_move(begun, word):
    begun.signs("bob", "symple queue 101 ME b1")
    assert to(begun.signs("bob", f"symple queue 101 ME {word}")) == [("bob", "Symple Board 101 alice")]
    assert begun.at().plans == {}
    begun.refused("bob", f"symple queue 101 ME {word}")


def test_the_moves_and_the_winner_follow_the_user_when_seats_are_exchanged(both_ways):
    both_ways.begin("spora challenge -size=5 -pie alice bob")
    both_ways.plays("komi=0", "black", game="spora")
    told = both_ways.signs("bob", "spora move 101 ME c3")
    assert "Move  alice (white)  bob (black)" in text_to("alice", told)
    assert "2.                   c3" in text_to("alice", told)
    assert both_ways.at(game="spora").row.turn == "alice"
    told = both_ways.signs("alice", "spora resign 101 ME")
    assert "Won by bob (alice resigned)." in text_to("bob", told)
    assert both_ways.store.players.get("spora", "bob").won == 1


@pytest.mark.parametrize(("mark", "alice", "bob"), [("#1", "black", "white"), ("", "white", "black")])
def test_a_board_is_shown_with_the_sides_that_the_players_had_then(both_ways, mark, alice, bob):
    both_ways.begin("spora challenge -size=5 -pie alice bob")
    both_ways.plays("komi=0", "black", "c3", game="spora")
    text = text_to(SENDER, both_ways.give("carol", f"spora show 101{mark}"))
    assert f", alice ({alice}) against bob ({bob}) {'bob' if mark else 'alice'}'s turn" in " ".join(text.split())
    assert f"Move  alice ({alice})  bob ({bob})\n" in text


def test_an_undo_exchanges_the_seats_back(both_ways):
    both_ways.begin("spora challenge -size=5 -pie alice bob")
    both_ways.plays("komi=0", "black", game="spora")
    both_ways.signs("bob", "spora move 101 ME undo")
    both_ways.signs("alice", "spora move 101 ME accept")
    board = both_ways.at(game="spora")
    assert (board.state.seats, board.turn, board.row.turn) == ((0, 1), "bob", "bob")
    both_ways.signs("bob", "spora move 101 ME white")
    assert both_ways.at(game="spora").turn == "alice"


def test_the_clocks_follow_the_user_when_seats_are_exchanged(both_ways):
    both_ways.begin("spora challenge -size=5 -pie --totaltime=30 alice bob")
    both_ways.pass_time(days=1)
    both_ways.plays("komi=0", game="spora")
    both_ways.pass_time(days=2)
    both_ways.plays("black", game="spora")
    both_ways.pass_time(days=4)
    both_ways.plays("c3", game="spora")
    row = both_ways.at(game="spora").row
    assert (row.first_used, row.second_used) == (86400, 6 * 86400)


# Submit and confirm


@pytest.mark.parametrize("word", ["resign", "undo", "propose", "swap", "pass", "clear"])
def test_what_is_no_move_cannot_be_submitted(moved, word):
    moved.refused("alice", f"symple submit 101 ME {word}")


def test_the_answer_to_submit_shows_the_board_and_says_that_it_must_be_confirmed_and_nobody_else_sees_the_move(begun):
    [told] = begun.signs("alice", "symple submit 101 ME c3")
    assert told.to == SENDER
    assert "Nothing is played yet" in told.text
    assert "(W)" in told.text
    assert "symple confirm 101 alice PASSWORD" in told.text
    for name, line in (("carol", "symple show 101"), ("bob", "symple showas ME 101"), ("carol", "symple preview 101")):
        assert "c3" not in "".join(one.text for one in begun.signs(name, line))
    assert "move waits for you to confirm it:\nc3" in "".join(
        one.text for one in begun.signs("alice", "symple showas ME 101")
    )


def test_confirm_plays_it_with_its_own_comment(begun):
    begun.signs("alice", "symple submit 101 ME c3", "words of the submission")
    told = begun.signs("alice", "symple confirm 101 ME", "words of the confirmation")
    assert to(told) == [(name, "Symple Board 101 bob **") for name in ("alice", "bob")]
    assert "words of the confirmation" in text_to("bob", told)
    assert "words of the submission" not in text_to("bob", told)
    assert begun.played() == ["c3"]


# Preview


def test_previewed_moves_alternate_and_stop_at_the_first_illegal_one_with_its_error(begun):
    told = begun.refused("carol", "symple preview 101 c3 b1 c3 e5")
    assert "c3: There is a white stone on c3" in told.text
    assert "Last turn: b1" in told.text


def test_a_preview_stops_when_the_game_is_over(both_ways):
    [told] = both_ways.give(
        "carol", "spiro preview new 2 -small -pieces=1 dice=6 e3:6 dice=1,2 e2:1:2 dice=6,6 e1:x e1:x"
    )
    assert "Won by first." in told.text


def test_a_preview_reveals_no_dice(both_ways):
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    [told] = both_ways.give("carol", "spiro preview 101 e3:5")
    assert "bob's turn (O)." in told.text
    told = " ".join(both_ways.refused("carol", "spiro preview 101 e3:5 e2:4:2").text.split())
    assert "The dice for e2:4:2 are not thrown yet" in told
    assert "dice=4,2" in told
    assert "thrown already" in both_ways.refused("carol", "spiro preview 101 dice=6 e3:6").text
    [told] = both_ways.signs("alice", "spiro submit 101 ME e3:5")
    assert "bob's turn (O)." in told.text


# Resign


@pytest.mark.parametrize("moves", [(), ("c3",)])
@pytest.mark.parametrize("name", ["alice", "bob"])
def test_who_resigns_before_two_moves_are_made_leaves_and_the_board_is_removed(begun, moves, name):
    begun.plays(*moves)
    begun.signs(name, "symple resign 101 ME")
    assert begun.store.boards.get("symple", "101") is None
    assert begun.store.players.results_of_user("symple", "alice") == []
    assert "No game of Symple is over yet" in text_to(SENDER, begun.give("carol", "symple history"))
    begun.begin()
    assert begun.store.boards.get("symple", "102")


def test_a_leaver_without_other_boards_becomes_inactive_and_one_with_others_does_not(begun):
    begun.begin("symple challenge -size=5 alice carol")
    begun.plays("c3", "b1", "resign", board="102")  # both have a rating now
    begun.begin("symple challenge -size=5 carol dora")
    begun.signs("carol", "symple resign 103 ME")
    assert begun.store.players.get("symple", "carol").inactive
    begun.begin("symple challenge -size=5 alice dora")
    begun.signs("alice", "symple resign 104 ME")
    assert not begun.store.players.get("symple", "alice").inactive


def test_who_resigns_in_turn_loses_and_becomes_a_subscriber(moved):
    told = moved.signs("alice", "symple resign 101 ME")
    assert moved.played() == ["c3", "b1", "Resign"]
    assert "Won by bob (alice resigned)." in text_to("bob", told)
    assert [(row.userid, row.after) for row in moved.store.players.results_of_board("symple", "101")] == [
        ("alice", 1424),
        ("bob", 1824),
    ]
    assert moved.store.boards.followers("symple", "101")["subscriber"] == ["alice"]


def test_a_resignation_out_of_turn_replaces_the_queued_move_and_cannot_be_given_twice(moved):
    moved.signs("bob", "symple queue 101 ME e5")
    told = moved.signs("bob", "symple resign 101 ME")
    assert "You will resign as soon as it is your turn. To cancel this:\n" in text_to("bob", told)
    assert moved.at().plans == {"bob": "Resign"}
    told = moved.refused("bob", "symple move 101 ME resign")
    assert "symple move 101 bob PASSWORD unresign" in told.text
    moved.refused("bob", "symple queue 101 ME e5")
    moved.signs("bob", "symple move 101 ME unresign")
    assert moved.at().plans == {}
    moved.refused("bob", "symple move 101 ME unresign")


def test_nobody_else_sees_a_resignation_out_of_turn(moved):
    moved.signs("bob", "symple resign 101 ME")
    for name, line in (("carol", "symple show 101"), ("alice", "symple showas ME 101"), ("carol", "symple games")):
        assert "resign" not in "".join(one.text for one in moved.signs(name, line)).lower()


def test_nobody_leaves_a_tournament_board(four):
    four.begin("symple challenge -size=5 --name=a1 alice bob")
    four.signs("alice", "symple resign a1 ME")
    assert four.played("a1") == ["Resign"]
    four.begin("symple challenge -size=5 --name=a2 alice bob")
    four.signs("bob", "symple resign a2 ME")
    assert four.played("a2") == []
    four.plays("c3", board="a2")
    assert four.played("a2") == ["c3", "(Resign)"]


# Votes

VOTES = {"propose": "draw", "undo": "undo"}


@pytest.mark.parametrize("name", ["alice", "bob"])
@pytest.mark.parametrize("vote", VOTES)
def test_any_player_proposes_at_any_time_and_the_other_accepts(moved, name, vote):
    other = {"alice": "bob", "bob": "alice"}[name]
    told = moved.signs(name, f"symple move 101 ME {vote}")
    assert moved.at().row.vote == VOTES[vote]
    assert f"Waiting for {other} to `accept` or `reject`" in text_to(other, told)
    assert f"symple move 101 {other} PASSWORD accept" in text_to(other, told)
    moved.signs(other, "symple move 101 ME accept")
    assert moved.played() == (["c3", "b1"] if vote == "propose" else ["c3"])
    assert moved.at().is_over == (vote == "propose")
    assert moved.at().row.vote is None


@pytest.mark.parametrize("name", ["alice", "bob"])
@pytest.mark.parametrize("vote", VOTES)
def test_either_player_rejects_and_that_ends_the_vote(moved, name, vote):
    moved.signs("alice", f"symple move 101 ME {vote}")
    told = moved.signs(name, "symple move 101 ME reject")
    assert f"{name} has rejected the proposal" in text_to("bob", told)
    assert moved.at().row.vote is None
    assert moved.played() == ["c3", "b1"]


@pytest.mark.parametrize("first", VOTES)
@pytest.mark.parametrize("second", VOTES)
@pytest.mark.parametrize("name", ["alice", "bob"])
def test_the_other_kind_replaces_a_vote_and_the_same_kind_is_an_error(moved, first, second, name):
    moved.signs("alice", f"symple move 101 ME {first}")
    if first == second:
        assert "already" in moved.refused(name, f"symple move 101 ME {second}").text
    else:
        moved.signs(name, f"symple move 101 ME {second}")
        assert (moved.at().row.vote, moved.at().row.voter) == (VOTES[second], name)


@pytest.mark.parametrize("word", ["accept", "reject"])
def test_where_nothing_is_proposed_nothing_can_be_answered(begun, word):
    assert "Nothing is proposed" in begun.refused("bob", f"symple move 101 ME {word}").text


@pytest.mark.parametrize("vote", VOTES)
def test_a_vote_changes_no_turn_stops_no_clock_and_is_not_accepted_by_its_proposer(moved, vote):
    moved.pass_time(days=2)
    moved.signs("bob", f"symple move 101 ME {vote}")
    assert moved.at().turn == "alice"
    moved.pass_time(days=3)
    moved.signs("alice", "symple move 101 ME reject")
    assert moved.at().used(moved.time)[0] == 5 * 86400
    moved.signs("alice", f"symple move 101 ME {vote}")
    assert "Waiting for bob to answer" in moved.refused("alice", "symple move 101 ME accept").text


def test_a_draw_ends_the_game_as_a_tie_that_is_rated(moved):
    moved.signs("alice", "symple move 101 ME propose")
    told = moved.signs("bob", "symple move 101 ME accept")
    assert to(told) == [(name, "Symple Board 101") for name in ("alice", "bob")]
    assert "The game is a tie" in text_to("alice", told)
    assert moved.store.players.get("symple", "alice").tied == 1
    assert moved.played() == ["c3", "b1"]


def test_an_undo_may_go_back_to_the_start(moved):
    for _ in range(2):
        moved.signs("alice", "symple move 101 ME undo")
        moved.signs("bob", "symple move 101 ME accept")
    assert moved.played() == []
    moved.refused("alice", "symple move 101 ME undo")
    moved.signs("bob", "symple resign 101 ME")
    assert moved.store.boards.get("symple", "101") is None


def test_a_game_with_dice_refuses_undo_and_offers_draws(both_ways):
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    both_ways.plays("e3:5", "e2:4:2", game="spiro")
    assert "dice" in both_ways.refused("alice", "spiro move 101 ME undo").text
    both_ways.signs("alice", "spiro move 101 ME propose")
    both_ways.signs("bob", "spiro move 101 ME accept")
    assert both_ways.at(game="spiro").is_over


@pytest.mark.parametrize("game", ["symple", "sprout", "papagra", "spora"])
def test_all_games_offer_draws_and_those_without_dice_undo(four, game):
    four.begin(f"{game} challenge alice bob")
    four.plays(four.at(game=game).state.random(Random(1)), game=game)
    for vote in ("undo", "propose"):
        four.signs("alice", f"{game} move 101 ME {vote}")
        four.signs("bob", f"{game} move 101 ME accept")
    assert four.at(game=game).is_over
    assert four.played(game=game) == []
