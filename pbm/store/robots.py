"""Robots: users that are programs."""

import json
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple

from pbm.store.base import Base
from pbm.store.form import columns, time_of


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


class Robots(Base):
    """What is stored of robots."""

    def robots(self) -> list[Robot]:
        """All robots, by name."""
        return [_robot(row) for row in self.db.execute(f"{SELECTED} ORDER BY userid")]

    def robot(self, userid: str) -> Robot | None:
        """The robot of that name; None if that is none."""
        return self.robots_among([userid]).get(userid)

    def robots_among(self, userids: Iterable[str]) -> dict[str, Robot]:
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

    def save_robot(self, robot: Robot) -> None:
        """Store what has changed of a robot, or that a user is one."""
        values = columns(robot)
        places = ", ".join("?" * len(values))
        self.db.execute(f"INSERT OR REPLACE INTO robots ({', '.join(values)}) VALUES ({places})", [*values.values()])

    def boards_against_robots(self, userid: str) -> int:
        """On how many active boards a user plays against robots."""
        among = "IN (SELECT userid FROM robots)"
        count = "(SELECT count(*) FROM boards WHERE game = tallies.game AND ended IS NULL AND %s)"
        first = count % f"first_player = ?1 AND second_player {among}"
        second = count % f"second_player = ?1 AND first_player <> ?1 AND first_player {among}"
        query = f"SELECT coalesce(sum({first} + {second}), 0) FROM tallies"
        return int(self.db.execute(query, [userid]).fetchone()[0])


def _robot(row: tuple[Any, ...]) -> Robot:
    """A row of the table as what it says."""
    robot = Robot._make(row)
    games, paused = (row[Robot._fields.index(name)] for name in ("games", "paused"))
    return robot._replace(games=tuple(json.loads(games)), rated=bool(robot.rated), paused=time_of(paused))
