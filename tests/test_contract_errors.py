"""Errors that every command can give, each naming what is wrong (docs/command-language.md, section 10)."""

import pytest

from pbm.language.commands import root

from conftest import set_up
from contract import commands_of

SECRET = "very-secret-word"


@set_up
def game(both_ways):
    """Symple 101, alice to move as the third one; 102 is over; Spiro 101 with dice."""
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    both_ways.begin()
    both_ways.plays("c3", "b1")
    both_ways.begin()
    both_ways.plays("c3", "b1", "resign", board="102")


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("alice", "symple move 101", ["symple move BOARD USERID PASSWORD MOVE[#n]"]),
        ("alice", "symple nonsense", ["`symple nonsense`", "symple help"]),
        ("alice", "nonsense symple", ["'nonsense'", "help commands"]),
        ("alice", "symple move 777 ME c3", ["'777'"]),
        ("alice", "symple move 101 alice wrong-secret c3", ["userid or the password is wrong"]),
        ("alice", "symple move 101 nosuch alice-secret c3", ["userid or the password is wrong"]),
        ("bob", "symple move 102 ME c4", ["has ended", "won by bob"]),
        ("carol", "symple move 101 ME c4", ["do not play", "alice and bob"]),
        ("bob", "symple move 101 ME c4", ["not your turn", "alice is to move"]),
        ("alice", "spiro move 101 ME undo", ["dice"]),
        ("alice", "symple challenge -nothing alice bob", ["-nothing"]),
        ("alice", "symple challenge -size=99 alice bob", ["-size", "5 to 25"]),
        ("alice", "symple limit ME many", ["'many'", "0 to 999"]),
        ("alice", "symple seek ME many", ["'many'", "0 to 99"]),
        ("alice", "symple games active inactive", ["`active` and `inactive` exclude each other"]),
        ("alice", "symple games next", ["`next` needs the userid"]),
        ("alice", "symple move 101 ME c3", ["white stone on c3"]),
        ("alice", "vacation ME soon", ["'soon'"]),
        ("alice", "symple subscribe ME 777", ["'777'"]),
        ("alice", "symple notify ME 777", ["'777'"]),
        ("alice", "symple show 101#x", ["'101#x'"]),
    ],
)
def test_an_error_is_a_sentence_that_names_what_is_wrong(game, name, line, words):
    reason = game.refused(name, line).text.partition("\n\n")[0]
    text = " ".join(game.refused(name, line).text.split())
    for word in words:
        assert word in text
    assert reason[0].isupper() or reason[0] in "'`-"
    assert "Traceback" not in text


def signed_lines():
    """Each command with a password, with words that it could have."""
    words = {
        "board": "101", "userid": "alice", "password": SECRET, "new_password": SECRET, "move": "c3", "addresses": "",
        "boards": "101", "words": f"alice {SECRET} 101", "number": "3", "days": "2027-01-01", "readers": "bob",
        "switch": "on", "code": "abc",
    }  # fmt: skip
    every = (*commands_of(root), *commands_of(root.game, "symple "))
    lines = (" ".join([name, *(words.get(str(one.name), "text") for one in command.params)]) for name, command in every)
    return [line for line in lines if SECRET in line]


@pytest.mark.parametrize("line", [line for line in signed_lines() if not line.startswith("signup")])
def test_a_wrong_password_is_refused_and_masked_in_the_error_of_every_command(begun, line):
    told = begun.refused("alice", line, f"my word is {SECRET}, I say\nsymple move 101 bob {SECRET} c3")
    assert told.text.startswith(("The userid or the password is wrong.", "This code is wrong", "`"))
    assert SECRET not in told.text + told.subject


@pytest.mark.parametrize("line", signed_lines())
def test_with_words_too_few_too_many_or_misspelt_no_word_behind_the_second_is_said_back(four, line):
    four.begin()
    words = line.split()
    at = words.index(SECRET)
    for changed in (
        [*words, *["more"] * 9],
        words[: at + 1],
        [*words[: at - 1], *words[at:]],
        ["nonsense", *words[1:]],
        [words[0], f"x{words[1]}", *words[2:]],
        ["-x", *words],
        ["--x=1", *words],
    ):
        text = "".join(one.text for one in four.give("alice", " ".join(changed)))
        assert changed.index(SECRET) < 2 or SECRET not in text, changed


def test_an_error_quotes_nothing_that_the_sender_did_not_send(game):
    game.signs("bob", "symple queue 101 ME e5", "a remark of bob")
    game.signs("bob", "symple move 101 ME propose", "words of bob")
    text = game.refused("alice", "symple move 101 ME z9", "words of alice").text
    assert "e5" not in text.replace("a b c d e\n 5", "")
    assert "words of bob" not in text
    assert ("> words of alice" in text) == (game.way == "mail")
