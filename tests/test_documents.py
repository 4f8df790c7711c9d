"""The documents show what really happens: what they say to type is typed as it stands, in order, on one machine."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import games
from pbm.language.commands import root

from helpers.helptexts import FOLDER, operators
from helpers.patience import PATIENCE
from helpers.shell import Shell
from helpers.sources import MODULES, TOP
from helpers.web import serving

README = (TOP / "README.md").read_text()
TUTORIAL = (FOLDER / "tutorial.txt").read_text()
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
FENCED = re.compile(r"(?:It stands in `([^`]+)`[^`]*)?^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block, with the name of the file that it is if the text says so."""
TYPED = re.compile(r"^     (\S.*?)(?:  .*)?$", re.MULTILINE)
"""A line of the tutorial that is typed."""
ENDS = "\0"
"""What is printed between the commands of a session."""


class Machine:
    """A machine with pbm and its games on the PATH and in `bin`, and nothing else of it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "bin").mkdir()
        programs = {"pbm": "-m pbm", "python3": ""} | {name: f"-m pbm {name}" for name in games.names()}
        for name, words in programs.items():
            program = home / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
            program.chmod(0o755)
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PBM_", "XDG_"))}
        self.environment = own | {
            "HOME": str(home),
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(TOP), *sys.path]),
            "PBM_ADDRESS": "pbm@pbm.example",
        }

    def type(self, *lines: str) -> list[str]:
        """What each line prints, all of them typed in one shell."""
        script = "".join(f"{line}\nprintf '\\0'\n" for line in lines)
        done = subprocess.run(
            ["sh", "-c", script], env=self.environment, cwd=self.home, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout.split(ENDS)[:-1]


def shown(expected: str) -> str:
    """A pattern for what a session shows; a line of three dots stands for any lines."""
    return "".join("(?:.*\n)*" if line == "...\n" else re.escape(line) for line in expected.splitlines(keepends=True))


def steps(session: str) -> list[tuple[str, str]]:
    """The commands of a session, each with what it prints."""
    found = (step.partition("\n") for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:])
    return [(line, expected) for line, _, expected in found]


@pytest.mark.parametrize(
    ("printed", "expected", "fits"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("a\nx\ny\nb\n", "a\n...\nb\n", True),
        ("a\nb\n", "a\n...\nb\n", True),
        ("a\nx\n", "a\n...\nb\n", False),
        ("axb\n", "a.b\n", False),
    ],
)
def test_three_dots_stand_for_any_lines_and_everything_else_for_itself(printed, expected, fits):
    assert (re.fullmatch(shown(expected), printed) is not None) == fits


def type_tutorial(shell: Shell) -> None:
    """Type the tutorial's lines with a password in the place of PASSWORD, and see that none of them is refused."""
    lines = TYPED.findall(TUTORIAL)
    assert len(lines) > 10
    for line in lines:
        done = shell.run(*line.replace("PASSWORD", "sesame-9").removeprefix("pbm ").split())
        assert done.returncode == 0, (line, done.stderr)
    assert "alice proposes a draw" in shell.run("symple", "show", "102").stdout


def test_every_session_goes_as_it_is_shown_and_the_tutorial_after_them(shell, tmp_path):
    machine = Machine(tmp_path)
    gone = {}
    for page in PAGES:
        for name, block in FENCED.findall(page.read_text()):
            if name:
                (tmp_path / name).write_text(block)
            if block.startswith("$ "):
                gone[page.name] = gone.get(page.name, 0) + 1
                typed = steps(block)
                printed = machine.type(*(line for line, _ in typed))
                for (line, expected), text in zip(typed, printed, strict=True):
                    assert re.fullmatch(shown(expected), text), f"{page.name}: {line}\n{text}"
    assert gone == {"README.md": 1, "operating.md": 1, "scripting.md": 3, "tournaments.md": 2}
    shell.environment = machine.environment
    type_tutorial(shell)


DISPATCHER = """\
import json, os, pathlib, subprocess, sys

from pbm import arguments

users = pathlib.Path(os.environ["HOME"], "passwords.json")
passwords = json.loads(users.read_text()) if users.exists() else {}
words = [word for word in sys.argv[1:] if not word.startswith("-")]
operators = [arguments.is_operators(words), words[:1] in (["signup"], ["help"]), "{" in str(words)]
if words[:1] == ["signup"]:
    users.write_text(json.dumps(passwords | {words[1]: words[2]}))
if words and not any(operators):
    os.environ["PBM_SERVER"] = os.environ["SERVER"]
    if "challenge" in words:  # needs a proof over HTTP
        command = [sys.executable, "-m", "pbm", "token", words[2], passwords[words[2]], f"t{os.getpid()}", "--json"]
        local = {name: value for name, value in os.environ.items() if name != "PBM_SERVER"}
        os.environ["PBM_TOKEN"] = json.loads(subprocess.check_output(command, env=local))["token"]
    with open(pathlib.Path(os.environ["HOME"], "sent"), "a") as sent:
        print(*words, file=sent)
os.execv(sys.executable, [sys.executable, "-m", "pbm", *sys.argv[1:]])
"""
"""Gives the commands of players to a server, and all others here."""


@pytest.mark.long
def test_the_sessions_go_as_they_are_shown_where_a_server_elsewhere_carries_out_the_commands_of_players(tmp_path):
    machine = Machine(tmp_path)
    (tmp_path / "dispatcher.py").write_text(DISPATCHER)
    for name in ("pbm", *games.names()):
        game = "" if name == "pbm" else name
        program = f'#!/bin/sh\nexec {sys.executable} {tmp_path}/dispatcher.py {game} "$@"\n'
        (tmp_path / "bin" / name).write_text(program)
    server = Shell(tmp_path)
    server.environment = machine.environment
    with serving(server) as web:
        machine.environment = machine.environment | {"SERVER": f"http://127.0.0.1:{web.port}"}
        for page in PAGES:
            for name, block in FENCED.findall(page.read_text()):
                if name:
                    (tmp_path / name).write_text(block)
                if block.startswith("$ "):
                    typed = steps(block)
                    printed = machine.type(*(line for line, _ in typed))
                    for (line, expected), text in zip(typed, printed, strict=True):
                        assert re.fullmatch(shown(expected), text), f"{page.name}: {line}\n{text}"
        lines = [line.replace("PASSWORD", "sesame-9") for line in TYPED.findall(TUTORIAL)]
        for line, text in zip(lines, machine.type(*(f"{line} && echo done" for line in lines)), strict=True):
            assert text.endswith("\ndone\n"), (line, text)
    assert len((tmp_path / "sent").read_text().splitlines()) > 15


def test_the_tutorial_can_be_typed_by_somebody_who_has_typed_nothing_before(shell):
    type_tutorial(shell)


@pytest.mark.long
def test_the_tutorial_can_be_typed_on_a_machine_with_a_shell_of_its_own(tmp_path):
    lines = [line.replace("PASSWORD", "sesame-9") for line in TYPED.findall(TUTORIAL)]
    printed = Machine(tmp_path).type(*(f"{line} && echo done" for line in lines))
    for line, text in zip(lines, printed, strict=True):
        assert text.endswith("\ndone\n"), (line, text)


def test_the_first_screen_says_what_it_is_in_three_sentences_and_has_the_two_commands_and_a_picture():
    first = "\n".join(README.splitlines()[:18])
    said = first.split("\n\n")[1]
    assert len(re.findall(r"\.(?:\s|$)", said)) == 3
    for text in ("bin/pbm demo", "bin/test", "](docs/pictures/boards.png)"):
        assert text in first
    assert "   a  b  c  d  e" in "\n".join(README.splitlines()[:37])


def test_every_page_that_a_page_links_to_and_every_file_that_the_readme_names_is_there():
    for page in [*PAGES, TOP / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
    for name in re.findall(r"(?:pbm|games|tests|bin|help)/[\w/]+\.(?:py|txt)", README):
        assert "NAME" in name or (TOP / name).exists(), name


def compiles_pattern(call: ast.Call) -> bool:
    """Whether that is ``re.compile(…)``."""
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func) == "re.compile"


def said_in(path: Path) -> list[str]:
    """All texts in the code of a file but docstrings and regular expressions: what a program can say."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    unsaid = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    unsaid |= {id(one) for node in nodes if isinstance(node, ast.Call) and compiles_pattern(node) for one in node.args}
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and id(node) not in unsaid]  # fmt: skip


def read_by_users() -> dict[str, str]:
    """What users read, by where it stands: documents, help, messages, pages of the site."""
    files = [TOP / "README.md", TOP / "CHANGELOG.md", *(TOP / "docs").glob("*.md"), *(TOP / "help").glob("*.txt")]
    files += (TOP / "pbm" / "site" / "templates").iterdir()
    read = {str(path.relative_to(TOP)): path.read_text() for path in files}
    read |= {str(path.relative_to(TOP)): "\n".join(said_in(path)) for paths in MODULES.values() for path in paths}
    read |= {f"help {one.name}": one.text for one in root.explained()}
    return read | {ctx.command_path: ctx.get_help() for ctx in operators()}


def test_no_player_is_taken_for_a_man():
    found = {
        where: re.findall(r"\b(?:he|him|his|himself)\b", text, re.IGNORECASE) for where, text in read_by_users().items()
    }
    assert {where: words for where, words in found.items() if words} == {}


def test_every_section_that_code_and_tests_cite_is_there():
    there = set(re.findall(r"^## (\d+)\. ", (TOP / "docs" / "command-language.md").read_text(), re.MULTILINE))
    files = [path for folder in ("pbm", "tests") for path in (TOP / folder).rglob("*.py")]
    lists = {path.name: re.findall(r"command-language\.md, sections? ([\d and]+)", path.read_text()) for path in files}
    cited = {name: re.findall(r"\d+", " ".join(found)) for name, found in lists.items() if found}
    assert len(cited) > 15
    assert {name: numbers for name, numbers in cited.items() if not there.issuperset(numbers)} == {}
