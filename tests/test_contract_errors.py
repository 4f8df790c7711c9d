"""Errors that every command can give, each naming what is wrong (docs/command-language.md, section 10)."""

import pytest

from pbm.language.commands import root

from helpers.examples import rules
from helpers.fixtures import set_up
from helpers.grammar import commands_of

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
    ("name", "line", "why"),
    rules("""
an error names what is wrong
    alice | symple move 101 | The command is written: symple move BOARD USERID PASSWORD MOVE[#n]
    alice | symple nonsense | There is no command `symple nonsense`; `help commands` lists all commands.
    alice | nonsense symple | There is no game or command 'nonsense'; `help commands` lists all commands.
    alice | symple move 777 ME c3 | '777'
    alice | symple move 101 alice wrong-secret c3 | The userid or the password is wrong.
    alice | symple move 101 nosuch alice-secret c3 | The userid or the password is wrong.
    bob | symple move 102 ME c4 | The game has ended: won by bob.
    carol | symple move 101 ME c4 | You do not play on this board; alice and bob do.
    bob | symple move 101 ME c4 | It is not your turn; alice is to move.
    alice | spiro move 101 ME undo | dice
    alice | spiro preview 101 e3:5 dice=7,1 e2:6:1 | 'dice=7,1' should be dice=
    alice | spiro preview 101 e3:5 dice=1 e2:1 | two dice
    alice | -small spiro preview 101 e3:5 | The options of board 101 are set
    alice | spiro preview new 3 | Spiro is for 2 players
    alice | spiro preview new 2 -foo | no option
    alice | dice spiro 101 | The game is not over
    alice | dice go 101 | There is no game 'go'
    alice | symple challenge -nothing alice bob | -nothing
    alice | symple challenge -size=99 alice bob | 5 to 25
    alice | symple limit ME many | 'many' is no limit; it is a number from 0 to 999
    alice | symple seek ME many | 'many' is no number of challenges; it is from 0 to 99.
    alice | symple games active inactive | `active` and `inactive` exclude each other
    alice | symple games next | `next` needs the userid
    alice | symple move 101 ME c3 | white stone on c3
    alice | symple subscribe ME 777 | '777'
    alice | symple notify ME 777 | '777'
    alice | symple show 101#x | '101#x'
a vacation that cannot be is refused
    alice | vacation ME 2026-12-11 | 22 days
    alice | vacation ME 2026-12-01 2026-12-22 | 22 days
    alice | vacation ME 2026-11-19 | through a later one
    alice | vacation ME 2026-11-19 2026-11-25 | in the past
    alice | vacation ME 2026-12-10 2026-12-01 | through a later one
    alice | vacation ME 2028-01-01 2028-01-02 | within a year
    alice | vacation ME tomorrow | 'tomorrow'
    alice | vacation ME 2026-02-30 | '2026-02-30'
    alice | vacation ME 20261201 | '20261201'
    alice | vacation ME 2026-12-01 2026-12-02 2026-12-03 | no more
    alice | vacation ME off | no vacation to end
what selects no user in all games is refused
    alice | all games | missing
    alice | all games next | needs the userid
    alice | all games active | needs the userid
    alice | all games nobody-here | There is no user 'nobody-here'.
    alice | all games alice next inactive | exclude each other
    alice | all games alice 2 | no page 2
a zone that is not known is refused with the nearest
    alice | timezone ME Europe/Berln | did you mean Europe/Berlin?
    alice | timezone ME berlin | did you mean Europe/Berlin?
    alice | timezone ME New_York | did you mean America/New_York?
    alice | timezone ME europe/paris- | did you mean Europe/Paris?
    alice | timezone ME ../../etc/passwd | There is no time zone
    alice | timezone ME xyzzyxyzzy | it is written like Europe/Berlin
a wish for challenges that means nothing is refused
    alice | symple seek ME 2 --rating=1700-1500 | should be two ratings
    alice | symple seek ME 2 --rating=high | should be two ratings
    alice | symple seek ME 2 --options=-sise=9 | -sise
    alice | symple seek ME 2 --options=-size=999 | -size
    alice | symple seek ME --rating=1500-1700 | say how many challenges you seek
    """),
)
def test_a_refusal_is_a_sentence_that_names_what_is_wrong(game, name, line, why):
    text = game.refused(name, line).text
    assert why in " ".join(text.split())
    assert text[0].isupper() or text[0] in "'`-"
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
