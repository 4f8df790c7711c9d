"""All that is stored of one user: where it stands, to be told to them, or to be taken away."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pbm.names import FORMER, untagged
from pbm.store.base import Questions
from pbm.store.boards import BOARDS_OF_PLAYER, PLAYED_BY, SEATS

BY_USERID = "userid = :userid"
IN_DETAIL = "EXISTS (SELECT 1 FROM json_tree({column}) WHERE atom = :userid)"
OF_TARGETS = "target IN (SELECT id FROM notice_targets WHERE userid = :userid)"
BY_ADDRESS = "SELECT value FROM json_each(:addresses)"
PERSONAL: Mapping[str, str] = {
    "users": BY_USERID,
    "addresses": BY_USERID,
    "players": BY_USERID,
    "robots": BY_USERID,
    "blocked": BY_USERID,
    "vacations": BY_USERID,
    "vacation_days": BY_USERID,
    "boards": ":userid IN (first_player, second_player)",
    "board_states": ":userid IN (first_player, second_player)",
    "turns": BY_USERID,
    "plans": BY_USERID,
    "board_notes": BY_USERID,
    "talk": BY_USERID,
    "followers": BY_USERID,
    "reminders": BY_USERID,
    "results": BY_USERID,
    "robot_boards": ":userid IN (robot, opponent)",
    "analysis_requests": BY_USERID,
    "analyses": IN_DETAIL.format(column="analysis"),
    "outbox": f"{BY_USERID} OR address COLLATE NOCASE IN ({BY_ADDRESS})",
    "digests": BY_USERID,
    "handled": f"sender COLLATE NOCASE IN ({BY_ADDRESS})",
    "replies": BY_USERID,
    "quotas": f"holder = :userid OR holder LIKE '% ' || :userid OR holder IN ({BY_ADDRESS})",
    "failures": f"holder = :userid OR holder IN ({BY_ADDRESS})",
    "bars": f"bar COLLATE NOCASE IN ({BY_ADDRESS})",
    "tokens": BY_USERID,
    "posts": BY_USERID,
    "notice_targets": BY_USERID,
    "notices": f"about <> 'code' AND {OF_TARGETS}",
    "tournaments": ("director = :userid OR ' ' || replace(never, ':', ' ') || ' ' LIKE '% ' || :userid || ' %'"),
    "pool_players": BY_USERID,
    "meetings": ":userid IN (first, second)",
    "events": f"{BY_USERID} OR {IN_DETAIL.format(column='detail')}",
    "changes": "kind IN ('user', 'player') AND name = :userid",
}
"""Which rows of a table are about a user: a condition with their userid, and with their addresses as JSON. A table that
is not named has nothing about users."""
WITHHELD: Mapping[str, frozenset[str]] = {
    # hashes of what proves who somebody is, and secrets that are needed to send
    "users": frozenset({"password", "reset_code"}),
    "addresses": frozenset({"code"}),
    "tokens": frozenset({"digest"}),
    "notice_targets": frozenset({"url", "secret", "code"}),
    # the dice of games that go on; `dice` tells those of others
    "boards": frozenset({"secret", "earlier_secret"}),
}
"""The columns that are told to nobody."""
OF_THEIR_BOARDS = f"(game, board) IN ({BOARDS_OF_PLAYER})"
OF_THEIR_POOLS = "(game, pool) IN (SELECT game, pool FROM pool_players WHERE userid = ?1)"
"""Conditions with the userid as their first value."""


A_FORMER_PLAYER = "a former player"


class Persons(Questions):
    """What is stored of one user, in all tables."""

    def data_of(self, userid: str) -> dict[str, list[dict[str, Any]]]:
        """The rows about a user, by table, as they are stored; without what is told to nobody, and empty tables."""
        addresses = self.column("SELECT address FROM addresses WHERE userid = ?", userid)
        # quotas count for an address without its tag
        counted = addresses + [untagged(address) for address in addresses]
        whose = {"userid": userid, "addresses": json.dumps(counted)}
        data = {}
        for table, condition in PERSONAL.items():
            cursor = self.db.execute(f"SELECT * FROM {table} WHERE {condition}", whose)
            names = [column[0] for column in cursor.description]
            withheld = WITHHELD.get(table, frozenset())
            rows = []
            for values in cursor.fetchall():
                row = dict(zip(names, values, strict=True))
                if table == "boards" and row["turn"] != userid:
                    row["submitted"] = None  # it is the opponent's, who has not played it yet
                rows.append({name: value for name, value in row.items() if name not in withheld})
            if rows:
                data[table] = rows
        return data

    def is_named(self, userid: str) -> bool:
        """Whether a user stands on boards, in results or in tournaments."""
        for table in ("boards", "results", "players", "pool_players"):
            if self.db.execute(f"SELECT 1 FROM {table} WHERE {PERSONAL[table]} LIMIT 1", {"userid": userid}).fetchone():
                return True
        return False

    def erase(self, userid: str, now: datetime, server_name: str) -> str:
        """Replace a user who has signed off by a former player: on boards, in results and in tournaments.

        What *server_name* has said on their boards names them no more. The userid itself stays known, so that nobody
        else can take it. Returns the name of the former player.
        """
        former = self._add_former(userid, now)
        results = "UPDATE results SET userid = ?2 WHERE userid = ?1"
        self.execute(f"{results} AND {OF_THEIR_BOARDS}", userid, former)
        analyses = "UPDATE analyses SET analysis = replace(analysis, ?2, ?3)"
        self.execute(f"{analyses} WHERE {OF_THEIR_BOARDS}", userid, json.dumps(userid), json.dumps(former))
        self._rename_in_words_of_server(userid, server_name)
        for table, columns in PLAYED_BY.items():
            for column in columns:
                if column not in SEATS:
                    condition = f"{column} = ?1 AND {OF_THEIR_BOARDS}"
                    self.execute(f"UPDATE {table} SET {column} = ?2 WHERE {condition}", userid, former)
        for seat in SEATS:  # last, because all others are found by them
            self.execute(f"UPDATE boards SET {seat} = ?2 WHERE {seat} = ?1 AND {OF_THEIR_BOARDS}", userid, former)
        for seat in SEATS:
            self.execute(f"UPDATE board_states SET {seat} = ?2 WHERE {seat} = ?1", userid, former)  # also removed ones
        self._rename_in_tournaments(userid, former)
        self.execute("UPDATE players SET userid = ?2 WHERE userid = ?1", userid, former)
        self.execute("DELETE FROM blocked WHERE other = ?", userid)
        return former

    def _add_former(self, userid: str, now: datetime) -> str:
        """Add the next former player, who has signed off, to the users. Returns their name."""
        last = f"SELECT max(CAST(substr(userid, {len(FORMER) + 1}) AS INTEGER)) FROM users WHERE userid GLOB ?"
        number = self.value(last, f"{FORMER}[0-9]*") or 0
        former = f"{FORMER}{number + 1}"
        created = self.value("SELECT created FROM users WHERE userid = ?", userid)
        self.insert("users", {"userid": former, "password": "", "created": created, "signed_off": now})
        return former

    def _rename_in_words_of_server(self, userid: str, server_name: str) -> None:
        """Take the name of a user out of what the server has said on their boards, such as `bob has signed off.`."""
        name = re.compile(rf"(?<![\w.-]){re.escape(userid)}(?![\w-])")
        said = f"SELECT game, board, number, text FROM talk WHERE userid = ?2 AND {OF_THEIR_BOARDS}"
        for game, board, number, text in self.execute(said, userid, server_name):
            where = "game = ? AND board = ? AND number = ?"
            self.update("talk", {"text": name.sub(A_FORMER_PLAYER, text)}, where, game, board, number)
        said = f"SELECT game, board, comment FROM boards WHERE commenter = ?2 AND {OF_THEIR_BOARDS}"
        for game, board, text in self.execute(said, userid, server_name):
            self.update("boards", {"comment": name.sub(A_FORMER_PLAYER, text)}, "game = ? AND board = ?", game, board)

    def _rename_in_tournaments(self, userid: str, former: str) -> None:
        """Replace a user by a former player in their tournaments."""
        for column in "first", "second":
            self.execute(f"UPDATE meetings SET {column} = ?2 WHERE {column} = ?1 AND {OF_THEIR_POOLS}", userid, former)
        apart = f"SELECT game, pool, never FROM tournaments WHERE never <> '' AND {OF_THEIR_POOLS}"
        for game, pool, never in self.execute(apart, userid):
            renamed = re.sub(rf"(?<![^ :]){re.escape(userid)}(?![^ :])", former, never)
            self.update("tournaments", {"never": renamed}, "game = ? AND pool = ?", game, pool)
        self.execute("UPDATE tournaments SET director = ?2 WHERE director = ?1", userid, former)
        self.execute("UPDATE pool_players SET userid = ?2 WHERE userid = ?1", userid, former)
