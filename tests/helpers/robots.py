"""Robots of tests: programs that play, and a mind in this process that thinks what it is told.

    shell.json("arena", "symple", *up_and_down(tmp_path), "-size=5", "--games=4")

plays games between two programs; ``monkeypatch.setattr(analysis, "Player", Mind(0.9))`` lets a robot think that it
wins nine times of ten.
"""

import sys

from pbm.robots.thinking import Thought

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


def up_and_down(tmp_path, up="up"):
    """Two programs that fill the board from below and from above, and note when they are started."""
    for name, rows in ((up, "range(1, 6)"), ("down", "range(5, 0, -1)")):
        (tmp_path / f"{name}.py").write_text(FIRST_FREE.format(log=str(tmp_path / f"{name}.log"), rows=rows))
        yield f"{name}={sys.executable} {tmp_path}/{name}.py"


def program(folder, text):
    """A program in Python, as it is named behind --with."""
    path = folder / "robot.py"
    path.write_text("import json, sys, time\n" + text)
    return f"{sys.executable} {path}"


class Mind:
    """A robot that thinks what it is told to think, and plays the first move that there is."""

    def __init__(self, chance=0.5):
        self.chance = chance
        self.thoughts = 0
        self.meanwhile = lambda: None
        """What happens while it thinks for the first time."""

    def __call__(self, game, options, **limits):
        """Stand in for `thinker`; what it was limited to is in ``mind.limits``."""
        self.limits = limits
        return self

    def think(self, states):
        """The first move there is, and the chance that was told."""
        self.thoughts += 1
        if self.thoughts == 1:
            self.meanwhile()
        return Thought(next(iter(states[-1].moves())), self.chance)
