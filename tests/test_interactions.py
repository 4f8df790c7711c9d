"""What happens when two things meet: a vote and a submitted move, a clock and a board that has hardly begun."""

from random import Random

import pytest

from pbm.board.board import Board
from pbm.board.records import differences, outcome, replayed
from pbm.refusals import Refused


def begun(pair):
    """Two moves on alice's and bob's board; a player can resign from now on, and not merely leave."""
    for _ in range(2):
        board = Board.load(pair.store, "spiro", "101")
        pair.move(board.turn, next(board.state.moves()))
    return Board.load(pair.store, "spiro", "101")


def test_a_draw_forgets_the_move_that_was_submitted(pair):
    board = begun(pair)
    name = board.turn
    pair.say(f"spiro submit 101 {name} {name}-secret {next(board.state.moves())}")
    pair.move(board.row.opponent(name), "propose")
    pair.move(name, "accept")
    assert pair.store.boards.get("spiro", "101").submitted is None


def test_who_is_too_late_on_a_board_that_has_not_begun_is_told_that_it_is_removed(pair):
    pair.say("spiro challenge -small -pieces=2 --totaltime=1 alice bob")
    pair.pass_time(days=1)
    with pytest.raises(
        Refused, match="alice had used up their time before the game began, so the board is removed"
    ) as why:
        pair.move("alice", "e3:5", board="102")
    assert why.value.point is None
    assert pair.store.boards.get("spiro", "102") is None


def test_a_board_whose_player_has_signed_off_out_of_turn_is_sound_when_it_is_played_again(pair):
    board = begun(pair)
    name = board.row.opponent(board.turn)
    pair.say(f"signoff {name} {name}-secret")
    row, turns = pair.store.boards.get("spiro", "101"), pair.store.boards.turns("spiro", "101")
    assert [(turn.userid, turn.text) for turn in turns[2:]] == [(name, "Resign")]
    assert list(differences(row, outcome(row, replayed(row, turns)))) == []


def test_a_board_on_which_the_server_has_skipped_a_player_is_sound_when_it_is_played_again(club):
    club.signed_up("alice", "bob")
    club.say("sprout challenge -board=limping-3 alice bob")
    rng = Random(26)  # with it, a player cannot move after 16 turns
    while not any(turn.text == "--" for turn in club.store.boards.turns("sprout", "101")):
        board = Board.load(club.store, "sprout", "101")
        club.say(f"sprout move 101 {board.turn} {board.turn}-secret {board.state.random(rng)}")
    row, turns = club.store.boards.get("sprout", "101"), club.store.boards.turns("sprout", "101")
    assert list(differences(row, outcome(row, replayed(row, turns)))) == []
