"""Tournaments in this process, with players who end their games at once.

    def test_a_tournament_ends(league):
        league.start("round-robin", 3)
        league.play(Random(1))
        assert not league.now().tournament.is_on

The fixture `league` is one in which no tournament has begun.
"""

import re

from pbm.actions import directing, rounds, tournaments, turns
from pbm.actions.finding import find_board
from pbm.blocks import text_of
from pbm.board.board import RESIGN
from pbm.session import Session
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Entrant, Tournament


def entrants(names, teams=None):
    """These players; those of a team are named by it."""
    team = {name: team for team, members in (teams or {}).items() for name in members}
    return [Entrant(name, team=team.get(name, "")) for name in names]


class League:
    """Tournaments of Symple on a server in this process, with players who play as fast as one can: they resign."""

    def __init__(self, club):
        self.club = club
        self.session = Session(club.server)

    def signed_up(self, count):
        """Sign up so many players; returns their names: player01, player02."""
        names = [f"player{number:02}" for number in range(1, count + 1)]
        with self.club.store.writing():
            for name in names:
                self.club.store.users.add(name, "no password", self.club.time)
                self.club.store.users.replace_addresses(name, {f"{name}@players.example": None}, self.club.time)
        return names

    def start(self, kind, names, pool="s", teams=None, **settings):
        """Start a tournament of these players, or of so many new ones; returns their names."""
        names = self.signed_up(names) if isinstance(names, int) else names
        one = self.planned(kind, pool, **{"options": "-size=5"} | settings)
        with self.session.store.writing():
            tournaments.start_tournament(self.session, tournaments.set_up(self.session, one, entrants(names, teams)))
        return names

    def open(self, kind="swiss", names=(), pool="s", teams=None, **settings):
        """Announce a tournament that players can join."""
        one = self.planned(kind, pool, **({"rounds": 1} if kind == "swiss" else {}) | settings)
        with self.session.store.writing():
            tournaments.announce(self.session, one, entrants(names, teams))

    def planned(self, kind, pool, **settings):
        """A tournament that is stored nowhere yet."""
        kind = TOURNAMENT_KINDS[kind]
        return Tournament("symple", pool, kind, self.club.time, tie_breaks=kind.tie_breaks, **settings)

    def do(self, words, pool="s", *, dry_run=False):
        """Direct a tournament as the operator does: ``league.do("withdraw player03")``; returns what is printed."""
        return text_of(directing.direct(self.session, "symple", pool, words.split(), dry_run=dry_run)[1])

    def now(self, pool="s"):
        """How far a tournament is."""
        return rounds.progress_of(self.session, self.club.store.tournaments.get("symple", pool))

    def running(self, pool="s"):
        """The numbers of the boards that are played on."""
        return [one.board for one in self.now(pool).meetings if one.is_running]

    def end(self, board, how):
        """End a game: `first` or `second` wins, or it is a draw."""
        with self.session.store.writing():
            found = find_board(self.session, "symple", board)
            if how == "draw":
                self.do(f"adjudicate {board} draw", found.row.pool)
                return
            loser = found.players[how == "first"]
            if found.mover != loser:
                self.session.store.boards.keep_plan("symple", board, loser, RESIGN)
                found.plans[loser] = RESIGN
                turns.play_turn(self.session, found, found.mover, "c3")
            else:
                turns.play_turn(self.session, found, loser, RESIGN)

    def begin(self, boards=None):
        """Let both players of each running board of the pool s, or of these, make their first move."""
        for board in boards or self.running():
            with self.session.store.writing():
                found = find_board(self.session, "symple", board)
                for move in ("c3", "e5")[len(found.turns) :]:
                    turns.play_turn(self.session, found, found.mover, move)

    def play(self, rng, pool="s", until=None, draws=0.2):
        """Let games end in any order, until the tournament is over, or so many have ended."""
        for _ in range(until or 10**6):
            if not self.now(pool).tournament.is_on:
                break
            board = rng.choice(self.running(pool))
            self.end(board, "draw" if rng.random() < draws else rng.choice(["first", "second"]))

    def mails(self, name, subject):
        """The mails to a player with this pattern in their subject."""
        return [mail for mail in self.club.mails(name) if re.search(subject, mail.subject)]
