"""Challenges, moves and resignations (docs/command-language.md, sections 4 and 5)."""

import json

import pytest

from pbm.board.board import Board
from pbm.refusals import Refused


def test_a_challenge_starts_a_board_from_101_and_mails_it_to_both(club):
    club.signed_up("alice", "bob")
    [printed] = club.say("spiro challenge alice bob", comment="Have fun")
    assert [mail.subject for mail in club.mails()] == ["New Spiro Board 101 alice **"] * 2
    assert {mail.userid for mail in club.mails()} == {"alice", "bob"}
    assert "Challenger writes:\n\nHave fun" in printed.body
    assert club.text("spiro challenge alice bob").startswith("New: Spiro board 102")


def test_all_problems_of_a_challenge_are_told_at_once_and_no_number_is_used_up(club):
    club.signed_up("alice", "bob")
    with pytest.raises(Refused) as refused:
        club.say("spiro challenge -pieces=100 dora dave")
    assert str(refused.value).splitlines() == [
        "There is no user 'dora'.",
        "There is no user 'dave'.",
        "-pieces=n takes a whole number from 1 to 99.",
    ]
    assert refused.value.subject == "Invalid challenge"
    assert "board 101" in club.text("spiro challenge alice bob")


def test_a_player_who_challenges_by_mail_gets_the_board_once(club):
    club.signed_up("alice", "bob")
    club.say("spiro challenge alice bob", sender="alice@players.example")
    assert [mail.userid for mail in club.mails()] == ["alice", "bob"]


def test_a_user_can_play_against_himself(club):
    club.signed_up("alice")
    club.made = 12
    club.say("spiro challenge -small -pieces=2 alice alice")
    assert [mail.userid for mail in club.mails()] == ["alice"]
    club.move("alice", "e3:5")
    [printed] = club.move("alice", "e2:4:2")
    assert printed.data["moves"] == 2
    assert "1.    e3:5       e2:4:2" in printed.body


def test_a_move_is_printed_to_the_mover_and_mailed_to_the_other(pair):
    before = len(pair.mails("alice"))
    [printed] = pair.move("alice", "E3:5", comment="Your turn, bob")
    assert printed.data["turn"] == "bob"
    assert len(pair.mails("alice")) == before
    mail = pair.mails("bob")[-1]
    assert mail.subject == "Spiro Board 101 bob **"
    assert "bob's turn (O, dice 4 and 2)." in mail.text
    assert "Last turn: e3:5" in mail.text
    assert "alice writes:\n\nYour turn, bob" in mail.text
    assert mail.text.endswith("\n\nspiro move 101 bob PASSWORD MOVE#2\n")


def test_a_move_without_a_comment_removes_the_last_one(pair):
    pair.move("alice", "e3:5", comment="Old words")
    pair.move("bob", "e2:4:2")
    assert "Old words" not in pair.text("spiro show 101")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("spiro move x/101 alice alice-secret e3:5", "There is no Spiro board 'x/101'"),
        ("spiro move 101 carol carol-secret e3:5", "You do not play on this board; alice and bob do"),
        ("spiro move 101 bob bob-secret e2:5", "It is not your turn; alice is to move"),
        ("spiro move 101 alice alice-secret e3:5#0", "meant as move 0, but it would be move 1"),
        ("spiro move 101 alice alice-secret pass", "A turn is not skipped while a die can be used"),
        ("spiro move 101 alice alice-secret --", "A turn is not skipped while a die can be used"),
        ("spiro move 101 alice alice-secret e3:4", "no die left"),
    ],
)
def test_the_first_check_that_fails_makes_the_error_and_nothing_changes(pair, line, reason):
    before = pair.text("spiro show 101"), len(pair.mails())
    with pytest.raises(Refused, match=reason):
        pair.say(line)
    assert (pair.text("spiro show 101"), len(pair.mails())) == before


def test_who_resigns_before_both_have_moved_removes_the_board(pair):
    pair.move("alice", "e3:5")
    [printed] = pair.say("spiro resign 101 bob bob-secret", comment="No time, sorry")
    assert printed.subject == "Spiro board 101 has been removed **"
    assert pair.mails("alice")[-1].subject == printed.subject
    assert "No time, sorry" in pair.mails("alice")[-1].text
    assert printed.answer == "spiro challenge -small -pieces=2 alice bob"
    with pytest.raises(Refused, match="There is no Spiro board"):
        pair.say("spiro show 101")
    assert "board 102" in pair.text("spiro challenge alice bob")


def test_a_resignation_out_of_turn_waits_and_only_the_player_knows(pair):
    pair.move("alice", "e3:5")
    pair.move("bob", "e2:4:2")
    before = len(pair.mails("alice"))
    [printed] = pair.say("spiro resign 101 bob bob-secret")
    assert printed.subject == "Spiro Board 101 Resigned"
    assert "You will resign as soon as it is your turn" in printed.body
    assert len(pair.mails("alice")) == before
    assert "resign" not in pair.text("spiro show 101")
    assert "resign" not in pair.text("spiro showas alice alice-secret 101")
    assert "You will resign" in pair.text("spiro showas bob bob-secret 101")
    with pytest.raises(Refused, match="unresign"):
        pair.say("spiro resign 101 bob bob-secret")
    move = next(Board.load(pair.store, "spiro", "101").state.moves())
    [printed] = pair.move("alice", move)
    assert printed.data["winner"] == "alice"
    assert f"Last turn: {move}; Resign (Auto)" in printed.body


def play_out(club):
    board = Board.load(club.store, "spiro", "101")
    while not board.is_over:
        club.move(board.turn, max(board.state.moves(), key=lambda move: move.count("x")))
        board = Board.load(club.store, "spiro", "101")
    return board


def test_the_last_mail_has_all_moves_the_winner_and_the_secret_of_the_dice(pair):
    promise = pair.mails("bob")[0].text
    board = play_out(pair)
    text = pair.mails(board.opponent(board.winner))[-1].text
    assert f"Won by {board.winner}." in text
    assert all(turn.text in text for turn in board.turns)
    assert board.row.secret.hex() in text
    from hashlib import sha256

    assert sha256(board.row.secret).hexdigest() in promise


def test_what_a_row_says_follows_from_its_turns(pair):
    for _ in range(3):
        pair.say("spiro challenge -small -pieces=1 bob carol")
    play_out(pair)
    pair.say("spiro resign 102 bob bob-secret")
    for row in pair.store.boards.current("spiro", pair.time.replace(year=2000)):
        board = Board.load(pair.store, "spiro", row.board)
        assert (row.moves, row.turn, row.winner) == (len(board.turns), board.turn, board.winner)
        assert (row.ended is not None) == board.is_over


def test_the_dice_of_a_turn_are_stored_with_it_and_never_change(pair):
    shown = [json.dumps(pair.say("spiro show 101")[0].data["dice"])]
    pair.move("alice", "e3:5")
    shown.append(json.dumps(pair.say("spiro show 101")[0].data["dice"]))
    assert shown == ["[5]", "[4, 2]"]
    assert [turn.dice for turn in pair.store.boards.turns("spiro", "101")] == [(5,)]
    assert pair.say("spiro show 101#0")[0].data["dice"] == [5]
