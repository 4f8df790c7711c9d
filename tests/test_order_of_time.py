"""A clock of the machine that steps back: no time of a board is before its last one (command-language, section 6)."""

from datetime import datetime, timedelta
from itertools import count

import pytest

from pbm.actions.status import needed, status_at
from pbm.board.records import Record, differences, outcome, read, replayed, write
from pbm.lab import matches
from pbm.operator import doctor
from pbm.operator.exchange import take_in
from pbm.robot_players import tasks
from pbm.session import Session
from pbm.store import Store

from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.examples import rules
from helpers.robots import Mind, up_and_down
from helpers.stories import ON_BOARD


def times(store, game="symple", board="101"):
    """All times that are stored of a board, in the order in which things happened on it."""
    found = stored_board(store, game, board)
    row = found.row
    moments = [row.started, *(turn.played for turn in found.turns), row.changed or row.started]
    return moments + [moment for moment in (row.nagged, row.ended) if moment]


def findings(club):
    """What the doctor says of boards and of the clock."""
    found = doctor.examine(club.store.path, club.time)
    return [one.what for one in found if one.where.partition(" ")[0] in {"symple", "spiro", "clock"}]


def taken_in(club, game, board="101"):
    """The number under which a board is taken in that was exported from here."""
    row, turns = club.store.boards.get(game, board), club.store.boards.turns(game, board)
    with club.store.writing():
        return take_in(club.server, read(write(Record(row, turns), []), {}, club.time))


def steps_back(club, seconds, step):
    """Give a command, such as ``alice: move c3``, after the clock has stepped back by so many seconds."""
    club.pass_time(seconds=-seconds)
    name, _, line = step.partition(": ")
    word, _, rest = line.partition(" ")
    club.signs(name, f"symple {word} 101 ME {rest}" if word in ON_BOARD else line)


@pytest.mark.parametrize("seconds", [2, 7200])
@pytest.mark.parametrize(
    "story",
    rules("""
the first move comes before the challenge
    alice: move c3
an answer comes before its move
    alice: move c3 / bob: move b1 / alice: move d4
a planned answer comes before the challenge
    bob: plan if any then b1 if any then a1 / alice: move c3 / alice: move d4
a move is taken back, and another one is made
    alice: move c3 / bob: move b1 / bob: move undo / alice: move accept / bob: move a1
a draw is agreed on
    alice: move c3 / bob: move b1 / alice: move propose / bob: move accept
a player resigns
    alice: move c3 / bob: move b1 / alice: resign
a player resigns before it is their turn
    alice: move c3 / bob: move b1 / bob: resign / alice: move d4
a player signs off
    alice: move c3 / bob: move b1 / bob: signoff ME
a player is reminded by the other one
    alice: move c3 / bob: move b1 / bob: nag
days are given
    alice: move c3 / bob: move b1 / bob: give 3 / alice: move d4
    """),
)
def test_no_time_of_a_board_is_before_its_last_one(four, story, seconds):
    four.begin("symple challenge -size=5 --totaltime=30 alice bob")
    for step in story.split(" / "):
        steps_back(four, seconds, step)
    row = four.at().row
    assert {*times(four.store)} == {row.started}  # the clock has never come so far again
    assert max(row.first_used, row.second_used) == 0
    assert [what for what in findings(four) if "something was done" not in what] == []


def test_the_server_s_own_turns_come_in_order_too(four, monkeypatch):
    monkeypatch.setattr(tasks, "Player", Mind())
    four.say("symple challenge -size=5 alice robot2")
    steps_back(four, 2, "alice: move c3")
    four.pass_time(seconds=-2)
    assert tasks.play_all(Session(four.server)) == 1
    steps_back(four, 2, "alice: move d4")
    moments = times(four.store)
    assert len(stored_board(four.store, "symple", "101").turns) == 3
    assert moments == sorted(moments)


def test_a_player_who_signs_off_leaves_a_tournament_in_order_too(four):
    four.say("symple challenge -size=5 --name=a1 alice bob")
    for name, move in ("alice", "c3"), ("bob", "b1"):
        four.pass_time(seconds=-2)
        four.say(f"symple move a1 {name} {PASSWORDS[name]} {move}")
    four.pass_time(seconds=-2)
    four.say("signoff bob bob-secret")
    moments = times(four.store, board="a1")
    assert moments == sorted(moments)


def test_what_is_exported_is_taken_in_again_and_there_is_nothing_to_mend(pair):
    for name in "alice", "bob", "alice", "bob":
        pair.pass_time(seconds=-2)
        pair.move(name, next(iter(stored_board(pair.store, "spiro", "101").state.moves())))
    pair.pass_time(seconds=-2)
    pair.move("alice", "resign")
    row = pair.store.boards.get("spiro", "101")
    assert [*differences(row, outcome(row, replayed(row, pair.store.boards.turns("spiro", "101"))))] == []
    assert times(pair.store, "spiro", taken_in(pair, "spiro")) == times(pair.store, "spiro")
    assert findings(pair) == []


def test_a_game_that_goes_on_is_taken_in_with_no_time_before_its_last_turn(four):
    four.begin()
    four.plays("c3")
    four.pass_time(seconds=-2)
    assert times(four.store, board=taken_in(four, "symple")) == times(four.store)
    assert findings(four) == []


def test_no_move_is_said_to_be_of_days_to_come(four):
    four.begin()
    steps_back(four, 2, "bob: nag")
    assert "the last move was 0 days ago" in four.mails("alice")[-1].text


def test_ratings_are_listed_in_the_order_in_which_they_were_made(four):
    for board in "101", "102":
        four.begin("symple challenge -size=5 alice bob")
        four.plays("c3", "b1", board=board)
    four.say("symple resign 101 alice alice-secret")
    four.pass_time(seconds=-2)
    four.say("symple resign 102 alice alice-secret")
    results = four.store.players.results_of_user("symple", "alice")
    assert [(one.board, one.games) for one in results] == [("101", 1), ("102", 2)]
    first, second = (one.after for one in results)
    assert four.store.players.ratings_of("symple", ["alice"]) == {"alice": [1600, first, second]}


def test_an_arena_stores_games_though_the_clock_steps_back(shell, tmp_path, monkeypatch):
    class Clock(datetime):
        seconds = count()

        @classmethod
        def now(cls, tz):
            return datetime(2026, 11, 20, 12, tzinfo=tz) - timedelta(seconds=next(cls.seconds))

    monkeypatch.setattr(matches, "datetime", Clock)
    shell.sign_up("up", "down")
    shell.done("arena", "symple", *up_and_down(tmp_path), "-size=5", "--games=2", "--save=a")
    with Store(shell.folder / "pbm.db") as store:
        assert len({*times(store, board="a1")}) == 2  # that of all moves, and the end


# A clock that has stepped back far


@pytest.mark.parametrize(("minutes", "is_named"), [(-1, False), (59, False), (61, True), (3000, True)])
def test_a_clock_that_has_stepped_back_by_more_than_an_hour_is_named(pair, minutes, is_named):
    told = "something was done at 2026-11-20 12:00 UTC, but it is"
    pair.pass_time(minutes=-minutes)
    assert any(told in what for what in findings(pair)) == is_named
    assert any(told in what for what in needed(status_at(pair.store, pair.time), pair.time)) == is_named


@pytest.mark.parametrize(("hours", "is_named"), [(1, False), (1.1, True), (30, True)])
def test_a_clock_that_has_stepped_back_behind_the_last_clean_up_is_named(four, hours, is_named):
    four.begin()
    four.wait(days=1)
    four.clean()
    four.wait(hours=-hours)
    assert any("something was done at 2026-11-21 12:00" in what for what in findings(four)) == is_named
    named = [text for text in needed(status_at(four.store, four.time), four.time) if "has stepped back" in text]
    assert len(named) == is_named


def test_a_clock_that_has_stepped_back_is_named_until_it_is_right_though_the_server_goes_on(four):
    four.begin()
    four.pass_time(hours=-3)
    four.plays("c3", "b1")
    assert [text[:40] for text in needed(status_at(four.store, four.time), four.time)][-1:] == [
        "The clock of this machine has stepped ba"
    ]
    four.pass_time(hours=2)
    assert findings(four) == []
