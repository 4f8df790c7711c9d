"""The tables, as one migration after another makes them; a database knows how many it has seen."""

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime

from sqlite_utils import Database, Migrations
from sqlite_utils.db import ForeignKey

from pbm.levels import LEVEL_NUMBERS, USUAL_LEVEL
from pbm.store.base import APPLICATION_ID, SCHEMA, text
from pbm.store.boards import DUE
from pbm.store.players import ESTABLISHED

PARTS = (
    "SELECT type || ' ' || name, sql FROM sqlite_schema "
    "WHERE type IN ('trigger', 'view') OR name NOT GLOB 'sqlite_*' AND tbl_name <> '_sqlite_migrations'"
)
"""What a database consists of, but for the tables of SQLite, and that of migrations, which sqlite-utils makes as it
likes; what somebody has hung on these is no part of them."""

FIRST_ROBOTS = {"robot": USUAL_LEVEL} | {f"robot{level}": level for level in LEVEL_NUMBERS}
"""The robots of a new database, with their levels."""

ANY = "INSERT, UPDATE, DELETE"
NOTED = (
    ("boards", ANY, "'board', {row}.game, {row}.board"),
    ("boards", "DELETE", "'user', '', {row}.first_player"),
    ("boards", "DELETE", "'user', '', {row}.second_player"),
    ("boards", "DELETE", "'pool', {row}.game, coalesce({row}.pool, '')"),
    ("analyses", ANY, "'board', {row}.game, {row}.board"),
    ("players", ANY, "'player', {row}.game, {row}.userid"),
    ("users", "UPDATE OF signed_off", "'user', '', {row}.userid"),
    ("robots", ANY, "'user', '', {row}.userid"),
    ("tournaments", ANY, "'pool', {row}.game, {row}.pool"),
    ("pool_players", ANY, "'pool', {row}.game, {row}.pool"),
    ("meetings", ANY, "'pool', {row}.game, {row}.pool"),
)
"""The tables whose changes are noted, when, and as changes of what."""

migrations = Migrations("pbm")


def apply(db: sqlite3.Connection) -> None:
    """Make all tables, or what an older version lacks, in the transaction that is open."""
    migrations.apply(Database(db, execute_plugins=False))  # to look for plugins takes longer than all of this
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def wrong_parts(db: sqlite3.Connection) -> list[str]:
    """What a database of this version lacks, what is another way in it, and what it has that pbm has not made."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        apply(fresh)
        wanted, found = (_parts(each) for each in (fresh, db))
    changed = [name for name in wanted.keys() & found.keys() if wanted[name] != found[name]]
    return [
        *(f"there is no {name}" for name in sorted(wanted.keys() - found)),
        *(f"there is a {name} that pbm has not made" for name in sorted(found.keys() - wanted)),
        *(f"the {name} is not as pbm has made it" for name in sorted(changed)),
    ]


def _parts(db: sqlite3.Connection) -> dict[str, str]:
    """The tables and indexes of a database, each with its SQL, but for how sqlite-utils lays that out."""
    layout = str.maketrans(dict.fromkeys('"[]; \n', ""))
    return {name: (sql or "").translate(layout) for name, sql in db.execute(PARTS)}


@migrations()
def first_tables(db: Database) -> None:
    """All tables of the first release."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    _create_users(db)
    _create_boards(db)
    _create_mails(db)
    _create_tournaments(db)
    _create_notes(db)
    _create_indexes(db)
    _create_triggers(db)
    now = text(datetime.now(UTC))
    db.table("keys").insert({"name": "addresses", "value": secrets.token_bytes(32)})
    db.table("notes").insert({"name": "begun", "moment": now})
    for userid, level in FIRST_ROBOTS.items():
        db.table("users").insert({"userid": userid, "password": "", "created": now})
        db.table("robots").insert(
            {"userid": userid, "level": level, "games": "[]", "rated": 1, "most": 1000, "seconds": 2.0}
        )


def _create(
    db: Database,
    name: str,
    columns: Mapping[str, type],
    pk: str | Sequence[str],
    *,
    optional: Iterable[str] = (),
    defaults: Mapping[str, object] | None = None,
    users: Iterable[str] = (),
    of_board: bool = False,
) -> None:
    """Create a table whose rows lie in the order of its primary key, so that those of one board are read together.

    Only *optional* columns may be NULL; those of *users* refer to users. The rows *of a board* go when the board goes.
    """
    references: list[ForeignKey | tuple[str, str]] = [(column, "users") for column in users]
    if of_board:
        key = ("game", "board")
        board = ForeignKey(
            name, None, "boards", None, columns=key, other_columns=key, is_compound=True, on_delete="CASCADE"
        )
        references.append(board)
    sql = db.create_table_sql(
        name,
        dict(columns),
        pk=pk,
        foreign_keys=references,
        not_null=columns.keys() - {*optional},
        defaults=dict(defaults or {}),
        strict=True,
    )
    db.execute(sql.replace(") STRICT;", ") STRICT, WITHOUT ROWID;"))  # which sqlite-utils cannot say


def _create_users(db: Database) -> None:
    """Users, what each is in one game, and the robots among them."""
    _create(
        db,
        "users",
        {
            "userid": str,
            "password": str,
            "generation": int,
            "created": str,
            "signed_off": str,
            "html": int,
            "hears_broadcasts": int,
            "last_broadcast": str,
            "reset_code": str,
            "reset_made": str,
            "auto_vacation": int,
            "zone": str,
            "heard": str,
        },
        "userid",
        optional=["signed_off", "last_broadcast", "reset_code", "reset_made", "zone", "heard"],
        defaults={"generation": 0, "html": 1, "hears_broadcasts": 0, "auto_vacation": 0},
    )
    db.execute("""
        CREATE TABLE addresses (
            userid TEXT NOT NULL REFERENCES users,
            address TEXT NOT NULL COLLATE NOCASE,
            generation INTEGER NOT NULL,
            code TEXT UNIQUE,
            confirmed TEXT,
            bounces INTEGER NOT NULL DEFAULT 0,
            bouncing_since TEXT,
            suspended TEXT,
            UNIQUE (userid, address)
        ) STRICT
    """)
    _create(
        db,
        "players",
        {
            "game": str,
            "userid": str,
            "rating": int,
            "won": int,
            "lost": int,
            "tied": int,
            "rated": str,
            "inactive": int,
            "most": int,
            "seeking": int,
            "subscribes": int,
            "is_notified": int,
            "mail": str,
            "wanted_rating": str,
            "wanted_options": str,
        },
        ("game", "userid"),
        optional=["rating", "rated", "most", "wanted_rating", "wanted_options"],
        defaults=dict.fromkeys(("won", "lost", "tied", "inactive", "seeking", "subscribes", "is_notified"), 0)
        | {"mail": "each"},
        users=["userid"],
    )
    _create(
        db,
        "robots",
        {
            "userid": str,
            "level": int,
            "program": str,
            "games": str,
            "rated": int,
            "most": int,
            "seconds": float,
            "paused": str,
            "why": str,
        },
        "userid",
        optional=["level", "program", "paused", "why"],
        users=["userid"],
    )
    _create(db, "blocked", {"userid": str, "other": str}, ("userid", "other"), users=["userid", "other"])
    _create(db, "vacations", {"userid": str, "first": str, "last": str}, ("userid", "first"), users=["userid"])
    _create(db, "vacation_days", {"userid": str, "day": str}, ("userid", "day"), users=["userid"])


def _create_boards(db: Database) -> None:
    """Boards, their turns, and what else belongs to one."""
    _create(db, "numbers", {"game": str, "last": int}, "game")
    _create(db, "tallies", {"game": str, "boards": int, "active": int}, "game")
    columns = {
        "game": str,
        "board": str,
        "options": str,
        "first_player": str,
        "second_player": str,
        "secret": bytes,
        "started": str,
        "moves": int,
        "turn": str,
        "ended": str,
        "winner": str,
        "commenter": str,
        "comment": str,
        "nag_days": int,
        "forfeit_days": int,
        "total_days": int,
        "changed": str,
        "first_used": float,
        "second_used": float,
        "nagged": str,
        "vote": str,
        "voter": str,
        "submitted": str,
        "drawn": int,
        "pool": str,
        "source": str,
        "given": int,
        "novacation": int,
        "reason": str,
        "unrated": int,
        "until": str,
        "rematch": str,
        "more_days": int,
        "weekends": str,
    }
    defaults = dict.fromkeys(("first_used", "second_used", "drawn", "given", "novacation", "unrated", "more_days"), 0)
    always = ("game", "board", "options", "first_player", "second_player", "secret", "started", "moves", *defaults)
    db.table("boards").create(
        columns,
        pk=("game", "board"),
        not_null=always,
        defaults=defaults,
        foreign_keys=[("first_player", "users"), ("second_player", "users")],
        strict=True,
    )
    _create(
        db,
        "turns",
        {
            "game": str,
            "board": str,
            "number": int,
            "userid": str,
            "text": str,
            "dice": str,
            "automatic": int,
            "played": str,
        },
        ("game", "board", "number"),
        of_board=True,
    )
    place = {"game": str, "board": str, "userid": str}
    _create(db, "plans", {**place, "text": str}, [*place], of_board=True)
    _create(db, "board_notes", {**place, "text": str}, [*place], users=["userid"], of_board=True)
    _create(db, "followers", {**place, "kind": str}, [*place, "kind"], users=["userid"], of_board=True)
    _create(db, "reminders", {**place, "sent": str}, [*place], users=["userid"], of_board=True)
    numbers = {"outcome": int, "before": int, "after": int, "games": int}
    _create(db, "results", {**place, **numbers, "ended": str}, [*place])
    _create(
        db,
        "robot_boards",
        {
            "game": str,
            "board": str,
            "robot": str,
            "opponent": str,
            "talk": str,
            "hopeless": int,
            "answered": str,
            "claimed_by": int,
            "claimed_until": str,
        },
        ("game", "board", "robot"),
        optional=["talk", "answered", "claimed_by", "claimed_until"],
        defaults={"hopeless": 0},
        users=["robot", "opponent"],
        of_board=True,
    )
    analyses = {"game": str, "board": str, "made": str, "analysis": str}
    _create(db, "analyses", analyses, ("game", "board"), of_board=True)
    _create(db, "analysis_requests", {**place, "asked": str}, [*place], users=["userid"], of_board=True)


def _create_mails(db: Database) -> None:
    """Mails that go out, those that came, and whom we believe."""
    db.execute("""
        CREATE TABLE outbox (
            userid TEXT,
            address TEXT,
            subject TEXT NOT NULL,
            blocks TEXT NOT NULL,
            message_id TEXT NOT NULL,
            thread TEXT,
            queued TEXT NOT NULL,
            due TEXT,
            tries INTEGER NOT NULL,
            problem TEXT,
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            reply_to TEXT,
            unsubscribe TEXT,
            reminds TEXT
        ) STRICT
    """)
    db.execute("""
        CREATE TABLE digests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            userid TEXT NOT NULL REFERENCES users,
            game TEXT NOT NULL,
            subject TEXT NOT NULL,
            blocks TEXT NOT NULL,
            queued TEXT NOT NULL
        ) STRICT
    """)
    handled = {"sender": str, "message_id": str, "handled": str, "outcome": str}
    _create(db, "handled", handled, ("sender", "message_id"))
    db.execute("""
        CREATE TABLE replies (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            UNIQUE (game, board, userid),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT
    """)
    db.execute("""
        CREATE TABLE quotas (
            kind TEXT NOT NULL,
            holder TEXT NOT NULL COLLATE NOCASE,
            day TEXT NOT NULL,
            used INTEGER NOT NULL,
            PRIMARY KEY (kind, holder, day)
        ) STRICT, WITHOUT ROWID
    """)
    db.execute("""
        CREATE TABLE failures (
            kind TEXT NOT NULL,
            holder TEXT NOT NULL COLLATE NOCASE,
            count INTEGER NOT NULL,
            last TEXT NOT NULL,
            PRIMARY KEY (kind, holder)
        ) STRICT, WITHOUT ROWID
    """)


def _create_tournaments(db: Database) -> None:
    """Tournaments, who plays in them, and who meets whom."""
    _create(
        db,
        "tournaments",
        {
            "game": str,
            "pool": str,
            "kind": str,
            "created": str,
            "state": str,
            "options": str,
            "nag_days": int,
            "forfeit_days": int,
            "total_days": int,
            "novacation": int,
            "rounds": int,
            "double": int,
            "best_of": int,
            "round_days": int,
            "tie_breaks": str,
            "director": str,
            "starts": str,
            "most": int,
            "round": int,
            "until": str,
            "never": str,
            "byes": int,
        },
        ("game", "pool"),
        optional=[
            *("nag_days", "forfeit_days", "total_days", "rounds", "round_days"),
            *("director", "starts", "most", "until"),
        ],
        defaults={"never": "", "byes": 0},
        users=["director"],
    )
    _create(
        db,
        "pool_players",
        {
            "game": str,
            "pool": str,
            "userid": str,
            "won": int,
            "lost": int,
            "tied": int,
            "seed": int,
            "joined": int,
            "withdrawn": int,
            "team": str,
            "byes": str,
        },
        ("game", "pool", "userid"),
        optional=["withdrawn"],
        defaults={"won": 0, "lost": 0, "tied": 0, "seed": 0, "joined": 1, "team": "", "byes": ""},
        users=["userid"],
    )
    db.execute("""
        CREATE TABLE meetings (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            game TEXT NOT NULL,
            pool TEXT NOT NULL,
            round INTEGER NOT NULL,
            first TEXT NOT NULL REFERENCES users,
            second TEXT NOT NULL,
            board TEXT,
            void INTEGER NOT NULL,
            half INTEGER NOT NULL DEFAULT 0
        ) STRICT
    """)


def _create_notes(db: Database) -> None:
    """Keys, times, counts, and what has happened."""
    _create(db, "keys", {"name": str, "value": bytes}, "name")
    _create(db, "notes", {"name": str, "moment": str}, "name")
    _create(db, "commands", {"hour": str, "done": int, "refused": int}, "hour")
    db.execute("""
        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            moment TEXT NOT NULL,
            kind TEXT NOT NULL,
            game TEXT,
            board TEXT,
            pool TEXT,
            userid TEXT,
            detail TEXT NOT NULL
        ) STRICT
    """)
    db.execute("""
        CREATE TABLE hooks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            program TEXT NOT NULL,
            kinds TEXT NOT NULL,
            last INTEGER NOT NULL,
            tries INTEGER NOT NULL DEFAULT 0,
            due TEXT,
            problem TEXT
        ) STRICT
    """)
    db.execute("""
        CREATE TABLE changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            game TEXT NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (kind, game, name)
        ) STRICT
    """)


def _create_indexes(db: Database) -> None:
    """What is looked for often."""
    for table, name, columns in (
        ("addresses", "addresses_address", ["address"]),
        ("boards", "boards_active", ["game", "ended"]),
        ("boards", "boards_first", ["game", "first_player", "ended"]),
        ("boards", "boards_second", ["game", "second_player", "ended", "first_player"]),
        ("results", "results_of_user", ["game", "userid", "ended"]),
        ("followers", "followers_userid", ["userid"]),
        ("replies", "replies_userid", ["userid"]),
        ("digests", "digests_userid", ["userid", "game"]),
        ("users", "users_signed_up", ["signed_off"]),
        ("robot_boards", "robot_boards_answered", ["opponent", "answered"]),
        ("tournaments", "tournaments_state", ["state"]),
        ("meetings", "meetings_pool", ["game", "pool", "number"]),
        ("meetings", "meetings_board", ["game", "board"]),
        ("pool_players", "pool_players_userid", ["userid"]),
        ("handled", "handled_when", ["handled"]),
        ("quotas", "quotas_day", ["day"]),
        ("failures", "failures_last", ["last"]),
    ):
        db.table(table).create_index(columns, name)
    rated, established = "WHERE rating IS NOT NULL", f"won + lost + tied >= {ESTABLISHED}"
    for index in (  # of some rows, or of expressions
        "outbox_due ON outbox (due) WHERE address IS NOT NULL AND due IS NOT NULL",
        "outbox_waiting ON outbox (userid) WHERE address IS NULL",
        "outbox_given_up ON outbox (queued) WHERE address IS NOT NULL AND due IS NULL",
        "outbox_reminding ON outbox (reminds) WHERE reminds IS NOT NULL",
        "boards_pool ON boards (game, pool) WHERE pool IS NOT NULL",
        "boards_history ON boards (game, ended, board) WHERE ended IS NOT NULL",
        "boards_by_number ON boards (game, length(board), board) WHERE ended IS NULL",
        "boards_played ON boards (game, ended, board) WHERE ended IS NOT NULL AND first_player <> second_player",
        "boards_turn ON boards (turn) WHERE turn IS NOT NULL",
        "boards_vote ON boards (voter) WHERE vote IS NOT NULL",
        f"boards_due ON boards ({DUE}) WHERE ended IS NULL",
        "boards_in_pools ON boards (game, length(board), board, ended) WHERE pool IS NOT NULL",
        "users_signed_off ON users (userid) WHERE signed_off IS NOT NULL",
        "players_subscribing ON players (game) WHERE subscribes",
        "players_notified ON players (game) WHERE is_notified",
        f"players_by_rating ON players (game, rating DESC, rated, userid, inactive, won, lost, tied) {rated}",
        "players_seeking ON players (game, userid) WHERE seeking > 0",
        f"players_by_section ON players (game, inactive, {established}, rating DESC, rated, userid) {rated}",
        "tournaments_until ON tournaments (until) WHERE until IS NOT NULL",
    ):
        db.execute(f"CREATE INDEX {index}")


def _create_triggers(db: Database) -> None:
    """What counts boards, and notes what has changed of all that anybody may see, in the order of the last changes."""
    db.execute("""
        CREATE TRIGGER tally_new_board AFTER INSERT ON boards BEGIN
            INSERT INTO tallies VALUES (NEW.game, 1, NEW.ended IS NULL)
                ON CONFLICT DO UPDATE SET boards = boards + 1, active = active + excluded.active;
        END
    """)
    db.execute("""
        CREATE TRIGGER tally_removed_board AFTER DELETE ON boards BEGIN
            UPDATE tallies SET boards = boards - 1, active = active - (OLD.ended IS NULL) WHERE game = OLD.game;
        END
    """)
    db.execute("""
        CREATE TRIGGER tally_ended_board AFTER UPDATE OF ended ON boards
        WHEN (OLD.ended IS NULL) <> (NEW.ended IS NULL) BEGIN
            UPDATE tallies SET active = active + (NEW.ended IS NULL) - (OLD.ended IS NULL) WHERE game = NEW.game;
        END
    """)
    for number, (table, deeds, what) in enumerate(NOTED):
        for deed in deeds.split(", "):
            noted = what.format(row="OLD" if deed == "DELETE" else "NEW")
            name = f"note_{table}_{number}_{deed.split()[0].lower()}"
            db.execute(f"""
                CREATE TRIGGER {name} AFTER {deed} ON {table} BEGIN
                    DELETE FROM changes WHERE (kind, game, name) = ({noted});
                    INSERT INTO changes (kind, game, name) VALUES ({noted});
                END
            """)
