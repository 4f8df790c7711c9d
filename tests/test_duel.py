"""Matches between programs: `pbm duel`, and what its games say of strength."""

import json
import signal
import subprocess
import sys
from math import inf, log
from pathlib import Path

import pytest

from pbm import shell
from pbm.lab.evidence import BOUND, decision, elo, expected, likelihood_ratio, wilson

from helpers.clusters import running_cluster
from helpers.patience import PATIENCE, children_of, until

FIRST_FREE = """
import json, sys
for line in sys.stdin:
    if line.startswith("{"):
        cells = json.loads(line)["cells"]
        free = iter([f"{column}{row}" for row in range(1, 6) for column in "abcde" if f"{column}{row}" not in cells])
    if line.strip() != "quit":
        print(next(free), flush=True)
"""
"""Plays Symple on the smallest board: the first free point that is not refused."""
RESIGNING = "sed -u s/.*/resign/"
ROBOT = f"{sys.executable} -m pbm robot --playouts=4 --seed=1"


def program(folder, name="other", text=FIRST_FREE):
    """A program of that name and text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


@pytest.fixture
def duel(capsys):
    """What `pbm duel` prints for programs."""

    def run(*words):
        shell.main(["duel", *words, "--json"])
        told, errors = capsys.readouterr()
        assert errors == ""
        return json.loads(told)

    return run


# What is played


def test_two_programs_begin_equally_often_and_are_told_as_equal(duel, tmp_path):
    one, other = program(tmp_path, "one"), program(tmp_path)
    told = duel("symple", one, other, "--games=3", "--workers=2", "-size=5")
    first, second = told["programs"]
    assert (first["program"], second["program"]) == (one, other)
    assert [(each["won"], each["lost"], each["points"]) for each in told["programs"]] == [(2, 2, 2)] * 2
    assert told["elo"]["difference"] == 0
    assert told["elo"]["low"] == -told["elo"]["high"] < 0
    assert told["faults"] == []
    assert first["moves"] + second["moves"] == 4 * 25


def test_on_a_terminal_a_bar_grows_and_the_result_is_told_to_people(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert shell.main(["duel", "symple", "true", program(tmp_path), "--games=4", "-size=5"]) == 0
    out, screen = capsys.readouterr()
    assert "Pairs  [##################------------------]   50%" in screen
    first, _, _, loser, winner, _, last, _, *faults, _ = out.split("\n")
    assert first == "Symple -size=5: 4 games"
    assert [line.split()[-6:-2] for line in (loser, winner)] == [["0", "0", "4", "0.0%"], ["4", "0", "0", "100.0%"]]
    assert last == "Elo difference -infinity; 95 % lie between -infinity and -7."
    assert faults[2].startswith("Pair 2, game 1: A has lost. The program has ended")


@pytest.mark.parametrize(
    ("other", "fault"),
    [
        ("sed -u s/.*/z9/", "3 moves in a row were refused, the last one ('z9'): "),
        ("sleep 1000", "The program has not answered within 1 second."),
        ("true", "The program has ended"),
        (RESIGNING, ""),
    ],
    ids=["illegal", "hangs", "ends", "resigns"],
)
def test_whoever_does_not_move_has_lost(duel, other, fault):
    timeout = f"--timeout={1 if 'within' in fault else PATIENCE}"
    told = duel("symple", "sed -u s/.*/c3/", other, "--games=2", "-size=5", timeout)
    assert told["programs"][0]["won"] == 2
    assert told["elo"]["difference"] is None
    assert [(one["program"], one["game"]) for one in told["faults"]] == ([(1, 1), (1, 2)] if fault else [])
    assert all(one["fault"].startswith(fault) for one in told["faults"])


READ = "import os, sys\nsys.stdin.readline()\n"


@pytest.mark.parametrize(
    ("text", "report"),
    [
        (READ + "sys.exit(3)", "Its exit status was 3."),
        (READ + "os.kill(os.getpid(), 11)", "It was ended by SIGSEGV."),
        (
            READ + "sys.exit('No net is there.')",
            "Its exit status was 1.\nThe last that it wrote to standard error:\n  No net is there.",
        ),
        (
            READ + "sys.stderr.write(''.join(f'line {n}\\n' for n in range(10_000)))",
            "Its exit status was 0.\nThe last that it wrote to standard error:\n"
            + "\n".join(f"  line {n}" for n in range(9_990, 10_000)),
        ),
        (
            READ + "sys.stderr.write('Loading\\n')\nsys.stderr.flush()\nsys.stdin.read()",
            "The last that it wrote to standard error:\n  Loading",
        ),
        (
            "import sys\nfor line in sys.stdin:\n    print('I try', file=sys.stderr)\n    print('z9', flush=True)",
            "The last that it wrote to standard error:\n  I try\n  I try\n  I try",
        ),
        (READ + "print('resign')", ""),
    ],
    ids=["status", "signal", "message", "much", "hangs", "illegal", "resigns"],
)
def test_how_a_program_that_fails_has_ended_is_told_and_what_it_wrote_last(duel, tmp_path, text, report):
    timeout = 1 if "Loading" in report else PATIENCE
    told = duel("symple", RESIGNING, program(tmp_path, text=text), "--games=2", "-size=5", f"--timeout={timeout}")
    assert [one["report"] for one in told["faults"]] == [report] * (len(told["faults"]) and 1)
    assert bool(told["faults"]) == bool(report)


def test_people_read_the_same_report_once(tmp_path, capsys):
    failing = program(tmp_path, text=READ + "sys.exit('No net is there.')")
    shell.main(["duel", "symple", failing, program(tmp_path, "one"), "--games=6", "-size=5"])
    told = capsys.readouterr().out
    assert told.count("A has lost. The program has ended") == 6
    said = "Its exit status was 1.\nThe last that it wrote to standard error:\n  No net is there.\n"
    assert told.endswith(f"\n\nPair 1, game 1, A: {said}")
    assert told.count("No net is there.") == 1


def test_both_games_of_a_pair_have_the_same_dice(duel, tmp_path):
    noting = f"""
import json, sys
sys.path[:0] = {sys.path}
from pbm.referee import Referee
for line in sys.stdin:
    if line.startswith("{{"):
        view = json.loads(line)
        print(view["moves"], view["dice"], file=open(sys.argv[1], "a"), flush=True)
        referee = Referee("spiro")
        referee.answer("new -small -pieces=2")
        referee.answer("position " + line)
        print(referee.answer("random")[2:], flush=True)
"""
    noting = f"{program(tmp_path, 'noting', noting)} {tmp_path / 'notes'}"
    duel("spiro", noting, noting, "--games=2", "--seed=5", "-small", "-pieces=2")
    lines = (tmp_path / "notes").read_text().splitlines()
    second = next(number for number, line in enumerate(lines) if number and line.startswith("0 "))
    first, other = (dict(line.split(" ", 1) for line in part) for part in (lines[:second], lines[second:]))
    assert len(first.keys() & other.keys()) > 5
    assert all(first[turn] == other[turn] for turn in first.keys() & other.keys())


def test_the_robot_beats_one_who_puts_his_stone_anywhere(duel, tmp_path):
    told = duel("symple", ROBOT, program(tmp_path), "--games=2", "-size=5", "--sprt=0,50")
    assert told["programs"][0]["won"] == 2
    assert told["sprt"]["hypotheses"] == [0, 50]
    assert told["sprt"]["accepted"] is None
    assert 0 < told["sprt"]["ratio"] < told["sprt"]["upper_bound"]


def test_a_test_that_has_decided_ends_the_match(duel, tmp_path):
    told = duel("symple", program(tmp_path, "one"), RESIGNING, "--games=400", "-size=5", "--sprt=-100,300")
    assert told["sprt"]["accepted"] == 300
    assert told["programs"][0]["won"] < 40


def test_the_robot_need_not_be_on_the_path(duel, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    told = duel("symple", "pbm robot --level=1", "/bin/" + RESIGNING, "--games=2", "-size=5")
    assert told["programs"][0]["won"] == 2


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        ("chess true true", "There is no game 'chess'", 2),
        ("symple true", "A duel is between 2 programs, not 1.", 2),
        ("symple true nowhere-to-be-found", "The program nowhere-to-be-found cannot be started: it is not found", 1),
        ("symple true true --dask=tcp://x:1 --workers=2", "--workers is for games that are played here", 2),
        ("symple true true -nix", "There is no option", 1),
        ("symple true true --nix", "No such option '--nix'", 1),
        ("symple true true --sprt=5", "Invalid value for '--sprt': it is a pair of differences", 1),
        ("symple true true --sprt=0,9999", "Invalid value for '--sprt': it is a pair of differences", 1),
    ],
)
def test_a_duel_that_cannot_be_is_refused_in_a_sentence(words, said, status, capsys):
    assert shell.main(["duel", *words.split(), "--json"]) == status
    told = json.loads(capsys.readouterr().out)
    assert told["error"].startswith(said)
    assert told["status"] == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_match_that_is_ended_ends_its_programs_and_tells_what_was_played(tmp_path, number):
    asked = tmp_path / "asked"
    noting = program(tmp_path, "one", FIRST_FREE.replace("stdin:", f"stdin:\n    open('{asked}', 'a').write('.')"))
    words = ["duel", "symple", noting, program(tmp_path), "--games=10000", "-size=5", "--json"]
    process = subprocess.Popen([sys.executable, "-m", "pbm", *words], stdout=subprocess.PIPE, text=True)
    until(lambda: asked.exists() and asked.stat().st_size > 60)  # two pairs of games
    programs = children_of(process.pid)
    process.send_signal(number)
    told = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert process.returncode == 128 + number
    assert 0 < told["programs"][0]["won"] < 10_000
    assert [each for each in programs if Path(f"/proc/{each}").exists()] == []
    assert len(programs) == 2


# What it says of strength


def test_wilsons_interval_is_that_of_the_books_and_ratings_follow_from_the_share_of_points():
    assert wilson(38, 40) == pytest.approx((0.835, 0.986), abs=1e-3)
    for number in range(1, 41):
        low, high = wilson(number, number)
        assert (low > 0, high, wilson(0, number)) == (True, 1, (0, pytest.approx(1 - low)))
    assert wilson(40, 40) == pytest.approx((0.912, 1), abs=1e-3)
    assert wilson(5, 10) == pytest.approx((0.237, 0.763), abs=1e-3)
    assert elo(0.5) == 0
    assert elo(0.76) == pytest.approx(200, abs=1)
    assert (elo(1), elo(0)) == (inf, -inf)
    for difference in (-300, 0, 50):
        assert elo(expected(difference)) == pytest.approx(difference)


def test_the_ratio_is_that_of_walds_test_without_draws_which_say_nothing_and_what_has_never_come_decides_nothing():
    low, high = 0.5, 0.6
    wald = 70 * log(high / low) + 30 * log((1 - high) / (1 - low))
    assert likelihood_ratio({0: 30, 1: 70}, low, high) == pytest.approx(wald, rel=1e-6)
    assert pytest.approx(2.944, abs=1e-3) == BOUND
    assert [decision((0, 300), pairs).accepted for pairs in ([0] * 20, [2] * 20, [1])] == [0, 300, None]
    even = {0: 10, 0.25: 20, 0.5: 40, 0.75: 20, 1: 10}
    assert likelihood_ratio(even, 0.45, 0.55) == pytest.approx(0, abs=1e-6)
    assert likelihood_ratio(even, 0.5, 0.55) < 0 < likelihood_ratio(even, 0.45, 0.5)
    two_pairs = {0: 0, 0.25: 0, 0.5: 0, 0.75: 0, 1: 2}
    assert 0 < likelihood_ratio(two_pairs, 0.5, expected(50)) < 0.5


# On a cluster


def duel_in_a_process(*words):
    """What `pbm duel` prints, in a process of its own, because of all the threads that Dask has."""
    command = [sys.executable, "-m", "pbm", "duel", *words, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE).stdout)


NO_DASK = "Dask's distributed, of the extra cluster, is not installed"


@pytest.mark.long
def test_a_cluster_that_is_not_there_is_named():
    pytest.importorskip("distributed", reason=NO_DASK)
    told = duel_in_a_process("symple", "true", "true", "--dask=tcp://127.0.0.1:1")
    assert told == {"error": "There is no Dask scheduler at tcp://127.0.0.1:1.", "status": 1}


@pytest.mark.long
def test_a_cluster_plays_the_same_match(tmp_path):
    pytest.importorskip("distributed", reason=NO_DASK)
    one, other = program(tmp_path, "one"), program(tmp_path)
    with running_cluster(tmp_path, workers=2) as cluster:
        told = duel_in_a_process("symple", one, other, "--games=8", "-size=5", f"--dask={cluster.address}")
    assert [each["won"] for each in told["programs"]] == [4, 4]
    assert told["faults"] == []
