"""Streams of events: what a program or a page hears of boards, when, and what nobody hears."""

from datetime import UTC, datetime, timedelta

import pytest

from pbm.store import Store
from pbm.store.schema import board_states

from helpers import next_version
from helpers.club import PASSWORDS

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def states(club):
    """The numbers of the present states of all boards, with what they tell."""
    return [(state.number, state.board, state.moves, state.turn, state.vote) for state in club.store.states.since(0)]


def say(club, name, command, comment=""):
    """A command of Symple by one of the users, who writes ME for userid and password."""
    club.say(f"symple {command.replace('ME', f'{name} {PASSWORDS[name]}')}", comment)


@pytest.fixture
def played(board):
    """Board 101 of Symple between alice and bob, on which three moves were made."""
    for name, move in ("alice", "e5"), ("bob", "c7"), ("alice", "g3"):
        say(board, name, f"move 101 ME {move}")
    return board


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bob", "submit 101 ME c3"),
        ("alice", "plan 101 ME if a1 then a2"),
        ("alice", "queue 101 ME a2"),
        ("alice", "note 101 ME"),
        ("alice", "chat 101 ME"),
        ("alice", "nag 101 ME"),
        ("carol", "subscribe 101 ME"),
        ("carol", "notify ME 101"),
        ("bob", "preview 101 c3"),
        ("alice", "give 101 ME 3"),
    ],
)
def test_what_is_secret_and_what_is_no_move_makes_no_new_state(played, name, line):
    before = states(played)
    played.wait(days=4)  # so that there may be a reminder
    say(played, name, line, "Something is said.")
    assert states(played) == before
    assert played.store.states.last_number() == before[-1][0]


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("bob", "move 101 ME c3", (4, "alice", None)),
        ("bob", "move 101 ME propose", (3, "bob", "draw")),
        ("alice", "move 101 ME undo", (3, "bob", "undo")),
        ("bob", "move 101 ME resign", (4, None, None)),
    ],
)
def test_a_move_a_proposal_and_the_end_make_a_new_state(played, name, line, told):
    before = played.store.states.last_number()
    say(played, name, line)
    [state] = played.store.states.since(before)
    assert (state.moves, state.turn, state.vote) == told


def test_a_move_that_takes_the_place_of_another_one_is_a_new_state(played):
    say(played, "alice", "move 101 ME undo")
    before = played.store.states.last_number()
    played.wait(minutes=1)
    with played.store.writing():  # nobody can look between these
        say(played, "bob", "move 101 ME accept")
        say(played, "alice", "move 101 ME c3")
    [state] = played.store.states.since(before)
    assert (state.moves, state.turn) == (3, "bob")


def test_the_states_of_a_user_are_those_of_their_boards_also_of_one_that_was_removed(played):
    states = played.store.states
    before = states.last_number()
    played.say("symple challenge -size=5 alice carol")
    played.say("symple challenge -size=5 carol bob")
    assert [state.board for state in states.active_of_user("alice")] == ["101", "102"]
    assert [state.board for state in states.of_user_since("bob", before)] == ["103"]
    with played.store.writing():
        played.store.boards.remove("symple", "103", played.time)
    assert [(state.board, state.moves) for state in states.of_user_since("bob", before)] == [("103", None)]
    assert [state.board for state in states.active_of_user("bob")] == ["101"]
    played.store.forget_old(played.time + timedelta(days=1))
    assert states.get("symple", "103") is None


def test_boards_of_an_earlier_version_have_states(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        next_version.install_steps(patched.setattr, [step for step in next_version.OURS if step is not board_states])
        with Store(tmp_path / "pbm.db") as store:
            store.users.add("alice", "", DAY)
            row = {"game": "symple", "board": "101", "options": "", "secret": b"", "started": DAY, "moves": 3}
            store.boards.insert("boards", row | {"first_player": "alice", "second_player": "alice", "turn": "alice"})
    with Store(tmp_path / "pbm.db") as store:
        [state] = store.states.active_of_user("alice")
        assert (state.board, state.moves, state.number) == ("101", 3, 1)
        assert store.health.damage() == []
