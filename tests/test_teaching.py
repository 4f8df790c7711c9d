"""What robots teach: analyses that users ask for by mail; and robots that think in idle time."""

import email
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

import games
from games import thrown
from pbm.mail.illustrations import Illustrator
from pbm.mail.writing import compose
from pbm.robot_players import analysis, tasks
from pbm.robot_players.tasks import claim_next_task, is_wanted_in_idle_time, play_all, think_once
from pbm.robots import Player
from pbm.session import Session

from helpers.answers import send
from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.mail import ADDRESS
from helpers.patience import PATIENCE, children_of, until
from helpers.servers import arrived
from helpers.shell import two_players

BAD = {
    "symple": (
        "-size=5 -penalty=8",
        "b2 c4 d3 d4,e3 e4 a3 a2,d2,e5 b3,d5,e2 a4 c3,e1 c1",
        "joins 2 groups and founds no groups; the one that was played joins no groups and founds 1 group.",
    ),
    "papagra": (
        "-size=3",
        "+b1 +a3,+c4 +d2,+c1 +e2,+d1 +a2,+e3 +b3,-d1 +a1,-a1",
        "The better turn wins at once.",
    ),
    "spora": (
        "-size=5",
        "d1:4 b3:4 d5:3,d1@ennn a3:4,b3@ses e5:2,d5@www",
        "The turn that was played lets the opponent win at once by d5,a3@nees.",
    ),
    "sprout": (
        "-board=limping-3",
        "c3 b4,b3 e2,c4 a2,d4,e3 a4,d5",
        "the one that was played adds 2 stones and has 4 groups.",
    ),
    "spiro": ("-small -pieces=3", "e3:5 e2:6:4 f1:+:x h3:4:x e3:5:+ e2:3:+ e3:4,g1:+", "The better turn"),
}
"""Games in which the last turn is bad, with the options, and how that is told."""


def signs(club, line, name="alice", comment=""):
    return club.say(line.replace("ME", f"{name} {PASSWORDS[name]}"), comment)


def lost(club, game="symple", *, board="101"):
    """A game whose last turn was bad, and which was a draw then; the number of that turn, and who played it."""
    options, moves, _ = BAD[game]
    club.signed_up("alice", "bob", "carol")
    for _ in range(int(board) - 100):  # the dice of each board are its own
        club.say(f"{game} challenge {options} alice bob")
    for number, move in enumerate(moves.split()):
        signs(club, f"{game} move {board} ME {move}", ("alice", "bob")[number % 2])
    loser, winner = ("alice", "bob")[number % 2], ("bob", "alice")[number % 2]
    signs(club, f"{game} move {board} ME propose", loser)
    signs(club, f"{game} move {board} ME accept", winner)
    return number + 1, loser


def thinker(game, options, *, seconds, rng, clock):
    """A robot that thinks for as long as on any other machine."""
    return Player(game, options, playouts=40 if game == "spora" else 150, rng=rng)


def thinks(club):
    return think_once(Session(club.server))


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[] if game == "symple" else [pytest.mark.long]) for game in BAD]
)
def test_the_bad_turn_of_a_game_is_told_with_what_would_have_been_better(club, game, monkeypatch):
    monkeypatch.setattr(analysis, "Player", thinker)
    board = "103" if game == "spiro" else "101"
    number, loser = lost(club, game, board=board)
    signs(club, f"{game} analyse {board} ME", "carol")
    assert thinks(club)
    last = club.mails("carol")[-1]
    worst = last.text.partition("The turns that cost most:\n\n")[2].partition("\n\n")[0]
    assert worst.startswith(f"Move {number}, {loser}: ")
    assert BAD[game][2] in " ".join(worst.split())


# Asking


@pytest.fixture
def over(club, monkeypatch):
    """A game of Symple that alice has lost; robots think as long as on any other machine."""
    monkeypatch.setattr(analysis, "Player", thinker)
    lost(club)
    return club


def test_analyse_is_one_word_in_answer_to_the_last_mail(over):
    last = over.mails("alice")[-1]
    assert "`analyse`" in last.text
    [told] = send(over, last.subject, "analyse", "alice@players.example", last.reply_to)
    assert "The analysis of Symple board 101 comes to alice by mail" in told.text
    assert thinks(over)
    assert over.mails("alice")[-1].text.startswith("Analysis: Symple board 101, alice (white) against bob (black)")
    assert over.mails("alice")[-1].reply_to == last.reply_to
    assert not thinks(over)


def test_all_who_have_asked_get_one_mail_each_and_the_game_is_thought_about_once(over, monkeypatch):
    for name in ("alice", "carol", "alice"):
        signs(over, "symple analyse 101 ME", name)
    before = len(over.mails())
    assert thinks(over)
    assert sorted(mail.userid for mail in over.mails()[before:]) == ["alice", "carol"]
    assert not thinks(over)
    assert json.loads(over.store.robots.analysis("symple", "101"))["board"] == "101"


def test_a_game_that_goes_on_is_not_analysed_nor_a_fourth_one_on_a_day(over):
    signs(over, "symple challenge -size=5 alice bob")
    assert "it can be analysed when it is over" in over.why_refused("symple analyse 102 alice alice-secret")
    for _ in range(3):
        signs(over, "symple analyse 101 ME")
    assert "You can ask for 3 analyses a day" in over.why_refused("symple analyse 101 alice alice-secret")
    over.pass_time(days=1)
    signs(over, "symple analyse 101 ME")


def test_a_game_about_which_a_robot_fails_is_told_so_and_not_thought_about_again(over, monkeypatch, capsys):
    monkeypatch.setattr(analysis, "Player", None)
    signs(over, "symple analyse 101 ME")
    assert thinks(over)
    assert "Symple board 101 could not be analysed." in over.mails("alice")[-1].text
    assert "Symple board 101 could not be analysed (TypeError: " in capsys.readouterr().err
    assert not thinks(over)
    assert over.store.robots.analysis("symple", "101") is None


def test_a_damaged_board_does_not_hold_up_what_else_robots_think_about(over, capsys):
    signs(over, "symple analyse 101 ME")
    over.store.db.execute("UPDATE turns SET text = 'z9' WHERE board = '101'")
    assert thinks(over)
    assert "Symple board 101 could not be analysed." in over.mails("alice")[-1].text
    assert "Symple board 101 could not be analysed (Refused: " in capsys.readouterr().err
    assert not thinks(over)


def test_a_board_that_is_removed_while_a_robot_thinks_is_not_told_about(over, monkeypatch):
    signs(over, "symple analyse 101 ME")
    monkeypatch.setattr(analysis, "choices", lambda _: over.store.db.execute("DELETE FROM boards") and [0])
    mails = len(over.mails())
    assert thinks(over)
    assert len(over.mails()) == mails
    assert not thinks(over)


def test_the_mail_has_the_curve_as_a_picture_and_links_to_the_positions(over):
    over.server = over.server._replace(site="https://games.example.org/play")
    signs(over, "symple analyse 101 ME")
    thinks(over)
    mail = over.mails("alice")[-1]
    [costliest] = [part for part in mail.text.split("\n\n") if part.startswith("Move 11, alice: ")]
    assert costliest.endswith("\nhttps://games.example.org/play/symple/101.html#10")
    illustration = Illustrator(over.server).of(mail)
    assert illustration.png.startswith(b"\x89PNG")
    message = email.message_from_bytes(compose(mail, ADDRESS, illustration))
    assert [part.get_content_type() for part in message.walk() if not part.is_multipart()] == [
        "text/plain", "text/html", "image/png"
    ]  # fmt: skip
    page = message.get_payload()[1].get_payload()[0].get_payload()
    assert "as a picture; the curve stands below in letters" in " ".join(page.split())


# What turns do


DEEDS = {
    "symple": (("founds", "grows by"), lambda side, before, after: count(after, side) - count(before, side)),
    "spora": (("captures",), lambda side, before, after: max(0, count(before, 1 - side) - count(after, 1 - side))),
    "sprout": (("removes",), lambda side, before, after: count(before, 1 - side) - count(after, 1 - side)),
    "spiro": (("bears off",), lambda side, before, after: after.scores[side] - before.scores[side]),
    "papagra": (("raises the own mark by",), lambda side, before, after: after.marks[side] - before.marks[side]),
}
"""Effects of each game whose sum can be counted in another way."""


def count(state, side):
    """How many cells a side has in a view."""
    letter = state.sides[side][0].lower()
    return sum(1 for cell in state.view()["cells"].values() if str(cell)[0].lower() == letter)


@pytest.mark.parametrize("game", DEEDS)
def test_the_effects_of_turns_are_what_can_be_counted_on_the_board(game):
    rules, rng = games.load(game), Random(5)
    verbs, counted = DEEDS[game]
    seen = 0
    for _ in range(6):
        state = thrown(rules.new(**games.read_options(rules, BAD[game][0].split())), rng)
        while state.result() is None:
            after = state.play(games.SKIP if state.must_skip else state.random(rng))
            effects = rules.effects(state, after)
            assert sum(number for verb, _, number in effects if verb in verbs) == counted(state.turn, state, after)
            seen += sum(number for verb, _, number in effects if verb in verbs)
            state = thrown(after, rng)
    assert seen


# Idle time


@pytest.fixture
def patient(club):
    """alice on Symple 101 against robot6, and on 102 against robot1; both robots are to move."""
    club.server = club.server._replace(robot_minutes=0.005)
    club.signed_up("alice", "bob")
    for robot in ("robot6", "robot1"):
        club.say(f"symple challenge -size=5 {robot} alice")
    return club


def test_a_robot_of_the_last_level_moves_in_idle_time_behind_all_others(patient):
    session = Session(patient.server)
    assert claim_next_task(session).robot == "robot1"
    assert claim_next_task(session, is_idle=True).robot == "robot6"
    assert is_wanted_in_idle_time(session)
    begin = time.process_time()
    assert thinks(patient)
    assert time.process_time() - begin > 0.3  # seconds
    assert len(stored_board(patient.store, "symple", "101").turns) == 1
    assert not is_wanted_in_idle_time(session)
    assert "it thinks in idle time, so that its answers take minutes" in " ".join(
        patient.text("symple show 101").split()
    )


def test_analyses_come_before_moves_that_take_minutes_and_after_all_others(patient, monkeypatch):
    for name, move in (("bob", "c3"), ("alice", "a1"), ("bob", "resign")):
        if move == "c3":
            patient.say("symple challenge -size=5 bob alice")
        signs(patient, f"symple move 103 ME {move}", name)
    signs(patient, "symple analyse 103 ME", "bob")
    done = []
    play = tasks.do_task
    analyse = analysis.analyse_for_readers
    monkeypatch.setattr(analysis, "Player", thinker)
    monkeypatch.setattr(tasks, "do_task", lambda _, task, **how: done.append(task.robot) or play(_, task, **how))
    monkeypatch.setattr(analysis, "analyse_for_readers", lambda *args: done.append("analysis") or analyse(*args))
    assert play_all(Session(patient.server)) == 1
    assert done == ["robot1", "analysis", "robot6"]


def test_only_one_process_thinks_in_idle_time(patient):
    session = Session(patient.server)
    with tasks.only_thinker(session):
        assert not is_wanted_in_idle_time(session)
        assert not think_once(session)
    assert think_once(session)


def test_a_process_that_has_nothing_left_to_think_about_ends_well(shell):
    two_players(shell)
    thinking = [sys.executable, "-m", "pbm", "robots", "think"]
    with subprocess.Popen(thinking, env=shell.environment, stdin=subprocess.PIPE) as process:
        assert process.wait(PATIENCE) == 0


def test_a_shell_waits_for_no_robot_of_the_last_level(shell):
    two_players(shell)
    begin = time.monotonic()
    done = shell.run("symple", "challenge", "-size=5", "robot6", "alice", "--json", PBM_ROBOT_MINUTES="60")
    assert (done.returncode, json.loads(done.stdout)["moves"]) == (0, 0)
    assert time.monotonic() - begin < 60


def test_the_minutes_of_the_last_level_are_a_setting(shell):
    for minutes in ("0", "61", "soon"):
        done = shell.run("robots", PBM_ROBOT_MINUTES=minutes)
        assert done.stderr.startswith("PBM_ROBOT_MINUTES is no number of minutes above 0, up to 60: ")
    done = shell.run("robots", "add", "deep", "--level=6", "--seconds=5")
    assert done.stderr == "A robot of level 6 thinks for as long as PBM_ROBOT_MINUTES says.\n"


@pytest.mark.long
def test_a_server_does_both_by_itself_and_ends_what_it_has_begun(shell):
    two_players(shell)
    shell.run("symple", "challenge", "-size=5", "alice", "bob")
    for name, move in (("alice", "c3"), ("bob", "a1"), ("alice", "resign")):
        assert shell.run("symple", "move", "101", name, PASSWORDS[name], move).returncode == 0
    assert shell.run("symple", "analyse", "101", "bob", PASSWORDS["bob"]).returncode == 0
    shell.run("symple", "challenge", "-size=9", "robot6", "alice")
    environment = shell.environment | {"PBM_ROBOT_MINUTES": "60"}
    serve = [sys.executable, "-m", "pbm", "serve", "--listen=127.0.0.1:0"]
    with subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            mail = arrived(shell, "bob", "The turns that cost most:")
            assert "Subject: Symple board 101 analysis" in mail
            thinker = until(lambda: [one for one in grandchildren(server.pid) if "think" in command(one)])
            assert os.sched_getscheduler(thinker[0]) == os.SCHED_IDLE
        finally:
            server.kill()
    until(lambda: not command(thinker[0]))


def grandchildren(process):
    return [one for child in children_of(process) for one in children_of(child)]


def command(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_text().split("\0")
    except OSError:
        return []
