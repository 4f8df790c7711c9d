"""Commands through real processes (docs/command-language.md, section 9), and what comes of bad input."""

import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import pbm
from pbm.__main__ import run

from helpers.club import PASSWORDS
from helpers.database import sql
from helpers.fixtures import set_up
from helpers.patience import PATIENCE
from helpers.shell import run_as_nobody


@set_up
def board(shell):
    """alice and bob on board 101 of small Spiro, with two pieces each."""
    shell.sign_up("alice", "bob", "carol")
    shell.run("spiro", "challenge", "-small", "-pieces=2", "alice", "bob")


def rows(shell):
    with sqlite3.connect(shell.folder / "pbm.db") as db:
        return list(db.iterdump())


def test_an_answer_goes_to_standard_output_and_the_status_is_0(board):
    assert "Last turn: e3:+" in board.done("spiro", "move", "101", "alice", "alice-secret", "e3:+")
    assert board.run("spiro show 101").stdout == board.run("spiro", "show", "101").stdout  # a line in one argument


@pytest.mark.parametrize("words", [("101", "alice", "-", "e3:+"), ("101", "alice", "-", "e3:+", "--json")])
def test_a_password_may_come_from_the_environment(board, words):
    board.done("spiro", "move", *words, PBM_PASSWORD="alice-secret")


def test_a_password_may_come_from_the_first_line_of_standard_input_and_the_comment_from_the_rest(board):
    done = board.run("spiro", "move", "101", "alice", "-", "e3:+", "--comment=-", stdin="alice-secret\nHello\nbob\n")
    assert "alice writes:\n\nHello\nbob\n" in done.stdout


@pytest.mark.parametrize("typed", [b"\x04", b"\xff\xfe\n"])
def test_an_interrupted_or_unreadable_password_at_a_terminal_is_refused(shell, typed):
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "pbm", "signup", "alice", "-"]
    with subprocess.Popen(
        command, env=shell.environment, stdin=end, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stderr.read(10) == b"Password: "
        os.write(terminal, typed)
        assert b"A password is one word of 6 to 256 characters, without blanks." in process.stderr.read()
    assert process.returncode == 1


def test_an_operator_may_give_a_password_of_any_bytes(shell):
    shell.sign_up("alice")
    assert "new password" in shell.done("users", "password", "alice", stdin=b"\xff\xfe-secret\n")


@pytest.mark.parametrize("closed", ["<&-", ">&- </dev/null", "2>&- </dev/null", "<&- >&- 2>&-"])
def test_a_closed_stream_is_like_an_empty_one(shell, closed):
    line = f"{sys.executable} -m pbm signup alice - {closed}"
    done = subprocess.run(["sh", "-c", line], env=shell.environment, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == b"" or b"A password is one word of 6 to 256 characters, without blanks." in done.stderr


def test_a_comment_may_stand_behind_the_move(board):
    done = board.run("spiro", "move", "101", "alice", "alice-secret", "e3:+", "--comment=Have fun")
    assert "alice writes:\n\nHave fun" in done.stdout


def test_a_comment_of_any_bytes_is_text(board):
    for words, stdin in ((["--comment=\udcff\udcfe"], b""), (["--comment=-"], b"\xff\xfe")):
        assert "Challenger writes:" in board.done("spiro", "challenge", "alice", "bob", *words, stdin=stdin)


def test_json_shows_several_boards_as_a_list(board):
    board.run("spiro", "challenge", "alice", "carol")
    shown = board.json("spiro", "show", "101", "102")
    assert [one["board"] for one in shown["boards"]] == ["101", "102"]
    assert board.json("list", "spiro")["boards"] == shown["boards"]


BAD = [  # words, exit status, what the user reads
    ([], 2, "  help tutorial     play a first game, step by step"),
    (["symple", "challenge", "alice", "bob", "--comment"], 1, "--comment needs a text: --comment=TEXT"),
    (["--comment", "symple", "challenge", "alice", "bob"], 1, "--comment needs a text: --comment=TEXT"),
    (["spora!", "help"], 2, "There is no game or command"),
    (["spiro", "challenge", "alice", "bob", "carol"], 2, "Too many words"),
    (["spiro", "show", "101", "-small"], 1, "takes no option -small"),
    (["spiro", "show", ""], 2, "missing"),
    (["spiro", "move", "101", "alice", "alice-secret", "\udcff\x01"], 1, "Cannot read"),
    (["change", "address", "alice", "alice-secret"], 1, "no sender's address to take"),
    (["help", "nonsense"], 1, "There is no help on 'nonsense'"),
    (["help", "outbox", "keep-sending"], 1, "There is no help on 'keep-sending'"),
    (["help", "outbox", "nonsense"], 1, "There is no help on 'nonsense'"),
    (["help", "complete"], 1, "There is no help on 'complete'"),
    (["--lmtp", "--listen=nonsense", "serve"], 2, "is not HOST:PORT"),
    (["-x"], 2, "There is no command"),
    (["referee"], 2, "Missing argument 'GAME'."),
    (["tournament"], 2, "No game is named; `pbm tournament symple` lists the pools of Symple."),
    (["referee", "chess"], 2, "There is no game 'chess'"),
    (["serve", "--port=1"], 1, "No such option '--port'."),
    (["serve", "--listen"], 1, "Option '--listen' requires an argument."),
    (["outbox"], 2, "Usage: pbm outbox"),
    (["outbox", "nonsense"], 2, "No such command 'nonsense'."),
    (["outbox", "flush", "x"], 2, "Got unexpected extra argument (x)"),
    (["outbox", "show", "x"], 1, "'x' is not a valid whole number."),
    (["outbox", "drop", "0"], 1, "0 is not in the range"),
    (["outbox", "retry", "9" * 40], 1, "is not in the range"),
    (["boards", "--alll"], 1, "No such option '--alll'. Did you mean '--all'?"),
    (["tournament", "symple", "a", "--opne"], 1, "'--open'"),
    (["duel", "symple", "true", "true", "--gmaes=3"], 1, "'--games'"),
    (["users", "remove", "--yes=1", "alice"], 1, "Option '--yes' does not take a value."),
    (["users", "password"], 2, "Missing argument 'USERID'."),
    (["completion", "csh"], 1, "'csh' is not one of 'bash', 'zsh', 'fish'."),
    (["events", "--since=" + 20 * "9"], 1, "is not in the range 0<=x<=1000000000."),
    (["robot", "--level=7"], 1, "'7' is not one of '1', '2', '3', '4', '5', '6'."),
    (["robot", "--seconds=soon"], 1, "'soon' is not a valid number of seconds."),
    (["robot", "--resign=110"], 1, "Invalid value for '--resign': it is a number from 0 to 100, or never."),
    (["robot", "--resign=soon"], 1, "Invalid value for '--resign': it is a number from 0 to 100, or never."),
    (["robot", "--level=1", "--seconds=1"], 2, "Only one of --level, --seconds and --playouts can be given."),
    (["--", "list"], 2, ""),  # the pass is no command
    (["spiro", "--", "games"], 2, ""),
]


@pytest.mark.parametrize(("words", "status", "text"), BAD)
def test_bad_input_gets_one_clear_message_and_changes_nothing(board, words, status, text):
    before = rows(board)
    said = board.refused(*words, status=status)
    assert text in said
    assert rows(board) == before
    assert not any(password in said for password in PASSWORDS.values())


@pytest.mark.parametrize("line", [
    "signup dave sesame-9 sesame-9", "signup dave -sesame-9", "signup Dave Smith sesame-9 a@x.example",
    "change address alice alice-secret sesame-9", "change password sesame-9 alice sesame-9",
    "spiro showas 101 alice sesame-9", "spiro move 101 sesame-9 alice e3:1", "spiro move 101 102 alice sesame-9",
    "spiro resign 101 sesame-9 alice", "spiro move sesame-9 alice 101 e3:1",
])  # fmt: skip
def test_a_password_in_the_wrong_place_is_not_said_back(board, line):
    for more in ([], ["--json"]):
        done = board.run(*line.split(), *more)
        assert done.returncode in (1, 2)
        assert "sesame-9" not in done.stdout + done.stderr


def test_a_password_is_asked_for_on_a_terminal_and_not_echoed(board):
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "pbm", "spiro", "move", "101", "alice", "-", "e3:+"]
    with subprocess.Popen(
        command, env=board.environment, stdin=end, stdout=subprocess.PIPE, stderr=end, start_new_session=True
    ) as process:
        os.close(end)
        assert b"Password" in os.read(terminal, 1000)
        os.write(terminal, b"alice-secret\n")
        assert b"Last turn: e3:+" in process.stdout.read()
        assert process.wait(PATIENCE) == 0
    assert b"alice-secret" not in os.read(terminal, 1000)
    os.close(terminal)


@pytest.mark.parametrize("words", [("show", "101\x1b[2J"), ("\x1b]0;x\x07",), ("show", "\u202e101")])
def test_characters_that_steer_a_terminal_are_shown_in_what_is_said_back(board, words):
    done = board.run("symple", *words)
    assert done.returncode
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\u202e")
    assert re.search(r"\\x1b|\\u202e", done.stderr)


def test_what_a_player_writes_cannot_steer_the_terminal_of_another(board):
    text = b"alice-secret\nhi \x1b[31mred\x1b]0;title\x07 \x00nul\n"
    board.run("spiro", "move", "101", "alice", "-", "e3:+", "--comment=-", stdin=text)
    assert "hi [31mred]0;title nul" in board.run("spiro", "show", "101").stdout


def unusable(folder: Path) -> list[tuple[Path, str]]:
    """Paths that are no database, and what is said of each."""
    (folder / "text.db").write_text("This is a letter to my aunt, and no database at all.\n" * 40)
    sql(folder / "foreign.db", "CREATE TABLE aunts (name TEXT)")
    (folder / "folder.db").mkdir()
    return [
        (folder / "missing" / "pbm.db", "there is no folder"),
        (folder / "text.db", "no SQLite database"),
        (folder / "foreign.db", "another program"),
        (folder / "folder.db", "cannot be used"),
        (Path("/dev/full"), "cannot be used"),
        (Path("/proc/pbm.db"), "cannot be used"),
    ]


def test_a_database_that_cannot_be_used_is_named_with_the_reason(shell, tmp_path):
    for path, reason in unusable(tmp_path):
        for words in (["spiro", "games"], ["signup", "alice", "alice-secret"], ["outbox", "flush"]):
            said = shell.refused(*words, PBM_DB=str(path))
            assert reason in " ".join(said.split())
            assert str(path) in said


def test_a_database_that_may_only_be_read_is_not_written(board):
    with TemporaryDirectory() as name:
        path = Path(name) / "pbm.db"
        path.write_bytes((board.folder / "pbm.db").read_bytes())
        path.chmod(0o444)
        before = path.read_bytes()
        for mode in (0o555, 0o755):
            Path(name).chmod(mode)
            done = run_as_nobody(board, path, "signup", "dave", "dave-secret")
            assert done.returncode == 1
            assert f"The database {path} cannot be used" in done.stderr
            assert path.read_bytes() == before


@pytest.fixture
def mounted(board, tmp_path_factory):
    """Runs a line of sh where the database is on a disk that is mounted to be read only, which PLACE names."""
    place = tmp_path_factory.mktemp("mounted")
    shutil.copy(board.folder / "pbm.db", place)
    mount = f"mount --bind {place} {place} && mount -o remount,ro,bind {place}"
    if subprocess.run(["unshare", "--mount", "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk")

    def said(line):
        command = f"{mount} && {sys.executable} -m pbm {line.replace('PLACE', str(place))}"
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", command],
            env={**board.environment, "PBM_DB": f"{place}/pbm.db"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        return " ".join((done.stdout + done.stderr).split()).replace(str(place), "PLACE")

    return said


def test_a_database_on_a_disk_that_can_only_be_read_is_named_as_that(mounted):
    why = "The database PLACE/pbm.db cannot be used: the disk can only be read."
    assert mounted("spiro move 101 alice alice-secret e3:+").startswith(why)
    assert mounted("status") == why
    assert mounted("doctor").startswith(f"database: {why} Mount its disk so that it can be written.")
    assert mounted("backup /tmp/copy") == "PLACE/pbm.db cannot be copied: the disk can only be read."


def test_the_database_is_private_and_in_wal_mode(board):
    path = board.folder / "pbm.db"
    assert path.stat().st_mode & 0o777 == 0o600
    assert sql(path, "PRAGMA journal_mode") == [("wal",)]
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    assert sql(path, "PRAGMA foreign_key_check") == []


def test_without_pbm_db_the_database_is_in_the_data_folder_of_the_user(shell, tmp_path):
    shell.done("signup", "alice", "alice-secret", PBM_DB="", HOME=str(tmp_path / "home"))
    assert (tmp_path / "home" / ".local" / "share" / "pbm" / "pbm.db").exists()


def test_where_there_can_be_no_data_folder_a_command_says_what_to_do(shell, tmp_path, monkeypatch):
    def said():
        return " ".join(shell.refused("signup", "alice", "alice-secret", PBM_DB="", HOME=f"{tmp_path}/home").split())

    (tmp_path / "home").touch()
    why = "cannot be made: a part of the path is no folder. Set PBM_DB to a path."
    assert said().startswith(f"The folder {tmp_path}/home/.local/share/pbm {why}")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it does where nobody knows the user
    assert said().startswith("This user has no home folder; set PBM_DB to a path.")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--help"], "play-by-mail server"),
        (["-h"], "play-by-mail server"),
        (["spiro", "--help"], "Spiro"),
        (["spiro", "move", "--help"], "GAME move BOARD USERID PASSWORD MOVE[#n]"),
        (["spiro", "chall", "-h"], "GAME challenge [-options] USERID1 USERID2"),
        (["help", "tutorial"], "signup alice"),
        (["help", "SPIRO"], "Spiro"),
        (["help", "change"], "change password USERID OLD NEW"),
        (["help", "change", "password"], "change password USERID OLD NEW"),
        (["spiro", "help", "move"], "GAME move BOARD USERID PASSWORD MOVE[#n]"),
        (["help", "dice"], "HMAC-SHA256"),
        (["signup", "carol", "--help"], "signup USERID PASSWORD [ADDRESSES]..."),
        (["dice", "spiro", "101", "-h"], "dice GAME [BOARD]"),
        (["list", "spiro", "--help"], "list [GAME]..."),
        (["outbox", "--help"], "the next flush sends them."),
        (["robots", "ADD", "--level=3", "-h"], "--level N"),
        (["help", "users", "move"], "MOVE[#n]"),
        (["help", "wait", "boards", "mend"], "Usage: pbm boards mend [OPTIONS] GAME BOARD"),
        (["help", "wait", "boards", "mend"], "--until"),
        (["boards", "remove", "spiro", "101", "--help"], "Usage: pbm boards remove [OPTIONS] GAME BOARD"),
        (["users", "alice", "--help"], "Usage: pbm users COMMAND"),
        (["HELP", "serve"], "--lmtp"),
        (["help", "referee"], "\n  undo             back to"),
        (["spiro", "help"], "Spiro"),
    ],
)
def test_help_on_a_command_a_game_or_a_topic_is_told_without_a_database(shell, words, text):
    said = shell.done(*words)
    assert text in said
    assert max(map(len, said.splitlines())) <= 78
    assert not (shell.folder / "pbm.db").exists()


def test_pbm_alone_shows_the_overview_tells_its_version_and_has_help_on_several_commands_in_one_text(shell):
    assert shell.run().stderr == shell.run("help").stdout
    error = json.loads(shell.run("--json").stdout)
    assert error == {"error": "There is no command; `pbm help commands` lists all commands.", "status": 2}
    assert shell.done("--version") == f"pbm {version('pbm-server')}\n"
    assert shell.json("--version") == {"reply": f"pbm {version('pbm-server')}"}
    reply = shell.json("help", "outbox", "flush", "move")["reply"]
    assert reply.index("Usage: pbm outbox flush") < reply.index("GAME move BOARD")


def test_whoever_interrupts_a_command_that_is_still_being_loaded_sees_no_traceback(monkeypatch, capsys):
    class Interrupted:
        @staticmethod
        def find_spec(name, *_):
            if name == "pbm.shell":
                raise KeyboardInterrupt

    monkeypatch.setattr(sys, "meta_path", [Interrupted, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "pbm.shell", raising=False)
    monkeypatch.delattr(pbm, "shell", raising=False)
    assert run(["help"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_game_is_a_program_of_its_own_name(board):
    code = "import sys; sys.argv = ['/some/where/spiro', 'show', '101']; from pbm.__main__ import *; main_of_game()"
    assert board.python("-c", code).stdout == board.done("spiro", "show", "101")


def test_a_fault_of_ours_is_told_in_a_line(board):
    sql(board.folder / "pbm.db", "UPDATE boards SET options = '-nonsense'")
    assert board.refused("spiro", "show", "101")


UNPRINTED = "The command was done, but its answer cannot be printed: {}.\n"


@pytest.mark.parametrize(
    "line", ["spiro move 101 alice alice-secret e3:+", "spiro move 101 alice alice-secret e3:+ --json"]
)
@pytest.mark.parametrize(
    ("out", "why"), [(">/dev/full", "the disk is full"), ("1</dev/null", "it is not open for that")]
)
def test_a_move_whose_answer_cannot_be_printed_is_said_to_be_done(board, line, out, why):
    done = run_by_sh(board, f"{line} {out}")
    assert (done.returncode, done.stderr) == (0, UNPRINTED.format(why))
    assert board.json("spiro", "show", "101")["moves"] == 1


def test_a_move_is_said_to_be_done_if_whoever_reads_the_answer_goes_away(board):
    command = [sys.executable, "-m", "pbm", *"spiro move 101 alice alice-secret e3:+".split()]
    with subprocess.Popen(command, env=board.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read().decode() == UNPRINTED.format("nobody reads it")
        assert process.wait(PATIENCE) == 0
    assert board.json("spiro", "show", "101")["moves"] == 1


def test_a_move_is_done_without_a_word_if_standard_output_is_closed(board):
    done = run_by_sh(board, "spiro move 101 alice alice-secret e3:+ >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert board.json("spiro", "show", "101")["moves"] == 1


@pytest.mark.parametrize("line", ["outbox list", "export spiro 101"])
def test_an_operator_s_command_whose_answer_cannot_be_printed_is_said_to_be_done(board, line):
    done = run_by_sh(board, f"{line} >/dev/full")
    assert (done.returncode, done.stderr) == (1, UNPRINTED.format("the disk is full"))


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_refusal_that_cannot_be_printed_goes_to_standard_error(board, option):
    done = run_by_sh(board, f"spiro move 101 bob bob-secret e3:+ {option} >/dev/full")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "It is not your turn; alice is to move.")


def run_by_sh(shell, line):
    """Run `pbm` as a process by a line that says where its output goes."""
    words = ["sh", "-c", f"{sys.executable} -m pbm {line}"]
    return subprocess.run(words, env=shell.environment, stderr=subprocess.PIPE, text=True, check=False)


def test_a_reader_who_goes_away_is_no_fault(board):
    command = [sys.executable, "-m", "pbm", "help", "commands"]
    with subprocess.Popen(command, env=board.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 1


def test_programs_that_start_at_once_make_one_database(shell):
    command = [sys.executable, "-m", "pbm", "signup"]
    started = [
        subprocess.Popen([*command, f"user{number}", "good-secret"], env=shell.environment, stdout=subprocess.DEVNULL)
        for number in range(4)
    ]
    assert [process.wait(PATIENCE) for process in started] == [0] * 4


NOT_NEEDED = (
    *("importlib.metadata", "pbm.store.schema", "random", "secrets", "sqlite_utils", "aiosmtpd", "email.message"),
    *("smtplib", "pbm.robots", "pbm.robot_players.tasks"),
)


@pytest.mark.parametrize(
    ("line", "others"),
    [
        ("symple move 101 alice alice-secret c3", ("pbm.actions.challenges", "pbm.actions.lists")),
        ("symple show 101", ("pbm.actions.play",)),
        ("symple games bob", ("pbm.actions.play",)),
    ],
)
def test_a_command_imports_what_it_needs_and_no_more(board, line, others):
    board.run("symple", "challenge", "-size=5", "alice", "bob")
    code = "import sys; from pbm import shell; shell.main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = board.python("-c", code, *line.split())
    assert "oard" in done.stdout
    assert "pbm.store" in done.stderr.split()
    assert {*NOT_NEEDED, *others}.isdisjoint(done.stderr.split())
