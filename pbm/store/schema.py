"""The tables, as one migration after another makes them; a database knows how many it has seen."""

import secrets
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

from sqlite_utils import Database, Migrations

from pbm.store.form import APPLICATION_ID, DUE, SCHEMA, text
from pbm.store.rows import ESTABLISHED

PARTS = (
    "SELECT type || ' ' || name, sql FROM sqlite_schema "
    "WHERE type IN ('trigger', 'view') OR name NOT GLOB 'sqlite_*' AND tbl_name <> '_sqlite_migrations'"
)
"""What a database consists of, but for the tables of SQLite, and that of migrations, which sqlite-utils makes as it
likes; what somebody has hung on these is no part of them."""

FIRST_ROBOTS = {"robot": 3, "robot1": 1, "robot2": 2, "robot3": 3, "robot4": 4, "robot5": 5}
"""The robots of a new database, with their levels."""

migrations = Migrations("pbm")


class Tables(Database):
    """A database in which tables are made; no statement of a migration has a semicolon within it."""

    def executescript(self, sql: str) -> sqlite3.Cursor:
        """Execute statements in the open transaction, without looking for their ends letter by letter."""
        cursor = self.conn.cursor()
        for statement in sql.split(";"):
            cursor.execute(statement)
        return cursor


def apply(db: sqlite3.Connection) -> None:
    """Make all tables, or what an older version lacks, in the transaction that is open."""
    migrations.apply(Tables(db, execute_plugins=False))  # to look for plugins takes longer than all of this
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
    """The tables and indexes of a database, with the SQL that makes each, however it is laid out."""
    return {name: " ".join((sql or "").split()) for name, sql in db.execute(PARTS)}


def tell_reasons(db: Database | sqlite3.Connection) -> None:
    """Store why games have ended that were over before that was stored: by their last turn, and the comment with it."""
    db.execute("""
        UPDATE boards SET reason = (
            SELECT CASE
                WHEN boards.drawn THEN 'agreed'
                WHEN max(number) IS NULL OR text NOT IN ('Resign', 'Forfeit') THEN 'rules'
                WHEN comment = userid || ' has signed off.' AND signed_off IS NOT NULL THEN 'signed off'
                WHEN text = 'Resign' THEN 'resigned'
                WHEN comment LIKE userid || ' has used up the % that each player is allowed.' THEN 'total time'
                ELSE 'forfeited'
            END
            FROM turns JOIN users USING (userid) WHERE (turns.game, turns.board) = (boards.game, boards.board)
        ) WHERE ended IS NOT NULL
    """)


@migrations()
def first_tables(db: Database) -> None:
    """Users, boards, mails."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.executescript("""
        CREATE TABLE users (
            userid TEXT PRIMARY KEY,
            password TEXT NOT NULL,
            generation INTEGER NOT NULL DEFAULT 0,
            created TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE addresses (
            userid TEXT NOT NULL REFERENCES users,
            address TEXT NOT NULL COLLATE NOCASE,
            generation INTEGER NOT NULL,
            code TEXT UNIQUE,
            confirmed TEXT,
            UNIQUE (userid, address)
        ) STRICT;
        CREATE INDEX addresses_address ON addresses (address);
        CREATE TABLE numbers (
            game TEXT PRIMARY KEY,
            last INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE boards (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            options TEXT NOT NULL,
            first_player TEXT NOT NULL REFERENCES users,
            second_player TEXT NOT NULL REFERENCES users,
            secret BLOB NOT NULL,
            started TEXT NOT NULL,
            moves INTEGER NOT NULL,
            turn TEXT,
            ended TEXT,
            winner TEXT,
            commenter TEXT,
            comment TEXT,
            PRIMARY KEY (game, board)
        ) STRICT;
        CREATE INDEX boards_active ON boards (game, ended);
        CREATE TABLE turns (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            number INTEGER NOT NULL,
            userid TEXT NOT NULL,
            text TEXT NOT NULL,
            dice TEXT NOT NULL,
            automatic INTEGER NOT NULL,
            played TEXT NOT NULL,
            PRIMARY KEY (game, board, number),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE queued (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL,
            text TEXT NOT NULL,
            PRIMARY KEY (game, board, userid),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE handled (
            sender TEXT NOT NULL,
            message_id TEXT NOT NULL,
            handled TEXT NOT NULL,
            outcome TEXT NOT NULL,
            PRIMARY KEY (sender, message_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE quotas (
            kind TEXT NOT NULL,
            holder TEXT NOT NULL COLLATE NOCASE,
            day TEXT NOT NULL,
            used INTEGER NOT NULL,
            PRIMARY KEY (kind, holder, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE outbox (
            userid TEXT,
            address TEXT,
            subject TEXT NOT NULL,
            text TEXT NOT NULL,
            message_id TEXT NOT NULL,
            thread TEXT,
            queued TEXT NOT NULL,
            due TEXT,
            tries INTEGER NOT NULL,
            problem TEXT,
            id INTEGER PRIMARY KEY AUTOINCREMENT
        ) STRICT;
        CREATE INDEX outbox_due ON outbox (due) WHERE address IS NOT NULL AND due IS NOT NULL;
        CREATE INDEX outbox_waiting ON outbox (userid) WHERE address IS NULL;
    """)


@migrations()
def clocks_ratings_and_more(db: Database) -> None:
    """Clocks, votes, ratings, followers, tournaments, reply addresses, and the settings of users."""
    db.executescript("""
        ALTER TABLE users ADD COLUMN signed_off TEXT;
        ALTER TABLE users ADD COLUMN html INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE users ADD COLUMN hears_broadcasts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE users ADD COLUMN last_broadcast TEXT;
        ALTER TABLE users ADD COLUMN reset_code TEXT;
        ALTER TABLE users ADD COLUMN reset_made TEXT;

        ALTER TABLE addresses ADD COLUMN bounces INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE addresses ADD COLUMN bouncing_since TEXT;
        ALTER TABLE addresses ADD COLUMN suspended TEXT;

        ALTER TABLE boards ADD COLUMN nag_days INTEGER;
        ALTER TABLE boards ADD COLUMN forfeit_days INTEGER;
        ALTER TABLE boards ADD COLUMN total_days INTEGER;
        ALTER TABLE boards ADD COLUMN changed TEXT;
        ALTER TABLE boards ADD COLUMN first_used REAL NOT NULL DEFAULT 0;
        ALTER TABLE boards ADD COLUMN second_used REAL NOT NULL DEFAULT 0;
        ALTER TABLE boards ADD COLUMN nagged TEXT;
        ALTER TABLE boards ADD COLUMN vote TEXT;
        ALTER TABLE boards ADD COLUMN voter TEXT;
        ALTER TABLE boards ADD COLUMN submitted TEXT;
        ALTER TABLE boards ADD COLUMN drawn INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE boards ADD COLUMN pool TEXT;
        UPDATE boards SET changed = coalesce(
            (SELECT max(played) FROM turns WHERE (turns.game, turns.board) = (boards.game, boards.board)), started
        );
        CREATE INDEX boards_first ON boards (game, first_player, ended);
        CREATE INDEX boards_second ON boards (game, second_player, ended, first_player);
        CREATE INDEX boards_pool ON boards (game, pool) WHERE pool IS NOT NULL;
        CREATE INDEX boards_history ON boards (game, ended, board) WHERE ended IS NOT NULL;

        CREATE TABLE players (
            game TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
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
            PRIMARY KEY (game, userid)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX players_subscribing ON players (game) WHERE subscribes;
        CREATE INDEX players_notified ON players (game) WHERE is_notified;

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
        CREATE INDEX results_of_user ON results (game, userid, ended);

        CREATE TABLE followers (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            kind TEXT NOT NULL,
            PRIMARY KEY (game, board, userid, kind),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX followers_userid ON followers (userid);

        CREATE TABLE pool_players (
            game TEXT NOT NULL,
            pool TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            won INTEGER NOT NULL DEFAULT 0,
            lost INTEGER NOT NULL DEFAULT 0,
            tied INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (game, pool, userid)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE vacations (
            userid TEXT NOT NULL REFERENCES users,
            first TEXT NOT NULL,
            last TEXT NOT NULL,
            PRIMARY KEY (userid, first)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE replies (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            UNIQUE (game, board, userid),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT;
        CREATE INDEX replies_userid ON replies (userid);

        CREATE TABLE failures (
            kind TEXT NOT NULL,
            holder TEXT NOT NULL COLLATE NOCASE,
            count INTEGER NOT NULL,
            last TEXT NOT NULL,
            PRIMARY KEY (kind, holder)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE digests (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            userid TEXT NOT NULL REFERENCES users,
            game TEXT NOT NULL,
            subject TEXT NOT NULL,
            text TEXT NOT NULL,
            picture TEXT,
            queued TEXT NOT NULL
        ) STRICT;
        CREATE INDEX digests_userid ON digests (userid, game);

        ALTER TABLE outbox ADD COLUMN reply_to TEXT;
        ALTER TABLE outbox ADD COLUMN unsubscribe TEXT;
        ALTER TABLE outbox ADD COLUMN picture TEXT;

        CREATE TABLE keys (
            name TEXT PRIMARY KEY,
            value BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
    """)
    db.table("keys").insert({"name": "addresses", "value": secrets.token_bytes(32)})


@migrations()
def lists_counts_and_old_positions(db: Database) -> None:
    """Indexes for pages of lists, what an operator asks every day, and more of boards: beginnings, ends, reminders."""
    db.executescript("""
        CREATE INDEX boards_by_number ON boards (game, length(board), board) WHERE ended IS NULL;
        CREATE INDEX boards_played ON boards (game, ended, board)
            WHERE ended IS NOT NULL AND first_player <> second_player;
        CREATE INDEX players_by_rating ON players (game, rating DESC, rated, userid, inactive, won, lost, tied)
            WHERE rating IS NOT NULL;
        CREATE INDEX users_signed_off ON users (userid) WHERE signed_off IS NOT NULL;
        CREATE INDEX players_seeking ON players (game, userid) WHERE rating IS NULL AND seeking > 0;

        ALTER TABLE boards ADD COLUMN source TEXT;
        ALTER TABLE boards ADD COLUMN given INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE notes (
            name TEXT PRIMARY KEY,
            moment TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE commands (
            hour TEXT PRIMARY KEY,
            done INTEGER NOT NULL,
            refused INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX users_signed_up ON users (signed_off);
        CREATE INDEX outbox_given_up ON outbox (queued) WHERE address IS NOT NULL AND due IS NULL;

        ALTER TABLE users ADD COLUMN auto_vacation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE users ADD COLUMN zone TEXT;
        CREATE TABLE vacation_days (
            userid TEXT NOT NULL REFERENCES users,
            day TEXT NOT NULL,
            PRIMARY KEY (userid, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE reminders (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            userid TEXT NOT NULL REFERENCES users,
            sent TEXT NOT NULL,
            PRIMARY KEY (game, board, userid),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE outbox ADD COLUMN reminds TEXT;
        CREATE INDEX outbox_reminding ON outbox (reminds) WHERE reminds IS NOT NULL;

        ALTER TABLE boards ADD COLUMN novacation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE boards ADD COLUMN reason TEXT;
    """)
    tell_reasons(db)
    db.table("notes").insert({"name": "begun", "moment": text(datetime.now(UTC))})


@migrations()
def robots(db: Database) -> None:
    """Robots among the users, what waits for them, and what they think of games that are over."""
    db.executescript("""
        CREATE TABLE robots (
            userid TEXT PRIMARY KEY REFERENCES users,
            level INTEGER,
            program TEXT,
            games TEXT NOT NULL,
            rated INTEGER NOT NULL,
            most INTEGER NOT NULL,
            seconds REAL NOT NULL,
            paused TEXT,
            why TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE robot_boards (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            robot TEXT NOT NULL REFERENCES users,
            opponent TEXT NOT NULL REFERENCES users,
            talk TEXT,
            hopeless INTEGER NOT NULL DEFAULT 0,
            answered TEXT,
            claimed_by INTEGER,
            claimed_until TEXT,
            PRIMARY KEY (game, board, robot),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX robot_boards_answered ON robot_boards (opponent, answered);
        CREATE INDEX boards_turn ON boards (turn) WHERE turn IS NOT NULL;
        CREATE INDEX boards_vote ON boards (voter) WHERE vote IS NOT NULL;
        CREATE TABLE analyses (
            game TEXT NOT NULL,
            board TEXT NOT NULL,
            made TEXT NOT NULL,
            analysis TEXT NOT NULL,
            PRIMARY KEY (game, board),
            FOREIGN KEY (game, board) REFERENCES boards ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE boards ADD COLUMN unrated INTEGER NOT NULL DEFAULT 0;
    """)
    now = text(datetime.now(UTC))
    for userid, level in FIRST_ROBOTS.items():
        query = "INSERT INTO users (userid, password, created) VALUES (?, '', ?) ON CONFLICT DO NOTHING RETURNING 1"
        if db.execute(query, [userid, now]).fetchone():
            db.execute("INSERT INTO robots VALUES (?, ?, NULL, '[]', 1, 1000, 2, NULL, NULL)", [userid, level])


@migrations()
def tournaments_and_events(db: Database) -> None:
    """Tournaments that run themselves; events, and programs that are run for them."""
    db.executescript("""
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
            director TEXT REFERENCES users,
            starts TEXT,
            most INTEGER,
            round INTEGER NOT NULL,
            until TEXT,
            PRIMARY KEY (game, pool)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tournaments_state ON tournaments (state);
        CREATE TABLE meetings (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            game TEXT NOT NULL,
            pool TEXT NOT NULL,
            round INTEGER NOT NULL,
            first TEXT NOT NULL REFERENCES users (userid),
            second TEXT NOT NULL,
            board TEXT,
            void INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX meetings_pool ON meetings (game, pool, number);
        ALTER TABLE pool_players ADD COLUMN seed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE pool_players ADD COLUMN joined INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE pool_players ADD COLUMN withdrawn INTEGER;
        ALTER TABLE pool_players ADD COLUMN team TEXT NOT NULL DEFAULT '';
        CREATE INDEX pool_players_userid ON pool_players (userid);
        ALTER TABLE boards ADD COLUMN until TEXT;

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

        INSERT INTO tournaments (
            game, pool, kind, created, state, options, novacation, double, best_of, tie_breaks, round
        )
        SELECT game, pool, 'roundrobin', coalesce(min(started), strftime('%Y-%m-%dT%H:%M:%S.000000+00:00', 'now')),
            iif(count(started) = count(ended), 'finished', 'running'), coalesce(min(options), ''),
            0, 0, 1, 'sb,direct', 1
        FROM (SELECT DISTINCT game, pool FROM pool_players) LEFT JOIN boards USING (game, pool) GROUP BY game, pool;
        INSERT INTO meetings (game, pool, round, first, second, board, void)
        SELECT game, pool, 1, first_player, second_player, board, 0 FROM boards
        WHERE (game, pool) IN (SELECT game, pool FROM tournaments) AND first_player <> second_player
        ORDER BY length(board), board;
    """)


@migrations()
def many_boards(db: Database) -> None:
    """Indexes by which a clean-up finds what is due, and the standings their players; how many boards there are."""
    db.executescript(f"""
        CREATE INDEX boards_due ON boards ({DUE}) WHERE ended IS NULL;
        CREATE INDEX boards_in_pools ON boards (game, length(board), board, ended) WHERE pool IS NOT NULL;
        CREATE INDEX handled_when ON handled (handled);
        CREATE INDEX quotas_day ON quotas (day);
        CREATE INDEX failures_last ON failures (last);
        CREATE INDEX tournaments_until ON tournaments (until) WHERE until IS NOT NULL;
        CREATE INDEX meetings_board ON meetings (game, board);
        CREATE INDEX players_by_section ON players (
            game, inactive, won + lost + tied >= {ESTABLISHED}, rating DESC, rated, userid
        ) WHERE rating IS NOT NULL;
        CREATE TABLE tallies (
            game TEXT PRIMARY KEY,
            boards INTEGER NOT NULL,
            active INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO tallies SELECT game, count(*), count(*) - count(ended) FROM boards GROUP BY game
    """)
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


@migrations()
def noted_changes(db: Database) -> None:
    """What has changed of all that anybody may see, each thing once, in the order of the last change of each."""
    db.execute("""
        CREATE TABLE changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            game TEXT NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (kind, game, name)
        ) STRICT
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


@migrations()
def board_checksums(db: Database) -> None:
    """What says that a board is as pbm has written it, which of older ones nobody knows; when users were heard of."""
    db.executescript("""
        ALTER TABLE boards ADD COLUMN checksum INTEGER;
        ALTER TABLE users ADD COLUMN heard TEXT;
        DROP INDEX players_seeking;
        CREATE INDEX players_seeking ON players (game, userid) WHERE seeking > 0
    """)
    for table, column in (
        ("tournaments", "never TEXT NOT NULL DEFAULT ''"),
        ("tournaments", "byes INTEGER NOT NULL DEFAULT 0"),
        ("pool_players", "byes TEXT NOT NULL DEFAULT ''"),
        ("meetings", "half INTEGER NOT NULL DEFAULT 0"),
    ):
        db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
