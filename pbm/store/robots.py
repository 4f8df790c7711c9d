"""Robots, which are users that are programs: their settings, their tasks, analyses and puzzles."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from pbm.levels import thinks_in_idle_time
from pbm.store.base import Questions, as_row
from pbm.store.boards import OF_BOARD, BoardRow


class Robot(NamedTuple):
    """A user who is a program. It has no password and no address."""

    userid: str
    level: int | None
    """How well it plays, a number of `pbm.levels`; None for a program of the operator's."""
    program: str | None = None
    """The program of the operator's, with its arguments; None for a robot of pbm."""
    games: tuple[str, ...] = ()
    """The games that it plays; empty for all games."""
    rated: bool = True
    """Whether games against it count in the ratings."""
    most: int = 1000
    """The number of active boards of all games at which it takes no more challenges."""
    seconds: float = 2
    """How long it may think about a move."""
    paused: datetime | None = None
    """Since when it is paused; None while it plays."""
    why: str | None = None
    """What went wrong, if it was not paused by the operator."""

    @property
    def thinks_in_idle_time(self) -> bool:
        """Whether it thinks in idle time, so that nobody waits for it in a shell."""
        return thinks_in_idle_time(self.level)


SELECTED = f"SELECT {', '.join(Robot._fields)} FROM robots"
OF_TASK = "(game, board, robot) = (?, ?, ?)"


class Task(NamedTuple):
    """A board on which a robot has to do something: to move, or to answer a proposal."""

    game: str
    board: str
    robot: str
    opponent: str

    @property
    def place(self) -> tuple[str, str]:
        """The game and the board."""
        return self.game, self.board


class RobotNotes(NamedTuple):
    """What is noted of a robot on a board."""

    talks: bool = False
    """Whether it says what it thinks with its next move."""
    hopeless: int = 0
    """For how many turns in a row it has seen no chance to win."""


class Claim(NamedTuple):
    """A claim keeps other processes from a task."""

    process: int | None
    """The number on this machine of the process that does the task; None if the task has failed and is put off."""
    until: datetime
    """When the claim ends."""


class Puzzle(NamedTuple):
    """A position of a game that is over in which a single turn wins."""

    game: str
    board: str
    moves: int
    """The number of turns before the position."""
    answer: str
    """The turn that wins; empty if the board has no such position."""
    proven: bool
    """Whether the answer is proven by the rules alone, and not only found by a long search."""


OF_PUZZLE = ", ".join(Puzzle._fields)


class Robots(Questions):
    """What is stored of robots."""

    def all(self) -> list[Robot]:
        """All robots, by name."""
        return self.rows(Robot, f"{SELECTED} ORDER BY userid")

    def get(self, userid: str) -> Robot | None:
        """The robot of that name; None if there is none."""
        return self.among([userid]).get(userid)

    def among(self, userids: Iterable[str]) -> dict[str, Robot]:
        """The robots among these users, by name."""
        query = f"{SELECTED} WHERE userid IN (SELECT value FROM json_each(?)) ORDER BY userid"
        return {robot.userid: robot for robot in self.rows(Robot, query, list(userids))}

    def save(self, robot: Robot) -> None:
        """Store a robot; this replaces what was stored of it. The user has to exist."""
        self.insert("robots", robot._asdict(), replacing=True)

    def boards_against_robots(self, userid: str) -> int:
        """The number of active boards on which a user plays against robots."""
        among = "IN (SELECT userid FROM robots)"
        count = "(SELECT count(*) FROM boards WHERE game = tallies.game AND ended IS NULL AND %s)"
        first = count % f"first_player = ?1 AND second_player {among}"
        second = count % f"second_player = ?1 AND first_player <> ?1 AND first_player {among}"
        return int(self.value(f"SELECT coalesce(sum({first} + {second}), 0) FROM tallies", userid))

    # What robots have to do

    def tasks(self, *place: str) -> list[tuple[Task, Claim | None]]:
        """The tasks of robots that are not paused, or only those on one board, *place*, which is a game and a number.

        The task that has waited longest comes first; the other boards of an opponent wait from the last answer to them
        on. Each task has the stored claim of the process that does it, which may have ended, or None.
        """
        which = " AND (boards.game, boards.board) = (?, ?)" if place else ""
        waiting = f"""
            SELECT boards.rowid AS at, userid FROM robots CROSS JOIN boards ON turn = userid
            WHERE paused IS NULL{which}
            UNION
            SELECT boards.rowid, userid FROM boards JOIN robots ON userid IN (first_player, second_player)
            WHERE vote IS NOT NULL AND voter <> userid AND paused IS NULL{which}
        """
        other = "iif(userid = first_player, second_player, first_player)"
        served = f"(SELECT max(answered) FROM robot_boards WHERE opponent = {other})"
        query = f"""
            SELECT boards.game, boards.board, userid, {other}, claimed_by, claimed_until
            FROM ({waiting}) JOIN boards ON boards.rowid = at LEFT JOIN robot_boards
                ON (robot_boards.game, robot_boards.board, robot) = (boards.game, boards.board, userid)
            ORDER BY max(coalesce(changed, started), coalesce({served}, '')), coalesce(changed, started), at
        """
        return [
            (Task(*task), as_row(Claim, [process, until]) if until else None)
            for *task, process, until in self.execute(query, *place, *place)
        ]

    def awaited(self, *place: str) -> list[tuple[Task, Claim | None]]:
        """The tasks on a board for which a person waits, without those of robots that think in idle time."""
        tasks = self.tasks(*place)
        robots = self.among({name for task, _ in tasks for name in (task.robot, task.opponent)})
        return [
            (task, claim)
            for task, claim in tasks
            if task.opponent not in robots and not robots[task.robot].thinks_in_idle_time
        ]

    def claim_task(self, task: Task, claim: Claim | None) -> None:
        """Store the claim of a process on a task; None releases it. Nothing is stored if the board was removed."""
        query = """
            INSERT INTO robot_boards (game, board, robot, opponent, claimed_by, claimed_until)
            SELECT game, board, ?3, ?4, ?5, ?6 FROM boards WHERE game = ?1 AND board = ?2
            ON CONFLICT DO UPDATE SET claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until
        """
        self.execute(query, *task, *(claim or (None, None)))

    def note_answer(self, task: Task, hopeless: int, now: datetime) -> None:
        """Note that a task is done, and for how many turns in a row the robot has seen no chance to win."""
        query = f"""
            UPDATE robot_boards SET hopeless = ?, answered = ?, claimed_by = NULL, claimed_until = NULL,
                talk = nullif(talk, 'once')
            WHERE {OF_TASK}
        """
        self.execute(query, hopeless, now, *task[:3])

    def notes_on(self, task: Task) -> RobotNotes:
        """What is noted of a robot on a board."""
        query = f"SELECT talk IS NOT NULL, hopeless FROM robot_boards WHERE {OF_TASK}"
        return self.row(RobotNotes, query, *task[:3]) or RobotNotes()

    def let_talk(self, row: BoardRow, robot: str, how: str) -> None:
        """Let a robot say what it thinks with its next move, ``once``, or with each of its moves, ``always``."""
        query = """
            INSERT INTO robot_boards (game, board, robot, opponent, talk) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET talk = coalesce(talk, excluded.talk)
        """
        self.execute(query, *row.place, robot, row.opponent(robot), how)

    # Analyses and puzzles of games that are over

    def forget_analysis(self, game: str, board: str) -> None:
        """Delete the analysis and the puzzle of a game, and who has asked for it, because the game goes on."""
        for table in "analyses", "analysis_requests", "puzzles":
            self.execute(f"DELETE FROM {table} WHERE {OF_BOARD}", game, board)

    def ask_for_analysis(self, game: str, board: str, userid: str, now: datetime) -> None:
        """Note that a user wants the analysis of a game; asking again changes nothing."""
        self.execute("INSERT OR IGNORE INTO analysis_requests VALUES (?, ?, ?, ?)", game, board, userid, now)

    def next_analysis(self) -> tuple[str, str] | None:
        """The game and the number of the board of the oldest request for an analysis; None if there is none."""
        query = "SELECT game, board FROM analysis_requests ORDER BY asked, userid LIMIT 1"
        return next(iter(self.execute(query)), None)

    def take_analysis_requests(self, game: str, board: str) -> list[str]:
        """Delete the requests for the analysis of a game. Returns the users who made them."""
        query = f"DELETE FROM analysis_requests WHERE {OF_BOARD} RETURNING userid"
        return sorted(self.column(query, game, board))

    def save_analysis(self, game: str, board: str, analysis: str, now: datetime) -> None:
        """Store the analysis of a game, as JSON."""
        self.execute("INSERT OR REPLACE INTO analyses VALUES (?, ?, ?, ?)", game, board, now, analysis)

    def analysis(self, game: str, board: str) -> str | None:
        """The analysis of a game, as JSON; None if nobody has asked for one."""
        analysis: str | None = self.value(f"SELECT analysis FROM analyses WHERE {OF_BOARD}", game, board)
        return analysis

    def boards_without_puzzles(self, game: str) -> list[str]:
        """The boards that are over and were not searched for a puzzle yet, the last one first.

        Boards that began with a position of another one are left out. So are boards that an active board began from,
        directly or by way of others: a puzzle would tell its players how to go on.
        """
        query = """
            WITH RECURSIVE begun(board) AS (
                SELECT source FROM boards WHERE game = ?1 AND ended IS NULL
                UNION SELECT source FROM boards JOIN begun USING (board) WHERE game = ?1
            )
            SELECT board FROM boards WHERE game = ?1 AND ended IS NOT NULL AND source IS NULL
                AND board NOT IN (SELECT board FROM puzzles WHERE game = ?1)
                AND board NOT IN (SELECT board FROM begun WHERE board IS NOT NULL)
            ORDER BY ended DESC
        """
        return self.column(query, game)

    def save_puzzle(self, puzzle: Puzzle, now: datetime) -> None:
        """Store the puzzle of a board that was not searched before."""
        self.insert("puzzles", {**puzzle._asdict(), "found": now})

    def puzzle(self, game: str, board: str) -> Puzzle | None:
        """What the search for a puzzle on a board has found; None if it was not searched."""
        return self.row(Puzzle, f"SELECT {OF_PUZZLE} FROM puzzles WHERE {OF_BOARD}", game, board)

    def puzzles(self, game: str, most: int) -> list[Puzzle]:
        """The puzzles of a game, those first that were found last; at most *most*."""
        query = f"SELECT {OF_PUZZLE} FROM puzzles WHERE game = ? AND answer <> '' ORDER BY found DESC LIMIT ?"
        return self.rows(Puzzle, query, game, most)

    def take_puzzle(self, now: datetime, before: datetime) -> Puzzle | None:
        """Mark the oldest puzzle that was not mailed yet as mailed *now*. Returns it.

        None if there is none, or if one was mailed after *before*.
        """
        query = f"""
            UPDATE puzzles SET mailed = ? WHERE NOT EXISTS (SELECT 1 FROM puzzles WHERE mailed > ?)
                AND (game, board) =
                    (SELECT game, board FROM puzzles WHERE answer <> '' AND mailed IS NULL ORDER BY found LIMIT 1)
            RETURNING {OF_PUZZLE}
        """
        return self.row(Puzzle, query, now, before)
