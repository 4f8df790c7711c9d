"""The README shows what really happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).parent.parent / "README.md").read_text()
SESSIONS = [block for block in re.findall(r"^```\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL) if block.startswith("$ ")]


@pytest.mark.parametrize("number", range(len(SESSIONS)))
def test_a_session_of_the_readme_goes_as_it_is_shown(shell, number):
    for step in re.split(r"^\$ ", SESSIONS[number], flags=re.MULTILINE)[1:]:
        line, _, expected = step.partition("\n")
        command = re.sub(r"bin/(\w+)", lambda match: f"{sys.executable} -m pbm {match[1]}", line)
        command = command.replace("-m pbm pbm", "-m pbm")
        done = subprocess.run(
            ["sh", "-c", command], env=shell.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.stdout + done.stderr == expected, line


def test_the_first_screen_has_the_two_commands_and_a_board():
    assert SESSIONS
    first = "\n".join(TEXT.splitlines()[:35])
    for text in ("bin/pbm demo", "bin/test", "    a b c d e"):
        assert text in first


def test_every_file_that_the_readme_names_is_there():
    root = Path(__file__).parent.parent
    for name in re.findall(r"(?:pbm|games|tests|bin|help)/[\w/]+\.(?:py|txt)", TEXT):
        assert "NAME" in name or (root / name).exists(), name
