"""Weaknesses of the original server, by number (docs/command-language.md, section 11).

Number 1 is also in test_plans_secret, 4 in test_contract_grammar, 7 in test_ratings, 15 in test_mail, 17 in
test_contract_clocks.
"""

import os
import subprocess

import pytest

from helpers.examples import rules
from helpers.fixtures import set_up
from helpers.mail import handle
from helpers.members import SENDER, text_to, to
from helpers.stories import follow

EVIL = "x;touch${IFS}f; x|y $(id) `id` ../../etc/users %s%n -- -rf * ~ 'x' {} \\".split()


@set_up
def game(both_ways):
    """Symple board 101, alice to move as the third one; bob has queued e5."""
    both_ways.begin()
    both_ways.plays("c3", "b1")
    both_ways.signs("bob", "symple queue 101 ME e5")
    both_ways.forget_mails()


def test_2_passwords_are_hashed_compared_exactly_never_mailed_and_no_one_opens_all(game):
    stored = "\n".join(game.store.db.iterdump())
    assert "-secret" not in stored
    assert stored.count("$argon2id$") == 4
    for password in ("Alice-Secret", "master", "bob-secret", game.store.users.password_of("alice")):
        told = game.refused("alice", f"symple move 101 alice {password} a1")
        assert "> symple move 101 alice PASSWORD a1" in told.text


@pytest.mark.parametrize("word", [*EVIL, "a\x00b", "a\nb"])
def test_3_no_word_is_ever_part_of_a_shell_command_and_no_program_is_started(four, word, monkeypatch):
    def start(*_args, **_kwargs):
        raise AssertionError("a program was started")

    for module, name in ((subprocess, "Popen"), (os, "system"), (os, "posix_spawn")):
        monkeypatch.setattr(module, name, start)
    four.begin()
    for line in (
        f"signup {word} good-secret",
        f"symple challenge alice {word}",
        f"symple limit ME {word}",
        f"symple show {word}",
        f"symple move 101 ME {word}",
        f"symple preview 101 {word}",
    ):
        four.refused("alice", line)


@pytest.mark.parametrize("line", ["symple move 101 alice {} a1", "symple move 101 {} alice-secret a1", "symple show {}",
                                  "symple move {} alice alice-secret a1", "symple move 101 alice alice-secret {}",
                                  "symple challenge alice {}", "signup {} good-secret", "symple games {}", "{}",
                                  "symple {} 101", "signup dave {}", "symple queue 101 bob bob-secret {}",
                                  "symple plan 101 bob bob-secret if any then {}"])  # fmt: skip
def test_5_a_word_of_5000_characters_is_refused_and_said_back_in_short(game, line):
    told = game.refused("alice", line.format("x" * 5000))
    assert len(told.text) < 3000


def test_5_userids_of_the_full_length_fit_everywhere(four):
    names = "abcdefghijklmnop", "qrstuvwxyz.-_123"
    for name in names:
        four.say(f"signup {name} good-secret {name}@players.example")
    four.begin(f"symple challenge -size=5 {' '.join(names)}")
    four.say(f"symple subscribe {names[0]} good-secret all")
    for line in ("symple games", "symple show 101"):
        assert all(name in text_to(SENDER, four.give("alice", line)) for name in names)
    for name, move in zip(names * 2, ("c3", "b1", "resign"), strict=False):
        four.say(f"symple move 101 {name} good-secret {move}")
    for line in ("symple standings", "symple history"):
        assert all(name in text_to(SENDER, four.give("alice", line)) for name in names)


def test_6_standings_and_the_clean_up_never_fail_whatever_there_is(four):
    for number in range(4):
        four.begin()
        four.begin(f"symple challenge -size=5 --name=a{number} alice bob")
        four.plays(*("c3", "b1", "resign")[:number], board=f"a{number}")
        for _ in range(5):
            assert to(four.give("alice", "symple standings")) == [(SENDER, "Symple Standings")]
        four.pass_time(days=5)
        assert four.clean().problems == ()


def test_8_dice_come_from_a_secret_of_32_bytes_and_previews_draw_none(four):
    four.made = 12
    first = four.begin("spiro challenge -small -pieces=2 alice bob")
    second = four.begin("spiro challenge -small -pieces=2 alice bob")
    secrets = [four.at(board, "spiro").row.secret for board in (first, second)]
    assert [len(secret) for secret in secrets] == [32, 32]
    assert secrets[0] != secrets[1]
    before = four.say("spiro show 101")[0].data["dice"]
    for _ in range(5):
        four.give("stranger", "spiro preview 101 e3:5 dice=1,2 e2:1:2")
    assert four.say("spiro show 101")[0].data["dice"] == before


@pytest.mark.parametrize(("name", "line"), [
    ("carol", "symple challenge carol dora"), ("bob", "symple resign 101 ME"), ("carol", "symple notify ME"),
    ("alice", "symple move 101 ME a1"), ("alice", "symple move 101 ME propose"), ("carol", "symple subscribe ME all"),
    ("carol", "signup dave dave-secret"), ("bob", "symple chat 101 ME"), ("carol", "symple show 101"),
    ("carol", "multiple"), ("alice", "symple move 101 ME nonsense"),
])  # fmt: skip
def test_9_the_same_mail_twice_does_what_it_says_once(by_mail, name, line):
    by_mail.begin()
    by_mail.plays("c3", "b1")
    body = "symple notify carol carol-secret\nsymple challenge carol dora"
    raw = by_mail.raw(name, line.replace("ME", f"{name} {name}-secret"), body)
    assert handle(by_mail.server, raw, None) == "command"
    once = list(by_mail.store.db.iterdump())
    for again in (raw, b"Received: from elsewhere\r\n" + raw):
        assert handle(by_mail.server, again, None) == "repeated"
    assert list(by_mail.store.db.iterdump()) == once


def test_10_a_stranger_starts_no_boards_for_others_and_causes_no_mail_to_them(by_mail):
    for envelope in (None, "alice@players.example"):
        handle(by_mail.server, by_mail.raw("stranger", "symple challenge alice bob"), envelope)
    assert by_mail.store.boards.totals() == (0, 0)
    assert {mail.address for mail in by_mail.mails()} == {"stranger@players.example"}


@pytest.mark.parametrize(
    ("noun", "fails"),
    [("boards", "save"), ("players", "insert"), ("outbox", "add"), ("boards", "drop_plans"), ("players", "save")],
)
def test_11_a_command_is_one_transaction_with_its_mails_and_loses_nothing(by_mail, monkeypatch, noun, fails):
    by_mail.begin()
    by_mail.plays("c3", "b1")
    by_mail.signs("bob", "symple queue 101 ME e5")
    by_mail.forget_mails()
    before = list(by_mail.store.db.iterdump())
    raw = by_mail.raw("alice", "symple resign 101 alice alice-secret")

    def fail(*_args, **_kwargs):
        raise OSError("the disk is full")

    monkeypatch.setattr(getattr(by_mail.store, noun), fails, fail)
    with pytest.raises(OSError, match="full"):
        handle(by_mail.server, raw, None)
    assert list(by_mail.store.db.iterdump()) == before
    monkeypatch.undo()
    assert handle(by_mail.server, raw, None) == "command"
    assert by_mail.at().winner == "bob"
    assert by_mail.outbox() == [("alice", "Symple Board 101"), ("bob", "Symple Board 101")]


def test_13_lists_of_a_user_ask_for_his_boards_alone_are_answered_and_change_nothing(game):
    for _ in range(30):
        game.begin("symple challenge -size=5 carol dora")
    asked = []
    game.store.db.set_trace_callback(asked.append)
    told = game.give("stranger", "symple show board 101")
    told += game.give("stranger", "symple games alice")
    game.store.db.set_trace_callback(None)
    assert [one.to for one in told] == [SENDER, SENDER]
    assert not [query for query in asked if query.startswith(("INSERT INTO boards", "UPDATE boards"))]
    assert len([query for query in asked if "FROM turns" in query]) == 1
    plan = "".join(
        str(row) for query in asked if "FROM boards" in query
        for row in game.store.db.execute(f"EXPLAIN QUERY PLAN {query}")
    )  # fmt: skip
    assert "SCAN boards" not in plan


@pytest.mark.parametrize(
    "story",
    rules("""
lists tell votes, options and years, and a reminder is one mail a day
    challenge -penalty=6 alice bob / plays c3 b1 / alice: move propose / stranger: symple games / \
sender reads alice proposes a draw / sender reads -size=5 -penalty=6 / 8 days / clean up / told bob / \
all read no Subject / clean up / told / bob: move accept / stranger: symple history / sender reads 2026-11-28
userids mean the same user in any case everywhere
    alice: symple challenge -size=5 ALICE Bob / alice: symple move 101 ALICE alice-secret a1 / played a1 / \
stranger: symple games Alice / sender reads alice bob / dave refused: signup AlicE other-secret
a refused challenge uses up no number
    bob: symple reject ME / alice: symple challenge alice nosuch / alice: symple challenge alice bob / \
alice: symple challenge -size=6 alice carol / alice: symple challenge alice alice alice / \
alice: symple challenge -size=5 alice carol / carol gets New Symple Board 101 alice
a submission never plays a queued move
    challenge alice bob / plays c3 b1 / bob: queue e5 / alice: submit a1 / told sender / \
sender gets Symple Board 101 bob / played c3 b1 / plan bob if any then e5
    """),
)
def test_1_and_12_to_18_what_a_story_shows(both_ways, story):
    follow(both_ways, story)


def test_18_boards_are_public_and_what_a_player_plans_his_address_and_dice_to_come_are_not(both_ways):
    both_ways.made = 12
    both_ways.begin("spiro challenge -small -pieces=2 alice bob")
    both_ways.signs("bob", "spiro queue 101 ME e2:6")
    both_ways.signs("alice", "spiro submit 101 ME e3:5")
    secret = both_ways.at(game="spiro").row.secret
    seen = ""
    for line in ("spiro show 101", "spiro games", "spiro preview 101 e3:5", "spiro standings", "all show alice"):
        seen += text_to(SENDER, both_ways.give("stranger", line)).replace("Last turn: e3:5", "")
    assert "e2:6" not in seen
    assert "players.example" not in seen
    assert secret.hex() not in seen
    assert "waits for you to confirm" not in seen
