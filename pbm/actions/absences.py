"""Time that counts for nobody: while the server was away, or as much as the operator says."""

from datetime import datetime, timedelta

from pbm.board import clocks
from pbm.session import Session
from pbm.store import BoardRow, Store
from pbm.store.absences import Absence

MOST_BETWEEN_CLEANUPS = timedelta(hours=36)
"""If the last clean-up is longer ago than this, the server counts as having been away."""
USUAL_BETWEEN_CLEANUPS = timedelta(hours=24)
"""How much of such a pause still counts as usual time."""
BOARDS_PER_STEP = 1000
"""How many boards get their time in one transaction, which keeps others from writing for about a tenth of a second."""


def away_since(session: Session) -> datetime | None:
    """Since when no time counts, because the last clean-up was long ago; None if it was not."""
    events = session.store.events
    times = (events.last_maintenance(name) for name in ("cleanup", "restored"))
    last = max((time for time in times if time), default=None) or events.last_maintenance("begun")
    if last is None or session.now - last <= MOST_BETWEEN_CLEANUPS:
        return None
    return last + USUAL_BETWEEN_CLEANUPS


def note_absence(session: Session) -> None:
    """If the last clean-up was long ago, note since when the server has been away; and give all boards that time."""
    store = session.store
    with store.writing():
        if begun := away_since(session):
            store.absences.add(begun, session.now, (session.now - begun).total_seconds())
            store.events.note_maintenance("cleanup", session.now)  # noted once, even if what follows fails
    give_time(store)


def give_time(store: Store) -> None:
    """Give all boards the time of all absences, also where a process was killed that had begun to."""
    is_done = store.absences.are_done()
    while not is_done:
        with store.writing():
            is_done = give_time_to_some(store)


def give_time_to_some(store: Store, most: int = BOARDS_PER_STEP) -> bool:
    """Give the time of the first absence that is not done to *most* further boards. Returns whether all are done.

    Call it in a transaction; the place that was reached is stored with it.
    """
    absence = store.absences.first_open()
    if absence is None:
        return True
    rows = store.absences.next_boards(absence, most)
    for row in rows:
        if row.started <= absence.ended:  # else it was set up when the absence had been noted
            _give(store, absence, row)
    last = None  # fewer than that many were left
    if len(rows) == most:
        last = rows[-1]
    store.absences.note_given(absence, last)
    return store.absences.are_done()


def _give(store: Store, absence: Absence, row: BoardRow) -> None:
    """Give a board the part of an absence that belongs to its present move, and put back that of earlier moves."""
    if absence.is_by_hand:
        store.absences.give(row, absence.seconds)
    elif row.happened < absence.ended:
        begin = max(row.happened, absence.begun)
        off = clocks.days_off(store, row)
        # what lies in a weekend or a vacation does not count already
        counted = clocks.counted_time(begin, absence.ended, row.weekends, off)
        store.absences.give(row, counted.total_seconds())
    if row.until and absence.delays(row.until):
        store.boards.end_round(row, row.until + timedelta(seconds=absence.seconds))
    is_timed = row.total_days or row.base_seconds
    if is_timed and row.first_player != row.second_player and row.happened > absence.begun:
        _put_back(store, absence, row)


def _put_back(store: Store, absence: Absence, row: BoardRow) -> None:
    """Give the players of a board back what they have used in an absence for moves that are made."""
    used = dict.fromkeys(row.players, 0.0)
    left = dict.fromkeys(row.players, 0.0)
    clock = clocks.clock_of(row)
    before = row.started
    for number, turn in enumerate(store.boards.turns(*row.place), 1):
        begin = max(before, absence.begun)
        end = min(turn.played, absence.ended)
        before = turn.played
        if begin >= end:
            continue
        player = turn.userid
        weekends = None
        if row.weekends:
            weekends = store.users.zone(player) or "UTC"
        off = clocks.days_off_of(store, row, player, begin)
        seconds = clocks.counted_time(begin, end, weekends, off).total_seconds()
        used[player] += seconds
        if clock:
            # a clock that had run out went on from 0, so what was missing then is not put back as well
            missing = max(0.0, turn.gained - min(clock.increment, clock.most))
            left[player] = max(0.0, left[player] + seconds - missing)
            store.boards.change_gain(row, number, turn.gained - min(missing, seconds))
    store.absences.put_back(row, list(used.values()), list(left.values()))
