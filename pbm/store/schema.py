"""The tables, and the migrations that make and change them. A database knows how many were applied to it."""

import secrets
import sqlite3
from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime

from sqlite_utils import Database, Migrations

from pbm.levels import LEVEL_NUMBERS, USUAL_LEVEL
from pbm.store.base import APPLICATION_ID, SCHEMA, text
from pbm.store.boards import DUE
from pbm.store.players import ESTABLISHED
from pbm.texts import shortened

PARTS = (
    "SELECT type || ' ' || name, sql FROM sqlite_schema "
    "WHERE type IN ('trigger', 'view') OR name NOT GLOB 'sqlite_*' AND tbl_name NOT GLOB '_*'"
)
"""The tables, indexes, triggers and views of a database. Tables of SQLite are left out, and those of other programs,
which have names that begin with ``_``. Triggers and views that somebody has added count, whatever their names."""
FOREIGN_TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '_*' AND name <> '_sqlite_migrations' ORDER BY 1"
)
"""The tables of other programs, for example of Litestream, without that of sqlite-utils, which pbm itself uses."""

FIRST_ROBOTS = {"robot": USUAL_LEVEL} | {f"robot{level}": level for level in LEVEL_NUMBERS}
"""The robots of a new database, with their levels."""

TABLES = """
-- Users, what each is in one game, and the robots among them
CREATE TABLE users (
    userid TEXT PRIMARY KEY NOT NULL,
    password TEXT NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    signed_off TEXT,
    html INTEGER NOT NULL DEFAULT 1,
    hears_broadcasts INTEGER NOT NULL DEFAULT 0,
    hears_puzzles INTEGER NOT NULL DEFAULT 0,
    last_broadcast TEXT,
    reset_code TEXT,
    reset_made TEXT,
    auto_vacation INTEGER NOT NULL DEFAULT 0,
    zone TEXT,
    heard TEXT
) STRICT, WITHOUT ROWID;
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
) STRICT;
CREATE TABLE players (
    game TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users(userid),
    rating INTEGER,
    won INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    tied INTEGER NOT NULL DEFAULT 0,
    rated TEXT,
    inactive INTEGER NOT NULL DEFAULT 0,
    most INTEGER,
    seeking INTEGER NOT NULL DEFAULT 0,
    subscribes INTEGER NOT NULL DEFAULT 0,
    is_notified INTEGER NOT NULL DEFAULT 0,
    mail TEXT NOT NULL DEFAULT 'each',
    wanted_rating TEXT,
    wanted_options TEXT,
    PRIMARY KEY (game, userid)
) STRICT, WITHOUT ROWID;
CREATE TABLE robots (
    userid TEXT PRIMARY KEY NOT NULL REFERENCES users(userid),
    level INTEGER,
    program TEXT,
    games TEXT NOT NULL,
    rated INTEGER NOT NULL,
    most INTEGER NOT NULL,
    seconds REAL NOT NULL,
    paused TEXT,
    why TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE blocked (
    userid TEXT NOT NULL REFERENCES users(userid),
    other TEXT NOT NULL REFERENCES users(userid),
    PRIMARY KEY (userid, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE vacations (
    userid TEXT NOT NULL REFERENCES users(userid),
    first TEXT NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (userid, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE vacation_days (
    userid TEXT NOT NULL REFERENCES users(userid),
    day TEXT NOT NULL,
    PRIMARY KEY (userid, day)
) STRICT, WITHOUT ROWID;
-- Boards, their turns, and what else belongs to one
CREATE TABLE numbers (
    game TEXT PRIMARY KEY NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE tallies (
    game TEXT PRIMARY KEY NOT NULL,
    boards INTEGER NOT NULL,
    active INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE boards (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    options TEXT NOT NULL,
    first_player TEXT NOT NULL REFERENCES users(userid),
    second_player TEXT NOT NULL REFERENCES users(userid),
    secret BLOB NOT NULL,
    started TEXT NOT NULL,
    moves INTEGER NOT NULL,
    turn TEXT,
    ended TEXT,
    winner TEXT,
    commenter TEXT,
    comment TEXT,
    nag_days INTEGER,
    forfeit_days INTEGER,
    total_days INTEGER,
    changed TEXT,
    first_used REAL NOT NULL DEFAULT 0,
    second_used REAL NOT NULL DEFAULT 0,
    nagged TEXT,
    vote TEXT,
    voter TEXT,
    submitted TEXT,
    drawn INTEGER NOT NULL DEFAULT 0,
    pool TEXT,
    source TEXT,
    given INTEGER NOT NULL DEFAULT 0,
    novacation INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    unrated INTEGER NOT NULL DEFAULT 0,
    until TEXT,
    rematch TEXT,
    more_days INTEGER NOT NULL DEFAULT 0,
    weekends TEXT,
    PRIMARY KEY (game, board)
) STRICT;
CREATE TABLE turns (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    number INTEGER NOT NULL,
    userid TEXT NOT NULL,
    text TEXT NOT NULL,
    dice TEXT NOT NULL,
    automatic INTEGER NOT NULL,
    played TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE plans (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL,
    text TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, userid)
) STRICT, WITHOUT ROWID;
CREATE TABLE board_notes (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users(userid),
    text TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, userid)
) STRICT, WITHOUT ROWID;
CREATE TABLE followers (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users(userid),
    kind TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, userid, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE reminders (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users(userid),
    sent TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, userid)
) STRICT, WITHOUT ROWID;
CREATE TABLE results (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL,
    outcome INTEGER NOT NULL,
    before INTEGER NOT NULL,
    after INTEGER NOT NULL,
    games INTEGER NOT NULL,
    ended TEXT NOT NULL,
    PRIMARY KEY (game, board, userid)
) STRICT, WITHOUT ROWID;
CREATE TABLE robot_boards (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    robot TEXT NOT NULL REFERENCES users(userid),
    opponent TEXT NOT NULL REFERENCES users(userid),
    talk TEXT,
    hopeless INTEGER NOT NULL DEFAULT 0,
    answered TEXT,
    claimed_by INTEGER,
    claimed_until TEXT,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, robot)
) STRICT, WITHOUT ROWID;
CREATE TABLE analyses (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    made TEXT NOT NULL,
    analysis TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board)
) STRICT, WITHOUT ROWID;
CREATE TABLE puzzles (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    moves INTEGER NOT NULL,
    answer TEXT NOT NULL,
    proven INTEGER NOT NULL,
    found TEXT NOT NULL,
    mailed TEXT,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board)
) STRICT, WITHOUT ROWID;
CREATE TABLE analysis_requests (
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users(userid),
    asked TEXT NOT NULL,
    FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
    PRIMARY KEY (game, board, userid)
) STRICT, WITHOUT ROWID;
-- Mails that go out, those that came, and whom we believe
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
) STRICT;
CREATE TABLE digests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    userid TEXT NOT NULL REFERENCES users,
    game TEXT NOT NULL,
    subject TEXT NOT NULL,
    blocks TEXT NOT NULL,
    queued TEXT NOT NULL
) STRICT;
CREATE TABLE handled (
    sender TEXT NOT NULL,
    message_id TEXT NOT NULL,
    handled TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (sender, message_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE replies (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    game TEXT NOT NULL,
    board TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users,
    UNIQUE (game, board, userid),
    FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
) STRICT;
CREATE TABLE quotas (
    kind TEXT NOT NULL,
    holder TEXT NOT NULL COLLATE NOCASE,
    day TEXT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (kind, holder, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE failures (
    kind TEXT NOT NULL,
    holder TEXT NOT NULL COLLATE NOCASE,
    count INTEGER NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (kind, holder)
) STRICT, WITHOUT ROWID;
-- Tournaments, who plays in them, and who meets whom
CREATE TABLE tournaments (
    game TEXT NOT NULL,
    pool TEXT NOT NULL,
    kind TEXT NOT NULL,
    created TEXT NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    nag_days INTEGER,
    forfeit_days INTEGER,
    total_days INTEGER,
    novacation INTEGER NOT NULL,
    rounds INTEGER,
    double INTEGER NOT NULL,
    best_of INTEGER NOT NULL,
    round_days INTEGER,
    tie_breaks TEXT NOT NULL,
    director TEXT REFERENCES users(userid),
    starts TEXT,
    most INTEGER,
    round INTEGER NOT NULL,
    until TEXT,
    never TEXT NOT NULL DEFAULT '',
    byes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (game, pool)
) STRICT, WITHOUT ROWID;
CREATE TABLE pool_players (
    game TEXT NOT NULL,
    pool TEXT NOT NULL,
    userid TEXT NOT NULL REFERENCES users(userid),
    won INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    tied INTEGER NOT NULL DEFAULT 0,
    seed INTEGER NOT NULL DEFAULT 0,
    joined INTEGER NOT NULL DEFAULT 1,
    withdrawn INTEGER,
    team TEXT NOT NULL DEFAULT '',
    byes TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (game, pool, userid)
) STRICT, WITHOUT ROWID;
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
) STRICT;
-- Keys, times, counts, and what has happened
CREATE TABLE keys (
    name TEXT PRIMARY KEY NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE notes (
    name TEXT PRIMARY KEY NOT NULL,
    moment TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE commands (
    hour TEXT PRIMARY KEY NOT NULL,
    done INTEGER NOT NULL,
    refused INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    moment TEXT NOT NULL,
    kind TEXT NOT NULL,
    game TEXT,
    board TEXT,
    pool TEXT,
    userid TEXT,
    detail TEXT NOT NULL
) STRICT;
CREATE TABLE hooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    program TEXT NOT NULL,
    kinds TEXT NOT NULL,
    last INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    due TEXT,
    problem TEXT
) STRICT;
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    game TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (kind, game, name)
) STRICT;
"""
"""All tables. WITHOUT ROWID stores rows in the order of their key, so that those of a board lie together."""
INDEXES = f"""
CREATE INDEX addresses_address ON addresses (address);
CREATE INDEX boards_active ON boards (game, ended);
CREATE INDEX boards_first ON boards (game, first_player, ended);
CREATE INDEX boards_second ON boards (game, second_player, ended, first_player);
CREATE INDEX results_of_user ON results (game, userid, ended);
CREATE INDEX followers_userid ON followers (userid);
CREATE INDEX replies_userid ON replies (userid);
CREATE INDEX digests_userid ON digests (userid, game);
CREATE INDEX users_signed_up ON users (signed_off);
CREATE INDEX robot_boards_answered ON robot_boards (opponent, answered);
CREATE INDEX tournaments_state ON tournaments (state);
CREATE INDEX meetings_pool ON meetings (game, pool, number);
CREATE INDEX meetings_board ON meetings (game, board);
CREATE INDEX pool_players_userid ON pool_players (userid);
CREATE INDEX handled_when ON handled (handled);
CREATE INDEX quotas_day ON quotas (day);
CREATE INDEX failures_last ON failures (last);
CREATE INDEX outbox_due ON outbox (due) WHERE address IS NOT NULL AND due IS NOT NULL;
CREATE INDEX outbox_waiting ON outbox (userid) WHERE address IS NULL;
CREATE INDEX outbox_given_up ON outbox (queued) WHERE address IS NOT NULL AND due IS NULL;
CREATE INDEX outbox_reminding ON outbox (reminds) WHERE reminds IS NOT NULL;
CREATE INDEX boards_pool ON boards (game, pool) WHERE pool IS NOT NULL;
CREATE INDEX boards_history ON boards (game, ended, board) WHERE ended IS NOT NULL;
CREATE INDEX boards_by_number ON boards (game, length(board), board) WHERE ended IS NULL;
CREATE INDEX boards_played ON boards (game, ended, board) WHERE ended IS NOT NULL AND first_player <> second_player;
CREATE INDEX boards_turn ON boards (turn) WHERE turn IS NOT NULL;
CREATE INDEX boards_vote ON boards (voter) WHERE vote IS NOT NULL;
CREATE INDEX boards_in_pools ON boards (game, length(board), board, ended) WHERE pool IS NOT NULL;
CREATE INDEX users_signed_off ON users (userid) WHERE signed_off IS NOT NULL;
CREATE INDEX users_hearing_puzzles ON users (hears_puzzles) WHERE hears_puzzles = 1;
CREATE INDEX players_subscribing ON players (game) WHERE subscribes;
CREATE INDEX players_notified ON players (game) WHERE is_notified;
CREATE INDEX players_by_rating ON players (game, rating DESC, rated, userid, inactive, won, lost, tied)
    WHERE rating IS NOT NULL;
CREATE INDEX players_seeking ON players (game, userid) WHERE seeking > 0;
CREATE INDEX players_by_section ON players
    (game, inactive, won + lost + tied >= {ESTABLISHED}, rating DESC, rated, userid) WHERE rating IS NOT NULL;
CREATE INDEX tournaments_until ON tournaments (until) WHERE until IS NOT NULL;
"""
"""Indexes for frequent queries."""

ANY = "INSERT, UPDATE, DELETE"
NOTED = (
    ("boards", ANY, "'board', {row}.game, {row}.board"),
    ("boards", "DELETE", "'user', '', {row}.first_player"),
    ("boards", "DELETE", "'user', '', {row}.second_player"),
    ("boards", "DELETE", "'pool', {row}.game, coalesce({row}.pool, '')"),
    ("analyses", ANY, "'board', {row}.game, {row}.board"),
    ("puzzles", "INSERT, DELETE", "'board', {row}.game, {row}.board"),
    ("players", ANY, "'player', {row}.game, {row}.userid"),
    ("users", "UPDATE OF signed_off", "'user', '', {row}.userid"),
    ("robots", ANY, "'user', '', {row}.userid"),
    ("tournaments", ANY, "'pool', {row}.game, {row}.pool"),
    ("pool_players", ANY, "'pool', {row}.game, {row}.pool"),
    ("meetings", ANY, "'pool', {row}.game, {row}.pool"),
    ("talk", "DELETE", "'board', {row}.game, {row}.board"),
    ("tokens", "DELETE", "'proof', '', {row}.userid"),
    ("replies", "DELETE", "'proof', '', {row}.userid"),
)
"""The tables for which changes are noted: table, statements, and the kind, game and name of the `Change`."""
FIRST_NOTED = {"boards", "analyses", "puzzles", "players", "users", "robots", "tournaments", "pool_players", "meetings"}
"""The tables of NOTED in the first release. Each of the others gets its triggers by the migration that makes it."""

migrations = Migrations("pbm")


def apply(db: sqlite3.Connection) -> None:
    """Make all tables, or bring those of an older version up to date, in the open transaction."""
    migrations.apply(Database(db, execute_plugins=False))  # to look for plugins takes longer than all of this
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def wrong_parts(db: sqlite3.Connection) -> list[str]:
    """Sentences about tables and indexes that a database lacks, that differ, or that pbm has not made."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        apply(fresh)
        wanted = _parts(fresh)
        present = _parts(db)
    changed = [name for name in wanted.keys() & present.keys() if wanted[name] != present[name]]
    sentences = [f"there is no {name}" for name in sorted(wanted.keys() - present)]
    sentences += [f"there is a {name} that pbm has not made" for name in sorted(present.keys() - wanted)]
    sentences += [f"the {name} is not as pbm has made it" for name in sorted(changed)]
    return sentences


def foreign_tables(db: sqlite3.Connection) -> str:
    """The sentence that names the tables of other programs in a database; empty if there are none."""
    names = [name for (name,) in db.execute(FOREIGN_TABLES)]
    return f"Tables of other programs, which pbm leaves alone: {', '.join(names)}." if names else ""


def _parts(db: sqlite3.Connection) -> dict[str, str]:
    """The tables and indexes of a database, each with its SQL, without blanks and quotes."""
    layout = str.maketrans(dict.fromkeys('"[]; \n', ""))
    return {name: (sql or "").translate(layout) for name, sql in db.execute(PARTS)}


@migrations()
def first_tables(db: Database) -> None:
    """All tables of the first release."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in f"{TABLES}{INDEXES}".split(";"):
        db.execute(statement)
    _create_triggers(db)
    now = text(datetime.now(UTC))
    db.table("keys").insert({"name": "addresses", "value": secrets.token_bytes(32)})
    db.table("notes").insert({"name": "begun", "moment": now})
    for userid, level in FIRST_ROBOTS.items():
        db.table("users").insert({"userid": userid, "password": "", "created": now})
        db.table("robots").insert(
            {"userid": userid, "level": level, "games": "[]", "rated": 1, "most": 1000, "seconds": 2.0}
        )


def _create_triggers(db: Database) -> None:
    """Create the triggers that count boards, and those that note public changes; a repeated change becomes the last."""
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
    _create_noting_triggers(db, FIRST_NOTED)


def _create_noting_triggers(db: Database, tables: Collection[str]) -> None:
    """Create the triggers of NOTED that these tables have."""
    for number, (table, deeds, what) in enumerate(NOTED):
        if table not in tables:
            continue
        for deed in deeds.split(", "):
            noted = what.format(row="OLD" if deed == "DELETE" else "NEW")
            name = f"note_{table}_{number}_{deed.split()[0].lower()}"
            db.execute(f"""
                CREATE TRIGGER {name} AFTER {deed} ON {table} BEGIN
                    DELETE FROM changes WHERE (kind, game, name) = ({noted});
                    INSERT INTO changes (kind, game, name) VALUES ({noted});
                END
            """)


@migrations()
def removed_boards(db: Database) -> None:
    """Remember for a time which boards were removed, and the reply addresses of these."""
    db.execute("""
        CREATE TABLE removed_boards (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            removed TEXT NOT NULL,
            PRIMARY KEY (game, board)
        ) STRICT, WITHOUT ROWID
    """)
    db.execute("CREATE INDEX removed_boards_when ON removed_boards (removed)")
    # the reply addresses as they were, but a board that is removed does not take them along
    db.execute("CREATE TABLE kept AS SELECT * FROM replies")
    last_numbers = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'replies'").fetchall()
    db.execute("DROP TABLE replies")
    db.execute("""
        CREATE TABLE replies (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            UNIQUE (game, board, userid)
        ) STRICT
    """)
    db.execute("CREATE INDEX replies_userid ON replies (userid)")
    db.execute("INSERT INTO replies (id, game, board, userid) SELECT id, game, board, userid FROM kept")
    db.execute("DROP TABLE kept")
    # a number is never given twice: the address with it has been mailed
    db.execute("DELETE FROM sqlite_sequence WHERE name = 'replies'")
    for (last,) in last_numbers:
        db.execute("INSERT INTO sqlite_sequence VALUES ('replies', ?)", [last])


@migrations()
def bars(db: Database) -> None:
    """Let the operator bar addresses and domains."""
    db.execute("""
        CREATE TABLE bars (
            bar TEXT PRIMARY KEY NOT NULL,
            since TEXT NOT NULL,
            last TEXT
        ) STRICT, WITHOUT ROWID
    """)


@migrations()
def muted(db: Database) -> None:
    """Let the operator mute users."""
    db.execute("ALTER TABLE users ADD COLUMN muted TEXT")


@migrations()
def reinstated(db: Database) -> None:
    """Let the dice of a game that is reinstated have a second secret, because the first has been told."""
    db.execute("ALTER TABLE boards ADD COLUMN earlier_secret BLOB")
    db.execute("ALTER TABLE boards ADD COLUMN earlier_throws INTEGER NOT NULL DEFAULT 0")


@migrations()
def growing_clocks(db: Database) -> None:
    """Let clocks grow with each move; the index of what is due knows when they run out."""
    for column in "base_seconds INTEGER", "increment_seconds INTEGER", "most_seconds INTEGER":
        db.execute(f"ALTER TABLE boards ADD COLUMN {column}")
    db.execute("ALTER TABLE boards ADD COLUMN first_left REAL")
    db.execute("ALTER TABLE boards ADD COLUMN second_left REAL")
    db.execute("ALTER TABLE turns ADD COLUMN gained REAL NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE tournaments ADD COLUMN clock TEXT")
    db.execute("DROP INDEX IF EXISTS boards_due")


@migrations()
def notices(db: Database) -> None:
    """Remember since when players have notice of what they owe."""
    db.execute("ALTER TABLE boards ADD COLUMN notified_at TEXT")
    db.execute("ALTER TABLE boards ADD COLUMN vote_notified_at TEXT")


@migrations()
def talk(db: Database) -> None:
    """Keep the comments and the chats of boards. The latest comments, which were kept before, are the first ones."""
    db.execute("""
        CREATE TABLE talk (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            number INTEGER NOT NULL,
            userid TEXT,
            kind TEXT NOT NULL,
            moves INTEGER NOT NULL,
            said TEXT NOT NULL,
            text TEXT NOT NULL,
            taken_back INTEGER NOT NULL,
            FOREIGN KEY (game, board) REFERENCES boards(game, board) ON DELETE CASCADE,
            PRIMARY KEY (game, board, number)
        ) STRICT, WITHOUT ROWID
    """)
    # comments need neither: they are found by the boards of their writer, and the row of their board changes as well
    db.execute("CREATE INDEX talk_chats ON talk (userid) WHERE kind = 'chat'")
    db.execute("""
        CREATE TRIGGER note_talk_chat AFTER INSERT ON talk WHEN NEW.kind = 'chat' BEGIN
            DELETE FROM changes WHERE (kind, game, name) = ('board', NEW.game, NEW.board);
            INSERT INTO changes (kind, game, name) VALUES ('board', NEW.game, NEW.board);
        END
    """)
    query = """
        SELECT game, board, commenter, moves, coalesce(ended, changed, started), comment FROM boards
        WHERE comment IS NOT NULL
    """
    for *columns, comment in db.execute(query).fetchall():
        kept = shortened(comment, 4000)
        db.execute("INSERT INTO talk VALUES (?, ?, 1, ?, 'comment', ?, ?, ?, 0)", [*columns, kept])
    _create_noting_triggers(db, {"talk"})


@migrations()
def absences(db: Database) -> None:
    """Note when the server was away, and keep all time that does not count for a move in one column."""
    db.execute("""
        CREATE TABLE absences (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            begun TEXT NOT NULL,
            ended TEXT NOT NULL,
            seconds REAL NOT NULL,
            game TEXT,
            board TEXT,
            done_game TEXT NOT NULL DEFAULT '',
            done_board TEXT NOT NULL DEFAULT '',
            is_done INTEGER NOT NULL DEFAULT 0
        ) STRICT
    """)
    db.execute("ALTER TABLE boards ADD COLUMN given_seconds REAL NOT NULL DEFAULT 0")
    db.execute("UPDATE boards SET given_seconds = 86400.0 * more_days WHERE more_days > 0")
    db.execute("DROP INDEX IF EXISTS boards_due")
    # the last migration that adds a column of DUE makes the index, because no earlier one can
    db.execute(f"CREATE INDEX boards_due ON boards ({DUE}) WHERE ended IS NULL")


@migrations()
def tokens(db: Database) -> None:
    """Let users have tokens for programs, and remember for a day what was answered to a post with a key."""
    db.execute("""
        CREATE TABLE tokens (
            digest TEXT PRIMARY KEY NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            name TEXT NOT NULL,
            scope TEXT NOT NULL,
            made TEXT NOT NULL,
            used TEXT,
            UNIQUE (userid, name)
        ) STRICT, WITHOUT ROWID
    """)
    db.execute("""
        CREATE TABLE posts (
            userid TEXT NOT NULL REFERENCES users,
            key TEXT NOT NULL,
            line TEXT NOT NULL,
            moment TEXT NOT NULL,
            answer TEXT NOT NULL,
            PRIMARY KEY (userid, key)
        ) STRICT, WITHOUT ROWID
    """)


FIRST_STATE_COLUMNS = "first_player", "second_player", "moves", "turn", "ended", "winner", "changed", "vote", "voter"
STATE_COLUMNS = *FIRST_STATE_COLUMNS, "more_days"
"""The columns of a board with which its public state changes. None of them tells a secret."""


@migrations()
def board_states(db: Database) -> None:
    """Number the public states of boards, and note who can no longer prove who they are by a token or an address."""
    db.execute("""
        CREATE TABLE board_states (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            first_player TEXT NOT NULL,
            second_player TEXT NOT NULL,
            UNIQUE (game, board)
        ) STRICT
    """)
    db.execute("CREATE INDEX board_states_first ON board_states (first_player, number)")
    db.execute("CREATE INDEX board_states_second ON board_states (second_player, number)")
    db.execute("""
        INSERT INTO board_states (game, board, first_player, second_player)
        SELECT game, board, first_player, second_player FROM boards ORDER BY rowid
    """)
    _create_state_trigger(db, "INSERT")
    _create_state_trigger(db, "UPDATE", FIRST_STATE_COLUMNS)
    _create_state_trigger(db, "DELETE")
    _create_noting_triggers(db, {"tokens", "replies"})


def _create_state_trigger(db: Database, deed: str, columns: Collection[str] = ()) -> None:
    """Create the trigger by which a board has a new state after a deed, if one of these *columns* has changed."""
    row = "OLD" if deed == "DELETE" else "NEW"
    old, new = (", ".join(f"{name}.{column}" for column in columns) for name in ("OLD", "NEW"))
    when = f"WHEN ({old}) IS NOT ({new})" if columns else ""
    db.execute(f"""
        CREATE TRIGGER state_of_board_{deed.lower()} AFTER {deed} ON boards {when} BEGIN
            DELETE FROM board_states WHERE (game, board) = ({row}.game, {row}.board);
            INSERT INTO board_states (game, board, first_player, second_player)
                VALUES ({row}.game, {row}.board, {row}.first_player, {row}.second_player);
        END
    """)


@migrations()
def notice_targets(db: Database) -> None:
    """Let users be notified by other ways than mail."""
    db.execute("""
        CREATE TABLE notice_targets (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            userid TEXT NOT NULL REFERENCES users,
            kind TEXT NOT NULL,
            url TEXT NOT NULL,
            secret TEXT,
            is_full INTEGER NOT NULL,
            made TEXT NOT NULL,
            code TEXT,
            confirmed TEXT,
            due TEXT,
            tries INTEGER NOT NULL DEFAULT 0,
            failing_since TEXT,
            problem TEXT,
            seconds REAL NOT NULL DEFAULT 0,
            UNIQUE (userid, url)
        ) STRICT
    """)
    db.execute("""
        CREATE TABLE notices (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            target INTEGER NOT NULL REFERENCES notice_targets ON DELETE CASCADE,
            about TEXT NOT NULL,
            game TEXT,
            board TEXT,
            moves INTEGER,
            text TEXT NOT NULL,
            detail TEXT,
            queued TEXT NOT NULL,
            begun INTEGER NOT NULL DEFAULT 0
        ) STRICT
    """)
    db.execute("CREATE INDEX notices_target ON notices (target)")


@migrations()
def states_with_given_days(db: Database) -> None:
    """Let a board have a new state when a player gives the other one days for a move."""
    db.execute("DROP TRIGGER state_of_board_update")
    _create_state_trigger(db, "UPDATE", STATE_COLUMNS)


@migrations()
def operator_requests(db: Database) -> None:
    """Let the operator ask for something by mail, and confirm it by a code."""
    db.execute("""
        CREATE TABLE requests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            code TEXT NOT NULL,
            line TEXT NOT NULL,
            made TEXT NOT NULL
        ) STRICT
    """)
