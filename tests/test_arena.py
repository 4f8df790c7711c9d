"""`pbm arena`: programs play each other, and stay alive from game to game."""

import json
import sys

import pytest

FIRST_FREE = """
import json, sys
print("started", file=open({log!r}, "a"))
for line in sys.stdin:
    if line == "quit\\n":
        break
    cells = json.loads(line)["cells"]
    points = [f"{{column}}{{row}}" for row in {rows} for column in "abcde"]
    print(next(point for point in points if point not in cells), flush=True)
"""


def robot(tmp_path, name, rows):
    (tmp_path / f"{name}.py").write_text(FIRST_FREE.format(log=str(tmp_path / f"{name}.log"), rows=rows))
    return f"{name}={sys.executable} {tmp_path}/{name}.py"


def test_each_two_programs_play_as_often_with_each_side_and_stay_alive(shell, tmp_path):
    programs = [robot(tmp_path, "up", "range(1, 6)"), robot(tmp_path, "down", "range(5, 0, -1)"), "idle=false"]
    done = shell.run("arena", "symple", *programs, "-size=5", "--games=4", "--json")
    told = json.loads(done.stdout)
    assert {(line["name"], line["won"] + line["lost"] + line["tied"]) for line in told["table"]} == {
        ("up", 8),
        ("down", 8),
        ("idle", 8),
    }
    assert told["table"][-1].items() >= {"name": "idle", "won": 0, "lost": 8, "points": 0}.items()
    assert len(told["faults"]) == 8  # it has ended before its first move
    assert (tmp_path / "up.log").read_text().count("started") == 2  # once for each opponent
    assert not (shell.folder / "pbm.db").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["a=cat"], "An arena needs two programs or more"),
        (["a=cat", "cat"], "'cat' is not NAME=PROGRAM"),
        (["a=cat", "a=cat"], "Two programs are called a."),
        (["a=cat", "b=no-such-program"], "There is no program no-such-program."),
        (["a=cat", "b=cat", "-nonsense"], "There is no option"),
    ],
)
def test_an_arena_that_cannot_be_is_refused(shell, words, reason):
    done = shell.run("arena", "symple", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr
