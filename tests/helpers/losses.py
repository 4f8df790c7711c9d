"""Games that are lost by time, and that go on."""

from pbm import delivery
from pbm.actions import endings, reinstatement
from pbm.actions.finding import find_board
from pbm.session import Session


def lose_by_time(club, board, game="symple", reason="forfeited"):
    """Let the player to move lose by time. Returns their userid."""
    session = Session(club.server)
    with club.store.writing():
        found = find_board(session, game, board)
        name = found.mover
        endings.forfeit(session, found, name, reason, f"{name} has not moved for 21 days, and 21 are allowed.")
    return name


def reinstate(club, board, game="symple"):
    """Do what `pbm boards reinstate` does."""
    session = Session(club.server)
    with club.store.writing():
        delivery.queue(session, *reinstatement.reinstate(session, find_board(session, game, board)))
