"""OpenSpiel for the benchmarks, in a folder of its own."""

import subprocess
import sys
import tempfile
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path


def install() -> None:
    """Make it importable, from PyPI if need be; nothing else gets it, and pbm does not need it."""
    folder = Path(tempfile.gettempdir()) / f"pbm-bench-{sys.version_info.major}.{sys.version_info.minor}"
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    if find_spec("pyspiel") is None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "open_spiel"]
        subprocess.run(command, check=True)
        invalidate_caches()
