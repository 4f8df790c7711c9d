"""`pbm arena`: programs play each other, and stay alive from game to game."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

import games
from pbm.board.records import replayed
from pbm.lab.arena import open_pool, store_game
from pbm.lab.matches import Played
from pbm.referee import Referee
from pbm.refusals import Refused

from helpers.database import stored_board
from helpers.helptexts import GAMES
from helpers.patience import PATIENCE, children_of, until
from helpers.robots import up_and_down


def test_each_two_programs_play_as_often_with_each_side_and_stay_alive(shell, tmp_path):
    programs = [*up_and_down(tmp_path), "idle=false"]
    told = shell.json("arena", "symple", *programs, "-size=5", "--games=4")
    counts = {line["name"]: line["won"] + line["lost"] + line["tied"] for line in told["table"]}
    assert counts == {"up": 8, "down": 8, "idle": 8}
    assert told["table"][-1].items() >= {"name": "idle", "won": 0, "lost": 8, "points": 0}.items()
    assert (len(told["faults"]), told["seed"].isdecimal()) == (8, True)  # it has ended before its first move
    assert (tmp_path / "up.log").read_text().count("started") == 2  # once for each opponent
    assert not (shell.folder / "pbm.db").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["a=cat"], "An arena needs two programs or more"),
        (["a=cat", "cat"], "'cat' is not NAME=PROGRAM"),
        (["a=cat", "a=cat"], "Two programs are called a."),
        (["a=cat", "b=no-such-program"], "The program no-such-program cannot be started: it is not found"),
        (["a=cat", "b=cat", "-nonsense"], "There is no option"),
        (["alice=cat", "bob=cat", "--save=a"], "There is no user 'bob'."),
        (["alice=cat", "robot1=cat", "--save=a1"], "The name of a pool is 1 to 12 letters, not 'a1'."),
    ],
)
def test_an_arena_that_cannot_be_is_refused(shell, words, reason):
    shell.sign_up("alice")
    assert reason in shell.refused("arena", "symple", *words)


# Games that are stored


def test_games_are_stored_as_boards_that_look_like_any_others(shell, tmp_path):
    shell.sign_up("up", "down", has_mail=True)
    words = ["arena", "symple", *up_and_down(tmp_path, "Up"), "-size=5", "--games=4", "--save=A"]
    told = shell.json(*words)
    assert (told["pool"], told["boards"]) == ("a", ["a1", "a2", "a3", "a4"])
    table = shell.json("tournament", "symple", "a")["table"]
    points = {line["name"].lower(): line["points"] for line in told["table"]}
    assert {line["userid"]: line["points"] for line in table} == points
    boards = shell.json("symple", "show", "a1", "a2")["boards"]
    seen = [(board["players"]["white"], board["over"], board["moves"] > 8) for board in boards]
    assert seen == [("up", True, True), ("down", True, True)]
    assert "It is unrated because it ended elsewhere, or while a guest played it." in shell.done("symple", "show", "a1")
    assert shell.json("symple", "standings")["players"] == []
    assert shell.json("outbox", "list")["mails"] == []
    shell.done("doctor")
    assert (
        shell.refused(*words) == "There is a pool a of Symple already; `pbm help tournament` tells how to direct it.\n"
    )


@pytest.mark.parametrize("game", GAMES)
def test_a_stored_game_has_the_turns_that_were_played(club, game):
    club.signed_up("alice", "bob")
    pool = open_pool(club.server, game, "a", [], ["alice", "bob"])
    referee = Referee(game)
    referee.rng = Random(5)
    moments = [club.time]
    for number in range(1, 9):
        referee.random("")
        moments.append(club.time + timedelta(seconds=number))
    club.pass_time(minutes=1)
    fault = Played(0, "It took too long.", 0)
    store_game(club.server, pool, ("bob", "alice"), referee, moments, fault)
    board = stored_board(club.store, game, "a1")
    assert (board.players, board.row.reason, board.is_over) == (("bob", "alice"), "forfeited", True)
    seen = [(turn.text, turn.dice, turn.userid) for turn in replayed(board.row, board.turns).turns]
    assert [text for text, *_ in seen] == [move for step in referee.history for move in step.played] + ["Forfeit"]
    assert board.state.view()["cells"] == referee.view["cells"]
    assert board.row.winner == board.row.opponent(board.turns[-1].userid)
    if games.needs_dice(board.states[0]):
        with pytest.raises(Refused, match="cannot be checked here: the game was played in an arena"):
            club.say(f"dice {game} a1")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_arena_that_is_ended_ends_its_programs(shell, number):
    command = [sys.executable, "-m", "pbm", "arena", "symple", "a=sleep 1000", "b=sleep 1000"]
    with subprocess.Popen(command, env=shell.environment) as arena:
        [program] = until(lambda: children_of(arena.pid))
        arena.send_signal(number)
        assert arena.wait(PATIENCE) == 128 + number
    assert not Path(f"/proc/{program}").exists()


@pytest.mark.long
def test_what_was_finished_stays_if_the_arena_is_killed(shell, tmp_path):
    shell.sign_up("up", "down")
    words = ["arena", "symple", *up_and_down(tmp_path), "-size=5", "--games=4000", "--save=a"]
    command = [sys.executable, "-m", "pbm", *words]
    with closing(sqlite3.connect(shell.folder / "pbm.db", timeout=30)) as db:
        with subprocess.Popen(command, env=shell.environment, stdout=subprocess.PIPE) as arena:
            until(lambda: db.execute("SELECT count(*) FROM boards").fetchone()[0] > 3)
            arena.kill()
        [(stored,)] = db.execute("SELECT count(*) FROM boards WHERE ended IS NOT NULL")
        [(turns,)] = db.execute("SELECT count(*) FROM turns")
        assert db.execute("SELECT count(*), sum(moves) FROM boards").fetchone() == (stored, turns)
        assert db.execute("SELECT count(*) FROM meetings").fetchone() == (stored,)
    assert f"{stored} of {stored} games played" in shell.done("tournament", "symple", "a")
    shell.done("doctor")


def test_what_a_program_wrote_when_it_failed_is_told_to_whoever_runs_the_arena_and_not_stored(shell, tmp_path):
    shell.sign_up("up", "down")
    failing = tmp_path / "failing.py"
    failing.write_text("import sys; sys.exit('No net is there.')")
    words = [next(up_and_down(tmp_path)), f"down={sys.executable} {failing}", "-size=5", "--save=a"]
    told = shell.json("arena", "symple", *words)
    report = "Its exit status was 1.\nThe last that it wrote to standard error:\n  No net is there."
    ended = "The program has ended, or closed its output, before the game was over."
    assert told["faults"] == [f"up against down: down has lost: {ended}\n{report}"] * 2
    assert "No net" not in shell.done("symple", "show", "a1", "a2")
