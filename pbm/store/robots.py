"""Robots, which are users that are programs: what waits for them, and what they think of games."""

import json
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from pbm.store.base import Questions
from pbm.store.form import columns, text, time_of


class Robot(NamedTuple):
    """A user who is a program. He has no password and no address."""

    userid: str
    level: int | None
    """How well they play, a number of `pbm.levels`; None for a program of the operator's."""
    program: str | None = None
    """That program, with its arguments."""
    games: tuple[str, ...] = ()
    """What he plays; nothing stands for all games."""
    rated: bool = True
    """Whether games against him count in the ratings."""
    most: int = 1000
    """At how many active boards of all games he takes no more challenges."""
    seconds: float = 2
    """For how long he may think about a move."""
    paused: datetime | None = None
    """Since when he plays no more; None while he does."""
    why: str | None = None
    """What went wrong with him, if he was not paused by the operator."""


SELECTED = f"SELECT {', '.join(Robot._fields)} FROM robots"


class Task(NamedTuple):
    """A board on which a robot has to do something: to move, or to answer a proposal."""

    game: str
    board: str
    robot: str
    opponent: str


class Claim(NamedTuple):
    """A process that does a task."""

    process: int
    """Its number on this machine."""
    until: datetime
    """By then the task is done, or somebody else does it."""


class Robots(Questions):
    """What is stored of robots."""

    def all(self) -> list[Robot]:
        """All robots, by name."""
        return [_robot(row) for row in self.db.execute(f"{SELECTED} ORDER BY userid")]

    def get(self, userid: str) -> Robot | None:
        """The robot of that name; None if that is none."""
        return self.among([userid]).get(userid)

    def among(self, userids: Iterable[str]) -> dict[str, Robot]:
        """Those of these users who are robots, by name."""
        query = f"{SELECTED} WHERE userid IN (SELECT value FROM json_each(?)) ORDER BY userid"
        return {row[0]: _robot(row) for row in self.db.execute(query, [json.dumps([*userids])])}

    def away_and_robots(self, players: tuple[str, str], today: date) -> tuple[dict[str, date], dict[str, Robot]]:
        """The players who are on vacation, planned or taken, each with the last day of it; and those who are robots."""
        planned = "SELECT max(last) FROM vacations WHERE userid = users.userid AND ?1 BETWEEN first AND last"
        taken = "SELECT day FROM vacation_days WHERE userid = users.userid AND day = ?1"
        query = (
            f"SELECT coalesce(({planned}), ({taken})), users.userid, robots.* "
            "FROM users LEFT JOIN robots USING (userid) WHERE users.userid IN (?2, ?3) ORDER BY users.userid"
        )
        rows = self.db.execute(query, [today.isoformat(), *players]).fetchall()
        away = {userid: date.fromisoformat(last) for last, userid, *_ in rows if last}
        return away, {userid: _robot(robot) for _, userid, *robot in rows if userid == robot[0]}

    def save(self, robot: Robot) -> None:
        """Store what has changed of a robot, or that a user is one."""
        self.insert("robots", columns(robot), replacing=True)

    def boards_against_robots(self, userid: str) -> int:
        """On how many active boards a user plays against robots."""
        among = "IN (SELECT userid FROM robots)"
        count = "(SELECT count(*) FROM boards WHERE game = tallies.game AND ended IS NULL AND %s)"
        first = count % f"first_player = ?1 AND second_player {among}"
        second = count % f"second_player = ?1 AND first_player <> ?1 AND first_player {among}"
        query = f"SELECT coalesce(sum({first} + {second}), 0) FROM tallies"
        return int(self.db.execute(query, [userid]).fetchone()[0])

    # What robots have to do

    def tasks(self, *place: str) -> list[tuple[Task, Claim | None]]:
        """What robots that are not paused have to do, or those on one board, *place*, which is a game and its number.

        First come, first served; but who has just been answered stands behind all who have waited for longer than
        that, with all his other boards. Each has the process that was doing it, though it may have ended.
        """
        which = " AND (boards.game, boards.board) = (?, ?)" if place else ""
        waiting = (
            "SELECT boards.rowid AS at, userid FROM robots CROSS JOIN boards ON turn = userid "
            f"WHERE paused IS NULL{which} UNION "
            "SELECT boards.rowid, userid FROM boards JOIN robots ON userid IN (first_player, second_player) "
            f"WHERE vote IS NOT NULL AND voter <> userid AND paused IS NULL{which}"
        )
        served = (
            "(SELECT max(answered) FROM robot_boards WHERE opponent = iif(userid = first_player, second_player, "
            "first_player))"
        )
        query = (
            "SELECT boards.game, boards.board, userid, iif(userid = first_player, second_player, first_player), "
            f"claimed_by, claimed_until FROM ({waiting}) JOIN boards ON boards.rowid = at LEFT JOIN robot_boards "
            "ON (robot_boards.game, robot_boards.board, robot) = (boards.game, boards.board, userid) "
            f"ORDER BY max(coalesce(changed, started), coalesce({served}, '')), coalesce(changed, started), at"
        )
        return [
            (Task(*task), Claim(process, time_of(until)) if until else None)
            for *task, process, until in self.db.execute(query, [*place, *place])
        ]

    def claim_task(self, task: Task, claim: Claim | None) -> None:
        """Note which process does a task, or that none does."""
        process, until = (claim.process, text(claim.until)) if claim else (None, None)
        query = (
            "INSERT INTO robot_boards (game, board, robot, opponent, claimed_by, claimed_until) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until"
        )
        self.db.execute(query, [*task, process, until])

    def note_answer(self, task: Task, hopeless: int, now: datetime) -> None:
        """Note that a task is done, and for how many turns in a row the robot has had no hope."""
        query = (
            "UPDATE robot_boards SET hopeless = ?, answered = ?, claimed_by = NULL, claimed_until = NULL, "
            "talk = nullif(talk, 'once') WHERE (game, board, robot) = (?, ?, ?)"
        )
        self.db.execute(query, [hopeless, text(now), task.game, task.board, task.robot])

    def hopeless_turns(self, task: Task) -> int:
        """For how many turns in a row the robot has had no hope."""
        query = "SELECT hopeless FROM robot_boards WHERE (game, board, robot) = (?, ?, ?)"
        row = self.db.execute(query, [task.game, task.board, task.robot]).fetchone()
        return row[0] if row else 0

    def let_talk(self, task: Task, how: str) -> None:
        """Let a robot say what it thinks with its next move, ``once``, or with each of its moves, ``always``."""
        query = (
            "INSERT INTO robot_boards (game, board, robot, opponent, talk) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET talk = coalesce(talk, excluded.talk)"
        )
        self.db.execute(query, [*task, how])

    def talks(self, task: Task) -> bool:
        """Whether a robot is to say what it thinks with its next move."""
        query = "SELECT talk IS NOT NULL FROM robot_boards WHERE (game, board, robot) = (?, ?, ?)"
        row = self.db.execute(query, [task.game, task.board, task.robot]).fetchone()
        return bool(row and row[0])

    # What robots think of games that are over

    def save_analysis(self, game: str, board: str, analysis: str, now: datetime) -> None:
        """Store what a robot thinks of a game, as JSON."""
        self.db.execute("INSERT OR REPLACE INTO analyses VALUES (?, ?, ?, ?)", [game, board, text(now), analysis])

    def analysis(self, game: str, board: str) -> str | None:
        """What a robot thinks of a game, as JSON; None if none was asked."""
        row = self.db.execute("SELECT analysis FROM analyses WHERE game = ? AND board = ?", [game, board]).fetchone()
        return str(row[0]) if row else None


def _robot(row: tuple[Any, ...]) -> Robot:
    """A row of the table as what it says."""
    robot = Robot._make(row)
    games, paused = (row[Robot._fields.index(name)] for name in ("games", "paused"))
    return robot._replace(games=tuple(json.loads(games)), rated=bool(robot.rated), paused=time_of(paused))
