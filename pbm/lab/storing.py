"""Games of an arena, stored as boards of a pool."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

import games
from games import SKIP, State
from pbm import texts
from pbm.actions import rounds, tournaments
from pbm.board import ratings
from pbm.board.board import FORFEIT, RESIGN, SERVER
from pbm.board.records import outcome, replayed
from pbm.lab.matches import Noted, Played
from pbm.referee import Referee
from pbm.server import Server
from pbm.session import Session
from pbm.store import BoardRow, TurnRow
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Tournament
from pbm.tournaments.meetings import Meeting, Pair


class Filing:
    """A pool in which games are stored as they end, each in a transaction of its own."""

    def __init__(
        self, server: Server, game: str, pool: str, options: Sequence[str], names: Sequence[str], *, is_rated: bool
    ) -> None:
        """Set the pool up for users of these names. Raises Refused if that cannot be."""
        self.store, self.server = server.store, server
        self.game, self.pool, self.options, self.is_rated = game, pool, " ".join(options), is_rated
        self.boards: list[str] = []
        """Where the games are that were stored."""
        kind = TOURNAMENT_KINDS["roundrobin"]
        one = Tournament(game, pool, kind, server.now(), options=self.options, tie_breaks=kind.tie_breaks)
        with self.store.writing():
            tournaments.set_up(Session(server), one, [name.lower() for name in names], {})
            # no game of it will be started by the server
            self.store.tournaments.save(one._replace(state="finished"))

    def of(self, pair: Pair) -> Noted:
        """What stores the games of two players, of whom the first one is the first program of a match."""
        first, second = (name.lower() for name in pair)

        def note(beginner: int, referee: Referee, moments: Sequence[datetime], played: Played) -> None:
            self._file((second, first) if beginner else (first, second), referee, moments, played)

        return note

    def _file(self, players: Pair, referee: Referee, moments: Sequence[datetime], played: Played) -> None:
        """Store a game, whose first player is the first of these."""
        store, now = self.store, self.server.now()
        turns = list(_turns(players, referee, moments))
        is_drawn = bool(played.fault) and played.by is None
        state = referee.history[-1].state
        loser = players[state.seats[state.turn]]
        if state.result() is None and not is_drawn:
            how = FORFEIT if played.fault else RESIGN
            turns.append(TurnRow(loser, how, _thrown(state), automatic=bool(played.fault), played=now))
        who = "" if is_drawn else f"{loser} has lost: "
        with store.writing():
            row = BoardRow(
                game=self.game,
                board=next(rounds.free_names(store, self.game, self.pool)),
                options=self.options,
                first_player=players[0],
                second_player=players[1],
                secret=b"",  # the dice were thrown by the referee
                started=moments[0],
                ended=now,
                comment=texts.written(f"{who}{played.fault}") if played.fault else None,
                commenter=SERVER if played.fault else None,
                reason="adjudicated" if is_drawn else None,
                pool=self.pool,
                unrated=any(not robot.rated for robot in store.robots.among(players).values()),
            )
            board = replayed(row, turns)
            row = outcome(board.row._replace(drawn=is_drawn), board, len(turns))
            store.boards.add(row)
            store.boards.save(row, 1, turns)
            store.tournaments.add_meeting(self.game, self.pool, Meeting(1, *players, board=row.board))
            ratings.settle(store, row, now, has_begun=self.is_rated and board.has_begun)
        self.boards.append(row.board)


def _turns(players: Pair, referee: Referee, moments: Sequence[datetime]) -> Iterator[TurnRow]:
    """The turns of a game, each at its moment."""
    for (before, step), moment in zip(pairwise(referee.history), moments[1:], strict=True):
        state = before.state
        for move in step.played or ():
            skips = move == SKIP and state.must_skip
            yield TurnRow(players[state.seats[state.turn]], move, _thrown(state), automatic=skips, played=moment)
            state = state.play(move)


def _thrown(state: State) -> tuple[int, ...]:
    """The dice that lie there."""
    return state.dice if games.needs_dice(state) else ()
