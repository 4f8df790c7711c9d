"""Tournaments as they are stored: their settings, entrants and meetings."""

from collections.abc import Sequence
from datetime import datetime

from games import SKIP
from pbm.store.base import Questions
from pbm.store.boards import OF_BOARD
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Entrant, Meeting, Tournament

OF_POOL = "game = ? AND pool = ?"
OUTCOME = "iif(ended IS NULL, NULL, CASE winner WHEN first_player THEN 1 WHEN second_player THEN -1 ELSE 0 END)"
"""The outcome of a board for the first player: 1 for a win, 0 for a tie, -1 for a loss, NULL before the end."""
MOVED = f"""EXISTS (SELECT 1 FROM turns WHERE turns.game = boards.game AND turns.board = boards.board
    AND userid = {{}} AND text NOT IN ('Resign', 'Forfeit', '{SKIP}'))"""
"""Whether a player of a board has made a move; `has_begun` of `pbm.board.board` says it of both."""
SHORT = f"ended IS NOT NULL AND NOT ({MOVED.format('first_player')} AND {MOVED.format('second_player')})"
"""Whether a game ended before both players had moved."""
LOST_BY_ABSENCE = "reason IN ('withdrawn', 'signed off', 'forfeited', 'total time')"
"""Whether a game ended because a player was absent."""
MEETINGS = f"""
    SELECT round, first, second, iif(second = '', 1 - half, {OUTCOME}), void, coalesce(meetings.board, ''),
        coalesce(first_used, 0.0), coalesce(second_used, 0.0), {SHORT}, coalesce({LOST_BY_ABSENCE}, 0), 0 AS kind,
        number AS place
    FROM meetings LEFT JOIN boards USING (game, board) WHERE meetings.game = ?1 AND meetings.pool = ?2
    UNION ALL
    SELECT 1, first_player, second_player, {OUTCOME}, 0, board, first_used, second_used, {SHORT},
        coalesce({LOST_BY_ABSENCE}, 0), length(board), board
    FROM boards INDEXED BY boards_pool WHERE game = ?1 AND pool = ?2 AND first_player <> second_player
        AND board NOT IN (SELECT coalesce(board, '') FROM meetings WHERE game = ?1 AND pool = ?2)
    ORDER BY kind, place
"""
"""The games and byes of a pool in their order, and behind them boards of the pool that no round has started."""


class Tournaments(Questions):
    """What is stored of tournaments."""

    def get(self, game: str, pool: str) -> Tournament | None:
        """A tournament; None if there is none of that name."""
        return next(iter(self._found(OF_POOL, game, pool)), None)

    def all(self, game: str | None = None) -> list[Tournament]:
        """All tournaments, or those of a game, by name."""
        return self._found("game = coalesce(?, game)", game)

    def of(self, userid: str) -> list[Tournament]:
        """The tournaments in which a user takes part, or will; without those that are over."""
        mine = "(game, pool) IN (SELECT game, pool FROM pool_players WHERE userid = ? AND withdrawn IS NULL)"
        return [tournament for tournament in self._found(mine, userid) if not tournament.is_over]

    def _found(self, which: str, *values: object) -> list[Tournament]:
        """The tournaments that fit a condition, by name."""
        query = f"SELECT {', '.join(Tournament._fields)} FROM tournaments WHERE {which} ORDER BY 1, 2"
        rows = self.rows(Tournament, query, *values)
        return [row._replace(kind=TOURNAMENT_KINDS[str(row.kind)]) for row in rows]

    def save(self, tournament: Tournament) -> None:
        """Store a tournament; this replaces what it was before."""
        self.insert("tournaments", tournament._asdict() | {"kind": tournament.kind.name}, replacing=True)

    def forget(self, game: str, pool: str) -> None:
        """Delete a tournament with its players and meetings, but not its boards."""
        for table in ("tournaments", "pool_players", "meetings"):
            self.execute(f"DELETE FROM {table} WHERE {OF_POOL}", game, pool)

    # Who takes part

    def entrants(self, game: str, pool: str) -> list[Entrant]:
        """The entrants of a pool, by seed."""
        query = f"SELECT userid, joined, withdrawn, team, byes FROM pool_players WHERE {OF_POOL} ORDER BY seed, userid"
        return [
            Entrant(userid, joined, withdrawn, team, frozenset(map(int, byes.split())))
            for userid, joined, withdrawn, team, byes in self.execute(query, game, pool)
        ]

    def add_player(self, game: str, pool: str, userid: str, joined: int = 1, team: str = "") -> None:
        """Add a player to a pool as the last seed, who plays from the round *joined* on."""
        query = """
            INSERT INTO pool_players (game, pool, userid, joined, team, seed)
            SELECT ?1, ?2, ?3, ?4, ?5, 1 + coalesce(max(seed), 0) FROM pool_players WHERE game = ?1 AND pool = ?2
        """
        self.execute(query, game, pool, userid, joined, team)

    def save_entrant(self, game: str, pool: str, entrant: Entrant) -> None:
        """Store when an entrant has joined and withdrawn, and the byes that they have asked for."""
        byes = " ".join(map(str, sorted(entrant.byes)))
        changes = {"joined": entrant.joined, "withdrawn": entrant.withdrawn, "byes": byes}
        self.update("pool_players", changes, f"{OF_POOL} AND userid = ?", game, pool, entrant.name)

    def remove_entrant(self, game: str, pool: str, userid: str) -> None:
        """Delete an entrant, as if they had never joined."""
        self.execute(f"DELETE FROM pool_players WHERE {OF_POOL} AND userid = ?", game, pool, userid)

    def replace_entrant(self, game: str, pool: str, old: str, new: str) -> None:
        """Give the place and the results of an entrant to another user."""
        for table, column in ("pool_players", "userid"), ("meetings", "first"), ("meetings", "second"):
            self.update(table, {column: new}, f"{OF_POOL} AND {column} = ?", game, pool, old)

    # Meetings

    def meetings(self, game: str, pool: str) -> list[Meeting]:
        """The games and byes of a pool in their order; boards of the pool that no round has started come last.

        Outcomes belong to seats, not to userids: a player who has replaced another one has their results.
        """
        meetings = []
        rows = self.execute(MEETINGS, game, pool)
        for number, first, second, outcome, is_void, board, used, used_by_second, is_short, is_absence, _, _ in rows:
            meeting = Meeting(
                round=number,
                first=first,
                second=second,
                outcome=outcome,
                is_void=bool(is_void),
                board=board,
                used=(used, used_by_second),
                is_short=bool(is_short),
                is_forfeit=bool(is_short and is_absence),
            )
            meetings.append(meeting)
        return meetings

    def add_meeting(self, game: str, pool: str, meeting: Meeting) -> None:
        """Store a game of a tournament, or a bye."""
        columns = {
            "game": game,
            "pool": pool,
            "round": meeting.round,
            "first": meeting.first,
            "second": meeting.second,
            "board": meeting.board or None,
            "void": meeting.is_void,
            "half": meeting.is_bye and not meeting.outcome,
        }
        self.insert("meetings", columns)

    def void_meeting(self, game: str, board: str) -> None:
        """Make a game of a tournament count for nobody."""
        self.update("meetings", {"void": True}, OF_BOARD, game, board)

    def drop_meeting(self, game: str, board: str) -> None:
        """Delete a meeting, because its game is started again."""
        self.execute(f"DELETE FROM meetings WHERE {OF_BOARD}", game, board)

    def last_board_number(self, game: str, pool: str) -> int:
        """The highest number that a board of a pool has, or had; 0 if there was none."""
        query = """
            SELECT max(CAST(substr(board, length(?2) + 1) AS INTEGER)) FROM (
                SELECT board FROM meetings WHERE game = ?1 AND pool = ?2
                UNION ALL SELECT board FROM boards WHERE game = ?1 AND pool = ?2
            )
        """
        return self.value(query, game, pool) or 0

    def due(self, now: datetime) -> list[tuple[str, str]]:
        """Game and pool of the tournaments that have to start, and of the arenas that have to end, by now."""
        query = """
            SELECT game, pool FROM tournaments WHERE state = 'open' AND starts <= ?1
            UNION
            SELECT game, pool FROM tournaments INDEXED BY tournaments_until WHERE state = 'running' AND until <= ?1
            ORDER BY 1, 2
        """
        return self.execute(query, now)

    # Results

    def pool_players(self, game: str) -> list[tuple[str, str, int, int, int]]:
        """The players of all pools of a game: pool, userid, and the numbers of games won, lost and tied."""
        query = """
            SELECT pool, userid, won, lost, tied FROM pool_players WHERE game = ?
            ORDER BY pool, 2 * won + tied DESC, lost, userid
        """
        return self.execute(query, game)

    def count_result(self, game: str, pool: str, userid: str, outcome: int, games: int = 1) -> None:
        """Count a game for a player of a pool: *outcome* is 1 for a win, 0 for a tie, -1 for a loss.

        With -1 *games*, one that was counted is taken back.
        """
        column = {1: "won", 0: "tied", -1: "lost"}[outcome]
        query = f"UPDATE pool_players SET {column} = {column} + ? WHERE {OF_POOL} AND userid = ?"
        self.execute(query, games, game, pool, userid)

    # For completion

    def newest(self, game: str, most: int, states: Sequence[str] = ()) -> list[str]:
        """The pools of a game, or only those in some *states*, the newest first; at most *most*."""
        which = "(?3 = '[]' OR state IN (SELECT value FROM json_each(?3)))"
        query = f"SELECT pool FROM tournaments WHERE game = ?1 AND {which} ORDER BY created DESC, pool LIMIT ?2"
        return self.column(query, game, most, list(states))
