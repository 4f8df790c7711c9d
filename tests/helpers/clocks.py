"""Time that passes without waiting."""

import asyncio
from typing import Any


class VirtualTime(asyncio.SelectorEventLoop):
    """A loop that waits for nothing: its clock goes on by as much as it would have waited."""

    _selector: Any

    def __init__(self) -> None:
        super().__init__()
        self.waited = 0.0
        self.select, self._selector.select = self._selector.select, self.skip

    def skip(self, timeout: float | None) -> Any:
        """Let the time pass for which the loop would wait."""
        self.waited += timeout or 0
        return self.select(0)

    def time(self) -> float:
        """The clock of the loop."""
        return self.waited
