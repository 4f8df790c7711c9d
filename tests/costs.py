"""What something costs, so that it can be compared whatever else the machine and this process do."""

import gc
import time
from collections.abc import Callable


def cost(action: Callable[[], object], times: int = 3) -> float:
    """Return the seconds of CPU time that an action takes: the least of several times, without garbage of others."""
    taken = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            begin = time.process_time()
            action()
            taken.append(time.process_time() - begin)
    finally:
        gc.enable()
    return min(taken)
