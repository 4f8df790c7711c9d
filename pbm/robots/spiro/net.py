"""A neural network that values positions of Spiro, one hidden layer over the terms and over what stands on each cell.

It needs numpy, and is a fifth slower than the linear value. tests/bench/learn_spiro.py learned it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pbm.robots.spiro.positions import SpiroPosition

HEIGHTS = np.array([(n == 1, n > 1, n > 2, max(n - 3, 0) / 4) for n in range(100)], np.float32)
"""What the network is told of each number of free pieces on a cell."""


class Net:
    """The network of one board."""

    def __init__(self, path: Path) -> None:
        """Read what was learned."""
        with np.load(path) as stored:
            names = "linear", "terms", "heights", "pinned", "bias", "out"
            self.linear, self.terms, self.heights, self.pinned, self.bias, self.out = (
                stored[name].astype(np.float32) for name in names
            )

    def values(
        self, positions: Sequence[SpiroPosition], rows: Sequence[int], terms: Sequence[Sequence[float]]
    ) -> list[float]:
        """The logarithms of the odds in these positions. Each has its row of weights and its terms."""
        counted = np.array(terms, np.float32)
        stacks = b"".join([row for position in positions for row in position])
        cells = np.frombuffer(stacks, np.uint8).reshape(len(positions), 4, -1)
        hidden = counted @ self.terms + self.bias
        hidden += HEIGHTS[cells[:, :2]].reshape(len(positions), -1) @ self.heights
        hidden += cells[:, 2:].reshape(len(positions), -1).astype(np.float32) @ self.pinned
        values: list[float] = ((counted * self.linear[list(rows)]).sum(1) + np.maximum(hidden, 0) @ self.out).tolist()
        return values
