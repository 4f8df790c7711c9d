"""What a shell offers when the tab key is pressed."""

import os
import pty
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest

from pbm import console
from pbm.language.commands import root
from pbm.operator.completion import SCRIPTS
from pbm.store.base import BUSY_SECONDS
from pbm.store.boards import BoardFilter

from helpers.club import PASSWORDS
from helpers.database import sql
from helpers.fixtures import set_up
from helpers.patience import PATIENCE

INSTALLED = [name for name in SCRIPTS if shutil.which(name)]


@set_up
def board(shell):
    """alice and bob on board 101 of Symple; 102 is over, and a tournament is open."""
    shell.sign_up("alice", "bob", "carol")
    for _ in range(2):
        shell.run("symple", "challenge", "-size=5", "alice", "bob")
    for name, move in (("alice", "c3"), ("bob", "a1"), ("alice", "resign")):
        shell.run("symple", "move", "102", name, PASSWORDS[name], move)
    shell.run("tournament", "symple", "pool", "alice", "carol", "--open")


def offered(shell, *words):
    """What is offered for the last of these words."""
    return shell.done("complete", stdin="".join(f"{word}\n" for word in words)).split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pbm sp", "spiro spora sprout"),
        ("pbm SYM", "symple"),
        ("pbm tour", "tournament"),
        ("/usr/bin/symple mo", "move"),
        ("pbm Symple mo", "move"),
        ("pbm --json symple --no-wait mo", "move"),
        ("pbm change ", "password address"),
        ("pbm outbox f", "flush"),
        ("pbm mail k", "key"),
        ("pbm mail c", "carol"),
        ("pbm addresses add b", "bob"),
        ("symple move ", "101"),
        ("symple mvoe 1", "101"),
        ("symple show 101 ", "101 alice bob carol"),
        ("symple show n", "next"),
        ("papagra show ", "alice bob carol"),
        ("symple move 101 ", "alice bob carol"),
        ("symple move 101 C", "carol"),
        ("symple move 101 alice ", ""),
        ("symple move 101 alice secret ", ""),
        ("symple move 101 alice secret -", "--comment= --help --json --no-wait --picture"),
        ("symple challenge -size=5 alice b", "bob"),
        ("symple challenge -s", "-size="),
        ("symple move -s", ""),
        ("spiro challenge -s", "-small"),
        ("sprout challenge -board=h", "-board=hex-6"),
        ("pbm dice ", "papagra spiro spora sprout symple"),
        ("pbm dice symple ", "101"),
        ("pbm wait symple ", "101"),
        ("pbm wait symple --un", "--until="),
        ("pbm wait symple --until ", ""),
        ("pbm wait symple --until over ", "101"),
        ("pbm play symple 101 b", "bob"),
        ("pbm tournament symple pool alice b", "bob"),
        ("pbm tournament symple pool w", "withdraw"),
        ("pbm tournament symple pool add b", "bob"),
        ("pbm tournament symple pool replace carol b", "bob"),
        ("pbm tournament symple ", "pool"),
        ("pbm tournament s", "spiro spora sprout symple"),
        ("symple join ", "pool"),
        ("symple join pool a", "alice"),
        ("symple table p", "pool"),
        ("spiro table ", ""),
        ("symple tournament pool carol secret st", "start status"),
        ("pbm tournament symple -p", "-penalty="),
        ("pbm tournament --dr", "--dry-run"),
        ("pbm completion ", "bash zsh fish"),
        ("pbm help tut", "tutorial"),
        ("pbm help chall", "challenge"),
        ("pbm help change signu", "signup"),
        ("symple help mo", "move"),
        ("pbm nonsense ", ""),
        ("pbm symple nonsense ", ""),
        ("pbm symple move 101 ../", ""),
    ],
)
def test_what_is_offered_for_the_last_word_of_a_line(board, line, expected):
    assert offered(board, *line.split(" ")) == expected.split()


def test_pools_are_offered_to_players_only_while_they_can_be_joined_or_left(board):
    board.run("tournament", "symple", "late", "alice", "carol", "--open")
    board.run("tournament", "symple", "late", "start")
    assert (offered(board, "symple", "join", ""), offered(board, "symple", "leave", "l")) == (["pool"], ["late"])
    turn = board.json("symple", "games", "late1")["boards"][0]["turn"]
    board.run("symple", "resign", "late1", turn, PASSWORDS[turn])
    for command, pools in (("join", ["pool"]), ("leave", ["pool"]), ("table", ["late", "pool"])):
        assert sorted(offered(board, "symple", command, "")) == pools
    assert sorted(offered(board, "pbm", "tournament", "symple", "")) == ["late", "pool"]


def test_every_command_is_offered_but_the_one_that_offers(shell):
    names = {one.name.removeprefix("GAME ").partition(" ")[0] for one in root.explained()} | set(console.MODULES)
    assert {*offered(shell, "pbm", ""), *offered(shell, "symple", "")} >= names - {"complete"}
    assert "complete" not in offered(shell, "pbm", "")


@pytest.mark.parametrize("lines", ["", "\n", "pbm", "pbm\n", "\n\n\n"])
def test_a_line_without_words_does_no_harm(shell, lines):
    shell.done("complete", stdin=lines)


NEWEST = BoardFilter(["symple"], over=False), "rowid DESC", 100


def test_at_most_a_hundred_boards_are_offered_the_newest_first(club):
    club.signed_up("alice", "bob")
    for _ in range(101):
        club.say("symple challenge -size=5 alice bob")
    assert club.store.boards.names(*NEWEST) == [("symple", str(number)) for number in range(201, 101, -1)]


def test_only_users_who_are_signed_up_are_offered(club):
    club.signed_up("alice", "bob", "carol")
    club.store.users.sign_off("carol", club.time)
    assert club.store.users.ids_from("", 100) == ["alice", "bob"]
    assert club.store.users.ids_from("b", 100) == ["bob"]
    assert club.store.users.ids_from("", 1) == ["alice"]


@pytest.mark.parametrize("query", ["board", "userid"])
def test_nothing_is_sorted_or_read_that_is_not_offered(club, query):
    statements = []
    club.store.db.set_trace_callback(statements.append)
    club.store.boards.names(*NEWEST) if query == "board" else club.store.users.ids_from("a", 100)
    club.store.db.set_trace_callback(None)
    plan = " ".join(row[3] for row in club.store.db.execute(f"EXPLAIN QUERY PLAN {statements[0]}"))
    assert "SEARCH" in plan
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan


# The database is only looked at


def test_no_database_is_made_and_one_that_is_none_offers_nothing(shell, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    assert shell.done("complete", stdin="symple\nmove\n\n", PBM_DB="", HOME=str(home)) == "\n"
    assert list(home.iterdir()) == []
    (tmp_path / "pbm.db").write_text("This is a letter to my aunt, and no database at all.\n" * 40)
    assert offered(shell, "symple", "move", "") == []


def test_a_look_writes_nothing_waits_for_nobody_and_brings_no_older_database_up_to_date(board):
    with sqlite3.connect(board.folder / "pbm.db") as db:
        version = db.execute("PRAGMA data_version").fetchone()
        db.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        assert offered(board, "symple", "move", "") == ["101"]
        assert time.monotonic() - begin < BUSY_SECONDS
        assert db.execute("PRAGMA data_version").fetchone() == version
    sql(board.folder / "pbm.db", "PRAGMA user_version = 1")
    assert offered(board, "symple", "move", "") == []
    assert sql(board.folder / "pbm.db", "PRAGMA user_version") == [(1,)]


# The scripts


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_serves_all_games(shell, name):
    script = shell.run("completion", name).stdout
    assert "pbm papagra spiro spora sprout symple" in script
    assert "@" not in re.sub(r"\(@Q\)|\[@\]", "", script)


@pytest.mark.parametrize("name", INSTALLED)
def test_a_script_has_no_fault_that_its_shell_can_find(shell, name):
    script = shell.run("completion", name).stdout
    done = subprocess.run([name, "-n"], input=script, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


LINES = [
    ("pbm sym", "symple "),
    ("symple move 101 al", "symple move 101 alice "),
    ("symple challenge -si", "symple challenge -size="),
    ("sprout challenge -board=he", "sprout challenge -board=hex-6 "),
]


def typed(shell, name, script, line):
    """A line as the shell completes it, followed by ``<``; fish tells without a terminal what it would add."""
    environment = shell.environment | {"TERM": "dumb", "PS1": "READY", "PYTHONPATH": os.pathsep.join(sys.path)}
    if name == "fish":
        command = [name, "-N", "-c", f"source {script}; complete -C '{line}'"]
        word = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        ).stdout
        return f"{line.rpartition(' ')[0]} {word.strip()}{'' if word.strip().endswith('=') else ' '}<"
    terminal, end = pty.openpty()
    command = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
    setup = {"bash": "", "zsh": "autoload -U compinit; compinit -D; "}[name] + f"source {script}"
    with subprocess.Popen(
        command, env=environment, stdin=end, stdout=end, stderr=end, start_new_session=True
    ) as process:
        os.close(end)
        os.write(terminal, f"{setup}; PS1=SET''UP\n".encode())
        screen(terminal, "SETUP")
        os.write(terminal, f"{line}\t<".encode())
        shown = screen(terminal, "<")
        process.kill()
    os.close(terminal)
    return shown


def screen(terminal, until):
    """What is printed up to that text."""
    shown = ""
    end = time.monotonic() + PATIENCE
    while until not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 10_000).decode(errors="replace")
    return re.sub(".\b|\a", "", shown)


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize(("line", "completed"), LINES)
def test_a_shell_completes_what_is_typed(board, name, line, completed):
    script = board.folder / "script"
    script.write_text(board.run("completion", name).stdout)
    assert f"{completed}<" in typed(board, name, script, line)
