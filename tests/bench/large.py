"""Databases such as a server has after years: ``python tests/bench/large.py FILE [BOARDS [USERS]]``.

The tables are made by the program itself and filled by SQL: whole games that were played at random, again and again, on
boards of many users, of whom some play far more than others. The doctor finds nothing wrong with them.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import combinations, count
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import NamedTuple

import games
from games import SKIP
from pbm.board.board import RESIGN, Board
from pbm.board.ratings import Rating, new_rating
from pbm.passwords import Passwords
from pbm.store import BoardRow, PlayerRow, ResultRow, Store, TurnRow

PLAYED = {
    "papagra": "-size=4",
    "spiro": "-small -pieces=2",
    "spora": "-size=5",
    "sprout": "-board=limping-3",
    "symple": "-size=5",
}
"""The games, with the options of their boards: short games, so that there is room for many."""
MEMBERS = "alice", "bob", "carol", "dave"
"""Users with addresses and a password; the first two play on board 101 of each game, and nobody plays on any other."""
PASSWORD = "likes-games"
SAMPLES = 40
"""How many games are played, each of which many boards have."""
LONGEST = 60
"""Turns after which somebody resigns."""
ACTIVE = 20
"""One board in so many is not over yet."""
POOL = 8
"""How many players a tournament has."""
IN_POOLS = 25
"""One board in so many is one of a tournament."""
DAY = timedelta(days=1)
YEARS = 5 * 365 * DAY
"""For how long there have been games."""
KEPT = 100
"""For how many days it is known what has happened."""


class Sample(NamedTuple):
    """A game as it was played."""

    options: str
    turns: list[TurnRow]
    """By the users ``0`` and ``1``, which are the seats."""
    winner: int | None


def build(path: Path, boards: int, users: int, played: Mapping[str, str] = PLAYED) -> None:
    """Make a database with so many boards of some games, by so many users."""
    rng, now = Random(1), datetime.now(UTC)
    with Store(path) as store:
        _members(store, played, rng, now)
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000; BEGIN")
    query = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
    parts = db.execute(query).fetchall()
    for kind, name, _ in parts:  # made when all is there, which takes a part of the time
        db.execute(f"DROP {kind} {name}")
    db.executemany(
        "INSERT INTO users (userid, password, created) VALUES (?, '', ?)",
        ((_name(number), now - YEARS) for number in range(users)),
    )
    db.execute(
        "INSERT INTO addresses (userid, address, generation, confirmed) "
        "SELECT userid, userid || '@players.example', 1, created FROM users WHERE password = '' AND userid LIKE 'p%'"
    )
    for game, options in played.items():
        samples = [_sample(game, options, rng) for _ in range(SAMPLES)]
        _boards(db, game, samples, boards // len(played), users, rng, now)
    _traces(db, boards, users, now)
    for *_, sql in parts:
        db.execute(sql)
    db.execute("COMMIT")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()


def _members(store: Store, played: Mapping[str, str], rng: Random, now: datetime) -> None:
    """Users with boards of their own."""
    with store.writing():
        hashed = Passwords().hash(PASSWORD)
        for name in MEMBERS:
            store.users.add(name, hashed, now - YEARS)
            store.users.replace_addresses(name, {f"{name}@players.example": None}, now - YEARS)
        for game, options in played.items():
            started = now - DAY
            row = BoardRow(game, store.boards.next_number(game), options, *MEMBERS[:2], rng.randbytes(32), started)
            board = Board(row, [], {})
            for _ in range(2):
                move = SKIP if board.state.must_skip else board.state.random(rng)
                board.play(str(board.mover), move, started, automatic=move == SKIP)
            store.boards.add(row)
            store.boards.save(board.row._replace(moves=len(board.turns), turn=board.mover), 1, board.turns)


def _sample(game: str, options: str, rng: Random) -> Sample:
    """A game that is played at random."""
    now = datetime.now(UTC)
    board = Board(BoardRow(game, "1", options, "0", "1", rng.randbytes(32), now), [], {})
    while board.mover and len(board.turns) < LONGEST:
        move = SKIP if board.state.must_skip else board.state.random(rng)
        board.play(board.mover, move, now, automatic=move == SKIP)
    if board.mover:
        board.play(board.mover, RESIGN, now)
    return Sample(options, board.turns, None if board.winner is None else int(board.winner))


def _name(number: int) -> str:
    return f"p{number}"


def _pool(number: int) -> str:
    """The name of a tournament: letters that tell its number."""
    letters = ""
    while number or not letters:
        number, letter = divmod(number, len(ascii_lowercase))
        letters = ascii_lowercase[letter] + letters
    return f"t{letters}"


def _seats(boards: int, users: int, rng: Random) -> Iterator[tuple[str | None, str, str, str]]:
    """The pool, the name and the players of one board after the other: most are between any two users."""
    pools = count()
    number = 101
    left = boards
    while left > 0:
        if users > POOL and rng.random() * IN_POOLS * POOL * (POOL - 1) / 2 < 1:
            pool = _pool(next(pools))
            pairs = combinations(rng.sample(range(users), POOL), 2)
            for at, (one, other) in enumerate(pairs, 1):
                yield pool, f"{pool}{at}", _name(one), _name(other)
            left -= POOL * (POOL - 1) // 2
        number += 1
        one, other = (int(users * rng.random() ** 2) for _ in range(2))
        if one == other:
            other = (one + 1) % users
        yield None, str(number), _name(one), _name(other)
        left -= 1


def _boards(
    db: sqlite3.Connection, game: str, samples: list[Sample], boards: int, users: int, rng: Random, now: datetime
) -> None:
    """The boards of a game with all that belongs to them."""
    needs_dice = games.needs_dice(games.load(game).new(**games.read_options(games.load(game), [])))
    ratings: dict[str, PlayerRow] = {}
    rows = list[BoardRow]()
    results = list[ResultRow]()
    played = list[tuple[str, int, int]]()
    step = YEARS / boards
    for place, (pool, name, *players) in enumerate(_seats(boards, users, rng)):
        at = rng.randrange(len(samples))
        sample = samples[at]
        ended = now - YEARS + place * step
        row = BoardRow(game, name, sample.options, *players, b"", ended - rng.uniform(1, 60) * DAY, pool=pool)
        if place % ACTIVE == 0:
            moves = 0 if needs_dice else rng.randrange(min(len(sample.turns), LONGEST // 2))
            row = _under_way(row, sample, moves, rng, now)
        else:
            row = _over(row, sample, ended)
            results += _settled(ratings, row)
        rows.append(row)
        played.append((name, at, row.moves))
    _insert(db, "boards", rows)
    _insert(db, "results", results)
    _insert_turns(db, game, samples, played)
    for player in ratings.values():
        if rng.random() < 0.2:
            ratings[player.userid] = player._replace(inactive=True)
    _insert(db, "players", list(ratings.values()), game=game)
    db.execute("UPDATE numbers SET last = 101 + ? WHERE game = ?", [boards, game])
    counts = "SELECT count(*), count(*) - count(ended) FROM boards WHERE game = tallies.game"
    db.execute(f"UPDATE tallies SET (boards, active) = ({counts})")


def _under_way(row: BoardRow, sample: Sample, moves: int, rng: Random, now: datetime) -> BoardRow:
    """A board on which so many turns of a sample have been played, lately."""
    started = now - rng.uniform(6, 60) * DAY
    changed = now - rng.uniform(0, 0.9 if row.pool else 6.5) * DAY
    mover = (row.first_player, row.second_player)[int(sample.turns[moves].userid)]
    row = row._replace(moves=moves, turn=mover, secret=rng.randbytes(32))
    return row._replace(started=started, changed=changed) if moves else row._replace(started=changed)


def _over(row: BoardRow, sample: Sample, ended: datetime) -> BoardRow:
    """A board on which a sample was played to its end."""
    winner = None if sample.winner is None else (row.first_player, row.second_player)[sample.winner]
    reason = "resigned" if sample.turns[-1].text == RESIGN else "rules"
    return row._replace(moves=len(sample.turns), changed=row.started, ended=ended, winner=winner, reason=reason)


def _insert_turns(db: sqlite3.Connection, game: str, samples: list[Sample], played: list[tuple[str, int, int]]) -> None:
    """The turns of boards, each given with the place of its sample, and how many turns of it were played."""
    db.execute("CREATE TEMP TABLE samples (sample, number, seat, text, dice, automatic, PRIMARY KEY (sample, number))")
    db.execute("CREATE TEMP TABLE games (board PRIMARY KEY, sample, moves)")
    for at, sample in enumerate(samples):
        db.executemany(
            "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?)",
            (
                (at, number, turn.userid, turn.text, turn.dice, turn.automatic)
                for number, turn in enumerate(sample.turns, 1)
            ),
        )
    db.executemany("INSERT INTO games VALUES (?, ?, ?)", played)
    db.execute(
        "INSERT INTO turns (game, board, number, userid, text, dice, automatic, played) "
        "SELECT game, board, number, iif(seat = '0', first_player, second_player), text, dice, "
        "automatic, started FROM boards JOIN games USING (board) JOIN samples USING (sample) "
        "WHERE game = ? AND number <= games.moves ORDER BY board, number",
        [game],
    )
    db.execute("DROP TABLE games")
    db.execute("DROP TABLE samples")


def _settled(ratings: dict[str, PlayerRow], row: BoardRow) -> Iterator[ResultRow]:
    """What a game does to the ratings of its players, if it is over."""
    if row.ended is None:
        return
    names = row.first_player, row.second_player
    before = [ratings.get(name) or PlayerRow(name, Rating().rating) for name in names]
    for own, other in (before, before[::-1]):
        outcome = 0 if row.winner is None else 1 if row.winner == own.userid else -1
        one, two = (Rating(player.rating or 0, player.games) for player in (own, other))
        after = new_rating(one, two, outcome)
        counted = own._replace(
            rating=after,
            won=own.won + (outcome == 1),
            lost=own.lost + (outcome == -1),
            tied=own.tied + (outcome == 0),
            rated=row.ended,
        )
        ratings[own.userid] = counted
        yield ResultRow(row.game, row.board, own.userid, outcome, one.rating, after, counted.games, row.ended)


def _insert(db: sqlite3.Connection, table: str, rows: list[NamedTuple], **more: str) -> None:
    """Insert rows, with what all of them have besides."""
    if rows:
        names = [*more, *rows[0]._fields]
        query = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        db.executemany(query, ([*more.values(), *row] for row in rows))


def _traces(db: sqlite3.Connection, boards: int, users: int, now: datetime) -> None:
    """What surrounds boards: tournaments, reply addresses, events, and a note of each mail, all as old as they get."""
    db.execute(
        "INSERT INTO pool_players (game, pool, userid, won, lost, tied, seed) "
        "SELECT game, pool, userid, sum(winner = userid), sum(winner <> userid), sum(winner IS NULL), "
        "row_number() OVER () "
        "FROM (SELECT game, pool, first_player AS userid, winner, ended FROM boards WHERE pool IS NOT NULL UNION ALL "
        "SELECT game, pool, second_player, winner, ended FROM boards WHERE pool IS NOT NULL) "
        "WHERE ended IS NOT NULL GROUP BY 1, 2, 3"
    )
    db.execute(
        "INSERT INTO tournaments (game, pool, kind, created, state, options, novacation, double, best_of, tie_breaks, "
        "round) SELECT game, pool, 'roundrobin', min(started), iif(count(ended) = count(*), 'finished', 'running'), "
        "min(options), 0, 0, 1, 'sb,direct', 1 FROM boards WHERE pool IS NOT NULL GROUP BY game, pool"
    )
    db.execute(
        "INSERT INTO meetings (game, pool, round, first, second, board, void) "
        "SELECT game, pool, 1, first_player, second_player, board, 0 FROM boards WHERE pool IS NOT NULL ORDER BY rowid"
    )
    db.execute(
        "INSERT INTO replies (game, board, userid) SELECT game, board, first_player FROM boards "
        "UNION ALL SELECT game, board, second_player FROM boards WHERE first_player <> second_player"
    )
    # A board has 15 moves in 60 days, so that of each active one that many things are known that have happened lately.
    lately = [
        (now - KEPT * DAY * (1 - number / boards), f"<{number}@players.example>", _name(number % users))
        for number in range(boards)
    ]
    db.executemany(
        "INSERT INTO events (moment, kind, game, board, userid, detail) VALUES (?, 'move', 'spora', '101', ?, ?)",
        ((moment, name, json.dumps({"move": "c3", "number": 1, "automatic": False})) for moment, _, name in lately),
    )
    db.executemany(
        "INSERT INTO handled VALUES (?, ?, ?, 'done')",
        ((f"{name}@players.example", number, moment) for moment, number, name in lately),
    )
    db.executemany(
        "INSERT OR IGNORE INTO quotas VALUES ('command', ?, ?, 3)",
        ((f"{name}@players.example", moment.date()) for moment, _, name in lately),
    )
    db.executemany(
        "INSERT OR IGNORE INTO commands VALUES (?, 100, 3)",
        ((f"{moment:%Y-%m-%dT%H}:00:00",) for moment, _, _ in lately),
    )
    db.executemany(
        "INSERT INTO outbox (userid, subject, blocks, message_id, queued, tries) VALUES (?, 'Spora', '[]', ?, ?, 0)",
        ((name, number, moment) for moment, number, name in lately[:: max(1, boards // users)]),
    )


def main() -> None:
    """Make a database, and tell how large it is and how long it took."""
    path, boards, users = [*sys.argv[1:], "1000000", "100000"][:3]
    begin = time.perf_counter(), time.process_time()
    build(Path(path), int(boards), int(users))
    wall, cpu = time.perf_counter() - begin[0], time.process_time() - begin[1]
    size = Path(path).stat().st_size / 1e6
    sys.stdout.write(
        f"{boards} boards, {users} users: {size:,.0f} MB, {wall:.0f} s, of which {cpu:.0f} s of computing\n"
    )


if __name__ == "__main__":
    main()
