"""Time that counts for nobody: while the server was away, or as much as the operator says."""

from datetime import timedelta

from pbm.session import Session
from pbm.store import Store

MOST_BETWEEN_CLEANUPS = timedelta(hours=36)
"""How long after the last clean-up the next one takes the server to have been away."""
USUAL_BETWEEN_CLEANUPS = timedelta(hours=24)
"""How much of such a pause counts all the same."""


def note_absence(session: Session) -> None:
    """If the last clean-up was long ago, note since when the server has been away; and give all boards that time."""
    store = session.store
    with store.writing():
        times = (store.events.last_maintenance(name) for name in ("cleanup", "restored"))
        last = max((time for time in times if time), default=None) or store.events.last_maintenance("begun")
        if last and session.now - last > MOST_BETWEEN_CLEANUPS:
            begun = last + USUAL_BETWEEN_CLEANUPS
            store.absences.add(begun, session.now, (session.now - begun).total_seconds())
            store.events.note_maintenance("cleanup", session.now)  # so that it is noted once, whatever comes behind it
    give_time(store)


def give_time(store: Store) -> None:
    """Give all boards the time of all absences, also where a process was killed that had begun to."""
    is_done = store.absences.are_done()
    while not is_done:
        with store.writing():
            is_done = store.absences.give_time()
