"""What --json prints: documented, and the same for every command (`help json`, docs/json-schema.json)."""

import io
import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import click
import jsonschema
import pytest

from pbm import shell
from pbm.language.commands import root
from pbm.store import Store

from helpers.club import PASSWORDS
from helpers.database import sql, stored_board
from helpers.helptexts import FOLDER, operators
from helpers.mail import ADDRESS
from helpers.mailboxes import PASSWORD, Mailbox, serving
from helpers.schema import SCHEMA, check

HELP = (FOLDER / "json.txt").read_text()
PROTOCOLS = {"deliver", "demo", "mail login", "referee", "robot", "serve"}
"""Operator's commands that talk to a program or a person, or go on, and print no answer."""

EXAMPLES = {
    "replay": ("replay", "replay spiro 101"),
    "GAME accept": ("wishes", "symple reject bob bob-secret; symple accept bob bob-secret"),
    "GAME challenge": ("board", "symple challenge -size=5 alice bob"),
    "GAME chat": ("chat", "symple chat 101 bob bob-secret --comment=Hello"),
    "GAME talk": ("talk", "symple chat 101 bob bob-secret --comment=Hello; symple talk 101 bob bob-secret"),
    "GAME confirm": ("board", "symple submit 101 alice alice-secret c3; symple confirm 101 alice alice-secret"),
    "GAME games": ("boards", "symple games"),
    "GAME help": ("reply", "symple help"),
    "GAME history": ("history", "spiro history"),
    "GAME join": ("tournament", "tournament symple cup --open; symple join cup bob bob-secret"),
    "GAME leave": (
        "tournament",
        "tournament symple cup --open; symple join cup bob bob-secret; symple leave cup bob bob-secret",
    ),
    "GAME bye": (
        "tournament",
        "tournament symple cup alice bob carol --type=swiss --rounds=3 --byes=1; symple bye cup bob bob-secret",
    ),
    "GAME limit": ("wishes", "symple limit alice alice-secret 3"),
    "GAME mail": ("mails_of_game", "symple mail alice alice-secret digest"),
    "GAME move": ("board", "symple move 101 alice alice-secret c3"),
    "GAME nag": ("reminder", "symple nag 101 bob bob-secret"),
    "GAME notify": ("following", "symple notify carol carol-secret 101"),
    "GAME preview": ("board", "spiro preview new 2 -small"),
    "GAME plan": ("board", "symple plan 101 bob bob-secret if c3 then d4"),
    "GAME give": ("board", "symple give 101 bob bob-secret 7"),
    "GAME note": ("board", "symple note 101 bob bob-secret --comment=Beware"),
    "GAME queue": ("board", "symple queue 101 bob bob-secret c3"),
    "GAME reject": ("wishes", "symple reject alice alice-secret"),
    "GAME analyse": ("wanted", "spiro analyse 101 bob bob-secret"),
    "GAME rematch": ("board", "spiro rematch 101 bob bob-secret"),
    "GAME resign": ("removal", "symple resign 101 alice alice-secret"),
    "GAME seek": ("wishes", "symple seek alice alice-secret 2"),
    "GAME show": ("boards", "symple show 101 102 999"),
    "GAME showas": ("board", "symple showas alice alice-secret 101"),
    "GAME standings": ("standings", "symple standings"),
    "GAME submit": ("board", "symple submit 101 alice alice-secret c3"),
    "GAME subscribe": ("following", "symple subscribe 101 carol carol-secret"),
    "GAME swap": ("error", "symple swap 101 alice alice-secret"),  # none of our games has it
    "GAME table": ("table", "symple table pool"),
    "GAME tournament": (
        "tournament",
        "tournament symple cup alice bob --director=carol; symple tournament cup carol carol-secret status",
    ),
    "GAME unsubscribe": ("following", "symple unsubscribe carol carol-secret all"),
    "addresses add": ("done_to_address", "addresses add alice alice@elsewhere.example"),
    "addresses drop": ("dropped_address", "addresses drop alice alice@players.example"),
    "addresses list": ("addresses", "dave: signup dave dave-secret; addresses list"),
    "all games": ("waiting", "all games alice bob"),
    "all seekers": ("seekers", "symple seek alice alice-secret 2; all seekers"),
    "all show": ("boards", "all show alice active"),
    "arena": ("arena", "arena spiro a=false b=true --games=1 -small"),
    "backup": ("backup", "backup COPY"),
    "boards list": ("listing", "boards list --all"),
    "boards mend": ("mended_board", "boards mend symple 101"),
    "boards reinstate": ("reinstated_board", "boards reinstate symple LATE"),
    "boards remove": ("removed_board", "boards remove symple 101 --yes"),
    "broadcast": ("broadcast", "broadcast alice alice-secret --comment=Hello"),
    "change address": ("user", "change address alice alice-secret alice@elsewhere.example"),
    "change password": ("user", "change password alice alice-secret alice-likes-games"),
    "cleanup": ("cleaning", "cleanup"),
    "clocks add": ("added_time", "clocks add 1.5 symple 101"),
    "completion": ("completion", "completion bash"),
    "confirm-address": ("user", "dave: signup dave dave-secret; CODE"),
    "dice": ("dice", "dice spiro 101"),
    "doctor": ("findings", "doctor"),
    "duel": ("duel", "duel spiro false true --games=1 -small"),
    "events": ("event", "events --since=LAST"),
    "export": ("records", "export symple --all"),
    "fetch": ("fetching", "fetch imap://pbm@127.0.0.1:PORT"),
    "help": ("reply", "help json spiro move"),
    "hook add": ("hook", "hook add true --on=move,end"),
    "hook list": ("hooks", "hook add true; hook list"),
    "hook remove": ("removed_hook", "hook add true; hook remove 1"),
    "hook run": ("runs", "hook add true --on=signup; signup dave dave-secret; hook run"),
    "import": ("imported", "import RECORD --map=alice:carol"),
    "list": ("counts", "list"),
    "mail": ("mails", "mail alice alice-secret text"),
    "mail key": ("dkim_key", "mail key"),
    "message": ("message", "message alice alice-secret bob carol --comment=Hello"),
    "multiple": ("several", "multiple --comment=list"),
    "outbox drop": ("dropped", "outbox drop 1 2"),
    "outbox flush": ("sending", "outbox flush"),
    "outbox list": ("outbox", "outbox list"),
    "outbox notify": ("notified", "outbox notify"),
    "outbox retry": ("due", "outbox retry --all"),
    "outbox show": ("whole_mail", "outbox show 1"),
    "picture": ("picture", "picture symple 101 PICTURE"),
    "play": ("news", "play symple 101 alice --with=ROBOT"),
    "promises": ("promises", "promises symple"),
    "analyse": ("analysis", "analyse spiro 101 --seconds=0.01"),
    "puzzles": ("puzzles", "puzzles spora"),
    "reset": ("user", "reset alice"),
    "robots add": ("robots", "robots add deep --with=ROBOT --games=spiro --unrated"),
    "robots change": ("robots", "robots change robot1 --level=2"),
    "robots list": ("robots", "robots"),
    "robots pause": ("robots", "robots pause robot1"),
    "robots remove": ("signoff", "robots remove robot1 --yes"),
    "robots resume": ("robots", "robots pause robot1; robots resume robot1"),
    "robots run": ("answering", "symple challenge robot1 alice --no-wait; robots run --once"),
    "settings": ("setting_list", "settings"),
    "site": ("site", "site SITE"),
    "restore": ("restored", "backup COPY; restore COPY --yes"),
    "signoff": ("signoff", "signoff alice alice-secret"),
    "signup": ("user", "signup dave dave-secret dave@players.example"),
    "status": ("status", "status"),
    "block": ("blocked", "block alice alice-secret bob"),
    "unblock": ("blocked", "block alice alice-secret bob; unblock alice alice-secret bob"),
    "token": ("token", "token alice alice-secret laptop read"),
    "tokens": ("tokens", "token alice alice-secret laptop; tokens alice alice-secret"),
    "notices": ("notices", "notices alice alice-secret list"),
    "timezone": ("zone", "timezone alice alice-secret Europe/Berlin"),
    "tournament": ("schedule", "tournament symple new alice bob carol"),
    "users list": ("users", "users list"),
    "users password": ("done_to_user", "users password alice"),
    "users export": ("exported_user", "users export alice COPY"),
    "users mute": ("done_to_user", "users mute alice"),
    "users unmute": ("done_to_user", "users mute alice; users unmute alice"),
    "users bar": ("done_to_bar", "users bar @players.example"),
    "users unbar": ("done_to_bar", "users bar @spam.example; users unbar @spam.example"),
    "users remove": ("signoff", "users remove alice --yes"),
    "vacation": ("vacation", "vacation alice alice-secret TODAY"),
    "wait": ("news", "wait spiro 101 --until=over"),
}
"""For each command the object that it prints, and a line that does, perhaps behind others that lead to it.

A line behind `dave:` is the subject of a mail from him. What is in capitals is in NEEDED.
"""


OPERATORS = {ctx.command_path.removeprefix("pbm ") for ctx in operators() if not isinstance(ctx.command, click.Group)}
COMMANDS = sorted({one.name for one in root.explained()} | OPERATORS - PROTOCOLS)


class Said:
    """What commands print with --json in a folder with a database of its own."""

    def __init__(self, folder, monkeypatch, capsys=None):
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        for name in [name for name in os.environ if name.startswith("PBM_")]:
            monkeypatch.delenv(name)
        for name, value in {
            "DB": str(folder / "pbm.db"), "ADDRESS": ADDRESS, "PASSWORD": "new-secret", "IMAP_PASSWORD": PASSWORD,
        }.items():  # fmt: skip
            monkeypatch.setenv(f"PBM_{name}", value)

    def __call__(self, line, *more):
        """The object that a command prints, and its exit status."""
        self.capsys.readouterr()
        status = shell.main([*line.split(), *more, "--json"])
        out, err = self.capsys.readouterr()
        assert err == ""
        assert len(out.splitlines()) == 1
        return json.loads(out), status

    def last(self, lines):
        """What the last of several commands prints."""
        *before, last = lines.split("; ")
        for line in before:
            if line.startswith("dave: "):
                self.mail(line.removeprefix("dave: "))
            else:
                self(self.filled(line))
        return self(self.filled(last))

    def filled(self, line):
        """A line with what it needs."""
        return re.sub("|".join(NEEDED), lambda found: NEEDED[found[0]](self), line)

    def mail(self, subject):
        """Handle a mail from dave."""
        raw = f"From: dave@players.example\nSubject: {subject}\n\n".encode()
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
        assert shell.main(["deliver"]) == 0

    def asked(self, query):
        """What the database says."""
        return sql(self.folder / "pbm.db", query)[0][0]

    def record(self):
        """A file with a game that another server has recorded."""
        (self.folder / "record").write_text(json.dumps(self("export symple 101")[0]))
        return str(self.folder / "record")

    def robot(self):
        """A program that gives up."""
        (self.folder / "robot").write_text("#!/bin/sh\necho resign\nread line\n")
        (self.folder / "robot").chmod(0o755)
        return str(self.folder / "robot")


def lost_by_time(said):
    """The number of a board of Symple on which alice has resigned, as if she had lost by time."""
    for line in ("move 101 alice alice-secret c3", "move 101 bob bob-secret a1", "resign 101 alice alice-secret"):
        said(f"symple {line}")
    sql(said.folder / "pbm.db", "UPDATE boards SET reason = 'forfeited' WHERE game = 'symple' AND board = '101'")
    sql(said.folder / "pbm.db", "UPDATE turns SET text = 'Forfeit' WHERE game = 'symple' AND text = 'Resign'")
    return "101"


NEEDED = {
    "CODE": lambda said: said.asked("SELECT subject FROM outbox WHERE subject LIKE 'confirm-address %'"),
    "SITE": lambda said: str(said.folder / "site"),
    "COPY": lambda said: str(said.folder / "copy"),
    "PICTURE": lambda said: str(said.folder / "board.svg"),
    "LAST": lambda said: str(said.asked("SELECT max(id) - 1 FROM events")),
    "PORT": lambda said: str(said.port),
    "RECORD": Said.record,
    "LATE": lost_by_time,
    "ROBOT": Said.robot,
    "TODAY": lambda said: said.asked("SELECT date()"),
}
"""What examples need that cannot be told before."""


@pytest.fixture(scope="session")
def happened(tmp_path_factory):
    """A database of three players, on whose boards something has happened."""
    folder = tmp_path_factory.mktemp("happened")
    with pytest.MonkeyPatch.context() as monkeypatch:
        Said(folder, monkeypatch)
        for name in ("alice", "bob", "carol"):
            shell.main(["signup", name, PASSWORDS[name], f"{name}@players.example"])
        for line in (
            "symple challenge -size=5 alice bob", "symple challenge alice carol", "spiro challenge -small alice bob",
            "tournament symple pool alice bob", "symple seek carol carol-secret 3", "broadcast bob bob-secret on",
        ):  # fmt: skip
            assert shell.main(line.split()) == 0
        for name in ("alice", "bob"):
            with Store(folder / "pbm.db") as store:
                move = next(stored_board(store, "spiro", "101").state.moves())
            assert shell.main(["spiro", "move", "101", name, PASSWORDS[name], move]) == 0
        for name in ("bob", "alice"):
            assert shell.main(["spiro", "resign", "101", name, PASSWORDS[name]]) == 0
    sql(folder / "pbm.db", "UPDATE addresses SET suspended = '2026-11-20T12:00:00+00:00' WHERE userid = 'carol'")
    return folder / "pbm.db"


@pytest.fixture
def said(happened, tmp_path, monkeypatch, capsys):
    """What commands print with --json, on that database."""
    with closing(sqlite3.connect(happened)) as source, closing(sqlite3.connect(tmp_path / "pbm.db")) as copy:
        source.backup(copy)
    (tmp_path / "pbm.db").chmod(0o600)
    return Said(tmp_path, monkeypatch, capsys)


@pytest.fixture
def mailbox(said):
    """A mailbox to fetch from, with nothing in it."""
    with serving(Mailbox()) as said.port:
        yield


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_the_object_that_is_documented(said, name, request):
    assert name in EXAMPLES, (
        f"`{name}` has no example of its JSON. Add a line that runs it to EXAMPLES in {Path(__file__).name}, and its "
        "object to docs/json-schema.json and help/json.txt if none of those there is it."
    )
    definition, lines = EXAMPLES[name]
    if "PORT" in lines:
        request.getfixturevalue("mailbox")
    answer, status = said.last(lines)
    assert status == (definition == "error"), answer
    check(answer, definition)


def test_every_example_is_of_a_command():
    assert [name for name in EXAMPLES if name not in COMMANDS] == []


@pytest.mark.parametrize(
    ("definition", "lines"),
    [
        ("board", "symple show 101"),
        ("board", "symple show pool1"),
        ("board", "spiro show 101"),
        ("board", "symple resign pool1 bob bob-secret"),
        ("board", "symple move pool1 alice alice-secret propose"),
        ("boards", "all show carol next"),
        ("boards", "list symple spiro"),
        ("boards", "spiro show carol"),
        ("boards", "symple games 101 999"),
        ("token", "token alice alice-secret laptop; token alice alice-secret laptop revoke"),
        ("broadcasts", "broadcast alice alice-secret on"),
        ("puzzle_wish", "puzzles alice alice-secret on"),
        ("following", "symple notify carol carol-secret"),
        ("following", "symple subscribe carol carol-secret all"),
        ("following", "symple unsubscribe 101 carol carol-secret"),
        ("listing", "boards symple next alice"),
        ("news", "wait symple 101 102 --until=turn=alice"),
        ("pools", "tournament symple"),
        ("ratings", "spiro standings --plot=alice"),
        ("records", "export spiro 101"),
        ("schedule", "tournament symple new alice bob --dry-run"),
        ("standings", "spiro standings"),
        ("arena", "arena spiro alice=false bob=true --games=1 -small --save=a"),
        ("tournaments", "symple table"),
        ("tournaments", "tournament symple cup --open --starts=2099-01-01; symple table"),
        ("table", "tournament symple pool"),
        ("table", "tournament symple pool --csv"),
        ("table", "tournament symple pool --format=json"),
        ("table", "tournament symple cup alice bob carol --type=swiss --rounds=1; tournament symple cup"),
        ("table", "tournament symple t --team=a:alice --team=b:bob; tournament symple t"),
        ("schedule", "tournament symple cup alice bob carol --type=swiss --rounds=1"),
        ("table", "tournament symple cup alice bob carol --type=swiss --rounds=1; tournament symple cup --trf"),
        ("tournament", "tournament symple cup --open --type=swiss --rounds=2 --never=alice:bob --byes=1"),
        ("tournament", "tournament symple cup --open --clock=5+1/8"),
        ("tournament", "tournament symple cup --open --dry-run"),
        ("tournament", "tournament symple pool adjudicate pool1 draw"),
        ("user", "signup dave dave-secret"),
        ("users", "users alice"),
        ("users", "users bar eve@spam.example; users"),
        ("users", "signoff alice alice-secret; users"),
        ("vacation", "vacation alice alice-secret"),
        ("vacation", "vacation alice alice-secret auto"),
        ("waiting", "all games alice inactive"),
        ("waiting", "all games alice next tournament"),
        ("board", "symple challenge -size=5 --novacation alice alice"),
        ("wishes", "symple limit alice alice-secret"),
        ("wishes", "symple seek alice alice-secret"),
    ],
)
def test_what_depends_on_the_words_of_a_command_is_documented_too(said, definition, lines):
    answer, status = said.last(lines)
    assert status == 0
    check(answer, definition)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("symple show 999", 1),
        ("symple move 101 alice wrong-secret c3", 1),
        ("symple move 101 bob bob-secret c3", 1),
        ("symple move 101 alice alice-secret z9", 1),
        ("symple challenge -nix alice bob", 1),
        ("dice symple 101", 1),
        ("symple challenge alice bob --comment", 1),
        ("symple move", 2),
        ("nonsense", 2),
        ("symple nonsense", 2),
        ("wait symple", 2),
        ("wait symple 999", 1),
        ("wait symple 101 --timeout=0", 1),
        ("wait symple 101 --timeout=soon", 1),
        ("wait symple 101 --nix", 1),
        ("tournament symple none", 1),
        ("outbox nonsense", 2),
        ("referee chess", 2),
        ("wait chess 101", 2),
        ("tournament chess", 2),
    ],
)
def test_every_refusal_is_an_error_with_the_exit_status(said, line, status):
    answer, code = said(line)
    check(answer, "error")
    assert answer["status"] == code == status


@pytest.mark.parametrize(("line", "name"), [("symple show 101", "board"), ("outbox show 1", "whole_mail")])
def test_an_object_with_another_key_is_not_the_documented_one(said, line, name):
    answer, _ = said(line)
    with pytest.raises(jsonschema.ValidationError):
        check({**answer, "extra": 1}, name)


def test_a_proposal_is_told_with_the_board(said):
    said("symple move 101 alice alice-secret propose")
    answer, _ = said("symple show 101")
    assert (answer["vote"], answer["voter"]) == ("draw", "alice")
    assert "vote" not in said("symple show 101#0 102")[0]["boards"][1]


def test_what_is_queued_and_submitted_is_told_to_its_owner_alone(said):
    assert said("symple queue 101 bob bob-secret c3")[0]["queued"] == "c3"
    assert said("symple submit 101 alice alice-secret b1")[0]["submitted"] == "b1"
    assert said("symple showas bob bob-secret 101")[0]["queued"] == "c3"
    assert said("symple showas alice alice-secret 101")[0]["submitted"] == "b1"
    for line in ("symple show 101", "symple showas carol carol-secret 101"):
        assert not {"queued", "submitted"} & said(line)[0].keys()
    assert "submitted" not in said("symple showas bob bob-secret 101")[0]


def test_a_plan_is_told_to_its_owner_alone(said):
    answer, _ = said("symple plan 101 bob bob-secret if c3 then d4 if any then e5; if a1 then b2")
    check(answer, "board")
    assert answer["plan"] == ["if c3 then d4 if any then e5", "if a1 then b2"]
    assert "queued" not in answer
    assert "plan" not in said("symple show 101")[0]
    assert "plan" not in said("symple move 101 alice alice-secret b3")[0]


VACATION = "vacation alice alice-secret 2027-01-30 2027-02-02"


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("symple show 101 998 999#2", "missing", ["998", "999#2"]),
        ("symple games 101 999", "missing", ["999"]),
        ("spiro show carol", "boards", []),
        ("all show carol", "boards", []),
        ("symple limit carol carol-secret", "limit", None),
        ("symple limit carol carol-secret 4", "limit", 4),
        ("symple reject carol carol-secret", "limit", 0),
        ("symple seek carol carol-secret", "seeking", 3),
        (VACATION, "vacations", [{"first": "2027-01-30", "last": "2027-02-02"}]),
        (f"{VACATION}; vacation alice alice-secret off", "vacations", []),
        ("symple chat 101 bob bob-secret --comment=Hello", "readers", ["alice", "bob"]),
        ("message alice alice-secret bob carol --comment=Hello", "readers", ["bob", "carol"]),
        ("broadcast alice alice-secret --comment=Hello", "count", 1),
    ],
)
def test_an_answer_names_what_was_changed_missed_or_read(said, line, key, value):
    assert said.last(line)[0][key] == value


def test_who_signs_off_is_told_of_every_board(said):
    answer, _ = said("signoff alice alice-secret")
    assert [(one["board"], one["winner"]) for one in answer["boards"]] == [("pool1", "bob")]
    assert [(one["removed"], one["userid"]) for one in answer["removals"]] == [("101", "alice"), ("102", "alice")]
    answer, _ = said.last("signup dave dave-secret; signoff dave dave-secret")
    assert (answer["boards"], answer["removals"]) == ([], [])


def test_following_names_what_was_changed(said):
    def changed(line):
        answer, _ = said(f"symple {line}")
        return [answer[key] for key in ("added", "stopped", "unchanged", "all")]

    assert changed("subscribe carol carol-secret 101 102") == [["101"], [], ["102"], False]
    assert changed("subscribe carol carol-secret all") == [["pool1"], [], ["101"], True]
    assert changed("unsubscribe carol carol-secret 101 102") == [[], ["101"], ["102"], True]
    assert changed("unsubscribe carol carol-secret all") == [[], ["pool1"], [], False]
    assert changed("notify carol carol-secret") == [[], [], [], True]
    assert changed("notify carol carol-secret 101 102") == [["101", "102"], [], [], True]
    assert changed("notify carol carol-secret off") == [[], [], [], False]
    assert changed("notify carol carol-secret 101 pool1 off") == [[], ["101"], ["pool1"], False]


def test_several_commands_have_an_answer_each_and_the_highest_exit_status(said):
    commands = "symple show 101 102\nsymple move 101 bob bob-secret c3\nspiro\nlist"
    answer, status = said("multiple", f"--comment={commands}")
    check(answer, "several")
    boards, refused, misused, counts = answer["answers"]
    assert [one["board"] for one in boards["boards"]] == ["101", "102"]
    assert (refused["status"], misused["status"]) == (1, 2)
    assert counts["games"]["symple"] == 3
    assert answer["status"] == status == 2


def test_a_fault_is_one_finding(said, monkeypatch):
    monkeypatch.setenv("PBM_ADDRESS", "nowhere")
    answer, status = said("doctor")
    check(answer, "findings")
    assert (status, [one["where"] for one in answer["findings"]]) == (1, ["PBM_ADDRESS"])


def test_a_board_that_cannot_be_looked_at_is_no_text_on_standard_error(said):
    changes = "options = '-nix', started = '2020-01-01T12:00:00+00:00', changed = NULL"
    sql(said.folder / "pbm.db", f"UPDATE boards SET {changes} WHERE game = 'symple' AND board = '101'")
    answer, status = said("cleanup")
    check(answer, "cleaning")
    assert (len(answer["problems"]), status) == (1, 1)


def test_several_texts_become_one(said):
    answer, _ = said("help tutorial spiro")
    assert "signup alice" in answer["reply"]
    assert "SPIRO" in answer["reply"]


def test_the_schema_is_one_and_the_help_names_every_key_of_it():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    answers = {one["$ref"].rpartition("/")[2] for one in SCHEMA["$defs"]["answer"]["anyOf"]}
    assert {definition for definition, _ in EXAMPLES.values()} <= answers
    assert answers <= SCHEMA["$defs"].keys()
    keys = {key for one in SCHEMA["$defs"].values() for key in one.get("properties", {})}
    assert [key for key in sorted(keys) if not re.search(rf"\b{key}\b", HELP)] == []


@pytest.mark.parametrize("subject", ["json", "tutorial", "operator"])
def test_every_text_of_the_help_folder_is_a_subject(said, subject):
    assert said(f"help {subject}") == ({"reply": (FOLDER / f"{subject}.txt").read_text().rstrip()}, 0)


@pytest.mark.parametrize("subject", ["../README", "json.txt", ".", "/etc/passwd"])
def test_no_other_file_is_a_help_text(said, subject):
    assert said(f"help {subject}")[1] == 1


def test_the_help_is_ascii_in_lines_that_a_mail_does_not_break():
    for path in FOLDER.glob("*.txt"):
        text = path.read_text()
        assert text.isascii(), path
        assert [line for line in text.splitlines() if len(line) > 78 or line != line.rstrip()] == []
