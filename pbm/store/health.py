"""The queries of `pbm doctor`."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from pbm.store.base import Questions, problem
from pbm.store.boards import OF_BOARD

DOUBTS = {
    "a result of a board that is not there": """
        SELECT results.game || ' ' || results.board FROM results LEFT JOIN boards USING (game, board)
        WHERE boards.board IS NULL
    """,
    "a result that is not what the board says": """
        SELECT game || ' ' || board || ', ' || userid FROM results JOIN boards USING (game, board)
        WHERE boards.ended IS NULL OR userid NOT IN (first_player, second_player)
            OR outcome <> CASE winner WHEN userid THEN 1 ELSE iif(winner IS NULL, 0, -1) END
    """,
    "a board with results of other than two players": (
        "SELECT game || ' ' || board FROM results GROUP BY game, board HAVING count(*) <> 2"
    ),
    "a move, a vote or a resignation that waits on a board that is over": """
        SELECT game || ' ' || board FROM plans JOIN boards USING (game, board) WHERE ended IS NOT NULL
        UNION
        SELECT game || ' ' || board FROM boards WHERE ended IS NOT NULL AND coalesce(vote, submitted) IS NOT NULL
    """,
    "a move that waits for somebody who does not play there": """
        SELECT game || ' ' || board || ', ' || userid FROM plans JOIN boards USING (game, board)
        WHERE userid NOT IN (first_player, second_player)
    """,
    "a mail for a user who is not there": """
        SELECT outbox.id || ', ' || outbox.userid FROM outbox LEFT JOIN users USING (userid)
        WHERE outbox.userid IS NOT NULL AND users.userid IS NULL
    """,
    "a reply address of a board that is neither there nor removed": """
        SELECT game || ' ' || board || ', ' || userid FROM replies
        WHERE (game, board) NOT IN (SELECT game, board FROM boards UNION ALL SELECT game, board FROM removed_boards)
    """,
    "a board number that will be given out a second time": """
        SELECT game || ' ' || max(CAST(board AS INTEGER)) FROM boards LEFT JOIN numbers USING (game)
        WHERE board GLOB '[0-9]*' GROUP BY game HAVING max(CAST(board AS INTEGER)) > coalesce(max(last), 0)
    """,
    "a count of boards that is wrong": """
        SELECT game FROM (
            SELECT * FROM tallies
            UNION ALL SELECT game, -count(*), count(ended) - count(*) FROM boards GROUP BY game
        ) GROUP BY game HAVING sum(boards) OR sum(active)
    """,
    "a board whose name does not fit its pool": (
        "SELECT game || ' ' || board FROM boards WHERE rtrim(board, '0123456789') <> coalesce(pool, '')"
    ),
}
"""Kinds of rows that should not exist, each with a query that names them."""


class Health(Questions):
    """The checks of the database."""

    def damage(self) -> list[str]:
        """Sentences about damage of the file, wrong tables, and rows that refer to missing rows; none if it is well."""
        from pbm.store.schema import wrong_parts  # sqlite-utils takes 65 ms

        query = 'SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2'
        orphans = self.execute(query)
        sentences = [str(text) for text in self.column("PRAGMA integrity_check") if text != "ok"]
        sentences += wrong_parts(self.db)
        sentences += [f"rows of {table} that belong to no row of {parent}: {count}" for table, parent, count in orphans]
        return sentences

    def foreign_tables(self) -> str:
        """The sentence that names the tables of other programs in the database; empty if there are none."""
        from pbm.store.schema import foreign_tables  # sqlite-utils takes 65 ms

        return foreign_tables(self.db)

    def objection(self) -> str:
        """Why the database cannot be written; empty if it can, or if another process is writing now."""
        *_, path = self.execute("PRAGMA database_list")[0]
        try:
            with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
                db.execute("BEGIN IMMEDIATE")  # succeeds also where nothing can be written
                db.execute("DELETE FROM users WHERE 0")
                db.execute("ROLLBACK")
        except sqlite3.Error as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                return problem(error, Path(path))
        return ""

    def board_names(self, sample: int | None = None) -> list[tuple[str, str]]:
        """Game and number of every board, or of a *sample*, that many boards at random, in their order."""
        boards = "boards"
        if sample is not None:
            boards = f"(SELECT game, board FROM boards ORDER BY random() LIMIT {sample:d})"
        return self.execute(f"SELECT game, board FROM {boards} ORDER BY game, board")

    def counts_of_boards(self) -> dict[str, int]:
        """How many boards there are of each game that has any."""
        return dict(self.execute("SELECT game, count(*) FROM boards GROUP BY game"))

    def last_turn_number(self, game: str, board: str) -> int:
        """The highest number of a turn of a board; 0 if it has none."""
        return self.value(f"SELECT max(number) FROM turns WHERE {OF_BOARD}", game, board) or 0

    def doubtful_rows(self) -> Iterator[tuple[str, str]]:
        """The rows that DOUBTS finds: the kind, and the name of the row."""
        for what, query in DOUBTS.items():
            for which in self.column(query):
                yield what, str(which)

    def broken_ratings(self, start: int) -> list[tuple[str, str, int, int, int, int]]:
        """Rated games that do not continue the ones before: game and userid, then four numbers.

        These are the stored number among the player's games and rating before; then the number of games before and the
        rating after those. *start* is the rating before the first game.
        """
        query = """
            SELECT game, userid, games, before, count, led FROM (
                SELECT *, row_number() OVER player - 1 AS count, lag(after, 1, ?) OVER player AS led
                FROM results WINDOW player AS (PARTITION BY game, userid ORDER BY games)
            ) WHERE games <> count + 1 OR before <> led ORDER BY game, userid, count
        """
        return self.execute(query, start)

    def wrong_scores(self) -> list[tuple[Any, ...]]:
        """Players whose stored rating and counts do not fit their results: game, userid, the stored, the right ones."""
        return self.execute("""
            SELECT game, userid, players.rating, players.won, players.lost, players.tied,
                sums.rating, coalesce(sums.won, 0), coalesce(sums.lost, 0), coalesce(sums.tied, 0)
            FROM players LEFT JOIN (
                SELECT game, userid, max(games), after AS rating,
                    sum(outcome = 1) AS won, sum(outcome = -1) AS lost, sum(outcome = 0) AS tied
                FROM results GROUP BY game, userid
            ) AS sums USING (game, userid)
            WHERE (players.rating, players.won, players.lost, players.tied)
                IS NOT (sums.rating, coalesce(sums.won, 0), coalesce(sums.lost, 0), coalesce(sums.tied, 0))
            ORDER BY game, userid
        """)

    def players_without_row(self) -> list[tuple[str, str]]:
        """Game and userid of everybody who has results and is no player."""
        return self.execute("SELECT game, userid FROM results EXCEPT SELECT game, userid FROM players")

    def latest(self) -> datetime | None:
        """The latest time of a board, turn, mail or clean-up in the database."""
        query = """
            SELECT max(moment) FROM (
                SELECT max(started) AS moment FROM boards
                UNION ALL SELECT max(played) FROM turns
                UNION ALL SELECT max(handled) FROM handled
                UNION ALL SELECT max(queued) FROM outbox
                UNION ALL SELECT moment FROM notes WHERE name = 'cleanup'
            )
        """
        return self.moment(query)
