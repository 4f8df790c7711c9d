"""Positions that are kept of busy boards: used where they follow from what is stored, and nowhere else."""

from collections import OrderedDict

import pytest

from pbm.actions.finding import find_board
from pbm.board import replays
from pbm.board.board import Board
from pbm.session import Session
from pbm.store.base import Base

from conftest import PASSWORDS


@pytest.fixture
def busy(club):
    """alice and bob on Symple 101, five turns played."""
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice bob")
    for turn, cell in enumerate(("a1", "c1", "e1", "a3", "c3")):
        play(club, turn, cell)
    return club


def play(club, turn, cell):
    name = ("alice", "bob")[turn % 2]
    club.say(f"symple move 101 {name} {PASSWORDS[name]} {cell}")


def found(club):
    return find_board(Session(club.server), "symple", "101")


def same(board, club):
    """Whether all positions are those that the stored turns lead to."""
    return board.states == Board.load(club.store, "symple", "101").states


@pytest.fixture
def played(monkeypatch):
    """The turns that are played while a board is replayed."""
    made = []
    follow = vars(Board)["_follow"]
    monkeypatch.setattr(Board, "_follow", lambda board, turn: (made.append(turn.text), follow(board, turn))[1])
    return made


def test_a_board_that_was_replayed_is_not_replayed_again(busy, played):
    found(busy)
    played.clear()
    board = found(busy)
    assert played == []
    assert same(board, busy)


def test_nothing_is_played_under_the_lock(busy, played, monkeypatch):
    monkeypatch.setattr("pbm.board.replays._kept", OrderedDict())
    under_lock = []
    lock = vars(Base)["_lock"]
    monkeypatch.setattr(Base, "_lock", lambda store: (lock(store), under_lock.append(len(played)))[0])
    play(busy, 5, "e3")
    assert played == ["a1", "c1", "e1", "a3", "c3", "e3"]
    assert under_lock == [len(played)]


def test_what_somebody_else_has_stored_counts(busy):
    found(busy)
    for change in ("UPDATE turns SET text = 'a5' WHERE number = 5", "DELETE FROM turns WHERE number = 5"):
        busy.store.db.execute(change)
        assert same(found(busy), busy)
    busy.store.db.execute("UPDATE boards SET options = '-size=7'")
    assert same(found(busy), busy)


def test_a_turn_that_was_taken_back_and_another_one_in_its_place_lead_to_its_own_position(busy):
    busy.say("symple move 101 alice alice-secret undo")
    busy.say("symple move 101 bob bob-secret accept")
    assert same(found(busy), busy)
    play(busy, 4, "e5")
    assert same(found(busy), busy)


def test_what_is_done_to_a_board_that_was_found_changes_none_that_is_found_later(busy):
    board = found(busy)
    board.play("bob", "e5", busy.time)
    board.take_back(2)
    assert same(found(busy), busy)


def test_a_board_of_the_same_number_with_another_secret_is_another_one(pair):
    pair.move("alice", "e3:5")
    find_board(Session(pair.server), "spiro", "101")
    pair.store.db.execute("UPDATE boards SET secret = ?", [bytes(32)])
    again = find_board(Session(pair.server), "spiro", "101")
    assert again.states == Board.load(pair.store, "spiro", "101").states


def test_only_so_many_boards_are_kept(busy, monkeypatch):
    monkeypatch.setattr(replays, "MOST_KEPT", 2)
    row = found(busy).row
    rows = [row._replace(board=number) for number in ("102", "103", "104")]
    for one in rows:
        replays.remember(one, [], ["the start"])
    assert [replays.recalled(one, []) for one in (row, *rows)] == [(), (), ["the start"], ["the start"]]
