"""A command is carried out in one way; what is proved before the write lock is compared with what is stored then."""

import inspect
import re
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count, product
from pathlib import Path
from threading import Barrier

import pytest

from pbm import passwords, runner
from pbm.access.tokens import reply_address
from pbm.language import answers, words
from pbm.language.commands import root
from pbm.language.grammar import Command, function
from pbm.language.line import Line
from pbm.mail import reading
from pbm.mail.incoming import ReceivedMail, handle_prepared, prepare_mail
from pbm.mail.typed import typed_answer, typed_command
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import Reply, Store

from helpers.club import Club
from helpers.grammar import commands_of
from helpers.mail import ADDRESS, handle, numbered_mail

WRITING = [
    "symple move 101 alice alice-secret a1",
    "symple move 101 alice alice-secret a1#3",
    "symple move 101 alice alice-secret propose",
    "symple queue 102 alice alice-secret e5",
    "symple subscribe 103 alice alice-secret",
    "mail alice alice-secret text",
    "change password alice alice-secret better-secret",
    "change address alice alice-secret alice@elsewhere.example",
    "symple move 101 alice alice-secret z9",
    "symple move 101 alice wrong-secret a1",
    "symple challenge -size=5 alice bob",
    "signoff alice alice-secret",
    "signup dave dave-secret",
]
READING = ["symple show 101", "symple showas alice alice-secret 101", "symple standings", "all games alice", "help"]
LINES = """symple move 101 alice alice-secret a1
change password alice alice-secret better-secret
symple submit 103 alice better-secret a1
symple confirm 103 alice alice-secret
mail bob bob-secret text"""
CHANGES = [
    "UPDATE users SET password = ''",
    "UPDATE addresses SET suspended = confirmed, bounces = 9 WHERE userid = 'bob'",
    "INSERT INTO plans VALUES ('symple', '101', 'bob', 'if any then c1')",
    "INSERT INTO followers VALUES ('symple', '101', 'carol', 'subscriber')",
    "INSERT INTO vacations VALUES ('bob', '2026-11-20', '2026-11-30')",
    "INSERT INTO vacation_days VALUES ('bob', '2026-11-20')",
    "INSERT INTO players (game, userid, mail) VALUES ('symple', 'bob', 'none')",
    "INSERT INTO robots (userid, level, games, rated, most, seconds) VALUES ('bob', 1, '[]', 0, 5, 1.0)",
    "DELETE FROM replies",
    "DELETE FROM boards",
    "DELETE FROM addresses",
    "UPDATE boards SET forfeit_days = 1, changed = '2026-11-01T12:00:00.000000+00:00'",
    "UPDATE boards SET vote = 'draw', voter = 'bob'",
    "UPDATE boards SET comment = 'hello', commenter = 'bob'",
    "UPDATE turns SET text = 'a5' WHERE text = 'c3'",
    "INSERT INTO failures VALUES ('userid', 'alice', 3, '2026-11-20T11:59:00.000000+00:00')",
    "INSERT INTO failures VALUES ('userid', 'alice', 30, '2026-11-20T11:59:00.000000+00:00')",
]


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """A database with boards of alice's and bob's: 101 and others where she is to move, 105 all but full."""
    path = tmp_path_factory.mktemp("begun") / "pbm.db"
    club = Club(path)
    club.signed_up("alice", "bob", "carol")
    for _ in range(5):
        club.say("symple challenge -size=5 alice bob")
    for number in ("101", "103", "105"):
        club.say(f"symple move {number} alice alice-secret c3")
        club.say(f"symple move {number} bob bob-secret e1")
    club.say("symple move 102 alice alice-secret c3")
    club.store.close()
    return path


class Room:
    """Copies of that database, each with the Passwords of its own server."""

    def __init__(self, begun: Path, folder: Path) -> None:
        self.begun = begun
        self.folder = folder
        self.numbers = count()

    def club(self) -> Club:
        path = self.folder / f"{next(self.numbers)}.db"
        shutil.copy(self.begun, path)
        club = Club(path)
        club.server = club.server._replace(passwords=Passwords())
        club.made = 1000
        return club


@pytest.fixture
def room(begun, tmp_path) -> Room:
    return Room(begun, tmp_path)


def mail(line, body=""):
    return numbered_mail(line, body or (LINES if line == "multiple" else "Hello!"))


def stored(club):
    """All that is stored; the salt of a password is another one each time."""
    return [re.sub(r"\$argon2[^']*", "HASH", line) for line in club.store.db.iterdump()]


def prepared(club, raw):
    return prepare_mail(club.server, ReceivedMail(raw, "alice@players.example", (ADDRESS,)))


def finished(club, raw, one=None):
    """What a mail has come to, and all that is stored then."""
    one = one or prepared(club, raw)
    club.made = 1000  # what is random is the same each time
    told = handle_prepared(club.server, one)
    return stored(club), told.word, told.reason


class Watched:
    """Hashes as argon2 does, and notes for each hash and each check whether the write lock is held."""

    def __init__(self):
        self.hasher = passwords.HASHER
        self.store = None
        self.held = []

    def __getattr__(self, name):
        self.held += [self.store.is_writing] * (name in {"hash", "verify"})
        return getattr(self.hasher, name)


@pytest.fixture
def argon2(monkeypatch):
    watched = Watched()
    monkeypatch.setattr(passwords, "HASHER", watched)
    return watched


def tried(club, line):
    """Why a command of a shell is refused; None if it is done."""
    session = Session(club.server, comment="Hello!", body=LINES)
    try:
        runner.run(Line.read(line), lambda: session)
    except Refused as why:
        return why
    return None


def test_no_password_is_checked_or_hashed_under_the_lock(room, argon2):
    for line in WRITING + READING:
        for by_mail in (True, False):
            club = room.club()
            argon2.store = club.store
            if by_mail:
                finished(club, mail(line))
            else:
                tried(club, line)
            assert not any(argon2.held), line
    assert len(argon2.held) > 20


def test_in_multiple_a_line_may_change_the_password_of_later_ones_and_only_the_old_one_is_checked_under_the_lock(
    room, argon2
):
    club = room.club()
    argon2.store = club.store
    finished(club, mail("multiple"))
    said = club.mails()[-1].text
    assert club.store.boards.get("symple", "101").moves == 3
    assert club.store.boards.get("symple", "103").submitted == "a1"
    assert said.count("The userid or the password is wrong.") == 1
    assert argon2.held.count(True) == 1


@pytest.mark.parametrize(
    "line", ["symple move 101 alice alice-secret a1", "symple move 101 alice alice-secret propose"]
)
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_between_proof_and_lock_is_seen(room, change, line):
    raw = mail(line)
    early, late = room.club(), room.club()
    one = prepared(early, raw)
    for club in (early, late):
        with closing(sqlite3.connect(club.store.path, isolation_level=None)) as other:
            other.execute("PRAGMA foreign_keys = ON")
            other.execute(change)
    assert finished(early, raw, one) == finished(late, raw)


@pytest.mark.parametrize("line", ["a1", "show", "nothing that we know"])
def test_an_answer_to_an_address_that_was_revoked_in_between_does_nothing(room, line):
    club = room.club()
    address = reply_address(club.server, "symple", "101", "alice")
    raw = numbered_mail(f"Re: {line}", line)
    one = prepare_mail(club.server, ReceivedMail(raw, "alice@players.example", (address,)))
    assert one.command.reply == Reply("symple", "101", "alice")
    club.store.trust.revoke_replies("alice")
    before = len(club.mails())
    assert handle_prepared(club.server, one).word == "unknown"
    assert club.store.boards.get("symple", "101").moves == 2
    assert len(club.mails()) == before


def test_a_board_that_is_removed_after_it_was_read_is_shown_all_the_same(pair):
    pair.move("alice", "e3:5")
    one = prepared(pair, numbered_mail("spiro showas alice alice-secret 101"))
    pair.say("spiro resign 101 bob bob-secret")
    assert handle_prepared(pair.server, one).word == "command"


def test_two_that_were_proved_together_are_one_move(room):
    club = room.club()
    raws = [mail("symple move 101 alice alice-secret a1#3") for _ in range(2)]
    for raw, one in [(raw, prepared(club, raw)) for raw in raws]:
        finished(club, raw, one)
    assert club.store.boards.get("symple", "101").moves == 3
    assert "It is not your turn" in club.mails()[-1].text


def test_of_movers_who_race_one_moves(room):
    path = room.club().store.path
    start = Barrier(4, timeout=60)

    def race(_):
        club = Club(path)
        start.wait()
        why = tried(club, "symple move 101 alice alice-secret a1#3")
        club.store.close()
        return why is None

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(race, range(4))) == [False, False, False, True]


def test_what_is_prepared_is_not_written_before(room):
    club = room.club()
    before = stored(club)
    for line in [*WRITING, *READING, "multiple"]:
        prepared(club, mail(line))
    assert stored(club) == before


@pytest.mark.parametrize("line", READING)
def test_a_command_that_reads_takes_no_lock_in_a_shell_and_is_answered_before_it_by_mail(room, line):
    club, asked = room.club(), []
    club.store.db.set_trace_callback(asked.append)
    club.say(line)
    assert not [one for one in asked if one.startswith("BEGIN IMMEDIATE")]
    assert prepared(room.club(), mail(line)).command.ready.done.letters


def test_multiple_that_only_reads_has_its_answer_before_the_lock_and_its_wrong_passwords_are_counted(room):
    assert prepared(room.club(), mail("multiple", "symple standings\nsymple show 101")).command.ready.done.letters
    club = room.club()
    finished(club, mail("multiple", "symple show 101\nsymple showas alice wrong-secret 101"))
    assert club.store.trust.failures("alice", "alice@players.example")["userid"].times == 1


def test_a_list_of_which_no_page_was_read_keeps_nobody_from_writing(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice bob")
    for line in ("move 101 alice alice-secret c3", "move 101 bob bob-secret a1", "resign 101 alice alice-secret"):
        club.say(f"symple {line}")
    refused = prepare_mail(club.server, ReceivedMail(numbered_mail("symple history x"), None))
    assert "'x' is no page" in str(refused.command.ready.done.why)  # with the frames in which it was raised
    with Store(club.store.path) as other, other.writing():
        other.events.note(club.time, "signup", userid="bob")
    assert handle(club.server, numbered_mail("symple show 101"), None) == "command"


def test_a_transaction_that_reads_writes_nothing(room):
    store = room.club().store
    with pytest.raises(RuntimeError, match="has written"), store.reading(), store.writing():
        store.users.change("alice", zone="Europe/Berlin")
    assert store.users.zone("alice") is None
    with store.writing():
        store.users.change("alice", zone="Europe/Berlin")
    assert store.users.zone("alice") == "Europe/Berlin"


def test_a_shell_counts_its_commands_that_have_changed_something(room):
    club = room.club()
    club.store.db.execute("DELETE FROM commands")
    for line in [*READING, "symple move 101 alice alice-secret a1", "symple move 101 alice alice-secret c1"]:
        tried(club, line)
    assert club.store.db.execute("SELECT sum(done), sum(refused) FROM commands").fetchone() == (1, 0)


def commands(group):
    return [one for _, one in commands_of(group) if not one.hidden and one.name != "multiple"]


@pytest.mark.parametrize(
    ("command", "of_game"),
    [*product(commands(root), [False]), *product([*commands(root.game), *answers.ANSWERS.values()], [True])],
    ids=lambda one: f"{one.name}-{one.deed}" if isinstance(one, Command) else "",
)
def test_the_function_of_each_command_takes_what_its_words_stand_for(command: Command, of_game):
    names = [parameter.name for parameter in command.params]
    signs = "password" in names
    given = [object() for name in names if name != "password"]
    given += [object()] * (of_game and not (signs and "board" in names))
    given += [object()] * command.takes_options + [object()] * bool(command.named)
    inspect.signature(function(command.deed)).bind(object(), *given)
    if command.check:
        inspect.signature(function(command.check)).bind(object(), **dict.fromkeys(["game", *names]))


@pytest.mark.parametrize(
    ("subject", "body", "reply", "line"),
    [
        ("symple move 101 alice alice-secret a1", "", None, "symple move 101 alice alice-secret a1"),
        ("Good morning", "symple show 101\n\nYours", None, "symple show 101"),
        ("Re: Symple Board 101 alice", "a1\n\n> old", Reply("symple", "101", "alice"), "a1"),
        ("chat", "Hello!", Reply("symple", "101", "alice"), "chat"),
    ],
)
def test_a_mail_becomes_what_somebody_has_typed_without_a_database(subject, body, reply, line):
    mail, is_user = reading.read(numbered_mail(subject, body), None), {"alice"}.__contains__
    typed = typed_answer(mail, reply, is_user, pytest.fail) if reply else typed_command(mail, is_user)
    assert typed.line.typed == line


def test_no_statement_of_a_move_looks_through_a_whole_table(room):
    club, asked = room.club(), []
    club.store.db.set_trace_callback(asked.append)
    handle(club.server, mail("symple move 101 alice alice-secret a1"), "alice@players.example", (ADDRESS,))
    club.store.db.set_trace_callback(None)
    queries = [query for query in asked if query.startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE"))]
    plans = {(query, row[-1]) for query in queries for row in club.store.db.execute(f"EXPLAIN QUERY PLAN {query}")}
    assert len(plans) > 20
    assert [plan for plan in plans if plan[1].startswith("SCAN") and "json_each" not in plan[1]] == []


@pytest.mark.parametrize(
    ("subject", "body", "lines"),
    [
        ("Re: symple move 101 alice alice-secret a1", "", []),
        ("symple move 101 alice wrong-secret a1", "Hello pbm!\nsymple show\n101\nYours, Alice", []),
        ("Good morning to you all", "Hello pbm!\nsymple show\n101\nYours, Alice", ["Hello pbm!"]),
        ("multiple", "symple show 101\nnothing that we know", ["symple show 101", "nothing that we know"]),
    ],
)
def test_each_line_of_a_mail_is_read_once(room, monkeypatch, subject, body, lines):
    read, tidied = [], words.tidied
    monkeypatch.setattr(words, "tidied", lambda line: [read.append(line), tidied(line)][1])
    finished(room.club(), mail(subject, body))
    assert read == [subject, *lines]


def test_no_command_has_two_words_of_one_name():
    for name, command in (*commands_of(root), *commands_of(root.game)):
        names = [parameter.name for parameter in command.params]
        assert len(names) == len({*names}), name
