"""What --json prints: documented, and the same for every command (`help json`, docs/json-schema.json)."""

import json
import os
import re
import sqlite3
from pathlib import Path

import click
import jsonschema
import pytest

from pbm import admin, shell
from pbm.board import Board
from pbm.commands import root
from pbm.help import FOLDER
from pbm.store import Store

from conftest import ADDRESS, PASSWORDS

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "json-schema.json").read_text())
HELP = (FOLDER / "json.txt").read_text()
PROTOCOLS = {"complete", "deliver", "demo", "referee", "serve"}
"""Operator's commands that talk to a program, or go on, and print no answer."""

EXAMPLES = {
    "GAME challenge": ("board", "symple challenge -size=5 alice bob"),
    "GAME games": ("boards", "symple games"),
    "GAME help": ("reply", "symple help"),
    "GAME move": ("board", "symple move 101 alice alice-secret c3"),
    "GAME preview": ("board", "spiro preview new 2 -small"),
    "GAME resign": ("removal", "symple resign 101 alice alice-secret"),
    "GAME show": ("boards", "symple show 101 102 999"),
    "GAME showas": ("board", "symple showas alice alice-secret 101"),
    "change address": ("user", "change address alice alice-secret alice@elsewhere.example"),
    "change password": ("user", "change password alice alice-secret alice-likes-games"),
    "completion": ("completion", "completion bash"),
    "confirm-address": ("user", "confirm-address CODE"),
    "dice": ("dice", "dice spiro 101"),
    "help": ("reply", "help json spiro move"),
    "list": ("counts", "list"),
    "outbox flush": ("sending", "outbox flush"),
    "outbox list": ("outbox", "outbox list"),
    "play": ("news", "play symple 101 alice --with=NO"),
    "signup": ("user", "signup dave dave-secret dave@players.example"),
    "tournament": ("schedule", "tournament symple new alice bob carol"),
    "wait": ("news", "wait spiro 101 --until=over"),
}
"""For each command the object that it prints, and a line that does. CODE and NO are what the fixture says."""


def operators(name, command):
    """The commands for the operator, each with the words that lead to it."""
    if isinstance(command, click.Group):
        for sub, further in command.commands.items():
            yield from operators(f"{name} {sub}", further)
    elif name not in PROTOCOLS:
        yield name


COMMANDS = sorted(
    {one.name for one in root.explained()}
    | {name for first in admin.MODULES for name in operators(first, admin.command(first))}
)


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """What a command prints with --json, on a server where something has happened, and its exit status."""
    for name in list(os.environ):
        if name.startswith("PBM_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PBM_DB", str(tmp_path / "pbm.db"))
    monkeypatch.setenv("PBM_ADDRESS", ADDRESS)

    def say(line):
        capsys.readouterr()
        status = shell.main([*line.split(), "--json"])
        out, err = capsys.readouterr()
        assert err == ""
        assert len(out.splitlines()) == 1
        return json.loads(out), status

    for name in ("alice", "bob", "carol"):
        say(f"signup {name} {PASSWORDS[name]} {name}@players.example")
    for line in (
        "symple challenge -size=5 alice bob", "symple challenge alice carol", "spiro challenge -small alice bob",
        "tournament symple pool alice bob",
    ):  # fmt: skip
        say(line)
    for name in ("alice", "bob"):
        with Store(tmp_path / "pbm.db") as store:
            move = next(Board.load(store, "spiro", "101").state.moves())
        say(f"spiro move 101 {name} {PASSWORDS[name]} {move}")
    for name in ("bob", "alice"):
        say(f"spiro move 101 {name} {PASSWORDS[name]} resign")
    return say


def filled(line, folder, monkeypatch):
    """A line with what it needs: the code of a confirmation mail, or a program that gives up."""
    if "CODE" in line:
        mail = folder / "mail"
        mail.write_text("From: alice@elsewhere.example\nSubject: signup dave dave-secret\n\n")
        with mail.open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            shell.main(["deliver"])
        with sqlite3.connect(folder / "pbm.db") as db:
            [subject] = db.execute("SELECT subject FROM outbox WHERE subject LIKE 'confirm-address %'").fetchone()
        line = subject
    if "NO" in line:
        (folder / "robot").write_text("#!/bin/sh\necho resign\nread line\n")
        (folder / "robot").chmod(0o755)
        line = line.replace("NO", str(folder / "robot"))
    return line


def check(answer, name):
    """Assert that an answer is an object of the schema, and of the whole schema, too."""
    schema = SCHEMA | {"anyOf": [{"$ref": f"#/$defs/{name}"}]}
    jsonschema.validate(answer, schema, cls=jsonschema.Draft202012Validator)
    jsonschema.validate(answer, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_the_object_that_is_documented(said, name, tmp_path, monkeypatch):
    assert name in EXAMPLES, (
        f"`{name}` has no example of its JSON. Add a line that runs it to EXAMPLES in {Path(__file__).name}, and its "
        "object to docs/json-schema.json and help/json.txt if none of those there is it."
    )
    definition, line = EXAMPLES[name]
    answer, status = said(filled(line, tmp_path, monkeypatch))
    assert status == 0, answer
    check(answer, definition)


def test_every_example_is_of_a_command():
    assert [name for name in EXAMPLES if name not in COMMANDS] == []


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        ("board", "symple show 101"),
        ("board", "symple show pool1"),
        ("board", "spiro show 101"),
        ("board", "symple resign pool1 bob bob-secret"),
        ("boards", "list symple spiro"),
        ("news", "wait symple 101 102 --until=turn=alice"),
        ("pools", "tournament symple"),
        ("schedule", "tournament symple new alice bob --dry-run"),
        ("table", "tournament symple pool"),
        ("table", "tournament symple pool --csv"),
        ("user", "signup dave dave-secret"),
    ],
)
def test_what_depends_on_the_words_of_a_command_is_documented_too(said, definition, line):
    answer, status = said(line)
    assert status == 0
    check(answer, definition)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("symple show 999", 1),
        ("symple move 101 alice wrong-secret c3", 1),
        ("symple move 101 bob bob-secret c3", 1),
        ("symple move 101 alice alice-secret z9", 1),
        ("symple challenge -nix alice bob", 1),
        ("dice symple 101", 1),
        ("symple move", 2),
        ("nonsense", 2),
        ("symple nonsense", 2),
        ("wait symple", 2),
        ("wait symple 999", 1),
        ("wait symple 101 --timeout=0", 1),
        ("wait symple 101 --timeout=soon", 1),
        ("wait symple 101 --nix", 1),
        ("tournament symple none", 1),
        ("outbox nonsense", 2),
        ("referee chess", 2),
        ("wait chess 101", 2),
        ("tournament chess", 2),
    ],
)
def test_every_refusal_is_an_error_with_the_exit_status(said, line, status):
    answer, code = said(line)
    check(answer, "error")
    assert answer["status"] == code == status


def test_an_object_with_another_key_is_not_the_documented_one(said):
    answer, _ = said("symple show 101")
    with pytest.raises(jsonschema.ValidationError):
        check({**answer, "extra": 1}, "board")


def test_several_texts_become_one(said):
    answer, _ = said("help tutorial spiro")
    assert "signup alice" in answer["reply"]
    assert "SPIRO" in answer["reply"]


def test_the_help_names_every_key_of_the_schema():
    keys = {key for one in SCHEMA["$defs"].values() for key in one.get("properties", {})}
    assert [key for key in sorted(keys) if not re.search(rf"\b{key}\b", HELP)] == []


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    answers = {one["$ref"].rpartition("/")[2] for one in SCHEMA["anyOf"]}
    assert {definition for definition, _ in EXAMPLES.values()} <= answers


@pytest.mark.parametrize("subject", ["json", "tutorial", "operator"])
def test_every_text_of_the_help_folder_is_a_subject(said, subject):
    assert said(f"help {subject}") == ({"reply": (FOLDER / f"{subject}.txt").read_text().rstrip()}, 0)


@pytest.mark.parametrize("subject", ["../README", "json.txt", ".", "/etc/passwd"])
def test_nothing_else_is(said, subject):
    assert said(f"help {subject}")[1] == 1


def test_help_fits_a_mail():
    for path in FOLDER.glob("*.txt"):
        assert [line for line in path.read_text().splitlines() if len(line) > 78 or line != line.rstrip()] == []
