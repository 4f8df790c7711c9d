"""What `GET /health` says: whether this server can do its work, for a program that watches it."""

from datetime import datetime, timedelta

from pbm.store import Store, Unusable

PATIENCE = timedelta(minutes=30)
"""How long a mail may wait that nobody can send, before that is a fault of this server."""


def word_for_fault(store: Store, now: datetime) -> str:
    """In a word, what does not work: ``database`` if it cannot be written, or ``mail``; empty if all does.

    If the mail server of one reader does not take a mail, this server is not at fault.
    """
    try:
        if store.health.objection():
            return "database"
        with store.reading():
            if store.outbox.are_due(now - PATIENCE, 0):
                return "mail"  # no process sends
            oldest = store.outbox.counts().oldest
            is_way_closed = store.events.last_maintenance("unsendable") is not None
    except Unusable:
        return "database"
    if is_way_closed and oldest and oldest < now - PATIENCE:
        return "mail"
    return ""
