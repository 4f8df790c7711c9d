"""The commands by which an operator looks after robots, the users who are programs."""

import os
import shlex
import threading
from contextlib import suppress
from typing import Any

import click

import games
from pbm import letters, texts
from pbm.actions import users
from pbm.console import (
    answer,
    answer_list,
    confirm,
    has_pipe,
    let_server_go_first,
    open_existing,
    prepare_helper,
    time_text,
    wait_for_end,
)
from pbm.console.usage import USER_ARGUMENT, WHOLE_NUMBER, YES, Commands, Listing, Seconds, WholeNumber
from pbm.levels import LEVEL_NUMBERS, USUAL_LEVEL
from pbm.refusals import Refused, check_game
from pbm.robot_players.program import end_with_programs, startable_words
from pbm.server import Server
from pbm.session import Session
from pbm.settings import open_server
from pbm.store import Robot

PROGRAM_SECONDS = 30.0
"""How long a program of the operator's may take for a move, unless the operator says otherwise."""

commands = Commands("pbm")
LEVEL = click.option(
    "--level",
    type=WholeNumber(1, LEVEL_NUMBERS[-1]),
    metavar="N",
    help=f"How well it plays: 1 to {LEVEL_NUMBERS[-1]}.",
)
PROGRAM = click.option(
    "--with", "program", metavar="PROGRAM", help="A program of yours that plays, as `pbm play` says."
)
OF_GAMES = click.option("--games", "names", metavar="GAME,...", help="What it plays; `all` stands for all games.")
MOST = click.option("--most", type=WHOLE_NUMBER, metavar="N", help="At how many boards it takes no more challenges.")
THINKING_TIME = click.option(
    "--seconds",
    type=Seconds(0, 3600, min_open=True),
    metavar="S",
    help="How long it may think about a move.",
)


@commands.group("robots", cls=Listing)
def robots_() -> None:
    """List the robots, or look after them.

    A robot is a user who is a program: it has no password and no address, takes challenges, and is rated like anybody.
    `pbm serve` plays for them, and a shell does while somebody plays against one there.
    """


@robots_.command("list")
def list_robots() -> None:
    """List the robots with what they play and on how many boards."""
    server = open_server()
    with server.store.reading():
        robots = server.store.robots.all()
        counts = {robot.userid: _boards(server, robot) for robot in robots}
    lines = [("Userid", "Plays", "Games", "Boards", "State")]
    for robot in robots:
        states = []
        if not robot.rated:
            states.append("unrated")
        if robot.paused:
            states.append(_paused(robot))
        line = (
            robot.userid,
            robot.program or f"level {robot.level}",
            " ".join(robot.games) or "all",
            f"{counts[robot.userid]} / {robot.most}",
            ", ".join(states),
        )
        lines.append(line)
    data = {"robots": [_data(robot, counts[robot.userid]) for robot in robots]}
    answer_list(lines, data, "There are no robots.")


@robots_.command("add")
@USER_ARGUMENT
@LEVEL
@PROGRAM
@OF_GAMES
@MOST
@THINKING_TIME
@click.option("--unrated", is_flag=True, help="Games against it do not count in the ratings.")
def add_robot(userid: str, *, unrated: bool, **given: Any) -> None:
    """Add a robot: one of pbm's with a level, 3 if none is given, or a program of yours.

    A program is started for each move. It gets the position as a line of JSON on its standard input, as with `pbm
    play`, and answers with a move, or with `resign`. The words of PROGRAM are split as a shell does it, but there is no
    shell. One that fails, gives no answer in time or sends an illegal move three times in a row is paused.
    """
    server = open_server()
    name = userid.lower()
    users.check_new_userid(name)
    usual = Robot(name, USUAL_LEVEL, rated=not unrated)
    if given["program"]:
        usual = usual._replace(seconds=PROGRAM_SECONDS)
    robot = _changed(usual, **given)
    with server.store.writing():
        if server.store.users.is_taken(name):
            raise Refused(f"There is a user {name} already; please choose another userid.")
        server.store.users.add(name, "", server.now())
        _save(server, robot, f"{name} is a robot: {_said(robot)}.")


@robots_.command("change")
@USER_ARGUMENT
@LEVEL
@PROGRAM
@OF_GAMES
@MOST
@THINKING_TIME
def change_robot(userid: str, **given: Any) -> None:
    """Change a robot. What you do not give stays as it is."""
    server = open_existing()
    with server.store.writing():
        robot = _changed(_robot(server, userid), **given)
        _save(server, robot, f"{robot.userid} is a robot: {_said(robot)}.")


@robots_.command("remove")
@USER_ARGUMENT
@YES
def remove_robot(userid: str, *, yes: bool) -> None:
    """Remove a robot: it gives up all its boards, and nobody else can ever have its name. `pause` is gentler."""
    server = open_existing()
    robot = _robot(server, userid)
    confirm(f"Remove {robot.userid}, which gives up all its boards?", yes=yes)
    with server.store.writing():
        answers = users.sign_off(Session(server), robot.userid)
    text = f"{robot.userid} is removed."
    answer(text, letters.as_one(answers) | {"reply": text})


@robots_.command("pause")
@USER_ARGUMENT
def pause_robot(userid: str) -> None:
    """Pause a robot: it plays no more, and takes no challenges. No time is counted on its boards, so nobody loses.

    Its tournaments wait for it, too, and their directors are told.
    """
    from pbm.actions import rounds

    server = open_existing()
    with server.store.writing():
        robot = _robot(server, userid)
        if robot.paused:
            raise Refused(f"{robot.userid} is paused already, since {time_text(robot.paused)}.")
        rounds.tell_of_pause(Session(server), robot.userid)
        _save(server, robot._replace(paused=server.now()), f"{robot.userid} is paused.")


@robots_.command("resume")
@USER_ARGUMENT
def resume_robot(userid: str) -> None:
    """Let a robot that was paused play again."""
    server = open_existing()
    with server.store.writing():
        robot = _robot(server, userid)
        if not robot.paused:
            raise Refused(f"{robot.userid} is not paused.")
        _save(server, robot._replace(paused=None, why=None), f"{robot.userid} plays again.")


@robots_.command("run")
@click.option("--once", is_flag=True, help="Play the boards on which there is something to do now, and end.")
@click.option("--dask", "scheduler", metavar="ADDRESS", help="Think on the workers of this Dask scheduler.")
def run_robots(*, once: bool, scheduler: str | None) -> None:
    """Play for the robots, as `pbm serve` does, until told to end. Several such processes share the work.

    With --dask, robots of the last level think on a cluster, and games are analysed there. pbm has to be installed on
    its workers. While it has none, or its scheduler does not answer, this machine thinks.

    If standard input is a pipe, it ends when the pipe ends, and is not ended by Ctrl-C or another signal.
    """
    from pbm.robot_players import tasks
    from pbm.robot_players.cluster import Cluster

    server = open_existing()
    let_server_go_first(tasks.NICENESS)
    cluster = Cluster(scheduler) if scheduler else None
    with tasks.limited_memory():
        if once:
            done = tasks.play_all(Session(server), cluster)
            answer(f"{texts.counted(done, 'answer')} given.", {"given": done})
        else:
            prepare_helper()
            if has_pipe():
                threading.Thread(target=_end_with_input, daemon=True).start()
            tasks.keep_playing(Session(server), wait_for_end, cluster)


@robots_.command("think", hidden=True)
def think_() -> None:
    """Do what robots do in idle time, until nothing is left of it or standard input ends."""
    from pbm.robot_players import tasks

    server = open_existing()
    let_server_go_first(tasks.IDLE_NICENESS)
    with suppress(AttributeError, OSError):  # where there is such a policy
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    threading.Thread(target=_end_with_input, daemon=True).start()
    with tasks.limited_memory():
        while tasks.think_once(Session(server)):
            pass


def _end_with_input() -> None:
    """End this process, and the programs that it asks, as soon as its standard input ends."""
    while os.read(0, 65536):  # sys.stdin would be locked by this thread when Python ends, which aborts it
        pass
    end_with_programs()


def _robot(server: Server, userid: str) -> Robot:
    """The robot of that name. Raises Refused if that is no robot."""
    robot = server.store.robots.get(userid.lower())
    if robot is None:
        userids = [robot.userid for robot in server.store.robots.all()]
        hint = games.suggestion(userid, userids, "; `pbm robots` lists them.")
        raise Refused(f"{userid.lower()} is no robot{hint}")
    return robot


def _changed(
    robot: Robot, level: int | None, program: str | None, names: str | None, most: int | None, seconds: float | None
) -> Robot:
    """A robot with the settings that are given. Raises Refused if two exclude each other, or the program cannot run."""
    if level and program:
        raise Refused("A robot plays at a level, or by a program, and not both.")
    if program is not None:
        robot = robot._replace(level=None, program=shlex.join(startable_words(program)))
    elif level:
        robot = robot._replace(level=level, program=None)
    if seconds and robot.thinks_in_idle_time:
        raise Refused(f"A robot of level {robot.level} thinks for as long as PBM_ROBOT_MINUTES says.")
    if names is not None:
        robot = robot._replace(games=_games(names))
    return robot._replace(most=most or robot.most, seconds=seconds or robot.seconds)


def _save(server: Server, robot: Robot, done: str) -> None:
    """Store a robot, and print what was done."""
    server.store.robots.save(robot)
    answer(done, {"userid": robot.userid, "robots": [_data(robot, _boards(server, robot))]})


def _boards(server: Server, robot: Robot) -> int:
    """On how many active boards a robot plays."""
    return server.store.boards.active_counts([robot.userid])[robot.userid].total()


def _games(names: str) -> tuple[str, ...]:
    """The games that are listed with commas between them; an empty tuple for `all`. Raises Refused."""
    if names.lower() == "all":
        return ()
    listed = list(dict.fromkeys(filter(None, names.lower().replace(" ", "").split(","))))
    for name in listed:
        check_game(name)
    if not listed:
        raise Refused("No game is named behind --games.")
    return tuple(listed)


def _said(robot: Robot) -> str:
    """How, what and how much a robot plays, such as ``level 3, all games, up to 20 boards``."""
    plays = f"level {robot.level}" if robot.level else f"the program {robot.program}"
    which = " and ".join(map(str.capitalize, robot.games)) or "all games"
    text = f"{plays}, {which}, up to {texts.counted(robot.most, 'board')}"
    if not robot.rated:
        text += ", unrated"
    return text


def _paused(robot: Robot) -> str:
    """Since when a robot that is paused is so, and why if that is known."""
    text = f"paused since {time_text(robot.paused)}"
    if robot.why:
        text += f": {robot.why}"
    return text


def _data(robot: Robot, boards: int) -> dict[str, Any]:
    """A robot for programs."""
    return {
        "userid": robot.userid,
        "level": robot.level,
        "program": robot.program,
        "games": list(robot.games or games.names()),
        "rated": robot.rated,
        "boards": boards,
        "most": robot.most,
        "seconds": robot.seconds,
        "paused": robot.paused is not None,
        "since": robot.paused,
        "why": robot.why,
    }
