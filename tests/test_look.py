"""Looking at boards, previews, and the proof of the dice."""

import re

import pytest

from pbm.board.board import Board
from pbm.refusals import Refused

from test_play import play_out


def test_show_shows_the_board_after_so_many_moves(pair):
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    at = {mark: pair.say(f"spiro show 101{mark}")[0].data for mark in ("", "#0", "#1", "#-1", "#99", "#-99")}
    assert {mark: data["moves"] for mark, data in at.items()} == {
        "": 2, "#0": 0, "#1": 1, "#-1": 1, "#99": 2, "#-99": 0,
    }  # fmt: skip
    assert at["#1"]["position"]["cells"] == {"e3": "X", "f1": "X", "e2": "OO"}
    assert (at["#1"]["turn"], at["#1"]["dice"]) == ("bob", [4, 2])


def test_show_answers_for_each_board_and_lists_those_it_did_not_find(pair):
    pair.say("spiro challenge alice carol")
    letters = pair.say("spiro show 101 102 103 x!")
    assert [letter.subject for letter in letters] == ["Spiro Board 101 alice", "Spiro Board 102 alice", "Show summary"]
    assert "'103'" in letters[-1].body
    assert "'x!'" in letters[-1].body
    with pytest.raises(Refused):
        pair.say("spiro show nosuch")


def test_the_answers_to_looking_go_to_whoever_asked_by_mail(pair):
    pair.say("spiro show 101", sender="stranger@players.example")
    assert pair.mails()[-1].address == "stranger@players.example"


def test_what_is_shown_of_the_past_ends_with_a_command_that_can_be_given_now(pair):
    pair.move("alice", "e3:5", comment="Now you")
    [past] = pair.say("spiro show 101#0")
    assert "board 101 after 0 of its 1 move" in past.body
    assert past.answer == "spiro show 101"
    assert "Now you" not in past.body
    [tried] = pair.say("spiro preview 101 E2-C2-E4")
    assert tried.answer == "spiro move 101 bob PASSWORD e2:4:2#2"
    [tried] = pair.say("spiro preview 101#0 e3:+")
    assert tried.answer == "spiro show 101"


def test_the_promise_of_the_dice_is_shown_whenever_the_whole_board_is(pair):
    promise = pair.mails("bob")[0].text.partition("SHA-256:\n")[2].split()[0]
    assert promise in pair.text("spiro show 101")
    assert promise in pair.text("spiro show 101#0")


def test_games_is_a_table_of_boards_with_options_and_status(pair):
    pair.say("spiro challenge alice carol")
    pair.move("alice", "e3:5")
    assert pair.say("spiro games")[0].body.splitlines() == [
        "Board  Moves  Players      Status          Options",
        "101    1      alice bob    bob's turn      -small -pieces=2",
        "102    0      alice carol  alice to start",
    ]


def test_games_forgets_boards_that_were_over_for_two_weeks_unless_they_are_named(pair):
    play_out(pair)
    assert "won by" in pair.text("spiro games")
    pair.pass_time(days=15)
    assert "There are no boards of Spiro" in pair.text("spiro games")
    assert "won by" in pair.text("spiro games 101")


def test_list_counts_the_active_boards_of_each_game(pair):
    assert re.search(r"^spiro +1$", pair.text("list"), re.MULTILINE)
    assert "101" in pair.text("list SPIRO")


def test_a_preview_changes_nothing(pair):
    before = list(pair.store.db.iterdump())
    [shown] = pair.say("spiro preview 101 e3:5")
    assert "Last turn: e3:5" in shown.body
    assert list(pair.store.db.iterdump()) == before


def test_a_preview_does_not_reveal_the_dice_to_come(pair):
    [shown] = pair.say("spiro preview 101 e3:5")
    assert shown.data["dice"] == []
    assert "bob's turn (O)." in shown.body
    with pytest.raises(Refused, match=r"dice for e2:4 are not thrown yet"):
        pair.say("spiro preview 101 e3:5 e2:4")


def test_a_preview_takes_supposed_dice_for_later_turns_but_not_for_the_present_one(pair):
    [shown] = pair.say("spiro preview 101 e3:5 dice=6,1 e2:6:1")
    assert shown.data["position"]["cells"] == {"e3": "X", "f1": "X", "e2": "O", "f4": "O"}
    with pytest.raises(Refused, match="thrown already"):
        pair.say("spiro preview 101 dice=6 e3:6")
    with pytest.raises(Refused, match="should be dice="):
        pair.say("spiro preview 101 e3:5 dice=7,1 e2:6:1")
    with pytest.raises(Refused, match="two dice"):
        pair.say("spiro preview 101 e3:5 dice=1 e2:1")


def test_a_preview_from_an_earlier_position_may_suppose_other_dice(pair):
    pair.move("alice", "e3:5")
    [shown] = pair.say("spiro preview 101#0 dice=6 e3:6")
    assert shown.data["position"]["cells"] == {"e3": "X", "e1": "X", "e2": "OO"}


def test_a_preview_stops_at_the_first_illegal_move_and_shows_the_board_so_far(pair):
    with pytest.raises(Refused, match="e2:5: The piece") as refused:
        pair.say("spiro preview 101 e3:5 dice=6,1 e2:5")
    assert refused.value.point.moves == 1


def test_the_refusal_of_a_move_that_is_tried_alone_does_not_name_it_twice(pair):
    with pytest.raises(Refused) as refused:
        pair.say("spiro preview 101 e3:4")
    assert str(refused.value).startswith("The piece on e3 cannot step 4")


def test_a_preview_of_the_end_of_a_game_does_not_tell_the_secret(club):
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small -pieces=1 alice bob")
    secret = Board.load(club.store, "spiro", "101").row.secret.hex()
    dice = club.say("spiro show 101")[0].data["dice"][0]
    words = f"e3:{dice} dice=1,2 e2:+ " + "dice=6,6 " + "e3:x"
    with pytest.raises(Refused) as refused:
        club.say(f"spiro preview 101 {words}")
    assert secret not in str(refused.value)
    [shown] = club.say("spiro preview new 2 -small -pieces=1 dice=6 e3:6 dice=1,2 e2:1:2 dice=6,6 e1:x")
    assert shown.data["winner"] == "first"
    assert "secret" not in shown.body


def test_a_preview_of_a_new_game_needs_no_board(club):
    [shown] = club.say("spiro preview new 2 -small -pieces=3 dice=4 e3:4")
    assert shown.data["position"]["cells"] == {"e3": "XX", "f2": "X", "e2": "OOO"}
    with pytest.raises(Refused, match="2 players"):
        club.say("spiro preview new 3")
    with pytest.raises(Refused, match="no option"):
        club.say("spiro preview new 2 -foo")


def test_a_preview_of_a_board_takes_no_options(pair):
    with pytest.raises(Refused, match="options of board 101 are set"):
        pair.say("-small spiro preview 101 e3:5")


def test_a_finished_game_cannot_be_previewed_further(pair):
    play_out(pair)
    with pytest.raises(Refused, match="has ended"):
        pair.say("spiro preview 101 e3:5")


def test_the_dice_of_a_finished_board_are_checked_against_the_secret(pair):
    with pytest.raises(Refused, match="not over"):
        pair.say("dice spiro 101")
    board = play_out(pair)
    text = pair.text("dice spiro 101")
    assert f"All {len(board.turns)} throws follow from the secret" in text
    with pair.store.writing():
        pair.store.db.execute("UPDATE turns SET dice = '[6, 6]' WHERE number = 2")
    with pytest.raises(Refused, match="these moves do not follow from the secret: 2"):
        pair.say("dice spiro 101")
