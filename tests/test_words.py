"""The grammar of a line (docs/command-language.md, section 1)."""

import pytest

import games
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import Command, Group
from pbm.mail.incoming import handle


def tidied(line: str) -> list[str]:
    return words.tidied([line], {"spiro", "symple"}.__contains__)


@pytest.mark.parametrize(
    "subject",
    [
        "spiro show 101",
        "Re: spiro show 101",
        "RE: Fwd: AW: re: spiro show 101",
        "Re:spiro show 101 **",
        "RE : spiro show 101",
        "回复：Odp: spiro show 101",
        "Re[2]: ** spiro show 101",
        "Nag: spiro show 101",
        "RE: [EXTERNAL] Re: spiro show 101",
        "[SPAM?] spiro show 101",
        "***SPAM*** Re: spiro show 101",
        "** Possible spam ** [pbm] AW: spiro show 101 **",
        "New spiro show 101",
        "  spiro   show\t101  ",
    ],
)
def test_what_mail_programs_and_our_own_subjects_add_is_dropped(subject):
    assert tidied(subject) == ["spiro", "show", "101"]


@pytest.mark.parametrize("subject", ["** spiro show 101 **", "spiro show [SPAM] 101", "spiro show 101 [EXTERNAL]"])
def test_only_a_tag_in_front_is_dropped_and_no_command_is_taken_for_one(subject):
    assert tidied(subject)[:2] == ["spiro", "show"]
    assert tidied(subject)[-1] != "show"


def test_new_in_front_of_a_game_is_dropped_but_not_a_board_called_new():
    assert tidied("New Spiro Board 101 bob **") == ["Spiro", "Board", "101", "bob"]
    assert tidied("spiro preview new 2") == ["spiro", "preview", "new", "2"]


def test_an_option_in_front_of_the_command_words_comes_behind_them():
    assert tidied("-small spiro -pieces=3 challenge a b") == ["spiro", "challenge", "-small", "-pieces=3", "a", "b"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("chall", "challenge"),
        ("CHALLENG", "challenge"),
        ("challenge", "challenge"),
        ("chal", "chal"),
        ("challenges", "challenges"),
        ("prev", "preview"),
        ("previews", "previews"),
        ("board", "move"),
        ("mvoe", "move"),
        ("add", "signup"),
        ("mov", "mov"),
    ],
)
def test_commands_are_shortened_only_as_far_as_the_language_allows(word, meant):
    assert words.command(word) == meant


def split(command: str, line: str) -> tuple[list[str], list[str]]:
    node = root.game.commands[command]
    assert isinstance(node, Command)
    return words.split(line.split(), node.begins_moves)


def test_options_may_stand_anywhere_before_the_moves():
    assert split("challenge", "alice -small bob -pieces=4") == (["-small", "-pieces=4"], ["alice", "bob"])


def test_a_word_in_the_place_of_a_move_is_no_option():
    assert split("move", "101 alice pw -e3,+f6") == ([], ["101", "alice", "pw", "-e3,+f6"])
    assert split("move", "-x 101 alice pw --") == (["-x"], ["101", "alice", "pw", "--"])
    assert split("preview", "101 -e3 -f4") == ([], ["101", "-e3", "-f4"])


def test_in_a_preview_of_a_new_game_options_end_at_the_first_move():
    assert split("preview", "new 2 -small -pi=3 e3:4 -e3") == (["-small", "-pi=3"], ["new", "2", "e3:4", "-e3"])


def test_blanks_next_to_a_comma_belong_to_the_move():
    assert split("move", "101 alice pw c3-c6 , c6-c8 ,d1-x")[1][3:] == ["c3-c6,c6-c8,d1-x"]


def test_a_bare_hyphen_is_a_word():
    assert split("move", "101 alice - c3-c6") == ([], ["101", "alice", "-", "c3-c6"])


@pytest.fixture
def asked(monkeypatch):
    """What is asked of the language while a test runs: the lines that are tidied, the words that may be a game."""
    counted = {"lines": [], "words": []}
    tidied, exists = words.tidied, games.exists

    def counting_lines(line, is_game):
        line = list(line)
        counted["lines"].append(" ".join(line))
        return tidied(line, is_game)

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
    monkeypatch.setattr("pbm.language.words.tidied", lambda line, is_game: [read.append(1), tidied(line, is_game)][1])
    assert shell.run("spiro", "show", "999").returncode == 1
    assert len(read) == 1


def test_no_command_has_two_words_of_one_name():
    commands = [root, root.game]
    for group in commands:
        commands += [one for one in group.commands.values() if isinstance(one, Group)]
    for command in (one for group in commands for one in group.commands.values()):
        names = [parameter.name for parameter in command.params]
        assert len(names) == len({*names}), command.name
