"""What is stored of one user: all of it can be exported, and their words and name can be taken away."""

import json
import re
import stat
from zipfile import ZipFile

import pytest

from pbm.actions import cleanup
from pbm.mail.posts import Post, handle_post, prepare_post
from pbm.session import Session
from pbm.site.build import build
from pbm.site.pages import SiteSettings
from pbm.store.persons import PERSONAL

from helpers.database import stored
from helpers.fixtures import set_up
from helpers.leagues import League
from helpers.mail import handle, mail_of
from helpers.schema import check

NAMELESS = {
    "_sqlite_migrations": "the versions of the tables",
    "absences": "when the server was away",
    "commands": "counts by the hour",
    "hooks": "programs of the operator",
    "keys": "the key of addresses of ours",
    "notes": "when maintenance was done",
    "numbers": "the last board of each game",
    "puzzles": "positions and turns",
    "removed_boards": "numbers of boards",
    "requests": "what the operator has asked for in the last day",
    "sqlite_sequence": "the last numbers of tables",
    "tallies": "counts of boards",
}
"""The tables that have nothing about users, and what they have."""
ADDRESS_OF_BOB = "bob@players.example"
LIFE = """
symple challenge -size=5 alice bob
symple challenge -size=5 bob alice
symple challenge -size=5 alice bob
symple challenge -size=5 alice carol
symple challenge -talk -size=5 robot1 bob
symple move 101 alice alice-secret c3
symple move 101 bob bob-secret a1 / A comment of his.
symple nag 101 bob bob-secret
symple mail bob bob-secret digest
symple move 101 alice alice-secret propose
symple chat 101 bob bob-secret / A chat of his.
symple note 101 bob bob-secret / A note of his.
symple plan 101 bob bob-secret if any then e5
symple submit 102 bob bob-secret c3
symple move 103 alice alice-secret c3
symple move 103 bob bob-secret a1 / His last words.
symple resign 103 alice alice-secret
symple notify bob bob-secret 101 on
symple subscribe carol carol-secret all
symple subscribe 104 bob bob-secret
symple seek bob bob-secret 2
symple analyse 103 bob bob-secret
block bob bob-secret carol
block carol carol-secret bob
vacation bob bob-secret 2026-11-25
vacation bob bob-secret auto
token bob bob-secret laptop
reset bob
message alice alice-secret bob / A letter to him.
"""


@set_up
def lived(club):
    """bob has done all that leaves something of him behind, and others have done something to him."""
    club.server = club.server._replace(notice_kinds=("ntfy",))
    club.signed_up("alice", "bob", "carol")
    for line in LIFE.strip().splitlines():
        command, _, comment = line.partition(" / ")
        club.say(command, comment)
    club.say("notices bob bob-secret add ntfy://user:topsecret@ntfy.example/topic")
    [code] = [row["detail"] for row in stored(club.store, "notices")]
    club.say(f"notices bob bob-secret confirm {code}")
    club.say("message alice alice-secret bob", "Another letter.")
    handle(club.server, mail_of(ADDRESS_OF_BOB, "symple show 101", message_id="<1@players.example>"), ADDRESS_OF_BOB)
    handle(club.server, mail_of(ADDRESS_OF_BOB, "message bob wrong-secret alice", "Hello"), ADDRESS_OF_BOB)
    posted = Post("message bob bob-secret alice", "A post of his.", key="one", machine="198.51.100.7")
    handle_post(club.server, prepare_post(club.server, posted))
    league = League(club)
    league.start("swiss", ["alice", "bob", "carol"], rounds=2, never="alice:bob", byes=1)
    league.open("swiss", ["bob"], "open")
    with club.store.writing():
        club.store.db.execute("UPDATE tournaments SET director = 'bob' WHERE pool = 'open'")
        analysis = {"players": ["alice", "bob"], "turns": [{"player": "bob", "number": 2}], "curve": [0.5, 0.4, 0.3]}
        club.store.robots.save_analysis("symple", "103", json.dumps(analysis), club.time)
        club.store.trust.add_bar(ADDRESS_OF_BOB, club.time)
        club.store.users.take_vacation_day("bob", club.time.date())


def tables_of(store):
    return [name for (name,) in store.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]


def rows_that_name(store, table, words):
    """The rows of a table that have one of these words in a field, also within JSON or a list."""
    named = []
    for row in stored(store, table):
        fields = [str(value).lower() for name, value in row.items() if (table, name) not in HIDDEN]
        if any({*re.split(r"[^a-z0-9@.-]+", field)} & words for field in fields):
            named.append(row)
    return named


HIDDEN = {
    *(("blocked", "other"), ("talk", "text"), ("boards", "comment")),
    *(("outbox", name) for name in ("subject", "blocks", "message_id", "thread")),
    *(("digests", "subject"), ("digests", "blocks")),
}
"""Fields that may name a user and are about others: who blocks them, what others write, and mails to others."""


def let_use(shell, club):
    """Let a shell use a copy of what is stored in a club."""
    copy = shell.folder / "copy.db"
    club.store.db.execute("VACUUM INTO ?", [str(copy)])
    copy.chmod(0o600)
    shell.environment["PBM_DB"] = str(copy)


@pytest.fixture
def exported(lived, shell):
    """The zip that the operator makes for bob."""
    let_use(shell, lived)
    zipped = shell.folder / "bob.zip"
    data = shell.json("users", "export", "BOB", str(zipped))
    check(data, "exported_user")
    assert data["rows"]["addresses"] == 1
    return zipped


def tables_in(zipped):
    """The rows in an export, by table."""
    with ZipFile(zipped) as archive:
        return {name.removesuffix(".json"): json.loads(archive.read(name)) for name in archive.namelist()}


def test_every_table_is_about_users_or_is_known_not_to_be(lived):
    assert {*tables_of(lived.store)} == {*PERSONAL, *NAMELESS}


def test_bob_has_left_something_in_every_table_that_is_about_users(lived):
    """Else the next test would show nothing."""
    left = {table for table in PERSONAL if rows_that_name(lived.store, table, {"bob", ADDRESS_OF_BOB})}
    assert {*PERSONAL} - left == {"robots"}  # he is none


def test_no_row_that_names_a_user_or_their_address_is_left_out(lived, exported):
    for table in tables_of(lived.store):
        named = rows_that_name(lived.store, table, {"bob", ADDRESS_OF_BOB})
        assert len(tables_in(exported).get(table, [])) >= len(named), table


def test_an_export_has_what_a_user_wrote_played_and_chose(exported):
    tables = tables_in(exported)
    assert [row["text"] for row in tables["talk"]] == ["A comment of his.", "A chat of his.", "His last words."]
    assert [(row["board"], row["text"]) for row in tables["turns"]] == [("101", "a1"), ("103", "a1")]
    assert [row["text"] for row in tables["plans"]] == ["if any then e5"]
    assert [row["submitted"] for row in tables["boards"] if row["board"] == "102"] == ["c3"]
    assert tables["addresses"][0]["address"] == ADDRESS_OF_BOB
    assert tables["notice_targets"][0]["kind"] == "ntfy"


def test_an_export_has_no_hash_of_a_password_no_token_and_no_secret_of_others(lived, exported):
    with ZipFile(exported) as archive:
        text = "".join(archive.read(name).decode() for name in archive.namelist())
    for secret in ("$argon2", "bob-secret", "topsecret", "pbm_"):
        assert secret not in text
    assert re.findall("[0-9a-f]{32}", text) == []
    assert {row["userid"] for row in tables_in(exported)["blocked"]} == {"bob"}  # not who blocks him
    secrets = [row["secret"].hex() for row in stored(lived.store, "boards")]
    assert not any(secret in text for secret in secrets)


def test_only_the_owner_of_an_export_can_read_it_and_nothing_is_overwritten(exported, shell):
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    assert shell.refused("users", "export", "bob", str(exported)).startswith("There is a file")
    assert shell.refused("users", "export", "nobody-here", str(exported)).startswith("There is no user")


def test_what_is_left_of_a_user_who_has_signed_off_can_be_exported(exported, shell):
    shell.done("signoff", "bob", "bob-secret")
    later = exported.with_name("later.zip")
    shell.done("users", "export", "bob", str(later))
    assert {"users", "boards", "turns", "results"} <= {*tables_in(later)}
    assert not {"addresses", "talk", "tokens", "notice_targets", "replies"} & {*tables_in(later)}


# Erasing


@pytest.fixture
def erased(lived):
    """The club after bob has signed off, and taken his name away."""
    lived.say("signoff bob bob-secret --erase")
    return lived


STILL_NAMED = {
    "users": "so that nobody else takes the name",
    "events": "forgotten after 100 days",
    "changes": "so that pages of his go",
    "outbox": "mails on their way",
    "digests": "mails on their way",
    "quotas": "counts, forgotten after 100 days, without which he could be mailed without end",
    "failures": "counts, forgotten after 100 days",
    "handled": "notes of mails that came, forgotten after 100 days",
    "bars": "the operator's",
}
"""The tables that name a user who has erased their name, and why."""


def test_a_user_who_erases_their_name_is_named_nowhere_on_boards_in_results_and_in_tournaments(erased):
    for table in {*tables_of(erased.store)} - {*STILL_NAMED}:
        assert rows_that_name(erased.store, table, {"bob", ADDRESS_OF_BOB}) == [], table


def test_a_former_player_stands_in_their_place_and_ratings_stay(lived):
    before = stored(lived.store, "results")
    lived.say("signoff bob bob-secret --erase")
    kept = [row for row in stored(lived.store, "results") if row["board"] == "103"]
    as_before = [row | {"userid": row["userid"].replace("former-1", "bob")} for row in kept]
    assert sorted(map(str, as_before)) == sorted(map(str, before))
    shown = lived.text("symple show 103")
    assert "alice (white) against former-1 (black)" in shown
    assert "former-1 is a former player." in shown
    assert "Won by former-1" in shown
    assert "former-1" in lived.text("symple history")
    assert "former-1" in lived.text("symple table s")
    assert "bob" not in lived.text("symple history") + lived.text("symple table s") + shown + lived.text(
        "symple talk 103"
    )


def test_nobody_can_take_an_erased_name_or_that_of_a_former_player(erased):
    assert erased.why_refused("signup bob bob-secret") == "There is a user bob already; please choose another userid."
    assert "word of the command language" in erased.why_refused("signup former-1 secret-1")
    assert "word of the command language" in erased.why_refused("signup former-2 secret-1")
    assert erased.why_refused("symple move 101 former-1 bob-secret c3").startswith(
        "The userid or the password is wrong"
    )
    assert erased.why_refused("symple challenge alice former-1").startswith("There is no user")


def test_each_erased_user_is_another_former_player(erased):
    erased.say("signoff carol carol-secret --erase")
    row = erased.store.boards.get("symple", "104")
    assert row is None or "carol" not in row.players
    [players] = [row for row in stored(erased.store, "pool_players") if row["userid"] == "former-2"]
    assert players["pool"] == "s"


def test_records_of_an_erased_user_can_be_exported_imported_and_checked(erased, shell, tmp_path):
    let_use(shell, erased)
    record = shell.done("export", "symple", "103")
    assert "former-1" in record
    assert "bob" not in record
    assert shell.json("doctor")["findings"] == []
    shell.environment["PBM_DB"] = str(tmp_path / "another.db")
    shell.sign_up("alice", "dave")
    shell.done("import", "--map", "former-1:dave", stdin=record)
    assert "alice (white) against dave (black)" in shell.done("symple", "show", "103")


def test_the_pages_of_an_erased_user_go_and_no_other_page_names_them(lived, tmp_path):
    folder = tmp_path / "site"
    build(folder, Session(lived.server), SiteSettings())
    assert (folder / "users" / "bob.html").exists()
    lived.say("signoff bob bob-secret --erase")
    build(folder, Session(lived.server), SiteSettings())
    assert not (folder / "users" / "bob.html").exists()
    pages = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    named = [name for name, text in pages.items() if re.search(r"\bbob\b", text)]
    assert [name for name in named if not name.endswith("rules.html")] == []  # where anybody may be called so
    assert "A former player, who has taken their name away." in pages["users/former-1.html"]
    assert "a former player" in pages["symple/103.html"]
    assert "former-1" in pages["symple/pool-s.html"]


def test_a_name_can_be_erased_by_mail(lived):
    lived.store.trust.remove_bar(ADDRESS_OF_BOB)
    assert handle(lived.server, mail_of(ADDRESS_OF_BOB, "signoff bob bob-secret --erase"), ADDRESS_OF_BOB) == "command"
    assert "as that of a former\nplayer." in lived.mails("bob")[-1].text
    assert lived.store.boards.get("symple", "103").second_player == "former-1"


def test_without_erasing_the_name_stays(lived):
    lived.say("signoff bob bob-secret")
    assert "alice (white) against bob (black)" in lived.text("symple show 103")
    assert "former" not in lived.text("symple show 103")


def test_an_operator_can_erase_a_name_too(lived, shell):
    let_use(shell, lived)
    shell.done("users", "remove", "bob", "--erase", "--yes")
    assert "former-1" in shell.done("symple", "show", "103")


def test_an_operator_can_erase_the_name_of_one_who_has_signed_off_before(lived, shell):
    lived.say("signoff bob bob-secret")
    let_use(shell, lived)
    assert shell.done("users", "remove", "bob", "--erase", "--yes") == "bob is a former player now.\n"
    assert "bob" not in shell.done("symple", "show", "103")
    again = shell.run("users", "remove", "bob", "--erase", "--yes")
    assert again.stderr == "bob has signed off, and stands on no board and in no result.\n"


def test_signing_off_and_erasing_look_at_no_board_of_others(lived):
    statements = []
    lived.store.db.set_trace_callback(statements.append)
    with lived.store.writing():
        lived.store.users.sign_off("bob", lived.time)
        lived.store.persons.erase("bob", lived.time, "The server")
    lived.store.db.set_trace_callback(None)
    asked = [text for text in statements if re.match(r"\s*(SELECT|UPDATE|DELETE)", text) and "former-" in text]
    assert len(asked) > 20
    steps = [step for text in asked for *_, step in lived.store.db.execute(f"EXPLAIN QUERY PLAN {text}")]
    assert [step for step in steps if re.match("SCAN (boards|board_states|turns|talk|results|analyses)", step)] == []


def test_a_name_is_erased_or_nothing_is_done(lived, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(lived.store.persons, "_rename_in_tournaments", fail)
    before = {table: stored(lived.store, table) for table in tables_of(lived.store)}
    with pytest.raises(ZeroDivisionError):
        lived.say("signoff bob bob-secret --erase")
    assert {table: stored(lived.store, table) for table in tables_of(lived.store)} == before


def test_what_the_server_said_names_an_erased_user_no_more(board):
    for line in ("alice alice-secret c3", "bob bob-secret a1", "alice alice-secret c4"):
        board.say(f"symple move 101 {line}")
    board.pass_time(days=30)
    cleanup.clean_up(Session(board.server))
    assert "bob has not moved for 30 days" in board.text("symple show 101")
    board.say("symple chat 101 alice alice-secret", "Good bye, bob!")
    board.say("signoff bob bob-secret --erase")
    assert "a former player has not moved for 30 days" in board.text("symple show 101")
    assert [row["text"] for row in stored(board.store, "talk")][-1] == "Good bye, bob!"  # that is alice's
