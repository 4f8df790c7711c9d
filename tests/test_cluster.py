"""Robots that think on a Dask cluster: the moves are the same, and none is lost or made twice, whatever is killed."""

import json
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from random import Random

import pytest

from pbm import letters
from pbm.refusals import Refused
from pbm.robot_players.cluster import INSTALLED_VERSION, Cluster, ElsewhereError, Question, computed_for, think_about
from pbm.robots import Player
from pbm.store import Store

from helpers.club import PASSWORDS
from helpers.clusters import running_cluster
from helpers.database import stored_board
from helpers.patience import PATIENCE, until

pytestmark = pytest.mark.skipif(  # its import takes half a second
    find_spec("distributed") is None, reason="Dask's distributed, of the extra cluster, is not installed"
)
BOARDS = 8
TURNS = 4


def question(board, seed="7"):
    """What a robot is asked about a board."""
    return Question(json.dumps(letters.position(board.present)), level=None, seconds=None, playouts=20, seed=seed)


@pytest.mark.parametrize(
    "game",
    [
        "spiro -small",
        pytest.param("spora -size=7", marks=pytest.mark.long),
        "papagra -size=4",
        "symple -size=7",
        "sprout",
    ],
)
def test_a_worker_thinks_as_this_machine_does(club, game):
    name = game.partition(" ")[0]
    club.signed_up("alice", "bob")
    club.say(f"{game.replace(name, f'{name} challenge', 1)} alice bob")
    for _ in range(5):
        board = stored_board(club.store, name, "101")
        club.say(f"{name} move 101 {board.mover} {PASSWORDS[board.mover]} {board.state.random(Random(4))}")
    board = stored_board(club.store, name, "101")
    here = Player(name, board.options, playouts=20, rng=Random("7")).think(board.states)
    assert think_about(question(board)) == here


def test_a_worker_with_another_version_computes_nothing():
    assert computed_for(INSTALLED_VERSION, max, 1, 2) == 2
    with pytest.raises(ElsewhereError, match=f"A worker has pbm {INSTALLED_VERSION} in place of 0.0.1."):
        computed_for("0.0.1", max, 1, 2)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr("pbm.robot_players.cluster.ANSWERING_SECONDS", 0.1)
    with pytest.raises(Refused, match=r"There is no Dask scheduler at tcp://127\.0\.0\.1:1\."):
        Cluster("tcp://127.0.0.1:1")


@pytest.fixture
def patient(shell):
    """Alice has boards against a robot of the last level, which thinks for some hundredths of a second."""
    shell.environment |= {"PBM_ROBOT_MINUTES": "0.002", "PBM_ROBOT_BOARDS": str(BOARDS)}
    shell.sign_up("alice")
    lines = "\n".join(["symple challenge -size=5 robot6 alice"] * BOARDS)
    shell.run("multiple", "--comment=-", "--no-wait", stdin=lines)
    return shell


def boards_of(shell):
    """The boards of alice."""
    with Store(shell.folder / "pbm.db", read_only=True) as store:
        return [stored_board(store, "symple", str(number)) for number in range(101, 101 + BOARDS)]


def standing(shell):
    """How many moves were made on each board, and who is to move."""
    return {(len(board.turns), board.mover) for board in boards_of(shell)}


def answer_all(shell, number):
    """Let alice answer the robot on each board with her move of that number, the first free point."""
    lines = []
    for board in boards_of(shell):
        point = next(board.state.moves())
        lines.append(f"symple move {board.number} alice alice-secret {point}#{number}")
    shell.run("multiple", "--comment=-", "--no-wait", stdin="\n".join(lines))


def play_for_robots(shell, address):
    """A process that plays for the robots, with a cluster."""
    command = [sys.executable, "-m", "pbm", "robots", "run", f"--dask={address}"]
    return subprocess.Popen(command, env=shell.environment, stderr=subprocess.PIPE, text=True)


def rounds(shell, between):
    """Play some turns on all boards; *between* is called while the robots think. Each move is there once."""
    for number in range(1, 2 * TURNS, 2):
        between()
        until(lambda moves=number: standing(shell) == {(moves, "alice")})
        answer_all(shell, number + 1)
        assert standing(shell) <= {(number + 1, "robot6"), (number + 2, "alice")}


@pytest.mark.long
def test_workers_that_are_killed_cost_no_move(patient, tmp_path):
    with running_cluster(tmp_path, workers=3) as cluster:
        playing = play_for_robots(patient, cluster.address)

        def kill_one():
            time.sleep(random.random())
            cluster.kill_worker(random.randrange(len(cluster.workers)))
            cluster.add_worker()

        rounds(patient, kill_one)
        playing.send_signal(signal.SIGTERM)
        _, told = playing.communicate(timeout=PATIENCE)
    assert "at random" not in told
    assert "Traceback" not in told
    assert patient.run("doctor").returncode in {0, 1}
    assert "symple" not in patient.run("doctor").stdout


@pytest.mark.long
def test_where_the_scheduler_vanishes_this_machine_thinks(patient, tmp_path):
    with running_cluster(tmp_path, workers=1) as cluster:
        playing = play_for_robots(patient, cluster.address)
        begun = []

        def kill_the_scheduler():
            begun.append(1)
            if len(begun) == 3:
                cluster.scheduler.kill()

        rounds(patient, kill_the_scheduler)
        playing.send_signal(signal.SIGTERM)
        _, told = playing.communicate(timeout=PATIENCE)
    assert "at random" not in told
    assert "Traceback" not in told
