"""Reinstate a game that ended by time: it goes on where it was. Only the operator can do that."""

from datetime import datetime

from pbm import letters
from pbm.actions import rounds, turns
from pbm.board import clocks, dice, ratings
from pbm.board.board import LEAVING, REASONS, Board
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store.boards import SUBSCRIBER
from pbm.tournaments.kinds import meetings_of


def reinstate(session: Session, board: Board) -> list[Letter]:
    """Let a game that ended by time go on, with full time for the move. Returns the letters about it.

    Raises Refused if it did not end by time, a player is gone, or its tournament has gone on since.
    """
    row = board.row
    title = f"{row.game.capitalize()} board {row.board}"
    if not row.ended:
        raise Refused(f"The game on {title} goes on.")
    if not ended_by_time(board):
        how = REASONS.get(row.reason or "", "unknown")
        raise Refused(f"Only a game that ended by time can go on; the end of {title} was: {how}.")
    for name in session.store.users.missing(*row.players):
        raise Refused(f"There is no user {name!r} any more, so {title} cannot go on.")
    if row.pool:
        _reopen_tournament(session, board)
    take_back_end(session, board)
    name = str(board.mover)
    session.note("reinstate", **row.place_data, pool=row.pool, userid=name)
    note = f"The operator has reinstated this game, which had ended by time. It is {name}'s turn, with full time."
    readers = turns.readers_of(board)
    board_letters = letters.of_board(session, board.present, *readers, notes=[note], is_full=True)
    return [letter._replace(is_urgent=True) for letter in board_letters]


def ended_by_time(board: Board) -> bool:
    """Whether a game ended because a player did not move or answer in time: by a forfeit, or a draw by silence."""
    row = board.row
    if row.reason in {"forfeited", "total time"}:
        return True
    if row.reason != "agreed" or row.ended is None or row.base_seconds is not None:
        return False
    _, forfeit_days = clocks.limits(row)
    return row.ended - _last_move(board) >= forfeit_days * clocks.DAY


def take_back_end(session: Session, board: Board) -> None:
    """Take back the end of a game that ended by time, with all that it has changed, and store the board.

    Raises Refused if its dice cannot have another secret.
    """
    store = session.store
    row = board.row
    ratings.take_back(store, row)
    store.robots.forget_analysis(*row.place)
    if board.resigned:
        store.boards.unfollow(*row.place, board.resigned, SUBSCRIBER)  # the end has made them a subscriber
    moves = len(board.turns)
    if board.resigned:
        moves -= 1  # the turn by which the game ended
    if board.has_dice and row.secret:
        _renew_secret(session, board, moves)
    board.change(ended=None, winner=None, reason=None, drawn=False, comment=None, commenter=None)
    board.take_back(moves)
    now = clocks.next_time(row, session.now)
    used = [row.first_used, row.second_used]
    lost_time = row.happened - _last_move(board)
    used[board.seat] = max(0.0, used[board.seat] - lost_time.total_seconds())
    board.change(
        moves=moves,
        turn=board.mover,
        changed=now,
        first_used=used[0],
        second_used=used[1],
        nagged=None,
        notified_at=None,
        vote_notified_at=None,
        more_days=0,
        given_seconds=0.0,
    )
    _, forfeit_days = clocks.limits(row)
    if row.until and row.until < now + forfeit_days * clocks.DAY:
        board.change(until=now + forfeit_days * clocks.DAY)
    board.about = board.about._replace(results=())
    store.boards.take_back_turns(board.row)


def _last_move(board: Board) -> datetime:
    """When the last move was made, or else when the board was started."""
    times = [turn.played for turn in board.turns if turn.text not in LEAVING]
    return max(times, default=board.row.started)


def _renew_secret(session: Session, board: Board, moves: int) -> None:
    """Let the next dice come from a new secret, because the end of the game has told the old one.

    The dice of the move that is owed stay. Raises Refused if that was done before.
    """
    row = board.row
    if row.earlier_secret:
        raise Refused("The dice of this game have had a second secret already, so it cannot go on once more.")
    secret = session.server.random_bytes(dice.SECRET_BYTES)
    board.change(earlier_secret=row.secret, earlier_throws=moves + 1, secret=secret)


def _reopen_tournament(session: Session, board: Board) -> None:
    """Let a tournament that is over wait for this game. Raises Refused if something has followed from its end."""
    row = board.row
    tournament = session.store.tournaments.get(row.game, str(row.pool))
    if tournament is None:
        return
    progress = rounds.progress_of(session, tournament)
    numbers = [number for number, meeting in enumerate(progress.meetings) if meeting.board == row.board]
    if not numbers:
        return
    [number] = numbers
    meeting = progress.meetings[number]
    decide = f"`pbm tournament {row.game} {row.pool} adjudicate {row.board}` can still decide it otherwise."
    if tournament.round > meeting.round:
        raise Refused(
            f"Round {tournament.round} of pool {row.pool} has begun since, so the game cannot go on. {decide}"
        )
    later = progress.meetings[number + 1 :]
    if tournament.kind.has_rounds and any(meetings_of(name, later) for name in meeting.pair):
        raise Refused(f"A player has begun another game of pool {row.pool} since, so this one cannot go on. {decide}")
    if tournament.state == "finished":
        # no round can follow; it ends again with this game
        session.store.tournaments.save(tournament._replace(state="closing"))
