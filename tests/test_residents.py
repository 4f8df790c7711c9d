"""Robots among the users: who they are, what they do on boards, and that nothing is lost or done twice."""

import json
import os
import pty
import resource
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email import message_from_string
from pathlib import Path
from random import Random

import pytest

from pbm.actions.analyses import choices
from pbm.actions.cleanup import clean_up
from pbm.blocks import drawn_curve
from pbm.console import let_server_go_first, wait_for_end
from pbm.language.line import Line
from pbm.levels import LEVEL_NUMBERS
from pbm.refusals import Refused
from pbm.robot_players import analysis, tasks
from pbm.robot_players.analysis import Critic, curve
from pbm.robot_players.tasks import claim_next_task, do_task, play_all
from pbm.robots.thinking import Thought
from pbm.runner import run
from pbm.session import Session
from pbm.store import Robot, Store
from pbm.store.robots import Claim, Task

from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.mail import handle, numbered_mail
from helpers.patience import PATIENCE
from helpers.robots import Mind, program
from helpers.servers import converse, inbox

ROBOTS = ["robot", "robot1", "robot2", "robot3", "robot4", "robot5", "robot6"]


@pytest.fixture
def mind(monkeypatch):
    mind = Mind()
    monkeypatch.setattr(tasks, "Player", mind)
    return mind


@pytest.fixture
def against(club, mind):
    """alice on Symple 101 against robot2, who is to move."""
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice robot2")
    club.say(f"symple move 101 alice {PASSWORDS['alice']} c3")
    return club


def at(club, board="101", game="symple"):
    return stored_board(club.store, game, board)


def plays(club):
    """All that robots have to do now is done; how much that was."""
    return play_all(Session(club.server))


def moves(club, board="101"):
    return [turn.text for turn in at(club, board).turns]


def signs(club, line, comment="", name="alice"):
    return club.say(line.replace("ME", f"{name} {PASSWORDS[name]}"), comment)


def add(club, robot):
    with club.store.writing():
        club.store.users.add(robot.userid, "", club.time)
        club.store.robots.save(robot)


# Who they are


def test_a_new_database_has_robots_of_all_levels(shell):
    listed = shell.json("robots")["robots"]
    assert [(one["userid"], one["level"]) for one in listed] == list(zip(ROBOTS, (3, 1, 2, 3, 4, 5, 6), strict=True))
    assert not any(one["paused"] for one in listed)


WITH_SEVEN_LEVELS = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec, module_from_spec
spec = find_spec("pbm.levels")
rows = open(spec.origin).read().splitlines(keepends=True)
last = next(number for number, row in enumerate(rows) if "(Level(None),)" in row)
sys.modules["pbm.levels"] = levels = module_from_spec(spec)
exec(compile("".join([*rows[:last], *rows[last - 1 :]]), spec.origin, "exec"), levels.__dict__)
from pbm.__main__ import run
for line in sys.argv[1:]:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        status = run(line.split())
    print(json.dumps([status, out.getvalue()]))
"""


def test_a_seventh_level_is_one_row_of_one_table(shell):
    commands = {
        "robots": "robot6  level 6  all    0 / 1000\nrobot7  level 7  all    0 / 1000\n",
        "robots add deep --level=7": "deep is a robot: level 7",
        "robots add deeper --level=8": "8 is not in the range 1<=x<=7.",
        "robots add --help": "How well it plays: 1 to 7.",
        "robot --level=7 --seed=1": "",
        "robot --level=8": "'8' is not one of '1', '2', '3', '4', '5', '6', '7'.",
    }
    answers = [json.loads(line) for line in shell.python("-c", WITH_SEVEN_LEVELS, *commands).stdout.splitlines()]
    assert [status for status, _ in answers] == [0, 0, 1, 0, 0, 1]
    for (_, answer), said in zip(answers, commands.values(), strict=True):
        assert said in answer


def test_what_is_printed_names_the_highest_level_that_there_is():
    top = Path(__file__).parents[1]
    last = LEVEL_NUMBERS[-1]
    for name, text in (
        ("README.md", f"`robot1` to `robot{last}`"),
        ("help/overview.txt", f"robot1 to robot{last}"),
        ("help/tutorial.txt", f"robot1 to robot{last}"),
        ("help/json.txt", f"level (1 to {last}, or"),
        ("docs/json-schema.json", f'"minimum": 1, "maximum": {last} }}'),
        ("docs/operating.md", f"a level from 1 to {last}"),
        ("docs/operating.md", f"`robot1` to `robot{last}`"),
        ("docs/robots.md", f"--level=1..{last}"),
        ("docs/robots.md", f"at a level from 1 to {last}"),
    ):
        assert text in (top / name).read_text(), name


def test_nobody_can_sign_as_a_robot_or_become_one(against):
    for line in (
        "symple move 101 robot2 secret-7 a1",
        "symple move 101 robot2 '' a1",
        "change password robot2 secret-7 secret-8",
        "signoff robot2 secret-7",
        "vacation robot2 secret-7",
    ):
        assert against.why_refused(line) == "The userid or the password is wrong."
    assert "There is a user robot2 already" in against.why_refused("signup robot2 secret-7")
    against.say("reset robot2")
    assert "This code is wrong" in against.why_refused("reset robot2 0123 secret-7")
    assert not against.mails("robot2")


def test_people_are_counted_and_listed_without_robots_which_have_no_password_and_no_address(players):
    assert players.json("status")["users"] == 2
    assert [user["userid"] for user in players.json("users")["users"]] == ["alice", "bob"]
    assert players.json("users", "robot1")["users"][0]["addresses"] == []
    assert "robot" not in players.done("spiro", "standings")
    for line in ("users password robot1", "addresses add robot1 robot1@players.example"):
        why = players.refused(*line.split(), stdin="secret-7\n")
        assert why == "robot1 is a robot: it has no password and no address.\n"


def test_an_operator_adds_changes_pauses_and_removes_robots(shell):
    def robot(*words):
        [found] = shell.json("robots", *words)["robots"]
        return found

    assert robot("add", "Deep", "--level=5", "--games=symple,spiro", "--most=7", "--unrated") == {
        "userid": "deep", "level": 5, "program": None, "games": ["symple", "spiro"], "rated": False, "boards": 0,
        "most": 7, "seconds": 2, "paused": False, "since": None, "why": None,
    }  # fmt: skip
    changed = robot("change", "deep", "--level=1", "--games=all", "--most=9")
    assert (changed["level"], changed["most"]) == (1, 9)
    assert "papagra" in changed["games"]
    assert robot("pause", "deep")["paused"]
    assert shell.refused("robots", "pause", "deep").startswith("deep is paused already, since ")
    assert not robot("resume", "deep")["paused"]
    assert shell.refused("robots", "resume", "deep") == "deep is not paused.\n"
    removed = {"userid": "deep", "boards": [], "removals": [], "reply": "deep is removed."}
    assert shell.json("robots", "remove", "deep", "--yes") == removed
    assert shell.refused("robots", "pause", "deep") == "deep is no robot; `pbm robots` lists them.\n"
    assert "There is a user deep already" in shell.refused("robots", "add", "deep")  # a name is given out once


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "spiro"], "spiro is a word of the command language"),
        (["add", "guest-1"], "guest-1 is a word of the command language"),
        (["add", "x"], "A userid is 2 to 16 letters"),
        (["add", "robot1"], "There is a user robot1 already"),
        (["add", "deep", "--seconds=1e99"], "1e+99 is not in the range 0<x<=3600."),
        (["add", "deep", "--level=9"], "9 is not in the range 1<=x<=6."),
        (["add", "deep", "--level=2", "--with=robot"], "at a level, or by a program"),
        (["add", "deep", "--with="], "No program is named."),
        (["add", "deep", "--with=/no/such/program -x"], "/no/such/program cannot be started: it is not found"),
        (["change", "robot1", "--with=/etc/passwd"], "or you are not allowed to run it."),
        (["add", "deep", "--games=chess"], "There is no game 'chess'"),
        (["pause", "alice"], "alice is no robot"),
    ],
)
def test_what_cannot_be_a_robot_is_refused(shell, words, said):
    shell.sign_up("alice")
    assert said in shell.refused("robots", *words)


def test_robots_are_marked_wherever_boards_and_players_are_shown_and_people_are_not(against, mind):
    against.say("symple challenge -size=5 alice bob")
    assert "obot" not in against.text("symple show 102")
    assert "robots" not in against.say("symple show 102")[0].data
    assert "\nrobot2 is a robot, level 2.\n" in against.text("symple show 101")
    assert against.say("symple show 101")[0].data["robots"] == ["robot2"]
    for line in ("list symple", "symple games"):
        header, row = against.text(line).splitlines()[:2]
        assert header.split()[:5] == ["Board", "Moves", "Players", "Robot", "Status"]
        assert row.split()[:5] == ["101", "1", "alice", "robot2", "robot2"]
    plays(against)
    signs(against, "symple move 101 ME resign")
    header, *rows = against.text("symple standings").splitlines()[1:4]
    assert header.split()[:3] == ["Rank", "Name", "Robot"]
    assert rows[0].split()[:4] == ["1", "robot2", "level", "2"]
    [standings] = run(Line.read("symple standings"), lambda: Session(against.server, as_json=True))
    players = {one["userid"]: one for one in standings.data["players"]}
    assert (players["robot2"]["robot"], "robot" in players["alice"]) == (True, False)


def test_games_against_an_unrated_robot_are_unrated(against, mind):
    add(against, Robot("shy", 1, rated=False))
    against.say("symple challenge -size=5 shy alice")
    assert "This game is unrated: it is against a robot that is not rated." in against.text("symple show 102")
    plays(against)
    signs(against, "symple move 102 ME a2")
    plays(against)
    signs(against, "symple move 102 ME resign")
    assert against.say("symple show 102")[0].data["rated"] is False
    assert against.store.players.get("symple", "shy").rating is None


# Challenges


def test_a_user_has_so_many_boards_against_robots_at_once(against):
    for _ in range(4):
        against.say("spiro challenge -small robot1 alice")
    said = against.why_refused("spora challenge alice robot3")
    assert said == (
        "alice has 5 active boards against robots, and may not have more. Please end one first, by `resign` if need "
        "be; `all games alice` lists them."
    )
    against.say("spora challenge bob robot3")
    against.say("spora challenge alice bob")
    signs(against, "symple move 101 ME resign")
    plays(against)
    against.say("spora challenge alice robot3")


def test_the_operator_sets_how_many(shell):
    shell.sign_up("alice")
    for most, status in (("1", 0), ("1", 1), ("2", 0), ("none", 1)):
        done = shell.run("symple", "challenge", "alice", "robot1", PBM_ROBOT_BOARDS=most)
        assert done.returncode == status
    assert done.stderr.startswith("PBM_ROBOT_BOARDS is no number of boards: 'none'.\n")


def test_a_robot_takes_challenges_up_to_its_number_and_of_its_games_and_while_it_is_not_paused(against):
    add(against, Robot("deep", 1, games=("symple", "spiro"), most=1))
    add(against, Robot("tired", 1, paused=against.time))
    against.say("symple challenge alice deep")
    said = against.why_refused("symple challenge bob deep")
    assert said == "deep has 1 active board, and takes challenges only below 1."
    said = against.why_refused("spora challenge bob deep").splitlines()[0]
    assert said == "deep is a robot that does not play Spora; it plays Symple and Spiro."
    said = against.why_refused("spora challenge bob tired")
    assert said == "tired is a robot that is paused, and takes no challenges for now."


def test_a_robot_plays_in_no_tournament_of_a_game_that_it_does_not_play(shell):
    shell.sign_up("alice")
    shell.run("robots", "add", "deep", "--games=symple,spiro")
    why = "deep is a robot that does not play Spora; it plays Symple and Spiro.\n"
    assert shell.refused("tournament", "spora", "a", "alice", "deep") == why
    shell.done("tournament", "symple", "a", "alice", "deep")


def test_by_mail_nobody_starts_boards_of_robots_alone_and_challenges_count_as_ever(against):
    sender = "alice@players.example"
    assert "is started by the operator" in against.why_refused("spiro challenge robot1 robot2", sender=sender)
    stranger = against.why_refused("spiro challenge alice robot2", sender="zoe@players.example")
    assert stranger == "A challenge by mail has to come from an address that a user has confirmed."
    with against.store.writing():
        assert Session(against.server, sender).take("challenge", 49)
    against.say("spiro challenge -small alice robot1", sender=sender)
    assert "There were 50 challenges" in against.why_refused("spiro challenge alice robot1", sender=sender)


# What they do


def test_a_robot_moves_at_its_level_and_its_opponent_is_told_by_a_mail_to_answer(against, mind):
    assert plays(against) == 1
    assert (mind.limits["level"], mind.limits["seconds"]) == (2, 2)
    assert moves(against) == ["c3", "a1"]
    mail = against.mails("alice")[-1]
    assert mail.subject == "Symple Board 101 alice"
    assert mail.reply_to
    assert "I put my chance" not in mail.text
    assert handle(against.server, numbered_mail("Re: this", "e5"), None, [mail.reply_to]) == "command"
    assert moves(against) == ["c3", "a1", "e5"]
    assert plays(against) == 1


def test_two_robots_play_with_each_other_to_the_end_and_never_resign_where_dice_can_still_turn_the_game(club, mind):
    club.say("symple challenge -size=5 robot1 robot2")
    plays(club)
    assert at(club).is_over
    mind.chance = 0.0
    club.say("spiro challenge -small robot1 robot2")
    plays(club)
    assert at(club, game="spiro").row.reason == "rules"


def test_it_says_what_it_thinks_when_it_is_asked_and_never_otherwise(against, mind):
    mind.chance = 0.634
    signs(against, "symple chat 101 ME", "What do you think, robot?")
    plays(against)
    said = "robot2 writes:\n\nI play at level 2. I put my chance to win at 63%."
    assert against.mails("alice")[-1].text.count(said) == 1
    signs(against, "symple move 101 ME d4")
    plays(against)
    assert "robot2 writes" not in against.mails("alice")[-1].text
    against.say("symple challenge -size=5 -TALK robot1 alice")
    for move in ("c3", "d4"):
        plays(against)
        assert "robot1 writes:\n\nI play at level 1." in against.mails("alice")[-1].text
        signs(against, f"symple move 102 ME {move}")
    assert against.why_refused("symple challenge -talk alice bob") == "-talk is for boards on which a robot plays."


def test_no_robot_shows_two_people_how_their_game_would_go_on(against):
    against.say("symple challenge -size=5 alice bob")
    signs(against, "symple move 102 ME c3")
    signs(against, "symple move 102 ME a1", name="bob")
    for how in ("", " -talk"):
        assert against.why_refused(f"symple challenge --from=102#1{how} alice robot2") == (
            "Symple 102 is still being played; no robot takes part in what begins with its positions."
        )
    against.say("symple challenge --from=102#1 alice alice")
    assert "Symple 102 is still" in against.why_refused("symple challenge --from=103 alice robot2")
    for move in ("d4", "e5", "resign"):
        signs(against, f"symple move 103 ME {move}")
    assert against.why_refused(f"symple analyse 103 alice {PASSWORDS['alice']}") == (
        "It began with a position of board 102, on which two people still play."
    )
    against.say("symple challenge --from=101#1 alice robot2")
    signs(against, "symple move 102 ME resign")
    against.say("symple challenge --from=102#1 alice robot2")


@pytest.mark.parametrize(("chance", "is_drawn"), [(0.3, True), (0.44, True), (0.46, False), (0.6, False)])
def test_it_answers_the_proposal_of_a_draw_by_what_it_thinks(against, mind, chance, is_drawn):
    plays(against)
    mind.chance = 1 - chance  # of alice, who is to move
    signs(against, "symple move 101 ME propose")
    assert plays(against) == 1
    assert at(against).is_over == is_drawn
    assert at(against).row.vote is None
    if not is_drawn:
        assert "robot2 has rejected the proposal: a draw." in against.mails("alice")[-1].text


@pytest.mark.parametrize("has_answered", [False, True])
def test_it_consents_to_an_undo_of_a_move_which_is_taken_back_with_its_answer(against, has_answered):
    plays(against)
    signs(against, "symple move 101 ME d4")
    if has_answered:
        plays(against)
    assert len(moves(against)) == 3 + has_answered
    signs(against, "symple move 101 ME undo")
    assert plays(against) == 1
    assert moves(against) == ["c3", "a1"]
    assert at(against).mover == "alice"
    assert ("\nTaken back: d4, " in against.mails("alice")[-1].text) == has_answered


def test_what_a_person_has_not_played_yet_he_cannot_take_back_with_the_answer(club, mind):
    club.signed_up("alice")
    club.say("symple challenge -size=5 robot2 alice")
    plays(club)
    signs(club, "symple move 101 ME undo")
    plays(club)
    assert len(moves(club)) == 1


def test_it_resigns_when_it_has_had_no_hope_for_three_turns(against, mind):
    for chance in (0.01, 0.01, 0.3, 0.01, 0.0, 0.02):
        assert not at(against).is_over
        mind.chance = chance
        plays(against)
        if not at(against).is_over:
            signs(against, f"symple move 101 ME {next(at(against).state.moves())}")
    assert moves(against)[-1] == "Resign"
    assert at(against).winner == "alice"


@pytest.mark.parametrize(("chance", "is_hopeless"), [(0.02, True), (0.03, False)])
def test_it_has_no_hope_where_its_chance_is_two_in_a_hundred_or_less(against, mind, chance, is_hopeless):
    mind.chance = chance
    for _ in range(3):
        plays(against)
        if not at(against).is_over:
            signs(against, f"symple move 101 ME {next(at(against).state.moves())}")
    assert at(against).is_over == is_hopeless


def test_a_board_that_has_changed_meanwhile_is_thought_about_again(against, mind):
    plays(against)
    signs(against, "symple move 101 ME b2")
    mind.thoughts, mind.meanwhile = 0, lambda: signs(against, "symple move 101 ME undo")
    assert plays(against) == 1  # the undo, and not the move that was thought of
    assert mind.thoughts == 1
    assert moves(against) == ["c3", "a1"]


def test_a_board_that_is_left_while_a_robot_thinks_holds_up_no_other_one(against, mind, capsys):
    against.say("symple challenge -size=5 robot2 alice")
    mind.meanwhile = lambda: signs(against, "symple resign 101 ME")
    assert plays(against) == 1
    assert moves(against, "102")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: time.sleep(PATIENCE), "TimeoutError: it took more than 0.05 seconds"),
        (lambda: bytearray(2 * tasks.MOST_MEMORY_BYTES), "MemoryError: "),
    ],
)
def test_a_robot_that_fails_or_takes_too_much_time_or_memory_plays_at_random(
    against, mind, monkeypatch, capsys, meanwhile, said
):
    if "Timeout" in said:
        monkeypatch.setattr(tasks, "GRACE_SECONDS", -1.95)
    mind.meanwhile = meanwhile
    before = resource.getrlimit(resource.RLIMIT_DATA)[0]
    with tasks.limited_memory():
        assert plays(against) == 1
    assert len(moves(against)) == 2
    assert capsys.readouterr().err == f"robot2 could not think about symple 101 ({said}); it plays at random.\n"
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == before


def test_an_illegal_move_of_ours_is_not_sent(against, mind, monkeypatch, capsys):
    monkeypatch.setattr(mind, "think", lambda _: Thought("z9", 0.5))
    assert plays(against) == 1
    assert "could not think about symple 101 (Illegal: " in capsys.readouterr().err


def test_in_a_shell_whatever_goes_wrong_with_the_robot_the_move_is_played(typed, monkeypatch):
    monkeypatch.setattr(tasks, "do_task", lambda *_: 1 / 0)
    done = typed.run("symple", "move", "101", "alice", PASSWORDS["alice"], "c3")
    assert (done.returncode, done.stderr) == (0, "robot1 could not answer (ZeroDivisionError: division by zero).\n")
    assert "robot1's turn (black)." in done.stdout


@pytest.mark.parametrize(("before", "after"), [(0, 10), (15, 15)])
def test_a_process_that_thinks_stands_behind_all_others(monkeypatch, before, after):
    set_to = []
    monkeypatch.setattr(os, "getpriority", lambda *_: before)
    monkeypatch.setattr(os, "setpriority", lambda *one: set_to.append(one))
    let_server_go_first(tasks.NICENESS)
    assert set_to == [(os.PRIO_PROCESS, 0, after)]


def test_what_cannot_be_played_on_holds_up_no_other_board(against, capsys):
    against.say("symple challenge -size=5 robot1 bob")
    against.store.db.execute("UPDATE boards SET options = '-size=99' WHERE board = '101'")
    assert plays(against) == 1
    assert len(moves(against, "102")) == 1
    assert "robot2 cannot play on symple 101 (Refused: " in capsys.readouterr().err
    against.store.db.execute("UPDATE boards SET options = '-size=5' WHERE board = '101'")
    assert plays(against) == 0
    against.pass_time(minutes=11)
    assert plays(against) == 1


# First come, first served, and nobody twice


def next_opponent(club):
    """Whom a robot answers next, and does."""
    session = Session(club.server)
    task = claim_next_task(session)
    do_task(session, task)
    club.pass_time(seconds=1)
    return task.opponent


def test_nobody_is_answered_a_second_time_before_others_who_have_waited_as_long(club, mind):
    club.signed_up("alice", "bob", "carol")
    for opponent in ("alice", "alice", "alice", "bob", "bob"):
        club.say(f"symple challenge -size=5 robot1 {opponent}")
        club.pass_time(seconds=1)
    assert [next_opponent(club) for _ in range(2)] == ["alice", "bob"]
    club.say("symple challenge -size=5 robot2 carol")
    club.pass_time(seconds=1)
    assert [next_opponent(club) for _ in range(4)] == ["alice", "bob", "carol", "alice"]


def test_who_plays_goes_on_where_standard_input_is_no_pipe(monkeypatch):
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert not wait_for_end(0)


def test_a_robot_that_was_removed_a_moment_ago_has_no_task(against, mind, monkeypatch):
    session = Session(against.server)
    monkeypatch.setattr(session.store.robots, "among", lambda _: {})
    assert claim_next_task(session) is None


def test_what_a_living_process_has_claimed_is_left_to_it(against, mind):
    session = Session(against.server)
    task = claim_next_task(session)
    for process, is_free in ((1, False), (dead(), True), (os.getpid(), True)):
        with against.store.writing():
            against.store.robots.claim_task(task, Claim(process, against.time + timedelta(minutes=1)))
        assert (claim_next_task(session) == task) == is_free
    with against.store.writing():
        against.store.robots.claim_task(task, Claim(1, against.time + timedelta(minutes=1)))
    against.pass_time(minutes=2)
    assert claim_next_task(session) == task


def dead():
    """The number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


# Nobody loses by a robot's time


def test_no_time_is_counted_while_a_robot_is_awaited(against):
    against.say("spora challenge -size=5 --totaltime=1 robot1 alice")
    against.pass_time(days=100)
    assert clean_up(Session(against.server))[:3] == (0, 0, 0)
    waiting = against.say("all games alice")[0].data["boards"]
    assert {(board["waits_for"], board["days_left"]) for board in waiting} == {("robot1", None), ("robot2", None)}
    assert against.why_refused(f"symple nag 101 alice {PASSWORDS['alice']}").startswith("robot2 is a robot")
    assert plays(against) == 2
    against.pass_time(days=30)
    assert clean_up(Session(against.server)).forfeited == 2  # alice is to move on both


# Programs of the operator's


def with_program(club, folder, text, seconds=PATIENCE):
    """bob on Symple 101 against a program of the operator's, who is to move; nothing is mailed yet."""
    club.server = club.server._replace(operator="operator@players.example")
    club.signed_up("alice", "bob")
    add(club, Robot("deep", None, program(folder, text), seconds=seconds))
    club.say("symple challenge -size=5 deep bob")
    club.say("symple challenge -size=5 deep alice")


def test_a_program_plays_and_can_resign(club, tmp_path):
    with_program(club, tmp_path, "print('resign' if json.loads(sys.stdin.readline())['moves'] else 'B2', flush=True)\n")
    assert plays(club) == 2
    assert moves(club) == ["b2"]
    signs(club, "symple move 101 ME c3", name="bob")
    plays(club)
    assert moves(club) == ["b2", "c3", "Resign"]


FAILING = {
    "ends": ("sys.exit(3)\n", "has ended"),
    "cheats": ("for line in sys.stdin: print('z9', flush=True)\n", "no legal move"),
    "hangs": ("time.sleep(1e6)\n", "has not answered within 0.2 second"),
    "writes errors": ("while True: sys.stderr.write('x' * 100_000)\n", "has not answered within 0.2 second"),
}


@pytest.mark.parametrize(("text", "why"), FAILING.values(), ids=FAILING)
def test_a_program_that_fails_cheats_or_hangs_three_times_is_paused_and_nobody_forfeits(
    club, tmp_path, capfd, text, why
):
    with_program(club, tmp_path, text, seconds=0.2 if "0.2" in why else PATIENCE)
    assert plays(club) == 0
    assert len(capfd.readouterr().err) < 4 * 65536
    robot = club.store.robots.get("deep")
    assert robot.paused
    assert why in robot.why
    [told] = [mail for mail in club.mails() if mail.address == "operator@players.example"]
    assert "deep is paused" in told.text
    assert why in " ".join(told.text.split())
    for name, board in (("bob", "101"), ("alice", "102")):
        mail = club.mails(name)[-1]
        assert mail.subject == f"Symple Board {board} deep"
        assert "deep is paused, because its program has failed 3 times in a row." in mail.text
        assert str(tmp_path) not in mail.text
    shown = club.text("symple show 101")
    assert "\ndeep is a robot; it is paused, and no time is counted until it plays again.\n" in shown
    club.pass_time(days=99)
    assert clean_up(Session(club.server)).forfeited == 0
    assert plays(club) == 0
    with club.store.writing():
        club.store.robots.save(robot._replace(paused=None, why=None, level=1, program=None))
    assert plays(club) == 2


def test_a_program_that_fails_is_paused_although_another_board_of_it_is_damaged(club, tmp_path):
    with_program(club, tmp_path, "sys.exit(1)\n")
    club.store.db.execute("UPDATE boards SET options = '-size=4' WHERE board = '102'")
    plays(club)
    assert club.store.robots.get("deep").paused
    assert "deep is paused" in club.mails("bob")[-1].text


def test_a_program_that_was_put_right_after_two_failures_is_not_paused(club, tmp_path):
    with_program(
        club, tmp_path, "for move in ('z9', 'z8', 'c3'):\n    sys.stdin.readline()\n    print(move, flush=True)\n"
    )
    assert plays(club) == 2
    assert moves(club) == ["c3"]


def test_while_one_program_waits_other_programs_and_robots_play(club, mind, tmp_path):
    """Its answer comes when those on the other two boards have come, if they do within 5 seconds."""
    waiting = f"""
import sqlite3
db = sqlite3.connect({str(club.store.path)!r})
while db.execute("SELECT count(DISTINCT board) FROM turns").fetchone() != (2,):
    time.sleep(0.05)
print("b2", flush=True)
"""
    for name, text in (("deep", waiting), ("quick", "print('c3', flush=True)\n")):
        (tmp_path / name).mkdir()
        add(club, Robot(name, None, program(tmp_path / name, text), seconds=5))
    club.signed_up("alice", "bob", "carol")
    for robot, name in (("deep", "alice"), ("quick", "bob"), ("robot2", "carol")):
        club.say(f"symple challenge -size=5 {robot} {name}")
    assert plays(club) == 3
    assert [len(at(club, board).turns) for board in ("101", "102", "103")] == [1, 1, 1]
    assert not club.store.robots.get("deep").paused


@pytest.mark.parametrize("size", [1000, 65536, 10_000_000])
def test_of_what_a_program_writes_to_standard_error_the_beginning_is_kept(club, tmp_path, capfd, size):
    with_program(club, tmp_path, f"sys.stderr.write('é' + 'x' * ({size} - 2))\nprint('c3', flush=True)\n")
    assert plays(club) == 2
    said = capfd.readouterr().err
    kept = min(size, 65536)
    assert said.count("x") == 2 * (kept - 2)
    assert said.count("\nThe program writes more to standard error, which is dropped.\n") == 2 * (kept < size)
    assert said.startswith("éxxx")


def test_an_operator_sees_which_program_has_failed(shell):
    shell.sign_up("alice")
    path = shell.folder / "deep"
    path.touch(0o700)
    shell.run("robots", "add", "deep", f"--with={path}")
    path.unlink()
    shell.run("symple", "challenge", "deep", "alice")
    why = f"The program {path} cannot be started: there is no such file or folder."
    assert f"deep    {path}  all    1 / 1000  paused since" in shell.done("robots")
    assert shell.json("robots")["robots"][0]["why"] == why
    said = shell.run("status").stdout
    assert f"deep is paused, because its program has failed: {why} `pbm robots resume` lets it play." in said
    shell.run("robots", "change", "deep", "--level=1")
    shell.run("robots", "resume", "deep")
    shell.done("status")


def test_a_game_that_was_taken_in_from_elsewhere_goes_on_with_the_robot(shell):
    shell.sign_up("alice")
    shell.run("symple", "challenge", "--no-wait", "-size=5", "robot1", "alice")
    (shell.folder / "record").write_text(shell.done("export", "symple", "101"))
    assert shell.done("import", str(shell.folder / "record")).startswith("symple 101 is taken in as 102")
    assert shell.json("robots", "run", "--once") == {"given": 2}
    assert shell.json("symple", "show", "102")["moves"] == 1


# In a shell


def types(shell, text, *words):
    """What a shell answers to a move of alice."""
    return shell.done("symple", "move", *words, "101", "alice", PASSWORDS["alice"], text)


@pytest.fixture
def typed(shell):
    shell.sign_up("alice", has_mail=True)
    shell.run("symple", "challenge", "-size=5", "alice", "robot1")
    return shell


def test_a_robot_answers_before_the_command_of_a_shell_ends(typed):
    with Store(typed.folder / "pbm.db") as store:
        before = len(store.outbox.all())
    said = types(typed, "c3")
    assert said.startswith("Summary: Symple board 101, alice (white) against robot1 (black)")
    assert "alice's turn (white)." in said
    assert said.splitlines()[-1] == "symple move 101 alice PASSWORD MOVE#3"
    with Store(typed.folder / "pbm.db") as store:
        assert len(store.outbox.all()) == before  # she has seen it
    assert json.loads(types(typed, "resign", "--json"))["over"]
    first = typed.json("symple", "challenge", "robot1", "alice")
    assert (first["moves"], first["turn"]) == (1, "alice")


def test_a_board_of_one_robot_with_itself_is_awaited_by_nobody(shell):
    assert shell.json("symple", "challenge", "-size=5", "robot1", "robot1")["moves"] == 0


def test_with_no_wait_it_does_not_and_else_a_proposal_is_answered_too(typed):
    shown = json.loads(types(typed, "c3", "--no-wait", "--json"))
    assert (shown["moves"], shown["turn"]) == (1, "robot1")
    assert typed.json("robots", "run", "--once") == {"given": 1}
    assert typed.json("symple", "show", "101")["moves"] == 2
    shown = json.loads(types(typed, "undo", "--json"))
    assert (shown["moves"], shown.get("vote"), shown["turn"]) == (0, None, "alice")


BEHIND_NO_WAIT = ["plan 101 ME if any then e5", "queue 101 ME e5", "move 101 ME propose", "move 101 ME undo",
                  "note 101 ME", "chat 101 ME"]  # fmt: skip


@pytest.mark.parametrize("line", BEHIND_NO_WAIT)
def test_each_command_about_a_board_waits_for_the_robot_that_has_to_move_there(typed, line):
    types(typed, "c3", "--no-wait")
    typed.done("symple", *line.replace("ME", "alice alice-secret").split(), "--comment=How do you like it?")
    shown = typed.json("symple", "show", "101")
    assert shown["turn"] != "robot1"
    assert "vote" not in shown


def test_who_takes_a_move_back_is_told_which_answer_of_the_robot_goes_with_it(typed):
    types(typed, "c3")
    answer = typed.json("symple", "show", "101")["position"]["history"][1]
    proposed = types(typed, "undo", "--no-wait")
    assert f"alice proposes to take back c3 and robot1's answer {answer}.\n" in proposed
    shown = typed.json("symple", "show", "101")
    assert (shown["vote"], shown["takes_back"]) == ("undo", ["c3", answer])
    assert f"\nTaken back: c3, {answer}.\n" in typed.done("symple", "note", "101", "alice", PASSWORDS["alice"])


def test_what_only_looks_waits_for_nobody(typed):
    types(typed, "c3", "--no-wait")
    typed.done("symple", "showas", "alice", "alice-secret", "101")
    assert typed.json("symple", "show", "101")["turn"] == "robot1"


def test_a_resignation_is_withdrawn_and_the_robot_moves(typed):
    types(typed, "c3")
    types(typed, "b1", "--no-wait")
    types(typed, "resign", "--no-wait")
    assert json.loads(types(typed, "unresign", "--json"))["turn"] == "alice"


def test_a_robot_that_begins_a_rematch_or_a_board_from_an_old_position_moves(typed):
    types(typed, "c3")
    types(typed, "resign")
    again = typed.json("symple", "rematch", "101", "alice", "alice-secret")
    assert (again["board"], again["moves"], again["turn"]) == ("102", 1, "alice")
    older = typed.json("symple", "challenge", "--from=101#1", "alice", "robot1")
    assert (older["board"], older["moves"], older["turn"]) == ("103", 2, "alice")


def test_behind_several_commands_all_robots_move_whom_they_concern_and_the_answer_shows_those_boards(typed):
    typed.sign_up("bob")
    lines = """
        symple move 101 alice alice-secret c3
        symple challenge -size=5 robot2 alice
        symple challenge -size=5 robot2 bob
        symple challenge -size=5 bob alice
    """
    answer = typed.json("multiple", "--comment=-", stdin=lines)
    assert [board["board"] for board in answer["boards"]] == ["101", "102"]  # nobody but alice has signed
    assert [typed.json("symple", "show", number)["moves"] for number in ("101", "102", "103", "104")] == [2, 1, 1, 0]


def test_the_next_game_of_a_tournament_which_the_robot_begins_is_shown_with_its_move(typed):
    typed.done("tournament", "symple", "k", "--type=knockout", "--best-of=3", "-size=5", "robot1", "alice")
    answer = typed.json("symple", "resign", "k1", "alice", "alice-secret")
    assert [(board["board"], board["turn"], board["moves"]) for board in answer["boards"]] == [
        ("k1", None, 1), ("k2", "alice", 1)
    ]  # fmt: skip


def test_a_shell_does_not_wait_for_what_was_put_off(typed, monkeypatch):
    monkeypatch.setattr(tasks, "claim_next_task", lambda *_: pytest.fail("There is nothing to do."))
    with Store(typed.folder / "pbm.db") as store, store.writing():
        until = datetime.now(UTC) + timedelta(minutes=5)
        store.robots.claim_task(Task("symple", "101", "robot1", "alice"), Claim(None, until))
    assert "robot1's turn (black)." in types(typed, "c3")


def test_a_spinner_turns_on_a_terminal_while_a_robot_thinks(typed):
    seen, terminal = pty.openpty()
    words = ["symple", "move", "101", "alice", PASSWORDS["alice"], "c3"]
    done = subprocess.run(
        [sys.executable, "-m", "pbm", *words],
        env=typed.environment, stdout=subprocess.PIPE, stderr=terminal, check=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    os.close(terminal)
    assert "alice's turn (white)." in done.stdout
    assert os.read(seen, 1000).startswith(b"\rrobot1 thinks |")
    os.close(seen)


# A whole server


@pytest.mark.long
def test_by_mail_the_answers_of_a_robot_come_within_seconds_while_others_wait_too(shell):
    """alice knows nothing but her mails; two other robots have always four boards to play on."""
    for _ in range(4):
        shell.run("symple", "challenge", "-size=7", "robot3", "robot4", "--no-wait")
    waits = []
    with shell.serving("--robots=1") as port:
        converse(port, numbered_mail(f"signup alice {PASSWORDS['alice']}"))
        question = message_from_string(inbox(shell, "alice", 1)[0])
        converse(port, numbered_mail(f"Re: {question['Subject']}"))
        inbox(shell, "alice", 2)
        converse(port, numbered_mail("symple challenge -size=13 alice robot2"))
        mails = inbox(shell, "alice", 3)
        for number in range(1, 20, 2):
            board = stored_board(Store(shell.folder / "pbm.db"), "symple", "105")
            answer = message_from_string(mails[-1])["Reply-To"]
            begin = time.monotonic()
            converse(port, numbered_mail("Re: your move", board.state.random(Random(number))), recipient=answer)
            mails = inbox(shell, "alice", 3 + number + 1)
            waits.append(time.monotonic() - begin)
            assert message_from_string(mails[-1])["Subject"] == "Symple Board 105 alice"
        boards = [stored_board(Store(shell.folder / "pbm.db"), "symple", str(board)) for board in range(101, 106)]
    *busy, own = (len(board.turns) for board in boards)
    assert own == 20
    assert sum(busy) >= 10
    assert sorted(waits)[-2] < 30, waits


@pytest.mark.long
def test_a_process_that_is_killed_again_and_again_loses_nothing_and_plays_nothing_twice(shell):
    shell.sign_up("alice", has_mail=True)
    for first, second in (("robot1", "robot2"), ("robot2", "robot1"), ("robot1", "alice")):
        shell.run("symple", "challenge", "-size=5", "--no-wait", first, second)
    for board in ("101", "102"):
        shell.run("symple", "subscribe", board, "alice", PASSWORDS["alice"])
    shell.run("outbox", "flush")
    command = [sys.executable, "-m", "pbm", "robots", "run"]
    rng, kills = Random(7), 0
    while kills < 8:
        several = [subprocess.Popen(command, env=shell.environment) for _ in range(2)]
        time.sleep(rng.uniform(0.3, 0.8))
        for process in several:
            process.kill()
            process.wait()
        kills += 1
    assert shell.process("robots", "run", "--once").returncode == 0
    with Store(shell.folder / "pbm.db") as store:
        boards = [stored_board(store, "symple", board) for board in ("101", "102", "103")]
        mails = Counter(mail.subject.split()[2] for mail in store.outbox.all() if mail.userid == "alice")
    assert [board.is_over for board in boards] == [True, True, False]
    assert mails == {board.row.board: len(board.turns) for board in boards}
    assert len(boards[2].turns) == 1
    shell.done("doctor")


# Games that are over


@pytest.fixture
def lost(against, shell):
    """Six turns of alice and a robot; the shell knows their board."""
    for _ in range(2):
        plays(against)
        signs(against, f"symple move 101 ME {next(at(against).state.moves())}")
    plays(against)
    shell.environment["PBM_DB"] = str(against.store.path)
    return against


def test_a_game_is_analysed_when_it_is_over_and_not_before(lost, shell):
    why = "The game on Symple board 101 goes on; it can be analysed when it is over.\n"
    assert shell.refused("analyse", "symple", "101", "--seconds=0.02") == why
    signs(lost, "symple move 101 ME resign")
    found = shell.json("analyse", "symple", "101", "--seconds=0.02")
    assert [turn["player"] for turn in found["turns"]] == ["alice", "robot2"] * 3
    assert len(found["curve"]) == 7
    assert found["curve"][-1] == 0
    for turn in found["turns"]:
        assert 0 <= turn["after"] <= turn["before"] <= 1
        loss = turn["before"] - turn["after"]
        assert turn["mark"] == ("??" if loss >= 0.2 else "?" if loss >= 0.1 else "")
    assert json.loads(lost.store.robots.analysis("symple", "101")) == found
    assert lost.store.robots.analysis("symple", "102") is None
    shown = shell.done("analyse", "symple", "101", "--seconds=0.02")
    assert "How likely alice was to win:" in shown
    assert "Won by robot2 (alice resigned)." in shown


def test_the_analysis_of_a_board_that_is_removed_meanwhile_is_refused(lost, shell, monkeypatch):
    signs(lost, "symple move 101 ME resign")
    monkeypatch.setattr(analysis, "choices", lambda _: lost.store.db.execute("DELETE FROM boards") and [0])
    assert shell.refused("analyse", "symple", "101", "--seconds=0.02") == "There is no Symple board '101'.\n"


def test_after_a_turn_the_chance_of_its_player_is_what_the_other_one_leaves(lost, monkeypatch):
    monkeypatch.setattr(analysis, "Player", Mind(0.9))  # of whoever is to move, who plays the first turn that there is
    robots_turn = Critic(at(lost), 1).judge(1)
    assert (robots_turn.turn, robots_turn.best, robots_turn.mark) == ("a1", "a1", "")
    assert (robots_turn.before, robots_turn.after) == (0.1, 0.1)


def test_turns_without_another_legal_one_are_not_judged_nor_is_a_game_in_which_nobody_had_a_choice(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice bob")
    chosen = "c4 a1 b5 a2,c5 d1 e2 a5,c1,d4 a3,d2,d5 a4,b1,e4 c3 b3 b4 d3,e1 b2,c2,e5".split()
    forced = "e3"  # the last vacant point
    for number, move in enumerate([*chosen, forced]):
        signs(club, f"symple move 101 ME {move}", name=("alice", "bob")[number % 2])
    assert choices(at(club)) == [*range(14)]
    club.say("symple challenge -size=5 --name=a1 alice bob")
    signs(club, "symple resign a1 ME")
    with pytest.raises(Refused, match=r"There was no choice between turns on Symple board a1\."):
        choices(at(club, "a1"))


def test_a_curve_is_drawn_with_blocks_of_eighths():
    assert drawn_curve([0, 0.5, 1, 0.25, 3 / 32]) == [
        "      ███      ",
        "      ███      ",
        "   ██████      ",
        "   █████████▃▃▃",
    ]
    assert {len(line) for line in drawn_curve([0.5] * 1000)} == {73}


def test_a_game_with_dice_is_analysed_to_its_very_end(club):
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small -pieces=2 alice bob")
    while not (board := at(club, game="spiro")).is_over:
        signs(club, f"spiro move 101 ME {next(board.state.moves())}", name=board.mover)
    critic, numbers = Critic(board, 0.03), choices(board)
    judged = [critic.judge(number) for number in numbers]
    assert curve(board, judged)[-1] == (board.winner == "alice")
    ending = [one for one in judged if one.number == len(board.turns)]  # none if it was the only one
    assert all((one.player, one.after, one.mark) == (board.winner, 1, "") for one in ending)


# Plans


def test_a_robot_triggers_a_plan_and_the_planned_move_triggers_the_robot(against):
    first = next(iter(at(against).state.moves()))
    signs(against, f"symple plan 101 ME if {first} then e5 if any then e3")
    assert plays(against) == 3
    assert moves(against)[:3] == ["c3", first, "e5"]
    assert moves(against)[4::2] == ["e3"]
    told = [mail.text for mail in against.mails("alice")]
    assert ["as planned" in text for text in told] == [False, True, True, False]


def test_a_robot_that_answers_at_once_triggers_the_plan_below_the_move(against):
    plays(against)
    signs(against, "symple move 101 ME e5", "if any then e3 if any then a5")
    plays(against)
    assert moves(against)[2::2] == ["e5", "e3", "a5"]
