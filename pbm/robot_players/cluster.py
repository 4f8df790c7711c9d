"""Robots that think on other machines: the workers of a Dask cluster compute, and what is decided stays here.

A worker gets one of our functions and its arguments, and has no database. Claims, transactions and limits are those of
`tasks`. If a worker is lost, another one computes its task.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pbm.refusals import Refused
from pbm.robot_players.engine import read_position
from pbm.robots import Player
from pbm.robots.thinking import Thought

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

INSTALLED_VERSION = version("pbm-server")
"""The version of the program on this machine."""
ANSWERING_SECONDS = 5
"""How long a scheduler may take to answer."""
RECONNECT_SECONDS = 10.0
"""The time between two tries to reach a scheduler that is away."""
MOST_LOST = 20
"""How many workers may be lost with one task; after that, the task is what ends them."""


class ElsewhereError(Exception):
    """What was given to a cluster has not come back."""


class Question(NamedTuple):
    """What a robot is asked on another machine."""

    position: str
    """The position as the request `state` of the referee prints it, with the history of the game."""
    level: int | None
    seconds: float | None
    playouts: int | None
    seed: str


def computed_for(asker: str, function: Callable[..., T], *task: Any) -> T:
    """What a function gives for a task, on the machine that this runs on.

    Raises ElsewhereError if the pbm there is not of the version of the *asker*: it may have other rules.
    """
    if asker != INSTALLED_VERSION:
        raise ElsewhereError(f"A worker has pbm {INSTALLED_VERSION} in place of {asker}.")
    return function(*task)


def think_about(question: Question) -> Thought:
    """What a robot thinks of a position, on the machine that this runs on; only its own computing time counts."""
    (game, options), states = read_position(question.position)
    player = Player(
        game,
        options,
        level=question.level,
        seconds=question.seconds,
        playouts=question.playouts,
        rng=Random(question.seed),
        clock=time.thread_time,
    )
    return player.think(states)


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        """Reach the scheduler at an address such as ``tcp://10.0.0.1:8786``. Raises Refused."""
        try:
            import distributed
        except ImportError as why:
            raise Refused("--dask needs Dask's distributed: pip install '.[cluster]'.") from why
        logging.disable()  # Dask logs tracebacks; we say in a sentence what it has lost
        self.distributed = distributed
        self.address = address
        self.client: Client | None = None
        self.tried: float | None = None
        """When it was last tried to reach the scheduler, by the monotonic clock."""
        if not self.is_there():
            raise Refused(f"There is no Dask scheduler at {address}.")

    def is_there(self) -> bool:
        """Whether the scheduler answers. One that was away is tried again now and then."""
        if self.client and self.client.status == "running":
            return True
        if self.tried is not None and time.monotonic() < self.tried + RECONNECT_SECONDS:
            return False
        self.close()
        try:
            self.client = self.distributed.Client(self.address, timeout=ANSWERING_SECONDS, set_as_default=False)
        except (OSError, ValueError):
            self.client = None
        self.tried = time.monotonic()
        return self.client is not None

    def close(self) -> None:
        """Leave the scheduler; what it still computes for us is not wanted any more."""
        client = self.client
        self.client = None
        if client:
            with suppress(OSError, TimeoutError):  # a scheduler that is away says nothing
                client.close(timeout=1)

    @property
    def threads(self) -> int:
        """How many tasks its workers can do at once; 0 if there is none, or if the scheduler is away."""
        if not self.is_there() or self.client is None:
            return 0
        try:
            return sum(self.client.nthreads().values())
        except (OSError, TimeoutError):
            return 0

    def compute(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]], seconds: float) -> Iterator[T]:
        """What the workers compute by a function for the arguments of each task, within so many seconds in all.

        Yields what a task brings as soon as it and all before it are done. Raises ElsewhereError if it does not come
        back, and what the function raises.
        """
        lost_errors = (OSError, TimeoutError, self.distributed.CancelledError, AttributeError)
        try:
            client = self.client
            if client is None:
                raise ElsewhereError(f"The Dask scheduler at {self.address} does not answer.")
            futures = [client.submit(computed_for, INSTALLED_VERSION, function, *task, pure=False) for task in tasks]
            end = time.monotonic() + seconds
            for future in futures:
                yield self._result(client, future, end)
        except lost_errors as why:
            raise ElsewhereError(f"The Dask cluster at {self.address} has lost a task: {type(why).__name__}.") from why

    def _result(self, client: "Client", future: Any, end: float) -> Any:
        """The result of a future; if the workers of a task were lost, it is begun again."""
        for _ in range(MOST_LOST):
            try:
                return future.result(timeout=max(0.0, end - time.monotonic()))
            except self.distributed.KilledWorker:  # the scheduler has given it to several
                future.retry()
        raise ElsewhereError("A task has ended every worker that had it.")
