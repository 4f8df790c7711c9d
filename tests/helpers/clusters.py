"""A Dask cluster on this machine: a scheduler, and workers that tests may kill.

with running_cluster(tmp_path, workers=2) as cluster:
    duel("--dask", cluster.address)
    cluster.kill_worker()
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from helpers.patience import until

DASK = [sys.executable, "-m", "dask"]


class RunningCluster:
    """The processes of a cluster."""

    def __init__(self, folder: Path) -> None:
        """Start the scheduler."""
        self.folder = folder
        self.where = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "scheduler", "--host=127.0.0.1", "--port=0", "--no-dashboard", f"--scheduler-file={self.where}"
        )
        until(lambda: self.where.exists() and self.where.read_text())  # it is there before it is written

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return str(json.loads(self.where.read_text())["address"])

    def add_worker(self) -> None:
        """Start a worker of one thread."""
        words = [f"--scheduler-file={self.where}", "--nthreads=1", "--no-nanny", "--no-dashboard"]
        self.workers.append(self._start("worker", *words))

    def kill_worker(self, number: int = 0) -> None:
        """Kill a worker in the middle of whatever it does."""
        worker = self.workers.pop(number)
        worker.kill()
        worker.wait()

    def is_busy(self) -> bool:
        """Whether a worker is at something."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return any(client.processing().values())

    def close(self) -> None:
        """End all processes; how Dask ends by itself is not ours to test."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*DASK, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def running_cluster(folder: Path, workers: int) -> Iterator[RunningCluster]:
    """A cluster with so many workers."""
    cluster = RunningCluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.close()
