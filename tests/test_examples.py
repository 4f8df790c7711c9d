"""The example scripts and the page about scripting, as they are: what they say is what happens."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.patience import PATIENCE
from helpers.web import serving

TOP = Path(__file__).parent.parent
EXAMPLES = TOP / "bin" / "examples"
RANDOM = EXAMPLES / "random-robot"
PAGE = (TOP / "docs" / "scripting.md").read_text()
BEGINNER = """\
import json, sys

free = [column + str(row) for row in range(1, 6) for column in "abcde"]
for number, line in enumerate(sys.stdin):
    if line == "quit\\n":
        break
    print("resign" if number else next(name for name in free if name not in json.loads(line)["cells"]), flush=True)
"""


@pytest.fixture
def scripts(shell, tmp_path):
    """A shell whose PATH has pbm, and a beginner who gives up at his second turn."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pbm").write_text(f'#!/bin/sh\nexec {sys.executable} -m pbm "$@"\n')
    (folder / "pbm").chmod(0o755)
    (folder / "python3").symlink_to(sys.executable)
    (tmp_path / "beginner.py").write_text(BEGINNER)
    shell.environment |= {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(TOP), *sys.path]),
    }
    shell.beginner = f"python3 {tmp_path}/beginner.py"
    return shell


def run(shell, name, *words, **environment):
    """The exit status of an example, its output and its errors."""
    done = subprocess.run(
        [EXAMPLES / name, *words], env=shell.environment | environment, cwd=shell.folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def board(shell, number):
    return shell.json("symple", "show", number)


def test_a_match_between_programs_names_the_winner(scripts):
    scripts.sign_up("alice", "bob")
    scripts.run("symple", "challenge", "-size=5", "alice", "bob")
    players = f"bob={RANDOM}", f"alice={scripts.beginner}", "carol=/no/such/robot"
    assert run(scripts, "match", "symple", "101", *players) == (0, "bob\n", "")
    assert board(scripts, "101")["winner"] == "bob"


@pytest.mark.long
def test_a_program_that_fails_loses_its_match(scripts):
    scripts.sign_up("alice", "bob")
    scripts.run("tournament", "symple", "a", "alice", "bob", "-size=5")
    assert run(scripts, "match", "symple", "a1", f"bob={RANDOM}", "alice=false")[:2] == (0, "bob\n")


def test_a_match_a_round_robin_and_a_ladder_that_cannot_be_end_with_the_reason(scripts):
    why = "There is no Symple board '999'.\n"
    assert run(scripts, "match", "symple", "999", "alice=false") == (1, "", why)
    why = "An arena needs two programs or more: NAME=PROGRAM NAME=PROGRAM.\n"
    assert run(scripts, "round-robin", "symple", "rr", "ann=cat") == (1, "", why)
    ladder = scripts.folder / "ladder.txt"
    ladder.write_text("ann=cat\nben=/no/such/robot\n")
    status, _, why = run(scripts, "ladder", "symple", str(ladder))
    assert (status, why.partition(":")[0]) == (1, "The program /no/such/robot cannot be started")
    assert ladder.read_text() == "ann=cat\nben=/no/such/robot\n"


@pytest.mark.long
def test_a_round_robin_plays_all_games_and_ends_with_the_table(scripts):
    programs = [f"{name}={RANDOM}" for name in ("ann", "ben")] + [f"cis={scripts.beginner}"]
    status, told, why = run(scripts, "round-robin", "symple", "rr", *programs, "-size=5")
    assert (status, told.partition("\n")[0], why) == (0, "Symple: 6 games", "")
    table = csv.DictReader(scripts.done("tournament", "symple", "rr", "--csv").splitlines())
    assert next(line for line in table if line["userid"] == "cis")["lost"] == "4"


@pytest.mark.long
@pytest.mark.parametrize("end", ["\n", ""])
def test_on_a_ladder_the_better_program_climbs(scripts, end):
    ladder = scripts.folder / "ladder.txt"
    ladder.write_text(f"ann={scripts.beginner}\nben={scripts.beginner}\ncis={RANDOM}{end}")
    told = "cis challenges ben: cis\ncis challenges ann: cis\ncis\nann\nben\n"
    assert run(scripts, "ladder", "symple", str(ladder), "-size=5") == (0, told, "")
    assert ladder.read_text() == f"cis={RANDOM}\nann={scripts.beginner}\nben={scripts.beginner}\n"


@pytest.mark.parametrize("words", [(), ("symple",)])
@pytest.mark.parametrize("name", ["ladder", "match", "round-robin", "weekly-arena"])
def test_an_example_without_its_arguments_says_how_it_is_written(scripts, name, words):
    status, told, why = run(scripts, name, *words)
    assert (status, told, why.count("\n")) == (2, "", 1)
    assert why.startswith(f"Usage: {name} GAME ")


@pytest.mark.long
def test_in_the_weekly_arena_each_call_plays_a_round_and_winners_meet_winners(scripts):
    strong, weak = str(RANDOM), scripts.beginner
    programs = [f"ann={strong}", f"ben={strong}", f"cis={weak}", f"dan={weak}", "-size=5", "--rounds=2"]
    status, told, why = run(scripts, "weekly-arena", "symple", "week", *programs)
    assert (status, why) == (0, "")
    assert "Pool week of Symple, round 2 of 2, 2 of 4 games played\n" in told
    pairs = [sorted(board(scripts, f"week{number}")["players"].values()) for number in (3, 4)]
    assert sorted(pairs) == [["ann", "ben"], ["cis", "dan"]]
    for _ in range(2):  # when all is over, only the table is shown
        _, told, _ = run(scripts, "weekly-arena", "symple", "week", *programs)
        assert "Pool week of Symple, round 2 of 2, finished, 4 of 4 games played\n" in told


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("papagra", ["-size=3"]),
        ("spiro", ["-small", "-pieces=1"]),
        ("spora", ["-size=5", "-pie"]),
        ("spora", ["-size=5", "-komi=0"]),
        ("sprout", ["-board=limping-3"]),
        ("symple", ["-size=5"]),
    ],
)
def test_the_random_robot_plays_every_game(scripts, game, options):
    scripts.sign_up("alice", "bob")
    scripts.run("tournament", game, "a", "alice", "bob", *options)
    program = f"sh -c '{{ read -r s; echo \"$s\"; }} | {RANDOM}'"
    done = scripts.run("play", game, "a1", "alice", "--with", program)
    assert done.returncode == 1  # after its first move it ended
    assert scripts.json(game, "show", "a1")["moves"] == 1


@pytest.mark.long
def test_with_a_server_elsewhere_a_match_is_played_there_a_ladder_here_and_what_needs_an_operator_is_refused(scripts):
    scripts.sign_up("alice", "bob")
    scripts.run("symple", "challenge", "-size=5", "alice", "bob")
    token = {name: scripts.json("token", name, f"{name}-secret", "robot")["token"] for name in ("alice", "bob")}
    programs = {"alice": scripts.beginner, "bob": str(RANDOM)}
    with serving(scripts) as web:
        there = {"PBM_SERVER": f"http://127.0.0.1:{web.port}", "PBM_DB": "/dev/null/none"}
        matches = [
            subprocess.Popen(
                [EXAMPLES / "match", "symple", "101", f"{name}={program}"],
                env=scripts.environment | there | {"PBM_TOKEN": token[name]},
                cwd=scripts.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name, program in programs.items()
        ]
        assert [match.communicate(timeout=PATIENCE)[0] for match in matches] == ["bob\n"] * 2
        ladder = scripts.folder / "ladder.txt"
        ladder.write_text(f"ann={scripts.beginner}\ncis={RANDOM}\n")
        told = "cis challenges ann: cis\ncis\nann\n"
        assert run(scripts, "ladder", "symple", str(ladder), "-size=5", **there) == (0, told, "")
        status, told, why = run(scripts, "round-robin", "symple", "rr", "ann=cat", "ben=cat", **there)
        assert (status, told) == (1, "")
        assert why.startswith("`arena` is a command of the operator")


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_an_example_can_be_started_and_says_what_it_is_for(path):
    first, second, *_ = path.read_text().splitlines()
    assert os.access(path, os.X_OK)
    assert first in {"#!/bin/sh", "#!/usr/bin/env python3"}
    assert second.startswith(("# ", '"""'))
    assert path.name in PAGE


def test_the_page_has_a_robot_of_ten_lines_and_names_every_exit_status_and_every_way_to_wait():
    [robot] = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert len(robot.splitlines()) == 10
    for text in ("| 0 |", "| 1 |", "| 2 |", "| 130, 143 |", "--until=change", "--until=turn=", "--until=over"):
        assert text in PAGE
