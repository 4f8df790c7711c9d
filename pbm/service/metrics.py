"""Figures of the running server for Prometheus, by its official client, which `pip install '.[metrics]'` brings."""

from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from pbm.mail.smtp import Entry
from pbm.store import SCHEMA, Store, Unusable

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""The upper ends, in seconds, of the classes in which times are counted."""


class Metrics(Collector):
    """What is counted while the server runs, and what the database holds.

    The database is read by a separate connection, so that no mail waits for it.
    """

    def __init__(self, path: Path, now: Callable[[], datetime]) -> None:
        """Begin at nothing, and tell what the database of that path holds."""
        self.path = path
        self.now = now
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self.mails = Counter("pbm_mails", "Mails by what came of them.", ["outcome"], registry=self.registry)
        self.commands = Counter(
            "pbm_commands", "Commands by mail, done or refused.", ["result"], registry=self.registry
        )
        for result in ("done", "refused"):
            self.commands.labels(result)
        self.took = Histogram(
            "pbm_mail_seconds", "From the end of a mail to its reply.", buckets=BUCKETS, registry=self.registry
        )
        self.locked = Histogram(
            "pbm_lock_seconds", "How long a mail had the database locked.", buckets=BUCKETS, registry=self.registry
        )

    def collect(self) -> Iterator[Metric]:
        """The figures as they are now; if the database cannot be read, only that."""
        yield InfoMetricFamily("pbm", "The version of pbm.", {"version": version("pbm-server"), "schema": str(SCHEMA)})
        try:
            with Store(self.path, read_only=True) as store, store.reading():
                outbox = store.outbox.counts()
                boards, _ = store.boards.totals()
                users = store.users.count()
        except Unusable:
            yield GaugeMetricFamily("pbm_database_usable", "1 if the database can be read.", 0)
            return
        age = (self.now() - outbox.oldest).total_seconds() if outbox.oldest else 0.0
        yield GaugeMetricFamily("pbm_database_usable", "1 if the database can be read.", 1)
        yield GaugeMetricFamily("pbm_boards", "Boards, also those that are over.", boards)
        yield GaugeMetricFamily("pbm_users", "Users who have signed up.", users)
        yield GaugeMetricFamily("pbm_outbox_waiting", "Mails that have still to go out.", outbox.to_send)
        yield GaugeMetricFamily("pbm_outbox_given_up", "Mails that were given up.", outbox.given_up)
        yield GaugeMetricFamily("pbm_outbox_oldest_seconds", "The age of the oldest mail that has to go out.", age)

    def note(self, entry: Entry) -> None:
        """Count a mail."""
        self.mails.labels(entry.outcome.shown_word).inc()
        if entry.outcome.command:
            self.commands.labels("refused" if entry.outcome.reason else "done").inc()
        if entry.took:  # else it was refused before it was handled
            self.took.observe(entry.took)
            self.locked.observe(entry.locked)

    def listen(self, host: str, port: int) -> int:
        """Answer requests at this address, in threads of their own. Returns the port. Raises OSError."""
        server, _ = start_http_server(port, host, self.registry)
        return int(server.server_port)
