"""What has to be done once a day: reminders, forfeits, draws by silence, digests, and forgetting what is old.

It can be done at any time, and as often as one likes (the command language, section 6).
"""

from datetime import timedelta
from typing import NamedTuple

from games import Illegal
from pbm import clocks, digests, letters, turns, votes
from pbm.board import Board
from pbm.look import find_board
from pbm.session import Refused, Session

KEPT_FOR = timedelta(days=100)
"""For how long it is known which mails were handled, and why others could not be sent."""


class Done(NamedTuple):
    """How much has been done."""

    reminded: int = 0
    forfeited: int = 0
    drawn: int = 0
    digests: int = 0
    problems: tuple[str, ...] = ()
    """Boards that could not be looked at, with the reason."""

    @property
    def text(self) -> str:
        """The same for people."""
        games = f"{self.reminded} reminded, {self.forfeited} forfeited, {self.drawn} drawn by silence"
        return f"{games}, {letters.counted(self.digests, 'digest')}."


def clean(session: Session) -> Done:
    """Do all that is due. Each board is a transaction of its own."""
    done = Done()
    with session.reading():
        active = session.store.unfinished_boards()
    for game, number in active:
        try:
            with session.writing():
                what = _look_at(session, find_board(session, game, number))
        except Refused:  # it has been removed in the meantime
            continue
        except (LookupError, Illegal) as why:
            done = done._replace(problems=(*done.problems, f"{game} {number}: {why}"))
            continue
        if what:
            done = done._replace(**{what: getattr(done, what) + 1})
    with session.writing():
        session.store.forget(session.now() - KEPT_FOR)
        return done._replace(digests=digests.send(session, session.now()))


def _look_at(session: Session, board: Board) -> str:
    """Do what is due on a board. Returns which count of `Done` goes up; empty if nothing was due."""
    name = board.turn
    if name is None:
        return ""
    if not turns.has_time(board, session.now()):
        return _forfeit(session, board, name, turns.out_of_time(board, name))
    late = board.opponent(str(board.row.voter)) if board.row.vote == "draw" else name
    age, (nag, forfeit) = clocks.age(board.row, session.now()), clocks.limits(board.row)
    if age < nag:
        return ""
    is_gone = session.store.password_of(late) is None
    if not is_gone and (age < forfeit or clocks.is_spared(session.store, late, session.now().date())):
        return _remind(session, board, late)
    if board.row.vote == "draw":
        silent = f"{late} has not answered, and the last move was {letters.counted(age.days, 'day')} ago"
        why = f"{late} has signed off" if is_gone else silent
        for letter in votes.agree_draw(session, board, f"{why}, which counts as accepting."):
            session.queue(letter)
        return "drawn"
    late_by = f"{name} has not moved for {letters.counted(age.days, 'day')}, and {forfeit.days} are allowed."
    return _forfeit(session, board, name, f"{name} has signed off." if is_gone else late_by)


def _forfeit(session: Session, board: Board, name: str, why: str) -> str:
    for letter in turns.forfeit(session, board, name, why):
        session.queue(letter)
    return "forfeited"


def _remind(session: Session, board: Board, name: str) -> str:
    """Remind a player, at most once a day, and not while he is away."""
    row = board.row
    if name in board.about.away or (row.nagged and session.now() < row.nagged + clocks.DAY):
        return ""
    what = "answer the proposal" if row.vote == "draw" else "move"
    days = clocks.age(row, session.now()).days
    until = (row.changed or row.started) + clocks.limits(row)[1]
    then = "your silence counts as accepting" if row.vote == "draw" else "you forfeit"
    note = f"{name}, please {what}; the last move was {letters.counted(days, 'day')} ago."
    if session.now() < until:
        note += f"\nFrom {until:{letters.MINUTES}} on, {then}."
    [letter] = letters.of_board(board.present, name, now=session.now(), notes=[note])
    session.queue(letter._replace(subject=f"Nag: {letter.subject}", is_urgent=True))
    board.row = row._replace(nagged=session.now())
    session.store.save_board(board.row)
    return "reminded"
