"""All that is stored of one user: where it stands, to be told to them."""

import json
from collections.abc import Mapping
from typing import Any

from pbm.names import untagged
from pbm.store.base import Questions

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


class Persons(Questions):
    """What is stored of one user, in all tables."""

    def data_of(self, userid: str) -> dict[str, list[dict[str, Any]]]:
        """The rows about a user, by table, as they are stored; without what is told to nobody, and empty tables."""
        addresses = self.column("SELECT address FROM addresses WHERE userid = ?", userid)
        # quotas count for an address without its tag
        whose = {"userid": userid, "addresses": json.dumps([*addresses, *map(untagged, addresses)])}
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
