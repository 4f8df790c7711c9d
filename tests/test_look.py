"""Boards as they are played and looked at, previews, and the proof of the dice."""

from hashlib import sha256

from helpers.database import stored_board


def play_out(club):
    board = stored_board(club.store, "spiro", "101")
    while not board.is_over:
        club.move(board.mover, max(board.state.moves(), key=lambda move: move.count("x")))
        board = stored_board(club.store, "spiro", "101")
    return board


def test_the_last_mail_has_all_moves_the_winner_and_the_secret_and_nothing_can_be_previewed_then(pair):
    promise = pair.mails("bob")[0].text
    board = play_out(pair)
    text = pair.mails(board.row.opponent(board.winner))[-1].text
    assert f"Won by {board.winner}." in text
    assert all(turn.text in text for turn in board.turns)
    assert board.row.secret.hex() in text
    assert sha256(board.row.secret).hexdigest() in promise
    assert "has ended" in pair.why_refused("spiro preview 101 e3:5")


def test_the_promise_of_the_dice_is_shown_with_the_board_and_those_of_a_turn_never_change(pair):
    promise = pair.mails("bob")[0].text.partition("SHA-256:\n")[2].split()[0]
    assert promise in pair.text("spiro show 101")
    assert promise in pair.text("spiro show 101#0")
    assert [*pair.say("spiro show 101")[0].data["dice"]] == [5]
    pair.move("alice", "e3:5")
    assert [*pair.say("spiro show 101")[0].data["dice"]] == [4, 2]
    assert [turn.dice for turn in pair.store.boards.turns("spiro", "101")] == [(5,)]
    assert pair.say("spiro show 101#0")[0].data["dice"] == [5]


def test_the_history_that_programs_are_told_has_all_moves_and_no_resignation(pair):
    for name, move in (("alice", "e3:5"), ("bob", "e2:4:2"), ("alice", "resign")):
        pair.move(name, move)
    assert pair.say("spiro show 101")[0].data["position"]["history"] == ["e3:5", "e2:4:2"]


def test_a_preview_takes_supposed_dice(pair):
    [shown] = pair.say("spiro preview 101 e3:5 dice=6,1 e2:6:1")
    assert shown.data["position"]["cells"] == {"e3": "X", "f1": "X", "e2": "O", "f4": "O"}
    assert pair.why_refused("spiro preview 101 e3:4").startswith("The piece on e3 cannot step 4")
    pair.move("alice", "e3:5")
    [shown] = pair.say("spiro preview 101#0 dice=6 e3:6")
    assert shown.data["position"]["cells"] == {"e3": "X", "e1": "X", "e2": "OO"}


def test_a_preview_of_a_new_game_needs_no_board_and_one_of_the_end_does_not_tell_the_secret(club):
    [shown] = club.say("spiro preview new 2 -small -pieces=3 dice=4 e3:4")
    assert shown.data["position"]["cells"] == {"e3": "XX", "f2": "X", "e2": "OOO"}
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small -pieces=1 alice bob")
    secret = stored_board(club.store, "spiro", "101").row.secret.hex()
    dice = club.say("spiro show 101")[0].data["dice"][0]
    words = f"e3:{dice} dice=1,2 e2:+ " + "dice=6,6 " + "e3:x"
    assert secret not in club.why_refused(f"spiro preview 101 {words}")
    [shown] = club.say("spiro preview new 2 -small -pieces=1 dice=6 e3:6 dice=1,2 e2:1:2 dice=6,6 e1:x")
    assert shown.data["winner"] == "first"
    assert "secret" not in shown.body


def test_the_dice_of_a_finished_board_are_checked_against_the_secret(pair):
    board = play_out(pair)
    text = pair.text("dice spiro 101")
    assert f"All {len(board.turns)} throws follow from the secret" in text
    with pair.store.writing():
        pair.store.db.execute("UPDATE turns SET dice = '[6, 6]' WHERE number = 2")
    assert "these moves do not follow from the secret: 2" in pair.why_refused("dice spiro 101")
