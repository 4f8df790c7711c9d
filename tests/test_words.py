"""The grammar of a line (docs/command-language.md, section 1)."""

import pytest

import games
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import Group
from pbm.mail.incoming import handle


@pytest.fixture
def asked(monkeypatch):
    """What is asked of the language while a test runs: the lines that are tidied, the words that may be a game."""
    counted = {"lines": [], "words": []}
    tidied, exists = words.tidied, games.exists

    def counting_lines(line):
        counted["lines"].append(line)
        return tidied(line)

    def counting_words(word):
        counted["words"].append(word)
        return exists(word)

    monkeypatch.setattr("pbm.language.words.tidied", counting_lines)
    monkeypatch.setattr("games.exists", counting_words)
    return counted


def mailed(club, subject: str, body: str = "") -> str:
    raw = f"From: alice@players.example\nMessage-ID: <1@players.example>\nSubject: {subject}\n\n{body}"
    outcome = handle(club.server, raw.encode(), None)
    return outcome.told


def test_the_line_of_a_good_mail_is_read_once(pair, asked):
    assert mailed(pair, "Re: spiro move 101 alice alice-secret e3:5") == "done"
    assert asked["lines"] == ["Re: spiro move 101 alice alice-secret e3:5"]
    assert set(asked["words"]) == {"spiro"}
    assert len(asked["words"]) <= 3  # also under the lock


FOUR_LINES = "Hello pbm!\nspiro show\n101\nYours, Alice"


def test_of_a_refused_mail_the_subject_and_the_first_line_are_read_once_each(pair, asked):
    assert mailed(pair, "Good morning to you all", FOUR_LINES) == "refused"
    assert asked["lines"] == ["Good morning to you all", "Hello pbm!"]
    assert len(asked["words"]) <= 4


def test_a_refused_command_is_read_once_whatever_stands_below_it(pair, asked):
    assert mailed(pair, "spiro move 101 alice wrong-secret e1:5", FOUR_LINES) == "refused"
    assert asked["lines"] == ["spiro move 101 alice wrong-secret e1:5"]
    assert set(asked["words"]) == {"spiro"}
    assert len(asked["words"]) <= 3  # also under the lock


def test_each_line_of_multiple_is_read_once(pair, asked):
    lines = ["spiro show 101", "spiro mvoe 101 alice alice-secret e1:9", "nothing that we know", "spiro games alice"]
    assert mailed(pair, "multiple", "\n".join(lines)) == "done"
    assert asked["lines"].count("multiple") == 1
    assert all(asked["lines"].count(line) == 1 for line in lines)


def test_a_shell_reads_its_line_once(shell, monkeypatch):
    shell.run("signup", "alice", "alice-secret")
    read = []
    tidied = words.tidied
    monkeypatch.setattr("pbm.language.words.tidied", lambda line: [read.append(1), tidied(line)][1])
    assert shell.run("spiro", "show", "999").returncode == 1
    assert len(read) == 1


def test_no_command_has_two_words_of_one_name():
    commands = [root, root.game]
    for group in commands:
        commands += [one for one in group.commands.values() if isinstance(one, Group)]
    for command in (one for group in commands for one in group.commands.values()):
        names = [parameter.name for parameter in command.params]
        assert len(names) == len({*names}), command.name
