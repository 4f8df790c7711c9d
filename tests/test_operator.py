"""What the operator can do: users, addresses, boards, the outbox, the doctor, backups, and records of games."""

import json
import os
import re
import sqlite3
import sys
import time
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO, TextIOWrapper
from pathlib import Path
from random import Random
from typing import NamedTuple

import click
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import SKIP
from pbm import console, texts
from pbm.access import bars
from pbm.access.tokens import reply_address, unsubscribe_address
from pbm.actions import cleanup, lists, proofs
from pbm.board import clocks, records
from pbm.board.board import FORFEIT, RESIGN, Board
from pbm.board.records import Unsound, outcome, replayed
from pbm.mail.incoming import is_known
from pbm.operator import doctor, exchange, mails, people
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.server import Server
from pbm.session import Session
from pbm.shell import main
from pbm.store import BoardRow, Reply, ResultRow, Store, TurnRow, copies
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Tournament

from helpers import helptexts
from helpers.club import PASSWORDS, pair_up
from helpers.database import people_in, sql, stored_board
from helpers.examples import examples, play_at_random
from helpers.fixtures import set_up
from helpers.losses import lose_by_time
from helpers.mail import ADDRESS, mail_of, outcome_of
from helpers.patience import PATIENCE, until
from helpers.plugins import MODULE, find_package
from helpers.servers import running

DOCS = Path(__file__).parent.parent / "docs"
RECORDS = jsonschema.Draft202012Validator(json.loads((DOCS / "record-schema.json").read_text()))


class Answer(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


@pytest.fixture
def own_settings(pair, monkeypatch):
    """The database of the club is that of the environment, which has no other settings."""
    for name in [name for name in os.environ if name.startswith("PBM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PBM_DB", str(pair.store.path))


@pytest.fixture
def operate(pair, own_settings, monkeypatch, capsys):
    """Runs an operator's command in the club of alice, bob and carol."""
    for module in (console, mails):
        monkeypatch.setattr(module, "open_server", lambda: pair.server)

    def run(*words, as_json=False, stdin=""):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(stdin.encode())))
        monkeypatch.setattr("pbm.terminal.read_input", lambda: sys.stdin)  # a process has but one
        status = console.main(words[0], words[1:], as_json=as_json)
        return Answer(status, *capsys.readouterr())

    return run


def change(club, query, *values):
    """Change the database behind the server's back."""
    with closing(sqlite3.connect(club.store.path)) as db, db:
        assert db.execute(query, values).rowcount


# Users and their addresses


def test_users_are_listed_with_their_addresses_and_active_boards(operate, pair):
    pair.store.users.sign_off("carol", pair.time)
    lines = operate("users").out.splitlines()
    assert [line.split() for line in lines] == [
        ["Userid", "Since", "Boards", "State", "Addresses"],
        ["alice", "2026-11-20", "1", "alice@players.example"],
        ["bob", "2026-11-20", "1", "bob@players.example"],
        ["carol", "2026-11-20", "signed", "off"],
    ]


def test_users_who_are_named_are_listed_and_a_program_gets_their_settings_too(operate, pair):
    pair.store.db.execute("INSERT INTO vacations VALUES ('alice', '2026-11-19', '2026-11-22')")
    lines = operate("users", "ALICE").out.splitlines()
    assert [line.split()[:5] for line in lines[1:]] == [["alice", "2026-11-20", "1", "on", "vacation"]]
    (user,) = operate("users", "bob", as_json=True).data["users"]
    assert user.pop("addresses")[0]["state"] == "confirmed"
    since = "2026-11-20T12:00:00+00:00"
    expected = {"userid": "bob", "since": since, "signed_off": None, "boards": {"spiro": 1}, "vacations": []}
    assert user == {**expected, "mail": "pictures", "broadcasts": False, "muted": None}


@pytest.mark.parametrize(("first", "state"), [("2026-11-20", ["on", "vacation"]), ("2026-11-21", [])])
def test_a_user_is_listed_as_on_vacation_from_its_first_day_on(operate, pair, first, state):
    pair.store.db.execute("INSERT INTO vacations VALUES ('alice', ?, '2026-11-25')", [first])
    assert operate("users", "alice").out.splitlines()[1].split()[3:-1] == state


@pytest.mark.parametrize("is_set", [False, True])
def test_a_user_without_mail_gets_a_new_password_which_ends_the_reply_addresses(operate, pair, monkeypatch, is_set):
    query = "SELECT count(*) FROM replies WHERE userid = 'bob'"
    assert pair.store.db.execute(query).fetchone() == (1,)
    if is_set:
        monkeypatch.setenv("PBM_PASSWORD", "better-secret")
    done = operate("users", "password", "bob", stdin="" if is_set else "better-secret\n")
    assert done.out == "bob has a new password.\n"
    assert pair.store.db.execute(query).fetchone() == (0,)
    with pytest.raises(Refused, match="wrong"):
        pair.move("bob", "resign")
    pair.say("spiro resign 101 bob better-secret")


def test_a_user_who_is_removed_gives_up_his_boards(operate, several):
    assert operate("users", "remove", "alice", "--yes").out == "alice is signed off.\n"
    assert several.store.boards.get("spiro", "101") is None
    assert "alice has signed off" in several.mails("bob")[-1].text
    assert operate("users", "remove", "alice", "--yes").err == "alice has signed off.\n"


# Muted users


MUTED_WORD = "What you have written with this was left out, because the operator of this server has muted you."


@pytest.fixture
def muted(operate, pair):
    """The club, in which alice, who is to move, is muted."""
    assert operate("users", "mute", "alice").out == "alice is muted.\n"
    return pair


def read_by(club, *names):
    """All that these users have been mailed."""
    return " ".join(" ".join(mail.text.split()) for name in names for mail in club.mails(name))


def test_a_muted_user_is_told_once_listed_and_can_write_again_later(operate, muted):
    told = muted.mails("alice")[-1]
    assert (told.subject, "Your moves are played as before" in " ".join(told.text.split())) == ("You are muted", True)
    assert operate("users", "mute", "alice").err == "alice is muted already.\n"
    assert operate("users", "alice").out.split()[8:10] == ["muted", "alice@players.example"]
    assert operate("users", "unmute", "ALICE").out == "alice is no longer muted.\n"
    assert muted.mails("alice")[-1].subject == "You are no longer muted"
    assert operate("users", "unmute", "alice").err == "alice is not muted.\n"
    assert [mail.subject for mail in muted.mails("alice")].count("You are muted") == 1
    muted.move("alice", "e3:5", comment="Sorry")
    assert "Sorry" in read_by(muted, "bob")


@pytest.mark.parametrize("userid", ["robot", "nobody"])
def test_a_robot_and_nobody_cannot_be_muted(operate, userid):
    assert operate("users", "mute", userid).status == 1


@pytest.mark.parametrize("turn", ["e3:5", "resign", "propose"])
def test_the_moves_of_a_muted_user_are_played_and_their_comments_left_out_with_a_word_to_them(muted, turn):
    muted.say("spiro subscribe carol carol-secret 101")
    [letter] = [one for one in muted.move("alice", turn, comment="You fool") if one.to in {None, "alice"}]
    assert MUTED_WORD in " ".join(letter.body.split())
    assert "You fool" not in letter.body
    assert "You fool" not in read_by(muted, "bob", "carol")
    assert MUTED_WORD not in read_by(muted, "bob", "carol")
    assert "Spiro" in muted.mails("bob")[-1].subject


def test_a_muted_user_who_answers_by_mail_is_told_that_their_comment_was_left_out(muted):
    with muted.store.writing():
        address = reply_address(muted.server, "spiro", "101", "alice")
    raw = mail_of("alice@players.example", "Re: Spiro Board 101 alice", "e3:5\n\nYou fool", address)
    assert outcome_of(muted.server, raw, None, [address]).shown_word == "done"
    assert MUTED_WORD in read_by(muted, "alice")
    assert "You fool" not in read_by(muted, "alice", "bob")


def test_a_plan_that_stands_with_the_move_of_a_muted_user_is_kept_without_the_comment_below(muted):
    muted.say("symple challenge alice bob")
    muted.say("symple move 101 alice alice-secret c3", "if d4 then e5\n\nYou fool")
    assert muted.store.boards.plans("symple", "101") == {"alice": "if d4 then e5"}
    assert "You fool" not in read_by(muted, "bob")


def test_a_muted_user_who_moves_without_a_comment_is_not_told_again(muted):
    assert MUTED_WORD not in " ".join(letter.body for letter in muted.move("alice", "e3:5"))


@pytest.mark.parametrize(
    "line", ["spiro chat 101 alice alice-secret", "message alice alice-secret bob", "broadcast alice alice-secret"]
)
def test_a_muted_user_writes_to_nobody(muted, line):
    before = len(muted.mails())
    refused = "The operator of this server has muted you: your moves are played, but you write to nobody."
    assert muted.why_refused(line, "You fool") == refused
    assert len(muted.mails()) == before


def test_the_challenges_of_a_muted_user_by_mail_have_no_comment(muted):
    muted.say("symple challenge alice bob", "You fool", sender="alice@players.example")
    assert muted.mails("bob")[-1].subject.startswith("New Symple Board")
    assert "You fool" not in read_by(muted, "bob")


def test_what_is_for_oneself_alone_is_not_muted(muted):
    [letter] = muted.say("spiro note 101 alice alice-secret", "Watch the corner")
    assert "Watch the corner" in letter.body
    muted.say("broadcast alice alice-secret on")
    assert muted.store.users.hearing("broadcasts") == ["alice"]


def test_whoever_signs_off_is_muted_no_longer(muted):
    muted.say("signoff alice alice-secret")
    assert not muted.store.users.is_muted("alice")


# Bars


BARRED_BY = [
    ("eve@spam.example", "eve@spam.example"),
    ("Eve+1@SPAM.example", "eve@spam.example"),
    ("eve@spam.example", "EVE+pbm@Spam.Example"),
    ("eve@spam.example", "@spam.example"),
    ("eve@mail.spam.example", "@SPAM.example."),
    ("eve@xn--bcher-kva.example", "@bücher.example"),
    ("eve@Bücher.example", "@xn--bcher-kva.example"),
    ("eve@bücher.example", "eve@BÜCHER.example"),
]
"""An address, and a bar that holds it."""
NOT_BARRED_BY = [
    ("eve@spam.example", "adam@spam.example"),
    ("eve@mail.spam.example", "eve@spam.example"),
    ("eve@notspam.example", "@spam.example"),
    ("eve@spam.example", "@mail.spam.example"),
    ("spam.example@players.example", "@spam.example"),
]
"""An address, and a bar that does not hold it."""


@pytest.mark.parametrize(
    ("address", "bar", "is_barred"), [*((*one, True) for one in BARRED_BY), *((*one, False) for one in NOT_BARRED_BY)]
)
def test_a_bar_holds_an_address_or_a_domain_with_its_subdomains_however_it_is_written(
    operate, pair, address, bar, is_barred
):
    assert operate("users", "bar", bar).status == 0
    assert (bars.bar_on(pair.store, address) is not None) == is_barred


@pytest.mark.parametrize("line", ["signup eve eve-secret", "spiro show 101", "nonsense", "help"])
def test_who_mails_from_a_barred_address_gets_no_answer_and_nothing_is_done(operate, pair, line):
    operate("users", "bar", "@spam.example")
    before = len(pair.mails())
    outcome = outcome_of(pair.server, mail_of("Eve <eve@mail.spam.example>", line), "eve@mail.spam.example", [ADDRESS])
    assert (outcome.shown_word, outcome.reason) == ("barred", "@spam.example")
    assert len(pair.mails()) == before
    assert not pair.store.users.is_taken("eve")


@pytest.mark.parametrize(("sender", "envelope"), [("eve@spam.example", None), ("x@y.example", "eve@spam.example")])
def test_a_mail_comes_from_a_barred_address_by_its_from_or_by_its_envelope(operate, pair, sender, envelope):
    operate("users", "bar", "eve@spam.example")
    assert outcome_of(pair.server, mail_of(sender, "help"), envelope, [ADDRESS]).shown_word == "barred"


def test_a_user_whose_address_is_barred_cannot_play_by_mail_until_it_is_answered_again(operate, pair):
    assert operate("users", "bar", "@players.example").out == (
        "Nothing that comes from @players.example is answered any more. Users with such an address: alice, bob, carol. "
        "`pbm users remove USERID` signs a user off.\n"
    )
    with pair.store.writing():
        address = reply_address(pair.server, "spiro", "101", "alice")
    for number, (line, to) in enumerate([("spiro move 101 alice alice-secret e3", ADDRESS), ("e3", address)]):
        raw = mail_of("alice@players.example", line, line, to, message_id=f"<{number}@players.example>")
        assert outcome_of(pair.server, raw, None, [to]).shown_word == "barred"
    assert pair.store.boards.get("spiro", "101").moves == 0
    assert operate("users", "unbar", "@players.example").out == "@players.example is no longer barred.\n"
    raw = mail_of("alice@players.example", "Re: Spiro Board 101 alice", "e3:5", address, message_id="<3@x.example>")
    assert outcome_of(pair.server, raw, None, [address]).shown_word == "done"


def test_mails_that_are_no_commands_are_handled_from_a_barred_address_too(operate, pair):
    operate("users", "bar", "@players.example")
    postmaster = mail_of("alice@players.example", "Why?", to="postmaster@pbm.example")
    assert outcome_of(pair.server, postmaster, None, ["postmaster@pbm.example"]).shown_word == "postmaster"
    pair.say("broadcast alice alice-secret on")
    number = pair.store.users.addresses("alice")[0].number
    button = unsubscribe_address(pair.server, Reply("", "", "alice"), number)
    assert (
        outcome_of(pair.server, mail_of("alice@players.example", "", to=button), None, [button]).shown_word
        == "unsubscribe"
    )
    assert pair.store.users.hearing("broadcasts") == []


def test_nobody_signs_up_with_a_barred_address_or_makes_it_theirs(operate, pair):
    operate("users", "bar", "@spam.example")
    refused = "The operator of this server takes nothing that comes from eve@spam.example."
    for line in ("signup eve eve-secret eve@spam.example", "change address bob bob-secret eve@spam.example"):
        assert pair.why_refused(line) == refused
        assert pair.why_refused(line, sender="dave@players.example") == refused
    told = operate("addresses", "add", "bob", "eve@spam.example").err
    assert told == "@spam.example is barred; `pbm users unbar @spam.example` changes that.\n"


def test_an_address_that_was_barred_before_it_was_confirmed_is_not_confirmed(operate, pair):
    pair.say("signup eve eve-secret eve@spam.example", sender="dave@players.example")
    question = next(mail for mail in pair.mails() if mail.address == "eve@spam.example")
    operate("users", "bar", "@spam.example")
    assert "takes nothing that comes from eve@spam.example" in pair.why_refused(question.subject)
    assert pair.store.users.addresses("eve")[0].confirmed is None


def test_what_is_barred_is_listed_with_its_last_mail_and_its_users(operate, pair):
    operate("users", "bar", "@spam.example")
    operate("users", "bar", "carol@players.example")
    pair.pass_time(days=1)
    outcome_of(pair.server, mail_of("eve@spam.example", "help"), None, [ADDRESS])
    lines = operate("users").out.split("\n\n")[1].splitlines()
    assert [line.split() for line in lines] == [
        ["Barred", "Since", "Last", "mail", "Users"],
        ["@spam.example", "2026-11-20", "2026-11-21"],
        ["carol@players.example", "2026-11-20", "carol"],
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["bar", "spam.example"], "All addresses of a domain are written @spam.example, and not spam.example."),
        (["bar", "*@spam.example"], "All addresses of a domain are written @spam.example, and not *@spam.example."),
        (["bar", "alice"], "'alice' is neither an address nor a domain such as @spam.example."),
        (["bar", "@"], "'@' is neither an address nor a domain such as @spam.example."),
        (["bar", "e e@spam.example"], "'e e@spam.example' is neither an address nor a domain such as @spam.example."),
        (["bar", ADDRESS], f"{ADDRESS} is the address of this server."),
        (["bar", "@BARRED.example"], "@barred.example is barred already."),
        (["bar", "eve@mail.barred.example"], "@barred.example is barred already."),
        (["unbar", "@spam.example"], "@spam.example is not barred."),
        (["unbar", "eve@barred.example"], "eve@barred.example is not barred by itself; @barred.example is."),
    ],
)
def test_a_bar_that_cannot_be_set_or_lifted_is_refused(operate, words, reason):
    operate("users", "bar", "@barred.example")
    assert operate("users", *words).err == f"{reason}\n"


def test_a_narrow_bar_that_is_lifted_leaves_a_wider_one(operate):
    operate("users", "bar", "eve@spam.example")
    operate("users", "bar", "@spam.example")
    told = "eve@spam.example is no longer barred by itself, but @spam.example still is.\n"
    assert operate("users", "unbar", "eve@spam.example").out == told


def test_the_doctor_notes_bars_that_hold_nobody_and_finds_no_fault_in_them(operate, pair):
    operate("users", "bar", "@players.example")
    operate("users", "bar", "@spam.example")
    said = "@spam.example has been barred since 2026-11-20 and holds nobody: no user has such an address, and "
    [note] = doctor.idle_bars(pair.store.path, pair.time)
    assert note == f"{said}no mail has come from there. `pbm users unbar @spam.example` ends that."
    outcome_of(pair.server, mail_of("eve@spam.example", "help"), None, [ADDRESS])
    assert list(doctor.idle_bars(pair.store.path, pair.time + timedelta(days=29))) == []
    [note] = doctor.idle_bars(pair.store.path, pair.time + timedelta(days=31))
    assert note == f"{said}the last mail from there came on 2026-11-20. `pbm users unbar @spam.example` ends that."


def states(club, name):
    return {one.address: people.address_data(one)["state"] for one in club.store.users.addresses(name)}


@pytest.fixture
def waiting(pair):
    """dave, whose address is not confirmed yet, on a board against carol; mail 5 is for him."""
    pair.say("signup dave dave-secret", sender="dave@players.example")
    pair.say("spiro challenge carol dave")
    return pair


def test_addresses_are_listed_with_their_states(operate, waiting):
    change(waiting, "UPDATE addresses SET suspended = confirmed WHERE userid = 'bob'")
    lines = operate("addresses").out.splitlines()
    assert lines[1].split() == ["alice", "alice@players.example", "confirmed"]
    assert lines[2].endswith("suspended since 2026-11-20 12:00 UTC")
    assert lines[4].split() == ["dave", "dave@players.example", "unconfirmed"]
    assert len(operate("addresses", "bob", as_json=True).data["addresses"]) == 1


def test_what_waited_for_an_address_goes_to_one_that_is_added_and_the_others_stay(operate, waiting):
    assert waiting.mails("dave")[0].address is None
    operate("addresses", "add", "dave", "dave@home.example")
    assert waiting.mails("dave")[0].address == "dave@home.example"
    assert states(waiting, "dave") == {"dave@players.example": "unconfirmed", "dave@home.example": "confirmed"}


def test_an_address_is_dropped_with_the_mails_to_it(operate, pair):
    assert len(pair.mails("bob")) == 1
    told = operate("addresses", "drop", "bob", "Bob@players.example").out
    assert told.startswith("bob@players.example is no address of bob any more. Mails dropped: 1. bob has no address")
    assert pair.mails("bob") == []
    assert len(pair.mails("alice")) == 1


def test_a_confirmed_address_replaces_older_ones_as_if_its_user_had_answered(operate, pair):
    pair.say("change address bob bob-secret bob@new.example", sender="bob@players.example")
    assert states(pair, "bob") == {"bob@players.example": "confirmed", "bob@new.example": "unconfirmed"}
    assert operate("addresses", "add", "bob", "Bob@new.example").out == "Mails for bob go to Bob@new.example.\n"
    assert states(pair, "bob") == {"bob@new.example": "confirmed"}


def test_an_address_that_is_added_while_another_one_is_unconfirmed_leaves_those_that_work(operate, pair):
    pair.say("change address bob bob-secret bob@new.example", sender="bob@players.example")
    for address in ("bob@home.example", "bob@players.example"):
        operate("addresses", "add", "bob", address)
    assert states(pair, "bob") == {
        "bob@players.example": "confirmed",
        "bob@new.example": "unconfirmed",
        "bob@home.example": "confirmed",
    }


def test_what_waited_goes_out_when_a_suspended_address_is_added(operate, pair):
    change(pair, "UPDATE addresses SET suspended = confirmed, bounces = 5 WHERE userid = 'bob'")
    change(pair, "UPDATE outbox SET address = NULL WHERE userid = 'bob'")
    assert operate("outbox", "list", as_json=True).data["mails"][1]["state"] == "suspended"
    assert operate("addresses", "add", "bob", "BOB@players.example").status == 0
    assert states(pair, "bob") == {"bob@players.example": "confirmed"}
    assert operate("outbox", "list", as_json=True).data["mails"][1]["state"] == "due"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("users remove alice", "--yes"),
        (f"addresses add bob {ADDRESS}", "cannot be a player's mail address"),
        ("addresses add bob pbm+x@pbm.example", "cannot be"),
        ("addresses add bob bob", "cannot be"),
        ("boards next", "`next` needs the userid"),
        ("boards active inactive", "exclude each other"),
        ("boards chess", "There is no user 'chess'"),
        ("boards remove spiro 101", "--yes"),
        ("outbox retry 1 5", "Mail 5 has nowhere to go; `pbm addresses dave` tells why.\n"),
        ("outbox drop 1 7", "There is no mail 7 in the outbox.\n"),
    ],
)
def test_what_is_refused_changes_nothing(operate, waiting, words, reason):
    before = [*waiting.store.db.iterdump()]
    answer = operate(*words.split())
    assert (answer.status, answer.out) == (1, "")
    assert reason in answer.err
    assert [*waiting.store.db.iterdump()] == before


def test_a_new_password_has_to_be_a_good_one(operate, monkeypatch):
    monkeypatch.setenv("PBM_PASSWORD", "short")
    assert operate("users", "password", "bob") == (
        1,
        "",
        "A password is one word of 6 to 256 characters, without blanks.\n",
    )


# Boards


def test_active_boards_are_listed_with_their_options_and_ages(operate, pair):
    pair.pass_time(days=3)
    change(pair, "UPDATE boards SET nag_days = 2")
    lines = operate("boards").out.splitlines()
    assert lines[0].split() == ["Game", "Board", "Moves", "Players", "Status", "Started", "Days", "Options"]
    words = "spiro 101 0 alice bob alice to start 2026-11-20 3 -small -pieces=2 --nagtime=2"
    assert lines[1].split() == words.split()


@set_up
def several(pair):
    """bob to move on Spiro 102 after a move, Symple 101 over, alice on both; carol against bob on Symple 102."""
    pair_up(pair)
    pair.say("spiro challenge -small -pieces=2 alice bob")
    pair.move("alice", next(find(pair, "spiro", "102").state.moves()), "102")
    for players in ("alice carol", "carol bob"):
        pair.say(f"symple challenge -size=5 {players}")
    pair.say("symple move 101 alice alice-secret c3")
    pair.say("symple move 101 carol carol-secret a1")
    pair.say("symple resign 101 alice alice-secret")


def find(club, game, number):
    return stored_board(club.store, game, number)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["spiro 101", "spiro 102", "symple 102"]),
        ("--all", ["spiro 101", "spiro 102", "symple 101", "symple 102"]),
        ("symple", ["symple 102"]),
        ("symple inactive", ["symple 101"]),
        ("carol", ["symple 102"]),
        ("spiro alice", ["spiro 101", "spiro 102"]),
        ("next alice", ["spiro 101"]),
        ("next bob carol", ["spiro 102", "symple 102"]),
        ("tournament", []),
        ("spiro standard", ["spiro 101", "spiro 102"]),
    ],
)
def test_boards_are_chosen(operate, several, words, found):
    listed = operate("boards", *words.split(), as_json=True).data["boards"]
    assert [f"{one['game']} {one['board']}" for one in listed] == found


def test_a_board_is_removed_and_its_players_are_told(operate, pair):
    assert operate("boards", "remove", "spiro", "101", "--yes").out == "Spiro board 101 is removed.\n"
    assert find(pair, "spiro", "101") is None
    assert "removed by the operator" in pair.mails("alice")[-1].text
    assert pair.mails("bob")[-1].thread == pair.mails("bob")[0].message_id
    pair.say("spiro challenge alice bob")
    assert find(pair, "spiro", "102")


def test_the_subscribers_of_a_board_that_is_removed_are_told_and_whoever_asks_for_it_later(operate, pair):
    pair.say("spiro subscribe carol carol-secret 101")
    operate("boards", "remove", "spiro", "101", "--yes")
    assert [pair.mails(name)[-1].subject for name in PASSWORDS] == ["Spiro board 101 has been removed"] * 3
    for line in ("show 101", "show 101#3", "games 101", "move 101 bob bob-secret c3", "chat 101 alice alice-secret"):
        assert pair.why_refused(f"spiro {line}", "Hello") == "Spiro board 101 has been removed."
    assert pair.why_refused("spiro show 199") == "There is no Spiro board '199'."
    assert pair.why_refused("spora show 101") == "There is no Spora board '101'."


def test_whoever_answers_a_mail_about_a_board_that_was_removed_is_told_so(operate, pair):
    with pair.store.writing():
        address = reply_address(pair.server, "spiro", "101", "alice")
    operate("boards", "remove", "spiro", "101", "--yes")
    assert is_known(pair.server, address)
    before = len(pair.mails())
    raw = mail_of("alice@players.example", "Re: Spiro Board 101 alice", "e3", address)
    assert outcome_of(pair.server, raw, None, [address]).reason == "Spiro board 101 has been removed."
    [told] = pair.mails()[before:]
    assert (told.address, told.reply_to) == ("alice@players.example", None)
    assert "Spiro board 101 has been removed." in told.text


def test_the_operator_reinstates_a_game_that_ended_by_time(operate, several):
    several.say("symple move 102 carol carol-secret c3")
    several.say("symple move 102 bob bob-secret a1")
    lose_by_time(several, "102")
    assert operate("boards", "reinstate", "symple", "102").out == "Symple board 102 goes on. It is carol's turn.\n"
    assert operate("boards", "reinstate", "symple", "102").err == "The game on Symple board 102 goes on.\n"
    assert operate("boards", "reinstate", "symple", "101").status == 1


def test_a_board_is_removed_although_it_is_damaged(operate, board):
    board.say("symple move 101 alice alice-secret a1")
    board.store.db.execute("UPDATE turns SET text = 'x'")
    board.store.db.execute("UPDATE boards SET options = '-size=2'")
    assert operate("boards", "remove", "symple", "101", "--yes").out == "Symple board 101 is removed.\n"


def test_a_board_that_counts_in_ratings_stays_also_if_its_game_ends_while_the_operator_is_asked(
    operate, pair, monkeypatch
):
    def end(*_, **__):
        pair.store.players.add_result(ResultRow("spiro", "101", "alice", 1, 1600, 1824, 1, pair.time))

    monkeypatch.setattr("pbm.operator.boards.confirm", end)
    assert "counts in the ratings" in operate("boards", "remove", "spiro", "101").err
    assert find(pair, "spiro", "101")


def test_the_row_of_a_board_is_mended_by_its_moves_unless_one_is_illegal(operate, several):
    wrong = "turn = 'alice', moves = 7, winner = 'bob'"
    change(several, f"UPDATE boards SET {wrong} WHERE game = 'spiro' AND board = '102'")
    assert "it is bob" in operate("boards", "mend", "spiro", "102").out
    row = several.store.boards.get("spiro", "102")
    assert (row.turn, row.moves, row.winner) == ("bob", 1, None)
    assert operate("boards", "mend", "spiro", "102").out == "There was nothing to mend.\n"
    change(several, "UPDATE turns SET text = 'c9' WHERE game = 'symple' AND number = 1")
    assert "symple 101 cannot be mended: turn 1" in operate("boards", "mend", "symple", "101").err


# The clean-up


def test_one_of_a_kind_is_told_in_the_singular():
    assert cleanup.Done(digests=1).text.endswith(", 1 digest.")
    assert [texts.counted(number, "day") for number in (0, 1, 1.0, 1.5)] == ["0 days", "1 day", "1 day", "1.5 days"]


# The outbox


def postpone(club, *whys):
    """Let the mails fail: for a reason to try it again five minutes later, or not at all."""
    with club.store.writing():
        for mail, why in zip(club.mails(), whys, strict=False):
            club.store.outbox.postpone(mail, club.time + timedelta(minutes=5) if "later" in why else None, why)


def test_the_outbox_tells_when_a_mail_is_tried_next(operate, waiting):
    postpone(waiting, "451 later", "550 no")
    lines = operate("outbox", "list").out.splitlines()
    assert lines[1].endswith("2026-11-20 12:00 UTC  1      2026-11-20 12:05 UTC          451 later")
    assert lines[2].endswith("never (given up)              550 no")
    assert re.search(r"carol@players.example .* 0 +now$", lines[4])
    assert re.search(r"dave .* 0 +when an address is confirmed$", lines[5])
    kinds = [mail["state"] for mail in operate("outbox", "list", as_json=True).data["mails"]]
    assert kinds == ["retry", "given up", "due", "due", "unconfirmed"]


def test_mails_are_shown_become_due_when_they_were_given_up_and_are_dropped(operate, pair):
    shown = operate("outbox", "show", "2").out
    assert "To:       bob@players.example (bob)" in shown
    assert "alice, please start" in shown
    assert operate("outbox", "show", "2", as_json=True).data["text"] == pair.mails("bob")[0].text
    postpone(pair, "550 no", "550 no")
    assert operate("outbox", "retry", "2").out == "1 due now.\n"
    assert [mail.due for mail in pair.mails()] == [None, pair.time]
    assert operate("outbox", "retry", "--all").out == "2 due now.\n"
    assert operate("outbox", "retry").status == 2  # what is to be retried has to be said
    assert operate("outbox", "drop", "1", "2").out == "2 dropped.\n"
    assert pair.mails() == []


def test_a_mail_that_is_tried_again_shows_when_it_was_written_and_when_it_is_due(operate, pair):
    postpone(pair, "451 later")
    lines = operate("outbox", "show", "1").out.splitlines()
    assert lines[2:5] == [
        "Written:  2026-11-20 12:00 UTC",
        "State:    tried again at 2026-11-20 12:05 UTC",
        "Tries:    1, 451 later",
    ]


def test_a_flush_that_fails_says_why_and_until_when_the_mails_wait(operate, monkeypatch):
    monkeypatch.setenv("PBM_TRANSPORT", "sendmail:/no/sendmail")
    done = operate("outbox", "flush")
    assert done.out == (
        "0 sent, 2 not sent: /no/sendmail: there is no such file or folder. "
        "2 mails wait for another try, not before 2026-11-20 12:05 UTC. `pbm outbox list` tells more.\n"
    )
    assert done.status == 1


def test_a_flush_with_nothing_to_do_says_how_many_mails_wait(operate, pair):
    with pair.store.writing():
        pair.store.outbox.drop(pair.mails()[:1])
    postpone(pair, "451 later")
    done = operate("outbox", "flush")
    wait = "1 mail waits for another try, not before 2026-11-20 12:05 UTC."
    assert (done.status, done.out) == (0, f"0 sent, 0 not sent. {wait} `pbm outbox list` tells more.\n")
    told = {"sent": 0, "failed": 0, "problem": None, "waiting": 1, "next_try": "2026-11-20T12:05:00+00:00"}
    assert operate("outbox", "flush", as_json=True).data == told


# The doctor


@pytest.fixture
def findings(several, own_settings):
    """All that the doctor finds now."""
    return lambda **given: list(doctor.examine(several.store.path, several.time, **given))


def test_the_doctor_finds_nothing_in_a_sound_database_and_writes_nothing(findings, several):
    assert findings() == []
    several.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = several.store.path.read_bytes()
    findings()
    assert several.store.path.read_bytes() == before


def test_the_doctor_finds_nothing_wrong_with_forfeits_and_draws_that_were_agreed_on(several, findings):
    several.move("bob", next(find(several, "spiro", "102").state.moves()), "102")
    several.say("symple move 102 carol carol-secret propose")
    several.say("symple move 102 bob bob-secret accept")
    several.pass_time(days=22)
    cleanup.clean_up(Session(several.server))
    assert several.store.boards.get("symple", "102").drawn
    assert several.store.boards.turns("spiro", "102")[-1].text == FORFEIT
    assert [one for one in findings() if one.where != "outbox"] == []


@pytest.mark.parametrize("once", ["e2:4,e2:2", "e2:2,e2:4"])
def test_a_turn_may_be_stored_as_it_was_written_once_if_it_leads_to_the_same_position(several, findings, operate, once):
    several.move("alice", "e3:5")
    several.move("bob", "e2:2,e2:4")
    several.say("spiro resign 101 alice alice-secret")
    change(several, "UPDATE turns SET text = ? WHERE game = 'spiro' AND board = '101' AND number = 2", once)
    assert findings() == []
    document = json.loads(operate("export", "spiro", "101").out)
    assert document["turns"][1]["text"] == once
    assert [turn.text for turn in records.read(document, {}, several.time).turns][1] == once


def test_the_doctor_lets_a_player_on_vacation_take_his_time(several, findings):
    several.pass_time(days=30)
    several.store.db.execute("INSERT INTO vacations SELECT userid, '2026-12-01', '2026-12-30' FROM users")
    several.store.db.commit()
    assert "cleanup" not in {one.where for one in findings()}
    several.pass_time(days=20)
    assert "cleanup" in {one.where for one in findings()}


BREAKAGES = """
UPDATE turns SET text = 'c3' OF_TURN_2 | symple 101 | turn 2, 'c3': There is a white stone
UPDATE turns SET text = 'A1' OF_TURN_2 | symple 101 | it is written a1
UPDATE turns SET userid = 'alice' OF_TURN_2 | symple 101 | it was carol's turn, not alice's
UPDATE turns SET played = '2026-11-19T12:00:00+00:00' OF_TURN_2 | symple 101 | its time is before
UPDATE turns SET played = 'noon' OF_TURN_2 | symple 101 | noon
UPDATE turns SET dice = '[3]' OF_TURN_2 | symple 101 | its dice are 3, but none
DELETE FROM turns OF_SYMPLE_101 AND number = 1 | symple 101 | turns are numbered up to 3, but there are 2
UPDATE turns SET dice = '[1, 1]' WHERE game = 'spiro' | spiro 102 | its dice are 1 1, but
UPDATE turns SET dice = 'six' WHERE game = 'spiro' | spiro 102 | Expecting value
UPDATE boards SET turn = 'alice' OF_SPIRO_102 | spiro 102 | its row says that alice is to move, but it is bob
UPDATE boards SET moves = 5 OF_SPIRO_102 | spiro 102 | counts 5 moves, but the turns make 1
UPDATE boards SET winner = 'alice' OF_SYMPLE_101 | symple 101 | says that alice has won, but it is carol
UPDATE boards SET ended = NULL OF_SYMPLE_101 | symple 101 | the game is not over, which is wrong
UPDATE boards SET ended = '2026-11-19T12:00:00+00:00' OF_SYMPLE_101 | symple 101 | before its last move
UPDATE boards SET drawn = 1 OF_SYMPLE_101 | symple 101 | a draw was agreed on
UPDATE boards SET options = '-huge' OF_SPIRO_102 | spiro 102 | it cannot be set up
UPDATE boards SET secret = x'00' WHERE game = 'spiro' | spiro 102 | follows from the secret
UPDATE boards SET secret = x'' WHERE game = 'spiro' | spiro 101 | no secret
UPDATE boards SET started = '2026-12-20T12:00:00+00:00' OF_SPIRO_102 | spiro 102 | its time is before
UPDATE boards SET pool = 'a' OF_SPIRO_102 | spiro 102 | name does not fit its pool
UPDATE replies SET board = '99' WHERE userid = 'bob' AND board = '101' | spiro 99, bob | neither there nor removed
UPDATE boards SET nag_days = 1000000000 OF_SPIRO_102 | database | something in it cannot be read
UPDATE boards SET game = 'chess' WHERE game = 'spiro' | chess | no such game, but 2 boards
INSERT INTO plans VALUES ('symple', '101', 'alice', 'b2') | symple 101 | waits on a board that is over
INSERT INTO plans VALUES ('spiro', '101', 'carol', 'Resign') | spiro 101, carol | does not play there
UPDATE boards SET vote = 'draw' OF_SYMPLE_101 | symple 101 | waits on a board that is over
UPDATE numbers SET last = 101 WHERE game = 'spiro' | spiro 102 | given out a second time
UPDATE outbox SET userid = 'dave' | 1, dave | mail for a user who is not there
UPDATE boards SET first_player = 'dave' OF_SPIRO_101 | database | rows of boards that belong to no row of users: 1
UPDATE outbox SET queued = '2027-11-18T12:00:00+00:00' | clock | something was done at 2027
UPDATE players SET won = 2 OF_CAROL | symple, carol | as 1824 (won 2, lost 0, tied 0); the results say 1824 (won 1
UPDATE players SET rating = 1900 OF_CAROL | symple, carol | stored as 1900
UPDATE results SET after = 1900 OF_CAROL | symple, carol | results say 1900
UPDATE results SET before = 1700 OF_CAROL | symple, carol | begins with 1700, but 0 games led to 1600
UPDATE results SET games = 2 OF_CAROL | symple, carol | rated game 2
UPDATE results SET outcome = 0 OF_CAROL | symple 101, carol | not what the board says
UPDATE results SET board = '109' | symple 109 | a board that is not there
DELETE FROM players OF_CAROL | symple, carol | no rating
"""
"""What is changed, where it is found, what is said of it."""


@pytest.mark.parametrize("line", BREAKAGES.strip().splitlines())
def test_the_doctor_finds_what_was_changed(several, findings, line):
    query, where, what = line.split(" | ")
    query = query.replace("OF_TURN_2", "OF_SYMPLE_101 AND number = 2").replace("OF_CAROL", "WHERE userid = 'carol'")
    change(several, re.sub(r"OF_([A-Z]+)_(\d+)", r"WHERE game = lower('\1') AND board = '\2'", query))
    found = findings()
    assert [one for one in found if one.where == where and what in one.what], found
    assert all(one.mend for one in found)


def test_the_doctor_plays_a_sample_of_the_boards_again(several, findings, monkeypatch):
    played, really = [], doctor.replayed

    def noted(row, turns):
        played.append((row.game, row.board))
        return really(row, turns)

    monkeypatch.setattr(doctor, "replayed", noted)
    assert findings() == []
    every = [*several.store.health.board_names()]
    assert played == every == sorted(every)
    assert len(every) == 4
    samples = set()
    while len(samples) < 6:  # of the pairs of four boards
        played.clear()
        assert findings(sample=2) == []
        assert played == sorted({*played})
        assert {*played} < {*every}
        samples.add(tuple(played))
    assert {len(one) for one in samples} == {2}


def test_the_doctor_finds_a_skip_that_no_player_can_have_made(several):
    row, rng = several.store.boards.get("spiro", "101"), Random(1)
    board = Board(row, [], {})
    while not (board.turns and board.turns[-1].automatic):
        if board.is_over:
            board = Board(row, [], {})
        move = board.state.random(rng)
        board.play(board.mover, move, several.time, automatic=move == SKIP)
    turns = [*board.turns[:-1], board.turns[-1]._replace(automatic=False)]
    with pytest.raises(Unsound, match="the server has to skip this turn"):
        replayed(row, turns)
    assert outcome(row, replayed(row, board.turns)).moves == len(turns)


def damage(club):
    """Overwrite a part of the file of a database."""
    club.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with club.store.path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 4)


def test_the_doctor_finds_a_damaged_file_of_which_no_backup_is_made(several, operate, findings, monkeypatch):
    damage(several)
    before = sorted(several.store.path.parent.iterdir())
    assert operate("backup", str(several.store.path.with_name("copy"))).status == 1
    assert sorted(several.store.path.parent.iterdir()) == before
    assert any(one.where == "database" and "pbm restore FILE" in one.mend for one in findings())
    monkeypatch.setattr(several.store.outbox, "all", lambda: several.store.db.execute("SELECT * FROM gone"))
    assert operate("outbox", "list").err.endswith(" cannot be used: no such table: gone.\n")


def test_the_doctor_finds_what_is_wrong_with_the_file_and_its_folder(several, findings):
    several.say("signup dora dora-secret")  # so that there is a -wal from before
    several.store.path.chmod(0o640)
    assert findings()[0].mend == f"chmod 600 {several.store.path}"
    several.store.path.chmod(0o600)
    several.store.path.parent.chmod(0o777)
    assert "in place of the database" in findings()[0].what
    several.store.path.parent.chmod(0o700)


@pytest.mark.parametrize(
    ("variables", "where", "what"),
    [
        ({"PBM_ADDRESS": "pbm at home"}, "PBM_ADDRESS", "no mail address"),
        ({"PBM_TRANSPORT": "maildir:/nowhere"}, "PBM_ADDRESS", "is not set"),
        ({"PBM_TRANSPORT": "pigeon:home"}, "PBM_TRANSPORT", "is not maildir:FOLDER"),
        ({"PBM_TRANSPORT": "maildir:/nowhere/mail"}, "PBM_TRANSPORT", "no folder /nowhere"),
        ({"PBM_TRANSPORT": "sendmail:/nowhere/sendmail"}, "PBM_TRANSPORT", "no program /nowhere/sendmail"),
        ({"PBM_TRANSPORT": "smtp://127.0.0.1:1"}, "PBM_TRANSPORT", "127.0.0.1 does not answer"),
    ],
)
def test_the_doctor_finds_settings_that_cannot_work(findings, monkeypatch, variables, where, what):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert [one for one in findings() if one.where == where and what in one.what]


def test_the_doctor_names_the_package_of_a_game_that_cannot_be_loaded(shell):
    find_package(shell, MODULE.replace("from typing", "from tiping"), "take-a-stick")
    shell.sign_up("alice")
    told = "take: the package take-a-stick has a fault: ModuleNotFoundError"
    assert shell.process("doctor").stdout.startswith(told)


def test_the_doctor_says_that_all_is_well(shell):
    shell.sign_up("alice")
    assert shell.done("doctor") == f"All is well with {shell.folder / 'pbm.db'}.\n"
    assert shell.json("doctor") == {"ok": True, "findings": [], "notes": []}


def test_what_only_looks_makes_no_database(shell):
    path = shell.folder / "pbm.db"
    assert shell.refused("backup", "x") == f"There is no file {path}.\n"
    why = f"There is no database {path} yet; the first `signup` makes it. Set PBM_DB if yours is elsewhere.\n"
    looking = "doctor", "users", "export spiro 101", "boards", "status", "hook run", "hook run --follow"
    for line in (*looking, "outbox list", "tournament spiro", "wait spiro 101", "play spiro 101 bob --with=cat"):
        assert shell.refused(*line.split()) == why
    assert not path.exists()


# Backup and restore


def test_a_backup_is_one_file_that_only_its_owner_can_read_and_overwrites_nothing(kept):
    copy, database = str(kept.folder / "copy"), str(kept.folder / "pbm.db")
    assert Path(copy).stat().st_mode & 0o777 == 0o600
    assert people_in(copy) == ["alice"]
    assert not list(kept.folder.glob("*copy*-*"))
    link = kept.folder / "link"
    link.symlink_to(database)
    for file in (copy, database, str(link)):
        before = Path(file).read_bytes()
        assert kept.refused("backup", file) == f"There is a file {file} already.\n"
        assert Path(file).read_bytes() == before
    nowhere = f"{kept.folder}/nowhere/copy"
    assert kept.refused("backup", nowhere) == f"There is no folder {kept.folder}/nowhere; make it first.\n"


def test_a_backup_is_readable_by_nobody_else_at_any_moment(several, monkeypatch):
    target = several.store.path.with_name("copy")
    modes = []
    monkeypatch.setattr(
        copies, "_open", lambda path: modes.append(target.stat().st_mode & 0o777) or sqlite3.connect(path)
    )
    copies.copy(several.store.path, target)
    assert modes == [0o600]


def test_a_backup_is_made_while_the_server_writes(several, operate, monkeypatch):
    monkeypatch.setattr(copies, "BUSY_SECONDS", 0.1)
    with several.store.writing():
        several.store.users.add("dave", "", several.time)
        assert operate("backup", str(several.store.path.with_name("copy"))).status == 0
    assert people_in(several.store.path.with_name("copy")) == ["alice", "bob", "carol"]


def test_restore_asks_goes_back_to_a_backup_and_keeps_what_was_there(kept):
    assert "--yes does it" in kept.refused("restore", str(kept.folder / "copy"))
    assert people_in(kept.folder / "pbm.db") == ["alice", "bob"]
    old = kept.json("restore", str(kept.folder / "copy"), "--yes")["kept"]
    assert people_in(kept.folder / "pbm.db") == ["alice"]
    left = {re.sub(r"[0-9]+T[0-9.]+Z", "TIME", path.name) for path in kept.folder.iterdir()}
    assert left <= {"copy", "pbm.db", "pbm.db-wal", "pbm.db-shm", "pbm.db.sending", "pbm.db.before-restore-TIME"}
    assert people_in(old) == ["alice", "bob"]
    kept.done("doctor")
    kept.done("restore", old, "--yes")
    assert people_in(kept.folder / "pbm.db") == ["alice", "bob"]


def test_restore_replaces_the_database_and_not_a_link_to_it(kept, tmp_path):
    link = tmp_path / "link.db"
    link.symlink_to(kept.folder / "pbm.db")
    kept.done("restore", str(kept.folder / "copy"), "--yes", PBM_DB=str(link))
    assert link.is_symlink()
    assert people_in(kept.folder / "pbm.db") == ["alice"]


def test_restore_needs_no_leave_where_there_is_no_database_and_replaces_one_that_is_damaged(kept, tmp_path):
    fresh = str(tmp_path / "fresh.db")
    kept.done("restore", str(kept.folder / "copy"), PBM_DB=fresh)
    assert people_in(fresh) == ["alice"]
    assert Path(fresh).stat().st_mode & 0o777 == 0o600
    for path in kept.folder.glob("pbm.db*"):
        path.write_bytes(b"rubbish" * 1000)
    kept.done("restore", str(kept.folder / "copy"), "--yes")
    assert people_in(kept.folder / "pbm.db") == ["alice"]


def test_restore_is_refused_while_the_server_runs_or_anybody_reads(kept):
    with kept.serving():
        assert "is in use; end `pbm serve`" in kept.refused("restore", str(kept.folder / "copy"), "--yes")
    assert people_in(kept.folder / "pbm.db") == ["alice", "bob"]
    assert sql(kept.folder / "pbm.db", "PRAGMA journal_mode") == [("wal",)]  # as before
    with closing(sqlite3.connect(kept.folder / "pbm.db")) as db:
        db.execute("SELECT * FROM users").fetchone()
        assert "is in use" in kept.refused("restore", str(kept.folder / "copy"), "--yes")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("PRAGMA application_id = 1", "is no database of pbm"),
        ("PRAGMA user_version = 99", "was written by a newer version of pbm"),
        ("PRAGMA user_version = 8", "was written by a version of pbm before its first release"),
    ],
)
def test_restore_refuses_what_it_cannot_use(kept, query, reason):
    letter = kept.folder / "letter"
    letter.write_text("Dear operator, " * 100)
    assert "file is not a database" in kept.refused("restore", str(letter), "--yes")
    assert "There is no file" in kept.refused("restore", str(kept.folder / "nothing"), "--yes")
    sql(kept.folder / "copy", query)
    assert reason in kept.refused("restore", str(kept.folder / "copy"), "--yes")
    assert people_in(kept.folder / "pbm.db") == ["alice", "bob"]


def test_whoever_waits_while_a_database_is_replaced_writes_nothing(kept):
    """He gets an error, so that what he was told comes again: nothing goes into the file that was put aside."""
    path = kept.folder / "pbm.db"
    with running(kept, "signup", "dave", "dave-secret") as waiting:
        with copies.keep_others_out(path):
            until(lambda: _has_open(waiting.pid, path))
            time.sleep(1)
            assert waiting.poll() is None
            copies.copy(kept.folder / "copy", kept.folder / "new")
            copies.replace(path, kept.folder / "new", kept.folder / "old")
        assert waiting.wait(PATIENCE) == 1
        assert "nothing was written" in " ".join(waiting.stderr.read().split())
    assert people_in(path) == ["alice"]
    assert people_in(kept.folder / "old") == ["alice", "bob"]


def _has_open(pid, path):
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(FileNotFoundError):  # it has closed that file meanwhile, or it is a pipe
            if link.samefile(path):
                return True
    return False


# Records of games


def play(server, game, options, rng, most):
    """A game of random moves, at most so many: its row and its turns."""
    row = BoardRow(
        game=game,
        board=str(server.store.boards.next_number(game)),
        options=options,
        first_player="alice",
        second_player="bob",
        secret=rng.randbytes(32),
        started=server.now() - timedelta(days=9),
        nag_days=3,
        second_used=2.5,
        comment="Have fun",
    )
    board = Board(row, [], {})
    play_at_random(board, rng, most)
    return row, board


def ended(server, row, board, ending):
    """The board as it is stored, perhaps after a resignation or a draw."""
    if ending == "resigned" and board.mover:
        board.play(board.mover, RESIGN, server.now())
    row = row._replace(drawn=ending == "drawn" and not board.is_over)
    row = outcome(row, board)._replace(changed=server.now())
    server.store.boards.add(row)
    server.store.boards.save(row, 1, board.turns)
    return row


SMALL = {
    "spiro": ("-small -pieces=2", "-pieces=3 -no_inwards"),
    "symple": ("-size=5", "-penalty=4 -size=7"),
    "sprout": ("-board=limping-3",),
    "papagra": ("-size=3", "-size=4 -removals=2"),
    "spora": ("-size=5", "-size=5 -pie", "-size=7 -komi=-3"),
}


def test_the_round_trip_is_tried_with_every_game():
    assert set(SMALL) == set(helptexts.GAMES)


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A server that knows alice and bob."""
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    with Store(tmp_path_factory.mktemp("office") / "pbm.db") as store:
        with store.writing():
            for name in ("alice", "bob"):
                store.users.add(name, "hash", now)
        yield Server(store, ADDRESS, Passwords(), lambda: now, Random(1).randbytes)


def positions(board):
    """What was to be seen before each turn, and at the end but for dice that nobody throws."""
    seen = [state.view() for state in board.states]
    return seen[:-1], {**seen[-1], "dice": []}


@examples(60)
@given(
    game=st.sampled_from(sorted(SMALL)),
    which=st.integers(0, 2),
    rng=st.randoms(use_true_random=False),
    most=st.integers(0, 60),
    ending=st.sampled_from(["", "resigned", "drawn"]),
)
def test_a_game_that_is_exported_and_imported_is_the_same_game(office, game, which, rng, most, ending):
    options = SMALL[game][which % len(SMALL[game])]
    with office.store.writing():
        row, board = play(office, game, options, Random(rng.random()), most)
        row = ended(office, row, board, ending)
    document = json.loads(json.dumps(records.write(records.Record(row, board.turns), [])))
    RECORDS.validate(document)
    if row.ended is None and game == "spiro":
        assert document["dice"]["secret"] is None
        with pytest.raises(Unsound, match="the secret of its dice stays"):
            records.read(document, {}, office.now())
        return
    with office.store.writing():
        record = records.read(document, {}, office.now())
        number = exchange.take_in(office, record)
    again = stored_board(office.store, game, number)
    assert again.turns == board.turns
    assert positions(again) == positions(board)
    changed = again.turns[-1].played if again.turns else row.started
    right = {"board": number, "secret": again.row.secret, "changed": changed if row.ended else office.now()}
    assert again.row == row._replace(**right)


@pytest.fixture
def record(several, operate):
    """The record of Symple 101."""
    return operate("export", "symple", "101").out


def test_a_record_tells_the_game_and_the_time_that_was_used_to_the_millisecond(several, operate):
    change(several, "UPDATE boards SET first_used = 0.9410200000000001 WHERE game = 'symple' AND board = '101'")
    told = json.loads(operate("export", "symple", "101").out)
    turns = [(turn["player"], turn["text"]) for turn in told["turns"]]
    assert turns == [("alice", "c3"), ("carol", "a1"), ("alice", "Resign")]
    assert told["result"] == {"winner": "carol", "drawn": False, "reason": "resigned"}
    assert (told["dice"], told["clocks"]["used_seconds"][0]) == (None, 0.941)


def test_records_fit_their_schema_and_their_description_and_are_a_line_each(several, operate):
    described = re.findall("`([a-z_]+)`", (Path(__file__).parent.parent / "docs" / "records.md").read_text())
    for words in (["symple", "101", "102"], ["spiro", "--all"]):
        for document in operate("export", *words, as_json=True).data["records"]:
            RECORDS.validate(document)
            assert not set(document) - set(described)
            assert not {name for turn in document["turns"] for name in turn} - set(described)
    lines = operate("export", "spiro", "--all").out.splitlines()
    assert [json.loads(line)["board"] for line in lines] == ["101", "102"]


def test_a_damaged_board_is_named_and_holds_up_no_other(several, operate, tmp_path):
    change(several, "UPDATE boards SET options = '-size=2' WHERE game = 'symple' AND board = '101'")
    done = operate("export", "symple", "--all")
    assert (json.loads(done.out)["board"], done.status) == ("102", 1)
    assert "Symple board 101 cannot be read at the moment. -size=n takes an odd number from 5 to 25. `pbm " in done.err
    assert operate("export", "symple", "--all", as_json=True).data["failed"] == [done.err.strip()]
    assert operate("replay", "symple", "101").err == operate("picture", "symple", "101", "x.svg").err == done.err
    assert "Show summary" in [letter.subject for letter in several.say("symple show 101 102")]
    [listed] = lists.table(Session(several.server, as_json=True), "symple", ["all"])
    assert ([one["board"] for one in listed.data["boards"]], listed.data["missing"]) == (["102"], ["101"])


def test_a_record_never_tells_the_secret_of_a_game_that_goes_on(several, operate):
    secret = several.store.boards.get("spiro", "102").secret.hex()
    assert secret not in operate("export", "spiro", "102").out
    several.move("bob", next(find(several, "spiro", "102").state.moves()), "102")
    several.move("alice", "resign", "102")
    assert secret in operate("export", "spiro", "102").out


def test_a_record_is_taken_in_under_its_own_number_if_that_is_free(several, operate, record):
    with several.store.writing():
        several.store.boards.remove("symple", "101", several.time)
    assert operate("import", stdin=record).out == "symple 101 is taken in.\n"
    assert find(several, "symple", "101").winner == "carol"


def test_a_file_of_records_may_begin_with_the_mark_of_an_editor_of_windows(several, operate, record, tmp_path):
    file = tmp_path / "records"
    file.write_bytes(b"\xef\xbb\xbf" + record.encode())
    assert operate("import", str(file)).out == "symple 101 is taken in as 103.\n"


def test_a_record_gets_another_number_if_its_own_is_taken_and_is_neither_mailed_nor_rated(several, operate, record):
    before = several.mails()
    imported = [{"game": "symple", "board": "103", "was": "101"}]
    assert operate("import", as_json=True, stdin=record).data == {"imported": imported}
    assert several.mails() == before
    assert several.store.players.results_of_board("symple", "103") == []
    other = record.replace('"board": "101"', '"board": "150"')
    assert operate("import", stdin=other).out == "symple 150 is taken in.\n"
    assert "board 151" in several.text("symple challenge alice bob")  # no number is given out again


def test_a_record_gets_no_number_of_a_tournament_that_has_rounds(several, operate, record):
    swiss = TOURNAMENT_KINDS["swiss"]
    with several.store.writing():
        several.store.tournaments.save(Tournament("symple", "s", swiss, several.time, "running", rounds=3))
    assert operate("import", stdin=record.replace('"101"', '"s5"')).out == "symple s5 is taken in as 103.\n"


def test_a_tournament_board_keeps_its_clocks_under_another_number(several, operate, record):
    several.say("symple challenge -size=5 --forfeittime=3 --name=a1 alice bob")
    taken = operate("export", "symple", "a1").out
    assert operate("import", stdin=taken).out == "symple a1 is taken in as 103.\n"
    assert clocks.of(several.store.boards.get("symple", "103")) == clocks.Clocks(nag=1, forfeit=3)


def test_a_game_that_is_taken_in_is_unrated_against_a_robot_that_is_not_rated(several, operate):
    operate("robots", "add", "shy", "--unrated")
    several.say("symple challenge -size=5 shy alice")
    assert operate("import", stdin=operate("export", "symple", "103").out).out == "symple 103 is taken in as 104.\n"
    assert several.store.boards.get("symple", "104").unrated


def test_players_may_have_other_names_here(several, operate, record):
    other = record.replace("carol", "dave")
    assert "there is no user dave here; --map=dave:USERID" in operate("import", stdin=other).err
    assert operate("import", "--map=dave", stdin=other).err == "--map=dave is not OLD:NEW.\n"
    assert operate("import", "--map=dave:bob", stdin=other).status == 0
    assert find(several, "symple", "103").winner == "bob"


def test_records_are_read_from_lines_from_a_list_and_from_any_layout(several, operate, tmp_path):
    document = json.loads(operate("export", "symple", "101").out)
    file = tmp_path / "records"
    text = json.dumps({"records": [document, document]}) + "\n" + json.dumps(document, indent=2) + json.dumps(document)
    file.write_text(text)
    answer = operate("import", str(file), as_json=True).data
    assert [one["board"] for one in answer["imported"]] == ["103", "104", "105", "106"]


def test_records_are_taken_in_all_or_none(several, operate, record, tmp_path):
    file = tmp_path / "records"
    file.write_text(record + record.replace('"c3"', '"z3"'))
    answer = operate("import", str(file))
    assert answer.status == 1
    assert answer.err.startswith("Record 2: turn 1, 'z3': ")
    assert operate("import", "/nowhere").err == "/nowhere cannot be read: there is no such file or folder.\n"
    assert find(several, "symple", "103") is None


def test_an_active_game_is_taken_in_with_the_usual_time_for_whoever_is_to_move(several, operate):
    record = operate("export", "symple", "102").out
    several.pass_time(days=30)
    operate("import", stdin=record)
    row = several.store.boards.get("symple", "103")
    assert (row.turn, row.changed) == ("carol", several.time)
    several.say("symple move 103 carol carol-secret c3")


def test_a_finished_game_with_dice_can_be_checked_under_its_own_number_only(several, operate, tmp_path):
    several.move("bob", next(find(several, "spiro", "102").state.moves()), "102")
    several.move("alice", "resign", "102")
    file = tmp_path / "record"
    file.write_text(operate("export", "spiro", "102").out)
    assert "taken in as 103; its dice cannot be checked" in operate("import", str(file)).out
    with pytest.raises(Refused, match="cannot be checked here"):
        proofs.check_dice(Session(several.server), "spiro", "103")
    assert json.loads(operate("export", "spiro", "103").out)["dice"] is None
    with several.store.writing():
        several.store.boards.remove("spiro", "102", several.time)
    operate("import", str(file))
    assert "All 3 throws follow" in several.text("dice spiro 102")


MISSING = object()
WRONG = [  # where, what stands there, and why it is refused
    *(([name], MISSING, name) for name in ("board", "clocks", "turns", "players", "options", "started")),
    (["format"], "chess-record", "no record of a game"),
    *((["version"], version, "version 1") for version in (2, True, 1.0, "1", None, [1], MISSING)),
    (["game"], "chess", "no game 'chess' here"),
    (["board"], "../101", "no number of a board"),
    (["board"], 101, "record, board: this is missing, or not as docs/records.md says"),
    (["options"], ["-size=99"], "it cannot be set up"),
    (["options"], ["size"], "begins with a hyphen"),
    (["options"], ["-size=5 -size=5"], "one word"),
    (["players"], ["alice"], "there are two players"),
    (["players"], ["alice", "no one"], "'no one' is no userid"),
    (["started"], "yesterday", "record, started"),
    (["started"], "2026-11-20T12:00:00", "record, started"),
    (["started"], "0001-01-01T00:00:00+14:00", "record, started"),
    (["started"], "2036-11-20T12:00:00Z", "still to come"),
    (["started"], "2026-11-20T13:00:00.1Z", "still to come"),  # a clock may step back by an hour
    (["ended"], "2026-11-19T12:00:00Z", "ended before its last turn"),
    (["ended"], None, "no time at which the game ended"),
    (["result"], None, "end the game, and the result says otherwise"),
    (["result", "winner"], "alice", "that alice has won, but these turns make it carol"),
    (["result", "winner"], None, "that nobody has won"),
    (["result", "drawn"], 1, "record, result, drawn"),
    (["result", "drawn"], True, "a draw that was agreed on"),
    (["clocks"], None, "record, clocks: "),
    (["clocks", "nag_days"], 0, "record, clocks, nag_days"),
    (["clocks", "nag_days"], True, "record, clocks, nag_days"),
    (["clocks", "used_seconds"], [1], "two numbers in used_seconds"),
    (["clocks", "used_seconds"], [1, -1], "record, clocks, used_seconds 2"),
    (["clocks", "used_seconds"], [1, float("nan")], "record, clocks, used_seconds 2"),
    (["clocks", "used_seconds"], [1, 10**300], "record, clocks, used_seconds 2"),
    (["dice"], {"secret": "ab", "sha256": ""}, "64 hexadecimal digits"),
    (["dice"], {"secret": "ab" * 32, "sha256": ""}, "another SHA-256"),
    (["comment"], {"writer": 5, "text": ""}, "record, comment, writer"),
    (["turns"], {}, "record, turns: "),
    (["turns", 0], "c3", "record, turns 1: "),
    (["turns", 1, "text"], "c3", "turn 2, 'c3': There is a white stone"),
    (["turns", 1, "text"], "\ud800", "turn 2"),
    (["turns", 1, "player"], "bob", "turn 2, 'a1': it was carol's turn, not bob's"),
    (["turns", 1, "dice"], [3], "turn 2, 'a1': "),
    (["turns", 1, "dice"], [3.7], "record, turns 2, dice 1"),
    (["turns", 1, "automatic"], None, "record, turns 2, automatic"),
    (["turns", 1], None, "record, turns 2: "),
]


@pytest.mark.parametrize(("place", "value", "reason"), WRONG)
def test_a_record_that_is_wrong_is_refused(several, record, place, value, reason):
    document = json.loads(record)
    *way, last = place
    part = document
    for step in way:
        part = part[step]
    part[last] = value
    if value is MISSING:
        del part[last]
    with pytest.raises(Unsound, match=re.escape(reason)):
        records.read(document, {}, several.time)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "There is no record"),
        ("{", "What begins in line 1 is no JSON"),
        ('\n\n{"format": 1} x', "What begins in line 3 is no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "Record 1: this is no record of a game"),
        ("{}", "Record 1: this is no record of a game"),
        ("5", "Record 1: this is no record of a game"),
    ],
)
def test_what_is_no_record_is_refused(operate, text, reason):
    answer = operate("import", stdin=text)
    assert answer.status == 1
    assert reason in answer.err


def test_a_turn_is_checked_with_the_dice_of_a_record_without_a_secret(several):
    row = several.store.boards.get("spiro", "101")._replace(secret=b"")
    turn = TurnRow("alice", "e3:+", (9,), automatic=False, played=several.time)
    with pytest.raises(Unsound, match="one die, from 1 to 6"):
        replayed(row, [turn])


# Help

COMMANDS = {ctx.command_path.removeprefix("pbm "): ctx for ctx in helptexts.operators()}


def printed(capsys, *words):
    """What a command prints that is done."""
    assert main(words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_operator_is_explained_with_its_words_and_options(capsys, name):
    text = printed(capsys, "help", *name.split())
    assert text.startswith(f"Usage: pbm {name} ")
    assert printed(capsys, *name.split(), "--help") == text
    assert not {"\\", "\b"} & {*text}
    assert max(map(len, text.splitlines())) <= texts.WIDTH
    words = " ".join(text.split())
    for parameter in COMMANDS[name].command.params:
        is_option = isinstance(parameter, click.Option)
        assert (parameter.opts[0] if is_option else parameter.make_metavar(COMMANDS[name])) in words


@pytest.mark.parametrize("name", [name for name in COMMANDS if " " not in name])
def test_every_command_of_the_operator_is_listed_with_the_others(name):
    assert f"pbm {name}" in (helptexts.FOLDER / "operator.txt").read_text()


def test_every_option_of_the_operator_stands_in_a_page():
    pages = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    options = {option for ctx in COMMANDS.values() for option in ctx.command.params if isinstance(option, click.Option)}
    assert {option.opts[0] for option in options if option.opts[0] not in pages} == set()


@pytest.mark.parametrize("page", [DOCS / "operating.md", helptexts.FOLDER / "operator.txt"])
def test_the_pages_of_the_operator_name_all_commands_that_ask_unless_told_not_to(page):
    asking = {name for name, ctx in COMMANDS.items() if "--yes" in {one.opts[0] for one in ctx.command.params}}
    about_yes = next(part for part in page.read_text().split("\n\n") if "--yes" in part)
    named = {words.removeprefix("pbm ") for words in re.findall("`([^`]+)`", about_yes)}
    assert named - {"--yes"} == asking


def test_a_group_of_commands_lists_each_with_its_first_paragraph_and_json_is_named_where_there_is_an_answer(capsys):
    text = " ".join(printed(capsys, "help", "users").split())
    assert "list List these users, or all, with their addresses and the number of their active boards." in text
    single = [name for name, ctx in COMMANDS.items() if not isinstance(ctx.command, click.Group)]
    without = {name for name in single if "--json" not in printed(capsys, "help", *name.split())}
    assert without == {"serve", "deliver", "demo", "mail login", "referee", "robot"}
