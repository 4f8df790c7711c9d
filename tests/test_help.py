"""What a newcomer reads first is short, and what it says to type can be typed."""

import re

import pytest

from pbm import referee
from pbm.language.commands import root
from pbm.language.help import TOPICS, help_letter

from helpers.club import PASSWORDS
from helpers.helptexts import read

SCREEN = 25
"""Lines that are seen at once."""
OURS = "papagra", "spiro", "spora", "sprout", "symple"


@pytest.mark.parametrize("game", OURS)
def test_the_help_of_a_game_begins_with_all_that_a_first_game_needs_and_ends_with_advice(game):
    screen = "\n".join(read(game).splitlines()[:SCREEN])
    for part in ("Aim ", "A turn ", "The end ", "Notation ", "Start "):
        assert f"\n{part}" in screen
    assert len(re.findall(r"^    \S+  +\S", screen, re.MULTILINE)) >= 3
    before, _, advice = read(game).upper().rpartition("STRATEGY\n")
    assert before
    assert len(advice.split()) > 60
    assert "\n\n\n" not in advice


@pytest.mark.parametrize("game", OURS)
def test_the_first_game_that_the_help_names_can_be_started(game, shell):
    shell.sign_up("alice", "bob")
    challenge, move = re.search(
        rf"^Start +({game} .*)\n +({game} move .*?)(?:  .*)?$", read(game), re.MULTILINE
    ).groups()
    assert shell.run(challenge).returncode == 0
    word = move.split()[-1]
    first = shell.run(move.replace("PASSWORD", PASSWORDS["alice"]))
    if game == "spiro":  # the dice decide
        replies = list(referee.replies(game, ["new -small", "dice 4", f"play {word}"]))
        assert replies[-1] == f"= {word}"
    else:
        assert first.returncode == 0, first.stderr


def test_the_overview_leads_on_to_the_tutorial_and_any_other_help_to_the_list_of_commands():
    assert help_letter("").command.text == "help tutorial"
    assert help_letter("symple").command.text == "help commands"


def test_help_on_a_command_of_a_game_and_of_all_games_begins_with_that_of_a_game(shell):
    lines = shell.run("help", "mail").stdout.splitlines()
    syntaxes = [line.split()[:2] for line in lines if "USERID PASSWORD" in line]
    assert syntaxes == [["GAME", "mail"], ["mail", "USERID"]]


def test_help_on_commands_begins_with_the_ten_that_a_player_needs_and_lists_each_under_one_topic(shell):
    screen = shell.run("help", "commands").stdout.splitlines()[:SCREEN]
    ten = [re.split(" {2,}", line.strip()) for line in screen if line.startswith("  ")]
    assert [len(parts) for parts in ten[:10]] == [2] * 10
    assert screen[3 + 10] == ""
    names = {one.name for one in root.explained()}
    assert [syntax for syntax, _ in ten[:10] if not any(re.match(rf"{name}\b", syntax) for name in names)] == []
    text = shell.run("help", "commands").stdout
    for one in root.explained():
        assert text.count(f"\n\n{one.syntax}\n    ") == 1
    assert [line for line in text.splitlines() if line.isupper() and line.capitalize() in TOPICS] == [
        topic.upper() for topic in TOPICS
    ]


def test_players_and_operators_are_told_that_direct_encounter_decides_before_a_place_is_shared(shell):
    for command in ("table", "tournament"):
        said = " ".join(shell.run("help", command).stdout.split())
        assert "their games against each other (direct encounter)" in said
        assert "share a place only if" in said
