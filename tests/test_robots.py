"""Waiting for boards, and programs that play (docs/command-language.md, section 9)."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from pbm.refusals import Refused
from pbm.robot_players import scripts, waiting
from pbm.store import Store
from pbm.store.base import BUSY_SECONDS
from pbm.store.boards import Boards

from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.fixtures import set_up
from helpers.patience import PATIENCE, until, until_it_waits
from helpers.robots import program

SMALL = ("symple", "challenge", "-size=5", "alice", "bob")


@set_up
def board(shell):
    """alice and bob on board 101 of small Symple, alice to move."""
    shell.sign_up("alice", "bob", "carol", has_mail=True)
    shell.run(*SMALL)


def start(shell, *args):
    """A command that goes on while the test does."""
    command = [sys.executable, "-m", "pbm", *args]
    return subprocess.Popen(
        command, env=shell.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def start_waiting(shell, *args):
    """A command that has looked at the database, and waits to look again."""
    process = start(shell, *args)
    until_it_waits(process, shell.folder / "pbm.db")
    return process


def move(shell, name, text, board="101"):
    shell.done("symple", "move", board, name, PASSWORDS[name], text)


def ended(process):
    """Status, output and errors of a command that has to end by itself."""
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in out + err
    return process.returncode, out, err


# What is waited for


@pytest.fixture
def watched(pair):
    """What looks at alice and bob's board see, through a connection of their own."""
    with Store(pair.store.path) as store:
        rows = [store.boards.get("spiro", "101")]

        def looks(until):
            return scripts.looks(store, rows, waiting.condition(until, rows))

        yield looks


def numbers(found):
    return [row.board for row in found]


def test_what_was_so_before_is_no_change_but_a_turn_and_a_move_before_the_first_look_is_one(watched, pair):
    assert list(islice(watched("change"), 3)) == [[], [], []]
    assert numbers(next(watched("turn=ALICE"))) == ["101"]
    looks = watched("change")
    pair.move("alice", "e3:+")
    assert numbers(next(looks)) == ["101"]


REMOVED = "spiro move 101 alice alice-secret resign"
"""Before both have moved, that leaves no board."""


@pytest.mark.parametrize(
    ("until", "event", "is_seen"),
    [
        ("change", "spiro move 101 alice alice-secret e3:+", True),
        ("change", "spiro challenge alice bob", False),  # on another board
        *((until, REMOVED, True) for until in ("change", "over", "turn=bob")),
    ],
)
def test_what_is_waited_for_is_seen_at_the_next_look(watched, pair, until, event, is_seen):
    looks = watched(until)
    assert next(looks) == []
    pair.say(event)
    assert numbers(next(looks)) == ["101"] * is_seen


def test_the_end_of_the_game_ends_the_wait_for_a_turn(watched, pair):
    pair.move("alice", "e3:+")
    pair.move("bob", legal(pair))
    waiting = [watched(until) for until in ("turn=bob", "over")]
    assert [next(looks) for looks in waiting] == [[], []]
    pair.move("alice", "resign")
    assert [numbers(next(looks)) for looks in waiting] == [["101"]] * 2


def legal(club):
    """Some legal move on board 101."""
    return next(stored_board(club.store, "spiro", "101").state.moves())


@pytest.mark.parametrize(
    ("until", "why"),
    [
        *((until, "One can wait until change, over or turn=USERID") for until in ("", "turn", "turn=", "tomorrow")),
        ("over=alice", "One can wait until change, over or turn=USERID"),
        ("turn=carol", "carol does not play on 101"),
    ],
)
def test_what_cannot_happen_is_not_waited_for(watched, until, why):
    with pytest.raises(Refused, match=why):
        watched(until)


def test_a_turn_is_waited_for_on_those_boards_on_which_one_plays(pair):
    pair.say("spiro challenge bob carol")
    rows = [pair.store.boards.get("spiro", number) for number in ("101", "102")]
    happened = waiting.condition("turn=carol", rows)
    assert not happened(rows[0], rows[0]._replace(turn=None, ended=pair.time))
    assert happened(rows[1], rows[1]._replace(turn=None, ended=pair.time))
    assert happened(rows[1], rows[1]._replace(turn="carol"))


def test_a_look_reads_the_boards_only_if_somebody_has_written(watched, pair, monkeypatch):
    read = []
    whole = Boards.get
    monkeypatch.setattr(Boards, "get", lambda boards, *name: read.append(name) or whole(boards, *name))
    looks = watched("over")
    for _ in range(50):
        next(looks)
    assert len(read) == 1
    pair.say("signup dave dave-secret")
    next(looks)
    assert len(read) == 2


# A whole pool


@pytest.fixture
def pool(board):
    """What looks at the pool s see, in which alice, bob and carol play two rounds, the first without carol."""
    board.done("tournament", "symple", "s", "alice", "bob", "carol", "--type=swiss", "--rounds=2", "-size=5")
    with Store(board.folder / "pbm.db") as store:
        yield lambda until: scripts.look_at_pool(store, "symple", "s", until)


def adjudicate(shell, number):
    shell.done("tournament", "symple", "s", "adjudicate", number, "draw")


def test_the_wait_for_a_pool_ends_with_its_last_game_and_not_with_the_first(pool, board):
    looks = pool("over")
    assert next(looks) == []
    adjudicate(board, "s1")
    assert next(looks) == []
    adjudicate(board, "s2")
    assert numbers(next(looks)) == ["s1", "s2"]
    assert numbers(next(pool("over"))) == ["s1", "s2"]


def test_a_board_that_begins_in_a_pool_is_a_change_of_it(pool, board):
    looks = pool("change")
    assert next(looks) == []
    move(board, board.json("symple", "show", "s1")["turn"], "c3", "s1")
    assert numbers(next(looks)) == ["s1"]
    adjudicate(board, "s1")
    assert numbers(next(looks)) == ["s1", "s2"]


def test_a_turn_in_a_pool_is_waited_for_on_boards_that_begin_later_until_the_tournament_is_over(pool, board):
    looks = pool("turn=carol")
    assert next(looks) == []  # carol has a bye
    adjudicate(board, "s1")
    mover = board.json("symple", "show", "s2")["turn"]
    if mover != "carol":
        assert next(looks) == []
        move(board, mover, "c3", "s2")
    assert numbers(next(looks)) == ["s2"]
    adjudicate(board, "s2")
    assert numbers(next(looks)) == ["s1", "s2"]


def test_a_game_that_is_cancelled_does_not_end_the_wait_for_its_pool(pool, board):
    looks = pool("over")
    board.done("tournament", "symple", "s", "adjudicate", "s1", "cancel")
    assert next(looks) == []
    adjudicate(board, "s2")
    assert numbers(next(looks)) == ["s1", "s2"]


def test_pbm_wait_takes_pools_beside_boards_and_lists_what_was_removed(pool, board):
    shown = board.json("wait", "symple", "101", "S", "--until=turn=alice")
    assert "101" in [each["board"] for each in shown["boards"]]
    waiting = start_waiting(board, "wait", "symple", "s", "--until=over")
    board.done("tournament", "symple", "s", "cancel")
    assert ended(waiting) == (0, "Board  Moves  Players  Status\ns1                     removed\n", "")


def test_the_wait_for_a_board_and_a_pool_ends_with_what_happens_in_one_of_them(pool, board):
    mover = board.json("symple", "show", "s1")["turn"]
    [other] = {"alice", "bob"} - {mover}
    if mover == "alice":  # who is to move on board 101, too
        move(board, "alice", "c3")
    shown = board.json("wait", "symple", "101", "s", f"--until=turn={other}", "--timeout=0.1")
    assert [each["board"] for each in shown["boards"]] == ["101"]


def test_a_pool_that_is_not_there_or_in_which_somebody_does_not_play_is_not_waited_for(board):
    board.done("tournament", "symple", "s", "alice", "bob")
    assert board.refused("wait", "symple", "t") == "There is no pool 't' of Symple.\n"
    assert board.refused("wait", "symple", "s", "--until=turn=carol") == "carol does not play in pool s of Symple.\n"
    assert "One can wait until" in board.refused("wait", "symple", "s", "--until=tomorrow")


# pbm wait


def test_wait_ends_when_somebody_moves_and_lists_the_board(board):
    board.run(*SMALL)
    waiting = start_waiting(board, "wait", "symple", "101", "102")
    assert waiting.poll() is None
    move(board, "alice", "c3", "102")
    assert ended(waiting) == (0, "Board  Moves  Players    Status\n102    1      alice bob  bob's turn\n", "")


def test_wait_prints_whole_boards_in_json_and_says_when_it_times_out(board):
    shown = board.json("symple", "show", "101")
    assert board.json("wait", "symple", "101", "--until", "turn=alice") == {"boards": [shown], "gone": []}
    begin = time.monotonic()
    assert board.refused("wait", "symple", "101", "--timeout", "0.3") == "Nothing has happened within 0.3 seconds.\n"
    assert time.monotonic() - begin > 0.3
    done = board.run("wait", "symple", "101", "--timeout=0", "--json")
    assert json.loads(done.stdout) == {"error": "Nothing has happened within 0 seconds.", "status": 1}
    assert (done.returncode, done.stderr) == (1, "")


def test_wait_tells_that_a_board_was_removed(board):
    waiting = start_waiting(board, "wait", "symple", "101", "--until=over", "--json")
    move(board, "alice", "resign")
    assert ended(waiting) == (0, '{"boards": [], "gone": ["101"]}\n', "")


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["wait", "symple"], 2, "Missing argument 'BOARD...'."),
        (["wait", "chess", "101"], 2, "There is no game 'chess'"),
        (["wait", "symple", "999"], 1, "There is no Symple board '999'."),
        (["wait", "symple", "../x"], 1, "There is no Symple board '../x'."),
        (["wait", "symple", "101", "--timeout=soon"], 1, "Invalid value for '--timeout'"),
        (["wait", "symple", "101", "--timeout=-1"], 1, "Invalid value for '--timeout'"),
        (["wait", "symple", "101", "--timeout=nan"], 1, "Invalid value for '--timeout': 'nan' is no number."),
        (["wait", "symple", "101", "--timeout=inf"], 1, "Invalid value for '--timeout'"),
        (["play", "symple", "101", "alice", "--with=cat", "--timeout=nan"], 1, "'nan' is no number."),
        (["wait", "symple", "101", "--untill=over"], 1, "--untill"),
        (["play", "symple", "101", "alice"], 2, "Missing option '--with'."),
        (["play", "symple", "999", "alice", "--with=cat"], 1, "There is no Symple board '999'."),
        (["play", "symple", "101", "carol", "--with=cat"], 1, "carol does not play on this board; alice and bob do."),
        (["play", "symple", "101", "alice", "--with="], 1, "No program is named"),
        (["play", "symple", "101", "alice", "--with=cat '"], 1, "no closing quotation"),
        (["play", "symple", "101", "alice", "--with=/no/robot"], 1, "The program /no/robot cannot be started"),
        (["play", "symple", "101", "alice", "--with=/"], 1, "this user is not allowed to"),
    ],
)  # fmt: skip
def test_a_wrong_command_is_explained(board, words, status, text):
    assert text in board.refused(*words, status=status)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_wait_that_is_ended_says_nothing(board, number, status):
    waiting = start_waiting(board, "wait", "symple", "101")
    waiting.send_signal(number)
    code, out, err = ended(waiting)
    assert (code, out, err.strip()) == (status, "", "")


def test_who_waits_holds_nobody_up_and_uses_hardly_any_time(board):
    waiting = start_waiting(board, "wait", "symple", "101", "--until=over")
    before = used(waiting.pid)
    begin = time.monotonic()
    board.sign_up("dave")
    assert time.monotonic() - begin < BUSY_SECONDS
    time.sleep(1)
    assert used(waiting.pid) - before < 0.15
    waiting.kill()
    waiting.communicate()


def used(pid):
    """The seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# pbm play


FIRST_FREE = """
for line in sys.stdin:
    if line == "quit\\n":
        open("{log}", "a").write(line)
        break
    state = json.loads(line)
    open("{log}", "a").write(str(state["moves"]) + " ")
    names = [column + str(row) for row in range(1, 6) for column in "abcde"]
    print(next(name for name in names if name not in state["cells"]), flush=True)
"""


@pytest.fixture
def played(board, capfd):
    """What comes of it when a program plays for alice on board 101; its own standard error comes first."""

    def run(*args, text):
        capfd.readouterr()
        done = board.run("play", "symple", "101", "alice", "--with", program(board.folder, text), *args)
        done.stderr = capfd.readouterr().err + done.stderr
        return done

    return run


def answering(*lines):
    """A program that gives these answers, and says what it is asked on its standard error."""
    return f"for answer in {lines!r}:\n    sys.stderr.write(sys.stdin.readline())\n    print(answer, flush=True)\n"


def test_two_programs_play_a_whole_game(board, tmp_path):
    robots = []
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
        text = program(tmp_path / name, FIRST_FREE.format(log=tmp_path / name / "log"))
        robots.append(start(board, "play", "symple", "101", name, "--with", text))
    statuses = [ended(robot) for robot in robots]
    assert [(status, err) for status, _, err in statuses] == [(0, ""), (0, "")]
    shown = board.json("symple", "show", "101")
    assert shown["over"]
    status = f"won by {shown['winner']}" if shown["winner"] != "draw" else "tie"
    assert statuses[0][1].splitlines()[1].split(None, 2) == ["101", str(shown["moves"]), f"alice bob  {status}"]
    assert (tmp_path / "alice" / "log").read_text() == "0 2 4 6 8 10 12 14 16 18 20 22 24 quit\n"


def test_the_program_is_sent_what_the_referee_calls_the_state(board, played):
    done = played(text=answering("resign"))
    sent = done.stderr.splitlines()[0]
    state = board.run("referee", "symple", stdin="new -size=5\nstate\n").stdout.splitlines()[1]
    assert f"= {sent}" == state


def test_a_refused_move_is_answered_with_the_reason_and_the_third_in_a_row_ends_it(board, played):
    done = played(text=answering("c9", "", "nonsense\\x00", "c3"))
    asked = done.stderr.splitlines()
    assert done.returncode == 1
    assert [line[:2] for line in asked[:3]] == ['{"', "? ", "? "]
    assert "c9" in asked[1]
    assert asked[3].startswith("3 moves of the program in a row were refused. The last one: ")
    assert board.json("symple", "show", "101")["moves"] == 0


def test_two_refused_moves_are_forgiven(board):
    robot = program(board.folder, answering("z9", "z9", "c3"))
    waiting = start(board, "play", "symple", "101", "alice", "--with", robot)
    board.done("wait", "symple", "101", "--until=turn=bob")
    waiting.terminate()
    ended(waiting)


def test_a_move_of_a_program_is_mailed_to_the_opponent_only(board, played):
    before = board.json("outbox", "list")["mails"]
    played(text=answering("c3"))
    mails = board.json("outbox", "list")["mails"][len(before) :]
    assert [(mail["to"], mail["subject"]) for mail in mails] == [("bob@players.example", "Symple Board 101 bob")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sys.exit(3)", "The program has ended, or closed its output, before the game was over."),
        ("sys.stdin.readline()", "The program has ended, or closed its output, before the game was over."),
        ("import os\nos.close(0)\nos.close(1)\ntime.sleep(1e6)", "The program has ended, or closed its output"),
        ("time.sleep(1e6)", "The program has not answered within 1 second."),
        ("print('x' * 100000, flush=True)\ntime.sleep(1e6)", "more than 10000 characters in a line"),
        ("sys.stdout.buffer.write(b'\\xff\\n' * 3)\nsys.stdout.flush()\ntime.sleep(1e6)", "3 moves of the program"),
    ],
)
def test_a_program_that_fails_ends_the_command_and_changes_nothing(board, text, reason):
    timeout = ["--timeout=1"] if "1 second" in reason else []
    assert reason in board.refused("play", "symple", "101", "alice", "--with", program(board.folder, text), *timeout)
    assert board.json("symple", "show", "101")["moves"] == 0


def test_a_program_that_fails_is_an_error_in_json_and_one_that_ends_while_its_opponent_thinks_ends_the_command(played):
    done = played("--json", text="sys.exit()")
    assert json.loads(done.stdout)["status"] == 1
    assert (done.returncode, done.stderr) == (1, "")
    done = played(text=answering("c3"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[1:] == ["The program has ended, or closed its output, before the game was over."]


def test_a_game_that_is_over_is_told_to_the_program_at_once(board, played):
    for name, text in (("alice", "c3"), ("bob", "a1"), ("alice", "resign")):
        move(board, name, text)
    done = played(text="print(sys.stdin.read(), file=sys.stderr)")
    assert (done.returncode, done.stderr.strip()) == (0, "quit")
    assert done.stdout.endswith("won by bob\n")


def test_the_end_ends_the_command_while_the_program_waits_for_its_turn(board):
    for name, text in (("alice", "c3"), ("bob", "a1"), ("alice", "e5")):
        move(board, name, text)
    robot = program(board.folder, "sys.stdin.read()")
    waiting = start_waiting(board, "play", "symple", "101", "alice", "--with", robot)
    move(board, "bob", "resign")
    assert ended(waiting)[0] == 0


def test_a_program_may_leave_the_board_before_the_first_moves(played):
    done = played("--json", text=answering("resign"))
    assert (done.returncode, json.loads(done.stdout)) == (0, {"boards": [], "gone": ["101"]})


def test_a_move_is_not_played_in_a_position_for_which_it_was_not_chosen(board, played):
    text = (
        "import contextlib, io\n"
        "from pbm import shell\n"
        "line = sys.stdin.readline()\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    shell.main('symple move 101 alice alice-secret a1'.split())\n"
        "    shell.main('symple move 101 bob bob-secret b2'.split())\n"
        "print('c3', flush=True)\n"
        "print(json.loads(sys.stdin.readline())['moves'], file=sys.stderr)\n"
    )
    assert played(text=text).stderr.splitlines()[0] == "2"
    assert "c3" not in board.done("symple", "show", "101", "--json")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_ended_ends_its_program_and_says_nothing(board, tmp_path, number):
    text = f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(1e6)"
    robot = program(tmp_path, text)
    waiting = start(board, "play", "symple", "101", "alice", "--with", robot)
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    waiting.send_signal(number)
    status, out, err = ended(waiting)
    assert (status, out, err.strip()) == (128 + number, "", "")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.long
def test_programs_play_games_with_dice(shell, tmp_path):
    shell.sign_up("alice", "bob")
    shell.run("spiro", "challenge", "-small", "-pieces=1", "alice", "bob")
    text = (
        "import subprocess\n"
        "for line in sys.stdin:\n"
        "    if line == 'quit\\n': break\n"
        "    asked = f'new -small -pieces=1\\nposition {line}moves 1\\n'\n"
        f"    done = subprocess.run([{sys.executable!r}, '-m', 'pbm', 'referee', 'spiro'], input=asked,\n"
        "                          capture_output=True, text=True)\n"
        "    print(done.stdout.splitlines()[-1].split()[2], flush=True)\n"
    )
    words = "--with", program(tmp_path, text)
    robots = [start(shell, "play", "spiro", "101", name, *words) for name in ("alice", "bob")]
    assert [ended(robot)[::2] for robot in robots] == [(0, ""), (0, "")]
