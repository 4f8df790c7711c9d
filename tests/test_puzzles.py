"""Puzzles, positions of games that are over in which a single turn wins: found, shown on the site, mailed weekly."""

import json
import re
import subprocess
import sys
from email import message_from_bytes
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from games import spiro
from pbm.actions import cleanup
from pbm.actions.finding import find_board
from pbm.mail.incoming import is_known
from pbm.mail.writing import compose
from pbm.robot_players import puzzles
from pbm.robot_players.cluster import ElsewhereError
from pbm.robot_players.puzzles import Solver, TooLongError, puzzle_of
from pbm.robots.thinking import Thought
from pbm.session import Session
from pbm.shell import main
from pbm.site.build import build
from pbm.site.pages import SiteSettings
from pbm.store import Store
from pbm.store.outbox import HeldMail
from pbm.store.robots import Puzzle

from helpers.club import PASSWORDS
from helpers.clusters import running_cluster
from helpers.database import sql, stored_board
from helpers.mail import ADDRESS, press
from helpers.patience import PATIENCE, until
from helpers.reference.symple import Position
from helpers.shell import two_players

GAMES = {
    "101": "b1 d1 a3 d2 a2,b2 d3 b3 d4 a4 d5 b4 a1 c3 b5 a5 e5 e2 c2 c5 c4 c1,e3 e4 e1",
    "102": "c2 e4 d2 d4 c1 d5 a3 a5 e5 d1 e1 a4,d3 b5 a1 b3,c3,c5 b1,b4,e3 e2 b2,c4 a2",
}
"""Games of Symple 5, the first one with the default penalty of the board."""
FOUND = [("101", 17, "e3"), ("102", 16, "c4")]


def play(say, board, moves):
    say("symple challenge -size=5 alice bob")
    for number, move in enumerate(moves.split()):
        name = ("alice", "bob")[number % 2]
        say(f"symple move {board} {name} {PASSWORDS[name]} {move}")


def wins(position, turn, side):
    """Whether a side wins by a turn, by the plain rules alone."""
    after = Position(5, position.penalty, position.stones, position.turn)
    after.play(turn)
    if not after.vacant():
        return after.view()["winner"] == side
    found = (wins(after, each, side) for each in after.moves())
    return any(found) if after.turn == side else all(found)


@pytest.mark.parametrize(("board", "moves", "answer"), FOUND)
def test_the_answer_is_the_only_turn_that_wins_by_the_plain_rules(board, moves, answer):
    position = Position(5)
    for turn in GAMES[board].split()[:moves]:
        position.play(turn)
    turns = position.moves()
    assert len(turns) > 2
    assert [turn for turn in turns if wins(position, turn, position.turn)] == [answer]


def test_dice_are_thrown_against_a_turn_that_is_to_win_for_certain():
    view = {"cells": {"b3": "X", "e2": "O"}, "turn": "X", "dice": [1, 2]}
    state = spiro.setup(view, small=True, pieces=1)
    assert [*state.moves()] == ["b3:1:x", "b3:2:+", "b3:+:1"]  # after the others, double six wins for O
    assert Solver().winning(state) == ["b3:1:x"]


class Branch(NamedTuple):
    """A position of a made-up game: which position follows by each turn, or at its end the side that has won."""

    turn: int
    nexts: tuple["Branch | int", ...]
    winner: int | None = None
    seats = (0, 1)
    dice_needed = 0

    def moves(self):
        return map(str, range(len(self.nexts)))

    def play(self, move):
        after = self.nexts[int(move)]
        return Branch(1 - self.turn, (), after) if isinstance(after, int) else after

    def result(self):
        return None if self.winner is None else SimpleNamespace(winner=self.winner)


def test_a_slower_turn_that_wins_too_is_another_answer():
    wins_at_once = Branch(0, (0,))
    slower = Branch(1, (wins_at_once, wins_at_once))
    assert Solver().winning(Branch(0, (0, slower, 1))) == ["0", "1"]
    assert Solver().winning(Branch(0, (0, 1, 1))) == ["0"]


def test_turns_without_end_are_not_all_listed():
    with pytest.raises(TooLongError):
        Solver().winning(SimpleNamespace(moves=lambda: map(str, count())))


def two_games(shell):
    """Two games that are over."""
    two_players(shell)
    for board, moves in GAMES.items():
        play(lambda line: shell.run(*line.split()), board, moves)


@pytest.fixture
def found(shell, monkeypatch):
    """What the command finds in two games, while a third goes on."""
    monkeypatch.setattr(puzzles, "MOST_PLAYED", 10_000)
    shell.become(two_games)
    shell.run("symple", "challenge", "-size=5", "alice", "bob")
    return json.loads(shell.run("puzzles", "symple", "--json").stdout)


def test_each_game_that_is_over_is_looked_at_once(shell, found):
    expected = [
        {"game": "symple", "board": board, "moves": moves, "answer": answer, "proven": True}
        for board, moves, answer in reversed(FOUND)
    ]
    assert found == {"game": "symple", "boards": 2, "puzzles": expected}
    assert shell.run("puzzles", "symple").stdout == "0 puzzles in 0 boards.\n"
    help_text = shell.run("help", "puzzles").stdout
    assert "Look for puzzles" in help_text
    assert "puzzles USERID PASSWORD on|off" in help_text


def test_what_was_found_is_kept_if_the_cluster_is_lost(shell, monkeypatch):
    class Lost:
        def compute(self, function, tasks, seconds):
            yield function(*tasks[0])
            raise ElsewhereError("The cluster has lost a task.")

        def close(self):
            pass

    monkeypatch.setattr(puzzles, "MOST_PLAYED", 10_000)
    monkeypatch.setattr(puzzles, "Cluster", lambda _: Lost())
    two_players(shell)
    for board, moves in GAMES.items():
        play(lambda line: shell.run(*line.split()), board, moves)
    why = shell.refused("puzzles", "symple", "--dask=tcp://lost.example:8786")
    assert why == "The cluster has lost a task. What was found until now is kept.\n"
    assert shell.done("puzzles", "symple") == "101#17 e3\n1 puzzle in 1 board.\n"


@pytest.mark.long
def test_a_cluster_finds_the_same_puzzles_though_workers_are_killed(shell, tmp_path):
    pytest.importorskip("distributed", reason="Dask's distributed, of the extra cluster, is not installed")
    two_players(shell)
    for board, moves in GAMES.items():
        play(lambda line: shell.run(*line.split()), board, moves)
    with running_cluster(tmp_path, workers=2) as cluster:
        looking = subprocess.Popen(
            [sys.executable, "-m", "pbm", "puzzles", "symple", f"--dask={cluster.address}"],
            env=shell.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        with looking:
            until(lambda: cluster.is_busy() or looking.poll() is not None)
            cluster.kill_worker()
            cluster.add_worker()
            text, _ = looking.communicate(timeout=PATIENCE)
    assert text.splitlines() == ["102#16 c4", "101#17 e3", "2 puzzles in 2 boards."]
    assert shell.done("puzzles", "symple") == "0 puzzles in 0 boards.\n"


def test_a_worker_finds_the_puzzle_without_the_database(shell, found):
    with Store(shell.folder / "pbm.db", read_only=True) as store:
        board = stored_board(store, "symple", "101")
    assert puzzles.puzzle_apart(board.row, board.turns) == Puzzle("symple", "101", 17, "e3", proven=True)


def test_a_program_gets_no_bar_even_at_a_terminal(shell, found, monkeypatch, capsys):
    monkeypatch.setenv("PBM_DB", str(shell.folder / "pbm.db"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for arguments, has_bar in (["puzzles", "symple"], True), (["puzzles", "symple", "--json"], False):
        assert main(arguments) == 0
        assert ("Boards" in capsys.readouterr().err) == has_bar


def test_a_board_that_cannot_be_played_again_is_left_out(shell):
    shell.become(two_games)
    sql(shell.folder / "pbm.db", "UPDATE turns SET text = 'z9' WHERE number = 1")
    done = shell.run("puzzles", "symple")
    assert (done.returncode, done.stdout) == (0, "0 puzzles in 2 boards.\n")
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == [
        f"symple {board} is left out" for board in ("102", "101")
    ]


def test_of_two_commands_that_search_a_board_at_once_the_first_one_finds_the_puzzle(shell, monkeypatch):
    two_players(shell)
    play(lambda line: shell.run(*line.split()), "101", GAMES["101"])

    def search_slowly(board):
        monkeypatch.undo()
        assert shell.run("puzzles", "symple").stdout == "101#17 e3\n1 puzzle in 1 board.\n"
        return puzzle_of(board)

    monkeypatch.setattr(puzzles, "puzzle_of", search_slowly)
    assert shell.run("puzzles", "symple").stdout == "0 puzzles in 1 board.\n"


def test_a_board_from_whose_position_another_one_goes_on_is_left_alone(club):
    club.signed_up("alice", "bob")
    for board, moves in GAMES.items():
        play(club.say, board, moves)
    club.say("symple challenge --from=101#17 alice bob")
    assert club.store.robots.boards_without_puzzles("symple") == ["102"]
    for name, move in (("bob", "c2"), ("alice", "c5"), ("bob", "resign")):
        club.say(f"symple move 103 {name} {PASSWORDS[name]} {move}")
    club.say("symple challenge --from=103#17 alice bob")
    assert club.store.robots.boards_without_puzzles("symple") == ["102"]
    club.say("symple resign 104 alice alice-secret")
    assert club.store.robots.boards_without_puzzles("symple") == ["102", "101"]


@pytest.mark.parametrize(
    ("guess", "chance", "rival", "found"),
    [("c4", 0.9, 0.4, ("c4", 21)), ("d4", 0.9, 0.4, ("", 0)), ("c4", 0.8, 0.4, ("", 0)), ("c4", 0.9, 0.5, ("", 0))],
)
def test_what_is_not_proven_is_confirmed_by_a_search_a_hundred_times_longer(
    club, monkeypatch, guess, chance, rival, found
):
    club.signed_up("alice", "bob")
    play(club.say, "101", GAMES["101"])
    asked = []

    def think(_):
        return Thought("c4" if asked[-1] == 100 * asked[0] else guess, chance, rival=rival)

    def robot(game, options, *, playouts, rng):
        asked.append(playouts)
        return SimpleNamespace(think=think)

    monkeypatch.setattr(puzzles, "MOST_PLAYED", 0)
    monkeypatch.setattr(puzzles, "Player", robot)
    puzzle = puzzle_of(find_board(Session(club.server), "symple", "101"))
    assert (puzzle.answer, puzzle.moves) == found
    assert puzzle.proven == (not puzzle.answer)


@pytest.fixture
def solvers(club):
    """carol wants puzzles; there are two."""
    club.signed_up("alice", "bob", "carol")
    for number, (board, moves, answer) in enumerate(FOUND):
        play(club.say, board, GAMES[board])
        club.store.robots.save_puzzle(Puzzle("symple", board, moves, answer, proven=not number), club.time)
        club.pass_time(hours=1)
    assert "You get one puzzle a week." in club.text("puzzles carol carol-secret on")
    return club


def weekly(club):
    """The puzzles that are mailed to carol on the days of four weeks: the day, and the board."""
    found = []
    for day in range(28):
        before = len(club.mails("carol"))
        cleanup.clean_up(Session(club.server))
        found += [(day, mail) for mail in club.mails("carol")[before:]]
        club.pass_time(hours=24, seconds=-1)
    return found


def test_one_puzzle_a_week_is_mailed_to_those_who_want_it(solvers):
    found = weekly(solvers)
    assert [day for day, _ in found] == [0, 7]
    assert [re.search(r"board (\d+)", mail.text)[1] for _, mail in found] == ["101", "102"]
    text = found[0][1].text
    assert "after 17 moves: bob's turn (black). One turn wins, and no other." in " ".join(text.split())
    assert "A long search found one turn that wins, and no other." in " ".join(found[1][1].text.split())
    assert text.index("One turn wins") < text.index(20 * "\n") < text.index("The answer: e3")
    assert not [mail for mail in solvers.mails() if "puzzle" in mail.subject and mail.userid != "carol"]


def test_a_puzzle_of_a_board_that_cannot_be_played_again_holds_up_nothing_else(solvers):
    solvers.say("spiro mail carol carol-secret digest")
    solvers.store.outbox.hold(HeldMail("carol", "spiro", "Spiro Board 101", "[]", solvers.time))
    solvers.store.db.execute("UPDATE turns SET text = 'z9' WHERE board = '101' AND number = 1")
    done = cleanup.clean_up(Session(solvers.server))
    assert (done.digests, [one.partition(":")[0] for one in done.problems]) == (1, ["puzzle"])
    assert solvers.mails("carol")[-1].subject.startswith("Spiro Digest")


def test_a_puzzle_of_a_game_with_a_fault_holds_up_nothing_else(solvers, monkeypatch):
    monkeypatch.setattr("pbm.actions.puzzles.caption", lambda _: 1 / 0)
    assert cleanup.clean_up(Session(solvers.server)).problems == ("puzzle: ZeroDivisionError: division by zero",)


def test_puzzles_end_by_the_button_of_a_mail_program_and_by_off(solvers):
    cleanup.clean_up(Session(solvers.server))
    mail = solvers.mails("carol")[-1]
    head = message_from_bytes(compose(mail, ADDRESS, web="https://games.example"))
    assert head["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert is_known(solvers.server, mail.unsubscribe)
    [told] = press(solvers, mail.unsubscribe)
    assert "You get no puzzles any more." in told.text
    assert not weekly(solvers)
    assert "`puzzles` is followed by `on` or by `off`, and not by 'maybe'" in solvers.why_refused(
        "puzzles carol carol-secret maybe"
    )


def test_the_site_shows_puzzles_with_their_answers_folded(solvers, tmp_path):
    def page():
        build(tmp_path, Session(solvers.server), SiteSettings())
        return (tmp_path / "symple" / "puzzles.html").read_text()

    first = page()
    assert "after 17 moves: bob&#39;s turn (black).</p>" in first
    assert re.findall("<details><summary>Answer</summary><p><code>(.*?)</code>, (.*?)\\.", first) == [
        ("c4", "found by a long search"),
        ("e3", "proven by the rules"),
    ]
    with solvers.store.writing():
        solvers.store.boards.remove("symple", "101", solvers.time)
    assert "after 17 moves" not in page()
    assert "None has been found yet." in (tmp_path / "spiro" / "puzzles.html").read_text()
