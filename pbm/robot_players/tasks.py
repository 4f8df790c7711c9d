"""What robots do on boards: a task is claimed, thought about, and done in a transaction, like a player's command."""

import asyncio
import json
import os
import resource
import shlex
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from random import Random
from subprocess import Popen
from typing import NamedTuple

from games import Illegal
from pbm import START_PBM, delivery, letters, runner
from pbm.actions import finding
from pbm.board.board import Board
from pbm.budget import limited
from pbm.delivery.mail import add_to_outbox
from pbm.disk import locked
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.robot_players import analysis
from pbm.robot_players.cluster import Cluster, ElsewhereError, Question, think_about
from pbm.robot_players.program import ENDING_SECONDS, GIVE_UP, HOPELESS_TURNS, MOST_REFUSED, Program
from pbm.robot_players.scripts import PAUSE_SECONDS
from pbm.robot_players.waiting import contents
from pbm.robots import Player
from pbm.robots.thinking import Thought
from pbm.session import Session
from pbm.store import Replaced, Reply, Robot, Store, Unusable
from pbm.store.robots import Claim, Task
from pbm.terminal import spinning, warn

HOPELESS = 0.02
"""A robot has no hope if it thinks that its chance to win is at most this."""
DRAWN = 0.45
"""A robot agrees on a draw if it thinks that its chance to win is below this."""
MOST_MEMORY_BYTES = 1_000_000_000
"""How much memory a process that thinks may have."""
GRACE_SECONDS = 2.0
"""How long after the end of its time one of our own robots is stopped."""
CLAIM_SPARE = timedelta(seconds=10)
"""How much longer a claim lasts than thinking can take."""
PUT_OFF = timedelta(minutes=10)
"""How long a task that has failed is put off."""
LOOK_SECONDS = 0.2
"""The time between two looks for tasks."""
LOOK_AFTER_FAULT_SECONDS = 5.0
"""The time until the next look if the database could not be used."""
NICENESS = 10
"""The niceness of processes that think."""
IDLE_NICENESS = 19
"""The niceness of a process that thinks in idle time."""
THINKER = START_PBM + ("robots", "think")
"""The command of a process that thinks in idle time."""
IDLE_FACTOR = 10
"""The limit of a task of idle time, by the clock: this many times its thinking time, which is processor time."""
MOST_PROGRAMS = 16
"""How many programs of the operator's one process asks at once."""
MOST_GIVEN_OUT = 64
"""How many tasks of a cluster one process waits for at once."""
SHELL_SECONDS = 120.0
"""How long a shell waits for the answer of a robot."""


def claim_next_task(
    session: Session,
    *place: str,
    busy: Collection[str] = (),
    is_idle: bool = False,
    among: Collection[tuple[str, str]] | None = None,
    given_out: Collection[tuple[str, str]] = (),
) -> Task | None:
    """Claim the next task, or the next one on a board, its game and number, and return it; None if there is none.

    Tasks that another living process does are left to it, and those of *busy* robots wait. In idle time, these are the
    tasks of robots of the last level; at other times, the tasks of all other robots. If boards are named by *among*,
    the others are left alone, and so are those that this process has *given out*.
    """

    def free() -> list[Task]:
        tasks = _free(session, *place, busy=busy, is_idle=is_idle, among=among)
        return [task for task in tasks if task.place not in given_out]

    if not free():  # looking takes no lock
        return None
    with session.store.writing():
        for task in free():
            robot = session.store.robots.among([task.robot])[task.robot]
            if is_idle:
                seconds = IDLE_FACTOR * 60 * session.server.robot_minutes
            elif robot.program:  # it may fail each time, and be ended and started again
                seconds = MOST_REFUSED * (robot.seconds + 3 * ENDING_SECONDS)
            else:
                seconds = robot.seconds
            until = session.now + timedelta(seconds=seconds + GRACE_SECONDS) + CLAIM_SPARE
            session.store.robots.claim_task(task, Claim(os.getpid(), until))
            return task
    return None


def _free(
    session: Session,
    *place: str,
    busy: Collection[str] = (),
    is_idle: bool,
    among: Collection[tuple[str, str]] | None = None,
) -> list[Task]:
    """The tasks that nobody does, those of idle time or those of other times, in the order in which they are served."""
    tasks = session.store.robots.tasks(*place)
    robots = session.store.robots.among({task.robot for task, _ in tasks}) if tasks else {}
    free = robots.keys() - busy  # without a robot that was removed between these two looks
    return [
        task
        for task, claim in tasks
        if task.robot in free
        and robots[task.robot].thinks_in_idle_time == is_idle
        and (among is None or task.place in among)
        and not (claim and claim.until > session.now and _lives(claim.process))
    ]


def _lives(process: int | None) -> bool:
    """Whether a claim still holds, because its process lives and is another one, or because the task was put off."""
    if process is None:
        return True
    try:
        os.kill(process, 0)
    except PermissionError:  # it lives, and is another user's
        return True
    except ProcessLookupError:
        return False
    return process != os.getpid()


def do_task(
    session: Session, task: Task, reader: str | None = None, cluster: Cluster | None = None
) -> list[Letter] | None:
    """Think about a task that is claimed, and do it. Returns what the *reader* sees in a shell, and gets no mail about.

    None if it was not done: the board or the robot has changed meanwhile, or the robot was paused because its program
    has failed. Our own robots think on a *cluster* if one is given. Raises Refused if the robot may not do that, and
    ElsewhereError if the cluster is lost.
    """
    store = session.store
    with store.reading():
        row = store.boards.get(task.game, task.board)
        robot = store.robots.get(task.robot)
        board = row and finding.board_of(session, row)
        notes = store.robots.notes_on(task)
    if board is None or robot is None:
        return None
    try:
        decision = _decided(session, board, robot, notes.hopeless, cluster)
    except Refused as why:
        _pause(session, task, robot, str(why))
        return None
    with store.writing():
        row_now = store.boards.get(task.game, task.board)
        has_changed = row_now is None or contents(row_now) != contents(board.row)
        if has_changed or store.robots.get(task.robot) != robot:
            store.robots.claim_task(task, None)
            return None
        player = Reply(task.game, task.board, task.robot)
        comment = decision.comment if notes.talks else ""
        done = runner.play(replace(session, comment=comment), player, decision.move, reader or task.robot)
        if done.why is None:
            store.robots.note_answer(task, decision.hopeless, session.now)
    if done.why:
        raise done.why
    return list(done.letters)


class RobotAnswer(NamedTuple):
    """What a robot does on a board."""

    move: str
    """The robot's move, or a word instead of one, such as ``accept``."""
    comment: str = ""
    hopeless: int = 0
    """For how many turns in a row it has had no hope."""


def _decided(session: Session, board: Board, robot: Robot, hopeless: int, cluster: Cluster | None) -> RobotAnswer:
    """Decide what a robot does on a board; before, it had no hope for *hopeless* turns.

    Raises Refused if it is a program that fails, and ElsewhereError if it thinks on a cluster that is lost.
    """
    row = board.row
    proposed = row.vote if row.voter != robot.userid else None
    number = f"#{len(board.turns) + 1}"
    if proposed == "undo":
        return RobotAnswer("accept", hopeless=hopeless)
    if robot.program:
        if proposed:
            return RobotAnswer("reject")
        move = asyncio.run(_asked(board, robot, shlex.split(robot.program)))
        return RobotAnswer(move + number, "I am a program that tells nothing of what it thinks.")
    thought = _thought(session, board, robot, cluster)
    chance = thought.chance
    if board.mover != robot.userid:  # it answers a proposal: the chance is that of the player to move
        chance = 1 - chance
    comment = f"I play at level {robot.level}. I put my chance to win at {chance:.0%}."
    if proposed:
        answer = "accept" if chance < DRAWN else "reject"
        return RobotAnswer(answer, comment, hopeless)
    if chance > HOPELESS or board.has_dice:  # dice may still turn any game
        hopeless = 0
    else:
        hopeless += 1
    if hopeless >= HOPELESS_TURNS:
        return RobotAnswer("resign" + number, comment)
    return RobotAnswer(thought.move + number, comment, hopeless)


def _thought(session: Session, board: Board, robot: Robot, cluster: Cluster | None) -> Thought:
    """What one of our own robots thinks of a board, within its limits, here or on a cluster.

    If it fails, it plays at random, so that the game goes on, and the operator is told why. Raises ElsewhereError.
    """
    seed = session.server.random_bytes(16).hex()
    rng = Random(seed)
    if robot.thinks_in_idle_time:  # others may compute meanwhile: only its own time counts
        seconds = 60 * session.server.robot_minutes
        clock = time.process_time
    else:
        seconds = robot.seconds
        clock = time.perf_counter
    try:
        if cluster:
            position = json.dumps(letters.position(board.present))
            question = Question(position, robot.level, seconds, None, seed)
            longest = IDLE_FACTOR * seconds + CLAIM_SPARE.total_seconds()
            [thought] = cluster.compute(think_about, [[question]], longest)
            return thought._replace(move=board.state.parse(thought.move))
        with limited(seconds + GRACE_SECONDS, all_counts=not robot.thinks_in_idle_time):
            player = Player(board.row.game, board.options, level=robot.level, seconds=seconds, rng=rng, clock=clock)
            thought = player.think(board.states)
            return thought._replace(move=board.state.parse(thought.move))
    except ElsewhereError:
        raise
    except Exception as why:
        warn(f"{robot.userid} could not think about {board.name} ({type(why).__name__}: {why}); it plays at random.")
        return Thought(board.state.random(rng), 0.5)


@contextmanager
def limited_memory() -> Iterator[None]:
    """Limit the memory of this process and its children to `MOST_MEMORY_BYTES`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = MOST_MEMORY_BYTES
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


async def _asked(board: Board, robot: Robot, words: list[str]) -> str:
    """The move of a program, or its resignation, in canonical form. Raises Refused if it has failed too often."""
    position = json.dumps(letters.position(board.present), sort_keys=True)
    question = position
    why = ""
    async with Program(words, robot.seconds, errors=PIPE) as program:
        for _ in range(MOST_REFUSED):
            try:
                move = await program.ask(question)
                if move.lower() == GIVE_UP:
                    return GIVE_UP
                return board.state.parse(move)
            except Illegal as illegal:
                why = f"It has sent what is no legal move: {illegal}"
                one_line = " ".join(str(illegal).split())
                question = f"? {one_line}"
            except Refused as refused:
                why = str(refused)
                question = position  # the program has ended; asking starts it again
        raise Refused(why)


def _pause(session: Session, task: Task, robot: Robot, why: str) -> None:
    """Pause a robot, because its program has failed. A mail of the board tells the operator and all who wait for it."""
    from pbm.actions import rounds

    store = session.store
    name = robot.userid
    note = (
        f"{name} is paused, because its program has failed {MOST_REFUSED} times in a row.\n"
        "The operator is told. Until it plays again, no time is counted on this board."
    )
    with session.store.writing():
        store.robots.claim_task(task, None)
        if store.robots.get(name) != robot:
            return
        waiting = [waiting_task for waiting_task, _ in store.robots.tasks() if waiting_task.robot == name]
        store.robots.save(robot._replace(paused=session.now, why=why))
        rounds.tell_of_pause(session, name)
        for waiting_task in waiting:
            try:
                board = finding.find_board(session, *waiting_task.place)
            except Refused:  # it is damaged, and holds up no other board
                continue
            subscribers = board.about.subscribers
            board_letters = letters.of_board(session, board.present, waiting_task.opponent, *subscribers, notes=[note])
            delivery.queue(session, *board_letters)
            if waiting_task == task and session.server.operator:
                [letter] = letters.of_board(session, board.present, None, notes=[f"{note}\n{why}"])
                add_to_outbox(session, session.server.operator, letter)
    warn(f"{name} is paused: {why}")


@dataclass
class Playing:
    """Does tasks of robots in this process. Programs are asked in threads, so that one that hangs holds up nobody."""

    session: Session
    threads: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, MOST_PROGRAMS))
    busy: dict[str, Future[bool]] = field(default_factory=dict)
    """The task that each program is at, by the userid of the robot."""
    cluster_threads: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, MOST_GIVEN_OUT))
    thinker: Popen[bytes] | None = None
    """The last process that was started to think in idle time."""
    among: Collection[tuple[str, str]] | None = None
    """The boards on which it does tasks; None for all."""
    cluster: Cluster | None = None
    """Where robots think in idle time; None for here."""
    given_out: dict[tuple[str, str], Future[bool]] = field(default_factory=dict)
    """What is thought about on the cluster, by the place of the board."""

    def play(self, until: Callable[[], bool] = lambda: False) -> int:
        """Do all tasks, *until* that is true; those of programs are only begun. Returns how many were done."""
        done = 0
        while not until():
            ended = [name for name, doing in self.busy.items() if doing.done()]
            for name in ended:
                if self.busy.pop(name).result():
                    done += 1
            task = claim_next_task(self.session, busy=self.busy, among=self.among)
            if task is None:
                break
            robot = self.session.store.robots.get(task.robot)
            if robot and robot.program:
                self.busy[task.robot] = self.threads.submit(self._try_apart, task)
            elif _try(Session(self.session.server), task):  # a session keeps the names of its boards
                done += 1
        return done

    def _try_apart(self, task: Task, cluster: Cluster | None = None) -> bool:
        """Do a task in a thread, with a connection of its own to the database."""
        with Store(self.session.store.path) as store:
            return _try(Session(self.session.server._replace(store=store)), task, cluster)

    def give_out(self) -> bool:
        """Let the workers of the cluster do tasks of idle time, as many as they can do at once.

        Returns False if there are no workers now.
        """
        threads = self.cluster.threads if self.cluster else 0
        for place, doing in list(self.given_out.items()):
            if doing.done():
                del self.given_out[place]
                doing.result()
        while len(self.given_out) < threads:
            wanted = self.session.store.robots.next_analysis()
            if wanted and wanted not in self.given_out:
                self.given_out[wanted] = self.cluster_threads.submit(self._analyse_apart, *wanted)
                continue
            task = claim_next_task(self.session, is_idle=True, among=self.among, given_out=self.given_out)
            if task is None:
                break
            self.given_out[task.place] = self.cluster_threads.submit(self._try_apart, task, self.cluster)
        return threads > 0

    def is_anything_given_out(self) -> bool:
        """Let the cluster do what it can. Returns whether it is at anything."""
        self.give_out()
        return bool(self.given_out)

    def _analyse_apart(self, game: str, number: str) -> bool:
        """Let the cluster analyse a game, in a thread, with a connection of its own to the database."""
        with Store(self.session.store.path) as store, suppress(BlockingIOError):
            session = Session(self.session.server._replace(store=store))
            with only_thinker(session):
                try:
                    analysis.analyse_for_readers(session, game, number, self.cluster)
                except ElsewhereError as why:  # it is still wanted
                    warn(f"{game} {number} was not analysed: {why}")
                    time.sleep(LOOK_AFTER_FAULT_SECONDS)
        return True

    def start_thinker(self) -> None:
        """Start a process that thinks in idle time, if it has something to do and there is none yet.

        It ends when nothing is left to do, or when this process ends, which holds its standard input.
        """
        if (self.thinker is None or self.thinker.poll() is not None) and is_wanted_in_idle_time(self.session):
            environment = {**os.environ, "PBM_DB": str(self.session.store.path)}
            self.thinker = Popen(THINKER, stdin=PIPE, env=environment, start_new_session=True)


def is_wanted_in_idle_time(session: Session) -> bool:
    """Whether there is something to do in idle time, and no process does it."""
    if session.store.robots.next_analysis() is None and not _free(session, is_idle=True):
        return False
    with suppress(BlockingIOError), only_thinker(session):
        return True
    return False


def only_thinker(session: Session) -> AbstractContextManager[None]:
    """A lock for the one process that thinks in idle time. Raises BlockingIOError if another process has it."""
    return locked(session.store.path.with_name(f".{session.store.path.name}.thinking"))


def think_once(session: Session, among: Collection[tuple[str, str]] | None = None) -> bool:
    """Analyse a game that a user has asked for, or else do a task of idle time, on a board *among* some or on any.

    Returns False if there was nothing to do, or another process does it.
    """
    with suppress(BlockingIOError), only_thinker(session):
        if wanted := session.store.robots.next_analysis():
            analysis.analyse_for_readers(session, *wanted)
            return True
        if task := claim_next_task(session, is_idle=True, among=among):
            _try(session, task)
            return True
    return False


def play_all(session: Session, cluster: Cluster | None = None) -> int:
    """Do all tasks, and then those of idle time. Returns how many of the first kind were done.

    Only boards on which there is something to do now are played. In a tournament of robots, the end of a game begins
    others, which may go on for ever.
    """
    due = {task.place for task, _ in session.store.robots.tasks()}
    playing = Playing(session, among=due, cluster=cluster)
    done = playing.play()
    while playing.busy or playing.is_anything_given_out() or think_once(session, due):
        apart = list(playing.busy.values()) + list(playing.given_out.values())
        if apart:
            wait(apart, return_when=FIRST_COMPLETED)
        done += playing.play()
    return done


def _try(session: Session, task: Task, cluster: Cluster | None = None) -> bool:
    """Do a task, and return whether it was done. If it fails, standard error tells why, and the task is put off.

    What a cluster has lost is not put off: another worker does it, or this machine.
    """
    try:
        return do_task(session, task, cluster=cluster) is not None
    except Unusable:
        raise
    except ElsewhereError as why:
        warn(f"{task.robot} could not think about {task.game} {task.board}, and tries again. {why}")
        with session.store.writing():
            session.store.robots.claim_task(task, None)
    except Exception as why:  # a damaged board must not hold up all others
        warn(f"{task.robot} cannot play on {task.game} {task.board} ({type(why).__name__}: {why}); it is put off.")
        with session.store.writing():
            session.store.robots.claim_task(task, Claim(None, session.now + PUT_OFF))
    return False


def keep_playing(session: Session, wait_for_end: Callable[[float], bool], cluster: Cluster | None = None) -> None:
    """Do tasks as they come, until the end. While a *cluster* has workers, robots think there in idle time.

    *wait_for_end* waits for so many seconds, or until this process is told to end, and returns whether it was. Raises
    Replaced if the database has become another file.
    """
    playing = Playing(session, cluster=cluster)
    while True:
        seconds = LOOK_SECONDS
        try:
            session.store.check_in_place()
            playing.play(lambda: wait_for_end(0))
            if not playing.give_out():
                playing.start_thinker()
        except Replaced:
            raise
        except Unusable as why:
            warn(f"Robots could not play: {why}")
            seconds = LOOK_AFTER_FAULT_SECONDS
        if wait_for_end(seconds):
            return


def wait_for_robots(session: Session, answers: Sequence[Letter]) -> list[Letter]:
    """Wait until robots have moved on the boards of a command. Returns its answers, with these boards as they are then.

    The user who has signed sees here what a robot does, and gets no mail about it. Boards that a director has started
    for others are waited for, but not shown.
    """
    shown = list(answers)
    signers = frozenset(session.signers)
    seen: set[tuple[str, str]] = set()
    end = time.monotonic() + SHELL_SECONDS
    with suppress(KeyboardInterrupt):  # the user's command is done anyway
        # the last move of a game in a tournament can start another one, which is added to the boards
        while left := [place for place in session.boards if place not in seen]:
            place = left[0]
            seen.add(place)
            letter = _answer_of_robot(session, place, signers, end)
            if letter and (letter.to in signers or not signers):  # nobody signs a challenge
                shown = _with_board(shown, letter._replace(to=None))
    return shown


def _answer_of_robot(session: Session, place: tuple[str, str], signers: Collection[str], end: float) -> Letter | None:
    """Wait until no robot has anything to do on a board. Returns the letter that then shows it to its signer.

    None if a robot still has something to do: it has failed, was put off, or needs more time than there is.
    """
    answers: list[Letter] = []
    robot = next((task.robot for task, _ in session.store.robots.awaited(*place)), "A robot")
    try:
        with spinning(f"{robot} thinks"), limited_memory():
            while _is_awaited(session, *place) and time.monotonic() < end:
                answers = []
                task = claim_next_task(session, *place)
                if task is None:  # another process moves
                    time.sleep(PAUSE_SECONDS)
                    continue
                opponent = task.opponent if task.opponent in signers else None
                answers = do_task(session, task, opponent) or []
        shown = _board_as_now(session, place, signers)
    except Exception as why:
        warn(f"{robot} could not answer ({type(why).__name__}: {why}).")
        return None
    for letter in answers:
        if shown and shown.to and letter.to == shown.to:
            return letter
    return shown


def _board_as_now(session: Session, place: tuple[str, str], signers: Collection[str]) -> Letter | None:
    """The letter that shows a board to its signer; None if a robot has to move there, or if it is removed."""
    if session.store.robots.awaited(*place):
        return None
    try:
        board = finding.find_board(session, *place)
    except Refused:
        return None
    reader = next((name for name in board.players if name in signers), None)
    [letter] = letters.of_board(session, board.present, reader)
    return letter


def are_awaited(session: Session) -> bool:
    """Whether a robot still has something to do on one of the boards of a command."""
    return any(_is_awaited(session, *place) for place in session.boards)


def answers_after_robots(session: Session, answers: Sequence[Letter]) -> list[Letter]:
    """The answers to a command with its boards as they are now, without those on which a robot has to move first."""
    shown = list(answers)
    signers = frozenset(session.signers)
    with session.store.reading():
        for place in session.boards:
            letter = _board_as_now(session, place, signers)
            if letter and (letter.to or not signers):
                shown = _with_board(shown, letter._replace(to=None))
    return shown


def _with_board(answers: Sequence[Letter], shown: Letter) -> list[Letter]:
    """Answers with the letter that shows a board as it is now, instead of those that show it as it was."""
    place = shown.game, shown.board
    outdated = [letter for letter in answers if letter.point and (letter.game, letter.board) == place]
    up_to_date = [letter for letter in answers if letter not in outdated]
    position = answers.index(outdated[0]) if outdated else len(answers)
    up_to_date.insert(position, shown)
    return up_to_date


def _is_awaited(session: Session, *place: str) -> bool:
    """Whether a robot has a task on a board for which a person waits, and that was not put off."""
    claims = (claim for _, claim in session.store.robots.awaited(*place))
    return any(claim is None or claim.process is not None or claim.until <= session.now for claim in claims)
