"""What is drafted before the write lock is what would have been done under it, or is not done."""

import re
import shutil
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from pbm.language import dispatch
from pbm.mail.incoming import handle, hear
from pbm.passwords import Passwords
from pbm.session import Session
from pbm.store import Store, WouldWrite
from pbm.store.drafts import FOLLOWING, DraftConnection, tables
from pbm.store.events import Events

from conftest import ADDRESS, Club
from test_strangers import message

DRAFTED = [
    "symple move 101 alice alice-secret a1",
    "symple move 101 alice alice-secret a1#3",
    "symple move 101 alice alice-secret propose",
    "symple move 101 alice alice-secret undo",
    "symple queue 102 alice alice-secret e5",
    "symple submit 101 alice alice-secret a1",
    "symple subscribe 103 alice alice-secret",
    "symple mail alice alice-secret digest",
    "mail alice alice-secret text",
    "change password alice alice-secret better-secret",
    "symple move 104 alice alice-secret a1",
]
"""Commands of which a draft tells all."""
NOT_DRAFTED = [
    "symple chat 101 alice alice-secret",
    "timezone alice alice-secret Europe/Berlin",
    "change address alice alice-secret alice@elsewhere.example",
    "symple move 101 alice alice-secret z9",
    "symple move 101 alice wrong-secret a1",
    "symple move 105 alice alice-secret resign",
    "symple challenge -size=5 alice bob",
    "signoff alice alice-secret",
    "multiple",
    "symple show 101",
    "symple showas alice alice-secret 101",
    "signup dave dave-secret",
]
"""Those that only read, are refused, end a game, or whose end depends on what they have written."""
READS = {sqlite3.SQLITE_READ}
WRITES = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
CHANGES = [
    "UPDATE users SET password = ''",
    "UPDATE addresses SET suspended = confirmed, bounces = 9 WHERE userid = 'bob'",
    "INSERT INTO queued VALUES ('symple', '101', 'bob', 'c1')",
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
        self.begun, self.folder, self.numbers = begun, folder, count()

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


@pytest.fixture
def carried_out(monkeypatch):
    """Whether each draft was carried out."""
    done: list[bool] = []
    really = vars(Store.__mro__[-2])["carry_out"]
    monkeypatch.setattr(Store, "carry_out", lambda store, draft: [done.append(really(store, draft)), done[-1]][1])
    return done


def mail(line):
    body = (
        "symple move 103 alice alice-secret a1\nsymple move 103 bob bob-secret e5" if line == "multiple" else "Hello!"
    )
    return message(line, body)


def stored(club):
    """All that is stored; the salt of a password is another one each time."""
    return [re.sub(r"\$argon2[^']*", "HASH", line) for line in club.store.db.iterdump()]


def done(club, raw, heard=None):
    heard = heard or hear(club.server, raw, "alice@players.example", (ADDRESS,))
    club.made = 1000  # what is random is the same each time
    told = handle(club.server, raw, "alice@players.example", (ADDRESS,), None, heard)
    return stored(club), told, told.reason


@pytest.mark.parametrize("line", DRAFTED + NOT_DRAFTED)
def test_a_command_does_the_same_with_a_draft_and_without(room, carried_out, monkeypatch, line):
    raw = mail(line)
    drafted = done(room.club(), raw)
    assert carried_out == [True] * (line in DRAFTED)
    monkeypatch.setattr(Store, "carry_out", lambda *_: False)
    assert done(room.club(), raw) == drafted
    assert drafted[1] == "command"


class Watched(Passwords):
    """Passwords that tell whether the write lock is held while one is checked or hashed."""

    def __init__(self, store):
        super().__init__()
        self.store, self.held = store, []

    def hash(self, password):
        self.held.append(self.store.db.draft is None)
        return super().hash(password)

    def is_right(self, stored, password):
        self.held.append(self.store.db.draft is None)
        return super().is_right(stored, password)


def test_no_password_is_checked_or_hashed_under_the_lock(room):
    checked = []
    for line in DRAFTED + NOT_DRAFTED:
        club = room.club()
        watched = Watched(club.store)
        handle(club.server._replace(passwords=watched), mail(line), "alice@players.example", (ADDRESS,))
        assert not any(watched.held), line
        checked += watched.held
    assert len(checked) > 20


def changed_in_between(room, line, change, *, by_itself=False):
    """Whether a change between draft and lock leads to what it leads to if it comes before both.

    It comes from another connection, or from the server's own one *by itself*.
    """
    raw = mail(line)
    early, late = room.club(), room.club()
    heard = hear(early.server, raw, "alice@players.example", (ADDRESS,))
    assert heard.order
    assert heard.order.rehearsal.draft
    for club in (early, late):
        with sqlite3.connect(club.store.path, isolation_level=None) as other:
            other.execute("PRAGMA foreign_keys = ON")
            (club.store.db if by_itself else other).execute(change)
    return done(early, raw, heard) == done(late, raw)


@pytest.mark.parametrize(
    "line", ["symple move 101 alice alice-secret a1", "symple move 101 alice alice-secret propose"]
)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("by_itself", [False, True], ids=["by others", "by the server"])
def test_what_changes_between_draft_and_lock_is_seen(room, carried_out, change, line, by_itself):
    assert changed_in_between(room, line, change, by_itself=by_itself)
    assert carried_out[:1] == [False]


def test_only_what_may_have_changed_is_asked_again_under_the_lock(room, carried_out):
    asked = []
    for change in ("", "INSERT INTO failures VALUES ('userid', 'carol', 1, '2026-11-20T11:59:00.000000+00:00')"):
        club, raw = room.club(), mail("symple move 101 alice alice-secret a1")
        heard = hear(club.server, raw, "alice@players.example", (ADDRESS,))
        club.store.db.execute(change or "SELECT 1")
        statements = []
        club.store.db.set_trace_callback(statements.append)
        handle(club.server, raw, "alice@players.example", (ADDRESS,), None, heard)
        asked.append([tables(each) for each in statements if each.startswith("SELECT")])
    assert carried_out == [True, True]
    assert asked == [[], [{"failures"}]]


def test_what_has_nothing_to_do_with_a_command_makes_no_draft_untrue(room, carried_out):
    club, raw = room.club(), mail("symple move 101 alice alice-secret a1")
    heard = hear(club.server, raw, "alice@players.example", (ADDRESS,))
    club.say("symple move 103 alice alice-secret a1")
    club.say("signup dave dave-secret")
    carried_out.clear()
    assert handle(club.server, raw, "alice@players.example", (ADDRESS,), None, heard) == "command"
    assert carried_out == [True]


def test_a_command_of_a_shell_is_drafted_too_and_carried_out_anew_under_the_same_lock(room, monkeypatch):
    line = "symple move 101 alice alice-secret a1"
    drafted, anew = room.club(), room.club()
    printed = drafted.text(line)
    asked = []
    anew.store.db.set_trace_callback(asked.append)
    monkeypatch.setattr(Store, "carry_out", lambda *_: anew.store.set_zone("bob", "Europe/Berlin"))
    anew.made = 1000
    assert anew.text(line) == printed
    assert asked.count("BEGIN IMMEDIATE") == asked.count("COMMIT") == 1
    assert anew.store.turns("symple", "101") == drafted.store.turns("symple", "101")


def test_a_command_that_could_write_is_looked_at_under_the_lock_though_it_writes_nothing(room, carried_out):
    session = Session(room.club().server)
    assert carried_out_in(session, lambda session: [*session.store.followers("symple", "101")]) == (True, True)
    assert carried_out == [True]


def test_a_command_that_reads_without_notes_has_no_draft_if_it_could_write(room, carried_out):
    def read_on(session):
        with session.reading():
            return [*session.store.followers("symple", "101")]

    session = Session(room.club().server)
    assert carried_out_in(session, read_on) == (False, True)
    assert carried_out == []


def carried_out_in(session, what):
    """Whether a command that could write has been done once, and under the lock."""
    done = []

    def command(session):
        with session.writing():
            done.append(session.is_rehearsed)
            return what(session)

    asked = []
    session.store.db.set_trace_callback(asked.append)
    dispatch.carried_out(session, command)
    return done == [True], asked.count("BEGIN IMMEDIATE") == 1


def test_an_address_that_has_bounced_is_revived_whoever_is_told_what(room, carried_out):
    bounced = "UPDATE addresses SET bounces = 3 WHERE userid = 'alice'"
    assert changed_in_between(room, "symple move 101 alice alice-secret a1", bounced)
    assert carried_out == [True, True]


def test_two_drafts_of_one_move_are_one_move(room, carried_out):
    club = room.club()
    raws = [mail("symple move 101 alice alice-secret a1#3") for _ in range(2)]
    heard = [hear(club.server, raw, "alice@players.example", (ADDRESS,)) for raw in raws]
    for raw, one in zip(raws, heard, strict=True):
        handle(club.server, raw, "alice@players.example", (ADDRESS,), None, one)
    assert carried_out == [True, False]
    assert club.store.board("symple", "101").moves == 3
    assert "It is not your turn" in club.mails()[-1].text


def test_what_is_drafted_is_not_written_before(room):
    club = room.club()
    before = stored(club)
    for line in DRAFTED:
        hear(club.server, mail(line), "alice@players.example", (ADDRESS,))
    assert stored(club) == before


def test_a_password_that_was_wrong_before_is_forgotten_by_a_right_one_in_a_draft(room, carried_out):
    club = room.club()
    handle(club.server, mail("symple move 101 alice wrong-secret a1"), None)
    assert club.store.failures("alice", "alice@players.example")
    handle(club.server, mail("symple move 101 alice alice-secret a1"), None)
    assert carried_out[-1:] == [True]
    assert club.store.failures("alice", "alice@players.example") == {}


def test_all_tables_that_a_statement_reads_or_writes_are_known(room, monkeypatch):
    used: dict[str, set[str]] = {}
    really = vars(DraftConnection)["execute"]

    def execute(db, query, values=()):
        def note(action, table, *_):
            if action in (
                READS if query.startswith(("SELECT", "WITH")) else WRITES
            ):  # which look for what they refer to
                used.setdefault(query, set()).add(table)
            return sqlite3.SQLITE_OK

        if query.startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
            db.set_authorizer(note)
        return really(db, query, values)

    club = room.club()
    monkeypatch.setattr(DraftConnection, "execute", execute)
    for line in DRAFTED + NOT_DRAFTED:
        handle(club.server, mail(line), None)
    club.store.db.set_authorizer(None)
    assert len(used) > 40
    unknown = {query: found - tables(query) - {"json_each"} - FOLLOWING for query, found in used.items()}
    assert {query: found for query, found in unknown.items() if found} == {}


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
    "command",
    [
        lambda store: store.follow("symple", "101", "carol", "subscriber"),
        lambda store: store.next_number("symple"),
        lambda store: [store.set_zone("bob", None), store.zone("bob")],
        lambda store: [store.note_event(datetime.now(UTC), "end"), Events(store).last_event()],
        lambda store: [store.db.execute("UPDATE boards SET ended = changed"), store.active_boards("symple")],
        lambda store: store.remove_board("symple", "101"),
    ],
)
def test_a_draft_ends_where_it_cannot_tell_how_a_command_goes_on(room, command):
    store = room.club().store
    with pytest.raises(WouldWrite), store.rehearsal():
        command(store)


def test_a_draft_keeps_nothing_of_what_failed_within_a_command(room):
    store = room.club().store
    with store.rehearsal() as draft:
        store.set_zone("alice", "Europe/Berlin")
        with suppress(LookupError), store.transaction():
            store.set_zone("bob", "Europe/Berlin")
            raise LookupError
    with store.transaction():
        assert store.carry_out(draft)
    assert (store.zone("alice"), store.zone("bob")) == ("Europe/Berlin", None)
