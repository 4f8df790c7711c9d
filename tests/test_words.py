"""The grammar of a line (the command language, section 1)."""

import pytest

from pbm import words
from pbm.commands import root
from pbm.grammar import Line


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
    assert isinstance(node, Line)
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


def test_passwords_are_masked_the_longest_first():
    assert words.masked("my secret and secret2", ["secret", "secret2", ""]) == "my PASSWORD and PASSWORD"
